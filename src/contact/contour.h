/* The lines along which a sheet intersects itself, and forces that shorten them where it is
 * pinched: how cloth that has passed through itself comes apart again [Volino2006]. */
#ifndef BRIO_CONTOUR_H
#define BRIO_CONTOUR_H

#include "../system/system.h"

typedef struct BrioContour BrioContour;

/* NULL if there is no sheet, or if vertices do not repel each other. */
BrioStatus brio__contour_create(const BrioSystem *system, BrioContour **contour);
void brio__contour_free(BrioContour *contour);

/* How strong the forces are. */
typedef struct BrioContourPull {
    double force; /* N: the largest, of an edge and a triangle that rest against each other */
    double speed; /* m/s: half of it where they move against each other as fast as this */
} BrioContourPull;

/* Adds the forces at world positions x and velocities v of coordinates to `world`, three numbers
 * per world vertex. Returns how many pinched edges there are; if there are none, `world` stays
 * as it is. Allocates nothing. */
int64_t brio__contour_pull(BrioContour *contour, const BrioContourPull *pull, const double *x,
                           const double *v, double *world);

#endif
