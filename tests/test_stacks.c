/* Stacks that decimal numbers put exactly on each other: a selection; all 1,000 are in
 * test_long_stacks.c. Each moves as it should or is rejected with both names; none is silently
 * wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stacks.h"

static void exact_stacks(void **state)
{
    (void)state;
    int count[STACK_VERDICTS];
    assert_int_equal(stacks_judge(0, 100, 0, count), 0);
}

/* From rounding errors to a tenth of dhat: refused or warned of, whatever comes of them. */
static void small_gaps(void **state)
{
    static const double gaps[] = {1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-9, 1e-6, 1e-4};
    (void)state;
    int count[STACK_VERDICTS], wrong = 0;
    for (size_t k = 0; k < BRIO_COUNT(gaps); k++)
        wrong += stacks_judge(1000 * (k + 1), 10, gaps[k], count) + count[STACK_RIGHT];
    assert_int_equal(wrong, 0);
}

/* Beyond dhat nothing is in the way: all of them fall or rest. */
static void clear_gaps(void **state)
{
    (void)state;
    int count[STACK_VERDICTS];
    stacks_judge(10000, 10, 1.5 * stack_dhat, count);
    assert_int_equal(count[STACK_RIGHT], 10);
}

/* A state that no scene may begin with, a rounding error above what carries it: collision detection
 * allows no step, and none may count as converged because of that. */
static void no_room(void **state)
{
    static const char text[] =
        "time: {h: 1/100, end: 1}\nsolver: {tol: 0.01}\ncontact: {type: ipc, dhat: 1e-3}\n"
        "bodies:\n"
        "  - {name: lower, shape: {type: box, size: [0.3, 0.2, 0.3], cells: [1, 1, 1]}, material: "
        "{type: neo-hookean, E: 1e6, rho: 1000}, transform: {translate: [0, -0.1, 0]}}\n"
        "  - {name: upper, shape: {type: box, size: [0.2, 0.2, 0.2], cells: [1, 1, 1]}, material: "
        "{type: neo-hookean, E: 1e6, rho: 1000}, transform: {translate: [0, 0.3, 0]}}\n";
    static const char *const solvers[] = {"newton", "root"};
    (void)state;
    for (size_t k = 0; k < BRIO_COUNT(solvers); k++) {
        BrioSim *sim = NULL;
        BrioError error = {0};
        assert_int_equal(brio_sim_parse(text, sizeof text - 1, "room", &sim, &error), BRIO_OK);
        sim->stepper->solver->type = brio__solver_type(solvers[k]);
        const BrioSystem *s = sim->system;
        for (int64_t v = s->body[1].first; v < s->body[1].first + s->body[1].count; v++) {
            double *y = sim->state->q + 3 * (int64_t)s->map_block[s->map_start[v]] + 1;
            *y = *y < 0.3 ? 0x1p-56 : 0.2;
        }
        BrioStatus status = brio_sim_step(sim, NULL);
        print_message("  %s: %s\n", solvers[k], brio_sim_reason(sim));
        assert_true(status > 0);
        assert_non_null(strstr(brio_sim_reason(sim), "leaves no room to move"));
        assert_non_null(strstr(brio_sim_reason(sim), "\"upper\""));
        assert_non_null(strstr(brio_sim_reason(sim), "\"lower\""));
        brio_sim_free(sim);
    }
}

int main(void)
{
    brio_set_threads(1); /* scenes are small */
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact_stacks), cmocka_unit_test(small_gaps),
                                       cmocka_unit_test(clear_gaps), cmocka_unit_test(no_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
