/* Several processes that run one scene together, over MPI and PETSc.
 *
 * A program that may be started by mpirun calls brio__cluster_start before anything else. Then
 * process 0 reads the scene and shares it out (brio__cluster_split), and every process steps its
 * share as if it were all; only process 0 speaks and writes. */
#ifndef BRIO_CLUSTER_H
#define BRIO_CLUSTER_H

#include "../scene/scene.h"

/* Whether mpirun, or something like it, has started this process. */
bool brio__cluster_launched(void);
BrioStatus brio__cluster_start(BrioError *error);
void brio__cluster_stop(void);
int brio__cluster_process(void); /* 0 where there is no cluster */
/* "PETSc 3.18.5, Open MPI 4.1.4" */
void brio__cluster_version(char *text, size_t size);

/* Ends the job: one process cannot go on. Says why. */
void brio__cluster_abort(const char *why) __attribute__((noreturn));

/* The same status and error on all processes: process 0's. */
BrioStatus brio__cluster_same(BrioStatus status, BrioError *error);

/* Process 0 comes with a scene that is loaded, all others with NULL and receive its settings; each
 * ends with its share of the system and of the state. `local_of`, of process 0: the number in its
 * share of each world vertex, -1: none (brio__free). Collective. */
BrioStatus brio__cluster_split(BrioScene **scene, uint64_t hash, int32_t **local_of,
                               BrioError *error);

#endif
