/* Coulomb friction as a projection, for solves that take a fixed number of iterations with a
 * constant matrix.
 *
 * The potential of friction.c bends within eps = epsv h of nothing, with the curvature
 * 2 mu lambda/eps: hundreds of times that of the bodies. No constant matrix is right for contacts
 * that hold and for those that slide, and which of them do is what the iterations have to find
 * out. So here a contact has a force r that is held, and
 *
 *     D = min over p of  mu lambda |u - p| + w/2 |p + r/w|^2,    grad D = z min(1, mu lambda/|z|),
 *     z = r + w u,
 *
 * with u the slide along the tangents since the start of the step. Its curvature is at most w, and
 * with w = kappa a contact that holds is equally stiff in all directions, as a matrix of scalars
 * has it. After every iteration
 *
 *     r <- z min(1, mu lambda/|z|):
 *
 * the method of multipliers, whose fixed point is Coulomb's law itself: u = 0 and |r| <= mu lambda,
 * or r = mu lambda u/|u|. Nothing is smoothed, and what holds does not creep. lambda and the
 * tangents are renewed at the same time, so that a contact rubs in the step in which it begins.
 *
 * Vertices of one body that push each other do not rub. Spheres around the vertices of two layers
 * catch in each other, which is friction enough; with mu in addition a cloth that has fallen in a
 * heap stays one, and its springs are locked between them.
 *
 * At first r is the force that would keep a vertex from sliding, as the forces on it at the start
 * of the step say. So what rests is held from the first iteration on, and the state needs no place
 * for r. */
#include "hold.h"

#include "../contact/law.h"
#include "../potential/colliders.h"

#include <string.h>

/* A vertex that touches another, or an obstacle: other = -1 - obstacle. A closed mesh moves along
 * by the corners of the nearest triangle, with their weights. */
typedef struct Contact {
    int32_t vertex, other;
    bool meshed;
    int32_t corner[3];
    double w[3];
    double limit; /* mu lambda */
    double stiffness;
    double n[3], force[3]; /* unit normal; r, across it */
} Contact;

struct BrioHold {
    const BrioSystem *system;
    bool acts;
    Contact *now, *before;
    int64_t count, before_count, room;
    int32_t *slot; /* where a contact of `before` is, by a hash of its vertices; -1: not found */
    int64_t slots; /* a power of two, at least twice the room */
    int32_t *owner;
    int32_t *shared; /* contacts of each coordinate block */
    double *push;
};

void brio__hold_free(BrioHold *h)
{
    if (!h) return;
    brio__free(h->now);
    brio__free(h->before);
    brio__free(h->slot);
    brio__free(h->owner);
    brio__free(h->shared);
    brio__free(h->push);
    brio__free(h);
}

static BrioStatus grow(BrioHold *h, int64_t room)
{
    int64_t slots = 16;
    while (slots < 2 * room) slots *= 2;
    Contact *now = brio__realloc(h->now, (size_t)h->count, (size_t)room, sizeof *now);
    if (now) h->now = now;
    Contact *before = brio__realloc(h->before, (size_t)h->before_count, (size_t)room, sizeof *now);
    if (before) h->before = before;
    int32_t *slot = brio__realloc(h->slot, (size_t)h->slots, (size_t)slots, sizeof *slot);
    if (slot) h->slot = slot;
    if (!now || !before || !slot) return BRIO_ERROR_MEMORY;
    h->room = room;
    h->slots = slots;
    return BRIO_OK;
}

BrioStatus brio__hold_create(const BrioSystem *system, BrioHold **hold)
{
    BrioHold *h = brio__calloc(1, sizeof *h);
    if (!h) return BRIO_ERROR_MEMORY;
    h->system = system;
    h->owner = brio__alloc((size_t)system->vertex_count, sizeof *h->owner);
    h->shared = brio__calloc((size_t)system->block_count, sizeof *h->shared);
    h->push = brio__alloc((size_t)brio__obstacle_room(system), sizeof *h->push);
    BrioStatus status = h->owner && h->shared && h->push ? grow(h, system->body_vertices / 2 + 64)
                                                         : BRIO_ERROR_MEMORY;
    if (status != BRIO_OK) {
        brio__hold_free(h);
        return status;
    }
    for (int64_t v = 0; v < system->vertex_count; v++) h->owner[v] = -1;
    for (int i = 0; i < system->body_count; i++)
        for (int64_t v = 0; v < system->body[i].count; v++) h->owner[system->body[i].first + v] = i;
    *hold = h;
    return BRIO_OK;
}

void brio__hold_forget(BrioHold *h)
{
    h->acts = false;
    h->count = 0;
}

bool brio__hold_acts(const BrioHold *h) { return h->acts; }

/* ---- contacts from one iteration to the next -------------------------------------------- */

static int64_t hash(const BrioHold *h, int32_t vertex, int32_t other)
{
    uint64_t key = (uint64_t)(uint32_t)vertex << 32 | (uint32_t)other;
    return (int64_t)((key * 0x9e3779b97f4a7c15u) >> 32) & (h->slots - 1);
}

/* Makes contacts before be found by their vertices. */
static void enter(BrioHold *h)
{
    memset(h->slot, -1, (size_t)h->slots * sizeof *h->slot);
    for (int64_t i = 0; i < h->before_count; i++) {
        int64_t at = hash(h, h->before[i].vertex, h->before[i].other);
        while (h->slot[at] >= 0) at = (at + 1) & (h->slots - 1);
        h->slot[at] = (int32_t)i;
    }
}

/* The contacts become those before. */
static void turn_over(BrioHold *h)
{
    Contact *kept = h->before;
    h->before = h->now;
    h->now = kept;
    h->before_count = h->count;
    h->count = 0;
    enter(h);
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The contact before of the same two; of several, as in a dent of a mesh, that with the nearest
 * normal. */
static const Contact *find(const BrioHold *h, const Contact *now)
{
    const Contact *best = NULL;
    for (int64_t at = hash(h, now->vertex, now->other); h->slot[at] >= 0;
         at = (at + 1) & (h->slots - 1)) {
        const Contact *c = &h->before[h->slot[at]];
        if (c->vertex != now->vertex || c->other != now->other) continue;
        if (!best || dot(c->n, now->n) > dot(best->n, now->n)) best = c;
    }
    return best;
}

/* Takes out what is along n. */
static void flatten(const double n[3], double f[3])
{
    double along = dot(n, f);
    for (int r = 0; r < 3; r++) f[r] -= along * n[r];
}

/* z = r + w u, across n. */
static void reach(const Contact *c, const double *start, const double *slid, double z[3])
{
    for (int r = 0; r < 3; r++) {
        int64_t k = 3 * (int64_t)c->vertex + r, o = 3 * (int64_t)c->other + r;
        double slide = slid[k] - start[k];
        if (c->other >= 0) slide -= slid[o] - start[o];
        for (int i = 0; c->meshed && i < 3; i++) {
            int64_t m = 3 * (int64_t)c->corner[i] + r;
            slide -= c->w[i] * (slid[m] - start[m]);
        }
        z[r] = c->force[r] + c->stiffness * slide;
    }
    flatten(c->n, z);
}

/* min(1, limit/|z|). */
static double fraction(const Contact *c, const double z[3])
{
    double size = sqrt(dot(z, z));
    return size > c->limit ? c->limit / size : 1;
}

static BrioStatus add(BrioHold *h, Contact c)
{
    if (h->count == h->room) {
        BRIO_CHECK(grow(h, 2 * h->room));
        enter(h);
    }
    h->now[h->count++] = c;
    return BRIO_OK;
}

/* The first element from e on whose pack of eight has a gradient that is not zero: most packs are
 * nowhere near most obstacles. */
static int64_t skip_packs(const double *push, int64_t e, int64_t elements)
{
    for (; e < elements && e % LANES == 0; e += LANES) {
        const double *pack = push + 3 * e;
        double sum = 0;
        for (int k = 0; k < 3 * LANES; k++) sum += fabs(pack[k]);
        if (sum != 0) break;
    }
    return e;
}

static BrioStatus add_obstacles(BrioHold *h, const BrioState *state, const double *x)
{
    const BrioSystem *s = h->system;
    const BrioLaw *law = brio__law_at(s->law);
    for (int k = 0; k < s->analytic_count; k++) {
        const BrioTerm *term = &s->term[s->analytic_term + k];
        double stiffness = law->stiffness(state->param + term->params);
        brio__obstacle_gradients(term, state->param, x, h->push);
        for (int64_t e = 0; (e = skip_packs(h->push, e, term->elements)) < term->elements; e++) {
            Contact c = {.vertex = brio__term_vertex(term, e, 0),
                         .other = -1 - term->obstacle,
                         .stiffness = stiffness};
            double lambda = brio__obstacle_push(h->push, e, c.n);
            if (!(lambda > 0)) continue;
            c.limit =
                lambda * brio__friction_of(s, h->owner[c.vertex], s->body_count + term->obstacle);
            if (c.limit > 0) BRIO_CHECK(add(h, c));
        }
    }
    return BRIO_OK;
}

static BrioStatus add_pairs(BrioHold *h, BrioContact *contact, const BrioState *state,
                            const double *x)
{
    const BrioSystem *s = h->system;
    const BrioLaw *law = brio__law_at(s->law);
    const double *param = state->param + s->contact_params;
    brio__contact_refresh(contact, state->param, x);
    if (brio__contact_out_of_memory(contact)) return BRIO_ERROR_MEMORY;
    const BrioPairs *pairs = brio__contact_pairs(contact, BRIO_PAIR_VERTEX_VERTEX);
    for (int64_t e = 0; e < pairs->term.elements; e++) {
        Contact c = {.vertex = brio__pairs_vertex(pairs, e, 0),
                     .other = brio__pairs_vertex(pairs, e, 1),
                     .stiffness = law->stiffness(param)};
        double mu = brio__friction_of(s, h->owner[c.vertex], h->owner[c.other]);
        for (int r = 0; r < 3; r++)
            c.n[r] = x[3 * (int64_t)c.vertex + r] - x[3 * (int64_t)c.other + r];
        double d = sqrt(dot(c.n, c.n));
        if (!(mu > 0) || !(d > 0) || h->owner[c.vertex] == h->owner[c.other]) continue;
        for (int r = 0; r < 3; r++) c.n[r] /= d;
        c.limit = brio__pairs_rest(pairs, e)[0] * law->force(param, mu, d);
        if (c.limit > 0) BRIO_CHECK(add(h, c));
    }
    return BRIO_OK;
}

static BrioStatus add_colliders(BrioHold *h, BrioColliders *colliders, const BrioState *state,
                                const double *x)
{
    const BrioSystem *s = h->system;
    const double *law = state->param + s->collider_params;
    double dhat = law[BRIO_CONTACT_DHAT];
    int64_t count;
    double rubs = 1;
    const BrioHit *hit = brio__colliders_find(colliders, x, dhat, &count), *next = hit;
    for (const BrioHit *end = hit + count; hit < end; hit++) {
        if (hit == next) rubs = brio__hits_fraction(hit, end, dhat, &next);
        int a = h->owner[hit->vertex], b = s->body_count + hit->obstacle;
        double stiffness =
            rubs * hit->weight * law[BRIO_CONTACT_KAPPA] * brio__stiffness_factor(s, a, b);
        Contact c = {.vertex = hit->vertex,
                     .other = -1 - hit->obstacle,
                     .meshed = true,
                     .stiffness = stiffness,
                     .limit = brio__friction_of(s, a, b) * stiffness * (dhat - hit->d)};
        memcpy(c.corner, hit->corner, sizeof c.corner);
        memcpy(c.w, hit->w, sizeof c.w);
        memcpy(c.n, hit->n, sizeof c.n);
        if (c.limit > 0) BRIO_CHECK(add(h, c));
    }
    return BRIO_OK;
}

/* The block of a vertex that is one by itself; -1: it is none. */
static int32_t block_of(const BrioSystem *s, int32_t vertex)
{
    int32_t m = s->map_start[vertex];
    return s->map_start[vertex + 1] == m + 1 && s->map_weight[m] == 1 ? s->map_block[m] : -1;
}

/* What friction has to hold at first: of a vertex before obstacles its fraction of `pull`. */
static void begin(BrioHold *h, const double *pull)
{
    const BrioSystem *s = h->system;
    for (int64_t i = 0; i < h->count; i++) {
        int32_t block = block_of(s, h->now[i].vertex);
        if (block >= 0) h->shared[block]++;
    }
    for (int64_t i = 0; i < h->count; i++) {
        Contact *c = &h->now[i];
        int32_t block = block_of(s, c->vertex);
        if (block < 0 || c->other >= 0) continue;
        for (int r = 0; r < 3; r++) c->force[r] = pull[3 * (int64_t)block + r] / h->shared[block];
        flatten(c->n, c->force);
        double part = fraction(c, c->force);
        for (int r = 0; r < 3; r++) c->force[r] *= part;
    }
    for (int64_t i = 0; i < h->count; i++) {
        int32_t block = block_of(s, h->now[i].vertex);
        if (block >= 0) h->shared[block] = 0;
    }
}

BrioStatus brio__hold_take(BrioHold *h, BrioPotential *potential, const BrioState *state,
                           const double *x, const double *start, const double *slid,
                           const double *pull)
{
    BrioContact *contact = brio__potential_contact(potential);
    h->acts = true;
    turn_over(h);
    if (contact) BRIO_CHECK(add_pairs(h, contact, state, x));
    BRIO_CHECK(add_obstacles(h, state, x));
    BrioColliders *colliders = brio__potential_colliders(potential);
    if (colliders) BRIO_CHECK(add_colliders(h, colliders, state, x));
    if (pull) {
        begin(h, pull);
        return BRIO_OK;
    }
    for (int64_t i = 0; i < h->count; i++) {
        Contact *c = &h->now[i];
        const Contact *before = find(h, c);
        double z[3];
        if (!before) continue;
        c->limit = (c->limit + before->limit) / 2; /* normal forces swing at first */
        memcpy(c->force, before->force, sizeof c->force);
        reach(c, start, slid, z);
        double part = fraction(c, z);
        for (int r = 0; r < 3; r++) c->force[r] = part * z[r];
    }
    return BRIO_OK;
}

/* ---- sums ------------------------------------------------------------------------------- */

static void pull_back(const BrioSystem *s, int32_t vertex, const double f[3], double sign,
                      double *gradient, double *world)
{
    for (int r = 0; world && r < 3; r++) world[3 * (int64_t)vertex + r] += sign * f[r];
    for (int32_t m = s->map_start[vertex]; gradient && m < s->map_start[vertex + 1]; m++)
        for (int r = 0; r < 3; r++)
            gradient[3 * (int64_t)s->map_block[m] + r] += sign * s->map_weight[m] * f[r];
}

double brio__hold_value(const BrioHold *h, const double *start, const double *slid,
                        double *gradient, double *world)
{
    double sum = 0;
    for (int64_t i = 0; i < h->count; i++) {
        const Contact *c = &h->now[i];
        double f[3];
        reach(c, start, slid, f);
        double square = dot(f, f), part = fraction(c, f);
        sum += part < 1 ? c->limit * (sqrt(square) - c->limit / 2) / c->stiffness
                        : square / (2 * c->stiffness);
        for (int r = 0; r < 3; r++) f[r] *= part;
        pull_back(h->system, c->vertex, f, 1, gradient, world);
        if (c->other >= 0) pull_back(h->system, c->other, f, -1, gradient, world);
        for (int k = 0; c->meshed && k < 3; k++)
            pull_back(h->system, c->corner[k], f, -c->w[k], gradient, world);
    }
    return sum;
}

void brio__hold_bound(const BrioHold *h, const double *start, const double *slid, double weight,
                      double *bound)
{
    const BrioSystem *s = h->system;
    for (int64_t i = 0; i < h->count; i++) {
        const Contact *c = &h->now[i];
        double z[3];
        if (c->other >= 0) continue; /* bodies that push each other are shifted together */
        reach(c, start, slid, z);
        double across = weight * c->stiffness * fraction(c, z);
        for (int32_t m = s->map_start[c->vertex]; m < s->map_start[c->vertex + 1]; m++) {
            double *to = bound + BRIO_BOUND * (int64_t)s->map_block[m], largest = to[0];
            brio__bound_add(to, 0, c->n, across * fabs(s->map_weight[m]));
            to[0] = largest;
        }
    }
}
