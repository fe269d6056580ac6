/* Friction against what mechanics says: inclines, stopping ways, belts and pistons; the books of
 * what it takes; momenta of bodies that rub. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simulate.h"

#include <math.h>

#define G 9.8
#define EPSV 1e-3

/* A block of each kind of body, lying: half its height and its mass. What this brio does not know
 * is left out and counted. */
typedef struct Kind {
    const char *name, *body;
    double half, mass;
} Kind;
static const Kind kinds[] = {
    {"solid",
     "shape: {type: box, size: [0.2, 0.1, 0.2], cells: [2, 1, 2]}, material: {type: neo-hookean, "
     "E: 1e7, nu: 0.3, rho: 1000}",
     0.05, 4},
    {"affine",
     "shape: {type: box, size: [0.2, 0.1, 0.2], cells: [2, 1, 2]}, kind: affine, material: {type: "
     "neo-hookean, E: 1e7, nu: 0.3, rho: 1000}",
     0.05, 4},
    {"shell",
     "shape: {type: grid, width: 0.2, depth: 0.2, cells_x: 2, cells_z: 2}, kind: shell, material: "
     "{type: membrane-neo-hookean, E: 1e7, nu: 0.3, rho: 1000, thickness: 0.01}",
     0, 0.4},
};
static const char *const floors[] = {"{type: plane, name: floor, normal: [0, 1, 0]}",
                                     "{type: box, name: floor, size: [8, 1, 2], cells: [4, 1, 1], "
                                     "transform: {translate: [2, -0.5, 0]}}"};
static const char *const floor_names[] = {"plane", "box"};

static bool known(const Kind *kind)
{
    char text[1024];
    BrioSim *sim = NULL;
    int length = snprintf(text, sizeof text, "bodies:\n  - {%s}\n", kind->body);
    bool fine = brio_sim_parse(text, (size_t)length, "kind", &sim, NULL) == BRIO_OK;
    brio_sim_free(sim);
    return fine;
}

typedef struct Setup {
    const Kind *kind;
    const char *floor, *integrator;
    double h, theta, mu, speed;
} Setup;

/* Gives a body, at rest until now, a speed along x. */
static void push(BrioSim *sim, double speed)
{
    static double v[3 * 64];
    brio_sim_velocities(sim, 0, v);
    for (int i = 0; i < 64; i++) v[3 * i] += speed;
    assert_int_equal(brio_sim_set_velocities(sim, 0, v, NULL), BRIO_OK);
}

/* On a floor that gravity meets at an angle, x pointing down; at rest on the barrier for speeds
 * other than none: the normal force of the first step is that of its start, whatever the barrier
 * did there. */
static BrioSim *block(const Setup *s)
{
    BrioSim *sim = parse("time: {h: %.17g}\ngravity: [%.17g, %.17g, 0]\nintegrator: %s\ncontact: "
                         "{type: ipc, dhat: 1e-3, kappa: 1e5, mu: %g, epsv: %g}\nobstacles: [%s]\n"
                         "bodies:\n  - {name: block, %s, transform: {translate: [0, %.17g, 0]}}\n",
                         s->h, G * sin(s->theta), -G * cos(s->theta), s->integrator, s->mu, EPSV,
                         s->floor, s->kind->body, s->kind->half + 0.9e-3);
    if (s->speed != 0) {
        step(sim, (int)(0.3 / s->h));
        push(sim, s->speed);
    }
    return sim;
}

static void for_each_kind(void (*check)(const Kind *kind))
{
    int skipped = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (known(&kinds[k]))
            check(&kinds[k]);
        else
            skipped++;
    print_message("%d kinds of bodies skipped: brio does not know them\n", skipped);
}

/* ---- inclines and stopping ways --------------------------------------------------------- */

/* TOLERANCE 2 % of the acceleration: the lagged normal force follows that of a block that comes to
 * rest on the barrier. */
static void incline(const Kind *kind)
{
    const double theta = 20 * M_PI / 180;
    for (int f = 0; f < 2; f++)
        for (int slides = 0; slides < 2; slides++) {
            Setup s = {.kind = kind,
                       .floor = floors[f],
                       .integrator = "backward-euler",
                       .h = 1.0 / 240,
                       .theta = theta,
                       .mu = slides ? 0.2 : 0.45};
            BrioSim *sim = block(&s);
            step(sim, 60);
            BrioLedger first = ledger(sim);
            step(sim, 120);
            BrioLedger last = ledger(sim);
            double a = (last.momentum[0] - first.momentum[0]) / kind->mass / 0.5;
            double creep = last.momentum[0] / kind->mass;
            double expected = G * (sin(theta) - s.mu * cos(theta));
            assert_true(last.min_distance > 0 && last.contacts > 0);
            if (slides) {
                print_message("%s on a %s, mu %g < tan %.3f: acceleration %.4f m/s2, expected %.4f "
                              "(%+.2f %%)\n",
                              kind->name, floor_names[f], s.mu, tan(theta), a, expected,
                              100 * (a / expected - 1));
                assert_true(fabs(a / expected - 1) < 0.02);
            } else {
                print_message("%s on a %s, mu %g > tan %.3f: creeps with %.3g m/s, epsv %g\n",
                              kind->name, floor_names[f], s.mu, tan(theta), creep, EPSV);
                assert_true(creep < EPSV && creep > 0 &&
                            last.centre[0] - first.centre[0] < 0.5 * EPSV);
            }
            brio_sim_free(sim);
        }
}
static void test_incline(void **state)
{
    (void)state;
    for_each_kind(incline);
}

/* TOLERANCES: 3 % of v^2/(2 mu g) at 1/240 s, 10 % at 1/30 s, where the last step alone is 7 % of
 * the time. */
static void stopping(const Kind *kind)
{
    static const double steps[] = {1.0 / 240, 1.0 / 30}, tolerance[] = {0.03, 0.1};
    for (int f = 0; f < 2; f++)
        for (int k = 0; k < 2; k++) {
            Setup s = {.kind = kind,
                       .floor = floors[f],
                       .integrator = "backward-euler",
                       .h = steps[k],
                       .mu = 0.2,
                       .speed = 2};
            BrioSim *sim = block(&s);
            BrioLedger first = ledger(sim), l = first;
            double begun = first.friction;
            double taken = begun;
            double min = INFINITY;
            double way;
            double expected = s.speed * s.speed / (2 * s.mu * G);
            while (l.time < first.time + 1.5 && l.momentum[0] > 2 * EPSV * kind->mass) {
                step(sim, 1);
                l = ledger(sim);
                min = fmin(min, l.friction - taken);
                taken = l.friction;
            }
            way = l.centre[0] - first.centre[0];
            l.friction -= begun;
            double work = s.mu * kind->mass * G * way;
            print_message("%s on a %s, h 1/%g s: stops after %.4f m, expected %.4f (%+.2f %%); "
                          "friction took %.4f J, mu m g way %.4f J (%+.2f %%)\n",
                          kind->name, floor_names[f], 1 / s.h, way, expected,
                          100 * (way / expected - 1), l.friction, work,
                          100 * (l.friction / work - 1));
            assert_true(fabs(way / expected - 1) < tolerance[k]);
            /* the same figures: what is lost at the start and the end */
            assert_true(fabs(l.friction / work - 1) < tolerance[k]);
            assert_true(min >= 0 && l.dissipated == taken);
            brio_sim_free(sim);
        }
}
static void test_stopping(void **state)
{
    (void)state;
    for_each_kind(stopping);
}

/* ---- the books -------------------------------------------------------------------------- */

/* a-search's target falls by what friction takes, and the total is there whenever alpha has room;
 * below it otherwise. */
static void energy_controlled(void **state)
{
    (void)state;
    Setup s = {.kind = &kinds[0],
               .floor = floors[1],
               .integrator = "a-search",
               .h = 1.0 / 120,
               .mu = 0.2,
               .speed = 2};
    BrioSim *sim = block(&s);
    BrioLedger first = ledger(sim), l = first;
    step(sim, 1);
    BrioLedger second = ledger(sim);
    double met = 0;
    double above = -INFINITY;
    double off_target = 0;
    double min = INFINITY;
    double taken = second.friction;
    double all = second.target + second.dissipated;
    int clamped = 0;
    for (int n = 0; n < 100; n++) {
        step(sim, 1);
        l = ledger(sim);
        bool free = l.alpha > 0 && l.alpha < 1.1;
        clamped += !free;
        if (free) met = brio__larger(met, fabs(l.total - l.target));
        above = brio__larger(above, l.total - l.target);
        off_target = brio__larger(off_target, fabs(l.target + l.dissipated - all));
        min = fmin(min, l.friction - taken);
        taken = l.friction;
    }
    print_message(
        "a-search: friction took %.4f of %.4f J; target + dissipated off by %.2g J; total off the "
        "target by %.2g J where alpha has room, at most %.2g J above it, %d of 100 steps "
        "without room; least booked in a step %.2g J\n",
        l.friction, first.kinetic, off_target, met, above, clamped, min);
    assert_true(l.friction - first.friction > 0.7 * first.kinetic);
    /* above: alpha = 0 takes no more */
    assert_true(off_target < 1e-9 * first.kinetic && met < 1e-9 * first.kinetic &&
                above < 1e-3 * first.kinetic && clamped < 100 && min >= 0);
    brio_sim_free(sim);
}

/* ---- pairs ------------------------------------------------------------------------------ */

static void of_single_pairs(void **state)
{
    (void)state;
    static const struct {
        const char *what, *friction;
        double mu[2];
    } rows[] = {
        {"by bodies",
         "[{between: [a, floor], mu: 0.1}, {between: [floor, b], mu: 0.3}]",
         {0.1, 0.3}},
        {"by materials", "[{between: [rubber, floor], mu: 0.4}]", {0.2, 0.4}},
        {"later ones win",
         "[{between: [a, floor], mu: 0.9}, {between: [steel, floor], mu: 0.05}]",
         {0.05, 0.2}},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (int f = 0; f < 2; f++) {
            BrioSim *sim = parse("time: {h: 1/240}\ngravity: [0, -9.8, 0]\ncontact: {type: ipc, "
                                 "mu: 0.2, friction: %s}\nobstacles: [%s]\nmaterials:\n"
                                 "  steel: {type: neo-hookean, E: 1e7, rho: 1000}\n  rubber: "
                                 "{type: neo-hookean, E: 1e7, rho: 1000}\nbodies:\n"
                                 "  - {name: a, shape: {type: box, size: [0.2, 0.1, 0.2], cells: "
                                 "[2, 1, 2]}, material: steel, transform: {translate: [0, 0.0509, "
                                 "0.3]}, velocity: {linear: [2, 0, 0]}}\n"
                                 "  - {name: b, shape: {type: box, size: [0.2, 0.1, 0.2], cells: "
                                 "[2, 1, 2]}, material: rubber, transform: {translate: [0, 0.0509, "
                                 "-0.3]}, velocity: {linear: [2, 0, 0]}}\n",
                                 rows[k].friction, floors[f]);
            double p[2][2];
            for (int end = 0; end < 2; end++) {
                step(sim, end ? 60 : 30);
                /* all vertices move alike: the mean is the body's speed */
                for (int b = 0; b < 2; b++) {
                    double v[3 * 27];
                    brio_sim_velocities(sim, b, v);
                    p[end][b] = 0;
                    for (int i = 0; i < 18; i++) p[end][b] += v[3 * i] / 18;
                }
            }
            for (int b = 0; b < 2; b++) {
                double a = (p[0][b] - p[1][b]) / 0.25, expected = rows[k].mu[b] * G;
                print_message("%s, %s floor, body %c: slows by %.4f m/s2, expected %.4f\n",
                              rows[k].what, floor_names[f], 'a' + b, a, expected);
                assert_true(fabs(a / expected - 1) < 0.02);
            }
            brio_sim_free(sim);
        }
}

static void excluded(void **state)
{
    (void)state;
    for (int f = 0; f < 2; f++) {
        BrioSim *sim =
            parse("time: {h: 1/60}\ngravity: [0, -9.8, 0]\ncontact: {type: ipc, dhat: 1e-3, mu: "
                  "0.2, exclude: "
                  "[[ghost, floor], [ghost, wall]]}\nobstacles:\n  - %s\n"
                  "  - {type: plane, name: wall, point: [0, -2, 0], normal: [0, 1, 0]}\nbodies:\n"
                  "  - {name: ghost, shape: {type: box, size: [0.2, 0.1, 0.2], cells: [2, 1, 2]}, "
                  "material: {type: neo-hookean}, transform: {translate: [0, 0.06, 0.3]}}\n"
                  "  - {name: body, shape: {type: box, size: [0.2, 0.1, 0.2], cells: [2, 1, 2]}, "
                  "material: {type: neo-hookean}, transform: {translate: [0, 0.06, -0.3]}}\n",
                  floors[f]);
        step(sim, 60);
        double x[3 * 27];
        double fallen = 0.06 - 0.5 * G * (1 + 1.0 / 60);
        double lowest[2] = {INFINITY, INFINITY};
        for (int b = 0; b < 2; b++) {
            brio_sim_positions(sim, b, x);
            for (int i = 0; i < 18; i++) lowest[b] = fmin(lowest[b], x[3 * i + 1]);
        }
        print_message("%s floor: the excluded body falls to %.4f m (free fall %.4f), the other "
                      "lies at %.4g m\n",
                      floor_names[f], lowest[0], fallen - 0.05, lowest[1]);
        assert_true(fabs(lowest[0] - (fallen - 0.05)) < 1e-6);
        assert_true(lowest[1] > 0 && lowest[1] < 1e-3);
        brio_sim_free(sim);
    }
}

/* ---- momentum --------------------------------------------------------------------------- */

/* TOLERANCE 1e-9 of sum m |v|: steps end when Newton's are below 1e-10 m/s. */
static void momentum(void **state)
{
    (void)state;
    static const char *const integrators[] = {"backward-euler", "bdf2", "a-search"};
    for (int rub = 0; rub < 2; rub++)
        for (size_t i = 0; i < sizeof integrators / sizeof *integrators; i++) {
            BrioSim *sim = parse("time: {h: 1/120}\ngravity: [0, 0, 0]\nintegrator: %s\nsolver: "
                                 "{tol: 1e-10}\ncontact: {type: ipc, mu: %g}\nbodies:\n"
                                 "  - {name: a, shape: {type: box, size: [0.4, 0.1, 0.4], cells: "
                                 "[2, 1, 2]}, material: {type: neo-hookean, E: 1e6, rho: 1000}}\n"
                                 "  - {name: b, shape: {type: box, size: [0.2, 0.1, 0.2], cells: "
                                 "[2, 1, 2]}, material: {type: neo-hookean, E: 1e6, rho: 1000}, "
                                 "transform: {rotate: [[1, 2, 3], 10], translate: [-0.1, 0.15, "
                                 "0.02]}, velocity: {linear: [1, -1, 0.3]}}\n",
                                 integrators[i], rub ? 0.4 : 0.0);
            BrioLedger first = ledger(sim), l = first;
            double scale = sqrt(2 * first.kinetic * 4), worst = 0, exchanged = 0;
            int touched = 0;
            for (int n = 0; n < 40; n++) {
                step(sim, 1);
                l = ledger(sim);
                touched += l.contacts > 0;
                for (int r = 0; r < 3; r++)
                    worst = brio__larger(worst, fabs(l.momentum[r] - first.momentum[r]));
            }
            double v[3 * 18];
            brio_sim_velocities(sim, 0, v);
            for (int k = 0; k < 18; k++) exchanged = brio__larger(exchanged, fabs(v[3 * k + 1]));
            print_message("%s, %s: momentum off by %.2g of it after %d steps in contact; the body "
                          "hit moves with up to %.2f m/s; friction took %.3g J\n",
                          integrators[i], rub ? "rubbing" : "without friction", worst / scale,
                          touched, exchanged, l.friction);
            assert_true(touched > 0 && exchanged > 0.05 && worst < 1e-9 * scale);
            assert_true(rub ? l.friction > 0 : l.friction == 0);
            brio_sim_free(sim);
        }
}

/* ---- moving obstacles ------------------------------------------------------------------- */

/* A belt of speed v brings a block along. While it slips, the drive gives m v^2, half of which
 * friction takes. TOLERANCES: 3 % of that for the steps in which it comes to rest on the belt; what
 * the books leave open, 1 % of it. */
static void belt(const Kind *kind)
{
    BrioSim *sim =
        parse("time: {h: 1/480}\ngravity: [0, -9.8, 0]\ncontact: {type: ipc, mu: 0.5}\nobstacles:\n"
              "  - {type: box, name: belt, size: [4, 0.5, 1], cells: [2, 1, 1], transform: "
              "{translate: [0, -0.25, 0]}, script: {velocity: [1, 0, 0], start: 0.25}}\n"
              "bodies:\n  - {name: block, %s, transform: {translate: [0, %.17g, 0]}}\n",
              kind->body, kind->half + 0.9e-3);
    step(sim, 120);
    BrioLedger first = ledger(sim), l = first;
    double min = INFINITY, taken = first.friction, m = kind->mass;
    for (int n = 0; n < 240; n++) {
        step(sim, 1);
        l = ledger(sim);
        min = fmin(min, l.friction - taken);
        taken = l.friction;
    }
    l.added -= first.added;
    l.friction -= first.friction;
    l.remainder -= first.remainder;
    print_message(
        "%s on a belt of 1 m/s: %.5f m/s after 0.5 s; added %.4f J (m v^2 = %.4f), friction took "
        "%.4f J; change of total %.4f J, remainder %.2g J; least booked in a step %.2g J\n",
        kind->name, l.momentum[0] / m, l.added, m, l.friction, l.total - first.total, l.remainder,
        min);
    assert_true(fabs(l.momentum[0] / m - 1) < EPSV);
    assert_true(fabs(l.added / m - 1) < 0.03 && fabs(l.friction / (m / 2) - 1) < 0.03);
    assert_true(fabs(l.remainder) < 0.01 * m && min >= 0);
    brio_sim_free(sim);
}
static void test_belt(void **state)
{
    (void)state;
    for_each_kind(belt);
}

/* A piston that goes 5 cm a step, farther than the gap and half the block's length. What the books
 * leave open is what backward Euler takes from the blow: never a gain, and less in short steps. */
static void piston(void **state)
{
    (void)state;
    double slower = 0;
    for (int fine = 0; fine < 2; fine++) {
        double h = fine ? 1.0 / 2000 : 0.01;
        BrioSim *sim = parse(
            "time: {h: %.17g}\ngravity: [0, 0, 0]\ncontact: {type: ipc, mu: 0.3}\nobstacles:\n"
            "  - {type: box, name: piston, size: [0.1, 1, 1], cells: [1, 1, 1], transform: "
            "{translate: [-0.2, 0, 0]}, script: {velocity: [5, 0, 0]}}\n"
            "bodies:\n  - {name: block, shape: {type: box, size: [0.1, 0.1, 0.1], cells: [2, 2, "
            "2]}, material: {type: neo-hookean, E: 1e5, rho: 1000}}\n",
            h);
        BrioLedger first = ledger(sim), l = first;
        double x[3 * 27], face = 0, nearest = INFINITY;
        for (int n = 0; n < (fine ? 400 : 20); n++) {
            step(sim, 1);
            l = ledger(sim);
            face = -0.15 + 5 * l.time;
            brio_sim_positions(sim, 0, x);
            for (int i = 0; i < 27; i++) nearest = fmin(nearest, x[3 * i] - face);
        }
        print_message("piston, h %g s: nearest vertex %.3g m in front of it, block at %.3f m/s; "
                      "added %.4f J, dissipated %.2g J, change of total %.4f J, remainder %.3f J\n",
                      h, nearest, l.momentum[0], l.added, l.dissipated, l.total - first.total,
                      l.remainder);
        assert_true(nearest > 0 && l.momentum[0] > 4.9);
        /* backward Euler takes from the blow, and less in shorter steps */
        assert_true(l.remainder < 0 && l.momentum[0] > slower);
        slower = l.momentum[0];
        brio_sim_free(sim);
    }
}

/* One linear solve per step supports barriers: a box dropped on an edge comes to rest on the floor
 * and never touches it. */
static void linearly_implicit(void **state)
{
    (void)state;
    BrioSim *sim = parse(
        "time: {h: 1/60}\nintegrator: linearly-implicit-euler\ncontact: {type: ipc}\nobstacles:\n"
        "  - {type: box, size: [4, 1, 4], cells: [2, 1, 2], transform: {translate: [0, -0.5, "
        "0]}}\nbodies:\n"
        "  - {shape: {type: box, size: [0.2, 0.1, 0.2], cells: [2, 1, 2]}, material: {type: "
        "neo-hookean, E: 1e6}, transform: {rotate: [[1, 0, 1], 20], translate: [0, 0.3, 0]}}\n");
    BrioLedger l = {0};
    double min = INFINITY;
    for (int n = 0; n < 150; n++) {
        step(sim, 1);
        l = ledger(sim);
        if (l.contacts) min = fmin(min, l.min_distance);
    }
    print_message("linearly-implicit-euler: rests at %.5f m with %.1e J of motion, %d contacts; "
                  "never nearer than %.2g m\n",
                  l.centre[1], l.kinetic, l.contacts, min);
    assert_true(min > 0 && l.contacts > 0 && l.kinetic < 1e-4 && fabs(l.centre[1] - 0.051) < 1e-3);
    brio_sim_free(sim);
}

/* Normal forces that are taken again within a step cost one iteration each. Two boxes that land on
 * each other and slide, eight steps. A single run takes 105 to 129 iterations, depending on the
 * last digits, so that sixteen are taken: about 1,845 iterations; about 2,090 if small changes wait
 * for the end of the minimisation, where one more iteration finds that it has converged. */
static void renewal(void **state)
{
    (void)state;
    int iterations = 0;
    for (int k = 0; k < 16; k++) {
        BrioSim *sim = parse(
            "time: {h: 1/60}\nintegrator: backward-euler\ncontact: {type: ipc, mu: 0.5}\n"
            "obstacles: [{type: plane, normal: [0, 1, 0]}]\nbodies:\n"
            "  - {shape: {type: box, size: [0.1, 0.2, 0.1], cells: [2, 4, 2]}, material: {type: "
            "neo-hookean, E: 1e5}, transform: {translate: [0, 0.102, 0]}, velocity: {linear: [1, "
            "0, 0]}}\n"
            "  - {shape: {type: box, size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}, material: {type: "
            "neo-hookean, E: 1e5}, transform: {translate: [0, %.17g, 0]}, velocity: {linear: [0, "
            "0, 0.5]}}\n",
            0.256 + 1e-5 * k);
        for (int n = 0; n < 8; n++) {
            step(sim, 1);
            iterations += ledger(sim).iterations;
        }
        brio_sim_free(sim);
    }
    print_message("two boxes that slide, 16 times 8 steps: %d iterations\n", iterations);
    assert_true(iterations > 16 * 8 && iterations < 1970);
}

/* What a failed step leaves in the vectors of the integrator, numbers that are none, does nothing
 * to friction: the same bits. */
static void nothing_left(void **unused)
{
    (void)unused;
    static const char scene[] =
        "time: {h: 1/60}\nintegrator: {type: a-search, by_body: true}\ncontact: {type: ipc, mu: "
        "0.5}\n"
        "obstacles: [{type: plane, normal: [0, 1, 0]}]\nbodies:\n"
        "  - {shape: {type: box, size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}, material: {type: "
        "neo-hookean, E: 1e5}, transform: {translate: [0, 0.0502, 0]}, velocity: {linear: [1, 0, "
        "0]}}\n";
    BrioSim *sim = parse("%s", scene), *other = parse("%s", scene);
    size_t count = (size_t)sim->state->coordinates;
    for (int n = 0; n < 10; n++) {
        for (int k = 0; k < BRIO_SCRATCH; k++) {
            double *left = brio_stepper_scratch(other->stepper, k);
            for (size_t i = 0; i < count; i++) left[i] = NAN;
        }
        step(sim, 1);
        step(other, 1);
        assert_memory_equal(sim->state->q, other->state->q, count * sizeof(double));
    }
    assert_true(ledger(sim).friction > 0 && ledger(sim).friction == ledger(other).friction);
    brio_sim_free(sim);
    brio_sim_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_incline),      cmocka_unit_test(test_stopping),
        cmocka_unit_test(energy_controlled), cmocka_unit_test(of_single_pairs),
        cmocka_unit_test(excluded),          cmocka_unit_test(momentum),
        cmocka_unit_test(test_belt),         cmocka_unit_test(piston),
        cmocka_unit_test(linearly_implicit), cmocka_unit_test(renewal),
        cmocka_unit_test(nothing_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
