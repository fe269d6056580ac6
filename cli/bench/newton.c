/* brio bench newton: the phases of a Newton iteration at 24 thousand tets compared with the minimum
 * time for their flops and bytes, and memory. */
#include "bench.h"

enum { PHASES = 6 };

/* What a phase must do in an iteration. Flops are those of `bench elements`; bytes are the arrays
 * that are read and written once: nodes and rest state 96 per tet, positions and gradients 24 a
 * vertex, the lower half of an element's Hessian 624, a block of the matrix 72, a number of L 8. */
typedef struct Phase {
    const char *name;
    double flops, bytes;
} Phase;

static void needs(const BrioSystem *system, const BrioLinear *linear, Phase phase[PHASES])
{
    BrioLinearStats stats;
    brio__linear_stats(linear, &stats);
    double tets = (double)system->body[0].tet_count, vertices = (double)system->vertex_count;
    double blocks = (double)linear->A.start[linear->A.n], L = stats.factor_nonzeros;
    phase[0] = (Phase){"gradient and value", 255 * tets, 96 * tets + 48 * vertices};
    phase[1] = (Phase){"element Hessians, projected", 2150 * tets, 720 * tets + 24 * vertices};
    phase[2] = (Phase){"sums into the matrix", 78 * tets, 624 * tets + 72 * blocks};
    phase[3] = (Phase){"numeric factorisation", stats.factor_flops, 72 * blocks + 8 * L};
    phase[4] = (Phase){"triangular solves", 4 * L, 16 * L};
    phase[5] = (Phase){"step limit and line search", 400 * tets, 192 * tets + 48 * vertices};
}

/* The least ms of each phase in an iteration. Matrices and factors count each time that one is
 * made: the last iteration of a step may use the factor before it. */
static bool time_phases(BrioSim *sim, double best[PHASES])
{
    const BrioSolveTotals *totals = &sim->stepper->solver->totals;
    for (int i = 0; i < PHASES; i++) best[i] = INFINITY;
    for (int k = 0; k < 8; k++) {
        BrioSolveTotals a = *totals;
        if (brio_sim_step(sim, NULL) != BRIO_OK) {
            fprintf(stderr, "brio bench: %s\n", brio_sim_reason(sim));
            return false;
        }
        BrioSolveTotals b = *totals;
        double n = (double)(b.iterations - a.iterations);
        double factors = (double)(b.factorisations - a.factorisations);
        double phase[PHASES] = {(b.gradient - a.gradient) / n,
                                (b.hessian - a.hessian) / factors,
                                (b.assembly - a.assembly) / factors,
                                (b.factor - a.factor) / factors,
                                (b.solve - a.solve) / n,
                                (b.line_search - a.line_search) / n};
        for (int i = 0; i < PHASES && k > 0; i++) best[i] = fmin(best[i], 1e3 * phase[i]);
    }
    return true;
}

static void print_phases(const BrioSim *sim, const double best[PHASES])
{
    Phase phase[PHASES];
    char text[200];
    needs(sim->system, sim->stepper->solver->linear, phase);
    double flops = bench_flops(brio_threads());
    snprintf(text, sizeof text, "  %-28s %9s %9s %9s %9s %7s   (%.0f GFlop/s)", "phase", "ms",
             "MFlop", "MB", "limit, ms", "ratio", 1e-9 * flops);
    if (!bench_by_figure) printf("%s\n", text);
    for (int i = 0; i < PHASES; i++) {
        double reading = bench_reading(brio_threads(), phase[i].bytes);
        double limit = 1e3 * fmax(phase[i].flops / flops, phase[i].bytes / reading);
        if (!bench_by_figure) {
            printf("  %-28s %9.4g %9.4g %9.4g %9.3g %7.3g   (%.1f GB/s)\n", phase[i].name, best[i],
                   1e-6 * phase[i].flops, 1e-6 * phase[i].bytes, limit, best[i] / limit,
                   1e-9 * reading);
            continue;
        }
        figure("newton", phase[i].name, best[i], "ms");
        snprintf(text, sizeof text, "%s / its limit", phase[i].name);
        figure("newton", text, best[i] / limit, "");
    }
}

int bench_newton(void)
{
    char text[160];
    double best[PHASES], others = 0;
    say("measuring Newton iterations at 24 thousand tets ...");
    int64_t before = bench_fixed;
    BrioSim *sim = bench_bar("neo-hookean", 24000, "ldlt", "backward-euler");
    if (!sim) return EXIT_FAILED;
    const BrioSystem *system = sim->system;
    if (!time_phases(sim, best)) {
        brio_sim_free(sim);
        return EXIT_FAILED;
    }
    BrioLinearStats stats;
    brio__linear_stats(sim->stepper->solver->linear, &stats);
    double tets = (double)system->body[0].tet_count;
    double library = (double)(bench_fixed - before) - stats.bytes;
    snprintf(text, sizeof text, "newton: %.0f tets, %lld vertices, %d threads, %s", tets,
             (long long)system->vertex_count, brio_threads(), brio_isa());
    heading(text);
    print_phases(sim, best);
    for (int i = 0; i < PHASES; i++) others += i == 3 ? 0 : best[i];
    figure("newton", "everything but the factorisation / the factorisation", others / best[3], "");
    figure("newton", "factorisation", stats.factor_flops / best[3] * 1e-6, "GFlop/s");
    figure("newton", "nonzeros of the factor", stats.factor_nonzeros * 1e-6, "million");
    figure("newton", "memory without the factor", library / tets, "B a tet (goal: below 1000)");
    figure("newton", "memory of the factor and its fronts", stats.bytes / tets, "B a tet");
    brio_sim_free(sim);
    return EXIT_DONE;
}
