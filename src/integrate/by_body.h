/* A-search with one alpha for each body: what decoupled.c asks at the end of a step, and what
 * tables ask of its books (by_body.c). */
#ifndef BRIO_BY_BODY_H
#define BRIO_BY_BODY_H

#include "stepper.h"

/* A step of backward Euler with what alpha chooses from, and how. */
typedef struct BrioByBody {
    double h;
    double *q, *w;           /* its end; w becomes the velocity of the end */
    const double *dv, *p;    /* the change of velocity that alpha weights, and M times it */
    double fraction;         /* of what friction changes by alpha, as much as is in dv */
    double keeps;            /* what decay leaves of the energy above the ground in this step */
    double min, max;         /* of alpha */
    double (*search)(double excess, double linear, double square);
} BrioByBody;

/* History vectors that the books need, the first of them being number BRIO_BY_BODY. */
enum { BRIO_BY_BODY = 4, BRIO_BY_BODY_VECTORS = 3 };

/* Whether energy is controlled by body: the field `by_body`, or a body has a decay or an
 * energy_scale of its own. */
bool brio__by_body(const BrioStepper *stepper);
/* Whether the integrator has that field, and searches for alpha. */
bool brio__by_body_is_used(const BrioStepper *stepper);
/* Chooses the alphas, ends the step and books it. */
BrioStatus brio__by_body_end(BrioStepper *stepper, const BrioByBody *step);

/* The books of an account: energy at an instant (with half of its contacts with others), target,
 * alpha of the last step, and sums: energy from others through contacts, taken by friction and
 * damping, added from outside, taken by decay. NAN: no step yet. */
typedef struct BrioBodyBooks {
    double energy, target, alpha, passed, lost, added, decayed;
} BrioBodyBooks;
/* How many accounts have books; 0: energy is not controlled by body. */
int brio__by_body_count(const BrioStepper *stepper);
const char *brio__by_body_name(const BrioStepper *stepper, int account);
/* Of all accounts at a state. */
void brio__by_body_books(BrioStepper *stepper, BrioState *state, BrioBodyBooks *books);

#endif
