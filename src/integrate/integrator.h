/* Integrators: one file each and one line in list.def. The interface and the tools are public: see
 * "Writing an integrator" in brio.h. This header adds what the driver needs. */
#ifndef BRIO_INTEGRATOR_H
#define BRIO_INTEGRATOR_H

#include "../potential/parts.h"
#include "../solve/minimise.h"

struct BrioStepper {
    const BrioSystem *system;
    const BrioIntegrator *integrator;
    unsigned traits;                /* of the integrator with these values */
    double values[BRIO_MAX_VALUES]; /* of the integrator's fields */
    BrioSolver *solver;
    BrioParts *parts; /* for integrators with a field `flight` */
    /* what the integrator works on: a copy that replaces the caller's when all goes well */
    BrioState *state;
    BrioState *before;             /* the caller's at the start of the step, to put back */
    double *scratch[BRIO_SCRATCH]; /* each made when it is first asked for */
    /* what the ledger books when the step is accepted: forces, weighted by their share in the
     * velocity change */
    double *impulse[BRIO_LOSSES]; /* of each damping model, the opposite of its force */
    double *unbalanced;           /* what solves left over */
    double *difference;
    /* of held vertices: their positions and the forces that hold them, at the start and the end */
    double *held[4];
    double *held_impulse; /* what friction takes to be overcome there, weighted like the impulses */
    bool out_of_memory;   /* for a scratch vector */
    int iterations;       /* Newton iterations of this step */
    int halvings;         /* deepest halving of this step */
    bool accepted;
    /* sees every state between the halves of a step; may be NULL */
    void (*observe)(void *observer, const BrioState *state);
    void *observer;
    char reason[900]; /* why the last step failed */
};

BrioStatus brio__stepper_create(const BrioSystem *system, const BrioIntegrator *integrator,
                                const double *values, const BrioSolverOptions *options,
                                const BrioDamping *damping, int damping_count,
                                const BrioState *state, BrioStepper **stepper);
/* Another integrator, or other values, from now on; the solver and its factors stay. `state` is
 * replaced by one with as much history as it needs. */
BrioStatus brio__stepper_change(BrioStepper *stepper, const BrioIntegrator *integrator,
                                const double *values, unsigned traits, BrioState **state);
void brio__stepper_free(BrioStepper *stepper);
/* brio_stepper_count_solve for which the objective's gradient at q is known. */
void brio__stepper_count_known(BrioStepper *stepper, const BrioObjective *objective,
                               const double *q, const double *gradient);

/* brio_stepper_accept where the potential at q has been evaluated and is finite. */
BrioStatus brio__stepper_accept_allowed(BrioStepper *stepper, double h, const double *q,
                                        const double *v);
/* Advances `state` by h, in halves if need be; on failure leaves it as it was. */
BrioStatus brio__stepper_advance(BrioStepper *stepper, BrioState *state, double h);

#define BRIO_INTEGRATOR(symbol)                            \
    extern const BrioIntegrator brio__integrator_##symbol; \
    const BrioIntegrator brio__integrator_##symbol =

#endif
