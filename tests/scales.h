/* Scenes at defaults by size and stiffness: a block or a cloth falls on a block that stands on a
 * plane. Include after cmocka. */
#ifndef BRIO_TEST_SCALES_H
#define BRIO_TEST_SCALES_H

#include "scene/scene.h"

#include <stdio.h>
#include <string.h>

typedef struct Scale {
    double size, E[2]; /* m; Pa: of the block below, and of what falls on it */
    double thickness;  /* of a cloth, as a fraction of the size; 0: it is a block */
} Scale;

enum { SCALE_TEXT = 1600 };

/* A step is as long relative to the fall as 1/100 s at one metre. */
static inline int scale_text(const Scale *c, char *text, size_t size)
{
    double s = c->size;
    int used = snprintf(
        text, size,
        "time: {h: %.17g, end: %.17g}\ncontact: {type: ipc, mu: 0.2}\nobstacles: [{type: plane, "
        "normal: [0, 1, 0]}]\nbodies:\n  - {shape: {type: box, size: [%g, %g, %g], cells: [4, 4, "
        "4]}, material: {type: neo-hookean, E: %g, nu: 0.3, rho: 1000}, transform: {translate: "
        "[0, %g, 0]}}\n",
        sqrt(s) / 100, sqrt(s) * 0.3, 0.3 * s, 0.3 * s, 0.3 * s, c->E[0], 0.17 * s);
    if (c->thickness > 0)
        return used + snprintf(text + used, size - (size_t)used,
                               "  - {shape: {type: grid, width: %g, depth: %g, cells_x: 10, "
                               "cells_z: 10}, kind: shell, material: {type: membrane-neo-hookean, "
                               "E: %g, nu: 0.3, thickness: %g, areal: %g}, transform: {translate: "
                               "[%g, %g, %g]}}\n",
                               0.6 * s, 0.6 * s, c->E[1], c->thickness * s, 1000 * c->thickness * s,
                               0.03 * s, 0.36 * s, 0.02 * s);
    return used + snprintf(text + used, size - (size_t)used,
                           "  - {shape: {type: box, size: [%g, %g, %g], cells: [3, 3, 3]}, "
                           "material: {type: neo-hookean, E: %g, nu: 0.3, rho: 1000}, transform: "
                           "{rotate: [[1, 0, 0], 20], translate: [%g, %g, %g]}}\n",
                           0.2 * s, 0.2 * s, 0.2 * s, c->E[1], 0.03 * s, 0.46 * s, 0.02 * s);
}

typedef struct ScaleRun {
    int slowest;     /* iterations of the slowest step */
    int64_t all;     /* iterations */
    int64_t touches; /* contacts, summed over the steps */
} ScaleRun;

enum { SCALE_STEPS = 30 };

static inline ScaleRun scale_run(const Scale *c)
{
    char text[SCALE_TEXT];
    ScaleRun run = {0};
    scale_text(c, text, sizeof text);
    BrioSim *sim = NULL;
    BrioError error = {0};
    if (brio_sim_parse(text, strlen(text), "text.yaml", &sim, &error) != BRIO_OK)
        fail_msg("%d:%d: %s", error.line, error.column, error.message);
    for (int n = 0; n < SCALE_STEPS; n++) {
        BrioLedger l;
        if (brio_sim_step(sim, NULL) != BRIO_OK) fail_msg("step %d: %s", n, brio_sim_reason(sim));
        assert_int_equal(brio_sim_ledger(sim, &l), BRIO_OK);
        if (l.iterations > run.slowest) run.slowest = l.iterations;
        run.all += l.iterations;
        run.touches += l.contacts;
    }
    brio_sim_free(sim);
    print_message("%8g m, E %.0e and %.0e Pa", c->size, c->E[0], c->E[1]);
    if (c->thickness > 0) print_message(", cloth of %.0e", c->thickness);
    print_message(": %.1f iterations per step, at most %d\n", (double)run.all / SCALE_STEPS,
                  run.slowest);
    return run;
}

#endif
