/* A potential that the scene writes down: E(x, y, z, t), with derivatives by forward mode. */
#include "force.h"

#include "../vec.h"
#include "symmetric.h"

static double energy(const BrioForce *force, const double x[3], double time, bool project,
                     double gradient[3], double hessian[6])
{
    double unused[3];
    if (!gradient && !hessian) return brio__formula_value(force->formula, x, time);
    double E =
        brio__formula_derivatives(force->formula, x, time, gradient ? gradient : unused, hessian);
    if (hessian && project) brio__symmetric3_project(hessian);
    return E;
}

static const BrioField fields[] = {BRIO_PER_FIELD(BRIO_PER_VERTEX), {0}};

BRIO_FORCE(potential){
    .name = "potential",
    .summary = "A potential written as a formula of x, y, z and t in J; the force is minus its "
               "gradient.",
    .fields = fields,
    .energy = energy,
    .own_formula = true,
};
