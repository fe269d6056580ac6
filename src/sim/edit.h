/* Edits of a simulation that runs, and what checkpoints of edited simulations hold. */
#ifndef BRIO_SIM_EDIT_H
#define BRIO_SIM_EDIT_H

#include "sim.h"

/* Makes the changes of an edit that began at this state. */
BrioStatus brio__edit_finish(BrioSim *sim, BrioBuilder *edit, BrioError *error);

/* The set of points of an obstacle that the program moves; NULL: it is not moved. */
const BrioScripted *brio__driven_set(const BrioSystem *system, int obstacle);

/* The plans of a simulation as bytes, of which brio__sim_prepare makes the system again, with a
 * state to be filled. None (size 0) of a simulation that was never edited: see its scene. */
BrioStatus brio__sim_image(const BrioSim *sim, unsigned char **bytes, size_t *size,
                           BrioError *error);
BrioStatus brio__sim_prepare(const BrioSim *sim, const unsigned char *bytes, size_t size,
                             BrioSystem **system, BrioState **state, BrioError *error);
/* The simulation goes on with these, and takes both over unless it fails. */
BrioStatus brio__sim_adopt(BrioSim *sim, BrioSystem *system, BrioState **state, BrioError *error);

#endif
