/* The stiffness K = d2P/dq2 of a system at a configuration, exact (not made semidefinite), and the
 * vibrations about it: K phi = w^2 M phi with the engine's own masses, phi_i . M phi_j = delta_ij.
 * M^-1/2 K M^-1/2 is symmetric with the eigenvalues of M^-1 K; its eigenvectors y give
 * phi = M^-1/2 y. */
#ifndef BRIO_MODES_H
#define BRIO_MODES_H

#include "../potential/potential.h"
#include "eigen.h"

typedef struct BrioStiffness BrioStiffness;

BrioStatus brio__stiffness_create(const BrioSystem *system, BrioStiffness **stiffness);
void brio__stiffness_free(BrioStiffness *stiffness);
/* Assembles K of all that is in P (elements, hands, contact) at world positions x, with a state's
 * parameters and hands. */
BrioStatus brio__stiffness_at(BrioStiffness *stiffness, const BrioState *state, const double *x);
/* K itself: a matrix, and the blocks of contact outside its pattern. */
const BrioLinear *brio__stiffness_matrix(const BrioStiffness *stiffness);
/* y = K d; y may be d. */
void brio__stiffness_multiply(BrioStiffness *stiffness, const double *d, double *y);
/* K in full, row by row: the square of the number of coordinates. */
void brio__stiffness_dense(const BrioStiffness *stiffness, double *K);

/* The largest eigenvalue k0 of M^-1 K, in 1/s^2, by brio__power_method with its rule of stopping:
 * of greatest modulus, so negative where compression makes K that indefinite. An explicit method
 * needs h below c / sqrt(k0). */
BrioStatus brio__stiffness_largest(BrioStiffness *stiffness, double tol, int64_t max, double *k0,
                                   int64_t *iterations);

/* coordinates: a dense matrix of 72 MB, a minute of work without LAPACK */
enum { BRIO_MODES_MAX = 3000 };

typedef struct BrioModes {
    int n;
    double *squared; /* w^2, ascending, 1/s^2 */
    double *mode;    /* n x n: row k is phi_k */
    double zero;     /* |w^2| up to this is round-off: rigid motions and mechanisms */
} BrioModes;

/* All modes about the positions of the last brio__stiffness_at. ERROR_TOO_LARGE beyond
 * BRIO_MODES_MAX, with a sentence. */
BrioStatus brio__modes_create(BrioStiffness *stiffness, BrioModes *modes, BrioError *error);
void brio__modes_free(BrioModes *modes);
/* a_k = phi_k . M u for all k: then u is the sum of a_k phi_k. `scratch` has n numbers. */
void brio__modes_project(const BrioSystem *system, const BrioModes *modes, const double *u,
                         double *amplitude, double *scratch);

/* The rotation R (row by row) and shift t that bring points X nearest to x: least sum of
 * m |R X + t - x|^2, by the greatest eigenvector of a 4 x 4 matrix [Horn1987]. Where several
 * rotations do equally well (points on a line), the smallest one. */
BrioStatus brio__rigid_fit(int64_t count, const double *mass, const double *X, const double *x,
                           double R[9], double t[3]);

#endif
