/* The registry of contact laws (energy/law.h, energy/laws.def). */
#ifndef BRIO_CONTACT_LAW_H
#define BRIO_CONTACT_LAW_H

#include "../energy/law.h"

const BrioLaw *brio__law_at(int i);   /* NULL past the last */
int brio__law_find(const char *name); /* -1: none of that name */
/* The default of a field of a law; `otherwise` if the law does not have it. */
double brio__law_default(const BrioLaw *law, const char *field, double otherwise);
/* The energy of a law with a type of obstacle ("plane") or of pair ("vertex-face"); NULL: none. */
const BrioEnergy *brio__law_energy(const BrioLaw *law, const char *with);

#endif
