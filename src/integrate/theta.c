/* The theta method in its two forms [You2026, Eq. 1-2], with z = (q, v) and z' = f(z):
 *
 *     inner:  z' = z_n + h f((1-theta) z_n + theta z'),
 *     outer:  z' = z_n + h ((1-theta) f(z_n) + theta f(z')).
 *
 * Without v', and with a_n = M^-1 F(q_n, v_n),
 *
 *     inner:  q' = argmin 1/2 |q - (q_n + h v_n)|^2_M + h^2 P(theta q + (1-theta) q_n),
 *     outer:  q' = argmin 1/2 |q - (q_n + h v_n + theta (1-theta) h^2 a_n)|^2_M + theta^2 h^2 P(q),
 *
 * and v' = (q' - q_n)/(theta h) - (1-theta)/theta v_n in both. theta = 1 is backward Euler, 0
 * forward Euler, 1/2 the implicit midpoint rule (inner) or the trapezoidal rule (outer), which are
 * of second order. */
#include "integrator.h"

enum { INNER, OUTER };

static BrioStatus explicit_step(BrioStepper *s, double h)
{
    const double *q = brio_stepper_q(s), *v = brio_stepper_v(s);
    double *next = brio_stepper_scratch(s, 0), *velocity = brio_stepper_scratch(s, 1);
    brio_stepper_force(s, q, v, brio_stepper_time(s), h, 1, velocity);
    brio_stepper_mass_solve(s, velocity, velocity);
    brio_stepper_combine(s, 1, v, h, velocity, velocity);
    brio_stepper_combine(s, 1, q, h, v, next);
    return brio_stepper_accept(s, h, next, velocity);
}

static BrioStatus step(BrioStepper *s, double h)
{
    const double *q = brio_stepper_q(s);
    const double *v = brio_stepper_v(s);
    const double theta = brio_stepper_value(s, "theta");
    if (theta == 0) return explicit_step(s, h);
    double *target = brio_stepper_scratch(s, 0);
    double *next = brio_stepper_scratch(s, 1);
    double *velocity = brio_stepper_scratch(s, 2);
    double *acceleration = brio_stepper_scratch(s, 3), *from = brio_stepper_scratch(s, 4);
    BrioObjective objective = {.target = target,
                               .s = h * h,
                               .a = theta,
                               .time = brio_stepper_time(s) + h,
                               .h = h,
                               .blend_damping = 1,
                               .rods_from_start = theta < 1};
    brio_stepper_combine(s, 1, q, h, v, target);
    if (brio_stepper_value(s, "form") == OUTER) {
        objective = (BrioObjective){.target = target,
                                    .s = theta * theta * h * h,
                                    .a = 1,
                                    .time = brio_stepper_time(s) + h,
                                    .h = h,
                                    .weight = theta,
                                    /* v' = (q' - from)/(theta h) */
                                    .from = from,
                                    .over = theta * h,
                                    .rods_from_start = theta < 1};
        brio_stepper_combine(s, 1, q, (1 - theta) * h, v, from);
        if (theta < 1) {
            brio_stepper_force(s, q, v, brio_stepper_time(s), h, 1 - theta, acceleration);
            brio_stepper_mass_solve(s, acceleration, acceleration);
            brio_stepper_combine(s, 1, target, theta * (1 - theta) * h * h, acceleration, target);
        }
    }
    BRIO_CHECK(brio_stepper_minimise(s, &objective, next));
    brio_stepper_combine(s, 1 / (theta * h), next, -1 / (theta * h), q, velocity);
    brio_stepper_combine(s, 1, velocity, -(1 - theta) / theta, v, velocity);
    if (theta < 1) BRIO_CHECK(brio_stepper_rattle(s, h, 1 / (theta * h), next, velocity));
    return brio_stepper_accept(s, h, next, velocity);
}

static const BrioField fields[] = {
    {"theta", BRIO_REAL, "", 0.5, 0, 1, 0,
     "1: backward Euler, which damps most; 0.5: second order, no damping; 0: forward Euler."},
    {"form", BRIO_CHOICE, "inner|outer", INNER, 0, 1, 0,
     "inner: the force at the mean state. outer: the mean of the forces at both states."},
    {0}};

static BrioStatus check(const double *values, unsigned *traits, char *reason, size_t size)
{
    double theta = values[0], outer = values[1];
    if (theta > 0 && theta < 1e-3)
        return snprintf(reason, size,
                        "theta = %g is so small that dividing by it loses all digits; 0 is forward "
                        "Euler, and 0.001 is the smallest other value",
                        theta),
               BRIO_ERROR_INPUT;
    if (theta == 0) *traits &= ~(unsigned)(BRIO_IMPLICIT | BRIO_TAKES_CONSTRAINTS);
    if (theta == 0.5 && outer == INNER) *traits |= BRIO_SYMPLECTIC | BRIO_KEEPS_ANGULAR_MOMENTUM;
    if (theta > 0 && outer == OUTER) *traits |= BRIO_END_IS_SOLVED;
    return BRIO_OK;
}

BRIO_INTEGRATOR(theta){
    .name = "theta",
    .summary = "A weighted mean of forward and backward Euler; second order at theta = 1/2.",
    .citation = "You2026",
    .order = 2,
    .traits = BRIO_IMPLICIT | BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_TAKES_CONSTRAINTS,
    .fields = fields,
    .step = step,
    .check = check,
};
