/* Automatic steps (docs/adaptive.md): formulas of BDF for any step size, errors
 * that follow the tolerance, instants that are met to the bit, the same bits when a run is
 * continued and for any number of threads, rejected steps, and what is rejected. */
#include "program.h"
// clang-format off
#include "memory.h"
#include "sim/control.h"
#include <math.h>
// clang-format on

/* A point of 1 kg on a spring of no length, 40 N/m: q(t) = cos(w t) q_0. */
static const char spring[] = "time: {%s}\n"
                             "gravity: [0, 0, 0]\n"
                             "integrator: %s\n"
                             "solver: {tol: 1e-12}\n"
                             "bodies:\n"
                             "  - kind: springs\n"
                             "    shape: {type: line, length: 0.5, cells: 1}\n"
                             "    material: {type: hooke, k: 40, vertex_mass: 1}\n"
                             "    velocity: {angular: [0, 0, 3]}\n";

static const char fall[] = "time: {h: auto, tol: %g, end: 0.4, fps: 25}\n"
                           "integrator: %s\n"
                           "contact: {type: %s}\n"
                           "bodies:\n"
                           "  - shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}\n"
                           "    material: {type: neo-hookean, E: 1e5, nu: 0.3, rho: 1000}\n"
                           "    transform: {translate: [0, 0.15, 0], rotate: [[0, 0, 1], 20]}\n"
                           "obstacles: [{type: plane, point: [0, 0, 0], normal: [0, 1, 0]}]\n";

static BrioSim *make(const char *format, ...) __attribute__((format(printf, 1, 2)));
static BrioSim *make(const char *format, ...)
{
    char text[2048], message[1024];
    BrioSim *sim = NULL;
    BrioError error = {0};
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (brio_sim_parse(text, strlen(text), "test", &sim, &error) != BRIO_OK) {
        brio_error_text(&error, message, sizeof message);
        fail_msg("%s", message);
    }
    return sim;
}

/* The sentence with which it is rejected. */
static const char *refused(const char *time, const char *integrator, const char *more)
{
    static char message[1024];
    char text[2048];
    BrioSim *sim = NULL;
    BrioError error = {0};
    snprintf(text, sizeof text, spring, time, integrator);
    strncat(text, more, sizeof text - strlen(text) - 1);
    assert_int_not_equal(brio_sim_parse(text, strlen(text), "test", &sim, &error), BRIO_OK);
    assert_null(sim);
    brio_error_text(&error, message, sizeof message);
    return message;
}

static void expect(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("\"%s\" is not in \"%s\"", part, text);
}

/* Positions at a time, from rk4 in short steps. */
static void reference(double time, double x[6])
{
    BrioSim *sim = make(spring, "h: 1/10000", "rk4");
    int steps = (int)lround(time * 10000);
    for (int k = 0; k < steps; k++) assert_int_equal(brio_sim_step(sim, NULL), BRIO_OK);
    brio_sim_positions(sim, 0, x);
    brio_sim_free(sim);
}

static double distance(BrioSim *sim, const double right[6])
{
    double x[6], most = 0;
    brio_sim_positions(sim, 0, x);
    for (int i = 0; i < 6; i++) most = brio__larger(most, fabs(x[i] - right[i]));
    return most;
}

/* ---- formulas ------------------------------------------------------------------------------- */

/* Steps whose lengths go up and down by up to a half, to the same end: halving all of them divides
 * the error by 2^p. The bound leaves 0.3 of the exponent to the terms behind the first. */
static void orders_of_varying_steps(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        int order;
        double spread;
    } method[] = {{"bdf2", 2, 0.4}, {"bdf3", 3, 0.15}, {"bdf4", 4, 0.1}};
    double right[6];
    reference(1, right);
    for (size_t m = 0; m < BRIO_COUNT(method); m++) {
        double error[2];
        for (int fine = 0; fine < 2; fine++) {
            int steps = fine ? 400 : 200;
            BrioSim *sim = make(spring, "h: 1/100", method[m].name);
            double sum = 0, length[400];
            for (int k = 0; k < steps; k++)
                sum += length[k] = 1 + method[m].spread * sin(40.0 * k / steps);
            for (int k = 0; k < steps; k++)
                assert_int_equal(brio_sim_step_by(sim, length[k] / sum, NULL), BRIO_OK);
            error[fine] = distance(sim, right);
            brio_sim_free(sim);
        }
        double slope = log2(error[0] / error[1]);
        if (slope < method[m].order - 0.3)
            fail_msg("%s: errors %g and %g, order %.2f", method[m].name, error[0], error[1], slope);
    }
}

/* ---- tolerance ------------------------------------------------------------------------------ */

static double error_of(const char *integrator, double tol, const double right[6], int *rejected)
{
    char time[80];
    snprintf(time, sizeof time, "h: auto, tol: %g, fps: 4", tol);
    BrioSim *sim = make(spring, time, integrator);
    while (brio_sim_time(sim) < 1 - 1e-9) {
        assert_int_equal(brio_sim_step(sim, NULL), BRIO_OK);
        BrioSteps steps = brio_sim_steps(sim);
        assert_true(steps.error <= tol * (1 + 1e-12));
        *rejected += steps.rejected;
    }
    double error = distance(sim, right);
    brio_sim_free(sim);
    return error;
}

/* A step has the error tol, and there are tol^(-1/(p+1)) of them: the error at the end is
 * tol^(p/(p+1)). A quarter of the exponent is left to chance. */
static void errors_follow_the_tolerance(void **unused)
{
    (void)unused;
    static const char *const names[] = {"backward-euler",
                                        "symplectic-euler",
                                        "bdf2",
                                        "bdf3",
                                        "trapezoidal",
                                        "newmark",
                                        "verlet",
                                        "tr-bdf2",
                                        "sdirk2",
                                        "implicit-midpoint",
                                        "generalized-alpha",
                                        "theta",
                                        "rk4",
                                        "heun",
                                        "a-1"};
    double right[6];
    reference(1, right);
    for (size_t i = 0; i < BRIO_COUNT(names); i++) {
        int order = brio_integrator(names[i])->order, rejected = 0;
        double tol = order > 2 ? 1e-7 : 1e-4;
        double coarse = error_of(names[i], tol, right, &rejected);
        double fine = error_of(names[i], tol / 100, right, &rejected);
        double slope = log10(coarse / fine) / 2, expected = order / (order + 1.0);
        if (!(slope > 0.75 * expected - 0.05) || !(coarse < 0.25))
            fail_msg("%s: errors %g and %g, exponent %.2f instead of %.2f", names[i], coarse, fine,
                     slope, expected);
    }
}

/* ---- events --------------------------------------------------------------------------------- */

/* Falls 0.09 m, lands on an edge: steps become shorter there, and all instants k/25 are met.
 * Methods of first order err in free fall, too. */
static void lands(const char *integrator, const char *contact, double tol, double shorter)
{
    BrioSim *sim = make(fall, tol, integrator, contact);
    double flight = 0, impact = INFINITY, instant = 1;
    int rejected = 0, met = 0;
    while (brio_sim_time(sim) < 0.4) {
        double before = brio_sim_time(sim);
        assert_int_equal(brio_sim_step(sim, NULL), BRIO_OK);
        double now = brio_sim_time(sim);
        BrioSteps steps = brio_sim_steps(sim);
        assert_true(steps.h <= 1.0 / 25 && steps.h >= steps.h_min);
        assert_true(fabs(now - before - steps.h) < 1e-15);
        assert_true(now <= instant / 25); /* none is passed */
        if (now == instant / 25) instant++, met++;
        if (before > 0.03 && now < 0.121) flight = brio__larger(flight, steps.h);
        if (before > 0.12) impact = fmin(impact, steps.h);
        rejected += steps.rejected;
    }
    assert_int_equal(met, 10);
    assert_true(rejected > 0);
    if (!(impact < flight / shorter))
        fail_msg("%s, %s: %g s in flight, %g s at the impact", integrator, contact, flight, impact);
    brio_sim_free(sim);
}

static void steps_are_short_where_a_body_lands(void **unused)
{
    (void)unused;
    lands("bdf2", "ipc", 1e-3, 4);
    lands("backward-euler", "ipc", 2e-3, 2);
    lands("a-search", "ipc", 2e-3, 2);
    lands("bdf2", "penalty", 1e-3, 4);
}

/* The shortest step counts whatever its error is, also where the pieces up to the next instant are
 * a little longer than it (1/60 s and 1/62 s). */
static void the_shortest_step_counts(void **unused)
{
    (void)unused;
    static const char *const times[] = {"h: auto, tol: 1e-12, h_min: 1/50, h_max: 1/10",
                                        "h: auto, tol: 1e-12, h_min: 1/62, h_max: 1/10"};
    for (size_t i = 0; i < BRIO_COUNT(times); i++) {
        BrioSim *sim = make(spring, times[i], "backward-euler");
        for (int k = 0; k < 5; k++) {
            assert_int_equal(brio_sim_step(sim, NULL), BRIO_OK);
            BrioSteps steps = brio_sim_steps(sim);
            assert_true(steps.error > steps.tol);
            assert_true(fabs(steps.h - 0.02) < 0.0034); /* 1/30 s in two */
        }
        brio_sim_free(sim);
    }
}

/* ---- the same bits -------------------------------------------------------------------------- */

static void the_same_bits(void **unused)
{
    (void)unused;
    static const char *const names[] = {"bdf2", "a-search", "trapezoidal", "theta"};
    static const char *const laws[] = {"ipc", "ipc", "ipc", "penalty"};
    for (size_t i = 0; i < BRIO_COUNT(names); i++) {
        char scene[2048];
        snprintf(scene, sizeof scene, fall, 1e-3, names[i], laws[i]);
        write_text("s.yaml", scene);
        assert_int_equal(
            BRIO("run", "s.yaml", "-o", "one", "--force", "--quiet", "--threads", "1")->code, 0);
        assert_int_equal(
            BRIO("run", "s.yaml", "-o", "two", "--force", "--quiet", "--threads", "2")->code, 0);
        assert_true(same_file("one/energy.csv", "two/energy.csv"));
        assert_true(same_file("one/motion.bin", "two/motion.bin"));
        assert_int_equal(
            BRIO("run", "s.yaml", "-o", "part", "--force", "--quiet", "--set", "time.end=0.17")
                ->code,
            0);
        assert_int_equal(BRIO("run", "s.yaml", "-o", "part", "--quiet", "--resume")->code, 0);
        assert_true(same_file("one/energy.csv", "part/energy.csv"));
        assert_true(same_file("one/motion.bin", "part/motion.bin"));
    }
    size_t size;
    char *json = read_all("part/run.json", &size), *table = read_all("one/energy.csv", &size);
    expect(json, "\"rejected_steps\"");
    expect(json, "\"h_mean\"");
    expect(table, ",h,rejected");
    free(json);
    free(table);
}

/* ---- what is rejected ------------------------------------------------------------------------ */

static void refusals(void **unused)
{
    (void)unused;
    expect(refused("h: auto", "static", ""), "cannot estimate the error of a step");
    expect(refused("h: auto", "pbd-verlet", ""), "set time.h to a number, or use one of");
    expect(refused("h: auto", "blend", ""), "backward-euler");
    expect(refused("h: 1/30, tol: 1e-3", "bdf2", ""), "tol is for automatic steps: use h: auto");
    expect(refused("h: auto, h_min: 1", "bdf2", ""), "longer than the longest");
    expect(refused("h: auto, tol: 0", "bdf2", ""), "time.tol");
    BrioSim *sim = make(spring, "h: auto", "bdf2");
    assert_int_not_equal(brio_sim_set_integrator(sim, "static", NULL, NULL), BRIO_OK);
    expect(brio_sim_reason(sim), "cannot estimate the error of a step");
    assert_int_equal(brio_sim_set_integrator(sim, "implicit-midpoint", NULL, NULL), BRIO_OK);
    for (int k = 0; k < 5; k++) assert_int_equal(brio_sim_step(sim, NULL), BRIO_OK);
    brio_sim_free(sim);
    write_text("lg.yaml", "time: {h: auto}\nsolver: local-global\nbodies:\n"
                          "  - {shape: {type: box, cells: [1, 1, 1]}, material: jelly}\n");
    const Outcome *o = BRIO("run", "lg.yaml", "-o", "lg");
    assert_int_equal(o->code, 2);
    expect(o->err, "solver: newton");
}

/* ---- memory --------------------------------------------------------------------------------- */

/* Each allocation of loading a scene, of three steps and of a change of the method fails once. */
static void memory_may_run_out(void **unused)
{
    (void)unused;
    char text[2048];
    Memory memory = {.failed = true};
    int failures = 0;
    snprintf(text, sizeof text, spring, "h: auto", "theta");
    for (int64_t k = 0; memory.failed; k++) {
        BrioSim *sim = NULL;
        memory_start(&memory, k, false);
        BrioStatus status = brio_sim_parse(text, strlen(text), "test", &sim, NULL);
        for (int i = 0; i < 3 && status == BRIO_OK; i++) status = brio_sim_step(sim, NULL);
        if (status == BRIO_OK) status = brio_sim_set_integrator(sim, "bdf3", NULL, NULL);
        if (status == BRIO_OK) status = brio_sim_step(sim, NULL);
        if (!memory.failed) assert_int_equal(status, BRIO_OK);
        failures += status != BRIO_OK;
        brio_sim_free(sim);
        assert_int_equal(memory.live, 0);
    }
    brio_set_allocator(NULL);
    assert_true(failures > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_of_varying_steps),
        cmocka_unit_test(errors_follow_the_tolerance),
        cmocka_unit_test(steps_are_short_where_a_body_lands),
        cmocka_unit_test(the_shortest_step_counts),
        cmocka_unit_test(the_same_bits),
        cmocka_unit_test(refusals),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
