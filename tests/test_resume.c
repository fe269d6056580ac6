/* Runs that end because something failed inside: the checkpoint that is there and the tables fit
 * together, and --resume continues to the bytes of a run that nothing disturbed. */
#include "program.h"

#include "memory.h"
#include "run/run.h"

static const char scene_text[] = "time: {h: 1/100, end: 0.1, fps: 50}\n"
                                 "bodies:\n"
                                 "  - name: cube\n"
                                 "    shape: {type: box, cells: [2, 1, 1]}\n"
                                 "    material: {type: neo-hookean, E: 1e4}\n"
                                 "    velocity: {angular: [1, 2, 3]}\n"
                                 "output: {frames: [vtu, obj], checkpoints: 2}\n"
                                 "probes: [{name: end, body: cube, vertex: 3}]\n";

/* Of the C library's fsync: call `sync_fails` fails with `sync_reason`. */
static int sync_calls, sync_fails, sync_reason;
static char synced[8192]; /* the names of the files, each between slashes */
int fsync(int file)
{
    char link[64], name[512];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, name, sizeof name - 1);
    name[length < 0 ? 0 : length] = 0;
    const char *last = strrchr(name, '/');
    if (last && strlen(synced) + strlen(last) + 2 < sizeof synced)
        strcat(strcat(synced, last), "/");
    if (sync_calls++ != sync_fails) return 0;
    errno = sync_reason;
    return -1;
}

static BrioStatus run(const char *out, bool resume, Memory *memory, int64_t fail_at,
                      BrioRunResult *result, BrioError *error)
{
    BrioScene *scene = NULL;
    *error = (BrioError){0};
    BrioRunOptions options = {.out = out, .resume = resume, .checkpoint_steps = 3};
    if (memory) memory_start(memory, -1, false);
    assert_int_equal(brio__scene_load("scene.yaml", NULL, 0, &scene, error), BRIO_OK);
    if (memory && fail_at >= 0) memory->fail_at = memory->calls + fail_at;
    BrioStatus status = brio__run(scene, &options, result, error);
    brio__scene_free(scene);
    if (memory) brio_set_allocator(NULL);
    return status;
}

static void assert_same_results(const char *out)
{
    static const char *const names[] = {"energy.csv",
                                        "probes.csv",
                                        "motion.bin",
                                        "frames/frame_000000.obj",
                                        "frames/frame_000003.vtu",
                                        "frames/frame_000005.vtu",
                                        "frames/frame_000005.obj",
                                        "frames/frames.pvd"};
    char path[2][256];
    for (size_t i = 0; i < BRIO_COUNT(names); i++) {
        snprintf(path[0], sizeof path[0], "whole/%s", names[i]);
        snprintf(path[1], sizeof path[1], "%s/%s", out, names[i]);
        assert_true(same_file(path[0], path[1]));
    }
}

static int set_up(void **state)
{
    BrioRunResult result;
    BrioError error = {0};
    sync_fails = -1;
    if (enter_folder(state)) return -1;
    write_text("scene.yaml", scene_text);
    return run("whole", false, NULL, -1, &result, &error) != BRIO_OK;
}

/* Also that of the folder, after which either checkpoint may be the one that is there. */
static void a_sync_fails(void **unused)
{
    (void)unused;
    BrioRunResult result;
    for (int n = 0, failed = 1; failed; n++) {
        BrioError error = {0};
        sync_calls = 0, sync_fails = n, sync_reason = n % 2 ? EIO : ENOSPC;
        BrioStatus status = run("out", false, NULL, -1, &result, &error);
        failed = sync_calls > n;
        assert_int_equal(status, failed ? BRIO_ERROR_FILE : BRIO_OK);
        assert_int_equal(result.verdict == BRIO_VERDICT_COMPLETED, !failed);
        sync_fails = -1;
        if (failed && run("out", true, NULL, -1, &result, &error) != BRIO_OK)
            fail_msg("sync %d: %s", n, error.message);
        assert_same_results("out");
        remove_tree("out");
        if (!failed) print_message("%d syncs failed\n", n);
    }
}

/* What a checkpoint counts on is on the disk before it: each frame and each table. */
static void all_is_on_the_disk(void **unused)
{
    (void)unused;
    BrioRunResult result;
    BrioError error = {0};
    if (access("/proc/self/fd", F_OK)) {
        print_message("SKIPPED: no /proc\n");
        return;
    }
    synced[0] = 0;
    assert_int_equal(run("out", false, NULL, -1, &result, &error), BRIO_OK);
    const char *checkpoint = NULL; /* the last */
    for (char *at = synced; (at = strstr(at, "/checkpoint")); at++) checkpoint = at;
    assert_non_null(checkpoint);
    static const char *const tables[] = {"energy.csv", "probes.csv", "motion.bin"};
    for (int k = 0; k < 12 + 3; k++) {
        char name[64];
        snprintf(name, sizeof name, "/frame_%06d.%s/", k / 2, k % 2 ? "vtu" : "obj");
        if (k >= 12) snprintf(name, sizeof name, "/%s/", tables[k - 12]);
        const char *at = strstr(synced, name);
        if (!at || at > checkpoint) fail_msg("%s is not on the disk", name);
    }
    remove_tree("out");
}

static void an_allocation_fails(void **unused)
{
    (void)unused;
    BrioRunResult result;
    Memory memory;
    for (int64_t n = 0, failed = 1; failed; n++) {
        BrioError error = {0};
        BrioStatus status = run("out", false, &memory, n, &result, &error);
        failed = memory.failed;
        if (status != BRIO_OK) status = run("out", true, NULL, -1, &result, &error);
        if (status != BRIO_OK) fail_msg("allocation %lld: %s", (long long)n, error.message);
        assert_same_results("out");
        remove_tree("out");
        if (!failed) print_message("%lld allocations failed\n", (long long)n);
    }
}

/* Another scene that starts from a kept checkpoint: its target is as far from its energy as it was,
 * also where that state had no row in energy.csv. */
static void a_checkpoint_without_a_row(void **unused)
{
    (void)unused;
    static const char *const every[] = {"output.energy_every=1", "output.energy_every=10"};
    static const char *const from[] = {"kept0/checkpoints/000001", "kept1/checkpoints/000001"};
    static const char *const out[] = {"kept0", "kept1", "other0", "other1"};
    write_text("kept.yaml",
               "time: {h: 1/120, end: 0.1, fps: 24}\ngravity: [0, 0, 0]\n"
               "integrator: {type: a-search, decay: 6, ground: 0}\n"
               "bodies: [{name: a, shape: {type: box, cells: [1, 1, 1]}, material: jelly, "
               "velocity: {angular: [3, 5, 0]}}]\noutput: {checkpoints: 1}\n");
    for (int k = 0; k < 4; k++) {
        BrioScene *scene = NULL;
        BrioRunResult result;
        BrioError error = {0};
        BrioRunOptions options = {.out = out[k], .from = k < 2 ? NULL : from[k - 2]};
        const char *set = k < 2 ? every[k] : "time.h=1/60";
        assert_int_equal(brio__scene_load("kept.yaml", &set, 1, &scene, &error), BRIO_OK);
        if (brio__run(scene, &options, &result, &error) != BRIO_OK) fail_msg("%s", error.message);
        brio__scene_free(scene);
    }
    assert_true(same_file("other0/energy.csv", "other1/energy.csv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sync_fails), cmocka_unit_test(all_is_on_the_disk),
        cmocka_unit_test(an_allocation_fails), cmocka_unit_test(a_checkpoint_without_a_row)};
    return cmocka_run_group_tests(tests, set_up, leave_folder);
}
