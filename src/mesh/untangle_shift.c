/* Parts that move as a whole. Along a unit vector n, two parts are apart from the way
 * max_B(n.x) - min_A(n.x) on. Between that and none, the first way without an intersection is found
 * by bisection with exact predicates, for directions that are likely (between the centres, normals
 * of triangles that intersect, axes), for some all around, and for some about the best. The shift
 * is shared by both parts, or one of them goes all the way if that is shorter, as it is before a
 * wall.
 */
#include "untangle_work.h"

#include "../vec.h"

#include <string.h>

enum {
    ROUNDS = 40,    /* of all pairs: a part that moves may meet a third */
    NORMALS = 24,   /* of triangles that are tried */
    AROUND = 48,    /* directions all around */
    BISECTIONS = 12 /* of the shift: 2^-12 */
};
#define WORTH 0.97 /* of the best shift: another direction must be at least this much shorter */

/* Two parts, or a part and all others (b = -1). */
typedef struct Pair {
    BrioUntangler *u;
    int a, b;
    BrioIntersector in;
    double share[2]; /* fraction of the shift that each takes */
    bool walled;     /* a wall blocked the shift */
    int32_t *near;   /* the triangles of `in`, if not all */
} Pair;

typedef struct Best {
    bool found;
    double way, shift, direction[3], share[2];
} Best;

/* ---- one place -------------------------------------------------------------------------- */

/* Only intersections of the two count, in their own numbers. */
static bool not_these(const void *context, int a, int b)
{
    const Pair *p = context;
    if (p->b >= 0) return a == b;
    return (a == p->a) == (b == p->a) || (p->u->all.excluded(p->u->t, a, b));
}

static int moving(const Pair *p, int k) { return k == 0 ? p->a : p->b; }

static void put(const Pair *p, const double direction[3], double way, double *to)
{
    const BrioTangle *t = p->u->t;
    for (int k = 0; k < 2; k++) {
        int part = moving(p, k);
        if (part < 0) continue;
        double d = way * p->share[k] * (k ? -1 : 1);
        for (int64_t v = t->part[part].first; v < t->part[part].first + t->part[part].count; v++)
            for (int r = 0; r < 3; r++) to[3 * v + r] = t->x[3 * v + r] + d * direction[r];
    }
}

static bool in_front(const Pair *p)
{
    const BrioTangle *t = p->u->t;
    double out[3];
    for (int k = 0; t->depth && k < 2; k++) {
        int part = moving(p, k);
        if (part < 0 || p->share[k] == 0) continue;
        for (int64_t v = t->part[part].first; v < t->part[part].first + t->part[part].count; v++)
            if (t->depth(t->context, v, p->u->trial + 3 * v, out) >= 0) return false;
    }
    return true;
}

static bool apart(Pair *p, const double direction[3], double way)
{
    put(p, direction, way, p->u->trial);
    bool front = in_front(p);
    p->walled |= !front;
    return front && !brio__intersector_any(&p->in, p->u->trial);
}

/* ---- one direction ---------------------------------------------------------------------- */

static void extent(const BrioTangle *t, int part, const double n[3], double *low, double *high)
{
    const BrioTanglePart *p = &t->part[part];
    for (int64_t v = p->first; v < p->first + p->count; v++) {
        double at = brio__dot3(n, t->x + 3 * v);
        *low = fmin(*low, at);
        *high = fmax(*high, at);
    }
}

/* The shift after which the extents of both parts along n are disjoint. */
static double clear_way(const Pair *p, const double n[3])
{
    const BrioTangle *t = p->u->t;
    double low = INFINITY, high = -INFINITY, other_low = INFINITY, other_high = -INFINITY;
    extent(t, p->a, n, &low, &high);
    for (int i = 0; i < t->part_count; i++)
        if (p->b >= 0 ? i == p->b : i != p->a && !p->u->all.excluded(t, i, p->a))
            extent(t, i, n, &other_low, &other_high);
    return other_high - low + 1e-6 * (high - low + other_high - other_low);
}

static void try_direction(Pair *p, const double direction[3], Best *best)
{
    double n[3] = {direction[0], direction[1], direction[2]};
    double share = fmax(p->share[0], p->share[1]), low = 0;
    if (!(brio__normalise3(n) > 0)) return;
    double high = clear_way(p, n);
    if (best->found) high = fmin(high, WORTH * best->shift / share);
    if (!(high > 0) || !apart(p, n, high)) return;
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = (low + high) / 2;
        if (apart(p, n, middle))
            high = middle;
        else
            low = middle;
    }
    *best = (Best){.found = true,
                   .way = high,
                   .shift = high * share,
                   .direction = {n[0], n[1], n[2]},
                   .share = {p->share[0], p->share[1]}};
}

static void try_both(Pair *p, const double n[3], Best *best)
{
    try_direction(p, n, best);
    try_direction(p, (double[3]){-n[0], -n[1], -n[2]}, best);
}

/* ---- all directions --------------------------------------------------------------------- */

static void centre(const BrioTangle *t, int part, double c[3])
{
    const BrioTanglePart *p = &t->part[part];
    c[0] = c[1] = c[2] = 0;
    for (int64_t v = p->first; v < p->first + p->count; v++)
        for (int r = 0; r < 3; r++) c[r] += t->x[3 * v + r] / (double)p->count;
}

/* Whether an intersection is one of the pair's. */
static bool concerns(const Pair *p, const BrioIntersection *at)
{
    bool first = at->owner[0] == p->a, second = at->owner[1] == p->a;
    if (first == second) return false;
    return p->b < 0 || at->owner[first ? 1 : 0] == p->b;
}

/* Normals of triangles that are met, some of them, and their sum. */
static void try_normals(Pair *p, Best *best)
{
    const BrioUntangler *u = p->u;
    int64_t count = 0, seen = 0;
    double sum[3] = {0};
    for (int64_t i = 0; i < u->count; i++)
        count += concerns(p, &u->found[i]) && u->found[i].triangle >= 0;
    for (int64_t i = 0; i < u->count; i++) {
        const BrioIntersection *at = &u->found[i];
        double n[3];
        if (!concerns(p, at) || at->triangle < 0) continue;
        brio__triangle_normal(u->t->x + 3 * (int64_t)at->other[0],
                              u->t->x + 3 * (int64_t)at->other[1],
                              u->t->x + 3 * (int64_t)at->other[2], n);
        for (int r = 0; r < 3; r++) sum[r] += at->owner[1] == p->a ? -n[r] : n[r];
        if (seen++ % (count / NORMALS + 1) == 0) try_both(p, n, best);
    }
    try_both(p, sum, best);
}

/* Six directions about the best, at an angle. */
static void try_about(Pair *p, double angle, Best *best)
{
    double n[3], e[3], f[3], axis[3] = {0};
    int least = 0;
    if (!best->found) return;
    memcpy(n, best->direction, sizeof n);
    for (int r = 1; r < 3; r++)
        if (fabs(n[r]) < fabs(n[least])) least = r;
    axis[least] = 1;
    brio__cross3(n, axis, e);
    brio__normalise3(e);
    brio__cross3(n, e, f);
    for (int k = 0; k < 6; k++) {
        double c = tan(angle) * cos(k * 1.0471975511965976), direction[3];
        double s = tan(angle) * sin(k * 1.0471975511965976);
        for (int r = 0; r < 3; r++) direction[r] = n[r] + c * e[r] + s * f[r];
        try_direction(p, direction, best);
    }
}

/* The box of a part's vertices, and `room` around it. */
static void box_of(const BrioTangle *t, int part, double room, double low[3], double high[3])
{
    for (int r = 0; r < 3; r++) low[r] = INFINITY, high[r] = -INFINITY;
    for (int64_t v = t->part[part].first; v < t->part[part].first + t->part[part].count; v++)
        for (int r = 0; r < 3; r++) {
            low[r] = fmin(low[r], t->x[3 * v + r] - room);
            high[r] = fmax(high[r], t->x[3 * v + r] + room);
        }
}

/* The triangles of one part that touch a box, into `near`: their number. */
static int64_t near_box(const BrioTangle *t, int part, const double low[3], const double high[3],
                        int32_t *near)
{
    const BrioTanglePart *p = &t->part[part];
    int64_t count = 0;
    for (int64_t k = 0; k < p->triangle_count; k++) {
        const int32_t *c = p->triangle + 3 * k;
        bool outside = false;
        for (int r = 0; r < 3; r++) {
            double x = t->x[3 * (p->first + c[0]) + r], y = t->x[3 * (p->first + c[1]) + r];
            double z = t->x[3 * (p->first + c[2]) + r];
            outside |= fmin(x, fmin(y, z)) > high[r] || fmax(x, fmax(y, z)) < low[r];
        }
        if (!outside) memcpy(near + 3 * count++, c, 3 * sizeof *c);
    }
    return count;
}

/* No shift is longer than this from now on: only triangles within this distance count. */
static BrioStatus narrow(Pair *p, double way)
{
    const BrioTangle *t = p->u->t;
    BrioExactPart part[2];
    BrioIntersector in;
    double low[3], high[3];
    if (p->b < 0 || p->near) return BRIO_OK;
    int64_t room = t->part[p->a].triangle_count + t->part[p->b].triangle_count;
    int32_t *near = p->near = brio__alloc(3 * (size_t)room + 1, sizeof *near);
    if (!near) return BRIO_ERROR_MEMORY;
    for (int k = 0; k < 2; k++) {
        const BrioTanglePart *from = &t->part[moving(p, k)];
        box_of(t, moving(p, 1 - k), 1.0001 * way, low, high);
        int64_t count = near_box(t, moving(p, k), low, high, near);
        part[k] = (BrioExactPart){.first = from->first,
                                  .triangle_count = count,
                                  .triangle = near,
                                  .edge_count = from->triangle_count ? 0 : from->edge_count,
                                  .edge = from->edge};
        near += 3 * count;
    }
    BRIO_CHECK(brio__intersector_create(part, 2, &in));
    in.excluded = not_these;
    in.context = p;
    brio__intersector_free(&p->in);
    p->in = in;
    return BRIO_OK;
}

static BrioStatus try_all(Pair *p, Best *best)
{
    const BrioTangle *t = p->u->t;
    double a[3], b[3] = {0}, n[3];
    try_normals(p, best);
    centre(t, p->a, a);
    if (p->b >= 0) centre(t, p->b, b);
    brio__subtract3(a, b, n);
    if (p->b >= 0) try_both(p, n, best);
    for (int r = 0; r < 3; r++) try_both(p, (double[3]){r == 0, r == 1, r == 2}, best);
    if (best->found) BRIO_CHECK(narrow(p, best->way + t->margin));
    for (int k = 0; k < AROUND; k++) { /* on a spiral of equal areas */
        double y = 1 - (2 * k + 1.0) / AROUND, radius = sqrt(1 - y * y);
        double turn = 2.399963229728653 * k;
        try_direction(p, (double[3]){radius * cos(turn), y, radius * sin(turn)}, best);
    }
    return BRIO_OK;
}

static BrioStatus search(Pair *p, Best *best)
{
    static const double shares[3][2] = {{0.5, 0.5}, {1, 0}, {0, 1}};
    const bool *whole = p->u->whole;
    for (int k = 0; k < 3; k++) {
        if ((shares[k][0] > 0 && !whole[p->a]) || (shares[k][1] > 0 && (p->b < 0 || !whole[p->b])))
            continue;
        /* going alone is longer than sharing, but for walls */
        if (k > 0 && best->found && best->share[0] == 0.5 && !p->walled) break;
        memcpy(p->share, shares[k], sizeof p->share);
        BRIO_CHECK(try_all(p, best));
    }
    if (!best->found) return BRIO_OK;
    memcpy(p->share, best->share, sizeof p->share);
    try_about(p, 0.35, best);
    try_about(p, 0.14, best);
    try_about(p, 0.05, best);
    return BRIO_OK;
}

/* ---- pairs ------------------------------------------------------------------------------ */

static BrioStatus open_pair(BrioUntangler *u, int a, int b, Pair *p)
{
    const BrioTangle *t = u->t;
    int parts = b >= 0 ? 2 : t->part_count;
    BrioExactPart *part = brio__alloc((size_t)parts, sizeof *part);
    *p = (Pair){.u = u, .a = a, .b = b};
    if (!part) return BRIO_ERROR_MEMORY;
    for (int i = 0; i < parts; i++) {
        const BrioTanglePart *from = &t->part[b < 0 ? i : i ? b : a];
        part[i] = (BrioExactPart){.first = from->first,
                                  .triangle_count = from->triangle_count,
                                  .triangle = from->triangle,
                                  .edge_count = from->triangle_count ? 0 : from->edge_count,
                                  .edge = from->edge};
    }
    memcpy(u->trial, t->x, 3 * (size_t)t->vertex_count * sizeof(double));
    BrioStatus status = brio__intersector_create(part, parts, &p->in);
    p->in.excluded = not_these;
    p->in.context = p;
    brio__free(part);
    return status;
}

/* Applies the best shift, and the margin in addition if that is free too. */
static void go(Pair *p, const Best *best)
{
    const BrioUntangler *u = p->u;
    memcpy(p->share, best->share, sizeof p->share);
    for (int k = 0; k < 3; k++) {
        double way = best->way + u->t->margin * (k == 0 ? 1 : k == 1 ? 0.5 : 0);
        if (k < 2 && !apart(p, best->direction, way)) continue;
        put(p, best->direction, way, u->t->x);
        break;
    }
}

static BrioStatus part_pair(BrioUntangler *u, int a, int b, bool *parted)
{
    Pair p;
    Best best = {0};
    *parted = false;
    BrioStatus status = open_pair(u, a, b, &p);
    if (status != BRIO_OK) return status;
    /* another pair may have moved these apart */
    if (brio__intersector_any(&p.in, u->trial)) {
        status = search(&p, &best);
        *parted = status == BRIO_OK && best.found;
        if (*parted) go(&p, &best);
    }
    brio__intersector_free(&p.in);
    brio__free(p.near);
    return status;
}

/* What is behind a wall goes in front of it. */
static void step_forward(BrioUntangler *u, bool sheets)
{
    const BrioTangle *t = u->t;
    for (int i = 0; t->depth && i < t->part_count; i++) {
        const BrioTanglePart *p = &t->part[i];
        if (!u->whole[i] || (!sheets && brio__tangle_sheet(u, i))) continue;
        for (int k = 0; k < ROUNDS; k++) { /* one wall after the other */
            double deepest = -1, out[3], best[3] = {0};
            for (int64_t v = p->first; v < p->first + p->count; v++) {
                double d = t->depth(t->context, v, t->x + 3 * v, out);
                if (!(d > deepest)) continue;
                deepest = d;
                memcpy(best, out, sizeof best);
            }
            if (deepest < 0) break;
            for (int64_t v = p->first; v < p->first + p->count; v++)
                for (int r = 0; r < 3; r++) t->x[3 * v + r] += (deepest + t->margin) * best[r];
        }
    }
}

/* Whether two parts may be moved: one of them as a whole, and no sheet unless asked for. */
static bool eligible(const BrioUntangler *u, int a, int b, bool sheets)
{
    if (a == b || !(u->whole[a] || u->whole[b])) return false;
    return sheets || !(brio__tangle_sheet(u, a) || brio__tangle_sheet(u, b));
}

/* The pairs that intersect, each once: the next one after `last` in order of their numbers. */
static bool next_pair(const BrioUntangler *u, bool sheets, int64_t *last, int *a, int *b)
{
    int64_t best = INT64_MAX;
    for (int64_t i = 0; i < u->count; i++) {
        int first = BRIO_MIN(u->found[i].owner[0], u->found[i].owner[1]);
        int second = BRIO_MAX(u->found[i].owner[0], u->found[i].owner[1]);
        int64_t key = (int64_t)first << 32 | second;
        if (key > *last && key < best && eligible(u, first, second, sheets)) best = key;
    }
    *last = best;
    *a = (int)(best >> 32);
    *b = (int)(best & 0xffffffff);
    return best < INT64_MAX;
}

/* The smaller of two parts that still meet goes to where it meets nothing. */
static BrioStatus shift_alone(BrioUntangler *u, bool sheets)
{
    int64_t last = -1;
    bool parted;
    int a, b;
    while (next_pair(u, sheets, &last, &a, &b)) {
        const BrioTanglePart *part = u->t->part;
        bool first = u->whole[a] && (!u->whole[b] || part[a].count < part[b].count);
        BRIO_CHECK(part_pair(u, first ? a : b, -1, &parted));
    }
    return BRIO_OK;
}

BrioStatus brio__tangle_shift(BrioUntangler *u, bool sheets)
{
    for (int round = 0; round < ROUNDS; round++) {
        int64_t last = -1;
        bool any = false, parted;
        int a, b;
        step_forward(u, sheets);
        BRIO_CHECK(brio__tangle_find(u));
        while (next_pair(u, sheets, &last, &a, &b)) {
            BRIO_CHECK(part_pair(u, a, b, &parted));
            any |= parted;
        }
        if (!any) break;
    }
    BRIO_CHECK(brio__tangle_find(u));
    BRIO_CHECK(shift_alone(u, sheets));
    return brio__tangle_find(u);
}
