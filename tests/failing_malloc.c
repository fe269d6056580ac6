/* A library to be loaded before a program (LD_PRELOAD): call number BRIO_FAIL_AT of malloc, calloc,
 * realloc and their like fails, and all after it if BRIO_FAIL_STAYS is set. So memory runs out in
 * every library of the process, not only where brio allocates. At the end the count of calls goes
 * to the file BRIO_FAIL_COUNT. For glibc, whose own names stand behind those that are replaced.
 *
 * One function is spared: libfyaml 0.7 crashes if fy_parser_set_string cannot allocate. brio asks
 * for more memory than it needs right before, so that this cannot happen unless calls are counted
 * (src/scene/yaml.c). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t align, size_t size);
void *memalign(size_t align, size_t size);

static atomic_long calls;
static long fail_at = -1;
static bool stays, ready;

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("BRIO_FAIL_AT");
    fail_at = at ? atol(at) : -1;
    stays = getenv("BRIO_FAIL_STAYS");
    ready = true;
}

__attribute__((destructor)) static void end(void)
{
    const char *file = getenv("BRIO_FAIL_COUNT");
    char text[32];
    int length = snprintf(text, sizeof text, "%ld\n", calls);
    int fd = file ? open(file, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (fd >= 0 && write(fd, text, (size_t)length) == length) close(fd);
}

/* Whether this call is of the function that is spared: that of its struct, or the next one. */
static bool is_spared(const void *caller)
{
    static bool next;
    Dl_info where;
    bool first =
        dladdr(caller, &where) && where.dli_sname && !strcmp(where.dli_sname, "fy_input_alloc");
    bool spared = first || next;
    next = first;
    return spared;
}

static bool fails(const void *caller)
{
    if (!ready) return false; /* the loader's own */
    long call = atomic_fetch_add(&calls, 1);
    if (fail_at < 0 || call + 1 < fail_at || (call > fail_at && !stays)) return false;
    if (is_spared(caller) || call < fail_at) return false;
    errno = ENOMEM;
    return true;
}

#define FAILS fails(__builtin_return_address(0))

void *malloc(size_t size) { return FAILS ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return FAILS ? NULL : __libc_calloc(count, size); }
void *realloc(void *block, size_t size) { return FAILS ? NULL : __libc_realloc(block, size); }
void *memalign(size_t align, size_t size) { return FAILS ? NULL : __libc_memalign(align, size); }
void *aligned_alloc(size_t align, size_t size)
{
    return FAILS ? NULL : __libc_memalign(align, size);
}

int posix_memalign(void **block, size_t align, size_t size)
{
    void *created = FAILS ? NULL : __libc_memalign(align, size);
    if (!created) return ENOMEM;
    *block = created;
    return 0;
}
