/* The energy that a search aims at, and the alpha with which it gets there [You2026, Eq. 15-16 and
 * Algorithm 1]: for all methods whose velocities are w - alpha dv. */
#ifndef BRIO_TARGET_H
#define BRIO_TARGET_H

#include "integrator.h"

/* The energy of w - alpha dv: H(alpha) = P + 1/2 |w|^2 - alpha linear + alpha^2 square / 2. */
typedef struct BrioSearch {
    double excess;         /* H(0) less the target */
    double linear, square; /* w.M dv and dv.M dv */
    double scale;          /* of the energies that `excess` is the difference of */
    double min, max;       /* of alpha */
} BrioSearch;

/* The root nearer 1 of H(alpha) = target, the vertex of the parabola if there is none, within min
 * and max. Where no alpha can change the energy by more than its round-off (free flight, rest), dv
 * is noise and its root would be, too: there alpha is `max` if energy is missing, `min` if there
 * is too much of it, and 1 if neither is the case beyond round-off. */
double brio__search_alpha(const BrioSearch *search);

/* Energy that decay leads to, the integrator's value `ground`. `rest` is found in its first step
 * and kept in the memos `known` and `level`. Uses scratch vector 3. */
BrioStatus brio__target_ground(BrioStepper *stepper, int known, int level, double *ground);
/* The target of the step before; in the first step `energy_scale` of the energy above the ground.
 */
double brio__target_at_start(BrioStepper *stepper, double ground);

#endif
