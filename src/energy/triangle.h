/* Triangles of shells: what their materials share.
 *
 * F = D_s D_m^-1 (3 x 2) is the deformation gradient of a linear triangle: D_s has the edges
 * x1 - x0 and x2 - x0 in its columns, D_m those of the rest shape in a frame of its plane, whose
 * first axis (the warp of cloth) is the x axis projected into the plane, or the z axis where the
 * plane stands across x. The energy is W = A psi(F) with psi in J/m2: stiffnesses are in N/m.
 *
 * Pretension. A sheet that is stretched by p in all directions in the given shape has the rest
 * shape D_m/p of area A/p^2: rest data hold A/p^2 and p D_m^-1. */
#ifndef BRIO_TRIANGLE_H
#define BRIO_TRIANGLE_H

#include "../mat3_lane.h"
#include "energy.h"

enum { TRIANGLE_REST = 5 }; /* area, D_m^-1 row by row */

typedef struct Triangle {
    lane area;
    lane B[2][2]; /* row i: the gradient of the weight of node i+1 */
} Triangle;

typedef struct Gradient {
    lane m[3][2];
} Gradient;

static inline Triangle triangle_rest(const BrioBatch *batch, int64_t pack)
{
    const double *rest = batch->rest + pack * TRIANGLE_REST * LANES;
    Triangle t = {.area = lane_load(rest)};
    for (int k = 0; k < 4; k++) t.B[k / 2][k % 2] = lane_load(rest + (k + 1) * LANES);
    return t;
}

/* F for y = x, its change for y = dx. */
static inline Gradient triangle_gradient(const BrioBatch *batch, int64_t pack, const double *y,
                                         const Triangle *t)
{
    const int32_t *node = batch->node + pack * 3 * LANES;
    vec3l origin = vec3l_gather(y, node), a = vec3l_sub(vec3l_gather(y, node + LANES), origin),
          b = vec3l_sub(vec3l_gather(y, node + 2 * LANES), origin);
    Gradient F;
    for (int j = 0; j < 2; j++) {
        F.m[0][j] = a.x * t->B[0][j] + b.x * t->B[1][j];
        F.m[1][j] = a.y * t->B[0][j] + b.y * t->B[1][j];
        F.m[2][j] = a.z * t->B[0][j] + b.z * t->B[1][j];
    }
    return F;
}

/* The forces of A P, P = dpsi/dF. */
static inline void triangle_forces(const BrioBatch *batch, int64_t pack, const Triangle *t,
                                   const lane P[3][2])
{
    double *g = batch->gradient + pack * 9 * LANES;
    for (int r = 0; r < 3; r++) {
        lane first = t->area * (P[r][0] * t->B[0][0] + P[r][1] * t->B[0][1]);
        lane second = t->area * (P[r][0] * t->B[1][0] + P[r][1] * t->B[1][1]);
        lane_store(g + r * LANES, -(first + second));
        lane_store(g + (3 + r) * LANES, first);
        lane_store(g + (6 + r) * LANES, second);
    }
}

/* c/2 |dF|^2 of a triangle. */
static inline void triangle_laplacian(const double *rest, double c, double *weight)
{
    double b[3][2];
    for (int j = 0; j < 2; j++) {
        b[1][j] = rest[1 + j];
        b[2][j] = rest[3 + j];
        b[0][j] = -(b[1][j] + b[2][j]);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++)
            weight[brio__pair(i, j)] = rest[0] * c * (b[i][0] * b[j][0] + b[i][1] * b[j][1]);
}

/* Stores the Hessian from its blocks (1,1), (2,1), (2,2): those of node 0 follow, since the rows
 * add up to nothing. */
static inline void triangle_store_hessian(const BrioBatch *batch, int64_t pack, const mat3l h[3])
{
    double *H = batch->hessian + (pack - batch->begin) * 54 * LANES;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            /* (1,0) and (2,0) */
            lane first = -(h[0].m[r][c] + h[1].m[c][r]), second = -(h[1].m[r][c] + h[2].m[r][c]);
            lane transposed = -(h[0].m[c][r] + h[1].m[r][c]);
            lane other = -(h[1].m[c][r] + h[2].m[c][r]);
            lane_store(H + (3 * r + c) * LANES, -0.5 * (first + second + transposed + other));
            lane_store(H + (brio__pair(1, 0) * 9 + 3 * r + c) * LANES, first);
            lane_store(H + (brio__pair(1, 1) * 9 + 3 * r + c) * LANES, h[0].m[r][c]);
            lane_store(H + (brio__pair(2, 0) * 9 + 3 * r + c) * LANES, second);
            lane_store(H + (brio__pair(2, 1) * 9 + 3 * r + c) * LANES, h[1].m[r][c]);
            lane_store(H + (brio__pair(2, 2) * 9 + 3 * r + c) * LANES, h[2].m[r][c]);
        }
}

/* `length` is the stretch p of the given shape (NAN: 1). A triangle without area gets the weight
 * 0. */
static void triangle_rest_shape(const double *X, double scale, double length, double *rest)
{
    double a[3], b[3], n[3], u[3] = {0}, w[3], p = isnan(length) ? 1 : length;
    for (int r = 0; r < 3; r++) {
        a[r] = X[3 + r] - X[r];
        b[r] = X[6 + r] - X[r];
    }
    for (int r = 0; r < 3; r++)
        n[r] = a[(r + 1) % 3] * b[(r + 2) % 3] - a[(r + 2) % 3] * b[(r + 1) % 3];
    double twice = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    memset(rest, 0, TRIANGLE_REST * sizeof *rest);
    if (!(twice > 0)) return;
    for (int r = 0; r < 3; r++) n[r] /= twice;
    int axis = fabs(n[0]) < 0.999 ? 0 : 2;
    double across = sqrt((1 - n[axis]) * (1 + n[axis]));
    for (int r = 0; r < 3; r++) u[r] = ((r == axis) - n[axis] * n[r]) / across;
    for (int r = 0; r < 3; r++)
        w[r] = n[(r + 1) % 3] * u[(r + 2) % 3] - n[(r + 2) % 3] * u[(r + 1) % 3];
    double D[2][2] = {{0}};
    for (int r = 0; r < 3; r++) {
        D[0][0] += u[r] * a[r];
        D[0][1] += u[r] * b[r];
        D[1][0] += w[r] * a[r];
        D[1][1] += w[r] * b[r];
    }
    rest[0] = scale * twice / 2 / (p * p);
    rest[1] = p * D[1][1] / twice;
    rest[2] = -p * D[0][1] / twice;
    rest[3] = -p * D[1][0] / twice;
    rest[4] = p * D[0][0] / twice;
}

static double triangle_magnitude(const double *rest) { return rest[0]; }

/* A triangle of random shape and orientation, and a random state: stretches about 0.4 to 1.8,
 * turned. */
static void triangle_sample(BrioRandom *random, double *X, double *x)
{
    double F[9], rest[TRIANGLE_REST], now[TRIANGLE_REST];
    do {
        for (int k = 0; k < 9; k++) X[k] = brio__random(random);
        triangle_rest_shape(X, 1, NAN, rest);
    } while (!(rest[0] > 0.1));
    do {
        for (int k = 0; k < 9; k++) F[k] = (k % 4 == 0) + 0.35 * brio__random_normal(random);
        for (int v = 0; v < 3; v++)
            for (int r = 0; r < 3; r++)
                x[3 * v + r] =
                    F[3 * r] * X[3 * v] + F[3 * r + 1] * X[3 * v + 1] + F[3 * r + 2] * X[3 * v + 2];
        triangle_rest_shape(x, 1, NAN, now);
    } while (!(now[0] > 0.3 * rest[0]));
}

#endif
