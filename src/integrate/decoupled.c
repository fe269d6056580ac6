/* Decoupled methods [You2026]: positions of a Runge-Kutta method Phi, momenta mixed with those of
 * its adjoint Phi*,
 *
 *     (q', w) = Phi(q, v),    v' = w - alpha dv,
 *     dv = h M^-1 sum_i b_i (grad P(Q*_i) - grad P(Q_i)),
 *
 * with the stages Q of Phi and Q* of Phi*. For backward Euler dv = h M^-1 (grad P(q) - grad P(q')).
 * alpha = 0 is Phi itself; alpha = 1 is linearly symplectic for every Phi (Thm. 4.1) and, over
 * backward Euler, stable at every step: A-1. Here Phi is backward Euler; over other tableaus see
 * the end of this file. A-search chooses alpha in every step so that the
 * energy meets its target (Algorithm 1). Damping is part of Phi's solve and never of dv.
 *
 * In free flight dv = 0, so that no alpha changes anything, and the positions of backward Euler are
 * exactly those of the parabola whose velocity at the end of a step is w + h g/2. H(q, w), which
 * the paper measures, then loses m (h g)^2/2 in every step, and the search puts that back as
 * vibration. A-search therefore treats the part of the force that is the same everywhere, M g,
 * exactly: it is the same method for the velocities v + h g/2,
 *
 *     (q', w) = Phi(q, v - h g/2),    v' = w + h g/2 - alpha dv,
 *
 * whose state (q, v) is that of the parabola at any h. What lies or hangs at rest would have
 * v = h g/2 that way, so each component takes its fraction of h g/2 by how far nothing carries it
 * (components.h). `flight: false` is the paper's form.
 *
 * Friction has to follow the normal forces N. Those of both ends push with the weights alpha and
 * 1 - alpha, while the solve has friction of the end alone. Then Coulomb's law does not hold for
 * the impulses of a step, and two things go wrong. Where bodies bounce, alpha and the change of N
 * go together, and the difference does not average out. And even with alpha = 1 the modes of a
 * body that slides may gain energy. Without velocities the method is then
 *
 *     q_n+1 - 2 q_n + q_n-1 = -h^2 M^-1 (g_n+1 - g_n + g_n-1 + F_n+1),    g = grad P,
 *
 * where friction F is a step ahead of the filtered forces that push. So friction of the start minus
 * that of the end is added to dv, for the same slide u of the step:
 *
 *     F = -mu ((1 - alpha) N' + alpha N_n) f0'(|u|) u/|u|.
 *
 * Both then have the same filter, and a sliding body whose modes do not grow has none that grow
 * by the method. F takes energy as long as the brackets are positive, which they are for alpha <=
 * 1; for larger ones A-search takes as much of the difference as leaves it so. Its work is booked
 * with the weight alpha. And what friction holds does not fly. A-1 knows its alpha before the
 * solve, which therefore has the friction of N_n itself: where N_n is large and a body light, the
 * solve makes it stick, while an impulse added later would throw it back.
 *
 * Steps of A-1 may become shorter where they fail and are halved. On m x'' = -k x, z^2 = h^2 k/m,
 * A-1 is symplectic Euler with the mass m (1 + z^2),
 *
 *     v' = v - h k/m x,    x' = x + h v'/(1 + z^2),    (1 + z^2) w = v',
 *
 * and keeps I_h = v^2/(1 + z^2) + k/m (x^2 - h x v/(1 + z^2)). So v of stiff modes is large and
 * moves little. With a shorter step from the same v it moves much: I grows by up to
 * (1 + z^2)/(1 + z'^2) each time. A step that is shorter than the one before therefore starts from
 * w, the velocity that the positions have. With m I_h = m (1 + z^2) w^2 + k (x^2 - h x w) of the
 * longer step, I then grows by at most 4/3 (where w = h k x/(2 m (1 + z^2))), and mostly falls.
 * From the same v, longer steps have no such growth.
 *
 * Solves that end early hold what sticks by a force (damping/hold.c) that the body answers. dv has
 * the answer, grad P, so it must have that force as well: on a vertex of 10 mg that holds by 0.1 N,
 * alpha of the one without the other is a velocity of 100 m/s. There friction is a part of the
 * force that acted, of this step and of the one before. What it takes is that of the solve.
 *
 * Forces have their torques about the poses at which they act. The formulas above see the momentum
 * M v and the forces of the start from the pose of the end, so that alpha, which is chosen for the
 * energy, may turn vibration into spin and back. With `momentum` A-search adds to w and takes
 * from dv the rigid rotations of each free component (c0 and c1) with which every w - alpha dv has
 * the angular momentum about the centre of mass
 *
 *     S' = S + h ((1 - alpha) sum r' x F' + alpha sum r x F_n),
 *
 * and free components keep theirs to round-off. The energy is still a quadratic in alpha
 * (docs/results.md).
 *
 * What a solve leaves unbalanced is a force R that acted too,
 * M (w - v)/h = R - grad P(q') - grad D. Without R, dv would take h^2 K times the solver's last
 * correction for a change of force: a noise in the stiff modes. So grad P stands for grad P - R in
 * dv; R of the step before is kept. */
#include "tableau.h"

#include "brio/by_body.h"

/* ---- the target and its alpha ------------------------------------------------------------ */

/* The energy of w - alpha dv is H(alpha) = P + 1/2 |w|^2 - alpha linear + alpha^2 square / 2. */

/* Round-off of a difference of energies, as a fraction of these: each is a sum of many rounded
 * terms. */
static const double ROUND_OFF = 1e-12;

/* The root nearer 1 of H(alpha) = target, without cancellation; the vertex of the parabola if there
 * is none. */
static double root_of(double excess, double linear, double square)
{
    if (!(square > 0)) return 1;
    double vertex = linear / square, under = vertex * vertex - 2 * excess / square;
    if (!(under > 0)) return vertex;
    double far = vertex + (vertex > 0 ? 1 : -1) * sqrt(under);
    double near = far != 0 ? 2 * excess / square / far : 0;
    return fabs(near - 1) < fabs(far - 1) ? near : far;
}

/* That root within min and max. Where no alpha can change the energy by more than its round-off
 * (free flight, rest), dv is noise and its root would be, too: there alpha is `max` if energy is
 * missing, `min` if there is too much of it, and 1 if neither is the case beyond round-off. */
static double alpha_of(const BrioSearch *s)
{
    double far_end = fmax(fabs(s->min), fabs(s->max)), noise = ROUND_OFF * s->scale;
    double reach = far_end * fabs(s->linear) + far_end * far_end * s->square / 2;
    double alpha = root_of(s->excess, s->linear, s->square);
    if (!(s->square > 0) || reach <= noise)
        alpha = s->excess < -noise ? s->max : s->excess > noise ? s->min : 1;
    return fmin(fmax(alpha, s->min), s->max);
}

/* Energy that decay leads to, the value `ground`; `rest` is found once and kept in two memos. */
static BrioStatus ground_level(BrioStepper *s, int known, int level, double *ground)
{
    double *is_known = brio_stepper_memo(s, known);
    double *memo = brio_stepper_memo(s, level);
    double *q = brio_stepper_scratch(s, 3);
    *ground = brio_stepper_value(s, "ground");
    if (*ground != INFINITY) return BRIO_OK;
    if (*is_known == 0) {
        double t = brio_stepper_time(s);
        BRIO_CHECK(brio_stepper_minimise(
            s, &(BrioObjective){.s = 1, .a = 1, .time = t, .h = 1, .massless = 1}, q));
        *memo = brio_stepper_potential(s, q, t, NULL);
        *is_known = 1;
    }
    *ground = *memo;
    return BRIO_OK;
}

/* The target of the step before; in the first step `energy_scale` of the energy above the ground.
 */
static double target_at_start(BrioStepper *s, double ground)
{
    double target = brio_stepper_target(s);
    if (!isnan(target)) return target;
    double first = brio_stepper_kinetic(s, brio_stepper_v(s)) +
                   brio_stepper_potential(s, brio_stepper_q(s), brio_stepper_time(s), NULL);
    return ground + brio_stepper_value(s, "energy_scale") * (first - ground);
}

/* ---- over backward Euler ---------------------------------------------------------------- */

/* memos: steps in a row on one side of the target (its sign says which), the ground, with which
 * parameters the forces that acted are known */
enum { STREAK, GROUND_KNOWN, GROUND, ACTED_WITH };

/* Over backward Euler. Four vectors are kept: what acted at q_n, grad P(q_n) - R_n; R_n, from
 * which the first is made again where parameters have changed since; friction that sticks;
 * of A-search grad D, and with a fixed alpha w - v of the step before. */
enum { ACTED, LEFT, STICKING, RUBBED, MIXED = RUBBED };

static const double *acted_at_start(BrioStepper *s)
{
    double *acted = brio_stepper_history(s, ACTED);
    double *left = brio_stepper_history(s, LEFT);
    double *known = brio_stepper_memo(s, ACTED_WITH);
    double now = brio_stepper_fingerprint(s, 0);
    if (*known == now) return acted;
    if (*known == 0) {
        double *sticking = brio_stepper_history(s, STICKING);
        brio_stepper_combine(s, 0, left, 0, left, left);
        brio_stepper_combine(s, 0, sticking, 0, sticking, sticking);
    }
    brio_stepper_potential(s, brio_stepper_q(s), brio_stepper_time(s), acted);
    brio_stepper_combine(s, 1, acted, -1, left, acted);
    *known = now;
    return acted;
}

static BrioObjective euler_objective(BrioStepper *s, double h, const double *target)
{
    return (BrioObjective){
        .target = target, .s = h * h, .a = 1, .time = brio_stepper_time(s) + h, .h = h};
}

/* A step of backward Euler from the velocities v, which may be those of the state or others. The
 * forces that acted in it need no evaluation: M (q' - target) + h^2 (grad P + grad D - R) = 0.
 * `acted`: those at its start; `early`: friction has the normal forces of the start, too. p = M dv.
 * `potential`: P(q'). */
static BrioStatus euler(BrioStepper *s, double h, const double *v, const double *acted, bool early,
                        double *q, double *w, double *dv, double *p, double *potential)
{
    double *target = brio_stepper_scratch(s, 3);
    const double *q_n = brio_stepper_q(s);
    BrioSolution solution = {0};
    BrioObjective objective = euler_objective(s, h, target);
    objective.keeps_friction = early && !brio_stepper_unfinished(s);
    brio_stepper_combine(s, 1, q_n, h, v, target);
    BRIO_CHECK(brio_stepper_solve(s, &objective, q, &solution));
    *potential = solution.potential;
    brio_stepper_combine(s, 1 / h, q, -1 / h, q_n, w);
    brio_stepper_combine(s, -1 / (h * h), q, 1 / (h * h), target, target);
    brio_stepper_mass_multiply(s, target, target);
    brio_stepper_add_damping(s, -1, target);
    brio_stepper_combine(s, h, acted, -h, target, p);
    brio_stepper_combine(s, 1, target, 0, target, brio_stepper_history(s, ACTED));
    brio_stepper_residual(s, brio_stepper_history(s, LEFT));
    if (brio_stepper_sticking_friction(s, target)) {
        double *sticking = brio_stepper_history(s, STICKING);
        brio_stepper_combine(s, h, sticking, 1, p, p);
        brio_stepper_combine(s, -h, target, 1, p, p);
        brio_stepper_combine(s, 1, target, 0, target, sticking);
    }
    brio_stepper_mass_solve(s, p, dv);
    return BRIO_OK;
}

/* Velocities that constraints allow at q: then every w - alpha dv is one. p = M dv. */
static BrioStatus hold(BrioStepper *s, double h, const double *q, double *w, double *dv, double *p)
{
    double time = brio_stepper_time(s) + h;
    if (brio_stepper_rods(s) == 0) return BRIO_OK;
    BRIO_CHECK(brio_stepper_fit_velocities(s, q, time, w));
    BRIO_CHECK(brio_stepper_fit_velocities(s, q, time, dv));
    brio_stepper_mass_multiply(s, dv, p);
    return BRIO_OK;
}

static BrioStatus correct(BrioStepper *s, double h, double alpha, const double *q, double *w,
                          const double *dv)
{
    brio_stepper_combine(s, 1, w, -alpha, dv, w);
    return brio_stepper_accept(s, h, q, w);
}

/* Over backward Euler. */
static BrioStatus mixed_euler(BrioStepper *s, double h, double alpha, double *q, double *w,
                              double *dv)
{
    double *mixed = brio_stepper_history(s, MIXED);
    double *v = brio_stepper_scratch(s, 6);
    double *p = brio_stepper_scratch(s, 5);
    double potential;
    if (*brio_stepper_memo(s, ACTED_WITH) == 0) brio_stepper_combine(s, 0, mixed, 0, mixed, mixed);
    bool shorter = h < (1 - 1e-9) * brio_stepper_last_h(s);
    brio_stepper_combine(s, 1, brio_stepper_v(s), shorter, mixed, v);
    BRIO_CHECK(euler(s, h, v, acted_at_start(s), alpha == 1, q, w, dv, p, &potential));
    BRIO_CHECK(hold(s, h, q, w, dv, p));
    brio_stepper_combine(s, alpha, dv, 0, dv, mixed);
    return BRIO_OK;
}

static BrioStatus fixed_step(BrioStepper *s, double h, double alpha)
{
    double *q = brio_stepper_scratch(s, 0);
    double *w = brio_stepper_scratch(s, 1);
    double *dv = brio_stepper_scratch(s, 2);
    BRIO_CHECK(mixed_euler(s, h, alpha, q, w, dv));
    brio_stepper_set_target(s, NAN, alpha);
    return correct(s, h, alpha, q, w, dv);
}

static BrioStatus a1_step(BrioStepper *s, double h) { return fixed_step(s, h, 1); }

BRIO_INTEGRATOR(a_1){
    .name = "a-1",
    .summary = "Positions of backward Euler, momenta of forward Euler: almost no damping, no "
               "blow-up; energy drifts slowly.",
    .citation = "You2026",
    .order = 1,
    .history = 4,
    .traits = BRIO_IMPLICIT | BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_END_IS_SOLVED |
              BRIO_TAKES_CONSTRAINTS,
    .step = a1_step,
    .estimate = BRIO_BY_DIFFERENCES,
};

/* ---- A-search --------------------------------------------------------------------------- */

static const BrioField search_fields[] = {
    {"alpha_min", BRIO_REAL, "", 0, -10, 10, 0,
     "Minimum of alpha: 0 can dissipate as much as backward Euler."},
    {"alpha_max", BRIO_REAL, "", 1.1, -10, 10, 0,
     "Maximum of alpha: slightly above 1 it can regain energy."},
    {"energy_scale", BRIO_REAL, "", 1, 0, 10, 0,
     "Initial target above the ground level, as a fraction of the initial energy above it."},
    {"decay", BRIO_LIST, "s", 0, 1e-9, 1e12, 0,
     "Time in which the energy above the ground falls to 1/e; or [[t, tau], ...]: tau from time t "
     "on."},
    {"ground", BRIO_REAL, "J|rest", 0, -1e300, 1e300, 0,
     "Energy that the decay approaches; rest: the potential of the settled scene."},
    {"sparse", BRIO_BOOLEAN, "", 0, 0, 1, 0,
     "Search only in the third consecutive step on the same side of the target; otherwise alpha = "
     "1."},
    {"alpha", BRIO_REAL, "", NAN, -10, 10, 0,
     "A fixed alpha instead of the search, to study stability; uses the paper's form."},
    {"flight", BRIO_BOOLEAN, "", 1, 0, 1, 0,
     "Treats the weight of unsupported parts exactly, so that free flight keeps its energy. "
     "false: the paper's form, which loses m (h g)^2/2 per step of flight."},
    {"gain", BRIO_REAL, "", NAN, 1, 10, 0,
     "Where alpha does not suffice, a step may scale velocities by up to this factor; alpha is "
     "then at most 1. Default: 1.15 with the solver local-global, whose unfinished solves lose "
     "and gain energy, otherwise 1 (never)."},
    {"momentum", BRIO_BOOLEAN, "", NAN, 0, 1, 0,
     "Keeps the angular momentum of free components and balances it with the torques of contacts. "
     "false: the paper's form, which may turn vibration into spin and back. Default: true; false "
     "with the solver local-global."},
    {"by_body", BRIO_BOOLEAN, "", NAN, 0, 1, 0,
     "An alpha and a target for each body instead of one for all. Energy that passes through "
     "contacts counts on both sides. Default: true if a body has a decay or an energy_scale of "
     "its own."},
    {0}};

static BrioStatus search_check(const double *values, unsigned *traits, char *reason, size_t size)
{
    const double *decay = values + 3, *after = decay + 1 + BRIO_MAX_LIST;
    double sparse = after[1], fixed = after[2], momentum = after[5], by_body = after[6];
    if (!isnan(fixed) || momentum == 0) *traits &= ~(unsigned)BRIO_KEEPS_ANGULAR_MOMENTUM;
    int count = (int)decay[0];
    if (by_body == 1 && sparse != 0)
        return snprintf(reason, size,
                        "sparse counts the steps of all bodies together: remove "
                        "sparse or by_body"),
               BRIO_ERROR_INPUT;
    if (values[0] > values[1])
        return snprintf(reason, size, "alpha_min = %g is more than alpha_max = %g", values[0],
                        values[1]),
               BRIO_ERROR_INPUT;
    if (count > 1 && count % 2)
        return snprintf(reason, size, "decay is one time, or pairs [t, tau]; it has %d numbers",
                        count),
               BRIO_ERROR_INPUT;
    for (int k = 2; k + 1 < count; k += 2)
        if (!(decay[1 + k] > decay[1 + k - 2]))
            return snprintf(reason, size, "the times of decay must grow: %g s comes after %g s",
                            decay[1 + k], decay[k - 1]),
                   BRIO_ERROR_INPUT;
    return BRIO_OK;
}

/* The integral of 1/tau over the step. */
static double decay_exponent(BrioStepper *s, double h)
{
    int count;
    const double *decay = brio_stepper_list(s, "decay", &count);
    double t = brio_stepper_time(s), sum = 0;
    if (count == 1) return h / decay[0];
    for (int k = 0; k < count; k += 2) {
        double from = fmax(t, decay[k]), to = k + 2 < count ? fmin(t + h, decay[k + 2]) : t + h;
        if (to > from) sum += (to - from) / decay[k + 1];
    }
    return sum;
}

/* The damping forces of the first step, by a solve for them alone: what friction holds does not
 * fly. */
static BrioStatus first_damping(BrioStepper *s, double h, bool flight, double *q, double *damping)
{
    double *target = brio_stepper_scratch(s, 3);
    BrioObjective objective = {.target = target,
                               .s = h * h,
                               .a = 1,
                               .time = brio_stepper_time(s) + h,
                               .h = h,
                               .weight = BRIO_NOT_COUNTED};
    brio_stepper_combine(s, 0, damping, 0, damping, damping);
    if (!flight || !brio_stepper_damped(s)) return BRIO_OK;
    brio_stepper_combine(s, 1, brio_stepper_q(s), h, brio_stepper_v(s), target);
    BRIO_CHECK(brio_stepper_minimise(s, &objective, q));
    objective.weight = 1;
    brio_stepper_count_damping(s, &objective, q);
    brio_stepper_add_damping(s, 1, damping);
    brio_stepper_discard_damping(s);
    return BRIO_OK;
}

/* ---- momenta ---------------------------------------------------------------------------- */

/* scratch vectors: h g/2 of what flies; the force that acted at q_n, grad P there and at the end;
 * the velocities that the solve starts from, what turning adds to w and to dv; room */
enum { FALL = 4, FORCE_N = 7, GRADIENT_N, GRADIENT, STARTED, TURN_W, TURN };
enum { BEFORE = TURN + 1, AFTER, OTHER, MOTION };

static bool keeps_momentum(BrioStepper *s)
{
    double momentum = brio_stepper_value(s, "momentum");
    return isnan(momentum) ? !brio_stepper_unfinished(s) : momentum != 0;
}

/* Before the history is that of the end. What the first of solves that end early knows of q_n is
 * not used (search_solve). */
static void keep_start(BrioStepper *s, const double *acted, bool unused)
{
    double *force = brio_stepper_scratch(s, FORCE_N);
    double *gradient = brio_stepper_scratch(s, GRADIENT_N);
    bool sticks = brio_stepper_unfinished(s) && !unused;
    brio_stepper_combine(s, !unused, acted, sticks, brio_stepper_history(s, STICKING), force);
    brio_stepper_combine(s, 1, acted, 1, brio_stepper_history(s, LEFT), gradient);
}

/* Velocities to start from instead of v, so that backward Euler takes a rigid body that turns to
 * where it is after h, with the forces that this needs: with the way x(h) of such a body,
 * q_n + h started + h^2 a' = q_n + x(h), where a' = (x(2h) - 2 x(h))/h^2 is the acceleration of the
 * end. There its velocity is x(2h)/(2h), up to a rotation that the balance corrects, and not
 * x(h)/h. The acceleration at q_n is (x(h) + x(-h))/h^2, and h (a' - a_n) is no part of dv. */
static const double *start_turning(BrioStepper *s, double h, const double *v)
{
    double *p = brio_stepper_scratch(s, BEFORE), *rigid = brio_stepper_scratch(s, MOTION);
    double *way = brio_stepper_scratch(s, TURN_W), *twice = brio_stepper_scratch(s, AFTER);
    double *back = brio_stepper_scratch(s, OTHER), *turn = brio_stepper_scratch(s, TURN);
    double *started = brio_stepper_scratch(s, STARTED);
    const double *q = brio_stepper_q(s);
    if (brio_stepper_unfinished(s)) { /* such solves do not come to that end */
        brio_stepper_combine(s, 0, v, 0, v, turn);
        brio_stepper_combine(s, 0, v, 0, v, way);
        brio_stepper_combine(s, 1, v, 0, v, started);
        return started;
    }
    brio_stepper_mass_multiply(s, brio_stepper_v(s), p);
    brio_stepper_rigid(s, q, &(BrioImpulse){q, p, 1}, 1, rigid, NULL);
    brio_stepper_rigid_way(s, q, p, h, way);
    brio_stepper_rigid_way(s, q, p, 2 * h, twice);
    brio_stepper_rigid_way(s, q, p, -h, back);
    brio_stepper_combine(s, 1 / h, twice, -3 / h, way, turn);
    brio_stepper_combine(s, 1, turn, -1 / h, back, turn);
    brio_stepper_combine(s, 3 / h, way, -1 / h, twice, started);
    brio_stepper_combine(s, 1, started, -1, rigid, started);
    brio_stepper_combine(s, 1, started, 1, v, started);
    brio_stepper_combine(s, 0.5 / h, twice, -1 / h, way, way);
    return started;
}

/* w with what turning adds, and with the rigid motions with which it has the momenta at the start
 * and those that the forces of the end, M (w - started)/h, give about q'. On components that only
 * weight and damping act on, what the solve left over does not count. */
static void balance_velocity(BrioStepper *s, double h, const double *q, double *w)
{
    double *before = brio_stepper_scratch(s, BEFORE), *after = brio_stepper_scratch(s, AFTER);
    double *other = brio_stepper_scratch(s, OTHER), *motion = brio_stepper_scratch(s, MOTION);
    double *gradient = brio_stepper_scratch(s, GRADIENT), *given = motion;
    const double *turn = brio_stepper_scratch(s, TURN_W);
    const BrioImpulse impulse[2] = {{brio_stepper_q(s), before, 1}, {q, after, -1}};
    const BrioImpulse outside = {q, gradient, 1};
    brio_stepper_mass_multiply(s, brio_stepper_v(s), before);
    brio_stepper_combine(s, 1, brio_stepper_scratch(s, STARTED), 1, turn, after);
    if (brio_stepper_value(s, "flight") != 0)
        brio_stepper_combine(s, 1, after, 1, brio_stepper_scratch(s, FALL), after);
    brio_stepper_mass_multiply(s, after, after);
    brio_stepper_combine(s, 1, w, 1, turn, w);
    brio_stepper_uniform_gradient(s, given);
    brio_stepper_combine(s, h, given, h, brio_stepper_history(s, RUBBED), given);
    brio_stepper_mass_multiply(s, w, other);
    brio_stepper_combine(s, 1, other, 1, given, other);
    brio_stepper_combine(s, 1, brio_stepper_history(s, ACTED), 1, brio_stepper_history(s, LEFT),
                         gradient);
    brio_stepper_isolated(s, &outside, 1, other, after);
    brio_stepper_rigid(s, q, impulse, 2, motion, NULL);
    brio_stepper_combine(s, 1, w, 1, motion, w);
}

/* dv without what turning changes of forces, and with the rigid motions with which it has the
 * momenta of the forces of the end, about q', less those of the start, about q_n. p = M dv. */
static void balance_change(BrioStepper *s, double h, const double *q, double *dv, double *p)
{
    double *before = brio_stepper_scratch(s, BEFORE), *after = brio_stepper_scratch(s, AFTER);
    double *other = brio_stepper_scratch(s, OTHER), *motion = brio_stepper_scratch(s, MOTION);
    const double *force = brio_stepper_scratch(s, FORCE_N), *turn = brio_stepper_scratch(s, TURN);
    const BrioImpulse outside[2] = {{q, brio_stepper_scratch(s, GRADIENT), 1},
                                    {brio_stepper_q(s), brio_stepper_scratch(s, GRADIENT_N), 1}};
    const BrioImpulse impulse[2] = {{brio_stepper_q(s), before, 1}, {q, after, -1}};
    brio_stepper_combine(s, 1, dv, -1, turn, dv);
    brio_stepper_mass_multiply(s, dv, p);
    brio_stepper_combine(s, h, force, 0, force, before);
    brio_stepper_mass_multiply(s, turn, after);
    brio_stepper_combine(s, h, force, -1, after, after);
    brio_stepper_combine(s, 0, other, 0, other, other);
    brio_stepper_isolated(s, outside, 2, other, before);
    brio_stepper_isolated(s, outside, 2, p, after);
    brio_stepper_rigid(s, q, impulse, 2, motion, NULL);
    brio_stepper_combine(s, 1, dv, 1, motion, dv);
    brio_stepper_mass_multiply(s, dv, p);
}

/* Adds the kinetic energy `missing` by scaling what is no rigid motion by up to `gain`. */
static void scale_shape(BrioStepper *s, double missing, double gain, const double *q, double *v)
{
    double *rigid = brio_stepper_scratch(s, MOTION), *momentum = brio_stepper_scratch(s, AFTER);
    brio_stepper_mass_multiply(s, v, momentum);
    brio_stepper_rigid(s, q, &(BrioImpulse){q, momentum, 1}, 1, rigid, NULL);
    brio_stepper_combine(s, 1, v, -1, rigid, v);
    double moving = brio_stepper_kinetic(s, v);
    double factor = moving > 0 ? sqrt(fmax(1 + missing / moving, 0)) : 1;
    brio_stepper_combine(s, fmin(fmax(factor, 1 / gain), gain), v, 1, rigid, v);
}

/* Backward Euler's step with what A-search chooses from: w, dv, M dv and P at its end. */
static BrioStatus search_solve(BrioStepper *s, double h, double *q, double *w, double *dv,
                               double *p, double *potential)
{
    bool first_solve = *brio_stepper_memo(s, ACTED_WITH) == 0 && brio_stepper_unfinished(s);
    bool flight = brio_stepper_value(s, "flight") != 0;
    bool momentum = keeps_momentum(s);
    double *rubbed = brio_stepper_history(s, RUBBED);
    if (*brio_stepper_memo(s, ACTED_WITH) == 0) BRIO_CHECK(first_damping(s, h, flight, q, rubbed));
    const double *acted = acted_at_start(s), *v = brio_stepper_v(s);
    double *fall = brio_stepper_scratch(s, FALL), *slower = brio_stepper_scratch(s, 6);
    /* h g/2 of what flies, g being M^-1 times the force that is the same everywhere */
    if (flight) {
        brio_stepper_uniform_gradient(s, fall);
        /* friction carries too */
        brio_stepper_combine(s, 1, acted, 1, rubbed, slower);
        brio_stepper_unsupported(s, slower, -h / 2, fall);
        brio_stepper_combine(s, 1, v, -1, fall, slower);
        v = slower;
    }
    if (momentum) {
        keep_start(s, acted, first_solve);
        v = start_turning(s, h, v);
    }
    BRIO_CHECK(euler(s, h, v, acted, false, q, w, dv, p, potential));
    brio_stepper_combine(s, 0, rubbed, 0, rubbed, rubbed);
    brio_stepper_add_damping(s, 1, rubbed);
    /* what the solves do not resolve is in grad P(q_0), and in no force that acts later */
    if (first_solve) {
        brio_stepper_combine(s, 0, dv, 0, dv, dv);
        brio_stepper_combine(s, 0, p, 0, p, p);
    }
    if (flight) brio_stepper_combine(s, 1, w, 1, fall, w);
    return BRIO_OK;
}

/* Counts with a weight what friction changes by alpha. */
static void count_rub(BrioStepper *s, double h, const double *q, double weight)
{
    BrioObjective objective = euler_objective(s, h, NULL);
    brio_stepper_count_friction(s, &objective, q, weight, brio_stepper_scratch(s, 3));
}

/* Adds what friction changes by alpha to dv and p = M dv; returns the work of it that is dissipated
 * with alpha = 1. `fraction`: how much of the change is taken, so that with no alpha up to
 * alpha_max friction gives energy back. */
static double rub(BrioStepper *s, double h, const double *q, double *dv, double *p,
                  double dissipated, double *fraction)
{
    double *f = brio_stepper_scratch(s, 3), added, all;
    if (brio_stepper_sticking_friction(s, f)) return 0; /* dv has it */
    BrioObjective objective = euler_objective(s, h, NULL);
    if (!brio_stepper_friction_shift(s, &objective, q, f)) return 0;
    count_rub(s, h, q, 1);
    brio_stepper_work(s, q, h, &added, &all);
    count_rub(s, h, q, -1);
    double change = all - dissipated, limit = -brio_stepper_value(s, "alpha_max") * change;
    *fraction = dissipated < limit ? fmax(dissipated, 0) / limit : 1;
    brio_stepper_combine(s, 1, p, -h * *fraction, f, p);
    brio_stepper_mass_solve(s, p, dv);
    return *fraction * change;
}

/* Whether a sparse search takes alpha = 1 in this step; `excess` is the error of the energy then.
 */
static bool skips(BrioStepper *s, double excess)
{
    if (brio_stepper_value(s, "sparse") == 0) return false;
    double *streak = brio_stepper_memo(s, STREAK), side = excess > 0 ? 1 : -1;
    *streak = *streak * side > 0 ? *streak + side : side;
    if (fabs(*streak) < 3) return true;
    *streak = 0;
    return false;
}

static BrioStatus search_step(BrioStepper *s, double h)
{
    double fixed = brio_stepper_value(s, "alpha");
    if (!isnan(fixed)) return fixed_step(s, h, fixed);
    double *q = brio_stepper_scratch(s, 0);
    double *w = brio_stepper_scratch(s, 1);
    double *dv = brio_stepper_scratch(s, 2);
    double *p = brio_stepper_scratch(s, 5);
    double ground, potential, added, dissipated;
    BRIO_CHECK(ground_level(s, GROUND_KNOWN, GROUND, &ground));
    double target = target_at_start(s, ground);
    BRIO_CHECK(search_solve(s, h, q, w, dv, p, &potential));
    brio_stepper_work(s, q, h, &added, &dissipated);
    double keeps = exp(-decay_exponent(s, h));
    target = ground + keeps * (target + added - dissipated - ground);
    double fraction = 0, rubbed = rub(s, h, q, dv, p, dissipated, &fraction);
    bool momentum = keeps_momentum(s);
    if (momentum) {
        balance_velocity(s, h, q, w);
        balance_change(s, h, q, dv, p);
    }
    BRIO_CHECK(hold(s, h, q, w, dv, p));
    double min = brio_stepper_value(s, "alpha_min"), max = brio_stepper_value(s, "alpha_max");
    if (brio_stepper_by_body(s))
        return brio_stepper_end_by_body(
            s, &(BrioByBody){h, q, w, dv, p, fraction, keeps, min, max, alpha_of});
    double square = brio_stepper_dot(s, dv, p), linear = brio_stepper_dot(s, w, p);
    linear -= keeps * rubbed;
    double kinetic = brio_stepper_kinetic(s, w);
    double excess = potential + kinetic - target; /* of alpha = 0 */
    double gain = brio_stepper_value(s, "gain");
    if (isnan(gain)) gain = brio_stepper_unfinished(s) ? 1.15 : 1;
    /* more would go into motion that the solves do not resolve */
    if (gain > 1) max = fmin(max, 1);
    double alpha = alpha_of(&(BrioSearch){.excess = excess,
                                          .linear = linear,
                                          .square = square,
                                          .scale = kinetic + fabs(potential) + fabs(target),
                                          .min = fmin(min, max),
                                          .max = max});
    if (skips(s, excess - linear + square / 2)) alpha = 1;
    target -= alpha * keeps * rubbed;
    if (rubbed != 0) count_rub(s, h, q, alpha * fraction);
    brio_stepper_set_target(s, target, alpha);
    if (gain > 1) {
        brio_stepper_combine(s, 1, w, -alpha, dv, w);
        double missing = -(excess - alpha * linear + alpha * alpha * square / 2);
        if (momentum)
            scale_shape(s, missing, gain, q, w);
        else
            brio_stepper_scale(s, missing, gain, w);
        return brio_stepper_accept(s, h, q, w);
    }
    return correct(s, h, alpha, q, w, dv);
}

BRIO_INTEGRATOR(a_search){
    .name = "a-search",
    .summary = "Backward Euler's positions with momenta that meet an energy target: lively at "
               "large steps, with a decay that you set.",
    .citation = "You2026",
    .order = 1,
    .history = BRIO_BY_BODY + BRIO_BY_BODY_VECTORS,
    .traits = BRIO_IMPLICIT | BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_KEEPS_ANGULAR_MOMENTUM |
              BRIO_ENERGY_CONTROLLED | BRIO_END_IS_SOLVED | BRIO_USES_COMPONENTS |
              BRIO_TAKES_CONSTRAINTS,
    .fields = search_fields,
    .step = search_step,
    .check = search_check,
    .estimate = BRIO_BY_DIFFERENCES,
};

/* ---- over any tableau ------------------------------------------------------------------- */

/* If Phi is of order p, so is Phi*, and dv = O(h^(p+1)): every bounded alpha leaves the order p. So
 * `alpha: search`, which chooses alpha in every step so that H(q', v') is the target, has the order
 * of its tableau; over backward Euler it is A-search as the paper prints it. Phi of order two and
 * more follows the parabola of free flight exactly, so that nothing has to be done about weight.
 *
 * The adjoint of a method solved stage by stage is one itself only if a_ij = b_j for i > j, which
 * SDIRK2 has; else its stages are solved together (pair.c). Its poses give forces only: those of
 * the body are Phi's. */
static const BrioField decoupled_fields[] = {
    {"tableau", BRIO_CHOICE, BRIO_TABLEAU_CHOICE, 8, 0, 64, 0,
     "The method Phi; `own` takes A and b."},
    {"A", BRIO_LIST, "", 0, -100, 100, 0, "The matrix of your own tableau, row by row."},
    {"b", BRIO_LIST, "", 0, -100, 100, 0, "The weights of its stages."},
    {"alpha", BRIO_REAL, "|search", 1, -10, 10, 0,
     "0: Phi itself; 1: the decoupled symplectic method; search: in every step so that the energy "
     "meets its target."},
    {"adjoint", BRIO_CHOICE, "symmetric|symplectic", 0, 0, 1, 0,
     "Phi*: the symmetric adjoint of the paper, or the symplectic one."},
    {"alpha_min", BRIO_REAL, "", 0, -10, 10, 0, "Minimum alpha of the search."},
    {"alpha_max", BRIO_REAL, "", 1.1, -10, 10, 0, "Maximum alpha of the search."},
    {"energy_scale", BRIO_REAL, "", 1, 0, 10, 0,
     "Initial target above the ground level, as a fraction of the initial energy above it."},
    {"decay", BRIO_REAL, "s", NAN, 1e-9, 1e12, 0,
     "Time in which the target above the ground falls to 1/e; absent: never."},
    {"ground", BRIO_REAL, "J|rest", 0, -1e300, 1e300, 0,
     "Energy that the decay approaches; rest: the potential of the settled scene."},
    {0}};

/* Where the fields stand that the checks read. */
enum { ALPHA = 3 + 2 * BRIO_MAX_LIST, ADJOINT, ALPHA_MIN, ALPHA_MAX };

/* Phi and its adjoint; whether the latter is solved stage by stage by the former's code. */
typedef struct Methods {
    BrioTableau phi, adjoint;
    bool plain;
} Methods;

static BrioStatus choose(const double *values, Methods *m, char *reason, size_t size)
{
    BRIO_CHECK(brio__tableau_choose(values, &m->phi, reason, size));
    if (values[ADJOINT] != 0)
        BRIO_CHECK(brio__tableau_symplectic_adjoint(&m->phi, &m->adjoint, reason, size));
    else
        m->adjoint = brio__tableau_adjoint(&m->phi);
    m->plain = brio__tableau_is_diagonal(&m->adjoint);
    return BRIO_OK;
}

static BrioStatus decoupled_check(const double *values, unsigned *traits, char *reason, size_t size)
{
    Methods m;
    BRIO_CHECK(choose(values, &m, reason, size));
    if (values[ALPHA_MIN] > values[ALPHA_MAX]) {
        snprintf(reason, size, "alpha_min = %g is more than alpha_max = %g", values[ALPHA_MIN],
                 values[ALPHA_MAX]);
        return BRIO_ERROR_INPUT;
    }
    if (!brio__tableau_is_stiffly_accurate(&m.phi)) *traits &= ~(unsigned)BRIO_END_IS_SOLVED;
    if (values[ALPHA] == INFINITY) *traits |= BRIO_ENERGY_CONTROLLED;
    return BRIO_OK;
}

/* (q', w) and dv. */
static BrioStatus predict(BrioStepper *s, const Methods *m, double h, double *q, double *w,
                          double *dv)
{
    double *slope = brio_stepper_scratch(s, 3);
    double *unused_q = brio_stepper_scratch(s, 4);
    double *unused_v = brio_stepper_scratch(s, 5);
    BRIO_CHECK(brio__tableau_step(
        s,
        &(BrioTableauStep){.tableau = &m->phi, .h = h, .weight = 1, .scratch = 6, .slope = slope},
        q, w));
    if (m->plain) {
        BRIO_CHECK(brio__tableau_step(s,
                                      &(BrioTableauStep){.tableau = &m->adjoint,
                                                         .h = h,
                                                         .weight = BRIO_NOT_COUNTED,
                                                         .undamped = true,
                                                         .scratch = 6,
                                                         .slope = dv},
                                      unused_q, unused_v));
    } else {
        BrioPair pair = brio__tableau_pair(&m->adjoint, &m->adjoint);
        brio_stepper_combine(s, 1, brio_stepper_v(s), 0, brio_stepper_v(s), unused_v);
        BRIO_CHECK(brio__tableau_pair_step(s, &pair, h, BRIO_NOT_COUNTED, dv, unused_q, unused_v));
    }
    brio_stepper_combine(s, h, dv, -h, slope, dv);
    brio_stepper_mass_solve(s, dv, dv);
    return BRIO_OK;
}

/* The alpha with which H(q', w - alpha dv) is the target, and that target. */
static BrioStatus search_target(BrioStepper *s, double h, double ground, double target,
                                const double *q, const double *w, const double *dv, double *alpha)
{
    double *p = brio_stepper_scratch(s, 3), added, dissipated;
    double tau = brio_stepper_value(s, "decay");
    brio_stepper_work(s, q, h, &added, &dissipated);
    target += added - dissipated;
    if (!isnan(tau)) target = ground + exp(-h / tau) * (target - ground);
    double potential = brio_stepper_potential(s, q, brio_stepper_time(s) + h, NULL);
    double kinetic = brio_stepper_kinetic(s, w);
    brio_stepper_mass_multiply(s, dv, p);
    *alpha = alpha_of(&(BrioSearch){.excess = potential + kinetic - target,
                                    .linear = brio_stepper_dot(s, w, p),
                                    .square = brio_stepper_dot(s, dv, p),
                                    .scale = kinetic + fabs(potential) + fabs(target),
                                    .min = brio_stepper_value(s, "alpha_min"),
                                    .max = brio_stepper_value(s, "alpha_max")});
    brio_stepper_set_target(s, target, *alpha);
    return BRIO_OK;
}

static BrioStatus decoupled_step(BrioStepper *s, double h)
{
    Methods m;
    char reason[256];
    double *q = brio_stepper_scratch(s, 0);
    double *w = brio_stepper_scratch(s, 1);
    double *dv = brio_stepper_scratch(s, 2);
    double alpha = brio_stepper_value(s, "alpha"), ground = 0, target = NAN;
    bool searches = alpha == INFINITY;
    BrioStatus status = choose(brio_stepper_values(s), &m, reason, sizeof reason);
    if (status != BRIO_OK) return brio_stepper_fail(s, status, reason);
    if (searches) {
        BRIO_CHECK(ground_level(s, GROUND_KNOWN, GROUND, &ground));
        target = target_at_start(s, ground);
    }
    BRIO_CHECK(predict(s, &m, h, q, w, dv));
    if (searches)
        BRIO_CHECK(search_target(s, h, ground, target, q, w, dv, &alpha));
    else
        brio_stepper_set_target(s, NAN, alpha);
    brio_stepper_combine(s, 1, w, -alpha, dv, w);
    return brio_stepper_accept(s, h, q, w);
}

BRIO_INTEGRATOR(decoupled){
    .name = "decoupled",
    .summary = "Positions of a Runge-Kutta method, momenta of its adjoint: linearly symplectic "
               "over any tableau, or with an energy target; over sdirk2 by default.",
    .citation = "You2026",
    .order = 2,
    .history = 2,
    .traits = BRIO_IMPLICIT | BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_END_IS_SOLVED,
    .fields = decoupled_fields,
    .step = decoupled_step,
    .check = decoupled_check,
};
