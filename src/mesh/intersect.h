/* Intersections of surfaces, decided by exact predicates.
 *
 * What counts. An edge and a triangle (or two edges that belong to no triangle) that have no vertex
 * in common intersect if they have a point in common; touching counts. Two triangles without a
 * common vertex intersect if and only if an edge of one meets the other, and two that share one
 * vertex if and only if the edge opposite to it in one meets the other, so all edges against all
 * triangles is enough. Two triangles that share an edge and lie folded exactly upon each other have
 * only that edge and its vertices to meet in: not counted. */
#ifndef BRIO_INTERSECT_H
#define BRIO_INTERSECT_H

#include "mesh.h"

/* One surface, in vertex numbers of its own. Edges only where there are no triangles. */
typedef struct BrioExactPart {
    int64_t first; /* the position of its vertex 0 */
    int64_t triangle_count, edge_count;
    const int32_t *triangle, *edge;
} BrioExactPart;

/* All surfaces together, in the numbers of positions. An owner is a part. */
typedef struct BrioExactSurface {
    int64_t triangle_count, edge_count;
    int64_t line_first; /* edges from here on belong to no triangle */
    int32_t *triangle, *edge;
    int32_t *triangle_owner, *edge_owner;
    int64_t *triangle_first; /* of each owner: its first triangle */
} BrioExactSurface;

/* An edge and what it meets. */
typedef struct BrioIntersection {
    int owner[2];
    int64_t number;   /* of the edge, among those of all surfaces */
    int32_t edge[2];  /* world vertices */
    int32_t other[3]; /* of the triangle; of an edge the last is -1 */
    int64_t triangle; /* its number in its owner; -1: an edge */
} BrioIntersection;

/* A node of a tree of boxes: its left child follows it. */
typedef struct BrioBoxNode {
    double low[3], high[3];
    int64_t begin, end; /* primitives */
    int64_t right;      /* 0: a leaf */
} BrioBoxNode;

typedef struct BrioBoxTree {
    int corners; /* 3: triangles, 2: edges */
    int64_t count;
    const int32_t *vertex; /* [count][corners] */
    int32_t *order;
    double *middle; /* [count][3], doubled */
    BrioBoxNode *node;
    int64_t nodes;
    bool kept; /* the nodes and the order stay; only boxes follow the positions */
} BrioBoxTree;

/* Surfaces and room to search: made once, used for every set of positions. */
typedef struct BrioIntersector {
    BrioExactSurface surface;
    BrioBoxTree triangles, lines;
    /* Pairs that do not count: of two sets of vertices that are both fixed, and of owners that are
     * excluded from contact. Set by the caller; NULL: all pairs count. */
    bool (*fixed)(const void *context, const int32_t *vertex, int count);
    bool (*excluded)(const void *context, int a, int b);
    const void *context;
    bool rounded; /* set by the caller: edges and triangles are decided in doubles, and touching
                   * does not count; flat sheets then cost no exact arithmetic */
} BrioIntersector;

BrioStatus brio__intersector_create(const BrioExactPart *part, int count, BrioIntersector *in);
void brio__intersector_free(BrioIntersector *in);
/* From now on searches use the trees of the positions x: cheaper where neighbours stay neighbours,
 * as on a sheet, whose trees at rest serve all its poses. */
void brio__intersector_keep(BrioIntersector *in, const double *x);
/* All intersections at finite positions x, the first `room` of them stored, in the order of edges.
 * `pairs`, if not NULL: those whose boxes overlap, decided by predicates. Allocates nothing. */
int64_t brio__intersector_find(BrioIntersector *in, const double *x, BrioIntersection *found,
                               int64_t room, int64_t *pairs);
/* Whether there is one. */
bool brio__intersector_any(BrioIntersector *in, const double *x);

/* The triangles of a mesh by itself: every edge against every triangle without a common vertex;
 * owners are 0. -1: no memory. */
int64_t brio__exact_mesh(const BrioMesh *mesh, BrioIntersection *found, int64_t room);

#endif
