/* Linearly implicit Euler [Baraff1998]: one Newton step of backward Euler from q_n, however good
 * that is,
 *
 *     (M + h^2 K + h C) (q' - q_n) = h M v_n + h^2 F(q_n),      v' = (q' - q_n)/h,
 *
 * with K the projected Hessian of P and C that of damping, at q_n. One linear solve a step; of
 * first order; the end may be where forces are huge, since nobody looks. Where some states are
 * forbidden (barriers, elements that must not invert), somebody does: that much of q' - q_n is
 * taken as is allowed and lowers the objective of backward Euler. */
#include "integrator.h"

static BrioStatus step(BrioStepper *s, double h)
{
    const double *q = brio_stepper_q(s), *v = brio_stepper_v(s);
    double *target = brio_stepper_scratch(s, 0);
    double *next = brio_stepper_scratch(s, 1);
    double *velocity = brio_stepper_scratch(s, 2);
    brio_stepper_combine(s, 1, q, h, v, target);
    BRIO_CHECK(brio_stepper_minimise(s,
                                     &(BrioObjective){.target = target,
                                                      .s = h * h,
                                                      .a = 1,
                                                      .time = brio_stepper_time(s) + h,
                                                      .h = h,
                                                      .linear = 1},
                                     next));
    brio_stepper_combine(s, 1 / h, next, -1 / h, q, velocity);
    return brio_stepper_accept(s, h, next, velocity);
}

BRIO_INTEGRATOR(linearly_implicit_euler){
    .name = "linearly-implicit-euler",
    .summary =
        "Backward Euler with one linear solve per step; damps, may overshoot at large steps.",
    .citation = "Baraff1998",
    .order = 1,
    .traits = BRIO_IMPLICIT | BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_END_IS_SOLVED | BRIO_LINEARISED,
    .step = step,
    .estimate = BRIO_BY_DIFFERENCES,
};
