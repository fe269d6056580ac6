/* Stitches: springs from the vertices or edges of a body to the nearest points of another, as these
 * are in the initial state (energy/stitch.c has the energy).
 *
 * What they are sewn to are the triangles of the other body, or else its springs, or else its
 * vertices. Each is tried for each: bodies are sewn once, before the first step. */
#include "build.h"

#include "../distance.h"
#include "../handle.h"

#include <stdlib.h>

BrioStitchDef brio_default_stitch(void)
{
    return (BrioStitchDef){
        .a = -1, .b = -1, .distance = INFINITY, .k = 1000, .rest = NAN, .breaking = INFINITY};
}

/* Primitives of a body with as many corners each: triangles, edges, vertices. */
typedef struct Parts {
    const double *x; /* of the body's vertices */
    int corners;
    int64_t count;
    const int32_t *corner;
    int32_t *own; /* the same, if they had to be made */
} Parts;

static int by_corners(const void *one, const void *other)
{
    const int32_t *a = one, *b = other;
    return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

/* The sides of triangles, each once. */
static BrioStatus sides_of(const BrioMesh *mesh, Parts *parts)
{
    int64_t count = 3 * mesh->triangle_count, kept = 0;
    int32_t *side = brio__alloc(2 * (size_t)count + 2, sizeof *side);
    if (!side) return BRIO_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        int32_t a = mesh->triangle[i], b = mesh->triangle[i % 3 == 2 ? i - 2 : i + 1];
        side[2 * i] = BRIO_MIN(a, b);
        side[2 * i + 1] = BRIO_MAX(a, b);
    }
    qsort(side, (size_t)count, 2 * sizeof *side, by_corners);
    for (int64_t i = 0; i < count; i++) {
        if (kept && !by_corners(side + 2 * (kept - 1), side + 2 * i)) continue;
        side[2 * kept] = side[2 * i];
        side[2 * kept + 1] = side[2 * i + 1];
        kept++;
    }
    parts->own = side;
    parts->corner = side;
    parts->count = kept;
    parts->corners = 2;
    return BRIO_OK;
}

static BrioStatus vertices_of(const BrioMesh *mesh, const int32_t *chosen, int64_t chosen_count,
                              Parts *parts)
{
    parts->corners = 1;
    parts->count = chosen ? chosen_count : mesh->vertex_count;
    parts->own = brio__alloc((size_t)parts->count + 1, sizeof *parts->own);
    if (!parts->own) return BRIO_ERROR_MEMORY;
    for (int64_t v = 0; v < parts->count; v++) parts->own[v] = chosen ? chosen[v] : (int32_t)v;
    parts->corner = parts->own;
    return BRIO_OK;
}

static BrioStatus edges_of(const BrioMesh *mesh, Parts *parts)
{
    if (mesh->triangle_count) return sides_of(mesh, parts);
    parts->corners = 2;
    parts->count = mesh->edge_count;
    parts->corner = mesh->edge;
    return BRIO_OK;
}

/* What a body is sewn to. */
static BrioStatus targets_of(const BrioMesh *mesh, bool edges, Parts *parts)
{
    if (edges) return edges_of(mesh, parts);
    if (!mesh->triangle_count && mesh->edge_count) return edges_of(mesh, parts);
    if (!mesh->triangle_count) return vertices_of(mesh, NULL, 0, parts);
    parts->corners = 3;
    parts->count = mesh->triangle_count;
    parts->corner = mesh->triangle;
    return BRIO_OK;
}

/* Corner k of a primitive, whose last one is repeated. */
static int32_t corner_of(const Parts *parts, int64_t i, int k)
{
    return parts->corner[parts->corners * i + BRIO_MIN(k, parts->corners - 1)];
}

/* The nearest point of `to` for primitive i of `from`: the vertices and weights of the pair. */
static double nearest(const Parts *from, const Parts *to, int64_t i, bool edges,
                      BrioStitchPlan *stitch)
{
    int first = edges ? 2 : 1;
    double best = INFINITY, x[12];
    for (int k = 0; k < first; k++)
        memcpy(x + 3 * k, from->x + 3 * (int64_t)corner_of(from, i, k), 3 * sizeof *x);
    for (int64_t j = 0; j < to->count; j++) {
        double w[4], d;
        for (int k = 0; k + first < 4; k++)
            memcpy(x + 3 * (first + k), to->x + 3 * (int64_t)corner_of(to, j, k), 3 * sizeof *x);
        d = edges ? brio__closest_edge_edge(x, w) : brio__closest_vertex_face(x, w);
        if (!(d < best)) continue;
        best = d;
        memcpy(stitch->weight, w, sizeof stitch->weight);
        for (int k = 0; k < 4; k++)
            stitch->vertex[k] = k < first ? corner_of(from, i, k) : corner_of(to, j, k - first);
    }
    return best;
}

static BrioStatus add(BrioBuilder *b, const BrioStitchPlan *stitch, BrioError *error)
{
    BrioStitchPlan *grown = brio__room_for_one(b->stitch, b->stitch_count, sizeof *stitch);
    if (!grown) return brio__no_memory(error);
    b->stitch = grown;
    grown[b->stitch_count++] = *stitch;
    return BRIO_OK;
}

static BrioStatus check(const BrioBuilder *b, const BrioStitchDef *def, BrioError *error)
{
    const int body[2] = {def->a, def->b};
    for (int k = 0; k < 2; k++) {
        BRIO_CHECK(brio__builder_check_vertex(b, body[k], 0, error));
        if (brio__moves_along_x(&b->body[body[k]]))
            return brio__error(error, BRIO_ERROR_INPUT,
                               "a stitch at body \"%s\" would pull it in y or z: a bar1d moves "
                               "along x only",
                               b->body[body[k]].name);
    }
    if (def->a == def->b)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "a and b are the same body \"%s\": stitches join two bodies",
                           b->body[def->a].name);
    if (!(def->k > 0) || isinf(def->k))
        return brio__error(error, BRIO_ERROR_INPUT, "the stiffness k = %g N/m must be positive",
                           def->k);
    if (!(def->distance > 0) || !(def->breaking > 0) || def->rest < 0 || isinf(def->rest))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "distance and breaking of stitches must be positive, and rest at "
                           "least 0");
    if (def->edges && def->vertex_count)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "stitches by edges take no vertices: remove vertices, or use by: "
                           "vertices");
    if (def->vertex_count < 0 || (def->vertex_count && !def->vertices))
        return brio__error(error, BRIO_ERROR_ARGUMENT, "the list of vertices is missing");
    for (int64_t i = 0; i < def->vertex_count; i++)
        BRIO_CHECK(brio__builder_check_vertex(b, def->a, def->vertices[i], error));
    return BRIO_OK;
}

/* Sews all of `from` that is near enough; what has no stitch afterwards has none nearby. `closest`:
 * the smallest distance. */
static BrioStatus sew(BrioBuilder *b, const BrioStitchDef *def, const Parts *from, const Parts *to,
                      double *closest, BrioError *error)
{
    *closest = INFINITY;
    for (int64_t i = 0; i < from->count; i++) {
        BrioStitchPlan stitch = {.k = def->k, .breaking = def->breaking};
        double d = nearest(from, to, i, def->edges, &stitch);
        *closest = fmin(*closest, d);
        if (!(d <= def->distance)) continue;
        for (int k = 0; k < 4; k++) stitch.body[k] = k < (def->edges ? 2 : 1) ? def->a : def->b;
        stitch.rest = isnan(def->rest) ? d : def->rest;
        BRIO_CHECK(add(b, &stitch, error));
    }
    return BRIO_OK;
}

BrioStatus brio_builder_stitch(BrioBuilder *builder, const BrioStitchDef *def, int64_t *count,
                               BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(BUILDER, builder) && def, error);
    BRIO_CHECK(brio__builder_open(builder, error));
    BRIO_CHECK(check(builder, def, error));
    const BrioBodyPlan *a = &builder->body[def->a], *b = &builder->body[def->b];
    Parts from = {.x = a->x}, to = {.x = b->x};
    int64_t before = builder->stitch_count;
    BrioStatus status = def->edges ? edges_of(a->mesh, &from)
                                   : vertices_of(a->mesh, def->vertex_count ? def->vertices : NULL,
                                                 def->vertex_count, &from);
    if (status == BRIO_OK) status = targets_of(b->mesh, def->edges, &to);
    double closest = INFINITY;
    status =
        status == BRIO_OK ? sew(builder, def, &from, &to, &closest, error) : brio__no_memory(error);
    brio__free(from.own);
    brio__free(to.own);
    if (status == BRIO_OK && builder->stitch_count == before)
        status =
            brio__error(error, BRIO_ERROR_INPUT,
                        "nothing of body \"%s\" is within %g m of body \"%s\", the closest is at "
                        "%.3g m: use a larger distance",
                        a->name, def->distance, b->name, closest);
    if (status != BRIO_OK) builder->stitch_count = before;
    if (status == BRIO_OK && count) *count = builder->stitch_count - before;
    return status;
}

BrioStatus brio__stitch_term(const BrioBuilder *b, BrioSystem *s)
{
    BrioTerm *term;
    s->stitch_term = -1;
    if (b->stitch_count == 0) return BRIO_OK;
    s->stitch_term = s->term_count;
    BRIO_CHECK(brio__start_term(s, brio__energy("stitch"), -1, b->stitch_count, &term));
    for (int64_t i = 0; i < b->stitch_count; i++) {
        const BrioStitchPlan *stitch = &b->stitch[i];
        const double X[12] = {0};
        int32_t vertex[4];
        for (int k = 0; k < 4; k++)
            vertex[k] = (int32_t)s->body[stitch->body[k]].first + stitch->vertex[k];
        brio__set_element(term, i, vertex, X, stitch->k, stitch->rest);
        double *rest = term->rest + i / LANES * term->energy->rest * LANES + i % LANES;
        for (int k = 0; k < 4; k++) rest[(BRIO_STITCH_WEIGHT + k) * LANES] = stitch->weight[k];
        rest[BRIO_STITCH_BREAKING * LANES] = stitch->breaking;
    }
    return BRIO_OK;
}
