/* Signs of determinants of double coordinates without any rounding.
 *
 * A predicate is first computed in doubles with a bound of its error, as Shewchuk does
 * [Shewchuk1997, Section 4]; what the bound cannot decide is computed again in integers. All
 * coordinates of a predicate are whole multiples of one power of two, so differences, products and
 * sums of these numbers are exact whatever the exponents are: expansions would lose bits where
 * products underflow. */
#include "predicate.h"

#include <string.h>

/* ---- integers ---------------------------------------------------------------------- */

/* Doubles reach from 2^-1074 to 2^1024: 2098 bits, one more for a difference. A product of three
 * differences and the sum of six such take three times that and three bits. */
enum { LIMBS = 204 };

typedef struct Whole {
    int sign, size; /* size limbs, the highest not zero; sign 0: zero, size 0 */
    uint32_t limb[LIMBS];
} Whole;

static void trim(Whole *w, int sign)
{
    while (w->size > 0 && w->limb[w->size - 1] == 0) w->size--;
    w->sign = w->size ? sign : 0;
}

/* value = mantissa * 2^exponent with an odd mantissa */
static uint64_t odd_part(double value, int *exponent)
{
    uint64_t bits, mantissa;
    memcpy(&bits, &value, sizeof bits);
    mantissa = bits & 0xfffffffffffffu;
    int power = (int)(bits >> 52 & 0x7ff);
    if (power) mantissa |= 1ull << 52; /* 0: subnormal, without the leading bit */
    int zeros = __builtin_ctzll(mantissa);
    *exponent = BRIO_MAX(power, 1) - 1075 + zeros;
    return mantissa >> zeros;
}

/* The largest power of two of which all values that are not zero are multiples. */
static int common_exponent(const double *const *point, int points, int numbers)
{
    int min = 2000, exponent;
    for (int i = 0; i < points; i++)
        for (int r = 0; r < numbers; r++)
            if (point[i][r] != 0) {
                odd_part(point[i][r], &exponent);
                min = BRIO_MIN(min, exponent);
            }
    return min;
}

/* value / 2^unit */
static void whole_of(double value, int unit, Whole *w)
{
    w->sign = w->size = 0;
    if (value == 0) return;
    int exponent;
    uint64_t mantissa = odd_part(value, &exponent);
    int shift = exponent - unit, skip = shift / 32, bits = shift % 32;
    memset(w->limb, 0, (size_t)skip * sizeof *w->limb);
    w->limb[skip] = (uint32_t)(mantissa << bits);
    w->limb[skip + 1] = (uint32_t)(mantissa >> (32 - bits));
    w->limb[skip + 2] = bits ? (uint32_t)(mantissa >> 32 >> (32 - bits)) : 0;
    w->size = skip + 3;
    trim(w, value > 0 ? 1 : -1);
}

static int compare_sizes(const Whole *a, const Whole *b)
{
    if (a->size != b->size) return a->size > b->size ? 1 : -1;
    for (int i = a->size - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i]) return a->limb[i] > b->limb[i] ? 1 : -1;
    return 0;
}

/* out = a + sign b; out may be a */
static void add(const Whole *a, int sign, const Whole *b, Whole *out)
{
    sign *= b->sign;
    if (a->sign * sign >= 0) {
        const Whole *longer = a->size >= b->size ? a : b, *other = longer == a ? b : a;
        uint64_t carry = 0;
        for (int i = 0; i < longer->size; i++) {
            carry += (uint64_t)longer->limb[i] + (i < other->size ? other->limb[i] : 0);
            out->limb[i] = (uint32_t)carry;
            carry >>= 32;
        }
        out->size = longer->size;
        if (carry) out->limb[out->size++] = (uint32_t)carry;
        trim(out, a->sign ? a->sign : sign);
        return;
    }
    bool a_larger = compare_sizes(a, b) >= 0;
    const Whole *large = a_larger ? a : b, *small = a_larger ? b : a;
    int64_t borrow = 0;
    for (int i = 0; i < large->size; i++) {
        borrow += (int64_t)large->limb[i] - (i < small->size ? small->limb[i] : 0);
        out->limb[i] = (uint32_t)borrow;
        borrow >>= 32;
    }
    out->size = large->size;
    trim(out, a_larger ? a->sign : sign);
}

static void multiply(const Whole *a, const Whole *b, Whole *out)
{
    out->sign = out->size = 0;
    if (!a->sign || !b->sign) return;
    memset(out->limb, 0, (size_t)(a->size + b->size) * sizeof *out->limb);
    for (int i = 0; i < a->size; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < b->size; j++) {
            carry += (uint64_t)a->limb[i] * b->limb[j] + out->limb[i + j];
            out->limb[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        out->limb[i + b->size] = (uint32_t)carry;
    }
    out->size = a->size + b->size;
    trim(out, a->sign * b->sign);
}

static void difference_of(double a, const Whole *b, int unit, Whole *out)
{
    whole_of(a, unit, out);
    add(out, -1, b, out);
}

/* a d - b c */
static void determinant2(const Whole *a, const Whole *b, const Whole *c, const Whole *d, Whole *out)
{
    Whole ad, bc;
    multiply(a, d, &ad);
    multiply(b, c, &bc);
    add(&ad, -1, &bc, out);
}

static int whole_orient3d(const double *a, const double *b, const double *c, const double *d)
{
    const double *const point[4] = {a, b, c, d};
    int unit = common_exponent(point, 4, 3);
    Whole u[3], v[3], w[3], minor, part, sum;
    for (int r = 0; r < 3; r++) {
        Whole from;
        whole_of(a[r], unit, &from);
        difference_of(b[r], &from, unit, &u[r]);
        difference_of(c[r], &from, unit, &v[r]);
        difference_of(d[r], &from, unit, &w[r]);
    }
    sum.sign = sum.size = 0;
    for (int r = 0; r < 3; r++) {
        int s = (r + 1) % 3, t = (r + 2) % 3;
        determinant2(&u[s], &u[t], &v[s], &v[t], &minor);
        multiply(&w[r], &minor, &part);
        add(&sum, 1, &part, &sum);
    }
    return sum.sign;
}

/* In the plane of the coordinates s and t. */
static int whole_orient2d(const double *a, const double *b, const double *c, int s, int t)
{
    const double point[6] = {a[s], a[t], b[s], b[t], c[s], c[t]};
    int unit = common_exponent((const double *const[]){point}, 1, 6);
    Whole u[2], v[2], from, out;
    for (int r = 0; r < 2; r++) {
        whole_of(point[r], unit, &from);
        difference_of(point[2 + r], &from, unit, &u[r]);
        difference_of(point[4 + r], &from, unit, &v[r]);
    }
    determinant2(&u[0], &u[1], &v[0], &v[1], &out);
    return out.sign;
}

static int whole_side(const double *n, const double *p, const double *x)
{
    int unit = common_exponent((const double *const[]){p, x}, 2, 3);
    int slope = common_exponent(&n, 1, 3);
    Whole from, along, normal, part, sum;
    sum.sign = sum.size = 0;
    for (int r = 0; r < 3; r++) {
        whole_of(p[r], unit, &from);
        difference_of(x[r], &from, unit, &along);
        whole_of(n[r], slope, &normal);
        multiply(&along, &normal, &part);
        add(&sum, 1, &part, &sum);
    }
    return sum.sign;
}

/* ---- signs ------------------------------------------------------------------------------ */

/* Every term of orient3d is a product of three differences and takes part in at most eight
 * roundings (three differences, two products, three sums), so its error is below ((1+u)^8 - 1)
 * times the sum of the terms' sizes, u = 2^-53; that sum is itself rounded as often. 18 u covers
 * both. Products that underflow lose at most 2^-1074 each, times a factor below LARGE: far below
 * SMALL. */
static const double ROUNDING = 18 * 0x1p-53, LARGE = 1e100, SMALL = 1e-200;

static int sign_of(double value) { return (value > 0) - (value < 0); }

static bool decided(double value, double size) { return fabs(value) > ROUNDING * size + SMALL; }

int brio__exact_orient3d(const double *a, const double *b, const double *c, const double *d)
{
    double u[3], v[3], w[3], value = 0, size = 0, largest = 0;
    for (int r = 0; r < 3; r++) {
        u[r] = b[r] - a[r];
        v[r] = c[r] - a[r];
        w[r] = d[r] - a[r];
        /* a difference of doubles is zero only if they are equal */
        if (u[r] == 0 && v[r] == 0 && w[r] == 0) return 0;
        if (fabs(u[r]) > largest) largest = fabs(u[r]);
        if (fabs(v[r]) > largest) largest = fabs(v[r]);
        if (fabs(w[r]) > largest) largest = fabs(w[r]);
    }
    for (int r = 0; r < 3; r++) {
        int s = (r + 1) % 3, t = (r + 2) % 3;
        double plus = u[s] * v[t], minus = u[t] * v[s];
        value += w[r] * (plus - minus);
        size += fabs(w[r]) * (fabs(plus) + fabs(minus));
    }
    if (largest < LARGE && decided(value, size)) return sign_of(value);
    return whole_orient3d(a, b, c, d);
}

static int orient2d(const double *a, const double *b, const double *c, int s, int t)
{
    double u[2] = {b[s] - a[s], b[t] - a[t]}, v[2] = {c[s] - a[s], c[t] - a[t]};
    if ((u[0] == 0 && v[0] == 0) || (u[1] == 0 && v[1] == 0) || (u[0] == 0 && u[1] == 0) ||
        (v[0] == 0 && v[1] == 0))
        return 0;
    double plus = u[0] * v[1];
    double minus = u[1] * v[0];
    double largest = fmax(fmax(fabs(u[0]), fabs(u[1])), fmax(fabs(v[0]), fabs(v[1])));
    if (largest < LARGE && decided(plus - minus, fabs(plus) + fabs(minus)))
        return sign_of(plus - minus);
    return whole_orient2d(a, b, c, s, t);
}

int brio__exact_side(const double *n, const double *p, const double *x)
{
    double value = 0, size = 0, largest = 0;
    for (int r = 0; r < 3; r++) {
        double along = x[r] - p[r];
        value += n[r] * along;
        size += fabs(n[r] * along);
        largest = fmax(largest, fmax(fabs(n[r]), fabs(along)));
    }
    return largest < LARGE && decided(value, size) ? sign_of(value) : whole_side(n, p, x);
}

/* ---- segments and triangles ------------------------------------------------------------- */

static bool overlap(double a, double b, double c, double d)
{
    return fmax(fmin(a, b), fmin(c, d)) <= fmin(fmax(a, b), fmax(c, d));
}

/* In the plane of the coordinates s and t; the ends of a segment may coincide. */
static bool segments_in_plane(const double *p, const double *q, const double *a, const double *b,
                              int s, int t)
{
    if (!overlap(p[s], q[s], a[s], b[s]) || !overlap(p[t], q[t], a[t], b[t])) return false;
    /* boxes overlap: for collinear segments that is all (their coordinates run along one line),
     * otherwise each must reach across the other */
    return orient2d(p, q, a, s, t) * orient2d(p, q, b, s, t) <= 0 &&
           orient2d(a, b, p, s, t) * orient2d(a, b, q, s, t) <= 0;
}

bool brio__exact_segments(const double *p, const double *q, const double *a, const double *b)
{
    if (brio__exact_orient3d(p, q, a, b) != 0) return false;
    /* A plane through all four: leaving out a coordinate keeps it one to one if some three of them
     * stay apart from a line. */
    for (int k = 0; k < 3; k++) {
        int s = (k + 1) % 3, t = (k + 2) % 3;
        if (orient2d(p, q, a, s, t) || orient2d(p, q, b, s, t) || orient2d(a, b, p, s, t) ||
            orient2d(a, b, q, s, t))
            return segments_in_plane(p, q, a, b, s, t);
    }
    for (int r = 0; r < 3; r++) /* on one line */
        if (!overlap(p[r], q[r], a[r], b[r])) return false;
    return true;
}

/* The segment lies in the triangle's plane. */
static bool meet_in_plane(const double *p, const double *q, const double *a, const double *b,
                          const double *c)
{
    for (int k = 0; k < 3; k++) {
        int s = (k + 1) % 3, t = (k + 2) % 3, turn = orient2d(a, b, c, s, t);
        if (turn == 0) continue;
        bool inside = turn * orient2d(a, b, p, s, t) >= 0 && turn * orient2d(b, c, p, s, t) >= 0 &&
                      turn * orient2d(c, a, p, s, t) >= 0;
        return inside || segments_in_plane(p, q, a, b, s, t) ||
               segments_in_plane(p, q, b, c, s, t) || segments_in_plane(p, q, c, a, s, t);
    }
    /* no area */
    return brio__exact_segments(p, q, a, b) || brio__exact_segments(p, q, b, c) ||
           brio__exact_segments(p, q, c, a);
}

bool brio__exact_segment_triangle(const double *p, const double *q, const double *a,
                                  const double *b, const double *c)
{
    int from = brio__exact_orient3d(a, b, c, p), to = brio__exact_orient3d(a, b, c, q);
    if (from * to > 0) return false;
    if (from == 0 && to == 0) return meet_in_plane(p, q, a, b, c);
    /* the line through p and q crosses the plane in one point, on the segment: in the triangle if
     * it passes all edges on the same side */
    int side[3] = {brio__exact_orient3d(p, q, a, b), 0, 0};
    side[1] = brio__exact_orient3d(p, q, b, c);
    if (side[0] * side[1] < 0) return false;
    side[2] = brio__exact_orient3d(p, q, c, a);
    return side[0] * side[2] >= 0 && side[1] * side[2] >= 0;
}
