/* What contact takes from the scene where its definition does not say it: dhat, epsv and kappa.
 *
 *     dhat  a tenth of the shortest of the bodies' median edges, at most 1/250 of the size of the
 *           smallest body,
 *     epsv  3e-4 of the speed after falling by the size of the smallest body,
 *     kappa by pair of owners (bodies, then obstacles), the smaller one of both:
 *           of a body K, but at least 2 m g/(n dhat) and at most 20 m g/dhat,
 *           of an obstacle no limit; where one is made of points and segments, at least what
 *           carries twice the weight of the other on all of them,
 *
 * with K the mean elastic stiffness of the n surface vertices of a body at rest, a third of the
 * trace of their diagonal blocks of the Hessian, m its mass, and g that of this planet where there
 * is none. So a barrier is about as stiff as what it holds apart: much stiffer, and it is a wall of
 * which Newton's method sees one side only; much softer, and it is squeezed to nothing before the
 * body yields. Affine bodies do not yield, and very stiff ones not much: for them it is enough that
 * twenty times the weight is carried at about half of dhat. What hardly holds together, a cloud of
 * points, must still carry itself. All this depends on the scene alone, so the energy of contact is
 * a function of positions.
 *
 * A law whose force is bounded must carry what rests on it: there kappa dhat is twenty times the
 * weight of the heaviest body, for all pairs. */
#include "build.h"

#include "../contact/contact.h"
#include "../vec.h"

#include <stdlib.h>
#include <string.h>

static bool automatic(double value) { return isnan(value) || value == BRIO_AUTO; }

/* That of this planet where there is none. */
static double gravity(const BrioBuilder *b)
{
    double g = brio__hypot3(b->gravity);
    return g > 0 ? g : 9.8;
}

/* ---- lengths ------------------------------------------------------------------------------ */

/* Of the smallest body that has one; 1 if none has. */
static double smallest_size(const BrioBuilder *b)
{
    double size = INFINITY;
    for (int i = 0; i < b->body_count; i++) {
        double own = brio__mesh_diagonal(b->body[i].mesh);
        if (own > 0) size = fmin(size, own);
    }
    return isfinite(size) ? size : 1;
}

/* The shortest of the bodies' median edges at rest; INFINITY: no body has edges. */
static BrioStatus shortest_median(const BrioSystem *s, double *median)
{
    const BrioSurface *surface = s->surface;
    *median = INFINITY;
    if (!surface || surface->edge_count == 0) return BRIO_OK;
    double *square = brio__alloc((size_t)surface->edge_count, sizeof *square);
    if (!square) return BRIO_ERROR_MEMORY;
    /* edges are sorted by their first vertices, and these by owner */
    for (int32_t e = 0; e < surface->edge_count;) {
        int32_t owner = surface->vertex_owner[surface->edge[2 * (int64_t)e]];
        size_t count = 0;
        for (; e < surface->edge_count &&
               surface->vertex_owner[surface->edge[2 * (int64_t)e]] == owner;
             e++)
            square[count++] = surface->edge_square[e];
        if (owner >= s->body_count) continue;
        qsort(square, count, sizeof *square, brio__ascending);
        if (square[count / 2] > 0) *median = fmin(*median, sqrt(square[count / 2]));
    }
    brio__free(square);
    return BRIO_OK;
}

BrioStatus brio__choose_lengths(BrioBuilder *b, BrioSystem *s)
{
    BrioContactDef *c = &b->contact;
    const BrioLaw *law = brio__contact_law(b);
    double size = smallest_size(b);
    s->fall_speed = sqrt(2 * gravity(b) * size);
    if (automatic(c->epsv)) c->epsv = 3e-4 * s->fall_speed;
    s->epsv = c->epsv;
    if (!(law->traits & BRIO_LAW_FORBIDS)) {
        if (automatic(c->dhat)) c->dhat = brio__law_default(law, "dhat", 0);
        if (automatic(c->kappa)) c->kappa = brio__law_default(law, "kappa", 1e5);
    }
    if (automatic(c->dhat)) {
        double median;
        BRIO_CHECK(shortest_median(s, &median));
        c->dhat = fmin(median / 10, size / 250);
    }
    s->dhat = c->dhat;
    return BRIO_OK;
}

/* ---- stiffness ---------------------------------------------------------------------------- */

/* K += traces of the diagonal blocks of one pack; K: a number for each world vertex. */
static void add_traces(const BrioTerm *term, int64_t pack, const double *hessian, double *K)
{
    for (int k = 0; k < term->energy->nodes; k++) {
        const double *block = hessian + (int64_t)brio__pair(k, k) * 9 * LANES;
        for (int i = 0; i < LANES; i++)
            K[brio__term_vertex(term, pack * LANES + i, k)] +=
                (block[i] + block[4 * LANES + i] + block[8 * LANES + i]) / 3;
    }
}

/* The elastic stiffness of every vertex at rest; X: its position there. */
static void vertex_stiffness(const BrioSystem *s, const BrioState *state, const double *X,
                             double *K)
{
    _Alignas(sizeof(double) * LANES) double hessian[10 * 9 * LANES];
    for (int t = 0; t < s->term_count; t++) {
        const BrioTerm *term = &s->term[t];
        if (term->body < 0 || term->energy->traits & BRIO_ENERGY_LINEAR) continue;
        BrioBatch batch = brio__term_batch(term, state->param, X);
        batch.hessian = hessian;
        batch.project = true;
        for (int64_t pack = 0; pack < term->packs; pack++) {
            batch.begin = pack;
            batch.end = pack + 1;
            term->energy->eval(&batch);
            add_traces(term, pack, hessian, K);
        }
    }
}

/* What is known of a body or an obstacle. */
typedef struct Owner {
    double kappa;       /* against something harder */
    double max;         /* that carries twenty times its weight; INFINITY: an obstacle */
    double vertices;    /* of its surface */
    bool has_triangles; /* and not points and segments only */
} Owner;

/* Numbers of surface vertices, and the mean of K over them. */
static void look_at_surface(const BrioSurface *surface, const double *K, int owners, Owner *owner)
{
    for (int32_t i = 0; surface && i < surface->vertex_count; i++) {
        owner[surface->vertex_owner[i]].kappa += K[surface->vertex[i]];
        owner[surface->vertex_owner[i]].vertices++;
    }
    for (int32_t i = 0; surface && i < surface->primitive_count; i++)
        owner[surface->primitive[i].owner].has_triangles |= surface->primitive[i].corners == 3;
    for (int i = 0; i < owners; i++)
        if (owner[i].vertices > 0) owner[i].kappa /= owner[i].vertices;
}

/* What carries twenty times the weight of a body at about half of dhat. */
static double weight_stiffness(const BrioBuilder *b, const BrioSystem *s, int body)
{
    return 20 * brio__body_mass(s, body) * gravity(b) / b->contact.dhat;
}

static BrioStatus look_at_owners(const BrioBuilder *b, const BrioSystem *s, const BrioState *state,
                                 Owner *owner)
{
    int owners = brio__owner_count(s);
    double *X = brio__calloc(4 * (size_t)s->vertex_count, sizeof *X), *K = X + 3 * s->vertex_count;
    if (!X) return BRIO_ERROR_MEMORY;
    for (int i = 0; i < s->body_count; i++)
        memcpy(X + 3 * s->body[i].first, b->body[i].mesh->x,
               3 * (size_t)s->body[i].count * sizeof *X);
    for (int i = 0; i < s->body_count; i++)
        if (s->body[i].cage)
            memcpy(X + 3 * s->body[i].mass_point, s->body[i].cage->x,
                   3 * (size_t)s->body[i].cage->node_count * sizeof *X);
    vertex_stiffness(s, state, X, K);
    for (int i = 0; i < s->body_count; i++) brio__cage_stiffness(&s->body[i], K);
    look_at_surface(s->surface, K, owners, owner);
    brio__free(X);
    for (int i = 0; i < owners; i++) {
        Owner *o = &owner[i];
        bool body = i < s->body_count, yields = body && !brio__body_is_affine(&s->body[i]);
        o->max = body ? weight_stiffness(b, s, i) : INFINITY;
        o->kappa = yields && o->vertices > 0
                       ? fmin(fmax(o->kappa, o->max / (10 * o->vertices)), o->max)
                       : o->max;
    }
    return BRIO_OK;
}

static bool is_thin(const Owner *owner) { return owner->vertices > 0 && !owner->has_triangles; }

/* The softer one decides, but where one is made of points and segments these must carry the other:
 * twice its weight on all that the scene has, `points`. */
static double pair_stiffness(const Owner *a, const Owner *b, double points)
{
    double kappa = fmin(a->kappa, b->kappa), max = fmin(a->max, b->max);
    for (int k = 0; k < 2; k++) {
        const Owner *thin = k ? b : a, *other = k ? a : b;
        if (is_thin(thin) && isfinite(other->max))
            kappa = fmax(kappa, fmin(other->max / (10 * points), max));
    }
    return kappa;
}

/* Factors of `kappa` for all pairs, wherever contact has a weight. */
static BrioStatus spread(BrioSystem *s, const Owner *owner, double kappa)
{
    int owners = brio__owner_count(s);
    s->stiffness = brio__alloc(brio__owner_pairs(s), sizeof *s->stiffness);
    if (!s->stiffness) return BRIO_ERROR_MEMORY;
    double points = 0;
    for (int i = 0; i < owners; i++) points += is_thin(&owner[i]) ? owner[i].vertices : 0;
    for (int i = 0; i < owners; i++)
        for (int j = 0; j < owners; j++) {
            double pair = pair_stiffness(&owner[i], &owner[j], points);
            s->stiffness[brio__owner_pair(s, i, j)] = isfinite(pair) ? pair / kappa : 1;
        }
    for (int k = 0; k < s->analytic_count; k++) {
        const BrioTerm *term = &s->term[s->analytic_term + k];
        for (int64_t e = 0; e < term->elements; e++) {
            int body = brio__system_owner(s, brio__term_vertex(term, e, 0));
            term->rest[e / LANES * term->energy->rest * LANES + e % LANES] *=
                owner[body].kappa / kappa;
        }
    }
    return BRIO_OK;
}

/* By pair, for laws whose force is not bounded; `kappa` is the largest of a body. */
static BrioStatus choose_by_pair(const BrioBuilder *b, BrioSystem *s, const BrioState *state,
                                 double *kappa)
{
    Owner *owner = brio__calloc((size_t)brio__owner_count(s), sizeof *owner);
    BrioStatus status = owner ? look_at_owners(b, s, state, owner) : BRIO_ERROR_MEMORY;
    for (int i = 0; status == BRIO_OK && i < s->body_count; i++)
        *kappa = fmax(*kappa, owner[i].kappa);
    if (status == BRIO_OK && *kappa > 0) status = spread(s, owner, *kappa);
    brio__free(owner);
    return status;
}

BrioStatus brio__choose_stiffness(const BrioBuilder *b, BrioSystem *s, BrioState *state)
{
    if (!automatic(b->contact.kappa)) return BRIO_OK;
    double kappa = 0;
    if (brio__contact_law(b)->traits & BRIO_LAW_UNBOUNDED)
        BRIO_CHECK(choose_by_pair(b, s, state, &kappa));
    else
        for (int i = 0; i < s->body_count; i++) kappa = fmax(kappa, weight_stiffness(b, s, i));
    for (int k = 0; k < s->analytic_count; k++)
        state->param[s->term[s->analytic_term + k].params + BRIO_CONTACT_KAPPA] = kappa;
    state->param[s->contact_params + BRIO_CONTACT_KAPPA] = kappa;
    return BRIO_OK;
}
