/* Parts surfaces that intersect, by moving vertices as little as it can find out how.
 *
 * Two ways, of which the one with the smaller largest shift is taken where both serve:
 *
 * - Shift (untangle_shift.c): two parts are moved apart as a whole, along the direction in which
 *   the way is shortest. For solids, and for whatever keeps its shape.
 * - Bend (untangle_bend.c): vertices that are within a closed surface go to its nearest point and
 *   `margin` further; where no surface is closed, or a part meets itself, the contour of the
 *   intersection is made shorter [Volino2006]. Neighbours follow, so that the surface stays smooth.
 *
 * What is left is decided by exact predicates (intersect.h): `after` = 0 is a proof. A part that is
 * wholly within a closed other intersects nothing and stays. What cannot be parted is named. */
#ifndef BRIO_UNTANGLE_H
#define BRIO_UNTANGLE_H

#include "intersect.h"

typedef enum BrioTangleMotion {
    BRIO_TANGLE_STANDS, /* never moves */
    BRIO_TANGLE_SHIFTS, /* as a whole only */
    BRIO_TANGLE_BENDS   /* every vertex that is not fixed */
} BrioTangleMotion;

/* A surface, its tets if it is filled with some, or lone edges if it has no triangles; in vertex
 * numbers of its own. */
typedef struct BrioTanglePart {
    int64_t first, count; /* its vertices among the positions */
    int64_t triangle_count, edge_count, tet_count;
    const int32_t *triangle, *edge, *tet;
    BrioTangleMotion motion;
} BrioTanglePart;

typedef struct BrioTangle {
    int part_count;
    const BrioTanglePart *part;
    int64_t vertex_count;
    double *x;         /* moved in place */
    const bool *fixed; /* vertices that stay; NULL: none */
    double margin;     /* m: how far apart surfaces shall be */
    /* Two parts that may intersect; NULL: none. */
    bool (*excluded)(const void *context, int a, int b);
    /* The depth of a vertex at x behind the surface that it must be in front of (negative: in
     * front), and the unit vector that leads out. NULL: there is no such surface. */
    double (*depth)(const void *context, int64_t vertex, const double x[3], double out[3]);
    const void *context;
} BrioTangle;

enum { BRIO_TANGLE_SHOWN = 4 };

typedef struct BrioUntangled {
    int64_t before, after; /* edges that meet a triangle or another edge */
    int64_t behind;        /* vertices that are still behind something, as `depth` says */
    double shift;          /* m: the largest of all vertices */
    int64_t vertex;        /* which one; -1: none has moved */
    int part;              /* whose */
    int moved;             /* parts that moved */
    int left_count;        /* pairs of parts that still intersect, and the first of them */
    int left[BRIO_TANGLE_SHOWN][2];
} BrioUntangled;

/* The only failure is a lack of memory; x is then as it was. */
BrioStatus brio__untangle(BrioTangle *tangle, BrioUntangled *report);

#endif
