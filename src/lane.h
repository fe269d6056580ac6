/* Lanes: eight doubles that are computed together, one element of a batch in each.
 *
 * Formulas written on `lane` read like scalar code (the operators + - * / work as they are) and
 * compile to AVX-512, AVX2, SSE2, NEON or wasm SIMD. A batch holds eight elements on every
 * instruction set, so that data laid out for one serves all. Files that use lanes for speed are
 * compiled once per instruction set. */
#ifndef BRIO_LANE_H
#define BRIO_LANE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
/* Most files are compiled for SSE2 only, and reading the header of all sets takes .3 s each. */
#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

/* LANES is how data is laid out; WIDTH is how many of them an instruction of this compilation works
 * on. They differ only in the one-lane build that `brio bench elements` compares with others. */
#ifdef BRIO_ONE_LANE
enum { LANES = 8, WIDTH = 1 };
#else
enum { LANES = 8, WIDTH = LANES };
#endif

typedef double lane __attribute__((vector_size(8 * WIDTH)));
typedef int64_t lane_int __attribute__((vector_size(8 * WIDTH)));

static inline lane lane_set(double s) { return (lane){0} + s; }
static inline lane lane_load(const double *p) { return *(const lane *)p; }
static inline void lane_store(double *p, lane a) { *(lane *)p = a; }

/* p[index[i]] for each lane i. */
static inline lane lane_gather(const double *p, const int32_t *index)
{
#if defined(BRIO_ONE_LANE)
    return (lane){p[index[0]]};
#elif defined(__AVX512F__)
    return (lane)_mm512_i32gather_pd(_mm256_load_si256((const __m256i *)index), p, 8);
#else
    return (lane){p[index[0]], p[index[1]], p[index[2]], p[index[3]],
                  p[index[4]], p[index[5]], p[index[6]], p[index[7]]};
#endif
}

/* The sum of the lanes, always in the same order. */
static inline double lane_sum(lane a)
{
#ifdef BRIO_ONE_LANE
    return a[0];
#else
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
#endif
}

/* ---- comparisons and choice ------------------------------------------------------------- */

#if defined(__AVX512F__) && defined(__AVX512DQ__) && !defined(BRIO_ONE_LANE)
typedef __mmask8 lane_mask;
static inline lane_mask lane_lt(lane a, lane b)
{
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_LT_OQ);
}
static inline lane_mask lane_le(lane a, lane b)
{
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_LE_OQ);
}
static inline lane_mask lane_and(lane_mask a, lane_mask b) { return a & b; }
static inline lane_mask lane_or(lane_mask a, lane_mask b) { return a | b; }
static inline bool lane_any(lane_mask m) { return m != 0; }
static inline bool lane_test(lane_mask m, int i) { return (m >> i) & 1; }
static inline lane lane_select(lane_mask m, lane a, lane b) /* m ? a : b */
{
    return (lane)_mm512_mask_blend_pd(m, (__m512d)b, (__m512d)a);
}
static inline lane lane_sqrt(lane a) { return (lane)_mm512_sqrt_pd((__m512d)a); }
static inline lane lane_min(lane a, lane b) { return (lane)_mm512_min_pd((__m512d)a, (__m512d)b); }
static inline lane lane_max(lane a, lane b) { return (lane)_mm512_max_pd((__m512d)a, (__m512d)b); }
static inline lane lane_abs(lane a) { return (lane)_mm512_abs_pd((__m512d)a); }
#else
typedef lane_int lane_mask;
static inline lane_mask lane_lt(lane a, lane b) { return a < b; }
static inline lane_mask lane_le(lane a, lane b) { return a <= b; }
static inline lane_mask lane_and(lane_mask a, lane_mask b) { return a & b; }
static inline lane_mask lane_or(lane_mask a, lane_mask b) { return a | b; }
static inline bool lane_any(lane_mask m)
{
    int64_t any = 0;
    for (int i = 0; i < WIDTH; i++) any |= m[i];
    return any != 0;
}
static inline bool lane_test(lane_mask m, int i) { return m[i] != 0; }
static inline lane lane_select(lane_mask m, lane a, lane b)
{
    return (lane)((m & (lane_int)a) | (~m & (lane_int)b));
}
static inline lane lane_min(lane a, lane b) { return lane_select(a < b, a, b); }
static inline lane lane_max(lane a, lane b) { return lane_select(a > b, a, b); }
static inline lane lane_abs(lane a)
{
    return (lane)((lane_int)a & ((lane_int)lane_set(0) + INT64_MAX));
}
static inline lane lane_sqrt(lane a)
{
    union {
        lane all;
        double one[WIDTH];
#if defined(BRIO_ONE_LANE)
#elif defined(__AVX2__)
        __m256d part[2];
#elif defined(__SSE2__)
        __m128d part[4];
#endif
    } u = {a};
#if defined(BRIO_ONE_LANE)
    u.one[0] = __builtin_sqrt(u.one[0]);
#elif defined(__AVX2__)
    for (int i = 0; i < 2; i++) u.part[i] = _mm256_sqrt_pd(u.part[i]);
#elif defined(__SSE2__)
    for (int i = 0; i < 4; i++) u.part[i] = _mm_sqrt_pd(u.part[i]);
#else
    for (int i = 0; i < WIDTH; i++) u.one[i] = sqrt(u.one[i]);
#endif
    return u.all;
}
#endif

static inline lane lane_sign(lane a)
{
    return lane_select(lane_lt(a, lane_set(0)), lane_set(-1), lane_set(1));
}
/* Keeps positive values and makes the rest zero: the PSD projection of an eigenvalue. */
static inline lane lane_positive(lane a) { return lane_max(a, lane_set(0)); }

/* The power of two that brings a in [0, 2^1023) into [1, 2), and its inverse: 2^1023 and 0 for
 * zero. */
static inline lane lane_unit_scale(lane a, lane *inverse)
{
    lane_int exponent = (lane_int)a & 0x7ff0000000000000;
    *inverse = (lane)exponent;
    return (lane)(0x7fe0000000000000 - exponent);
}

/* ---- logarithm -------------------------------------------------------------------------- */

/* ln a for finite normal a > 0, to about one unit in the last place: a = m 2^e with m in
 * [sqrt(1/2), sqrt 2), ln m = 2 artanh(s), s = f/(2 + f), f = m - 1, by its series to
 * s^23 (|s| < 0.1716: the next term is below 2^-58), where 2 s is written f - f^2/2 + s f^2/2 so
 * that the leading term is exact. */
static inline lane lane_log(lane a)
{
    lane_int bits = (lane_int)a;
    lane_int e = (bits - 0x3fe6a09e667f3bcd) >> 52; /* 0x3fe6.. = sqrt(1/2) */
    lane m = (lane)(bits - (e << 52));
    /* int64 -> double without an instruction for it: 2^52 + 2^51 + e has e in its low bits */
    lane exponent = (lane)(e + 0x4338000000000000) - 6755399441055744.0;
    lane f = m - 1, half = 0.5 * f * f, s = f / (m + 1), z = s * s;
    lane series = z * (2.0 / 23) + 2.0 / 21;
    series = series * z + 2.0 / 19;
    series = series * z + 2.0 / 17;
    series = series * z + 2.0 / 15;
    series = series * z + 2.0 / 13;
    series = series * z + 2.0 / 11;
    series = series * z + 2.0 / 9;
    series = series * z + 2.0 / 7;
    series = series * z + 2.0 / 5;
    series = series * z + 2.0 / 3;
    return exponent * 0x1.62e42fefa39efp-1 +
           (f - (half - (s * (half + z * series) + exponent * 0x1.abc9e3b39803fp-56)));
}

/* ---- cube root, for isochoric invariants ------------------------------------------------ */

/* a^(-1/3) for finite normal a > 0: a third of the exponent by integer arithmetic, then Newton
 * steps r <- r (4 - a r^3)/3, which need no division. The start is within 6 %, four steps give full
 * precision. */
static inline lane lane_rcbrt(lane a)
{
    lane r;
    union {
        lane f;
        lane_int i;
        int64_t one[WIDTH];
    } u = {a};
    for (int i = 0; i < WIDTH; i++) u.one[i] = 0x553ef0ff289dd796 - u.one[i] / 3;
    r = u.f;
    for (int k = 0; k < 5; k++) r = r + r * (1 - a * r * r * r) * (1.0 / 3);
    return r;
}

#endif
