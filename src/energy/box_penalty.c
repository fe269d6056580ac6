/* A one-sided spring between a vertex and a box with round edges: all that is nearer than r to the
 * box of half extents b. With b = 0 it is a ball, with one extent a capsule, with r = 0 a box. In
 * the box's axes, p = |y| - b and q = max(p, 0) (by components),
 *
 *     d = |q| - r,    n = sign(y) q/|q|,    C = (diag(p >= 0) - n n^T)/|q|    outside of the inner
 * box, d = max p - r,  n = sign(y) e_i where p_i is largest,  C = 0            in it. */
#include "penalty.h"

static void eval(const BrioBatch *batch)
{
    lane zero = lane_set(0), one = lane_set(1);
    for (int64_t block = batch->begin; block < batch->end; block++) {
        Solid s = solid_at(batch, block);
        lane p[3], q[3], square = zero;
        for (int i = 0; i < 3; i++) {
            p[i] = lane_abs(s.y[i]) - s.half[i];
            q[i] = lane_positive(p[i]);
            square += q[i] * q[i];
        }
        lane most = lane_max(p[0], lane_max(p[1], p[2])), length = lane_sqrt(square), left = one;
        lane_mask outside = lane_lt(lane_set(1e-100), length);
        lane inverse = 1 / lane_select(outside, length, one);
        s.d = lane_select(outside, length, most) - s.radius;
        for (int i = 0; i < 3; i++) {
            lane face = lane_select(lane_le(most, p[i]), left, zero); /* the first of the largest */
            left -= face;
            s.n[i] = lane_sign(s.y[i]) * lane_select(outside, q[i] * inverse, face);
        }
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                lane own = i == j ? lane_select(lane_le(zero, p[i]), one, zero) : zero;
                s.C[i][j] = lane_select(outside, (own - s.n[i] * s.n[j]) * inverse, zero);
            }
        solid_store(batch, block, &s);
    }
}

/* Off the kinks: faces of the inner box, planes in it that have two faces equally near, and
 * dhat. */
static void sample(BrioRandom *random, double *X, double *x)
{
    double half[3], radius = brio__random(random) < 0.5 ? 0 : 0.3, y[2][3];
    for (int i = 0; i < 3; i++)
        half[i] = radius > 0 && brio__random(random) < 0.6 ? 0 : 0.5 + 0.5 * brio__random(random);
    for (int k = 0; k < 2; k++)
        for (bool fits = false; !fits;) {
            double p[3], square = 0, most = -INFINITY, next = -INFINITY;
            for (int i = 0; i < 3; i++) {
                p[i] = solid_beyond(random, half[i] == 0 || brio__random(random) < 0.4);
                square += fmax(p[i], 0) * fmax(p[i], 0);
                next = fmax(next, fmin(most, p[i]));
                most = fmax(most, p[i]);
                y[k][i] = (half[i] + p[i]) * (brio__random(random) < 0.5 ? -1 : 1);
            }
            fits = square > 0 ? !solid_near_kink(sqrt(square) - radius) : most - next > 0.03;
        }
    solid_place(random, half, radius, y[0], y[1], X, x);
}

BRIO_ENERGY(box_penalty){
    .name = "box-penalty",
    .summary = "One-sided spring that pushes vertices out of a box, a ball or a capsule.",
    SOLID_DESCRIPTOR,
};
