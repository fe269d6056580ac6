/* Affine bodies: x = A X + p for every point X of a body's rest shape [Lan2022].
 *
 * Let V be the volume of the body, c its centre and S S^T = 1/V int (X - c)(X - c)^T dV its second
 * moments. With the corners u_k = (1,1,1), (1,-1,-1), (-1,1,-1), (-1,-1,1) of a regular tet, of
 * which sum u_k = 0 and sum u_k u_k^T = 4 I, the four points Y_k = c + S u_k, each with a quarter
 * of the mass, have the mass, the centre and the second moments of the body. In affine motions
 * nothing else enters kinetic energy, momenta and weight: the body and the four points are the same
 * mechanical system, exactly. So the coordinates are the positions y_k of these mass points, and
 *
 *     x = sum_k w_k y_k,   w_k = (1 + u_k . S^-1 (X - c)) / 4,
 *     sum_k w_k = 1,   int w_i w_j dV = delta_ij V/4:
 *
 * the mass matrix is diagonal, and all coordinates are metres, which tolerances of the solver
 * mean. */
#ifndef BRIO_AFFINE_H
#define BRIO_AFFINE_H

#include "../base.h"

typedef struct BrioAffine {
    double volume, centre[3];
    double moment[9]; /* int (X - c)(X - c)^T dV */
    double root[9];   /* S: lower triangular */
    double point[12]; /* Y_k */
} BrioAffine;

/* Of the solid inside the mesh's triangles, which must be a closed surface that looks outward
 * (brio__mesh_close): integrals over the tets that each triangle makes with a common point. An
 * error if it is flat. */
BrioStatus brio__affine_body(const BrioMesh *mesh, BrioAffine *body, BrioError *error);
void brio__affine_weights(const BrioAffine *body, const double X[3], double w[4]);
/* The y_k for which sum_k w_k y_k is nearest to the values of a body's vertices (3 each), by least
 * squares; exact for affine motions. The weights are four per vertex. */
void brio__affine_fit(int64_t vertices, const double *weights, const double *values, double y[12]);

#endif
