/* Scripted vertices that push: Newton steps of the coordinates together with the script. */
#ifndef BRIO_PUSH_H
#define BRIO_PUSH_H

#include "problem.h"

/* Scripted vertices stand where they are at q_n; if nothing blocks them, they move to where they
 * end the step at once. */
void brio__push_start(const BrioProblem *problem);

/* The residual g + D of the combined step at q, whose gradient is in solver->gradient, in the frame
 * that moves by `way`. NULL: it is not finite, or nothing can move. The vector is the solver's. */
const double *brio__push_residual(const BrioProblem *problem, const double *q, double way[3]);

/* Goes along solver->step (in that frame) and the script together, as far as is allowed: q and the
 * script fraction move on, with the value there in `now` and its gradient in solver->gradient.
 * Returns the fraction of the step; 0: nothing has moved. */
double brio__push_step(const BrioProblem *problem, double *q, const double way[3], BrioValue *now);

/* The script alone goes half as far as it is allowed to, or all of its path if nothing blocks it.
 * Says whether it moved. */
bool brio__push_alone(const BrioProblem *problem, const double *q);

#endif
