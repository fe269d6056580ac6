/* Conjugate gradients [Hestenes1952], preconditioned by the inverse P of the diagonal blocks (block
 * Jacobi).
 *
 * Stops when sqrt(r.P r) <= tol sqrt(b.P b). The residual of the recurrence drifts away from b - A
 * x by round-off, so it is computed anew at the end: if the true one is too large, the iteration
 * starts again from there, and gives up when that no longer helps. All sums are in fixed order: the
 * same bits for any number of threads. */
#include "linear.h"
#include "order.h"

#include <string.h>

typedef struct Pcg {
    double tol;
    int64_t max_iterations;
    int64_t iterations; /* so far */
    int32_t n;
    double *inverse; /* n x 6: xx yy zz xy xz yz of the inverted diagonal blocks */
    double *b, *r, *z, *p, *ap;
} Pcg;

static void pcg_destroy(void *self)
{
    Pcg *s = self;
    brio__free(s->inverse);
    brio__free(s->b); /* and the vectors after it */
    brio__free(s);
}

static BrioStatus pcg_create(const BrioMatrix *A, const BrioLinearOptions *options, void **self)
{
    *self = NULL;
    Pcg *s = brio__calloc(1, sizeof *s);
    if (!s) return BRIO_ERROR_MEMORY;
    int64_t length = 3 * (int64_t)A->n;
    s->n = A->n;
    s->tol = options->tol > 0 ? options->tol : 1e-8;
    s->max_iterations = options->max_iterations > 0 ? options->max_iterations
                                                    : BRIO_MIN(length + 1000, (int64_t)20000);
    s->inverse = brio__alloc((size_t)A->n, 6 * sizeof *s->inverse);
    s->b = brio__alloc((size_t)length, 5 * sizeof *s->b);
    if (!s->inverse || !s->b) {
        pcg_destroy(s);
        return BRIO_ERROR_MEMORY;
    }
    s->r = s->b + length;
    s->z = s->r + length;
    s->p = s->z + length;
    s->ap = s->p + length;
    *self = s;
    return BRIO_OK;
}

/* Inverse of a symmetric block by cofactors; false if it is not positive definite (leading
 * minors). */
static bool invert(const double *a, int64_t stride, double *inverse)
{
    double xx = a[0];
    double xy = a[1];
    double xz = a[2];
    double yy = a[stride + 1];
    double yz = a[stride + 2];
    double zz = a[2 * stride + 2];
    double minor = xx * yy - xy * xy;
    double cx = yy * zz - yz * yz;
    double cy = xz * yz - xy * zz;
    double cz = xy * yz - xz * yy;
    double det = xx * cx + xy * cy + xz * cz;
    if (!(xx > 0 && minor > 0 && det > 0 && isfinite(det))) return false;
    inverse[0] = cx / det;
    inverse[1] = (xx * zz - xz * xz) / det;
    inverse[2] = minor / det;
    inverse[3] = cy / det;
    inverse[4] = cz / det;
    inverse[5] = (xy * xz - xx * yz) / det;
    return true;
}

static BrioStatus pcg_factor(void *self, const BrioMatrix *A)
{
    Pcg *s = self;
    for (int32_t J = 0; J < A->n; J++)
        if (!invert(A->value + 9 * A->start[J], brio__matrix_stride(A, J),
                    s->inverse + 6 * (int64_t)J))
            return BRIO_NOT_POSITIVE_DEFINITE;
    return BRIO_OK;
}

/* ---- vector operations, by block rows --------------------------------------------------- */

enum { GRAIN = 8192 };

typedef struct Vectors {
    const double *inverse, *x;
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

static double dot(const Pcg *s, const double *x, double *y)
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

/* y = P x */
static void precondition_chunk(void *context, int64_t begin, int64_t end)
{
    const Vectors *v = context;
    for (int64_t i = begin; i < end; i++) {
        const double *m = v->inverse + 6 * i, *x = v->x + 3 * i;
        double *y = v->y + 3 * i;
        y[0] = m[0] * x[0] + m[3] * x[1] + m[4] * x[2];
        y[1] = m[3] * x[0] + m[1] * x[1] + m[5] * x[2];
        y[2] = m[4] * x[0] + m[5] * x[1] + m[2] * x[2];
    }
}

static double precondition(const Pcg *s, const double *x, double *y) /* returns x.P x */
{
    brio__parallel_for(s->n, GRAIN, precondition_chunk,
                       &(Vectors){.inverse = s->inverse, .x = x, .y = y});
    return dot(s, x, y);
}

/* ---- iteration -------------------------------------------------------------------------- */

/* From r = b - A x, until sqrt(r.P r) <= goal or no iterations are left. */
static BrioStatus iterate(Pcg *s, const BrioMatrix *A, double goal, int64_t *left, double *x)
{
    double rz = precondition(s, s->r, s->z);
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
        brio__parallel_for(s->n, GRAIN, turn_chunk,
                           &(Vectors){.x = s->z, .y = s->p, .factor = rz / before});
        s->iterations++;
    }
    return BRIO_OK;
}

static BrioStatus solve_one(Pcg *s, const BrioMatrix *A, double *x)
{
    size_t bytes = 3 * sizeof *x * (size_t)s->n;
    memcpy(s->b, x, bytes);
    memcpy(s->r, x, bytes);
    memset(x, 0, bytes);
    double size = sqrt(precondition(s, s->b, s->z)), goal = s->tol * size, residual = size;
    int64_t left = s->max_iterations;
    if (!isfinite(size)) return BRIO_NOT_FINITE;
    while (residual > goal) {
        BRIO_CHECK(iterate(s, A, goal, &left, x));
        brio__matrix_multiply(A, x, s->r);
        brio__parallel_for(s->n, GRAIN, difference_chunk, &(Vectors){.x = s->b, .y = s->r});
        double before = residual;
        residual = sqrt(precondition(s, s->r, s->z));
        if (residual > goal && !(residual < 0.5 * before)) return BRIO_NOT_CONVERGED;
    }
    return BRIO_OK;
}

static BrioStatus pcg_solve(void *self, const BrioMatrix *A, int k, double *x)
{
    BrioStatus worst = BRIO_OK;
    for (int j = 0; j < k; j++) {
        BrioStatus status = solve_one(self, A, x + 3 * (int64_t)A->n * j);
        if (worst == BRIO_OK || status > BRIO_NOT_CONVERGED) worst = status;
    }
    return worst;
}

static void pcg_stats(const void *self, BrioLinearStats *stats)
{
    const Pcg *s = self;
    stats->iterations = s->iterations;
    stats->bytes = 8.0 * 21.0 * s->n;
}

const BrioLinearType brio__solver_pcg = {
    .name = "pcg",
    .summary =
        "Iterative, for what outgrows a factorisation: conjugate gradients with block Jacobi.",
    .citation = "Hestenes1952",
    .order = brio__order_band,
    .create = pcg_create,
    .factor = pcg_factor,
    .solve = pcg_solve,
    .stats = pcg_stats,
    .destroy = pcg_destroy,
    .multiplies = true,
    .iterates = true,
};
