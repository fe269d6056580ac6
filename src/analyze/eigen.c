/* Closed forms for 2 x 2; double-shift QR on Hessenberg matrices [Francis1961] for general ones;
 * tridiagonal form and implicit QL for symmetric ones, or the BLAS library's own routine where it
 * has one; the power method for the largest eigenvalue of an operator. */
#include "eigen.h"

#include "../linear/blas.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_LAPACK = 100 };

/* ---- 2 x 2 ------------------------------------------------------------------------------ */

/* a b + c d with the error of a few units in the last place [Kahan 2004]. */
static double sum_of_products(double a, double b, double c, double d)
{
    double cd = c * d, lost = fma(c, d, -cd);
    return fma(a, b, cd) + lost;
}

void brio__eigenvalues_2(const double A[4], double re[2], double im[2])
{
    double largest = fmax(fmax(fabs(A[0]), fabs(A[1])), fmax(fabs(A[2]), fabs(A[3])));
    int power = 0;
    frexp(largest, &power); /* scaled by a power of two, products neither overflow nor vanish */
    double a = ldexp(A[0], -power);
    double b = ldexp(A[1], -power);
    double c = ldexp(A[2], -power);
    double d = ldexp(A[3], -power);
    double half = 0.5 * (a - d), mean = 0.5 * (a + d), square = sum_of_products(half, half, b, c);
    im[0] = im[1] = 0;
    if (square < 0) {
        re[0] = re[1] = ldexp(mean, power);
        im[0] = ldexp(sqrt(-square), power);
        im[1] = -im[0];
        return;
    }
    double large = mean + copysign(sqrt(square), mean);
    double small = large == 0 ? 0 : sum_of_products(a, d, -b, c) / large;
    re[0] = ldexp(large, power);
    re[1] = ldexp(small, power);
}

/* ---- general ---------------------------------------------------------------------------- */

/* Scales rows and columns by powers of two until their norms are alike, without round-off
 * [Parlett1969]. */
static void balance(int n, double *A)
{
    for (bool again = true; again;) {
        again = false;
        for (int i = 0; i < n; i++) {
            double column = 0, row = 0;
            for (int j = 0; j < n; j++) {
                if (j == i) continue;
                column += fabs(A[j * n + i]);
                row += fabs(A[i * n + j]);
            }
            if (column == 0 || row == 0) continue;
            double before = column + row, scale = 1;
            while (column < row / 2 && scale < 0x1p500) column *= 4, scale *= 2;
            while (column > row * 2 && scale > 0x1p-500) column /= 4, scale /= 2;
            if ((column + row) / scale >= 0.95 * before) continue;
            again = true;
            for (int j = 0; j < n; j++) A[i * n + j] /= scale;
            for (int j = 0; j < n; j++) A[j * n + i] *= scale;
        }
    }
}

/* v and beta with (1 - beta v v^T) x = (+-|x|, 0, ...)^T, v[0] = 1. beta 0: nothing to do. */
static double reflector(int n, const double *x, double *v)
{
    double largest = 0, tail = 0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
    if (largest == 0) return 0;
    for (int i = 0; i < n; i++) v[i] = x[i] / largest;
    for (int i = 1; i < n; i++) tail += v[i] * v[i];
    if (tail == 0) return 0;
    double norm = sqrt(v[0] * v[0] + tail), first = v[0] + copysign(norm, v[0]);
    for (int i = 1; i < n; i++) v[i] /= first;
    v[0] = 1;
    return 2 / (1 + tail / (first * first));
}

/* Rows first..first+size of A, columns from `from` to `to`: (1 - beta v v^T) A. */
static void reflect_rows(int n, double *A, int first, int size, const double *v, double beta,
                         int from, int to)
{
    for (int j = from; j < to; j++) {
        double sum = 0;
        for (int i = 0; i < size; i++) sum += v[i] * A[(first + i) * n + j];
        sum *= beta;
        for (int i = 0; i < size; i++) A[(first + i) * n + j] -= sum * v[i];
    }
}

static void reflect_columns(int n, double *A, int first, int size, const double *v, double beta,
                            int from, int to)
{
    for (int i = from; i < to; i++) {
        double sum = 0;
        for (int j = 0; j < size; j++) sum += A[i * n + first + j] * v[j];
        sum *= beta;
        for (int j = 0; j < size; j++) A[i * n + first + j] -= sum * v[j];
    }
}

static void hessenberg(int n, double *A, double *x, double *v)
{
    for (int k = 0; k + 2 < n; k++) {
        int size = n - k - 1;
        for (int i = 0; i < size; i++) x[i] = A[(k + 1 + i) * n + k];
        double beta = reflector(size, x, v);
        if (beta == 0) continue;
        reflect_rows(n, A, k + 1, size, v, beta, k, n);
        reflect_columns(n, A, k + 1, size, v, beta, 0, n);
        for (int i = 1; i < size; i++) A[(k + 1 + i) * n + k] = 0;
    }
}

/* One implicit double-shift sweep over rows low..high of a Hessenberg matrix; the shifts are the
 * roots of t^2 - trace t + det. Only the active block is kept up: no vectors are wanted. */
static void francis(int n, double *H, int low, int high, double trace, double det)
{
#define H(i, j) H[(i)*n + (j)]
    double x[3] = {H(low, low) * H(low, low) + H(low, low + 1) * H(low + 1, low) -
                       trace * H(low, low) + det,
                   H(low + 1, low) * (H(low, low) + H(low + 1, low + 1) - trace),
                   H(low + 1, low) * H(low + 2, low + 1)};
    for (int k = low; k < high; k++) {
        int size = BRIO_MIN(3, high - k + 1);
        double v[3], beta;
        if (k > low)
            for (int i = 0; i < size; i++) x[i] = H(k + i, k - 1);
        beta = reflector(size, x, v);
        if (beta == 0) continue;
        reflect_rows(n, H, k, size, v, beta, BRIO_MAX(k - 1, low), high + 1);
        reflect_columns(n, H, k, size, v, beta, low, BRIO_MIN(k + 3, high) + 1);
        if (k > low)
            for (int i = 1; i < size; i++) H(k + i, k - 1) = 0;
    }
#undef H
}

/* Splits off eigenvalues at the lower end until none is left. */
static BrioStatus shifted_qr(int n, double *H, double *re, double *im)
{
    enum { MAX = 60 }; /* sweeps for one eigenvalue; three are usual */
    double norm = 0;
    for (int i = 0; i < n * n; i++) norm = fmax(norm, fabs(H[i]));
    int high = n - 1, sweeps = 0;
#define H(i, j) H[(i)*n + (j)]
    while (high >= 0) {
        int low = high;
        for (; low > 0; low--) {
            double around = fabs(H(low, low)) + fabs(H(low - 1, low - 1));
            if (around == 0) around = norm;
            if (fabs(H(low, low - 1)) <= DBL_EPSILON * around) break;
        }
        if (low > 0) H(low, low - 1) = 0;
        if (low == high) {
            re[high] = H(high, high);
            im[high] = 0;
            high--, sweeps = 0;
        } else if (low == high - 1) {
            double block[4] = {H(low, low), H(low, high), H(high, low), H(high, high)};
            brio__eigenvalues_2(block, re + low, im + low);
            high -= 2, sweeps = 0;
        } else if (++sweeps > MAX) {
            return BRIO_NOT_CONVERGED;
        } else {
            double trace = H(high - 1, high - 1) + H(high, high);
            double det =
                H(high - 1, high - 1) * H(high, high) - H(high - 1, high) * H(high, high - 1);
            if (sweeps % 10 == 0) { /* another shift breaks a cycle */
                double s = fabs(H(high, high - 1)) + fabs(H(high - 1, high - 2));
                trace = 1.5 * s, det = s * s;
            }
            francis(n, H, low, high, trace, det);
        }
    }
#undef H
    return BRIO_OK;
}

/* By modulus, largest first; equal ones by real part, so that conjugates stay together. */
static int by_modulus(const void *left, const void *right)
{
    const double *a = left, *b = right;
    double p = hypot(a[0], a[1]), q = hypot(b[0], b[1]);
    if (p != q) return p > q ? -1 : 1;
    if (a[0] != b[0]) return a[0] > b[0] ? -1 : 1;
    return (a[1] < b[1]) - (a[1] > b[1]);
}

BrioStatus brio__eigenvalues(int n, const double *A, double *re, double *im)
{
    for (int i = 0; i < n * n; i++)
        if (!isfinite(A[i])) return BRIO_NOT_FINITE;
    double *H = brio__alloc((size_t)n * (size_t)n, sizeof *H);
    double *pair = brio__alloc(2 * (size_t)n, sizeof *pair);
    BrioStatus status = H && pair ? BRIO_OK : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK) {
        memcpy(H, A, (size_t)n * (size_t)n * sizeof *H);
        balance(n, H);
        hessenberg(n, H, pair, pair + n);
        status = shifted_qr(n, H, re, im);
        for (int i = 0; status == BRIO_OK && i < n; i++)
            pair[2 * i] = re[i], pair[2 * i + 1] = im[i];
        if (status == BRIO_OK) qsort(pair, (size_t)n, 2 * sizeof *pair, by_modulus);
        for (int i = 0; status == BRIO_OK && i < n; i++)
            re[i] = pair[2 * i], im[i] = pair[2 * i + 1];
    }
    brio__free(H);
    brio__free(pair);
    return status;
}

/* ---- symmetric -------------------------------------------------------------------------- */

static double dot(int n, const double *x, const double *y)
{
    double sum[4] = {0}; /* four sums let the compiler use lanes without changing the order */
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++) sum[k] += x[i + k] * y[i + k];
    for (; i < n; i++) sum[0] += x[i] * y[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* A = Q T Q^T with T tridiagonal (diagonal d, below it e); the rows of A become those of Q^T.
 * Reflections A <- A - v w^T - w v^T, whose vectors stay in the lower triangle until Q^T is made of
 * them, last one first. */
static void tridiagonal(int n, double *A, double *d, double *e, double *v, double *w, double *beta)
{
    size_t N = (size_t)n;
    for (int k = 0; k + 2 < n; k++) {
        int size = n - k - 1;
        double *B = A + (size_t)(k + 1) * N + (size_t)(k + 1), *x = w;
        for (int i = 0; i < size; i++) x[i] = A[(size_t)(k + 1 + i) * N + (size_t)k];
        beta[k] = reflector(size, x, v);
        double below = x[0];
        if (beta[k] != 0) {
            double along = dot(size, v, x);
            below = x[0] - beta[k] * along;
            for (int i = 0; i < size; i++) w[i] = beta[k] * dot(size, B + (size_t)i * N, v);
            double half = 0.5 * beta[k] * dot(size, w, v);
            for (int i = 0; i < size; i++) w[i] -= half * v[i];
            for (int i = 0; i < size; i++) {
                double *row = B + (size_t)i * N;
                for (int j = 0; j < size; j++) row[j] -= v[i] * w[j] + w[i] * v[j];
            }
            /* its row is not needed any more */
            for (int i = 0; i < size; i++) A[(size_t)k * N + (size_t)(k + 1 + i)] = v[i];
        }
        e[k] = below;
    }
    if (n > 1) e[n - 2] = A[(N - 1) * N + N - 2];
    for (int i = 0; i < n; i++) d[i] = A[(size_t)i * N + (size_t)i];
    for (int k = n - 1; k >= 0; k--) { /* columns and rows from k+1 on hold the product so far */
        int size = n - k - 1;
        bool turn = k + 2 < n && beta[k] != 0;
        double *row = A + (size_t)k * N;
        if (turn) memcpy(v, row + k + 1, (size_t)size * sizeof *v);
        for (int j = 0; j < n; j++) row[j] = j == k;
        for (int i = k + 1; i < n; i++) {
            double *to = A + (size_t)i * N;
            to[k] = 0;
            if (!turn) continue;
            double sum = beta[k] * dot(size, to + k + 1, v);
            for (int j = 0; j < size; j++) to[k + 1 + j] -= sum * v[j];
        }
    }
}

/* Implicit QL with Wilkinson's shift on a tridiagonal matrix; the rotations also turn the rows of Z
 * [Golub2013, 8.3]. */
static BrioStatus implicit_ql(int n, double *d, double *e, double *Z)
{
    enum { MAX = 80 };
    if (n > 0) e[n - 1] = 0;
    for (int l = 0; l < n; l++) {
        for (int sweep = 0;; sweep++) {
            int m = l;
            while (m < n - 1 && fabs(e[m]) > DBL_EPSILON * (fabs(d[m]) + fabs(d[m + 1])) &&
                   fabs(e[m]) > DBL_MIN)
                m++;
            if (m == l) break;
            if (sweep == MAX) return BRIO_NOT_CONVERGED;
            double g = (d[l + 1] - d[l]) / (2 * e[l]), r = hypot(g, 1), s = 1, c = 1, p = 0;
            g = d[m] - d[l] + e[l] / (g + copysign(r, g));
            int i = m - 1;
            for (; i >= l; i--) {
                double f = s * e[i], b = c * e[i];
                r = hypot(f, g);
                e[i + 1] = r;
                if (r == 0) { /* it splits here */
                    d[i + 1] -= p;
                    e[m] = 0;
                    break;
                }
                s = f / r, c = g / r;
                g = d[i + 1] - p;
                r = (d[i] - g) * s + 2 * c * b;
                p = s * r;
                d[i + 1] = g + p;
                g = c * r - b;
                double *low = Z + (size_t)i * (size_t)n, *high = low + n;
                for (int k = 0; k < n; k++) {
                    double z = high[k];
                    high[k] = s * low[k] + c * z;
                    low[k] = c * low[k] - s * z;
                }
            }
            if (i >= l) continue;
            d[l] -= p;
            e[l] = g;
            e[m] = 0;
        }
    }
    return BRIO_OK;
}

static void sort_rows(int n, double *value, double *Z, double *spare)
{
    size_t bytes = (size_t)n * sizeof *Z;
    for (int i = 0; i < n; i++) {
        int min = i;
        for (int j = i + 1; j < n; j++)
            if (value[j] < value[min]) min = j;
        if (min == i) continue;
        double swap = value[i];
        value[i] = value[min], value[min] = swap;
        double *a = Z + (size_t)i * (size_t)n, *b = Z + (size_t)min * (size_t)n;
        memcpy(spare, a, bytes);
        memcpy(a, b, bytes);
        memcpy(b, spare, bytes);
    }
}

static bool all_finite(int n, const double *A)
{
    for (size_t i = 0; i < (size_t)n * (size_t)n; i++)
        if (!isfinite(A[i])) return false;
    return true;
}

BrioStatus brio__eigen_symmetric_builtin(int n, double *A, double *value)
{
    if (!all_finite(n, A)) return BRIO_NOT_FINITE;
    double *work = brio__alloc(4 * (size_t)n + 1, sizeof *work);
    if (!work) return BRIO_ERROR_MEMORY;
    double *e = work, *v = work + n, *w = v + n, *beta = w + n;
    tridiagonal(n, A, value, e, v, w, beta);
    BrioStatus status = implicit_ql(n, value, e, A);
    if (status == BRIO_OK) sort_rows(n, value, A, v);
    brio__free(work);
    return status;
}

BrioStatus brio__eigen_symmetric(int n, double *A, double *value)
{
    if (!all_finite(n, A)) return BRIO_NOT_FINITE;
    BrioStatus status = BRIO_OK;
    /* small ones are not worth a library that may not be loaded yet */
    return n >= MIN_LAPACK && brio__lapack_symmetric(n, A, value, &status)
               ? status
               : brio__eigen_symmetric_builtin(n, A, value);
}

/* ---- the largest one -------------------------------------------------------------------- */

BrioStatus brio__power_method(int64_t n, BrioApply *apply, void *context, double tol, int64_t max,
                              double *value, int64_t *iterations, double *vector)
{
    double *x = brio__alloc((size_t)n, sizeof *x), *y = brio__alloc((size_t)n, sizeof *y);
    BrioStatus status = x && y ? BRIO_NOT_CONVERGED : BRIO_ERROR_MEMORY;
    BrioRandom random = {.state = 1};
    for (int64_t i = 0; x && i < n; i++) x[i] = brio__random_normal(&random);
    *value = 0;
    for (*iterations = 0; status == BRIO_NOT_CONVERGED && *iterations < max; ++*iterations) {
        double xx = 0, xy = 0, yy = 0;
        for (int64_t i = 0; i < n; i++) xx += x[i] * x[i];
        for (int64_t i = 0; i < n; i++) x[i] /= sqrt(xx);
        apply(context, x, y);
        for (int64_t i = 0; i < n; i++) xy += x[i] * y[i], yy += y[i] * y[i];
        if (!isfinite(yy)) status = BRIO_NOT_FINITE;
        double residual = 0; /* |y - theta x|, without the cancellation of yy - xy^2 */
        for (int64_t i = 0; i < n; i++) residual += (y[i] - xy * x[i]) * (y[i] - xy * x[i]);
        *value = xy;
        if (sqrt(residual) <= tol * fabs(xy)) status = BRIO_OK; /* also if A is zero */
        if (status == BRIO_NOT_CONVERGED) memcpy(x, y, (size_t)n * sizeof *x);
    }
    if (vector && x) memcpy(vector, x, (size_t)n * sizeof *x);
    brio__free(x);
    brio__free(y);
    return status;
}
