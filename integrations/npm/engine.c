/* The engine as JavaScript sees it: worlds that are made from scenes in JSON, advanced and looked
 * at. What changes them is in take_part.c. What stays in JavaScript is drawing. */
#include "engine.h"

#include "reference.h"

#include <stdlib.h>
#include <string.h>

static BrioError last; /* what web_reason and its neighbours tell */
static char *text;
static size_t text_size;

/* ---- errors and texts ------------------------------------------------------------------- */

int refuse(const BrioError *error, BrioStatus status)
{
    last = error ? *error : (BrioError){0};
    last.status = status;
    if (!last.message[0])
        snprintf(last.message, sizeof last.message, "%s", brio_status_text(status));
    return status;
}

int answer(World *w, BrioStatus status)
{
    BrioError error = {0};
    if (status == BRIO_OK) return 0;
    snprintf(error.message, sizeof error.message, "%s", brio_sim_reason(w->sim));
    return refuse(&error, status);
}

EMSCRIPTEN_KEEPALIVE const char *web_reason(void) { return last.message; }
EMSCRIPTEN_KEEPALIVE const char *web_status(void) { return brio_status_name(last.status); }
EMSCRIPTEN_KEEPALIVE const char *web_path(void) { return last.path; }
EMSCRIPTEN_KEEPALIVE const char *web_file(void) { return last.file; }
EMSCRIPTEN_KEEPALIVE int web_line(void) { return last.line; }
EMSCRIPTEN_KEEPALIVE int web_column(void) { return last.column; }
EMSCRIPTEN_KEEPALIVE const char *web_version(void) { return brio_version(); }

FILE *begin_text(void)
{
    free(text);
    text = NULL;
    FILE *file = open_memstream(&text, &text_size);
    if (!file) refuse(NULL, BRIO_ERROR_MEMORY);
    return file;
}

const char *end_text(FILE *file)
{
    bool failed = ferror(file);
    failed = fclose(file) != 0 || failed || !text;
    return failed ? (refuse(NULL, BRIO_ERROR_MEMORY), NULL) : text;
}

/* ---- what there is to choose from ------------------------------------------------------- */

/* A family of `brio list`, with all parameters, as a list; NULL: there is none of that name. */
EMSCRIPTEN_KEEPALIVE const char *web_family(const char *name)
{
    const char *names[64];
    int count = 0;
    for (; count < (int)BRIO_COUNT(names) && family_at(count); count++) {
        names[count] = family_at(count)->name;
        if (strcmp(names[count], name)) continue;
        FILE *file = begin_text();
        if (!file) return NULL;
        family_json(file, family_at(count));
        return end_text(file);
    }
    BrioError error = {0};
    const char *nearest = brio__nearest(name, names, count);
    refuse(&error, brio__error(&error, BRIO_ERROR_ARGUMENT, "no list \"%s\"; there %s \"%s\"", name,
                               nearest ? "is" : "are, for example,", nearest ? nearest : names[0]));
    return NULL;
}

/* {"You2026": "...", ...} */
EMSCRIPTEN_KEEPALIVE const char *web_citations(void)
{
    FILE *file = begin_text();
    if (!file) return NULL;
    BrioJson json = {.file = file};
    brio__json_open(&json, NULL, '{');
    for (int i = 0; brio__citation_at(i); i++)
        brio__json_text(&json, brio__citation_at(i), brio__citation(brio__citation_at(i)));
    brio__json_close(&json, '}');
    return end_text(file);
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
    brio__free(w->drawn);
    brio__free(w->drawn_start);
    w->x = w->v = NULL;
    w->triangle = w->edge = w->body_start = NULL;
    w->fixed = NULL;
    w->drawn = NULL;
    w->drawn_start = NULL;
    w->triangles = w->edges = w->body_triangles = 0;
    w->fresh = false;
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

static bool room_for_parts(World *w, const BrioSystem *s)
{
    int64_t triangles = 0, edges = 0;
    for (int b = 0; b < s->body_count; b++)
        triangles += s->body[b].triangle_count, edges += s->body[b].edge_count;
    for (int o = 0; o < s->obstacle_count; o++) triangles += s->obstacle[o].triangle_count;
    w->x = brio__calloc(3 * (size_t)s->vertex_count + 1, sizeof *w->x);
    w->v = brio__calloc(3 * (size_t)s->vertex_count + 1, sizeof *w->v);
    w->triangle = brio__alloc(3 * (size_t)triangles + 1, sizeof *w->triangle);
    w->edge = brio__alloc(2 * (size_t)edges + 1, sizeof *w->edge);
    w->body_start = brio__alloc((size_t)s->body_count + 1, sizeof *w->body_start);
    w->drawn_start = brio__alloc((size_t)s->body_count + 1, sizeof *w->drawn_start);
    w->fixed = brio__calloc((size_t)s->body_vertices + 1, 1);
    return w->x && w->v && w->triangle && w->edge && w->body_start && w->drawn_start && w->fixed;
}

static bool list_parts(World *w)
{
    const BrioSystem *s = w->sim->system;
    int64_t drawn = 0;
    if (!room_for_parts(w, s)) return false;
    for (int b = 0; b < s->body_count; b++) {
        const BrioBody *body = &s->body[b];
        w->body_start[b] = (int32_t)body->first;
        w->drawn_start[b] = drawn;
        drawn += brio_body_drawn_vertices(s, b);
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
    w->drawn_start[s->body_count] = drawn;
    for (int64_t k = 0; k < s->fixed_count && s->fixed[k] < s->body_vertices; k++)
        w->fixed[s->fixed[k]] = 1;
    return true;
}

int list_anew(World *w)
{
    free_lists(w);
    if (list_parts(w)) return 0;
    free_lists(w);
    return refuse(NULL, BRIO_ERROR_MEMORY);
}

/* After an edit there may have been no memory for the lists. */
static bool listed(World *w) { return w->x || list_anew(w) == 0; }

/* A scene in JSON; NULL: it is rejected. */
EMSCRIPTEN_KEEPALIVE World *web_create(const char *json)
{
    BrioError error = {0};
    World *w = brio__calloc(1, sizeof *w);
    BrioStatus status =
        w ? brio__scene_parse(json, strlen(json), "scene", &w->scene, &error) : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK) status = brio__scene_sim(w->scene, &w->sim, &error);
    if (status == BRIO_OK) status = (BrioStatus)list_anew(w);
    if (status == BRIO_OK) return w;
    web_free(w);
    refuse(&error, status);
    return NULL;
}

static double deadline; /* ms of emscripten_get_now */
static int is_late(void *user, const BrioIteration *iteration)
{
    (void)user;
    (void)iteration;
    return emscripten_get_now() > deadline;
}

/* Up to `count` steps of h seconds; how many were done. Fewer: it is rejected, and the state is
 * that before the step that could not be done. A step that takes longer than `limit` ms (0: any
 * time) is ended. */
EMSCRIPTEN_KEEPALIVE int web_step(World *w, double h, int count, double limit)
{
    int n = 0;
    BrioStatus status = BRIO_OK;
    w->fresh = false;
    if (limit > 0) brio_sim_watch(w->sim, is_late, NULL);
    for (; n < count && status == BRIO_OK; n++) {
        if (limit > 0) deadline = emscripten_get_now() + limit;
        status = brio_sim_step_by(w->sim, h, NULL);
    }
    if (limit > 0) brio_sim_watch(w->sim, NULL, NULL);
    if (status == BRIO_OK) return n;
    answer(w, status);
    return n - 1;
}

/* To static equilibrium. */
EMSCRIPTEN_KEEPALIVE int web_settle(World *w)
{
    w->fresh = false;
    return answer(w, brio_sim_settle(w->sim, NULL));
}

EMSCRIPTEN_KEEPALIVE double web_time(const World *w) { return brio_sim_time(w->sim); }
EMSCRIPTEN_KEEPALIVE double web_h(const World *w) { return brio_sim_h(w->sim); }

/* ---- bodies and obstacles --------------------------------------------------------------- */

EMSCRIPTEN_KEEPALIVE int web_bodies(const World *w) { return w->sim->system->body_count; }
EMSCRIPTEN_KEEPALIVE int web_obstacles(const World *w) { return w->sim->system->obstacle_count; }
/* "": it was removed */
EMSCRIPTEN_KEEPALIVE const char *web_body_name(const World *w, int body)
{
    return brio_body_name(w->sim->system, body);
}
EMSCRIPTEN_KEEPALIVE const char *web_obstacle_name(const World *w, int obstacle)
{
    return brio_obstacle_name(w->sim->system, obstacle);
}

/* The number of a body (or obstacle) by its name; -1: it is rejected, with the nearest name. */
EMSCRIPTEN_KEEPALIVE int web_find(const World *w, const char *name, int obstacle)
{
    const BrioSystem *s = w->sim->system;
    const char *what = obstacle ? "obstacle" : "body", *names[256];
    int found = obstacle ? brio_system_obstacle(s, name) : brio_system_body(s, name), count = 0;
    int all = obstacle ? s->obstacle_count : s->body_count;
    if (found >= 0) return found;
    for (int i = 0; i < all && count < (int)BRIO_COUNT(names); i++) {
        const char *one = obstacle ? s->obstacle[i].name : s->body[i].name;
        if (one[0]) names[count++] = one;
    }
    const char *nearest = brio__nearest(name, names, count);
    BrioError error = {0};
    if (!nearest && count) nearest = names[0];
    if (nearest)
        brio__error(&error, BRIO_ERROR_ARGUMENT, "no %s \"%.200s\"; there is \"%.200s\"", what,
                    name, nearest);
    else
        brio__error(&error, BRIO_ERROR_ARGUMENT, "no %s \"%.200s\"; there are none", what, name);
    refuse(&error, BRIO_ERROR_ARGUMENT);
    return -1;
}

EMSCRIPTEN_KEEPALIVE int web_vertices(const World *w) { return (int)w->sim->system->body_vertices; }
EMSCRIPTEN_KEEPALIVE int web_all_vertices(const World *w)
{
    return (int)w->sim->system->vertex_count;
}
EMSCRIPTEN_KEEPALIVE const int32_t *web_body_starts(World *w)
{
    return listed(w) ? w->body_start : NULL;
}
EMSCRIPTEN_KEEPALIVE int web_obstacle_start(const World *w, int obstacle)
{
    return (int)w->sim->system->obstacle[obstacle].first;
}
EMSCRIPTEN_KEEPALIVE int web_obstacle_vertices(const World *w, int obstacle)
{
    return (int)w->sim->system->obstacle[obstacle].count;
}
EMSCRIPTEN_KEEPALIVE const uint8_t *web_fixed(World *w) { return listed(w) ? w->fixed : NULL; }

/* Lists of one body (or obstacle), in its own vertices; body -1: of all, in world vertices. `what`
 * is 0 for triangles, 1 for springs, 2 for tets, 3 for triangles of obstacles and 4 for those that
 * are drawn. How many go into `count`; -1: it is rejected. */
EMSCRIPTEN_KEEPALIVE const int32_t *web_list(World *w, int what, int body, int *count)
{
    *count = -1;
    if (!listed(w)) return NULL;
    const BrioSystem *s = w->sim->system;
    int64_t found = 0;
    const int32_t *list = NULL;
    if (body < 0 && what < 2) {
        found = what ? w->edges : w->triangles;
        list = what ? w->edge : w->triangle;
    } else if (what == 0) {
        list = brio_body_triangles(s, body, &found);
    } else if (what == 1) {
        list = brio_body_edges(s, body, &found);
    } else if (what == 2) {
        list = brio_body_tets(s, body, &found);
    } else if (what == 3) {
        list = brio_obstacle_triangles(s, body, &found);
    } else {
        list = brio_body_drawn_triangles(s, body, &found);
    }
    *count = (int)found;
    return list;
}

/* Of all triangles, how many are of bodies; those of obstacles come after them. */
EMSCRIPTEN_KEEPALIVE int web_body_triangles(const World *w) { return (int)w->body_triangles; }

/* Of all world vertices, those of obstacles included: 3 numbers each. */
EMSCRIPTEN_KEEPALIVE const double *web_positions(World *w)
{
    if (!listed(w)) return NULL;
    if (!w->fresh)
        brio__system_positions(w->sim->system, w->sim->state, w->sim->state->q, w->sim->state->time,
                               w->x);
    w->fresh = true;
    return w->x;
}

EMSCRIPTEN_KEEPALIVE const double *web_velocities(World *w)
{
    if (!listed(w)) return NULL;
    brio__system_velocities(w->sim->system, w->sim->state, w->sim->state->v, w->sim->state->time,
                            w->v);
    return w->v;
}

/* What is drawn of a body, as floats: where its positions are and, through `more`, its normals and
 * how many vertices they are. NULL: it is rejected. */
EMSCRIPTEN_KEEPALIVE const float *web_draw(World *w, int body, uintptr_t *more)
{
    if (!listed(w)) return NULL;
    size_t all = 3 * (size_t)w->drawn_start[w->sim->system->body_count];
    if (!w->drawn) w->drawn = brio__calloc(2 * all + 1, sizeof *w->drawn);
    if (!w->drawn) return refuse(NULL, BRIO_ERROR_MEMORY), NULL;
    float *position = w->drawn + 3 * w->drawn_start[body];
    BrioError error = {0};
    BrioStatus status = brio_sim_draw(
        w->sim, body,
        &(BrioVertexBuffers){.position_float = position, .normal_float = position + all}, &error);
    if (status != BRIO_OK) return refuse(&error, status), NULL;
    more[0] = (uintptr_t)(position + all);
    more[1] = (uintptr_t)(w->drawn_start[body + 1] - w->drawn_start[body]);
    return position;
}

/* The ledger as numbers, in the order of web_ledger_names. */
/* clang-format off */
#define LEDGER(X) \
    X(time) X(kinetic) X(elastic) X(gravity) X(attachment) X(contact) X(potential) X(total) \
    X(target) X(alpha) X(added) X(dissipated) X(friction) X(remainder) \
    X(momentum[0]) X(momentum[1]) X(momentum[2]) X(angular[0]) X(angular[1]) X(angular[2]) \
    X(centre[0]) X(centre[1]) X(centre[2]) \
    X(min_distance) X(rods) X(step) X(iterations) X(contacts)
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
    BrioStatus status = brio_sim_ledger(w->sim, &ledger);
    if (status != BRIO_OK) return answer(w, status), NULL;
    double *at = row;
#define X(name) *at++ = (double)ledger.name;
    LEDGER(X)
#undef X
    return row;
}

EMSCRIPTEN_KEEPALIVE double web_body_energy(World *w, int body)
{
    return brio_sim_body_energy(w->sim, body);
}

/* Contacts of the last step, 12 numbers each: a, b (an obstacle k as -1 - k), change, contacts,
 * impulse, pressing, place, distance. How many; `rows` has room for `room`. */
EMSCRIPTEN_KEEPALIVE int web_contacts(World *w, double *rows, int room)
{
    enum { NUMBERS = 12 };
    BrioContactEvent *events = brio__alloc((size_t)room + 1, sizeof *events);
    if (!events) return refuse(NULL, BRIO_ERROR_MEMORY), -1;
    int count = BRIO_MIN(room, brio_sim_contacts(w->sim, events, room));
    for (int i = 0; i < count; i++) {
        const BrioContactEvent *e = &events[i];
        const double row[NUMBERS] = {
            e->a,          e->b,          e->change,     (double)e->contacts,
            e->impulse[0], e->impulse[1], e->impulse[2], e->pressing,
            e->place[0],   e->place[1],   e->place[2],   e->distance};
        memcpy(rows + NUMBERS * i, row, sizeof row);
    }
    brio__free(events);
    return count;
}

EMSCRIPTEN_KEEPALIVE int web_note_contacts(World *w, int limit)
{
    BrioError error = {0};
    BrioStatus status = brio_sim_note_contacts(w->sim, limit, &error);
    return status == BRIO_OK ? 0 : refuse(&error, status);
}

/* ---- methods ---------------------------------------------------------------------------- */

BrioStatus integrator_values(const char *assignment, BrioSimDef *def, BrioError *error)
{
    return brio__scene_integrator("backward-euler", &assignment, 1, def, error);
}

/* Why integrators cannot be used in this scene, {"rk4": "", "verlet": "verlet does not go with
 * ...", ...}; "" if they can. */
EMSCRIPTEN_KEEPALIVE const char *web_offers(World *w)
{
    FILE *file = begin_text();
    if (!file) return NULL;
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
    return end_text(file);
}

/* The largest eigenvalue of M^-1 K in the present state, 1/s^2: an explicit method needs h below
 * its limit over the root of it. NAN: it is rejected. */
EMSCRIPTEN_KEEPALIVE double web_stiffness(World *w)
{
    BrioStiffness *stiffness;
    int64_t iterations;
    double largest = NAN;
    BrioStatus status = brio__stiffness_create(w->sim->system, &stiffness);
    if (status != BRIO_OK) return refuse(NULL, status), NAN;
    const double *x = web_positions(w);
    status = x ? brio__stiffness_at(stiffness, w->sim->state, x) : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK)
        status = brio__stiffness_largest(stiffness, 1e-3, 2000, &largest, &iterations);
    brio__stiffness_free(stiffness);
    if (status < 0) return refuse(NULL, status), NAN;
    return fabs(largest);
}

/* ---- linear stability [Shinya2004] ------------------------------------------------------ */

/* The oscillator m x'' = -k x - d x' under an integrator, as web_set_integrator takes it; NULL: it
 * is rejected, as methods without a matrix are. */
EMSCRIPTEN_KEEPALIVE BrioOscillator *web_oscillator(const char *assignment, double m)
{
    BrioSimDef def;
    BrioError error = {0};
    BrioOscillator *oscillator = NULL;
    BrioStatus status = integrator_values(assignment, &def, &error);
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
    FILE *file = begin_text();
    if (!file) return NULL;
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
    return end_text(file);
}
