/* Threads: a pool that shares out the chunks of a loop, and sums in a fixed order.
 *
 * A caller puts its loop into a slot and takes chunks of it like everybody else. Workers take what
 * is left. The caller never waits for a worker that has begun nothing: when no chunk is left to
 * begin, it waits for those that were begun, and for nothing else. Where the machine gives the
 * workers no time, the caller does all of it alone.
 *
 * What was begun may still be stopped by the machine, for a time slice of some milliseconds. So
 * each calling thread keeps an account of what its workers gained and cost (wake-ups, waiting, a
 * core taken from it). A loss of t is paid off by going on alone for PAY_OFF t: threads cost at
 * most a fraction 1/PAY_OFF more than none, whatever else runs on the machine.
 *
 * Waiting: a worker looks out for the next loop for some microseconds, since in a step loops follow
 * each other closely, and then sleeps on a semaphore of its own. No lock is taken on the way: a
 * thread that was stopped while it held one would stop all others.
 *
 * Chunks depend on count and grain only, so results do not depend on who does what, nor on any of
 * the times measured here. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "base.h"

#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int threads_wanted;

#ifdef __EMSCRIPTEN__

static int sharing_threads = 1;
static BrioSharing *sharing;

void brio__set_sharing(int threads, BrioSharing *distribute)
{
    sharing_threads = threads;
    sharing = distribute;
}

void brio_set_threads(int threads) { threads_wanted = threads > 0 ? threads : 0; }

void brio__waited(double seconds) { (void)seconds; }

int brio_threads(void)
{
    return threads_wanted > 0 ? BRIO_MIN(threads_wanted, sharing_threads) : sharing_threads;
}

void brio__parallel_for(int64_t count, int64_t grain, BrioWork *work, void *context)
{
    int64_t chunks = (count + grain - 1) / grain;
    int threads = (int)BRIO_MIN((int64_t)brio_threads(), chunks);
    if (threads > 1) {
        sharing(threads, count, grain, work, context);
        return;
    }
    for (int64_t i = 0; i < chunks; i++) work(context, i * grain, BRIO_MIN(count, (i + 1) * grain));
}

#else

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
    MAX_WORKERS = 255,
    SLOTS = 32,        /* loops at a time; a caller who finds none works alone */
    COSTS = 256,       /* loops whose time is remembered */
    LOOK_OUT = 50000,  /* ns for which a worker looks out for the next loop */
    WAIT_AWAKE = 5000, /* ns beyond the time of a chunk for which a caller waits without sleeping */
    MAX_AWAKE = 100000,
    WORTH_AWAKE = 4000,   /* ns of a loop from which it is shared with workers that look out */
    WORTH_ASLEEP = 60000, /* and with those that sleep: waking one takes the caller 10 us */
    LONG = 500000,        /* ns */
    SAMPLE = 64,          /* of so many runs of a loop that is not long one is alone */
    CREDIT = 1000000,     /* most ns of gain that are set against a later loss */
    MAX_DEBT = 50000,     /* ns of loss at which the caller goes on alone */
    PAY_OFF = 15,
    MAX_LOSSES = 3,         /* doublings of it */
    MAX_ALONE = 1000000000, /* ns, if sharing has been at a loss for long */
    END = 100000000 /* ns for which the end of the program waits for workers within a chunk */
};

/* A loop. `word` holds the chunks that nobody has begun in its lower half, and a count of loops in
 * its upper half: who takes a chunk compares and swaps it, so that it never takes one of a later
 * loop. All else holds still until every chunk is finished. */
typedef struct Slot {
    _Alignas(BRIO_ALIGN) _Atomic uint64_t word;
    atomic_int helpers; /* workers that may take chunks */
    atomic_bool taken;
    _Alignas(BRIO_ALIGN) _Atomic int64_t unfinished; /* chunks */
    _Atomic int64_t helped;                          /* ns that workers were busy */
    atomic_bool waiting;                             /* the caller sleeps */
    int64_t chunks, count, grain;
    BrioWork *work;
    void *context;
    uint64_t control; /* of the caller's floating point */
    sem_t done;
} Slot;

typedef struct Worker {
    _Alignas(BRIO_ALIGN) atomic_bool asleep;
    atomic_bool ended;
    sem_t wake;
    pthread_t thread;
} Worker;

static struct {
    _Alignas(BRIO_ALIGN) atomic_uint posted; /* loops so far: workers look at it */
    _Alignas(BRIO_ALIGN) atomic_int workers;
    atomic_int awake;   /* workers that look out or work */
    atomic_int callers; /* slots taken */
    atomic_int most;    /* workers that the system lets us have, as far as known */
    atomic_int cores;   /* 0: not asked */
    atomic_bool closing;
    pthread_mutex_t starting;
    bool watched; /* forks */
    Slot slot[SLOTS];
    Worker worker[MAX_WORKERS];
} pool = {.most = MAX_WORKERS, .starting = PTHREAD_MUTEX_INITIALIZER};

/* Of each thread that calls. */
static _Thread_local struct {
    bool inside;        /* a chunk: what is called from there runs in this thread */
    int64_t account;    /* ns gained, at most CREDIT */
    int losses;         /* since it was at CREDIT */
    int64_t alone_till; /* ns of the clock */
    int64_t waited;     /* ns within chunks of this loop */
} mine;

static int64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1000000000 * (int64_t)now.tv_sec + now.tv_nsec;
}

/* Of this thread alone, without the time for which the machine gave its core to others. */
static int64_t busy_ns(void)
{
    struct timespec busy;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &busy);
    return 1000000000 * (int64_t)busy.tv_sec + busy.tv_nsec;
}

static inline void pause_core(void)
{
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Rounding, and whether tiny numbers are zero. Workers compute as their caller does. */
static inline uint64_t float_control(void)
{
    uint64_t control = 0;
#if defined(__x86_64__)
    control = _mm_getcsr();
#elif defined(__aarch64__)
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
#endif
    return control;
}

static inline void set_float_control(uint64_t control)
{
#if defined(__x86_64__)
    _mm_setcsr((unsigned)control);
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
#else
    (void)control;
#endif
}

static int cores(void)
{
    int known = atomic_load_explicit(&pool.cores, memory_order_relaxed);
    if (known) return known;
#ifdef __linux__
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof set, &set)) known = CPU_COUNT(&set);
#endif
    if (known < 1) known = (int)sysconf(_SC_NPROCESSORS_ONLN);
    known = BRIO_MAX(known, 1);
    atomic_store_explicit(&pool.cores, known, memory_order_relaxed);
    return known;
}

void brio_set_threads(int threads)
{
    threads_wanted = threads > 0 ? threads : 0;
    pool.most = MAX_WORKERS; /* what was tried in vain may be tried again */
}

int brio_threads(void)
{
    int wanted = atomic_load_explicit(&threads_wanted, memory_order_relaxed);
    return wanted > 0 ? wanted : cores();
}

void brio__waited(double seconds) { mine.waited += (int64_t)(1e9 * seconds); }

/* ---- chunks ----------------------------------------------------------------------------- */

/* Worker `number` of `workers` may help in a slot: each slot has `helpers` of them, and slots begin
 * at different ones. */
static bool may_help(int number, int workers, int slot, int helpers)
{
    if (workers <= helpers) return true;
    return (number + workers - slot * helpers % workers) % workers < helpers;
}

/* The next chunk that nobody has begun, or -1. */
static int64_t take_chunk(Slot *slot, int number, int workers)
{
    uint64_t word = atomic_load(&slot->word);
    while ((uint32_t)word) {
        int helpers = atomic_load_explicit(&slot->helpers, memory_order_relaxed);
        if (number >= 0 && !may_help(number, workers, (int)(slot - pool.slot), helpers)) return -1;
        if (atomic_compare_exchange_weak(&slot->word, &word, word - 1))
            return slot->chunks - (int64_t)(uint32_t)word;
    }
    return -1;
}

static void run_chunk(const Slot *slot, int64_t chunk)
{
    int64_t begin = chunk * slot->grain;
    slot->work(slot->context, begin, BRIO_MIN(slot->count, begin + slot->grain));
}

/* A worker's part of a loop: false if there is nothing to do. */
static bool help(Slot *slot, int number)
{
    int workers = atomic_load_explicit(&pool.workers, memory_order_relaxed);
    int64_t chunk = take_chunk(slot, number, workers);
    if (chunk < 0) return false;
    set_float_control(slot->control);
    int64_t begin = clock_ns(), done = 0;
    mine.waited = 0;
    for (; chunk >= 0; chunk = take_chunk(slot, number, workers), done++) run_chunk(slot, chunk);
    atomic_fetch_add_explicit(&slot->helped, clock_ns() - begin - mine.waited,
                              memory_order_relaxed);
    /* From here on the slot may belong to another loop, whose caller then wakes for nothing and
     * looks again. */
    if (atomic_fetch_sub(&slot->unfinished, done) == done && atomic_load(&slot->waiting) &&
        atomic_exchange(&slot->waiting, false))
        sem_post(&slot->done);
    return true;
}

static void sleep_on(sem_t *semaphore)
{
    while (sem_wait(semaphore) && errno == EINTR) continue;
}

static void look_out(unsigned seen)
{
    /* with more threads than cores it would take the time of those that work */
    if (atomic_load_explicit(&pool.workers, memory_order_relaxed) >= cores()) return;
    int64_t till = clock_ns() + LOOK_OUT;
    while (atomic_load_explicit(&pool.posted, memory_order_relaxed) == seen && clock_ns() < till)
        for (int i = 0; i < 8; i++) pause_core();
}

static void *attend(void *context)
{
    Worker *self = context;
    int number = (int)(self - pool.worker);
    mine.inside = true;
    while (!atomic_load(&pool.closing)) {
        unsigned seen = atomic_load(&pool.posted);
        bool helped = false;
        for (int i = 0; i < SLOTS; i++) helped |= help(&pool.slot[i], number);
        if (helped) continue;
        look_out(seen);
        if (atomic_load(&pool.posted) != seen) continue;
        atomic_fetch_sub(&pool.awake, 1);
        /* share() counts the loop before it looks who sleeps. An exchange, and no store: qemu 7
         * lets a load of Arm programs go before a store, whatever the order that both ask for, and
         * nobody would be woken. */
        (void)atomic_exchange(&self->asleep, true);
        if ((atomic_load(&pool.posted) == seen && !atomic_load(&pool.closing)) ||
            !atomic_exchange(&self->asleep, false))
            sleep_on(&self->wake);
        atomic_fetch_add(&pool.awake, 1);
    }
    atomic_store(&self->ended, true);
    return NULL;
}

/* ---- workers ---------------------------------------------------------------------------- */

/* Only the thread that forked is in the new process. */
static void after_fork(void)
{
    atomic_store(&pool.workers, 0);
    atomic_store(&pool.awake, 0);
    atomic_store(&pool.callers, 0);
    atomic_store(&pool.most, MAX_WORKERS);
    pthread_mutex_init(&pool.starting, NULL);
    for (int i = 0; i < SLOTS; i++) {
        atomic_store(&pool.slot[i].word, atomic_load(&pool.slot[i].word) >> 32 << 32);
        atomic_store(&pool.slot[i].waiting, false);
        atomic_store(&pool.slot[i].taken, false);
    }
}

static bool start_worker(Worker *worker)
{
    atomic_store(&worker->asleep, false);
    atomic_store(&worker->ended, false);
    if (sem_init(&worker->wake, 0, 0)) return false;
    atomic_fetch_add(&pool.awake, 1);
    if (!pthread_create(&worker->thread, NULL, attend, worker)) return true;
    atomic_fetch_sub(&pool.awake, 1);
    sem_destroy(&worker->wake);
    return false;
}

/* Signals of the program are for its own threads. Those of a fault stay: they come in the thread
 * that has it. */
static void start_workers(int wanted)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    if (pthread_mutex_trylock(&pool.starting)) return; /* somebody else does it */
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (int i = 0; i < (int)BRIO_COUNT(faults); i++) sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    if (!pool.watched) {
        for (int i = 0; i < SLOTS; i++) sem_init(&pool.slot[i].done, 0, 0);
        pool.watched = !pthread_atfork(NULL, NULL, after_fork);
    }
    for (int n = pool.workers; pool.watched && n < wanted && n < pool.most; n = pool.workers) {
        if (start_worker(&pool.worker[n]))
            atomic_store(&pool.workers, n + 1);
        else
            pool.most = n; /* no more until the program asks again */
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_mutex_unlock(&pool.starting);
}

/* At the end of the program, workers that have nothing to do end too. One that is within a chunk
 * of a loop that nobody will see the end of is left to itself. */
__attribute__((destructor)) static void end_workers(void)
{
    atomic_store(&pool.closing, true);
    int64_t till = clock_ns() + END;
    for (int i = 0; i < pool.workers; i++) {
        Worker *worker = &pool.worker[i];
        while (!atomic_load(&worker->ended) && clock_ns() < till) {
            if (atomic_exchange(&worker->asleep, false)) sem_post(&worker->wake);
            sched_yield();
        }
        if (atomic_load(&worker->ended))
            pthread_join(worker->thread, NULL);
        else
            pthread_detach(worker->thread);
    }
    atomic_store(&pool.workers, 0);
}

/* ---- loops ------------------------------------------------------------------------------ */

/* What a loop takes one thread, ns, by its function and size; 0: not known. Who reads while another
 * writes may find a wrong number, which costs time only. */
typedef struct Cost {
    _Atomic uint64_t key;
    _Atomic int64_t time;
    atomic_uint runs;
} Cost;

static Cost *cost_of(BrioWork *work, int64_t count)
{
    static Cost costs[COSTS];
    uint64_t mixed =
        ((uint64_t)(uintptr_t)work ^ (uint64_t)count * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    Cost *cost = &costs[(mixed >> 40) % COSTS];
    if (atomic_load_explicit(&cost->key, memory_order_relaxed) != mixed) {
        atomic_store_explicit(&cost->time, 0, memory_order_relaxed);
        atomic_store_explicit(&cost->runs, 0, memory_order_relaxed);
        atomic_store_explicit(&cost->key, mixed, memory_order_relaxed);
    }
    return cost;
}

/* A thread that was stopped meanwhile took longer: shorter times count at once, longer ones with
 * patience. */
static void learn_cost(Cost *cost, int64_t time)
{
    int64_t before = atomic_load_explicit(&cost->time, memory_order_relaxed);
    if (before && time > before) time = before + (time - before) / 8;
    atomic_store_explicit(&cost->time, time, memory_order_relaxed);
}

/* Small loops run alone, and of the others that are not long now and then one, since what a loop
 * takes alone cannot be seen from one that is shared: its data come from another core's cache. */
static bool is_for_one(Cost *cost)
{
    int64_t time = atomic_load_explicit(&cost->time, memory_order_relaxed);
    unsigned runs = atomic_fetch_add_explicit(&cost->runs, 1, memory_order_relaxed);
    bool awake = atomic_load_explicit(&pool.awake, memory_order_relaxed) > 0;
    if (!time) return false;
    return time < (awake ? WORTH_AWAKE : WORTH_ASLEEP) || (time < LONG && runs % SAMPLE == 1);
}

static void run_alone(int64_t count, int64_t grain, BrioWork *work, void *context)
{
    for (int64_t begin = 0; begin < count; begin += grain)
        work(context, begin, BRIO_MIN(count, begin + grain));
}

static Slot *take_slot(void)
{
    for (int i = 0; i < SLOTS; i++)
        if (!atomic_load_explicit(&pool.slot[i].taken, memory_order_relaxed) &&
            !atomic_exchange(&pool.slot[i].taken, true))
            return &pool.slot[i];
    return NULL;
}

static void wake_helpers(const Slot *slot, int helpers)
{
    int workers = atomic_load(&pool.workers);
    for (int i = 0; i < workers; i++)
        if (may_help(i, workers, (int)(slot - pool.slot), helpers) &&
            atomic_load(&pool.worker[i].asleep) && atomic_exchange(&pool.worker[i].asleep, false))
            sem_post(&pool.worker[i].wake);
}

/* Waits until every chunk is finished: at first without sleeping, for as long as a worker that runs
 * may need. */
static void wait_for_helpers(Slot *slot, int64_t patience)
{
    int64_t till = clock_ns() + BRIO_MIN(WAIT_AWAKE + patience, (int64_t)MAX_AWAKE);
    while (atomic_load(&slot->unfinished)) {
        if (clock_ns() < till) {
            for (int i = 0; i < 8; i++) pause_core();
            continue;
        }
        (void)atomic_exchange(&slot->waiting, true); /* as in attend() */
        if (atomic_load(&slot->unfinished)) sleep_on(&slot->done);
        atomic_store(&slot->waiting, false);
    }
}

/* Who loses again and again tries again later and later. */
static void keep_account(int64_t gain, int64_t now)
{
    mine.account += gain;
    if (mine.account >= CREDIT) {
        mine.account = CREDIT;
        mine.losses = 0;
    }
    if (mine.account > -MAX_DEBT) return;
    int64_t alone = -mine.account * (PAY_OFF << mine.losses);
    mine.alone_till = now + BRIO_MIN(alone, (int64_t)MAX_ALONE);
    mine.losses = BRIO_MIN(mine.losses + 1, (int)MAX_LOSSES);
    mine.account = 0;
}

/* Distributes a loop over the threads. `alone`: its time with one thread in ns (0: unknown).
 * Returns a new estimate of that time. */
static int64_t share(Slot *slot, int64_t begin, int64_t alone)
{
    int helpers = atomic_load_explicit(&slot->helpers, memory_order_relaxed);
    uint64_t loops = (atomic_load_explicit(&slot->word, memory_order_relaxed) >> 32) + 1;
    atomic_store_explicit(&slot->helped, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->unfinished, slot->chunks, memory_order_relaxed);
    atomic_store(&slot->word, loops << 32 | (uint64_t)slot->chunks);
    atomic_fetch_add(&pool.posted, 1);
    wake_helpers(slot, helpers);
    int64_t started = busy_ns(), done = 0;
    mine.inside = true;
    mine.waited = 0;
    for (int64_t chunk; (chunk = take_chunk(slot, -1, 0)) >= 0; done++) run_chunk(slot, chunk);
    mine.inside = false;
    int64_t worked = BRIO_MAX(busy_ns() - started - mine.waited, (int64_t)0);
    int64_t each = done ? worked / done : 0;
    if (atomic_fetch_sub(&slot->unfinished, done) != done) wait_for_helpers(slot, each);
    int64_t end = clock_ns();
    int64_t helped = atomic_load_explicit(&slot->helped, memory_order_relaxed);
    int64_t saved = done ? BRIO_MIN(each * (slot->chunks - done), helped) : end - begin;
    /* The time for which the caller itself was stopped counts as a loss too: often it was a worker
     * that took its core. */
    keep_account((alone ? alone : worked + saved) - (end - begin), end);
    return worked + saved;
}

static bool share_out(int threads, int64_t count, int64_t grain, int64_t chunks, BrioWork *work,
                      void *context, int64_t begin, int64_t *time)
{
    int64_t alone = *time;
    int callers = atomic_fetch_add(&pool.callers, 1) + 1;
    int wanted = BRIO_MIN(callers * (threads - 1), BRIO_MAX(threads, cores()) - 1);
    wanted = BRIO_MIN(wanted, MAX_WORKERS);
    if (wanted > pool.workers && pool.workers < pool.most && !pool.closing) start_workers(wanted);
    Slot *slot = pool.workers > 0 ? take_slot() : NULL;
    if (slot) {
        slot->chunks = chunks;
        slot->count = count;
        slot->grain = grain;
        slot->work = work;
        slot->context = context;
        slot->control = float_control();
        atomic_store_explicit(&slot->helpers, threads - 1, memory_order_relaxed);
        *time = share(slot, begin, alone);
        atomic_store(&slot->taken, false);
    }
    atomic_fetch_sub(&pool.callers, 1);
    return slot != NULL;
}

void brio__parallel_for(int64_t count, int64_t grain, BrioWork *work, void *context)
{
    int64_t chunks = (count + grain - 1) / grain;
    int threads = chunks > 1 ? (int)BRIO_MIN((int64_t)brio_threads(), chunks) : 1;
    if (threads < 2 || mine.inside || chunks > UINT32_MAX)
        return run_alone(count, grain, work, context);
    /* a task may be anything from one call to the next */
    Cost *cost = grain > 1 ? cost_of(work, count) : NULL;
    bool one = cost && is_for_one(cost);
    int64_t begin = clock_ns();
    int64_t time = cost ? atomic_load_explicit(&cost->time, memory_order_relaxed) : 0;
    bool known = time > 0;
    if (one || begin < mine.alone_till ||
        !share_out(threads, count, grain, chunks, work, context, begin, &time)) {
        run_alone(count, grain, work, context);
        time = clock_ns() - begin;
        known = false;
    }
    if (cost && !known) learn_cost(cost, time);
}

#endif

/* ---- sums ------------------------------------------------------------------------------- */

enum { SUM_CHUNKS = 512, SUM_GRAIN = 8192 };

typedef struct SumWork {
    BrioTermSum *term;
    void *context;
    int64_t grain;
    double partial[SUM_CHUNKS];
} SumWork;

static void sum_chunk(void *context, int64_t begin, int64_t end)
{
    SumWork *sum = context;
    sum->partial[begin / sum->grain] = sum->term(sum->context, begin, end);
}

double brio__parallel_sum(int64_t count, BrioTermSum *term, void *context)
{
    SumWork sum = {.term = term, .context = context};
    sum.grain = BRIO_MAX((int64_t)SUM_GRAIN, (count + SUM_CHUNKS - 1) / SUM_CHUNKS);
    brio__parallel_for(count, sum.grain, sum_chunk, &sum);
    double total = 0;
    for (int64_t i = 0; i * sum.grain < count; i++) total += sum.partial[i];
    return total;
}

/* 0 of finite numbers, else NaN. */
static double nothing_chunk(void *context, int64_t begin, int64_t end)
{
    const double *x = context;
    double sum[8] = {0};
    int64_t i = begin;
    for (; i + 8 <= end; i += 8)
        for (int k = 0; k < 8; k++) sum[k] += x[i + k] - x[i + k];
    for (; i < end; i++) sum[0] += x[i] - x[i];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

bool brio__all_finite(int64_t count, const double *x)
{
    return brio__parallel_sum(count, nothing_chunk, (void *)x) == 0;
}
