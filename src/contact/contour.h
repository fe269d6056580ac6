/* The lines along which a sheet intersects itself, and forces that shorten them where it is
 * pinched [Volino2006] and let go of what repels itself across them: how cloth that has passed
 * through itself comes apart again. */
#ifndef BRIO_CONTOUR_H
#define BRIO_CONTOUR_H

#include "../system/system.h"

typedef struct BrioContour BrioContour;

/* NULL if there is no sheet, or if vertices do not repel each other. */
BrioStatus brio__contour_create(const BrioSystem *system, BrioContour **contour);
void brio__contour_free(BrioContour *contour);

/* How strong the forces are. */
typedef struct BrioContourPull {
    const double
        *law;     /* the parameters of contact: the forces are those that vertices repel with */
    double speed; /* m/s: half of them where the two move against each other as fast as this */
} BrioContourPull;

/* Adds the forces at world positions x and velocities v of coordinates to `world`, three numbers
 * per world vertex. Returns how many forces there are; if there are none, `world` stays as it
 * is. Allocates nothing. */
int64_t brio__contour_pull(BrioContour *contour, const BrioContourPull *pull, const double *x,
                           const double *v, double *world);

#endif
