/* Friction renewed while a minimisation goes on: when, and until when (renew.h).
 *
 * Whether the iteration converges depends on how much friction changes the normal forces, mu times
 * height over width for a block. Where it does not, it must end: what counts as unchanged doubles
 * with every renewal past the fourth at an end, and none is made after half of the iterations that
 * a solve may take. Such solves are counted, and the run says how many there were. */
#include "renew.h"

/* Fraction of the force of friction that may be late. */
static const double tolerance = 1e-3;

BrioStatus brio__renew_friction(const BrioProblem *p, const double *q, bool end, BrioRenewal *r,
                                bool *renewed)
{
    BrioSolver *s = p->solver;
    int taken = s->system->friction_iterations; /* 0: as often as needed */
    *renewed = false;
    if (!p->dissipation || p->dissipation->friction < 0 || p->objective->s == 0 ||
        p->objective->keeps_friction || taken == 1 || (taken > 1 && !end) ||
        s->script_fraction != 1)
        return BRIO_OK;
    bool more = 2 * s->iterations <= s->options.max_iterations && !(taken && r->late + 1 >= taken);
    double unchanged = more ? ldexp(tolerance, BRIO_MAX(r->late - 4, 0)) : INFINITY, change;
    if (!more && !end) return BRIO_OK;
    BrioMotion motion = brio__problem_motion(p, q);
    brio__problem_positions(p, q, s->x);
    BRIO_CHECK(brio__dissipation_renew(p->dissipation, p->potential, p->state, &motion, s->x,
                                       unchanged, &change));
    *renewed = change > unchanged;
    r->late += *renewed && end;
    s->totals.friction_renewals += *renewed;
    s->totals.friction_open += end && !*renewed && change > tolerance;
    return BRIO_OK;
}
