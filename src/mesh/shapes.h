/* What the shape files share: the registry's symbols and the pieces that a solid and its surface
 * have in common. */
#ifndef BRIO_SHAPES_H
#define BRIO_SHAPES_H

#include "mesh.h"

#define SHAPE(symbol) extern const BrioShape brio__shape_##symbol;
#include "shapes.def"
#undef SHAPE

/* Rows that many tables have. Lengths are between a nanometre and a million kilometres. */
#define BRIO_LENGTH(name, standard, summary)                  \
    {                                                         \
        name, BRIO_REAL, "m", standard, 1e-9, 1e9, 0, summary \
    }
#define BRIO_CELLS(name, standard, summary)                     \
    {                                                           \
        name, BRIO_INTEGER, "", standard, 1, 100000, 0, summary \
    }

/* Writes a tet as number *t, with its corners in positive order, and counts it. */
void brio__shape_tet(BrioMesh *mesh, int64_t *t, int64_t a, int64_t b, int64_t c, int64_t d);
/* Edges for a mesh of triangles; frees it if there is no memory. */
BrioStatus brio__shape_edges(BrioMesh **mesh, BrioError *error);

/* A disk as the triangular lattice in a hexagon, bent round: ring k = 1..rings has 6k vertices at
 * radius k/rings, evenly spaced. Vertex 0 is the centre; ring k starts at vertex 1 + 3k(k-1). */
/* 1 + 3 rings (rings + 1) */
int64_t brio__disk_vertices(int64_t rings);
int64_t brio__disk_triangles(int64_t rings); /* 6 rings^2 */
/* in the unit disk */
void brio__disk_point(int64_t ring, int64_t place, int64_t rings, double point[2]);
/* All triangles, counterclockwise; their corners have the colours 0, 1, 2 in `colour` (may be NULL;
 * one per vertex): the lattice is three-colourable. */
void brio__disk_topology(int64_t rings, int32_t *triangle, uint8_t *colour);

/* The icosahedron of edge 2 about the origin, two vertices in each coordinate plane's quadrant. */
typedef struct BrioIcosahedron {
    double vertex[12][3];
    int face[20][3];     /* outward, the smallest vertex first, sorted */
    int edge[30][2];     /* the smaller vertex first, sorted */
    int edge_of[12][12]; /* -1: not an edge */
} BrioIcosahedron;
void brio__icosahedron(BrioIcosahedron *icosahedron);

/* Each face of the icosahedron divided into layer^2 triangles: 10 layer^2 + 2 vertices, the corners
 * first, then the edges, then the faces. Number and position (on the unit sphere) of the vertex
 * with barycentric coordinates w / layer in a face, where w[0] + w[1] + w[2] = layer > 0. */
int64_t brio__icosphere_vertex(const BrioIcosahedron *icosahedron, int face, const int64_t w[3]);
void brio__icosphere_point(const BrioIcosahedron *icosahedron, int face, const int64_t w[3],
                           double point[3]);

#endif
