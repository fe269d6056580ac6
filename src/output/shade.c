/* Normals are shared by the corners at a vertex between which no edge of the rest shape is sharp
 * (40 degrees and more), or by those that share one in the mesh file; they are sums of the
 * triangles' normals, weighted by area. */
#include "shade.h"

#include "../vecf.h"

#include <string.h>

const unsigned brio__body_colours[BRIO_BODY_COLOURS] = {0x2f7cc0, 0xee8a3a, 0x47a571, 0xd65049,
                                                        0x8871cc, 0xe0b32f, 0x2aa2a6, 0xc462a2};
const unsigned brio__scale_colours[BRIO_SCALE_COLOURS] = {0x3b55ad, 0x2f8dbb, 0x45ae8d,
                                                          0xb4c84f, 0xf0b23a, 0xd3402c};

/* ---- creases ---------------------------------------------------------------------------- */

static int32_t root(int32_t *above, int32_t i)
{
    while (above[i] != i) i = above[i] = above[above[i]];
    return i;
}

/* Do two triangles at a vertex share an edge there and meet at less than 40 degrees? */
static bool smooth_edge(const int32_t *s, const int32_t *t, int32_t vertex, const float *ns,
                        const float *nt)
{
    bool shared = false;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) shared |= s[a] == t[b] && s[a] != vertex;
    return shared && brio__dot3f(ns, nt) > 0.766f;
}

int64_t brio__smooth_slots(const float *rest, int64_t vertices, const int32_t *triangle,
                           int64_t triangles, int32_t *slot, int32_t *slot_vertex)
{
    int32_t *start = brio__calloc((size_t)vertices + 2, sizeof *start),
            *corner = brio__alloc(3 * (size_t)triangles + 1, sizeof *corner),
            *above = brio__alloc(3 * (size_t)triangles + 1, sizeof *above);
    float *normal = brio__alloc(3 * (size_t)triangles + 1, sizeof *normal);
    int64_t count = -1;
    if (start && corner && above && normal) {
        count = 0;
        for (int64_t t = 0; t < triangles; t++) {
            brio__triangle_normalf(rest, triangle + 3 * t, normal + 3 * t);
            brio__normalise3f(normal + 3 * t);
        }
        for (int64_t k = 0; k < 3 * triangles; k++) start[triangle[k] + 2]++;
        for (int64_t v = 0; v < vertices; v++) start[v + 2] += start[v + 1];
        for (int64_t k = 0; k < 3 * triangles; k++) {
            corner[start[triangle[k] + 1]++] = (int32_t)k;
            above[k] = (int32_t)k;
        }
        for (int64_t v = 0; v < vertices; v++)
            for (int32_t i = start[v]; i < start[v + 1]; i++)
                for (int32_t j = start[v]; j < i; j++) {
                    int32_t s = corner[i] / 3, t = corner[j] / 3;
                    if (smooth_edge(triangle + 3 * (int64_t)s, triangle + 3 * (int64_t)t,
                                    (int32_t)v, normal + 3 * (int64_t)s, normal + 3 * (int64_t)t))
                        above[root(above, corner[i])] = root(above, corner[j]);
                }
        for (int64_t k = 0; k < 3 * triangles; k++)
            if (root(above, (int32_t)k) == k) {
                slot_vertex[count] = triangle[k];
                slot[k] = (int32_t)count++;
            }
        for (int64_t k = 0; k < 3 * triangles; k++) slot[k] = slot[root(above, (int32_t)k)];
    }
    brio__free(start);
    brio__free(corner);
    brio__free(above);
    brio__free(normal);
    return count;
}

/* ---- normals ---------------------------------------------------------------------------- */

void brio__shade_free(BrioShade *shade)
{
    if (!shade) return;
    brio__free(shade->corner_slot);
    brio__free(shade->slot_vertex);
    brio__free(shade->triangle_corner);
    brio__free(shade);
}

/* Slots are the different pairs of vertex and key; those of a vertex hang on a chain. */
static BrioStatus pair_slots(const int32_t *vertex, const int32_t *key, int64_t corners,
                             int64_t vertices, int32_t *slot, int32_t *slot_vertex, int64_t *count)
{
    int32_t *head = brio__alloc((size_t)vertices + 1, sizeof *head);
    int32_t *next = brio__alloc((size_t)corners + 1, sizeof *next);
    int32_t *of = brio__alloc((size_t)corners + 1, sizeof *of);
    bool room = head && next && of;
    for (int64_t v = 0; room && v < vertices; v++) head[v] = -1;
    *count = 0;
    for (int64_t c = 0; room && c < corners; c++) {
        int32_t s = head[vertex[c]];
        while (s >= 0 && of[s] != key[c]) s = next[s];
        if (s < 0) {
            s = (int32_t)(*count)++;
            of[s] = key[c];
            next[s] = head[vertex[c]];
            head[vertex[c]] = s;
            slot_vertex[s] = vertex[c];
        }
        slot[c] = s;
    }
    brio__free(head);
    brio__free(next);
    brio__free(of);
    return room ? BRIO_OK : BRIO_ERROR_MEMORY;
}

/* By the creases of the rest shape. A corner of a polygon has the slot of one of its triangles. */
static BrioStatus crease_slots(const BrioMotionPart *p, BrioShade *s)
{
    size_t corners = 3 * (size_t)p->triangle_count;
    int32_t *slot = brio__alloc(corners + 1, sizeof *slot);
    int32_t *vertex = brio__alloc(corners + 1, sizeof *vertex);
    s->slot_count = slot && vertex ? brio__smooth_slots(p->rest, p->vertex_count, p->triangle,
                                                        p->triangle_count, slot, vertex)
                                   : -1;
    bool done = s->slot_count >= 0;
    for (int64_t k = (int64_t)corners - 1; done && k >= 0; k--)
        s->corner_slot[s->triangle_corner[k]] = slot[k];
    s->slot_vertex = vertex;
    brio__free(slot);
    return done ? BRIO_OK : BRIO_ERROR_MEMORY;
}

BrioStatus brio__shade_create(const BrioMotionPart *p, BrioShade **shade)
{
    const BrioFaces *f = p->faces;
    BrioShade *s = brio__calloc(1, sizeof *s);
    *shade = s;
    if (!s) return BRIO_ERROR_MEMORY;
    s->triangle_count = p->triangle_count;
    s->corner_count = f ? f->start[f->count] : 3 * (int64_t)p->triangle_count;
    s->corner_slot = brio__calloc((size_t)s->corner_count + 1, sizeof *s->corner_slot);
    s->triangle_corner = brio__alloc(3 * (size_t)s->triangle_count + 1, sizeof *s->triangle_corner);
    BrioStatus status = s->corner_slot && s->triangle_corner ? BRIO_OK : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK) {
        if (f) brio__faces_fan(f, s->triangle_corner);
        for (int64_t k = 0; !f && k < s->corner_count; k++) s->triangle_corner[k] = (int32_t)k;
        if (f && f->corner_normal) {
            s->slot_vertex = brio__alloc((size_t)s->corner_count + 1, sizeof *s->slot_vertex);
            status = s->slot_vertex
                         ? pair_slots(f->vertex, f->corner_normal, s->corner_count, p->vertex_count,
                                      s->corner_slot, s->slot_vertex, &s->slot_count)
                         : BRIO_ERROR_MEMORY;
        } else {
            status = crease_slots(p, s);
        }
    }
    if (status == BRIO_OK) return BRIO_OK;
    brio__shade_free(s);
    *shade = NULL;
    return status;
}

void brio__shade_normals(const BrioShade *s, const float *x, float *normal)
{
    memset(normal, 0, 3 * (size_t)s->slot_count * sizeof *normal);
    for (int64_t t = 0; t < s->triangle_count; t++) {
        int32_t slot[3];
        const float *p[3];
        double a[3], b[3];
        for (int i = 0; i < 3; i++) {
            slot[i] = s->corner_slot[s->triangle_corner[3 * t + i]];
            p[i] = x + 3 * (size_t)s->slot_vertex[slot[i]];
        }
        for (int r = 0; r < 3; r++)
            a[r] = (double)p[1][r] - p[0][r], b[r] = (double)p[2][r] - p[0][r];
        for (int r = 0; r < 3; r++) {
            double area = a[(r + 1) % 3] * b[(r + 2) % 3] - a[(r + 2) % 3] * b[(r + 1) % 3];
            for (int i = 0; i < 3; i++) normal[3 * (size_t)slot[i] + (size_t)r] += (float)area;
        }
    }
    for (int64_t k = 0; k < s->slot_count; k++) {
        float *n = normal + 3 * k;
        double length = sqrt((double)n[0] * n[0] + (double)n[1] * n[1] + (double)n[2] * n[2]);
        for (int r = 0; r < 3; r++) n[r] = length > 0 ? (float)(n[r] / length) : (float)(r == 1);
    }
}
