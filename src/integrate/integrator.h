/* The header of integrators: the public interface and four macros, no internals of brio. It
 * is one file and one line in list.def; a program can register the same file at run time. (Energy
 * by body, for a-search only, is not public yet.) */
#ifndef BRIO_INTEGRATOR_H
#define BRIO_INTEGRATOR_H

#include "../macros.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define BRIO_INTEGRATOR(symbol)                            \
    extern const BrioIntegrator brio__integrator_##symbol; \
    const BrioIntegrator brio__integrator_##symbol =

/* Energy by body (BRIO_USES_COMPONENTS): an alpha and a target for each body instead of one for
 * all, and what passes through contacts booked on both sides (docs/energy-by-body.md). The first
 * says whether it is wanted: by the field `by_body`, or because a body has a decay or an
 * energy_scale of its own. The second chooses the alphas of a step, ends it and books it. It takes
 * the fields `energy_scale`, `ground` and `gain` into account, and keeps its books in the
 * BRIO_BY_BODY_VECTORS history vectors from number BRIO_BY_BODY on. */
/* A step of backward Euler with what alpha chooses from, and how. */
typedef struct BrioByBody {
    double h;
    double *q, *w;        /* its end; w becomes the velocity of the end */
    const double *dv, *p; /* the change of velocity that alpha weights, and M times it */
    double fraction;      /* of what friction changes by alpha, as much as is in dv */
    double keeps;         /* what decay leaves of the energy above the ground in this step */
    double min, max;      /* of alpha */
    double (*search)(double excess, double linear, double square);
} BrioByBody;

enum { BRIO_BY_BODY = 4, BRIO_BY_BODY_VECTORS = 3 };
int brio_stepper_by_body(const BrioStepper *stepper);
BrioStatus brio_stepper_end_by_body(BrioStepper *stepper, const BrioByBody *step);

#endif
