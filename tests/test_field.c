/* Field tables and citations: defaults, setting by name, every sentence of a complaint. */
#include "field.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const BrioField fields[] = {
    {"E", BRIO_REAL, "Pa", 1e5, 0, INFINITY, 0, "Young's modulus."},
    {"size", BRIO_VECTOR, "m", 1, 1e-300, 10, 0, "Edge lengths."},
    {"cells", BRIO_INTEGER, "", 4, 1, 1000, 0, "Cells."},
    {"closed", BRIO_BOOLEAN, "", 0, 0, 1, 0, "Whether it is closed."},
    {"decay", BRIO_REAL, "s", NAN, 0, INFINITY, 0, "Absent: none."},
    {"end", BRIO_REAL, "s", INFINITY, 0, INFINITY, 0, "End of the motion."},
    {NULL, 0, NULL, 0, 0, 0, 0, NULL},
};

static void test_table(void **state)
{
    (void)state;
    double values[8];
    assert_int_equal(brio__fields_count(fields), 6);
    assert_int_equal(brio__fields_count(NULL), 0);
    assert_int_equal(brio__field_width(&fields[0]), 1);
    assert_int_equal(brio__field_width(&fields[1]), 3);
    assert_int_equal(brio__fields_offset(fields, "E"), 0);
    assert_int_equal(brio__fields_offset(fields, "cells"), 4);
    assert_int_equal(brio__fields_offset(fields, "nu"), -1);
    assert_int_equal(brio__fields_offset(NULL, "nu"), -1);
    brio_fields_defaults(NULL, values);
    brio_fields_defaults(fields, values);
    assert_true(values[0] == 1e5 && values[1] == 1 && values[3] == 1 && values[4] == 4 &&
                values[5] == 0);
    assert_true(isnan(values[6]) && values[7] == INFINITY);
    assert_int_equal(brio__fields_check(fields, values, NULL), BRIO_OK);
    assert_int_equal(brio__fields_check(NULL, values, NULL), BRIO_OK);
}

static void test_set(void **state)
{
    (void)state;
    double values[8];
    brio_fields_defaults(fields, values);
    assert_int_equal(brio_fields_set(fields, values, "size", (double[]){1, 2, 3}, NULL), BRIO_OK);
    assert_int_equal(brio_fields_set(fields, values, "cells", (double[]){9}, NULL), BRIO_OK);
    assert_true(values[0] == 1e5 && values[1] == 1 && values[2] == 2 && values[3] == 3 &&
                values[4] == 9);
    assert_int_equal(brio_fields_set(fields, values, "cells", (double[]){9.5}, NULL),
                     BRIO_ERROR_ARGUMENT);
    assert_int_equal(brio_fields_set(fields, values, "cells", (double[]){NAN}, NULL),
                     BRIO_ERROR_ARGUMENT);
    assert_int_equal(brio_fields_set(fields, values, "size", (double[]){1, 2, -3}, NULL),
                     BRIO_ERROR_ARGUMENT);
    assert_int_equal(brio_fields_set(fields, values, "nu", (double[]){1}, NULL),
                     BRIO_ERROR_ARGUMENT);
    assert_int_equal(brio_fields_set(fields, values, NULL, (double[]){1}, NULL),
                     BRIO_ERROR_ARGUMENT);
    assert_int_equal(brio_fields_set(fields, values, "E", NULL, NULL), BRIO_ERROR_ARGUMENT);
    assert_int_equal(brio_fields_set(NULL, values, "E", (double[]){1}, NULL), BRIO_ERROR_ARGUMENT);
    assert_true(values[3] == 3 && values[4] == 9);
}

static void complains(BrioField field, const double *value, const char *message)
{
    const BrioField table[2] = {field, {0}};
    BrioError error = {0};
    assert_int_equal(brio__fields_check(table, value, &error), BRIO_ERROR_INPUT);
    assert_string_equal(error.message, message);
}

static void test_ranges(void **state)
{
    (void)state;
    BrioField real = {"x", BRIO_REAL, "Pa", 1, 0, INFINITY, 0, ""};
    complains(real, (double[]){-5}, "x = -5 Pa is out of range: must be at least 0");
    complains(real, (double[]){NAN}, "x = nan is not a finite number");
    complains(real, (double[]){INFINITY}, "x = inf is not a finite number");
    real.unit = "";
    real.max = 0.5;
    complains(real, (double[]){0.1 + 0.6}, "x = 0.7 is out of range: must be between 0 and 0.5");
    real.max = nextafter(0.5, 0);
    complains(real, (double[]){0.5},
              "x = 0.5 is out of range: must be at least 0 and less than 0.5");
    real.min = nextafter(-1, 0);
    complains(real, (double[]){-1},
              "x = -1 is out of range: must be more than -1 and less than 0.5");
    real.min = DBL_MIN;
    complains(real, (double[]){0}, "x = 0 is out of range: must be positive and less than 0.5");
    real.max = 3;
    complains(real, (double[]){0}, "x = 0 is out of range: must be positive and at most 3");
    real.max = DBL_MAX;
    complains(real, (double[]){0}, "x = 0 is out of range: must be positive");
    real.min = -INFINITY;
    real.max = -DBL_MIN;
    complains(real, (double[]){0}, "x = 0 is out of range: must be negative");
    real.max = 1.0 / 3;
    real.default_value = 0;
    complains(real, (double[]){1e-9 + 1.0 / 3},
              "x = 0.33333333433333334 is out of range: must be at most 0.3333333333333333");
    real.required = 1;
    real.default_value = NAN;
    complains(real, (double[]){NAN}, "x has no value, and no default");
    complains(fields[1], (double[]){1, 2, 0},
              "size[2] = 0 m is out of range: must be positive and at most 10");
    complains(fields[2], (double[]){2.5}, "cells = 2.5 is not an integer");
    complains(fields[2], (double[]){0}, "cells = 0 is out of range: must be between 1 and 1000");
    complains(fields[3], (double[]){2}, "closed = 2 is neither true (1) nor false (0)");
}

static void test_citations(void **state)
{
    (void)state;
    static const char *const papers[] = {"Dinev2018", "You2026", "Kharevych2006", "Shinya2004",
                                         "Gentle2025"};
    for (size_t i = 0; i < BRIO_COUNT(papers); i++) assert_non_null(brio__citation(papers[i]));
    assert_null(brio__citation("Nobody1900"));
    assert_null(brio__citation_at(-1));
    int count = 0;
    for (; brio__citation_at(count); count++) {
        const char *key = brio__citation_at(count), *text = brio__citation(key);
        size_t length = strlen(text);
        assert_true(length > 20 && text[length - 1] == '.');
        /* sorted, no key twice */
        if (count > 0) assert_true(strcmp(brio__citation_at(count - 1), key) < 0);
    }
    assert_true(count >= 25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_citations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
