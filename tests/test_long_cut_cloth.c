/* Forty cloths with self-contact in real time, cut off their corners over a floor: how many lie
 * there after twenty seconds, and how much energy the worst one keeps. The starts are random and
 * were not used to choose a rule of src/contact/contour.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "simulate.h"

static uint64_t seed;

static double uniform(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0;
}

/* Lets go of the pins `vertex`. */
static void cut(BrioSim *sim, const int32_t *vertex, int count)
{
    BrioBuilder *edit;
    BrioError error = {0};
    assert_int_equal(brio_sim_edit(sim, &edit, &error), BRIO_OK);
    assert_int_equal(brio_builder_unfix(edit, 0, vertex, count, &error), BRIO_OK);
    assert_int_equal(brio_sim_commit(sim, edit, &error), BRIO_OK);
}

/* The energy of a cloth of 16 to 40 cells, hung from one or two corners for up to two seconds, cut
 * off both at once or one after the other, 20 s later. */
static double energy_at_rest(int number)
{
    seed = 3 * 1000003 + (uint64_t)number;
    for (int i = 0; i < 5; i++) uniform();
    int cells = 16 + 4 * (int)(7 * uniform()), corners = 1 + (int)(2 * uniform());
    int hung = (int)(121 * uniform()), between = uniform() < 0.5 ? 0 : (int)(90 * uniform());
    double mu = uniform() < 0.5 ? 0 : 0.4, self = (0.5 + 0.5 * uniform()) * 0.8 / cells;
    double angle = 30 + 60 * uniform();
    if (corners == 1) between = 0;
    int32_t pin[] = {0, cells};
    char second[16] = "";
    if (corners == 2) snprintf(second, sizeof second, ", %d", cells);
    BrioSim *sim =
        parse("time: {h: 1/60}\ngravity: [0, -9.8, 0]\nintegrator: a-search\nsolver: {type: "
              "local-global, iterations: 10}\ndamping: [{type: rayleigh, alpha: 0.5}]\n"
              "contact: {type: penalty, kappa: 100, dhat: 5e-3, mu: %g, self: %.17g}\n"
              "obstacles: [{type: plane, point: [0, -0.6, 0], normal: [0, 1, 0]}]\nbodies:\n"
              "  - {shape: {type: grid, width: 1, depth: 0.8, cells_x: %d, cells_z: %d}, "
              "material: {type: hooke, k: 500, rho: 0.3}, transform: {rotate: [[1, 0, 0], %.17g], "
              "translate: [0, 0.1, 0]}, fix: [{vertices: [0%s]}]}\n",
              mu, self, cells, cells, angle, second);
    step(sim, hung);
    cut(sim, pin, between ? 1 : corners);
    step(sim, between);
    if (between) cut(sim, pin + 1, 1);
    step(sim, 20 * 60);
    BrioLedger l = ledger(sim);
    print_message("%d cells, %d corners, %d and %d frames, mu %.1f, self %.4f: kinetic %.1e, "
                  "elastic %.1e, contact %.1e J\n",
                  cells, corners, hung, between, mu, self, l.kinetic, l.elastic, l.contact);
    brio_sim_free(sim);
    return l.kinetic + l.elastic + l.contact;
}

/* Measured: 34 of 40 lie below 1e-3 J, the worst keeps 0.02 J; without forces that let go of what
 * repels itself across an intersection 31 and 0.13 J. The motion is chaotic, so the last bits of an
 * instruction set change which starts are missed. TOLERANCE: 30, and 0.1 J. */
static void forty(void **unused)
{
    (void)unused;
    int lie = 0;
    double worst = 0;
    for (int k = 0; k < 40; k++) {
        double energy = energy_at_rest(k);
        lie += energy < 1e-3;
        worst = fmax(worst, energy);
        assert_true(isfinite(energy));
    }
    print_message("%d of 40 below 1e-3 J, worst %.1e J\n", lie, worst);
    assert_true(lie >= 30 && worst < 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(forty)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
