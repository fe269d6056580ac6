/* Variational integrators of every quadrature: order, momenta, stability; rods: lengths, momenta,
 * order, what is rejected. */
#include "sim/sim.h"

#include <stdlib.h>
#include <string.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include "memory.h"
#include "simulate.h"

typedef struct Variant {
    const char *integrator;
    int order;
    double limit; /* of (h w)^2 on the oscillator; INFINITY: none */
} Variant;

static const Variant variants[] = {
    {"{type: variational, alpha: 0}", 1, 4},          {"{type: variational, alpha: 0.25}", 1, 16},
    {"{type: variational, alpha: 0.5}", 2, INFINITY}, {"{type: variational, alpha: 0.7}", 1, 25},
    {"{type: variational, alpha: 1}", 1, 4},          {"{type: variational, points: 2}", 2, 4},
    {"{type: variational, points: 3}", 4, 8},
};

/* ---- quadratures ------------------------------------------------------------------------ */

static int end_of(const char *integrator, int steps, double T, double *x)
{
    BrioSim *sim = parse("time: {h: %.17g}\nintegrator: %s\nsolver: {tol: 1e-13}\nbodies:\n  - "
                         "shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}\n"
                         "    material: {type: stable-neo-hookean, E: 2e3}\n    transform: {scale: "
                         "[1, 1, 1]}\n    velocity: {linear: [1, 0, 0], angular: [0, 2, 9]}\n"
                         "    attach: [{vertices: [0], k: 20}]\n",
                         T / steps, integrator);
    step(sim, steps);
    int n = (int)brio_body_vertices(brio_sim_system(sim), 0);
    brio_sim_positions(sim, 0, x);
    brio_sim_free(sim);
    return 3 * n;
}

/* TOLERANCE 0.2, as for all integrators. */
static void orders(void **unused)
{
    (void)unused;
    double reference[192], x[192], T = 0.064;
    end_of("rk4", 4096, T, reference);
    for (size_t i = 0; i < BRIO_COUNT(variants); i++) {
        double error[2] = {0, 0};
        for (int k = 0; k < 2; k++) {
            int n = end_of(variants[i].integrator, 64 << k, T, x);
            for (int j = 0; j < n; j++)
                error[k] = brio__larger(error[k], fabs(x[j] - reference[j]));
        }
        double order = log2(error[0] / error[1]);
        print_message("%-34s order %.3f (%d), error %.2e m\n", variants[i].integrator, order,
                      variants[i].order, error[1]);
        assert_true(fabs(order - variants[i].order) < 0.2);
    }
}

/* Free, vibrating, turning, drifting; without damping and with the strain energy's, which takes
 * energy and no momentum. TOLERANCE 1e-11 relative: round-off of 200 steps, solved to 1e-13 m/s. */
static void momenta(void **unused)
{
    (void)unused;
    for (int damped = 0; damped < 2; damped++)
        for (size_t i = 0; i < BRIO_COUNT(variants); i++) {
            BrioSim *sim =
                parse("time: {h: 5e-4}\ngravity: [0, 0, 0]\nintegrator: %s\nsolver: {tol: "
                      "1e-13}\ndamping: [%s]\nbodies:\n  - shape: {type: box, size: [0.1, 0.1, "
                      "0.1], cells: [2, 2, 2]}\n"
                      "    material: {type: stable-neo-hookean, E: 1e4}\n    velocity: {linear: "
                      "[0.7, 0, 0.2], angular: [4, 30, -7]}\n",
                      variants[i].integrator, damped ? "{type: strain-energy, beta: 1e-3}" : "");
            BrioLedger first = ledger(sim), last;
            step(sim, 200);
            last = ledger(sim);
            double linear = 0, angular = 0, p = 0, l = 0;
            for (int r = 0; r < 3; r++) {
                linear = brio__larger(linear, fabs(last.momentum[r] - first.momentum[r]));
                angular = brio__larger(angular, fabs(last.angular[r] - first.angular[r]));
                p = brio__larger(p, fabs(first.momentum[r]));
                l = brio__larger(l, fabs(first.angular[r]));
            }
            print_message("%-34s %-8s momentum %.1e, angular momentum %.1e (relative); energy x "
                          "%.4f, dissipated %.3g J, remainder %.2e J\n",
                          variants[i].integrator, damped ? "damped" : "", linear / p, angular / l,
                          last.total / first.total, last.dissipated, last.remainder);
            assert_true(linear <= 1e-11 * p && angular <= 1e-11 * l);
            if (damped) assert_true(last.dissipated > 0.01 * first.total);
            /* TOLERANCE 2 %: what the scheme itself does to the energy of a vibration that it
             * resolves */
            assert_true(fabs(last.remainder) < 0.02 * first.total);
            brio_sim_free(sim);
        }
}

static double largest(const char *integrator, double square)
{
    BrioSim *sim = parse("time: {h: %.17g}\ngravity: [0, 0, 0]\nintegrator: %s\nbodies:\n  - "
                         "shape: {type: line, length: 1, cells: 1}\n"
                         "    material: {type: hooke, k: 1, vertex_mass: 1}\n    fix: [{vertices: "
                         "[0]}]\n    velocity: {linear: [1e-6, 0, 0]}\n",
                         sqrt(square), integrator);
    double max = 0, x[6];
    for (int i = 0; i < 600; i++) {
        step(sim, 1);
        brio_sim_positions(sim, 0, x);
        max = brio__larger(max, fabs(x[3] - 1));
    }
    brio_sim_free(sim);
    return max;
}

/* One mass on a spring, k = m = 1: bounded just below (h w)^2 = 4/(1 - 2 alpha)^2, growing just
 * above. With three points the limit is where 1 - 11 z/24 + z^2/48 = -(1 + z/24), at z = 8. */
static void stability(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < BRIO_COUNT(variants); i++) {
        double limit = variants[i].limit;
        double below = largest(variants[i].integrator, isinf(limit) ? 1e4 : 0.99 * limit);
        double above = isinf(limit) ? NAN : largest(variants[i].integrator, 1.01 * limit);
        print_message("%-34s limit %g: largest amplitude %.2e m below, %.2e m above\n",
                      variants[i].integrator, limit, below, above);
        assert_true(below < 1e-3);
        assert_true(isinf(limit) || above > 1);
    }
}

/* solver: root solves the same equations. */
static void root_and_minimum(void **unused)
{
    (void)unused;
    double x[2][192];
    for (int k = 0; k < 2; k++) {
        BrioSim *sim = parse(
            "time: {h: 0.01}\nintegrator: variational\nsolver: {type: %s, tol: 1e-11}\nbodies:\n  "
            "- shape: {type: box, size: [0.4, 0.1, 0.1], cells: [6, 1, 1]}\n"
            "    material: {type: neo-hookean, E: 1e5}\n    fix: [{box: [[-0.3, -1, -1], [-0.19, "
            "1, 1]]}]\n",
            k ? "root" : "newton");
        step(sim, 40);
        assert_true(3 * brio_body_vertices(brio_sim_system(sim), 0) <= 192);
        brio_sim_positions(sim, 0, x[k]);
        brio_sim_free(sim);
    }
    double apart = 0, moved = 0;
    for (int j = 0; j < 84; j++) {
        apart = brio__larger(apart, fabs(x[0][j] - x[1][j]));
        moved = brio__larger(moved, fabs(x[0][j]));
    }
    print_message("minimum and root after 40 steps: %.2e m apart\n", apart);
    assert_true(moved > 0.01 && apart < 1e-9);
}

/* ---- rods ------------------------------------------------------------------------------- */

static const char *const takers[] = {"{type: variational, alpha: 0}",
                                     "{type: variational, alpha: 0.3}",
                                     "{type: variational, alpha: 0.5}",
                                     "{type: variational, alpha: 1}",
                                     "{type: variational, points: 2}",
                                     "backward-euler",
                                     "bdf2"};

static BrioSim *chain(const char *integrator, double h, int links, const char *more)
{
    static char rods[4096];
    size_t used = 0;
    for (int i = 0; i < links; i++)
        used += (size_t)snprintf(rods + used, sizeof rods - used,
                                 "  - {type: rod, a: [chain, %d], b: {body: chain, vertex: %d}}\n",
                                 i, i + 1);
    return parse("time: {h: %.17g}\nintegrator: %s\nsolver: {tol: 1e-11}\nbodies:\n  - name: "
                 "chain\n    shape: {type: line, length: 1, cells: %d}\n    kind: points\n"
                 "    material: {type: mass, vertex_mass: 0.5}\n%s\nconstraints:\n%s",
                 h, integrator, links, more, rods);
}

static void pendulum_angle(
    double T, double *x,
    double *y) /* theta'' = -g sin theta from the horizontal, by the classical Runge-Kutta method */
{
    enum { STEPS = 20000 };
    double a = 0, w = 0, h = T / STEPS; /* angle below the horizontal: a'' = g cos a */
    for (int i = 0; i < STEPS; i++) {
        double k1 = w;
        double l1 = 9.8 * cos(a);
        double k2 = w + h / 2 * l1;
        double l2 = 9.8 * cos(a + h / 2 * k1);
        double k3 = w + h / 2 * l2;
        double l3 = 9.8 * cos(a + h / 2 * k2);
        double k4 = w + h * l3, l4 = 9.8 * cos(a + h * k3);
        a += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
        w += h / 6 * (l1 + 2 * l2 + 2 * l3 + l4);
    }
    *x = cos(a);
    *y = -sin(a);
}

/* A pendulum of one rod against its equation for the angle: order, length. TOLERANCE of the length
 * 1e-12 relative. */
static void pendulum(void **unused)
{
    (void)unused;
    static const int order[] = {1, 1, 2, 1, 2, 1, 2};
    double T = 1, exact[2];
    pendulum_angle(T, &exact[0], &exact[1]);
    for (size_t i = 0; i < BRIO_COUNT(takers); i++) {
        double error[2], rods = 0;
        for (int k = 0; k < 2; k++) {
            int steps = 400 << k;
            BrioSim *sim = chain(takers[i], T / steps, 1, "    fix: [{vertices: [0]}]");
            double x[6];
            for (int n = 0; n < steps; n++) {
                step(sim, 1);
                rods = brio__larger(rods, ledger(sim).rods);
            }
            brio_sim_positions(sim, 0, x);
            error[k] = hypot(x[3] - exact[0], x[4] - exact[1]);
            brio_sim_free(sim);
        }
        print_message("%-34s order %.3f (%d), error %.2e m, length %.1e\n", takers[i],
                      log2(error[0] / error[1]), order[i], error[1], rods);
        assert_true(fabs(log2(error[0] / error[1]) - order[i]) < 0.2);
        assert_true(rods < 1e-12);
    }
}

/* A free chain that whirls and drifts: rods change no momentum; for the symplectic ones the energy
 * does not wander off. TOLERANCES: momenta 1e-11 (round-off of 1000 steps), energy 2 %. */
static void free_chain(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < BRIO_COUNT(takers); i++) {
        bool variational = i < 5;
        BrioSim *sim = chain(takers[i], 2e-3, 5, "");
        /* across the rods */
        const double velocity[18] = {0, 1, 3, 0, 3, 2, 0, -2, 3, 0, 1, 0, 0, -4, 3, 0, 6, 1};
        assert_int_equal(brio_sim_set_velocities(sim, 0, velocity, NULL), BRIO_OK);
        const double none[3] = {0, 0, 0};
        assert_int_equal(brio_sim_set_gravity(sim, none, NULL), BRIO_OK);
        BrioLedger first = ledger(sim), last = first;
        double rods = 0, low = INFINITY, high = 0;
        for (int n = 0; n < 1000; n++) {
            step(sim, 1);
            last = ledger(sim);
            rods = brio__larger(rods, last.rods);
            low = fmin(low, last.kinetic);
            high = brio__larger(high, last.kinetic);
        }
        double linear = 0, angular = 0, p = 0, l = 0;
        for (int r = 0; r < 3; r++) {
            linear = brio__larger(linear, fabs(last.momentum[r] - first.momentum[r]));
            angular = brio__larger(angular, fabs(last.angular[r] - first.angular[r]));
            p = brio__larger(p, fabs(first.momentum[r]));
            l = brio__larger(l, fabs(first.angular[r]));
        }
        print_message("%-34s momentum %.1e, angular momentum %.1e (relative), length %.1e, energy "
                      "%.6f to %.6f of %.6f J\n",
                      takers[i], linear / p, angular / l, rods, low, high, first.kinetic);
        assert_true(rods < 1e-12 && linear < 1e-11 * p);
        if (variational)
            assert_true(angular < 1e-11 * l && low > 0.98 * first.kinetic &&
                        high < 1.02 * first.kinetic);
        brio_sim_free(sim);
    }
}

/* A hanging chain of ten under large steps: backward Euler comes to rest, hanging down, with the
 * curvature of rods in tension. */
static void hanging_chain(void **unused)
{
    (void)unused;
    BrioSim *sim = chain("backward-euler", 1.0 / 30, 10, "    fix: [{vertices: [0]}]");
    double x[33], iterations = 0;
    for (int n = 0; n < 1500; n++) {
        step(sim, 1);
        iterations += ledger(sim).iterations;
    }
    brio_sim_positions(sim, 0, x);
    print_message("ten links under backward Euler: %.2f iterations per step, end at [%.2e, %.9f], "
                  "length %.1e\n",
                  iterations / 1500, x[30], x[31], ledger(sim).rods);
    assert_true(fabs(x[31] + 1) < 1e-6 && iterations < 1500 * 8 && ledger(sim).rods < 1e-12);
    brio_sim_free(sim);
}

/* Rods between elastic bodies, with every linear solver, the same bits for one and two threads, no
 * allocation after the first step. */
static void bodies(void **unused)
{
    (void)unused;
    static const char *const linear[] = {"cholesky", "ldlt", "pcg", "multilevel"};
    double x[2][81], total[BRIO_COUNT(linear)];
    Memory memory;
    memory_start(&memory, -1, false);
    for (int solver = 0; solver < (int)BRIO_COUNT(linear); solver++)
        for (int threads = 1; threads <= 2; threads++) {
            brio_set_threads(threads);
            BrioSim *sim = parse(
                "time: {h: 0.005}\nintegrator: variational\nsolver: {linear: %s, linear_tol: "
                "1e-10}\nbodies:\n"
                "  - {name: top, shape: {type: box, size: [0.2, 0.2, 0.2], cells: [2, 2, 2]}, "
                "material: {type: neo-hookean, E: 2e5}, fix: [{vertices: [0, 1, 2]}]}\n"
                "  - {name: low, shape: {type: box, size: [0.2, 0.2, 0.2], cells: [2, 2, 2]}, "
                "material: {type: stable-neo-hookean, E: 1e5}, transform: {translate: [0.5, 0, "
                "0]}}\n"
                "constraints:\n  - {type: rod, a: {body: top, vertex: 26}, b: {body: low, vertex: "
                "0}}\n  - {type: rod, a: {body: top, vertex: 25}, b: {body: low, vertex: 0}}\n"
                "  - {type: rod, a: [low, 3], b: [top, 8], length: %.17g}\n",
                linear[solver], sqrt(0.1));
            double rods = 0;
            step(sim, 2);
            int64_t before = memory.calls;
            for (int n = 0; n < 60; n++) {
                step(sim, 1);
                rods = brio__larger(rods, ledger(sim).rods);
            }
            assert_int_equal(memory.calls, before);
            brio_sim_positions(sim, 1, x[threads - 1]);
            total[solver] = ledger(sim).total;
            print_message("%s, %d threads: length %.1e, energy %.9f J\n", linear[solver], threads,
                          rods, total[solver]);
            assert_true(rods < 1e-12);
            brio_sim_free(sim);
            if (threads == 2) assert_memory_equal(x[0], x[1], sizeof x[0]);
        }
    brio_set_allocator(NULL);
    brio_set_threads(0);
    /* TOLERANCE: Newton's 1e-8 m/s over 62 steps */
    for (size_t solver = 1; solver < BRIO_COUNT(linear); solver++)
        assert_true(fabs(total[solver] - total[0]) < 1e-6);
}

/* Every allocation of a scene with rods and its first step fails once: an error, no crash, nothing
 * left behind. */
static void failing_memory(void **unused)
{
    (void)unused;
    static const char text[] =
        "integrator: variational\nbodies:\n  - {name: p, shape: {type: line, cells: 2}, material: "
        "{type: mass, vertex_mass: 1}, fix: [{vertices: [0]}]}\n"
        "constraints:\n  - {type: rod, a: [p, 0], b: [p, 1]}\n  - {type: rod, a: [p, 1], b: [p, "
        "2]}\n";
    assert_true(fail_each_allocation(text) > 50);
}

/* What cannot be done is said, not done badly. */
static void refusals(void **unused)
{
    (void)unused;
    BrioSim *sim =
        parse("integrator: {type: variational, points: 2}\nsolver: {max_halvings: 0}\nbodies:\n  - "
              "{name: p, shape: {type: line, cells: 2}, material: {type: mass, vertex_mass: 1}}\n"
              "constraints:\n  - {type: rod, a: [p, 0], b: [p, 1]}\n  - {type: rod, a: [p, 1], b: "
              "[p, 2]}\n  - {type: rod, a: [p, 0], b: [p, 2]}\n");
    assert_true(brio_sim_step(sim, NULL) > 0);
    print_message("three rods along one line: %s\n", brio_sim_reason(sim));
    assert_non_null(strstr(brio_sim_reason(sim), "redundant"));
    assert_int_equal(brio_sim_settle(sim, NULL), BRIO_ERROR_UNSUPPORTED);
    assert_non_null(strstr(brio_sim_reason(sim), "rods"));
    brio_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders),         cmocka_unit_test(momenta),
        cmocka_unit_test(stability),      cmocka_unit_test(root_and_minimum),
        cmocka_unit_test(pendulum),       cmocka_unit_test(free_chain),
        cmocka_unit_test(hanging_chain),  cmocka_unit_test(bodies),
        cmocka_unit_test(failing_memory), cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
