/* The page of brio live in a real browser (web/live/test.mjs), which grabs, pulls and changes what
 * the program computes; Ctrl-C then ends the program. */
#include "program.h"

static const char scene[] =
    "brio: 1\ntitle: A block in space\ntime: {h: 1/60, end: 1, fps: 30}\ngravity: [0, 0, 0]\n"
    "integrator: backward-euler\nbodies:\n  - name: block\n"
    "    shape: {type: box, size: [0.4, 0.3, 0.2], cells: [4, 3, 2]}\n"
    "    material: {type: neo-hookean, E: 1e5, nu: 0.3, rho: 1000}\n";

static void in_a_browser(void **state)
{
    (void)state;
    char address[200] = "", command[2000];
    if (!has_program("node")) {
        print_message("SKIPPED: there is no node\n");
        return;
    }
    write_text("block.yaml", scene);
    const char *const arguments[] = {"live", "block.yaml", "--no-open", "--threads", "1", NULL};
    pid_t server = start_program(arguments, 0);
    for (int tries = 0; tries < 400 && !strstr(address, "token="); tries++) {
        int status;
        if (waitpid(server, &status, WNOHANG) == server) {
            char *err = read_all(".err", NULL);
            bool without = err && strstr(err, "built without its page");
            print_message("%s%s", without ? "SKIPPED: " : "", err ? err : "");
            free(err);
            assert_true(without);
            return;
        }
        pause_for(0.05);
        char *now = read_all(".out", NULL);
        snprintf(address, sizeof address, "%.*s", now ? (int)strcspn(now, "\n") : 0,
                 now ? now : "");
        free(now);
    }
    snprintf(command, sizeof command, "node '%s/web/live/test.mjs' '%s' '%s' >browser.log 2>&1",
             BRIO_SOURCE_DIR, address, BRIO_REPORT_MODULES "/node_modules");
    int status = system(command), code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    char *log = read_all("browser.log", NULL);
    print_message("%s", log);
    free(log);
    kill(server, SIGINT);
    int ended = wait_program(server);
    assert_true(code == 0 || code == 77);
    assert_int_equal(ended, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_a_browser)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
