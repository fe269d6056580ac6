/* Friction renewed while a minimisation goes on.
 *
 * Friction acts by normal forces, tangents and closest points that are taken at one pose and held
 * (damping/friction.c). Taken at the start of the step they are late: what touches in this step
 * would not rub in it. So they are evaluated again at points of the minimisation: on its
 * way where the force of friction changes by more than a thousandth, and where it would end until
 * the change moves the minimiser by less than the tolerance. On the way only where a whole step has
 * led: a step that is cut, by collision detection or by the line search, ends at a point that
 * solves nothing. There gaps have just shrunk to a tenth and barriers push with many times the
 * force that they end with, and friction by such forces holds what should slide. That is a
 * fixed-point iteration between the lag and the minimiser. Newton renews after every such step, so
 * that both converge together: this costs a pass over the contacts, and no more iterations unless
 * the force changes.
 */
#ifndef BRIO_RENEW_H
#define BRIO_RENEW_H

#include "problem.h"

/* Of one minimisation. */
typedef struct BrioRenewal {
    int count; /* all renewals, for friction_iterations */
    int late;  /* renewals of small changes, and where the minimisation would have ended, unless
                  the change was less than half of the one before */
    double last_change;
} BrioRenewal;

/* At q, where the minimisation ends unless friction is renewed (`end`), or goes on. `whole`: a
 * whole step has led there. `renewed`: the objective is another one now, and its value and gradient
 * at q are to be evaluated again. */
BrioStatus brio__renew_friction(const BrioProblem *problem, const double *q, bool end, bool whole,
                                BrioRenewal *renewal, bool *renewed);

#endif
