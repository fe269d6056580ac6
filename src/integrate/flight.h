/* Parts of the system, which of them fly, and which nothing holds.
 *
 * A part is all that elements and rods hold together. What acts inside of it adds up to nothing, so that the sum R of all its forces except weight tells how
 * far it is carried: none in free flight, minus the weight W of what lies or hangs at rest. Nothing needs to be known of who carries it. */
#ifndef BRIO_FLIGHT_H
#define BRIO_FLIGHT_H

#include "../solve/minimise.h"

typedef struct BrioFlight {
    int32_t blocks, parts;
    int32_t *part;  /* of each block */
    bool *held;     /* parts: an element ties it to a vertex without coordinates */
    double *sum;    /* parts x 6, for sums over them */
} BrioFlight;

BrioStatus brio__flight_create(BrioSolver *solver, BrioFlight **flight);
void brio__flight_free(BrioFlight *flight);
/* Multiplies `weight` (in place) by max(0, 1 - |R|/|W|) of each part; `forces` are all forces, either both with their signs or both without. */
void brio__flight_share(const BrioFlight *flight, const double *forces, double *weight);
/* Adds the kinetic energy `missing` by scaling velocities, by a factor of at most `gain` and at least 1/gain; those of parts that are not held about their
 * mean, so that linear momentum stays. */
void brio__flight_scale(const BrioFlight *flight, const BrioSystem *system, double missing, double gain, double *v);

#endif
