/* What bodies and obstacles touch each other with: their surface vertices, edges and triangles, and
 * trees of boxes over them.
 *
 * A primitive is a triangle, or a lone edge or vertex where a body has no triangles. Every vertex
 * and edge belongs to exactly one primitive that contains it, so that overlapping pairs of
 * primitives name every pair of vertex and triangle, and of two edges, just once [Curtis2008]. The
 * trees' shapes are fixed when the surface is made; only boxes follow the motion. */
#ifndef BRIO_SURFACE_H
#define BRIO_SURFACE_H

#include "../base.h"

typedef struct BrioPrimitive {
    int32_t node[3]; /* surface vertices; unused: the last again */
    /* its own edges among those of the surface, from node k to node k+1; -1: another's */
    int32_t edge[3];
    uint8_t corners;  /* 1, 2 or 3 */
    uint8_t vertices; /* bit k: node k belongs to it */
    int32_t owner;    /* bodies come first, then obstacles */
} BrioPrimitive;

/* In depth-first order: the left child follows its parent. */
typedef struct BrioTreeNode {
    int32_t first, count; /* primitives */
    int32_t right;        /* 0: a leaf */
} BrioTreeNode;

/* A body, or an obstacle other than a plane. */
typedef struct BrioSurfacePart {
    int owner;    /* bodies come first, then obstacles */
    int32_t root; /* of its tree */
    bool moves;   /* has a vertex with coordinates */
} BrioSurfacePart;

typedef struct BrioSurface {
    int32_t vertex_count;
    int32_t *vertex; /* world vertices */
    double *rest;    /* their positions at rest */
    bool *fixed;     /* has no coordinates */
    int32_t edge_count;
    int32_t *edge;       /* two surface vertices each */
    double *edge_square; /* squared rest lengths */
    int32_t primitive_count;
    BrioPrimitive *primitive;
    int32_t node_count;
    BrioTreeNode *node;
    int part_count;
    BrioSurfacePart *part;
} BrioSurface;

typedef struct BrioSystem BrioSystem;
/* From the bodies and obstacles of a system that is otherwise complete; X: positions of all world
 * vertices at rest, x: at the start. */
BrioStatus brio__surface_create(const BrioSystem *system, const double *X, const double *x,
                                BrioSurface **surface);
void brio__surface_free(BrioSurface *surface);

#endif
