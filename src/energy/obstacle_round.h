/* What is nearer than r to a segment of half length h along the second axis, balls (h = 0) and
 * capsules: with q = y less its part along the segment,
 *
 *     q_1 = max(|y_1| - h, 0) sign(y_1),    d = |q| - r,    n = q/|q|,
 *     C = (diag(1, |y_1| >= h, 1) - n n^T)/|q|.
 *
 * On the segment itself, n is taken along the first axis. */
#ifndef BRIO_OBSTACLE_ROUND_H
#define BRIO_OBSTACLE_ROUND_H

#include "obstacle.h"

#ifdef BRIO_KERNEL_ISA

static inline void round_at(Solid *s)
{
    lane zero = lane_set(0), one = lane_set(1);
    lane beyond = lane_abs(s->y[1]) - s->half[1];
    lane q[3] = {s->y[0], lane_sign(s->y[1]) * lane_positive(beyond), s->y[2]};
    lane square = zero;
    for (int i = 0; i < 3; i++) square += q[i] * q[i];
    lane length = lane_sqrt(square);
    lane_mask off = lane_lt(lane_set(1e-100), length);
    lane inverse = 1 / lane_select(off, length, one);
    s->d = lane_select(off, length, zero) - s->radius;
    for (int i = 0; i < 3; i++)
        s->n[i] = lane_select(off, q[i] * inverse, i == 0 ? lane_sign(s->y[0]) : zero);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            lane own = i == j ? one : zero;
            if (i == 1 && j == 1) own = lane_select(lane_le(zero, beyond), one, zero);
            s->C[i][j] = lane_select(off, (own - s->n[i] * s->n[j]) * inverse, zero);
        }
}

/* Off the kinks: the ends of the segment, its neighbourhood, and dhat. */
static inline void round_sample(BrioRandom *random, double half, bool outside, double *X, double *x)
{
    double extents[3] = {0, half, 0}, y[2][3], radius = 0.3;
    for (int k = 0; k < 2; k++)
        for (bool fits = false; !fits;) {
            double square = 0;
            for (int i = 0; i < 3; i++) {
                y[k][i] = (2 * brio__random(random) - 1) * (1.2 + (i == 1 ? half : 0));
                double q = i == 1 ? fmax(fabs(y[k][i]) - half, 0) : y[k][i];
                square += q * q;
            }
            double d = sqrt(square) - radius;
            fits = d > (outside ? 0.15 : -0.15) && !solid_near_kink(d) &&
                   (half == 0 || fabs(fabs(y[k][1]) - half) > 0.03);
        }
    solid_place(random, extents, radius, y[0], y[1], X, x);
}

#endif
#endif
