/* Friction of everything in contact, as one more damping model that the solver adds by itself: see
 * friction.c. */
#ifndef BRIO_FRICTION_H
#define BRIO_FRICTION_H

#include "damping.h"

extern const BrioDampingModel brio__friction_model;

#endif
