/* What later parts will do with the core: scenes from text, parameters that change between steps,
 * several evaluators over one system. */
#include "field.h"
#include "sim/sim.h"

#include <stdlib.h>
#include <string.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

static const char text[] =
    "{\"time\": {\"h\": 1/100}, \"integrator\": \"trapezoidal\", \"bodies\": [{\"name\": \"cube\","
    " \"shape\": {\"type\": \"box\", \"size\": [0.1, 0.1, 0.1], \"cells\": [2, 2, 2]},"
    " \"material\": {\"type\": \"neo-hookean\", \"E\": 1e5},"
    " \"attach\": [{\"vertices\": [0, 5, 11], \"k\": 300}]}]}";

static BrioSim *parse(void)
{
    BrioSim *sim = NULL;
    BrioError error = {0};
    if (brio_sim_parse(text, sizeof text - 1, "text", &sim, &error) != BRIO_OK)
        fail_msg("%s", error.message);
    return sim;
}

static void scene_from_text(void **unused)
{
    (void)unused;
    BrioSim *sim = parse();
    assert_int_equal(brio_body_vertices(brio_sim_system(sim), 0), 27);
    brio_sim_free(sim);
    BrioError error = {0};
    const char wrong[] =
        "{\"bodies\": [{\"material\": \"neo-hokean\", \"shape\": {\"type\": \"box\"}}]}";
    assert_int_equal(brio_sim_parse(wrong, sizeof wrong - 1, "text", &sim, &error),
                     BRIO_ERROR_INPUT);
    char message[1024];
    brio_error_text(&error, message, sizeof message);
    assert_string_equal(message, "text:1:26: bodies[0].material: no material type \"neo-hokean\"; "
                                 "did you mean \"neo-hookean\"?");
}

static const BrioTerm *attachments(const BrioSim *sim)
{
    const BrioSystem *s = brio_sim_system(sim);
    for (int t = 0; t < s->term_count; t++)
        if (s->term[t].energy->element == BRIO_ELEMENT_ANCHOR) return &s->term[t];
    fail_msg("there is no attachment");
    return NULL;
}

/* The three attachments hold the cube up; when they are let go one by one, it falls freely. */
static void letting_go(void **unused)
{
    (void)unused;
    BrioSim *sim = parse();
    BrioLedger ledger, falling;
    const BrioTerm *term = attachments(sim);
    for (int k = 0; k < 20; k++) assert_int_equal(brio_sim_step(sim, NULL), BRIO_OK);
    brio_sim_ledger(sim, &ledger);
    assert_true(ledger.attachment > 0.01);
    double before = ledger.attachment;
    for (int i = 0; i < 3; i++) {
        brio_sim_state(sim)->param[term->live + i] = 0;
        brio_sim_ledger(sim, &ledger);
        assert_true(ledger.attachment < before);
        before = ledger.attachment;
    }
    assert_true(ledger.attachment == 0);
    for (int k = 0; k < 20; k++) assert_int_equal(brio_sim_step(sim, NULL), BRIO_OK);
    brio_sim_ledger(sim, &falling);
    double t = falling.time - ledger.time, mass = 1; /* 1 kg: momentum is velocity */
    double fall = ledger.momentum[1] / mass * t - 0.5 * 9.8 * t * t;
    assert_true(fabs(falling.centre[1] - ledger.centre[1] - fall) < 1e-9);
    brio_sim_free(sim);
}

/* The jump of the energy is what `added` books. */
static void changing_gravity(void **unused)
{
    (void)unused;
    BrioSim *sim = parse();
    for (int k = 0; k < 7; k++) assert_int_equal(brio_sim_step(sim, NULL), BRIO_OK);
    BrioLedger before, after;
    const double sideways[3] = {3, -1, 0.5}, broken[3] = {0, NAN, 0};
    brio_sim_ledger(sim, &before);
    assert_int_equal(brio_sim_set_gravity(sim, sideways, NULL), BRIO_OK);
    brio_sim_ledger(sim, &after);
    assert_true(fabs(after.added - (after.total - before.total)) < 1e-12 &&
                fabs(after.added) > 1e-3);
    assert_int_equal(brio_sim_set_gravity(sim, broken, NULL), BRIO_ERROR_ARGUMENT);
    brio_sim_free(sim);
}

/* Bodies that fit one by one but not together are rejected before they are built. */
static void too_much_together(void **unused)
{
    (void)unused;
    const char two[] = "{\"bodies\": [{\"name\": \"a\", \"shape\": {\"type\": \"box\", \"cells\": "
                       "[9, 9, 9]}, \"material\": \"arap\"},"
                       " {\"name\": \"b\", \"shape\": {\"type\": \"box\", \"cells\": [9, 9, 9]}, "
                       "\"material\": \"arap\"}]}";
    BrioSim *sim = NULL;
    BrioError error = {0};
    setenv("BRIO_MEMORY_LIMIT", "6e6", 1); /* one takes about 4.6 MB */
    assert_int_equal(brio_sim_parse(two, sizeof two - 1, "text", &sim, &error),
                     BRIO_ERROR_TOO_LARGE);
    unsetenv("BRIO_MEMORY_LIMIT");
    char message[1024];
    brio_error_text(&error, message, sizeof message);
    assert_string_equal(message, "text:1:94: bodies[1]: with body \"b\" the scene needs about "
                                 "0.00915 GB to simulate, and 0.006 GB are available; "
                                 "use coarser meshes");
}

static void names(void **unused)
{
    (void)unused;
    int materials = 0, shapes = 0;
    for (; brio_material_at(materials); materials++)
        assert_non_null(brio_material_fields(brio_material_at(materials)));
    for (; brio_shape_at(shapes); shapes++)
        assert_non_null(brio_shape_fields(brio_shape_at(shapes)));
    assert_true(materials >= 7 && shapes >= 9);
    assert_null(brio_material_fields("gravity"));
}

/* One evaluator over all terms, or one for each: the same potential, gradient and matrix. TOLERANCE
 * 1e-12: sums in another order. */
static void several_evaluators(void **unused)
{
    (void)unused;
    BrioSim *sim = parse();
    for (int k = 0; k < 5; k++) assert_int_equal(brio_sim_step(sim, NULL), BRIO_OK);
    const BrioSystem *s = brio_sim_system(sim);
    BrioSolver *solver = sim->stepper->solver;
    BrioState *state = brio_sim_state(sim);
    int64_t n = brio_system_coordinates(s);
    int64_t entries = 9 * solver->linear->A.start[solver->linear->A.n];
    double *g = calloc((size_t)n, sizeof *g);
    double *part = calloc((size_t)n, sizeof *part);
    double *sum = calloc((size_t)n, sizeof *sum);
    double *matrix = malloc((size_t)entries * sizeof *matrix), P = 0;
    brio__system_positions(s, state, state->q, state->time, solver->x);
    double all = brio__evaluate(brio__potential_elements(solver->potential), state->param,
                                solver->x, g, NULL);
    brio__assemble(brio__potential_elements(solver->potential), state->param, solver->x, 2, 3, true,
                   solver->linear, NULL);
    memcpy(matrix, solver->linear->A.value, (size_t)entries * sizeof *matrix);
    brio__assemble_masses(s, 2, solver->linear);
    for (int t = 0; t < s->term_count; t++) {
        BrioEvaluator *one;
        assert_int_equal(brio__evaluator_create(s, &s->term[t], 1, &one), BRIO_OK);
        assert_int_equal(brio__evaluator_plan(one, solver->linear), BRIO_OK);
        P += brio__evaluate(one, state->param, solver->x, part, NULL);
        brio__combine(s, 1, sum, 1, part, sum);
        brio__assemble_add(one, state->param, solver->x, 3, true, solver->linear, NULL);
        brio__evaluator_free(one);
    }
    assert_true(fabs(P - all) <= 1e-12 * fabs(all));
    for (int64_t i = 0; i < n; i++)
        assert_true(fabs(sum[i] - g[i]) <= 1e-12 * brio__norm_max(s, g));
    double largest = 0;
    for (int64_t i = 0; i < entries; i++) largest = brio__larger(largest, fabs(matrix[i]));
    for (int64_t i = 0; i < entries; i++)
        assert_true(fabs(matrix[i] - solver->linear->A.value[i]) <= 1e-12 * largest);
    free(g), free(part), free(sum), free(matrix);
    brio_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scene_from_text),   cmocka_unit_test(letting_go),
        cmocka_unit_test(changing_gravity),  cmocka_unit_test(names),
        cmocka_unit_test(too_much_together), cmocka_unit_test(several_evaluators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
