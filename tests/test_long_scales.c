/* Contact at its defaults for stiffnesses from 1e3 to 1e11 Pa against each other, sizes from 0.1 mm
 * to 1 km, blocks and thin and thick cloth (test_defaults.c has a few of them): no step takes more
 * than 60 iterations, but where a body does not carry its own weight (rho g L > E). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scales.h"

static const double sizes[] = {1e-4, 1e-2, 1, 30, 1e3};         /* m */
static const double stiffnesses[] = {1e3, 1e5, 1e7, 1e9, 1e11}; /* Pa */

/* The largest rho g L/E of the two bodies: above 1 their own weight crushes or stretches them by
 * their own size. */
static double weight_by_E(const Scale *c)
{
    double falls = c->thickness > 0 ? 0.6 : 0.2; /* L of what falls, as a fraction of the size */
    return 1000 * 9.8 * c->size * fmax(0.3 / c->E[0], falls / c->E[1]);
}

static void grid(double thickness)
{
    int slow = 0, crushed = 0, runs = 0;
    for (size_t s = 0; s < BRIO_COUNT(sizes); s++)
        for (size_t a = 0; a < BRIO_COUNT(stiffnesses); a++)
            for (size_t b = 0; b < BRIO_COUNT(stiffnesses); b++, runs++) {
                Scale c = {sizes[s], {stiffnesses[a], stiffnesses[b]}, thickness};
                if (scale_run(&c).slowest <= 60) continue;
                print_message("    rho g L = %.2g E\n", weight_by_E(&c));
                if (weight_by_E(&c) > 1)
                    crushed++;
                else
                    slow++;
            }
    print_message(
        "%d scenes: %d with a slower step of bodies that do not carry their own weight, %d "
        "others\n",
        runs, crushed, slow);
    assert_int_equal(slow, 0);
}

static void blocks(void **unused)
{
    (void)unused;
    grid(0);
}
static void thin_cloth(void **unused)
{
    (void)unused;
    grid(1e-3);
}
static void thick_cloth(void **unused)
{
    (void)unused;
    grid(1e-2);
}

int main(void)
{
    brio_set_threads(1); /* scenes are small */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks),
        cmocka_unit_test(thin_cloth),
        cmocka_unit_test(thick_cloth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
