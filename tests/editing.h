/* Random editing, for a short test and a long one: three scenes made without files, and operations
 * that are chosen by a seed. After each the books must add up; what is rejected must leave no
 * trace. */
#ifndef BRIO_TEST_EDITING_H
#define BRIO_TEST_EDITING_H

#include "sim/sim.h"

#include <string.h>

/* ---- scenes ----------------------------------------------------------------------------- */

static BrioMesh *editing_shape(const char *shape, const char *name0, const double *value0,
                               const char *name1, const double *value1)
{
    double values[BRIO_MAX_VALUES];
    BrioMesh *mesh = NULL;
    BrioError error = {0};
    const BrioField *fields = brio_shape_fields(shape);
    brio_fields_defaults(fields, values);
    brio_fields_set(fields, values, name0, value0, &error);
    if (name1) brio_fields_set(fields, values, name1, value1, &error);
    if (brio_mesh_shape(shape, values, &mesh, &error) != BRIO_OK) fail_msg("%s", error.message);
    return mesh;
}

/* A box of the given side, and a square sheet of it. */
static BrioMesh *editing_box(double side, double cells)
{
    return editing_shape("box", "size", (double[3]){side, side, side}, "cells",
                         (double[3]){cells, cells, cells});
}

static BrioMesh *editing_sheet(double side, double cells)
{
    double values[BRIO_MAX_VALUES];
    BrioMesh *mesh = NULL;
    BrioError error = {0};
    const BrioField *fields = brio_shape_fields("grid");
    brio_fields_defaults(fields, values);
    brio_fields_set(fields, values, "width", &side, &error);
    brio_fields_set(fields, values, "depth", &side, &error);
    brio_fields_set(fields, values, "cells_x", &cells, &error);
    brio_fields_set(fields, values, "cells_z", &cells, &error);
    if (brio_mesh_shape("grid", values, &mesh, &error) != BRIO_OK) fail_msg("%s", error.message);
    return mesh;
}

enum { EDITING_SOLID, EDITING_SHELL, EDITING_NET, EDITING_AFFINE, EDITING_KINDS };

static BrioStatus editing_add(BrioBuilder *b, const char *name, int kind, const double at[3],
                              int *body, BrioError *error)
{
    static const char *const material[] = {"stable-neo-hookean", "membrane-stvk", "hooke",
                                           "affine"};
    BrioBodyDef def = brio_default_body();
    BrioMesh *mesh = kind == EDITING_SOLID || kind == EDITING_AFFINE
                         ? editing_box(0.2, kind == EDITING_SOLID ? 2 : 1)
                         : editing_sheet(0.4, 4);
    def.name = name;
    def.mesh = mesh;
    BrioStatus status = brio_default_material(material[kind], &def.material, error);
    if (kind == EDITING_SOLID || kind == EDITING_AFFINE) {
        brio_material_set(&def.material, "E", kind == EDITING_SOLID ? 2e4 : 1e6, error);
        brio_material_set(&def.material, "rho", 500, error);
    } else if (kind == EDITING_NET) {
        brio_material_set(&def.material, "k", 200, error);
        brio_material_set(&def.material, "vertex_mass", 0.01, error);
    } else {
        brio_material_set(&def.material, "E", 1e5, error);
        brio_material_set(&def.material, "thickness", 1e-3, error);
        brio_material_set(&def.material, "rho", 300, error);
    }
    memcpy(def.translate, at, sizeof def.translate);
    if (status == BRIO_OK) status = brio_builder_body(b, &def, body, error);
    brio_mesh_free(mesh);
    return status;
}

enum { EDITING_BARRIERS, EDITING_FREE, EDITING_RODS, EDITING_SCENES };

static BrioSim *editing_sim(int scene)
{
    static const char *const integrator[] = {"backward-euler", "a-search", "bdf2"};
    BrioBuilder *b;
    BrioSystem *system;
    BrioState *state;
    BrioSim *sim = NULL;
    BrioError error = {0};
    BrioSimDef def = brio_default_sim(integrator[scene]);
    BrioStatus status = brio_builder_create(&b, &error);
    brio_builder_gravity(b, (double[3]){0, -9.8, 0});
    for (int i = 0; i < 2 && status == BRIO_OK; i++)
        status = editing_add(b, i ? "second" : "first", scene == EDITING_RODS ? EDITING_NET : i,
                             (double[3]){0.6 * i, 0.4, 0}, NULL, &error);
    if (scene == EDITING_BARRIERS) {
        BrioContactDef contact = brio_default_contact();
        contact.dhat = 5e-3;
        contact.mu = 0.2;
        brio_builder_contact(b, &contact);
        if (status == BRIO_OK)
            status =
                brio_builder_plane(b, "floor", (double[3]){0, 0, 0}, (double[3]){0, 1, 0}, &error);
    }
    if (scene == EDITING_RODS) brio_builder_rod(b, 0, 0, 1, 4, NAN, &error);
    if (status == BRIO_OK) status = brio_builder_finish(b, &system, &state, &error);
    brio_builder_free(b);
    def.h = 1.0 / 100;
    if (status == BRIO_OK) status = brio_sim_create(system, state, &def, &sim, &error);
    if (status != BRIO_OK) fail_msg("%s", error.message);
    return sim;
}

/* ---- operations ------------------------------------------------------------------------- */

typedef struct Editing {
    BrioSim *sim;
    int scene;
    BrioRandom random;
    int named; /* names given so far */
    int done[16], refused;
    double worst; /* largest error of the books, relative to the energies */
} Editing;

static int pick(Editing *e, int count) { return (int)(brio__random(&e->random) * count); }

/* A body that already exists. */
static int pick_body(Editing *e)
{
    const BrioSystem *s = brio_sim_system(e->sim);
    for (;;) {
        int body = pick(e, brio_system_bodies(s));
        if (brio_body_vertices(s, body) > 0) return body;
    }
}

static BrioStatus edit_obstacles(Editing *e, BrioBuilder *b, BrioError *error)
{
    const BrioSystem *s = brio_sim_system(e->sim);
    char name[32];
    snprintf(name, sizeof name, "o%d", e->named++);
    int live = 0, some = -1;
    for (int i = 0; i < brio_system_obstacles(s); i++)
        if (brio_obstacle_name(s, i)[0]) live++, some = i;
    if (live > 4) return brio_builder_remove_obstacle(b, some, error);
    if (pick(e, 3) == 0)
        return brio_builder_plane(b, name, (double[3]){0, -0.1 * pick(e, 5), 0},
                                  (double[3]){0, 1, 0}, error);
    BrioObstacleDef def = brio_default_obstacle();
    BrioMesh *mesh = editing_sheet(0.3, 2);
    def.name = name;
    def.mesh = mesh;
    for (int r = 0; r < 3; r++) def.translate[r] = 2 * brio__random(&e->random) - 0.5;
    BrioStatus status = brio_builder_obstacle(b, &def, error);
    brio_mesh_free(mesh);
    return status;
}

static BrioStatus edit_bodies(Editing *e, BrioBuilder *b, BrioError *error)
{
    const BrioSystem *s = brio_sim_system(e->sim);
    int live = 0;
    for (int i = 0; i < brio_system_bodies(s); i++) live += brio_body_vertices(s, i) > 0;
    if (live > 5 || (live > 2 && pick(e, 3) == 0))
        return brio_builder_remove_body(b, pick_body(e), error);
    char name[32];
    snprintf(name, sizeof name, "b%d", e->named++);
    double at[3];
    for (int r = 0; r < 3; r++) at[r] = 3 * brio__random(&e->random) - (r == 1 ? -0.15 : 1);
    int kind = e->scene == EDITING_RODS ? EDITING_NET : pick(e, EDITING_KINDS);
    return editing_add(b, name, kind, at, NULL, error);
}

static BrioStatus edit_pins(Editing *e, BrioBuilder *b, BrioError *error)
{
    const BrioSystem *s = brio_sim_system(e->sim);
    int body = pick_body(e);
    int32_t vertex[32], count = (int32_t)BRIO_MIN(brio_body_vertices(s, body), 32);
    bool whole = !strcmp(brio_body_material(s, body), "affine");
    for (int i = 0; i < count; i++) vertex[i] = whole ? i : pick(e, count);
    int64_t some = whole ? count : 2;
    switch (pick(e, 4)) {
    case 0: return brio_builder_fix(b, body, vertex, some, NULL, error);
    case 1: return brio_builder_unfix(b, body, vertex, whole ? count : 16, error);
    case 2: return brio_builder_detach(b, body, vertex[0], error);
    default: break;
    }
    return brio_builder_attach(b, body, vertex[0], (double[3]){0, 1, brio__random(&e->random)}, 50,
                               NULL, error);
}

static BrioStatus edit_forces(Editing *e, BrioBuilder *b, BrioError *error)
{
    const BrioSystem *s = brio_sim_system(e->sim);
    BrioForceDef def;
    char name[32];
    snprintf(name, sizeof name, "f%d", e->named++);
    if (brio_system_forces(s) > 2) {
        snprintf(name, sizeof name, "%s", s->force[pick(e, s->force_count)].name);
        return brio_builder_remove_force(b, name, error);
    }
    int kind = pick(e, 3), body = pick_body(e);
    BRIO_CHECK(brio_default_force(kind == 2 ? "wind" : "constant", &def, error));
    const char *field = kind == 2 ? "velocity" : "force";
    BRIO_CHECK(brio_force_set(&def, field, (double[3]){0.1, 0.2, 0}, error));
    def.name = name;
    def.bodies = &body;
    def.body_count = kind != 1;
    if (kind == 1) /* of all bodies, what is in a box now */
        memcpy(def.box, (double[6]){-9, 0.3, -9, 9, 9, 9}, sizeof def.box);
    return brio_builder_force(b, &def, error);
}

static BrioStatus edit_cut(Editing *e, BrioBuilder *b, BrioError *error)
{
    int body = pick_body(e);
    int64_t n = brio_body_vertices(brio_sim_system(e->sim), body);
    double *x = brio__alloc(3 * (size_t)n, sizeof *x), centre[3] = {0, 0, 0}, normal[3];
    brio_sim_positions(e->sim, body, x);
    for (int64_t k = 0; k < 3 * n; k++) centre[k % 3] += x[k] / (double)n;
    brio__free(x);
    for (int r = 0; r < 3; r++) {
        normal[r] = brio__random(&e->random) - 0.5;
        centre[r] += 0.05 * (brio__random(&e->random) - 0.5);
    }
    if (n > 200 || pick(e, 2)) /* a small knife instead of a plane */
        return brio_builder_cut(b, body,
                                (double[9]){centre[0] - 0.2, centre[1] - 0.2, centre[2],
                                            centre[0] + 0.2, centre[1] - 0.2, centre[2], centre[0],
                                            centre[1] + 0.3, centre[2]},
                                (int32_t[3]){0, 1, 2}, 1, NULL, error);
    return brio_builder_cut_plane(b, body, centre, normal, NULL, error);
}

static BrioStatus edit_rods(Editing *e, BrioBuilder *b, BrioError *error)
{
    const BrioSystem *s = brio_sim_system(e->sim);
    if (s->constraint_count > 3) {
        const BrioPoint *end = s->constraint[pick(e, s->constraint_count)].point;
        int32_t v = end[0].vertex[0], w = end[1].vertex[0];
        int from = brio__system_owner(s, v), to = brio__system_owner(s, w);
        return brio_builder_remove_rod(b, from, v - (int32_t)s->body[from].first, to,
                                       w - (int32_t)s->body[to].first, error);
    }
    int a = pick_body(e), c = pick_body(e);
    return brio_builder_rod(b, a, pick(e, (int)brio_body_vertices(s, a)), c,
                            pick(e, (int)brio_body_vertices(s, c)), NAN, error);
}

/* What the simulation is, to the bit. */
static uint64_t editing_hash(const BrioSim *sim)
{
    uint64_t hash = 0xcbf29ce484222325u;
    const unsigned char *bytes = (const unsigned char *)sim->state->q;
    size_t size = sim->state->bytes - (size_t)((char *)sim->state->q - (char *)sim->state);
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
    bytes = (const unsigned char *)&sim->state->added;
    for (size_t i = 0; i < sizeof sim->state->added; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

static double editing_scale(const BrioLedger *l)
{
    return fmax(1, fabs(l->kinetic) + fabs(l->elastic) + fabs(l->gravity) + fabs(l->contact));
}

static void check_books(Editing *e, const BrioLedger *before)
{
    BrioLedger now;
    assert_int_equal(brio_sim_ledger(e->sim, &now), BRIO_OK);
    double error = fabs((now.added - before->added) - (now.total - before->total));
    e->worst = brio__larger(e->worst, error / fmax(editing_scale(before), editing_scale(&now)));
    if (e->worst > 1e-10) fail_msg("an edit books %g J too much", error);
    assert_true(fabs(now.dissipated - before->dissipated) < 1e-14 * editing_scale(&now));
    assert_true(brio__all_finite(e->sim->state->coordinates, e->sim->state->q));
}

typedef BrioStatus EditFn(Editing *e, BrioBuilder *b, BrioError *error);

/* One to three changes at once. */
static void edit_once(Editing *e)
{
    static EditFn *const operation[] = {edit_bodies, edit_pins,      edit_forces,
                                        edit_cut,    edit_obstacles, edit_rods};
    BrioLedger before;
    BrioError error = {0};
    BrioBuilder *b;
    int changes = 1 + pick(e, 3), kinds = 4, done = 0;
    uint64_t hash = editing_hash(e->sim);
    brio_sim_ledger(e->sim, &before);
    assert_int_equal(brio_sim_edit(e->sim, &b, &error), BRIO_OK);
    for (int i = 0; i < changes; i++) {
        int which = pick(e, kinds + 1);
        if (which == kinds) which = e->scene == EDITING_RODS ? 5 : e->scene == EDITING_FREE ? 0 : 4;
        BrioStatus status = operation[which](e, b, &error);
        done += status == BRIO_OK;
        e->done[which] += status == BRIO_OK;
        if (status != BRIO_OK) assert_true(error.message[0]);
    }
    error = (BrioError){0};
    if (done && brio_sim_commit(e->sim, b, &error) == BRIO_OK) {
        check_books(e, &before);
        return;
    }
    if (done) e->refused++;
    if (done && !error.message[0]) fail_msg("an edit was rejected without a reason");
    brio_builder_free(b);
    assert_true(editing_hash(e->sim) == hash);
}

/* A mesh that pushes what is in its way. */
static void move_once(Editing *e)
{
    const BrioSystem *s = brio_sim_system(e->sim);
    for (int i = 0; i < brio_system_obstacles(s); i++) {
        int64_t n = brio_obstacle_vertices(s, i);
        if (n == 0 || pick(e, 2)) continue;
        double *x = brio__alloc(3 * (size_t)n, sizeof *x);
        brio_sim_obstacle_positions(e->sim, i, x);
        double shift = 0.04 * (brio__random(&e->random) - 0.5), bend = pick(e, 2);
        for (int64_t v = 0; v < n; v++) x[3 * v + 1] += shift * (1 - 0.5 * bend * (double)(v % 2));
        BrioError error = {0};
        BrioLedger before;
        brio_sim_ledger(e->sim, &before);
        if (brio_sim_move_obstacle_to(e->sim, i, x, &error) != BRIO_OK)
            fail_msg("%s", error.message);
        brio__free(x);
        check_books(e, &before);
        s = brio_sim_system(e->sim);
        e->done[6]++;
    }
}

/* Operation number i. */
static void edit_step(Editing *e, int i)
{
    BrioError error = {0};
    if (i % 8 == 7) move_once(e);
    edit_once(e);
    if (i % 3 == 0 && brio_sim_step(e->sim, &error) != BRIO_OK) fail_msg("%s", error.message);
}

/* `count` operations from a seed; in the middle a checkpoint, from which a new simulation must come
 * to the same bits. */
static void edit_many(int scene, int count, uint64_t seed, const char *file)
{
    Editing e = {.sim = editing_sim(scene), .scene = scene, .random = {seed}}, saved;
    for (int i = 0; i < count / 2; i++) edit_step(&e, i);
    BrioError error = {0};
    if (brio_sim_save(e.sim, file, 1, &error) != BRIO_OK) fail_msg("%s", error.message);
    saved = e;
    for (int i = count / 2; i < count; i++) edit_step(&e, i);
    saved.sim = editing_sim(scene);
    if (brio_sim_restore(saved.sim, file, &error) != BRIO_OK) fail_msg("%s", error.message);
    for (int i = count / 2; i < count; i++) edit_step(&saved, i);
    assert_true(editing_hash(e.sim) == editing_hash(saved.sim));
    print_message(
        "scene %d: bodies %d, pins %d, forces %d, cuts %d, obstacles %d, rods %d, moves %d; "
        "%d refused; books to %.1e\n",
        scene, e.done[0], e.done[1], e.done[2], e.done[3], e.done[4], e.done[5], e.done[6],
        e.refused, e.worst);
    assert_true(e.done[0] > 0 && e.done[1] > 0 && e.done[2] > 0 && e.done[3] > 0);
    brio_sim_free(e.sim);
    brio_sim_free(saved.sim);
}

#endif
