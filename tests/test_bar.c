/* The bar that moves along x only, and the planes that nothing passes: energies against values by
 * hand, the bar against the wall next to a plain one-dimensional program, vertices thrown at walls,
 * what may not be asked for, the columns of energy.csv. */
#include "program.h"

#include "system/system.h"
#include "memory.h"
#include "mesh/mesh.h"
#include "sim/sim.h"

#include <float.h>
#include <math.h>

static void near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("found %.17g, expected %.17g within %g", found, expected, tolerance);
}

/* ---- energies by hand ------------------------------------------------------------------- */

static void bar_by_hand(void **state)
{
    (void)state;
    const BrioEnergy *energy = brio__energy("neo-hookean-1d");
    double E = 40, X[6] = {1, 5, 5, 1.5, 5, 5}, rest[16], g[6], H[36];
    energy->rest_shape(X, 1, NAN, rest);
    /* F = 2: psi = 10 (3 - 2 ln 2), times L = 1/2; psi' = 20 (2 - 1/2) = 30;
     * psi''/L = 20 (1 + 1/4) 2 = 50 */
    double x[6] = {-1, 7, 3, 0, 9, 4};
    near(brio__energy_one(energy, &E, rest, x, g, H, true), 5 * (3 - 2 * log(2)), 1e-14);
    const double expected[6] = {-30, 0, 0, 30, 0, 0};
    for (int k = 0; k < 6; k++) near(g[k], expected[k], 1e-13);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            near(H[6 * i + j], i % 3 || j % 3 ? 0 : i == j ? 50 : -50, 1e-13);
    x[3] = -1; /* F = 0 */
    assert_true(isinf(brio__energy_one(energy, &E, rest, x, NULL, NULL, false)));
    x[3] = -2;
    assert_true(isinf(brio__energy_one(energy, &E, rest, x, NULL, NULL, false)));
}

static void barrier_by_hand(void **state)
{
    (void)state;
    const BrioEnergy *energy = brio__energy("plane-ipc");
    double kappa = 3e4, dhat = 0.02, params[3] = {kappa, dhat, 0}, rest[16], g[3], H[9];
    const double n[3] = {2.0 / 3, -1.0 / 3, 2.0 / 3}, p[3] = {0.5, -1, 2};
    const double X[9] = {0, 0, 0, p[0], p[1], p[2], n[0], n[1], n[2]};
    energy->rest_shape(X, 1, NAN, rest);
    static const double distances[] = {0.01, 0.02, 0.04, 0.002, 1e-9};
    for (size_t k = 0; k < BRIO_COUNT(distances); k++) {
        double d = distances[k], x[3], b = 0, slope = 0, curvature = 0;
        for (int r = 0; r < 3; r++) x[r] = p[r] + d * n[r];
        x[0] += n[1], x[1] -= n[0]; /* next to the point: the distance is the same */
        if (d == 0.01) {            /* half of dhat */
            b = kappa * dhat * dhat / 4 * log(2);
            slope = -kappa * dhat * (log(2) + 0.5);
            curvature = kappa * (5 + 2 * log(2));
        } else if (d < dhat) {
            b = -kappa * (d - dhat) * (d - dhat) * log(d / dhat);
            slope = -kappa * (2 * (d - dhat) * log(d / dhat) + (d - dhat) * (d - dhat) / d);
            curvature = -kappa * (2 * log(d / dhat) + 4 * (d - dhat) / d -
                                  (d - dhat) * (d - dhat) / (d * d));
        }
        /* relative: of a distance between points of size 2 */
        double blur = 8 * DBL_EPSILON / fmin(d, dhat);
        near(brio__energy_one(energy, params, rest, x, g, H, true), b, kappa * dhat * dhat * blur);
        for (int r = 0; r < 3; r++) {
            near(g[r], slope * n[r], 3 * blur * (fabs(slope) + kappa * dhat));
            for (int s = 0; s < 3; s++)
                near(H[3 * r + s], curvature * n[r] * n[s], 6 * blur * (curvature + kappa));
        }
        print_message("barrier at d = %g m: %g J, %g N, %g N/m\n", d, b, slope, curvature);
    }
    for (int k = 0; k < 2; k++) { /* on the plane and behind it */
        double x[3] = {p[0] - k * n[0], p[1] - k * n[1], p[2] - k * n[2]};
        assert_true(isinf(brio__energy_one(energy, params, rest, x, NULL, NULL, false)));
    }
}

/* ---- simulations ------------------------------------------------------------------------ */

static BrioSim *parse(const char *text)
{
    BrioSim *sim = NULL;
    BrioError error = {0};
    if (brio_sim_parse(text, strlen(text), "text.yaml", &sim, &error) != BRIO_OK)
        fail_msg("%d:%d: %s", error.line, error.column, error.message);
    return sim;
}

static BrioLedger ledger_of(BrioSim *sim)
{
    BrioLedger ledger;
    assert_int_equal(brio_sim_ledger(sim, &ledger), BRIO_OK);
    return ledger;
}

static void step(BrioSim *sim)
{
    if (brio_sim_step(sim, NULL) != BRIO_OK)
        fail_msg("t = %g s: %s", brio_sim_time(sim), brio_sim_reason(sim));
}

/* The same bar as a plain program: 31 numbers, a tridiagonal matrix. */
enum { CELLS = 30 };
typedef struct Plain {
    double E, h, x[CELLS + 1], v[CELLS + 1], m[CELLS + 1];
} Plain;

static double plain_potential(const Plain *b, const double *x, double *g, double *diagonal,
                              double *side)
{
    const double L = 1.0 / CELLS, dhat = 0.01, kappa = 1e6;
    double P = 0;
    for (int i = 0; i <= CELLS; i++) {
        double d = x[i], out = d < dhat ? d - dhat : 0, ln = d < dhat ? log(d / dhat) : 0;
        if (d <= 0) return INFINITY;
        P -= kappa * out * out * ln;
        g[i] = -kappa * (2 * out * ln + out * out / d);
        diagonal[i] = -kappa * (2 * ln + 4 * out / d - out * out / (d * d));
    }
    for (int i = 0; i < CELLS; i++) {
        double F = (x[i + 1] - x[i]) / L;
        if (F <= 0) return INFINITY;
        P += L * b->E / 4 * (F * F - 1 - 2 * log(F));
        double f = b->E / 2 * (F - 1 / F), k = b->E / 2 * (1 + 1 / (F * F)) / L;
        g[i] -= f, g[i + 1] += f;
        diagonal[i] += k, diagonal[i + 1] += k, side[i] = -k;
    }
    return P;
}

/* argmin 1/2 |x - target|^2_M + s P(x) by Newton, to the end of what rounding allows. */
static void plain_minimise(const Plain *b, const double *target, double s, double *x)
{
    double g[CELLS + 1], A[CELLS + 1], side[CELLS], p[CELLS + 1], y[CELLS + 1], scrap[3][CELLS + 1];
    double last = INFINITY;
    for (int round = 0; round < 200; round++) {
        double value = s * plain_potential(b, x, g, A, side), slope = 0, size = 0;
        for (int i = 0; i <= CELLS; i++) {
            value += b->m[i] / 2 * (x[i] - target[i]) * (x[i] - target[i]);
            g[i] = b->m[i] * (x[i] - target[i]) + s * g[i];
            A[i] = b->m[i] + s * A[i];
        }
        for (int i = 0; i < CELLS; i++) side[i] *= s;
        memcpy(p, g, sizeof p);
        for (int i = 1; i <= CELLS; i++) { /* elimination */
            double w = side[i - 1] / A[i - 1];
            A[i] -= w * side[i - 1];
            p[i] -= w * p[i - 1];
        }
        for (int i = CELLS; i >= 0; i--)
            p[i] = (p[i] - (i < CELLS ? side[i] * p[i + 1] : 0)) / A[i];
        for (int i = 0; i <= CELLS; i++)
            slope -= g[i] * p[i], size = brio__larger(size, fabs(p[i]));
        double t = 1;
        for (;; t /= 2) {
            for (int i = 0; i <= CELLS; i++) y[i] = x[i] - t * p[i];
            double next = s * plain_potential(b, y, scrap[0], scrap[1], scrap[2]);
            for (int i = 0; i <= CELLS; i++)
                next += b->m[i] / 2 * (y[i] - target[i]) * (y[i] - target[i]);
            if (next <= value + 1e-4 * t * slope || (size < 1e-9 && isfinite(next))) break;
        }
        memcpy(x, y, sizeof y);
        if (size < 1e-14 || (size < 1e-10 && size >= last)) return;
        last = size;
    }
    fail_msg("the plain program did not converge");
}

static void plain_step(Plain *b, bool trapezoidal)
{
    double target[CELLS + 1], next[CELLS + 1], g[CELLS + 1] = {0}, scrap[2][CELLS + 1];
    if (trapezoidal) plain_potential(b, b->x, g, scrap[0], scrap[1]);
    for (int i = 0; i <= CELLS; i++)
        target[i] = b->x[i] + b->h * b->v[i] - b->h * b->h / 4 * g[i] / b->m[i];
    memcpy(next, b->x, sizeof next);
    plain_minimise(b, target, b->h * b->h / (trapezoidal ? 4 : 1), next);
    for (int i = 0; i <= CELLS; i++) {
        b->v[i] =
            trapezoidal ? 2 * (next[i] - b->x[i]) / b->h - b->v[i] : (next[i] - b->x[i]) / b->h;
        b->x[i] = next[i];
    }
}

#define BAR_WALL                                                                                 \
    "time: {h: %s}\ngravity: [0, 0, 0]\nintegrator: %s\nsolver: {tol: 1e-10}\ncontact: {type: "  \
    "ipc, dhat: 0.01, kappa: 1e6}\n"                                                             \
    "bodies:\n  - name: bar\n    shape: {type: line, length: 1, cells: 30}\n    kind: bar1d\n"   \
    "    material: {type: neo-hookean-1d, E: %g, rho: 10}\n    transform: {translate: [0.1, 0, " \
    "0]}\n"                                                                                      \
    "    velocity: {linear: [-1, 0, 0]}\nobstacles:\n  - {type: plane, normal: [1, 0, 0]}\n"

static BrioSim *bar_wall(const char *h, const char *integrator, double E)
{
    char text[1024];
    snprintf(text, sizeof text, BAR_WALL, h, integrator, E);
    return parse(text);
}

/* TOLERANCE 1e-9 m/s: Newton's last step is below 1e-10 m/s and converges quadratically; round-off
 * of the barrier remains. */
static void beside_a_plain_program(void **state)
{
    (void)state;
    static const struct {
        const char *h, *integrator;
        double E, length;
        int steps;
    } runs[] = {{"1/300", "backward-euler", 1000, 1.0 / 300, 1500},
                {"1/30", "backward-euler", 1e5, 1.0 / 30, 150},
                {"1/300", "backward-euler", 10, 1.0 / 300, 1500},
                {"1/3000", "trapezoidal", 1000, 1.0 / 3000, 1500}};
    for (size_t k = 0; k < BRIO_COUNT(runs); k++) {
        BrioSim *sim = bar_wall(runs[k].h, runs[k].integrator, runs[k].E);
        Plain plain = {.E = runs[k].E, .h = runs[k].length};
        for (int i = 0; i <= CELLS; i++) {
            plain.x[i] = 0.1 + i / 30.0;
            plain.v[i] = -1;
            plain.m[i] = i % CELLS ? 1.0 / 3 : 1.0 / 6; /* half masses at the ends */
        }
        for (int n = 0; n < runs[k].steps; n++) {
            step(sim);
            plain_step(&plain, !strcmp(runs[k].integrator, "trapezoidal"));
        }
        double v[3 * (CELLS + 1)], p = 0, worst = 0;
        brio_sim_velocities(sim, 0, v);
        for (int i = 0; i <= CELLS; i++) {
            p += plain.m[i] * plain.v[i];
            worst = brio__larger(worst, fabs(v[3 * i] - plain.v[i]));
        }
        print_message("%s, h = %s s, E = %g N: speed %.9f m/s, plain program %.9f m/s, largest "
                      "difference of a vertex %.2g m/s\n",
                      runs[k].integrator, runs[k].h, runs[k].E, ledger_of(sim).momentum[0] / 10,
                      p / 10, worst);
        assert_true(worst < 1e-9);
        near(ledger_of(sim).momentum[0], p, 1e-8);
        brio_sim_free(sim);
    }
}

/* The scene that ships: energy never rises (the potential is convex), the wall is never reached,
 * the bar comes back, y and z stay zero, and the number of threads changes nothing. */
static void the_bar_bounces(void **state)
{
    (void)state;
    double x[2][3 * (CELLS + 1)], v[2][3 * (CELLS + 1)];
    for (int run = 0; run < 2; run++) {
        BrioSim *sim = NULL;
        brio_set_threads(run + 1);
        assert_int_equal(brio_sim_load("bar-wall", &sim, NULL), BRIO_OK);
        BrioLedger l = ledger_of(sim);
        near(l.kinetic, 5, 1e-13);
        near(l.momentum[0], -10, 1e-13);
        near(l.min_distance, 0.1, 1e-15);
        assert_true(fabs(l.elastic) < 1e-12 && l.contact == 0 && l.contacts == 0);
        double min = INFINITY, max = 0;
        int touched = 0;
        for (int n = 0; n < 1500; n++) {
            step(sim);
            BrioLedger now = ledger_of(sim);
            min = fmin(min, now.min_distance);
            max = brio__larger(max, now.contact);
            touched += now.contacts > 0;
            assert_true(now.min_distance > 0 && now.total < l.total + 1e-9);
            assert_true((now.contacts > 0) == (now.contact > 0) && now.contacts <= 1);
            near(now.potential, now.elastic + now.contact, 1e-12);
            l = now;
        }
        brio_sim_positions(sim, 0, x[run]);
        brio_sim_velocities(sim, 0, v[run]);
        brio_sim_free(sim);
        print_message("nearest to the wall %g m, up to %g J in the barrier, %d steps in contact, "
                      "leaves with %.6f m/s\n",
                      min, max, touched, l.momentum[0] / 10);
        assert_true(min < 0.01 && max > 0 && touched > 10 && l.momentum[0] > 5);
    }
    brio_set_threads(0);
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    assert_memory_equal(v[0], v[1], sizeof v[0]);
    for (int i = 0; i <= CELLS; i++)
        for (int r = 1; r < 3; r++) assert_true(x[0][3 * i + r] == 0 && v[0][3 * i + r] == 0);
}

/* One vertex, thrown at an oblique wall at up to kilometres a second: with a step that would carry
 * it far beyond. */
static void thrown_vertex(void **state)
{
    (void)state;
    static const char *const integrators[] = {"backward-euler", "trapezoidal",
                                              "linearly-implicit-euler"};
    static const double speeds[] = {0.01, 1, 30, 3000};
    for (size_t i = 0; i < BRIO_COUNT(integrators); i++)
        for (size_t k = 0; k < BRIO_COUNT(speeds); k++) {
            char text[1024];
            snprintf(text, sizeof text,
                     "time: {h: 1/30}\ngravity: [0, -9.8, 0]\nintegrator: %s\ncontact: {type: ipc, "
                     "dhat: 0.01}\nbodies:\n"
                     "  - shape: {type: line, cells: 1}\n    material: {type: hooke, k: 1e-9, "
                     "vertex_mass: 0.1}\n    fix: [{vertices: [1]}]\n"
                     "    velocity: {linear: [%g, %g, 0]}\n"
                     "obstacles:\n  - {type: plane, point: [0, -0.1, 0], normal: [1, 2, 0]}\n  - "
                     "{type: plane, point: [0, 0.1, 0], normal: [0, -1, 0]}\n",
                     integrators[i], -speeds[k], -speeds[k]);
            BrioSim *sim = parse(text);
            double min = INFINITY, x[6];
            int contacts = 0;
            for (int n = 0; n < 60; n++) {
                step(sim);
                BrioLedger l = ledger_of(sim);
                brio_sim_positions(sim, 0, x);
                double first = (x[0] + 2 * (x[1] + 0.1)) / sqrt(5), second = 0.1 - x[1];
                assert_true(first > 0 && second > 0);
                near(l.min_distance, fmin(first, second), 8 * DBL_EPSILON * (1 + fabs(x[0])));
                min = fmin(min, l.min_distance);
                contacts += l.contacts;
            }
            print_message("%s, %g m/s: nearest %g m, %d contacts\n", integrators[i], speeds[k], min,
                          contacts);
            assert_true(contacts > 0 && min < 0.01);
            brio_sim_free(sim);
        }
}

/* A bar that stands on a wall under gravity along x settles where the barrier carries its weight,
 * and its elements those above them; gravity across does nothing. */
static void gravity_along_and_across(void **state)
{
    (void)state;
    static const char text[] =
        "time: {h: 1/30}\ngravity: [-2, -9.8, 4]\nsolver: {tol: 1e-10}\ncontact: {type: ipc, dhat: "
        "0.01, kappa: 1e5}\nbodies:\n"
        "  - shape: {type: line, cells: 2}\n    material: {type: neo-hookean-1d, E: 500, rho: 8}\n"
        "    transform: {translate: [0.1, 1, -3]}\nobstacles: [{type: plane, normal: [1, 0, 0]}]\n";
    BrioSim *sim = parse(text);
    double x[9], v[9];
    /* m g times the height of the middle; nothing of y = 1 and z = -3 */
    near(ledger_of(sim).gravity, 8 * 2 * 0.6, 1e-13);
    for (int n = 0; n < 3; n++) step(sim);
    brio_sim_positions(sim, 0, x);
    brio_sim_velocities(sim, 0, v);
    for (int i = 0; i < 3; i++) {
        assert_true(x[3 * i + 1] == 1 && x[3 * i + 2] == -3 && v[3 * i + 1] == 0 &&
                    v[3 * i + 2] == 0);
        near(v[3 * i], -2 * 0.1, 1e-8); /* falls freely along x */
    }
    assert_int_equal(brio_sim_settle(sim, NULL), BRIO_OK);
    brio_sim_positions(sim, 0, x);
    double d = x[0], force = 1e5 * (2 * (d - 0.01) * log(d / 0.01) + (d - 0.01) * (d - 0.01) / d);
    near(force, 8 * 2, 1e-6);
    /* half of the upper element's mass is its end's */
    static const double carried[] = {2 * (4 + 2), 2 * 2};
    for (int e = 0; e < 2; e++) {
        double F = (x[3 * (e + 1)] - x[3 * e]) / 0.5;
        near(-250 * (F - 1 / F), carried[e], 1e-6);
        assert_true(x[3 * e + 1] == 1 && x[3 * e + 2] == -3);
    }
    print_message("the bar stands at %g m with %g N\n", d, force);
    brio_sim_free(sim);
}

/* ---- what is rejected -------------------------------------------------------------------- */

static void integrators_that_do_not_fit(void **state)
{
    (void)state;
    for (int i = 0; brio_integrator_at(i); i++) {
        const BrioIntegrator *integrator = brio_integrator_at(i);
        char text[1024];
        BrioSim *sim = NULL;
        BrioError error = {0};
        snprintf(text, sizeof text, BAR_WALL, "1/300", integrator->name, 1000.0);
        BrioStatus status = brio_sim_parse(text, strlen(text), "text.yaml", &sim, &error);
        if (integrator->traits & BRIO_END_IS_SOLVED) {
            assert_int_equal(status, BRIO_OK);
            brio_sim_free(sim);
            continue;
        }
        assert_int_equal(status, BRIO_ERROR_UNSUPPORTED);
        assert_int_equal(error.line, 3);
        assert_int_equal(error.column, 13);
        assert_string_equal(error.path, "integrator");
        assert_non_null(strstr(error.message, integrator->name));
        assert_non_null(strstr(
            error.message, "the solver kept free of intersections; use one of backward-euler, "));
        print_message("%s\n", error.message);
    }
    BrioSystem *system; /* and from C */
    BrioState *first;
    BrioBuilder *builder;
    BrioError error = {0};
    BrioBodyDef def = brio_default_body();
    BrioMesh *mesh;
    double values[BRIO_MAX_VALUES], zero[3] = {0, 0, 0}, up[3] = {5, 0, 0};
    brio_fields_defaults(brio_shape_fields("line"), values);
    assert_int_equal(brio_mesh_shape("line", values, &mesh, NULL), BRIO_OK);
    def.name = "bar";
    def.mesh = mesh;
    def.translate[0] = 1;
    assert_int_equal(brio_default_material("neo-hookean-1d", &def.material, NULL), BRIO_OK);
    for (int again = 0; again < 3; again++) {
        assert_int_equal(brio_builder_create(&builder, NULL), BRIO_OK);
        assert_int_equal(brio_builder_body(builder, &def, NULL, &error), BRIO_OK);
        assert_int_equal(brio_builder_plane(builder, NULL, zero, zero, &error), BRIO_ERROR_INPUT);
        assert_int_equal(brio_builder_plane(builder, NULL, zero, up, &error), BRIO_OK);
        if (again == 2)
            brio_builder_contact(builder,
                                 &(BrioContactDef){.dhat = 0.01, .kappa = -1, .epsv = 1e-3});
        BrioStatus finished = brio_builder_finish(builder, &system, &first, &error);
        brio_builder_free(builder);
        assert_int_equal(finished, again == 2 ? BRIO_ERROR_INPUT : BRIO_OK);
        if (again == 2) {
            assert_string_equal(
                error.message,
                "contact with dhat = 0.01 m and kappa = -1 N/m: both must be positive");
            continue;
        }
        BrioSimDef sim_def = brio_default_sim(again ? "backward-euler" : "symplectic-euler");
        BrioSim *created = NULL;
        if (again) first->q[0] = -0.5; /* as no builder would leave it */
        assert_int_equal(brio_sim_create(system, first, &sim_def, &created, &error),
                         again ? BRIO_ERROR_INPUT : BRIO_ERROR_UNSUPPORTED);
        if (again)
            assert_string_equal(error.message,
                                "vertex 0 of body \"bar\" and obstacle \"obstacle0\" are not "
                                "apart in the initial state: start in front of the obstacle");
    }
    brio_mesh_free(mesh);
}

static void set_from_outside(void **state)
{
    (void)state;
    BrioSim *sim = bar_wall("1/300", "backward-euler", 1000);
    double x[3 * (CELLS + 1)], v[3 * (CELLS + 1)];
    brio_sim_positions(sim, 0, x);
    brio_sim_velocities(sim, 0, v);
    for (int i = 0; i <= CELLS; i++) x[3 * i] -= 0.095;
    assert_int_equal(brio_sim_set_positions(sim, 0, x, NULL), BRIO_OK);
    near(ledger_of(sim).min_distance, 0.005, 1e-14);
    near(ledger_of(sim).contact, 1e6 * 0.005 * 0.005 * log(2), 1e-9);
    assert_int_equal(ledger_of(sim).contacts, 1);
    for (int i = 0; i <= CELLS; i++) x[3 * i] -= 0.01; /* behind the wall */
    assert_int_equal(brio_sim_set_positions(sim, 0, x, NULL), BRIO_STEP_REJECTED);
    for (int i = 0; i <= CELLS; i++) x[3 * i] += 0.5;
    x[4] = 1e-3; /* across */
    assert_int_equal(brio_sim_set_positions(sim, 0, x, NULL), BRIO_ERROR_ARGUMENT);
    v[3 * CELLS + 2] = 1;
    assert_int_equal(brio_sim_set_velocities(sim, 0, v, NULL), BRIO_ERROR_ARGUMENT);
    near(ledger_of(sim).min_distance, 0.005, 1e-14);
    near(ledger_of(sim).momentum[0], -10, 1e-13);
    assert_true(ledger_of(sim).momentum[2] == 0);
    brio_sim_free(sim);
}

/* Whoever limits a step is named: the vertex and the obstacle, or the element of the bar. */
static void limits_have_names(void **state)
{
    (void)state;
    BrioSim *sim = parse(
        "gravity: [0, 0, 0]\ncontact: ipc\nbodies:\n  - {name: other, shape: {type: line, cells: "
        "3}, material: {type: hooke, rho: 1}}\n"
        "  - {name: bar, shape: {type: line, cells: 4}, material: neo-hookean-1d}\nobstacles:\n"
        "  - {type: plane, point: [-1, 0, 0], normal: [1, 0, 0]}\n  - {type: plane, point: [3, 0, "
        "0], normal: [-1, 0, 0]}\n");
    BrioSolver *solver = sim->stepper->solver;
    const BrioSystem *system = sim->system;
    BrioLimit limit;
    char text[160];
    brio__system_positions(system, sim->state, sim->state->q, 0, solver->x);
    memset(solver->dx, 0, 3 * (size_t)system->vertex_count * sizeof(double));
    assert_true(brio__max_step(brio__potential_elements(solver->potential), sim->state->param,
                               solver->x, solver->dx, &limit) == 1 &&
                !limit.term);
    solver->dx[3 * 8] = 4; /* the last vertex of the bar: 2 m from the wall at x = 3 */
    near(brio__max_step(brio__potential_elements(solver->potential), sim->state->param, solver->x,
                        solver->dx, &limit),
         0.9 * 2 / 4, 1e-15);
    brio__limit_text(system, &limit, text, sizeof text);
    assert_string_equal(text, "vertex 4 of body \"bar\" and obstacle \"obstacle1\"");
    solver->dx[3 * 8] = -1; /* its element is 0.25 m long */
    near(brio__max_step(brio__potential_elements(solver->potential), sim->state->param, solver->x,
                        solver->dx, &limit),
         0.9 * 0.25, 1e-15);
    brio__limit_text(system, &limit, text, sizeof text);
    assert_string_equal(text, "bar element 3 of body \"bar\" (vertices 3 4)");
    brio_sim_free(sim);
}

/* ---- memory ----------------------------------------------------------------------------- */

/* Every allocation of a scene with a wall fails once; steps in contact after the first allocate
 * nothing. */
static void memory_of_contact(void **state)
{
    (void)state;
    char text[1024];
    snprintf(text, sizeof text, BAR_WALL, "1/300", "backward-euler", 1000.0);
    int64_t k = 0;
    for (bool failed = true; failed; k++) {
        Memory memory;
        BrioSim *sim = NULL;
        BrioError error = {0};
        memory_start(&memory, k, false);
        BrioStatus status = brio_sim_parse(text, strlen(text), "text.yaml", &sim, &error);
        failed = status != BRIO_OK;
        if (failed) {
            assert_int_equal(status, BRIO_ERROR_MEMORY);
        } else {
            memory.fail_at = -1;
            step(sim);
            int64_t before = memory.calls;
            for (int n = 0; n < 60; n++) step(sim);
            assert_int_equal(ledger_of(sim).contacts, 1);
            assert_int_equal(memory.calls, before);
        }
        brio_sim_free(sim);
        assert_int_equal(memory.live, 0);
        brio_set_allocator(NULL);
    }
    print_message("each of %lld allocations failed once\n", (long long)k - 1);
    assert_true(k > 50);
}

/* ---- results ---------------------------------------------------------------------------- */

/* Column `name` of the given row (0: the first step) as text. */
static void column(const char *csv, const char *name, int row, char *text, size_t size)
{
    int at = 0;
    size_t length = strlen(name);
    const char *p = csv;
    while (strncmp(p, name, length) || (p[length] != ',' && p[length] != '\n')) {
        p = strchr(p, ',');
        assert_non_null(p);
        p++, at++;
    }
    p = strchr(csv, '\n') + 1;
    for (int i = 0; i < row; i++) p = strchr(p, '\n') + 1;
    for (int i = 0; i < at; i++) p = strchr(p, ',') + 1;
    snprintf(text, size, "%.*s", (int)strcspn(p, ",\n"), p);
}

static void columns_of_results(void **state)
{
    (void)state;
    char contact[64], contacts[64], distance[64];
    const Outcome *o = BRIO("run", "bar-wall", "--set", "time.end=0.2", "-o", "with", "--quiet");
    assert_int_equal(o->code, 0);
    char *csv = read_all("with/energy.csv", NULL);
    assert_non_null(csv);
    for (int row = 0; row <= 60; row += 60) {
        column(csv, "contact", row, contact, sizeof contact);
        column(csv, "contacts", row, contacts, sizeof contacts);
        column(csv, "min_distance", row, distance, sizeof distance);
        print_message("row %d: contact %s J, contacts %s, min_distance %s m\n", row, contact,
                      contacts, distance);
        assert_string_equal(contacts, row ? "1" : "0");
        double d = atof(distance);
        near(d, row ? 0.005 : 0.1, row ? 0.005 : 1e-15);
        near(atof(contact), row ? -1e6 * (d - 0.01) * (d - 0.01) * log(d / 0.01) : 0, 1e-12);
    }
    free(csv);
    write_text("free.yaml", "time: {end: 1/30}\nbodies:\n  - {shape: {type: line, cells: 2}, "
                            "material: neo-hookean-1d}\n");
    o = BRIO("run", "free.yaml", "-o", "without", "--quiet");
    assert_int_equal(o->code, 0);
    csv = read_all("without/energy.csv", NULL);
    assert_non_null(csv);
    column(csv, "contact", 1, contact, sizeof contact);
    column(csv, "contacts", 1, contacts, sizeof contacts);
    column(csv, "min_distance", 1, distance, sizeof distance);
    assert_string_equal(contact, "0");
    assert_string_equal(contacts, "0");
    assert_string_equal(distance, "");
    free(csv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bar_by_hand),
        cmocka_unit_test(barrier_by_hand),
        cmocka_unit_test(beside_a_plain_program),
        cmocka_unit_test(the_bar_bounces),
        cmocka_unit_test(thrown_vertex),
        cmocka_unit_test(gravity_along_and_across),
        cmocka_unit_test(integrators_that_do_not_fit),
        cmocka_unit_test(set_from_outside),
        cmocka_unit_test(limits_have_names),
        cmocka_unit_test(memory_of_contact),
        cmocka_unit_test(columns_of_results),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
