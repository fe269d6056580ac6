/* A box of half extents b. In its axes, p = |y| - b and q = max(p, 0) (by components),
 *
 *     d = |q|,      n = sign(y) q/|q|,    C = (diag(p >= 0) - n n^T)/|q|    outside,
 *     d = max p,    n = sign(y) e_i where p_i is largest,    C = 0          inside. */
#ifndef BRIO_OBSTACLE_BOX_H
#define BRIO_OBSTACLE_BOX_H

#include "obstacle.h"

#ifdef BRIO_KERNEL_ISA

#define box_table NULL

static inline void box_at(Solid *s, const double *table)
{
    (void)table;
    lane zero = lane_set(0), one = lane_set(1);
    lane p[3], q[3], square = zero;
    for (int i = 0; i < 3; i++) {
        p[i] = lane_abs(s->y[i]) - s->half[i];
        q[i] = lane_positive(p[i]);
        square += q[i] * q[i];
    }
    lane max = lane_max(p[0], lane_max(p[1], p[2])), length = lane_sqrt(square), left = one;
    lane_mask outside = lane_lt(lane_set(1e-100), length);
    lane inverse = 1 / lane_select(outside, length, one);
    s->d = lane_select(outside, length, max);
    for (int i = 0; i < 3; i++) {
        lane face = lane_select(lane_le(max, p[i]), left, zero); /* the first of the largest */
        left -= face;
        s->n[i] = lane_sign(s->y[i]) * lane_select(outside, q[i] * inverse, face);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            lane own = i == j ? lane_select(lane_le(zero, p[i]), one, zero) : zero;
            s->C[i][j] = lane_select(outside, (own - s->n[i] * s->n[j]) * inverse, zero);
        }
}

SOLID_SHAPE(box, SHAPE_CONVEX)

/* Off the kinks: faces of the box, planes in it that have two faces equally near, and
 * dhat. */
static inline void box_sample(BrioRandom *random, bool outside, double *X, double *x)
{
    double half[3], y[2][3];
    for (int i = 0; i < 3; i++) half[i] = 0.5 + 0.5 * brio__random(random);
    for (int k = 0; k < 2; k++)
        for (bool fits = false; !fits;) {
            double p[3], square = 0, max = -INFINITY, next = -INFINITY;
            for (int i = 0; i < 3; i++) {
                p[i] = solid_beyond(random, brio__random(random) < 0.4);
                square += fmax(p[i], 0) * fmax(p[i], 0);
                next = fmax(next, fmin(max, p[i]));
                max = fmax(max, p[i]);
                y[k][i] = (half[i] + p[i]) * (brio__random(random) < 0.5 ? -1 : 1);
            }
            fits = square > 0 ? !solid_near_kink(sqrt(square)) : !outside && max - next > 0.03;
        }
    solid_place(random, half, 0, y[0], y[1], X, x);
}

#define box_rest_shape solid_rest_shape

#else

static const BrioField box_fields[] = {
    {"size", BRIO_VECTOR, "m", 1, 1e-9, 1e9, 0, "Extents along x, y, z, centred at the origin."},
    {0}};

static BrioStatus box_prepare(const double *values, double *data, BrioError *error)
{
    (void)error;
    for (int r = 0; r < 3; r++) data[9 + r] = values[r] / 2;
    return BRIO_OK;
}

static BrioStatus box_mesh(const double *rest, const double *table, BrioMesh **mesh,
                           BrioError *error)
{
    (void)table;
    return brio__obstacle_rings(rest, false, mesh, error);
}

static const BrioObstacleType box_type = {
    .name = "box",
    .summary = "a box about the origin",
    .fields = box_fields,
    .prepare = box_prepare,
    .mesh = box_mesh,
};

#endif
#endif

OBSTACLE(box)
