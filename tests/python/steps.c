/* For test_cost.py: processor time of steps from C, in s, the smallest of several rounds. steps
 * SCENE ROUNDS STEPS [PATH=VALUE]... */
#include <brio/brio.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    BrioSim *sim;
    BrioError error = {0};
    double best = 1e300;
    brio_set_threads(1);
    BrioSource source = {
        .name = argv[1], .sets = (const char *const *)argv + 4, .set_count = argc - 4};
    for (int round = 0; round < atoi(argv[2]); round++) {
        if (brio_sim_open(&source, &sim, &error)) return fprintf(stderr, "%s\n", error.message), 1;
        double start = seconds();
        for (int k = 0; k < atoi(argv[3]); k++)
            if (brio_sim_step(sim, NULL)) return 1;
        double took = seconds() - start;
        if (took < best) best = took;
        brio_sim_free(sim);
    }
    printf("%.9f\n", best);
}
