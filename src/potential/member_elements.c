/* Elements as a member of the potential: materials, weight, attachments, and the contacts of
 * vertices with analytic obstacles. The sums themselves are in elements.c. */
#include "potential.h"

typedef struct Elements {
    const BrioSystem *system;
    BrioEvaluator *evaluator;
    BrioSolveTotals *totals;
    double *push; /* gradients of the contacts with one obstacle */
    double *term; /* energies of terms */
} Elements;

static void destroy(void *self)
{
    Elements *e = self;
    brio__evaluator_free(e->evaluator);
    brio__free(e->push);
    brio__free(e->term);
    brio__free(e);
}

static BrioStatus create(const BrioSystem *system, BrioSolveTotals *totals, void **self)
{
    Elements *e = brio__calloc(1, sizeof *e);
    if (!e) return BRIO_ERROR_MEMORY;
    e->system = system;
    e->totals = totals;
    e->push = brio__alloc((size_t)brio__obstacle_room(system), sizeof *e->push);
    e->term = brio__alloc((size_t)system->term_count + 1, sizeof *e->term);
    BrioStatus status = e->push && e->term ? BRIO_OK : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK)
        status = brio__evaluator_create(system, system->term, system->term_count, &e->evaluator);
    if (status == BRIO_OK)
        *self = e;
    else
        destroy(e);
    return status;
}

static double value(void *self, const BrioPose *pose, double *gradient, double *term_energy)
{
    Elements *e = self;
    return brio__evaluate(e->evaluator, pose->state->param, pose->x, gradient, term_energy);
}

static void fixed_gradient(void *self, const BrioPose *pose, double *gradient)
{
    Elements *e = self;
    brio__fixed_gradient(e->evaluator, pose->state->param, pose->x, gradient);
}

static BrioStatus hessian(void *self, const BrioPose *pose, double weight, bool project,
                          BrioLinear *matrix)
{
    Elements *e = self;
    double seconds[2];
    brio__assemble_add(e->evaluator, pose->state->param, pose->x, weight, project, matrix, seconds);
    e->totals->hessian += seconds[0];
    e->totals->assembly += seconds[1];
    return BRIO_OK;
}

static double max_step(void *self, const BrioPose *pose, const double *dx, BrioLimit *limit)
{
    Elements *e = self;
    return brio__max_step(e->evaluator, pose->state->param, pose->x, dx, limit);
}

/* Contacts with analytic obstacles, each a spring along its normal: marks the blocks that they act
 * on, or adds to their bounds. */
static void touch(Elements *e, const BrioPose *pose, bool *mark, double *bound)
{
    const BrioSystem *s = e->system;
    const double *param = pose->state->param;
    for (int k = 0; k < s->analytic_count; k++) {
        const BrioTerm *term = &s->term[s->analytic_term + k];
        const BrioEnergy *energy = term->energy;
        brio__obstacle_gradients(term, param, pose->x, e->push);
        for (int64_t i = 0; i < term->elements; i++) {
            double n[3], rest[16], stiffness;
            if (!(brio__obstacle_push(e->push, i, n) > 0)) continue;
            int32_t vertex = brio__term_vertex(term, i, 0);
            for (int r = 0; r < energy->rest; r++)
                rest[r] = term->rest[(i / LANES * energy->rest + r) * LANES + i % LANES];
            energy->laplacian(rest, param + term->params, NULL, &stiffness);
            for (int32_t m = s->map_start[vertex]; m < s->map_start[vertex + 1]; m++) {
                if (mark) mark[s->map_block[m]] = true;
                if (bound)
                    brio__bound_add(bound + BRIO_BOUND * (int64_t)s->map_block[m],
                                    stiffness * fabs(s->map_weight[m]), n, 0);
            }
        }
    }
}

static void bound(void *self, const BrioPose *pose, double *bound, BrioComponents *components)
{
    (void)components;
    touch(self, pose, NULL, bound);
}

void brio__potential_mark_touching(BrioPotential *p, const BrioPose *pose, bool *mark)
{
    touch(p->self[BRIO_MEMBER_elements], pose, mark, NULL);
}

void brio__potential_add_touching(BrioPotential *p, const BrioPose *pose, double *gradient)
{
    Elements *e = p->self[BRIO_MEMBER_elements];
    const BrioSystem *s = e->system;
    for (int k = 0; k < s->analytic_count; k++) {
        const BrioTerm *term = &s->term[s->analytic_term + k];
        brio__obstacle_gradients(term, pose->state->param, pose->x, e->push);
        for (int64_t i = 0; i < term->elements; i++) {
            const double *g = e->push + i / LANES * 3 * LANES + i % LANES;
            int32_t vertex = brio__term_vertex(term, i, 0);
            for (int32_t m = s->map_start[vertex]; m < s->map_start[vertex + 1]; m++)
                for (int r = 0; r < 3; r++)
                    gradient[3 * (int64_t)s->map_block[m] + r] += s->map_weight[m] * g[r * LANES];
        }
    }
}

/* Terms of bodies as a whole; weight, attachments, obstacles and stitches element by element. */
static void split(void *self, const BrioPose *pose, const BrioSplit *to)
{
    Elements *e = self;
    const BrioSystem *s = e->system;
    brio__evaluate(e->evaluator, pose->state->param, pose->x, NULL, e->term);
    for (int t = 0; t < s->term_count; t++) {
        const BrioTerm *term = &s->term[t];
        BrioBatch batch = brio__term_batch(term, pose->state->param, pose->x);
        if (term->body >= 0)
            *brio__split_place(to, (int32_t)s->body[term->body].first) += e->term[t];
        else
            brio__split_term(to, term, &batch, 0);
    }
}

BrioEvaluator *brio__potential_elements(const BrioPotential *p)
{
    const Elements *e = p->self[BRIO_MEMBER_elements];
    return e->evaluator;
}

BRIO_MEMBER(elements){
    .name = "elements",
    .create = create,
    .destroy = destroy,
    .value = value,
    .fixed_gradient = fixed_gradient,
    .hessian = hessian,
    .max_step = max_step,
    .bound = bound,
    .split = split,
};
