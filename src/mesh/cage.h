/* Cages: a coarse lattice of tets around a dense surface, and the surface's vertices as points of
 * these tets.
 *
 * The lattice is body-centred cubic: the nodes are the corners and the centres of cubes, and a tet
 * has two neighbouring centres and an edge of the square between them [Labelle2007]. All tets have
 * the same shape. Those stay that the surface passes, or that lie inside of it. So every vertex X
 * of the surface is in a tet and has its barycentric coordinates there as weights,
 *
 *     X = sum_k w_k Y_k,   w_k >= 0,   sum_k w_k = 1,     k = 1 ... 4.
 *
 * What is inside of the surface has mass and stiffness, and nothing else: with phi = 1 inside and 0
 * outside, and N_i the hat function of node i,
 *
 *     volume_i = int phi N_i dV,      fill_t = 1/V_t int_t phi dV >= BRIO_CAGE_MIN_FILL.
 *
 * sum_i volume_i is the volume of the body, and sum_i volume_i Y_i / sum_i volume_i its centre:
 * both are those of the closed surface, to round-off (cage_fill.c). */
#ifndef BRIO_CAGE_H
#define BRIO_CAGE_H

#include "mesh.h"

/* Smallest part of a tet that counts as filled: a tet that the surface hardly touches still holds
 * its nodes together, and has as much mass for it. */
#define BRIO_CAGE_MIN_FILL (1. / 32)

enum { BRIO_CAGE_MAX = 200 }; /* cells along the longest side */

typedef struct BrioCage {
    double edge;        /* m, of the cubes */
    int64_t cells;      /* cubes with something of the body in them */
    int32_t pieces;     /* that no tets join */
    int32_t components; /* of the surface */
    bool closed;        /* the surface has no open edge */
    double enclosed;    /* m3 */
    int64_t node_count;
    double *x;      /* at rest, 3 per node */
    double *volume; /* m3, of each node */
    int64_t tet_count;
    int32_t *tet;
    double *fill;
    int64_t vertex_count; /* of the surface */
    int32_t *node;        /* 4 per vertex */
    double *weight;       /* likewise; 0: unused */
} BrioCage;

/* `cells`: along the longest side of the box around the mesh's triangles, about. Refuses surfaces
 * that enclose nothing or have wide holes, and vertices outside. */
BrioStatus brio__cage_create(const BrioMesh *surface, int cells, BrioCage **cage, BrioError *error);
void brio__cage_free(BrioCage *cage);

/* Moves nodes so that the vertices come to `values` (3 each), as near as they can: `nodes` begins
 * with a first guess y, and becomes y + d with
 *
 *     d = A X + b + argmin_d |J d - r|^2 + 1e-6 sum over edges |d_i - d_j|^2
 *
 * for the misfit r of the vertices without its best affine part A X + b, which is followed exactly.
 * Nothing changes where the misfit is 0. */
BrioStatus brio__cage_fit(const BrioCage *cage, const double *values, double *nodes);

#endif
