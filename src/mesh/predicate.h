/* Geometric predicates that are exact for all finite numbers: signs of determinants, and whether
 * segments and triangles have a point in common. They share no code with the distances, the
 * barriers and the collision detection that they judge. */
#ifndef BRIO_PREDICATE_H
#define BRIO_PREDICATE_H

#include "../base.h"

/* Sign of det[b - a, c - a, d - a]: positive if d is on the side from which a, b, c turn
 * counterclockwise; of a tet, of its volume. */
int brio__exact_orient3d(const double *a, const double *b, const double *c, const double *d);
/* Sign of n.(x - p). */
int brio__exact_side(const double *n, const double *p, const double *x);
/* Whether the closed segment pq and the closed triangle abc have a common point; either may be
 * degenerate. */
bool brio__exact_segment_triangle(const double *p, const double *q, const double *a,
                                  const double *b, const double *c);
bool brio__exact_segments(const double *p, const double *q, const double *r, const double *s);

#endif
