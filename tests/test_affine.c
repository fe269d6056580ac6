/* Affine bodies: their moments, what the mass points make of energies and momenta, torque-free rotation, falling, contact with a
 * plane, holding and setting them, and what is refused. */
#include "affine.h"
#include "mesh/mesh.h"
#include "sim.h"

#include <stdlib.h>
#include <string.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include "simulate.h"

static BrioMesh *shape(const char *name, const char *const *keys, const double *values)
{
    double all[BRIO_MAX_VALUES];
    BrioMesh *mesh;
    BrioError error = {0};
    brio_fields_defaults(brio_shape_fields(name), all);
    for (int i = 0; keys[i]; i++) assert_int_equal(brio_fields_set(brio_shape_fields(name), all, keys[i], values + i), BRIO_OK);
    if (brio_mesh_shape(name, all, &mesh, &error) != BRIO_OK) fail_msg("%s", error.message);
    return mesh;
}

static BrioAffine moments_of(BrioMesh *mesh)
{
    BrioAffine body;
    BrioError error = {0};
    BrioStatus status = mesh->tet_count ? brio_mesh_surface(mesh) : brio__mesh_close(mesh, &error);
    if (status != BRIO_OK || brio__affine_body(mesh, &body, &error) != BRIO_OK) fail_msg("%s", error.message);
    return body;
}

/* ---- moments ------------------------------------------------------------------------------------- */

/* The mass points have the volume's moments, and the weights reproduce every vertex. TOLERANCE 1e-13 relative: round-off. */
static void check_points(const BrioMesh *mesh, const BrioAffine *body)
{
    double size = body->moment[0] + body->moment[4] + body->moment[8], off = 0, miss = 0;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            double sum = 0;
            for (int k = 0; k < 4; k++) sum += body->volume / 4 * (body->point[3 * k + r] - body->centre[r]) * (body->point[3 * k + c] - body->centre[c]);
            off = fmax(off, fabs(sum - body->moment[3 * r + c]) / size);
        }
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        double w[4];
        brio__affine_weights(body, mesh->x + 3 * v, w);
        for (int r = 0; r < 3; r++) {
            double x = 0;
            for (int k = 0; k < 4; k++) x += w[k] * body->point[3 * k + r];
            miss = fmax(miss, fabs(x - mesh->x[3 * v + r]));
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
    double xx = V * size[0] * size[0] / 12, yy = V * size[1] * size[1] / 12, c = cos(turn), s = sin(turn);
    double expected[9] = {c * c * xx + s * s * yy, c * s * (xx - yy), 0, c * s * (xx - yy), s * s * xx + c * c * yy, 0, 0, 0, V * size[2] * size[2] / 12};
    for (int k = 0; k < 9; k++) off = fmax(off, fabs(body.moment[k] - expected[k]) / xx);
    print_message("box: volume off by %.1e, centre %.1e m, second moments %.1e\n", fabs(body.volume / V - 1), fabs(body.centre[0] - 40), off);
    assert_true(fabs(body.volume / V - 1) < 1e-12 && off < 1e-12); /* TOLERANCE: coordinates 40 m from the origin have 1e-14 m */
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
            BrioMesh *mesh = shape(names[solid], (const char *const[]){"radius", solid ? "cells" : "subdivisions", NULL}, (const double[]){r, solid ? 4 << i : 3 + i});
            BrioAffine body = moments_of(mesh);
            check_points(mesh, &body);
            error[i][0] = body.volume / V - 1;
            error[i][1] = body.moment[0] / moment - 1;
            for (int k = 0; k < 9; k++) assert_true(fabs(body.moment[k] - (k % 4 ? 0 : body.moment[0])) < 1e-12 * moment); /* as round as the icosahedron */
            brio_mesh_free(mesh);
        }
        print_message("%s: volume off by %.4f and %.4f (ratio %.2f), second moments %.4f and %.4f (ratio %.2f)\n", names[solid], error[0][0], error[1][0],
                      error[0][0] / error[1][0], error[0][1], error[1][1], error[0][1] / error[1][1]);
        for (int k = 0; k < 2; k++) {
            assert_true(fabs(error[0][k] / error[1][k] - 4) < 0.1);
            assert_true(fabs((4 * error[1][k] - error[0][k]) / 3) < 2e-4);
        }
    }
}

/* ---- energies and momenta ------------------------------------------------------------------------ */

/* A box that turns about a point far off: kinetic energy, momenta and weight are those of the solid box. */
static void box_ledger(void **unused)
{
    (void)unused;
    BrioSim *sim = parse("gravity: [0.5, -9.8, 0]\nbodies:\n  - shape: {type: box, size: [0.3, 0.2, 0.05], cells: [3, 2, 1]}\n    kind: affine\n    material: {type: corotated, E: 1e7, rho: 800}\n"
                         "    transform: {translate: [2, 3, -1]}\n    velocity: {linear: [0.1, 0.2, 0.3], angular: [0.7, -2, 3], about: [1, 2, 0]}\n");
    const double m = 800 * 0.003, I[3] = {m / 12 * (0.04 + 0.0025), m / 12 * (0.09 + 0.0025), m / 12 * (0.09 + 0.04)}, w[3] = {0.7, -2, 3}, c[3] = {2, 3, -1};
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
        assert_true(fabs(l.angular[r] - (I[r] * w[r] + m * (c[p] * v[q] - c[q] * v[p]))) < 1e-12 * m * 30);
        assert_true(fabs(l.centre[r] - c[r]) < 1e-13 * 10);
    }
    brio_sim_free(sim);
}

/* Free fall is that of a solid of the same shape, for every integrator that takes both. TOLERANCE 1e-9 m: Newton's tolerance times the time. */
static void falls_like_others(void **unused)
{
    (void)unused;
    int count = 0;
    double worst = 0;
    for (int i = 0; brio_integrator_at(i); i++) {
        const BrioIntegrator *integrator = brio_integrator_at(i);
        double height[2];
        if ((integrator->traits & BRIO_SPRINGS_ONLY) || integrator->order == 0 || !strcmp(integrator->name, "static")) continue;
        for (int affine = 0; affine < 2; affine++) {
            BrioSim *sim = parse("time: {h: 1e-3}\nintegrator: %s\nsolver: {tol: 1e-10}\nbodies:\n  - shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}\n"
                                 "    material: {type: corotated, E: 1e4}\n    velocity: {linear: [0, 1, 0]}\n%s", integrator->name, affine ? "    kind: affine\n" : "");
            step(sim, 50);
            height[affine] = ledger(sim).centre[1];
            brio_sim_free(sim);
        }
        worst = fmax(worst, fabs(height[1] - height[0]));
        if (!(fabs(height[1] - height[0]) < 1e-9)) fail_msg("%s: affine at %.15g, solid at %.15g m", integrator->name, height[1], height[0]);
        count++;
    }
    print_message("free fall under %d integrators: affine and solid at most %.1e m apart\n", count, worst);
    assert_true(count > 20);
}

/* ---- torque-free rotation ------------------------------------------------------------------------ */

/* A = sum_k y_k grad w_k^T, from a body's vertices: here that of a box whose vertices 0, 1, n, ... span its edges. */
static void matrix_of(BrioSim *sim, double A[9])
{
    const BrioSystem *s = sim->system;
    const BrioTerm *term = &s->term[s->body[0].term];
    double x[4][3];
    brio__system_positions(s, sim->state, sim->state->q, sim->state->time, sim->world);
    for (int k = 0; k < 4; k++) memcpy(x[k], sim->world + 3 * (s->body[0].mass_point + k), sizeof x[k]);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            A[3 * r + c] = 0;
            for (int k = 0; k < 3; k++) A[3 * r + c] += (x[k + 1][r] - x[0][r]) * term->rest[(1 + 3 * k + c) * LANES]; /* D_s D_m^-1 */
        }
}

static double skew_of(const double A[9])
{
    double most = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum = i == j ? -1 : 0;
            for (int k = 0; k < 3; k++) sum += A[3 * k + i] * A[3 * k + j];
            most = fmax(most, fabs(sum));
        }
    return most;
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
    double energy, angular, skew; /* worst energy off, L lost at the end (shares), worst |A^T A - I| */
} Spin;

static const double spin_rate[3] = {0.3, 6, 0};

static Spin spin(const char *integrator, double h, double end)
{
    Spin spin = {0};
    BrioSim *sim = parse("time: {h: %.17g}\ngravity: [0, 0, 0]\nintegrator: %s\nsolver: {tol: 1e-8}\nbodies:\n  - shape: {type: box, size: [0.3, 0.2, 0.05], cells: [3, 2, 1]}\n    kind: affine\n"
                         "    material: {type: affine, E: 1e8, rho: 1000}\n    velocity: {angular: [%g, %g, %g]}\n", h, integrator, spin_rate[0], spin_rate[1], spin_rate[2]);
    BrioLedger first = ledger(sim), l = first;
    double before = 1, L0 = hypot(hypot(first.angular[0], first.angular[1]), first.angular[2]);
    while (brio_sim_time(sim) < end) {
        step(sim, 1);
        double A[9], share = 0;
        l = ledger(sim);
        matrix_of(sim, A);
        for (int r = 0; r < 3; r++) share += A[3 * r + 1] * l.angular[r];
        if (share * before < 0 && spin.count < 8) spin.flips[spin.count++] = l.time - h * share / (share - before);
        before = share;
        spin.skew = fmax(spin.skew, skew_of(A));
        spin.energy = fmax(spin.energy, fabs(l.total / first.total - 1));
    }
    spin.angular = 1 - hypot(hypot(l.angular[0], l.angular[1]), l.angular[2]) / L0;
    brio_sim_free(sim);
    return spin;
}

/* Euler's equations by elliptic functions [Landau1976, 37]. Inertia is least about x, middle about y and L^2 < 2 E I_y here. */
static double flip_time(void)
{
    const double m = 3, I1 = m / 12 * (0.04 + 0.0025), I2 = m / 12 * (0.09 + 0.0025), I3 = m / 12 * 0.13;
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
    Spin made[3];
    for (int i = 0; i < 3; i++) {
        Spin *s = &made[i];
        *s = spin(runs[i].integrator, runs[i].h, 6);
        print_message("%-18s energy off by %.2e, L lost %.2e, |A^T A - 1| %.1e; %d flips, at %.3f and then every %.3f s; Euler's equations: %.3f and %.3f s\n", runs[i].integrator, s->energy,
                      s->angular, s->skew, s->count, s->flips[0], s->count > 1 ? (s->flips[s->count - 1] - s->flips[0]) / (s->count - 1) : NAN, expected / 2, expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(box_moments), cmocka_unit_test(ball_moments), cmocka_unit_test(box_ledger), cmocka_unit_test(falls_like_others),
        cmocka_unit_test(intermediate_axis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
