/* A block on a slope against Coulomb's law, at long and short steps: below the angle of friction it
 * slides with g (sin - mu cos), above it rests. (tests/test_long_slope.c has the whole grid.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simulate.h"
#include "slope.h"

static void on_a_slope(void **state)
{
    (void)state;
    static const int steps[] = {25, 200};
    static const double mu[] = {0.35, 0.45, 0.52, 0.6};
    int wrong = 0;
    slope_head(4, mu);
    for (int k = 0; k < SLOPE_KINDS; k++)
        for (int i = 0; i < SLOPE_INTEGRATORS; i++)
            for (int h = 0; h < 2; h++)
                wrong += slope_row((Slope){.kind = &slope_kinds[k],
                                           .integrator = slope_integrators[i],
                                           .steps = steps[h]},
                                   4, mu);
    assert_int_equal(wrong, 0);
}

/* A-search and A-1 just below the angle: gravity along the slope is 25 times what accelerates the
 * block, so that a percent of friction is a quarter of the way. If friction does not follow the
 * normal forces that push (integrate/decoupled.c), the first block slides 99 mm, the second 95. */
static void near_the_angle(void **state)
{
    (void)state;
    static const double mu[] = {0.44, 0.48};
    static const int steps[2][SLOPE_KINDS] = {{250, 125, 250}, {125, 125, 125}};
    int wrong = 0;
    slope_head(2, mu);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < SLOPE_KINDS; k++)
            wrong += slope_row((Slope){.kind = &slope_kinds[k],
                                       .integrator = i ? "a-1" : "a-search",
                                       .steps = steps[i][k]},
                               2, mu);
    assert_int_equal(wrong, 0);
}

/* It begins above the reach of the barrier: the step of its first touch has friction. Normal forces
 * of the start of the step would let it slide 22 mm with mu = 0.6. TOLERANCE 2 mm, for what is left
 * of the fall: in the first step the plane carries less than the whole weight. */
static void first_touch(void **state)
{
    (void)state;
    for (int k = 0; k < SLOPE_KINDS; k++)
        for (int late = 0; late < 2; late++) {
            Slope s = {.kind = &slope_kinds[k],
                       .integrator = "backward-euler",
                       .steps = 25,
                       .mu = 0.6,
                       .gap = 1.5e-3,
                       .taken = late};
            double way = slide(&s).way;
            print_message("%s from 1.5 mm, h 1/25 s, mu 0.6, friction_iterations %d: slides %.3g "
                          "mm\n",
                          s.kind->name, late, 1e3 * way);
            assert_true(late ? way > 4e-3 : way < 2e-3);
        }
}

/* The ledger closes with what friction took by the normal forces that were used: what is left is
 * what backward Euler loses, less than nothing, and the less the shorter the step. */
static void books(void **state)
{
    (void)state;
    double last = -INFINITY;
    for (int steps = 25; steps <= 400; steps *= 4) {
        Slope s = {
            .kind = &slope_kinds[0], .integrator = "backward-euler", .steps = steps, .mu = 0.35};
        Slid slid = slide(&s);
        double a = 2 * slope_expected(s.mu);
        double lost = -0.5 * 4 * a * a / steps; /* m (h a)^2/2 in each step */
        print_message("h 1/%d s: remainder %.5g J, backward Euler's loss %.5g J\n", steps,
                      slid.remainder, lost);
        assert_true(fabs(slid.remainder / lost - 1) < 0.02 && slid.remainder > last);
        last = slid.remainder;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_a_slope),
        cmocka_unit_test(near_the_angle),
        cmocka_unit_test(first_touch),
        cmocka_unit_test(books),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
