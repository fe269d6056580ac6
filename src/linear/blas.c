/* Loads CHOLMOD, and with it a BLAS and a LAPACK, when they are needed first, and talks to OpenBLAS
 * or BLIS through dlsym: none of them is needed to start brio.
 *
 * OpenBLAS reads its settings from the environment, while it is loaded. setenv cannot make
 * them in a library: another thread that reads the environment meanwhile may read memory that was
 * freed, and programs started later inherit what was set. Here a second array of the same texts,
 * with ours in front, takes the place of the environment while the libraries are loaded, and is
 * never freed: whoever reads one of the two finds all of the program's variables. (A thread that
 * calls setenv at that very moment is as wrong here as it is next to any getenv.) */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT, dladdr */
#endif
#include "blas.h"

#include "cholmod_calls.h"
#include "linear.h"

#if defined(BRIO_HAVE_CHOLMOD) && defined(__unix__)
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_VARIABLES = 4096, SETTINGS = 2, MIN_SPACE = 400 << 20 };

static _Atomic(void *) library; /* of CHOLMOD; NULL: not loaded */

/* A function by name, or NULL. ISO C has no cast from void * to a function: copy the bits. */
typedef void AnyFunction(void);
static AnyFunction *find(const char *name)
{
    void *loaded = library, *symbol = dlsym(loaded ? loaded : RTLD_DEFAULT, name);
    AnyFunction *function;
    memcpy(&function, &symbol, sizeof function);
    return function;
}

/* ---- loading ---------------------------------------------------------------------------- */

/* OpenBLAS goes by the model number of the processor, and takes one that it does not know for one
 * of 2004. What the processor can do says more. NULL: as it likes. */
static char *openblas_kernels(void)
{
#if defined(__x86_64__)
    if (getenv("OPENBLAS_CORETYPE")) return NULL;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd"))
        return "OPENBLAS_CORETYPE=SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return "OPENBLAS_CORETYPE=Haswell";
#endif
    return NULL;
}

/* dlopen, with the settings of the BLAS: one thread, and the right kernels. */
static void *load_library(void)
{
    static char *with[SETTINGS + MAX_VARIABLES + 1];
    char **before = environ, *kernels = openblas_kernels();
    int count = 0, variables = 0;
    with[count++] = "OPENBLAS_NUM_THREADS=1";
    if (kernels) with[count++] = kernels;
    while (before && before[variables] && variables < MAX_VARIABLES) {
        with[count++] = before[variables++];
    }
    bool whole = !before || !before[variables];
    if (whole) environ = with;
    void *loaded = dlopen(BRIO_CHOLMOD_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (whole) environ = before;
    return loaded;
}

/* OpenBLAS asks for its workspace again and again, without end, where an address space is limited
 * (ulimit -v) and used up. So it is loaded only if there is plenty, and made to take the workspace
 * at once. */
static bool has_space(void)
{
    void *space = mmap(NULL, MIN_SPACE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return space != MAP_FAILED && !munmap(space, MIN_SPACE);
}

static void take_workspace(void)
{
    typedef void Dpotrf(const char *, const int *, double *, const int *, int *, size_t);
    Dpotrf *dpotrf = (Dpotrf *)find("dpotrf_");
    const int one = 1;
    double a = 1;
    int info;
    if (dpotrf) dpotrf("L", &one, &a, &one, &info, 1);
}

static BrioCholmod calls;

static void load_calls(void)
{
    bool space = has_space();
    void *loaded = space ? load_library() : NULL;
    library = loaded;
    const char *reason = loaded ? NULL : space ? dlerror() : "there is too little memory";
    bool all = loaded;
#define X(name)                                                  \
    calls.name = (__typeof__(calls.name))find("cholmod_" #name); \
    all &= calls.name != NULL;
    if (loaded) {
        BRIO_CHOLMOD_CALLS(X)
    }
#undef X
    if (all) {
        calls.omp_levels = (int (*)(void))find("omp_get_max_active_levels");
        calls.set_omp_levels = (void (*)(int))find("omp_set_max_active_levels");
        brio__blas_single();
        take_workspace();
        return;
    }
    brio__log(BRIO_LOG_WARNING,
              "CHOLMOD, which the linear solver \"cholesky\" needs, cannot be loaded (%s); on "
              "Debian: apt-get install libcholmod3; \"ldlt\" needs no library",
              reason ? reason : "a function is missing");
    memset(&calls, 0, sizeof calls);
}

const BrioCholmod *brio__cholmod(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_calls);
    return calls.start ? &calls : NULL;
}

void brio__blas_single(void)
{
    void (*openblas)(int) = (void (*)(int))find("openblas_set_num_threads");
    if (openblas) openblas(1);
    /* its dim_t has 64 bits */
    void (*blis)(int64_t) = (void (*)(int64_t))find("bli_thread_set_num_threads");
    if (blis) blis(1);
}

/* ---- BLAS and LAPACK -------------------------------------------------------------------- */

/* CHOLMOD brings LAPACK with it. Integers have 32 bits, and the lengths of the two words follow as
 * gfortran passes them. */
bool brio__lapack_symmetric(int n, double *A, double *value, BrioStatus *status)
{
    typedef void Dsyevd(const char *, const char *, const int *, double *, const int *, double *,
                        double *, const int *, int *, const int *, int *, size_t, size_t);
    Dsyevd *dsyevd = n > 0 && brio__cholmod() ? (Dsyevd *)find("dsyevd_") : NULL;
    if (!dsyevd) return false;
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
static bool dgemm_from(const char *name)
{
    Dl_info info;
    void *loaded = library, *dgemm = dlsym(loaded ? loaded : RTLD_DEFAULT, "dgemm_");
    return dgemm && dladdr(dgemm, &info) && info.dli_fname && strstr(info.dli_fname, name);
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
        snprintf(name, sizeof name, library ? "unknown BLAS" : "none");
    return name;
}

#else

void brio__blas_single(void) {}
const char *brio__blas_name(void) { return "none"; }
bool brio__lapack_symmetric(int n, double *A, double *value, BrioStatus *status)
{
    (void)n, (void)A, (void)value, (void)status;
    return false;
}

#endif
