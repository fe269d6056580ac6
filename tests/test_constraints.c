/* Constraints: derivatives of every kind, order under every integrator that takes them, pendulums
 * against CVODE, reactions in closed form, a four-bar linkage against its kinematics, momenta,
 * limits, contact, bits; stitches: force, breaking, the ledger. */
#include "build/build.h"
#include "distance.h"
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
#include "vec.h"
#ifdef BRIO_SUNDIALS
#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>
#endif

static const double g = 9.8;

/* ---- derivatives ------------------------------------------------------------------------ */

enum { POINTS = 8, MAX = 3 * POINTS };

/* A constraint with its points near where it holds, but off it. */
static void make(const BrioConstraintType *type, BrioRandom *random, BrioConstraint *c, double *y)
{
    static BrioPoint points[POINTS];
    static int32_t triangle[] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};
    double at[2][3], axis[3];
    *c = (BrioConstraint){.type = type, .length = 0.7, .point = points};
    brio_fields_defaults(type->fields, c->values);
    if (type->sample) type->sample(c->values);
    for (int r = 0; r < 3; r++) {
        at[0][r] = brio__random_normal(random);
        at[1][r] = type->drawn ? brio__random_normal(random) : at[0][r];
        axis[r] = brio__random_normal(random);
    }
    c->point_count = type->points ? type->points(c->values) : type->role_count;
    if (type->role_count) {
        brio__constraint_place(type, c->point_count, (const double(*)[3])at, axis, c->length, y);
    } else {
        c->point_count = 4;
        c->triangle = triangle;
        c->triangle_count = 4;
        for (int i = 0; i < 12; i++) y[i] = brio__random_normal(random);
    }
    assert_int_equal(type->begin(c, y, NULL), BRIO_OK);
    for (int i = 0; i < 3 * c->point_count; i++) y[i] += 0.1 * brio__random_normal(random);
}

typedef struct Dense {
    int n;
    double H[MAX * MAX];
} Dense;

static void add(const BrioBlocks *to, int i, int j, double scale, const double B[9])
{
    Dense *d = to->user;
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++) {
            d->H[(3 * i + r) * d->n + 3 * j + k] += scale * B[3 * r + k];
            if (i != j) d->H[(3 * j + k) * d->n + 3 * i + r] += scale * B[3 * r + k];
        }
}

/* Errors of the Taylor series of first and second order fall by 4 and 8 when the way halves. */
static void derivatives(void **unused)
{
    (void)unused;
    BrioRandom random = {7};
    for (int t = 0; brio__constraint_type_at(t); t++) {
        const BrioConstraintType *type = brio__constraint_type_at(t);
        double worst[2] = {INFINITY, INFINITY};
        bool quadratic = true;
        for (int trial = 0; trial < 10; trial++) {
            BrioConstraint c;
            double y[MAX], z[MAX], d[MAX], g0[8], g1[8], lambda[8], J[8 * MAX], error[2][2];
            make(type, &random, &c, y);
            int n = 3 * c.point_count;
            Dense dense = {.n = n};
            BrioBlocks to = {add, &dense};
            for (int k = 0; k < c.rows; k++) lambda[k] = brio__random_normal(&random);
            for (int i = 0; i < n; i++) d[i] = brio__random_normal(&random);
            type->value(&c, y, g0, J);
            if (type->curvature) type->curvature(&c, y, lambda, false, &to);
            double value = 0, slope = 0, bend = 0;
            for (int k = 0; k < c.rows; k++) {
                value += lambda[k] * g0[k];
                for (int i = 0; i < n; i++) slope += lambda[k] * J[k * n + i] * d[i];
            }
            for (int i = 0; i < n * n; i++) bend += d[i / n] * dense.H[i] * d[i % n];
            for (int half = 0; half < 2; half++) {
                double h = half ? 5e-4 : 1e-3, at = 0;
                for (int i = 0; i < n; i++) z[i] = y[i] + h * d[i];
                type->value(&c, z, g1, NULL);
                for (int k = 0; k < c.rows; k++) at += lambda[k] * g1[k];
                error[0][half] = fabs(at - value - h * slope);
                error[1][half] = fabs(at - value - h * slope - h * h / 2 * bend);
            }
            for (int k = 0; k < 2; k++)
                if (error[k][0] > 1e-13) worst[k] = fmin(worst[k], log2(error[k][0] / error[k][1]));
            quadratic &= error[1][0] < 1e-13;
        }
        print_message("%-16s slopes %.3f (2), %.3f (3)%s\n", type->name, worst[0], worst[1],
                      quadratic ? ": no more than quadratic" : "");
        /* TOLERANCE 0.1 and 0.2: the next term of the series at h = 1e-3 */
        assert_true(worst[0] > 1.9);
        assert_true(quadratic || worst[1] > 2.8);
    }
}

#define PENDULUM(name, mass)                                                      \
    "  - {name: " name                                                            \
    ", shape: {type: line, length: 1, cells: 1}, kind: points, material: {type: " \
    "mass, vertex_mass: " mass "}, fix: [{vertices: [0]}]}\n"

/* Pendulums of a thousand tonnes and of a milligram swing side by side as one alone does, and rods
 * that are one too many are found among them. TOLERANCE 1e-12 m. */
static void light_and_heavy(void **unused)
{
    (void)unused;
    for (int twice = 0; twice < 2; twice++) {
        BrioSim *sim = parse(
            "time: {h: 1/100}\nbodies:\n" PENDULUM("heavy", "1e6") PENDULUM("light", "1e-6")
                PENDULUM("usual", "1") "constraints:\n"
                                       "  - {type: rod, a: [heavy, 0], b: [heavy, 1]}\n"
                                       "  - {type: rod, a: [light, 0], b: [light, 1]}\n"
                                       "  - {type: rod, a: [usual, 0], b: [usual, 1]}\n%s",
            twice ? "  - {type: point-on-plane, a: [heavy, 1], at: [0.5, 0, 0], axis: [0, 0, 1]}\n"
                    "  - {type: point-on-plane, a: [heavy, 1], at: [0.5, 0, 0], axis: [0, 0, 1]}\n"
                  : "");
        double x[3][6];
        for (int n = 0; n < 50 && !twice; n++) step(sim, 1);
        for (int b = 0; b < 3; b++) brio_sim_positions(sim, b, x[b]);
        for (int r = 0; r < 6; r++)
            for (int b = 0; b < 2; b++) assert_true(fabs(x[b][r] - x[2][r]) < 1e-12);
        if (twice) {
            assert_true(brio_sim_step(sim, NULL) > 0);
            assert_non_null(strstr(brio_sim_reason(sim), "redundant"));
        }
        brio_sim_free(sim);
    }
}

/* ---- integrators ------------------------------------------------------------------------ */

/* Theta'' = -g sin theta from the horizontal by the classical Runge-Kutta method. */
static void pendulum_end(double T, double *x, double *y)
{
    enum { STEPS = 20000 };
    double a = 0, w = 0, h = T / STEPS;
    for (int i = 0; i < STEPS; i++) {
        double k1 = w, l1 = g * cos(a), k2 = w + h / 2 * l1, l2 = g * cos(a + h / 2 * k1);
        double k3 = w + h / 2 * l2, l3 = g * cos(a + h / 2 * k2);
        double k4 = w + h * l3, l4 = g * cos(a + h * k3);
        a += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
        w += h / 6 * (l1 + 2 * l2 + 2 * l3 + l4);
    }
    *x = cos(a);
    *y = -sin(a);
}

static BrioSim *masses(const char *integrator, double h, int links)
{
    char rods[400] = "";
    size_t used = 0;
    for (int i = 0; i < links; i++)
        used += (size_t)snprintf(rods + used, sizeof rods - used,
                                 "  - {type: rod, a: [chain, %d], b: [chain, %d]}\n", i, i + 1);
    return parse("time: {h: %.17g}\nintegrator: %s\nsolver: {tol: 1e-11}\nbodies:\n  - name: "
                 "chain\n    shape: {type: line, length: %d, cells: %d}\n    kind: points\n"
                 "    material: {type: mass, vertex_mass: 0.5}\n    fix: [{vertices: [0]}]\n"
                 "constraints:\n%s",
                 h, integrator, links, links, rods);
}

/* A pendulum of one rod: the length holds and the order is the declared one, at most 2: the force
 * of a constraint is that of the end of a step. TOLERANCES: 0.25 of the order, 1e-12 of the
 * length. */
static void orders(void **unused)
{
    (void)unused;
    double T = 1, exact[2];
    int taken = 0;
    pendulum_end(T, &exact[0], &exact[1]);
    for (int i = 0; brio_integrator_at(i); i++) {
        const BrioIntegrator *method = brio_integrator_at(i);
        if (!(method->traits & BRIO_TAKES_CONSTRAINTS)) continue;
        double error[2], drift = 0;
        for (int k = 0; k < 2; k++) {
            int steps = 400 << k;
            BrioSim *sim = masses(method->name, T / steps, 1);
            double x[6];
            for (int n = 0; n < steps; n++) {
                step(sim, 1);
                drift = brio__larger(drift, ledger(sim).rods);
            }
            brio_sim_positions(sim, 0, x);
            error[k] = hypot(x[3] - exact[0], x[4] - exact[1]);
            brio_sim_free(sim);
        }
        double order = log2(error[0] / error[1]);
        print_message("%-18s order %.3f (%d), error %.2e m, drift %.1e\n", method->name, order,
                      method->order, error[1], drift);
        assert_true(order > BRIO_MIN(method->order, 2) - 0.25 && drift < 1e-12);
        taken++;
    }
    assert_true(taken >= 11);
}

/* The ledger tells the worst of all constraints, wherever it is in the list: rods of 1 m of which
 * one is 1e-3 m longer. TOLERANCE 1e-6: the square of that. */
static void worst_is_told(void **unused)
{
    (void)unused;
    for (int k = 0; k < 3; k++) {
        BrioSim *sim = masses("backward-euler", 0.01, 3);
        assert_true(ledger(sim).rods < 1e-12);
        for (int i = k; i < 3; i++) sim->state->q[3 * i] += 1e-3; /* rod k is longer */
        assert_true(fabs(ledger(sim).rods - 1e-3) < 1e-6);
        brio_sim_free(sim);
    }
}

#ifdef BRIO_SUNDIALS
/* Two masses of 0.5 kg on rods of 1 m: the textbook's equations for the angles from the vertical.
 */
static int swing(sunrealtype t, N_Vector y, N_Vector rate, void *user)
{
    const double *z = N_VGetArrayPointer(y);
    double *f = N_VGetArrayPointer(rate);
    double a = z[0], b = z[1], u = z[2], v = z[3], d = a - b, m = 3 - cos(2 * d);
    (void)t;
    (void)user;
    f[0] = u;
    f[1] = v;
    f[2] = (-3 * g * sin(a) - g * sin(a - 2 * b) - 2 * sin(d) * (v * v + u * u * cos(d))) / m;
    f[3] = 2 * sin(d) * (2 * u * u + 2 * g * cos(a) + v * v * cos(d)) / m;
    return 0;
}

static void cvode_end(double T, double z[4])
{
    SUNContext context;
    double t = 0;
    assert_int_equal(SUNContext_Create(NULL, &context), 0);
    N_Vector y = N_VMake_Serial(4, z, context);
    SUNNonlinearSolver solver = SUNNonlinSol_FixedPoint(y, 0, context);
    void *cvode = CVodeCreate(CV_ADAMS, context);
    assert_int_equal(CVodeInit(cvode, swing, 0, y), CV_SUCCESS);
    assert_int_equal(CVodeSStolerances(cvode, 1e-13, 1e-14), CV_SUCCESS);
    assert_int_equal(CVodeSetNonlinearSolver(cvode, solver), CV_SUCCESS);
    assert_int_equal(CVodeSetMaxNumSteps(cvode, 100000), CV_SUCCESS);
    assert_int_equal(CVodeSetStopTime(cvode, T), CV_SUCCESS);
    assert_true(CVode(cvode, T, y, &t, CV_NORMAL) >= 0);
    CVodeFree(&cvode);
    SUNNonlinSolFree(solver);
    N_VDestroy(y);
    SUNContext_Free(&context);
}
#endif

/* The double pendulum from the horizontal against CVODE, after 1 s: second order. TOLERANCE 0.2 of
 * the order and 1e-4 m at 1600 steps. */
static void double_pendulum(void **unused)
{
    (void)unused;
#ifdef BRIO_SUNDIALS
    double z[4] = {M_PI / 2, M_PI / 2, 0, 0}, error[2];
    cvode_end(1, z);
    double end[2] = {sin(z[0]) + sin(z[1]), -cos(z[0]) - cos(z[1])};
    static const char *const methods[] = {"variational", "implicit-midpoint", "bdf2"};
    for (size_t i = 0; i < BRIO_COUNT(methods); i++) {
        for (int k = 0; k < 2; k++) {
            int steps = 800 << k;
            double x[9];
            BrioSim *sim = masses(methods[i], 1.0 / steps, 2);
            step(sim, steps);
            brio_sim_positions(sim, 0, x);
            error[k] = hypot(x[6] - end[0], x[7] - end[1]);
            brio_sim_free(sim);
        }
        print_message("double pendulum, %s: %.2e m from CVODE, order %.3f\n", methods[i], error[1],
                      log2(error[0] / error[1]));
        assert_true(fabs(log2(error[0] / error[1]) - 2) < 0.2 && error[1] < 1e-4);
    }
#else
    print_message("SKIPPED: no SUNDIALS\n");
#endif
}

/* ---- joints of affine bodies ------------------------------------------------------------ */

#define BAR_OF(E, name, x, y, z, more)                                                         \
    "  - {name: " name ", shape: {type: box, size: [" x ", " y ", " z                          \
    "], cells: [1, 1, 1]}, kind: affine, material: {type: affine, E: " E ", rho: 1000}, " more \
    "}\n"
#define BAR(name, x, y, z, more) BAR_OF("1e10", name, x, y, z, more)

/* A bar on a hinge that a limit holds level: its weight, and the torque of half its length. A bar
 * that swings from the horizontal: at the bottom w^2 = 3 g/L, so the hinge bears 5/2 m g.
 * TOLERANCES: 1e-8 of what is at rest; 1e-3 of what swings in steps of 1/4000 s. */
static void reaction(void **unused)
{
    (void)unused;
    for (int swings = 0; swings < 2; swings++) {
        BrioSim *sim =
            parse("time: {h: %s}\nintegrator: %s\nsolver: {tol: 1e-12}\nbodies:\n" BAR(
                      "bar", "0.5", "0.02", "0.02",
                      "transform: {translate: [0.25, 0, 0]}") "constraints:\n  - {name: axle, "
                                                              "type: hinge, a: bar, at: [0, 0, 0], "
                                                              "axis: [0, 0, 1]%s}\n",
                  swings ? "1/4000" : "1/100", swings ? "bdf2" : "backward-euler",
                  swings ? "" : ", lower: 0");
        double force[3], torque[3], m = 0.2, most = 0;
        int axle = brio_system_constraint(brio_sim_system(sim), "axle");
        for (int n = 0; n < (swings ? 1400 : 50); n++) {
            step(sim, 1);
            assert_int_equal(brio_sim_reaction(sim, axle, force, torque), BRIO_OK);
            if (n > 1200)
                most = brio__larger(most, force[1]); /* what began to vibrate has come to rest */
        }
        if (swings) {
            print_message("a swinging bar: %.6f m g (5/2)\n", most / (m * g));
            assert_true(fabs(most / (m * g) - 2.5) < 2.5e-3);
        } else {
            print_message("a bar at rest: force %.12f N (%.12f), torque %.12f N m (%.12f)\n",
                          force[1], m * g, torque[2], m * g / 4);
            assert_true(fabs(force[1] - m * g) < 1e-8 && fabs(torque[2] - m * g / 4) < 1e-8);
        }
        brio_sim_free(sim);
    }
}

/* A four-bar linkage, crank 0.1, coupler 0.3, rocker 0.25, ground 0.3, that turns round: where the
 * rocker's end is follows from the crank's angle. TOLERANCE 1e-6 m: strain of the affine bars. */
static void four_bar(void **unused)
{
    (void)unused;
    double crank = 0.1, coupler = 0.3, rocker = 0.25, ground = 0.3, off = 0, turned = 0,
           last = M_PI / 2;
    /* crank upright: the coupler's end is where two circles meet */
    double A[2] = {0, crank}, D[2] = {ground, 0};
    double dx = D[0] - A[0], dy = D[1] - A[1], l = hypot(dx, dy);
    double along = (coupler * coupler - rocker * rocker + l * l) / (2 * l);
    double up = sqrt(coupler * coupler - along * along);
    double B[2] = {A[0] + along * dx / l - up * dy / l, A[1] + along * dy / l + up * dx / l};
    double to_b = atan2(B[1] - A[1], B[0] - A[0]) * 180 / M_PI;
    double to_d = atan2(B[1] - D[1], B[0] - D[0]) * 180 / M_PI;
    BrioSim *sim = parse(
        "time: {h: 1/500}\ngravity: [0, 0, 0]\nintegrator: bdf2\nsolver: {tol: "
        "1e-11}\n"
        "bodies:\n" BAR("crank", "0.1", "0.02", "0.02",
                        "transform: {rotate: [[0, 0, 1], 90], translate: [0, 0.05, 0]}, velocity: "
                        "{angular: [0, 0, 60], about: [0, 0, 0]}")
            BAR("coupler", "0.3", "0.02", "0.02",
                "transform: {rotate: [[0, 0, 1], %.17g], translate: [%.17g, %.17g, 0]}")
                BAR("rocker", "0.25", "0.02", "0.02",
                    "transform: {rotate: [[0, 0, 1], %.17g], translate: [%.17g, %.17g, "
                    "0]}") "constraints:\n"
                           "  - {type: hinge, a: crank, at: [0, 0, 0], axis: [0, 0, 1]}\n"
                           "  - {type: hinge, a: crank, b: coupler, at: [0, 0.1, 0], "
                           "axis: [0, 0, 1]}\n"
                           "  - {type: hinge, a: coupler, b: rocker, at: [%.17g, %.17g, "
                           "0], axis: [0, 0, 1]}\n"
                           "  - {type: hinge, a: rocker, at: [0.3, 0, 0], axis: [0, 0, "
                           "1]}\n",
        to_b, (A[0] + B[0]) / 2, (A[1] + B[1]) / 2, to_d, (D[0] + B[0]) / 2, (D[1] + B[1]) / 2,
        B[0], B[1]);
    for (int n = 0; n < 700; n++) {
        double x[24], end[2] = {0, 0}, pin[2] = {0, 0};
        step(sim, 1);
        brio_sim_positions(sim, 0, x);
        for (int v = 1; v < 8; v += 2)
            for (int r = 0; r < 2; r++) pin[r] += x[3 * v + r] / 4; /* the far end of the crank */
        brio_sim_positions(sim, 2, x);
        for (int v = 1; v < 8; v += 2)
            for (int r = 0; r < 2; r++) end[r] += x[3 * v + r] / 4;
        double angle = atan2(pin[1], pin[0]);
        turned += remainder(angle - last, 2 * M_PI);
        last = angle;
        double ex = D[0] - crank * cos(angle), ey = D[1] - crank * sin(angle), e = hypot(ex, ey);
        double s = (coupler * coupler - rocker * rocker + e * e) / (2 * e);
        double t = sqrt(coupler * coupler - s * s);
        if (n > 20) /* the start, whose velocities do not fit, bends the bars for a moment */
            off = brio__larger(off, hypot(end[0] - crank * cos(angle) - s * ex / e + t * ey / e,
                                          end[1] - crank * sin(angle) - s * ey / e - t * ex / e));
    }
    print_message("four-bar linkage: crank turned %.2f rad, end of the rocker within %.2e m, drift "
                  "%.1e\n",
                  turned, off, ledger(sim).rods);
    assert_true(turned > 7 && off < 1e-6 && ledger(sim).rods < 1e-12);
    brio_sim_free(sim);
}

/* Three affine links on a ball and a hinge, free: momenta stay. With A-search the energy meets its
 * target. TOLERANCE 1e-10 relative. Round-off of positions, 1e-16 m, times the stiffness is a
 * torque in every step: with E = 1e10 Pa 1e-10 in the end, on any instruction set; so E is 1e9 Pa
 * here. */
static void momenta(void **unused)
{
    (void)unused;
    BrioSim *sim = parse(
        "time: {h: 1/500}\ngravity: [0, 0, 0]\nintegrator: variational\nsolver: {tol: 1e-12}\n"
        "bodies:\n" BAR_OF("1e9", "a", "0.2", "0.04", "0.05",
                           "velocity: {linear: [0, 1, 0.3], angular: [0, 3, 5]}")
            BAR_OF("1e9", "b", "0.2", "0.04", "0.05",
                   "transform: {translate: [0.2, 0, 0]}, velocity: {linear: [0, 0, -1]}")
                BAR_OF(
                    "1e9", "c", "0.2", "0.04", "0.05",
                    "transform: {translate: [0.4, 0, 0]}") "constraints:\n  - {type: ball, a: a, "
                                                           "b: b, at: [0.1, 0, 0]}\n"
                                                           "  - {type: hinge, a: b, b: c, at: "
                                                           "[0.3, 0, 0], axis: [0, 1, 0.5], upper: "
                                                           "20}\n");
    step(sim, 1); /* which fits the velocities to the joints */
    BrioLedger first = ledger(sim);
    step(sim, 300);
    BrioLedger last = ledger(sim);
    double linear = brio__distance3(first.momentum, last.momentum) / brio__norm3(first.momentum);
    double angular = brio__distance3(first.angular, last.angular) / brio__norm3(first.angular);
    print_message("free links: momentum %.1e, angular momentum %.1e (relative), drift %.1e\n",
                  linear, angular, last.rods);
    assert_true(linear < 1e-10 && angular < 1e-10 && last.rods < 1e-12);
    brio_sim_free(sim);
}

/* A simple pendulum under A-search: the energy is its target wherever alpha is free to meet it.
 * TOLERANCE 1e-10 J of 5 J. */
static void energy(void **unused)
{
    (void)unused;
    BrioSim *sim = masses("{type: a-search, alpha_min: -10, alpha_max: 10}", 1e-2, 1);
    double off = 0;
    for (int n = 0; n < 200; n++) {
        step(sim, 1);
        BrioLedger l = ledger(sim);
        bool met = l.alpha > -9.99 && l.alpha < 9.99;
        if (met) off = brio__larger(off, fabs(l.total - l.target));
    }
    print_message("pendulum under a-search: energy within %.1e J of its target\n", off);
    assert_true(off < 1e-10);
    brio_sim_free(sim);
}

/* ---- one-sided -------------------------------------------------------------------------- */

/* A mass on a rope of 0.5 m: it falls freely, is caught and hangs; a body on a slider comes to its
 * stop; a ball joint leans on its cone. TOLERANCE 1e-9 m. */
static void limits(void **unused)
{
    (void)unused;
    BrioSim *sim = parse("time: {h: 1/100}\nintegrator: backward-euler\nsolver: {tol: 1e-10}\n"
                         "bodies:\n  - {name: p, shape: {type: line, length: 0.3, cells: 1}, kind: "
                         "points, material: {type: mass, vertex_mass: 1}, fix: [{vertices: [0]}]}\n"
                         "constraints:\n  - {type: distance-range, a: [p, 0], b: [p, 1], max: "
                         "0.5}\n");
    double x[24], force[3], torque[3];
    step(sim, 10);
    brio_sim_positions(sim, 0, x);
    assert_true(fabs(x[3] - 0.3) < 1e-12 && x[4] < -0.05); /* free fall */
    step(sim, 1500);
    brio_sim_positions(sim, 0, x);
    brio_sim_reaction(sim, 0, force, torque);
    print_message("a rope: end at [%.1e, %.12f], pulls with %.9f N\n", x[3] + 0.15, x[4],
                  hypot(force[0], force[1]));
    assert_true(fabs(hypot(x[3], x[4]) - 0.5) < 1e-9);
    brio_sim_free(sim);
    sim = parse("time: {h: 1/100}\nintegrator: backward-euler\nbodies:\n" BAR(
        "bar", "0.1", "0.1", "0.1",
        "transform: {rotate: [[0, 0, 1], 30]}") "constraints:\n  - {type: slider, a: bar, at: [0, "
                                                "0, 0], axis: [1, 2, 0], lower: -0.3}\n");
    step(sim, 60);
    BrioLedger l = ledger(sim);
    double way = hypot(l.centre[0], l.centre[1]);
    print_message("a slider: way %.12f m (0.3), kinetic energy %.1e J\n", way, l.kinetic);
    assert_true(fabs(way - 0.3) < 1e-7 && l.kinetic < 1e-12);
    brio_sim_free(sim);
    sim = parse("time: {h: 1/100}\nintegrator: backward-euler\nsolver: {tol: 1e-10}\nbodies:\n" BAR(
        "bar", "0.1", "0.5", "0.1",
        "transform: {translate: [0.02, 0.25, 0]}") "constraints:\n  - {type: ball, a: bar, at: [0, "
                                                   "0, 0], axis: [0, 1, 0], cone: 35}\n");
    step(sim, 400);
    brio_sim_positions(sim, 0, x);
    double d[3];
    brio__subtract3(x + 6, x, d);
    for (int v = 0; v < 8; v++) /* the vertex above the first */
        if (fabs(brio__distance3(x + 3 * v, x) - 0.5) < 1e-3) brio__subtract3(x + 3 * v, x, d);
    double angle = acos(fabs(d[1]) / brio__norm3(d)) * 180 / M_PI;
    print_message("a cone: leans by %.6f degrees (35)\n", angle);
    assert_true(fabs(angle - 35) < 1e-3);
    brio_sim_free(sim);
}

/* A shell with a closed surface keeps its volume under a load. TOLERANCE 1e-12 relative. */
static void volume(void **unused)
{
    (void)unused;
    BrioSim *sim = parse("time: {h: 1/100}\nintegrator: backward-euler\nbodies:\n  - {name: bag, "
                         "shape: {type: box, size: [0.2, 0.2, 0.2], cells: [2, 2, 2]}, kind: "
                         "solid, material: {type: stable-neo-hookean, E: 2e4, nu: 0.1}, fix: "
                         "[{box: [[-1, 0.09, -1], [1, 1, 1]]}]}\n"
                         "constraints: [{type: volume, a: bag}]\n");
    step(sim, 40);
    BrioLedger l = ledger(sim);
    print_message("a soft block: drift of its volume %.1e, elastic energy %.2e J\n", l.rods,
                  l.elastic);
    assert_true(l.rods < 1e-12 && l.elastic > 1e-3);
    brio_sim_free(sim);
}

/* ---- with contact ----------------------------------------------------------------------- */

#define DOOR                                                                                    \
    "time: {h: 1/100}\nintegrator: backward-euler\ncontact: {type: ipc, dhat: 5e-3, mu: 0.1}\n" \
    "bodies:\n" BAR("frame", "0.1", "1", "0.1",                                                 \
                    "transform: {translate: [-0.06, 0, 0]}, fix: "                              \
                    "[{box: [[-9, -9, -9], [9, 9, 9]]}]")                                       \
        BAR("door", "0.6", "1", "0.04", "transform: {translate: [0.3, 0, 0]}")                  \
            BAR("ball", "0.1", "0.1", "0.1",                                                    \
                "transform: {translate: [0.4, 0, "                                              \
                "0.1]}, velocity: {linear: [0, 0, "                                             \
                "-4]}") "constraints:\n  - {type: "                                             \
                        "hinge, a: door, b: "                                                   \
                        "frame, at: [0, 0, 0], "                                                \
                        "axis: [0, 1, 0], upper: "                                              \
                        "120}\n"

/* A door that a block hits swings open: the hinge holds, nothing meets. The same bits for one and
 * two threads, and after a checkpoint. */
static void door(void **unused)
{
    (void)unused;
    double x[3][24];
    for (int k = 0; k < 3; k++) {
        brio_set_threads(k == 1 ? 2 : 1);
        BrioSim *sim = parse(DOOR);
        double drift = 0, near = INFINITY;
        for (int n = 0; n < 40; n++) {
            step(sim, 1);
            drift = brio__larger(drift, ledger(sim).rods);
            near = fmin(near, ledger(sim).min_distance);
            if (k < 2 || n != 20) continue;
            assert_int_equal(brio_sim_save(sim, "test_constraints.state", 1, NULL), BRIO_OK);
            brio_sim_free(sim);
            sim = parse(DOOR);
            assert_int_equal(brio_sim_restore(sim, "test_constraints.state", NULL), BRIO_OK);
            remove("test_constraints.state");
        }
        brio_sim_positions(sim, 1, x[k]);
        print_message("door: drift %.1e, smallest distance %.2e m\n", drift, near);
        assert_true(drift < 1e-10 && near > 0);
        brio_sim_free(sim);
    }
    brio_set_threads(0);
    assert_true(x[0][23] < -0.1 || x[0][5] < -0.1); /* it opened */
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    assert_memory_equal(x[0], x[2], sizeof x[0]);
}

/* A scripted paddle pushes the door open: nothing meets, the hinge holds. */
static void pushed(void **unused)
{
    (void)unused;
    BrioSim *sim =
        parse(DOOR "obstacles:\n  - {type: box, size: [0.1, 0.3, 0.05], transform: {translate: "
                   "[0.4, 0.3, 0.1]}, script: {velocity: [0, 0, -1.5]}}\n");
    double x[24], near = INFINITY, drift = 0;
    const double still[24] = {0}; /* the block only falls */
    assert_int_equal(brio_sim_set_velocities(sim, 2, still, NULL), BRIO_OK);
    for (int n = 0; n < 25; n++) {
        step(sim, 1);
        drift = brio__larger(drift, ledger(sim).rods);
        near = fmin(near, ledger(sim).min_distance);
    }
    brio_sim_positions(sim, 1, x);
    print_message("a paddle and a door: drift %.1e, smallest distance %.2e m, edge at z = %.3f m\n",
                  drift, near, x[5]);
    assert_true(drift < 1e-10 && near > 0 && x[5] < -0.1);
    brio_sim_free(sim);
}

/* ---- local/global ----------------------------------------------------------------------- */

/* Two soft bars, a hinge with a limit to the world and a ball between them; they fall, and the
 * first stops at its limit. */
#define SOFT                                                                                    \
    "time: {h: 1/100}\nintegrator: %s\nsolver: {%s}\nbodies:\n"                                 \
    "  - {name: upper, shape: {type: box, size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}, material: " \
    "{type: %s, E: 1e5, nu: 0.3, rho: 1000}, transform: {translate: [0.2, 0, 0]}}\n"            \
    "  - {name: lower, shape: {type: box, size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}, material: " \
    "{type: %s, E: 1e5, nu: 0.3, rho: 1000}, transform: {translate: [0.6, 0, 0]}}\n"            \
    "constraints:\n  - {name: axle, type: hinge, a: upper, at: [0, 0, 0], axis: [0, 0, 1], "    \
    "lower: "                                                                                   \
    "-40}\n  - {type: ball, a: upper, b: lower, at: [0.4, 0, 0]}\n"

static double farthest(const BrioSim *a, const BrioSim *b)
{
    double most = 0;
    for (int64_t k = 0; k < a->state->coordinates; k++)
        most = brio__larger(most, fabs(a->state->q[k] - b->state->q[k]));
    return most;
}

/* Local/global keeps constraints as exactly as Newton's method after few iterations, and goes where
 * that goes as their number rises. A-search keeps the energy. TOLERANCES: 1e-10 of lengths in every
 * step, 1e-6 m after 50 steps with 300 iterations (a hundredth of what 10 leave, or 1e-7 m), 1e-9
 * J, reaction 1e-3 of the weight at rest. */
static void by_local_global(void **unused)
{
    static const char *const methods[] = {"backward-euler", "implicit-midpoint", "a-search"};
    (void)unused;
    for (int k = 0; k < 6; k++) {
        const char *method = methods[k % 3], *material = k < 3 ? "corotated" : "neo-hookean";
        BrioSim *newton = parse(SOFT, method, "tol: 1e-10", material, material), *sim[2];
        double drift = 0, off[2], first = ledger(newton).total;
        step(newton, 50);
        for (int many = 0; many < 2; many++) {
            sim[many] = parse(SOFT, method,
                              many ? "type: local-global, iterations: 300"
                                   : "type: local-global, iterations: 10",
                              material, material);
            for (int n = 0; n < 50; n++) {
                step(sim[many], 1);
                drift = brio__larger(drift, ledger(sim[many]).rods);
            }
            off[many] = farthest(newton, sim[many]);
        }
        print_message("%s, %s: local/global is off Newton's by %.2g m with 10 iterations, %.2g m "
                      "with 300; constraints hold to %.2g\n",
                      method, material, off[0], off[1], drift);
        assert_true(drift < 1e-10);
        if (k % 3 < 2) /* A-search has other limits of alpha under local/global */
            assert_true(off[1] < 1e-6 && off[1] < 0.01 * off[0] + 1e-7);
        else
            assert_true(fabs(ledger(sim[0]).total - first) < 1e-9);
        for (int many = 0; many < 2; many++) brio_sim_free(sim[many]);
        brio_sim_free(newton);
    }
    BrioSim *rest = parse(SOFT "damping: [{type: ether-drag, k: 0.5}]\n", "backward-euler",
                          "type: local-global, iterations: 10", "corotated", "corotated");
    double force[3], torque[3];
    step(rest, 1500);
    assert_int_equal(brio_sim_reaction(rest, 0, force, torque), BRIO_OK);
    print_message("at rest the hinge bears %.6f N (%.6f)\n", force[1], 8 * g);
    assert_true(fabs(force[1] - 8 * g) < 1e-3 * 8 * g);
    brio_sim_free(rest);
}

/* A falling chain of links whose exact matrix is not definite: conjugate gradients see that when
 * they solve, and the projected one follows, as with a direct solver: no step fails. TOLERANCE 1e-6
 * m: the accuracy of solves. */
static void indefinite(void **unused)
{
    enum { LINKS = 8 };
    (void)unused;
    BrioSim *sim[2];
    char bodies[4096] = "", joints[2048] = "";
    for (int i = 0, b = 0, j = 0; i < LINKS; i++) {
        b += snprintf(bodies + b, sizeof bodies - (size_t)b,
                      "  - {name: link%d, shape: {type: capsule, height: 0.2, radius: 0.03, cells: "
                      "1}, kind: affine, material: {type: affine, E: 1e9, rho: 7800}, transform: "
                      "{rotate: [[0, 0, 1], 90], translate: [%g, 0, 0]}}\n",
                      i, 0.1 + 0.2 * i);
        j += i == 0 ? snprintf(joints, sizeof joints, "  - {type: ball, a: link0, at: [0, 0, 0]}\n")
                    : snprintf(joints + j, sizeof joints - (size_t)j,
                               "  - {type: ball, a: link%d, b: link%d, at: [%g, 0, 0]}\n", i - 1, i,
                               0.2 * i);
    }
    for (int k = 0; k < 2; k++) {
        sim[k] = parse("time: {h: 1/120}\nintegrator: a-search\nsolver: {linear: %s, "
                       "max_halvings: 0}\nbodies:\n%sconstraints:\n%s",
                       k ? "pcg" : "ldlt", bodies, joints);
        step(sim[k], 12);
    }
    print_message("conjugate gradients are off a direct solver by %.2g m\n",
                  farthest(sim[0], sim[1]));
    assert_true(farthest(sim[0], sim[1]) < 1e-6);
    for (int k = 0; k < 2; k++) brio_sim_free(sim[k]);
}

#define SLIDING(name, x)                                                                 \
    "  - {name: " name ", shape: {type: box, size: [0.2, 0.2, 0.2], cells: [1, 1, 1]}, " \
    "material: {type: corotated, E: 1e5, rho: 1000}, velocity: {linear: [1, 0, 0]}, "    \
    "transform: {translate: [" x ", 0.105, 0]}}\n"

/* Of methods that are explicit but for rods, a step is a solve for the rods alone: local/global
 * takes it, too, also where friction acts at its ends. TOLERANCES: 1e-9 m after 50 steps, 1e-6 of
 * the weight. */
static void rods_alone_by_local_global(void **unused)
{
    static const char *const methods[] = {"alpha: 0", "alpha: 1", "points: 2"};
    (void)unused;
    for (int k = 0; k < 3; k++) {
        BrioSim *sim[2];
        double force[2][3], torque[3];
        for (int local = 0; local < 2; local++) {
            sim[local] =
                parse("time: {h: 1/200}\nintegrator: {type: variational, %s}\nsolver: %s\n"
                      "bodies:\n  - {name: chain, shape: {type: line, length: 1, cells: 4}, kind: "
                      "points, material: {type: mass, vertex_mass: 0.5}, fix: [{vertices: "
                      "[0]}]}\nconstraints:\n  - {type: rod, a: [chain, 0], b: [chain, 1]}\n"
                      "  - {type: rod, a: [chain, 1], b: [chain, 2]}\n"
                      "  - {type: rod, a: [chain, 2], b: [chain, 3]}\n"
                      "  - {type: rod, a: [chain, 3], b: [chain, 4]}\n",
                      methods[k], local ? "{type: local-global, iterations: 10}" : "newton");
            step(sim[local], 50);
            assert_int_equal(brio_sim_reaction(sim[local], 0, force[local], torque), BRIO_OK);
        }
        print_message("%s: local/global is off Newton's by %.2g m; the first rod bears %.6f N "
                      "(%.6f)\n",
                      methods[k], farthest(sim[0], sim[1]), force[1][1], force[0][1]);
        assert_true(farthest(sim[0], sim[1]) < 1e-9);
        for (int r = 0; r < 3; r++) assert_true(fabs(force[0][r] - force[1][r]) < 1e-6 * 2 * g);
        for (int local = 0; local < 2; local++) brio_sim_free(sim[local]);
    }
    BrioSim *sim[2];
    for (int local = 0; local < 2; local++) {
        sim[local] =
            parse("time: {h: 1/500}\nintegrator: {type: variational, points: 2}\n"
                  "solver: %s\ncontact: {type: penalty, kappa: 2000, mu: 0.3, dhat: "
                  "0.01}\nbodies:\n" SLIDING("a", "0")
                      SLIDING("b", "0.5") "constraints: [{type: rod, a: [a, 3], b: [b, 3]}]\n"
                                          "obstacles: [{type: plane, normal: [0, 1, 0]}]\n",
                  local ? "{type: local-global, iterations: 10}" : "newton");
        step(sim[local], 50);
    }
    print_message("with friction: local/global is off Newton's by %.2g m\n",
                  farthest(sim[0], sim[1]));
    assert_true(farthest(sim[0], sim[1]) < 1e-9);
    for (int local = 0; local < 2; local++) brio_sim_free(sim[local]);
}

/* ---- stitches --------------------------------------------------------------------------- */

#define SEWN                                                                                    \
    "time: {h: 1/100}\nintegrator: %s\nsolver: {%s}\nbodies:\n"                                 \
    "  - {name: frame, shape: {type: box, size: [1, 0.1, 1], cells: [1, 1, 1]}, kind: affine, " \
    "material: {type: affine, E: 1e8, rho: 1000}, fix: [{box: [[-9, -9, -9], [9, 9, 9]]}]}\n"   \
    "  - {name: load, shape: {type: box, size: [0.2, 0.2, 0.2], cells: [1, 1, 1]}, material: "  \
    "{type: stable-neo-hookean, E: 1e5}, transform: {translate: [0, -0.2, 0]}}\n"               \
    "stitches: [{a: load, b: frame, distance: 0.06, k: 2000%s}]\n"

/* A block sewn to a plate hangs from four stitches: each bears a quarter of its weight. With
 * local/global too. TOLERANCE 1e-6 N of 19.6 N (1e-2 with local/global). */
static void hangs(void **unused)
{
    (void)unused;
    for (int k = 0; k < 2; k++) {
        BrioSim *sim = parse(SEWN, "backward-euler",
                             k ? "type: local-global, iterations: 30" : "tol: 1e-10", "");
        double force[3], sum = 0, error = 0;
        step(sim, 600);
        assert_int_equal(brio_sim_stitches(sim, NULL), 4);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(brio_sim_stitch(sim, i, force), BRIO_OK);
            sum += force[1];
            error = brio__larger(error, fabs(force[1] - 8 * g / 4));
        }
        print_message("four stitches bear %.9f N (%.9f)%s\n", sum, 8 * g,
                      k ? ", local/global" : "");
        assert_true(fabs(sum - 8 * g) < (k ? 1e-2 : 1e-6) && error < 8);
        brio_sim_free(sim);
    }
}

/* Stitches that break: what was in them is dissipated, exactly, and they stay broken. TOLERANCE
 * 1e-10 J. */
static void breaks(void **unused)
{
    (void)unused;
    BrioSim *whole = parse(SEWN, "backward-euler", "tol: 1e-10", "");
    BrioSim *weak = parse(SEWN, "backward-euler", "tol: 1e-10", ", breaking: 15");
    int64_t broken = 0;
    for (int n = 0; n < 200 && !broken; n++) {
        step(whole, 1);
        step(weak, 1);
        brio_sim_stitches(weak, &broken);
    }
    BrioLedger a = ledger(whole), b = ledger(weak);
    print_message("%d stitches broke: %.6f J dissipated, total differs by %.6f J, remainder by "
                  "%.1e J\n",
                  (int)broken, b.dissipated, a.total - b.total, a.remainder - b.remainder);
    assert_true(broken > 0 && b.dissipated > 0);
    assert_true(fabs(a.total - b.total - b.dissipated) < 1e-10);
    assert_true(fabs(a.remainder - b.remainder) < 1e-10);
    BrioSim *resumed = parse(SEWN, "backward-euler", "tol: 1e-10", ", breaking: 15");
    assert_int_equal(brio_sim_save(weak, "test_stitches.state", 1, NULL), BRIO_OK);
    assert_int_equal(brio_sim_restore(resumed, "test_stitches.state", NULL), BRIO_OK);
    remove("test_stitches.state");
    step(weak, 30);
    step(resumed, 30);
    double x[2][24];
    brio_sim_positions(weak, 1, x[0]);
    brio_sim_positions(resumed, 1, x[1]);
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    assert_true(x[0][1] < -0.3); /* it falls */
    brio_sim_free(whole);
    brio_sim_free(weak);
    brio_sim_free(resumed);
}

/* What is sewn is the nearest of all, and of several the first: as when each is tried. */
static void stitches_go_to_the_nearest(void **unused)
{
    (void)unused;
    for (int edges = 0; edges < 2; edges++) {
        BrioSim *sim = parse(
            "bodies:\n  - {name: a, shape: {type: grid, cells_x: 7, cells_z: 9}, material: {type: "
            "hooke, vertex_mass: 1}, deform: {scatter: 0.1}}\n  - {name: b, shape: {type: grid, "
            "cells_x: 8, cells_z: 6}, material: {type: hooke, vertex_mass: 1}, transform: "
            "{translate: [0, 0.1, 0]}}\nstitches: [{a: a, b: b, by: %s}]\n",
            edges ? "edges" : "vertices");
        const BrioBuilder *plans = sim->system->plans;
        const BrioBodyPlan *a = &plans->body[0], *b = &plans->body[1];
        int first = edges ? 2 : 1;
        if (!edges) assert_int_equal(plans->stitch_count, a->mesh->vertex_count);
        for (int64_t i = 0; i < plans->stitch_count; i++) {
            const BrioStitchPlan *s = &plans->stitch[i];
            double x[12], w[4], best = INFINITY;
            for (int k = 0; k < first; k++)
                memcpy(x + 3 * k, a->x + 3 * s->vertex[k], 3 * sizeof *x);
            for (int64_t t = 0; t < b->mesh->triangle_count; t++)
                for (int side = 0; side < (edges ? 3 : 1); side++) {
                    const int32_t *n = b->mesh->triangle + 3 * t;
                    int32_t p = n[side], q = n[(side + 1) % 3];
                    const int32_t corner[3] = {edges ? BRIO_MIN(p, q) : n[0],
                                               edges ? BRIO_MAX(p, q) : n[1], n[2]};
                    for (int k = 0; k < 4 - first; k++)
                        memcpy(x + 3 * (first + k), b->x + 3 * corner[k], 3 * sizeof *x);
                    double d =
                        edges ? brio__closest_edge_edge(x, w) : brio__closest_vertex_face(x, w);
                    bool is_it =
                        !memcmp(s->vertex + first, corner, (size_t)(4 - first) * sizeof *corner);
                    if (is_it) assert_true(d == s->rest);
                    if (is_it && !edges) assert_true(d < best); /* none before it is as near */
                    best = fmin(best, d);
                }
            assert_true(best == s->rest);
        }
        brio_sim_free(sim);
    }
}

/* ---- what cannot be --------------------------------------------------------------------- */

#define TWO                           \
    BAR("a", "0.2", "0.2", "0.2", "") \
    BAR("b", "0.2", "0.2", "0.2", "transform: {translate: [0.3, 0, 0]}")
static const struct {
    const char *text, *sentence;
} refused[] = {
    {"{type: hinge, a: a, b: b, at: [0, 0, 0]}", "needs an axis"},
    {"{type: hinge, a: a, b: a, at: [0, 0, 0], axis: [0, 1, 0]}", "joins two bodies"},
    {"{type: hinge, a: a, at: [0, 0, 0], axis: [0, 1, 0], lower: 10}", "lower"},
    {"{type: hing, a: a, at: [0, 0, 0]}", "did you mean \"hinge\""},
    {"{type: ball, a: a, b: c, at: [0, 0, 0]}", "no body \"c\""},
    {"{type: point-to-point, a: [a, 0], b: [b, 0]}", "does not hold in the initial state"},
    {"{type: distance-range, a: [a, 0], b: [b, 0]}", "needs a minimum"},
    {"{type: ball, a: {body: a, vertex: 1, point: [0, 0, 0]}, b: b}", "not both"},
    {"{type: hinge, a: a, axis: [0, 1, 0]}", "Or give at: [x, y, z]"},
    {"{type: rod, a: {body: a, vertx: 1}}", "did you mean \"vertex\""},
    {"{type: ball, a: a, at: [0, 0, 0]}\nstitches:\n  - {a: a, b: b, vertices: []}",
     "there are no vertices"},
    {"{type: ball, a: a, at: [0, 0, 0]}\nstitches:\n  - {a: a, b: b, by: edges, vertices: [0]}",
     "stitches by edges take no vertices"},
    {"{type: ball, a: a, b: {body: world, vertex: 3}}", "the world has no vertices"},
    {"{type: volume, a: a, b: b}", "remove b"},
};

static void refusals(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < BRIO_COUNT(refused); i++) {
        char text[2048];
        BrioSim *sim = NULL;
        BrioError error = {0};
        int length =
            snprintf(text, sizeof text, "bodies:\n" TWO "constraints:\n  - %s\n", refused[i].text);
        assert_int_not_equal(brio_sim_parse(text, (size_t)length, "test", &sim, &error), BRIO_OK);
        print_message("%d:%d: %s\n", error.line, error.column, error.message);
        assert_non_null(strstr(error.message, refused[i].sentence));
        assert_true(error.line > 0 || strstr(refused[i].text, "solver"));
    }
}

#define SHEET                                                                                      \
    "  - {name: sheet, kind: shell, shape: {type: grid, width: 1, depth: 1, cells_x: 2, cells_z: " \
    "2}, material: {type: membrane-neo-hookean, E: 1e5, nu: 0.3, rho: 1000, thickness: 1e-3}}\n"
#define LINE                                                                                     \
    "  - {name: line, shape: {type: line, length: 1, cells: 2}, material: {type: hooke, k: 10, " \
    "vertex_mass: 0.1}, transform: {translate: [0, 1, 0]}}\n"

/* A sheet that hangs by a point of an edge, four fifths of the way to one of its vertices: the
 * point stays where it is. TOLERANCE 1e-8 m: what a constraint is off by, by Newton's method. */
static void sheet_hangs_by_a_point(void **unused)
{
    (void)unused;
    BrioSim *sim =
        parse("time: {h: 1/100}\nintegrator: backward-euler\nsolver: {tol: 1e-10}\nbodies:\n" SHEET
              "constraints:\n  - {type: ball, a: sheet, at: [-0.4, 0, -0.5]}\n");
    double x[27], off = 0;
    int a = -1, b = -1;
    brio_sim_positions(sim, 0, x);
    for (int v = 0; v < 9; v++) {
        if (fabs(x[3 * v + 2] + 0.5) > 1e-9) continue;
        if (fabs(x[3 * v] + 0.5) < 1e-9) a = v;
        if (fabs(x[3 * v]) < 1e-9) b = v;
    }
    assert_true(a >= 0 && b >= 0);
    for (int k = 0; k < 40; k++) {
        step(sim, 1);
        brio_sim_positions(sim, 0, x);
        for (int r = 0; r < 3; r++) {
            double point = 0.8 * x[3 * a + r] + 0.2 * x[3 * b + r];
            off = brio__larger(off, fabs(point - (r == 0 ? -0.4 : r == 1 ? 0 : -0.5)));
        }
    }
    print_message("the point is off by %.1e m, the vertex next to it has moved by %.3f m\n", off,
                  x[3 * b + 1]);
    assert_true(off < 1e-8);
    assert_true(x[3 * b + 1] < -0.01);
    brio_sim_free(sim);
}

/* Surfaces and lines carry points, not axes; what is not on them is rejected. */
static void refusals_of_surfaces(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *sentence;
    } no[] = {
        {"{type: ball, a: sheet, at: [-0.4, 0.01, -0.5]}",
         "is 0.01 m away from the surface of body \"sheet\""},
        {"{type: ball, a: line, at: [0.25, 1, 0]}",
         "has no surface to carry a point: name a vertex"},
        {"{type: hinge, a: sheet, at: [0, 0, 0], axis: [0, 1, 0]}",
         "nothing in it carries an axis"},
        {"{type: volume, a: line}", "\"line\" has no surface"},
        {"{type: ball, a: sheet, b: line}", "a ball needs a place"},
    };
    BrioSim *sim = NULL;
    for (size_t i = 0; i < BRIO_COUNT(no); i++) {
        char text[2048];
        BrioError error = {0};
        int length = snprintf(text, sizeof text, "bodies:\n" SHEET LINE "constraints:\n  - %s\n",
                              no[i].text);
        assert_int_not_equal(brio_sim_parse(text, (size_t)length, "test", &sim, &error), BRIO_OK);
        if (!strstr(error.message, no[i].sentence)) fail_msg("%s", error.message);
    }
    BrioConstraintDef def;
    BrioError error = {0};
    assert_int_equal(brio_default_constraint("hing", &def, &error), BRIO_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "did you mean \"hinge\""));
    error = (BrioError){0};
    assert_int_equal(brio_default_constraint("hinge", &def, &error), BRIO_OK);
    assert_int_equal(brio_constraint_set(&def, "upper", 2, &error), BRIO_OK);
    assert_int_equal(brio_constraint_set(&def, "uper", 2, &error), BRIO_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "no field \"uper\": there are "));
    assert_non_null(strstr(error.message, "upper"));
    error = (BrioError){0};
    def.type = "hing";
    assert_int_equal(brio_constraint_set(&def, "upper", 2, &error), BRIO_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "did you mean \"hinge\""));
}

/* Every allocation of a scene with joints and stitches and its first step fails once. */
static void failing_memory(void **unused)
{
    (void)unused;
    static const char text[] =
        "integrator: backward-euler\nbodies:\n" TWO
        "constraints:\n  - {type: hinge, a: a, at: [0, 0, 0], axis: [0, 1, 0], upper: 3}\n"
        "  - {type: volume, a: b}\nstitches: [{a: a, b: b, by: edges}]\n";
    assert_true(fail_each_allocation(text) > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives),
        cmocka_unit_test(light_and_heavy),
        cmocka_unit_test(orders),
        cmocka_unit_test(worst_is_told),
        cmocka_unit_test(double_pendulum),
        cmocka_unit_test(reaction),
        cmocka_unit_test(four_bar),
        cmocka_unit_test(momenta),
        cmocka_unit_test(energy),
        cmocka_unit_test(limits),
        cmocka_unit_test(volume),
        cmocka_unit_test(door),
        cmocka_unit_test(pushed),
        cmocka_unit_test(indefinite),
        cmocka_unit_test(by_local_global),
        cmocka_unit_test(rods_alone_by_local_global),
        cmocka_unit_test(hangs),
        cmocka_unit_test(breaks),
        cmocka_unit_test(stitches_go_to_the_nearest),
        cmocka_unit_test(refusals),
        cmocka_unit_test(failing_memory),
        cmocka_unit_test(sheet_hangs_by_a_point),
        cmocka_unit_test(refusals_of_surfaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
