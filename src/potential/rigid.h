/* Rigid motions of components (components.h) and the momenta that belong to them.
 *
 * Components that nothing holds have them: no element and no constraint ties these to vertices
 * without coordinates or to the world. What elements and constraints do inside of one has neither
 * linear nor angular momentum at the pose where it acts. */
#ifndef BRIO_RIGID_H
#define BRIO_RIGID_H

#include "components.h"

typedef struct BrioRigid {
    const BrioComponents *components;
    double *row;    /* sums over components */
    bool *isolated; /* components: room */
} BrioRigid;

BrioStatus brio__rigid_create(const BrioComponents *components, BrioRigid **rigid);
void brio__rigid_free(BrioRigid *rigid);

/* brio_stepper_rigid */
void brio__rigid_motion(const BrioRigid *rigid, const double *q, const BrioImpulse *impulse,
                        int count, double *v, double *a);
/* brio_stepper_rigid_way */
void brio__rigid_way(const BrioRigid *rigid, const double *q, const double *p, double time,
                     double *way);
/* The step bent so that components turn instead of stretching: `way` = t step, with the rotation
 * that is part of it, by the angle t w, as a finite one. w is that of the rigid motion with the
 * momenta of the step. Components that something holds turn about the axis of that motion, which is
 * the one that holds them if they hang on a hinge. */
void brio__rigid_bend(const BrioRigid *rigid, const double *q, const double *step, double t,
                      double *way);
/* brio_stepper_isolated, with the gradient of weight */
void brio__rigid_isolated(const BrioRigid *rigid, const double *weight, const BrioImpulse *gradient,
                          int count, const double *from, double *to);

/* w with I w = L. Along a direction without inertia (of a body on a line) there is no w. */
void brio__solve_inertia(double I[3][3], const double L[3], double w[3]);

#endif
