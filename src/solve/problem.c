/* The objective of a solve: value, gradient, Hessian, limits, motion of fixed vertices (problem.h).
 */
#include "problem.h"

#include <float.h>
#include <string.h>

BrioProblem brio__problem(BrioSolver *s, const BrioState *state, const BrioObjective *o)
{
    bool damped = !o->massless && !o->undamped && s->dissipation->acts;
    if (o->a != 1) brio__system_fixed(s->system, state, state->time, s->x_fixed_n);
    return (BrioProblem){.solver = s,
                         .potential = s->potential,
                         .dissipation = damped ? s->dissipation : NULL,
                         .state = state,
                         .objective = o,
                         .mass = o->massless ? 0 : 1};
}

static BrioWay way_of(const BrioSolver *s)
{
    return (BrioWay){.fraction = s->script_fraction, .start = s->x_fixed_n};
}

void brio__problem_positions(const BrioProblem *p, const double *q, double *x)
{
    BrioSolver *s = p->solver;
    const BrioSystem *system = s->system;
    double a = p->objective->a;
    if (a == 1) {
        BrioWay way = way_of(s);
        brio__system_positions_on_way(system, p->state, q, p->objective->time, &way, x);
        return;
    }
    brio__combine(system, a, q, 1 - a, p->state->q, s->blend);
    brio__system_positions(system, p->state, s->blend, p->objective->time, x);
    for (int64_t i = 0; i < system->fixed_count; i++)
        for (int r = 0; r < 3; r++) {
            int64_t k = 3 * (int64_t)system->fixed[i] + r;
            x[k] = a * x[k] + (1 - a) * s->x_fixed_n[k];
        }
    brio__system_ride(system, x);
}

static double time_of(const BrioProblem *p)
{
    double a = p->objective->a;
    return a == 1 ? p->objective->time : a * p->objective->time + (1 - a) * p->state->time;
}

BrioPose brio__problem_pose(const BrioProblem *p)
{
    return (BrioPose){p->state, p->solver->x, time_of(p)};
}

BrioMotion brio__problem_motion(const BrioProblem *p, const double *q)
{
    BrioSolver *s = p->solver;
    const BrioState *state = p->state;
    const BrioObjective *o = p->objective;
    if (!o->blend_damping || o->a == 1)
        return (BrioMotion){.q = q,
                            .from = o->from ? o->from : state->q,
                            .over = o->from ? o->over : o->h,
                            .time = o->time,
                            .at = time_of(p),
                            .way = way_of(s)};
    brio__combine(s->system, o->a, q, 1 - o->a, state->q, s->damped_pose);
    return (BrioMotion){.q = s->damped_pose,
                        .from = state->q,
                        .over = o->a * o->h,
                        .time = state->time + o->a * (o->time - state->time),
                        .at = time_of(p),
                        .way = way_of(s)};
}

/* ---- value ------------------------------------------------------------------------------ */

/* The objective at q, given P with its gradient in `gradient` unless that is NULL. */
static BrioValue add_to_potential(const BrioProblem *p, const double *q, BrioSum sum,
                                  double *gradient)
{
    const BrioObjective *o = p->objective;
    const BrioSystem *system = p->solver->system;
    double distance = 0, dissipation = 0;
    if (p->dissipation && o->s != 0) {
        BrioMotion motion = brio__problem_motion(p, q);
        dissipation = brio__dissipation_value(p->dissipation, p->state, &motion, gradient);
    }
    dissipation *= o->blend_damping ? o->s : o->s * o->a;
    if (p->mass != 0)
        distance =
            p->mass / 2 * brio__mass_distance(system, q, o->target, p->mass, o->s * o->a, gradient);
    else if (gradient)
        brio__combine(system, o->s * o->a, gradient, 0, gradient, gradient);
    if (gradient) brio__system_mask(system, gradient);
    double noise = 16 * DBL_EPSILON * (distance + fabs(dissipation)) + o->s * sum.noise;
    return (BrioValue){.value = distance + o->s * sum.energy + dissipation,
                       .noise = noise,
                       .potential = sum.energy,
                       .potential_noise = sum.noise,
                       .barrier = sum.barrier};
}

BrioValue brio__problem_value(const BrioProblem *p, const double *q, double *gradient)
{
    BrioSolver *s = p->solver;
    size_t bytes = 3 * (size_t)s->system->block_count * sizeof *q;
    BrioSum sum = {0};
    if (p->objective->s != 0) {
        brio__problem_positions(p, q, s->x);
        BrioPose pose = brio__problem_pose(p);
        sum = brio__potential_evaluate(p->potential, &pose, gradient, NULL);
    } else if (gradient) {
        memset(gradient, 0, bytes);
    }
    return add_to_potential(p, q, sum, gradient);
}

BrioValue brio__problem_value_known(const BrioProblem *p, const double *q, const BrioGuess *known,
                                    double *gradient)
{
    size_t bytes = 3 * (size_t)p->solver->system->block_count * sizeof *q;
    BrioSum sum = {.energy = known->potential, .noise = known->noise};
    memcpy(gradient, known->gradient, bytes);
    return add_to_potential(p, q, sum, gradient);
}

/* ---- Hessian ---------------------------------------------------------------------------- */

/* Adds what dissipates, in the fixed pattern or in the overlay; `weight` has the factor s a. */
static BrioStatus add_dissipation(const BrioProblem *p, const double *q, double weight,
                                  bool project, bool overlay)
{
    if (!p->dissipation) return BRIO_OK;
    BrioMotion motion = brio__problem_motion(p, q);
    double factor = p->objective->blend_damping ? p->objective->a : 1;
    return brio__dissipation_hessian(p->dissipation, p->state, &motion, weight * factor, project,
                                     overlay, p->solver->linear);
}

BrioStatus brio__problem_hessian(const BrioProblem *p, const double *q, double projected,
                                 double shift)
{
    BrioSolver *s = p->solver;
    const BrioObjective *o = p->objective;
    brio__assemble_masses(s->system, p->mass + shift, s->linear);
    brio__problem_positions(p, q, s->x);
    BrioPose pose = brio__problem_pose(p);
    for (int project = 0; o->s != 0 && project < 2; project++) {
        double weight = (project ? projected : 1 - projected) * o->s * o->a;
        if (weight == 0) continue;
        BRIO_CHECK(add_dissipation(p, q, weight, project, true));
        BRIO_CHECK(brio__potential_hessian(p->potential, &pose, weight * o->a, project, s->linear));
        BRIO_CHECK(add_dissipation(p, q, weight, project, false));
    }
    if (s->constraints && !o->rods_from_start)
        brio__constraints_assemble(s->constraints, projected > 0, s->linear);
    return BRIO_OK;
}

/* ---- how far a step may go -------------------------------------------------------------- */

double brio__problem_allowed(const BrioProblem *p, double max)
{
    BrioSolver *s = p->solver;
    BrioLimit limit;
    BrioPose pose = brio__problem_pose(p);
    double t = brio__potential_max_step(p->potential, &pose, s->dx, &limit);
    if (limit.term && t < max) {
        s->limit = limit;
        s->limit_step = t;
    }
    return fmin(t, max);
}

double brio__problem_max_step(const BrioProblem *p, const double *q)
{
    BrioSolver *s = p->solver;
    double a = p->objective->a;
    brio__system_directions(s->system, s->step, s->dx);
    for (int64_t k = 0; a != 1 && k < 3 * s->system->vertex_count; k++) s->dx[k] *= a;
    brio__problem_positions(p, q, s->x);
    double t = brio__problem_allowed(p, INFINITY);
    if (a == 1) return t;
    brio__system_positions(s->system, p->state, q, p->objective->time, s->x);
    brio__system_directions(s->system, s->step, s->dx);
    return brio__problem_allowed(p, t);
}

/* ---- fixed vertices that scripts move ---------------------------------------------------- */

bool brio__problem_scripted(const BrioProblem *p)
{
    return p->solver->system->scripted_count && p->objective->a == 1;
}

/* ---- the end ---------------------------------------------------------------------------- */

const char *brio__reason_text(BrioReason reason)
{
    switch (reason) {
#define X(name, text) \
    case BRIO_REASON_##name: return text;
        BRIO_REASON_LIST(X)
#undef X
    }
    return "unknown";
}

/* "; continuous collision detection limited the last step to ...", or nothing. */
static void describe_limit(const BrioSolver *s, char *text, size_t size)
{
    char name[192];
    text[0] = 0;
    if (brio__limit_is_here(&s->limit)) {
        BrioElement element = s->limit.term->energy->element;
        const char *who = element == BRIO_ELEMENT_PAIR      ? "continuous collision detection"
                          : element == BRIO_ELEMENT_CONTACT ? "the distance from an obstacle"
                                                            : "the check against inversion";
        brio__limit_text(s->system, &s->limit, name, sizeof name);
        snprintf(text, size, "; %s limited the last step to %.2g of its length: %s", who,
                 s->limit_step, name);
    }
    if (s->limit.term)
        brio__partition_text(s->system->partition, brio__limit_is_here(&s->limit), text, size);
    size_t used = strlen(text);
    if (s->script_fraction < 0.99)
        snprintf(text + used, size - used, "; scripted vertices covered %.2g of their path",
                 s->script_fraction);
    else if (s->script_fraction < 1)
        snprintf(text + used, size - used, "; scripted vertices covered all but %.1g of their path",
                 1 - s->script_fraction);
}

/* What is left to do although the last step was below the tolerance. */
static const char *unmet(const BrioSolver *s)
{
    if (s->script_fraction < 1) return "scripted vertices have not arrived";
    if (s->limit.term) return "it could not be taken in full";
    if (s->constraints) return "rods or joints do not hold yet";
    return "contact forces have not come to rest";
}

/* "at 0.1 m/s (tolerance 0.01 m/s)", where there was a step to speak of. */
static void describe_speed(const BrioSolver *s, BrioReason reason, char *text, size_t size)
{
    bool stepped = reason == BRIO_REASON_ITERATIONS || reason == BRIO_REASON_STALLED ||
                   reason == BRIO_REASON_BLOCKED;
    text[0] = 0;
    if (stepped && s->speed < s->options.tol)
        snprintf(text, size,
                 "; the last step, %.3g m/s, is below the tolerance of %.3g m/s, but %s", s->speed,
                 s->options.tol, unmet(s));
    else if (stepped)
        snprintf(text, size, " at %.3g m/s (tolerance %.3g m/s)", s->speed, s->options.tol);
}

BrioStatus brio__problem_finish(const BrioProblem *p, BrioReason reason, BrioStatus status)
{
    BrioSolver *s = p->solver;
    char limit[360], speed[200];
    if (status == BRIO_NOT_FINITE) reason = BRIO_REASON_NOT_FINITE; /* whoever met it */
    s->reason = reason;
    if (reason == BRIO_REASON_ROUNDOFF) s->totals.roundoff++;
    if (status == BRIO_OK) return status;
    describe_limit(s, limit, sizeof limit);
    describe_speed(s, reason, speed, sizeof speed);
    snprintf(s->message, sizeof s->message, "Newton stopped after %d iterations%s: %s%s%s",
             s->iterations, speed, brio__reason_text(reason), limit,
             s->massless ? "; a free body has no equilibrium: is every body fixed or attached "
                           "somewhere?"
                         : "");
    return status;
}
