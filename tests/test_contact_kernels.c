/* Kernels of contact between bodies: closest points against a reference in quadruple precision that
 * proves itself, for random, degenerate and nearly degenerate pairs; derivatives of every kind of
 * closest pair; the projection against an eigensolver; friction against recorded data; time of a
 * pair. */
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

static const char *const barriers[] = {"vertex-face-ipc", "edge-edge-ipc",
                                       "edge-edge-parallel-ipc"};

/* ---- closest points --------------------------------------------------------------------- */

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
    for (int r = 0; r < 3; r++)
        c[r] = a[(r + 1) % 3] * b[(r + 2) % 3] - a[(r + 2) % 3] * b[(r + 1) % 3];
}

/* sum w_i (x_i - x_0): weights whose sum is not quite what it should be count by the extent, not by
 * the place. */
static void at_weights(const double *x, const quad w[4], quad *r)
{
    for (int k = 0; k < 3; k++) {
        r[k] = 0;
        for (int i = 1; i < 4; i++) r[k] += w[i] * ((quad)x[3 * i + k] - (quad)x[k]);
    }
}

/* Takes the point if it is one of both bodies and nearer. Two convex bodies have no nearer points
 * than p and q if no corner of either is nearer along r = p - q: r.(corner - p) >= 0 and r.(corner
 * - q) <= 0. */
static void consider(bool edges, const double *x, const quad w[4], Reference *best)
{
    int split = edges ? 2 : 1;
    for (int i = 0; i < 4; i++)
        if (!(i < split ? w[i] >= 0 : w[i] <= 0)) return;
    quad r[3], p[3], q[3], wp[4] = {w[0], edges ? w[1] : 0, 0, 0},
                           wq[4] = {0, edges ? 0 : -w[1], -w[2], -w[3]};
    at_weights(x, w, r);
    if (!(dotq(r, r) < best->D)) return;
    at_weights(x, wp, p);
    at_weights(x, wq, q);
    *best = (Reference){dotq(r, r), 0};
    for (int i = 0; i < 4; i++) {
        quad to[3];
        for (int k = 0; k < 3; k++)
            to[k] = (quad)x[3 * i + k] - (quad)x[k] - (i < split ? p : q)[k];
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
static const char *const kind_names[KINDS] = {
    "random",      "grid",     "grid and 1e-3", "grid and 1e-8", "grid and 1e-12", "grid and 1e-15",
    "1e-12 apart", "parallel", "coplanar",      "touching",      "needles",        "far"};

/* Positions of size one before scaling; integer grids make parallel, collinear, coplanar, touching
 * and coinciding nodes. */
static void make(BrioRandom *random, bool edges, int kind, double *x)
{
    static const double noise[] = {0, 0, 1e-3, 1e-8, 1e-12, 1e-15};
    for (int k = 0; k < 12; k++) x[k] = brio__random_normal(random);
    if (kind >= 1 && kind <= 5)
        for (int k = 0; k < 12; k++)
            x[k] = floor(3 * brio__random(random)) - 1 + noise[kind] * x[k];
    double a = brio__random(random), b = brio__random(random) * (edges ? 1 : 1 - a), n[3], size = 0;
    const double *p = x + 3, *q = x + 6, *s = x + 9;
    for (int r = 0; r < 3; r++) {
        int i = (r + 1) % 3, j = (r + 2) % 3;
        n[r] = edges ? (p[i] - x[i]) * (s[j] - q[j]) - (p[j] - x[j]) * (s[i] - q[i])
                     : (q[i] - p[i]) * (s[j] - p[j]) - (q[j] - p[j]) * (s[i] - p[i]);
        size += n[r] * n[r];
    }
    if (kind == 6 || kind == 9) { /* inside both, apart along the normal or not at all */
        double d = kind == 6 ? 1e-12 : 0;
        for (int r = 0; r < 3; r++) {
            double on = edges ? q[r] + b * (s[r] - q[r]) - a * (p[r] - x[r]) - x[r]
                              : p[r] + a * (q[r] - p[r]) + b * (s[r] - p[r]) - x[r];
            x[r] += on + d * n[r] / sqrt(size);
            if (edges) x[3 + r] += on + d * n[r] / sqrt(size);
        }
    } else if (kind == 7) { /* edges, or edges of the triangle; exactly where b is a power of two */
        b = brio__random(random) < 0.5 ? 0.5 : b;
        for (int r = 0; r < 3; r++)
            x[9 + r] = x[6 + r] + (x[3 + r] - x[edges ? r : 6 + r]) * (a < 0.5 ? b : -b);
    } else if (kind == 8) {
        int axis = (int)(3 * a);
        for (int i = 0; i < 4; i++) x[3 * i + axis] = 0.25;
    } else if (kind == 10) { /* one node close to another, or to the line of two */
        double small = pow(10, -15 * a);
        for (int r = 0; r < 3; r++)
            x[9 + r] = x[6 + r] + (b < 0.25 ? 0 : 0.5) * (x[3 + r] - x[6 + r]) +
                       small * brio__random_normal(random);
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
    double max = 0;
    for (int k = 0; k < 9; k++) max = brio__larger(max, fabs(x[k + 3] - x[k % 3]));
    return max;
}

/* TOLERANCE 16 eps of the largest difference of coordinates, for the distance and for that of the
 * points of the weights: a few roundings of numbers of that size. */
static void closest(bool edges)
{
    static const double scales[] = {1, 1e-6, 1e6, 1e-60};
    BrioRandom random = {edges ? 31 : 37};
    double worst[KINDS][3] = {0}, unproved = 0;
    int mixed = 0;
    for (int again = 0; again < 6000; again++) {
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
            brio__energy_for(barriers[edges], (BrioIsa)isa)
                ->eval(&(BrioBatch){
                    .end = 1, .node = node, .params = params, .x = flat, .distance = d});
            memcpy(kernel[isa], d, sizeof d);
        }
        for (int l = 0; l < LANES; l++) {
            double size = extent(x[l]), sums[2] = {0};
            Reference right = reference(edges, x[l]);
            double d = sqrt((double)right.D);
            double doubt = right.gap > 0 ? fmin(d, 2 * (double)(right.gap / (quad)d)) : 0;
            unproved = brio__larger(unproved, doubt / size);
            quad w[4], r[3];
            for (int i = 0; i < 4; i++) {
                w[i] = (quad)pair.w[i][l];
                bool first = i < (edges ? 2 : 1);
                sums[!first] += pair.w[i][l];
                assert_true(first ? pair.w[i][l] >= 0 && pair.w[i][l] <= 1
                                  : pair.w[i][l] <= 0 && pair.w[i][l] >= -1);
                for (int k = 0; k < 2; k++)
                    assert_true(isfinite(framed.dw[k][i][l]) && fabs(pair.dw[k][i][l]) <= 1);
            }
            assert_true(fabs(sums[0] - 1) <= 4 * DBL_EPSILON &&
                        fabs(sums[1] + 1) <= 4 * DBL_EPSILON);
            at_weights(x[l], w, r);
            int free = (pair.dw[0][0][l] != 0 || pair.dw[0][1][l] != 0 || pair.dw[0][2][l] != 0) +
                       (pair.dw[1][3][l] != 0);
            free_counts |= 1 << free;
            double error[3] = {fabs(sqrt(pair.D[l]) - d), fabs(sqrt((double)dotq(r, r)) - d),
                               fabs(sqrt(framed.D[l]) - d)};
            for (int isa = 0; isa <= (int)brio__isa(); isa++)
                error[0] = brio__larger(error[0], fabs(kernel[isa][l] - d));
            for (int k = 0; k < 3; k++) {
                double relative = size > 0 ? (error[k] + doubt) / size : error[k];
                if (!(relative <= worst[kind[l]][k])) worst[kind[l]][k] = relative;
            }
        }
        mixed += free_counts == 7;
    }
    print_message("%s, errors over the extent in eps: distance, of the points, in the frame (of "
                  "that at most %.2g in doubt)\n",
                  barriers[edges], unproved / DBL_EPSILON);
    for (int k = 0; k < KINDS; k++)
        print_message("  %-15s %8.2f %8.2f %8.2f\n", kind_names[k], worst[k][0] / DBL_EPSILON,
                      worst[k][1] / DBL_EPSILON, worst[k][2] / DBL_EPSILON);
    print_message("  blocks of all three numbers of free parameters: %d\n", mixed);
    for (int k = 0; k < KINDS; k++)
        for (int l = 0; l < 3; l++) assert_true(worst[k][l] < 16 * DBL_EPSILON);
    assert_true(mixed > 500);
}

static void closest_vertex_face(void **state)
{
    (void)state;
    closest(false);
}
static void closest_edge_edge(void **state)
{
    (void)state;
    closest(true);
}

/* ---- derivatives and projection --------------------------------------------------------- */

enum { VERTEX_FACE_KINDS = 7, EDGE_EDGE_KINDS = 9 };

typedef struct Case {
    double x[12], params[3], rest[2];
} Case;

static double value(const BrioEnergy *energy, const Case *c, const double *x, double *g, double *H,
                    bool project)
{
    return brio__energy_one(energy, c->params, c->rest, x, g, H, project);
}

/* Which nodes carry the closest points: a bit for each. */
static int carriers(bool edges, const double *x)
{
    double all[LANES][12];
    vec3l at[4];
    for (int l = 0; l < LANES; l++) memcpy(all[l], x, sizeof all[l]);
    load(all, at);
    Pair p = edges ? pair_edge_edge(at) : pair_vertex_face(at);
    int bits = 0;
    for (int i = 0; i < 4; i++) bits |= (p.w[i][0] != 0) << i;
    return bits;
}

/* Central differences of the energy against the gradient and of the gradient against the Hessian,
 * along random directions on which the same nodes stay closest, for every set of nodes. TOLERANCE
 * 1e-6 of the size of what is compared: h^2 of the differences, h = 1e-5, times third derivatives
 * over second ones of up to 1e4 (1/l^2 of the shortest lengths l). */
static void derivatives_of(const BrioEnergy *energy, int variant)
{
    bool edges = variant > 0;
    int count[16] = {0}, kinds = 0, fading = 0;
    double worst_gradient = 0, worst_hessian = 0;
    BrioRandom random = {41};
    for (int again = 0; again < 40000; again++) {
        Case c = {.params = {3, 1, again % 2 ? 0.1 : 0}, .rest = {0.7, 1}};
        double y[2][12], d[12], g[12], H[144], gy[2][12], E[2], size = 0, error = 0;
        for (int k = 0; k < 12; k++) {
            c.x[k] = 0.8 * brio__random_normal(&random);
            d[k] = brio__random_normal(&random);
        }
        int kind = carriers(edges, c.x);
        if (count[kind] >= 150 || !(value(energy, &c, c.x, g, H, false) < 3) ||
            value(energy, &c, c.x, NULL, NULL, false) < 1e-3)
            continue;
        const double h = 1e-5;
        for (int k = 0; k < 12; k++) {
            y[0][k] = c.x[k] - h * d[k];
            y[1][k] = c.x[k] + h * d[k];
        }
        if (carriers(edges, y[0]) != kind || carriers(edges, y[1]) != kind) continue;
        double cross = 0, along = 0;
        for (int r = 0; r < 3; r++) {
            int i = (r + 1) % 3, j = (r + 2) % 3;
            double e = (c.x[3 + i] - c.x[i]) * (c.x[9 + j] - c.x[6 + j]) -
                       (c.x[3 + j] - c.x[j]) * (c.x[9 + i] - c.x[6 + i]);
            cross += e * e;
        }
        /* where m reaches 1 its second derivative jumps */
        if (variant == 2 && fabs(cross - 1) < 1e-2) continue;
        /* nearly parallel or flat: third derivatives grow without bound */
        if (kind == 15 && cross < 0.05) continue;
        fading += variant == 2 && cross < 1;
        count[kind]++;
        for (int k = 0; k < 2; k++) E[k] = value(energy, &c, y[k], gy[k], NULL, false);
        double norm = 0;
        for (int i = 0; i < 12; i++) {
            double Hd = 0;
            for (int j = 0; j < 12; j++) {
                Hd += H[12 * i + j] * d[j];
                size = brio__larger(size, fabs(H[12 * i + j]));
            }
            error = brio__larger(error, fabs((gy[1][i] - gy[0][i]) / (2 * h) - Hd));
            along += g[i] * d[i];
            norm = brio__larger(norm, fabs(g[i]));
        }
        worst_gradient = brio__larger(worst_gradient, fabs((E[1] - E[0]) / (2 * h) - along) / norm);
        worst_hessian = brio__larger(worst_hessian, error / size);
    }
    for (int k = 0; k < 16; k++) {
        kinds += count[k] > 0;
        if (count[k]) assert_true(count[k] >= 20);
    }
    print_message("%s: %d kinds of closest pair, differences against gradient %.1g, Hessian %.1g%s",
                  energy->name, kinds, worst_gradient, worst_hessian, variant == 2 ? "" : "\n");
    if (variant == 2) print_message(", %d fading\n", fading);
    assert_int_equal(kinds, edges ? EDGE_EDGE_KINDS : VERTEX_FACE_KINDS);
    assert_true(worst_gradient < 1e-6 && worst_hessian < 1e-6);
    if (variant == 2) assert_true(fading > 200);
}

static void derivatives(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) derivatives_of(brio__energy(barriers[k]), k);
}

/* Also of pairs that are taken off a sum, with the weight -1. TOLERANCE 1e-13 of the largest
 * eigenvalue: round-off of two eigensolvers. */
static void nearest_semidefinite(void **state)
{
    (void)state;
    for (int isa = 0; isa <= (int)brio__isa(); isa++)
        for (int variant = 0; variant < 3; variant++) {
            const BrioEnergy *energy = brio__energy_for(barriers[variant], (BrioIsa)isa);
            BrioRandom random = {43};
            double worst = 0;
            int indefinite = 0;
            for (int again = 0; again < 1500; again++) {
                bool off = variant < 2 && again % 3 == 2;
                Case c = {.params = {1e5, 1, 0.05}, .rest = {off ? -1 : 1, 1}};
                double H[144], P[144], lambda[12], max = 0;
                make(&random, variant > 0,
                     again % 2 ? 0 : 1 + (int)((KINDS - 2) * brio__random(&random)), c.x);
                double d = sqrt((double)reference(variant > 0, c.x).D);
                c.params[2] = d * fmin(0.99, brio__random(&random));
                c.params[1] = d * pow(10, 3 * brio__random(&random) - 0.5);
                if (variant == 2) c.rest[1] = pow(10, -6 * brio__random(&random));
                double E = value(energy, &c, c.x, NULL, H, false);
                if (E == 0 || !isfinite(E)) { /* far, or touching */
                    for (int k = 0; k < 144; k++) assert_true(isfinite(H[k]));
                    continue;
                }
                value(energy, &c, c.x, NULL, P, true);
                assert_int_equal(brio__eigen_symmetric_builtin(12, H, lambda), BRIO_OK);
                for (int k = 0; k < 12; k++) max = brio__larger(max, fabs(lambda[k]));
                indefinite += lambda[0] < -1e-9 * max;
                for (int i = 0; i < 12; i++)
                    for (int j = 0; j < 12; j++) {
                        double nearest = 0;
                        for (int k = 0; k < 12; k++)
                            nearest += fmax(lambda[k], 0) * H[12 * k + i] * H[12 * k + j];
                        double error = fabs(P[12 * i + j] - nearest) / max;
                        if (!(error <= worst)) worst = error;
                    }
            }
            print_message("%s, instruction set %d: nearest semidefinite matrix to %.1g of the "
                          "largest eigenvalue, %d projected\n",
                          energy->name, isa, worst, indefinite);
            assert_true(indefinite > 300);
            assert_true(worst < 1e-13);
        }
}

/* ---- blocks, thickness, touching, parallel ---------------------------------------------- */

/* Elements of all kinds in the lanes of a batch give what each gives alone. TOLERANCE 1e-13: a
 * block sweeps until all eight of its matrices are diagonal. */
static void mixed_lanes(void **state)
{
    (void)state;
    enum { PACKS = 40, ELEMENTS = PACKS * LANES };
    static _Alignas(BRIO_ALIGN) int32_t node[4 * ELEMENTS];
    static _Alignas(BRIO_ALIGN) double rest[2 * ELEMENTS], energy[PACKS], g[12 * ELEMENTS],
        H[90 * ELEMENTS];
    static double x[12 * ELEMENTS];
    for (int isa = 0; isa <= (int)brio__isa(); isa++)
        for (int variant = 0; variant < 3; variant++) {
            const BrioEnergy *kernel = brio__energy_for(barriers[variant], (BrioIsa)isa);
            const double params[3] = {2, 1, 0.02};
            BrioRandom random = {47};
            for (int e = 0; e < ELEMENTS; e++) {
                double own[2] = {0.5 + brio__random(&random), 0.3};
                /* not touching: every block stays finite */
                do make(&random, variant > 0, (int)(KINDS * brio__random(&random)), x + 12 * e);
                while (isinf(brio__energy_one(kernel, params, own, x + 12 * e, NULL, NULL, false)));
                for (int i = 0; i < 4; i++)
                    node[(e / LANES * 4 + i) * LANES + e % LANES] = 12 * e + 3 * i;
                for (int k = 0; k < kernel->rest; k++)
                    rest[(e / LANES * kernel->rest + k) * LANES + e % LANES] = own[k];
            }
            double worst = 0;
            for (int project = 0; project < 2; project++) {
                kernel->eval(&(BrioBatch){.end = PACKS,
                                          .node = node,
                                          .rest = rest,
                                          .params = params,
                                          .x = x,
                                          .energy = energy,
                                          .gradient = g,
                                          .hessian = H,
                                          .project = project});
                for (int b = 0; b < PACKS; b++) {
                    double sum = 0;
                    for (int l = 0; l < LANES; l++) {
                        int e = b * LANES + l;
                        double own[2] = {0}, ge[12], He[144], size[2] = {0};
                        for (int k = 0; k < kernel->rest; k++)
                            own[k] = rest[(b * kernel->rest + k) * LANES + l];
                        sum += brio__energy_one(kernel, params, own, x + 12 * e, ge, He, project);
                        for (int k = 0; k < 144; k++) size[1] = brio__larger(size[1], fabs(He[k]));
                        for (int k = 0; k < 12; k++) size[0] = brio__larger(size[0], fabs(ge[k]));
                        for (int k = 0; k < 12; k++)
                            assert_true(fabs(g[(12 * b + k) * LANES + l] - ge[k]) <=
                                        1e-14 * size[0]);
                        for (int i = 0; i < 4; i++)
                            for (int j = 0; j <= i; j++)
                                for (int k = 0; k < 9; k++) {
                                    double error =
                                        fabs(H[(90 * b + brio__pair(i, j) * 9 + k) * LANES + l] -
                                             He[12 * (3 * i + k / 3) + 3 * j + k % 3]);
                                    if (!(error <= worst * size[1])) worst = error / size[1];
                                }
                    }
                    assert_true(fabs(energy[b] - sum) <= 1e-14 * sum);
                }
            }
            assert_true(worst < 1e-13);
        }
}

/* Thickness t: what the barrier gives at |r| - t. At t and below: infinite, with finite
 * derivatives. */
static void thickness(void **state)
{
    (void)state;
    for (int variant = 0; variant < 3; variant++) {
        const BrioEnergy *energy = brio__energy(barriers[variant]);
        for (int k = 0; k < 40; k++) {
            double d = 0.05 + 0.03 * k, t = 0.25, b = d - t, g[12], H[144];
            Case c = {.x = {0.2, 0.3, d, 1, 0, 0, 0, 1, 0, -1, -1, 0},
                      .params = {7, 0.6, t},
                      .rest = {2, 1e-9}};
            if (variant > 0)
                memcpy(c.x, (const double[12]){-1, 0, d, 1, 0, d, 0.1, -2, 0, 0.1, 1, 0},
                       sizeof c.x);
            for (int project = 0; project < 2; project++) {
                double E = value(energy, &c, c.x, g, H, project);
                double right = b < 0.6 ? -14 * (b - 0.6) * (b - 0.6) * log(b / 0.6) : 0;
                assert_true(b <= 1e-15 ? isinf(E) : fabs(E - right) <= 1e-13 * (1 + right));
                for (int i = 0; i < 12; i++) assert_true(isfinite(g[i]));
                for (int i = 0; i < 144; i++) assert_true(isfinite(H[i]));
                double slope =
                    b < 0.6 && b > 1e-15 ? -14 * (b - 0.6) * (2 * log(b / 0.6) + (b - 0.6) / b) : 0;
                assert_true(fabs(g[2] + (variant ? g[5] : 0) - slope) <= 1e-12 * (1 + fabs(slope)));
            }
        }
        Case c = {.x = {0}, .params = {7, 0.6, 0}, .rest = {2, 1}}; /* all nodes in one point */
        double g[12], H[144];
        assert_true(isinf(value(energy, &c, c.x, g, H, true)));
        for (int i = 0; i < 12; i++) assert_true(isfinite(g[i]));
        for (int i = 0; i < 144; i++) assert_true(isfinite(H[i]));
    }
}

/* Exactly parallel edges side by side: the barrier has faded out, smoothly. A turn by a small angle
 * a about the line between them gives m = (c/eps)(2 - c/eps), c = (2 2 sin a)^2, at an unchanged
 * distance. */
static void parallel(void **state)
{
    (void)state;
    const BrioEnergy *energy = brio__energy(barriers[2]), *plain = brio__energy(barriers[1]);
    for (int k = 0; k <= 60; k++) {
        double a = k ? pow(10, -k / 4.0) : 0, g[12], H[144], eps = 1e-3 * 16, E[2];
        Case c = {.x = {-1, 0, 0.5, 1, 0, 0.5, -cos(a), -sin(a), 0, cos(a), sin(a), 0},
                  .params = {1, 1, 0},
                  .rest = {1, eps}};
        for (int project = 0; project < 2; project++) {
            E[project] = value(energy, &c, c.x, g, H, project);
            for (int i = 0; i < 144; i++) assert_true(isfinite(H[i]));
            if (k == 0)
                for (int i = 0; i < 12; i++) assert_true(g[i] == 0);
        }
        double full = 0.25 * log(2), z = 16 * sin(a) * sin(a) / eps, m = z < 1 ? z * (2 - z) : 1;
        assert_true(E[0] == E[1] && fabs(E[0] - m * full) <= 1e-14 * full);
        assert_true(fabs(value(plain, &c, c.x, g, H, true) - full) <= 1e-14);
        for (int i = 0; i < 144; i++) assert_true(isfinite(H[i]));
    }
}

/* ---- friction --------------------------------------------------------------------------- */

static double number(const BrioNode *node)
{
    double value = NAN;
    assert_int_equal(brio__node_real(node, &value, NULL), BRIO_OK);
    return value;
}

static double number_at(BrioNode *list, int i, int j)
{
    assert_true(i < list->count);
    return number(j < 0 ? list->child[i] : list->child[i]->child[j]);
}

/* Two cubes in contact, recorded with normal forces, closest points, tangents, energy, gradient and
 * Hessian of the friction. TOLERANCE 1e-10 of the energy, of all friction together, and of that
 * over eps: slides of 1e-5 from coordinates of size 1. */
static void recorded_friction(void **state)
{
    (void)state;
    const char *shared = getenv("BRIO_SHARED");
    int files = 0, pairs = 0, kinds[3] = {0};
    double worst[4] = {0};
    for (int number_of = 0; number_of < 1000; number_of++) {
        char path[512];
        snprintf(path, sizeof path, "%s/cases/friction/friction_data_%d.json",
                 shared ? shared : BRIO_SOURCE_DIR "/../shared", number_of);
        if (access(path, R_OK)) continue;
        files++;
        BrioNode *root;
        BrioError error;
        assert_int_equal(brio__tree_read(path, &root, &error), BRIO_OK);
        BrioNode *stencils = brio__node_get(root, "mmcvids"),
                 *forces = brio__node_get(root, "normal_force_magnitudes"),
                 *points = brio__node_get(root, "closest_point_coordinates"),
                 *bases = brio__node_get(root, "tangent_bases"),
                 *begin = brio__node_get(root, "V_start"),
                 *lagged = brio__node_get(root, "V_lagged"), *end = brio__node_get(root, "V_end"),
                 *gradient = brio__node_get(root, "gradient"),
                 *triplets = brio__node_get(root, "hessian_triplets");
        double mu = number(brio__node_get(root, "mu"));
        double eps = sqrt(number(brio__node_get(root, "epsv_times_h_squared")));
        static double G[48], H[48][48];
        double E = 0, total = 0, off[2] = {0};
        memset(G, 0, sizeof G);
        memset(H, 0, sizeof H);
        for (int k = 0; k < stencils->count; k++, pairs++) {
            int v[4], used = 4;
            for (int i = 0; i < 4; i++) v[i] = (int)number_at(stencils, k, i);
            bool edges = v[0] >= 0;
            if (!edges) {
                v[0] = -v[0] - 1;
                /* a vertex and an edge: a triangle whose last two corners coincide */
                if (v[3] < 0) v[3] = v[2], used = 3;
                assert_true(v[2] >= 0);
            }
            double a = number_at(points, k, 0), b = used > 3 ? number_at(points, k, 1) : 0;
            double w[4] = {1, a + b - 1, -a, -b}, we[4] = {1 - a, a, b - 1, -b};
            if (edges) memcpy(w, we, sizeof w);
            kinds[edges ? 0 : used == 4 ? 1 : 2]++;
            double rest[16] = {mu * number_at(forces, k, -1), w[0], w[1], w[2], w[3]};
            double x[12], y[12], g[12], h[144], all[LANES][12];
            for (int i = 0; i < 12; i++) {
                x[i] = number_at(end, v[i / 3], i % 3);
                y[i] = number_at(lagged, v[i / 3], i % 3);
                for (int t = 0; t < 2; t++)
                    rest[11 + t] += w[i / 3] * number_at(begin, v[i / 3], i % 3) *
                                    number_at(bases, 3 * k + i % 3, t);
            }
            for (int i = 0; i < 6; i++) rest[5 + i] = number_at(bases, 3 * k + i % 3, i / 3);
            total += rest[0];
            E += brio__energy_one(brio__energy("friction"), (double[2]){eps, 0}, rest, x, g, h,
                                  k % 2);
            for (int i = 0; i < 12; i++) {
                G[3 * v[i / 3] + i % 3] += g[i];
                for (int j = 0; j < 12; j++)
                    H[3 * v[i / 3] + i % 3][3 * v[j / 3] + j % 3] += h[12 * i + j];
            }
            /* closest points of our own */
            for (int l = 0; l < LANES; l++) memcpy(all[l], y, sizeof y);
            vec3l at[4];
            load(all, at);
            Pair p = edges ? pair_edge_edge(at) : pair_vertex_face(at);
            double own[4];
            for (int i = 0; i < 4; i++) own[i] = p.w[i][0];
            if (used == 3) own[2] += own[3], own[3] = 0;
            for (int i = 0; i < 4; i++) worst[3] = brio__larger(worst[3], fabs(own[i] - w[i]));
        }
        for (int i = 0; i < 48; i++) {
            off[0] = brio__larger(off[0], fabs(G[i] - number_at(gradient, i, -1)));
        }
        for (int k = 0; k < triplets->count; k++) /* what is left is the error */
            H[(int)number_at(triplets, k, 0)][(int)number_at(triplets, k, 1)] -=
                number_at(triplets, k, 2);
        for (int k = 0; k < 48 * 48; k++) off[1] = brio__larger(off[1], fabs(H[k / 48][k % 48]));
        double right = number(brio__node_get(root, "energy"));
        worst[0] = brio__larger(worst[0], fabs(E - right) / right);
        worst[1] = brio__larger(worst[1], off[0] / total);
        worst[2] = brio__larger(worst[2], off[1] * eps / total);
        brio__tree_free(root);
    }
    if (!files) {
        print_message("SKIPPED: no recorded friction under ../shared/cases/friction\n");
        return;
    }
    print_message("%d files, %d pairs of edges, %d of vertex and triangle, %d of vertex and edge: "
                  "energy %.1g, gradient %.1g, Hessian %.1g, closest points %.1g\n",
                  files, kinds[0], kinds[1], kinds[2], worst[0], worst[1], worst[2], worst[3]);
    for (int k = 0; k < 4; k++) assert_true(worst[k] < 1e-10);
}

/* ---- time ------------------------------------------------------------------------------- */

/* Prints nanoseconds a pair on one thread; nothing is asserted of them. */
static void seconds(void **state)
{
    (void)state;
    enum { PACKS = 32 };
    int64_t elements = PACKS * LANES;
    int32_t *node = brio__alloc((size_t)(4 * elements), sizeof *node);
    double *rest = brio__alloc((size_t)(16 * elements), sizeof *rest),
           *g = brio__alloc((size_t)(12 * elements), sizeof *g),
           *H = brio__alloc((size_t)(90 * elements), sizeof *H),
           *x = brio__alloc((size_t)(12 * elements), sizeof *x), energy[PACKS];
    assert_true(node && rest && g && H && x);
    print_message("%-28s %9s %9s %9s %9s %9s %9s   ns a pair, instruction set %d\n", "", "distance",
                  "far", "value", "gradient", "Hessian", "projected", (int)brio__isa());
    for (int variant = 0; variant < 4; variant++) {
        const BrioEnergy *kernel = brio__energy(variant < 3 ? barriers[variant] : "friction");
        BrioRandom random = {53};
        for (int64_t e = 0; e < elements; e++) {
            double X[12], own[16];
            if (e < LANES * 16)
                kernel->sample(&random, X, x + 12 * e);
            else
                memcpy(x + 12 * e, x + 12 * (e % (LANES * 16)), 12 * sizeof *x);
            if (e < LANES * 16) kernel->rest_shape(X, 1, NAN, own);
            for (int i = 0; i < 4; i++)
                node[(e / LANES * 4 + i) * LANES + e % LANES] = (int32_t)(12 * e + 3 * i);
            for (int k = 0; k < kernel->rest; k++)
                rest[(e / LANES * kernel->rest + k) * LANES + e % LANES] =
                    e < LANES * 16 ? own[k]
                                   : rest[(e / LANES % 16 * kernel->rest + k) * LANES + e % LANES];
        }
        double ns[6] = {0};
        for (int what = variant < 3 ? 0 : 2; what < 6; what++) {
            double near[3] = {1, 1, 0}, far[3] = {1, 1e-3, 0};
            BrioBatch batch = {.end = PACKS,
                               .node = node,
                               .rest = rest,
                               .params = what == 1 ? far : near,
                               .x = x,
                               .project = what == 5};
            batch.distance = what ? NULL : g;
            batch.energy = what <= 3 ? energy : NULL;
            batch.gradient = what == 1 || what == 3 ? g : NULL;
            double best = INFINITY;
            for (int again = 0; again < 50; again++) {
                double start = brio__seconds();
                if (what < 4)
                    kernel->eval(&batch);
                else /* as the assembly does: a few blocks at a time */
                    for (int b = 0; b < PACKS; b += 16) {
                        batch.begin = b, batch.end = b + 16, batch.hessian = H;
                        kernel->eval(&batch);
                    }
                best = fmin(best, brio__seconds() - start);
            }
            ns[what] = best * 1e9 / (double)elements;
        }
        print_message("%-28s %9.1f %9.1f %9.1f %9.1f %9.1f %9.1f\n", kernel->name, ns[0], ns[1],
                      ns[2], ns[3], ns[4], ns[5]);
    }
    brio__free(node);
    brio__free(rest);
    brio__free(g);
    brio__free(H);
    brio__free(x);
}

/* ---- short forms ------------------------------------------------------------------------ */

/* Eight random elements of an energy, each with nodes of its own. */
typedef struct Eight {
    _Alignas(64) int32_t node[4 * LANES];
    _Alignas(64) double rest[16 * LANES];
    double x[12 * LANES];
} Eight;

static void draw_eight(const BrioEnergy *energy, BrioRandom *random, Eight *to)
{
    for (int e = 0; e < LANES; e++) {
        double X[12], rest[16];
        energy->sample(random, X, to->x + 12 * e);
        energy->rest_shape(X, 0.5 + brio__random(random), NAN, rest);
        for (int k = 0; k < energy->rest; k++) to->rest[k * LANES + e] = rest[k];
        for (int i = 0; i < 4; i++) to->node[i * LANES + e] = 12 * e + 3 * i;
    }
}

/* Friction: w w^T (x) K and w (x) pull are the Hessian and the gradient. All of the bound along a
 * slide makes K isotropic in the tangent plane; a slide that grows has none of it. */
static void short_friction(void **state)
{
    (void)state;
    static const int place[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
    const BrioEnergy *energy = brio__energy("friction");
    _Alignas(64) double H[90 * LANES], core[6 * LANES], g[12 * LANES], pull[3 * LANES];
    BrioRandom random = {7};
    double eps = 1;
    for (int trial = 0; trial < 100; trial++) {
        Eight eight;
        draw_eight(energy, &random, &eight);
        BrioBatch batch = {.end = 1,
                           .node = eight.node,
                           .rest = eight.rest,
                           .params = &eps,
                           .x = eight.x,
                           .gradient = g,
                           .hessian = H,
                           .core = core,
                           .pull = pull};
        energy->eval(&batch);
        for (int e = 0; e < LANES; e++)
            for (int i = 0; i < 4; i++) {
                const double *w = eight.rest + LANES + e;
                for (int r = 0; r < 3; r++)
                    assert_true(g[(3 * i + r) * LANES + e] == w[i * LANES] * pull[r * LANES + e]);
                for (int k = 0; k < 9; k++) {
                    double block = w[i * LANES] * w[i * LANES] * core[place[k] * LANES + e];
                    double right = H[(brio__pair(i, i) * 9 + k) * LANES + e];
                    assert_true(fabs(block - right) <= 4 * DBL_EPSILON * fabs(right));
                }
            }
        /* from where nothing has slid it has grown; the same positions mirrored are a full turn */
        double exact[6 * LANES], mirrored[12 * LANES];
        memcpy(exact, core, sizeof exact);
        batch.last = eight.x;
        energy->eval(&batch);
        assert_memory_equal(exact, core, sizeof exact);
        for (int e = 0; e < LANES; e++) {
            const double *rest = eight.rest + e;
            double u[2];
            memcpy(mirrored + 12 * e, eight.x + 12 * e, 12 * sizeof *mirrored);
            for (int k = 0; k < 2; k++) {
                u[k] = -rest[(11 + k) * LANES];
                for (int i = 0; i < 12; i++)
                    u[k] += rest[(1 + i / 3) * LANES] * rest[(5 + 3 * k + i % 3) * LANES] *
                            eight.x[12 * e + i];
            }
            for (int r = 0; r < 3; r++) /* node 0 has the weight 1 */
                mirrored[12 * e + r] -=
                    2 * (u[0] * rest[(5 + r) * LANES] + u[1] * rest[(8 + r) * LANES]);
        }
        batch.last = mirrored;
        energy->eval(&batch);
        for (int e = 0; e < LANES; e++) {
            const double *K = core + e, *t = eight.rest + 5 * LANES + e;
            double along[2] = {0, 0}, trace = K[0] + K[3 * LANES] + K[5 * LANES];
            for (int k = 0; k < 2; k++)
                for (int r = 0; r < 9; r++)
                    along[k] += t[(3 * k + r / 3) * LANES] * t[(3 * k + r % 3) * LANES] *
                                K[place[r] * LANES];
            assert_true(fabs(along[0] - trace / 2) <= 1e-12 * trace);
            assert_true(fabs(along[1] - trace / 2) <= 1e-12 * trace);
        }
    }
}

/* Barriers: weights, direction and force make the gradient (of parallel edges up to the change of
 * the factor); the corners between which the nearest point lies are those with weights. */
static void short_pairs(void **state)
{
    (void)state;
    const double params[3] = {3, 1, 0};
    _Alignas(64) double touch[8 * LANES], g[12 * LANES], distance[LANES];
    int8_t nearest[LANES];
    BrioRandom random = {8};
    for (int trial = 0; trial < 300; trial++) {
        const BrioEnergy *energy = brio__energy(barriers[trial % 2]);
        Eight eight;
        draw_eight(energy, &random, &eight);
        BrioBatch batch = {.end = 1,
                           .node = eight.node,
                           .rest = eight.rest,
                           .params = params,
                           .x = eight.x,
                           .gradient = g};
        energy->eval(&batch);
        batch.gradient = NULL;
        batch.touch = touch;
        energy->eval(&batch);
        batch.touch = NULL;
        batch.distance = distance;
        batch.nearest = nearest;
        energy->eval(&batch);
        for (int e = 0; e < LANES; e++) {
            double force = touch[7 * LANES + e];
            assert_true(force >= 0 && (force > 0) == (distance[e] < 1));
            for (int k = 0; k < 12; k++) {
                double pull = -force * touch[k / 3 * LANES + e] * touch[(4 + k % 3) * LANES + e];
                assert_true(fabs(g[k * LANES + e] - pull) <= 1e-14 * force);
            }
            for (int k = 0; trial % 2 == 0 && force > 0 && k < 3; k++)
                assert_int_equal(nearest[e] >> k & 1, touch[(1 + k) * LANES + e] != 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closest_vertex_face),
        cmocka_unit_test(closest_edge_edge),
        cmocka_unit_test(derivatives),
        cmocka_unit_test(nearest_semidefinite),
        cmocka_unit_test(mixed_lanes),
        cmocka_unit_test(thickness),
        cmocka_unit_test(parallel),
        cmocka_unit_test(recorded_friction),
        cmocka_unit_test(short_friction),
        cmocka_unit_test(short_pairs),
        cmocka_unit_test(seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
