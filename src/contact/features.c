/* Features of a surface nearest to its vertices, in lists of each vertex (features.h). Their order
 * is that of the candidates, so that sums over them have it too.
 *
 * All candidates of a vertex go to the same part. So each part makes its features without the
 * others, and a candidate brings features of one part only: how many each has brought tells where
 * they belong among all. */
#include "features.h"

#include "../vec.h"

#include <string.h>

/* Fewer candidates are one part. TOGETHER vertices go to the same part: threads should not write
 * next to each other. */
enum { SHARED = 2048, TOGETHER = 64 };

static BrioStatus grow(BrioFeatureTable *f, int64_t room)
{
    BrioFeature *feature =
        brio__realloc(f->feature, (size_t)f->count, (size_t)room, sizeof *feature);
    if (!feature) return BRIO_ERROR_MEMORY;
    f->feature = feature;
    f->room = room;
    return BRIO_OK;
}

BrioStatus brio__features_create(BrioFeatures *f, const BrioSurface *surface, int64_t room)
{
    *f = (BrioFeatures){.surface = surface};
    f->last = brio__alloc((size_t)surface->vertex_count, sizeof *f->last);
    if (!f->last) return BRIO_ERROR_MEMORY;
    for (int32_t v = 0; v < surface->vertex_count; v++) f->last[v] = -1;
    return grow(&f->part[0], BRIO_MAX(room, 64));
}

void brio__features_free(BrioFeatures *f)
{
    for (int k = 0; k < BRIO_FEATURE_PARTS; k++) brio__free(f->part[k].feature);
    brio__free(f->last);
    brio__free(f->joined);
    brio__free(f->place);
}

/* A part at work on a candidate. */
typedef struct Meeting {
    const BrioSurface *surface;
    BrioFeatureTable *table;
    int32_t *last; /* of each vertex: its last feature in the table */
    const double *x;
    double reach;
    int64_t candidate;
} Meeting;

static BrioStatus gather(const Meeting *m, int32_t v, const int32_t node[3], int32_t count)
{
    BrioFeatureTable *f = m->table;
    int32_t i = m->last[v];
    for (; i >= 0; i = f->feature[i].before) {
        const int32_t *other = f->feature[i].node;
        if (other[0] == node[0] && other[1] == node[1] && other[2] == node[2]) break;
    }
    if (i < 0) {
        if (f->count == INT32_MAX) return BRIO_ERROR_MEMORY;
        if (f->count == f->room) BRIO_CHECK(grow(f, 2 * f->room));
        i = (int32_t)f->count++;
        f->feature[i] = (BrioFeature){v, {node[0], node[1], node[2]}, 0, m->last[v], m->candidate};
        m->last[v] = i;
    }
    f->feature[i].count += count;
    return BRIO_OK;
}

static const double *at(const Meeting *m, int32_t node)
{
    return m->x + 3 * (int64_t)m->surface->vertex[node];
}

static BrioStatus add_vertex(const Meeting *m, int32_t v, int32_t u, int32_t count)
{
    double r[3];
    brio__subtract3(at(m, v), at(m, u), r);
    if (!(brio__dot3(r, r) < m->reach * m->reach)) return BRIO_OK;
    return gather(m, v, (int32_t[3]){u, u, u}, count);
}

static BrioStatus add_edge(const Meeting *m, int32_t v, int32_t edge, int32_t count)
{
    int32_t a = m->surface->edge[2 * edge], b = m->surface->edge[2 * edge + 1];
    double e[3], p[3], r[3];
    brio__subtract3(at(m, b), at(m, a), e);
    brio__subtract3(at(m, v), at(m, a), p);
    double along = brio__dot3(p, e), square = brio__dot3(e, e);
    if (!(along > 0 && square > 0)) return add_vertex(m, v, a, count);
    if (!(along < square)) return add_vertex(m, v, b, count);
    for (int k = 0; k < 3; k++) r[k] = p[k] - along / square * e[k];
    if (!(brio__dot3(r, r) < m->reach * m->reach)) return BRIO_OK;
    return gather(m, v, (int32_t[3]){a, b, b}, count);
}

/* The triangle itself, under the feature of it that is nearest. */
static BrioStatus add_face(const Meeting *m, int32_t v, const BrioPrimitive *face, int nearest)
{
    int32_t near[3];
    int count = 0;
    for (int k = 0; k < 3; k++)
        if (nearest >> k & 1) near[count++] = face->node[k];
    if (count == 0) return BRIO_OK; /* not finite */
    if (count == 3) return gather(m, v, face->node, 1);
    int32_t a = near[0], b = near[count - 1];
    return gather(m, v, (int32_t[3]){BRIO_MIN(a, b), BRIO_MAX(a, b), BRIO_MAX(a, b)}, 1);
}

/* What the vertex v has with a primitive, and with those of its edges and corners that come with
 * it. */
static BrioStatus add_primitive(const Meeting *m, int32_t v, int32_t primitive, int nearest)
{
    const BrioSurface *s = m->surface;
    const BrioPrimitive *p = &s->primitive[primitive];
    /* of its own surface v sees the primitives that do not have it as a corner */
    bool own = s->vertex_owner[v] == p->owner;
    if (p->corners == 3) BRIO_CHECK(add_face(m, v, p, nearest));
    for (int k = 0; k < p->corners; k++) {
        /* a lone edge has one, a lone vertex none */
        int32_t edge = s->face_edge[3 * (int64_t)primitive + k], u = p->node[k];
        int32_t with = edge < 0 ? -1 : s->edge_face[s->edge_face_start[edge]];
        int32_t count = edge < 0 ? 0 : s->edge_factor[edge];
        if (own && edge >= 0) count = brio__edge_factor_without(s, edge, v, &with);
        if (count && with == primitive) BRIO_CHECK(add_edge(m, v, edge, count));
        with = s->vertex_face[s->vertex_face_start[u]];
        count = s->vertex_factor[u];
        if (own) count = brio__vertex_factor_without(s, u, v, &with);
        if (count && with == primitive) BRIO_CHECK(add_vertex(m, v, u, count));
    }
    return BRIO_OK;
}

typedef struct FindWork {
    BrioFeatures *features;
    const BrioFeatureSearch *search;
    int parts;
} FindWork;

static void find_part(void *context, int64_t begin, int64_t end)
{
    const FindWork *work = context;
    const BrioFeatureSearch *search = work->search;
    for (int64_t part = begin; part < end; part++) {
        BrioFeatureTable *f = &work->features->part[part];
        int32_t *last = work->features->last;
        Meeting m = {work->features->surface, f, last, search->x, search->reach, 0};
        f->count = 0;
        f->failed = false;
        for (int64_t e = 0; e < search->count; e++) {
            if (!search->nearest[e]) continue;
            int32_t v = search->who[2 * e];
            if (work->parts > 1 && v / TOGETHER % work->parts != part) continue;
            int64_t before = f->count;
            m.candidate = e;
            if (add_primitive(&m, v, search->who[2 * e + 1], search->nearest[e] - 1) != BRIO_OK)
                f->failed = true;
            if (work->parts > 1) work->features->place[e] = f->count - before;
        }
        for (int64_t i = 0; i < f->count; i++) last[f->feature[i].v] = -1;
    }
}

/* What parts have found, into its places. */
static void join_part(void *context, int64_t begin, int64_t end)
{
    const FindWork *work = context;
    BrioFeatures *f = work->features;
    for (int64_t part = begin; part < end; part++)
        for (int64_t i = 0; i < f->part[part].count; i++) {
            const BrioFeature *from = &f->part[part].feature[i];
            f->joined[f->place[from->met]++] = *from;
        }
}

/* Room for the parts, and for the places of the features of so many candidates. */
static BrioStatus make_parts(BrioFeatures *f, int parts, int64_t candidates)
{
    for (int k = 1; k < parts; k++)
        if (!f->part[k].feature)
            BRIO_CHECK(grow(&f->part[k], BRIO_MAX(f->part[0].room / parts, 64)));
    if (candidates <= f->place_room) return BRIO_OK;
    int64_t *place = brio__realloc(f->place, 0, 2 * (size_t)candidates, sizeof *place);
    if (!place) return BRIO_ERROR_MEMORY;
    f->place = place;
    f->place_room = 2 * candidates;
    return BRIO_OK;
}

/* The features of all parts in the order of the candidates that they were met with. */
static BrioStatus join_parts(const FindWork *work)
{
    BrioFeatures *f = work->features;
    int64_t last = 0;
    for (int64_t e = 0; e < work->search->count; e++) {
        int64_t brought = work->search->nearest[e] ? f->place[e] : 0;
        f->place[e] = last;
        last += brought;
    }
    if (last > f->joined_room) {
        BrioFeature *joined = brio__realloc(f->joined, 0, 2 * (size_t)last, sizeof *joined);
        if (!joined) return BRIO_ERROR_MEMORY;
        f->joined = joined;
        f->joined_room = 2 * last;
    }
    brio__parallel_for(work->parts, 1, join_part, (void *)work);
    f->feature = f->joined;
    f->count = last;
    return BRIO_OK;
}

BrioStatus brio__features_find(BrioFeatures *f, const BrioFeatureSearch *search)
{
    FindWork work = {f, search, 1};
    BrioStatus status = BRIO_OK;
    if (search->count >= SHARED) work.parts = BRIO_MIN(brio_threads(), BRIO_FEATURE_PARTS);
    f->count = 0;
    if (work.parts > 1) BRIO_CHECK(make_parts(f, work.parts, search->count));
    brio__parallel_for(work.parts, 1, find_part, &work);
    f->count = f->part[0].count;
    f->feature = f->part[0].feature;
    if (work.parts > 1) status = join_parts(&work);
    for (int k = 0; k < work.parts; k++)
        if (f->part[k].failed) status = BRIO_ERROR_MEMORY;
    return status;
}
