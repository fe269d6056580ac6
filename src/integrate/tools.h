/* What methods with iterations of their own (pair.c) use beside the public interface. */
#ifndef BRIO_TOOLS_H
#define BRIO_TOOLS_H

#include "integrator.h"

/* Scratch vectors as brio_stepper_scratch, and BRIO_SCRATCH_MORE after BRIO_SCRATCH. */
enum { BRIO_SCRATCH_MORE = 72 };
double *brio__stepper_scratch(BrioStepper *stepper, int k);
/* brio_stepper_linear_solve in two parts, for many right-hand sides: the factor of M + s K+ at q,
 * kept until the next solve or linearisation; x = its inverse times b (x may be b). */
BrioStatus brio__stepper_factor(BrioStepper *stepper, const double *q, double time, double s);
BrioStatus brio__stepper_factored_solve(BrioStepper *stepper, const double *b, double *x);
/* How far q may go along `step`, as a fraction of it, without an element becoming forbidden or two
 * surfaces meeting; it may be more than 1. */
double brio__stepper_max_step(BrioStepper *stepper, const double *q, const double *step,
                              double time);

#endif
