/* A-search by body (docs/energy-by-body.md): energies by body add up to the total, what passes
 * through contacts adds up to nothing, books balance, momentum is kept, no body pays for another,
 * and each decays as it says. */
#include "integrate/by_body.h"
#include "sim/sim.h"

#include <stdlib.h>
#include <string.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include "simulate.h"

enum { BODIES = 4 };

#define CUBE(name, more)                                                                    \
    "  - name: " name "\n    shape: {type: box, size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}\n" \
    "    material: {type: neo-hookean, E: 2e5, nu: 0.3, rho: 1000}\n" more

/* Two cubes that meet off centre. */
static const char meeting[] =
    "time: {h: 1/200, end: 1}\ngravity: [0, 0, 0]\nintegrator: {type: a-search, by_body: true}\n"
    "solver: {tol: 1e-10}\ncontact: {type: ipc, dhat: 1e-3, kappa: 1e4, mu: %g}\nbodies:\n" CUBE(
        "left", "    transform: {translate: [-0.055, 0, 0]}\n    velocity: {linear: [1, 0, 0]}\n")
        CUBE("right", "    transform: {translate: [0.055, 0.02, 0.01]}\n");

/* Under weight: a soft cube, an affine block, a sheet that is fixed at two edges, a plane. The
 * ground is a number: without friction the pile slides apart, so it has no settled state. */
static const char pile[] =
    "time: {h: 1/100, end: 1}\nintegrator: {type: a-search, ground: 0, by_body: true}\n"
    "solver: {tol: 1e-9}\ncontact: {type: ipc, dhat: 2e-3, kappa: 1e4, mu: 0.3}\n"
    "damping:\n  - {type: rayleigh, alpha: 0, beta: 0.0005}\nbodies:\n" CUBE(
        "soft",
        "    transform: {translate: [0.02, 0.24, 0]}\n    velocity: {linear: [0, -1, 0]}\n"
        "    decay: 0.5\n") "  - name: block\n    kind: affine\n    shape: {type: box, size: "
                            "[0.12, 0.06, 0.12], cells: "
                            "[1, 1, 1]}\n    material: {type: affine, E: 1e6, rho: 500}\n"
                            "    transform: {translate: [0, 0.14, 0]}\n    velocity: {linear: [0, "
                            "-1, 0]}\n"
                            "  - name: sheet\n    kind: shell\n    shape: {type: grid, width: 0.5, "
                            "depth: 0.5, cells_x: "
                            "4, cells_z: 4}\n    material: {type: membrane-neo-hookean, E: 1e5, "
                            "nu: 0.3, rho: 1000, "
                            "thickness: 1e-3}\n    transform: {translate: [0, 0.1, 0]}\n    fix:\n"
                            "      - {box: [[-1, -1, -1], [-0.24, 1, 1]]}\n      - {box: [[0.24, "
                            "-1, -1], [1, 1, 1]]}\n"
                            "obstacles:\n  - {type: plane, point: [0, 0, 0], normal: [0, 1, 0]}\n";

typedef struct Balance {
    double sum;    /* energies by body less the total */
    double passed; /* through all contacts together */
    double books;  /* targets less the first energies and all that was booked */
    double target; /* targets less the target of all */
    double moved;  /* largest energy that passed to a body */
    double missed; /* largest distance of a body from its target where alpha is within its limits */
    double momentum;
} Balance;

/* All of them over `energy`. */
static Balance follow(BrioSim *sim, int steps, double energy)
{
    Balance worst = {0};
    BrioBodyBooks first[BODIES], now[BODIES];
    int count = brio__by_body_count(sim->stepper);
    BrioLedger start = ledger(sim);
    assert_in_range(count, 1, BODIES);
    brio__by_body_books(sim->stepper, sim->state, first);
    for (int k = 0; k < steps; k++) {
        step(sim, 1);
        BrioLedger l = ledger(sim);
        double sum = 0, passed = 0, target = 0, momentum = 0;
        brio__by_body_books(sim->stepper, sim->state, now);
        for (int c = 0; c < count; c++) {
            double booked = now[c].passed + now[c].added - now[c].lost - now[c].decayed;
            sum += now[c].energy;
            passed += now[c].passed;
            target += now[c].target;
            worst.books = brio__larger(worst.books, fabs(now[c].target - first[c].energy - booked));
            worst.moved = brio__larger(worst.moved, fabs(now[c].passed));
            if (now[c].alpha > 1e-9 && now[c].alpha < 1.1 - 1e-9)
                worst.missed = brio__larger(worst.missed, fabs(now[c].energy - now[c].target));
        }
        for (int r = 0; r < 3; r++)
            momentum = brio__larger(momentum, fabs(l.momentum[r] - start.momentum[r]));
        worst.sum = brio__larger(worst.sum, fabs(sum - l.total));
        worst.passed = brio__larger(worst.passed, fabs(passed));
        worst.target = brio__larger(worst.target, fabs(target - l.target));
        worst.momentum = brio__larger(worst.momentum, momentum);
    }
    brio_sim_free(sim);
    worst.sum /= energy;
    worst.passed /= energy;
    worst.books /= energy;
    worst.target /= energy;
    worst.moved /= energy;
    worst.missed /= energy;
    return worst;
}

/* TOLERANCE 1e-10: the balance that is claimed; round-off of some thousand sums is below it by far.
 */
static void check_balance(const char *name, Balance b)
{
    print_message("%s: energies %.1e, passages %.1e, books %.1e, targets %.1e; passed up to %.2f, "
                  "off a target within reach %.1e\n",
                  name, b.sum, b.passed, b.books, b.target, b.moved, b.missed);
    assert_true(b.sum < 1e-10);
    assert_true(b.passed < 1e-10);
    assert_true(b.books < 1e-10);
    assert_true(b.target < 1e-10);
}

static void through_contacts(void **state)
{
    (void)state;
    for (int rubs = 0; rubs < 2; rubs++) {
        Balance b = follow(parse(meeting, rubs ? 0.3 : 0.0), 60, 0.5);
        check_balance(rubs ? "with friction" : "without friction", b);
        /* most of the energy goes from one to the other: equal masses nearly exchange velocities */
        assert_true(b.moved > 0.5 && b.moved < 1);
        /* alpha is the root of a quadratic: round-off */
        assert_true(b.missed < 1e-10);
        /* contacts push both sides by the same impulse, whatever the alphas; 1e-10: the solve's */
        print_message("momentum %.1e of 1 kg m/s\n", b.momentum);
        assert_true(b.momentum < 1e-10);
    }
}

static void kinds_of_bodies(void **state)
{
    (void)state;
    /* that of the cube's fall */
    Balance b = follow(parse("%s", pile), 60, 1);
    check_balance("soft, affine, fixed shell, friction, damping", b);
    assert_true(b.moved > 0.01);
}

/* A cube that bounces, alone and next to one that is distorted and spins: nobody pays for the
 * other. TOLERANCE 1e-9 m: Newton's, in another system of equations. */
static void nobody_pays(void **state)
{
    (void)state;
    static const char head[] =
        "time: {h: 1/100, end: 1}\nintegrator: {type: a-search, by_body: %s}\nsolver: {tol: "
        "1e-12}\ncontact: {type: ipc, dhat: 1e-3, kappa: 1e4}\nobstacles:\n  - {type: plane, "
        "point: "
        "[0, 0, 0], normal: [0, 1, 0]}\nbodies:\n%s%s";
    static const char bounces[] =
        CUBE("bounces", "    transform: {translate: [0, 0.09, 0]}\n    velocity: {linear: [0, -2, "
                        "0], angular: [0, 0, 3]}\n");
    static const char other[] =
        CUBE("spins", "    transform: {translate: [1, 2, 0]}\n    velocity: {angular: [0, 9, 0], "
                      "about: [1, 2, 0]}\n    deform: {scatter: 0.005}\n");
    double x[3][3 * 27], off[2] = {0, 0};
    for (int k = 0; k < 3; k++) {
        BrioSim *sim = parse(head, k == 1 ? "false" : "true", bounces, k ? other : "");
        step(sim, 30);
        brio_sim_positions(sim, 0, x[k]);
        brio_sim_free(sim);
    }
    for (int i = 0; i < 3 * 27; i++)
        for (int k = 0; k < 2; k++) off[k] = brio__larger(off[k], fabs(x[k + 1][i] - x[0][i]));
    print_message("from where it is alone: %.1e m with one alpha, %.1e m by body\n", off[0],
                  off[1]);
    assert_true(off[1] < 1e-9);
    assert_true(off[0] > 1e-5);
}

/* Two distorted cubes without weight: energies follow exp(-t/tau) of each. */
static void decay_by_body(void **state)
{
    (void)state;
    static const double tau[2] = {0.1, 1};
    BrioSim *sim =
        parse("time: {h: 1/100, end: 1}\ngravity: [0, 0, 0]\nintegrator: a-search\nsolver: {tol: "
              "1e-10}\nbodies:\n%s%s",
              CUBE("short", "    deform: {scatter: 0.005}\n    decay: 0.1\n"),
              CUBE("long", "    transform: {translate: [0.3, 0, 0]}\n    deform: {scatter: "
                           "0.005}\n    decay: 1\n    energy_scale: 0.9\n"));
    BrioBodyBooks first[2], now[2];
    assert_int_equal(brio__by_body_count(sim->stepper), 2); /* by their decay */
    brio__by_body_books(sim->stepper, sim->state, first);
    step(sim, 40);
    brio__by_body_books(sim->stepper, sim->state, now);
    for (int c = 0; c < 2; c++) {
        double expected = (c ? 0.9 : 1) * first[c].energy * exp(-0.4 / tau[c]);
        print_message("tau = %g s: target %.6f J, expected %.6f J; energy %.6f J\n", tau[c],
                      now[c].target, expected, now[c].energy);
        /* TOLERANCE 1e-12: products of 40 exponentials */
        assert_true(fabs(now[c].target - expected) < 1e-12 * first[c].energy);
        /* backward Euler takes more in the first steps than alpha gives back: 0.2 */
        assert_true(now[c].energy < 1.01 * expected);
    }
    assert_true(now[1].energy > 5 * now[0].energy);
    brio_sim_free(sim);
}

/* Cubes that hang at two heights, with `ground: rest`: each decays to the energy at which it
 * settles alone. */
static void settled_grounds(void **state)
{
    (void)state;
#define HANGING(name, place)                                          \
    CUBE(name, "    transform: {translate: [" place                   \
               ", 0]}\n    fix:\n      - {normal: [[0, 1, 0], 10]}\n" \
               "    decay: 0.2\n")
    static const char *body[2] = {HANGING("low", "0, 0"), HANGING("high", "0.3, 0.7")};
    static const char *head = "time: {h: 1/100, end: 1}\nintegrator: {type: a-search, ground: "
                              "rest}\nsolver: {tol: 1e-10}\nbodies:\n";
    double rest[2];
    for (int c = 0; c < 2; c++) {
        BrioSim *alone = parse("%s%s", head, body[c]);
        assert_int_equal(brio_sim_settle(alone, NULL), BRIO_OK);
        rest[c] = ledger(alone).total;
        brio_sim_free(alone);
    }
    BrioSim *sim = parse("%s%s%s", head, body[0], body[1]);
    BrioBodyBooks first[2], now[2];
    brio__by_body_books(sim->stepper, sim->state, first);
    step(sim, 40);
    brio__by_body_books(sim->stepper, sim->state, now);
    for (int c = 0; c < 2; c++) {
        double above = first[c].energy - rest[c], expected = rest[c] + above * exp(-0.4 / 0.2);
        print_message("rest %.6f J, first %.6f J: target %.9f J, expected %.9f J\n", rest[c],
                      first[c].energy, now[c].target, expected);
        /* TOLERANCE 1e-6: of the settled energy, whose error is that of the solve squared */
        assert_true(above > 0 && fabs(now[c].target - expected) < 1e-6 * above);
    }
    brio_sim_free(sim);
}

/* Two cubes far apart, without weight. `scene`: what adds energy to the first cube alone. All that
 * the ledger has of it is in the books of that cube, and nothing in those of the other. */
static void added_to_one(const char *name, const char *contact, const char *first, const char *more,
                         double energy)
{
    static const char head[] = "time: {h: 1/100, end: 1}\ngravity: [0, 0, 0]\nintegrator: {type: "
                               "a-search, by_body: true}\nsolver: {tol: 1e-10}\n%sbodies:\n%s%s%s";
    static const char other[] =
        CUBE("other", "    transform: {translate: [3, 0, 0]}\n    velocity: {linear: [0, 1, 0]}\n"
                      "    deform: {scatter: 0.005}\n");
    check_balance(name, follow(parse(head, contact, first, other, more), 40, energy));
    BrioSim *sim = parse(head, contact, first, other, more);
    BrioBodyBooks now[2];
    for (int k = 0; k < 40; k++) {
        step(sim, 1);
        BrioLedger l = ledger(sim);
        brio__by_body_books(sim->stepper, sim->state, now);
        assert_string_equal(brio__by_body_name(sim->stepper, 1), "other");
        /* What the obstacle gives to friction passes through the ledger, not through the books.
         * TOLERANCE 1e-12: round-off of the sums of works of up to 40 steps. */
        double net = l.added - l.dissipated;
        assert_true(fabs(now[0].added - now[0].lost - net) < 1e-12 * energy);
        assert_true(fabs(now[1].added) < 1e-12 * energy);
        assert_true(fabs(now[1].lost) < 1e-12 * energy);
    }
    print_message("%s: added %.6f J to the one, %.1e J to the other\n", name, now[0].added,
                  now[1].added);
    assert_true(fabs(now[0].added) > 0.01 * energy);
    brio_sim_free(sim);
}

static void additions_have_an_owner(void **unused)
{
    (void)unused;
    static const char one[] = CUBE("one", "");
    static const char pulled[] =
        CUBE("one", "    fix:\n      - {normal: [[0, 1, 0], 10], script: {keys: [[0, 0, 0, 0], "
                    "[0.1, 0, 0.05, 0], [0.3, 0.1, 0.02, 0]]}}\n");
    static const char attached[] = CUBE(
        "one", "    attach:\n      - {vertices: [26], k: 500, script: {velocity: [0, 2, 0]}}\n");
    static const char contact[] = "contact: {type: ipc, dhat: 2e-3, kappa: 1e4, mu: 0.2}\n";
    static const char hammer[] =
        "obstacles:\n  - {type: box, size: [0.5, 0.1, 0.5], cells: [1, 1, 1], transform: "
        "{translate: [0, 0.104, 0]}, script: {velocity: [0.2, -1, 0], end: 0.2}}\n";
    static const char field[] =
        "forces:\n  - {type: potential, formula: '2*x*sin(9*t) + t*y^2', bodies: one}\n";
    static const char pump[] = "forces:\n  - {type: pressure, law: fixed, pressure: 2000, formula: "
                               "'sin(9*t)', bodies: one}\n";
    added_to_one("fixed vertices that move", "", pulled, "", 1);
    added_to_one("attachments that move", "", attached, "", 1);
    added_to_one("an obstacle that moves", contact, one, hammer, 1);
    added_to_one("a potential that varies", "", one, field, 1);
    added_to_one("a pressure that varies", "", one, pump, 0.1);
}

/* Springs of penalty contact with the triangles of an obstacle belong to the body that they push:
 * energies by body add up to the ledger's, and one that is far away has no part in it. */
static void meshes_push_one(void **unused)
{
    (void)unused;
    static const char scene[] =
        "time: {h: 1/200, end: 1}\nintegrator: {type: a-search, by_body: true}\nsolver: {tol: "
        "1e-10}\ncontact: {type: penalty, kappa: 2000}\nobstacles:\n  - {type: box, formula: "
        "false, "
        "size: [1, 0.2, 1], cells: [1, 1, 1], transform: {translate: [0, -0.16, "
        "0]}}\nbodies:\n" CUBE("falls", "    velocity: {linear: [0, -1, 0]}\n")
            CUBE("far", "    transform: {translate: [3, 0, 0]}\n");
    check_balance("pushed by a mesh", follow(parse("%s", scene), 40, 0.5));
    BrioSim *sim = parse("%s", scene);
    BrioBodyBooks now[2];
    double pushed = 0;
    for (int k = 0; k < 40; k++) {
        step(sim, 1);
        BrioLedger l = ledger(sim);
        brio__by_body_books(sim->stepper, sim->state, now);
        pushed = brio__larger(pushed, l.contact);
        /* TOLERANCE 1e-12 J: round-off of half a joule; the other falls freely, and keeps its
         * energy, zero */
        assert_true(fabs(now[0].energy - l.total) < 1e-12);
        assert_true(fabs(now[1].energy) < 1e-12);
        assert_true(fabs(now[1].passed) < 1e-12);
    }
    print_message("contact has up to %.3f J\n", pushed);
    assert_true(pushed > 0.1);
    brio_sim_free(sim);
}

/* Velocities that are set between steps belong to their body: the targets of all add up to the
 * ledger's, whose jump is the energy that was set, and the next steps go on from there. */
static void set_from_outside(void **unused)
{
    (void)unused;
    BrioSim *sim = parse(meeting, 0.0);
    double v[3 * 27];
    BrioBodyBooks now[2];
    step(sim, 10);
    double before = ledger(sim).total;
    for (int i = 0; i < 27; i++) v[3 * i] = 0, v[3 * i + 1] = 2, v[3 * i + 2] = 0;
    assert_int_equal(brio_sim_set_velocities(sim, 1, v, NULL), BRIO_OK);
    BrioLedger set = ledger(sim);
    assert_true(set.total > before + 1);
    for (int k = 0; k < 20; k++) {
        step(sim, 1);
        BrioLedger l = ledger(sim);
        brio__by_body_books(sim->stepper, sim->state, now);
        /* TOLERANCE 1e-10: as the balance that is claimed */
        assert_true(fabs(now[0].target + now[1].target - l.target) < 1e-10);
        assert_true(fabs(now[0].energy + now[1].energy - l.total) < 1e-10);
    }
    brio_sim_free(sim);
}

/* The same bits from a copy of the state in the middle, as --resume has it. */
static void resumed(void **state)
{
    (void)state;
    BrioSim *sim = parse(meeting, 0.3);
    BrioBodyBooks books[2][2];
    BrioState *middle = NULL;
    for (int k = 0; k < 2; k++) {
        if (k)
            brio_state_assign(sim->state, middle);
        else
            step(sim, 10);
        if (!k) assert_int_equal(brio_state_copy(sim->state, &middle, NULL), BRIO_OK);
        step(sim, 10);
        brio__by_body_books(sim->stepper, sim->state, books[k]);
    }
    assert_memory_equal(books[0], books[1], sizeof books[0]);
    brio_state_free(middle);
    brio_sim_free(sim);
}

static void refused(BrioSim *sim, const char *reason)
{
    assert_int_not_equal(brio_sim_step(sim, NULL), BRIO_OK);
    if (!strstr(brio_sim_reason(sim), reason)) fail_msg("%s", brio_sim_reason(sim));
    brio_sim_free(sim);
}

/* Two cubes that fall freely, one of them thrown: nothing can change their energies beyond
 * round-off, so no alpha is a root of it. */
static void flight_has_alpha_1(void **unused)
{
    (void)unused;
    BrioSim *sim = parse(
        "time: {h: 1/60, end: 1}\ngravity: [0, -9.8, 0]\nintegrator: {type: a-search, by_body: "
        "true}\nbodies:\n"
        "  - shape: {type: box, size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}\n"
        "    material: {type: neo-hookean, E: 1e5, nu: 0.3, rho: 1000}\n"
        "    velocity: {linear: [1, 2, 0.3]}\n"
        "  - shape: {type: box, size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}\n"
        "    material: {type: neo-hookean, E: 1e5, nu: 0.3, rho: 1000}\n"
        "    transform: {translate: [1, 0, 0]}\n");
    for (int k = 0; k < 30; k++) {
        BrioBodyBooks now[BODIES];
        step(sim, 1);
        assert_int_equal(brio__by_body_count(sim->stepper), 2);
        brio__by_body_books(sim->stepper, sim->state, now);
        for (int c = 0; c < 2; c++) assert_true(now[c].alpha == 1);
    }
    brio_sim_free(sim);
}

static void refusals(void **state)
{
    (void)state;
    static const char head[] = "integrator: {type: a-search, by_body: true%s}\n%sbodies:\n%s%s%s";
    static const char one[] = CUBE("one", "    decay: 1\n");
    static const char two[] =
        CUBE("two", "    transform: {translate: [0.3, 0, 0]}\n    decay: 2\n");
    BrioSim *sim = NULL;
    BrioError error = {0};
    char text[4096];
    snprintf(text, sizeof text, head, ", sparse: true", "", one, "", "");
    assert_int_equal(brio_sim_parse(text, strlen(text), "test", &sim, &error), BRIO_ERROR_INPUT);
    assert_non_null(strstr(error.message, "remove sparse or by_body"));
    refused(
        parse(head, "", "", one, two,
              "constraints:\n  - {type: rod, a: {body: one, vertex: 26}, b: {body: two, vertex: "
              "0}}\n"),
        "give both the same decay");
}

/* An integrator whose history has no room for the books by body is told so, and one with more room
 * than they need is fine. */
static void room_for_the_books(void **state)
{
    (void)state;
    static BrioIntegrator own[2];
    static const char *const names[] = {"search-with-little-room", "search-with-much-room"};
    for (int k = 0; k < 2; k++) {
        own[k] = *brio_integrator("a-search");
        own[k].name = names[k];
        own[k].history += k ? 1 : -1;
        assert_int_equal(brio_register_integrator(&own[k], NULL), BRIO_OK);
        BrioSim *sim =
            parse("integrator: {type: %s, by_body: true}\nbodies:\n" CUBE("one", ""), names[k]);
        assert_int_equal(brio_sim_step(sim, NULL), k ? BRIO_OK : BRIO_ERROR_ARGUMENT);
        if (!k) assert_non_null(strstr(brio_sim_reason(sim), "room in the history"));
        brio_sim_free(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(through_contacts),   cmocka_unit_test(kinds_of_bodies),
        cmocka_unit_test(nobody_pays),        cmocka_unit_test(decay_by_body),
        cmocka_unit_test(flight_has_alpha_1), cmocka_unit_test(resumed),
        cmocka_unit_test(refusals),           cmocka_unit_test(settled_grounds),
        cmocka_unit_test(set_from_outside),   cmocka_unit_test(additions_have_an_owner),
        cmocka_unit_test(meshes_push_one),    cmocka_unit_test(room_for_the_books),
    };
    return cmocka_run_group_tests_name("by body", tests, NULL, NULL);
}
