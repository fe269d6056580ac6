/* Writing an integrator whose stages are solved together: what your own iterations need in
 * addition to integrator.h. Not part of brio.h: include it where you need it. Licence: MIT. */
#ifndef BRIO_STAGES_API_H
#define BRIO_STAGES_API_H

#include "brio.h"

#ifdef __cplusplus
extern "C" {
#endif

/* More scratch vectors than brio_stepper_scratch has: k < BRIO_ROOM, undefined at the start of a
 * step. */
enum { BRIO_ROOM = 96 };
BRIO_API double *brio_stepper_room(BrioStepper *stepper, int k);
/* brio_stepper_linear_solve in two parts, for many right-hand sides: the factor of M + s K+ at q,
 * kept until the next solve or linearisation; x = its inverse times b (x may be b). */
BRIO_API BrioStatus brio_stepper_factor(BrioStepper *stepper, const double *q, double time,
                                        double s);
BRIO_API BrioStatus brio_stepper_factored_solve(BrioStepper *stepper, const double *b, double *x);
/* The largest fraction of `step` that q may move by before an element inverts (if that is
 * forbidden) or two surfaces touch; it may be more than 1. */
BRIO_API double brio_stepper_max_step(BrioStepper *stepper, const double *q, const double *step,
                                      double time);

#ifdef __cplusplus
}
#endif
#endif
