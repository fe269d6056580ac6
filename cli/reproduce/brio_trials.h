/* Free cubes and other bodies that brio's own results are measured on (docs/results.md), and what a
 * run did with their energy. */
#ifndef BRIO_TRIALS_H
#define BRIO_TRIALS_H

#include "reproduce.h"

/* A scene: of its own, or one that ships with settings. */
typedef struct Trial {
    const char *name;
    const char *body;    /* YAML of a cube's material; NULL: it ships */
    double stretch;      /* of the cube along x */
    double spin;         /* rad/s, about a skew axis */
    const char *shipped; /* name */
    const char *sets[6];
    double inverse_h, seconds;
    const char *reference;
    double reference_inverse_h;
    bool free; /* nothing acts on it: momenta are judged */
} Trial;

/* Three cubes of 64 vertices that turn freely: soft and stretched, stiff and stretched, soft. */
enum { FREE_CUBES = 3 };
extern const Trial free_cubes[FREE_CUBES];

/* Shares are means over the run, of the mean of kinetic plus elastic energy. */
typedef struct Outcome {
    bool created, finished;
    double rigid, vibrating, elastic;
    /* change of the total energy over the first or mean kinetic and elastic energy, whichever is
     * larger */
    double lowest, highest;
    /* distance of the energy from its target, likewise: the largest, and the mean of the second
     * half of the run */
    double miss, settled;
    double linear, angular; /* largest change of momenta over the largest ones */
    double seconds;         /* how far it came */
} Outcome;

double trial_length(const double a[3]);

/* For integrators of a reproduction: backward Euler's q' and w, and p = h (grad P(q) - grad P(q')),
 * the change of momenta of A-1. Uses the scratch vectors 0 to 3; the first three are q', w and p.
 */
enum { TRIAL_Q, TRIAL_W, TRIAL_P };
BrioStatus trial_euler(BrioStepper *stepper, double h);

/* A cube of 64 vertices, stretched along x, spun about its centre. NULL, reported as missed, if it
 * cannot be made. */
BrioSim *trial_cube(Report *report, const Trial *trial, const char *integrator, double inverse_h);
/* Runs it for so long. */
Outcome trial_watch(Report *report, BrioSim *sim, double seconds, const char *what);

#endif
