/* Under a locale with a decimal comma everything reads and writes as in the "C" locale. */
#include "program.h"

#include "field.h"
#include "number.h"
#include "run/tables.h"
#include "output/json.h"
#include "run/run.h"
#include "scene/scene.h"

static bool comma(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    for (size_t i = 0; i < BRIO_COUNT(names); i++)
        if (setlocale(LC_ALL, names[i])) return true;
    print_message("SKIPPED: no locale with a decimal comma is installed\n");
    return false;
}

/* The program's own numbers keep their comma. */
static void still_comma(void)
{
    char text[16];
    snprintf(text, sizeof text, "%g", 0.5);
    assert_string_equal(text, "0,5");
    setlocale(LC_ALL, "C");
}

static void numbers(void **unused)
{
    (void)unused;
    if (!comma()) return;
    char *end;
    assert_true(brio__text_real("2.5e3,7", &end) == 2500);
    assert_string_equal(end, ",7");
    assert_true(brio__text_real("-.125", NULL) == -0.125);
    assert_string_equal(brio__real_text(0.1, 6).text, "0.1");
    assert_string_equal(brio__real_text(0.1 + 0.2, 6).text, "0.30000000000000004");
    assert_string_equal(brio__real_text(1234567, 6).text, "1234567");
    assert_string_equal(brio__real_text(-1.7976931348623157e308, 6).text,
                        "-1.7976931348623157e+308");

    static const BrioField fields[] = {{"nu", BRIO_REAL, "", 0.3, -0.75, 0.5, 0, ""}, {0}};
    BrioError error = {0};
    assert_int_equal(brio__fields_check(fields, (double[]){0.7}, &error), BRIO_ERROR_INPUT);
    assert_string_equal(error.message, "nu = 0.7 is out of range: must be between -0.75 and 0.5");

    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    BrioJson json = {.file = file, .flat = true};
    brio__json_open(&json, NULL, '[');
    brio__json_real(&json, NULL, 0.1);
    brio__json_real(&json, NULL, -1.0 / 3);
    brio__json_real(&json, NULL, INFINITY);
    brio__json_close(&json, ']');
    fclose(file);
    assert_string_equal(text, "[0.1, -0.3333333333333333, null]\n");
    free(text);
    still_comma();
}

static void tables(void **unused)
{
    (void)unused;
    if (!comma()) return;
    BrioError error = {0};
    double *values;
    int64_t rows;
    write_text("table.csv", "a,b,c\n1.5,-2.25,3e-1\n .5 , 6 , 7.125\n");
    if (brio__csv_read("table.csv", 3, &values, &rows, &error) != BRIO_OK)
        fail_msg("%s", error.message);
    static const double right[6] = {1.5, -2.25, 0.3, 0.5, 6, 7.125};
    assert_int_equal(rows, 2);
    for (int i = 0; i < 6; i++) assert_true(values[i] == right[i]);
    brio__free(values);
    still_comma();
}

static void run_into(const char *out)
{
    BrioError error = {0};
    BrioScene *scene;
    BrioRunResult result;
    if (brio__scene_load("scene.yaml", NULL, 0, &scene, &error) != BRIO_OK)
        fail_msg("%s", error.message);
    if (brio__run(scene, &(BrioRunOptions){.out = out}, &result, &error) != BRIO_OK)
        fail_msg("%s", error.message);
    brio__scene_free(scene);
}

/* A scene and the files of its run. */
static void results(void **unused)
{
    (void)unused;
    write_text("state.csv", "0,0,0,0,0,0\n1.25,0,0,0.5,-0.25,0\n");
    write_text("scene.yaml", "time: {h: 1/100, end: 0.05, fps: 50}\n"
                             "bodies:\n"
                             "  - name: rope\n"
                             "    shape: {type: line, cells: 1}\n"
                             "    material: {type: hooke, rho: 1.5}\n"
                             "    state: state.csv\n"
                             "probes: [{name: end, body: rope, vertex: 1}]\n"
                             "output: {frames: [obj, vtu]}\n");
    run_into("point");
    if (!comma()) return;
    run_into("comma");
    still_comma();
    static const char *const files[] = {"energy.csv", "probes.csv", "frames/frame_000001.obj",
                                        "frames/frame_000001.vtu"};
    for (size_t i = 0; i < BRIO_COUNT(files); i++) {
        char name[2][64];
        char *text[2];
        for (int k = 0; k < 2; k++) {
            snprintf(name[k], sizeof name[k], "%s/%s", k ? "comma" : "point", files[i]);
            text[k] = read_all(name[k], NULL);
            if (!text[k]) fail_msg("there is no %s", name[k]);
        }
        assert_string_equal(text[0], text[1]);
        free(text[0]), free(text[1]);
    }
}

int brio_command(int argc, char **argv); /* cli/commands.h; the Python package calls it too */

/* What commands read and write, within a program that has set its locale. */
static void commands(void **unused)
{
    (void)unused;
    if (!comma()) return;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char *argv[] = {"brio", "compare",  "scene.yaml", "-i", "backward-euler",
                        "-o",   "compared", "-q",         NULL};
        _exit(brio_command(8, argv));
    }
    assert_int_equal(wait_program(child), 0);
    still_comma();
    char *table = read_all("compared/compare.csv", NULL);
    assert_non_null(table);
    assert_non_null(strstr(table, "\nbackward-euler,0.01,completed,5,0.0"));
    free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers), cmocka_unit_test(tables),
                                       cmocka_unit_test(results), cmocka_unit_test(commands)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
