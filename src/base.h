/* What every file uses: status, log, memory, threads, instruction set, clocks, error texts. */
#ifndef BRIO_BASE_H
#define BRIO_BASE_H

#include "macros.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

/* ---- log and errors --------------------------------------------------------------------- */

void brio__log(BrioLogLevel level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Fills `error` (which may be NULL) and returns `status`, so that a function can end with it. The
 * first error wins: an error that is already set is kept. */
BrioStatus brio__error(BrioError *error, BrioStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with a place in a file. line or column 0: unknown. path may be NULL. */
BrioStatus brio__error_at(BrioError *error, BrioStatus status, const char *file, int line,
                          int column, const char *path, const char *format, ...)
    __attribute__((format(printf, 7, 8)));

/* Out of memory, with its sentence. */
BrioStatus brio__no_memory(BrioError *error);

/* An argument of a public function is not what it needs (BRIO_NEEDS). */
BrioStatus brio__bad_argument(BrioError *error, const char *function);

/* The name of `names` (count of them) nearest to `word`, or NULL if none is near enough to
 * suggest. */
const char *brio__nearest(const char *word, const char *const *names, int count);
/* no WHAT "NAME", and the name that was probably meant, or all that there are. */
BrioStatus brio__no_such_name(const char *what, const char *name, const char *const *names,
                              int count, BrioError *error);

/* ---- memory: aligned to a cache line, so that lanes can be loaded from any array -------- */

#define BRIO_ALIGN 64
/* not cleared; NULL if it fails or count*size overflows */
void *brio__alloc(size_t count, size_t size);
void *brio__calloc(size_t count, size_t size);
/* Grows or makes an array, keeping its first `old` elements; NULL (and the old array kept) on
 * failure. */
void *brio__realloc(void *memory, size_t old, size_t count, size_t size);
void brio__free(void *memory);
char *brio__strdup(const char *text);
/* Bytes that may still be allocated on this machine (physical memory, or BRIO_MEMORY_LIMIT in
 * bytes). */
double brio__memory_available(void);

/* ---- threads ---------------------------------------------------------------------------- */

/* Calls work(context, begin, end) for chunks [0,grain), [grain,2 grain), ... of [0,count). The
 * chunks do not depend on the number of threads; which thread runs which chunk does. Small loops
 * run in the calling thread: how long one takes is measured. Not so with a grain of 1, where each
 * chunk is a task that the caller thinks worth a thread. Chunks may call it again (that loop then
 * runs in the chunk's thread), and so may several threads of a program at a time. */
typedef void BrioWork(void *context, int64_t begin, int64_t end);
void brio__parallel_for(int64_t count, int64_t grain, BrioWork *work, void *context);

/* Tells that a chunk spent time waiting for another chunk of its loop: a loss that sharing out
 * caused. */
void brio__waited(double seconds);

#ifdef __EMSCRIPTEN__
/* Who shares out the chunks of brio__parallel_for in a page, among up to `threads` threads of which
 * the caller is one. */
typedef void BrioSharing(int threads, int64_t count, int64_t grain, BrioWork *work, void *context);
void brio__set_sharing(int threads, BrioSharing *distribute);
#endif

/* Sums, over chunks whose size depends on count only, what term(context, begin, end) returns, in
 * order. */
typedef double BrioTermSum(void *context, int64_t begin, int64_t end);
double brio__parallel_sum(int64_t count, BrioTermSum *term, void *context);
bool brio__all_finite(int64_t count, const double *x);

/* ---- machine ---------------------------------------------------------------------------- */

typedef enum BrioIsa { BRIO_ISA_BASELINE, BRIO_ISA_AVX2, BRIO_ISA_AVX512, BRIO_ISA_COUNT } BrioIsa;
/* the best that this build and this machine have, or BRIO_ISA's choice */
BrioIsa brio__isa(void);
/* One of what a file has for each instruction set; other processors have the first only. */
#if defined(__x86_64__)
#define BRIO_BY_ISA(baseline, avx2, avx512) \
    (brio__isa() == BRIO_ISA_AVX512 ? (avx512) : brio__isa() == BRIO_ISA_AVX2 ? (avx2) : (baseline))
#else
#define BRIO_BY_ISA(baseline, avx2, avx512) (baseline)
#endif
int brio__ascending(const void *a, const void *b);      /* two doubles, for qsort */
int brio__ascending_keys(const void *a, const void *b); /* two uint64_t, or what begins with one */
/* The first of `count` elements of so many bytes, each beginning with a uint64_t and sorted by it,
 * that is not below the key; `count` if there is none. */
int64_t brio__first_key(const void *sorted, int64_t count, size_t size, uint64_t key);
double brio__seconds(void); /* monotonic wall clock: for reports only, never for decisions */

/* ---- random numbers for tests and samples (splitmix64; the same everywhere) ------------- */

typedef struct BrioRandom {
    uint64_t state;
} BrioRandom;
double brio__random(BrioRandom *random);        /* uniform in [0,1) */
double brio__random_normal(BrioRandom *random); /* mean 0, variance 1 */

#endif
