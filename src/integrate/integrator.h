/* Integrators: one file each and one line in list.def. The interface and the tools are public: see "Writing an
 * integrator" in brio.h. This header adds what the driver needs. */
#ifndef BRIO_INTEGRATOR_H
#define BRIO_INTEGRATOR_H

#include "../solve/minimise.h"

enum { BRIO_SCRATCH = 8 };

struct BrioStepper {
    const BrioSystem *system;
    const BrioIntegrator *integrator;
    double values[BRIO_MAX_VALUES]; /* of the integrator's fields */
    BrioSolver *solver;
    BrioState *state;   /* what the integrator works on: a copy that replaces the caller's when all goes well */
    BrioState *before;  /* the caller's at the start of the step, to put back */
    BrioArena arena;    /* of the scratch vectors */
    double *scratch[BRIO_SCRATCH];
    int iterations;     /* Newton iterations of this step */
    int halvings;       /* deepest halving of this step */
    bool accepted;
    char reason[640];   /* why the last step failed */
};

BrioStatus brio__stepper_create(const BrioSystem *system, const BrioIntegrator *integrator, const double *values,
                                const BrioSolverOptions *options, const BrioState *state, BrioStepper **stepper);
void brio__stepper_free(BrioStepper *stepper);
/* Advances `state` by h, in halves if need be; on failure leaves it as it was. */
BrioStatus brio__stepper_advance(BrioStepper *stepper, BrioState *state, double h);

#define BRIO_INTEGRATOR(symbol)                        \
    extern const BrioIntegrator brio__integrator_##symbol; \
    const BrioIntegrator brio__integrator_##symbol =

#endif
