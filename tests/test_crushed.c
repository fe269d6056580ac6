/* Newton's iterations where a body is crushed. A soft sheet is pressed from its four sides and
 * buckles. Its elements are compressed until their Hessians are indefinite, so the matrix is
 * projected and stiffer than the objective. Without longer steps there (newton.c) this takes 241 to
 * 243 iterations and up to 39 in a step; with them 191 to 201 and up to 19; and where steps know of
 * the pairs that they would close (foresee.c) 149 to 157 and up to 15, on all instruction sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "contact/exact.h"
#include "scene/scene.h"

#include <string.h>

/* Halfway between the last two. */
enum { MAX_TOTAL = 174, MAX_STEP = 17 };

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
    "     material: {type: fixed-corotated, E: 1e4, nu: 0.4, rho: 1000}}\n"
    "obstacles:\n" PLATE("right", "0.02, 1, 1", "0.164, 0, 0", "-0.104, 0, 0")
        PLATE("left", "0.02, 1, 1", "-0.164, 0, 0", "0.104, 0, 0")
            PLATE("front", "1, 1, 0.02", "0, 0, 0.164", "0, 0, -0.104")
                PLATE("back", "1, 1, 0.02", "0, 0, -0.164", "0, 0, 0.104");

static void few_iterations(void **state)
{
    (void)state;
    BrioScene *scene = NULL;
    BrioSim *sim = NULL;
    BrioError error = {0};
    BrioExactWatch watch = {0};
    BrioStatus status = brio__scene_parse(crushed, strlen(crushed), "crushed", &scene, &error);
    if (status == BRIO_OK) status = brio__scene_sim(scene, &sim, &error);
    if (status != BRIO_OK) fail_msg("%s", error.message);
    assert_int_equal(brio__exact_create(sim->system, &watch.exact), BRIO_OK);
    sim->stepper->observe = brio__exact_watch;
    sim->stepper->observer = &watch;
    int total = 0, max = 0;
    for (int n = 0; n < 26; n++) {
        assert_int_equal(brio_sim_step(sim, NULL), BRIO_OK);
        assert_int_equal(sim->stepper->halvings, 0);
        total += sim->stepper->iterations;
        max = BRIO_MAX(max, sim->stepper->iterations);
    }
    brio__exact_watch(&watch, sim->state);
    print_message("%d iterations in 26 steps, %d at most in one\n", total, max);
    assert_int_equal(watch.intersections + watch.inverted + watch.not_finite, 0);
    assert_in_range(total, 1, MAX_TOTAL);
    assert_in_range(max, 1, MAX_STEP);
    brio__exact_free(watch.exact);
    brio_sim_free(sim);
    brio__scene_free(scene);
}

int main(void)
{
    brio_set_threads(1); /* the scene is small */
    const struct CMUnitTest tests[] = {cmocka_unit_test(few_iterations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
