/* Contact at its defaults for stiffnesses from 1e3 to 1e11 Pa against each other, sizes from 0.1 mm
 * to 1 km, blocks and thin and thick cloth (test_defaults.c has a few of them): no step takes more
 * than 60 iterations, but where a body lies flat under its own weight (rho g L > E), which
 * `brio check` has asked about. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scales.h"

static const double sizes[] = {1e-4, 1e-2, 1, 30, 1e3};         /* m */
static const double stiffnesses[] = {1e3, 1e5, 1e7, 1e9, 1e11}; /* Pa */

/* What `brio check` asks about the scene. */
static int questions(const Scale *c)
{
    char text[SCALE_TEXT];
    scale_text(c, text, sizeof text);
    BrioScene *scene = NULL;
    static BrioQuestions asked;
    assert_int_equal(brio__scene_parse(text, strlen(text), "text.yaml", &scene, NULL), BRIO_OK);
    assert_int_equal(brio__scene_questions(scene, &asked), BRIO_OK);
    brio__scene_free(scene);
    for (int i = 0; i < asked.count; i++) print_message("    check: %s\n", asked.text[i]);
    return asked.count;
}

static void grid(double thickness)
{
    int slow = 0, asked = 0, runs = 0;
    for (size_t s = 0; s < BRIO_COUNT(sizes); s++)
        for (size_t a = 0; a < BRIO_COUNT(stiffnesses); a++)
            for (size_t b = 0; b < BRIO_COUNT(stiffnesses); b++, runs++) {
                Scale c = {sizes[s], {stiffnesses[a], stiffnesses[b]}, thickness};
                double weight = 1000 * 9.8 * 0.3 * c.size; /* rho g L of the block below */
                if (scale_run(&c).slowest <= 60) continue;
                if (weight > fmin(c.E[0], c.E[1]) && questions(&c) > 0)
                    asked++;
                else
                    slow++;
            }
    print_message("%d scenes: %d with a slower step that check has asked about, %d without\n", runs,
                  asked, slow);
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
