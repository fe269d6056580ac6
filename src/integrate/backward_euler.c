/* Backward Euler: q' = argmin 1/2 |q - (q_n + h v_n)|^2_M + h^2 P(q), v' = (q' - q_n)/h. First
 * order, never raises the energy of a convex potential, damps every vibration that a step does not
 * resolve [Hairer2006]. */
#include "integrator.h"

static BrioStatus step(BrioStepper *s, double h)
{
    const double *q = brio_stepper_q(s), *v = brio_stepper_v(s);
    double *target = brio_stepper_scratch(s, 0);
    double *next = brio_stepper_scratch(s, 1);
    double *velocity = brio_stepper_scratch(s, 2);
    brio_stepper_combine(s, 1, q, h, v, target);
    BRIO_CHECK(brio_stepper_minimise(
        s,
        &(BrioObjective){
            .target = target, .s = h * h, .a = 1, .time = brio_stepper_time(s) + h, .h = h},
        next));
    brio_stepper_combine(s, 1 / h, next, -1 / h, q, velocity);
    return brio_stepper_accept(s, h, next, velocity);
}

BRIO_INTEGRATOR(backward_euler){
    .name = "backward-euler",
    .summary = "Robust at any step. Damps everything that moves faster than the step.",
    .citation = "Baraff1998",
    .order = 1,
    .traits = BRIO_IMPLICIT | BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_DISSIPATIVE | BRIO_END_IS_SOLVED |
              BRIO_TAKES_CONSTRAINTS,
    .step = step,
    .estimate = BRIO_BY_DIFFERENCES,
};
