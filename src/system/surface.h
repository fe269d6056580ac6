/* What bodies and obstacles touch each other with: their surface vertices, edges and triangles, and
 * trees of boxes over them.
 *
 * A primitive is a triangle, or a lone edge or vertex where a body has no triangles. Every vertex
 * and edge belongs to exactly one primitive that contains it, so that overlapping pairs of
 * primitives name every pair of vertex and triangle, and of two edges, just once [Curtis2008]. The
 * trees' shapes are fixed when the surface is made; only boxes follow the motion.
 *
 * What edges and vertices count for in sums over a surface (creases.c):
 *
 *     n_E = 1 - (triangles of E),
 *     n_u = 1 - (triangles of u) - sum of n_E over the edges of u,
 *
 * so that the triangles, edges and vertices around any point of the surface add up to one. A lone
 * edge counts 1, a vertex between two of them -1, the end of a line 0, a lone vertex 1. */
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
    /* primitives of each edge and of each vertex, which are triangles or lone edges and vertices,
     * and edges of each vertex: from start[i] to start[i + 1] */
    int32_t *edge_face_start, *edge_face;
    int32_t *vertex_face_start, *vertex_face;
    int32_t *vertex_edge_start, *vertex_edge;
    int32_t *edge_factor, *vertex_factor; /* n_E, n_u */
    /* how sharp they are: 0 in a flat part of a rigid surface, 1 on what is sharp or bends */
    double *edge_crease, *vertex_crease;
    int32_t *vertex_owner; /* bodies come first, then obstacles */
    int32_t primitive_count;
    BrioPrimitive *primitive;
    /* the three edges of each triangle, from node k to node k + 1; -1: of lone edges and vertices
     * the others */
    int32_t *face_edge;
    int32_t node_count;
    BrioTreeNode *node;
    int part_count;
    BrioSurfacePart *part;
} BrioSurface;

/* Its arrays with their lengths, for what copies, sends or frees a surface `s`. */
/* clang-format off */
#define BRIO_SURFACE_ARRAYS(X, s) \
    X(vertex, (s)->vertex_count) X(rest, 3 * (int64_t)(s)->vertex_count) \
    X(fixed, (s)->vertex_count) X(vertex_owner, (s)->vertex_count) \
    X(vertex_factor, (s)->vertex_count) X(vertex_crease, (s)->vertex_count) \
    X(vertex_face_start, (int64_t)(s)->vertex_count + 1) \
    X(vertex_edge_start, (int64_t)(s)->vertex_count + 1) \
    X(vertex_edge, 2 * (int64_t)(s)->edge_count) \
    X(edge, 2 * (int64_t)(s)->edge_count) X(edge_square, (s)->edge_count) \
    X(edge_factor, (s)->edge_count) X(edge_crease, (s)->edge_count) \
    X(edge_face_start, (int64_t)(s)->edge_count + 1) \
    X(primitive, (s)->primitive_count) X(face_edge, 3 * (int64_t)(s)->primitive_count) \
    X(vertex_face, 3 * (int64_t)(s)->primitive_count) \
    X(edge_face, 3 * (int64_t)(s)->primitive_count) \
    X(node, (s)->node_count) X(part, (s)->part_count)
/* clang-format on */

typedef struct BrioSystem BrioSystem;
/* Builds the surface from the bodies and obstacles of a system that is otherwise complete; X:
 * positions of all world vertices at rest, x: at the start. */
BrioStatus brio__surface_create(const BrioSystem *system, const double *X, const double *x,
                                BrioSurface **surface);
void brio__surface_free(BrioSurface *surface);

/* Fills in what edges and vertices count for, when all else is there. */
BrioStatus brio__surface_creases(BrioSurface *surface, const BrioSystem *system);

/* The same counts on the part of a surface that does not touch its vertex v: those of the
 * primitives without v. No such primitive: the edge or vertex is not there, and counts 0. `face`:
 * the first of the primitives. v < 0: of the whole surface. */
int32_t brio__edge_factor_without(const BrioSurface *surface, int32_t edge, int32_t v,
                                  int32_t *face);
int32_t brio__vertex_factor_without(const BrioSurface *surface, int32_t vertex, int32_t v,
                                    int32_t *face);

#endif
