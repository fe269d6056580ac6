/* brio run: a scene from its initial state to its end, with results in a folder. */
#include "commands.h"
#include "progress.h"
#include "room.h"
#include "report.h"
#include "sandbox.h"

#include "internal.h"

#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void print_json(const BrioScene *scene, const char *out, const BrioRunResult *r,
                       bool reported, bool flat)
{
    BrioJson json = {.file = stdout, .flat = flat};
    char path[4200];
    brio__json_open(&json, NULL, '{');
    brio__json_text(&json, "scene", scene->file);
    brio__json_text(&json, "verdict", brio__verdict_name(r->verdict));
    brio__json_text(&json, "reason", r->reason[0] ? r->reason : NULL);
    brio__json_text(&json, "out", out);
    const struct {
        const char *key, *name;
        bool there;
    } files[] = {{"energy", "energy.csv", true},
                 {"probes", "probes.csv", scene->probe_count > 0},
                 {"frames", "frames", scene->format_count > 0},
                 {"run", "run.json", true},
                 {"report", "report.html", reported},
                 {"checkpoint", BRIO_CHECKPOINT_NAME, true}};
    brio__json_open(&json, "files", '{');
    for (size_t i = 0; i < BRIO_COUNT(files); i++) {
        snprintf(path, sizeof path, "%s/%s", out, files[i].name);
        if (files[i].there) brio__json_text(&json, files[i].key, path);
    }
    brio__json_close(&json, '}');
    brio__json_integer(&json, "steps", r->step);
    brio__json_real(&json, "time", r->time);
    brio__json_integer(&json, "frames", r->frame_count);
    brio__json_real(&json, "wall", r->totals.wall);
    brio__json_integer(&json, "newton_iterations", r->totals.solve.iterations);
    brio__json_integer(&json, "evaluations", r->totals.solve.evaluations);
    brio__json_integer(&json, "roundoff_convergences", r->totals.solve.roundoff);
    brio__json_integer(&json, "halved_steps", r->totals.halved_steps);
    brio__json_real(&json, "first_energy", r->totals.initial_energy);
    brio__json_real(&json, "last_energy", r->totals.last_energy);
    brio__json_boolean(&json, "resumed", r->resumed);
    if (r->exact.states) {
        brio__json_integer(&json, "exact_states", r->exact.states);
        brio__json_integer(&json, "exact_pairs", r->exact.pairs);
        brio__json_integer(&json, "intersections", r->exact.intersections);
    }
    brio__json_close(&json, '}');
}

static void print_summary(const BrioScene *scene, const char *out, const BrioRunResult *r,
                          bool reported)
{
    char wall[32];
    seconds_text(r->totals.wall, wall, sizeof wall);
    if (r->complete_before)
        printf("%s is already complete; there is nothing left to do (--set time.end=... makes it "
               "longer)\n",
               out);
    printf("%s%s%s: %lld of %lld steps, t = %g s, in %s\n", scene->title,
           scene->title[0] ? ": " : "", brio__verdict_name(r->verdict), (long long)r->step,
           (long long)r->steps, r->time, wall);
    const BrioSolverType *type = brio__solver_type(scene->def.solver.type);
    printf("  %s iterations %lld (%.1f per step), energy %.6g J at the start, %.6g J now\n",
           type && type->unfinished ? "local/global" : "Newton",
           (long long)r->totals.solve.iterations,
           r->step > 0 ? (double)r->totals.solve.iterations / (double)r->step : 0,
           r->totals.initial_energy, r->totals.last_energy);
    if (r->totals.halved_steps)
        printf("  %lld steps were done in halves (at worst %d times halved)\n",
               (long long)r->totals.halved_steps, (int)r->totals.deepest_halving);
    if (r->exact.states && !r->exact.failed)
        printf("  %lld states checked exactly, %lld pairs: no intersection, no inverted element "
               "(%.1f s)\n",
               (long long)r->exact.states, (long long)r->exact.pairs, r->exact.seconds);
    if (reported)
        printf("  %s/report.html  the motion, energies and times: open it in a browser (`brio view "
               "%s`)\n",
               out, out);
    printf("  %s/energy.csv   energies and momenta\n", out);
    if (scene->probe_count) printf("  %s/probes.csv   positions of the probes\n", out);
    if (scene->format_count)
        printf("  %s/frames       %lld frames\n", out, (long long)r->frame_count);
    printf("  %s/run.json     the scene as it was run, times, verdict\n", out);
}

enum {
    OUT,
    FORCE,
    SET,
    THREADS,
    RESUME,
    QUIET,
    JSON,
    LINES,
    EXACT,
    FROM,
    SANDBOX,
    CHECKPOINT_EVERY,
    PLUGIN
};

/* What was asked for. */
typedef struct Asked {
    BrioRunOptions options;
    SceneArguments scene;
    char folder[512]; /* of the results, unless one is given */
    bool quiet, json, lines, sandbox;
} Asked;

/* EXIT_DONE, or the exit code with a sentence said. `done`: there is nothing more to do. */
static int read_arguments(Arguments *a, Asked *asked, bool *done)
{
    BrioRunOptions *o = &asked->options;
    *done = true;
    for (int option; (option = argument_next(a)) != ARGUMENT_END;) {
        switch (option) {
        case OUT: o->out = a->value; break;
        case FORCE: o->force = true; break;
        case RESUME: o->resume = true; break;
        case QUIET: asked->quiet = true; break;
        case JSON: asked->json = true; break;
        case LINES: asked->json = asked->lines = true; break;
        case FROM: o->from = a->value; break;
        case EXACT: o->exact = true; break;
        case SANDBOX: asked->sandbox = true; break;
        case CHECKPOINT_EVERY:
            if (!read_count(a->command, "--checkpoint-every", a->value, INT64_MAX,
                            &o->checkpoint_steps))
                return EXIT_USAGE;
            break;
        default:
            if (!scene_argument(a, option, &asked->scene)) return a->exit;
        }
    }
    if (!asked->scene.name)
        return usage_error(a->command, "which scene? Give a file or a name of `brio list scenes`");
    if (o->force && o->resume)
        return usage_error(a->command,
                           "--force starts again and --resume continues: give one of them");
    if (asked->lines)
        o->progress = progress_lines;
    else if (asked->quiet)
        o->progress = NULL;
    default_folder(asked->scene.name, "-out", asked->folder, sizeof asked->folder);
    if (!o->out) o->out = asked->folder;
    *done = false;
    return EXIT_DONE;
}

/* What became of a run that has started; returns the exit code. */
static int report_progress(const Asked *asked, const BrioScene *scene, const BrioRunResult *result,
                           BrioStatus status)
{
    const char *out = asked->options.out;
    BrioError error = {0};
    if (status != BRIO_OK)
        fprintf(stderr, "%s: %s%s%s\n", brio__verdict_name(result->verdict), result->reason,
                result->verdict == BRIO_VERDICT_STOPPED ? "; --resume continues from there: "
                : strstr(result->reason, "free some space")
                    ? "; --resume continues from the checkpoint in "
                    : "; the last checkpoint is in ",
                out);
    /* What was computed is whole without its report, which can be made later: no failure of the
     * run. */
    char trouble[2048];
    bool reported = status != BRIO_ERROR_FILE && report_of_run(out, &error) == BRIO_OK;
    if (!reported && status != BRIO_ERROR_FILE) {
        brio_error_text(&error, trouble, sizeof trouble);
        fprintf(stderr,
                "warning: the results are complete, only the report is missing: %s; `brio view "
                "%s` writes it\n",
                trouble, out);
    }
    if (asked->json)
        print_json(scene, out, result, reported, asked->lines);
    else if (!asked->quiet)
        print_summary(scene, out, result, reported);
    return status == BRIO_OK ? EXIT_DONE : EXIT_FAILED;
}

/* ---- a run on a thread of its own -------------------------------------------------------- */

/* s: how long a run has to end by itself, in its next iteration, and how often it is asked */
static const double patience = 0.15, look_every = 0.02;

/* So that a request to stop is answered in any phase: this thread does nothing but wait for it. */
typedef struct Job {
    BrioScene *scene;
    const BrioRunOptions *options;
    /* outlives run_aside: a thread that is left to itself waits for it until the program ends */
    BrioRunControl control;
    BrioRunResult result;
    BrioStatus status;
    BrioError error;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    bool done;
} Job;

static void *work(void *user)
{
    Job *job = user;
    job->status = brio__run(job->scene, job->options, &job->result, &job->error);
    pthread_mutex_lock(&job->mutex);
    job->done = true;
    pthread_cond_signal(&job->ended);
    pthread_mutex_unlock(&job->mutex);
    return NULL;
}

/* Waits a little for the end. */
static bool is_done(Job *job)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)(1e9 * look_every);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&job->mutex);
    if (!job->done) pthread_cond_timedwait(&job->ended, &job->mutex, &until);
    bool done = job->done;
    pthread_mutex_unlock(&job->mutex);
    return done;
}

/* brio__run, on a thread that is left to itself if it does not answer; `left`: so it was, and the
 * program must end by _exit. */
static BrioStatus run_aside(Job *job, BrioRunOptions *options, bool *left)
{
    pthread_t thread;
    double asked = -1;
    *left = false;
    job->control = (BrioRunControl)BRIO_RUN_CONTROL;
    options->control = &job->control;
    job->options = options;
    if (pthread_create(&thread, NULL, work, job)) { /* then on this one */
        options->control = NULL;
        return brio__run(job->scene, options, &job->result, &job->error);
    }
    while (!is_done(job)) {
        BrioStatus status;
        BrioRunResult result;
        BrioError error = {0};
        if (asked < 0 && stop_wanted) asked = brio__seconds();
        if (asked < 0 || brio__seconds() - asked < patience) continue;
        if (!brio__run_end(&job->control, &result, &status, &error)) continue;
        *left = true;
        job->result = result;
        job->error = error;
        return status;
    }
    pthread_join(thread, NULL);
    return job->status;
}

/* Runs the scene, and on a full disk again, from its last checkpoint, when there is room. */
static BrioStatus run_with_patience(Job *job, Asked *asked, bool *left)
{
    const SceneArguments *given = &asked->scene;
    BrioRunOptions *options = &asked->options;
    BrioStatus status = run_aside(job, options, left);
    while (status == BRIO_ERROR_FILE && !*left && job->result.started &&
           wait_for_room(options->out, job->result.reason)) {
        brio__scene_free(job->scene);
        *job = (Job){.mutex = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};
        options->force = false;
        options->resume = true;
        status =
            brio__scene_load(given->name, given->sets, given->set_count, &job->scene, &job->error);
        if (status == BRIO_OK) status = run_aside(job, options, left);
    }
    return status;
}

/* Before anything of the scene is read. False with a sentence where there is no sandbox. */
static bool enter_sandbox(const Asked *asked)
{
    char why[4300] = "there is no sandbox for a run of several processes";
    bool entered =
        cluster_is_one() && sandbox_enter(asked->scene.name, asked->options.out, why, sizeof why);
    if (!entered) fprintf(stderr, "%s\n", why);
    return entered;
}

/* --resume also starts a run, so that a script can use one command; a wrong folder must show. */
static void note_new_run(const char *out)
{
    char checkpoint[4200], table[4200];
    snprintf(checkpoint, sizeof checkpoint, "%s/checkpoint", out);
    snprintf(table, sizeof table, "%s/energy.csv", out);
    if (access(checkpoint, F_OK) && access(table, F_OK))
        fprintf(stderr, "%s has no checkpoint: the run starts from the beginning\n", out);
}

static int run(int argc, char **argv)
{
    Arguments a = {.command = &command_run, .argc = argc, .argv = argv, .at = 1};
    Asked asked = {.options = {.stop = &stop_wanted, .progress = progress_show}};
    bool done, is_root = cluster_is_root();
    int code = read_arguments(&a, &asked, &done);
    if (done) return code;
    if (asked.sandbox && !enter_sandbox(&asked)) return EXIT_USAGE;
    if (cluster_is_one()) catch_early_signals();
    Job job = {.mutex = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};
    const SceneArguments *given = &asked.scene;
    BrioStatus loaded = is_root ? brio__scene_load(given->name, given->sets, given->set_count,
                                                   &job.scene, &job.error)
                                : BRIO_OK;
    if (cluster_same(loaded, &job.error) != BRIO_OK)
        return is_root ? say_error(&job.error, EXIT_USAGE) : EXIT_USAGE;
    if (is_root && !asked.quiet) say_questions(job.scene);
    if (is_root && !asked.quiet && asked.options.resume) note_new_run(asked.options.out);
    catch_signals();
    cluster_last_words(asked.options.out);
    BrioRunResult *result = &job.result;
    bool left = false;
    BrioStatus status = cluster_is_one() ? run_with_patience(&job, &asked, &left)
                                         : brio__run(job.scene, &asked.options, result, &job.error);
    if (!is_root)
        return !result->started ? EXIT_USAGE : status == BRIO_OK ? EXIT_DONE : EXIT_FAILED;
    progress_clear();
    code = result->started ? report_progress(&asked, job.scene, result, status)
                           : say_error(&job.error, left ? EXIT_FAILED : EXIT_USAGE);
    if (left) { /* threads still compute on what would be freed */
        fflush(NULL);
        _exit(code);
    }
    brio__scene_free(job.scene);
    return code;
}

static const Option options_[] = {
    [OUT] = {"--out", 'o', "FOLDER", "Where results go; default: NAME-out in the current folder."},
    [FORCE] = {"--force", 'f', NULL,
               "Replace earlier results in the folder (only files that brio writes)."},
    [SET] = {"--set", 's', "PATH=VALUE",
             "Change a value of the scene: time.h=1/120, bodies.0.material.E=1e6."},
    [THREADS] = {"--threads", 'j', "N",
                 "Number of threads; results do not depend on it. Default: one per core."},
    [RESUME] = {"--resume", 'r', NULL,
                "Continue an interrupted run, to the same bits; start it if the folder has no "
                "checkpoint."},
    [QUIET] = {"--quiet", 'q', NULL,
               "No progress, no summary, no warnings about unlikely values; errors and other "
               "warnings only."},
    [JSON] = {"--json", 0, NULL, "The summary as one JSON object on the standard output."},
    [LINES] =
        {"--json-lines", 0, NULL,
         "Progress and then the summary on the standard output, one JSON object per line; the run "
         "ends with a checkpoint when the reader closes the pipe."},
    [FROM] = {"--from", 0, "CHECKPOINT",
              "Start from a checkpoint (output.checkpoints keeps them): of this scene, and the run "
              "goes on to the same bits; of another scene with the same bodies, from its "
              "positions, velocities and time."},
    [EXACT] = {"--exact", 0, NULL,
               "Check every accepted state for intersections with exact arithmetic; the first "
               "intersection ends the run."},
    [SANDBOX] = {"--sandbox", 0, NULL,
                 "For scenes that you do not trust: read only next to the scene, write only into "
                 "the folder, start no program, open no connection (Linux)."},
    [CHECKPOINT_EVERY] = {"--checkpoint-every", 0, "STEPS", NULL},
    [PLUGIN] = OPTION_PLUGIN,
    {0}};

const Command command_run = {
    .name = "run",
    .summary = "Simulate a scene and write its results.",
    .synopsis = "SCENE [-o FOLDER] [--force | --resume] [--set PATH=VALUE]... [--threads N] "
                "[--exact] [--from CHECKPOINT] [--sandbox] [--quiet] [--json | --json-lines]",
    .about =
        "SCENE is a file or the name of a scene that ships with brio (`brio list scenes`). brio "
        "writes into the folder: report.html (the motion, energies and times in one page), "
        "energy.csv (one row per step), motion.bin (the motion, for `brio render` and `brio "
        "convert`), run.json (the scene, times, the outcome) and a checkpoint. If the scene asks "
        "for them, it also writes probes.csv and frames/.\n"
        "Ctrl-C, SIGTERM and SIGHUP end the run within one iteration, or within about a second if "
        "the iteration takes longer. The results and the checkpoint are then those of the last "
        "accepted state. --resume continues from there to the same bits. It also works after a "
        "crash, because brio renews the checkpoint every few seconds. A finished run can be made "
        "longer: --resume --set time.end=20.\n"
        "If a step takes more than a second, the progress line shows the iteration, the size of "
        "the last Newton step next to the tolerance (m/s), the contacts, and the pair that "
        "limited the step.\n"
        "With --sandbox the process drops its permissions before it reads the scene. It reads "
        "files only in the folder of the scene and in those of system libraries. It writes files "
        "only in the folder of results, which it creates first. It starts no program and opens no "
        "connection, and a file has at most 16 GB. If the kernel does not support this, brio does "
        "not run the scene.\n"
        "Before the run brio warns about values that are allowed but unlikely, for example a mesh "
        "in millimetres; `brio check` shows the same warnings. If the energy grows far above what "
        "the scene can cause, the run ends with the verdict exploded.\n"
        "Exit code 0: completed. 1: stopped, failed or exploded. 2: the scene or the command is "
        "not valid; nothing was written.",
    .options = options_,
    .examples = "brio run demo\n"
                "brio run scenes/cloth.yaml -o cloth --set integrator=a-search --set time.h=1/120",
    .run = run,
};
