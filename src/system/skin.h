/* What is seen of a body where that is more than its triangles: faces as its file has them
 * (polygons, textures, groups), or a detailed surface that rides on its tets.
 *
 * Points of such a surface are fixed linear combinations of the body's vertices, x = sum_j w_j x_j
 * with sum w = 1 and sum_j w_j X_j = X, so that every affine motion is followed exactly. A point X
 * in a tet with barycentric coordinates b_i takes
 *
 *     linear:  sum_i b_i x_i
 *     smooth:  sum_i b_i (x_i + 1/2 G_i (X - X_i))
 *
 * with G_i the mean of the deformation gradients of the tets at vertex i, by volume. Both are
 * continuous and keep the vertices. The gradient of the first jumps from tet to tet, which shows as
 * creases of the coarse mesh; the second is exact for quadratic motions where the G_i are (half the
 * gradient, since the other half is in the differences of the x_i). Weighting by volume makes flat
 * tets harmless: V grad b is an area. A point outside takes the nearest point P of the body instead
 * and goes on from there with the gradient at P: that of the nearest tet, or sum_i b_i(P) G_i. */
#ifndef BRIO_SKIN_H
#define BRIO_SKIN_H

#include "../mesh/mesh.h"

typedef struct BrioSkin {
    BrioFaces *faces; /* in the skin's vertex numbers; NULL: triangles only */
    int64_t triangle_count;
    int32_t *triangle; /* the fans of the faces */
    /* of an embedded surface; otherwise the skin's vertices are the body's, and these are NULL */
    int64_t vertex_count;
    double *rest;   /* 3 per vertex */
    int64_t *start; /* vertex_count + 1: into */
    int32_t *node;  /* the body's vertices */
    double *weight;
} BrioSkin;

/* Faces of the mesh of which a body was made; `triangle` is what the body has. Turned if the body
 * has turned them; *skin is NULL if the body has others. */
BrioStatus brio__skin_faces(const BrioFaces *faces, const int32_t *triangle, int64_t triangle_count,
                            BrioSkin **skin);

/* How a surface lies with respect to its tets. */
typedef struct BrioEmbedding {
    int64_t outside;  /* points that no tet contains */
    double distance;  /* m: of the one that is farthest out */
    int64_t farthest; /* its number */
    int64_t far;      /* points that are farther out than the longest edge of the nearest tet */
} BrioEmbedding;

/* A surface on tets. `x`: rest positions of the body's vertices; `points`: those of the surface's,
 * in the same place. */
BrioStatus brio__skin_embed(const double *x, int64_t vertices, const int32_t *tet, int64_t tets,
                            const BrioMesh *surface, const double *points, bool smooth,
                            BrioEmbedding *how, BrioSkin **skin);

/* A surface whose vertices are the first of the body's: that which tets were made to fill. */
BrioStatus brio__skin_carry(const BrioMesh *surface, const double *points, BrioSkin **skin);

/* The embedded points, or their velocities, from those of the body's vertices. */
void brio__skin_map(const BrioSkin *skin, const double *x, double *seen);
void brio__skin_free(BrioSkin *skin);

#endif
