/* Hands that hold bodies while a simulation runs: springs of no length from a point of a body to a
 * point in space,
 *
 *     E = k/2 |c - p|^2,     c = sum_i w_i x_i,     sum_i w_i = 1,
 *
 * over one to three free world vertices, as the moved points of [Dinev2018, Sec. 5]. Hands belong
 * to the state (BrioGrip), so that copies, halved steps and checkpoints carry them; they come and
 * go without a new pattern, a new order or a new factor:
 *
 *  - Their Hessian k w_i w_j goes into blocks that the matrix has, since a grip is on one element
 *    (interact.c sees to that).
 *  - The constant matrix A of local/global solves is not touched: with W the columns of weights and
 *    D = diag(sqrt(s k)),
 *
 *        (A + W D^2 W^T)^-1 b = y - Z D (I + D W^T Z D)^-1 D W^T y,     y = A^-1 b,  Z = A^-1 W
 *
 *    [Woodbury 1950], where Z depends on where hands hold, not on where they pull to. */
#ifndef BRIO_HANDS_H
#define BRIO_HANDS_H

#include "../linear/linear.h"
#include "../linear/scalar.h"
#include "../system/system.h"

/* Where the grabbed point of the body is at world positions x, and the energy of the hand. */
void brio__grip_place(const BrioGrip *grip, const double *x, double c[3]);
double brio__grip_energy(const BrioGrip *grip, const double *x);

/* The energy of all hands at world positions x; its gradient by q is added to `gradient` unless
 * that is NULL. */
double brio__hands_evaluate(const BrioSystem *system, const BrioState *state, const double *x,
                            double *gradient);
/* A += weight times their Hessian. */
void brio__hands_assemble(const BrioSystem *system, const BrioState *state, double weight,
                          BrioLinear *linear);

enum { BRIO_GRIP_BLOCKS = 12 }; /* three vertices of an affine body: four blocks each */

/* c as a sum over coordinate blocks, each named once. */
typedef struct BrioGripBlocks {
    int count;
    int32_t block[BRIO_GRIP_BLOCKS];
    double weight[BRIO_GRIP_BLOCKS];
} BrioGripBlocks;
void brio__grip_blocks(const BrioSystem *system, const BrioGrip *grip, BrioGripBlocks *blocks);

/* Columns of Z for one factor. */
typedef struct BrioHandColumns {
    BrioGrip grip[BRIO_MAX_HANDS]; /* for whom; k = 0: not made */
    double *column[BRIO_MAX_HANDS];
} BrioHandColumns;
void brio__hand_columns_forget(BrioHandColumns *columns); /* the factor is another */
void brio__hand_columns_free(BrioHandColumns *columns);

/* The hands of one solve. */
typedef struct BrioHandSolve {
    int count;
    BrioGripBlocks at[BRIO_MAX_HANDS];
    const double *column[BRIO_MAX_HANDS];
    double root[BRIO_MAX_HANDS];                  /* D */
    double lower[BRIO_MAX_HANDS][BRIO_MAX_HANDS]; /* I + D W^T Z D = lower lower^T */
} BrioHandSolve;

/* Before solves with A + s sum k w w^T, A being factored. Makes columns that are missing: memory is
 * taken only for more hands than ever before. `scratch`: 3n. */
BrioStatus brio__hand_solve_begin(BrioHandSolve *solve, BrioHandColumns *columns,
                                  const BrioSystem *system, const BrioState *state, double s,
                                  const BrioScalarFactor *factor, double *scratch);
/* From y = A^-1 b to (A + s sum k w w^T)^-1 b, in place. */
void brio__hand_solve_correct(const BrioHandSolve *solve, const BrioSystem *system, double *y);
/* sum[b] += s times the sum of column b of sum k w w^T. */
void brio__hand_solve_column_sums(const BrioHandSolve *solve, double *sum);

#endif
