/* The functions of CHOLMOD that are used, found in its library when the first one is needed.
 *
 * CHOLMOD brings a BLAS with it, and a BLAS starts threads, takes memory and chooses its kernels as
 * soon as it is loaded. A program that never asks for `linear: cholesky` has none of it. */
#ifndef BRIO_CHOLMOD_CALLS_H
#define BRIO_CHOLMOD_CALLS_H

#ifdef BRIO_HAVE_CHOLMOD
#include <cholmod.h>

#define BRIO_CHOLMOD_CALLS(X) \
    X(start)                  \
    X(finish)                 \
    X(analyze)                \
    X(factorize)              \
    X(solve2)                 \
    X(super_numeric)          \
    X(super_lsolve)           \
    X(super_ltsolve)          \
    X(allocate_sparse)        \
    X(allocate_dense)         \
    X(free_factor)            \
    X(free_sparse)            \
    X(free_dense)

typedef struct BrioCholmod {
#define X(name) __typeof__(cholmod_##name) *name;
    BRIO_CHOLMOD_CALLS(X)
#undef X
    /* of its OpenMP, or NULL */
    int (*omp_levels)(void);
    void (*set_omp_levels)(int);
} BrioCholmod;

/* NULL, with a sentence in the log: the library cannot be loaded. */
const BrioCholmod *brio__cholmod(void);

#endif
#endif
