/* The same force everywhere: E = -F.x, F_r times a formula of its own where there are three. With
 * formulas of the place it is no potential, and only -grad E = F counts. */
#include "force.h"

#include <string.h>

enum { PER, VECTOR };

static double energy(const BrioForce *force, const double x[3], double time, bool project,
                     double gradient[3], double hessian[6])
{
    (void)project;
    double F[3];
    for (int r = 0; r < 3; r++) {
        F[r] = force->values[VECTOR + r];
        if (force->formula_count == 3) F[r] *= brio__formula_value(&force->formula[r], x, time);
    }
    for (int r = 0; r < 3 && gradient; r++) gradient[r] = -F[r];
    if (hessian) memset(hessian, 0, 6 * sizeof *hessian);
    return -(F[0] * x[0] + F[1] * x[1] + F[2] * x[2]);
}

static const BrioField fields[] = {
    BRIO_PER_FIELD(BRIO_PER_VERTEX),
    {"force", BRIO_VECTOR, "N", NAN, -1e15, 1e15, 1,
     "The force; with `per` in N/kg, N/m3 or N/m2. Three formulas multiply its components."},
    {0}};

BRIO_FORCE(constant){
    .name = "constant",
    .summary = "The same force everywhere, per vertex, mass, volume, area or in total.",
    .fields = fields,
    .energy = energy,
    .three = true,
    .linear = true,
};
