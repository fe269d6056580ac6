/* Automatic steps: a controller above the integrators (docs/adaptive.md). */
#ifndef BRIO_CONTROL_H
#define BRIO_CONTROL_H

#include "sim.h"

typedef struct BrioControl {
    BrioSteps steps;          /* what is asked for, and what the last step was */
    double fps;               /* instants k/fps are met exactly; 0: there are none */
    BrioState *start, *other; /* of the step that is tried, */
    double dhat;              /* and what contact had before it (brio__sim_relax_step) */
} BrioControl;

/* Whether an integrator and a solver can say what error a step makes; the error says why not, and
 * what to do. */
BrioStatus brio__control_fits(const BrioSimDef *def, const BrioIntegrator *integrator,
                              BrioError *error);
/* How many history vectors the state needs in addition to the integrator's. */
int brio__control_history(const BrioIntegrator *integrator);
/* The tolerance that a definition asks for, in m: of BRIO_AUTO a thousandth of the smallest body.
 */
double brio__control_tol(const BrioSystem *system, const BrioState *state, double tol);
/* For the simulation's integrator and state, which are there. */
BrioStatus brio__control_create(BrioSim *sim, const BrioSimDef *def, BrioControl **control);
/* The integrator is another one, and states may have another shape. */
BrioStatus brio__control_change(BrioSim *sim);
void brio__control_free(BrioControl *control);

/* One step of a length that it chooses. A failure leaves the state as it was. */
BrioStatus brio__control_step(BrioSim *sim);

#endif
