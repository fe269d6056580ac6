/* Talks to OpenBLAS or BLIS through dlsym: neither is needed to build or run brio. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT, dladdr */
#endif
#include "blas.h"

#include "linear.h"

#if defined(BRIO_HAVE_CHOLMOD) && defined(__unix__)
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* A function by name, or NULL. ISO C has no cast from void * to a function: copy the bits. */
typedef void AnyFunction(void);
static AnyFunction *find(const char *name)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    AnyFunction *function;
    memcpy(&function, &symbol, sizeof function);
    return function;
}

void brio__blas_single(void)
{
    void (*openblas)(int) = (void (*)(int))find("openblas_set_num_threads");
    if (openblas) openblas(1);
    /* its dim_t has 64 bits */
    void (*blis)(int64_t) = (void (*)(int64_t))find("bli_thread_set_num_threads");
    if (blis) blis(1);
}

/* CHOLMOD brings LAPACK with it. Integers have 32 bits, and the lengths of the two words follow as
 * gfortran passes them. */
bool brio__lapack_symmetric(int n, double *A, double *value, BrioStatus *status)
{
    typedef void Dsyevd(const char *, const char *, const int *, double *, const int *, double *,
                        double *, const int *, int *, const int *, int *, size_t, size_t);
    Dsyevd *dsyevd = (Dsyevd *)find("dsyevd_");
    if (!dsyevd || n < 1) return false;
    const int ask = -1;
    double best;
    int best_integers, info;
    brio__blas_single();
    dsyevd("V", "L", &n, A, &n, value, &best, &ask, &best_integers, &ask, &info, 1, 1);
    if (info != 0 || best > INT32_MAX) return false;
    int size = (int)best;
    double *work = brio__alloc((size_t)size, sizeof *work);
    int *integers = brio__alloc((size_t)best_integers, sizeof *integers);
    *status = work && integers ? BRIO_OK : BRIO_ERROR_MEMORY;
    if (*status == BRIO_OK)
        dsyevd("V", "L", &n, A, &n, value, work, &size, integers, &best_integers, &info, 1, 1);
    if (*status == BRIO_OK && info != 0) *status = BRIO_NOT_CONVERGED;
    brio__free(work);
    brio__free(integers);
    return true;
}

/* OpenBLAS may be there for LAPACK only, with another BLAS in front: ask who gives dgemm. */
static bool dgemm_from(const char *library)
{
    Dl_info info;
    void *dgemm = dlsym(RTLD_DEFAULT, "dgemm_");
    return dgemm && dladdr(dgemm, &info) && info.dli_fname && strstr(info.dli_fname, library);
}

static const char *openblas_core(void)
{
    char *(*corename)(void) = (char *(*)(void))find("openblas_get_corename");
    return corename ? corename() : NULL;
}

const char *brio__blas_name(void)
{
    static char name[96];
    const char *core = openblas_core();
    if (dgemm_from("blis"))
        snprintf(name, sizeof name, "BLIS, 1 thread");
    else if (core)
        snprintf(name, sizeof name, "OpenBLAS %s, 1 thread", core);
    else
        snprintf(name, sizeof name, "unknown BLAS");
    return name;
}

#if defined(__linux__) && defined(__x86_64__)
/* The OPENBLAS_CORETYPE that fits this CPU better than what OpenBLAS chose, or NULL. */
static const char *better_core(void)
{
    static const char *const fit[] = {"Haswell",        "Zen",      "SkylakeX", "Cooperlake",
                                      "SapphireRapids", "Excavator"};
    const char *core = openblas_core();
    if (!core || getenv("OPENBLAS_CORETYPE")) return NULL;
    for (int i = 0; i < (int)BRIO_COUNT(fit); i++)
        if (!strcasecmp(core, fit[i])) return NULL;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd"))
        return "SkylakeX";
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? "Haswell" : NULL;
}
#endif

void brio__blas_reexec(char **argv)
{
#if defined(__linux__) && defined(__x86_64__)
    static const char guard[] = "BRIO_BLAS_REEXEC";
    if (getenv(guard)) {
        unsetenv(guard);
        return;
    }
    const char *core = better_core();
    bool wait = !getenv("OMP_WAIT_POLICY") && !getenv("GOMP_SPINCOUNT");
    if ((!core && !wait) || setenv(guard, "1", 1)) return;
    if (core) setenv("OPENBLAS_CORETYPE", core, 1);
    if (wait) setenv("GOMP_SPINCOUNT", "2000", 1);
    execv("/proc/self/exe", argv);
    if (core) unsetenv("OPENBLAS_CORETYPE");
    unsetenv(guard);
#else
    (void)argv;
#endif
}

#else

void brio__blas_single(void) {}
const char *brio__blas_name(void) { return "none"; }
void brio__blas_reexec(char **argv) { (void)argv; }
bool brio__lapack_symmetric(int n, double *A, double *value, BrioStatus *status)
{
    (void)n, (void)A, (void)value, (void)status;
    return false;
}

#endif
