/* Forces without a potential as one more damping model (forces.c). */
#ifndef BRIO_DAMPING_FORCES_H
#define BRIO_DAMPING_FORCES_H

#include "damping.h"

extern const BrioDampingModel brio__forces_model;

/* How many forces of a system have no potential. */
int brio__forces_without_potential(const BrioSystem *system);

#endif
