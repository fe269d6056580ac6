/* Threads of the engine in a page: a pool that shares out the chunks of brio__parallel_for.
 *
 * A page may not wait, so whoever calls takes chunks like all others, and looks on, without sleeping, until those that were taken are done. It waits for nobody
 * who has not begun: on a busy machine it does all chunks itself. Workers look out for the next job for a while, since in a step jobs follow each other
 * closely, and then sleep. */
#include "base.h"

#include <emscripten/emscripten.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

enum { LOOKS = 20000 }; /* some 50 microseconds */

static struct {
    atomic_bool taken;   /* from a job's beginning to its end; what is called from within it runs alone */
    atomic_bool open;    /* there are chunks to take; the members below hold still while it is set or anybody is inside */
    atomic_int inside;   /* workers that look at the job */
    atomic_uint jobs;    /* counts them: workers sleep on it */
    atomic_int sleepers;
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
    for (int64_t i; (i = atomic_fetch_add(&pool.next, 1)) < chunks; done++) pool.work(pool.context, i * pool.grain, BRIO_MIN(pool.count, (i + 1) * pool.grain));
    return done;
}

static void *attend(void *number)
{
    unsigned seen = 0;
    for (;;) {
        for (int looks = 0; looks < LOOKS && atomic_load(&pool.jobs) == seen; looks++) continue;
        if (atomic_load(&pool.jobs) == seen) {
            atomic_fetch_add(&pool.sleepers, 1);
            __builtin_wasm_memory_atomic_wait32((int *)&pool.jobs, (int)seen, -1);
            atomic_fetch_sub(&pool.sleepers, 1);
            continue;
        }
        seen = atomic_load(&pool.jobs);
        atomic_fetch_add(&pool.inside, 1); /* before it looks whether the job is open: share() does the two the other way round */
        if (atomic_load(&pool.open) && (int)(intptr_t)number < pool.threads) atomic_fetch_add(&pool.helped, take_chunks());
        atomic_fetch_sub(&pool.inside, 1);
    }
    return NULL;
}

static void share(int threads, int64_t count, int64_t grain, BrioWork *work, void *context)
{
    if (atomic_exchange(&pool.taken, true)) {
        for (int64_t begin = 0; begin < count; begin += grain) work(context, begin, BRIO_MIN(count, begin + grain));
        return;
    }
    pool.threads = threads;
    pool.count = count;
    pool.grain = grain;
    pool.work = work;
    pool.context = context;
    pool.next = 0;
    atomic_store(&pool.open, true);
    atomic_fetch_add(&pool.jobs, 1);
    if (atomic_load(&pool.sleepers) > 0) __builtin_wasm_memory_atomic_notify((int *)&pool.jobs, INT_MAX);
    take_chunks();
    atomic_store(&pool.open, false);
    while (atomic_load(&pool.inside) > 0) continue;
    atomic_store(&pool.taken, false);
}

/* Starts threads - 1 workers beside the caller, once; how many threads there are then. */
EMSCRIPTEN_KEEPALIVE int web_start_threads(int threads)
{
    int started = 1;
    pthread_t worker;
    while (started < threads && pthread_create(&worker, NULL, attend, (void *)(intptr_t)started) == 0) started++;
    if (started > 1) brio__set_sharing(started, share);
    return started;
}

/* Up to as many as there are; 0: all. */
EMSCRIPTEN_KEEPALIVE void web_set_threads(int threads) { brio_set_threads(threads); }

EMSCRIPTEN_KEEPALIVE unsigned web_helped(void) { return atomic_load(&pool.helped); }
