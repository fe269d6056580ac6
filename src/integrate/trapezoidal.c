/* Trapezoidal rule = Newmark(1/4, 1/2): with a_n = M^-1 F(q_n, v_n),
 *
 *     q' = argmin 1/2 |q - (q_n + h v_n + h^2/4 a_n)|^2_M + h^2/4 P(q),
 *     v' = 2 (q' - q_n)/h - v_n.
 *
 * Second order; on linear systems it keeps the energy exactly [Newmark1959]. */
#include "integrator.h"

static BrioStatus step(BrioStepper *s, double h)
{
    const double *q = brio_stepper_q(s), *v = brio_stepper_v(s);
    double *target = brio_stepper_scratch(s, 0);
    double *next = brio_stepper_scratch(s, 1);
    double *velocity = brio_stepper_scratch(s, 2);
    double *acceleration = brio_stepper_scratch(s, 3), *from = brio_stepper_scratch(s, 4);
    brio_stepper_force(s, q, v, brio_stepper_time(s), h, 0.5, acceleration);
    brio_stepper_mass_solve(s, acceleration, acceleration);
    brio_stepper_combine(s, 1, q, h, v, target);
    brio_stepper_combine(s, 1, target, h * h / 4, acceleration, target);
    brio_stepper_combine(s, 1, q, h / 2, v, from); /* v' = (q' - from)/(h/2) */
    BrioObjective objective = {.target = target,
                               .s = h * h / 4,
                               .a = 1,
                               .time = brio_stepper_time(s) + h,
                               .h = h,
                               .weight = 0.5,
                               .from = from,
                               .over = h / 2,
                               .rods_from_start = 1};
    BRIO_CHECK(brio_stepper_minimise(s, &objective, next));
    brio_stepper_combine(s, 2 / h, next, -2 / h, q, velocity);
    brio_stepper_combine(s, 1, velocity, -1, v, velocity);
    BRIO_CHECK(brio_stepper_rattle(s, h, 2 / h, next, velocity));
    /* h^3/12 q''' = h^2/12 (a' - a_n), with h^2/4 a' = q' - target */
    brio_stepper_combine(s, 1.0 / 3, next, -1.0 / 3, target, from);
    brio_stepper_combine(s, 1, from, -h * h / 12, acceleration, from);
    brio_stepper_error(s, 1, from);
    return brio_stepper_accept(s, h, next, velocity);
}

BRIO_INTEGRATOR(trapezoidal){
    .name = "trapezoidal",
    .summary = "No damping; exact for free fall; may ring or blow up at large steps.",
    .citation = "Newmark1959",
    .order = 2,
    .traits = BRIO_IMPLICIT | BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_END_IS_SOLVED |
              BRIO_TAKES_CONSTRAINTS,
    .step = step,
    .estimate = BRIO_BY_ITSELF,
};
