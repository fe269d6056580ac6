/* Writing a position-based integrator for solids: tets one at a time, next to the springs of
 * integrator.h. Not part of brio.h: include it where you need it. Licence: MIT. */
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

#ifdef __cplusplus
}
#endif
#endif
