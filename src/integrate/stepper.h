/* The driver of steps: the implementation of the functions of brio/integrator.h. Integrators do not
 * include this. */
#ifndef BRIO_STEPPER_H
#define BRIO_STEPPER_H

#include "../potential/rigid.h"
#include "../solve/problem.h"
#include "brio/stages.h"

struct BrioStepper {
    const BrioSystem *system;
    const BrioIntegrator *integrator;
    unsigned traits;                /* of the integrator with these values */
    double values[BRIO_MAX_VALUES]; /* of the integrator's fields */
    BrioPotential *potential;
    BrioDissipation *dissipation;
    BrioSolver *solver;         /* of both */
    BrioComponents *components; /* for integrators with the trait BRIO_USES_COMPONENTS */
    /* what the integrator works on: a copy that replaces the caller's when all goes well */
    BrioState *state;
    BrioState *before; /* the caller's at the start of the step, to put back */
    double *scratch[BRIO_SCRATCH + BRIO_ROOM]; /* each made when it is first asked for */
    /* what the ledger books when the step is accepted: forces, weighted by their fraction in the
     * velocity change */
    double *impulse[BRIO_LOSSES]; /* of each damping model, the opposite of its force */
    double *brought;              /* forces whose work comes from outside, likewise weighted; */
    double air_power;             /* and the power of moving air */
    double *unbalanced;           /* what solves left over */
    double *difference;
    double *x; /* world positions */
    /* those of the end of a step, where vertices may go through obstacles; NULL: never */
    double *end;
    /* obstacles that barriers keep out, and which might be gone around in a step; NULL: none */
    struct BrioColliders *moved;
    /* of fixed vertices: their positions and the forces that hold them, at the start and the end */
    double *fixed[4];
    double
        *fixed_impulse; /* what friction takes to be overcome there, weighted like the impulses */
    bool out_of_memory; /* for a scratch vector */
    double h;           /* s: of the step, or of the half that is tried */
    bool whole;         /* a step that fails is not tried in halves: the caller chooses */
    bool wants_error;
    double error;   /* m: what the integrator estimates of its step; NAN: nothing */
    int iterations; /* Newton iterations of this step */
    int halvings;   /* deepest halving of this step */
    bool accepted;
    /* sees every state between the halves of a step; may be NULL */
    void (*observe)(void *observer, const BrioState *state);
    void *observer;
    char reason[900];              /* why the last step failed */
    BrioRigid *rigid;              /* for integrators with the trait BRIO_USES_COMPONENTS */
    struct BrioAccounts *accounts; /* of a-search by body; NULL until it needs them */
};

BrioStatus brio__stepper_create(const BrioSystem *system, const BrioIntegrator *integrator,
                                const double *values, const BrioSolverOptions *options,
                                const BrioDamping *damping, int damping_count,
                                const BrioState *state, BrioStepper **stepper);
/* Another integrator, or other values, from now on; the solver and its factors stay. `state` is
 * replaced by one with `history` vectors. */
BrioStatus brio__stepper_change(BrioStepper *stepper, const BrioIntegrator *integrator,
                                const double *values, unsigned traits, int history,
                                BrioState **state);
void brio__stepper_free(BrioStepper *stepper);
/* Notes where fixed vertices are and the forces that hold them, for the coordinates q at a time, at
 * the start (end 0) or the end (1) of the step. */
void brio__stepper_hold(BrioStepper *stepper, const double *q, double time, int end);
/* Advances `state` by h, in halves if need be; on failure leaves it as it was. */
BrioStatus brio__stepper_advance(BrioStepper *stepper, BrioState *state, double h);

#endif
