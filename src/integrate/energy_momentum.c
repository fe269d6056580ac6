/* The energy-momentum method [Simo1992] in the form of a discrete gradient with symmetry
 * [Gonzalez1996]: the midpoint rule with a force whose work is exactly the change of P,
 *
 *     q' - q = h (v + v')/2,    M (v' - v) = -h G,
 *     G = grad P(y) + lambda M d,    y = (q + q')/2,
 *     lambda = (P(q') - P(q) - grad P(y).(q' - q)) / d.M d,
 *
 * where d is q' - q without its rigid motion of each component at y. Then
 * G.(q' - q) = P(q') - P(q), because d.M (q' - q) = d.M d: the energy stays. And M d has neither
 * linear nor angular momentum at y: both momenta stay, as with the midpoint rule. (Gonzalez takes
 * the whole of q' - q where angular momentum need not be kept, and the strains of elements where it
 * is; d does it for any P at once.)
 *
 * For a given shift h^2/2 lambda d the step is one of the midpoint rule from another target; a
 * secant looks for the lambda that agrees with its own end. Where none is found (large steps on
 * strongly nonlinear bodies, kinks of penalty contact, motion that is hardly more than rigid) the
 * step is that of the midpoint rule: momenta stay, and the change of the energy is in the ledger's
 * remainder. If that is more than 1e-4 of the energy of the motion (`unkept`), the step is
 * rejected and tried in halves.
 *
 * A stiff body that turns by a small angle a in a step needs such steps. At both ends its strain is
 * that of a body that turns; at y, the middle of a chord, it is a^2/8 less. So the stress at y
 * differs by K a^2/8 from the mean of the ends, whatever d is, and lambda M d has to make up for
 * it: lambda ~ 1/|d|, with a direction that changes sign with the vibration. Where |d| is small no
 * lambda agrees with its own end. K a^2/8 falls with h^2, the energy that the midpoint rule then
 * gains with h^2 |d|.
 *
 * Work of points that move is booked by the ledger, and P(q') - P(q) is meant without it. The
 * ledger's alpha is h^2 lambda. */
#include "integrator.h"

/* The energy that a step may gain or lose, as a fraction of the largest kinetic energy that the
 * steps have had. */
static const double unkept = 1e-4;

enum { LARGEST }; /* a memo: that kinetic energy */
enum { TARGET, NEXT, VELOCITY, SHIFT, MIDDLE, MOMENTUM, RIGID, GRADIENT };

static BrioObjective midpoint(BrioStepper *s, double h, double weight)
{
    return (BrioObjective){.target = brio_stepper_scratch(s, TARGET),
                           .s = h * h,
                           .a = 0.5,
                           .time = brio_stepper_time(s) + h,
                           .h = h,
                           .weight = weight,
                           .blend_damping = 1};
}

/* d in the scratch vector SHIFT; returns d.M d. */
static double shape_change(BrioStepper *s, const double *q)
{
    const double *q_n = brio_stepper_q(s);
    double *d = brio_stepper_scratch(s, SHIFT), *y = brio_stepper_scratch(s, MIDDLE);
    double *p = brio_stepper_scratch(s, MOMENTUM), *rigid = brio_stepper_scratch(s, RIGID);
    brio_stepper_combine(s, 0.5, q, 0.5, q_n, y);
    brio_stepper_combine(s, 1, q, -1, q_n, d);
    brio_stepper_mass_multiply(s, d, p);
    brio_stepper_rigid(s, y, &(BrioImpulse){y, p, 1}, 1, rigid, NULL);
    brio_stepper_combine(s, 1, d, -1, rigid, d);
    brio_stepper_mass_multiply(s, d, p);
    return brio_stepper_dot(s, d, p);
}

/* grad P(y).(q' - q). */
static double midpoint_work(BrioStepper *s, double h, const double *q)
{
    double *gradient = brio_stepper_scratch(s, GRADIENT), *p = brio_stepper_scratch(s, MOMENTUM);
    BrioObjective objective = midpoint(s, h, BRIO_NOT_COUNTED);
    objective.undamped = 1;
    brio_stepper_objective_gradient(s, &objective, q, gradient);
    brio_stepper_combine(s, 1, q, -1, objective.target, p);
    brio_stepper_mass_multiply(s, p, p);
    brio_stepper_combine(s, 1, gradient, -1, p, gradient); /* h^2/2 grad P */
    brio_stepper_combine(s, 1, q, -1, brio_stepper_q(s), p);
    return brio_stepper_dot(s, gradient, p) / (h * h / 2);
}

/* What the last midpoint step, to q, says of lambda. `added`: work of what moves from outside.
 * `missed`: what the midpoint rule alone would change the energy by. */
static double slope(BrioStepper *s, double h, double start, const double *q, double *added,
                    double *missed)
{
    double dissipated, noise, square = shape_change(s, q);
    brio_stepper_work(s, q, h, added, &dissipated);
    double end = brio_stepper_evaluate(s, q, brio_stepper_time(s) + h, NULL, &noise);
    double work = midpoint_work(s, h, q), left = end - start - *added - work;
    *missed = left;
    /* round-off of a motion that is hardly more than rigid */
    if (fabs(left) <= 2 * noise + 64 * DBL_EPSILON * (fabs(start) + fabs(work))) return 0;
    return left / square;
}

/* The midpoint step with the shift of lambda and the d of the last one, into NEXT. `again`: it
 * begins at the last one. */
static BrioStatus shifted(BrioStepper *s, double h, double lambda, bool again)
{
    double *target = brio_stepper_scratch(s, TARGET), *next = brio_stepper_scratch(s, NEXT);
    BrioObjective objective = midpoint(s, h, BRIO_NOT_COUNTED);
    BrioGuess guess = {.q = next};
    if (again) objective.guess = &guess;
    brio_stepper_combine(s, 1, brio_stepper_q(s), h, brio_stepper_v(s), target);
    brio_stepper_combine(s, 1, target, -h * h / 2 * lambda, brio_stepper_scratch(s, SHIFT), target);
    return brio_stepper_minimise(s, &objective, next);
}

/* The end of the step in NEXT. */
static BrioStatus find_end(BrioStepper *s, double h, double start, double *lambda, double *added)
{
    const double *q_n = brio_stepper_q(s);
    double *next = brio_stepper_scratch(s, NEXT), *d = brio_stepper_scratch(s, SHIFT);
    double before = 0, miss_before = 0, missed;
    double tol = brio_stepper_tolerance(s, NULL);
    *lambda = 0;
    brio_stepper_combine(s, 0, q_n, 0, q_n, d);
    for (int k = 0; k < 40; k++) {
        BRIO_CHECK(shifted(s, h, *lambda, k > 0));
        double miss = slope(s, h, start, next, added, &missed) - *lambda;
        if (!isfinite(miss))
            return brio_stepper_fail(s, BRIO_STEP_REJECTED,
                                     "the end of the step is not allowed by an energy");
        if (fabs(miss) * h / 2 * brio_stepper_norm_max(s, d) <= 0.01 * tol && k > 0) return BRIO_OK;
        /* d changes too, so the first steps are simple ones */
        double rate = k > 1 ? (miss - miss_before) / (*lambda - before) : -1;
        before = *lambda;
        miss_before = miss;
        *lambda -= miss / (rate < -0.2 ? rate : -1);
    }
    *lambda = 0;
    BRIO_CHECK(shifted(s, h, 0, false));
    slope(s, h, start, next, added, &missed);
    if (fabs(missed) <= unkept * *brio_stepper_memo(s, LARGEST)) return BRIO_OK;
    return brio_stepper_fail(s, BRIO_STEP_REJECTED,
                             "no force that keeps the energy was found, and without it the step "
                             "would change the energy by more than 1e-4 of the kinetic energy: it "
                             "is too long for bodies this stiff");
}

static BrioStatus step(BrioStepper *s, double h)
{
    const double *q_n = brio_stepper_q(s), *v_n = brio_stepper_v(s);
    double *next = brio_stepper_scratch(s, NEXT), *v = brio_stepper_scratch(s, VELOCITY);
    double start = brio_stepper_potential(s, q_n, brio_stepper_time(s), NULL);
    double target = brio_stepper_target(s), lambda, added, dissipated;
    double kinetic = brio_stepper_kinetic(s, v_n), *largest = brio_stepper_memo(s, LARGEST);
    if (isnan(target)) target = start + kinetic;
    *largest = fmax(*largest, kinetic);
    BRIO_CHECK(find_end(s, h, start, &lambda, &added));
    BrioObjective objective = midpoint(s, h, 1);
    brio_stepper_count_solve(s, &objective, next);
    brio_stepper_work(s, next, h, &added, &dissipated);
    brio_stepper_set_target(s, target + added - dissipated, h * h * lambda);
    brio_stepper_combine(s, 2 / h, next, -2 / h, q_n, v);
    brio_stepper_combine(s, 1, v, -1, v_n, v);
    return brio_stepper_accept(s, h, next, v);
}

BRIO_INTEGRATOR(energy_momentum){
    .name = "energy-momentum",
    .summary =
        "Midpoint rule with a force that keeps energy and both momenta exactly, if a step has "
        "such a force.",
    .citation = "Gonzalez1996",
    .order = 2,
    .traits = BRIO_IMPLICIT | BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_KEEPS_ANGULAR_MOMENTUM |
              BRIO_ENERGY_CONTROLLED | BRIO_USES_COMPONENTS,
    .step = step,
    .estimate = BRIO_BY_DIFFERENCES,
};
