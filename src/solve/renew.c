/* Friction renewed while a minimisation goes on: when, and until when (renew.h).
 *
 * Whether this converges depends on how much friction changes the normal forces: by mu times height
 * over width for a block. Where it does not, it must end. Late renewals whose change is not less
 * than half of the one before are counted. From the fifth on a change counts as none that doubles
 * with every one, and nothing is renewed after a third of the iterations that a minimisation may
 * take. Where changes do halve, renewals go on until one does not move the minimiser: ended before,
 * the result would depend on the way there. Such solves are counted, and a run says how many there
 * were.
 *
 * Late renewals are those where a minimisation would end, and of small changes that still move the
 * minimiser: waiting with these for the end would take an iteration more for each, which finds
 * nothing but that the last one has converged. */
#include "renew.h"

/* A fraction of the force of friction that counts as none. */
static const double unchanged = 1e-3;

/* Whether a change of the gradient, in s->difference, moves the minimiser by more than the
 * tolerance, judged by the last factor; where that cannot be, whether it is a change at all. */
static bool moves(const BrioProblem *p, double change)
{
    BrioSolver *s = p->solver;
    const BrioObjective *o = p->objective;
    if (change == 0) return false;
    if (s->constraints || brio__linear_solve(s->linear, 1, s->difference, s->trial) != BRIO_OK)
        return change > unchanged;
    return !(o->s * o->a * brio__norm_max(s->system, s->trial) / o->h < s->options.tol);
}

/* Whether friction may be renewed at all, and at points where a minimisation goes on. */
static bool renews(const BrioProblem *p, bool end, bool whole)
{
    const BrioSolver *s = p->solver;
    int taken = s->system->friction_iterations; /* 0: as often as needed */
    bool rubs = p->dissipation && p->dissipation->friction >= 0 && p->objective->s != 0;
    /* while scripts still move points, where they push is not known */
    return rubs && !p->objective->keeps_friction && taken != 1 && (end || (taken == 0 && whole)) &&
           s->script_fraction == 1;
}

BrioStatus brio__renew_friction(const BrioProblem *p, const double *q, bool end, bool whole,
                                BrioRenewal *r, bool *renewed)
{
    BrioSolver *s = p->solver;
    int taken = s->system->friction_iterations;
    bool more = 3 * s->iterations <= s->options.max_iterations && !(taken && r->count + 1 >= taken);
    *renewed = false;
    if (!renews(p, end, whole) || !(more || end)) return BRIO_OK;
    BrioMotion motion = brio__problem_motion(p, q);
    brio__problem_positions(p, q, s->x);
    double change;
    BRIO_CHECK(brio__dissipation_renew(p->dissipation, p->potential, p->state, &motion, s->x,
                                       s->difference, &change));
    bool late = end || change <= unchanged;
    bool differs = late ? moves(p, change) : true;
    *renewed = differs && more && (r->late < 4 || change > ldexp(unchanged, r->late - 4));
    if (*renewed) brio__dissipation_adopt(p->dissipation);
    r->count += *renewed;
    r->late += *renewed && late && !(change < r->last_change / 2);
    r->last_change = change;
    s->totals.friction_renewals += *renewed;
    s->totals.friction_open += end && differs && !*renewed;
    return BRIO_OK;
}
