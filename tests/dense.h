/* Solves with dense matrices, to compare with. */
#ifndef BRIO_TEST_DENSE_H
#define BRIO_TEST_DENSE_H

#include <string.h>

enum { DENSE_MAX = 64 }; /* rows */

/* Solves A x = b for three right-hand sides by elimination. */
static void dense_solve(int n, const double *A, double *x)
{
    static double B[DENSE_MAX * DENSE_MAX];
    memcpy(B, A, (size_t)(n * n) * sizeof *B);
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) {
            double f = B[i * n + k] / B[k * n + k];
            for (int j = k; j < n; j++) B[i * n + j] -= f * B[k * n + j];
            for (int r = 0; r < 3; r++) x[3 * i + r] -= f * x[3 * k + r];
        }
    for (int k = n - 1; k >= 0; k--)
        for (int r = 0; r < 3; r++) {
            for (int j = k + 1; j < n; j++) x[3 * k + r] -= B[k * n + j] * x[3 * j + r];
            x[3 * k + r] /= B[k * n + k];
        }
}

#endif
