/* An integrator that controls energy, registered at run time: A-search [You2026, Algorithm 1] over
 * the theta method instead of backward Euler. With g = grad P and theta in [0.55, 1],
 *
 *     q' = q + h v - h^2 M^-1 (theta (1-theta) g(q) + theta^2 g(q')),
 *     w  = v - h M^-1 ((1-theta) g(q) + theta g(q')),
 *     v' = w - alpha d,    d = (2 theta - 1) h M^-1 (g(q) - g(q')).
 *
 * alpha = 0 is the theta method, which loses energy. alpha = 1 swaps theta and 1-theta in w: these
 * are the momenta of the adjoint method, and the step of an oscillator then keeps area. In between,
 * every step takes the alpha for which the energy P(q') + 1/2 v'.M v' meets the target
 *
 *     E' = E + added - dissipated - (1 - exp(-h/decay)) 1/2 v.M v,
 *
 * as in [Dinev2018, Eq. 37] and with `decay` for motion that should die down. d is a difference of
 * forces that act inside of bodies, so that the correction keeps linear momentum.
 *
 * In free flight d = 0, and the theta method loses (theta - 1/2) m (h g)^2 per step. So components
 * that nothing supports take the step with the velocity v - f and end with w + f,
 * f = (theta - 1/2) h g: that is their parabola, exactly.
 *
 * The program runs a scene with backward Euler and with this integrator and compares the energies.
 *
 *     cc energy_control.c -o energy_control $(pkg-config --cflags --libs brio) -lm
 *     ./energy_control energy_control.yaml */
#include <brio/brio.h>
#include <math.h>
#include <stdio.h>

/* The gradient of P where the step begins is known from the end of the step before, unless
 * something was changed from outside: a history vector, and a memo with the fingerprint. */
static double *start_gradient(BrioStepper *s)
{
    double *gradient = brio_stepper_history(s, 0);
    double now = brio_stepper_fingerprint(s, 0);
    if (*brio_stepper_memo(s, 0) != now)
        brio_stepper_potential(s, brio_stepper_q(s), brio_stepper_time(s), gradient);
    *brio_stepper_memo(s, 0) = now;
    return gradient;
}

/* The theta method from the velocities v. In: the gradient at its start. Out: q, w, P(q) and the
 * gradient at q, which the residual of the solve tells: r = M (q - target) + s (grad P + grad D).
 */
static BrioStatus theta_step(BrioStepper *s, double h, const double *v, double *gradient, double *q,
                             double *w, double *potential)
{
    double theta = brio_stepper_value(s, "theta"), size = theta * theta * h * h;
    double *start = brio_stepper_scratch(s, 0), *target = brio_stepper_scratch(s, 1);
    double *from = brio_stepper_scratch(s, 2), *residual = brio_stepper_scratch(s, 3);
    const double *q_n = brio_stepper_q(s);
    brio_stepper_combine(s, 0, q_n, 0, q_n, start); /* the damping force at the start */
    if (brio_stepper_damped(s) && theta < 1)
        brio_stepper_damping_force(s, q_n, v, h, 1 - theta, start);
    brio_stepper_combine(s, 1, start, -1, gradient, target);
    brio_stepper_mass_solve(s, target, target);
    brio_stepper_combine(s, h, v, theta * (1 - theta) * h * h, target, target);
    brio_stepper_combine(s, 1, q_n, 1, target, target);
    brio_stepper_combine(s, 1, q_n, (1 - theta) * h, v, from);
    BrioObjective objective = {.target = target,
                               .s = size,
                               .a = 1,
                               .time = brio_stepper_time(s) + h,
                               .h = h,
                               .weight = theta,
                               .from = from,
                               .over = theta * h};
    BrioSolution solution = {.residual = residual};
    BrioStatus status = brio_stepper_solve(s, &objective, q, &solution);
    if (status != BRIO_OK) return status;
    *potential = solution.potential;
    brio_stepper_combine(s, 1 / (theta * h), q, -1 / (theta * h), from, w);
    /* gradient = r/s - M (q - target)/s - grad D; what was counted of D is (1-theta) of its
     * gradient at the start, which is -start, and theta of that at q */
    brio_stepper_combine(s, 1, target, -1, q, target);
    brio_stepper_mass_multiply(s, target, target);
    brio_stepper_combine(s, 1 / size, residual, 1 / size, target, gradient);
    brio_stepper_add_damping(s, -1 / theta, gradient);
    brio_stepper_combine(s, 1, gradient, -(1 - theta) / theta, start, gradient);
    return BRIO_OK;
}

/* The root nearer 1 of excess - linear alpha + square/2 alpha^2 = 0, or where that is least; from 0
 * to a little more than 1, to gain energy back. */
static double choose_alpha(double excess, double linear, double square, double most)
{
    if (!(square > 0)) return 1;
    double least = linear / square, under = least * least - 2 * excess / square;
    double half = under > 0 ? sqrt(under) : 0;
    double alpha = fabs(least - half - 1) < fabs(least + half - 1) ? least - half : least + half;
    return fmin(fmax(alpha, 0), most);
}

static BrioStatus step(BrioStepper *s, double h)
{
    double *q = brio_stepper_scratch(s, 4), *w = brio_stepper_scratch(s, 5);
    double *d = brio_stepper_scratch(s, 6), *p = brio_stepper_scratch(s, 7);
    double *fall = brio_stepper_scratch(s, 8);
    const double *v = brio_stepper_v(s);
    double theta = brio_stepper_value(s, "theta"), decay = brio_stepper_value(s, "decay");
    double target = brio_stepper_target(s), kinetic = brio_stepper_kinetic(s, v);
    double potential, added, dissipated;
    if (isnan(target)) /* at first: the energy that there is */
        target = kinetic + brio_stepper_potential(s, brio_stepper_q(s), brio_stepper_time(s), NULL);

    double *gradient = start_gradient(s);
    brio_stepper_uniform_gradient(s, fall);
    brio_stepper_unsupported(s, gradient, -(theta - 0.5) * h, fall);
    brio_stepper_combine(s, 1, v, -1, fall, w);
    brio_stepper_combine(s, 1, gradient, 0, gradient, p);
    BrioStatus status = theta_step(s, h, w, gradient, q, d, &potential);
    if (status != BRIO_OK) return status;
    brio_stepper_combine(s, 1, d, 1, fall, w);
    brio_stepper_combine(s, (2 * theta - 1) * h, p, -(2 * theta - 1) * h, gradient, p);
    brio_stepper_mass_solve(s, p, d); /* p = M d */

    brio_stepper_work(s, q, h, &added, &dissipated);
    target += added - dissipated + expm1(-h / decay) * kinetic;
    double excess = potential + brio_stepper_kinetic(s, w) - target;
    double linear = brio_stepper_dot(s, w, p), square = brio_stepper_dot(s, d, p);
    /* theta - alpha (2 theta - 1), the weight of g(q') in v', may be 0.1 below 1-theta */
    double alpha = choose_alpha(excess, linear, square, 1 + 0.1 / (2 * theta - 1));
    brio_stepper_combine(s, 1, w, -alpha, d, w);
    /* solves with a fixed number of iterations lose energy that no alpha brings back */
    if (brio_stepper_unfinished(s))
        brio_stepper_scale(s, -(excess - alpha * linear + alpha * alpha * square / 2), 1.15, w);
    brio_stepper_set_target(s, target, alpha);
    return brio_stepper_accept_known(s, h, q, w, potential);
}

static const BrioField fields[] = {
    {"theta", BRIO_REAL, "", 0.75, 0.55, 1, 0, "Of the positions; 1: those of backward Euler."},
    {"decay", BRIO_REAL, "s|never", INFINITY, 1e-9, 1e12, 0,
     "Time in which the target loses as much as the kinetic energy."},
    {0}};

static const BrioIntegrator energy_theta = {
    .name = "energy-theta",
    .summary = "The theta method's positions with momenta that meet an energy target.",
    .citation = "You2026",
    .order = 1,
    .history = 1,
    .traits = BRIO_IMPLICIT | BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_ENERGY_CONTROLLED |
              BRIO_END_IS_SOLVED | BRIO_USES_COMPONENTS,
    .fields = fields,
    .step = step,
};

enum { BACKWARD_EULER, KEPT, DECAYING, RUNS };
static const char *const integrators[RUNS] = {"integrator=backward-euler",
                                              "integrator=energy-theta",
                                              "integrator={type: energy-theta, decay: 1}"};

/* What the steps must show. */
typedef struct Checks {
    int steps, met;    /* how many steps there were, and how many of them met the target */
    double sum, worst; /* of |energy - target|: large in impacts, when no alpha suffices */
    double unbooked;   /* of the ledger's remainder, less what the energy is off the target */
    double pushed;     /* change of the momentum along the floor, which has no friction */
} Checks;

static void check(Checks *c, const BrioLedger *first, const BrioLedger *now)
{
    double error = now->total - now->target;
    c->steps++;
    c->met += fabs(error) < 1e-9 * first->total;
    c->sum += fabs(error);
    c->worst = fmax(c->worst, fabs(error));
    c->unbooked = fmax(c->unbooked, fabs(now->remainder - error));
    c->pushed = fmax(c->pushed, fabs(now->momentum[0] - first->momentum[0]));
}

static int report(const Checks *c, const BrioLedger *first, const BrioLedger *last)
{
    double whole = first->total, mean = c->sum / c->steps / whole;
    double lost = -last[BACKWARD_EULER].remainder / whole;
    printf("energy-theta met its target in %d of %d steps; off by %.2f %% in the mean, %.0f %% at "
           "worst\n",
           c->met, c->steps, 100 * mean, 100 * c->worst / whole);
    printf("backward Euler lost %.0f %% of the energy in addition to what damping took\n",
           100 * lost);
    if (!(c->met >= 0.5 * c->steps && mean < 0.01 && lost > 0.5))
        return printf("the energy was not controlled\n"), 1;
    if (!(c->unbooked < 1e-9 * whole)) return printf("the ledger misses %g J\n", c->unbooked), 1;
    if (!(c->pushed < 1e-10 * fabs(first->momentum[0])))
        return printf("momentum changed by %g kg m/s\n", c->pushed), 1;
    if (!(last[DECAYING].target < 0.7 * last[KEPT].target))
        return printf("the energy did not decay\n"), 1;
    printf("energy controlled, ledger closed, momentum kept\n");
    return 0;
}

int main(int argc, char **argv)
{
    BrioSim *sim[RUNS];
    BrioError error = {0};
    BrioLedger first, now[RUNS];
    Checks checks = {0};
    char text[2048];
    if (brio_register_integrator(&energy_theta, &error))
        return fprintf(stderr, "%s\n", error.message), 1;
    if (argc < 2) return fprintf(stderr, "usage: energy_control SCENE\n"), 2;
    for (int i = 0; i < RUNS; i++) {
        BrioSource source = brio_default_source();
        source.name = argv[1];
        source.sets = &integrators[i];
        source.set_count = 1;
        if (brio_sim_open(&source, &sim[i], &error))
            return brio_error_text(&error, text, sizeof text), fprintf(stderr, "%s\n", text), 2;
    }
    brio_sim_ledger(sim[KEPT], &first);
    printf("energies in J:   backward Euler   energy-theta   its target   decay: 1\n");
    for (int k = 0; k <= 300; k++) {
        for (int i = 0; i < RUNS; i++)
            if ((k > 0 && brio_sim_step(sim[i], &error)) || brio_sim_ledger(sim[i], &now[i]))
                return fprintf(stderr, "%s\n", error.message), 1;
        if (k > 0) check(&checks, &first, &now[KEPT]);
        if (k > 0 && k % 50 == 0)
            printf("t = %3.1f s %21.3f %14.3f %12.3f %10.3f\n", now[KEPT].time,
                   now[BACKWARD_EULER].total, now[KEPT].total, now[KEPT].target,
                   now[DECAYING].total);
    }
    for (int i = 0; i < RUNS; i++) brio_sim_free(sim[i]);
    return report(&checks, &first, now);
}
