/* Smoothed Coulomb friction, lagged [Li2020, Sec. 5].
 *
 * At the start of a step every pair closer than dhat, and every vertex that close to an obstacle
 * with a formula, gets its normal force lambda = -db/dd, its closest points with their
 * weights w, and two tangents T. Solvers that end when they are solved renew them where they have
 * come to, until the force no longer changes: then lambda is the normal force of the end of the
 * step, and a contact rubs in the step in which it begins. With u = T^T sum w_i (x_i - x_i^n), the
 * way that the two points slide along each other from the start of the step on (obstacles move
 * too), the dissipation potential is
 *
 *     D_n = mu lambda f0(|u|),    eps = epsv (t - t_n),
 *     f0(y) = y for y >= eps,     y^2 (1/eps - y/(3 eps^2)) + eps/3 below.
 *
 * Its force has the size mu lambda where they slide, and less where they hold: there they creep by
 * epsv at most.
 *
 * Newton's method takes the Hessian of each contact between the exact one and its bound
 * (energy/friction.c). At u = 0 there is a kink, on the other side of which the force points the
 * other way. The exact Hessian, nothing along a slide, sends steps far across it, and the line
 * search then cuts the step of everything. So where the last step has made a slide shorter, by d
 * of what is left, min(1, d) of the bound is taken along it: all where the next step may cross the
 * kink, little where steps have become short. Slides that grow have the exact Hessian.
 *
 * Explicit methods take the force at a velocity, mu lambda f0'(|T^T sum w_i v_i|). A step of theirs
 * must not turn a velocity round, so that what holds below epsv holds for them below 2 h mu
 * lambda/m if that is more: the slope of the force is then at most m/h, with m the mass that moves
 * along with the contact, divided by the number of contacts that the same coordinates have. */
#include "friction.h"

#include "../contact/law.h"
#include "../potential/colliders.h"
#include "hold.h"

#include <string.h>

/* What a pair in contact rubs with: the data of the energy; a force of 0: it does not. */
typedef struct Rub {
    int32_t vertex[4];
    double rest[14];
    /* in the first of a chunk: how many of it rub, then where these are among all */
    int64_t place;
} Rub;

typedef struct Friction {
    const BrioSystem *system;
    BrioPairs pairs;
    BrioPairs next;  /* the same at another pose, while it is compared */
    BrioPairs first; /* those of the start of the step, once they have been renewed */
    bool renewed;
    double *x;       /* world positions, or velocities */
    double *start;   /* world positions at the start of the step */
    double *seen[2]; /* those of the last Hessian, and of the last one elsewhere */
    double *now;     /* gradient of `pairs`, of the length of q */
    /* D_n and its gradient where `pairs` and `next` were compared: 0 is `now`, 1 is `then`, and
     * `known_by` tells which is that of `pairs` */
    bool known;
    int known_by;
    double known_eps, known_D[2];
    double *known_x, *then;
    double *push;    /* gradients of the contacts with one obstacle: [pack][3][8] */
    int32_t *shared; /* of each coordinate block: how many contacts move it */
    /* the last gradient, by world positions; NULL where nothing moves fixed vertices */
    double *world;
    double *joined; /* on several processes: a vector of all that they have; NULL on one */
    int32_t *owner; /* of each world vertex */
    Rub *rub;       /* of pairs, while they are looked at */
    int64_t rub_room;
    BrioHold *hold; /* of solves that end early; NULL: the law has no stiffness */
} Friction;

static void destroy(void *self)
{
    Friction *f = self;
    if (!f) return;
    brio__pairs_free(&f->pairs);
    brio__pairs_free(&f->next);
    brio__pairs_free(&f->first);
    brio__free(f->x);
    brio__free(f->start);
    for (int k = 0; k < 2; k++) brio__free(f->seen[k]);
    brio__free(f->now);
    brio__free(f->known_x);
    brio__free(f->then);
    brio__free(f->push);
    brio__free(f->shared);
    brio__free(f->world);
    brio__free(f->joined);
    brio__free(f->owner);
    brio__free(f->rub);
    brio__hold_free(f->hold);
    brio__free(f);
}

/* The owner of every vertex of bodies and obstacles; other vertices have none. */
static void list_owners(const BrioSystem *s, int32_t *owner)
{
    for (int64_t v = 0; v < s->vertex_count; v++) owner[v] = -1;
    for (int i = 0; i < s->body_count; i++)
        for (int64_t v = 0; v < s->body[i].count; v++) owner[s->body[i].first + v] = i;
    for (int i = 0; i < s->obstacle_count; i++)
        for (int64_t v = 0; v < s->obstacle[i].count; v++)
            owner[s->obstacle[i].first + v] = s->body_count + i;
}

static BrioStatus create(const BrioSystem *system, const double *values, void **self)
{
    (void)values;
    Friction *f = brio__calloc(1, sizeof *f);
    if (!f) return BRIO_ERROR_MEMORY;
    f->system = system;
    size_t world = 3 * (size_t)system->vertex_count, blocks = 3 * (size_t)system->block_count;
    f->x = brio__alloc(world, sizeof(double));
    f->start = brio__calloc(world, sizeof(double));
    for (int k = 0; k < 2; k++) f->seen[k] = brio__alloc(world, sizeof(double));
    f->now = brio__alloc(blocks, sizeof(double));
    f->then = brio__alloc(blocks, sizeof(double));
    f->known_x = brio__alloc(world, sizeof(double));
    f->push = brio__alloc((size_t)brio__obstacle_room(system), sizeof(double));
    f->shared = brio__calloc((size_t)system->block_count, sizeof *f->shared);
    if (system->scripted_count) f->world = brio__calloc(world, sizeof(double));
    if (system->partition) f->joined = brio__calloc(blocks, sizeof(double));
    f->owner = brio__alloc((size_t)system->vertex_count, sizeof *f->owner);
    if (f->owner) list_owners(system, f->owner);
    int64_t room = system->surface ? system->surface->primitive_count : system->body_vertices / 8;
    f->rub_room = room;
    for (int k = 0; k < system->analytic_count; k++)
        f->rub_room = BRIO_MAX(f->rub_room, system->term[system->analytic_term + k].elements);
    f->rub = brio__alloc((size_t)f->rub_room, sizeof *f->rub);
    bool allocated = f->x && f->start && f->seen[0] && f->seen[1] && f->now && f->then &&
                     f->known_x && f->push && f->shared && f->owner && f->rub &&
                     (f->world || !system->scripted_count) && (f->joined || !system->partition);
    const BrioEnergy *energy = brio__energy("friction");
    BrioStatus status =
        allocated ? brio__pairs_create(&f->pairs, energy, false, room) : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK) status = brio__pairs_create(&f->next, energy, false, room);
    if (status == BRIO_OK) status = brio__pairs_create(&f->first, energy, false, room);
    if (status == BRIO_OK && brio__law_at(system->law)->stiffness)
        status = brio__hold_create(system, &f->hold);
    if (status == BRIO_OK)
        *self = f;
    else
        destroy(f);
    return status;
}

/* A pair that pushes along n, with the force mu lambda already multiplied. */
static void set_rub(const Friction *f, const int32_t vertex[4], const double w[4],
                    const double n[3], double force, Rub *rub)
{
    double *t = rub->rest + 5, *u = rub->rest + 8;
    memcpy(rub->vertex, vertex, sizeof rub->vertex);
    rub->rest[0] = force;
    for (int k = 0; k < 4; k++) rub->rest[1 + k] = w[k];
    for (int k = 11; k < 14; k++) rub->rest[k] = 0;
    int min = 0; /* the axis most across n */
    for (int r = 1; r < 3; r++)
        if (fabs(n[r]) < fabs(n[min])) min = r;
    double length = sqrt(1 - n[min] * n[min]); /* |e - (e.n) n| */
    for (int r = 0; r < 3; r++) t[r] = ((r == min) - n[min] * n[r]) / length;
    for (int r = 0; r < 3; r++)
        u[r] = n[(r + 1) % 3] * t[(r + 2) % 3] - n[(r + 2) % 3] * t[(r + 1) % 3];
    for (int k = 0; k < 4; k++)
        for (int r = 0; r < 3; r++) {
            double at = w[k] * f->start[3 * (int64_t)vertex[k] + r];
            rub->rest[11] += t[r] * at;
            rub->rest[12] += u[r] * at;
        }
}

typedef struct LagWork {
    Friction *f;
    const BrioTerm *term;
    int kind;
    const double *param; /* of contact */
} LagWork;

enum { LAG = 256 }; /* pairs of a chunk */

static void lag_chunk(void *context, int64_t begin, int64_t end)
{
    const LagWork *work = context;
    const Friction *f = work->f;
    const BrioSystem *s = f->system;
    const BrioTerm *term = work->term;
    _Alignas(BRIO_ALIGN) double touch[LAG * LANES];
    BrioBatch batch = {.begin = begin / LANES,
                       .end = (end + LANES - 1) / LANES,
                       .node = term->node,
                       .rest = term->rest,
                       .params = work->param,
                       .x = f->x,
                       .touch = touch};
    int64_t found = 0;
    term->energy->eval(&batch);
    for (int64_t e = begin; e < end; e++) {
        const double *at = touch + (e / LANES - batch.begin) * LANES * LANES + e % LANES;
        int32_t vertex[4];
        double w[4], n[3];
        f->rub[e].rest[0] = 0;
        for (int k = 0; k < 4; k++) vertex[k] = brio__term_vertex(term, e, k);
        int32_t other = vertex[work->kind == BRIO_PAIR_VERTEX_FACE ? 1 : 2];
        /* the pair's weight may be negative: it corrects others, which rub */
        double force = brio__friction_of(s, f->owner[vertex[0]], f->owner[other]) * at[7 * LANES];
        if (!(force > 0)) continue;
        for (int k = 0; k < 4; k++) w[k] = at[k * LANES];
        for (int r = 0; r < 3; r++) n[r] = at[(4 + r) * LANES];
        set_rub(f, vertex, w, n, force, &f->rub[e]);
        found++;
    }
    f->rub[begin].place = found;
}

static void put_chunk(void *context, int64_t begin, int64_t end)
{
    const LagWork *work = context;
    const Friction *f = work->f;
    int64_t place = f->rub[begin].place;
    for (int64_t e = begin; e < end; e++)
        if (f->rub[e].rest[0] > 0)
            brio__pairs_set(&work->f->next, place++, f->rub[e].vertex, f->rub[e].rest);
}

/* What `find` finds to rub among all elements, in their order, into f->next. */
static BrioStatus put_rubs(LagWork *work, BrioWork *find)
{
    Friction *f = work->f;
    int64_t count = work->term->elements, last = f->next.term.elements;
    if (count > f->rub_room) {
        Rub *more = brio__realloc(f->rub, 0, 2 * (size_t)count, sizeof *more);
        if (!more) return BRIO_ERROR_MEMORY;
        f->rub = more;
        f->rub_room = 2 * count;
    }
    brio__parallel_for(count, LAG, find, work);
    for (int64_t k = 0; k < count; k += LAG) { /* what each chunk has found */
        int64_t found = f->rub[k].place;
        f->rub[k].place = last;
        last += found;
    }
    BRIO_CHECK(brio__pairs_resize(&f->next, last));
    brio__parallel_for(count, LAG, put_chunk, work);
    return BRIO_OK;
}

static BrioStatus lag_pairs(Friction *f, BrioContact *contact, const BrioSystem *s,
                            const double *param)
{
    brio__contact_refresh(contact, param, f->x);
    if (brio__contact_out_of_memory(contact)) return BRIO_ERROR_MEMORY;
    for (int kind = 0; kind < BRIO_PAIR_KINDS; kind++) {
        LagWork work = {f, &brio__contact_pairs(contact, kind)->term, kind,
                        param + s->contact_params};
        BRIO_CHECK(put_rubs(&work, lag_chunk));
    }
    return BRIO_OK;
}

/* Of a contact with a plane or a shape, the gradient is the normal force along the normal. */
static void lag_obstacle_chunk(void *context, int64_t begin, int64_t end)
{
    const LagWork *work = context;
    const Friction *f = work->f;
    const BrioSystem *s = f->system;
    int64_t found = 0;
    for (int64_t e = begin; e < end; e++) {
        const double w[4] = {1, 0, 0, 0};
        double n[3], lambda = brio__obstacle_push(f->push, e, n);
        f->rub[e].rest[0] = 0;
        if (!(lambda > 0)) continue;
        int32_t v = brio__term_vertex(work->term, e, 0), vertex[4] = {v, v, v, v};
        double force =
            lambda * brio__friction_of(s, f->owner[v], s->body_count + work->term->obstacle);
        for (int r = 0; r < 3; r++) n[r] = -n[r];
        if (!(force > 0)) continue;
        set_rub(f, vertex, w, n, force, &f->rub[e]);
        found++;
    }
    f->rub[begin].place = found;
}

static BrioStatus lag_obstacles(Friction *f, const BrioSystem *s, const double *param)
{
    for (int k = 0; k < s->analytic_count; k++) {
        LagWork work = {.f = f, .term = &s->term[s->analytic_term + k]};
        brio__obstacle_gradients(work.term, param, f->x, f->push);
        BRIO_CHECK(put_rubs(&work, lag_obstacle_chunk));
    }
    return BRIO_OK;
}

/* Contacts with closed meshes, which move with their triangles. */
static BrioStatus lag_colliders(Friction *f, BrioColliders *colliders, const BrioSystem *s,
                                const double *param)
{
    const double *law = param + s->collider_params;
    double kappa = law[BRIO_CONTACT_KAPPA], dhat = law[BRIO_CONTACT_DHAT];
    int64_t count;
    double rubs = 1;
    const BrioHit *hit = brio__colliders_find(colliders, f->x, dhat, &count), *next = hit;
    for (const BrioHit *end = hit + count; hit < end; hit++) {
        if (hit == next) rubs = brio__hits_fraction(hit, end, dhat, &next);
        int a = f->owner[hit->vertex], b = s->body_count + hit->obstacle;
        const double w[4] = {1, -hit->w[0], -hit->w[1], -hit->w[2]};
        const int32_t vertex[4] = {hit->vertex, hit->corner[0], hit->corner[1], hit->corner[2]};
        double force = rubs * hit->weight * brio__friction_of(s, a, b) * kappa *
                       brio__stiffness_factor(s, a, b) * (dhat - hit->d);
        if (!(force > 0)) continue;
        Rub rub;
        set_rub(f, vertex, w, hit->n, force, &rub);
        BRIO_CHECK(brio__pairs_add(&f->next, vertex, rub.rest));
    }
    return BRIO_OK;
}

/* The contacts at the world positions f->x into f->next. */
static BrioStatus find(Friction *f, BrioPotential *potential, const BrioState *state)
{
    BrioContact *contact = brio__potential_contact(potential);
    brio__pairs_clear(&f->next);
    if (contact) BRIO_CHECK(lag_pairs(f, contact, f->system, state->param));
    BRIO_CHECK(lag_obstacles(f, f->system, state->param));
    BrioColliders *colliders = brio__potential_colliders(potential);
    if (colliders) BRIO_CHECK(lag_colliders(f, colliders, f->system, state->param));
    brio__pairs_finish(&f->next);
    return brio__pairs_prepare(&f->next, f->system);
}

static void swap(BrioPairs *a, BrioPairs *b)
{
    BrioPairs kept = *a;
    *a = *b;
    *b = kept;
}

static BrioStatus lag(void *self, const double *values, BrioPotential *potential,
                      const BrioState *state, BrioLinear *matrix)
{
    (void)values;
    (void)matrix;
    Friction *f = self;
    size_t bytes = 3 * (size_t)f->system->vertex_count * sizeof *f->x;
    brio__system_positions(f->system, state, state->q, state->time, f->start);
    memcpy(f->x, f->start, bytes);
    for (int k = 0; k < 2; k++) memcpy(f->seen[k], f->start, bytes);
    BrioContact *contact = brio__potential_contact(potential);
    if (contact) brio__contact_out_of_memory(contact); /* what was is over */
    BRIO_CHECK(find(f, potential, state));
    swap(&f->pairs, &f->next);
    f->renewed = f->known = false;
    if (f->hold) brio__hold_forget(f->hold);
    return BRIO_OK;
}

/* A vector for the contacts of this process, and adding those of all to `out`. */
static double *begin_join(Friction *f, const BrioSystem *s)
{
    return memset(f->joined, 0, 3 * (size_t)s->block_count * sizeof *f->joined);
}
static void end_join(Friction *f, const BrioSystem *s, double *out)
{
    brio__partition_complete(s->partition, f->joined);
    brio__combine(s, 1, out, 1, f->joined, out);
}

static double slide(const BrioSystem *system, const BrioState *state, double time)
{
    return system->epsv * (time - state->time);
}

/* D_n with its gradients, which are added to `gradient` and f->world. */
static double evaluate(Friction *f, const BrioState *state, const BrioMotion *motion,
                       double *gradient)
{
    double eps = slide(f->system, state, motion->time);
    if ((f->pairs.term.elements == 0 && !f->system->partition) || !(eps > 0)) return 0;
    brio__system_positions_on_way(f->system, state, motion->q, motion->time, &motion->way, f->x);
    if (f->known && eps == f->known_eps &&
        memcmp(f->x, f->known_x, 3 * (size_t)f->system->vertex_count * sizeof *f->x) == 0) {
        const double *known = f->known_by ? f->then : f->now;
        if (gradient) brio__combine(f->system, 1, gradient, 1, known, gradient);
        return f->known_D[f->known_by];
    }
    double *sum = gradient && f->joined ? begin_join(f, f->system) : gradient;
    double D =
        brio__pairs_evaluate(&f->pairs, f->system, &eps, f->x, sum, gradient ? f->world : NULL);
    brio__partition_sum(f->system->partition, &D, 1);
    if (sum != gradient) end_join(f, f->system, gradient);
    return D;
}

static double potential(void *self, const double *values, const BrioState *state,
                        const BrioMotion *motion, double *gradient)
{
    (void)values;
    Friction *f = self;
    if (f->world && gradient)
        memset(f->world, 0, 3 * (size_t)f->system->vertex_count * sizeof *f->world);
    if (!f->hold || !brio__hold_acts(f->hold)) return evaluate(f, state, motion, gradient);
    if (!(slide(f->system, state, motion->time) > 0)) return 0;
    brio__system_positions_on_way(f->system, state, motion->q, motion->time, &motion->way, f->x);
    return brio__hold_value(f->hold, f->start, f->x, gradient, gradient ? f->world : NULL);
}

/* Keeps what renew() has found at f->x: the solver asks for one of the two next. Gradients by fixed
 * vertices and those of several processes are not kept. */
static void keep_compared(Friction *f, const BrioState *state, const BrioMotion *motion,
                          const double *gradient)
{
    const BrioSystem *s = f->system;
    f->known = !f->world && !f->joined && !(f->hold && brio__hold_acts(f->hold));
    if (!f->known) return;
    f->known_by = 0;
    f->known_eps = slide(s, state, motion->time);
    memcpy(f->known_x, f->x, 3 * (size_t)s->vertex_count * sizeof *f->x);
    memcpy(f->then, gradient, 3 * (size_t)s->block_count * sizeof *f->then);
}

static BrioStatus renew(void *self, BrioPotential *P, const BrioState *state,
                        const BrioMotion *motion, const double *x, double *difference,
                        double *change)
{
    Friction *f = self;
    const BrioSystem *s = f->system;
    size_t bytes = 3 * (size_t)s->block_count * sizeof *f->now;
    f->known = false;
    memset(f->now, 0, bytes);
    memset(difference, 0, bytes);
    f->known_D[0] = potential(f, NULL, state, motion, f->now);
    memcpy(f->x, x, 3 * (size_t)s->vertex_count * sizeof *f->x);
    BRIO_CHECK(brio__partition_agree(s->partition, find(f, P, state)));
    swap(&f->pairs, &f->next);
    f->known_D[1] = potential(f, NULL, state, motion, difference);
    swap(&f->pairs, &f->next);
    if (f->pairs.term.elements > 0 && f->next.term.elements > 0)
        keep_compared(f, state, motion, difference);
    double size = fmax(brio__norm_max(s, f->now), brio__norm_max(s, difference));
    brio__combine(s, 1, difference, -1, f->now, difference);
    *change = size > 0 ? brio__norm_max(s, difference) / size : 0;
    return BRIO_OK;
}

static void adopt(void *self)
{
    Friction *f = self;
    swap(&f->pairs, &f->next);
    if (!f->renewed) swap(&f->first, &f->next);
    f->renewed = true;
    f->known_by = 1;
}

/* One contact: where its vertices and its data are. */
typedef struct Contact {
    int32_t vertex[4];
    double weight[4], force, tangent[2][3], start[2];
} Contact;

static Contact contact_at(const BrioPairs *pairs, int64_t e)
{
    const double *rest =
        pairs->term.rest + e / LANES * pairs->term.energy->rest * LANES + e % LANES;
    Contact c = {.force = rest[0]};
    brio__pairs_vertices(pairs, e, c.vertex);
    for (int i = 0; i < 4; i++) c.weight[i] = rest[(1 + i) * LANES];
    for (int k = 0; k < 6; k++) c.tangent[k / 3][k % 3] = rest[(5 + k) * LANES];
    for (int k = 0; k < 2; k++) c.start[k] = rest[(11 + k) * LANES];
    return c;
}

/* u = T^T sum w_i x_i; x may be velocities. */
static void slid(const Contact *c, const double *x, double u[2])
{
    u[0] = u[1] = 0;
    for (int i = 0; i < 4; i++)
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 2; k++)
                u[k] += c->weight[i] * c->tangent[k][r] * x[3 * (int64_t)c->vertex[i] + r];
}

/* A Hessian at f->x begins. Several at one place count as one. */
static void see(Friction *f)
{
    size_t bytes = 3 * (size_t)f->system->vertex_count * sizeof *f->x;
    if (memcmp(f->x, f->seen[0], bytes) == 0) return;
    double *oldest = f->seen[1];
    f->seen[1] = f->seen[0];
    f->seen[0] = oldest;
    memcpy(oldest, f->x, bytes);
}

static BrioStatus assemble(void *self, const double *values, const BrioState *state,
                           const BrioMotion *motion, double weight, bool project,
                           BrioLinear *matrix)
{
    (void)values, (void)project; /* it is never negative */
    Friction *f = self;
    double eps = slide(f->system, state, motion->time);
    if (f->pairs.term.elements == 0 || !(eps > 0)) return BRIO_OK;
    brio__system_positions_on_way(f->system, state, motion->q, motion->time, &motion->way, f->x);
    see(f);
    f->pairs.last = f->seen[1];
    return brio__pairs_assemble(&f->pairs, f->system, &eps, f->x, weight, true, matrix->overlay);
}

static void bound(void *self, const BrioState *state, const BrioMotion *motion, double weight,
                  double *bound)
{
    Friction *f = self;
    brio__system_positions_on_way(f->system, state, motion->q, motion->time, &motion->way, f->x);
    brio__hold_bound(f->hold, f->start, f->x, weight, bound);
}

static BrioStatus hold(void *self, BrioPotential *P, const BrioState *state,
                       const BrioMotion *motion, const double *x, const double *pull,
                       double *change, double *difference)
{
    Friction *f = self;
    const BrioSystem *s = f->system;
    size_t bytes = 3 * (size_t)s->block_count * sizeof *f->now;
    brio__system_positions_on_way(s, state, motion->q, motion->time, &motion->way, f->x);
    f->known = false;
    memset(f->now, 0, bytes);
    memset(difference, 0, bytes);
    *change = -brio__hold_value(f->hold, f->start, f->x, f->now, NULL);
    BRIO_CHECK(brio__hold_take(f->hold, P, state, x, f->start, f->x, pull));
    *change += brio__hold_value(f->hold, f->start, f->x, difference, NULL);
    brio__combine(s, 1, difference, -1, f->now, difference);
    return BRIO_OK;
}

/* 1/m of what moves along with a contact, times the largest number of contacts that one of its
 * coordinates has. */
static double mobility(const Friction *f, const BrioSystem *s, const Contact *c)
{
    double sum = 0;
    int32_t shared = 1;
    for (int i = 0; i < 4; i++)
        for (int32_t m = s->map_start[c->vertex[i]];
             c->weight[i] != 0 && m < s->map_start[c->vertex[i] + 1]; m++) {
            double fraction = c->weight[i] * s->map_weight[m];
            sum += fraction * fraction / s->mass[s->map_block[m]];
            shared = BRIO_MAX(shared, f->shared[s->map_block[m]]);
        }
    return sum * shared;
}

static void count_contacts(Friction *f, const BrioPairs *pairs, const BrioSystem *s)
{
    memset(f->shared, 0, (size_t)s->block_count * sizeof *f->shared);
    for (int64_t e = 0; e < pairs->term.elements; e++) {
        Contact c = contact_at(pairs, e);
        for (int i = 0; i < 4; i++)
            for (int32_t m = s->map_start[c.vertex[i]];
                 c.weight[i] != 0 && m < s->map_start[c.vertex[i] + 1]; m++)
                f->shared[s->map_block[m]]++;
    }
    if (!f->joined) return;
    begin_join(f, s);
    for (int32_t b = 0; b < s->block_count; b++) f->joined[3 * (int64_t)b] = f->shared[b];
    brio__partition_complete(s->partition, f->joined);
    for (int32_t b = 0; b < s->block_count; b++) f->shared[b] = (int32_t)f->joined[3 * (int64_t)b];
}

/* out += the force of these contacts at the world velocities f->x. */
static void add_force(Friction *f, const BrioPairs *pairs, double h, double *out)
{
    const BrioSystem *s = f->system;
    count_contacts(f, pairs, s);
    double *sum = f->joined ? begin_join(f, s) : out;
    for (int64_t e = 0; e < pairs->term.elements; e++) {
        Contact c = contact_at(pairs, e);
        double u[2];
        slid(&c, f->x, u);
        double speed = hypot(u[0], u[1]);
        double holds = fmax(s->epsv, 2 * h * c.force * mobility(f, s, &c));
        double z = speed / holds;
        double drag = c.force * (z < 1 ? (2 - z) / holds : 1 / speed);
        for (int i = 0; i < 4; i++)
            for (int r = 0; r < 3; r++) {
                double pull =
                    c.weight[i] * drag * (u[0] * c.tangent[0][r] + u[1] * c.tangent[1][r]);
                if (f->world) f->world[3 * (int64_t)c.vertex[i] + r] += pull;
                for (int32_t m = s->map_start[c.vertex[i]]; m < s->map_start[c.vertex[i] + 1]; m++)
                    sum[3 * (int64_t)s->map_block[m] + r] -= s->map_weight[m] * pull;
            }
    }
    if (sum != out) end_join(f, s, out);
}

static void force(void *self, const double *values, const BrioState *state, const double *q,
                  const double *v, double time, double h, double *out)
{
    (void)q, (void)values;
    Friction *f = self;
    const BrioSystem *s = f->system;
    if (f->world) memset(f->world, 0, 3 * (size_t)s->vertex_count * sizeof *f->world);
    if (f->pairs.term.elements == 0 && !s->partition) return;
    brio__system_velocities(s, state, v, time, f->x);
    add_force(f, &f->pairs, h, out);
}

static void shift(void *self, const BrioState *state, const BrioMotion *motion, double *out)
{
    Friction *f = self;
    const BrioSystem *s = f->system;
    int64_t world = f->world ? 3 * s->vertex_count : 0;
    for (int64_t k = 0; k < world; k++) f->world[k] = 0;
    memset(out, 0, 3 * (size_t)s->block_count * sizeof *out);
    if (!f->renewed) return;
    f->known = false;
    swap(&f->pairs, &f->first);
    evaluate(f, state, motion, out);
    swap(&f->pairs, &f->first);
    brio__combine(s, -1, out, 0, out, out);
    for (int64_t k = 0; k < world; k++) f->world[k] = -f->world[k];
    evaluate(f, state, motion, out);
    for (int64_t k = 0; k < world; k++) f->world[k] = -f->world[k]; /* minus the force, as always */
}

static void fixed(void *self, const BrioSystem *system, double weight, double *out)
{
    const Friction *f = self;
    brio__system_gather_fixed(system, f->world, weight, out);
}

const BrioDampingModel brio__friction_model = {
    .name = "friction",
    .summary = "Smoothed Coulomb friction of contacts.",
    .citation = "Li2020",
    .overlay = true,
    .create = create,
    .destroy = destroy,
    .lag = lag,
    .renew = renew,
    .adopt = adopt,
    .hold = hold,
    .potential = potential,
    .assemble = assemble,
    .bound = bound,
    .force = force,
    .shift = shift,
    .fixed = fixed,
};
