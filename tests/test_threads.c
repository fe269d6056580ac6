/* The pool of threads: every chunk is run once, bits do not depend on the number of threads, nobody
 * waits for a thread that has begun nothing, and nothing that a program does with threads, forks or
 * limits makes it hang. A test that fails by waiting is ended by the alarm. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_setattr_default_np */
#endif
#include "base.h"
#include "emulated.h"
#include "sanitized.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cmocka.h>

/* PATIENCE: s, on a busy machine and under sanitizers */
enum { MAX_THREADS = 8, PATIENCE = EMULATED ? 1200 : 120 };

/* ---- chunks ----------------------------------------------------------------------------- */

typedef struct Marks {
    int64_t count, grain;
    atomic_int *times;
    atomic_int wrong;
} Marks;

static void mark(void *context, int64_t begin, int64_t end)
{
    Marks *m = context;
    if (begin % m->grain || end != BRIO_MIN(m->count, begin + m->grain) || begin >= end) m->wrong++;
    for (int64_t i = begin; i < end; i++) m->times[i]++;
}

static void check_marks(int64_t count, int64_t grain)
{
    Marks m = {.count = count, .grain = grain, .times = calloc((size_t)count + 1, sizeof(int))};
    brio__parallel_for(count, grain, mark, &m);
    assert_int_equal(m.wrong, 0);
    for (int64_t i = 0; i < count; i++) assert_int_equal(m.times[i], 1);
    assert_int_equal(m.times[count], 0);
    free(m.times);
}

static void test_chunks(void **state)
{
    (void)state;
    static const int64_t counts[] = {0, 1, 2, 3, 7, 64, 1000, 4097};
    static const int64_t grains[] = {1, 2, 7, 512, 100000};
    for (int threads = 0; threads <= MAX_THREADS; threads++) {
        brio_set_threads(threads);
        for (int again = 0; again < 5; again++)
            for (int c = 0; c < (int)BRIO_COUNT(counts); c++)
                for (int g = 0; g < (int)BRIO_COUNT(grains); g++) check_marks(counts[c], grains[g]);
    }
    brio_set_threads(0);
}

static double harmonic(void *context, int64_t begin, int64_t end)
{
    double sum = 0;
    (void)context;
    for (int64_t i = begin; i < end; i++) sum += 1 / (1.0 + (double)i);
    return sum;
}

static void test_sums(void **state)
{
    (void)state;
    static const int64_t counts[] = {1, 8192, 8193, 100000, 5000000};
    for (int c = 0; c < (int)BRIO_COUNT(counts); c++) {
        brio_set_threads(1);
        double alone = brio__parallel_sum(counts[c], harmonic, NULL);
        for (int threads = 2; threads <= MAX_THREADS; threads++)
            for (int again = 0; again < 10; again++) {
                brio_set_threads(threads);
                double sum = brio__parallel_sum(counts[c], harmonic, NULL);
                assert_memory_equal(&sum, &alone, sizeof sum);
            }
    }
    brio_set_threads(0);
}

/* ---- two threads that wait for each other ----------------------------------------------- */

typedef struct Meeting {
    atomic_int here, wanted;
    atomic_bool missed, signals_wrong, control_wrong;
    pthread_t caller;
    uint64_t control;
} Meeting;

/* How this thread rounds and treats tiny numbers, without the flags of what has happened. */
#if defined(__x86_64__)
#define TINY_IS_ZERO 0x8040u
static uint64_t float_control(void) { return _mm_getcsr() & ~0x3fu; }
static void set_float_control(uint64_t control) { _mm_setcsr((unsigned)control); }
#elif defined(__aarch64__)
#define TINY_IS_ZERO (1u << 24)
static uint64_t float_control(void)
{
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
}
static void set_float_control(uint64_t control)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
}
#endif

static void check_worker(Meeting *m)
{
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    if (!sigismember(&blocked, SIGINT) || !sigismember(&blocked, SIGUSR1) ||
        !sigismember(&blocked, SIGALRM) || sigismember(&blocked, SIGSEGV))
        m->signals_wrong = true;
#ifdef TINY_IS_ZERO
    if (float_control() != m->control) m->control_wrong = true;
#endif
}

/* Returns when `wanted` threads are here. */
static void meet(void *context, int64_t begin, int64_t end)
{
    Meeting *m = context;
    (void)begin, (void)end;
    if (!pthread_equal(pthread_self(), m->caller)) check_worker(m);
    m->here++;
    double till = brio__seconds() + PATIENCE / 60.0;
    while (m->here < m->wanted && !m->missed)
        if (brio__seconds() > till)
            m->missed = true;
        else
            sched_yield();
}

static bool meets_once(int threads, Meeting *m)
{
    *m = (Meeting){.wanted = threads, .caller = pthread_self()};
#ifdef TINY_IS_ZERO
    m->control = float_control();
#endif
    brio_set_threads(threads);
    brio__parallel_for(threads, 1, meet, m);
    brio_set_threads(0);
    return !m->missed;
}

/* A caller may go on alone for a while where workers were stopped before: try again. */
static bool meets(int threads, Meeting *m)
{
    bool met = false;
    for (int tries = 0; tries < 30 && !met; tries++) met = meets_once(threads, m);
    return met;
}

/* Workers are there, keep signals from the program's handlers, and compute as the caller does. */
static void test_workers(void **state)
{
    (void)state;
    Meeting m;
    for (int threads = 2; threads <= MAX_THREADS; threads++) {
        assert_true(meets(threads, &m));
        assert_false(m.signals_wrong);
    }
#ifdef TINY_IS_ZERO
    uint64_t before = float_control();
    set_float_control(before | TINY_IS_ZERO);
    bool met = meets(2, &m);
    set_float_control(before);
    assert_true(met && !m.control_wrong);
    assert_true(meets(2, &m) && !m.control_wrong);
#endif
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    assert_false(sigismember(&blocked, SIGINT));
}

/* ---- loops within loops ----------------------------------------------------------------- */

static void inner(void *context, int64_t begin, int64_t end)
{
    _Atomic int64_t *sum = context;
    for (int64_t i = begin; i < end; i++) *sum += i;
}

static void outer(void *context, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) {
        brio__parallel_for(100, 7, inner, context);
        brio__parallel_for(3, 1, inner, context);
    }
}

static void test_nested(void **state)
{
    (void)state;
    brio_set_threads(4);
    for (int again = 0; again < 200; again++) {
        _Atomic int64_t sum = 0;
        brio__parallel_for(50, 1, outer, &sum);
        assert_int_equal(sum, 50 * (4950 + 3));
    }
    brio_set_threads(0);
}

/* ---- several callers -------------------------------------------------------------------- */

static void *call_often(void *context)
{
    int number = (int)(intptr_t)context;
    double alone = 0;
    for (int64_t begin = 0; begin < 40000; begin += 8192)
        alone += harmonic(NULL, begin, BRIO_MIN(begin + 8192, (int64_t)40000));
    for (int i = 0; i < 100; i++) {
        check_marks(20 + 13 * ((number + i) % 17), 1 + i % 5);
        if (brio__parallel_sum(40000, harmonic, NULL) != alone) return (void *)1;
    }
    return NULL;
}

static void test_callers(void **state)
{
    (void)state;
    enum { CALLERS = 40 }; /* more than loops that are shared out at a time */
    for (int threads = 2; threads <= MAX_THREADS; threads += 3) {
        pthread_t thread[CALLERS];
        brio_set_threads(threads);
        for (int i = 0; i < CALLERS; i++)
            assert_int_equal(pthread_create(&thread[i], NULL, call_often, (void *)(intptr_t)i), 0);
        for (int i = 0; i < CALLERS; i++) {
            void *wrong;
            pthread_join(thread[i], &wrong);
            assert_null(wrong);
        }
    }
    brio_set_threads(0);
}

static atomic_int stuck;
static atomic_bool released;

static void get_stuck(void *context, int64_t begin, int64_t end)
{
    (void)context, (void)begin, (void)end;
    stuck++;
    while (!released) usleep(1000);
}

static void *call_stuck(void *context)
{
    brio__parallel_for(*(int *)context, 1, get_stuck, NULL);
    return NULL;
}

/* Every worker sits in a chunk of another caller. Who waits for one that has begun nothing hangs
 * here. */
static void test_busy_workers(void **state)
{
    (void)state;
    pthread_t thread;
    int chunks = MAX_THREADS;
    brio_set_threads(MAX_THREADS);
    stuck = 0;
    released = false;
    assert_int_equal(pthread_create(&thread, NULL, call_stuck, &chunks), 0);
    while (stuck < chunks) usleep(1000);
    for (int i = 0; i < 100; i++) check_marks(1000, 1 + i % 10);
    released = true;
    pthread_join(thread, NULL);
    brio_set_threads(0);
}

/* ---- forks, ends, limits ---------------------------------------------------------------- */

/* Runs it in a process of its own, which must end by itself with code 0. */
static void in_child(int (*run)(void))
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(PATIENCE); /* alarms are not inherited */
        int code = run();
        if (SANITIZED) _exit(code); /* they take what other threads held for leaks */
        exit(code);
    }
    int status = -1;
    while (waitpid(child, &status, 0) < 0) continue;
    if (status)
        print_message("the child ended with %d, signal %d\n", WEXITSTATUS(status),
                      WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    assert_int_equal(status, 0);
}

static int use_pool(void)
{
    Meeting m;
    if (!meets(2, &m) || !meets(5, &m)) return 1;
    brio_set_threads(3);
    return brio__parallel_sum(100000, harmonic, NULL) > 12 ? 0 : 2;
}

static int fork_again(void)
{
    pid_t child = fork();
    if (child == 0) _exit(use_pool());
    int status = -1;
    waitpid(child, &status, 0);
    return status ? 3 : use_pool();
}

static void *fork_beside(void *unused)
{
    (void)unused;
    in_child(use_pool);
    return NULL;
}

static void test_fork(void **state)
{
    (void)state;
    Meeting m;
    assert_true(meets(4, &m));
    in_child(use_pool);
    in_child(fork_again);
    assert_true(meets(4, &m));
    /* while the pool works for another thread */
    pthread_t thread, forks;
    int chunks = 3;
    brio_set_threads(3);
    stuck = 0;
    released = false;
    assert_int_equal(pthread_create(&thread, NULL, call_stuck, &chunks), 0);
    while (stuck < chunks) usleep(1000);
    assert_int_equal(pthread_create(&forks, NULL, fork_beside, NULL), 0);
    pthread_join(forks, NULL);
    released = true;
    pthread_join(thread, NULL);
    assert_true(meets(4, &m));
}

static int no_threads(void)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    /* no address space has room for such a stack */
    if (pthread_attr_setstacksize(&attributes, (size_t)1 << 62)) return 4;
    if (pthread_setattr_default_np(&attributes)) return 5;
    pthread_t thread;
    if (!pthread_create(&thread, NULL, call_often, NULL)) return 6; /* then this tests nothing */
    brio_set_threads(6);
    for (int i = 0; i < 100; i++) check_marks(1000, 1 + i % 10);
    if (call_often(NULL)) return 7;
    /* and when there is room again */
    pthread_attr_setstacksize(&attributes, (size_t)1 << 20);
    pthread_setattr_default_np(&attributes);
    return use_pool();
}

static int end_beside(void)
{
    static int chunks = 2;
    pthread_t thread;
    brio_set_threads(2);
    stuck = 0;
    released = false;
    if (pthread_create(&thread, NULL, call_stuck, &chunks)) return 8;
    while (stuck < chunks) usleep(1000);
    return 0; /* exit() with a worker that never ends its chunk */
}

static void test_ends(void **state)
{
    (void)state;
    in_child(end_beside);
    if (SANITIZED)
        print_message("SKIPPED: sanitizers do not survive a thread that cannot be started\n");
    else
        in_child(no_threads);
}

/* Whatever memory there is, a command ends, with a sentence if it failed. */
static void test_limits(void **state)
{
    (void)state;
    if (SANITIZED || EMULATED) {
        print_message("SKIPPED: sanitizers and emulators need more address space\n");
        return;
    }
    static const int limits[] = {40000, 100000, 150000, 200000, 300000}; /* KiB */
    static const char *const commands[] = {
        "list shapes",
        "--version",
        "check cloth",
        "stability cloth",
        "run cloth -o %s --force --quiet --set time.end=0.05",
        "run cloth -o %s --force --quiet --set time.end=0.05 --set solver.linear=cholesky"};
    char folder[] = "/tmp/brio-threads-XXXXXX", command[2048], line[1024], text[512];
    assert_non_null(mkdtemp(folder));
    for (int l = 0; l < (int)BRIO_COUNT(limits); l++)
        for (int c = 0; c < (int)BRIO_COUNT(commands); c++) {
            snprintf(text, sizeof text, commands[c], folder);
            snprintf(command, sizeof command, "ulimit -v %d && timeout 60 '%s' %s 2>&1", limits[l],
                     BRIO_PROGRAM, text);
            FILE *pipe = popen(command, "r");
            assert_non_null(pipe);
            int lines = 0;
            while (fgets(line, sizeof line, pipe)) lines++;
            int code = pclose(pipe);
            if (code) print_message("%d KiB, %s: %s", limits[l], text, line);
            assert_true(WIFEXITED(code) && WEXITSTATUS(code) <= 2);
            assert_true(code == 0 || lines > 0);
        }
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* ---- simulations ------------------------------------------------------------------------ */

enum { STEPS = 4, SIMS = 3 };

typedef struct Trial {
    const char *scene;
    double *x;
    int64_t count;
} Trial;

static void *simulate(void *context)
{
    Trial *trial = context;
    BrioSim *sim;
    BrioError error = {0};
    if (brio_sim_load(trial->scene, &sim, &error)) return error.message[0] ? "no scene" : "";
    for (int i = 0; i < STEPS; i++)
        if (brio_sim_step(sim, &error)) return "no step";
    trial->count = 3 * brio_body_vertices(brio_sim_system(sim), 0);
    trial->x = malloc((size_t)trial->count * sizeof *trial->x);
    brio_sim_positions(sim, 0, trial->x);
    brio_sim_free(sim);
    return NULL;
}

/* s of processor time that this process has used. */
static double processor_time(void)
{
    struct timespec busy;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &busy);
    return (double)busy.tv_sec + 1e-9 * (double)busy.tv_nsec;
}

/* Simulations in threads of the program, each with threads of the pool: the bits are those of one
 * alone, and threads that wait do not burn the time of those that work. */
static void test_simulations(void **state)
{
    (void)state;
    static const char *const scenes[SIMS] = {"scenes/cloth.yaml", "scenes/dice.yaml",
                                             "scenes/cloth.yaml"};
    Trial alone[SIMS] = {{0}}, beside[SIMS] = {{0}};
    pthread_t thread[SIMS];
    double start = processor_time();
    brio_set_threads(1);
    for (int i = 0; i < SIMS; i++) {
        alone[i].scene = beside[i].scene = scenes[i];
        assert_null(simulate(&alone[i]));
    }
    double one_by_one = processor_time() - start;
    start += one_by_one;
    brio_set_threads(2);
    for (int i = 0; i < SIMS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, simulate, &beside[i]), 0);
    for (int i = 0; i < SIMS; i++) {
        void *problem;
        pthread_join(thread[i], &problem);
        assert_null(problem);
        assert_int_equal(alone[i].count, beside[i].count);
        assert_memory_equal(alone[i].x, beside[i].x, (size_t)alone[i].count * sizeof *alone[i].x);
        free(alone[i].x);
        free(beside[i].x);
    }
    double together = processor_time() - start;
    print_message("processor time: %.3g s one by one, %.3g s together with 2 threads each\n",
                  one_by_one, together);
    assert_true(together < 3 * one_by_one); /* waiting without sleep took many times as much */
    brio_set_threads(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunks),      cmocka_unit_test(test_sums),
        cmocka_unit_test(test_workers),     cmocka_unit_test(test_nested),
        cmocka_unit_test(test_callers),     cmocka_unit_test(test_busy_workers),
        cmocka_unit_test(test_fork),        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_simulations), cmocka_unit_test(test_limits),
    };
    alarm(5 * PATIENCE);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
