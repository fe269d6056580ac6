/* brio bench threads: steps with one thread and with all, on the machine as it is and with a busy
 * loop on each core; then as many simulations at a time as there are threads.
 *
 * One thread and all of them take turns, and the mean counts: on a busy machine the minimum time
 * does not show what threads cost. */
#include "bench.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { MAX_BUSY = 256, MIN_STEPS = 3 };
static const double TURN = 0.25, BUDGET = 4; /* s, for both thread counts together */

/* A bar and what solves its steps: Newton's method with a linear solver, or local/global. */
typedef struct Bar {
    int64_t tets;
    const char *type, *linear;
} Bar;

static const Bar bars[] = {
    {300, "newton", "auto"},       {2000, "newton", "auto"},      {12000, "newton", "auto"},
    {55000, "newton", "pcg"},      {280000, "newton", "auto"},    {2000, "local-global", NULL},
    {12000, "local-global", NULL}, {55000, "local-global", NULL}, {280000, "local-global", NULL},
};

static BrioSim *make_bar(const Bar *bar)
{
    if (bar->linear) return bench_bar("neo-hookean", bar->tets, bar->linear, "backward-euler");
    BrioSimDef def = brio_default_sim("backward-euler");
    def.solver.type = bar->type;
    return bench_bar_with("corotated", bar->tets, &def);
}

typedef struct Loops {
    pid_t process[MAX_BUSY];
    int count;
} Loops;

static void loops_start(Loops *loops, int count)
{
    for (loops->count = 0; loops->count < BRIO_MIN(count, (int)MAX_BUSY); loops->count++) {
        pid_t process = fork();
        if (process < 0) break;
        if (process == 0) {
#ifdef __linux__
            prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
            for (volatile int i = 0;; i++) continue;
        }
        loops->process[loops->count] = process;
    }
}

static void loops_stop(Loops *loops)
{
    for (int i = 0; i < loops->count; i++) {
        kill(loops->process[i], SIGKILL);
        waitpid(loops->process[i], NULL, 0);
    }
    loops->count = 0;
}

/* Mean seconds of a step of each simulation, sim[i] with threads[i]. */
static bool take_turns(BrioSim *sim[2], const int threads[2], double mean[2])
{
    double spent[2] = {0, 0};
    int64_t steps[2] = {0, 0};
    while (spent[0] + spent[1] < BUDGET || steps[0] < MIN_STEPS || steps[1] < MIN_STEPS)
        for (int i = 0; i < 2; i++) {
            double begin = brio__seconds(), now = begin;
            brio_set_threads(threads[i]);
            for (; now - begin < TURN; steps[i]++) {
                BrioError error = {0};
                if (brio_sim_step(sim[i], &error)) {
                    fprintf(stderr, "brio bench: %s\n", error.message);
                    return false;
                }
                now = brio__seconds();
            }
            spent[i] += now - begin;
        }
    for (int i = 0; i < 2; i++) mean[i] = spent[i] / (double)steps[i];
    return true;
}

static bool measure(const Bar *bar, int all, bool busy)
{
    const int threads[2] = {1, all};
    BrioSim *sim[2] = {NULL, NULL};
    double mean[2] = {0, 0};
    bool good = true;
    for (int i = 0; i < 2 && good; i++) {
        sim[i] = make_bar(bar);
        good = sim[i] && !brio_sim_step(sim[i], NULL); /* which analyses the matrix */
    }
    Loops loops = {.count = 0};
    if (busy) loops_start(&loops, all);
    good = good && take_turns(sim, threads, mean);
    loops_stop(&loops);
    long long vertices = good ? (long long)sim[0]->system->vertex_count : 0;
    for (int i = 0; i < 2; i++) brio_sim_free(sim[i]);
    if (!good) return false;
    const char *load = busy ? "busy" : "as it is";
    if (!bench_by_figure)
        printf("  %-10s %-13s %9lld %14.3f %14.3f %9.2f\n", load, bar->type, vertices,
               1e3 * mean[0], 1e3 * mean[1], mean[0] / mean[1]);
    fflush(stdout);
    char name[96];
    for (int i = 0; i < 2 && bench_by_figure; i++) {
        snprintf(name, sizeof name, "%s, %s, %lld vertices, %d threads", load, bar->type, vertices,
                 threads[i]);
        figure("threads", name, 1e3 * mean[i], "ms");
    }
    return true;
}

/* ---- several simulations at a time ------------------------------------------------------ */

enum { MAX_SIMS = 8, STEPS = 8 };

static void *run_steps(void *context)
{
    BrioSim *sim = context;
    for (int i = 0; i < STEPS; i++)
        if (brio_sim_step(sim, NULL)) return context;
    return NULL;
}

/* Seconds of STEPS steps of each: one after the other, or at a time in threads of their own. */
static bool run_all(BrioSim *const *sim, int count, bool beside, double *seconds)
{
    pthread_t thread[MAX_SIMS];
    bool good = true, started[MAX_SIMS] = {false};
    double begin = brio__seconds();
    for (int i = 0; i < count; i++) {
        started[i] = beside && !pthread_create(&thread[i], NULL, run_steps, sim[i]);
        if (!started[i]) good &= !run_steps(sim[i]);
    }
    for (int i = 0; i < count; i++) {
        void *failed = NULL;
        if (started[i]) pthread_join(thread[i], &failed);
        good &= !failed;
    }
    *seconds = brio__seconds() - begin;
    return good;
}

static bool measure_sims(int all)
{
    int count = BRIO_MIN(all, (int)MAX_SIMS);
    BrioSim *sim[MAX_SIMS] = {NULL};
    bool good = true;
    for (int i = 0; i < count && good; i++) {
        sim[i] = bench_bar("neo-hookean", 12000, "auto", "backward-euler");
        good = sim[i] && !brio_sim_step(sim[i], NULL); /* which analyses the matrix */
    }
    double best[2] = {INFINITY, INFINITY};
    for (int again = 0; again < 3 && good; again++)
        for (int beside = 0; beside < 2 && good; beside++) {
            double seconds;
            good = run_all(sim, count, beside, &seconds);
            best[beside] = fmin(best[beside], 1e3 * seconds / (count * STEPS));
        }
    for (int i = 0; i < count; i++) brio_sim_free(sim[i]);
    if (!good) return false;
    heading("simulations of 12,000 tets, each with all threads: ms per step");
    figure("threads", "one after the other", best[0], "ms");
    figure("threads", "each in a thread of the program", best[1], "ms");
    return true;
}

int bench_threads(void)
{
    int all = brio_threads();
    bool good = true;
    heading("steps of a bar, means in ms");
    if (!bench_by_figure)
        printf("  machine    solver         vertices   1 thread, ms %3d threads, ms   faster\n",
               all);
    for (int busy = 0; busy < 2; busy++)
        for (size_t i = 0; i < BRIO_COUNT(bars) && good; i++) {
            say(busy ? "measuring with busy loops ..." : "measuring ...");
            good = measure(&bars[i], all, busy);
        }
    brio_set_threads(all);
    good = good && measure_sims(all);
    return good ? EXIT_DONE : EXIT_FAILED;
}
