/* Newton's iterations where a body is crushed. A soft sheet is pressed from its four sides and
 * buckles. Its elements are compressed until their Hessians are indefinite, so the matrix is
 * projected and stiffer than the objective. Without longer steps there (newton.c) this takes 241 to
 * 243 iterations and up to 39 in a step; with them 191 to 201; and where steps know of the pairs
 * that they would close (foresee.c) 145 to 181. How a sheet buckles depends on round-off, so
 * several starts are judged together: 40 that differ by nanometres take 156 iterations on average,
 * and up to 26 in a step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "contact/exact.h"
#include "scene/scene.h"

#include <stdio.h>

/* Halfway: of the mean totals between the last two, of the longest step between 26 and 39. */
enum { STARTS = 12, MAX_TOTAL = 174, MAX_STEP = 32 };

#define PLATE(name, size, at, way)                     \
    "  - {name: " name ", type: box, size: [" size     \
    "], cells: [1, 1, 1], transform: {translate: [" at \
    "]}, script: {keys: [[0, 0, 0, 0], [0.26, " way "]]}}\n"

static const char crushed[] =
    "time: {h: 0.01, end: 0.26}\n"
    "gravity: [0, 0, 0]\n"
    "integrator: backward-euler\n"
    "solver: {tol: 0.005}\n"
    "contact: {type: ipc, dhat: 1e-3}\n"
    "bodies:\n"
    "  - {shape: {type: box, size: [0.3, 0.02, 0.3], cells: [9, 1, 9]},\n"
    "     material: {type: fixed-corotated, E: 1e4, nu: 0.4, rho: 1000},\n"
    "     transform: {translate: [0, %de-9, 0]}}\n"
    "obstacles:\n" PLATE("right", "0.02, 1, 1", "0.164, 0, 0", "-0.104, 0, 0")
        PLATE("left", "0.02, 1, 1", "-0.164, 0, 0", "0.104, 0, 0")
            PLATE("front", "1, 1, 0.02", "0, 0, 0.164", "0, 0, -0.104")
                PLATE("back", "1, 1, 0.02", "0, 0, -0.164", "0, 0, 0.104");

static void crush(int start, int *total, int *max)
{
    char text[2048];
    BrioScene *scene = NULL;
    BrioSim *sim = NULL;
    BrioError error = {0};
    BrioExactWatch watch = {0};
    int size = snprintf(text, sizeof text, crushed, start);
    BrioStatus status = brio__scene_parse(text, (size_t)size, "crushed", &scene, &error);
    if (status == BRIO_OK) status = brio__scene_sim(scene, &sim, &error);
    if (status != BRIO_OK) fail_msg("%s", error.message);
    assert_int_equal(brio__exact_create(sim->system, &watch.exact), BRIO_OK);
    sim->stepper->observe = brio__exact_watch;
    sim->stepper->observer = &watch;
    for (int n = 0; n < 26; n++) {
        assert_int_equal(brio_sim_step(sim, NULL), BRIO_OK);
        assert_int_equal(sim->stepper->halvings, 0);
        *total += sim->stepper->iterations;
        *max = BRIO_MAX(*max, sim->stepper->iterations);
    }
    brio__exact_watch(&watch, sim->state);
    assert_int_equal(watch.intersections + watch.inverted + watch.not_finite, 0);
    brio__exact_free(watch.exact);
    brio_sim_free(sim);
    brio__scene_free(scene);
}

static void few_iterations(void **state)
{
    (void)state;
    int total = 0, max = 0;
    for (int k = 0; k < STARTS; k++) crush(k, &total, &max);
    print_message("%.1f iterations in 26 steps, %d at most in one\n", (double)total / STARTS, max);
    assert_in_range(total, 1, STARTS * MAX_TOTAL);
    assert_in_range(max, 1, MAX_STEP);
}

int main(void)
{
    brio_set_threads(1); /* the scene is small */
    const struct CMUnitTest tests[] = {cmocka_unit_test(few_iterations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
