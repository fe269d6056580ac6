/* A run with its results: steps a scene from its initial state (or a checkpoint) to its end and
 * writes energy.csv, probes.csv, frames, run.json and checkpoints into a folder. Prints nothing; a
 * program without a command line can call it as well. */
#ifndef BRIO_RUN_H
#define BRIO_RUN_H

#include "../contact/exact.h"
#include "checkpoint.h"

#include <pthread.h>
#include <signal.h>

typedef struct BrioRunProgress {
    int64_t step, steps; /* of automatic steps, `steps` is a guess */
    double h;            /* s: of the last automatic step; 0: all steps are equal */
    double time, end;    /* s, simulated */
    double wall;         /* s, of this session */
    int64_t first;       /* step at which this session began */
    int64_t frames;      /* frames that are on the disk */
    double energy;       /* total, J, of the last row */
    int iterations;      /* of the last step */
    int contacts;        /* pairs in contact, of the last row */
    double distance; /* m: the smallest of them, or of a vertex from a plane; NAN without either */
    /* within a step that takes long: what it is doing, and for how many seconds; NULL: between
     * steps */
    const BrioIteration *inside;
    double inside_wall;
} BrioRunProgress;

typedef struct BrioInside BrioInside;
/* What another thread needs to end a run that does not answer (brio__run_end). */
typedef struct BrioRunControl {
    pthread_mutex_t mutex; /* of what follows */
    enum { BRIO_RUN_SETUP, BRIO_RUN_WRITING, BRIO_RUN_STEPPING } phase;
    const BrioInside *inside;
} BrioRunControl;
#define BRIO_RUN_CONTROL                   \
    {                                      \
        .mutex = PTHREAD_MUTEX_INITIALIZER \
    }

typedef struct BrioRunOptions {
    const char *out; /* folder */
    /* remove earlier results of brio first */
    bool force;
    /* continue from the checkpoint, if there is one */
    bool resume;
    /* start from the positions, velocities and time of this checkpoint; may be NULL */
    const char *from;
    /* wall time between checkpoints; 0: 5 s */
    double checkpoint_seconds;
    int64_t checkpoint_steps; /* not 0: by steps instead */
    /* every state is checked for intersections, exactly: the first ends the run */
    bool exact;
    /* not 0: end in this iteration, with the state at the start of the step; may be NULL */
    const volatile sig_atomic_t *stop;
    BrioRunControl *control; /* may be NULL */
    /* after every step, and ten times a second within one that takes more than a second; may be
     * NULL */
    void (*progress)(void *user, const BrioRunProgress *progress);
    void *user;
} BrioRunOptions;

typedef enum BrioVerdict {
    BRIO_VERDICT_RUNNING,
    BRIO_VERDICT_COMPLETED,
    BRIO_VERDICT_STOPPED,
    BRIO_VERDICT_FAILED,
    BRIO_VERDICT_EXPLODED /* more energy than the scene can give: explosion.h */
} BrioVerdict;
const char *brio__verdict_name(BrioVerdict verdict);

typedef struct BrioRunResult {
    bool started; /* false: refused before anything was written */
    BrioVerdict verdict;
    char reason[1200];    /* why it did not complete */
    bool resumed;         /* continued from a checkpoint ... */
    bool complete_before; /* ... that was at the end already */
    int64_t step, steps;
    double time;
    BrioRunTotals totals;
    int64_t frame_count;
    /* what the exact checks of this session add up to; without states if there were none */
    BrioExactWatch exact;
} BrioRunResult;

/* Of processes that run a scene together all call it, the first with the scene and the others with
 * NULL. Takes the scene's system and state. The status is that of the verdict: OK, STOPPED, or what
 * failed. */
BrioStatus brio__run(BrioScene *scene, const BrioRunOptions *options, BrioRunResult *result,
                     BrioError *error);

/* Ends a run from another thread than the one that is in brio__run, for phases that ask nobody
 * whether to go on (a long factorisation): the results become whole, as of the start of the step.
 * False: the run is writing, ask again. True: brio__run does not come back any more, its thread may
 * still compute, and all that is left to do with the process is to end it, by _exit. One process
 * only. */
bool brio__run_end(BrioRunControl *control, BrioRunResult *result, BrioStatus *status,
                   BrioError *error);

/* Results to look at: the scene of their run.json, built again, and a simulation in the
 * state of their checkpoint. Nothing is written. A scene whose files were changed since is
 * rejected, by its energy. */
BrioStatus brio__run_load(const char *out, BrioScene **scene, BrioSim **sim, BrioError *error);

/* The scene in the run.json of results, built again. */
BrioStatus brio__run_scene(const char *out, BrioScene **scene, BrioError *error);

/* Steps until time.end: the last one ends at or after it. Of automatic steps the frames, which they
 * meet: there are at least as many. */
int64_t brio__scene_steps(const BrioScene *scene);

/* Opens the folder for results and locks it against other runs. Existing results are removed
 * if `force`, which touches only files that brio writes, and refused (ERROR_EXISTS) if not, unless
 * `keep`. */
BrioStatus brio__results_open(const char *out, bool force, bool keep, BrioFolder *folder,
                              BrioError *error);

#endif
