/* Pairs of surfaces that may touch: boxes, candidates, the pairs within reach, and how far a motion
 * may go (contact.h). */
#include "contact.h"

#include "broad.h"
#include "ccd.h"
#include "../distance.h"
#include "features.h"
#include "law.h"

#include <float.h>
#include <string.h>

/* Fractions of dhat: pairs up to 1 + NEAR get places in the matrix before they act; candidates
 * leave room for further motion by MARGIN, or by WIDER of the current motion, which the next is
 * often shorter than, and of the length of edges, beyond which there are many candidates. Pairs of
 * vertices are many within dhat already, so a little more of them act at most, and the room is
 * larger: what local/global iterations correct in a frame is then within it. */
#define NEAR 0.5
#define MARGIN 0.5
#define VERTICES_NEAR 0.05
#define VERTICES_MARGIN 1.0
#define WIDER 0.025
#define KEEP 0.1 /* the fraction of its distance that a pair keeps in a step */

enum { FILED = 512 }; /* candidates or features of a chunk of those that act */

static const int kind_of[BRIO_CANDIDATES] = {BRIO_PAIR_VERTEX_FACE, BRIO_PAIR_EDGE_EDGE,
                                             BRIO_PAIR_VERTEX_VERTEX};

struct BrioContact {
    const BrioSystem *system;
    const BrioSurface *surface;
    BrioBroad *broad;
    /* the motion that candidates were looked for on: every surface vertex within `margin` of
     * from + t way, t in [0,1] the same for all */
    double *from, *way;
    bool complete;          /* there is one */
    bool alone;             /* nothing can ever touch: one search finds that out */
    int64_t longest;        /* the component of `way` that is largest */
    double reach;           /* how far apart candidates may be */
    double margin, spacing; /* spacing: the mean length of edges at rest */
    double size; /* the largest coordinate and the largest component of the motion, added */
    BrioCandidates candidate[BRIO_CANDIDATES];
    BrioFeatures features;           /* of the surface before its vertices, at `now` */
    BrioPairs pair[BRIO_PAIR_KINDS]; /* closer than dhat */
    double *now;                     /* positions of the surface vertices that `pair` is of */
    double now_reach;                /* dhat + thickness then; NAN: never */
    double *step;                    /* results of chunks of candidates */
    int64_t step_room;
    BrioClosing *closing; /* those of the last motion that was asked for */
    int64_t closing_room;
    int8_t *chosen; /* which candidates act */
    int64_t chosen_room;
    int64_t (*filed)[BRIO_PAIR_KINDS]; /* of chunks of candidates: where their pairs begin */
    int64_t filed_room;
    bool out_of_memory, failed; /* in this call, and in one since it was asked for */
    BrioContactTotals totals;
};

const BrioPairs *brio__contact_pairs(const BrioContact *c, int kind) { return &c->pair[kind]; }
const BrioContactTotals *brio__contact_totals(const BrioContact *c) { return &c->totals; }

bool brio__contact_out_of_memory(BrioContact *c)
{
    bool any = c->failed || c->out_of_memory;
    c->failed = c->out_of_memory = false;
    return any;
}

/* What comes first in every call that looks at pairs; returns the parameters of contact. */
static const double *begin_call(BrioContact *c, const double *param)
{
    c->failed |= c->out_of_memory;
    c->out_of_memory = false;
    return param + c->system->contact_params;
}

static bool between_vertices(const BrioContact *c)
{
    return brio__law_at(c->system->law)->traits & BRIO_LAW_VERTICES;
}

/* A law is between vertices, or between all else. */
static bool acts(const BrioContact *c, int kind)
{
    return between_vertices(c) == (kind == BRIO_PAIR_VERTEX_VERTEX);
}

BrioStatus brio__contact_create(const BrioSystem *system, BrioContact **contact)
{
    static const char *const kinds[] = {"vertex-face", "edge-edge", "edge-edge-parallel",
                                        "vertex-vertex"};
    const BrioLaw *law = brio__law_at(system->law);
    const BrioEnergy *energy[BRIO_PAIR_KINDS];
    const BrioSurface *surface = system->surface;
    BrioContact *c = brio__calloc(1, sizeof *c);
    if (!c) return BRIO_ERROR_MEMORY;
    size_t n = (size_t)surface->vertex_count;
    /* candidates of a kind: room at the start, so that steps need not ask for more */
    int64_t likely = 8 * (int64_t)surface->primitive_count;
    c->system = system;
    c->surface = surface;
    c->now_reach = NAN;
    for (int32_t i = 0; i < surface->edge_count; i++)
        c->spacing += sqrt(surface->edge_square[i]) / surface->edge_count;
    c->chosen_room = likely;
    c->chosen = brio__alloc((size_t)likely, sizeof *c->chosen);
    c->filed_room = likely / FILED + 1;
    c->filed = brio__alloc((size_t)c->filed_room, sizeof *c->filed);
    c->from = brio__alloc(3 * n, sizeof(double));
    c->way = brio__alloc(3 * n, sizeof(double));
    c->now = brio__alloc(3 * n, sizeof(double));
    for (int k = 0; k < BRIO_PAIR_KINDS; k++) /* kinds that do not act have no pairs */
        energy[k] = brio__law_energy(law, kinds[acts(c, k)   ? k
                                                : acts(c, 0) ? 0
                                                             : BRIO_PAIR_VERTEX_VERTEX]);
    const BrioEnergy *measured[BRIO_CANDIDATES];
    for (int k = 0; k < BRIO_CANDIDATES; k++) measured[k] = energy[kind_of[k]];
    BrioStatus status = c->from && c->way && c->now && c->chosen && c->filed
                            ? brio__broad_create(system, between_vertices(c), measured, &c->broad)
                            : BRIO_ERROR_MEMORY;
    for (int k = 0; k < BRIO_PAIR_KINDS && status == BRIO_OK; k++)
        status = brio__pairs_create(&c->pair[k], energy[k], false,
                                    acts(c, k) ? surface->primitive_count : 0);
    for (int k = 0; k < BRIO_CANDIDATES && status == BRIO_OK; k++) {
        BrioCandidates *to = &c->candidate[k];
        to->room = acts(c, kind_of[k]) ? likely : 0;
        status = brio__pairs_create(&to->pairs, measured[k], true, to->room);
        to->who = brio__alloc(2 * (size_t)to->room, sizeof *to->who);
        if (!to->who) status = BRIO_ERROR_MEMORY;
    }
    if (status == BRIO_OK && !between_vertices(c)) {
        c->step = brio__alloc((size_t)likely, sizeof *c->step);
        c->step_room = likely;
        status = c->step ? brio__features_create(&c->features, surface, surface->primitive_count)
                         : BRIO_ERROR_MEMORY;
    }
    if (status == BRIO_OK) c->alone = !brio__broad_may_touch(c->broad);
    if (status == BRIO_OK)
        *contact = c;
    else
        brio__contact_free(c);
    return status;
}

void brio__contact_free(BrioContact *c)
{
    if (!c) return;
    for (int k = 0; k < BRIO_PAIR_KINDS; k++) brio__pairs_free(&c->pair[k]);
    for (int k = 0; k < BRIO_CANDIDATES; k++) {
        brio__pairs_free(&c->candidate[k].pairs);
        brio__free(c->candidate[k].who);
    }
    brio__broad_free(c->broad);
    brio__free(c->from);
    brio__free(c->way);
    brio__free(c->now);
    brio__features_free(&c->features);
    brio__free(c->step);
    brio__free(c->closing);
    brio__free(c->chosen);
    brio__free(c->filed);
    brio__free(c);
}

/* ---- candidates ------------------------------------------------------------------------- */

typedef struct CoverWork {
    const BrioContact *c;
    const double *x, *dx; /* of all world vertices; dx may be NULL */
    double t;             /* of the motion that candidates are of */
} CoverWork;

/* How many vertices of x + dx are farther than the margin from where the motion is at t. */
static double outside(void *context, int64_t begin, int64_t end)
{
    const CoverWork *work = context;
    const BrioContact *c = work->c;
    double square = c->margin * c->margin;
    int64_t count = 0;
    for (int64_t i = begin; i < end; i++) {
        const double *x = work->x + 3 * (int64_t)c->surface->vertex[i];
        const double *dx = work->dx ? work->dx + 3 * (int64_t)c->surface->vertex[i] : NULL;
        double sum = 0;
        for (int r = 0; r < 3; r++) {
            double off = x[r] - c->from[3 * i + r] - work->t * c->way[3 * i + r];
            if (dx) off += dx[r];
            sum += off * off;
        }
        count += !(sum <= square);
    }
    return (double)count;
}

/* Whether x + dx is near the motion that candidates are of. The time is read off the component
 * that moves the most. */
static bool covered(const BrioContact *c, const double *x, const double *dx)
{
    int64_t k = 3 * (int64_t)c->surface->vertex[c->longest / 3] + c->longest % 3;
    double way = c->way[c->longest], gone = x[k] - c->from[c->longest] + (dx ? dx[k] : 0);
    double t = way != 0 ? fmin(fmax(gone / way, 0), 1) : 0;
    return brio__parallel_sum(c->surface->vertex_count, outside, &(CoverWork){c, x, dx, t}) == 0;
}

/* How far apart candidates may be. */
static double reach_of(const BrioContact *c, const double *param)
{
    return (1 + (between_vertices(c) ? VERTICES_NEAR : NEAR)) * param[BRIO_CONTACT_DHAT] +
           param[BRIO_CONTACT_THICKNESS];
}

/* Keeps the motion, and what is largest in it. */
static void keep_motion(BrioContact *c, const double *x, const double *dx)
{
    const BrioSurface *s = c->surface;
    double size = 0;
    c->longest = 0;
    for (int32_t i = 0; i < s->vertex_count; i++)
        for (int r = 0; r < 3; r++) {
            int64_t k = 3 * (int64_t)i + r, from = 3 * (int64_t)s->vertex[i] + r;
            c->from[k] = x[from];
            c->way[k] = dx ? dx[from] : 0;
            size = fmax(size, fabs(c->from[k]));
            if (fabs(c->way[k]) > fabs(c->way[c->longest])) c->longest = k;
        }
    c->size = size + fabs(c->way[c->longest]);
}

static void search(BrioContact *c, const double *param, const double *x, const double *dx)
{
    double before = brio__seconds(), dhat = param[BRIO_CONTACT_DHAT];
    keep_motion(c, x, dx);
    c->reach = reach_of(c, param);
    c->margin = fmax((between_vertices(c) ? VERTICES_MARGIN : MARGIN) * dhat,
                     WIDER * fmin(fabs(c->way[c->longest]), c->spacing));
    BrioSearch search = {x, dx, c->reach, c->margin, brio__contact_apart(param)};
    c->complete = brio__broad_search(c->broad, &search, c->candidate) == BRIO_OK;
    if (!c->complete) {
        c->out_of_memory = true;
        for (int k = 0; k < BRIO_CANDIDATES; k++) brio__pairs_clear(&c->candidate[k].pairs);
    }
    for (int k = 0; k < BRIO_CANDIDATES; k++)
        c->totals.candidates += c->candidate[k].pairs.term.elements;
    c->totals.searches++;
    c->totals.broad_phase += brio__seconds() - before;
}

/* Candidates that hold all pairs that come within reach on x + [0,1] dx. */
static void ensure(BrioContact *c, const double *param, const double *x, const double *dx)
{
    if (c->alone && c->complete) return;
    if (!c->complete || c->reach != reach_of(c, param) || !covered(c, x, NULL) ||
        (dx && !covered(c, x, dx)))
        search(c, param, x, dx);
}

/* ---- pairs that act --------------------------------------------------------------------- */

static double parallel_bound(const BrioContact *c, int64_t candidate)
{
    const int32_t *e = c->candidate[1].who + 2 * candidate;
    return 1e-3 * c->surface->edge_square[e[0]] * c->surface->edge_square[e[1]];
}

/* What a candidate counts for: nothing if one of the two lies in a flat part of what keeps its
 * shape (creases.c). */
static double crease(const BrioContact *c, int kind, int64_t candidate)
{
    const BrioSurface *s = c->surface;
    if (kind == 2) return 1;
    const int32_t *who = c->candidate[kind].who + 2 * candidate;
    return kind == 0 ? s->vertex_crease[who[0]] : s->edge_crease[who[0]] * s->edge_crease[who[1]];
}

/* How many vertices are not where they were last. */
static double elsewhere(void *context, int64_t begin, int64_t end)
{
    const CoverWork *work = context;
    const BrioContact *c = work->c;
    int64_t count = 0;
    for (int64_t i = begin; i < end; i++)
        count += memcmp(c->now + 3 * i, work->x + 3 * (int64_t)c->surface->vertex[i],
                        3 * sizeof *work->x) != 0;
    return (double)count;
}

static bool same_positions(BrioContact *c, const double *x)
{
    CoverWork work = {.c = c, .x = x};
    int32_t count = c->surface->vertex_count;
    return elsewhere(&work, 0, BRIO_MIN(count, 1)) == 0 &&
           brio__parallel_sum(count, elsewhere, &work) == 0;
}

static void keep_positions(void *context, int64_t begin, int64_t end)
{
    const CoverWork *work = context;
    for (int64_t i = begin; i < end; i++)
        memcpy(work->c->now + 3 * i, work->x + 3 * (int64_t)work->c->surface->vertex[i],
               3 * sizeof *work->x);
}

typedef struct Choice {
    BrioContact *c;
    int k;
    const double *x;
    double reach;
} Choice;

/* What candidates are: 0 if they do not act; of a vertex and a primitive 1 + the corners that it is
 * nearest to, 1 of lone edges and vertices; of edges and edges, or of vertices and vertices, 1 +
 * the kind. */
static void choose_chunk(void *context, int64_t begin, int64_t end)
{
    const Choice *choice = context;
    const BrioContact *c = choice->c;
    const BrioPairs *from = &c->candidate[choice->k].pairs;
    for (int64_t e = begin; e < end; e++) {
        int kind = kind_of[choice->k], nearest = c->chosen[e];
        c->chosen[e] = 0;
        if (!(from->distance[e] < choice->reach) || crease(c, choice->k, e) == 0) continue;
        if (kind == BRIO_PAIR_VERTEX_FACE) {
            int32_t primitive = c->candidate[0].who[2 * e + 1];
            kind = c->surface->primitive[primitive].corners < 3 ? 0 : nearest;
        } else if (kind == BRIO_PAIR_EDGE_EDGE) {
            double at[12];
            brio__pairs_positions(from, e, choice->x, at);
            if (brio__cross_square(at) < parallel_bound(c, e)) kind = BRIO_PAIR_PARALLEL;
        }
        c->chosen[e] = (int8_t)(1 + kind);
    }
}

/* Room in c->chosen for all candidates of a kind. */
static bool room_to_choose(BrioContact *c, int k)
{
    int64_t room = c->candidate[k].pairs.term.packs * LANES;
    if (room <= c->chosen_room) return true;
    int8_t *more = brio__realloc(c->chosen, 0, 2 * (size_t)room, sizeof *more);
    if (!more) c->out_of_memory = true;
    if (!more) return false;
    c->chosen = more;
    c->chosen_room = 2 * room;
    return true;
}

/* Into c->chosen; returns how many candidates there are to look at. */
static int64_t choose(BrioContact *c, int k, const double *param, const double *x, double reach)
{
    BrioPairs *pairs = &c->candidate[k].pairs;
    int64_t count = pairs->term.elements;
    if (!room_to_choose(c, k)) return 0;
    brio__pairs_measure(pairs, param, x, k == 0 ? c->chosen : NULL);
    brio__parallel_for(count, 1024, choose_chunk, &(Choice){c, k, x, reach});
    return count;
}

static int32_t edge_owner(const BrioContact *c, int32_t edge)
{
    return c->surface->vertex_owner[c->surface->edge[2 * (int64_t)edge]];
}

/* The weight of a feature; 0: it does not act. */
static double feature_weight(const BrioContact *c, const BrioFeature *g)
{
    const BrioSurface *s = c->surface;
    if (s->fixed[g->v] && s->fixed[g->node[0]] && s->fixed[g->node[1]] && s->fixed[g->node[2]])
        return 0;
    return g->count * s->vertex_crease[g->v] *
           brio__stiffness_factor(c->system, s->vertex_owner[g->v], s->vertex_owner[g->node[0]]);
}

typedef struct Filing {
    BrioContact *c;
    int k; /* kind of the candidates; of vertices and primitives their features are filed */
} Filing;

/* The kind of the pair that a candidate or a feature is; -1: it does not act. */
static int acting(const Filing *w, int64_t i)
{
    if (w->k > 0) return w->c->chosen[i] - 1;
    return feature_weight(w->c, &w->c->features.feature[i]) != 0 ? BRIO_PAIR_VERTEX_FACE : -1;
}

static void count_acting(void *context, int64_t begin, int64_t end)
{
    const Filing *w = context;
    int64_t *found = w->c->filed[begin / FILED];
    memset(found, 0, sizeof *w->c->filed);
    for (int64_t i = begin; i < end; i++) {
        int kind = acting(w, i);
        if (kind >= 0) found[kind]++;
    }
}

static void file_feature(const BrioContact *c, int64_t i, int32_t vertex[4], double rest[2])
{
    const BrioFeature *g = &c->features.feature[i];
    rest[0] = feature_weight(c, g);
    vertex[0] = c->surface->vertex[g->v];
    for (int k = 0; k < 3; k++) vertex[1 + k] = c->surface->vertex[g->node[k]];
}

/* Edges and edges, or vertices and vertices. */
static void file_candidate(const BrioContact *c, int k, int64_t i, int32_t vertex[4],
                           double rest[2])
{
    const BrioCandidates *from = &c->candidate[k];
    brio__pairs_vertices(&from->pairs, i, vertex);
    rest[0] = crease(c, k, i);
    if (k != 1) return;
    rest[0] *= brio__stiffness_factor(c->system, edge_owner(c, from->who[2 * i]),
                                      edge_owner(c, from->who[2 * i + 1]));
    rest[1] = parallel_bound(c, i);
}

static void file_acting(void *context, int64_t begin, int64_t end)
{
    const Filing *w = context;
    int64_t *place = w->c->filed[begin / FILED];
    for (int64_t i = begin; i < end; i++) {
        int32_t vertex[4];
        double rest[2] = {0, 0};
        int kind = acting(w, i);
        if (kind < 0) continue;
        if (w->k == 0)
            file_feature(w->c, i, vertex, rest);
        else
            file_candidate(w->c, w->k, i, vertex, rest);
        brio__pairs_set(&w->c->pair[kind], place[kind]++, vertex, rest);
    }
}

/* Stores the active pairs of `count` candidates or features, in their order. */
static BrioStatus file_pairs(BrioContact *c, int k, int64_t count)
{
    int64_t chunks = (count + FILED - 1) / FILED, last[BRIO_PAIR_KINDS] = {0};
    Filing work = {c, k};
    if (chunks > c->filed_room) {
        void *more = brio__realloc(c->filed, 0, 2 * (size_t)chunks, sizeof *c->filed);
        if (!more) return BRIO_ERROR_MEMORY;
        c->filed = more;
        c->filed_room = 2 * chunks;
    }
    brio__parallel_for(count, FILED, count_acting, &work);
    for (int64_t i = 0; i < chunks; i++) /* what each chunk has found becomes where that begins */
        for (int kind = 0; kind < BRIO_PAIR_KINDS; kind++) {
            int64_t found = c->filed[i][kind];
            c->filed[i][kind] = last[kind];
            last[kind] += found;
        }
    for (int kind = 0; kind < BRIO_PAIR_KINDS; kind++)
        if (last[kind] > 0) BRIO_CHECK(brio__pairs_resize(&c->pair[kind], last[kind]));
    brio__parallel_for(count, FILED, file_acting, &work);
    return BRIO_OK;
}

/* Of vertices and primitives: the features that are left when all that are near are gathered. */
static BrioStatus choose_pairs(BrioContact *c, int k, const double *param, const double *x,
                               double reach)
{
    int64_t count = choose(c, k, param, x, reach);
    if (k > 0) return file_pairs(c, k, count);
    BrioFeatureSearch search = {count, c->candidate[0].who, c->chosen, x, reach};
    BRIO_CHECK(brio__features_find(&c->features, &search));
    return file_pairs(c, 0, c->features.count);
}

/* Chooses the pairs closer than dhat at x. */
static void refresh(BrioContact *c, const double *param, const double *x)
{
    double reach = param[BRIO_CONTACT_DHAT] + param[BRIO_CONTACT_THICKNESS];
    if (c->now_reach == reach && same_positions(c, x)) return;
    ensure(c, param, x, NULL);
    for (int k = 0; k < BRIO_PAIR_KINDS; k++) brio__pairs_clear(&c->pair[k]);
    for (int k = 0; k < BRIO_CANDIDATES; k++) {
        if (choose_pairs(c, k, param, x, reach) != BRIO_OK) c->out_of_memory = true;
    }
    for (int k = 0; k < BRIO_PAIR_KINDS; k++) brio__pairs_finish(&c->pair[k]);
    brio__parallel_for(c->surface->vertex_count, 4096, keep_positions,
                       &(CoverWork){.c = c, .x = x});
    c->now_reach = c->out_of_memory ? NAN : reach;
}

void brio__contact_expect(BrioContact *c, const double *param, const double *x, const double *dx)
{
    ensure(c, begin_call(c, param), x, dx);
}

void brio__contact_refresh(BrioContact *c, const double *param, const double *x)
{
    refresh(c, begin_call(c, param), x);
}

double brio__contact_evaluate(BrioContact *c, const double *param, const double *x,
                              double *gradient, double *world)
{
    double sum = 0;
    param = begin_call(c, param);
    refresh(c, param, x);
    for (int k = 0; k < BRIO_PAIR_KINDS; k++) {
        if (gradient && brio__pairs_prepare(&c->pair[k], c->system) != BRIO_OK)
            c->out_of_memory = true;
        if (c->out_of_memory) return NAN;
        sum += brio__pairs_evaluate(&c->pair[k], c->system, param, x, gradient, world);
    }
    return sum;
}

static bool keeps_shape(const BrioSystem *s, int32_t owner)
{
    return owner >= s->body_count || brio__body_is_affine(&s->body[owner]);
}

/* Which candidates get places in the matrix: of those of two affine bodies one for many. */
static void choose_reserved(void *context, int64_t begin, int64_t end)
{
    const Choice *choice = context;
    const BrioContact *c = choice->c;
    const BrioSurface *s = c->surface;
    const BrioCandidates *from = &c->candidate[choice->k];
    int32_t last[2] = {-1, -1};
    for (int64_t e = begin; e < end; e++) {
        const int32_t *who = from->who + 2 * e;
        c->chosen[e] = 0;
        if (!(from->pairs.distance[e] < c->reach) || crease(c, choice->k, e) == 0) continue;
        bool edges = choice->k == 1;
        int32_t a = edges ? edge_owner(c, who[0]) : s->vertex_owner[who[0]];
        int32_t b = edges            ? edge_owner(c, who[1])
                    : choice->k == 0 ? s->primitive[who[1]].owner
                                     : s->vertex_owner[who[1]];
        bool same = a == last[0] && b == last[1];
        c->chosen[e] = !(same && keeps_shape(c->system, a) && keeps_shape(c->system, b));
        last[0] = a;
        last[1] = b;
    }
}

BrioStatus brio__contact_assemble(BrioContact *c, const double *param, const double *x,
                                  double weight, bool project, BrioOverlay *overlay)
{
    param = begin_call(c, param);
    refresh(c, param, x);
    if (c->out_of_memory) return BRIO_ERROR_MEMORY;
    for (int k = 0; k < BRIO_PAIR_KINDS; k++)
        BRIO_CHECK(
            brio__pairs_assemble(&c->pair[k], c->system, param, x, weight, project, overlay));
    if (!brio__overlay_any(overlay) || brio__overlay_fits(overlay)) return BRIO_OK;
    /* the pairs may belong to x while the candidates belong to a step tried since */
    ensure(c, param, x, NULL);
    if (c->out_of_memory) return BRIO_ERROR_MEMORY;
    for (int k = 0; k < BRIO_CANDIDATES; k++) {
        BrioPairs *from = &c->candidate[k].pairs;
        BrioReserved last = {0};
        if (!room_to_choose(c, k)) return BRIO_ERROR_MEMORY;
        brio__pairs_measure(from, param, x, NULL);
        brio__parallel_for(from->term.elements, 1024, choose_reserved, &(Choice){.c = c, .k = k});
        for (int64_t e = 0; e < from->term.elements; e++)
            if (c->chosen[e]) BRIO_CHECK(brio__pairs_reserve(from, c->system, e, &last, overlay));
    }
    return BRIO_OK;
}

int64_t brio__contact_count(BrioContact *c, const double *param, const double *x,
                            double *min_distance, BrioLimit *nearest)
{
    int64_t count = 0;
    param = begin_call(c, param);
    refresh(c, param, x);
    *min_distance = INFINITY;
    if (nearest) nearest->term = NULL;
    for (int k = 0; k < BRIO_PAIR_KINDS; k++) {
        BrioPairs *pairs = &c->pair[k];
        brio__pairs_measure(pairs, param, x, NULL);
        count += pairs->term.elements;
        for (int64_t e = 0; e < pairs->term.elements; e++) {
            if (!(pairs->distance[e] < *min_distance)) continue;
            *min_distance = pairs->distance[e];
            if (!nearest) continue;
            *nearest =
                (BrioLimit){.term = &pairs->term, .element = e, .distance = pairs->distance[e]};
            brio__pairs_vertices(pairs, e, nearest->vertex);
        }
    }
    return count;
}

/* ---- limits of motion ------------------------------------------------------------------- */

enum { CHUNK = 512 };

typedef struct Sweep {
    BrioContact *c;
    const BrioPairs *pairs;
    int kind;
    const double *x, *dx;
    double thickness;
} Sweep;

static double pair_step(const Sweep *w, int64_t e)
{
    double x[12], dx[12];
    brio__pairs_positions(w->pairs, e, w->x, x);
    brio__pairs_positions(w->pairs, e, w->dx, dx);
    return (w->kind == BRIO_PAIR_VERTEX_FACE ? brio__ccd_vertex_face
                                             : brio__ccd_edge_edge)(x, dx, w->thickness, KEEP);
}

/* Most pairs stay apart by far more than KEEP of their distance, as their clearance shows; the
 * rest is for rounding. */
static void sweep_chunk(void *context, int64_t begin, int64_t end)
{
    const Sweep *w = context;
    double thickness = w->thickness, rounding = 64 * DBL_EPSILON * w->c->size;
    for (int64_t e = begin; e < end; e++) {
        double stays = thickness + 1.5 * KEEP * (w->pairs->distance[e] - thickness) + rounding;
        w->c->step[e] = w->pairs->clearance[e] > stays ? 1 : pair_step(w, e);
    }
}

/* How far the candidates of a kind may go into c->step. Returns how many there are, -1 without
 * memory: then no step can be shown to be safe. */
static int64_t sweep(BrioContact *c, int kind, const double *param, const double *x,
                     const double *dx)
{
    BrioPairs *pairs = &c->candidate[kind].pairs;
    int64_t count = pairs->term.elements;
    if (count > c->step_room) {
        double *more = brio__realloc(c->step, 0, 2 * (size_t)count, sizeof *more);
        if (!more) c->out_of_memory = true;
        if (more) c->step = more, c->step_room = 2 * count;
    }
    if (c->out_of_memory) return -1;
    Sweep w = {c, pairs, kind, x, dx, param[BRIO_CONTACT_THICKNESS]};
    brio__pairs_sweep(pairs, param, x, dx);
    brio__parallel_for(count, CHUNK, sweep_chunk, &w);
    return count;
}

double brio__contact_max_step(BrioContact *c, const double *param, const double *x,
                              const double *dx, BrioLimit *limit)
{
    double t = 1, before = brio__seconds(), broad = c->totals.broad_phase;
    param = begin_call(c, param);
    limit->term = NULL;
    if (!(brio__law_at(c->system->law)->traits & BRIO_LAW_FORBIDS)) return 1;
    ensure(c, param, x, dx);
    for (int k = 0; k < 2; k++) {
        const BrioPairs *pairs = &c->candidate[k].pairs;
        int64_t count = sweep(c, k, param, x, dx);
        if (count < 0) return 0;
        for (int64_t e = 0; e < count; e++)
            if (c->step[e] < t) {
                t = c->step[e];
                *limit =
                    (BrioLimit){.term = &pairs->term, .element = e, .distance = pairs->distance[e]};
            }
    }
    if (limit->term)
        brio__pairs_vertices(&c->candidate[limit->term == &c->candidate[1].pairs.term].pairs,
                             limit->element, limit->vertex);
    c->totals.ccd += brio__seconds() - before - (c->totals.broad_phase - broad);
    return t;
}

/* Where a candidate comes nearest to meeting: false if it has no direction there. */
static bool close_pair(const BrioContact *c, int kind, int64_t e, const double *x, const double *dx,
                       BrioClosing *to)
{
    const BrioPairs *pairs = &c->candidate[kind].pairs;
    double at[12], way[12];
    *to = (BrioClosing){.t = c->step[e], .distance = pairs->distance[e]};
    brio__pairs_vertices(pairs, e, to->vertex);
    brio__pairs_positions(pairs, e, x, at);
    brio__pairs_positions(pairs, e, dx, way);
    for (int i = 0; i < 12; i++) at[i] += to->t * way[i];
    double d = (kind ? brio__closest_edge_edge : brio__closest_vertex_face)(at, to->w);
    if (!(d > 0)) return false;
    for (int i = 0; i < 12; i++) to->n[i % 3] += to->w[i / 3] * at[i] / d;
    return true;
}

static bool room_for_closing(BrioContact *c, int64_t count)
{
    if (count <= c->closing_room) return true;
    BrioClosing *more =
        brio__realloc(c->closing, (size_t)c->closing_room, 2 * (size_t)count, sizeof *more);
    if (!more) c->out_of_memory = true;
    if (!more) return false;
    c->closing = more;
    c->closing_room = 2 * count;
    return true;
}

const BrioClosing *brio__contact_closing(BrioContact *c, const double *param, const double *x,
                                         const double *dx, int64_t *count)
{
    double before = brio__seconds(), broad = c->totals.broad_phase;
    int64_t found = 0;
    param = begin_call(c, param);
    ensure(c, param, x, dx);
    for (int k = 0; k < 2; k++) {
        int64_t candidates = sweep(c, k, param, x, dx);
        for (int64_t e = 0; e < candidates; e++) {
            if (!(c->step[e] < 1)) continue;
            if (!room_for_closing(c, found + 1)) break;
            found += close_pair(c, k, e, x, dx, &c->closing[found]);
        }
    }
    c->totals.ccd += brio__seconds() - before - (c->totals.broad_phase - broad);
    *count = found;
    return c->closing;
}
