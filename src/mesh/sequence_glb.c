/* The motion in a binary glTF file as positions of all its vertices [glTF 2.0, 3.7 and 3.11].
 *
 *     12 bytes: "glTF", 2, length; chunk "JSON"; chunk "BIN"
 *
 * A vertex of a mesh is p = base + sum_i w_i target_i. It stands at G p, G the product of the
 * matrices of its node and of all above, or in a skin at sum_j W_j G_j B_j p, with the joints' own
 * matrices G_j, their inverse bind matrices B_j and the vertex' weights W_j, in sets of four. The
 * first animation gives translations, rotations, scales and weights w over time: linear, by steps,
 * or cubic; quaternions turn at a constant rate in between.
 *
 * All that is sampled at the times of all keys and, where something does not move along straight
 * lines, and `fps` times a second. Vertices that are together in all frames become one: files
 * divide them where textures and normals have seams. */
#include "gltf_json.h"
#include "scan.h"
#include "sequence.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FRAMES = 100000, MAX_NODES = 100000, MAX_SETS = 4 };
enum { TRANSLATION, ROTATION, SCALE, WEIGHTS, PATHS };
static const char *const path_names[PATHS] = {"translation", "rotation", "scale", "weights"};

/* Numbers of an accessor: count items of `width`. */
typedef struct Numbers {
    int64_t count;
    int width;
    double *value;
} Numbers;

typedef struct Channel {
    int64_t node;
    int path;
    Numbers time, output;
    bool step, cubic;
} Channel;

typedef struct Node {
    int64_t parent; /* -1: none */
    double local[16], global[16];
    double trs[10]; /* translation, rotation x y z w, scale */
    bool matrix;    /* given by `local` alone */
    int64_t mesh, skin;
    int32_t value; /* in the JSON */
} Node;

/* A piece of a mesh in the scene. */
typedef struct Piece {
    int64_t node, skin;
    Numbers base, joint[MAX_SETS], weight[MAX_SETS], bind;
    int set_count, target_count;
    Numbers *target;
    double *w; /* of the targets, now */
    int64_t first;
} Piece;

typedef struct Glb {
    const char *file, *bin;
    size_t bin_size;
    BrioJsonFile json;
    int32_t root;
    int64_t node_count;
    Node *node;
    int64_t *order; /* parents before children */
    int64_t piece_count, piece_room, channel_count, triangle_room;
    Piece *piece;
    Channel *channel;
    BrioError *error;
} Glb;

static BrioStatus bad(const Glb *g, const char *what, int64_t number)
{
    return brio__error_at(g->error, BRIO_ERROR_INPUT, g->file, 0, 0, NULL,
                          "%s %lld is not as glTF has it: save the file again, as .glb without "
                          "compression",
                          what, (long long)number);
}

static int32_t entry(const Glb *g, const char *list, int64_t i)
{
    return brio__gltf_at(&g->json, brio__gltf_get(&g->json, g->root, list), i);
}

/* ---- accessors -------------------------------------------------------------------------- */

static bool number_type(int64_t component, BrioNumberType *type)
{
    switch (component) {
    case 5120: *type = BRIO_INT8; return true;
    case 5121: *type = BRIO_UINT8; return true;
    case 5122: *type = BRIO_INT16; return true;
    case 5123: *type = BRIO_UINT16; return true;
    case 5125: *type = BRIO_UINT32; return true;
    case 5126: *type = BRIO_FLOAT32; return true;
    default: return false;
    }
}

static int width_of(const Glb *g, int32_t type)
{
    static const char *const names[] = {"SCALAR", "VEC2", "VEC3", "VEC4", "MAT4"};
    static const int widths[] = {1, 2, 3, 4, 16};
    for (int i = 0; i < 5; i++)
        if (brio__gltf_is(&g->json, type, names[i])) return widths[i];
    return 0;
}

/* `count` items of `item` bytes of a buffer view, from `offset` in it; NULL: not within the
 * chunk. */
static const char *view_bytes(const Glb *g, int64_t view, int64_t offset, int64_t count,
                              int64_t item, int64_t *stride)
{
    const BrioJsonFile *j = &g->json;
    int32_t v = entry(g, "bufferViews", view);
    if (!v || brio__gltf_index(j, brio__gltf_get(j, v, "buffer")) != 0) return NULL;
    int64_t at = brio__gltf_index(j, brio__gltf_get(j, v, "byteOffset"));
    int64_t length = brio__gltf_index(j, brio__gltf_get(j, v, "byteLength"));
    *stride = brio__gltf_index(j, brio__gltf_get(j, v, "byteStride"));
    if (*stride <= 0) *stride = item;
    if (at < 0) at = 0;
    if (length < 0 || *stride > 255 + item || count < 1) return NULL;
    if (offset + (count - 1) * *stride + item > length || at + length > (int64_t)g->bin_size)
        return NULL;
    return g->bin + at + offset;
}

static double normalised(double value, BrioNumberType type)
{
    switch (type) {
    case BRIO_INT8: return fmax(value / 127, -1);
    case BRIO_UINT8: return value / 255;
    case BRIO_INT16: return fmax(value / 32767, -1);
    case BRIO_UINT16: return value / 65535;
    default: return value;
    }
}

static bool read_sparse(const Glb *g, int32_t sparse, BrioNumberType type, Numbers *out)
{
    const BrioJsonFile *j = &g->json;
    int32_t indices = brio__gltf_get(j, sparse, "indices");
    int32_t values = brio__gltf_get(j, sparse, "values");
    int64_t count = brio__gltf_index(j, brio__gltf_get(j, sparse, "count")), stride[2];
    BrioNumberType index_type;
    if (!number_type(brio__gltf_index(j, brio__gltf_get(j, indices, "componentType")), &index_type))
        return false;
    int64_t size = brio__number_size(type), index_size = brio__number_size(index_type);
    int64_t from[2] = {brio__gltf_index(j, brio__gltf_get(j, indices, "byteOffset")),
                       brio__gltf_index(j, brio__gltf_get(j, values, "byteOffset"))};
    const char *at = view_bytes(g, brio__gltf_index(j, brio__gltf_get(j, indices, "bufferView")),
                                BRIO_MAX(from[0], 0), count, index_size, &stride[0]);
    const char *data = view_bytes(g, brio__gltf_index(j, brio__gltf_get(j, values, "bufferView")),
                                  BRIO_MAX(from[1], 0), count, size * out->width, &stride[1]);
    if (!at || !data) return false;
    for (int64_t k = 0; k < count; k++) {
        int64_t i = brio__number_as_integer(at + k * stride[0], index_type, false);
        if (i < 0 || i >= out->count) return false;
        for (int c = 0; c < out->width; c++)
            out->value[i * out->width + c] =
                brio__number_as_real(data + k * stride[1] + c * size, type, false);
    }
    return true;
}

/* Frees nothing: the caller frees out->value. */
static BrioStatus read_accessor(Glb *g, int64_t number, int width, Numbers *out)
{
    const BrioJsonFile *j = &g->json;
    int32_t a = entry(g, "accessors", number), sparse = brio__gltf_get(j, a, "sparse");
    BrioNumberType type;
    out->count = brio__gltf_index(j, brio__gltf_get(j, a, "count"));
    out->width = width_of(g, brio__gltf_get(j, a, "type"));
    bool fits = a && out->count > 0 && out->width == width &&
                number_type(brio__gltf_index(j, brio__gltf_get(j, a, "componentType")), &type);
    if (!fits) return bad(g, "accessor", number);
    int64_t view = brio__gltf_index(j, brio__gltf_get(j, a, "bufferView")), stride;
    int64_t offset = brio__gltf_index(j, brio__gltf_get(j, a, "byteOffset"));
    int64_t size = brio__number_size(type);
    /* zeros take no bytes in the file: refuse what could not be wanted */
    if (view < 0 && (!sparse || (double)out->count * width > 1e9))
        return bad(g, "accessor", number);
    const char *data =
        view < 0 ? NULL
                 : view_bytes(g, view, BRIO_MAX(offset, 0), out->count, size * width, &stride);
    if (view >= 0 && !data) return bad(g, "accessor", number);
    out->value = brio__calloc((size_t)out->count * (size_t)width, sizeof *out->value);
    if (!out->value) return brio__no_memory(g->error);
    bool scaled = brio__gltf_is(j, brio__gltf_get(j, a, "normalized"), "true");
    for (int64_t k = 0; data && k < out->count; k++)
        for (int c = 0; c < width; c++) {
            double value = brio__number_as_real(data + k * stride + c * size, type, false);
            out->value[k * width + c] = scaled ? normalised(value, type) : value;
        }
    if (sparse && !read_sparse(g, sparse, type, out)) return bad(g, "accessor", number);
    return BRIO_OK;
}

/* The accessor that a map names, if it does. */
static BrioStatus read_named(Glb *g, int32_t map, const char *name, int width, Numbers *out)
{
    int32_t value = brio__gltf_get(&g->json, map, name);
    return value ? read_accessor(g, brio__gltf_index(&g->json, value), width, out) : BRIO_OK;
}

/* ---- nodes ------------------------------------------------------------------------------ */

static void multiply(const double *a, const double *b, double *out)
{
    double c[16];
    for (int column = 0; column < 4; column++)
        for (int row = 0; row < 4; row++) {
            double sum = 0;
            for (int k = 0; k < 4; k++) sum += a[4 * k + row] * b[4 * column + k];
            c[4 * column + row] = sum;
        }
    memcpy(out, c, sizeof c);
}

/* By columns, as glTF has matrices. */
static void compose(const double trs[10], double m[16])
{
    const double *q = trs + 3, *s = trs + 7;
    double n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], f = n > 0 ? 2 / n : 0;
    double x = q[0], y = q[1], z = q[2], w = q[3];
    const double R[9] = {1 - f * (y * y + z * z), f * (x * y + w * z),     f * (x * z - w * y),
                         f * (x * y - w * z),     1 - f * (x * x + z * z), f * (y * z + w * x),
                         f * (x * z + w * y),     f * (y * z - w * x),     1 - f * (x * x + y * y)};
    for (int c = 0; c < 3; c++) {
        for (int r = 0; r < 3; r++) m[4 * c + r] = R[3 * c + r] * s[c];
        m[4 * c + 3] = 0;
    }
    for (int r = 0; r < 3; r++) m[12 + r] = trs[r];
    m[15] = 1;
}

static void read_components(const Glb *g, int32_t list, int count, double *to)
{
    for (int i = 0; i < count; i++)
        to[i] = brio__gltf_number(&g->json, brio__gltf_at(&g->json, list, i), to[i]);
}

static BrioStatus read_nodes(Glb *g)
{
    const BrioJsonFile *j = &g->json;
    int32_t list = brio__gltf_get(j, g->root, "nodes"), value = brio__gltf_at(j, list, 0);
    g->node_count = brio__gltf_count(j, list);
    if (g->node_count < 1 || g->node_count > MAX_NODES) return bad(g, "the number of nodes", 0);
    g->node = brio__calloc((size_t)g->node_count, sizeof *g->node);
    g->order = brio__calloc((size_t)g->node_count, sizeof *g->order);
    if (!g->node || !g->order) return brio__no_memory(g->error);
    for (int64_t i = 0; i < g->node_count; i++, value = j->value[value].next) {
        const double none[10] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1};
        Node *n = &g->node[i];
        n->parent = -1;
        n->value = value;
        memcpy(n->trs, none, sizeof none);
        read_components(g, brio__gltf_get(j, value, "translation"), 3, n->trs);
        read_components(g, brio__gltf_get(j, value, "rotation"), 4, n->trs + 3);
        read_components(g, brio__gltf_get(j, value, "scale"), 3, n->trs + 7);
        n->matrix = brio__gltf_count(j, brio__gltf_get(j, value, "matrix")) == 16;
        read_components(g, brio__gltf_get(j, value, "matrix"), 16, n->local);
        n->mesh = brio__gltf_index(j, brio__gltf_get(j, value, "mesh"));
        n->skin = brio__gltf_index(j, brio__gltf_get(j, value, "skin"));
    }
    for (int64_t i = 0; i < g->node_count; i++) {
        int32_t children = brio__gltf_get(j, g->node[i].value, "children");
        int32_t child = brio__gltf_count(j, children) ? j->value[children].first : 0;
        for (; child; child = j->value[child].next) {
            int64_t c = brio__gltf_index(j, child);
            if (c < 0 || c >= g->node_count || g->node[c].parent >= 0) return bad(g, "node", i);
            g->node[c].parent = i;
        }
    }
    return BRIO_OK;
}

/* Parents before children; a cycle is rejected. */
static BrioStatus order_nodes(Glb *g)
{
    int64_t placed = 0;
    bool *done = brio__calloc((size_t)g->node_count, sizeof *done);
    int64_t *stack = brio__alloc((size_t)g->node_count, sizeof *stack);
    BrioStatus status = done && stack ? BRIO_OK : brio__no_memory(g->error);
    for (int64_t i = 0; status == BRIO_OK && i < g->node_count; i++) {
        int64_t depth = 0;
        for (int64_t n = i; n >= 0 && !done[n] && depth < g->node_count; n = g->node[n].parent)
            stack[depth++] = n;
        int64_t top = depth ? g->node[stack[depth - 1]].parent : -1;
        if (top >= 0 && !done[top]) status = bad(g, "node", i);
        while (status == BRIO_OK && depth > 0) {
            int64_t n = stack[--depth];
            if (done[n]) continue;
            done[n] = true;
            g->order[placed++] = n;
        }
    }
    brio__free(done);
    brio__free(stack);
    return status;
}

/* ---- meshes ----------------------------------------------------------------------------- */

/* `weights`: of the targets, where no animation gives them; of the node, or else of its mesh. */
static BrioStatus read_targets(Glb *g, int32_t primitive, int32_t weights, Piece *p)
{
    const BrioJsonFile *j = &g->json;
    int32_t list = brio__gltf_get(j, primitive, "targets");
    int count = brio__gltf_count(j, list);
    if (count == 0) return BRIO_OK;
    p->target = brio__calloc((size_t)count, sizeof *p->target);
    p->w = brio__calloc((size_t)count, sizeof *p->w);
    if (!p->target || !p->w) return brio__no_memory(g->error);
    read_components(g, weights, count, p->w);
    int32_t value = j->value[list].first;
    for (int i = 0; i < count; i++, value = j->value[value].next) {
        p->target_count = i + 1;
        BRIO_CHECK(read_named(g, value, "POSITION", 3, &p->target[i]));
        if (p->target[i].value && p->target[i].count != p->base.count)
            return bad(g, "morph target", i);
    }
    return BRIO_OK;
}

/* JOINTS_0 and WEIGHTS_0, JOINTS_1 and WEIGHTS_1, ...: four joints of each vertex in a set. */
static BrioStatus read_sets(Glb *g, int32_t attributes, int64_t joints, Piece *p)
{
    for (int set = 0;; set++) {
        char names[2][16];
        snprintf(names[0], sizeof names[0], "JOINTS_%d", set);
        snprintf(names[1], sizeof names[1], "WEIGHTS_%d", set);
        bool there = brio__gltf_get(&g->json, attributes, names[0]) &&
                     brio__gltf_get(&g->json, attributes, names[1]);
        if (!there) return BRIO_OK;
        if (set == MAX_SETS) return bad(g, "skin", p->skin);
        Numbers *joint = &p->joint[set], *weight = &p->weight[set];
        p->set_count = set + 1;
        BRIO_CHECK(read_named(g, attributes, names[0], 4, joint));
        BRIO_CHECK(read_named(g, attributes, names[1], 4, weight));
        if (joint->count != p->base.count || weight->count != p->base.count)
            return bad(g, "skin", p->skin);
        for (int64_t k = 0; k < 4 * joint->count; k++)
            if (!(joint->value[k] >= 0 && joint->value[k] < (double)joints))
                return bad(g, "skin", p->skin);
    }
}

static BrioStatus read_skin(Glb *g, int32_t attributes, Piece *p)
{
    int32_t skin = entry(g, "skins", p->skin);
    int32_t joints = brio__gltf_get(&g->json, skin, "joints");
    int64_t count = brio__gltf_count(&g->json, joints);
    BRIO_CHECK(read_sets(g, attributes, count, p));
    if (p->set_count == 0) {
        p->skin = -1;
        return BRIO_OK;
    }
    BRIO_CHECK(read_named(g, skin, "inverseBindMatrices", 16, &p->bind));
    if (p->bind.value && p->bind.count < count) return bad(g, "skin", p->skin);
    for (int64_t k = 0; k < count; k++) {
        int64_t node = brio__gltf_index(&g->json, brio__gltf_at(&g->json, joints, k));
        if (node < 0 || node >= g->node_count) return bad(g, "skin", p->skin);
    }
    return BRIO_OK;
}

enum { LIST = 4, STRIP, FAN };

/* Where corner k of all triangles stands among the corners of a primitive. Every second triangle of
 * a strip is turned. */
static int64_t corner_at(int64_t mode, int64_t k)
{
    int64_t t = k / 3, c = k % 3;
    if (mode == STRIP) return t + (t % 2 && c ? 3 - c : c);
    if (mode == FAN) return c < 2 ? t + 1 + c : 0;
    return k;
}

/* Points and lines have none. */
static BrioStatus add_triangles(Glb *g, int32_t primitive, const Piece *p, BrioSequence *s)
{
    const BrioJsonFile *j = &g->json;
    int32_t given = brio__gltf_get(j, primitive, "mode");
    int64_t mode = given ? brio__gltf_index(j, given) : LIST;
    if (mode < LIST || mode > FAN) return BRIO_OK;
    Numbers index = {0};
    BrioStatus status = read_named(g, primitive, "indices", 1, &index);
    int64_t corners = index.value ? index.count : p->base.count;
    int64_t more = mode == LIST ? corners / 3 : BRIO_MAX(corners - 2, (int64_t)0);
    if (status == BRIO_OK && s->triangle_count + more > g->triangle_room) {
        int64_t room = 2 * (s->triangle_count + more);
        int32_t *grown = brio__realloc(s->triangle, 3 * (size_t)s->triangle_count, 3 * (size_t)room,
                                       sizeof *grown);
        if (!grown) status = brio__no_memory(g->error);
        if (grown) s->triangle = grown, g->triangle_room = room;
    }
    for (int64_t k = 0; status == BRIO_OK && k < 3 * more; k++) {
        int64_t at = corner_at(mode, k);
        double corner = index.value ? index.value[at] : (double)at;
        if (!(corner >= 0 && corner < (double)p->base.count)) status = bad(g, "triangle", k / 3);
        if (status == BRIO_OK)
            s->triangle[3 * s->triangle_count + k] = (int32_t)(p->first + (int64_t)corner);
    }
    if (status == BRIO_OK) s->triangle_count += more;
    brio__free(index.value);
    return status;
}

/* The pieces of one node; vertices are counted in s->vertex_count. */
static BrioStatus add_pieces(Glb *g, int64_t node, BrioSequence *s)
{
    const BrioJsonFile *j = &g->json;
    int32_t mesh = entry(g, "meshes", g->node[node].mesh);
    int32_t weights = brio__gltf_get(j, g->node[node].value, "weights");
    int32_t list = brio__gltf_get(j, mesh, "primitives");
    if (!weights) weights = brio__gltf_get(j, mesh, "weights");
    int32_t value = brio__gltf_count(j, list) ? j->value[list].first : 0;
    for (; value; value = j->value[value].next) {
        int32_t attributes = brio__gltf_get(j, value, "attributes");
        if (g->piece_count == g->piece_room) {
            int64_t room = 2 * g->piece_count + 16;
            Piece *grown =
                brio__realloc(g->piece, (size_t)g->piece_count, (size_t)room, sizeof *grown);
            if (!grown) return brio__no_memory(g->error);
            g->piece = grown;
            g->piece_room = room;
        }
        Piece *p = &g->piece[g->piece_count++];
        *p = (Piece){.node = node, .skin = g->node[node].skin, .first = s->vertex_count};
        BRIO_CHECK(read_named(g, attributes, "POSITION", 3, &p->base));
        if (!p->base.value) return bad(g, "mesh", g->node[node].mesh);
        if (p->skin >= 0) BRIO_CHECK(read_skin(g, attributes, p));
        BRIO_CHECK(read_targets(g, value, weights, p));
        BRIO_CHECK(add_triangles(g, value, p, s));
        s->vertex_count += p->base.count;
        if (s->vertex_count > INT32_MAX) return bad(g, "mesh", g->node[node].mesh);
    }
    return BRIO_OK;
}

/* ---- the animation ---------------------------------------------------------------------- */

/* How many numbers a channel has for each key. */
static int channel_width(const Glb *g, const Channel *c)
{
    if (c->path != WEIGHTS) return c->path == ROTATION ? 4 : 3;
    for (int64_t i = 0; i < g->piece_count; i++)
        if (g->piece[i].node == c->node) return g->piece[i].target_count;
    return 0;
}

static BrioStatus read_channel(Glb *g, int32_t animation, int32_t value, int64_t number)
{
    const BrioJsonFile *j = &g->json;
    Channel *c = &g->channel[g->channel_count];
    int32_t target = brio__gltf_get(j, value, "target");
    int32_t path = brio__gltf_get(j, target, "path");
    int32_t sampler = brio__gltf_at(j, brio__gltf_get(j, animation, "samplers"),
                                    brio__gltf_index(j, brio__gltf_get(j, value, "sampler")));
    int32_t how = brio__gltf_get(j, sampler, "interpolation");
    *c = (Channel){.node = brio__gltf_index(j, brio__gltf_get(j, target, "node")), .path = PATHS};
    for (int i = 0; i < PATHS; i++)
        if (brio__gltf_is(j, path, path_names[i])) c->path = i;
    if (c->node < 0 || c->path == PATHS) return BRIO_OK; /* of an extension */
    if (c->node >= g->node_count) return bad(g, "channel", number);
    g->channel_count++;
    c->step = brio__gltf_is(j, how, "STEP");
    c->cubic = brio__gltf_is(j, how, "CUBICSPLINE");
    int width = channel_width(g, c);
    BRIO_CHECK(read_named(g, sampler, "input", 1, &c->time));
    BRIO_CHECK(read_named(g, sampler, "output", c->path == WEIGHTS ? 1 : width, &c->output));
    int64_t per = (c->path == WEIGHTS ? width : 1) * (c->cubic ? 3 : 1);
    bool rises = c->time.value && c->output.value && width > 0;
    if (!rises || c->output.count != c->time.count * per) return bad(g, "channel", number);
    for (int64_t k = 1; k < c->time.count; k++) rises &= c->time.value[k] > c->time.value[k - 1];
    return rises ? BRIO_OK : bad(g, "channel", number);
}

static BrioStatus read_animation(Glb *g)
{
    const BrioJsonFile *j = &g->json;
    int32_t animation = entry(g, "animations", 0);
    int32_t list = brio__gltf_get(j, animation, "channels");
    int32_t value = brio__gltf_count(j, list) ? j->value[list].first : 0;
    g->channel = brio__calloc((size_t)brio__gltf_count(j, list) + 1, sizeof *g->channel);
    if (!g->channel) return brio__no_memory(g->error);
    for (int64_t k = 0; value; value = j->value[value].next, k++)
        BRIO_CHECK(read_channel(g, animation, value, k));
    return BRIO_OK;
}

/* q of two quaternions, at a constant rate along the shorter way. */
static void turn_between(const double *a, const double *b, double part, double *q)
{
    double dot = 0, sign = 1;
    for (int i = 0; i < 4; i++) dot += a[i] * b[i];
    if (dot < 0) sign = -1, dot = -dot;
    double angle = acos(fmin(dot, 1)), s = sin(angle);
    double wa = s > 1e-9 ? sin((1 - part) * angle) / s : 1 - part;
    double wb = s > 1e-9 ? sin(part * angle) / s : part;
    for (int i = 0; i < 4; i++) q[i] = wa * a[i] + sign * wb * b[i];
}

/* The channel's numbers at a time. */
static void sample(const Channel *c, int width, double time, double *out)
{
    BrioFramePlace at = brio__frame_place(c->time.value, 1, c->time.count, time);
    int64_t each = c->cubic ? 3 * width : width, middle = c->cubic ? width : 0;
    const double *a = c->output.value + at.frame * each + middle;
    const double *b = c->output.value + at.next * each + middle;
    double p = time < c->time.value[0] ? 0 : at.part;
    if (c->step) p = 0;
    if (c->cubic && at.rate > 0) { /* Hermite: values between in- and out-tangents */
        double h = 1 / at.rate, p2 = p * p, p3 = p2 * p;
        for (int i = 0; i < width; i++)
            out[i] = (2 * p3 - 3 * p2 + 1) * a[i] + h * (p3 - 2 * p2 + p) * a[width + i] +
                     (3 * p2 - 2 * p3) * b[i] + h * (p3 - p2) * b[i - width];
    } else if (c->path == ROTATION) {
        turn_between(a, b, p, out);
    } else {
        for (int i = 0; i < width; i++) out[i] = a[i] + p * (b[i] - a[i]);
    }
}

static void pose_nodes(Glb *g, double time)
{
    static const int place[] = {0, 3, 7};
    for (int64_t i = 0; i < g->channel_count; i++) {
        const Channel *c = &g->channel[i];
        int width = channel_width(g, c);
        if (c->path != WEIGHTS) {
            g->node[c->node].matrix = false;
            sample(c, width, time, g->node[c->node].trs + place[c->path]);
        }
        for (int64_t k = 0; c->path == WEIGHTS && k < g->piece_count; k++)
            if (g->piece[k].node == c->node && g->piece[k].target_count == width)
                sample(c, width, time, g->piece[k].w);
    }
    for (int64_t i = 0; i < g->node_count; i++) {
        Node *n = &g->node[g->order[i]];
        if (!n->matrix) compose(n->trs, n->local);
        if (n->parent < 0)
            memcpy(n->global, n->local, sizeof n->local);
        else
            multiply(g->node[n->parent].global, n->local, n->global);
    }
}

static void transform(const double *m, const double *p, double weight, double *x)
{
    for (int r = 0; r < 3; r++)
        x[r] += weight * (m[r] * p[0] + m[4 + r] * p[1] + m[8 + r] * p[2] + m[12 + r]);
}

static BrioStatus place_piece(Glb *g, const Piece *p, double *x)
{
    const BrioJsonFile *j = &g->json;
    int32_t joints = brio__gltf_get(j, entry(g, "skins", p->skin), "joints");
    int64_t count = p->skin >= 0 ? brio__gltf_count(j, joints) : 0;
    double *matrix = brio__alloc(16 * (size_t)count + 1, sizeof *matrix);
    if (!matrix) return brio__no_memory(g->error);
    int32_t value = count ? j->value[joints].first : 0;
    for (int64_t k = 0; k < count; k++, value = j->value[value].next) {
        const double *global = g->node[brio__gltf_index(j, value)].global;
        memcpy(matrix + 16 * k, global, 16 * sizeof *matrix);
        if (p->bind.value) multiply(global, p->bind.value + 16 * k, matrix + 16 * k);
    }
    for (int64_t v = 0; v < p->base.count; v++) {
        double q[3], *to = x + 3 * v;
        memcpy(q, p->base.value + 3 * v, sizeof q);
        for (int i = 0; i < p->target_count; i++)
            for (int r = 0; p->w[i] != 0 && p->target[i].value && r < 3; r++)
                q[r] += p->w[i] * p->target[i].value[3 * v + r];
        to[0] = to[1] = to[2] = 0;
        if (p->skin < 0) transform(g->node[p->node].global, q, 1, to);
        for (int i = 0; p->skin >= 0 && i < 4 * p->set_count; i++) {
            double weight = p->weight[i / 4].value[4 * v + i % 4];
            int64_t joint = (int64_t)p->joint[i / 4].value[4 * v + i % 4];
            if (weight != 0) transform(matrix + 16 * joint, q, weight, to);
        }
    }
    brio__free(matrix);
    return BRIO_OK;
}

/* ---- frames ----------------------------------------------------------------------------- */

/* All times at which frames are taken, ascending, without repetition; at least one. */
static BrioStatus frame_times(Glb *g, double fps, double **times, int64_t *count)
{
    int64_t keys = 0, between = 0;
    double low = INFINITY, high = -INFINITY;
    bool curved = false;
    for (int64_t i = 0; i < g->channel_count; i++) {
        const Channel *c = &g->channel[i];
        keys += c->time.count;
        curved |= c->path == ROTATION || c->step || c->cubic;
        low = fmin(low, c->time.value[0]);
        high = fmax(high, c->time.value[c->time.count - 1]);
    }
    if (curved && high > low) between = (int64_t)fmin((high - low) * fps, 2. * MAX_FRAMES);
    *times = brio__calloc((size_t)(keys + between + 1), sizeof **times);
    if (!*times) return brio__no_memory(g->error);
    int64_t n = 0, kept = 0;
    for (int64_t i = 0; i < g->channel_count; i++)
        for (int64_t k = 0; k < g->channel[i].time.count; k++)
            (*times)[n++] = g->channel[i].time.value[k];
    for (int64_t k = 0; k < between; k++) (*times)[n++] = low + (double)k / fps;
    if (n == 0) n = 1; /* one frame, at 0 */
    qsort(*times, (size_t)n, sizeof **times, brio__ascending);
    for (int64_t k = 0; k < n; k++)
        if (kept == 0 || (*times)[k] > (*times)[kept - 1] + 1e-9) (*times)[kept++] = (*times)[k];
    *count = kept;
    if (kept <= MAX_FRAMES) return BRIO_OK;
    return brio__error_at(g->error, BRIO_ERROR_TOO_LARGE, g->file, 0, 0, NULL,
                          "has %lld frames at %g per second: the maximum is %d", (long long)kept,
                          fps, MAX_FRAMES);
}

static BrioStatus make_frames(Glb *g, double fps, double start, BrioSequence *read,
                              BrioSequence **out)
{
    double *times = NULL;
    int64_t count = 0;
    BrioStatus status = frame_times(g, fps, &times, &count);
    if (status == BRIO_OK) status = brio_sequence_create(count, read->vertex_count, out, g->error);
    for (int64_t k = 0; status == BRIO_OK && k < count; k++) {
        (*out)->time[k] = start + times[k];
        pose_nodes(g, times[k]);
        for (int64_t i = 0; status == BRIO_OK && i < g->piece_count; i++)
            status = place_piece(g, &g->piece[i],
                                 (*out)->x + 3 * (k * read->vertex_count + g->piece[i].first));
    }
    brio__free(times);
    BRIO_CHECK(status);
    (*out)->triangle = read->triangle;
    (*out)->triangle_count = read->triangle_count;
    read->triangle = NULL;
    return brio__sequence_weld(*out, g->error);
}

/* The two chunks of the file. */
static BrioStatus open_file(Glb *g, const char *bytes, size_t size)
{
    BrioError inner = {0};
    if (size < 20 || memcmp(bytes, "glTF", 4) ||
        brio__number_as_integer(bytes + 4, BRIO_UINT32, false) != 2)
        return brio__error_at(g->error, BRIO_ERROR_INPUT, g->file, 0, 0, NULL,
                              "does not begin with glTF and version 2: it is not a binary glTF "
                              "file");
    size_t json = (size_t)brio__number_as_integer(bytes + 12, BRIO_UINT32, false);
    if (json > size - 20 || memcmp(bytes + 16, "JSON", 4)) return bad(g, "chunk", 0);
    BrioStatus status = brio__gltf_parse(bytes + 20, json, &g->json, &inner);
    if (status != BRIO_OK)
        return brio__error_at(g->error, status, g->file, 0, 0, NULL, "%s", inner.message);
    g->root = 1;
    size_t at = 20 + json;
    if (at + 8 > size) return BRIO_OK; /* without data */
    g->bin_size = (size_t)brio__number_as_integer(bytes + at, BRIO_UINT32, false);
    if (g->bin_size > size - at - 8) return bad(g, "chunk", 1);
    g->bin = bytes + at + 8;
    return BRIO_OK;
}

static void release(Glb *g)
{
    for (int64_t i = 0; i < g->piece_count; i++) {
        Piece *p = &g->piece[i];
        for (int k = 0; k < p->target_count; k++) brio__free(p->target[k].value);
        for (int k = 0; k < p->set_count; k++) {
            brio__free(p->joint[k].value);
            brio__free(p->weight[k].value);
        }
        void *arrays[] = {p->base.value, p->bind.value, p->target, p->w};
        for (size_t k = 0; k < BRIO_COUNT(arrays); k++) brio__free(arrays[k]);
    }
    for (int64_t i = 0; i < g->channel_count; i++) {
        brio__free(g->channel[i].time.value);
        brio__free(g->channel[i].output.value);
    }
    brio__free(g->piece);
    brio__free(g->channel);
    brio__free(g->node);
    brio__free(g->order);
    brio__gltf_free(&g->json);
}

BrioStatus brio__sequence_glb(const char *file, const char *bytes, size_t size, double fps,
                              double start, BrioSequence **sequence, BrioError *error)
{
    Glb g = {.file = file, .error = error};
    BrioSequence read = {0};
    BrioStatus status = open_file(&g, bytes, size);
    if (status == BRIO_OK) status = read_nodes(&g);
    if (status == BRIO_OK) status = order_nodes(&g);
    for (int64_t i = 0; status == BRIO_OK && i < g.node_count; i++)
        if (g.node[i].mesh >= 0) status = add_pieces(&g, i, &read);
    if (status == BRIO_OK && read.vertex_count == 0)
        status = brio__error_at(error, BRIO_ERROR_INPUT, file, 0, 0, NULL, "has no mesh");
    if (status == BRIO_OK) status = read_animation(&g);
    if (status == BRIO_OK) status = make_frames(&g, fps, start, &read, sequence);
    brio__free(read.triangle);
    release(&g);
    return status;
}
