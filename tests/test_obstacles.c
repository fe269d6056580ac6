/* Obstacles with a formula under every contact law: distances, drops that end outside, friction, a
 * bounce that keeps its energy, heights and their bounds, what is drawn. */
#include "contact/exact.h"
#include "contact/law.h"
#include "contact/obstacle.h"
#include "system/system.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

#include "simulate.h"

#define GROUND                                                                                \
    "type: heightfield, spacing: 0.2, heights: [[0.1, 0.05, 0, 0.05, 0.1], [0.05, 0, -0.05, " \
    "0, 0.1], [0.1, 0, -0.1, 0, 0.1], [0.1, 0.05, 0, 0.05, 0.12], [0.2, 0.1, 0.1, 0.1, 0.2]]"

/* Their tops are at y = 0, the lowest point of the ground at y = -0.1. */
static const struct {
    const char *type, *keys;
} obstacles[] = {
    {"plane", "type: plane, normal: [0.1, 1, 0]"},
    {"sphere", "type: sphere, formula: true, radius: 0.3, transform: {translate: [0, -0.3, 0]}"},
    {"box", "type: box, formula: true, size: [1, 0.4, 1], transform: {translate: [0, -0.2, 0]}"},
    {"cylinder",
     "type: cylinder, formula: true, radius: 0.4, height: 0.4, transform: {translate: [0, -0.2, "
     "0]}"},
    {"capsule",
     "type: capsule, formula: true, radius: 0.2, height: 1, transform: {rotate: [[0, 0, 1], 90], "
     "translate: [0, -0.2, 0]}"},
    {"heightfield", GROUND},
};

/* Nothing is registered that is not tried here. */
static void all_are_tried(void **state)
{
    (void)state;
    int count = 0;
    for (; brio__obstacle_type_at(count); count++) {
        const char *name = brio__obstacle_type_at(count)->name;
        assert_string_equal(name, obstacles[count].type);
        for (int k = 0; brio__law_at(k); k++) {
            const BrioEnergy *energy = brio__law_energy(brio__law_at(k), name);
            assert_non_null(energy);
            assert_string_equal(energy->obstacle, name);
            bool forbids = brio__law_at(k)->traits & BRIO_LAW_FORBIDS;
            assert_int_equal(energy->max_step != NULL, forbids);
            /* local/global asks for it */
            assert_true(forbids || (energy->laplacian && brio__law_at(k)->stiffness));
        }
    }
    assert_int_equal(count, sizeof obstacles / sizeof *obstacles);
}

/* From C: a law by a name that need not live, and one that there is not. */
static void by_the_builder(void **state)
{
    (void)state;
    const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, origin[3] = {0, 0, 0};
    const double height[4] = {0, 0.1, 0.2, 0.1};
    for (int known = 0; known < 2; known++) {
        BrioBuilder *builder;
        BrioSystem *system = NULL;
        BrioState *first = NULL;
        BrioError error = {0};
        BrioMesh *mesh = NULL;
        double values[BRIO_MAX_VALUES];
        char name[8];
        BrioContactDef contact = brio_default_contact();
        BrioBodyDef body = brio_default_body();
        strcpy(name, known ? "cubic" : "cubik");
        contact.law = name;
        assert_int_equal(brio_builder_create(&builder, NULL), BRIO_OK);
        brio_builder_contact(builder, &contact);
        memset(name, 'x', sizeof name - 1);
        assert_int_equal(
            brio_builder_heightfield(builder, NULL, 2, 2, height, 1, one, origin, &error), BRIO_OK);
        brio_fields_defaults(brio_shape_fields("box"), values);
        assert_int_equal(brio_mesh_shape("box", values, &mesh, &error), BRIO_OK);
        body.name = "box";
        body.mesh = mesh;
        body.translate[1] = 2;
        assert_int_equal(brio_default_material("neo-hookean", &body.material, NULL), BRIO_OK);
        int number;
        if (brio_builder_body(builder, &body, &number, &error) != BRIO_OK)
            fail_msg("%s", error.message);
        BrioStatus status = brio_builder_finish(builder, &system, &first, &error);
        assert_int_equal(status, known ? BRIO_OK : BRIO_ERROR_INPUT);
        if (!known) assert_non_null(strstr(error.message, "no contact law of that name"));
        if (known) assert_string_equal(brio__law_at(system->law)->name, "cubic");
        brio_state_free(first);
        brio_system_free(system);
        brio_mesh_free(mesh);
        brio_builder_free(builder);
    }
}

/* A law's force for friction is the slope of its energies. */
static void forces(void **state)
{
    (void)state;
    for (int k = 0; brio__law_at(k); k++) {
        const BrioLaw *law = brio__law_at(k);
        const BrioEnergy *energy = brio__law_energy(law, "plane");
        double thickness = law->traits & BRIO_LAW_FORBIDS ? 0.1 : 0;
        double params[3] = {1e4, 0.5, thickness}, rest[7] = {1, 0, 1, 0, 0, 0, 0};
        for (int i = 1; i < 20; i++) {
            double x[3] = {3, thickness + 0.03 * i, 4}, g[3];
            brio__energy_one(energy, params, rest, x, g, NULL, false);
            double force = law->force(params, 0.3, x[1]);
            assert_true(fabs(0.3 * g[1] + (force > 0 ? force : 0)) <= 1e-9 * fabs(force));
        }
    }
}

/* ---- drops ------------------------------------------------------------------------------ */

/* Every accepted state is checked, as brio run --exact does: no vertex inside, no intersection. */
static void drops(void **state)
{
    (void)state;
    for (int k = 0; brio__law_at(k); k++)
        for (size_t o = 0; o < sizeof obstacles / sizeof *obstacles; o++) {
            const BrioLaw *law = brio__law_at(k);
            if (!(law->traits & BRIO_LAW_FORBIDS)) continue;
            /* a vertex takes the whole ball's 2 kg from 30 m/s to nothing in a step: 6 kN */
            bool limited = !strcmp(law->name, "cubic");
            BrioSim *sim = parse(
                "time: {h: 0.01}\ngravity: [0, -9.8, 0]\nintegrator: backward-euler\nsolver: "
                "{tol: 1e-5}\ncontact: {type: %s, dhat: 2e-3, kappa: %g, mu: 0.5}\n"
                "obstacles: [{%s}]\nbodies:\n  - {shape: {type: ball, radius: 0.1, cells: 2}, "
                "material: {type: neo-hookean, E: 5e4, nu: 0.3, rho: 500}, velocity: {linear: [0, "
                "-30, 0]}, transform: {translate: [0.01, 0.3, 0.02]}}\n",
                law->name, limited ? 1e7 : 1e5, obstacles[o].keys);
            BrioExact *exact;
            BrioExactReport report;
            assert_int_equal(brio__exact_create(sim->system, &exact), BRIO_OK);
            double nearest = INFINITY;
            int touched = 0;
            for (int n = 0; n < 60; n++) {
                step(sim, 1);
                brio__exact_check(exact, sim->state, &report);
                BrioLedger l = ledger(sim);
                nearest = fmin(nearest, l.min_distance);
                touched += l.contacts > 0;
                assert_true(brio__exact_fine(&report) && l.min_distance > 0);
                assert_true(l.remainder < 1e-6); /* backward Euler takes energy only */
            }
            print_message("%s on a %s: %d steps in contact, nearest %.2g m\n", law->name,
                          obstacles[o].type, touched, nearest);
            assert_true(touched > 0 && nearest < 2e-3);
            brio__exact_free(exact);
            brio_sim_free(sim);
        }
}

/* ---- friction and bounces --------------------------------------------------------------- */

/* A point that slides along the ridge of a capsule at 0.5 m/s stops after v^2/(2 mu g). TOLERANCE
 * 5 %: half a step's way and the lag of the normal force. */
static void friction_on_a_capsule(void **state)
{
    (void)state;
    for (int k = 0; brio__law_at(k); k++) {
        const BrioLaw *law = brio__law_at(k);
        /* the weight is 9.8 mN: at rest the barrier or spring carries that */
        double rest = law->traits & BRIO_LAW_FORBIDS ? 1e-3 : -9.8e-3 / 1e3;
        double low = law->traits & BRIO_LAW_FORBIDS ? 0 : -1, high = 1e-3;
        double params[3] = {1e3, law->traits & BRIO_LAW_FORBIDS ? 1e-3 : 0, 0};
        for (int n = 0; n < 100; n++) {
            rest = (low + high) / 2;
            *(law->force(params, 1, rest) > 9.8e-3 ? &low : &high) = rest;
        }
        BrioSim *sim =
            parse("time: {h: 1/500}\ngravity: [0, -9.8, 0]\nintegrator: backward-euler\ncontact: "
                  "{type: %s, dhat: %g, kappa: 1e3, mu: 0.2}\nobstacles: [{type: capsule, "
                  "formula: true, radius: 0.2, height: 3, transform: {rotate: [[0, 0, 1], 90]}}]\n"
                  "bodies:\n  - {shape: {type: line, length: 1e-6, cells: 1}, kind: points, "
                  "material: {type: mass, vertex_mass: 1e-3}, velocity: {linear: [0.5, 0, 0]}, "
                  "transform: {translate: [0, %.17g, 0]}}\n",
                  law->name, params[1], 0.2 + rest);
        double start = ledger(sim).centre[0];
        step(sim, 200); /* it stops after 0.255 s */
        BrioLedger l = ledger(sim);
        double way = l.centre[0] - start, expected = 0.25 / (2 * 0.2 * 9.8);
        print_message("%s: slid %.4f m, %.4f expected; friction took %.3g J of %.3g\n", law->name,
                      way, expected, l.friction, 0.25e-3);
        assert_true(fabs(way - expected) < 0.05 * expected);
        assert_true(fabs(l.friction - 0.25e-3) < 0.02 * 0.25e-3);
        brio_sim_free(sim);
    }
}

/* A point falls on a box and comes back as fast. TOLERANCE 1e-4 of the kinetic energy: the
 * trapezoidal rule keeps energy to the square of its step, and the barrier is passed in some 80
 * steps. */
static void bounce(void **state)
{
    (void)state;
    static const char *const laws[] = {"cubic", "ipc"};
    for (int k = 0; k < 2; k++) {
        BrioSim *sim =
            parse("time: {h: 1/20000}\ngravity: [0, 0, 0]\nintegrator: newmark\nsolver: {tol: "
                  "1e-9}\ncontact: {type: "
                  "%s, dhat: 0.01, kappa: 1e3}\nobstacles: [{type: box, formula: true}]\nbodies:\n"
                  "  - {shape: {type: line, length: 1e-3, cells: 1}, kind: points, material: "
                  "{type: mass, vertex_mass: 1e-3}, velocity: {linear: [0, -2, 0]}, transform: "
                  "{translate: [0, 0.515, 0]}}\n",
                  laws[k]);
        BrioLedger first = ledger(sim), l = first;
        double max = 0;
        for (int n = 0; n < 1000; n++) {
            step(sim, 1);
            l = ledger(sim);
            max = brio__larger(max, l.contact);
        }
        print_message("%s: kinetic %.6g J before, %.6g after, %.3g in the barrier\n", laws[k],
                      first.kinetic, l.kinetic, max);
        assert_true(max > 0.9 * first.kinetic && l.contact == 0 && l.momentum[1] > 0);
        assert_true(fabs(l.kinetic - first.kinetic) < 1e-4 * first.kinetic);
        brio_sim_free(sim);
    }
}

/* Bodies meet each other and themselves by the cubic law as by the other barrier. */
static void between_bodies(void **state)
{
    (void)state;
    BrioSim *sim =
        parse("time: {h: 0.01}\ngravity: [0, -9.8, 0]\nintegrator: backward-euler\nsolver: {tol: "
              "1e-4}\ncontact: {type: cubic, dhat: 2e-3, kappa: auto, mu: 0.3}\nobstacles: "
              "[{type: box, size: [1, 0.2, 1], cells: [1, 1, 1], transform: {translate: [0, -0.1, "
              "0]}}]\nbodies:\n  - {shape: {type: box, size: [0.2, 0.2, 0.2], cells: [2, 2, 2]}, "
              "material: {type: neo-hookean, E: 1e5, rho: 500}, transform: {translate: [0, 0.11, "
              "0]}, array: {count: [1, 3, 1], spacing: [0.01, 0.22, 0.01]}}\n");
    BrioExact *exact;
    BrioExactReport report;
    assert_int_equal(brio__exact_create(sim->system, &exact), BRIO_OK);
    for (int n = 0; n < 60; n++) {
        step(sim, 1);
        brio__exact_check(exact, sim->state, &report);
        assert_true(brio__exact_fine(&report));
    }
    BrioLedger l = ledger(sim);
    print_message("three boxes: %d contacts, nearest %.2g m\n", l.contacts, l.min_distance);
    assert_true(l.contacts > 12 && l.min_distance > 0 && l.kinetic < 0.1);
    brio__exact_free(exact);
    brio_sim_free(sim);
}

/* ---- heights ---------------------------------------------------------------------------- */

/* The surface goes through the heights; the distance is never larger than the true one, and no
 * slope or second difference along a line exceeds what the table says. */
static void heights(void **state)
{
    (void)state;
    enum { COLUMNS = 7, ROWS = 5 };
    BrioRandom random = {5};
    double height[COLUMNS * ROWS], spacing = 0.3, *table = NULL;
    for (int k = 0; k < COLUMNS * ROWS; k++) height[k] = 0.2 * brio__random(&random);
    const BrioObstacleType *type = brio__obstacle_type("heightfield");
    assert_int_equal(type->table(&spacing, COLUMNS, ROWS, height, &table, NULL), BRIO_OK);
    const BrioEnergy *energy = brio__law_energy(brio__law_at(0), "heightfield");
    _Alignas(64) int32_t node[LANES] = {0};
    _Alignas(64) double rest[BRIO_SOLID_REST * LANES] = {0}, distance[LANES];
    for (int i = 0; i < LANES; i++) rest[4 * LANES + i] = rest[8 * LANES + i] = 1; /* axes */
    double scale = 0;
#define DISTANCE(at)                                                                            \
    (energy->eval(&(BrioBatch){                                                                 \
         .end = 1, .node = node, .rest = rest, .table = table, .x = at, .distance = distance}), \
     distance[0])
    double level[2][3] = {{0, 5, 0}, {0, 6, 0}};
    scale = DISTANCE(level[1]);
    scale -= DISTANCE(level[0]);
    assert_true(scale > 0.1 && scale < 1);
    for (int j = 0; j < ROWS; j++)
        for (int i = 0; i < COLUMNS; i++) {
            double x[3] = {spacing * (i - 3), height[j * COLUMNS + i], spacing * (j - 2)};
            assert_true(fabs(DISTANCE(x)) < 1e-14);
        }
    for (int again = 0; again < 20000; again++) {
        double d[3], x[3][3], step = 1e-3, way = 0;
        for (int r = 0; r < 3; r++) {
            double middle = 3 * brio__random(&random) - 1.5, dx = brio__random_normal(&random);
            for (int k = 0; k < 3; k++) x[k][r] = middle + (k - 1) * step * dx;
            way += dx * dx;
        }
        for (int k = 0; k < 3; k++) d[k] = DISTANCE(x[k]);
        assert_true(fabs(d[2] - d[0]) <= 2 * step * sqrt(way) * (1 + 1e-9));
        assert_true(d[0] - 2 * d[1] + d[2] >= -step * step * way * table[BRIO_TABLE_BEND] - 1e-13);
    }
    double far[2][3] = {{50, 1, 0.1}, {1e300, 1, 0.1}}; /* level beyond the grid */
    double there = DISTANCE(far[0]);
    assert_true(DISTANCE(far[1]) == there);
#undef DISTANCE
    brio__free(table);
    BrioError error = {0};
    assert_int_equal(type->table(&spacing, 1, 5, height, &table, &error), BRIO_ERROR_INPUT);
    height[8] = NAN;
    error = (BrioError){0};
    assert_int_equal(type->table(&spacing, COLUMNS, ROWS, height, &table, &error),
                     BRIO_ERROR_INPUT);
    assert_non_null(strstr(error.message, "row 1, column 1"));
}

/* ---- drawing ---------------------------------------------------------------------------- */

/* Every vertex of the mesh lies on the obstacle: at no distance. TOLERANCE 1e-12: round-off. */
static void meshes(void **state)
{
    (void)state;
    for (size_t o = 1; o < sizeof obstacles / sizeof *obstacles; o++) {
        BrioSim *sim = parse("contact: {type: ipc}\nobstacles: [{%s}]\nbodies:\n  - {shape: {type: "
                             "line, length: 1e-3, cells: 1}, kind: points, material: {type: mass, "
                             "vertex_mass: 1}, transform: {translate: [0, 1, 0]}}\n",
                             obstacles[o].keys);
        const BrioTerm *term = &sim->system->term[sim->system->analytic_term];
        double rest[BRIO_SOLID_REST];
        _Alignas(64) double distance[LANES];
        BrioMesh *mesh = NULL;
        for (int k = 0; k < BRIO_SOLID_REST; k++) rest[k] = term->rest[k * LANES];
        const BrioObstacleType *type = brio__obstacle_type(term->energy->obstacle);
        assert_string_equal(type->name, obstacles[o].type);
        assert_int_equal(type->mesh(rest, term->table, &mesh, NULL), BRIO_OK);
        assert_true(mesh->triangle_count > 50);
        double *x = calloc(3 * (size_t)sim->system->vertex_count, sizeof *x);
        for (int64_t v = 0; v < mesh->vertex_count; v++) {
            memcpy(x + term->node[0], mesh->x + 3 * v, 3 * sizeof *x);
            brio__obstacle_distances(term, NULL, 0, x, distance);
            assert_true(fabs(distance[0]) < 1e-12);
        }
        free(x);
        brio_mesh_free(mesh);
        brio_sim_free(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_are_tried),
                                       cmocka_unit_test(by_the_builder),
                                       cmocka_unit_test(forces),
                                       cmocka_unit_test(drops),
                                       cmocka_unit_test(friction_on_a_capsule),
                                       cmocka_unit_test(bounce),
                                       cmocka_unit_test(between_bodies),
                                       cmocka_unit_test(heights),
                                       cmocka_unit_test(meshes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
