/* Closed meshes that body vertices meet, for those who need more of them than the sum. */
#ifndef BRIO_POTENTIAL_COLLIDERS_H
#define BRIO_POTENTIAL_COLLIDERS_H

#include "../contact/collider.h"
#include "potential.h"

/* NULL: there are none. */
BrioColliders *brio__potential_colliders(const BrioPotential *potential);
/* Marks the coordinate blocks that they push. */
void brio__colliders_mark_touching(const BrioPotential *potential, const BrioPose *pose,
                                   bool *mark);

#endif
