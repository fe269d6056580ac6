/* Closest points of a vertex and a triangle, and of two edges, eight pairs at a time, with
 * derivatives.
 *
 * The vector between the closest points is r = sum w_i x_i with weights of the four nodes: (1, -b0,
 * -b1, -b2) of a vertex and the point with barycentric coordinates b of a triangle, (1-s, s,
 * -(1-t), -t) of points at s and t of two edges. At the closest points some parameters u_k are free
 * (inside an edge one, inside a triangle or on both edges two) and the rest sit at a bound; the
 * free ones make r orthogonal to e_k = dr/du_k = sum_i w'_ki x_i, where w'_ki = dw_i/du_k are
 * constants. So one formula serves all cases: with D = |r|^2, G_kl = e_k.e_l and du/dx from the
 * derivative of e_k.r = 0,
 *
 *     dD/dx_i = 2 w_i r,
 *     d2D/dx_i dx_j = 2 w_i w_j I - 2 sum_kl (w_i e_k + w'_ki r) (G^-1)_kl (w_j e_l + w'_lj r)^T.
 *
 * Parameters may be mixed linearly: with those that make e_k = q_k orthonormal, G is the identity.
 *
 * Every candidate for the closest pair is a point of one and a point of the other, and the nearest
 * wins: a degenerate triangle or pair of edges can spoil a candidate but not the answer. */
#ifndef BRIO_PAIR_H
#define BRIO_PAIR_H

#include "../mat3_lane.h"

typedef struct Pair {
    lane w[4];
    vec3l r;
    lane D;
    lane dw[2][4]; /* w'_ki; zero for parameters that are not free, and those that are come first */
} Pair;

static const double pair_no_length2 = 1e-280; /* squared length of an edge that counts as a point */
static const double pair_flat2 = 1e-28;       /* squared sine of an angle that counts as none */

/* The point of a segment e from a to b closest to p, given p - a and p - b, as its parameter t, and
 * the vector from it to p. r is measured from the nearer end, so that it is exact at the ends. */
static inline lane nearest_on_segment(vec3l from_a, vec3l from_b, vec3l e, vec3l *r)
{
    lane zero = lane_set(0), one = lane_set(1), ee = vec3l_dot(e, e);
    lane_mask point = lane_le(ee, lane_set(pair_no_length2));
    lane t = vec3l_dot(from_a, e) / lane_select(point, one, ee);
    t = lane_select(point, zero, lane_min(lane_max(t, zero), one));
    lane_mask second = lane_lt(lane_set(0.5), t);
    *r = vec3l_along(vec3l_select(second, from_b, from_a), lane_select(second, 1 - t, -t), e);
    return t;
}

/* 1 inside an edge, 0 at its ends. */
static inline lane inside_edge(lane t)
{
    lane zero = lane_set(0), one = lane_set(1);
    return lane_select(lane_and(lane_lt(zero, t), lane_lt(t, one)), one, zero);
}

/* The part of f at right angles to e, f - c e, and its squared length; how far the angle of the two
 * is from nothing. */
static inline vec3l across_edge(vec3l e, vec3l f, lane *c, lane *height2, lane_mask *angle)
{
    lane one = lane_set(1), ee = vec3l_dot(e, e), tiny = lane_set(pair_no_length2);
    lane inverse = 1 / lane_select(lane_le(ee, tiny), one, ee);
    *c = vec3l_dot(e, f) * inverse;
    vec3l across = vec3l_along(f, -*c, e);
    lane rest = vec3l_dot(e, across) * inverse; /* what round-off left */
    across = vec3l_along(across, -rest, e);
    *c += rest;
    lane h2 = vec3l_dot(across, across);
    *angle = lane_and(lane_lt(tiny, ee), lane_lt(lane_max(pair_flat2 * vec3l_dot(f, f), tiny), h2));
    *height2 = lane_select(*angle, h2, one);
    return across;
}

/* Nodes: the vertex, then the triangle's. */
static inline Pair pair_vertex_face(const vec3l x[4])
{
    lane zero = lane_set(0), one = lane_set(1);
    vec3l from[3]; /* vectors from the corners to the vertex */
    for (int i = 0; i < 3; i++) from[i] = vec3l_sub(x[0], x[1 + i]);
    Pair best = {.w = {one, zero, zero, zero}, .D = lane_set(INFINITY)};
    for (int i = 0; i < 3; i++) { /* the edges, with their ends */
        int j = (i + 1) % 3, k = (i + 2) % 3;
        vec3l r, e = vec3l_sub(x[1 + j], x[1 + i]);
        lane t = nearest_on_segment(from[i], from[j], e, &r);
        lane D = vec3l_dot(r, r);
        lane free = inside_edge(t);
        lane_mask nearer = lane_lt(D, best.D);
        best.D = lane_min(D, best.D);
        best.r = vec3l_select(nearer, r, best.r);
        best.w[1 + i] = lane_select(nearer, t - 1, best.w[1 + i]);
        best.w[1 + j] = lane_select(nearer, -t, best.w[1 + j]);
        best.w[1 + k] = lane_select(nearer, zero, best.w[1 + k]);
        best.dw[0][1 + i] = lane_select(nearer, free, best.dw[0][1 + i]);
        best.dw[0][1 + j] = lane_select(nearer, -free, best.dw[0][1 + j]);
        best.dw[0][1 + k] = lane_select(nearer, zero, best.dw[0][1 + k]);
    }
    /* the inside: x1 + u e + v f */
    vec3l e = vec3l_sub(x[2], x[1]), f = vec3l_sub(x[3], x[1]);
    lane c, height2;
    lane_mask angle;
    vec3l across = across_edge(e, f, &c, &height2, &angle);
    lane ee = lane_select(angle, vec3l_dot(e, e), one);
    lane v = vec3l_dot(from[0], across) / height2;
    lane u = vec3l_dot(from[0], e) / ee - c * v;
    lane rest = 1 - u - v;
    lane_mask inside = lane_and(
        angle, lane_and(lane_lt(zero, u), lane_and(lane_lt(zero, v), lane_lt(zero, rest))));
    vec3l r = vec3l_along(vec3l_along(from[0], -u, e), -v, f);
    lane D = vec3l_dot(r, r);
    inside = lane_and(inside, lane_le(D, best.D));
    best.D = lane_select(inside, D, best.D);
    best.r = vec3l_select(inside, r, best.r);
    lane b[3] = {rest, u, v}, free = lane_select(inside, one, zero);
    const double first[3] = {1, -1, 0};
    for (int i = 0; i < 3; i++) {
        best.w[1 + i] = lane_select(inside, -b[i], best.w[1 + i]);
        best.dw[0][1 + i] = lane_select(inside, lane_set(first[i]), best.dw[0][1 + i]);
    }
    best.dw[1][1] = free;
    best.dw[1][3] = -free;
    return best;
}

/* Nodes: the ends of one edge, then of the other. */
static inline Pair pair_edge_edge(const vec3l x[4])
{
    lane zero = lane_set(0), one = lane_set(1), D = lane_set(INFINITY);
    lane s = zero, t = zero, free_s = zero, free_t = zero;
    vec3l e = vec3l_sub(x[1], x[0]), f = vec3l_sub(x[3], x[2]), r = {zero, zero, zero};
    vec3l from[2][2]; /* x_i - x_2+j */
    for (int k = 0; k < 4; k++) from[k / 2][k % 2] = vec3l_sub(x[k / 2], x[2 + k % 2]);
    for (int i = 0; i < 2; i++) { /* an end of the first and the second, with its ends */
        vec3l step;
        lane at = nearest_on_segment(from[i][0], from[i][1], f, &step), D2 = vec3l_dot(step, step);
        lane_mask nearer = lane_lt(D2, D);
        D = lane_min(D2, D);
        r = vec3l_select(nearer, step, r);
        s = lane_select(nearer, lane_set(i), s);
        t = lane_select(nearer, at, t);
    }
    free_t = inside_edge(t);
    for (int j = 0; j < 2; j++) { /* an end of the second and the first */
        vec3l step, none = {zero, zero, zero};
        vec3l from_a = vec3l_sub(none, from[0][j]), from_b = vec3l_sub(none, from[1][j]);
        lane at = nearest_on_segment(from_a, from_b, e, &step), D2 = vec3l_dot(step, step);
        lane_mask nearer = lane_lt(D2, D);
        D = lane_min(D2, D);
        r = vec3l_select(nearer, vec3l_sub(none, step), r);
        s = lane_select(nearer, at, s);
        t = lane_select(nearer, lane_set(j), t);
        free_s = lane_select(nearer, inside_edge(at), free_s);
        free_t = lane_select(nearer, zero, free_t);
    }
    /* inside both: x0 + s e - x2 - t f */
    lane c, height2;
    lane_mask angle;
    vec3l across = across_edge(e, f, &c, &height2, &angle);
    lane ee = lane_select(angle, vec3l_dot(e, e), one);
    lane in_t = vec3l_dot(from[0][0], across) / height2;
    lane in_s = c * in_t - vec3l_dot(from[0][0], e) / ee;
    lane_mask inside = lane_and(angle, lane_and(lane_and(lane_lt(zero, in_s), lane_lt(in_s, one)),
                                                lane_and(lane_lt(zero, in_t), lane_lt(in_t, one))));
    /* from the nearer ends */
    lane_mask end_s = lane_lt(lane_set(0.5), in_s), end_t = lane_lt(lane_set(0.5), in_t);
    vec3l start = vec3l_select(end_s, vec3l_select(end_t, from[1][1], from[1][0]),
                               vec3l_select(end_t, from[0][1], from[0][0]));
    start = vec3l_along(start, lane_select(end_s, in_s - 1, in_s), e);
    start = vec3l_along(start, lane_select(end_t, 1 - in_t, -in_t), f);
    lane D2 = vec3l_dot(start, start);
    inside = lane_and(inside, lane_le(D2, D));
    D = lane_select(inside, D2, D);
    r = vec3l_select(inside, start, r);
    s = lane_select(inside, in_s, s);
    t = lane_select(inside, in_t, t);
    free_s = lane_select(inside, one, free_s);
    free_t = lane_select(inside, one, free_t);
    lane only_t = (1 - free_s) * free_t, both = free_s * free_t;
    return (Pair){.w = {1 - s, s, t - 1, -t},
                  .r = r,
                  .D = D,
                  .dw = {{-free_s, free_s, only_t, -only_t}, {zero, zero, both, -both}}};
}

/* Mixes the free parameters until q_k = dr/du_k are orthonormal (zero where not free), and takes
 * out of r what round-off left along them: of tiny distances the direction is right then. Along q_1
 * that helps only where the distance is below the height of triangle or parallelogram, whose
 * round-off q_1 has. */
static inline void pair_frame(const vec3l x[4], Pair *p, vec3l q[2])
{
    lane zero = lane_set(0), one = lane_set(1);
    for (int k = 0; k < 2; k++) {
        vec3l e = {zero, zero, zero};
        for (int i = 0; i < 4; i++) e = vec3l_along(e, p->dw[k][i], x[i]);
        for (int pass = 0; k > 0 && pass < 2; pass++) { /* twice is enough */
            lane along = vec3l_dot(q[0], e);
            e = vec3l_along(e, -along, q[0]);
            for (int i = 0; i < 4; i++) p->dw[1][i] -= along * p->dw[0][i];
        }
        lane length2 = vec3l_dot(e, e);
        lane_mask free = lane_lt(lane_set(pair_no_length2), length2);
        lane scale = lane_select(free, 1 / lane_sqrt(lane_select(free, length2, one)), zero);
        q[k] = vec3l_along((vec3l){zero, zero, zero}, scale, e);
        for (int i = 0; i < 4; i++) p->dw[k][i] *= scale;
        lane off = vec3l_dot(q[k], p->r);
        if (k > 0) off = lane_select(lane_lt(p->D, length2), off, zero);
        p->r = vec3l_along(p->r, -off, q[k]);
    }
    p->D = vec3l_dot(p->r, p->r);
}

#endif
