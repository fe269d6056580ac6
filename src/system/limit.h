/* What limits a motion: an element that would invert, or a pair that would touch. */
#ifndef BRIO_LIMIT_H
#define BRIO_LIMIT_H

#include "system.h"

/* The element that limits it; no term if none does. */
typedef struct BrioLimit {
    const BrioTerm *term;
    int64_t element;
    int32_t vertex[4]; /* of a pair that comes close, since pairs come and go: its world vertices */
    double distance;   /* and how far apart it was */
} BrioLimit;

/* Of several processes: the smallest step of all, and what limits it. A limit that another
 * process has is a term that only says so. */
double brio__limit_join(const BrioSystem *system, double step, BrioLimit *limit);
bool brio__limit_is_here(const BrioLimit *limit);
/* "tet 17 of body "cube" (vertices 3 8 12 40)", "vertex 3 of body "bar" and obstacle 0" */
void brio__limit_text(const BrioSystem *system, const BrioLimit *limit, char *text, size_t size);

#endif
