/* brio bench scenes: shipped scenes for a fixed number of steps, by phase. */
#include "bench.h"

static const struct {
    const char *name;
    int steps;
} scenes[] = {{"cube-soft", 200}, {"twisted-bar", 20}, {"ball-soft", 150},
              {"membrane", 8},    {"dice", 150},       {"stairs", 30}};

static void print_scene(const char *name, int steps, const BrioSolveTotals *totals, double seconds)
{
    const struct {
        const char *name;
        double value;
    } columns[] = {
#define X(phase) {#phase, totals->phase},
        BRIO_PHASE_LIST(X)
#undef X
    };
    double rest = seconds, iterations = (double)totals->iterations;
    char text[160];
    if (!bench_by_figure)
        printf("  %-12s %5d %6.0f %7lld %8.3f", name, steps, iterations,
               (long long)totals->factorisations, seconds);
    for (size_t i = 0; i < BRIO_COUNT(columns); i++) {
        rest -= columns[i].value;
        snprintf(text, sizeof text, "%s: %s", name, columns[i].name);
        if (bench_by_figure)
            figure("scenes", text, columns[i].value, "s");
        else
            printf(" %8.3f", columns[i].value);
    }
    snprintf(text, sizeof text, "%s: all", name);
    if (bench_by_figure)
        figure("scenes", text, seconds, "s");
    else
        printf(" %8.3f\n", rest);
    snprintf(text, sizeof text, "%s: Newton iterations", name);
    if (bench_by_figure) figure("scenes", text, iterations, "");
    fflush(stdout);
}

static bool measure_scene(const char *name, int steps)
{
    BrioSim *sim = bench_scene(name, NULL);
    if (!sim) return false;
    BrioStatus status = BRIO_OK;
    double before = brio__seconds();
    for (int k = 0; k < steps && status == BRIO_OK; k++) status = brio_sim_step(sim, NULL);
    if (status == BRIO_OK)
        print_scene(name, steps, &sim->stepper->solver->totals, brio__seconds() - before);
    else
        fprintf(stderr, "brio bench: %s: %s\n", name, brio_sim_reason(sim));
    brio_sim_free(sim);
    return status == BRIO_OK;
}

int bench_scenes(void)
{
    char text[400];
    int length = snprintf(text, sizeof text, "scenes: seconds, %d threads\n  %-12s %5s %6s %7s %8s",
                          brio_threads(), "scene", "steps", "Newton", "factors", "all");
#define X(phase) length += snprintf(text + length, sizeof text - (size_t)length, " %8.8s", #phase);
    BRIO_PHASE_LIST(X)
#undef X
    snprintf(text + length, sizeof text - (size_t)length, " %8s", "rest");
    heading(text);
    for (size_t i = 0; i < BRIO_COUNT(scenes); i++) {
        snprintf(text, sizeof text, "measuring %s ...", scenes[i].name);
        say(text);
        if (!measure_scene(scenes[i].name, scenes[i].steps)) return EXIT_FAILED;
    }
    return EXIT_DONE;
}
