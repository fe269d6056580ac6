/* Vectors of three floats, for pictures: as vec.h in half the memory. */
#ifndef BRIO_VECF_H
#define BRIO_VECF_H

#include <math.h>
#include <stdint.h>

static inline float brio__dot3f(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* c = a x b; c is neither of them */
static inline void brio__cross3f(const float a[3], const float b[3], float c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* Divides by the length; a zero vector stays zero. */
static inline void brio__normalise3f(float a[3])
{
    float length = sqrtf(brio__dot3f(a, a));
    for (int r = 0; length > 0 && r < 3; r++) a[r] /= length;
}

/* The normal of the triangle with the vertices t, as long as twice its area. */
static inline void brio__triangle_normalf(const float *x, const int32_t *t, float n[3])
{
    float a[3], b[3];
    for (int r = 0; r < 3; r++) {
        a[r] = x[3 * t[1] + r] - x[3 * t[0] + r];
        b[r] = x[3 * t[2] + r] - x[3 * t[0] + r];
    }
    brio__cross3f(a, b, n);
}

#endif
