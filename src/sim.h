/* A simulation: a system, its state, an integrator with its solver. */
#ifndef BRIO_SIM_H
#define BRIO_SIM_H

#include "integrate/integrator.h"

struct BrioSim {
    BrioSystem *system;
    BrioState *state;
    BrioStepper *stepper;
    double h;
    double *world; /* scratch, 3 * vertex_count */
};

#endif
