/* Continuous collision detection for one pair of primitives, for the line search. The exact-input
 * queries brio_ccd_vertex_face and brio_ccd_edge_edge are in brio.h; ccd.c states the method and
 * why it is conservative. */
#ifndef BRIO_CONTACT_CCD_H
#define BRIO_CONTACT_CCD_H

/* A t in [0, 1] such that on x + [0, t] dx the pair stays farther apart than
 * thickness + keep (d0 - thickness), d0 its distance at x, also after the rounding of x + t dx; 1
 * if nothing comes near. For 0 < t < 1, what is left of d0 above that bound at t is a small part of
 * it (or the iteration limit was reached). 0 for d0 <= thickness and for input that is not
 * finite. */
/* v f0 f1 f2 */
double brio__ccd_vertex_face(const double x[12], const double dx[12], double thickness,
                             double keep);
/* a0 a1 b0 b1 */
double brio__ccd_edge_edge(const double x[12], const double dx[12], double thickness, double keep);

#endif
