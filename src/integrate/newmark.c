/* Newmark's family [Newmark1959]: with a = M^-1 F,
 *
 *     q' = q_n + h v_n + h^2 ((1/2 - beta) a_n + beta a'),
 *     v' = v_n + h ((1 - gamma) a_n + gamma a').
 *
 * With beta > 0 it is the primitive with the target q_n + h v_n + h^2 (1/2 - beta) a_n and
 * s = beta h^2. (1/4, 1/2) is the trapezoidal rule; gamma = 1/2 is of second order, more than that
 * damps and is of first. With beta = 0 positions are explicit: central differences, and for
 * gamma = 1/2 velocity Verlet. There damping forces at the end take the velocity v_n + h a_n, which
 * keeps the order. */
#include "integrator.h"

/* The error of a step, (1/6 - beta) h^2 (a' - a_n) in positions [Zienkiewicz1991] and, where it is
 * of first order, (gamma - 1/2) h (a' - a_n) in velocities, over the time h. `change` is
 * a' - a_n. */
static void say_error(BrioStepper *s, double h, double beta, double gamma, const double *change)
{
    if (!brio_stepper_wants_error(s)) return;
    brio_stepper_error(s, h * h * (fmax(fabs(1.0 / 6 - beta), 1.0 / 12) + gamma - 0.5), change);
}

/* beta = 0 */
static BrioStatus explicit_step(BrioStepper *s, double h, double gamma)
{
    const double *q = brio_stepper_q(s), *v = brio_stepper_v(s), t = brio_stepper_time(s);
    double *next = brio_stepper_scratch(s, 0), *velocity = brio_stepper_scratch(s, 1);
    double *a = brio_stepper_scratch(s, 2);
    double *a_end = brio_stepper_scratch(s, 3);
    double *v_end = brio_stepper_scratch(s, 4);
    brio_stepper_force(s, q, v, t, h, gamma < 1 ? 1 - gamma : BRIO_NOT_COUNTED, a);
    brio_stepper_mass_solve(s, a, a);
    brio_stepper_combine(s, 1, q, h, v, next);
    brio_stepper_combine(s, 1, next, h * h / 2, a, next);
    brio_stepper_combine(s, 1, v, h, a, v_end);
    brio_stepper_force(s, next, v_end, t + h, h, gamma, a_end);
    brio_stepper_mass_solve(s, a_end, a_end);
    brio_stepper_combine(s, 1, v, (1 - gamma) * h, a, velocity);
    brio_stepper_combine(s, 1, velocity, gamma * h, a_end, velocity);
    if (brio_stepper_wants_error(s)) brio_stepper_combine(s, 1, a_end, -1, a, a);
    say_error(s, h, 0, gamma, a);
    return brio_stepper_accept(s, h, next, velocity);
}

static BrioStatus newmark_step(BrioStepper *s, double h)
{
    const double *q = brio_stepper_q(s);
    const double *v = brio_stepper_v(s);
    const double beta = brio_stepper_value(s, "beta");
    const double gamma = brio_stepper_value(s, "gamma");
    if (beta == 0) return explicit_step(s, h, gamma);
    double *target = brio_stepper_scratch(s, 0);
    double *next = brio_stepper_scratch(s, 1);
    double *velocity = brio_stepper_scratch(s, 2);
    double *a = brio_stepper_scratch(s, 3);
    double *from = brio_stepper_scratch(s, 4);
    double rate = gamma / (beta * h);
    brio_stepper_force(s, q, v, brio_stepper_time(s), h, gamma < 1 ? 1 - gamma : BRIO_NOT_COUNTED,
                       a);
    brio_stepper_mass_solve(s, a, a);
    brio_stepper_combine(s, 1, q, h, v, target);
    brio_stepper_combine(s, 1, target, h * h * (0.5 - beta), a, target);
    /* v' = v + h (1 - gamma) a + rate (q' - target) = rate (q' - from) */
    brio_stepper_combine(s, 1, v, h * (1 - gamma), a, velocity);
    brio_stepper_combine(s, 1, target, -1 / rate, velocity, from);
    BrioObjective objective = {.target = target,
                               .s = beta * h * h,
                               .a = 1,
                               .time = brio_stepper_time(s) + h,
                               .h = h,
                               .weight = gamma,
                               .from = from,
                               .over = 1 / rate,
                               .rods_from_start = 1};
    BRIO_CHECK(brio_stepper_minimise(s, &objective, next));
    brio_stepper_combine(s, rate, next, -rate, from, velocity);
    BRIO_CHECK(brio_stepper_rattle(s, h, rate, next, velocity));
    brio_stepper_combine(s, 1, next, -1, target, from);
    brio_stepper_combine(s, 1 / (beta * h * h), from, -1, a, from);
    say_error(s, h, beta, gamma, from);
    return brio_stepper_accept(s, h, next, velocity);
}

static const BrioField fields[] = {
    {"beta", BRIO_REAL, "", 0.25, 0, 1, 0,
     "Weight of the new acceleration in the positions; 0: explicit, 0.25: the trapezoidal rule."},
    {"gamma", BRIO_REAL, "", 0.5, 0.5, 1, 0,
     "Weight of the new acceleration in the velocities; 0.5: second order; larger values damp."},
    {0}};

static BrioStatus check(const double *values, unsigned *traits, char *reason, size_t size)
{
    double beta = values[0];
    if (beta > 0 && beta < 1e-3)
        return snprintf(reason, size,
                        "beta = %g is so small that dividing by it loses all digits; 0 is the "
                        "explicit method, and 0.001 is the smallest other value",
                        beta),
               BRIO_ERROR_INPUT;
    if (beta == 0)
        *traits &= ~(unsigned)(BRIO_IMPLICIT | BRIO_END_IS_SOLVED | BRIO_TAKES_CONSTRAINTS);
    return BRIO_OK;
}

BRIO_INTEGRATOR(newmark){
    .name = "newmark",
    .summary = "The family of structural dynamics; by default the trapezoidal rule, explicit with "
               "beta = 0.",
    .citation = "Newmark1959",
    .order = 2,
    .traits = BRIO_IMPLICIT | BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_END_IS_SOLVED |
              BRIO_TAKES_CONSTRAINTS,
    .fields = fields,
    .step = newmark_step,
    .check = check,
    .estimate = BRIO_BY_ITSELF,
};

static BrioStatus verlet_step(BrioStepper *s, double h) { return explicit_step(s, h, 0.5); }

BRIO_INTEGRATOR(verlet){
    .name = "verlet",
    .summary = "Velocity Verlet: explicit, second order, symplectic, keeps momenta; stable only "
               "for short steps.",
    .citation = "Swope1982",
    .order = 2,
    .traits = BRIO_SYMPLECTIC | BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_KEEPS_ANGULAR_MOMENTUM,
    .step = verlet_step,
    .estimate = BRIO_BY_ITSELF,
};
