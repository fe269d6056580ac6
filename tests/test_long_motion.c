/* A figure that waves, dressed in a cloth, for 100 frames with barriers and with springs, at two
 * step sizes: no triangle of the cloth may meet one of the moving mesh in any accepted state (exact
 * predicates). Balls of 0.1 to 100 m/s against a thin cloth. */
#include "program.h"

#include "simulate.h"

#include "moving.h"

enum { FRAMES = 100, FPS = 60 };

static void write_table(const char *name, const BrioSequence *s)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    for (int64_t k = 0; k < s->frame_count; k++)
        for (int64_t v = 0; v < s->vertex_count; v++) {
            const double *x = s->x + 3 * (k * s->vertex_count + v);
            fprintf(file, "%.17g,%.17g,%.17g,%.17g\n", s->time[k], x[0], x[1], x[2]);
        }
    assert_int_equal(fclose(file), 0);
}

static void dress(const char *contact, int each)
{
    BrioSim *sim = parse(
        "time: {h: 1/%d}\ngravity: [0, -9.8, 0]\nintegrator: backward-euler\nquality: film\n"
        "contact: {%s, mu: 0.3}\nobstacles:\n  - {type: figure, name: f, of: cactus, size: 0.4, "
        "cells: 12, sequence: wave.csv}\nbodies:\n  - {name: cloth, shape: {type: grid, width: "
        "0.5, depth: 0.5, cells_x: 24, cells_z: 24}, kind: shell, material: {type: "
        "membrane-neo-hookean, E: 5e4, nu: 0.3, thickness: 5e-4, areal: 0.2}, transform: "
        "{translate: [0, 0.43, 0]}}\n",
        FPS * each, contact);
    double before = brio__seconds();
    int64_t states = 0;
    for (int k = 0; k < FRAMES * each; k++, states++) {
        step(sim, 1);
        int64_t found = meets_obstacle(sim);
        if (found)
            fail_msg("%s, h = 1/%d, step %d: %lld intersections", contact, FPS * each, k,
                     (long long)found);
    }
    BrioLedger l = ledger(sim);
    printf("    %-44s h = 1/%-4d %lld states, no intersection, %.3g s per frame, E = %.4g J\n",
           contact, FPS * each, (long long)states, (brio__seconds() - before) / FRAMES, l.total);
    brio_sim_free(sim);
}

static void dressed_figure(void **state)
{
    (void)state;
    BrioMesh *mesh = NULL;
    BrioSequence *s = waving(FRAMES + 1, FPS, 12, &mesh);
    write_table("wave.csv", s);
    for (int each = 1; each <= 4; each += 3) {
        dress("type: ipc", each);
        dress("type: penalty, kappa: 200, dhat: 0.012", each);
    }
    brio_sequence_free(s);
    brio_mesh_free(mesh);
}

static void hit(double speed, const char *contact, double h)
{
    BrioSim *sim = parse(
        "time: {h: %.17g}\ngravity: [0, 0, 0]\nintegrator: backward-euler\nsolver: {tol: 1e-3}\n"
        "contact: {%s}\nobstacles:\n  - {type: sphere, name: ball, radius: 0.1, subdivisions: 3, "
        "formula: false, transform: {translate: [0.003, -0.13, 0.004]}, script: {velocity: [0, "
        "%g, 0]}}\nbodies:\n  - {name: cloth, shape: {type: grid, width: 0.5, depth: 0.5, cells_x: "
        "10, cells_z: 10}, kind: shell, material: {type: membrane-neo-hookean, E: 2e7, nu: 0.3, "
        "thickness: 5e-4, areal: 0.2}}\n",
        h, contact, speed);
    double *x = malloc(3 * (size_t)sim->system->vertex_count * sizeof *x);
    int steps = (int)fmin(fmax(ceil(0.5 / speed / h), 1), 60), deepest = 0;
    for (int k = 0; k < steps; k++) {
        step(sim, 1);
        deepest = BRIO_MAX(deepest, sim->stepper->halvings);
        brio__system_positions(sim->system, sim->state, sim->state->q, sim->state->time, x);
        assert_int_equal(meets_obstacle(sim), 0);
        assert_true(x[3 * 60 + 1] > -0.13 + speed * sim->state->time);
    }
    printf("    %-42s %5g m/s, h = 1/%-4.0f %3d steps, deepest halving %d\n", contact, speed, 1 / h,
           steps, deepest);
    free(x);
    brio_sim_free(sim);
}

static void nothing_goes_through(void **state)
{
    (void)state;
    static const double speeds[] = {0.1, 1, 3, 10, 30, 100};
    for (size_t i = 0; i < BRIO_COUNT(speeds); i++)
        for (int k = 0; k < 2; k++) {
            hit(speeds[i], "type: ipc", k ? 1. / 240 : 1. / 60);
            hit(speeds[i], "type: penalty, kappa: 1e5, dhat: 0.03", k ? 1. / 240 : 1. / 60);
        }
}

int main(void)
{
    brio_set_threads(1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_goes_through),
                                       cmocka_unit_test(dressed_figure)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
