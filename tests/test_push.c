/* Moved obstacles and what they push: a selection of plates, speeds, steps and integrators; the
 * whole grid is in test_long_push.c. No step may fail, and no accepted state may have an
 * intersection or an inverted element. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plates.h"

static const double rubber = 1e6; /* Pa */

static void all_pass(const Plates *selection, size_t count)
{
    int failed = 0;
    plates_head();
    for (size_t i = 0; i < count; i++) {
        static Pushed pushed;
        failed += !plates_pass(&selection[i], &pushed);
    }
    assert_int_equal(failed, 0);
}

static void one_plate(void **state)
{
    static const Plates selection[] = {
        {1, 0.1, 1.0 / 30, rubber, "backward-euler"}, {1, 1, 1.0 / 100, rubber, "bdf2"},
        {1, 10, 1.0 / 30, rubber, "a-search"},        {1, 10, 1.0 / 1000, rubber, "a-1"},
        {1, 100, 1.0 / 100, rubber, "sdirk2"},        {1, 300, 1.0 / 30, rubber, "backward-euler"},
        {1, 300, 1.0 / 1000, rubber, "a-search"},
    };
    (void)state;
    all_pass(selection, BRIO_COUNT(selection));
}

static void two_plates(void **state)
{
    static const Plates selection[] = {
        {2, 0.5, 1.0 / 100, 1e4, "backward-euler"},
        {2, 0.5, 1.0 / 100, 1e8, "backward-euler"},
        {2, 10, 1.0 / 30, 1e4, "a-search"},
        {2, 10, 1.0 / 30, 1e8, "bdf2"},
    };
    (void)state;
    all_pass(selection, BRIO_COUNT(selection));
}

int main(void)
{
    brio_set_threads(1); /* scenes are small */
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_plate), cmocka_unit_test(two_plates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
