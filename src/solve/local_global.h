/* Local/global solves: a fixed number of iterations with a constant matrix [Bouaziz2014; Liu2013;
 * Liu2017].
 *
 * For energies that are squared distances from a set, w/2 |G x - p|^2 with p the nearest point of
 * the set, the objective with p held is quadratic, and its minimiser is the global step (M + s a^2
 * L) q = M target + s a (J p - (1 - a) L q_n), L = sum w G^T G. Since grad P(x) = L x - J p(x),
 * that is
 *
 *     q <- q - (M + s a^2 L)^-1 grad(q):
 *
 * a step of Newton's method with one matrix for all times, the same for x, y and z. The local step
 * is the evaluation of the gradient, and nothing has to be known of p. For other energies L bounds
 * the Hessian at moderate strain and stands at the start of L-BFGS.
 *
 * The objective's value comes with the gradient. Where a step has raised it, half of it is tried in
 * place of the next iteration, so that the cost is fixed and the best of what was seen is
 * returned. */
#ifndef BRIO_LOCAL_GLOBAL_H
#define BRIO_LOCAL_GLOBAL_H

#include "minimise.h"

typedef struct BrioLocalGlobal BrioLocalGlobal;

/* `q` receives what the iterations found; solver->gradient is the objective's there. */
BrioStatus brio__local_global(const BrioProblem *problem, double *q);
/* Factors the matrix for scale = s a^2, unless that was done: for methods that may need it
 * later. */
BrioStatus brio__local_global_prepare(BrioSolver *solver, const double *param, double scale);
void brio__local_global_free(BrioLocalGlobal *local_global);

#endif
