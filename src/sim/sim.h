/* A simulation: a system, its state, an integrator with its solver. */
#ifndef BRIO_SIM_H
#define BRIO_SIM_H

#include "../contact/untangle.h"
#include "../integrate/stepper.h"

struct BrioSim {
    BrioSystem *system;
    BrioState *state;
    BrioStepper *stepper;
    double h;                    /* of automatic steps the longest */
    struct BrioControl *control; /* of automatic steps (control.h); NULL: all steps are h */
    double *world;               /* scratch, 3 * vertex_count */
    double *positions;           /* world positions, likewise */
    double *term_energy;         /* of the system's terms, of the last ledger */
    double force_energy;         /* of forces with a potential, likewise */
    BrioUntangled untangled;     /* what was done to bodies that intersected at the start */
    bool edited;                 /* the scene no longer describes the system */
    struct BrioNotes *notes;     /* of what touches (notes.c); NULL: nobody asked */
};

/* World positions of the state, valid until the next call. */
const double *brio__sim_world(BrioSim *sim);

/* Writes a body's vertex values into the coordinates that carry them; of an affine body, into those
 * that come nearest. */
BrioStatus brio__sim_set_vertices(BrioSim *sim, int body, const double *values, double *coordinates,
                                  BrioError *error);

/* Kinetic and potential energy, and what books its jump in `added` and in the target of energy
 * control: it is `before` no longer, because of something from outside. */
double brio__sim_energy(BrioSim *sim);
void brio__sim_book(BrioSim *sim, double before);
void brio__sim_add(BrioSim *sim, double change); /* the same for a jump that is known */

/* Replaces system and state, with the same integrator, solver and
 * damping; the caller frees the old system. `state` may be replaced by one with more room. With
 * `edit`, what intersects is rejected, and the jump of the energy is booked. If it fails, all
 * stays, and system and state are still the caller's. */
BrioStatus brio__sim_replace(BrioSim *sim, BrioSystem *system, BrioState **state, bool edit,
                             BrioError *error);

/* Before and after a step of size h: notes who touches, if somebody asked. */
void brio__notes_begin(BrioSim *sim);
void brio__notes_end(BrioSim *sim, double h, bool done);
void brio__notes_free(struct BrioNotes *notes);

/* Passes a status on. If it is not BRIO_OK, `error` (may be NULL) receives the stepper's reason, or
 * the status's own sentence if it gives none. */
BrioStatus brio__sim_report(const BrioSim *sim, BrioStatus status, BrioError *error);

/* Whether the integrator may be used for the system; the error says why not and names those that
 * may. */
BrioStatus brio__sim_fits(const BrioSystem *system, const BrioIntegrator *integrator,
                          const double *values, BrioError *error);
/* Whether the solver can solve for all that is in the system, under that integrator. */
BrioStatus brio__solver_fits(const BrioSystem *system, const BrioSolverOptions *solver,
                             const BrioIntegrator *integrator, BrioError *error);

#endif
