/* The left-looking factorisation [Ng1993], which can do again what has changed: in ascending order
 * each panel takes A's values, subtracts the outer products of the earlier panels that reach into
 * it, and is factored as a dense matrix. It needs nothing but L. */
#ifndef BRIO_LEFT_H
#define BRIO_LEFT_H

#include "panels.h"

typedef struct BrioLeft BrioLeft;

/* For the pattern of `panels`, which must outlive it. */
BrioStatus brio__left_create(const BrioPanels *panels, BrioLeft **left);
/* Writes L into the panels. Only supernodes with changed[s] are done, and all above them in the
 * tree must be among these; NULL: all. The same bits for any number of threads. */
BrioStatus brio__left_factor(BrioLeft *left, const BrioMatrix *A, const bool *changed);
void brio__left_free(BrioLeft *left);

#endif
