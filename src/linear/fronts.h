/* The multifrontal factorisation of the built-in direct solver [Liu1992].
 *
 * Supernodes are eliminated from the leaves of their tree to its roots. Each has a front: its panel
 * of L and, for the rows below its own columns, a dense update matrix, which it passes to its
 * parent. So every product is one of dense matrices, and what a parent takes from its children
 * has just been written. */
#ifndef BRIO_FRONTS_H
#define BRIO_FRONTS_H

#include "panels.h"

typedef struct BrioFronts BrioFronts;

/* For the pattern of `panels`, which must outlive it. */
BrioStatus brio__fronts_create(const BrioPanels *panels, BrioFronts **fronts);
/* Writes L into the panels. BRIO_NOT_POSITIVE_DEFINITE: there is none. The same bits for any number
 * of threads; allocates nothing. */
BrioStatus brio__fronts_factor(BrioFronts *fronts, const BrioMatrix *A);
const BrioPanelsTree *brio__fronts_tree(const BrioFronts *fronts);
double brio__fronts_bytes(const BrioFronts *fronts);
void brio__fronts_free(BrioFronts *fronts);

#endif
