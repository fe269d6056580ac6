/* A system of which each of several processes holds a share.
 *
 * A process owns some of the coordinate blocks, every block has one owner, and it owns some of the
 * elements: each element once. Its system is one of its own, made of the vertices that it owns and
 * of those that its elements touch beside them (ghosts). Vectors of the length of q have the owned
 * blocks first and the ghosts after them, and ghosts always have the owner's values; so what is
 * done number by number needs no words, and everything else follows three rules:
 *
 *   - sums and largest values of vectors run over owned blocks and are then joined (brio__dot,
 *     brio__norm_max);
 *   - what elements give is a share: energies are joined by brio__share_sum, gradients by
 *     brio__share_complete;
 *   - whoever decides, decides on joined numbers, so that all processes decide alike.
 *
 * Without a share (a system of one process) the functions do nothing. How processes speak is the
 * affair of cluster/. */
#ifndef BRIO_SHARE_H
#define BRIO_SHARE_H

#include "base.h"

/* What the whole has of a body. */
typedef struct BrioWhole {
    int64_t first, vertices, tets, triangles, edges;
} BrioWhole;

typedef struct BrioShare BrioShare;
struct BrioShare {
    int process, processes;
    int32_t owned; /* coordinate blocks */
    /* numbers in the whole system of what is here, ascending among owned blocks and among ghosts */
    int64_t *block, *vertex, *held, *param;
    /* who tells of held vertices and parameters when the whole is written: one process each */
    uint8_t *tells_held, *tells_param;
    /* how many the whole has (vertices: of bodies) */
    int64_t blocks, vertices, held_vertices, params;
    int body_count;
    BrioWhole *body;
    /* parts that nothing joins (parts.h): of each block here, and whether something holds them */
    int32_t part_count, *part;
    bool *part_held;
    uint64_t scene; /* the hash of the whole scene, for checkpoints */
    /* messages; all processes call each of them in the same order */
    void (*sum)(BrioShare *share, double *value, int64_t count);
    void (*most)(BrioShare *share, double *value, int64_t count);
    void (*complete)(BrioShare *share, double *vector);
    void (*spread)(BrioShare *share, double *vector);
    void (*tell)(BrioShare *share, int from, void *data, size_t size);
    /* Numbers [begin, end) of a vector of the whole, at process 0: those that processes have at the
     * places number[i], width numbers each. */
    void (*collect)(BrioShare *share, const double *value, const int64_t *number,
                    const uint8_t *tells, int64_t count, int width, int64_t begin, int64_t end,
                    double *out);
    /* What this process has sent so far: messages, their bytes, and joint operations of all. */
    void (*traffic)(BrioShare *share, double sent[3]);
    void (*destroy)(BrioShare *share);
    void *channel;
    BrioStatus status; /* the first failure of a message; brio__share_agree reports it */
};

/* Joins numbers of all processes: their sums, the largest (a NAN counts as infinite), the
 * smallest. */
static inline void brio__share_sum(BrioShare *share, double *value, int64_t count)
{
    if (share) share->sum(share, value, count);
}
static inline double brio__share_most(BrioShare *share, double value)
{
    if (share && isnan(value)) value = INFINITY;
    if (share) share->most(share, &value, 1);
    return value;
}
static inline double brio__share_least(BrioShare *share, double value)
{
    return share ? -brio__share_most(share, -value) : value;
}
static inline bool brio__share_any(BrioShare *share, bool here)
{
    return share ? brio__share_most(share, here) > 0 : here;
}

/* A vector of which every process has summed up what its elements give: all of it, ghosts too. */
static inline void brio__share_complete(BrioShare *share, double *vector)
{
    if (share) share->complete(share, vector);
}
/* Ghosts receive their owners' values. */
static inline void brio__share_spread(BrioShare *share, double *vector)
{
    if (share) share->spread(share, vector);
}

/* The status of the process that fares worst: errors (negative) before what a smaller step may mend
 * (positive). */
static inline BrioStatus brio__share_agree(BrioShare *share, BrioStatus status)
{
    if (!share) return status;
    if (status == BRIO_OK) status = share->status;
    double worst[2] = {status < 0 ? -(double)status : 0, status > 0 ? (double)status : 0};
    share->most(share, worst, 2);
    return worst[0] > 0 ? (BrioStatus)-worst[0] : (BrioStatus)worst[1];
}

/* The text of the first process that has one; empty if none has. */
static inline void brio__share_text(BrioShare *share, bool here, char *text, size_t size)
{
    if (!share) return;
    double first = brio__share_least(share, here ? share->process : share->processes);
    if (first < share->processes)
        share->tell(share, (int)first, text, size);
    else
        text[0] = 0;
}

/* Whether this process is the one that writes and speaks. */
static inline bool brio__share_speaks(const BrioShare *share)
{
    return !share || share->process == 0;
}

#endif
