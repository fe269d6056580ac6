/* Rows and frames of a simulation as it goes (record.h), by the writers of a run. */
#include "record.h"

#include "../number.h"
#include "summary.h"
#include "tables.h"
#include "../output/motion.h"

#include <stdlib.h>
#include <string.h>

typedef struct Note {
    int64_t step;
    double time;
    char *text;
} Note;

struct BrioRecord {
    const BrioScene *scene;
    BrioSim *sim;
    BrioFolder folder;
    BrioWriter energy, probes, moved;
    BrioMotionFile *motion;
    double *x, *v;      /* world */
    int64_t first_step; /* of the simulation, where the record begins, */
    double first_time;  /* and when */
    double instant;     /* k of the last frame */
    BrioRunTotals totals;
    BrioSolveTotals before; /* of the solver */
    double start;           /* on the clock */
    int64_t steps, frames;
    double time;
    int note_count, note_room;
    Note *note;
};

static void free_record(BrioRecord *r)
{
    if (!r) return;
    brio__writer_close(&r->energy);
    brio__writer_close(&r->probes);
    brio__writer_close(&r->moved);
    brio__folder_close(&r->folder);
    brio__motion_free(r->motion);
    for (int i = 0; i < r->note_count; i++) brio__free(r->note[i].text);
    brio__free(r->note);
    brio__free(r->x);
    brio__free(r->v);
    brio__free(r);
}

void brio__record_note(BrioRecord *r, const char *text)
{
    if (r->note_count >= r->note_room) {
        int room = 2 * r->note_room + 16;
        Note *grown = brio__realloc(r->note, (size_t)r->note_count, (size_t)room, sizeof *r->note);
        if (!grown) return;
        r->note = grown;
        r->note_room = room;
    }
    char *copy = brio__strdup(text);
    if (copy) r->note[r->note_count++] = (Note){r->steps, r->time, copy};
}

double brio__record_time(const BrioRecord *r) { return r->time; }

/* ---- run.json --------------------------------------------------------------------------- */

static void put_notes(void *user, BrioJson *json)
{
    const BrioRecord *r = user;
    brio__json_open(json, "live", '{');
    brio__json_integer(json, "from_step", r->first_step);
    brio__json_real(json, "from_time", r->first_time);
    brio__json_open(json, "changes", '[');
    for (int i = 0; i < r->note_count; i++) {
        brio__json_open(json, NULL, '{');
        brio__json_integer(json, "step", r->note[i].step);
        brio__json_real(json, "time", r->note[i].time);
        brio__json_text(json, "change", r->note[i].text);
        brio__json_close(json, '}');
    }
    brio__json_close(json, ']');
    brio__json_close(json, '}');
}

/* What the solver has done since the beginning. */
static void count_work(BrioRecord *r)
{
    const BrioSolveTotals *now = &r->sim->stepper->solver->totals, *then = &r->before;
    BrioSolveTotals *t = &r->totals.solve;
    *t = *now;
#define X(name) t->name -= then->name;
    BRIO_PHASE_LIST(X)
#undef X
    t->minimisations -= then->minimisations;
    t->iterations -= then->iterations;
    t->evaluations -= then->evaluations;
    t->roundoff -= then->roundoff;
    t->friction_renewals -= then->friction_renewals;
    t->friction_open -= then->friction_open;
    t->analyses -= then->analyses;
    t->factorisations -= then->factorisations;
    t->searches -= then->searches;
    t->candidates -= then->candidates;
    r->totals.wall = brio__seconds() - r->start;
}

static BrioStatus write_json(BrioRecord *r, BrioVerdict verdict, const char *reason,
                             const BrioExplosion *explosion, BrioError *error)
{
    count_work(r);
    BrioRunSummary summary = {.scene = r->scene,
                              .sim = r->sim,
                              .verdict = verdict,
                              .reason = reason,
                              .totals = &r->totals,
                              .steps = r->steps,
                              .frames = r->frames,
                              .time = r->time,
                              .explosion = explosion,
                              .more = put_notes,
                              .user = r};
    return brio__summary_write(&r->folder, &summary, error);
}

/* ---- rows and frames -------------------------------------------------------------------- */

static BrioStatus put_frame(BrioRecord *r, BrioError *error)
{
    const BrioState *state = r->sim->state;
    brio__system_velocities(r->sim->system, state, state->v, state->time, r->v);
    brio__motion_frame(r->motion, r->time, r->x, r->v);
    r->frames++;
    return brio__writer_put(&r->moved, (const char *)r->motion->buffer, r->motion->frame_bytes,
                            error);
}

static BrioStatus put_row(BrioRecord *r, const BrioLedger *ledger, BrioError *error)
{
    const BrioState *state = r->sim->state;
    BrioLedger own = *ledger;
    own.step = r->steps;
    own.time = r->time;
    r->totals.last_energy = own.total;
    brio__system_positions(r->sim->system, state, state->q, state->time, r->x);
    BRIO_CHECK(brio__energy_row(&r->energy, r->sim, &own, error));
    if (!r->scene->probe_count) return BRIO_OK;
    return brio__probes_row(&r->probes, r->scene, r->sim->system, r->steps, r->time, r->x, error);
}

BrioStatus brio__record_step(BrioRecord *r, const BrioLedger *ledger, BrioError *error)
{
    if ((double)r->moved.written.length + (double)r->motion->frame_bytes > BRIO_MOTION_MAX)
        return brio__error(error, BRIO_ERROR_TOO_LARGE,
                           "the motion has reached its largest size, %.0f MB",
                           BRIO_MOTION_MAX / 1e6);
    double clock = brio__seconds();
    int halvings = r->sim->stepper->halvings;
    r->steps++;
    r->time = r->sim->state->time - r->first_time;
    r->totals.halved_steps += halvings > 0;
    r->totals.deepest_halving = BRIO_MAX(r->totals.deepest_halving, halvings);
    locale_t before = brio__c_locale_enter();
    BrioStatus status = put_row(r, ledger, error);
    double instant = floor(r->time * r->scene->fps + 1e-6); /* times carry round-off */
    if (status == BRIO_OK && instant > r->instant) {
        r->instant = instant;
        status = put_frame(r, error);
    }
    brio__c_locale_leave(before);
    r->totals.output += brio__seconds() - clock;
    return status;
}

/* ---- the record ------------------------------------------------------------------------- */

static BrioStatus open_tables(BrioRecord *r, BrioError *error)
{
    BRIO_CHECK(brio__writer_open(&r->folder, "energy.csv", (BrioExtent){0}, &r->energy, error));
    BRIO_CHECK(brio__energy_head(&r->energy, r->sim, error));
    if (r->scene->probe_count) {
        BRIO_CHECK(brio__writer_open(&r->folder, "probes.csv", (BrioExtent){0}, &r->probes, error));
        BRIO_CHECK(brio__probes_head(&r->probes, r->scene, error));
    }
    char *bytes = NULL;
    size_t size;
    BRIO_CHECK(brio__writer_open(&r->folder, BRIO_MOTION_NAME, (BrioExtent){0}, &r->moved, error));
    if (brio__motion_head(r->motion, &bytes, &size) != BRIO_OK) return brio__no_memory(error);
    BrioStatus status = brio__writer_put(&r->moved, bytes, size, error);
    free(bytes);
    return status;
}

static BrioStatus begin(BrioRecord *r, const char *out, BrioError *error)
{
    const BrioState *state = r->sim->state;
    BrioLedger ledger;
    size_t world = 3 * (size_t)r->sim->system->vertex_count;
    r->x = brio__alloc(world + 1, sizeof *r->x);
    r->v = brio__alloc(world + 1, sizeof *r->v);
    if (!r->x || !r->v) return brio__no_memory(error);
    if (brio_sim_ledger(r->sim, &ledger) != BRIO_OK)
        return brio__error(error, BRIO_NOT_FINITE,
                           "the energy is not a finite number: restart, then record");
    brio__system_positions(r->sim->system, state, state->q, state->time, r->x);
    if (brio__motion_create(r->sim->system, r->scene->rest, r->x, r->scene->fps, 0,
                            r->scene->velocities, &r->motion) != BRIO_OK)
        return brio__no_memory(error);
    BRIO_CHECK(brio__results_open(out, false, false, &r->folder, error));
    r->totals.initial_energy = ledger.total;
    r->totals.sessions = 1;
    BRIO_CHECK(open_tables(r, error));
    BRIO_CHECK(put_row(r, &ledger, error));
    BRIO_CHECK(put_frame(r, error));
    return write_json(r, BRIO_VERDICT_RUNNING, NULL, NULL, error);
}

BrioStatus brio__record_begin(const BrioScene *scene, BrioSim *sim, const char *out,
                              BrioRecord **record, BrioError *error)
{
    BrioRecord *r = brio__calloc(1, sizeof *r);
    *record = NULL;
    if (!r) return brio__no_memory(error);
    r->scene = scene;
    r->sim = sim;
    r->folder.fd = -1;
    r->first_step = sim->state->step;
    r->first_time = sim->state->time;
    r->before = sim->stepper->solver->totals;
    r->start = brio__seconds();
    locale_t before = brio__c_locale_enter();
    BrioStatus status = begin(r, out, error);
    brio__c_locale_leave(before);
    if (status == BRIO_OK)
        *record = r;
    else
        free_record(r);
    return status;
}

BrioStatus brio__record_end(BrioRecord *r, BrioVerdict verdict, const char *reason,
                            const BrioExplosion *explosion, BrioError *error)
{
    BrioExplosion own = explosion ? *explosion : (BrioExplosion){0};
    own.step -= r->first_step;
    own.time -= r->first_time;
    own.sane_step = BRIO_MAX(own.sane_step - r->first_step, 0);
    own.sane_time = fmax(own.sane_time - r->first_time, 0);
    locale_t before = brio__c_locale_enter();
    BrioStatus status = brio__writer_sync(&r->energy, error);
    if (status == BRIO_OK && r->probes.file) status = brio__writer_sync(&r->probes, error);
    if (status == BRIO_OK) status = brio__writer_sync(&r->moved, error);
    BrioStatus told = write_json(r, verdict, reason, &own, status == BRIO_OK ? error : NULL);
    brio__c_locale_leave(before);
    free_record(r);
    return status == BRIO_OK ? told : status;
}
