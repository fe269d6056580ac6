/* The ledger of a step: the work of moved points, of damping and of forces that solves left
 * unbalanced; and the end of a step, which books it. */
#include "stepper.h"

#include "../potential/forces.h"

#include <string.h>

/* ---- moved points ----------------------------------------------------------------------- */

/* Forces on fixed vertices and where they are, for the coordinates q at a time, into
 * fixed[2 * end], fixed[2 * end + 1]. */
void brio__stepper_hold(BrioStepper *s, const double *q, double time, int end)
{
    brio__system_positions(s->system, s->state, q, time, s->x);
    for (int64_t i = 0; i < s->system->fixed_count; i++)
        memcpy(s->fixed[2 * end] + 3 * i, s->x + 3 * (int64_t)s->system->fixed[i],
               3 * sizeof(double));
    brio__potential_fixed_gradient(s->potential, &(BrioPose){s->state, s->x, time},
                                   s->fixed[2 * end + 1]);
}

/* Work of the scripts that move fixed vertices: the mean of the forces at both ends times the
 * displacement, and what overcomes friction, which is returned also in `rubbed`: friction takes it
 * at once. */
static double script_work(BrioStepper *s, const double *q, double h, double *rubbed)
{
    *rubbed = 0;
    if (s->system->scripted_count == 0) return 0;
    double work = 0;
    bool moved = false;
    brio__system_fixed(s->system, s->state, s->state->time + h, s->x);
    for (int64_t i = 0; i < s->system->fixed_count && !moved; i++)
        moved = memcmp(s->fixed[0] + 3 * i, s->x + 3 * (int64_t)s->system->fixed[i],
                       3 * sizeof(double)) != 0;
    if (!brio__partition_any(s->system->partition, moved)) return 0;
    brio__stepper_hold(s, q, s->state->time + h, 1);
    for (int64_t k = 0; k < 3 * s->system->fixed_count; k++) {
        double way = s->fixed[2][k] - s->fixed[0][k];
        work += (s->fixed[1][k] + s->fixed[3][k]) / 2 * way;
        *rubbed += s->fixed_impulse[k] * way;
    }
    double joined[2] = {work, *rubbed};
    brio__partition_sum(s->system->partition, joined, 2);
    *rubbed = joined[1];
    return joined[0] + joined[1];
}

/* Work that forces bring from outside in a step to q, `difference` away: what potentials change by
 * because time goes on, the mean of that at both ends; and the work of forces without a potential,
 * of which `lost` is what they are about to take as dissipated although it only passes through. */
static double force_work(BrioStepper *s, const double *q, double h, double *lost)
{
    double start = s->state->time, end = start + h, varied = 0;
    *lost = 0;
    if (brio__forces_vary(s->system))
        for (int k = 0; k < 2; k++) {
            brio__system_positions(s->system, s->state, k ? q : s->state->q, k ? end : start, s->x);
            varied += brio__forces_varying(s->potential, &(BrioPose){s->state, s->x, end}) / 2;
            varied -= brio__forces_varying(s->potential, &(BrioPose){s->state, s->x, start}) / 2;
        }
    if (s->dissipation->forces < 0) return varied;
    *lost = brio__dot(s->system, s->brought, s->difference) + s->air_power * h;
    return varied + *lost;
}

void brio_stepper_work(BrioStepper *s, const double *q, double h, double *added, double *dissipated)
{
    BRIO_NEEDS_OR_NOTHING(s && q && added && dissipated);
    *dissipated = 0;
    brio__combine(s->system, 1, q, -1, s->state->q, s->difference);
    for (int i = 0; i < s->dissipation->count; i++)
        *dissipated += brio__dot(s->system, s->impulse[i], s->difference);
    double rubbed;
    *added = script_work(s, q, h, &rubbed);
    *dissipated += rubbed;
    if (s->system->force_count) {
        *added += force_work(s, q, h, &rubbed);
        *dissipated += rubbed;
    }
}

/* ---- the end of a step ------------------------------------------------------------------ */

static BrioStatus must_be_finite(BrioStepper *s, double h, const double *q, const double *v)
{
    int64_t count = 3 * (int64_t)brio__owned(s->system);
    if (!brio__partition_any(s->system->partition,
                             !brio__all_finite(count, q) || !brio__all_finite(count, v)))
        return BRIO_OK;
    snprintf(s->reason, sizeof s->reason,
             "the step of %g s led to positions or velocities that are not finite", h);
    return BRIO_NOT_FINITE;
}

/* To the end of a step, with its losses. */
static BrioStatus move_on(BrioStepper *s, double h, const double *q, const double *v)
{
    BrioState *state = s->state;
    if (s->out_of_memory)
        return brio_stepper_fail(s, BRIO_ERROR_MEMORY, brio_status_text(BRIO_ERROR_MEMORY));
    brio__combine(s->system, 1, q, -1, state->q, s->difference);
    for (int i = 0; i < s->dissipation->count; i++)
        state->dissipated[i] += brio__dot(s->system, s->impulse[i], s->difference);
    state->unfinished += brio__dot(s->system, s->unbalanced, s->difference);
    double rubbed;
    state->added += script_work(s, q, h, &rubbed);
    if (s->dissipation->friction >= 0) state->dissipated[s->dissipation->friction] += rubbed;
    if (s->system->force_count) {
        state->added += force_work(s, q, h, &rubbed);
        if (s->dissipation->forces >= 0) state->dissipated[s->dissipation->forces] += rubbed;
    }
    memcpy(state->q, q, (size_t)state->coordinates * sizeof *q);
    memcpy(state->v, v, (size_t)state->coordinates * sizeof *v);
    double taken[BRIO_LOSSES];
    brio__dissipation_filter(s->dissipation, state->q, h, state->v, taken);
    brio__system_mask(s->system, state->v);
    for (int i = 0; i < s->dissipation->count; i++) {
        state->dissipated[i] += taken[i];
        state->target -= taken[i];
    }
    state->time += h;
    state->last_h = h;
    s->accepted = true;
    return BRIO_OK;
}

/* The state at q is forbidden: says by whom. */
static BrioStatus refuse_forbidden(BrioStepper *s, double h, const double *q)
{
    BrioLimit limit;
    char name[160];
    brio__system_positions(s->system, s->state, q, s->state->time + h, s->x);
    bool here = brio__potential_find_forbidden(
        s->potential, &(BrioPose){s->state, s->x, s->state->time + h}, &limit);
    brio__limit_text(s->system, &limit, name, sizeof name);
    brio__partition_text(s->system->partition, here, name, sizeof name);
    snprintf(s->reason, sizeof s->reason, "the step of %g s would invert %s", h, name);
    return BRIO_STEP_REJECTED;
}

BrioStatus brio_stepper_accept(BrioStepper *s, double h, const double *q, const double *v)
{
    BRIO_NEEDS_OR(s && q && v, BRIO_ERROR_ARGUMENT);
    /* what was solved for is allowed */
    double P =
        s->traits & BRIO_END_IS_SOLVED ? 0 : brio_stepper_potential(s, q, s->state->time + h, NULL);
    return brio_stepper_accept_known(s, h, q, v, P);
}

BrioStatus brio_stepper_accept_known(BrioStepper *s, double h, const double *q, const double *v,
                                     double potential)
{
    BRIO_NEEDS_OR(s && q && v, BRIO_ERROR_ARGUMENT);
    BRIO_CHECK(must_be_finite(s, h, q, v));
    return isfinite(potential) ? move_on(s, h, q, v) : refuse_forbidden(s, h, q);
}
