/* 1,000 random stacks of two to five bodies, solid, shell and affine, that decimal numbers put
 * exactly on each other: each moves as it should or is rejected with both names; none is silently
 * wrong. And the same with gaps from 1e-16 m on. */
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
    assert_int_equal(stacks_judge(0, 1000, 0, count), 0);
}

/* From rounding errors to a tenth of dhat: refused or warned of, whatever comes of them. */
static void small_gaps(void **state)
{
    static const double gaps[] = {1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-9, 1e-6, 1e-4};
    (void)state;
    int count[STACK_VERDICTS], wrong = 0;
    for (size_t k = 0; k < BRIO_COUNT(gaps); k++)
        wrong += stacks_judge(1000 * (k + 1), 100, gaps[k], count) + count[STACK_RIGHT];
    assert_int_equal(wrong, 0);
}

/* Beyond dhat nothing is in the way: all of them fall or rest. */
static void clear_gaps(void **state)
{
    (void)state;
    int count[STACK_VERDICTS];
    stacks_judge(10000, 100, 1.5 * stack_dhat, count);
    assert_int_equal(count[STACK_RIGHT], 100);
}

int main(void)
{
    brio_set_threads(1); /* scenes are small */
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact_stacks), cmocka_unit_test(small_gaps),
                                       cmocka_unit_test(clear_gaps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
