/* Runge-Kutta methods from Butcher tableaus: explicit and diagonally implicit ones, as data.
 *
 * On q' = v, M v' = F(q, v), stage i of the tableau (A, b) is
 *
 *     V_i = v + h sum_j a_ij A_j,   Q_i = q + h sum_j a_ij V_j,   A_i = M^-1 F(Q_i, V_i),
 *
 * so that with a_ii = 0 it is an evaluation, and with a_ii > 0 the primitive with s = (a_ii h)^2
 * and the target
 *
 *     q + h sum_{j<i} a_ij V_j + a_ii h (v + h sum_{j<i} a_ij A_j).
 *
 * The end is q + h sum b_i V_i, v + h sum b_i A_i [Hairer2006, Ch. II.1]. Other weights for the
 * same stages make an embedded method of another order: the difference of the two ends estimates
 * the error of a step [Hairer1993, Ch. II.4]. */
#ifndef BRIO_TABLEAU_H
#define BRIO_TABLEAU_H

#include "integrator.h"

enum { BRIO_STAGES_MAX = 6 };

typedef struct BrioTableau {
    const char *name;
    int stages;
    double A[BRIO_STAGES_MAX * BRIO_STAGES_MAX]; /* row by row, stages x stages */
    double b[BRIO_STAGES_MAX];
    double other[BRIO_STAGES_MAX]; /* weights of another order, for the error of a step; or zeros */
} BrioTableau;

/* The tableaus that have a name: "sdirk2", ...; NULL: none. For the choice fields, in this order:
 * BRIO_TABLEAU_CHOICE. */
const BrioTableau *brio__tableau(const char *name);
const BrioTableau *brio__tableau_at(int i);
#define BRIO_TABLEAU_CHOICE                                                                     \
    "own|forward-euler|rk2|heun|rk4|backward-euler|midpoint|trapezoidal|sdirk2|tr-bdf2|sdirk3|" \
    "sdirk2-wide"

/* Whether the stages can be solved one after the other: nothing right of the diagonal. */
bool brio__tableau_is_diagonal(const BrioTableau *tableau);
/* Whether the last stage is the end, so that the end state is one that was solved for. */
bool brio__tableau_is_stiffly_accurate(const BrioTableau *tableau);
bool brio__tableau_is_explicit(const BrioTableau *tableau);
/* The order up to 4 from the conditions of [Hairer2006, Ch. II.1], for the tableau's rows sums as
 * its nodes. */
int brio__tableau_order(const BrioTableau *tableau);
/* The adjoint (e b^T - A, b) with its stages in reverse order, which is how it can be diagonal. */
BrioTableau brio__tableau_adjoint(const BrioTableau *tableau);
/* From lists A (row by row) and b of a field table; a sentence if they make no tableau that can be
 * solved. */
BrioStatus brio__tableau_read(const double *A, int A_count, const double *b, int b_count,
                              BrioTableau *tableau, char *reason, size_t size);

/* The tableau that a field table with `tableau`, A and b, in this order and first, asks for. */
BrioStatus brio__tableau_choose(const double *values, BrioTableau *tableau, char *reason,
                                size_t size);

/* What a step of a tableau is done for. */
typedef struct BrioTableauStep {
    const BrioTableau *tableau;
    double h;
    double weight; /* the stages' forces are counted with this times b_i; BRIO_NOT_COUNTED: not */
    bool undamped; /* conservative forces only */
    /* it uses this scratch vector and the 4 + 2 stages after it; V_i and A_i are left in numbers
     * 5 + 2 i and 6 + 2 i after it */
    int scratch;
    double *slope; /* if not NULL: receives sum b_i grad P(Q_i) */
    double *error; /* if not NULL: receives h sum (b_i - other_i) V_i */
} BrioTableauStep;

/* One step from the state to (q, v). */
BrioStatus brio__tableau_step(BrioStepper *stepper, const BrioTableauStep *step, double *q,
                              double *v);

/* ---- pairs, and stages that are coupled (pair.c) ----------------------------------------- */

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
typedef struct BrioPair {
    int stages;
    double A[BRIO_STAGES_MAX * BRIO_STAGES_MAX]; /* of positions, row by row */
    double C[BRIO_STAGES_MAX * BRIO_STAGES_MAX]; /* of velocities */
    double b[BRIO_STAGES_MAX];
} BrioPair;

/* The symplectic adjoint of a method, c_ij = b_j - b_j a_ji/b_i, with which its pair is symplectic:
 * b_i c_ij + b_j a_ji = b_i b_j [Sun2022]. If a weight is 0, there is none: BRIO_ERROR_INPUT and a
 * sentence. */
BrioStatus brio__tableau_symplectic_adjoint(const BrioTableau *tableau, BrioTableau *adjoint,
                                            char *reason, size_t size);
/* (A, b) for positions and (C, b) for velocities; both of the same method. */
BrioPair brio__tableau_pair(const BrioTableau *positions, const BrioTableau *velocities);
/* Whether its stages are solved one after the other. */
bool brio__tableau_pair_is_sequential(const BrioPair *pair);
/* Whether all stages are evaluations. */
bool brio__tableau_pair_is_explicit(const BrioPair *pair);

/* One step from the state's positions and from the velocities in v to (q, v). `slope`, unless NULL:
 * sum b_i grad P(Q_i). The solves are counted in the ledger with `weight` times b_i;
 * BRIO_NOT_COUNTED: not. Uses brio_stepper_room. */
BrioStatus brio__tableau_pair_step(BrioStepper *stepper, const BrioPair *pair, double h,
                                   double weight, double *slope, double *q, double *v);

#endif
