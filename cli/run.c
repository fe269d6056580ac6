/* brio run: a scene from its first state to its end, with results in a folder. */
#include "commands.h"
#include "progress.h"
#include "report.h"

#include "internal.h"

#include <string.h>
#include <unistd.h>

static void print_json(const BrioScene *scene, const char *out, const BrioRunResult *r,
                       bool reported)
{
    BrioJson json = {.file = stdout};
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
    brio__json_real(&json, "first_energy", r->totals.first_energy);
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
        printf(
            "%s was complete already; nothing is left to do (--set time.end=... makes it longer)\n",
            out);
    printf("%s%s%s: %lld of %lld steps, t = %g s, in %s\n", scene->title,
           scene->title[0] ? ": " : "", brio__verdict_name(r->verdict), (long long)r->step,
           (long long)r->steps, r->time, wall);
    bool fixed = scene->def.solver.type && !strcmp(scene->def.solver.type, "local-global");
    printf("  %s iterations %lld (%.1f a step), energy %.6g J at the start, %.6g J now\n",
           fixed ? "local/global" : "Newton", (long long)r->totals.solve.iterations,
           r->step > 0 ? (double)r->totals.solve.iterations / (double)r->step : 0,
           r->totals.first_energy, r->totals.last_energy);
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

enum { OUT, FORCE, SET, THREADS, RESUME, QUIET, JSON, EXACT, CHECKPOINT_EVERY };

static int run(int argc, char **argv)
{
    Arguments a = {.command = &command_run, .argc = argc, .argv = argv, .at = 1};
    BrioRunOptions options = {.stop = &stop_wanted, .progress = progress_show};
    SceneArguments given = {0};
    char standard[512];
    int option;
    bool quiet = false, json = false;
    while ((option = argument_next(&a)) != ARGUMENT_END) {
        switch (option) {
        case OUT: options.out = a.value; break;
        case FORCE: options.force = true; break;
        case RESUME: options.resume = true; break;
        case QUIET: quiet = true; break;
        case JSON: json = true; break;
        case EXACT: options.exact = true; break;
        case CHECKPOINT_EVERY:
            if (!read_count(a.command, "--checkpoint-every", a.value, INT64_MAX,
                            &options.checkpoint_steps))
                return EXIT_USAGE;
            break;
        default:
            if (!scene_argument(&a, option, &given)) return a.exit;
        }
    }
    if (!given.name)
        return usage_error(a.command, "which scene? Give a file or a name of `brio list scenes`");
    if (options.force && options.resume)
        return usage_error(a.command,
                           "--force starts again and --resume continues: give one of them");
    if (quiet) options.progress = NULL;
    default_folder(given.name, "-out", standard, sizeof standard);
    if (!options.out) options.out = standard;

    BrioScene *scene = NULL;
    BrioError error = {0};
    BrioRunResult result = {0};
    bool speaks = cluster_speaks();
    BrioStatus loaded =
        speaks ? brio__scene_load(given.name, given.sets, given.set_count, &scene, &error)
               : BRIO_OK;
    if (cluster_same(loaded, &error) != BRIO_OK)
        return speaks ? say_error(&error, EXIT_USAGE) : EXIT_USAGE;
    catch_signals();
    cluster_last_words(options.out);
    BrioStatus status = brio__run(scene, &options, &result, &error);
    if (!speaks) return !result.started ? EXIT_USAGE : status == BRIO_OK ? EXIT_DONE : EXIT_FAILED;
    progress_clear();
    int code = EXIT_DONE;
    if (!result.started) {
        code = say_error(&error, EXIT_USAGE);
    } else {
        if (status != BRIO_OK) {
            fprintf(stderr, "%s: %s%s%s\n", brio__verdict_name(result.verdict), result.reason,
                    result.verdict == BRIO_VERDICT_STOPPED ? "; --resume continues from there: "
                                                           : "; the last checkpoint is in ",
                    options.out);
            code = EXIT_FAILED;
        }
        /* What was computed is whole without its report, which can be made later: no failure of the
         * run. */
        char trouble[2048];
        bool reported = status != BRIO_ERROR_FILE && report_of_run(options.out, &error) == BRIO_OK;
        if (!reported && status != BRIO_ERROR_FILE) {
            brio_error_text(&error, trouble, sizeof trouble);
            fprintf(stderr,
                    "warning: the results are whole, only their report is missing: %s; `brio view "
                    "%s` makes it\n",
                    trouble, options.out);
        }
        if (json)
            print_json(scene, options.out, &result, reported);
        else if (!quiet)
            print_summary(scene, options.out, &result, reported);
    }
    brio__scene_free(scene);
    return code;
}

static const Option options_[] = {
    [OUT] = {"--out", 'o', "FOLDER", "Where results go; otherwise NAME-out in the current folder."},
    [FORCE] = {"--force", 'f', NULL,
               "Replace earlier results in the folder (only files that brio writes)."},
    [SET] = {"--set", 's', "PATH=VALUE",
             "Change a value of the scene: time.h=1/120, bodies.0.material.E=1e6."},
    [THREADS] = {"--threads", 'j', "N",
                 "Threads; results do not depend on it. Otherwise one per core."},
    [RESUME] = {"--resume", 'r', NULL, "Continue an interrupted run, to the same bits."},
    [QUIET] = {"--quiet", 'q', NULL, "No progress and no summary; errors and warnings only."},
    [JSON] = {"--json", 0, NULL, "The summary as one JSON object on the standard output."},
    [EXACT] = {"--exact", 0, NULL,
               "Check every accepted state for intersections, without rounding; the first one ends "
               "the run."},
    [CHECKPOINT_EVERY] = {"--checkpoint-every", 0, "STEPS", NULL},
    {0}};

const Command command_run = {
    .name = "run",
    .summary = "Simulate a scene and write its results.",
    .synopsis = "SCENE [-o FOLDER] [--force | --resume] [--set PATH=VALUE]... [--threads N] "
                "[--exact] [--quiet] [--json]",
    .about = "SCENE is a file or the name of a scene that ships with brio (`brio list scenes`). "
             "The folder receives "
             "report.html (the motion, energies and times in one page), energy.csv, probes.csv, "
             "frames/, motion.bin, run.json and a checkpoint, which is renewed every few seconds. "
             "Ctrl-C ends the run after the step at "
             "hand, with a "
             "checkpoint; --resume continues from it, also after a crash. A finished run can be "
             "made longer: --resume --set "
             "time.end=20.\n"
             "Exit code 0: completed. 1: stopped or failed. 2: the scene or the command is not "
             "valid; nothing was written.",
    .options = options_,
    .examples =
        "brio run demo\n"
        "brio run scenes/cloth.yaml -o cloth --set integrator=implicit-midpoint --set time.h=1/120",
    .run = run,
};
