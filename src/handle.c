/* The list of living handles (handle.h): chains by address, in static memory and in the handles
 * themselves, so that the list needs no memory of its own. */
#include "handle.h"

#include <pthread.h>
#include <stdint.h>

/* It stands in front of the object, in the same block. */
typedef struct Entry {
    struct Entry *next;
    BrioHandleKind kind;
} Entry;

enum { CHAINS = 1024, FRONT = BRIO_ALIGN };
_Static_assert(sizeof(Entry) <= FRONT, "an entry fits in front of its object");

static Entry *chain[CHAINS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static Entry **chain_of(const void *handle)
{
    uint64_t address = (uint64_t)(uintptr_t)handle / BRIO_ALIGN;
    return &chain[address * 0x9e3779b97f4a7c15u >> 54];
}

static Entry *entry_of(void *handle) { return (Entry *)((char *)handle - FRONT); }

void *brio__handle_create(size_t size, BrioHandleKind kind)
{
    char *block = size < SIZE_MAX - FRONT ? brio__calloc(1, FRONT + size) : NULL;
    if (!block) return NULL;
    void *handle = block + FRONT;
    Entry *entry = entry_of(handle), **first = chain_of(handle);
    pthread_mutex_lock(&lock);
    *entry = (Entry){*first, kind};
    *first = entry;
    pthread_mutex_unlock(&lock);
    return handle;
}

bool brio__handle_lives(const void *handle, BrioHandleKind kind)
{
    if (!handle) return false;
    pthread_mutex_lock(&lock);
    const Entry *entry = *chain_of(handle);
    while (entry && (const char *)entry + FRONT != (const char *)handle) entry = entry->next;
    bool lives = entry && entry->kind == kind;
    pthread_mutex_unlock(&lock);
    return lives;
}

void brio__handle_free(void *handle)
{
    Entry *entry = entry_of(handle), **at = chain_of(handle);
    pthread_mutex_lock(&lock);
    while (*at && *at != entry) at = &(*at)->next;
    if (*at) *at = entry->next;
    pthread_mutex_unlock(&lock);
    brio__free(entry);
}
