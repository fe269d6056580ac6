/* Maps of depths along a direction. The key light has one large map, with percentage-closer soft
 * shadows [Fernando2005]; taps are on a spiral [Vogel1979]. The sky has a small map for each of its
 * directions, evenly over the hemisphere above; the mean of what they see, weighted by the cosine
 * to the normal, is how open a point lies. */
#include "light.h"

#include "../vecf.h"
#include "tone.h"

#include <string.h>

enum {
    MAP = 1536,
    COARSE = 16,
    TILES = MAP / COARSE,
    SKY = 224,
    DIRECTIONS = 40,
    NEAR = 256,
    SOME_BLUR = 5,
    WIDE_BLUR = 16,
    TAPS = 40,
    FEW = 8,
    SEARCH = 16,
    REACH = 40,
    BAND = 64
};

static const float light_size = 0.075f; /* tangent of the angle that the key light has in the sky */
#define FLOOR_EVEN \
    0.03f /* of the sky: entries of the floor's table that differ less are interpolated */
#define FLOOR_REACH 2.2f /* radii of the bodies: how far the table of the floor goes */

/* An orthographic map of depths along a direction: the smallest of each texel. */
typedef struct DepthMap {
    int size;
    float origin[3], u[3], v[3], w[3]; /* corner; w is the direction of depth */
    float texel;                       /* m */
    float *depth;
} DepthMap;

struct BrioLights {
    DepthMap key, sky[DIRECTIONS];
    float *coarse; /* of the key map: smallest depth near each block */
    float *depths; /* of all maps of the sky */
    float *open;   /* of the floor below the bodies: how much of the sky it sees; and scratch */
    float corner[2], step; /* of that table: its corner and distance of its entries, m */
    float tap[TAPS][2];
    float light[3];
    /* the current picture */
    const BrioView *view;
    const BrioFacet *facet;
    int64_t count;
};

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

/* Rows low to high of a map. */
static void fill_rows(const BrioLights *l, DepthMap *map, int low, int high)
{
    for (int64_t k = (int64_t)low * map->size; k < (int64_t)(high + 1) * map->size; k++)
        map->depth[k] = INFINITY;
    for (int64_t f = 0; f < l->count; f++) {
        float p[3][3];
        if (l->facet[f].flags & BRIO_FACET_GLASS) continue;
        for (int k = 0; k < 3; k++) map_place(map, l->facet[f].corner[k].x, p[k]);
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

/* Bands of rows [begin, end): every band looks at all facets, which keeps the order and needs no
 * lists. */
static void fill_key(void *context, int64_t begin, int64_t end)
{
    BrioLights *l = context;
    fill_rows(l, &l->key, (int)begin * BAND, BRIO_MIN((int)end * BAND, MAP) - 1);
}

static void fill_sky(void *context, int64_t begin, int64_t end)
{
    BrioLights *l = context;
    for (int64_t k = begin; k < end; k++) fill_rows(l, &l->sky[k], 0, SKY - 1);
}

/* The smallest depth in each block and those that a filter may reach from it. */
static void fill_coarse(BrioLights *l)
{
    enum { WIDE = (REACH + COARSE - 1) / COARSE };
    float tile[TILES * TILES];
    for (int k = 0; k < TILES * TILES; k++) tile[k] = INFINITY;
    for (int j = 0; j < MAP; j++)
        for (int i = 0; i < MAP; i++) {
            float *at = &tile[j / COARSE * TILES + i / COARSE];
            float depth = l->key.depth[(int64_t)j * MAP + i];
            if (depth < *at) *at = depth;
        }
    for (int j = 0; j < TILES; j++)
        for (int i = 0; i < TILES; i++) {
            float min = INFINITY;
            for (int b = BRIO_MAX(j - WIDE, 0); b <= BRIO_MIN(j + WIDE, TILES - 1); b++)
                for (int a = BRIO_MAX(i - WIDE, 0); a <= BRIO_MIN(i + WIDE, TILES - 1); a++)
                    min = fminf(min, tile[b * TILES + a]);
            l->coarse[j * TILES + i] = min;
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
float brio__lights_key(const BrioLights *l, const float x[3], const float n[3])
{
    const DepthMap *map = &l->key;
    float at[3], off[3], slope[2], facing = -brio__dot3f(n, map->w);
    for (int k = 0; k < 3; k++) off[k] = x[k] + 1.5f * map->texel * n[k];
    map_place(map, off, at);
    if (!(at[0] >= 0 && at[1] >= 0 && at[0] < MAP && at[1] < MAP)) return 1;
    if (l->coarse[(int)at[1] / COARSE * TILES + (int)at[0] / COARSE] >= at[2] - 0.5f * map->texel)
        return 1;
    float steep = map->texel / fmaxf(facing, 0.25f);
    slope[0] =
        brio__dot3f(n, map->u) * steep; /* a step of a texel along u lowers the receiver by it */
    slope[1] = brio__dot3f(n, map->v) * steep;
    float bias = 1.2f * map->texel, wide = REACH, blocked = 0, sum = 0;
    for (int k = 0; k < SEARCH; k++) {
        const float *tap = l->tap[k * TAPS / SEARCH];
        float dx = tap[0] * wide;
        float dy = tap[1] * wide;
        float depth = at[2] + slope[0] * dx + slope[1] * dy - bias;
        int i = (int)(at[0] + dx), j = (int)(at[1] + dy);
        if (i < 0 || j < 0 || i >= MAP || j >= MAP || !(map->depth[(int64_t)j * MAP + i] < depth))
            continue;
        sum += depth - map->depth[(int64_t)j * MAP + i];
        blocked++;
    }
    float gap = blocked > 0 ? sum / blocked : 0;
    float width = fminf(fmaxf(light_size * gap / map->texel, SHARP), wide);
    float lit = 0;
    int every = width > SHARP ? 1 : TAPS / FEW; /* within little more than a texel few will do */
    for (int k = 0; k < TAPS; k += every) {
        float dx = l->tap[k][0] * width, dy = l->tap[k][1] * width;
        lit +=
            lit_fraction(map, at[0] + dx, at[1] + dy, at[2] + slope[0] * dx + slope[1] * dy - bias);
    }
    return lit * (float)every / TAPS;
}

/* ---- the sky ---------------------------------------------------------------------------- */

float brio__lights_sky(const BrioLights *l, const float x[3], const float n[3])
{
    float lit = 0, all = 0, off[3], texel = l->sky[0].texel;
    for (int r = 0; r < 3; r++) off[r] = x[r] + 1.5f * texel * n[r];
    for (int k = 0; k < DIRECTIONS; k++) {
        const DepthMap *map = &l->sky[k];
        float at[3], facing = -brio__dot3f(n, map->w);
        if (facing <= 0) continue;
        map_place(map, off, at);
        /* one texel away, a steep surface may be nearer by its slope */
        float steep = fminf(sqrtf(fmaxf(1 - facing * facing, 0)) / facing, 4);
        all += facing;
        lit += facing * lit_fraction(map, at[0], at[1], at[2] - texel * (0.4f + steep));
    }
    return all > 1e-3f ? lit / all : 1;
}

/* The table of the floor at an entry. */
static float floor_open(const BrioLights *l, int i, int j)
{
    static const float up[3] = {0, 1, 0};
    const float x[3] = {l->corner[0] + l->step * ((float)i + 0.5f), l->view->floor,
                        l->corner[1] + l->step * ((float)j + 0.5f)};
    return brio__lights_sky(l, x, up);
}

/* Every second entry of every second row. */
static void fill_floor(void *context, int64_t begin, int64_t end)
{
    BrioLights *l = context;
    for (int j = 2 * (int)begin; j < 2 * (int)end; j += 2)
        for (int i = 0; i < NEAR; i += 2) l->open[j * NEAR + i] = floor_open(l, i, j);
}

/* The other entries: the mean of the four around them, unless these differ. */
static void refine_floor(void *context, int64_t begin, int64_t end)
{
    BrioLights *l = context;
    for (int j = (int)begin; j < (int)end; j++)
        for (int i = 0; i < NEAR; i++) {
            int left = i & ~1, top = j & ~1;
            if (i == left && j == top) continue;
            int right = BRIO_MIN(left + 2 * (i & 1), NEAR - 2);
            int bottom = BRIO_MIN(top + 2 * (j & 1), NEAR - 2);
            float a = l->open[top * NEAR + left], b = l->open[top * NEAR + right];
            float c = l->open[bottom * NEAR + left], d = l->open[bottom * NEAR + right];
            float low = BRIO_MIN(BRIO_MIN(a, b), BRIO_MIN(c, d));
            float high = BRIO_MAX(BRIO_MAX(a, b), BRIO_MAX(c, d));
            bool even = high - low < FLOOR_EVEN;
            l->open[j * NEAR + i] = even ? 0.25f * (a + b + c + d) : floor_open(l, i, j);
        }
}

/* Means over 2 `wide` + 1 entries along rows, written as columns: twice is both ways. Outside of
 * the table the sky is open. */
static void blur(const float *from, int wide, float *to)
{
    for (int j = 0; j < NEAR; j++) {
        float sum = (float)wide;
        for (int i = -wide; i < NEAR; i++) {
            sum += i + wide < NEAR ? from[j * NEAR + i + wide] : 1;
            sum -= i - wide - 1 >= 0 ? from[j * NEAR + i - wide - 1] : i > 0 ? 1 : 0;
            if (i >= 0) to[i * NEAR + j] = sum / (float)(2 * wide + 1);
        }
    }
}

/* Both ways, twice: nearly a bell. */
static void blur_floor(const float *from, int wide, float *scratch, float *to)
{
    blur(from, wide, scratch);
    blur(scratch, wide, to);
    blur(to, wide, scratch);
    blur(scratch, wide, to);
}

/* The edges of the shadows of all directions show as streaks. They are blurred, the more the sky is
 * open, and kept where something is close above. */
static void soften_floor(BrioLights *l)
{
    float *other = l->open + NEAR * NEAR, *some = other + NEAR * NEAR, *wide = some + NEAR * NEAR;
    blur_floor(l->open, SOME_BLUR, other, some);
    blur_floor(l->open, WIDE_BLUR, other, wide);
    for (int k = 0; k < NEAR * NEAR; k++) {
        float close = smooth(0.45f, 0.8f, 1 - some[k]), near = smooth(0.12f, 0.5f, 1 - wide[k]);
        l->open[k] = mix(wide[k], mix(some[k], l->open[k], close), near);
    }
}

float brio__lights_floor(const BrioLights *l, const float x[3])
{
    float a = (x[0] - l->corner[0]) / l->step, b = (x[2] - l->corner[1]) / l->step;
    float edge = fminf(fminf(a, b), fminf(NEAR - a, NEAR - b)) / (0.2f * NEAR);
    if (!(edge > 0)) return 1;
    return mix(1, look_up(l->open, NEAR, a, b), fminf(edge, 1));
}

/* ---- the whole -------------------------------------------------------------------------- */

const float *brio__lights_direction(const BrioLights *l) { return l->light; }

BrioStatus brio__lights_create(BrioLights **lights)
{
    BrioLights *l = brio__calloc(1, sizeof *l);
    *lights = l;
    if (!l) return BRIO_ERROR_MEMORY;
    l->key.depth = brio__alloc((size_t)MAP * MAP, sizeof(float));
    l->coarse = brio__alloc((size_t)TILES * TILES, sizeof(float));
    l->depths = brio__alloc((size_t)DIRECTIONS * SKY * SKY, sizeof(float));
    l->open = brio__alloc(4 * (size_t)NEAR * NEAR, sizeof(float));
    for (int k = 0; k < TAPS; k++) { /* evenly over a disc [Vogel1979] */
        float radius = sqrtf(((float)k + 0.5f) / TAPS), turn = 2.39996323f * (float)k;
        l->tap[k][0] = radius * cosf(turn);
        l->tap[k][1] = radius * sinf(turn);
    }
    if (l->key.depth && l->coarse && l->depths && l->open) return BRIO_OK;
    brio__lights_free(l);
    *lights = NULL;
    return BRIO_ERROR_MEMORY;
}

void brio__lights_free(BrioLights *l)
{
    if (!l) return;
    brio__free(l->key.depth);
    brio__free(l->coarse);
    brio__free(l->depths);
    brio__free(l->open);
    brio__free(l);
}

void brio__lights_set(BrioLights *l, const BrioView *view, const BrioFacet *facet, int64_t count)
{
    float w[3];
    l->view = view;
    l->facet = facet;
    l->count = count;
    brio__view_light(view, l->light);
    for (int r = 0; r < 3; r++) w[r] = -l->light[r];
    map_aim(&l->key, MAP, view->centre, view->radius, w);
    brio__parallel_for((MAP + BAND - 1) / BAND, 1, fill_key, l);
    fill_coarse(l);
    for (int k = 0; k < DIRECTIONS; k++) {
        float up = ((float)k + 0.5f) / DIRECTIONS, turn = 2.39996323f * (float)k;
        float flat = sqrtf(1 - up * up);
        const float down[3] = {flat * cosf(turn), -up, flat * sinf(turn)};
        l->sky[k].depth = l->depths + (size_t)k * SKY * SKY;
        map_aim(&l->sky[k], SKY, view->centre, view->radius, down);
    }
    brio__parallel_for(DIRECTIONS, 1, fill_sky, l);
    if (!view->ground) return;
    l->step = 2 * FLOOR_REACH * view->radius / NEAR;
    for (int r = 0; r < 2; r++) /* whole steps: it does not shimmer */
        l->corner[r] = l->step * (floorf(view->centre[2 * r] / l->step) - 0.5f * (float)NEAR);
    brio__parallel_for(NEAR / 2, 8, fill_floor, l);
    brio__parallel_for(NEAR, 16, refine_floor, l);
    soften_floor(l);
}
