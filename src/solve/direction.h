/* What Newton's methods share: a starting point, a direction, and the rule of descent. */
#ifndef BRIO_DIRECTION_H
#define BRIO_DIRECTION_H

#include "problem.h"

/* Of a step: what a limit has to leave of it for its length to mean something. One that is cut to
 * less never counts as the last. */
#define BRIO_ENOUGH_LEFT 0.1

/* The best of q_n and where weight alone would lead to (as far as that is allowed) into q, with
 * the gradient there in solver->gradient. */
BrioValue brio__newton_start(const BrioProblem *problem, double *q);

/* The Newton step at q for a residual (the gradient, most of the time) into solver->step; its
 * largest velocity into solver->speed. `projected`: the weight of the projected Hessian. */
BrioStatus brio__newton_direction(const BrioProblem *problem, const double *q,
                                  const double *residual, double projected);
/* Factors the matrix with the values that it has. */
BrioStatus brio__newton_refactor(const BrioProblem *problem, const double *q);
/* The same by the last factor, which is of a nearby point: true if the step is within the
 * tolerance, so that no new factor is needed to see it. */
bool brio__newton_last_factor_suffices(const BrioProblem *problem);

/* Whether going t of the step with this slope lowered the objective enough [Armijo 1966]; what
 * drowns in round-off may rise by that much. */
bool brio__lowered(BrioValue now, BrioValue next, double t, double slope);

/* Halves t from what the step may take until the objective is lowered: solver->trial is then the
 * new point, and `next` its value. Returns t, 0 if there is no such point. */
double brio__line_search(const BrioProblem *problem, const double *q, BrioValue now, double slope,
                         double t, BrioValue *next);

/* Newton's methods for an objective with `linear`, and for systems with constraints. */
BrioStatus brio__linear_step(const BrioProblem *problem, double *q, BrioValue *value);
BrioStatus brio__saddle_minimise(const BrioProblem *problem, double *q, BrioValue *value);

#endif
