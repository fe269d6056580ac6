/* Methods that keep the energy at a target: the initial energy, plus what is added from outside,
 * minus what damping takes [Dinev2018, Eq. 37]. For each end (q, v) of a step the error is
 *
 *     e(q, v) = P(q) + 1/2 v.M v - (H_n + added - dissipated),
 *
 * where the ledger's own sums say what was added and dissipated on the way to q.
 *
 * `eps` is a fraction of the energy in play. An energy has no size as long as its zero is a matter
 * of taste (that of gravity is), so the paper's eps H is read as eps (H - P_0), with P_0 the
 * potential of the settled pose: found before the first step, kept in the history, and evaluated
 * again in every step because gravity and points may have moved. Where that makes no sense (a body
 * that falls freely settles nowhere; a pose may be left behind by points that move away) the
 * kinetic energy and the pose of the first step serve. `ground: 0` is the paper's own reading. */
#include "integrator.h"

static double energy(BrioStepper *s, const double *q, const double *v, double time)
{
    return brio_stepper_kinetic(s, v) + brio_stepper_potential(s, q, time, NULL);
}

/* memos: the potential where the step begins (and its gradient in the history), that of the settled
 * pose, and with which parameters they are so */
enum { P_N, P_N_WITH, P_REST, P_REST_WITH };

/* A potential that a memo keeps while the fingerprint `now` stays; where it has to be evaluated,
 * with its gradient (unless NULL). */
static double remembered(BrioStepper *s, int memo, double now, const double *q, double *gradient)
{
    double *kept = brio_stepper_memo(s, memo), *with = brio_stepper_memo(s, memo + 1);
    if (*with != now) *kept = brio_stepper_potential(s, q, brio_stepper_time(s), gradient);
    *with = now;
    return *kept;
}

/* H at the start of the step, with the gradient of P there (unless NULL), and the target as the
 * last step left it. */
static double aim(BrioStepper *s, double *now, double *gradient)
{
    *now = brio_stepper_kinetic(s, brio_stepper_v(s)) +
           remembered(s, P_N, brio_stepper_fingerprint(s, 0), brio_stepper_q(s), gradient);
    *brio_stepper_memo(s, P_N_WITH) = 0; /* not so where the step ends, unless it says so */
    return isnan(brio_stepper_target(s)) ? *now : brio_stepper_target(s);
}

/* The error that counts as none: eps times the energy in play, and not less than the round-off of
 * the sums. */
static BrioStatus tolerance(BrioStepper *s, double now, double *max)
{
    const double *q = brio_stepper_q(s);
    double ground = brio_stepper_value(s, "ground");
    double t = brio_stepper_time(s);
    double kinetic = brio_stepper_kinetic(s, brio_stepper_v(s));
    double *rest = brio_stepper_history(s, 0), scale = fabs(now - ground);
    if (ground == INFINITY) {
        if (brio_stepper_history_used(s) == 0) {
            BrioStatus status = brio_stepper_minimise(
                s, &(BrioObjective){.s = 1, .a = 1, .time = t, .h = 1, .massless = 1}, rest);
            if (status < 0) return status;
            if (status > 0) brio_stepper_combine(s, 1, q, 0, q, rest);
            brio_stepper_set_history_used(s, 1);
        }
        double with = brio_stepper_fingerprint(s, 1);
        scale = fmax(kinetic, now - remembered(s, P_REST, with, rest, NULL));
    }
    *max = fmax(brio_stepper_value(s, "eps") * scale, 64 * DBL_EPSILON * (fabs(now) + kinetic));
    return BRIO_OK;
}

#define GROUND_FIELD                                                             \
    {                                                                            \
        "ground", BRIO_REAL, "J|rest", INFINITY, -1e300, 1e300, 0,               \
            "Reference energy of eps; rest: the potential of the settled scene." \
    }

/* ---- blend ------------------------------------------------------------------------------ */

/* Algorithm 1 of [Dinev2018]: the step of implicit midpoint, mixed, positions and velocities alike,
 * with that of backward Euler if its energy is above the target and with that of forward Euler if
 * it is below,
 *
 *     (q', v') = (1 - |alpha|) (q, v)_start + |alpha| (q, v)_other,
 *
 * (the paper bisects; see find_root) until |e| <= eps (H - P_0). alpha is 0 for implicit midpoint,
 * 1 for backward and -1 for forward Euler (Fig. 6). Without a root the other end is taken. Damping
 * forces are part of each step; the mixture's fraction of them is the mixture of theirs, because
 * velocities change by forces linearly, and their work is that force times the mixture's own
 * displacement. */

/* the settled pose, the gradient of P where the step begins */
enum { REST, GRADIENT_N, BLEND_HISTORY };

typedef enum Simple { MIDPOINT, SYMPLECTIC, BACKWARD, FORWARD } Simple;

/* But for its target. */
static BrioObjective objective_of(BrioStepper *s, Simple method, double h, double weight)
{
    return (BrioObjective){.s = h * h,
                           .a = method == MIDPOINT ? 0.5 : 1,
                           .time = brio_stepper_time(s) + h,
                           .h = h,
                           .weight = weight,
                           .blend_damping = method == MIDPOINT};
}

/* Where a step ends: its pose, what its solve left unbalanced, P there. */
typedef struct End {
    double *q, *v;
    double *left;
    double potential; /* NAN: not known */
} End;

/* The end of a simple method's step. Nothing is counted yet. With a fixed number of iterations a
 * solve that has a guess takes so many of them. */
static BrioStatus take(BrioStepper *s, Simple method, double h, const BrioGuess *guess,
                       int iterations, End *end)
{
    const double *q_n = brio_stepper_q(s), *v_n = brio_stepper_v(s);
    double *q = end->q, *v = end->v;
    end->potential = NAN;
    if (method == MIDPOINT || method == BACKWARD) {
        double c = method == MIDPOINT ? 2 : 1;
        BrioObjective objective = objective_of(s, method, h, BRIO_NOT_COUNTED);
        BrioSolution solution = {.residual = end->left};
        double *target = brio_stepper_scratch(s, 0);
        brio_stepper_combine(s, 1, q_n, h, v_n, target);
        objective.target = target;
        objective.guess = guess;
        objective.iterations = guess ? iterations : 0;
        /* both ends rub with the same normal forces, so that they can be counted together */
        objective.keeps_friction = guess != NULL;
        BRIO_CHECK(brio_stepper_solve(s, &objective, q, &solution));
        if (method == BACKWARD) end->potential = solution.potential;
        brio_stepper_combine(s, c / h, q, -c / h, q_n, v);
        if (method == MIDPOINT) brio_stepper_combine(s, 1, v, -1, v_n, v);
    } else {
        const double *gradient = brio_stepper_history(s, GRADIENT_N);
        if (brio_stepper_damped(s))
            brio_stepper_force(s, q_n, v_n, brio_stepper_time(s), h, BRIO_NOT_COUNTED, v);
        else
            brio_stepper_combine(s, -1, gradient, 0, gradient, v);
        brio_stepper_mass_solve(s, v, v);
        brio_stepper_combine(s, 1, v_n, h, v, v);
        brio_stepper_combine(s, 1, q_n, h, method == FORWARD ? v_n : v, q);
    }
    return BRIO_OK;
}

/* Counts its damping forces with a weight and what its solve left unbalanced (unless NULL). */
static void count(BrioStepper *s, Simple method, double h, const double *q, double weight,
                  const double *left)
{
    if (method == MIDPOINT || method == BACKWARD) {
        BrioObjective objective = objective_of(s, method, h, weight);
        if (left)
            brio_stepper_count_residual(s, &objective, q, left);
        else
            brio_stepper_count_damping(s, &objective, q);
    } else {
        brio_stepper_damping_force(s, brio_stepper_q(s), brio_stepper_v(s), h, weight,
                                   brio_stepper_scratch(s, 0));
    }
}

typedef struct Mixture {
    BrioStepper *s;
    double h, target; /* the target at the start of the step */
    Simple method[2];
    End end[2];          /* of the two */
    double *gradient[2]; /* of the potential at the first end, and at the last mixture */
    /* work[i][j]: taken by the damping forces of i on the way to the end of j */
    double work[2][2];
} Mixture;

/* Energies that the damping forces of end i take; nothing stays counted. */
static void measure_work(Mixture *m, int i, int ends)
{
    double added;
    if (!brio_stepper_damped(m->s)) return;
    count(m->s, m->method[i], m->h, m->end[i].q, 1, NULL);
    for (int j = 0; j < ends; j++)
        brio_stepper_work(m->s, m->end[j].q, m->h, &added, &m->work[i][j]);
    count(m->s, m->method[i], m->h, m->end[i].q, -1, NULL);
}

/* A mixture of the two ends: where it is, its potential, the target there, e. */
typedef struct Mixed {
    const double *q, *v;
    double potential, noise, target, error;
} Mixed;

/* The mixture with the fraction `alpha` of the second end, for which (q, v) is room. `potential`:
 * there, if it is known, and otherwise NAN. */
static Mixed mix(const Mixture *m, double alpha, double potential, double *q, double *v)
{
    double a[2] = {1 - alpha, alpha}, dissipated = 0, added, nothing;
    if (alpha == 0 || alpha == 1) {
        q = m->end[alpha == 1].q;
        v = m->end[alpha == 1].v;
    } else {
        brio_stepper_combine(m->s, a[0], m->end[0].q, a[1], m->end[1].q, q);
        brio_stepper_combine(m->s, a[0], m->end[0].v, a[1], m->end[1].v, v);
    }
    brio_stepper_work(m->s, q, m->h, &added, &nothing);
    for (int k = 0; k < 4; k++)
        if (a[k / 2] * a[k % 2] != 0) dissipated += a[k / 2] * a[k % 2] * m->work[k / 2][k % 2];
    Mixed at = {.q = q, .v = v, .potential = potential, .target = m->target + added - dissipated};
    if (isnan(potential))
        at.potential = brio_stepper_evaluate(m->s, q, brio_stepper_time(m->s) + m->h,
                                             m->gradient[alpha > 0], &at.noise);
    at.error = brio_stepper_kinetic(m->s, v) + at.potential - at.target;
    if (isnan(at.error)) at.error = INFINITY;
    return at;
}

/* grad P + grad D at the end of backward Euler's step: h^2 of it is what the solve left minus
 * h M (v - v_n). */
static void balance(const Mixture *m, double *gradient)
{
    brio_stepper_combine(m->s, -1 / m->h, m->end[1].v, 1 / m->h, brio_stepper_v(m->s), gradient);
    brio_stepper_mass_multiply(m->s, gradient, gradient);
    brio_stepper_combine(m->s, 1 / (m->h * m->h), m->end[1].left, 1, gradient, gradient);
}

static BrioStatus accept_mixture(const Mixture *m, double alpha, const Mixed *at, double sign)
{
    for (int i = 0; i < 2; i++) {
        double fraction = i ? alpha : 1 - alpha;
        if (fraction != 0) count(m->s, m->method[i], m->h, m->end[i].q, fraction, m->end[i].left);
    }
    brio_stepper_set_target(m->s, at->target, sign * alpha);
    /* then the balance of the solve gives the gradient */
    bool solved = alpha == 1 && m->method[1] == BACKWARD && !brio_stepper_damped(m->s) &&
                  !brio_stepper_rods(m->s);
    if (isfinite(at->potential) && (alpha < 1 || solved)) {
        double *gradient = brio_stepper_history(m->s, GRADIENT_N);
        if (solved)
            balance(m, gradient);
        else
            brio_stepper_combine(m->s, 1, m->gradient[alpha > 0], 0, m->gradient[alpha > 0],
                                 gradient);
        *brio_stepper_memo(m->s, P_N) = at->potential;
        *brio_stepper_memo(m->s, P_N_WITH) = brio_stepper_fingerprint(m->s, 0);
    }
    brio_stepper_set_history_used(m->s, BLEND_HISTORY);
    return isfinite(at->potential)
               ? brio_stepper_accept_known(m->s, m->h, at->q, at->v, at->potential)
               : brio_stepper_accept(m->s, m->h, at->q, at->v);
}

/* Slopes of e on the way from the first end, where it is error[0], to the second, where error[1]
 * may be known; otherwise, as the potential changes far less than the kinetic energy (which is a
 * parabola) on the way to forward Euler's end, what that says of the second. The target changes by
 * `change` on the way. q and v are room. */
static void slopes(const Mixture *m, double change, double error[2], double slope[2], double *q,
                   double *v)
{
    BrioStepper *s = m->s;
    brio_stepper_combine(s, 1, m->end[1].q, -1, m->end[0].q, q);
    brio_stepper_combine(s, 1, m->end[1].v, -1, m->end[0].v, v);
    brio_stepper_mass_multiply(s, v, v);
    double kinetic[2] = {brio_stepper_dot(s, m->end[0].v, v), brio_stepper_dot(s, m->end[1].v, v)};
    slope[0] = brio_stepper_dot(s, m->gradient[0], q) + kinetic[0] - change;
    if (m->method[1] == BACKWARD) {
        balance(m, v);
        slope[1] = brio_stepper_dot(s, v, q) + kinetic[1] - change;
    } else {
        slope[1] = slope[0] + kinetic[1] - kinetic[0];
        error[1] = error[0] + (slope[0] + slope[1]) / 2;
    }
}

/* Where e, which is e0 with the slope e' at 0 and e1 at x, is nothing, if it is a parabola; the
 * nearest to 0, NAN: nowhere on that side. */
static double parabola_root(double e0, double slope, double x, double e1)
{
    double c = (e1 - e0 - slope * x) / (x * x), inside = slope * slope - 4 * c * e0;
    double root = -2 * e0 / (slope + copysign(sqrt(inside), slope));
    return inside >= 0 && root > 0 ? root : NAN;
}

/* The first root in (0, 1) of the cubic with these values and slopes at 0 and 1; NAN: none. */
static double cubic_root(double e0, double slope0, double e1, double slope1)
{
    double square = 3 * (e1 - e0) - 2 * slope0 - slope1;
    double cube = slope0 + slope1 - 2 * (e1 - e0);
    double low = 0;
    for (double size = 0x1p-6; low < 1 && size > 0x1p-30;
         size /= 2) /* up to the piece with the root, then by halves */
        while (low < 1 &&
               e0 * (e0 + (low + size) * (slope0 + (low + size) * (square + (low + size) * cube))) >
                   0)
            low += size;
    return low < 1 ? low : NAN;
}

/* Looks for a root of e on the way from the start to the other end, where e is only guessed if the
 * potential is not known (NAN). First by the cubic of errors and slopes, then by a parabola, then
 * by regula falsi [Dowell and Jarratt 1971] between signs. (q, v) is room. Without a root it is the
 * other end. */
static double find_root(const Mixture *m, const double error[2], const double slope[2], double max,
                        double known, double *q, double *v, Mixed *at)
{
    bool guessed = isnan(known), crossed = !guessed && error[0] * error[1] < 0;
    double low = 0;
    double e_low = error[0];
    double high = crossed ? 1 : NAN;
    double e_high = error[1];
    double alpha = cubic_root(error[0], slope[0], error[1], slope[1]);
    for (int k = 0, stayed = 0; k < 60; k++) {
        bool bracketed = !isnan(high), between = alpha > low && alpha < (bracketed ? high : 1);
        if (!between) alpha = bracketed ? (low + high) / 2 : 1;
        *at = mix(m, alpha, alpha == 1 ? known : NAN, q, v);
        bool same = at->error * error[0] > 0;
        if (fabs(at->error) <= max || (alpha == 1 && same)) return alpha;
        double x = alpha;
        if (same) {
            /* what stays twice counts half, so that both sides close in */
            if (stayed == 1) e_high /= 2;
            low = alpha, e_low = at->error;
        } else {
            if (stayed == -1) e_low /= 2;
            high = alpha, e_high = at->error;
        }
        stayed = same ? 1 : -1;
        alpha = k == 0 && guessed ? parabola_root(error[0], slope[0], x, at->error)
                : k % 8 == 7      ? NAN
                                  : low + (high - low) * e_low / (e_low - e_high);
    }
    return alpha;
}

/* The step with a given alpha: for the study of stability. */
static BrioStatus fixed_blend(Mixture *m, double alpha, double *q, double *v)
{
    BrioStepper *s = m->s;
    double size = fabs(alpha);
    const BrioGuess guess = {.q = m->end[0].q};
    if (alpha < 0) m->method[1] = FORWARD;
    if (size < 1) BRIO_CHECK(take(s, m->method[0], m->h, NULL, 0, &m->end[0]));
    if (alpha != 0)
        BRIO_CHECK(take(s, m->method[1], m->h, size < 1 ? &guess : NULL, 1, &m->end[1]));
    const End *first = &m->end[size < 1 ? 0 : 1], *second = &m->end[alpha != 0 ? 1 : 0];
    brio_stepper_combine(s, 1 - size, first->q, size, second->q, q);
    brio_stepper_combine(s, 1 - size, first->v, size, second->v, v);
    return accept_mixture(m, size, &(Mixed){.q = q, .v = v, .target = NAN, .potential = NAN},
                          alpha < 0 ? -1 : 1);
}

/* Backward Euler alone, where the start cannot be had. */
static BrioStatus without_start(Mixture *m, double *q, double *v)
{
    BRIO_CHECK(take(m->s, BACKWARD, m->h, NULL, 0, &m->end[1]));
    m->end[0].q = m->end[1].q;
    m->end[0].v = m->end[1].v;
    m->method[0] = BACKWARD;
    measure_work(m, 0, 1);
    Mixed at = mix(m, 0, NAN, q, v);
    return accept_mixture(m, 1, &at, 1);
}

/* The other end, whose error is end->error (NAN of forward Euler, where it is not known).
 *
 * One iteration of backward Euler, as in [Dinev2018, Sec. 4.2], is not a backward Euler step: on
 * soft bodies its energy is often above the target, too, and then nothing brings the energy down.
 * So a fixed number of iterations goes on, by one, two, four, ... more, until the energy is low
 * enough or there were `be_iterations`. */
static BrioStatus other_end(Mixture *m, const Mixed *start, double max, double *q, double *v,
                            Mixed *end)
{
    BrioStepper *s = m->s;
    int limit = brio_stepper_unfinished(s) ? (int)brio_stepper_value(s, "be_iterations") : 1;
    BrioGuess guess = {.q = m->end[0].q,
                       .gradient = m->gradient[0],
                       .potential = start->potential,
                       .noise = start->noise};
    *end = (Mixed){.error = NAN, .target = start->target};
    for (int done = 0, more = 1; done < limit; more = done < limit - done ? done : limit - done) {
        BRIO_CHECK(take(s, m->method[1], m->h, &guess, more, &m->end[1]));
        measure_work(m, 0, 2);
        measure_work(m, 1, 2);
        if (isnan(m->end[1].potential)) break;
        *end = mix(m, 1, m->end[1].potential, q, v);
        if (end->error <= max) break;
        done += more;
        brio_stepper_combine(s, 1, m->end[1].q, 0, m->end[1].q, q);
        guess = (BrioGuess){.q = q};
    }
    return BRIO_OK;
}

/* From a start whose energy is wrong to the mixture with the other end whose energy is right. */
static BrioStatus correct(Mixture *m, const Mixed *start, double max, double *q, double *v)
{
    double sign = start->error > 0 ? 1 : -1; /* of alpha, too */
    Mixed end;
    if (sign < 0) m->method[1] = FORWARD;
    BRIO_CHECK(other_end(m, start, max, q, v, &end));
    double potential = m->end[1].potential;
    double error[2] = {start->error, end.error}, slope[2];
    slopes(m, end.target - start->target, error, slope, q, v);
    Mixed at;
    double alpha = find_root(m, error, slope, max, potential, q, v, &at);
    return accept_mixture(m, alpha, &at, sign);
}

static BrioStatus blend_step(BrioStepper *s, double h)
{
    Mixture m = {.s = s,
                 .h = h,
                 .method = {brio_stepper_value(s, "start") != 0 ? SYMPLECTIC : MIDPOINT, BACKWARD},
                 .gradient = {brio_stepper_scratch(s, 9), brio_stepper_scratch(s, 10)}};
    for (int i = 0; i < 2; i++)
        m.end[i] = (End){.q = brio_stepper_scratch(s, 1 + i),
                         .v = brio_stepper_scratch(s, 3 + i),
                         .left = brio_stepper_scratch(s, 7 + i)};
    double *q = brio_stepper_scratch(s, 5), *v = brio_stepper_scratch(s, 6);
    double fixed = brio_stepper_value(s, "alpha"), now, max;
    m.target = aim(s, &now, brio_stepper_history(s, GRADIENT_N));
    if (!isnan(fixed)) return fixed_blend(&m, fixed, q, v);
    BRIO_CHECK(tolerance(s, now, &max));
    BrioStatus status = take(s, m.method[0], h, NULL, 0, &m.end[0]);
    if (status < 0) return status;
    if (status > 0) return without_start(&m, q, v);
    /* the same cost for every step but the first */
    BrioObjective other = objective_of(s, BACKWARD, h, BRIO_NOT_COUNTED);
    BRIO_CHECK(brio_stepper_prepare(s, &other));
    measure_work(&m, 0, 1);
    Mixed start = mix(&m, 0, NAN, q, v);
    if (fabs(start.error) <= max) return accept_mixture(&m, 0, &start, 1);
    return correct(&m, &start, max, q, v);
}

static const BrioField blend_fields[] = {
    {"eps", BRIO_REAL, "", 0.01, 0, 1, 0,
     "Tolerated error of the energy, as a fraction of the energy above the ground."},
    GROUND_FIELD,
    {"be_iterations", BRIO_INTEGER, "", 64, 1, 1000, 0,
     "Maximum number of local/global iterations of backward Euler; it stops when its energy is "
     "down to the target. 1: as in the paper."},
    {"start", BRIO_CHOICE, "midpoint|symplectic-euler", 0, 0, 1, 0, "The step that is corrected."},
    {"alpha", BRIO_REAL, "", NAN, -1, 1, 0,
     "A fixed alpha instead of the search, to study stability: 1 is backward Euler, -1 forward "
     "Euler, 0 the start."},
    {0}};

BRIO_INTEGRATOR(blend){
    .name = "blend",
    .summary = "Implicit midpoint blended with backward or forward Euler so that the energy stays "
               "at its target.",
    .citation = "Dinev2018",
    .history = BLEND_HISTORY,
    .traits = BRIO_IMPLICIT | BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_ENERGY_CONTROLLED,
    .fields = blend_fields,
    .step = blend_step,
};

/* ---- a Lagrange multiplier for the energy ----------------------------------------------- */

/* The trapezoidal rule is the minimum of F(q) = 2/h^2 |q - y|^2_M + P(q),
 * y = q_n + h v_n + h^2/4 a_n, with the velocities v(q) = 2 (q - q_n)/h - v_n. Its energy is made a
 * constraint, G(q) = P(q) + 1/2 |v(q)|^2_M - H = 0, by a multiplier [Hughes1978]:
 *
 *     grad F + lambda grad G = 0,   G = 0.
 *
 * With c = q_n + h/2 v_n, where v(c) = 0, one has 1/2 |v(q)|^2_M = 2/h^2 |q - c|^2_M, so
 * F + lambda G is, up to a constant and the factor 1 + lambda, again the primitive of the rule with
 * its target moved toward c:
 *
 *     q(mu) = argmin 1/2 |q - (y + mu (c - y))|^2_M + h^2/4 P(q),    mu = lambda/(1 + lambda) < 1.
 *
 * G(q(mu)) falls with mu: dG/dlambda = -grad G.(Hessian)^-1 grad G. mu = 1 is the smallest energy
 * that any q has, and as q = q_n with v = -v_n has G = 0, there is always a root in (-inf, 1].
 * `solve: search` finds it by regula falsi [Dowell and Jarratt 1971].
 *
 * `solve: newton` treats both equations at once, as Newton's method for a constraint does: with
 * g = M (q - y - mu (c - y)) + h^2/4 grad P and A = M + h^2/4 K,
 *
 *     A dq - M (c - y) dmu = -g,    grad G.dq = -G.
 *
 * But mu = 2 is a root as well, whatever the motion: q = q_n, v = -v_n solves both equations, since
 * g(q_n, 2) = h^2/4 (M a_n + grad P(q_n)) = 0. Once Newton's method ends there, every vertex swings
 * to and fro in place with the energy exactly kept: the motion sticks [Dinev2018, Fig. 1]. The
 * search, which stays at mu <= 1, where F + lambda G has a minimum, does not. Energy is all that
 * this method keeps. The ledger's alpha is mu. */

typedef struct Multiplier {
    BrioStepper *s;
    double h, target;
    const double *y, *c;
    double *shifted;
} Multiplier;

static BrioObjective constrained(const Multiplier *m, double mu, double weight)
{
    brio_stepper_combine(m->s, 1 - mu, m->y, mu, m->c, m->shifted);
    return (BrioObjective){.target = m->shifted,
                           .s = m->h * m->h / 4,
                           .a = 1,
                           .time = brio_stepper_time(m->s) + m->h,
                           .h = m->h,
                           .weight = weight,
                           .from = m->c,
                           .over = m->h / 2};
}

/* The velocities that belong to q, the target there and the error. */
static void end_of_multiplier(const Multiplier *m, const double *q, double *v, double *target,
                              double *error)
{
    BrioStepper *s = m->s;
    double added, dissipated;
    brio_stepper_combine(s, 2 / m->h, q, -2 / m->h, brio_stepper_q(s), v);
    brio_stepper_combine(s, 1, v, -1, brio_stepper_v(s), v);
    for (int sign = 1; sign >= -1; sign -= 2) {
        BrioObjective objective = constrained(m, 0, sign * 0.5);
        brio_stepper_count_damping(s, &objective, q);
        if (sign > 0) brio_stepper_work(s, q, m->h, &added, &dissipated);
    }
    *target = m->target + added - dissipated;
    *error = energy(s, q, v, brio_stepper_time(s) + m->h) - *target;
}

static BrioStatus energy_of_multiplier(const Multiplier *m, double mu, double *q, double *v,
                                       double *target, double *error)
{
    BrioObjective objective = constrained(m, mu, BRIO_NOT_COUNTED);
    BRIO_CHECK(brio_stepper_minimise(m->s, &objective, q));
    end_of_multiplier(m, q, v, target, error);
    return BRIO_OK;
}

static BrioStatus search_multiplier(const Multiplier *m, double max, double *q, double *v,
                                    double *target, double *mu)
{
    double error, bound[2], at[2]; /* e and mu at both sides of the root */
    bool bracketed = false;
    *mu = 0;
    BRIO_CHECK(energy_of_multiplier(m, *mu, q, v, target, &error));
    for (double reach = error > 0 ? 1 : -0x1p-6;
         !(fabs(error) <= max) && !bracketed && *mu != 1 && fabs(reach) <= 0x1p10; reach *= 2) {
        bound[0] = error, at[0] = *mu;
        *mu = reach;
        BRIO_CHECK(energy_of_multiplier(m, *mu, q, v, target, &error));
        bound[1] = error, at[1] = *mu;
        bracketed = bound[0] * bound[1] < 0;
    }
    for (int k = 0, side = -1;
         bracketed && k < 50 && !(fabs(error) <= max) && fabs(at[1] - at[0]) > 1e-15; k++) {
        /* bisection now and then */
        *mu = k % 10 == 9 ? (at[0] + at[1]) / 2
                          : at[1] - bound[1] * (at[1] - at[0]) / (bound[1] - bound[0]);
        BRIO_CHECK(energy_of_multiplier(m, *mu, q, v, target, &error));
        int same = error * bound[0] > 0 ? 0 : 1;
        bound[same] = error, at[same] = *mu;
        if (same == side) bound[!same] /= 2;
        side = same;
    }
    return BRIO_OK;
}

static BrioStatus newton_multiplier(const Multiplier *m, double max, double *q, double *v,
                                    double *target, double *mu)
{
    BrioStepper *s = m->s;
    double *slope = brio_stepper_scratch(s, 5);
    double *a = brio_stepper_scratch(s, 6);
    double *b = brio_stepper_scratch(s, 7);
    double h = m->h, end = brio_stepper_time(s) + h, error;
    brio_stepper_combine(s, 1, m->y, 0, m->y, q);
    *mu = 0;
    int limit;
    double tol = brio_stepper_tolerance(s, &limit);
    for (int k = 0; k < limit; k++) {
        end_of_multiplier(m, q, v, target, &error);
        BrioObjective objective = constrained(m, *mu, BRIO_NOT_COUNTED);
        brio_stepper_objective_gradient(s, &objective, q, a);
        brio_stepper_combine(s, -1, a, 0, a, a);
        brio_stepper_combine(s, 1, m->c, -1, m->y, b);
        brio_stepper_mass_multiply(s, b, b);
        BRIO_CHECK(brio_stepper_linear_solve(s, q, end, h * h / 4, a, a));
        BRIO_CHECK(brio_stepper_linear_solve(s, q, end, h * h / 4, b, b));
        brio_stepper_count_iterations(s, 1);
        double *gradient = m->shifted; /* of G */
        brio_stepper_potential(s, q, end, slope);
        brio_stepper_mass_multiply(s, v, gradient);
        brio_stepper_combine(s, 2 / h, gradient, 1, slope, gradient);
        double across = brio_stepper_dot(s, gradient, b);
        double change = across != 0 ? -(error + brio_stepper_dot(s, gradient, a)) / across : 0;
        brio_stepper_combine(s, 1, a, change, b, a);
        brio_stepper_combine(s, 1, q, 1, a, q);
        *mu += change;
        double speed = brio_stepper_norm_max(s, a) / h;
        if (!isfinite(speed))
            return brio_stepper_fail(s, BRIO_NOT_FINITE,
                                     "Newton's method for the multiplier left the finite numbers; "
                                     "solve: search is safer");
        if (speed < tol && fabs(error) <= max) {
            end_of_multiplier(m, q, v, target, &error);
            return BRIO_OK;
        }
    }
    return brio_stepper_fail(
        s, BRIO_NOT_CONVERGED,
        "Newton's method for the multiplier did not converge; solve: search is safer");
}

static BrioStatus lagrange_step(BrioStepper *s, double h)
{
    const double *q_n = brio_stepper_q(s), *v_n = brio_stepper_v(s);
    double *y = brio_stepper_scratch(s, 0);
    double *c = brio_stepper_scratch(s, 1);
    double *q = brio_stepper_scratch(s, 3);
    double *v = brio_stepper_scratch(s, 4);
    Multiplier m = {.s = s, .h = h, .y = y, .c = c, .shifted = brio_stepper_scratch(s, 2)};
    double now, max, target, mu, solve = brio_stepper_value(s, "solve");
    m.target = aim(s, &now, NULL);
    BRIO_CHECK(tolerance(s, now, &max));
    brio_stepper_force(s, q_n, v_n, brio_stepper_time(s), h, 0.5, y);
    brio_stepper_mass_solve(s, y, y);
    brio_stepper_combine(s, h, v_n, h * h / 4, y, y);
    brio_stepper_combine(s, 1, q_n, 1, y, y);
    brio_stepper_combine(s, 1, q_n, h / 2, v_n, c);
    if (solve == 0)
        BRIO_CHECK(search_multiplier(&m, max, q, v, &target, &mu));
    else
        BRIO_CHECK(newton_multiplier(&m, max, q, v, &target, &mu));
    BrioObjective objective = constrained(&m, mu, 0.5);
    brio_stepper_count_solve(s, &objective, q);
    brio_stepper_set_target(s, target, mu);
    return brio_stepper_accept(s, h, q, v);
}

/* Newton's method for both equations keeps no elements from inverting. */
static BrioStatus lagrange_check(const double *values, unsigned *traits, char *reason, size_t size)
{
    (void)reason;
    (void)size;
    if (values[2] != 0) *traits &= ~(unsigned)BRIO_END_IS_SOLVED;
    return BRIO_OK;
}

static const BrioField lagrange_fields[] = {
    {"eps", BRIO_REAL, "", 1e-6, 0, 1, 0,
     "Tolerated error of the energy, as a fraction of the energy above the ground."},
    GROUND_FIELD,
    {"solve", BRIO_CHOICE, "search|newton", 0, 0, 1, 0,
     "How the multiplier is found: search avoids the root at which the motion sticks, newton "
     "finds it."},
    {0}};

BRIO_INTEGRATOR(energy_lagrange){
    .name = "energy-lagrange",
    .summary = "The trapezoidal rule with its energy constrained by a multiplier. For comparison: "
               "loses momenta, Newton gets stuck.",
    .citation = "Hughes1978",
    .order = 2,
    .history = 1,
    .traits = BRIO_IMPLICIT | BRIO_ENERGY_CONTROLLED | BRIO_END_IS_SOLVED,
    .fields = lagrange_fields,
    .step = lagrange_step,
    .check = lagrange_check,
};

/* ---- velocities that make up the energy ------------------------------------------------- */

/* After a step of the base method, velocities are scaled so that the energy meets its target,
 * v' = gamma v with gamma^2 K = target - P(q') [Su2013, in the way that Dinev2018, Fig. 5 compares
 * with]. Where the potential alone is above the target, gamma = 0 and the excess stays: positions
 * are never touched, so that nothing bounds the potential. The ledger's alpha is gamma.
 *
 * With `momentum` only the part of the velocities that is no rigid motion of a component is scaled,
 * since a correction of the energy should not change momenta [Su2013]: v' = r + gamma (v - u),
 * where u is the rigid motion with the momenta of v and r the one with those of the step's own
 * forces: the momenta at its start and M (v - v_n) at the pose where the base takes its forces (so
 * r = u for implicit midpoint). v - u is orthogonal to rigid motions, hence gamma^2 = (target -
 * P(q') - K(r))/K(v - u). */

/* v = v - u; `rigid` = r. */
static void split_rigid(BrioStepper *s, Simple base, const double *q, double *v, double *rigid)
{
    double *p = brio_stepper_scratch(s, 5), *change = brio_stepper_scratch(s, 6);
    double *before = brio_stepper_scratch(s, 7), *pose = brio_stepper_scratch(s, 8);
    double a = base == BACKWARD ? 1 : 0.5;
    brio_stepper_combine(s, a, q, 1 - a, brio_stepper_q(s), pose);
    brio_stepper_mass_multiply(s, brio_stepper_v(s), before);
    brio_stepper_mass_multiply(s, v, p);
    brio_stepper_combine(s, 1, p, -1, before, change);
    brio_stepper_rigid(s, q, &(BrioImpulse){q, p, 1}, 1, rigid, NULL);
    brio_stepper_combine(s, 1, v, -1, rigid, v);
    const BrioImpulse own[2] = {{brio_stepper_q(s), before, 1}, {pose, change, 1}};
    brio_stepper_rigid(s, q, own, 2, rigid, NULL);
}

static BrioStatus budget_step(BrioStepper *s, double h)
{
    Simple base = brio_stepper_value(s, "base") != 0 ? BACKWARD : MIDPOINT;
    double *q = brio_stepper_scratch(s, 1);
    double *v = brio_stepper_scratch(s, 2);
    double now, added, dissipated;
    double target = aim(s, &now, NULL);
    double gamma = 1;
    double *unbalanced = brio_stepper_scratch(s, 3);
    End end = {.q = q, .v = v, .left = unbalanced};
    BRIO_CHECK(take(s, base, h, NULL, 0, &end));
    count(s, base, h, q, 1, unbalanced);
    brio_stepper_work(s, q, h, &added, &dissipated);
    target += added - dissipated;
    double left = target - brio_stepper_potential(s, q, brio_stepper_time(s) + h, NULL);
    double *rigid = brio_stepper_scratch(s, 4);
    bool momentum = brio_stepper_value(s, "momentum") != 0;
    if (momentum) {
        split_rigid(s, base, q, v, rigid);
        left -= brio_stepper_kinetic(s, rigid);
    }
    double kinetic = brio_stepper_kinetic(s, v);
    if (kinetic > 0) gamma = sqrt(fmax(left, 0) / kinetic);
    if (momentum)
        brio_stepper_combine(s, gamma, v, 1, rigid, v);
    else
        brio_stepper_combine(s, gamma, v, 0, v, v);
    brio_stepper_set_target(s, target, gamma);
    return brio_stepper_accept(s, h, q, v);
}

static BrioStatus budget_check(const double *values, unsigned *traits, char *reason, size_t size)
{
    (void)reason;
    (void)size;
    if (values[0] != 0) *traits |= BRIO_END_IS_SOLVED;
    if (values[1] != 0) *traits |= BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_KEEPS_ANGULAR_MOMENTUM;
    return BRIO_OK;
}

static const BrioField budget_fields[] = {
    {"base", BRIO_CHOICE, "implicit-midpoint|backward-euler", 0, 0, 1, 0,
     "The method whose velocities are scaled."},
    {"momentum", BRIO_BOOLEAN, "", 0, 0, 1, 0,
     "Scales only the non-rigid part of velocities, which keeps the momenta of free components; "
     "false: scales all of it."},
    {0}};

BRIO_INTEGRATOR(energy_budget){
    .name = "energy-budget",
    .summary =
        "Scales velocities after each step to keep the energy. For comparison: loses momenta "
        "unless `momentum` is true.",
    .citation = "Su2013",
    .order = 2,
    .traits = BRIO_IMPLICIT | BRIO_ENERGY_CONTROLLED | BRIO_USES_COMPONENTS,
    .fields = budget_fields,
    .step = budget_step,
    .check = budget_check,
};
