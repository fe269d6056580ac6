/* Cages: exact mass and centre, what partial cells weigh, thin, open and several surfaces, motions
 * that must stay exact, contact of the surface itself, fixed and scripted parts, and what is
 * refused. */
#include "contact/exact.h"
#include "mesh/cage.h"
#include "sim/sim.h"
#include "writer.h"

#include <stdlib.h>
#include <string.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include "memory.h"
#include "simulate.h"

static BrioMesh *shape(const char *name, const char *key, double value)
{
    double all[BRIO_MAX_VALUES];
    BrioMesh *mesh;
    BrioError error = {0};
    brio_fields_defaults(brio_shape_fields(name), all);
    assert_int_equal(brio_fields_set(brio_shape_fields(name), all, key, &value, NULL), BRIO_OK);
    if (brio_mesh_shape(name, all, &mesh, &error) != BRIO_OK) fail_msg("%s", error.message);
    if (mesh->tet_count) assert_int_equal(brio_mesh_surface(mesh, NULL), BRIO_OK);
    return mesh;
}

/* Volume, centre and second moments of the inside, by the tets of triangles and the origin. */
static double moments_of(const BrioMesh *mesh, double centre[3], double second[3])
{
    double volume = 0;
    for (int r = 0; r < 3; r++) centre[r] = second[r] = 0;
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        const double *p[3], zero[3] = {0, 0, 0};
        for (int i = 0; i < 3; i++) p[i] = mesh->x + 3 * (int64_t)mesh->triangle[3 * t + i];
        double part = brio__tet_volume6(zero, p[0], p[1], p[2]) / 6;
        volume += part;
        for (int r = 0; r < 3; r++) {
            double s = p[0][r] + p[1][r] + p[2][r];
            centre[r] += part * s / 4;
            second[r] +=
                part / 20 * (s * s + p[0][r] * p[0][r] + p[1][r] * p[1][r] + p[2][r] * p[2][r]);
        }
    }
    for (int r = 0; r < 3; r++) centre[r] /= volume;
    return volume;
}

static BrioCage *cage_of(const BrioMesh *mesh, int cells)
{
    BrioCage *cage;
    BrioError error = {0};
    if (brio__cage_create(mesh, cells, &cage, &error) != BRIO_OK) fail_msg("%s", error.message);
    return cage;
}

/* ---- the lattice ------------------------------------------------------------------------ */

/* TOLERANCE 1e-12 relative: round-off of sums over thousands of nodes. */
static void check_cage(const BrioCage *c, const BrioMesh *mesh)
{
    double off = 0, sum = 0, least = INFINITY;
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        double w = 0, x[3] = {0, 0, 0};
        for (int64_t k = 4 * v; k < 4 * v + 4; k++) {
            assert_true(c->node[k] >= 0 && c->node[k] < c->node_count && c->weight[k] >= 0);
            w += c->weight[k];
            for (int r = 0; r < 3; r++) x[r] += c->weight[k] * c->x[3 * (int64_t)c->node[k] + r];
        }
        sum = brio__larger(sum, fabs(w - 1));
        for (int r = 0; r < 3; r++) off = brio__larger(off, fabs(x[r] - mesh->x[3 * v + r]));
    }
    assert_true(sum < 1e-14 && off < 1e-12 * c->edge);
    for (int64_t i = 0; i < c->node_count; i++) least = fmin(least, c->volume[i]);
    assert_true(least > 0);
    for (int64_t t = 0; t < c->tet_count; t++) {
        const double *p[4];
        for (int k = 0; k < 4; k++) p[k] = c->x + 3 * (int64_t)c->tet[4 * t + k];
        double volume = brio__tet_volume6(p[0], p[1], p[2], p[3]) / 6;
        assert_true(fabs(volume * 12 / pow(c->edge, 3) - 1) < 1e-12);
        assert_true(c->fill[t] >= BRIO_CAGE_MIN_FILL && c->fill[t] <= 1);
    }
}

/* Volume and centre are exact for any number of cells, second moments where cells are not far
 * larger than the body is thick. */
static void mass(void **unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++) { /* a bunny, a hippo, a ball */
        BrioMesh *mesh = i < 2 ? shape("figure", "of", i) : shape("sphere", "subdivisions", 4);
        mesh->tet_count = 0;
        double before = INFINITY;
        for (int cells = 4; cells <= 16; cells *= 2) {
            double centre[3], second[3], now[3] = {0}, at[3] = {0}, volume = 0, worst = 0;
            double all = moments_of(mesh, centre, second);
            BrioCage *c = cage_of(mesh, cells);
            check_cage(c, mesh);
            for (int64_t n = 0; n < c->node_count; n++) {
                volume += c->volume[n];
                for (int r = 0; r < 3; r++) {
                    at[r] += c->volume[n] * c->x[3 * n + r] / all;
                    now[r] += c->volume[n] * c->x[3 * n + r] * c->x[3 * n + r];
                }
            }
            for (int r = 0; r < 3; r++) {
                assert_true(fabs(at[r] - centre[r]) < 1e-12 * c->edge);
                worst = brio__larger(worst, fabs(now[r] / second[r] - 1));
            }
            print_message("%d: %2d cells: %5lld cubes, %6lld tets, volume off by %.1e, second "
                          "moments by %.3f\n",
                          i, cells, (long long)c->cells, (long long)c->tet_count, volume / all - 1,
                          worst);
            assert_true(fabs(volume / all - 1) < 1e-12);
            assert_true(worst < (cells == 16 || (i == 2 && cells == 8) ? 1e-10 : before));
            before = worst;
            brio__cage_free(c);
        }
        brio_mesh_free(mesh);
    }
}

/* A mesh of two copies, `shift` apart along x. */
static BrioMesh *twice(const BrioMesh *one, double shift)
{
    BrioMesh *two;
    int64_t n = one->vertex_count, t = one->triangle_count;
    assert_int_equal(brio__mesh_create(2 * n, 0, 2 * t, 0, &two, NULL), BRIO_OK);
    for (int64_t k = 0; k < 6 * n; k++)
        two->x[k] = one->x[k % (3 * n)] + (k % 3 == 0 && k >= 3 * n ? shift : 0);
    for (int64_t k = 0; k < 6 * t; k++)
        two->triangle[k] = one->triangle[k % (3 * t)] + (k >= 3 * t ? (int32_t)n : 0);
    return two;
}

/* Components whose cells touch are one piece, others are not; what overlaps counts once. */
static void components(void **unused)
{
    (void)unused;
    BrioMesh *one = shape("sphere", "subdivisions", 3);
    double centre[3], second[3], radius = one->x[1], volume = moments_of(one, centre, second);
    for (int64_t k = 0; k < 3 * one->vertex_count; k++) radius = brio__larger(radius, one->x[k]);
    const double shift[3] = {2.1 * radius, 6 * radius, 1.2 * radius};
    const int pieces[3] = {1, 2, 1};
    for (int i = 0; i < 3; i++) {
        BrioMesh *two = twice(one, shift[i]);
        BrioCage *c = cage_of(two, 12);
        assert_int_equal(c->components, 2);
        assert_int_equal(c->pieces, pieces[i]);
        double expected = 2 * volume;
        if (i == 2) { /* two balls less their lens */
            double d = shift[2];
            expected -= M_PI * (4 * radius + d) * pow(2 * radius - d, 2) / 12;
        }
        print_message("%.1f radii apart: %d pieces, %.4f of the volume\n", shift[i] / radius,
                      c->pieces, c->enclosed / expected);
        /* TOLERANCE: exact, but for what samples of an eighth of a cell see of the overlap */
        assert_true(fabs(c->enclosed / expected - 1) < (i == 2 ? 0.03 : 1e-12));
        brio__cage_free(c);
        brio_mesh_free(two);
    }
    brio_mesh_free(one);
}

static void turn(BrioMesh *mesh, int64_t begin, int64_t end)
{
    for (int64_t t = begin; t < end; t++) {
        int32_t swap = mesh->triangle[3 * t];
        mesh->triangle[3 * t] = mesh->triangle[3 * t + 1];
        mesh->triangle[3 * t + 1] = swap;
    }
}

/* Two balls apart of which one looks inward are two bodies, not one less the other; a small ball
 * within a large one is a cavity if it looks to the other side, whatever that is. */
static void orientation_of_components(void **unused)
{
    (void)unused;
    BrioMesh *one = shape("sphere", "subdivisions", 3), *two;
    int64_t n = one->vertex_count, all = one->triangle_count;
    double centre[3], second[3], volume = moments_of(one, centre, second);
    for (int side = 0; side < 2; side++) {
        two = twice(one, 3);
        turn(two, side * all, (1 + side) * all);
        BrioCage *c = cage_of(two, 16);
        assert_int_equal(c->pieces, 2);
        assert_true(fabs(c->enclosed / (2 * volume) - 1) < 1e-12);
        check_cage(c, two);
        brio__cage_free(c);
        brio_mesh_free(two);
        two = twice(one, 0);
        for (int64_t k = 3 * n; k < 6 * n; k++) two->x[k] *= 0.6;
        turn(two, side * all, (1 + side) * all);
        c = cage_of(two, 12);
        assert_true(fabs(c->enclosed / (volume * (1 - 0.6 * 0.6 * 0.6)) - 1) < 1e-12);
        brio__cage_free(c);
        brio_mesh_free(two);
    }
    brio_mesh_free(one);
}

/* A few missing triangles change little; surfaces turned inside out change nothing. */
static void open_surfaces(void **unused)
{
    (void)unused;
    BrioMesh *mesh = shape("sphere", "subdivisions", 3);
    double centre[3], second[3], volume = moments_of(mesh, centre, second);
    int64_t all = mesh->triangle_count;
    turn(mesh, 0, all);
    BrioCage *c = cage_of(mesh, 8);
    assert_true(c->closed && fabs(c->enclosed / volume - 1) < 1e-12);
    brio__cage_free(c);
    mesh->triangle_count = all - 12;
    c = cage_of(mesh, 8);
    print_message("with a hole: %.4f of the volume\n", c->enclosed / volume);
    assert_true(!c->closed && fabs(c->enclosed / volume - 1) < 0.03); /* TOLERANCE: samples */
    brio__cage_free(c);
    BrioError error = {0};
    mesh->triangle_count = all / 2;
    assert_int_equal(brio__cage_create(mesh, 8, &c, &error), BRIO_ERROR_INPUT);
    assert_non_null(strstr(error.message, "is open"));
    brio_mesh_free(mesh);
    mesh = shape("grid", "width", 1);
    assert_int_equal(brio__cage_create(mesh, 8, &c, &error), BRIO_ERROR_INPUT);
    assert_non_null(strstr(error.message, "kind: shell"));
    brio_mesh_free(mesh);
}

/* ---- motion ----------------------------------------------------------------------------- */

#define RUBBER "material: {type: neo-hookean, E: 1e5, nu: 0.3, rho: 1000}"

/* Nothing acts: momenta stay to round-off, and are those of the body. */
static void flight(void **unused)
{
    (void)unused;
    BrioSim *sim = parse("time: {h: 0.01}\nintegrator: implicit-midpoint\ngravity: [0, 0, 0]\n"
                         "solver: {type: newton, tol: 1e-12}\nbodies:\n"
                         "  - shape: {type: sphere, radius: 0.1, subdivisions: 3}\n    cage: 4\n"
                         "    " RUBBER "\n    velocity: {linear: [1, 2, 3], angular: [3, 2, 1]}\n");
    BrioLedger first = ledger(sim), last;
    step(sim, 20);
    last = ledger(sim);
    double p = 0, l = 0;
    for (int r = 0; r < 3; r++) {
        p = brio__larger(p, fabs(last.momentum[r] - first.momentum[r]));
        l = brio__larger(l, fabs(last.angular[r] - first.angular[r]));
    }
    double m = brio__body_mass(sim->system, 0);
    print_message("mass %.9g kg, p changes by %.1e, l by %.1e, energy by %.1e of %.3g J\n", m, p, l,
                  last.total - first.total, first.total);
    /* TOLERANCE: the solves end at 1e-12 m/s */
    assert_true(p < 1e-10 && l < 1e-10);
    assert_true(fabs(first.momentum[1] / m - 2) < 1e-12);
    brio_sim_free(sim);
}

/* A bar hangs from its end: the tip goes down by rho g L^2/(2 E) with nu = 0, less what the fixed
 * cells hold. The error falls with the cells. */
static void hanging_bar(void **unused)
{
    (void)unused;
    double before = INFINITY, exact = 1000 * 9.8 * 0.36 / 2 / 1e6;
    for (int cells = 8; cells <= 32; cells *= 2) {
        BrioSim *sim = parse("time: {h: 0.01}\nintegrator: static\nbodies:\n"
                             "  - shape: {type: box, size: [0.15, 0.6, 0.15], cells: [2, 8, 2]}\n"
                             "    cage: %d\n    transform: {rotate: [[1, 0, 0], 1]}\n"
                             "    material: {type: stvk, E: 1e6, nu: 0, rho: 1000}\n"
                             "    fix: [{box: [[-1, 0.295, -1], [1, 1, 1]]}]\n",
                             cells);
        int64_t n = sim->system->body[0].count, tip = 0;
        double *x = malloc(3 * (size_t)n * sizeof *x), *y = malloc(3 * (size_t)n * sizeof *y);
        brio_sim_positions(sim, 0, x);
        step(sim, 1);
        brio_sim_positions(sim, 0, y);
        for (int64_t v = 0; v < n; v++)
            if (x[3 * v + 1] < x[3 * tip + 1]) tip = v;
        for (int64_t v = 0; v < n; v++) /* what is fixed stays where it is */
            if (x[3 * v + 1] >= 0.295) assert_true(fabs(y[3 * v + 1] - x[3 * v + 1]) < 1e-15);
        double error = fabs((x[3 * tip + 1] - y[3 * tip + 1]) / exact - 1);
        print_message("%2d cells: the tip is %.3f %% off\n", cells, 100 * error);
        assert_true(error < 0.8 * before && error < 0.3 * 8 / cells + 0.03);
        before = error;
        free(x), free(y);
        brio_sim_free(sim);
    }
}

static BrioSim *tumble(void)
{
    return parse("time: {h: 1/60}\nintegrator: a-search\n"
                 "contact: {type: ipc, dhat: 2e-3, mu: 0.2}\n"
                 "bodies:\n"
                 "  - name: a\n    shape: {type: sphere, radius: 0.1, subdivisions: 3}\n"
                 "    cage: 4\n    " RUBBER "\n    transform: {translate: [0, 0.11, 0]}\n"
                 "  - name: b\n    shape: {type: sphere, radius: 0.1, subdivisions: 3}\n"
                 "    cage: 4\n    " RUBBER "\n    transform: {translate: [0.05, 0.32, 0]}\n"
                 "    velocity: {linear: [0, -2, 0]}\n"
                 "  - name: c\n    shape: {type: box, size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}\n"
                 "    kind: affine\n    cage: 3\n    " RUBBER
                 "\n    transform: {translate: [-0.12, 0.32, 0]}\n"
                 "obstacles: [{type: plane, point: [0, 0, 0], normal: [0, 1, 0]}]\n");
}

static uint64_t hash_of(const BrioState *state)
{
    uint64_t hash = brio__hash(BRIO_HASH_START, state->q, (size_t)state->coordinates * 8);
    return brio__hash(hash, state->v, (size_t)state->coordinates * 8);
}

/* Two caged bodies and an affine one on a plane: the surfaces never intersect, the ledger balances,
 * the same bits for 1 and 2 threads. */
static void contact(void **unused)
{
    (void)unused;
    uint64_t hash[2];
    for (int threads = 1; threads <= 2; threads++) {
        Memory memory;
        int64_t contacts = 0;
        brio_set_threads(threads);
        memory_start(&memory, -1, false);
        BrioSim *sim = tumble();
        double *x = calloc(3 * (size_t)sim->system->vertex_count, sizeof *x);
        for (int i = 0; i < 20; i++) {
            step(sim, 1);
            BrioLedger now = ledger(sim);
            contacts = BRIO_MAX(contacts, now.contacts);
            assert_true(isnan(now.min_distance) || now.min_distance > 0);
        }
        BrioIntersection found[1];
        brio__system_positions(sim->system, sim->state, sim->state->q, sim->state->time, x);
        assert_int_equal(brio__exact_intersections(sim->system, x, found, 1), 0);
        assert_true(contacts > 10);
        hash[threads - 1] = hash_of(sim->state);
        BrioLedger now = ledger(sim);
        print_message("at most %lld contacts, energy %.4g J, added %.3g, dissipated %.3g\n",
                      (long long)contacts, now.total, now.added, now.dissipated);
        free(x);
        brio_sim_free(sim);
        brio_set_allocator(NULL);
        assert_int_equal(memory.live, 0);
    }
    brio_set_threads(0);
    assert_true(hash[0] == hash[1]);
}

/* A ball whose lower cells are turned about: vertices next to them ride on fixed and free nodes.
 * The work of the script is what the energy grows by (trapezoidal rule). */
static void scripted(void **unused)
{
    (void)unused;
    double off[2];
    for (int i = 0; i < 2; i++) {
        BrioSim *sim =
            parse("time: {h: %g}\nintegrator: trapezoidal\n"
                  "contact: {type: ipc, dhat: 1e-2, kappa: 2e3}\n"
                  "solver: {type: newton, tol: 1e-11}\nbodies:\n"
                  "  - name: a\n    shape: {type: sphere, radius: 0.1, subdivisions: 3}\n"
                  "    cage: 5\n    " RUBBER "\n"
                  "    fix: [{box: [[-1, -1, -1], [1, -0.05, 1]], script: {velocity: "
                  "[0.5, 0, 0], angular: [0, 2, 0]}}]\n"
                  "obstacles: [{type: plane, point: [0, -0.106, 0], normal: [0, 1, 0]}]\n",
                  0.004 / (1 << i));
        assert_true(sim->system->ride_count > 10);
        BrioLedger first = ledger(sim);
        assert_true(first.contacts > 0);
        step(sim, 10 << i);
        BrioLedger last = ledger(sim);
        off[i] = fabs(last.total - first.total - last.added + last.dissipated);
        print_message("h / %d: added %.6g J, the ledger is off by %.2e J\n", 1 << i, last.added,
                      off[i]);
        assert_true(fabs(last.added) > 1e-3);
        brio_sim_free(sim);
    }
    /* TOLERANCE: second order in the step */
    assert_true(off[1] < off[0] / 3);
}

/* What programs see of a cage: its nodes carry the vertices, also those that ride on fixed ones. */
static void interface(void **unused)
{
    (void)unused;
    BrioSim *sim = parse("time: {h: 0.01}\nbodies:\n"
                         "  - shape: {type: sphere, radius: 0.1, subdivisions: 3}\n    cage: 4\n"
                         "    " RUBBER "\n    fix: [{box: [[-1, -1, -1], [1, -0.05, 1]]}]\n"
                         "  - shape: {type: box, size: [1, 1, 1], cells: [1, 1, 1]}\n    " RUBBER
                         "\n    transform: {translate: [3, 0, 0]}\n");
    const BrioSystem *s = brio_sim_system(sim);
    BrioCageInfo info;
    const int32_t *node;
    const double *weight;
    int64_t tets;
    assert_int_equal(brio_body_cage(s, 1, &info), BRIO_ERROR_ARGUMENT);
    assert_int_equal(brio_body_cage(s, 7, &info), BRIO_ERROR_ARGUMENT);
    assert_null(brio_body_cage_tets(s, 1, &tets));
    assert_int_equal(brio_body_cage(s, 0, &info), BRIO_OK);
    assert_int_equal(brio_body_cage_weights(s, 0, &node, &weight), BRIO_OK);
    assert_non_null(brio_body_cage_tets(s, 0, &tets));
    assert_true(tets == info.tets && info.closed && info.pieces == 1 && info.components == 1);
    assert_true(fabs(info.enclosed * 1000 - brio__body_mass(s, 0)) < 1e-12);
    step(sim, 5);
    double *y = malloc(3 * (size_t)info.nodes * sizeof *y), off = 0;
    double *x = malloc(3 * (size_t)s->body[0].count * sizeof *x);
    brio_sim_cage_positions(sim, 0, y);
    brio_sim_positions(sim, 0, x);
    for (int64_t v = 0; v < s->body[0].count; v++)
        for (int r = 0; r < 3; r++) {
            double sum = 0;
            for (int64_t k = 4 * v; k < 4 * v + 4; k++)
                sum += weight[k] * y[3 * (int64_t)node[k] + r];
            off = brio__larger(off, fabs(sum - x[3 * v + r]));
        }
    assert_true(off < 1e-15); /* TOLERANCE: round-off of 0.1 m */
    free(x), free(y);
    brio_sim_free(sim);
}

/* ---- setting, refusing ------------------------------------------------------------------ */

static void set_positions(void **unused)
{
    (void)unused;
    BrioSim *sim = parse("time: {h: 0.01}\nbodies:\n"
                         "  - shape: {type: sphere, radius: 0.1, subdivisions: 3}\n    cage: 4\n"
                         "    " RUBBER "\n");
    size_t n = 3 * (size_t)sim->system->body[0].count, m = (size_t)sim->state->coordinates;
    double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y), *q = malloc(m * sizeof *q);
    double off = 0;
    step(sim, 3);
    brio_sim_positions(sim, 0, x);
    memcpy(q, sim->state->q, m * sizeof *q);
    assert_int_equal(brio_sim_set_positions(sim, 0, x, NULL), BRIO_OK);
    for (size_t k = 0; k < m; k++) off = brio__larger(off, fabs(q[k] - sim->state->q[k]));
    assert_true(off < 1e-14);      /* TOLERANCE: what was there already */
    for (size_t k = 0; k < n; k++) /* sheared, turned, moved */
        y[k] = x[k] + 0.3 * x[k / 3 * 3 + (k + 1) % 3] + 0.1;
    assert_int_equal(brio_sim_set_positions(sim, 0, y, NULL), BRIO_OK);
    brio_sim_positions(sim, 0, x);
    off = 0;
    for (size_t k = 0; k < n; k++) off = brio__larger(off, fabs(x[k] - y[k]));
    print_message("an affine motion is off by %.1e m\n", off);
    assert_true(off < 1e-9);
    for (size_t k = 0; k < n; k++) x[k] = y[k] + (k % 3 == 0 ? 0.5 * y[k + 1] * y[k + 1] : 0);
    assert_int_equal(brio_sim_set_positions(sim, 0, x, NULL), BRIO_OK);
    brio_sim_positions(sim, 0, y);
    off = 0;
    for (size_t k = 0; k < n; k++) off = brio__larger(off, fabs(x[k] - y[k]));
    print_message("a bent one by %.1e m\n", off);
    assert_true(off < 1e-3); /* TOLERANCE: the square of a cell times the curvature */
    assert_int_equal(brio_sim_set_velocities(sim, 0, x, NULL), BRIO_OK);
    free(x), free(y), free(q);
    brio_sim_free(sim);
}

static void refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *body, *says;
    } cases[] = {
        {"shape: {type: sphere}, cage: 4, material: {type: membrane-stvk, thickness: 0.001}",
         "a cage is for solids"},
        {"shape: {type: grid}, cage: 4, " RUBBER, "kind: shell"},
        {"shape: {type: sphere}, cage: 900, " RUBBER, "cage"},
        {"shape: {type: sphere}, cage: -1, " RUBBER, "cage"},
        {"shape: {type: sphere}, cage: 20, transform: {translate: [4e15, 0, 0]}, " RUBBER,
         "away from the origin"},
        {"shape: {type: sphere}, cage: 4, transform: {translate: [0, 1e90, 0]}, " RUBBER,
         "away from the origin"},
        {"shape: {type: sphere, subdivisions: 0}, cage: 1, " RUBBER
         ", fix: [{vertices: [0, 1, 2, 3, 4, 5], script: {velocity: [1, 0, 0]}}, {vertices: [6, 7, "
         "8, 9, 10, 11], script: {velocity: [0, 1, 0]}}]",
         "shares a cell"},
    };
    for (size_t i = 0; i < BRIO_COUNT(cases); i++) {
        char text[1024];
        BrioSim *sim = NULL;
        BrioError error = {0};
        int length = snprintf(text, sizeof text, "bodies:\n  - {%s}\n", cases[i].body);
        assert_int_not_equal(brio_sim_parse(text, (size_t)length, "test", &sim, &error), BRIO_OK);
        print_message("%s\n", error.message);
        assert_non_null(strstr(error.message, cases[i].says));
        assert_true(error.line > 0);
    }
}

/* Vertex 0 cannot follow a script, since it is fixed: then the others of that call do not either.
 */
static int64_t coordinates_after(bool refused)
{
    BrioBuilder *b;
    BrioSystem *system;
    BrioState *state;
    BrioError error = {0};
    BrioMesh *mesh = shape("sphere", "subdivisions", 2);
    BrioBodyDef def = brio_default_body();
    BrioScript script = brio_default_script();
    def.name = "a";
    def.mesh = mesh;
    def.cage = 8;
    script.velocity[0] = 1;
    assert_int_equal(brio_default_material("stable-neo-hookean", &def.material, &error), BRIO_OK);
    assert_int_equal(brio_material_set(&def.material, "E", 1e4, &error), BRIO_OK);
    assert_int_equal(brio_builder_create(&b, &error), BRIO_OK);
    if (brio_builder_body(b, &def, NULL, &error) != BRIO_OK) fail_msg("%s", error.message);
    assert_int_equal(brio_builder_fix(b, 0, (int32_t[]){0}, 1, NULL, &error), BRIO_OK);
    if (refused) {
        assert_int_equal(brio_builder_fix(b, 0, (int32_t[]){3, 7, 0}, 3, &script, &error),
                         BRIO_ERROR_INPUT);
        assert_non_null(strstr(error.message, "shares a cell"));
    }
    if (brio_builder_finish(b, &system, &state, &error) != BRIO_OK) fail_msg("%s", error.message);
    int64_t count = brio_system_coordinates(system);
    brio_system_free(system);
    brio_state_free(state);
    brio_builder_free(b);
    brio_mesh_free(mesh);
    return count;
}

static void refused_fix(void **unused)
{
    (void)unused;
    assert_int_equal(coordinates_after(true), coordinates_after(false));
}

/* Every allocation of the making of a caged body fails once. */
static void failing_memory(void **unused)
{
    (void)unused;
    static const char scene[] = "bodies:\n  - {shape: {type: sphere, subdivisions: 1}, cage: 2, "
                                "fix: [{vertices: [0]}], " RUBBER "}\n";
    for (int64_t at = 0;; at++) {
        Memory memory;
        BrioSim *sim = NULL;
        memory_start(&memory, at, false);
        BrioStatus status = brio_sim_parse(scene, sizeof scene - 1, "test", &sim, NULL);
        if (status == BRIO_OK) brio_sim_free(sim);
        brio_set_allocator(NULL);
        assert_int_equal(memory.live, 0);
        if (!memory.failed) break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mass),
        cmocka_unit_test(components),
        cmocka_unit_test(orientation_of_components),
        cmocka_unit_test(open_surfaces),
        cmocka_unit_test(flight),
        cmocka_unit_test(hanging_bar),
        cmocka_unit_test(contact),
        cmocka_unit_test(scripted),
        cmocka_unit_test(set_positions),
        cmocka_unit_test(refused),
        cmocka_unit_test(failing_memory),
        cmocka_unit_test(interface),
        cmocka_unit_test(refused_fix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
