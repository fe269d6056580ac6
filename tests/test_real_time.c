/* What the real-time scenes rest on: first positions that are pulled and scattered, and energies
 * that a-search keeps on solves that end early, from initial states that are out of shape. */
#include "scene/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

static BrioSim *make(const char *settings, const char *body, BrioScene **scene)
{
    char text[2048];
    BrioSim *sim = NULL;
    BrioError error = {0};
    int length = snprintf(text, sizeof text,
                          "time: {h: 1/30}\ngravity: [0, 0, 0]\n%s\nbodies:\n  - {%s, material: "
                          "{type: corotated, E: 1e6, nu: 0.3, rho: 1000}}\n",
                          settings, body);
    if (brio__scene_parse(text, (size_t)length, "test", scene, &error) != BRIO_OK ||
        brio__scene_sim(*scene, &sim, &error) != BRIO_OK)
        fail_msg("%s", error.message);
    return sim;
}

/* First positions of a bunny that is deformed so; free them. */
static double *first(const char *deform, int64_t *vertices)
{
    char body[256];
    BrioScene *scene;
    snprintf(body, sizeof body, "shape: {type: figure}%s%s", deform[0] ? ", deform: " : "", deform);
    BrioSim *sim = make("", body, &scene);
    *vertices = sim->system->body[0].count;
    double *x = malloc(3 * (size_t)*vertices * sizeof *x);
    brio_sim_positions(sim, 0, x);
    brio_sim_free(sim);
    brio__scene_free(scene);
    return x;
}

static void initial_positions(void **unused)
{
    (void)unused;
    int64_t n;
    double *rest = first("", &n);
    double *scattered = first("{scatter: 0.2}", &n);
    double *again = first("{scatter: 0.2, seed: 1}", &n);
    double *other = first("{scatter: 0.2, seed: 2}", &n);
    double *pulled = first("{pull: {sphere: [[0.2, 0.6, 0], 0.3], by: [0.1, 0.2, 0.3]}}", &n);
    double mean = 0, square = 0, max = 0, wrong = 0;
    size_t bytes = 3 * (size_t)n * sizeof *rest;
    assert_memory_equal(scattered, again, bytes);
    assert_int_not_equal(memcmp(scattered, other, bytes), 0);
    for (int64_t k = 0; k < 3 * n; k++) {
        double d = scattered[k] - rest[k];
        assert_true(fabs(d) <= 0.2);
        mean += d / (double)(3 * n);
        square += d * d / (double)(3 * n);
        const double *X = rest + k / 3 * 3;
        const double r = hypot(hypot(X[0] - 0.2, X[1] - 0.6), X[2]) / 0.3;
        const double fraction = r < 1 ? (1 - r * r) * (1 - r * r) : 0;
        wrong =
            brio__larger(wrong, fabs(pulled[k] - rest[k] - fraction * 0.1 * (double)(k % 3 + 1)));
        max = brio__larger(max, fabs(pulled[k] - rest[k]));
    }
    print_message("scattered: mean %.4f m, mean square %.5f m2 (uniform: 0, %.5f); pulled: by up "
                  "to %.3f m, off by %.1e m\n",
                  mean, square, 0.04 / 3, max, wrong);
    assert_true(fabs(mean) < 4 * 0.2 / sqrt(9.0 * (double)n) &&
                fabs(square / (0.04 / 3) - 1) < 0.05);
    assert_true(wrong < 1e-15 && max > 0.1);
    double *all[] = {rest, scattered, again, other, pulled};
    for (size_t i = 0; i < BRIO_COUNT(all); i++) free(all[i]);
}

/* A bent horn: the forces of the initial state are mostly those of vibrations that a step does not
 * resolve. They must not become motion. */
static void out_of_shape(void **unused)
{
    (void)unused;
    double max = 0;
    BrioScene *scene;
    BrioLedger first, now;
    BrioSim *sim = make("integrator: a-search\nsolver: {type: local-global, iterations: 10}",
                        "shape: {type: figure, of: horn, cells: 12}, deform: {bend: [0, 0, 0.25]}, "
                        "fix: [{box: [[-1, -1, -1], [1, 0.15, 1]]}]",
                        &scene);
    brio_sim_ledger(sim, &first);
    for (int n = 0; n < 60; n++) {
        assert_int_equal(brio_sim_step(sim, NULL), BRIO_OK);
        brio_sim_ledger(sim, &now);
        max = brio__larger(max, now.total / first.total);
    }
    print_message("bent horn, 10 iterations: no frame above %.2f of the first energy\n", max);
    assert_true(max < 2.5);
    brio_sim_free(sim);
    brio__scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(initial_positions),
                                       cmocka_unit_test(out_of_shape)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
