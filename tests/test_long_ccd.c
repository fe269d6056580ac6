/* Continuous collision detection on many more generated pairs than test_ccd.c has time for. */
#include "ccd_reference.h"

static void test_motions(void **state)
{
    (void)state;
    check_motions(130000, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_motions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
