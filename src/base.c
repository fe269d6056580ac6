/* Status names, log and errors, memory with its limit, nearest names, the instruction set,
 * clocks. */
#include "base.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef __SANITIZE_ADDRESS__ /* gcc */
#define BRIO_POISONS
#elif defined(__has_feature) /* clang */
#if __has_feature(address_sanitizer)
#define BRIO_POISONS
#endif
#endif
#ifdef BRIO_POISONS
#include <sanitizer/asan_interface.h>
#endif

/* ---- status, log, errors ---------------------------------------------------------------- */

const char *brio_status_name(BrioStatus status)
{
    switch (status) {
#define X(name, value, text) \
    case BRIO_##name: return #name;
        BRIO_STATUS_LIST(X)
#undef X
    }
    return "UNKNOWN";
}

const char *brio_status_text(BrioStatus status)
{
    switch (status) {
#define X(name, value, text) \
    case BRIO_##name: return text;
        BRIO_STATUS_LIST(X)
#undef X
    }
    return "unknown status";
}

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
const char *brio_version(void)
{
    return TEXT(BRIO_VERSION_MAJOR) "." TEXT(BRIO_VERSION_MINOR) "." TEXT(BRIO_VERSION_PATCH);
}

int brio_abi(void) { return BRIO_ABI; }

static BrioLogFn *log_fn;
static void *log_user;

void brio_set_log(BrioLogFn *log, void *user)
{
    log_fn = log;
    log_user = user;
}

void brio__log(BrioLogLevel level, const char *format, ...)
{
    if (!log_fn) return;
    char message[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    log_fn(log_user, level, message);
}

static BrioStatus fill_error(BrioError *error, BrioStatus status, const char *file, int line,
                             int column, const char *path, const char *format, va_list arguments)
{
    if (!error || error->status != BRIO_OK) return status;
    error->status = status;
    error->line = line;
    error->column = column;
    snprintf(error->file, sizeof error->file, "%s", file ? file : "");
    snprintf(error->path, sizeof error->path, "%s", path ? path : "");
    vsnprintf(error->message, sizeof error->message, format, arguments);
    return status;
}

BrioStatus brio__error(BrioError *error, BrioStatus status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill_error(error, status, NULL, 0, 0, NULL, format, arguments);
    va_end(arguments);
    return status;
}

BrioStatus brio__error_at(BrioError *error, BrioStatus status, const char *file, int line,
                          int column, const char *path, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill_error(error, status, file, line, column, path, format, arguments);
    va_end(arguments);
    return status;
}

BrioStatus brio__no_memory(BrioError *error)
{
    return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
}

BrioStatus brio__bad_argument(BrioError *error, const char *function)
{
    if (error) *error = (BrioError){0};
    return brio__error(error, BRIO_ERROR_ARGUMENT,
                       "%s: an argument is NULL that must not be, or an object that was freed",
                       function);
}

/* Whether the option "--set bodies.0.mesh" names the path "bodies[0].mesh". */
static bool names_path(const char *option, const char *path)
{
    if (strncmp(option, "--set ", 6)) return false;
    for (option += 6; *path; path++) {
        if (*path == ']') continue;
        if (*option++ != (*path == '[' ? '.' : *path)) return false;
    }
    return !*option;
}

void brio_error_text(const BrioError *error, char *text, size_t size)
{
    BRIO_NEEDS_OR_NOTHING(text && size > 0);
    text[0] = 0;
    BRIO_NEEDS_OR_NOTHING(error);
    char place[640] = "";
    /* line 1, column 1 of an option: not worth printing */
    bool option = !strncmp(error->file, "--", 2) && error->line == 1 && error->column == 1;
    if (error->file[0] && error->line > 0 && error->column > 0 && !option)
        snprintf(place, sizeof place, "%s:%d:%d: ", error->file, error->line, error->column);
    else if (error->file[0] && error->line > 0 && !option)
        snprintf(place, sizeof place, "%s:%d: ", error->file, error->line);
    else if (error->file[0])
        snprintf(place, sizeof place, "%s: ", error->file);
    const char *path = option && names_path(error->file, error->path) ? "" : error->path;
    snprintf(text, size, "%s%s%s%s", place, path, path[0] ? ": " : "", error->message);
}

/* Damerau–Levenshtein distance (insert, delete, replace, swap neighbours), words cut at 63
 * letters. */
static int edit_distance(const char *a, const char *b)
{
    enum { MAX = 64 };
    int na = (int)strnlen(a, MAX - 1), nb = (int)strnlen(b, MAX - 1);
    int row[3][MAX];
    for (int j = 0; j <= nb; j++) row[1][j] = j;
    for (int i = 1; i <= na; i++) {
        int *now = row[(i + 1) % 3], *last = row[i % 3], *before = row[(i + 2) % 3];
        now[0] = i;
        for (int j = 1; j <= nb; j++) {
            int best = last[j - 1] + (a[i - 1] != b[j - 1]);
            best = BRIO_MIN(best, last[j] + 1);
            best = BRIO_MIN(best, now[j - 1] + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = BRIO_MIN(best, before[j - 2] + 1);
            now[j] = best;
        }
    }
    return row[(na + 1) % 3][nb];
}

/* body and bodies, force and forces. */
static bool is_plural(const char *one, const char *many)
{
    size_t length = strlen(one), other = strlen(many);
    if (other == length + 1) return !strncmp(one, many, length) && many[length] == 's';
    return length > 1 && other == length + 2 && one[length - 1] == 'y' &&
           !strncmp(one, many, length - 1) && !strcmp(many + length - 1, "ies");
}

const char *brio__nearest(const char *word, const char *const *names, int count)
{
    const char *nearest = NULL;
    size_t length = strlen(word + strspn(word, "-")); /* of an option: without its dashes */
    for (int i = 0; i < count; i++)
        if (is_plural(word, names[i]) || is_plural(names[i], word)) return names[i];
    int min = length < 4 ? 2 : (int)length / 3 + 2; /* farther than this is no typing mistake */
    for (int i = 0; i < count; i++) {
        int distance = edit_distance(word, names[i]);
        if (distance < min) {
            min = distance;
            nearest = names[i];
        }
    }
    /* a part of a name, as euler of backward-euler, or another ending */
    for (int i = 0; i < count && !nearest && length >= 3; i++)
        if (strstr(names[i], word) || !strncmp(names[i], word, BRIO_MAX(3, strlen(word) - 1)))
            nearest = names[i];
    return nearest;
}

BrioStatus brio__no_such_name(const char *what, const char *name, const char *const *names,
                              int count, BrioError *error)
{
    const char *nearest = brio__nearest(name, names, count);
    if (nearest)
        return brio__error(error, BRIO_ERROR_ARGUMENT, "no %s \"%s\"; did you mean \"%s\"?", what,
                           name, nearest);
    char list[512] = "";
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    if (count == 0)
        return brio__error(error, BRIO_ERROR_ARGUMENT, "no %s \"%s\"; there are none", what, name);
    return brio__error(error, BRIO_ERROR_ARGUMENT, "no %s \"%s\"; there are: %s", what, name, list);
}

/* ---- memory ----------------------------------------------------------------------------- */

static void *default_allocate(void *user, size_t size)
{
    (void)user;
    return malloc(size);
}

static void default_release(void *user, void *memory)
{
    (void)user;
    free(memory);
}

static BrioAllocator allocator = {default_allocate, default_release, NULL};

void brio_set_allocator(const BrioAllocator *chosen)
{
    if (chosen)
        allocator = *chosen;
    else
        allocator = (BrioAllocator){default_allocate, default_release, NULL};
}

/* The allocator gives more than was asked for; a sanitizer is told that the rest is nobody's. */
static void forbid(char *begin, const char *end)
{
#ifdef BRIO_POISONS
    ASAN_POISON_MEMORY_REGION(begin, (size_t)(end - begin));
#else
    (void)begin, (void)end;
#endif
}

/* The pointer that the allocator gave is stored in the word before the aligned block. */
void *brio__alloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) return NULL;
    size_t all = bytes + BRIO_ALIGN + sizeof(void *);
    char *raw = allocator.allocate(allocator.user, all);
    if (!raw) return NULL;
    uintptr_t start =
        ((uintptr_t)raw + sizeof(void *) + BRIO_ALIGN - 1) & ~(uintptr_t)(BRIO_ALIGN - 1);
    ((void **)start)[-1] = raw;
    forbid((char *)start + bytes, raw + all);
    return (void *)start;
}

void *brio__calloc(size_t count, size_t size)
{
    void *memory = brio__alloc(count, size);
    if (memory) memset(memory, 0, count * size);
    return memory;
}

void *brio__realloc(void *memory, size_t old, size_t count, size_t size)
{
    void *grown = brio__alloc(count, size);
    if (!grown) return NULL;
    if (memory) memcpy(grown, memory, BRIO_MIN(old, count) * size);
    brio__free(memory);
    return grown;
}

void brio__free(void *memory)
{
    if (memory) allocator.release(allocator.user, ((void **)memory)[-1]);
}

char *brio__strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = brio__alloc(size, 1);
    if (copy) memcpy(copy, text, size);
    return copy;
}

double brio__memory_available(void)
{
    const char *limit = getenv("BRIO_MEMORY_LIMIT");
    if (limit && strtod(limit, NULL) > 0) return strtod(limit, NULL);
#ifdef _SC_PHYS_PAGES
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
#else
    return 2e9;
#endif
}

/* ---- machine ---------------------------------------------------------------------------- */

static const char *const isa_names[BRIO_ISA_COUNT] = {"baseline", "avx2", "avx512"};

#ifdef BRIO_ONLY_ISA /* kernels of this set only: no other can be chosen */
#define ISA_NAME_(isa) #isa
#define ISA_NAME(isa) ISA_NAME_(isa)
BrioIsa brio__isa(void)
{
    int i = BRIO_ISA_COUNT - 1;
    while (i > 0 && strcmp(ISA_NAME(BRIO_ONLY_ISA), isa_names[i])) i--;
    return (BrioIsa)i;
}
#else
static BrioIsa best_isa(void)
{
#ifdef BRIO_HAVE_ISA_KERNELS
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return BRIO_ISA_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return BRIO_ISA_AVX2;
#endif
    return BRIO_ISA_BASELINE;
}

BrioIsa brio__isa(void)
{
    BrioIsa best = best_isa();
    const char *forced = getenv("BRIO_ISA");
    for (int i = 0; forced && i < (int)best; i++)
        if (!strcmp(forced, isa_names[i])) return (BrioIsa)i;
    return best;
}
#endif

const char *brio_isa(void) { return isa_names[brio__isa()]; }

int brio__ascending(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

int brio__ascending_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

int64_t brio__first_key(const void *sorted, int64_t count, size_t size, uint64_t key)
{
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        uint64_t at;
        memcpy(&at, (const char *)sorted + (size_t)middle * size, sizeof at);
        if (at < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

double brio__seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- random numbers --------------------------------------------------------------------- */

double brio__random(BrioRandom *random) /* splitmix64, Steele, Lea, Flood 2014 */
{
    uint64_t z = (random->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

double brio__random_normal(BrioRandom *random) /* Box and Muller 1958 */
{
    double u = 1 - brio__random(random), v = brio__random(random);
    return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v);
}
