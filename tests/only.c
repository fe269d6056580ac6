/* Part of every test program: BRIO_TEST=stacks build/tests/test_contact runs the cases whose names
 * match the pattern, which may have * and ?. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

__attribute__((constructor)) static void choose(void)
{
    const char *pattern = getenv("BRIO_TEST");
    if (pattern) cmocka_set_test_filter(pattern);
}
