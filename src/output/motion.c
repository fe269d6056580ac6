#include "motion.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char letters[8] = "brio-mot";
enum { VERSION = 1, LEVELS = 65535, ROUND = 6 }; /* ROUND: segments of a quarter of a circle */
#define BYTE_ORDER_MARK 0x01020304u

/* ---- what there is to see ------------------------------------------------------------------------ */

static size_t part_bytes(const BrioMotionPart *p) { return p->still ? 0 : 4 * sizeof(float) + 3 * sizeof(uint16_t) * (size_t)p->vertex_count; }

static void measure(BrioMotionFile *m)
{
    m->frame_bytes = sizeof(double);
    m->vertex_count = 0;
    for (int i = 0; i < m->part_count; i++) {
        m->frame_bytes += part_bytes(&m->part[i]);
        m->vertex_count += m->part[i].vertex_count;
    }
}

static BrioStatus room(BrioMotionPart *p, const char *name, int64_t vertices, int64_t triangles, int64_t edges)
{
    p->name = brio__strdup(name ? name : "");
    p->vertex = brio__calloc((size_t)vertices + 1, sizeof *p->vertex);
    p->rest = brio__calloc(3 * (size_t)vertices + 1, sizeof *p->rest);
    p->triangle = brio__calloc(3 * (size_t)triangles + 1, sizeof *p->triangle);
    p->edge = brio__calloc(2 * (size_t)edges + 1, sizeof *p->edge);
    p->vertex_count = (int32_t)vertices;
    p->triangle_count = (int32_t)triangles;
    p->edge_count = (int32_t)edges;
    return p->name && p->vertex && p->rest && p->triangle && p->edge ? BRIO_OK : BRIO_ERROR_MEMORY;
}

/* Numbers the vertices that elements use, in ascending order: place[v] is the part's own number. */
static BrioStatus number_vertices(int64_t count, const int32_t *nodes, int64_t node_count, int32_t **place, int64_t *used)
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

static BrioStatus add_body(BrioMotionFile *m, const BrioBody *b, const double *rest)
{
    BrioMotionPart *p = &m->part[m->part_count++];
    bool surface = b->triangle_count > 0;
    const int32_t *nodes = surface ? b->triangle : b->edge;
    int64_t node_count = surface ? 3 * b->triangle_count : 2 * b->edge_count, used;
    int32_t *place;
    BrioStatus status = number_vertices(b->count, nodes, node_count, &place, &used);
    if (status == BRIO_OK) status = room(p, b->name, used, surface ? b->triangle_count : 0, surface ? 0 : b->edge_count);
    if (status == BRIO_OK) {
        p->first = b->first;
        p->closed = b->tet_count > 0 || b->mass_point >= 0;
        for (int64_t k = 0; k < node_count; k++) {
            (surface ? p->triangle : p->edge)[k] = place[nodes[k]];
            p->vertex[place[nodes[k]]] = nodes[k];
        }
        for (int64_t v = 0; node_count == 0 && v < b->count; v++) p->vertex[v] = (int32_t)v;
        for (int64_t v = 0; v < used; v++)
            for (int r = 0; r < 3; r++) p->rest[3 * v + r] = (float)rest[3 * (b->first + p->vertex[v]) + r];
    }
    brio__free(place);
    return status;
}

static BrioStatus add_mesh_obstacle(BrioMotionFile *m, const BrioSystem *s, const BrioObstacle *o, const double *x)
{
    BrioMotionPart *p = &m->part[m->part_count++];
    p->kind = BRIO_MOTION_OBSTACLE;
    p->first = o->first;
    BRIO_CHECK(room(p, o->name, o->count, o->triangle_count, 0));
    memcpy(p->triangle, o->triangle, 3 * (size_t)o->triangle_count * sizeof *p->triangle);
    p->still = true;
    for (int64_t v = 0; v < o->count; v++) {
        p->vertex[v] = (int32_t)v;
        for (int r = 0; r < 3; r++) p->rest[3 * v + r] = (float)x[3 * (o->first + v) + r];
    }
    for (int k = 0; k < s->scripted_count; k++)
        for (int64_t i = 0; i < s->scripted[k].count; i++) {
            int64_t vertex = s->held[s->scripted[k].held[i]];
            if (vertex >= o->first && vertex < o->first + o->count) p->still = false;
        }
    return BRIO_OK;
}

static BrioStatus add_rods(BrioMotionFile *m, const BrioSystem *s, const double *x)
{
    BrioMotionPart *p = &m->part[m->part_count++];
    p->kind = BRIO_MOTION_RODS;
    BRIO_CHECK(room(p, "rods", 2 * (int64_t)s->rod_count, 0, s->rod_count));
    for (int k = 0; k < 2 * s->rod_count; k++) {
        p->vertex[k] = s->rod[k / 2].vertex[k % 2];
        p->edge[k] = k;
        for (int r = 0; r < 3; r++) p->rest[3 * k + r] = (float)x[3 * (int64_t)p->vertex[k] + r];
    }
    return BRIO_OK;
}

/* A solid of penalty contact as triangles, from rings about its second axis: `ring` points each, joined, and closed by two fans. Corners
 * are half * sign + radius * n over all directions n, with each octant's own signs: so a box with round edges, a ball, a capsule. */
static BrioStatus add_solid(BrioMotionFile *m, const char *name, bool cylinder, const double solid[BRIO_SOLID_REST])
{
    int rings = cylinder ? 2 : 2 * (ROUND + 1), ring = cylinder ? 8 * ROUND : 4 * (ROUND + 1), next = 0;
    const double *centre = solid + 1, *half = solid + 10, *a = solid + 4, *b = solid + 7;
    double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]}, quarter = acos(0.0);
    BrioMotionPart *p = &m->part[m->part_count++];
    p->kind = BRIO_MOTION_OBSTACLE;
    p->still = true;
    BRIO_CHECK(room(p, name, (int64_t)rings * ring + 2, 2 * (int64_t)(rings - 1) * ring + 2 * (int64_t)ring, 0));
    for (int i = 0; i < rings; i++)
        for (int k = 0; k < ring; k++) {
            double y[3], up = i % (ROUND + 1) * quarter / ROUND - (i <= ROUND ? quarter : 0), turn = (k % (ROUND + 1) + k / (ROUND + 1) * ROUND) * quarter / ROUND;
            const double side[3] = {k / (ROUND + 1) == 0 || k / (ROUND + 1) == 3 ? 1 : -1, i <= ROUND ? -1 : 1, k / (ROUND + 1) < 2 ? 1 : -1};
            const double n[3] = {cos(up) * cos(turn), sin(up), cos(up) * sin(turn)};
            for (int r = 0; r < 3; r++) y[r] = half[r] * side[r] + solid[13] * n[r];
            if (cylinder) y[0] = half[0] * cos(k * quarter * 4 / ring), y[1] = i ? half[1] : -half[1], y[2] = half[0] * sin(k * quarter * 4 / ring);
            for (int r = 0; r < 3; r++) p->rest[3 * (i * ring + k) + r] = (float)(centre[r] + a[r] * y[0] + b[r] * y[1] + c[r] * y[2]);
        }
    for (int end = 0; end < 2; end++)
        for (int r = 0; r < 3; r++) p->rest[3 * (rings * ring + end) + r] = (float)(centre[r] + (end ? 1 : -1) * (half[1] + solid[13]) * b[r]);
    for (int k = 0; k < ring; k++) {
        int after = (k + 1) % ring;
        for (int i = 0; i + 1 < rings; i++) {
            const int32_t q[6] = {i * ring + k, (i + 1) * ring + k, (i + 1) * ring + after, i * ring + k, (i + 1) * ring + after, i * ring + after};
            memcpy(p->triangle + 3 * next, q, sizeof q);
            next += 2;
        }
        const int32_t caps[6] = {rings * ring, k, after, rings * ring + 1, (rings - 1) * ring + after, (rings - 1) * ring + k};
        memcpy(p->triangle + 3 * next, caps, sizeof caps);
        next += 2;
    }
    for (int v = 0; v < p->vertex_count; v++) p->vertex[v] = v;
    return BRIO_OK;
}

/* Planes and solids keep their data with every vertex that may meet them. */
static BrioStatus add_formula_obstacle(BrioMotionFile *m, const BrioSystem *s, const BrioObstacle *o)
{
    const BrioTerm *term = &s->term[s->plane_term + o->plane];
    double data[BRIO_SOLID_REST];
    if (term->elements == 0) return BRIO_OK; /* nothing may meet it */
    for (int k = 0; k < term->energy->rest; k++) data[k] = term->rest[k * LANES];
    if (term->energy->rest == BRIO_SOLID_REST) return add_solid(m, o->name, !strcmp(term->energy->name, "cylinder-penalty"), data);
    for (int r = 0; r < 3; r++) {
        m->plane[m->plane_count][r] = (float)data[4 + r];
        m->plane[m->plane_count][3 + r] = (float)data[1 + r];
    }
    m->plane_count++;
    return BRIO_OK;
}

static BrioStatus describe(BrioMotionFile *m, const BrioSystem *s, const double *rest, const double *x)
{
    m->part = brio__calloc((size_t)(s->body_count + s->obstacle_count + 1), sizeof *m->part);
    m->plane = brio__calloc((size_t)s->plane_count + 1, sizeof *m->plane);
    if (!m->part || !m->plane) return BRIO_ERROR_MEMORY;
    for (int i = 0; i < s->body_count; i++) BRIO_CHECK(add_body(m, &s->body[i], rest));
    for (int i = 0; i < s->obstacle_count; i++)
        BRIO_CHECK(s->obstacle[i].plane >= 0 ? add_formula_obstacle(m, s, &s->obstacle[i]) : add_mesh_obstacle(m, s, &s->obstacle[i], x));
    return s->rod_count ? add_rods(m, s, x) : BRIO_OK;
}

BrioStatus brio__motion_create(const BrioSystem *system, const double *rest, const double *x, double fps, double frames, BrioMotionFile **motion)
{
    BrioMotionFile *m = brio__calloc(1, sizeof *m);
    *motion = m;
    if (!m) return BRIO_ERROR_MEMORY;
    m->fps = fps;
    BrioStatus status = describe(m, system, rest, x);
    measure(m);
    m->stride = (int64_t)fmin(fmax(ceil(frames * (double)m->frame_bytes / BRIO_MOTION_MOST), 1), 1e15);
    if (status == BRIO_OK) m->buffer = brio__calloc(m->frame_bytes, 1);
    if (m->buffer) return BRIO_OK;
    brio__motion_free(m);
    *motion = NULL;
    return BRIO_ERROR_MEMORY;
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
    }
    brio__free(m->part);
    brio__free(m->plane);
    brio__free(m->time);
    brio__free(m->buffer);
    if (m->file) fclose(m->file);
    brio__free(m);
}

/* ---- writing ------------------------------------------------------------------------------------- */

static void put(FILE *file, const void *data, size_t size) { fwrite(data, 1, size, file); } /* into memory: what fails shows when it is closed */

BrioStatus brio__motion_head(const BrioMotionFile *m, char **bytes, size_t *size)
{
    FILE *file = open_memstream(bytes, size);
    uint32_t first[4] = {VERSION, BYTE_ORDER_MARK, 0, 0};
    int32_t counts[2] = {m->part_count, m->plane_count};
    if (!file) return BRIO_ERROR_MEMORY;
    put(file, letters, sizeof letters);
    put(file, first, sizeof first);
    put(file, &m->fps, sizeof m->fps);
    put(file, &m->stride, sizeof m->stride);
    put(file, counts, sizeof counts);
    for (int i = 0; i < m->part_count; i++) {
        const BrioMotionPart *p = &m->part[i];
        int32_t head[7] = {(int32_t)strlen(p->name), p->kind, p->closed, p->still, p->vertex_count, p->triangle_count, p->edge_count};
        put(file, head, sizeof head);
        put(file, p->name, (size_t)head[0]);
        put(file, p->vertex, (size_t)p->vertex_count * sizeof *p->vertex);
        put(file, p->rest, 3 * (size_t)p->vertex_count * sizeof *p->rest);
        put(file, p->triangle, 3 * (size_t)p->triangle_count * sizeof *p->triangle);
        put(file, p->edge, 2 * (size_t)p->edge_count * sizeof *p->edge);
    }
    put(file, m->plane, (size_t)m->plane_count * sizeof *m->plane);
    bool failed = ferror(file) != 0;
    if (fclose(file) || failed) {
        free(*bytes);
        *bytes = NULL;
        return BRIO_ERROR_MEMORY;
    }
    uint64_t length = *size;
    memcpy(*bytes + sizeof letters + 2 * sizeof(uint32_t), &length, sizeof length);
    return BRIO_OK;
}

void brio__motion_frame(BrioMotionFile *m, double time, const double *x)
{
    unsigned char *at = m->buffer;
    memcpy(at, &time, sizeof time);
    at += sizeof time;
    for (int i = 0; i < m->part_count; i++) {
        const BrioMotionPart *p = &m->part[i];
        double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
        if (p->still) continue;
        for (int v = 0; v < p->vertex_count; v++)
            for (int r = 0; r < 3; r++) {
                double value = x[3 * (p->first + p->vertex[v]) + r];
                low[r] = fmin(low[r], value);
                high[r] = fmax(high[r], value);
            }
        float head[4] = {(float)low[0], (float)low[1], (float)low[2], 0};
        for (int r = 0; r < 3; r++) head[r] = nextafterf(head[r], -INFINITY); /* rounded down */
        double span = fmax(high[0] - head[0], fmax(high[1] - head[1], high[2] - head[2])) / LEVELS;
        head[3] = nextafterf((float)fmax(span, 1e-30), INFINITY);
        memcpy(at, head, sizeof head);
        at += sizeof head;
        for (int v = 0; v < p->vertex_count; v++)
            for (int r = 0; r < 3; r++) {
                double level = (x[3 * (p->first + p->vertex[v]) + r] - head[r]) / head[3] + 0.5;
                uint16_t number = (uint16_t)fmin(fmax(level, 0), LEVELS);
                memcpy(at, &number, sizeof number);
                at += sizeof number;
            }
    }
}

/* ---- reading ------------------------------------------------------------------------------------- */

static bool get(FILE *file, void *data, size_t size) { return fread(data, 1, size, file) == size; }

static bool numbers_below(const int32_t *numbers, int64_t count, int32_t most)
{
    for (int64_t k = 0; k < count; k++)
        if (numbers[k] < 0 || numbers[k] >= most) return false;
    return true;
}

static bool read_part(FILE *file, int64_t left, BrioMotionPart *p)
{
    int32_t head[7];
    char name[4096];
    if (!get(file, head, sizeof head)) return false;
    for (int k = 0; k < 7; k++)
        if (head[k] < 0) return false;
    if (head[0] >= (int32_t)sizeof name || head[1] >= BRIO_MOTION_KINDS || 16 * (int64_t)head[4] + 12 * (int64_t)head[5] + 8 * (int64_t)head[6] > left) return false;
    if (!get(file, name, (size_t)head[0])) return false;
    name[head[0]] = 0;
    if (room(p, name, head[4], head[5], head[6]) != BRIO_OK) return false;
    p->kind = head[1];
    p->closed = head[2];
    p->still = head[3];
    return get(file, p->vertex, (size_t)head[4] * sizeof *p->vertex) && get(file, p->rest, 3 * (size_t)head[4] * sizeof *p->rest) &&
           get(file, p->triangle, 3 * (size_t)head[5] * sizeof *p->triangle) && get(file, p->edge, 2 * (size_t)head[6] * sizeof *p->edge) &&
           numbers_below(p->triangle, 3 * (int64_t)head[5], head[4]) && numbers_below(p->edge, 2 * (int64_t)head[6], head[4]);
}

static bool read_head(BrioMotionFile *m, int64_t bytes)
{
    int32_t counts[2];
    if (!get(m->file, &m->fps, sizeof m->fps) || !get(m->file, &m->stride, sizeof m->stride) || !get(m->file, counts, sizeof counts)) return false;
    if (!(m->fps > 0) || m->stride < 1 || counts[0] < 0 || counts[1] < 0 || (int64_t)counts[0] + counts[1] > bytes / 8) return false;
    m->part = brio__calloc((size_t)counts[0] + 1, sizeof *m->part);
    m->plane = brio__calloc((size_t)counts[1] + 1, sizeof *m->plane);
    if (!m->part || !m->plane) return false;
    for (int i = 0; i < counts[0]; i++) {
        m->part_count++;
        if (!read_part(m->file, bytes, &m->part[i])) return false;
    }
    m->plane_count = counts[1];
    return get(m->file, m->plane, (size_t)counts[1] * sizeof *m->plane) && ftello(m->file) == m->head_bytes;
}

static bool read_times(BrioMotionFile *m)
{
    for (int64_t k = 0; k < m->frame_count; k++) {
        if (fseeko(m->file, m->head_bytes + k * (int64_t)m->frame_bytes, SEEK_SET) || !get(m->file, &m->time[k], sizeof m->time[k])) return false;
        if (!isfinite(m->time[k]) || (k > 0 && m->time[k] <= m->time[k - 1])) return false;
    }
    return true;
}

BrioStatus brio__motion_read(FILE *file, const char *name, BrioMotionFile **motion, BrioError *error)
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
    if (fstat(fileno(file), &info) || !get(file, found, sizeof found) || memcmp(found, letters, sizeof letters) || !get(file, first, sizeof first) || !get(file, &length, sizeof length))
        why = "it is no motion that brio has written";
    else if (first[0] != VERSION || first[1] != BYTE_ORDER_MARK)
        why = "it was written by another version of brio or on another kind of machine";
    else if (length > (uint64_t)info.st_size)
        why = "its head is not whole";
    if (!why) {
        m->head_bytes = (int64_t)length;
        if (!read_head(m, m->head_bytes)) why = "it is damaged";
    }
    if (!why) {
        measure(m);
        m->frame_count = ((int64_t)info.st_size - m->head_bytes) / (int64_t)m->frame_bytes;
        m->time = brio__calloc((size_t)m->frame_count + 1, sizeof *m->time);
        m->buffer = brio__alloc(m->frame_bytes, 1);
        if (!m->time || !m->buffer)
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
    return brio__error(error, BRIO_ERROR_INPUT, "%s cannot be drawn: %s; run the scene again", name, why);
}

BrioStatus brio__motion_open(const char *out, BrioMotionFile **motion, BrioError *error)
{
    char path[4200];
    struct stat info;
    *motion = NULL;
    if (stat(out, &info) || !S_ISDIR(info.st_mode))
        return brio__error(error, BRIO_ERROR_FILE, "there is no folder \"%s\": give one that `brio run` has written", out);
    snprintf(path, sizeof path, "%s/%s", out, BRIO_MOTION_NAME);
    FILE *file = fopen(path, "r");
    if (!file && errno == ENOENT)
        return brio__error(error, BRIO_ERROR_FILE, "%s holds no motion (there is no %s): run the scene again, with output.motion not false", out, BRIO_MOTION_NAME);
    if (!file) return brio__error(error, BRIO_ERROR_FILE, "cannot read %s: %s", path, strerror(errno));
    return brio__motion_read(file, path, motion, error);
}

BrioStatus brio__motion_positions(BrioMotionFile *m, int64_t k, float *x, BrioError *error)
{
    const unsigned char *at = m->buffer + sizeof(double);
    if (fseeko(m->file, m->head_bytes + k * (int64_t)m->frame_bytes, SEEK_SET) || !get(m->file, m->buffer, m->frame_bytes))
        return brio__error(error, BRIO_ERROR_FILE, "frame %lld of the motion cannot be read", (long long)k);
    for (int i = 0; i < m->part_count; i++) {
        const BrioMotionPart *p = &m->part[i];
        float head[4];
        if (p->still) {
            memcpy(x, p->rest, 3 * (size_t)p->vertex_count * sizeof *x);
            x += 3 * (size_t)p->vertex_count;
            continue;
        }
        memcpy(head, at, sizeof head);
        at += sizeof head;
        for (int v = 0; v < 3 * p->vertex_count; v++) {
            uint16_t number;
            memcpy(&number, at, sizeof number);
            at += sizeof number;
            *x++ = head[v % 3] + head[3] * (float)number;
        }
    }
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

BrioStatus brio__motion_at(BrioMotionFile *m, double time, float *x, float *scratch, BrioError *error)
{
    int64_t k = brio__motion_find(m, time);
    BRIO_CHECK(brio__motion_positions(m, k, x, error));
    if (k + 1 >= m->frame_count || time <= m->time[k] + 1e-6 / m->fps) return BRIO_OK;
    BRIO_CHECK(brio__motion_positions(m, k + 1, scratch, error));
    float share = (float)((time - m->time[k]) / (m->time[k + 1] - m->time[k]));
    for (int64_t v = 0; v < 3 * m->vertex_count; v++) x[v] += share * (scratch[v] - x[v]);
    return BRIO_OK;
}

void brio__motion_box(const BrioMotionFile *m, int part, const float *x, float low[3], float high[3])
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
