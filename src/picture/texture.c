/* Textures: a pyramid of pictures, each half as large as the one before [Williams1983]. A pixel
 * takes the mean of several places in the level whose texels are about as far apart as the places
 * are; within a level, colours are interpolated between the four nearest texels. */
#include "texture.h"

#include "../mesh/readers.h"
#include "png.h"
#include "raster.h"

#include <string.h>

enum { MAX_LEVELS = 16 };

/* Linear, times opacity: 65535 is 1. */
typedef uint16_t Texel[4];

struct BrioTexture {
    int level_count;
    int width[MAX_LEVELS], height[MAX_LEVELS];
    Texel *level[MAX_LEVELS]; /* rows from the top */
};

/* ---- the pyramid ------------------------------------------------------------------------ */

static void set_first(BrioTexture *t, const uint8_t *rgba)
{
    float linear[256];
    for (unsigned k = 0; k < 256; k++) {
        float c[3];
        brio__colour_linear(k * 0x10101u, c);
        linear[k] = c[0];
    }
    size_t count = (size_t)t->width[0] * (size_t)t->height[0];
    for (size_t k = 0; k < count; k++, rgba += 4) {
        float opaque = (float)rgba[3] / 255;
        for (int c = 0; c < 3; c++)
            t->level[0][k][c] = (uint16_t)(65535 * opaque * linear[rgba[c]] + 0.5f);
        t->level[0][k][3] = (uint16_t)(65535 * opaque + 0.5f);
    }
}

/* How much of texel x of `count` lies within texel i of `fewer`, both over the same length: in
 * units of which texel i has `count`. */
static uint64_t overlap(int x, int count, int i, int fewer)
{
    int64_t from = BRIO_MAX((int64_t)x * fewer, (int64_t)i * count);
    int64_t to = BRIO_MIN((int64_t)(x + 1) * fewer, (int64_t)(i + 1) * count);
    return to > from ? (uint64_t)(to - from) : 0;
}

/* Each texel is the mean of what it covers of the level below: two by two texels, and of the third
 * a part where their number is odd. */
static void set_level(BrioTexture *t, int k)
{
    int wide = t->width[k - 1], high = t->height[k - 1];
    uint64_t area = (uint64_t)wide * (uint64_t)high;
    for (int j = 0; j < t->height[k]; j++)
        for (int i = 0; i < t->width[k]; i++) {
            uint16_t *texel = t->level[k][(size_t)j * (size_t)t->width[k] + (size_t)i];
            uint64_t sum[4] = {0};
            for (int y = 2 * j; y < BRIO_MIN(2 * j + 3, high); y++)
                for (int x = 2 * i; x < BRIO_MIN(2 * i + 3, wide); x++) {
                    uint64_t weight =
                        overlap(x, wide, i, t->width[k]) * overlap(y, high, j, t->height[k]);
                    const uint16_t *from = t->level[k - 1][(size_t)y * (size_t)wide + (size_t)x];
                    for (int c = 0; c < 4; c++) sum[c] += weight * from[c];
                }
            for (int c = 0; c < 4; c++) texel[c] = (uint16_t)((sum[c] + area / 2) / area);
        }
}

BrioStatus brio__texture_create(const uint8_t *rgba, int width, int height, BrioTexture **texture)
{
    BrioTexture *t = brio__calloc(1, sizeof *t);
    *texture = t;
    if (!t) return BRIO_ERROR_MEMORY;
    for (int k = 0; k < MAX_LEVELS; k++) {
        t->width[k] = BRIO_MAX(width >> k, 1);
        t->height[k] = BRIO_MAX(height >> k, 1);
        t->level[k] = brio__alloc((size_t)t->width[k] * (size_t)t->height[k], sizeof **t->level);
        if (!t->level[k]) {
            brio__texture_free(t);
            *texture = NULL;
            return BRIO_ERROR_MEMORY;
        }
        if (k == 0)
            set_first(t, rgba);
        else
            set_level(t, k);
        t->level_count = k + 1;
        if (t->width[k] == 1 && t->height[k] == 1) break;
    }
    return BRIO_OK;
}

BrioStatus brio__texture_load(const char *file, BrioTexture **texture, BrioError *error)
{
    char *data;
    size_t size;
    uint8_t *rgba;
    int width, height;
    *texture = NULL;
    BRIO_CHECK(brio__read_file(file, &data, &size, error));
    BrioStatus status =
        brio__png_read(file, (const uint8_t *)data, size, &rgba, &width, &height, error);
    brio__free(data);
    if (status != BRIO_OK) return status;
    status = brio__texture_create(rgba, width, height, texture);
    brio__free(rgba);
    return status == BRIO_OK ? BRIO_OK : brio__error(error, status, "out of memory");
}

void brio__texture_free(BrioTexture *t)
{
    if (!t) return;
    for (int k = 0; k < MAX_LEVELS; k++) brio__free(t->level[k]);
    brio__free(t);
}

/* ---- colours ---------------------------------------------------------------------------- */

/* Between the middles of texels: the place of a number of [0, 1) among `count` of them, which
 * repeat. */
static void between(float at, int count, int *low, int *high, float *part)
{
    float place = (at - floorf(at)) * (float)count - 0.5f;
    float down = floorf(place);
    *part = place - down;
    *low = ((int)down + count) % count;
    *high = (*low + 1) % count;
}

static void add_colour(const BrioTexture *t, int k, const float uv[2], float colour[4])
{
    int x[2], y[2];
    float s, r;
    between(uv[0], t->width[k], &x[0], &x[1], &s);
    between(1 - uv[1], t->height[k], &y[0], &y[1], &r);
    for (int q = 0; q < 4; q++) {
        const uint16_t *texel =
            t->level[k][(size_t)y[q / 2] * (size_t)t->width[k] + (size_t)x[q % 2]];
        float weight = (q % 2 ? s : 1 - s) * (q / 2 ? r : 1 - r);
        for (int c = 0; c < 4; c++) colour[c] += weight * (float)texel[c];
    }
}

void brio__texture_mean(const BrioTexture *t, const float (*uv)[2], int count, float colour[4])
{
    float low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    memset(colour, 0, 4 * sizeof *colour);
    for (int k = 0; k < count; k++)
        for (int d = 0; d < 2; d++) {
            if (!isfinite(uv[k][d])) return; /* of a damaged file */
            low[d] = fminf(low[d], uv[k][d]);
            high[d] = fmaxf(high[d], uv[k][d]);
        }
    float wide =
        fmaxf((high[0] - low[0]) * (float)t->width[0], (high[1] - low[1]) * (float)t->height[0]);
    if (!(wide < 1e9f)) return;
    int level = 0;
    for (; wide > 4 && level + 1 < t->level_count; wide *= 0.5f) level++;
    for (int k = 0; k < count; k++) add_colour(t, level, uv[k], colour);
    for (int c = 0; c < 4; c++) colour[c] /= 65535 * (float)count;
}
