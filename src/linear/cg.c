/* Conjugate gradients [Hestenes1952], preconditioned by P.
 *
 * Stops when sqrt(r.P r) <= tol sqrt(b.P b). The residual of the recurrence drifts away from b - A
 * x by round-off, so it is computed again at the end, unless the iterations were few and the
 * tolerance is far from round-off: if the true one is too large, the iteration starts again from
 * there, and gives up when that no longer helps. All sums are in fixed order: the
 * same bits for any number of threads. */
#include "cg.h"

#include <string.h>

BrioStatus brio__cg_create(const BrioMatrix *A, const BrioLinearOptions *options, BrioCg *cg)
{
    int64_t length = 3 * (int64_t)A->n;
    *cg = (BrioCg){.n = A->n, .options = options};
    cg->max_iterations = options->max_iterations > 0 ? options->max_iterations
                                                     : BRIO_MIN(length + 1000, (int64_t)20000);
    cg->b = brio__alloc((size_t)length, 5 * sizeof *cg->b);
    if (!cg->b) return BRIO_ERROR_MEMORY;
    cg->r = cg->b + length;
    cg->z = cg->r + length;
    cg->p = cg->z + length;
    cg->ap = cg->p + length;
    return BRIO_OK;
}

void brio__cg_free(BrioCg *cg) { brio__free(cg->b); /* and the vectors after it */ }

/* ---- vector operations, by block rows --------------------------------------------------- */

enum { GRAIN = 8192, FEW = 100 };
#define NEAR_ROUNDOFF 1e-7

typedef struct Vectors {
    const double *x;
    double *y;
    double factor;
} Vectors;

static double dot_chunk(void *context, int64_t begin, int64_t end)
{
    const Vectors *v = context;
    double sum = 0;
    for (int64_t i = begin; i < end; i++)
        sum += v->x[3 * i] * v->y[3 * i] + v->x[3 * i + 1] * v->y[3 * i + 1] +
               v->x[3 * i + 2] * v->y[3 * i + 2];
    return sum;
}

static double dot(const BrioCg *s, const double *x, double *y)
{
    return brio__parallel_sum(s->n, dot_chunk, &(Vectors){.x = x, .y = y});
}

/* y += factor x */
static void add_part(void *context, int64_t begin, int64_t end)
{
    const Vectors *v = context;
    for (int64_t i = 3 * begin; i < 3 * end; i++) v->y[i] += v->factor * v->x[i];
}

/* y = x + factor y */
static void turn_chunk(void *context, int64_t begin, int64_t end)
{
    const Vectors *v = context;
    for (int64_t i = 3 * begin; i < 3 * end; i++) v->y[i] = v->x[i] + v->factor * v->y[i];
}

/* y = x - y */
static void difference_chunk(void *context, int64_t begin, int64_t end)
{
    const Vectors *v = context;
    for (int64_t i = 3 * begin; i < 3 * end; i++) v->y[i] = v->x[i] - v->y[i];
}

static double precondition(const BrioCg *s, const double *x, double *y) /* returns x.P x */
{
    s->precondition(s->self, x, y);
    return dot(s, x, y);
}

/* ---- iteration -------------------------------------------------------------------------- */

/* From r = b - A x, z = P r and rz = r.z, until sqrt(r.P r) <= goal or no iterations are left. */
static BrioStatus iterate(BrioCg *s, const BrioMatrix *A, double goal, double rz, int64_t *left,
                          double *x)
{
    memcpy(s->p, s->z, 3 * sizeof *s->p * (size_t)s->n);
    while (!(sqrt(rz) <= goal)) {
        if ((*left)-- == 0) return BRIO_NOT_CONVERGED;
        brio__matrix_multiply(A, s->p, s->ap);
        double curvature = dot(s, s->p, s->ap);
        if (!isfinite(curvature) || !isfinite(rz)) return BRIO_NOT_FINITE;
        if (curvature <= 0) return BRIO_NOT_POSITIVE_DEFINITE;
        double step = rz / curvature;
        brio__parallel_for(s->n, GRAIN, add_part, &(Vectors){.x = s->p, .y = x, .factor = step});
        brio__parallel_for(s->n, GRAIN, add_part,
                           &(Vectors){.x = s->ap, .y = s->r, .factor = -step});
        double before = rz;
        rz = precondition(s, s->r, s->z);
        if (rz < 0) return BRIO_NOT_POSITIVE_DEFINITE;
        brio__parallel_for(s->n, GRAIN, turn_chunk,
                           &(Vectors){.x = s->z, .y = s->p, .factor = rz / before});
        s->iterations++;
    }
    return BRIO_OK;
}

static BrioStatus solve_one(BrioCg *s, const BrioMatrix *A, double *x)
{
    size_t bytes = 3 * sizeof *x * (size_t)s->n;
    memcpy(s->b, x, bytes);
    memcpy(s->r, x, bytes);
    memset(x, 0, bytes);
    double square = precondition(s, s->r, s->z);
    if (square < 0) return BRIO_NOT_POSITIVE_DEFINITE;
    double tol = s->options->tol > 0 ? s->options->tol : 1e-8;
    double size = sqrt(square), goal = tol * size, residual = size;
    int64_t left = s->max_iterations;
    if (!isfinite(size)) return BRIO_NOT_FINITE;
    while (residual > goal) {
        BRIO_CHECK(iterate(s, A, goal, square, &left, x));
        if (tol > NEAR_ROUNDOFF && s->max_iterations - left < FEW) return BRIO_OK;
        brio__matrix_multiply(A, x, s->r);
        brio__parallel_for(s->n, GRAIN, difference_chunk, &(Vectors){.x = s->b, .y = s->r});
        double before = residual;
        square = fmax(precondition(s, s->r, s->z), 0);
        residual = sqrt(square);
        if (residual > goal && !(residual < 0.5 * before)) return BRIO_NOT_CONVERGED;
    }
    return BRIO_OK;
}

BrioStatus brio__cg_solve(BrioCg *s, const BrioMatrix *A, int k, double *x)
{
    BrioStatus worst = BRIO_OK;
    for (int j = 0; j < k; j++) {
        BrioStatus status = solve_one(s, A, x + 3 * (int64_t)A->n * j);
        if (worst == BRIO_OK || status > BRIO_NOT_CONVERGED) worst = status;
    }
    return worst;
}
