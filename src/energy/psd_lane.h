/* The nearest positive semidefinite matrices of eight small symmetric ones: eigenvalues below zero are set to zero. */
#ifndef BRIO_PSD_LANE_H
#define BRIO_PSD_LANE_H

#include "../lane.h"

enum { PSD_MOST = 9 };

/* a: n x n, row by row. Cyclic Jacobi [Golub2013, 8.5] until what is off the diagonal is round-off in all eight; entries that
 * are nothing beside the diagonal are passed over. */
static inline void psd_project(int n, lane *a)
{
    lane zero = lane_set(0), one = lane_set(1), v[PSD_MOST * PSD_MOST], size = zero, unscale;
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
        if (!lane_any(lane_lt(lane_set(1e-32), off))) break; /* the largest entry was between 1 and 2 */
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                lane apq = a[n * p + q], gap = a[n * q + q] - a[n * p + p];
                lane_mask skip = lane_le(lane_abs(apq), lane_set(1e-20));
                /* t = tan of the angle: the smaller root of t^2 + gap/apq t - 1 = 0 */
                lane t = 2 * apq * lane_sign(gap) / lane_select(skip, one, lane_abs(gap) + lane_sqrt(gap * gap + 4 * apq * apq));
                t = lane_select(skip, zero, t);
                lane c = 1 / lane_sqrt(1 + t * t), s = t * c;
                a[n * p + p] -= t * apq;
                a[n * q + q] += t * apq;
                a[n * p + q] = lane_select(skip, apq, zero);
                for (int k = 0; k < n; k++) { /* the upper half is kept */
                    lane vp = v[n * k + p], vq = v[n * k + q];
                    v[n * k + p] = c * vp - s * vq;
                    v[n * k + q] = s * vp + c * vq;
                    if (k == p || k == q) continue;
                    lane *kp = k < p ? &a[n * k + p] : &a[n * p + k], *kq = k < q ? &a[n * k + q] : &a[n * q + k];
                    lane ap = *kp, aq = *kq;
                    *kp = c * ap - s * aq;
                    *kq = s * ap + c * aq;
                }
            }
    }
    lane lambda[PSD_MOST];
    for (int k = 0; k < n; k++) lambda[k] = unscale * lane_positive(a[(n + 1) * k]);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            lane sum = zero;
            for (int k = 0; k < n; k++) sum += v[n * i + k] * lambda[k] * v[n * j + k];
            a[n * i + j] = a[n * j + i] = sum;
        }
}

#endif
