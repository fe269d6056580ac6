/* What all commands share: standard streams that are closed or full, narrow terminals, files that
 * are whole or not there. */
#define _GNU_SOURCE
#include "terminal.h"

#include "base.h"

static const char rope_scene[] =
    "brio: 1\ntime: {h: 1/100, end: 0.1, fps: 50}\nprobes: [{name: end, body: rope, vertex: 1}]\n"
    "bodies:\n  - name: rope\n    shape: {type: line, cells: 1}\n"
    "    material: {type: hooke, rho: 1.5}\n";

static const char tetrahedron[] =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/* Runs the program without standard streams. */
static int run_closed(const char *const *argv)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        for (int fd = 0; fd < 3; fd++) close(fd);
        execv(program(), (char *const *)argv);
        _exit(127);
    }
    return wait_program(child);
}

/* Words go nowhere, and not into the files of the run. */
static void closed_streams(void **state)
{
    (void)state;
    write_text("rope.yaml", rope_scene);
    assert_int_equal(BRIO("run", "rope.yaml", "-o", "open", "-q")->code, 0);
    assert_int_equal(
        run_closed((const char *const[]){"brio", "run", "rope.yaml", "-o", "closed", NULL}), 1);
    assert_true(same_file("open/energy.csv", "closed/energy.csv"));
    assert_true(same_file("open/probes.csv", "closed/probes.csv"));
    assert_true(same_file("open/motion.bin", "closed/motion.bin"));
    assert_int_equal(
        run_closed((const char *const[]){"brio", "run", "rope.yaml", "-o", "quiet", "-q", NULL}),
        0);
}

/* What nobody could read is a failure. */
static void full_output(void **state)
{
    (void)state;
    static const char *const arguments[] = {"--version", "list", "help"};
    if (access("/dev/full", W_OK)) {
        print_message("SKIPPED: there is no /dev/full\n");
        return;
    }
    for (size_t i = 0; i < BRIO_COUNT(arguments); i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            int full = open("/dev/full", O_WRONLY), none = open("/dev/null", O_WRONLY);
            dup2(full, 1);
            dup2(none, 2);
            execl(program(), "brio", arguments[i], (char *)NULL);
            _exit(127);
        }
        assert_int_equal(wait_program(child), 1);
    }
}

/* A line of progress fits into the terminal, or each would start a new one. */
static void narrow_terminal(void **state)
{
    (void)state;
    enum { WIDTH = 20 };
    int master;
    write_text("rope.yaml", rope_scene);
    pid_t child = start_at_terminal((const char *const[]){"run", "rope.yaml", "-o", "narrow", NULL},
                                    WIDTH, &master);
    if (child < 0) return;
    char text[65536];
    size_t used = 0;
    for (ssize_t got; used + 1 < sizeof text; used += (size_t)got)
        if ((got = read(master, text + used, sizeof text - 1 - used)) <= 0) break;
    text[used] = 0;
    assert_int_equal(wait_program(child), 0);
    close(master);
    assert_non_null(strstr(text, "100 %"));
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\r\n\033");
        if (length >= WIDTH) fail_msg("%zu columns: %.*s", length, (int)length, line);
        line += length + (line[length] != 0);
    }
}

/* Of a pipe, a link and a private file. */
static void places_of_results(void **state)
{
    (void)state;
    struct stat info;
    write_text("tet.obj", tetrahedron);
    write_text("target.stl", "old");
    assert_int_equal(chmod("target.stl", 0600), 0);
    assert_int_equal(symlink("target.stl", "link.stl"), 0);
    assert_int_equal(BRIO("mesh", "convert", "tet.obj", "link.stl")->code, 2);
    assert_int_equal(BRIO("mesh", "convert", "tet.obj", "link.stl", "--force")->code, 0);
    assert_int_equal(lstat("link.stl", &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat("target.stl", &info), 0);
    assert_int_equal(info.st_size, 84 + 4 * 50);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(symlink("/dev/null", "null.stl"), 0);
    assert_int_equal(BRIO("mesh", "convert", "tet.obj", "null.stl", "--force")->code, 0);
    assert_int_equal(stat("null.stl", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
}

/* Extensions are the same in capitals, for all commands. */
static void capitals(void **state)
{
    (void)state;
    write_text("TET.OBJ", tetrahedron);
    assert_int_equal(BRIO("mesh", "info", "TET.OBJ")->code, 0);
    const Outcome *o = BRIO("check", "TET.OBJ");
    assert_string_equal(o->err, "");
    assert_int_equal(o->code, 0);
    /* of TetGen's pair, both */
    write_text("solid.mesh",
               "MeshVersionFormatted 2\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 0\n0 1 "
               "0 0\n0 0 1 0\nTetrahedra\n1\n1 2 3 4 0\nEnd\n");
    assert_int_equal(BRIO("mesh", "convert", "solid.mesh", "PAIR.NODE")->code, 0);
    assert_int_equal(access("PAIR.ELE", F_OK), 0);
    assert_int_equal(BRIO("mesh", "info", "PAIR.NODE")->code, 0);
}

/* What no format holds is rejected, and what one does not hold is said. */
static void conversions(void **state)
{
    (void)state;
    write_text("cloud.pt", "v 0 0 0\nv 1 0 0\n");
    const Outcome *o = BRIO("mesh", "convert", "cloud.pt", "cloud.vtk");
    assert_int_equal(o->code, 2);
    assert_string_equal(
        o->err, "cloud.vtk: the mesh has points alone; brio writes tets, triangles and lines\n");
    assert_int_equal(access("cloud.vtk", F_OK), -1);
    write_text("square.obj",
               "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\ng lid\nf 1/1 2/1 3/1 4/1\n");
    o = BRIO("mesh", "convert", "square.obj", "square.stl", "--ascii");
    assert_string_equal(o->out,
                        "square.stl: 4 vertices, 2 triangles\n  brio does not write texture "
                        "coordinates, groups: left out\n");
}

/* What the format of the result cannot be is said before a mesh is read. */
static void wrong_results(void **state)
{
    (void)state;
    static const char *const tasks[] = {"repair", "tetrahedralise"};
    for (int i = 0; i < 2; i++) {
        const Outcome *o = BRIO("mesh", tasks[i], "none.obj", "-o", "x.mesh", "--binary");
        assert_int_equal(o->code, 2);
        assert_non_null(strstr(o->err, ".mesh is always text: leave --binary out"));
    }
}

/* A proof of a run with steps of brio's choice tells how far it is by the end of the run. */
static void progress_of_a_proof(void **state)
{
    (void)state;
    write_text("rope.yaml", rope_scene);
    remove_tree("auto");
    assert_int_equal(BRIO("run", "rope.yaml", "-o", "auto", "-q", "--set", "time.h=auto")->code, 0);
    const Outcome *o = BRIO("check", "--exact", "auto");
    assert_int_equal(o->code, 0);
    assert_non_null(strstr(o->err, "100 %  t = 0.100 of 0.1 s"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_streams),  cmocka_unit_test(full_output),
        cmocka_unit_test(narrow_terminal), cmocka_unit_test(places_of_results),
        cmocka_unit_test(capitals),        cmocka_unit_test(conversions),
        cmocka_unit_test(wrong_results),   cmocka_unit_test(progress_of_a_proof),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
