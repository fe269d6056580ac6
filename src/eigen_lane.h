/* Small symmetric matrices of lanes (n <= 9, a constant where it is called): the nearest positive semidefinite one. */
#ifndef BRIO_EIGEN_LANE_H
#define BRIO_EIGEN_LANE_H

#include "lane.h"

enum { EIGEN_MOST = 9 };

/* Whether every lane's matrix is positive definite: its pivots are. */
static inline bool positive_definite(const lane *A, int n)
{
    lane L[EIGEN_MOST][EIGEN_MOST];
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

/* A -> V max(D, 0) V^T with A = V D V^T by cyclic Jacobi rotations [Golub2013, 8.5], until what is left off the diagonal is 1e-12
 * of it. */
static inline void project_small(lane *A, int n)
{
    lane V[EIGEN_MOST * EIGEN_MOST];
    if (positive_definite(A, n)) return;
    for (int k = 0; k < n * n; k++) V[k] = lane_set(k % (n + 1) == 0);
    for (int sweep = 0; sweep < 12; sweep++) {
        lane off = lane_set(0), all = off;
        for (int p = 0; p < n; p++) {
            all += A[p * n + p] * A[p * n + p];
            for (int q = p + 1; q < n; q++) off += A[p * n + q] * A[p * n + q];
        }
        if (!lane_any(lane_lt(all * 1e-24, off))) break;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                lane spq = A[p * n + q], gap = A[q * n + q] - A[p * n + p];
                lane_mask skip = lane_le(lane_abs(spq), lane_max(1e-20 * (lane_abs(A[p * n + p]) + lane_abs(A[q * n + q])), lane_set(1e-145)));
                lane t = 2 * spq * lane_sign(gap) / lane_select(skip, lane_set(1), lane_abs(gap) + lane_sqrt(gap * gap + 4 * spq * spq));
                t = lane_select(skip, lane_set(0), t);
                lane c = 1 / lane_sqrt(1 + t * t), s = t * c;
                A[p * n + p] -= t * spq;
                A[q * n + q] += t * spq;
                A[p * n + q] = A[q * n + p] = lane_set(0);
                for (int k = 0; k < n; k++) {
                    if (k != p && k != q) {
                        lane ap = A[k * n + p], aq = A[k * n + q];
                        A[k * n + p] = A[p * n + k] = c * ap - s * aq;
                        A[k * n + q] = A[q * n + k] = s * ap + c * aq;
                    }
                    lane vp = V[k * n + p], vq = V[k * n + q];
                    V[k * n + p] = c * vp - s * vq;
                    V[k * n + q] = s * vp + c * vq;
                }
            }
    }
    lane d[EIGEN_MOST];
    for (int k = 0; k < n; k++) d[k] = lane_positive(A[k * n + k]);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            lane a = lane_set(0);
            for (int k = 0; k < n; k++) a += V[i * n + k] * d[k] * V[j * n + k];
            A[i * n + j] = A[j * n + i] = a;
        }
}

#endif
