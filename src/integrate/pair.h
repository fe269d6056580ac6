/* Runge-Kutta methods whose stages may be coupled, and pairs of them [You2026, App. B; Hairer2006,
 * Ch. II.2]: (A, b) for positions and (C, b) for velocities,
 *
 *     Q_i = q + h sum_j a_ij V_j,    V_i = v + h sum_j c_ij A_j,    A_i = -M^-1 grad P(Q_i),
 *     q'  = q + h sum_i b_i V_i,     v'  = v + h sum_i b_i A_i.
 *
 * With C = A this is the method (A, b) itself. Without the V_i it is
 *
 *     M (Q_i - q - h e_i v) + h^2 sum_j B_ij grad P(Q_j) = 0,    B = A C,  e_i = sum_j a_ij,
 *
 * so only B says how the stages hang together. Stages without a row in B are known at once, those
 * without a column are known when all others are. Where B has nothing right of its diagonal, and
 * nothing negative on it, the stages are solved one after the other by the primitive; else Newton's
 * method solves them together (pair.c). Forces that damp are left out. */
#ifndef BRIO_PAIR_H
#define BRIO_PAIR_H

#include "tableau.h"

typedef struct BrioPair {
    int stages;
    double A[BRIO_STAGES_MAX * BRIO_STAGES_MAX]; /* of positions, row by row */
    double C[BRIO_STAGES_MAX * BRIO_STAGES_MAX]; /* of velocities */
    double b[BRIO_STAGES_MAX];
} BrioPair;

/* The symplectic adjoint of a method, c_ij = b_j - b_j a_ji/b_i, with which its pair is symplectic:
 * b_i c_ij + b_j a_ji = b_i b_j [Sun2022]. False if a weight is 0: there is none. */
bool brio__tableau_symplectic_adjoint(const BrioTableau *tableau, BrioTableau *adjoint);
/* (A, b) for positions and (C, b) for velocities; both of the same method. */
BrioPair brio__pair(const BrioTableau *positions, const BrioTableau *velocities);
/* Whether its stages are solved one after the other. */
bool brio__pair_is_sequential(const BrioPair *pair);
/* Whether all stages are evaluations. */
bool brio__pair_is_explicit(const BrioPair *pair);

/* One step from the state's positions and from the velocities in v to (q, v). `slope`, unless NULL:
 * sum b_i grad P(Q_i). Uses the scratch vectors from `scratch` on. The solves are counted in the
 * ledger with `weight` times b_i; BRIO_NOT_COUNTED: not. */
BrioStatus brio__pair_step(BrioStepper *stepper, const BrioPair *pair, double h, double weight,
                           int scratch, double *slope, double *q, double *v);

#endif
