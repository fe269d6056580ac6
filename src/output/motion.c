/* Which vertices are seen, their numbers of 24 bits in a frame, and the file read again; what a
 * file claims is checked before memory is taken for it. */
#include "motion.h"

#include "../contact/obstacle.h"
#include "../memory_text.h"
#include "../writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char letters[8] = "brio-mot";
/* Version 1 had 16 bits per coordinate, and no surfaces, faces and velocities; it is still read. */
enum { VERSION = 2, OLDEST = 1, LEVELS = (1 << 24) - 1 };
#define BYTE_ORDER_MARK 0x01020304u

/* ---- what there is to see --------------------------------------------------------------- */

/* Of one coordinate in a frame. */
static size_t number_bytes(const BrioMotionFile *m) { return m->old ? 2 : 3; }

static size_t part_bytes(const BrioMotionFile *m, const BrioMotionPart *p)
{
    return 4 * sizeof(float) + 3 * number_bytes(m) * (size_t)p->carrier_count;
}

static BrioStatus measure(BrioMotionFile *m)
{
    int32_t max = 0;
    m->frame_bytes = sizeof(double);
    m->vertex_count = 0;
    for (int i = 0; i < m->part_count; i++) {
        BrioMotionPart *p = &m->part[i];
        p->offset = m->frame_bytes;
        m->frame_bytes += p->still ? 0 : part_bytes(m, p) * (m->velocities ? 2 : 1);
        m->vertex_count += p->vertex_count;
        max = BRIO_MAX(max, p->carrier_count);
    }
    m->scratch = brio__alloc(3 * (size_t)max + 1, sizeof *m->scratch);
    m->buffer = brio__calloc(m->frame_bytes, 1);
    return m->scratch && m->buffer ? BRIO_OK : BRIO_ERROR_MEMORY;
}

/* `carriers` vertices that are kept; `weights` entries that make the others of them, 0: they are
 * the vertices. */
static BrioStatus room_for(BrioMotionPart *p, const char *name, int64_t vertices, int64_t carriers,
                           int64_t weights, int64_t triangles, int64_t edges)
{
    p->name = brio__strdup(name ? name : "");
    p->vertex = brio__calloc((size_t)carriers + 1, sizeof *p->vertex);
    p->rest = brio__calloc(3 * (size_t)vertices + 1, sizeof *p->rest);
    p->triangle = brio__calloc(3 * (size_t)triangles + 1, sizeof *p->triangle);
    p->edge = brio__calloc(2 * (size_t)edges + 1, sizeof *p->edge);
    p->vertex_count = (int32_t)vertices;
    p->carrier_count = (int32_t)carriers;
    p->triangle_count = (int32_t)triangles;
    p->edge_count = (int32_t)edges;
    if (weights) {
        p->start = brio__calloc((size_t)vertices + 1, sizeof *p->start);
        p->carrier = brio__calloc((size_t)weights, sizeof *p->carrier);
        p->weight = brio__calloc((size_t)weights, sizeof *p->weight);
        if (!p->start || !p->carrier || !p->weight) return BRIO_ERROR_MEMORY;
    }
    return p->name && p->vertex && p->rest && p->triangle && p->edge ? BRIO_OK : BRIO_ERROR_MEMORY;
}

static BrioStatus room(BrioMotionPart *p, const char *name, int64_t vertices, int64_t triangles,
                       int64_t edges)
{
    return room_for(p, name, vertices, vertices, 0, triangles, edges);
}

/* Numbers the vertices that elements use, in ascending order: place[v] is the part's own number. */
static BrioStatus number_vertices(int64_t count, const int32_t *nodes, int64_t node_count,
                                  int32_t **place, int64_t *used)
{
    int32_t *at = brio__calloc((size_t)count + 1, sizeof *at);
    *place = at;
    *used = 0;
    if (!at) return BRIO_ERROR_MEMORY;
    for (int64_t k = 0; k < node_count; k++) at[nodes[k]] = 1;
    for (int64_t v = 0; v < count; v++)
        if (at[v] || node_count == 0) at[v] = (int32_t)(*used)++;
    return BRIO_OK;
}

/* A surface that rides on the body. */
static BrioStatus add_embedded(BrioMotionPart *p, const BrioBody *b)
{
    const BrioSkin *skin = b->skin;
    int64_t weights = skin->start[skin->vertex_count], used;
    int32_t *place;
    BrioStatus status = weights <= INT32_MAX
                            ? number_vertices(b->count, skin->node, weights, &place, &used)
                            : BRIO_ERROR_TOO_LARGE;
    if (status != BRIO_OK) return status;
    status = room_for(p, b->name, skin->vertex_count, used, weights, skin->triangle_count, 0);
    if (status == BRIO_OK) {
        p->first = b->first;
        for (int64_t k = 0; k < weights; k++) {
            p->carrier[k] = place[skin->node[k]];
            p->vertex[place[skin->node[k]]] = skin->node[k];
            p->weight[k] = skin->weight[k];
        }
        for (int64_t v = 0; v <= skin->vertex_count; v++) p->start[v] = (int32_t)skin->start[v];
        for (int64_t k = 0; k < 3 * skin->vertex_count; k++) p->rest[k] = (float)skin->rest[k];
        memcpy(p->triangle, skin->triangle, 3 * (size_t)skin->triangle_count * sizeof *p->triangle);
        if (skin->faces && !(p->faces = brio__faces_copy(skin->faces))) status = BRIO_ERROR_MEMORY;
    }
    brio__free(place);
    return status;
}

static BrioStatus add_body(BrioMotionFile *m, const BrioBody *b, const double *rest)
{
    BrioMotionPart *p = &m->part[m->part_count++];
    if (b->skin && b->skin->weight) return add_embedded(p, b);
    bool surface = b->triangle_count > 0;
    const int32_t *nodes = surface ? b->triangle : b->edge;
    int64_t node_count = surface ? 3 * b->triangle_count : 2 * b->edge_count, used;
    int32_t *place;
    BrioStatus status = number_vertices(b->count, nodes, node_count, &place, &used);
    if (status == BRIO_OK)
        status =
            room(p, b->name, used, surface ? b->triangle_count : 0, surface ? 0 : b->edge_count);
    if (status == BRIO_OK) {
        p->first = b->first;
        p->closed = b->tet_count > 0 || b->mass_point >= 0;
        for (int64_t k = 0; k < node_count; k++) {
            (surface ? p->triangle : p->edge)[k] = place[nodes[k]];
            p->vertex[place[nodes[k]]] = nodes[k];
        }
        for (int64_t v = 0; node_count == 0 && v < b->count; v++) p->vertex[v] = (int32_t)v;
        for (int64_t v = 0; v < used; v++)
            for (int r = 0; r < 3; r++)
                p->rest[3 * v + r] = (float)rest[3 * (b->first + p->vertex[v]) + r];
    }
    if (status == BRIO_OK && b->skin) {
        p->faces = brio__faces_copy(b->skin->faces);
        if (!p->faces) status = BRIO_ERROR_MEMORY;
        for (int32_t c = 0; p->faces && c < p->faces->start[p->faces->count]; c++)
            p->faces->vertex[c] = place[p->faces->vertex[c]];
    }
    brio__free(place);
    return status;
}

static BrioStatus add_mesh_obstacle(BrioMotionFile *m, const BrioSystem *s, const BrioObstacle *o,
                                    const double *x)
{
    BrioMotionPart *p = &m->part[m->part_count++];
    p->kind = BRIO_MOTION_OBSTACLE;
    p->first = o->first;
    BRIO_CHECK(room(p, o->name, o->count, o->triangle_count, o->edge_count));
    if (o->triangle_count)
        memcpy(p->triangle, o->triangle, 3 * (size_t)o->triangle_count * sizeof *p->triangle);
    if (o->edge_count) memcpy(p->edge, o->edge, 2 * (size_t)o->edge_count * sizeof *p->edge);
    if (o->faces && !(p->faces = brio__faces_copy(o->faces))) return BRIO_ERROR_MEMORY;
    p->still = true;
    for (int64_t v = 0; v < o->count; v++) {
        p->vertex[v] = (int32_t)v;
        for (int r = 0; r < 3; r++) p->rest[3 * v + r] = (float)x[3 * (o->first + v) + r];
    }
    for (int k = 0; k < s->scripted_count; k++)
        for (int64_t i = 0; i < s->scripted[k].count; i++) {
            int64_t vertex = s->fixed[s->scripted[k].fixed[i]];
            if (vertex >= o->first && vertex < o->first + o->count) p->still = false;
        }
    return BRIO_OK;
}

/* A constraint that is drawn between two vertices. */
static bool is_drawn(const BrioConstraint *c)
{
    return c->type->drawn && c->point[0].count == 1 && c->point[1].count == 1;
}

static BrioStatus add_rods(BrioMotionFile *m, const BrioSystem *s, const double *x)
{
    int64_t count = 0, k = 0;
    for (int i = 0; i < s->constraint_count; i++) count += is_drawn(&s->constraint[i]);
    if (count == 0) return BRIO_OK;
    BrioMotionPart *p = &m->part[m->part_count++];
    p->kind = BRIO_MOTION_RODS;
    BRIO_CHECK(room(p, "rods", 2 * count, 0, count));
    for (int i = 0; i < s->constraint_count; i++)
        for (int end = 0; is_drawn(&s->constraint[i]) && end < 2; end++, k++) {
            p->vertex[k] = s->constraint[i].point[end].vertex[0];
            p->edge[k] = (int32_t)k;
            for (int r = 0; r < 3; r++)
                p->rest[3 * k + r] = (float)x[3 * (int64_t)p->vertex[k] + r];
        }
    return BRIO_OK;
}

/* An obstacle with a formula, as its type draws it. Its data stand with every vertex that may meet
 * it. */
static BrioStatus add_formula_obstacle(BrioMotionFile *m, const BrioSystem *s,
                                       const BrioObstacle *o)
{
    const BrioTerm *term = &s->term[s->analytic_term + o->analytic];
    double data[BRIO_SOLID_REST];
    if (term->elements == 0) return BRIO_OK; /* nothing may meet it */
    for (int k = 0; k < term->energy->rest; k++) data[k] = term->rest[k * LANES];
    const BrioObstacleType *type = brio__obstacle_type(term->energy->obstacle);
    if (!type->mesh) {
        for (int r = 0; r < 3; r++) {
            m->plane[m->plane_count][r] = (float)data[4 + r];
            m->plane[m->plane_count][3 + r] = (float)data[1 + r];
        }
        m->plane_count++;
        return BRIO_OK;
    }
    BrioMesh *mesh = NULL;
    BRIO_CHECK(type->mesh(data, term->table, &mesh, NULL));
    BrioMotionPart *p = &m->part[m->part_count++];
    p->kind = BRIO_MOTION_OBSTACLE;
    p->still = true;
    BrioStatus status = room(p, o->name, mesh->vertex_count, mesh->triangle_count, 0);
    for (int64_t v = 0; status == BRIO_OK && v < mesh->vertex_count; v++) {
        p->vertex[v] = (int32_t)v;
        for (int r = 0; r < 3; r++) p->rest[3 * v + r] = (float)mesh->x[3 * v + r];
    }
    if (status == BRIO_OK)
        memcpy(p->triangle, mesh->triangle, 3 * (size_t)mesh->triangle_count * sizeof *p->triangle);
    brio_mesh_free(mesh);
    return status;
}

static BrioStatus describe(BrioMotionFile *m, const BrioSystem *s, const double *rest,
                           const double *x)
{
    m->part = brio__calloc((size_t)brio__owner_count(s) + 1, sizeof *m->part);
    m->plane = brio__calloc((size_t)s->analytic_count + 1, sizeof *m->plane);
    if (!m->part || !m->plane) return BRIO_ERROR_MEMORY;
    for (int i = 0; i < s->body_count; i++) BRIO_CHECK(add_body(m, &s->body[i], rest));
    for (int i = 0; i < s->obstacle_count; i++)
        BRIO_CHECK(s->obstacle[i].analytic >= 0 ? add_formula_obstacle(m, s, &s->obstacle[i])
                                                : add_mesh_obstacle(m, s, &s->obstacle[i], x));
    return add_rods(m, s, x);
}

BrioStatus brio__motion_create(const BrioSystem *system, const double *rest, const double *x,
                               double fps, double frames, bool velocities, BrioMotionFile **motion)
{
    BrioMotionFile *m = brio__calloc(1, sizeof *m);
    *motion = m;
    if (!m) return BRIO_ERROR_MEMORY;
    m->fps = fps;
    m->velocities = velocities;
    BrioStatus status = describe(m, system, rest, x);
    if (status == BRIO_OK) status = measure(m);
    m->stride =
        (int64_t)fmin(fmax(ceil(frames * (double)m->frame_bytes / BRIO_MOTION_MAX), 1), 1e15);
    if (status == BRIO_OK) return BRIO_OK;
    brio__motion_free(m);
    *motion = NULL;
    return status;
}

void brio__motion_free(BrioMotionFile *m)
{
    if (!m) return;
    for (int i = 0; m->part && i < m->part_count; i++) {
        brio__free(m->part[i].name);
        brio__free(m->part[i].vertex);
        brio__free(m->part[i].rest);
        brio__free(m->part[i].triangle);
        brio__free(m->part[i].edge);
        brio__free(m->part[i].start);
        brio__free(m->part[i].carrier);
        brio__free(m->part[i].weight);
        brio__faces_free(m->part[i].faces);
    }
    brio__free(m->part);
    brio__free(m->plane);
    brio__free(m->time);
    brio__free(m->buffer);
    brio__free(m->scratch);
    if (m->file) fclose(m->file);
    brio__free(m);
}

/* ---- writing ---------------------------------------------------------------------------- */

/* What the head says of a part, and in what order. */
enum {
    NAME,
    KIND,
    CLOSED,
    STILL,
    VERTICES,
    CARRIERS,
    WEIGHTS,
    TRIANGLES,
    EDGES,
    FACES,
    CORNERS,
    UVS,
    NORMALS,
    GROUPS,
    PART_HEAD
};

static void put(FILE *file, const void *data,
                size_t size) /* into memory: what fails shows when it is closed */
{
    if (size) fwrite(data, 1, size, file);
}

static void put_faces(FILE *file, const BrioFaces *f)
{
    size_t corners = (size_t)f->start[f->count];
    put(file, f->start, ((size_t)f->count + 1) * sizeof *f->start);
    put(file, f->vertex, corners * sizeof *f->vertex);
    if (f->uv) put(file, f->uv, 2 * (size_t)f->uv_count * sizeof *f->uv);
    if (f->corner_uv) put(file, f->corner_uv, corners * sizeof *f->corner_uv);
    if (f->corner_normal) put(file, f->corner_normal, corners * sizeof *f->corner_normal);
    if (f->face_group) put(file, f->face_group, (size_t)f->count * sizeof *f->face_group);
    for (int32_t g = 0; g < f->group_count; g++) {
        int32_t length = (int32_t)strlen(f->group[g]);
        put(file, &length, sizeof length);
        put(file, f->group[g], (size_t)length);
    }
}

static void put_part(FILE *file, const BrioMotionPart *p)
{
    const BrioFaces *f = p->faces;
    int32_t weights = p->weight ? p->start[p->vertex_count] : 0;
    int32_t head[PART_HEAD] = {[NAME] = (int32_t)strlen(p->name),
                               [KIND] = p->kind,
                               [CLOSED] = p->closed,
                               [STILL] = p->still,
                               [VERTICES] = p->vertex_count,
                               [CARRIERS] = p->carrier_count,
                               [WEIGHTS] = weights,
                               [TRIANGLES] = p->triangle_count,
                               [EDGES] = p->edge_count,
                               [FACES] = f ? (int32_t)f->count : 0,
                               [CORNERS] = f ? f->start[f->count] : 0,
                               [UVS] = f ? (int32_t)f->uv_count : 0,
                               [NORMALS] = f ? (int32_t)f->normal_count : 0,
                               [GROUPS] = f ? f->group_count : 0};
    put(file, head, sizeof head);
    put(file, p->name, (size_t)head[NAME]);
    put(file, p->vertex, (size_t)p->carrier_count * sizeof *p->vertex);
    put(file, p->rest, 3 * (size_t)p->vertex_count * sizeof *p->rest);
    put(file, p->triangle, 3 * (size_t)p->triangle_count * sizeof *p->triangle);
    put(file, p->edge, 2 * (size_t)p->edge_count * sizeof *p->edge);
    if (weights) {
        put(file, p->start, ((size_t)p->vertex_count + 1) * sizeof *p->start);
        put(file, p->carrier, (size_t)weights * sizeof *p->carrier);
        put(file, p->weight, (size_t)weights * sizeof *p->weight);
    }
    if (f) put_faces(file, f);
}

BrioStatus brio__motion_head(const BrioMotionFile *m, char **bytes, size_t *size)
{
    FILE *file = open_memstream(bytes, size);
    uint32_t first[4] = {VERSION, BYTE_ORDER_MARK, 0, 0};
    int32_t counts[4] = {m->part_count, m->plane_count, m->velocities, 0};
    if (!file) return BRIO_ERROR_MEMORY;
    put(file, letters, sizeof letters);
    put(file, first, sizeof first);
    put(file, &m->fps, sizeof m->fps);
    put(file, &m->stride, sizeof m->stride);
    put(file, counts, sizeof counts);
    for (int i = 0; i < m->part_count; i++) put_part(file, &m->part[i]);
    put(file, m->plane, (size_t)m->plane_count * sizeof *m->plane);
    BRIO_CHECK(brio__text_close(file, bytes));
    uint64_t length = *size;
    memcpy(*bytes + sizeof letters + 2 * sizeof(uint32_t), &length, sizeof length);
    return BRIO_OK;
}

static void encode(const BrioMotionPart *p, const double *world, unsigned char *at)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int v = 0; v < p->carrier_count; v++)
        for (int r = 0; r < 3; r++) {
            double value = world[3 * (p->first + p->vertex[v]) + r];
            low[r] = fmin(low[r], value);
            high[r] = fmax(high[r], value);
        }
    float head[4] = {(float)low[0], (float)low[1], (float)low[2], 0};
    for (int r = 0; r < 3; r++) head[r] = nextafterf(head[r], -INFINITY); /* rounded down */
    double span = fmax(high[0] - head[0], fmax(high[1] - head[1], high[2] - head[2])) / LEVELS;
    head[3] = nextafterf((float)fmax(span, 1e-30), INFINITY);
    memcpy(at, head, sizeof head);
    at += sizeof head;
    for (int v = 0; v < p->carrier_count; v++)
        for (int r = 0; r < 3; r++, at += 3) {
            double level = (world[3 * (p->first + p->vertex[v]) + r] - head[r]) / head[3] + 0.5;
            uint32_t number = (uint32_t)fmin(fmax(level, 0), LEVELS);
            at[0] = number & 255, at[1] = number >> 8 & 255, at[2] = (unsigned char)(number >> 16);
        }
}

void brio__motion_frame(BrioMotionFile *m, double time, const double *x, const double *v)
{
    memcpy(m->buffer, &time, sizeof time);
    for (int i = 0; i < m->part_count; i++) {
        const BrioMotionPart *p = &m->part[i];
        if (p->still) continue;
        encode(p, x, m->buffer + p->offset);
        if (m->velocities) encode(p, v, m->buffer + p->offset + part_bytes(m, p));
    }
}

/* ---- vertices from what carries them ---------------------------------------------------- */

static void carry(const BrioMotionPart *p, int v, const double *carriers, double point[3])
{
    point[0] = point[1] = point[2] = 0;
    for (int32_t k = p->start[v]; k < p->start[v + 1]; k++)
        for (int r = 0; r < 3; r++)
            point[r] += p->weight[k] * carriers[3 * (size_t)p->carrier[k] + r];
}

void brio__motion_seen(BrioMotionFile *m, const double *world, bool velocities, double *seen)
{
    for (int i = 0; i < m->part_count; i++) {
        const BrioMotionPart *p = &m->part[i];
        double *carriers = p->weight ? m->scratch : seen;
        for (int64_t k = 0; p->still && k < 3 * (int64_t)p->vertex_count; k++)
            seen[k] = velocities ? 0 : p->rest[k];
        for (int v = 0; !p->still && v < p->carrier_count; v++)
            memcpy(carriers + 3 * (size_t)v, world + 3 * (p->first + p->vertex[v]),
                   3 * sizeof *seen);
        for (int v = 0; p->weight && v < p->vertex_count; v++)
            carry(p, v, carriers, seen + 3 * (size_t)v);
        seen += 3 * (size_t)p->vertex_count;
    }
}

/* ---- reading ---------------------------------------------------------------------------- */

static bool get(FILE *file, void *data, size_t size) { return fread(data, 1, size, file) == size; }

static bool numbers_below(const int32_t *numbers, int64_t count, int32_t max)
{
    for (int64_t k = 0; k < count; k++)
        if (numbers[k] < 0 || numbers[k] >= max) return false;
    return true;
}

/* Arrays of a face whose sizes were taken from the head; everything else in them is judged here. */
static bool read_faces(FILE *file, const int32_t *head, BrioMotionPart *p)
{
    BrioFaces *f =
        brio__faces_create(head[FACES], head[CORNERS], head[UVS], head[NORMALS], head[GROUPS]);
    size_t corners = (size_t)head[CORNERS];
    p->faces = f;
    if (!f || !get(file, f->start, ((size_t)f->count + 1) * sizeof *f->start) ||
        !get(file, f->vertex, corners * sizeof *f->vertex))
        return false;
    if (f->uv && !(get(file, f->uv, 2 * (size_t)f->uv_count * sizeof *f->uv) &&
                   get(file, f->corner_uv, corners * sizeof *f->corner_uv)))
        return false;
    if (f->corner_normal && !get(file, f->corner_normal, corners * sizeof *f->corner_normal))
        return false;
    if (f->face_group && !get(file, f->face_group, (size_t)f->count * sizeof *f->face_group))
        return false;
    for (int32_t g = 0; g < f->group_count; g++) {
        char name[256];
        int32_t length;
        if (!get(file, &length, sizeof length) || length < 0 || length >= (int32_t)sizeof name ||
            !get(file, name, (size_t)length))
            return false;
        name[length] = 0;
        if (!(f->group[g] = brio__strdup(name))) return false;
    }
    if (f->start[0] != 0 || f->start[f->count] != head[CORNERS] ||
        brio__faces_triangles(f) != p->triangle_count)
        return false;
    for (int64_t k = 0; k < f->count; k++) {
        if (f->start[k + 1] < (int64_t)f->start[k] + 3) return false;
        if (f->face_group && (f->face_group[k] < -1 || f->face_group[k] >= f->group_count))
            return false;
    }
    for (size_t c = 0; c < corners; c++)
        if ((f->corner_uv && (f->corner_uv[c] < -1 || f->corner_uv[c] >= f->uv_count)) ||
            (f->corner_normal &&
             (f->corner_normal[c] < -1 || f->corner_normal[c] >= f->normal_count)))
            return false;
    return numbers_below(f->vertex, (int64_t)corners, p->vertex_count);
}

static bool read_weights(FILE *file, int32_t weights, BrioMotionPart *p)
{
    if (!get(file, p->start, ((size_t)p->vertex_count + 1) * sizeof *p->start) ||
        !get(file, p->carrier, (size_t)weights * sizeof *p->carrier) ||
        !get(file, p->weight, (size_t)weights * sizeof *p->weight) || p->start[0] != 0 ||
        p->start[p->vertex_count] != weights)
        return false;
    for (int v = 0; v < p->vertex_count; v++)
        if (p->start[v + 1] < p->start[v]) return false;
    return numbers_below(p->carrier, weights, p->carrier_count);
}

/* The numbers of a part; version 1 had half of them. */
static bool read_part_head(FILE *file, bool old, int32_t head[PART_HEAD])
{
    int32_t first[7];
    if (!old) return get(file, head, PART_HEAD * sizeof *head);
    if (!get(file, first, sizeof first)) return false;
    memset(head, 0, PART_HEAD * sizeof *head);
    head[NAME] = first[0], head[KIND] = first[1], head[CLOSED] = first[2], head[STILL] = first[3];
    head[VERTICES] = head[CARRIERS] = first[4];
    head[TRIANGLES] = first[5], head[EDGES] = first[6];
    return true;
}

static bool read_part(FILE *file, bool old, int64_t left, BrioMotionPart *p)
{
    int32_t head[PART_HEAD];
    char name[4096];
    if (!read_part_head(file, old, head)) return false;
    for (int k = 0; k < PART_HEAD; k++)
        if (head[k] < 0) return false;
    int64_t min = 12 * (int64_t)head[VERTICES] + 4 * (int64_t)head[CARRIERS] +
                  12 * (int64_t)head[WEIGHTS] + 12 * (int64_t)head[TRIANGLES] +
                  8 * (int64_t)head[EDGES] + 4 * (int64_t)head[FACES] + 4 * (int64_t)head[CORNERS] +
                  16 * (int64_t)head[UVS] + 4 * (int64_t)head[GROUPS];
    if (head[NAME] >= (int32_t)sizeof name || head[KIND] >= BRIO_MOTION_KINDS || min > left)
        return false;
    if (head[WEIGHTS] ? head[STILL] : head[CARRIERS] != head[VERTICES]) return false;
    if (!get(file, name, (size_t)head[NAME])) return false;
    name[head[NAME]] = 0;
    if (room_for(p, name, head[VERTICES], head[CARRIERS], head[WEIGHTS], head[TRIANGLES],
                 head[EDGES]) != BRIO_OK)
        return false;
    p->kind = head[KIND];
    p->closed = head[CLOSED];
    p->still = head[STILL];
    return get(file, p->vertex, (size_t)p->carrier_count * sizeof *p->vertex) &&
           get(file, p->rest, 3 * (size_t)p->vertex_count * sizeof *p->rest) &&
           get(file, p->triangle, 3 * (size_t)p->triangle_count * sizeof *p->triangle) &&
           get(file, p->edge, 2 * (size_t)p->edge_count * sizeof *p->edge) &&
           numbers_below(p->triangle, 3 * (int64_t)p->triangle_count, p->vertex_count) &&
           numbers_below(p->edge, 2 * (int64_t)p->edge_count, p->vertex_count) &&
           (head[WEIGHTS] == 0 || read_weights(file, head[WEIGHTS], p)) &&
           (head[FACES] == 0 || read_faces(file, head, p));
}

static bool read_head(BrioMotionFile *m, int64_t bytes)
{
    int32_t counts[4] = {0};
    if (!get(m->file, &m->fps, sizeof m->fps) || !get(m->file, &m->stride, sizeof m->stride) ||
        !get(m->file, counts, m->old ? 2 * sizeof *counts : sizeof counts))
        return false;
    if (!(m->fps > 0) || m->stride < 1 || counts[0] < 0 || counts[1] < 0 ||
        (int64_t)counts[0] + counts[1] > bytes / 8)
        return false;
    m->velocities = counts[2];
    m->part = brio__calloc((size_t)counts[0] + 1, sizeof *m->part);
    m->plane = brio__calloc((size_t)counts[1] + 1, sizeof *m->plane);
    if (!m->part || !m->plane) return false;
    for (int i = 0; i < counts[0]; i++) {
        m->part_count++;
        if (!read_part(m->file, m->old, bytes, &m->part[i])) return false;
    }
    m->plane_count = counts[1];
    return get(m->file, m->plane, (size_t)counts[1] * sizeof *m->plane) &&
           ftello(m->file) == m->head_bytes;
}

static bool read_times(BrioMotionFile *m)
{
    for (int64_t k = 0; k < m->frame_count; k++) {
        if (fseeko(m->file, m->head_bytes + k * (int64_t)m->frame_bytes, SEEK_SET) ||
            !get(m->file, &m->time[k], sizeof m->time[k]))
            return false;
        if (!isfinite(m->time[k]) || (k > 0 && m->time[k] <= m->time[k - 1])) return false;
    }
    return true;
}

BrioStatus brio__motion_read(FILE *file, const char *name, BrioMotionFile **motion,
                             BrioError *error)
{
    BrioMotionFile *m = brio__calloc(1, sizeof *m);
    char found[8];
    uint32_t first[2];
    uint64_t length;
    struct stat info = {0};
    *motion = NULL;
    if (!m) {
        fclose(file);
        return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    }
    m->file = file;
    rewind(file);
    const char *why = NULL;
    if (fstat(fileno(file), &info) || !get(file, found, sizeof found) ||
        memcmp(found, letters, sizeof letters) || !get(file, first, sizeof first) ||
        !get(file, &length, sizeof length))
        why = "it is no motion that brio has written";
    else if (first[0] < OLDEST || first[0] > VERSION || first[1] != BYTE_ORDER_MARK)
        why = "it was written by another version of brio or on another kind of machine";
    else if (length > (uint64_t)info.st_size)
        why = "its head is not whole";
    if (!why) {
        m->head_bytes = (int64_t)length;
        m->old = first[0] < VERSION;
        if (!read_head(m, m->head_bytes)) why = "it is damaged";
    }
    if (!why) {
        bool fits = measure(m) == BRIO_OK;
        m->frame_count = ((int64_t)info.st_size - m->head_bytes) / (int64_t)m->frame_bytes;
        m->time = brio__calloc((size_t)m->frame_count + 1, sizeof *m->time);
        if (!m->time || !fits)
            why = "there is not enough memory";
        else if (!read_times(m))
            why = "the times of its frames do not ascend";
        else if (m->frame_count == 0)
            why = "it has no frames";
    }
    if (!why) {
        *motion = m;
        return BRIO_OK;
    }
    brio__motion_free(m);
    return brio__error(error, BRIO_ERROR_INPUT, "%s cannot be drawn: %s; run the scene again", name,
                       why);
}

BrioStatus brio__motion_open(const char *out, BrioMotionFile **motion, BrioError *error)
{
    char path[4200];
    struct stat info;
    *motion = NULL;
    if (stat(out, &info) || !S_ISDIR(info.st_mode)) return brio__no_folder(out, error);
    snprintf(path, sizeof path, "%s/%s", out, BRIO_MOTION_NAME);
    FILE *file = fopen(path, "r");
    if (!file && errno == ENOENT)
        return brio__error(error, BRIO_ERROR_FILE,
                           "%s has no %s, the stored motion: run the scene again without "
                           "`output: {motion: false}`",
                           out, BRIO_MOTION_NAME);
    if (!file)
        return brio__error(error, BRIO_ERROR_FILE, "cannot read %s: %s", path, strerror(errno));
    return brio__motion_read(file, path, motion, error);
}

/* Vertices of a part from its numbers in a frame. */
static void decode(BrioMotionFile *m, const BrioMotionPart *p, const unsigned char *at, float *x)
{
    float head[4];
    memcpy(head, at, sizeof head);
    at += sizeof head;
    for (int k = 0; k < 3 * p->carrier_count; k++, at += number_bytes(m))
        m->scratch[k] = head[k % 3] +
                        (double)head[3] * (double)(at[0] | at[1] << 8 | (m->old ? 0 : at[2] << 16));
    for (int k = 0; !p->weight && k < 3 * p->vertex_count; k++) x[k] = (float)m->scratch[k];
    for (int v = 0; p->weight && v < p->vertex_count; v++) {
        double point[3];
        carry(p, v, m->scratch, point);
        for (int r = 0; r < 3; r++) x[3 * (size_t)v + (size_t)r] = (float)point[r];
    }
}

static BrioStatus fetch(BrioMotionFile *m, int64_t k, size_t offset, size_t size, BrioError *error)
{
    if (fseeko(m->file, m->head_bytes + k * (int64_t)m->frame_bytes + (int64_t)offset, SEEK_SET) ||
        !get(m->file, m->buffer, size))
        return brio__error(error, BRIO_ERROR_FILE, "frame %lld of the motion cannot be read",
                           (long long)k);
    return BRIO_OK;
}

BrioStatus brio__motion_positions(BrioMotionFile *m, int64_t k, float *x, BrioError *error)
{
    BRIO_CHECK(fetch(m, k, 0, m->frame_bytes, error));
    for (int i = 0; i < m->part_count; i++) {
        const BrioMotionPart *p = &m->part[i];
        if (p->still)
            memcpy(x, p->rest, 3 * (size_t)p->vertex_count * sizeof *x);
        else
            decode(m, p, m->buffer + p->offset, x);
        x += 3 * (size_t)p->vertex_count;
    }
    return BRIO_OK;
}

BrioStatus brio__motion_part(BrioMotionFile *m, int64_t k, int part, float *x, BrioError *error)
{
    const BrioMotionPart *p = &m->part[part];
    if (p->still) {
        memcpy(x, p->rest, 3 * (size_t)p->vertex_count * sizeof *x);
        return BRIO_OK;
    }
    BRIO_CHECK(fetch(m, k, p->offset, part_bytes(m, p), error));
    decode(m, p, m->buffer, x);
    return BRIO_OK;
}

BrioStatus brio__motion_velocities(BrioMotionFile *m, int64_t k, int part, float *v, float *scratch,
                                   BrioError *error)
{
    const BrioMotionPart *p = &m->part[part];
    size_t count = 3 * (size_t)p->vertex_count;
    int64_t from = BRIO_MAX(k - 1, 0), to = BRIO_MIN(k + 1, m->frame_count - 1);
    if (p->still || (!m->velocities && from == to)) {
        memset(v, 0, count * sizeof *v);
        return BRIO_OK;
    }
    if (m->velocities) {
        BRIO_CHECK(fetch(m, k, p->offset + part_bytes(m, p), part_bytes(m, p), error));
        decode(m, p, m->buffer, v);
        return BRIO_OK;
    }
    BRIO_CHECK(brio__motion_part(m, from, part, scratch, error));
    BRIO_CHECK(brio__motion_part(m, to, part, v, error));
    for (size_t i = 0; i < count; i++)
        v[i] = (float)((v[i] - (double)scratch[i]) / (m->time[to] - m->time[from]));
    return BRIO_OK;
}

int64_t brio__motion_find(const BrioMotionFile *m, double time)
{
    int64_t low = 0, high = m->frame_count - 1;
    while (low < high) {
        int64_t middle = (low + high + 1) / 2;
        if (m->time[middle] <= time + 1e-6 / m->fps) /* times carry round-off */
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

BrioStatus brio__motion_at(BrioMotionFile *m, double time, float *x, float *scratch,
                           BrioError *error)
{
    int64_t k = brio__motion_find(m, time);
    BRIO_CHECK(brio__motion_positions(m, k, x, error));
    if (k + 1 >= m->frame_count || time <= m->time[k] + 1e-6 / m->fps) return BRIO_OK;
    BRIO_CHECK(brio__motion_positions(m, k + 1, scratch, error));
    float fraction = (float)((time - m->time[k]) / (m->time[k + 1] - m->time[k]));
    for (int64_t v = 0; v < 3 * m->vertex_count; v++) x[v] += fraction * (scratch[v] - x[v]);
    return BRIO_OK;
}

void brio__motion_box(const BrioMotionFile *m, int part, const float *x, float low[3],
                      float high[3])
{
    for (int i = 0; i < part; i++) x += 3 * (size_t)m->part[i].vertex_count;
    for (int r = 0; r < 3; r++) {
        low[r] = INFINITY;
        high[r] = -INFINITY;
        for (int v = 0; v < m->part[part].vertex_count; v++) {
            low[r] = fminf(low[r], x[3 * v + r]);
            high[r] = fmaxf(high[r], x[3 * v + r]);
        }
    }
}
