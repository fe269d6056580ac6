/* Solves gradient = 0 with the merit |gradient|^2/2 and exact Hessians, projected ones where those
 * are not positive definite: the way that [Kharevych2006, Sec. 5.4] compares minimisation with. */
#include "direction.h"
#include "renew.h"

#include <string.h>

static double half_square(const BrioSolver *s)
{
    return brio__dot(s->system, s->gradient, s->gradient) / 2;
}

/* Halves the step from what is allowed of it until the merit falls: s->trial is then the new point,
 * with its gradient in s->gradient. */
static bool lower(const BrioProblem *p, const double *q, double t, double merit, BrioValue *next)
{
    BrioSolver *s = p->solver;
    for (double min = t * 0x1p-50; t > min; t /= 2) {
        if (brio__problem_look(p) != BRIO_OK) return false;
        brio__combine(s->system, 1, q, t, s->step, s->trial);
        *next = brio__problem_value(p, s->trial, s->gradient);
        if (isfinite(next->value) && half_square(s) <= (1 - 1e-4 * t) * merit) return true;
    }
    return false;
}

static BrioStatus minimise(const BrioProblem *p, double *q, BrioValue *value)
{
    BrioSolver *s = p->solver;
    const BrioSystem *system = s->system;
    double last_speed = INFINITY;
    BrioRenewal renewal = {0};
    *value = brio__newton_start(p, q);
    for (s->iterations = 0; s->iterations < s->options.max_iterations;) {
        double merit = half_square(s);
        if (!isfinite(merit))
            return brio__problem_finish(p, BRIO_REASON_NOT_FINITE, BRIO_NOT_FINITE);
        if (merit == 0) return brio__problem_finish(p, BRIO_REASON_ROUNDOFF, BRIO_OK);
        BrioStatus status = brio__newton_direction(p, q, s->gradient, 0);
        if (status > 0) status = brio__newton_direction(p, q, s->gradient, 1);
        BRIO_CHECK(status);
        bool small = s->speed < s->options.tol;
        BrioValue next;
        double allowed = brio__problem_max_step(p, q);
        if (!lower(p, q, allowed, merit, &next)) {
            *value = brio__problem_value(p, q, s->gradient);
            if (allowed < BRIO_ENOUGH_LEFT)
                return brio__problem_finish(p, BRIO_REASON_BLOCKED, BRIO_LINE_SEARCH_STALLED);
            if (small) return brio__problem_finish(p, BRIO_REASON_TOLERANCE, BRIO_OK);
            if (s->speed > 0.5 * last_speed)
                return brio__problem_finish(p, BRIO_REASON_ROUNDOFF, BRIO_OK);
            return brio__problem_finish(p, BRIO_REASON_STALLED, BRIO_LINE_SEARCH_STALLED);
        }
        memcpy(q, s->trial, 3 * (size_t)system->block_count * sizeof *q);
        *value = next;
        bool renewed = false;
        if (small) BRIO_CHECK(brio__renew_friction(p, q, true, true, &renewal, &renewed));
        if (small && !renewed) return brio__problem_finish(p, BRIO_REASON_TOLERANCE, BRIO_OK);
        if (renewed) *value = brio__problem_value(p, q, s->gradient);
        last_speed = s->speed;
    }
    return brio__problem_finish(p, BRIO_REASON_ITERATIONS, BRIO_NOT_CONVERGED);
}

BRIO_SOLVER(root){
    .name = "root",
    .summary =
        "Newton on gradient = 0 with the merit |gradient|^2: slower than minimising, kept for "
        "comparison.",
    .citation = "Kharevych2006",
    .minimise = minimise,
};
