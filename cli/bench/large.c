/* brio bench large: steps of bars of 100 thousand to a million tets with the multilevel solver, and
 * the power of the number of tets with which their time grows. */
#include "bench.h"

#include <sys/resource.h>

int bench_large(void)
{
    static const int64_t sizes[] = {100000, 414000, 1030000};
    enum { SIZES = BRIO_COUNT(sizes) };
    char text[320];
    snprintf(text, sizeof text,
             "large: backward Euler, neo-Hookean bar, h = 1/30 s, tolerance 1e-3 m/s, %d "
             "threads\n" BENCH_STEPS_COLUMNS,
             brio_threads());
    heading(text);
    StepRow row[SIZES];
    for (int i = 0; i < SIZES; i++) {
        int exit = bench_measure_steps("multilevel", sizes[i], &row[i]);
        if (exit != EXIT_DONE) return exit;
        bench_print_steps("large", "multilevel", &row[i]);
    }
    const StepRow *last = &row[SIZES - 1];
    figure("large", "the first step of the largest, which analyses the matrix", last->first, "ms");
    figure("large", "a step grows as tets to the power",
           log(last->step / row[0].step) / log(last->tets / row[0].tets), "");
    figure("large", "CG iterations grow by the factor", last->cg / row[0].cg, "");
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    figure("large", "most memory that the process held", (double)usage.ru_maxrss / 1e6, "GB");
    return EXIT_DONE;
}
