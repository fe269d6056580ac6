/* A cylinder along its second axis, of radius R (the half extents b_0, b_2) and height 2 H (b_1).
 * In the half plane through the axis and the vertex, with rho the distance from the axis, the
 * cylinder is a box: p = (rho - R, |y_1| - H), q = max(p, 0),
 *
 *     d = |q|,     n = q/|q|,     K = (diag(p >= 0) - n n^T)/|q|    outside,
 *     d = max p,   n = e_i where p_i is largest,   K = 0            inside,
 *
 * and C is K in that plane and n_rho/rho across it. */
#ifndef BRIO_OBSTACLE_CYLINDER_H
#define BRIO_OBSTACLE_CYLINDER_H

#include "obstacle.h"

#ifdef BRIO_KERNEL_ISA

#define cylinder_table NULL

static inline void cylinder_at(Solid *s, const double *table)
{
    (void)table;
    lane zero = lane_set(0), one = lane_set(1);
    lane rho = lane_sqrt(s->y[0] * s->y[0] + s->y[2] * s->y[2]), side = lane_sign(s->y[1]);
    lane_mask off_axis = lane_lt(lane_set(1e-100), rho);
    lane over = 1 / lane_select(off_axis, rho, one);
    lane e0 = lane_select(off_axis, s->y[0] * over, one);
    lane e2 = lane_select(off_axis, s->y[2] * over, zero);
    lane p = rho - s->half[0];
    lane h = lane_abs(s->y[1]) - s->half[1];
    lane qp = lane_positive(p);
    lane qh = lane_positive(h);
    lane length = lane_sqrt(qp * qp + qh * qh);
    lane_mask outside = lane_lt(lane_set(1e-100), length), mantle = lane_le(h, p);
    lane inverse = 1 / lane_select(outside, length, one);
    lane np = lane_select(outside, qp * inverse, lane_select(mantle, one, zero));
    lane nh = lane_select(outside, qh * inverse, lane_select(mantle, zero, one));
    lane rim = lane_select(outside, inverse, zero);
    lane around = lane_select(off_axis, np * over, zero);
    lane Kpp = rim * (lane_select(lane_le(zero, p), one, zero) - np * np);
    lane Khh = rim * (lane_select(lane_le(zero, h), one, zero) - nh * nh);
    lane Kph = -rim * np * nh;
    s->d = lane_select(outside, length, lane_max(p, h));
    s->n[0] = np * e0;
    s->n[1] = nh * side;
    s->n[2] = np * e2;
    s->C[0][0] = Kpp * e0 * e0 + around * e2 * e2;
    s->C[2][2] = Kpp * e2 * e2 + around * e0 * e0;
    s->C[0][2] = s->C[2][0] = (Kpp - around) * e0 * e2;
    s->C[0][1] = s->C[1][0] = Kph * side * e0;
    s->C[1][2] = s->C[2][1] = Kph * side * e2;
    s->C[1][1] = Khh;
}

SOLID_SHAPE(cylinder, SHAPE_CONVEX)

/* Off the kinks: see obstacle_box.h. */
static inline void cylinder_sample(BrioRandom *random, bool outside, double *X, double *x)
{
    double R = 0.5 + 0.5 * brio__random(random);
    double half[3] = {R, 0.5 + 0.5 * brio__random(random), R};
    double y[2][3];
    for (int k = 0; k < 2; k++)
        for (bool fits = false; !fits;) {
            double p[2], angle = 6.3 * brio__random(random);
            for (int i = 0; i < 2; i++) p[i] = solid_beyond(random, brio__random(random) < 0.5);
            y[k][0] = (R + p[0]) * cos(angle);
            y[k][1] = (half[1] + p[1]) * (brio__random(random) < 0.5 ? -1 : 1);
            y[k][2] = (R + p[0]) * sin(angle);
            fits = fmax(p[0], p[1]) > 0 ? !solid_near_kink(hypot(fmax(p[0], 0), fmax(p[1], 0)))
                                        : !outside && fabs(p[0] - p[1]) > 0.03;
        }
    solid_place(random, half, 0, y[0], y[1], X, x);
}

#define cylinder_rest_shape solid_rest_shape

#else

static const BrioField cylinder_fields[] = {
    {"radius", BRIO_REAL, "m", 0.5, 1e-9, 1e9, 0, "Radius about the y axis."},
    {"height", BRIO_REAL, "m", 1, 1e-9, 1e9, 0, "Extent along y, centred at the origin."},
    {0}};

static BrioStatus cylinder_prepare(const double *values, double *data, BrioError *error)
{
    (void)error;
    data[9] = data[11] = values[0];
    data[10] = values[1] / 2;
    return BRIO_OK;
}

static BrioStatus cylinder_mesh(const double *rest, const double *table, BrioMesh **mesh,
                                BrioError *error)
{
    (void)table;
    return brio__obstacle_rings(rest, true, mesh, error);
}

static const BrioObstacleType cylinder_type = {
    .name = "cylinder",
    .summary = "a cylinder along y about the origin",
    .fields = cylinder_fields,
    .prepare = cylinder_prepare,
    .mesh = cylinder_mesh,
};

#endif
#endif

OBSTACLE(cylinder)
