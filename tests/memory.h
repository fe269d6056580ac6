/* The library's memory in tests: counted, and refused where a test wants that. */
#ifndef BRIO_TEST_MEMORY_H
#define BRIO_TEST_MEMORY_H

#include "base.h"

#include <stdlib.h>

/* Call `fail_at` fails (-1: none), and all after it if `stays`. */
typedef struct Memory {
    int64_t calls, live, fail_at;
    bool stays, failed;
} Memory;

static inline void *memory_allocate(void *user, size_t size)
{
    Memory *m = user;
    int64_t call = m->calls++;
    if (m->fail_at >= 0 && (m->stays ? call >= m->fail_at : call == m->fail_at)) {
        m->failed = true;
        return NULL;
    }
    void *memory = malloc(size);
    m->live += memory != NULL;
    return memory;
}

static inline void memory_release(void *user, void *memory)
{
    Memory *m = user;
    m->live -= memory != NULL;
    free(memory);
}

/* From now on until brio_set_allocator(NULL). */
static inline void memory_start(Memory *m, int64_t fail_at, bool stays)
{
    *m = (Memory){.fail_at = fail_at, .stays = stays};
    brio_set_allocator(&(BrioAllocator){memory_allocate, memory_release, m});
}

#endif
