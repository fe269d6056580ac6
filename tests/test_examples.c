/* The examples of the documentation: the energies that docs/energy.md prints have right
 * derivatives, and what the pages print is what examples/ holds. (The programs among the examples
 * are tests of their own: cmake/tests.cmake.) */
#include "energy/energy.h"
#include "field.h"

#include <stdlib.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

extern const BrioEnergy brio__energy_yeoh_example, brio__energy_duffing_example;

enum { MAX = 12 };

/* Central differences of step 1e-5. TOLERANCE 1e-6 of the largest entry: their error is 1e-10 for
 * the third derivatives of these energies, and round-off of the energy (1e-16 relative) over 1e-5
 * gives 1e-11 of it, 1e-8 of small gradients. */
static void check_derivatives(const BrioEnergy *energy)
{
    double values[BRIO_MAX_VALUES], X[MAX], x[MAX], rest[16], g[MAX], H[MAX * MAX], e = 1e-5;
    int size = 3 * energy->nodes;
    BrioRandom random = {3};
    brio_fields_defaults(energy->fields, values);
    for (int again = 0; again < 50; again++) {
        energy->sample(&random, X, x);
        energy->rest_shape(X, 1, NAN, rest);
        brio__energy_one(energy, values, rest, x, g, H, false);
        double scale_g = 0, scale_H = 0, wrong_g = 0, wrong_H = 0;
        for (int i = 0; i < size; i++) {
            double y[MAX], low[MAX], high[MAX], E[2];
            memcpy(y, x, sizeof y);
            y[i] = x[i] - e;
            E[0] = brio__energy_one(energy, values, rest, y, low, NULL, false);
            y[i] = x[i] + e;
            E[1] = brio__energy_one(energy, values, rest, y, high, NULL, false);
            scale_g = brio__larger(scale_g, fabs(g[i]));
            wrong_g = brio__larger(wrong_g, fabs((E[1] - E[0]) / (2 * e) - g[i]));
            for (int j = 0; j < size; j++) {
                scale_H = brio__larger(scale_H, fabs(H[i * size + j]));
                wrong_H =
                    brio__larger(wrong_H, fabs((high[j] - low[j]) / (2 * e) - H[i * size + j]));
            }
        }
        assert_true(wrong_g < 1e-6 * scale_g && wrong_H < 1e-6 * scale_H);
        brio__energy_one(energy, values, rest, X, g, NULL, false);
        /* no force at rest */
        for (int i = 0; i < size; i++) assert_true(fabs(g[i]) < 1e-9 * scale_H);
    }
}

static void energies(void **unused)
{
    (void)unused;
    check_derivatives(&brio__energy_yeoh_example);
    check_derivatives(&brio__energy_duffing_example);
}

static char *content(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", BRIO_SOURCE_DIR, name);
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("cannot read %s", path);
    char *text = calloc(1 << 20, 1);
    assert_non_null(text);
    size_t size = fread(text, 1, (1 << 20) - 1, file);
    assert_true(size > 0);
    fclose(file);
    return text;
}

/* A page prints a whole example, but for the comment at its head. */
static void pages(void **unused)
{
    (void)unused;
    static const char *const pairs[][2] = {
        {"docs/energy.md", "examples/yeoh.c"},
        {"docs/energy.md", "examples/duffing.c"},
        {"docs/integrator.md", "examples/leapfrog.c"},
        {"docs/integrator.md", "examples/leapfrog.yaml"},
        {"docs/integrator.md", "examples/energy_control.c"},
        {"docs/integrator.md", "examples/energy_control.yaml"},
        {"README.md", "examples/first.c"},
        {"docs/library.md", "examples/hello.c"},
        {"docs/interaction.md", "examples/drag.c"},
        {"docs/library.md", "examples/beam.yaml"},
    };
    for (size_t k = 0; k < BRIO_COUNT(pairs); k++) {
        char *page = content(pairs[k][0]);
        char *example = content(pairs[k][1]);
        char *body = strstr(example, "*/\n");
        body = body ? body + 3 : example;
        if (!strstr(page, body))
            fail_msg("%s no longer prints %s as it is: copy it again", pairs[k][0], pairs[k][1]);
        free(page);
        free(example);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(energies), cmocka_unit_test(pages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
