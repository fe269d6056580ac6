/* The BLAS and LAPACK that come with CHOLMOD: one thread, and a name for reports. */
#ifndef BRIO_BLAS_H
#define BRIO_BLAS_H

#include "../base.h"

/* Sets the BLAS to one thread, so that sums do not depend on the number of threads. Cheap to
 * repeat. */
void brio__blas_single(void);

/* All eigenvalues (ascending) and eigenvectors (row k of A belongs to value[k]) of a symmetric
 * matrix by LAPACK's dsyevd. False, with nothing changed: there is no LAPACK. */
bool brio__lapack_symmetric(int n, double *A, double *value, BrioStatus *status);

#endif
