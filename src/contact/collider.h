/* Obstacles of triangles for laws between vertices: the signed distance of body vertices from
 * closed meshes that may move and change their shape.
 *
 * The distance is that of the closest point; its sign is the side of the closest face, edge or
 * vertex, by normals that are weighted by angles [Baerentzen2005]. With n the gradient of d by the
 * vertex and w the weights of the triangle's corners in the closest point,
 *
 *     dd/dx = n,    dd/dc_i = -w_i n,    d2d/dx2 = 0, (I - n n^T - t t^T)/d, (I - n n^T)/d
 *
 * for a face, an edge along t, a vertex.
 *
 * In a dent several parts of the surface are near, and a force from the closest alone would jump
 * from one to the other. So the energy is that of all that is nearer than dhat,
 *
 *     E = sum over faces - sum over edges + sum over vertices of b(d) [as in system/creases.c],
 *
 * where over a flat or convex part all but the closest cancel. A part counts as often as closest
 * points lie on it: +1 a face that has its own, +1 a sharp edge, -1 the edge of a dent, 0 most. The
 * closest part of a vertex inside counts with its negative distance. */
#ifndef BRIO_COLLIDER_H
#define BRIO_COLLIDER_H

#include "../system/system.h"

typedef struct BrioColliders BrioColliders;

/* A body vertex near an obstacle. */
typedef struct BrioHit {
    int32_t vertex, obstacle; /* world vertex; number of the obstacle */
    int32_t corner[3];        /* world vertices of the triangle */
    double w[3];              /* of the closest point; zero where it is on an edge or a vertex */
    double weight;            /* +1, or -1 in a dent */
    double d, n[3];
} BrioHit;

/* *colliders stays NULL where the system has no such obstacles. With barriers these are the closed
 * ones that a script moves, for brio__colliders_passed only. */
BrioStatus brio__colliders_create(const BrioSystem *system, BrioColliders **colliders);
void brio__colliders_free(BrioColliders *colliders);
/* What is nearer than `reach` to vertices at world positions x, by obstacle and then by vertex. */
const BrioHit *brio__colliders_find(BrioColliders *colliders, const double *x, double reach,
                                    int64_t *count);
/* The hits [hit, next) of one vertex and obstacle. Friction acts on those of positive weight, by
 * forces that are multiplied by
 *     |sum of w f n| / |sum over w > 0 of w f n|,   f = dhat - d:
 * in a bowl many parts push alike and others pull, and friction is that of what is left. */
double brio__hits_share(const BrioHit *hit, const BrioHit *end, double dhat, const BrioHit **next);
/* Whether a vertex went through an obstacle between two poses, and which. */
bool brio__colliders_passed(BrioColliders *colliders, const double *x0, const double *x1,
                            int32_t *vertex, int32_t *obstacle);
/* How far an obstacle goes between two poses, in its smallest extents, where vertices are in the
 * box around its path: the largest, and whose it is. */
double brio__colliders_way(const BrioColliders *colliders, const double *x0, const double *x1,
                           int32_t *obstacle);
/* d2d/dx2 of a hit at x, row by row. */
void brio__hit_curvature(const BrioHit *hit, const double *x, double C[9]);

/* The surface must be closed: for the builder. */
BrioStatus brio__collider_check(const char *name, const int32_t *triangle, int64_t count,
                                BrioError *error);

#endif
