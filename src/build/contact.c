/* Contact between the bodies, themselves and obstacles: stiffness, which pairs rub and which do not
 * see each other, terms of contacts with obstacles that have a formula, and the surface for all
 * other pairs.
 *
 * The energy of a contact is that of a law, b(d) (energy/law.h); auto.c chooses what a scene leaves
 * open. */
#include "../contact/collider.h"
#include "../contact/contact.h"
#include "../handle.h"
#include "build.h"

BrioContactDef brio_default_contact(void)
{
    return (BrioContactDef){
        .law = "ipc", .dhat = BRIO_AUTO, .kappa = BRIO_AUTO, .epsv = BRIO_AUTO, .relax_time = 0.1};
}

void brio_builder_contact(BrioBuilder *builder, const BrioContactDef *def)
{
    BRIO_NEEDS_OR_NOTHING(BRIO_LIVES(BUILDER, builder) && def);
    const BrioLaw *law = brio__law_at(brio__law_find(def->law ? def->law : "ipc"));
    builder->contact = *def;
    builder->contact.law = law ? law->name : ""; /* refused when the builder is finished */
    builder->contact_asked = true;
}

static BrioStatus add_pair(BrioBuilder *builder, const BrioPairPlan *pair, BrioError *error)
{
    BrioPairPlan *grown = brio__room_for_one(builder->pair, builder->pair_count, sizeof *grown);
    if (!grown) return brio__no_memory(error);
    builder->pair = grown;
    grown[builder->pair_count++] = *pair;
    return BRIO_OK;
}

BrioStatus brio_builder_friction(BrioBuilder *builder, int a, int b, double mu, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder), error);
    BRIO_CHECK(brio__builder_open(builder, error));
    if (!(mu >= 0) || isinf(mu))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "the coefficient of friction %g must not be negative", mu);
    return add_pair(builder, &(BrioPairPlan){a, b, mu, false}, error);
}

BrioStatus brio_builder_exclude(BrioBuilder *builder, int a, int b, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder), error);
    BRIO_CHECK(brio__builder_open(builder, error));
    return add_pair(builder, &(BrioPairPlan){a, b, NAN, true}, error);
}

static BrioStatus check_numbers(const BrioBuilder *b, BrioError *error)
{
    const BrioContactDef *c = &b->contact;
    if (!brio__contact_law(b))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "there is no contact law of that name: `brio list laws` has them");
    if (!(c->dhat == 0 && brio__law_default(brio__contact_law(b), "dhat", 1) == 0) &&
        (!(c->dhat > 0) || c->kappa <= 0))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "contact with dhat = %g m and kappa = %g N/m: both must be positive",
                           c->dhat, c->kappa);
    if (!(c->self >= 0) || isinf(c->self) || (c->self > 0 && !brio__meets_by_vertices(b)))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "contact with self = %g m: it is the distance below which vertices push "
                           "each other apart, of contact of type penalty",
                           c->self);
    if (!(c->thickness >= 0) || isinf(c->thickness) || !(c->mu >= 0) || isinf(c->mu) ||
        !(c->epsv > 0))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "contact with thickness = %g m, mu = %g and epsv = %g m/s: none may be "
                           "negative, and epsv must be positive",
                           c->thickness, c->mu, c->epsv);
    if (!(c->relax_time > 0) || isinf(c->relax_time))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "contact with relax_time = %g s: it must be positive", c->relax_time);
    if (c->friction_iterations < 0)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "contact with friction_iterations = %d: at least 1, or 0 for no limit",
                           c->friction_iterations);
    return BRIO_OK;
}

/* Obstacles with a formula serve all laws, and so do closed meshes; others those between
 * surfaces. */
static BrioStatus check_types(BrioBuilder *b, BrioError *error)
{
    for (int i = 0; i < b->obstacle_count; i++) {
        const BrioObstaclePlan *o = &b->obstacle[i];
        if (!o->mesh || !brio__meets_by_vertices(b)) continue; /* a formula, or removed */
        b->obstacle_at_fault = i;
        BRIO_CHECK(
            brio__collider_check(o->name, o->mesh->triangle, o->mesh->triangle_count, error));
        b->obstacle_at_fault = -1;
    }
    return BRIO_OK;
}

/* A bar1d is pushed along x only if the plane stands across it. */
static BrioStatus check_along_x(BrioBuilder *b, BrioError *error)
{
    for (int k = 0; k < b->analytic_count; k++)
        for (int i = 0; i < b->body_count; i++) {
            const double *n = b->analytic[k].data + 3;
            if (!brio__moves_along_x(&b->body[i]) ||
                (!b->analytic[k].type->mesh && n[1] == 0 && n[2] == 0))
                continue;
            b->obstacle_at_fault = b->analytic[k].obstacle;
            if (b->analytic[k].type->mesh)
                return brio__error(error, BRIO_ERROR_INPUT,
                                   "obstacle \"%s\" would push body \"%s\" in y or z: a bar1d "
                                   "moves along x only, so its obstacles are planes across x",
                                   b->obstacle[b->analytic[k].obstacle].name, b->body[i].name);
            return brio__error(error, BRIO_ERROR_INPUT,
                               "obstacle %d with normal [%g, %g, %g] would push body \"%s\" in y "
                               "or z: a bar1d moves along x only, so its obstacles "
                               "need a normal along x",
                               b->analytic[k].obstacle, n[0], n[1], n[2], b->body[i].name);
        }
    return BRIO_OK;
}

BrioStatus brio__check_contact(BrioBuilder *b, BrioError *error)
{
    BRIO_CHECK(check_numbers(b, error));
    BRIO_CHECK(check_types(b, error));
    return check_along_x(b, error);
}

/* Number among bodies and obstacles; -1: there is none of that number. */
static int owner_of(const BrioSystem *s, int number)
{
    int owner = number >= 0 ? number : s->body_count - 1 - number;
    return number < s->body_count && owner < brio__owner_count(s) ? owner : -1;
}

/* What is known of pairs of bodies and obstacles. */
BrioStatus brio__build_pairs(const BrioBuilder *b, BrioSystem *s, BrioError *error)
{
    size_t pairs = brio__owner_pairs(s);
    bool rubs = b->contact.mu > 0, excludes = false;
    for (int i = 0; i < b->pair_count; i++) {
        rubs |= b->pair[i].mu > 0;
        excludes |= b->pair[i].excluded;
    }
    if (rubs) s->friction = brio__alloc(pairs, sizeof *s->friction);
    if (excludes) s->excluded = brio__calloc(pairs, sizeof *s->excluded);
    if ((rubs && !s->friction) || (excludes && !s->excluded)) return brio__no_memory(error);
    for (size_t k = 0; rubs && k < pairs; k++) s->friction[k] = b->contact.mu;
    for (int i = 0; i < b->pair_count; i++) {
        const BrioPairPlan *pair = &b->pair[i];
        int x = owner_of(s, pair->a), y = owner_of(s, pair->b);
        if (x < 0 || y < 0)
            return brio__error(error, BRIO_ERROR_ARGUMENT, "there is no body or obstacle %d",
                               x < 0 ? pair->a : pair->b);
        if (rubs && !isnan(pair->mu))
            s->friction[brio__owner_pair(s, x, y)] = s->friction[brio__owner_pair(s, y, x)] =
                pair->mu;
        if (pair->excluded)
            s->excluded[brio__owner_pair(s, x, y)] = s->excluded[brio__owner_pair(s, y, x)] = true;
    }
    return BRIO_OK;
}

/* A vertex that has coordinates may meet every plane and solid that its body is not excluded
 * from. */
static bool may_meet(const BrioSystem *s, int body, int64_t vertex, int obstacle)
{
    return s->map_start[vertex + 1] > s->map_start[vertex] &&
           !brio__excluded(s, body, s->body_count + obstacle);
}

BrioStatus brio__contact_terms(const BrioBuilder *b, BrioSystem *s)
{
    s->analytic_term = s->term_count;
    s->analytic_count = b->analytic_count;
    s->law = brio__law_find(b->contact.law);
    s->barrier = brio__contact_law(b)->traits & BRIO_LAW_FORBIDS;
    s->friction_iterations = b->contact.friction_iterations;
    s->start = b->contact.start;
    s->relax_time = b->contact.relax_time;
    for (int k = 0; k < b->analytic_count; k++) {
        BrioTerm *term;
        const BrioFormulaPlan *analytic = &b->analytic[k];
        double X[16] = {0};
        int64_t contacts = 0;
        for (int i = 0; i < s->body_count; i++)
            for (int64_t v = s->body[i].first; v < s->body[i].first + s->body[i].count; v++)
                contacts += may_meet(s, i, v, analytic->obstacle);
        const BrioEnergy *energy = brio__law_energy(brio__contact_law(b), analytic->type->name);
        BRIO_CHECK(brio__start_term(s, energy, -1, contacts, &term));
        term->obstacle = analytic->obstacle;
        term->table = s->obstacle[analytic->obstacle].table;
        memcpy(X + 3, analytic->data, sizeof analytic->data);
        contacts = 0;
        for (int i = 0; i < s->body_count; i++)
            for (int32_t v = (int32_t)s->body[i].first; v < s->body[i].first + s->body[i].count;
                 v++)
                if (may_meet(s, i, v, analytic->obstacle))
                    brio__set_element(term, contacts++, &v, X, 1, NAN);
    }
    return BRIO_OK;
}

BrioStatus brio__build_surface(const BrioBuilder *b, BrioSystem *s, BrioError *error)
{
    if (!b->contact_asked || (brio__meets_by_vertices(b) && b->contact.self == 0)) return BRIO_OK;
    double *X = brio__calloc(6 * (size_t)s->vertex_count, sizeof *X), *x = X + 3 * s->vertex_count;
    if (!X) return brio__no_memory(error);
    for (int i = 0; i < s->body_count; i++) {
        memcpy(X + 3 * s->body[i].first, b->body[i].mesh->x,
               3 * (size_t)s->body[i].count * sizeof *x);
        memcpy(x + 3 * s->body[i].first, b->body[i].start ? b->body[i].start : b->body[i].x,
               3 * (size_t)s->body[i].count * sizeof *x);
    }
    for (int i = 0; i < s->obstacle_count; i++)
        for (int k = 0; k < 2 && s->obstacle[i].count; k++)
            memcpy((k ? x : X) + 3 * s->obstacle[i].first, b->obstacle[i].mesh->x,
                   3 * (size_t)s->obstacle[i].count * sizeof *x);
    BrioStatus status = brio__surface_create(s, X, x, &s->surface);
    brio__free(X);
    return status == BRIO_OK ? BRIO_OK : brio__no_memory(error);
}

BrioStatus brio__check_distances(BrioBuilder *b, const BrioSystem *s, const BrioState *state,
                                 BrioError *error)
{
    if (s->analytic_count == 0 || !s->barrier || s->start == BRIO_START_UNTANGLE) return BRIO_OK;
    double *x = brio__alloc(3 * (size_t)s->vertex_count, sizeof *x);
    if (!x) return brio__no_memory(error);
    BrioStatus status = BRIO_OK;
    _Alignas(sizeof(double) * LANES) double distance[LANES];
    brio__system_positions(s, state, state->q, state->time, x);
    for (int k = 0; k < s->analytic_count && status == BRIO_OK; k++) {
        const BrioTerm *term = &s->term[s->analytic_term + k];
        for (int64_t e = 0; e < term->elements && status == BRIO_OK; e++) {
            if (e % LANES == 0)
                brio__obstacle_distances(term, state->param, e / LANES, x, distance);
            double d = distance[e % LANES];
            if (d > b->contact.thickness) continue;
            int64_t vertex = term->node[e] / 3; /* one node: packs of eight in a row */
            int body = brio__system_owner(s, vertex);
            b->obstacle_at_fault = term->obstacle;
            status =
                brio__error(error, BRIO_ERROR_INPUT,
                            "vertex %lld of body \"%s\" %s obstacle \"%s\" (distance %g m): start "
                            "in front of it (bodies.N.transform.translate moves a body)",
                            (long long)(vertex - s->body[body].first), s->body[body].name,
                            d < 0 ? "is behind" : "touches", s->obstacle[term->obstacle].name, d);
        }
    }
    brio__free(x);
    return status;
}
