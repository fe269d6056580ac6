/* brio import polyfem: ten scenes that are imported, checked and run, and every keyword. */
#include "importing.h"

static int set_up(void **state)
{
    static const char *const names[] = {"drop",   "cantilever", "turn",    "press",
                                        "array",  "units",      "kinds",   "stretch",
                                        "thrown", "shared",     "settings"};
    if (enter_folder(state)) return -1;
    mkdir("meshes", 0777);
    const double cube[] = {1, 1, 1, 2, 2, 2}, bar[] = {4, 1, 1, 6, 2, 2};
    write_shape("box", cube, 6, "meshes/cube.msh");
    write_shape("box", bar, 6, "meshes/bar.msh");
    write_shape("sphere", NULL, 0, "meshes/ball.obj");
    write_text("meshes/sheet.obj", "v 0 3 0\nv 1 3 0\nv 1 3 1\nv 0 3 1\nf 1 2 3\nf 1 3 4\n");
    write_text("meshes/kite.obj", "v 0 0 0\nv 1 0 0\nv 0 1 1\nv 9 9 9\nf 1 2 3\nl 1 2\nl 3 4\n");
    write_text("meshes/line.obj", "v 0 0 0\nv 1 0 0\nl 1 2\n");
    write_text("flat.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 "
                           "1 0\n$EndNodes\n$Elements\n1\n1 2 2 0 1 1 2 3\n$EndElements\n");
    write_text("curved.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n"
                             "$Elements\n1\n1 11 2 0 1 1 1 1 1 1 1 1 1 1 1\n$EndElements\n");
    for (size_t i = 0; i < BRIO_COUNT(names); i++) {
        char from[64], to[64];
        snprintf(from, sizeof from, "polyfem/%s.json", names[i]);
        snprintf(to, sizeof to, "%s.json", names[i]);
        if (!copy_input(from, to)) return -1;
    }
    return 0;
}

/* ---- scenes ----------------------------------------------------------------------------- */

/* What import prints behind the first line, and lines of the scene. */
static const struct {
    const char *name, *first, *report;
    const char *line[10];
} scenes[] = {
    {"drop",
     "1 body, 1 obstacle",
     "  drop.json:15: linear: brio chooses by the size of the scene; solver.linear in a scene "
     "names "
     "one; left out\n",
     {"time: {h: 0.02, end: 0.2, fps: 50}", "gravity: [0, -9.81, 0]", "integrator: backward-euler",
      "solver: {tol: 5e-05, max_iterations: 200}", "  dhat: 0.005", "  mu: 0.3",
      "  friction_iterations: 3", "    type: plane",
      "    transform: {scale: 1, rotate: [[0, 1, 0], 30], translate: [0, 0.6, 0]}",
      "  material0: {type: neo-hookean, E: 100000, nu: 0.4, rho: 1000}"}},
    {"cantilever",
     "1 body, 0 obstacles",
     "",
     {"integrator: static", "gravity: [0, -5, 0]",
      "  material0: {type: fixed-corotated, E: 200000, nu: 0.3, rho: 500}",
      "      - vertices: [0, 7, 14, 21, 28, 35, 42, 49, 56]"}},
    {"turn",
     "1 body, 0 obstacles",
     "",
     {"time: {h: 0.05, end: 0.2, fps: 20}", "integrator: bdf2",
      "  material0: {type: neo-hookean, E: 77142.8571428571, nu: 0.285714285714286, rho: 1000}",
      "      - vertices: [6, 13, 20, 27, 34, 41, 48, 55, 62]",
      "        script: {velocity: [-0.5, 0, 0], angular: [3.14159265358979, 0, 0], about: [2, 0, "
      "0]}"}},
    {"press",
     "1 body, 1 obstacle",
     "",
     {"      - vertices: [0, 1, 2, 9, 10, 11, 18, 19, 20]",
      "    script: {keys: [[0, 0, 0, 0], [0.1, 0, -0.1, 0], [0.2, 0, -0.1, 0]]}"}},
    {"array",
     "4 bodies, 1 obstacle",
     "",
     {"time: {h: 0.025, end: 0.15, fps: 40}",
      "    transform: {scale: 0.4, translate: [0.5, 0.75, 0]}", "  dhat: 0.001",
      "    normal: [0, 2, 0]"}},
    {"units",
     "1 body, 1 obstacle",
     "",
     {"time: {h: 0.004, end: 0.04, fps: 60}", "gravity: [0, -9.81, 0]", "  dhat: 0.0001",
      "  epsv: 0.01", "  material0: {type: neo-hookean, E: 20000, nu: 0.4, rho: 1000}",
      "    transform: {scale: 0.01, translate: [0, 0.01, 0]}", "    point: [0, 0.004, 0]"}},
    {"kinds",
     "2 bodies, 0 obstacles",
     "  kinds.json:21: MooneyRivlin: the change of volume costs k/2 ln^2 J there and k/2 (J - 1)^2 "
     "here, which is the same for small changes\n",
     {"integrator: bdf3",
      "  material0: {type: mooney-rivlin, c1: 10000, c2: 2000, kappa: 100000, rho: 1000}",
      "  material1: {type: stvk, E: 100000, nu: 0.3, rho: 800}", "    material: material1",
      /* the top of the one, the top and the bottom of the other */
      "      - vertices: [6, 7, 8, 15, 16, 17, 24, 25, 26]",
      "      - vertices: [0, 1, 2, 6, 7, 8, 9, 10, 11, 15, 16, 17, 18, 19, 20, 24, 25, 26]",
      "        script: {velocity: [0, 0.1, 0]}"}},
    {"stretch",
     "1 body, 0 obstacles",
     "  stretch.json:12: LinearElasticity: brio has no material that treats rotations as strain; "
     "using corotated, which is the same without rotations\n",
     {"integrator: static", "time: {h: 0.25, end: 1, fps: 4}",
      "        script: {velocity: [0.5, 0, 0]}"}},
    {"thrown",
     "2 bodies, 0 obstacles",
     "",
     {"integrator: {type: newmark, beta: 0.25, gamma: 0.5}", "  - {type: rayleigh, beta: 0.003}",
      "    transform: {scale: 0.25, rotate: [[0, 0, 1], 45], translate: [0, 1, 0]}",
      "    velocity: {linear: [3, 0, 0]}", "    velocity: {linear: [0, -0.5, 0]}",
      "    transform: {scale: 1, rotate: [[0, 0, 1], 90], translate: [2, 1, 0]}"}},
    {"shared", /* the own keys, and behind them those of settings.json */
     "1 body, 1 obstacle",
     "",
     {"time: {h: 0.02, end: 0.1, fps: 50}", "  dhat: 0.005", "  mu: 0.5",
      "    transform: {scale: [8, 1, 8], translate: [0, -0.5, 0]}"}},
};

static void test_scenes(void **state)
{
    (void)state;
    for (size_t i = 0; i < BRIO_COUNT(scenes); i++) {
        char in[64], out[64], run[64], expected[600];
        snprintf(in, sizeof in, "%s.json", scenes[i].name);
        snprintf(out, sizeof out, "%s.yaml", scenes[i].name);
        snprintf(run, sizeof run, "%s-run", scenes[i].name);
        snprintf(expected, sizeof expected, "%s: %s\n%s", out, scenes[i].first, scenes[i].report);
        const Outcome *o = BRIO("import", "polyfem", in);
        if (o->code || strcmp(o->out, expected))
            fail_msg("%s: exit code %d\n%s%s\ninstead of\n%s", in, o->code, o->out, o->err,
                     expected);
        char *text = read_all(out, NULL);
        assert_non_null(text);
        for (int k = 0; k < (int)BRIO_COUNT(scenes[i].line) && scenes[i].line[k]; k++) {
            char line[400];
            snprintf(line, sizeof line, "\n%s\n", scenes[i].line[k]);
            if (!strstr(text, line)) fail_msg("%s has no line \"%s\":\n%s", out, line, text);
        }
        free(text);
        o = BRIO("check", out);
        if (o->code) fail_msg("brio check %s: %s%s", out, o->out, o->err);
        o = BRIO("run", out, "-o", run);
        if (o->code || !strstr(o->out, "completed"))
            fail_msg("%s does not run: %s%s", out, o->out, o->err);
        o = BRIO("check", "--exact", run);
        if (o->code) fail_msg("brio check --exact %s: %s%s", run, o->out, o->err);
        printf("%s imported, checked and run\n", scenes[i].name);
    }
}

/* A turn that is not even becomes keys of each vertex, which are where the formula says. */
static void test_formula_moves(void **state)
{
    (void)state;
    write_text("wind.json",
               "{\"geometry\": {\"mesh\": \"meshes/bar.msh\", \"surface_selection\": {\"id\": 2, "
               "\"axis\": \"x\", \"position\": 1.9}}, \"materials\": {\"type\": \"NeoHookean\", "
               "\"E\": 1e5, \"nu\": 0.3}, \"time\": {\"t0\": 1, \"tend\": 1.2, \"dt\": 0.05}, "
               "\"boundary_conditions\": {\"dirichlet_boundary\": [{\"id\": 2, \"value\": "
               "[\"-0.5*(t-1)\", \"rotate_2D_x(y, z, pi*(t-1)^2) - y\", \"rotate_2D_y(y, z, "
               "pi*(t-1)^2) - z\"]}]}}");
    const Outcome *o = BRIO("import", "polyfem", "wind.json");
    if (o->code) fail_msg("%s%s", o->out, o->err);
    char *text = read_all("wind.yaml", NULL);
    assert_non_null(text);
    double a = 0.04 * 3.14159265358979323846, y = -0.5, z = -0.5, u[3] = {-0.1, 0, 0};
    u[1] = y * cos(a) - z * sin(a) - y;
    u[2] = y * sin(a) + z * cos(a) - z;
    char *vertex = strstr(text, "      - vertices: [6]\n"); /* the corner y = z = -0.5 */
    assert_non_null(vertex);
    char *end = strstr(vertex, "]]}\n"), *start = end;
    assert_non_null(end);
    while (*start != '[') start--;
    double found[4];
    assert_int_equal(sscanf(start, "[%lf, %lf, %lf, %lf", found, found + 1, found + 2, found + 3),
                     4);
    for (int k = 0; k < 3; k++) /* fifteen digits are written */
        if (fabs(found[k + 1] - u[k]) > 1e-13) fail_msg("%.80s and not %.15g", start, u[k]);
    free(text);
}

/* ---- keywords --------------------------------------------------------------------------- */

#define CUBE "{\"mesh\": \"meshes/cube.msh\"}"
#define BODY(keys) "{\"mesh\": \"meshes/cube.msh\", " keys "}"
#define MATERIAL "\"materials\": {\"type\": \"NeoHookean\", \"E\": 1e5, \"nu\": 0.4, \"rho\": 1000}"
#define TIME "\"time\": {\"tend\": 1, \"dt\": 0.25}"
#define SCENE(geometry, keys) \
    "{\"geometry\": [" geometry "],\n" MATERIAL ",\n" TIME ",\n" keys "\"tests\": null}"
#define OF(material) "{\"geometry\": " CUBE ",\n\"materials\": " material "}"
#define AT(time) "{\"geometry\": " CUBE ",\n" MATERIAL ",\n\"time\": " time "}"
#define MOVED(keys) BODY("\"transformation\": {" keys "}")
#define SIDE "\"surface_selection\": {\"id\": 1, \"axis\": \"-y\", \"position\": -0.49}"
#define HELD(keys) \
    SCENE(BODY(SIDE), "\"boundary_conditions\": {\"dirichlet_boundary\": [{" keys "}]},\n")
#define CONDITIONS(keys) SCENE(CUBE, "\"boundary_conditions\": {" keys "},\n")
#define TOUCHING(geometry, keys) SCENE(geometry, "\"contact\": {\"enabled\": true" keys "},\n")
#define SOLVED(keys) SCENE(CUBE, "\"solver\": {" keys "},\n")
#define BALL(keys) "{\"mesh\": \"meshes/ball.obj\", \"is_obstacle\": true" keys "}"
#define FAR "\"transformation\": {\"translation\": [0, -3, 0]}"

typedef struct Case {
    const char *text;
    int code; /* 1: a loss */
    const char *report, *line;
} Case;

static const Case keywords[] = {
    /* time */
    {AT("{\"tend\": 2, \"time_steps\": 8}"), 0, NULL, "time: {h: 0.25, end: 2, fps: 4}"},
    {AT("{\"dt\": 0.5, \"time_steps\": 8}"), 0, NULL, "time: {h: 0.5, end: 4, fps: 2}"},
    {AT("{\"t0\": 1, \"tend\": 2, \"dt\": 0.5}"), 0, NULL, "time: {h: 0.5, end: 1, fps: 2}"},
    {AT("{\"tend\": 2, \"dt\": 1, \"integrator\": \"BDF1\"}"), 0, NULL,
     "integrator: backward-euler"},
    {AT("{\"tend\": 2, \"dt\": 1, \"integrator\": \"BDF4\"}"), 0, NULL, "integrator: bdf4"},
    {AT("{\"tend\": 2, \"dt\": 1, \"integrator\": \"BDF6\"}"), 1,
     "a.json:3: LOST: integrator: brio has BDF up to order 4; using order 4 instead of 6",
     "integrator: bdf4"},
    {AT("{\"tend\": 2, \"dt\": 1, \"integrator\": \"Leap\"}"), 1,
     "integrator \"Leap\" is unknown; using backward-euler", "integrator: backward-euler"},
    {AT("{\"tend\": 2, \"dt\": 1, \"integrator\": {\"type\": \"ImplicitNewmark\", \"gamma\": "
        "0.4}}"),
     1, "gamma: below 1/2", "gamma: 0.5}"},
    {AT("{\"tend\": 2, \"dt\": 1, \"quasistatic\": true}"), 0, NULL, "integrator: static"},
    {AT("{\"tend\": 2, \"dt\": 1, \"dtt\": 1}"), 0,
     "\"dtt\" is not a known key of time; did you mean \"dt\"?; left out", NULL},
    /* materials */
    {OF("{\"type\": \"HookeLinearElasticity\", \"E\": 1, \"nu\": 0.1}"), 0,
     "HookeLinearElasticity: brio has no material", "{type: corotated, E: 1, nu: 0.1, rho: 1}"},
    {OF("{\"type\": \"SaintVenant\", \"lambda\": 2, \"mu\": 1}"), 0, NULL,
     "{type: stvk, E: 2.66666666666667, nu: 0.333333333333333, rho: 1}"},
    {OF("{\"type\": \"IncompressibleOgden\", \"E\": 1, \"nu\": 0.1}"), 1,
     "a.json:2: LOST: brio has no material of type \"IncompressibleOgden\"", "type: neo-hookean"},
    {OF("{\"type\": \"NeoHookean\", \"E\": \"1 + x\", \"nu\": 0.1}"), 1,
     "E varies in space; using its initial value at the origin", "E: 1, nu"},
    {OF("{\"type\": \"NeoHookean\", \"E\": \"2^3 * pi / pi\", \"nu\": 0.1}"), 0, NULL, "E: 8, nu"},
    {OF("{\"type\": \"NeoHookean\", \"E\": {\"value\": 3, \"unit\": \"MPa\"}, \"nu\": 0.1}"), 0,
     NULL, "E: 3000000, nu"},
    {OF("{\"type\": \"NeoHookean\", \"E\": 1, \"nu\": 0.1, \"phi\": 2}"), 1,
     "phi, psi: brio has no", NULL},
    {OF("{\"type\": \"NeoHookean\", \"E\": 1, \"nu\": 0.1, \"density\": 7}"), 0, NULL, "rho: 7}"},
    {OF("{\"type\": \"NeoHookean\", \"E\": 1, \"nu\": 0.1, \"colour\": 7}"), 0,
     "\"colour\" is not a known key of a material", NULL},
    /* transformations */
    {SCENE(MOVED("\"translation\": [1, 2, 3]"), ""), 0, NULL, "translate: [1, 2, 3]}"},
    {SCENE(MOVED("\"scale\": 3"), ""), 0, NULL, "{scale: 3, translate"},
    {SCENE(MOVED("\"scale\": [1, 2, 3]"), ""), 0, NULL, "{scale: [1, 2, 3], translate"},
    {SCENE(MOVED("\"dimensions\": [2, 3, 4]"), ""), 0, NULL, "{scale: [2, 3, 4], translate"},
    {SCENE(MOVED("\"rotation\": [0, 0, 90]"), ""), 0, NULL, "rotate: [[0, 0, 1], 90]"},
    /* x first, then z: the x axis goes to y, the z axis first to -y and then to x */
    {SCENE(MOVED("\"rotation\": [90, 0, 90]"), ""), 0, NULL,
     "rotate: [[0.577350269189626, 0.577350269189626, 0.577350269189626], 120]"},
    {SCENE(MOVED("\"rotation\": [90, 0, 90], \"rotation_mode\": \"zx\""), ""), 0, NULL,
     "rotate: [[0.577350269189626, -0.577350269189626, 0.577350269189626], 120]"},
    {SCENE(MOVED("\"rotation\": 30, \"rotation_mode\": \"Y\""), ""), 0, NULL,
     "rotate: [[0, 1, 0], 30]"},
    {SCENE(MOVED("\"rotation\": [40, 0, 2, 0], \"rotation_mode\": \"axis_angle\""), ""), 0, NULL,
     "rotate: [[0, 1, 0], 40]"},
    {SCENE(MOVED("\"rotation\": [0, 1, 0, 1], \"rotation_mode\": \"quaternion\""), ""), 0, NULL,
     "rotate: [[0, 1, 0], 90]"},
    {SCENE(MOVED("\"rotation\": [0, 0, 50], \"rotation_mode\": \"rotation_vector\""), ""), 0, NULL,
     "rotate: [[0, 0, 1], 50]"},
    {SCENE(MOVED("\"shear\": 1"), ""), 0, "\"shear\" is not a known key of transformation", NULL},
    {SCENE(BODY("\"unit\": \"mm\""), ""), 0, NULL, "{scale: 0.001, translate"},
    {SCENE(BODY("\"advanced\": {\"normalize_mesh\": true}"), ""), 0, NULL,
     "{scale: 1, translate: [0.5, 0.5, 0.5]}"},
    /* the unit also scales what `dimensions` and `normalize_mesh` make; "" is none */
    {SCENE(BODY("\"unit\": \"mm\", \"transformation\": {\"dimensions\": [2, 3, 4]}"), ""), 0, NULL,
     "{scale: [0.002, 0.003, 0.004], translate"},
    {SCENE(BODY("\"unit\": \"mm\", \"advanced\": {\"normalize_mesh\": true}"), ""), 0, NULL,
     "{scale: 0.001, translate: [0.0005, 0.0005, 0.0005]}"},
    {SCENE(BODY("\"unit\": \"\""), "\"units\": {\"length\": \"cm\"},"), 0, NULL,
     "{scale: 0.01, translate"},
    {TOUCHING(CUBE ", " BALL(", \"advanced\": {\"normalize_mesh\": true}, " FAR), ""), 0, NULL,
     "{scale: 1, translate: [0, -3, 0]}"},
    {SCENE(BODY("\"n_refs\": 1"), ""), 0, "n_refs: brio takes the mesh as it is, not refined",
     NULL},
    {SCENE(BODY("\"colour\": 1"), ""), 0, "\"colour\" is not a known key of a geometry", NULL},
    {SCENE(CUBE ", " BODY("\"enabled\": false"), ""), 0, "1 body, 0 obstacles", NULL},
    {SCENE(CUBE ", {\"type\": \"mesh_sequence\", \"mesh_sequence\": \"m\", \"fps\": 3}", ""), 1,
     "LOST: mesh_sequence: brio does not move obstacles by a sequence of meshes", NULL},
    /* selections */
    {HELD("\"id\": 1, \"value\": [0, 0, 0]"), 0, NULL,
     "vertices: [0, 1, 2, 9, 10, 11, 18, 19, 20]"},
    {HELD("\"id\": 2, \"value\": [0, 0, 0]"), 1,
     "a.json:4: LOST: dirichlet_boundary: no face is selected with this id", NULL},
    {HELD("\"id\": \"all\", \"value\": [0, 0, 0]"), 0, NULL, "11, 12, 14, 15"},
    {SCENE(
         BODY("\"surface_selection\": 4"),
         "\"boundary_conditions\": {\"dirichlet_boundary\": [{\"id\": 4, \"value\": [0, 0, 0]}]},"),
     0, NULL, "11, 12, 14, 15"},
    {SCENE(
         BODY("\"surface_selection\": \"ids.txt\""),
         "\"boundary_conditions\": {\"dirichlet_boundary\": [{\"id\": 4, \"value\": [0, 0, 0]}]},"),
     1, "the ids of the file \"ids.txt\" are not read", NULL},
    {SCENE(
         BODY("\"point_selection\": [{\"id\": 4, \"box\": [[-1, 0.4, -1], [1, 1, -0.4]]}]"),
         "\"boundary_conditions\": {\"dirichlet_boundary\": [{\"id\": 4, \"value\": [0, 0, 0]}]},"),
     0, NULL, "      - vertices: [6, 7, 8]\n"},
    {SCENE(BODY("\"surface_selection\": [{\"threshold\": -1, \"id_offset\": 10}]"),
           "\"boundary_conditions\": {\"dirichlet_boundary\": [{\"id\": 14, \"value\": [0, 0, "
           "0]}]},"),
     0, NULL, "      - vertices: [6, 7, 8, 15, 16, 17, 24, 25, 26]\n"},
    {SCENE(BODY("\"volume_selection\": [{\"id\": 1, \"axis\": \"x\", \"position\": 0}]"), ""), 1,
     "volume_selection: parts of one body have different ids", NULL},
    {SCENE(BODY("\"volume_selection\": {\"id_offset\": 3}"), ""), 0, NULL, "material0"},
    /* displacements */
    {HELD("\"id\": 1, \"value\": [0, \"0.1*t\", 0]"), 0, NULL, "script: {velocity: [0, 0.1, 0]}"},
    {HELD("\"id\": 1, \"value\": [0, \"t^2\", 0]"), 0, NULL,
     "keys: [[0, 0, 0, 0], [0.25, 0, 0.0625, 0], [0.5, 0, 0.25, 0], [0.75, 0, 0.5625, 0], [1, 0, "
     "1, "
     "0]]}"},
    {HELD("\"id\": 1, \"value\": [0.5, 0, 0]"), 0, NULL,
     "keys: [[0, 0, 0, 0], [0.25, 0.5, 0, 0], [1, 0.5, 0, 0]]}"},
    {HELD("\"id\": 1, \"value\": [\"x * t\", 0, 0]"), 0, NULL,
     "      - vertices: [0]\n        script: {velocity: [-0.5, 0, 0]}\n      - vertices: [1]\n     "
     " - vertices: [2]\n        script: {velocity: [0.5, 0, 0]}\n"},
    {HELD("\"id\": 1, \"value\": [0, 0, 0], \"dimension\": [true, false, true]"), 1,
     "dimension: here vertices are fixed along all axes or none, not along 2 of them", NULL},
    {HELD("\"id\": 1, \"value\": [0, 0, 0], \"dimension\": [false, false, false]"), 0, NULL, NULL},
    {HELD("\"id\": 1, \"value\": [0, 0, 0], \"time_reference\": [0, 1]"), 1,
     "time_reference: tables of displacements are not taken", NULL},
    {HELD("\"id\": 1, \"value\": [0, 0, 0], \"interpolation\": [{\"type\": \"linear_ramp\"}]"), 1,
     "interpolation: its meaning is unclear", NULL},
    {CONDITIONS("\"dirichlet_boundary\": [\"nodes.txt\"]"), 1,
     "dirichlet_boundary: tables of vertices are not taken", NULL},
    {"{\"geometry\": " BODY(SIDE) ", " MATERIAL ",\n\"time\": {\"tend\": 10, \"dt\": 4e-5},\n"
                                  "\"boundary_conditions\": {\"dirichlet_boundary\": [{\"id\": 1, "
                                  "\"value\": [0, \"max(-t, "
                                  "-9)\", 0]}]}}",
     1, "a.json:3: LOST: value: keys of 200000 steps are the maximum; the motion ends after 8 s",
     "keys: [[0, 0, 0, 0], [8, 0, -8, 0]"},
    /* other conditions */
    {CONDITIONS("\"rhs\": [1, \"2*3\", 0]"), 0, NULL, "gravity: [-1, -6, 0]"},
    {CONDITIONS("\"rhs\": [0, \"t\", 0]"), 1, "rhs: it varies in space or time", NULL},
    {CONDITIONS("\"neumann_boundary\": [{\"id\": 1, \"value\": [0, 1, 0]}]"), 1,
     "LOST: neumann_boundary: brio has no force on a part of a body", NULL},
    {CONDITIONS("\"normal_aligned_neumann_boundary\": [{\"id\": 1, \"value\": 1}]"), 1,
     "LOST: normal_aligned_neumann_boundary: brio has no force", NULL},
    {CONDITIONS("\"pressure_boundary\": [{\"id\": 1, \"value\": 1}]"), 1,
     "LOST: pressure_boundary: brio has no force", NULL},
    {CONDITIONS("\"pressure_cavity\": [{\"id\": 1, \"value\": 1}]"), 1,
     "LOST: pressure_cavity: brio has no force", NULL},
    {CONDITIONS("\"periodic_boundary\": {\"enabled\": true}"), 1,
     "LOST: periodic_boundary: brio has no periodic cells", NULL},
    {CONDITIONS("\"robin\": []"), 0, "\"robin\" is not a known key of boundary_conditions", NULL},
    {SCENE(CUBE, "\"initial_conditions\": {\"velocity\": [{\"id\": 0, \"value\": [1, 2, 3]}]},"), 0,
     NULL, "velocity: {linear: [1, 2, 3]}"},
    {SCENE(CUBE,
           "\"initial_conditions\": {\"velocity\": [{\"id\": 0, \"value\": [\"y\", 0, 0]}]},"),
     1, "velocity: it varies in space", NULL},
    {SCENE(CUBE, "\"initial_conditions\": {\"solution\": [{\"id\": 0, \"value\": [1, 0, 0]}]},"), 1,
     "LOST: solution: bodies start at their rest shape", NULL},
    {SCENE(CUBE,
           "\"initial_conditions\": {\"acceleration\": [{\"id\": 0, \"value\": [1, 0, 0]}]},"),
     1, "LOST: acceleration: bodies start", NULL},
    /* contact */
    {TOUCHING(CUBE, ", \"dhat\": 0.02, \"epsv\": 0.03, \"friction_coefficient\": 0.4"), 0, NULL,
     "  dhat: 0.02\n  kappa: auto\n  mu: 0.4\n  epsv: 0.03\n"},
    /* the default is 0.001, or 0.8 of the shortest edge, 0.0005, if that is less */
    {TOUCHING(MOVED("\"scale\": 0.001"), ""), 0, NULL, "  dhat: 0.0004\n"},
    {TOUCHING(MOVED("\"scale\": 0.001"), ", \"dhat_percentage\": 0.5"), 0, NULL,
     "  dhat: 0.00025\n"},
    {TOUCHING(CUBE, ", \"use_convergent_formulation\": true"), 0,
     "use_convergent_formulation: brio", NULL},
    {TOUCHING(CUBE, ", \"collision_mesh\": {\"max_edge_length\": 1}"), 0, "collision_mesh: brio's",
     NULL},
    {TOUCHING(CUBE, ", \"periodic\": true"), 1, "LOST: periodic: brio has no periodic cells", NULL},
    {TOUCHING(CUBE, ", \"adhesion\": {\"adhesion_enabled\": true}"), 1, "LOST: adhesion: brio's",
     NULL},
    {TOUCHING(CUBE, ", \"glue\": 1"), 0, "\"glue\" is not a known key of contact", NULL},
    {TOUCHING(CUBE ", " BALL(", " FAR), ""), 0, "1 body, 1 obstacle", "translate: [0, -3, 0]}"},
    {TOUCHING(
         CUBE ", " BALL(", " FAR ", \"surface_selection\": 2"),
         "}, \"boundary_conditions\": {\"obstacle_displacements\": [{\"id\": 2, \"value\": [0, "
         "\"t\", 0]}]"),
     0, NULL, "    script: {velocity: [0, 1, 0]}\n"},
    {TOUCHING(
         CUBE ", " BALL(", " FAR ", \"surface_selection\": 2"),
         "}, \"boundary_conditions\": {\"obstacle_displacements\": [{\"id\": 2, \"value\": [0, "
         "\"x*t\", 0]}]"),
     1, "LOST: obstacle_displacements: obstacles are shifted, or turned at a constant rate", NULL},
    {TOUCHING(CUBE ", {\"mesh\": \"meshes/kite.obj\", \"is_obstacle\": true, " FAR "}", ""), 1,
     "a.json:1: LOST: edges of an obstacle that also has faces are left out", NULL},
    /* a plane whose y is 3: it goes to the height of the translation */
    {TOUCHING(CUBE ", {\"mesh\": \"meshes/sheet.obj\", \"is_obstacle\": true, \"transformation\": "
                   "{\"dimensions\": [8, 0, 8], \"translation\": [0, -2, 0]}}",
              ""),
     0, NULL, "transform: {scale: [8, 1, 8], translate: [0, -5, 0]}"},
    /* a boundary condition may be that of an obstacle */
    {TOUCHING(CUBE ", " BALL(", " FAR ", \"surface_selection\": 2"),
              "}, \"boundary_conditions\": {\"dirichlet_boundary\": [{\"id\": 2, \"value\": [0, "
              "\"max(-t, -0.5)\", 0]}]"),
     0, NULL, "    script: {keys: [[0, 0, 0, 0], [0.5, 0, -0.5, 0], [1, 0, -0.5, 0]]}\n"},
    /* which is weaker than obstacle_displacements */
    {TOUCHING(CUBE ", " BALL(", " FAR ", \"surface_selection\": 2"),
              "}, \"boundary_conditions\": {\"dirichlet_boundary\": [{\"id\": 2, \"value\": [0, 0, "
              "0]}], \"obstacle_displacements\": [{\"id\": 2, \"value\": [0, \"t\", 0]}]"),
     0, NULL, "    script: {velocity: [0, 1, 0]}\n"},
    /* about the axis along z through (1, -3): a quarter turn a second */
    {TOUCHING(CUBE ", " BALL(", " FAR ", \"surface_selection\": 2"),
              "}, \"boundary_conditions\": {\"obstacle_displacements\": [{\"id\": 2, \"value\": "
              "[\"rotate_2D_x(x-1, y+3, pi/2*t) - (x-1)\", \"rotate_2D_y(x-1, y+3, pi/2*t) - "
              "(y+3)\", 0]}]"),
     0, NULL,
     "    script: {velocity: [0, 0, 0], angular: [0, 0, 1.5707963267949], about: [1, -3, 0]}\n"},
    {SCENE(CUBE ", " BALL(", " FAR), ""), 0, "an obstacle, but contact is not enabled", NULL},
    {TOUCHING(CUBE ", {\"type\": \"plane\", \"point\": [0, -2, 0], \"normal\": [0, 1, 0]}", ""), 0,
     NULL, "point: [0, -2, 0]"},
    {TOUCHING(CUBE ", {\"type\": \"ground\", \"height\": -2}", ""), 0, NULL, "point: [0, -2, 0]"},
    /* solver and the rest */
    {SOLVED("\"nonlinear\": {\"grad_norm\": 1e-5}"), 0, "grad_norm: brio's tolerance is one of",
     NULL},
    {SOLVED("\"nonlinear\": {\"x_delta\": 1e-5}"), 0, NULL, "solver: {tol: 4e-05}"},
    {SOLVED("\"nonlinear\": {\"x_delta_tol\": 1e-5, \"grad_norm_tol\": 1}"), 0, "grad_norm: brio's",
     "solver: {tol: 4e-05}"},
    {SOLVED("\"nonlinear\": {\"x_delta\": 1e-14, \"max_iterations\": 9}"), 0, NULL,
     "solver: {max_iterations: 9}"},
    {SOLVED("\"nonlinear\": {\"max_iterations\": 30}"), 0, NULL, "solver: {max_iterations: 30}"},
    {SOLVED("\"linear\": {}"), 0, "linear: brio chooses by the size", NULL},
    {SOLVED("\"augmented_lagrangian\": {}"), 0, "augmented_lagrangian: brio moves fixed", NULL},
    {SOLVED("\"rayleigh_damping\": [{\"form\": \"elasticity\", \"stiffness\": 0.01}]"), 0, NULL,
     "{type: rayleigh, beta: 0.16}"},
    {SOLVED("\"rayleigh_damping\": [{\"form\": \"contact\", \"stiffness\": 0.01}]"), 1,
     "LOST: rayleigh_damping: brio damps elasticity", NULL},
    {SOLVED("\"linaer\": {}"), 0, "\"linaer\" is not a known key of solver; did you mean", NULL},
    {SCENE(CUBE, "\"space\": {\"discr_order\": 2},"), 1,
     "LOST: discr_order: brio's tets are of first", NULL},
    {SCENE(CUBE, "\"space\": {\"discr_order\": 1, \"basis_type\": \"Spline\"},"), 1,
     "LOST: basis_type", NULL},
    {SCENE(CUBE, "\"space\": {\"use_p_ref\": true},"), 1, "LOST: use_p_ref", NULL},
    {SCENE(CUBE, "\"space\": {\"remesh\": {\"enabled\": true}},"), 1, "LOST: remesh", NULL},
    {SCENE(CUBE, "\"input\": {\"data\": {\"state\": \"s.hdf5\"}},"), 1,
     "LOST: input: the scene starts", NULL},
    {SCENE(CUBE, "\"preset_problem\": {\"type\": \"Gravity\"},"), 1, "LOST: preset_problem", NULL},
    {SCENE(CUBE, "\"patch\": [{\"op\": \"remove\", \"path\": \"/time\"}],"), 1,
     "LOST: patch: changes", NULL},
    {SCENE(CUBE, "\"contacts\": {},"), 0, "\"contacts\" is not a known key of a scene; did", NULL},
};

static void test_keywords(void **state)
{
    (void)state;
    for (size_t i = 0; i < BRIO_COUNT(keywords); i++) {
        const Case *c = &keywords[i];
        write_text("a.json", c->text);
        const Outcome *o = BRIO("import", "polyfem", "a.json", "--force");
        if (o->code != c->code || (c->code == 1) != (strstr(o->out, "LOST") != NULL))
            fail_msg("%s\nexit code %d\n%s%s", c->text, o->code, o->out, o->err);
        if (c->report && !strstr(o->out, c->report))
            fail_msg("%s\nsays\n%s\nand not\n%s", c->text, o->out, c->report);
        char *scene = read_all("a.yaml", NULL);
        assert_non_null(scene);
        if (c->line && !strstr(scene, c->line))
            fail_msg("%s\nthe scene has no \"%s\":\n%s", c->text, c->line, scene);
        free(scene);
    }
    printf("%d keywords and their variants\n", (int)BRIO_COUNT(keywords));
}

/* Names of files from the folder that root_path names, which is from the folder of its document;
 * that of a common document is stronger. */
static void test_root_path(void **state)
{
    (void)state;
    static const struct {
        const char *own, *common, *mesh;
    } paths[] = {{"", "", "meshes/cube.msh"},
                 {"\"root_path\": \"meshes\", ", "", "cube.msh"},
                 {"", "\"root_path\": \"../meshes\", ", "cube.msh"},
                 {"\"root_path\": \"nowhere\", ", "\"root_path\": \"../meshes\", ", "cube.msh"},
                 {"", "\"root_path\": null, ", "meshes/cube.msh"}};
    mkdir("shared", 0777);
    for (size_t i = 0; i < BRIO_COUNT(paths); i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "{%s\"common\": \"shared/common.json\", \"geometry\": "
                 "{\"mesh\": \"%s\"}}",
                 paths[i].own, paths[i].mesh);
        write_text("a.json", text);
        snprintf(text, sizeof text, "{%s" MATERIAL ", " TIME "}", paths[i].common);
        write_text("shared/common.json", text);
        const Outcome *o = BRIO("import", "polyfem", "a.json", "--force");
        if (o->code) fail_msg("%d: %s%s", (int)i, o->out, o->err);
        char *scene = read_all("a.yaml", NULL);
        assert_non_null(strstr(scene, "    mesh: \"meshes/cube.msh\"\n"));
        free(scene);
    }
}

/* Functions and rules of formulas, by a modulus. */
static void test_formulas(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } formulas[] = {{"1 + 2 * 3 - 4 / 2", 5},
                    {"2 ^ 3 ^ 2", 64}, /* from the left */
                    {"-2 ^ 2", 4},
                    {"7 % 4", 3},
                    {"(1 + 2) * (3)", 9},
                    {"1e2 + .5", 100.5},
                    {"abs(-2)", 2},
                    {"acos(-1)", 3.14159265358979323846},
                    {"asin(1) * 2", 3.14159265358979323846},
                    {"atan(1) * 4", 3.14159265358979323846},
                    {"atan2(1, 1) * 4", 3.14159265358979323846},
                    {"ceil(1.2)", 2},
                    {"cos(0)", 1},
                    {"cosh(0)", 1},
                    {"exp(0)", 1},
                    {"floor(1.8)", 1},
                    {"ln(e)", 1},
                    {"log(100)", 2},
                    {"log10(1000)", 3},
                    {"sin(pi / 2)", 1},
                    {"sinh(0) + 1", 1},
                    {"sqrt(16)", 4},
                    {"tan(0) + 1", 1},
                    {"tanh(0) + 1", 1},
                    {"pow(2, 5)", 32},
                    {"min(2, 3)", 2},
                    {"max(2, 3)", 3},
                    {"deg2rad(180)", 3.14159265358979323846},
                    {"sign(-3) + 2", 1},
                    {"smoothstep(0.5)", 0.5},
                    {"smoothstep(9)", 1},
                    {"smooth_abs(-3, 100)", 3},
                    {"rotate_2D_x(2, 1, 0)", 2},
                    {"rotate_2D_y(2, 1, 0)", 1},
                    {"if(0, 5, 6)", 5},
                    {"if(-1, 5, 6)", 6}};
    for (size_t i = 0; i < BRIO_COUNT(formulas); i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "{\"geometry\": " CUBE ", \"materials\": {\"type\": \"NeoHookean\", \"E\": "
                 "\"%s\", \"nu\": 0}}",
                 formulas[i].text);
        write_text("a.json", text);
        const Outcome *o = BRIO("import", "polyfem", "a.json", "--force");
        if (o->code) fail_msg("%s: %s%s", formulas[i].text, o->out, o->err);
        char *scene = read_all("a.yaml", NULL), *found = strstr(scene, "E: ");
        assert_non_null(found);
        if (fabs(atof(found + 3) - formulas[i].value) > 1e-13 * formulas[i].value)
            fail_msg("%s is %.20s", formulas[i].text, found);
        free(scene);
    }
}

/* Points and edges of a mesh as an obstacle: a file next to the scene, or lost by name. */
static void test_extract(void **state)
{
    (void)state;
    static const char *const names[] = {"points", "edges"}, *const endings[] = {".pt", ".seg"};
    for (int i = 0; i < 2; i++) {
        char text[1000];
        const BrioMeshReader *reader;
        bool reads = false;
        for (int k = 0; (reader = brio__mesh_reader_at(k)); k++)
            reads |= !strcmp(reader->extension, endings[i]);
        snprintf(text, sizeof text,
                 "{\"geometry\": [" CUBE ", {\"mesh\": \"meshes/ball.obj\", \"is_obstacle\": true, "
                 "\"extract\": \"%s\", " FAR "}], " MATERIAL ", " TIME
                 ", \"contact\": {\"enabled\": true}}",
                 names[i]);
        write_text("a.json", text);
        const Outcome *o = BRIO("import", "polyfem", "a.json", "--force");
        if (o->code != !reads)
            fail_msg("%s: exit code %d\n%s%s", names[i], o->code, o->out, o->err);
        snprintf(text, sizeof text, "a.json:1: LOST: extract: brio has no obstacles of %s",
                 names[i]);
        if (!reads && !strstr(o->out, text)) fail_msg("%s", o->out);
        snprintf(text, sizeof text, "ball%s", endings[i]);
        assert_int_equal(access(text, F_OK) == 0, reads);
    }
    /* a mesh of edges alone is an obstacle of them */
    write_text(
        "a.json",
        TOUCHING(CUBE ", {\"mesh\": \"meshes/line.obj\", \"is_obstacle\": true, " FAR "}", ""));
    const Outcome *o = BRIO("import", "polyfem", "a.json", "--force");
    bool lost = strstr(o->out, "a.json:1: LOST: extract: brio has no obstacles of edges") != NULL;
    if (o->code != lost) fail_msg("exit code %d\n%s%s", o->code, o->out, o->err);
}

/* ---- what is wrong ---------------------------------------------------------------------- */

static void test_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"", "w.json: the file is empty\n"},
        {"[1]", "w.json:1:1: expected a map: this is no scene of polyfem\n"},
        {"{\"geometry\": [\n  {\"mesh\" \"a\"}]}", "w.json:2:11: "},
        {"{\n\"a\": 1,\n}", "w.json:3:1: "},
        {"{\"a\": tru}", "w.json:1:7: "},
        {"{\"a\": 1, \"a\": 2}", "w.json:1:10: "},
        {"{\"geometry\": " CUBE "}", "w.json:1:1: the scene has no \"materials\"\n"},
        {"{}", "w.json:1:1: the scene has no \"geometry\": this is no scene of polyfem, or an old "
               "one\n"},
        {"{" MATERIAL "}",
         "the scene has no \"geometry\": this is no scene of polyfem, or an old one\n"},
        {SCENE("", ""), "the scene has no body: all geometry is an obstacle, or not enabled\n"},
        {SCENE("{\"mesh\": \"no.msh\"}", ""),
         "w.json:1:24: geometry[0].mesh: there is no file \"./no.msh\"\n"},
        {SCENE("{\"mesh\": \"flat.msh\"}", ""), "w.json:1:24: geometry[0].mesh: the mesh is "
                                                "two-dimensional (flat triangles, no tets); brio "
                                                "imports scenes in three dimensions\n"},
        {SCENE("{\"mesh\": \"curved.msh\"}", ""),
         "./curved.msh:10:3: type 11 is a tetrahedron of 10 nodes, of second or higher order; brio "
         "simulates first-order elements: run gmsh with -order 1\n"},
        {SCENE("{\"mesh\": \"meshes/ball.obj\"}", ""),
         "a body needs tets, and this mesh has none; "},
        {SCENE("{}", ""), "expected \"mesh\", the name of a file\n"},
        {SCENE("{\"type\": \"torus\"}", ""), "geometry of type \"torus\" is not known\n"},
        {SCENE(MOVED("\"translation\": [1, 2]"), ""), "this scene is two-dimensional, and brio"},
        {SCENE(MOVED("\"scale\": [1, -1, 1]"), ""),
         "a scale must be positive: brio does not mirror"},
        {SCENE(MOVED("\"rotation\": [1, 2, 3], \"rotation_mode\": \"abc\""), ""),
         "rotation_mode \"abc\" is not known"},
        {SCENE(MOVED("\"rotation\": 1"), ""), "a single angle needs rotation_mode x, y or z\n"},
        {SCENE(BODY("\"unit\": \"ell\""), ""), "the unit \"ell\" is not known\n"},
        {SCENE(BODY("\"surface_selection\": {\"id\": 1}"),
               "\"boundary_conditions\": {\"dirichlet_boundary\": [{\"id\": 1, \"value\": "
               "[0,0,0]}]},"),
         "expected a selection: id with box, center, axis, normal, or p1 and p2\n"},
        {HELD("\"id\": 1, \"value\": [0, \"2 * (t\", 0]"),
         "the formula \"2 * (t\" is not understood at \"\"\n"},
        {HELD("\"id\": 1, \"value\": [0, \"wave(t)\", 0]"),
         "the formula \"wave(t)\" is not understood at \"wave(t)\"\n"},
        {HELD("\"id\": 1, \"value\": [0, 0]"),
         "expected three values; this scene is two-dimensional"},
        {HELD("\"id\": 1"), "expected \"value\"\n"},
        {HELD("\"value\": [0, 0, 0]"), "expected \"id\"\n"},
        {OF("{\"type\": \"NeoHookean\", \"E\": 1}"),
         "a material of type NeoHookean needs E and nu, or lambda and mu\n"},
        {OF("{\"type\": \"SaintVenant\", \"elasticity_tensor\": [1]}"),
         "brio has no elasticity tensors\n"},
        {OF("{\"type\": \"MooneyRivlin\", \"c1\": 1}"), "needs c1, c2 and k\n"},
        {OF("[{\"type\": \"NeoHookean\", \"E\": 1, \"nu\": 0.1, \"id\": 3}, {\"type\": "
            "\"NeoHookean\", \"E\": 1, \"nu\": 0.1, \"id\": 4}]"),
         "no material has the id 0 of this body (ids in the file of a mesh are not read; give the "
         "body a volume_selection)\n"},
        {AT("{\"tend\": 1}"), "expected two of tend, dt and time_steps, all positive\n"},
        {AT("{\"tend\": \"soon\", \"dt\": 1}"), "w.json:3:18: time.tend: "},
    };
    for (size_t i = 0; i < BRIO_COUNT(wrong); i++) {
        write_text("w.json", wrong[i].text);
        const Outcome *o = BRIO("import", "polyfem", "w.json", "-o", "w.yaml");
        if (o->code != 2 || !strstr(o->err, wrong[i].message))
            fail_msg("%s\nexit code %d\n%s%s\ninstead of\n%s", wrong[i].text, o->code, o->out,
                     o->err, wrong[i].message);
        assert_int_equal(access("w.yaml", F_OK), -1);
    }
    write_text("common.json", "{\"time\": {\"tend\": 1, \"dt\":: 1}}");
    write_text("w.json", "{\"common\": \"common.json\"}");
    const Outcome *o = BRIO("import", "polyfem", "w.json", "-o", "w.yaml");
    assert_int_equal(o->code, 2);
    assert_non_null(strstr(o->err, "common.json:1:27: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scenes),   cmocka_unit_test(test_formula_moves),
        cmocka_unit_test(test_keywords), cmocka_unit_test(test_extract),
        cmocka_unit_test(test_formulas), cmocka_unit_test(test_root_path),
        cmocka_unit_test(test_wrong)};
    return cmocka_run_group_tests(tests, set_up, leave_folder);
}
