/* Steps, paced by a clock: simulated time goes on as fast as the wall's (times `speed`), or as fast
 * as steps can be done. Between steps it carries out orders, and leaves a frame for browsers, sixty
 * times a second on average. It never waits for a browser. */
#include "engine.h"

#include "pace.h"

#include <string.h>
#include <unistd.h>

static const double frame_every = 1.0 / 60; /* s */
static const double late = 0.1;             /* s: what is later than that is not caught up */
static const double patience = 0.3;         /* s of a step, before an order may end it */

/* ---- settings --------------------------------------------------------------------------- */

/* The settings of a simulation, as far as browsers can change them. */
typedef struct Kept {
    double h, gravity[3], values[BRIO_MAX_VALUES];
    char integrator[64];
    int count, room; /* of parameters of materials and damping models, and factors of forces */
    struct {
        OrderKind kind;
        int index;
        char name[64];
        double value;
    } * parameter;
} Kept;

static void keep(Kept *k, OrderKind kind, int index, const char *name, double value)
{
    if (k->count == k->room) return;
    k->parameter[k->count].kind = kind;
    k->parameter[k->count].index = index;
    k->parameter[k->count].value = value;
    snprintf(k->parameter[k->count++].name, sizeof k->parameter->name, "%s", name);
}

static void free_kept(Kept *k)
{
    if (k) brio__free(k->parameter);
    brio__free(k);
}

static BrioStatus keep_settings(const Engine *e, Kept **kept, BrioError *error)
{
    const BrioSystem *s = e->sim->system;
    const BrioDissipation *losses = e->sim->stepper->dissipation;
    double value;
    Kept *k = *kept = brio__calloc(1, sizeof *k);
    if (!k) return brio__no_memory(error);
    *k = (Kept){.h = e->h,
                .room = BRIO_MAX_VALUES * (s->body_count + BRIO_MAX_DAMPING) + s->force_count};
    k->parameter = brio__alloc((size_t)k->room + 1, sizeof *k->parameter);
    if (!k->parameter) return brio__no_memory(error);
    snprintf(k->integrator, sizeof k->integrator, "%s", brio_sim_integrator(e->sim, k->values));
    memcpy(k->gravity, e->sim->state->param + s->term[s->gravity_term].params, sizeof k->gravity);
    for (int b = 0; b < s->body_count; b++)
        for (const BrioField *f = s->term[s->body[b].term].energy->fields; f && f->name; f++)
            if (brio_sim_material(e->sim, b, f->name, &value) == BRIO_OK)
                keep(k, ORDER_MATERIAL, b, f->name, value);
    for (int i = 0; brio_sim_damping_type(e->sim, i); i++)
        for (const BrioField *f = losses->damper[i].model->fields; f && f->name; f++)
            if (brio_sim_damping(e->sim, i, f->name, &value) == BRIO_OK)
                keep(k, ORDER_DAMPING, i, f->name, value);
    for (int i = 0; i < s->force_count; i++) keep(k, ORDER_FORCE, i, "", e->factor[i]);
    return BRIO_OK;
}

/* ---- the simulation --------------------------------------------------------------------- */

/* For brio_sim_watch. */
static int watch(void *user, const BrioIteration *iteration)
{
    Engine *e = user;
    (void)iteration;
    if (stop_wanted) return 1;
    return brio__seconds() - e->step_start > patience && hub_is_urgent(e->hub);
}

static void free_simulation(Engine *e)
{
    brio__motion_free(e->seen);
    brio_state_free(e->sane);
    brio_sim_free(e->sim);
    brio__scene_free(e->scene);
    brio__free(e->world);
    brio__free(e->drawn);
    brio__free(e->live);
    brio__free(e->factor);
    free_kept(e->loaded);
}

static BrioStatus make_buffers(Engine *e, BrioError *error)
{
    const BrioSystem *s = e->sim->system;
    const BrioState *state = e->sim->state;
    e->world = brio__alloc(3 * (size_t)s->vertex_count + 1, sizeof *e->world);
    e->factor = brio__alloc((size_t)s->force_count + 1, sizeof *e->factor);
    if (!e->world || !e->factor) return brio__no_memory(error);
    for (int i = 0; i < s->force_count; i++) e->factor[i] = 1;
    e->h = e->sim->h;
    BRIO_CHECK(keep_settings(e, &e->loaded, error));
    brio__system_positions(s, state, state->q, state->time, e->world);
    if (brio__motion_create(s, e->scene->rest, e->world, e->scene->fps, 0, false, &e->seen))
        return brio__no_memory(error);
    e->drawn = brio__alloc(3 * (size_t)e->seen->vertex_count + 1, sizeof *e->drawn);
    if (!e->drawn) return brio__no_memory(error);
    BRIO_CHECK(describe_live(e->sim, &e->live, error));
    BRIO_CHECK(brio_state_copy(state, &e->sane, error));
    return brio__explosion_begin(&e->explosion, e->sim, e->scene->end) == BRIO_OK
               ? BRIO_OK
               : brio__no_memory(error);
}

static void stop_with(Engine *e, const char *text);

/* Creates everything of `e` that belongs to a simulation again, and ends the record of the one
 * before. If this fails, `e` is unchanged. */
static BrioStatus load(Engine *e, BrioError *error)
{
    Engine next = {.hub = e->hub, .given = e->given};
    BrioStatus status =
        brio__scene_load(e->given->name, e->given->sets, e->given->set_count, &next.scene, error);
    if (status == BRIO_OK) status = brio__scene_sim(next.scene, &next.sim, error);
    if (status == BRIO_OK) status = make_buffers(&next, error);
    if (status == BRIO_OK && brio_sim_ledger(next.sim, &next.ledger) != BRIO_OK)
        status = brio__error(error, BRIO_NOT_FINITE,
                             "the energy of the initial state is not a finite number");
    if (status != BRIO_OK) {
        free_simulation(&next);
        return status;
    }
    BrioError lost = {0};
    engine_end_record(e, BRIO_VERDICT_STOPPED, "the simulation was started again", &lost);
    free_simulation(e);
    e->scene = next.scene;
    e->sim = next.sim;
    e->world = next.world;
    e->drawn = next.drawn;
    e->seen = next.seen;
    e->live = next.live;
    e->factor = next.factor;
    e->loaded = next.loaded;
    e->explosion = next.explosion;
    e->sane = next.sane;
    e->ledger = next.ledger;
    e->h = e->sim->h;
    e->generation++;
    e->trouble[0] = 0;
    e->steps = 0;
    e->curve_count = 0;
    memset(e->owner, 0, sizeof e->owner);
    brio_sim_watch(e->sim, watch, e);
    if (lost.status != BRIO_OK) stop_with(e, lost.message);
    return BRIO_OK;
}

BrioStatus engine_create(Engine *e, Hub *hub, const SceneArguments *given, BrioError *error)
{
    *e = (Engine){.hub = hub, .given = given, .playing = true, .speed = 1};
    BRIO_CHECK(load(e, error));
    return describe_scene(e, error);
}

static void forget_changes(Engine *e)
{
    while (e->past_count > 0) brio__free(e->past[--e->past_count]);
    e->other_integrator = false;
}

void engine_free(Engine *e)
{
    free_simulation(e);
    forget_changes(e);
    brio__free(e->past);
}

/* ---- starting again --------------------------------------------------------------------- */

/* What browsers have changed since `was` is set again; the rest stays as the scene says now, and so
 * does what no longer fits (the scene was changed meanwhile). */
static void set_again(Engine *e, const Kept *k, const Kept *was)
{
    for (int i = 0; i < k->count; i++) {
        double now, value = k->parameter[i].value;
        int index = k->parameter[i].index;
        const char *name = k->parameter[i].name;
        if (value == was->parameter[i].value) continue;
        if (k->parameter[i].kind == ORDER_FORCE) {
            if (brio_sim_set_force(e->sim, index, value, NULL) == BRIO_OK) e->factor[index] = value;
        } else if (k->parameter[i].kind == ORDER_DAMPING) {
            brio_sim_set_damping(e->sim, index, name, value, NULL);
        } else if (brio_sim_material(e->sim, index, name, &now) == BRIO_OK && now != value) {
            brio_sim_set_material(e->sim, index, name, value, NULL);
        }
    }
    if (memcmp(k->gravity, was->gravity, sizeof k->gravity))
        brio_sim_set_gravity(e->sim, k->gravity, NULL);
    if (strcmp(k->integrator, was->integrator) || memcmp(k->values, was->values, sizeof k->values))
        brio_sim_set_integrator(e->sim, k->integrator, k->values, NULL);
    if (k->h != was->h) e->h = e->sim->h = k->h;
    brio__explosion_begin(&e->explosion, e->sim, e->scene->end);
    brio_sim_ledger(e->sim, &e->ledger);
    engine_keep_sane(e);
}

BrioStatus engine_restart(Engine *e, bool with_settings, BrioError *error)
{
    Kept *kept = NULL, *was = e->loaded;
    BrioStatus status = keep_settings(e, &kept, error);
    e->loaded = NULL; /* load would free it */
    if (status == BRIO_OK) status = load(e, error);
    if (status == BRIO_OK && with_settings)
        set_again(e, kept, was);
    else if (status == BRIO_OK)
        forget_changes(e);
    if (status != BRIO_OK)
        e->loaded = was;
    else
        free_kept(was);
    free_kept(kept);
    BRIO_CHECK(status);
    engine_anchor(e);
    return describe_scene(e, error);
}

/* ---- steps ------------------------------------------------------------------------------ */

void engine_anchor(Engine *e)
{
    e->wall_anchor = brio__seconds();
    e->time_anchor = e->sim->state->time;
}

static void note_curves(Engine *e)
{
    const BrioLedger *l = &e->ledger;
    CurveRow row = {l->time,
                    l->kinetic,
                    l->elastic + l->contact + l->attachment,
                    l->gravity,
                    l->total,
                    l->target,
                    hypot(hypot(l->momentum[0], l->momentum[1]), l->momentum[2]),
                    hypot(hypot(l->angular[0], l->angular[1]), l->angular[2])};
    if (e->curve_count < ENGINE_CURVE)
        e->curve_count++;
    else
        e->curve_first = (e->curve_first + 1) % ENGINE_CURVE;
    e->curve[(e->curve_first + e->curve_count - 1) % ENGINE_CURVE] = row;
}

static void publish_frame(Engine *e)
{
    note_curves(e);
    Packet *packet = describe_frame(e);
    if (packet) hub_frame(e->hub, packet, e->frame);
}

/* It pauses, and says why. */
static void stop_with(Engine *e, const char *text)
{
    e->playing = false;
    e->steps = 0;
    snprintf(e->trouble, sizeof e->trouble, "%s", text);
}

static void end_record(Engine *e, BrioVerdict verdict, const char *reason)
{
    BrioError error = {0};
    if (!e->record) return;
    if (engine_end_record(e, verdict, reason, &error) != BRIO_OK)
        snprintf(e->trouble, sizeof e->trouble, "%.1200s", error.message);
}

/* Of a state that is about to explode only the settings are kept. */
void engine_keep_sane(Engine *e)
{
    char text[1200];
    bool sane = brio_sim_ledger(e->sim, &e->ledger) == BRIO_OK &&
                !brio__explosion_judge(&e->explosion, e->sim, &e->ledger, text, sizeof text) &&
                e->explosion.sane_step == e->ledger.step;
    if (sane)
        brio_state_assign(e->sane, e->sim->state);
    else
        memcpy(e->sane->param, e->sim->state->param,
               (size_t)e->sane->params * sizeof *e->sane->param);
}

/* Back to the last sane state; hands that have been let go since do not come back. */
static void go_back(Engine *e)
{
    BrioHand hand;
    brio_state_assign(e->sim->state, e->sane);
    for (int h = 0; h < BRIO_MAX_HANDS; h++) {
        bool holds = brio_sim_hand(e->sim, h, &hand) == BRIO_OK;
        if (holds && !e->owner[h]) brio_sim_release(e->sim, h, NULL);
        if (!holds) e->owner[h] = 0;
    }
    brio_sim_ledger(e->sim, &e->ledger);
}

/* Energies of the state as it is, and whether it has exploded: then it goes back. */
static bool is_sane(Engine *e)
{
    char text[1500];
    bool finite = brio_sim_ledger(e->sim, &e->ledger) == BRIO_OK;
    bool exploded = brio__explosion_judge(&e->explosion, e->sim, &e->ledger, text, 1200) || !finite;
    if (!exploded && e->explosion.sane_step == e->ledger.step)
        brio_state_assign(e->sane, e->sim->state);
    if (!exploded) return true;
    if (!e->explosion.exploded) {
        e->explosion.exploded = true;
        snprintf(text, sizeof text, "the energy is not a finite number after step %lld",
                 (long long)e->ledger.step);
    }
    end_record(e, BRIO_VERDICT_EXPLODED, text);
    go_back(e);
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used,
             ". It is back at t = %.4g s: change something and play on, or restart",
             e->ledger.time);
    stop_with(e, text);
    describe_settings(e);
    publish_frame(e);
    return false;
}

static void record_step(Engine *e)
{
    BrioError error = {0};
    if (!e->record) return;
    BrioStatus status = brio__record_step(e->record, &e->ledger, &error);
    if (status == BRIO_OK) return;
    char text[1200];
    snprintf(text, sizeof text, "the record ended: %.1000s", error.message);
    stop_with(e, text);
    end_record(e, status == BRIO_ERROR_TOO_LARGE ? BRIO_VERDICT_COMPLETED : BRIO_VERDICT_FAILED,
               error.message);
    describe_settings(e);
}

static void average(double *mean, double value)
{
    *mean = *mean > 0 ? 0.9 * *mean + 0.1 * value : value;
}

static void step(Engine *e)
{
    char text[1400];
    double before = e->sim->state->time;
    e->step_start = brio__seconds();
    BrioStatus status = brio_sim_step_by(e->sim, e->h, NULL);
    double now = brio__seconds();
    if (status == BRIO_STOPPED) return; /* orders wait, or it ends */
    if (status != BRIO_OK) {
        const char *reason = brio_sim_reason(e->sim);
        snprintf(text, sizeof text,
                 "step %lld (from t = %.6g s, h = %.6g s) cannot be done: %.1100s",
                 (long long)e->sim->state->step + 1, before, e->h,
                 reason[0] ? reason : brio_status_text(status));
        if (!is_sane(e)) return; /* that is why */
        stop_with(e, text);
        describe_settings(e);
        return;
    }
    if (e->steps > 0) e->steps--;
    average(&e->step_seconds, now - e->step_start);
    bool due = pace_frame_is_due(&e->frame_due, now, frame_every) || !e->playing;
    if (!due && !e->record) return;
    if (!is_sane(e)) return;
    record_step(e);
    if (due) publish_frame(e);
}

/* Seconds until the next step is due; it is never caught up with more than a little. */
static double due_in(Engine *e)
{
    double now = brio__seconds();
    if (!e->playing || isinf(e->speed)) return 0;
    double next = e->sim->state->time + e->h - e->time_anchor;
    double in = e->wall_anchor + next / e->speed - now;
    if (in < -late) {
        e->wall_anchor = now;
        e->time_anchor = e->sim->state->time + e->h;
    }
    return in;
}

static void measure_pace(Engine *e, double *wall, double *time)
{
    double now = brio__seconds(), since = now - *wall;
    if (since < 0.5) return;
    e->pace = (e->sim->state->time - *time) / since;
    *wall = now;
    *time = e->sim->state->time;
}

static bool take_orders(Engine *e)
{
    Order order;
    int count = 0;
    for (; count < HUB_ORDERS && hub_take(e->hub, &order); count++) engine_apply(e, &order);
    if (e->news) describe_settings(e);
    return count > 0;
}

static void begin_with_first_browser(Engine *e)
{
    pthread_mutex_lock(&e->hub->mutex);
    e->begun = e->hub->drawn;
    pthread_mutex_unlock(&e->hub->mutex);
    if (e->begun) engine_anchor(e);
}

static bool is_ended(Hub *hub)
{
    pthread_mutex_lock(&hub->mutex);
    bool ended = hub->end;
    pthread_mutex_unlock(&hub->mutex);
    return ended;
}

void *engine_work(void *user)
{
    Engine *e = user;
    double wall = brio__seconds(), time = 0;
    publish_frame(e);
    while (!is_ended(e->hub)) {
        if (take_orders(e) && !e->playing && !e->steps) publish_frame(e);
        if (!e->begun) begin_with_first_browser(e);
        measure_pace(e, &wall, &time);
        if ((!e->playing && !e->steps) || !e->begun) {
            hub_wait(e->hub, e->begun ? 0.5 : 0.05);
            continue;
        }
        double in = due_in(e);
        if (in > 0) {
            hub_wait(e->hub, fmin(in, 0.5));
            if (due_in(e) > 0) continue;
        }
        step(e);
    }
    if (e->record) engine_end_record(e, BRIO_VERDICT_STOPPED, "brio live was ended", NULL);
    pthread_mutex_lock(&e->hub->mutex);
    e->hub->ended = true;
    pthread_mutex_unlock(&e->hub->mutex);
    ssize_t woken = write(e->hub->wake[1], "", 1);
    (void)woken;
    return NULL;
}
