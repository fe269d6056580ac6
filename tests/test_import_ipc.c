/* brio import ipc: every script and keyword of the other code, and what is lost is said. */
#include "importing.h"

static const char *const folders[] = {"input", "input/seq"};

static int set_up(void **state)
{
    if (enter_folder(state)) return -1;
    for (size_t i = 0; i < BRIO_COUNT(folders); i++) mkdir(folders[i], 0777);
    const double cube[] = {1, 1, 1, 2, 2, 2}, bar[] = {4, 1, 1, 7, 2, 2};
    const double tower[] = {1, 4, 1, 1, 4, 1};
    write_shape("box", cube, 6, "input/cube.msh");
    write_shape("box", bar, 6, "input/bar.msh");
    write_shape("box", tower, 6, "input/tower.msh");
    write_shape("sphere", NULL, 0, "input/ball.obj");
    write_text("input/plane.obj", "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nf 1 2 3\nf 1 3 4\n");
    write_text("input/one.pt", "v 0 0 0\nv 0 0 0.1\n");
    write_text("input/edge.seg", "v 0 0 0\nv 1 0 0\ns 1 2\n");
    return 0;
}

/* Imports `text`; the report and the scene are what the cases look into. */
static const Outcome *import(const char *text, char **scene)
{
    write_text("a.txt", text);
    unlink("a.yaml");
    const Outcome *o = BRIO("import", "ipc", "a.txt");
    *scene = access("a.yaml", F_OK) ? NULL : read_all("a.yaml", NULL);
    return o;
}

/* `code` 0 or 1; `report` stands in what import prints, `line` is a line of the scene, or the
 * scene must not hold it if it begins with "!". NULL: nothing to look for. */
typedef struct Case {
    const char *text;
    int code;
    const char *report;
    const char *line[4];
} Case;

static void expect(const Case *c)
{
    char *scene;
    const Outcome *o = import(c->text, &scene);
    if (o->code != c->code) fail_msg("%s\nexit code %d\n%s%s", c->text, o->code, o->out, o->err);
    if ((c->code == 1) != (strstr(o->out, "LOST") != NULL))
        fail_msg("%s\nexit code %d and the report\n%s", c->text, o->code, o->out);
    if (c->report && !strstr(o->out, c->report))
        fail_msg("%s\nsays\n%s\nand not\n%s", c->text, o->out, c->report);
    assert_non_null(scene);
    for (int i = 0; i < (int)BRIO_COUNT(c->line) && c->line[i]; i++) {
        bool absent = c->line[i][0] == '!';
        char *found = strstr(scene, c->line[i] + absent);
        if ((found != NULL) == absent)
            fail_msg("%s\nthe scene %s \"%s\":\n%s", c->text, absent ? "has" : "has no",
                     c->line[i] + absent, scene);
    }
    free(scene);
}

/* ---- scripts ---------------------------------------------------------------------------- */

/* A bar from x = -2 to 2; z counts slowest in its vertices, x fastest. */
#define BAR(script) \
    "script " script "\nshapes input 1\ninput/bar.msh 0 0 0  0 0 0  1 1 1\ntime 2 0.01\n"
#define LEFT "      - vertices: [0, 8, 16, 24, 32, 40, 48, 56, 64]\n"
#define RIGHT "      - vertices: [7, 15, 23, 31, 39, 47, 55, 63, 71]\n"
#define SHAPES(script, n, lines) "script " script "\nshapes input " n "\n" lines "time 4 0.01\n"
#define CUBE_AT(x, y, z) "input/cube.msh " x " " y " " z "  0 0 0  1 1 1\n"
#define BALL_AT(x, y, z) "input/ball.obj " x " " y " " z "  0 0 0  1 1 1\n"
#define ZERO_TO "[0, 0, 0, 0], "

static const Case scripts[] = {
    {BAR("null"), 0, NULL, {"!fix:"}},
    {BAR("DCOFix"), 0, NULL, {"!fix:"}},
    {BAR("fallNoShift"), 0, NULL, {"translate: [0, 0, 0]}"}},
    {BAR("fall"), 0, NULL, {"translate: [0, 2.12132034355964, 0]}", "!fix:"}},
    {BAR("hang"), 0, NULL, {"      - vertices: [64]\n      - vertices: [71]\n"}},
    {BAR("hang2"),
     0,
     NULL,
     {"[16, 17, 18, 19, 20, 21, 22, 23, 40, 41, 42, 43, 44, 45, 46, 47, 64"}},
    {BAR("hangTopLeft"), 0, NULL, {"      - vertices: [64]\n      - vertices: [16]\n"}},
    {BAR("hangLeft"), 0, NULL, {LEFT}},
    /* ends are those before all is turned; boxes are of what was turned */
    {"rotateModel 0 0 1 90\n" BAR("hangLeft"), 0, NULL, {LEFT}},
    {"rotateModel 0 0 1 90\n" BAR("stretch"),
     0,
     NULL,
     {LEFT "        script: {velocity: [-0.1, 0, 0]}\n" RIGHT
           "        script: {velocity: [0.1, 0, 0]}\n"}},
    {"rotateModel 0 0 1 90\n" BAR("stand"), 0, NULL, {LEFT}},
    {BAR("stamp"), 0, NULL, {LEFT, "!script"}},
    {BAR("stampTopLeft"), 0, NULL, {"      - vertices: [16, 40, 64]\n"}},
    {BAR("stampBoth"), 0, NULL, {LEFT RIGHT}},
    /* turns in the step after it has passed 0.6: 0.34 s at 1.8 m/s */
    {BAR("undstamp"),
     0,
     NULL,
     {LEFT "        script: {keys: [" ZERO_TO "[0.34, 0, 0.612, 0], [1.02, 0, -0.612, 0], [1.7, 0, "
           "0.612, 0], [2, 0, 0.072"}},
    {BAR("upndown"),
     0,
     NULL,
     {LEFT "        script: {keys: [" ZERO_TO "[0.34, 0, 0.612, 0]",
      RIGHT "        script: {keys: [" ZERO_TO "[0.34, 0, -0.612, 0]"}},
    {BAR("stand"), 0, NULL, {"[0, 1, 2, 3, 4, 5, 6, 7, 24, 25, 26, 27, 28, 29, 30, 31, 48"}},
    {BAR("swing"), 0, NULL, {"translate: [0, 1.3, 0]}", LEFT}},
    {BAR("topbottomfix"), 0, NULL, {"[0, 1, 2, 3, 4, 5, 6, 7, 24", "[16, 17, 18, 19, 20"}},
    {BAR("fixLowerHalf"), 0, NULL, {"[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 24"}},
    {BAR("corner"), 0, NULL, {LEFT "      - vertices: [1, 2, 3, 4, 5, 6, 7, 25"}},
    {BAR("push"), 0, NULL, {"        script: {velocity: [0, -1, 0], end: 0.5}\n"}},
    {BAR("tear"), 0, NULL, {"{keys: [" ZERO_TO "[0.8, -4, 0, 0], [2, 2, 0, 0]]}"}},
    {BAR("dragdown"), 0, NULL, {"translate: [0, 2.12132034355964, 0]}", "velocity: [0, -1.5, 0]}"}},
    {BAR("dragright"),
     1,
     "a.txt:1: LOST: script dragright: the vertices are let go at once there",
     {RIGHT "        script: {velocity: [0.5, 0, 0]}\n"}},
    {BAR("dragright") "meshCO input/ball.obj 9 2 0 1 50 0\n",
     0,
     "a.txt:1: script dragright: when all has passed the meshCO the vertices are let go there",
     {RIGHT "        script: {velocity: [0.5, 0, 0]}\n"}},
    {BAR("toggleTop"),
     1,
     "a.txt:1: LOST: script toggleTop: from 0.2 s on vertices are released there",
     {"        script: {velocity: [-0.5, 0, 0], end: 0.2}\n"}},
    {BAR("toggleTop") "time 0.2 0.01\n", 0, NULL, {"script: {velocity: [-0.5, 0, 0]}"}},
    {BAR("fixRightMost1"), 0, NULL, {"      - vertices: [7]\n", "!script"}},
    {BAR("pushRightMost1"),
     0,
     NULL,
     {"      - vertices: [7]\n        script: {velocity: [-0.15, 0, 0]}\n"}},
    {BAR("stretch"),
     0,
     NULL,
     {LEFT "        script: {velocity: [-0.1, 0, 0]}\n",
      RIGHT "        script: {velocity: [0.1, 0, 0]}\n"}},
    {BAR("squash"),
     0,
     NULL,
     {LEFT "        script: {velocity: [0.03, 0, 0]}\n",
      RIGHT "        script: {velocity: [-0.03, 0, 0]}\n"}},
    /* from x = -0.25 to -0.28 at 1 m/s; the step is 0.025 s */
    {"script stretchAndPause\nshapes input 1\ninput/bar.msh 1.75 0 0  0 0 0  1 1 1\n",
     0,
     NULL,
     {LEFT "        script: {velocity: [-1, 0, 0], end: 0.05}\n"}},
    {BAR("stretchnsquash"),
     0,
     NULL,
     {LEFT "        script: {keys: [" ZERO_TO "[0.89, -0.801, 0, 0], [2, 0.198"}},
    {BAR("bend"),
     0,
     NULL,
     {LEFT "        script: {velocity: [0, 0, 0], angular: [0, 0, -0.15707963267949], about: [-2, "
           "0.5, 0.5]}\n",
      "angular: [0, 0, 0.15707963267949], about: [2, 0.5, 0.5]}\n"}},
    {BAR("twist"), 0, NULL, {"angular: [-1.25663706143592, 0, 0], about: [0, 0, 0]}"}},
    {BAR("twistnstretch"),
     0,
     NULL,
     {"{velocity: [-0.1, 0, 0], angular: [-0.314159265358979, 0, 0], about: [0, 0, 0]}"}},
    {BAR("twistnsns"),
     0,
     NULL,
     {LEFT "        script: {angular: [-1.25663706143592, 0, 0], about: [0, 0, 0], keys: [" ZERO_TO
           "[1, -1.2, 0, 0], [2, 0, 0, 0]]}\n"}},
    {BAR("twistnsns_old"), 0, NULL, {"keys: [" ZERO_TO "[0.89, -0.801, 0, 0], [2, 0.198"}},
    {BAR("fourLegPull"),
     1,
     "a.txt:1: LOST: script fourLegPull: from 1.43 s on vertices are released there",
     {"velocity: [2.5, -3.5, 0], end: 1.43}", "velocity: [0, -3.5, 0], end: 1.43}"}},
    {"script rubberBandPull\nshapes input 1\ninput/tower.msh 0 0 0  0 0 0  1 1 1\ntime 2.5 0.01\n",
     1,
     "a.txt:1: LOST: script rubberBandPull: from 2 s on",
     {"velocity: [0, -0.2, 0], end: 2}", "velocity: [-2.5, 0, 0], end: 2}"}},
    {"script headTailPull\nshapes input 1\ninput/tower.msh 0 0 0  90 0 0  1 1 1\ntime 1 0.01\n",
     0,
     NULL,
     {"velocity: [3.5, 0, 0]}"}},
    {BAR("curtain"),
     0,
     NULL,
     {"      - vertices: [16, 40, 64]\n        script: {velocity: [0.04, 0, 0]}\n      - vertices: "
      "[17, 41, 65]\n        script: {velocity: [0.0342857142857143, 0, 0]}\n",
      "      - vertices: [23, 47, 71]\n"}},
    {SHAPES("leftHitRight", "2", CUBE_AT("0", "0", "0") CUBE_AT("2", "0", "0")),
     0,
     NULL,
     {"translate: [0, 0, 0]}\n    velocity: {linear: [1, 0, 0]}\n", "!linear: [0"}},
    {BAR("leftHitRight"), 1, "the shape of line 3 lies on both sides of the middle", {"!velocity"}},
    {BAR("drop"), 0, NULL, {"    velocity: {linear: [0, -1, 0]}\n"}},
    {BAR("XYRotate"), 1, "a.txt:1: LOST: script XYRotate: its first velocity", {NULL}},
    {BAR("stampInv"), 1, "script stampInv: it starts from another shape", {NULL}},
    {BAR("standInv"), 1, "script standInv: it starts from another shape", {NULL}},
    {BAR("scaleF"), 1, "script scaleF: it starts from another shape", {NULL}},
    {BAR("onepoint"), 1, "script onepoint: it starts from another shape", {NULL}},
    {BAR("random"), 1, "script random: it starts from another shape", {NULL}},
    {BAR("NMFixBottomDragLeft"), 1, "brio has no force on a part of a body", {"    fix:\n"}},
    {BAR("NMFixBottomDragForward"), 1, "brio has no force on a part of a body", {"    fix:\n"}},
    {BAR("utopiaComparison"), 1, "brio has no force on a part of a body", {"    fix:\n"}},
    {BAR("ACOSquash"), 1, "script ACOSquash: brio's planes do not move", {NULL}},
    {BAR("ACOSquash6"), 1, "script ACOSquash6: brio's planes do not move", {NULL}},
    {BAR("ACOSquashShear"), 1, "script ACOSquashShear: brio's planes do not move", {NULL}},
    {BAR("meshSeqFromFile input/seq"), 1, "script meshSeqFromFile: brio does not move", {NULL}},
    {BAR("Twist"),
     1,
     "a.txt:1: LOST: script Twist is not known; did you mean \"twist\"?; it fixes and moves "
     "nothing",
     {"!fix:"}},
};

/* Scripts that drive obstacles; the balls have radius 0.5. */
static const Case drives[] = {
    {SHAPES("MCOSquash", "1", CUBE_AT("0", "9", "0")) "meshCO input/ball.obj -2 0 0 1 50 0\n"
                                                      "meshCO input/ball.obj 2 0 0 1 50 0\n",
     0,
     NULL,
     {"{keys: [" ZERO_TO "[1.26, 1.26, 0, 0], [4, -1.48, 0, 0]]}"}},
    {SHAPES("MCOSquash", "1", CUBE_AT("0", "9", "0")),
     1,
     "script MCOSquash moves the first 2 meshCO, and the scene has 0",
     {NULL}},
    {SHAPES("MCORotSquash", "1", CUBE_AT("0", "9", "0")) "meshCO input/ball.obj -2 0 0 1 50 0\n"
                                                         "meshCO input/ball.obj 2 0 0 1 50 0\n",
     0,
     NULL,
     {"angular: [0, 0, 3.14159265358979], about: [-2, 0.5, 0]}",
      "angular: [0, 0, 3.14159265358979], about: [2, -0.5, 0]}"}},
    {SHAPES("MCORotCylinders", "1", CUBE_AT("0", "9", "0")) "meshCO input/ball.obj -2 0 0 1 50 0\n"
                                                            "meshCO input/ball.obj 2 0 0 1 50 0\n"
                                                            "meshCO input/ball.obj -2 0 4 1 50 0\n"
                                                            "meshCO input/ball.obj 2 0 4 1 50 0\n",
     0,
     NULL,
     {"angular: [1.5707963267949, 0, 0], about: [-2, 0, 0]}",
      "angular: [-1.5707963267949, 0, 0], about: [2, 0, 0]}",
      "angular: [0, 0, -1.5707963267949], about: [-2, 0, 4]}",
      "angular: [0, 0, 1.5707963267949], about: [2, 0, 4]}"}},
    {SHAPES("DCOBallHitWall", "1", CUBE_AT("0", "9", "0")), 0, NULL, {"{linear: [1000, 0, 0]}"}},
    {SHAPES("DCOSquash", "3",
            BALL_AT("-1.5", "0", "0") BALL_AT("1.5", "0", "0") CUBE_AT("0", "9", "0")),
     0,
     NULL,
     {"{keys: [" ZERO_TO "[0.96, 0.96, 0, 0], [4, -2.08, 0, 0]]}"}},
    /* nearer than 0.1: they part at once */
    {SHAPES("DCOSquash", "3",
            BALL_AT("-0.5", "0", "0") BALL_AT("0.5", "0", "0") CUBE_AT("0", "9", "0")),
     0,
     NULL,
     {"translate: [-0.5, 0, 0]}\n    script: {velocity: [-1, 0, 0]}\n"}},
    {SHAPES("DCOSquash6", "2", BALL_AT("-1.5", "0", "0") CUBE_AT("0", "9", "0")),
     1,
     "script DCOSquash6 moves the first 6 shapes, and the scene has 2; nothing is moved by it",
     {"!script"}},
    {SHAPES("DCORotCylinders", "5",
            BALL_AT("0", "0", "0") BALL_AT("2", "0", "0") BALL_AT("0", "0", "2")
                BALL_AT("2", "0", "2") CUBE_AT("1", "9", "0")),
     0,
     NULL,
     {"angular: [1.5707963267949, 0, 0], about: [0, 0, 0]}",
      "angular: [0, 0, 1.5707963267949], about: [2, 0, 2]}"}},
    /* the copies of a lattice are counted, z fastest */
    {SHAPES("DCORotCylinders", "0", "") "shapeMatrix input 2 1 2\ninput/ball.obj 2 2 2  0 0 0  1 1 "
                                        "1\nshapes input 1\n" CUBE_AT("1", "9", "0"),
     0,
     "a.yaml: 1 body, 4 obstacles\n",
     {"translate: [0, 0, 2]}\n    script: {velocity: [0, 0, 0], angular: [-1.5707963267949, 0, 0], "
      "about: [0, 0, 2]}\n"}},
    {SHAPES("DCOVerschoorRoller", "7",
            BALL_AT("0", "0", "0") BALL_AT("2", "0", "0") BALL_AT("0", "0", "2")
                BALL_AT("2", "0", "2") BALL_AT("4", "0", "2") BALL_AT("6", "0", "2")
                    CUBE_AT("1", "9", "0")),
     0,
     NULL,
     {"angular: [0, 0, -4], about: [0, 0, 0]}", "angular: [-2, 0, 0], about: [6, 0, 2]}"}},
    /* of five shapes those from the fourth on: 3 - 0.5 - 0.5 - 0.1 */
    {SHAPES("DCOSegBedSquash", "5",
            CUBE_AT("0", "9", "0") BALL_AT("0", "0", "0") BALL_AT("2", "0", "0")
                BALL_AT("0", "3", "0") BALL_AT("2", "3", "0")),
     0,
     NULL,
     {"translate: [0, 3, 0]}\n    script: {velocity: [0, -1, 0], end: 1.9}\n",
      "translate: [2, 0, 0]}\n  - name"}},
    /* the piston's top from 4.5 to -0.5 + 0.9/3.8 */
    {SHAPES("DCOSqueezeOut", "3",
            BALL_AT("0", "4", "0") BALL_AT("0", "0", "0") CUBE_AT("0", "9", "0")),
     0,
     NULL,
     {"translate: [0, 4, 0]}\n    script: {velocity: [0, -0.3, 0], end: 15.88}\n"}},
    /* the far edge is down by 0.48 at an angle of 0.5007: 0.956 s */
    {SHAPES("DCOHammerWalnut", "2",
            CUBE_AT("5", "0", "0") "input/plane.obj -1 0.53 0  0 0 0  1 1 1\n"),
     0,
     NULL,
     {"script: {velocity: [0, 0, 0], angular: [0, 0, 0.523598775598299], about: [0, 0.53, 0.5], "
      "end: 0.96}\n"}},
    {SHAPES("DCOCut", "2", CUBE_AT("5", "0", "0") BALL_AT("0", "1", "0")),
     0,
     NULL,
     {"script: {velocity: [0, -1, -1], end: 0.5}\n"}},
};

static void test_scripts(void **state)
{
    (void)state;
    for (size_t i = 0; i < BRIO_COUNT(scripts); i++) expect(&scripts[i]);
    for (size_t i = 0; i < BRIO_COUNT(drives); i++) expect(&drives[i]);
    printf("%d scripts and their variants\n", (int)(BRIO_COUNT(scripts) + BRIO_COUNT(drives)));
}

/* ---- what matters, and what does not ----------------------------------------------------- */

#define CUBE "shapes input 1\ninput/cube.msh 0 0 0  0 0 0  1 1 1"

static const Case keywords[] = {
    {CUBE "\nenergy NH\n", 0, NULL, {"{type: neo-hookean, E: 100000, nu: 0.4, rho: 1000}"}},
    {CUBE "\nenergy FCR\n", 0, NULL, {"{type: fixed-corotated, E: 100000, nu: 0.4, rho: 1000}"}},
    {CUBE "\nenergy XY\n", 0, "a.txt:3: energy \"XY\" is unknown; using neo-hookean", {NULL}},
    {CUBE "\ntimeIntegration BE\n", 0, NULL, {"integrator: backward-euler\n"}},
    {CUBE "\ntimeIntegration NM 0.3 0.6\n", 0, NULL, {"{type: newmark, beta: 0.3, gamma: 0.6}"}},
    {CUBE "\ntimeIntegration XY\n", 0, "a.txt:3: timeIntegration \"XY\" is unknown", {NULL}},
    {CUBE "\ntime 3 0.5\n", 0, NULL, {"time: {h: 0.5, end: 3, fps: 2}"}},
    {CUBE "\nstiffness 5e5 0.2\ndensity 300\n", 0, NULL, {"E: 500000, nu: 0.2, rho: 300}"}},
    {CUBE "\nturnOffGravity\n", 0, NULL, {"gravity: [0, 0, 0]\n"}},
    {CUBE "\nselfCollisionOff\n", 0, NULL, {"!contact:"}},
    {CUBE "\nselfCollisionOff\nground 0 -1\n", 0, NULL, {"exclude: [[material, material]]"}},
    {CUBE "\nselfCollisionOn\nselfFric 0.3\n", 0, NULL, {"  mu: 0.3\n"}},
    {CUBE "\nground 0.5 -2\n", 0, NULL, {"point: [0, -2, 0]", "[material, obstacle0], mu: 0.5}"}},
    {CUBE "\nhalfSpace 1 -2 -3  0 0 1  50 0\n",
     0,
     NULL,
     {"normal: [0, 0, 1]", "point: [1, -2, -3]"}},
    {CUBE "\nmeshCO input/ball.obj 0 -4 0  2 50 0  rotate 0 0 90\n",
     0,
     NULL,
     {"transform: {scale: 2, rotate: [[0, 0, 1], 90], translate: ["}},
    {CUBE "\nsize 3\n", 0, NULL, {"transform: {scale: 3, translate: [1.5, 1.5, 1.5]}"}},
    {CUBE "\nrotateModel 0 0 1 90\n", 0, NULL, {"rotate: [[0, 0, 1], 90]"}},
    {CUBE "\nhandleRatio 0.3\nscript hangLeft\n", 0, NULL, {"vertices: [0, 3, 6, 9, 12"}},
    {CUBE "\nuseAbsParameters\ndHat 0.01\nepsv 0.02\n", 0, NULL, {"dhat: 0.01\n", "epsv: 0.02\n"}},
    {CUBE "\nuseAbsParameters\neps_v 0.03\n", 0, NULL, {"epsv: 0.03\n"}},
    {CUBE "\nuseAbsParameters\ntuning 6\n1e4 0 0.05 0 0 0.06\n",
     0,
     "a.txt:4: tuning: the stiffness of contact 10000 is adapted there",
     {"dhat: 0.05\n", "epsv: 0.06\n"}},
    {CUBE "\ntol 1\n1e-3\n", 0, NULL, {"solver: {tol: 0.00173205080756888}"}},
    {CUBE "\ndampingStiff 1e-6\ntime 1 0.1\n", 0, NULL, {"{type: rayleigh, beta: 0.0001}"}},
    {CUBE "\ndampingRatio 0.4\ntime 1 0.1\n", 0, NULL, {"{type: rayleigh, beta: 0.03}"}},
    {CUBE "\nconstraintSolver QP\n",
     0,
     "a.txt:3: constraintSolver QP: brio has the barrier",
     {NULL}},
    {CUBE "\nsection QP\ntime 9 1\nsection end\n", 0, "a.txt:3: section:", {"!end: 9"}},
    {CUBE "\nsection IP\ntime 9 1\nsection end\n", 0, NULL, {"end: 9"}},
    {"shape input input/cube.msh\n", 0, NULL, {"mesh: \"input/cube.msh\""}},
    {CUBE " material 7 8 0.1\n",
     0,
     NULL,
     {"  material0: {type: neo-hookean, E: 8, nu: 0.1, rho: 7}"}},
    {CUBE " initVel 1 2 3  0 180 0\n",
     0,
     NULL,
     {"{linear: [1, 2, 3], angular: [0, 3.14159265358979, 0], about: [0, 0, 0]}"}},
    {CUBE " colour 3 4 material 7 8 0.1\n",
     0,
     "a.txt:2: \"colour\" is no part of a shape that is known; left out",
     {"rho: 7}"}},
    {CUBE "\nshapes input 1\ninput/ball.obj 0 -3 0  0 0 0  1 1 1  linearVelocity 0 1 0\n",
     0,
     NULL,
     {"    script: {velocity: [0, 1, 0]}\n"}},
    {CUBE "\nshapes input 1\ninput/ball.obj 0 -3 0  0 0 0  1 1 1  angularVelocity 0 180 0\n",
     0,
     NULL,
     {"angular: [0, 3.14159265358979, 0], about: [0, -3, 0]}"}},
    {CUBE "\nshapes input 1\ninput/ball.obj 0 -3 0  0 0 0  1 1 1  initVel 0 1 0  0 0 0\n",
     0,
     "initVel has no meaning for a shape that is not simulated",
     {NULL}},
    /* obstacles that a boundary condition moves: as a whole, or not */
    {CUBE
     "\nshapes input 1\ninput/ball.obj 0 -3 0  0 0 0  1 1 1  DBC 0 0 0  1 1 1  0 2 0  0 0 0  0 "
     "0.5\n",
     0,
     NULL,
     {"    script: {velocity: [0, 2, 0], end: 0.5}\n"}},
    {CUBE
     "\nshapes input 1\ninput/ball.obj 0 -3 0  0 0 0  1 1 1  DBC 0 0 0  1 0.5 1  0 2 0  0 0 0\n",
     1,
     "a.txt:4: LOST: DBC: it moves a part of an obstacle",
     {"!script"}},
    {CUBE " DBC 0 0 0  1 0.1 1  0 0 0  0 0 0\n", 0, NULL, {"script: {velocity: [0, 0, 0]}"}},
    {CUBE " DBC 0 0 0  1 0.1 1  0 0 0  0 0 0  0 1\n",
     1,
     "a.txt:2: LOST: DBC: from 1 s on the vertices are free there",
     {"    fix:\n"}},
    {CUBE " DBC 0 0 0  1 0.1 1  0 0 0  0 0 0  0 1\ntime 1 0.1\n", 0, NULL, {"    fix:\n"}},
    {CUBE " DBC 0 0 0  1 0.1 1  0 1 0  0 0 0  0.5\n",
     1,
     "a.txt:2: LOST: DBC: from 0 s on the vertices are free there, until another time range",
     {NULL}},
    {CUBE " DBC 0 0 0  1 0.1 1  0 1 0  0 0 0  0 0.5 DBC 0 0 0  1 0.1 1  1 0 0  0 0 0  0.5 5\n",
     0,
     NULL,
     {"{keys: [[0, 0, 0, 0], [0.5, 0, 0.5, 0], [5, 4.5, 0.5, 0]]}"}},
    {CUBE " DBC 0 0 0  1 0.1 1  0 1 0  0 0 9  0 2 DBC 0 0 0  1 0.1 1  1 0 0  0 0 9  2 5\n",
     1,
     "a.txt:2: LOST: DBC: a second motion of rotating vertices",
     {NULL}},
    /* vertex 13 is in the middle, and the other code holds those of the surface */
    {CUBE " DBC 0 0 0  1 1 1  0 1 0  0 0 0\n",
     0,
     NULL,
     {"10, 11, 12, 14, 15", "26]\n        script: {velocity: [0, 1, 0]}\n"}},
    {CUBE " DBC 5 5 5  6 6 6  0 1 0  0 0 0\n",
     0,
     "a.txt:2: DBC: no vertex of the surface is in the box",
     {"!fix:"}},
    {CUBE " DBC 0 0 0  1 0.1 1  0 0 0  0 0 0\nDBCTimeRange 0 2\n", 1, "from 2 s on", {NULL}},
    /* both ranges count, wherever they stand */
    {CUBE " DBC 0 0 0  1 0.1 1  0 1 0  0 0 0  0 1\nDBCTimeRange 0 2\n",
     1,
     "from 1 s on",
     {"end: 1}"}},
    {"DBCTimeRange 0 2\n" CUBE " DBC 0 0 0  1 0.1 1  0 1 0  0 0 0  0 3\n",
     1,
     "from 2 s on",
     {"end: 2}"}},
    {CUBE " DBC 0 0 0  1 0.1 1  0 1 0  0 0 0  1 3\nDBCTimeRange 0 1\n",
     0,
     "a.txt:2: DBC: its time range is empty",
     {"!fix:"}},
    {CUBE " NBC 0 0 0  1 1 1  0 5 0\n", 1, "a.txt:2: LOST: NBC: brio has no force", {NULL}},
    {CUBE " NBC 0 0 0  1 1 1  0 0 0\nNBCTimeRange 0 1\n", 0, "a.txt:3: NBCTimeRange:", {NULL}},
    {CUBE "\nshapes input 1\ninput/ball.obj 0 -3 0  0 0 0  1 1 1  meshSeq input/seq\n",
     1,
     "a.txt:4: LOST: meshSeq: brio moves obstacles by turns and shifts at a constant rate",
     {NULL}},
    {CUBE "\nrestart status\n", 1, "a.txt:3: LOST: restart: the scene starts there from", {NULL}},
    {CUBE "\nstifness 1\n", 0, "\"stifness\" is not a known keyword; did you mean", {NULL}},
    /* every copy of a surface is an obstacle, a lattice of bodies stays one */
    {CUBE "\nshapeMatrix input 3 1 2  0 -9 0\ninput/ball.obj 2 2 2  0 0 0  1 1 1\n",
     0,
     "a.yaml: 1 body, 6 obstacles\n",
     {"translate: [4, -9, 2]}", "- name: ball-6"}},
    {"shapeMatrix input 3 1 2  0 1 0\ninput/cube.msh 2 2 2  0 0 0  1 1 1\n",
     0,
     "a.yaml: 6 bodies, 0 obstacles\n",
     {"    array: {count: [3, 1, 2], spacing: [2, 2, 2]}\n"}},
    {"script hang2\nshapeMatrix input 1 2 1\ninput/cube.msh 2 2 2  0 0 0  1 1 1\n",
     0,
     "a.yaml: 2 bodies, 0 obstacles\n",
     {"!array", "translate: [0, 2, 0]}\n    fix:\n", "translate: [0, 0, 0]}\n  - name"}},
};

static void test_keywords(void **state)
{
    (void)state;
    for (size_t i = 0; i < BRIO_COUNT(keywords); i++) expect(&keywords[i]);
    static const char *const ignored[] = {"warmStart 1",
                                          "view perspective",
                                          "zoom 1",
                                          "cameraTracking",
                                          "playBackSpeed 1",
                                          "appendStr a",
                                          "disableCout",
                                          "exactCCD none",
                                          "CCDMethod x",
                                          "ccdMethod x",
                                          "CCDTolerance 1",
                                          "ccdTolerance 1",
                                          "linearSolver x",
                                          "linSysSolver x",
                                          "QPSolver x",
                                          "kappaMinMultiplier 1",
                                          "constraintType x",
                                          "constraintOffset",
                                          "fricIterAmt 1",
                                          "minBarrierStiffnessScale 1",
                                          "useActiveSetConvergence",
                                          "noActiveSetConvergence"};
    for (size_t i = 0; i < BRIO_COUNT(ignored); i++) {
        char text[200], report[80];
        snprintf(text, sizeof text, CUBE "\n%s\n", ignored[i]);
        snprintf(report, sizeof report, "a.txt:3: %.*s: ", (int)strcspn(ignored[i], " "),
                 ignored[i]);
        expect(&(Case){text, 0, report, {NULL}});
    }
}

/* A mesh of a two-dimensional code is rejected by that name. */
static void test_flat(void **state)
{
    (void)state;
    write_text("flat.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 2\n2 1 0 2\n3 0 "
                           "1 2\n$EndNodes\n$Elements\n1\n1 2 2 0 1 1 2 3\n$EndElements\n");
    char *scene;
    const Outcome *o = import("shapes input 1\nflat.msh 0 0 0  0 0 0  1 1 1\n", &scene);
    assert_int_equal(o->code, 2);
    assert_string_equal(o->err,
                        "a.txt:2:1: the mesh ./flat.msh is two-dimensional (flat triangles, "
                        "no tets); brio imports scenes in three dimensions\n");
    write_text("flat.yaml",
               "bodies:\n  - mesh: flat.msh\n    material: {type: neo-hookean, E: 1e5, "
               "nu: 0.4, rho: 1000}\ntime: {h: 0.01, end: 0.01}\n");
    o = BRIO("check", "flat.yaml");
    assert_int_equal(o->code, 2);
    assert_non_null(strstr(o->err, "a solid needs tets, and this mesh has none (3 vertices, 1 "
                                   "triangle; it is two-dimensional)"));
}

/* A shape that moves through meshes, one at the end of each step: a turn and a shift are said, what
 * speeds up or bends is lost. */
static void test_sequences(void **state)
{
    (void)state;
    static const double corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {1, 0, 1}, {0, 0, 1}};
    static const struct {
        int code;
        const char *line;
    } kinds[] = {{0, "    script: {velocity: [0, 0.5, 0]}\n"},
                 {0, "angular: [0, 0, 1.5"},
                 {1, NULL},
                 {1, NULL}};
    for (int kind = 0; kind < 4; kind++) {
        for (int i = 0; i < 8; i++) {
            char name[64], text[600] = "";
            double t = 0.1 * (i + 1);
            for (int v = 0; v < 4; v++) {
                double x[3] = {corner[v][0], corner[v][1] - 3, corner[v][2]};
                if (kind == 0) x[1] += 0.5 * t;
                if (kind == 1) {
                    x[0] = 0.5 + (corner[v][0] - 0.5) * cos(1.5 * t);
                    x[1] = -3 + (corner[v][0] - 0.5) * sin(1.5 * t);
                }
                if (kind == 2) x[1] += t * t;
                if (kind == 3) x[1] += v == 0 ? t : 0;
                size_t used = strlen(text);
                snprintf(text + used, sizeof text - used, "v %.8g %.8g %.8g\n", x[0], x[1], x[2]);
            }
            strcat(text, "f 1 2 3\nf 1 3 4\n");
            snprintf(name, sizeof name, "input/seq/%d.obj", i);
            write_text(name, text);
        }
        char *scene;
        const Outcome *o =
            import(CUBE "\ntime 0.8 0.1\nshapes input 1\ninput/plane.obj 0 -3 0  0 0 "
                        "0  1 1 1  meshSeq input/seq\n",
                   &scene);
        if (o->code != kinds[kind].code) fail_msg("kind %d: %s%s", kind, o->out, o->err);
        if (kinds[kind].line && !strstr(scene, kinds[kind].line)) fail_msg("%s", scene);
        if (kind == 1 && !strstr(scene, "about: [0.5, -3, ")) fail_msg("%s", scene);
        free(scene);
    }
    /* a frame is missing */
    char *scene;
    const Outcome *o =
        import(CUBE "\ntime 2 0.1\nshapes input 1\ninput/plane.obj 0 -3 0  0 0 0  1 1 "
                    "1  meshSeq input/seq\n",
               &scene);
    assert_int_equal(o->code, 1);
    assert_non_null(strstr(o->out, "a.txt:5: LOST: meshSeq: "));
    free(scene);
}

/* ---- points and segments ----------------------------------------------------------------- */

static bool reads(const char *extension)
{
    const BrioMeshReader *reader;
    for (int i = 0; (reader = brio__mesh_reader_at(i)); i++)
        if (!strcmp(reader->extension, extension)) return true;
    return false;
}

/* They keep their number and their place in the box of all, whether brio has such obstacles or
 * not; where the file is missing the surface of the same name serves. */
static void test_points_and_segments(void **state)
{
    (void)state;
    static const char *const text =
        "script DCORotCylinders\nsize 2\nshapes input 5\n"
        "input/one.pt 0 0 0  0 0 0  1 1 1\ninput/edge.seg 2 0 0  0 0 0  1 1 1\n"
        "input/ball.pt 0 0 3  0 0 0  1 1 1\ninput/ball.seg 3 0 3  0 0 0  1 1 1\n"
        "input/cube.msh 1.5 2 1.5  0 0 0  1 1 1\nmeshCO input/one.pt 0 -9 0 1 50 0\n";
    char *scene;
    unlink("ball.pt");
    unlink("ball.seg");
    const Outcome *o = import(text, &scene);
    assert_non_null(scene);
    /* the box goes from -0.5 to 3.5 along x: 2/4 */
    assert_non_null(strstr(scene, "transform: {scale: 0.5, translate: [1, 1.25, 0.75]}"));
    assert_null(strstr(scene, "type: neo-hookean, E: 1e5\n    script"));
    if (reads(".pt") && reads(".seg")) {
        if (o->code) fail_msg("%s%s", o->out, o->err);
        assert_non_null(strstr(scene, "mesh: \"input/one.pt\""));
        assert_non_null(strstr(scene, "mesh: \"input/edge.seg\""));
        assert_non_null(strstr(scene, "mesh: \"ball.pt\""));
        assert_non_null(strstr(scene, "mesh: \"ball.seg\""));
        assert_int_equal(access("ball.pt", F_OK), 0);
        assert_int_equal(access("ball.seg", F_OK), 0);
        /* a file of somebody else is left alone, one that is the same is taken again */
        free(scene);
        write_text("ball.pt", "v 0 0 0\n");
        for (int i = 0; i < 2; i++) {
            o = import(text, &scene);
            if (o->code) fail_msg("%s%s", o->out, o->err);
            assert_non_null(strstr(scene, "mesh: \"ball-2.pt\""));
            assert_non_null(strstr(scene, "mesh: \"ball.seg\""));
            if (i == 0) free(scene);
        }
        assert_int_equal(access("ball-3.pt", F_OK), -1);
    } else {
        assert_int_equal(o->code, 1);
        assert_non_null(strstr(o->out, "a.txt:4: LOST: shape: brio has no obstacles of points"));
        assert_non_null(strstr(o->out, "a.txt:5: LOST: shape: brio has no obstacles of segments"));
        assert_non_null(strstr(o->out, "a.txt:9: LOST: meshCO: brio has no obstacles of points"));
        assert_non_null(strstr(o->err, "5 parts of it are lost"));
        assert_null(strstr(scene, "obstacles:"));
    }
    free(scene);
}

/* ---- scenes of the reference code -------------------------------------------------------- */

/* What import says of each, and its exit code; `parts`: the scene needs points or segments. */
static const struct {
    const char *name;
    int code;
    bool parts;
    const char *first, *loss, *whole; /* `whole`: with points and segments */
} shared[] = {
    {"otherExamples/tunnel", 0, false, "1 body, 2 obstacles", NULL, NULL},
    {"otherExamples/typical/sphere1K_DCORotCylinders", 0, false, "1 body, 5 obstacles", NULL, NULL},
    {"otherExamples/coDimUnitTests/mat40x40_squarePlaneDrop", 0, false, "1 body, 100 obstacles",
     NULL, NULL},
    {"otherExamples/friction/slopeTest_highSchoolPhysics_0.5", 0, false, "1 body, 1 obstacle", NULL,
     NULL},
    {"paperExamples/1_squeezeOut", 0, false, "4 bodies, 3 obstacles", NULL, NULL},
    {"paperExamples/2_matKnives", 0, false, "1 body, 10 obstacles", NULL, NULL},
    {"paperExamples/13_dolphinFunnel", 0, false, "1 body, 1 obstacle", NULL, NULL},
    {"paperExamples/15_trashComp_octocat", 0, false, "1 body, 6 obstacles", NULL, NULL},
    {"paperExamples/17_pinCushionBall", 1, true, "1 body, 0 obstacles",
     ":13: LOST: shape: brio has no obstacles of segments (.seg)", "1 body, 882 obstacles"},
    {"paperExamples/18_pointRollerBall", 1, true, "1 body, 1 obstacle",
     ":10: LOST: shape: brio has no obstacles of points (.pt)", "1 body, 5 obstacles"},
    {"paperExamples/21_scalability/mat40x40_twist", 0, false, "1 body, 0 obstacles", NULL, NULL},
    {"paperExamples/videoExamples/chain10", 0, false, "10 bodies, 1 obstacle", NULL, NULL},
    {"tutorialExamples/2cubesFall_largerDt", 0, false, "2 bodies, 1 obstacle", NULL, NULL},
};

static void test_shared_scenes(void **state)
{
    (void)state;
    const char *folder = BRIO_SOURCE_DIR "/../shared/cases/ipc/input";
    if (access(folder, R_OK)) {
        printf("SKIPPED: there is no %s\n", folder);
        return;
    }
    bool parts = reads(".pt") && reads(".seg");
    for (size_t i = 0; i < BRIO_COUNT(shared); i++) {
        char file[800];
        snprintf(file, sizeof file, "%s/%s.txt", folder, shared[i].name);
        const Outcome *o = BRIO("import", "ipc", file, "-o", "shared.yaml", "--force");
        bool whole = shared[i].parts && parts;
        if (o->code != (whole ? 0 : shared[i].code))
            fail_msg("%s: exit code %d\n%s%s", shared[i].name, o->code, o->out, o->err);
        if (!strstr(o->out, whole ? shared[i].whole : shared[i].first)) fail_msg("%s", o->out);
        if (!whole && shared[i].loss && !strstr(o->out, shared[i].loss)) fail_msg("%s", o->out);
        printf("%s: exit code %d\n", shared[i].name, o->code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scripts),
                                       cmocka_unit_test(test_keywords),
                                       cmocka_unit_test(test_flat),
                                       cmocka_unit_test(test_sequences),
                                       cmocka_unit_test(test_points_and_segments),
                                       cmocka_unit_test(test_shared_scenes)};
    return cmocka_run_group_tests(tests, set_up, leave_folder);
}
