/* Writing an integrator that moves the elements of solids one at a time: tets, next to the springs
 * of integrator.h. Not part of brio.h: include it where you need it. Licence: MIT. */
#ifndef BRIO_TETS_API_H
#define BRIO_TETS_API_H

#include "brio.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A trait, with BRIO_SPRINGS_ONLY: also for solids of stable-neo-hookean. */
enum { BRIO_TAKES_TETS = 2048 };

/* A tet of stable-neo-hookean: F = sum_k x_k slope_k^T,
 * psi = mu/2 (tr F^T F - 3) - mu (J - 1) + lambda/2 (J - 1)^2. */
typedef struct BrioTet {
    int64_t vertex[4];     /* world vertices, for brio_stepper_positions */
    int64_t coordinate[4]; /* the first of their three coordinates in q; -1: fixed */
    double mass[4];
    double volume;      /* at rest, m^3 */
    double slope[4][3]; /* gradients of the shape functions at rest, 1/m */
    double mu, lambda;  /* Pa */
} BrioTet;
/* Number i = 0, 1, ... of them; 0 past the last. */
BRIO_API int brio_stepper_tet(const BrioStepper *stepper, int64_t i, BrioTet *tet);

/* F of a tet whose vertices are at x, and its cofactors, dJ/dF; returns J. The stress is
 * dpsi/dF = mu F + (lambda (J - 1) - mu) cofactor. */
static inline double brio_tet_deform(const BrioTet *tet, const double *const x[4], double F[3][3],
                                     double cofactor[3][3])
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            F[r][c] = 0;
            for (int k = 0; k < 4; k++) F[r][c] += x[k][r] * tet->slope[k][c];
        }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            int a = (r + 1) % 3, b = (r + 2) % 3, d = (c + 1) % 3, e = (c + 2) % 3;
            cofactor[r][c] = F[a][d] * F[b][e] - F[a][e] * F[b][d];
        }
    return F[0][0] * cofactor[0][0] + F[0][1] * cofactor[0][1] + F[0][2] * cofactor[0][2];
}

#ifdef __cplusplus
}
#endif
#endif
