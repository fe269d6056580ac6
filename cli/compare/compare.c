/* brio compare: one scene with many integrators and step sizes. Every trial starts from the same
 * initial state and ends at the same instant: where time.end is no multiple of h, the last step is
 * shorter. */
#include "compare_parts.h"

#include "progress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* ---- the command ------------------------------------------------------------------------ */

/* The scene by itself; if its own integrator is what is wrong, with the first that fits. */
static BrioStatus load_scene(Comparison *c, BrioError *error)
{
    BrioStatus status = comparison_load(c, NULL, NULL, &c->scene, error);
    for (int i = 0; status != BRIO_OK && i < c->method_count; i++) {
        BrioError other = {0};
        if (comparison_load(c, c->method[i].assignment, NULL, &c->scene, &other) == BRIO_OK)
            return BRIO_OK;
    }
    return status;
}

enum { FINER = 50 }; /* steps of a reference without a step, in one of the finest others */

static BrioStatus plan(Comparison *c, bool has_reference, BrioError *error)
{
    if (has_reference && !c->size[MAX_SIZES].assignment) { /* finer than all others */
        char text[64];
        double finest = c->size_count ? c->size[c->size_count - 1].h : c->scene->def.h;
        snprintf(text, sizeof text, "%.17g", finest / FINER);
        BRIO_CHECK(comparison_read_size(text, &c->size[MAX_SIZES], error));
    }
    if (c->size_count == 0 && c->scene->def.tol != 0)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "the scene leaves its steps to brio (time.h: auto), and methods are "
                           "compared at fixed ones: give them with --h, for a scene without "
                           "time.tol, time.h_min and time.h_max");
    if (c->size_count == 0) { /* the scene's own, or that of a scene which names none */
        BrioNode *time = brio__node_get(c->scene->tree, "time");
        BrioNode *h = time ? brio__node_get(time, "h") : NULL;
        BRIO_CHECK(comparison_read_size(h && h->text ? h->text : "1/30", &c->size[c->size_count++],
                                        error));
    }
    c->trial_count = c->method_count * c->size_count;
    c->trial = brio__calloc((size_t)c->trial_count + 1, sizeof *c->trial);
    if (!c->trial) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    for (int i = 0; i < c->trial_count; i++) {
        c->trial[i].method = &c->method[i / c->size_count];
        c->trial[i].size = &c->size[i % c->size_count];
        if (has_reference && !strcmp(c->trial[i].method->label, c->method[c->method_count].label) &&
            c->trial[i].size->h == c->size[MAX_SIZES].h)
            c->reference = &c->trial[i];
    }
    if (has_reference && !c->reference) {
        c->reference = &c->trial[c->trial_count++];
        c->reference->method = &c->method[c->method_count];
        c->reference->size = &c->size[MAX_SIZES];
        c->is_extra = true;
    }
    for (int i = 0; i < c->trial_count; i++) {
        for (int q = 0; q < QUANTITY_COUNT; q++) c->trial[i].value[q] = NAN;
        double steps = ceil(c->scene->end / c->trial[i].size->h - 1e-6);
        if (!(steps <= 1e12))
            return brio__error(error, BRIO_ERROR_INPUT,
                               "%g s in steps of %s s are %g steps: more than 1e12", c->scene->end,
                               c->trial[i].size->text, steps);
        c->planned_steps += steps;
    }
    comparison_plan_tracks(c);
    return BRIO_OK;
}

static BrioStatus open_folder(const Comparison *c, BrioFolder *folder, BrioError *error)
{
    BRIO_CHECK(brio__folder_open(c->out, true, folder, error));
    if (flock(folder->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return brio__error(
            error, BRIO_ERROR_EXISTS,
            "another brio is writing to %s: wait for it, or choose another folder with -o", c->out);
    if (faccessat(folder->fd, ".", W_OK | X_OK, 0))
        return brio__write_failed(folder, "", errno, error);
    return c->force ? BRIO_OK : comparison_refuse_existing(folder, error);
}

static int compare(Comparison *c, const BrioFolder *folder)
{
    BrioError error = {0};
    int ran = 0, complete = 0;
    catch_signals();
    /* what the scene has to warn of was said when it was loaded, and would be again for each
     * trial */
    brio_set_log(NULL, NULL);
    c->started = c->shown = brio__seconds();
    for (int i = 0; i < c->trial_count && !stop_wanted; i++)
        comparison_perform(c, &c->trial[i], folder);
    progress_clear();
    for (int i = 0; i < c->trial_count; i++) {
        TrialOutcome outcome = c->trial[i].outcome;
        ran += outcome != TRIAL_WAITING && outcome != TRIAL_REFUSED;
        complete += outcome != TRIAL_WAITING && outcome != TRIAL_STOPPED;
    }
    BrioStatus status = comparison_measure_fractions(c);
    if (status == BRIO_OK) status = comparison_measure_errors(c);
    if (status == BRIO_OK) comparison_measure_nearness(c);
    if (status != BRIO_OK) brio__error(&error, status, "%s", brio_status_text(status));
    if (status == BRIO_OK) status = comparison_write(c, folder, &error);
    if (status == BRIO_OK && c->json) comparison_json(c, stdout);
    if (status == BRIO_OK && !c->json) comparison_print(c);
    if (status != BRIO_OK) return say_error(&error, EXIT_FAILED);
    if (complete < c->trial_count) {
        fprintf(stderr,
                "brio compare: stopped on request: %d of %d trials are complete and in %s\n",
                complete, c->trial_count, c->out);
        return EXIT_FAILED;
    }
    if (ran == 0)
        fprintf(stderr,
                "brio compare: the scene supports none of these integrators; see the reasons "
                "above or in %s/report.html\n",
                c->out);
    return ran ? EXIT_DONE : EXIT_FAILED;
}

static void release(Comparison *c)
{
    for (int i = 0; c->trial && i < c->trial_count; i++) {
        brio__free(c->trial[i].x);
        brio__free(c->trial[i].track);
        brio__motion_free(c->trial[i].motion);
        for (int k = 0; k < CURVE_COUNT; k++) brio__free(c->trial[i].curve[k]);
    }
    for (int i = 0; i <= MAX_METHODS; i++) brio__free(c->method[i].assignment);
    for (int i = 0; i <= MAX_SIZES; i++) brio__free(c->size[i].assignment);
    brio__free(c->trial);
    brio__free(c->vertex_mass);
    brio__scene_free(c->scene);
}

/* --set of what is compared would have no effect. */
static bool sets_compared(const char *set, const char *key)
{
    size_t length = strlen(key);
    return !strncmp(set, key, length) && strchr("=.[", set[length]);
}

enum { INTEGRATORS, SIZES, REFERENCE, OUT, FORCE, SET, THREADS, QUIET, JSON, PLUGIN };

static void say_old_words(const Comparison *c)
{
    if (c->old_reference)
        fprintf(stderr, "brio compare: --reference is written NAME:h now; NAME@h of version 0.1 "
                        "still works in this version\n");
}

static int run(int argc, char **argv)
{
    Arguments a = {.command = &command_compare, .argc = argc, .argv = argv, .at = 1};
    static Comparison c;
    const char *lists[3] = {NULL};
    char standard[512];
    int option;
    while ((option = argument_next(&a)) != ARGUMENT_END) {
        switch (option) {
        case INTEGRATORS: lists[0] = a.value; break;
        case SIZES: lists[1] = a.value; break;
        case REFERENCE: lists[2] = a.value; break;
        case OUT: c.out = a.value; break;
        case FORCE: c.force = true; break;
        case QUIET: c.quiet = true; break;
        case JSON: c.json = true; break;
        default:
            if (!scene_argument(&a, option, &c.given)) return a.exit;
        }
    }
    if (!c.given.name)
        return usage_error(a.command, "which scene? Give a file or a name of `brio list scenes`");
    if (!lists[0])
        return usage_error(
            a.command,
            "which integrators? Give --integrators a,b,c with names of `brio list integrators`");
    for (int i = 0; i < c.given.set_count; i++) {
        if (sets_compared(c.given.sets[i], "integrator"))
            return usage_error(a.command,
                               "--set %s: integrators are given by --integrators, with parameters "
                               "as '{type: a-search, decay: 10}'",
                               c.given.sets[i]);
        if (lists[1] && sets_compared(c.given.sets[i], "time.h"))
            return usage_error(a.command, "--set %s: step sizes are given by --h", c.given.sets[i]);
    }
    default_folder(c.given.name, "-compared", standard, sizeof standard);
    if (!c.out) c.out = standard;

    BrioError error = {0};
    BrioFolder folder = {.fd = -1};
    char *copies[3];
    BrioStatus status = BRIO_OK;
    for (int i = 0; i < 3; i++) {
        copies[i] = lists[i] ? brio__strdup(lists[i]) : NULL;
        if (lists[i] && !copies[i])
            status = brio__error(&error, BRIO_ERROR_MEMORY, "out of memory");
    }
    if (status == BRIO_OK)
        status = comparison_read_lists(&c, copies[0], copies[1], copies[2], &error);
    say_old_words(&c);
    if (status == BRIO_OK) status = load_scene(&c, &error);
    if (status == BRIO_OK) status = plan(&c, lists[2] != NULL, &error);
    if (status == BRIO_OK) status = open_folder(&c, &folder, &error);
    int code = status == BRIO_OK ? compare(&c, &folder) : say_error(&error, EXIT_USAGE);
    brio__folder_close(&folder);
    for (int i = 0; i < 3; i++) brio__free(copies[i]);
    release(&c);
    return code;
}

static const Option options[] = {
    [INTEGRATORS] = {"--integrators", 'i', "LIST",
                     "bdf2,a-search or, with parameters, 'bdf2,{type: a-search, decay: 10}'."},
    [SIZES] = {"--h", 0, "LIST", "Step sizes in s: 1/30,1/120. Default: that of the scene."},
    [REFERENCE] = {"--reference", 0, "NAME:h",
                   "Compare all runs with this one: verlet:1/20000. NAME alone uses 1/50 of the "
                   "finest step."},
    [OUT] = {"--out", 'o', "FOLDER",
             "Where results go; default: NAME-compared in the current folder."},
    [FORCE] =
        {"--force", 'f', NULL,
         "Replace an earlier comparison in the folder (only files that this command writes)."},
    [SET] = {"--set", 's', "PATH=VALUE",
             "Change a value of the scene, for all trials: solver.tol=1e-9, time.end=2."},
    [THREADS] =
        {"--threads", 'j', "N",
         "Number of threads; results do not depend on it, times do. Default: one per core."},
    [QUIET] = {"--quiet", 'q', NULL, "No progress."},
    [JSON] = {"--json", 0, NULL,
              "The result as one JSON object on the standard output, as in compare.json."},
    [PLUGIN] = OPTION_PLUGIN,
    {0}};

const Command command_compare = {
    .name = "compare",
    .summary = "Run one scene with several integrators and step sizes, and compare them.",
    .synopsis = "SCENE --integrators LIST [--h LIST] [--reference NAME[:h]] [-o FOLDER] [--force] "
                "[--set PATH=VALUE]... [--json]",
    .about =
        "Runs the scene once for every integrator and step size, all from the same initial state "
        "to the same end time. Prints what each run does to energy and momentum, its error and "
        "its cost. Writes report.html (table, plots and the scene in one file; open it in a "
        "browser), compare.csv, compare.json and the plots as SVG into the folder.\n"
        "\n"
        "Reading the table. \"change\" is the total energy at the end minus the initial one. "
        "\"above\" is the largest excess over the initial energy during the run. The line below "
        "the table says what the percentages refer to (never to the energy of gravity, whose zero "
        "is arbitrary). \"remainder\" is the part of the change that neither damping nor "
        "scripted motion explains: the effect of the method. \"unfinished\" is the part of the "
        "remainder that the solver left over; a smaller solver.tol reduces it. Momenta are shown "
        "if the scene conserves them: without gravity, fixed vertices and obstacles. \"real "
        "time\" is simulated time over wall time.\n"
        "\n"
        "Distance from the reference. With --reference a third table shows the distance of each "
        "trial from the reference over the whole run: energy and its parts, momenta, the centre of "
        "mass, and the spectrum of vibration (100 %: nothing in common). The folder keeps the "
        "reference as reference.bin; with --force a later comparison of the same scene reads it "
        "from there.\n"
        "\n"
        "Order and error. The error is the distance of all vertices from the reference at the "
        "end: the root mean square, weighted by mass. Without --reference, brio estimates the "
        "limit and the order from three or more step sizes by Richardson extrapolation. A method "
        "of order 2 has a quarter of the error at half the step. If the steps are too long for "
        "the vibrations of the scene, no order shows. To measure an order, choose a short "
        "time.end and a small solver.tol.\n"
        "\n"
        "If the scene does not support a method, if the method fails, or if its energy explodes, "
        "its row has the reason. Ctrl-C ends the command within an iteration and keeps the "
        "finished rows.\n"
        "Exit code 0: all trials were run, with any outcome. 1: none could run, or stopped. 2: "
        "the scene or the command is not valid; nothing was written.",
    .options = options,
    .examples = "brio compare cloth --integrators backward-euler,bdf2,a-search --h 1/30,1/120\n"
                "brio compare demo --integrators 'bdf2,{type: a-search, decay: 10}' -o lively\n"
                "brio compare spinning-cube --integrators backward-euler,trapezoidal --h "
                "1/100,1/200,1/400 --set time.end=0.1\n"
                "brio compare cantilever --integrators bdf2,sdirk2 --h 1/60,1/120 --reference "
                "trapezoidal:1/2000",
    .run = run,
};
