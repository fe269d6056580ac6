/* Small functions of light and colour. */
#ifndef BRIO_TONE_H
#define BRIO_TONE_H

#include <math.h>

static inline float mix(float a, float b, float t) { return a + (b - a) * t; }
static inline float clamp01(float x) { return x < 0 ? 0 : x > 1 ? 1 : x; }
/* 0 up to low, 1 from high on, smooth between them */
static inline float smooth(float low, float high, float x)
{
    float t = clamp01((x - low) / (high - low));
    return t * t * (3 - 2 * t);
}

/* Highlights are compressed instead of cut off. */
static inline float compressed(float x)
{
    return x > 0.8f ? 0.8f + 0.2f * (1 - expf(-(x - 0.8f) / 0.2f)) : x;
}
/* The light that is seen as x after that. */
static inline float uncompressed(float x)
{
    return x > 0.8f ? 0.8f - 0.2f * logf(1 - (fminf(x, 0.9995f) - 0.8f) / 0.2f) : x;
}

#endif
