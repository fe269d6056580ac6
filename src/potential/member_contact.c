/* Contact between surfaces as a member of the potential: barriers or springs over the pairs that
 * are close (contact/contact.h). */
#include "../contact/law.h"
#include "accounts.h"

#include <string.h>

typedef struct Pairs {
    const BrioSystem *system;
    BrioContact *contact;
    BrioSolveTotals *totals;
    double *world; /* a gradient by world positions */
} Pairs;

static void destroy(void *self)
{
    Pairs *c = self;
    brio__contact_free(c->contact);
    brio__free(c->world);
    brio__free(c);
}

static BrioStatus create(const BrioSystem *system, BrioSolveTotals *totals, void **self)
{
    if (!system->surface) return BRIO_OK;
    Pairs *c = brio__calloc(1, sizeof *c);
    if (!c) return BRIO_ERROR_MEMORY;
    c->system = system;
    c->totals = totals;
    c->world = brio__alloc(3 * (size_t)system->vertex_count, sizeof *c->world);
    BrioStatus status = c->world ? brio__contact_create(system, &c->contact) : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK)
        *self = c;
    else
        destroy(c);
    return status;
}

/* Adds what a call took since `start`, when the contact's own sums were `before`. */
static void book(Pairs *c, double start, BrioContactTotals before)
{
    const BrioContactTotals *now = brio__contact_totals(c->contact);
    double searched = now->broad_phase - before.broad_phase, swept = now->ccd - before.ccd;
    c->totals->broad_phase += searched;
    c->totals->ccd += swept;
    c->totals->contact += brio__seconds() - start - searched - swept;
    c->totals->searches = now->searches;
    c->totals->candidates = now->candidates;
}

static double value(void *self, const BrioPose *pose, double *gradient, double *term_energy)
{
    (void)term_energy;
    Pairs *c = self;
    double start = brio__seconds();
    BrioContactTotals before = *brio__contact_totals(c->contact);
    double energy = brio__contact_evaluate(c->contact, pose->state->param, pose->x, gradient, NULL);
    book(c, start, before);
    return energy;
}

static void fixed_gradient(void *self, const BrioPose *pose, double *gradient)
{
    Pairs *c = self;
    const BrioSystem *s = c->system;
    memset(c->world, 0, 3 * (size_t)s->vertex_count * sizeof *c->world);
    brio__contact_evaluate(c->contact, pose->state->param, pose->x, NULL, c->world);
    brio__system_gather_fixed(s, c->world, 1, gradient);
}

static BrioStatus hessian(void *self, const BrioPose *pose, double weight, bool project,
                          BrioLinear *matrix)
{
    Pairs *c = self;
    double start = brio__seconds();
    BrioContactTotals before = *brio__contact_totals(c->contact);
    BrioStatus status = brio__contact_assemble(c->contact, pose->state->param, pose->x, weight,
                                               project, matrix->overlay);
    book(c, start, before);
    return status;
}

static double max_step(void *self, const BrioPose *pose, const double *dx, BrioLimit *limit)
{
    Pairs *c = self;
    double start = brio__seconds();
    BrioContactTotals before = *brio__contact_totals(c->contact);
    double t = brio__contact_max_step(c->contact, pose->state->param, pose->x, dx, limit);
    book(c, start, before);
    return t;
}

/* Contacts between vertices: b'' (1, -1; -1, 1) along a normal, bounded by twice its diagonal. */
static void bound(void *self, const BrioPose *pose, double *bound, BrioComponents *components)
{
    Pairs *c = self;
    const BrioSystem *s = c->system;
    const BrioLaw *law = brio__law_at(s->law);
    if (!law->stiffness) return;
    double stiffness = law->stiffness(pose->state->param + s->contact_params);
    brio__contact_refresh(c->contact, pose->state->param, pose->x);
    const BrioPairs *pairs = brio__contact_pairs(c->contact, BRIO_PAIR_VERTEX_VERTEX);
    for (int64_t e = 0; e < pairs->term.elements; e++) {
        int32_t block[2] = {-1, -1};
        for (int i = 0; i < 2; i++) {
            int32_t vertex = brio__pairs_vertex(pairs, e, i);
            for (int32_t m = s->map_start[vertex]; m < s->map_start[vertex + 1]; m++) {
                block[i] = s->map_block[m];
                bound[BRIO_BOUND * (int64_t)block[i]] += 2 * stiffness * fabs(s->map_weight[m]);
            }
        }
        brio__components_join(components, block[0], block[1]);
    }
}

/* The node that identifies the partner of a pair. */
static int other_node(int kind) { return kind == BRIO_PAIR_VERTEX_VERTEX ? 1 : 3; }

static void split(void *self, const BrioPose *pose, const BrioSplit *to)
{
    Pairs *c = self;
    const double *param = pose->state->param + c->system->contact_params;
    brio__contact_refresh(c->contact, pose->state->param, pose->x);
    for (int kind = 0; kind < BRIO_PAIR_KINDS; kind++) {
        const BrioTerm *term = &brio__contact_pairs(c->contact, kind)->term;
        BrioBatch batch = {.node = term->node, .rest = term->rest, .params = param, .x = pose->x};
        brio__split_term(to, term, &batch, other_node(kind));
    }
}

/* Work of a pair's force on its two sides, of which the first has so many nodes. */
static void pair_works(const BrioPairs *pairs, int64_t e, int kind, const double *u, double work[2])
{
    const int first = kind == BRIO_PAIR_EDGE_EDGE || kind == BRIO_PAIR_PARALLEL ? 2 : 1;
    work[0] = work[1] = 0;
    for (int k = 0; k <= other_node(kind); k++) {
        const double *g = pairs->gradient + (e / LANES * 4 + k) * 3 * LANES + e % LANES;
        const double *way = u + 3 * (int64_t)brio__pairs_vertex(pairs, e, k);
        for (int r = 0; r < 3; r++) work[k >= first] -= g[r * LANES] * way[r];
    }
}

void brio__potential_pass(BrioPotential *p, const BrioPassage *to)
{
    const Pairs *c = p->self[BRIO_MEMBER_contact];
    for (int kind = 0; c && kind < BRIO_PAIR_KINDS; kind++) {
        const BrioPairs *pairs = brio__contact_pairs(c->contact, kind);
        for (int64_t e = 0; e < pairs->term.elements; e++) {
            int32_t a = to->account[brio__pairs_vertex(pairs, e, 0)];
            int32_t b = to->account[brio__pairs_vertex(pairs, e, other_node(kind))];
            double work[2];
            if (a == b) continue;
            pair_works(pairs, e, kind, to->u, work);
            if (a < 0 || b < 0) {
                if (to->brought) to->brought[BRIO_MAX(a, b)] -= to->weight * work[a < 0 ? 0 : 1];
                continue;
            }
            if (to->group) brio__accounts_join(to->group, a, b);
            if (!to->passed) continue;
            to->passed[a] += to->weight / 2 * (work[0] - work[1]);
            to->passed[b] -= to->weight / 2 * (work[0] - work[1]);
        }
    }
}

void brio__potential_expect(BrioPotential *p, const BrioState *state, const double *x,
                            const double *dx)
{
    Pairs *c = p->self[BRIO_MEMBER_contact];
    if (!c) return;
    double start = brio__seconds();
    BrioContactTotals before = *brio__contact_totals(c->contact);
    brio__contact_expect(c->contact, state->param, x, dx);
    book(c, start, before);
}

BrioContact *brio__potential_contact(const BrioPotential *p)
{
    const Pairs *c = p->self[BRIO_MEMBER_contact];
    return c ? c->contact : NULL;
}

BRIO_MEMBER(contact){
    .name = "contact",
    .create = create,
    .destroy = destroy,
    .value = value,
    .fixed_gradient = fixed_gradient,
    .hessian = hessian,
    .max_step = max_step,
    .bound = bound,
    .split = split,
};
