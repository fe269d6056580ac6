/* Flat surfaces: what slides over triangles in one plane slides as over the plane, however it is
 * cut into triangles. A tunnel, cubes and balls, pressed by weight and by a second plane; the force
 * on a pressed block; what creases count for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "potential/potential.h"
#include "simulate.h"

/* One kappa and dhat, or all five and three of them (test_long_flat.c). */
#ifdef EVERY_KAPPA
#define FIRST(d) 0
#define STRIDE 1
#else
#define FIRST(d) ((d) == 1 ? 2 : 5)
#define STRIDE 5
#endif

static char folder[] = "/tmp/brio-flat-XXXXXX";

enum { MESHES = 3 };
static const int meshes[MESHES] = {1, 7, 50}; /* cells: 2, 98 and 5,000 triangles */

/* A square of 12 m in the plane y = 0 of n x n cells whose corners are moved at random and whose
 * diagonals are random. */
static void write_plane(int n)
{
    char path[256];
    snprintf(path, sizeof path, "%s/plane-%d.obj", folder, n);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    BrioRandom random = {(uint64_t)n};
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= n; j++) {
            double x = 12.0 * i / n - 6, z = 12.0 * j / n - 6, move = 0.3 * 12 / n;
            if (i > 0 && i < n) x += move * (2 * brio__random(&random) - 1);
            if (j > 0 && j < n) z += move * (2 * brio__random(&random) - 1);
            fprintf(file, "v %.17g 0 %.17g\n", x, z);
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int a = i * (n + 1) + j + 1, b = a + 1, c = a + n + 1, d = c + 1;
            if (brio__random(&random) < 0.5)
                fprintf(file, "f %d %d %d\nf %d %d %d\n", a, b, d, a, d, c);
            else
                fprintf(file, "f %d %d %d\nf %d %d %d\n", a, b, c, b, d, c);
        }
    assert_int_equal(fclose(file), 0);
}

static int make_planes(void **unused)
{
    (void)unused;
    assert_non_null(mkdtemp(folder));
    for (int k = 0; k < MESHES; k++) write_plane(meshes[k]);
    return 0;
}

static int remove_planes(void **unused)
{
    char path[256];
    (void)unused;
    for (int k = 0; k < MESHES; k++) {
        snprintf(path, sizeof path, "%s/plane-%d.obj", folder, meshes[k]);
        unlink(path);
    }
    return rmdir(folder);
}

/* How a body slides. */
typedef struct Slide {
    const char *shape, *kind;
    double half;  /* height */
    double gap;   /* to the floor, and to the second plane if there is one */
    bool between; /* two planes, no weight */
    double kappa, dhat, speed, E;
    bool settles; /* before it gets its speed */
} Slide;

/* `n`: cells of the floor; 0: a plane. */
static BrioSim *slide_on(const Slide *s, int n)
{
    char low[400], high[400] = "";
    if (n)
        snprintf(low, sizeof low, "{type: mesh, mesh: %s/plane-%d.obj}", folder, n);
    else
        snprintf(low, sizeof low, "{type: plane, normal: [0, 1, 0]}");
    double top = 2 * (s->half + s->gap);
    if (s->between && n)
        snprintf(high, sizeof high,
                 ", {type: mesh, mesh: %s/plane-%d.obj, transform: {translate: "
                 "[0, %.17g, 0]}}",
                 folder, n, top);
    else if (s->between)
        snprintf(high, sizeof high, ", {type: plane, point: [0, %.17g, 0], normal: [0, -1, 0]}",
                 top);
    return parse("time: {h: 1/100, end: 1}\ngravity: [0, %g, 0]\nintegrator: backward-euler\n"
                 "solver: {tol: 1e-7}\ncontact: {type: ipc, dhat: %g, kappa: %g}\n"
                 "obstacles: [%s%s]\n"
                 "bodies: [{kind: %s, shape: %s, material: {type: neo-hookean, E: %g, rho: 1000}, "
                 "transform: {rotate: [[0, 1, 0], 17], translate: [0.31, %.17g, -3.3]}, "
                 "velocity: {linear: [0, 0, %g]}}]\n",
                 s->between ? 0.0 : -9.8, s->dhat, s->kappa, low, high, s->kind, s->shape, s->E,
                 s->half + s->gap, s->settles ? 0 : s->speed);
}

/* Steps along; the sideways momentum and the change of the total energy, of the forward momentum
 * and the kinetic energy. */
static void measure(const Slide *s, int n, int steps, double *sideways, double *energy)
{
    BrioSim *sim = slide_on(s, n);
    if (s->settles) { /* first comes to rest where its weight is carried */
        step(sim, 100);
        for (int64_t i = 0; i < sim->state->coordinates; i++)
            sim->state->v[i] = i % 3 == 2 ? s->speed : 0;
    }
    BrioLedger first = ledger(sim);
    *sideways = *energy = 0;
    for (int i = 0; i < steps; i++) {
        step(sim, 1);
        BrioLedger l = ledger(sim);
        *sideways = brio__larger(*sideways, fabs(l.momentum[0] / first.momentum[2]));
        *energy = brio__larger(*energy, fabs(l.total - first.total) / first.kinetic);
    }
    brio_sim_free(sim);
}

#define CUBE "{type: box, size: [0.4, 0.4, 0.4], cells: [2, 2, 2]}"
#define BALL "{type: ball, radius: 0.2, cells: 3}"

/* LIMIT 1e-3 for both, for every mesh; and no more than over a plane, by 1e-6. */
static void compare(const Slide *s, const char *what, int steps)
{
    double side[1 + MESHES], energy[1 + MESHES];
    measure(s, 0, steps, &side[0], &energy[0]);
    for (int k = 0; k < MESHES; k++) measure(s, meshes[k], steps, &side[1 + k], &energy[1 + k]);
    print_message("  %-28s kappa %g dhat %g: sideways %.1e %.1e %.1e %.1e, energy %.1e %.1e %.1e "
                  "%.1e\n",
                  what, s->kappa, s->dhat, side[0], side[1], side[2], side[3], energy[0], energy[1],
                  energy[2], energy[3]);
    for (int k = 1; k <= MESHES; k++) {
        assert_true(side[k] < 1e-3);
        assert_true(energy[k] < 1e-3);
        assert_true(fabs(energy[k] - energy[0]) < 1e-6);
    }
}

/* The scene tunnel of [Li2020]'s code: planes 0.1 mm from a stiff cube, dhat 1 cm. */
static void tunnel(void **unused)
{
    (void)unused;
    Slide s = {.shape = "{type: box, size: [1, 1, 1], cells: [1, 1, 1]}",
               .kind = "solid",
               .half = 0.5,
               .gap = 1e-4,
               .between = true,
               .kappa = 1e5,
               .dhat = 1e-2,
               .speed = 10,
               .E = 1e11};
    compare(&s, "tunnel", 60);
    s.kind = "affine";
    compare(&s, "tunnel, affine", 60);
}

static void sliding(void **unused)
{
    (void)unused;
    for (int ball = 0; ball < 2; ball++)
        for (int between = 0; between < 2; between++)
            for (int d = 0; d < 3; d++)
                for (int k = FIRST(d); k < 5; k += STRIDE) {
                    char what[64];
                    double dhat = pow(10, d - 4), kappa = pow(10, k + 3);
                    Slide s = {.shape = ball ? BALL : CUBE,
                               .kind = "solid",
                               .half = 0.2,
                               .gap = 0.6 * dhat,
                               .between = between,
                               .kappa = kappa,
                               .dhat = dhat,
                               .speed = 10,
                               .E = 1e7,
                               .settles = true};
                    snprintf(what, sizeof what, "%s, %s", ball ? "ball" : "cube",
                             between ? "between planes" : "by weight");
                    compare(&s, what, 40);
                }
}

/* The force of the floor on a block between two planes: the barriers' on the body's lower half.
 * LIMIT 1 % of that on two triangles. */
static void pressed(void **unused)
{
    (void)unused;
    double force[MESHES] = {0};
    for (int k = 0; k < MESHES; k++) {
        Slide s = {.shape = CUBE,
                   .kind = "solid",
                   .half = 0.2,
                   .gap = 0.2e-3,
                   .between = true,
                   .kappa = 1e5,
                   .dhat = 1e-3,
                   .E = 1e5};
        BrioSim *sim = slide_on(&s, meshes[k]);
        step(sim, 20);
        const BrioSystem *system = sim->system;
        double *x = calloc(3 * (size_t)system->vertex_count, sizeof *x);
        double *world = calloc(3 * (size_t)system->vertex_count, sizeof *world);
        assert_true(x && world);
        brio__system_positions(system, sim->state, sim->state->q, sim->state->time, x);
        brio__contact_evaluate(brio__potential_contact(sim->stepper->solver->potential),
                               sim->state->param, x, NULL, world);
        for (int64_t v = 0; v < system->body_vertices; v++)
            if (x[3 * v + 1] < s.half) force[k] -= world[3 * v + 1];
        free(x), free(world);
        brio_sim_free(sim);
    }
    print_message("  floor of 2, 98 and 5,000 triangles: %.6g, %.6g and %.6g N\n", force[0],
                  force[1], force[2]);
    assert_true(force[0] > 1);
    for (int k = 1; k < MESHES; k++) assert_true(fabs(force[k] / force[0] - 1) < 0.01);
}

/* Edges of a box: 12 sharp ones, the diagonals of its sides are flat; a ball of triangles bends a
 * little everywhere; of a body that is no obstacle everything counts. */
static void creases(void **unused)
{
    (void)unused;
    BrioSim *sim =
        parse("contact: {type: ipc}\nintegrator: backward-euler\ntime: {h: 0.01, end: 1}\n"
              "obstacles: [{type: box, size: [1, 1, 1], cells: [3, 3, 3], transform: {rotate: "
              "[[1, 2, 3], 40]}}]\n"
              "bodies: [{shape: {type: box, size: [1, 1, 1], cells: [2, 2, 2]}, material: jelly, "
              "transform: {translate: [0, 3, 0]}}]\n");
    const BrioSurface *s = sim->system->surface;
    int flat = 0, sharp = 0;
    for (int32_t e = 0; e < s->edge_count; e++) {
        if (s->vertex_owner[s->edge[2 * e]] == 0) {
            assert_true(s->edge_crease[e] == 1);
            continue;
        }
        flat += s->edge_crease[e] < 1e-20;
        sharp += s->edge_crease[e] == 1;
        assert_true(s->edge_crease[e] < 1e-20 || s->edge_crease[e] == 1);
    }
    print_message("  box of 6 x 9 cells: %d sharp edges, %d flat ones\n", sharp, flat);
    assert_int_equal(sharp, 36);         /* 12 edges of 3 */
    assert_int_equal(flat, 6 * 12 + 54); /* inside the sides, and diagonals */
    for (int32_t v = 0; v < s->vertex_count; v++)
        assert_int_equal(s->vertex_factor[v], 1); /* closed surfaces */
    brio_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(creases), cmocka_unit_test(tunnel),
                                       cmocka_unit_test(sliding), cmocka_unit_test(pressed)};
    return cmocka_run_group_tests(tests, make_planes, remove_planes);
}
