/* Random stacks of two to five bodies that decimal numbers put exactly on each other, or a small
 * gap apart: what test_stacks.c and test_long_stacks.c run and judge. Include after cmocka.
 *
 * Decimal numbers are not doubles: such bodies overlap, touch, or are some 1e-17 m apart. Either
 * the stack is rejected and both names are said, or it moves as the same stack does with gaps of 2
 * dhat: falls where nothing carries it, rests where the floor does. */
#ifndef BRIO_TEST_STACKS_H
#define BRIO_TEST_STACKS_H

#include "sim/sim.h"

#include <string.h>

enum { MAX_STACK = 5, STACK_STEPS = 12 };
static const double stack_h = 0.01, stack_dhat = 1e-3; /* s, m */

/* What a body may have come away from where it should be: gaps of 2 dhat below each body, the
 * barriers' own compression, and a step's motion at dhat/h, the speed at which a barrier opens in
 * one step. */
static const double stack_tolerance = 3e-3; /* m */

static const char *const stack_integrators[] = {"backward-euler", "bdf2", "a-search", "a-1"};

typedef struct Stack {
    int bodies, kind[MAX_STACK], width[MAX_STACK], height[MAX_STACK]; /* mm; shells: 0 high */
    int floor; /* 0: none, 1: a plane, 2: a box */
    int base;  /* mm: where the floor is */
    int E;     /* Pa, power of ten */
    const char *integrator;
} Stack;
enum { STACK_SOLID, STACK_SHELL, STACK_AFFINE, STACK_KINDS };

static Stack stack_random(uint64_t seed)
{
    BrioRandom random = {(seed + 1) * 0xd1342543de82ef95u};
    Stack s = {.bodies = 2 + (int)(brio__random(&random) * 4),
               .floor = (int)(brio__random(&random) * 3),
               .base = (int)(brio__random(&random) * 4000) - 2000,
               .E = 5 + (int)(brio__random(&random) * 3),
               .integrator = stack_integrators[seed % BRIO_COUNT(stack_integrators)]};
    for (int b = 0; b < s.bodies; b++) {
        s.kind[b] = (int)(brio__random(&random) * STACK_KINDS);
        s.width[b] = 100 + 10 * (int)(brio__random(&random) * 20);
        /* two shells on each other would be one surface */
        if (s.kind[b] == STACK_SHELL && b && s.kind[b - 1] == STACK_SHELL) s.kind[b] = STACK_SOLID;
        s.height[b] = s.kind[b] == STACK_SHELL ? 0 : 40 + 2 * (int)(brio__random(&random) * 100);
    }
    return s;
}

/* The scene, with `gap` (m) below each body; decimal numbers throughout. */
static int stack_text(const Stack *s, double gap, char *text, size_t size)
{
    int used = snprintf(text, size,
                        "time: {h: %g, end: 1}\nintegrator: %s\nsolver: {tol: 1e-4}\n"
                        "contact: {type: ipc, dhat: %g}\n",
                        stack_h, s->integrator, stack_dhat);
    if (s->floor == 1)
        used += snprintf(
            text + used, size - (size_t)used,
            "obstacles: [{type: plane, name: floor, point: [0, %.3f, 0], normal: [0, 1, 0]}]\n",
            1e-3 * s->base);
    if (s->floor == 2)
        used += snprintf(text + used, size - (size_t)used,
                         "obstacles: [{type: box, name: floor, size: [2, 0.2, 2], cells: [1, 1, "
                         "1], transform: {translate: [0, %.3f, 0]}}]\n",
                         1e-3 * (s->base - 100));
    used += snprintf(text + used, size - (size_t)used, "bodies:\n");
    int below = s->base;
    for (int b = 0; b < s->bodies; b++) {
        static const char *const kinds[STACK_KINDS] = {"solid", "shell", "affine"};
        double y = 1e-3 * (below + s->height[b] / 2);
        used += snprintf(text + used, size - (size_t)used, "  - {name: body%d, kind: %s, ", b,
                         kinds[s->kind[b]]);
        if (s->kind[b] == STACK_SHELL)
            used += snprintf(text + used, size - (size_t)used,
                             "shape: {type: grid, width: %.3f, depth: %.3f, cells_x: 2, cells_z: "
                             "2}, material: {type: membrane-neo-hookean, E: 1e%d, thickness: "
                             "1e-2, rho: 1000}",
                             1e-3 * s->width[b], 1e-3 * s->width[b], s->E);
        else
            used += snprintf(text + used, size - (size_t)used,
                             "shape: {type: box, size: [%.3f, %.3f, %.3f], cells: [1, 1, 1]}, "
                             "material: {type: %s, E: 1e%d, rho: 1000}",
                             1e-3 * s->width[b], 1e-3 * s->height[b], 1e-3 * s->width[b],
                             s->kind[b] == STACK_SOLID ? "neo-hookean" : "corotated", s->E);
        /* as somebody would write it: a few decimals, unless a gap asks for more */
        used +=
            snprintf(text + used, size - (size_t)used, ", transform: {translate: [0, %.*f, 0]}}\n",
                     gap > 0 ? 17 : 3, gap > 0 ? y + gap * (b + 1) : y);
        below += s->height[b];
    }
    return used;
}

typedef struct Stood {
    bool refused, failed;
    char reason[1200], warning[1200];
    double y[MAX_STACK]; /* heights of the centres at the end, without gaps */
    double kinetic;
    int64_t iterations;
} Stood;

static void stack_centres(BrioSim *sim, double *y)
{
    const BrioSystem *s = sim->system;
    for (int b = 0; b < s->body_count; b++) {
        double x[3 * 64], sum = 0;
        assert_true(s->body[b].count <= 64);
        brio_sim_positions(sim, b, x);
        for (int64_t v = 0; v < s->body[b].count; v++) sum += x[3 * v + 1];
        y[b] = sum / (double)s->body[b].count;
    }
}

static void stack_log(void *user, BrioLogLevel level, const char *message)
{
    Stood *stood = user;
    if (level == BRIO_LOG_WARNING && strstr(message, "begin") && !stood->warning[0])
        snprintf(stood->warning, sizeof stood->warning, "%s", message);
}

static Stood stack_run(const Stack *s, double gap)
{
    Stood stood = {0};
    char text[4096];
    BrioSim *sim = NULL;
    BrioError error = {0};
    int length = stack_text(s, gap, text, sizeof text);
    assert_true(length < (int)sizeof text);
    if (brio_sim_parse(text, (size_t)length, "stack", &sim, &error) != BRIO_OK) {
        stood.refused = true;
        snprintf(stood.reason, sizeof stood.reason, "%s", error.message);
        return stood;
    }
    BrioLedger ledger;
    brio_set_log(stack_log, &stood);
    for (int n = 0; n < STACK_STEPS && !stood.failed && !stood.warning[0]; n++) {
        if (brio_sim_step(sim, NULL) != BRIO_OK) {
            stood.failed = true;
            snprintf(stood.reason, sizeof stood.reason, "%s", brio_sim_reason(sim));
        }
        stood.iterations += sim->stepper->iterations;
    }
    brio_set_log(NULL, NULL);
    brio_sim_ledger(sim, &ledger);
    stood.kinetic = ledger.kinetic;
    stack_centres(sim, stood.y);
    for (int b = 0; b < s->bodies; b++) stood.y[b] -= gap * (b + 1);
    brio_sim_free(sim);
    return stood;
}

/* Whether a sentence names two different things of the scene. */
static bool names_two(const char *sentence)
{
    int named = strstr(sentence, "\"floor\"") != NULL;
    for (int b = 0; b < MAX_STACK; b++) {
        char name[24];
        snprintf(name, sizeof name, "\"body%d\"", b);
        named += strstr(sentence, name) != NULL;
    }
    return named >= 2;
}

/* Of those that start, some are told before the first step that they will be thrown apart. */
typedef enum StackVerdict {
    STACK_REFUSED,
    STACK_TOLD,
    STACK_RIGHT,
    STACK_WRONG,
    STACK_VERDICTS
} StackVerdict;

static StackVerdict stack_judge(const Stack *s, double gap, char *why, size_t size)
{
    Stood stood = stack_run(s, gap), clear;
    snprintf(why, size, "%s", stood.reason);
    if (stood.refused) return names_two(stood.reason) ? STACK_REFUSED : STACK_WRONG;
    if (stood.warning[0]) return names_two(stood.warning) ? STACK_TOLD : STACK_WRONG;
    if (stood.failed) return STACK_WRONG;
    clear = stack_run(s, 2 * stack_dhat);
    snprintf(why, size, "with gaps: %s", clear.reason);
    if (clear.refused || clear.failed) return STACK_WRONG;
    double worst = 0;
    for (int b = 0; b < s->bodies; b++) worst = brio__larger(worst, fabs(stood.y[b] - clear.y[b]));
    snprintf(why, size, "%.2e m from where it is with gaps; kinetic energy %.3g J and %.3g J",
             worst, stood.kinetic, clear.kinetic);
    return worst <= stack_tolerance * s->bodies ? STACK_RIGHT : STACK_WRONG;
}

/* Judges so many stacks and prints a row; those that are wrong with their seeds. Returns how many
 * are. */
static int stacks_judge(uint64_t first, int stacks, double gap, int count[STACK_VERDICTS])
{
    for (int v = 0; v < STACK_VERDICTS; v++) count[v] = 0;
    for (int i = 0; i < stacks; i++) {
        char why[1300];
        Stack s = stack_random(first + (uint64_t)i);
        StackVerdict verdict = stack_judge(&s, gap, why, sizeof why);
        count[verdict]++;
        if (verdict == STACK_WRONG)
            print_message("seed %llu, gap %g, %s: %s\n", (unsigned long long)first + (uint64_t)i,
                          gap, s.integrator, why);
    }
    print_message("%7g m apart: %d refused by name, %d warned of, %d right, %d wrong\n", gap,
                  count[STACK_REFUSED], count[STACK_TOLD], count[STACK_RIGHT], count[STACK_WRONG]);
    return count[STACK_WRONG];
}

#endif
