/* Tiles of pixels with eight samples each, in parallel; colours in linear light, written as sRGB.
 */
#include "raster.h"

#include "../vecf.h"
#include "light.h"
#include "scenery.h"
#include "tone.h"

#include <string.h>

enum { TILE = 32, SAMPLES = 8 };

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
static const float key_strength = 1.02f, sky_strength = 0.50f;

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
    BrioLights *lights;
    BrioScenery scenery;
    /* the current picture */
    const BrioView *view;
    const BrioFacet *facet;
    int64_t count;
    int tiles_x, tiles_y;
    uint8_t *rgb;
    size_t pitch;
};

/* ---- colours ---------------------------------------------------------------------------- */

void brio__colour_linear(unsigned srgb, float linear[3])
{
    for (int k = 0; k < 3; k++) {
        float c = (float)(srgb >> (16 - 8 * k) & 255) / 255;
        linear[k] = c <= 0.04045f ? c / 12.92f : powf((c + 0.055f) / 1.055f, 2.4f);
    }
}

uint8_t brio__colour_byte(float light)
{
    float x = compressed(light);
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

/* ---- shading ---------------------------------------------------------------------------- */

/* Weights of a facet's corners at a place of the picture; just outside it, those of its edge. */
static void weights_at(const Setup *s, float i, float j, float w[3])
{
    float sum = 0;
    for (int k = 0; k < 3; k++) {
        w[k] = fmaxf((float)(s->a[k] * i + s->b[k] * j + s->c[k]), 0);
        sum += w[k];
    }
    for (int k = 0; k < 3; k++) w[k] = sum > 0 ? w[k] / sum : 1.0f / 3;
}

/* The fraction of a pixel in light checks: parity of the cells at its samples. */
static float light_checks(const BrioFacet *f, const Setup *s, float i, float j)
{
    int light = 0;
    for (int q = 0; q < SAMPLES; q++) {
        float w[3];
        int parity = 0;
        weights_at(s, i + sample_x[q], j + sample_y[q], w);
        for (int d = 0; d < 3; d++)
            parity += (int)floorf(w[0] * f->corner[0].t[d] + w[1] * f->corner[1].t[d] +
                                  w[2] * f->corner[2].t[d]);
        light += parity & 1;
    }
    return (float)light / SAMPLES;
}

/* The texture's colour over that of the surface. */
static void put_texture(const BrioFacet *f, const Setup *s, float i, float j, float base[3])
{
    float uv[SAMPLES][2], colour[4];
    for (int q = 0; q < SAMPLES; q++) {
        float w[3];
        weights_at(s, i + sample_x[q], j + sample_y[q], w);
        for (int d = 0; d < 2; d++)
            uv[q][d] =
                w[0] * f->corner[0].t[d] + w[1] * f->corner[1].t[d] + w[2] * f->corner[2].t[d];
    }
    brio__texture_mean(f->texture, uv, SAMPLES, colour);
    for (int k = 0; k < 3; k++) base[k] = colour[k] + (1 - colour[3]) * base[k];
}

/* Whether the back of a sheet is seen. Where all smooth normals of a facet show one side, it is
 * that one: along a fold some facets lean a little over, and would be dark teeth there. Where they
 * do not, as at outlines, it is the side of the facet's plane: a part of it would be taken for the
 * inside of the fold, which is dark. */
static bool shows_back(const BrioFacet *f, const float eye[3])
{
    const BrioCorner *c = f->corner;
    int front = 0;
    for (int k = 0; k < 3; k++) front += brio__dot3f(c[k].n, eye) > 0;
    if (front == 0 || front == 3) return front == 0;
    float a[3], b[3], plane[3];
    for (int r = 0; r < 3; r++) {
        a[r] = c[1].x[r] - c[0].x[r];
        b[r] = c[2].x[r] - c[0].x[r];
    }
    brio__cross3f(a, b, plane);
    return brio__dot3f(plane, eye) < 0;
}

/* The normal of the side that is seen. The smooth one may point away from the eye near creases and
 * outlines; it is bent until it does not. Whether the back is seen. */
static bool face_eye(const BrioFacet *f, const float eye[3], float n[3])
{
    bool back = !(f->flags & BRIO_FACET_CLOSED) && shows_back(f, eye);
    for (int r = 0; back && r < 3; r++) n[r] = -n[r];
    float seen = brio__dot3f(n, eye);
    if (seen < 0.05f) {
        for (int r = 0; r < 3; r++) n[r] += (0.05f - seen) * eye[r];
        brio__normalise3f(n);
    }
    return back;
}

/* The light that a surface of the colour `base` sends to the eye. */
static void light_surface(const BrioRaster *r, unsigned flags, const float x[3], const float n[3],
                          const float eye[3], const float base[3], float c[3])
{
    const BrioView *view = r->view;
    const float *key = brio__lights_direction(r->lights);
    bool matte = flags & BRIO_FACET_MATTE;
    float facing = brio__dot3f(n, key), half[3];
    float lit = facing > 0 ? facing * brio__lights_key(r->lights, x, n) : 0;
    float open = mix(0.25f, 1, brio__lights_sky(r->lights, x, n));
    float sky = 0.5f + 0.5f * n[1];
    if (view->ground)
        open *= 1 - 0.55f * (1 - sky) * expf(-fmaxf(x[1] - view->floor, 0) / (0.25f * view->size));
    for (int q = 0; q < 3; q++) half[q] = key[q] + eye[q];
    brio__normalise3f(half);
    float grazing = 1 - clamp01(brio__dot3f(n, eye));
    float edge = (matte ? 0.02f : 0.10f) * grazing * grazing * grazing * grazing;
    float shine = matte || !(lit > 0) ? 0 : 0.30f * lit * powf(fmaxf(brio__dot3f(n, half), 0), 48);
    /* thin sheets let some light through */
    float through = flags & BRIO_FACET_CLOSED || facing > 0 ? 0 : -0.4f * facing;
    for (int q = 0; q < 3; q++) {
        float light = key_strength * key_light[q] * (lit + through) +
                      sky_strength * open * mix(bounce_light[q], sky_light[q], sky);
        c[q] = base[q] * light + shine * key_light[q] + edge * open * sky_light[q];
    }
}

static void shade_facet(const BrioRaster *r, const BrioFacet *f, const Setup *s, float i, float j,
                        float c[3], double *depth)
{
    float w[3], x[3] = {0}, n[3] = {0}, base[3] = {0}, eye[3], inverse = 0;
    for (int k = 0; k < 3; k++) inverse += (float)(s->a[k] * i + s->b[k] * j + s->c[k]);
    *depth = 1 / fmaxf(inverse, 1e-20f);
    weights_at(s, i, j, w);
    for (int k = 0; k < 3; k++)
        for (int q = 0; q < 3; q++) {
            x[q] += w[k] * f->corner[k].x[q];
            n[q] += w[k] * f->corner[k].n[q];
            base[q] += w[k] * f->corner[k].c[q];
        }
    brio__normalise3f(n);
    for (int q = 0; q < 3; q++) eye[q] = (float)(r->view->eye[q] - x[q]);
    brio__normalise3f(eye);
    bool back = face_eye(f, eye, n);
    if (f->texture) {
        put_texture(f, s, i, j, base);
    } else if (f->flags & BRIO_FACET_CHECKED) {
        float light = (f->flags & BRIO_FACET_FAINT ? 0.2f : 0.62f) * light_checks(f, s, i, j);
        for (int q = 0; q < 3; q++) base[q] = mix(base[q], 0.86f, light);
    }
    for (int q = 0; q < 3; q++) base[q] *= back ? 0.86f : 1;
    light_surface(r, f->flags, x, n, eye, base, c);
    float line = 0; /* mesh lines: distances from the edges, in pixels */
    for (int k = 0; k < 3; k++) {
        if (!(f->flags & (unsigned)BRIO_FACET_RULED << k)) continue;
        float away =
            (float)(s->a[k] * i + s->b[k] * j + s->c[k]) / (hypotf(s->a[k], s->b[k]) + 1e-30f);
        line = fmaxf(line, clamp01(0.95f - away));
    }
    for (int q = 0; q < 3; q++) c[q] *= 1 - 0.5f * line;
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
            depth = brio__scenery_behind(&r->scenery, (float)i + 0.5f, (float)j + 0.5f, c);
        else
            shade_facet(r, &r->facet[owner[q]], &r->setup[owner[q]], (float)i + 0.5f,
                        (float)j + 0.5f, c, &depth);
        if (view->wall_count)
            brio__scenery_panes(&r->scenery, (float)i + 0.5f, (float)j + 0.5f,
                                depth < 0 ? INFINITY : depth, c);
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
    if (brio__lights_create(&r->lights) == BRIO_OK) return BRIO_OK;
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
    brio__lights_free(r->lights);
    brio__free(r);
}

BrioStatus brio__raster_draw(BrioRaster *r, const BrioView *view, const BrioFacet *facet,
                             int64_t count, uint8_t *rgb, size_t pitch)
{
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
    brio__lights_set(r->lights, view, facet, count);
    brio__scenery_set(&r->scenery, view, r->lights);
    brio__parallel_for(count, 4096, prepare_facets, r);
    BRIO_CHECK(bin_facets(r));
    brio__parallel_for(tiles, 1, draw_tiles, r);
    return BRIO_OK;
}
