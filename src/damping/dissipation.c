/* The sums over everything that dissipates (dissipation.h). */
#include "dissipation.h"

#include "forces.h"
#include "friction.h"

#include <string.h>

static BrioStatus add(BrioDissipation *d, const BrioDampingModel *model, const double *values)
{
    if (!model || d->count == BRIO_LOSSES) return BRIO_ERROR_ARGUMENT;
    BrioDamper *damper = &d->damper[d->count++];
    damper->model = model;
    if (values) memcpy(damper->values, values, sizeof damper->values);
    d->acts |= model->potential != NULL;
    return model->create ? model->create(d->system, damper->values, &damper->self) : BRIO_OK;
}

BrioStatus brio__dissipation_create(const BrioSystem *system, const BrioDamping *damping, int count,
                                    BrioDissipation **dissipation)
{
    if (count > BRIO_MAX_DAMPING) return BRIO_ERROR_ARGUMENT;
    BrioDissipation *d = brio__calloc(1, sizeof *d);
    if (!d) return BRIO_ERROR_MEMORY;
    d->system = system;
    d->friction = d->forces = -1;
    BrioStatus status = BRIO_OK;
    for (int i = 0; i < count && status == BRIO_OK; i++)
        status = add(d, brio__damping_model(damping[i].type), damping[i].values);
    if (status == BRIO_OK && system->friction &&
        (system->surface || system->analytic_count || system->collider_params >= 0)) {
        d->friction = d->count;
        status = add(d, &brio__friction_model, NULL);
    }
    if (status == BRIO_OK && brio__forces_without_potential(system)) {
        d->forces = d->count;
        status = add(d, &brio__forces_model, NULL);
    }
    if (status == BRIO_OK)
        *dissipation = d;
    else
        brio__dissipation_free(d);
    return status;
}

void brio__dissipation_free(BrioDissipation *d)
{
    if (!d) return;
    for (int i = 0; i < d->count; i++)
        if (d->damper[i].model->destroy) d->damper[i].model->destroy(d->damper[i].self);
    brio__free(d);
}

bool brio__dissipation_needs_matrix(const BrioDissipation *d)
{
    bool needs = false;
    for (int i = 0; i < d->count; i++) {
        const BrioDamper *damper = &d->damper[i];
        needs |= damper->model->needs_matrix && damper->model->needs_matrix(damper->values);
    }
    return needs;
}

BrioStatus brio__dissipation_lag(BrioDissipation *d, BrioPotential *potential,
                                 const BrioState *state, BrioLinear *matrix)
{
    for (int i = 0; i < d->count; i++) {
        const BrioDamper *damper = &d->damper[i];
        if (damper->model->lag)
            BRIO_CHECK(damper->model->lag(damper->self, damper->values, potential, state, matrix));
    }
    return BRIO_OK;
}

BrioStatus brio__dissipation_renew(BrioDissipation *d, BrioPotential *potential,
                                   const BrioState *state, const BrioMotion *motion,
                                   const double *x, double *difference, double *change)
{
    *change = 0;
    if (d->friction < 0) return BRIO_OK;
    const BrioDamper *damper = &d->damper[d->friction];
    return damper->model->renew(damper->self, potential, state, motion, x, difference, change);
}

void brio__dissipation_adopt(BrioDissipation *d)
{
    const BrioDamper *damper = &d->damper[d->friction];
    damper->model->adopt(damper->self);
}

BrioStatus brio__dissipation_hold(BrioDissipation *d, BrioPotential *potential,
                                  const BrioState *state, const BrioMotion *motion, const double *x,
                                  const double *pull, double *change, double *difference)
{
    const BrioDamper *damper = &d->damper[d->friction];
    return damper->model->hold(damper->self, potential, state, motion, x, pull, change, difference);
}

double brio__dissipation_value(BrioDissipation *d, const BrioState *state, const BrioMotion *motion,
                               double *gradient)
{
    double sum = 0;
    for (int i = 0; i < d->count; i++) {
        const BrioDamper *damper = &d->damper[i];
        if (damper->model->potential)
            sum += damper->model->potential(damper->self, damper->values, state, motion, gradient);
    }
    return sum;
}

BrioStatus brio__dissipation_hessian(BrioDissipation *d, const BrioState *state,
                                     const BrioMotion *motion, double weight, bool project,
                                     bool overlay, BrioLinear *matrix)
{
    for (int i = 0; i < d->count; i++) {
        const BrioDamper *damper = &d->damper[i];
        if (damper->model->assemble && damper->model->overlay == overlay)
            BRIO_CHECK(damper->model->assemble(damper->self, damper->values, state, motion, weight,
                                               project, matrix));
    }
    return BRIO_OK;
}

void brio__dissipation_bound(BrioDissipation *d, const BrioState *state, const BrioMotion *motion,
                             double weight, double *bound)
{
    for (int i = 0; i < d->count; i++) {
        const BrioDamper *damper = &d->damper[i];
        if (damper->model->bound) damper->model->bound(damper->self, state, motion, weight, bound);
    }
}

void brio__dissipation_filter(BrioDissipation *d, const double *q, double h, double *v,
                              double taken[BRIO_LOSSES])
{
    for (int i = 0; i < d->count; i++) {
        const BrioDamper *damper = &d->damper[i];
        taken[i] = damper->model->filter
                       ? damper->model->filter(damper->self, damper->values, d->system, q, h, v)
                       : 0;
    }
}
