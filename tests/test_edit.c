/* Editing a simulation that runs: numbers that stay, what is rejected, cuts, moved obstacles
 * against scripted ones, contact events against momenta, buffers for drawing, a failing allocator,
 * and random editing with a checkpoint in between. */
#include "sim/edit.h"

#include "build/build.h"

#include <stdlib.h>
#include <unistd.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include "contact/contact.h"
#include "contact/exact.h"
#include "editing.h"
#include "memory.h"
#include "simulate.h"

static BrioBuilder *begin(BrioSim *sim)
{
    BrioBuilder *b;
    BrioError error = {0};
    if (brio_sim_edit(sim, &b, &error) != BRIO_OK) fail_msg("%s", error.message);
    return b;
}

static void commit(BrioSim *sim, BrioBuilder *b)
{
    BrioError error = {0};
    if (brio_sim_commit(sim, b, &error) != BRIO_OK) fail_msg("%s", error.message);
}

static void refused(BrioStatus status, const BrioError *error, const char *words)
{
    assert_int_not_equal(status, BRIO_OK);
    if (!strstr(error->message, words)) fail_msg("\"%s\" lacks \"%s\"", error->message, words);
}

/* ---- numbers ---------------------------------------------------------------------------- */

static void numbers_stay(void **unused)
{
    (void)unused;
    BrioSim *sim = editing_sim(EDITING_BARRIERS);
    BrioError error = {0};
    BrioBuilder *b = begin(sim);
    int third, again;
    assert_int_equal(editing_add(b, "third", EDITING_SOLID, (double[3]){0, 1, 0}, &third, &error),
                     BRIO_OK);
    assert_int_equal(third, 2);
    commit(sim, b);
    step(sim, 2);
    double x[81], y[81];
    brio_sim_positions(sim, 2, x);
    b = begin(sim);
    assert_int_equal(brio_builder_remove_body(b, 0, &error), BRIO_OK);
    assert_int_equal(brio_builder_remove_obstacle(b, 0, &error), BRIO_OK);
    commit(sim, b);
    const BrioSystem *s = brio_sim_system(sim);
    assert_int_equal(brio_system_bodies(s), 3);
    assert_int_equal(brio_body_vertices(s, 0), 0);
    assert_string_equal(brio_body_name(s, 0), "");
    assert_int_equal(brio_system_body(s, "third"), 2);
    assert_int_equal(brio_system_obstacle(s, "floor"), -1);
    int hand;
    refused(brio_sim_grab(sim, 0, x, NAN, &hand, &error), &error, "there is no body 0");
    assert_int_equal(hand, -1);
    brio_sim_positions(sim, 2, y);
    assert_memory_equal(x, y, sizeof x);
    step(sim, 2);
    b = begin(sim);
    assert_int_equal(editing_add(b, "new", EDITING_AFFINE, (double[3]){0, 2, 0}, &again, &error),
                     BRIO_OK);
    assert_int_equal(again, 0);
    double down[3] = {0, 1, 0}, low[3] = {0, -3, 0};
    assert_int_equal(brio_builder_plane(b, NULL, low, down, &error), BRIO_OK);
    commit(sim, b);
    assert_int_equal(brio_system_obstacle(brio_sim_system(sim), "obstacle0"), 0);
    step(sim, 2);
    brio_sim_free(sim);
}

/* ---- what is rejected -------------------------------------------------------------------- */

static void sentences(void **unused)
{
    (void)unused;
    BrioSim *sim = editing_sim(EDITING_BARRIERS), *other = editing_sim(EDITING_FREE);
    BrioError error = {0};
    BrioBuilder *b = begin(sim);
    const double none[3] = {0, 0, 0}, in[3] = {0.05, 0.45, 0.02}, up[3] = {0, 0.8, 0};
    uint64_t hash = editing_hash(sim);
    refused(brio_builder_remove_body(b, 7, &error), &error, "there is no body 7");
    refused(brio_builder_remove_obstacle(b, 3, &error), &error, "there is no obstacle 3");
    refused(brio_builder_remove_rod(b, 0, 1, 1, 2, &error), &error, "no rod joins");
    refused(brio_builder_detach(b, 0, 1, &error), &error, "has no attachment");
    refused(brio_builder_remove_force(b, "storm", &error), &error, "no force \"storm\"");
    refused(brio_builder_cut_plane(b, 0, none, none, NULL, &error), &error, "a normal");
    refused(brio_builder_cut(b, 0, none, NULL, 1, NULL, &error), &error, "a knife needs");
    /* into another body: refused, and can be mended */
    int body;
    assert_int_equal(editing_add(b, "in", EDITING_SOLID, in, &body, &error), BRIO_OK);
    refused(brio_sim_commit(sim, b, &error), &error, "the edit was not made");
    assert_non_null(strstr(brio_sim_reason(sim), "first"));
    assert_true(editing_hash(sim) == hash);
    assert_int_equal(brio_builder_remove_body(b, body, &error), BRIO_OK);
    assert_int_equal(editing_add(b, "up", EDITING_SOLID, up, &body, &error), BRIO_OK);
    refused(brio_sim_commit(other, b, &error), &error, "does not belong here");
    commit(sim, b);
    /* behind the floor; nothing left; a step in between */
    b = begin(sim);
    editing_add(b, "low", EDITING_SOLID, (double[3]){0, -1, 0}, NULL, &error);
    refused(brio_sim_commit(sim, b, &error), &error, "is behind");
    brio_builder_free(b);
    b = begin(sim);
    for (int i = 0; i < 3; i++) brio_builder_remove_body(b, i, &error);
    refused(brio_sim_commit(sim, b, &error), &error, "nothing can move");
    step(sim, 1);
    refused(brio_sim_commit(sim, b, &error), &error, "does not belong here");
    brio_builder_free(b);
    /* what the integrator cannot take */
    assert_int_equal(brio_sim_set_integrator(other, "rk4", NULL, &error), BRIO_OK);
    b = begin(other);
    assert_int_equal(brio_builder_rod(b, 0, 0, 1, 0, NAN, &error), BRIO_OK);
    refused(brio_sim_commit(other, b, &error), &error, "does not take");
    brio_builder_free(b);
    /* obstacles */
    refused(brio_sim_move_obstacle_to(sim, 5, none, &error), &error, "there is no obstacle 5");
    refused(brio_sim_move_obstacle_to(sim, 0, none, &error), &error, "has a formula");
    refused(brio_sim_note_contacts(sim, -1, &error), &error, "between 0 and");
    refused(brio_sim_draw(sim, 9, &(BrioVertexBuffers){0}, &error), &error, "there is no body 9");
    brio_sim_free(sim);
    brio_sim_free(other);
}

/* ---- cuts ------------------------------------------------------------------------------- */

/* How many vertices no element joins to the first one, of a body. */
static int64_t apart_from_first(const BrioSystem *s, int body)
{
    int64_t n = brio_body_vertices(s, body), tets, triangles, left = n;
    const int32_t *tet = brio_body_tets(s, body, &tets);
    const int32_t *triangle = brio_body_triangles(s, body, &triangles);
    int nodes = tets ? 4 : 3;
    uint8_t *reached = calloc((size_t)n, 1);
    reached[0] = 1;
    for (bool more = true; more;) {
        more = false;
        for (int64_t e = 0; e < (tets ? tets : triangles); e++) {
            const int32_t *v = (tets ? tet : triangle) + nodes * e;
            bool any = false, all = true;
            for (int k = 0; k < nodes; k++) any |= reached[v[k]], all &= reached[v[k]];
            for (int k = 0; any && k < nodes; k++) reached[v[k]] = 1;
            more |= any && !all;
        }
    }
    for (int64_t v = 0; v < n; v++) left -= reached[v];
    free(reached);
    return left;
}

static void cuts(void **unused)
{
    (void)unused;
    for (int scene = EDITING_BARRIERS; scene <= EDITING_FREE; scene++)
        for (int body = 0; body < 2; body++) { /* a solid and a shell */
            BrioSim *sim = editing_sim(scene);
            step(sim, 5);
            BrioLedger before = ledger(sim);
            double mass = brio__body_mass(brio_sim_system(sim), body);
            int64_t parted, n = brio_body_vertices(brio_sim_system(sim), body);
            BrioBuilder *b = begin(sim);
            BrioError error = {0};
            double normal[3] = {1, 0.1, 0.05}, at[3] = {body ? 0.61 : 0.02, 0.4, 0};
            if (brio_builder_cut_plane(b, body, at, normal, &parted, &error) != BRIO_OK)
                fail_msg("%s", error.message);
            assert_true(parted > 0);
            commit(sim, b);
            BrioLedger now = ledger(sim);
            const BrioSystem *s = brio_sim_system(sim);
            assert_true(brio_body_vertices(s, body) > n);
            assert_true(apart_from_first(s, body) > 3);
            assert_true(fabs(brio__body_mass(s, body) - mass) < 1e-12 * mass);
            assert_true(fabs(now.kinetic - before.kinetic) < 1e-12);
            for (int r = 0; r < 3; r++)
                assert_true(fabs(now.momentum[r] - before.momentum[r]) < 1e-12);
            if (scene == EDITING_FREE && body == 0) /* nothing has moved */
                assert_true(fabs(now.elastic - before.elastic) < 1e-12);
            step(sim, 30);
            if (s->surface)
                assert_int_equal(brio__exact_intersections(s, brio__sim_world(sim), NULL, 0), 0);
            brio_sim_free(sim);
        }
}

/* A short knife leaves the sheet in one piece, with a slit. */
static void slit(void **unused)
{
    (void)unused;
    BrioSim *sim = editing_sim(EDITING_FREE);
    BrioBuilder *b = begin(sim);
    int64_t parted, n = brio_body_vertices(brio_sim_system(sim), 1);
    const double x[9] = {0.61, 0, -0.05, 0.61, 1, -0.05, 0.61, 0.4, 5};
    assert_int_equal(brio_builder_cut(b, 1, x, (int32_t[3]){0, 1, 2}, 1, &parted, NULL), BRIO_OK);
    commit(sim, b);
    assert_true(parted > 0 && brio_body_vertices(brio_sim_system(sim), 1) > n);
    assert_int_equal(apart_from_first(brio_sim_system(sim), 1), 0);
    b = begin(sim);
    assert_int_equal(brio_builder_cut_plane(b, 1, (double[3]){9, 9, 9}, x + 3, &parted, NULL),
                     BRIO_OK);
    assert_int_equal(parted, 0);
    brio_builder_free(b);
    brio_sim_free(sim);
}

/* ---- obstacles that move ---------------------------------------------------------------- */

static BrioSim *with_plate(double speed)
{
    BrioSim *sim = editing_sim(EDITING_BARRIERS);
    BrioBuilder *b = begin(sim);
    BrioObstacleDef def = brio_default_obstacle();
    BrioScript script = brio_default_script();
    BrioError error = {0};
    def.name = "plate";
    def.mesh = editing_sheet(0.8, 3);
    def.translate[1] = 0.2;
    script.velocity[1] = speed;
    if (speed != 0) def.script = &script;
    if (brio_builder_obstacle(b, &def, &error) != BRIO_OK) fail_msg("%s", error.message);
    brio_mesh_free((BrioMesh *)def.mesh);
    commit(sim, b);
    return sim;
}

/* Moved step by step, a plate does what a script does. 8 m/s is 0.08 m in a step, 16 times dhat. */
static void moved_as_scripted(void **unused)
{
    (void)unused;
    const double speed[] = {0.5, 8}, one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int k = 0; k < 2; k++) {
        BrioSim *scripted = with_plate(speed[k]), *moved = with_plate(0);
        for (int i = 1; i <= 20; i++) {
            BrioError error = {0};
            double to[3] = {0, speed[k] * i / 100, 0};
            if (brio_sim_move_obstacle(moved, 1, one, to, &error) != BRIO_OK)
                fail_msg("%s", error.message);
            step(scripted, 1);
            step(moved, 1);
        }
        BrioLedger a = ledger(scripted), b = ledger(moved);
        double x[81], y[81];
        brio_sim_positions(scripted, 0, x);
        brio_sim_positions(moved, 0, y);
        /* to what Newton's tolerance leaves */
        for (int i = 0; i < 81; i++) assert_true(fabs(x[i] - y[i]) < 1e-4);
        assert_true(fabs(a.added - b.added) < 1e-2 * fabs(a.added));
        for (int v = 0; v < 27; v++) assert_true(y[3 * v + 1] > 0.2 + 0.2 * speed[k]);
        /* then it rests */
        double p[48], q[48];
        brio_sim_obstacle_positions(moved, 1, p);
        assert_true(fabs(p[1] - 0.2 - 0.2 * speed[k]) < 1e-12);
        step(moved, 2);
        brio_sim_obstacle_positions(moved, 1, q);
        assert_memory_equal(p, q, sizeof p);
        brio_sim_free(scripted);
        brio_sim_free(moved);
    }
}

/* The first move makes the system again, but not one that goes nowhere. */
static void moved_nowhere(void **unused)
{
    (void)unused;
    const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, nowhere[3] = {0, NAN, 0};
    BrioSim *sim = with_plate(0);
    BrioError error = {0};
    const BrioSystem *before = brio_sim_system(sim);
    refused(brio_sim_move_obstacle(sim, 1, one, nowhere, &error), &error, "not finite");
    assert_ptr_equal(brio_sim_system(sim), before);
    brio_sim_free(sim);
}

/* ---- events ----------------------------------------------------------------------------- */

/* A cube falls onto the floor. By backward Euler the change of its momentum is h m g and what the
 * contact gave, to what Newton leaves. */
static void events(void **unused)
{
    (void)unused;
    BrioSim *sim =
        parse("{time: {h: 1/100}, gravity: [0, -9.8, 0], integrator: backward-euler, "
              "solver: {tol: 1e-9}, contact: {type: ipc, dhat: 5e-3}, obstacles: [{type: "
              "plane, point: [0, 0, 0], normal: [0, 1, 0]}], bodies: [{name: cube, shape: "
              "{type: box, size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}, material: {type: "
              "neo-hookean, E: 1e5, rho: 1000}, transform: {translate: [0, 0.08, 0]}}, "
              "{name: ball, shape: {type: box, size: [0.05, 0.05, 0.05], cells: [1, 1, 1]}, "
              "material: {type: affine, E: 1e6, rho: 1000}, kind: affine, transform: "
              "{translate: [0.01, 0.2, 0]}}]}");
    assert_int_equal(brio_sim_note_contacts(sim, 8, NULL), BRIO_OK);
    bool begun[2] = {false, false}, ended = false;
    double mass = 1 + 0.125;
    for (int i = 0; i < 60; i++) {
        BrioContactEvent event[4];
        BrioLedger before = ledger(sim);
        step(sim, 1);
        BrioLedger now = ledger(sim);
        int count = brio_sim_contacts(sim, event, 4);
        double given[3] = {0, -9.8 * mass / 100, 0};
        for (int k = 0; k < count; k++) {
            assert_int_equal(event[k].a, 0); /* the ball never meets the floor */
            bool floor = event[k].b == BRIO_OBSTACLE(0);
            assert_true(floor || event[k].b == 1);
            if (k) assert_true(event[0].b == 1 && floor);
            begun[floor] |= event[k].change == BRIO_CONTACT_BEGINS;
            if (event[k].change == BRIO_CONTACT_ENDS) continue;
            assert_true(event[k].contacts > 0 && event[k].distance < 5e-3);
            assert_true(floor ? event[k].impulse[1] > 0 : event[k].impulse[1] < 0);
            assert_true(fabs(event[k].place[1] - (floor ? 0 : 0.1)) < 0.02);
            for (int r = 0; floor && r < 3; r++) given[r] += event[k].impulse[r];
        }
        for (int r = 0; r < 3; r++)
            assert_true(fabs(now.momentum[r] - before.momentum[r] - given[r]) < 1e-6);
    }
    assert_true(begun[0] && begun[1]);
    double v[81] = {0}; /* thrown up, it leaves the floor */
    for (int k = 0; k < 27; k++) v[3 * k + 1] = 3;
    assert_int_equal(brio_sim_set_velocities(sim, 0, v, NULL), BRIO_OK);
    BrioContactEvent last[4];
    for (int i = 0; i < 10 && !ended; i++) {
        step(sim, 1);
        int count = brio_sim_contacts(sim, last, 4);
        ended = count && last[count - 1].b == BRIO_OBSTACLE(0) &&
                last[count - 1].change == BRIO_CONTACT_ENDS;
    }
    assert_true(ended);
    assert_int_equal(brio_sim_note_contacts(sim, 0, NULL), BRIO_OK);
    assert_int_equal(brio_sim_contacts(sim, NULL, 0), 0);
    brio_sim_free(sim);
}

/* Looking at contacts leaves no trace in the motion. */
static void events_leave_no_trace(void **unused)
{
    (void)unused;
    BrioSim *noted = with_plate(0), *plain = with_plate(0);
    assert_int_equal(brio_sim_note_contacts(noted, 1, NULL), BRIO_OK);
    step(noted, 30);
    step(plain, 30);
    assert_true(editing_hash(noted) == editing_hash(plain));
    brio_sim_free(noted);
    brio_sim_free(plain);
}

/* ---- buffers ---------------------------------------------------------------------------- */

typedef struct Vertex {
    float position[3], normal[3], uv[2];
} Vertex;

static void buffers(void **unused)
{
    (void)unused;
    BrioSim *sim = editing_sim(EDITING_FREE);
    step(sim, 5);
    const BrioSystem *s = brio_sim_system(sim);
    double x[81], position[81], normal[81], velocity[81], v[81];
    Vertex vertex[27];
    int64_t count;
    const int32_t *triangle = brio_body_drawn_triangles(s, 0, &count);
    assert_int_equal(brio_body_drawn_vertices(s, 0), 27);
    brio_sim_positions(sim, 0, x);
    brio_sim_velocities(sim, 0, v);
    BrioVertexBuffers full = {.position = position, .normal = normal, .velocity = velocity};
    assert_int_equal(brio_sim_draw(sim, 0, &full, NULL), BRIO_OK);
    assert_memory_equal(x, position, sizeof x);
    assert_memory_equal(v, velocity, sizeof v);
    BrioVertexBuffers mixed = {.position_float = vertex[0].position,
                               .normal_float = vertex[0].normal,
                               .stride = sizeof *vertex};
    assert_int_equal(brio_sim_draw(sim, 0, &mixed, NULL), BRIO_OK);
    double centre[3] = {0, 0, 0};
    for (int k = 0; k < 81; k++) centre[k % 3] += x[k] / 27;
    for (int64_t t = 0; t < 3 * count; t++) { /* the cube's normals look outward */
        const double *n = normal + 3 * triangle[t], *p = x + 3 * triangle[t];
        double out = 0, size = 0;
        for (int r = 0; r < 3; r++) {
            out += n[r] * (p[r] - centre[r]);
            size += n[r] * n[r];
            assert_true(vertex[triangle[t]].position[r] == (float)p[r]);
            assert_true(fabs(vertex[triangle[t]].normal[r] - n[r]) < 1e-5);
        }
        assert_true(out > 0 && fabs(size - 1) < 1e-12);
    }
    mixed.stride = 8;
    BrioError error = {0};
    refused(brio_sim_draw(sim, 0, &mixed, &error), &error, "is shorter than");
    /* a view of the state, as long as nothing is pinned */
    const double *view = brio_sim_positions_view(sim, 0);
    assert_memory_equal(view, x, sizeof x);
    BrioBuilder *b = begin(sim);
    assert_int_equal(brio_builder_fix(b, 0, (int32_t[1]){3}, 1, NULL, NULL), BRIO_OK);
    commit(sim, b);
    assert_null(brio_sim_positions_view(sim, 0));
    assert_non_null(brio_sim_positions_view(sim, 1));
    brio_sim_free(sim);
}

/* ---- memory ----------------------------------------------------------------------------- */

/* ---- caged and sewn bodies --------------------------------------------------------------- */

/* Adds a body far away: nothing changes for those that are there. */
static void edit_elsewhere(BrioSim *sim, const char *name)
{
    BrioBuilder *b = begin(sim);
    BrioError error = {0};
    assert_int_equal(
        editing_add(b, name, EDITING_SOLID, (double[3]){40, 40 + 5 * name[0], 0}, NULL, &error),
        BRIO_OK);
    commit(sim, b);
}

/* Saves `sim`, restores it into `other`, and takes the same steps with both: the same bits. */
static void saved_is_the_same(BrioSim *sim, BrioSim *other)
{
    char file[] = "/tmp/brio-edit-XXXXXX";
    BrioError error = {0};
    close(mkstemp(file));
    assert_int_equal(brio_sim_save(sim, file, 1, &error), BRIO_OK);
    if (brio_sim_restore(other, file, &error) != BRIO_OK) fail_msg("%s", error.message);
    unlink(file);
    step(sim, 3);
    step(other, 3);
    assert_true(editing_hash(sim) == editing_hash(other));
}

static double largest_difference(BrioSim *a, BrioSim *b, int body)
{
    static double x[2][3 * 2000];
    int64_t count = 3 * brio_body_vertices(a->system, body);
    double most = 0;
    assert_in_range(count, 1, 3 * 2000);
    brio_sim_positions(a, body, x[0]);
    brio_sim_positions(b, body, x[1]);
    for (int64_t i = 0; i < count; i++) most = brio__larger(most, fabs(x[0][i] - x[1][i]));
    return most;
}

/* A caged ball whose lower part is moved by a script and whose upper part is free goes on after an
 * edit as without it, and so does what is restored from a file. TOLERANCE 1e-9 m: Newton's, in
 * another system of equations. */
static void cages_stay(void **unused)
{
    (void)unused;
    static const char scene[] =
        "time: {h: 1/100}\nsolver: {tol: 1e-10}\ngravity: [0, -9.8, 0]\nbodies:\n"
        "  - {name: a, shape: {type: sphere, radius: 0.1, subdivisions: 2}, cage: 4, material: "
        "{type: stable-neo-hookean, E: 1e4, nu: 0.3, rho: 1000}, fix: [{box: [[-1, -1, -1], [1, "
        "-0.05, 1]], script: {velocity: [0.5, 0, 0], angular: [0, 2, 0]}}]}\n";
    BrioSim *plain = parse("%s", scene), *edited = parse("%s", scene), *other = parse("%s", scene);
    assert_true(plain->system->ride_count > 10);
    step(plain, 5);
    step(edited, 5);
    edit_elsewhere(edited, "far");
    assert_true(largest_difference(plain, edited, 0) < 1e-12);
    step(plain, 10);
    step(edited, 10);
    print_message("caged: off by %.1e m after an edit\n", largest_difference(plain, edited, 0));
    assert_true(largest_difference(plain, edited, 0) < 1e-9);
    saved_is_the_same(edited, other);
    edit_elsewhere(other, "more");
    edit_elsewhere(edited, "more");
    saved_is_the_same(edited, other);
    step(plain, 6);
    assert_true(largest_difference(plain, edited, 0) < 1e-8);

    /* let go of, it falls */
    BrioBuilder *b = begin(edited);
    BrioError error = {0};
    int64_t count = brio_body_vertices(edited->system, 0);
    int32_t *all = malloc((size_t)count * sizeof *all);
    for (int64_t v = 0; v < count; v++) all[v] = (int32_t)v;
    if (brio_builder_unfix(b, 0, all, count, &error) != BRIO_OK) fail_msg("%s", error.message);
    commit(edited, b);
    free(all);
    BrioLedger first = ledger(edited);
    step(edited, 20);
    /* h g times the steps from the mean velocity that it had; the far bodies fall as well */
    double mass = 0;
    for (int64_t k = 0; k < edited->state->coordinates / 3; k++) mass += edited->system->mass[k];
    double gained = ledger(edited).momentum[1] - first.momentum[1];
    print_message("let go, it gains %.9f kg m/s downwards of %.9f\n", gained, -mass * 9.8 * 0.2);
    assert_true(fabs(gained + mass * 9.8 * 0.2) < 1e-6 * mass);
    brio_sim_free(plain);
    brio_sim_free(edited);
    brio_sim_free(other);
}

/* Stitches of which one is broken: after edits and from a file it stays broken, and the others
 * hold with the same force. TOLERANCE 1e-6 N of 20 N. */
static void stitches_stay(void **unused)
{
    (void)unused;
    static const char scene[] =
        "time: {h: 1/100}\nsolver: {tol: 1e-10}\ngravity: [0, -9.8, 0]\nbodies:\n"
        "  - {name: spare, shape: {type: box, size: [0.2, 0.2, 0.2], cells: [1, 1, 1]}, material: "
        "{type: stable-neo-hookean, E: 1e5}, transform: {translate: [9, 0, 0]}}\n"
        "  - {name: frame, shape: {type: box, size: [1, 0.1, 1], cells: [1, 1, 1]}, kind: affine, "
        "material: {type: affine, E: 1e8, rho: 1000}, fix: [{box: [[-9, -9, -9], [9, 9, 9]]}]}\n"
        "  - {name: load, shape: {type: box, size: [0.2, 0.2, 0.2], cells: [1, 1, 1]}, material: "
        "{type: stable-neo-hookean, E: 1e5}, transform: {translate: [0, -0.2, 0]}}\n"
        "stitches: [{a: load, b: frame, distance: 0.06, k: 2000}]\n";
    BrioSim *sim = parse("%s", scene), *other = parse("%s", scene);
    BrioError error = {0};
    int64_t broken = 0;
    double before[4][3], after[3];
    step(sim, 30);
    assert_int_equal(brio_sim_stitches(sim, NULL), 4);
    sim->state->param[sim->system->term[sim->system->stitch_term].live + 2] = 0;
    brio_sim_stitches(sim, &broken);
    assert_int_equal(broken, 1);
    for (int i = 0; i < 4; i++) brio_sim_stitch(sim, i, before[i]);
    edit_elsewhere(sim, "far");
    for (int round = 0; round < 2; round++) {
        assert_int_equal(brio_sim_stitches(sim, &broken), 4);
        assert_int_equal(broken, 1);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(brio_sim_stitch(sim, i, after), BRIO_OK);
            for (int r = 0; r < 3; r++) assert_true(fabs(after[r] - before[i][r]) < 1e-6);
            assert_true((after[1] == 0) == (i == 2));
        }
        if (round) break;
        BrioBuilder *b = begin(sim); /* what is not sewn goes */
        assert_int_equal(brio_builder_remove_body(b, 0, &error), BRIO_OK);
        commit(sim, b);
    }
    saved_is_the_same(sim, other);
    edit_elsewhere(other, "more");
    assert_int_equal(brio_sim_stitches(other, &broken), 4);
    assert_int_equal(broken, 1);
    /* the load goes, and its stitches with it */
    BrioBuilder *b = begin(other);
    assert_int_equal(brio_builder_remove_body(b, 2, &error), BRIO_OK);
    commit(other, b);
    assert_int_equal(brio_sim_stitches(other, &broken), 0);
    step(other, 2);
    brio_sim_free(sim);
    brio_sim_free(other);
}

/* What was in stitches that broke stays in the books, and those of a new body are whole though it
 * has the number and the stitches of one that was removed. TOLERANCE 1e-12 J: round-off. */
static void broken_stitches(void **unused)
{
    (void)unused;
    BrioSim *sim = parse(
        "time: {h: 1/100}\nsolver: {tol: 1e-10}\ngravity: [0, -9.8, 0]\nbodies:\n"
        "  - {name: frame, shape: {type: box, size: [0.2, 0.2, 0.2], cells: [1, 1, 1]}, kind: "
        "affine, material: {type: affine, E: 1e8, rho: 1000}, fix: [{box: [[-9, -9, -9], [9, 9, "
        "9]]}], transform: {translate: [0, 0.22, 0]}}\n"
        "  - {name: load, shape: {type: box, size: [0.2, 0.2, 0.2], cells: [2, 2, 2]}, material: "
        "{type: stable-neo-hookean, E: 2e4, rho: 500}}\n"
        "stitches: [{a: load, b: frame, distance: 0.03, k: 500, breaking: 3}]\n");
    BrioError error = {0};
    int64_t broken = 0;
    int load;
    for (int n = 0; n < 100 && !broken; n++) {
        step(sim, 1);
        brio_sim_stitches(sim, &broken);
    }
    BrioLedger before = ledger(sim);
    assert_true(broken > 0 && before.dissipated > 1e-3);
    edit_elsewhere(sim, "far");
    BrioLedger after = ledger(sim);
    print_message("%d stitches broke with %.6f J; after an edit %.6f J, remainder %+.1e J\n",
                  (int)broken, before.dissipated, after.dissipated,
                  after.remainder - before.remainder);
    assert_true(after.dissipated == before.dissipated);
    assert_true(fabs(after.remainder - before.remainder) < 1e-12 * fabs(after.total));
    BrioBuilder *b = begin(sim);
    BrioStitchDef def = brio_default_stitch();
    assert_int_equal(brio_builder_remove_body(b, 1, &error), BRIO_OK);
    assert_int_equal(editing_add(b, "load", EDITING_SOLID, (double[3]){0}, &load, &error), BRIO_OK);
    assert_int_equal(load, 1);
    def.a = 1;
    def.b = 0;
    def.distance = 0.03;
    def.k = 500;
    def.breaking = 3;
    assert_int_equal(brio_builder_stitch(b, &def, NULL, &error), BRIO_OK);
    commit(sim, b);
    brio_sim_stitches(sim, &broken);
    assert_int_equal(broken, 0);
    brio_sim_free(sim);
}

/* A formula that is added while contact relaxes: its barrier is as thin as all others, and the
 * books add up. TOLERANCE 1e-9 J: that of the solver. */
static void relaxing(void **unused)
{
    (void)unused;
    BrioSim *sim = parse(
        "time: {h: 1/100}\nsolver: {tol: 1e-10}\nintegrator: backward-euler\nbodies:\n"
        "  - {name: a, shape: {type: box, size: [0.2, 0.2, 0.2], cells: [1, 1, 1]}, kind: affine, "
        "material: {type: affine, E: 1e6, rho: 1000}}\n"
        "contact: {type: ipc, dhat: 0.01, start: relax}\nobstacles:\n"
        "  - {type: plane, point: [0, -0.1005, 0], normal: [0, 1, 0]}\n");
    BrioError error = {0};
    step(sim, 2);
    const BrioSystem *s = sim->system;
    double dhat = sim->state->param[s->contact_params + BRIO_CONTACT_DHAT];
    assert_true(dhat < 0.002);
    BrioLedger before = ledger(sim);
    BrioBuilder *b = begin(sim);
    assert_int_equal(
        brio_builder_plane(b, "wall", (double[3]){-0.103, 0, 0}, (double[3]){1, 0, 0}, &error),
        BRIO_OK);
    commit(sim, b);
    s = sim->system;
    for (int k = 0; k < s->analytic_count; k++) {
        const double *param = sim->state->param + s->term[s->analytic_term + k].params;
        assert_true(param[BRIO_CONTACT_DHAT] == dhat);
    }
    assert_true(ledger(sim).added == before.added);
    brio_sim_free(sim);
}

/* Forces by box, of bodies that have left it or were removed, in a file of an edited simulation. */
static void saved_forces(void **unused)
{
    (void)unused;
    static const char scene[] =
        "brio: 1\ntime: {h: 1/50}\nintegrator: backward-euler\n"
        "materials: {m: {type: mass, vertex_mass: 1}}\n"
        "forces: [{type: constant, force: [1, 0, 0], box: [[-1, -1, -1], [0.5, 1, 1]]}]\n"
        "bodies:\n  - {name: a, shape: {type: line, length: 0.2, cells: 1}, material: m}\n"
        "  - {name: b, shape: {type: line, length: 0.2, cells: 1}, material: m, "
        "transform: {translate: [4, 0, 0]}}\n";
    for (int removed = -1; removed < 2; removed++) {
        BrioSim *sim = parse(scene), *other = parse(scene);
        step(sim, 30); /* a falls out of the box */
        if (removed < 0) {
            edit_elsewhere(sim, "new");
        } else {
            BrioBuilder *b = begin(sim);
            assert_int_equal(brio_builder_remove_body(b, removed, NULL), BRIO_OK);
            commit(sim, b);
        }
        saved_is_the_same(sim, other);
        brio_sim_free(sim);
        brio_sim_free(other);
    }
}

/* What a forged file may say of the plans and would read or run what is not there. */
static void forge(BrioBuilder *b, int what)
{
    BrioForce *force = &b->force[0].force;
    BrioScripted *data = &b->script[1].data;
    int32_t *row = b->body[0].row;
    if (what == 0) { /* an address in a file */
        force->type = brio__force_type("function");
        force->function = (BrioForceFunction *)(uintptr_t)1;
    }
    if (what == 1) force->formula[0].count = BRIO_FORMULA_CODE + 1;
    if (what == 2) force->formula[0].code[0].op = 1000;
    if (what == 3) force->formula[0].count = 0;
    if (what == 4) /* the last operation has no values to take */
        force->formula[0].code[0] = force->formula[0].code[force->formula[0].count - 1];
    if (what == 5) b->analytic[0].table[2] = 1e6;
    if (what == 6) b->constraint[0].constraint.point_count = 1;
    if (what == 11) b->constraint[0].constraint.rows = 0; /* it writes one */
    if (what == 7) memset(b->body[1].cage->weight, 0, 4 * sizeof(double));
    if (what < 8 || what > 10) return;
    data->frame_count = 1;
    data->row_count = 2;
    data->frame_time = brio__calloc(1, sizeof(double));
    data->shift = what == 8 ? NULL : brio__calloc(6, sizeof(double));
    row[0] = what == 9 ? 2 : -1;
}

static void forged(void **unused)
{
    (void)unused;
    static const char scene[] =
        "brio: 1\ntime: {h: 1/50}\nintegrator: backward-euler\ncontact: {type: penalty}\n"
        "materials: {m: {type: corotated}}\n"
        "forces: [{type: potential, formula: 'x + y'}]\n"
        "bodies:\n  - {name: a, shape: {type: box, cells: [1, 1, 1]}, material: m, "
        "fix: [{vertices: [0], script: {velocity: [0, 1, 0]}}]}\n"
        "  - {name: b, shape: {type: box, cells: [1, 1, 1]}, material: m, cage: 2, "
        "transform: {translate: [4, 0, 0]}}\n"
        "constraints: [{type: rod, a: {body: a, vertex: 7}, b: {body: b, vertex: 0}}]\n"
        "obstacles: [{type: heightfield, heights: [[0, 0], [0, 0]], "
        "transform: {translate: [0, -9, 0]}}]\n";
    for (int what = -1; what < 12; what++) {
        BrioSim *sim = parse(scene);
        BrioBuilder *b = begin(sim);
        BrioSystem *system;
        BrioState *state;
        BrioError error = {0};
        unsigned char *bytes;
        size_t size;
        forge(b, what);
        assert_int_equal(brio__builder_write(b, &bytes, &size), BRIO_OK);
        BrioStatus status = brio__sim_prepare(sim, bytes, size, &system, &state, &error);
        if (what >= 0) refused(status, &error, "the edited bodies are damaged");
        if (what < 0) assert_int_equal(status, BRIO_OK);
        if (status == BRIO_OK) brio_state_free(state);
        if (status == BRIO_OK) brio_system_free(system);
        brio__free(bytes);
        brio_builder_free(b);
        brio_sim_free(sim);
    }
}

/* What is fixed along y is free afterwards. */
static void axes_are_freed(void **unused)
{
    (void)unused;
    const int32_t vertex = 0;
    double x[6], y[6];
    BrioSim *sim =
        parse("integrator: backward-euler\ntime: {h: 1/50}\nbodies:\n  - {shape: {type: line, "
              "cells: 1}, kind: points, material: {type: mass, vertex_mass: 1}, "
              "fix: [{vertices: [0], axes: [y]}]}\n");
    for (int freed = 0; freed < 2; freed++) {
        brio_sim_positions(sim, 0, x);
        step(sim, 2);
        brio_sim_positions(sim, 0, y);
        assert_true(freed ? y[1] < x[1] : y[1] == x[1]);
        if (freed) break;
        BrioBuilder *b = begin(sim);
        assert_int_equal(brio_builder_unfix(b, 0, &vertex, 1, NULL), BRIO_OK);
        commit(sim, b);
    }
    brio_sim_free(sim);
}

/* Constraints are taken away by name: what hung by one falls. TOLERANCE 1e-9 m: the solver's. */
static void constraints_go(void **unused)
{
    (void)unused;
    BrioSim *sim =
        parse("time: {h: 1/100}\nsolver: {tol: 1e-10}\ngravity: [0, -9.8, 0]\nbodies:\n"
              "  - {name: a, shape: {type: box, size: [0.2, 0.2, 0.2], cells: [1, 1, 1]}, kind: "
              "affine, material: {type: affine, E: 1e6, rho: 1000}}\nconstraints:\n"
              "  - {type: ball, name: nail, a: a, at: [0, 0.1, 0]}\n"
              "  - {type: ball, name: pin, a: a, at: [0, -0.1, 0]}\n");
    BrioError error = {0};
    step(sim, 20);
    double start = ledger(sim).centre[1];
    assert_true(fabs(start) < 1e-9);
    BrioBuilder *b = begin(sim);
    refused(brio_builder_remove_constraint(b, "nails", &error), &error, "did you mean \"nail\"");
    assert_int_equal(brio_builder_remove_constraint(b, "nail", &error), BRIO_OK);
    commit(sim, b);
    assert_int_equal(brio_system_constraints(sim->system), 1);
    step(sim, 20);
    assert_true(ledger(sim).centre[1] > -0.1);
    double before = ledger(sim).momentum[1];
    b = begin(sim);
    assert_int_equal(brio_builder_remove_constraint(b, "pin", &error), BRIO_OK);
    commit(sim, b);
    step(sim, 20);
    double fallen = ledger(sim).momentum[1];
    /* m g t, m = 8 kg */
    assert_true(fabs(fallen - before + 8 * 9.8 * 0.2) < 1e-6);
    brio_sim_free(sim);
}

/* Every allocation of an edit fails in turn: the simulation stays as it was, and nothing leaks. */
static BrioStatus edit_all(BrioSim *sim, const char *file)
{
    BrioBuilder *b;
    BrioError error;
    int32_t pinned = 4;
    BRIO_CHECK(brio_sim_edit(sim, &b, &error));
    BrioStatus status = brio_builder_remove_body(b, 1, &error);
    if (status == BRIO_OK) status = brio_builder_fix(b, 0, &pinned, 1, NULL, &error);
    if (status == BRIO_OK)
        status = brio_builder_cut_plane(b, 0, (double[3]){0.01, 0.4, 0}, (double[3]){1, 0, 0}, NULL,
                                        &error);
    if (status == BRIO_OK)
        status = brio_builder_plane(b, "low", (double[3]){0, -1, 0}, (double[3]){0, 1, 0}, &error);
    if (status == BRIO_OK) status = brio_sim_commit(sim, b, &error);
    if (status != BRIO_OK) brio_builder_free(b);
    if (status != BRIO_OK) return status;
    BRIO_CHECK(brio_sim_note_contacts(sim, 4, &error));
    BRIO_CHECK(brio_sim_save(sim, file, 1, &error));
    return brio_sim_restore(sim, file, &error);
}

/* Of one name, and of one pressure in two bodies: what is left keeps its own factor. A name that is
 * not given is a new one. */
static void forces_keep_their_factors(void **unused)
{
    (void)unused;
    BrioSim *sim = editing_sim(EDITING_FREE);
    BrioError error = {0};
    BrioForceDef wind, air;
    BrioBuilder *b = begin(sim);
    int third;
    assert_int_equal(editing_add(b, "third", EDITING_SOLID, (double[3]){0, 2, 0}, &third, &error),
                     BRIO_OK);
    brio_default_force("constant", &wind, &error);
    brio_default_force("pressure", &air, &error);
    brio_force_set(&wind, "force", (double[3]){1, 0, 0}, &error);
    brio_force_set(&air, "pressure", &(double){10}, &error);
    wind.body_count = 1;
    for (int i = 0; i < 3; i++) {
        wind.name = i < 2 ? "wind" : NULL;
        wind.bodies = &(int){i};
        if (brio_builder_force(b, &wind, &error) != BRIO_OK) fail_msg("%s", error.message);
    }
    air.name = "air";
    air.body_count = 2;
    air.bodies = (int[]){0, third};
    assert_int_equal(brio_builder_force(b, &air, &error), BRIO_OK);
    commit(sim, b);
    assert_int_equal(brio_system_forces(brio_sim_system(sim)), 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(brio_sim_set_force(sim, i, 2 + i, &error), BRIO_OK);
    b = begin(sim);
    assert_int_equal(brio_builder_remove_body(b, 0, &error), BRIO_OK);
    wind.name = NULL;
    wind.bodies = &(int){1};
    if (brio_builder_force(b, &wind, &error) != BRIO_OK) fail_msg("%s", error.message);
    commit(sim, b);
    const double factors[] = {3, 4, 6, 1}; /* wind of `second` and of `third`, air of it, new */
    const char *const names[] = {"wind", "force2", "air", "force3"};
    const BrioSystem *s = brio_sim_system(sim);
    assert_int_equal(brio_system_forces(s), 4);
    for (int i = 0; i < 4; i++) {
        assert_true(sim->state->param[s->force[i].param] == factors[i]);
        assert_string_equal(s->force[i].name, names[i]);
    }
    brio_sim_free(sim);
}

static void failing_allocator(void **unused)
{
    (void)unused;
    char file[] = "/tmp/brio-edit-XXXXXX";
    close(mkstemp(file));
    BrioStatus status = BRIO_ERROR_MEMORY;
    for (int64_t at = 0; status != BRIO_OK; at += 1 + at / 40) {
        Memory memory;
        memory_start(&memory, -1, false);
        BrioSim *sim = editing_sim(EDITING_BARRIERS);
        uint64_t hash = editing_hash(sim);
        memory.fail_at = memory.calls + at;
        status = edit_all(sim, file);
        memory.fail_at = -1;
        if (status != BRIO_OK) assert_int_equal(status, BRIO_ERROR_MEMORY);
        if (status != BRIO_OK && !sim->edited) assert_true(editing_hash(sim) == hash);
        brio_sim_step(sim, NULL);
        brio_sim_free(sim);
        assert_int_equal(memory.live, 0);
        brio_set_allocator(NULL);
        assert_true(at < 100000);
    }
    unlink(file);
}

static void random_editing(void **unused)
{
    (void)unused;
    char file[] = "/tmp/brio-edit-XXXXXX";
    close(mkstemp(file));
    for (int scene = 0; scene < EDITING_SCENES; scene++)
        edit_many(scene, 60, 1 + (uint64_t)scene, file);
    unlink(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_stay),
        cmocka_unit_test(sentences),
        cmocka_unit_test(cuts),
        cmocka_unit_test(slit),
        cmocka_unit_test(moved_as_scripted),
        cmocka_unit_test(moved_nowhere),
        cmocka_unit_test(events),
        cmocka_unit_test(events_leave_no_trace),
        cmocka_unit_test(buffers),
        cmocka_unit_test(cages_stay),
        cmocka_unit_test(stitches_stay),
        cmocka_unit_test(broken_stitches),
        cmocka_unit_test(relaxing),
        cmocka_unit_test(saved_forces),
        cmocka_unit_test(axes_are_freed),
        cmocka_unit_test(forged),
        cmocka_unit_test(constraints_go),
        cmocka_unit_test(forces_keep_their_factors),
        cmocka_unit_test(failing_allocator),
        cmocka_unit_test(random_editing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
