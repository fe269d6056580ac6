/* A contact law between two edges e = x1 - x0 and f = x3 - x2 that may be parallel
 * [Li2020, Eq. 24]: E = m(c) b(d) with
 *
 *     c = |e x f|^2,    m = (c/eps) (2 - c/eps) for c < eps,    1 beyond,
 *
 * which fades out where the closest points jump along the edges. eps is 10^-3 |e|^2 |f|^2 of the
 * rest lengths. By the edges,
 *
 *     dc/de = 2 f x (e x f),    dc/df = 2 (e x f) x e,
 *     d2c/dede = 2 (|f|^2 I - f f^T),    d2c/dfdf = 2 (|e|^2 I - e e^T),
 *     d2c/dedf = 2 (2 e f^T - f e^T - (e.f) I).
 *
 * Nothing changes when all nodes move together, so the Hessian is made on three combinations of the
 * nodes, orthonormal among themselves and to (1, 1, 1, 1), and projected there: 9 x 9. */
#ifndef BRIO_PAIR_PARALLEL_H
#define BRIO_PAIR_PARALLEL_H

#include "pair_law.h"

static const double combination[3][4] = {
    {0.5, 0.5, -0.5, -0.5}, {0.5, -0.5, 0.5, -0.5}, {0.5, -0.5, -0.5, 0.5}};
static const double of_e[3] = {0, -1, -1}, of_f[3] = {0, -1, 1}; /* the edges by the combinations */

static inline void combine(const lane w[4], lane to[3])
{
    for (int k = 0; k < 3; k++)
        to[k] = 0.5 * (w[0] + (k == 0 ? w[1] : -w[1]) + (k == 1 ? w[2] : -w[2]) +
                       (k == 2 ? w[3] : -w[3]));
}

static inline void to_array(vec3l a, lane to[3])
{
    to[0] = a.x;
    to[1] = a.y;
    to[2] = a.z;
}

static inline void parallel_hessian(const PairBlock *p, const vec3l edge[2], const vec3l dc[2],
                                    lane m, lane m1, lane m2, bool project, double *H)
{
    lane w[3], dw0[3], dw1[3], e[3], f[3], n[3], ce[3], cf[3], a[81];
    combine(p->pair.w, w);
    combine(p->pair.dw[0], dw0);
    combine(p->pair.dw[1], dw1);
    to_array(edge[0], e);
    to_array(edge[1], f);
    to_array(dc[0], ce);
    to_array(dc[1], cf);
    to_array(p->n, n);
    const lane *dw[2] = {dw0, dw1};
    lane ee = vec3l_dot(edge[0], edge[0]);
    lane ff = vec3l_dot(edge[1], edge[1]);
    lane ef = vec3l_dot(edge[0], edge[1]);
    PairHessian h =
        pair_hessian(3, w, dw, p->n, p->q, p->length, m * p->b.slope, m * p->b.curvature);
    lane gc[9], gb[9]; /* of c and b */
    for (int k = 0; k < 9; k++) {
        gc[k] = of_e[k / 3] * ce[k % 3] + of_f[k / 3] * cf[k % 3];
        gb[k] = p->b.slope * w[k / 3] * n[k % 3];
    }
    for (int k = 0; k < 9; k++)
        for (int l = 0; l < 9; l++) {
            int i = k / 3, j = l / 3, r = k % 3, s = l % 3;
            double same = r == s;
            lane curved = 2 * (of_e[i] * of_e[j] * (ff * same - f[r] * f[s]) +
                               of_f[i] * of_f[j] * (ee * same - e[r] * e[s]) +
                               of_e[i] * of_f[j] * (2 * e[r] * f[s] - f[r] * e[s] - ef * same) +
                               of_f[i] * of_e[j] * (2 * f[r] * e[s] - e[r] * f[s] - ef * same));
            a[9 * k + l] = pair_hessian_entry(&h, i, j, r, s) +
                           m1 * (gb[k] * gc[l] + gc[k] * gb[l]) +
                           p->b.value * (m1 * curved + m2 * gc[k] * gc[l]);
        }
    if (project) psd_project(9, a);
    for (int i = 0; i < 4; i++) {
        lane row[27] = {0}; /* node i against the combinations */
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 27; l++)
                row[l] += combination[k][i] * a[9 * (3 * k + l / 9) + l % 9];
        for (int j = 0; j <= i; j++)
            for (int k = 0; k < 9; k++) {
                const lane *of = row + 9 * (k / 3) + k % 3;
                lane_store(H + (brio__pair(i, j) * 9 + k) * LANES, combination[0][j] * of[0] +
                                                                       combination[1][j] * of[3] +
                                                                       combination[2][j] * of[6]);
            }
    }
}

static void parallel_eval(const BrioBatch *batch)
{
    for (int64_t pack = batch->begin; pack < batch->end; pack++) {
        PairBlock p;
        if (!pair_block(batch, pack, 2, pair_edge_edge, &p)) continue;
        lane zero = lane_set(0), one = lane_set(1);
        vec3l edge[2] = {vec3l_sub(p.x[1], p.x[0]), vec3l_sub(p.x[3], p.x[2])},
              cross = vec3l_cross(edge[0], edge[1]);
        lane eps = lane_load(batch->rest + (pack * 2 + 1) * LANES);
        lane inverse = 1 / eps;
        lane c = vec3l_dot(cross, cross) * inverse;
        lane_mask parallel = lane_lt(c, one);
        lane m = lane_select(parallel, c * (2 - c), one), n[3];
        to_array(p.n, n);
        if (batch->touch) {
            pair_touch(p.pair.w, n, -m * p.b.slope,
                       batch->touch + (pack - batch->begin) * 8 * LANES);
            continue;
        }
        lane m1 = lane_select(parallel, 2 * (1 - c) * inverse, zero);
        lane m2 = lane_select(parallel, -2 * inverse * inverse, zero);
        vec3l none = {zero, zero, zero}, two = vec3l_along(none, lane_set(2), cross),
              dc[2] = {vec3l_cross(edge[1], two), vec3l_cross(two, edge[0])};
        if (batch->energy) batch->energy[pack] = p.forbidden ? INFINITY : lane_sum(m * p.b.value);
        if (batch->gradient) {
            double *g = batch->gradient + pack * 12 * LANES;
            lane ce[3], cf[3];
            to_array(dc[0], ce);
            to_array(dc[1], cf);
            for (int k = 0; k < 12; k++) {
                lane by_c = (k < 6 ? ce : cf)[k % 3] * (k / 3 % 2 ? 1 : -1);
                lane_store(g + k * LANES,
                           m * p.b.slope * p.pair.w[k / 3] * n[k % 3] + p.b.value * m1 * by_c);
            }
        }
        if (batch->hessian)
            parallel_hessian(&p, edge, dc, m, m1, m2, batch->project,
                             batch->hessian + (pack - batch->begin) * 90 * LANES);
    }
}

/* length: eps, or NAN for that of the rest shape. */
static void parallel_rest_shape(const double *X, double scale, double length, double *rest)
{
    double e = 0, f = 0;
    for (int r = 0; r < 3; r++) {
        e += (X[3 + r] - X[r]) * (X[3 + r] - X[r]);
        f += (X[9 + r] - X[6 + r]) * (X[9 + r] - X[6 + r]);
    }
    rest[0] = scale;
    rest[1] = isnan(length) ? 1e-3 * e * f : length;
}

/* The rest shape is much longer than the state, so that the factor m is at work at all angles;
 * never where it reaches 1. */
static void parallel_sample(BrioRandom *random, double *X, double *x)
{
    for (double c, rest[2];;) {
        pair_sample(random, pair_edge_edge, X, x);
        for (int r = 0; r < 3; r++) {
            X[3 + r] = X[r] + 2 * (X[3 + r] - X[r]);
            X[9 + r] = X[6 + r] + 2 * (X[9 + r] - X[6 + r]);
        }
        parallel_rest_shape(X, 1, NAN, rest);
        vec3l at[4];
        pair_load(x, at);
        vec3l cross = vec3l_cross(vec3l_sub(at[1], at[0]), vec3l_sub(at[3], at[2]));
        c = vec3l_dot(cross, cross)[0] / rest[1];
        pair_load(X, at);
        if ((c < 0.8 || c > 1.3) && rest[1] > 0.5 && pair_edge_edge(at).D[0] > 1.4) return;
    }
}

#endif
