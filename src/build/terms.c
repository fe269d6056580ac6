/* Terms: one energy over many elements, in packs of eight lanes (BrioTerm), and where their
 * parameters are in the state. The order is: the elastic terms of each body, attachments, gravity,
 * planes and solids, stitches. */
#include "../contact/contact.h"

#include "build.h"

BrioStatus brio__start_term(BrioSystem *s, const BrioEnergy *energy, int body, int64_t elements,
                            BrioTerm **started)
{
    BrioTerm *term = &s->term[s->term_count];
    *term = (BrioTerm){.energy = energy,
                       .body = body,
                       .elements = elements,
                       .packs = (elements + LANES - 1) / LANES,
                       .params = s->param_count};
    term->node =
        brio__alloc((size_t)term->packs * LANES * (size_t)energy->nodes, sizeof *term->node);
    term->rest =
        brio__alloc((size_t)term->packs * LANES * (size_t)energy->rest, sizeof *term->rest);
    s->term_count++;
    s->param_count += energy->params;
    if (energy->live) { /* read as lanes: aligned */
        term->live = (s->param_count + LANES - 1) / LANES * LANES;
        s->param_count = term->live + (int)term->packs * LANES * energy->live;
    }
    *started = term;
    return term->node && term->rest ? BRIO_OK : BRIO_ERROR_MEMORY;
}

void brio__set_element(BrioTerm *term, int64_t e, const int32_t *vertex, const double *X,
                       double scale, double length)
{
    const BrioEnergy *energy = term->energy;
    double rest[16];
    energy->rest_shape(X, scale, length, rest);
    /* the last element fills its block, weightless */
    int64_t last = e == term->elements - 1 ? term->packs * LANES : e + 1;
    for (int64_t i = e; i < last; i++) {
        int64_t pack = i / LANES, lane_number = i % LANES;
        for (int k = 0; k < energy->nodes; k++)
            term->node[(pack * energy->nodes + k) * LANES + lane_number] = 3 * vertex[k];
        for (int k = 0; k < energy->rest; k++)
            term->rest[(pack * energy->rest + k) * LANES + lane_number] =
                i > e && k == 0 ? 0 : rest[k];
    }
}

BrioStatus brio__body_term(const BrioBodyPlan *plan, BrioSystem *s, int body,
                           const BrioEnergy *energy, const int32_t *element, int64_t elements,
                           double length)
{
    BrioBody *b = &s->body[body];
    BrioTerm *term;
    BRIO_CHECK(brio__start_term(s, energy, body, elements, &term));
    b->term_count++;
    for (int64_t e = 0; e < term->elements; e++) {
        int32_t vertex[4];
        double X[12];
        for (int k = 0; k < energy->nodes; k++) {
            int32_t own = element[energy->nodes * e + k];
            vertex[k] = (int32_t)b->first + own;
            memcpy(X + 3 * k, plan->mesh->x + 3 * (int64_t)own, 3 * sizeof *X);
        }
        brio__set_element(term, e, vertex, X, plan->spring ? plan->spring[2 * e] : 1,
                          plan->spring ? plan->spring[2 * e + 1] : length);
    }
    return BRIO_OK;
}

static BrioStatus attachment_term(const BrioBuilder *b, BrioSystem *s)
{
    BrioTerm *term;
    if (b->attachment_count == 0) return BRIO_OK;
    BRIO_CHECK(brio__start_term(s, brio__energy("attachment"), -1, b->attachment_count, &term));
    for (int64_t a = 0; a < b->attachment_count; a++) {
        const BrioAttachmentPlan *at = &b->attachment[a];
        int32_t vertex[2] = {(int32_t)s->body[at->body].first + at->vertex,
                             (int32_t)(s->body_vertices + a)};
        double X[6] = {0};
        brio__set_element(term, a, vertex, X, at->k, NAN);
    }
    return BRIO_OK;
}

/* Always there: gravity may be switched on while a simulation runs. */
static BrioStatus gravity_term(const BrioBuilder *b, BrioSystem *s)
{
    BrioTerm *term;
    int64_t masses = 0, e = 0;
    s->gravity_term = s->term_count;
    for (int i = 0; i < s->body_count; i++) {
        int64_t count;
        brio__body_masses(&s->body[i], &count);
        masses += count;
    }
    BRIO_CHECK(brio__start_term(s, brio__energy("gravity"), -1, masses, &term));
    for (int i = 0; i < s->body_count; i++) {
        int64_t count, first = brio__body_masses(&s->body[i], &count);
        double across = brio__moves_along_x(&b->body[i]) ? 0 : 1;
        for (int64_t v = first; v < first + count; v++) {
            int32_t vertex = (int32_t)v;
            double X[3] = {0};
            brio__set_element(term, e++, &vertex, X, s->vertex_mass[v], across);
        }
    }
    return BRIO_OK;
}

BrioStatus brio__build_terms(const BrioBuilder *b, BrioSystem *s)
{
    s->term = brio__calloc(BRIO_BODY_TERMS * (size_t)b->body_count + 3 + (size_t)b->analytic_count,
                           sizeof *s->term);
    if (!s->term) return BRIO_ERROR_MEMORY;
    for (int i = 0; i < b->body_count; i++) {
        s->body[i].term = s->term_count;
        BRIO_CHECK(b->body[i].kind->terms(&b->body[i], s, i));
    }
    BRIO_CHECK(attachment_term(b, s));
    BRIO_CHECK(gravity_term(b, s));
    BRIO_CHECK(brio__contact_terms(b, s));
    BRIO_CHECK(brio__stitch_term(b, s));
    s->contact_params = s->param_count;
    s->param_count += BRIO_CONTACT_PARAMS;
    s->collider_params = -1;
    if (brio__meets_by_vertices(b) && b->obstacle_vertices) {
        s->collider_params = s->param_count;
        s->param_count += BRIO_CONTACT_PARAMS;
    }
    for (int i = 0; i < s->body_count; i++) {
        s->body[i].values = s->param_count;
        s->param_count += brio__fields_count(b->body[i].energy->fields); /* one number each */
    }
    return BRIO_OK;
}
