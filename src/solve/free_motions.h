/* Rigid motions that a static problem leaves free. */
#ifndef BRIO_FREE_MOTIONS_H
#define BRIO_FREE_MOTIONS_H

#include "solver.h"

/* Which rigid motions of which body nothing resists, where it is at q, in words: `body "a" against
 * moving along x`. False: there is none, or memory ran out. For one process. */
bool brio__free_motions(BrioSolver *solver, const BrioState *state, const double *q, double time,
                        char *text, size_t size);
/* Whether a distance is more than a thousand times the range of all coordinates of the state and
 * of its vertices, which are in solver->dx afterwards. Steps with a matrix that is singular up to
 * round-off are that long, or some lengths of a body; a warning names the latter. */
bool brio__exceeds_scene(BrioSolver *solver, const BrioState *state, double distance);
/* The end of a static solve that went from `state` to q. If rigid motions are free there, and it
 * failed or a coordinate went a thousand times as far as the scene is large, says so and fails. If
 * it succeeded, the first step logs them as a warning. */
BrioStatus brio__refuse_free_motions(BrioSolver *solver, const BrioState *state, double time,
                                     const double *q, BrioStatus status);

#endif
