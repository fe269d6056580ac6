/* Rigid motions that a static problem leaves free. */
#ifndef BRIO_FREE_MOTIONS_H
#define BRIO_FREE_MOTIONS_H

#include "solver.h"

/* Which rigid motions of which body nothing resists, where it is at q, in words: `body "a" against
 * moving along x`. False: there is none, or memory is lacking. For one process. */
bool brio__free_motions(BrioSolver *solver, const BrioState *state, const double *q, double time,
                        char *text, size_t size);
/* Whether a way is a thousand times as long as all that is in the state is apart: nobody would look
 * for a body there. A matrix that is singular but for round-off leads so far, or by some lengths of
 * a body, which a warning names. */
bool brio__leads_nowhere(const BrioState *state, double way);
/* The end of a static solve that went from `state` to q. If rigid motions are free there, and it
 * failed or a coordinate went a thousand times as far as the scene is large, says so and fails. If
 * it went well, the log hears of them, in the first step. */
BrioStatus brio__refuse_free_motions(BrioSolver *solver, const BrioState *state, double time,
                                     const double *q, BrioStatus status);

#endif
