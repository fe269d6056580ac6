/* What is to be seen of a scene: the motion that a run keeps, and that frames are made of. */
#ifndef BRIO_SEEN_H
#define BRIO_SEEN_H

#include "../output/motion.h"
#include "../scene/scene.h"

/* For a run of `steps` steps; *motion is unchanged if nothing is stored and no format needs it.
 */
BrioStatus brio__seen_create(const BrioScene *scene, int64_t steps, BrioMotionFile **motion,
                             BrioError *error);
/* Numbers of vertices of the motion become those of a partition. */
void brio__seen_renumber(BrioMotionFile *motion, const BrioSystem *local_system,
                         const int32_t *local_of);

#endif
