/* The cycle of the multilevel preconditioner (multilevel.h): one V-cycle from zero.
 *
 * On each level: smooth, take the residual to the coarser level (by P^T), correct by what comes
 * back (by P), smooth again. The smoother is Chebyshev's iteration over block Jacobi [Adams2003]: a
 * polynomial in D^-1 A that is small on the upper part of its spectrum, the same before and after,
 * so that the cycle is symmetric. Rows are independent of each other: the same bits for any number
 * of threads. */
#include "multilevel.h"

#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* ---- kernels ---------------------------------------------------------------------------- */

#define KERNEL(name) name##_baseline
#define KERNEL_TARGET
#define KERNEL_FMA_QUAD(a, b, c) ((a) * (b) + (c))
#define KERNEL_FMA_OCT(a, b, c) ((a) * (b) + (c))
#define KERNEL_FMA_FOUR(a, b, c) ((a) * (b) + (c))
#define KERNEL_FMA_TWO(a, b, c) ((a) * (b) + (c))
#include "multilevel_kernel.h"

#if defined(__x86_64__)
#define KERNEL(name) name##_avx2
#define KERNEL_TARGET __attribute__((target("avx2,fma")))
#define KERNEL_FMA_QUAD(a, b, c) ((Quad)_mm_fmadd_ps((__m128)(a), (__m128)(b), (__m128)(c)))
#define KERNEL_FMA_OCT(a, b, c) ((Oct)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define KERNEL_FMA_FOUR(a, b, c) ((Four)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#define KERNEL_FMA_TWO(a, b, c) ((Two)_mm_fmadd_pd((__m128d)(a), (__m128d)(b), (__m128d)(c)))
#include "multilevel_kernel.h"
#endif

const BrioMultilevelKernels *brio__multilevel_kernels(void)
{
    return BRIO_BY_ISA(&kernels_baseline, &kernels_avx2, &kernels_avx2);
}

/* ---- vectors of a level ----------------------------------------------------------------- */

enum { GRAIN = 512, COARSE_GRAIN = 128 };
enum { DEGREE = 2, PROBES = 10 };
#define UPPER 1.1 /* times the estimated radius: where the smoother's interval ends */
#define LOWER 0.1 /* and where it begins */

typedef struct Rows {
    const BrioMultilevelKernels *kernels;
    BrioLevel *level;
    const BrioLevel *coarse;
    float keep, step;
} Rows;

static void for_rows(Rows *rows, BrioWork *work)
{
    const BrioLevel *l = rows->level;
    brio__parallel_for(l->n, l->size == 3 ? GRAIN : COARSE_GRAIN, work, rows);
}

static void smooth_rows(void *context, int64_t begin, int64_t end)
{
    const Rows *w = context;
    w->kernels->smooth(w->level, w->keep, w->step, begin, end);
}

static void residual_rows(void *context, int64_t begin, int64_t end)
{
    const Rows *w = context;
    w->kernels->residual(w->level, w->keep, begin, end);
}

static void interpolate_rows(void *context, int64_t begin, int64_t end)
{
    const Rows *w = context;
    w->kernels->interpolate(w->level, w->coarse->x, begin, end);
}

/* b of the coarser level = P^T y */
static void restrict_rows(void *context, int64_t begin, int64_t end)
{
    const Rows *w = context;
    const BrioLevel *l = w->level;
    int size = l->size;
    for (int64_t i = begin; i < end; i++) {
        float sum[6] = {0};
        for (int64_t k = l->column_start[i]; k < l->column_start[i + 1]; k++) {
            const float *p = l->p + 6 * size * l->entry[k];
            const float *y = l->y + size * (int64_t)l->entry_row[k];
            for (int r = 0; r < size; r++)
                for (int c = 0; c < 6; c++) sum[c] += p[6 * r + c] * y[r];
        }
        memcpy(w->coarse->b + 6 * i, sum, sizeof sum);
    }
}

/* Entry r of D^-1 b in block i. */
static inline float scaled(const BrioLevel *l, int64_t i, int r)
{
    int size = l->size;
    float z = 0;
    for (int c = 0; c < size; c++) z += l->inverse[size * (size * i + c) + r] * l->b[size * i + c];
    return z;
}

/* x = d = step D^-1 b: a smoothing step from zero */
static void first_rows(void *context, int64_t begin, int64_t end)
{
    const Rows *w = context;
    const BrioLevel *l = w->level;
    for (int64_t i = begin; i < end; i++)
        for (int r = 0; r < l->size; r++)
            l->x[l->size * i + r] = l->d[l->size * i + r] = w->step * scaled(l, i, r);
}

/* ---- the radius ------------------------------------------------------------------------- */

/* Of vectors of a level, by blocks. */
typedef struct Dot {
    const float *x, *y;
    int size;
} Dot;

static double dot_rows(void *context, int64_t begin, int64_t end)
{
    const Dot *w = context;
    double sum = 0;
    for (int64_t i = w->size * begin; i < w->size * end; i++)
        sum += (double)w->x[i] * (double)w->y[i];
    return sum;
}

static double dot(const BrioLevel *l, const float *x, const float *y)
{
    return brio__parallel_sum(l->n, dot_rows, &(Dot){x, y, l->size});
}

/* The largest eigenvalue of a symmetric tridiagonal matrix, by bisection of the number of negative
 * pivots. */
static double largest_eigenvalue(int n, const double *diagonal, const double *beside)
{
    double low = 0, high = 0;
    for (int i = 0; i < n; i++)
        high = fmax(high, diagonal[i] + (i > 0 ? fabs(beside[i - 1]) : 0) +
                              (i + 1 < n ? fabs(beside[i]) : 0));
    for (int round = 0; round < 40; round++) {
        double middle = 0.5 * (low + high), pivot = 1;
        bool all = true; /* negative: the eigenvalues are below */
        for (int i = 0; i < n && all; i++) {
            pivot = diagonal[i] - middle - (i > 0 ? beside[i - 1] * beside[i - 1] / pivot : 0);
            all = pivot < 0;
        }
        if (all)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* r -= step A p, with p = x and A p = -y */
static void step_rows(void *context, int64_t begin, int64_t end)
{
    const Rows *w = context;
    const BrioLevel *l = w->level;
    for (int64_t i = l->size * begin; i < l->size * end; i++) l->b[i] += w->step * l->y[i];
}

/* d = D^-1 r */
static void scaled_rows(void *context, int64_t begin, int64_t end)
{
    const Rows *w = context;
    const BrioLevel *l = w->level;
    for (int64_t i = begin; i < end; i++)
        for (int r = 0; r < l->size; r++) l->d[l->size * i + r] = scaled(l, i, r);
}

/* p = z + keep p */
static void turn_rows(void *context, int64_t begin, int64_t end)
{
    const Rows *w = context;
    const BrioLevel *l = w->level;
    for (int64_t i = l->size * begin; i < l->size * end; i++) l->x[i] = l->d[i] + w->keep * l->x[i];
}

/* Lanczos' method, as conjugate gradients do it, from a fixed start with all frequencies. */
bool brio__level_radius(const BrioMultilevelKernels *kernels, BrioLevel *l)
{
    double diagonal[PROBES], beside[PROBES], before = 0, last = 0;
    Rows w = {.kernels = kernels, .level = l};
    BrioRandom random = {1};
    for (int64_t i = 0; i < (int64_t)l->size * l->n; i++) {
        l->b[i] = (float)(brio__random(&random) - 0.5);
        l->x[i] = 0;
    }
    int count = 0;
    while (count < PROBES) {
        for_rows(&w, scaled_rows);
        if (l->joined.linear) brio__subset_solve(&l->joined, l, l->b, l->d);
        double rz = dot(l, l->b, l->d);
        double turn = count ? rz / before : 0;
        if (!(rz > 0) || (count && rz < 1e-12 * before)) break;
        w.keep = (float)turn;
        for_rows(&w, turn_rows);
        w.keep = 0;
        for_rows(&w, residual_rows);
        double curvature = -dot(l, l->x, l->y);
        if (!(curvature > 0)) return false;
        double step = rz / curvature;
        diagonal[count] = 1 / step + (count ? turn / last : 0);
        if (count) beside[count - 1] = sqrt(turn) / last;
        count++;
        before = rz;
        last = step;
        w.step = (float)step;
        for_rows(&w, step_rows);
    }
    l->radius = count ? largest_eigenvalue(count, diagonal, beside) : 1;
    return l->radius > 0 && isfinite(l->radius);
}

/* ---- the cycle -------------------------------------------------------------------------- */

static void swap(BrioLevel *l)
{
    float *x = l->x;
    l->x = l->y;
    l->y = x;
}

/* d = step D^-1 b, x = d. */
static void first_step(Rows *w)
{
    BrioLevel *l = w->level;
    BrioSubset *s = &l->joined;
    for_rows(w, first_rows);
    if (!s->linear) return;
    brio__subset_solve(s, l, l->b, l->d);
    for (int64_t m = 0; m < s->count; m++)
        for (int64_t i = l->size * (int64_t)s->member[m], c = 0; c < l->size; c++)
            l->x[i + c] = l->d[i + c] *= w->step;
}

/* d = keep d + step D^-1 (b - A x), x += d. */
static void step(Rows *w)
{
    BrioLevel *l = w->level;
    BrioSubset *s = &l->joined;
    int size = l->size;
    for (int64_t m = 0; s->linear && m < s->count; m++) {
        int64_t i = s->member[m];
        memcpy(s->kept + size * m, l->d + size * i, (size_t)size * sizeof *s->kept);
        w->kernels->residual(l, 1, i, i + 1);
    }
    if (s->linear) brio__subset_solve(s, l, l->y, l->d); /* what it takes the place of is kept */
    for (int64_t m = 0; s->linear && m < s->count; m++)
        for (int64_t i = size * (int64_t)s->member[m], c = 0; c < size; c++)
            s->kept[size * m + c] = w->keep * s->kept[size * m + c] + w->step * l->d[i + c];
    for_rows(w, smooth_rows);
    for (int64_t m = 0; s->linear && m < s->count; m++)
        for (int64_t i = size * (int64_t)s->member[m], c = 0; c < size; c++) {
            l->d[i + c] = s->kept[size * m + c];
            l->y[i + c] = l->x[i + c] + l->d[i + c];
        }
    swap(l);
}

/* DEGREE steps of Chebyshev's iteration on [LOWER, UPPER] radius. */
static void smooth(Rows *w, bool from_zero)
{
    double upper = UPPER * w->level->radius, lower = LOWER * w->level->radius;
    double centre = 0.5 * (upper + lower), half = 0.5 * (upper - lower), rho = half / centre;
    w->keep = 0;
    w->step = (float)(1 / centre);
    if (from_zero) {
        first_step(w);
    } else {
        step(w);
    }
    for (int i = 1; i < DEGREE; i++) {
        double next = 1 / (2 * centre / half - rho);
        w->keep = (float)(next * rho);
        w->step = (float)(2 * next / half);
        rho = next;
        step(w);
    }
}

static void cycle(BrioHierarchy *h)
{
    for (int i = 0; i + 1 < h->levels; i++) {
        BrioLevel *coarse = &h->level[i + 1];
        Rows w = {.kernels = h->kernels, .level = &h->level[i], .coarse = coarse};
        smooth(&w, true);
        w.keep = 1;
        for_rows(&w, residual_rows);
        brio__parallel_for(coarse->n, COARSE_GRAIN, restrict_rows, &w);
    }
    BrioLevel *coarsest = &h->level[h->levels - 1];
    brio__subset_solve(&coarsest->joined, coarsest, coarsest->b, coarsest->x);
    for (int i = h->levels - 2; i >= 0; i--) {
        Rows w = {.kernels = h->kernels, .level = &h->level[i], .coarse = &h->level[i + 1]};
        for_rows(&w, interpolate_rows);
        smooth(&w, false);
    }
}

typedef struct Transfer {
    const double *r;
    double *z, scale;
    BrioLevel *level;
} Transfer;

static void begin_rows(void *context, int64_t begin, int64_t end)
{
    const Transfer *t = context;
    for (int64_t i = 3 * begin; i < 3 * end; i++) t->level->b[i] = (float)(t->scale * t->r[i]);
}

static void end_rows(void *context, int64_t begin, int64_t end)
{
    const Transfer *t = context;
    for (int64_t i = 3 * begin; i < 3 * end; i++) t->z[i] = t->scale * (double)t->level->x[i];
}

static double square_rows(void *context, int64_t begin, int64_t end)
{
    const double *r = context;
    double sum = 0;
    for (int64_t i = 3 * begin; i < 3 * end; i++) sum += r[i] * r[i];
    return sum;
}

/* z = a cycle for r, in units in which r is near 1. */
static void apply_cycle(BrioHierarchy *h, const double *r, double *z)
{
    BrioLevel *l = &h->level[0];
    int exponent;
    double size = sqrt(brio__parallel_sum(l->n, square_rows, (void *)r));
    frexp(size, &exponent);
    Transfer t = {.r = r, .z = z, .level = l, .scale = isfinite(size) ? ldexp(1, -exponent) : 1};
    brio__parallel_for(l->n, 8192, begin_rows, &t);
    cycle(h);
    t.scale = h->scale / t.scale;
    brio__parallel_for(l->n, 8192, end_rows, &t);
}

void brio__hierarchy_apply(BrioHierarchy *h, const BrioMatrix *A, const double *r, double *z)
{
    BrioSubset *joined = &h->level[0].joined;
    size_t bytes = 3 * (size_t)A->n * sizeof *z;
    if (!h->rest) {
        apply_cycle(h, r, z);
        return;
    }
    memcpy(h->rest, r, bytes);
    memset(z, 0, bytes);
    brio__subset_correct(joined, A, h->scale, r, z, h->rest);
    for (int64_t m = 0; m < joined->count; m++)
        for (int c = 0; c < 3; c++) h->before[3 * m + c] = z[3 * (int64_t)joined->member[m] + c];
    apply_cycle(h, h->rest, z);
    for (int64_t m = 0; m < joined->count; m++)
        for (int c = 0; c < 3; c++) z[3 * (int64_t)joined->member[m] + c] += h->before[3 * m + c];
    brio__subset_correct(joined, A, h->scale, r, z, NULL);
}
