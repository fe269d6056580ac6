/* Steps that are ended from inside: a watch that says stop leaves the state to the bit, a program
 * answers signals within an iteration, resumes to the same bytes, and says meanwhile what it does.
 *
 * Times are not judged. Where a signal must be answered inside a step, the step has far more
 * iterations than the test waits for, so that whoever waits for its end never returns. */
#include "emulated.h"
#include "terminal.h"

#include "memory.h"
#include "run/run.h"
#include "simulate.h"

/* ---- a watch ---------------------------------------------------------------------------- */

#define SHEET(cells)                                                                             \
    "bodies: [{name: sheet, shape: {type: grid, cells_x: " cells ", cells_z: " cells "}, kind: " \
    "springs, material: {type: hooke, k: 100, rho: 0.2}, fix: [{vertices: [0, 6]}]}]\n"
#define CLOTH SHEET("6")
#define BEAM                                                                                      \
    "bodies: [{name: beam, shape: {type: box, size: [1, 0.3, 0.3], cells: [4, 1, 1]}, material: " \
    "{type: neo-hookean, E: 1e5, rho: 100}, fix: [{box: [[-0.6, -1, -1], [-0.4, 1, 1]]}]}]\n"
#define BLOCKS                                                                                  \
    "contact: {type: ipc, dhat: 0.01, mu: 0.3}\n"                                               \
    "obstacles: [{type: plane, name: floor, point: [0, -0.005, 0], normal: [0, 1, 0]}]\n"       \
    "bodies:\n"                                                                                 \
    "  - {name: low, shape: {type: box, size: [1, 1, 1], cells: [2, 2, 2]}, transform: "        \
    "{translate: [0, 0.5, 0]}, material: {type: neo-hookean, E: 1e4, rho: 100}}\n"              \
    "  - {name: high, shape: {type: box, size: [0.6, 0.6, 0.6], cells: [2, 2, 2]}, transform: " \
    "{rotate: [[0, 1, 0], 30], translate: [0, 1.31, 0]}, velocity: {linear: [0.1, -2, 0]}, "    \
    "material: {type: neo-hookean, E: 1e4, rho: 100}}\n"
#define PRESSED                                                                               \
    "contact: {type: ipc, dhat: 0.01}\n"                                                      \
    "obstacles:\n"                                                                            \
    "  - {type: plane, name: floor, normal: [0, 1, 0]}\n"                                     \
    "  - {type: box, name: plate, size: [2, 0.2, 2], transform: {translate: [0, 1.115, 0]}, " \
    "script: {velocity: [0, -2, 0]}}\n"                                                       \
    "bodies:\n"                                                                               \
    "  - {name: soft, shape: {type: box, size: [1, 1, 1], cells: [2, 2, 2]}, transform: "     \
    "{translate: [0, 0.505, 0]}, material: {type: neo-hookean, E: 1e4, rho: 100}}\n"

static const char *const watched_scenes[] = {
    "time: {h: 1/30}\nintegrator: backward-euler\n" CLOTH,
    "time: {h: 1/30}\nintegrator: {type: a-search, ground: rest, decay: 5}\n" BEAM,
    "time: {h: 1/30}\nintegrator: blend\n" CLOTH,
    "time: {h: 1/30}\nintegrator: implicit-midpoint\nsolver: root\n" CLOTH,
    "time: {h: 1/30}\nintegrator: tr-bdf2\n" CLOTH,
    "time: {h: 1/30}\nintegrator: linearly-implicit-euler\n" CLOTH,
    "time: {h: 1/30}\nintegrator: linearized-explicit\n" CLOTH,
    "time: {h: 1/30}\nintegrator: pbd-verlet\n" CLOTH,
    "time: {h: 1/30}\nintegrator: a-search\nsolver: {type: local-global, iterations: 7}\n" CLOTH,
    "time: {h: 1/30}\nintegrator: backward-euler\n" BLOCKS,
    "time: {h: 1/30}\nintegrator: a-search\n" BLOCKS,
    "time: {h: 1/30}\nintegrator: bdf2\n" PRESSED,
    /* fails at once, so that it is done in halves */
    "time: {h: 1/10}\nintegrator: backward-euler\nsolver: {max_iterations: 4}\n" BLOCKS,
    "time: {h: 1/30}\nintegrator: variational\n"
    "constraints: [{type: rod, a: [chain, 0], b: [chain, 1]}, {type: rod, a: [chain, 1], b: "
    "[chain, 2]}]\n"
    "bodies: [{name: chain, shape: {type: line, length: 1, cells: 2}, kind: points, material: "
    "{type: mass, vertex_mass: 1}, fix: [{vertices: [0]}]}]\n",
};
enum { STEPS = 3 };

static bool same_state(const BrioState *a, const BrioState *b)
{
    return a->bytes == b->bytes && !memcmp(a, b, offsetof(BrioState, q)) &&
           !memcmp(a->q, b->q, (size_t)a->coordinates * sizeof(double)) &&
           !memcmp(a->v, b->v, (size_t)a->coordinates * sizeof(double)) &&
           !memcmp(a->anchor, b->anchor, (size_t)a->fixed * sizeof(double)) &&
           !memcmp(a->param, b->param, (size_t)a->params * sizeof(double)) &&
           !memcmp(a->past, b->past, (size_t)(a->history * a->coordinates) * sizeof(double));
}

typedef struct Watcher {
    int calls, stop_at; /* 0: never */
    int64_t step;
    int halvings, max_contacts, max_iterations;
    double min_moved;
    bool speeds, named;
} Watcher;

static int watch(void *user, const BrioIteration *now)
{
    Watcher *w = user;
    w->calls++;
    assert_int_equal(now->step, w->step);
    assert_true(now->h > 0 && now->iteration >= 0 && now->contacts >= 0);
    assert_true(now->moved >= 0 && now->moved <= 1);
    w->speeds |= now->iteration > 0 && now->speed > 0 && now->tol > 0;
    w->named |= now->limit[0] && now->limit[1] && now->distance > 0;
    w->halvings = BRIO_MAX(w->halvings, now->halvings);
    w->max_contacts = BRIO_MAX(w->max_contacts, now->contacts);
    w->max_iterations = BRIO_MAX(w->max_iterations, now->iteration);
    w->min_moved = fmin(w->min_moved, now->moved);
    return w->calls == w->stop_at;
}

/* Steps with a watch that never stops; what it saw. */
static Watcher watched(BrioSim *sim)
{
    Watcher w = {.step = sim->state->step + 1, .min_moved = 1};
    brio_sim_watch(sim, watch, &w);
    step(sim, 1);
    brio_sim_watch(sim, NULL, NULL);
    return w;
}

static void stopped_anywhere(void **state)
{
    (void)state;
    Watcher all = {.min_moved = 1};
    for (size_t i = 0; i < BRIO_COUNT(watched_scenes); i++) {
        BrioSim *plain = parse("%s", watched_scenes[i]), *whole = parse("%s", watched_scenes[i]),
                *torn = parse("%s", watched_scenes[i]);
        BrioState *before;
        assert_int_equal(brio_state_copy(torn->state, &before, NULL), BRIO_OK);
        for (int n = 0; n < STEPS; n++) {
            step(plain, 1);
            Watcher w = watched(whole);
            assert_true(same_state(plain->state, whole->state));
            if (w.calls == 0) fail_msg("nobody was asked: %s", watched_scenes[i]);
            const int at[] = {1, 2, w.calls / 2, w.calls - 1, w.calls};
            for (size_t k = 0; k < BRIO_COUNT(at); k++) {
                Watcher stop = {.step = n + 1, .stop_at = at[k], .min_moved = 1};
                if (at[k] < 1 || at[k] > w.calls) continue;
                brio_state_assign(before, torn->state);
                brio_sim_watch(torn, watch, &stop);
                assert_int_equal(brio_sim_step(torn, NULL), BRIO_STOPPED);
                assert_int_equal(stop.calls, at[k]); /* asked no more after that */
                assert_true(same_state(before, torn->state));
                assert_non_null(strstr(brio_sim_reason(torn), "stopped on request"));
            }
            brio_sim_watch(torn, NULL, NULL);
            step(torn, 1);
            if (!same_state(plain->state, torn->state))
                fail_msg("step %d differs after stops: %s", n + 1, watched_scenes[i]);
            all.halvings = BRIO_MAX(all.halvings, w.halvings);
            all.max_contacts = BRIO_MAX(all.max_contacts, w.max_contacts);
            all.max_iterations = BRIO_MAX(all.max_iterations, w.max_iterations);
            all.min_moved = fmin(all.min_moved, w.min_moved);
            all.speeds |= w.speeds;
            all.named |= w.named;
        }
        brio_state_free(before);
        brio_sim_free(plain);
        brio_sim_free(whole);
        brio_sim_free(torn);
    }
    /* the scenes are such that everything is met */
    assert_true(all.speeds && all.named && all.halvings > 0);
    assert_true(all.max_contacts > 0 && all.max_iterations > 3 && all.min_moved < 1);
}

static void nothing_is_allocated(void **state)
{
    (void)state;
    Memory memory;
    memory_start(&memory, -1, false);
    BrioSim *sim = parse("time: {h: 1/30}\nintegrator: backward-euler\n" BLOCKS);
    step(sim, 2); /* makes what steps need */
    int64_t calls = memory.calls;
    Watcher stop = {.step = 3, .stop_at = 4, .min_moved = 1};
    brio_sim_watch(sim, watch, &stop);
    assert_int_equal(brio_sim_step(sim, NULL), BRIO_STOPPED);
    assert_int_equal(memory.calls, calls);
    brio_sim_free(sim);
    assert_int_equal(memory.live, 0);
    brio_set_allocator(NULL);
}

static void settling_stopped(void **state)
{
    (void)state;
    /* barriers that still grow are whole while a body settles */
    static const char *const scenes[] = {
        "time: {h: 1/30}\nintegrator: backward-euler\n" BEAM,
        "integrator: backward-euler\ncontact: {type: ipc, start: relax}\n"
        "obstacles: [{type: plane, point: [0, -0.5005, 0], normal: [0, 1, 0]}]\n"
        "bodies: [{shape: {type: box, cells: [2, 2, 2]}, material: {type: neo-hookean, E: 1e4, "
        "rho: 1000}}]\n"};
    for (size_t i = 0; i < BRIO_COUNT(scenes); i++) {
        BrioSim *sim = parse("%s", scenes[i]);
        BrioState *before;
        assert_int_equal(brio_state_copy(sim->state, &before, NULL), BRIO_OK);
        Watcher stop = {.step = 1, .stop_at = 3, .min_moved = 1};
        brio_sim_watch(sim, watch, &stop);
        assert_int_equal(brio_sim_settle(sim, NULL), BRIO_STOPPED);
        assert_true(same_state(before, sim->state));
        brio_sim_watch(sim, NULL, NULL);
        assert_int_equal(brio_sim_settle(sim, NULL), BRIO_OK);
        brio_state_free(before);
        brio_sim_free(sim);
    }
}

/* ---- a program -------------------------------------------------------------------------- */

/* Three steps of local/global: short ones of some tenths of a second, or ones of minutes. */
static void write_scenes(void)
{
    write_text("slow.yaml", "time: {h: 1/30, end: 1/10, fps: 30}\nintegrator: backward-euler\n"
                            "solver: {type: local-global, iterations: 20000}\n" CLOTH);
    write_text("endless.yaml", "time: {h: 1/30, end: 1/10, fps: 30}\nintegrator: backward-euler\n"
                               "solver: {type: local-global, iterations: 1000000}\n" SHEET("60"));
}

static void wait_for(const char *file)
{
    for (double waited = 0; access(file, F_OK) && waited < (EMULATED ? 600 : 30); waited += 0.01)
        pause_for(0.01);
    assert_int_equal(access(file, F_OK), 0);
}

static int rows(const char *file)
{
    char *text = read_all(file, NULL);
    int count = 0;
    for (char *at = text; at && (at = strchr(at, '\n')); at++) count++;
    free(text);
    return count;
}

static void assert_holds(const char *file, const char *part)
{
    char *text = read_all(file, NULL);
    assert_non_null(text);
    if (!strstr(text, part)) fail_msg("%s lacks \"%s\": %s", file, part, text);
    free(text);
}

/* A step of a million iterations: the answer comes from inside it. */
static void answered_inside(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM};
    write_scenes();
    for (int i = 0; i < 2; i++) {
        pid_t child = start_program(
            (const char *const[]){"run", "endless.yaml", "-o", "endless", "--force", NULL}, 0);
        wait_for("endless/run.json");
        pause_for(i ? 0.3 : 0);
        double sent = brio__seconds();
        kill(child, signals[i]);
        assert_int_equal(wait_program(child), 1);
        print_message("answered after %.2f s\n", brio__seconds() - sent);
        assert_holds(".err", "stopped: stopped on request at t = 0 s; --resume continues");
        assert_holds("endless/run.json", "\"verdict\": \"stopped\"");
        assert_int_equal(rows("endless/energy.csv"), 2); /* the head and step 0 */
        assert_int_equal(access("endless/checkpoint", F_OK), 0);
        assert_int_equal(access("endless/report.html", F_OK), 0);
        remove_tree("endless"); /* whose run.json the next one would not wait for */
    }
}

/* Signals and kills at random moments of long steps, the first among them, and then to the end: the
 * same bytes. */
static void resumed_to_the_same(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGKILL, SIGTERM};
    BrioRandom random = {(uint64_t)getpid()};
    write_scenes();
    double start = brio__seconds();
    assert_int_equal(BRIO("run", "slow.yaml", "-o", "whole", "-q")->code, 0);
    double seconds = brio__seconds() - start;
    for (int trial = 0; trial < 3; trial++) {
        for (int i = 0; i < 3; i++) {
            pid_t child = start_program(
                (const char *const[]){"run", "slow.yaml", "-o", "torn", "--resume", "-q", NULL}, 0);
            wait_for("torn/checkpoint");
            pause_for(0.5 * seconds * brio__random(&random));
            kill(child, signals[(trial + i) % 3]);
            int code = wait_program(child);
            assert_true(code == 0 || code == 1 || code < 0);
        }
        const Outcome *o = BRIO("run", "slow.yaml", "-o", "torn", "--resume", "-q");
        if (o->code) print_error("%s", o->err);
        assert_int_equal(o->code, 0);
        assert_true(same_file("whole/energy.csv", "torn/energy.csv"));
        assert_true(same_file("whole/motion.bin", "torn/motion.bin"));
        remove_tree("torn");
    }
    remove_tree("whole");
}

/* Killed in the first step, when nothing but the start can have been written. */
static void killed_in_the_first_step(void **state)
{
    (void)state;
    write_scenes();
    pid_t child =
        start_program((const char *const[]){"run", "endless.yaml", "-o", "first", "-q", NULL}, 0);
    wait_for("first/run.json");
    kill(child, SIGKILL);
    assert_int_equal(wait_program(child), -SIGKILL);
    assert_int_equal(rows("first/energy.csv"), 2);
    /* taken up again from there, and stopped in the same step */
    child = start_program(
        (const char *const[]){"run", "endless.yaml", "-o", "first", "--resume", NULL}, 0);
    pause_for(0.5);
    kill(child, SIGINT);
    int code = wait_program(child);
    assert_true(code == 1 || code == -SIGINT); /* or before main */
    assert_int_equal(rows("first/energy.csv"), 2);
    assert_int_equal(access("first/checkpoint", F_OK), 0);
    remove_tree("first");
}

/* ---- what a terminal shows -------------------------------------------------------------- */

static void shown_inside(void **state)
{
    (void)state;
    int master;
    write_scenes();
    pid_t child = start_at_terminal(
        (const char *const[]){"run", "endless.yaml", "-o", "shown", NULL}, 200, &master);
    if (child < 0) return;
    char text[65536] = "";
    size_t used = 0;
    while (used + 1 < sizeof text && !strstr(text, "contacts")) {
        ssize_t got = read(master, text + used, sizeof text - 1 - used);
        if (got <= 0) break;
        used += (size_t)got;
        text[used] = 0;
    }
    kill(child, SIGINT);
    int flags = fcntl(master, F_GETFL);
    fcntl(master, F_SETFL, flags | O_NONBLOCK);
    char rest[4096];
    int status, ended;
    while (!(ended = waitpid(child, &status, WNOHANG))) { /* read on, so that it never waits */
        while (read(master, rest, sizeof rest) > 0) {}
        pause_for(0.01);
    }
    close(master);
    assert_int_equal(ended, child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    if (!strstr(text, "\rstep 1 of 3, ") && !strstr(text, "] step 1 of 3, "))
        fail_msg("the line within a step is missing: %s", text);
    assert_non_null(strstr(text, ": iteration "));
    remove_tree("shown");
}

/* ---- a phase that asks nobody ----------------------------------------------------------- */

/* An energy that stands still in the second step, as a long factorisation would. */
static volatile sig_atomic_t standing, stand_wanted;

static BrioStatus eval(void *user, const BrioElements *e)
{
    (void)user;
    while (__atomic_load_n(&stand_wanted, __ATOMIC_RELAXED)) {
        __atomic_store_n(&standing, 1, __ATOMIC_RELAXED);
        pause_for(0.01);
    }
    for (int64_t i = 0; i < e->count; i++) {
        const double *x = e->x + 6 * i;
        double d[3] = {x[3] - x[0], x[4] - x[1], x[5] - x[2]}, k = e->values[0] * e->weight[i];
        e->energy[i] = k / 2 * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        for (int r = 0; r < 3 && e->gradient; r++) {
            e->gradient[6 * i + r] = -k * d[r];
            e->gradient[6 * i + 3 + r] = k * d[r];
        }
        for (int r = 0; r < 3 && e->hessian; r++) {
            double *H = e->hessian + 36 * i;
            H[7 * r] = H[7 * (r + 3)] = k;
            H[6 * r + r + 3] = H[6 * (r + 3) + r] = -k;
        }
    }
    return BRIO_OK;
}

static const BrioField fields[] = {
    {"k", BRIO_REAL, "N/m", 10, 0, 1e9, 0, "Stiffness."},
    {"vertex_mass", BRIO_REAL, "kg", 1, 0, 1e9, 0, "Mass of a vertex."},
    {0}};
static const BrioEnergyDef standing_still = {.name = "standing-still",
                                             .summary = "Springs of no length that wait.",
                                             .kind = BRIO_KIND_SPRINGS,
                                             .fields = fields,
                                             .eval = eval};

typedef struct Thread {
    BrioRunOptions options;
    BrioRunResult result;
    BrioStatus status;
} Thread;

static void after_step(void *user, const BrioRunProgress *p)
{
    (void)user;
    if (!p->inside && p->step == 1) __atomic_store_n(&stand_wanted, 1, __ATOMIC_RELAXED);
}

static void *run_scene(void *user)
{
    Thread *t = user;
    BrioScene *scene = NULL;
    static const char text[] = "time: {h: 1/30, end: 1/10, fps: 30}\nintegrator: backward-euler\n"
                               "bodies: [{shape: {type: line, length: 1, cells: 3}, kind: springs, "
                               "material: standing-still, fix: [{vertices: [0]}]}]\n";
    assert_int_equal(brio__scene_parse(text, strlen(text), "still", &scene, NULL), BRIO_OK);
    t->status = brio__run(scene, &t->options, &t->result, NULL);
    brio__scene_free(scene);
    return NULL;
}

static void ended_by_another_thread(void **state)
{
    (void)state;
    static BrioRunControl control = BRIO_RUN_CONTROL; /* the thread that is left keeps it */
    static Thread left, whole, rest;
    pthread_t thread;
    BrioRunResult result;
    BrioStatus status;
    BrioError error = {0};
    assert_int_equal(brio_register_energy(&standing_still, NULL), BRIO_OK);
    whole.options = (BrioRunOptions){.out = "whole"};
    run_scene(&whole);
    assert_int_equal(whole.status, BRIO_OK);
    left.options = (BrioRunOptions){.out = "left", .control = &control, .progress = after_step};
    assert_int_equal(pthread_create(&thread, NULL, run_scene, &left), 0);
    while (!__atomic_load_n(&standing, __ATOMIC_RELAXED)) pause_for(0.01);
    /* whether it stands in the second step or in what is written after the first */
    bool ended = brio__run_end(&control, &result, &status, &error);
    if (!ended) { /* it writes: not to be ended now, but soon */
        __atomic_store_n(&stand_wanted, 0, __ATOMIC_RELAXED);
        pthread_join(thread, NULL);
        print_message("SKIPPED: the run was writing\n");
        return;
    }
    __atomic_store_n(&stand_wanted, 0, __ATOMIC_RELAXED); /* it goes on, and writes nothing more */
    pause_for(0.2);
    assert_int_equal(status, BRIO_STOPPED);
    assert_int_equal(result.verdict, BRIO_VERDICT_STOPPED);
    assert_int_equal(result.step, 1);
    assert_holds("left/run.json", "\"verdict\": \"stopped\"");
    assert_int_equal(rows("left/energy.csv"), 3); /* the head, steps 0 and 1 */
    /* its lock on the folder is the process's: go on in a copy */
    assert_int_equal(system("cp -r left rest"), 0);
    rest.options = (BrioRunOptions){.out = "rest", .resume = true};
    run_scene(&rest);
    assert_int_equal(rest.status, BRIO_OK);
    assert_true(rest.result.resumed);
    assert_true(same_file("whole/energy.csv", "rest/energy.csv"));
    assert_true(same_file("whole/motion.bin", "rest/motion.bin"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stopped_anywhere),     cmocka_unit_test(settling_stopped),
        cmocka_unit_test(nothing_is_allocated), cmocka_unit_test(answered_inside),
        cmocka_unit_test(resumed_to_the_same),  cmocka_unit_test(killed_in_the_first_step),
        cmocka_unit_test(shown_inside),         cmocka_unit_test(ended_by_another_thread),
    };
    int failed = cmocka_run_group_tests(tests, enter_folder, leave_folder);
    fflush(NULL);
    _exit(failed); /* a thread was left to itself */
}
