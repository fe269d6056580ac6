/* Verdicts that see: runs that explode end so, with a sentence; scenes that gain energy for a cause
 * do not; and what no scene means is questioned by check and before a run. */
#include "program.h"

#include "memory.h"
#include "run/explosion.h"
#include "run/run.h"
#include "scene/questions.h"
#include "solve/problem.h"

/* A cube of jelly, 10 cm, that falls for a tenth of a second; no contact. */
static const char cube[] = "brio: 1\n"
                           "time: {h: 1/60, end: 0.1}\n"
                           "gravity: [0, -9.8, 0]\n"
                           "integrator: backward-euler\n"
                           "output: {motion: false}\n"
                           "bodies:\n"
                           "  - name: cube\n"
                           "    shape: {type: box, size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}\n"
                           "    material: {type: neo-hookean, E: 1e5, nu: 0.3, rho: 1000}\n";

/* A bar that is fixed at one end. */
static const char bar[] = "brio: 1\n"
                          "time: {h: 1/100, end: 1}\n"
                          "integrator: forward-euler\n"
                          "output: {motion: false}\n"
                          "bodies:\n"
                          "  - name: bar\n"
                          "    shape: {type: box, size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}\n"
                          "    material: {type: stable-neo-hookean, E: 1e7, nu: 0.3, rho: 1000}\n"
                          "    fix: [{box: [[-1, -1, -1], [-0.199, 1, 1]]}]\n";

/* The same, pulled at its other end. */
static const char pulled[] =
    "brio: 1\n"
    "time: {h: 1/100, end: 1}\n"
    "integrator: symplectic-euler\n"
    "output: {motion: false}\n"
    "bodies:\n"
    "  - name: bar\n"
    "    shape: {type: box, size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}\n"
    "    material: {type: stable-neo-hookean, E: 1e7, nu: 0.3, rho: 1000}\n"
    "    fix:\n"
    "      - {box: [[-1, -1, -1], [-0.199, 1, 1]]}\n"
    "      - {box: [[0.199, -1, -1], [1, 1, 1]], script: {velocity: [0.1, 0, 0]}}\n";

/* A cloth that hangs by a corner. */
static const char cloth[] = "brio: 1\n"
                            "time: {h: 1/60, end: 2}\n"
                            "integrator: verlet\n"
                            "output: {motion: false}\n"
                            "bodies:\n"
                            "  - name: cloth\n"
                            "    kind: springs\n"
                            "    shape: {type: grid, width: 1, depth: 1, cells_x: 6, cells_z: 6}\n"
                            "    material: {type: hooke, k: 1e5, vertex_mass: 0.001}\n"
                            "    fix: [{vertices: [0]}]\n";

/* Five light dice that fall on each other and on a slope. */
static const char dice[] = "brio: 1\n"
                           "time: {h: 0.002, end: 0.2}\n"
                           "integrator: decoupled\n"
                           "solver: {tol: 1e-4}\n"
                           "output: {motion: false}\n"
                           "contact: {type: ipc, dhat: 0.001, kappa: 1e5}\n"
                           "obstacles: [{type: plane, normal: [-0.2, 1, 0]}]\n"
                           "bodies:\n"
                           "  - name: die\n"
                           "    kind: affine\n"
                           "    shape: {type: die, size: 0.15, radius: 0.03, cells: 1}\n"
                           "    material: {type: affine, E: 4e5, rho: 25}\n"
                           "    transform: {translate: [0, 0.12, 0]}\n"
                           "    array: {count: [1, 5, 1], spacing: [0.2, 0.2, 0.2]}\n"
                           "    velocity: {linear: [0, -3.5, 0]}\n";

typedef struct Case {
    const char *scene;
    const char *set[4]; /* changes of the scene */
    const char *sentence;
} Case;

/* The outcome of a command on a case: `brio COMMAND scene.yaml ... --set ...`. */
static const Outcome *perform(const Case *c, const char *const *command)
{
    const char *arguments[32] = {command[0], "scene.yaml"};
    int count = 2;
    write_text("scene.yaml", c->scene);
    for (int i = 1; command[i]; i++) arguments[count++] = command[i];
    for (int i = 0; i < 4 && c->set[i]; i++) {
        arguments[count++] = "--set";
        arguments[count++] = c->set[i];
    }
    arguments[count] = NULL;
    return run_limited(0, arguments);
}

#define COMMAND(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- explosions ------------------------------------------------------------------------- */

static const Case explosions[] = {
    {bar, {0}, "vertex"},
    {bar, {"integrator=symplectic-euler"}, "an implicit integrator, such as backward-euler"},
    {bar, {"integrator=verlet", "time.h=1/60"}, "the last sane state is that of step "},
    {bar, {"integrator=rk4", "time.h=1/200"}, "`brio stability` prints the longest stable one"},
    {bar, {"integrator=heun", "gravity=[0, 0, 0]", "bodies.0.velocity={linear: [0, 1, 0]}"}, "J"},
    {bar, {"output.energy_every=50"}, "the scene can cause at most "},
    {pulled, {0}, "the scene can cause at most "},
    {pulled, {"gravity=[0, 0, 0]"}, "kinetic and elastic energy is "},
    {cloth, {0}, "of body \"cloth\" with "},
    {cloth, {"integrator=symplectic-euler"}, "use a shorter time.h"},
    {dice, {0}, "an integrator that cannot gain energy"},
};

static void explosions_end_the_run(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof explosions / sizeof explosions[0]; i++) {
        const Outcome *o = perform(&explosions[i], COMMAND("run", "-o", "out", "-q", "--force"));
        print_message("%zu: %s", i, o->err);
        assert_int_equal(o->code, 1);
        assert_non_null(strstr(o->err, "exploded: step "));
        assert_non_null(strstr(o->err, explosions[i].sentence));
        char *json = read_all("out/run.json", NULL);
        assert_non_null(strstr(json, "\"verdict\": \"exploded\""));
        assert_non_null(strstr(json, "\"sane_step\": "));
        free(json);
        char *page = read_all("out/report.html", NULL);
        const char *first = strstr(page, "</h1>\n");
        const char *box = "</h1>\n<div class=\"verdict bad\" role=\"alert\"><p><strong>Exploded<";
        assert_non_null(first);
        assert_memory_equal(first, box, strlen(box));
        free(page);
        assert_int_equal(access("out/checkpoint", F_OK), 0);
    }
    remove_tree("out");
}

/* The run and the same run with an interruption end alike. */
static void a_resumed_run_explodes_alike(void **state)
{
    (void)state;
    const Case c = {bar, {"integrator=symplectic-euler"}, NULL};
    size_t size, again_size;
    const Outcome *o =
        perform(&c, COMMAND("run", "-o", "out", "-q", "--force", "--checkpoint-every", "1"));
    assert_int_equal(o->code, 1);
    char *energy = read_all("out/energy.csv", &size);
    o = perform(&c, COMMAND("run", "-o", "out", "-q", "--resume"));
    assert_int_equal(o->code, 1);
    assert_memory_equal(o->err, "exploded: step ", 15);
    char *again = read_all("out/energy.csv", &again_size);
    assert_int_equal(size, again_size);
    assert_memory_equal(energy, again, size);
    free(energy);
    free(again);
    remove_tree("out");
}

static void programs_know_the_status(void **state)
{
    (void)state;
    BrioRunDef def = brio_default_run();
    BrioProgress last;
    BrioError error;
    def.source = (BrioSource){.name = "bar.yaml", .text = bar, .size = strlen(bar)};
    def.out = "out";
    assert_int_equal(brio_run(&def, &last, &error), BRIO_EXPLODED);
    assert_string_equal(brio_status_name(BRIO_EXPLODED), "EXPLODED");
    assert_non_null(strstr(error.message, "the last sane state is that of step 3, t = 0.03 s"));
    assert_int_equal(last.step, 4);
    const Outcome *o = BRIO("check", "--exact", "out"); /* what is there is a run like any other */
    assert_int_equal(o->code, 0);
    remove_tree("out");
}

/* ---- energy for a cause ----------------------------------------------------------------- */

static const Case causes[] = {
    /* a fall of 2 km, from rest and from a height that has no zero */
    {cube, {"time.end=20", "integrator=a-search"}, NULL},
    {cube,
     {"time.end=1", "integrator=forward-euler", "time.h=1/5000", "bodies.0.material.E=1e4"},
     NULL},
    {cube, {"bodies.0.transform={translate: [0, 1e4, 0]}", "time.end=5"}, NULL},
    /* a state of rest in which nothing is there */
    {cube, {"gravity=[0, 0, 0]", "time.end=1", "integrator=a-1"}, NULL},
    {cube, {"gravity=[0, 0, 0]", "time.end=1", "solver.tol=0.01", "integrator=a-1"}, NULL},
    /* an energy that the scene asks for */
    {cube,
     {"integrator={type: a-search, energy_scale: 10}", "bodies.0.velocity={angular: [0, 0, 20]}",
      "time.end=1"},
     NULL},
    {cube, {"integrator={type: a-search, decay: 0.1, ground: 1000}", "time.end=1"}, NULL},
    /* scripts: slow, fast, for long */
    {pulled, {"integrator=backward-euler", "bodies.0.fix.1.script.velocity=[5, 0, 0]"}, NULL},
    {pulled, {"integrator=a-search", "bodies.0.fix.1.script={angular: [30, 0, 0]}"}, NULL},
    {pulled,
     {"integrator=implicit-midpoint", "gravity=[0, 0, 0]",
      "bodies.0.fix.1.script.velocity=[0, 0, 300]", "time.end=0.05"},
     NULL},
    /* stretched springs that are let go */
    {cloth, {"integrator=backward-euler", "bodies.0.transform.scale=1"}, NULL},
    {cloth, {"integrator=pbd-verlet"}, NULL},
    {cloth, {"integrator=a-search", "solver={type: local-global, iterations: 3}"}, NULL},
    {dice, {"integrator=backward-euler", "time.end=0.1"}, NULL},
    {dice, {"integrator=a-search", "time.end=0.1"}, NULL},
};

static void a_cause_is_no_explosion(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++) {
        const Outcome *o = perform(&causes[i], COMMAND("run", "-o", "out", "-q", "--force"));
        if (o->code) print_message("%zu: %s", i, o->err);
        assert_int_equal(o->code, 0);
    }
    remove_tree("out");
}

/* ---- questions -------------------------------------------------------------------------- */

static const Case questions[] = {
    {cube,
     {"time={h: 60, end: 0.2}"},
     "time.h = 60 s is longer than time.end = 0.2 s: the whole run is one step"},
    {cube, {"time.h=60", "time.end=120"}, "times its own size (0.173 m) in a step of 60 s"},
    {cube, {"time.h=1e-10", "time.end=10"}, "time.end / time.h are 1e+11 steps"},
    {cube, {"bodies.0.transform={scale: 1000}"}, "is 173 m large and has a mass of 1e+09 kg"},
    {cube, {"bodies.0.transform={scale: 1000}"}, "transform: {scale: 0.001} makes it 0.173 m"},
    {cube, {"bodies.0.transform={scale: 1e-4}"}, "is only 1.73e-05 m large"},
    {cube, {"bodies.0.transform={scale: 1e-3}", "bodies.0.material.rho=1e-3"}, "a grain of dust"},
    {cube, {"bodies.0.material.rho=0.01"}, "has a density of 0.01 kg/m3, less than air"},
    {cube, {"bodies.0.material.rho=1e6"}, "a density of 1e+06 kg/m3, more than any metal"},
    {cube, {"bodies.0.material.E=1e14"}, "has E = 1e+14 Pa, stiffer than diamond"},
    {cube, {"bodies.0.material.E=0.1"}, "has E = 0.1 Pa, softer than any gel"},
    {cube, {"bodies.0.material.E=20"}, "times too soft to carry its own weight"},
    {cube, {"bodies.0.velocity={linear: [2000, 0, 0]}"}, "2e+03 m/s, faster than a rifle bullet"},
    {cube, {"bodies.0.velocity={linear: [4e8, 0, 0]}"}, "4e+08 m/s, faster than light"},
    {cube, {"gravity=[0, -980, 0]"}, "gravity of 980 m/s2 is 100 times that of the earth"},
    {cube, {"solver.tol=10"}, "solver.tol = 10 m/s"},
    {pulled,
     {"integrator=backward-euler", "bodies.0.fix.1.script.velocity=[5000, 0, 0]"},
     "a script moves vertices with 5e+03 m/s"},
    {bar, {0}, "forward-euler lets vibrations grow at every step, here to 1e"},
    {cloth, {0}, "h = 0.0167 s is above the limit of verlet, "},
    {dice,
     {"contact.dhat=0.1", "bodies.0.array.count=[1, 1, 1]",
      "bodies.0.transform.translate=[0, 1, 0]"},
     "contact.dhat = 0.1 m is larger than "},
    {"brio: 1\nintegrator: backward-euler\nbodies:\n  - {name: sheet, shape: {type: grid, width: "
     "1, "
     "depth: 1, cells_x: 2, cells_z: 2}, material: {type: membrane-stvk, E: 1e5, thickness: 1, "
     "areal: 2e4}}\n",
     {0},
     "has a mass per area of 2e+04 kg/m2, more than a metre of steel"},
};

static void check_asks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        const Outcome *o = perform(&questions[i], COMMAND("check"));
        const char *line = strstr(o->out, questions[i].sentence);
        if (!line) print_message("%zu: %s%s", i, o->out, o->err);
        assert_non_null(line);
        while (line > o->out && line[-1] != '\n') line--;
        print_message("%.*s\n", (int)strcspn(line, "\n"), line);
        assert_memory_equal(line, "  ! ", 4);
        assert_int_equal(o->code, 0);
        assert_non_null(strstr(o->out, "\nrunnable\n"));
    }
}

static void check_has_no_question(void **state)
{
    (void)state;
    const Case plain = {cube, {0}, NULL};
    const Outcome *o = perform(&plain, COMMAND("check"));
    assert_int_equal(o->code, 0);
    assert_null(strstr(o->out, "  ! "));
    o = perform(&plain, COMMAND("check", "--json"));
    assert_non_null(strstr(o->out, "\"warnings\": []"));
    assert_non_null(strstr(o->out, "\"settings\": {"));
}

static void run_asks_first(void **state)
{
    (void)state;
    const Case c = {cube, {"time={h: 60, end: 0.2}"}, NULL};
    const Outcome *o = perform(&c, COMMAND("run", "-o", "out", "--force"));
    assert_int_equal(o->code, 0);
    assert_non_null(strstr(o->err, "warning: time.h = 60 s is longer than time.end = 0.2 s"));
    o = perform(&c, COMMAND("run", "-o", "out", "--force", "-q"));
    assert_int_equal(o->code, 0);
    assert_string_equal(o->err, "");
    const Case plain = {cube, {0}, NULL};
    o = perform(&plain, COMMAND("run", "-o", "out", "--force"));
    assert_null(strstr(o->err, "warning"));
    remove_tree("out");
}

/* ---- what a solve says ------------------------------------------------------------------ */

/* A last step below the tolerance is never given as the reason for a failure. */
static void a_solve_says_what_was_not_met(void **state)
{
    (void)state;
    BrioScene *scene = NULL;
    BrioSim *sim = NULL;
    BrioError error = {0};
    assert_int_equal(brio__scene_parse(cube, strlen(cube), "cube.yaml", &scene, &error), BRIO_OK);
    assert_int_equal(brio__scene_sim(scene, &sim, &error), BRIO_OK);
    BrioSolver *s = sim->stepper->solver;
    BrioProblem p = {.solver = s, .state = sim->state};
    s->iterations = 100;
    s->speed = 0.00601;
    s->options.tol = 0.0332;
    s->limit.term = NULL;
    s->script_fraction = 1;
    brio__problem_finish(&p, BRIO_REASON_ITERATIONS, BRIO_NOT_CONVERGED);
    assert_string_equal(s->message,
                        "Newton stopped after 100 iterations; the last step, 0.00601 m/s, is below "
                        "the tolerance of 0.0332 m/s, but contact forces have not come to rest: "
                        "the iteration limit was reached");
    s->script_fraction = 0.5;
    brio__problem_finish(&p, BRIO_REASON_BLOCKED, BRIO_LINE_SEARCH_STALLED);
    assert_non_null(strstr(s->message, "but scripted vertices have not arrived: "));
    assert_non_null(strstr(s->message, "; scripted vertices covered 0.5 of their path"));
    s->script_fraction = 1;
    s->speed = 0.1;
    brio__problem_finish(&p, BRIO_REASON_ITERATIONS, BRIO_NOT_CONVERGED);
    assert_string_equal(s->message, "Newton stopped after 100 iterations at 0.1 m/s (tolerance "
                                    "0.0332 m/s): the iteration limit was reached");
    brio_sim_free(sim);
    brio__scene_free(scene);
}

/* Three masses of 0.1 kg on two springs of 0.5 m and 1000 N/m, 2 m above the ground. The first is
 * moved by a script, the others fly. */
static const char springs[] = "time: {h: 1/100, end: 0.5}\n"
                              "gravity: [0, -10, 0]\n"
                              "integrator: backward-euler\n"
                              "solver: {tol: 1e-3}\n"
                              "bodies:\n"
                              "  - shape: {type: line, length: 1, cells: 2}\n"
                              "    kind: springs\n"
                              "    material: {type: hooke, k: 1000, vertex_mass: 0.1}\n"
                              "    transform: {translate: [0, 2, 0]}\n"
                              "    velocity: {linear: [0, 0, 3]}\n"
                              "    fix: [{vertices: [0], script: {velocity: [0, 0, 4]}}]\n";

/* Y(way) of these springs: both grow by the way, as the shortest of 0.5 m does. */
static double stretch_energy(double way) { return 2 * 0.5 * 1000 * way * way; }

/* The estimates of explosion.h, and the budget made of them, in closed form. */
static void the_budget_of_a_scene(void **state)
{
    (void)state;
    /* of each value: a stretch of 1e-5 is a difference of lengths with 16 digits */
    static const double TOLERANCE = 1e-10;
    BrioScene *scene = NULL;
    BrioSim *sim = NULL;
    BrioExplosion e;
    BrioLedger l;
    assert_int_equal(brio__scene_parse(springs, strlen(springs), "springs", &scene, NULL), BRIO_OK);
    assert_int_equal(brio__scene_sim(scene, &sim, NULL), BRIO_OK);
    assert_int_equal(brio__explosion_begin(&e, sim, 0.5), BRIO_OK);
    assert_int_equal(brio_sim_ledger(sim, &l), BRIO_OK);
    const double h = 0.01, way = 4 * 0.5, kinetic = l.kinetic;
    const struct {
        const char *name;
        double value, expected;
    } rows[] = {
        {"mass", e.mass, 0.3},
        {"weight", e.weight, 3},
        {"fall", e.fall, 0.1},
        {"gravity", e.gravity, 6},
        {"initial", e.initial, kinetic},
        {"first", e.first, 6 + kinetic},
        {"extent", e.extent, 1},
        {"edge", e.edge, 0.5},
        {"script_speed", e.script_speed, 4},
        {"script_way", e.script_way, way},
        {"by_tol", e.by_tol, stretch_energy(1e-3 * h)},
        {"by_step", e.by_step, stretch_energy(4 * h)},
        {"by_run", e.by_run, stretch_energy(0.5 + way)},
    };
    for (size_t i = 0; i < BRIO_COUNT(rows); i++)
        if (!(fabs(rows[i].value - rows[i].expected) <= TOLERANCE * fabs(rows[i].expected)))
            fail_msg("%s is %.17g, expected %.17g", rows[i].name, rows[i].value, rows[i].expected);
    assert_true(kinetic >= 0.5 * 0.2 * 9 && !e.kinetic_only && !e.exploded);
    /* after 7 steps: 1 J of gravity released, 5 J added, 2 J lost, an aim 0.5 J above the books */
    double able = 3 * way + 2 * 0.3 * 16 + stretch_energy(0.5 + way);
    double budget = kinetic + 5 + 1 + 3 * 1 + 0.3 * 0.1 * 0.1 / 2 + 2 * 0.3 * 16 +
                    stretch_energy(4 * h) + 0.5 + 0.3 * 1e-6 * 8 / 2 + stretch_energy(1e-3 * h);
    l.step = 7;
    l.time = 0.07;
    l.gravity = 5;
    l.added = 5;
    memset(l.dissipated_by, 0, sizeof l.dissipated_by);
    l.dissipated_by[0] = 2;
    l.target = e.first + 5 + 0.5;
    char text[700];
    const double factors[] = {1.99, 99.9, 100.1};
    for (size_t i = 0; i < BRIO_COUNT(factors); i++) {
        l.total = l.gravity + factors[i] * budget;
        assert_int_equal(brio__explosion_judge(&e, sim, &l, text, sizeof text), factors[i] > 100);
        l.step++;
    }
    double two_steps_later = budget + 0.3 * 1e-6 * 2 / 2;
    assert_true(e.exploded && fabs(e.budget - two_steps_later) <= TOLERANCE * budget);
    assert_true(e.step == 9 && e.sane_step == 7 && e.time == 0.07);
    /* work counts as far as scripts can do it, and friction may give what it took */
    l.step = 7;
    l.added = 1e9;
    l.target = NAN;
    l.dissipated_by[1] = -3;
    l.total = 1e12;
    assert_true(brio__explosion_judge(&e, sim, &l, text, sizeof text));
    assert_true(fabs(e.budget - (budget - 5 - 0.5 + 10 * able + 2)) <= TOLERANCE * e.budget);
    brio_sim_free(sim);
    brio__scene_free(scene);
}

/* The springs of above in a scene of their own: with more of the body, a solver, obstacles. */
static BrioSim *more_springs(const char *body, const char *rest, BrioScene **scene)
{
    char text[2048];
    BrioSim *sim = NULL;
    BrioError error = {0};
    snprintf(text, sizeof text,
             "time: {h: 1/100, end: 0.5}\ngravity: [0, 0, 0]\nintegrator: backward-euler\nbodies:\n"
             "  - name: net\n    shape: {type: line, length: 1, cells: 2}\n    kind: springs\n"
             "    material: {type: hooke, k: 1000, vertex_mass: 0.1}\n%s%s",
             body, rest);
    if (brio__scene_parse(text, strlen(text), "springs", scene, &error) != BRIO_OK)
        fail_msg("%s", error.message);
    assert_int_equal(brio__scene_sim(*scene, &sim, NULL), BRIO_OK);
    return sim;
}

#define PULLED(v, x)                                                         \
    "      - {vertices: [" #v "], k: 400, point: [" #x ", 0.3, 0], script: " \
    "{velocity: [0, 3, 0]}}\n"
#define ATTACHED PULLED(0, 0) PULLED(1, 0.5) PULLED(2, 1)

/* Attachments count where the body is not stretched, with anchors moved by the way: here across
 * their own length. A fixed vertex of a body is no anchor. TOLERANCE 1e-10, as above. */
static void the_budget_of_attachments(void **state)
{
    (void)state;
    static const double length = 0.3;
    BrioScene *scene = NULL;
    BrioExplosion e;
    Memory memory = {0};
    for (int fixed = 0; fixed < 2; fixed++) {
        BrioSim *sim = more_springs(fixed ? "    fix: [{vertices: [0]}]\n    attach:\n" ATTACHED
                                          : "    attach:\n" ATTACHED,
                                    "solver: {tol: 1e-3}\n", &scene);
        assert_int_equal(brio__explosion_begin(&e, sim, 0.5), BRIO_OK);
        const double way[] = {1e-3 * 0.01, 3 * 0.01, 0.5 + 3 * 0.5};
        const double value[] = {e.by_tol, e.by_step, e.by_run};
        for (int k = 0; k < 3; k++) {
            double square = length * length + way[k] * way[k];
            double expected = stretch_energy(way[k]) + 3 * 400 / 2 * square;
            if (!(fabs(value[k] - expected) <= 1e-10 * expected))
                fail_msg("%d: %.17g J, expected %.17g J", k, value[k], expected);
        }
        for (int64_t at = 0, done = 0; !done; at++) {
            memory_start(&memory, at, false);
            BrioStatus status = brio__explosion_begin(&e, sim, 0.5);
            brio_set_allocator(NULL);
            done = !memory.failed;
            assert_int_equal(status, done ? BRIO_OK : BRIO_ERROR_MEMORY);
            assert_int_equal(memory.live, 0);
        }
        brio_sim_free(sim);
        brio__scene_free(scene);
    }
}
#undef ATTACHED
#undef PULLED

/* A script that is faster later than in the time that was looked at: its speed counts when it is
 * seen. TOLERANCE 1e-12: a derivative in closed form. */
static void a_script_that_speeds_up(void **state)
{
    (void)state;
    for (int scripted = 0; scripted < 2; scripted++) {
        BrioScene *scene = NULL;
        BrioExplosion e;
        BrioLedger l;
        char text[700];
        BrioSim *sim = more_springs(scripted ? "    fix: [{vertices: [0], script: {formula: [0, 0, "
                                               "t^2]}}]\n"
                                             : "    velocity: {linear: [0, 0, 5]}\n",
                                    "solver: {tol: 1e-3}\n", &scene);
        assert_int_equal(brio__explosion_begin(&e, sim, 0.05), BRIO_OK);
        assert_true(fabs(e.script_speed - (scripted ? 0.1 : 0)) < 1e-12);
        assert_true(fabs(e.script_way - (scripted ? 0.0025 : 0)) < 1e-12);
        for (int k = 0; k < 10; k++) assert_int_equal(brio_sim_step(sim, NULL), BRIO_OK);
        assert_int_equal(brio_sim_ledger(sim, &l), BRIO_OK);
        assert_false(brio__explosion_judge(&e, sim, &l, text, sizeof text));
        assert_true(fabs(e.script_speed - (scripted ? 0.2 : 0)) < 1e-12);
        brio_sim_free(sim);
        brio__scene_free(scene);
    }
}

/* What comes from outside without a script counts in full: what is added, and what friction gives.
 * Where only the kinetic energy is judged, a potential below zero has given what it lacks. A script
 * may be fastest at the very start. TOLERANCE 1e-12 of the budget: sums of ten numbers. */
static void the_budget_from_outside(void **state)
{
    (void)state;
    for (int kinetic = 0; kinetic < 2; kinetic++) {
        BrioScene *scene = NULL;
        BrioExplosion e;
        BrioLedger l;
        char text[700];
        BrioSim *sim =
            more_springs("    velocity: {linear: [0, 0, 5]}\n",
                         kinetic ? "solver: {type: local-global, iterations: 5, tol: 1e-3}\n"
                                 : "solver: {tol: 1e-3}\n",
                         &scene);
        assert_int_equal(brio__explosion_begin(&e, sim, 0.5), BRIO_OK);
        assert_int_equal(brio_sim_ledger(sim, &l), BRIO_OK);
        assert_int_equal(e.kinetic_only, kinetic);
        double alone = l.kinetic + 0.3 * 1e-6 / 2 + stretch_energy(1e-3 * 0.01);
        memset(l.dissipated_by, 0, sizeof l.dissipated_by);
        l.added = -5;
        l.dissipated_by[0] = 2;
        l.dissipated_by[1] = -3;
        l.kinetic = 1e6;
        l.total = l.kinetic - (kinetic ? 40 : 0); /* no gravity */
        assert_true(brio__explosion_judge(&e, sim, &l, text, sizeof text));
        double expected = alone + 5 + 3 + (kinetic ? 40 : 0);
        if (!(fabs(e.budget - expected) <= 1e-12 * expected))
            fail_msg("%.17g J, expected %.17g J", e.budget, expected);
        assert_true(e.energy == 1e6);
        brio_sim_free(sim);
        brio__scene_free(scene);
    }
    BrioScene *scene = NULL;
    BrioExplosion e;
    BrioSim *sim = more_springs("    fix: [{vertices: [0], script: {formula: [0, 0, t - t^2]}}]\n",
                                "solver: {tol: 1e-3}\n", &scene);
    assert_int_equal(brio__explosion_begin(&e, sim, 0.5), BRIO_OK);
    assert_true(fabs(e.script_speed - 1) < 1e-12);
    brio_sim_free(sim);
    brio__scene_free(scene);
}

/* The sentence names the fastest vertex of a body: never an obstacle, and nobody if all rest. */
static void the_fastest_is_named(void **state)
{
    (void)state;
    BrioScene *scene = NULL;
    BrioExplosion e;
    BrioLedger l;
    BrioSim *sim = more_springs("  - name: other\n    shape: {type: line, length: 1, cells: 1}\n"
                                "    kind: springs\n    material: {type: hooke, k: 1000, "
                                "vertex_mass: 0.1}\n    transform: {translate: [0, 1, 0]}\n",
                                "contact: {type: penalty}\nobstacles: [{type: box, formula: false, "
                                "transform: {translate: [0, -5, 0]}, script: {velocity: [90, 0, "
                                "0]}}]\n",
                                &scene);
    assert_int_equal(brio__explosion_begin(&e, sim, 0.5), BRIO_OK);
    for (int64_t v = -1; v < 5; v++) {
        char text[700], expected[100];
        memset(sim->state->v, 0, 15 * sizeof *sim->state->v);
        if (v >= 0) sim->state->v[3 * v + 1] = -0.5;
        assert_int_equal(brio_sim_ledger(sim, &l), BRIO_OK);
        l.total = 1e12;
        assert_true(brio__explosion_judge(&e, sim, &l, text, sizeof text));
        snprintf(expected, sizeof expected, "; fastest is vertex %d of body \"%s\" with 0.5 m/s",
                 (int)(v < 3 ? v : v - 3), v < 3 ? "net" : "other");
        if (v < 0 ? strstr(text, " J; the last sane state") == NULL
                  : strstr(text, expected) == NULL)
            fail_msg("vertex %d: %s", (int)v, text);
    }
    brio_sim_free(sim);
    brio__scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(explosions_end_the_run),
                                       cmocka_unit_test(a_resumed_run_explodes_alike),
                                       cmocka_unit_test(programs_know_the_status),
                                       cmocka_unit_test(a_cause_is_no_explosion),
                                       cmocka_unit_test(check_asks),
                                       cmocka_unit_test(check_has_no_question),
                                       cmocka_unit_test(run_asks_first),
                                       cmocka_unit_test(a_solve_says_what_was_not_met),
                                       cmocka_unit_test(the_budget_of_a_scene),
                                       cmocka_unit_test(the_budget_of_attachments),
                                       cmocka_unit_test(the_budget_from_outside),
                                       cmocka_unit_test(a_script_that_speeds_up),
                                       cmocka_unit_test(the_fastest_is_named)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
