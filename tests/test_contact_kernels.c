/* Kernels of contact between bodies: closest points against a reference in quadruple precision that proves itself, for random,
 * degenerate and nearly degenerate pairs; derivatives of every kind of closest pair; the projection against an eigensolver;
 * friction against recorded data; time of a pair. */
#include "analyze/eigen.h"
#include "energy/energy.h"
#include "energy/pair.h"
#include "scene/tree.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

#ifndef BRIO_SOURCE_DIR
#define BRIO_SOURCE_DIR "."
#endif

static const char *const barriers[] = {"barrier-vertex-face", "barrier-edge-edge", "barrier-edge-edge-parallel"};

/* ---- closest points ------------------------------------------------------------------------------- */

#if LDBL_MANT_DIG == 113
typedef long double quad;
#else
typedef __float128 quad;
#endif

typedef struct Reference {
    quad D;
    quad gap; /* how far from proved it is: d - d_true <= 2 gap/d, and <= d */
} Reference;

static quad dotq(const quad *a, const quad *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void crossq(const quad *a, const quad *b, quad *c)
{
    for (int r = 0; r < 3; r++) c[r] = a[(r + 1) % 3] * b[(r + 2) % 3] - a[(r + 2) % 3] * b[(r + 1) % 3];
}

/* sum w_i (x_i - x_0): weights whose sum is not quite what it should be count by the extent, not by the place. */
static void at_weights(const double *x, const quad w[4], quad *r)
{
    for (int k = 0; k < 3; k++) {
        r[k] = 0;
        for (int i = 1; i < 4; i++) r[k] += w[i] * ((quad)x[3 * i + k] - (quad)x[k]);
    }
}

/* Takes the point if it is one of both bodies and nearer. Two convex bodies have no nearer points than p and q if no corner of
 * either is nearer along r = p - q: r.(corner - p) >= 0 and r.(corner - q) <= 0. */
static void consider(bool edges, const double *x, const quad w[4], Reference *best)
{
    int split = edges ? 2 : 1;
    for (int i = 0; i < 4; i++)
        if (!(i < split ? w[i] >= 0 : w[i] <= 0)) return;
    quad r[3], p[3], q[3], wp[4] = {w[0], edges ? w[1] : 0, 0, 0}, wq[4] = {0, edges ? 0 : -w[1], -w[2], -w[3]};
    at_weights(x, w, r);
    if (!(dotq(r, r) < best->D)) return;
    at_weights(x, wp, p);
    at_weights(x, wq, q);
    *best = (Reference){dotq(r, r), 0};
    for (int i = 0; i < 4; i++) {
        quad to[3];
        for (int k = 0; k < 3; k++) to[k] = (quad)x[3 * i + k] - (quad)x[k] - (i < split ? p : q)[k];
        quad room = i < split ? dotq(r, to) : -dotq(r, to);
        if (-room > best->gap) best->gap = -room;
    }
}

/* Every set of nodes that may carry the closest points, by cross products. */
static Reference reference(bool edges, const double *x)
{
    Reference best = {(quad)INFINITY, 0};
    int first = edges ? 2 : 1;
    for (int i = 0; i < first; i++) /* vertices */
        for (int j = first; j < 4; j++) {
            quad w[4] = {0};
            w[i] = 1, w[j] = -1;
            consider(edges, x, w, &best);
        }
    for (int i = 0; i < 4; i++) /* a vertex and an edge of the other */
        for (int j = 0; j < 4; j++)
            for (int k = j + 1; k < 4; k++) {
                if ((i < first) == (j < first) || (j < first) != (k < first)) continue;
                quad e[3], o[3];
                for (int r = 0; r < 3; r++) {
                    e[r] = (quad)x[3 * k + r] - (quad)x[3 * j + r];
                    o[r] = (quad)x[3 * i + r] - (quad)x[3 * j + r];
                }
                if (dotq(e, e) == 0) continue;
                quad t = dotq(o, e) / dotq(e, e), sign = i < first ? 1 : -1, w[4] = {0};
                w[i] = sign, w[j] = sign * (t - 1), w[k] = -sign * t;
                consider(edges, x, w, &best);
            }
    quad o[3], e[3], f[3]; /* both inside: o - u e - v f */
    for (int r = 0; r < 3; r++) {
        int from = edges ? 6 : 3;
        o[r] = (quad)x[r] - (quad)x[from + r];
        e[r] = edges ? (quad)x[r] - (quad)x[3 + r] : (quad)x[6 + r] - (quad)x[3 + r];
        f[r] = (quad)x[9 + r] - (quad)x[from + r];
    }
    quad n[3], u = 0, v = 0;
    crossq(e, f, n);
    if (dotq(n, n) > 0) {
        for (int pass = 0; pass < 3; pass++) { /* what is left is solved for again */
            quad left[3], lf[3], el[3];
            for (int r = 0; r < 3; r++) left[r] = o[r] - u * e[r] - v * f[r];
            crossq(left, f, lf);
            crossq(e, left, el);
            u += dotq(lf, n) / dotq(n, n);
            v += dotq(el, n) / dotq(n, n);
        }
        quad triangle[4] = {1, u + v - 1, -u, -v}, pair[4] = {1 - u, u, v - 1, -v};
        consider(edges, x, edges ? pair : triangle, &best);
    }
    return best;
}

enum { KINDS = 12 };
static const char *const kind_names[KINDS] = {"random", "grid", "grid and 1e-3", "grid and 1e-8", "grid and 1e-12", "grid and 1e-15", "1e-12 apart",
                                              "parallel", "coplanar", "touching", "needles", "far"};

/* Positions of size one before scaling; integer grids make parallel, collinear, coplanar, touching and coinciding nodes. */
static void make(BrioRandom *random, bool edges, int kind, double *x)
{
    static const double noise[] = {0, 0, 1e-3, 1e-8, 1e-12, 1e-15};
    for (int k = 0; k < 12; k++) x[k] = brio__random_normal(random);
    if (kind >= 1 && kind <= 5)
        for (int k = 0; k < 12; k++) x[k] = floor(3 * brio__random(random)) - 1 + noise[kind] * x[k];
    double a = brio__random(random), b = brio__random(random) * (edges ? 1 : 1 - a), n[3], size = 0;
    const double *p = x + 3, *q = x + 6, *s = x + 9;
    for (int r = 0; r < 3; r++) {
        int i = (r + 1) % 3, j = (r + 2) % 3;
        n[r] = edges ? (p[i] - x[i]) * (s[j] - q[j]) - (p[j] - x[j]) * (s[i] - q[i]) : (q[i] - p[i]) * (s[j] - p[j]) - (q[j] - p[j]) * (s[i] - p[i]);
        size += n[r] * n[r];
    }
    if (kind == 6 || kind == 9) { /* inside both, apart along the normal or not at all */
        double d = kind == 6 ? 1e-12 : 0;
        for (int r = 0; r < 3; r++) {
            double on = edges ? q[r] + b * (s[r] - q[r]) - a * (p[r] - x[r]) - x[r] : p[r] + a * (q[r] - p[r]) + b * (s[r] - p[r]) - x[r];
            x[r] += on + d * n[r] / sqrt(size);
            if (edges) x[3 + r] += on + d * n[r] / sqrt(size);
        }
    } else if (kind == 7) { /* edges, or edges of the triangle; exactly where b is a power of two */
        b = brio__random(random) < 0.5 ? 0.5 : b;
        for (int r = 0; r < 3; r++) x[9 + r] = x[6 + r] + (x[3 + r] - x[edges ? r : 6 + r]) * (a < 0.5 ? b : -b);
    } else if (kind == 8) {
        int axis = (int)(3 * a);
        for (int i = 0; i < 4; i++) x[3 * i + axis] = 0.25;
    } else if (kind == 10) { /* one node close to another, or to the line of two */
        double small = pow(10, -15 * a);
        for (int r = 0; r < 3; r++) x[9 + r] = x[6 + r] + (b < 0.25 ? 0 : 0.5) * (x[3 + r] - x[6 + r]) + small * brio__random_normal(random);
    } else if (kind == 11) {
        for (int i = 0; i < (edges ? 2 : 1); i++)
            for (int r = 0; r < 3; r++) x[3 * i + r] += 1e4 * n[r];
    }
}

static void load(const double x[LANES][12], vec3l at[4])
{
    for (int i = 0; i < 4; i++)
        for (int l = 0; l < LANES; l++) {
            at[i].x[l] = x[l][3 * i];
            at[i].y[l] = x[l][3 * i + 1];
            at[i].z[l] = x[l][3 * i + 2];
        }
}

static double extent(const double *x)
{
    double most = 0;
    for (int k = 0; k < 9; k++) most = fmax(most, fabs(x[k + 3] - x[k % 3]));
    return most;
}

/* TOLERANCE 16 eps of the largest difference of coordinates, for the distance and for that of the points of the weights: a few
 * roundings of numbers of that size. */
static void closest(bool edges)
{
    static const double scales[] = {1, 1e-6, 1e6, 1e-60};
    BrioRandom random = {edges ? 31 : 37};
    double worst[KINDS][3] = {0}, unproved = 0;
    int mixed = 0;
    for (int again = 0; again < 12000; again++) {
        double x[LANES][12], scale = scales[again % 4], kernel[BRIO_ISA_AVX512 + 1][LANES];
        int kind[LANES], free_counts = 0;
        for (int l = 0; l < LANES; l++) {
            kind[l] = (int)(KINDS * brio__random(&random));
            make(&random, edges, kind[l], x[l]);
            for (int k = 0; k < 12; k++) x[l][k] *= scale;
        }
        vec3l at[4], q[2];
        load(x, at);
        Pair pair = edges ? pair_edge_edge(at) : pair_vertex_face(at), framed = pair;
        pair_frame(at, &framed, q);
        /* the kernels' own distances */
        _Alignas(BRIO_ALIGN) int32_t node[4 * LANES];
        double flat[LANES * 12], params[3] = {1, 1, 0};
        for (int l = 0; l < LANES; l++)
            for (int i = 0; i < 4; i++) {
                node[i * LANES + l] = 12 * l + 3 * i;
                memcpy(flat + 12 * l + 3 * i, x[l] + 3 * i, 3 * sizeof(double));
            }
        for (int isa = 0; isa <= (int)brio__isa(); isa++) {
            _Alignas(BRIO_ALIGN) double d[LANES];
            brio__energy_for(barriers[edges], (BrioIsa)isa)->eval(&(BrioBatch){.end = 1, .node = node, .params = params, .x = flat, .distance = d});
            memcpy(kernel[isa], d, sizeof d);
        }
        for (int l = 0; l < LANES; l++) {
            double size = extent(x[l]), sums[2] = {0};
            Reference right = reference(edges, x[l]);
            double d = sqrt((double)right.D);
            double doubt = right.gap > 0 ? fmin(d, 2 * (double)(right.gap / (quad)d)) : 0;
            unproved = fmax(unproved, doubt / size);
            quad w[4], r[3];
            for (int i = 0; i < 4; i++) {
                w[i] = (quad)pair.w[i][l];
                bool first = i < (edges ? 2 : 1);
                sums[!first] += pair.w[i][l];
                assert_true(first ? pair.w[i][l] >= 0 && pair.w[i][l] <= 1 : pair.w[i][l] <= 0 && pair.w[i][l] >= -1);
                for (int k = 0; k < 2; k++) assert_true(isfinite(framed.dw[k][i][l]) && fabs(pair.dw[k][i][l]) <= 1);
            }
            assert_true(fabs(sums[0] - 1) <= 4 * DBL_EPSILON && fabs(sums[1] + 1) <= 4 * DBL_EPSILON);
            at_weights(x[l], w, r);
            int free = (pair.dw[0][0][l] != 0 || pair.dw[0][1][l] != 0 || pair.dw[0][2][l] != 0) + (pair.dw[1][3][l] != 0);
            free_counts |= 1 << free;
            double error[3] = {fabs(sqrt(pair.D[l]) - d), fabs(sqrt((double)dotq(r, r)) - d), fabs(sqrt(framed.D[l]) - d)};
            for (int isa = 0; isa <= (int)brio__isa(); isa++) error[0] = fmax(error[0], fabs(kernel[isa][l] - d));
            for (int k = 0; k < 3; k++) {
                double relative = size > 0 ? (error[k] + doubt) / size : error[k];
                if (!(relative <= worst[kind[l]][k])) worst[kind[l]][k] = relative;
            }
        }
        mixed += free_counts == 7;
    }
    print_message("%s, errors over the extent in eps: distance, of the points, in the frame (of that at most %.2g in doubt)\n", barriers[edges], unproved / DBL_EPSILON);
    for (int k = 0; k < KINDS; k++)
        print_message("  %-15s %8.2f %8.2f %8.2f\n", kind_names[k], worst[k][0] / DBL_EPSILON, worst[k][1] / DBL_EPSILON, worst[k][2] / DBL_EPSILON);
    print_message("  blocks of all three numbers of free parameters: %d\n", mixed);
    for (int k = 0; k < KINDS; k++)
        for (int l = 0; l < 3; l++) assert_true(worst[k][l] < 16 * DBL_EPSILON);
    assert_true(mixed > 1000);
}

static void closest_vertex_face(void **state) { (void)state; closest(false); }
static void closest_edge_edge(void **state) { (void)state; closest(true); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closest_vertex_face), cmocka_unit_test(closest_edge_edge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
