/* The registry of obstacles with a formula (energy/obstacle.h, energy/obstacles.def), and what a
 * builder and a drawing need of them. */
#ifndef BRIO_CONTACT_OBSTACLE_H
#define BRIO_CONTACT_OBSTACLE_H

#include "../energy/obstacle.h"

const BrioObstacleType *brio__obstacle_type_at(int i); /* NULL past the last */
const BrioObstacleType *brio__obstacle_type(const char *name);

enum { BRIO_OBSTACLE_DATA = BRIO_SOLID_REST - 1 };

/* What rest_shape takes after the vertex, from values of the type's fields and a placement X ->
 * linear X + translate, row by row, where linear is a rotation. Planes are placed by their
 * fields. */
BrioStatus brio__obstacle_place(const BrioObstacleType *type, const double *values,
                                const double linear[9], const double translate[3],
                                double data[BRIO_OBSTACLE_DATA], BrioError *error);

#endif
