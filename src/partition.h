/* A system of which each of several processes holds a partition.
 *
 * A process owns some of the coordinate blocks, every block has one owner, and it owns some of the
 * elements: each element once. Its system is one of its own, made of the vertices that it owns and
 * of the others that its elements touch (ghosts). Vectors of the length of q have the owned
 * blocks first and the ghosts after them, and ghosts always have the owner's values; so what is
 * done element by element needs no communication, and everything else follows three rules:
 *
 *   - sums and largest values of vectors run over owned blocks and are then joined (brio__dot,
 *     brio__norm_max);
 *   - what elements give is a partial sum: energies are joined by brio__partition_sum, gradients by
 *     brio__partition_complete;
 *   - whoever decides, decides on joined numbers, so that all processes decide alike.
 *
 * Without a partition (a system of one process) the functions do nothing. How processes speak is
 * the task of cluster/. */
#ifndef BRIO_PARTITION_H
#define BRIO_PARTITION_H

#include "base.h"

/* What the whole has of a body. */
typedef struct BrioGlobalBody {
    int64_t first, vertices, tets, triangles, edges;
} BrioGlobalBody;

typedef struct BrioPartition BrioPartition;
struct BrioPartition {
    int process, processes;
    int32_t owned; /* coordinate blocks */
    /* numbers in the whole system of what is here, ascending among owned blocks and among ghosts */
    int64_t *block, *vertex, *fixed, *param;
    /* who tells of fixed vertices and parameters when the whole is written: one process each */
    uint8_t *writes_fixed, *writes_param;
    /* how many the whole has (vertices: of bodies) */
    int64_t blocks, vertices, fixed_vertices, params;
    int body_count;
    BrioGlobalBody *body;
    /* components that nothing joins (components.h): of each block here, and whether something holds
     * them */
    int32_t component_count, *component;
    bool *component_fixed;
    uint64_t scene; /* the hash of the whole scene, for checkpoints */
    /* messages; all processes call each of them in the same order */
    void (*sum)(BrioPartition *partition, double *value, int64_t count);
    void (*max)(BrioPartition *partition, double *value, int64_t count);
    void (*complete)(BrioPartition *partition, double *vector);
    void (*spread)(BrioPartition *partition, double *vector);
    void (*broadcast)(BrioPartition *partition, int from, void *data, size_t size);
    /* Numbers [begin, end) of a vector of the whole, at process 0: those that processes have at the
     * places number[i], width numbers each. */
    void (*collect)(BrioPartition *partition, const double *value, const int64_t *number,
                    const uint8_t *writes, int64_t count, int width, int64_t begin, int64_t end,
                    double *out);
    /* What this process has sent so far: messages, their bytes, and joint operations of all. */
    void (*traffic)(BrioPartition *partition, double sent[3]);
    void (*destroy)(BrioPartition *partition);
    void *channel;
    BrioStatus status; /* the first failure of a message; brio__partition_agree reports it */
};

/* Joins numbers of all processes: their sums, the largest (a NAN counts as infinite), the
 * smallest. */
static inline void brio__partition_sum(BrioPartition *partition, double *value, int64_t count)
{
    if (partition) partition->sum(partition, value, count);
}
static inline double brio__partition_max(BrioPartition *partition, double value)
{
    if (partition && isnan(value)) value = INFINITY;
    if (partition) partition->max(partition, &value, 1);
    return value;
}
static inline double brio__partition_min(BrioPartition *partition, double value)
{
    return partition ? -brio__partition_max(partition, -value) : value;
}
static inline bool brio__partition_any(BrioPartition *partition, bool here)
{
    return partition ? brio__partition_max(partition, here) > 0 : here;
}

/* A vector of which every process has summed up what its elements give: all of it, ghosts too. */
static inline void brio__partition_complete(BrioPartition *partition, double *vector)
{
    if (partition) partition->complete(partition, vector);
}
/* Ghosts receive their owners' values. */
static inline void brio__partition_spread(BrioPartition *partition, double *vector)
{
    if (partition) partition->spread(partition, vector);
}

/* The worst status of all processes: errors (negative) before outcomes that a smaller step may fix
 * (positive). */
static inline BrioStatus brio__partition_agree(BrioPartition *partition, BrioStatus status)
{
    if (!partition) return status;
    if (status == BRIO_OK) status = partition->status;
    double worst[2] = {status < 0 ? -(double)status : 0, status > 0 ? (double)status : 0};
    partition->max(partition, worst, 2);
    return worst[0] > 0 ? (BrioStatus)-worst[0] : (BrioStatus)worst[1];
}

/* The text of the first process that has one; empty if none has. */
static inline void brio__partition_text(BrioPartition *partition, bool here, char *text,
                                        size_t size)
{
    if (!partition) return;
    double first = brio__partition_min(partition, here ? partition->process : partition->processes);
    if (first < partition->processes)
        partition->broadcast(partition, (int)first, text, size);
    else
        text[0] = 0;
}

/* Whether this process is the one that writes files and messages. */
static inline bool brio__partition_is_root(const BrioPartition *partition)
{
    return !partition || partition->process == 0;
}

#endif
