/* brio settle: static equilibrium, the minimum of the potential that is reached from the first
 * state. */
#include "commands.h"
#include "progress.h"

#include "internal.h"

#include <string.h>

typedef struct Settled {
    BrioScene *scene;
    BrioSim *sim;
    const char *out;
    double *x, *v, *seen;
    BrioMotionFile *motion;
    BrioLedger before, after;
} Settled;

static void state_name(const BrioSystem *s, int body, char *text, size_t size)
{
    if (s->body_count == 1)
        snprintf(text, size, "state.csv");
    else
        snprintf(text, size, "state-%d.csv", body);
}

static BrioStatus write_file(const BrioFolder *folder, const char *name,
                             const BrioFrameFormat *format, const BrioFrame *frame,
                             const BrioBody *body, BrioError *error)
{
    FILE *file;
    BRIO_CHECK(brio__replace_begin(folder, name, &file, error));
    if (body)
        brio__state_csv(file, body, frame->x, frame->v);
    else if (frame)
        format->write(frame, file);
    else
        format->index("frame", (const char *const[]){format->extension}, (const double[]){0}, 1,
                      file);
    return brio__replace_end(folder, name, file, true, error);
}

static BrioStatus write_all(Settled *w, const BrioFolder *folder, BrioFolder *frames,
                            BrioError *error)
{
    const BrioSystem *s = w->sim->system;
    const BrioState *state = w->sim->state;
    char name[64];
    brio__system_positions(s, state, state->q, state->time, w->x);
    memset(w->v, 0, 3 * (size_t)s->vertex_count * sizeof *w->v);
    if (brio__motion_create(s, w->scene->rest, w->x, w->scene->fps, 0, false, &w->motion) ==
        BRIO_OK)
        w->seen = brio__calloc(6 * (size_t)w->motion->vertex_count + 1, sizeof *w->seen);
    if (!w->seen) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    brio__motion_seen(w->motion, w->x, false, w->seen);
    const BrioFrame frame = {.system = s,
                             .time = state->time,
                             .x = w->x,
                             .v = w->v,
                             .motion = w->motion,
                             .only = -1,
                             .seen = w->seen,
                             .seen_v = w->seen + 3 * w->motion->vertex_count};
    for (int i = 0; i < s->body_count; i++) {
        state_name(s, i, name, sizeof name);
        BRIO_CHECK(write_file(folder, name, NULL, &frame, &s->body[i], error));
    }
    BRIO_CHECK(brio__folder_inside(folder, "frames", true, frames, error));
    for (int i = 0; i < w->scene->format_count; i++) {
        const BrioFrameFormat *format = w->scene->format[i];
        brio__frame_name(format, "frame", 0, name, sizeof name);
        BRIO_CHECK(write_file(frames, name, format, &frame, NULL, error));
        snprintf(name, sizeof name, "frames.%s", format->index ? format->index_extension : "");
        if (format->index) BRIO_CHECK(write_file(frames, name, format, NULL, NULL, error));
    }
    return BRIO_OK;
}

static BrioStatus settle(Settled *w, bool force, BrioFolder *folder, BrioFolder *frames,
                         bool *failed, BrioError *error)
{
    BRIO_CHECK(brio__scene_sim(w->scene, &w->sim, error));
    size_t world = 3 * (size_t)w->sim->system->vertex_count;
    w->x = brio__alloc(world, sizeof *w->x);
    w->v = brio__alloc(world, sizeof *w->v);
    if (!w->x || !w->v) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    BRIO_CHECK(brio__results_open(w->out, force, false, folder, error));
    brio_sim_ledger(w->sim, &w->before);
    *failed = true;
    brio_sim_watch(w->sim, progress_watch, NULL);
    BrioStatus status = brio_sim_settle(w->sim, NULL);
    progress_clear();
    if (status != BRIO_OK)
        return brio__error(error, status,
                           "no equilibrium was found: %s; solver.max_iterations may be too low, "
                           "or a body is neither fixed nor attached",
                           brio_sim_reason(w->sim));
    brio_sim_ledger(w->sim, &w->after);
    return write_all(w, folder, frames, error);
}

static void report(const Settled *w, bool json)
{
    const BrioSolver *solver = w->sim->stepper->solver;
    const char *reason = brio__reason_text(solver->reason);
    char name[64];
    if (json) {
        BrioJson out = {.file = stdout};
        brio__json_open(&out, NULL, '{');
        brio__json_text(&out, "verdict", "settled");
        brio__json_text(&out, "reason", reason);
        brio__json_integer(&out, "iterations", solver->iterations);
        brio__json_real(&out, "first_potential", w->before.potential);
        brio__json_real(&out, "potential", w->after.potential);
        brio__json_real(&out, "elastic", w->after.elastic);
        brio__json_real(&out, "gravity", w->after.gravity);
        brio__json_real(&out, "attachment", w->after.attachment);
        brio__json_text(&out, "out", w->out);
        brio__json_close(&out, '}');
        return;
    }
    printf("%s%ssettled after %d Newton iterations: %s\n", w->scene->title,
           w->scene->title[0] ? ": " : "", solver->iterations, reason);
    printf("  potential %.9g J (elastic %.9g, gravity %.9g%s", w->after.potential, w->after.elastic,
           w->after.gravity, w->after.attachment != 0 ? "" : ")");
    if (w->after.attachment != 0) printf(", attachments %.9g)", w->after.attachment);
    printf(", %.9g J at the start\n", w->before.potential);
    for (int i = 0; i < w->sim->system->body_count; i++) {
        state_name(w->sim->system, i, name, sizeof name);
        printf("  %s/%s  body \"%s\"; a scene starts from it with `state: %s`\n", w->out, name,
               w->sim->system->body[i].name, name);
    }
    printf("  %s/frames\n", w->out);
}

enum { OUT, FORCE, SET, THREADS, JSON, PLUGIN };

static int run(int argc, char **argv)
{
    Arguments a = {.command = &command_settle, .argc = argc, .argv = argv, .at = 1};
    Settled w = {.out = NULL};
    SceneArguments given = {0};
    char standard[512];
    int option;
    bool force = false, json = false;
    while ((option = argument_next(&a)) != ARGUMENT_END) {
        switch (option) {
        case OUT: w.out = a.value; break;
        case FORCE: force = true; break;
        case JSON: json = true; break;
        default:
            if (!scene_argument(&a, option, &given)) return a.exit;
        }
    }
    if (!given.name)
        return usage_error(a.command, "which scene? Give a file or a name of `brio list scenes`");
    default_folder(given.name, "-settled", standard, sizeof standard);
    if (!w.out) w.out = standard;
    BrioError error = {0};
    if (brio__scene_load(given.name, given.sets, given.set_count, &w.scene, &error) != BRIO_OK)
        return say_error(&error, EXIT_USAGE);
    int stills = 0; /* an equilibrium is no film */
    for (int i = 0; i < w.scene->format_count; i++)
        if (!w.scene->format[i]->film) w.scene->format[stills++] = w.scene->format[i];
    w.scene->format_count = stills;
    if (w.scene->format_count == 0) w.scene->format[w.scene->format_count++] = brio__frames_at(0);
    BrioFolder folder = {.fd = -1}, frames = {.fd = -1};
    bool failed = false;
    int code = EXIT_DONE;
    if (settle(&w, force, &folder, &frames, &failed, &error) == BRIO_OK)
        report(&w, json);
    else
        code = say_error(&error, failed ? EXIT_FAILED : EXIT_USAGE);
    brio__folder_close(&frames);
    brio__folder_close(&folder);
    brio__free(w.x);
    brio__free(w.v);
    brio__free(w.seen);
    brio__motion_free(w.motion);
    brio_sim_free(w.sim);
    brio__scene_free(w.scene);
    return code;
}

static const Option options[] = {
    [OUT] = {"--out", 'o', "FOLDER",
             "Where results go; default: NAME-settled in the current folder."},
    [FORCE] = {"--force", 'f', NULL,
               "Replace earlier results in the folder (only files that brio writes)."},
    [SET] = {"--set", 's', "PATH=VALUE", "Change a value of the scene."},
    [THREADS] = {"--threads", 'j', "N", "Number of threads; results do not depend on it."},
    [JSON] = {"--json", 0, NULL, "The result as one JSON object on the standard output."},
    [PLUGIN] = OPTION_PLUGIN,
    {0}};

const Command command_settle = {
    .name = "settle",
    .summary = "Find the static equilibrium of a scene.",
    .synopsis = "SCENE [-o FOLDER] [--force] [--set PATH=VALUE]... [--threads N] [--json]",
    .about =
        "Minimises the potential, starting from the initial state, without mass and at time 0. "
        "Writes the result as frames and as state.csv (one file per body if there are several). A "
        "scene can start from it with `state: state.csv`.",
    .options = options,
    .examples = "brio settle cantilever\nbrio settle scenes/cloth.yaml -o hanging --set "
                "solver.max_iterations=500",
    .run = run,
};
