/* What energies between a vertex and a plane share: rest data (weight, unit normal, point), the
 * distance d = n.(x - p). */
#ifndef BRIO_PLANE_H
#define BRIO_PLANE_H

#include "../mat3_lane.h"
#include "energy.h"

/* n.y for any field y on the vertices */
static inline lane plane_along(const double *rest, vec3l y)
{
    return lane_load(rest + LANES) * y.x + lane_load(rest + 2 * LANES) * y.y +
           lane_load(rest + 3 * LANES) * y.z;
}

static inline lane plane_distance(const BrioBatch *batch, int64_t block)
{
    const double *rest = batch->rest + block * BRIO_PLANE_REST * LANES;
    vec3l p = {lane_load(rest + 4 * LANES), lane_load(rest + 5 * LANES),
               lane_load(rest + 6 * LANES)};
    return plane_along(rest, vec3l_sub(vec3l_gather(batch->x, batch->node + block * LANES), p));
}

/* X: the vertex, then the plane's point and unit normal. */
static void plane_rest_shape(const double *X, double scale, double length, double *rest)
{
    (void)length;
    rest[0] = scale;
    for (int r = 0; r < 3; r++) {
        rest[1 + r] = X[6 + r];
        rest[4 + r] = X[3 + r];
    }
}

/* Distances of 0.2 to 0.9 m and of 1.1 to 2 m. */
static void plane_sample(BrioRandom *random, double *X, double *x)
{
    double n[3], length = 0;
    for (int r = 0; r < 3; r++) {
        n[r] = brio__random_normal(random);
        length += n[r] * n[r];
        X[3 + r] = brio__random(random);
    }
    for (int k = 0; k < 2; k++) {
        double *to = k ? x : X, shift[3], d = 0.2 + 0.7 * brio__random(random), off = 0;
        if (brio__random(random) < 0.25) d += 0.9;
        for (int r = 0; r < 3; r++) {
            X[6 + r] = n[r] / sqrt(length);
            shift[r] = brio__random(random);
            off += X[6 + r] * shift[r];
        }
        for (int r = 0; r < 3; r++) to[r] = X[3 + r] + shift[r] + (d - off) * X[6 + r];
    }
}

#endif
