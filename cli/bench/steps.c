/* brio bench steps: the cost of a step from 6 thousand to 400 thousand tets, and the power of the
 * number of tets with which it grows (a straight line through the logarithms). */
#include "bench.h"

#include <sys/resource.h>

void bench_print_steps(const char *bench, const char *solver, const StepRow *row)
{
    if (!bench_by_figure) {
        printf("  %9.0f  %-10s %9.4g %8.3g %13.4g %8.0f %9.0f %9.0f\n", row->tets, solver,
               row->step, row->newton, row->iteration, row->cg, row->memory, row->factor);
        fflush(stdout);
        return;
    }
    const struct {
        const char *name, *unit;
        double value;
    } figures[] = {{"a step", "ms", row->step},
                   {"Newton iterations per step", "", row->newton},
                   {"a Newton iteration", "ms", row->iteration},
                   {"CG iterations per Newton iteration", "", row->cg},
                   {"memory without the factor", "B a tet", row->memory},
                   {"memory of the factor", "B a tet", row->factor}};
    for (size_t i = 0; i < BRIO_COUNT(figures); i++) {
        char text[160];
        snprintf(text, sizeof text, "%s, %.0f tets: %s", solver, row->tets, figures[i].name);
        figure(bench, text, figures[i].value, figures[i].unit);
    }
}

int bench_measure_steps(const char *solver, int64_t tets, StepRow *row)
{
    char text[160];
    snprintf(text, sizeof text, "measuring steps at %lld tets with %s ...", (long long)tets,
             solver);
    say(text);
    int64_t before = bench_fixed;
    BrioSim *sim = bench_bar("neo-hookean", tets, solver, "backward-euler");
    if (!sim) return EXIT_FAILED;
    const BrioSolveTotals *totals = &sim->stepper->solver->totals;
    BrioStatus status = BRIO_OK;
    int steps = tets > 50000 ? 3 : 6;
    *row = (StepRow){
        .tets = (double)sim->system->body[0].tet_count, .step = INFINITY, .iteration = INFINITY};
    for (int n = 0; n < steps && status == BRIO_OK; n++) {
        int64_t iterations = totals->iterations;
        double start = brio__seconds();
        status = brio_sim_step(sim, NULL);
        double ms = 1e3 * (brio__seconds() - start);
        if (n == 0) row->first = ms;
        if (n == 0) continue; /* it also analyses the matrix */
        row->step = fmin(row->step, ms);
        row->iteration = fmin(row->iteration, ms / (double)(totals->iterations - iterations));
    }
    if (status == BRIO_OK) {
        BrioLinearStats stats;
        brio__linear_stats(sim->stepper->solver->linear, &stats);
        row->newton = (double)totals->iterations / steps;
        row->cg = (double)stats.iterations / (double)totals->iterations;
        row->memory = (double)(bench_fixed - before) / row->tets;
        row->factor = stats.factor_nonzeros > 0 ? stats.bytes / row->tets : 0;
    } else {
        fprintf(stderr, "brio bench: %s\n", brio_sim_reason(sim));
    }
    brio_sim_free(sim);
    return status == BRIO_OK ? EXIT_DONE : EXIT_FAILED;
}

int bench_steps(void)
{
    static const int64_t sizes[] = {6000, 24000, 100000, 400000};
    static const char *const solvers[] = {"cholesky", "pcg", "multilevel"};
    char text[320];
    snprintf(text, sizeof text,
             "steps: backward Euler, neo-Hookean bar, h = 1/30 s, tolerance 1e-3 m/s, %d "
             "threads\n" BENCH_STEPS_COLUMNS,
             brio_threads());
    heading(text);
    double power[BRIO_COUNT(solvers)] = {NAN, NAN, NAN};
    for (size_t k = 0; k < BRIO_COUNT(solvers); k++) {
        if (!brio__linear_type(solvers[k])) continue;
        double x = 0, y = 0, xx = 0, xy = 0, points = 0;
        for (size_t i = 0; i < BRIO_COUNT(sizes); i++) {
            /* its factor takes gigabytes and minutes: PCG's part of the table */
            if (k == 0 && sizes[i] > 100000) continue;
            StepRow row;
            int exit = bench_measure_steps(solvers[k], sizes[i], &row);
            if (exit != EXIT_DONE) return exit;
            bench_print_steps("steps", solvers[k], &row);
            double lx = log(row.tets), ly = log(row.step);
            x += lx, y += ly, xx += lx * lx, xy += lx * ly, points++;
        }
        power[k] = (points * xy - x * y) / (points * xx - x * x);
    }
    for (size_t k = 0; k < BRIO_COUNT(solvers); k++) {
        snprintf(text, sizeof text, "%s: a step grows as tets to the power", solvers[k]);
        if (!isnan(power[k])) figure("steps", text, power[k], "");
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    figure("steps", "most memory that the process bench_held", (double)usage.ru_maxrss / 1e6, "GB");
    return EXIT_DONE;
}
