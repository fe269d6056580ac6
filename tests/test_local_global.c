/* Local/global solves: the iteration of [Bouaziz2014] done again with dense matrices and explicit
 * projections, its matrix as a bound of Hessians, convergence to what Newton finds, energies of
 * unfinished solves under A-search, contacts, refusals, fixed cost. */
#include "energy/energy.h"
#include "scene/scene.h"
#include "sim/sim.h"

#include <stdlib.h>
#include <string.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include "dense.h"
#include "memory.h"
#include "simulate.h"

/* ---- the iteration, done again ---------------------------------------------------------- */

enum { MAX = DENSE_MAX };

/* The rotation nearest to F by Higham's iteration. */
static void nearest_rotation(const double F[9], double R[9])
{
    memcpy(R, F, 9 * sizeof *R);
    for (int it = 0; it < 60; it++) {
        double C[9], det;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
                C[3 * i + j] = R[3 * i1 + j1] * R[3 * i2 + j2] - R[3 * i1 + j2] * R[3 * i2 + j1];
            }
        det = R[0] * C[0] + R[1] * C[1] + R[2] * C[2];
        for (int k = 0; k < 9; k++) R[k] = 0.5 * (R[k] + C[k] / det);
    }
}

/* What there is of one body: its free vertices, and elements (two or four nodes) with weight, G
 * (rows on nodes) and a projection. */
typedef struct Dense {
    BrioSim *sim;
    int vertices, n, at[MAX]; /* at: row of a vertex, -1: held */
    double x[3 * MAX];        /* of all vertices */
    double mass;
} Dense;

/* The term's elements: L onto A, and J p at the positions x onto b, both for free vertices; what
 * held ones contribute goes to b, too. */
static void add_elements(const Dense *d, const double *x, double *L, double *force)
{
    const BrioSystem *s = d->sim->system;
    const BrioTerm *term = &s->term[s->body[0].term];
    int nodes = term->energy->nodes;
    for (int64_t i = 0; i < term->elements; i++) {
        int64_t pack = i / LANES, lane_at = i % LANES;
        double rest[16], G[3][4] = {{0}}, p[3][3] = {{0}}, w;
        int v[4], rows = nodes == 2 ? 1 : 3;
        for (int k = 0; k < term->energy->rest; k++)
            rest[k] = term->rest[(pack * term->energy->rest + k) * LANES + lane_at];
        for (int k = 0; k < nodes; k++) v[k] = term->node[(pack * nodes + k) * LANES + lane_at] / 3;
        if (nodes == 2) { /* G x = x1 - x0, its projection has the rest length */
            double e[3], l = 0;
            w = rest[0] * d->sim->state->param[term->params];
            G[0][0] = -1, G[0][1] = 1;
            for (int r = 0; r < 3; r++) e[r] = x[3 * v[1] + r] - x[3 * v[0] + r], l += e[r] * e[r];
            for (int r = 0; r < 3; r++) p[0][r] = e[r] * rest[1] / sqrt(l);
        } else { /* G x = F^T, its projection is the nearest rotation */
            double F[9] = {0}, R[9];
            w = rest[0] * 2 * d->sim->state->param[term->params];
            for (int c = 0; c < 3; c++) {
                for (int k = 1; k < 4; k++) G[c][k] = rest[1 + 3 * (k - 1) + c];
                G[c][0] = -(G[c][1] + G[c][2] + G[c][3]);
                for (int r = 0; r < 3; r++)
                    for (int k = 0; k < 4; k++) F[3 * r + c] += G[c][k] * x[3 * v[k] + r];
            }
            nearest_rotation(F, R);
            for (int c = 0; c < 3; c++)
                for (int r = 0; r < 3; r++) p[c][r] = R[3 * r + c];
        }
        for (int a = 0; a < nodes; a++) {
            int row = d->at[v[a]];
            if (row < 0) continue;
            for (int c = 0; c < rows; c++) {
                for (int r = 0; r < 3; r++) force[3 * row + r] += w * G[c][a] * p[c][r];
                for (int b = 0; b < nodes; b++) {
                    int column = d->at[v[b]];
                    if (column >= 0)
                        L[row * d->n + column] += w * G[c][a] * G[c][b];
                    else
                        for (int r = 0; r < 3; r++)
                            force[3 * row + r] -= w * G[c][a] * G[c][b] * d->x[3 * v[b] + r];
                }
            }
        }
    }
}

/* Ten iterations of backward Euler (a = 1) or implicit midpoint (a = 1/2) in the paper's own form.
 * TOLERANCE 1e-10 m: the issue's; both are in double precision. */
static void as_dense(const char *what, const char *body, double a)
{
    double h = 1.0 / 30, g[3] = {0, -9.8, 0};
    Dense d = {.sim =
                   parse("time: {h: 1/30}\ngravity: [0, -9.8, 0]\nintegrator: %s\nsolver: {type: "
                         "local-global, iterations: 10, precision: double}\nbodies:\n  - %s",
                         a == 1 ? "backward-euler" : "implicit-midpoint", body)};
    const BrioSystem *s = d.sim->system;
    d.vertices = (int)s->body[0].count;
    assert_true(d.vertices <= MAX);
    for (int v = 0; v < d.vertices; v++) {
        bool fixed = s->map_start[v] == s->map_start[v + 1];
        d.at[v] = fixed ? -1 : s->map_block[s->map_start[v]];
        d.n += !fixed;
    }
    double worst = 0, way = 0;
    for (int step = 0; step < 5; step++) {
        static double L[MAX * MAX], A[MAX * MAX], x[3 * MAX], y[3 * MAX], b[3 * MAX], now[3 * MAX],
            q[3 * MAX];
        brio_sim_positions(d.sim, 0, d.x);
        memcpy(now, d.x, sizeof now);
        memcpy(q, d.sim->state->q, 3 * (size_t)d.n * sizeof *q); /* rows are coordinate blocks */
        for (int k = 0; k < 3 * d.n; k++) {
            /* a h^2 g: weight is a force at y, too */
            y[k] = q[k] + h * d.sim->state->v[k] + h * h * a * g[k % 3];
            x[k] = y[k];
        }
        for (int it = 0; it < 10; it++) {
            for (int v = 0; v < d.vertices; v++)
                for (int r = 0; r < 3 && d.at[v] >= 0; r++)
                    now[3 * v + r] = a * x[3 * d.at[v] + r] + (1 - a) * q[3 * d.at[v] + r];
            memset(L, 0, sizeof L);
            memset(b, 0, sizeof b);
            add_elements(&d, now, L, b); /* b = J p - what is held */
            for (int i = 0; i < d.n; i++)
                for (int j = 0; j < d.n; j++)
                    A[i * d.n + j] = h * h * a * a * L[i * d.n + j] + (i == j ? s->mass[i] : 0);
            for (int i = 0; i < d.n; i++)
                /* (M + h^2 a^2 L) x = M y + h^2 a (J p - (1 - a) L q_n) */
                for (int r = 0; r < 3; r++) {
                    double sum = b[3 * i + r];
                    for (int j = 0; j < d.n; j++) sum -= (1 - a) * L[i * d.n + j] * q[3 * j + r];
                    x[3 * i + r] = s->mass[i] * y[3 * i + r] + h * h * a * sum;
                }
            dense_solve(d.n, A, x);
        }
        assert_int_equal(brio_sim_step(d.sim, NULL), BRIO_OK);
        for (int k = 0; k < 3 * d.n; k++) {
            worst = brio__larger(worst, fabs(d.sim->state->q[k] - x[k]));
            way = brio__larger(way, fabs(x[k] - q[k]));
        }
    }
    print_message(
        "%s, a = %g: ten iterations agree with dense ones to %.1e m (steps of up to %.3f m)\n",
        what, a, worst, way);
    assert_true(worst < 1e-10 && way > 1e-3);
    brio_sim_free(d.sim);
}

#define NET                                                                                      \
    "{shape: {type: grid, width: 1, depth: 1, cells_x: 5, cells_z: 5}, material: {type: hooke, " \
    "k: 100, vertex_mass: 0.03}, fix: [{vertices: [0, 5]}]}\n"
#define JELLY                                                                                   \
    "{shape: {type: box, size: [0.6, 0.2, 0.2], cells: [3, 1, 1]}, material: {type: arap, E: "  \
    "2e4, rho: 1000}, fix: [{box: [[-1, -1, -1], [-0.29, 1, 1]]}], velocity: {angular: [0, 0, " \
    "3]}}\n"

static void dense_springs(void **unused)
{
    (void)unused, as_dense("springs", NET, 1), as_dense("springs", NET, 0.5);
}
static void dense_tets(void **unused)
{
    (void)unused, as_dense("arap", JELLY, 1), as_dense("arap", JELLY, 0.5);
}

/* ---- bounds and convergence ------------------------------------------------------------- */

/* The constant matrix of a projection is not less than its Hessian in any random direction at any
 * random state. Of corotated, with its volume term, it need not be. */
static void bounds(void **unused)
{
    (void)unused;
    for (int i = 0; brio__energy_at(i); i++) {
        const BrioEnergy *e = brio__energy_at(i);
        if (!(e->traits & BRIO_ENERGY_PROJECTION)) continue;
        BrioRandom random = {11};
        double largest = 0, values[BRIO_MAX_VALUES], params[BRIO_MAX_VALUES], live[1] = {1};
        brio_fields_defaults(e->fields, values);
        if (e->prepare)
            assert_int_equal(e->prepare(values, params, NULL), BRIO_OK);
        else
            memcpy(params, values, sizeof params);
        for (int k = 0; k < 2000; k++) {
            double X[12], x[12], rest[16], H[144], weight[10], d[12], above = 0, below = 0;
            e->sample(&random, X, x);
            e->rest_shape(X, 1, NAN, rest);
            brio__energy_one(e, params, rest, x, NULL, H, false);
            e->laplacian(rest, params, live, weight);
            for (int j = 0; j < 3 * e->nodes; j++) d[j] = brio__random_normal(&random);
            for (int a = 0; a < 3 * e->nodes; a++)
                for (int b = 0; b < 3 * e->nodes; b++) {
                    below += d[a] * H[a * 3 * e->nodes + b] * d[b];
                    if (a % 3 == b % 3)
                        above +=
                            d[a] *
                            weight[a >= b ? brio__pair(a / 3, b / 3) : brio__pair(b / 3, a / 3)] *
                            d[b];
                }
            largest = brio__larger(largest, below / above);
        }
        print_message("%s: Hessian over its bound at most %.4f\n", e->name, largest);
        assert_true(largest < 1 + 1e-9);
    }
}

/* Enough iterations lead to what Newton finds, for every material that local/global takes.
 * TOLERANCE 1e-5 of the step. */
static void converges(void **unused)
{
    (void)unused;
    static const char *const bodies[] = {
        "{shape: {type: box, size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}, material: {type: "
        "neo-hookean, E: 1e5, rho: 1000}, fix: [{box: [[-1, -1, -1], [-0.19, 1, 1]]}]}",
        "{shape: {type: box, size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}, material: {type: corotated, "
        "E: 1e5, rho: 1000}, fix: [{box: [[-1, -1, -1], [-0.19, 1, 1]]}]}",
        "{shape: {type: box, size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}, material: {type: "
        "stable-neo-hookean, E: 1e5, rho: 1000}, fix: [{box: [[-1, -1, -1], [-0.19, 1, 1]]}]}",
        "{shape: {type: box, size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}, material: {type: stvk, E: "
        "1e5, rho: 1000}, fix: [{box: [[-1, -1, -1], [-0.19, 1, 1]]}]}",
        "{shape: {type: box, size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}, material: {type: "
        "mooney-rivlin, rho: 1000}, fix: [{box: [[-1, -1, -1], [-0.19, 1, 1]]}]}",
        "{shape: {type: grid, width: 0.4, depth: 0.4, cells_x: 4, cells_z: 4}, kind: shell, "
        "material: {type: membrane-stvk, E: 1e5, thickness: 2e-3, rho: 500}, fix: [{vertices: [0, "
        "1, 2, 3, 4]}]}",
        "{shape: {type: grid, width: 0.4, depth: 0.4, cells_x: 4, cells_z: 4}, kind: shell, "
        "material: {type: baraff-witkin, k_stretch: 300, k_bend: 1e-3, areal: 1}, fix: [{vertices: "
        "[0, 1, 2, 3, 4]}]}",
    };
    for (size_t b = 0; b < BRIO_COUNT(bodies); b++) {
        double q[2][3 * 80], way = 0, off = 0;
        int64_t n = 0;
        for (int k = 0; k < 2; k++) {
            BrioSim *sim =
                parse("time: {h: 1/60}\ngravity: [0, -9.8, 0]\nintegrator: backward-euler\nsolver: "
                      "%s\nbodies:\n  - %s\n",
                      k ? "{type: local-global, iterations: 400}" : "{type: newton, tol: 1e-10}",
                      bodies[b]);
            n = sim->state->coordinates;
            assert_true(n <= 3 * 80);
            double *first = sim->state->q;
            memcpy(q[k], first, (size_t)n * sizeof(double));
            step(sim, 3);
            for (int64_t i = 0; i < n; i++) {
                way = brio__larger(way, fabs(sim->state->q[i] - q[k][i]));
                q[k][i] = sim->state->q[i];
            }
            brio_sim_free(sim);
        }
        for (int64_t i = 0; i < n; i++) off = brio__larger(off, fabs(q[1][i] - q[0][i]));
        print_message("%.30s...: 400 iterations are %.1e of the way off Newton's\n",
                      strstr(bodies[b], "material: ") + 16, off / way);
        assert_true(off < 1e-5 * way);
    }
}

/* ---- energies of unfinished solves ------------------------------------------------------ */

/* A stiff cloth on two pins at 30 frames per second: the mean over every second stays within 10 %
 * of the target and no frame is above 2.5 of it. With one iteration of backward Euler, as printed
 * in [Dinev2018], blend does not hold its target (docs/stabilised.md). */
static void energy(void **unused)
{
    (void)unused;
    static const struct {
        const char *integrator;
        int iterations;
        bool holds;
    } how[] = {{"a-search", 3, true},
               {"a-search", 10, true},
               {"blend", 10, true},
               {"{type: blend, be_iterations: 1}", 10, false}};
    for (size_t k = 0; k < BRIO_COUNT(how); k++) {
        BrioSim *sim = parse(
            "time: {h: 1/30}\ngravity: [0, -9.8, 0]\nintegrator: %s\nsolver: {type: "
            "local-global, iterations: %d}\nbodies:\n"
            "  - {shape: {type: grid, width: 1, depth: 1, cells_x: 19, cells_z: 19}, material: "
            "{type: hooke, k: 1000, vertex_mass: 0.0025}, fix: [{vertices: [0, 19]}]}\n",
            how[k].integrator, how[k].iterations);
        const double rest = -4.92228; /* J: settled */
        double min = INFINITY, max = -INFINITY, highest = 0;
        for (int second = 0; second < 20; second++) {
            double sum = 0;
            for (int f = 0; f < 30; f++) {
                step(sim, 1);
                BrioLedger l = ledger(sim);
                double fraction = (l.total - rest) / (l.target - rest);
                sum += fraction / 30;
                highest = brio__larger(highest, fraction);
            }
            min = fmin(min, sum), max = brio__larger(max, sum);
        }
        print_message("cloth, %s, %d iterations: mean energy over every second %.3f to %.3f of the "
                      "target, no frame above %.3f\n",
                      how[k].integrator, how[k].iterations, min, max, highest);
        assert_true(how[k].holds == (min > 0.9 && max < 1.1 && highest < 2.5));
        brio_sim_free(sim);
    }
}

/* Free bodies keep their momentum although velocities are scaled and the factor is in single
 * precision. They drift slowly and spin about themselves, so that the round-off of positions far
 * away is none of it. TOLERANCE 1e-12 of the momentum that halves of a cube have from its spin,
 * 60 kg m/s. */
static void momentum(void **unused)
{
    (void)unused;
    BrioSim *sim =
        parse("time: {h: 1/30}\ngravity: [0, 0, 0]\nintegrator: a-search\nsolver: {type: "
              "local-global, iterations: 3}\nbodies:\n"
              "  - {shape: {type: box, size: [0.3, 0.3, 0.3], cells: [3, 3, 3]}, material: {type: "
              "arap, E: 1e5, rho: 1000}, velocity: {linear: [0.1, 0.2, 0], angular: [3, 0, 8]}}\n"
              "  - {shape: {type: box, size: [0.3, 0.3, 0.3], cells: [2, 2, 2]}, material: {type: "
              "arap, E: 1e4, rho: 1000}, transform: {translate: [0, 3, 0]}, velocity: {linear: "
              "[-0.1, 0, 0.1], angular: [0, 9, 0]}}\n");
    BrioLedger first = ledger(sim), l;
    double worst = 0, min = INFINITY;
    for (int k = 0; k < 300; k++) {
        step(sim, 1);
        l = ledger(sim);
        for (int r = 0; r < 3; r++)
            worst = brio__larger(worst, fabs(l.momentum[r] - first.momentum[r]));
        min = fmin(min, l.total / first.total);
    }
    print_message("two spinning cubes: momentum off by %.1e of 60 kg m/s, energy not below %.3f of "
                  "the first in 10 s\n",
                  worst, min);
    assert_true(worst < 60e-12 && min > 0.8);
    brio_sim_free(sim);
}

/* Weight is made once and kept until it changes: a body that drifts falls by g h in the step after
 * gravity was switched on, and no faster after it was switched off. */
static void weight_changes(void **unused)
{
    (void)unused;
    static const char *const method[] = {"a-search", "blend", "backward-euler", "a-1"};
    for (size_t k = 0; k < BRIO_COUNT(method); k++) {
        BrioSim *sim =
            parse("time: {h: 1/30}\ngravity: [0, 0, 0]\nintegrator: %s\nsolver: {type: "
                  "local-global}\nbodies:\n"
                  "  - {shape: {type: box, size: [0.3, 0.3, 0.3], cells: [2, 2, 2]}, material: "
                  "{type: arap, E: 1e4, rho: 1000}, velocity: {angular: [0, 3, 0]}}\n",
                  method[k]);
        double mass = 27, falls = mass * -9.8 / 30, g[2][3] = {{0, -9.8, 0}, {0, 0, 0}};
        for (int turn = 0; turn < 4; turn++) {
            step(sim, 2);
            double before = ledger(sim).momentum[1];
            step(sim, 1);
            double change = ledger(sim).momentum[1] - before;
            assert_true(fabs(change - (turn % 2 ? falls : 0)) < 1e-9 * mass);
            assert_int_equal(brio_sim_set_gravity(sim, g[turn % 2], NULL), BRIO_OK);
        }
        brio_sim_free(sim);
    }
}

/* ---- contacts, cost, refusals ----------------------------------------------------------- */

/* A soft cube falls on a plane and a sphere: it does not sink in more than the springs yield, and
 * it comes off again. */
static void contacts(void **unused)
{
    (void)unused;
    BrioSim *sim =
        parse("time: {h: 0.01}\ngravity: [0, -9.8, 0]\nintegrator: a-search\nsolver: {type: "
              "local-global, iterations: 10}\ncontact: {type: penalty, kappa: 2000}\n"
              "obstacles: [{type: plane, normal: [0, 1, 0]}, {type: sphere, radius: 0.2, "
              "transform: {translate: [0.1, 0.1, 0]}}]\nbodies:\n"
              "  - {shape: {type: box, size: [0.3, 0.3, 0.3], cells: [3, 3, 3]}, material: {type: "
              "arap, E: 3e4, rho: 1000}, transform: {translate: [0, 0.7, 0]}}\n");
    double x[3 * 64], lowest = INFINITY, low_centre = INFINITY, after = 0;
    BrioLedger first = ledger(sim);
    for (int k = 0; k < 200; k++) {
        step(sim, 1);
        BrioLedger l = ledger(sim);
        brio_sim_positions(sim, 0, x);
        for (int v = 0; v < 64; v++) lowest = fmin(lowest, x[3 * v + 1]);
        if (l.centre[1] < low_centre)
            low_centre = l.centre[1], after = 0;
        else
            after = brio__larger(after, l.centre[1] - low_centre);
    }
    print_message("cube on plane and sphere: lowest vertex %.3f m, bounces up again by %.3f m of a "
                  "fall of %.3f m\n",
                  lowest, after, first.centre[1] - low_centre);
    assert_true(lowest > -0.1 && after > 0.1 * (first.centre[1] - low_centre));
    brio_sim_free(sim);
}

/* A block of 16 kg slides on a floor from 2 m/s, and stands on a slope of 20 degrees. The way that
 * it slides by backward Euler is as with Newton's method within 3 %, which is v^2/(2 mu g) but for
 * the v h/2 that the step costs: normal forces are those of the end of the step in either. What
 * friction takes is all that is lost but for what the method takes. What holds does not creep, not
 * even below epsv: TOLERANCE 1e-5 m/s, a hundredth of it. */
static void friction_on(const char *floor, bool meshed)
{
    static const char block[] =
        "contact: {type: penalty, kappa: 1e4, mu: %g}\nobstacles: [%s]\nbodies:\n"
        "  - {shape: {type: box, size: [0.4, 0.1, 0.4], cells: [4, 1, 4]}, material: {type: arap, "
        "E: 1e5, rho: 1000}, transform: {translate: [0, 0.0485, 0]}%s}\n";
    static const struct {
        const char *name;
        double tolerance;
    } solver[] = {{"newton", 0},
                  {"{type: local-global, iterations: 10}", 0.03},
                  {"{type: local-global, iterations: 5}", 0.03}};
    double way[3], newton = 0;
    for (size_t k = 0; k < BRIO_COUNT(solver); k++) {
        char text[1024];
        snprintf(text, sizeof text, block, 0.2, floor, ", velocity: {linear: [2, 0, 0]}");
        BrioSim *sim = parse(
            "time: {h: 1/30}\ngravity: [0, -9.8, 0]\nintegrator: backward-euler\nsolver: %s\n%s",
            solver[k].name, text);
        assert_true((sim->system->analytic_count == 0) == meshed);
        BrioLedger first = ledger(sim), slow, last;
        step(sim, 60);
        slow = ledger(sim);
        step(sim, 30);
        last = ledger(sim);
        way[k] = last.centre[0] - first.centre[0];
        if (k == 0) newton = last.friction;
        print_message("%s: slides %.3f m, friction takes %.2f J of %.2f, then creeps %.1e m/s\n",
                      solver[k].name, way[k], last.friction, first.kinetic,
                      last.centre[0] - slow.centre[0]);
        assert_true(fabs(way[k] / way[0] - 1) <= solver[k].tolerance &&
                    fabs(last.friction / newton - 1) <= solver[k].tolerance);
        assert_true(fabs(last.centre[0] - slow.centre[0]) < (k ? 1e-5 : 1e-3));
        brio_sim_free(sim);
        snprintf(text, sizeof text, block, 0.5, floor, "");
        sim = parse("time: {h: 1/30}\ngravity: [3.3518, -9.2090, 0]\nintegrator: "
                    "backward-euler\nsolver: %s\n%s",
                    solver[k].name, text);
        step(sim, 60);
        slow = ledger(sim);
        step(sim, 30);
        last = ledger(sim);
        print_message("%s: on a slope it creeps %.1e m/s\n", solver[k].name,
                      last.centre[0] - slow.centre[0]);
        assert_true(fabs(last.centre[0] - slow.centre[0]) < (k ? 1e-5 : 1e-3));
        brio_sim_free(sim);
    }
}

static void friction(void **unused)
{
    (void)unused;
    friction_on("{type: plane, normal: [0, 1, 0]}", false);
}

/* The same on the triangles of a mesh, which are searched for and not evaluated. */
static void friction_on_a_mesh(void **unused)
{
    (void)unused;
    friction_on("{type: box, formula: false, size: [9, 1, 2], cells: [3, 1, 1], transform: "
                "{translate: [1.5, -0.5, 0]}}",
                true);
}

/* The least distance of two vertices of the only body, but for those that are close at rest. */
static double min_distance(BrioSim *sim, const double *X, double close)
{
    static double x[3 * 1024];
    int64_t n = brio_body_vertices(sim->system, 0);
    double min = INFINITY;
    brio_sim_positions(sim, 0, x);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            double d[2] = {0, 0};
            for (int r = 0; r < 3; r++) {
                d[0] += (X[3 * i + r] - X[3 * j + r]) * (X[3 * i + r] - X[3 * j + r]);
                d[1] += (x[3 * i + r] - x[3 * j + r]) * (x[3 * i + r] - x[3 * j + r]);
            }
            if (sqrt(d[0]) >= close) min = fmin(min, sqrt(d[1]));
        }
    return min;
}

/* The halves of a cloth that is hung over a pole swing through each other, or do not; and two balls
 * that meet keep their momentum and what energy they have. */
static void self_contact(void **unused)
{
    (void)unused;
    static double X[3 * 1024];
    double min[2] = {INFINITY, INFINITY};
    for (int self = 0; self < 2; self++) {
        BrioSim *sim =
            parse("time: {h: 1/60}\ngravity: [0, -9.8, 0]\nintegrator: a-search\nsolver: {type: "
                  "local-global, iterations: 10}\n"
                  "contact: {type: penalty, kappa: 200, self: %s}\nobstacles: [{type: capsule, "
                  "radius: 0.03, height: 1, transform: {rotate: [[1, 0, 0], 90]}}]\nbodies:\n"
                  "  - {shape: {type: grid, width: 0.6, depth: 0.6, cells_x: 20, cells_z: 20}, "
                  "material: {type: hooke, k: 100, vertex_mass: 0.001},\n"
                  "     transform: {translate: [0, 0.05, 0]}}\n",
                  self ? "0.03" : "1e-9");
        brio_sim_positions(sim, 0, X);
        for (int k = 0; k < 120; k++) {
            step(sim, 1);
            min[self] = fmin(min[self], min_distance(sim, X, 0.03));
        }
        brio_sim_free(sim);
    }
    print_message(
        "a cloth over a pole: vertices come as near as %.4f m, with self: 0.03 as near as %.4f m\n",
        min[0], min[1]);
    assert_true(min[0] < 0.006 && min[1] > 0.012);
    for (int k = 0; k < 2; k++) {
        BrioSim *sim =
            parse("time: {h: 1/100}\ngravity: [0, 0, 0]\nintegrator: a-search\nsolver: "
                  "%s\ncontact: {type: penalty, kappa: 500, self: 0.1}\nbodies:\n"
                  "  - {shape: {type: ball, radius: 0.2, cells: 3}, material: {type: arap, E: 1e4, "
                  "rho: 500}, velocity: {linear: [1, 0, 0]}}\n"
                  "  - {shape: {type: ball, radius: 0.2, cells: 3}, material: {type: arap, E: 1e4, "
                  "rho: 500}, transform: {translate: [0.7, 0.05, 0]}}\n",
                  k ? "{type: local-global, iterations: 10}" : "{type: newton, tol: 1e-10}");
        BrioLedger first = ledger(sim), l = first;
        double off = 0, max = 0;
        bool met = false;
        for (int i = 0; i < 200; i++) {
            step(sim, 1);
            l = ledger(sim);
            met |= l.contacts > 0;
            for (int r = 0; r < 3; r++)
                off = brio__larger(off, fabs(l.momentum[r] - first.momentum[r]));
            max = brio__larger(max, l.total / first.total);
        }
        double v[3 * 1024], mean = 0;
        brio_sim_velocities(sim, 1, v);
        for (int64_t i = 0, n = brio_body_vertices(sim->system, 1); i < n; i++)
            mean += v[3 * i] / (double)n;
        print_message("%s: a ball hits another, which goes on with %.2f m/s; momentum off by %.1e "
                      "of %.1f kg m/s; energy %.3f of the first, %.3f at most\n",
                      k ? "local-global" : "newton", mean, off, first.momentum[0],
                      l.total / first.total, max);
        assert_true(met && mean > 0.6 && off < 1e-9 * first.momentum[0] && max < 1.03 &&
                    l.total > 0.9 * first.total);
        brio_sim_free(sim);
    }
}

/* After the first frame nothing is allocated, analysed or factored. Energies are evaluated where
 * iterations begin and after each; blend adds midpoint's end, the iteration of backward Euler, the
 * mixture, and as a rule no more. */
static void fixed_cost(void **unused)
{
    (void)unused;
    static const char *const method[] = {"a-search", "blend", "backward-euler", "bdf2"};
    static const double max[] = {11, 14, 11, 11};
    for (size_t k = 0; k < BRIO_COUNT(method); k++) {
        static Memory memory;
        memory_start(&memory, -1, false);
        BrioSim *sim = parse("time: {h: 1/30}\ngravity: [0, -9.8, 0]\nintegrator: %s\nsolver: "
                             "{type: local-global}\nbodies:\n  - " NET,
                             method[k]);
        step(sim, !strcmp(method[k], "bdf2") ? 2 : 1); /* its first step is another method's */
        const BrioSolveTotals *totals = &sim->stepper->solver->totals;
        int64_t calls = memory.calls;
        int64_t factors = totals->factorisations;
        int64_t evaluations = totals->evaluations;
        step(sim, 200);
        double frame = (double)(totals->evaluations - evaluations) / 200;
        print_message("%s: %.2f evaluations a frame\n", method[k], frame);
        assert_true(frame <= max[k]);
        assert_int_equal(memory.calls, calls);
        assert_int_equal(totals->factorisations, factors);
        brio_sim_free(sim);
        brio_set_allocator(NULL);
        assert_int_equal(memory.live, 0);
    }
}

/* Where round-off leaves a matrix that is not positive definite (here, a mass is negative), the
 * step says why it fails; the warning of its halves does, too. */
static void no_factor(void **unused)
{
    (void)unused;
    BrioSim *sim = parse("time: {h: 1/30}\nintegrator: backward-euler\nsolver: {type: "
                         "local-global, max_halvings: 0}\nbodies:\n  - " NET);
    sim->system->mass[3] = -1e9;
    assert_int_equal(brio_sim_step(sim, NULL), BRIO_NOT_POSITIVE_DEFINITE);
    assert_string_equal(sim->stepper->solver->message, "the matrix is not positive definite");
    brio_sim_free(sim);
}

static void refusals(void **unused)
{
    (void)unused;
    static const char *const cases[][2] = {
        {"contact: {type: ipc}\nobstacles: [{type: plane, point: [0, -2, 0], normal: [0, 1, "
         "0]}]\nintegrator: backward-euler\nbodies:\n  - " NET,
         "local-global does not support contact: ipc, because it ends a step before the solution; "
         "use contact: {type: penalty}, or solver: newton"},
        {"integrator: linearly-implicit-euler\nbodies:\n  - " NET,
         "linearly-implicit-euler is one linear solve with the Hessian at the start of the step, "
         "which local-global does not have"},
        {"integrator: backward-euler\nbodies: [{shape: {type: line, cells: 4}, kind: bar1d, "
         "material: {type: neo-hookean-1d, E: 100, rho: 10}}]\n",
         "local-global has no constant matrix for neo-hookean-1d; use solver: newton"},
    };
    for (size_t i = 0; i < BRIO_COUNT(cases); i++) {
        char text[1024];
        BrioSim *sim = NULL;
        BrioError error = {0};
        int length = snprintf(text, sizeof text, "solver: local-global\n%s", cases[i][0]);
        assert_int_not_equal(brio_sim_parse(text, (size_t)length, "test", &sim, &error), BRIO_OK);
        if (!strstr(error.message, cases[i][1]))
            fail_msg("\"%s\" is not in \"%s\"", cases[i][1], error.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_springs),  cmocka_unit_test(dense_tets),
        cmocka_unit_test(bounds),         cmocka_unit_test(converges),
        cmocka_unit_test(energy),         cmocka_unit_test(momentum),
        cmocka_unit_test(weight_changes), cmocka_unit_test(contacts),
        cmocka_unit_test(friction),       cmocka_unit_test(friction_on_a_mesh),
        cmocka_unit_test(self_contact),   cmocka_unit_test(fixed_cost),
        cmocka_unit_test(no_factor),      cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
