/* Generalized-alpha [Chung1993] and HHT-alpha [Hilber1977]: Newmark's formulas for q' and v' with
 * the balance of forces between the ends,
 *
 *     M ((1-alpha_m) a' + alpha_m a_n) = F(y, w),
 *     y = (1-alpha_f) q' + alpha_f q_n,    w = (1-alpha_f) v' + alpha_f v_n.
 *
 * Without a' it is the primitive with a = 1 - alpha_f, s a = beta h^2/(1-alpha_m) and the target
 *
 *     q_n + h v_n + h^2 (1/2 - beta - beta alpha_m/(1-alpha_m)) a_n.
 *
 * gamma = 1/2 - alpha_m + alpha_f makes it second order, beta = (1 - alpha_m + alpha_f)^2/4
 * unconditionally stable on linear systems. The acceleration a is no force over mass of the end
 * state but a quantity of its own: history.
 *
 * Damping is booked with the force of this step, though a fraction of the velocity change comes
 * from a_n, which holds those of earlier steps; the difference is in the ledger's remainder. */
#include "integrator.h"

typedef struct Alphas {
    double m, f; /* alpha_m, alpha_f */
} Alphas;

static BrioStatus advance(BrioStepper *s, Alphas alpha, double h)
{
    const double *q = brio_stepper_q(s), *v = brio_stepper_v(s);
    double *target = brio_stepper_scratch(s, 0);
    double *next = brio_stepper_scratch(s, 1);
    double *velocity = brio_stepper_scratch(s, 2);
    double *a_end = brio_stepper_scratch(s, 3);
    double *from = brio_stepper_scratch(s, 4);
    double *a = brio_stepper_history(s, 0);
    double gamma = 0.5 - alpha.m + alpha.f;
    double beta = (1 - alpha.m + alpha.f) * (1 - alpha.m + alpha.f) / 4;
    double mix = 1 - alpha.f;
    if (brio_stepper_history_used(s) == 0) {
        brio_stepper_force(s, q, v, brio_stepper_time(s), h, BRIO_NOT_COUNTED, a);
        brio_stepper_mass_solve(s, a, a);
    }
    brio_stepper_combine(s, 1, q, h, v, target);
    brio_stepper_combine(s, 1, target, h * h * (0.5 - beta - beta * alpha.m / (1 - alpha.m)), a,
                         target);

    /* v' = rate q' + known, so w = mix rate (q' - from) */
    double rate = gamma / (beta * h);
    brio_stepper_combine(s, -rate, q, 1 - gamma / beta, v, velocity);
    brio_stepper_combine(s, 1, velocity, h * (1 - gamma / (2 * beta)), a, velocity);
    brio_stepper_combine(s, -1 / rate, velocity, -alpha.f / (mix * rate), v, from);
    BrioObjective objective = {.target = target,
                               .s = beta * h * h / ((1 - alpha.m) * mix),
                               .a = mix,
                               .time = brio_stepper_time(s) + h,
                               .h = h,
                               .from = from,
                               .over = 1 / (mix * rate)};
    BRIO_CHECK(brio_stepper_minimise(s, &objective, next));

    brio_stepper_combine(s, 1 / (beta * h * h), next, -1 / (beta * h * h), q, a_end);
    brio_stepper_combine(s, 1, a_end, -1 / (beta * h), v, a_end);
    brio_stepper_combine(s, 1, a_end, 1 - 0.5 / beta, a, a_end);
    brio_stepper_combine(s, 1, v, h * (1 - gamma), a, velocity);
    brio_stepper_combine(s, 1, velocity, h * gamma, a_end, velocity);
    /* (1/6 - beta) h^2 (a' - a_n) [Zienkiewicz1991] */
    brio_stepper_combine(s, 1, a_end, -1, a, from);
    brio_stepper_error(s, h * h * fmax(fabs(1.0 / 6 - beta), 1.0 / 12), from);
    brio_stepper_combine(s, 1, a_end, 0, a_end, a);
    brio_stepper_set_history_used(s, 1);
    return brio_stepper_accept(s, h, next, velocity);
}

static BrioStatus generalized_step(BrioStepper *s, double h)
{
    double rho = brio_stepper_value(s, "rho_inf");
    return advance(s, (Alphas){.m = (2 * rho - 1) / (rho + 1), .f = rho / (rho + 1)}, h);
}

static const BrioField generalized_fields[] = {
    {"rho_inf", BRIO_REAL, "", 0.8, 0, 1, 0,
     "Fraction of an unresolved vibration that a step leaves: 1 all, 0 nothing."},
    {0}};

BRIO_INTEGRATOR(generalized_alpha){
    .name = "generalized-alpha",
    .summary =
        "Second order with adjustable damping of fast vibrations and minimal damping of slow ones.",
    .citation = "Chung1993",
    .order = 2,
    .history = 1,
    .traits = BRIO_IMPLICIT | BRIO_KEEPS_LINEAR_MOMENTUM,
    .fields = generalized_fields,
    .step = generalized_step,
    .estimate = BRIO_BY_ITSELF,
};

static BrioStatus hht_step(BrioStepper *s, double h)
{
    return advance(s, (Alphas){.f = -brio_stepper_value(s, "alpha")}, h);
}

static const BrioField hht_fields[] = {
    {"alpha", BRIO_REAL, "", -0.1, -1.0 / 3, 0, 0,
     "-1/3 damps fast vibrations most; 0: the trapezoidal rule, which does not damp."},
    {0}};

BRIO_INTEGRATOR(hht_alpha){
    .name = "hht-alpha",
    .summary =
        "Second order with damping of fast vibrations: the older relative of generalized-alpha.",
    .citation = "Hilber1977",
    .order = 2,
    .history = 1,
    .traits = BRIO_IMPLICIT | BRIO_KEEPS_LINEAR_MOMENTUM,
    .fields = hht_fields,
    .step = hht_step,
    .estimate = BRIO_BY_ITSELF,
};
