/* From motions to facets: bodies, springs and rods as tubes, obstacles, the ground; the camera that
 * sees everything at all times; colours by body, strain or speed. */
#include "stage.h"

#include "../vecf.h"
#include "font.h"

#include <stdlib.h>
#include <string.h>

enum { TUBE = 6, MAX_VALUED = 48, BLUR_INSTANTS = 12 };
#define CHECKS 7 /* along the longest side of a body */

struct StagePart {
    int32_t *slot, *slot_vertex;
    int64_t slot_count;
    float *normal; /* of slots */
    const BrioTexture *texture;
    bool texture_named;
    float (*uv)[2]; /* of the corners of triangles, with a texture; NAN: none */
};

/* ---- shapes ----------------------------------------------------------------------------- */

/* Principal stretches of a triangle: with the rest edges a, b in their plane and the deformed ones
 * p, q, F^T F is 2 x 2. */
static float triangle_strain(const float *rest, const float *x, const int32_t *t, float *area)
{
    float a[3], b[3], p[3], q[3], n[3];
    for (int r = 0; r < 3; r++) {
        a[r] = rest[3 * t[1] + r] - rest[3 * t[0] + r];
        b[r] = rest[3 * t[2] + r] - rest[3 * t[0] + r];
        p[r] = x[3 * t[1] + r] - x[3 * t[0] + r];
        q[r] = x[3 * t[2] + r] - x[3 * t[0] + r];
    }
    brio__cross3f(a, b, n);
    float twice = sqrtf(brio__dot3f(n, n)), u = sqrtf(brio__dot3f(a, a));
    *area = twice;
    if (!(twice > 0)) return 0;
    float bu = brio__dot3f(a, b) / u, bv = twice / u; /* a = (u, 0), b = (bu, bv) */
    float f0[3], f1[3];
    for (int r = 0; r < 3; r++) {
        f0[r] = p[r] / u;
        f1[r] = (q[r] - bu * f0[r]) / bv;
    }
    float c = brio__dot3f(f0, f0);
    float d = brio__dot3f(f1, f1);
    float e = brio__dot3f(f0, f1);
    float middle = 0.5f * (c + d);
    float half = sqrtf(0.25f * (c - d) * (c - d) + e * e);
    return fmaxf(fabsf(sqrtf(middle + half) - 1), fabsf(sqrtf(fmaxf(middle - half, 0)) - 1));
}

void brio__surface_strain(const BrioMotionPart *part, const float *x, float *strain, float *area)
{
    memset(strain, 0, (size_t)part->vertex_count * sizeof *strain);
    memset(area, 0, (size_t)part->vertex_count * sizeof *area);
    for (int t = 0; t < part->triangle_count; t++) {
        float weight, value = triangle_strain(part->rest, x, part->triangle + 3 * t, &weight);
        for (int k = 0; k < 3; k++) {
            strain[part->triangle[3 * t + k]] += weight * value;
            area[part->triangle[3 * t + k]] += weight;
        }
    }
    for (int e = 0; part->kind == BRIO_MOTION_BODY && e < part->edge_count; e++) {
        const int32_t *n = part->edge + 2 * e;
        float now = 0, first = 0;
        for (int r = 0; r < 3; r++) {
            now += (x[3 * n[0] + r] - x[3 * n[1] + r]) * (x[3 * n[0] + r] - x[3 * n[1] + r]);
            first += (part->rest[3 * n[0] + r] - part->rest[3 * n[1] + r]) *
                     (part->rest[3 * n[0] + r] - part->rest[3 * n[1] + r]);
        }
        float value = first > 0 ? fabsf(sqrtf(now / first) - 1) : 0;
        for (int k = 0; k < 2; k++) {
            strain[n[k]] += value;
            area[n[k]] += 1;
        }
    }
    for (int v = 0; v < part->vertex_count; v++) strain[v] = area[v] > 0 ? strain[v] / area[v] : 0;
}

/* ---- what colours mean ------------------------------------------------------------------ */

/* Of every vertex at a time, into stage->value. */
static BrioStatus measure_values(BrioStage *s, int which, double time, BrioError *error)
{
    BrioMotionFile *m = s->motion[which];
    if (s->def.colouring == BRIO_COLOUR_SPEED) {
        int64_t k = brio__motion_find(m, time);
        int64_t from = BRIO_MAX(k - 1, 0);
        int64_t to = BRIO_MIN(k + 1, m->frame_count - 1);
        BRIO_CHECK(brio__motion_positions(m, from, s->before, error));
        BRIO_CHECK(brio__motion_positions(m, to, s->after, error));
        float span = (float)(m->time[to] - m->time[from]);
        for (int64_t v = 0; v < m->vertex_count; v++) {
            float d[3] = {s->after[3 * v] - s->before[3 * v],
                          s->after[3 * v + 1] - s->before[3 * v + 1],
                          s->after[3 * v + 2] - s->before[3 * v + 2]};
            s->value[v] = span > 0 ? sqrtf(brio__dot3f(d, d)) / span : 0;
        }
        return BRIO_OK;
    }
    float *value = s->value;
    const float *x = s->x;
    for (int i = 0; i < m->part_count; i++) {
        brio__surface_strain(&m->part[i], x, value, s->scratch);
        x += 3 * (size_t)m->part[i].vertex_count;
        value += m->part[i].vertex_count;
    }
    return BRIO_OK;
}

double brio__stage_round_up(double value)
{
    static const double steps[] = {1, 1.5, 2, 3, 4, 5, 6, 8, 10};
    if (!(value > 0)) return 1;
    double power = pow(10, floor(log10(value)));
    for (size_t k = 0; k < BRIO_COUNT(steps); k++)
        if (steps[k] * power >= value * (1 - 1e-9)) return steps[k] * power;
    return 10 * power;
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

/* What one vertex in two hundred of `count` exceeds. */
static float high_value(float *value, int64_t count)
{
    if (count == 0) return 0;
    qsort(value, (size_t)count, sizeof *value, by_value);
    return value[count - 1 - count / 200];
}

/* The upper end of the scale, of all bodies or of each: of the instant where it is largest. */
static BrioStatus measure_max(BrioStage *s, BrioError *error)
{
    double max = 0;
    for (int which = 0; which < s->motion_count; which++) {
        BrioMotionFile *m = s->motion[which];
        int64_t step = m->frame_count / MAX_VALUED + 1;
        for (int64_t k = 0; k < m->frame_count; k += step) {
            BRIO_CHECK(brio__motion_positions(m, k, s->x, error));
            BRIO_CHECK(measure_values(s, which, m->time[k], error));
            int64_t kept = 0, at = 0;
            for (int i = 0; i < m->part_count; at += m->part[i++].vertex_count) {
                if (m->part[i].kind != BRIO_MOTION_BODY) continue;
                int64_t first = kept;
                for (int v = 0; v < m->part[i].vertex_count; v++)
                    s->value[kept++] = s->value[at + v];
                if (s->def.own_scales)
                    s->own_max[i] =
                        fmaxf(s->own_max[i], high_value(s->value + first, kept - first));
            }
            if (!s->def.own_scales) max = fmax(max, high_value(s->value, kept));
        }
    }
    s->max = s->def.own_scales ? 1 : brio__stage_round_up(max);
    return BRIO_OK;
}

static void scale_colour(float t, float c[3])
{
    float low[3], high[3], at = fminf(fmaxf(t, 0), 0.99999f) * (BRIO_SCALE_COLOURS - 1);
    int k = (int)at;
    brio__colour_linear(brio__scale_colours[k], low);
    brio__colour_linear(brio__scale_colours[k + 1], high);
    for (int r = 0; r < 3; r++) c[r] = low[r] + (high[r] - low[r]) * (at - (float)k);
}

/* ---- making a stage --------------------------------------------------------------------- */

BrioStageDef brio__stage_defaults(void)
{
    return (BrioStageDef){.width = 1280,
                          .height = 720,
                          .max = NAN,
                          .eye = {NAN, NAN, NAN},
                          .target = {NAN, NAN, NAN},
                          .azimuth = NAN,
                          .elevation = NAN,
                          .zoom = 1};
}

static BrioStatus prepare_parts(BrioStage *s)
{
    int64_t max = 0, count = 0;
    size_t pixels = 3 * (size_t)s->def.width * (size_t)s->def.height;
    for (int which = 0; which < s->motion_count; which++) {
        max = BRIO_MAX(max, s->motion[which]->vertex_count);
        count += s->motion[which]->part_count;
    }
    s->own_max = brio__calloc((size_t)count + 1, sizeof *s->own_max);
    s->light = s->def.shutter > 0 ? brio__alloc(pixels, sizeof *s->light) : NULL;
    if (!s->own_max || (s->def.shutter > 0 && !s->light)) return BRIO_ERROR_MEMORY;
    s->part = brio__calloc((size_t)count + 1, sizeof *s->part);
    s->x = brio__alloc(3 * (size_t)max + 1, sizeof *s->x);
    s->scratch = brio__alloc(3 * (size_t)max + 1, sizeof *s->scratch);
    s->before = brio__alloc(3 * (size_t)max + 1, sizeof *s->before);
    s->after = brio__alloc(3 * (size_t)max + 1, sizeof *s->after);
    s->value = brio__alloc((size_t)max + 1, sizeof *s->value);
    if (!s->part || !s->x || !s->scratch || !s->before || !s->after || !s->value)
        return BRIO_ERROR_MEMORY;
    struct StagePart *at = s->part;
    for (int which = 0; which < s->motion_count; which++)
        for (int i = 0; i < s->motion[which]->part_count; i++, at++) {
            const BrioMotionPart *p = &s->motion[which]->part[i];
            at->slot = brio__alloc(3 * (size_t)p->triangle_count + 1, sizeof *at->slot);
            at->slot_vertex =
                brio__alloc(3 * (size_t)p->triangle_count + 1, sizeof *at->slot_vertex);
            if (!at->slot || !at->slot_vertex) return BRIO_ERROR_MEMORY;
            at->slot_count = brio__smooth_slots(p->rest, p->vertex_count, p->triangle,
                                                p->triangle_count, at->slot, at->slot_vertex);
            if (at->slot_count < 0) return BRIO_ERROR_MEMORY;
            at->normal = brio__alloc(3 * (size_t)at->slot_count + 1, sizeof *at->normal);
            if (!at->normal) return BRIO_ERROR_MEMORY;
        }
    return brio__raster_create(&s->raster);
}

/* ---- textures --------------------------------------------------------------------------- */

static bool has_uv(const BrioMotionPart *p)
{
    return p->faces && p->faces->corner_uv && p->faces->uv_count > 0 && p->triangle_count > 0;
}

static BrioStatus unknown_part(const BrioStage *s, const char *name, BrioError *error)
{
    const char *names[256];
    int count = 0;
    for (int which = 0; which < s->motion_count; which++)
        for (int i = 0; i < s->motion[which]->part_count; i++)
            if (count < (int)BRIO_COUNT(names)) names[count++] = s->motion[which]->part[i].name;
    const char *nearest = brio__nearest(name, names, count);
    if (nearest)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "--texture: no body or obstacle \"%s\"; did you mean \"%s\"?", name,
                           nearest);
    return brio__error(error, BRIO_ERROR_INPUT, "--texture: no body or obstacle \"%s\"", name);
}

static BrioStatus no_uv(const char *what, const char *name, BrioError *error)
{
    return brio__error(error, BRIO_ERROR_INPUT,
                       "--texture: %s%s has no texture coordinates; use a mesh from an OBJ file "
                       "with vt lines (in Blender: UV > Unwrap, then export)",
                       what, name);
}

/* The texture of each part: one that names it, or else one for all. The last one counts. */
static BrioStatus choose_textures(BrioStage *s, BrioError *error)
{
    for (int k = 0; k < s->def.texture_count; k++) {
        const BrioStageTexture *given = &s->def.texture[k];
        struct StagePart *at = s->part;
        bool found = false, used = false;
        for (int which = 0; which < s->motion_count; which++)
            for (int i = 0; i < s->motion[which]->part_count; i++, at++) {
                const BrioMotionPart *p = &s->motion[which]->part[i];
                bool named = given->name && !strcmp(given->name, p->name);
                found |= named;
                if (!has_uv(p) || (given->name ? !named : p->kind != BRIO_MOTION_BODY)) continue;
                used = true;
                if (given->name || !at->texture_named) at->texture = given->texture;
                at->texture_named |= named;
            }
        if (given->name && !found) return unknown_part(s, given->name, error);
        if (!used)
            return no_uv(given->name ? "" : "no body", given->name ? given->name : "", error);
    }
    return BRIO_OK;
}

static BrioStatus place_textures(BrioStage *s)
{
    struct StagePart *at = s->part;
    for (int which = 0; which < s->motion_count; which++)
        for (int i = 0; i < s->motion[which]->part_count; i++, at++) {
            const BrioMotionPart *p = &s->motion[which]->part[i];
            if (!at->texture) continue;
            size_t corners = 3 * (size_t)p->triangle_count;
            int32_t *corner = brio__alloc(corners, sizeof *corner);
            at->uv = brio__alloc(corners, sizeof *at->uv);
            if (corner && at->uv) brio__faces_fan(p->faces, corner);
            for (size_t c = 0; corner && at->uv && c < corners; c++) {
                int32_t uv = p->faces->corner_uv[corner[c]];
                for (int d = 0; d < 2; d++)
                    at->uv[c][d] = uv < 0 ? NAN : (float)p->faces->uv[2 * (size_t)uv + d];
            }
            brio__free(corner);
            if (!corner || !at->uv) return BRIO_ERROR_MEMORY;
        }
    return BRIO_OK;
}

/* ---- the whole -------------------------------------------------------------------------- */

BrioStatus brio__stage_create(const BrioStageDef *def, BrioMotionFile **motion, int count,
                              BrioStage **stage, BrioError *error)
{
    BrioStage *s = brio__calloc(1, sizeof *s);
    *stage = s;
    if (!s) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    s->def = *def;
    s->motion = motion;
    s->motion_count = count;
    s->view.width = def->width;
    s->view.height = def->height;
    s->view.background = def->background;
    BrioStatus status = prepare_parts(s);
    if (status != BRIO_OK) brio__error(error, status, "out of memory");
    if (status == BRIO_OK) status = choose_textures(s, error);
    if (status == BRIO_OK && (status = place_textures(s)) != BRIO_OK)
        brio__error(error, status, "out of memory");
    if (status == BRIO_OK) status = brio__stage_camera(s, error);
    if (status == BRIO_OK) {
        float side[3];
        for (int r = 0; r < 3; r++) side[r] = def->follow ? s->side[r] : s->high[r] - s->low[r];
        s->thick = 0.006f * sqrtf(brio__dot3f(side, side));
        s->max = def->max;
        if (def->colouring != BRIO_COLOUR_BODY && isnan(def->max)) status = measure_max(s, error);
    }
    if (status == BRIO_OK) return BRIO_OK;
    brio__stage_free(s);
    *stage = NULL;
    return status;
}

void brio__stage_free(BrioStage *s)
{
    int count = 0;
    if (!s) return;
    for (int which = 0; which < s->motion_count; which++) count += s->motion[which]->part_count;
    for (int i = 0; s->part && i < count; i++) {
        brio__free(s->part[i].slot);
        brio__free(s->part[i].slot_vertex);
        brio__free(s->part[i].normal);
        brio__free(s->part[i].uv);
    }
    brio__free(s->part);
    brio__free(s->x);
    brio__free(s->scratch);
    brio__free(s->before);
    brio__free(s->after);
    brio__free(s->value);
    brio__free(s->own_max);
    brio__free(s->light);
    brio__free(s->path);
    brio__free(s->facet);
    brio__raster_free(s->raster);
    brio__free(s);
}

/* ---- drawing ---------------------------------------------------------------------------- */

/* The colour of a vertex of a part. */
typedef struct Paint {
    float base[3];
    const float *value; /* NULL: base everywhere */
    float max;
    float low[3], checks; /* of the undeformed shape: its lowest corner, and checks per metre */
} Paint;

/* Checks of the undeformed shape, which show how it is stretched and turned. Their planes lie
 * compared with those of regular meshes. */
static void set_checks(Paint *paint, const BrioMotionPart *p)
{
    float high[3], longest = 0;
    for (int r = 0; r < 3; r++) {
        paint->low[r] = INFINITY;
        high[r] = -INFINITY;
        for (int64_t v = 0; v < p->vertex_count; v++) {
            paint->low[r] = fminf(paint->low[r], p->rest[3 * v + r]);
            high[r] = fmaxf(high[r], p->rest[3 * v + r]);
        }
        longest = fmaxf(longest, high[r] - paint->low[r]);
    }
    paint->checks = CHECKS / fmaxf(longest, 1e-20f);
    for (int r = 0; r < 3; r++) {
        float count = (high[r] - paint->low[r]) * paint->checks;
        paint->low[r] -= 0.5f * (ceilf(count + 0.01f) - count) / paint->checks;
    }
}

static void paint_vertex(const Paint *paint, int32_t v, float c[3])
{
    if (paint->value)
        scale_colour(paint->value[v] / paint->max, c);
    else
        memcpy(c, paint->base, sizeof paint->base);
}

static void add_surface(BrioStage *s, int64_t *count, const BrioMotionPart *p, struct StagePart *at,
                        const float *x, const Paint *paint, unsigned flags)
{
    memset(at->normal, 0, 3 * (size_t)at->slot_count * sizeof *at->normal);
    for (int t = 0; t < p->triangle_count; t++) {
        float n[3];
        brio__triangle_normalf(x, p->triangle + 3 * t, n);
        for (int k = 0; k < 3; k++)
            for (int r = 0; r < 3; r++) at->normal[3 * (int64_t)at->slot[3 * t + k] + r] += n[r];
    }
    for (int64_t k = 0; k < at->slot_count; k++) brio__normalise3f(at->normal + 3 * k);
    for (int t = 0; t < p->triangle_count; t++) {
        BrioFacet *f = &s->facet[(*count)++];
        const float(*uv)[2] = at->uv ? (const float(*)[2])at->uv + 3 * (int64_t)t : NULL;
        bool textured = uv && !isnan(uv[0][0] + uv[1][0] + uv[2][0]);
        f->flags = flags;
        f->texture = textured ? at->texture : NULL;
        for (int k = 0; k < 3; k++) {
            int32_t v = p->triangle[3 * t + k];
            memcpy(f->corner[k].x, x + 3 * (int64_t)v, sizeof f->corner[k].x);
            memcpy(f->corner[k].n, at->normal + 3 * (int64_t)at->slot[3 * t + k],
                   sizeof f->corner[k].n);
            paint_vertex(paint, v, f->corner[k].c);
            for (int r = 0; r < 3; r++)
                f->corner[k].t[r] = (p->rest[3 * (int64_t)v + r] - paint->low[r]) * paint->checks;
            if (textured) memcpy(f->corner[k].t, uv[k], sizeof uv[k]);
        }
    }
}

/* A tube from vertex a to b. */
static void add_tube(BrioStage *s, int64_t *count, const float *x, int32_t a, int32_t b,
                     float radius, const Paint *paint)
{
    float along[3], side[3], other[3], colour[2][3];
    for (int r = 0; r < 3; r++) along[r] = x[3 * (int64_t)b + r] - x[3 * (int64_t)a + r];
    brio__normalise3f(along);
    const float helper[3] = {fabsf(along[0]) > 0.6f ? 0 : 1, fabsf(along[0]) > 0.6f ? 1 : 0, 0};
    brio__cross3f(helper, along, side);
    brio__normalise3f(side);
    brio__cross3f(along, side, other);
    paint_vertex(paint, a, colour[0]);
    paint_vertex(paint, b, colour[1]);
    for (int k = 0; k < TUBE; k++) {
        BrioCorner corner[4];
        for (int q = 0; q < 4; q++) { /* a, b of one side, then of the next */
            float turn = 6.2831853f * (float)(k + q / 2) / TUBE;
            int32_t end = q % 2 ? b : a;
            for (int r = 0; r < 3; r++) {
                corner[q].n[r] = cosf(turn) * side[r] + sinf(turn) * other[r];
                corner[q].x[r] = x[3 * (int64_t)end + r] + radius * corner[q].n[r];
                corner[q].c[r] = colour[q % 2][r];
            }
        }
        s->facet[(*count)++] =
            (BrioFacet){{corner[0], corner[2], corner[1]}, BRIO_FACET_CLOSED, NULL};
        s->facet[(*count)++] =
            (BrioFacet){{corner[1], corner[2], corner[3]}, BRIO_FACET_CLOSED, NULL};
    }
}

enum { BALL_ROWS = 6, BALL_TURNS = 10, BALL_FACETS = 2 * BALL_ROWS * BALL_TURNS };

static void add_ball(BrioStage *s, int64_t *count, const float *x, int32_t v, float radius,
                     const Paint *paint)
{
    float colour[3];
    paint_vertex(paint, v, colour);
    for (int j = 0; j < BALL_ROWS; j++)
        for (int i = 0; i < BALL_TURNS; i++) {
            BrioCorner corner[4];
            for (int q = 0; q < 4; q++) {
                float up = 3.14159265f * ((float)(j + q / 2) / BALL_ROWS - 0.5f);
                float turn = 6.2831853f * (float)(i + q % 2) / BALL_TURNS;
                const float n[3] = {cosf(up) * cosf(turn), sinf(up), -cosf(up) * sinf(turn)};
                for (int r = 0; r < 3; r++) {
                    corner[q].n[r] = n[r];
                    corner[q].x[r] = x[3 * (int64_t)v + r] + radius * n[r];
                    corner[q].c[r] = colour[r];
                }
            }
            s->facet[(*count)++] =
                (BrioFacet){{corner[0], corner[1], corner[3]}, BRIO_FACET_CLOSED, NULL};
            s->facet[(*count)++] =
                (BrioFacet){{corner[0], corner[3], corner[2]}, BRIO_FACET_CLOSED, NULL};
        }
}

static int64_t facets_of(const BrioMotionPart *p)
{
    if (p->triangle_count) return p->triangle_count;
    return 2 * TUBE * (int64_t)p->edge_count + BALL_FACETS * (int64_t)p->vertex_count;
}

/* Springs, rods and segments are tubes, points are balls, and so are masses on springs. */
static void add_part(BrioStage *s, int64_t *count, const BrioMotionPart *p, struct StagePart *at,
                     const float *x, const Paint *paint)
{
    unsigned flags = (p->closed ? BRIO_FACET_CLOSED : 0) |
                     (paint->checks > 0 && p->triangle_count ? BRIO_FACET_CHECKED : 0) |
                     (paint->value ? BRIO_FACET_FAINT : 0);
    if (p->kind == BRIO_MOTION_OBSTACLE) {
        if (s->def.obstacles == BRIO_OBSTACLES_NONE) return;
        flags |=
            BRIO_FACET_MATTE | (s->def.obstacles == BRIO_OBSTACLES_GLASS ? BRIO_FACET_GLASS : 0);
    } else if (s->def.lines) {
        flags |= 7u * BRIO_FACET_RULED;
    }
    if (p->triangle_count) {
        add_surface(s, count, p, at, x, paint, flags);
        return;
    }
    float crowd = fmaxf(fminf(1, 12 / sqrtf((float)p->vertex_count + 1)), 0.2f);
    float radius = s->thick * crowd;
    for (int e = 0; e < p->edge_count; e++)
        add_tube(s, count, x, p->edge[2 * e], p->edge[2 * e + 1],
                 p->kind == BRIO_MOTION_RODS ? 0.7f * radius : radius, paint);
    bool balls = p->kind == BRIO_MOTION_BODY || p->edge_count == 0;
    for (int v = 0; balls && v < p->vertex_count; v++)
        add_ball(s, count, x, v,
                 p->edge_count ? (p->vertex_count > 200 ? 1.0f : 1.5f) * radius : 2.6f * radius,
                 paint);
}

static BrioStatus make_room(BrioStage *s, const BrioMotionFile *m)
{
    int64_t need = 0;
    for (int i = 0; i < m->part_count; i++) need += facets_of(&m->part[i]);
    if (need <= s->facet_room) return BRIO_OK;
    brio__free(s->facet);
    s->facet_room = 0;
    s->facet = brio__alloc((size_t)need + 1, sizeof *s->facet);
    if (!s->facet) return BRIO_ERROR_MEMORY;
    s->facet_room = need;
    return BRIO_OK;
}

/* Shadows are looked for in a ball around what moves now. */
static void set_shadow(BrioStage *s, const BrioMotionFile *m)
{
    float low[3] = {INFINITY, INFINITY, INFINITY};
    float high[3] = {-INFINITY, -INFINITY, -INFINITY};
    float box[2][3];
    float reach = 1.05f * s->largest + 2 * s->thick;
    for (int i = 0; i < m->part_count; i++) {
        if (m->part[i].vertex_count == 0 || m->part[i].kind == BRIO_MOTION_OBSTACLE) continue;
        brio__motion_box(m, i, s->x, box[0], box[1]);
        for (int r = 0; r < 3; r++) {
            low[r] = fminf(low[r], box[0][r]);
            high[r] = fmaxf(high[r], box[1][r]);
        }
    }
    /* obstacles cast shadows too, as far as they are near */
    for (int i = 0; i < m->part_count && s->def.obstacles == BRIO_OBSTACLES_SOLID; i++) {
        if (m->part[i].kind != BRIO_MOTION_OBSTACLE) continue;
        brio__motion_box(m, i, s->x, box[0], box[1]);
        float half[3] = {box[1][0] - box[0][0], box[1][1] - box[0][1], box[1][2] - box[0][2]};
        reach = fmaxf(
            reach, fminf(1.1f * sqrtf(brio__dot3f(half, half)), 4 * s->largest + 2 * s->view.size));
    }
    for (int r = 0; r < 3; r++) s->view.centre[r] = 0.5f * (low[r] + high[r]);
    s->view.radius = reach;
}

static BrioStatus draw_instant(BrioStage *s, int which, double time, uint8_t *rgb, size_t pitch,
                               BrioError *error)
{
    BrioMotionFile *m = s->motion[which];
    struct StagePart *at = s->part;
    int64_t count = 0, first = 0;
    int body = 0;
    for (int k = 0; k < which; k++) at += s->motion[k]->part_count;
    if (make_room(s, m) != BRIO_OK) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    BRIO_CHECK(brio__motion_at(m, time, s->x, s->scratch, error));
    if (s->def.colouring != BRIO_COLOUR_BODY) BRIO_CHECK(measure_values(s, which, time, error));
    for (int i = 0; i < m->part_count; i++) {
        const BrioMotionPart *p = &m->part[i];
        Paint paint = {.max = s->def.own_scales ? fmaxf(s->own_max[i], 1e-30f) : (float)s->max};
        if (p->kind == BRIO_MOTION_BODY) {
            brio__colour_linear(brio__body_colours[body++ % BRIO_BODY_COLOURS], paint.base);
            if (s->def.colouring != BRIO_COLOUR_BODY) paint.value = s->value + first;
            if (s->def.checks) set_checks(&paint, p);
        } else {
            brio__colour_linear(p->kind == BRIO_MOTION_RODS ? 0x6b7078 : BRIO_OBSTACLE_COLOUR,
                                paint.base);
        }
        add_part(s, &count, p, &at[i], s->x + 3 * first, &paint);
        first += p->vertex_count;
    }
    set_shadow(s, m);
    brio__stage_follow(s, which, time);
    if (brio__raster_draw(s->raster, &s->view, s->facet, count, rgb, pitch) != BRIO_OK)
        return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    return BRIO_OK;
}

/* Motion blur: the mean light of instants while the shutter is open, with squares of the bytes for
 * the light. */
BrioStatus brio__stage_draw(BrioStage *s, int which, double time, uint8_t *rgb, size_t pitch,
                            BrioError *error)
{
    size_t row = 3 * (size_t)s->def.width;
    if (!(s->def.shutter > 0)) return draw_instant(s, which, time, rgb, pitch, error);
    double end = s->motion[which]->time[s->motion[which]->frame_count - 1];
    memset(s->light, 0, row * (size_t)s->def.height * sizeof *s->light);
    for (int k = 0; k < BLUR_INSTANTS; k++) {
        double now = time + s->def.shutter * ((k + 0.5) / BLUR_INSTANTS - 0.5);
        BRIO_CHECK(draw_instant(s, which, fmin(fmax(now, 0), end), rgb, pitch, error));
        for (size_t j = 0; j < (size_t)s->def.height; j++)
            for (size_t i = 0; i < row; i++)
                s->light[j * row + i] += (uint32_t)rgb[j * pitch + i] * rgb[j * pitch + i];
    }
    for (size_t j = 0; j < (size_t)s->def.height; j++)
        for (size_t i = 0; i < row; i++)
            rgb[j * pitch + i] =
                (uint8_t)(sqrtf((float)s->light[j * row + i] / BLUR_INSTANTS) + 0.5f);
    return BRIO_OK;
}

void brio__stage_legend(const BrioStage *s, uint8_t *rgb, size_t pitch, int width, int height)
{
    if (s->def.colouring == BRIO_COLOUR_BODY) return;
    bool strain = s->def.colouring == BRIO_COLOUR_STRAIN;
    float size = fmaxf(0.019f * (float)height, 8);
    int high = (int)(0.34f * (float)height);
    int wide = (int)(1.1f * size);
    int left = width - (int)(7.7f * size);
    int top = (int)(4.2f * size);
    for (int j = 0; j < high; j++) {
        float c[3];
        scale_colour(1 - ((float)j + 0.5f) / (float)high, c);
        unsigned colour = (unsigned)brio__colour_byte(c[0]) << 16 |
                          (unsigned)brio__colour_byte(c[1]) << 8 | brio__colour_byte(c[2]);
        brio__box_draw(rgb, pitch, width, height, left, top + j, wide, 1, colour, 1);
    }
    bool own = s->def.own_scales;
    const char *title = strain ? "strain" : "speed";
    brio__text_draw(rgb, pitch, width, height, (float)left, (float)top - 1.1f * size, size,
                    0x30343a, title);
    for (int k = 0; k <= 4; k++) {
        char text[40];
        snprintf(text, sizeof text,
                 own && k == 4    ? "largest"
                 : strain && !own ? "%.3g %%"
                 : k == 4         ? "%.3g m/s"
                                  : "%.3g",
                 (strain && !own ? 100 : 1) * s->max * k / 4);
        float y = (float)(top + high) - (float)(high * k) / 4;
        brio__box_draw(rgb, pitch, width, height, left + wide, (int)y - (k == 4 ? 0 : 1),
                       (int)(0.35f * size) + 1, 1, 0x30343a, 0.8f);
        brio__text_draw(rgb, pitch, width, height, (float)(left + wide) + 0.7f * size,
                        y + 0.42f * size, 0.86f * size, 0x30343a, text);
    }
}
