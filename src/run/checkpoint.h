/* The checkpoint of a run: everything needed to continue to the same bits.
 *
 * A binary file: eight letters, version, mark of the byte order, then the fields in the order of
 * visit() in checkpoint.c, and at the end a checksum of everything before it. It replaces the last
 * one atomically. */
#ifndef BRIO_CHECKPOINT_H
#define BRIO_CHECKPOINT_H

#include "../scene/scene.h"
#include "../writer.h"

#define BRIO_CHECKPOINT_NAME "checkpoint"
#define BRIO_CHECKPOINT_FOLDER "checkpoints" /* those that are kept */

/* What a run has done so far, over all its sessions. */
typedef struct BrioRunTotals {
    BrioSolveTotals solve;
    double setup, output, wall; /* s: before the first step; writing; everything */
    int64_t halved_steps;       /* steps that had to be done in halves */
    int64_t deepest_halving;
    int64_t rejected_steps;             /* tries of automatic steps that did not count */
    double shortest, longest;           /* s: of the steps; 0 without any */
    int64_t sessions;                   /* 1, and one for each --resume */
    double initial_energy, last_energy; /* total, J */
} BrioRunTotals;

typedef struct BrioCheckpoint {
    uint64_t scene; /* brio__scene_hash */
    char isa[16];   /* other instruction sets give other last bits */
    BrioRunTotals totals;
    BrioExtent energy, probes, motion; /* of their files */
    int64_t motion_stride;             /* every Nth instant */
    int64_t frames_passed;             /* instants k/fps, written or not */
    int64_t frame_count;               /* frames written */
    double *frame_time;                /* of each of them */
} BrioCheckpoint;

/* Of the scene as it was resolved, meshes and initial state included; without time.end, so that a
 * run can be made longer. */
uint64_t brio__scene_hash(const BrioScene *scene, const BrioSystem *system, const BrioState *first);

/* A state of which processes have partitions (NULL: it is whole) gives the same file: process 0
 * writes it and all take part, so that any number of processes may go on from it, one too. If that
 * fails, the last one is still there. Until the folder is synced, a power cut brings it back. */
BrioStatus brio__checkpoint_write(const BrioFolder *folder, BrioCheckpoint *checkpoint,
                                  BrioState *state, BrioPartition *partition, BrioError *error);
/* `checkpoint` comes with the scene and isa that are expected (0 and "": whatever they are, to look
 * and not to continue); frame_time is allocated. `state` is one of the same system, and changed
 * only if all is well. */
BrioStatus brio__checkpoint_read(const BrioFolder *folder, BrioCheckpoint *checkpoint,
                                 BrioState *state, BrioPartition *partition, BrioError *error);
/* Keeps the state at frame `number` in the folder `checkpoints` inside: "checkpoints/000012". Its
 * scene is the one without --from, for brio__checkpoint_recall. */
BrioStatus brio__checkpoint_keep(const BrioFolder *folder, int64_t number,
                                 BrioCheckpoint *checkpoint, BrioState *state, BrioError *error);
/* Positions, velocities and time of a checkpoint as the initial state of a scene, which may be
 * another one if its coordinates are as many. */
BrioStatus brio__checkpoint_start(const char *file, double h, BrioState *state, BrioError *error);
/* What the integrator of a simulation that starts so remembers. A checkpoint of the same `scene`
 * (brio__scene_hash of its own initial state; 0: another process knows it) has all of it: the run
 * goes on to the same bits. Of another one, an energy target stays as far above the energy as it
 * was. */
BrioStatus brio__checkpoint_recall(const char *file, uint64_t scene, BrioSim *sim,
                                   BrioError *error);
bool brio__checkpoint_exists(const BrioFolder *folder);

#endif
