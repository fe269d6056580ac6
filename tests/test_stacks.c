/* Stacks that decimal numbers put exactly on each other: a selection; all 1,000 are in
 * test_long_stacks.c. Each moves as it should or is refused with both names; none is silently
 * wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stacks.h"

static void judge(uint64_t first, int stacks, double gap, int *count)
{
    for (int i = 0; i < stacks; i++) {
        char why[1300];
        Stack s = stack_random(first + (uint64_t)i);
        StackVerdict verdict = stack_judge(&s, gap, why, sizeof why);
        count[verdict]++;
        if (verdict != STACK_WRONG) continue;
        char text[4096];
        stack_text(&s, gap, text, sizeof text);
        print_message("seed %llu, gap %g: %s\n%s", (unsigned long long)first + (uint64_t)i, gap,
                      why, text);
    }
}

static void exact_stacks(void **state)
{
    (void)state;
    int count[STACK_VERDICTS] = {0};
    judge(0, 100, 0, count);
    print_message("exactly on each other: %d refused by name, %d right, %d wrong\n",
                  count[STACK_REFUSED], count[STACK_RIGHT], count[STACK_WRONG]);
    assert_int_equal(count[STACK_WRONG], 0);
}

static void small_gaps(void **state)
{
    static const double gaps[] = {1e-16, 1e-14, 1e-12, 1e-9, 1e-6, 1e-4};
    (void)state;
    int wrong = 0;
    for (size_t k = 0; k < BRIO_COUNT(gaps); k++) {
        int count[STACK_VERDICTS] = {0};
        judge(1000 * (k + 1), 10, gaps[k], count);
        print_message("%g m apart: %d refused by name, %d right, %d wrong\n", gaps[k],
                      count[STACK_REFUSED], count[STACK_RIGHT], count[STACK_WRONG]);
        wrong += count[STACK_WRONG];
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    brio_set_threads(1); /* scenes are small */
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact_stacks),
                                       cmocka_unit_test(small_gaps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
