/* Vertices that move by themselves, round after round:
 *
 * - A vertex of one part within another, closed one: to the nearest point of its surface, and the
 *   margin further. Where the part is hollow and more of the other is within than outside, the
 *   vertices outside come in. Which vertices are within: those that no edge without an intersection
 *   joins to others are alike, so that one winding number tells for all of them.
 * - An edge that cuts a closed part between its vertices, or is cut so: out along the normals.
 * - Of what is open, or meets itself: the contour of the intersection becomes shorter. Where an
 * edge of direction E meets a triangle with normal N, it goes along [Volino2006, Eq. 5]
 *
 *       G = sum over the edge's triangles of  R - 2 (E.R)/(E.N) N,
 *
 *   R being the direction of the contour into that triangle, and the triangle goes the other way.
 * - A vertex behind a wall: in front of it.
 *
 * Then neighbours follow: the displacement of all other vertices is the mean of their neighbours',
 * a little less. Tets must keep a tenth of their volume, or the part moves less far. */
#include "untangle_work.h"

#include "../sets.h"
#include "../vec.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 300,  /* at most */
    PATIENCE = 60, /* rounds without fewer intersections */
    SWEEPS = 12    /* of the displacement over neighbours */
};
#define FADE 0.9  /* what a neighbour passes on */
#define STEP 0.25 /* of an edge's length: how far a contour moves in a round */
#define KEPT 0.1  /* of its volume in the round before: what a tet keeps */
#define STEEP 0.1 /* E.N is taken to be that at least */

enum { FREE, PUSHED, WITHIN };

static const double *at(const BrioUntangler *u, int64_t v) { return u->t->x + 3 * v; }

static bool stands(const BrioUntangler *u, int part, int64_t v)
{
    return u->t->part[part].motion != BRIO_TANGLE_BENDS || (u->t->fixed && u->t->fixed[v]);
}

/* One more push of a vertex; their mean counts. */
static void add(BrioUntangler *u, int part, int64_t v, const double d[3])
{
    if (stands(u, part, v) || u->set[v] == WITHIN) return;
    u->set[v] = PUSHED;
    u->weight[v] += 1;
    for (int r = 0; r < 3; r++) u->push[3 * v + r] += d[r];
}

/* ---- which vertices are within a closed part -------------------------------------------- */

/* The edges of part a that meet part b, sorted. */
static BrioStatus collect_blocked(BrioUntangler *u, int a, int b, int64_t *count)
{
    if (u->blocked_room < u->count) {
        brio__free(u->blocked);
        u->blocked_room = 0;
        u->blocked = brio__alloc((size_t)u->count, sizeof *u->blocked);
        if (!u->blocked) return BRIO_ERROR_MEMORY;
        u->blocked_room = u->count;
    }
    *count = 0;
    for (int64_t i = 0; i < u->count; i++)
        if (u->found[i].owner[0] == a && u->found[i].owner[1] == b)
            u->blocked[(*count)++] = brio__tangle_key(u->found[i].edge[0], u->found[i].edge[1]);
    qsort(u->blocked, (size_t)*count, sizeof *u->blocked, brio__ascending_keys);
    return BRIO_OK;
}

/* Joins the vertices of part a that are on one side of part b. */
static void join(BrioUntangler *u, int a, int64_t blocked)
{
    const BrioTanglePart *p = &u->t->part[a];
    const BrioExactSurface *f = &u->all.surface;
    for (int64_t v = p->first; v < p->first + p->count; v++) u->root[v] = -1;
    for (int64_t e = 0; e < f->edge_count; e++) {
        if (f->edge_owner[e] != a) continue;
        int32_t i = f->edge[2 * e], j = f->edge[2 * e + 1];
        if (u->root[i] < 0) u->root[i] = i;
        if (u->root[j] < 0) u->root[j] = j;
        uint64_t key = brio__tangle_key(i, j);
        if (bsearch(&key, u->blocked, (size_t)blocked, sizeof key, brio__ascending_keys)) continue;
        i = brio__set_root(u->root, i);
        j = brio__set_root(u->root, j);
        u->root[BRIO_MAX(i, j)] = BRIO_MIN(i, j);
    }
}

/* Where the vertices of part a are: u->next of a root is 1 within part b, 0 outside. */
static void classify(BrioUntangler *u, int a, int b)
{
    const BrioTanglePart *p = &u->t->part[a];
    BrioShell shell = brio__tangle_shell(u, b);
    for (int32_t v = (int32_t)p->first; v < p->first + p->count; v++)
        if (u->root[v] == v)
            u->next[v] = fabs(brio__shell_winding(&shell, u->t->x, at(u, v))) > 0.5;
}

/* The vector that takes a vertex to the surface of part b and the margin further. */
static double way_out(const BrioUntangler *u, int b, int64_t v, double d[3])
{
    BrioShell shell = brio__tangle_shell(u, b);
    double y[3], depth = brio__shell_nearest(&shell, u->t->x, at(u, v), y);
    if (!(depth < INFINITY)) return 0;
    brio__subtract3(y, at(u, v), d);
    double scale = depth > 0 ? (depth + u->t->margin) / depth : 0;
    for (int r = 0; r < 3; r++) d[r] *= scale;
    return depth;
}

/* Vertices of part a on the wrong side of the closed part b. */
static void push_side(BrioUntangler *u, int a, int b, double within)
{
    const BrioTanglePart *p = &u->t->part[a];
    /* both may move: each moves by more than half */
    double share = u->t->part[b].motion == BRIO_TANGLE_BENDS && u->closed[a] ? 0.6 : 1;
    for (int64_t v = p->first; v < p->first + p->count; v++) {
        double d[3];
        if (u->root[v] < 0 || u->next[brio__set_root(u->root, (int32_t)v)] != within ||
            stands(u, a, v) || !(way_out(u, b, v, d) > 0))
            continue;
        for (int r = 0; r < 3; r++) u->push[3 * v + r] = share * d[r];
        u->weight[v] = 1;
        u->set[v] = WITHIN;
    }
}

/* Whether it is nearer for part a to come into the hollow part b: its vertices outside are less far
 * from the surface than those within. */
static bool comes_in(BrioUntangler *u, int a, int b)
{
    const BrioTanglePart *p = &u->t->part[a];
    double deepest[2] = {0, 0}, d[3];
    if (u->t->part[b].tet_count) return false;
    for (int64_t v = p->first; v < p->first + p->count; v++) {
        if (u->root[v] < 0) continue;
        int side = u->next[brio__set_root(u->root, (int32_t)v)] > 0;
        deepest[side] = fmax(deepest[side], way_out(u, b, v, d));
    }
    return deepest[0] < deepest[1];
}

/* The ordered pairs of parts that meet, sorted, each once: their number. */
static int64_t list_pairs(const BrioUntangler *u, uint64_t *key)
{
    int64_t count = 0, kept = 0;
    for (int64_t i = 0; i < u->count; i++) {
        uint64_t a = (uint32_t)u->found[i].owner[0], b = (uint32_t)u->found[i].owner[1];
        if (a == b) continue;
        key[count++] = a << 32 | b;
        key[count++] = b << 32 | a;
    }
    qsort(key, (size_t)count, sizeof *key, brio__ascending_keys);
    for (int64_t i = 0; i < count; i++)
        if (i == 0 || key[i] != key[i - 1]) key[kept++] = key[i];
    return kept;
}

static BrioStatus push_within(BrioUntangler *u)
{
    const BrioTangle *t = u->t;
    uint64_t *key = brio__alloc(2 * (size_t)u->count + 1, sizeof *key);
    BrioStatus status = key ? BRIO_OK : BRIO_ERROR_MEMORY;
    int64_t pairs = key ? list_pairs(u, key) : 0;
    for (int64_t i = 0; status == BRIO_OK && i < pairs; i++) {
        int a = (int)(key[i] >> 32), b = (int)(uint32_t)key[i];
        int64_t blocked;
        if (t->part[a].motion != BRIO_TANGLE_BENDS || !u->closed[b]) continue;
        status = collect_blocked(u, a, b, &blocked);
        if (status != BRIO_OK) break;
        join(u, a, blocked);
        classify(u, a, b);
        push_side(u, a, b, comes_in(u, a, b) ? 0 : 1);
    }
    brio__free(key);
    return status;
}

/* ---- edges and triangles ---------------------------------------------------------------- */

/* Outward normals of the vertices of closed parts, weighted by area. */
static void make_normals(BrioUntangler *u)
{
    const BrioTangle *t = u->t;
    memset(u->normal, 0, 3 * (size_t)t->vertex_count * sizeof(double));
    for (int i = 0; i < t->part_count; i++) {
        const BrioTanglePart *p = &t->part[i];
        BrioShell shell = brio__tangle_shell(u, i);
        double sign = brio__shell_volume6(&shell, t->x) < 0 ? -1 : 1, n[3];
        for (int64_t k = 0; u->closed[i] && k < p->triangle_count; k++) {
            const int32_t *c = p->triangle + 3 * k;
            brio__triangle_normal(at(u, p->first + c[0]), at(u, p->first + c[1]),
                                  at(u, p->first + c[2]), n);
            for (int j = 0; j < 3; j++)
                for (int r = 0; r < 3; r++) u->normal[3 * (p->first + c[j]) + r] += sign * n[r];
        }
    }
}

/* Where the edge meets the plane of the triangle: its fraction of the edge, and the point. */
static double meeting_point(const BrioUntangler *u, const BrioIntersection *in, double n[3],
                            double c[3])
{
    const double *p = at(u, in->edge[0]), *q = at(u, in->edge[1]), *o = at(u, in->other[0]);
    double a[3], b[3];
    brio__triangle_normal(o, at(u, in->other[1]), at(u, in->other[2]), n);
    brio__normalise3(n);
    brio__subtract3(p, o, a);
    brio__subtract3(q, o, b);
    double from = brio__dot3(n, a), to = brio__dot3(n, b);
    double s = from == to ? 0.5 : fmin(1, fmax(0, from / (from - to)));
    for (int r = 0; r < 3; r++) c[r] = p[r] + s * (q[r] - p[r]);
    return s;
}

static void add_edge(BrioUntangler *u, const BrioIntersection *in, const double d[3], double scale)
{
    double e[3] = {scale * d[0], scale * d[1], scale * d[2]};
    for (int k = 0; k < 2; k++) add(u, in->owner[0], in->edge[k], e);
}

static void add_other(BrioUntangler *u, const BrioIntersection *in, const double d[3], double scale)
{
    double e[3] = {scale * d[0], scale * d[1], scale * d[2]};
    for (int k = 0; k < (in->triangle < 0 ? 2 : 3); k++) add(u, in->owner[1], in->other[k], e);
}

static bool moves(const BrioUntangler *u, int part)
{
    return u->t->part[part].motion == BRIO_TANGLE_BENDS;
}

/* An edge of the closed part pierces a triangle of the other, which goes out along the edge's
 * normal until the outer end of the edge is behind it; or the other's edge cuts a triangle of the
 * closed part. */
static void push_outward(BrioUntangler *u, const BrioIntersection *in, bool edge_closed)
{
    double n[3], c[3], out[3] = {0}, d[3], way = 0;
    meeting_point(u, in, n, c);
    for (int k = 0; k < (edge_closed ? 2 : 3); k++) {
        const double *m = u->normal + 3 * (int64_t)(edge_closed ? in->edge[k] : in->other[k]);
        for (int r = 0; r < 3; r++) out[r] += m[r];
    }
    if (!(brio__normalise3(out) > 0)) return;
    double length = brio__distance3(at(u, in->edge[0]), at(u, in->edge[1]));
    for (int k = 0; k < 2; k++) {
        brio__subtract3(at(u, in->edge[k]), c, d);
        way = fmax(way, edge_closed ? brio__dot3(out, d) : -brio__dot3(out, d));
    }
    way = fmin(way, STEP * length) + u->t->margin;
    if (edge_closed)
        add_other(u, in, out, way);
    else
        add_edge(u, in, out, way);
}

/* R - 2 (E.R)/(E.N) N of one triangle at the edge, whose corner across is `across`. */
static void add_contour(const BrioUntangler *u, const BrioIntersection *in, const double e[3],
                        const double n[3], const double c[3], int32_t across, double g[3])
{
    double m[3], r[3], inward[3];
    brio__triangle_normal(at(u, in->edge[0]), at(u, in->edge[1]), at(u, across), m);
    brio__cross3(m, n, r);
    if (!(brio__normalise3(r) > 0)) return;
    brio__subtract3(at(u, across), c, inward);
    double along = brio__dot3(inward, e);
    for (int k = 0; k < 3; k++) inward[k] -= along * e[k];
    if (brio__dot3(r, inward) < 0)
        for (int k = 0; k < 3; k++) r[k] = -r[k];
    double steep = brio__dot3(e, n);
    if (fabs(steep) < STEEP) steep = steep < 0 ? -STEEP : STEEP;
    double factor = 2 * brio__dot3(e, r) / steep;
    for (int k = 0; k < 3; k++) g[k] += r[k] - factor * n[k];
}

static void shorten_contour(BrioUntangler *u, const BrioIntersection *in)
{
    double n[3], c[3], e[3], g[3] = {0};
    uint64_t key = brio__tangle_key(in->edge[0], in->edge[1]);
    meeting_point(u, in, n, c);
    brio__subtract3(at(u, in->edge[1]), at(u, in->edge[0]), e);
    double length = brio__normalise3(e);
    int64_t low = 0, high = u->side_count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (u->side[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    bool any = low < u->side_count && u->side[low].key == key;
    for (; low < u->side_count && u->side[low].key == key; low++)
        add_contour(u, in, e, n, c, u->side[low].across, g);
    /* a line has no triangles: it goes to the nearer side of the edge, along the normal */
    for (int r = 0; !any && r < 3; r++) g[r] = n[r];
    double size = brio__norm3(g);
    if (!(size > 0)) return;
    bool both = moves(u, in->owner[0]) && moves(u, in->owner[1]);
    double scale = STEP * length / (size + 0.1) * (both ? 0.5 : 1);
    add_edge(u, in, g, scale);
    add_other(u, in, g, -scale);
}

/* Two lines: apart, along the common normal. */
static void part_lines(BrioUntangler *u, const BrioIntersection *in)
{
    double e[3], f[3], n[3];
    brio__subtract3(at(u, in->edge[1]), at(u, in->edge[0]), e);
    brio__subtract3(at(u, in->other[1]), at(u, in->other[0]), f);
    brio__cross3(e, f, n);
    if (!(brio__normalise3(n) > 0)) return;
    add_edge(u, in, n, u->t->margin);
    add_other(u, in, n, -u->t->margin);
}

static void push_pairs(BrioUntangler *u)
{
    for (int64_t i = 0; i < u->count; i++) {
        const BrioIntersection *in = &u->found[i];
        int a = in->owner[0], b = in->owner[1];
        if (in->triangle < 0)
            part_lines(u, in);
        else if (a != b && u->closed[b] && moves(u, a))
            push_outward(u, in, false);
        else if (a != b && u->closed[a] && moves(u, b))
            push_outward(u, in, true);
        else
            shorten_contour(u, in);
    }
}

/* What is behind a wall goes in front of it. */
static int64_t push_forward(BrioUntangler *u)
{
    const BrioTangle *t = u->t;
    int64_t count = 0;
    for (int i = 0; t->depth && i < t->part_count; i++) {
        const BrioTanglePart *p = &t->part[i];
        for (int64_t v = p->first; v < p->first + p->count; v++) {
            double out[3], depth;
            if (stands(u, i, v) || (depth = t->depth(t->context, v, at(u, v), out)) < 0) continue;
            count++;
            for (int r = 0; r < 3; r++) u->push[3 * v + r] = (depth + t->margin) * out[r];
            u->weight[v] = 1;
            u->set[v] = WITHIN;
        }
    }
    return count;
}

/* ---- moving ----------------------------------------------------------------------------- */

/* Mean pushes, and those of all other vertices by their neighbours. */
static void spread(BrioUntangler *u)
{
    const BrioTangle *t = u->t;
    for (int64_t v = 0; v < t->vertex_count; v++)
        for (int r = 0; u->set[v] && r < 3; r++) u->push[3 * v + r] /= u->weight[v];
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        memcpy(u->next, u->push, 3 * (size_t)t->vertex_count * sizeof(double));
        for (int i = 0; i < t->part_count; i++)
            for (int64_t v = t->part[i].first; v < t->part[i].first + t->part[i].count; v++) {
                int64_t begin = u->link_start[v], end = u->link_start[v + 1];
                if (u->set[v] || stands(u, i, v) || begin == end) continue;
                double sum[3] = {0};
                for (int64_t k = begin; k < end; k++)
                    for (int r = 0; r < 3; r++) sum[r] += u->next[3 * (int64_t)u->link[k] + r];
                for (int r = 0; r < 3; r++)
                    u->push[3 * v + r] = FADE * sum[r] / (double)(end - begin);
            }
    }
}

static double volume6(const double *x, const int32_t *tet, int64_t first)
{
    const double *o = x + 3 * (first + tet[0]);
    double e[3][3];
    for (int k = 0; k < 3; k++) brio__subtract3(x + 3 * (first + tet[1 + k]), o, e[k]);
    return brio__triple3(e[0], e[1], e[2]);
}

/* The part's largest step of 1, 1/2, 1/4 ... at which all its tets keep their share. */
static double tet_step(BrioUntangler *u, const BrioTanglePart *p)
{
    for (double step = 1; step > 1e-3; step /= 2) {
        bool kept = true;
        for (int64_t v = 3 * p->first; v < 3 * (p->first + p->count); v++)
            u->trial[v] = u->t->x[v] + step * u->push[v];
        for (int64_t t = 0; kept && t < p->tet_count; t++) {
            double before = volume6(u->t->x, p->tet + 4 * t, p->first);
            double after = volume6(u->trial, p->tet + 4 * t, p->first);
            kept = before > 0 ? after > KEPT * before : after >= before;
        }
        if (kept) return step;
    }
    return 0;
}

static void move(BrioUntangler *u)
{
    const BrioTangle *t = u->t;
    for (int i = 0; i < t->part_count; i++) {
        const BrioTanglePart *p = &t->part[i];
        if (p->motion != BRIO_TANGLE_BENDS) continue;
        double step = p->tet_count ? tet_step(u, p) : 1;
        for (int64_t v = 3 * p->first; v < 3 * (p->first + p->count); v++)
            t->x[v] += step * u->push[v];
    }
}

BrioStatus brio__tangle_bend(BrioUntangler *u)
{
    const size_t n = (size_t)u->t->vertex_count;
    int64_t least = INT64_MAX;
    for (int round = 0, waited = 0; round < ROUNDS && waited < PATIENCE; round++, waited++) {
        memset(u->push, 0, 3 * n * sizeof(double));
        memset(u->weight, 0, n * sizeof(double));
        memset(u->set, FREE, n);
        BRIO_CHECK(brio__tangle_find(u));
        int64_t left = u->count + push_forward(u);
        if (left == 0) return BRIO_OK;
        if (left < least) {
            memcpy(u->best, u->t->x, 3 * n * sizeof(double));
            least = left;
            waited = 0;
        }
        make_normals(u);
        BRIO_CHECK(push_within(u));
        push_pairs(u);
        spread(u);
        move(u);
    }
    memcpy(u->t->x, u->best, 3 * n * sizeof(double));
    return brio__tangle_find(u);
}
