/* One method with one step size, run from the initial state to the end: what it does to energy and
 * momenta, what it costs, and its motion for the report. */
#include "compare_parts.h"

#include "progress.h"
#include "report.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MAX_SAMPLES = 20000 }; /* of a trial */
/* The motion is shown while its energy is below so many times what the scene can have: what
 * explodes leaves the picture and would make everything else a dot. */
enum { MAX_SHOWN = 10 };

/* ---- trials ----------------------------------------------------------------------------- */

/* Without gravity, whose zero is anywhere. */
static double motion_energy(const BrioLedger *l)
{
    return l->kinetic + fabs(l->elastic) + fabs(l->attachment) + fabs(l->contact);
}

BrioStatus comparison_load(const Comparison *c, const char *method, const char *size,
                           BrioScene **scene, BrioError *error)
{
    const char *sets[MAX_SETS + 2];
    int count = 0;
    for (; count < c->given.set_count; count++) sets[count] = c->given.sets[count];
    if (method) sets[count++] = method;
    if (size) sets[count++] = size;
    return brio__scene_load(c->given.name, sets, count, scene, error);
}

/* Of gyration, about the centre of mass. */
static void learn_radius(Comparison *c, BrioSim *sim, const BrioLedger *first)
{
    const double *x = brio__sim_world(sim);
    double sum = 0;
    for (int64_t v = 0; v < c->vertex_count; v++) {
        double r = brio__hypot_distance3(x + 3 * v, first->centre);
        sum += c->vertex_mass[v] * r * r;
    }
    c->radius = sqrt(sum / c->mass);
}

/* What holds for all trials, from the first that can be made. */
static BrioStatus learn(Comparison *c, BrioSim *sim, const BrioLedger *first)
{
    const BrioSystem *s = sim->system;
    const BrioDissipation *losses = sim->stepper->dissipation;
    if (c->is_known) return BRIO_OK;
    c->vertex_count = s->body_vertices;
    c->vertex_mass = brio__alloc((size_t)s->body_vertices, sizeof(double));
    if (!c->vertex_mass) return BRIO_ERROR_MEMORY;
    /* that of an affine body is spread over its vertices */
    for (int i = 0; i < s->body_count; i++) {
        int64_t count, at = brio__body_masses(&s->body[i], &count);
        for (int64_t v = 0; v < s->body[i].count; v++) {
            double m = count == s->body[i].count
                           ? s->vertex_mass[at + v]
                           : s->vertex_mass[at] * (double)count / (double)s->body[i].count;
            c->vertex_mass[s->body[i].first + v] = m;
            c->mass += m;
        }
    }
    learn_radius(c, sim, first);
    c->first_motion = motion_energy(first);
    c->gravity =
        s->gravity_term < 0 ? 0 : brio__hypot3(sim->state->param + s->term[s->gravity_term].params);
    c->keeps_linear = c->keeps_angular =
        c->gravity == 0 && s->fixed_count == 0 && s->obstacle_count == 0;
    for (int i = 0; i < losses->count; i++) {
        c->keeps_linear &= !losses->damper[i].model->brakes_translation;
        c->keeps_angular &= !losses->damper[i].model->brakes_rotation;
    }
    c->is_known = true;
    return BRIO_OK;
}

static void observe(const Comparison *c, Trial *t, const BrioLedger *l, const BrioLedger *first,
                    bool keep)
{
    double change = l->total - first->total;
    double linear = brio__hypot_distance3(l->momentum, first->momentum);
    double angular = brio__hypot_distance3(l->angular, first->angular);
    t->largest = fmax(t->largest, motion_energy(l));
    t->value[STEPS] = (double)l->step;
    t->value[REACHED] = l->time;
    t->value[CHANGE] = change;
    t->value[ABOVE] = fmax(t->value[ABOVE], change); /* from NAN on */
    t->value[REMAINDER] = l->remainder;
    t->value[UNFINISHED] = l->unfinished;
    t->value[ADDED] = l->added;
    t->value[DISSIPATED] = l->dissipated;
    if (c->keeps_linear) t->value[LINEAR] = fmax(t->value[LINEAR], linear);
    if (c->keeps_angular) t->value[ANGULAR] = fmax(t->value[ANGULAR], angular);
    if (!keep) return;
    const double sample[CURVE_COUNT] = {
        [CURVE_TIME] = l->time,  [CURVE_CHANGE] = change,   [CURVE_KINETIC] = l->kinetic,
        [CURVE_LINEAR] = linear, [CURVE_ANGULAR] = angular, [CURVE_ALPHA] = l->alpha};
    for (int k = 0; k < CURVE_COUNT; k++) t->curve[k][t->sample_count] = sample[k];
    t->sample_count++;
}

static void show(Comparison *c, const Trial *t, const BrioLedger *l)
{
    double now = brio__seconds();
    double fraction = c->planned_steps > 0 ? c->done_steps / c->planned_steps : 1;
    double wall = now - c->started;
    char spent[32], left[48] = "";
    if (c->quiet || now - c->shown < (isatty(STDERR_FILENO) ? 0.1 : 10)) return;
    c->shown = now;
    seconds_text(wall, spent, sizeof spent);
    if (fraction > 0 && fraction < 1) {
        char eta[24];
        seconds_text(wall / fraction * (1 - fraction), eta, sizeof eta);
        snprintf(left, sizeof left, ", ETA %s", eta);
    }
    progress_text(
        "%3.0f %%  %d of %d: %s, h = %s  t = %.3f of %g s  wall %s%s  E = %.5g J  %d iterations",
        floor(100 * fraction), (int)(t - c->trial) + 1, c->trial_count, t->method->label,
        t->size->text, l->time, c->scene->end, spent, left, l->total, l->iterations);
}

/* The motion goes to a file without a name, from which the report reads it. Reports do without it
 * where this fails. */
static void tape_drop(Comparison *c)
{
    brio__motion_free(c->tape);
    if (c->tape_file) fclose(c->tape_file);
    c->tape = NULL;
    c->tape_file = NULL;
}

/* A frame whenever an instant k/fps is reached or passed; `before` is the time of the last step,
 * negative at the start. */
static void tape_frame(Comparison *c, const Trial *t, const BrioSim *sim, double before)
{
    const BrioState *state = sim->state;
    double fps = c->tape ? c->tape->fps : 1;
    double now = floor(state->time * fps + 1e-6);
    double last = before < 0 ? -1 : floor(before * fps + 1e-6);
    if (!c->tape || now <= last || c->tape_instants++ % c->tape->stride) return;
    brio__system_positions(sim->system, state, state->q, state->time, t->x);
    brio__motion_frame(c->tape, state->time, t->x, NULL);
    if (fwrite(c->tape->buffer, 1, c->tape->frame_bytes, c->tape_file) != c->tape->frame_bytes)
        tape_drop(c);
}

/* All trials if they are few. Otherwise one of each method: that of the largest step, where methods
 * differ most. */
static bool wants_motion(const Comparison *c, const Trial *t)
{
    if (c->trial_count <= REPORT_MAX_RUNS) return true;
    return c->tape_count < REPORT_MAX_RUNS && t->size == &c->size[0];
}

static void tape_begin(Comparison *c, const Trial *t, const BrioScene *scene, const BrioSim *sim,
                       int64_t steps)
{
    char *head = NULL;
    size_t size = 0;
    c->tape_instants = 0;
    if (!scene->motion || !wants_motion(c, t)) return;
    brio__system_positions(sim->system, sim->state, sim->state->q, sim->state->time, t->x);
    c->tape_file = tmpfile();
    bool whole = c->tape_file &&
                 brio__motion_create(sim->system, scene->rest, t->x, scene->fps,
                                     fmin(scene->end * scene->fps, (double)steps) + 1, false,
                                     &c->tape) == BRIO_OK &&
                 brio__motion_head(c->tape, &head, &size) == BRIO_OK &&
                 fwrite(head, 1, size, c->tape_file) == size;
    free(head);
    if (!whole)
        tape_drop(c);
    else
        tape_frame(c, t, sim, -1);
}

static void tape_end(Comparison *c, Trial *t)
{
    if (c->tape && fflush(c->tape_file) == 0) {
        FILE *file = c->tape_file;
        c->tape_file = NULL; /* the motion closes it */
        if (brio__motion_read(file, "the motion", &t->motion, NULL) == BRIO_OK) c->tape_count++;
    }
    tape_drop(c);
}

static TrialOutcome stopped(Trial *t, const BrioSim *sim)
{
    snprintf(t->reason, sizeof t->reason, "stopped on request at t = %.5g s", sim->state->time);
    return TRIAL_STOPPED;
}

/* Of all threads. */
static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Steps to the end; what stops it on the way is a result. */
static TrialOutcome advance(Comparison *c, Trial *t, BrioSim *sim, const BrioLedger *first,
                            int64_t steps)
{
    BrioLedger l = *first;
    int64_t every = steps / MAX_SAMPLES + 1;
    double h = t->size->h;
    double end = c->scene->end;
    double fall = 0.5 * c->mass * c->gravity * end * c->gravity * end;
    bool shorter = fabs((double)steps * h - end) > 1e-6 * h, sane = true;
    t->value[WALL] = t->value[CPU] = t->value[HALVED] = 0;
    brio_sim_watch(sim, stop_watch, NULL);
    for (int64_t k = 1; k <= steps; k++) {
        if (stop_wanted) return stopped(t, sim);
        double clock = brio__seconds(), cpu = cpu_seconds(), before = sim->state->time;
        BrioStatus status =
            brio_sim_step_by(sim, k == steps && shorter ? end - sim->state->time : h, NULL);
        t->value[WALL] += brio__seconds() - clock;
        t->value[HALVED] += sim->stepper->halvings > 0;
        c->done_steps++;
        if (status == BRIO_STOPPED) return stopped(t, sim);
        if (status != BRIO_OK) {
            snprintf(t->reason, sizeof t->reason, "failed at t = %.5g s: %s", sim->state->time,
                     brio_sim_reason(sim)[0] ? brio_sim_reason(sim) : brio_status_text(status));
            return TRIAL_FAILED;
        }
        if (brio_sim_ledger(sim, &l) != BRIO_OK) {
            snprintf(t->reason, sizeof t->reason,
                     "exploded at t = %.5g s: the energy is not a finite number", sim->state->time);
            return TRIAL_EXPLODED;
        }
        t->value[CPU] += cpu_seconds() - cpu;
        observe(c, t, &l, first, k % every == 0 || k == steps);
        if (comparison_track(c, t, sim, &l) != BRIO_OK) {
            snprintf(t->reason, sizeof t->reason, "%s", brio_status_text(BRIO_ERROR_MEMORY));
            return TRIAL_FAILED;
        }
        double usual = c->first_motion + fall + fabs(l.added);
        sane &= !(usual > 0) || motion_energy(&l) < MAX_SHOWN * usual;
        if (sane) tape_frame(c, t, sim, before);
        if (usual > 0 && motion_energy(&l) > TRIAL_EXPLOSION * usual) {
            snprintf(t->reason, sizeof t->reason,
                     "exploded at t = %.5g s: kinetic and elastic energy passed %.3g J", l.time,
                     TRIAL_EXPLOSION * usual);
            return TRIAL_EXPLODED;
        }
        show(c, t, &l);
    }
    return TRIAL_COMPLETED;
}

static BrioStatus start(Comparison *c, Trial *t, BrioSim *sim, int64_t steps, BrioLedger *first)
{
    size_t room = (size_t)(steps / (steps / MAX_SAMPLES + 1)) + 3;
    BRIO_CHECK(brio_sim_ledger(sim, first));
    BRIO_CHECK(learn(c, sim, first));
    t->x = brio__alloc(3 * (size_t)sim->system->vertex_count, sizeof(double));
    bool whole = t->x != NULL;
    t->sample_room = (int64_t)room;
    for (int k = 0; k < CURVE_COUNT; k++)
        whole &= (t->curve[k] = brio__alloc(room, sizeof(double))) != NULL;
    return whole ? BRIO_OK : BRIO_ERROR_MEMORY;
}

static void take_steps(Comparison *c, Trial *t, const BrioScene *scene, BrioSim *sim,
                       const BrioLedger *first, int64_t steps)
{
    observe(c, t, first, first, true);
    tape_begin(c, t, scene, sim, steps);
    t->outcome = advance(c, t, sim, first, steps);
    tape_end(c, t);
    t->value[NEWTON] = (double)sim->stepper->solver->totals.iterations;
    if (t->value[STEPS] > 0) t->value[STEP_TIME] = 1000 * t->value[WALL] / t->value[STEPS];
    if (t->value[WALL] > 0) t->value[SPEED] = t->value[REACHED] / t->value[WALL];
    brio__system_positions(sim->system, sim->state, sim->state->q, sim->state->time, t->x);
}

void comparison_perform(Comparison *c, Trial *t, const BrioFolder *folder)
{
    BrioScene *scene = NULL;
    BrioSim *sim = NULL;
    BrioError error = {0};
    BrioLedger first;
    double before = c->done_steps, planned = ceil(c->scene->end / t->size->h - 1e-6);
    BrioStatus status =
        comparison_load(c, t->method->assignment, t->size->assignment, &scene, &error);
    if (status == BRIO_OK) status = brio__scene_sim(scene, &sim, &error);
    int64_t steps = status == BRIO_OK ? brio__scene_steps(scene) : 0;
    if (status == BRIO_OK && (status = start(c, t, sim, steps, &first)) != BRIO_OK)
        brio__error(&error, status, "%s", brio_status_text(status));
    if (status == BRIO_OK && (status = comparison_track(c, t, sim, &first)) != BRIO_OK)
        brio__error(&error, status, "%s", brio_status_text(status));
    if (status == BRIO_OK) {
        uint64_t hash = t == c->reference ? brio__scene_hash(scene, sim->system, sim->state) : 0;
        if (t == c->reference && comparison_kept_reference(c, t, folder, hash)) {
            t->outcome = TRIAL_COMPLETED;
            c->reference_was_kept = true;
        } else {
            take_steps(c, t, scene, sim, &first, steps);
            if (t == c->reference) comparison_keep_reference(c, folder, hash);
        }
    } else {
        t->outcome = TRIAL_REFUSED;
        snprintf(t->reason, sizeof t->reason, "%s", error.message);
    }
    c->done_steps = before + planned;
    brio_sim_free(sim);
    brio__scene_free(scene);
}
