/* Preconditioned conjugate gradients, for the iterative solvers. */
#ifndef BRIO_CG_H
#define BRIO_CG_H

#include "linear.h"

typedef struct BrioCg {
    const BrioLinearOptions *options; /* the tolerance may change from solve to solve */
    int64_t max_iterations;
    int64_t iterations; /* so far */
    int32_t n;
    /* z = P r, with P positive definite, in elimination order */
    void (*precondition)(void *self, const double *r, double *z);
    void *self;
    double *b, *r, *z, *p, *ap;
} BrioCg;

/* Of matrices as large as A; clears what cg holds. */
BrioStatus brio__cg_create(const BrioMatrix *A, const BrioLinearOptions *options, BrioCg *cg);
void brio__cg_free(BrioCg *cg);
/* As `solve` of BrioLinearType. NOT_POSITIVE_DEFINITE if a direction of negative curvature shows,
 * of A or of P. */
BrioStatus brio__cg_solve(BrioCg *cg, const BrioMatrix *A, int k, double *x);

#endif
