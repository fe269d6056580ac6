/* Implicit midpoint: q' = argmin 1/2 |q - (q_n + h v_n)|^2_M + h^2 P((q + q_n)/2),
 * v' = 2 (q' - q_n)/h - v_n. Second order, symplectic, keeps linear and angular momentum; not
 * stable at large steps on nonlinear systems [Hairer2006; Dinev2018, Eq. 14-17]. Angular momentum
 * changes by h sum y x f with y = (q + q')/2: damping forces belong to that pose too. */
#include "integrator.h"

static BrioStatus step(BrioStepper *s, double h)
{
    const double *q = brio_stepper_q(s), *v = brio_stepper_v(s);
    double *target = brio_stepper_scratch(s, 0);
    double *next = brio_stepper_scratch(s, 1);
    double *velocity = brio_stepper_scratch(s, 2);
    brio_stepper_combine(s, 1, q, h, v, target);
    BrioObjective objective = {.target = target,
                               .s = h * h,
                               .a = 0.5,
                               .time = brio_stepper_time(s) + h,
                               .h = h,
                               .blend_damping = 1,
                               .rods_from_start = 1};
    BRIO_CHECK(brio_stepper_minimise(s, &objective, next));
    brio_stepper_combine(s, 2 / h, next, -2 / h, q, velocity);
    brio_stepper_combine(s, 1, velocity, -1, v, velocity);
    BRIO_CHECK(brio_stepper_rattle(s, h, 2 / h, next, velocity));
    return brio_stepper_accept(s, h, next, velocity);
}

BRIO_INTEGRATOR(implicit_midpoint){
    .name = "implicit-midpoint",
    .summary = "Keeps momenta, no damping; may blow up at large steps.",
    .citation = "Hairer2006",
    .order = 2,
    .traits = BRIO_IMPLICIT | BRIO_SYMPLECTIC | BRIO_KEEPS_LINEAR_MOMENTUM |
              BRIO_KEEPS_ANGULAR_MOMENTUM | BRIO_TAKES_CONSTRAINTS,
    .step = step,
    .estimate = BRIO_BY_DIFFERENCES,
};
