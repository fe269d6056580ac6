/* Pairs of bodies that intersect: cloth through a body, bodies within each other by 1 to 20 % of
 * their size, surfaces that meet themselves, nested ones. Include after cmocka. */
#ifndef BRIO_TEST_TANGLES_H
#define BRIO_TEST_TANGLES_H

#include "contact/exact.h"
#include "mesh/mesh.h"
#include "simulate.h"

#define SOLID "material: {type: neo-hookean, E: 1e5, nu: 0.3, rho: 1000}"
#define AFFINE SOLID ", kind: affine"
#define CLOTH                                                                                \
    "kind: shell, material: {type: membrane-neo-hookean, E: 1e5, nu: 0.3, thickness: 1e-3, " \
    "areal: 0.2}"
#define BOX "shape: {type: box, size: [0.1, 0.1, 0.1], cells: [3, 3, 3]}, "
#define BALL "shape: {type: ball, radius: 0.05, cells: 3}, "
#define SHEET "shape: {type: grid, width: 0.3, depth: 0.3, cells_x: 20, cells_z: 20}, "
#define BUNNY "shape: {type: figure, of: bunny, size: 0.1, cells: 18}, "
#define AT(x, y, z) "transform: {translate: [" #x ", " #y ", " #z "]}, "
#define TURNED(x, y, z, axis, angle) \
    "transform: {rotate: [" axis ", " #angle "], translate: [" #x ", " #y ", " #z "]}, "

typedef struct Tangle {
    const char *name, *bodies, *obstacles;
    double most; /* m: the largest shift that is fine; 0: nothing may move; -1: is rejected */
} Tangle;

static const Tangle tangles[] = {
    /* solids */
    {"boxes by 1 %", "{name: a, " BOX SOLID "}, {name: b, " BOX AT(0.01, 0.099, 0.02) SOLID "}", "",
     0.0012},
    {"boxes by 5 %", "{name: a, " BOX SOLID "}, {name: b, " BOX AT(0, 0.095, 0) SOLID "}", "",
     0.0032},
    {"boxes by 10 %", "{name: a, " BOX SOLID "}, {name: b, " BOX AT(0.03, 0.09, 0) SOLID "}", "",
     0.0057},
    {"boxes by 20 %", "{name: a, " BOX SOLID "}, {name: b, " BOX AT(0.03, 0.08, 0.01) SOLID "}", "",
     0.0107},
    {"turned box on a corner",
     "{name: a, " BOX SOLID "}, {name: b, " BOX TURNED(0.02, 0.1, 0.01, "[1, 0, 1]", 40) SOLID "}",
     "", 0.02},
    {"balls by 1 %", "{name: a, " BALL SOLID "}, {name: b, " BALL AT(0.004, 0.0965, 0.0) SOLID "}",
     "", 0.002},
    {"balls by 10 %", "{name: a, " BALL SOLID "}, {name: b, " BALL AT(0.09, 0, 0) SOLID "}", "",
     0.006},
    {"balls by 20 %", "{name: a, " BALL SOLID "}, {name: b, " BALL AT(0.06, 0.05, 0) SOLID "}", "",
     0.012},
    {"ball in a box", "{name: a, " BOX SOLID "}, {name: b, " BALL AT(0.02, 0.09, 0) SOLID "}", "",
     0.006},
    {"capsule in a torus",
     "{name: a, shape: {type: torus, major: 0.06, minor: 0.02}, " SOLID
     "}, {name: b, shape: {type: capsule, radius: 0.03, height: 0.15}, " AT(0.015, 0, 0) SOLID "}",
     "", 0.02},
    {"bunny in a box", "{name: a, " BUNNY SOLID "}, {name: b, " BOX AT(0.0, -0.04, 0) SOLID "}", "",
     0.012},
    {"bunny and hippo",
     "{name: a, " BUNNY SOLID
     "}, {name: b, shape: {type: figure, of: hippo, size: 0.1, cells: 18}, " AT(0.1, 0, 0) SOLID
     "}",
     "", 0.03},
    {"three dice in a pile",
     "{name: a, shape: {type: die, size: 0.1}, " SOLID
     "}, {name: b, shape: {type: die, size: 0.1}, " AT(0.02, 0.09, 0) SOLID
     "}, {name: c, shape: {type: die, size: 0.1}, " AT(0, 0.17, 0.03) SOLID "}",
     "", 0.03},
    {"affine boxes", "{name: a, " BOX AFFINE "}, {name: b, " BOX AT(0, 0.09, 0.03) AFFINE "}", "",
     0.0057},
    {"two links of a chain",
     "{name: a, shape: {type: chain-link}, " AFFINE
     "}, {name: b, shape: {type: chain-link}, " TURNED(0.058, 0, 0.0, "[1, 0, 0]", 90) AFFINE "}",
     "", 0.01},
    {"box in the floor", "{name: a, " BOX SOLID "}",
     "{type: plane, name: floor, point: [0, -0.04, 0], normal: [0, 1, 0]}", 0.011},
    {"box in the floor and in a box",
     "{name: a, " BOX SOLID "}, {name: b, " BOX AT(0, 0.09, 0) SOLID "}",
     "{type: plane, name: floor, point: [0, -0.04, 0], normal: [0, 1, 0]}", 0.022},
    {"ball in an obstacle", "{name: a, " BALL SOLID "}",
     "{type: box, name: block, size: [0.2, 0.1, 0.2], transform: {translate: [0, -0.09, 0]}}",
     0.011},
    {"box next to a fixed box",
     "{name: a, " BOX SOLID
     ", fix: [{box: [[-1, -1, -1], [1, -0.04, 1]]}]}, {name: b, " BOX AT(0, 0.09, 0) SOLID "}",
     "", 0.0115},
    {"bars between walls",
     "{name: a, shape: {type: bar, length: 0.2, height: 0.03, width: 0.03, cells: 12}, " SOLID
     ", fix: [{box: [[-1, -1, -1], [0.001, 1, 1]]}]}, "
     "{name: b, shape: {type: bar, length: 0.2, height: 0.03, width: 0.03, cells: 12}, " AT(
         0.1, 0.027, 0) SOLID ", fix: [{box: [[0.299, -1, -1], [1, 1, 1]]}]}",
     "", 0.02},
    /* cloth and bodies */
    {"cloth dips into a ball",
     "{name: a, " BALL SOLID "}, {name: b, " SHEET AT(0, 0.047, 0) CLOTH "}", "", 0.006},
    {"cloth through a ball",
     "{name: a, " BALL SOLID "}, {name: b, " SHEET AT(0.01, 0.02, 0) CLOTH "}", "", 0.04},
    {"cloth through the middle of a ball",
     "{name: a, " BALL SOLID "}, {name: b, " SHEET AT(0.003, 0.001, 0.002) CLOTH "}", "", 0.06},
    {"cloth in a box", "{name: a, " BOX SOLID "}, {name: b, " SHEET AT(0.01, 0.04, 0.01) CLOTH "}",
     "", 0.015},
    {"cloth through a bunny",
     "{name: a, " BUNNY SOLID "}, {name: b, " SHEET AT(0, 0.07, 0) CLOTH "}", "", 0.05},
    {"pinned cloth in a ball",
     "{name: a, " BALL AT(0, -0.04, 0) SOLID
     "}, {name: b, " SHEET CLOTH
     ", fix: [{box: [[-1, -1, -1], [-0.149, 1, 1]]}, {box: [[0.149, -1, -1], [1, 1, 1]]}]}",
     "", 0.02},
    {"corner of a cloth in the floor",
     "{name: a, " SHEET TURNED(0, 0.03, 0, "[0, 0, 1]", 20) CLOTH "}",
     "{type: plane, name: floor, point: [0, 0, 0], normal: [0, 1, 0]}", 0.04},
    {"corner of a cloth through a cloth",
     "{name: a, " SHEET CLOTH "}, {name: b, " SHEET TURNED(0.23, 0.07, 0.02, "[0.2, 0, 1]", 40)
         CLOTH "}",
     "", 0.04},
    {"cloth across a cloth",
     "{name: a, " SHEET CLOTH "}, {name: b, " SHEET TURNED(0.01, 0.02, 0.0, "[1, 0, 0]", 60) CLOTH
     "}",
     "", 0.2},
    {"cloth pinned within an obstacle",
     "{name: b, " SHEET CLOTH ", fix: [{box: [[-1, -1, -1], [-0.149, 1, 1]]}]}",
     "{type: box, name: block, size: [0.1, 0.1, 0.5], transform: {translate: [-0.15, 0, 0]}}", -1},
    /* nested */
    {"ball within a shell",
     "{name: a, shape: {type: sphere, radius: 0.1, subdivisions: 3}, " CLOTH
     "}, {name: b, " BALL SOLID "}",
     "", 0},
    {"ball in the wall of a shell, from within",
     "{name: a, shape: {type: sphere, radius: 0.1, subdivisions: 3}, " CLOTH
     "}, {name: b, " BALL AT(0.055, 0, 0) SOLID "}",
     "", 0.01},
    {"ball in the wall of a shell, from outside",
     "{name: a, shape: {type: sphere, radius: 0.1, subdivisions: 3}, " CLOTH
     "}, {name: b, " BALL AT(0.145, 0, 0) SOLID "}",
     "", 0.01},
    /* a surface and itself */
    {"ring whose ends overlap", "{name: a, mesh: ring.msh, " SOLID "}", "", 0.02},
    {"strip that winds through itself", "{name: a, mesh: strip.obj, " CLOTH "}", "", 0.05},
    {"fold through itself", "{name: a, mesh: fold.obj, " CLOTH "}", "", 0.05},
};

static void write_mesh(const char *name, BrioMesh *mesh)
{
    const BrioMeshWriter *writer;
    char note[320];
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(brio__mesh_writer(name, &writer, NULL), BRIO_OK);
    assert_int_equal(brio__mesh_fit(writer, mesh, note, sizeof note, NULL), BRIO_OK);
    writer->write(mesh, true, file);
    fclose(file);
    brio_mesh_free(mesh);
}

static BrioMesh *make(const char *shape, int count, const double *values)
{
    BrioMesh *mesh = NULL;
    BrioError error = {0};
    const BrioField *fields = brio_shape_fields(shape);
    double all[BRIO_MAX_VALUES];
    brio_fields_defaults(fields, all);
    memcpy(all, values, (size_t)count * sizeof *values);
    if (brio_mesh_shape(shape, all, &mesh, &error) != BRIO_OK) fail_msg("%s", error.message);
    return mesh;
}

/* Meshes that meet themselves: a bar bent to a little more than a ring, a strip wound to a spiral
 * whose turns cross, a cloth folded so far that its end comes out below. */
static void write_tangled_meshes(void)
{
    BrioMesh *ring = make("bar", 5, (double[]){0.6, 0.03, 0.03, 40, 2});
    for (int64_t v = 0; v < ring->vertex_count; v++) {
        double *x = ring->x + 3 * v, angle = x[0] / 0.6 * 6.4, radius = 0.1 - x[1];
        x[1] = radius * cos(angle) + 0.02 * x[0];
        x[0] = radius * sin(angle);
        x[2] += 0.02 * angle / 6.4;
    }
    write_mesh("ring.msh", ring);
    BrioMesh *strip = make("grid", 4, (double[]){0.5, 0.05, 50, 5});
    for (int64_t v = 0; v < strip->vertex_count; v++) {
        double *x = strip->x + 3 * v, t = (x[0] + 0.25) / 0.5, angle = 6.6 * t;
        double radius = 0.06 + 0.006 * sin(4 * angle);
        x[0] = radius * cos(angle);
        x[1] = radius * sin(angle);
    }
    write_mesh("strip.obj", strip);
    BrioMesh *fold = make("grid", 4, (double[]){0.3, 0.1, 30, 10});
    for (int64_t v = 0; v < fold->vertex_count; v++) {
        double *x = fold->x + 3 * v, s = x[0];
        if (s <= 0) continue;
        double angle = fmin(s / 0.02, 3.7), rest = fmax(0, s - 0.074);
        x[0] = 0.02 * sin(angle) + rest * cos(angle);
        x[1] = 0.02 * (1 - cos(angle)) + rest * sin(angle);
    }
    write_mesh("fold.obj", fold);
}

/* The simulation of a tangle, NULL with the reason if it is rejected. */
static BrioSim *untangle(const Tangle *tangle, BrioError *error)
{
    char text[4096];
    BrioSim *sim = NULL;
    int length =
        snprintf(text, sizeof text,
                 "{time: {h: 0.01, end: 1}, solver: {tol: 1e-3}, contact: {type: ipc, dhat: 5e-4, "
                 "kappa: 1e4, start: untangle}, bodies: [%s], obstacles: [%s]}",
                 tangle->bodies, tangle->obstacles);
    assert_true(length < (int)sizeof text);
    if (brio_sim_parse(text, (size_t)length, "tangle.yaml", &sim, error) != BRIO_OK) return NULL;
    return sim;
}

static void prove(BrioSim *sim)
{
    BrioExact *exact;
    BrioExactReport report;
    char text[320];
    assert_int_equal(brio__exact_create(sim->system, &exact), BRIO_OK);
    brio__exact_check(exact, sim->state, &report);
    brio__exact_text(sim->system, &report, text, sizeof text);
    brio__exact_free(exact);
    if (!brio__exact_fine(&report)) fail_msg("%s", text);
}

/* What is parted moves no farther than the depth of the overlap asks for, within the limit of each
 * case, and is proved by the exact test. What is not is rejected by name: NULL. */
static inline BrioSim *untangle_as_told(const Tangle *t)
{
    BrioError error = {0};
    double start = brio__seconds();
    BrioSim *sim = untangle(t, &error);
    if (!sim) {
        print_message("%-42s refused: %s\n", t->name, error.message);
        assert_true(t->most < 0);
        assert_non_null(strstr(error.message, "cannot separate \"b\" and \"block\""));
        return NULL;
    }
    const BrioUntangled *r = &sim->untangled;
    double min = ledger(sim).min_distance;
    print_message("%-42s %4lld intersections, largest shift %.5f m, %s%.2g dhat apart, %.2f s\n",
                  t->name, (long long)r->before, r->shift, isnan(min) ? "> " : "",
                  isnan(min) ? 1 : min / 5e-4, brio__seconds() - start);
    prove(sim);
    assert_true(r->shift <= t->most);
    assert_true((t->most > 0) == (r->shift > 0));
    return sim;
}

#endif
