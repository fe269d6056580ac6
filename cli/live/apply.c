/* Orders carried out between two steps. What the library refuses is answered with its sentence. */
#include "engine.h"
#include "order.h"
#include "results.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What was done, in words, for the answer and for the record. */
typedef struct Deed {
    char text[1600];
    bool change; /* a setting: all browsers are told, and the record lists it */
    int hand;
    double hit[3];
} Deed;

/* ---- answers ---------------------------------------------------------------------------- */

static void answer(Engine *e, const Order *order, BrioStatus status, const Deed *deed,
                   const BrioError *error)
{
    char sentence[2048], *text = NULL;
    size_t size;
    if (order->id < 0) return;
    FILE *file = open_memstream(&text, &size);
    if (!file) return;
    BrioJson json = {.file = file, .flat = true};
    locale_t before = brio__c_locale_enter();
    if (status != BRIO_OK) brio_error_text(error, sentence, sizeof sentence);
    brio__json_open(&json, NULL, '{');
    brio__json_text(&json, "type", "answer");
    brio__json_integer(&json, "id", order->id);
    brio__json_boolean(&json, "ok", status == BRIO_OK);
    brio__json_text(&json, "text", status == BRIO_OK ? deed->text : sentence);
    brio__json_integer(&json, "step", e->sim->state->step); /* after which it was done */
    if (order->kind == ORDER_GRAB && status == BRIO_OK) {
        brio__json_integer(&json, "hand", deed->hand);
        brio__json_open(&json, "hit", '[');
        for (int r = 0; r < 3; r++) brio__json_real(&json, NULL, deed->hit[r]);
        brio__json_close(&json, ']');
    }
    brio__json_close(&json, '}');
    brio__c_locale_leave(before);
    if (brio__text_close(file, &text) == BRIO_OK)
        hub_tell(e->hub, order->client, packet_text(text));
    free(text);
}

/* ---- hands ------------------------------------------------------------------------------ */

static const char let_go[] = "Let go.";

static void hold_text(const Engine *e, const BrioHand *hand, char *text, size_t size)
{
    snprintf(text, size, "A hand holds \"%s\".", brio_body_name(e->sim->system, hand->body));
}

static BrioStatus grab(Engine *e, const Order *order, Deed *deed, BrioError *error)
{
    BrioHand hand;
    deed->hand = -1;
    if (order->index >= 0)
        BRIO_CHECK(
            brio_sim_grab_vertex(e->sim, order->index, order->vertex, NAN, &deed->hand, error));
    else
        BRIO_CHECK(brio_sim_grab_ray(e->sim, order->point, order->direction, NAN, &deed->hand,
                                     deed->hit, error));
    if (deed->hand < 0) {
        snprintf(deed->text, sizeof deed->text, "There is nothing to grab.");
        return BRIO_OK;
    }
    e->owner[deed->hand] = order->client;
    brio_sim_hand(e->sim, deed->hand, &hand);
    memcpy(deed->hit, hand.grip, sizeof deed->hit);
    hold_text(e, &hand, deed->text, sizeof deed->text);
    return BRIO_OK;
}

static BrioStatus check_hand(const Engine *e, const Order *order, BrioError *error)
{
    bool own = order->index < BRIO_MAX_HANDS && e->owner[order->index] == order->client;
    return own ? BRIO_OK
               : brio__error(error, BRIO_ERROR_ARGUMENT,
                             "hand %d does not belong to this browser: grab first", order->index);
}

static BrioStatus release(Engine *e, const Order *order, Deed *deed, BrioError *error)
{
    BRIO_CHECK(check_hand(e, order, error));
    e->owner[order->index] = 0;
    snprintf(deed->text, sizeof deed->text, "%s", let_go);
    return brio_sim_release(e->sim, order->index, error);
}

/* Hands of a browser that is gone let go. */
static void leave(Engine *e, uint64_t client)
{
    for (int h = 0; h < BRIO_MAX_HANDS; h++) {
        if (e->owner[h] != client) continue;
        e->owner[h] = 0;
        if (brio_sim_release(e->sim, h, NULL) == BRIO_OK && e->record)
            brio__record_note(e->record, let_go);
    }
}

/* ---- settings --------------------------------------------------------------------------- */

static BrioStatus set_integrator(Engine *e, const Order *order, Deed *deed, BrioError *error)
{
    const BrioIntegrator *integrator = brio_integrator(order->name);
    double values[BRIO_MAX_VALUES] = {0};
    const char *now = brio_sim_integrator(e->sim, values);
    BrioNode *root = NULL;
    if (integrator && strcmp(now, order->name)) brio_fields_defaults(integrator->fields, values);
    if (integrator && order->text[0]) {
        BRIO_CHECK(brio__tree_parse_with(brio__json_parse, order->text, strlen(order->text),
                                         "values", &root, error));
        BrioStatus status =
            brio__node_change_fields(root, integrator->fields, NULL, 0, values, error);
        brio__tree_free(root);
        BRIO_CHECK(status);
    }
    BRIO_CHECK(brio_sim_set_integrator(e->sim, order->name, values, error));
    deed->change = e->other_integrator = true;
    snprintf(deed->text, sizeof deed->text, "integrator = %s%s%s", order->name,
             order->text[0] ? " with " : "", order->text);
    return BRIO_OK;
}

static BrioStatus set_step(Engine *e, double h, Deed *deed, BrioError *error)
{
    char text[40];
    if (!(h >= 1e-7 && h <= 1))
        return brio__error(error, BRIO_ERROR_ARGUMENT,
                           "a step of %g s is out of range: use 1e-7 s to 1 s", h);
    e->h = e->sim->h = h;
    engine_anchor(e);
    step_text(h, text, sizeof text);
    deed->change = true;
    snprintf(deed->text, sizeof deed->text, "h = %s s", text);
    return BRIO_OK;
}

static BrioStatus set_speed(Engine *e, double speed, Deed *deed, BrioError *error)
{
    if (!(speed >= 0))
        return brio__error(error, BRIO_ERROR_ARGUMENT,
                           "the speed %g is not positive; 0: as fast as it goes", speed);
    e->speed = speed > 0 ? speed : INFINITY;
    engine_anchor(e);
    e->news = true;
    if (speed > 0)
        snprintf(deed->text, sizeof deed->text, "%g s of motion per second.", speed);
    else
        snprintf(deed->text, sizeof deed->text, "As fast as it goes.");
    return BRIO_OK;
}

/* Of all bodies whose material has it, or of none. */
static BrioStatus set_all(Engine *e, const Order *o, Deed *deed, BrioError *error)
{
    BrioState *before;
    BrioStatus status = BRIO_OK;
    double value;
    int count = 0;
    BRIO_CHECK(brio_state_copy(e->sim->state, &before, error));
    for (int b = 0; status == BRIO_OK && b < e->sim->system->body_count; b++) {
        if (brio_sim_material(e->sim, b, o->name, &value) != BRIO_OK) continue;
        status = brio_sim_set_material(e->sim, b, o->name, o->value, error);
        count++;
    }
    if (status != BRIO_OK) brio_state_assign(e->sim->state, before);
    brio_state_free(before);
    if (count == 0)
        return brio__error(error, BRIO_ERROR_ARGUMENT, "no material of the scene has \"%s\"",
                           o->name);
    snprintf(deed->text, sizeof deed->text, "%s of all bodies = %g", o->name, o->value);
    return status;
}

static BrioStatus set_value(Engine *e, const Order *o, Deed *deed, BrioError *error)
{
    const BrioSystem *s = e->sim->system;
    deed->change = true;
    switch (o->kind) {
    case ORDER_MATERIAL:
        if (o->index < 0) return set_all(e, o, deed, error);
        BRIO_CHECK(brio_sim_set_material(e->sim, o->index, o->name, o->value, error));
        snprintf(deed->text, sizeof deed->text, "%s of \"%s\" = %g", o->name,
                 brio_body_name(s, o->index), o->value);
        return BRIO_OK;
    case ORDER_DAMPING:
        BRIO_CHECK(brio_sim_set_damping(e->sim, o->index, o->name, o->value, error));
        snprintf(deed->text, sizeof deed->text, "%s of damping %s = %g", o->name,
                 brio_sim_damping_type(e->sim, o->index), o->value);
        return BRIO_OK;
    case ORDER_FORCE:
        BRIO_CHECK(brio_sim_set_force(e->sim, o->index, o->value, error));
        e->factor[o->index] = o->value;
        snprintf(deed->text, sizeof deed->text, "factor of force %d = %g", o->index, o->value);
        return BRIO_OK;
    default:
        BRIO_CHECK(brio_sim_set_gravity(e->sim, o->point, error));
        snprintf(deed->text, sizeof deed->text, "gravity = [%g, %g, %g]", o->point[0], o->point[1],
                 o->point[2]);
        return BRIO_OK;
    }
}

/* ---- records ---------------------------------------------------------------------------- */

/* The document of the scene says what is stepped, and how, from here on. */
static void put_settings_into_scene(Engine *e)
{
    char text[200];
    double g[3];
    const BrioSystem *s = e->sim->system;
    memcpy(g, e->sim->state->param + s->term[s->gravity_term].params, sizeof g);
    snprintf(text, sizeof text, "time.h=%.17g", e->h);
    brio__tree_set(e->scene->tree, text, NULL);
    snprintf(text, sizeof text, "gravity=[%.17g, %.17g, %.17g]", g[0], g[1], g[2]);
    brio__tree_set(e->scene->tree, text, NULL);
    if (!e->other_integrator) return;
    snprintf(text, sizeof text, "integrator=%s", brio_sim_integrator(e->sim, NULL));
    brio__tree_set(e->scene->tree, text, NULL);
}

/* Bytes before the value of a setting, which name it. Names of bodies may have a "=" too. */
static size_t name_of_setting(const char *text)
{
    size_t length = strlen(text);
    for (const char *at = text; (at = strstr(at, " = ")); at++) length = (size_t)(at - text);
    return length;
}

/* Its earlier change goes: what was changed later, of all bodies say, holds in between. */
static void remember(Engine *e, const char *text)
{
    size_t name = name_of_setting(text);
    int at = 0;
    while (at < e->past_count &&
           (name_of_setting(e->past[at]) != name || memcmp(e->past[at], text, name)))
        at++;
    if (at == e->past_count && at == e->past_room) {
        int room = 2 * at + 16;
        char **grown = brio__realloc(e->past, (size_t)at, (size_t)room, sizeof *grown);
        if (!grown) return;
        e->past = grown;
        e->past_room = room;
    }
    char *copy = brio__strdup(text);
    if (!copy) return;
    if (at < e->past_count) {
        brio__free(e->past[at]);
        memmove(e->past + at, e->past + at + 1, (size_t)(--e->past_count - at) * sizeof *e->past);
    }
    e->past[e->past_count++] = copy;
}

/* The first name that is free: cloth-live-1, cloth-live-2, ... */
static BrioStatus begin_record(Engine *e, Deed *deed, BrioError *error)
{
    char stem[400];
    BrioHand hand;
    struct stat info;
    if (e->record)
        return brio__error(error, BRIO_ERROR_ARGUMENT, "it is being recorded already, to %s",
                           e->folder);
    default_folder(e->given->name, "-live", stem, sizeof stem);
    for (int n = 1;; n++) {
        snprintf(e->folder, sizeof e->folder, "%s-%d", stem, n);
        if (lstat(e->folder, &info)) break;
    }
    put_settings_into_scene(e);
    BRIO_CHECK(brio__record_begin(e->scene, e->sim, e->folder, &e->record, error));
    for (int i = 0; i < e->past_count; i++) brio__record_note(e->record, e->past[i]);
    for (int h = 0; h < BRIO_MAX_HANDS; h++) {
        if (brio_sim_hand(e->sim, h, &hand) != BRIO_OK) continue;
        hold_text(e, &hand, deed->text, sizeof deed->text);
        brio__record_note(e->record, deed->text);
    }
    e->news = true;
    snprintf(deed->text, sizeof deed->text, "Recording to %s.", e->folder);
    return BRIO_OK;
}

BrioStatus engine_end_record(Engine *e, BrioVerdict verdict, const char *reason, BrioError *error)
{
    if (!e->record) return BRIO_OK;
    BrioStatus status = brio__record_end(e->record, verdict, reason, &e->explosion, error);
    e->record = NULL;
    return status;
}

static BrioStatus record(Engine *e, const Order *order, Deed *deed, BrioError *error)
{
    if (order->on) return begin_record(e, deed, error);
    if (!e->record) return brio__error(error, BRIO_ERROR_ARGUMENT, "nothing is being recorded");
    double seconds = brio__record_time(e->record);
    BrioStatus status = engine_end_record(e, BRIO_VERDICT_COMPLETED, NULL, error);
    e->news = true;
    snprintf(deed->text, sizeof deed->text, "Recorded %.3g s. To look at it: brio view %s", seconds,
             e->folder);
    return status;
}

/* ---- running ---------------------------------------------------------------------------- */

static BrioStatus play(Engine *e, const Order *order, Deed *deed)
{
    if (e->trouble[0]) { /* start again from here */
        brio__explosion_begin(&e->explosion, e->sim, e->scene->end);
        e->trouble[0] = 0;
    }
    e->playing = order->kind == ORDER_PLAY;
    if (order->kind == ORDER_STEP) e->steps += (int64_t)order->value;
    engine_anchor(e);
    e->news = true;
    snprintf(deed->text, sizeof deed->text, "%s",
             order->kind == ORDER_PLAY   ? "It runs."
             : order->kind == ORDER_STEP ? "One step."
                                         : "It pauses.");
    return BRIO_OK;
}

static BrioStatus restart(Engine *e, const Order *order, Deed *deed, BrioError *error)
{
    BRIO_CHECK(engine_restart(e, !order->on, error));
    snprintf(deed->text, sizeof deed->text, "%s",
             order->on ? "From the start, as the scene says."
                       : "From the start, with the settings of now.");
    return BRIO_OK;
}

static BrioStatus carry_out(Engine *e, const Order *order, Deed *deed, BrioError *error)
{
    switch (order->kind) {
    case ORDER_PLAY:
    case ORDER_STEP:
    case ORDER_PAUSE: return play(e, order, deed);
    case ORDER_RESTART: return restart(e, order, deed, error);
    case ORDER_GRAB: return grab(e, order, deed, error);
    case ORDER_DRAG:
        BRIO_CHECK(check_hand(e, order, error));
        return brio_sim_drag(e->sim, order->index, order->point, error);
    case ORDER_RELEASE: return release(e, order, deed, error);
    case ORDER_INTEGRATOR: return set_integrator(e, order, deed, error);
    case ORDER_H: return set_step(e, order->value, deed, error);
    case ORDER_SPEED: return set_speed(e, order->value, deed, error);
    case ORDER_RECORD: return record(e, order, deed, error);
    default: return set_value(e, order, deed, error);
    }
}

void engine_apply(Engine *e, const Order *order)
{
    Deed deed = {.text = ""};
    BrioError error = {0};
    if (order->kind == ORDER_LEAVE) {
        leave(e, order->client);
        return;
    }
    BrioStatus status = carry_out(e, order, &deed, &error);
    bool by_hand = (order->kind == ORDER_GRAB && deed.hand >= 0) || order->kind == ORDER_RELEASE;
    if (status == BRIO_OK && by_hand && e->record) brio__record_note(e->record, deed.text);
    if (status == BRIO_OK && deed.change) {
        remember(e, deed.text);
        engine_keep_sane(e);
        if (e->record) brio__record_note(e->record, deed.text);
        e->news = true;
    }
    answer(e, order, status, &deed, &error);
}
