/* The direct solver that counts say is faster, ldlt or cholesky: what is chosen depends on the
 * pattern only, so that runs stay reproducible.
 *
 * The built-in ldlt uses all threads and has no overhead on small panels; CHOLMOD calls a faster
 * matrix product on large ones. They meet at some 10^10 operations of a factorisation
 * (docs/performance.md). The order is that of ldlt, nested dissection of its own, for both. */
#include "linear.h"

extern const BrioLinearType brio__solver_ldlt;
#ifdef BRIO_HAVE_CHOLMOD
extern const BrioLinearType brio__solver_cholesky;
#endif

#define MAX_OPERATIONS 2e10 /* of a factorisation by ldlt */

typedef struct Auto {
    const BrioLinearType *type;
    void *self;
} Auto;

static BrioStatus auto_order(int32_t n, const int64_t *start, const int32_t *neighbour,
                             int32_t *order)
{
    return brio__solver_ldlt.order(n, start, neighbour, order);
}

static void auto_destroy(void *self)
{
    Auto *a = self;
    if (a->self) a->type->destroy(a->self);
    brio__free(a);
}

static BrioStatus auto_create(const BrioMatrix *A, const BrioLinearOptions *options, void **self)
{
    *self = NULL;
    Auto *a = brio__calloc(1, sizeof *a);
    if (!a) return BRIO_ERROR_MEMORY;
    a->type = &brio__solver_ldlt;
    BrioStatus status = a->type->create(A, options, &a->self);
#ifdef BRIO_HAVE_CHOLMOD
    BrioLinearStats stats = {0};
    if (status == BRIO_OK) a->type->stats(a->self, &stats);
    if (status == BRIO_OK && stats.factor_flops > MAX_OPERATIONS) {
        a->type->destroy(a->self);
        a->self = NULL;
        a->type = &brio__solver_cholesky;
        status = a->type->create(A, options, &a->self);
    }
#endif
    if (status == BRIO_OK)
        *self = a;
    else
        auto_destroy(a);
    return status;
}

static BrioStatus auto_factor(void *self, const BrioMatrix *A)
{
    Auto *a = self;
    return a->type->factor(a->self, A);
}

static BrioStatus auto_solve(void *self, const BrioMatrix *A, int k, double *x)
{
    Auto *a = self;
    return a->type->solve(a->self, A, k, x);
}

static void auto_stats(const void *self, BrioLinearStats *stats)
{
    const Auto *a = self;
    a->type->stats(a->self, stats);
}

const BrioLinearType brio__solver_auto = {
    .name = "auto",
    .summary = "Direct: ldlt or cholesky, whichever the number of operations makes the faster one.",
    .citation = "Chen2008",
    .order = auto_order,
    .create = auto_create,
    .factor = auto_factor,
    .solve = auto_solve,
    .stats = auto_stats,
    .destroy = auto_destroy,
};
