/* Which scenes integrators that move springs and tets one at a time take (springs.c). */
#ifndef BRIO_SPRINGS_H
#define BRIO_SPRINGS_H

#include "stepper.h"

/* Whether there is nothing but springs and planes, and tets if the integrator takes them; fine for
 * integrators without BRIO_SPRINGS_ONLY. */
BrioStatus brio__springs_fit(const BrioSystem *system, const BrioIntegrator *integrator,
                             unsigned traits, BrioError *error);

#endif
