/* Symplectic Euler: v' = v_n - h M^-1 grad P(q_n), q' = q_n + h v'. First order, explicit,
 * symplectic; stable for h below 2 over the highest frequency [Hairer2006]. */
#include "integrator.h"

static BrioStatus step(BrioStepper *s, double h)
{
    double *next = brio_stepper_scratch(s, 0), *velocity = brio_stepper_scratch(s, 1);
    brio_stepper_force(s, brio_stepper_q(s), brio_stepper_v(s), brio_stepper_time(s), h, 1,
                       velocity);
    brio_stepper_mass_solve(s, velocity, velocity);
    brio_stepper_combine(s, 1, brio_stepper_v(s), h, velocity, velocity);
    brio_stepper_combine(s, 1, brio_stepper_q(s), h, velocity, next);
    return brio_stepper_accept(s, h, next, velocity);
}

BRIO_INTEGRATOR(symplectic_euler){
    .name = "symplectic-euler",
    .summary = "The cheapest step; keeps momenta, stable only for short steps.",
    .citation = "Hairer2006",
    .order = 1,
    .traits = BRIO_SYMPLECTIC | BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_KEEPS_ANGULAR_MOMENTUM,
    .step = step,
    .estimate = BRIO_BY_DIFFERENCES,
};
