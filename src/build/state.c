/* The initial state: coordinates q and velocities v from the bodies' vertices, base positions of
 * the points without coordinates, and the parameters of all terms.
 *
 * q of an affine body is the least-squares fit of its mass points to the vertices (affine.h). */
#include "../contact/contact.h"

#include "build.h"

/* Coordinates of a body that has some. */
static void fill_coordinates(const BrioBodyPlan *plan, const BrioSystem *s, const BrioBody *body,
                             BrioState *state)
{
    if (plan->weight) {
        int32_t k = s->map_start[body->first];
        if (k == s->map_start[body->first + 1]) return;
        int64_t at = 3 * (int64_t)s->map_block[k];
        brio__affine_fit(body->count, plan->weight, plan->x, state->q + at);
        brio__affine_fit(body->count, plan->weight, plan->v, state->v + at);
        return;
    }
    for (int64_t i = 0; body->cage && i < body->cage->node_count; i++) {
        if (plan->node_fix[i] >= 0) continue;
        int64_t at = 3 * (int64_t)plan->node_block[i];
        memcpy(state->q + at, plan->node_x + 3 * i, 3 * sizeof(double));
        memcpy(state->v + at, plan->node_v + 3 * i, 3 * sizeof(double));
    }
    for (int64_t v = 0; !body->cage && v < body->count; v++) {
        int32_t k = s->map_start[body->first + v];
        if (k == s->map_start[body->first + v + 1]) continue;
        int64_t at = 3 * (int64_t)s->map_block[k];
        memcpy(state->q + at, plan->x + 3 * v, 3 * sizeof(double));
        memcpy(state->v + at, plan->v + 3 * v, 3 * sizeof(double));
    }
}

/* Base positions of the points without coordinates, which ascend by vertex number: fixed vertices
 * of bodies, attachment points, mass points, obstacles. */
static void fill_anchors(const BrioBuilder *b, const BrioSystem *s, BrioState *state)
{
    for (int64_t i = 0; i < s->fixed_count; i++) {
        int64_t vertex = s->fixed[i], past = vertex - s->body_vertices;
        if (past >= b->attachment_count) break; /* mass points and obstacles: below */
        int body = brio__system_owner(s, vertex);
        const double *from = past >= 0 ? b->attachment[past].point
                                       : b->body[body].x + 3 * (vertex - s->body[body].first);
        memcpy(state->anchor + 3 * i, from, 3 * sizeof(double));
    }
    int64_t at = s->fixed_count - b->obstacle_vertices;
    int64_t first = s->vertex_count - b->obstacle_vertices;
    for (int i = 0; i < s->obstacle_count; i++) {
        const BrioObstacle *obstacle = &s->obstacle[i];
        if (obstacle->count)
            memcpy(state->anchor + 3 * (at + obstacle->first - first), b->obstacle[i].mesh->x,
                   3 * (size_t)obstacle->count * sizeof(double));
    }
    for (int i = s->body_count - 1; i >= 0; i--) {
        const BrioBodyPlan *plan = &b->body[i];
        const BrioCage *cage = s->body[i].cage;
        for (int64_t n = cage ? cage->node_count - 1 : -1; n >= 0; n--)
            if (plan->node_fix[n] >= 0)
                memcpy(state->anchor + 3 * --at, plan->node_x + 3 * n, 3 * sizeof(double));
        if (!plan->weight || plan->fix[0] < 0) continue;
        at -= 4;
        brio__affine_fit(s->body[i].count, plan->weight, plan->x, state->anchor + 3 * at);
    }
}

/* kappa, dhat and thickness of each plane or solid, and of all other contact. */
static void fill_contact(const BrioBuilder *b, const BrioSystem *s, BrioState *state)
{
    const BrioContactDef *c = &b->contact;
    const bool vertices = brio__meets_by_vertices(b);
    const double analytic[] = {[BRIO_CONTACT_KAPPA] = c->kappa,
                               [BRIO_CONTACT_DHAT] = c->dhat,
                               [BRIO_CONTACT_THICKNESS] = c->thickness};
    const double pairs[] = {[BRIO_CONTACT_KAPPA] = c->kappa,
                            [BRIO_CONTACT_DHAT] = vertices ? c->self : c->dhat,
                            [BRIO_CONTACT_THICKNESS] = vertices ? 0 : c->thickness};
    for (int k = 0; k < s->analytic_count; k++) {
        const BrioTerm *term = &s->term[s->analytic_term + k];
        memcpy(state->param + term->params, analytic,
               (size_t)term->energy->params * sizeof *analytic);
    }
    memcpy(state->param + s->contact_params, pairs, BRIO_CONTACT_PARAMS * sizeof *pairs);
    if (s->collider_params >= 0)
        memcpy(state->param + s->collider_params, analytic, sizeof analytic);
}

void brio__build_state(const BrioBuilder *b, const BrioSystem *s, BrioState *state)
{
    for (int i = 0; i < s->body_count; i++) {
        const BrioBodyPlan *plan = &b->body[i];
        const BrioBody *body = &s->body[i];
        memcpy(state->param + s->term[body->term].params, plan->params,
               (size_t)plan->energy->params * sizeof(double));
        memcpy(state->param + body->values, plan->values,
               (size_t)brio__fields_count(plan->energy->fields) * sizeof(double));
        if (plan->kind->params) plan->kind->params(plan, s, i, state->param);
        fill_coordinates(plan, s, body, state);
    }
    brio__system_mask(s, state->v);
    fill_anchors(b, s, state);
    memcpy(state->param + s->term[s->gravity_term].params, b->gravity, sizeof b->gravity);
    fill_contact(b, s, state);
    for (int i = 0; i < s->force_count; i++) state->param[s->force[i].param] = 1;
    for (int t = 0; t < s->term_count; t++)
        for (int64_t k = 0; k < s->term[t].packs * LANES * s->term[t].energy->live; k++)
            state->param[s->term[t].live + k] = 1;
}
