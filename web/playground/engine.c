/* The engine as a page sees it: worlds made from scenes in JSON, advanced, looked at and changed.
 * What stays in JavaScript is drawing.
 *
 * Everything is called through plain numbers: a world is a pointer, arrays are pointers into the
 * heap that hold until the next call for that world, texts are UTF-8. A call that can fail returns
 * 0 (or NULL) for fine and otherwise a BrioStatus; web_reason has the sentence. */
#include "internal.h"
#include "reference.h"

#include <emscripten/emscripten.h>
#include <stdlib.h>
#include <string.h>

typedef struct World {
    BrioScene *scene; /* its settings; system and state are the simulation's */
    BrioSim *sim;
    double *x, *v;     /* of all world vertices */
    int32_t *triangle; /* of bodies, then of obstacles, in world vertices */
    int64_t triangles, body_triangles;
    int32_t *edge; /* springs */
    int64_t edges;
    int32_t *body_start; /* first vertex of each body, and the end of the last */
    uint8_t *fixed;      /* per vertex of bodies: has no coordinates */
    /* largest eigenvalue of M^-1 K in the initial state, 1/s^2; -1: not asked for yet */
    double k0;
} World;

static char *reason;
static char *text;

/* Replaces a text that a call returns. */
static FILE *begin(char **what, size_t *size)
{
    free(*what);
    *what = NULL;
    return open_memstream(what, size);
}

static int refuse(const BrioError *error, BrioStatus status)
{
    size_t size;
    char sentence[2048];
    FILE *file = begin(&reason, &size);
    if (error && error->message[0])
        brio_error_text(error, sentence, sizeof sentence);
    else
        snprintf(sentence, sizeof sentence, "%s", brio_status_text(status));
    fputs(sentence, file);
    fclose(file);
    return status;
}

EMSCRIPTEN_KEEPALIVE const char *web_reason(void) { return reason ? reason : ""; }
EMSCRIPTEN_KEEPALIVE const char *web_version(void) { return brio_version(); }

/* ---- what there is to choose from ------------------------------------------------------- */

/* {"integrators": [...], "materials": [...], ..., "citations": {"You2026": "...", ...}} */
EMSCRIPTEN_KEEPALIVE const char *web_registry(void)
{
    static const char *const wanted[] = {"integrators", "materials", "damping", "keys"};
    size_t size;
    FILE *file = begin(&text, &size);
    fputc('{', file);
    for (int i = 0; family_at(i); i++)
        for (size_t k = 0; k < BRIO_COUNT(wanted); k++)
            if (!strcmp(family_at(i)->name, wanted[k])) {
                fprintf(file, "\"%s\": ", wanted[k]);
                family_json(file, family_at(i));
                fputc(',', file);
            }
    BrioJson json = {.file = file};
    fputs("\"citations\": ", file);
    brio__json_open(&json, NULL, '{');
    for (int i = 0; brio__citation_at(i); i++)
        brio__json_text(&json, brio__citation_at(i), brio__citation(brio__citation_at(i)));
    brio__json_close(&json, '}');
    fputc('}', file);
    fclose(file);
    return text;
}

/* ---- worlds ----------------------------------------------------------------------------- */

static void free_lists(World *w)
{
    brio__free(w->x);
    brio__free(w->v);
    brio__free(w->triangle);
    brio__free(w->edge);
    brio__free(w->body_start);
    brio__free(w->fixed);
}

EMSCRIPTEN_KEEPALIVE void web_free(World *w)
{
    if (!w) return;
    brio_sim_free(w->sim);
    brio__scene_free(w->scene);
    free_lists(w);
    brio__free(w);
}

static void append_triangles(World *w, const int32_t *triangle, int64_t count, int64_t first)
{
    for (int64_t k = 0; k < 3 * count; k++)
        w->triangle[3 * w->triangles + k] = (int32_t)first + triangle[k];
    w->triangles += count;
}

/* Lists of what there is to draw. */
static bool list_parts(World *w)
{
    const BrioSystem *s = w->sim->system;
    int64_t triangles = 0, edges = 0;
    for (int b = 0; b < s->body_count; b++)
        triangles += s->body[b].triangle_count, edges += s->body[b].edge_count;
    for (int o = 0; o < s->obstacle_count; o++) triangles += s->obstacle[o].triangle_count;
    w->x = brio__calloc(3 * (size_t)s->vertex_count + 1, sizeof *w->x);
    w->v = brio__calloc(3 * (size_t)s->vertex_count + 1, sizeof *w->v);
    w->triangle = brio__alloc(3 * (size_t)triangles + 1, sizeof *w->triangle);
    w->edge = brio__alloc(2 * (size_t)edges + 1, sizeof *w->edge);
    w->body_start = brio__alloc((size_t)s->body_count + 1, sizeof *w->body_start);
    w->fixed = brio__calloc((size_t)s->body_vertices + 1, 1);
    if (!w->x || !w->v || !w->triangle || !w->edge || !w->body_start || !w->fixed) return false;
    for (int b = 0; b < s->body_count; b++) {
        const BrioBody *body = &s->body[b];
        w->body_start[b] = (int32_t)body->first;
        append_triangles(w, body->triangle, body->triangle_count, body->first);
        for (int64_t k = 0; k < 2 * body->edge_count; k++)
            w->edge[2 * w->edges + k] = (int32_t)body->first + body->edge[k];
        w->edges += body->edge_count;
    }
    w->body_triangles = w->triangles;
    for (int o = 0; o < s->obstacle_count; o++)
        append_triangles(w, s->obstacle[o].triangle, s->obstacle[o].triangle_count,
                         s->obstacle[o].first);
    w->body_start[s->body_count] = (int32_t)s->body_vertices;
    for (int64_t k = 0; k < s->fixed_count && s->fixed[k] < s->body_vertices; k++)
        w->fixed[s->fixed[k]] = 1;
    return true;
}

/* A scene in JSON. NULL: web_reason says why not, with line, column and path. */
EMSCRIPTEN_KEEPALIVE World *web_create(const char *json)
{
    BrioError error = {0};
    World *w = brio__calloc(1, sizeof *w);
    BrioStatus status =
        w ? brio__scene_parse(json, strlen(json), "scene", &w->scene, &error) : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK) status = brio__scene_sim(w->scene, &w->sim, &error);
    if (status == BRIO_OK && !list_parts(w)) status = BRIO_ERROR_MEMORY;
    if (status != BRIO_OK) {
        web_free(w);
        refuse(&error, status);
        return NULL;
    }
    w->k0 = -1;
    return w;
}

static int answer(World *w, BrioStatus status)
{
    BrioError error = {.status = status};
    if (status == BRIO_OK) return 0;
    snprintf(error.message, sizeof error.message, "%s", brio_sim_reason(w->sim));
    return refuse(&error, status);
}

/* Up to `count` steps of h seconds; how many were done. Fewer: web_reason says why, and the state
 * is that before the step that could not be done. */
EMSCRIPTEN_KEEPALIVE int web_step(World *w, double h, int count)
{
    for (int n = 0; n < count; n++) {
        BrioStatus status = brio_sim_step_by(w->sim, h, NULL);
        if (status == BRIO_OK) continue;
        answer(w, status);
        return n;
    }
    return count;
}

EMSCRIPTEN_KEEPALIVE double web_time(const World *w) { return w->sim->state->time; }
EMSCRIPTEN_KEEPALIVE int web_vertices(const World *w) { return (int)w->sim->system->body_vertices; }
EMSCRIPTEN_KEEPALIVE int web_all_vertices(const World *w)
{
    return (int)w->sim->system->vertex_count;
}
EMSCRIPTEN_KEEPALIVE int web_bodies(const World *w) { return w->sim->system->body_count; }
EMSCRIPTEN_KEEPALIVE const int32_t *web_body_starts(const World *w) { return w->body_start; }
EMSCRIPTEN_KEEPALIVE int web_triangles(const World *w) { return (int)w->triangles; }
EMSCRIPTEN_KEEPALIVE int web_body_triangles(const World *w) { return (int)w->body_triangles; }
EMSCRIPTEN_KEEPALIVE const int32_t *web_triangle_list(const World *w) { return w->triangle; }
EMSCRIPTEN_KEEPALIVE int web_edges(const World *w) { return (int)w->edges; }
EMSCRIPTEN_KEEPALIVE const int32_t *web_edge_list(const World *w) { return w->edge; }
EMSCRIPTEN_KEEPALIVE const uint8_t *web_held(const World *w) { return w->fixed; }

/* Of all world vertices, those of obstacles included: 3 numbers each. */
EMSCRIPTEN_KEEPALIVE const double *web_positions(World *w)
{
    brio__system_positions(w->sim->system, w->sim->state, w->sim->state->q, w->sim->state->time,
                           w->x);
    return w->x;
}

EMSCRIPTEN_KEEPALIVE const double *web_velocities(World *w)
{
    brio__system_velocities(w->sim->system, w->sim->state, w->sim->state->v, w->sim->state->time,
                            w->v);
    return w->v;
}

/* The ledger as numbers, in the order of web_ledger_names. */
/* clang-format off */
#define LEDGER(X) \
    X(time) X(kinetic) X(elastic) X(gravity) X(attachment) X(contact) X(potential) X(total) \
    X(target) X(alpha) X(added) X(dissipated) X(remainder) \
    X(momentum[0]) X(momentum[1]) X(momentum[2]) X(angular[0]) X(angular[1]) X(angular[2]) \
    X(min_distance) X(step) X(iterations) X(contacts)
/* clang-format on */
EMSCRIPTEN_KEEPALIVE const char *web_ledger_names(void)
{
#define X(name) #name " "
    return LEDGER(X);
#undef X
}

EMSCRIPTEN_KEEPALIVE const double *web_ledger(World *w)
{
#define X(name) +1
    static double row[LEDGER(X)];
#undef X
    BrioLedger ledger;
    brio_sim_ledger(w->sim, &ledger);
    double *at = row;
#define X(name) *at++ = (double)ledger.name;
    LEDGER(X)
#undef X
    return row;
}

/* Goes on from where `from`, a world of the same vertices, is: time, positions, velocities and the
 * ledger. Vertices that are fixed here stand where they stood there. Another integrator, other pins
 * and springs, another material all go through this. */
EMSCRIPTEN_KEEPALIVE int web_continue(World *w, World *from)
{
    const BrioSystem *s = w->sim->system;
    BrioState *state = w->sim->state, *old = from->sim->state;
    BrioError error = {0};
    if (s->body_vertices != from->sim->system->body_vertices)
        return refuse(&error,
                      brio__error(&error, BRIO_ERROR_ARGUMENT,
                                  "the scene has %lld vertices and not %lld: it starts anew",
                                  (long long)s->body_vertices,
                                  (long long)from->sim->system->body_vertices));
    const double *x = web_positions(from), *v = web_velocities(from);
    BrioLedger before, after;
    brio_sim_ledger(from->sim, &before);
    state->time = old->time, state->time_error = old->time_error, state->step = old->step;
    for (int64_t k = 0; k < s->fixed_count && s->fixed[k] < s->body_vertices; k++)
        if (s->scripted_count == 0)
            memcpy(state->anchor + 3 * k, x + 3 * s->fixed[k], 3 * sizeof *x);
    for (int b = 0; b < s->body_count; b++) {
        BrioStatus status = brio_sim_set_positions(w->sim, b, x + 3 * s->body[b].first, NULL);
        if (status == BRIO_OK)
            status = brio_sim_set_velocities(w->sim, b, v + 3 * s->body[b].first, NULL);
        if (status != BRIO_OK) return refuse(NULL, status);
    }
    brio_sim_ledger(w->sim, &after);
    state->first = old->first;
    state->unfinished = old->unfinished;
    memcpy(state->dissipated, old->dissipated, sizeof state->dissipated);
    state->added = old->added + after.total - before.total;
    return 0;
}

/* Why integrators cannot be used in this scene, {"rk4": "", "verlet": "verlet does not go with
 * ...", ...}; "" if they can. */
EMSCRIPTEN_KEEPALIVE const char *web_offers(World *w)
{
    size_t size;
    FILE *file = begin(&text, &size);
    BrioJson json = {.file = file};
    brio__json_open(&json, NULL, '{');
    for (int i = 0; brio_integrator_at(i); i++) {
        const BrioIntegrator *integrator = brio_integrator_at(i);
        BrioSimDef def = w->scene->def;
        BrioError error = {0};
        brio_fields_defaults(integrator->fields, def.values);
        if (brio__sim_fits(w->sim->system, integrator, def.values, &error) == BRIO_OK)
            brio__solver_fits(w->sim->system, &def.solver, integrator, &error);
        brio__json_text(&json, integrator->name, error.message);
    }
    brio__json_close(&json, '}');
    fclose(file);
    return text;
}

/* ---- taking part ------------------------------------------------------------------------ */

/* A hand where a ray first meets a body, and the place through `hit`; -1: it meets nothing, or
 * web_reason says why not. */
EMSCRIPTEN_KEEPALIVE int web_grab(World *w, const double *ray, double *hit)
{
    int hand = -1;
    if (answer(w, brio_sim_grab_ray(w->sim, ray, ray + 3, NAN, &hand, hit, NULL)) != 0) return -1;
    return hand;
}

EMSCRIPTEN_KEEPALIVE int web_drag(World *w, int hand, const double *point)
{
    return answer(w, brio_sim_drag(w->sim, hand, point, NULL));
}
EMSCRIPTEN_KEEPALIVE int web_release(World *w, int hand)
{
    return answer(w, brio_sim_release(w->sim, hand, NULL));
}

/* Where a hand is and what it holds: point, grip; NULL if it holds nothing. */
EMSCRIPTEN_KEEPALIVE const double *web_hand(World *w, int hand)
{
    static double place[6];
    BrioHand now;
    if (brio_sim_hand(w->sim, hand, &now) != BRIO_OK) return NULL;
    memcpy(place, now.point, sizeof now.point);
    memcpy(place + 3, now.grip, sizeof now.grip);
    return place;
}

/* ---- editing: all lists and views of the world are others after it ----------------------- */

/* Commits an edit of which all so far went well, and lists what there is to draw. */
static int commit(World *w, BrioBuilder *edit, BrioStatus status, BrioError *error)
{
    if (status == BRIO_OK) status = brio_sim_commit(w->sim, edit, error);
    if (status != BRIO_OK) {
        brio_builder_free(edit);
        return refuse(error, status);
    }
    free_lists(w);
    w->triangles = w->edges = w->body_triangles = 0;
    return list_parts(w) ? 0 : refuse(NULL, BRIO_ERROR_MEMORY);
}

/* A body of tets or triangles at x, with the defaults of its material. */
EMSCRIPTEN_KEEPALIVE int web_add_body(World *w, const char *name, const char *material, double *x,
                                      int vertices, int32_t *tet, int tets, int32_t *triangle,
                                      int triangles)
{
    BrioBuilder *edit = NULL;
    BrioError error = {0};
    BrioBodyDef def = brio_default_body();
    const BrioMesh mesh = {.vertex_count = vertices,
                           .tet_count = tets,
                           .triangle_count = triangles,
                           .x = x,
                           .tet = tet,
                           .triangle = triangle};
    def.name = name;
    def.mesh = &mesh;
    BrioStatus status = brio_default_material(material, &def.material, &error);
    if (status == BRIO_OK) status = brio_sim_edit(w->sim, &edit, &error);
    if (status == BRIO_OK) status = brio_builder_body(edit, &def, NULL, &error);
    return commit(w, edit, status, &error);
}

EMSCRIPTEN_KEEPALIVE int web_add_obstacle(World *w, const char *name, double *x, int vertices,
                                          int32_t *triangle, int triangles)
{
    BrioBuilder *edit = NULL;
    BrioError error = {0};
    BrioObstacleDef def = brio_default_obstacle();
    const BrioMesh mesh = {
        .vertex_count = vertices, .triangle_count = triangles, .x = x, .triangle = triangle};
    def.name = name;
    def.mesh = &mesh;
    BrioStatus status = brio_sim_edit(w->sim, &edit, &error);
    if (status == BRIO_OK) status = brio_builder_obstacle(edit, &def, &error);
    return commit(w, edit, status, &error);
}

EMSCRIPTEN_KEEPALIVE int web_remove(World *w, int body, int obstacle)
{
    BrioBuilder *edit = NULL;
    BrioError error = {0};
    BrioStatus status = brio_sim_edit(w->sim, &edit, &error);
    if (status == BRIO_OK && body >= 0) status = brio_builder_remove_body(edit, body, &error);
    if (status == BRIO_OK && obstacle >= 0)
        status = brio_builder_remove_obstacle(edit, obstacle, &error);
    return commit(w, edit, status, &error);
}

/* Along a plane: its point, then its normal. */
EMSCRIPTEN_KEEPALIVE int web_cut(World *w, int body, const double *plane)
{
    BrioBuilder *edit = NULL;
    BrioError error = {0};
    BrioStatus status = brio_sim_edit(w->sim, &edit, &error);
    if (status == BRIO_OK)
        status = brio_builder_cut_plane(edit, body, plane, plane + 3, NULL, &error);
    return commit(w, edit, status, &error);
}

/* Over the next step the vertices of a mesh go to x. */
EMSCRIPTEN_KEEPALIVE int web_move_obstacle(World *w, int obstacle, const double *x)
{
    BrioError error = {0};
    BrioStatus status = brio_sim_move_obstacle_to(w->sim, obstacle, x, &error);
    return status == BRIO_OK ? 0 : refuse(&error, status);
}

EMSCRIPTEN_KEEPALIVE int web_set_gravity(World *w, double x, double y, double z)
{
    return answer(w, brio_sim_set_gravity(w->sim, (double[]){x, y, z}, NULL));
}

/* Of every body. */
EMSCRIPTEN_KEEPALIVE int web_set_material(World *w, const char *name, double value)
{
    for (int b = 0; b < w->sim->system->body_count; b++) {
        int refused = answer(w, brio_sim_set_material(w->sim, b, name, value, NULL));
        if (refused) return refused;
    }
    return 0;
}

EMSCRIPTEN_KEEPALIVE int web_set_damping(World *w, int model, const char *name, double value)
{
    return answer(w, brio_sim_set_damping(w->sim, model, name, value, NULL));
}

/* Assignments "integrator.NAME=VALUE", one a line, over an integrator's defaults. */
static BrioStatus integrator_values(const char *name, const char *sets, BrioSimDef *def,
                                    BrioError *error)
{
    const char *set[16];
    int count = 0;
    char *copy = brio__strdup(sets);
    if (!copy) return BRIO_ERROR_MEMORY;
    for (char *at = strtok(copy, "\n"); at && count < 16; at = strtok(NULL, "\n"))
        set[count++] = at;
    BrioStatus status = brio__scene_integrator(name, set, count, def, error);
    brio__free(copy);
    return status;
}

EMSCRIPTEN_KEEPALIVE int web_set_integrator(World *w, const char *name, const char *sets)
{
    BrioSimDef def;
    BrioError error = {0};
    BrioStatus status = integrator_values(name, sets, &def, &error);
    if (status != BRIO_OK) return refuse(&error, status);
    return answer(w, brio_sim_set_integrator(w->sim, name, def.values, NULL));
}

/* The largest eigenvalue of M^-1 K in the present state, 1/s^2: an explicit method needs h below
 * its limit over the root of it. */
EMSCRIPTEN_KEEPALIVE double web_stiffness(World *w)
{
    BrioStiffness *stiffness;
    int64_t iterations;
    if (brio__stiffness_create(w->sim->system, &stiffness) != BRIO_OK) return NAN;
    if (brio__stiffness_at(stiffness, w->sim->state, web_positions(w)) != BRIO_OK ||
        brio__stiffness_largest(stiffness, 1e-3, 2000, &w->k0, &iterations) < 0)
        w->k0 = NAN;
    brio__stiffness_free(stiffness);
    return fabs(w->k0);
}

/* To static equilibrium. */
EMSCRIPTEN_KEEPALIVE int web_settle(World *w) { return answer(w, brio_sim_settle(w->sim, NULL)); }

/* The energy that an integrator which controls it aims at from now on. */
EMSCRIPTEN_KEEPALIVE void web_set_target(World *w, double target)
{
    w->sim->state->target = target;
}

/* ---- linear stability [Shinya2004] ------------------------------------------------------ */

/* The oscillator m x'' = -k x - d x' under an integrator with values: NULL and a sentence for
 * methods without a matrix. */
EMSCRIPTEN_KEEPALIVE BrioOscillator *web_oscillator(const char *name, const char *sets, double m)
{
    BrioSimDef def;
    BrioError error = {0};
    BrioOscillator *oscillator = NULL;
    BrioStatus status = integrator_values(name, sets, &def, &error);
    if (status == BRIO_OK) status = brio__oscillator_create(&def, m, &oscillator, &error);
    if (status != BRIO_OK) refuse(&error, status);
    return oscillator;
}

EMSCRIPTEN_KEEPALIVE void web_oscillator_free(BrioOscillator *oscillator)
{
    brio__oscillator_free(oscillator);
}
EMSCRIPTEN_KEEPALIVE double web_oscillator_limit(BrioOscillator *oscillator)
{
    return brio__oscillator_limit(oscillator);
}

/* The radius at X = h d/m, Y = h^2 k/m for m = 1, h = 1; INFINITY where a step cannot be done. */
EMSCRIPTEN_KEEPALIVE double web_radius(BrioOscillator *oscillator, double X, double Y)
{
    BrioAmplification a;
    return brio__oscillator_measure(oscillator, Y, X, 1, &a, NULL) == BRIO_OK ? a.radius : INFINITY;
}

/* {"size": 2, "matrix": [...], "det", "trace", "radius", "re": [...], "im": [...]} */
EMSCRIPTEN_KEEPALIVE const char *web_amplification(BrioOscillator *oscillator, double k, double d,
                                                   double h)
{
    BrioAmplification a;
    BrioError error = {0};
    BrioStatus status = brio__oscillator_measure(oscillator, k, d, h, &a, &error);
    if (status != BRIO_OK) return refuse(&error, status), NULL;
    size_t size;
    FILE *file = begin(&text, &size);
    BrioJson json = {.file = file, .flat = true};
    const struct {
        const char *name;
        const double *value;
        int count;
    } list[] = {{"matrix", a.matrix, a.size * a.size}, {"re", a.re, a.size}, {"im", a.im, a.size}};
    brio__json_open(&json, NULL, '{');
    brio__json_integer(&json, "size", a.size);
    for (size_t i = 0; i < BRIO_COUNT(list); i++) {
        brio__json_open(&json, list[i].name, '[');
        for (int k2 = 0; k2 < list[i].count; k2++) brio__json_real(&json, NULL, list[i].value[k2]);
        brio__json_close(&json, ']');
    }
    brio__json_real(&json, "det", a.det);
    brio__json_real(&json, "trace", a.trace);
    brio__json_real(&json, "radius", a.radius);
    brio__json_close(&json, '}');
    fclose(file);
    return text;
}
