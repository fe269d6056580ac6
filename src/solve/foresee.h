/* Steps that know of the pairs which they would close.
 *
 * A pair that is farther apart than dhat has no stiffness in Newton's matrix, and a near one has
 * that of its present gap. So a step ends where the first pair of many meets, the next step where
 * the next one does, and each costs an iteration. Here all pairs that a step would close are taken
 * into its model at once, as inequalities: with w and n of the pair where it would meet, and G the
 * gap along n at the end of the step,
 *
 *     G = n . sum_i w_i (x_i + p_i) >= g.
 *
 * This is a quadratic program. Its active set is found by a few passes [Nocedal2006, Sec. 16.5]:
 * springs k (G - g)^2/2, stiff compared with the matrix, are added for pairs that the step closes
 * and taken away where they pull, and the step is solved for again. */
#ifndef BRIO_FORESEE_H
#define BRIO_FORESEE_H

#include "problem.h"

typedef struct BrioForesight BrioForesight;

/* NULL where it has nothing to do: without surfaces that forbid contact, and for systems with
 * constraints, potentials of volumes, or several processes, whose matrix is not all there is. */
BrioStatus brio__foresight_create(const BrioSystem *system, BrioForesight **foresight);
void brio__foresight_free(BrioForesight *foresight);

/* Whether foresight can do something about what limits a step. */
bool brio__limited_by_pairs(const BrioSolver *solver);

/* World positions into solver->x and their displacements along solver->step into solver->dx. */
typedef void BrioAimFn(const BrioProblem *problem, const double *q);

/* Corrects solver->step, which the last factor has solved for and which pairs limit. False: it is
 * as it was. The factor is another one in both cases. */
bool brio__foresee(const BrioProblem *problem, const double *q, BrioAimFn *aim);
/* Exchanges the corrected step and the one before; again: back. */
void brio__foresight_swap(const BrioProblem *problem);
/* Whether there was too little memory since the minimisation began. */
bool brio__foresight_out_of_memory(BrioForesight *foresight);

#endif
