/* The numbers of the multilevel preconditioner (multilevel.h) [Vanek1996].
 *
 * The rigid motions of a body are what smoothing hardly changes. Those of an aggregate, made
 * orthonormal, are six columns of the tentative interpolation T; their coefficients are the rigid
 * motions of the coarser level. P = (I - 4/(3 rho) D^-1 A) T, with the radius rho of D^-1 A, lowers
 * the energy of these columns, and P^T A P is the coarse matrix.
 *
 * The columns come from a Cholesky factorisation of the 6 x 6 matrix of their products. Aggregates
 * of one or two blocks, or of blocks on a line, or without known positions, have fewer than six
 * motions: the other columns are zero, and such coarse unknowns stand alone. */
#include "multilevel.h"

#include <string.h>

enum { GRAIN = 256, COARSE_GRAIN = 16 };
#define DAMPING (4.0 / 3.0)
#define DEPENDENT 1e-8 /* part of a column's square below which it depends on those before it */

typedef struct Work {
    const BrioHierarchy *h;
    const BrioLevel *level, *coarse;
    const BrioMatrix *A;
    const double *position;
} Work;

/* ---- diagonal blocks -------------------------------------------------------------------- */

/* Inverse of a symmetric matrix, by the factor L of its lower half; false if it is not positive
 * definite. */
static bool invert(int size, const double *a, float *inverse)
{
    double L[36], columns[36];
    for (int j = 0; j < size; j++)
        for (int i = j; i < size; i++) {
            double sum = a[size * i + j];
            for (int k = 0; k < j; k++) sum -= L[size * i + k] * L[size * j + k];
            if (i == j && !(sum > 1e-14 * a[size * i + i])) return false;
            L[size * i + j] = i == j ? sqrt(sum) : sum / L[size * j + j];
        }
    for (int c = 0; c < size; c++) { /* L^-1, by columns */
        for (int i = 0; i < size; i++) {
            double sum = i == c;
            for (int k = c; k < i; k++) sum -= L[size * i + k] * columns[size * c + k];
            columns[size * c + i] = i < c ? 0 : sum / L[size * i + i];
        }
    }
    for (int r = 0; r < size; r++)
        for (int c = 0; c < size; c++) {
            double sum = 0;
            for (int k = BRIO_MAX(r, c); k < size; k++)
                sum += columns[size * r + k] * columns[size * c + k];
            inverse[size * r + c] = (float)sum;
        }
    return true;
}

/* Block of A, transposed or not, by columns as single numbers. */
static void convert(const double *a, int64_t stride, bool transposed, double scale, float *to)
{
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++)
            to[3 * c + r] = (float)(scale * (transposed ? a[r * stride + c] : a[c * stride + r]));
}

/* Returns how many diagonal blocks are not positive definite. */
static double finest_rows(void *context, int64_t begin, int64_t end)
{
    const Work *w = context;
    const BrioMatrix *A = w->A;
    const BrioLevel *l = w->level;
    double scale = w->h->scale, bad = 0;
    for (int64_t i = begin; i < end; i++) {
        float *to = l->value + 9 * l->start[i];
        for (int64_t k = A->left_start[i]; k < A->left_start[i + 1]; k++, to += 9)
            convert(A->value + A->left[k].slot, A->left[k].stride, false, scale, to);
        int64_t stride = brio__matrix_stride(A, (int32_t)i);
        const double *a = A->value + 9 * A->start[i];
        for (int64_t k = 0; k < stride / 3; k++, to += 9)
            convert(a + 3 * k, stride, true, scale, to);
        double lower[9];
        to = l->value + 9 * l->diagonal[i];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) {
                double entry = a[BRIO_MIN(r, c) * stride + BRIO_MAX(r, c)];
                lower[3 * r + c] = scale * entry;
                to[3 * c + r] = (float)(scale * entry);
            }
        bad += !invert(3, lower, l->inverse + 9 * i);
    }
    return bad;
}

/* The largest diagonal entry, as a power of 2. */
static double find_scale(const BrioMatrix *A)
{
    double largest = 0;
    int exponent;
    for (int32_t i = 0; i < A->n; i++)
        for (int c = 0; c < 3; c++)
            largest =
                fmax(largest, fabs(A->value[9 * A->start[i] + c * brio__matrix_stride(A, i) + c]));
    frexp(largest, &exponent);
    return largest > 0 ? ldexp(1, -exponent) : 1;
}

static BrioStatus make_finest(BrioHierarchy *h, const BrioMatrix *A, const double *position)
{
    BrioLevel *l = &h->level[0];
    h->scale = find_scale(A);
    memset(l->motion, 0, 18 * (size_t)l->n * sizeof *l->motion);
    for (int64_t b = 0; b < l->n; b++) {
        int64_t i = A->position[b];
        for (int c = 0; c < 3; c++) {
            l->centre[3 * i + c] = position ? position[3 * b + c] : 0;
            l->motion[18 * i + 7 * c] = 1;
        }
    }
    Work w = {.h = h, .level = l, .A = A};
    return brio__parallel_sum(l->n, finest_rows, &w) > 0 ? BRIO_NOT_POSITIVE_DEFINITE : BRIO_OK;
}

/* Single numbers and inverses of a coarse matrix; unknowns without a column stand alone. */
static double coarse_numbers(void *context, int64_t begin, int64_t end)
{
    const BrioLevel *l = ((const Work *)context)->level;
    double bad = 0;
    for (int64_t i = begin; i < end; i++) {
        double *diagonal = l->exact + 36 * l->diagonal[i], sum = 0;
        for (int c = 0; c < 6; c++) sum += diagonal[7 * c];
        for (int c = 0; c < 6; c++)
            if (diagonal[7 * c] == 0) diagonal[7 * c] = sum > 0 ? sum : 1;
        for (int64_t k = l->start[i]; k < l->start[i + 1]; k++)
            for (int r = 0; r < 6; r++)
                for (int c = 0; c < 6; c++)
                    l->value[36 * k + 6 * c + r] = (float)l->exact[36 * k + 6 * r + c];
        bad += !invert(6, diagonal, l->inverse + 36 * i);
    }
    return bad;
}

/* ---- rigid motions ---------------------------------------------------------------------- */

/* Of a block (size x 6), about a point that is d behind it, with rotations in units of 1/unit. */
static void motion_about(const double *motion, int size, const double d[3], double unit,
                         double *about)
{
    for (int r = 0; r < size; r++) {
        const double *m = motion + 6 * r;
        double *to = about + 6 * r;
        for (int c = 0; c < 3; c++) to[c] = m[c];
        to[3] = unit * (m[3] + m[2] * d[1] - m[1] * d[2]);
        to[4] = unit * (m[4] + m[0] * d[2] - m[2] * d[0]);
        to[5] = unit * (m[5] + m[1] * d[0] - m[0] * d[1]);
    }
}

/* G = R^T R; rows of dependent columns are zero. */
static void factor_products(const double G[36], double R[36])
{
    memset(R, 0, 36 * sizeof *R);
    for (int j = 0; j < 6; j++) {
        double pivot = G[7 * j];
        for (int k = 0; k < j; k++) pivot -= R[6 * k + j] * R[6 * k + j];
        if (!(pivot > DEPENDENT * G[7 * j])) continue;
        R[7 * j] = sqrt(pivot);
        for (int m = j + 1; m < 6; m++) {
            double sum = G[6 * j + m];
            for (int k = 0; k < j; k++) sum -= R[6 * k + j] * R[6 * k + m];
            R[6 * j + m] = sum / R[7 * j];
        }
    }
}

/* x R^-1 of a row; 0 for dependent columns. */
static void solve_row(const double R[36], const double x[6], float q[6])
{
    double y[6];
    for (int j = 0; j < 6; j++) {
        double sum = x[j];
        for (int k = 0; k < j; k++) sum -= y[k] * R[6 * k + j];
        y[j] = R[7 * j] > 0 ? sum / R[7 * j] : 0;
        q[j] = (float)y[j];
    }
}

static void make_tentative(void *context, int64_t begin, int64_t end)
{
    const Work *w = context;
    const BrioLevel *l = w->level;
    int size = l->size;
    for (int64_t a = begin; a < end; a++) {
        const int32_t *member = l->member + l->member_start[a];
        int32_t count = l->member_start[a + 1] - l->member_start[a];
        double centre[3] = {0, 0, 0}, extent = 0, G[36] = {0}, R[36], about[36];
        for (int32_t m = 0; m < count; m++)
            for (int c = 0; c < 3; c++) centre[c] += l->centre[3 * (int64_t)member[m] + c] / count;
        for (int32_t m = 0; m < count; m++)
            for (int c = 0; c < 3; c++)
                extent = fmax(extent, fabs(l->centre[3 * (int64_t)member[m] + c] - centre[c]));
        double unit = extent > 0 ? 1 / extent : 1;
        for (int pass = 0; pass < 2; pass++) {
            for (int32_t m = 0; m < count; m++) {
                int64_t i = member[m];
                double d[3];
                for (int c = 0; c < 3; c++) d[c] = l->centre[3 * i + c] - centre[c];
                motion_about(l->motion + 6 * size * i, size, d, unit, about);
                for (int r = 0; pass && r < size; r++)
                    solve_row(R, about + 6 * r, l->tentative + 6 * (size * i + r));
                for (int r = 0; !pass && r < size; r++)
                    for (int c = 0; c < 36; c++)
                        G[c] += about[6 * r + c / 6] * about[6 * r + c % 6];
            }
            if (!pass) factor_products(G, R);
        }
        for (int c = 0; c < 36; c++) w->coarse->motion[36 * a + c] = c % 6 < 3 ? R[c] : R[c] / unit;
        memcpy(w->coarse->centre + 3 * a, centre, sizeof centre);
    }
}

/* ---- coarse levels ---------------------------------------------------------------------- */

static void interpolation_rows(void *context, int64_t begin, int64_t end)
{
    const Work *w = context;
    w->h->kernels->interpolation(w->level, w->A, w->h->scale, DAMPING / w->level->radius, begin,
                                 end);
}

static void product_rows(void *context, int64_t begin, int64_t end)
{
    const Work *w = context;
    w->h->kernels->product(w->level, w->A, w->h->scale, w->h->ap, begin, end);
}

static void coarse_rows(void *context, int64_t begin, int64_t end)
{
    const Work *w = context;
    w->h->kernels->coarse(w->level, w->h->ap, w->coarse, begin, end);
}

static BrioStatus make_coarser(BrioHierarchy *h, int i, const BrioMatrix *A)
{
    BrioLevel *l = &h->level[i], *coarse = &h->level[i + 1];
    Work w = {.h = h, .level = l, .coarse = coarse, .A = i ? NULL : A};
    if (!brio__level_radius(h->kernels, l)) return BRIO_NOT_POSITIVE_DEFINITE;
    int64_t grain = i ? COARSE_GRAIN : GRAIN;
    brio__parallel_for(coarse->n, COARSE_GRAIN, make_tentative, &w);
    brio__parallel_for(l->n, grain, interpolation_rows, &w);
    brio__parallel_for(l->n, grain, product_rows, &w);
    brio__parallel_for(coarse->n, COARSE_GRAIN, coarse_rows, &w);
    Work numbers = {.level = coarse};
    return brio__parallel_sum(coarse->n, coarse_numbers, &numbers) > 0 ? BRIO_NOT_POSITIVE_DEFINITE
                                                                       : BRIO_OK;
}

BrioStatus brio__hierarchy_factor(BrioHierarchy *h, const BrioMatrix *A, const double *position)
{
    BRIO_CHECK(make_finest(h, A, position));
    for (int i = 0; i < h->levels; i++) {
        BrioLevel *l = &h->level[i];
        if (l->joined.linear)
            BRIO_CHECK(brio__subset_factor(&l->joined, l, i ? NULL : A, h->scale));
        if (i + 1 < h->levels) BRIO_CHECK(make_coarser(h, i, A));
    }
    return BRIO_OK;
}
