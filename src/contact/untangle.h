/* Bodies of a system that intersect in its initial state are parted (mesh/untangle.h). */
#ifndef BRIO_CONTACT_UNTANGLE_H
#define BRIO_CONTACT_UNTANGLE_H

#include "../mesh/untangle.h"
#include "../system/system.h"

/* Moves the world positions x of bodies until no two surfaces meet, `margin` apart where it can,
 * and nothing is behind an obstacle with a formula. Affine bodies move as a whole. Obstacles and
 * fixed vertices stay. Parts of the report are owners: bodies, then obstacles. */
BrioStatus brio__system_untangle(const BrioSystem *system, const BrioState *state, double margin,
                                 double *x, BrioUntangled *report);

/* "body "cloth" by up to 0.012 m (vertex 17)", or "nothing". */
void brio__untangled_text(const BrioSystem *system, const BrioUntangled *report, char *text,
                          size_t size);

#endif
