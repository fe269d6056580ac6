/* Signals at random moments of slow scenes: how long the program takes to answer, whether what it
 * leaves is whole, and whether the run goes on from there.
 *
 *     test_long_signals      BRIO_SIGNALS: how many (50), BRIO_SIGNAL_SEED, BRIO_CASES: a folder
 *
 * Times are printed, not judged. Scenes of others are taken from that folder, or ../shared/cases,
 * if they are there. */
#include "program.h"

#include "base.h"
#include "system/system.h"

typedef struct Slow {
    const char *name;
    const char *from;  /* a file below the cases, or NULL: a scene that ships or stands below */
    const char *text;  /* or the scene itself */
    double wait;       /* s: signals come at random within this time */
    double worst, sum; /* s, of the answers */
    int signals, steps;
} Slow;

#define BIG_BOX                                                                                   \
    "time: {h: 1/30, end: 10}\nintegrator: backward-euler\n"                                      \
    "bodies: [{name: block, shape: {type: box, size: [1, 1, 1], cells: [36, 36, 36]}, material: " \
    "{type: neo-hookean, E: 1e5, rho: 1000}, fix: [{box: [[-1, -1, -1], [-0.49, 1, 1]]}]}]\n"
#define ITERATIONS                                                                          \
    "time: {h: 1/30, end: 10}\nintegrator: backward-euler\n"                                \
    "solver: {type: local-global, iterations: 1000000}\n"                                   \
    "bodies: [{name: sheet, shape: {type: grid, cells_x: 60, cells_z: 60}, kind: springs, " \
    "material: {type: hooke, k: 100, rho: 0.2}, fix: [{vertices: [0, 60]}]}]\n"

static Slow slow[] = {
    {.name = "slow-step-98", .from = "contact/slow-step-98.yaml", .wait = 20},
    {.name = "press", .from = "contact/press.yaml", .wait = 10},
    {.name = "squeeze-120", .from = "contact/squeeze-120.yaml", .wait = 10},
    {.name = "trash", .from = "ipc/input/paperExamples/15_trashComp_octocat.txt", .wait = 20},
    {.name = "knives", .from = "ipc/input/paperExamples/2_matKnives.txt", .wait = 15},
    {.name = "funnel", .from = "ipc/input/paperExamples/13_dolphinFunnel.txt", .wait = 15},
    {.name = "twist",
     .from = "ipc/input/paperExamples/21_scalability/mat40x40_twist.txt",
     .wait = 15},
    {.name = "factorisation", .text = BIG_BOX, .wait = 40},
    {.name = "iterations", .text = ITERATIONS, .wait = 5},
    {.name = "chain-net", .wait = 10},
    {.name = "splash", .wait = 10},
    {.name = "trampoline", .wait = 10},
};

static double number(const char *name, double otherwise)
{
    const char *text = getenv(name);
    return text && text[0] ? atof(text) : otherwise;
}

static bool ends_with(const char *text, const char *ending)
{
    size_t m = strlen(text), n = strlen(ending);
    return m >= n && !strcmp(text + m - n, ending);
}

/* The scene as `brio run` takes it; false: it is not there. */
static bool find_scene(const Slow *s, char *path, size_t size)
{
    snprintf(path, size, "%s", s->name);
    if (s->text) {
        snprintf(path, size, "%s.yaml", s->name);
        write_text(path, s->text);
    }
    if (!s->from) return true;
    const char *cases = getenv("BRIO_CASES");
    snprintf(path, size, "%s/%s", cases ? cases : BRIO_SOURCE_DIR "/../shared/cases", s->from);
    if (access(path, R_OK)) return false;
    if (!ends_with(path, ".txt")) return true;
    char scene[256];
    snprintf(scene, sizeof scene, "%s.yaml", s->name);
    if (access(scene, R_OK)) BRIO("import", "ipc", path, "-o", scene);
    snprintf(path, size, "%s", scene);
    return access(path, R_OK) == 0;
}

static int rows(const char *file)
{
    char *text = read_all(file, NULL);
    int count = 0;
    for (char *at = text; at && (at = strchr(at, '\n')); at++) count++;
    free(text);
    return count;
}

/* One signal; the run goes on from what the last one left. */
static void send(Slow *s, const char *path, int number_of, double wait)
{
    char file[256];
    bool before;
    snprintf(file, sizeof file, "%s-out/run.json", s->name);
    char out[128];
    snprintf(out, sizeof out, "%s-out", s->name);
    before = access(file, F_OK) == 0;
    pid_t child = start_program((const char *const[]){"run", path, "-o", out, "--resume", NULL}, 0);
    pause_for(wait);
    double sent = brio__seconds();
    kill(child, number_of);
    int code = wait_program(child);
    double answer = brio__seconds() - sent;
    s->signals++;
    s->sum += answer;
    s->worst = brio__larger(s->worst, answer);
    char *err = read_all(".err", NULL);
    bool written = access(file, F_OK) == 0;
    /* completed, stopped, or told before it had begun to write (or to listen) */
    if (code != 0 && code != 1 && code != -number_of) fail_msg("%s: %d: %s", s->name, code, err);
    /* a scene may also end by itself, before the signal comes */
    bool failed = code == 1 && strstr(err, "failed: step ");
    if (code == 1 && !failed && !strstr(err, "stopped on request"))
        fail_msg("%s: %s", s->name, err);
    if (!written && (before || code == 0)) fail_msg("%s: no results: %s", s->name, err);
    free(err);
    if (!written) {
        print_message("%-14s %6.2f s  answer %.2f s, before the run\n", s->name, wait, answer);
        return;
    }
    char *json = read_all(file, NULL);
    if (code == 1 && !strstr(json, failed ? "\"verdict\": \"failed\"" : "\"verdict\": \"stopped\""))
        fail_msg("%s: %.200s", s->name, json);
    free(json);
    snprintf(file, sizeof file, "%s/energy.csv", out);
    s->steps = rows(file) - 2;
    assert_true(s->steps >= 0); /* step 0 is there */
    snprintf(file, sizeof file, "%s/checkpoint", out);
    assert_int_equal(access(file, F_OK), 0);
    print_message("%-14s %6.2f s  answer %.2f s, step %d%s\n", s->name, wait, answer, s->steps,
                  failed      ? ", had failed"
                  : code == 0 ? ", was complete"
                              : "");
}

static void random_signals(void **state)
{
    (void)state;
    int count = (int)number("BRIO_SIGNALS", 50), used = 0, sent = 0;
    BrioRandom random = {(uint64_t)number("BRIO_SIGNAL_SEED", 1)};
    char path[4096];
    Slow *there[BRIO_COUNT(slow)];
    for (size_t i = 0; i < BRIO_COUNT(slow); i++) {
        if (find_scene(&slow[i], path, sizeof path))
            there[used++] = &slow[i];
        else
            print_message("SKIPPED: %s is not there\n", slow[i].from);
    }
    for (; sent < count; sent++) {
        Slow *s = there[sent % used];
        find_scene(s, path, sizeof path);
        send(s, path, brio__random(&random) < 0.5 ? SIGINT : SIGTERM,
             s->wait * brio__random(&random));
    }
    double worst = 0;
    for (int i = 0; i < used; i++) {
        const Slow *s = there[i];
        if (s->signals)
            print_message("%-14s %d signals, slowest answer %.2f s, mean %.2f s, %d steps\n",
                          s->name, s->signals, s->worst, s->sum / s->signals, s->steps);
        worst = brio__larger(worst, s->worst);
    }
    print_message("%d signals, %d scenes: slowest answer %.2f s\n", sent, used, worst);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_signals)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
