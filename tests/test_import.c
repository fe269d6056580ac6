/* brio mesh and brio import, as a user runs them. */
#include "importing.h"

static const char *const folders[] = {"input", "input/tetMeshes", "input/triMeshes", "scenes"};

static int set_up(void **state)
{
    if (enter_folder(state)) return -1;
    for (size_t i = 0; i < BRIO_COUNT(folders); i++) mkdir(folders[i], 0777);
    setenv("XDG_CACHE_HOME", work_folder, 1);
    const double cube[] = {1, 1, 1, 2, 2, 2}, bar[] = {4, 1, 1, 6, 2, 2};
    write_shape("box", cube, 6, "input/tetMeshes/cube.msh");
    write_shape("box", bar, 6, "input/tetMeshes/bar.msh");
    write_shape("sphere", NULL, 0, "input/triMeshes/ball.obj");
    static const char *const names[] = {"fall",   "boundary", "kinematic", "lattice",
                                        "matrix", "twist",    "squash",    "throw"};
    for (size_t i = 0; i < BRIO_COUNT(names); i++) {
        char from[64], to[64];
        snprintf(from, sizeof from, "ipc/%s.txt", names[i]);
        snprintf(to, sizeof to, "scenes/%s.txt", names[i]);
        if (!copy_input(from, to)) return -1;
    }
    return 0;
}

/* ---- import ----------------------------------------------------------------------------- */

typedef struct Expected {
    const char *name;
    int losses;            /* exit code 1 if there are any */
    const char *out;       /* what import prints, without the first line's folder */
    const char *scene[16]; /* lines that the scene must have */
} Expected;

static const Expected imports[] = {
    {"fall",
     0,
     "fall.yaml: 2 bodies, 1 obstacle\n",
     {"time: {h: 0.025, end: 0.1, fps: 40}", "gravity: [0, -9.80665, 0]",
      "integrator: backward-euler",
      "  material: {type: neo-hookean, E: 100000, nu: 0.4, rho: 1000}",
      "  material1: {type: neo-hookean, E: 1000000, nu: 0.3, rho: 3000}",
      "    mesh: \"input/tetMeshes/cube.msh\"", "    - {between: [material, obstacle0], mu: 0.2}",
      "    - {between: [material1, obstacle0], mu: 0.2}", "  mu: 0.1", "    type: plane"}},
    {"boundary",
     3,
     "boundary.yaml: 2 bodies, 0 obstacles\n  scenes/boundary.txt:11: LOST: NBC: brio has no "
     "force on a part of a body; left out\n  scenes/boundary.txt:17: warmStart: brio starts every "
     "step from its own prediction; left out\n  scenes/boundary.txt:18: view: brio render and "
     "brio view find their own camera; left out\n  scenes/boundary.txt:19: zoom: brio render and "
     "brio view find their own camera; left out\n  scenes/boundary.txt:8: LOST: DBC: from 0.04 s "
     "on the vertices are free there, until another time range; here they stay fixed\n  "
     "scenes/boundary.txt:11: LOST: DBC: from 0.02 s on the vertices are free there, until "
     "another time range; here they stay fixed\n",
     {"  material: {type: fixed-corotated, E: 200000, nu: 0.35, rho: 900}", "gravity: [0, 0, 0]",
      "        script: {velocity: [-0.5, 0, 0]}", "    fix:",
      "        script: {keys: [[0, 0, 0, 0], [0.02, -0.02, 0, 0], [0.04, -0.02, 0, 0], [0.06, "
      "-0.02, 0.04, 0]]}"}},
    {"kinematic",
     1,
     "kinematic.yaml: 1 body, 5 obstacles\n"
     "  scenes/kinematic.txt:10: cameraTracking: brio render and brio view find their own camera; "
     "left out\n"
     "  scenes/kinematic.txt:11: playBackSpeed: brio render --speed sets the speed of a film; left "
     "out\n"
     "  scenes/kinematic.txt:6: LOST: meshSeq: brio moves obstacles by turns and shifts at a "
     "constant rate, and the meshes 0, 1, ... of \"input/sequence\" are no such motion, or not "
     "there for every step; this one stays where it is\n",
     {"    script: {velocity: [-1, 0, 0]}", "    normal: [0, 2, 0]",
      "    - {between: [material, obstacle0], mu: 0.5}",
      "    - {between: [material, obstacle1], mu: 0.25}",
      "    mesh: \"input/triMeshes/ball.obj\""}},
    {"lattice",
     0,
     "lattice.yaml: 4 bodies, 1 obstacle\n  scenes/lattice.txt:11: fricIterAmt: brio renews "
     "friction's normal forces and directions until they stay; contact.friction_iterations in a "
     "scene limits that; left out\n  scenes/lattice.txt:12: tol: brio has one tolerance for all "
     "steps; using the smallest of the 2\n  scenes/lattice.txt:16: section: settings of other "
     "solvers than the barrier; left out\n  scenes/lattice.txt:20: appendStr: brio run -o names "
     "the folder; left out\n",
     {"integrator: {type: newmark, beta: 0.25, gamma: 0.5}", "  - {type: rayleigh, beta: 0.003}",
      "time: {h: 0.005, end: 0.02, fps: 60}"}},
    {"matrix",
     1,
     "matrix.yaml: 4 bodies, 1 obstacle\n  scenes/matrix.txt:9: disableCout: the nearest option "
     "is brio run --quiet; left out\n  scenes/matrix.txt:10: LOST: restart: the scene starts "
     "there from a state of the other program, and here from rest\n  scenes/matrix.txt:11: "
     "NBCTimeRange: brio has no force on a part of a body; left out\n",
     {"    array: {count: [2, 2, 1], spacing: [1.5, 1.5, 1.5]}",
      "    transform: {scale: 4, translate: [0.5, -3, 0.5]}"}},
    {"twist",
     0,
     "twist.yaml: 1 body, 0 obstacles\n  scenes/twist.txt:18: constraintSolver SQP: brio has the "
     "barrier (interiorPoint); that is taken\n  scenes/twist.txt:19: QPSolver: a setting of other "
     "solvers than the barrier; left out\n  scenes/twist.txt:20: exactCCD: brio's collision "
     "detection is conservative by itself; brio check --exact proves a run; left out\n  "
     "scenes/twist.txt:21: \"stifness\" is not a known keyword; did you mean \"stiffness\"?; left "
     "out\n",
     {"  - {type: rayleigh, beta: 0.0001}", "    fix:"}},
    {"squash", /* lengths in metres; obstacles that come together and move back */
     0,
     "squash.yaml: 1 body, 2 obstacles\n"
     "  scenes/squash.txt:2: linearSolver: brio chooses by the size of the scene; solver.linear in "
     "a scene names one; left out\n"
     "  scenes/squash.txt:6: kappaMinMultiplier: the stiffness of contact is chosen by the weights "
     "(kappa: auto); left out\n",
     {"solver: {tol: 0.00173205080756888}", "  dhat: 0.01", "  epsv: 0.002",
      "    script: {keys: [[0, 0, 0, 0], [0.96, 0.96, 0, 0], [1, 0.92, 0, 0]]}",
      "    script: {keys: [[0, 0, 0, 0], [0.96, -0.96, 0, 0], [1, -0.92, 0, 0]]}"}},
    {"throw", /* lengths by the diagonal of what is simulated, 13 m, not of the obstacle as well */
     0,
     "throw.yaml: 1 body, 1 obstacle\n",
     {"solver: {tol: 0.0013}", "  dhat: 0.013", "    velocity: {linear: [7.5, 0, 0]}",
      "  - {type: rayleigh, beta: 0.0004}"}},
};

static void expect_line(const char *text, const char *line, const char *name)
{
    char all[512];
    snprintf(all, sizeof all, "\n%s\n", line);
    if (!strstr(text, all)) fail_msg("%s.yaml has no line \"%s\":\n%s", name, line, text);
}

static void test_imports_run(void **state)
{
    (void)state;
    const Outcome *o;
    for (size_t i = 0; i < BRIO_COUNT(imports); i++) {
        const Expected *e = &imports[i];
        char in[64], out[64], run[64];
        snprintf(in, sizeof in, "scenes/%s.txt", e->name);
        snprintf(out, sizeof out, "%s.yaml", e->name);
        snprintf(run, sizeof run, "%s-run", e->name);
        o = BRIO("import", "ipc", in);
        if (o->code != (e->losses > 0) || strcmp(o->out, e->out))
            fail_msg("%s: exit code %d\n%s%s\ninstead of\n%s", e->name, o->code, o->out, o->err,
                     e->out);
        char lost[200] = "";
        if (e->losses)
            snprintf(lost, sizeof lost,
                     "brio import: %s moves differently from the original scene: %d %s lost (LOST "
                     "above)\n",
                     out, e->losses, e->losses == 1 ? "part of it is" : "parts of it are");
        assert_string_equal(o->err, lost);
        char *text = read_all(out, NULL);
        assert_non_null(text);
        for (int k = 0; k < (int)BRIO_COUNT(e->scene) && e->scene[k]; k++)
            expect_line(text, e->scene[k], e->name);
        free(text);
        o = BRIO("run", out, "-o", run);
        if (o->code != 0 || !strstr(o->out, "completed"))
            fail_msg("%s does not run: %s%s", out, o->out, o->err);
        printf("%s imported and run\n", e->name);
        o = BRIO("import", "ipc", in); /* never over a file that already exists */
        assert_int_equal(o->code, 2);
        assert_non_null(strstr(o->err, "already exists"));
    }
}

/* The twisted ends turn as the script says: 0.4 pi rad/s for 0.05 s. */
static void test_twist_moves(void **state)
{
    (void)state;
    const Outcome *o;
    o = BRIO("import", "ipc", "scenes/twist.txt", "-o", "scenes/t.yaml");
    assert_int_equal(o->code, 0);
    char *text = read_all("scenes/t.yaml", NULL);
    expect_line(text, "    mesh: \"../input/tetMeshes/bar.msh\"", "scenes/t");
    assert_non_null(strstr(text, "angular: [-1.25663706143592, 0, 0], about: [0, 0, 0]"));
    assert_non_null(strstr(text, "angular: [1.25663706143592, 0, 0], about: [0, 0, 0]"));
    free(text);
}

static void test_wrong_imports(void **state)
{
    (void)state;
    const Outcome *o;
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"", "w.txt: the file is empty\n"},
        {"time 1 0.1\n", "w.txt: the scene has no shapes (\"shapes input N\" and N lines): this is "
                         "no scene of IPC, or it is empty\n"},
        {"\n\ntime one 0.1\n",
         "w.txt:3:6: expected duration and time step, a number, found \"one\"\n"},
        {"time 1\n",
         "w.txt:1: expected duration and time step after \"1\", found the end of the line\n"},
        {"time -1 0.1\n", "w.txt:1:1: time -1 0.1: duration and step must be positive\n"},
        {"shapes input 2\ninput/tetMeshes/cube.msh 0 0 0 0 0 0 1 1 1\n",
         "w.txt:3: expected shape no. 2 of 2, found the end of the file\n"},
        {"shapes input 1\nno.msh 0 0 0 0 0 0 1 1 1\n",
         "w.txt:2:1: there is no file \"no.msh\" next to the scene or in a folder above it; put "
         "it there, or correct the name\n"},
        {"shapes grid 1\n", "w.txt:1:8: shapes of type \"grid\" are not known; brio reads "
                            "\"input\": meshes from files\n"},
        {"shapes input 1\ninput/triMeshes/ball.obj 0 0 0 0 0 0 1 1 1\n",
         "w.txt: the scene has no body to simulate: a shape with tets and without a prescribed "
         "velocity\n"},
        {"density 0\n", "w.txt:1:9: density is 0; it must be positive\n"},
        {"tol 2\n1\n", "w.txt:3: expected a tolerance, found the end of the file\n"},
    };
    for (size_t i = 0; i < BRIO_COUNT(wrong); i++) {
        write_text("w.txt", wrong[i].text);
        o = BRIO("import", "ipc", "w.txt", "-o", "w.yaml");
        assert_int_equal(o->code, 2);
        if (strcmp(o->err, wrong[i].message))
            fail_msg("%s\ninstead of\n%s", o->err, wrong[i].message);
        assert_int_equal(access("w.yaml", F_OK), -1);
    }
    o = BRIO("import", "icp", "w.txt");
    assert_string_equal(o->err, "brio import: no format \"icp\"; did you mean \"ipc\"?\n");
}

/* ---- meshes ----------------------------------------------------------------------------- */

static void test_convert_and_info(void **state)
{
    (void)state;
    const Outcome *o;
    o = BRIO("mesh", "convert", "input/tetMeshes/cube.msh", "cube surface.stl");
    assert_int_equal(o->code, 0);
    assert_string_equal(
        o->out, "cube surface.stl: 26 vertices, 48 triangles\n  .stl holds no tets: written is the "
                "surface of the 40 tets, 48 triangles with 26 of the 27 vertices\n"
                "  binary .stl rounds coordinates to single precision; --ascii keeps all digits\n");
    o = BRIO("mesh", "convert", "input/tetMeshes/cube.msh", "cube surface.stl");
    assert_int_equal(o->code, 2);
    assert_string_equal(o->err, "brio mesh: cube surface.stl already exists: give another name, "
                                "or --force to replace it\n");
    o = BRIO("mesh", "convert", "input/tetMeshes/cube.msh", "cube surface.stl", "--force",
             "--ascii");
    assert_int_equal(o->code, 0);
    o = BRIO("mesh", "info", "cube surface.stl");
    assert_int_equal(o->code, 0);
    assert_non_null(strstr(o->out, "    volume       1\n"));
    assert_non_null(strstr(o->out, "    area         6\n"));
    assert_non_null(strstr(o->out, "    surface      closed\n"));
    o = BRIO("mesh", "info", "cube surface.stl", "--json");
    assert_non_null(strstr(o->out, "\"self_intersections\": 0"));
    o = BRIO("mesh", "convert", "cube surface.stl", "cube.node");
    assert_int_equal(o->code, 2);
    assert_string_equal(o->err, "cube.node: .node and .ele store tets, and the mesh has none; use "
                                "another format, or make tets first: brio mesh tetrahedralise\n");
    o = BRIO("mesh", "convert", "input/tetMeshes/cube.msh", "pair.ele");
    assert_int_equal(o->code, 0);
    o = BRIO("mesh", "convert", "input/tetMeshes/cube.msh", "cube.vtu", "--json");
    assert_int_equal(o->code, 0);
    assert_int_equal(strncmp(o->out, "{\n  \"mesh\": \"cube.vtu\",", 23), 0);
    assert_non_null(strstr(o->out, "\"tets\": 40"));
    o = BRIO("mesh", "info", "pair.node");
    assert_non_null(
        strstr(o->out, "27 vertices, 40 tets, 48 triangles of their surface; 1 component"));
    write_text("open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    o = BRIO("mesh", "info", "open.obj");
    assert_int_equal(o->code, 0);
    assert_non_null(strstr(o->out, "  ! the surface is open: 3 edges belong to one triangle only, "
                                   "the first joins vertices 0 and 1\n"));
    o = BRIO("mesh", "convrt", "a", "b");
    assert_string_equal(o->err, "brio mesh: no task \"convrt\"; did you mean \"convert\"?\n");
    /* a frame that brio wrote is a mesh that brio reads */
    write_text("frame.yaml",
               "bodies:\n  - shape: {type: ball}\n    material: {type: neo-hookean, E: 1e5, nu: "
               "0.4, rho: 1000}\n  - shape: {type: grid}\n    material: {type: hooke, rho: 1}\n"
               "    transform: {translate: [9, 0, 0]}\ntime: {h: 0.01, end: 0.01}\noutput: "
               "{frames: [vtu]}\n");
    o = BRIO("run", "frame.yaml", "-o", "frame");
    if (o->code) fail_msg("%s", o->err);
    o = BRIO("mesh", "info", "frame/frames/frame_000000.vtu");
    if (o->code) fail_msg("%s", o->err);
    assert_non_null(strstr(o->out, "1280 tets"));
}

static void test_tetrahedralise(void **state)
{
    (void)state;
    const Outcome *o;
    write_text("open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    write_text("ball \"'.yaml",
               "bodies:\n  - mesh: \"ball \\\"'.obj\"\n    kind: solid\n    material: {type: "
               "neo-hookean, E: 1e5, nu: 0.4, rho: 1000}\ntime: {h: 0.01, end: 0.01}\n");
    size_t size = 0;
    char *text = read_all("input/triMeshes/ball.obj", &size);
    write_bytes("ball \"'.obj", text, size);
    free(text);
    /* without a program: one sentence */
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/nonexistent", 1);
    o = BRIO("check", "ball \"'.yaml");
    setenv("PATH", path, 1);
    assert_int_equal(o->code, 2);
    assert_string_equal(
        o->err, "ball \"'.obj: the file has a surface without tets, and neither tetgen nor gmsh is "
                "installed to fill it: install one of them (Debian: apt-get install tetgen), use a "
                "mesh of tets, or, in a scene, `cage: 10`\n");
    int tools = 0;
    for (int i = 0; i < 2; i++) {
        const char *tool = i ? "gmsh" : "tetgen";
        if (!has_program(tool)) {
            printf("SKIPPED: %s is not installed\n", tool);
            continue;
        }
        tools++;
        o = BRIO("mesh", "tetrahedralise", "ball \"'.obj", "-o", "body.msh", "--with", tool,
                 "--force");
        if (o->code) fail_msg("%s: %s", tool, o->err);
        assert_non_null(strstr(o->out, "quality"));
        BrioMesh *surface, *solid;
        assert_int_equal(brio_mesh_read("ball \"'.obj", &surface, NULL), BRIO_OK);
        assert_int_equal(brio_mesh_read("body.msh", &solid, NULL), BRIO_OK);
        assert_int_equal(brio__mesh_check_solid(solid, NULL), BRIO_OK);
        /* the surface's vertices come first */
        assert_memory_equal(solid->x, surface->x, 24 * (size_t)surface->vertex_count);
        brio_mesh_surface(solid, NULL);
        assert_int_equal(solid->triangle_count, surface->triangle_count);
        printf("%s: %lld vertices and %lld triangles became %lld vertices and %lld tets\n", tool,
               (long long)surface->vertex_count, (long long)surface->triangle_count,
               (long long)solid->vertex_count, (long long)solid->tet_count);
        brio_mesh_free(surface);
        brio_mesh_free(solid);
    }
    if (!tools) {
        free(path);
        return;
    }
    o = BRIO("mesh", "tetrahedralise", "open.obj", "-o", "open.msh");
    assert_int_equal(o->code, 2);
    assert_string_equal(
        o->err, "open.obj: the mesh is two-dimensional (all its vertices have z = 0), and a solid "
                "has three dimensions; give it a volume, before tets can fill it\n");
    write_text("bent.obj", "v 0 0 0\nv 1 0 0\nv 0 1 1\nf 1 2 3\n");
    o = BRIO("mesh", "tetrahedralise", "bent.obj", "-o", "open.msh");
    assert_int_equal(o->code, 2);
    assert_string_equal(
        o->err, "bent.obj: the surface is not closed: the edge of vertices 0 1 belongs to 1 "
                "triangle (0; all counted from 0); close the hole, before tets can fill it\n");
    o = BRIO("mesh", "tetrahedralise", "input/tetMeshes/cube.msh", "-o", "open.msh");
    assert_int_equal(o->code, 2);
    o = BRIO("mesh", "tetrahedralise", "ball \"'.obj", "-o", "body.obj");
    assert_string_equal(
        o->err, "brio mesh: .obj cannot store tets: use .msh, .mesh, .vtk, .vtu or .node\n");
    /* in a scene, and from the cache the next time: the file's own bytes are the key, so the
     * program is not needed any more */
    o = BRIO("run", "ball \"'.yaml", "-o", "ball-run");
    if (o->code) fail_msg("%s", o->err);
    setenv("PATH", "/nonexistent", 1);
    o = BRIO("check", "ball \"'.yaml");
    if (o->code) fail_msg("%s", o->err);
    /* another length is another mesh */
    o = BRIO("check", "ball \"'.yaml", "--set", "bodies.0.edge=0.3");
    assert_int_equal(o->code, 2);
    setenv("PATH", path, 1);
    free(path);
}

/* A program that never ends is ended with brio, one that fails is quoted; nothing stays behind. */
static void test_tool_stopped(void **state)
{
    (void)state;
    const Outcome *o;
    char *before = strdup(getenv("PATH")), path[600], temporary[300];
    snprintf(path, sizeof path, "%s/bin:/usr/bin:/bin", work_folder);
    snprintf(temporary, sizeof temporary, "%s/temporary", work_folder);
    mkdir("bin", 0777);
    mkdir("temporary", 0777);
    setenv("PATH", path, 1);
    setenv("TMPDIR", temporary, 1);
    write_text("bin/tetgen", "#!/bin/sh\necho $$ >pid\nexec sleep 600\n");
    chmod("bin/tetgen", 0777);
    pid_t child =
        start_program((const char *const[]){"mesh", "tetrahedralise", "input/triMeshes/ball.obj",
                                            "-o", "stopped.msh", NULL},
                      0);
    for (int i = 0; i < 600 && access("pid", F_OK); i++) pause_for(0.05);
    pause_for(0.1);
    kill(child, SIGINT);
    assert_int_equal(wait_program(child), 1);
    char *text = read_all("pid", NULL);
    assert_non_null(text);
    assert_int_equal(kill((pid_t)atol(text), 0), -1);
    free(text);
    text = read_all(".err", NULL);
    assert_non_null(strstr(text, "input/triMeshes/ball.obj: tetgen was stopped"));
    free(text);
    assert_int_equal(access("stopped.msh", F_OK), -1);
    assert_int_equal(count_files("temporary"), 0);
    /* Ctrl-C in a terminal reaches both, and tetgen may be the first to end */
    write_text("bin/tetgen", "#!/bin/sh\nsleep 1\nkill -INT $PPID\nkill -KILL $$\n");
    /* an edge that no case before has asked for: tets are kept */
    write_text("filled.yaml", "brio: 1\nbodies: [{mesh: input/triMeshes/ball.obj, kind: solid, "
                              "edge: 0.31, material: {type: neo-hookean}}]\n");
    for (int i = 0; i < 2; i++) {
        o = i ? BRIO("check", "filled.yaml")
              : BRIO("mesh", "tetrahedralise", "input/triMeshes/ball.obj", "-o", "stopped.msh");
        assert_int_equal(o->code, 1);
        assert_non_null(strstr(o->err, "input/triMeshes/ball.obj: tetgen was stopped\n"));
    }
    write_text("bin/tetgen", "#!/bin/sh\necho Two facets cross.\nexit 3\n");
    o = BRIO("mesh", "tetrahedralise", "input/triMeshes/ball.obj", "-o", "stopped.msh");
    assert_int_equal(o->code, 2);
    assert_string_equal(
        o->err, "input/triMeshes/ball.obj: tetgen could not fill the surface (exit code 3): Two "
                "facets cross.; try a coarser edge length, or repair the surface\n");
    assert_int_equal(count_files("temporary"), 0);
    unlink("bin/tetgen");
    unsetenv("TMPDIR");
    setenv("PATH", before, 1);
    free(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_imports_run),    cmocka_unit_test(test_twist_moves),
        cmocka_unit_test(test_wrong_imports),  cmocka_unit_test(test_convert_and_info),
        cmocka_unit_test(test_tetrahedralise), cmocka_unit_test(test_tool_stopped)};
    return cmocka_run_group_tests(tests, set_up, leave_folder);
}
