/* A closed mesh among the obstacles, for signed distances from it (collider.h): a tree of boxes
 * over its triangles, which is made once, and the normals of its parts. For the files of colliders.
 */
#ifndef BRIO_COLLIDER_MESH_H
#define BRIO_COLLIDER_MESH_H

#include "collider.h"

enum { BRIO_COLLIDER_STACK = 64 }; /* nodes that a descent of the tree may put aside */

typedef struct BrioColliderNode {
    int32_t first, count; /* triangles, in the order of the tree */
    int32_t right;        /* 0: a leaf; the left child follows its parent */
} BrioColliderNode;

typedef struct BrioColliderMesh {
    int obstacle;
    int64_t first, vertices, triangles;
    int32_t *corner;      /* world vertices, 3 per triangle */
    int32_t *edge;        /* of each triangle, from corner k to k + 1 */
    int32_t *order;       /* triangles in the order of the tree */
    double (*face)[3];    /* unit normals */
    double (*side)[3];    /* of edges */
    double (*around)[3];  /* of vertices */
    int32_t edges, nodes; /* counts */
    BrioColliderNode *node;
    double (*box)[6];
    double *x; /* positions of its vertices that all this is for */
    bool ready;
    /* of each vertex of bodies, what saves time and cannot be seen: a triangle that was closest,
     * and where that was (x, y, z, d); d = -1: unknown */
    int32_t *hint;
    double (*known)[4];
    int32_t *edge_owner, *vertex_owner; /* the first triangle that has it */
    int32_t *fan_start, *fan;           /* the triangles around each vertex */
} BrioColliderMesh;

/* `number`: of the obstacle; `points`: vertices of bodies. What is there so far is freed by
 * brio__collider_mesh_free, also after a failure. */
BrioStatus brio__collider_mesh_create(const BrioObstacle *o, int number, int64_t points,
                                      BrioColliderMesh *m);
void brio__collider_mesh_free(BrioColliderMesh *m);
/* Whether each side of a triangle belongs to another one too, the other way round; -1: no memory.
 */
int brio__collider_is_closed(const int32_t *triangle, int64_t count);

/* Boxes around the corners at x and, unless NULL, at y. */
void brio__collider_fit_boxes(BrioColliderMesh *m, const double *x, const double *y);
/* Trees and normals for the positions x. */
void brio__collider_follow(BrioColliderMesh *m, int64_t points, const double *x);
/* The square of the distance from a box, 0 inside. */
double brio__collider_from_box(const double *box, const double *p);
/* The distance from a triangle; 1 and minus the weights of the closest point in w. */
double brio__collider_from_triangle(const BrioColliderMesh *m, int32_t t, const double *x,
                                    const double *p, double w[4]);
/* Fills a hit from the weights of a triangle's corners, as if p were outside; the way to p in r. */
void brio__collider_set_hit(const BrioColliderMesh *m, int32_t t, const double *x, const double *p,
                            const double weight[4], double r[3], BrioHit *hit);
/* The closest hit of a point, wherever it is; `hint` is any triangle, and then the closest. */
void brio__collider_nearest(const BrioColliderMesh *m, const double *x, const double *p,
                            int32_t *hint, BrioHit *hit);

#endif
