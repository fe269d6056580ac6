/* Pairs of primitives with their true distances and first times of contact, in 113 bits and by
 * other formulas than src/contact: for the tests of distances and of continuous collision
 * detection. */
#ifndef BRIO_TEST_CCD_REFERENCE_H
#define BRIO_TEST_CCD_REFERENCE_H

#include "base.h"
#include "contact/ccd.h"
#include "distance.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#if LDBL_MANT_DIG == 113
typedef long double real;
#else
typedef __float128 real;
#endif

enum { VERTEX_FACE, EDGE_EDGE };

/* ---- distances -------------------------------------------------------------------------- */

static inline real real_dot(const real a[3], const real b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void real_cross(const real a[3], const real b[3], real c[3])
{
    for (int k = 0; k < 3; k++)
        c[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static inline void real_minus(const real a[3], const real b[3], real c[3])
{
    for (int k = 0; k < 3; k++) c[k] = a[k] - b[k];
}

static inline real real_size(const real *x, int count)
{
    real max = 0;
    for (int i = 0; i < count; i++) {
        if (x[i] > max) max = x[i];
        if (-x[i] > max) max = -x[i];
    }
    return max;
}

static inline real square_to_segment(const real p[3], const real a[3], const real b[3])
{
    real e[3], r[3], q[3];
    real_minus(b, a, e);
    real_minus(p, a, r);
    real_minus(p, b, q);
    real along = real_dot(r, e), length = real_dot(e, e);
    if (along <= 0) return real_dot(r, r);
    if (along >= length) return real_dot(q, q);
    real area[3];
    real_cross(r, e, area);
    return real_dot(area, area) / length;
}

/* Has n = e x f no direction: is the angle between e and f too small, or one of them no more than
 * the rounding of what is r apart? */
static inline bool aligned(const real e[3], const real f[3], const real n[3], const real r[3])
{
    real ee = real_dot(e, e), ff = real_dot(f, f), reach = ee + ff + real_dot(r, r);
    return real_dot(n, n) <= 1e-40Q * ee * ff || ee <= 1e-50Q * reach || ff <= 1e-50Q * reach;
}

static inline real square_vertex_face(const real x[12])
{
    real min = square_to_segment(x, x + 3, x + 6), n[3], e[3][3], r[3][3];
    for (int i = 1; i < 3; i++) {
        real square = square_to_segment(x, x + 3 + 3 * i, x + 3 + 3 * ((i + 1) % 3));
        if (square < min) min = square;
    }
    for (int i = 0; i < 3; i++) {
        real_minus(x + 3 + 3 * ((i + 1) % 3), x + 3 + 3 * i, e[i]);
        real_minus(x, x + 3 + 3 * i, r[i]);
    }
    real_cross(e[0], e[1], n);
    if (aligned(e[0], e[1], n, r[0])) return min;
    for (int i = 0; i < 3; i++) {
        real side[3];
        real_cross(e[i], r[i], side);
        if (real_dot(side, n) < 0) return min;
    }
    real height = real_dot(r[0], n), square = height * height / real_dot(n, n);
    return square < min ? square : min;
}

static inline real square_edge_edge(const real x[12])
{
    const real *a0 = x, *a1 = x + 3, *b0 = x + 6, *b1 = x + 9;
    real min = square_to_segment(a0, b0, b1),
         others[3] = {square_to_segment(a1, b0, b1), square_to_segment(b0, a0, a1),
                      square_to_segment(b1, a0, a1)};
    for (int i = 0; i < 3; i++)
        if (others[i] < min) min = others[i];
    real ea[3], eb[3], r[3], n[3], c[3];
    real_minus(a1, a0, ea);
    real_minus(b1, b0, eb);
    real_minus(b0, a0, r);
    real_cross(ea, eb, n);
    real area = real_dot(n, n);
    if (aligned(ea, eb, n, r)) return min;
    real_cross(r, eb, c);
    real s = real_dot(c, n);
    real_cross(r, ea, c);
    real t = real_dot(c, n);
    if (s < 0 || s > area || t < 0 || t > area) return min;
    real height = real_dot(r, n), square = height * height / area;
    return square < min ? square : min;
}

static inline real square_distance(int kind, const real x[12])
{
    return kind == VERTEX_FACE ? square_vertex_face(x) : square_edge_edge(x);
}

/* ---- first contact ---------------------------------------------------------------------- */

/* Times in [0, 1] where c[0] + c[1] t + ... may vanish: its zeros and those of all its derivatives
 * (a double zero has no change of sign, but is a zero of the derivative). Returns their number. */
static int zeros(const real *c, int degree, real *time)
{
    if (degree == 0) return 0;
    if (degree == 1) {
        if (c[1] == 0) return 0;
        time[0] = -c[0] / c[1];
        return time[0] >= 0 && time[0] <= 1;
    }
    real slope[3], end[8] = {0};
    for (int k = 1; k <= degree; k++) slope[k - 1] = k * c[k];
    int count = zeros(slope, degree - 1, time), ends = 1;
    for (int i = 0; i < count; i++) { /* in order */
        int at = ends++;
        for (; at > 1 && end[at - 1] > time[i]; at--) end[at] = end[at - 1];
        end[at] = time[i];
    }
    end[ends++] = 1;
#define VALUE(t, v)     \
    real v = c[degree]; \
    for (int k = degree - 1; k >= 0; k--) v = v * (t) + c[k]
    for (int i = 0; i + 1 < ends; i++) {
        real low = end[i], high = end[i + 1];
        VALUE(low, at_low);
        VALUE(high, at_high);
        if ((at_low > 0) == (at_high > 0)) continue;
        for (int step = 0; step < 130 && high - low > 1e-33Q * high; step++) {
            real middle = (low + high) / 2;
            if (step > 30) { /* Newton, if it stays inside */
                VALUE(middle, v);
                real d = slope[degree - 1];
                for (int k = degree - 2; k >= 0; k--) d = d * middle + slope[k];
                real newton = d != 0 ? middle - v / d : middle;
                if (newton > low && newton < high) {
                    real reach = 1e-32Q * newton, before = newton - reach, after = newton + reach;
                    VALUE(before, at_before);
                    VALUE(after, at_after);
                    if ((at_before > 0) == (at_low > 0) && before > low) low = before;
                    if ((at_after > 0) != (at_low > 0) && after < high) high = after;
                    middle = (low + high) / 2;
                }
            }
            VALUE(middle, at_middle);
            if ((at_middle > 0) == (at_low > 0))
                low = middle;
            else
                high = middle;
        }
        time[count++] = (low + high) / 2;
    }
#undef VALUE
    return count;
}

/* Linear functions of time as (value, slope). */
typedef struct Line {
    real c[2];
} Line;

static void add_product(const Line *a, const Line *b, real factor, real c[3])
{
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) c[i + j] += factor * a->c[i] * b->c[j];
}

/* The first time in [0, 1] at which the pair is closer than 1e-22 of its size (contact, for all
 * doubles can tell), -1 if there is none; *nearest: the smallest distance at all times that were
 * looked at, in sizes.
 *
 * It is among the zeros of the determinant of the corners. If that is (nearly) zero all the time,
 * the motion is in a moving plane and contact begins with a vertex on an edge: zeros of the cross
 * product. If that is zero too, all is on a moving line, and contact begins with two vertices in
 * one place. */
static double first_contact(int kind, const double x0[12], const double x1[12], real *first)
{
    static const int rows[2][3][2] = {{{0, 1}, {2, 1}, {3, 1}}, {{0, 2}, {1, 0}, {3, 2}}};
    static const int on_edge[2][4][3] = {{{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {0, 1, 2}},
                                         {{0, 2, 3}, {1, 2, 3}, {2, 0, 1}, {3, 0, 1}}};
    real y0[12], y1[12], time[128];
    for (int i = 0; i < 12; i++) {
        y0[i] = (real)x0[i] - (real)x0[i % 3];
        y1[i] = (real)x1[i] - (real)x1[i % 3];
    }
    real size0 = real_size(y0, 12), size1 = real_size(y1, 12), size = size0 > size1 ? size0 : size1;
    *first = 0;
    if (size == 0) return 0;
    for (int i = 0; i < 12; i++) {
        y0[i] /= size;
        y1[i] /= size;
    }
#define DIFFERENCE(i, j, k)                                                                       \
    (Line)                                                                                        \
    {                                                                                             \
        {                                                                                         \
            y0[3 * (i) + (k)] - y0[3 * (j) + (k)],                                                \
                (y1[3 * (i) + (k)] - y1[3 * (j) + (k)]) - (y0[3 * (i) + (k)] - y0[3 * (j) + (k)]) \
        }                                                                                         \
    }
    int count = 0;
    time[count++] = 0;
    time[count++] = 1;
    Line d[3][3];
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++) d[r][k] = DIFFERENCE(rows[kind][r][0], rows[kind][r][1], k);
    real cubic[4] = {0};
    for (int k = 0; k < 3; k++) {
        real minor[3] = {0};
        add_product(&d[1][(k + 1) % 3], &d[2][(k + 2) % 3], 1, minor);
        add_product(&d[1][(k + 2) % 3], &d[2][(k + 1) % 3], -1, minor);
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 3; j++) cubic[i + j] += d[0][k].c[i] * minor[j];
    }
    count += zeros(cubic, 3, time + count);
    if (real_size(cubic, 4) < 1e-13Q)
        for (int e = 0; e < (kind == VERTEX_FACE ? 3 : 4); e++) {
            const int *p = on_edge[kind][e];
            for (int k = 0; k < 3; k++) {
                Line a1 = DIFFERENCE(p[0], p[1], (k + 1) % 3),
                     a2 = DIFFERENCE(p[0], p[1], (k + 2) % 3);
                Line b1 = DIFFERENCE(p[2], p[1], (k + 1) % 3),
                     b2 = DIFFERENCE(p[2], p[1], (k + 2) % 3);
                real square[3] = {0};
                add_product(&a1, &b2, 1, square);
                add_product(&a2, &b1, -1, square);
                count += zeros(square, 2, time + count);
                Line to_start = DIFFERENCE(p[0], p[1], k), to_end = DIFFERENCE(p[0], p[2], k);
                count += zeros(to_start.c, 1, time + count);
                count += zeros(to_end.c, 1, time + count);
            }
        }
#undef DIFFERENCE
    real nearest = 1, at = 2;
    for (int i = 0; i < count; i++) {
        if (time[i] >= at) continue;
        real x[12];
        for (int k = 0; k < 12; k++) x[k] = y0[k] + time[i] * (y1[k] - y0[k]);
        real square = square_distance(kind, x);
        if (square < nearest) nearest = square;
        if (square < 1e-44Q) at = time[i];
    }
    *first = at <= 1 ? at : -1;
    return sqrt((double)nearest);
}

/* ---- pairs in motion -------------------------------------------------------------------- */

#define MOTIONS(X)                       \
    X(ANYHOW, "anyhow")                  \
    X(AIMED, "aimed")                    \
    X(COPLANAR, "in one plane")          \
    X(PARALLEL, "parallel")              \
    X(AT_END, "touching at the end")     \
    X(AT_START, "touching at the start") \
    X(APART, "1e-12 apart")              \
    X(AT_REST, "at rest")                \
    X(FAST, "fast")                      \
    X(NO_LENGTH, "edges of no length")   \
    X(TURNING, "turning on the spot")    \
    X(ON_A_LINE, "on one line")          \
    X(THROUGH, "through edges and corners")
#define X(name, text) name,
enum { MOTIONS(X) MOTION_COUNT };
#undef X
#define X(name, text) text,
static const char *const motion_names[] = {MOTIONS(X)};
#undef X

static inline double between(BrioRandom *random, double low, double high)
{
    return low + (high - low) * brio__random(random);
}
static inline int below(BrioRandom *random, int n) { return (int)(brio__random(random) * n); }
/* Multiples of 1/64 in [-1, 1], or any number. */
static inline double coordinate(BrioRandom *random, bool grid)
{
    return grid ? (below(random, 129) - 64) / 64.0 : between(random, -1, 1);
}

static void scatter(BrioRandom *random, bool grid, double x[12])
{
    for (int i = 0; i < 12; i++) x[i] = coordinate(random, grid);
}

/* A pair in contact: exactly if on the grid, else up to rounding. */
static void touching(BrioRandom *random, int kind, bool grid, double x[12])
{
    static const double quarters[15][3] = {
        {1, 0, 0},      {0, 1, 0},      {0, 0, 1},      {.5, .5, 0},    {0, .5, .5},
        {.5, 0, .5},    {.25, .75, 0},  {0, .25, .75},  {.75, 0, .25},  {.25, .25, .5},
        {.5, .25, .25}, {.25, .5, .25}, {.25, .25, .5}, {.25, .5, .25}, {.5, .25, .25}};
    scatter(random, grid, x);
    if (kind == VERTEX_FACE) {
        double b[3] = {brio__random(random), brio__random(random), brio__random(random)};
        double sum = b[0] + b[1] + b[2];
        const double *q = quarters[below(random, 15)];
        for (int i = 0; i < 3; i++) b[i] = grid ? q[i] : b[i] / sum;
        for (int k = 0; k < 3; k++) x[k] = b[0] * x[3 + k] + b[1] * x[6 + k] + b[2] * x[9 + k];
    } else {
        double s = grid ? below(random, 5) / 4.0 : brio__random(random);
        double t = grid ? 0.25 * (1 << below(random, 3)) : brio__random(random);
        for (int k = 0; k < 3; k++)
            x[9 + k] = x[6 + k] + (x[k] + s * (x[3 + k] - x[k]) - x[6 + k]) / t;
    }
}

static void make_motion(BrioRandom *random, int kind, int motion, double x0[12], double x1[12])
{
    double x[12], v[12];
    bool grid = below(random, 2);
    switch (motion) {
    case ANYHOW: {
        double speed = pow(10, between(random, -2, 1));
        scatter(random, false, x0);
        scatter(random, false, v);
        for (int i = 0; i < 12; i++) x1[i] = x0[i] + speed * v[i];
        break;
    }
    case AIMED:
    case FAST: {
        double when = brio__random(random);
        double speed = motion == FAST ? pow(10, between(random, 2, 8)) : 1;
        double gap = below(random, 2) ? 0 : pow(10, between(random, -17, -1));
        touching(random, kind, false, x);
        scatter(random, false, v);
        int movers = kind == VERTEX_FACE ? 1 : 2;
        for (int i = 0; i < 3 * movers; i++) x[i] += gap * (i % 3 == 1 ? 0.6 : 0.8);
        bool together = motion == FAST; /* else the primitives would be huge at both ends */
        for (int i = 0; i < 12; i++) {
            double velocity =
                together ? v[(i / 3 < movers ? 0 : 3) + i % 3] * speed + 0.1 * v[i] : v[i];
            x0[i] = x[i] - when * velocity;
            x1[i] = x[i] + (1 - when) * velocity;
        }
        break;
    }
    case COPLANAR: {
        double u[6], shift[3];
        for (int i = 0; i < 6; i++) u[i] = below(random, 7) - 3;
        for (int k = 0; k < 3; k++) shift[k] = coordinate(random, true);
        for (int i = 0; i < 4; i++) {
            double a0 = coordinate(random, true);
            double b0 = coordinate(random, true);
            double a1 = coordinate(random, true);
            double b1 = coordinate(random, true);
            for (int k = 0; k < 3; k++) {
                x0[3 * i + k] = a0 * u[k] + b0 * u[3 + k];
                x1[3 * i + k] = a1 * u[k] + b1 * u[3 + k] + shift[k];
            }
        }
        break;
    }
    case PARALLEL: {
        double factor = (below(random, 17) - 8) / 8.0;
        double height = below(random, 3) ? coordinate(random, true) : 0;
        scatter(random, true, x0);
        scatter(random, true, v);
        if (kind == VERTEX_FACE) /* the face stays in the plane z = 0 and moves as a whole, the
                                    vertex slides over it */
            for (int i = 0; i < 4; i++) x0[3 * i + 2] = i == 0 ? height : 0;
        else
            for (int k = 0; k < 3; k++) x0[9 + k] = x0[6 + k] + factor * (x0[3 + k] - x0[k]);
        for (int i = 0; i < 12; i++)
            x1[i] = x0[i] + (i < (kind == VERTEX_FACE ? 3 : 6) ? v[i % 3] : v[9 + i % 3]);
        if (kind == VERTEX_FACE && below(random, 2))
            for (int i = 0; i < 4; i++) x1[3 * i + 2] = x0[3 * i + 2];
        break;
    }
    case AT_END:
        touching(random, kind, true, x1);
        scatter(random, true, x0);
        break;
    case AT_START:
        touching(random, kind, true, x0);
        scatter(random, true, x1);
        break;
    case APART: { /* slides past at a distance of about 1e-12, turned anyhow */
        double n[3], length;
        double heights[2] = {between(random, 0.5, 2) * 1e-12, between(random, 0.5, 2) * 1e-12};
        for (int k = 0; k < 3; k++) n[k] = coordinate(random, false);
        length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        scatter(random, false, x0);
        scatter(random, false, x1);
        for (int i = 0; i < 4; i++) {
            double *ends[2] = {x0 + 3 * i, x1 + 3 * i};
            bool above = kind == VERTEX_FACE ? i == 0 : i < 2;
            for (int e = 0; e < 2; e++) {
                double height =
                    (ends[e][0] * n[0] + ends[e][1] * n[1] + ends[e][2] * n[2]) / length;
                for (int k = 0; k < 3; k++)
                    ends[e][k] += ((above ? heights[e] : 0) - height) * n[k] / length;
            }
        }
        break;
    }
    case AT_REST:
        if (below(random, 2))
            touching(random, kind, true, x0);
        else
            scatter(random, false, x0);
        memcpy(x1, x0, 12 * sizeof *x1);
        break;
    case NO_LENGTH: {
        int from = kind == VERTEX_FACE ? 1 + below(random, 3) : 2 * below(random, 2);
        int to = kind == VERTEX_FACE ? 1 + from % 3 : from + 1;
        touching(random, kind, grid, x);
        scatter(random, grid, v);
        if (kind == VERTEX_FACE && below(random, 2)) { /* three corners on a line, or in a point */
            double part = below(random, 3) / 2.0;
            for (int k = 0; k < 3; k++)
                x[9 + k] = part * x[3 + k] + (1 - part) * x[6 + k],
                      v[9 + k] = part * v[3 + k] + (1 - part) * v[6 + k];
        }
        for (int k = 0; k < 3; k++)
            x[3 * to + k] = x[3 * from + k], v[3 * to + k] = v[3 * from + k];
        for (int i = 0; i < 12; i++) {
            x0[i] = x[i] - v[i];
            x1[i] = x[i] + v[i];
        }
        break;
    }
    case TURNING: { /* the closest points hardly move, the corners do */
        double gap = pow(10, between(random, -14, -1)), e[2][3], n[3];
        scatter(random, false, x);
        scatter(random, false, v);
        double b[3] = {0.25, 0.25, 0.5};
        for (int k = 0; k < 3; k++) {
            if (kind == VERTEX_FACE) {
                x[k] = b[0] * x[3 + k] + b[1] * x[6 + k] + b[2] * x[9 + k];
                v[k] = b[0] * v[3 + k] + b[1] * v[6 + k] + b[2] * v[9 + k];
                e[0][k] = x[6 + k] - x[3 + k];
                e[1][k] = x[9 + k] - x[3 + k];
            } else {
                x[9 + k] = x[k] + x[3 + k] - x[6 + k];
                v[9 + k] = v[k] + v[3 + k] - v[6 + k];
                e[0][k] = x[3 + k] - x[k];
                e[1][k] = x[9 + k] - x[6 + k];
            }
        }
        for (int k = 0; k < 3; k++)
            n[k] = e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3];
        for (int i = 0; i < (kind == VERTEX_FACE ? 3 : 6); i++) x[i] += gap * n[i % 3];
        for (int i = 0; i < 12; i++) {
            x0[i] = x[i];
            x1[i] = x[i] + v[i];
        }
        break;
    }
    case ON_A_LINE: {
        double along[3], shift[3];
        for (int k = 0; k < 3; k++)
            along[k] = below(random, 7) - 3, shift[k] = coordinate(random, true);
        for (int i = 0; i < 4; i++) {
            double a = coordinate(random, true) + (kind == VERTEX_FACE ? i == 0 : i < 2);
            double b = coordinate(random, true);
            for (int k = 0; k < 3; k++)
                x0[3 * i + k] = a * along[k], x1[3 * i + k] = b * along[k] + shift[k];
        }
        break;
    }
    default: /* THROUGH: an exact contact half way */
        touching(random, kind, true, x);
        scatter(random, true, v);
        for (int i = 0; i < 12; i++) {
            x0[i] = x[i] - v[i];
            x1[i] = x[i] + v[i];
        }
        break;
    }
    double scale = below(random, 4) ? 1 : ldexp(1, below(random, 601) - 300);
    double shift = below(random, 8) ? 0 : 1000;
    for (int i = 0; i < 12; i++) {
        x0[i] = scale * (x0[i] + shift);
        x1[i] = scale * (x1[i] + shift);
    }
}

/* ---- the test of many pairs ------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(double *values, int count, double part)
{
    return count ? values[(int)(part * (count - 1))] : NAN;
}

/* The answers for `count` generated pairs against the truth: no contact is missed, none is reported
 * too late. */
static void check_motions(int count, uint64_t seed)
{
    BrioRandom random = {seed};
    double *ratio = malloc((size_t)count * sizeof *ratio);
    int ratios = 0, missed = 0, late = 0, contacts_of_all = 0, wrong_of_all = 0;
    double farthest_of_all = 0;
    assert_non_null(ratio);
    printf("%-28s %8s %8s %8s %12s\n", "", "pairs", "contacts", "false", "at up to");
    for (int motion = 0; motion < MOTION_COUNT; motion++) {
        int contacts = 0, wrong = 0, pairs = 0;
        double farthest = 0;
        for (int i = motion; i < count; i += MOTION_COUNT) {
            int kind = i / MOTION_COUNT % 2;
            double x0[12], x1[12], toi = NAN;
            real first;
            make_motion(&random, kind, motion, x0, x1);
            double nearest = first_contact(kind, x0, x1, &first);
            int answer = kind == VERTEX_FACE ? brio_ccd_vertex_face(x0, x1, &toi)
                                             : brio_ccd_edge_edge(x0, x1, &toi);
            pairs++;
            assert_true(toi >= 0 && toi <= 1);
            if (first >= 0) {
                contacts++;
                missed += !answer;
                late += answer && (real)toi > first + 1e-28Q;
                if (answer && first > 0) ratio[ratios++] = (double)(toi / first);
                if (!answer || (real)toi > first + 1e-28Q)
                    printf("%s %d: truth %.17g, answer %d at %.17g\n", motion_names[motion], i,
                           (double)first, answer, toi);
            } else if (answer) {
                wrong++;
                farthest = brio__larger(farthest, nearest);
            }
        }
        printf("%-28s %8d %8d %8d %12.1e\n", motion_names[motion], pairs, contacts, wrong,
               farthest);
        assert_true(contacts > 0 || motion == APART || motion == TURNING);
        contacts_of_all += contacts;
        wrong_of_all += wrong;
        farthest_of_all = brio__larger(farthest_of_all, farthest);
    }
    qsort(ratio, (size_t)ratios, sizeof *ratio, by_value);
    printf("%d pairs, %d contacts: missed %d, late %d; answered time / first time: median %.17g, 5 "
           "%% %.6g, worst %.6g; false "
           "contacts %d (%.2f %% of those without), farthest %.1e of the size\n",
           count, contacts_of_all, missed, late, quantile(ratio, ratios, 0.5),
           quantile(ratio, ratios, 0.05), quantile(ratio, ratios, 0), wrong_of_all,
           100.0 * wrong_of_all / (count - contacts_of_all), farthest_of_all);
    assert_int_equal(missed, 0);
    assert_int_equal(late, 0);
    assert_true(quantile(ratio, ratios, 0.5) >= 0.5);
    free(ratio);
}

#endif
