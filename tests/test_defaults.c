/* What contact takes from the scene where it is not told: dhat, epsv, kappa by pair and tol by
 * quality; and that these values serve stiffnesses from 1e3 to 1e11 Pa, sizes from 0.1 mm to 1 km,
 * and cloth, without a word in the scene. (What its own weight crushes, rho g L > E, takes more
 * iterations, and `brio check` questions it.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "contact/contact.h"
#include "contact/exact.h"
#include "scales.h"
#include "solve/solver.h"

#include <string.h>

static BrioScene *load(const char *text)
{
    BrioScene *scene = NULL;
    BrioError error = {0};
    if (brio__scene_parse(text, strlen(text), "text.yaml", &scene, &error) != BRIO_OK)
        fail_msg("%d:%d: %s", error.line, error.column, error.message);
    return scene;
}

static void near(double value, double expected, double part)
{
    if (!(fabs(value - expected) <= part * fabs(expected)))
        fail_msg("%.17g instead of %.17g", value, expected);
}

/* ---- the values --------------------------------------------------------------------------- */

#define TWO_CUBES(more)                                                                         \
    "gravity: [0, -10, 0]\n" more                                                               \
    "obstacles: [{type: plane, normal: [0, 1, 0]}, {type: box, size: [1, 1, 1], cells: [1, 1, " \
    "1], transform: {translate: [5, 1, 0]}}]\nbodies:\n"                                        \
    "  - {name: soft, shape: {type: box, size: [0.3, 0.4, 1.2], cells: [30, 40, 12]}, "         \
    "material: {type: neo-hookean, E: 1e4, nu: 0.3, rho: 1000}, transform: {translate: [0, 1, " \
    "0]}}\n"                                                                                    \
    "  - {name: steel, shape: {type: box, size: [0.4, 0.4, 1.2], cells: [2, 2, 6]}, material: " \
    "{type: neo-hookean, E: 2e11, nu: 0.3, rho: 8000}, transform: {translate: [0, 2, 0]}}\n"

static double kappa_of(const BrioScene *scene, int a, int b)
{
    const BrioSystem *s = scene->system;
    double kappa = scene->state->param[s->contact_params + BRIO_CONTACT_KAPPA];
    return kappa * brio__stiffness_factor(s, a, b);
}

/* The soft body is 1.3 m across with edges of 1 cm; the other one has the weight of 1536 kg. */
static void values(void **state)
{
    (void)state;
    BrioScene *scene = load(TWO_CUBES("contact: {type: ipc, mu: 0.1}\n"));
    const BrioSystem *s = scene->system;
    double dhat = scene->state->param[s->contact_params + BRIO_CONTACT_DHAT];
    double fall = sqrt(2 * 10 * 1.3), soft = kappa_of(scene, 0, 3);
    print_message("dhat %g m, epsv %g m/s, kappa soft %g, steel %g, both %g N/m\n", dhat, s->epsv,
                  soft, kappa_of(scene, 1, 3), kappa_of(scene, 0, 1));
    near(dhat, 0.001, 0.01);
    near(s->epsv, 3e-4 * fall, 1e-9);
    near(kappa_of(scene, 1, 3), 20 * 1536 * 10 / dhat, 1e-9);
    assert_true(soft > 0.5 * 1e4 * 0.01 && soft < 20 * 1e4 * 0.01); /* of the order of E l */
    near(kappa_of(scene, 0, 1), soft, 1e-12);
    near(kappa_of(scene, 1, 0), soft, 1e-12);
    near(kappa_of(scene, 0, 0), soft, 1e-12);
    /* planes act by weights of their own */
    const BrioTerm *term = &s->term[s->analytic_term];
    for (int64_t e = 0; e < term->elements; e++) {
        double weight = term->rest[e / LANES * term->energy->rest * LANES + e % LANES];
        int body = brio__system_owner(s, brio__term_vertex(term, e, 0));
        near(weight * scene->state->param[term->params + BRIO_CONTACT_KAPPA],
             kappa_of(scene, body, 3), 1e-12);
    }
    brio__scene_free(scene);
}

static void told(void **state)
{
    (void)state;
    BrioScene *scene =
        load(TWO_CUBES("contact: {type: ipc, mu: 0.1, dhat: 2e-3, kappa: 1e5, epsv: 0.01}\nsolver: "
                       "{tol: 1e-5}\nquality: preview\n"));
    assert_true(scene->state->param[scene->system->contact_params + BRIO_CONTACT_DHAT] == 2e-3);
    assert_true(scene->system->epsv == 0.01);
    assert_true(kappa_of(scene, 0, 1) == 1e5 && kappa_of(scene, 1, 3) == 1e5);
    assert_true(brio__solver_tol(scene->system, &scene->def.solver) == 1e-5);
    brio__scene_free(scene);
}

static void quality(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double of_fall;
        int friction_iterations;
    } rows[] = {
        {TWO_CUBES("contact: {type: ipc}\n"), 3e-4, 0},
        {TWO_CUBES("contact: {type: ipc}\nquality: film\n"), 3e-4, 0},
        {TWO_CUBES("contact: {type: ipc, mu: 0.5}\n"), 3e-6, 0},
        {TWO_CUBES("contact: {type: ipc, mu: 0.5}\nquality: preview\n"), 1e-2, 1},
    };
    for (size_t i = 0; i < BRIO_COUNT(rows); i++) {
        BrioScene *scene = load(rows[i].text);
        near(brio__solver_tol(scene->system, &scene->def.solver), rows[i].of_fall * sqrt(20 * 1.3),
             1e-9);
        assert_int_equal(scene->system->friction_iterations, rows[i].friction_iterations);
        brio__scene_free(scene);
    }
    static const char *const exact[] = {
        TWO_CUBES("contact: {type: ipc}\nquality: exact\n"),
        "bodies: [{shape: {type: box}, material: {type: neo-hookean}}]\n"};
    for (size_t i = 0; i < BRIO_COUNT(exact); i++) {
        BrioScene *scene = load(exact[i]);
        assert_true(brio__solver_tol(scene->system, &scene->def.solver) == 1e-8);
        brio__scene_free(scene);
    }
}

/* ---- stiffness, size, cloth --------------------------------------------------------------- */

static void all_scales(void **state)
{
    (void)state;
    static const Scale cases[] = {
        {1, {1e3, 1e3}, 0},       {1, {1e3, 1e11}, 0},     {1, {1e11, 1e3}, 0},
        {1, {1e11, 1e11}, 0},     {1, {1e6, 1e7}, 0},      {1e-4, {1e5, 1e5}, 0},
        {1e-4, {1e9, 1e3}, 0},    {1e-2, {1e3, 1e9}, 0},   {1e3, {1e8, 1e8}, 0},
        {1e3, {1e9, 1e7}, 0},     {1, {1e5, 1e6}, 1e-3},   {1, {1e9, 1e4}, 1e-2},
        {1e-3, {1e5, 1e6}, 1e-2}, {100, {1e9, 1e4}, 1e-3}, {1e-2, {1e7, 1e11}, 0},
        {1e-4, {1e3, 1e9}, 0},
    };
    for (size_t i = 0; i < BRIO_COUNT(cases); i++) {
        ScaleRun run = scale_run(&cases[i]);
        assert_true(run.touches > 0);
        assert_true(run.slowest <= 60);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(told),
        cmocka_unit_test(quality),
        cmocka_unit_test(all_scales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
