/* What the kernels of registered contact laws and their registry share. */
#ifndef BRIO_REGISTERED_LAW_H
#define BRIO_REGISTERED_LAW_H

#include "law.h"

#include "brio/plugin.h"

#define BRIO_REGISTERED_LAW_FIELDS                                                              \
    BRIO_BARRIER_FIELDS("Stiffness, as the law defines it; auto: per pair of bodies, as stiff " \
                        "as the softer one (docs/defaults.md).")
/* The law that this thread evaluates (contact/law.c sets it). */
const BrioLawDef *brio__law_in_use(void);

/* The kernels of the instruction set in use. */
const BrioLawKernels *brio__registered_law_kernels(void);
/* Adds the energies of a registered law, which must stay in memory, to those of energy.c. */
BrioStatus brio__register_energies(const BrioEnergy *energies, int count, BrioError *error);

#endif
