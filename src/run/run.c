/* The order of things on the disk makes every moment one from which a run can continue. A
 * checkpoint is there before anything else; what it claims (bytes of the tables, frames) is on the
 * disk before it; and what was written after it is cut off or written again, to the same bytes,
 * when the run is resumed. */
#include "run.h"

#include "../sim/ledger.h"
#include "../number.h"
#include "inside.h"
#include "seen.h"
#include "summary.h"
#include "explosion.h"
#include "tables.h"
#include "../output/film.h"
#include "../output/json.h"
#include "../output/motion.h"

#ifdef BRIO_HAVE_MPI
#include "../cluster/cluster.h"
#include "../processes.h"
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#ifdef __linux__
#include <sys/resource.h>
#endif
#include <unistd.h>

#define FRAME_STEM "frame" /* frame_000012.vtu */
#define FILM_STEM "frames" /* frames.glb */

typedef struct Run {
    BrioScene *scene;
    BrioPartition *partition; /* of the system; NULL: this process has all of it */
    bool is_root;             /* this process writes */
    BrioSim *sim;
    const BrioRunOptions *options;
    BrioRunResult *result;
    BrioFolder folder, frames;
    BrioWriter energy, probes, moved;
    /* what is seen; kept if scene->motion; NULL: neither kept nor wanted by a format, or another
     * process speaks */
    BrioMotionFile *motion;
    BrioCheckpoint checkpoint; /* as of now; the lengths as of the last one written */
    uint64_t own_hash;         /* brio__scene_hash without --from */
    int64_t time_room;         /* of checkpoint.frame_time */
    int64_t frames_saved;      /* frames that the last checkpoint counts */
    bool partial;              /* rows and frames of the state as it is are not all written */
    double *x, *v;             /* world, for frames and probes */
    double *seen;              /* vertices of the motion's parts, then their velocities */
    double start, earlier;     /* clock at the start of this session; wall time of those before */
    double checkpoint_at, checkpoint_cost;
    int64_t checkpoint_step;
    double peak; /* bytes of memory that all processes have had at most */
    BrioLedger ledger;
    BrioExactWatch watch; /* exact: NULL if there is none */
    BrioInside inside;
    BrioExplosion explosion;
} Run;

int64_t brio__scene_steps(const BrioScene *scene)
{
    if (scene->def.tol != 0) return (int64_t)ceil(scene->end * scene->fps - 1e-6);
    return (int64_t)ceil(scene->end / scene->def.h - 1e-6);
}

/* Whether the end is reached; times carry round-off. */
static bool is_done(const Run *run)
{
    const BrioState *state = run->sim->state;
    if (!run->sim->control) return state->step >= run->result->steps;
    return state->time >= run->scene->end * (1 - 1e-12);
}

/* ---- run.json --------------------------------------------------------------------------- */

static BrioStatus write_own_json(Run *run, BrioVerdict verdict, const char *reason,
                                 BrioError *error)
{
    BrioRunSummary summary = {.scene = run->scene,
                              .sim = run->sim,
                              .verdict = verdict,
                              .reason = reason,
                              .totals = &run->checkpoint.totals,
                              .steps = run->sim->state->step,
                              .time = run->sim->state->time,
                              .frames = run->checkpoint.frame_count,
                              .peak = run->peak,
                              .exact = run->watch.exact ? &run->watch : NULL,
                              .exact_from = run->result->step,
                              .explosion = &run->explosion};
    return brio__summary_write(&run->folder, &summary, error);
}

static BrioStatus write_json(Run *run, BrioVerdict verdict, const char *reason, BrioError *error)
{
    return brio__partition_agree(
        run->partition, run->is_root ? write_own_json(run, verdict, reason, error) : BRIO_OK);
}

/* ---- outputs of a step ------------------------------------------------------------------ */

static const char *frame_extension(const Run *run, const BrioFrameFormat *format)
{
    return run->partition && format->join ? format->joint_extension : format->extension;
}

/* The file of frame k: what is written at once, or what names the pieces that processes have
 * written. */
static void frame_name(const Run *run, const BrioFrameFormat *format, int64_t k, char *text,
                       size_t size)
{
    snprintf(text, size, FRAME_STEM "_%06lld.%s", (long long)k, frame_extension(run, format));
}

/* What this process has of a frame: all of it, or a piece. */
static BrioStatus write_formats(Run *run, const BrioFrame *whole, const BrioFrame *piece,
                                BrioError *error)
{
    int64_t k = run->checkpoint.frame_count;
    for (int i = 0; i < run->scene->format_count; i++) {
        const BrioFrameFormat *format = run->scene->format[i];
        char name[64];
        FILE *file;
        bool joint = run->partition && format->join;
        if (format->film || (!joint && !run->is_root)) continue;
        if (joint)
            brio__frame_piece_name(format, FRAME_STEM, k, run->partition->process, name,
                                   sizeof name);
        else
            frame_name(run, format, k, name, sizeof name);
        BRIO_CHECK(brio__replace_begin(&run->frames, name, &file, error));
        format->write(joint ? piece : whole, file);
        BRIO_CHECK(brio__replace_end(&run->frames, name, file, false, error));
        if (!joint || !run->is_root) continue;
        frame_name(run, format, k, name, sizeof name);
        BRIO_CHECK(brio__replace_begin(&run->frames, name, &file, error));
        format->join(FRAME_STEM, k, run->partition->processes, file);
        BRIO_CHECK(brio__replace_end(&run->frames, name, file, false, error));
    }
    return BRIO_OK;
}

static BrioStatus write_frame(Run *run, BrioError *error)
{
    const BrioState *state = run->sim->state;
    BrioCheckpoint *c = &run->checkpoint;
    double *seen_v = run->motion ? run->seen + 3 * run->motion->vertex_count : NULL;
    BrioFrame frame = {.system = run->sim->system,
                       .time = state->time,
                       .x = run->x,
                       .v = run->v,
                       .motion = run->motion,
                       .only = -1,
                       .seen = run->seen,
                       .seen_v = seen_v};
    BrioFrame seen = frame;
    /* the first process sees surfaces only */
    if (run->partition) seen.system = NULL, seen.x = seen.v = NULL;
    if (c->frame_count >= run->time_room) {
        int64_t room = 2 * c->frame_count + 64;
        double *grown =
            brio__realloc(c->frame_time, (size_t)c->frame_count, (size_t)room, sizeof *grown);
        if (!grown) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
        c->frame_time = grown;
        run->time_room = room;
    }
    if (run->motion) {
        brio__motion_seen(run->motion, run->x, false, run->seen);
        brio__motion_seen(run->motion, run->v, true, seen_v);
    }
    BRIO_CHECK(write_formats(run, &seen, &frame, error));
    c->frame_time[c->frame_count++] = state->time;
    return BRIO_OK;
}

static BrioStatus judge(Run *run, BrioError *error)
{
    char text[sizeof run->result->reason];
    bool exploded =
        brio__explosion_judge(&run->explosion, run->sim, &run->ledger, text, sizeof text);
    return exploded ? brio__error(error, BRIO_EXPLODED, "%s", text) : BRIO_OK;
}

/* Of the state as it is. Without a finite energy it has exploded, unless it began so. */
static BrioStatus make_ledger(Run *run, BrioError *error)
{
    if (brio_sim_ledger(run->sim, &run->ledger) == BRIO_OK) return BRIO_OK;
    if (run->sim->state->step > 0) BRIO_CHECK(judge(run, error));
    return brio__error(error, BRIO_NOT_FINITE, "the energy is not a finite number after step %lld",
                       (long long)run->sim->state->step);
}

static BrioStatus keep_checkpoint(Run *run, int64_t frame, BrioError *error)
{
    BrioCheckpoint kept = run->checkpoint;
    kept.scene = run->own_hash;
    /* a target is read next to it, and this state may have no row */
    kept.totals.last_energy = brio__sim_energy(run->sim);
    return brio__checkpoint_keep(&run->folder, frame, &kept, run->sim->state, error);
}

/* Rows and the frame of the state as it is, by every process what is its own: whether all have done
 * it is for the caller to ask. `before` is the time of the last step, negative at the start. */
static BrioStatus write_outputs(Run *run, double before, BrioError *error)
{
    const BrioScene *scene = run->scene;
    const BrioState *state = run->sim->state;
    if (state->step % scene->energy_every == 0) {
        BRIO_CHECK(make_ledger(run, error));
        run->checkpoint.totals.last_energy = run->ledger.total;
        if (run->is_root) BRIO_CHECK(brio__energy_row(&run->energy, run->sim, &run->ledger, error));
        if (run->is_root && scene->probe_count) {
            brio__system_positions(run->sim->system, state, state->q, state->time, run->x);
            BRIO_CHECK(brio__probes_row(&run->probes, scene, run->sim->system, state->step,
                                        state->time, run->x, error));
        }
        BRIO_CHECK(judge(run, error)); /* a frame of it would show a dot */
    }
    /* a frame whenever an instant k/fps is reached or passed; times carry round-off */
    double now = floor(state->time * scene->fps + 1e-6);
    double last = before < 0 ? -1 : floor(before * scene->fps + 1e-6);
    if (now <= last) return BRIO_OK;
    int64_t instant = run->checkpoint.frames_passed++;
    bool frame = scene->format_count && instant % scene->every == 0;
    bool moved = scene->motion && instant % run->checkpoint.motion_stride == 0;
    if (scene->checkpoints && (int64_t)now % scene->checkpoints == 0 && !run->partition)
        BRIO_CHECK(keep_checkpoint(run, (int64_t)now, error));
    if (!frame && !moved) return BRIO_OK;
    brio__system_positions(run->sim->system, state, state->q, state->time, run->x);
    brio__system_velocities(run->sim->system, state, state->v, state->time, run->v);
    if (moved && run->is_root) {
        brio__motion_frame(run->motion, state->time, run->x, run->v);
        BRIO_CHECK(brio__writer_put(&run->moved, (const char *)run->motion->buffer,
                                    run->motion->frame_bytes, error));
    }
    return frame ? write_frame(run, error) : BRIO_OK;
}

/* ---- checkpoints ------------------------------------------------------------------------ */

static BrioStatus sync_frame(Run *run, const char *name, BrioError *error)
{
    int fd = openat(run->frames.fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return brio__write_failed(&run->frames, name, errno, error);
    int failed = fsync(fd) && errno != EINVAL ? errno : 0;
    close(fd);
    return failed ? brio__write_failed(&run->frames, name, failed, error) : BRIO_OK;
}

/* Sessions of one process and of several may have written them. */
static BrioStatus write_index(Run *run, const BrioFrameFormat *format, BrioError *error)
{
    const BrioCheckpoint *c = &run->checkpoint;
    const char **extension = brio__alloc((size_t)c->frame_count + 1, sizeof *extension);
    char name[64];
    FILE *file;
    if (!extension) return brio__no_memory(error);
    for (int64_t k = 0; k < c->frame_count; k++) {
        extension[k] = format->extension;
        if (!format->join) continue;
        snprintf(name, sizeof name, FRAME_STEM "_%06lld.%s", (long long)k, format->joint_extension);
        if (faccessat(run->frames.fd, name, F_OK, 0) == 0) extension[k] = format->joint_extension;
    }
    snprintf(name, sizeof name, FILM_STEM ".%s", format->index_extension);
    BrioStatus status = brio__replace_begin(&run->frames, name, &file, error);
    if (status == BRIO_OK) {
        format->index(FRAME_STEM, extension, c->frame_time, c->frame_count, file);
        status = brio__replace_end(&run->frames, name, file, false, error);
    }
    brio__free(extension);
    return status;
}

/* What this process has written of them. */
static BrioStatus sync_frames(Run *run, BrioError *error)
{
    if (run->scene->format_count == 0) return BRIO_OK;
    for (int i = 0; i < run->scene->format_count; i++) {
        const BrioFrameFormat *format = run->scene->format[i];
        bool joint = run->partition && format->join;
        char name[64];
        if (format->film) continue;
        for (int64_t k = run->frames_saved; k < run->checkpoint.frame_count; k++) {
            if (joint) {
                brio__frame_piece_name(format, FRAME_STEM, k, run->partition->process, name,
                                       sizeof name);
                BRIO_CHECK(sync_frame(run, name, error));
            }
            if (!run->is_root) continue;
            frame_name(run, format, k, name, sizeof name);
            BRIO_CHECK(sync_frame(run, name, error));
        }
        if (format->index && run->is_root) BRIO_CHECK(write_index(run, format, error));
    }
    return brio__folder_sync(&run->frames, error);
}

/* Those that are open: none before the first checkpoint. */
static BrioStatus sync_outputs(Run *run, BrioError *error)
{
    if (run->frames.fd >= 0) BRIO_CHECK(sync_frames(run, error));
    if (!run->energy.file) return BRIO_OK;
    BRIO_CHECK(brio__writer_sync(&run->energy, error));
    if (run->probes.file) BRIO_CHECK(brio__writer_sync(&run->probes, error));
    return run->moved.file ? brio__writer_sync(&run->moved, error) : BRIO_OK;
}

static BrioStatus save(Run *run, BrioError *error)
{
    BrioCheckpoint next = run->checkpoint;
    double before = brio__seconds();
    BRIO_CHECK(brio__partition_agree(run->partition, sync_outputs(run, error)));
    if (run->energy.file) {
        next.energy = run->energy.written;
        next.probes = run->probes.written;
        next.motion = run->moved.written;
    }
    next.totals.solve = run->sim->stepper->solver->totals;
    next.totals.wall = run->earlier + brio__seconds() - run->start;
    BRIO_CHECK(brio__checkpoint_write(&run->folder, &next, run->sim->state, run->partition, error));
    run->checkpoint = next;
    run->frames_saved = next.frame_count;
    /* if this fails, both the new checkpoint and the last one fit the tables as they are now */
    BRIO_CHECK(brio__partition_agree(
        run->partition, run->is_root ? brio__folder_sync(&run->folder, error) : BRIO_OK));
    run->checkpoint_step = run->sim->state->step;
    run->checkpoint_at = brio__seconds();
    run->checkpoint_cost = run->checkpoint_at - before;
    run->checkpoint.totals.output += run->checkpoint_cost;
    return BRIO_OK;
}

/* Large states are saved less often, so that saving stays below a twentieth of the time. */
static bool save_is_due(const Run *run)
{
    const BrioRunOptions *o = run->options;
    if (o->checkpoint_steps > 0)
        return run->sim->state->step - run->checkpoint_step >= o->checkpoint_steps;
    double every = o->checkpoint_seconds > 0 ? o->checkpoint_seconds : 5;
    return brio__partition_any(run->partition,
                               run->is_root && brio__seconds() - run->checkpoint_at >=
                                                   fmax(every, 20 * run->checkpoint_cost));
}

/* ---- the run ---------------------------------------------------------------------------- */

/* Frames beyond the checkpoint: written by a session that was killed, of one process or several. */
static void remove_later_frames(Run *run)
{
    for (int i = 0; i < run->scene->format_count; i++) {
        const BrioFrameFormat *format = run->scene->format[i];
        const char *extension[] = {format->extension, format->joint_extension};
        for (int e = 0; e < 2 && extension[e] && !format->film; e++) {
            char name[64];
            int64_t k = run->checkpoint.frame_count;
            do snprintf(name, sizeof name, FRAME_STEM "_%06lld.%s", (long long)k++, extension[e]);
            while (unlinkat(run->frames.fd, name, 0) == 0);
        }
    }
}

static BrioStatus open_outputs(Run *run, BrioError *error)
{
    BrioCheckpoint *c = &run->checkpoint;
    if (run->scene->format_count) {
        BRIO_CHECK(brio__folder_inside(&run->folder, "frames", run->is_root, &run->frames, error));
        if (run->is_root) remove_later_frames(run);
    }
    if (!run->is_root) return BRIO_OK;
    BRIO_CHECK(brio__writer_open(&run->folder, "energy.csv", c->energy, &run->energy, error));
    if (run->scene->probe_count)
        BRIO_CHECK(brio__writer_open(&run->folder, "probes.csv", c->probes, &run->probes, error));
    if (run->scene->motion)
        BRIO_CHECK(
            brio__writer_open(&run->folder, BRIO_MOTION_NAME, c->motion, &run->moved, error));
    return BRIO_OK;
}

static BrioStatus write_motion_head(Run *run, BrioError *error)
{
    char *bytes = NULL;
    size_t size;
    if (brio__motion_head(run->motion, &bytes, &size) != BRIO_OK)
        return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    BrioStatus status = brio__writer_put(&run->moved, bytes, size, error);
    free(bytes);
    return status;
}

static BrioStatus write_heads(Run *run, BrioError *error)
{
    BRIO_CHECK(brio__energy_head(&run->energy, run->sim, error));
    if (run->scene->probe_count) BRIO_CHECK(brio__probes_head(&run->probes, run->scene, error));
    return run->scene->motion ? write_motion_head(run, error) : BRIO_OK;
}

/* Everything up to the first step: the first row and frame, or the place where an earlier session
 * ended. */
static BrioStatus begin(Run *run, BrioError *error)
{
    BrioCheckpoint *c = &run->checkpoint;
    bool fresh = c->energy.length == 0;
    if (!run->result->resumed) BRIO_CHECK(save(run, error));
    /* makes the folder of frames, */
    BRIO_CHECK(
        brio__partition_agree(run->partition, run->is_root ? open_outputs(run, error) : BRIO_OK));
    /* which the others find */
    BRIO_CHECK(
        brio__partition_agree(run->partition, run->is_root ? BRIO_OK : open_outputs(run, error)));
    run->result->started = true;
    if (!fresh) return write_json(run, BRIO_VERDICT_RUNNING, NULL, error);
    run->partial = true;
    BRIO_CHECK(
        brio__partition_agree(run->partition, run->is_root ? write_heads(run, error) : BRIO_OK));
    BRIO_CHECK(brio__partition_agree(run->partition, write_outputs(run, -1, error)));
    run->partial = false;
    c->totals.initial_energy = run->ledger.total;
    c->totals.setup = brio__seconds() - run->start;
    BRIO_CHECK(save(run, error));
    return write_json(run, BRIO_VERDICT_RUNNING, NULL, error);
}

/* How many there will be; of automatic ones a guess. */
static int64_t expected_steps(const Run *run)
{
    const BrioState *state = run->sim->state;
    if (!run->sim->control) return run->result->steps;
    if (is_done(run)) return state->step;
    return state->step + 1 +
           (int64_t)((run->scene->end - state->time) / brio_sim_steps(run->sim).h);
}

static void report_progress(const Run *run, const BrioIteration *inside, double seconds)
{
    const BrioRunOptions *o = run->options;
    if (!o->progress || !run->is_root) return;
    const BrioState *state = run->sim->state;
    BrioRunProgress progress = {.step = state->step,
                                .steps = expected_steps(run),
                                .time = state->time,
                                .end = run->scene->end,
                                .wall = brio__seconds() - run->start,
                                .first = run->result->step,
                                .frames = run->checkpoint.frame_count,
                                .energy = run->checkpoint.totals.last_energy,
                                .iterations = run->sim->stepper->iterations,
                                .contacts = run->ledger.contacts,
                                .distance = run->ledger.min_distance,
                                .h = run->sim->control ? brio_sim_h(run->sim) : 0,
                                .inside = inside,
                                .inside_wall = seconds};
    o->progress(o->user, &progress);
}

static void tell_inside(const void *run, const BrioIteration *iteration, double seconds)
{
    report_progress(run, iteration, seconds);
}

static BrioStatus step(Run *run, BrioError *error)
{
    const BrioState *state = run->sim->state;
    BrioStatus status = brio__inside_step(&run->inside);
    if (status == BRIO_OK || status == BRIO_STOPPED) return status;
    if (status > 0) { /* from a state that may have exploded since the last row */
        BRIO_CHECK(make_ledger(run, error));
        BRIO_CHECK(judge(run, error));
    }
    return brio__error(
        error, status, "step %lld (from t = %g s, h = %g s): %s", (long long)state->step + 1,
        state->time, run->sim->control ? run->sim->stepper->h : run->scene->def.h,
        brio_sim_reason(run->sim)[0] ? brio_sim_reason(run->sim) : brio_status_text(status));
}

/* The state as it is and, by the stepper's hook, those between the halves of the last step. */
static BrioStatus watch(Run *run, BrioError *error)
{
    BrioExactWatch *w = &run->watch;
    if (!w->exact) return BRIO_OK;
    brio__inside_enter(&run->inside);
    brio__exact_watch(w, run->sim->state);
    brio__inside_leave(&run->inside);
    brio__partition_text(run->partition, w->failed, w->reason, sizeof w->reason);
    if (!brio__partition_any(run->partition, w->failed)) return BRIO_OK;
    w->failed = true;
    return brio__error(error, BRIO_STEP_REJECTED,
                       "the exact check failed at t = %.9g s (after step %lld): %s", w->time,
                       (long long)w->step, w->reason);
}

static void count_step(Run *run)
{
    BrioRunTotals *totals = &run->checkpoint.totals;
    BrioSteps steps = brio_sim_steps(run->sim);
    totals->rejected_steps += steps.rejected;
    totals->shortest = totals->shortest > 0 ? fmin(totals->shortest, steps.h) : steps.h;
    totals->longest = fmax(totals->longest, steps.h);
}

static BrioStatus loop(Run *run, BrioError *error)
{
    BrioState *state = run->sim->state;
    BrioRunTotals *totals = &run->checkpoint.totals;
    BRIO_CHECK(watch(run, error));
    while (!is_done(run)) {
        if (brio__partition_any(run->partition, brio__inside_stop_asked(&run->inside)))
            return BRIO_STOPPED;
        double before = state->time;
        BRIO_CHECK(step(run, error));
        totals->halved_steps += run->sim->stepper->halvings > 0;
        totals->deepest_halving = BRIO_MAX(totals->deepest_halving, run->sim->stepper->halvings);
        count_step(run);
        double clock = brio__seconds();
        run->partial = true;
        BRIO_CHECK(brio__partition_agree(run->partition, write_outputs(run, before, error)));
        run->partial = false;
        totals->output += brio__seconds() - clock;
        BRIO_CHECK(watch(run, error));
        report_progress(run, NULL, 0);
        if (save_is_due(run) && !is_done(run)) {
            BRIO_CHECK(save(run, error));
            BRIO_CHECK(write_json(run, BRIO_VERDICT_RUNNING, NULL, error));
        }
    }
    return BRIO_OK;
}

/* Films are made of the motion as it is on the disk; made again by a session that goes on. */
static BrioStatus write_films(Run *run, BrioError *error)
{
    const BrioScene *scene = run->scene;
    BrioMotionFile *motion = NULL;
    BrioFilm *film = NULL;
    if (!run->is_root || !brio__scene_films(scene) || run->checkpoint.frame_count == 0)
        return BRIO_OK;
    double before = brio__seconds();
    BrioStatus status = brio__motion_open(run->options->out, &motion, error);
    if (status == BRIO_OK) status = brio__film_create(motion, scene->every, &film, error);
    for (int i = 0; status == BRIO_OK && i < scene->format_count; i++)
        if (scene->format[i]->film)
            status = brio__film_write(film, scene->format[i], &run->frames, FILM_STEM, error);
    brio__film_free(film);
    brio__motion_free(motion);
    run->checkpoint.totals.output += brio__seconds() - before;
    return status;
}

static double peak_memory(void)
{
#ifdef __linux__
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024.0 * (double)usage.ru_maxrss : 0;
#else
    return 0;
#endif
}

/* What was written stays, and so does the last checkpoint, which is of a sane state and of one
 * whose rows and frames are whole. */
static BrioStatus leave_outputs(Run *run, BrioError *error)
{
    run->checkpoint.totals.solve = run->sim->stepper->solver->totals;
    return brio__partition_agree(run->partition, sync_outputs(run, error));
}

/* The last checkpoint, unless writing is what failed: then the tables go back to the one before,
 * which also makes room for the verdict on a full disk. */
static BrioStatus end(Run *run, BrioStatus status, BrioError *error)
{
    BrioRunResult *r = run->result;
    if (status != BRIO_ERROR_FILE) {
        BrioError last = {0};
        BrioStatus saved =
            status == BRIO_EXPLODED || run->partial ? leave_outputs(run, &last) : save(run, &last);
        if (saved == BRIO_OK)
            saved = brio__partition_agree(run->partition, write_films(run, &last));
        if (saved != BRIO_OK) {
            status = saved;
            if (error) *error = last;
        }
    }
    r->verdict = status == BRIO_OK         ? BRIO_VERDICT_COMPLETED
                 : status == BRIO_STOPPED  ? BRIO_VERDICT_STOPPED
                 : status == BRIO_EXPLODED ? BRIO_VERDICT_EXPLODED
                                           : BRIO_VERDICT_FAILED;
    if (status == BRIO_STOPPED)
        snprintf(r->reason, sizeof r->reason, "stopped on request at t = %g s",
                 run->sim->state->time);
    else if (status != BRIO_OK)
        snprintf(r->reason, sizeof r->reason, "%s",
                 error && error->message[0] ? error->message : brio_status_text(status));
    if (status == BRIO_ERROR_FILE) {
        brio__writer_cut(&run->energy, run->checkpoint.energy.length);
        brio__writer_cut(&run->probes, run->checkpoint.probes.length);
        brio__writer_cut(&run->moved, run->checkpoint.motion.length);
    }
    run->checkpoint.totals.wall = run->earlier + brio__seconds() - run->start;
    run->peak = peak_memory();
    brio__partition_sum(run->partition, &run->peak, 1);
    BrioError unwritten = {0};
    BrioStatus told = write_json(run, r->verdict, r->reason[0] ? r->reason : NULL, &unwritten);
    if (told != BRIO_OK && status == BRIO_OK) {
        status = told;
        r->verdict = BRIO_VERDICT_FAILED;
        snprintf(r->reason, sizeof r->reason, "%s", unwritten.message);
        if (error) *error = unwritten;
    }
    return status;
}

/* The first process opens and locks it; the others find it there. */
static BrioStatus open_folder(Run *run, BrioError *error)
{
    const BrioRunOptions *o = run->options;
    BRIO_CHECK(brio__partition_agree(
        run->partition, run->is_root
                            ? brio__results_open(o->out, o->force, o->resume, &run->folder, error)
                            : BRIO_OK));
    return brio__partition_agree(
        run->partition,
        run->is_root ? BRIO_OK : brio__folder_open(o->out, false, &run->folder, error));
}

/* The simulation: of the scene or, of processes that run it together, of this one's partition. */
static BrioStatus make_sim(Run *run, BrioError *error)
{
    const char *from = run->options->from;
    if (run->scene) {
        run->own_hash = brio__scene_hash(run->scene, run->scene->system, run->scene->state);
        if (from)
            BRIO_CHECK(brio__checkpoint_start(from, run->scene->def.h, run->scene->state, error));
        run->result->steps = brio__scene_steps(run->scene);
        run->checkpoint.scene =
            from ? brio__scene_hash(run->scene, run->scene->system, run->scene->state)
                 : run->own_hash;
        BRIO_CHECK(brio__seen_create(run->scene, run->result->steps, &run->motion, error));
    }
#ifdef BRIO_HAVE_MPI
    if (brio__processes_launched()) {
        int32_t *local_of;
        BRIO_CHECK(brio__cluster_split(&run->scene, run->checkpoint.scene, &local_of, error));
        if (local_of) brio__seen_renumber(run->motion, run->scene->system, local_of);
        brio__free(local_of);
        run->partition = run->scene->system->partition;
        run->is_root = run->partition->process == 0;
        run->result->steps = brio__scene_steps(run->scene);
        run->checkpoint.scene = run->partition->scene;
    }
#endif
    BRIO_CHECK(brio__scene_sim(run->scene, &run->sim, error));
    if (from) BRIO_CHECK(brio__checkpoint_recall(from, run->own_hash, run->sim, error));
    brio_builder_free(run->sim->system->plans); /* runs are not edited */
    run->sim->system->plans = NULL;
    return BRIO_OK;
}

static BrioStatus prepare(Run *run, BrioError *error)
{
    const BrioRunOptions *o = run->options;
    BrioCheckpoint *c = &run->checkpoint;
    size_t world = 3 * (size_t)run->sim->system->vertex_count;
    run->x = brio__alloc(world, sizeof *run->x);
    run->v = brio__alloc(world, sizeof *run->v);
    if (!run->x || !run->v) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    double stride = run->motion ? (double)run->motion->stride : 0;
    brio__partition_sum(run->partition, &stride, 1);
    c->motion_stride = (int64_t)stride;
    if (run->motion &&
        !(run->seen = brio__alloc(6 * (size_t)run->motion->vertex_count + 1, sizeof *run->seen)))
        return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    BRIO_CHECK(brio__inside_create(&run->inside, run->sim, error));
    if (o->exact) {
        if (brio__exact_create(run->sim->system, &run->watch.exact) != BRIO_OK)
            return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
        run->sim->stepper->observe = brio__exact_watch;
        run->sim->stepper->observer = &run->watch;
    }
    if (brio__explosion_begin(&run->explosion, run->sim, run->scene->end) != BRIO_OK)
        return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    snprintf(c->isa, sizeof c->isa, "%s", brio_isa());
    brio__inside_leave(&run->inside); /* from here on the run leaves traces */
    BRIO_CHECK(open_folder(run, error));
    if (brio__partition_any(run->partition,
                            run->is_root && o->resume && brio__checkpoint_exists(&run->folder))) {
        BRIO_CHECK(brio__partition_agree(
            run->partition,
            brio__checkpoint_read(&run->folder, c, run->sim->state, run->partition, error)));
        run->result->resumed = true;
        run->time_room = run->frames_saved = c->frame_count;
        run->sim->stepper->solver->totals = c->totals.solve;
        run->checkpoint_step = run->sim->state->step;
        run->result->complete_before = c->energy.length > 0 && is_done(run);
        run->explosion.sane_step = run->sim->state->step;
        run->explosion.sane_time = run->sim->state->time;
    }
    run->checkpoint_at = brio__seconds();
    run->earlier = c->totals.wall;
    c->totals.sessions++;
    run->result->step = run->sim->state->step;
    return BRIO_OK;
}

/* How far it came. */
static void fill_result(const Run *run)
{
    BrioRunResult *result = run->result;
    result->step = run->sim->state->step;
    result->steps = expected_steps(run);
    result->time = run->sim->state->time;
    result->totals = run->checkpoint.totals;
    result->frame_count = run->checkpoint.frame_count;
    result->exact = run->watch;
    result->exact.exact = NULL;
}

/* Of a run that another thread ends: all but the simulation stays as it is. */
static BrioStatus end_inside(const void *run, BrioSim *sim, BrioRunResult *result, BrioError *error)
{
    Run own = *(const Run *)run;
    *result = *own.result;
    own.result = result;
    own.sim = sim;
    BrioStatus status = end(&own, BRIO_STOPPED, error);
    fill_result(&own);
    return status;
}

BrioStatus brio__run(BrioScene *scene, const BrioRunOptions *options, BrioRunResult *result,
                     BrioError *error)
{
    BrioError own = {0};
    if (!error) error = &own;
    *result = (BrioRunResult){0};
    Run run = {.scene = scene,
               .is_root = true,
               .options = options,
               .result = result,
               .folder = {.fd = -1},
               .frames = {.fd = -1},
               .start = brio__seconds()};
    run.inside =
        (BrioInside){.run = &run, .tell = tell_inside, .end = end_inside, .options = options};
    BrioStatus status = make_sim(&run, error);
    if (status != BRIO_OK) {
        brio__motion_free(run.motion);
        if (run.scene != scene) brio__scene_free(run.scene);
        return status;
    }
    locale_t before = brio__c_locale_enter(); /* of every file that it writes */
    status = prepare(&run, error);
    if (status == BRIO_OK) {
        status = begin(&run, error);
        if (status == BRIO_OK) {
            report_progress(&run, NULL, 0);
            status = loop(&run, error);
        }
        if (result->started) status = end(&run, status, error);
    }
    brio__c_locale_leave(before);
    fill_result(&run);
    brio__exact_free(run.watch.exact);
    brio__writer_close(&run.energy);
    brio__writer_close(&run.probes);
    brio__writer_close(&run.moved);
    brio__motion_free(run.motion);
    brio__folder_close(&run.frames);
    brio__folder_close(&run.folder);
    brio__inside_free(&run.inside);
    brio__free(run.checkpoint.frame_time);
    brio__free(run.x);
    brio__free(run.v);
    brio__free(run.seen);
    brio_sim_free(run.sim);
    if (run.scene != scene) brio__scene_free(run.scene);
    return status;
}
