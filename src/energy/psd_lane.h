/* The nearest positive semidefinite matrices of eight small symmetric ones: eigenvalues below zero
 * are set to zero. */
#ifndef BRIO_PSD_LANE_H
#define BRIO_PSD_LANE_H

#include "../lane.h"

enum { PSD_MAX = 9 };

#ifdef NDEBUG
#define PSD_INLINE \
    inline __attribute__((always_inline)) /* all indices are known then: a third faster */
#else
#define PSD_INLINE __attribute__((noinline)) /* a sanitizer takes a minute to compile it inline */
#endif

/* Rotations that make entries of the pairs p + q = round (mod n) zero, in a and in the columns of
 * v; of a the upper half is kept. The pairs of a round have no index in common: their rotations are
 * independent and overlap in time. */
static PSD_INLINE void psd_round(int n, int round, lane *a, lane *v)
{
    lane zero = lane_set(0), one = lane_set(1), c[PSD_MAX / 2], s[PSD_MAX / 2];
    int p[PSD_MAX / 2], q[PSD_MAX / 2];
    for (int i = 0; i < n / 2; i++) {
        /* round/2 (mod n), to both sides */
        int middle = round * (n + 1) / 2;
        int before = (middle + n - i - 1) % n;
        int after = (middle + i + 1) % n;
        p[i] = before < after ? before : after;
        q[i] = before < after ? after : before;
        lane *app = &a[(n + 1) * p[i]];
        lane *aqq = &a[(n + 1) * q[i]];
        lane *apq = &a[n * p[i] + q[i]];
        lane gap = *aqq - *app;
        lane_mask skip = lane_le(lane_abs(*apq), lane_set(1e-20));
        /* t = tan of the angle: the smaller root of t^2 + gap/apq t - 1 = 0 */
        lane t = 2 * *apq * lane_sign(gap) /
                 lane_select(skip, one, lane_abs(gap) + lane_sqrt(gap * gap + 4 * *apq * *apq));
        t = lane_select(skip, zero, t);
        c[i] = 1 / lane_sqrt(1 + t * t);
        s[i] = t * c[i];
        *app -= t * *apq;
        *aqq += t * *apq;
        *apq = lane_select(skip, *apq, zero);
    }
    for (int i = 0; i < n / 2; i++)
        for (int k = 0; k < n; k++) {
            lane *vp = &v[n * k + p[i]], *vq = &v[n * k + q[i]], to = c[i] * *vp - s[i] * *vq;
            *vq = s[i] * *vp + c[i] * *vq;
            *vp = to;
            if (k == p[i] || k == q[i]) continue;
            lane *ap = k < p[i] ? &a[n * k + p[i]] : &a[n * p[i] + k];
            lane *aq = k < q[i] ? &a[n * k + q[i]] : &a[n * q[i] + k];
            to = c[i] * *ap - s[i] * *aq;
            *aq = s[i] * *ap + c[i] * *aq;
            *ap = to;
        }
}

/* a: n x n, row by row, n odd. Jacobi [Golub2013, 8.5] until what is off the diagonal is round-off
 * in all eight; entries that are negligible compared with the diagonal are skipped. */
static PSD_INLINE void psd_project(int n, lane *a)
{
    lane zero = lane_set(0), one = lane_set(1), v[PSD_MAX * PSD_MAX], size = zero, unscale;
    for (int k = 0; k < n * n; k++) size = lane_max(size, lane_abs(a[k]));
    lane scale = lane_unit_scale(size, &unscale);
    for (int k = 0; k < n * n; k++) {
        a[k] *= scale;
        v[k] = k % (n + 1) ? zero : one;
    }
    for (int sweep = 0; sweep < 15; sweep++) {
        lane off = zero;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) off += a[n * p + q] * a[n * p + q];
        /* the largest entry was between 1 and 2 */
        if (!lane_any(lane_lt(lane_set(1e-30), off))) break;
        if (n == 5) { /* written out */
            psd_round(5, 0, a, v);
            psd_round(5, 1, a, v);
            psd_round(5, 2, a, v);
            psd_round(5, 3, a, v);
            psd_round(5, 4, a, v);
        } else {
            for (int round = 0; round < n; round++) psd_round(n, round, a, v);
        }
    }
    lane lambda[PSD_MAX];
    for (int k = 0; k < n; k++) lambda[k] = unscale * lane_positive(a[(n + 1) * k]);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            lane sum = zero;
            for (int k = 0; k < n; k++) sum += v[n * i + k] * lambda[k] * v[n * j + k];
            a[n * i + j] = a[n * j + i] = sum;
        }
}

/* Whether every lane's matrix is positive definite: its pivots are. */
static inline bool psd_is_definite(int n, const lane *A)
{
    lane L[PSD_MAX][PSD_MAX];
    lane_mask bad = lane_lt(lane_set(1), lane_set(0));
    for (int j = 0; j < n; j++) {
        lane pivot = A[j * n + j];
        for (int k = 0; k < j; k++) pivot -= L[j][k] * L[j][k] * L[k][k];
        bad = lane_or(bad, lane_le(pivot, lane_set(0)));
        L[j][j] = lane_select(lane_le(pivot, lane_set(0)), lane_set(1), pivot);
        for (int i = j + 1; i < n; i++) {
            lane a = A[i * n + j];
            for (int k = 0; k < j; k++) a -= L[i][k] * L[j][k] * L[k][k];
            L[i][j] = a / L[j][j];
        }
    }
    return !lane_any(bad);
}

/* For any n < PSD_MAX, and nothing to do where all eight are positive definite: an even n is made
 * odd by a row of zeros. */
static inline void psd_project_any(int n, lane *a)
{
    lane padded[PSD_MAX * PSD_MAX];
    if (psd_is_definite(n, a)) return;
    if (n % 2) {
        psd_project(n, a);
        return;
    }
    int m = n + 1;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) padded[m * i + j] = i < n && j < n ? a[n * i + j] : lane_set(0);
    psd_project(m, padded);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) a[n * i + j] = padded[m * i + j];
}

#endif
