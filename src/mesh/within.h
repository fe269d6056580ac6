/* Closed surfaces: whether one is closed, whether a point is within, and its nearest point. */
#ifndef BRIO_WITHIN_H
#define BRIO_WITHIN_H

#include "../base.h"

/* Triangles whose vertex 0 is at x + 3 * first. */
typedef struct BrioShell {
    int64_t count;
    const int32_t *triangle;
    int64_t first;
} BrioShell;

/* Every edge belongs to exactly two triangles of the same orientation. */
BrioStatus brio__shell_closed(const BrioShell *shell, bool *closed);
/* Turns the components of a closed surface outward: those within no other, each with all that is
 * within it. So a cavity stays one. All vertices are at x, numbered from 0 to `vertices` - 1. */
BrioStatus brio__shell_outward(int32_t *triangle, int64_t count, int64_t vertices, const double *x);
/* Six times the enclosed volume: negative where the triangles look inward. */
double brio__shell_volume6(const BrioShell *shell, const double *x);
/* How often the surface goes round p: 1 or -1 within a closed one, 0 outside. */
double brio__shell_winding(const BrioShell *shell, const double *x, const double p[3]);
/* The distance of p from the surface, and the nearest point. INFINITY without triangles. */
double brio__shell_nearest(const BrioShell *shell, const double *x, const double p[3], double y[3]);

#endif
