/* Parts of the system, which of them fly, and which nothing holds.
 *
 * A part is all that elements and rods hold together. What acts inside of it adds up to nothing, so
 * that the sum R of all its forces except weight tells how far it is carried: none in free flight,
 * minus the weight W of what lies or hangs at rest. Nothing needs to be known of who carries it. */
#ifndef BRIO_PARTS_H
#define BRIO_PARTS_H

#include "../system/system.h"
#include "bound.h"

typedef struct BrioParts {
    const BrioSystem *system;
    int32_t count;
    int32_t *part; /* of each block */
    bool *held;    /* parts: an element ties it to a vertex without coordinates */
    /* parts that push each other in this step and are balanced together: trees, the root is one of
     * them */
    int32_t *group;
    bool *stays; /* of roots: a part of the group is held */
    double *sum; /* parts x 9, and one more, for sums over them */
} BrioParts;

BrioStatus brio__parts_create(const BrioSystem *system, BrioParts **parts);
/* The part of each block, how many there are, and which are held. */
BrioStatus brio__parts_find(const BrioSystem *system, int32_t *part, int32_t *count, bool **held);
void brio__parts_free(BrioParts *parts);
/* weight = M^-1 weight times `time` and max(0, 1 - |R|/|W|) of each part; `forces` are all forces,
 * either both with their signs or both without. */
void brio__parts_unsupported(const BrioParts *parts, const double *forces, double time,
                             double *weight);
/* Adds the kinetic energy `missing` by scaling velocities, by a factor of at most `gain` and at
 * least 1/gain; those of parts that are not held about their mean, so that linear momentum
 * stays. */
void brio__parts_scale(const BrioParts *parts, double missing, double gain, double *v);
/* Which parts push each other in this step: none; those of two blocks (-1: of a vertex without
 * coordinates, which holds the other). */
void brio__parts_separate(BrioParts *parts);
void brio__parts_join(BrioParts *parts, int32_t a, int32_t b);
/* Shifts groups of parts that are not held as a whole so that sum((mass + scale bound) step) =
 * sum(gradient) over each, to round-off. `bound` is that of bound.h, or NULL. */
void brio__parts_balance(const BrioParts *parts, const double *mass, const double *bound,
                         double scale, const double *gradient, double *step);

#endif
