/* glTF 2.0, binary: one node and mesh a body, whose frames are morph targets (differences from the
 * first frame, of positions and normals), and an animation that leads the weights from one to the
 * next: at frame k the k-th weight is 1 and the others are 0, linear in between, so that vertices
 * move on straight lines.
 *
 *     12 bytes: "glTF", 2, length; chunk "JSON"; chunk "BIN"     [glTF 2.0, 4.4]
 *
 * Vertices are divided where corners differ in texture coordinates or shading. Targets of which
 * most vertices stand still, and the weights, are sparse accessors. All is read twice: first for
 * bounds and sizes, which the JSON has before the data, then for the data. */
#include "../memory_text.h"
#include "film.h"
#include "json.h"
#include "shade.h"

#include <stdlib.h>
#include <string.h>

#define STILL 1e-7f /* of the body's size: what moved by less counts as at rest */
#define STILL_NORMAL 1e-4f
enum { POSITION, NORMAL, CHANNELS };

/* A stretch of the binary chunk. */
typedef struct View {
    uint64_t offset, length;
    int stride, target; /* 0: not given */
} View;

typedef struct Target {
    float low[3], high[3];   /* of positions */
    int32_t moved[CHANNELS]; /* vertices that are kept of a sparse one; -1: all are */
} Target;

/* A body as glTF has it. */
typedef struct Body {
    int part;
    int64_t count;   /* vertices after dividing */
    int32_t *vertex; /* of the part */
    int32_t *slot;   /* of the shade */
    int32_t *uv;     /* -1: none; NULL: the body has none */
    int64_t index_count;
    int32_t *index;
    int mode;              /* 0 points, 1 lines, 4 triangles */
    BrioShade *shade;      /* NULL without triangles */
    Target *target;        /* frames but the first; NULL: it stands still */
    float low[3], high[3]; /* at the first frame */
    float still;           /* m */
    int mesh_views[4];     /* attributes, uv, indices, sparse data */
} Body;

typedef struct Glb {
    BrioFilm *film;
    int body_count;
    Body *body;
    int64_t targets;
    int view_count;
    View *view;
    uint64_t bytes;
    int accessors;
    BrioJson json;
    float *base[CHANNELS], *now[CHANNELS], *normal; /* of the current body */
} Glb;

/* ---- vertices --------------------------------------------------------------------------- */

/* Corners with the same slot and texture become one vertex; those of a slot hang on a chain. */
static BrioStatus divide(Body *b, const BrioMotionPart *p)
{
    const BrioFaces *f = p->faces;
    const BrioShade *s = b->shade;
    size_t corners = (size_t)s->corner_count;
    int32_t *head = brio__alloc((size_t)s->slot_count + 1, sizeof *head);
    int32_t *next = brio__alloc(corners + 1, sizeof *next);
    int32_t *of = brio__alloc(corners + 1, sizeof *of);
    b->vertex = brio__alloc(corners + 1, sizeof *b->vertex);
    b->slot = brio__alloc(corners + 1, sizeof *b->slot);
    b->index_count = 3 * s->triangle_count;
    b->index = brio__alloc((size_t)b->index_count + 1, sizeof *b->index);
    if (f && f->corner_uv) b->uv = brio__alloc(corners + 1, sizeof *b->uv);
    bool room =
        head && next && of && b->vertex && b->slot && b->index && (!f || !f->corner_uv || b->uv);
    for (int64_t k = 0; room && k < s->slot_count; k++) head[k] = -1;
    for (size_t c = 0; room && c < corners; c++) {
        int32_t slot = s->corner_slot[c], uv = b->uv ? f->corner_uv[c] : -1, at = head[slot];
        while (at >= 0 && b->uv && b->uv[at] != uv) at = next[at];
        if (at < 0) {
            at = (int32_t)b->count++;
            b->vertex[at] = s->slot_vertex[slot];
            b->slot[at] = slot;
            if (b->uv) b->uv[at] = uv;
            next[at] = head[slot];
            head[slot] = at;
        }
        of[c] = at;
    }
    for (int64_t k = 0; room && k < b->index_count; k++) b->index[k] = of[s->triangle_corner[k]];
    brio__free(head);
    brio__free(next);
    brio__free(of);
    return room ? BRIO_OK : BRIO_ERROR_MEMORY;
}

static BrioStatus prepare_body(Glb *g, Body *b)
{
    const BrioMotionPart *p = &g->film->motion->part[b->part];
    b->mode = p->triangle_count ? 4 : p->edge_count ? 1 : 0;
    if (b->mode == 4) {
        BRIO_CHECK(brio__shade_create(p, &b->shade));
        BRIO_CHECK(divide(b, p));
    } else {
        b->count = p->vertex_count;
        b->index_count = 2 * (int64_t)p->edge_count;
        b->vertex = brio__alloc((size_t)b->count + 1, sizeof *b->vertex);
        b->index = brio__alloc((size_t)b->index_count + 1, sizeof *b->index);
        if (!b->vertex || !b->index) return BRIO_ERROR_MEMORY;
        for (int64_t v = 0; v < b->count; v++) b->vertex[v] = (int32_t)v;
        memcpy(b->index, p->edge, (size_t)b->index_count * sizeof *b->index);
    }
    if (p->still || g->targets == 0) return BRIO_OK;
    b->target = brio__calloc((size_t)g->targets, sizeof *b->target);
    return b->target ? BRIO_OK : BRIO_ERROR_MEMORY;
}

static void free_glb(Glb *g)
{
    for (int i = 0; g->body && i < g->body_count; i++) {
        Body *b = &g->body[i];
        brio__free(b->vertex);
        brio__free(b->slot);
        brio__free(b->uv);
        brio__free(b->index);
        brio__free(b->target);
        brio__shade_free(b->shade);
    }
    brio__free(g->body);
    brio__free(g->view);
    for (int c = 0; c < CHANNELS; c++) brio__free(g->base[c]), brio__free(g->now[c]);
    brio__free(g->normal);
}

static BrioStatus prepare(Glb *g)
{
    BrioMotionFile *m = g->film->motion;
    int64_t max = 0, slots = 0;
    g->targets = g->film->count - 1;
    g->body = brio__calloc((size_t)m->part_count + 1, sizeof *g->body);
    if (!g->body) return BRIO_ERROR_MEMORY;
    for (int i = 0; i < m->part_count; i++) {
        if (!brio__film_shows(g->film, i) || m->part[i].vertex_count == 0) continue;
        Body *b = &g->body[g->body_count++];
        b->part = i;
        BRIO_CHECK(prepare_body(g, b));
        max = BRIO_MAX(max, b->count);
        slots = BRIO_MAX(slots, b->shade ? b->shade->slot_count : 0);
    }
    g->view = brio__calloc(4 * (size_t)g->body_count + 4, sizeof *g->view);
    g->normal = brio__alloc(3 * (size_t)slots + 1, sizeof *g->normal);
    bool room = g->view && g->normal;
    for (int c = 0; c < CHANNELS; c++) {
        g->base[c] = brio__alloc(3 * (size_t)max + 1, sizeof *g->base[c]);
        g->now[c] = brio__alloc(3 * (size_t)max + 1, sizeof *g->now[c]);
        room = room && g->base[c] && g->now[c];
    }
    return room ? BRIO_OK : BRIO_ERROR_MEMORY;
}

/* ---- frames of a body ------------------------------------------------------------------- */

static BrioStatus read_frame(Glb *g, const Body *b, int64_t k, float *const to[CHANNELS],
                             BrioError *error)
{
    BRIO_CHECK(brio__film_positions(g->film, k, b->part, error));
    for (int64_t v = 0; v < b->count; v++)
        memcpy(to[POSITION] + 3 * v, g->film->x + 3 * (size_t)b->vertex[v], 3 * sizeof(float));
    if (!b->shade) return BRIO_OK;
    brio__shade_normals(b->shade, g->film->x, g->normal);
    for (int64_t v = 0; v < b->count; v++)
        memcpy(to[NORMAL] + 3 * v, g->normal + 3 * (size_t)b->slot[v], 3 * sizeof(float));
    return BRIO_OK;
}

/* The frame's differences from the first, in g->now; what is below the threshold is zero. */
static BrioStatus read_target(Glb *g, const Body *b, int64_t target, BrioError *error)
{
    BRIO_CHECK(read_frame(g, b, target + 1, g->now, error));
    for (int c = 0; c < (b->shade ? CHANNELS : 1); c++)
        for (int64_t v = 0; v < b->count; v++) {
            float max = 0, *d = g->now[c] + 3 * v;
            for (int r = 0; r < 3; r++) {
                d[r] -= g->base[c][3 * v + r];
                max = fmaxf(max, fabsf(d[r]));
            }
            if (max < (c == POSITION ? b->still : STILL_NORMAL)) d[0] = d[1] = d[2] = 0;
        }
    return BRIO_OK;
}

static bool moved(const float *d) { return d[0] != 0 || d[1] != 0 || d[2] != 0; }

static void bounds(const float *x, int64_t count, float low[3], float high[3])
{
    for (int r = 0; r < 3; r++) {
        low[r] = high[r] = x[r];
        for (int64_t v = 1; v < count; v++)
            low[r] = fminf(low[r], x[3 * v + r]), high[r] = fmaxf(high[r], x[3 * v + r]);
    }
}

static BrioStatus survey(Glb *g, Body *b, BrioError *error)
{
    BRIO_CHECK(read_frame(g, b, 0, g->base, error));
    bounds(g->base[POSITION], b->count, b->low, b->high);
    b->still = STILL *
               fmaxf(b->high[0] - b->low[0], fmaxf(b->high[1] - b->low[1], b->high[2] - b->low[2]));
    for (int64_t k = 0; b->target && k < g->targets; k++) {
        Target *t = &b->target[k];
        BRIO_CHECK(read_target(g, b, k, error));
        bounds(g->now[POSITION], b->count, t->low, t->high);
        for (int c = 0; c < (b->shade ? CHANNELS : 1); c++) {
            int64_t count = 0;
            for (int64_t v = 0; v < b->count; v++) count += moved(g->now[c] + 3 * v);
            /* 16 bytes per vertex for 12, and worth half of it */
            t->moved[c] = 32 * count < 12 * b->count ? (int32_t)BRIO_MAX(count, 1) : -1;
        }
    }
    return BRIO_OK;
}

/* ---- JSON ------------------------------------------------------------------------------- */

static int add_view(Glb *g, uint64_t length, int stride, int target)
{
    g->view[g->view_count] = (View){g->bytes, length, stride, target};
    g->bytes += (length + 3) / 4 * 4;
    return g->view_count++;
}

static void numbers(BrioJson *json, const char *key, const float *values, int count)
{
    brio__json_open(json, key, '[');
    for (int r = 0; r < count; r++) brio__json_real(json, NULL, values[r]);
    brio__json_close(json, ']');
}

/* Leaves the accessor open for more. view -1: zeros. */
static int accessor(Glb *g, int view, uint64_t offset, int component, int64_t count,
                    const char *type)
{
    brio__json_open(&g->json, NULL, '{');
    if (view >= 0) brio__json_integer(&g->json, "bufferView", view);
    if (view >= 0 && offset) brio__json_integer(&g->json, "byteOffset", (int64_t)offset);
    brio__json_integer(&g->json, "componentType", component);
    brio__json_integer(&g->json, "count", count);
    brio__json_text(&g->json, "type", type);
    return g->accessors++;
}

static void limits(Glb *g, const float *low, const float *high, int count)
{
    numbers(&g->json, "min", low, count);
    numbers(&g->json, "max", high, count);
}

enum { UINT16 = 5123, UINT32 = 5125, FLOAT = 5126, VERTICES = 34962, INDICES = 34963 };

static void sparse(Glb *g, int64_t count, int view, uint64_t index_offset, uint64_t value_offset)
{
    BrioJson *json = &g->json;
    brio__json_open(json, "sparse", '{');
    brio__json_integer(json, "count", count);
    brio__json_open(json, "indices", '{');
    brio__json_integer(json, "bufferView", view);
    brio__json_integer(json, "byteOffset", (int64_t)index_offset);
    brio__json_integer(json, "componentType", UINT32);
    brio__json_close(json, '}');
    brio__json_open(json, "values", '{');
    brio__json_integer(json, "bufferView", view);
    brio__json_integer(json, "byteOffset", (int64_t)value_offset);
    brio__json_close(json, '}');
    brio__json_close(json, '}');
}

static int channels_of(const Body *b) { return b->shade ? CHANNELS : 1; }

static void count_bytes(const Glb *g, const Body *b, uint64_t *dense, uint64_t *scattered)
{
    uint64_t each = 12 * (uint64_t)b->count;
    *dense = each * (uint64_t)channels_of(b);
    *scattered = 0;
    for (int64_t k = 0; b->target && k < g->targets; k++)
        for (int c = 0; c < channels_of(b); c++) {
            if (b->target[k].moved[c] < 0)
                *dense += each;
            else
                *scattered += 16 * (uint64_t)b->target[k].moved[c];
        }
}

/* The body's accessors, in the order in which its data are written: first frame, targets, textures,
 * indices. */
static void json_accessors(Glb *g, Body *b)
{
    uint64_t dense, scattered, at = 0, away = 0;
    count_bytes(g, b, &dense, &scattered);
    b->mesh_views[0] = add_view(g, dense, 12, VERTICES);
    b->mesh_views[1] = b->uv ? add_view(g, 8 * (uint64_t)b->count, 8, VERTICES) : -1;
    b->mesh_views[2] = b->index_count ? add_view(g, 4 * (uint64_t)b->index_count, 0, INDICES) : -1;
    b->mesh_views[3] = scattered ? add_view(g, scattered, 0, 0) : -1;
    for (int64_t k = -1; k < (b->target ? g->targets : 0); k++)
        for (int c = 0; c < channels_of(b); c++) {
            int32_t kept = k < 0 ? -1 : b->target[k].moved[c];
            accessor(g, kept < 0 ? b->mesh_views[0] : -1, at, FLOAT, b->count, "VEC3");
            if (kept < 0) at += 12 * (uint64_t)b->count;
            if (c == POSITION)
                limits(g, k < 0 ? b->low : b->target[k].low, k < 0 ? b->high : b->target[k].high,
                       3);
            if (kept >= 0) {
                sparse(g, kept, b->mesh_views[3], away, away + 4 * (uint64_t)kept);
                away += 16 * (uint64_t)kept;
            }
            brio__json_close(&g->json, '}');
        }
    if (b->uv) {
        accessor(g, b->mesh_views[1], 0, FLOAT, b->count, "VEC2");
        brio__json_close(&g->json, '}');
    }
    if (b->index_count) {
        accessor(g, b->mesh_views[2], 0, UINT32, b->index_count, "SCALAR");
        brio__json_close(&g->json, '}');
    }
}

static void json_mesh(Glb *g, const Body *b, int material, int first)
{
    BrioJson *json = &g->json;
    const BrioMotionPart *p = &g->film->motion->part[b->part];
    static const char *const names[] = {"POSITION", "NORMAL"};
    int at = first;
    brio__json_open(json, NULL, '{');
    brio__json_text(json, "name", p->name);
    brio__json_open(json, "primitives", '[');
    brio__json_open(json, NULL, '{');
    brio__json_integer(json, "mode", b->mode);
    brio__json_integer(json, "material", material);
    brio__json_open(json, "attributes", '{');
    for (int c = 0; c < channels_of(b); c++) brio__json_integer(json, names[c], at++);
    int after = first + channels_of(b) * (int)(1 + (b->target ? g->targets : 0));
    if (b->uv) brio__json_integer(json, "TEXCOORD_0", after++);
    brio__json_close(json, '}');
    if (b->index_count) brio__json_integer(json, "indices", after);
    if (b->target) {
        brio__json_open(json, "targets", '[');
        for (int64_t k = 0; k < g->targets; k++) {
            brio__json_open(json, NULL, '{');
            for (int c = 0; c < channels_of(b); c++) brio__json_integer(json, names[c], at++);
            brio__json_close(json, '}');
        }
        brio__json_close(json, ']');
    }
    brio__json_close(json, '}');
    brio__json_close(json, ']');
    if (b->target) {
        brio__json_open(json, "weights", '[');
        for (int64_t k = 0; k < g->targets; k++) brio__json_integer(json, NULL, 0);
        brio__json_close(json, ']');
        brio__json_open(json, "extras", '{');
        brio__json_open(json, "targetNames", '[');
        for (int64_t k = 0; k < g->targets; k++) {
            char name[48];
            snprintf(name, sizeof name, "frame %.9g", brio__film_code(g->film, k + 1));
            brio__json_text(json, NULL, name);
        }
        brio__json_close(json, ']');
        brio__json_close(json, '}');
    }
    brio__json_close(json, '}');
}

static void json_material(Glb *g, const Body *b, int number)
{
    const BrioMotionPart *p = &g->film->motion->part[b->part];
    unsigned colour = p->kind == BRIO_MOTION_BODY ? brio__body_colours[number % BRIO_BODY_COLOURS]
                                                  : BRIO_OBSTACLE_COLOUR;
    BrioJson *json = &g->json;
    brio__json_open(json, NULL, '{');
    brio__json_text(json, "name", p->name);
    brio__json_open(json, "pbrMetallicRoughness", '{');
    brio__json_open(json, "baseColorFactor", '[');
    /* linear light */
    for (int shift = 16; shift >= 0; shift -= 8)
        brio__json_real(json, NULL,
                        round(1000 * pow((double)(colour >> shift & 255) / 255, 2.2)) / 1000);
    brio__json_integer(json, NULL, 1);
    brio__json_close(json, ']');
    brio__json_integer(json, "metallicFactor", 0);
    brio__json_real(json, "roughnessFactor", 0.7);
    brio__json_close(json, '}');
    if (!p->closed) brio__json_boolean(json, "doubleSided", true);
    brio__json_close(json, '}');
}

static void json_animation(Glb *g, int times, int weights)
{
    BrioJson *json = &g->json;
    int moving = 0;
    brio__json_open(json, "animations", '[');
    brio__json_open(json, NULL, '{');
    brio__json_text(json, "name", "brio");
    brio__json_open(json, "samplers", '[');
    brio__json_open(json, NULL, '{');
    brio__json_integer(json, "input", times);
    brio__json_integer(json, "output", weights);
    brio__json_text(json, "interpolation", "LINEAR");
    brio__json_close(json, '}');
    brio__json_close(json, ']');
    brio__json_open(json, "channels", '[');
    for (int i = 0; i < g->body_count; i++) {
        if (!g->body[i].target) continue;
        moving++;
        brio__json_open(json, NULL, '{');
        brio__json_integer(json, "sampler", 0);
        brio__json_open(json, "target", '{');
        brio__json_integer(json, "node", i);
        brio__json_text(json, "path", "weights");
        brio__json_close(json, '}');
        brio__json_close(json, '}');
    }
    brio__json_close(json, ']');
    brio__json_close(json, '}');
    brio__json_close(json, ']');
}

static void json_scene(Glb *g, bool animated, int times)
{
    BrioJson *json = &g->json;
    brio__json_open(json, "meshes", '[');
    for (int i = 0, first = 0; i < g->body_count; i++) {
        const Body *b = &g->body[i];
        json_mesh(g, b, i, first);
        first += channels_of(b) * (int)(1 + (b->target ? g->targets : 0)) + (b->uv != NULL) +
                 (b->index_count > 0);
    }
    brio__json_close(json, ']');
    brio__json_open(json, "materials", '[');
    for (int i = 0; i < g->body_count; i++) json_material(g, &g->body[i], i);
    brio__json_close(json, ']');
    brio__json_open(json, "nodes", '[');
    for (int i = 0; i < g->body_count; i++) {
        brio__json_open(json, NULL, '{');
        brio__json_text(json, "name", g->film->motion->part[g->body[i].part].name);
        brio__json_integer(json, "mesh", i);
        brio__json_close(json, '}');
    }
    brio__json_close(json, ']');
    brio__json_integer(json, "scene", 0);
    brio__json_open(json, "scenes", '[');
    brio__json_open(json, NULL, '{');
    brio__json_open(json, "nodes", '[');
    for (int i = 0; i < g->body_count; i++) brio__json_integer(json, NULL, i);
    brio__json_close(json, ']');
    brio__json_close(json, '}');
    brio__json_close(json, ']');
    if (animated) json_animation(g, times, times + 1);
}

/* Times and weights of the animation; the weights are a sparse matrix with one 1 in each row but
 * the first. */
static void json_times(Glb *g)
{
    float low = (float)brio__film_time(g->film, 0);
    float high = (float)brio__film_time(g->film, g->targets);
    uint64_t n = (uint64_t)g->targets;
    int view = add_view(g, 4 * (n + 1), 0, 0), ones = add_view(g, 8 * n, 0, 0);
    accessor(g, view, 0, FLOAT, g->targets + 1, "SCALAR");
    limits(g, &low, &high, 1);
    brio__json_close(&g->json, '}');
    accessor(g, -1, 0, FLOAT, (g->targets + 1) * g->targets, "SCALAR");
    sparse(g, g->targets, ones, 0, 4 * n);
    brio__json_close(&g->json, '}');
}

static void json_views(Glb *g)
{
    BrioJson *json = &g->json;
    brio__json_open(json, "bufferViews", '[');
    for (int i = 0; i < g->view_count; i++) {
        const View *view = &g->view[i];
        brio__json_open(json, NULL, '{');
        brio__json_integer(json, "buffer", 0);
        if (view->offset) brio__json_integer(json, "byteOffset", (int64_t)view->offset);
        brio__json_integer(json, "byteLength", (int64_t)view->length);
        if (view->stride) brio__json_integer(json, "byteStride", view->stride);
        if (view->target) brio__json_integer(json, "target", view->target);
        brio__json_close(json, '}');
    }
    brio__json_close(json, ']');
    brio__json_open(json, "buffers", '[');
    brio__json_open(json, NULL, '{');
    brio__json_integer(json, "byteLength", (int64_t)g->bytes);
    brio__json_close(json, '}');
    brio__json_close(json, ']');
}

static bool is_animated(const Glb *g)
{
    for (int i = 0; i < g->body_count; i++)
        if (g->body[i].target) return true;
    return false;
}

static BrioStatus make_json(Glb *g, char **text, size_t *size)
{
    bool animated = is_animated(g);
    FILE *file = open_memstream(text, size);
    if (!file) return BRIO_ERROR_MEMORY;
    g->json = (BrioJson){.file = file, .flat = true};
    brio__json_open(&g->json, NULL, '{');
    brio__json_open(&g->json, "asset", '{');
    brio__json_text(&g->json, "version", "2.0");
    brio__json_text(&g->json, "generator", "brio");
    brio__json_close(&g->json, '}');
    brio__json_open(&g->json, "accessors", '[');
    for (int i = 0; i < g->body_count; i++) json_accessors(g, &g->body[i]);
    int times = g->accessors;
    if (animated) json_times(g);
    brio__json_close(&g->json, ']');
    json_views(g);
    json_scene(g, animated, times);
    brio__json_close(&g->json, '}');
    while (ftell(file) % 4) fputc(' ', file);
    return brio__text_close(file, text);
}

/* ---- data ------------------------------------------------------------------------------- */

/* Dense and sparse data lie in different stretches: the latter are collected on the way. */
static void write_scattered(const Glb *g, const Body *b, int channel, FILE *file)
{
    const float *d = g->now[channel];
    int64_t first = -1;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t v = 0; v < b->count; v++) {
            if (!moved(d + 3 * v)) continue;
            uint32_t number = (uint32_t)v;
            if (pass == 0)
                brio__put32(file, &number, 1, false);
            else
                brio__put32(file, d + 3 * v, 3, false);
            first = v;
        }
    if (first < 0) { /* an accessor has at least one: the first vertex does not move */
        const float none[4] = {0, 0, 0, 0};
        brio__put32(file, none, 4, false);
    }
}

static BrioStatus write_body(Glb *g, const Body *b, FILE *file, BrioError *error)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *scattered = open_memstream(&bytes, &size);
    const BrioFaces *f = g->film->motion->part[b->part].faces;
    if (!scattered) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    BrioStatus status = read_frame(g, b, 0, g->base, error);
    for (int c = 0; c < channels_of(b); c++)
        brio__put32(file, g->base[c], 3 * (size_t)b->count, false);
    for (int64_t k = 0; status == BRIO_OK && b->target && k < g->targets; k++) {
        status = read_target(g, b, k, error);
        for (int c = 0; status == BRIO_OK && c < channels_of(b); c++) {
            if (b->target[k].moved[c] < 0)
                brio__put32(file, g->now[c], 3 * (size_t)b->count, false);
            else
                write_scattered(g, b, c, scattered);
        }
    }
    for (int64_t v = 0; b->uv && v < b->count; v++) { /* v runs downwards in glTF */
        float uv[2] = {b->uv[v] >= 0 ? (float)f->uv[2 * (int64_t)b->uv[v]] : 0,
                       b->uv[v] >= 0 ? (float)(1 - f->uv[2 * (int64_t)b->uv[v] + 1]) : 0};
        brio__put32(file, uv, 2, false);
    }
    brio__put32(file, b->index, (size_t)b->index_count, false);
    if (brio__text_close(scattered, &bytes))
        status = brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    if (status == BRIO_OK && size) fwrite(bytes, 1, size, file);
    free(bytes);
    return status;
}

static void write_times(const Glb *g, FILE *file)
{
    for (int64_t k = 0; k <= g->targets; k++) {
        float time = (float)brio__film_time(g->film, k);
        brio__put32(file, &time, 1, false);
    }
    for (int64_t k = 0; k < g->targets; k++) {
        uint32_t place = (uint32_t)((k + 1) * g->targets + k);
        brio__put32(file, &place, 1, false);
    }
    for (int64_t k = 0; k < g->targets; k++) {
        const float one = 1;
        brio__put32(file, &one, 1, false);
    }
}

static BrioStatus write_all(Glb *g, FILE *file, BrioError *error)
{
    char *text = NULL;
    size_t size = 0;
    BrioStatus status = prepare(g);
    if (status != BRIO_OK) return brio__error(error, status, "%s", brio_status_text(status));
    for (int i = 0; i < g->body_count; i++) BRIO_CHECK(survey(g, &g->body[i], error));
    status = make_json(g, &text, &size);
    double length = 28 + (double)size + (double)g->bytes;
    if (status != BRIO_OK)
        status = brio__error(error, status, "%s", brio_status_text(status));
    else if (length > 4.29e9 || (double)g->targets * ((double)g->targets + 1) > 4.29e9)
        status = brio__error(error, BRIO_ERROR_TOO_LARGE,
                             "the glb would have %.3g GB, and the maximum is 4.29 GB: use fewer "
                             "frames (--every, output.every), or pc2 or usda",
                             length * 1e-9);
    if (status == BRIO_OK) {
        uint32_t head[5] = {0x46546c67, 2, (uint32_t)length, (uint32_t)size, 0x4e4f534a};
        uint32_t chunk[2] = {(uint32_t)g->bytes, 0x004e4942};
        brio__put32(file, head, 5, false);
        fwrite(text, 1, size, file);
        brio__put32(file, chunk, 2, false);
        for (int i = 0; status == BRIO_OK && i < g->body_count; i++)
            status = write_body(g, &g->body[i], file, error);
        if (is_animated(g)) write_times(g, file);
    }
    free(text);
    return status;
}

static BrioStatus write(BrioFilm *film, int part, FILE *file, BrioError *error)
{
    Glb g = {.film = film};
    (void)part; /* all of them */
    film->total *= 2;
    BrioStatus status = write_all(&g, file, error);
    free_glb(&g);
    return status;
}

BRIO_FRAMES(glb){
    .name = "glb",
    .extension = "glb",
    .summary = "glTF 2.0, binary: all bodies with their motion as morph targets, for browsers, "
               "game engines, Blender.",
    .film = write,
};
