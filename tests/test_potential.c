/* The potential as an object: K = d2P/dq2 is complete, whatever is in P, and every sum over members
 * is the sum of its parts.
 *
 * K is what brio_stepper_stiffness multiplies with. For a direction d,
 *
 *     grad P(q + e d) - grad P(q) - e K d = O(e^2),
 *
 * so halving e must quarter the rest. A member that is missing from K leaves O(e): a factor 2. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/modes.h"
#include "simulate.h"

typedef struct Case {
    const char *name, *scene;
    bool grab;        /* a hand holds a vertex of body 0 */
    int64_t contacts; /* at least, so that a case is about what it says */
} Case;

#define CUBE                                                                       \
    "bodies:\n"                                                                    \
    "  - {name: a, shape: {type: box, size: [0.1, 0.1, 0.1], cells: [2, 2, 2]},\n" \
    "     material: {type: neo-hookean, E: 1e5, nu: 0.3, rho: 1000}}\n"
#define CUBES CUBES_WITH("")
#define CUBES_WITH(more)                                                                \
    CUBE "  - {name: b, shape: {type: box, size: [0.1, 0.1, 0.1], cells: [2, 2, 2]},\n" \
         "     material: {type: neo-hookean, E: 1e5, nu: 0.3, rho: 1000},\n"            \
         "     transform: {translate: [0.013, 0.106, 0.017]}" more "}\n"

#define CAGES                                                                      \
    "bodies:\n"                                                                    \
    "  - {name: a, shape: {type: box, size: [0.1, 0.1, 0.1], cells: [3, 3, 3]},\n" \
    "     cage: 3, attach: [{vertices: [3], k: 500, point: [0.1, 0.4, 0]}],\n"     \
    "     material: {type: neo-hookean, E: 1e5, nu: 0.3, rho: 1000}}\n"            \
    "  - {name: b, shape: {type: box, size: [0.1, 0.1, 0.1], cells: [3, 3, 3]},\n" \
    "     cage: 2, fix: [{box: [[-1, 0.15, -1], [0, 1, 0]]}],\n"                   \
    "     material: {type: neo-hookean, E: 1e5, nu: 0.3, rho: 1000},\n"            \
    "     transform: {translate: [0.013, 0.106, 0.017]}}\n"                        \
    "  - {name: c, shape: {type: box, size: [0.1, 0.1, 0.1], cells: [2, 2, 2]},\n" \
    "     kind: affine, material: {type: affine, rho: 1000},\n"                    \
    "     transform: {rotate: [[1, 2, 3], 1], translate: [0.107, -0.001, 0.023]}}\n"

static const Case cases[] = {
    {"elements", "integrator: probe-stiffness\n" CUBES, false, 0},
    {"hand", "integrator: probe-stiffness\n" CUBES, true, 0},
    {"barrier contact between bodies",
     "integrator: probe-stiffness\ncontact: {type: ipc, dhat: 1e-2, kappa: 1e4}\n" CUBES, false, 4},
    {"cubic barriers between bodies",
     "integrator: probe-stiffness\ncontact: {type: cubic, dhat: 1e-2, kappa: 1e4}\n" CUBES, false,
     4},
    {"penalty contact between vertices",
     "integrator: probe-stiffness\n"
     "contact: {type: penalty, dhat: 1e-2, self: 3e-2, kappa: 1e3}\n" CUBES,
     false, 1},
    {"barrier planes",
     "integrator: probe-stiffness\ncontact: {type: ipc, dhat: 1e-2, kappa: 1e4}\n"
     "obstacles:\n  - {type: plane, point: [0, -0.056, 0], normal: [0.01, 1, 0.02]}\n" CUBES,
     false, 4},
    {"a sphere under ipc",
     "integrator: probe-stiffness\ncontact: {type: ipc, dhat: 1e-2, kappa: 1e4}\n"
     "obstacles:\n  - {type: sphere, formula: true, radius: 0.5,\n"
     "     transform: {translate: [0, -0.556, 0]}}\n" CUBE,
     false, 4},
    {"a capsule under cubic",
     "integrator: probe-stiffness\ncontact: {type: cubic, dhat: 1e-2, kappa: 1e4}\n"
     "obstacles:\n  - {type: capsule, formula: true, radius: 0.5, height: 2,\n"
     "     transform: {rotate: [[0, 0, 1], 90], translate: [0, -0.556, 0]}}\n" CUBE,
     false, 4},
    {"penalty planes",
     "integrator: probe-stiffness\ncontact: {type: penalty, dhat: 1e-2, kappa: 1e4}\n"
     "obstacles:\n  - {type: plane, point: [0, -0.056, 0], normal: [0.01, 1, 0.02]}\n" CUBES,
     false, 4},
    {"caged bodies, fixed in part",
     "integrator: probe-stiffness\ncontact: {type: ipc, dhat: 1e-2, kappa: 1e4}\n"
     "obstacles:\n  - {type: plane, point: [0, -0.056, 0], normal: [0.01, 1, 0.02]}\n" CAGES,
     true, 8},
    {"caged bodies, penalty",
     "integrator: probe-stiffness\n"
     "contact: {type: penalty, dhat: 1e-2, self: 3e-2, kappa: 1e3}\n" CAGES,
     false, 1},
    {"all together",
     "integrator: probe-stiffness\ncontact: {type: ipc, dhat: 1e-2, kappa: 1e4}\n"
     "obstacles:\n  - {type: plane, point: [0, -0.056, 0], normal: [0.01, 1, 0.02]}\n" CUBES_WITH(
         ", attach: [{vertices: [3], k: 500, point: [0.1, 0.4, 0]}]"),
     true, 8},
};

/* What the integrator found: the rests of the two steps, and the largest entry of K d. */
static double rest[2], size;

/* Measures at a pose that is a little off, so that nothing is by chance at rest. */
static BrioStatus probe(BrioStepper *s, double h)
{
    size_t n = (size_t)brio_stepper_coordinates(s);
    double *q = brio_stepper_scratch(s, 0), *d = brio_stepper_scratch(s, 1);
    double *g = brio_stepper_scratch(s, 2), *moved = brio_stepper_scratch(s, 3);
    double *Kd = brio_stepper_scratch(s, 4), *there = brio_stepper_scratch(s, 5);
    double t = brio_stepper_time(s);
    brio_stepper_random(s, 7, d);
    brio_stepper_combine(s, 1, brio_stepper_q(s), 2e-4, d, q);
    brio_stepper_random(s, 8, d);
    assert_true(isfinite(brio_stepper_potential(s, q, t, g)));
    assert_int_equal(brio_stepper_linearise(s, q, t), BRIO_OK);
    brio_stepper_stiffness(s, d, Kd);
    size = brio_stepper_norm_max(s, Kd);
    for (int k = 0; k < 2; k++) {
        double e = 2e-6 / (1 << k);
        brio_stepper_combine(s, 1, q, e, d, moved);
        assert_true(isfinite(brio_stepper_potential(s, moved, t, there)));
        rest[k] = 0;
        for (size_t i = 0; i < n; i++)
            rest[k] = brio__larger(rest[k], fabs(there[i] - g[i] - e * Kd[i]));
    }
    return brio_stepper_accept(s, h, brio_stepper_q(s), brio_stepper_v(s));
}

static const BrioIntegrator integrator = {
    .name = "probe-stiffness",
    .summary = "Measures the stiffness and leaves the state as it is.",
    .traits = BRIO_END_IS_SOLVED,
    .step = probe,
};

static BrioSim *start(const Case *c)
{
    BrioSim *sim = parse("%s", c->scene);
    const double point[3] = {0.2, 0.3, 0.1};
    int hand;
    if (c->grab) {
        assert_int_equal(brio_sim_grab_vertex(sim, 0, 5, 300, &hand, NULL), BRIO_OK);
        assert_int_equal(brio_sim_drag(sim, hand, point, NULL), BRIO_OK);
    }
    return sim;
}

/* TOLERANCE 0.1 of the slope 2: the third order is e times smaller, and round-off of gradients is
 * below 1e-4 of the smaller rest. */
static void stiffness_is_complete(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < BRIO_COUNT(cases); i++) {
        BrioSim *sim = start(&cases[i]);
        int contacts = ledger(sim).contacts;
        assert_true(contacts >= cases[i].contacts);
        step(sim, 1);
        double slope = log2(rest[0] / rest[1]);
        print_message("%-34s |K d| %.3g, rests %.3g %.3g, slope %.3f, %d contacts\n", cases[i].name,
                      size, rest[0], rest[1], slope, contacts);
        if (!(fabs(slope - 2) < 0.1)) fail_msg("%s: slope %.3f", cases[i].name, slope);
        brio_sim_free(sim);
    }
}

/* The stiffness that modes, spectra and step limits are made of is the same K. */
static void modes_see_all_of_it(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < BRIO_COUNT(cases); i++) {
        BrioSim *sim = start(&cases[i]);
        BrioStiffness *stiffness;
        size_t n = (size_t)sim->state->coordinates;
        double *d = calloc(n, sizeof *d), *Kd = calloc(n, sizeof *Kd);
        double *g = calloc(n, sizeof *g), *there = calloc(n, sizeof *there);
        double *x = calloc(3 * (size_t)sim->system->vertex_count, sizeof *x), left[2];
        BrioRandom random = {5};
        for (size_t k = 0; k < n; k++) d[k] = brio__random_normal(&random);
        assert_int_equal(brio__stiffness_create(sim->system, &stiffness), BRIO_OK);
        BrioPose pose = {.state = sim->state, .x = x};
        brio__system_positions(sim->system, sim->state, sim->state->q, 0, x);
        assert_int_equal(brio__stiffness_at(stiffness, sim->state, x), BRIO_OK);
        brio__stiffness_multiply(stiffness, d, Kd);
        brio__potential_evaluate(sim->stepper->potential, &pose, g, NULL);
        for (int e = 0; e < 2; e++) {
            double length = 2e-6 / (1 << e);
            for (size_t k = 0; k < n; k++) there[k] = sim->state->q[k] + length * d[k];
            brio__system_positions(sim->system, sim->state, there, 0, x);
            brio__potential_evaluate(sim->stepper->potential, &pose, there, NULL);
            left[e] = 0;
            for (size_t k = 0; k < n; k++)
                left[e] = brio__larger(left[e], fabs(there[k] - g[k] - length * Kd[k]));
        }
        print_message("%-34s slope %.3f\n", cases[i].name, log2(left[0] / left[1]));
        assert_true(fabs(log2(left[0] / left[1]) - 2) < 0.1);
        brio__stiffness_free(stiffness);
        free(d), free(Kd), free(g), free(there), free(x);
        brio_sim_free(sim);
    }
}

/* Gradients of elements are summed a buffer at a time: to the bits of one sum over all of them,
 * with terms that begin and end anywhere in a buffer and blocks that have no elements. */
static void sums_of_many_elements(void **state)
{
    (void)state;
    static const char scene[] =
        "time: {h: 1/60, end: 1}\ngravity: [0, -9, 0]\nintegrator: backward-euler\n"
        "bodies:\n"
        "  - {name: a, shape: {type: box, size: [1, 1, 1], cells: [9, 9, 9]},\n"
        "     material: {type: corotated, E: 1e5, nu: 0.3, rho: 1000}}\n"
        "  - {name: b, shape: {type: grid, width: 1, depth: 1, cells_x: 20, cells_z: 20},\n"
        "     kind: springs, material: {type: hooke, k: 200, vertex_mass: 1e-3}, transform: "
        "{translate: [0, 2, 0]}}\n"
        "  - {name: c, shape: {type: box, size: [1, 1, 1], cells: [11, 11, 11]},\n"
        "     material: {type: neo-hookean, E: 1e5, nu: 0.3, rho: 1000},\n"
        "     transform: {translate: [0, 4, 0]}}\n"
        "  - {name: d, shape: {type: box, size: [1, 1, 1], cells: [2, 2, 2]}, kind: affine,\n"
        "     material: {type: affine, rho: 1000}, transform: {translate: [0, 6, 0]}}\n";
    BrioSim *sim = parse("%s", scene);
    const BrioSystem *s = sim->system;
    BrioRandom random = {3};
    size_t world = 3 * (size_t)s->vertex_count, blocks = 3 * (size_t)s->block_count;
    double *x = malloc(world * sizeof *x), *sum = calloc(blocks, sizeof *sum);
    double *found = malloc(blocks * sizeof *found);
    brio__system_positions(s, sim->state, sim->state->q, 0, x);
    for (size_t i = 0; i < world; i++) x[i] += 1e-3 * brio__random_normal(&random);
    int64_t packs = 0;
    for (int t = 0; t < s->term_count; t++) {
        const BrioTerm *term = &s->term[t];
        int nodes = term->energy->nodes;
        BrioBatch batch = brio__term_batch(term, sim->state->param, x);
        size_t bytes = (size_t)term->packs * 3 * nodes * LANES * sizeof(double);
        batch.gradient = aligned_alloc(64, bytes + 64);
        term->energy->eval(&batch);
        for (int64_t i = 0; i < term->elements; i++)
            for (int k = 0; k < nodes; k++) {
                const double *g = batch.gradient + (i / LANES * nodes + k) * 3 * LANES + i % LANES;
                int32_t v = brio__term_vertex(term, i, k);
                for (int32_t m = s->map_start[v]; m < s->map_start[v + 1]; m++)
                    for (int r = 0; r < 3; r++)
                        sum[3 * s->map_block[m] + r] += s->map_weight[m] * g[r * LANES];
            }
        free(batch.gradient);
        packs += term->packs;
    }
    assert_true(packs > 1024 && s->term_count > 4);
    memset(found, 0xff, blocks * sizeof *found);
    brio__evaluate(brio__potential_elements(sim->stepper->solver->potential), sim->state->param, x,
                   found, NULL);
    for (size_t i = 0; i < blocks; i++) assert_true(found[i] == sum[i]);
    print_message("%lld packs of %d terms\n", (long long)packs, s->term_count);
    free(x), free(sum), free(found);
    brio_sim_free(sim);
}

int main(void)
{
    assert_int_equal(brio_register_integrator(&integrator, NULL), BRIO_OK);
    const struct CMUnitTest tests[] = {cmocka_unit_test(stiffness_is_complete),
                                       cmocka_unit_test(modes_see_all_of_it),
                                       cmocka_unit_test(sums_of_many_elements)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
