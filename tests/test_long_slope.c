/* The whole grid of blocks on a slope of tan theta = 0.5: coefficients from 0.3 to 0.7, steps from
 * 1/1000 s to 1/25 s, three integrators, three kinds of bodies (slope.h has the tolerances). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simulate.h"
#include "slope.h"

enum { COEFFICIENTS = 21 };

static void grid(void **state)
{
    (void)state;
    static const int steps[] = {25, 60, 125, 250, 1000};
    double mu[COEFFICIENTS];
    int wrong = 0;
    for (int k = 0; k < COEFFICIENTS; k++) mu[k] = 0.3 + 0.02 * k;
    mu[10] = SLOPE_TAN;
    slope_head(COEFFICIENTS, mu);
    for (int k = 0; k < SLOPE_KINDS; k++)
        for (int i = 0; i < SLOPE_INTEGRATORS; i++)
            for (size_t h = 0; h < sizeof steps / sizeof *steps; h++)
                wrong += slope_row((Slope){.kind = &slope_kinds[k],
                                           .integrator = slope_integrators[i],
                                           .steps = steps[h]},
                                   COEFFICIENTS, mu);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(grid)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
