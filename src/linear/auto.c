/* The solver that counts say is faster, direct or multilevel: what is chosen depends on the pattern
 * only, so that runs stay reproducible.
 *
 * The time of multilevel is proportional to the blocks, so it is the faster one where a
 * factorisation takes more than PER_BLOCK operations for each of them (docs/performance.md), and
 * the only one where the factor does not fit into memory. Where it does not converge, the matrix is
 * factored after all; the next one begins with multilevel again.
 *
 * Operations are counted before anything is made for a factorisation. A body that is much too large
 * is not even dissected: its factorisation takes about EXPECTED n w^(3/2) operations, where w is
 * the largest number of blocks at one distance from the rim (of boxes; of sheets less). */
#include "order.h"
#include "panels.h"

#include <string.h>

extern const BrioLinearType brio__solver_ldlt;
extern const BrioLinearType brio__solver_multilevel;

#define PER_BLOCK 2e5      /* operations of a factorisation for each block that take as long as */
#define MIN_BLOCKS 1000    /* multilevel does, which has its overhead on small matrices */
#define EXPECTED 400.0     /* operations for each n w^(3/2) */
#define MAX_DISSECTED 2e11 /* expected operations: no sheet is that much cheaper than a box */

typedef struct Auto {
    const BrioLinearType *type;
    void *self;
    void *direct; /* ldlt in addition to multilevel, created when first needed; NULL: not yet */
    bool fell_back;
    double *b; /* of multilevel: the right-hand side, which the solution overwrites */
} Auto;

/* Expected operations of a factorisation, from a breadth-first order. level: room for n. */
static double expect(int32_t n, const int64_t *start, const int32_t *neighbour,
                     const int32_t *order, int32_t *level)
{
    double sum = 0, size = 0, width = 0, widest = 0;
    for (int32_t i = 0; i < n; i++) level[i] = -1;
    for (int32_t i = 0, last = 0; i < n; i++) {
        int32_t v = order[i], nearest = -1;
        for (int64_t k = start[v]; k < start[v + 1]; k++) {
            int32_t l = level[neighbour[k]];
            if (l >= 0 && (nearest < 0 || l < nearest)) nearest = l;
        }
        level[v] = nearest + 1;
        if (level[v] == 0) { /* the next component begins */
            sum += size * widest * sqrt(widest);
            size = width = widest = 0;
        } else if (level[v] != last) {
            width = 0;
        }
        last = level[v];
        size++;
        width++;
        widest = fmax(widest, width);
    }
    return EXPECTED * (sum + size * widest * sqrt(widest));
}

static BrioStatus auto_order(int32_t n, const int64_t *start, const int32_t *neighbour,
                             int32_t *order)
{
    /* no graph of so few blocks is too large */
    if (EXPECTED * n * (n * sqrt(n)) < MAX_DISSECTED)
        return brio__solver_ldlt.order(n, start, neighbour, order);
    int32_t *level = brio__alloc((size_t)n, sizeof *level);
    BrioStatus status = level ? brio__order_band(n, start, neighbour, order) : BRIO_ERROR_MEMORY;
    bool dissect = status == BRIO_OK && expect(n, start, neighbour, order, level) < MAX_DISSECTED;
    brio__free(level);
    return dissect ? brio__solver_ldlt.order(n, start, neighbour, order) : status;
}

/* Stops when there are so many blocks that any distribution among the columns means too many
 * operations, or that they do not fit into memory. */
static bool is_direct(int32_t n, const BrioLower *rows, int32_t *work)
{
    int32_t *count = work + n;
    double max = PER_BLOCK * n, operations = 0;
    double max_blocks = fmin(sqrt(max / 27 * n), brio__memory_available() / (9 * sizeof(double)));
    double blocks = brio__count_columns(n, rows, max_blocks, work, count, work + 2 * (size_t)n);
    if (blocks > max_blocks) return false;
    for (int32_t J = 0; J < n; J++) operations += 27.0 * count[J] * count[J];
    return operations <= max;
}

static BrioStatus choose(const BrioMatrix *A, const BrioLinearType **type)
{
    *type = &brio__solver_ldlt;
    if (A->n < MIN_BLOCKS) return BRIO_OK;
    BrioLower rows = {0};
    int32_t *work = brio__alloc(3 * (size_t)A->n, sizeof *work);
    BrioStatus status = work ? brio__lower_create(A, &rows) : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK && !is_direct(A->n, &rows, work)) *type = &brio__solver_multilevel;
    brio__lower_free(&rows);
    brio__free(work);
    return status;
}

static void auto_destroy(void *self)
{
    Auto *a = self;
    if (a->self) a->type->destroy(a->self);
    if (a->direct) brio__solver_ldlt.destroy(a->direct);
    brio__free(a->b);
    brio__free(a);
}

static BrioStatus auto_create(const BrioMatrix *A, const BrioLinearOptions *options, void **self)
{
    *self = NULL;
    Auto *a = brio__calloc(1, sizeof *a);
    if (!a) return BRIO_ERROR_MEMORY;
    BrioStatus status = choose(A, &a->type);
    if (status == BRIO_OK) status = a->type->create(A, options, &a->self);
    if (status == BRIO_OK && a->type == &brio__solver_multilevel) {
        a->b = brio__alloc((size_t)A->n, 3 * sizeof *a->b);
        if (!a->b) status = BRIO_ERROR_MEMORY;
    }
    if (status == BRIO_OK)
        *self = a;
    else
        auto_destroy(a);
    return status;
}

static BrioStatus auto_factor(void *self, const BrioMatrix *A)
{
    Auto *a = self;
    a->fell_back = false;
    return a->type->factor(a->self, A);
}

/* What is too large for a factor stays unconverged. */
static BrioStatus fall_back(Auto *a, const BrioMatrix *A)
{
    if (!a->direct) {
        BrioStatus status = brio__solver_ldlt.create(A, NULL, &a->direct);
        if (status != BRIO_OK) return BRIO_NOT_CONVERGED;
    }
    BRIO_CHECK(brio__solver_ldlt.factor(a->direct, A));
    a->fell_back = true;
    return BRIO_OK;
}

static BrioStatus solve_one(Auto *a, const BrioMatrix *A, double *x)
{
    size_t bytes = 3 * sizeof *x * (size_t)A->n;
    if (!a->fell_back) {
        memcpy(a->b, x, bytes);
        BrioStatus status = a->type->solve(a->self, A, 1, x);
        if (status != BRIO_NOT_CONVERGED) return status;
        memcpy(x, a->b, bytes);
        BRIO_CHECK(fall_back(a, A));
    }
    return brio__solver_ldlt.solve(a->direct, A, 1, x);
}

static BrioStatus auto_solve(void *self, const BrioMatrix *A, int k, double *x)
{
    Auto *a = self;
    if (a->type != &brio__solver_multilevel) return a->type->solve(a->self, A, k, x);
    for (int j = 0; j < k; j++) BRIO_CHECK(solve_one(a, A, x + 3 * (int64_t)A->n * j));
    return BRIO_OK;
}

static void auto_stats(const void *self, BrioLinearStats *stats)
{
    const Auto *a = self;
    a->type->stats(a->self, stats);
}

const BrioLinearType brio__solver_auto = {
    .name = "auto",
    .summary =
        "Direct (ldlt) or multilevel: the faster one, estimated from the number of operations.",
    .citation = "Liu1992",
    .order = auto_order,
    .create = auto_create,
    .factor = auto_factor,
    .solve = auto_solve,
    .stats = auto_stats,
    .destroy = auto_destroy,
    .inexact = true,
};
