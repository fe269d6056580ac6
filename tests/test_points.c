/* Points and segments, as bodies and as obstacles, in barrier contact: what they count for, forces
 * that are continuous, momentum, and things that fall on them, or they on things, and rest. */
#include "program.h"

#include "contact/exact.h"
#include "mesh/mesh.h"
#include "mesh/predicate.h"
#include "potential/potential.h"
#include "simulate.h"
#include "vec.h"

/* A file of this folder (program.h enters one of its own). */
static void write_lines(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void write_lines(const char *name, const char *format, ...)
{
    va_list list;
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    va_start(list, format);
    vfprintf(file, format, list);
    va_end(list);
    assert_int_equal(fclose(file), 0);
}

/* A straight line from (-1, 0, 0) to (1, 0, 0) in n parts. */
static void write_line(const char *name, int n)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    for (int i = 0; i <= n; i++) fprintf(file, "v %.17g 0 0\n", 2.0 * i / n - 1);
    for (int i = 1; i <= n; i++) fprintf(file, "s %d %d\n", i, i + 1);
    assert_int_equal(fclose(file), 0);
}

/* n x n needles of this length below y = 0, or without one points at y = 0. */
static void write_bed(const char *name, int n, double spacing, double length)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    for (int i = 0; i < n * n; i++) {
        double x = spacing * (i % n - 0.5 * (n - 1)), z = spacing * (i / n - 0.5 * (n - 1));
        fprintf(file, "v %.17g 0 %.17g\n", x, z);
        if (length > 0)
            fprintf(file, "v %.17g %.17g %.17g\ns %d %d\n", x, -length, z, 2 * i + 1, 2 * i + 2);
    }
    assert_int_equal(fclose(file), 0);
}

static double *world_of(BrioSim *sim)
{
    double *x = calloc(3 * (size_t)sim->system->vertex_count, sizeof *x);
    assert_non_null(x);
    brio__system_positions(sim->system, sim->state, sim->state->q, sim->state->time, x);
    return x;
}

/* The energy of contact at world positions x; its gradient by them is put into `world`. */
static double contact_at(BrioSim *sim, const double *x, double *world)
{
    if (world) memset(world, 0, 3 * (size_t)sim->system->vertex_count * sizeof *world);
    return brio__contact_evaluate(brio__potential_contact(sim->stepper->potential),
                                  sim->state->param, x, NULL, world);
}

/* ---- counts ----------------------------------------------------------------------------- */

static void counts(void **unused)
{
    (void)unused;
    /* a chain of three, a fork at its end, and a loop */
    write_lines("net.seg", "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 3 1 0\nv 3 -1 0\n"
                           "v 5 0 0\nv 6 0 0\nv 5 1 0\n"
                           "s 1 2\ns 2 3\ns 3 4\ns 3 5\ns 6 7\ns 7 8\ns 8 6\n");
    write_lines("one.pt", "v 0 5 0\nv 1 5 0\n");
    BrioSim *sim = parse("contact: {type: ipc}\nintegrator: backward-euler\n"
                         "time: {h: 0.01, end: 1}\nobstacles: [{type: mesh, mesh: net.seg}]\n"
                         "bodies: [{kind: points, mesh: one.pt, material: {type: mass, "
                         "vertex_mass: 1}}]\n");
    const BrioSurface *s = sim->system->surface;
    const int expected[10] = {1, 1, 0, -1, -2, 0, 0, -1, -1, -1}; /* the points come first */
    assert_int_equal(s->vertex_count, 10);
    assert_int_equal(s->edge_count, 7);
    for (int v = 0; v < 10; v++) {
        int place = -1;
        for (int k = 0; k < 10; k++)
            if (s->vertex[k] == v) place = k;
        assert_true(place >= 0);
        assert_int_equal(s->vertex_factor[place], expected[v]);
        assert_true(s->vertex_crease[place] == 1);
    }
    for (int e = 0; e < 7; e++) assert_int_equal(s->edge_factor[e], 1);
    brio_sim_free(sim);
}

/* A point before a straight line in one, two and seven parts, and before a wide corner of two: the
 * barrier of the distance, once. TOLERANCE 1e-12 of the largest: sums of a few terms. */
static void energy_of_a_point(void **unused)
{
    (void)unused;
    const double dhat = 0.1, kappa = 1e4, largest = kappa * dhat * dhat;
    const int parts[3] = {1, 2, 7};
    write_lines("one.pt", "v 0 5 0\n");
    for (int k = 0; k < 3; k++) {
        write_line("line.seg", parts[k]);
        BrioSim *sim = parse(
            "contact: {type: ipc, dhat: %g, kappa: %g}\nintegrator: backward-euler\n"
            "time: {h: 0.01, end: 1}\nobstacles: [{type: mesh, mesh: line.seg}]\n"
            "bodies: [{kind: points, mesh: one.pt, material: {type: mass, vertex_mass: 1}}]\n",
            dhat, kappa);
        double *x = world_of(sim), *g = world_of(sim);
        int near = 0;
        for (int i = -90; i <= 90; i++)
            for (int j = 1; j <= 5; j++) {
                x[0] = i * 1.2 / 90;
                if (i % 15 == 0) x[0] = -1 + 2.0 * (i / 15 + 6) / 7; /* above vertices */
                x[1] = 0.024 * j * cos(j), x[2] = 0.024 * j * sin(j);
                double beyond = fmax(0, fabs(x[0]) - 1);
                double d = hypot(hypot(beyond, x[1]), x[2]);
                double b = d < dhat ? -kappa * (d - dhat) * (d - dhat) * log(d / dhat) : 0;
                double E = contact_at(sim, x, g), sum[3] = {0};
                near += d < dhat;
                assert_true(fabs(E - b) < 1e-12 * largest);
                for (int64_t v = 0; v < sim->system->vertex_count; v++)
                    for (int r = 0; r < 3; r++) sum[r] += g[3 * v + r];
                assert_true(brio__norm3(sum) < 1e-10 * kappa * dhat);
            }
        assert_true(near > 500);
        free(x), free(g);
        brio_sim_free(sim);
    }
}

/* ---- derivatives ------------------------------------------------------------------------ */

/* Points, a line of springs and triangles in a small space, with thickness. */
static BrioSim *crowd(double thickness)
{
    write_lines("three.pt", "v 0 0 0\nv 0.3 0.1 0.2\nv -0.2 0.15 0.1\n");
    write_lines("chain.seg", "v -0.4 0.3 0\nv 0 0.32 0.1\nv 0.4 0.3 0.1\nv 0.5 0.5 0.4\n"
                             "s 1 2\ns 2 3\ns 3 4\n");
    write_lines("fork.seg", "v -0.4 0.6 0.1\nv 0 0.6 0.2\nv 0.3 0.8 0.2\nv 0.3 0.5 0.5\n"
                            "s 1 2\ns 2 3\ns 2 4\n");
    return parse(
        "contact: {type: ipc, dhat: 0.25, kappa: 10, thickness: %g}\n"
        "integrator: backward-euler\ntime: {h: 0.01, end: 1}\n"
        "obstacles: [{type: mesh, mesh: fork.seg}, {type: grid, width: 1, depth: 1, cells_x: "
        "2, cells_z: 2, transform: {rotate: [[1, 0, 0], 10], translate: [0, -0.2, 0]}}]\n"
        "bodies: [{kind: points, mesh: three.pt, material: {type: mass, vertex_mass: 1}}, "
        "{kind: springs, mesh: chain.seg, material: {type: hooke, vertex_mass: 1}}]\n",
        thickness);
}

/* Remainders of Taylor's sums of the first order fall as e^2 along random ways of all vertices that
 * move. TOLERANCE 0.2 of the exponent; those below round-off say nothing. */
static void taylor(void **unused)
{
    (void)unused;
    BrioSim *sim = crowd(0.02);
    const BrioSystem *s = sim->system;
    int64_t count = 3 * s->vertex_count, moved = 3 * s->body_vertices;
    double *first = world_of(sim), *x = world_of(sim), *y = world_of(sim), *g = world_of(sim);
    BrioRandom random = {11};
    int tried = 0;
    for (int n = 0; n < 400; n++) {
        double d[64] = {0}, slope = 0, rest[2];
        assert_true(moved <= 64);
        for (int64_t i = 0; i < moved; i++) {
            x[i] = first[i] + 0.12 * brio__random_normal(&random);
            d[i] = brio__random_normal(&random);
        }
        double E = contact_at(sim, x, g);
        if (!isfinite(E) || E < 1e-3 || E > 10) continue;
        for (int64_t i = 0; i < moved; i++) slope += g[i] * d[i];
        for (int k = 0; k < 2; k++) {
            double e = k ? 1e-6 : 4e-6;
            memcpy(y, x, (size_t)count * sizeof *x);
            for (int64_t i = 0; i < moved; i++) y[i] += e * d[i];
            rest[k] = fabs(contact_at(sim, y, NULL) - E - e * slope);
        }
        if (rest[1] < 1e-13 * (1 + E)) continue;
        double order = log(rest[0] / rest[1]) / log(4);
        if (order < 1.8) fail_msg("case %d: order %.3f (%g, %g)", n, order, rest[0], rest[1]);
        tried++;
    }
    print_message("  %d ways\n", tried);
    assert_true(tried > 50);
    free(first), free(x), free(y), free(g);
    brio_sim_free(sim);
}

/* Along straight ways past vertices, ends and forks the force changes by as much as the way: over
 * steps eight times shorter, the largest change is about an eighth. A jump would stay. */
static void continuous(void **unused)
{
    (void)unused;
    BrioSim *sim = crowd(0);
    double *x = world_of(sim), *g = world_of(sim), largest[2] = {0, 0};
    const double ways[4][6] = {/* from, along: the point 0 past fork.seg and chain.seg */
                               {-0.6, 0.65, 0.12, 1.2, 0.1, 0.3},
                               {-0.5, 0.52, 0.05, 0.9, 0.3, 0.2},
                               {-0.6, 0.38, 0, 1.3, 0.1, 0.3},
                               {0.25, 0.4, 0.6, 0.1, 0.6, -0.6}};
    for (int way = 0; way < 4; way++)
        for (int k = 0; k < 2; k++) {
            int steps = k ? 16000 : 2000;
            double before[3] = {0};
            for (int i = 0; i <= steps; i++) {
                for (int r = 0; r < 3; r++)
                    x[r] = ways[way][r] + ways[way][3 + r] * i / (double)steps;
                double change = 0;
                assert_true(isfinite(contact_at(sim, x, g)));
                for (int r = 0; r < 3; r++) change = brio__larger(change, fabs(g[r] - before[r]));
                if (i > 0) largest[k] = brio__larger(largest[k], change);
                memcpy(before, g, sizeof before);
            }
        }
    print_message("  largest change of the force: %.3g N, and %.3g N with shorter steps\n",
                  largest[0], largest[1]);
    assert_true(largest[0] > 0.001);
    assert_true(largest[1] < 0.2 * largest[0]);
    free(x), free(g);
    brio_sim_free(sim);
}

/* ---- motion ----------------------------------------------------------------------------- */

/* Steps, and proves every state. `seen`: looks at the positions too; NULL: nothing more. */
static void step_exactly(BrioSim *sim, int steps, void (*seen)(const BrioSim *, const double *))
{
    BrioExact *exact;
    BrioExactReport report;
    char text[320];
    assert_int_equal(brio__exact_create(sim->system, &exact), BRIO_OK);
    for (int i = 0; i < steps; i++) {
        step(sim, 1);
        double *x = world_of(sim);
        brio__exact_check_positions(exact, x, &report);
        brio__exact_text(sim->system, &report, text, sizeof text);
        if (text[0]) fail_msg("step %d: %s", i, text);
        if (seen) seen(sim, x);
        free(x);
    }
    brio__exact_free(exact);
}

/* Nothing of bodies without triangles, nor of obstacles, is inside a tet of body 0. */
static void no_point_inside(const BrioSim *sim, const double *x)
{
    const BrioSystem *s = sim->system;
    const BrioBody *b = &s->body[0];
    for (int64_t v = b->count; v < s->vertex_count; v++)
        for (int64_t t = 0; t < b->tet_count; t++) {
            const double *p[4];
            bool inside = true;
            for (int k = 0; k < 4; k++) p[k] = x + 3 * (b->first + b->tet[4 * t + k]);
            for (int k = 0; k < 4 && inside; k++) {
                const double *q[4] = {p[0], p[1], p[2], p[3]};
                q[k] = x + 3 * v;
                inside = brio__exact_orient3d(q[0], q[1], q[2], q[3]) >= 0;
            }
            if (inside) fail_msg("vertex %lld is inside tet %lld", (long long)v, (long long)t);
        }
}

/* A ball on needles, and on points alone: it comes to rest on their tips. */
static void pin_cushion(void **unused)
{
    (void)unused;
    for (int points = 0; points < 2; points++) {
        const char *file = points ? "bed.pt" : "bed.seg";
        write_bed(file, 9, 0.06, points ? 0 : 0.1);
        BrioSim *sim = parse("contact: {type: ipc, dhat: 2e-3, kappa: 1e4}\n"
                             "integrator: backward-euler\nsolver: {tol: 1e-3}\n"
                             "gravity: [0, -9.8, 0]\ntime: {h: 1/50, end: 2}\n"
                             "obstacles: [{type: mesh, mesh: %s}]\n"
                             "bodies: [{shape: {type: ball, radius: 0.15, cells: 4}, material: "
                             "{type: neo-hookean, E: 1e5, nu: 0.3, rho: 1000}, transform: "
                             "{translate: [0.013, 0.2, 0.007]}}]\n",
                             file);
        step_exactly(sim, 60, no_point_inside);
        double height = ledger(sim).centre[1];
        BrioLedger l = ledger(sim);
        print_message("  on %s: centre at %.3f m, %lld contacts\n", points ? "points" : "needles",
                      height, (long long)l.contacts);
        assert_true(height > 0.1 && height < 0.152 && l.contacts >= 3);
        assert_true(l.min_distance > 0);
        brio_sim_free(sim);
    }
}

/* Cloth that falls across a segment hangs on it. */
static void cloth_on_a_segment(void **unused)
{
    (void)unused;
    write_line("line.seg", 1);
    BrioSim *sim =
        parse("contact: {type: ipc, dhat: 4e-3, kappa: 1e3, mu: 0.4}\n"
              "integrator: backward-euler\nsolver: {tol: 1e-3}\n"
              "gravity: [0, -9.8, 0]\ntime: {h: 1/50, end: 2}\n"
              "obstacles: [{type: mesh, mesh: line.seg}]\n"
              "bodies: [{shape: {type: grid, width: 0.6, depth: 0.6, cells_x: 12, cells_z: 12}, "
              "material: cotton, transform: {rotate: [[0, 1, 0], 20], translate: [0.02, "
              "0.03, 0.01]}}]\n");
    step_exactly(sim, 50, NULL);
    BrioLedger l = ledger(sim);
    print_message("  centre at %.3f m, %lld contacts\n", l.centre[1], (long long)l.contacts);
    assert_true(l.centre[1] > -0.16 && l.centre[1] < -0.05 && l.contacts > 5);
    brio_sim_free(sim);
}

/* A line of springs falls across a box and stays on it: its edges and its ends meet triangles and
 * their edges. */
static void line_on_a_box(void **unused)
{
    (void)unused;
    write_line("line.seg", 8);
    BrioSim *sim = parse(
        "contact: {type: ipc, dhat: 2e-3, kappa: 1e4, mu: 0.3}\n"
        "integrator: backward-euler\nsolver: {tol: 1e-3}\n"
        "gravity: [0, -9.8, 0]\ntime: {h: 1/50, end: 2}\n"
        "obstacles: [{type: plane, normal: [0, 1, 0]}]\n"
        "bodies: [{shape: {type: box, size: [0.4, 0.2, 0.4], cells: [2, 1, 2]}, material: "
        "{type: neo-hookean, E: 1e6, rho: 500}, transform: {translate: [0, 0.102, 0]}}, "
        "{kind: springs, mesh: line.seg, material: {type: hooke, k: 1e4, vertex_mass: 0.01}, "
        "transform: {scale: 0.18, rotate: [[0, 1, 0], 33], translate: [0.02, 0.23, 0.013]}}]\n");
    step_exactly(sim, 40, no_point_inside);
    double *x = world_of(sim);
    const BrioBody *b = &sim->system->body[1];
    for (int64_t v = b->first; v < b->first + b->count; v++)
        assert_true(x[3 * v + 1] > 0.19 && x[3 * v + 1] < 0.21);
    free(x);
    brio_sim_free(sim);
}

/* Points fall on a plane, on triangles and, with thickness, on each other: four heaps of three. */
static void falling_points(void **unused)
{
    (void)unused;
    write_lines("grains.pt", "v 0 0.02 0\nv 1e-4 0.04 1e-4\nv 0 0.06 1e-4\n"
                             "v 0.2 0.03 0\nv 0.2 0.05 1e-4\nv 0.2001 0.08 0\n");
    const char *floors[2] = {"{type: plane, normal: [0, 1, 0]}",
                             "{type: grid, width: 1, depth: 1, cells_x: 3, cells_z: 3}"};
    for (int k = 0; k < 2; k++) {
        BrioSim *sim =
            parse("contact: {type: ipc, dhat: 1e-3, kappa: 1e3, thickness: 0.01, mu: 0.9}\n"
                  "integrator: backward-euler\nsolver: {tol: 1e-3}\n"
                  "gravity: [0, -9.8, 0]\ntime: {h: 1/100, end: 2}\n"
                  "obstacles: [%s]\n"
                  "bodies: [{kind: points, mesh: grains.pt, material: {type: mass, "
                  "vertex_mass: 1e-3}}]\n",
                  floors[k]);
        for (int n = 0; n < 60; n++) {
            step(sim, 1);
            double *x = world_of(sim);
            for (int i = 0; i < 6; i++) {
                assert_true(x[3 * i + 1] > 0.01);
                for (int j = 0; j < i; j++)
                    assert_true(brio__distance3(x + 3 * i, x + 3 * j) > 0.01);
            }
            free(x);
        }
        double *x = world_of(sim);
        for (int i = 0; i < 6; i++) assert_true(x[3 * i + 1] < 0.035);
        free(x);
        brio_sim_free(sim);
    }
}

/* Two bodies that meet without weight: their momentum stays, and they do not pass. TOLERANCE 1e-9
 * of the momentum of each. */
static void momentum(void **unused)
{
    (void)unused;
    write_lines("cloud.pt", "v 0 0 0\nv 0.05 0.01 0\nv 0 -0.04 0.03\nv 0.01 0.05 -0.02\n");
    write_lines("line.seg", "v 0 -0.1 0\nv 0 0 0.001\nv 0 0.1 0\ns 1 2\ns 2 3\n");
    const char *bodies[4] = {
        "kind: points, mesh: cloud.pt, material: {type: mass, vertex_mass: 0.01}",
        "kind: springs, mesh: line.seg, material: {type: hooke, k: 1e3, vertex_mass: 0.01}, "
        "transform: {rotate: [[1, 0, 0], 70]}",
        "kind: springs, mesh: line.seg, material: {type: hooke, k: 1e3, vertex_mass: 0.01}",
        "shape: {type: box, size: [0.2, 0.2, 0.2], cells: [2, 2, 2]}, material: {type: "
        "neo-hookean, E: 1e4, rho: 10}"};
    for (int one = 0; one < 3; one++)
        for (int other = 0; other < 4; other++) {
            double start = other == 3 ? -0.2 : -0.1;
            char first[512];
            snprintf(first, sizeof first, "%s", bodies[one]);
            char *turn = strstr(first, ", transform");
            if (turn) *turn = 0;
            BrioSim *sim =
                parse("contact: {type: ipc, dhat: 2e-3, kappa: 1e3, thickness: 4e-3}\n"
                      "integrator: backward-euler\nsolver: {tol: 1e-7}\ngravity: [0, 0, 0]\n"
                      "time: {h: 1/200, end: 2}\n"
                      "bodies: [{%s, transform: {%stranslate: [%g, 0.003, 0.002]}, velocity: "
                      "{linear: [1, 0, 0]}}, {%s}]\n",
                      first, one == 1 ? "rotate: [[1, 0, 0], 70], " : "", start, bodies[other]);
            BrioLedger before = ledger(sim);
            int64_t contacts = 0;
            for (int n = 0; n < 60; n++) {
                step(sim, 1);
                BrioLedger l = ledger(sim);
                contacts += l.contacts;
                for (int r = 0; r < 3; r++)
                    if (!(fabs(l.momentum[r] - before.momentum[r]) < 1e-9 * before.momentum[0]))
                        fail_msg("%d on %d, step %d: %g", one, other, n,
                                 l.momentum[r] - before.momentum[r]);
                if (l.contacts) assert_true(l.min_distance > 4e-3);
            }
            print_message("  %d on %d: %lld contacts\n", one, other, (long long)contacts);
            assert_true(contacts > 0);
            brio_sim_free(sim);
        }
}

/* Lines that lie exactly along each other: edges that are parallel push by their ends alone. */
static void parallel_lines(void **unused)
{
    (void)unused;
    write_line("line.seg", 4);
    BrioSim *sim = parse("contact: {type: ipc, dhat: 2e-3, kappa: 1e3, thickness: 4e-3, mu: 0.9}\n"
                         "integrator: backward-euler\nsolver: {tol: 1e-3}\n"
                         "gravity: [0, -9.8, 0]\ntime: {h: 1/100, end: 2}\n"
                         "obstacles: [{type: plane, normal: [0, 1, 0]}]\n"
                         "bodies: [{kind: springs, mesh: line.seg, material: {type: hooke, k: 1e3, "
                         "vertex_mass: 0.01}, transform: {scale: 0.1, translate: [0, 0.0055, 0]}, "
                         "array: {count: [1, 3, 1], spacing: [0, 0.01, 0]}}]\n");
    for (int n = 0; n < 40; n++) {
        step(sim, 1);
        assert_true(ledger(sim).min_distance > 4e-3);
    }
    double *x = world_of(sim);
    for (int i = 0; i < 3; i++) /* a stack, until it topples */
        assert_true(x[3 * sim->system->body[i].first + 1] > 4e-3);
    free(x);
    brio_sim_free(sim);
}

/* ---- files and messages ----------------------------------------------------------------- */

/* Where FILE.pt or FILE.seg is missing, FILE.obj serves: its vertices, its edges. */
static void obj_in_place(void **unused)
{
    (void)unused;
    BrioMesh *mesh;
    BrioError error;
    write_lines("quad.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n");
    assert_int_equal(brio_mesh_read("quad.pt", &mesh, &error), BRIO_OK);
    assert_true(mesh->vertex_count == 4 && mesh->triangle_count + mesh->edge_count == 0);
    brio_mesh_free(mesh);
    assert_int_equal(brio_mesh_read("quad.seg", &mesh, &error), BRIO_OK);
    assert_true(mesh->vertex_count == 4 && mesh->edge_count == 5 && mesh->triangle_count == 0);
    brio_mesh_free(mesh);
    assert_int_equal(brio_mesh_read("none.pt", &mesh, &error), BRIO_ERROR_FILE);
    assert_string_equal(error.message, "there is no such file");
    BrioSim *sim = parse("contact: {type: ipc}\nintegrator: backward-euler\n"
                         "time: {h: 0.01, end: 1}\nobstacles: [{type: mesh, mesh: quad.pt}]\n"
                         "bodies: [{shape: {type: box, size: [1, 1, 1], cells: [1, 1, 1]}, "
                         "material: jelly, transform: {translate: [0, 0, 2]}}]\n");
    assert_int_equal(sim->system->obstacle[0].count, 4);
    brio_sim_free(sim);
}

static const char free_points[] =
    "contact: {type: ipc}\nintegrator: backward-euler\ntime: {h: 0.01, end: 0.02}\n"
    "output: {frames: [vtu, obj, ply, usda, glb, pc2]}\n"
    "obstacles: [{type: mesh, name: bed, mesh: bed.seg}, {type: mesh, name: tips, mesh: bed.pt}]\n"
    "bodies: [{name: grains, kind: points, mesh: grains.pt, material: {type: mass, vertex_mass: "
    "1}, "
    "transform: {translate: [0, 1, 0]}}]\n";

/* brio check tells that points without thickness pass each other. Every format takes points and
 * segments, and so do pictures and the report. */
static void whole_program(void **unused)
{
    (void)unused;
    write_bed("bed.seg", 2, 0.5, 0.3);
    write_bed("bed.pt", 2, 0.5, 0);
    write_lines("grains.pt", "v 0 0.02 0\nv 1e-4 0.04 1e-4\nv 0 0.06 1e-4\n");
    write_text("grains.yaml", free_points);
    const Outcome *o = BRIO("check", "grains.yaml");
    assert_int_equal(o->code, 0);
    assert_non_null(strstr(o->out, "the points of \"grains\" pass each other"));
    o = BRIO("check", "grains.yaml", "--set", "contact.thickness=1e-3");
    assert_int_equal(o->code, 0);
    assert_null(strstr(o->out, "pass each other"));
    o = BRIO("run", "grains.yaml", "-o", "grains");
    if (o->code) fail_msg("%s", o->err);
    o = BRIO("render", "grains", "-o", "grains.png");
    assert_int_equal(o->code, 0);
    char *frame = read_all("grains/frames/frame_000000.obj", NULL);
    assert_non_null(frame);
    assert_non_null(strstr(frame, "\np 1\np 2\np 3\n")); /* the grains, as points */
    free(frame);
    frame = read_all("grains/frames/frame_000000.vtu", NULL);
    assert_non_null(frame);
    assert_non_null(strstr(frame, "NumberOfCells=\"3\"")); /* likewise */
    free(frame);
    o = BRIO("check", "grains.yaml", "--set", "contact.thickness=0.03");
    assert_int_equal(o->code, 1);
    assert_non_null(strstr(o->out, "of body \"grains\" and vertex "));
    assert_non_null(strstr(o->out, "closer than the thickness of contact"));
    write_lines("flat.seg", "v 0 0 0\nv 0 0 0\ns 1 2\n");
    o = BRIO("check", "grains.yaml", "--set", "obstacles.0.mesh=flat.seg");
    assert_int_equal(o->code, 2);
    assert_non_null(strstr(o->err, "has no length"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),        cmocka_unit_test(energy_of_a_point),
        cmocka_unit_test(taylor),        cmocka_unit_test(continuous),
        cmocka_unit_test(pin_cushion),   cmocka_unit_test(cloth_on_a_segment),
        cmocka_unit_test(line_on_a_box), cmocka_unit_test(falling_points),
        cmocka_unit_test(momentum),      cmocka_unit_test(parallel_lines),
        cmocka_unit_test(obj_in_place),  cmocka_unit_test(whole_program)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
