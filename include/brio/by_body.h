/* Writing an integrator that controls the energy of each body for itself (docs/energy-by-body.md),
 * with the trait BRIO_USES_COMPONENTS. Not part of brio.h: include it where you need it. Licence:
 * MIT. */
#ifndef BRIO_BY_BODY_API_H
#define BRIO_BY_BODY_API_H

#include "brio.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the alpha of v' = w - alpha dv is chosen from: the energy less its target is
 * excess - alpha linear + alpha^2 square/2. */
typedef struct BrioSearch {
    double excess;
    double linear, square; /* w.M dv and dv.M dv */
    double scale;          /* of the energies that `excess` is the difference of */
    double min, max;       /* of alpha */
} BrioSearch;

/* A step of backward Euler with what alpha chooses from, and how. */
typedef struct BrioByBody {
    double h;
    double *q, *w;        /* its end; w becomes the velocity of the end */
    const double *dv, *p; /* the change of velocity that alpha weights, and M times it */
    double fraction;      /* of what friction changes by alpha, as much as is in dv */
    double keeps;         /* what decay leaves of the energy above the ground in this step */
    double min, max;      /* of alpha */
    double (*search)(const BrioSearch *search);
} BrioByBody;

/* An alpha and a target for each body instead of one for all, and what passes through contacts
 * booked on both sides. The first says whether it is wanted: by the field
 * `by_body`, or because a body has a decay or an energy_scale of its own. The second chooses the
 * alphas of a step, ends it and books it. It needs the fields `energy_scale` and `ground`, and the
 * BRIO_BY_BODY_VECTORS history vectors from number BRIO_BY_BODY on for its books. A field `gain`
 * above 1 is an error. */
enum { BRIO_BY_BODY = 4, BRIO_BY_BODY_VECTORS = 3 };
BRIO_API int brio_stepper_by_body(const BrioStepper *stepper);
BRIO_API BrioStatus brio_stepper_end_by_body(BrioStepper *stepper, const BrioByBody *step);

#ifdef __cplusplus
}
#endif
#endif
