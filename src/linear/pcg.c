/* Conjugate gradients, preconditioned by the inverse P of the diagonal blocks (block Jacobi)
 * [Hestenes1952]. */
#include "cg.h"
#include "order.h"

typedef struct Pcg {
    BrioCg cg;
    double *inverse; /* n x 6: xx yy zz xy xz yz of the inverted diagonal blocks */
} Pcg;

static void pcg_destroy(void *self)
{
    Pcg *s = self;
    brio__free(s->inverse);
    brio__cg_free(&s->cg);
    brio__free(s);
}

enum { GRAIN = 8192 };

typedef struct Product {
    const double *inverse, *x;
    double *y;
} Product;

static void precondition_chunk(void *context, int64_t begin, int64_t end)
{
    const Product *v = context;
    for (int64_t i = begin; i < end; i++) {
        const double *m = v->inverse + 6 * i, *x = v->x + 3 * i;
        double *y = v->y + 3 * i;
        y[0] = m[0] * x[0] + m[3] * x[1] + m[4] * x[2];
        y[1] = m[3] * x[0] + m[1] * x[1] + m[5] * x[2];
        y[2] = m[4] * x[0] + m[5] * x[1] + m[2] * x[2];
    }
}

static void precondition(void *self, const double *r, double *z)
{
    const Pcg *s = self;
    brio__parallel_for(s->cg.n, GRAIN, precondition_chunk, &(Product){s->inverse, r, z});
}

static BrioStatus pcg_create(const BrioMatrix *A, const BrioLinearOptions *options, void **self)
{
    *self = NULL;
    Pcg *s = brio__calloc(1, sizeof *s);
    if (!s) return BRIO_ERROR_MEMORY;
    BrioStatus status = brio__cg_create(A, options, &s->cg);
    s->cg.precondition = precondition;
    s->cg.self = s;
    s->inverse = brio__alloc((size_t)A->n, 6 * sizeof *s->inverse);
    if (!s->inverse) status = BRIO_ERROR_MEMORY;
    if (status == BRIO_OK)
        *self = s;
    else
        pcg_destroy(s);
    return status;
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

static BrioStatus pcg_solve(void *self, const BrioMatrix *A, int k, double *x)
{
    Pcg *s = self;
    return brio__cg_solve(&s->cg, A, k, x);
}

static void pcg_stats(const void *self, BrioLinearStats *stats)
{
    const Pcg *s = self;
    stats->iterations = s->cg.iterations;
    stats->bytes = 8.0 * 21.0 * s->cg.n;
}

const BrioLinearType brio__solver_pcg = {
    .name = "pcg",
    .summary =
        "Iterative, for matrices too large to factor: conjugate gradients with block Jacobi.",
    .citation = "Hestenes1952",
    .order = brio__order_band,
    .create = pcg_create,
    .factor = pcg_factor,
    .solve = pcg_solve,
    .stats = pcg_stats,
    .destroy = pcg_destroy,
    .multiplies = true,
};
