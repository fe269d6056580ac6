/* Newton on the saddle point of the objective and the rods, gradient + G^T multiplier = 0, g = 0.
 *
 * Where rods pull along their directions at q_n this is no minimum of anything, so the line search
 * lowers the residual; Hessians are exact where they are positive definite. Ends when steps are
 * below the tolerance and lengths are right to `exact`, or to round-off. */
#include "direction.h"
#include "renew.h"

#include <string.h>

/* As fractions of lengths: what is asked for, and what round-off may leave of it far from the
 * origin. */
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
    brio__system_positions(s->system, p->state, p->state->q, p->state->time, c->world);
    brio__constraints_update(c, c->world);
    brio__constraints_pull_from_here(c);
    memset(c->multiplier, 0, (size_t)c->count * sizeof(double));
    brio__newton_start(p, q);
    return residual(p, q);
}

/* Halves the step until the merit falls; returns the fraction t of it, 0: nowhere. */
static double lower(const BrioProblem *p, const double *q, double merit, bool small, Saddle *next)
{
    BrioSolver *s = p->solver;
    BrioConstraints *c = s->constraints;
    size_t rods = (size_t)c->count;
    double t = s->speed > 0 ? brio__problem_max_step(p, q) : 1;
    memcpy(c->kept, c->multiplier, rods * sizeof(double));
    for (double min = t * 0x1p-30; t > min; t /= 2) {
        if (brio__problem_look(p) != BRIO_OK) break;
        brio__combine(s->system, 1, q, t, s->step, s->trial);
        for (size_t i = 0; i < rods; i++) c->multiplier[i] = c->kept[i] + t * c->change[i];
        *next = residual(p, s->trial);
        if (next->merit <= (1 - 1e-4 * t) * merit || (small && t == 1 && isfinite(next->merit)))
            return t;
    }
    memcpy(c->multiplier, c->kept, rods * sizeof(double));
    return 0;
}

BrioStatus brio__rods_minimise(const BrioProblem *p, double *q, BrioValue *value)
{
    BrioSolver *s = p->solver;
    BrioConstraints *c = s->constraints;
    size_t bytes = 3 * (size_t)s->system->block_count * sizeof *q;
    double last_speed = INFINITY;
    BrioRenewal renewal = {0};
    Saddle now = begin(p, q);
    if (!isfinite(now.merit)) return brio__problem_finish(p, BRIO_REASON_START, BRIO_STEP_REJECTED);
    for (s->iterations = 0; s->iterations < s->options.max_iterations;) {
        BrioStatus status = brio__newton_direction(p, q, s->gradient, 0);
        if (status == BRIO_NOT_POSITIVE_DEFINITE)
            status = brio__newton_direction(p, q, s->gradient, 1);
        BRIO_CHECK(status);
        bool small = s->speed < s->options.tol;
        Saddle next;
        double t = lower(p, q, now.merit, small, &next);
        if (t == 0) {
            now = residual(p, q);
            *value = now.value;
            bool cut = s->limit.term && s->limit_step < BRIO_ENOUGH_LEFT;
            if (!cut && now.worst <= close && s->speed * p->objective->h <= close * c->longest)
                return brio__problem_finish(p, BRIO_REASON_ROUNDOFF, BRIO_OK);
            return brio__problem_finish(p,
                                        s->limit.term ? BRIO_REASON_BLOCKED : BRIO_REASON_STALLED,
                                        BRIO_LINE_SEARCH_STALLED);
        }
        if (t == 1) s->limit.term = NULL;
        memcpy(q, s->trial, bytes);
        now = next;
        bool renewed = false;
        if (small && now.worst <= close)
            BRIO_CHECK(brio__renew_friction(p, q, true, true, &renewal, &renewed));
        if (renewed) now = residual(p, q);
        *value = now.value;
        if (small && !renewed && now.worst <= exact)
            return brio__problem_finish(p, BRIO_REASON_TOLERANCE, BRIO_OK);
        if (small && !renewed && now.worst <= close && s->speed > 0.5 * last_speed)
            return brio__problem_finish(p, BRIO_REASON_ROUNDOFF, BRIO_OK);
        last_speed = s->speed;
    }
    return brio__problem_finish(p, BRIO_REASON_ITERATIONS, BRIO_NOT_CONVERGED);
}
