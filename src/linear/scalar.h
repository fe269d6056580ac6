/* One symmetric positive definite matrix of single numbers for all three coordinates: A x = b with
 * x and b of 3 n numbers, factored once and solved often. It is the global step of local/global
 * solvers, where A = M + w L.
 *
 * Vectors are laid out as all coordinate vectors are: entry 3*block + r, in coordinate order. */
#ifndef BRIO_SCALAR_H
#define BRIO_SCALAR_H

#include "../base.h"

/* Elimination order, pattern of L and the plan of a solve, and the numbers of a factorisation while
 * it is made: factors of one pattern are factorised one after the other. */
typedef struct BrioScalarPattern BrioScalarPattern;
/* The graph of A: full adjacency without the diagonal, in any order; no neighbour twice. */
BrioStatus brio__scalar_analyse(int32_t n, const int64_t *start, const int32_t *neighbour,
                                BrioScalarPattern **pattern);
void brio__scalar_pattern_free(BrioScalarPattern *pattern);    /* after its factors */
double brio__scalar_numbers(const BrioScalarPattern *pattern); /* that a factor keeps */

/* The numbers of one matrix, ready for solves. */
typedef struct BrioScalarFactor BrioScalarFactor;
/* Single: the factor is kept in float, half the bytes, and multiplied in float; it is made, and the
 * vectors are kept and added, in double. The backward error is then below 1e-7 instead of 1e-15:
 * enough where the solution is a correction whose residual is taken in double. Half: the factor is
 * kept in sixteen bits (11 digits of the binary mantissa, a power of two for each column) and
 * multiplied in float, with a backward error of about 1e-3. What is solved is in each case exactly
 * symmetric and positive definite. Machines without such numbers take single for half. */
typedef enum BrioScalarPrecision {
    BRIO_SCALAR_DOUBLE,
    BRIO_SCALAR_SINGLE,
    BRIO_SCALAR_HALF
} BrioScalarPrecision;
BrioStatus brio__scalar_factor_create(BrioScalarPattern *pattern, BrioScalarPrecision precision,
                                      BrioScalarFactor **factor);
void brio__scalar_factor_free(BrioScalarFactor *factor);
/* diagonal: n; off: one value for each entry of neighbour[], the same for (i,j) and (j,i). In
 * double; allocates nothing. BRIO_NOT_POSITIVE_DEFINITE: the factor is of no use until it is
 * factorised again. */
BrioStatus brio__scalar_factorise(BrioScalarFactor *factor, const double *diagonal,
                                  const double *off);
/* x = A^-1 b, x may be b. The same bits for any number of threads. Allocates nothing; one caller at
 * a time for each factor. */
void brio__scalar_solve(const BrioScalarFactor *factor, const double *b, double *x);

typedef struct BrioScalarStats {
    double nonzeros; /* of L */
    double stored;   /* numbers kept for L: with zeros that supernodes add, and padding */
    double flops;    /* of a factorisation */
    /* that a solve has to read: the nonzeros twice (forward, backward), and the row numbers */
    double min_bytes;
    double solve_bytes; /* that it reads: what is stored, twice, and the row numbers */
    double bytes;       /* held by the factor; the pattern holds pattern_bytes */
    double pattern_bytes;
} BrioScalarStats;
void brio__scalar_stats(const BrioScalarFactor *factor, BrioScalarStats *stats);

#endif
