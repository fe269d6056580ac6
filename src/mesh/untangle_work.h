/* What the files of untangling share (untangle.h says what it does). */
#ifndef BRIO_UNTANGLE_WORK_H
#define BRIO_UNTANGLE_WORK_H

#include "untangle.h"
#include "within.h"

/* An edge of a triangle: both vertices as a number to sort by, and the corner across. */
typedef struct BrioTangleSide {
    uint64_t key;
    int32_t across;
} BrioTangleSide;

typedef struct BrioUntangler {
    const BrioTangle *t;
    BrioIntersector all;
    bool *closed, *whole; /* of parts; whole: may move as a whole */
    /* positions: at the beginning; of a trial; the best of bending */
    double *start, *trial, *best;
    BrioIntersection *found; /* at the present positions */
    int64_t count, room;
    /* bending */
    double *push, *next, *normal, *weight; /* 3 for each vertex; weight 1 */
    uint8_t *set;                          /* vertices whose push is prescribed */
    int32_t *root;                         /* union-find */
    int64_t *link_start;                   /* neighbours of vertices */
    int32_t *link;
    int64_t side_count;
    BrioTangleSide *side; /* sorted */
    uint64_t *blocked;    /* edges that meet something */
    int64_t blocked_room;
} BrioUntangler;

static inline uint64_t brio__tangle_key(int64_t a, int64_t b)
{
    return (uint64_t)BRIO_MIN(a, b) << 32 | (uint64_t)BRIO_MAX(a, b);
}

static inline BrioShell brio__tangle_shell(const BrioUntangler *u, int part)
{
    const BrioTanglePart *p = &u->t->part[part];
    return (BrioShell){p->triangle_count, p->triangle, p->first};
}

/* Neither filled nor closed: it is easier to bend than to shift. */
static inline bool brio__tangle_sheet(const BrioUntangler *u, int part)
{
    const BrioTanglePart *p = &u->t->part[part];
    return p->motion == BRIO_TANGLE_BENDS && !p->tet_count && !u->closed[part];
}

/* Finds all intersections at x. */
BrioStatus brio__tangle_find(BrioUntangler *u);
/* Vertices that are behind something. */
int64_t brio__tangle_behind(const BrioUntangler *u);

/* Moves parts as a whole; without `sheets`, those stay. */
BrioStatus brio__tangle_shift(BrioUntangler *u, bool sheets);
/* Moves vertices. Leaves u->count intersections. */
BrioStatus brio__tangle_bend(BrioUntangler *u);

#endif
