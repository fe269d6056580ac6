/* Solves with a matrix A plus a few terms of rank one, which couple everything: those of
 * potentials of a volume, w E'' u u^T with u = grad V and w the weight of P in the matrix. With
 * D = diag(sqrt(w E'')), U the columns u and Z = A^-1 U,
 *
 *     (A + U D^2 U^T)^-1 b = y - Z D (I + D U^T Z D)^-1 D U^T y,     y = A^-1 b    [Woodbury 1950].
 *
 * So Newton's step has the exact Hessian, for one more solve with each factor and volume, and no
 * matrix is dense. */
#ifndef BRIO_RANKS_H
#define BRIO_RANKS_H

#include "problem.h"

typedef struct BrioRanks {
    int count;
    double *u, *z;  /* count x 3n */
    double *root;   /* D */
    double *lower;  /* count x count: the factor of I + D U^T Z D */
    double *scaled; /* count: scratch */
} BrioRanks;

/* *ranks stays NULL where the system has none. */
BrioStatus brio__ranks_create(const BrioSystem *system, BrioRanks **ranks);
void brio__ranks_free(BrioRanks *ranks);
/* After a factorisation at q: makes U and Z. */
BrioStatus brio__ranks_update(BrioRanks *ranks, const BrioProblem *problem, const double *q);
/* From y = A^-1 b to the solution, in place. */
void brio__ranks_correct(const BrioRanks *ranks, const BrioSystem *system, double *y);

#endif
