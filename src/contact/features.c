/* Features of a surface nearest to its vertices, gathered in a table with open addressing
 * (features.h). Their order is that of the calls, so that sums over them have it too. */
#include "features.h"

#include "../distance.h"
#include "../vec.h"

#include <string.h>

static BrioStatus grow(BrioFeatures *f, int64_t room)
{
    BrioFeature *feature =
        brio__realloc(f->feature, (size_t)f->count, (size_t)room, sizeof *feature);
    if (!feature) return BRIO_ERROR_MEMORY;
    f->feature = feature;
    int32_t *table = brio__realloc(f->table, 0, 2 * (size_t)room, sizeof *table);
    if (!table) return BRIO_ERROR_MEMORY;
    f->table = table;
    f->room = room;
    return BRIO_OK;
}

static uint64_t mix(uint64_t h, int32_t k)
{
    h = (h ^ (uint32_t)k) * 0x9E3779B97F4A7C15u;
    return h ^ (h >> 29);
}

/* The slot of a feature, or the empty one where it would be. */
static int32_t find(const BrioFeatures *f, int32_t v, const int32_t node[3])
{
    uint64_t slots = 2 * (uint64_t)f->room;
    uint64_t h = mix(mix(mix(mix(0, v), node[0]), node[1]), node[2]);
    uint64_t at = (h >> 32) * slots >> 32; /* slots < 2^32 */
    for (;; at = at + 1 == slots ? 0 : at + 1) {
        if (f->table[at] < 0) return (int32_t)at;
        const BrioFeature *g = &f->feature[f->table[at]];
        if (g->v == v && !memcmp(g->node, node, sizeof g->node)) return (int32_t)at;
    }
}

static void fill_table(BrioFeatures *f)
{
    memset(f->table, 0xff, 2 * (size_t)f->room * sizeof *f->table);
    for (int64_t i = 0; i < f->count; i++) {
        f->feature[i].slot = find(f, f->feature[i].v, f->feature[i].node);
        f->table[f->feature[i].slot] = (int32_t)i;
    }
}

BrioStatus brio__features_create(BrioFeatures *f, const BrioSurface *surface, int64_t room)
{
    *f = (BrioFeatures){.surface = surface};
    BRIO_CHECK(grow(f, BRIO_MAX(room, 64)));
    fill_table(f);
    return BRIO_OK;
}

void brio__features_free(BrioFeatures *f)
{
    brio__free(f->feature);
    brio__free(f->table);
}

void brio__features_clear(BrioFeatures *f)
{
    for (int64_t i = 0; i < f->count; i++) f->table[f->feature[i].slot] = -1;
    f->count = 0;
}

static BrioStatus gather(BrioFeatures *f, int32_t v, const int32_t node[3], int32_t count)
{
    if (f->count == f->room) {
        if (f->room > INT32_MAX / 4) return BRIO_ERROR_MEMORY;
        BRIO_CHECK(grow(f, 2 * f->room));
        fill_table(f);
    }
    int32_t slot = find(f, v, node);
    if (f->table[slot] < 0) {
        f->table[slot] = (int32_t)f->count;
        f->feature[f->count++] = (BrioFeature){v, {node[0], node[1], node[2]}, 0, slot};
    }
    f->feature[f->table[slot]].count += count;
    return BRIO_OK;
}

static const double *at(const BrioFeatures *f, const double *x, int32_t node)
{
    return x + 3 * (int64_t)f->surface->vertex[node];
}

static BrioStatus add_vertex(BrioFeatures *f, int32_t v, int32_t u, const double *x, double reach,
                             int32_t count)
{
    double r[3];
    brio__subtract3(at(f, x, v), at(f, x, u), r);
    if (!(brio__dot3(r, r) < reach * reach)) return BRIO_OK;
    return gather(f, v, (int32_t[3]){u, u, u}, count);
}

static BrioStatus add_edge(BrioFeatures *f, int32_t v, int32_t edge, const double *x, double reach,
                           int32_t count)
{
    int32_t a = f->surface->edge[2 * edge], b = f->surface->edge[2 * edge + 1];
    double e[3], p[3], r[3];
    brio__subtract3(at(f, x, b), at(f, x, a), e);
    brio__subtract3(at(f, x, v), at(f, x, a), p);
    double along = brio__dot3(p, e), square = brio__dot3(e, e);
    if (!(along > 0 && square > 0)) return add_vertex(f, v, a, x, reach, count);
    if (!(along < square)) return add_vertex(f, v, b, x, reach, count);
    for (int k = 0; k < 3; k++) r[k] = p[k] - along / square * e[k];
    if (!(brio__dot3(r, r) < reach * reach)) return BRIO_OK;
    return gather(f, v, (int32_t[3]){a, b, b}, count);
}

int brio__features_nearest(const BrioSurface *s, int32_t v, int32_t primitive, const double *x)
{
    const BrioPrimitive *face = &s->primitive[primitive];
    double at4[12], w[4];
    int nearest = 0;
    if (face->corners < 3) return 0;
    memcpy(at4, x + 3 * (int64_t)s->vertex[v], 3 * sizeof *x);
    for (int k = 0; k < 3; k++)
        memcpy(at4 + 3 + 3 * k, x + 3 * (int64_t)s->vertex[face->node[k]], 3 * sizeof *x);
    brio__closest_vertex_face(at4, w);
    for (int k = 0; k < 3; k++) nearest |= (w[1 + k] != 0) << k;
    return nearest;
}

/* The triangle itself, under the feature of it that is nearest. */
static BrioStatus add_face(BrioFeatures *f, int32_t v, const BrioPrimitive *face, int nearest)
{
    int32_t near[3];
    int count = 0;
    for (int k = 0; k < 3; k++)
        if (nearest >> k & 1) near[count++] = face->node[k];
    if (count == 0) return BRIO_OK; /* not finite */
    if (count == 3) return gather(f, v, face->node, 1);
    int32_t a = near[0], b = near[count - 1];
    return gather(f, v, (int32_t[3]){BRIO_MIN(a, b), BRIO_MAX(a, b), BRIO_MAX(a, b)}, 1);
}

BrioStatus brio__features_add(BrioFeatures *f, int32_t v, int32_t primitive, int nearest,
                              const double *x, double reach)
{
    const BrioSurface *s = f->surface;
    const BrioPrimitive *p = &s->primitive[primitive];
    /* of its own surface v sees the primitives that do not have it as a corner */
    bool own = s->vertex_owner[v] == p->owner;
    if (p->corners == 3) BRIO_CHECK(add_face(f, v, p, nearest));
    for (int k = 0; k < p->corners; k++) {
        /* a lone edge has one, a lone vertex none */
        int32_t edge = s->face_edge[3 * (int64_t)primitive + k], u = p->node[k];
        int32_t with = edge < 0 ? -1 : s->edge_face[s->edge_face_start[edge]];
        int32_t count = edge < 0 ? 0 : s->edge_factor[edge];
        if (own && edge >= 0) count = brio__edge_factor_without(s, edge, v, &with);
        if (count && with == primitive) BRIO_CHECK(add_edge(f, v, edge, x, reach, count));
        with = s->vertex_face[s->vertex_face_start[u]];
        count = s->vertex_factor[u];
        if (own) count = brio__vertex_factor_without(s, u, v, &with);
        if (count && with == primitive) BRIO_CHECK(add_vertex(f, v, u, x, reach, count));
    }
    return BRIO_OK;
}
