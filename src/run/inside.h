/* A run inside a step: who looks into it, who may end it, and what is kept of its start.
 *
 * Two ways end a step. Every iteration asks look_inside (brio_sim_watch), which answers a request
 * to stop at once. For phases that ask nobody, a long factorisation say, another thread may end the
 * run (brio__run_end): it writes the results as of the start of the step, of which `kept` is a
 * copy, while the thread inside is left alone and never writes again. */
#ifndef BRIO_INSIDE_H
#define BRIO_INSIDE_H

#include "run.h"

struct BrioInside {
    void *run;
    /* what the step is doing, so many seconds after its start */
    void (*tell)(const void *run, const BrioIteration *iteration, double seconds);
    /* Ends the run with a simulation that only has a system, a state and counts. */
    BrioStatus (*end)(const void *run, BrioSim *sim, BrioRunResult *result, BrioError *error);
    const BrioRunOptions *options;
    BrioSim *sim;
    /* the state, the counts and the clock at the start; the state only with options->control */
    BrioState *kept;
    BrioSolveTotals totals;
    double start, told;
};

/* With everything up to `options` filled in. */
BrioStatus brio__inside_create(BrioInside *inside, BrioSim *sim, BrioError *error);
void brio__inside_free(BrioInside *inside);

/* Whether this process was asked to stop. */
bool brio__inside_stop_asked(const BrioInside *inside);
/* Nothing is written between these two; the second never comes back if another thread has ended the
 * run. Before the first there is nothing that would have to be ended. */
void brio__inside_enter(BrioInside *inside);
void brio__inside_leave(const BrioInside *inside);
/* A step in between. What one that was stopped has counted is forgotten with it. */
BrioStatus brio__inside_step(BrioInside *inside);

#endif
