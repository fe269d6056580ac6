/* Stitches: springs from the vertices or edges of a body to the nearest points of another, as these
 * are in the initial state (energy/stitch.c has the energy).
 *
 * What they are sewn to are the triangles of the other body, or else its springs, or else its
 * vertices. A tree of boxes over these finds the nearest one; of several, the first. */
#include "build.h"

#include "../distance.h"
#include "../handle.h"
#include "../vec.h"

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

/* ---- the nearest primitive -------------------------------------------------------------- */

typedef struct Box {
    double low[3], high[3];
} Box;

static const Box nothing = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static void include(Box *box, const double *x)
{
    for (int r = 0; r < 3; r++) {
        box->low[r] = fmin(box->low[r], x[r]);
        box->high[r] = fmax(box->high[r], x[r]);
    }
}

/* The distance of two boxes. */
static double away(const Box *a, const Box *b)
{
    double d[3];
    for (int r = 0; r < 3; r++)
        d[r] = fmax(fmax(a->low[r] - b->high[r], b->low[r] - a->high[r]), 0);
    return brio__hypot3(d);
}

typedef struct Keyed {
    double key;
    int64_t part;
} Keyed;

/* Halves of `order`, sorted along the longest side of their box. */
typedef struct Tree {
    const Parts *parts;
    Keyed *order;
    Box *box; /* of [begin, end), at the place of its middle */
} Tree;

static int by_key(const void *a, const void *b)
{
    const Keyed *p = a, *q = b;
    return p->key != q->key ? (p->key > q->key) - (p->key < q->key)
                            : (p->part > q->part) - (p->part < q->part);
}

static void build(Tree *t, int64_t begin, int64_t end)
{
    const Parts *parts = t->parts;
    int64_t middle = (begin + end) / 2;
    Box box = nothing;
    int axis = 0;
    if (begin >= end) return;
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < parts->corners; k++)
            include(&box, parts->x + 3 * (int64_t)corner_of(parts, t->order[i].part, k));
    for (int r = 1; r < 3; r++)
        if (box.high[r] - box.low[r] > box.high[axis] - box.low[axis]) axis = r;
    for (int64_t i = begin; i < end; i++) {
        t->order[i].key = 0;
        for (int k = 0; k < parts->corners; k++)
            t->order[i].key += parts->x[3 * (int64_t)corner_of(parts, t->order[i].part, k) + axis];
    }
    qsort(t->order + begin, (size_t)(end - begin), sizeof *t->order, by_key);
    t->box[middle] = box;
    build(t, begin, middle);
    build(t, middle + 1, end);
}

/* What is nearest to one primitive. */
typedef struct Near {
    int first;    /* how many of its corners x begins with: 1, or 2 of an edge */
    double x[12]; /* and those of a target */
    Box box;      /* of its own corners */
    double distance, weight[4];
    int64_t part;
} Near;

static void try_part(const Parts *to, int64_t j, Near *near)
{
    double w[4], d;
    for (int k = 0; k + near->first < 4; k++)
        memcpy(near->x + 3 * (near->first + k), to->x + 3 * (int64_t)corner_of(to, j, k),
               3 * sizeof *near->x);
    d = near->first == 2 ? brio__closest_edge_edge(near->x, w)
                         : brio__closest_vertex_face(near->x, w);
    if (!(d < near->distance || (d == near->distance && j < near->part))) return;
    near->distance = d;
    near->part = j;
    memcpy(near->weight, w, sizeof near->weight);
}

static void search(const Tree *t, int64_t begin, int64_t end, Near *near)
{
    if (begin >= end) return;
    int64_t middle = (begin + end) / 2;
    if (away(&t->box[middle], &near->box) > near->distance * (1 + 1e-9)) return; /* round-off */
    try_part(t->parts, t->order[middle].part, near);
    double left = begin < middle ? away(&t->box[(begin + middle) / 2], &near->box) : INFINITY;
    double right = middle + 1 < end ? away(&t->box[(middle + 1 + end) / 2], &near->box) : INFINITY;
    bool turned = right < left;
    if (turned) search(t, middle + 1, end, near);
    search(t, begin, middle, near);
    if (!turned) search(t, middle + 1, end, near);
}

/* The nearest point of `to` for primitive i of `from`: the vertices and weights of the pair. */
static double nearest(const Parts *from, const Tree *to, int64_t i, bool edges,
                      BrioStitchPlan *stitch)
{
    Near near = {.first = edges ? 2 : 1, .box = nothing, .distance = INFINITY, .part = INT64_MAX};
    for (int k = 0; k < near.first; k++) {
        memcpy(near.x + 3 * k, from->x + 3 * (int64_t)corner_of(from, i, k), 3 * sizeof *near.x);
        include(&near.box, near.x + 3 * k);
    }
    search(to, 0, to->parts->count, &near);
    if (near.part == INT64_MAX) return INFINITY;
    memcpy(stitch->weight, near.weight, sizeof stitch->weight);
    for (int k = 0; k < 4; k++)
        stitch->vertex[k] = k < near.first ? corner_of(from, i, k)
                                           : corner_of(to->parts, near.part, k - near.first);
    return near.distance;
}

static BrioStatus plant(const Parts *parts, Tree *t)
{
    *t = (Tree){.parts = parts,
                .order = brio__alloc((size_t)parts->count + 1, sizeof *t->order),
                .box = brio__alloc((size_t)parts->count + 1, sizeof *t->box)};
    if (!t->order || !t->box) return BRIO_ERROR_MEMORY;
    for (int64_t j = 0; j < parts->count; j++) t->order[j].part = j;
    build(t, 0, parts->count);
    return BRIO_OK;
}

/* ---- all of them ------------------------------------------------------------------------ */

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
static BrioStatus sew(BrioBuilder *b, const BrioStitchDef *def, const Parts *from, const Tree *to,
                      double *closest, BrioError *error)
{
    *closest = INFINITY;
    for (int64_t i = 0; i < from->count; i++) {
        BrioStitchPlan stitch = {.k = def->k, .breaking = def->breaking};
        double d = nearest(from, to, i, def->edges, &stitch);
        *closest = fmin(*closest, d);
        if (!(d <= def->distance) || isinf(d)) continue;
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
    Tree tree = {0};
    int64_t before = builder->stitch_count;
    BrioStatus status = def->edges ? edges_of(a->mesh, &from)
                                   : vertices_of(a->mesh, def->vertex_count ? def->vertices : NULL,
                                                 def->vertex_count, &from);
    if (status == BRIO_OK) status = targets_of(b->mesh, def->edges, &to);
    if (status == BRIO_OK) status = plant(&to, &tree);
    double closest = INFINITY;
    status = status == BRIO_OK ? sew(builder, def, &from, &tree, &closest, error)
                               : brio__no_memory(error);
    brio__free(tree.order);
    brio__free(tree.box);
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
