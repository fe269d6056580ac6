/* Two-node springs: E = c/2 (l - l0)^2 with l = |x1 - x0|, shared by Hooke's springs and
 * attachments.
 *
 * With n the unit vector of the spring, the gradient on node 1 is c (l - l0) n and the Hessian
 *
 *     K = c (n n^T + (1 - l0/l) (I - n n^T)),    blocks K on the diagonal, -K off it.
 *
 * Its eigenvalues are c and c (1 - l0/l) (twice), so the projection clamps the latter at zero. A
 * spring of no length at the moment has no direction: its force is zero and K = c I if l0 = 0, and
 * otherwise K is isotropic with the value c/3 that the mean over directions of c n n^T has. */
#ifndef BRIO_SPRING_H
#define BRIO_SPRING_H

#include "../mat3_lane.h"
#include "energy.h"

static inline void spring_block(const BrioBatch *batch, int64_t pack, lane c, lane l0)
{
    const int32_t *node = batch->node + pack * 2 * LANES;
    vec3l d = vec3l_sub(vec3l_gather(batch->x, node + LANES), vec3l_gather(batch->x, node));
    lane l2 = vec3l_dot(d, d), l = lane_sqrt(l2), zero = lane_set(0);
    lane_mask collapsed = lane_le(l, lane_set(1e-150));
    lane inverse = 1 / lane_select(collapsed, lane_set(1), l);
    lane stretch = l - l0;
    lane_mask no_length = lane_le(l0, zero);
    /* c (l - l0) n = tension d, c (1 - l0/l) = tension: without division where l0 = 0 */
    lane tension =
        c * lane_select(no_length, lane_set(1), lane_select(collapsed, zero, 1 - l0 * inverse));
    if (batch->energy) batch->energy[pack] = lane_sum(0.5 * c * stretch * stretch);
    if (batch->gradient) {
        double *g = batch->gradient + pack * 6 * LANES;
        lane f[3] = {tension * d.x, tension * d.y, tension * d.z};
        for (int r = 0; r < 3; r++) {
            lane_store(g + r * LANES, -f[r]);
            lane_store(g + (3 + r) * LANES, f[r]);
        }
    }
    if (batch->hessian) {
        double *H = batch->hessian + (pack - batch->begin) * 27 * LANES;
        lane n[3] = {d.x * inverse, d.y * inverse, d.z * inverse};
        lane across = batch->project ? lane_positive(tension) : tension;
        across = lane_select(lane_and(collapsed, lane_lt(zero, l0)), c * (1.0 / 3), across);
        lane along = lane_select(lane_or(no_length, collapsed), zero, c - across);
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++) {
                lane k = along * n[r] * n[s];
                if (r == s) k += across;
                lane_store(H + (3 * r + s) * LANES, k);
                lane_store(H + (9 + 3 * r + s) * LANES, -k);
                lane_store(H + (18 + 3 * r + s) * LANES, k);
            }
    }
}

/* |K| <= c everywhere, since 1 - l0/l < 1. */
static inline void spring_laplacian(double c, double *weight)
{
    weight[0] = weight[2] = c;
    weight[1] = -c;
}

static void spring_sample(BrioRandom *random, double *X, double *x)
{
    for (int k = 0; k < 6; k++) {
        X[k] = brio__random(random);
        x[k] = 1.5 * brio__random(random);
    }
}

#endif
