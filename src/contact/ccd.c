/* Continuous collision detection: conservative advancement along the direction between the closest
 * points.
 *
 * Additive continuous collision detection [Li2021] advances time by distance over a bound on the
 * approach speed, so that no root of a polynomial is ever asked for. This is the same idea with a
 * sharper bound: at time t let n point from the closest point of B to that of A. While
 *
 *     n.(a_i - b_j) > m |n|    for all corners a_i of A and b_j of B (1)
 *
 * the primitives are farther apart than m, since n separates their convex hulls. Corners move
 * linearly, so each left side is linear in time and (1) holds up to a time that one division gives.
 * At time t the left sides are at least |n| times the distance, and they shrink at most by |n|
 * times the bound of additive CCD: the step is never shorter, a pair that slides past at a small
 * distance takes a few steps, and one that moves without turning takes one.
 *
 * Where (1) gives short steps, as it does for a pair that turns at a small distance, a second
 * certificate is tried: the vertex is farther than m from the plane of the face (the lines through
 * the edges are farther apart than m) while
 *
 *     |det(t)| > m |N(t)|,    det = a.(b x c),  N = b x c (2)
 *
 * with b, c the two edges of the face (both edges) and a a difference across. For m = 0 that says
 * that the four corners are in no plane. The Bernstein coefficients of the cubic det and of the
 * quadratic N bound both sides, the convex hull of the coefficients bounds the difference from
 * below, and the first zero of that hull is a time up to which (2) holds (Bezier clipping,
 * [Sederberg1990]).
 *
 * Why no contact is missed: time advances only over intervals on which (1) or (2) is proven for the
 * motion (1-t) x0 + t x1 of the given doubles in exact arithmetic. n, the clipping interval and the
 * order of the tests come from rounded computations, but (1) and (2) are certificates for any n and
 * any interval. Rounding enters at three places only, with u = 2^-53:
 *   - p = n.(a_i - b_j) at t = 0 and at t = 1. The differences of given doubles have relative
 *     errors u, so that |error| <= 4u S with S = sum_k |n_k||a_i - b_j|_k; 8u S is taken off, which
 *     also covers the rounding of S and of that subtraction. Between the ends, the linear function
 *     through the two lower bounds is below the true one.
 *   - the zero of that linear function: relative error 2u; 8u is taken off.
 *   - det: each of its terms has a relative error of at most 11u after the mean of three, and six
 *     de Casteljau levels add 18u; 33u times a bound on the sum of the terms' sizes is taken off,
 *     and 16u off its zeros. Products that underflow are covered by TINY and TINY_CUBE after
 *     scaling. Whatever does not get through these tests is answered by "may touch", at the time up
 *     to which the proof goes. The steps of the line search add to m what the rounding of x + t dx,
 *     by the caller and here, can move points. */
#include "ccd.h"
#include "../distance.h"
#include "../base.h"

#include <math.h>
#include <stdbool.h>

#define U 0x1p-53
#define TINY 1e-300      /* > all underflow errors of n.(a - b), |n|_max = 1 */
#define TINY_CUBE 1e-280 /* > all underflow errors of det for sizes up to LARGEST_SIZE */
#define LARGEST_SIZE 1e30
#define SMALLEST_SIZE 1e-30
#define SEPARATED 2.0 /* a "time" after the end */

/* A power of two that brings a size near 1. */
static double scale_for(double size)
{
    int exponent = 1000;
    if (size <= 1e300) frexp(size, &exponent);
    return ldexp(1, exponent > -1000 ? -exponent : 1000);
}

/* The corners' differences a_i - b_j at both ends of the motion; for v f0 f1 f2 the pairs are
 * (v, f_i). */
typedef struct Motion {
    int pairs; /* 3: vertex-face, 4: edge-edge */
    double from[4][3], to[4][3];
} Motion;

static const int face_pairs[3][2] = {{0, 1}, {0, 2}, {0, 3}};
static const int edge_pairs[4][2] = {{0, 2}, {0, 3}, {1, 2}, {1, 3}};

static inline void differences(int pairs, const double x[12], double d[4][3])
{
    const int(*pair)[2] = pairs == 3 ? face_pairs : edge_pairs;
    for (int i = 0; i < pairs; i++)
        for (int k = 0; k < 3; k++) d[i][k] = x[3 * pair[i][0] + k] - x[3 * pair[i][1] + k];
}

/* Inline, unlike fmax and fmin; a b that is not a number is passed over, as by these. */
static inline double larger(double a, double b) { return b > a ? b : a; }
static inline double smaller(double a, double b) { return b < a ? b : a; }

static inline double largest(int count, const double *x)
{
    double max = 0;
    for (int i = 0; i < count; i++) max = larger(max, fabs(x[i]));
    return max;
}

static inline double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Takes the part along e off n. */
static inline void make_orthogonal(const double e[3], double n[3])
{
    double square = dot(e, e);
    if (!(square > 0)) return;
    double fraction = dot(e, n) / square;
    for (int k = 0; k < 3; k++) n[k] -= fraction * e[k];
}

static inline void normalise(double n[3])
{
    double scale = 1 / largest(3, n);
    for (int k = 0; k < 3; k++) n[k] *= scale;
}

/* n: from the closest point of B to that of A at time t, with a largest component of 1; returns the
 * distance. n is not a number if they touch.
 *
 * As the difference of two points at the distance d it has a relative error of about u size/d,
 * which tilts it against the edges that it must be orthogonal to; below d = sqrt(u) size it would
 * separate nothing any more. So it is made orthogonal again, which leaves an error of u. */
static double axis_at(const Motion *motion, double t, double n[3])
{
    double d[4][3], x[12], w[4], e1[3] = {0}, e2[3] = {0}, distance;
    for (int i = 0; i < motion->pairs; i++)
        for (int k = 0; k < 3; k++) d[i][k] = (1 - t) * motion->from[i][k] + t * motion->to[i][k];
    if (motion->pairs == 3) { /* the vertex in the origin */
        for (int k = 0; k < 3; k++) {
            x[k] = 0;
            for (int i = 0; i < 3; i++) x[3 + 3 * i + k] = -d[i][k];
        }
        distance = brio__closest_vertex_face(x, w);
        int corner[3] = {0}, corners = 0;
        for (int i = 0; i < 3; i++)
            if (w[1 + i] < 0) corner[corners++] = i;
        for (int k = 0; k < 3; k++) {
            n[k] = -(w[1] * d[0][k] + w[2] * d[1][k] + w[3] * d[2][k]);
            if (corners > 1) e1[k] = d[corner[0]][k] - d[corner[1]][k];
            if (corners > 2) e2[k] = d[corner[0]][k] - d[corner[2]][k];
        }
    } else { /* b0 in the origin */
        for (int k = 0; k < 3; k++) {
            x[k] = d[0][k];
            x[3 + k] = d[2][k];
            x[6 + k] = 0;
            x[9 + k] = d[0][k] - d[1][k];
        }
        distance = brio__closest_edge_edge(x, w);
        for (int k = 0; k < 3; k++) {
            n[k] = w[0] * x[k] + w[1] * x[3 + k] + w[3] * x[9 + k];
            if (w[0] > 0 && w[1] > 0) e1[k] = x[3 + k] - x[k];
            if (w[2] < 0 && w[3] < 0) e2[k] = x[9 + k];
        }
    }
    normalise(n);
    make_orthogonal(e1, n);
    make_orthogonal(e1, e2);
    make_orthogonal(e2, n);
    normalise(n);
    return distance;
}

/* A lower bound of n.d - margin |n|; `margin` comes multiplied by |n| and rounded up. */
static inline double lower_bound(const double n[3], const double d[3], double margin)
{
    double p0 = n[0] * d[0], p1 = n[1] * d[1], p2 = n[2] * d[2];
    return p0 + p1 + p2 - 8 * U * (fabs(p0) + fabs(p1) + fabs(p2)) - TINY - margin;
}

/* The time up to which (1) is proven if it is from `t` on; `t` if it is not; SEPARATED if it is to
 * the end. */
static double advance_along(const Motion *motion, const double n[3], double margin, double t)
{
    margin *= sqrt(dot(n, n)) * (1 + 16 * U);
    double until = SEPARATED;
    for (int i = 0; i < motion->pairs; i++) {
        double from = lower_bound(n, motion->from[i], margin);
        double to = lower_bound(n, motion->to[i], margin);
        if (from > 0 && to > 0) continue;
        if (from > 0 && to <= 0) {
            until = smaller(until, from / (from - to) * (1 - 8 * U));
        } else if (!(from <= 0 && to > 0 && t > from / (from - to) * (1 + 8 * U))) {
            return t;
        }
    }
    return larger(t, until);
}

/* ---- coplanarity ------------------------------------------------------------------------ */

typedef struct Cubic {
    double c[4];  /* Bernstein coefficients on [0, 1] */
    double error; /* of each, and of each on a part of [0, 1] */
} Cubic;

static inline double determinant(const double a[3], const double b[3], const double c[3])
{
    return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
           a[2] * (b[0] * c[1] - b[1] * c[0]);
}

static inline double norm_of_cross(const double a[2][3], const double b[2][3], int i, int j)
{
    double square = 1e-300; /* of (a_i x b_j + a_j x b_i) / 2; not below it, should it underflow */
    for (int k = 0; k < 3; k++) {
        int l = (k + 1) % 3, m = (k + 2) % 3;
        double c =
            0.5 * (a[i][l] * b[j][m] - a[i][m] * b[j][l] + a[j][l] * b[i][m] - a[j][m] * b[i][l]);
        square += c * c;
    }
    return sqrt(square);
}

/* a.(b x c) as a function of time, for three vectors given at both ends; with a margin,
 * |a.(b x c)| - margin |b x c|, or rather a lower bound of it that uses the Bernstein form of
 * b x c: |sum_k B_k n_k| <= sum_k B_k |n_k|. */
static void coplanarity(const double a[2][3], const double b[2][3], const double c[2][3],
                        double margin, Cubic *cubic)
{
    double sum[4] = {0, 0, 0, 0}, max[3][3], size = 0;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 2; k++) sum[i + j + k] += determinant(a[i], b[j], c[k]);
    cubic->c[0] = sum[0];
    cubic->c[1] = sum[1] / 3;
    cubic->c[2] = sum[2] / 3;
    cubic->c[3] = sum[3];
    for (int k = 0; k < 3; k++) {
        max[0][k] = larger(fabs(a[0][k]), fabs(a[1][k]));
        max[1][k] = larger(fabs(b[0][k]), fabs(b[1][k]));
        max[2][k] = larger(fabs(c[0][k]), fabs(c[1][k]));
    }
    for (int k = 0; k < 3; k++) { /* the sizes of the six terms, at most */
        int i = (k + 1) % 3, j = (k + 2) % 3;
        size += max[0][k] * (max[1][i] * max[2][j] + max[1][j] * max[2][i]);
    }
    cubic->error = size < 1e300 ? 33 * U * size + TINY_CUBE : INFINITY;
    if (!(margin > 0)) return;
    double n[3] = {norm_of_cross(b, c, 0, 0), norm_of_cross(b, c, 0, 1), norm_of_cross(b, c, 1, 1)};
    double elevated[4] = {n[0], (n[0] + 2 * n[1]) / 3, (2 * n[1] + n[2]) / 3, n[2]};
    double sign = cubic->c[0] < 0 ? -1 : 1;
    for (int k = 0; k < 4; k++) cubic->c[k] = sign * cubic->c[k] - margin * elevated[k];
    cubic->error +=
        33 * U * margin * (max[1][0] + max[1][1] + max[1][2]) * (max[2][0] + max[2][1] + max[2][2]);
}

/* The Bernstein coefficients on [low, high]. */
static void restrict_cubic(const Cubic *cubic, double low, double high, double c[4])
{
    double fraction = low < 1 ? (high - low) / (1 - low) : 0;
    for (int k = 0; k < 4; k++) c[k] = cubic->c[k];
    for (int level = 3; level > 0; level--)
        for (int k = 0; k < level; k++) c[k] = (1 - low) * c[k] + low * c[k + 1];
    if (fraction < 1)
        for (int level = 1; level < 4; level++)
            for (int k = 3; k >= level; k--) c[k] = (1 - fraction) * c[k - 1] + fraction * c[k];
}

/* A time up to which the cubic has no zero from `t` on (`t` if it may vanish there); SEPARATED if
 * it has none to the end. */
static double advance_cubic(const Cubic *cubic, double t, int steps)
{
    double low = t, high = 1, sign = 0;
    for (int step = 0; step < steps; step++) {
        double c[4], first = SEPARATED, last = 0, width = high - low;
        restrict_cubic(cubic, low, high, c);
        if (step == 0) sign = c[0] < 0 ? -1 : 1;
        for (int k = 0; k < 4; k++) c[k] = sign * c[k] - cubic->error;
        if (!(c[0] > 0)) break;
        for (int i = 0; i < 3; i++) /* where the segments of the convex hull may cross zero */
            for (int j = i + 1; j < 4; j++)
                if ((c[i] > 0) != (c[j] > 0)) {
                    double zero = (i + (j - i) * (c[i] / (c[i] - c[j]))) / 3;
                    if (c[i] > 0) first = smaller(first, zero);
                    last = larger(last, zero);
                }
        if (first > 1) {
            if (high == 1) return SEPARATED;
            low = high * (1 - 16 * U);
            high = smaller(1, low + 4 * width);
        } else {
            double next = larger(low, (low + first * width) * (1 - 16 * U));
            double end = low + last * width;
            if (!(next - low > 16 * U * next) && width <= 64 * U * next) break;
            /* What to look at next is free to choose: around all zeros, or, if these lie apart,
             * around the first half. */
            high = end - next < 0.5 * width ? smaller(1, end + 16 * U) : next + 0.5 * (high - next);
            low = next;
        }
    }
    return low;
}

/* ---- queries ---------------------------------------------------------------------------- */

/* After so many steps, or so many short ones, a pair is so near that rounding decides: "may
 * touch". */
#define QUERY_STEPS 128
#define QUERY_CLIPS 40
#define SHORT_STEPS 8
#define SHORT 0x1p-32

/* det(v - f0, f1 - f0, f2 - f0), or det(a0 - b0, a1 - a0, b1 - b0). */
static void query_cubic(int pairs, const double x0[12], const double x1[12], Cubic *cubic)
{
    static const int face_rows[3][2] = {{0, 1}, {2, 1}, {3, 1}};
    static const int edge_rows[3][2] = {{0, 2}, {1, 0}, {3, 2}};
    const int(*row)[2] = pairs == 3 ? face_rows : edge_rows;
    double d[3][2][3];
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++) {
            d[r][0][k] = x0[3 * row[r][0] + k] - x0[3 * row[r][1] + k];
            d[r][1][k] = x1[3 * row[r][0] + k] - x1[3 * row[r][1] + k];
        }
    coplanarity(d[0], d[1], d[2], 0, cubic);
}

static int query(int pairs, const double x0[12], const double x1[12], double *toi)
{
    *toi = 0;
    double max = larger(largest(12, x0), largest(12, x1)), sum = 0;
    for (int i = 0; i < 12; i++) sum += x0[i] * 0 + x1[i] * 0;
    if (!(sum == 0)) return 1; /* not finite */

    /* Only differences matter: bring the largest into a range where neither they nor their products
     * overflow. */
    double y[2][12], early = max > 1e300 ? 0x1p-10 : 1;
    Motion motion = {.pairs = pairs};
    differences(pairs, x0, motion.from);
    differences(pairs, x1, motion.to);
    double size =
        larger(largest(3 * pairs, &motion.from[0][0]), largest(3 * pairs, &motion.to[0][0]));
    if (size == 0) return 1;
    if (size > LARGEST_SIZE || size < SMALLEST_SIZE) {
        double scale = early * scale_for(size);
        for (int i = 0; i < 12; i++) {
            y[0][i] = scale * x0[i];
            y[1][i] = scale * x1[i];
        }
        x0 = y[0];
        x1 = y[1];
        differences(pairs, x0, motion.from);
        differences(pairs, x1, motion.to);
    }

    Cubic cubic;
    bool have_cubic = false;
    double t = 0;
    for (int step = 0, shorts = 0; step < QUERY_STEPS && shorts < SHORT_STEPS; step++) {
        double n[3];
        if (!(axis_at(&motion, t, n) > 0)) break;
        double until = advance_along(&motion, n, 0, t);
        if (until < t + 0.5 * (1 - t)) {
            if (!have_cubic) query_cubic(pairs, x0, x1, &cubic);
            have_cubic = true;
            until = larger(until, advance_cubic(&cubic, t, QUERY_CLIPS));
        }
        if (until > 1) {
            *toi = 1;
            return 0;
        }
        if (until == t) break;
        shorts += until - t < SHORT * until;
        t = until;
    }
    *toi = t;
    return 1;
}

int brio_ccd_vertex_face(const double x0[12], const double x1[12], double *toi)
{
    if (toi) *toi = 0;
    BRIO_NEEDS_OR(x0 && x1 && toi, 1);
    return query(3, x0, x1, toi);
}

int brio_ccd_edge_edge(const double x0[12], const double x1[12], double *toi)
{
    if (toi) *toi = 0;
    BRIO_NEEDS_OR(x0 && x1 && toi, 1);
    return query(4, x0, x1, toi);
}

/* ---- steps of the line search ----------------------------------------------------------- */

#define STEP_STEPS 256
#define STEP_CLIPS 8
#define LEFT_OVER \
    0.03125 /* of the difference between the first distance and the one to keep: close enough */

/* As advance_along, by the distance of the vertex from the plane of the face (of the lines through
 * the edges). */
static double advance_off_plane(const Motion *motion, double margin, double t)
{
    double d[3][2][3];
    const double(*from)[3] = motion->from, (*to)[3] = motion->to;
    for (int k = 0; k < 3; k++) {
        double now[3];
        for (int i = 0; i < 3; i++) now[i] = (1 - t) * from[i][k] + t * to[i][k];
        d[0][0][k] = now[0];
        d[0][1][k] = to[0][k];
        d[1][0][k] = now[0] - now[1]; /* f1 - f0, b1 - b0 */
        d[1][1][k] = to[0][k] - to[1][k];
        d[2][0][k] = now[0] - now[2]; /* f2 - f0, a0 - a1 */
        d[2][1][k] = to[0][k] - to[2][k];
    }
    Cubic cubic;
    coplanarity(d[0], d[1], d[2], margin, &cubic);
    if (!(cubic.c[0] > 0)) return t;
    double fraction = advance_cubic(&cubic, 0, STEP_CLIPS);
    return fraction > 1 ? SEPARATED : larger(t, (t + fraction * (1 - t)) * (1 - 16 * U));
}

static double step(int pairs, const double x[12], const double dx[12], double thickness,
                   double keep)
{
    Motion motion = {.pairs = pairs};
    double velocity[4][3];
    differences(pairs, x, motion.from);
    differences(pairs, dx, velocity);
    double size =
        larger(largest(3 * pairs, &motion.from[0][0]), largest(3 * pairs, &velocity[0][0]));
    if (size > 0 && (size > LARGEST_SIZE || size < SMALLEST_SIZE)) {
        double y[12], dy[12], scale = scale_for(size);
        if (!(size <= 1e300)) return 0;
        for (int i = 0; i < 12; i++) {
            y[i] = scale * x[i];
            dy[i] = scale * dx[i];
        }
        return step(pairs, y, dy, scale * thickness, keep);
    }
    for (int i = 0; i < pairs; i++)
        for (int k = 0; k < 3; k++) motion.to[i][k] = motion.from[i][k] + velocity[i][k];
    /* x + t dx is rounded twice in each coordinate when the step is taken, the differences above a
     * few times. */
    double rounding = 64 * U * (largest(12, x) + largest(12, dx));
    double n[3], distance = axis_at(&motion, 0, n);
    double margin = thickness + keep * (distance - thickness) + rounding;
    double enough = margin + LEFT_OVER * (distance - margin);
    if (!(distance > margin)) return 0;
    double t = 0;
    for (int i = 0; i < STEP_STEPS; i++) {
        double until = advance_along(&motion, n, margin, t);
        if (until < t + 0.5 * (1 - t)) until = larger(until, advance_off_plane(&motion, margin, t));
        if (until > 1) return 1;
        if (!(until > t)) break;
        t = until;
        if (!(axis_at(&motion, t, n) > enough)) break;
    }
    return t;
}

double brio__ccd_vertex_face(const double x[12], const double dx[12], double thickness, double keep)
{
    return step(3, x, dx, thickness, keep);
}

double brio__ccd_edge_edge(const double x[12], const double dx[12], double thickness, double keep)
{
    return step(4, x, dx, thickness, keep);
}
