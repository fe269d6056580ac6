/* What browsers are told. Words and settings go as JSON, shapes and frames as bytes:
 *
 *     shapes   uint32: 1, generation, parts, 0; for each part int32 vertex[slots] (the vertex of
 *              each place of a corner), int32 triangle[3 triangles] (places of corners), int32
 *              edge[2 edges], float rest[3 vertices]
 *     a frame  uint32: 2, generation, number, hands, rows, 0; double: the LEDGER, then pace and
 *              step_seconds; for each row double: what curves show of an earlier instant
 *              (CurveRow); for each hand float: point, grip, its number, 0; float: the vertices of
 *              all parts that move
 *
 * in the machine's byte order, which is that of browsers on it. */
#include "engine.h"
#include "reference.h"

#include <stdlib.h>
#include <string.h>

enum { SHAPES = 1, FRAME = 2 };

/* clang-format off */
#define LEDGER(X) \
    X(time) X(kinetic) X(elastic) X(gravity) X(attachment) X(contact) X(potential) X(total) \
    X(target) X(alpha) X(added) X(dissipated) X(remainder) \
    X(momentum[0]) X(momentum[1]) X(momentum[2]) X(angular[0]) X(angular[1]) X(angular[2]) \
    X(min_distance) X(step) X(iterations) X(contacts)
/* clang-format on */

/* ---- words ------------------------------------------------------------------------------ */

/* Informs all connected browsers, and those that connect later. */
static void publish(Hub *hub, Packet **place, Packet *packet)
{
    if (!packet) return;
    hub_renew(hub, place, packet_hold(packet));
    hub_tell(hub, 0, packet);
}

typedef struct Words {
    char *text;
    size_t size;
    BrioJson json;
    locale_t before;
} Words;

static bool words_begin(Words *w)
{
    *w = (Words){.json = {.flat = true}};
    w->json.file = open_memstream(&w->text, &w->size);
    if (!w->json.file) return false;
    w->before = brio__c_locale_enter();
    brio__json_open(&w->json, NULL, '{');
    return true;
}

static Packet *words_end(Words *w)
{
    brio__json_close(&w->json, '}');
    brio__c_locale_leave(w->before);
    Packet *packet =
        brio__text_close(w->json.file, &w->text) == BRIO_OK ? packet_text(w->text) : NULL;
    free(w->text);
    return packet;
}

static void put_family(BrioJson *json, const char *name)
{
    for (int i = 0; family_at(i); i++)
        if (!strcmp(family_at(i)->name, name)) {
            brio__json_key(json, name);
            family_json(json->file, family_at(i));
        }
}

/* Why integrators cannot be used in this scene; "" if they can. */
static void put_offers(BrioJson *json, const Engine *e)
{
    brio__json_open(json, "offers", '{');
    for (int i = 0; brio_integrator_at(i); i++) {
        const BrioIntegrator *integrator = brio_integrator_at(i);
        double values[BRIO_MAX_VALUES] = {0};
        BrioError error = {0};
        brio_fields_defaults(integrator->fields, values);
        if (brio__sim_fits(e->sim->system, integrator, values, &error) == BRIO_OK)
            brio__solver_fits(e->sim->system, &e->sim->stepper->solver->options, integrator,
                              &error);
        brio__json_text(json, integrator->name, error.message);
    }
    brio__json_close(json, '}');
}

static void put_bodies(BrioJson *json, const Engine *e)
{
    const BrioSystem *s = e->sim->system;
    const bool *live = e->live;
    brio__json_open(json, "bodies", '[');
    for (int b = 0; b < s->body_count; b++) {
        brio__json_open(json, NULL, '{');
        brio__json_text(json, "name", s->body[b].name);
        brio__json_text(json, "material", brio_body_material(s, b));
        brio__json_integer(json, "vertices", s->body[b].count);
        brio__json_open(json, "live", '[');
        for (const BrioField *f = s->term[s->body[b].term].energy->fields; f && f->name; f++)
            if (*live++) brio__json_text(json, NULL, f->name);
        brio__json_close(json, ']');
        brio__json_close(json, '}');
    }
    brio__json_close(json, ']');
}

static void put_parts(BrioJson *json, const BrioMotionFile *m, const int64_t *slots)
{
    static const char *const kinds[BRIO_MOTION_KINDS] = {"body", "obstacle", "rods"};
    brio__json_open(json, "parts", '[');
    for (int i = 0; i < m->part_count; i++) {
        const BrioMotionPart *p = &m->part[i];
        brio__json_open(json, NULL, '{');
        brio__json_text(json, "name", p->name);
        brio__json_text(json, "kind", kinds[p->kind]);
        brio__json_boolean(json, "still", p->still);
        brio__json_boolean(json, "closed", p->closed);
        brio__json_integer(json, "vertices", p->vertex_count);
        brio__json_integer(json, "slots", slots[i]);
        brio__json_integer(json, "triangles", p->triangle_count);
        brio__json_integer(json, "edges", p->edge_count);
        brio__json_close(json, '}');
    }
    brio__json_close(json, ']');
    brio__json_open(json, "planes", '[');
    for (int i = 0; i < m->plane_count; i++) {
        brio__json_open(json, NULL, '[');
        for (int k = 0; k < 6; k++) brio__json_real(json, NULL, (double)m->plane[i][k]);
        brio__json_close(json, ']');
    }
    brio__json_close(json, ']');
}

static void put_models(BrioJson *json, const Engine *e)
{
    const BrioSystem *s = e->sim->system;
    brio__json_open(json, "models", '[');
    for (int i = 0; brio_sim_damping_type(e->sim, i); i++)
        brio__json_text(json, NULL, brio_sim_damping_type(e->sim, i));
    brio__json_close(json, ']');
    brio__json_open(json, "forces", '[');
    for (int i = 0; i < s->force_count; i++) brio__json_text(json, NULL, s->force[i].name);
    brio__json_close(json, ']');
    brio__json_open(json, "ledger", '[');
#define X(name) brio__json_text(json, NULL, #name);
    LEDGER(X)
#undef X
    brio__json_text(json, NULL, "pace");
    brio__json_text(json, NULL, "step_seconds");
    brio__json_close(json, ']');
}

static Packet *scene_words(const Engine *e, const int64_t *slots)
{
    Words w;
    const BrioSystem *s = e->sim->system;
    if (!words_begin(&w)) return NULL;
    brio__json_text(&w.json, "type", "scene");
    brio__json_integer(&w.json, "generation", e->generation);
    brio__json_text(&w.json, "version", brio_version());
    brio__json_text(&w.json, "title", e->scene->title);
    brio__json_text(&w.json, "file", e->given->name);
    brio__json_integer(&w.json, "vertices", s->body_vertices);
    brio__json_integer(&w.json, "threads", brio_threads());
    brio__json_text(&w.json, "solver", e->sim->stepper->solver->type->name);
    put_bodies(&w.json, e);
    put_parts(&w.json, e->seen, slots);
    put_models(&w.json, e);
    put_offers(&w.json, e);
    put_family(&w.json, "integrators");
    put_family(&w.json, "materials");
    put_family(&w.json, "damping");
    brio__json_open(&w.json, "citations", '{');
    for (int i = 0; brio__citation_at(i); i++)
        brio__json_text(&w.json, brio__citation_at(i), brio__citation(brio__citation_at(i)));
    brio__json_close(&w.json, '}');
    return words_end(&w);
}

/* ---- shapes ----------------------------------------------------------------------------- */

static bool put_bytes(FILE *file, const void *data, size_t count, size_t size)
{
    return count == 0 || fwrite(data, size, count, file) == count;
}

static BrioStatus put_shape(FILE *file, const BrioMotionPart *p, int64_t *slots)
{
    size_t corners = 3 * (size_t)p->triangle_count;
    int32_t *slot = brio__alloc(corners + 1, sizeof *slot);
    int32_t *vertex = brio__alloc(corners + 1, sizeof *vertex);
    bool done = slot && vertex;
    if (done)
        *slots = brio__smooth_slots(p->rest, p->vertex_count, p->triangle, p->triangle_count, slot,
                                    vertex);
    done = done && *slots >= 0 && put_bytes(file, vertex, (size_t)*slots, sizeof *vertex) &&
           put_bytes(file, slot, corners, sizeof *slot) &&
           put_bytes(file, p->edge, 2 * (size_t)p->edge_count, sizeof *p->edge) &&
           put_bytes(file, p->rest, 3 * (size_t)p->vertex_count, sizeof *p->rest);
    brio__free(slot);
    brio__free(vertex);
    return done ? BRIO_OK : BRIO_ERROR_MEMORY;
}

static Packet *shapes(const Engine *e, int64_t *slots)
{
    const BrioMotionFile *m = e->seen;
    const uint32_t head[4] = {SHAPES, e->generation, (uint32_t)m->part_count, 0};
    char *bytes = NULL;
    size_t size;
    FILE *file = open_memstream(&bytes, &size);
    if (!file) return NULL;
    BrioStatus status = put_bytes(file, head, 4, sizeof *head) ? BRIO_OK : BRIO_ERROR_MEMORY;
    for (int i = 0; status == BRIO_OK && i < m->part_count; i++)
        status = put_shape(file, &m->part[i], &slots[i]);
    if (brio__text_close(file, &bytes) != BRIO_OK) return NULL;
    uint8_t *payload;
    Packet *packet = status == BRIO_OK ? packet_create(WEBSOCKET_BINARY, size, &payload) : NULL;
    if (packet) memcpy(payload, bytes, size);
    free(bytes);
    return packet;
}

BrioStatus describe_scene(Engine *e, BrioError *error)
{
    int64_t *slots = brio__calloc((size_t)e->seen->part_count + 1, sizeof *slots);
    Packet *bytes = slots ? shapes(e, slots) : NULL;
    Packet *words = bytes ? scene_words(e, slots) : NULL;
    brio__free(slots);
    if (!words) {
        packet_drop(bytes);
        return brio__no_memory(error);
    }
    publish(e->hub, &e->hub->scene, words);
    publish(e->hub, &e->hub->shapes, bytes);
    describe_settings(e);
    return BRIO_OK;
}

/* ---- settings --------------------------------------------------------------------------- */

static void put_value(BrioJson *json, const BrioField *f, const double *value)
{
    int count = f->type == BRIO_VECTOR ? 3 : f->type == BRIO_LIST ? (int)value[0] : 1;
    switch (f->type) {
    case BRIO_BOOLEAN: brio__json_boolean(json, f->name, value[0] != 0); return;
    case BRIO_CHOICE:
        brio__json_text(json, f->name, brio__field_word(f, (int)value[0]).text);
        return;
    case BRIO_VECTOR:
    case BRIO_LIST:
        brio__json_open(json, f->name, '[');
        for (int k = 0; k < count; k++)
            brio__json_real(json, NULL, value[k + (f->type == BRIO_LIST)]);
        brio__json_close(json, ']');
        return;
    default:
        if (isinf(value[0]))
            brio__json_text(json, f->name, brio__field_word(f, 0).text);
        else
            brio__json_real(json, f->name, value[0]);
    }
}

static void put_values(BrioJson *json, const char *key, const BrioField *fields,
                       const double *values)
{
    brio__json_open(json, key, '{');
    for (int at = 0; fields && fields->name; at += brio__field_width(fields), fields++)
        put_value(json, fields, values + at);
    brio__json_close(json, '}');
}

void describe_settings(Engine *e)
{
    Words w;
    const BrioSystem *s = e->sim->system;
    const BrioDissipation *losses = e->sim->stepper->dissipation;
    double values[BRIO_MAX_VALUES];
    e->news = false;
    if (!words_begin(&w)) return;
    const char *integrator = brio_sim_integrator(e->sim, values);
    brio__json_text(&w.json, "type", "settings");
    brio__json_boolean(&w.json, "playing", e->playing);
    brio__json_real(&w.json, "h", e->h);
    brio__json_real(&w.json, "speed", isinf(e->speed) ? 0 : e->speed);
    brio__json_text(&w.json, "integrator", integrator);
    put_values(&w.json, "values", brio_integrator(integrator)->fields, values);
    brio__json_open(&w.json, "gravity", '[');
    for (int r = 0; r < 3; r++)
        brio__json_real(&w.json, NULL, e->sim->state->param[s->term[s->gravity_term].params + r]);
    brio__json_close(&w.json, ']');
    brio__json_open(&w.json, "bodies", '[');
    for (int b = 0; b < s->body_count; b++)
        put_values(&w.json, NULL, s->term[s->body[b].term].energy->fields,
                   e->sim->state->param + s->body[b].values);
    brio__json_close(&w.json, ']');
    brio__json_open(&w.json, "damping", '[');
    for (int i = 0; brio_sim_damping_type(e->sim, i); i++)
        put_values(&w.json, NULL, losses->damper[i].model->fields, losses->damper[i].values);
    brio__json_close(&w.json, ']');
    brio__json_open(&w.json, "forces", '[');
    for (int i = 0; i < s->force_count; i++) brio__json_real(&w.json, NULL, e->factor[i]);
    brio__json_close(&w.json, ']');
    brio__json_text(&w.json, "record", e->record ? e->folder : NULL);
    brio__json_text(&w.json, "trouble", e->trouble[0] ? e->trouble : NULL);
    brio__json_boolean(&w.json, "exploded", e->explosion.exploded);
    publish(e->hub, &e->hub->settings, words_end(&w));
    pthread_mutex_lock(&e->hub->mutex);
    e->hub->recording = e->record != NULL;
    pthread_mutex_unlock(&e->hub->mutex);
}

/* A value that is rejected because masses or rest shapes were made from it cannot be changed. The
 * state is put back. */
BrioStatus describe_live(BrioSim *sim, bool **live, BrioError *error)
{
    const BrioSystem *s = sim->system;
    BrioState *before;
    const bool *last = NULL; /* those of the body before, and their fields */
    const BrioField *last_fields = NULL;
    int count = 0, at = 0;
    for (int b = 0; b < s->body_count; b++)
        for (const BrioField *f = s->term[s->body[b].term].energy->fields; f && f->name; f++)
            count++;
    *live = brio__calloc((size_t)count + 1, sizeof **live);
    if (!*live) return brio__no_memory(error);
    BRIO_CHECK(brio_state_copy(sim->state, &before, error));
    for (int b = 0; b < s->body_count; b++) {
        const BrioField *fields = s->term[s->body[b].term].energy->fields;
        const bool *as_before = last && fields == last_fields ? last : NULL;
        last = *live + at;
        last_fields = fields;
        for (const BrioField *f = fields; f && f->name; f++, at++) {
            double value;
            if (as_before) {
                (*live)[at] = *as_before++;
                continue;
            }
            if (f->type != BRIO_REAL || brio_sim_material(sim, b, f->name, &value)) continue;
            BrioStatus status = brio_sim_set_material(sim, b, f->name, 0.999 * value + 1e-9, NULL);
            (*live)[at] = status != BRIO_ERROR_UNSUPPORTED;
            brio_state_assign(sim->state, before);
        }
    }
    brio_state_free(before);
    return BRIO_OK;
}

/* ---- frames ----------------------------------------------------------------------------- */

static int count_hands(const BrioSim *sim)
{
    int count = 0;
    for (int h = 0; h < BRIO_MAX_HANDS; h++) count += sim->state->hand[h].k != 0;
    return count;
}

static uint8_t *put_hands(const BrioSim *sim, uint8_t *at)
{
    BrioHand hand;
    for (int h = 0; h < BRIO_MAX_HANDS; h++) {
        if (brio_sim_hand(sim, h, &hand) != BRIO_OK) continue;
        float numbers[8] = {0};
        for (int r = 0; r < 3; r++) {
            numbers[r] = (float)hand.point[r];
            numbers[3 + r] = (float)hand.grip[r];
        }
        numbers[6] = (float)h;
        memcpy(at, numbers, sizeof numbers);
        at += sizeof numbers;
    }
    return at;
}

/* The rows that are kept, the oldest first. */
static uint8_t *put_curves(const Engine *e, uint8_t *at)
{
    for (int i = 0; i < e->curve_count; i++, at += sizeof *e->curve)
        memcpy(at, &e->curve[(e->curve_first + i) % ENGINE_CURVE], sizeof *e->curve);
    return at;
}

Packet *describe_frame(Engine *e)
{
    const BrioState *state = e->sim->state;
    const BrioMotionFile *m = e->seen;
    int hands = count_hands(e->sim);
    int64_t vertices = 0;
    for (int i = 0; i < m->part_count; i++)
        if (!m->part[i].still) vertices += m->part[i].vertex_count;
#define X(name) (double)e->ledger.name,
    const double row[] = {LEDGER(X) e->pace, e->step_seconds};
#undef X
    const uint32_t head[6] = {
        FRAME, e->generation, ++e->frame, (uint32_t)hands, (uint32_t)e->curve_count, 0};
    size_t curves = (size_t)e->curve_count * sizeof *e->curve;
    size_t size = sizeof head + sizeof row + curves + (size_t)hands * 8 * sizeof(float) +
                  3 * (size_t)vertices * sizeof(float);
    uint8_t *at;
    Packet *packet = packet_create(WEBSOCKET_BINARY, size, &at);
    if (!packet) return NULL;
    brio__system_positions(e->sim->system, state, state->q, state->time, e->world);
    brio__motion_seen(e->seen, e->world, false, e->drawn);
    memcpy(at, head, sizeof head);
    memcpy(at + sizeof head, row, sizeof row);
    at = put_curves(e, at + sizeof head + sizeof row);
    at = put_hands(e->sim, at);
    const double *x = e->drawn;
    for (int i = 0; i < m->part_count; x += 3 * (int64_t)m->part[i++].vertex_count) {
        if (m->part[i].still) continue;
        for (int64_t k = 0; k < 3 * (int64_t)m->part[i].vertex_count; k++) {
            float number = (float)x[k];
            memcpy(at, &number, sizeof number);
            at += sizeof number;
        }
    }
    return packet;
}
