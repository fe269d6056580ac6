/* The exact predicates against integers of another kind, the search against the loop over all
 * pairs, and what `brio check` and `--exact` make of them. */
#include "program.h"

#include "contact/exact.h"
#include "mesh/predicate.h"
#include "simulate.h"

#include <float.h>

/* ---- references ------------------------------------------------------------------------- */

static int sign_of(__int128 value) { return (value > 0) - (value < 0); }

/* Determinant of integers below 2^54, by splitting the minors: no rounding, nothing in common
 * with exact.c. */
static int reference_orient(const int64_t a[3], const int64_t b[3], const int64_t c[3],
                            const int64_t d[3])
{
    __int128 high = 0, low = 0;
    for (int r = 0; r < 3; r++) {
        int s = (r + 1) % 3, t = (r + 2) % 3;
        __int128 minor =
            (__int128)(b[s] - a[s]) * (c[t] - a[t]) - (__int128)(b[t] - a[t]) * (c[s] - a[s]);
        __int128 top = minor >> 56, rest = minor - top * ((__int128)1 << 56);
        high += top * (d[r] - a[r]);
        low += rest * (d[r] - a[r]);
    }
    high += low >> 56;
    low -= (low >> 56) * ((__int128)1 << 56);
    return high ? sign_of(high) : sign_of(low);
}

static void cross(const int *a, const int *b, int *n)
{
    for (int r = 0; r < 3; r++)
        n[r] = a[(r + 1) % 3] * b[(r + 2) % 3] - a[(r + 2) % 3] * b[(r + 1) % 3];
}
static int dot(const int *a, const int *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static int det(const int *a, const int *b, const int *c)
{
    int n[3];
    cross(a, b, n);
    return dot(n, c);
}

/* Whether 0 is in the hull of the points: by Carathéodory in that of at most four of them that are
 * affinely independent. */
static bool hull_holds_zero(int (*p)[3], int count)
{
    for (int i = 0; i < count; i++) {
        if (!p[i][0] && !p[i][1] && !p[i][2]) return true;
        for (int j = 0; j < i; j++) {
            int n[3];
            cross(p[i], p[j], n);
            if (!n[0] && !n[1] && !n[2] && dot(p[i], p[j]) <= 0) return true;
            for (int k = 0; k < j; k++) {
                int ij[3], ik[3], normal[3], area[3][3];
                for (int r = 0; r < 3; r++) ij[r] = p[j][r] - p[i][r], ik[r] = p[k][r] - p[i][r];
                cross(ij, ik, normal);
                if (!normal[0] && !normal[1] && !normal[2]) continue;
                cross(p[i], p[j], area[0]);
                cross(p[j], p[k], area[1]);
                cross(p[k], p[i], area[2]);
                if (dot(normal, p[i]) == 0 && dot(area[0], normal) >= 0 &&
                    dot(area[1], normal) >= 0 && dot(area[2], normal) >= 0)
                    return true;
                for (int l = 0; l < k; l++) {
                    int il[3];
                    for (int r = 0; r < 3; r++) il[r] = p[l][r] - p[i][r];
                    int volume = dot(normal, il);
                    if (volume == 0) continue;
                    int sign = volume > 0 ? 1 : -1;
                    /* barycentric coordinates of 0 */
                    if (sign * det(p[j], p[k], p[l]) >= 0 && -sign * det(p[i], p[k], p[l]) >= 0 &&
                        sign * det(p[i], p[j], p[l]) >= 0 && -sign * det(p[i], p[j], p[k]) >= 0)
                        return true;
                }
            }
        }
    }
    return false;
}

/* Two hulls meet if the hull of all differences holds 0. */
static bool reference_meets(int (*p)[3], int points, int (*q)[3], int others)
{
    int difference[9][3], count = 0;
    for (int i = 0; i < points; i++)
        for (int j = 0; j < others; j++, count++)
            for (int r = 0; r < 3; r++) difference[count][r] = p[i][r] - q[j][r];
    return hull_holds_zero(difference, count);
}

/* ---- predicates ------------------------------------------------------------------------- */

static void grid_point(int number, int *whole, double *real, double scale)
{
    for (int r = 0; r < 3; r++, number /= 3) {
        whole[r] = number % 3;
        real[r] = whole[r] * scale;
    }
}

/* All segments and triangles with corners on a grid of 3 x 3 x 3 points: every degenerate case
 * there is. */
static void all_on_a_grid(void **state)
{
    (void)state;
    int s[2][3], t[3][3];
    double ps[2][3], pt[3][3];
    int64_t cases = 0, meeting = 0;
    const int turn[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    for (int i = 0; i < 27; i++)
        for (int j = 0; j <= i; j++)
            for (int k = 0; k < 27; k++)
                for (int l = 0; l <= k; l++)
                    for (int m = 0; m <= l; m++) {
                        /* of 0.1, 2 * 0.1 is exact too */
                        double scale = cases % 3 == 0 ? 1 : cases % 3 == 1 ? 0x1.8p-300 : 0.1;
                        const int *o = turn[cases % 6];
                        grid_point(i, s[0], ps[0], scale), grid_point(j, s[1], ps[1], scale);
                        grid_point(k, t[0], pt[0], scale), grid_point(l, t[1], pt[1], scale),
                            grid_point(m, t[2], pt[2], scale);
                        bool expected = reference_meets(s, 2, t, 3);
                        int flip = (int)(cases / 6 % 2);
                        bool got = brio__exact_segment_triangle(ps[flip], ps[1 - flip], pt[o[0]],
                                                                pt[o[1]], pt[o[2]]);
                        if (got != expected)
                            fail_msg("segment %d %d, triangle %d %d %d: %d, expected %d", i, j, k,
                                     l, m, got, expected);
                        cases++;
                        meeting += expected;
                    }
    assert_int_equal(cases, 378 * 3654);
    print_message("segment and triangle: %lld cases, %lld meet\n", (long long)cases,
                  (long long)meeting);
    assert_in_range(meeting, cases / 100, cases / 2);
    cases = meeting = 0;
    for (int i = 0; i < 27; i++)
        for (int j = 0; j < 27; j++)
            for (int k = 0; k < 27; k++)
                for (int l = 0; l < 27; l++, cases++) {
                    grid_point(i, s[0], ps[0], 1), grid_point(j, s[1], ps[1], 1);
                    grid_point(k, t[0], pt[0], 1), grid_point(l, t[1], pt[1], 1);
                    bool expected = reference_meets(s, 2, t, 2);
                    if (brio__exact_segments(ps[0], ps[1], pt[0], pt[1]) != expected)
                        fail_msg("segments %d %d, %d %d: expected %d", i, j, k, l, expected);
                    int64_t w[4][3];
                    for (int r = 0; r < 3; r++)
                        w[0][r] = s[0][r], w[1][r] = s[1][r], w[2][r] = t[0][r], w[3][r] = t[1][r];
                    assert_int_equal(brio__exact_orient3d(ps[0], ps[1], pt[0], pt[1]),
                                     reference_orient(w[0], w[1], w[2], w[3]));
                    meeting += expected;
                }
    print_message("two segments: %lld cases, %lld meet\n", (long long)cases, (long long)meeting);
}

static double random_between(BrioRandom *random, double low, double high)
{
    return low + (high - low) * brio__random(random);
}

/* What doubles make of it. */
static int plain_orient(double (*x)[3])
{
    double u[3], v[3], w[3], value = 0;
    for (int r = 0; r < 3; r++)
        u[r] = x[1][r] - x[0][r], v[r] = x[2][r] - x[0][r], w[r] = x[3][r] - x[0][r];
    for (int r = 0; r < 3; r++)
        value += w[r] * (u[(r + 1) % 3] * v[(r + 2) % 3] - u[(r + 2) % 3] * v[(r + 1) % 3]);
    return (value > 0) - (value < 0);
}

/* Points in a plane up to an ulp or two: their coordinates are whole multiples of 2^-52. */
static void one_ulp_off(void **state)
{
    (void)state;
    BrioRandom random = {7};
    int64_t count[3] = {0}, wrong = 0, tries = 200000;
    for (int64_t n = 0; n < tries; n++) {
        double x[4][3], s = random_between(&random, -0.3, 1), t = random_between(&random, -0.3, 1);
        int64_t w[4][3];
        for (int i = 0; i < 3; i++)
            for (int r = 0; r < 3; r++) x[i][r] = random_between(&random, 1, 2);
        for (int r = 0; r < 3; r++) {
            x[3][r] = x[0][r] + s * (x[1][r] - x[0][r]) + t * (x[2][r] - x[0][r]);
            x[3][r] += 0x1p-52 * floor(random_between(&random, -1, 2));
            x[3][r] = rint(x[3][r] * 0x1p52) * 0x1p-52;
        }
        if (n % 4 == 0) /* exactly in the plane: the middle of two corners, each an even multiple */
            for (int r = 0; r < 3; r++) {
                for (int i = 0; i < 3; i++) x[i][r] = rint(x[i][r] * 0x1p51) * 0x1p-51;
                x[3][r] = (x[1][r] + x[2][r]) / 2;
            }
        for (int i = 0; i < 4; i++)
            for (int r = 0; r < 3; r++) w[i][r] = (int64_t)(x[i][r] * 0x1p52);
        int expected = reference_orient(w[0], w[1], w[2], w[3]);
        int got = brio__exact_orient3d(x[0], x[1], x[2], x[3]);
        count[1 + expected]++;
        if (got != expected) fail_msg("%lld: %d, expected %d", (long long)n, got, expected);
        wrong += plain_orient(x) != expected;
        assert_int_equal(brio__exact_orient3d(x[1], x[0], x[2], x[3]), -expected);
        assert_int_equal(brio__exact_orient3d(x[3], x[2], x[1], x[0]), expected);
    }
    print_message("near a plane: %lld below, %lld in it, %lld above; plain doubles have %lld of "
                  "%lld signs wrong\n",
                  (long long)count[0], (long long)count[1], (long long)count[2], (long long)wrong,
                  (long long)tries);
    for (int i = 0; i < 3; i++) assert_true(count[i] > tries / 20);
    assert_true(wrong > 0); /* otherwise nothing was near enough to test anything */
}

/* Exponents at which products of doubles underflow and overflow. */
static void wide_exponents(void **state)
{
    (void)state;
    BrioRandom random = {11};
    for (int n = 0; n < 20000; n++) {
        double x[4][3];
        int64_t w[4][3];
        int exponent = (int)random_between(&random, -1074, 1000);
        for (int i = 0; i < 4; i++)
            for (int r = 0; r < 3; r++) {
                w[i][r] = (int64_t)random_between(&random, -3, 4); /* often in a plane */
                x[i][r] = ldexp((double)w[i][r], exponent);
            }
        assert_int_equal(brio__exact_orient3d(x[0], x[1], x[2], x[3]),
                         reference_orient(w[0], w[1], w[2], w[3]));
    }
    double o[3] = {0, 0, 0};
    double a[3] = {DBL_MAX, 0, 0};
    double b[3] = {0, DBL_MAX, 0};
    double tiny[3] = {0x1p-1074, 0x1p-1074, 0x1p-1074};
    double flat[3] = {DBL_MAX, -DBL_MAX, 0};
    assert_int_equal(brio__exact_orient3d(o, a, b, tiny), 1);
    assert_int_equal(brio__exact_orient3d(o, b, a, tiny), -1);
    assert_int_equal(brio__exact_orient3d(o, a, b, flat), 0);
    double n[3] = {0x1p-1074, 1, -1}, p[3] = {0, 1, 1}, x[3] = {0x1p-1074, 1e300, 1e300};
    assert_int_equal(brio__exact_side(n, p, x), 1);
    x[0] = 0;
    assert_int_equal(brio__exact_side(n, p, x), 0);
    x[0] = -0x1p-1074;
    assert_int_equal(brio__exact_side(n, p, x), -1);
}

/* ---- whole states ----------------------------------------------------------------------- */

static const BrioSystem *system_of(BrioSim *sim, double **x)
{
    const BrioSystem *s = brio_sim_system(sim);
    *x = malloc(3 * (size_t)s->vertex_count * sizeof **x);
    brio__system_positions(s, sim->state, sim->state->q, 0, *x);
    return s;
}

/* All edges against all triangles and all lines, without boxes. */
static int64_t loop_over_all(BrioExact *exact, const BrioSystem *s, const double *x)
{
    const BrioExactSurface *f = brio__exact_surface(exact);
    int64_t count = 0;
    for (int64_t e = 0; e < f->edge_count; e++) {
        const int32_t *n = f->edge + 2 * e;
        for (int64_t t = 0; t < f->triangle_count; t++) {
            const int32_t *m = f->triangle + 3 * t;
            bool shared = false, all_fixed = true;
            for (int i = 0; i < 3; i++) shared |= m[i] == n[0] || m[i] == n[1];
            for (int i = 0; i < 5; i++) {
                int32_t v = i < 3 ? m[i] : n[i - 3];
                all_fixed &= s->map_start[v] == s->map_start[v + 1];
            }
            if (!shared && !all_fixed)
                count += brio__exact_segment_triangle(x + 3 * n[0], x + 3 * n[1], x + 3 * m[0],
                                                      x + 3 * m[1], x + 3 * m[2]);
        }
        for (int64_t l = e + 1; e >= f->line_first && l < f->edge_count; l++) {
            const int32_t *m = f->edge + 2 * l;
            bool shared = m[0] == n[0] || m[0] == n[1] || m[1] == n[0] || m[1] == n[1];
            if (!shared)
                count +=
                    brio__exact_segments(x + 3 * n[0], x + 3 * n[1], x + 3 * m[0], x + 3 * m[1]);
        }
    }
    return count;
}

static void search_finds_all(void **state)
{
    (void)state;
    BrioSim *sim = parse("integrator: backward-euler\nbodies:\n"
                         "  - {name: a, shape: {type: box, size: [1, 1, 1], cells: [4, 4, 4]}, "
                         "material: {type: neo-hookean, E: 1e5}}\n"
                         "  - {name: b, shape: {type: ball, radius: 0.6, cells: 4}, transform: "
                         "{translate: [0.3, 0.2, 0.5]}, material: {type: neo-hookean, E: 1e5}}\n"
                         "  - {name: c, shape: {type: grid, width: 2, depth: 2, cells_x: 7, "
                         "cells_z: 7}, kind: springs, transform: {translate: [0, 0.1, 0]}, "
                         "material: {type: hooke, k: 10, vertex_mass: 0.01}}\n"
                         "  - {name: d, shape: {type: line, length: 2, cells: 9}, transform: "
                         "{rotate: [[0, 1, 2], 8], translate: [-1, 0.1, 0.2]}, kind: springs, "
                         "material: {type: hooke, k: 10, vertex_mass: 0.01}}\n"
                         "  - {name: e, shape: {type: line, length: 2, cells: 9}, transform: "
                         "{rotate: [[0, 1, 0], 90], translate: [0, 0.25, 1.1]}, kind: springs, "
                         "material: {type: hooke, k: 10, vertex_mass: 0.01}}\n");
    double *x;
    const BrioSystem *s = system_of(sim, &x);
    BrioExact *exact;
    assert_int_equal(brio__exact_create(s, &exact), BRIO_OK);
    const BrioExactSurface *f = brio__exact_surface(exact);
    BrioRandom random = {5};
    for (int n = 0; n < 6; n++) {
        int64_t expected = loop_over_all(exact, s, x), got = brio__exact_find(exact, x, NULL, 0);
        print_message("%lld triangles, %lld edges: %lld intersections\n",
                      (long long)f->triangle_count, (long long)f->edge_count, (long long)got);
        assert_int_equal(got, expected);
        assert_true(got > 0);
        /* the last but one: on a coarse grid, where much touches */
        double size = n == 4 ? 0 : 0.02 * n * n;
        for (int64_t k = 0; k < 3 * s->vertex_count; k++) {
            x[k] += random_between(&random, -size, size);
            if (n == 4) x[k] = rint(8 * x[k]) / 8;
        }
    }
    BrioIntersection two[2];
    BrioExactReport report;
    assert_int_equal(brio__exact_intersections(s, x, two, 2), brio__exact_find(exact, x, NULL, 0));
    assert_int_equal(brio__exact_intersections(s, x, two, 2), brio__exact_find(exact, x, two, 2));
    brio__exact_check_positions(exact, x, &report);
    assert_int_equal(report.intersections, brio__exact_find(exact, x, NULL, 0));
    assert_true(report.pairs >= report.intersections && report.inverted > 0 &&
                report.not_finite == 0);
    x[3 * 40 + 1] = NAN;
    brio__exact_check_positions(exact, x, &report);
    assert_true(report.not_finite == 1 && report.first_vertex == 40 && !brio__exact_fine(&report));
    brio__exact_free(exact);
    free(x);
    brio_sim_free(sim);
}

/* The upper box moved to a height, to the bit. */
static int64_t boxes_at(double gap)
{
    BrioSim *sim =
        parse("integrator: backward-euler\nbodies:\n"
              "  - {name: lower, shape: {type: box, size: [1, 1, 1], cells: [2, 2, 2]}, material: "
              "{type: neo-hookean, E: 1e5}}\n"
              "  - {name: upper, shape: {type: box, size: [1, 1, 1], cells: [3, 3, 3]}, transform: "
              "{translate: [0.1, 1, 0.2]}, material: {type: neo-hookean, E: 1e5}}\n");
    double *x;
    const BrioSystem *s = system_of(sim, &x);
    double top = -INFINITY, bottom = INFINITY;
    for (int64_t v = 0; v < s->body[0].count; v++) top = brio__larger(top, x[3 * v + 1]);
    for (int64_t v = s->body[1].first; v < s->vertex_count; v++)
        bottom = fmin(bottom, x[3 * v + 1]);
    for (int64_t v = s->body[1].first; v < s->vertex_count; v++)
        if (x[3 * v + 1] == bottom) x[3 * v + 1] = isnan(gap) ? nextafter(top, 1) : top + gap;
    int64_t count = brio__exact_intersections(s, x, NULL, 0);
    free(x);
    brio_sim_free(sim);
    return count;
}

static void boxes(void **state)
{
    (void)state;
    int64_t overlapping = boxes_at(-1e-12), touching = boxes_at(0), apart = boxes_at(NAN);
    print_message(
        "two boxes: %lld intersections when 1e-12 m deep, %lld touching, %lld one ulp apart\n",
        (long long)overlapping, (long long)touching, (long long)apart);
    assert_true(overlapping > 0);
    assert_true(touching > 0);
    assert_int_equal(apart, 0);
}

/* A sheet bent upon itself until its ends pass through each other; springs across its cells count
 * for nothing. */
static void cloth(void **state)
{
    (void)state;
    BrioSim *sim =
        parse("integrator: backward-euler\nbodies:\n"
              "  - {name: sheet, shape: {type: grid, width: 2, depth: 1, cells_x: 20, cells_z: "
              "10}, kind: springs, material: {type: hooke, k: 10, vertex_mass: 0.01}}\n");
    double *x, *bent;
    const BrioSystem *s = system_of(sim, &x);
    bent = malloc(3 * (size_t)s->vertex_count * sizeof *bent);
    /* flat: neighbours lie in one plane */
    assert_int_equal(brio__exact_intersections(s, x, NULL, 0), 0);
    for (int n = 0; n < 2; n++) {
        double angle = n ? 7 : 6; /* radians around a cylinder: 2 pi closes it */
        for (int64_t v = 0; v < s->vertex_count; v++) {
            double a = x[3 * v] / 2 * angle, slope = n ? 0.05 : 0;
            bent[3 * v] = sin(a) * (1 + slope * a);
            bent[3 * v + 1] = -cos(a);
            bent[3 * v + 2] = x[3 * v + 2];
        }
        BrioIntersection first;
        int64_t count = brio__exact_intersections(s, bent, &first, 1);
        char text[256];
        if (count) brio__intersection_text(s, &first, text, sizeof text);
        print_message("a sheet around %g rad: %lld intersections%s%s\n", angle, (long long)count,
                      count ? ", " : "", count ? text : "");
        assert_true(n ? count > 0 : count == 0);
        if (n) assert_non_null(strstr(text, "of body \"sheet\" meets triangle "));
    }
    free(bent);
    free(x);
    brio_sim_free(sim);
}

/* Large: how long it takes is printed. */
static void time_of_many(void **state)
{
    (void)state;
    BrioSim *sim =
        parse("integrator: backward-euler\nbodies:\n"
              "  - {name: sheet, shape: {type: grid, width: 1, depth: 1, cells_x: 224, cells_z: "
              "224}, kind: springs, material: {type: hooke, k: 10, vertex_mass: 0.01}}\n");
    double *x;
    const BrioSystem *s = system_of(sim, &x);
    BrioExact *exact;
    BrioExactReport report[2];
    assert_int_equal(brio__exact_create(s, &exact), BRIO_OK);
    for (int n = 0; n < 2; n++) {
        /* wavy; then a plane that is askew, in which nothing can be decided without exact
         * numbers */
        for (int64_t v = 0; v < s->vertex_count; v++)
            x[3 * v + 1] = n ? 0.1 * x[3 * v] + 0.3 * x[3 * v + 2]
                             : 0.05 * sin(20 * x[3 * v]) * cos(15 * x[3 * v + 2]);
        clock_t before = clock();
        brio__exact_check_positions(exact, x, &report[n]);
        double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
        print_message("%s sheet of %lld triangles: %lld pairs in %.3f s of processor time, %.0f ns "
                      "each, search included\n",
                      n ? "askew" : "wavy", (long long)brio__exact_surface(exact)->triangle_count,
                      (long long)report[n].pairs, seconds, 1e9 * seconds / (double)report[n].pairs);
        assert_int_equal(report[n].intersections, 0);
    }
    brio__exact_free(exact);
    free(x);
    brio_sim_free(sim);
}

/* ---- the hook --------------------------------------------------------------------------- */

typedef struct Seen {
    int count;
    double time[64];
} Seen;

static void note(void *user, const BrioState *state)
{
    Seen *seen = user;
    if (seen->count < 64) seen->time[seen->count] = state->time;
    seen->count++;
}

/* A solver that may iterate so little that steps must be halved: the states between the halves come
 * in order, inside of the step. */
static void states_between_halves(void **state)
{
    (void)state;
    BrioSim *sim = parse(
        "time: {h: 1/10}\nintegrator: backward-euler\nsolver: {max_iterations: 6, max_halvings: 6, "
        "tol: 1e-3}\n"
        "contact: {type: ipc, dhat: 1e-2}\nobstacles: [{type: plane, normal: [0, 1, 0]}]\nbodies:\n"
        "  - {name: ball, shape: {type: ball, radius: 0.2, cells: 2}, transform: {translate: [0, "
        "0.3, 0]}, velocity: {linear: [0, -5, 0]},\n"
        "     material: {type: neo-hookean, E: 1e5}}\n");
    int halved = 0, seen_in_all = 0;
    for (int n = 0; n < 5; n++) {
        Seen seen = {0};
        sim->stepper->observe = note;
        sim->stepper->observer = &seen;
        double before = brio_sim_time(sim);
        step(sim, 1);
        for (int i = 0; i < seen.count; i++) {
            assert_true(seen.time[i] > (i ? seen.time[i - 1] : before));
            assert_true(seen.time[i] < brio_sim_time(sim));
        }
        assert_true((sim->stepper->halvings > 0) == (seen.count > 0));
        assert_true(seen.count >= sim->stepper->halvings && seen.count < 64);
        halved += seen.count > 0;
        seen_in_all += seen.count;
    }
    print_message("%d of 5 steps were done in halves: %d states between them\n", halved,
                  seen_in_all);
    assert_true(halved > 0);
    brio_sim_free(sim);
}

/* ---- the program ------------------------------------------------------------------------ */

#define BALL                                                                                     \
    "title: Ball\ntime: {h: 1/60, end: 0.3}\nintegrator: bdf2\nsolver: {max_iterations: "        \
    "8}\noutput: {frames: []}\n"                                                                 \
    "contact: {type: ipc, dhat: 1e-2}\nobstacles: [{type: plane, normal: [0, 1, 0]}]\nbodies:\n" \
    "  - {name: ball, shape: {type: ball, radius: 0.2, cells: 3}, transform: {translate: [0, "   \
    "0.3, 0]}, velocity: {linear: [0, -5, 0]},\n"                                                \
    "     material: {type: neo-hookean, E: 1e5}}\n"

/* Two boxes; `height` of the upper one's middle, its velocity, and what else the scene has. */
static void write_boxes(const char *name, const char *height, const char *speed, const char *more)
{
    char text[2048];
    snprintf(text, sizeof text,
             "time: {h: 1/50, end: 1}\nintegrator: backward-euler\noutput: {frames: []}\ngravity: "
             "[0, 0, 0]\n%sbodies:\n"
             "  - {name: lower, shape: {type: box, size: [1, 1, 1], cells: [2, 2, 2]}, material: "
             "{type: neo-hookean, E: 1e5}}\n"
             "  - {name: upper, shape: {type: box, size: [1, 1, 1], cells: [3, 3, 3]}, transform: "
             "{translate: [0.1, %s, 0.2]}, velocity: {linear: [0, %s, 0]},\n"
             "     material: {type: neo-hookean, E: 1e5}}\n",
             more, height, speed);
    write_text(name, text);
}

#define FLOOR \
    "contact: {type: ipc}\nobstacles: [{type: plane, point: [0, -3, 0], normal: [0, 1, 0]}]\n"

static void initial_states(void **state)
{
    (void)state;
    write_boxes("apart.yaml", "1.001", "0", FLOOR);
    write_boxes("deep.yaml", "0.999999999999", "0", FLOOR);
    write_boxes("allowed.yaml", "0.9", "0", "");
    const Outcome *o = BRIO("check", "apart.yaml");
    assert_int_equal(o->code, 0);
    assert_null(strstr(o->out, "intersect"));
    assert_int_equal(access("check-intersections.obj", F_OK), -1);

    o = BRIO("check", "deep.yaml");
    assert_int_equal(o->code, 1);
    assert_non_null(strstr(o->out, "  intersections  34 in the initial state:\n"));
    assert_non_null(strstr(o->out, " of body \"lower\" meets triangle "));
    assert_non_null(strstr(o->out, "    and 29 more\n"));
    assert_non_null(strstr(o->out, "  ! 34 pairs of edges and triangles intersect in the initial "
                                   "state: bodies with contact must start apart"));
    assert_non_null(strstr(o->out, "not runnable\n"));
    char *obj = read_all("check-intersections.obj", NULL);
    assert_non_null(obj);
    int lines = 0, faces = 0, points = 0;
    for (char *at = obj; at && *at; at = strchr(at, '\n') + 1)
        lines += at[0] == 'l', faces += at[0] == 'f', points += at[0] == 'v';
    assert_true(lines == 34 && faces == 34 && points == 5 * 34);
    free(obj);

    write_text("check-intersections.obj", "mine\n");
    o = BRIO("check", "deep.yaml");
    assert_int_equal(o->code, 1);
    assert_non_null(strstr(o->err, "check-intersections.obj already exists"));
    obj = read_all("check-intersections.obj", NULL);
    assert_string_equal(obj, "mine\n");
    free(obj);
    o = BRIO("check", "allowed.yaml");
    assert_int_equal(o->code, 0); /* runnable, whatever became of the picture */
    assert_non_null(strstr(o->out, "\nrunnable\n"));
    assert_non_null(strstr(o->err, "check-intersections.obj already exists"));
    o = BRIO("check", "allowed.yaml", "-o", "other.obj");
    assert_int_equal(o->code, 0);
    assert_non_null(strstr(
        o->out, "intersect in the initial state; without contact they do not feel each other"));
    assert_int_equal(access("other.obj", F_OK), 0);
    assert_int_equal(BRIO("check", "allowed.yaml", "--force")->code, 0);
    o = BRIO("check", "deep.yaml", "--json", "--force");
    assert_int_equal(o->code, 1);
    assert_non_null(strstr(o->out, "\"intersections\": 34"));
}

static void dhat(void **state)
{
    (void)state;
    write_text("ball.yaml", BALL);
    const struct {
        const char *set, *expected;
    } cases[] = {
        {"contact.dhat=1e-2", NULL},
        {"contact.dhat=0.08",
         "contact.dhat = 0.08 m is larger than the shortest edge of a surface (0.0697 m)"},
        {"contact.dhat=0.05",
         "contact.dhat = 0.05 m is larger than half the median edge of the surfaces (0.0404 m)"},
        {"contact.dhat=1e-5",
         "contact.dhat = 1e-05 m is less than a thousandth of the median edge (0.0807 m)"}};
    for (size_t i = 0; i < BRIO_COUNT(cases); i++) {
        const Outcome *o = BRIO("check", "ball.yaml", "--set", cases[i].set);
        assert_int_equal(o->code, 0);
        if (cases[i].expected && !strstr(o->out, cases[i].expected)) fail_msg("%s", o->out);
        if (!cases[i].expected) assert_null(strstr(o->out, "!"));
    }
}

/* Obstacles meet bodies and not each other; a pair that the scene takes out of contact is not
 * counted. */
static void obstacles(void **state)
{
    (void)state;
    const char *const bodies =
        "bodies:\n"
        "  - {name: cube, shape: {type: box, size: [1, 1, 1], cells: [2, 2, 2]}, transform: "
        "{translate: [0, 0.9, 0]}, material: {type: neo-hookean}}\n";
    const struct {
        const char *exclude;
        bool counts;
    } cases[] = {{"", true}, {", exclude: [[cube, slab]]", false}};
    for (int i = 0; i < 2; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "output: {frames: []}\ncontact: {type: ipc%s}\nobstacles:\n"
                 "  - {type: box, name: slab, size: [3, 1, 3], cells: [1, 1, 1]}\n"
                 "  - {type: box, name: other, size: [1, 1, 1], cells: [1, 1, 1], transform: "
                 "{translate: [1.7, 0, 0]}}\n%s",
                 cases[i].exclude, bodies);
        write_text("slab.yaml", text);
        const Outcome *o = BRIO("check", "slab.yaml", "--force");
        bool named = strstr(o->out, "of body \"cube\" meets triangle ") &&
                     strstr(o->out, " of obstacle \"slab\"\n");
        if (o->code != cases[i].counts || named != cases[i].counts || strstr(o->out, "\"other\""))
            fail_msg("%d: %s%s", o->code, o->out, o->err);
    }
}

/* The number after a label of the text. */
static long long number_after(const char *text, const char *label)
{
    const char *at = strstr(text, label);
    if (!at) fail_msg("no \"%s\" in\n%s", label, text);
    return strtoll(at + strlen(label), NULL, 10);
}

static void proof_of_a_run(void **state)
{
    (void)state;
    write_text("ball.yaml", BALL);
    const Outcome *o = BRIO("run", "ball.yaml", "-o", "ball", "--exact");
    if (o->code) fail_msg("%s", o->err);
    assert_non_null(strstr(o->out, " states checked exactly, "));
    char *json = read_all("ball/run.json", NULL), *rows = read_all("ball/energy.csv", NULL);
    long long states = number_after(json, "\"states\": "),
              pairs = number_after(json, "\"pairs\": "),
              halved = number_after(json, "\"halved_steps\": ");
    free(json);
    print_message("a ball: %lld states (%lld of 18 steps in halves), %lld pairs\n", states, halved,
                  pairs);
    assert_true(halved > 0 && states > 19 && pairs > 0);
    assert_int_equal(BRIO("run", "ball.yaml", "-o", "plain", "--quiet")->code, 0);
    char *plain = read_all("plain/energy.csv", NULL);
    assert_string_equal(plain, rows); /* looking changes nothing */
    free(plain);

    o = BRIO("check", "--exact", "ball");
    if (o->code) fail_msg("%s%s", o->out, o->err);
    assert_int_equal(number_after(o->out, "ball: "), 18);
    assert_int_equal(number_after(o->out, "replayed, "), states);
    assert_int_equal(number_after(o->out, "decided exactly  "), pairs);
    assert_non_null(strstr(o->out, "  intersections      0\n  inverted elements  0\n  behind "
                                   "planes      0\n  smallest distance  0.00"));
    assert_non_null(
        strstr(o->out, "  rows of energy.csv 19, all the same to the last bit\nproved: "));
    o = BRIO("check", "--exact", "ball", "--json", "--threads", "1");
    assert_int_equal(o->code, 0);
    assert_non_null(strstr(o->out, "\"proved\": true"));

    /* as a run that was killed while it wrote a row */
    char *cut = strdup(rows), *at = cut;
    for (int i = 0; i < 10; i++) at = strchr(at, '\n') + 1;
    at[20] = 0;
    write_text("ball/energy.csv", cut);
    o = BRIO("check", "--exact", "ball");
    assert_int_equal(o->code, 0);
    assert_int_equal(number_after(o->out, "ball: "), 8);
    free(cut);

    /* one digit of one number */
    char *changed = strdup(rows);
    at = changed;
    for (int i = 0; i < 10; i++) at = strchr(at, '\n') + 1;
    for (int i = 0; i < 7; i++) at = strchr(at, ',') + 1;
    at[4] = at[4] == '1' ? '2' : '1';
    write_text("ball/energy.csv", changed);
    o = BRIO("check", "--exact", "ball");
    assert_int_equal(o->code, 1);
    assert_non_null(
        strstr(o->out, "! 1 of 19 rows of energy.csv differ, the first at step 9, column total: "));
    assert_non_null(strstr(o->out, "not proved\n"));
    free(changed);
    free(rows);

    o = BRIO("check", "--exact", "nowhere");
    assert_int_equal(o->code, 2);
    assert_non_null(strstr(o->err, "there is no folder \"nowhere\""));
    o = BRIO("check", "--exact", "ball", "--set", "time.h=1");
    assert_int_equal(o->code, 2);
    assert_non_null(strstr(o->err, "--exact proves a run as it was"));
}

/* Without contact one box flies into the other: the check that runs along stops it and names the
 * pair; the proof fails alike. */
static void run_into_each_other(void **state)
{
    (void)state;
    write_boxes("crash.yaml", "1.3", "-1", "");
    const Outcome *o = BRIO("run", "crash.yaml", "-o", "stopped", "--exact", "--quiet");
    assert_int_equal(o->code, 1);
    assert_non_null(strstr(o->err, "failed: the exact check failed at t = 0.3"));
    assert_non_null(strstr(o->err, " of body \"lower\" meets triangle "));
    assert_int_equal(access("stopped/checkpoint", F_OK), 0);
    char *json = read_all("stopped/run.json", NULL);
    assert_non_null(strstr(json, "\"verdict\": \"failed\""));
    assert_true(number_after(json, "\"intersections\": ") > 0);
    free(json);
    /* the state is no better than it was */
    o = BRIO("run", "crash.yaml", "-o", "stopped", "--exact", "--quiet", "--resume");
    assert_int_equal(o->code, 1);
    assert_non_null(strstr(o->err, "the exact check failed at t = 0.3"));

    assert_int_equal(BRIO("run", "crash.yaml", "-o", "through", "--quiet")->code, 0);
    o = BRIO("check", "--exact", "through");
    assert_int_equal(o->code, 1);
    assert_true(number_after(o->out, "intersections      ") > 0);
    assert_non_null(strstr(o->out, "  ! at t = 0.3"));
    assert_non_null(
        strstr(o->out, "  rows of energy.csv 51, all the same to the last bit\nnot proved\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_on_a_grid),
        cmocka_unit_test(one_ulp_off),
        cmocka_unit_test(wide_exponents),
        cmocka_unit_test(search_finds_all),
        cmocka_unit_test(boxes),
        cmocka_unit_test(cloth),
        cmocka_unit_test(time_of_many),
        cmocka_unit_test(states_between_halves),
        cmocka_unit_test(initial_states),
        cmocka_unit_test(obstacles),
        cmocka_unit_test(dhat),
        cmocka_unit_test(proof_of_a_run),
        cmocka_unit_test(run_into_each_other),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
