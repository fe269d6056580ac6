/* Fields toward a point or an axis: a spring or the inverse square of the distance (radial.h). */
#include "radial.h"
#include "force.h"

enum { PER, LAW, STRENGTH, CENTRE, AXIS = CENTRE + 3, LENGTH = AXIS + 3, CORE, RANGE };

static double energy(const BrioForce *force, const double x[3], double time, bool project,
                     double gradient[3], double hessian[6])
{
    (void)time;
    const double *v = force->values;
    double d[3], axis[3] = {v[AXIS], v[AXIS + 1], v[AXIS + 2]};
    bool line = brio__normalise3(axis) > 0;
    brio__subtract3(x, v + CENTRE, d);
    double along = line ? brio__dot3(d, axis) : 0;
    for (int r = 0; r < 3; r++) d[r] -= along * axis[r];
    double r = brio__norm3(d);
    BrioRadial e = v[LAW] == 0 ? brio__radial_spring(v[STRENGTH], v[LENGTH], v[RANGE], r)
                               : brio__radial_inverse(v[STRENGTH], v[CORE], v[RANGE], r);
    brio__radial_space(e, d, r, line ? axis : NULL, project, gradient, hessian);
    return e.e;
}

static const BrioField fields[] = {
    BRIO_PER_FIELD(BRIO_PER_VERTEX),
    {"law", BRIO_CHOICE, "spring|inverse-square", 0, 0, 1, 0,
     "How the force depends on the distance r: k (r - length), or strength/r2."},
    {"strength", BRIO_REAL, "N/m or N m2", NAN, -1e30, 1e30, 1,
     "Stiffness k of the spring, or strength of the inverse square; positive attracts."},
    {"centre", BRIO_VECTOR, "m", 0, -1e15, 1e15, 0, "The point, or a point of the axis."},
    {"axis", BRIO_VECTOR, "", 0, -1e15, 1e15, 0,
     "Direction of the axis, any length; zero: toward the point."},
    {"length", BRIO_REAL, "m", 0, 0, 1e15, 0, "Distance at which the spring is at rest."},
    {"core", BRIO_REAL, "m", 0, 0, 1e15, 0,
     "Inside this radius the force is linear, as inside a ball of constant density."},
    {"range", BRIO_REAL, "m|infinite", INFINITY, 1e-12, 1e15, 0,
     "Distance at which the field ends; it fades as (1 - r2/range2)^2."},
    {0}};

BRIO_FORCE(radial){
    .name = "radial",
    .summary = "A field toward a point or an axis: a spring, or the inverse square of the "
               "distance.",
    .fields = fields,
    .energy = energy,
};
