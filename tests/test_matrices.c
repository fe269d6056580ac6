/* Masses, gradient and Hessian for other programs (brio/matrices.h): against differences of the
 * energy and of the gradient, with contact and without. */
#include "brio/matrices.h"

#include <stdlib.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include "simulate.h"

/* Two cubes that are closer than dhat, one of them attached, over a plane that both touch. */
#define CONTACT                                      \
    "contact: {type: ipc, dhat: 0.02, kappa: 1e4}\n" \
    "obstacles: [{type: plane, point: [0, -0.061, 0], normal: [0, 1, 0]}]\n"
static const char scene[] =
    "time: {h: 1/100}\ngravity: [1, -9, 0.5]\n%sbodies:\n"
    "  - {name: a, shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}, material: {type: "
    "stable-neo-hookean, E: 1e5, rho: 1000}, deform: {scatter: 0.003}, attach: [{vertices: [3], k: "
    "70}]}\n"
    "  - {name: b, shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}, material: {type: "
    "stable-neo-hookean, E: 1e5, rho: 500}, deform: {scatter: 0.003}, transform: {translate: "
    "[0.112, 0.003, 0.02]}, fix: [{vertices: [7]}]}\n";

enum { COORDINATES = 3 * 15 };

/* All entries of a Hessian, which come once each. */
static void dense(const BrioTriplets *t, double H[COORDINATES][COORDINATES])
{
    static bool seen[COORDINATES][COORDINATES];
    memset(seen, 0, sizeof seen);
    memset(H, 0, sizeof(double[COORDINATES][COORDINATES]));
    assert_int_equal(t->size, COORDINATES);
    for (int64_t k = 0; k < t->count; k++) {
        assert_in_range(t->row[k], 0, COORDINATES - 1);
        assert_in_range(t->column[k], 0, COORDINATES - 1);
        H[t->row[k]][t->column[k]] += t->value[k];
        seen[t->row[k]][t->column[k]] = true;
    }
    for (int i = 0; i < COORDINATES; i++)
        for (int k = 0; k < COORDINATES; k++) assert_true(seen[i][k] == seen[k][i]);
}

static double potential(BrioSim *sim)
{
    BrioLedger l;
    assert_int_equal(brio_sim_ledger(sim, &l), BRIO_OK);
    return l.potential;
}

/* TOLERANCE 1e-6 of the largest number: central differences over 1e-6 m of a barrier of 0.02 m,
 * whose error is of second order, and round-off. */
static void derivatives_are_those_of_the_energy(void **unused)
{
    (void)unused;
    static double H[COORDINATES][COORDINATES], E[COORDINATES][COORDINATES];
    BrioSim *sim = parse(scene, CONTACT);
    double *q = sim->state->q, g[COORDINATES], mass[COORDINATES], total = 0;
    const double eps = 1e-6;
    BrioTriplets all = {0}, elements = {0};
    assert_int_equal(brio_sim_coordinates(sim), COORDINATES);
    for (int i = 0; i < COORDINATES; i++) mass[i] = NAN;
    brio_sim_masses(sim, mass);
    for (int i = 0; i < COORDINATES; i++) {
        assert_true(mass[i] > 0 && mass[i] == mass[i - i % 3]);
        total += mass[i] / 3;
    }
    /* of two cubes but for the corner that is fixed, a quarter of each of its tets */
    assert_true(total < 1.5 && total > 1.5 - 0.5 / 4);
    assert_true(ledger(sim).contacts > 0);
    assert_int_equal(brio_sim_gradient(sim, g), BRIO_OK);
    assert_int_equal(brio_sim_hessian(sim, 0, &all, NULL), BRIO_OK);
    assert_int_equal(brio_sim_hessian(sim, 1, &elements, NULL), BRIO_OK);
    dense(&all, H);
    dense(&elements, E);
    double largest = 0, off = 0, most = 0, wrong = 0, contact = 0;
    for (int i = 0; i < COORDINATES; i++) {
        double at = q[i], up[COORDINATES], down[COORDINATES];
        q[i] = at + eps;
        double high = potential(sim);
        assert_int_equal(brio_sim_gradient(sim, up), BRIO_OK);
        q[i] = at - eps;
        double low = potential(sim);
        assert_int_equal(brio_sim_gradient(sim, down), BRIO_OK);
        q[i] = at;
        largest = brio__larger(largest, fabs(g[i]));
        off = brio__larger(off, fabs(g[i] - (high - low) / (2 * eps)));
        for (int k = 0; k < COORDINATES; k++) {
            most = brio__larger(most, fabs(H[k][i]));
            wrong = brio__larger(wrong, fabs(H[k][i] - (up[k] - down[k]) / (2 * eps)));
            contact = brio__larger(contact, fabs(H[k][i] - E[k][i]));
        }
    }
    print_message("gradient off by %.1e of %.3g N, Hessian by %.1e of %.3g N/m (contact %.3g)\n",
                  off, largest, wrong, most, contact);
    assert_true(off < 1e-6 * largest);
    assert_true(wrong < 1e-6 * most);
    assert_true(contact > 1e-3 * most);
    brio_triplets_free(&all);
    brio_triplets_free(&elements);
    assert_null(all.value);
    brio_sim_free(sim);
}

/* Without contact both are the same. */
static void elements_are_all_there_is(void **unused)
{
    (void)unused;
    static double H[2][COORDINATES][COORDINATES];
    BrioSim *sim = parse(scene, "");
    for (int k = 0; k < 2; k++) {
        BrioTriplets t = {0};
        assert_int_equal(brio_sim_hessian(sim, k, &t, NULL), BRIO_OK);
        dense(&t, H[k]);
        brio_triplets_free(&t);
    }
    assert_memory_equal(H[0], H[1], sizeof H[0]);
    for (int i = 0; i < COORDINATES; i++) assert_true(H[0][i][i] != 0);
    brio_sim_free(sim);
}

/* Behind the plane the barrier has no value, and no gradient; a failing allocation is told. */
static void refusals(void **unused)
{
    (void)unused;
    Memory memory = {.failed = true};
    for (int64_t at = 0; memory.failed; at++) {
        memory_start(&memory, -1, false);
        BrioSim *sim = parse(scene, CONTACT);
        BrioTriplets t = {0};
        BrioError error = {0};
        memory.fail_at = memory.calls + at;
        BrioStatus status = brio_sim_hessian(sim, 0, &t, &error);
        assert_int_equal(status, memory.failed ? BRIO_ERROR_MEMORY : BRIO_OK);
        if (status != BRIO_OK) {
            assert_non_null(strstr(error.message, "the Hessian could not be made"));
            assert_null(t.value);
        }
        memory.fail_at = -1;
        brio_triplets_free(&t);
        brio_sim_free(sim);
        assert_int_equal(memory.live, 0);
        assert_true(at < 1000);
    }
    brio_set_allocator(NULL);
    BrioSim *sim = parse(scene, CONTACT);
    double g[COORDINATES];
    for (int i = 0; i < 24; i++) sim->state->q[i] -= i % 3 == 1 ? 0.1 : 0;
    assert_int_equal(brio_sim_gradient(sim, g), BRIO_NOT_FINITE);
    brio_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_are_those_of_the_energy),
        cmocka_unit_test(elements_are_all_there_is),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
