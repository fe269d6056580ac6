/* Affine bodies: their moments, what the mass points make of energies and momenta, torque-free
 * rotation, falling, contact with a plane, holding and setting them, and what is rejected. */
#include "build/affine.h"
#include "mesh/mesh.h"
#include "sim/sim.h"
#include "system/skin.h"

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

static BrioMesh *shape(const char *name, const char *const *keys, const double *values)
{
    double all[BRIO_MAX_VALUES];
    BrioMesh *mesh;
    BrioError error = {0};
    brio_fields_defaults(brio_shape_fields(name), all);
    for (int i = 0; keys[i]; i++)
        assert_int_equal(brio_fields_set(brio_shape_fields(name), all, keys[i], values + i, NULL),
                         BRIO_OK);
    if (brio_mesh_shape(name, all, &mesh, &error) != BRIO_OK) fail_msg("%s", error.message);
    return mesh;
}

static BrioAffine moments_of(BrioMesh *mesh)
{
    BrioAffine body = {0};
    BrioError error = {0};
    BrioStatus status =
        mesh->tet_count ? brio_mesh_surface(mesh, NULL) : brio__mesh_close(mesh, &error);
    if (status != BRIO_OK || brio__affine_body(mesh, &body, &error) != BRIO_OK)
        fail_msg("%s", error.message);
    return body;
}

/* ---- moments ---------------------------------------------------------------------------- */

/* The mass points have the volume's moments, and the weights reproduce every vertex. TOLERANCE
 * 1e-13 relative: round-off. */
static void check_points(const BrioMesh *mesh, const BrioAffine *body)
{
    double size = body->moment[0] + body->moment[4] + body->moment[8], off = 0, miss = 0;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            double sum = 0;
            for (int k = 0; k < 4; k++)
                sum += body->volume / 4 * (body->point[3 * k + r] - body->centre[r]) *
                       (body->point[3 * k + c] - body->centre[c]);
            off = brio__larger(off, fabs(sum - body->moment[3 * r + c]) / size);
        }
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        double w[4];
        brio__affine_weights(body, mesh->x + 3 * v, w);
        for (int r = 0; r < 3; r++) {
            double x = 0;
            for (int k = 0; k < 4; k++) x += w[k] * body->point[3 * k + r];
            miss = brio__larger(miss, fabs(x - mesh->x[3 * v + r]));
        }
        assert_true(fabs(w[0] + w[1] + w[2] + w[3] - 1) < 1e-13);
    }
    assert_true(off < 1e-13 && miss < 1e-13);
}

static void box_moments(void **unused)
{
    (void)unused;
    const double size[3] = {0.3, 0.2, 0.05}, V = 0.3 * 0.2 * 0.05;
    BrioMesh *mesh = shape("box", (const char *const[]){"size", NULL}, size);
    double turn = 0.7, shift[3] = {40, -3, 7}, off = 0; /* turned about z, far from the origin */
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        double *x = mesh->x + 3 * v, old[3] = {x[0], x[1], x[2]};
        x[0] = cos(turn) * old[0] - sin(turn) * old[1] + shift[0];
        x[1] = sin(turn) * old[0] + cos(turn) * old[1] + shift[1];
        x[2] = old[2] + shift[2];
    }
    BrioAffine body = moments_of(mesh);
    double xx = V * size[0] * size[0] / 12;
    double yy = V * size[1] * size[1] / 12;
    double c = cos(turn);
    double s = sin(turn);
    double expected[9] = {c * c * xx + s * s * yy,
                          c * s * (xx - yy),
                          0,
                          c * s * (xx - yy),
                          s * s * xx + c * c * yy,
                          0,
                          0,
                          0,
                          V * size[2] * size[2] / 12};
    for (int k = 0; k < 9; k++) off = brio__larger(off, fabs(body.moment[k] - expected[k]) / xx);
    print_message("box: volume off by %.1e, centre %.1e m, second moments %.1e\n",
                  fabs(body.volume / V - 1), fabs(body.centre[0] - 40), off);
    /* TOLERANCE: coordinates 40 m from the origin have 1e-14 m */
    assert_true(fabs(body.volume / V - 1) < 1e-12 && off < 1e-12);
    for (int r = 0; r < 3; r++) assert_true(fabs(body.centre[r] - shift[r]) < 1e-13 * 40);
    check_points(mesh, &body);
    brio_mesh_free(mesh);
}

/* An inscribed polyhedron: errors of second order, and what Richardson's extrapolation leaves. */
static void ball_moments(void **unused)
{
    (void)unused;
    const double r = 0.05, V = 4 * M_PI / 3 * r * r * r, moment = V * r * r / 5;
    static const char *const names[] = {"sphere", "ball"};
    for (int solid = 0; solid < 2; solid++) {
        double error[2][2];
        for (int i = 0; i < 2; i++) {
            BrioMesh *mesh =
                shape(names[solid],
                      (const char *const[]){"radius", solid ? "cells" : "subdivisions", NULL},
                      (const double[]){r, solid ? 8 << i : 3 + i});
            BrioAffine body = moments_of(mesh);
            check_points(mesh, &body);
            error[i][0] = body.volume / V - 1;
            error[i][1] = body.moment[0] / moment - 1;
            /* as round as the icosahedron */
            for (int k = 0; k < 9; k++)
                assert_true(fabs(body.moment[k] - (k % 4 ? 0 : body.moment[0])) < 1e-12 * moment);
            brio_mesh_free(mesh);
        }
        print_message("%s: volume off by %.4f and %.4f (ratio %.2f), second moments %.4f and %.4f "
                      "(ratio %.2f)\n",
                      names[solid], error[0][0], error[1][0], error[0][0] / error[1][0],
                      error[0][1], error[1][1], error[0][1] / error[1][1]);
        for (int k = 0; k < 2; k++) {
            assert_true(fabs(error[0][k] / error[1][k] - 4) < 0.1);
            assert_true(fabs((4 * error[1][k] - error[0][k]) / 3) < 2e-4);
        }
    }
}

/* A torus about y: V = 2 pi^2 R r^2, second moments V (R^2 + 3 r^2/4)/2 across the axis and V r^2/4
 * along it. */
static void torus_moments(void **unused)
{
    (void)unused;
    const double R = 0.3;
    const double r = 0.1;
    const double V = 2 * M_PI * M_PI * R * r * r;
    const double across = V * (R * R + 0.75 * r * r) / 2;
    const double along = V * r * r / 4;
    double error[2][3];
    for (int i = 0; i < 2; i++) {
        BrioMesh *mesh = shape("torus-surface",
                               (const char *const[]){"major", "minor", "segments", "rings", NULL},
                               (const double[]){R, r, 48 << i, 4 << i});
        BrioAffine body = moments_of(mesh);
        check_points(mesh, &body);
        error[i][0] = body.volume / V - 1;
        error[i][1] = body.moment[0] / across - 1;
        error[i][2] = body.moment[4] / along - 1;
        assert_true(fabs(body.moment[8] - body.moment[0]) < 1e-12 * across &&
                    fabs(body.moment[1]) + fabs(body.moment[2]) + fabs(body.moment[5]) <
                        1e-12 * across);
        brio_mesh_free(mesh);
    }
    for (int k = 0; k < 3; k++) {
        print_message("torus: %s off by %.5f and %.5f (ratio %.2f)\n",
                      k == 0   ? "volume"
                      : k == 1 ? "moment across"
                               : "moment along",
                      error[0][k], error[1][k], error[0][k] / error[1][k]);
        assert_true(fabs(error[0][k] / error[1][k] - 4) < 0.1 &&
                    fabs((4 * error[1][k] - error[0][k]) / 3) < 2e-4);
    }
}

/* ---- energies and momenta --------------------------------------------------------------- */

/* A box that turns about a point far off: kinetic energy, momenta and weight are those of the solid
 * box. */
static void box_ledger(void **unused)
{
    (void)unused;
    BrioSim *sim = parse(
        "gravity: [0.5, -9.8, 0]\nbodies:\n  - shape: {type: box, size: [0.3, 0.2, 0.05], cells: "
        "[3, 2, 1]}\n    kind: affine\n    material: {type: corotated, E: 1e7, rho: 800}\n"
        "    transform: {translate: [2, 3, -1]}\n    velocity: {linear: [0.1, 0.2, 0.3], angular: "
        "[0.7, -2, 3], about: [1, 2, 0]}\n");
    const double m = 800 * 0.003;
    const double I[3] = {m / 12 * (0.04 + 0.0025), m / 12 * (0.09 + 0.0025),
                         m / 12 * (0.09 + 0.04)};
    const double w[3] = {0.7, -2, 3};
    const double c[3] = {2, 3, -1};
    double d[3] = {1, 1, -1}, v[3], kinetic = 0;
    BrioLedger l = ledger(sim);
    for (int r = 0; r < 3; r++) {
        int p = (r + 1) % 3, q = (r + 2) % 3;
        v[r] = 0.1 * (r + 1) + w[p] * d[q] - w[q] * d[p];
        kinetic += 0.5 * m * v[r] * v[r] + 0.5 * I[r] * w[r] * w[r];
    }
    print_message("kinetic energy %.15g J, by hand %.15g J\n", l.kinetic, kinetic);
    assert_true(fabs(l.kinetic - kinetic) < 1e-12 * kinetic);
    assert_true(fabs(l.gravity - m * (9.8 * 3 - 0.5 * 2)) < 1e-11);
    assert_true(fabs(l.elastic) < 1e-6); /* TOLERANCE: round-off of 1e7 Pa in 0.003 m3 */
    for (int r = 0; r < 3; r++) {
        int p = (r + 1) % 3, q = (r + 2) % 3;
        assert_true(fabs(l.momentum[r] - m * v[r]) < 1e-12 * m * 10);
        assert_true(fabs(l.angular[r] - (I[r] * w[r] + m * (c[p] * v[q] - c[q] * v[p]))) <
                    1e-12 * m * 30);
        assert_true(fabs(l.centre[r] - c[r]) < 1e-13 * 10);
    }
    brio_sim_free(sim);
}

/* Free fall is that of a solid of the same shape, for every integrator that takes both. TOLERANCE
 * 1e-9 m: Newton's tolerance times the time. */
static void falls_like_others(void **unused)
{
    (void)unused;
    int count = 0;
    double worst = 0;
    for (int i = 0; brio_integrator_at(i); i++) {
        const BrioIntegrator *integrator = brio_integrator_at(i);
        double height[2];
        if ((integrator->traits & BRIO_SPRINGS_ONLY) || integrator->order == 0 ||
            !strcmp(integrator->name, "static"))
            continue;
        for (int affine = 0; affine < 2; affine++) {
            BrioSim *sim = parse(
                "time: {h: 1e-3}\nintegrator: %s\nsolver: {tol: 1e-10}\nbodies:\n  - shape: {type: "
                "box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}\n"
                "    material: {type: corotated, E: 1e4}\n    velocity: {linear: [0, 1, 0]}\n%s",
                integrator->name, affine ? "    kind: affine\n" : "");
            step(sim, 50);
            height[affine] = ledger(sim).centre[1];
            brio_sim_free(sim);
        }
        worst = brio__larger(worst, fabs(height[1] - height[0]));
        if (!(fabs(height[1] - height[0]) < 1e-9))
            fail_msg("%s: affine at %.15g, solid at %.15g m", integrator->name, height[1],
                     height[0]);
        count++;
    }
    print_message("free fall under %d integrators: affine and solid at most %.1e m apart\n", count,
                  worst);
    assert_true(count > 20);
}

/* ---- torque-free rotation --------------------------------------------------------------- */

/* A = sum_k y_k grad w_k^T, from a body's vertices: here that of a box whose vertices 0, 1, n, ...
 * span its edges. */
static void matrix_of(BrioSim *sim, double A[9])
{
    const BrioSystem *s = sim->system;
    const BrioTerm *term = &s->term[s->body[0].term];
    double x[4][3];
    brio__system_positions(s, sim->state, sim->state->q, sim->state->time, sim->world);
    for (int k = 0; k < 4; k++)
        memcpy(x[k], sim->world + 3 * (s->body[0].mass_point + k), sizeof x[k]);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            A[3 * r + c] = 0;
            /* D_s D_m^-1 */
            for (int k = 0; k < 3; k++)
                A[3 * r + c] += (x[k + 1][r] - x[0][r]) * term->rest[(1 + 3 * k + c) * LANES];
        }
}

static double skew_of(const double A[9])
{
    double max = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum = i == j ? -1 : 0;
            for (int k = 0; k < 3; k++) sum += A[3 * k + i] * A[3 * k + j];
            max = brio__larger(max, fabs(sum));
        }
    return max;
}

/* Complete elliptic integral of the first kind by the arithmetic-geometric mean, m = k^2. */
static double elliptic(double m)
{
    double a = 1, b = sqrt(1 - m);
    for (int i = 0; i < 40; i++) {
        double mean = (a + b) / 2;
        b = sqrt(a * b);
        a = mean;
    }
    return M_PI / (2 * a);
}

typedef struct Spin {
    double flips[8]; /* when the middle axis's share of L changes sign */
    int count;
    /* worst energy off; |L| lost, the mean of the second half; worst |L - L_0| (all shares); worst
     * |A^T A - I| */
    double energy, angular, turned, skew;
} Spin;

static const double spin_rate[3] = {0.3, 6, 0};

static Spin spin(const char *integrator, double h, double end)
{
    Spin spin = {0};
    BrioSim *sim = parse(
        "time: {h: %.17g}\ngravity: [0, 0, 0]\nintegrator: %s\nsolver: {tol: 1e-8}\nbodies:\n  - "
        "shape: {type: box, size: [0.3, 0.2, 0.05], cells: [3, 2, 1]}\n    kind: affine\n"
        "    material: {type: affine, E: 1e8, rho: 1000}\n    velocity: {angular: [%g, %g, %g]}\n",
        h, integrator, spin_rate[0], spin_rate[1], spin_rate[2]);
    BrioLedger first = ledger(sim), l = first;
    double before = 1, L0 = hypot(hypot(first.angular[0], first.angular[1]), first.angular[2]);
    int late = 0;
    while (brio_sim_time(sim) < end) {
        step(sim, 1);
        double A[9], along = 0;
        l = ledger(sim);
        matrix_of(sim, A);
        for (int r = 0; r < 3; r++) along += A[3 * r + 1] * l.angular[r];
        if (along * before < 0 && spin.count < 8)
            spin.flips[spin.count++] = l.time - h * along / (along - before);
        before = along;
        spin.skew = brio__larger(spin.skew, skew_of(A));
        double size = hypot(hypot(l.angular[0], l.angular[1]), l.angular[2]);
        double d[3] = {l.angular[0] - first.angular[0], l.angular[1] - first.angular[1],
                       l.angular[2] - first.angular[2]};
        if (l.time > end / 2) {
            spin.angular += 1 - size / L0;
            late++;
        }
        spin.turned = brio__larger(spin.turned, hypot(hypot(d[0], d[1]), d[2]) / L0);
        spin.energy = brio__larger(spin.energy, fabs(l.total / first.total - 1));
    }
    spin.angular /= late;
    brio_sim_free(sim);
    return spin;
}

/* Euler's equations by elliptic functions [Landau1976, 37]. Inertia is least about x, middle about
 * y and L^2 < 2 E I_y here. */
static double flip_time(void)
{
    const double m = 3;
    const double I1 = m / 12 * (0.04 + 0.0025);
    const double I2 = m / 12 * (0.09 + 0.0025);
    const double I3 = m / 12 * 0.13;
    const double *w = spin_rate, energy2 = I1 * w[0] * w[0] + I2 * w[1] * w[1] + I3 * w[2] * w[2];
    double L2 = I1 * I1 * w[0] * w[0] + I2 * I2 * w[1] * w[1] + I3 * I3 * w[2] * w[2];
    assert_true(L2 < energy2 * I2);
    double fast = (I1 - I2) * (L2 - energy2 * I3), slow = (I2 - I3) * (energy2 * I1 - L2);
    return 2 * elliptic(slow / fast) * sqrt(I1 * I2 * I3 / fast);
}

static void intermediate_axis(void **unused)
{
    (void)unused;
    double expected = flip_time();
    static const struct {
        const char *integrator;
        double h;
    } runs[] = {{"a-search", 1.0 / 480}, {"bdf2", 1.0 / 480}, {"implicit-midpoint", 1.0 / 480}};
    Spin spins[3];
    for (int i = 0; i < 3; i++) {
        Spin *s = &spins[i];
        *s = spin(runs[i].integrator, runs[i].h, 6);
        print_message(
            "%-18s energy off by %.2e, |L| lost %.2e, L off by at most %.2e, |A^T A - 1| %.1e; %d "
            "flips, at %.3f and then every %.3f s; Euler's equations: %.3f and %.3f s\n",
            runs[i].integrator, s->energy, s->angular, s->turned, s->skew, s->count, s->flips[0],
            s->count > 1 ? (s->flips[s->count - 1] - s->flips[0]) / (s->count - 1) : NAN,
            expected / 2, expected);
    }
    const Spin *search = &spins[0], *bdf2 = &spins[1];
    /* loses less angular momentum */
    assert_true(search->energy < 0.01 && search->angular < bdf2->angular);
    for (int i = 0; i < 3; i++) {
        assert_true(spins[i].skew < 1e-3);
        assert_true(spins[i].count == 2 && fabs(spins[i].flips[0] / (expected / 2) - 1) < 0.01 &&
                    fabs((spins[i].flips[1] - spins[i].flips[0]) / expected - 1) < 0.01);
    }
    assert_true(spins[2].turned < 1e-9); /* quadratic invariants: to Newton's tolerance */
}

/* About a principal axis nothing happens but rotation, and no method loses more than on a circle.
 * Backward Euler turns by 2 sin t' = sin(t + t'), so that E = E0/(1 + 2 h w^2 time) to first order
 * in h; the others lose nothing that grows. */
static void plain_rotation(void **unused)
{
    (void)unused;
    static const char *const names[] = {"backward-euler", "trapezoidal", "implicit-midpoint",
                                        "a-search"};
    const double h = 1.0 / 240;
    const double w = 3;
    const double time = 2;
    const double expected[] = {1 / (1 + 2 * h * w * w * time) - 1, 0, 0, 0};
    for (int i = 0; i < 4; i++) {
        BrioSim *sim = parse(
            "time: {h: %.17g}\ngravity: [0, 0, 0]\nintegrator: %s\nsolver: {tol: 1e-9}\nbodies:\n  "
            "- shape: {type: box, size: [0.3, 0.2, 0.05], cells: [1, 1, 1]}\n"
            "    material: {type: affine, E: 1e8}\n    velocity: {angular: [0, 0, %g]}\n",
            h, names[i], w);
        BrioLedger first = ledger(sim);
        step(sim, (int)(time / h));
        double change = ledger(sim).total / first.total - 1;
        print_message("%-18s energy changes by %+.2e in %.1f turns; on a circle by %+.2e\n",
                      names[i], change, w * time / (2 * M_PI), expected[i]);
        assert_true(fabs(change - expected[i]) < 1e-3);
        brio_sim_free(sim);
    }
}

/* ---- contact with a plane --------------------------------------------------------------- */

static BrioSim *ball(const char *integrator, int subdivisions, double height, const char *more)
{
    return parse("time: {h: 1/120}\nintegrator: %s\nsolver: {tol: 1e-3}\nbodies:\n  - shape: "
                 "{type: sphere, radius: 0.05, subdivisions: %d}\n    kind: affine\n"
                 "    material: {type: affine, E: 1e7, rho: 1000}\n    transform: {translate: [0, "
                 "%g, 0]}\n%s"
                 "contact: {type: ipc, dhat: 1e-3, kappa: 1e5}\nobstacles: [{type: plane, normal: "
                 "[0, 1, 0]}]\n",
                 integrator, subdivisions, height, more);
}

/* Dropped from 1 m with a speed along the floor and a spin: a-search brings it back up, and without
 * friction it keeps its speed. */
static void bouncing(void **unused)
{
    (void)unused;
    double top[2][3] = {{0}};
    static const char *const names[] = {"a-search", "bdf2"};
    for (int i = 0; i < 2; i++) {
        BrioSim *sim = ball(names[i], 3, 1.05, "    velocity: {linear: [0.5, 0, 0.2]}\n");
        BrioLedger first = ledger(sim), l = first;
        int bounces = 0;
        double speed = 0, min = 1, max = 0;
        for (int k = 0; k < 360; k++) {
            step(sim, 1);
            l = ledger(sim);
            if (speed < 0 && l.momentum[1] > 0) bounces++;
            if (l.momentum[1] > 0 && bounces > 0 && bounces <= 3)
                top[i][bounces - 1] = brio__larger(top[i][bounces - 1], l.centre[1] - 0.05);
            speed = l.momentum[1];
            min = fmin(min, l.min_distance);
            max = brio__larger(max, l.total - first.total);
            /* TOLERANCE: unfinished solves, 1e-3 m/s x 0.5 kg in contact */
            assert_true(fabs(l.momentum[0] - first.momentum[0]) < 1e-6 &&
                        fabs(l.momentum[2] - first.momentum[2]) < 1e-6);
        }
        print_message("%-10s tops %.3f %.3f %.3f m of 1; nearest to the floor %.2e m; energy at "
                      "most %+.1e J of %.3f above the start\n",
                      names[i], top[i][0], top[i][1], top[i][2], min, max, first.total);
        assert_true(min > 0);
        /* alone it touches nothing: one search finds that out */
        assert_int_equal(sim->stepper->solver->totals.searches, 1);
        brio_sim_free(sim);
    }
    assert_true(top[0][0] > 0.85 && top[0][1] > 0.7 && top[0][1] > top[1][1]);
}

static uint64_t hash_of(const BrioState *state)
{
    uint64_t h = 14695981039346656037u;
    for (int64_t k = 0; k < state->coordinates; k++)
        for (int side = 0; side < 2; side++) {
            uint64_t bits;
            memcpy(&bits, (side ? state->v : state->q) + k, sizeof bits);
            h = (h ^ bits) * 1099511628211u;
        }
    return h;
}

/* 2562 vertices, several chunks of kernels, in contact from the second step on. */
static void same_bits(void **unused)
{
    (void)unused;
    uint64_t hash[2];
    for (int threads = 1; threads <= 2; threads++) {
        brio_set_threads(threads);
        BrioSim *sim =
            ball("a-search", 4, 0.06,
                 "    velocity: {linear: [0.1, -2, 0], angular: [1, 2, 3], about: [0, 0.06, 0]}\n");
        step(sim, 12);
        hash[threads - 1] = hash_of(sim->state);
        brio_sim_free(sim);
    }
    brio_set_threads(0);
    assert_true(hash[0] == hash[1]);
}

static void no_allocation(void **unused)
{
    (void)unused;
    Memory memory;
    memory_start(&memory, -1, false);
    BrioSim *sim =
        ball("a-search", 2, 0.06,
             "    velocity: {linear: [0.1, -2, 0]}\ndamping: [{type: rayleigh, beta: 1e-5}, {type: "
             "strain-energy, beta: 1e-5}, momentum-preserving, ether-drag]\n");
    step(sim, 1);
    int64_t before = memory.calls;
    step(sim, 30);
    assert_true(ledger(sim).dissipated > 0);
    assert_int_equal(memory.calls, before);
    brio_sim_free(sim);
    brio_set_allocator(NULL);
}

/* ---- held, set, refused ----------------------------------------------------------------- */

/* A body held as a whole follows its script with the momentum of the solid; a free one next to it
 * hangs on it. */
static void scripted(void **unused)
{
    (void)unused;
    BrioSim *sim =
        parse("time: {h: 0.01}\nbodies:\n  - name: arm\n    shape: {type: box, size: [0.4, 0.2, "
              "0.1], cells: [2, 1, 1]}\n    kind: affine\n    material: {type: affine, rho: 500}\n"
              "    transform: {translate: [1, 0, 0]}\n    fix: [{box: [[0, -1, -1], [2, 1, 1]], "
              "script: {angular: [0, 0, 2]}}]\n"
              "  - name: ball\n    shape: {type: sphere, subdivisions: 2, radius: 0.1}\n    "
              "material: affine\n    attach: [{vertices: [3], k: 1000}]\n");
    BrioBody *arm = &sim->system->body[0];
    step(sim, 25);
    const double m = 500 * 0.008, I = m / 12 * (0.16 + 0.04), angle = 0.5;
    double x[54], momentum[3] = {0}, L = 0;
    assert_int_equal(arm->count, 12);
    brio_sim_positions(sim, 0, x);
    for (int v = 0; v < 12; v++)
        assert_true(
            fabs(hypot(hypot(x[3 * v] - cos(angle), x[3 * v + 1] - sin(angle)), x[3 * v + 2]) -
                 sqrt(hypot(0.2, 0) * 0.2 * (v % 3 != 1) + 0.01 + 0.0025)) < 1e-12);
    brio__system_positions(sim->system, sim->state, sim->state->q, sim->state->time, sim->world);
    double *world = malloc(3 * (size_t)sim->system->vertex_count * sizeof *world);
    brio__system_velocities(sim->system, sim->state, sim->state->v, sim->state->time, world);
    for (int k = 0; k < 4; k++) {
        const double *p = sim->world + 3 * (arm->mass_point + k);
        const double *u = world + 3 * (arm->mass_point + k);
        for (int r = 0; r < 3; r++) momentum[r] += m / 4 * u[r];
        L += m / 4 * (p[0] * u[1] - p[1] * u[0]);
    }
    assert_true(fabs(momentum[0] + m * 2 * sin(angle)) < 1e-12 &&
                fabs(momentum[1] - m * 2 * cos(angle)) < 1e-12 && fabs(L - 2 * (m + I)) < 1e-12);
    assert_int_equal(brio_system_coordinates(sim->system), 12);
    free(world);
    brio_sim_free(sim);
}

/* What is not affine is replaced by what is nearest: a mirror image of noise cancels, and affine
 * motions come back as they are. */
static void nearest_affine(void **unused)
{
    (void)unused;
    BrioSim *sim = parse("bodies:\n  - shape: {type: box, size: [1, 1, 1], cells: [1, 1, 1]}\n    "
                         "material: affine\n    transform: {translate: [3, 0, 0]}\n");
    double x[24], y[24], v[24];
    brio_sim_positions(sim, 0, x);
    /* shear and shift, and a pattern that no affine motion has: the product of all three
     * coordinates */
    for (int i = 0; i < 8; i++) {
        double *p = x + 3 * i;
        double pattern = (p[0] > 3 ? 1 : -1) * (p[1] > 0 ? 1 : -1) * (p[2] > 0 ? 1 : -1);
        v[3 * i] = p[1] + 0.3 * pattern;
        v[3 * i + 1] = 2;
        v[3 * i + 2] = -p[0];
        y[3 * i] = p[0] + 0.1 * p[2];
        y[3 * i + 1] = p[1] + 0.2 * pattern;
        y[3 * i + 2] = p[2];
    }
    assert_int_equal(brio_sim_set_positions(sim, 0, y, NULL), BRIO_OK);
    assert_int_equal(brio_sim_set_velocities(sim, 0, v, NULL), BRIO_OK);
    double at[24], w[24];
    brio_sim_positions(sim, 0, at);
    brio_sim_velocities(sim, 0, w);
    for (int i = 0; i < 8; i++) {
        const double *p = x + 3 * i;
        double expected[6] = {p[0] + 0.1 * p[2], p[1], p[2], p[1], 2, -p[0]};
        for (int r = 0; r < 3; r++)
            assert_true(fabs(at[3 * i + r] - expected[r]) < 1e-12 &&
                        fabs(w[3 * i + r] - expected[3 + r]) < 1e-12);
    }
    assert_true(ledger(sim).elastic > 1); /* the shear is stored */
    brio_sim_free(sim);
}

/* A surface that looks inward is turned around; an open one and one of two minds are rejected, with
 * the edge. */
static void surfaces(void **unused)
{
    (void)unused;
    BrioMesh *mesh = shape("sphere", (const char *const[]){"radius", "subdivisions", NULL},
                           (const double[]){1, 1});
    BrioAffine outward = moments_of(mesh);
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        int32_t swap = mesh->triangle[3 * t];
        mesh->triangle[3 * t] = mesh->triangle[3 * t + 1];
        mesh->triangle[3 * t + 1] = swap;
    }
    BrioAffine inward = moments_of(mesh);
    assert_true(fabs(inward.volume - outward.volume) < 1e-12 && inward.volume > 3);
    BrioError error = {0};
    mesh->triangle_count--;
    assert_int_equal(brio__mesh_close(mesh, &error), BRIO_ERROR_INPUT);
    print_message("%s\n", error.message);
    assert_non_null(strstr(error.message, "not closed: the edge of vertices"));
    mesh->triangle_count++;
    int32_t swap = mesh->triangle[0];
    mesh->triangle[0] = mesh->triangle[1];
    mesh->triangle[1] = swap;
    error = (BrioError){0};
    assert_int_equal(brio__mesh_close(mesh, &error), BRIO_ERROR_INPUT);
    print_message("%s\n", error.message);
    assert_non_null(strstr(error.message, "triangles 0 and"));
    brio_mesh_free(mesh);
}

/* Two boxes as quads of an OBJ file, each of which may be inside out. */
static BrioMesh *two_boxes(bool first_inward, bool second_inward, double place)
{
    static const int square[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                     {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    char text[2000] = "";
    size_t used = 0;
    BrioMesh *mesh;
    for (int v = 0; v < 16; v++) {
        double size = v < 8 ? 1 : 0.25, off = v < 8 ? 0 : place;
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "v %g %g %g\n", off + size * (v & 1),
                             off + size * (v >> 1 & 1), off + size * (v >> 2 & 1));
    }
    for (int f = 0; f < 12; f++) {
        const int *v = square[f % 6], add = f < 6 ? 1 : 9;
        bool inward = f < 6 ? first_inward : second_inward;
        used += (size_t)snprintf(text + used, sizeof text - used, "f %d %d %d %d\n", v[0] + add,
                                 v[inward ? 3 : 1] + add, v[2] + add, v[inward ? 1 : 3] + add);
    }
    assert_int_equal(brio__mesh_parse("boxes.obj", text, used, &mesh, NULL), BRIO_OK);
    return mesh;
}

/* Boxes apart count, whichever way they look; one within the other is a cavity if it looks the
 * other way. What is seen are the faces of the file, turned with their triangles. */
static void components(void **unused)
{
    (void)unused;
    /* apart, touching, within, within and touching with its first vertex */
    static const double place[] = {2, 1, 0.3, 0};
    for (int kind = 0; kind < 16; kind++) {
        bool first = kind & 1, second = kind & 2, within = kind >= 8;
        BrioMesh *mesh = two_boxes(first, second, place[kind / 4]);
        BrioAffine body = moments_of(mesh);
        double sign = within && first != second ? -1 : 1;
        assert_true(fabs(body.volume - (1 + sign / 64)) < 1e-14);
        BrioSkin *skin;
        assert_int_equal(brio__skin_faces(mesh->faces, mesh->triangle, mesh->triangle_count, &skin),
                         BRIO_OK);
        assert_non_null(skin);
        assert_int_equal(skin->faces->count, 12);
        assert_int_equal(skin->triangle_count, 24);
        double volume = 0;
        static const double o[3] = {0, 0, 0};
        for (int64_t t = 0; t < skin->triangle_count; t++) {
            const int32_t *v = skin->triangle + 3 * t;
            volume +=
                brio__tet_volume6(o, mesh->x + 3 * v[0], mesh->x + 3 * v[1], mesh->x + 3 * v[2]) /
                6;
        }
        assert_true(fabs(volume - body.volume) < 1e-14);
        brio__skin_free(skin);
        brio_mesh_free(mesh);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(box_moments),       cmocka_unit_test(ball_moments),
        cmocka_unit_test(torus_moments),     cmocka_unit_test(box_ledger),
        cmocka_unit_test(falls_like_others), cmocka_unit_test(intermediate_axis),
        cmocka_unit_test(plain_rotation),    cmocka_unit_test(bouncing),
        cmocka_unit_test(same_bits),         cmocka_unit_test(no_allocation),
        cmocka_unit_test(scripted),          cmocka_unit_test(nearest_affine),
        cmocka_unit_test(surfaces),          cmocka_unit_test(components),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
