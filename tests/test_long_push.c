/* Moved obstacles and what they push, the whole grid: one plate that pushes a ball away and two
 * that close on it until half of its height is left, five speeds, three steps, five integrators,
 * and a soft and a stiff ball. All complete, and no accepted state has an intersection or an
 * inverted element, by exact predicates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plates.h"

static const double speeds[] = {0.1, 1, 10, 100, 300}; /* m/s */
static const double steps[] = {1.0 / 30, 1.0 / 100, 1.0 / 1000};
static const char *const integrators[] = {"backward-euler", "bdf2", "a-search", "a-1", "sdirk2"};

static void grid(int plates, double E, double fastest)
{
    int failed = 0, runs = 0;
    int64_t all_steps = 0, iterations = 0, states = 0;
    plates_head();
    for (size_t v = 0; v < BRIO_COUNT(speeds) && speeds[v] <= fastest; v++)
        for (size_t k = 0; k < BRIO_COUNT(steps); k++)
            for (size_t i = 0; i < BRIO_COUNT(integrators); i++) {
                static Pushed pushed;
                Plates p = {plates, speeds[v], steps[k], E, integrators[i]};
                failed += !plates_pass(&p, &pushed);
                runs++;
                all_steps += pushed.steps;
                iterations += pushed.iterations;
                states += pushed.watch.states;
            }
    print_message("%d runs, %d failed; %lld steps, %.1f iterations per step, %lld states proved\n",
                  runs, failed, (long long)all_steps, (double)iterations / (double)all_steps,
                  (long long)states);
    assert_int_equal(failed, 0);
}

static void one_plate(void **state)
{
    (void)state;
    grid(1, 1e6, 300);
}

static void two_plates(void **state)
{
    (void)state;
    grid(2, 1e6, 300);
}

static void two_plates_soft(void **state)
{
    (void)state;
    grid(2, 1e4, 100); /* 32 times the speed of sound in it */
}

static void two_plates_stiff(void **state)
{
    (void)state;
    grid(2, 1e8, 100);
}

int main(void)
{
    brio_set_threads(1); /* scenes are small */
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_plate), cmocka_unit_test(two_plates),
                                       cmocka_unit_test(two_plates_soft),
                                       cmocka_unit_test(two_plates_stiff)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
