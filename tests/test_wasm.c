/* The engine for browsers against this one: the same scenes, the built-in LDLT, the tolerance at round-off. web/trajectories.mjs runs them in Node.js. */
#include "program.h"

#include <brio/brio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* TOLERANCE 1e-12 m: the two differ by fused multiply-adds of kernels and by the mathematical functions of their C libraries, in the last bits of each step. */
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
        assert_int_equal(brio_sim_step(sim), BRIO_OK);
        brio_sim_positions(sim, 0, x);
        for (size_t i = 0; i < width; i++) {
            worst = fmax(worst, fabs(x[i] - rows[n * width + i]));
            way = fmax(way, fabs(x[i] - first[i]));
        }
    }
    print_message("%s: largest difference %.1e m in %d steps, in which vertices moved up to %.3f m\n", name, worst, STEPS, way);
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
    static const char *const names[] = {"cloth", "beam", "cube", "ball", "chain"};
    char folder[] = "/tmp/brio-wasm-XXXXXX", command[2000];
    if (access(BRIO_SOURCE_DIR "/build/wasm/engine.wasm", R_OK) != 0 || system("node --version >/dev/null 2>&1") != 0) {
        print_message("SKIPPED: the engine for browsers is not built, or there is no Node.js; make playground\n");
        return;
    }
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command, "node '%s/web/trajectories.mjs' '%s/build/wasm' '%s'", BRIO_SOURCE_DIR, BRIO_SOURCE_DIR, folder);
    assert_int_equal(system(command), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) compare(folder, names[i]);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(trajectories)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
