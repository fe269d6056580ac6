/* brio bench touching: what contact adds to a frame of real time. Two bodies of 729 vertices, one
 * dropped on the other or thrown at it. The slowest frame is compared with a frame of the same two
 * bodies without contact. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

enum { FRAMES = 300, RUNS = 3 };

#define JELLY                                                                                      \
    "shape: {type: box, size: [0.2, 0.2, 0.2], cells: [8, 8, 8]}, material: {type: corotated, E: " \
    "1e5, nu: 0.3, rho: 1000}"
#define REAL_TIME                                                                        \
    "time: {h: 1/60}\ngravity: [0, -9.8, 0]\nintegrator: {type: a-search, decay: 0.5}\n" \
    "solver: {type: local-global, iterations: 10}\n"
#define PENALTY                                                                 \
    "contact: {type: penalty, kappa: 2500, self: 0.025, dhat: 1e-3, mu: 0.3}\n" \
    "obstacles: [{type: plane, normal: [0, 1, 0]}]\n"
#define TWO_BODIES(second) \
    "bodies:\n  - {" JELLY ", transform: {translate: [0, 0.1, 0]}}\n  - {" JELLY ", " second "}\n"
#define ABOVE "transform: {rotate: [[0, 1, 0], 10], translate: [0.01, 0.35, 0.007]}"
#define BESIDE "transform: {translate: [0.3, 0.12, 0]}, velocity: {linear: [-3, 0, 0]}"

typedef struct Touching {
    const char *name, *scene;
    double stretch; /* of the initial positions about the origin: the bodies vibrate */
} Touching;

static const Touching cases[] = {
    {"apart, at rest", REAL_TIME TWO_BODIES(ABOVE), 1},
    {"apart, vibrating", REAL_TIME TWO_BODIES(ABOVE), 1.05},
    {"dropped", REAL_TIME PENALTY TWO_BODIES(ABOVE), 1},
    {"thrown", REAL_TIME PENALTY TWO_BODIES(BESIDE), 1},
};

static BrioStatus stretch(BrioSim *sim, double by, BrioError *error)
{
    BrioStatus status = BRIO_OK;
    for (int body = 0; body < 2 && by != 1 && status == BRIO_OK; body++) {
        int64_t count = 3 * (int64_t)brio_body_vertices(sim->system, body);
        double *x = brio__alloc((size_t)count, sizeof *x);
        if (!x) return BRIO_ERROR_MEMORY;
        brio_sim_positions(sim, body, x);
        for (int64_t i = 0; i < count; i++) x[i] *= by;
        status = brio_sim_set_positions(sim, body, x, error);
        brio__free(x);
    }
    return status;
}

/* Adds nothing to `ms` but lower times: the same frames of several runs do the same work, to the
 * bit. */
static bool run_frames(const Touching *of, double *ms)
{
    enum { WARM = 3 };
    BrioScene *scene = NULL;
    BrioSim *sim = NULL;
    BrioError error = {0};
    BrioStatus status = brio__scene_parse(of->scene, strlen(of->scene), of->name, &scene, &error);
    if (status == BRIO_OK) status = brio__scene_sim(scene, &sim, &error);
    brio__scene_free(scene);
    if (status == BRIO_OK) status = stretch(sim, of->stretch, &error);
    for (int f = -WARM; f < FRAMES && status == BRIO_OK; f++) {
        double start = brio__seconds();
        status = brio_sim_step(sim, &error);
        if (f >= 0) ms[f] = fmin(ms[f], 1e3 * (brio__seconds() - start));
    }
    brio_sim_free(sim);
    if (status != BRIO_OK) fprintf(stderr, "brio bench: %s: %s\n", of->name, error.message);
    return status == BRIO_OK;
}

int bench_touching(void)
{
    double ms[FRAMES], apart = 0;
    heading("touching: 300 frames of two bodies of 729 vertices, a-search, ten iterations; ms per "
            "frame, and slowest / mean of the bodies apart and vibrating (goal: at most 2.5)\n"
            "  bodies                  mean   median   slowest   slowest / apart");
    for (size_t i = 0; i < BRIO_COUNT(cases); i++) {
        char text[80];
        say(cases[i].name);
        for (int f = 0; f < FRAMES; f++) ms[f] = INFINITY;
        for (int k = 0; k < RUNS; k++)
            if (!run_frames(&cases[i], ms)) return EXIT_FAILED;
        double mean = 0;
        for (int f = 0; f < FRAMES; f++) mean += ms[f] / FRAMES;
        if (i == 1) apart = mean;
        qsort(ms, FRAMES, sizeof *ms, brio__ascending);
        double slowest = ms[FRAMES - 1], ratio = apart > 0 ? slowest / apart : NAN;
        if (!bench_by_figure) {
            printf("  %-18s %9.3f %8.3f %9.3f", cases[i].name, mean, ms[FRAMES / 2], slowest);
            if (i > 1) printf(" %17.2f", ratio);
            putchar('\n');
            fflush(stdout);
            continue;
        }
        snprintf(text, sizeof text, "%s: mean frame", cases[i].name);
        figure("touching", text, mean, "ms");
        snprintf(text, sizeof text, "%s: slowest / apart", cases[i].name);
        if (i > 1) figure("touching", text, ratio, "(goal: at most 2.5)");
    }
    return EXIT_DONE;
}
