/* Projected Newton for the primitive.
 *
 * Each iteration solves (m M + s a^2 H + s a H_D) p = -(m M (q - target) + s a (g + g_D)), with g
 * and H the gradient and the Hessian (projected element by element as far as the matrix needs it to
 * be positive definite) of P at y = a q + (1-a) q_n, g_D and H_D those of the dissipation
 * potentials at q (at y, and s a^2 H_D, with blend_damping), shortens p so that no element becomes
 * forbidden, backtracks until the objective falls by a fraction of what its slope promises [Armijo
 * 1966], and ends when the full step is below the tolerance, max|p|/h < tol; that last step is
 * taken too.
 *
 * The objective is a sum of terms that may be far larger than what a step changes, so differences
 * below `noise` (a bound on the round-off of that sum) mean nothing: there, a step may raise it by
 * that much as long as steps get shorter, and when they no longer do, round-off has been reached
 * and the minimiser says so. */
#include "direction.h"
#include "renew.h"

#include <string.h>

/* As little projection as a positive definite matrix needs: with all of it iterations are many
 * where elements are compressed, for then they find no way out of a saddle. After a matrix that was
 * not definite there is more of it for a while, which doubles up to 8 iterations. */
static const double projection[] = {0, 1. / 64, 1. / 8, 1};
typedef struct Ladder {
    int rung, lower_at, wait;
} Ladder;

static bool climb(Ladder *ladder, int iteration)
{
    if (ladder->rung + 1 == (int)BRIO_COUNT(projection)) return false;
    ladder->rung++;
    ladder->lower_at = iteration + ladder->wait;
    ladder->wait = BRIO_MIN(2 * ladder->wait, 8);
    return true;
}

/* A minimisation at work. */
typedef struct Descent {
    const BrioProblem *p;
    BrioSolver *s;
    double *q;
    BrioValue now; /* at q, where the gradient is in s->gradient */
    Ladder ladder;
    double slope;      /* of the objective along the step */
    double last_speed; /* of the step before, where that drowned in round-off */
    bool small;        /* the step is below the tolerance, and fixed vertices have arrived */
    bool drowned;      /* what the slope promises is round-off */
    bool factored;     /* the last factor is of the last point, from which a whole step led here */
    int unsettled;     /* small steps after which barriers had not come to rest */
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
    if (brio__problem_scripted(d->p)) brio__problem_start_script(d->p);
    d->now = brio__newton_start(d->p, d->q);
    s->totals.gradient += brio__seconds() - before - (inner_seconds(s) - inner);
    if (isfinite(d->now.value)) return BRIO_OK;
    brio__problem_positions(d->p, d->q, s->x);
    bool forbidden =
        brio__potential_find_forbidden(d->p->potential, &(BrioPose){d->p->state, s->x}, &s->limit);
    brio__limit_join(s->system, forbidden ? 0 : 1, &s->limit);
    forbidden = s->limit.term;
    return brio__problem_finish(
        d->p, isnan(d->now.value) || !forbidden ? BRIO_REASON_NOT_FINITE : BRIO_REASON_START,
        BRIO_STEP_REJECTED);
}

/* The step into s->step, with as little projection as works, and what it promises. */
static BrioStatus direction(Descent *d)
{
    BrioSolver *s = d->s;
    Ladder *ladder = &d->ladder;
    bool chord = d->factored && brio__newton_last_factor_suffices(d->p);
    if (!chord && ladder->rung > 0 && s->iterations >= ladder->lower_at) ladder->rung--;
    BrioStatus status =
        chord ? BRIO_OK : brio__newton_direction(d->p, d->q, projection[ladder->rung]);
    while (status > 0 && climb(ladder, s->iterations))
        status = brio__newton_direction(d->p, d->q, projection[ladder->rung]);
    BRIO_CHECK(status);
    double before = brio__seconds();
    d->slope = brio__dot(s->system, s->gradient, s->step);
    s->totals.line_search += brio__seconds() - before;
    if (!isfinite(d->slope))
        return brio__problem_finish(d->p, BRIO_REASON_NOT_FINITE, BRIO_NOT_FINITE);
    d->small = s->speed < s->options.tol && arrived(s);
    d->drowned = fabs(d->slope) < d->now.noise;
    return BRIO_OK;
}

/* Goes along the step, as far as is allowed and lowers the objective. Returns the fraction t of it,
 * 0 if there is no such point. */
static double descend(Descent *d)
{
    BrioSolver *s = d->s;
    BrioValue next = d->now;
    double before = brio__seconds(), inner = inner_seconds(s);
    double max = s->speed > 0 ? brio__problem_max_step(d->p, d->q) : 1;
    double t = brio__line_search(d->p, d->q, d->now, d->slope, max, &next);
    s->totals.line_search += brio__seconds() - before - (inner_seconds(s) - inner);
    if (t == 0) return 0;
    /* too far, across the kinks of friction */
    if (s->dissipation->friction >= 0 && t < max) climb(&d->ladder, s->iterations);
    if (t == 1 && arrived(s)) s->limit.term = NULL;
    memcpy(d->q, s->trial, 3 * (size_t)s->system->block_count * sizeof *d->q);
    return t;
}

/* The value and gradient at the new point, and whether the iteration has ended there. */
static BrioStatus ended(Descent *d, double t, bool *end)
{
    BrioSolver *s = d->s;
    bool renewed;
    *end = false;
    BRIO_CHECK(brio__renew_friction(d->p, d->q, d->small && (t == 1 || d->drowned), &d->renewal,
                                    &renewed));
    if (renewed) climb(&d->ladder, s->iterations); /* the kinks are elsewhere now */
    double before = brio__seconds(), inner = inner_seconds(s), barrier = d->now.barrier;
    d->now = brio__problem_value(d->p, d->q, s->gradient);
    s->totals.gradient += brio__seconds() - before - (inner_seconds(s) - inner);
    /* Near contact steps are as short as distances, however large the force that is left: there,
     * barriers must have come to rest too. */
    double change = fabs(d->now.barrier - barrier), size = fmax(d->now.barrier, barrier);
    bool settled =
        d->drowned || change <= fmax(0.01 * size, 1e-9 * fabs(d->now.value / d->p->objective->s));
    *end = d->small && !renewed && (t == 1 || d->drowned) && (settled || ++d->unsettled > 30);
    d->last_speed = d->drowned && !renewed ? s->speed : INFINITY;
    d->factored = t == 1 && settled && !s->linear->type->iterates;
    return BRIO_OK;
}

static BrioStatus minimise(const BrioProblem *p, double *q, BrioValue *value)
{
    BrioSolver *s = p->solver;
    Descent d = {.p = p, .s = s, .q = q, .ladder = {.wait = 1}, .last_speed = INFINITY};
    BRIO_CHECK(begin(&d));
    int64_t max_iterations = (int64_t)s->options.max_iterations << BRIO_MIN(s->halved, 3);
    int64_t pushed = 0;
    for (s->iterations = 0; s->iterations < max_iterations + pushed;) {
        if (!arrived(s)) {
            if (brio__problem_move_fixed(p, q)) d.now = brio__problem_value(p, q, s->gradient);
            /* what scripts push aside makes way a little in each iteration: these do not count */
            pushed += pushed < 20 * s->options.max_iterations;
        }
        BRIO_CHECK(direction(&d));
        *value = d.now;
        if (!d.small && d.drowned && arrived(s) && s->speed > 0.9 * d.last_speed)
            return brio__problem_finish(p, BRIO_REASON_ROUNDOFF, BRIO_OK);
        double t = descend(&d);
        if (t == 0 && (d.small || (d.drowned && arrived(s))))
            return brio__problem_finish(p, d.small ? BRIO_REASON_TOLERANCE : BRIO_REASON_ROUNDOFF,
                                        BRIO_OK);
        if (t == 0)
            return brio__problem_finish(p,
                                        s->limit.term ? BRIO_REASON_BLOCKED : BRIO_REASON_STALLED,
                                        BRIO_LINE_SEARCH_STALLED);
        bool end;
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

/* One Newton step from q_n: the whole of it or, where states are forbidden, as much as is allowed
 * and lowers the objective. Obstacles that something stands in the way of are not passed: the step
 * is then to be tried in halves. */
BrioStatus brio__linear_step(const BrioProblem *p, double *q, BrioValue *value)
{
    BrioSolver *s = p->solver;
    bool careful = forbids(s->system), script_moves = careful && s->system->scripted_count;
    s->script_fraction = 1;
    if (script_moves) brio__problem_start_script(p);
    BrioValue now = brio__newton_start(p, q);
    if (!isfinite(now.value)) return brio__problem_finish(p, BRIO_REASON_START, BRIO_STEP_REJECTED);
    s->iterations = 0;
    BRIO_CHECK(brio__newton_direction(p, q, 1));
    double t = brio__problem_max_step(p, q);
    if (careful) {
        BrioValue next;
        t = brio__line_search(p, q, now, brio__dot(s->system, s->gradient, s->step), t, &next);
        if (t == 0)
            return brio__problem_finish(p,
                                        s->limit.term ? BRIO_REASON_BLOCKED : BRIO_REASON_STALLED,
                                        BRIO_LINE_SEARCH_STALLED);
    }
    brio__combine(s->system, 1, q, t, s->step, q);
    if (script_moves && !arrived(s)) {
        brio__problem_move_fixed(p, q);
        if (!arrived(s)) return brio__problem_finish(p, BRIO_REASON_BLOCKED, BRIO_STEP_REJECTED);
    }
    *value = now; /* of the start: nobody asks for that of the end */
    return brio__problem_finish(p, BRIO_REASON_TOLERANCE, BRIO_OK);
}

BRIO_SOLVER(newton){
    .name = "newton",
    .summary = "Projected Newton with a line search; keys in the section `solver`.",
    .citation = "Teran2005",
    .minimise = minimise,
};
