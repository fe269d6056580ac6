/* What one-sided springs between a vertex and a solid obstacle share [Dinev2018, Eq. 38]. With d
 * the signed distance of the vertex from the solid (negative inside), n = grad d and C = d2d/dx2,
 *
 *     E = k/2 (d - dhat)^2    for d < dhat,    0 beyond,
 *     grad E = k (d - dhat) n,    Hessian = k (n n^T + (d - dhat) C).
 *
 * The solids are convex, so is d, C is semidefinite and C n = 0: (d - dhat) C has no positive
 * eigenvalue, and the nearest semidefinite matrix is k n n^T. */
#ifndef BRIO_PENALTY_H
#define BRIO_PENALTY_H

#include "../mat3_lane.h"
#include "energy.h"

/* A vertex in the solid's own axes, its distance there with both derivatives, and the solid. */
typedef struct Solid {
    lane axis[3][3];
    lane half[3], radius;
    lane y[3];
    lane d, n[3], C[3][3];
} Solid;

static inline Solid solid_at(const BrioBatch *batch, int64_t block)
{
    const double *rest = batch->rest + block * BRIO_SOLID_REST * LANES;
    vec3l x = vec3l_gather(batch->x, batch->node + block * LANES),
          centre = {lane_load(rest + LANES), lane_load(rest + 2 * LANES),
                    lane_load(rest + 3 * LANES)};
    vec3l out = vec3l_sub(x, centre), a[3];
    for (int i = 0; i < 2; i++)
        a[i] = (vec3l){lane_load(rest + (4 + 3 * i) * LANES), lane_load(rest + (5 + 3 * i) * LANES),
                       lane_load(rest + (6 + 3 * i) * LANES)};
    a[2] = vec3l_cross(a[0], a[1]);
    Solid s = {.radius = lane_load(rest + 13 * LANES)};
    for (int i = 0; i < 3; i++) {
        s.axis[i][0] = a[i].x;
        s.axis[i][1] = a[i].y;
        s.axis[i][2] = a[i].z;
        s.half[i] = lane_load(rest + (10 + i) * LANES);
        s.y[i] = vec3l_dot(a[i], out);
    }
    return s;
}

/* What is wanted of a block whose distance is known. */
static inline void solid_store(const BrioBatch *batch, int64_t block, const Solid *s)
{
    lane zero = lane_set(0);
    lane depth = lane_min(s->d - batch->params[1], zero);
    lane k = batch->params[0] * lane_load(batch->rest + block * BRIO_SOLID_REST * LANES);
    lane n[3];
    if (batch->distance) {
        lane_store(batch->distance + block * LANES, s->d);
        return;
    }
    if (batch->energy) batch->energy[block] = lane_sum(0.5 * k * depth * depth);
    for (int r = 0; r < 3; r++)
        n[r] = s->axis[0][r] * s->n[0] + s->axis[1][r] * s->n[1] + s->axis[2][r] * s->n[2];
    for (int r = 0; batch->gradient && r < 3; r++)
        lane_store(batch->gradient + (block * 3 + r) * LANES, k * depth * n[r]);
    if (!batch->hessian) return;
    lane stiffness = lane_select(lane_lt(depth, zero), k, zero);
    lane bend = batch->project ? zero : k * depth;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            lane curvature = zero;
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) curvature += s->axis[i][r] * s->C[i][j] * s->axis[j][c];
            lane_store(batch->hessian + ((block - batch->begin) * 9 + 3 * r + c) * LANES,
                       stiffness * n[r] * n[c] + bend * curvature);
        }
}

/* X: the vertex, then centre, two axes, half the extents, radius. */
static inline void solid_rest_shape(const double *X, double scale, double length, double *rest)
{
    (void)length;
    rest[0] = scale;
    memcpy(rest + 1, X + 3, (BRIO_SOLID_REST - 1) * sizeof *rest);
}

/* A random centre and axes; the vertex where it has the coordinates y and z in these, for the rest
 * shape and the state. */
static inline void solid_place(BrioRandom *random, const double half[3], double radius,
                               const double y[3], const double z[3], double *X, double *x)
{
    double *centre = X + 3, *a = X + 6, *b = X + 9, c[3], along = 0, length[2] = {0, 0};
    for (int r = 0; r < 3; r++) {
        centre[r] = brio__random_normal(random);
        a[r] = brio__random_normal(random);
        b[r] = brio__random_normal(random);
        length[0] += a[r] * a[r];
    }
    for (int r = 0; r < 3; r++) {
        a[r] /= sqrt(length[0]);
        along += a[r] * b[r];
    }
    for (int r = 0; r < 3; r++) {
        b[r] -= along * a[r];
        length[1] += b[r] * b[r];
    }
    for (int r = 0; r < 3; r++) b[r] /= sqrt(length[1]);
    for (int r = 0; r < 3; r++)
        c[r] = a[(r + 1) % 3] * b[(r + 2) % 3] - a[(r + 2) % 3] * b[(r + 1) % 3];
    for (int r = 0; r < 3; r++) {
        X[r] = centre[r] + y[0] * a[r] + y[1] * b[r] + y[2] * c[r];
        x[r] = centre[r] + z[0] * a[r] + z[1] * b[r] + z[2] * c[r];
        X[12 + r] = half[r];
    }
    X[15] = radius;
}

/* How far beyond a face a sample lies: 0.15 to 0.8 outside, or 0.1 to 0.4 inside. */
static inline double solid_beyond(BrioRandom *random, bool outside)
{
    return outside ? 0.15 + 0.65 * brio__random(random) : -0.1 - 0.3 * brio__random(random);
}

/* tests take dhat = 1 */
static inline bool solid_near_kink(double d) { return fabs(d - 1) < 0.07; }

/* Of planes too. */
static const BrioField penalty_fields[] = {
    {"kappa", BRIO_REAL, "N/m", 1e5, 1e-300, 1e15, 0, "Stiffness of the spring."},
    {"dhat", BRIO_REAL, "m", 0, 0, 1e15, 0, "Distance below which it acts."},
    {0}};

/* While it acts; local/global asks only then. */
static void penalty_laplacian(const double *rest, const double *params, const double *live,
                              double *weight)
{
    (void)live;
    weight[0] = params[0] * rest[0];
}

/* What the solids' descriptors have in common; a file defines eval and sample. */
#define SOLID_DESCRIPTOR                                                                           \
    .citation = "Dinev2018", .element = BRIO_ELEMENT_CONTACT, .nodes = 1, .rest = BRIO_SOLID_REST, \
    .params = 2, .fields = penalty_fields, .rest_shape = solid_rest_shape, .eval = eval,           \
    .laplacian = penalty_laplacian, .sample = sample

#endif
