/* Friction for solves that end early: forces that are kept and corrected from one iteration to the
 * next (hold.c). */
#ifndef BRIO_HOLD_H
#define BRIO_HOLD_H

#include "../potential/potential.h"

typedef struct BrioHold BrioHold;

BrioStatus brio__hold_create(const BrioSystem *system, BrioHold **hold);
void brio__hold_free(BrioHold *hold);
/* A step begins: nothing is held. */
void brio__hold_forget(BrioHold *hold);
/* Whether forces are held: then they are all the friction there is. */
bool brio__hold_acts(const BrioHold *hold);
/* Where a solve has come to: normal forces and tangents are those at the world positions x, and
 * held forces are corrected by the slides from `start` to `slid`. In the first call of a solve
 * `pull` are the forces by coordinates that friction would have to hold; NULL: it goes on. */
BrioStatus brio__hold_take(BrioHold *hold, BrioPotential *potential, const BrioState *state,
                           const double *x, const double *start, const double *slid,
                           const double *pull);
/* The potential of friction at world positions; its gradient by q and by these is added unless
 * NULL. */
double brio__hold_value(const BrioHold *hold, const double *start, const double *slid,
                        double *gradient, double *world);
/* Adds `weight` times its curvature to the directions of bounds (bound.h), and nothing to the
 * largest: it is never more than that of the contacts themselves. */
void brio__hold_bound(const BrioHold *hold, const double *start, const double *slid, double weight,
                      double *bound);

#endif
