/* A plane with the point p and the unit normal n: d = n.(x - p). */
#ifndef BRIO_OBSTACLE_PLANE_H
#define BRIO_OBSTACLE_PLANE_H

#include "obstacle.h"

#ifdef BRIO_KERNEL_ISA

enum { plane_rest = BRIO_PLANE_REST };
#define plane_table NULL

static inline Distance plane_distance(const double *rest, const double *table, vec3l x, bool curved)
{
    (void)table, (void)curved;
    vec3l p = {lane_load(rest + 4 * LANES), lane_load(rest + 5 * LANES),
               lane_load(rest + 6 * LANES)};
    vec3l n = {lane_load(rest + LANES), lane_load(rest + 2 * LANES), lane_load(rest + 3 * LANES)};
    return (Distance){.d = vec3l_dot(n, vec3l_sub(x, p)), .n = n};
}

static const Shape plane_shape = {SHAPE_FLAT, BRIO_PLANE_REST, plane_distance};

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
static inline void plane_sample(BrioRandom *random, bool outside, double *X, double *x)
{
    (void)outside;
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

#else

static const BrioField plane_fields[] = {
    {"point", BRIO_VECTOR, "m", 0, -1e15, 1e15, 0, "A point of the plane."},
    {"normal", BRIO_VECTOR, "", NAN, -1e300, 1e300, 1,
     "Points to the side where bodies are; any "
     "length."},
    {0}};

static BrioStatus plane_prepare(const double *values, double *data, BrioError *error)
{
    const double *point = values, *normal = values + 3;
    double length = hypot(hypot(normal[0], normal[1]), normal[2]);
    if (!(length > 0) || isinf(length))
        return brio__error(
            error, BRIO_ERROR_INPUT,
            "the normal [%g, %g, %g] of a plane must have a finite length other than zero",
            normal[0], normal[1], normal[2]);
    for (int r = 0; r < 3; r++) {
        data[r] = point[r];
        data[3 + r] = normal[r] / length;
        if (!isfinite(point[r]))
            return brio__error(error, BRIO_ERROR_INPUT, "the point of a plane is not finite");
    }
    return BRIO_OK;
}

static const BrioObstacleType plane_type = {
    .name = "plane",
    .summary = "a plane; bodies are on the side that its normal points to",
    .fields = plane_fields,
    .prepare = plane_prepare,
};

#endif
#endif

OBSTACLE(plane)
