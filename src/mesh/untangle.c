/* The order in which surfaces are parted, and the report (untangle.h). */
#include "untangle_work.h"

#include "../vec.h"

#include <stdlib.h>
#include <string.h>

/* ---- setting up ------------------------------------------------------------------------- */

static bool fixed(const void *context, const int32_t *vertex, int count)
{
    const BrioTangle *t = context;
    for (int i = 0; i < count; i++)
        if (!t->fixed || !t->fixed[vertex[i]]) return false;
    return true;
}

static bool excluded(const void *context, int a, int b)
{
    const BrioTangle *t = context;
    return (t->part[a].motion == BRIO_TANGLE_STANDS && t->part[b].motion == BRIO_TANGLE_STANDS) ||
           (a == b && t->part[a].motion == BRIO_TANGLE_SHIFTS) ||
           (t->excluded && t->excluded(t->context, a, b));
}

static BrioStatus create_intersector(BrioUntangler *u)
{
    const BrioTangle *t = u->t;
    BrioExactPart *part = brio__alloc((size_t)t->part_count + 1, sizeof *part);
    if (!part) return BRIO_ERROR_MEMORY;
    for (int i = 0; i < t->part_count; i++)
        part[i] =
            (BrioExactPart){.first = t->part[i].first,
                            .triangle_count = t->part[i].triangle_count,
                            .triangle = t->part[i].triangle,
                            .edge_count = t->part[i].triangle_count ? 0 : t->part[i].edge_count,
                            .edge = t->part[i].edge};
    BrioStatus status = brio__intersector_create(part, t->part_count, &u->all);
    u->all.fixed = fixed;
    u->all.excluded = excluded;
    u->all.context = t;
    brio__free(part);
    return status;
}

/* Which parts are closed, and which may move as a whole. */
static BrioStatus describe_parts(BrioUntangler *u)
{
    const BrioTangle *t = u->t;
    for (int i = 0; i < t->part_count; i++) {
        const BrioTanglePart *p = &t->part[i];
        BrioShell shell = brio__tangle_shell(u, i);
        BRIO_CHECK(brio__shell_closed(&shell, &u->closed[i]));
        u->whole[i] = p->motion != BRIO_TANGLE_STANDS;
        for (int64_t v = p->first; u->whole[i] && t->fixed && v < p->first + p->count; v++)
            if (t->fixed[v]) u->whole[i] = false;
    }
    return BRIO_OK;
}

static int by_key(const void *a, const void *b)
{
    const BrioTangleSide *s = a, *r = b;
    if (s->key != r->key) return s->key < r->key ? -1 : 1;
    return s->across - r->across;
}

static BrioStatus create_sides(BrioUntangler *u)
{
    const BrioExactSurface *f = &u->all.surface;
    u->side = brio__alloc(3 * (size_t)f->triangle_count + 1, sizeof *u->side);
    if (!u->side) return BRIO_ERROR_MEMORY;
    u->side_count = 3 * f->triangle_count;
    for (int64_t t = 0; t < f->triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            const int32_t *n = f->triangle + 3 * t;
            u->side[3 * t + k] =
                (BrioTangleSide){brio__tangle_key(n[k], n[(k + 1) % 3]), n[(k + 2) % 3]};
        }
    qsort(u->side, (size_t)u->side_count, sizeof *u->side, by_key);
    return BRIO_OK;
}

/* Two vertices of one element, as both keys; NULL: only counts. */
static int64_t put_links(const BrioTangle *t, uint64_t *key)
{
    int64_t count = 0;
    for (int i = 0; i < t->part_count; i++) {
        const BrioTanglePart *p = &t->part[i];
        const struct {
            int corners;
            int64_t count;
            const int32_t *node;
        } kind[] = {{3, p->triangle_count, p->triangle},
                    {2, p->edge_count, p->edge},
                    {4, p->tet_count, p->tet}};
        for (int k = 0; k < 3; k++)
            for (int64_t e = 0; e < kind[k].count; e++)
                for (int a = 0; a < kind[k].corners; a++)
                    for (int b = 0; b < kind[k].corners; b++) {
                        const int32_t *n = kind[k].node + kind[k].corners * e;
                        if (a == b) continue;
                        if (key)
                            key[count] =
                                (uint64_t)(p->first + n[a]) << 32 | (uint64_t)(p->first + n[b]);
                        count++;
                    }
    }
    return count;
}

static BrioStatus create_links(BrioUntangler *u)
{
    const BrioTangle *t = u->t;
    int64_t count = put_links(t, NULL), kept = 0;
    uint64_t *key = brio__alloc((size_t)count + 1, sizeof *key);
    u->link_start = brio__calloc((size_t)t->vertex_count + 2, sizeof *u->link_start);
    u->link = brio__alloc((size_t)count + 1, sizeof *u->link);
    bool allocated = key && u->link_start && u->link;
    if (allocated) {
        put_links(t, key);
        qsort(key, (size_t)count, sizeof *key, brio__ascending_keys);
        for (int64_t i = 0; i < count; i++) {
            if (i > 0 && key[i] == key[i - 1]) continue;
            u->link[kept++] = (int32_t)(uint32_t)key[i];
            u->link_start[(key[i] >> 32) + 1]++;
        }
        for (int64_t v = 0; v < t->vertex_count; v++) u->link_start[v + 1] += u->link_start[v];
    }
    brio__free(key);
    return allocated ? BRIO_OK : BRIO_ERROR_MEMORY;
}

static BrioStatus create(BrioUntangler *u)
{
    size_t n = (size_t)u->t->vertex_count + 1, parts = (size_t)u->t->part_count + 1;
    u->closed = brio__calloc(parts, sizeof *u->closed);
    u->whole = brio__calloc(parts, sizeof *u->whole);
    u->start = brio__alloc(3 * n, sizeof(double));
    if (u->start) memcpy(u->start, u->t->x, 3 * (n - 1) * sizeof(double));
    u->trial = brio__alloc(3 * n, sizeof(double));
    u->best = brio__alloc(3 * n, sizeof(double));
    u->push = brio__alloc(3 * n, sizeof(double));
    u->next = brio__alloc(3 * n, sizeof(double));
    u->normal = brio__alloc(3 * n, sizeof(double));
    u->weight = brio__alloc(n, sizeof(double));
    u->set = brio__alloc(n, 1);
    u->root = brio__alloc(n, sizeof *u->root);
    if (!u->closed || !u->whole || !u->start || !u->trial || !u->best || !u->push || !u->next ||
        !u->normal || !u->weight || !u->set || !u->root)
        return BRIO_ERROR_MEMORY;
    BRIO_CHECK(create_intersector(u));
    BRIO_CHECK(describe_parts(u));
    BRIO_CHECK(create_sides(u));
    return create_links(u);
}

static void destroy(BrioUntangler *u)
{
    void *const all[] = {u->closed, u->whole,  u->start,   u->trial,     u->best, u->push,
                         u->next,   u->normal, u->weight,  u->set,       u->root, u->found,
                         u->side,   u->link,   u->blocked, u->link_start};
    brio__intersector_free(&u->all);
    for (size_t i = 0; i < BRIO_COUNT(all); i++) brio__free(all[i]);
}

/* ---- what is wrong ---------------------------------------------------------------------- */

BrioStatus brio__tangle_find(BrioUntangler *u)
{
    u->count = brio__intersector_find(&u->all, u->t->x, u->found, u->room, NULL);
    if (u->count <= u->room) return BRIO_OK;
    brio__free(u->found);
    u->room = 2 * u->count;
    u->found = brio__alloc((size_t)u->room, sizeof *u->found);
    if (!u->found) {
        u->room = 0;
        return BRIO_ERROR_MEMORY;
    }
    brio__intersector_find(&u->all, u->t->x, u->found, u->room, NULL);
    return BRIO_OK;
}

int64_t brio__tangle_behind(const BrioUntangler *u)
{
    const BrioTangle *t = u->t;
    int64_t count = 0;
    double out[3];
    for (int64_t v = 0; t->depth && v < t->vertex_count; v++)
        count += !(t->fixed && t->fixed[v]) && t->depth(t->context, v, t->x + 3 * v, out) >= 0;
    return count;
}

static double largest_shift(const BrioUntangler *u, BrioUntangled *report)
{
    const BrioTangle *t = u->t;
    double largest = 0;
    if (report) report->vertex = -1;
    for (int i = 0; i < t->part_count; i++) {
        bool moved = false;
        for (int64_t v = t->part[i].first; v < t->part[i].first + t->part[i].count; v++) {
            double d = brio__distance3(t->x + 3 * v, u->start + 3 * v);
            moved |= d > 0;
            if (!(d > largest)) continue;
            largest = d;
            if (!report) continue;
            report->vertex = v;
            report->part = i;
        }
        if (report) report->moved += moved;
    }
    return largest;
}

static void name_left(const BrioUntangler *u, BrioUntangled *report)
{
    for (int64_t i = 0; i < u->count; i++) {
        int a = BRIO_MIN(u->found[i].owner[0], u->found[i].owner[1]);
        int b = BRIO_MAX(u->found[i].owner[0], u->found[i].owner[1]), k = 0;
        while (k < report->left_count && !(report->left[k][0] == a && report->left[k][1] == b)) k++;
        if (k < report->left_count || k == BRIO_TANGLE_SHOWN) continue;
        report->left[k][0] = a;
        report->left[k][1] = b;
        report->left_count++;
    }
}

/* ---- the order -------------------------------------------------------------------------- */

/* How good positions are: what is left first, then how far vertices moved. */
typedef struct Score {
    int64_t left;
    double shift;
} Score;

static BrioStatus score(BrioUntangler *u, Score *s)
{
    BRIO_CHECK(brio__tangle_find(u));
    *s = (Score){u->count + brio__tangle_behind(u), largest_shift(u, NULL)};
    return BRIO_OK;
}

static bool better(Score a, Score b)
{
    return a.left != b.left ? a.left < b.left : a.shift < b.shift;
}

/* Bends first. What bends may be moved as a whole too: if less is left so, or vertices move less,
 * that is taken. `other`: room for positions. */
static BrioStatus solve(BrioUntangler *u, double *other)
{
    const BrioTangle *t = u->t;
    size_t bytes = 3 * (size_t)t->vertex_count * sizeof(double);
    Score bent, moved;
    BRIO_CHECK(brio__tangle_shift(u, false));
    BRIO_CHECK(brio__tangle_find(u));
    if (u->count + brio__tangle_behind(u) == 0) return BRIO_OK;
    memcpy(other, t->x, bytes);
    BRIO_CHECK(brio__tangle_bend(u));
    BRIO_CHECK(score(u, &bent));
    memcpy(u->next, t->x, bytes); /* bending is over: its room is free */
    memcpy(t->x, other, bytes);
    memcpy(other, u->next, bytes);
    BRIO_CHECK(brio__tangle_shift(u, true));
    BRIO_CHECK(score(u, &moved));
    if (moved.left > 0 && (bent.left > 0 || moved.shift < bent.shift)) {
        BRIO_CHECK(brio__tangle_bend(u));
        BRIO_CHECK(score(u, &moved));
    }
    if (better(bent, moved)) memcpy(t->x, other, bytes);
    return brio__tangle_find(u);
}

BrioStatus brio__untangle(BrioTangle *tangle, BrioUntangled *report)
{
    BrioUntangler u = {.t = tangle};
    *report = (BrioUntangled){.vertex = -1};
    double *other = brio__alloc(3 * (size_t)tangle->vertex_count + 1, sizeof *other);
    BrioStatus status = other ? create(&u) : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK) status = brio__tangle_find(&u);
    report->before = u.count;
    if (status == BRIO_OK && u.count + brio__tangle_behind(&u) > 0) status = solve(&u, other);
    if (status == BRIO_OK) {
        report->after = u.count;
        report->behind = brio__tangle_behind(&u);
        report->shift = largest_shift(&u, report);
        name_left(&u, report);
    } else if (u.start) {
        memcpy(tangle->x, u.start, 3 * (size_t)tangle->vertex_count * sizeof(double));
    }
    destroy(&u);
    brio__free(other);
    return status;
}
