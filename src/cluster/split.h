/* A system taken apart: the partition of one process as a system of its own, and that system as
 * bytes. */
#ifndef BRIO_CLUSTER_SPLIT_H
#define BRIO_CLUSTER_SPLIT_H

#include "../system/system.h"

/* Who owns what of a whole system, and its parts. */
typedef struct BrioDivision {
    int processes;
    int32_t *owner;       /* of each coordinate block */
    int32_t *place;       /* of each: its number among its owner's */
    int32_t *fixed_owner; /* of each fixed vertex */
    int32_t component_count, *component;
    bool *component_fixed;
    uint8_t *seen; /* world vertices that process 0 wants to see: surfaces and probes */
} BrioDivision;

/* `owner` is taken over. `also`: world vertices (count of them) to include as well. */
BrioStatus brio__division_create(const BrioSystem *system, int processes, int32_t *owner,
                                 const int64_t *also, int64_t also_count, BrioDivision *division);
void brio__division_free(BrioDivision *division);

/* The partition of a process. Ghosts' owners and places among them go into `ghost` (pairs, freed by
 * the caller); local_of[v], if not NULL, is the number here of world vertex v, -1 for none. The
 * partition's messages are for the caller to set. */
BrioStatus brio__split(const BrioSystem *system, const BrioState *state,
                       const BrioDivision *division, int process, BrioSystem **local_system,
                       BrioState **partition_state, int32_t **ghost, int32_t *local_of);

/* A partition in bytes, and back. */
BrioStatus brio__message_pack(const BrioSystem *local_system, const BrioState *state,
                              const int32_t *ghost, char **bytes, size_t *size);
BrioStatus brio__message_unpack(const char *bytes, size_t size, BrioSystem **local_system,
                                BrioState **state, int32_t **ghost);

/* Frees a partition and what it contains. */
void brio__partition_free(BrioPartition *partition);

#endif
