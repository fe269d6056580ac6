/* brio bench frames: is the cost of a frame of real time fixed? The slowest of 10,000 frames
 * compared with the median, with hands that drag. */
#include "bench.h"

#include <stdlib.h>

enum { FRAMES = 10000, RUNS = 3 };

typedef struct RealTime {
    const char *scene, *set;
    bool hands; /* points are grabbed, dragged and let go all the time */
} RealTime;

/* Grabs another vertex every 60 frames, and drags it about. */
static void play(BrioSim *sim, int frame, int *hand, BrioRandom *random)
{
    BrioHand grabbed;
    if (frame % 60 == 0) {
        if (*hand >= 0) brio_sim_release(sim, *hand, NULL);
        int32_t vertex =
            (int32_t)(brio__random(random) * (double)brio_body_vertices(sim->system, 0));
        if (brio_sim_grab_vertex(sim, 0, vertex, 50, hand, NULL) != BRIO_OK) *hand = -1;
    } else if (*hand >= 0 && brio_sim_hand(sim, *hand, &grabbed) == BRIO_OK) {
        for (int r = 0; r < 3; r++)
            grabbed.point[r] = grabbed.grip[r] + 0.05 * (brio__random(random) - 0.5);
        brio_sim_drag(sim, *hand, grabbed.point, NULL);
    }
}

static bool run_frames(const RealTime *of, double *ms, int64_t *vertices, int64_t *allocations)
{
    enum { WARM = 3 };
    BrioSim *sim = bench_scene(of->scene, of->set);
    bool fine = sim;
    int hand = -1;
    BrioRandom random = {.state = 1};
    for (int f = -WARM; f < FRAMES && fine; f++) {
        if (f == 0) *allocations = bench_asked;
        double start = brio__seconds();
        if (of->hands) play(sim, f, &hand, &random);
        fine = brio_sim_step(sim, NULL) == BRIO_OK;
        if (!fine) fprintf(stderr, "brio bench: %s: %s\n", of->scene, brio_sim_reason(sim));
        if (f >= 0) ms[f] = 1e3 * (brio__seconds() - start);
    }
    *allocations = bench_asked - *allocations;
    if (fine) *vertices = brio_body_vertices(sim->system, 0);
    brio_sim_free(sim);
    return fine;
}

/* A machine that others use stands still for milliseconds, whatever it runs. The same frames of
 * three runs do the same work, to the bit: the smallest time of each is its own. */
int bench_frames(void)
{
    static const RealTime cases[] = {{"rt-cube", NULL, false},
                                     {"rt-bar", NULL, true},
                                     {"rt-cloth", "output.frames=[]", true},
                                     {"rt-fall", NULL, false},
                                     {"rt-slide", "bodies.0.shape.cells=15", false}};
    double *ms = brio__alloc(2 * FRAMES, sizeof *ms), *min = ms + FRAMES;
    if (!ms) return EXIT_FAILED;
    bool fine = true;
    heading("frames: 10,000 frames of scenes in real time, a-search, ten iterations; ms, and "
            "slowest / median (goal: below 3) of one run and of the smallest times of three runs\n"
            "  scene              vertices   median   99 %   99.9 %   slowest   one run   three "
            "runs   allocations");
    for (size_t i = 0; i < BRIO_COUNT(cases) && fine; i++) {
        char text[160];
        int64_t vertices = 0, allocations = 0;
        double one = 0;
        for (int k = 0; k < RUNS && fine; k++) {
            snprintf(text, sizeof text, "running %d frames of %s, %d of %d ...", FRAMES,
                     cases[i].scene, k + 1, RUNS);
            say(text);
            fine = run_frames(&cases[i], ms, &vertices, &allocations);
            for (int f = 0; f < FRAMES; f++) min[f] = k ? fmin(min[f], ms[f]) : ms[f];
            if (k > 0) continue;
            qsort(ms, FRAMES, sizeof *ms, brio__ascending);
            one = ms[FRAMES - 1] / ms[FRAMES / 2];
        }
        if (!fine) break;
        qsort(min, FRAMES, sizeof *min, brio__ascending);
        double median = min[FRAMES / 2], slowest = min[FRAMES - 1];
        if (!bench_by_figure)
            printf("  %-18s %8lld %8.3f %6.3f %8.3f %9.3f %9.2f %12.2f %13lld\n", cases[i].scene,
                   (long long)vertices, median, min[FRAMES / 100 * 99], min[FRAMES / 1000 * 999],
                   slowest, one, slowest / median, (long long)allocations);
        snprintf(text, sizeof text, "%s: median frame", cases[i].scene);
        if (bench_by_figure) figure("frames", text, median, "ms");
        snprintf(text, sizeof text, "%s: slowest / median, one run", cases[i].scene);
        if (bench_by_figure) figure("frames", text, one, "(goal: below 3)");
        snprintf(text, sizeof text, "%s: slowest / median, least times of three runs",
                 cases[i].scene);
        if (bench_by_figure) figure("frames", text, slowest / median, "(goal: below 3)");
        fflush(stdout);
    }
    brio__free(ms);
    return fine ? EXIT_DONE : EXIT_FAILED;
}
