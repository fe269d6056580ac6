/* A-search with one alpha for each body: what the stepper and tables ask of its books (by_body.c).
 * Integrators use brio_stepper_by_body and brio_stepper_end_by_body. */
#ifndef BRIO_BY_BODY_H
#define BRIO_BY_BODY_H

#include "integrator.h"
#include "stepper.h"
#include "brio/by_body.h"

/* Whether the integrator has that field, and searches for alpha. */
bool brio__by_body_is_used(const BrioStepper *stepper);
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
