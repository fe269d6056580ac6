/* P as the sum of its members: values, gradients, Hessians, limits and bounds, each summed once.
 *
 * Of a system on several processes each evaluates its own elements and pairs; energies are joined
 * by one sum, gradients by brio__partition_complete. Limits are joined by brio__limit_join. */
#include "potential.h"

#include "../linear/overlay.h"
#include "forces.h"

#include <float.h>
#include <string.h>

#define MEMBER(symbol) extern const BrioMember brio__member_##symbol;
#include "members.def"
#undef MEMBER

static const BrioMember *const members[BRIO_MEMBER_COUNT] = {
#define MEMBER(symbol) &brio__member_##symbol,
#include "members.def"
#undef MEMBER
};

BrioStatus brio__potential_create(const BrioSystem *system, BrioSolveTotals *totals,
                                  BrioPotential **potential)
{
    BrioPotential *p = brio__calloc(1, sizeof *p);
    if (!p) return BRIO_ERROR_MEMORY;
    p->system = system;
    p->totals = totals;
    p->row = brio__calloc((size_t)system->term_count + BRIO_MEMBER_COUNT + 1, sizeof *p->row);
    BrioStatus status = p->row ? BRIO_OK : BRIO_ERROR_MEMORY;
    for (int i = 0; i < BRIO_MEMBER_COUNT && status == BRIO_OK; i++)
        status = members[i]->create(system, totals, &p->self[i]);
    if (status == BRIO_OK)
        *potential = p;
    else
        brio__potential_free(p);
    return status;
}

void brio__potential_free(BrioPotential *p)
{
    if (!p) return;
    for (int i = 0; i < BRIO_MEMBER_COUNT; i++)
        if (p->self[i]) members[i]->destroy(p->self[i]);
    brio__free(p->row);
    brio__free(p);
}

/* Energy of all barriers, given those of members and terms. */
static double barrier_energy(const BrioPotential *p, const double *member)
{
    const BrioSystem *s = p->system;
    if (!s->barrier) return 0;
    double sum = member[BRIO_MEMBER_contact];
    for (int k = 0; k < s->analytic_count; k++) sum += p->row[s->analytic_term + k];
    return sum;
}

BrioSum brio__potential_evaluate(BrioPotential *p, const BrioPose *pose, double *gradient,
                                 double *term_energy)
{
    const BrioSystem *s = p->system;
    double *member = p->row + s->term_count, *all = member + BRIO_MEMBER_COUNT;
    BrioSum sum = {0};
    for (int i = 0; i < BRIO_MEMBER_COUNT; i++) {
        member[i] = p->self[i] ? members[i]->value(p->self[i], pose, gradient, p->row) : 0;
        sum.energy += member[i];
    }
    if (s->partition) {
        *all = sum.energy;
        brio__partition_sum(s->partition, p->row, s->term_count + BRIO_MEMBER_COUNT + 1);
        sum.energy = *all;
        if (gradient) brio__partition_complete(s->partition, gradient);
    }
    if (gradient) brio__system_mask(s, gradient);
    sum.noise = brio__evaluate_noise(brio__potential_elements(p), pose->state->param, p->row);
    for (int i = 0; i < BRIO_MEMBER_COUNT; i++) {
        sum.member[i] = member[i];
        if (i != BRIO_MEMBER_elements) sum.noise += 16 * DBL_EPSILON * fabs(member[i]);
    }
    sum.noise += 16 * DBL_EPSILON * brio__forces_magnitude(p);
    sum.barrier = barrier_energy(p, member);
    if (term_energy) memcpy(term_energy, p->row, (size_t)s->term_count * sizeof *p->row);
    p->totals->evaluations++;
    return sum;
}

void brio__potential_split(BrioPotential *p, const BrioPose *pose, const BrioSplit *split)
{
    for (int i = 0; i < BRIO_MEMBER_COUNT; i++)
        if (p->self[i] && members[i]->split) members[i]->split(p->self[i], pose, split);
}

void brio__potential_contact_gradient(BrioPotential *p, const BrioPose *pose, double *gradient)
{
    static const int of[] = {BRIO_MEMBER_contact, BRIO_MEMBER_colliders};
    memset(gradient, 0, 3 * (size_t)p->system->block_count * sizeof *gradient);
    brio__potential_add_touching(p, pose, gradient);
    for (size_t i = 0; i < BRIO_COUNT(of); i++)
        if (p->self[of[i]]) members[of[i]]->value(p->self[of[i]], pose, gradient, p->row);
    brio__system_mask(p->system, gradient);
}

void brio__potential_fixed_gradient(BrioPotential *p, const BrioPose *pose, double *gradient)
{
    memset(gradient, 0, 3 * (size_t)p->system->fixed_count * sizeof *gradient);
    for (int i = 0; i < BRIO_MEMBER_COUNT; i++)
        if (p->self[i] && members[i]->fixed_gradient)
            members[i]->fixed_gradient(p->self[i], pose, gradient);
}

BrioStatus brio__potential_hessian(BrioPotential *p, const BrioPose *pose, double weight,
                                   bool project, BrioLinear *matrix)
{
    for (int i = 0; i < BRIO_MEMBER_COUNT; i++)
        if (p->self[i] && members[i]->hessian)
            BRIO_CHECK(members[i]->hessian(p->self[i], pose, weight, project, matrix));
    return BRIO_OK;
}

double brio__potential_max_step(BrioPotential *p, const BrioPose *pose, const double *dx,
                                BrioLimit *limit)
{
    double min = 1;
    limit->term = NULL;
    for (int i = 0; i < BRIO_MEMBER_COUNT; i++) {
        BrioLimit other;
        if (!p->self[i] || !members[i]->max_step) continue;
        double t = members[i]->max_step(p->self[i], pose, dx, &other);
        if (!(t < min)) continue;
        min = t;
        *limit = other;
    }
    return brio__limit_join(p->system, min, limit);
}

void brio__potential_bound(BrioPotential *p, const BrioPose *pose, double *bound,
                           BrioComponents *components)
{
    for (int i = 0; i < BRIO_MEMBER_COUNT; i++)
        if (p->self[i] && members[i]->bound) members[i]->bound(p->self[i], pose, bound, components);
}

bool brio__potential_find_forbidden(BrioPotential *p, const BrioPose *pose, BrioLimit *limit)
{
    return brio__find_forbidden(brio__potential_elements(p), pose->state->param, pose->x, limit);
}

BrioStatus brio__potential_graph(BrioPotential *p, int64_t **start, int32_t **neighbour)
{
    return brio__evaluator_graph(brio__potential_elements(p), start, neighbour);
}

BrioStatus brio__potential_plan(BrioPotential *p, bool overlay, BrioLinear *matrix)
{
    BRIO_CHECK(brio__evaluator_plan(brio__potential_elements(p), matrix));
    matrix->axes = p->system->axes;
    if (!matrix->overlay && (overlay || brio__potential_contact(p)))
        return brio__overlay_create(&matrix->overlay);
    return BRIO_OK;
}
