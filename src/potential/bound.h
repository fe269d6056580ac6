/* Bounds of the curvature of contacts, for solves with a constant matrix. */
#ifndef BRIO_POTENTIAL_BOUND_H
#define BRIO_POTENTIAL_BOUND_H

/* Bounds of curvature for solves with a constant matrix, for each coordinate block: the largest in
 * any direction, and what of it does not come from other blocks, as a symmetric matrix xx, xy, xz,
 * yy, yz, zz. */
enum { BRIO_BOUND = 7 };

/* along n n^T + across (I - n n^T), |n| = 1. */
static inline void brio__bound_add(double *bound, double along, const double n[3], double across)
{
    bound[0] += along > across ? along : across;
    for (int i = 0, at = 1; i < 3; i++)
        for (int j = i; j < 3; j++)
            bound[at++] += (along - across) * n[i] * n[j] + (i == j) * across;
}

#endif
