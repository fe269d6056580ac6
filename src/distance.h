/* Distances between a vertex and a triangle and between two edges, one pair at a time.
 *
 * Both return the distance and signed weights w with sum_i w_i x_i = the vector from the closest
 * point of the second primitive to that of the first; w of each primitive adds up to 1 (-1 for the
 * second) and has one sign. Any finite input will do: edges of no length, triangles of no area,
 * parallel edges, and sizes from 1e-300 to 1e300. The error of the distance is a few units in the
 * last place of the largest difference of coordinates. */
#ifndef BRIO_CONTACT_DISTANCE_H
#define BRIO_CONTACT_DISTANCE_H

/* v f0 f1 f2; w = (1, -b0, -b1, -b2) */
double brio__closest_vertex_face(const double x[12], double w[4]);
/* a0 a1 b0 b1; w = (1-s, s, -(1-t), -t) */
double brio__closest_edge_edge(const double x[12], double w[4]);

/* |(a1 - a0) x (b1 - b0)|^2 of two edges a0 a1 b0 b1: 0 where they are parallel. */
double brio__cross_square(const double x[12]);

#endif
