/* Things of all kinds dropped on the floor and on each other, at random: no accepted state may have
 * an intersection, an inverted element or a vertex behind the floor, whatever the shapes,
 * stiffness, friction, step and speed. Judged by exact predicates. And none may have more energy
 * than `brio run` takes for the verdict exploded.
 *
 *     test_long_drops [--seed N] [--count N]      or BRIO_DROP_SEED, BRIO_DROP_COUNT
 *
 * A seed alone runs that scene and prints it; with a count, that many from this one on. What this
 * brio does not know yet (a shape, a kind, friction) is left out and counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "contact/exact.h"
#include "mesh/mesh.h"
#include "run/explosion.h"
#include "scene/scene.h"

static const char *const integrators[] = {"a-search", "bdf2", "backward-euler", "a-1"};
static const double steps[] = {1.0 / 30, 1.0 / 60, 1.0 / 120, 1.0 / 240};
static const double duration = 0.3; /* s */
/* of a scene; one that needs more is listed and left */
static const int64_t max_iterations = 20000;

static uint64_t first_seed;
static bool one_only;
static int scene_count = 200;

/* ---- what there is ---------------------------------------------------------------------- */

typedef struct Known {
    bool pairs, friction, box_obstacle, torus, shell, affine;
} Known;

static bool parses(const char *text)
{
    BrioScene *scene = NULL;
    bool fine = brio__scene_parse(text, strlen(text), "drop", &scene, NULL) == BRIO_OK;
    brio__scene_free(scene);
    return fine;
}

#define PLANE "obstacles: [{type: plane, point: [0, -2, 0], normal: [0, 1, 0]}]\n"
#define CUBE                                                                                 \
    "bodies:\n  - {shape: {type: box, size: [1, 1, 1], cells: [1, 1, 1]}, material: {type: " \
    "neo-hookean}}\n"

static Known look(void)
{
    return (Known){
        .pairs = parses("contact: {type: ipc}\n" CUBE),
        .friction = parses("contact: {type: ipc, mu: 0.3}\n" PLANE CUBE),
        .box_obstacle = parses("contact: {type: ipc}\nobstacles: [{type: box, size: [1, 1, 1], "
                               "transform: {translate: [0, -2, 0]}}]\n" CUBE),
        .torus = parses("bodies:\n  - {shape: {type: torus}, material: {type: neo-hookean}}\n"),
        .shell = parses("bodies:\n  - {shape: {type: grid}, kind: shell, material: {type: "
                        "membrane-neo-hookean, E: 1e5, thickness: 1e-3, rho: 500}}\n"),
        .affine = parses("bodies:\n  - {shape: {type: box}, kind: affine, material: {type: "
                         "corotated, E: 1e7, rho: 500}}\n")};
}

/* ---- the generator ---------------------------------------------------------------------- */

typedef struct Text {
    char text[8192];
    size_t used;
} Text;

static void put(Text *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(Text *to, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf(to->text + to->used, sizeof to->text - to->used, format, list);
    va_end(list);
    assert_true(length >= 0 && to->used + (size_t)length < sizeof to->text);
    to->used += (size_t)length;
}

static double between(BrioRandom *random, double low, double high)
{
    return low + (high - low) * brio__random(random);
}
static int one_of(BrioRandom *random, int count) { return (int)(brio__random(random) * count); }
static double power_between(BrioRandom *random, double low, double high)
{
    return pow(10, between(random, log10(low), log10(high)));
}

/* Radius about the origin of a shape as it is by default. */
static double shape_radius(const char *name)
{
    const BrioShape *shape = brio__shape(name);
    double values[BRIO_MAX_VALUES], radius = 0;
    BrioMesh *mesh = NULL;
    brio_fields_defaults(shape->fields, values);
    assert_int_equal(shape->make(values, &mesh, NULL), BRIO_OK);
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        radius = brio__larger(radius,
                              hypot(hypot(mesh->x[3 * v], mesh->x[3 * v + 1]), mesh->x[3 * v + 2]));
    brio_mesh_free(mesh);
    return radius;
}

enum { BOX, BALL, CYLINDER, TORUS, CLOTH, SHELL, AFFINE_BOX, AFFINE_BALL, KINDS };
static const char *const kind_names[KINDS] = {"box",   "ball",  "cylinder",   "torus",
                                              "cloth", "shell", "affine box", "affine ball"};

/* Writes shape, kind and material; returns the radius of a ball around the origin that holds it. */
static double put_shape(Text *to, BrioRandom *random, int kind)
{
    double E = power_between(random, 1e4, 1e8), nu = between(random, 0, 0.45);
    bool stable = one_of(random, 4) == 0;
    double radius = 0;
    if (kind == BOX || kind == AFFINE_BOX) {
        double size[3];
        for (int r = 0; r < 3; r++) size[r] = between(random, 0.1, 0.4);
        put(to, "shape: {type: box, size: [%.4f, %.4f, %.4f], cells: [%d, %d, %d]}", size[0],
            size[1], size[2], 1 + one_of(random, 3), 1 + one_of(random, 3), 1 + one_of(random, 3));
        radius = hypot(hypot(size[0], size[1]), size[2]) / 2;
    } else if (kind == BALL || kind == AFFINE_BALL) {
        radius = between(random, 0.08, 0.2);
        put(to, "shape: {type: ball, radius: %.4f, cells: 2}", radius);
    } else if (kind == CYLINDER) {
        double r = between(random, 0.06, 0.2), height = between(random, 0.05, 0.4);
        put(to, "shape: {type: cylinder, radius: %.4f, height: %.4f, rings: 2, cells: %d}", r,
            height, 1 + one_of(random, 4));
        radius = hypot(r, height / 2);
    } else if (kind == TORUS) {
        put(to, "shape: {type: torus}");
        radius = 0.25;
    } else {
        double width = between(random, 0.3, 0.7), depth = between(random, 0.3, 0.7);
        put(to, "shape: {type: grid, width: %.4f, depth: %.4f, cells_x: %d, cells_z: %d}", width,
            depth, 4 + one_of(random, 6), 4 + one_of(random, 6));
        radius = hypot(width, depth) / 2;
    }
    if (kind == CLOTH)
        put(to, ", kind: springs, material: {type: hooke, k: %.4g, vertex_mass: 1e-3}",
            power_between(random, 1e1, 1e4));
    else if (kind == SHELL)
        put(to,
            ", kind: shell, material: {type: membrane-neo-hookean, E: %.4g, thickness: %.4g, rho: "
            "500}",
            E, power_between(random, 1e-4, 1e-2));
    else if (kind == AFFINE_BOX || kind == AFFINE_BALL)
        put(to, ", kind: affine, material: {type: corotated, E: %.4g, rho: %.4g}", fmax(E, 1e6),
            power_between(random, 100, 5000));
    else
        put(to, ", material: {type: %s, E: %.4g, nu: %.3f, rho: %.4g}",
            stable ? "stable-neo-hookean" : "neo-hookean", E, nu, power_between(random, 100, 5000));
    return radius;
}

typedef struct Drop {
    Text text;
    int integrator, step, bodies, left_out, of_kind[KINDS];
    double speed; /* the largest of a body, m/s */
} Drop;

/* A column of bodies, each in a ball of its own, those above flying down faster. */
static void make_drop(uint64_t seed, const Known *known, Drop *drop)
{
    /* not splitmix64's own constant: that would only shift one sequence */
    BrioRandom random = {(seed + 1) * 0xd1342543de82ef95u};
    double torus = known->torus ? shape_radius("torus") : 0;
    double height = 0.02;
    double mu = one_of(&random, 3) ? between(&random, 0, 1) : 0;
    double fall = between(&random, 0, 14);
    *drop = (Drop){.integrator = (int)(seed % BRIO_COUNT(integrators)),
                   .step = one_of(&random, BRIO_COUNT(steps)),
                   .bodies = known->pairs ? 2 + one_of(&random, 4) : 1};
    bool on_box = one_of(&random, 2);
    put(&drop->text, "time: {h: %.17g, end: %g}\nintegrator: %s\nsolver: {tol: 0.01}\n",
        steps[drop->step], duration, integrators[drop->integrator]);
    put(&drop->text, "contact: {type: ipc, dhat: 1e-3, kappa: 1e5");
    if (known->friction && mu > 0) put(&drop->text, ", mu: %.3f, epsv: 1e-3", mu);
    put(&drop->text, "}\n");
    drop->left_out += (mu > 0 && !known->friction) + (on_box && !known->box_obstacle);
    if (on_box && known->box_obstacle)
        put(&drop->text, "obstacles: [{type: box, size: [12, 0.5, 12], cells: [1, 1, 1], "
                         "transform: {translate: [0, -0.25, 0]}}]\n");
    else
        put(&drop->text, "obstacles: [{type: plane, point: [0, 0, 0], normal: [0, 1, 0]}]\n");
    put(&drop->text, "bodies:\n");
    for (int b = 0; b < drop->bodies; b++) {
        int kind;
        for (;; drop->left_out++) { /* another one instead of what is not known */
            kind = one_of(&random, KINDS);
            if (!((kind == TORUS && !known->torus) || (kind == SHELL && !known->shell) ||
                  ((kind == AFFINE_BOX || kind == AFFINE_BALL) && !known->affine)))
                break;
        }
        drop->of_kind[kind]++;
        put(&drop->text, "  - {name: body%d, ", b);
        double radius = put_shape(&drop->text, &random, kind), axis[3], linear[3], angular[3];
        fall = fmin(fall + between(&random, 0, 6), 19);
        for (int r = 0; r < 3; r++) {
            axis[r] = between(&random, -1, 1);
            linear[r] = r == 1 ? -fall : between(&random, -4, 4);
            angular[r] = between(&random, -10, 10);
        }
        drop->speed = brio__larger(drop->speed, hypot(hypot(linear[0], linear[1]), linear[2]));
        put(&drop->text,
            ", transform: {scale: %.5f, rotate: [[%.3f, %.3f, %.3f], %.1f], translate: [%.4f, "
            "%.5f, %.4f]}",
            kind == TORUS ? radius / torus : 1, axis[0], axis[1], axis[2] + 1e-3,
            between(&random, 0, 360), between(&random, -0.1, 0.1), height + radius,
            between(&random, -0.1, 0.1));
        put(&drop->text, ", velocity: {linear: [%.3f, %.3f, %.3f], angular: [%.2f, %.2f, %.2f]}}\n",
            linear[0], linear[1], linear[2], angular[0], angular[1], angular[2]);
        height += 2 * radius + 0.01;
    }
}

/* ---- runs ------------------------------------------------------------------------------- */

typedef enum Verdict { FINE, REFUSED, STUCK, SLOW, EXPLODED, BROKEN, VERDICTS } Verdict;
static const char *const verdict_names[VERDICTS] = {"fine", "refused",  "stuck",
                                                    "slow", "exploded", "broken"};

typedef struct Outcome {
    Verdict verdict;
    char reason[700];
    BrioExactWatch watch;
    int64_t steps, iterations;
    int halvings; /* the deepest of each step, added up */
    double nearest;
} Outcome;

/* Judges the state after a step. */
static void judge(Outcome *outcome, const Known *known, BrioExplosion *explosion, BrioSim *sim,
                  const BrioLedger *ledger, int64_t left)
{
    const BrioExactWatch *w = &outcome->watch;
    char *reason = outcome->reason;
    size_t size = sizeof outcome->reason;
    if (outcome->iterations > max_iterations && left > 0) {
        outcome->verdict = SLOW;
        snprintf(reason, size, "%lld iterations in %lld steps, %lld are left",
                 (long long)outcome->iterations, (long long)outcome->steps, (long long)left);
    }
    if (brio__explosion_judge(explosion, sim, ledger, reason, size)) outcome->verdict = EXPLODED;
    /* where bodies do not feel each other they may pass through each other, and through
     * themselves */
    if (w->inverted || w->behind || w->not_finite || (known->pairs && w->intersections)) {
        outcome->verdict = BROKEN;
        snprintf(reason, size, "t = %.6g s: %s", w->time, w->reason);
    }
}

static void run_drop(const Drop *drop, const Known *known, Outcome *outcome)
{
    BrioScene *scene = NULL;
    BrioSim *sim = NULL;
    BrioError error = {0};
    BrioExplosion explosion;
    *outcome = (Outcome){.nearest = NAN};
    BrioExactWatch *w = &outcome->watch;
    BrioStatus status = brio__scene_parse(drop->text.text, drop->text.used, "drop", &scene, &error);
    if (status == BRIO_OK) status = brio__scene_sim(scene, &sim, &error);
    if (status == BRIO_OK) status = brio__exact_create(sim->system, &w->exact);
    if (status == BRIO_OK) status = brio__explosion_begin(&explosion, sim, duration);
    if (status != BRIO_OK) {
        outcome->verdict = REFUSED;
        brio_error_text(&error, outcome->reason, sizeof outcome->reason);
    }
    if (status == BRIO_OK) {
        sim->stepper->observe = brio__exact_watch;
        sim->stepper->observer = w;
        brio__exact_watch(w, sim->state);
    }
    for (int64_t n = 0, all = (int64_t)ceil(duration / steps[drop->step] - 1e-6);
         status == BRIO_OK && n < all && outcome->verdict == FINE; n++) {
        status = brio_sim_step(sim, NULL);
        if (status != BRIO_OK) {
            outcome->verdict = STUCK;
            snprintf(outcome->reason, sizeof outcome->reason, "step %lld: %s", (long long)n + 1,
                     brio_sim_reason(sim));
            break;
        }
        brio__exact_watch(w, sim->state);
        BrioLedger ledger;
        brio_sim_ledger(sim, &ledger);
        outcome->nearest = fmin(outcome->nearest, ledger.min_distance);
        outcome->steps = n + 1;
        outcome->iterations += sim->stepper->iterations;
        outcome->halvings += sim->stepper->halvings;
        if (one_only)
            printf("step %lld: %d iterations, %d times halved, %d contacts, distance %.3g m\n",
                   (long long)n + 1, sim->stepper->iterations, sim->stepper->halvings,
                   ledger.contacts, ledger.min_distance);
        judge(outcome, known, &explosion, sim, &ledger, all - n - 1);
    }
    brio__exact_free(w->exact);
    w->exact = NULL;
    brio_sim_free(sim);
    brio__scene_free(scene);
}

static void drops(void **state)
{
    (void)state;
    Known known = look();
    int count[VERDICTS] = {0}, left_out = 0, bodies = 0, of_kind[KINDS] = {0};
    int64_t states = 0, pairs = 0, all_steps = 0, all_iterations = 0, intersections = 0;
    double nearest = NAN, fastest = 0, checking = 0, start = brio__seconds();
    print_message("known to this brio: contact between bodies %d, friction %d, box obstacle %d, "
                  "torus %d, shell %d, affine %d\n",
                  known.pairs, known.friction, known.box_obstacle, known.torus, known.shell,
                  known.affine);
    if (!known.pairs)
        print_message("bodies do not feel each other: one in each scene, and intersections with "
                      "itself are counted and not judged\n");
    for (int i = 0; i < (one_only ? 1 : scene_count); i++) {
        static Drop drop;
        static Outcome outcome;
        uint64_t seed = first_seed + (uint64_t)i;
        clock_t began = clock();
        make_drop(seed, &known, &drop);
        if (one_only) fputs(drop.text.text, stdout);
        run_drop(&drop, &known, &outcome);
        count[outcome.verdict]++;
        left_out += drop.left_out;
        bodies += drop.bodies;
        for (int k = 0; k < KINDS; k++) of_kind[k] += drop.of_kind[k];
        states += outcome.watch.states;
        pairs += outcome.watch.pairs;
        intersections += outcome.watch.intersections;
        checking += outcome.watch.seconds;
        all_steps += outcome.steps;
        nearest = fmin(nearest, outcome.nearest);
        fastest = brio__larger(fastest, drop.speed);
        all_iterations += outcome.iterations;
        print_message("seed %-4llu %-8s %-14s h = 1/%-3.0f %3lld steps, %6lld iterations, %3d "
                      "halvings, %6.2f s  %s\n",
                      (unsigned long long)seed, verdict_names[outcome.verdict],
                      integrators[drop.integrator], 1 / steps[drop.step], (long long)outcome.steps,
                      (long long)outcome.iterations, outcome.halvings,
                      (double)(clock() - began) / CLOCKS_PER_SEC, outcome.reason);
    }
    print_message("%d scenes, %d bodies, up to %.1f m/s, in %.0f s; %d things left out because "
                  "this brio does not know them\n",
                  one_only ? 1 : scene_count, bodies, fastest, brio__seconds() - start, left_out);
    for (int k = 0; k < KINDS; k++)
        print_message("%s %d%s", kind_names[k], of_kind[k], k + 1 < KINDS ? ", " : "\n");
    print_message("%lld steps, %lld iterations, %lld accepted states, %lld pairs decided exactly "
                  "(%.1f s), %lld intersections; smallest distance %.3g m\n",
                  (long long)all_steps, (long long)all_iterations, (long long)states,
                  (long long)pairs, checking, (long long)intersections, nearest);
    for (int v = 0; v < VERDICTS; v++)
        print_message("%s %d%s", verdict_names[v], count[v], v + 1 < VERDICTS ? ", " : "\n");
    assert_int_equal(count[BROKEN], 0);
    assert_int_equal(count[REFUSED], 0);
    assert_int_equal(count[STUCK], 0);
    assert_int_equal(count[EXPLODED], 0);
}

int main(int argc, char **argv)
{
    const char *seed = getenv("BRIO_DROP_SEED"), *scenes = getenv("BRIO_DROP_COUNT");
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--seed")) seed = argv[i + 1];
        if (!strcmp(argv[i], "--count")) scenes = argv[i + 1];
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (seed) one_only = !scenes, first_seed = strtoull(seed, NULL, 10);
    if (scenes) scene_count = atoi(scenes);
    brio_set_threads(1); /* scenes are small */
    const struct CMUnitTest tests[] = {cmocka_unit_test(drops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
