/* Eigenvalues of dense matrices, and the largest one of an operator. Matrices are given row by
 * row. */
#ifndef BRIO_EIGEN_H
#define BRIO_EIGEN_H

#include "../base.h"

/* All eigenvalues re + i im of a general real n x n matrix, by modulus, largest first; conjugates
 * follow each other, the one of positive imaginary part first. Balanced [Parlett1969], reduced to
 * Hessenberg form by reflections, then double-shift QR [Francis1961]. NOT_FINITE: A holds a value
 * that is not; NOT_CONVERGED: not seen yet. For small n: it takes ~10 n^3. */
BrioStatus brio__eigenvalues(int n, const double *A, double *re, double *im);
/* Of a 2 x 2 matrix, in closed form without cancellation: each to a few units in the last place of
 * the larger, and a small one of a real pair to the accuracy of the determinant, whose products are
 * exact. The order is as above. */
void brio__eigenvalues_2(const double A[4], double re[2], double im[2]);

/* All eigenvalues of a symmetric matrix, ascending, and orthonormal eigenvectors, which replace it:
 * row k of A belongs to value[k]. By LAPACK's divide and conquer if a LAPACK is loaded, otherwise
 * by the function that follows it: reflections to tridiagonal form, then implicit QL. Both on one
 * thread. The whole matrix must be symmetric. */
BrioStatus brio__eigen_symmetric(int n, double *A, double *value);
BrioStatus brio__eigen_symmetric_builtin(int n, double *A, double *value);

/* y = A x for some symmetric A; y apart from x. */
typedef void BrioApply(void *context, const double *x, double *y);
/* The eigenvalue of greatest modulus of a symmetric operator by the power method [Shinya2004], from
 * a fixed pseudo-random vector. Ends when the residual says that an eigenvalue lies within tol of
 * the Rayleigh quotient, relatively: |A x - theta x| <= tol |theta| for |x| = 1. That it is the
 * largest is then almost sure: the start has a part of every eigenvector, and parts of smaller
 * ones fade by their ratio at each iteration. NOT_CONVERGED after `max` iterations (value is the
 * best so far, a lower bound of the modulus). `vector`, if not NULL, receives x. */
BrioStatus brio__power_method(int64_t n, BrioApply *apply, void *context, double tol, int64_t max,
                              double *value, int64_t *iterations, double *vector);

#endif
