/* Whether bodies and obstacles begin apart, as barriers need it. */
#ifndef BRIO_APART_H
#define BRIO_APART_H

#include "sim.h"

/* Fails, with both names, if surfaces at the world positions x intersect, or if two of them are so
 * near that rounding decides whether they touch. Passes where nothing forbids contact. */
BrioStatus brio__sim_check_apart(BrioSim *sim, const double *x, BrioError *error);

/* Whether the state begins with a barrier that is compressed to less than half of dhat: a sentence
 * with both names. The energy that it holds becomes motion. */
bool brio__sim_pressed_text(BrioSim *sim, char *text, size_t size);

#endif
