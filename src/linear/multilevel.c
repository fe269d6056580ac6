/* Conjugate gradients preconditioned by smoothed aggregation, an algebraic multigrid for elastic
 * bodies: the number of iterations hardly grows with the size of a body [Vanek1996]. multilevel.h
 * says where what is.
 *
 * Conjugate gradients and coarse matrices are computed in double, the cycle in single precision. */
#include "multilevel.h"

#include "cg.h"
#include "order.h"

/* A few dozen are usual, also where contacts are stiff: who needs more needs a factorisation. */
enum { MAX_ITERATIONS = 400 };

typedef struct Multilevel {
    BrioCg cg;
    BrioHierarchy hierarchy;
    const BrioMatrix *A; /* what was factored */
    const BrioLinearOptions *options;
} Multilevel;

static void multilevel_destroy(void *self)
{
    Multilevel *s = self;
    brio__cg_free(&s->cg);
    brio__hierarchy_free(&s->hierarchy);
    brio__free(s);
}

static void precondition(void *self, const double *r, double *z)
{
    Multilevel *s = self;
    brio__hierarchy_apply(&s->hierarchy, s->A, r, z);
}

static BrioStatus multilevel_create(const BrioMatrix *A, const BrioLinearOptions *options,
                                    void **self)
{
    *self = NULL;
    Multilevel *s = brio__calloc(1, sizeof *s);
    if (!s) return BRIO_ERROR_MEMORY;
    s->options = options;
    BrioStatus status = brio__matrix_rows((BrioMatrix *)A); /* auto's matrix has none */
    if (status == BRIO_OK) status = brio__cg_create(A, options, &s->cg);
    if (options->max_iterations <= 0) s->cg.max_iterations = MAX_ITERATIONS;
    s->cg.precondition = precondition;
    s->cg.self = s;
    if (status == BRIO_OK)
        status = brio__hierarchy_create(A, options->added, options->added_count, &s->hierarchy);
    if (status == BRIO_OK)
        *self = s;
    else
        multilevel_destroy(s);
    return status;
}

static BrioStatus multilevel_factor(void *self, const BrioMatrix *A)
{
    Multilevel *s = self;
    s->A = A;
    return brio__hierarchy_factor(&s->hierarchy, A, s->options->position);
}

static BrioStatus multilevel_solve(void *self, const BrioMatrix *A, int k, double *x)
{
    Multilevel *s = self;
    return brio__cg_solve(&s->cg, A, k, x);
}

static void multilevel_stats(const void *self, BrioLinearStats *stats)
{
    const Multilevel *s = self;
    stats->iterations = s->cg.iterations;
    stats->bytes = 8.0 * 15.0 * s->cg.n + s->hierarchy.bytes;
}

const BrioLinearType brio__solver_multilevel = {
    .name = "multilevel",
    .summary = "Iterative, for large bodies: conjugate gradients with smoothed aggregation.",
    .citation = "Vanek1996",
    .order = brio__order_band,
    .create = multilevel_create,
    .factor = multilevel_factor,
    .solve = multilevel_solve,
    .stats = multilevel_stats,
    .destroy = multilevel_destroy,
    .inexact = true,
    .multiplies = true,
};
