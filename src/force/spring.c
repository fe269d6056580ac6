/* Springs from vertices to a point that may follow a path: E = k/2 (|x - p(t)| - L)^2. */
#include "radial.h"
#include "force.h"

enum { K, LENGTH, POINT };

static double energy(const BrioForce *force, const double x[3], double time, bool project,
                     double gradient[3], double hessian[6])
{
    const double *v = force->values;
    double p[3] = {v[POINT], v[POINT + 1], v[POINT + 2]}, d[3], L = v[LENGTH];
    if (force->path_count) brio__force_between(force->path, force->path_count, 3, time, p);
    brio__subtract3(x, p, d);
    double r = brio__norm3(d);
    BrioRadial e = {v[K] / 2 * (r - L) * (r - L), v[K] * (r - L), v[K]};
    brio__radial_space(e, d, r, NULL, project, gradient, hessian);
    return e.e;
}

static const BrioField fields[] = {
    {"k", BRIO_REAL, "N/m", 1000, 0, 1e15, 0, "Stiffness of each spring."},
    {"length", BRIO_REAL, "m", 0, 0, 1e15, 0, "Length at rest."},
    {"point", BRIO_VECTOR, "m", 0, -1e15, 1e15, 0,
     "Point that the springs pull to; a path moves "
     "it."},
    {0}};

BRIO_FORCE(spring){
    .name = "spring",
    .summary = "A spring from each vertex to a point that may follow a path.",
    .fields = fields,
    .energy = energy,
    .path = true,
};
