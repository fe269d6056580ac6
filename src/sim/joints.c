/* Constraints and stitches of a simulation: reactions, and stitches that break.
 *
 * A stitch breaks at the end of a step if it pulls with more than it bears. Its factor in the live
 * parameters becomes 0, for good: checkpoints have it. The energy in it is booked as dissipated,
 * and the target of integrators that control energy falls by as much. */
#include "joints.h"

#include "../vec.h"

int brio_system_constraints(const BrioSystem *s) { return s->constraint_count; }

int brio_system_constraint(const BrioSystem *s, const char *name)
{
    for (int i = 0; name && i < s->constraint_count; i++)
        if (!strcmp(s->constraint[i].name, name)) return i;
    return -1;
}

BrioStatus brio_sim_reaction(const BrioSim *sim, int constraint, double force[3], double torque[3])
{
    const BrioConstraints *c = sim->stepper->solver->constraints;
    if (constraint < 0 || constraint >= sim->system->constraint_count || !c)
        return BRIO_ERROR_ARGUMENT;
    brio__constraints_reaction(c, constraint, force, torque);
    return BRIO_OK;
}

static const BrioTerm *stitches_of(const BrioSystem *s)
{
    return s->stitch_term >= 0 ? &s->term[s->stitch_term] : NULL;
}

/* The factor of stitch i. */
static double *live_of(const BrioSim *sim, const BrioTerm *term, int64_t i)
{
    return sim->state->param + term->live + i;
}

static double rest_of(const BrioTerm *term, int64_t i, int k)
{
    return term->rest[(i / LANES * term->energy->rest + k) * LANES + i % LANES];
}

/* How much longer than at rest stitch i is, with its direction from b to a in n. */
static double stretch_of(const BrioTerm *term, int64_t i, const double *x, double n[3])
{
    for (int r = 0; r < 3; r++) {
        n[r] = 0;
        for (int k = 0; k < 4; k++)
            n[r] += rest_of(term, i, BRIO_STITCH_WEIGHT + k) *
                    x[3 * (int64_t)brio__term_vertex(term, i, k) + r];
    }
    double length = brio__norm3(n);
    for (int r = 0; length > 0 && r < 3; r++) n[r] /= length;
    return length - rest_of(term, i, BRIO_STITCH_LENGTH);
}

void brio__sim_break_stitches(BrioSim *sim)
{
    const BrioTerm *term = stitches_of(sim->system);
    if (!term) return;
    const double *x = brio__sim_world(sim);
    for (int64_t i = 0; i < term->elements; i++) {
        double n[3], *live = live_of(sim, term, i), k = rest_of(term, i, BRIO_STITCH_K);
        if (*live == 0 || isinf(rest_of(term, i, BRIO_STITCH_BREAKING))) continue;
        double stretch = stretch_of(term, i, x, n);
        if (!(k * stretch > rest_of(term, i, BRIO_STITCH_BREAKING))) continue;
        *live = 0;
        sim->state->broken += k / 2 * stretch * stretch;
        sim->state->target -= k / 2 * stretch * stretch; /* NAN stays NAN */
    }
}

int64_t brio_sim_stitches(const BrioSim *sim, int64_t *broken)
{
    const BrioTerm *term = stitches_of(sim->system);
    if (broken) *broken = 0;
    for (int64_t i = 0; term && broken && i < term->elements; i++)
        *broken += *live_of(sim, term, i) == 0;
    return term ? term->elements : 0;
}

BrioStatus brio_sim_stitch(const BrioSim *sim, int64_t i, double force[3])
{
    const BrioTerm *term = stitches_of(sim->system);
    if (!term || i < 0 || i >= term->elements) return BRIO_ERROR_ARGUMENT;
    brio__system_positions(sim->system, sim->state, sim->state->q, sim->state->time,
                           sim->positions);
    double stretch = stretch_of(term, i, sim->positions, force);
    for (int r = 0; r < 3; r++)
        force[r] *= -stretch * rest_of(term, i, BRIO_STITCH_K) * *live_of(sim, term, i);
    return BRIO_OK;
}
