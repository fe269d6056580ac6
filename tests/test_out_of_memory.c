/* Memory that runs out anywhere in the process, in the C library and in libfyaml too: the program
 * ends with a sentence, never with a crash. tests/failing_malloc.c makes calls fail. */
#include "program.h"
// clang-format off
#include "memory.h"
#include "sanitized.h"
// clang-format on

static const char scene[] =
    "brio: 1\n"
    "time: {h: 1/60, end: 0.05}\n"
    "contact: {type: ipc, mu: 0.2}\n"
    "obstacles: [{type: plane, normal: [0, 1, 0]}]\n"
    "bodies:\n"
    "  - {name: a, shape: {type: box, size: [0.2, 0.2, 0.2], cells: [1, 1, 1]}, material: jelly,\n"
    "     transform: {translate: [0, 0.11, 0]}}\n";

static long count_calls(const char *const *arguments)
{
    setenv("BRIO_FAIL_COUNT", "count", 1);
    unsetenv("BRIO_FAIL_AT");
    assert_int_equal(run_limited(0, arguments)->code, 0);
    char *text = read_all("count", NULL);
    assert_non_null(text);
    long calls = atol(text);
    free(text);
    unsetenv("BRIO_FAIL_COUNT");
    return calls;
}

/* Every `every`th call fails, once or for good. */
static void try_all(const char *const *arguments, long every, bool stays)
{
    int wrong = 0, refused = 0, runs = 0;
    setenv("LD_PRELOAD", BRIO_FAILING_MALLOC, 1);
    long calls = count_calls(arguments);
    assert_true(calls > 20);
    if (stays) setenv("BRIO_FAIL_STAYS", "1", 1);
    for (long k = 0; k < calls; k += every, runs++) {
        char at[32];
        snprintf(at, sizeof at, "%ld", k);
        setenv("BRIO_FAIL_AT", at, 1);
        const Outcome *o = run_limited(0, arguments);
        refused += o->code != 0;
        bool right = o->code >= 0 && o->code <= 2 && (o->code == 0 || o->out[0] || o->err[0]);
        if (right) continue;
        wrong++;
        print_message("call %ld of %ld, %s: code %d: %s\n", k, calls, arguments[0], o->code,
                      o->err);
    }
    unsetenv("LD_PRELOAD");
    unsetenv("BRIO_FAIL_AT");
    unsetenv("BRIO_FAIL_STAYS");
    print_message("%s: %d of %ld calls failed%s, %d refusals, %d wrong\n", arguments[0], runs,
                  calls, stays ? " for good" : "", refused, wrong);
    assert_true(refused > 0);
    assert_int_equal(wrong, 0);
}

static void the_program_survives(void **unused)
{
    (void)unused;
    if (SANITIZED) {
        print_message("SKIPPED: sanitizers have a malloc of their own\n");
        return;
    }
#ifdef BRIO_COUNTED
    print_message("SKIPPED: what writes counters of lines at exit crashes without memory\n");
    return;
#endif
    write_text("s.yaml", scene);
    const char *const run[] = {"run",     "s.yaml",    "-o", "out", "--force",
                               "--quiet", "--threads", "1",  NULL};
    const char *const check[] = {"check", "s.yaml", NULL};
    const char *const convert[] = {"convert", "out", "-o", "out.glb", "--force", NULL};
    try_all(run, 2, false);
    try_all(run, 20, true);
    try_all(check, 15, false);
    try_all(convert, 1, false);
}

static void checkpoints_say_that_memory_ran_out(void **unused)
{
    (void)unused;
    BrioSim *sim = NULL;
    Memory memory = {.failed = true};
    int refused = 0;
    assert_int_equal(brio_sim_parse(scene, strlen(scene), "s.yaml", &sim, NULL), BRIO_OK);
    assert_int_equal(brio_sim_save(sim, "saved", 1, NULL), BRIO_OK);
    brio_sim_free(sim);
    for (int64_t k = 0; memory.failed; k++) {
        brio_set_allocator(NULL);
        memory_start(&memory, -1, false);
        assert_int_equal(brio_sim_parse(scene, strlen(scene), "s.yaml", &sim, NULL), BRIO_OK);
        memory.fail_at = memory.calls + k;
        BrioError error = {0};
        BrioStatus status = brio_sim_restore(sim, "saved", &error);
        assert_int_equal(status, memory.failed ? BRIO_ERROR_MEMORY : BRIO_OK);
        refused += status != BRIO_OK;
        if (status) assert_string_equal(error.message, "out of memory");
        brio_sim_free(sim);
        assert_int_equal(memory.live, 0);
    }
    brio_set_allocator(NULL);
    print_message("%d allocations of brio_sim_restore failed\n", refused);
    assert_true(refused >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checkpoints_say_that_memory_ran_out),
        cmocka_unit_test(the_program_survives),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
