/* What a mesh is like: sizes, shapes of its elements, whether its surface is closed and free of
 * intersections. */
#ifndef BRIO_MEASURE_H
#define BRIO_MEASURE_H

#include "intersect.h"

enum { BRIO_QUALITY_BINS = 10 };

/* Elements are the tets, or the triangles where there are none. Elements and vertices are counted
 * from 0. */
typedef struct BrioMeasure {
    int64_t vertices, unused, tets, triangles, lines; /* triangles: of the surface */
    int64_t components;                               /* of the vertices that elements join */
    double low[3], high[3];
    double volume; /* of the tets, or enclosed by a closed surface; NAN: of an open one */
    double area;   /* of the surface */
    int64_t edges; /* of the elements */
    double edge_min, edge_mean, edge_max;
    /* of one triangle; of more than two; whose two triangles have inconsistent orientation */
    int64_t open_edges, branching_edges, turned_edges;
    int32_t first_open[2], first_branching[2], first_turned[2];
    int64_t inverted, flat; /* tets of negative volume; tets or triangles of next to none */
    int64_t first_inverted, first_flat;
    /* Of a tet 12 (3V)^(2/3) / sum of squared edges, of a triangle 4 sqrt(3) area / that sum: 1 for
     * a regular one, 0 for a flat one [Liu1994] */
    double quality_min, quality_mean;
    /* the element; how many from k/10 to (k+1)/10; inverted ones are in the first */
    int64_t quality_worst, quality[BRIO_QUALITY_BINS];
    double angle_min, angle_max; /* degrees: between faces of tets, in corners of triangles */
    int64_t intersections;       /* of edges of the surface with its triangles */
    BrioIntersection first;      /* of them */
} BrioMeasure;

/* The triangles of a mesh with tets become its surface. */
BrioStatus brio__measure(BrioMesh *mesh, BrioMeasure *measure, BrioError *error);

/* Whether tets can fill it: closed, of one orientation, without flat triangles and intersections;
 * the sentence says where it is not. Turns a surface that looks inward, and removes vertices that
 * no triangle names. */
BrioStatus brio__measure_closed(BrioMesh *surface, BrioError *error);

#endif
