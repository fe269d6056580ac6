/* brio bench newton: the phases of a Newton iteration at 24 thousand tets, and memory. */
#include "bench.h"

int bench_newton(void)
{
    char text[160];
    say("measuring Newton iterations at 24 thousand tets ...");
    int64_t before = bench_fixed;
    BrioSim *sim = bench_bar("neo-hookean", 24000, brio__linear_at(0)->name, "backward-euler");
    if (!sim) return EXIT_FAILED;
    const BrioSystem *system = sim->system;
    BrioSolver *solver = sim->stepper->solver;
    double best[7] = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};
    for (int k = 0; k < 8; k++) { /* the least of several steps, each phase by itself */
        BrioSolveTotals a = solver->totals;
        if (brio_sim_step(sim, NULL) != BRIO_OK) {
            fprintf(stderr, "brio bench: %s\n", brio_sim_reason(sim));
            brio_sim_free(sim);
            return EXIT_FAILED;
        }
        BrioSolveTotals b = solver->totals;
        double n = (double)(b.iterations - a.iterations);
        double phase[6] = {b.gradient - a.gradient, b.hessian - a.hessian,
                           b.assembly - a.assembly, b.factor - a.factor,
                           b.solve - a.solve,       b.line_search - a.line_search};
        for (int i = 0; i < 6 && k > 0; i++) best[i] = fmin(best[i], 1e3 * phase[i] / n);
    }
    static const char *const names[] = {"gradient and value",   "element Hessians, projected",
                                        "sums into the matrix", "numeric factorisation",
                                        "triangular solves",    "step limit and line search"};
    double tets = (double)system->body[0].tet_count, others = 0;
    snprintf(text, sizeof text, "newton: %.0f tets, %lld vertices, %d threads, %s, %s", tets,
             (long long)system->vertex_count, brio_threads(), brio_isa(), brio__blas_name());
    heading(text);
    for (int i = 0; i < 6; i++) {
        figure("newton", names[i], best[i], "ms an iteration");
        if (i != 3) others += best[i];
    }
    BrioLinearStats stats;
    brio__linear_stats(solver->linear, &stats);
    /* which has one thread */
    figure("newton", "everything but the factorisation / the factorisation", others / best[3],
           "(goal: below 1)");
    figure("newton", "factorisation", stats.factor_flops / best[3] * 1e-6, "GFlop/s");
    figure("newton", "nonzeros of the factor", stats.factor_nonzeros * 1e-6, "million");
    figure("newton", "memory without the factor", (double)(bench_fixed - before) / tets,
           "B a tet (goal: below 1000)");
    figure("newton", "memory of the factor", stats.bytes / tets, "B a tet");
    brio_sim_free(sim);
    return EXIT_DONE;
}
