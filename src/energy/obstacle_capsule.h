/* A capsule: a cylinder of radius r along its second axis with half balls at its ends; the formulas
 * are those of obstacle_round.h. */
#ifndef BRIO_OBSTACLE_CAPSULE_H
#define BRIO_OBSTACLE_CAPSULE_H

#include "obstacle_round.h"

#ifdef BRIO_KERNEL_ISA

#define capsule_table NULL

static inline void capsule_at(Solid *s, const double *table)
{
    (void)table;
    round_at(s);
}

SOLID_SHAPE(capsule, SHAPE_CONVEX)

static inline void capsule_sample(BrioRandom *random, bool outside, double *X, double *x)
{
    round_sample(random, 0.5 + 0.5 * brio__random(random), outside, X, x);
}

#define capsule_rest_shape solid_rest_shape

#else

static const BrioField capsule_fields[] = {
    {"radius", BRIO_REAL, "m", 0.25, 1e-9, 1e9, 0,
     "Radius of the cylinder and of the half balls at its ends."},
    {"height", BRIO_REAL, "m", 1, 1e-9, 1e9, 0,
     "Extent along y, half balls included, centred at the origin; at least twice the radius."},
    {0}};

static BrioStatus capsule_prepare(const double *values, double *data, BrioError *error)
{
    double radius = values[0], height = values[1];
    if (height / 2 - radius < 0)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "height = %g m is less than twice the radius = %g m", height, radius);
    data[10] = height / 2 - radius;
    data[12] = radius;
    return BRIO_OK;
}

static BrioStatus capsule_mesh(const double *rest, const double *table, BrioMesh **mesh,
                               BrioError *error)
{
    (void)table;
    return brio__obstacle_rings(rest, false, mesh, error);
}

static const BrioObstacleType capsule_type = {
    .name = "capsule",
    .summary = "a cylinder along y with half balls at its ends",
    .fields = capsule_fields,
    .prepare = capsule_prepare,
    .mesh = capsule_mesh,
};

#endif
#endif

OBSTACLE(capsule)
