/* Threads of the engine in a page: a pool that shares out the chunks of brio__parallel_for.
 *
 * A page may not wait, so whoever calls takes chunks like all others, and looks on, without
 * sleeping, until those that were taken are done. It waits for nobody who has not begun. Where the
 * machine is busy with other things and has stopped a worker within a chunk, the caller does the
 * next jobs alone: waiting for it costs more than it helps. Workers look out for the next job for a
 * while, since in a step jobs follow each other closely, and then sleep. */
#include "internal.h"

#include <emscripten/emscripten.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
    SPINS = 20000, /* some 50 microseconds */
    ALONE = 2000   /* jobs of some 30 steps */
};
/* ms for which no worker goes on with a chunk unless it was stopped, or has more to do than the
 * caller had */
static const double STOPPED = 2;

static struct {
    /* from a job's beginning to its end; what is called from within it runs alone */
    atomic_bool taken;
    /* there are chunks to take; the members below hold still while it is set or anybody is
     * inside */
    atomic_bool open;
    atomic_int inside; /* workers that look at the job */
    atomic_uint jobs;  /* counts them: workers sleep on it */
    atomic_int sleepers;
    int alone; /* jobs that the caller still does alone */
    int threads;
    int64_t count, grain;
    BrioWork *work;
    void *context;
    _Atomic int64_t next; /* chunk that nobody has taken */
    atomic_uint helped;   /* chunks that workers have done since they were started */
} pool;

/* How many they were. */
static unsigned take_chunks(void)
{
    int64_t chunks = (pool.count + pool.grain - 1) / pool.grain;
    unsigned done = 0;
    for (int64_t i; (i = atomic_fetch_add(&pool.next, 1)) < chunks; done++)
        pool.work(pool.context, i * pool.grain, BRIO_MIN(pool.count, (i + 1) * pool.grain));
    return done;
}

static void *attend(void *number)
{
    unsigned seen = 0;
    for (;;) {
        for (int spins = 0; spins < SPINS && atomic_load(&pool.jobs) == seen; spins++) continue;
        if (atomic_load(&pool.jobs) == seen) {
            atomic_fetch_add(&pool.sleepers, 1);
            __builtin_wasm_memory_atomic_wait32((int *)&pool.jobs, (int)seen, -1);
            atomic_fetch_sub(&pool.sleepers, 1);
            continue;
        }
        seen = atomic_load(&pool.jobs);
        /* before it looks whether the job is open: share() does the two the other way round */
        atomic_fetch_add(&pool.inside, 1);
        if (atomic_load(&pool.open) && (int)(intptr_t)number < pool.threads)
            atomic_fetch_add(&pool.helped, take_chunks());
        atomic_fetch_sub(&pool.inside, 1);
    }
    return NULL;
}

static void do_alone(int64_t count, int64_t grain, BrioWork *work, void *context)
{
    for (int64_t begin = 0; begin < count; begin += grain)
        work(context, begin, BRIO_MIN(count, begin + grain));
}

static void distribute(int threads, int64_t count, int64_t grain, BrioWork *work, void *context)
{
    if (atomic_exchange(&pool.taken, true)) return do_alone(count, grain, work, context);
    if (pool.alone > 0) {
        pool.alone--;
        do_alone(count, grain, work, context);
        atomic_store(&pool.taken, false);
        return;
    }
    double begin = emscripten_get_now();
    pool.threads = threads;
    pool.count = count;
    pool.grain = grain;
    pool.work = work;
    pool.context = context;
    pool.next = 0;
    atomic_store(&pool.open, true);
    atomic_fetch_add(&pool.jobs, 1);
    if (atomic_load(&pool.sleepers) > 0)
        __builtin_wasm_memory_atomic_notify((int *)&pool.jobs, INT_MAX);
    take_chunks();
    atomic_store(&pool.open, false);
    double done = emscripten_get_now();
    while (atomic_load(&pool.inside) > 0) continue;
    double waited = emscripten_get_now() - done;
    if (waited > STOPPED && waited > done - begin) pool.alone = ALONE;
    atomic_store(&pool.taken, false);
}

/* Starts threads - 1 workers next to the caller, once; how many threads there are then. */
EMSCRIPTEN_KEEPALIVE int web_start_threads(int threads)
{
    int started = 1;
    pthread_t worker;
    while (started < threads &&
           pthread_create(&worker, NULL, attend, (void *)(intptr_t)started) == 0)
        started++;
    if (started > 1) brio__set_sharing(started, distribute);
    return started;
}

EMSCRIPTEN_KEEPALIVE unsigned web_helped(void) { return atomic_load(&pool.helped); }
