/* What is drawn of bodies, into buffers of the caller. The normal of a vertex is the sum over its
 * triangles of (b - a) x (c - a), which weights them by their areas, made a unit vector. */
#include "sim.h"

#include "../handle.h"
#include "../vec.h"

#include <string.h>

static const BrioBody *body_at(const BrioSystem *s, int body)
{
    return body >= 0 && body < s->body_count ? &s->body[body] : NULL;
}

int64_t brio_body_drawn_vertices(const BrioSystem *system, int body)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SYSTEM, system), 0);
    const BrioBody *b = body_at(system, body);
    if (!b) return 0;
    return b->skin && b->skin->weight ? b->skin->vertex_count : b->count;
}

const int32_t *brio_body_drawn_triangles(const BrioSystem *system, int body, int64_t *count)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SYSTEM, system) && count, NULL);
    const BrioBody *b = body_at(system, body);
    *count = !b ? 0 : b->skin ? b->skin->triangle_count : b->triangle_count;
    return !b ? NULL : b->skin ? b->skin->triangle : b->triangle;
}

/* Where three numbers of a vertex go. */
typedef struct Target {
    float *single;
    double *full;
    size_t stride;
} Target;

static Target target(float *single, double *full, size_t stride)
{
    return (Target){single, full, stride};
}

static void put(const Target *to, int64_t vertex, const double x[3])
{
    if (to->single) {
        size_t stride = to->stride ? to->stride : 3 * sizeof(float);
        float out[3] = {(float)x[0], (float)x[1], (float)x[2]};
        memcpy((char *)to->single + (size_t)vertex * stride, out, sizeof out);
    }
    if (to->full) {
        size_t stride = to->stride ? to->stride : 3 * sizeof(double);
        memcpy((char *)to->full + (size_t)vertex * stride, x, 3 * sizeof *x);
    }
}

static void get(const Target *from, int64_t vertex, double x[3])
{
    float in[3];
    if (from->full) {
        size_t stride = from->stride ? from->stride : 3 * sizeof(double);
        memcpy(x, (const char *)from->full + (size_t)vertex * stride, 3 * sizeof *x);
        return;
    }
    size_t stride = from->stride ? from->stride : 3 * sizeof(float);
    memcpy(in, (const char *)from->single + (size_t)vertex * stride, sizeof in);
    for (int r = 0; r < 3; r++) x[r] = in[r];
}

/* The value at a drawn vertex, from those of the body's vertices. */
static void value_at(const BrioBody *b, const double *values, int64_t vertex, double out[3])
{
    const BrioSkin *skin = b->skin && b->skin->weight ? b->skin : NULL;
    if (!skin) {
        memcpy(out, values + 3 * vertex, 3 * sizeof *out);
        return;
    }
    out[0] = out[1] = out[2] = 0;
    for (int64_t k = skin->start[vertex]; k < skin->start[vertex + 1]; k++)
        for (int r = 0; r < 3; r++)
            out[r] += skin->weight[k] * values[3 * (int64_t)skin->node[k] + r];
}

static void draw_values(const BrioBody *b, int64_t vertices, const double *values, const Target *to)
{
    if (!to->single && !to->full) return;
    for (int64_t v = 0; v < vertices; v++) {
        double out[3];
        value_at(b, values, v, out);
        put(to, v, out);
    }
}

/* Sums in the caller's own buffer. */
static void draw_normals(const BrioSystem *s, int body, const double *x, const Target *to)
{
    if (!to->single && !to->full) return;
    const BrioBody *b = &s->body[body];
    int64_t count, vertices = brio_body_drawn_vertices(s, body);
    const int32_t *triangle = brio_body_drawn_triangles(s, body, &count);
    const double none[3] = {0, 0, 0};
    double sum[3], corner[3][3], n[3];
    for (int64_t v = 0; v < vertices; v++) put(to, v, none);
    for (int64_t t = 0; t < count; t++) {
        for (int i = 0; i < 3; i++) value_at(b, x, triangle[3 * t + i], corner[i]);
        brio__triangle_normal(corner[0], corner[1], corner[2], n);
        for (int i = 0; i < 3; i++) {
            get(to, triangle[3 * t + i], sum);
            for (int r = 0; r < 3; r++) sum[r] += n[r];
            put(to, triangle[3 * t + i], sum);
        }
    }
    for (int64_t v = 0; v < vertices; v++) {
        get(to, v, sum);
        double size = brio__hypot3(sum);
        for (int r = 0; r < 3; r++) sum[r] = size > 0 ? sum[r] / size : 0;
        put(to, v, sum);
    }
}

BrioStatus brio_sim_draw(const BrioSim *sim, int body, const BrioVertexBuffers *buffers,
                         BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(SIM, sim) && buffers, error);
    const BrioSystem *s = sim->system;
    const BrioBody *b = body_at(s, body);
    const BrioVertexBuffers *to = buffers;
    if (error) *error = (BrioError){0};
    if (!b) return brio__error(error, BRIO_ERROR_ARGUMENT, "there is no body %d", body);
    bool full = to->position || to->normal || to->velocity;
    if (to->stride && to->stride < 3 * (full ? sizeof(double) : sizeof(float)))
        return brio__error(error, BRIO_ERROR_ARGUMENT,
                           "a stride of %zu bytes is shorter than the three numbers of a vertex",
                           to->stride);
    int64_t vertices = brio_body_drawn_vertices(s, body);
    Target velocity = target(to->velocity_float, to->velocity, to->stride);
    Target position = target(to->position_float, to->position, to->stride);
    Target normal[2] = {target(to->normal_float, NULL, to->stride),
                        target(NULL, to->normal, to->stride)};
    if (velocity.single || velocity.full) {
        brio__system_velocities(s, sim->state, sim->state->v, sim->state->time, sim->world);
        draw_values(b, vertices, sim->world + 3 * b->first, &velocity);
    }
    brio__system_positions(s, sim->state, sim->state->q, sim->state->time, sim->world);
    draw_values(b, vertices, sim->world + 3 * b->first, &position);
    for (int k = 0; k < 2; k++) draw_normals(s, body, sim->world + 3 * b->first, &normal[k]);
    return BRIO_OK;
}

const double *brio_sim_positions_view(const BrioSim *sim, int body)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SIM, sim), NULL);
    const BrioSystem *s = sim->system;
    const BrioBody *b = body_at(s, body);
    if (!b || b->count == 0 || b->mass_point >= 0) return NULL;
    int32_t first = s->map_start[b->first], last = s->map_start[b->first + b->count];
    if (last - first != b->count) return NULL; /* blocks ascend, one for each free vertex */
    return sim->state->q + 3 * (int64_t)s->map_block[first];
}
