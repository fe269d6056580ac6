/* Several processes that run one scene together (processes.h). Process 0 reads the scene and shares
 * it out (brio__cluster_split), and every process steps its partition as if it were all; only
 * process 0 prints and writes. */
#ifndef BRIO_CLUSTER_H
#define BRIO_CLUSTER_H

#include "../scene/scene.h"

/* Process 0 comes with a scene that is loaded, all others with NULL and receive its settings; each
 * ends with its partition of the system and of the state. `local_of`, of process 0: the number in
 * its partition of each world vertex, -1: none (brio__free). Collective; fails on all processes if
 * it does on one, with the error of the first. */
BrioStatus brio__cluster_split(BrioScene **scene, uint64_t hash, int32_t **local_of,
                               BrioError *error);

#endif
