/* Contact of body vertices with closed meshes, by a law between vertices (contact/collider.h):
 *
 *     E = sum over vertices and what is near of w kappa/2 (d - dhat)^2 where d < dhat,
 *
 * d the signed distance from the mesh, which may move and change its shape. Gradient
 * kappa (d - dhat) n, Hessian kappa n n^T + kappa (d - dhat) C with C = d2d/dx2; the projected one
 * has of the second part what is positive. */
#include "../contact/collider.h"
#include "blocks.h"
#include "colliders.h"

typedef struct Colliders {
    const BrioSystem *system;
    BrioColliders *colliders;
    BrioSolveTotals *totals;
} Colliders;

static void destroy(void *self)
{
    Colliders *c = self;
    brio__colliders_free(c->colliders);
    brio__free(c);
}

static BrioStatus create(const BrioSystem *system, BrioSolveTotals *totals, void **self)
{
    BrioColliders *colliders = NULL;
    if (system->collider_params < 0) return BRIO_OK;
    BRIO_CHECK(brio__colliders_create(system, &colliders));
    if (!colliders) return BRIO_OK;
    Colliders *c = brio__calloc(1, sizeof *c);
    if (!c) {
        brio__colliders_free(colliders);
        return BRIO_ERROR_MEMORY;
    }
    *c = (Colliders){system, colliders, totals};
    *self = c;
    return BRIO_OK;
}

/* kappa of a vertex and an obstacle. */
static double stiffness(const BrioSystem *s, const double *param, const BrioHit *hit)
{
    double kappa = param[s->collider_params + BRIO_CONTACT_KAPPA];
    if (!s->stiffness) return kappa;
    return kappa * brio__stiffness_factor(s, brio__system_owner(s, hit->vertex),
                                          s->body_count + hit->obstacle);
}

static const BrioHit *find(Colliders *c, const BrioPose *pose, int64_t *count, double *dhat)
{
    double start = brio__seconds();
    *dhat = pose->state->param[c->system->collider_params + BRIO_CONTACT_DHAT];
    const BrioHit *hit = brio__colliders_find(c->colliders, pose->x, *dhat, count);
    c->totals->contact += brio__seconds() - start;
    return hit;
}

static double value(void *self, const BrioPose *pose, double *gradient, double *term_energy)
{
    (void)term_energy;
    Colliders *c = self;
    const BrioSystem *s = c->system;
    int64_t count;
    double dhat, energy = 0;
    const BrioHit *hit = find(c, pose, &count, &dhat);
    for (int64_t i = 0; i < count; i++, hit++) {
        double kappa = hit->weight * stiffness(s, pose->state->param, hit), depth = hit->d - dhat;
        energy += kappa / 2 * depth * depth;
        for (int32_t m = s->map_start[hit->vertex]; gradient && m < s->map_start[hit->vertex + 1];
             m++)
            for (int r = 0; r < 3; r++)
                gradient[3 * (int64_t)s->map_block[m] + r] +=
                    s->map_weight[m] * kappa * depth * hit->n[r];
    }
    return energy;
}

static void split(void *self, const BrioPose *pose, const BrioSplit *to)
{
    Colliders *c = self;
    int64_t count;
    double dhat;
    const BrioHit *hit = find(c, pose, &count, &dhat);
    for (int64_t i = 0; i < count; i++, hit++) {
        double kappa = hit->weight * stiffness(c->system, pose->state->param, hit);
        *brio__split_place(to, hit->vertex) += kappa / 2 * (hit->d - dhat) * (hit->d - dhat);
    }
}

static void fixed_gradient(void *self, const BrioPose *pose, double *gradient)
{
    Colliders *c = self;
    int64_t count;
    double dhat;
    const BrioHit *hit = find(c, pose, &count, &dhat);
    for (int64_t i = 0; i < count; i++, hit++) {
        double force =
            hit->weight * stiffness(c->system, pose->state->param, hit) * (hit->d - dhat);
        int32_t node[4];
        double share[4]; /* of a cage: nodes without coordinates carry the vertex, too */
        int carriers = brio__system_carriers(c->system, hit->vertex, node, share);
        for (int k = 0; k < carriers; k++) {
            int64_t at = 3 * brio__system_fixed_index(c->system, node[k]);
            for (int r = 0; r < 3; r++) gradient[at + r] += share[k] * force * hit->n[r];
        }
        for (int k = 0; k < 3; k++) {
            int64_t at = 3 * brio__system_fixed_index(c->system, hit->corner[k]);
            for (int r = 0; r < 3; r++) gradient[at + r] -= hit->w[k] * force * hit->n[r];
        }
    }
}

static BrioStatus hessian(void *self, const BrioPose *pose, double weight, bool project,
                          BrioLinear *matrix)
{
    Colliders *c = self;
    const BrioSystem *s = c->system;
    int64_t count;
    double dhat;
    const BrioHit *hit = find(c, pose, &count, &dhat);
    for (int64_t i = 0; i < count; i++, hit++) {
        double kappa = hit->weight * stiffness(s, pose->state->param, hit), H[9];
        double curved = kappa * (hit->d - dhat);
        brio__hit_curvature(hit, pose->x, H);
        /* C has the sign of d, and d - dhat is negative */
        if (project && curved * hit->d < 0) curved = 0;
        if (project && kappa < 0) kappa = 0;
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++)
                H[3 * r + k] = kappa * hit->n[r] * hit->n[k] + curved * H[3 * r + k];
        brio__pair_add(s, &matrix->A, hit->vertex, hit->vertex, weight, H);
    }
    return BRIO_OK;
}

static void bound(void *self, const BrioPose *pose, double *bound, BrioComponents *components)
{
    (void)components;
    Colliders *c = self;
    const BrioSystem *s = c->system;
    int64_t count;
    double dhat;
    const BrioHit *hit = find(c, pose, &count, &dhat);
    for (int64_t i = 0; i < count; i++, hit++) {
        double kappa = fmax(hit->weight, 0) * stiffness(s, pose->state->param, hit);
        for (int32_t m = s->map_start[hit->vertex]; m < s->map_start[hit->vertex + 1]; m++)
            brio__bound_add(bound + BRIO_BOUND * (int64_t)s->map_block[m],
                            kappa * fabs(s->map_weight[m]), hit->n, 0);
    }
}

void brio__colliders_mark_touching(const BrioPotential *p, const BrioPose *pose, bool *mark)
{
    Colliders *c = p->self[BRIO_MEMBER_colliders];
    int64_t count;
    double dhat;
    if (!c) return;
    const BrioSystem *s = c->system;
    const BrioHit *hit = find(c, pose, &count, &dhat);
    for (int64_t i = 0; i < count; i++)
        for (int32_t m = s->map_start[hit[i].vertex]; m < s->map_start[hit[i].vertex + 1]; m++)
            mark[s->map_block[m]] |= hit[i].weight > 0;
}

BrioColliders *brio__potential_colliders(const BrioPotential *p)
{
    const Colliders *c = p->self[BRIO_MEMBER_colliders];
    return c ? c->colliders : NULL;
}

BRIO_MEMBER(colliders){
    .name = "colliders",
    .create = create,
    .destroy = destroy,
    .value = value,
    .fixed_gradient = fixed_gradient,
    .hessian = hessian,
    .bound = bound,
    .split = split,
};
