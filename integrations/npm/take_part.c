/* Taking part in a world that runs: hands, materials, gravity, methods, positions; edits, which
 * create all lists and views of the world again; checkpoints. */
#include "engine.h"

#include <string.h>

/* A call that leaves its sentence in `error`. */
static int told(const BrioError *error, BrioStatus status)
{
    return status == BRIO_OK ? 0 : refuse(error, status);
}

/* ---- hands ------------------------------------------------------------------------------ */

/* A hand where a ray (origin, direction) first meets a body, and the place through `hit`; -1: it
 * meets nothing; -2: it is rejected. */
EMSCRIPTEN_KEEPALIVE int web_grab_ray(World *w, const double *ray, double k, double *hit)
{
    int hand = -1;
    BrioError error = {0};
    BrioStatus status = brio_sim_grab_ray(w->sim, ray, ray + 3, k, &hand, hit, &error);
    return told(&error, status) ? -2 : hand;
}

/* At the point of a body (-1: of any) that is nearest to `point`, or at a vertex of it (-1: by the
 * point). -2: it is rejected. */
EMSCRIPTEN_KEEPALIVE int web_grab(World *w, int body, int vertex, const double *point, double k)
{
    int hand = -1;
    BrioError error = {0};
    BrioStatus status = vertex >= 0 ? brio_sim_grab_vertex(w->sim, body, vertex, k, &hand, &error)
                                    : brio_sim_grab(w->sim, body, point, k, &hand, &error);
    return told(&error, status) ? -2 : hand;
}

EMSCRIPTEN_KEEPALIVE int web_drag(World *w, int hand, const double *point)
{
    BrioError error = {0};
    return told(&error, brio_sim_drag(w->sim, hand, point, &error));
}
EMSCRIPTEN_KEEPALIVE int web_release(World *w, int hand)
{
    BrioError error = {0};
    return told(&error, brio_sim_release(w->sim, hand, &error));
}

/* Where a hand is, what it holds, how firm it is, and the body: point, grip, k, body. NULL: that
 * hand holds nothing. */
EMSCRIPTEN_KEEPALIVE const double *web_hand(World *w, int hand)
{
    static double place[8];
    BrioHand now;
    if (brio_sim_hand(w->sim, hand, &now) != BRIO_OK) return NULL;
    memcpy(place, now.point, sizeof now.point);
    memcpy(place + 3, now.grip, sizeof now.grip);
    place[6] = now.k;
    place[7] = now.body;
    return place;
}

/* ---- parameters ------------------------------------------------------------------------- */

EMSCRIPTEN_KEEPALIVE int web_set_gravity(World *w, const double *gravity)
{
    BrioError error = {0};
    return told(&error, brio_sim_set_gravity(w->sim, gravity, &error));
}

EMSCRIPTEN_KEEPALIVE const char *web_material(const World *w, int body)
{
    return brio_body_material(w->sim->system, body);
}
/* NAN: it has no such parameter. */
EMSCRIPTEN_KEEPALIVE double web_material_value(const World *w, int body, const char *name)
{
    double value;
    return brio_sim_material(w->sim, body, name, &value) == BRIO_OK ? value : NAN;
}
EMSCRIPTEN_KEEPALIVE int web_set_material(World *w, int body, const char *name, double value)
{
    BrioError error = {0};
    return told(&error, brio_sim_set_material(w->sim, body, name, value, &error));
}

/* NAN: there is no such model, or it has no such value. */
EMSCRIPTEN_KEEPALIVE double web_damping_value(const World *w, int model, const char *name)
{
    double value;
    return brio_sim_damping(w->sim, model, name, &value) == BRIO_OK ? value : NAN;
}
EMSCRIPTEN_KEEPALIVE int web_set_damping(World *w, int model, const char *name, double value)
{
    BrioError error = {0};
    return told(&error, brio_sim_set_damping(w->sim, model, name, value, &error));
}

/* A factor of the force of a name. */
EMSCRIPTEN_KEEPALIVE int web_set_force(World *w, const char *name, double factor)
{
    BrioError error = {0};
    int force = brio_system_force(w->sim->system, name);
    if (force < 0) {
        brio__error(&error, BRIO_ERROR_ARGUMENT, "there is no force \"%.200s\"", name);
        return refuse(&error, BRIO_ERROR_ARGUMENT);
    }
    return told(&error, brio_sim_set_force(w->sim, force, factor, &error));
}

EMSCRIPTEN_KEEPALIVE int web_set_integrator(World *w, const char *assignment)
{
    BrioSimDef def;
    BrioError error = {0};
    BrioStatus status = integrator_values(assignment, &def, &error);
    if (status != BRIO_OK) return refuse(&error, status);
    return told(&error, brio_sim_set_integrator(w->sim, def.integrator, def.values, &error));
}
EMSCRIPTEN_KEEPALIVE const char *web_integrator(const World *w)
{
    return brio_sim_integrator(w->sim, NULL);
}

/* The energy that an integrator which controls it aims at from now on. */
EMSCRIPTEN_KEEPALIVE void web_set_target(World *w, double target)
{
    w->sim->state->target = target;
}

/* ---- the state -------------------------------------------------------------------------- */

/* A copy of the state, for calls that make several changes or none: web_take_back returns to it,
 * and web_drop frees it. NULL: it is rejected. */
EMSCRIPTEN_KEEPALIVE BrioState *web_keep(const World *w)
{
    BrioState *kept = NULL;
    BrioError error = {0};
    told(&error, brio_state_copy(w->sim->state, &kept, &error));
    return kept;
}
EMSCRIPTEN_KEEPALIVE void web_take_back(World *w, const BrioState *kept)
{
    brio_state_assign(w->sim->state, kept);
}
EMSCRIPTEN_KEEPALIVE void web_drop(BrioState *kept) { brio_state_free(kept); }

EMSCRIPTEN_KEEPALIVE int web_set_positions(World *w, int body, const double *x)
{
    BrioError error = {0};
    w->fresh = false;
    return told(&error, brio_sim_set_positions(w->sim, body, x, &error));
}
EMSCRIPTEN_KEEPALIVE int web_set_velocities(World *w, int body, const double *v)
{
    BrioError error = {0};
    return told(&error, brio_sim_set_velocities(w->sim, body, v, &error));
}

/* Positions and velocities of all bodies, and what is fixed here stands where it stood there. All
 * bodies go at once: alone, one might be where another still is. */
static BrioStatus take_motion(World *w, World *from, BrioError *error)
{
    const double *x = web_positions(from), *v = web_velocities(from);
    const BrioSystem *s = w->sim->system;
    BrioState *state = w->sim->state;
    double before = brio__sim_energy(w->sim);
    if (!x || !v) return BRIO_ERROR_MEMORY;
    for (int64_t k = 0; k < s->fixed_count && s->fixed[k] < s->body_vertices; k++)
        if (s->scripted_count == 0)
            memcpy(state->anchor + 3 * k, x + 3 * s->fixed[k], 3 * sizeof *x);
    for (int b = 0; b < s->body_count; b++)
        BRIO_CHECK(brio__sim_set_vertices(w->sim, b, x + 3 * s->body[b].first, state->q, error));
    /* which checks all of them */
    BRIO_CHECK(brio_sim_set_positions(w->sim, 0, x + 3 * s->body[0].first, error));
    brio__sim_book(w->sim, before);
    for (int b = 0; b < s->body_count; b++)
        BRIO_CHECK(brio_sim_set_velocities(w->sim, b, v + 3 * s->body[b].first, error));
    return BRIO_OK;
}

/* Goes on from where `from`, a world of the same vertices, is: time, positions, velocities and the
 * ledger. Another integrator, other pins and springs, another material all go through this. */
EMSCRIPTEN_KEEPALIVE int web_continue(World *w, World *from)
{
    BrioState *state = w->sim->state, *old = from->sim->state;
    int64_t here = w->sim->system->body_vertices, there = from->sim->system->body_vertices;
    BrioError error = {0};
    if (here != there) {
        brio__error(&error, BRIO_ERROR_ARGUMENT,
                    "the scene has %lld vertices and not %lld: it starts from its initial state",
                    (long long)here, (long long)there);
        return refuse(&error, BRIO_ERROR_ARGUMENT);
    }
    BrioState *kept;
    BrioStatus status = brio_state_copy(state, &kept, &error);
    if (status != BRIO_OK) return refuse(&error, status);
    w->fresh = false;
    BrioLedger before, after;
    brio_sim_ledger(from->sim, &before);
    state->time = old->time;
    state->time_error = old->time_error;
    state->step = old->step;
    status = take_motion(w, from, &error);
    if (status != BRIO_OK) brio_state_assign(state, kept);
    brio_state_free(kept);
    if (status != BRIO_OK) return refuse(&error, status);
    brio_sim_ledger(w->sim, &after);
    state->first = old->first;
    state->unfinished = old->unfinished;
    memcpy(state->dissipated, old->dissipated, sizeof state->dissipated);
    state->added = old->added + after.total - before.total;
    return 0;
}

EMSCRIPTEN_KEEPALIVE int web_save(World *w, const char *file)
{
    BrioError error = {0};
    return told(&error, brio_sim_save(w->sim, file, true, &error));
}

EMSCRIPTEN_KEEPALIVE int web_restore(World *w, const char *file)
{
    BrioError error = {0};
    BrioStatus status = brio_sim_restore(w->sim, file, &error);
    if (status != BRIO_OK) return refuse(&error, status);
    return list_anew(w);
}

/* ---- obstacles that move ---------------------------------------------------------------- */

/* Over the next step the vertices of a mesh go to x. The first move builds a new system. */
EMSCRIPTEN_KEEPALIVE int web_move_obstacle_to(World *w, int obstacle, const double *x)
{
    BrioError error = {0};
    const BrioSystem *before = w->sim->system;
    BrioStatus status = brio_sim_move_obstacle_to(w->sim, obstacle, x, &error);
    if (status != BRIO_OK) return refuse(&error, status);
    if (w->sim->system == before) return 0;
    return list_anew(w);
}

/* The same, to `place`: nine numbers of a matrix, row by row, and three of a translation, of where
 * the obstacle was added. */
EMSCRIPTEN_KEEPALIVE int web_move_obstacle(World *w, int obstacle, const double *place)
{
    BrioError error = {0};
    const BrioSystem *before = w->sim->system;
    BrioStatus status = brio_sim_move_obstacle(w->sim, obstacle, place, place + 9, &error);
    if (status != BRIO_OK) return refuse(&error, status);
    if (w->sim->system == before) return 0;
    return list_anew(w);
}

/* ---- edits ------------------------------------------------------------------------------ */

/* What one entry of an edit does. */
typedef BrioStatus Change(BrioNode *node, BrioBuilder *edit, BrioError *error);

static BrioStatus each(BrioNode *list, Change *change, BrioBuilder *edit, BrioError *error)
{
    if (!list) return BRIO_OK;
    if (list->kind != BRIO_NODE_LIST) return brio__node_error(list, error, "expected a list");
    for (int i = 0; i < list->count; i++) BRIO_CHECK(change(list->child[i], edit, error));
    return BRIO_OK;
}

/* The sentence of the builder, at the node. */
static BrioStatus at_node(const BrioNode *node, BrioStatus status, const BrioError *inner,
                          BrioError *error)
{
    if (status == BRIO_OK) return BRIO_OK;
    brio__node_error(node, error, "%s", inner->message);
    error->status = status;
    return status;
}

static BrioStatus find_body(BrioNode *node, const BrioBuilder *edit, int *body, BrioError *error)
{
    const char *name, *names[256];
    int count = 0;
    BRIO_CHECK(brio__node_text(node, &name, error));
    *body = name[0] ? brio__builder_find(edit, name) : -1;
    if (*body >= 0) return BRIO_OK;
    for (int i = 0; count < (int)BRIO_COUNT(names) && brio__builder_name(edit, i); i++)
        if (brio__builder_name(edit, i)[0]) names[count++] = brio__builder_name(edit, i);
    const char *nearest = brio__nearest(name, names, count);
    return brio__node_error(node, error, "no body \"%s\"; there is \"%s\"", name,
                            nearest ? nearest : names[0]);
}

static BrioStatus remove_body(BrioNode *node, BrioBuilder *edit, BrioError *error)
{
    int body;
    BrioError inner = {0};
    BRIO_CHECK(find_body(node, edit, &body, error));
    return at_node(node, brio_builder_remove_body(edit, body, &inner), &inner, error);
}

static BrioStatus remove_obstacle(BrioNode *node, BrioBuilder *edit, BrioError *error)
{
    const char *name;
    BrioError inner = {0};
    BRIO_CHECK(brio__node_text(node, &name, error));
    int obstacle = name[0] ? brio__builder_find_obstacle(edit, name) : -1;
    if (obstacle < 0) return brio__node_error(node, error, "there is no obstacle \"%s\"", name);
    return at_node(node, brio_builder_remove_obstacle(edit, obstacle, &inner), &inner, error);
}

static BrioStatus remove_constraint(BrioNode *node, BrioBuilder *edit, BrioError *error)
{
    const char *name;
    BrioError inner = {0};
    BRIO_CHECK(brio__node_text(node, &name, error));
    return at_node(node, brio_builder_remove_constraint(edit, name, &inner), &inner, error);
}

static BrioStatus remove_force(BrioNode *node, BrioBuilder *edit, BrioError *error)
{
    const char *name;
    BrioError inner = {0};
    BRIO_CHECK(brio__node_text(node, &name, error));
    return at_node(node, brio_builder_remove_force(edit, name, &inner), &inner, error);
}

/* A map with just these keys. */
static BrioStatus expect_keys(BrioNode *map, const char *const *names, int count, BrioError *error)
{
    if (map->kind != BRIO_NODE_MAP) return brio__node_error(map, error, "expected an object");
    for (int i = 0; i < count; i++) brio__node_get(map, names[i]);
    return brio__node_unknown(map, names, count, error);
}

static BrioStatus needed(BrioNode *map, const char *name, BrioNode **node, BrioError *error)
{
    *node = brio__node_get(map, name);
    return *node ? BRIO_OK : brio__node_error(map, error, "missing key \"%s\"", name);
}

/* {body, vertices}: fixed where they are, or freed. */
static BrioStatus pin(BrioNode *node, BrioBuilder *edit, bool fix, BrioError *error)
{
    static const char *const keys[] = {"body", "vertices"};
    BrioNode *named, *list;
    int body;
    BrioError inner = {0};
    BRIO_CHECK(expect_keys(node, keys, BRIO_COUNT(keys), error));
    BRIO_CHECK(needed(node, "body", &named, error));
    BRIO_CHECK(needed(node, "vertices", &list, error));
    BRIO_CHECK(find_body(named, edit, &body, error));
    if (list->kind != BRIO_NODE_LIST) return brio__node_error(list, error, "expected a list");
    int32_t *vertices = brio__alloc((size_t)list->count + 1, sizeof *vertices);
    if (!vertices) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    BrioStatus status = BRIO_OK;
    for (int i = 0; i < list->count && status == BRIO_OK; i++) {
        int64_t vertex = 0;
        status = brio__node_integer(list->child[i], &vertex, error);
        vertices[i] = (int32_t)BRIO_MIN(BRIO_MAX(vertex, (int64_t)-1), (int64_t)INT32_MAX);
    }
    if (status == BRIO_OK) {
        status = fix ? brio_builder_fix(edit, body, vertices, list->count, NULL, &inner)
                     : brio_builder_unfix(edit, body, vertices, list->count, &inner);
        status = at_node(list, status, &inner, error);
    }
    brio__free(vertices);
    return status;
}

static BrioStatus fix_vertices(BrioNode *node, BrioBuilder *edit, BrioError *error)
{
    return pin(node, edit, true, error);
}

static BrioStatus free_vertices(BrioNode *node, BrioBuilder *edit, BrioError *error)
{
    return pin(node, edit, false, error);
}

/* {body, point, normal}: along a plane. */
static BrioStatus cut_body(BrioNode *node, BrioBuilder *edit, BrioError *error)
{
    static const char *const keys[] = {"body", "point", "normal"};
    BrioNode *value[3];
    int body;
    double point[3], normal[3];
    BrioError inner = {0};
    BRIO_CHECK(expect_keys(node, keys, BRIO_COUNT(keys), error));
    for (int i = 0; i < 3; i++) BRIO_CHECK(needed(node, keys[i], &value[i], error));
    BRIO_CHECK(find_body(value[0], edit, &body, error));
    BRIO_CHECK(brio__node_reals(value[1], point, 3, error));
    BRIO_CHECK(brio__node_reals(value[2], normal, 3, error));
    return at_node(node, brio_builder_cut_plane(edit, body, point, normal, NULL, &inner), &inner,
                   error);
}

/* In this order: what goes, what is cut, what is freed and fixed, what comes. */
static BrioStatus make_changes(BrioNode *root, BrioBuilder *edit, BrioError *error)
{
    static const char *const keys[] = {"remove", "cut", "unfix", "fix", "add"};
    static const struct {
        const char *name;
        Change *change;
    } removals[] = {{"constraints", remove_constraint},
                    {"forces", remove_force},
                    {"bodies", remove_body},
                    {"obstacles", remove_obstacle}};
    BRIO_CHECK(expect_keys(root, keys, BRIO_COUNT(keys), error));
    BrioNode *removed = brio__node_get(root, "remove"), *added = brio__node_get(root, "add");
    if (removed) {
        const char *names[BRIO_COUNT(removals)];
        for (size_t i = 0; i < BRIO_COUNT(removals); i++) names[i] = removals[i].name;
        BRIO_CHECK(expect_keys(removed, names, BRIO_COUNT(names), error));
        for (size_t i = 0; i < BRIO_COUNT(removals); i++)
            BRIO_CHECK(each(brio__node_get(removed, names[i]), removals[i].change, edit, error));
    }
    BRIO_CHECK(each(brio__node_get(root, "cut"), cut_body, edit, error));
    BRIO_CHECK(each(brio__node_get(root, "unfix"), free_vertices, edit, error));
    BRIO_CHECK(each(brio__node_get(root, "fix"), fix_vertices, edit, error));
    return added ? brio__scene_add(added, edit, error) : BRIO_OK;
}

/* All changes of a document in JSON, or none. All lists and views of the world are others after
 * it. */
EMSCRIPTEN_KEEPALIVE int web_edit(World *w, const char *json)
{
    BrioNode *root = NULL;
    BrioBuilder *edit = NULL;
    BrioError error = {0};
    BrioStatus status = brio__tree_parse(json, strlen(json), "scene", &root, &error);
    if (status == BRIO_OK) status = brio_sim_edit(w->sim, &edit, &error);
    if (status == BRIO_OK) status = make_changes(root, edit, &error);
    if (status == BRIO_OK) status = brio_sim_commit(w->sim, edit, &error);
    brio__tree_free(root);
    if (status != BRIO_OK) {
        brio_builder_free(edit);
        return refuse(&error, status);
    }
    return list_anew(w);
}
