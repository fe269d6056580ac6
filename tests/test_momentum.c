/* Momenta of components under A-search (docs/results.md): kept where nothing touches them, by
 * bodies of every kind, loose and unfinished solves, in flight and with damping that has no torque;
 * the printed form does not. What it does to vibrations about a pose at rest: nothing. And the
 * energy-momentum method and the fast energy projection, which keep both too. */
#include "potential/rigid.h"
#include "sim/sim.h"

#include <stdlib.h>
#include <string.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include "simulate.h"

enum { VERTICES = 600 };

/* Stretches body 0 along x by a factor and spins it about a skew axis through the origin. */
static void begin(BrioSim *sim, double stretch, double spin)
{
    static const double axis[3] = {0.26726124191242440, 0.53452248382484879, 0.80178372573727319};
    double x[3 * VERTICES], v[3 * VERTICES];
    int64_t count = sim->system->body[0].count;
    assert_true(count <= VERTICES);
    brio_sim_positions(sim, 0, x);
    brio_sim_velocities(sim, 0, v);
    for (int64_t i = 0; i < count; i++) x[3 * i] *= stretch;
    for (int64_t i = 0; i < 3 * count; i++) {
        int64_t a = i - i % 3 + (i + 1) % 3, b = i - i % 3 + (i + 2) % 3;
        v[i] += spin * (axis[(i + 1) % 3] * x[b] - axis[(i + 2) % 3] * x[a]);
    }
    assert_int_equal(brio_sim_set_positions(sim, 0, x, NULL), BRIO_OK);
    assert_int_equal(brio_sim_set_velocities(sim, 0, v, NULL), BRIO_OK);
}

/* Angular momentum about the centre of mass. */
static void spin_of(const BrioLedger *l, double S[3])
{
    for (int r = 0; r < 3; r++) {
        int a = (r + 1) % 3, b = (r + 2) % 3;
        S[r] = l->angular[r] - (l->centre[a] * l->momentum[b] - l->centre[b] * l->momentum[a]);
    }
}

typedef struct Kept {
    double spin, linear; /* largest relative changes */
    double energy;       /* last total energy over the first */
    double target;       /* last distance from the target over the first energy */
} Kept;

static Kept follow(BrioSim *sim, int steps, const double g[3])
{
    Kept kept = {0};
    BrioLedger first = ledger(sim), now = first;
    double S0[3], S[3], size = 0, mass = 0;
    spin_of(&first, S0);
    for (int64_t v = 0; v < sim->system->vertex_count; v++) mass += sim->system->vertex_mass[v];
    for (int r = 0; r < 3; r++) size = brio__larger(size, fabs(S0[r]));
    for (int k = 0; k < steps; k++) {
        step(sim, 1);
        now = ledger(sim);
        spin_of(&now, S);
        for (int r = 0; r < 3; r++) {
            double fallen = first.momentum[r] + mass * g[r] * (now.time - first.time);
            kept.spin = brio__larger(kept.spin, fabs(S[r] - S0[r]) / size);
            kept.linear =
                brio__larger(kept.linear, fabs(now.momentum[r] - fallen) / (1 + fabs(fallen)));
        }
    }
    kept.energy = now.total / first.total;
    kept.target = fabs(now.total - now.target) / (first.kinetic + first.elastic);
    brio_sim_free(sim);
    return kept;
}

static const double none[3] = {0, 0, 0}, down[3] = {0, -9.8, 0};

static const struct {
    const char *name, *text;
    double stretch, spin;
} kinds[] = {
    {"solid",
     "solver: {tol: 1e-9}\nbodies:\n  - {shape: {type: box, size: [0.1, 0.1, 0.1], cells: "
     "[2, 2, 2]}, material: {type: corotated, E: 5e4, nu: 0.3, rho: 1000}}\n",
     1.2, 10},
    {"solid, loose solves",
     "solver: {tol: 0.01}\nbodies:\n  - {shape: {type: box, size: [0.1, 0.1, 0.1], cells: [2, 2, "
     "2]}, material: {type: neo-hookean, E: 1e6, nu: 0.3, rho: 1000}}\n",
     1.05, 15},
    {"affine",
     "bodies:\n  - {shape: {type: box, size: [0.3, 0.2, 0.05], cells: [2, 2, 1]}, kind: "
     "affine, material: {type: affine, E: 1e6, rho: 1000}}\n",
     1, 8},
    {"shell",
     "solver: {tol: 1e-6}\nbodies:\n  - {shape: {type: grid, cells_x: 5, cells_z: 5}, "
     "material: {type: membrane-stvk, E: 1e4, thickness: 0.05, areal: 50}}\n",
     1.1, 4},
    {"springs, local/global",
     "solver: {type: local-global, iterations: 5}\nbodies:\n  - {shape: {type: grid, cells_x: 5, "
     "cells_z: 5}, material: {type: hooke, k: 500, vertex_mass: 0.01}}\n",
     1.1, 4},
    {"solid, local/global",
     "solver: {type: local-global, iterations: 10}\nbodies:\n  - {shape: {type: box, size: [0.1, "
     "0.1, 0.1], cells: [2, 2, 2]}, material: {type: corotated, E: 5e4, nu: 0.3, rho: 1000}}\n",
     1.2, 10},
    {"solid, strain-energy damping",
     "damping: [{type: strain-energy, beta: 1e-3}]\nbodies:\n  - {shape: {type: box, size: [0.1, "
     "0.1, 0.1], cells: [2, 2, 2]}, material: {type: corotated, E: 5e4, nu: 0.3, rho: 1000}}\n",
     1.2, 10},
    {"points on rods",
     "solver: {tol: 1e-9}\nbodies:\n  - {shape: {type: line, length: 1, cells: 2}, kind: points, "
     "material: {type: mass, vertex_mass: 0.2}}\nconstraints:\n  - {type: rod, a: [body0, 0], b: "
     "[body0, 1]}\n  - {type: rod, a: [body0, 1], b: [body0, 2]}\n",
     1, 4},
};

/* TOLERANCE 1e-10 of the spin: sums of some hundred numbers over some hundred steps. */
static void kept(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < BRIO_COUNT(kinds); k++)
        for (int flies = 0; flies < 2; flies++) {
            BrioSim *sim = parse("time: {h: 1/30}\ngravity: [0, %g, 0]\nintegrator: {type: "
                                 "a-search, momentum: true}\n%s",
                                 flies ? -9.8 : 0, kinds[k].text);
            begin(sim, kinds[k].stretch, kinds[k].spin);
            Kept got = follow(sim, 90, flies ? down : none);
            print_message("%-30s %s: spin %.1e, momentum %.1e, energy %.1e off its target\n",
                          kinds[k].name, flies ? "in flight" : "weightless", got.spin, got.linear,
                          got.target);
            assert_true(got.spin < 1e-10 && got.linear < 1e-10);
        }
}

/* What the printed form does on the same bodies, so that the test above can fail. */
static void printed_form(void **unused)
{
    (void)unused;
    for (int momentum = 0; momentum < 2; momentum++) {
        BrioSim *sim = parse("time: {h: 1/30}\ngravity: [0, 0, 0]\nintegrator: {type: a-search, "
                             "momentum: %s}\n%s",
                             momentum ? "true" : "false", kinds[0].text);
        begin(sim, 1.2, 10);
        Kept got = follow(sim, 300, none);
        print_message("momentum: %s: spin changes by %.3g of itself, energy x %.4f\n",
                      momentum ? "true" : "false", got.spin, got.energy);
        assert_true(momentum ? got.spin < 1e-10 : got.spin > 0.3);
        assert_true(fabs(got.energy - 1) < 0.02);
    }
}

/* Momenta are of second order in small vibrations about a pose at rest, so that with alpha = 1 the
 * linear map of the step, and with it A-1's stability, is that of the printed form. TOLERANCE: ten
 * times the amplitude, relative. */
static void vibrations(void **unused)
{
    (void)unused;
    const double amplitude = 1e-6;
    double x[2][3 * 27], off = 0, size = 0;
    for (int momentum = 0; momentum < 2; momentum++) {
        BrioSim *sim = parse("time: {h: 1/10}\ngravity: [0, 0, 0]\nintegrator: {type: a-search, "
                             "alpha_min: 1, alpha_max: 1, momentum: %s}\nsolver: {tol: "
                             "1e-13}\nbodies:\n  - {shape: {type: box, size: [0.1, 0.1, 0.1], "
                             "cells: [2, 2, 2]}, material: {type: corotated, E: 5e4, rho: 1000}}\n",
                             momentum ? "true" : "false");
        begin(sim, 1 + amplitude, 0);
        step(sim, 60);
        brio_sim_positions(sim, 0, x[momentum]);
        if (momentum) {
            double rest[3 * 27];
            BrioSim *still = parse("bodies:\n  - {shape: {type: box, size: [0.1, 0.1, 0.1], cells: "
                                   "[2, 2, 2]}, material: {type: corotated, E: 5e4, rho: 1000}}\n");
            brio_sim_positions(still, 0, rest);
            brio_sim_free(still);
            for (int i = 0; i < 3 * 27; i++) {
                off = brio__larger(off, fabs(x[0][i] - x[1][i]));
                size = brio__larger(size, fabs(x[1][i] - rest[i]));
            }
        }
        brio_sim_free(sim);
    }
    print_message("A-1 after 60 steps of 1/10 s: vibrations of %.2e m differ by %.1e m\n", size,
                  off);
    assert_true(size > 1e-9 && size < 1e-6 && off < 10 * amplitude * size);
}

/* Two bodies that meet: what one gives the other takes. A-search books the same impulse in linear
 * and in angular momentum. */
static void collision(void **unused)
{
    (void)unused;
    BrioSim *sim = parse(
        "time: {h: 1/120}\ngravity: [0, 0, 0]\nintegrator: {type: a-search, momentum: "
        "true}\nsolver: {tol: 1e-8}\ncontact: {type: ipc, dhat: 1e-3, kappa: 1e5}\nbodies:\n"
        "  - {name: a, shape: {type: box, size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}, material: "
        "{type: neo-hookean, E: 1e5, rho: 1000}, velocity: {linear: [1, 0, 0]}}\n"
        "  - {name: b, shape: {type: box, size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}, material: "
        "{type: neo-hookean, E: 1e5, rho: 1000}, transform: {translate: [0.12, 0.06, 0.02]}}\n");
    BrioLedger first = ledger(sim), now;
    double drift = 0;
    bool met = false;
    for (int k = 0; k < 60; k++) {
        step(sim, 1);
        now = ledger(sim);
        met |= now.contacts > 0;
        for (int r = 0; r < 3; r++)
            drift = brio__larger(drift, fabs(now.momentum[r] - first.momentum[r]));
    }
    double turned = fabs(now.angular[2] - first.angular[2]) / (1e-3 + fabs(first.angular[2]));
    print_message("collision: momentum drifts by %.1e of %.2g kg m/s, angular momentum of the pair "
                  "by %.2g, energy x %.4f\n",
                  drift, first.momentum[0], turned, now.total / first.total);
    /* 0.19 without */
    assert_true(met && drift < 1e-9 && turned < 0.1 && fabs(now.total / first.total - 1) < 0.05);
    brio_sim_free(sim);
}

/* Two hands that pull with a couple: no force in all, and a torque, which must turn the body. The
 * torque's impulse is known while it has hardly turned: k d times the arm, over time. */
static void couple(void **unused)
{
    (void)unused;
    BrioSim *sim = parse("time: {h: 1/1000}\ngravity: [0, 0, 0]\nintegrator: {type: a-search, "
                         "momentum: true}\nsolver: {tol: 1e-10}\nbodies:\n  - {shape: {type: box, "
                         "size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}, kind: affine, material: {type: "
                         "affine, E: 1e7, rho: 1000}}\n");
    double x[3 * 8];
    brio_sim_positions(sim, 0, x);
    for (int v = 0; v < 8; v += 7) { /* opposite corners */
        int hand;
        double point[3] = {x[3 * v], x[3 * v + 1] + (v ? 0.1 : -0.1), x[3 * v + 2]};
        assert_int_equal(brio_sim_grab_vertex(sim, 0, v, 10, &hand, NULL), BRIO_OK);
        assert_int_equal(brio_sim_drag(sim, hand, point, NULL), BRIO_OK);
    }
    step(sim, 20);
    BrioLedger now = ledger(sim);
    double expected = 2 * 10 * 0.1 * 0.05 * 0.02; /* N m s about z, and likewise about x */
    print_message("a couple: angular momentum %.3e and %.3e kg m2/s, %.3e by hand; momentum %.1e\n",
                  now.angular[0], now.angular[2], expected, fabs(now.momentum[1]));
    assert_true(fabs(fabs(now.angular[2]) / expected - 1) < 0.05 &&
                fabs(fabs(now.angular[0]) / expected - 1) < 0.05 && fabs(now.momentum[1]) < 1e-12);
    brio_sim_free(sim);
}

/* The rivals keep energy and momenta too. TOLERANCE of the energy 1e-6: Newton ends at 1e-11 m/s,
 * and FEPR at 1e-10 of the kinetic energy. */
static void rivals(void **unused)
{
    (void)unused;
    static const char *const name[] = {"energy-momentum", "fepr",
                                       "{type: fepr, base: implicit-midpoint}"};
    for (size_t k = 0; k < BRIO_COUNT(name); k++) {
        BrioSim *sim = parse(
            "time: {h: 1/120}\ngravity: [0, 0, 0]\nintegrator: %s\nsolver: {tol: 1e-11}\nbodies:\n"
            "  - {shape: {type: box, size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}, material: {type: "
            "stvk, E: 5e4, nu: 0.3, rho: 1000}}\n",
            name[k]);
        begin(sim, 1.1, 6);
        Kept got = follow(sim, 100, none);
        print_message("%-40s spin %.1e, momentum %.1e, energy x %.10f\n", name[k], got.spin,
                      got.linear, got.energy);
        assert_true(got.spin < 1e-8 && got.linear < 1e-10 && fabs(got.energy - 1) < 1e-6);
    }
}

/* ---- steps that turn ---------------------------------------------------------------------- */

/* The largest change of a distance between two of the vertices [begin, end), or from one of them to
 * a point that stays, by a way. */
static double stretched(const double *q, const double *way, int64_t begin, int64_t end,
                        const double *stays)
{
    double most = 0;
    for (int64_t i = begin; i < end; i += 3)
        for (int64_t k = begin; k <= i; k += 3) {
            bool alone = k == i;
            double before = 0, after = 0;
            for (int c = 0; c < 3 && (!alone || stays); c++) {
                double d = q[i + c] - (alone ? stays[c] : q[k + c]);
                double turned = d + way[i + c] - (alone ? 0 : way[k + c]);
                before += d * d;
                after += turned * turned;
            }
            most = brio__larger(most, fabs(sqrt(after) - sqrt(before)));
        }
    return most;
}

/* A step that turns a body is bent into a rotation: no distance changes, and the bent step begins
 * along the straight one. That of a body that is fixed at a point turns about this point. */
static void bent_steps(void **unused)
{
    (void)unused;
    static const double w[3] = {0.3, -0.7, 0.5}, u[3] = {0.1, 0.2, -0.4};
    BrioSim *sim =
        parse("bodies:\n  - {shape: {type: box, size: [1, 0.5, 0.7], cells: [2, 1, 2]}, "
              "material: {type: neo-hookean}}\n  - {shape: {type: box, cells: [1, 1, 1]}, "
              "material: {type: "
              "neo-hookean}, transform: {translate: [3, 0, 0]}, fix: [{vertices: [0]}]}\n");
    BrioComponents *components;
    BrioRigid *rigid;
    assert_int_equal(brio__components_create(sim->system, &components), BRIO_OK);
    assert_int_equal(brio__rigid_create(components, &rigid), BRIO_OK);
    int64_t free = 3 * sim->system->body[0].count, all = sim->state->coordinates;
    const double *q = sim->state->q;
    double step[3 * VERTICES], way[3 * VERTICES], small[3 * VERTICES];
    assert_true(free < all && all <= 3 * VERTICES);
    double stays[3];
    memcpy(stays, sim->state->anchor, sizeof stays);
    for (int64_t i = 0; i < all; i++) {
        int64_t a = i - i % 3 + (i + 1) % 3, b = i - i % 3 + (i + 2) % 3;
        bool fixed = i >= free;
        double y = q[a] - (fixed ? stays[(i + 1) % 3] : 0);
        double z = q[b] - (fixed ? stays[(i + 2) % 3] : 0);
        step[i] = (fixed ? 0 : u[i % 3]) + w[(i + 1) % 3] * z - w[(i + 2) % 3] * y;
    }
    brio__rigid_bend(rigid, q, step, 1, way);
    brio__rigid_bend(rigid, q, step, 1e-5, small);
    double off = 0, moved = 0, stretch = stretched(q, way, 0, free, NULL);
    double about = stretched(q, way, free, all, stays);
    for (int64_t i = 0; i < all; i++) off = brio__larger(off, fabs(small[i] - 1e-5 * step[i]));
    for (int64_t i = free; i < all; i++) moved = brio__larger(moved, fabs(way[i]));
    print_message("stretched by %.1e m, about a fixed point by %.1e m of %.2f; off the tangent by "
                  "%.1e m at 1e-5 of the step\n",
                  stretch, about, moved, off);
    assert_true(stretch < 1e-14 && off > 0 && off < 1e-10);
    assert_true(about < 1e-14 && moved > 0.5);
    brio__rigid_free(rigid);
    brio__components_free(components);
    brio_sim_free(sim);
}

/* In free flight the start of a step is its end, which no factor is needed to see; a body that
 * vibrates needs them. */
static void flight_without_factors(void **unused)
{
    (void)unused;
    for (int vibrates = 0; vibrates < 2; vibrates++) {
        BrioSim *sim = parse("gravity: [0, -9.8, 0]\nsolver: {tol: 0.01}\nbodies:\n"
                             "  - {shape: {type: box, size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}, "
                             "material: {type: neo-hookean, E: 1e5, nu: 0.3, rho: 1000}}\n");
        begin(sim, vibrates ? 1.1 : 1, 0);
        BrioLedger first = ledger(sim);
        for (int k = 0; k < 10; k++) assert_int_equal(brio_sim_step(sim, NULL), BRIO_OK);
        BrioLedger last = ledger(sim);
        int64_t factors = sim->stepper->solver->totals.factorisations;
        print_message("%d factorisations in ten steps\n", (int)factors);
        assert_true(first.centre[1] - last.centre[1] > 0.1);
        assert_int_equal(factors > 0, vibrates);
        brio_sim_free(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bent_steps), cmocka_unit_test(flight_without_factors),
        cmocka_unit_test(kept),       cmocka_unit_test(printed_form),
        cmocka_unit_test(vibrations), cmocka_unit_test(collision),
        cmocka_unit_test(couple),     cmocka_unit_test(rivals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
