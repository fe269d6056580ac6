/* A ball of radius r about its centre: the capsule of obstacle_capsule.h without a middle part. */
#ifndef BRIO_OBSTACLE_SPHERE_H
#define BRIO_OBSTACLE_SPHERE_H

#include "obstacle_round.h"

#ifdef BRIO_KERNEL_ISA

#define sphere_table NULL

static inline void sphere_at(Solid *s, const double *table)
{
    (void)table;
    round_at(s);
}

SOLID_SHAPE(sphere, SHAPE_CONVEX)

static inline void sphere_sample(BrioRandom *random, bool outside, double *X, double *x)
{
    round_sample(random, 0, outside, X, x);
}

#define sphere_rest_shape solid_rest_shape

#else

static const BrioField sphere_fields[] = {{"radius", BRIO_REAL, "m", 0.5, 1e-9, 1e9, 0,
                                           "Radius of the ball, whose centre is the origin."},
                                          {0}};

static BrioStatus sphere_prepare(const double *values, double *data, BrioError *error)
{
    (void)error;
    data[12] = values[0];
    return BRIO_OK;
}

static BrioStatus sphere_mesh(const double *rest, const double *table, BrioMesh **mesh,
                              BrioError *error)
{
    (void)table;
    return brio__obstacle_rings(rest, false, mesh, error);
}

static const BrioObstacleType sphere_type = {
    .name = "sphere",
    .summary = "a ball about the origin",
    .fields = sphere_fields,
    .prepare = sphere_prepare,
    .mesh = sphere_mesh,
};

#endif
#endif

OBSTACLE(sphere)
