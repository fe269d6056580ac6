/* Continuous collision detection: conservative advancement along the direction between the closest points.
 *
 * Additive continuous collision detection [Li2021] advances time by distance over a bound on the approach speed, so that
 * no root of a polynomial is ever asked for. This is the same idea with a sharper bound: at time t let n point from the
 * closest point of B to that of A. While
 *
 *     n.(a_i - b_j) > m |n|    for all corners a_i of A and b_j of B                                             (1)
 *
 * the primitives are farther apart than m, since n separates their convex hulls. Corners move linearly, so each left side
 * is linear in time and (1) holds up to a time that one division gives. At time t the left sides are at least |n| times the
 * distance, and they shrink at most by |n| times the bound of additive CCD: the step is never shorter, a pair that slides
 * past at a small distance takes a few steps, and one that moves without turning takes one.
 *
 * The queries of the public interface (m = 0) use a second certificate where (1) gives short steps, as it does for a pair
 * that turns at a small distance: A and B can only touch while their four corners lie in a plane, where the cubic
 * det(t) vanishes. Its Bernstein coefficients bound it from below by their convex hull, and the first zero of that hull is
 * a time before which they do not touch (Bezier clipping, [Sederberg1990]).
 *
 * Why no contact is missed: time advances only over intervals on which (1) or det != 0 is proven for the motion
 * (1-t) x0 + t x1 of the given doubles in exact arithmetic. n, the clipping interval and the order of the tests come from
 * rounded computations, but (1) and the cubic are certificates for any n and any interval. Rounding enters at three
 * places only, with u = 2^-53:
 *   - p = n.(a_i - b_j) at t = 0 and at t = 1. The differences of given doubles have relative errors u, so that
 *     |error| <= 4u S with S = sum_k |n_k||a_i - b_j|_k; 8u S is taken off, which also covers the rounding of S and of
 *     that subtraction. Between the ends, the linear function through the two lower bounds is below the true one.
 *   - the zero of that linear function: relative error 2u; 8u is taken off.
 *   - det: each of its terms has a relative error of at most 11u after the mean of three, and three de Casteljau levels
 *     add 9u; 24u times a bound on the sum of the terms' sizes is taken off, and 16u off its zeros.
 * Products that underflow are covered by TINY and TINY_CUBE after scaling. Whatever does not get through these tests is
 * answered by "may touch", at the time up to which the proof goes. */
#include "ccd.h"
#include "distance.h"
#include "base.h"

#include <math.h>
#include <stdbool.h>

#define U 0x1p-53
#define TINY 1e-300      /* > all underflow errors of n.(a - b), |n|_max = 1 */
#define TINY_CUBE 1e-280 /* > all underflow errors of det for sizes up to SIZE_MOST */
#define SIZE_MOST 1e30
#define SIZE_LEAST 1e-30
#define SEPARATED 2.0 /* a "time" after the end */

/* The corners' differences a_i - b_j at both ends of the motion; for v f0 f1 f2 the pairs are (v, f_i). */
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

static inline double largest(int count, const double *x)
{
    double most = 0;
    for (int i = 0; i < count; i++) most = fmax(most, fabs(x[i]));
    return most;
}

/* n: from the closest point of B to that of A at time t, with a largest component of 1; returns the distance. n is
 * zero or not a number if they touch. */
static double axis_at(const Motion *motion, double t, double n[3])
{
    double d[4][3], x[12], w[4], distance;
    for (int i = 0; i < motion->pairs; i++)
        for (int k = 0; k < 3; k++) d[i][k] = (1 - t) * motion->from[i][k] + t * motion->to[i][k];
    if (motion->pairs == 3) { /* the vertex in the origin */
        for (int k = 0; k < 3; k++) {
            x[k] = 0;
            for (int i = 0; i < 3; i++) x[3 + 3 * i + k] = -d[i][k];
        }
        distance = brio__closest_vertex_face(x, w);
    } else { /* b0 in the origin */
        for (int k = 0; k < 3; k++) {
            x[k] = d[0][k];
            x[3 + k] = d[2][k];
            x[6 + k] = 0;
            x[9 + k] = d[0][k] - d[1][k];
        }
        distance = brio__closest_edge_edge(x, w);
    }
    for (int k = 0; k < 3; k++) n[k] = w[0] * x[k] + w[1] * x[3 + k] + w[2] * x[6 + k] + w[3] * x[9 + k];
    double scale = 1 / largest(3, n);
    for (int k = 0; k < 3; k++) n[k] *= scale;
    return distance;
}

/* A lower bound of n.d - margin |n|; `margin` comes multiplied by |n| and rounded up. */
static inline double lower_bound(const double n[3], const double d[3], double margin)
{
    double p0 = n[0] * d[0], p1 = n[1] * d[1], p2 = n[2] * d[2];
    return p0 + p1 + p2 - 8 * U * (fabs(p0) + fabs(p1) + fabs(p2)) - TINY - margin;
}

/* The time up to which (1) is proven if it is from `t` on; `t` if it is not; SEPARATED if it is to the end. */
static double advance_along(const Motion *motion, const double n[3], double margin, double t)
{
    margin *= sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) * (1 + 16 * U);
    double until = SEPARATED;
    for (int i = 0; i < motion->pairs; i++) {
        double from = lower_bound(n, motion->from[i], margin), to = lower_bound(n, motion->to[i], margin);
        if (from > 0 && to > 0) continue;
        if (from > 0 && to <= 0) {
            until = fmin(until, from / (from - to) * (1 - 8 * U));
        } else if (!(from <= 0 && to > 0 && t > from / (from - to) * (1 + 8 * U))) {
            return t;
        }
    }
    return fmax(t, until);
}

/* ---- coplanarity ------------------------------------------------------------------------------------- */

typedef struct Cubic {
    double c[4];  /* Bernstein coefficients on [0, 1] */
    double error; /* of each, and of each on a part of [0, 1] */
} Cubic;

static inline double determinant(const double a[3], const double b[3], const double c[3])
{
    return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

/* det(v - f0, f1 - f0, f2 - f0), or det(a0 - b0, a1 - a0, b1 - b0), as a function of time. */
static void coplanarity(int pairs, const double x0[12], const double x1[12], Cubic *cubic)
{
    static const int face_rows[3][2] = {{0, 1}, {2, 1}, {3, 1}}, edge_rows[3][2] = {{0, 2}, {1, 0}, {3, 2}};
    const int(*row)[2] = pairs == 3 ? face_rows : edge_rows;
    double d[2][3][3], size = 1;
    for (int r = 0; r < 3; r++) {
        for (int k = 0; k < 3; k++) {
            d[0][r][k] = x0[3 * row[r][0] + k] - x0[3 * row[r][1] + k];
            d[1][r][k] = x1[3 * row[r][0] + k] - x1[3 * row[r][1] + k];
        }
        size *= fmax(largest(3, d[0][r]), largest(3, d[1][r]));
    }
    double sum[4] = {0, 0, 0, 0};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 2; k++) sum[i + j + k] += determinant(d[i][0], d[j][1], d[k][2]);
    cubic->c[0] = sum[0];
    cubic->c[1] = sum[1] / 3;
    cubic->c[2] = sum[2] / 3;
    cubic->c[3] = sum[3];
    cubic->error = 24 * U * (6 * size) * (1 + 16 * U) + TINY_CUBE; /* a determinant has six terms */
}

/* A time in [t, 1] before which the cubic has no zero from `t` on; SEPARATED if it has none to the end. */
static double advance_cubic(const Cubic *cubic, double t)
{
    double c[4];
    for (int k = 0; k < 4; k++) c[k] = cubic->c[k];
    for (int level = 3; level > 0; level--)
        for (int k = 0; k < level; k++) c[k] = (1 - t) * c[k] + t * c[k + 1];
    double sign = c[0] < 0 ? -1 : 1;
    for (int k = 0; k < 4; k++) c[k] = sign * c[k] - cubic->error;
    if (!(c[0] > 0)) return t;
    double first = SEPARATED;
    for (int i = 0; i < 3; i++)
        for (int j = i + 1; j < 4; j++)
            if (c[i] > 0 && !(c[j] > 0)) first = fmin(first, (i + (j - i) * (c[i] / (c[i] - c[j]))) / 3);
    if (first == SEPARATED) return SEPARATED;
    return fmax(t, (t + first * (1 - t)) * (1 - 16 * U));
}

/* ---- queries ----------------------------------------------------------------------------------------- */

#define QUERY_STEPS 128 /* a pair that needs more turns at a distance of rounding errors: "may touch" */

static int query(int pairs, const double x0[12], const double x1[12], double *toi)
{
    *toi = 0;
    double most = fmax(largest(12, x0), largest(12, x1)), sum = 0;
    for (int i = 0; i < 12; i++) sum += x0[i] * 0 + x1[i] * 0;
    if (!(sum == 0)) return 1; /* not finite */

    /* Only differences matter: bring the largest into a range where neither they nor their products overflow. */
    double y[2][12], early = most > 1e300 ? 0x1p-10 : 1;
    Motion motion = {.pairs = pairs};
    differences(pairs, x0, motion.from);
    differences(pairs, x1, motion.to);
    double size = fmax(largest(3 * pairs, motion.from[0]), largest(3 * pairs, motion.to[0]));
    if (size == 0) return 1;
    if (size > SIZE_MOST || size < SIZE_LEAST) {
        int exponent = 1000;
        if (size <= 1e300) frexp(size, &exponent);
        double scale = ldexp(early, exponent > -1000 ? -exponent : 1000);
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
    for (int step = 0; step < QUERY_STEPS; step++) {
        double n[3];
        if (!(axis_at(&motion, t, n) > 0)) break;
        double until = advance_along(&motion, n, 0, t);
        if (until < t + 0.5 * (1 - t)) {
            if (!have_cubic) coplanarity(pairs, x0, x1, &cubic);
            have_cubic = true;
            until = fmax(until, advance_cubic(&cubic, t));
        }
        if (until > 1) {
            *toi = 1;
            return 0;
        }
        bool stuck = !(until - t > 8 * U * until);
        t = until;
        if (stuck) break;
    }
    *toi = t;
    return 1;
}

int brio_ccd_vertex_face(const double x0[12], const double x1[12], double *toi) { return query(3, x0, x1, toi); }

int brio_ccd_edge_edge(const double x0[12], const double x1[12], double *toi) { return query(4, x0, x1, toi); }

/* ---- steps of the line search -------------------------------------------------------------------------- */

#define STEP_STEPS 256
#define LEFT_OVER 0.03125 /* of the way from the first distance to the one to keep: near enough */

static double step(int pairs, const double x[12], const double dx[12], double thickness, double keep)
{
    Motion motion = {.pairs = pairs};
    double velocity[4][3];
    differences(pairs, x, motion.from);
    differences(pairs, dx, velocity);
    for (int i = 0; i < pairs; i++)
        for (int k = 0; k < 3; k++) motion.to[i][k] = motion.from[i][k] + velocity[i][k];
    /* x + t dx is rounded twice in each coordinate when the step is taken, dx and the sum above once more. */
    double rounding = 16 * U * (largest(12, x) + largest(12, dx));
    double n[3], distance = axis_at(&motion, 0, n);
    double margin = thickness + keep * (distance - thickness) + rounding;
    double enough = margin + LEFT_OVER * (distance - margin);
    if (!(distance > margin)) return 0;
    double t = 0;
    for (int i = 0; i < STEP_STEPS; i++) {
        double until = advance_along(&motion, n, margin, t);
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
