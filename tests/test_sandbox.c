/* brio run --sandbox: what is left to a scene, and what is not. The same is tried without it, so
 * that a refusal is the sandbox's. */
#include "program.h"

#include "../cli/sandbox.h"
#include "sanitized.h"

#include <sys/socket.h>

static const char scene_text[] = "bodies: [{shape: {type: box, cells: [1, 1, 1]}, "
                                 "material: {type: neo-hookean}}]\n"
                                 "time: {end: 0.2}\n";

/* A sanitizer maps more memory than there is, and looks for leaks by means that are taken away. */
static bool there_is_one(void)
{
    if (SANITIZED) {
        print_message("SKIPPED: sanitizers do not go with a sandbox\n");
        return false;
    }
    write_text("plain.yaml", scene_text);
    const Outcome *o = BRIO("run", "plain.yaml", "-o", "first", "--sandbox", "--quiet");
    if (!strstr(o->err, "needs L")) return true;
    print_message("SKIPPED: %s", o->err);
    return false;
}

static void same_results(void **state)
{
    (void)state;
    if (!there_is_one()) return;
#ifdef BRIO_COUNTED
    print_message("SKIPPED: in the sandbox counters of lines cannot be written\n");
    return;
#endif
    assert_int_equal(BRIO("run", "plain.yaml", "-o", "outside", "--quiet")->code, 0);
    for (int threads = 1; threads <= 2; threads++) {
        const char *count = threads == 1 ? "1" : "2";
        const Outcome *o = BRIO("run", "plain.yaml", "-o", "inside", "--sandbox", "--force",
                                "--quiet", "--threads", count);
        assert_string_equal(o->err, "");
        assert_int_equal(o->code, 0);
        assert_true(same_file("inside/energy.csv", "outside/energy.csv"));
        assert_true(same_file("inside/motion.bin", "outside/motion.bin"));
        assert_int_equal(access("inside/report.html", F_OK), 0);
    }
    const Outcome *o = BRIO("run", "plain.yaml", "-o", "inside", "--sandbox", "--resume", "--quiet",
                            "--set", "time.end=0.4");
    assert_int_equal(o->code, 0);
    o = BRIO("run", "cantilever", "-o", "shipped", "--sandbox", "--quiet", "--set", "time.end=0.1",
             "--set", "solver.linear=cholesky");
    assert_string_equal(o->err, "");
    assert_int_equal(o->code, 0);
}

static void reads_beside_the_scene_only(void **state)
{
    (void)state;
    if (!there_is_one()) return;
    assert_int_equal(mkdir("beside", 0777), 0);
    static const char triangle[] = "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n";
    write_text("outside.obj", triangle);
    write_text("beside/inside.obj", triangle);
    for (int inside = 0; inside <= 1; inside++) {
        char text[512];
        snprintf(text, sizeof text,
                 "bodies: [{mesh: %s, kind: shell, material: {type: baraff-witkin}}]\n"
                 "time: {end: 0.1}\n",
                 inside ? "inside.obj" : "../outside.obj");
        write_text("beside/scene.yaml", text);
        const Outcome *o = BRIO("run", "beside/scene.yaml", "-o", "triangle", "--quiet", "--force");
        assert_int_equal(o->code, 0);
        o = BRIO("run", "beside/scene.yaml", "-o", "triangle", "--quiet", "--force", "--sandbox");
        assert_int_equal(o->code, inside ? 0 : 2);
        if (!inside) assert_non_null(strstr(o->err, "outside.obj"));
        if (!inside) assert_non_null(strstr(o->err, "Permission denied"));
    }
}

/* What a process can do before and after; a bit each. */
enum { READS = 1, WRITES = 2, CONNECTS = 4, STARTS = 8, WRITES_OUT = 16 };

static int abilities(void)
{
    int found = 0, file;
    if ((file = open("/etc/passwd", O_RDONLY)) >= 0) found |= READS;
    if ((file = open("stray", O_CREAT | O_WRONLY, 0666)) >= 0) found |= WRITES;
    if ((file = open("out/kept", O_CREAT | O_WRONLY, 0666)) >= 0) found |= WRITES_OUT;
    if ((file = socket(AF_INET, SOCK_STREAM, 0)) >= 0) found |= CONNECTS;
    pid_t child = fork();
    if (!child) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    int status;
    if (waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status))
        found |= STARTS;
    return found;
}

static void takes_abilities(void **state)
{
    (void)state;
    if (!there_is_one()) return;
    for (int inside = 0; inside <= 1; inside++) {
        fflush(NULL);
        pid_t child = fork();
        if (!child) {
            char why[512] = "";
            mkdir("out", 0777);
            if (inside && !sandbox_enter("plain.yaml", "out", why, sizeof why)) _exit(255);
            _exit(abilities());
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status),
                         inside ? WRITES_OUT : READS | WRITES | CONNECTS | STARTS | WRITES_OUT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_results),
        cmocka_unit_test(reads_beside_the_scene_only),
        cmocka_unit_test(takes_abilities),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
