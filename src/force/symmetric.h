/* Symmetric 3x3 matrices as xx, xy, xz, yy, yz, zz: the nearest semidefinite one by Jacobi's
 * rotations. */
#ifndef BRIO_SYMMETRIC_H
#define BRIO_SYMMETRIC_H

#include <math.h>

/* A = V diag(d) V^T, rotation by rotation; 3x3 matrices need a handful of sweeps. */
static inline void brio__symmetric3_project(double h[6])
{
    double A[3][3] = {{h[0], h[1], h[2]}, {h[1], h[3], h[4]}, {h[2], h[4], h[5]}};
    double V[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int sweep = 0; sweep < 12; sweep++)
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                if (A[p][q] == 0) continue;
                double theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
                double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + hypot(theta, 1));
                double c = 1 / hypot(t, 1), s = t * c;
                for (int k = 0; k < 3; k++) {
                    double a = A[k][p], b = A[k][q];
                    A[k][p] = c * a - s * b, A[k][q] = s * a + c * b;
                }
                for (int k = 0; k < 3; k++) {
                    double a = A[p][k], b = A[q][k];
                    A[p][k] = c * a - s * b, A[q][k] = s * a + c * b;
                    a = V[k][p], b = V[k][q];
                    V[k][p] = c * a - s * b, V[k][q] = s * a + c * b;
                }
                A[p][q] = A[q][p] = 0;
            }
    for (int i = 0, at = 0; i < 3; i++)
        for (int j = i; j < 3; j++, at++) {
            h[at] = 0;
            for (int k = 0; k < 3; k++) h[at] += fmax(A[k][k], 0) * V[i][k] * V[j][k];
        }
}

#endif
