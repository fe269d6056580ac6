/* Projected Newton for the primitive.
 *
 * Each iteration solves (m M + s a^2 H + s a H_D) p = -(m M (q - target) + s a (g + g_D)), with g
 * and H the gradient and the Hessian (projected element by element as far as the matrix needs it to
 * be positive definite) of P at y = a q + (1-a) q_n, g_D and H_D those of the dissipation
 * potentials at q (at y, and s a^2 H_D, with blend_damping), shortens p so that no element becomes
 * forbidden, backtracks until the objective falls by a fraction of what its slope promises [Armijo
 * 1966], and ends when the full step is below the tolerance, max|p|/h < tol; that last step is
 * taken too. While scripts are moving, steps go together with them (push.h).
 *
 * A projected matrix has more curvature than the objective. Where elements are crushed it has so
 * much more that steps are much too short. The objective shows this: along a full step of slope -s
 * it falls by s/2 if the curvature is right. Where it falls by more than 2/3 s, the parabola
 * through slope and both values is lower at twice the step. Then the step doubles as long as this
 * is true and no limit is reached, and the next matrix has less projection. This only makes the
 * objective fall by more, and steps are at most 2^max_doublings of those that the matrix gives:
 * descent and convergence stay [Nocedal and Wright 2006, Theorem 3.2].
 *
 * A straight step stretches a rotating body. Where that costs too much, steps follow an arc on
 * which bodies rotate (along_arc()). It starts in the same direction, so the slope is the same.
 *
 * A step that a limit shortens to nearly nothing says nothing about the distance to the minimum:
 * it never counts as the last one.
 *
 * The objective is a sum of terms that may be far larger than what a step changes, so differences
 * below `noise` (a bound on the round-off of that sum) mean nothing: there, a step may raise it by
 * that much as long as steps get shorter, and when they no longer do, round-off has been reached
 * and the minimiser says so. */
#include "../potential/rigid.h"
#include "direction.h"
#include "foresee.h"
#include "push.h"
#include "renew.h"

#include <string.h>

/* A single step may be cut, but not to less than this. */
static const double nothing_left = 1e-6;

/* As little projection as a positive definite matrix needs: with all of it iterations are many
 * where elements are compressed, for then they find no way out of a saddle. After a matrix that was
 * not definite there is more of it for a while, which doubles up to 8 iterations. */
static const double projection[] = {0, 1. / 64, 1. / 8, 1};
typedef struct Ladder {
    int rung, lower_at, wait;
} Ladder;

static const int max_doublings = 4;

/* A step of scripts that contact cuts leaves a tenth of the gap of a pair, and a step of Newton's
 * about doubles a gap that is too small for its force: so many make up for it. */
static const int ease = 4;

static bool climb(Ladder *ladder, int iteration)
{
    if (ladder->rung + 1 == (int)BRIO_COUNT(projection)) return false;
    ladder->rung++;
    ladder->lower_at = iteration + ladder->wait;
    ladder->wait = BRIO_MIN(2 * ladder->wait, 8);
    return true;
}

/* The matrix was too stiff: down again, a rung in each iteration. */
static void descend_ladder(Ladder *ladder) { *ladder = (Ladder){.rung = ladder->rung, .wait = 1}; }

/* A minimisation at work. */
typedef struct Descent {
    const BrioProblem *p;
    BrioSolver *s;
    double *q;
    BrioValue now; /* at q, where the gradient is in s->gradient */
    Ladder ladder;
    double slope;      /* of the objective along the step */
    double allowed;    /* of the step, by what limits it */
    double last_speed; /* of the step before, where that drowned in round-off */
    bool small;        /* the step is below the tolerance */
    bool drowned;      /* what the slope promises is round-off */
    bool factored;     /* the last factor is of the last point, from which a whole step led here */
    int unsettled;     /* small steps after which barriers had not come to rest */
    double pushed;     /* what the last step of scripts has raised the objective by; 0: relaxed */
    double push_t;     /* the fraction that was taken of it; 1: steps of Newton's came after it */
    int easing;        /* steps of Newton's that pairs need which it has pressed */
    BrioRenewal renewal; /* of friction */
} Descent;

/* Seconds that other phases took inside of one that is being measured. */
static double inner_seconds(const BrioSolver *s)
{
    return s->totals.contact + s->totals.broad_phase + s->totals.ccd;
}

/* Whether fixed vertices are where they end the step. */
static bool arrived(const BrioSolver *s) { return s->script_fraction == 1; }

static BrioStatus begin(Descent *d)
{
    BrioSolver *s = d->s;
    double before = brio__seconds(), inner = inner_seconds(s);
    s->script_fraction = 1;
    if (brio__problem_scripted(d->p)) brio__push_start(d->p);
    d->now = brio__newton_start(d->p, d->q);
    s->totals.gradient += brio__seconds() - before - (inner_seconds(s) - inner);
    if (isfinite(d->now.value)) return BRIO_OK;
    brio__problem_positions(d->p, d->q, s->x);
    BrioPose pose = brio__problem_pose(d->p);
    bool forbidden = brio__potential_find_forbidden(d->p->potential, &pose, &s->limit);
    brio__limit_join(s->system, forbidden ? 0 : 1, &s->limit);
    forbidden = s->limit.term;
    return brio__problem_finish(
        d->p, isnan(d->now.value) || !forbidden ? BRIO_REASON_NOT_FINITE : BRIO_REASON_START,
        BRIO_STEP_REJECTED);
}

/* Whether the start is the end, which needs no matrix to be seen: as that of a body in free flight.
 * The matrix A = M + (what is positive semidefinite) of a projected Hessian has p.M p <= p.A p =
 * g.A^-1 g <= g.M^-1 g for its step p. So no block goes farther than the root of the latter over
 * the smallest mass. What is left out is then below a millionth of the tolerance. */
static BrioStatus rests(Descent *d, bool *found)
{
    BrioSolver *s = d->s;
    const BrioSystem *system = s->system;
    const BrioProblem *p = d->p;
    double mass = INFINITY, change = 0;
    *found = false;
    if (p->mass == 0 || s->ranks || !arrived(s)) return BRIO_OK;
    brio__mass_solve(system, s->gradient, s->step);
    double square = brio__dot(system, s->gradient, s->step);
    for (int64_t b = 0; b < system->block_count; b++) mass = fmin(mass, system->mass[b]);
    mass = -brio__partition_max(system->partition, -mass);
    double speed = sqrt(square / (p->mass * mass)) / p->objective->h;
    if (!(speed < 1e-6 * s->options.tol)) return BRIO_OK;
    if (p->dissipation && p->dissipation->friction >= 0) {
        BrioMotion motion = brio__problem_motion(p, d->q);
        brio__problem_positions(p, d->q, s->x);
        BRIO_CHECK(brio__dissipation_renew(p->dissipation, p->potential, p->state, &motion, s->x,
                                           s->difference, &change));
    }
    s->speed = speed;
    *found = change == 0;
    return BRIO_OK;
}

/* The step for a residual into s->step, with as little projection as works. */
static BrioStatus step_for(Descent *d, const double *residual)
{
    BrioSolver *s = d->s;
    Ladder *ladder = &d->ladder;
    if (ladder->rung > 0 && s->iterations >= ladder->lower_at) ladder->rung--;
    BrioStatus status = brio__newton_direction(d->p, d->q, residual, projection[ladder->rung]);
    while (status > 0 && climb(ladder, s->iterations))
        status = brio__newton_direction(d->p, d->q, residual, projection[ladder->rung]);
    return status;
}

/* Newton's step, and what it promises. */
static BrioStatus direction(Descent *d)
{
    BrioSolver *s = d->s;
    bool chord = d->factored && brio__newton_last_factor_suffices(d->p);
    if (!chord) BRIO_CHECK(step_for(d, s->gradient));
    double before = brio__seconds();
    d->slope = brio__dot(s->system, s->gradient, s->step);
    s->totals.line_search += brio__seconds() - before;
    if (!isfinite(d->slope))
        return brio__problem_finish(d->p, BRIO_REASON_NOT_FINITE, BRIO_NOT_FINITE);
    d->small = s->speed < s->options.tol;
    d->drowned = fabs(d->slope) < d->now.noise;
    return BRIO_OK;
}

/* Whether the objective fell by so much along a whole step that it is lower still at twice it. */
static bool too_stiff(const Descent *d, BrioValue next, double slope)
{
    return d->now.value - next.value > 2. / 3 * fabs(slope);
}

/* Doubles a whole step while that pays; s->trial is where it leads to, `next` the value there.
 * Returns how many times as far that is. */
static double go_on(Descent *d, BrioValue next)
{
    BrioSolver *s = d->s;
    BrioLimit limit = s->limit;
    double slope = d->slope, t = 1, limit_step = s->limit_step;
    for (int i = 0; i < max_doublings && too_stiff(d, next, slope); i++) {
        brio__combine(s->system, 2, s->step, 0, s->step, s->step);
        bool free = brio__problem_max_step(d->p, d->q) == 1;
        brio__combine(s->system, 1, d->q, 1, s->step, s->trial);
        BrioValue there = brio__problem_value(d->p, s->trial, NULL);
        if (!free || !(there.value < next.value)) {
            brio__combine(s->system, 1, d->q, 0.5, s->step, s->trial);
            break;
        }
        next = there;
        slope *= 2;
        t *= 2;
    }
    s->limit = limit;
    s->limit_step = limit_step;
    return t;
}

/* World positions at q, and their displacements along the step. */
static void aim(const BrioProblem *p, const double *q)
{
    BrioSolver *s = p->solver;
    brio__problem_positions(p, q, s->x);
    brio__system_directions(s->system, s->step, s->dx);
}

/* Where pairs limit the step: goes along one that knows of them, if that leads lower. `next`: the
 * value where the limited step leads to, and then where this one does, with s->trial. */
static bool foreseen(Descent *d, BrioValue *next)
{
    BrioSolver *s = d->s;
    BrioLimit limit = s->limit;
    double limit_step = s->limit_step;
    if (d->p->objective->a != 1 || !brio__foresee(d->p, d->q, aim)) return false;
    BrioValue there;
    double slope = brio__dot(s->system, s->gradient, s->step);
    double t = slope < 0 ? brio__problem_max_step(d->p, d->q) : 0;
    if (t > 0) t = brio__line_search(d->p, d->q, d->now, slope, t, &there);
    bool lower = t > 0 && there.value < next->value;
    if (lower) *next = there;
    brio__foresight_swap(d->p);
    s->limit = limit;
    s->limit_step = limit_step;
    d->factored = false;
    return lower;
}

/* A straight step stretches a body that rotates by an angle a by a^2/2, and stiff bodies allow
 * little stretch: then steps are short, and every second step only removes the stretch. If the
 * objective falls by less than its slope predicts, follows an arc on which components rotate, if
 * the objective is lower there. `t`: the fraction of the straight step, and then of the arc;
 * `next`: the value there, as in s->trial. */
static void along_arc(Descent *d, double *t, BrioValue *next)
{
    BrioSolver *s = d->s;
    double expected = d->allowed * (1 - d->allowed / 2) * fabs(d->slope);
    double straight = *t, best = *t > 0 ? next->value : d->now.value;
    bool worse = d->now.value - best < 0.8 * expected;
    if (!worse || d->drowned || d->p->mass == 0) return;
    BrioLimit limit = s->limit;
    double limit_step = s->limit_step;
    size_t bytes = 3 * (size_t)s->system->block_count * sizeof *d->q;
    memcpy(s->difference, s->step, bytes);
    bool lower = false;
    double part = d->allowed;
    for (int i = 0; i < 2 && !lower && part >= straight; i++, part /= 2) {
        brio__rigid_bend(s->rigid, d->q, s->difference, part, s->step);
        brio__combine(s->system, 1, d->q, 1, s->step, s->trial);
        BrioValue there = brio__problem_value(d->p, s->trial, NULL);
        lower = there.value < best && brio__lowered(d->now, there, part, d->slope) &&
                brio__problem_max_step(d->p, d->q) == 1;
        if (lower) *next = there, *t = part;
    }
    memcpy(s->step, s->difference, bytes);
    s->limit = limit;
    s->limit_step = limit_step;
    if (!lower) brio__combine(s->system, 1, d->q, straight, s->step, s->trial);
}

/* Goes along the step, as far as is allowed and lowers the objective, or farther. Returns t: the
 * step was t times as long; 0 if there is no such point. */
static double descend(Descent *d)
{
    BrioSolver *s = d->s;
    BrioValue next = d->now;
    double before = brio__seconds(), inner = inner_seconds(s);
    d->allowed = s->speed > 0 ? brio__problem_max_step(d->p, d->q) : 1;
    double t = brio__line_search(d->p, d->q, d->now, d->slope, d->allowed, &next);
    /* once scripts have arrived, the kinks of friction are close */
    bool smooth = s->dissipation->friction < 0 || !arrived(s);
    double enough = smooth ? 1 : BRIO_ENOUGH_LEFT;
    bool limited = s->pushed && t > 0 && !d->drowned && d->allowed < enough;
    if (limited && brio__limited_by_pairs(s) && !foreseen(d, &next))
        brio__combine(s->system, 1, d->q, t, s->step, s->trial);
    if (!limited) along_arc(d, &t, &next);
    if (t == 1 && smooth && !d->small && !d->drowned && too_stiff(d, next, d->slope)) {
        descend_ladder(&d->ladder);
        t = go_on(d, next);
    }
    s->totals.line_search += brio__seconds() - before - (inner_seconds(s) - inner);
    if (t == 0) return 0;
    /* too far, across the kinks of friction */
    if (s->dissipation->friction >= 0 && t < d->allowed) climb(&d->ladder, s->iterations);
    if (t >= 1 && arrived(s)) s->limit.term = NULL;
    memcpy(d->q, s->trial, 3 * (size_t)s->system->block_count * sizeof *d->q);
    return t;
}

/* The value and gradient at the new point, and whether the iteration has ended there. */
static BrioStatus ended(Descent *d, double t, bool *end)
{
    BrioSolver *s = d->s;
    bool renewed;
    *end = false;
    BRIO_CHECK(brio__renew_friction(d->p, d->q, d->small && (t == 1 || d->drowned), t == 1,
                                    &d->renewal, &renewed));
    double before = brio__seconds(), inner = inner_seconds(s), barrier = d->now.barrier;
    d->now = brio__problem_value(d->p, d->q, s->gradient);
    s->totals.gradient += brio__seconds() - before - (inner_seconds(s) - inner);
    /* Near contact steps are as short as distances, however large the force that is left: there,
     * barriers must have come to rest too. */
    double change = fabs(d->now.barrier - barrier), size = fmax(d->now.barrier, barrier);
    bool drowned = d->drowned && d->allowed >= BRIO_ENOUGH_LEFT;
    bool settled =
        drowned || change <= fmax(0.01 * size, 1e-9 * fabs(d->now.value / d->p->objective->s));
    *end = d->small && !renewed && (t == 1 || drowned) && (settled || ++d->unsettled > 30);
    d->last_speed = drowned && !renewed ? s->speed : INFINITY;
    d->factored = t == 1 && settled;
    return BRIO_OK;
}

/* While scripts are moving: a step together with them. Returns its fraction in `t`, 0 where
 * there is none. */
static BrioStatus push_together(Descent *d, double *t)
{
    BrioSolver *s = d->s;
    double way[3], before = brio__seconds(), inner = inner_seconds(s);
    const double *residual = brio__push_residual(d->p, d->q, way);
    s->totals.gradient += brio__seconds() - before - (inner_seconds(s) - inner);
    *t = 0;
    if (!residual) return BRIO_OK;
    BRIO_CHECK(step_for(d, residual));
    before = brio__seconds(), inner = inner_seconds(s);
    *t = brio__push_step(d->p, d->q, way, &d->now);
    s->totals.line_search += brio__seconds() - before - (inner_seconds(s) - inner);
    return BRIO_OK;
}

/* A step of Newton's where scripts are now. Says whether it lowered the objective much, as part of
 * what the last step of scripts had raised it by. */
static BrioStatus relax(Descent *d, bool *much)
{
    double before = d->now.value;
    BRIO_CHECK(direction(d));
    descend(d);
    d->now = brio__problem_value(d->p, d->q, d->s->gradient);
    *much = before - d->now.value > 0.1 * d->pushed;
    return BRIO_OK;
}

/* While scripts are moving: a step together with them, or of the script alone, and then as many
 * of Newton's as find something to relax: barriers that are pressed on and on become ever
 * stiffer. */
static BrioStatus push(Descent *d)
{
    BrioSolver *s = d->s;
    double before = d->now.value, t;
    bool much = false, moved;
    if (d->pushed > 0 || d->easing > 0) {
        BRIO_CHECK(relax(d, &much));
        if (!much || d->small) d->pushed = 0;
        if (d->easing > 0) d->easing--;
        if (d->easing == 0) d->push_t = 1;
        return BRIO_OK;
    }
    BRIO_CHECK(push_together(d, &t));
    if (t == 0) {
        moved = brio__push_alone(d->p, d->q);
        d->now = brio__problem_value(d->p, d->q, s->gradient);
        if (!moved) BRIO_CHECK(relax(d, &moved));
        if (!moved)
            return brio__problem_finish(d->p, BRIO_REASON_BLOCKED, BRIO_LINE_SEARCH_STALLED);
    }
    d->pushed = fmax(d->now.value - before, 0);
    /* the same pair limits the step twice, and is closer: the objective may fall nevertheless */
    if (d->push_t < BRIO_ENOUGH_LEFT && t < d->push_t / 2) d->easing = ease;
    d->push_t = t;
    return BRIO_OK;
}

/* There is no lower point along the step: converged, or stuck. */
static BrioStatus stand(const Descent *d)
{
    if (d->allowed >= BRIO_ENOUGH_LEFT && (d->small || d->drowned))
        return brio__problem_finish(d->p, d->small ? BRIO_REASON_TOLERANCE : BRIO_REASON_ROUNDOFF,
                                    BRIO_OK);
    return brio__problem_finish(d->p, d->s->limit.term ? BRIO_REASON_BLOCKED : BRIO_REASON_STALLED,
                                BRIO_LINE_SEARCH_STALLED);
}

static BrioStatus minimise(const BrioProblem *p, double *q, BrioValue *value)
{
    BrioSolver *s = p->solver;
    Descent d = {
        .p = p, .s = s, .q = q, .ladder = {.wait = 1}, .last_speed = INFINITY, .push_t = 1};
    bool end;
    BRIO_CHECK(begin(&d));
    BRIO_CHECK(rests(&d, &end));
    *value = d.now;
    if (end) return brio__problem_finish(p, BRIO_REASON_TOLERANCE, BRIO_OK);
    /* as many until scripts have arrived, and as many again from there */
    int64_t max_iterations = (int64_t)s->options.max_iterations << BRIO_MIN(s->halved, 3);
    int64_t last = max_iterations;
    for (s->iterations = 0; s->iterations < last;) {
        if (!arrived(s)) {
            BRIO_CHECK(push(&d));
            if (arrived(s)) last = s->iterations + max_iterations;
            continue;
        }
        BRIO_CHECK(direction(&d));
        *value = d.now;
        if (!d.small && d.drowned && s->speed > 0.9 * d.last_speed)
            return brio__problem_finish(p, BRIO_REASON_ROUNDOFF, BRIO_OK);
        double t = descend(&d);
        if (t == 0) return stand(&d);
        BRIO_CHECK(ended(&d, t, &end));
        *value = d.now;
        if (end) return brio__problem_finish(p, BRIO_REASON_TOLERANCE, BRIO_OK);
    }
    return brio__problem_finish(p, BRIO_REASON_ITERATIONS, BRIO_NOT_CONVERGED);
}

/* Whether some states are forbidden: there are barriers, or elements that must not invert. */
static bool forbids(const BrioSystem *system)
{
    bool found = system->surface && system->barrier;
    for (int i = 0; i < system->term_count; i++)
        found |=
            (system->term[i].energy->traits & BRIO_ENERGY_INFINITE) && system->term[i].elements > 0;
    return found;
}

/* Steps together with scripts until these have arrived; what then is still in their way is for
 * shorter steps. */
static BrioStatus push_linear(const BrioProblem *p, double *q, BrioValue *value)
{
    BrioSolver *s = p->solver;
    for (int i = 0; i < 20 && !arrived(s); i++) {
        double way[3];
        const double *residual = brio__push_residual(p, q, way);
        if (!residual) break;
        BRIO_CHECK(brio__newton_direction(p, q, residual, 1));
        if (brio__push_step(p, q, way, value) == 0) break;
    }
    return arrived(s) ? brio__problem_finish(p, BRIO_REASON_TOLERANCE, BRIO_OK)
                      : brio__problem_finish(p, BRIO_REASON_BLOCKED, BRIO_STEP_REJECTED);
}

/* One Newton step from q_n: the whole of it or, where states are forbidden, as much as is allowed
 * and lowers the objective. Where scripts push something, steps go together with them. */
BrioStatus brio__linear_step(const BrioProblem *p, double *q, BrioValue *value)
{
    BrioSolver *s = p->solver;
    bool careful = forbids(s->system);
    s->script_fraction = 1;
    if (careful && brio__problem_scripted(p)) brio__push_start(p);
    BrioValue now = brio__newton_start(p, q);
    if (!isfinite(now.value)) return brio__problem_finish(p, BRIO_REASON_START, BRIO_STEP_REJECTED);
    s->iterations = 0;
    *value = now; /* of the start: nobody asks for that of the end */
    if (!arrived(s)) return push_linear(p, q, value);
    BRIO_CHECK(brio__newton_direction(p, q, s->gradient, 1));
    double t = brio__problem_max_step(p, q);
    if (t < nothing_left) return brio__problem_finish(p, BRIO_REASON_BLOCKED, BRIO_STEP_REJECTED);
    if (careful) {
        BrioValue next;
        t = brio__line_search(p, q, now, brio__dot(s->system, s->gradient, s->step), t, &next);
        if (t == 0)
            return brio__problem_finish(p,
                                        s->limit.term ? BRIO_REASON_BLOCKED : BRIO_REASON_STALLED,
                                        BRIO_LINE_SEARCH_STALLED);
    }
    brio__combine(s->system, 1, q, t, s->step, q);
    return brio__problem_finish(p, BRIO_REASON_TOLERANCE, BRIO_OK);
}

BRIO_SOLVER(newton){
    .name = "newton",
    .summary = "Projected Newton with a line search; keys in the section `solver`.",
    .citation = "Teran2005",
    .minimise = minimise,
};
