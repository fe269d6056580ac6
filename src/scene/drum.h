/* The vibrations of a round drum, as first velocities of a sheet. */
#ifndef BRIO_DRUM_H
#define BRIO_DRUM_H

#include "../mesh/mesh.h"

typedef struct BrioDrum {
    int m, n;         /* nodal diameters, nodal circles (the rim counted) */
    double amplitude; /* the largest speed, m/s */
    double radius;    /* m; NAN: to the farthest vertex */
    double centre[3]; /* NAN: the middle of the body's box */
    double normal[3]; /* NAN: the mean normal of the triangles */
} BrioDrum;

/* The n-th positive zero of the Bessel function J_m. */
double brio__bessel_zero(int m, int n);
/* Adds amplitude u_mn(r, phi) along the normal to the velocities (3 per vertex) of a body with the
 * mesh's triangles at positions x. */
void brio__drum_add(const BrioDrum *drum, const BrioMesh *mesh, const double *x, double *v);

#endif
