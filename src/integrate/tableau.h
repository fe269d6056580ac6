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

#endif
