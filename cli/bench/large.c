/* brio bench large: a step of bars of 100 thousand to a million tets with the iterative solvers,
 * and the power of the number of tets with which it grows. */
#include "bench.h"

#include <stdlib.h>

int bench_large(void)
{
    static const int64_t sizes[] = {100000, 414000, 1030000};
    char text[320];
    snprintf(
        text, sizeof text,
        "large: backward Euler, neo-Hookean bar, h = 1/30 s, tolerance 1e-3 m/s, %d threads\n"
        "       tets  solver     step, ms   Newton  iteration, ms       CG   B a tet    factor",
        brio_threads());
    heading(text);
    StepRow row[BRIO_COUNT(sizes)];
    int count = getenv("SIZES") ? atoi(getenv("SIZES")) : 3;
    const char *solver = getenv("SOLVER") ? getenv("SOLVER") : "multilevel";
    for (int i = 0; i < count; i++) {
        int exit = bench_measure_steps(solver, sizes[i], &row[i]);
        if (exit != EXIT_DONE) return exit;
        bench_print_steps("large", solver, &row[i]);
        printf("first %g ms\n", row[i].first);
    }
    return EXIT_DONE;
}
