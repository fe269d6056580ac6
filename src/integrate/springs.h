/* Which solids position-based integrators take (springs.c). */
#ifndef BRIO_SPRINGS_H
#define BRIO_SPRINGS_H

#include "../energy/energy.h"

/* Whether brio_stepper_tet gives the tets of an energy. */
bool brio__takes_tets(const BrioEnergy *energy);

#endif
