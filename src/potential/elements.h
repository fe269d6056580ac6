/* From elements to coordinates: the potential P, its gradient and Hessian by the map x = J q + b,
 * and how far a direction may be followed. All sums run in an order fixed when the evaluator is
 * made, so that results have the same bits for any number of threads. */
#ifndef BRIO_ELEMENTS_H
#define BRIO_ELEMENTS_H

#include "../linear/linear.h"
#include "../system/limit.h"

typedef struct BrioEvaluator BrioEvaluator;

/* Over terms of the system's world vertices: the system's own, or additional ones (contacts,
 * lagged dissipation), which then have an evaluator of their own. */
BrioStatus brio__evaluator_create(const BrioSystem *system, const BrioTerm *term, int term_count,
                                  BrioEvaluator **evaluator);
void brio__evaluator_free(BrioEvaluator *evaluator);

/* P at world positions x with the state's parameters; its gradient by q and the terms' energies if
 * wanted. Of a system on several processes this, like all that follows, is the partition of this
 * process (partition.h). */
double brio__evaluate(BrioEvaluator *evaluator, const double *param, const double *x,
                      double *gradient, double *term_energy);

/* A bound on the round-off of P as last evaluated, given its terms' energies. */
double brio__evaluate_noise(const BrioEvaluator *evaluator, const double *param,
                            const double *term_energy);

/* Adds the gradient of P by the positions of the fixed vertices (3 each), the forces that hold
 * them, at x. */
void brio__fixed_gradient(BrioEvaluator *evaluator, const double *param, const double *x,
                          double *gradient);

/* The gradient by q of the terms that are linear in the positions (weight): the same at every x.
 * Valid until it is asked for again. */
const double *brio__linear_gradient(BrioEvaluator *evaluator, const double *param, const double *x);

/* The graph of coordinate blocks that share an element (without diagonal): the pattern of the
 * Hessian. */
BrioStatus brio__evaluator_graph(BrioEvaluator *evaluator, int64_t **start, int32_t **neighbour);
/* Finds once where every element block goes in the matrix of `linear`. Needed before
 * brio__assemble. */
BrioStatus brio__evaluator_plan(BrioEvaluator *evaluator, const BrioLinear *linear);
/* A = mass_weight M; then A += weight d2P/dq2, each element projected to semidefinite if asked, for
 * one evaluator after the other, each at its own x. `seconds`, if not NULL, receives the time of
 * the element kernels and of the sums. */
void brio__assemble_masses(const BrioSystem *system, double mass_weight, BrioLinear *linear);
void brio__assemble_add_masses(const BrioSystem *system, double mass_weight, BrioLinear *linear);
/* A += weight diag(share), a number for each coordinate block. */
void brio__assemble_diagonal(const BrioSystem *system, const double *diagonal, double weight,
                             BrioLinear *linear);
void brio__assemble_add(BrioEvaluator *evaluator, const double *param, const double *x,
                        double weight, bool project, BrioLinear *linear, double seconds[2]);
/* Both, for one evaluator. */
void brio__assemble(BrioEvaluator *evaluator, const double *param, const double *x,
                    double mass_weight, double weight, bool project, BrioLinear *linear,
                    double seconds[2]);

/* The largest t in (0,1] such that x + [0,t] dx stays allowed. */
double brio__max_step(BrioEvaluator *evaluator, const double *param, const double *x,
                      const double *dx, BrioLimit *limit);
/* Finds an element whose energy is infinite or not a number. */
bool brio__find_forbidden(BrioEvaluator *evaluator, const double *param, const double *x,
                          BrioLimit *limit);

#endif
