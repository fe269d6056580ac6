/* No motion: every step is the static equilibrium, argmin P(q), of that instant (fixed vertices may
 * move). */
#include "integrator.h"

static BrioStatus step(BrioStepper *s, double h)
{
    double *next = brio_stepper_scratch(s, 0), *velocity = brio_stepper_scratch(s, 1);
    BRIO_CHECK(brio_stepper_minimise(
        s,
        &(BrioObjective){.s = 1, .a = 1, .time = brio_stepper_time(s) + h, .h = h, .massless = 2},
        next));
    brio_stepper_combine(s, 0, next, 0, next, velocity);
    return brio_stepper_accept(s, h, next, velocity);
}

BRIO_INTEGRATOR(static){
    .name = "static",
    .summary = "No motion: static equilibrium at every instant.",
    .citation = "Teran2005",
    .traits = BRIO_IMPLICIT | BRIO_END_IS_SOLVED,
    .step = step,
    .estimate = BRIO_NO_ESTIMATE,
};
