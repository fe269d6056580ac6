/* The BLAS that happens to be loaded: one thread, a name for reports, and the right kernels for the
 * CPU. */
#ifndef BRIO_BLAS_H
#define BRIO_BLAS_H

#include "../base.h"

/* Sets the BLAS to one thread, so that sums do not depend on the number of threads. Cheap to
 * repeat. */
void brio__blas_single(void);

/* For the first line of main: two libraries read the environment when they are loaded, before main,
 * so what they should read is set and the program started again. OpenBLAS does not know every CPU
 * and then falls back to kernels of 2004: OPENBLAS_CORETYPE names better ones. Threads of libgomp
 * that wait for work spin for milliseconds, which costs a scheduler's time slice at every barrier
 * on a busy machine (measured: 40 ms instead of 0.8 ms for a gradient): GOMP_SPINCOUNT makes them
 * sleep after some microseconds. Variables that the user has set are kept. Returns if there is
 * nothing to do or it fails. */
void brio__blas_reexec(char **argv);

/* All eigenvalues (ascending) and eigenvectors (row k of A belongs to value[k]) of a symmetric
 * matrix by LAPACK's dsyevd. False, with nothing changed: no LAPACK is loaded. */
bool brio__lapack_symmetric(int n, double *A, double *value, BrioStatus *status);

#endif
