/* What needs Node.js: the cloth of [Gentle2025] against the script of its own page, and the engine
 * for browsers against this one: the same scenes, the built-in LDLT, the tolerance at round-off.
 * integrations/npm/trajectories.mjs runs them in Node.js. */
#include "program.h"

#include "macros.h"

#include <brio/brio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* TOLERANCE 1e-12 m: the two differ by fused multiply-adds of kernels and by the mathematical
 * functions of their C libraries, in the last bits of each step. */
static const double tolerance = 1e-12;
enum { STEPS = 100 };

static double *read_rows(const char *path, size_t *count)
{
    struct stat info;
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &info), 0);
    *count = (size_t)info.st_size / sizeof(double);
    double *rows = malloc((size_t)info.st_size);
    assert_int_equal(fread(rows, sizeof *rows, *count, file), *count);
    fclose(file);
    return rows;
}

static void compare(const char *folder, const char *name)
{
    char path[600], text[1200];
    BrioSim *sim;
    BrioError error = {0};
    size_t count;
    snprintf(path, sizeof path, "%s/%s.json", folder, name);
    BrioStatus status = brio_sim_load(path, &sim, &error);
    brio_error_text(&error, text, sizeof text);
    if (status != BRIO_OK) fail_msg("%s", text);
    snprintf(path, sizeof path, "%s/%s.bin", folder, name);
    double *rows = read_rows(path, &count), worst = 0, way = 0;
    size_t width = 3 * (size_t)brio_body_vertices(brio_sim_system(sim), 0);
    assert_int_equal(count, STEPS * width);
    double *x = malloc(width * sizeof *x), *first = malloc(width * sizeof *x);
    brio_sim_positions(sim, 0, first);
    for (size_t n = 0; n < STEPS; n++) {
        assert_int_equal(brio_sim_step(sim, NULL), BRIO_OK);
        brio_sim_positions(sim, 0, x);
        for (size_t i = 0; i < width; i++) {
            worst = brio__larger(worst, fabs(x[i] - rows[n * width + i]));
            way = brio__larger(way, fabs(x[i] - first[i]));
        }
    }
    print_message(
        "%s: largest difference %.1e m in %d steps, in which vertices moved up to %.3f m\n", name,
        worst, STEPS, way);
    assert_true(way > 0.01);
    assert_true(worst <= tolerance);
    free(x);
    free(first);
    free(rows);
    brio_sim_free(sim);
}

static void trajectories(void **state)
{
    (void)state;
    static const char *const names[] = {"cloth", "beam", "cube", "ball", "chain", "joint"};
    char folder[] = "/tmp/brio-wasm-XXXXXX", command[2000];
    if (access(BRIO_SOURCE_DIR "/build/npm/package/engine.wasm", R_OK) != 0 ||
        system("node --version >/dev/null 2>&1") != 0) {
        print_message("SKIPPED: the engine for browsers is not built, or there is no Node.js; make "
                      "playground\n");
        return;
    }
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command,
             "node '%s/integrations/npm/trajectories.mjs' '%s/build/npm/package' '%s'",
             BRIO_SOURCE_DIR, BRIO_SOURCE_DIR, folder);
    assert_int_equal(system(command), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) compare(folder, names[i]);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

/* With threads it computes the same bits. */
static void threads_of_the_page(void **state)
{
    (void)state;
    char command[2000];
    if (access(BRIO_SOURCE_DIR "/build/npm/package/threads/engine-threads.wasm", R_OK) != 0 ||
        system("node --version >/dev/null 2>&1") != 0) {
        print_message("SKIPPED: the engine for browsers is not built, or there is no Node.js; make "
                      "playground\n");
        return;
    }
    snprintf(command, sizeof command,
             "node '%s/integrations/npm/same-bits.mjs' '%s/build/npm/package'", BRIO_SOURCE_DIR,
             BRIO_SOURCE_DIR);
    assert_int_equal(system(command), 0);
}

/* Grid of 20 x 15, three relaxations, walls, damping and gravity as there. TOLERANCE 1e-12 pixels,
 * less than the last bit of a position: two rows fall on each other at once, and what differs in a
 * bit goes other ways from there. So a frame is 1/64 s, by which numbers can be divided exactly,
 * and the damping the number that leaves 0.99 after it. */
static void page_of_the_cloth(void **state)
{
    (void)state;
    static const char page[] = BRIO_SOURCE_DIR "/../shared/papers/004_1b20cf05b1bc4408.txt";
    enum { FRAMES = 300, COUNT = 300 };
    char folder[] = "/tmp/brio-page-XXXXXX", command[2000], path[600], text[1200];
    if (access(page, R_OK) != 0 || system("node --version >/dev/null 2>&1") != 0) {
        print_message("SKIPPED: the page is not there, or there is no Node.js\n");
        return;
    }
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command, "node '%s/web/playground/cloth-page.mjs' '%s' '%s'",
             BRIO_SOURCE_DIR, page, folder);
    assert_int_equal(system(command), 0);
    BrioSim *sim;
    BrioError error = {0};
    snprintf(path, sizeof path, "%s/scene.json", folder);
    BrioStatus status = brio_sim_load(path, &sim, &error);
    brio_error_text(&error, text, sizeof text);
    if (status != BRIO_OK) fail_msg("%s", text);
    double values[BRIO_MAX_VALUES], kept = pow(0.99, 64.0 / 60);
    while (pow(kept, 60 * 0x1p-6) < 0.99) kept = nextafter(kept, 1);
    while (pow(kept, 60 * 0x1p-6) > 0.99) kept = nextafter(kept, 0);
    assert_true(pow(kept, 60 * 0x1p-6) == 0.99);
    brio_sim_integrator(sim, values);
    assert_int_equal(
        brio_fields_set(brio_integrator("pbd-verlet")->fields, values, "damping", &kept, NULL),
        BRIO_OK);
    assert_int_equal(brio_sim_set_integrator(sim, "pbd-verlet", values, NULL), BRIO_OK);
    size_t count;
    snprintf(path, sizeof path, "%s/frames.bin", folder);
    double *rows = read_rows(path, &count), x[3 * COUNT], worst = 0, way = 0;
    assert_int_equal(count, FRAMES * 2 * COUNT);
    assert_int_equal(brio_body_vertices(brio_sim_system(sim), 0), COUNT);
    for (size_t n = 0; n < FRAMES; n++) {
        assert_int_equal(brio_sim_step(sim, NULL), BRIO_OK);
        brio_sim_positions(sim, 0, x);
        for (size_t i = 0; i < COUNT; i++)
            for (size_t r = 0; r < 2; r++) {
                double there = rows[2 * (n * COUNT + i) + r];
                worst = brio__larger(worst, fabs(x[3 * i + r] - there));
                way = brio__larger(way, fabs(there - rows[2 * i + r]));
            }
    }
    print_message(
        "largest difference %.1e pixels in %d frames, in which particles moved up to %.0f pixels\n",
        worst, FRAMES, way);
    assert_true(way > 20);
    assert_true(worst <= 1e-12);
    free(rows);
    brio_sim_free(sim);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(trajectories),
                                       cmocka_unit_test(threads_of_the_page),
                                       cmocka_unit_test(page_of_the_cloth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
