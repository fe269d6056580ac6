/* Pairs of surfaces that may touch: boxes, candidates, the pairs within reach, and how far a motion
 * may go (contact.h). */
#include "contact.h"

#include "ccd.h"
#include "../distance.h"
#include "features.h"
#include "law.h"

#include <string.h>

/* Shares of dhat: pairs up to 1 + NEAR get places in the matrix before they act; boxes leave room
 * for further motion by MARGIN. */
#define NEAR 0.5
#define MARGIN 0.5
#define KEEP 0.1 /* the fraction of its distance that a pair keeps in a step */

typedef float v4 __attribute__((vector_size(16)));
typedef int i4 __attribute__((vector_size(16)));

/* Rounded outward from doubles; the fourth component is idle. */
typedef struct Box {
    v4 low, high;
} Box;

enum { CANDIDATES = 3 }; /* vertex-face, edge-edge, vertex-vertex */
static const int kind_of[CANDIDATES] = {BRIO_PAIR_VERTEX_FACE, BRIO_PAIR_EDGE_EDGE,
                                        BRIO_PAIR_VERTEX_VERTEX};

struct BrioContact {
    const BrioSystem *system;
    const BrioSurface *surface;
    double *low, *high; /* 3 for each surface vertex: where candidates are complete */
    bool complete;      /* there are such boxes */
    /* with half the reach around; nodes of the trees */
    Box *vertex_box, *edge_box, *primitive_box, *node_box;
    /* the primitives whose pairs with others are this process's affair: all of them on one
     * process */
    int32_t first, end;
    /* that candidates were looked for with: how far apart they may be, and must be at rest */
    double reach, apart;
    BrioPairs candidate[CANDIDATES];
    /* of vertex-face candidates: the vertex and the primitive; of edge-edge candidates: the two
     * edges */
    int32_t *who[2];
    int64_t who_room[2];
    BrioFeatures features;           /* of the surface before its vertices, at `now` */
    BrioPairs pair[BRIO_PAIR_KINDS]; /* closer than dhat */
    double *now;                     /* positions of the surface vertices that `pair` is of */
    double now_reach;                /* dhat + thickness then; NAN: never */
    double *step;                    /* results of chunks of candidates */
    int64_t step_room;
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
    c->end = surface->primitive_count;
    if (system->partition) {
        c->first = (int32_t)((int64_t)surface->primitive_count * system->partition->process /
                             system->partition->processes);
        c->end = (int32_t)((int64_t)surface->primitive_count * (system->partition->process + 1) /
                           system->partition->processes);
    }
    c->low = brio__alloc(3 * n, sizeof(double));
    c->high = brio__alloc(3 * n, sizeof(double));
    c->now = brio__alloc(3 * n, sizeof(double));
    c->vertex_box = brio__alloc(n, sizeof *c->vertex_box);
    c->edge_box = brio__alloc((size_t)surface->edge_count, sizeof *c->edge_box);
    c->primitive_box = brio__alloc((size_t)surface->primitive_count, sizeof *c->primitive_box);
    c->node_box = brio__alloc((size_t)surface->node_count, sizeof *c->node_box);
    for (int k = 0; k < BRIO_PAIR_KINDS; k++) /* kinds that do not act have no pairs */
        energy[k] = brio__law_energy(law, kinds[acts(c, k)   ? k
                                                : acts(c, 0) ? 0
                                                             : BRIO_PAIR_VERTEX_VERTEX]);
    BrioStatus status = c->low && c->high && c->now && c->vertex_box && c->edge_box &&
                                c->primitive_box && c->node_box
                            ? BRIO_OK
                            : BRIO_ERROR_MEMORY;
    for (int k = 0; k < BRIO_PAIR_KINDS && status == BRIO_OK; k++)
        status = brio__pairs_create(&c->pair[k], energy[k], false,
                                    acts(c, k) ? surface->primitive_count : 0);
    for (int k = 0; k < CANDIDATES && status == BRIO_OK; k++)
        status = brio__pairs_create(&c->candidate[k], energy[kind_of[k]], true,
                                    acts(c, kind_of[k]) ? likely : 0);
    if (status == BRIO_OK && !between_vertices(c)) {
        for (int k = 0; k < 2; k++) {
            c->who[k] = brio__alloc(2 * (size_t)likely, sizeof *c->who[k]);
            c->who_room[k] = likely;
        }
        c->step = brio__alloc((size_t)likely, sizeof *c->step);
        c->step_room = likely;
        status = c->who[0] && c->who[1] && c->step
                     ? brio__features_create(&c->features, surface, surface->primitive_count)
                     : BRIO_ERROR_MEMORY;
    }
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
    for (int k = 0; k < CANDIDATES; k++) brio__pairs_free(&c->candidate[k]);
    brio__free(c->low);
    brio__free(c->high);
    brio__free(c->now);
    brio__free(c->vertex_box);
    brio__free(c->edge_box);
    brio__free(c->primitive_box);
    brio__free(c->node_box);
    for (int k = 0; k < 2; k++) brio__free(c->who[k]);
    brio__features_free(&c->features);
    brio__free(c->step);
    brio__free(c);
}

/* ---- boxes ------------------------------------------------------------------------------ */

/* A float below (sign -1) or above x by a little more than rounding. */
static float outward(double x, int sign)
{
    float f = (float)fmin(fmax(x, -1e37), 1e37);
    return f + (float)sign * (fabsf(f) * 0x1p-22f + 0x1p-140f);
}

static inline bool overlap(const Box *a, const Box *b)
{
    i4 apart = (a->low > b->high) | (b->low > a->high);
    return !(apart[0] | apart[1] | apart[2]);
}

static inline v4 choose(i4 mask, v4 a, v4 b) { return (v4)(((i4)a & mask) | ((i4)b & ~mask)); }
static inline v4 min(v4 a, v4 b) { return choose(a < b, a, b); }
static inline v4 max(v4 a, v4 b) { return choose(a > b, a, b); }

static inline Box join(const Box *a, const Box *b)
{
    return (Box){min(a->low, b->low), max(a->high, b->high)};
}

typedef struct BoxWork {
    BrioContact *c;
    const double *x, *dx;
    double margin;
    bool joined; /* with the boxes at hand */
} BoxWork;

static void vertex_boxes(void *context, int64_t begin, int64_t end)
{
    const BoxWork *work = context;
    BrioContact *c = work->c;
    const BrioSurface *s = c->surface;
    const double *x = work->x, *dx = work->dx, margin = work->margin;
    for (int64_t i = begin; i < end; i++) {
        Box *box = &c->vertex_box[i];
        *box = (Box){{0}, {0}};
        for (int r = 0; r < 3; r++) {
            double at = x[3 * (int64_t)s->vertex[i] + r];
            double to = at + (dx ? dx[3 * (int64_t)s->vertex[i] + r] : 0);
            double low = fmin(at, to) - margin, high = fmax(at, to) + margin;
            c->low[3 * i + r] = work->joined ? fmin(low, c->low[3 * i + r]) : low;
            c->high[3 * i + r] = work->joined ? fmax(high, c->high[3 * i + r]) : high;
            box->low[r] = outward(c->low[3 * i + r] - c->reach / 2, -1);
            box->high[r] = outward(c->high[3 * i + r] + c->reach / 2, 1);
        }
    }
}

static void element_boxes(void *context, int64_t begin, int64_t end)
{
    const BoxWork *work = context;
    BrioContact *c = work->c;
    const BrioSurface *s = c->surface;
    for (int64_t i = begin; i < end; i++) {
        if (i < s->edge_count) {
            c->edge_box[i] =
                join(&c->vertex_box[s->edge[2 * i]], &c->vertex_box[s->edge[2 * i + 1]]);
            continue;
        }
        const int32_t *node = s->primitive[i - s->edge_count].node;
        Box two = join(&c->vertex_box[node[0]], &c->vertex_box[node[1]]);
        c->primitive_box[i - s->edge_count] = join(&two, &c->vertex_box[node[2]]);
    }
}

/* Whether boxes around x + [0,1] dx joined with those at hand are not much larger than alone.
 * Within a step positions come back to where they were (the start, the end), so that it pays to
 * cover both. */
static bool worth_joining(const BrioContact *c, const double *x, const double *dx, double dhat)
{
    const BrioSurface *s = c->surface;
    double alone = 0, joined = 0;
    for (int32_t i = 0; i < s->vertex_count; i++)
        for (int r = 0; r < 3; r++) {
            double at = x[3 * (int64_t)s->vertex[i] + r];
            double to = at + (dx ? dx[3 * (int64_t)s->vertex[i] + r] : 0);
            alone = fmax(alone, fabs(to - at));
            joined = fmax(joined, fmax(c->high[3 * i + r], fmax(at, to)) -
                                      fmin(c->low[3 * i + r], fmin(at, to)));
        }
    return joined <= 2 * alone + 6 * dhat;
}

/* Boxes around x + [0,1] dx (dx may be NULL). */
static void make_boxes(BrioContact *c, const double *x, const double *dx, double dhat)
{
    const BrioSurface *s = c->surface;
    BoxWork work = {c, x, dx, MARGIN * dhat, c->complete && worth_joining(c, x, dx, dhat)};
    brio__parallel_for(s->vertex_count, 4096, vertex_boxes, &work);
    brio__parallel_for((int64_t)s->edge_count + s->primitive_count, 16384, element_boxes, &work);
    for (int32_t k = s->node_count - 1; k >= 0; k--) {
        const BrioTreeNode *node = &s->node[k];
        if (node->right) {
            c->node_box[k] = join(&c->node_box[k + 1], &c->node_box[node->right]);
            continue;
        }
        c->node_box[k] = c->primitive_box[node->first];
        for (int32_t i = node->first + 1; i < node->first + node->count; i++)
            c->node_box[k] = join(&c->node_box[k], &c->primitive_box[i]);
    }
}

static bool covered(const BrioContact *c, const double *x, const double *dx)
{
    const BrioSurface *s = c->surface;
    for (int32_t i = 0; i < s->vertex_count; i++)
        for (int r = 0; r < 3; r++) {
            double to =
                x[3 * (int64_t)s->vertex[i] + r] + (dx ? dx[3 * (int64_t)s->vertex[i] + r] : 0);
            if (!(to >= c->low[3 * i + r] && to <= c->high[3 * i + r])) return false;
        }
    return true;
}

/* ---- candidates ------------------------------------------------------------------------- */

static void add_candidate(BrioContact *c, int kind, const int32_t node[4], int32_t first,
                          int32_t second)
{
    const BrioSurface *s = c->surface;
    if (s->fixed[node[0]] && s->fixed[node[1]] && s->fixed[node[2]] && s->fixed[node[3]]) return;
    int64_t at = c->candidate[kind].term.elements;
    int32_t vertex[4];
    double rest = 1;
    if (kind < 2 && at == c->who_room[kind]) {
        int32_t *more = brio__realloc(c->who[kind], 2 * (size_t)at, 4 * (size_t)at, sizeof *more);
        if (!more) {
            c->out_of_memory = true;
            return;
        }
        c->who[kind] = more;
        c->who_room[kind] = 2 * at;
    }
    for (int k = 0; k < 4; k++) vertex[k] = s->vertex[node[k]];
    if (brio__pairs_add(&c->candidate[kind], vertex, &rest) != BRIO_OK) {
        c->out_of_memory = true;
        return;
    }
    if (kind == 2) return;
    c->who[kind][2 * at] = first;
    c->who[kind][2 * at + 1] = second;
}

/* Vertices of p before another primitive, whose last node stands for those that it lacks. A vertex
 * of a surface sees triangles only, one of a line also lone edges, and a lone one all: what the
 * others would see of it is the same pair. */
static void vertices_with_face(BrioContact *c, const BrioPrimitive *p, const BrioPrimitive *face,
                               const Box *box)
{
    if (face->corners < p->corners) return;
    for (int k = 0; k < 3; k++) {
        int32_t v = p->node[k];
        if (!(p->vertices >> k & 1) || v == face->node[0] || v == face->node[1] ||
            v == face->node[2])
            continue;
        if (overlap(&c->vertex_box[v], box))
            add_candidate(c, BRIO_PAIR_VERTEX_FACE,
                          (int32_t[4]){v, face->node[0], face->node[1], face->node[2]}, v,
                          (int32_t)(face - c->surface->primitive));
    }
}

static void edges_with_edges(BrioContact *c, const BrioPrimitive *p, const BrioPrimitive *q,
                             const Box *box)
{
    const BrioSurface *s = c->surface;
    for (int i = 0; i < 3; i++) {
        if (p->edge[i] < 0) continue;
        const int32_t *a = s->edge + 2 * (int64_t)p->edge[i];
        const Box *first = &c->edge_box[p->edge[i]];
        if (!overlap(first, box)) continue;
        for (int j = 0; j < 3; j++) {
            if (q->edge[j] < 0) continue;
            const int32_t *b = s->edge + 2 * (int64_t)q->edge[j];
            if (a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1] ||
                !overlap(first, &c->edge_box[q->edge[j]]))
                continue;
            add_candidate(c, BRIO_PAIR_EDGE_EDGE, (int32_t[4]){a[0], a[1], b[0], b[1]}, p->edge[i],
                          q->edge[j]);
        }
    }
}

/* The vertices of one body that are close at rest do not see each other. */
static void vertices_with_vertices(BrioContact *c, const BrioPrimitive *p, const BrioPrimitive *q)
{
    const BrioSurface *s = c->surface;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int32_t u = p->node[i], v = q->node[j];
            if (!(p->vertices >> i & 1) || !(q->vertices >> j & 1) ||
                !overlap(&c->vertex_box[u], &c->vertex_box[v]))
                continue;
            const double *X = s->rest + 3 * (int64_t)u, *Y = s->rest + 3 * (int64_t)v;
            double r[3] = {X[0] - Y[0], X[1] - Y[1], X[2] - Y[2]};
            if (p->owner == q->owner &&
                r[0] * r[0] + r[1] * r[1] + r[2] * r[2] < c->apart * c->apart)
                continue;
            add_candidate(c, CANDIDATES - 1, (int32_t[4]){u, v, v, v}, u, v);
        }
}

/* Whether a primitive belongs to this process: pairs of edges are looked for by the process of the
 * first of both, those of a vertex and triangles by the process of the vertex, so that all of one
 * vertex are together. */
static bool mine(const BrioContact *c, int32_t primitive)
{
    return primitive >= c->first && primitive < c->end;
}

static void primitives_meet(BrioContact *c, int32_t i, int32_t j)
{
    const BrioPrimitive *p = &c->surface->primitive[i], *q = &c->surface->primitive[j];
    const Box *a = &c->primitive_box[i], *b = &c->primitive_box[j];
    if (!overlap(a, b)) return;
    if (between_vertices(c)) {
        if (mine(c, i)) vertices_with_vertices(c, p, q);
        return;
    }
    if (mine(c, i)) vertices_with_face(c, p, q, b);
    if (p->corners == 1 && q->corners == 1) return; /* two lone vertices are one pair */
    if (mine(c, j)) vertices_with_face(c, q, p, a);
    if (mine(c, i)) edges_with_edges(c, p, q, b);
}

/* Whether a node has primitives of this process. */
static bool concerns(const BrioContact *c, const BrioTreeNode *a)
{
    return a->first < c->end && a->first + a->count > c->first;
}

/* The order of descent depends on the shapes of the trees only. */
static void nodes_meet(BrioContact *c, int32_t i, int32_t j)
{
    const BrioTreeNode *a = &c->surface->node[i], *b = &c->surface->node[j];
    if (!(concerns(c, a) || concerns(c, b)) || !overlap(&c->node_box[i], &c->node_box[j])) return;
    if (!a->right && !b->right) {
        for (int32_t k = a->first; k < a->first + a->count; k++)
            for (int32_t l = b->first; l < b->first + b->count; l++) primitives_meet(c, k, l);
    } else if (!b->right || (a->right && a->count >= b->count)) {
        nodes_meet(c, i + 1, j);
        nodes_meet(c, a->right, j);
    } else {
        nodes_meet(c, i, j + 1);
        nodes_meet(c, i, b->right);
    }
}

static void node_meets_itself(BrioContact *c, int32_t i)
{
    const BrioTreeNode *a = &c->surface->node[i];
    if (!concerns(c, a)) return;
    if (a->right) {
        node_meets_itself(c, i + 1);
        node_meets_itself(c, a->right);
        nodes_meet(c, i + 1, a->right);
        return;
    }
    for (int32_t k = a->first; k < a->first + a->count; k++)
        for (int32_t l = a->first; l < k; l++) primitives_meet(c, k, l);
}

/* An affine body does not: an affine map takes what did not intersect to what does not. */
static bool meets_itself(const BrioSystem *s, const BrioSurfacePart *part)
{
    int owners = s->body_count + s->obstacle_count;
    return part->moves && !(part->owner < s->body_count && s->body[part->owner].mass_point >= 0) &&
           !(s->excluded && s->excluded[part->owner * owners + part->owner]);
}

/* How far apart candidates may be. */
static double reach_of(const double *param)
{
    return (1 + NEAR) * param[BRIO_CONTACT_DHAT] + param[BRIO_CONTACT_THICKNESS];
}

static void search(BrioContact *c, const double *param, const double *x, const double *dx)
{
    const BrioSystem *system = c->system;
    const BrioSurface *s = c->surface;
    double before = brio__seconds(), dhat = param[BRIO_CONTACT_DHAT];
    int owners = system->body_count + system->obstacle_count;
    c->reach = reach_of(param);
    c->apart = dhat;
    make_boxes(c, x, dx, dhat);
    for (int k = 0; k < CANDIDATES; k++) brio__pairs_clear(&c->candidate[k]);
    for (int i = 0; i < s->part_count; i++) {
        const BrioSurfacePart *a = &s->part[i];
        if (meets_itself(system, a)) node_meets_itself(c, a->root);
        for (int j = 0; j < i; j++) {
            const BrioSurfacePart *b = &s->part[j];
            if ((!a->moves && !b->moves) ||
                (system->excluded && system->excluded[a->owner * owners + b->owner]))
                continue;
            nodes_meet(c, a->root, b->root);
        }
    }
    for (int k = 0; k < CANDIDATES; k++) {
        brio__pairs_finish(&c->candidate[k]);
        c->totals.candidates += c->candidate[k].term.elements;
    }
    c->complete = !c->out_of_memory;
    c->totals.searches++;
    c->totals.broad_phase += brio__seconds() - before;
}

/* Candidates that hold all pairs that come within reach on x + [0,1] dx. */
static void ensure(BrioContact *c, const double *param, const double *x, const double *dx)
{
    if (!c->complete || c->reach != reach_of(param) || !covered(c, x, NULL) ||
        (dx && !covered(c, x, dx)))
        search(c, param, x, dx);
}

/* ---- pairs that act --------------------------------------------------------------------- */

static double parallel_bound(const BrioContact *c, int64_t candidate)
{
    const int32_t *e = c->who[1] + 2 * candidate;
    return 1e-3 * c->surface->edge_square[e[0]] * c->surface->edge_square[e[1]];
}

/* What a candidate counts for: nothing if one of the two lies in a flat part of what keeps its
 * shape (creases.c). */
static double crease(const BrioContact *c, int kind, int64_t candidate)
{
    const BrioSurface *s = c->surface;
    if (kind == 2) return 1;
    const int32_t *who = c->who[kind] + 2 * candidate;
    return kind == 0 ? s->vertex_crease[who[0]] : s->edge_crease[who[0]] * s->edge_crease[who[1]];
}

static bool same_positions(BrioContact *c, const double *x)
{
    const BrioSurface *s = c->surface;
    for (int32_t i = 0; i < s->vertex_count; i++)
        if (memcmp(c->now + 3 * (int64_t)i, x + 3 * (int64_t)s->vertex[i], 3 * sizeof *x))
            return false;
    return true;
}

/* Vertices and triangles: the features that are left when all that are near are gathered. */
static void choose_features(BrioContact *c, const double *x, double reach)
{
    const BrioSurface *s = c->surface;
    BrioPairs *from = &c->candidate[0];
    BrioFeatures *f = &c->features;
    brio__features_clear(f);
    for (int64_t e = 0; e < from->term.elements; e++) {
        if (!(from->distance[e] < reach) || crease(c, 0, e) == 0) continue;
        const int32_t *who = c->who[0] + 2 * e;
        if (brio__features_add(f, who[0], who[1], x, reach) != BRIO_OK) c->out_of_memory = true;
    }
    for (int64_t i = 0; i < f->count; i++) {
        const BrioFeature *g = &f->feature[i];
        bool constant =
            s->fixed[g->v] && s->fixed[g->node[0]] && s->fixed[g->node[1]] && s->fixed[g->node[2]];
        double rest = constant ? 0
                               : g->count * s->vertex_crease[g->v] *
                                     brio__stiffness_factor(c->system, s->vertex_owner[g->v],
                                                            s->vertex_owner[g->node[0]]);
        int32_t vertex[4] = {s->vertex[g->v]};
        for (int k = 0; k < 3; k++) vertex[1 + k] = s->vertex[g->node[k]];
        if (rest != 0 && brio__pairs_add(&c->pair[BRIO_PAIR_VERTEX_FACE], vertex, &rest) != BRIO_OK)
            c->out_of_memory = true;
    }
}

static int32_t edge_owner(const BrioContact *c, int32_t edge)
{
    return c->surface->vertex_owner[c->surface->edge[2 * (int64_t)edge]];
}

/* Edges and edges, or vertices and vertices. */
static void choose_pairs(BrioContact *c, int k, const double *x, double reach)
{
    BrioPairs *from = &c->candidate[k];
    for (int64_t e = 0; e < from->term.elements; e++) {
        double rest[2] = {crease(c, k, e), 0};
        if (!(from->distance[e] < reach) || rest[0] == 0) continue;
        int32_t vertex[4];
        int kind = kind_of[k];
        brio__pairs_vertices(from, e, vertex);
        if (kind == BRIO_PAIR_EDGE_EDGE) {
            double at[12];
            brio__pairs_positions(from, e, x, at);
            rest[0] *= brio__stiffness_factor(c->system, edge_owner(c, c->who[k][2 * e]),
                                              edge_owner(c, c->who[k][2 * e + 1]));
            rest[1] = parallel_bound(c, e);
            if (brio__cross_square(at) < rest[1]) kind = BRIO_PAIR_PARALLEL;
        }
        if (brio__pairs_add(&c->pair[kind], vertex, rest) != BRIO_OK) c->out_of_memory = true;
    }
}

/* Chooses the pairs closer than dhat at x. */
static void refresh(BrioContact *c, const double *param, const double *x)
{
    const BrioSurface *s = c->surface;
    double reach = param[BRIO_CONTACT_DHAT] + param[BRIO_CONTACT_THICKNESS];
    if (c->now_reach == reach && same_positions(c, x)) return;
    ensure(c, param, x, NULL);
    for (int k = 0; k < BRIO_PAIR_KINDS; k++) brio__pairs_clear(&c->pair[k]);
    for (int k = 0; k < CANDIDATES; k++) {
        brio__pairs_measure(&c->candidate[k], param, x);
        if (k == 0)
            choose_features(c, x, reach);
        else
            choose_pairs(c, k, x, reach);
    }
    for (int k = 0; k < BRIO_PAIR_KINDS; k++) brio__pairs_finish(&c->pair[k]);
    for (int32_t i = 0; i < s->vertex_count; i++)
        memcpy(c->now + 3 * (int64_t)i, x + 3 * (int64_t)s->vertex[i], 3 * sizeof *x);
    c->now_reach = c->out_of_memory ? NAN : reach;
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
    for (int k = 0; k < BRIO_PAIR_KINDS; k++)
        sum += brio__pairs_evaluate(&c->pair[k], c->system, param, x, gradient, world);
    return c->out_of_memory ? NAN : sum;
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
    /* pairs may be those of x while the candidates are of where a step was tried since */
    ensure(c, param, x, NULL);
    if (c->out_of_memory) return BRIO_ERROR_MEMORY;
    for (int k = 0; k < CANDIDATES; k++) {
        BrioPairs *from = &c->candidate[k];
        brio__pairs_measure(from, param, x);
        for (int64_t e = 0; e < from->term.elements; e++) {
            int32_t vertex[4];
            if (!(from->distance[e] < c->reach) || crease(c, k, e) == 0) continue;
            brio__pairs_vertices(from, e, vertex);
            BRIO_CHECK(brio__pairs_reserve(c->system, vertex, overlay));
        }
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
        brio__pairs_measure(pairs, param, x);
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

/* A bound on how far the two of a pair move towards each other: both parts' largest way, the pair's
 * mean motion taken off. */
static double approach(const Sweep *w, int64_t e)
{
    double d[12], mean[3] = {0, 0, 0}, square[4] = {0, 0, 0, 0};
    brio__pairs_positions(w->pairs, e, w->dx, d);
    for (int i = 0; i < 12; i++) mean[i % 3] += d[i] / 4;
    for (int i = 0; i < 12; i++) square[i / 3] += (d[i] - mean[i % 3]) * (d[i] - mean[i % 3]);
    double rest = fmax(square[2], square[3]);
    return w->kind == BRIO_PAIR_VERTEX_FACE ? sqrt(square[0]) + sqrt(fmax(square[1], rest))
                                            : sqrt(fmax(square[0], square[1])) + sqrt(rest);
}

/* Most pairs move far less than they are apart: half the distance is more than KEEP and round-off
 * need. */
static void sweep_chunk(void *context, int64_t begin, int64_t end)
{
    const Sweep *w = context;
    for (int64_t e = begin; e < end; e++)
        w->c->step[e] =
            approach(w, e) < 0.5 * (w->pairs->distance[e] - w->thickness) ? 1 : pair_step(w, e);
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
        BrioPairs *pairs = &c->candidate[k];
        int64_t count = pairs->term.elements;
        if (count > c->step_room) {
            double *more = brio__realloc(c->step, 0, 2 * (size_t)count, sizeof *more);
            if (!more) c->out_of_memory = true;
            if (more) c->step = more, c->step_room = 2 * count;
        }
        if (c->out_of_memory) return 0; /* no step can be shown to be safe */
        Sweep w = {c, pairs, k, x, dx, param[BRIO_CONTACT_THICKNESS]};
        brio__pairs_measure(pairs, param, x);
        brio__parallel_for(count, CHUNK, sweep_chunk, &w);
        for (int64_t e = 0; e < count; e++)
            if (c->step[e] < t) {
                t = c->step[e];
                *limit =
                    (BrioLimit){.term = &pairs->term, .element = e, .distance = pairs->distance[e]};
            }
    }
    if (limit->term)
        brio__pairs_vertices(&c->candidate[limit->term == &c->candidate[1].term], limit->element,
                             limit->vertex);
    c->totals.ccd += brio__seconds() - before - (c->totals.broad_phase - broad);
    return t;
}
