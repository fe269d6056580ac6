/* Taking part in a simulation that runs: hands (their energy, where they hold, what they do under
 * every method, Woodbury's formula, no trace after they let go), attachments, materials, damping
 * and integrators changed between steps, what is rejected, and a thousand random operations whose
 * energies must add up. */
#include "potential/hands.h"
#include "run/checkpoint.h"
#include "sim/sim.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include "dense.h"
#include "memory.h"
#include "simulate.h"

#define NET                                                                                       \
    "  - {name: net, shape: {type: grid, width: 1, depth: 1, cells_x: 6, cells_z: 6}, material: " \
    "{type: hooke, k: 100, vertex_mass: 0.02}}\n"
#define PINNED                                                                                    \
    "  - {name: net, shape: {type: grid, width: 1, depth: 1, cells_x: 6, cells_z: 6}, material: " \
    "{type: hooke, k: 100, vertex_mass: 0.02}, fix: [{vertices: [0, 6]}]}\n"
#define SQUARES                                                                               \
    "  - {name: net, shape: {type: grid, width: 1, depth: 1, cells_x: 6, cells_z: 6, shear: " \
    "false}, material: {type: hooke, k: 100, vertex_mass: 0.02}}\n"
#define JELLY                                                                                   \
    "  - {name: jelly, shape: {type: box, size: [0.4, 0.2, 0.2], cells: [4, 2, 2]}, material: " \
    "{type: stable-neo-hookean, E: 2e4, rho: 500}}\n"
#define STONE                                                                               \
    "  - {name: stone, shape: {type: box, size: [0.2, 0.2, 0.2], cells: [2, 2, 2]}, kind: " \
    "affine, material: {type: affine, E: 1e5, rho: 500}, transform: {translate: [0, 1, 0]}}\n"
#define CHAIN                                                                                      \
    "  - {name: chain, shape: {type: line, length: 1, cells: 5}, kind: springs, material: {type: " \
    "hooke, k: 100, vertex_mass: 0.02}, transform: {translate: [0, -1, 0]}}\n"

static int grab(BrioSim *sim, int body, double x, double y, double z, double k)
{
    int hand;
    if (brio_sim_grab(sim, body, (double[3]){x, y, z}, k, &hand, NULL) != BRIO_OK)
        fail_msg("%s", brio_sim_reason(sim));
    return hand;
}

static void drag(BrioSim *sim, int hand, double x, double y, double z)
{
    if (brio_sim_drag(sim, hand, (double[3]){x, y, z}, NULL) != BRIO_OK)
        fail_msg("%s", brio_sim_reason(sim));
}

static double apart(const double *a, const double *b)
{
    return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

/* ---- the energy ------------------------------------------------------------------------- */

/* Slopes of what Taylor's polynomials leave over, with hands on everything: 2 for the gradient; for
 * that of the exact Hessian likewise, unless nothing but round-off is left (hands are quadratic).
 * TOLERANCE 0.1: the next term of the series at these steps. */
static void derivatives(void **unused)
{
    (void)unused;
    BrioSim *sim = parse(
        "time: {h: 1/100}\ngravity: [0, -9.8, 0]\nintegrator: backward-euler\nbodies:\n" PINNED
            JELLY STONE CHAIN);
    grab(sim, 0, 0.21, 0, 0.13, 300);
    grab(sim, 0, -0.5, 0, -0.45, 200); /* in a triangle with a fixed corner */
    grab(sim, 1, 0.2, 0.03, 0.04, 1000);
    grab(sim, 2, 0.03, 1.1, 0.05, 2000);
    grab(sim, 3, 0.6, -1, 0, 100);
    for (int h = 0; h < 5; h++) drag(sim, h, 0.3 * h, 0.5, 0.2);
    step(sim, 3);
    BrioStepper *s = sim->stepper;
    brio_state_assign(s->state, sim->state);
    int64_t n = sim->state->coordinates;
    double *g = calloc((size_t)n, sizeof *g);
    double *d = calloc((size_t)n, sizeof *d);
    double *q = calloc((size_t)n, sizeof *q);
    double *Kd = calloc((size_t)n, sizeof *Kd);
    double *gq = calloc((size_t)n, sizeof *gq);
    const double *q0 = sim->state->q;
    BrioRandom random = {5};
    for (int64_t i = 0; i < n; i++) d[i] = brio__random_normal(&random);
    double P = brio_stepper_potential(s, q0, 0, g), left[2][2];
    assert_int_equal(brio_stepper_linearise(s, q0, 0), BRIO_OK);
    brio_stepper_stiffness(s, d, Kd);
    for (int k = 0; k < 2; k++) {
        double e = k ? 5e-5 : 1e-4;
        for (int64_t i = 0; i < n; i++) q[i] = q0[i] + e * d[i];
        left[0][k] = fabs(brio_stepper_potential(s, q, 0, gq) - P - e * brio_stepper_dot(s, g, d));
        double sum = 0;
        for (int64_t i = 0; i < n; i++) sum += pow(gq[i] - g[i] - e * Kd[i], 2);
        left[1][k] = sqrt(sum);
    }
    double slope[2] = {log2(left[0][0] / left[0][1]), log2(left[1][0] / left[1][1])};
    BrioLedger l = ledger(sim);
    double hands = 0;
    for (int h = 0; h < 5; h++) {
        BrioHand hand;
        assert_int_equal(brio_sim_hand(sim, h, &hand), BRIO_OK);
        hands += hand.k / 2 * pow(apart(hand.grip, hand.point), 2);
    }
    print_message("slopes %.3f (gradient) and %.3f (Hessian); attachments of the ledger %.6f J, "
                  "hands %.6f J\n",
                  slope[0], slope[1], l.attachment, hands);
    assert_true(fabs(slope[0] - 2) < 0.1 && fabs(slope[1] - 2) < 0.1);
    assert_true(hands > 1 && fabs(l.attachment - hands) < 1e-12 * hands &&
                fabs(l.potential - l.elastic - l.gravity - l.attachment) < 1e-12 * hands);
    free(g), free(d), free(q), free(Kd), free(gq);
    brio_sim_free(sim);
}

/* ---- cages ------------------------------------------------------------------------------ */

#define PULLED                                                                                \
    "time: {h: 1/100}\nsolver: {tol: 1e-10}\ngravity: [0, -9.8, 0]\nbodies:\n"                \
    "  - {name: a, shape: {type: sphere, radius: 0.1, subdivisions: 2}, cage: 4, material: "  \
    "{type: stable-neo-hookean, E: 1e4, nu: 0.3, rho: 1000}, fix: [{box: [[-1, -1, -1], [1, " \
    "-0.05, 1]], script: {velocity: [0.5, 0, 0]}}]%s}\n"

/* The vertex that fixed nodes of its cage carry the most, while free ones carry it, too. */
static int64_t riding_vertex(const BrioSystem *s)
{
    int64_t best = -1;
    double most = 0;
    for (int64_t v = 0; v < s->body[0].count; v++) {
        int32_t node[4];
        double weight[4], sum = 0;
        if (s->map_start[v] == s->map_start[v + 1]) continue;
        int count = brio__system_carriers(s, (int32_t)v, node, weight);
        for (int k = 0; k < count; k++) sum += weight[k];
        if (sum > most) most = sum, best = v;
    }
    print_message("fixed nodes carry %.3f of vertex %lld\n", most, (long long)best);
    assert_true(most > 0.1);
    return best;
}

/* Where fixed nodes of a cage carry the grabbed vertex, too: the hand begins where that is, and
 * the script that moves these nodes works against it as against an attachment of that stiffness.
 * TOLERANCE 1e-9 J: that of the solver; 1e-15 m: round-off. */
static void caged(void **unused)
{
    (void)unused;
    BrioSim *first = parse(PULLED, "");
    int64_t vertex = riding_vertex(first->system);
    char attach[80];
    double *x = malloc(3 * (size_t)brio_body_vertices(first->system, 0) * sizeof *x);
    double *at = x + 3 * vertex;
    int hand;
    brio_sim_positions(first, 0, x);
    snprintf(attach, sizeof attach, ", attach: [{vertices: [%lld], k: 500}]", (long long)vertex);
    BrioSim *other = parse(PULLED, attach);
    BrioHand now;
    assert_int_equal(brio_sim_grab_vertex(first, 0, vertex, 500, &hand, NULL), BRIO_OK);
    assert_int_equal(brio_sim_hand(first, hand, &now), BRIO_OK);
    assert_true(apart(now.grip, at) < 1e-15 && apart(now.point, at) < 1e-15);
    step(first, 20);
    step(other, 20);
    BrioLedger a = ledger(first), b = ledger(other);
    print_message("the hand has %.6f J and the script brought %.6f J; attached %.6f and %.6f\n",
                  a.attachment, a.added, b.attachment, b.added);
    assert_true(a.attachment > 0.1 && fabs(a.attachment - b.attachment) < 1e-9);
    assert_true(fabs(a.added - b.added) < 1e-9 && fabs(a.remainder - b.remainder) < 1e-9);
    drag(first, hand, at[0], at[1] + 0.1, at[2]);
    assert_int_equal(brio_sim_release(first, hand, NULL), BRIO_OK);
    assert_true(fabs(ledger(first).remainder - a.remainder) < 1e-9);
    free(x);
    brio_sim_free(first);
    brio_sim_free(other);
}

/* ---- where they hold -------------------------------------------------------------------- */

static void places(void **unused)
{
    (void)unused;
    BrioSim *sim =
        parse("time: {h: 1/100}\nintegrator: backward-euler\nbodies:\n" PINNED JELLY CHAIN);
    double x[3 * 128], hit[3];
    BrioHand hand;
    int h;
    BrioRandom random = {7};
    /* rays from above and below meet the net where they cross it, unless the jelly is in front */
    for (int k = 0; k < 40; k++) {
        double u = brio__random(&random) - 0.5;
        double w = 0.1 + 0.4 * brio__random(&random);
        double up = k % 2 ? 1 : -1;
        double from[3] = {u + 0.3, 2 * up, w - 0.2}, along[3] = {-0.3 * 7, -2 * up * 7, 0.2 * 7};
        if (fabs(u) < 0.21 && w < 0.12) continue;
        assert_int_equal(brio_sim_grab_ray(sim, from, along, 10, &h, hit, NULL), BRIO_OK);
        assert_int_equal(h, 0);
        assert_int_equal(brio_sim_hand(sim, h, &hand), BRIO_OK);
        assert_int_equal(hand.body, fabs(hit[1]) > 1e-12);
        if (hand.body == 0)
            assert_true(apart(hit, (double[3]){u, 0, w}) < 1e-12 && apart(hand.grip, hit) < 1e-12 &&
                        apart(hand.point, hand.grip) == 0);
        assert_int_equal(brio_sim_release(sim, h, NULL), BRIO_OK);
    }
    assert_int_equal(brio_sim_grab_ray(sim, (double[3]){0.1, 1, 0.05}, (double[3]){0, -1, 0}, NAN,
                                       &h, hit, NULL),
                     BRIO_OK);
    assert_int_equal(brio_sim_hand(sim, h, &hand), BRIO_OK);
    assert_int_equal(hand.body, 1);
    /* 8 kg */
    assert_true(fabs(hit[1] - 0.1) < 1e-12 && fabs(hand.k - 4 * M_PI * M_PI * 25 * 8) < 1e-6);
    brio_sim_release(sim, h, NULL);
    /* the chain has no triangles: its vertex nearest to the ray, within an angle */
    assert_int_equal(brio_sim_grab_ray(sim, (double[3]){0.61, -1.02, 3}, (double[3]){0, 0, -1}, 10,
                                       &h, hit, NULL),
                     BRIO_OK);
    assert_int_equal(brio_sim_hand(sim, h, &hand), BRIO_OK);
    assert_true(hand.body == 2 && hand.vertex[0] == 3 && hand.vertex[1] == -1 &&
                apart(hit, (double[3]){0.6, -1, 0}) < 1e-12);
    brio_sim_release(sim, h, NULL);
    assert_int_equal(
        brio_sim_grab_ray(sim, (double[3]){5, 5, 5}, (double[3]){1, 1, 0}, 10, &h, hit, NULL),
        BRIO_OK);
    assert_int_equal(h, -1);
    /* nearest points: no point of the surface that chance finds is nearer, and chance comes close
     * to it */
    int64_t count;
    const int32_t *triangle = brio_body_triangles(brio_sim_system(sim), 1, &count);
    brio_sim_positions(sim, 1, x);
    double worst = 0;
    for (int k = 0; k < 30; k++) {
        double point[3], min = INFINITY;
        for (int r = 0; r < 3; r++) point[r] = 0.6 * (brio__random(&random) - 0.5);
        h = grab(sim, 1, point[0], point[1], point[2], 10);
        brio_sim_hand(sim, h, &hand);
        for (int n = 0; n < 20000; n++) {
            const int32_t *t = triangle + 3 * (int64_t)(brio__random(&random) * (double)count);
            double a = brio__random(&random), b = (1 - a) * brio__random(&random), y[3];
            for (int r = 0; r < 3; r++)
                y[r] = a * x[3 * t[0] + r] + b * x[3 * t[1] + r] + (1 - a - b) * x[3 * t[2] + r];
            min = fmin(min, apart(y, point));
        }
        assert_true(apart(hand.grip, point) <= min + 1e-12);
        worst = brio__larger(worst, min - apart(hand.grip, point));
        brio_sim_release(sim, h, NULL);
    }
    print_message("nearest of 20000 random points of the surface is farther by %.1e m at most\n",
                  worst);
    assert_true(worst < 0.02);
    /* next to a fixed vertex: weights of the others, whose sum is 1 */
    h = grab(sim, 0, -0.49, 0, -0.5, 10);
    brio_sim_hand(sim, h, &hand);
    double sum = hand.weight[0] + hand.weight[1] + hand.weight[2];
    for (int i = 0; i < 3; i++) assert_true(hand.vertex[i] != 0 && hand.vertex[i] != 6);
    assert_true(fabs(sum - 1) < 1e-15 && hand.vertex[2] == -1);
    brio_sim_free(sim);
}

/* ---- what they do ----------------------------------------------------------------------- */

/* Damped and dragged, a body comes to where the hand's spring bears its weight, whatever solves. */
static void follow(const char *what, const char *integrator, const char *more, const char *bodies,
                   double h, double mass, double k)
{
    BrioSim *sim = parse("time: {h: %g}\ngravity: [0, -2, 0]\nintegrator: %s\ndamping: [{type: "
                         "rayleigh, alpha: 8}]\n%sbodies:\n%s",
                         h, integrator, more, bodies);
    double to[3] = {0.4, 0.6, -0.3};
    BrioHand hand;
    int i = grab(sim, 0, 0.05, 0, 0.03, k);
    for (int n = 0; n < (int)(3 / h); n++) {
        double part = fmin(1, n * h / 0.5);
        if (part < 1 || n * h < 0.6)
            drag(sim, i, part * to[0] + (1 - part) * 0.05, part * to[1],
                 part * to[2] + (1 - part) * 0.03);
        if (brio_sim_step(sim, NULL) != BRIO_OK) fail_msg("%s: %s", what, brio_sim_reason(sim));
    }
    brio_sim_hand(sim, i, &hand);
    double sag = mass * 2 / k, wrong = apart(hand.grip, (double[3]){to[0], to[1] - sag, to[2]});
    BrioLedger l = ledger(sim);
    print_message("%-34s grip %.1e m from where weight leaves it, %.2f J put in, %.2f J taken by "
                  "damping, remainder %.1e J\n",
                  what, wrong, l.added, l.dissipated, l.remainder);
    assert_true(wrong < 0.01 && l.added > 0.2 * mass && l.dissipated > 0);
    brio_sim_free(sim);
}

static void dragging(void **unused)
{
    (void)unused;
    follow("springs, Newton", "backward-euler", "", NET, 1. / 60, 0.98, 500);
    follow("springs, pcg", "backward-euler", "solver: {linear: pcg}\n", NET, 1. / 60, 0.98, 500);
    follow("springs, local/global, a-search", "a-search", "solver: {type: local-global}\n", NET,
           1. / 60, 0.98, 500);
    follow("springs, local/global, blend", "blend", "solver: {type: local-global}\n", NET, 1. / 60,
           0.98, 500);
    follow("springs without diagonals, Newton", "bdf2", "", SQUARES, 1. / 60, 0.98, 5000);
    follow("springs, verlet", "verlet", "", NET, 1. / 1000, 0.98, 500);
    follow("tets, a-search", "a-search", "solver: {tol: 1e-4}\n", JELLY, 1. / 60, 8, 4000);
    follow("tets, local/global, a-search", "a-search", "solver: {type: local-global}\n", JELLY,
           1. / 60, 8, 4000);
    follow("tets, blend", "blend", "solver: {tol: 1e-4}\n", JELLY, 1. / 60, 8, 4000);
    follow("affine, generalized-alpha", "generalized-alpha", "",
           "  - {name: stone, shape: {type: box, size: [0.2, 0.2, 0.2], cells: [2, 2, 2]}, kind: "
           "affine, material: {type: affine, E: 1e5, rho: 500}}\n",
           1. / 60, 4, 2000);
}

/* Every integrator feels a hand as the finest one does. TOLERANCE 4 % of the way: methods of first
 * order err by h/t = 2 %. Position-based ones know no stiffness. */
static void every_integrator(void **unused)
{
    (void)unused;
    double reference = 0;
    for (int i = -1; i < 0 || brio_integrator_at(i); i++) {
        const char *name = i < 0 ? "rk4" : brio_integrator_at(i)->name;
        if (!strcmp(name, "static")) continue;
        BrioSim *sim = parse(
            "time: {h: %g}\ngravity: [0, 0, 0]\nintegrator: %s\nbodies:\n" NET, i < 0 ? 1e-4 : 1e-3,
            strcmp(name, "runge-kutta") ? name : "{type: runge-kutta, A: [[1/2]], b: [1]}");
        int h = grab(sim, 0, 0.1, 0, 0.12, 50);
        double first = ledger(sim).centre[1];
        drag(sim, h, 0.1, 0.3, 0.12);
        step(sim, i < 0 ? 1000 : 100);
        BrioLedger l = ledger(sim);
        double way = l.centre[1] - first;
        if (i < 0) reference = way;
        bool pbd = !strcmp(name, "pbd-verlet");
        if (fabs(way / reference - 1) > 0.04 && !pbd)
            fail_msg("%s: the net came %.5f m, not %.5f m", name, way, reference);
        if (pbd) assert_true(way > 0.01);
        brio_sim_free(sim);
    }
    print_message("in 0.1 s a net of 0.98 kg is lifted by %.5f m by a hand of 50 N/m, 0.3 m above: "
                  "with every integrator to 4 %%\n",
                  reference);
    assert_true(reference > 0.01);
}

/* However firm a hand is, the matrix has all of its Hessian, also where triangles have sides
 * without springs: Newton takes a few iterations. */
static void firm(void **unused)
{
    (void)unused;
    BrioSim *sim = parse(
        "time: {h: 1/60}\ngravity: [0, -2, 0]\nintegrator: backward-euler\nbodies:\n" SQUARES);
    int max = 0, h = grab(sim, 0, 0.05, 0, 0.03, 1e6);
    BrioHand hand;
    assert_int_equal(brio_sim_hand(sim, h, &hand), BRIO_OK);
    assert_true(hand.vertex[1] >= 0 && hand.vertex[2] == -1); /* on a spring */
    for (int n = 0; n < 60; n++) {
        drag(sim, h, hand.grip[0], 0.01 * n, hand.grip[2]);
        step(sim, 1);
        max = BRIO_MAX(max, ledger(sim).iterations);
    }
    print_message("a hand of 1e6 N/m on a net without diagonals: %d iterations per step at most\n",
                  max);
    assert_true(max <= 8);
    brio_sim_free(sim);
}

/* A bar along x follows along x. */
static void along_x(void **unused)
{
    (void)unused;
    BrioSim *sim =
        parse("time: {h: 1/100}\ngravity: [0, 0, 0]\nintegrator: backward-euler\nbodies:\n"
              "  - {name: bar, kind: bar1d, shape: {type: line, length: 1, cells: 5}, material: "
              "{type: neo-hookean-1d, E: 100, rho: 1}}\n");
    BrioHand hand;
    int h;
    assert_int_equal(brio_sim_grab_vertex(sim, 0, 5, 50, &h, NULL), BRIO_OK);
    drag(sim, h, 2, 3, 4);
    step(sim, 100);
    brio_sim_hand(sim, h, &hand);
    assert_true(hand.grip[0] > 1.2 && hand.grip[1] == 0 && hand.grip[2] == 0 && hand.point[1] == 0);
    brio_sim_free(sim);
}

/* ---- solves ----------------------------------------------------------------------------- */

enum { DENSE = DENSE_MAX };

/* Woodbury's formula against elimination of the whole matrix, random graphs and hands, two of them
 * at one place. TOLERANCE 1e-10 relative: condition 1e5 times round-off. */
static void woodbury(void **unused)
{
    (void)unused;
    BrioSim *sim = parse("time: {h: 1/100}\nintegrator: backward-euler\nbodies:\n" PINNED STONE);
    const BrioSystem *s = sim->system;
    int n = s->block_count;
    assert_true(n <= DENSE);
    BrioRandom random = {3};
    static double A[DENSE * DENSE], B[DENSE * DENSE], diagonal[DENSE], off[DENSE * DENSE],
        b[3 * DENSE], x[3 * DENSE], scratch[3 * DENSE];
    static int64_t start[DENSE + 1];
    static int32_t neighbour[DENSE * DENSE];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            A[i * n + j] = A[j * n + i] = brio__random(&random) < 0.1 ? -brio__random(&random) : 0;
    for (int i = 0; i < n; i++) {
        double sum = 0.01;
        start[i + 1] = start[i];
        for (int j = 0; j < n; j++)
            if (j != i && A[i * n + j] != 0) {
                sum -= A[i * n + j];
                neighbour[start[i + 1]] = j;
                off[start[i + 1]++] = A[i * n + j];
            }
        A[i * n + i] = diagonal[i] = sum;
    }
    BrioScalarPattern *pattern;
    BrioScalarFactor *factor;
    assert_int_equal(brio__scalar_analyse(n, start, neighbour, &pattern), BRIO_OK);
    assert_int_equal(brio__scalar_factor_create(pattern, false, &factor), BRIO_OK);
    assert_int_equal(brio__scalar_factorise(factor, diagonal, off), BRIO_OK);
    static BrioHandColumns columns;
    static BrioHandSolve solve;
    double worst = 0, change = 0;
    for (int round = 0; round < 12; round++) {
        double scale = 0.01 * pow(2, round % 3), largest = 0;
        if (round < 9)
            grab(sim, round % 2, brio__random(&random) - 0.5, 0.8 * (round % 2),
                 brio__random(&random) - 0.5, pow(10, 4 * brio__random(&random)));
        if (round == 9) assert_int_equal(brio_sim_release(sim, 3, NULL), BRIO_OK);
        if (round == 10) { /* the same place again */
            BrioHand hand;
            brio_sim_hand(sim, 0, &hand);
            assert_int_equal(grab(sim, 0, hand.grip[0], hand.grip[1], hand.grip[2], 1e4), 3);
        }
        for (int h = 9; round == 11 && h < BRIO_MAX_HANDS; h++) /* all that there are */
            grab(sim, h % 2, brio__random(&random) - 0.5, 0.8 * (h % 2),
                 brio__random(&random) - 0.5, 1e3);
        assert_int_equal(
            brio__hand_solve_begin(&solve, &columns, s, sim->state, scale, factor, scratch),
            BRIO_OK);
        memcpy(B, A, (size_t)(n * n) * sizeof *B);
        for (int h = 0; h < BRIO_MAX_HANDS; h++) {
            if (sim->state->hand[h].k == 0) continue;
            BrioGripBlocks at;
            brio__grip_blocks(s, &sim->state->hand[h], &at);
            for (int i = 0; i < at.count; i++)
                for (int j = 0; j < at.count; j++)
                    B[at.block[i] * n + at.block[j]] +=
                        scale * sim->state->hand[h].k * at.weight[i] * at.weight[j];
        }
        for (int i = 0; i < 3 * n; i++) b[i] = x[i] = brio__random_normal(&random);
        dense_solve(n, B, x);
        brio__scalar_solve(factor, b, b);
        for (int i = 0; i < 3 * n; i++)
            change = brio__larger(change, fabs(b[i] - x[i])),
            largest = brio__larger(largest, fabs(x[i]));
        brio__hand_solve_correct(&solve, s, b);
        for (int i = 0; i < 3 * n; i++) worst = brio__larger(worst, fabs(b[i] - x[i]) / largest);
    }
    print_message("Woodbury's formula with up to %d hands: off the dense solve by %.1e of it "
                  "(without hands by %.2f)\n",
                  solve.count, worst, change);
    assert_true(worst < 1e-10 && change > 0.1 && solve.count == BRIO_MAX_HANDS);
    brio__hand_columns_free(&columns);
    brio__scalar_factor_free(factor);
    brio__scalar_pattern_free(pattern);
    brio_sim_free(sim);
}

/* Many iterations of local/global end where Newton does, hands held. TOLERANCE 1e-6 m: what 300
 * iterations leave. */
static void same_as_newton(void **unused)
{
    (void)unused;
    static const char *const bodies[] = {
        PINNED, "  - {name: jelly, shape: {type: box, size: [0.4, 0.2, 0.2], cells: [4, 2, 2]}, "
                "material: {type: arap, E: 2e4, rho: 500}}\n"};
    for (int i = 0; i < 2; i++) {
        double x[2][3 * 64], worst = 0, way = 0, first[3 * 64];
        for (int k = 0; k < 2; k++) {
            BrioSim *sim = parse("time: {h: 1/30}\ngravity: [0, -9.8, 0]\nintegrator: "
                                 "backward-euler\nsolver: {%s}\nbodies:\n%s",
                                 k ? "type: local-global, iterations: 300, memory: 8" : "tol: 1e-9",
                                 bodies[i]);
            int one = grab(sim, 0, 0.1, 0, 0.05, 3000), two = grab(sim, 0, -0.2, 0.01, 0.1, 500);
            brio_sim_positions(sim, 0, first);
            drag(sim, one, 0.15, 0.1, 0.05), drag(sim, two, -0.2, 0, 0.2);
            step(sim, 5);
            brio_sim_positions(sim, 0, x[k]);
            brio_sim_free(sim);
        }
        for (int n = 0; n < 3 * 45; n++)
            worst = brio__larger(worst, fabs(x[0][n] - x[1][n])),
            way = brio__larger(way, fabs(x[0][n] - first[n]));
        print_message(
            "local/global and Newton with two hands: %.1e m apart after five steps (%.2f m)\n",
            worst, way);
        assert_true(worst < 1e-6 && way > 0.05);
    }
}

/* Grabbing, dragging and letting go factor nothing; dragging and the steps allocate nothing once as
 * many hands have held; another stiffness factors once, in the same pattern. */
static void nothing_anew(void **unused)
{
    (void)unused;
    static Memory memory;
    memory_start(&memory, -1, false);
    BrioSim *sim = parse("time: {h: 1/30}\ngravity: [0, -9.8, 0]\nintegrator: a-search\nsolver: "
                         "{type: local-global}\nbodies:\n" PINNED);
    step(sim, 2);
    BrioSolver *solver = sim->stepper->solver;
    int64_t factors = solver->totals.factorisations;
    int a = grab(sim, 0, 0.1, 0, 0.2, 100), b = grab(sim, 0, -0.1, 0, 0.3, 100);
    step(sim, 1);
    int64_t calls = memory.calls;
    for (int n = 0; n < 50; n++) {
        drag(sim, a, 0.01 * n, 0.2, 0);
        if (n <= 20 || n > 30) drag(sim, b, 0, 0.01 * n, 0.3);
        step(sim, 1);
        if (n == 20) assert_int_equal(brio_sim_release(sim, b, NULL), BRIO_OK);
        if (n == 30) b = grab(sim, 0, 0.3, 0, 0.3, 20);
    }
    assert_int_equal(memory.calls, calls);
    assert_int_equal(solver->totals.factorisations, factors);
    assert_int_equal(brio_sim_set_material(sim, 0, "k", 300, NULL), BRIO_OK);
    step(sim, 20);
    assert_int_equal(memory.calls, calls);
    assert_int_equal(solver->totals.factorisations, factors + 1);
    brio_sim_free(sim);
    brio_set_allocator(NULL);
    assert_int_equal(memory.live, 0);
}

/* What hands hold may change its stiffness meanwhile: the motion has the bits of one that takes up
 * the state with the new stiffness from the start. */
static void other_stiffness(void **unused)
{
    (void)unused;
    static const char scene[] = "time: {h: 1/30}\ngravity: [0, -9.8, 0]\nintegrator: backward-euler"
                                "\nsolver: {type: local-global, iterations: 4}\nbodies:\n" PINNED;
    BrioSim *sim = parse(scene), *fresh = parse(scene);
    int a = grab(sim, 0, 0.1, 0, 0.2, 1000), b = grab(sim, 0, -0.1, 0, 0.3, 1000);
    drag(sim, a, 0.3, 0.2, 0.1), drag(sim, b, -0.3, 0.2, 0.3);
    step(sim, 5);
    assert_int_equal(brio_sim_set_material(sim, 0, "k", 1000, NULL), BRIO_OK);
    brio_state_assign(fresh->state, sim->state);
    step(sim, 5), step(fresh, 5);
    assert_memory_equal(sim->state->q, fresh->state->q,
                        (size_t)sim->state->coordinates * sizeof(double));
    brio_sim_free(sim), brio_sim_free(fresh);
}

/* ---- the state -------------------------------------------------------------------------- */

static bool same_motion(const BrioSim *a, const BrioSim *b)
{
    size_t bytes = (size_t)a->state->coordinates * sizeof(double);
    return !memcmp(a->state->q, b->state->q, bytes) && !memcmp(a->state->v, b->state->v, bytes) &&
           a->state->time == b->state->time;
}

static const char *const kinds[][2] = {{"a-search\nsolver: {type: local-global}", PINNED},
                                       {"a-search", JELLY},
                                       {"blend", NET},
                                       {"bdf2\nsolver: {type: local-global}", JELLY},
                                       {"generalized-alpha", STONE},
                                       {"verlet", PINNED}};

static BrioSim *kind(size_t i)
{
    return parse("time: {h: %s}\ngravity: [0, -3, 0]\nintegrator: %s\nbodies:\n%s",
                 i == 5 ? "1/1000" : "1/60", kinds[i][0], kinds[i][1]);
}

/* From the moment of release, the motion has the bits of one in which the same state was never
 * held; and a checkpoint with a hand goes on to the same bits, also for another number of threads,
 * and whether or not someone asks for positions, hands and energies. */
static void traces(void **unused)
{
    (void)unused;
    char path[] = "/tmp/brio-hands-XXXXXX";
    assert_non_null(mkdtemp(path));
    for (size_t i = 0; i < BRIO_COUNT(kinds); i++) {
        BrioSim *sim = kind(i), *other = kind(i), *third = kind(i);
        BrioFolder folder;
        BrioError error = {0};
        BrioCheckpoint checkpoint = {0};
        int h = grab(sim, 0, 0.1, 1, 0.05, 200);
        double x[3 * 64];
        step(sim, 5);
        drag(sim, h, 0.3, 0.5, 0.2);
        step(sim, 5);
        assert_int_equal(brio__folder_open(path, true, &folder, &error), BRIO_OK);
        if (brio__checkpoint_write(&folder, &checkpoint, sim->state, NULL, &error) != BRIO_OK)
            fail_msg("%s", error.message);
        if (brio__checkpoint_read(&folder, &checkpoint, other->state, NULL, &error) != BRIO_OK)
            fail_msg("%s", error.message);
        brio__folder_close(&folder);
        brio__free(checkpoint.frame_time);
        brio_set_threads(2);
        step(sim, 10);
        brio_set_threads(1);
        for (int n = 0; n < 10; n++) {
            BrioHand hand;
            step(other, 1);
            ledger(other);
            brio_sim_positions(other, 0, x);
            brio_sim_velocities(other, 0, x);
            brio_sim_body_energy(other, 0);
            assert_int_equal(brio_sim_hand(other, h, &hand), BRIO_OK);
        }
        assert_true(same_motion(sim, other));
        brio_sim_release(sim, h, NULL);
        brio_state_assign(third->state, sim->state);
        memset(third->state->hand, 0, sizeof third->state->hand);
        step(sim, 10), step(third, 10);
        assert_true(same_motion(sim, third));
        brio_sim_free(sim), brio_sim_free(other), brio_sim_free(third);
    }
    char command[64];
    snprintf(command, sizeof command, "%s/checkpoint", path);
    assert_int_equal(unlink(command), 0);
    assert_int_equal(rmdir(path), 0);
}

/* ---- other changes, and refusals -------------------------------------------------------- */

static void refused(BrioSim *sim, BrioStatus status, const char *reason)
{
    assert_true(status < 0);
    assert_string_equal(brio_sim_reason(sim), reason);
}

/* What a change from outside does to the energy is booked: a change after which the energy is no
 * number is rejected, since the books would never be numbers again. */
static void too_large_for_the_books(void **unused)
{
    (void)unused;
    const double far[3] = {1e200, 0, 0}, down[3] = {0, -1e308, 0};
    double v[24];
    BrioSim *sim = parse("integrator: backward-euler\nforces: [{type: potential, name: slope, "
                         "formula: x + 3}]\nbodies:\n  - {name: block, shape: {type: box, cells: "
                         "[1, 1, 1]}, material: {type: neo-hookean, E: 1e5}, transform: "
                         "{translate: [0, 3, 0]}, attach: [{vertices: [0], k: 10}]}\n");
    const char rest[] = "energy is too large for a number", *text;
    int hand = grab(sim, 0, 0, 3, 0.5, 100);
    for (int k = 0; k < 24; k++) v[k] = 1e200;
    for (int k = 0; k < 5; k++) {
        BrioStatus status = k == 0   ? brio_sim_drag(sim, hand, far, NULL)
                            : k == 1 ? brio_sim_move_attachment(sim, 0, far, NULL)
                            : k == 2 ? brio_sim_set_velocities(sim, 0, v, NULL)
                            : k == 3 ? brio_sim_set_gravity(sim, down, NULL)
                                     : brio_sim_set_force(sim, 0, 1e308, NULL);
        text = brio_sim_reason(sim);
        assert_int_equal(status, BRIO_STEP_REJECTED);
        if (!strstr(text, k < 2 ? "too large for a number" : rest)) fail_msg("%s", text);
    }
    BrioLedger now = ledger(sim);
    assert_true(now.added == 0 && now.kinetic == 0);
    drag(sim, hand, 0, 3.1, 0.5);
    step(sim, 2);
    now = ledger(sim);
    assert_true(isfinite(now.added) && isfinite(now.remainder));
    brio_sim_free(sim);
    BrioError error = {0};
    const char fast[] = "bodies: [{shape: {type: box, cells: [1, 1, 1]}, material: {type: "
                        "neo-hookean, E: 1e5}, velocity: {linear: [1e200, 0, 0]}}]";
    assert_int_equal(brio_sim_parse(fast, strlen(fast), "fast", &sim, &error), BRIO_ERROR_INPUT);
    if (!strstr(error.message, "the energy of motion")) fail_msg("%s", error.message);
}

static void refusals(void **unused)
{
    (void)unused;
    int h;
    double value, point[3] = {0, 0, 0}, broken[3] = {0, NAN, 0};
    BrioSim *sim = parse(
        "time: {h: 1/60}\nintegrator: backward-euler\ndamping: [{type: rayleigh, alpha: "
        "1}]\nbodies:\n"
        "  - {name: net, shape: {type: grid, cells_x: 2, cells_z: 2}, material: {type: hooke, k: "
        "100, vertex_mass: 0.02}, fix: [{vertices: [0, 1, 2]}], attach: [{vertices: [8], k: 10}, "
        "{vertices: [7], k: 10, script: {velocity: [0, 1, 0]}}]}\n"
        "  - {name: drum, kind: shell, shape: {type: grid, cells_x: 2, cells_z: 2}, material: "
        "{type: membrane-stvk, E: 1e6, thickness: 0.001, rho: 1000, pretension: 10}, transform: "
        "{translate: [0, 1, 0]}}\n"
        "  - {name: block, shape: {type: box, cells: [1, 1, 1]}, material: {type: neo-hookean, E: "
        "1e5}, transform: {translate: [0, 3, 0]}, fix: [{box: [[-9, -9, -9], [9, 9, 9]]}]}\n");
    refused(sim, brio_sim_grab(sim, 3, point, 1, &h, NULL), "there is no body 3: the scene has 3");
    refused(sim, brio_sim_grab(sim, 0, broken, 1, &h, NULL),
            "a hand cannot be at a point that is not finite");
    refused(sim, brio_sim_grab(sim, 0, point, -1, &h, NULL),
            "a hand's stiffness k = -1 N/m must be positive; NAN lets brio choose");
    refused(sim, brio_sim_grab_vertex(sim, 0, 1, 1, &h, NULL),
            "body \"net\" is fixed there (vertex 1): a hand can grab only free vertices");
    refused(sim, brio_sim_grab_vertex(sim, 0, 9, 1, &h, NULL),
            "there is no vertex 9 of body 0: count both from 0");
    refused(sim, brio_sim_grab_ray(sim, point, point, 1, &h, NULL, NULL),
            "a ray needs a direction that is finite and not zero");
    assert_int_equal(brio_sim_grab(sim, 2, point, 1, &h, NULL), BRIO_ERROR_ARGUMENT);
    assert_int_equal(h, -1);
    refused(sim, brio_sim_drag(sim, 0, point, NULL),
            "hand 0 is not in use: it never grabbed anything, or was released");
    for (int n = 0; n < BRIO_MAX_HANDS; n++) assert_int_equal(grab(sim, 0, 0, 0, 0.5, 1), n);
    refused(sim, brio_sim_grab(sim, 0, point, 1, &h, NULL),
            "all 16 hands are in use: release one first");
    refused(sim, brio_sim_drag(sim, 3, broken, NULL),
            "a hand cannot be at a point that is not finite");
    step(sim, 2);
    refused(sim, brio_sim_release(sim, 16, NULL),
            "hand 16 is not in use: it never grabbed anything, or was released");
    refused(sim, brio_sim_move_attachment(sim, 2, point, NULL),
            "there is no attachment 2: the scene has 2");
    refused(sim, brio_sim_move_attachment(sim, 1, point, NULL),
            "attachment 1 follows a script of the scene: remove its script, or grab the body with "
            "a hand");
    refused(sim, brio_sim_set_material(sim, 0, "E", 3, NULL),
            "material hooke of body \"net\" has no \"E\": it has k, vertex_mass, rho");
    refused(sim, brio_sim_set_material(sim, 0, "vertex_mass", 3, NULL),
            "vertex_mass of body \"net\" determines its masses or rest shape, which are fixed "
            "when the scene is loaded: change it there and load it again");
    refused(sim, brio_sim_set_material(sim, 1, "E", 2e6, NULL),
            "E of body \"drum\" determines its masses or rest shape, which are fixed when the "
            "scene is loaded: change it there and load it again");
    refused(sim, brio_sim_set_material(sim, 1, "rho", 2e3, NULL),
            "rho of body \"drum\" determines its masses or rest shape, which are fixed when the "
            "scene is loaded: change it there and load it again");
    assert_int_equal(brio_sim_set_material(sim, 0, "k", -1, NULL), BRIO_ERROR_ARGUMENT);
    print_message("%s\n", brio_sim_reason(sim));
    assert_int_equal(brio_sim_set_material(sim, 1, "bending", 5e5, NULL), BRIO_OK);
    assert_int_equal(brio_sim_set_material(sim, 2, "nu", 0.2, NULL), BRIO_OK);
    assert_int_equal(brio_sim_material(sim, 2, "nu", &value), BRIO_OK);
    assert_true(value == 0.2 && !strcmp(brio_body_material(sim->system, 2), "neo-hookean"));
    assert_int_equal(brio_sim_material(sim, 2, "k", &value), BRIO_ERROR_ARGUMENT);
    refused(sim, brio_sim_set_damping(sim, 1, "alpha", 1, NULL),
            "there is no damping model 1: the simulation has 1; create it with one of strength 0 "
            "to switch on later");
    refused(sim, brio_sim_set_damping(sim, 0, "gamma", 1, NULL),
            "damping rayleigh has no \"gamma\": it has alpha, beta");
    assert_int_equal(brio_sim_set_damping(sim, 0, "beta", -1, NULL), BRIO_ERROR_ARGUMENT);
    print_message("%s\n", brio_sim_reason(sim));
    assert_int_equal(brio_sim_set_damping(sim, 0, "beta", 0.1, NULL), BRIO_OK);
    assert_int_equal(brio_sim_damping(sim, 0, "beta", &value), BRIO_OK);
    assert_true(value == 0.1 && !strcmp(brio_sim_damping_type(sim, 0), "rayleigh") &&
                !brio_sim_damping_type(sim, 1));
    refused(sim, brio_sim_set_integrator(sim, "bdf9", NULL, NULL), "no integrator \"bdf9\"");
    assert_int_equal(brio_sim_set_integrator(sim, "pbd-verlet", NULL, NULL),
                     BRIO_ERROR_UNSUPPORTED);
    print_message("%s\n", brio_sim_reason(sim));
    assert_string_equal(brio_sim_integrator(sim, NULL), "backward-euler");
    step(sim, 2);
    brio_sim_free(sim);
}

/* A material that was changed while running moves as one that was so from the start. */
static void live_material(void **unused)
{
    (void)unused;
    static const char *const body[][3] = {
        {"name: b, shape: {type: box, size: [0.4, 0.2, 0.2], cells: [4, 2, 2]}, material: {type: "
         "neo-hookean, E: %s, nu: 0.3, rho: 500}",
         "1e4", "3e4"},
        {"name: b, shape: {type: box, size: [0.4, 0.2, 0.2], cells: [4, 2, 2]}, kind: affine, "
         "material: {type: affine, E: %s, rho: 500}",
         "1e4", "3e4"},
        {"name: b, kind: shell, shape: {type: grid, cells_x: 4, cells_z: 4}, material: {type: "
         "membrane-neo-hookean, E: %s, thickness: 0.01, rho: 500}",
         "1e4", "3e4"}};
    for (int i = 0; i < 3; i++) {
        BrioSim *sim[2];
        for (int k = 0; k < 2; k++) {
            char text[512];
            snprintf(text, sizeof text, body[i][0], body[i][1 + k]);
            sim[k] = parse("time: {h: 1/60}\nintegrator: bdf2\nbodies:\n  - {%s}\n", text);
        }
        assert_int_equal(brio_sim_set_material(sim[0], 0, "E", 3e4, NULL), BRIO_OK);
        for (int k = 0; k < 2; k++) {
            drag(sim[k], grab(sim[k], 0, 0.2, 0, 0, 100), 0.5, 0.3, 0.1);
            step(sim[k], 10);
        }
        assert_true(same_motion(sim[0], sim[1]));
        brio_sim_free(sim[0]), brio_sim_free(sim[1]);
    }
}

/* One that controls energy takes up with the energy that there is at the switch; other values leave
 * its target. */
static void switching(void **unused)
{
    (void)unused;
    BrioSim *sim = parse(
        "time: {h: 1/60}\ngravity: [0, -9.8, 0]\nintegrator: backward-euler\nbodies:\n" PINNED);
    step(sim, 30);
    BrioLedger before = ledger(sim);
    assert_true(isnan(before.target) && before.total < -0.01);
    assert_int_equal(brio_sim_set_integrator(sim, "a-search", NULL, NULL), BRIO_OK);
    step(sim, 1);
    BrioLedger after = ledger(sim);
    assert_true(fabs(after.target - before.total) < 1e-12 * fabs(before.total));
    step(sim, 60);
    double target = ledger(sim).target, values[BRIO_MAX_VALUES];
    brio_sim_integrator(sim, values);
    values[1] = 1.05; /* alpha_max */
    assert_int_equal(brio_sim_set_integrator(sim, "a-search", values, NULL), BRIO_OK);
    step(sim, 60);
    after = ledger(sim);
    print_message("target %.6f J, %.6f J two seconds later, energy then %.6f J\n", before.total,
                  after.target, after.total);
    assert_true(after.target == target && fabs(after.total - target) < 0.02 * fabs(target));
    for (int i = 0; brio_integrator_at(i); i++) { /* there and back: no memory of the wrong size */
        if (brio_sim_set_integrator(sim, brio_integrator_at(i)->name, NULL, NULL) != BRIO_OK)
            continue;
        assert_int_equal(brio_sim_step_by(sim, 1e-4, NULL), BRIO_OK);
    }
    brio_sim_free(sim);
}

/* Multilevel makes rigid motions of positions: those of the state that there is after a switch,
 * also under a method that factors before it minimises. */
static void new_positions(void **unused)
{
    (void)unused;
    BrioSim *sim =
        parse("time: {h: 1/100}\nintegrator: bdf3\nsolver: {linear: multilevel}\n"
              "bodies:\n  - {name: bar, shape: {type: box, size: [0.4, 0.1, 0.1], cells: "
              "[12, 4, 4]}, material: {type: stable-neo-hookean, E: 1e5}, fix: [{box: "
              "[[-1, -1, -1], [-0.199, 1, 1]]}]}\n");
    double values[BRIO_MAX_VALUES];
    step(sim, 1);
    const BrioStepper *stepper = sim->stepper;
    const double *before = stepper->state->q;
    brio_fields_defaults(brio_integrator("energy-lagrange")->fields, values);
    values[1] = 0; /* ground: no static solve is needed first */
    values[2] = 1; /* solve: newton */
    assert_int_equal(brio_sim_set_integrator(sim, "energy-lagrange", values, NULL), BRIO_OK);
    assert_ptr_not_equal(stepper->state->q, before); /* of another length of history */
    step(sim, 1);
    assert_ptr_equal(stepper->solver->linear->options.position, stepper->state->q);
    brio_sim_free(sim);
}

/* The parameters come with the integrator: the same motion as with them from the start. */
static void values_of_a_switch(void **unused)
{
    (void)unused;
    BrioSim *from_start =
        parse("time: {h: 1/60}\ngravity: [0, -9.8, 0]\nintegrator: {type: theta, theta: 0.8}\n"
              "bodies:\n" PINNED);
    BrioSim *switched = parse(
        "time: {h: 1/60}\ngravity: [0, -9.8, 0]\nintegrator: backward-euler\nbodies:\n" PINNED);
    double values[BRIO_MAX_VALUES];
    brio_sim_integrator(from_start, values);
    assert_true(values[0] == 0.8);
    assert_int_equal(brio_sim_set_integrator(switched, "theta", values, NULL), BRIO_OK);
    step(from_start, 20);
    step(switched, 20);
    assert_true(same_motion(from_start, switched));
    brio_sim_free(from_start);
    brio_sim_free(switched);
}

static void attachments(void **unused)
{
    (void)unused;
    BrioSim *sim =
        parse("time: {h: 1/60}\ngravity: [0, -9.8, 0]\nintegrator: backward-euler\nbodies:\n"
              "  - {name: net, shape: {type: grid, width: 1, depth: 1, cells_x: 6, cells_z: 6}, "
              "material: {type: hooke, k: 100, vertex_mass: 0.02}, attach: [{vertices: [0, 6], k: "
              "3000}]}\n");
    BrioHand at;
    assert_int_equal(brio_sim_attachments(sim), 2);
    assert_int_equal(brio_sim_attachment(sim, 1, &at), BRIO_OK);
    assert_true(at.body == 0 && at.vertex[0] == 6 && at.k == 3000 && apart(at.point, at.grip) == 0);
    assert_int_equal(brio_sim_move_attachment(sim, 1, (double[3]){0.3, 1, -0.5}, NULL), BRIO_OK);
    BrioLedger l = ledger(sim);
    double square = pow(apart((double[3]){0.3, 1, -0.5}, at.grip), 2);
    assert_true(fabs(l.added - 1500 * square) < 1e-12 * l.added &&
                fabs(l.attachment - l.added) < 1e-12 * l.added);
    step(sim, 200);
    brio_sim_attachment(sim, 1, &at);
    assert_true(apart(at.point, (double[3]){0.3, 1, -0.5}) == 0 && apart(at.point, at.grip) < 0.05);
    brio_sim_free(sim);
}

/* ---- a thousand operations -------------------------------------------------------------- */

typedef struct Script {
    const char *what, *text;
    const char *integrators[6];
    const char *stiffness;
    double low, high; /* of it */
    double drag_k;    /* which of the two models of damping is ether drag: 1 */
} Script;

/* What ether drag and the mass part of Rayleigh's damping take in a step from q_n to q: their force
 * is that of the velocity (q - q_n)/h, also in blend's mixtures. */
static void expected_losses(const BrioSim *sim, const double *q_n, double h, double losses[2])
{
    const BrioSystem *s = sim->system;
    double alpha, k;
    brio_sim_damping(sim, 0, "alpha", &alpha);
    brio_sim_damping(sim, 1, "k", &k);
    losses[0] = losses[1] = 0;
    for (int b = 0; b < s->body_count; b++) {
        int64_t count, first = brio__body_masses(&s->body[b], &count);
        for (int64_t v = first; v < first + count; v++)
            for (int r = 0; r < 3 && s->map_start[v] < s->map_start[v + 1]; r++) {
                int64_t block = s->map_block[s->map_start[v]];
                double d = sim->state->q[3 * block + r] - q_n[3 * block + r];
                losses[0] += alpha * s->mass[block] * d * d / h;
                /* a mass point stands for a fourth of the vertices */
                losses[1] += k * (double)s->body[b].count / (double)count * d * d / h;
            }
    }
}

/* TOLERANCES 1e-10 of the energies that the sums are made of. */
static void run_script(const Script *script, uint64_t seed)
{
    BrioSim *sim = parse("%s", script->text);
    BrioRandom random = {seed};
    bool grabbed[BRIO_MAX_HANDS] = {false};
    double worst_added = 0;
    double worst_loss = 0;
    double worst_target = 0;
    double max_added = 0;
    double *q_n = malloc((size_t)sim->state->coordinates * sizeof *q_n);
    int count[9] = {0}, steps = 0, compared = 0, integrators = 0;
    assert_int_equal(brio_sim_damping_type(sim, 2) == NULL, 1);
    while (script->integrators[integrators]) integrators++;
    for (int n = 0; n < 1000; n++) {
        BrioLedger before = ledger(sim), after;
        int what = (int)(brio__random(&random) * 14);
        int hand = (int)(brio__random(&random) * BRIO_MAX_HANDS);
        int got, chosen;
        double u[4], point[3];
        for (int i = 0; i < 4; i++) u[i] = brio__random(&random);
        for (int r = 0; r < 3; r++) point[r] = before.centre[r] + 0.8 * (u[r] - 0.5);
        switch (what) {
        case 0: /* grab */
            if (brio_sim_grab(sim, -1, point, script->low * (0.1 + u[3]), &got, NULL) == BRIO_OK) {
                assert_false(grabbed[got]);
                grabbed[got] = true;
            } else {
                assert_int_equal(got, -1);
            }
            break;
        case 1: /* grab by a ray */
            assert_true(brio_sim_grab_ray(sim, (double[3]){point[0], 5, point[2]},
                                          (double[3]){0, -1, 0}, NAN, &got, NULL, NULL) <= 0);
            if (got >= 0) grabbed[got] = true;
            break;
        case 2:
        case 3:
        case 4: /* drag */
            if (grabbed[hand]) assert_int_equal(brio_sim_drag(sim, hand, point, NULL), BRIO_OK);
            break;
        case 5: /* release */
            assert_int_equal(brio_sim_release(sim, hand, NULL),
                             grabbed[hand] ? BRIO_OK : BRIO_ERROR_ARGUMENT);
            grabbed[hand] = false;
            break;
        case 6:
            if (brio_sim_attachments(sim))
                assert_int_equal(brio_sim_move_attachment(
                                     sim, (int)(u[3] * brio_sim_attachments(sim)), point, NULL),
                                 BRIO_OK);
            break;
        case 7:
            assert_int_equal(brio_sim_set_gravity(
                                 sim, (double[3]){4 * u[0] - 2, -10 * u[1], 4 * u[2] - 2}, NULL),
                             BRIO_OK);
            break;
        case 8:
            assert_int_equal(
                brio_sim_set_material(sim, 0, script->stiffness,
                                      script->low * pow(script->high / script->low, u[0]), NULL),
                BRIO_OK);
            break;
        case 9:
            if (u[3] < 0.5)
                assert_int_equal(brio_sim_set_damping(sim, 0, u[0] < 0.5 ? "alpha" : "beta",
                                                      u[0] < 0.5   ? 2 * u[1]
                                                      : u[1] < 0.5 ? 0
                                                                   : 0.01 * u[2],
                                                      NULL),
                                 BRIO_OK);
            if (u[3] >= 0.5)
                assert_int_equal(brio_sim_set_damping(sim, 1, "k", script->drag_k * u[0], NULL),
                                 BRIO_OK);
            break;
        case 10:
            chosen = (int)(u[0] * integrators);
            if (brio_sim_set_integrator(sim, script->integrators[chosen], NULL, NULL) != BRIO_OK)
                fail_msg("%s", brio_sim_reason(sim));
            break;
        default: what = 11;
        }
        bool changed = what < 11;
        after = ledger(sim);
        assert_true(isfinite(after.total));
        if (changed) {
            double scale = after.kinetic + before.kinetic + fabs(after.elastic) +
                           fabs(after.gravity) + fabs(after.attachment) + fabs(before.elastic) +
                           fabs(before.gravity) + fabs(before.attachment);
            double jump = after.total - before.total, booked = after.added - before.added;
            worst_added = brio__larger(worst_added, fabs(jump - booked) / scale);
            max_added = brio__larger(max_added, fabs(booked));
            if (isnan(before.target) == 0 && what != 10)
                worst_target =
                    brio__larger(worst_target, fabs(after.target - before.target - booked) / scale);
            count[BRIO_MIN(what, 8)]++;
        }
        int times = changed ? u[3] < 0.3 : 1 + (int)(3 * u[0]);
        for (int i = 0; i < times; i++) {
            memcpy(q_n, sim->state->q, (size_t)sim->state->coordinates * sizeof *q_n);
            /* so that no round-off of earlier sums is in the difference */
            memset(sim->state->dissipated, 0, sizeof sim->state->dissipated);
            before = ledger(sim);
            if (brio_sim_step(sim, NULL) != BRIO_OK)
                fail_msg("%s: operation %d, %s: %s", script->what, n,
                         brio_sim_integrator(sim, NULL), brio_sim_reason(sim));
            after = ledger(sim);
            steps++;
            for (int64_t c = 0; c < sim->state->coordinates; c++)
                assert_true(isfinite(sim->state->q[c]) && isfinite(sim->state->v[c]));
            assert_true(after.added == before.added);
            const char *name = brio_sim_integrator(sim, NULL);
            if (sim->stepper->halvings || !strcmp(name, "bdf2")) continue;
            double losses[2], beta;
            expected_losses(sim, q_n, sim->h, losses);
            brio_sim_damping(sim, 0, "beta", &beta);
            for (int k = 0; k < 2; k++) {
                double loss = after.dissipated_by[k];
                if (k == 0 && beta > 0) { /* the stiffness takes as well */
                    assert_true(loss >= losses[0] * (1 - 1e-10));
                    continue;
                }
                compared++;
                if (losses[k] > 0)
                    worst_loss = brio__larger(worst_loss, fabs(loss / losses[k] - 1));
            }
        }
    }
    print_message("%s: %d steps; added against jumps of up to %.0f J: %.1e, targets: %.1e, losses "
                  "(%d): %.1e\n",
                  script->what, steps, max_added, worst_added, worst_target, compared, worst_loss);
    assert_true(worst_added < 1e-10 && worst_target < 1e-10 && worst_loss < 1e-10 &&
                compared > 100);
    for (int k = 0; k < 9; k++) assert_true(count[k] > 10 || (k == 1 && count[k] > 0));
    free(q_n);
    brio_sim_free(sim);
}

static void script_cloth(void **unused)
{
    (void)unused;
    run_script(&(Script){"cloth, local/global",
                         "time: {h: 1/30}\ngravity: [0, -9.8, 0]\nintegrator: a-search\nsolver: "
                         "{type: local-global}\ndamping: [{type: rayleigh, alpha: 0.5}, {type: "
                         "ether-drag, k: 0.001}]\nbodies:\n"
                         "  - {name: cloth, shape: {type: grid, width: 1, depth: 1, cells_x: 12, "
                         "cells_z: 12}, material: {type: hooke, k: 200, rho: 0.5}, attach: "
                         "[{vertices: [0, 12], k: 300}], fix: [{vertices: [6]}]}\n",
                         {"a-search", "backward-euler", "a-1", "bdf2", "blend"},
                         "k",
                         50,
                         2000,
                         0.01},
               1);
}

static void script_soft(void **unused)
{
    (void)unused;
    run_script(&(Script){"soft body, Newton",
                         "time: {h: 1/60}\ngravity: [0, -9.8, 0]\nintegrator: a-search\nsolver: "
                         "{tol: 1e-4}\ndamping: [{type: rayleigh, alpha: 0.5, beta: 0.001}, {type: "
                         "ether-drag, k: 0.1}]\nbodies:\n"
                         "  - {name: jelly, shape: {type: box, size: [0.6, 0.2, 0.2], cells: [6, "
                         "2, 2]}, material: {type: stable-neo-hookean, E: 5e4, rho: 500}, attach: "
                         "[{vertices: [0, 20], k: 3000}]}\n"
                         "  - {name: stone, shape: {type: box, size: [0.2, 0.2, 0.2], cells: [2, "
                         "2, 2]}, kind: affine, material: {type: affine, E: 1e5, rho: 500}, "
                         "transform: {translate: [0, 1, 0]}}\n",
                         {"a-search", "backward-euler", "a-1", "bdf2", "blend"},
                         "E",
                         1e4,
                         2e5,
                         1},
               2);
}

static void script_springs(void **unused)
{
    (void)unused;
    run_script(&(Script){"springs, blend",
                         "time: {h: 1/60}\ngravity: [0, -9.8, 0]\nintegrator: blend\nsolver: {tol: "
                         "1e-4}\ndamping: [{type: rayleigh, alpha: 0.5}, {type: ether-drag, k: "
                         "0.001}]\nbodies:\n"
                         "  - {name: net, shape: {type: grid, width: 1, depth: 1, cells_x: 8, "
                         "cells_z: 8, shear: false}, material: {type: hooke, k: 100, rho: 1}, "
                         "attach: [{vertices: [0, 8], k: 200}]}\n" CHAIN,
                         {"blend", "a-search", "backward-euler"},
                         "k",
                         50,
                         1000,
                         0.02},
               3);
}

int main(void)
{
    brio_set_threads(1); /* what is this small is not worth waking others for */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives),
        cmocka_unit_test(caged),
        cmocka_unit_test(places),
        cmocka_unit_test(dragging),
        cmocka_unit_test(every_integrator),
        cmocka_unit_test(firm),
        cmocka_unit_test(along_x),
        cmocka_unit_test(woodbury),
        cmocka_unit_test(same_as_newton),
        cmocka_unit_test(nothing_anew),
        cmocka_unit_test(other_stiffness),
        cmocka_unit_test(traces),
        cmocka_unit_test(refusals),
        cmocka_unit_test(live_material),
        cmocka_unit_test(too_large_for_the_books),
        cmocka_unit_test(switching),
        cmocka_unit_test(values_of_a_switch),
        cmocka_unit_test(new_positions),
        cmocka_unit_test(attachments),
        cmocka_unit_test(script_cloth),
        cmocka_unit_test(script_soft),
        cmocka_unit_test(script_springs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
