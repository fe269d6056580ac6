/* Plug-ins (brio/plugin.h) in the commands of the program: what examples/plugin.c registers are
 * copies of what brio has, so results must agree with those of the originals. */
#include "base.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

static char folder[] = "/tmp/brio_plugin_XXXXXX";

/* What a command prints, both streams; its exit code is returned. */
static int command(char *text, size_t size, const char *format, ...)
{
    char line[4096], all[8192];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    snprintf(all, sizeof all, "cd %s && '%s' %s 2>&1", folder, BRIO_PROGRAM, line);
    FILE *pipe = popen(all, "r");
    assert_non_null(pipe);
    size_t used = fread(text, 1, size - 1, pipe);
    text[used] = 0;
    while (fgetc(pipe) != EOF) continue;
    return WEXITSTATUS(pclose(pipe));
}

static int lists_name(const char *family, const char *name)
{
    static char text[1 << 16];
    assert_int_equal(command(text, sizeof text, "list %s --plugin %s", family, BRIO_TEST_PLUGIN),
                     0);
    return strstr(text, name) != NULL;
}

static void every_list_has_them(void **state)
{
    (void)state;
    char text[4096];
    assert_true(lists_name("integrators", "plug-euler"));
    assert_true(lists_name("materials", "plug-spring"));
    assert_true(lists_name("forces", "plug-lift"));
    assert_true(lists_name("laws", "plug-cubic"));
    assert_int_equal(command(text, sizeof text, "list laws"), 0);
    assert_null(strstr(text, "plug-cubic"));
}

/* The last row of energy.csv: its first eight numbers are step, time and energies. */
static void last_energies(const char *run, double *value)
{
    char path[512], line[8192], last[8192] = "";
    snprintf(path, sizeof path, "%s/%s/energy.csv", folder, run);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) memcpy(last, line, sizeof last);
    fclose(file);
    char *at = last;
    for (int i = 0; i < 8; i++) {
        value[i] = strtod(at, &at);
        at += *at == ',';
    }
}

static void run_scene(const char *name, const char *arguments)
{
    char text[8192];
    int code = command(text, sizeof text, "run %s -o %s --quiet --force --plugin %s", arguments,
                       name, BRIO_TEST_PLUGIN);
    if (code) fail_msg("%s: %s", name, text);
}

/* Both do the same sums in another order: energies agree to `tolerance` of the largest. */
static void agree(const char *what, const char *original, const char *copy, double tolerance)
{
    double a[8], b[8], size = 0, most = 0;
    run_scene("original", original);
    run_scene("copy", copy);
    last_energies("original", a);
    last_energies("copy", b);
    for (int i = 2; i < 8; i++) size = brio__larger(size, fabs(a[i]));
    for (int i = 0; i < 8; i++) most = brio__larger(most, fabs(a[i] - b[i]) / (i < 2 ? 1 : size));
    print_message("%s: %.17g and %.17g J, %.2g apart\n", what, a[7], b[7], most);
    assert_true(a[0] > 0 && a[0] == b[0]);
    assert_true(most <= tolerance);
}

/* A scene in a file, with `type` for the @ in it. */
static void write_scene(const char *name, int number, const char *text, const char *type)
{
    char path[512];
    const char *mark = strchr(text, '@');
    snprintf(path, sizeof path, "%s/%s%d.yaml", folder, name, number);
    FILE *file = fopen(path, "w");
    assert_true(file && mark);
    fprintf(file, "%.*s%s%s\n", (int)(mark - text), text, type, mark + 1);
    fclose(file);
}

static void copies_agree_with_originals(void **state)
{
    (void)state;
    const char *cloth = "cloth --set time.end=0.2 --set solver.tol=1e-9";
    char a[1024], b[1024];
    snprintf(a, sizeof a, "%s --set integrator=backward-euler", cloth);
    snprintf(b, sizeof b, "%s --set integrator=plug-euler", cloth);
    agree("integrator", a, b, 0); /* the same calls: the same bits */
    for (int k = 0; k < 2; k++)
        write_scene("line", k,
                    "{bodies: [{shape: {type: line, length: 1, cells: 20}, material: {type: @, "
                    "k: 200, vertex_mass: 0.01}, fix: [{vertices: [0]}]}], time: {h: 1/100, end: "
                    "0.3}}",
                    k ? "plug-spring" : "hooke");
    agree("material", "line0.yaml", "line1.yaml", 1e-9);
    snprintf(a, sizeof a, "%s --set 'forces=[{type: constant, per: vertex, force: [0, 0.002, 0]}]'",
             cloth);
    snprintf(b, sizeof b, "%s --set 'forces=[{type: plug-lift, lift: 0.002}]'", cloth);
    run_scene("original", a);
    run_scene("copy", b);
    double p[8], q[8];
    last_energies("original", p);
    last_energies("copy", q);
    print_message("force: kinetic %.12g and %.12g J\n", p[2], q[2]);
    assert_true(fabs(p[2] - q[2]) <= 1e-6 * p[2]); /* one has a potential, the other is a force */
    /* one box falls on another, by vertices and faces and by edges, and that one on a plane */
    for (int k = 0; k < 2; k++)
        write_scene("boxes", k,
                    "{time: {h: 1/200, end: 0.1}, solver: {tol: 1e-9}, contact: {type: @, mu: 0.3, "
                    "dhat: 2e-3, kappa: 1e6}, obstacles: [{type: plane, point: [0, 0, 0], normal: "
                    "[0, 1, 0]}], materials: {soft: {type: neo-hookean, E: 1e5}}, bodies: [{shape: "
                    "{type: box, size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}, material: soft, "
                    "transform: {translate: [0, 0.0515, 0]}}, {shape: {type: box, size: [0.1, 0.1, "
                    "0.1], cells: [2, 2, 2]}, material: soft, transform: {rotate: [[0, 1, 0], 30], "
                    "translate: [0.02, 0.1535, 0]}, velocity: {linear: [0.1, -0.3, 0]}}]}",
                    k ? "plug-cubic" : "cubic");
    agree("law", "boxes0.yaml", "boxes1.yaml", 1e-9);
    last_energies("copy", q);
    assert_true(q[5] > 1e-6); /* J of contact: the law is at work */
}

static void compared_and_stable(void **state)
{
    (void)state;
    static char text[1 << 16];
    assert_int_equal(command(text, sizeof text,
                             "compare cloth --plugin %s --integrators plug-euler,backward-euler "
                             "--set time.end=0.1 --quiet -o compared",
                             BRIO_TEST_PLUGIN),
                     0);
    assert_non_null(strstr(text, "plug-euler"));
    assert_int_equal(command(text, sizeof text,
                             "stability --integrator plug-euler --k 1 --m 1 --d 0 --h 1 --json "
                             "--plugin=%s",
                             BRIO_TEST_PLUGIN),
                     0);
    assert_non_null(strstr(text, "\"det\": 0.5")); /* 1/(1 + h^2 k/m) */
}

static void refused(void **state)
{
    (void)state;
    static char text[4096];
    assert_int_equal(command(text, sizeof text, "list laws --plugin nothing.so"), 2);
    assert_non_null(strstr(text, "cannot load the plug-in"));
    assert_int_equal(command(text, sizeof text, "list laws --plugin %s", BRIO_TEST_OLD_PLUGIN), 2);
    assert_non_null(strstr(text, "was compiled for the binary interface 1, and this brio has"));
    assert_int_equal(command(text, sizeof text, "list laws --plugin %s", BRIO_TEST_NO_PLUGIN), 2);
    assert_non_null(strstr(text, "is no plug-in of brio: it has no entry point"));
    /* twice the same is once */
    assert_int_equal(command(text, sizeof text, "list laws --plugin %s --plugin %s",
                             BRIO_TEST_PLUGIN, BRIO_TEST_PLUGIN),
                     0);
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : 1;
}

static int tear_down(void **state)
{
    (void)state;
    char line[128];
    snprintf(line, sizeof line, "rm -rf %s", folder);
    return system(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_list_has_them),
        cmocka_unit_test(copies_agree_with_originals),
        cmocka_unit_test(compared_and_stable),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
