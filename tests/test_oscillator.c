/* Every integrator's own code on the damped oscillator m x'' + c x' + k x = 0, read off as a matrix
 * column by column: compared with the closed forms, and its spectral radius. */
#include "system/system.h"
#include "integrate/tableau.h"
#include "sim/sim.h"

#include <float.h>
#include <string.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

enum { MAX = 10 }; /* q, v and the history */

/* Two points on springs of no length; the spring between them is of no strength. */
static BrioSim *oscillator(const BrioSimDef *def, double m, double k)
{
    static double points[6] = {0, 0, 0, 1, 0, 0};
    static int32_t edge[2] = {0, 1};
    const BrioMesh pair = {.vertex_count = 2, .edge_count = 1, .x = points, .edge = edge};
    BrioBuilder *builder;
    BrioSystem *system;
    BrioState *state;
    BrioSim *sim;
    BrioError error = {0};
    BrioBodyDef body = brio_default_body();
    body.name = "points";
    body.mesh = &pair;
    assert_int_equal(brio_default_material("hooke", &body.material, NULL), BRIO_OK);
    assert_int_equal(brio_material_set(&body.material, "k", 1e-200, NULL), BRIO_OK);
    assert_int_equal(brio_material_set(&body.material, "vertex_mass", m, NULL), BRIO_OK);
    assert_int_equal(brio_builder_create(&builder, NULL), BRIO_OK);
    assert_int_equal(brio_builder_body(builder, &body, NULL, &error), BRIO_OK);
    for (int32_t v = 0; v < 2; v++)
        assert_int_equal(brio_builder_attach(builder, 0, v, points + 3 * v, k, NULL, &error),
                         BRIO_OK);
    assert_int_equal(brio_builder_finish(builder, &system, &state, &error), BRIO_OK);
    brio_builder_free(builder);
    if (brio_sim_create(system, state, def, &sim, &error) != BRIO_OK) fail_msg("%s", error.message);
    return sim;
}

typedef struct Oscillator {
    double m, c, k, h;
} Oscillator;

/* The matrix of one step on (q, v, history...), n x n; returns n. */
static int matrix(const BrioSimDef *given, Oscillator o, double *A)
{
    BrioSimDef def = *given;
    def.h = o.h;
    if (o.c > 0) {
        def.damping_count = 1;
        assert_int_equal(brio_default_damping("ether-drag", &def.damping[0], NULL), BRIO_OK);
        assert_int_equal(brio_damping_set(&def.damping[0], "k", o.c, NULL), BRIO_OK);
    }
    BrioSim *sim = oscillator(&def, o.m, o.k);
    BrioState *state = brio_sim_state(sim);
    int n = 2 + (int)state->history;
    assert_true(n <= MAX);
    for (int j = 0; j < n; j++) {
        memset(state->v, 0, 6 * sizeof(double));
        memset(state->past, 0, (size_t)(6 * state->history) * sizeof(double));
        for (int i = 0; i < 6; i++) state->q[i] = i == 3;
        *(j == 0 ? state->q : j == 1 ? state->v : state->past + 6 * (j - 2)) = 1;
        state->history_used = state->history;
        state->last_h = o.h;
        if (brio_sim_step(sim, NULL) != BRIO_OK)
            fail_msg("%s: %s", def.integrator, brio_sim_reason(sim));
        for (int i = 0; i < n; i++)
            A[i * n + j] = *(i == 0 ? state->q : i == 1 ? state->v : state->past + 6 * (i - 2));
    }
    brio_sim_free(sim);
    return n;
}

static BrioSimDef with(const char *integrator, const char *name, double value)
{
    BrioSimDef def = brio_default_sim(integrator);
    if (name)
        assert_int_equal(
            brio_fields_set(brio_integrator(integrator)->fields, def.values, name, &value, NULL),
            BRIO_OK);
    return def;
}

static BrioSimDef with_two(const char *integrator, const char *name, double value,
                           const char *second, double other)
{
    BrioSimDef def = with(integrator, name, value);
    assert_int_equal(
        brio_fields_set(brio_integrator(integrator)->fields, def.values, second, &other, NULL),
        BRIO_OK);
    return def;
}

/* The largest |eigenvalue|: |A^(2^p)|^(1/2^p), in the variables q, h v, h^2 a that make the entries
 * comparable. */
static double spectral_radius(const double *A, int n, const double *scale)
{
    double B[MAX * MAX], C[MAX * MAX], logarithm = 0, weight = 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) B[i * n + j] = A[i * n + j] * scale[i] / scale[j];
    for (int p = 0; p < 60; p++, weight /= 2) {
        double size = 0;
        for (int i = 0; i < n * n; i++) size = brio__larger(size, fabs(B[i]));
        if (size == 0) return 0;
        logarithm += weight * log(size);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                C[i * n + j] = 0;
                for (int l = 0; l < n; l++)
                    C[i * n + j] += B[i * n + l] / size * (B[l * n + j] / size);
            }
        memcpy(B, C, sizeof B);
    }
    return exp(logarithm);
}

/* ---- closed forms ----------------------------------------------------------------------- */

static void multiply(const double *A, const double *B, double *C)
{
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) C[2 * i + j] = A[2 * i] * B[j] + A[2 * i + 1] * B[2 + j];
}

/* X with (I - a Z) X = B, for 2 x 2 matrices. */
static void solve(double a, const double *Z, const double *B, double *X)
{
    double p = 1 - a * Z[0], q = -a * Z[1], r = -a * Z[2], s = 1 - a * Z[3], det = p * s - q * r;
    const double inverse[4] = {s / det, -q / det, -r / det, p / det};
    multiply(inverse, B, X);
}

/* I + Z sum b_i K_i with K_i = I + Z sum a_ij K_j: a Runge-Kutta method on z' = L z with
 * Z = h L. */
static void runge_kutta(const BrioTableau *t, Oscillator o, double *R)
{
    const double Z[4] = {0, o.h, -o.h * o.k / o.m, -o.h * o.c / o.m};
    double K[BRIO_STAGES_MAX][4], sum[4] = {0}, image[4];
    for (int i = 0; i < t->stages; i++) {
        double known[4] = {1, 0, 0, 1};
        for (int j = 0; j < i; j++) {
            multiply(Z, K[j], image);
            for (int r = 0; r < 4; r++) known[r] += t->A[i * t->stages + j] * image[r];
        }
        solve(t->A[i * t->stages + i], Z, known, K[i]);
        for (int r = 0; r < 4; r++) sum[r] += t->b[i] * K[i][r];
    }
    multiply(Z, sum, image);
    for (int r = 0; r < 4; r++) R[r] = (r % 3 == 0) + image[r];
}

/* Newmark's formulas with the balance (1-am) m a' + am m a + c w + k y = 0 between the ends, solved
 * for a': rows q', v', a'; columns q, v, a. */
static void alpha_method(double am, double af, double beta, double gamma, Oscillator o, double *A)
{
    double h = o.h, lhs = (1 - am) * o.m + (1 - af) * (o.c * gamma * h + o.k * beta * h * h);
    const double q_known[3] = {1, h, h * h * (0.5 - beta)}, v_known[3] = {0, 1, h * (1 - gamma)};
    for (int j = 0; j < 3; j++) {
        double a = -(am * o.m * (j == 2) + o.c * ((1 - af) * v_known[j] + af * (j == 1)) +
                     o.k * ((1 - af) * q_known[j] + af * (j == 0))) /
                   lhs;
        A[j] = q_known[j] + beta * h * h * a;
        A[3 + j] = v_known[j] + gamma * h * a;
        A[6 + j] = a;
    }
}

/* Newmark's first acceleration is -(c v + k q)/m. */
static void newmark(double beta, double gamma, Oscillator o, double *A)
{
    double full[9];
    alpha_method(0, 0, beta, gamma, o, full);
    for (int i = 0; i < 2; i++) {
        A[2 * i] = full[3 * i] - full[3 * i + 2] * o.k / o.m;
        A[2 * i + 1] = full[3 * i + 1] - full[3 * i + 2] * o.c / o.m;
    }
}

/* Entries in the scale of the largest of their kind: q, h v, h^2 a. */
static double difference(const double *A, const double *B, int n, double h)
{
    double worst = 0, size = 0, scale[3] = {1, h, h * h};
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            worst = brio__larger(worst, fabs(A[i * n + j] - B[i * n + j]) * scale[i] / scale[j]);
            size = brio__larger(size, fabs(B[i * n + j]) * scale[i] / scale[j]);
        }
    return worst / size;
}

static const Oscillator cases[] = {
    {2, 0, 50, 0.1}, {2, 3, 50, 0.1}, {0.3, 0.7, 1e3, 0.05}, {1, 0.2, 4, 1e-3}, {1, 5, 1e4, 0.5}};

/* TOLERANCE 1e-12: round-off of a few dozen operations, in the scale of the largest entry. */
static void compare(const char *label, const BrioSimDef *def, Oscillator o, const double *exact,
                    int size)
{
    double A[MAX * MAX];
    int n = matrix(def, o, A);
    assert_int_equal(n, size);
    double off = difference(A, exact, n, o.h);
    if (!(off < 1e-12))
        fail_msg("%s at h = %g, m = %g, c = %g, k = %g: the matrix is off by %.2e", label, o.h, o.m,
                 o.c, o.k, off);
}

static void closed_forms(void **unused)
{
    (void)unused;
    int checked = 0;
    for (size_t i = 0; i < BRIO_COUNT(cases); i++) {
        Oscillator o = cases[i];
        double exact[9];
        BrioSimDef def;
        for (int t = 0; brio__tableau_at(t); t++) { /* those that are integrators of their own */
            const BrioTableau *tableau = brio__tableau_at(t);
            const char *name =
                !strcmp(tableau->name, "midpoint") ? "implicit-midpoint" : tableau->name;
            if (!brio_integrator(name)) continue;
            runge_kutta(tableau, o, exact);
            def = brio_default_sim(name);
            compare(name, &def, o, exact, 2);
            checked++;
        }
        for (int form = 0; form < 2; form++)
            /* on linear systems both forms are I + Z ((1-theta) I + theta R) */
            for (int k = 0; k <= 4; k++) {
                double theta = k / 4.0;
                runge_kutta(
                    &(BrioTableau){"theta", 2, {0, 0, 1 - theta, theta}, {1 - theta, theta}, {0}},
                    o, exact);
                def = with_two("theta", "theta", theta, "form", form);
                compare(form ? "theta, outer" : "theta, inner", &def, o, exact, 2);
                checked++;
            }
        static const double pairs[][2] = {{0.25, 0.5}, {0.3, 0.6}, {1.0 / 6, 0.5}, {1, 1}};
        for (size_t k = 0; k < BRIO_COUNT(pairs); k++) {
            newmark(pairs[k][0], pairs[k][1], o, exact);
            def = with_two("newmark", "beta", pairs[k][0], "gamma", pairs[k][1]);
            compare("newmark", &def, o, exact, 2);
            checked++;
        }
        for (int k = 0; k <= 4; k++) {
            double rho = k / 4.0, am = (2 * rho - 1) / (rho + 1), af = rho / (rho + 1);
            alpha_method(am, af, (1 - am + af) * (1 - am + af) / 4, 0.5 - am + af, o, exact);
            def = with("generalized-alpha", "rho_inf", rho);
            compare("generalized-alpha", &def, o, exact, 3);
            double alpha = -k / 12.0;
            alpha_method(0, -alpha, (1 - alpha) * (1 - alpha) / 4, 0.5 - alpha, o, exact);
            def = with("hht-alpha", "alpha", alpha);
            compare("hht-alpha", &def, o, exact, 3);
            checked += 2;
        }
        const BrioTableau bathe = {.name = "bathe",
                                   .stages = 3,
                                   .A = {0, 0, 0, 0.25, 0.25, 0, 1. / 3, 1. / 3, 1. / 3},
                                   .b = {1. / 3, 1. / 3, 1. / 3}};
        runge_kutta(&bathe, o, exact); /* with rho_inf = 0 and gamma = 1/2 */
        def = brio_default_sim("bathe");
        compare("bathe", &def, o, exact, 2);
        runge_kutta(brio__tableau("midpoint"), o, exact);
        def = brio_default_sim("average-vector-field");
        compare("average-vector-field", &def, o, exact, 2);
        checked += 2;
        runge_kutta(brio__tableau("backward-euler"), o, exact);
        def = brio_default_sim("linearly-implicit-euler");
        compare("linearly-implicit-euler", &def, o, exact, 2);
        /* Verlet: v' takes drag at v and at the guess v + h a; newmark with beta = 0 is the same */
        double a[2] = {-o.k / o.m, -o.c / o.m}, h = o.h;
        for (int j = 0; j < 2; j++) {
            double q = (j == 0) + h * (j == 1) + h * h / 2 * a[j], guess = (j == 1) + h * a[j];
            exact[j] = q;
            exact[2 + j] = (j == 1) + h / 2 * (a[j] - (o.k * q + o.c * guess) / o.m);
        }
        def = brio_default_sim("verlet");
        compare("verlet", &def, o, exact, 2);
        def = with("newmark", "beta", 0);
        compare("newmark, explicit", &def, o, exact, 2);
        checked += 3;
    }
    print_message("%d matrices as their closed forms\n", checked);
}

/* ---- what is left of fast vibrations, and growth ---------------------------------------- */

static double radius_of(const BrioSimDef *def, double h_omega)
{
    double A[MAX * MAX], scale[MAX] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}; /* with h = 1 */
    int n = matrix(def, (Oscillator){1, 0, h_omega * h_omega, 1}, A);
    return spectral_radius(A, n, scale);
}

/* TOLERANCE 1e-4: at h omega = 1e7 the double root rho_inf is split by some 1/(h omega), the triple
 * root 0 by its power 2/3. */
static void radius_at_infinity(void **unused)
{
    (void)unused;
    for (int k = 0; k <= 5; k++) {
        BrioSimDef def = with("generalized-alpha", "rho_inf", k / 5.0);
        double radius = radius_of(&def, 1e7);
        print_message("generalized-alpha, rho_inf = %.1f: spectral radius %.6f at infinity\n",
                      k / 5.0, radius);
        assert_true(fabs(radius - k / 5.0) < 1e-4);
    }
    for (int k = 0; k <= 5; k++) { /* [Noh2019], for any gamma */
        BrioSimDef def = with_two("bathe", "rho_inf", k / 5.0, "gamma", 0.3 + 0.1 * k);
        double radius = radius_of(&def, 1e7);
        print_message("bathe, rho_inf = %.1f: spectral radius %.6f at infinity\n", k / 5.0, radius);
        assert_true(fabs(radius - k / 5.0) < 1e-4);
    }
    for (int k = 0; k <= 4; k++) {
        double alpha = -k / 12.0, exact[9], unit[3] = {1, 1, 1};
        BrioSimDef def = with("hht-alpha", "alpha", alpha);
        alpha_method(0, -alpha, (1 - alpha) * (1 - alpha) / 4, 0.5 - alpha,
                     (Oscillator){1, 0, 1e14, 1}, exact);
        double radius = radius_of(&def, 1e7);
        double closed = spectral_radius(exact, 3, unit);
        double known = (1 + alpha) / (1 - alpha);
        print_message("hht-alpha, alpha = %.4f: spectral radius %.6f at infinity, (1 + alpha)/(1 - "
                      "alpha) = %.6f\n",
                      alpha, radius, known);
        assert_true(fabs(radius - closed) < 1e-4 && fabs(radius - known) < 1e-4);
    }
}

/* Unconditionally stable methods do not grow at any step; BDF3 and BDF4 do, and by no more than
 * docs/integrators.md says. */
static void growth(void **unused)
{
    (void)unused;
    static const char *const stable[] = {"backward-euler",
                                         "implicit-midpoint",
                                         "trapezoidal",
                                         "theta",
                                         "newmark",
                                         "generalized-alpha",
                                         "hht-alpha",
                                         "bdf2",
                                         "sdirk2",
                                         "tr-bdf2",
                                         "linearly-implicit-euler",
                                         "bathe",
                                         "average-vector-field"};
    for (size_t i = 0; i < BRIO_COUNT(stable); i++)
        for (double x = 1e-3; x < 1e4; x *= 1.5) {
            BrioSimDef def = brio_default_sim(stable[i]);
            double radius = radius_of(&def, x);
            if (!(radius <= 1 + 1e-9))
                fail_msg("%s grows by %.3e at h omega = %g", stable[i], radius - 1, x);
        }
    static const struct {
        const char *name;
        double percent, at; /* what docs/integrators.md says */
    } growing[] = {{"bdf3", 4.6, 1.14}, {"bdf4", 19.1, 1.86}};
    for (size_t i = 0; i < BRIO_COUNT(growing); i++) {
        double max = 0, at = 0, first = 0, last = 0;
        BrioSimDef def = brio_default_sim(growing[i].name);
        for (double x = 0.01; x < 100; x *= 1.01) {
            double radius = radius_of(&def, x);
            if (radius > max) max = radius, at = x;
            if (radius > 1 + 1e-6 && first == 0) first = x;
            if (radius > 1 + 1e-6) last = x;
        }
        print_message("%s: undamped oscillations grow for h omega from %.3f to %.3f, at most by "
                      "%.2f %% a step, at %.3f\n",
                      growing[i].name, first, last, 100 * (max - 1), at);
        assert_true(fabs(100 * (max - 1) - growing[i].percent) < 0.1 &&
                    fabs(at - growing[i].at) < 0.02);
    }
}

/* A-1 with steps of h, h/2 and h/4 at random, as halved steps are. It keeps the energy with the
 * mass m (1 + z^2), z^2 = h^2 k/m (integrate/decoupled.c), and changes of the step must not pump
 * it: were shorter steps to start from the same velocity, it would grow by 1e10 in 500 steps at
 * z = 2, by 1e38 at z = 4. TOLERANCE: 4/3, what a shorter step may add. */
static void changing_steps(void **unused)
{
    (void)unused;
    static const double z[] = {0.1, 1, 2, 4, 10, 100};
    for (size_t i = 0; i < BRIO_COUNT(z); i++) {
        BrioSimDef def = brio_default_sim("a-1");
        BrioRandom random = {7};
        double k = z[i] * z[i], max = 0;
        def.h = 1;
        BrioSim *sim = oscillator(&def, 1, k);
        BrioState *state = brio_sim_state(sim);
        state->q[0] = 1;
        for (int n = 0; n < 500; n++) {
            sim->h = ldexp(1, -(int)(3 * brio__random(&random)));
            assert_int_equal(brio_sim_step(sim, NULL), BRIO_OK);
            max = brio__larger(max,
                               state->v[0] * state->v[0] / (k + k * k) + state->q[0] * state->q[0]);
        }
        print_message("a-1, h omega = %g, steps of h, h/2, h/4: energy up to %.3f of the first\n",
                      z[i], max);
        assert_true(max < 4. / 3);
        brio_sim_free(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(closed_forms),
                                       cmocka_unit_test(radius_at_infinity),
                                       cmocka_unit_test(growth), cmocka_unit_test(changing_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
