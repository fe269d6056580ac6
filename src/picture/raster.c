/* Tiles of pixels with eight samples each, in parallel; a map of depths for the shadows of the key
 * light, with percentage-closer soft shadows [Fernando2005]; colours in linear light, written as
 * sRGB. */
#include "raster.h"

#include "../vecf.h"

#include <string.h>

enum {
    TILE = 32,
    SAMPLES = 8,
    MAP = 1536,
    COARSE = 16,
    TILES = MAP / COARSE,
    NEAR = 256,
    TAPS = 40,
    FEW = 8,
    SEARCH = 16,
    REACH = 40,
    BAND = 64
};

/* Places of the samples in a pixel: no two in a row or column of eighths. */
static const float sample_x[SAMPLES] = {0.5625f - 0.5f, 0.4375f - 0.5f, 0.8125f - 0.5f,
                                        0.3125f - 0.5f, 0.1875f - 0.5f, 0.0625f - 0.5f,
                                        0.6875f - 0.5f, 0.9375f - 0.5f};
static const float sample_y[SAMPLES] = {0.3125f - 0.5f, 0.6875f - 0.5f, 0.5625f - 0.5f,
                                        0.1875f - 0.5f, 0.8125f - 0.5f, 0.4375f - 0.5f,
                                        0.9375f - 0.5f, 0.0625f - 0.5f};
enum { GLASS_SAMPLES = 0x49 }; /* three of the eight let a glass facet be seen */

static const float key_light[3] = {1.0f, 0.965f, 0.90f}, sky_light[3] = {0.86f, 0.92f, 1.0f},
                   bounce_light[3] = {0.62f, 0.585f, 0.55f};
static const float key_strength = 0.92f, sky_strength = 0.50f;
static const float light_size = 0.075f; /* tangent of the angle that the key light has in the sky */

/* An orthographic map of depths along a direction: the smallest of each texel. */
typedef struct DepthMap {
    int size;
    float origin[3], u[3], v[3], w[3]; /* corner; w is the direction of depth */
    float texel;                       /* m */
    float *depth;
} DepthMap;

/* Barycentric coordinates over w of a point (x, y) of the picture are a x + b y + c [Olano1997]: no
 * clipping is needed. */
typedef struct Setup {
    float a[3], b[3];
    double c[3];
    float slack[3];
    int16_t box[4]; /* first and last column and row; empty if first > last */
} Setup;

struct BrioRaster {
    Setup *setup;
    int64_t setup_room;
    int32_t *bin, *bin_start;
    int64_t bin_room, tile_room;
    DepthMap key, below;
    float *coarse;   /* of the key map: smallest depth near each block */
    float *darkness; /* of the floor under the bodies */
    float tap[TAPS][2];
    /* the picture at hand */
    const BrioView *view;
    const BrioFacet *facet;
    int64_t count;
    int tiles_x, tiles_y;
    float light[3];
    uint8_t *rgb;
    size_t pitch;
};

static inline float mix(float a, float b, float t) { return a + (b - a) * t; }
static inline float clamp01(float x) { return x < 0 ? 0 : x > 1 ? 1 : x; }
static inline float smooth(float low, float high, float x)
{
    float t = clamp01((x - low) / (high - low));
    return t * t * (3 - 2 * t);
}

/* ---- colours ---------------------------------------------------------------------------- */

void brio__colour_linear(unsigned srgb, float linear[3])
{
    for (int k = 0; k < 3; k++) {
        float c = (float)(srgb >> (16 - 8 * k) & 255) / 255;
        linear[k] = c <= 0.04045f ? c / 12.92f : powf((c + 0.055f) / 1.055f, 2.4f);
    }
}

/* Highlights are compressed instead of cut off. */
uint8_t brio__colour_byte(float x)
{
    if (x > 0.8f) x = 0.8f + 0.2f * (1 - expf(-(x - 0.8f) / 0.2f));
    float c = x <= 0.0031308f ? 12.92f * fmaxf(x, 0) : 1.055f * powf(x, 1 / 2.4f) - 0.055f;
    return (uint8_t)(255 * clamp01(c) + 0.5f);
}

/* ---- the camera ------------------------------------------------------------------------- */

void brio__view_aim(BrioView *view, const double eye[3], const double target[3], double angle)
{
    double f[3], length = 0, flat;
    for (int r = 0; r < 3; r++) f[r] = target[r] - eye[r];
    length = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
    for (int r = 0; r < 3; r++) {
        view->forward[r] = length > 0 ? f[r] / length : r == 2 ? -1 : 0;
        view->eye[r] = eye[r];
    }
    const double *d = view->forward;
    flat = hypot(d[0], d[2]);
    view->right[0] = flat > 1e-9 ? -d[2] / flat : 1; /* straight down: x stays to the right */
    view->right[1] = 0;
    view->right[2] = flat > 1e-9 ? d[0] / flat : 0;
    const double *q = view->right;
    view->up[0] = q[1] * d[2] - q[2] * d[1];
    view->up[1] = q[2] * d[0] - q[0] * d[2];
    view->up[2] = q[0] * d[1] - q[1] * d[0];
    view->scale = 0.5 * view->height / tan(0.5 * angle);
}

/* Homogeneous picture coordinates. */
static void project(const BrioView *view, const double x[3], double h[3])
{
    double d[3] = {x[0] - view->eye[0], x[1] - view->eye[1], x[2] - view->eye[2]}, along[3];
    const double *axis[3] = {view->right, view->up, view->forward};
    for (int k = 0; k < 3; k++)
        along[k] = axis[k][0] * d[0] + axis[k][1] * d[1] + axis[k][2] * d[2];
    h[2] = along[2];
    h[0] = 0.5 * view->width * along[2] + view->scale * along[0];
    h[1] = 0.5 * view->height * along[2] - view->scale * along[1];
}

bool brio__view_project(const BrioView *view, const double x[3], double pixel[2], double *depth)
{
    double h[3];
    project(view, x, h);
    if (depth) *depth = h[2];
    if (!(h[2] > 0)) return false;
    pixel[0] = h[0] / h[2];
    pixel[1] = h[1] / h[2];
    return true;
}

void brio__view_light(const BrioView *view, float light[3])
{
    float flat = (float)hypot(view->forward[0], view->forward[2]);
    for (int k = 0; k < 3; k++) {
        float back = flat > 1e-6f && k != 1 ? -(float)view->forward[k] / flat : 0;
        light[k] = 0.66f * back - 0.56f * (float)view->right[k] + (k == 1 ? 0.95f : 0);
    }
    brio__normalise3f(light);
}

/* ---- maps of depths --------------------------------------------------------------------- */

static void map_aim(DepthMap *map, int size, const float centre[3], float radius, const float w[3])
{
    const float other[3] = {fabsf(w[1]) > 0.9f, fabsf(w[1]) <= 0.9f, 0};
    memcpy(map->w, w, sizeof map->w);
    brio__cross3f(other, w, map->u);
    brio__normalise3f(map->u);
    brio__cross3f(w, map->u, map->v);
    map->size = size;
    map->texel = 2 * radius / (float)(size - 4);
    float at[3] = {brio__dot3f(centre, map->u), brio__dot3f(centre, map->v),
                   brio__dot3f(centre, w)};
    /* whole texels: shadows do not shimmer */
    for (int k = 0; k < 2; k++)
        at[k] = map->texel * (floorf(at[k] / map->texel) - 0.5f * (float)size);
    for (int r = 0; r < 3; r++)
        map->origin[r] = at[0] * map->u[r] + at[1] * map->v[r] + (at[2] - radius) * w[r];
}

static void map_place(const DepthMap *map, const float x[3], float at[3])
{
    const float d[3] = {x[0] - map->origin[0], x[1] - map->origin[1], x[2] - map->origin[2]};
    at[0] = brio__dot3f(d, map->u) / map->texel;
    at[1] = brio__dot3f(d, map->v) / map->texel;
    at[2] = brio__dot3f(d, map->w);
}

typedef struct MapWork {
    BrioRaster *raster;
    DepthMap *map;
} MapWork;

/* Bands of rows [begin, end): every band looks at all facets, which keeps the order and needs no
 * lists. */
static void fill_bands(void *context, int64_t begin, int64_t end)
{
    MapWork *work = context;
    DepthMap *map = work->map;
    int low = (int)begin * BAND, high = BRIO_MIN((int)end * BAND, map->size) - 1;
    for (int64_t k = (int64_t)low * map->size; k < (int64_t)(high + 1) * map->size; k++)
        map->depth[k] = INFINITY;
    for (int64_t f = 0; f < work->raster->count; f++) {
        float p[3][3];
        if (work->raster->facet[f].flags & BRIO_FACET_GLASS) continue;
        for (int k = 0; k < 3; k++) map_place(map, work->raster->facet[f].corner[k].x, p[k]);
        float y0 = fminf(p[0][1], fminf(p[1][1], p[2][1]));
        float y1 = fmaxf(p[0][1], fmaxf(p[1][1], p[2][1]));
        float x0 = fminf(p[0][0], fminf(p[1][0], p[2][0]));
        float x1 = fmaxf(p[0][0], fmaxf(p[1][0], p[2][0]));
        if (!(y1 >= (float)low && y0 <= (float)high + 1 && x1 >= 0 && x0 < (float)map->size))
            continue;
        float area =
            (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (p[1][1] - p[0][1]);
        if (area == 0) continue;
        int i0 = (int)fmaxf(x0, 0);
        int i1 = (int)fminf(x1, (float)map->size - 1);
        int j0 = (int)fmaxf(y0, (float)low);
        int j1 = (int)fminf(y1, (float)high);
        for (int j = j0; j <= j1; j++)
            for (int i = i0; i <= i1; i++) {
                float w[3], depth = 0, x = (float)i + 0.5f, y = (float)j + 0.5f;
                bool inside = true;
                for (int k = 0; k < 3; k++) {
                    const float *a = p[(k + 1) % 3], *b = p[(k + 2) % 3];
                    w[k] = ((a[0] - x) * (b[1] - y) - (b[0] - x) * (a[1] - y)) / area;
                    inside &= w[k] >= -1e-4f;
                    depth += w[k] * p[k][2];
                }
                float *at = &map->depth[(int64_t)j * map->size + i];
                if (inside && depth < *at) *at = depth;
            }
    }
}

static void fill_map(BrioRaster *r, DepthMap *map)
{
    MapWork work = {r, map};
    brio__parallel_for((map->size + BAND - 1) / BAND, 1, fill_bands, &work);
}

/* The smallest depth in each block and those that a filter may reach from it. */
static void fill_coarse(BrioRaster *r)
{
    enum { WIDE = (REACH + COARSE - 1) / COARSE };
    float tile[TILES * TILES];
    for (int k = 0; k < TILES * TILES; k++) tile[k] = INFINITY;
    for (int j = 0; j < MAP; j++)
        for (int i = 0; i < MAP; i++) {
            float *at = &tile[j / COARSE * TILES + i / COARSE];
            *at = fminf(*at, r->key.depth[(int64_t)j * MAP + i]);
        }
    for (int j = 0; j < TILES; j++)
        for (int i = 0; i < TILES; i++) {
            float min = INFINITY;
            for (int b = BRIO_MAX(j - WIDE, 0); b <= BRIO_MIN(j + WIDE, TILES - 1); b++)
                for (int a = BRIO_MAX(i - WIDE, 0); a <= BRIO_MIN(i + WIDE, TILES - 1); a++)
                    min = fminf(min, tile[b * TILES + a]);
            r->coarse[j * TILES + i] = min;
        }
}

/* How far a body darkens the floor around it. */
static float sky_reach(const BrioView *view)
{
    return fminf(0.30f * view->size, 0.8f * view->radius);
}

/* How much of the sky bodies close above take from each texel of the floor. */
static void fill_darkness(void *context, int64_t begin, int64_t end)
{
    BrioRaster *r = context;
    const DepthMap *map = &r->below;
    float reach = sky_reach(r->view), at_floor = r->view->floor - map->origin[1]; /* w is up */
    for (int j = (int)begin; j < (int)end; j++)
        for (int i = 0; i < NEAR; i++) {
            float sum = 0;
            for (int k = 0; k < TAPS; k++) {
                int a = (int)((float)i + 0.5f + r->tap[k][0] * reach / map->texel);
                int b = (int)((float)j + 0.5f + r->tap[k][1] * reach / map->texel);
                if (a < 0 || b < 0 || a >= NEAR || b >= NEAR) continue;
                float gap = map->depth[b * NEAR + a] - at_floor;
                if (gap < reach && gap > -reach)
                    sum += (1 - fmaxf(gap, 0) / reach) * (1 - fmaxf(gap, 0) / reach);
            }
            r->darkness[j * NEAR + i] = sum / TAPS;
        }
}

/* Between the texels of a map of size n, 0 outside. */
static float look_up(const float *map, int n, float x, float y)
{
    x -= 0.5f;
    y -= 0.5f;
    if (!(x >= 0 && y >= 0 && x < (float)(n - 1) && y < (float)(n - 1))) return 0;
    int i = (int)x, j = (int)y;
    const float *at = map + (int64_t)j * n + i;
    return mix(mix(at[0], at[1], x - (float)i), mix(at[n], at[n + 1], x - (float)i), y - (float)j);
}

/* The fraction of four texels around a place that is farther than `depth`. */
static float lit_fraction(const DepthMap *map, float x, float y, float depth)
{
    x -= 0.5f;
    y -= 0.5f;
    if (!(x >= 0 && y >= 0 && x < (float)(map->size - 1) && y < (float)(map->size - 1))) return 1;
    int i = (int)x, j = (int)y;
    const float *at = map->depth + (int64_t)j * map->size + i;
    float s = x - (float)i, t = y - (float)j;
    return mix(mix(at[0] >= depth, at[1] >= depth, s),
               mix(at[map->size] >= depth, at[map->size + 1] >= depth, s), t);
}

#define SHARP 1.2f /* texels: the narrowest edge of a shadow */

/* How much of the key light a point sees. The depth of the receiver follows its plane, so that it
 * does not shadow itself. */
static float key_visibility(const BrioRaster *r, const float x[3], const float n[3])
{
    const DepthMap *map = &r->key;
    float at[3], off[3], slope[2], facing = -brio__dot3f(n, map->w);
    for (int k = 0; k < 3; k++) off[k] = x[k] + 1.5f * map->texel * n[k];
    map_place(map, off, at);
    if (!(at[0] >= 0 && at[1] >= 0 && at[0] < MAP && at[1] < MAP)) return 1;
    if (r->coarse[(int)at[1] / COARSE * TILES + (int)at[0] / COARSE] >= at[2] - 0.5f * map->texel)
        return 1;
    float steep = map->texel / fmaxf(facing, 0.25f);
    slope[0] =
        brio__dot3f(n, map->u) * steep; /* a step of a texel along u lowers the receiver by it */
    slope[1] = brio__dot3f(n, map->v) * steep;
    float bias = 1.2f * map->texel, wide = REACH, blocked = 0, sum = 0;
    for (int k = 0; k < SEARCH; k++) {
        const float *tap = r->tap[k * TAPS / SEARCH];
        float dx = tap[0] * wide;
        float dy = tap[1] * wide;
        float depth = at[2] + slope[0] * dx + slope[1] * dy - bias;
        int i = (int)(at[0] + dx), j = (int)(at[1] + dy);
        if (i < 0 || j < 0 || i >= MAP || j >= MAP || !(map->depth[(int64_t)j * MAP + i] < depth))
            continue;
        sum += depth - map->depth[(int64_t)j * MAP + i];
        blocked++;
    }
    if (blocked == SEARCH) return 0;
    float gap = blocked > 0 ? sum / blocked : 0;
    float width = fminf(fmaxf(light_size * gap / map->texel, SHARP), wide);
    float lit = 0;
    int every = width > SHARP ? 1 : TAPS / FEW; /* within little more than a texel few will do */
    for (int k = 0; k < TAPS; k += every) {
        float dx = r->tap[k][0] * width, dy = r->tap[k][1] * width;
        lit +=
            lit_fraction(map, at[0] + dx, at[1] + dy, at[2] + slope[0] * dx + slope[1] * dy - bias);
    }
    return lit * (float)every / TAPS;
}

/* ---- shading ---------------------------------------------------------------------------- */

static void backdrop(const BrioView *view, float j, float c[3])
{
    static const float top[3] = {0.905f, 0.925f, 0.950f}, low[3] = {0.745f, 0.775f, 0.815f};
    float t = smooth(0, 1, j / (float)view->height);
    for (int k = 0; k < 3; k++) c[k] = mix(top[k], low[k], t);
}

/* Where the ray through a pixel meets the floor; false: nowhere. */
static bool floor_hit(const BrioView *view, double i, double j, float x[3], double *distance)
{
    double a = (i - 0.5 * view->width) / view->scale;
    double b = (0.5 * view->height - j) / view->scale;
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = view->forward[k] + a * view->right[k] + b * view->up[k];
    if (!(d[1] < -1e-6) || view->eye[1] <= view->floor) return false;
    *distance = (view->floor - view->eye[1]) / d[1];
    for (int k = 0; k < 3; k++) x[k] = (float)(view->eye[k] + *distance * d[k]);
    return true;
}

/* The fraction of a pixel that lines every `step` cover, given the pixel's width on the floor. */
static float grid_coverage(float x, float step, float width, float pixel)
{
    float off = fabsf(x - step * roundf(x / step));
    return clamp01(0.5f + (0.5f * width - off) / pixel) * fminf(1, width / pixel) *
           (1 - smooth(0.15f, 0.4f, pixel / step));
}

/* The floor is the backdrop where the light reaches it, so that it has no horizon. Returns its
 * depth, or a negative number. */
static double shade_behind(const BrioRaster *r, float i, float j, float c[3])
{
    static const float up[3] = {0, 1, 0};
    const BrioView *view = r->view;
    float x[3], beside[3], beyond[3], at[3];
    double depth, other;
    backdrop(view, j, c);
    if (!view->ground || !floor_hit(view, i, j, x, &depth)) return -1;
    float shadow = 1 - key_visibility(r, x, up), lines = 0;
    map_place(&r->below, x, at);
    float dark = look_up(r->darkness, NEAR, at[0], at[1]);
    float away = hypotf(x[0] - view->centre[0], x[2] - view->centre[2]) / view->size;
    if (view->grid && floor_hit(view, i + 1, j, beside, &other) &&
        floor_hit(view, i, j + 1, beyond, &other)) {
        float px = hypotf(beside[0] - x[0], beyond[0] - x[0]) + 1e-12f;
        float pz = hypotf(beside[2] - x[2], beyond[2] - x[2]) + 1e-12f;
        float thin = 0.012f * view->grid_step;
        lines = fmaxf(grid_coverage(x[0], view->grid_step, thin, px),
                      grid_coverage(x[2], view->grid_step, thin, pz)) *
                (1 - smooth(1.2f, 4.5f, away));
    }
    for (int k = 0; k < 3; k++)
        c[k] *= (1 - (0.46f - 0.05f * (float)k) * shadow) * (1 - 0.55f * fminf(dark, 1)) *
                (1 - 0.22f * lines);
    return depth;
}

/* The fraction of a pixel in light checks: parity of the cells at its samples. */
static float light_checks(const BrioFacet *f, const Setup *s, float i, float j)
{
    int light = 0;
    for (int q = 0; q < SAMPLES; q++) {
        float w[3], sum = 0;
        int parity = 0;
        for (int k = 0; k < 3; k++) {
            w[k] = fmaxf(s->a[k] * (i + sample_x[q]) + s->b[k] * (j + sample_y[q]) + (float)s->c[k],
                         0);
            sum += w[k];
        }
        for (int d = 0; d < 3 && sum > 0; d++) {
            float at = 0;
            for (int k = 0; k < 3; k++) at += w[k] / sum * f->corner[k].t[d];
            parity += (int)floorf(at);
        }
        light += parity & 1;
    }
    return (float)light / SAMPLES;
}

/* The side of a facet that is seen is that of its plane: near creases and outlines the smooth
 * normal may point away from the eye, and would make dark specks. It is bent until it does not.
 * Whether the back is seen. */
static bool face_eye(const BrioFacet *f, const float eye[3], float n[3], float *seen)
{
    float p[3], q[3], plane[3];
    for (int r = 0; r < 3; r++) {
        p[r] = f->corner[1].x[r] - f->corner[0].x[r];
        q[r] = f->corner[2].x[r] - f->corner[0].x[r];
    }
    brio__cross3f(p, q, plane);
    bool back = brio__dot3f(plane, eye) < 0 && !(f->flags & BRIO_FACET_CLOSED);
    if (back)
        for (int r = 0; r < 3; r++) n[r] = -n[r];
    *seen = brio__dot3f(n, eye);
    if (*seen < 0.05f) {
        for (int r = 0; r < 3; r++) n[r] += (0.05f - *seen) * eye[r];
        brio__normalise3f(n);
        *seen = 0.05f;
    }
    return back;
}

static void shade_facet(const BrioRaster *r, const BrioFacet *f, const Setup *s, float i, float j,
                        float c[3], double *depth)
{
    float b[3], sum = 0, x[3] = {0}, n[3] = {0}, base[3] = {0}, eye[3], half[3], inverse = 0;
    const BrioView *view = r->view;
    for (int k = 0; k < 3; k++) {
        /* the centre may lie a little beside the facet */
        b[k] = fmaxf((float)(s->a[k] * i + s->b[k] * j + s->c[k]), 0);
        sum += b[k];
    }
    for (int k = 0; k < 3; k++) inverse += (float)(s->a[k] * i + s->b[k] * j + s->c[k]);
    *depth = 1 / fmaxf(inverse, 1e-20f);
    for (int k = 0; k < 3; k++) {
        float w = sum > 0 ? b[k] / sum : 1.0f / 3;
        for (int q = 0; q < 3; q++) {
            x[q] += w * f->corner[k].x[q];
            n[q] += w * f->corner[k].n[q];
            base[q] += w * f->corner[k].c[q];
        }
    }
    brio__normalise3f(n);
    for (int q = 0; q < 3; q++) eye[q] = (float)(view->eye[q] - x[q]);
    brio__normalise3f(eye);
    float seen;
    bool back = face_eye(f, eye, n, &seen);
    if (f->flags & BRIO_FACET_CHECKED) {
        float light = (f->flags & BRIO_FACET_FAINT ? 0.2f : 0.62f) * light_checks(f, s, i, j);
        for (int q = 0; q < 3; q++) base[q] = mix(base[q], 0.86f, light);
    }
    float facing = brio__dot3f(n, r->light),
          lit = facing > 0 ? facing * key_visibility(r, x, n) : 0;
    float sky = 0.5f + 0.5f * n[1], near = 1, grazing = 1 - clamp01(seen);
    if (view->ground)
        near = 1 - 0.55f * (1 - sky) * expf(-fmaxf(x[1] - view->floor, 0) / (0.25f * view->size));
    for (int q = 0; q < 3; q++) half[q] = r->light[q] + eye[q];
    brio__normalise3f(half);
    bool matte = f->flags & BRIO_FACET_MATTE;
    float fresnel = grazing * grazing * grazing * grazing;
    float shine = matte || !(lit > 0) ? 0 : 0.30f * lit * powf(fmaxf(brio__dot3f(n, half), 0), 48);
    /* thin sheets let some light through */
    float through = f->flags & BRIO_FACET_CLOSED || facing > 0 ? 0 : -0.25f * facing;
    for (int q = 0; q < 3; q++) {
        float light = key_strength * key_light[q] * (lit + through) +
                      sky_strength * near * mix(bounce_light[q], sky_light[q], sky);
        c[q] = (back ? 0.86f : 1) * base[q] * light + shine * key_light[q] +
               (matte ? 0.02f : 0.10f) * fresnel * near * sky_light[q];
    }
    float line = 0; /* mesh lines: distances from the edges, in pixels */
    for (int k = 0; k < 3; k++) {
        if (!(f->flags & (unsigned)BRIO_FACET_RULED << k)) continue;
        float away =
            (float)(s->a[k] * i + s->b[k] * j + s->c[k]) / (hypotf(s->a[k], s->b[k]) + 1e-30f);
        line = fmaxf(line, clamp01(0.95f - away));
    }
    for (int q = 0; q < 3; q++) c[q] *= 1 - 0.5f * line;
}

/* Panes in front of a depth tint what is behind them. */
static void shade_walls(const BrioView *view, float i, float j, double depth, float c[3])
{
    for (int w = 0; w < view->wall_count; w++) {
        const float *p = view->wall[w], *n = p + 3, *s = p + 6, *t = p + 9;
        double a = (i - 0.5 * view->width) / view->scale;
        double b = (0.5 * view->height - j) / view->scale;
        double along = 0;
        double gap = 0;
        float d[3], x[3];
        for (int k = 0; k < 3; k++) {
            d[k] = (float)(view->forward[k] + a * view->right[k] + b * view->up[k]);
            along += d[k] * n[k];
            gap += (p[k] - view->eye[k]) * n[k];
        }
        double at = gap / along;
        if (!(at > 0) || !(at < depth)) continue;
        for (int k = 0; k < 3; k++) x[k] = (float)(view->eye[k] + at * d[k]) - p[k];
        float u = brio__dot3f(x, s) / brio__dot3f(s, s);
        float v = brio__dot3f(x, t) / brio__dot3f(t, t);
        float edge = fmaxf(fabsf(u), fabsf(v));
        if (edge > 1) continue;
        float fraction = edge > 0.985f ? 0.5f : 0.24f;
        for (int k = 0; k < 3; k++)
            c[k] = mix(c[k], (k == 2 ? 0.62f : k == 1 ? 0.55f : 0.47f), fraction);
    }
}

/* ---- triangles in the picture ----------------------------------------------------------- */

static void prepare_facets(void *context, int64_t begin, int64_t end)
{
    BrioRaster *r = context;
    const BrioView *view = r->view;
    for (int64_t f = begin; f < end; f++) {
        Setup *s = &r->setup[f];
        double h[3][3], det, near = 1e-6 * view->size, inverse[3][3];
        int in_front = 0;
        s->box[0] = s->box[2] = 1;
        s->box[1] = s->box[3] = 0;
        for (int k = 0; k < 3; k++) {
            const float *x = r->facet[f].corner[k].x;
            project(view, (const double[]){x[0], x[1], x[2]}, h[k]);
            in_front += h[k][2] > near;
        }
        for (int k = 0; k < 3; k++) {
            const double *p = h[(k + 1) % 3], *q = h[(k + 2) % 3];
            inverse[k][0] = p[1] * q[2] - p[2] * q[1];
            inverse[k][1] = p[2] * q[0] - p[0] * q[2];
            inverse[k][2] = p[0] * q[1] - p[1] * q[0];
        }
        det = h[0][0] * inverse[0][0] + h[0][1] * inverse[0][1] + h[0][2] * inverse[0][2];
        if (in_front == 0 || !isfinite(det) || fabs(det) < 1e-300) continue;
        /* y points down: a front face turns the other way */
        if (in_front == 3 && det > 0 && r->facet[f].flags & BRIO_FACET_CLOSED) continue;
        for (int k = 0; k < 3; k++) {
            s->a[k] = (float)(inverse[k][0] / det);
            s->b[k] = (float)(inverse[k][1] / det);
            s->c[k] = inverse[k][2] / det;
            s->slack[k] = -1e-4f * (fabsf(s->a[k]) + fabsf(s->b[k]));
        }
        double low[2] = {0, 0}, high[2] = {view->width - 1, view->height - 1};
        for (int axis = 0; in_front == 3 && axis < 2; axis++) {
            double p = h[0][axis] / h[0][2], q = h[1][axis] / h[1][2], t = h[2][axis] / h[2][2];
            low[axis] = fmax(floor(fmin(p, fmin(q, t)) - 0.01), 0);
            high[axis] = fmin(floor(fmax(p, fmax(q, t)) + 0.01), high[axis]);
        }
        if (!(low[0] <= high[0] && low[1] <= high[1])) continue;
        s->box[0] = (int16_t)low[0];
        s->box[1] = (int16_t)high[0];
        s->box[2] = (int16_t)low[1];
        s->box[3] = (int16_t)high[1];
    }
}

/* Lists of the facets that touch each tile, in their order. */
static BrioStatus bin_facets(BrioRaster *r)
{
    int64_t tiles = (int64_t)r->tiles_x * r->tiles_y, total = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 0) memset(r->bin_start, 0, (size_t)(tiles + 2) * sizeof *r->bin_start);
        for (int64_t f = 0; f < r->count; f++) {
            const int16_t *box = r->setup[f].box;
            if (box[0] > box[1]) continue;
            for (int y = box[2] / TILE; y <= box[3] / TILE; y++)
                for (int x = box[0] / TILE; x <= box[1] / TILE; x++) {
                    int64_t tile = (int64_t)y * r->tiles_x + x;
                    if (pass == 0)
                        r->bin_start[tile + 2]++;
                    else
                        r->bin[r->bin_start[tile + 1]++] = (int32_t)f;
                }
        }
        if (pass == 1) break;
        for (int64_t t = 0; t < tiles; t++) total = r->bin_start[t + 2] += r->bin_start[t + 1];
        if (total > r->bin_room) {
            brio__free(r->bin);
            r->bin_room = 0;
            r->bin = brio__alloc((size_t)total * 3 / 2, sizeof *r->bin);
            if (!r->bin) return BRIO_ERROR_MEMORY;
            r->bin_room = total * 3 / 2;
        }
    }
    return BRIO_OK;
}

/* Pixels left ... right, top ... bottom, and of each sample the nearest facet and 1/depth there. */
typedef struct Tile {
    int left, top, right, bottom;
    float nearest[TILE * TILE][SAMPLES];
    int32_t id[TILE * TILE][SAMPLES];
} Tile;

/* One facet into the samples of a pixel that its edges may reach. */
static void sample_facet(const Setup *s, int32_t f, bool glass, int i, int j, float *depth,
                         int32_t *owner)
{
    float e[3];
    bool outside = false;
    for (int k = 0; k < 3; k++) {
        e[k] = (float)((double)s->a[k] * (i + 0.5) + (double)s->b[k] * (j + 0.5) + s->c[k]);
        outside |= e[k] < -0.5f * (fabsf(s->a[k]) + fabsf(s->b[k])) + s->slack[k];
    }
    if (outside) return;
    for (int q = 0; q < SAMPLES; q++) {
        float p0 = e[0] + s->a[0] * sample_x[q] + s->b[0] * sample_y[q],
              p1 = e[1] + s->a[1] * sample_x[q] + s->b[1] * sample_y[q],
              p2 = e[2] + s->a[2] * sample_x[q] + s->b[2] * sample_y[q], inverse = p0 + p1 + p2;
        if (p0 < s->slack[0] || p1 < s->slack[1] || p2 < s->slack[2] || inverse <= depth[q] ||
            (glass && !(GLASS_SAMPLES >> q & 1)))
            continue;
        depth[q] = inverse;
        owner[q] = f;
    }
}

/* The colour of a pixel: once for each facet that its samples see. */
static void shade_pixel(const BrioRaster *r, int i, int j, const int32_t owner[SAMPLES])
{
    const BrioView *view = r->view;
    float sum[3] = {0};
    unsigned done = 0;
    for (int q = 0; q < SAMPLES; q++) {
        int same = 0;
        float c[3];
        double depth;
        if (done >> q & 1) continue;
        for (int k = q; k < SAMPLES; k++)
            if (owner[k] == owner[q]) {
                done |= 1u << k;
                same++;
            }
        if (owner[q] < 0)
            depth = shade_behind(r, (float)i + 0.5f, (float)j + 0.5f, c);
        else
            shade_facet(r, &r->facet[owner[q]], &r->setup[owner[q]], (float)i + 0.5f,
                        (float)j + 0.5f, c, &depth);
        if (view->wall_count)
            shade_walls(view, (float)i + 0.5f, (float)j + 0.5f, depth < 0 ? INFINITY : depth, c);
        for (int k = 0; k < 3; k++) sum[k] += (float)same * c[k];
    }
    uint8_t *pixel = r->rgb + (size_t)j * r->pitch + 3 * (size_t)i;
    for (int k = 0; k < 3; k++) pixel[k] = brio__colour_byte(sum[k] / SAMPLES);
}

static void draw_tile(const BrioRaster *r, int tile)
{
    static _Thread_local Tile t;
    t.left = tile % r->tiles_x * TILE;
    t.top = tile / r->tiles_x * TILE;
    t.right = BRIO_MIN(t.left + TILE, r->view->width) - 1;
    t.bottom = BRIO_MIN(t.top + TILE, r->view->height) - 1;
    memset(t.id, 0xff, sizeof t.id);
    memset(t.nearest, 0, sizeof t.nearest);
    for (int32_t at = r->bin_start[tile]; at < r->bin_start[tile + 1]; at++) {
        int32_t f = r->bin[at];
        const Setup *s = &r->setup[f];
        bool glass = r->facet[f].flags & BRIO_FACET_GLASS;
        for (int j = BRIO_MAX(t.top, s->box[2]); j <= BRIO_MIN(t.bottom, s->box[3]); j++)
            for (int i = BRIO_MAX(t.left, s->box[0]); i <= BRIO_MIN(t.right, s->box[1]); i++) {
                int pixel = (j - t.top) * TILE + i - t.left;
                sample_facet(s, f, glass, i, j, t.nearest[pixel], t.id[pixel]);
            }
    }
    for (int j = t.top; j <= t.bottom; j++)
        for (int i = t.left; i <= t.right; i++)
            shade_pixel(r, i, j, t.id[(j - t.top) * TILE + i - t.left]);
}

static void draw_tiles(void *context, int64_t begin, int64_t end)
{
    for (int64_t tile = begin; tile < end; tile++) draw_tile(context, (int)tile);
}

/* ---- the whole -------------------------------------------------------------------------- */

BrioStatus brio__raster_create(BrioRaster **raster)
{
    BrioRaster *r = brio__calloc(1, sizeof *r);
    *raster = r;
    if (!r) return BRIO_ERROR_MEMORY;
    r->key.depth = brio__alloc((size_t)MAP * MAP, sizeof(float));
    r->below.depth = brio__alloc((size_t)NEAR * NEAR, sizeof(float));
    r->coarse = brio__alloc((size_t)TILES * TILES, sizeof(float));
    r->darkness = brio__alloc((size_t)NEAR * NEAR, sizeof(float));
    for (int k = 0; k < TAPS; k++) { /* evenly over a disc [Vogel1979] */
        float radius = sqrtf(((float)k + 0.5f) / TAPS), turn = 2.39996323f * (float)k;
        r->tap[k][0] = radius * cosf(turn);
        r->tap[k][1] = radius * sinf(turn);
    }
    if (r->key.depth && r->below.depth && r->coarse && r->darkness) return BRIO_OK;
    brio__raster_free(r);
    *raster = NULL;
    return BRIO_ERROR_MEMORY;
}

void brio__raster_free(BrioRaster *r)
{
    if (!r) return;
    brio__free(r->setup);
    brio__free(r->bin);
    brio__free(r->bin_start);
    brio__free(r->key.depth);
    brio__free(r->below.depth);
    brio__free(r->coarse);
    brio__free(r->darkness);
    brio__free(r);
}

BrioStatus brio__raster_draw(BrioRaster *r, const BrioView *view, const BrioFacet *facet,
                             int64_t count, uint8_t *rgb, size_t pitch)
{
    static const float up[3] = {0, 1, 0};
    r->view = view;
    r->facet = facet;
    r->count = count;
    r->rgb = rgb;
    r->pitch = pitch;
    r->tiles_x = (view->width + TILE - 1) / TILE;
    r->tiles_y = (view->height + TILE - 1) / TILE;
    int64_t tiles = (int64_t)r->tiles_x * r->tiles_y;
    if (count > r->setup_room) {
        brio__free(r->setup);
        r->setup_room = 0;
        r->setup = brio__alloc((size_t)count * 5 / 4, sizeof *r->setup);
        if (!r->setup) return BRIO_ERROR_MEMORY;
        r->setup_room = count * 5 / 4;
    }
    if (tiles > r->tile_room) {
        brio__free(r->bin_start);
        r->tile_room = 0;
        r->bin_start = brio__alloc((size_t)tiles + 2, sizeof *r->bin_start);
        if (!r->bin_start) return BRIO_ERROR_MEMORY;
        r->tile_room = tiles;
    }
    float w[3];
    brio__view_light(view, r->light);
    for (int k = 0; k < 3; k++) w[k] = -r->light[k];
    map_aim(&r->key, MAP, view->centre, view->radius, w);
    map_aim(&r->below, NEAR, view->centre, view->radius + 1.1f * sky_reach(view), up);
    fill_map(r, &r->key);
    fill_coarse(r);
    if (view->ground) {
        fill_map(r, &r->below);
        brio__parallel_for(NEAR, 16, fill_darkness, r);
    }
    brio__parallel_for(count, 4096, prepare_facets, r);
    BRIO_CHECK(bin_facets(r));
    brio__parallel_for(tiles, 1, draw_tiles, r);
    return BRIO_OK;
}
