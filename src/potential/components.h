/* Components of the system, which of them fly, and which nothing holds.
 *
 * A component is all that elements and constraints hold together. What acts inside of it adds up to
 * nothing, so that the sum R of all its forces except weight tells how far it is carried: none in
 * free flight, minus the weight W of what lies or hangs at rest. Nothing needs to be known of who
 * carries it. */
#ifndef BRIO_COMPONENTS_H
#define BRIO_COMPONENTS_H

#include "../system/system.h"
#include "bound.h"

typedef struct BrioComponents {
    const BrioSystem *system;
    int32_t count;
    int32_t *component; /* of each block */
    bool *fixed;        /* components: an element ties it to a vertex without coordinates */
    /* components that push each other in this step and are balanced together: trees, the root is
     * one of them */
    int32_t *group;
    bool *stays; /* of roots: a component of the group is fixed */
    double *sum; /* components x 9, and one more, for sums over them */
} BrioComponents;

BrioStatus brio__components_create(const BrioSystem *system, BrioComponents **components);
/* The component of each block, how many there are, and which are fixed. */
BrioStatus brio__components_find(const BrioSystem *system, int32_t *component, int32_t *count,
                                 bool **fixed);
void brio__components_free(BrioComponents *components);
/* weight = M^-1 weight times `time` and max(0, 1 - |R|/|W|) of each component; `forces` are all
 * forces, either both with their signs or both without. */
void brio__components_unsupported(const BrioComponents *components, const double *forces,
                                  double time, double *weight);
/* Adds the kinetic energy `missing` by scaling velocities, by a factor of at most `gain` and at
 * least 1/gain; those of components that are not fixed about their mean, so that linear momentum
 * stays. */
void brio__components_scale(const BrioComponents *components, double missing, double gain,
                            double *v);
/* Which components push each other in this step: none; those of two blocks (-1: of a vertex without
 * coordinates, which holds the other). */
void brio__components_separate(BrioComponents *components);
void brio__components_join(BrioComponents *components, int32_t a, int32_t b);
/* Shifts groups of components that are not fixed as a whole so that
 * sum((mass + scale bound) step) = sum(gradient) over each, to round-off. `bound` is that of
 * bound.h, or NULL. */
void brio__components_balance(const BrioComponents *components, const double *mass,
                              const double *bound, double scale, const double *gradient,
                              double *step);

#endif
