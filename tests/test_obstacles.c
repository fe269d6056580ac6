/* Obstacles with a formula under every contact law: distances, drops that end outside, friction, a
 * bounce that keeps its energy, heights and their bounds, what is drawn. */
#include "contact/collider.h"
#include "contact/exact.h"
#include "contact/law.h"
#include "contact/obstacle.h"
#include "system/system.h"
#include "vec.h"

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

/* ---- obstacles of triangles -------------------------------------------------------------- */

enum { POINTS = 64 };

enum { FINE = 10, GRID = 2 * FINE + 1 };

/* The surface of those of eight unit cubes around the origin that a mask has, with `fine` squares
 * along their edges. */
typedef struct Blocks {
    BrioMesh mesh;
    double x[3 * GRID * GRID * GRID];
    int32_t triangle[3 * 48 * FINE * FINE];
} Blocks;

static void make_blocks(Blocks *b, unsigned mask, int fine)
{
    static int32_t number[GRID * GRID * GRID];
    int count = 0, corners = 0;
    memset(number, -1, sizeof number);
    for (int cube = 0; cube < 8; cube++)
        for (int side = 0; side < 6 && mask >> cube & 1; side++) {
            int axis = side / 2, up = side % 2, u = (axis + 1) % 3, v = (axis + 2) % 3, quad[4];
            bool outermost = (cube >> axis & 1) == up;
            if (!outermost && mask >> (cube ^ 1 << axis) & 1) continue;
            for (int square = 0; square < fine * fine; square++) {
                for (int k = 0; k < 4; k++) { /* counterclockwise from outside */
                    int at[3] = {cube & 1, cube >> 1 & 1, cube >> 2 & 1};
                    int turn = up ? k : 3 - k;
                    for (int r = 0; r < 3; r++) at[r] *= fine;
                    at[axis] += up * fine;
                    at[u] += square % fine + (turn == 1 || turn == 2);
                    at[v] += square / fine + (turn >= 2);
                    int grid = at[0] + GRID * (at[1] + GRID * at[2]);
                    if (number[grid] < 0) {
                        for (int r = 0; r < 3; r++)
                            b->x[3 * count + r] = (double)(at[r] - fine) / fine;
                        number[grid] = count++;
                    }
                    quad[k] = number[grid];
                }
                const int split[6] = {0, 1, 2, 0, 2, 3};
                for (int k = 0; k < 6; k++) b->triangle[corners++] = quad[split[k]];
            }
        }
    b->mesh = (BrioMesh){
        .vertex_count = count, .triangle_count = corners / 3, .x = b->x, .triangle = b->triangle};
}

/* A cube without the octant of positive coordinates: a pit of three walls. */
enum { WHOLE = 0xff, PIT = 0x7f };

typedef struct Field {
    BrioSystem *system;
    BrioState *state;
    BrioColliders *colliders;
    double *x; /* world: the points, then the obstacles */
} Field;

static BrioBuilder *points_alone(int points)
{
    BrioBuilder *builder;
    BrioError error = {0};
    BrioBodyDef body = brio_default_body();
    BrioContactDef contact = brio_default_contact();
    static double x[3 * POINTS];
    for (int i = 0; i < points; i++) x[3 * i] = 10 + i;
    body.name = "points";
    body.kind = BRIO_KIND_POINTS;
    body.mesh = &(BrioMesh){.vertex_count = points, .x = x};
    assert_int_equal(brio_default_material("mass", &body.material, NULL), BRIO_OK);
    assert_int_equal(brio_material_set(&body.material, "vertex_mass", 1, NULL), BRIO_OK);
    contact.law = "penalty";
    contact.dhat = 0.3;
    contact.kappa = 1;
    assert_int_equal(brio_builder_create(&builder, NULL), BRIO_OK);
    brio_builder_contact(builder, &contact);
    if (brio_builder_body(builder, &body, NULL, &error) != BRIO_OK) fail_msg("%s", error.message);
    return builder;
}

static Field finish_field(BrioBuilder *builder)
{
    Field f = {0};
    BrioError error = {0};
    if (brio_builder_finish(builder, &f.system, &f.state, &error) != BRIO_OK)
        fail_msg("%s", error.message);
    brio_builder_free(builder);
    assert_int_equal(brio__colliders_create(f.system, &f.colliders), BRIO_OK);
    assert_non_null(f.colliders);
    f.x = calloc(3 * (size_t)f.system->vertex_count, sizeof *f.x);
    brio__system_positions(f.system, f.state, f.state->q, 0, f.x);
    return f;
}

/* Points among obstacles of blocks: each is scaled by its row and then shifted by 100 m along z for
 * each one before it. */
static Field make_field(int points, const unsigned *mask, const double (*scale)[3], int count,
                        int fine)
{
    BrioBuilder *builder = points_alone(points);
    Blocks blocks;
    for (int i = 0; i < count; i++) {
        BrioObstacleDef def = brio_default_obstacle();
        make_blocks(&blocks, mask[i], fine);
        def.mesh = &blocks.mesh;
        for (int r = 0; scale && r < 3; r++) def.linear[4 * r] = scale[i][r];
        def.translate[2] = 100 * i;
        assert_int_equal(brio_builder_obstacle(builder, &def, NULL), BRIO_OK);
    }
    return finish_field(builder);
}

static void free_field(Field *f)
{
    brio__colliders_free(f->colliders);
    brio_state_free(f->state);
    brio_system_free(f->system);
    free(f->x);
}

static void shift_obstacle(const Field *f, int obstacle, const double *t, double *x)
{
    const BrioObstacle *o = &f->system->obstacle[obstacle];
    for (int64_t v = o->first; v < o->first + o->count; v++)
        for (int r = 0; r < 3; r++) x[3 * v + r] += t[r];
}

/* Distance of a point from a box, 0 inside. */
static double outside_box(const double *p, const double *low, const double *high)
{
    double square = 0;
    for (int r = 0; r < 3; r++) square += pow(fmax(fmax(low[r] - p[r], p[r] - high[r]), 0), 2);
    return sqrt(square);
}

/* Signed distance from the cube with a pit: outside, it is the union of three boxes; inside, the
 * way out leads through the faces of the cube or into the pit. */
static double from_pit(const double *p)
{
    static const double low[3] = {-1, -1, -1}, zero[3] = {0, 0, 0};
    double d = INFINITY, out = INFINITY, far[3] = {9, 9, 9};
    for (int r = 0; r < 3; r++) {
        double high[3] = {1, 1, 1};
        high[r] = 0;
        d = fmin(d, outside_box(p, low, high));
        out = fmin(out, 1 - fabs(p[r]));
    }
    return d > 0 ? d : -fmin(out, outside_box(p, zero, far));
}

/* The closest hit has the distance of the closed form, on its side, and says where it is: poses
 * that follow each other, of points and mesh. TOLERANCE 1e-13 m: round-off. */
static void distances_from_a_mesh(void **state)
{
    (void)state;
    BrioRandom random = {3};
    Field f = make_field(POINTS, (unsigned[]){PIT}, NULL, 1, 1);
    double reach = 0.3, moved[3] = {0, 0, 0};
    int near = 0, deep = 0, far = 0;
    for (int pose = 0; pose < 40; pose++) {
        double t[3] = {0.01, -0.02 * (pose % 3), 0.01};
        if (pose % 4 == 3) shift_obstacle(&f, 0, t, f.x);
        for (int r = 0; r < 3 && pose % 4 == 3; r++) moved[r] += t[r];
        for (int i = 0; i < 3 * POINTS; i++) /* sometimes far, mostly a little further */
            f.x[i] = pose % 10 ? f.x[i] + 0.1 * (brio__random(&random) - 0.5)
                               : 3.2 * (brio__random(&random) - 0.5);
        int64_t count;
        const BrioHit *hit = brio__colliders_find(f.colliders, f.x, reach, &count), *last = hit;
        last += count;
        for (int i = 0; i < POINTS; i++) {
            double p[3], sum = 0, apart = 0;
            for (int r = 0; r < 3; r++) p[r] = f.x[3 * i + r] - moved[r];
            double d = from_pit(p);
            near += d >= 0 && d < reach, deep += d <= -reach, far += d >= reach;
            bool none = hit == last || hit->vertex != i;
            assert_int_equal(none, d >= reach);
            if (none) continue;
            assert_true(fabs(hit->d - d) < 1e-13 && hit->weight == 1 && hit->obstacle == 0);
            for (int r = 0; r < 3; r++) {
                double r_way = f.x[3 * i + r] - d * hit->n[r];
                for (int k = 0; k < 3; k++) r_way -= hit->w[k] * f.x[3 * hit->corner[k] + r];
                apart = fmax(apart, fabs(r_way));
                sum += hit->w[r];
                assert_true(hit->w[r] >= 0);
            }
            assert_true(apart < 1e-13 && fabs(sum - 1) < 1e-14);
            assert_true(fabs(brio__norm3(hit->n) - 1) < 1e-14);
            const BrioHit *own = hit;
            while (hit < last && hit->vertex == i) hit++;
            assert_true(d > -reach || hit == own + 1);
        }
        assert_true(hit == last);
    }
    assert_true(near > 100 && deep > 100 && far > 100);
    free_field(&f);
}

/* A point that was farther than the reach is looked at again once it may have come nearer: here by
 * 3e-10 of it, in the pit, where the box of the mesh says nothing. */
static void a_point_that_comes_near(void **state)
{
    (void)state;
    Field f = make_field(1, (unsigned[]){PIT}, NULL, 1, 1);
    int64_t count;
    for (int near = 0; near < 3; near++) {
        f.x[0] = near == 0 ? 0.9 : 0.3 * (near == 1 ? 1 + 3e-10 : 1 - 3e-10);
        f.x[1] = f.x[2] = 0.9;
        brio__colliders_find(f.colliders, f.x, 0.3, &count);
        assert_int_equal(count, near == 2);
    }
    free_field(&f);
}

/* On the surface itself the normals of faces, edges and vertices serve, which do not depend on how
 * squares are divided. */
static void normals_on_a_mesh(void **state)
{
    (void)state;
    static const double rows[][6] = {
        {-1, 0.2, -0.3, -1, 0, 0}, {0.4, 0.1, -1, 0, 0, -1}, {0, 0.4, 0.1, 1, 0, 0},
        {-1, -1, 0.25, -1, -1, 0}, {0.3, 1, -1, 0, 1, -1},   {0, 0.5, 0, 1, 0, 1},
        {-1, -1, -1, -1, -1, -1},  {1, -1, -1, 1, -1, -1},   {0, 0, 0, 1, 1, 1},
        {-1, 1, 1, -1, 1, 1},      {0, 0, 0.125, 1, 1, 0},
    };
    Field f = make_field(POINTS, (unsigned[]){PIT}, NULL, 1, 1);
    int64_t count;
    for (size_t i = 0; i < BRIO_COUNT(rows); i++) memcpy(f.x + 3 * i, rows[i], 3 * sizeof(double));
    const BrioHit *hit = brio__colliders_find(f.colliders, f.x, 1e-3, &count);
    assert_int_equal(count, BRIO_COUNT(rows));
    for (size_t i = 0; i < BRIO_COUNT(rows); i++, hit++) {
        double length = brio__norm3(rows[i] + 3);
        assert_true(hit->vertex == (int)i && fabs(hit->d) < 1e-15);
        for (int r = 0; r < 3; r++) assert_true(fabs(hit->n[r] - rows[i][3 + r] / length) < 1e-15);
    }
    free_field(&f);
}

/* In the pit all walls count, minus the edges between them, plus the corner, and over flat and
 * convex parts only what is closest: inclusion and exclusion. TOLERANCE 1e-13 m, 1e-12 of a
 * curvature: round-off. */
static void dents_count_by_parts(void **state)
{
    (void)state;
    static const double size = 8, scale[1][3] = {{8, 8, 8}};
    Field coarse = make_field(1, (unsigned[]){PIT}, scale, 1, 1);
    Field fine = make_field(1, (unsigned[]){PIT}, scale, 1, FINE); /* 300 triangles within reach */
    BrioRandom random = {4};
    for (int again = 0; again < 600; again++) {
        Field f = again < 300 ? coarse : fine;
        /* in front of the walls across the axes of `walls`, or over a part of the cube's outside */
        int walls = 1 + again % 7, expected = 0, found = 0;
        bool pit = again % 2;
        double p[3], a[3];
        for (int r = 0; r < 3; r++) {
            bool beside = walls >> r & 1;
            a[r] = beside ? size * (0.02 + 0.14 * brio__random(&random)) : 0;
            double between = size * (0.4 + 0.2 * brio__random(&random));
            p[r] = pit ? (beside ? a[r] : between) : (beside ? -size - a[r] : -between);
        }
        memcpy(f.x, p, sizeof p);
        int64_t count;
        const BrioHit *hit = brio__colliders_find(f.colliders, f.x, 0.3 * size, &count);
        for (int part = 1; part < 8; part++) { /* the walls that meet there */
            if ((part & walls) != part || (!pit && part != walls)) continue;
            double n[3], d = 0, C[9], weight = pit && __builtin_popcount(part) == 2 ? -1 : 1;
            bool seen = false;
            for (int r = 0; r < 3; r++) d += part >> r & 1 ? a[r] * a[r] : 0;
            d = sqrt(d);
            for (int r = 0; r < 3; r++) n[r] = part >> r & 1 ? (pit ? 1 : -1) * a[r] / d : 0;
            expected++;
            for (int64_t i = 0; i < count && !seen; i++) {
                seen = hit[i].weight == weight && fabs(hit[i].d - d) < 1e-13 * size &&
                       brio__distance3(hit[i].n, n) < 1e-13;
                if (!seen) continue;
                brio__hit_curvature(&hit[i], f.x, C);
                for (int k = 0; k < 9; k++) {
                    bool curved = __builtin_popcount(part) > 1;
                    double one = k % 4 == 0 && part >> k % 3 & 1;
                    double exact = curved ? (one - n[k / 3] * n[k % 3]) / d : 0;
                    assert_true(fabs(C[k] - exact) < 1e-12 / d);
                }
            }
            found += seen;
        }
        if (found != expected || count != expected)
            fail_msg("%g %g %g: %d of %d parts, %d hits", p[0], p[1], p[2], found, expected,
                     (int)count);
    }
    free_field(&coarse);
    free_field(&fine);
}

/* A sphere of radius 0.5 m whose outside is within. */
static BrioMesh *hollow_ball(void)
{
    BrioMesh *mesh;
    assert_int_equal(brio_mesh_shape("sphere", NULL, &mesh, NULL), BRIO_OK);
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        int32_t kept = mesh->triangle[3 * t];
        mesh->triangle[3 * t] = mesh->triangle[3 * t + 1];
        mesh->triangle[3 * t + 1] = kept;
    }
    return mesh;
}

/* In a hollow ball of triangles several faces, edges and vertices are closest at once: faces minus
 * edges plus vertices are 1 (Euler), and they are more than in a corner of walls. */
static void bowls_count_once(void **state)
{
    (void)state;
    BrioBuilder *builder = points_alone(POINTS);
    BrioObstacleDef def = brio_default_obstacle();
    BrioRandom random = {6};
    BrioMesh *mesh;
    int64_t count;
    int most = 0;
    mesh = hollow_ball();
    def.mesh = mesh;
    assert_int_equal(brio_builder_obstacle(builder, &def, NULL), BRIO_OK);
    brio_mesh_free(mesh);
    Field f = finish_field(builder);
    for (int again = 0; again < 20; again++) {
        for (int i = 0; i < POINTS; i++) {
            double p[3], radius = 0.25 + 0.23 * brio__random(&random); /* of 0.5 */
            for (int r = 0; r < 3; r++) p[r] = brio__random(&random) - 0.5;
            for (int r = 0; r < 3; r++) f.x[3 * i + r] = p[r] * radius / brio__norm3(p);
        }
        const BrioHit *hit = brio__colliders_find(f.colliders, f.x, 0.3, &count), *last = hit;
        last += count;
        for (int i = 0; i < POINTS; i++) {
            double sum = 0;
            int parts = 0;
            for (; hit < last && hit->vertex == i; hit++, parts++) sum += hit->weight;
            assert_true(sum == 1);
            most = parts > most ? parts : most;
        }
        assert_true(hit == last);
    }
    assert_true(most > 12);
    free_field(&f);
}

/* Friction in a bowl is mu times the normal force, however many parts push: of a point over a
 * vertex of the bowl, where they are eleven. TOLERANCE 2 %: the normal force grows by a part in a
 * hundred while the point moves by v h. */
static void friction_in_a_bowl(void **state)
{
    (void)state;
    BrioMesh *mesh = hollow_ball();
    char name[] = "/tmp/brio-bowl-XXXXXX.obj";
    int handle = mkstemps(name, 4);
    assert_true(handle >= 0);
    FILE *file = fdopen(handle, "w");
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        fprintf(file, "v %.17g %.17g %.17g\n", mesh->x[3 * v], mesh->x[3 * v + 1],
                mesh->x[3 * v + 2]);
    for (int64_t t = 0; t < mesh->triangle_count; t++)
        fprintf(file, "f %d %d %d\n", mesh->triangle[3 * t] + 1, mesh->triangle[3 * t + 1] + 1,
                mesh->triangle[3 * t + 2] + 1);
    fclose(file);
    double n[3], along[3], axis[3] = {0.3, 0.5, 0.7}, v[3], x[3];
    for (int r = 0; r < 3; r++) n[r] = -2 * mesh->x[r];
    brio__cross3(n, axis, along);
    brio_mesh_free(mesh);
    for (int r = 0; r < 3; r++) {
        x[r] = -(0.5 - 0.04) * n[r];
        v[r] = 0.1 * along[r] / brio__norm3(along);
    }
    for (int k = 0; k < 2; k++) {
        BrioSim *sim = parse(
            "time: {h: 1/1000, end: 1}\ngravity: [0, 0, 0]\nintegrator: backward-euler\n"
            "solver: %s\ncontact: {type: penalty, dhat: 0.05, kappa: 10, mu: 0.3, epsv: 1e-4}\n"
            "obstacles: [{type: mesh, mesh: %s}]\nbodies:\n"
            "  - {shape: {type: line, length: 1e-9, cells: 1}, kind: points,\n"
            "     material: {type: mass, vertex_mass: 1}}\n",
            k ? "{type: local-global, iterations: 100}" : "newton", name);
        double across = 0, slowed = 0;
        for (int i = 0; i < 2; i++)
            for (int r = 0; r < 3; r++) {
                sim->state->q[3 * i + r] = x[r];
                sim->state->v[3 * i + r] = v[r];
            }
        assert_int_equal(brio_sim_step(sim, NULL), BRIO_OK);
        for (int r = 0; r < 3; r++) {
            across += sim->state->v[r] * n[r];
            slowed += (v[r] - sim->state->v[r]) * v[r] / 0.1;
        }
        print_message("pushed by %.4g m/s, slowed by %.4g\n", across, slowed);
        assert_true(across > 5e-5 && fabs(slowed - 0.3 * across) < 0.02 * 0.3 * across);
        brio_sim_free(sim);
    }
    remove(name);
}

/* Between two walls of a mesh friction is mu times what both press with, also just in the middle,
 * where their forces cancel. TOLERANCE 1 %: epsv. */
static void friction_between_walls(void **state)
{
    (void)state;
    char name[] = "/tmp/brio-walls-XXXXXX.obj";
    int handle = mkstemps(name, 4);
    assert_true(handle >= 0);
    FILE *file = fdopen(handle, "w");
    for (int wall = -1; wall <= 1; wall += 2)
        for (int k = 0; k < 8; k++)
            fprintf(file, "v %d %g %d\n", k & 1 ? 2 : -2, wall * (k & 2 ? 1 : 0.03125),
                    k & 4 ? 2 : -2);
    static const int quad[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                   {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    for (int wall = 0; wall < 2; wall++) /* the first is a mirror image */
        for (int k = 0; k < 6; k++) {
            const int *q = quad[k];
            fprintf(file, "f %d %d %d %d\n", 8 * wall + q[0] + 1, 8 * wall + q[wall ? 1 : 3] + 1,
                    8 * wall + q[2] + 1, 8 * wall + q[wall ? 3 : 1] + 1);
        }
    fclose(file);
    for (int k = 0; k < 2; k++) {
        BrioSim *sim = parse(
            "time: {h: 1/100, end: 1}\ngravity: [0, 0, 0]\nintegrator: backward-euler\n"
            "contact: {type: penalty, dhat: 0.0625, kappa: 10, mu: 0.3, epsv: 1e-4}\n"
            "obstacles: [{type: mesh, mesh: %s}]\nbodies:\n"
            "  - {shape: {type: line, length: 1, cells: 1}, kind: points, material: {type: mass, "
            "vertex_mass: 1}, transform: {translate: [0, %g, 0.25]}, velocity: {linear: [0.5, 0, "
            "0]}}\n",
            name, k ? 0.001 : 0.0);
        double expected = 0.3 * 10 * (2 * 0.03125) * 0.01; /* in m/s: one step */
        step(sim, 1);
        for (int v = 0; v < 2; v++) {
            double slowed = 0.5 - sim->state->v[3 * v];
            if (!(fabs(slowed - expected) < 0.01 * expected))
                fail_msg("slowed by %g m/s of %g", slowed, expected);
        }
        brio_sim_free(sim);
    }
    remove(name);
}

/* Where the way from a to b first meets the cube [-1, 1]^3 from outside, or leaves it: 0: nowhere;
 * -1: so near an edge or an end that round-off decides. */
static int meets_cube(const double *a, const double *b, bool inside, double n[3])
{
    double enter = -INFINITY, leave = INFINITY, close = INFINITY;
    int in = 0, out = 0;
    for (int r = 0; r < 3; r++) {
        double way = b[r] - a[r], s = way > 0 ? 1 : -1;
        double first = (-s - a[r]) / way, last = (s - a[r]) / way;
        close = fmin(close, fmin(fabs(first - enter), fabs(last - leave)));
        if (first > enter) enter = first, in = r;
        if (last < leave) leave = last, out = r;
    }
    double at = inside ? leave : enter;
    int axis = inside ? out : in;
    close = fmin(fmin(close, fabs(leave - enter)), fmin(fabs(at), fabs(at - 1)));
    if (close < 1e-3) return -1;
    for (int r = 0; r < 3; r++) n[r] = 0;
    n[axis] = (b[axis] > a[axis] ? 1 : -1) * (inside ? 1 : -1);
    return at > 0 && at < 1 && enter < leave;
}

/* The gradient of the signed distance from the cube. */
static bool away_from_cube(const double *p, double n[3])
{
    double length = 0, least = INFINITY;
    int axis = 0;
    for (int r = 0; r < 3; r++) {
        n[r] = p[r] - fmin(fmax(p[r], -1), 1);
        length += n[r] * n[r];
        if (1 - fabs(p[r]) < least) least = 1 - fabs(p[r]), axis = r;
    }
    for (int r = 0; r < 3; r++) n[r] = length > 0 ? n[r] / sqrt(length) : 0;
    if (length == 0) n[axis] = p[axis] < 0 ? -1 : 1;
    return length == 0;
}

/* A cube and a point move along straight lines. Seen from the cube the point goes from a to b. What
 * was outside has gone through if it ends on another side than it came from; what was inside, if
 * it leaves on another side than the nearest. Between is OTHER_SIDE (collider.c), which allows for
 * sharp edges. */
static void sweeps_of_a_mesh(void **state)
{
    (void)state;
    int through = 0, met = 0, missed = 0;
    BrioRandom random = {6};
    static const double scale[2][3] = {{0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}};
    Field f = make_field(1, (unsigned[]){WHOLE, WHOLE}, scale, 2, 1);
    size_t bytes = 3 * (size_t)f.system->vertex_count * sizeof *f.x;
    double *x1 = malloc(bytes);
    for (int again = 0; again < 2000; again++) {
        int which = again % 2;
        double a[3], b[3], t[3], normal[3] = {0, 0, 0}, n[3], before[3];
        for (int r = 0; r < 3; r++) {
            a[r] = 4 * brio__random(&random) - 2;
            b[r] = 4 * brio__random(&random) - 2;
            t[r] = 3 * brio__random(&random) - 1.5;
        }
        memcpy(x1, f.x, bytes);
        for (int r = 0; r < 3; r++) {
            f.x[r] = a[r] / 2 + (r == 2 ? 100 * which : 0);
            x1[r] = b[r] / 2 + t[r] + (r == 2 ? 100 * which : 0);
        }
        shift_obstacle(&f, which, t, x1);
        bool inside = away_from_cube(a, before);
        int meets = meets_cube(a, b, inside, normal);
        away_from_cube(b, n);
        double across = brio__dot3(inside ? before : n, normal);
        if (meets < 0 || fabs(across + 0.25) < 0.01) continue;
        bool expected = meets && across < -0.25;
        int32_t vertex = -1, obstacle = -1;
        bool passed = brio__colliders_passed(f.colliders, f.x, x1, &vertex, &obstacle);
        if (passed != expected)
            fail_msg("%g %g %g to %g %g %g: %s", a[0], a[1], a[2], b[0], b[1], b[2],
                     passed ? "passed" : "not passed");
        if (passed) assert_true(vertex == 0 && obstacle == which);
        through += passed, met += meets, missed += !meets;
    }
    print_message("%d points went through, %d met a cube, %d did not\n", through, met, missed);
    assert_true(through > 100 && met > through + 100 && missed > 100);
    free(x1);
    free_field(&f);
}

/* The normal counts at the time of the hit. A cube turns by 90 degrees about z: on the way its
 * corners c are at ((1 - s) + i s) c. A point that meets the side of x at s = 0.3 does so at the
 * normal (0.919, 0.395, 0) and ends below the cube, at -y: through it. One that stays there was
 * not met. */
static void a_mesh_that_turns(void **state)
{
    (void)state;
    static const double from[2][3] = {{1.1, 0.6, 0.3}, {0.2, -1.4, 0.3}};
    static const double to[2][3] = {{0.2, -1.4, 0.3}, {0.1, -1.2, 0.3}};
    for (int through = 0; through < 2; through++) {
        Field f = make_field(1, (unsigned[]){WHOLE}, NULL, 1, 1);
        size_t bytes = 3 * (size_t)f.system->vertex_count * sizeof *f.x;
        double *x1 = malloc(bytes);
        const BrioObstacle *o = &f.system->obstacle[0];
        int32_t vertex, obstacle;
        memcpy(f.x, from[!through], sizeof from[0]);
        memcpy(x1, f.x, bytes);
        memcpy(x1, to[!through], sizeof to[0]);
        for (int64_t v = o->first; v < o->first + o->count; v++) {
            x1[3 * v] = -f.x[3 * v + 1];
            x1[3 * v + 1] = f.x[3 * v];
        }
        assert_int_equal(brio__colliders_passed(f.colliders, f.x, x1, &vertex, &obstacle), through);
        free(x1);
        free_field(&f);
    }
}

/* How far obstacles go, in their smallest extents, if a point is in the box around their path. */
static void ways_of_meshes(void **state)
{
    (void)state;
    static const double scale[2][3] = {{1, 1, 1}, {2, 0.25, 1}}; /* extents 2 and 0.5 at least */
    static const struct {
        double at[2][3], to[2][3]; /* two points, before and after */
        double move[2][3], way;
        int obstacle;
    } rows[] = {
        {{{5, 0, 0}, {5, 0, 90}}, {{5, 0, 0}, {5, 0, 90}}, {{0.6, 0, 0.8}, {0, 0.3, 0}}, 0, -1},
        {{{0, 0, 0}, {5, 0, 90}}, {{5, 0, 0}, {5, 0, 90}}, {{0.6, 0, 0.8}, {0, 0.3, 0}}, 0.5, 0},
        {{{5, 0, 0}, {5, 0, 90}}, {{0, 0, 0}, {5, 0, 90}}, {{0.6, 0, 0.8}, {0, 0.3, 0}}, 0.5, 0},
        {{{5, 0, 0}, {5, 0, 90}}, {{5, 0, 0}, {0, 0, 100}}, {{0.6, 0, 0.8}, {0, 0.3, 0}}, 0.6, 1},
        {{{0, 0, 0}, {0, 0, 100}}, {{5, 0, 0}, {5, 0, 90}}, {{0.6, 0, 0.8}, {0, 0.3, 0}}, 0.6, 1},
        {{{0, 0, 0}, {0, 0, 100}}, {{5, 0, 0}, {5, 0, 90}}, {{0.6, 0, 0.8}, {0, 0.2, 0}}, 0.5, 0},
        /* only between both poses of the obstacle: in the box around its path */
        {{{0, 1.5, 0}, {5, 0, 90}}, {{0, 3.5, 0}, {5, 0, 90}}, {{0, 4, 0}, {0, 0, 0}}, 2, 0},
        {{{0, -1.5, 0}, {5, 0, 90}}, {{0, 5.5, 0}, {5, 0, 90}}, {{0, 4, 0}, {0, 0, 0}}, 0, -1},
        {{{0, 0, 0}, {0, 0, 100}}, {{0, 0, 0}, {0, 0, 100}}, {{0, 0, 0}, {0, 0, 0}}, 0, -1},
    };
    Field f = make_field(2, (unsigned[]){WHOLE, PIT}, scale, 2, 1);
    size_t bytes = 3 * (size_t)f.system->vertex_count * sizeof *f.x;
    double *x1 = malloc(bytes);
    for (size_t i = 0; i < BRIO_COUNT(rows); i++) {
        memcpy(f.x, rows[i].at, sizeof rows[i].at);
        memcpy(x1, f.x, bytes);
        memcpy(x1, rows[i].to, sizeof rows[i].to);
        for (int k = 0; k < 2; k++) shift_obstacle(&f, k, rows[i].move[k], x1);
        int32_t obstacle = -1;
        double way = brio__colliders_way(f.colliders, f.x, x1, &obstacle);
        /* round-off of positions of 100 m */
        if (!(fabs(way - rows[i].way) < 1e-12) || obstacle != rows[i].obstacle)
            fail_msg("row %d: %g of obstacle %d", (int)i, way, obstacle);
    }
    free(x1);
    free_field(&f);
}

static void closed_surfaces(void **state)
{
    (void)state;
    Blocks b;
    BrioError error = {0};
    make_blocks(&b, PIT, 1);
    int32_t *t = b.triangle, kept;
    int64_t count = b.mesh.triangle_count;
    assert_int_equal(count, 48);
    assert_int_equal(brio__collider_check("o", t, count, &error), BRIO_OK);
    assert_int_equal(brio__collider_check("o", t, 0, &error), BRIO_ERROR_INPUT);
    error = (BrioError){0};
    assert_int_equal(brio__collider_check("o", t, count - 1, &error), BRIO_ERROR_INPUT);
    assert_non_null(strstr(error.message, "\"o\" is not a closed surface"));
    for (int k = 0; k < (int)count; k++) { /* turned round */
        error = (BrioError){0};
        kept = t[3 * k], t[3 * k] = t[3 * k + 1], t[3 * k + 1] = kept;
        assert_int_equal(brio__collider_check("o", t, count, &error), BRIO_ERROR_INPUT);
        kept = t[3 * k], t[3 * k] = t[3 * k + 1], t[3 * k + 1] = kept;
    }
    memcpy(t + 3 * 46, t, 6 * sizeof *t); /* twice */
    error = (BrioError){0};
    assert_int_equal(brio__collider_check("o", t, count, &error), BRIO_ERROR_INPUT);
}

/* With barriers only what a script moves is looked at. Failing memory leaves nothing behind. */
static void scripts_move_meshes(void **state)
{
    (void)state;
    BrioSim *sim = parse(
        "contact: {type: ipc}\nobstacles:\n"
        "  - {type: box, formula: false, cells: [1, 1, 1]}\n"
        "  - {type: box, formula: false, cells: [1, 1, 1], transform: {translate: [9, 0, 0]}, "
        "script: {velocity: [1, 0, 0]}}\n"
        "  - {type: box, formula: false, cells: [1, 1, 1], transform: {translate: [18, 0, 0]}}\n"
        "bodies:\n  - {shape: {type: line, length: 1e-3, cells: 1}, kind: points, material: {type: "
        "mass, vertex_mass: 1}, transform: {translate: [0, 3, 0]}}\n");
    Field f = {.system = sim->system};
    size_t bytes = 3 * (size_t)f.system->vertex_count * sizeof *f.x;
    double *x0 = malloc(bytes), *x1 = malloc(bytes);
    brio__system_positions(sim->system, sim->state, sim->state->q, 0, x0);
    for (int64_t at = 0, done = 0; !done; at++) {
        Memory memory;
        f.colliders = NULL;
        memory_start(&memory, at, false);
        BrioStatus status = brio__colliders_create(f.system, &f.colliders);
        done = !memory.failed;
        assert_int_equal(status, done ? BRIO_OK : BRIO_ERROR_MEMORY);
        if (!done) brio__colliders_free(f.colliders);
        if (!done && memory.live) fail_msg("allocation %d: %d", (int)at, (int)memory.live);
        for (int k = 0; done && k < 3; k++) { /* each moves by its own size over the body */
            int32_t obstacle = -1;
            double t[3] = {-9 * k + x0[0], 3, x0[2]};
            memcpy(x1, x0, bytes);
            shift_obstacle(&f, k, t, x1);
            double way = brio__colliders_way(f.colliders, x0, x1, &obstacle);
            double size = brio__norm3(t);
            assert_true(k == 1 ? fabs(way - size) < 1e-12 && obstacle == 1 : way == 0);
        }
        if (done) brio__colliders_free(f.colliders);
        brio_set_allocator(NULL);
        assert_int_equal(memory.live, 0);
    }
    free(x0);
    free(x1);
    brio_sim_free(sim);
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
                                       cmocka_unit_test(meshes),
                                       cmocka_unit_test(distances_from_a_mesh),
                                       cmocka_unit_test(normals_on_a_mesh),
                                       cmocka_unit_test(a_point_that_comes_near),
                                       cmocka_unit_test(dents_count_by_parts),
                                       cmocka_unit_test(bowls_count_once),
                                       cmocka_unit_test(friction_in_a_bowl),
                                       cmocka_unit_test(friction_between_walls),
                                       cmocka_unit_test(sweeps_of_a_mesh),
                                       cmocka_unit_test(a_mesh_that_turns),
                                       cmocka_unit_test(ways_of_meshes),
                                       cmocka_unit_test(closed_surfaces),
                                       cmocka_unit_test(scripts_move_meshes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
