/* Newton on the saddle point of the objective F and the constraints (sequential quadratic
 * programming, [Nocedal2006, Ch. 18]): gradient + G^T multiplier = 0, g = 0, and for one-sided
 * conditions g >= 0, multiplier <= 0, one of them 0.
 *
 * A step is taken if it lowers the residual
 *
 *     |gradient + G^T multiplier|^2 in M^-1  +  sum inertia g^2
 *
 * below all that were before, or else, where constraints pull along their directions at q, if it
 * lowers the penalty function F + sum penalty |g|, along which it is a descent direction because
 * penalties are larger than multipliers. The residual falls geometrically or ever more seldom; in
 * between the penalty function falls: there is no cycle, and whole steps are taken near the
 * solution. Where constraints pull along their directions at q_n there is no F. Steps are cut first
 * to what the potential allows, so that nothing passes through anything.
 *
 * Hessians are exact where they are positive definite. Ends when steps are below the tolerance and
 * conditions hold to `exact`, or to round-off; near contact, barriers must have come to rest
 * too. */
#include "direction.h"
#include "push.h"
#include "renew.h"

#include <string.h>

/* Of conditions, as fractions of lengths: what is asked for, and what round-off may leave of it far
 * from the origin. */
static const double exact = 1e-13, close = 1e-10;

/* A point of the iteration. */
typedef struct Saddle {
    double merit; /* |residual|^2 in M^-1 plus sum inertia g^2, both in kg m^2 */
    double worst; /* the largest |g_i|/l_i */
    BrioValue value;
} Saddle;

/* The residual of the saddle point, gradient + G^T multiplier, into s->gradient. */
static Saddle residual(const BrioProblem *p, const double *q)
{
    BrioSolver *s = p->solver;
    BrioConstraints *c = s->constraints;
    Saddle at = {.value = brio__problem_value(p, q, s->gradient)};
    brio__system_positions(s->system, p->state, q, p->objective->time, c->world);
    at.worst = brio__constraints_update(c, c->world);
    if (!p->objective->rods_from_start) brio__constraints_pull_from_here(c);
    brio__constraints_add_force(c, s->gradient);
    brio__mass_solve(s->system, s->gradient, s->difference);
    at.merit = isfinite(at.value.value)
                   ? brio__dot(s->system, s->gradient, s->difference) + brio__constraints_merit(c)
                   : INFINITY;
    return at;
}

static Saddle begin(const BrioProblem *p, double *q)
{
    BrioSolver *s = p->solver;
    BrioConstraints *c = s->constraints;
    const BrioObjective *o = p->objective;
    s->script_fraction = 1;
    if (brio__problem_scripted(p)) brio__push_start(p);
    brio__constraints_begin(c, p->state, brio__multiplier_scale(o));
    brio__newton_start(p, q);
    return residual(p, q);
}

/* A minimisation at work. */
typedef struct Search {
    Saddle now;
    double best;  /* of the residuals so far */
    double value; /* of the penalty function at q */
    double slope; /* along the whole step; positive: it is of no use */
} Search;

/* The penalty function at q and its slope along s->step. `gradient`: of F + G^T multiplier. */
static void measure(const BrioProblem *p, Search *search)
{
    BrioSolver *s = p->solver;
    BrioConstraints *c = s->constraints;
    search->slope = INFINITY;
    if (p->objective->rods_from_start) return;
    brio__constraints_raise_penalty(c);
    double penalty = brio__constraints_penalty(c);
    search->value = search->now.value.value + penalty;
    search->slope = brio__dot(s->system, s->gradient, s->step) -
                    brio__dot(s->system, c->force, s->step) - penalty;
}

/* Whether t times the step is an improvement. */
static bool improved(const BrioProblem *p, const Search *search, double t, const Saddle *next)
{
    if (!isfinite(next->merit)) return false;
    if (next->merit <= (1 - 1e-4 * t) * search->best) return true;
    double noise = fmax(search->now.value.noise, next->value.noise);
    if (!(search->slope < -noise)) return false;
    return next->value.value + brio__constraints_penalty(p->solver->constraints) <=
           search->value + 1e-4 * t * search->slope;
}

/* Halves the step until it is an improvement; returns its fraction t, 0: there is none. */
static double lower(const BrioProblem *p, const double *q, bool small, Search *search, Saddle *next)
{
    BrioSolver *s = p->solver;
    BrioConstraints *c = s->constraints;
    size_t rows = (size_t)c->count;
    measure(p, search);
    double t = s->speed > 0 ? brio__problem_max_step(p, q) : 1;
    memcpy(c->kept, c->multiplier, rows * sizeof(double));
    for (double min = t * 0x1p-30; t > min; t /= 2) {
        if (brio__problem_look(p) != BRIO_OK) break;
        brio__combine(s->system, 1, q, t, s->step, s->trial);
        for (size_t i = 0; i < rows; i++) c->multiplier[i] = c->kept[i] + t * c->change[i];
        *next = residual(p, s->trial);
        if (improved(p, search, t, next) || (small && t == 1 && isfinite(next->merit))) return t;
    }
    memcpy(c->multiplier, c->kept, rows * sizeof(double));
    return 0;
}

static BrioStatus direction(const BrioProblem *p, const double *q)
{
    BrioSolver *s = p->solver;
    BrioStatus status = brio__newton_direction(p, q, s->gradient, 0);
    return status == BRIO_NOT_POSITIVE_DEFINITE ? brio__newton_direction(p, q, s->gradient, 1)
                                                : status;
}

/* There is no improvement along the step: converged, or stuck. */
static BrioStatus stand(const BrioProblem *p, const double *q, BrioValue *value)
{
    BrioSolver *s = p->solver;
    Saddle now = residual(p, q);
    *value = now.value;
    bool cut = s->script_fraction < 1 || (s->limit.term && s->limit_step < BRIO_ENOUGH_LEFT);
    if (!cut && now.worst <= close && s->speed * p->objective->h <= close * s->constraints->longest)
        return brio__problem_finish(p, BRIO_REASON_ROUNDOFF, BRIO_OK);
    return brio__problem_finish(p, s->limit.term ? BRIO_REASON_BLOCKED : BRIO_REASON_STALLED,
                                BRIO_LINE_SEARCH_STALLED);
}

/* Whether barriers have come to rest: near contact steps are as short as distances, however large
 * the force that is left. */
static bool settled(const BrioProblem *p, const Saddle *before, const Saddle *now)
{
    double change = fabs(now->value.barrier - before->value.barrier);
    double size = fmax(now->value.barrier, before->value.barrier);
    return change <= fmax(0.01 * size, 1e-9 * fabs(now->value.value / p->objective->s)) ||
           size == 0;
}

/* While scripts are moving they go half of the way that is free, alone, and then a step relaxes
 * what they press. Returns whether they came on. */
static bool push(const BrioProblem *p, const double *q, Search *search)
{
    if (p->solver->script_fraction == 1) return false;
    bool moved = brio__push_alone(p, q);
    search->now = residual(p, q);
    search->best = search->now.merit;
    return moved;
}

BrioStatus brio__saddle_minimise(const BrioProblem *p, double *q, BrioValue *value)
{
    BrioSolver *s = p->solver;
    size_t bytes = 3 * (size_t)s->system->block_count * sizeof *q;
    double last_speed = INFINITY;
    int unsettled = 0;
    BrioRenewal renewal = {0};
    Search search = {.now = begin(p, q)};
    if (!isfinite(search.now.merit))
        return brio__problem_finish(p, BRIO_REASON_START, BRIO_STEP_REJECTED);
    search.best = search.now.merit;
    int64_t most = (int64_t)s->options.max_iterations << BRIO_MIN(s->halved, 3);
    for (s->iterations = 0; s->iterations < most;) {
        bool moved = push(p, q, &search);
        BRIO_CHECK(direction(p, q));
        bool small = s->speed < s->options.tol;
        Saddle next;
        double t = lower(p, q, small, &search, &next);
        if (t == 0 && moved) continue;
        if (t == 0) return stand(p, q, value);
        if (t == 1) s->limit.term = NULL;
        memcpy(q, s->trial, bytes);
        bool rest = settled(p, &search.now, &next) || ++unsettled > 30;
        search.now = next;
        search.best = fmin(search.best, next.merit);
        bool renewed = false;
        if (small && next.worst <= close)
            BRIO_CHECK(brio__renew_friction(p, q, true, true, &renewal, &renewed));
        if (renewed) {
            search.now = residual(p, q);
            search.best = search.now.merit;
        }
        *value = search.now.value;
        bool arrived = s->script_fraction == 1 && !renewed && rest;
        bool end = small && arrived && (t == 1 || !s->limit.term);
        if (end && search.now.worst <= exact)
            return brio__problem_finish(p, BRIO_REASON_TOLERANCE, BRIO_OK);
        bool tiny = s->speed * p->objective->h <= close * s->constraints->longest;
        if ((end || (tiny && arrived)) && search.now.worst <= close && s->speed > 0.5 * last_speed)
            return brio__problem_finish(p, BRIO_REASON_ROUNDOFF, BRIO_OK);
        last_speed = s->speed;
    }
    return brio__problem_finish(p, BRIO_REASON_ITERATIONS, BRIO_NOT_CONVERGED);
}
