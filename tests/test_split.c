/* A system in partitions, as several processes hold them, without processes: each partition goes
 * through the bytes of a message and back. Positions are those of the whole, energies and gradients
 * add up to it, and every number that all have is the same. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster/split.h"
#include "simulate.h"

#define BLOCK(name, more)                                                                 \
    "  - {name: " name ", shape: {type: box, size: [0.1, 0.1, 0.1], cells: [2, 2, 2]},\n" \
    "     material: {type: neo-hookean, E: 1e5, nu: 0.3, rho: 1000}" more "}\n"
#define ABOVE ", transform: {translate: [0.013, 0.106, 0.017]}"

static const struct {
    const char *name, *scene;
    bool contacts;
} cases[] = {
    {"attachments and springs",
     "gravity: [0, -9, 0]\nbodies:\n" BLOCK("a",
                                            ", attach: [{vertices: [3], k: 500, point: [0.1, 0.4, "
                                            "0]}]") "  - {name: b, shape: {type: grid, width: 1, "
                                                    "depth: 1, cells_x: 5, cells_z: 5},\n"
                                                    "     kind: springs, material: {type: hooke, "
                                                    "k: 200, vertex_mass: 1e-3}}\n",
     false},
    {"scripts with rates and keys",
     "bodies:\n" BLOCK("a", ", fix: [{box: [[-1, 0.04, -1], [1, 1, 1]], script: {angular: [0, 1, "
                            "0]}}, {box: [[-1, -1, -1], [1, -0.04, 1]], script: {keys: [[0, 0, 0, "
                            "0], [0.1, 0.01, 0, 0]]}}]"),
     false},
    {"barriers, friction, an affine body",
     "contact: {type: ipc, dhat: 1e-2, kappa: 1e4, mu: 0.3}\n"
     "obstacles:\n  - {type: plane, point: [0, -0.056, 0], normal: [0.01, 1, 0.02]}\n"
     "bodies:\n" BLOCK("a", "") BLOCK("b", ABOVE) "  - {name: c, shape: {type: box, size: [0.1, "
                                                  "0.1, 0.1], cells: [2, 2, 2]},\n"
                                                  "     kind: affine, material: {type: affine, "
                                                  "rho: 1000},\n     transform: {translate: "
                                                  "[0.107, -0.001, 0.023]}}\n",
     true},
    {"a mesh that moves as an obstacle",
     "contact: {type: ipc, dhat: 1e-2, kappa: 1e4}\n"
     "obstacles:\n  - {type: box, size: [0.3, 0.1, 0.3], cells: [2, 1, 2],\n"
     "     transform: {translate: [0, -0.106, 0]}, script: {velocity: [1, 0, 0]}}\n"
     "bodies:\n" BLOCK("a", ""),
     true},
    {"vertices against each other",
     "contact: {type: penalty, dhat: 1e-2, self: 3e-2, kappa: 1e3}\n"
     "bodies:\n" BLOCK("a", "") BLOCK("b", ABOVE),
     true},
};

/* What a partition alone has is what is to be added: messages leave numbers as they are. */
static void leave(BrioPartition *p, double *value, int64_t count)
{
    (void)p, (void)value, (void)count;
}
static void leave_vector(BrioPartition *p, double *vector) { (void)p, (void)vector; }

/* The partition of a process as it arrives there. */
static void receive(const BrioSim *sim, const BrioDivision *d, int process, BrioSystem **system,
                    BrioState **state)
{
    BrioSystem *sent;
    BrioState *sent_state;
    int32_t *ghost;
    char *bytes;
    size_t size;
    assert_int_equal(
        brio__split(sim->system, sim->state, d, process, &sent, &sent_state, &ghost, NULL),
        BRIO_OK);
    assert_int_equal(brio__message_pack(sent, sent_state, ghost, &bytes, &size), BRIO_OK);
    brio__free(ghost);
    brio_system_free(sent);
    brio_state_free(sent_state);
    assert_int_equal(brio__message_unpack(bytes, size, system, state, &ghost), BRIO_OK);
    brio__free(ghost);
    brio__free(bytes);
    BrioPartition *p = (*system)->partition;
    p->sum = p->max = leave;
    p->complete = p->spread = leave_vector;
}

/* Numbers that every process has as the whole has them; offsets of parameters are its own. */
static void same_numbers(const BrioSystem *a, const BrioSystem *b)
{
#define SAME(field) assert_true(a->field == b->field)
    SAME(body_count), SAME(term_count), SAME(gravity_term), SAME(obstacle_count);
    SAME(analytic_count), SAME(analytic_term), SAME(law), SAME(barrier), SAME(epsv);
    SAME(friction_iterations), SAME(start), SAME(relax_time), SAME(dhat), SAME(fall_speed);
    SAME(scripted_count), SAME(constraint_count), SAME(stitch_term);
#undef SAME
    assert_int_equal(a->collider_params < 0, b->collider_params < 0);
    assert_int_equal(!a->surface, !b->surface);
    assert_int_equal(!a->friction, !b->friction);
    int64_t owners = a->body_count + a->obstacle_count;
    for (int64_t i = 0; a->friction && i < owners * owners; i++)
        assert_true(a->friction[i] == b->friction[i]);
    for (int i = 0; i < a->scripted_count; i++) {
        const BrioScript *m = &a->scripted[i].script, *n = &b->scripted[i].script;
        assert_int_equal(m->key_count, n->key_count);
        assert_int_equal(m->pose_count, n->pose_count);
        assert_memory_equal(m->keys, n->keys, 4 * (size_t)m->key_count * sizeof *m->keys);
    }
}

typedef struct Pose {
    double *x, *gradient;
    double energy;
} Pose;

/* Positions after a hundredth of a second, with P and its gradient there. */
static Pose pose_of(const BrioSystem *system, const BrioState *state)
{
    Pose p = {.x = calloc(3 * (size_t)system->vertex_count, sizeof *p.x),
              .gradient = calloc(3 * (size_t)system->block_count, sizeof *p.gradient)};
    BrioSolveTotals totals = {0};
    BrioPotential *potential;
    assert_int_equal(brio__potential_create(system, &totals, &potential), BRIO_OK);
    brio__system_positions(system, state, state->q, 0.01, p.x);
    BrioPose pose = {.state = state, .x = p.x};
    p.energy = brio__potential_evaluate(potential, &pose, p.gradient, NULL).energy;
    brio__potential_free(potential);
    return p;
}

static void free_pose(Pose *p) { free(p->x), free(p->gradient); }

/* The partition of one process: its energy and gradient are taken from those of the whole. */
static void compare(const BrioSim *sim, const BrioDivision *d, int process, const Pose *whole,
                    Pose *left, uint8_t *owned)
{
    BrioSystem *system;
    BrioState *state;
    receive(sim, d, process, &system, &state);
    same_numbers(sim->system, system);
    Pose here = pose_of(system, state);
    const BrioPartition *p = system->partition;
    for (int64_t v = 0; v < system->vertex_count; v++)
        for (int r = 0; r < 3; r++)
            assert_true(here.x[3 * v + r] == whole->x[3 * p->vertex[v] + r]);
    for (int64_t b = 0; b < system->block_count; b++) {
        for (int r = 0; r < 3; r++) left->gradient[3 * p->block[b] + r] -= here.gradient[3 * b + r];
        owned[p->block[b]] += b < p->owned;
    }
    left->energy -= here.energy;
    free_pose(&here);
    brio_system_free(system);
    brio_state_free(state);
}

/* TOLERANCE 1e-12: round-off of sums in another order, relative to the largest number in them. */
static void parts_add_up(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < BRIO_COUNT(cases); i++) {
        BrioSim *sim = parse("integrator: backward-euler\n%s", cases[i].scene);
        if (cases[i].contacts) assert_true(ledger(sim).contacts > 0);
        const BrioSystem *s = sim->system;
        size_t numbers = 3 * (size_t)s->block_count;
        BrioRandom random = {5};
        for (size_t k = 0; k < numbers; k++)
            sim->state->q[k] += 2e-4 * brio__random_normal(&random);
        Pose whole = pose_of(s, sim->state);
        double size = 0;
        for (size_t k = 0; k < numbers; k++) size = fmax(size, fabs(whole.gradient[k]));
        assert_true(whole.energy != 0 && size > 0);
        for (int processes = 1; processes <= 5; processes++) {
            int32_t *owner = brio__alloc((size_t)s->block_count, sizeof *owner);
            uint8_t *owned = calloc((size_t)s->block_count, 1);
            for (int32_t b = 0; b < s->block_count; b++) owner[b] = b * 7 / 5 % processes;
            BrioDivision d;
            assert_int_equal(brio__division_create(s, processes, owner, NULL, 0, &d), BRIO_OK);
            Pose left = {.energy = whole.energy, .gradient = malloc(numbers * sizeof(double))};
            memcpy(left.gradient, whole.gradient, numbers * sizeof(double));
            for (int p = 0; p < processes; p++) compare(sim, &d, p, &whole, &left, owned);
            double worst = 0;
            for (size_t k = 0; k < numbers; k++) worst = fmax(worst, fabs(left.gradient[k]));
            for (int32_t b = 0; b < s->block_count; b++) assert_int_equal(owned[b], 1);
            print_message("%-36s %d: energies %.1e, gradients %.1e\n", cases[i].name, processes,
                          fabs(left.energy / whole.energy), worst / size);
            assert_true(fabs(left.energy) <= 1e-12 * fabs(whole.energy));
            assert_true(worst <= 1e-12 * size);
            brio__division_free(&d);
            free_pose(&left);
            free(owned);
        }
        free_pose(&whole);
        brio_sim_free(sim);
    }
}

/* A message that ends anywhere gives no partition, and nothing stays behind. */
static void torn_messages(void **unused)
{
    (void)unused;
    BrioSim *sim = parse("integrator: backward-euler\n%s", cases[2].scene);
    const BrioSystem *s = sim->system;
    int32_t *owner = brio__alloc((size_t)s->block_count, sizeof *owner), *ghost;
    for (int32_t b = 0; b < s->block_count; b++) owner[b] = b % 2;
    BrioDivision d;
    BrioSystem *part;
    BrioState *state;
    char *bytes;
    size_t size;
    assert_int_equal(brio__division_create(s, 2, owner, NULL, 0, &d), BRIO_OK);
    assert_int_equal(brio__split(s, sim->state, &d, 1, &part, &state, &ghost, NULL), BRIO_OK);
    assert_int_equal(brio__message_pack(part, state, ghost, &bytes, &size), BRIO_OK);
    brio__free(ghost);
    brio_system_free(part);
    brio_state_free(state);
    for (size_t end = 0; end < size; end += size / 400 + 1)
        assert_int_equal(brio__message_unpack(bytes, end, &part, &state, &ghost),
                         BRIO_ERROR_MEMORY);
    brio__free(bytes);
    brio__division_free(&d);
    brio_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts_add_up),
                                       cmocka_unit_test(torn_messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
