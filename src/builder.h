/* The builder's internals that tests and later parts use. */
#ifndef BRIO_BUILDER_H
#define BRIO_BUILDER_H

#include "system.h"

/* Gives a body twelve coordinates (a point and a matrix) instead of three per vertex: every vertex is A X + p.
 * Its masses come from its vertices. Fixing single vertices of such a body is refused. */
BrioStatus brio__builder_affine(BrioBuilder *builder, int body);

/* The obstacle because of which brio_builder_finish failed; -1: it was something else. */
int brio__builder_obstacle_at_fault(const BrioBuilder *builder);

#endif
