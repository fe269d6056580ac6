/* A contact law between two vertices: b(d) with d = |r|, r = x0 - x1, n = r/d,
 *
 *     Hessian by r = b'' n n^T + b'/d (I - n n^T);
 *
 * b' is not positive, so the projection drops the second part. Pairs have four nodes
 * (contact/pairs.h): of these the last two do nothing. */
#ifndef BRIO_PAIR_VERTICES_H
#define BRIO_PAIR_VERTICES_H

#include "law.h"
#include "pair_law.h"

static void vertices_eval(const BrioBatch *batch)
{
    lane zero = lane_set(0), one = lane_set(1);
    for (int64_t pack = batch->begin; pack < batch->end; pack++) {
        const int32_t *node = batch->node + pack * 4 * LANES;
        vec3l a = vec3l_gather(batch->x, node), c = vec3l_gather(batch->x, node + LANES);
        vec3l r = vec3l_sub(a, c), x[4] = {a, c, c, c};
        lane d = lane_sqrt(vec3l_dot(r, r));
        if (batch->distance) {
            lane_store(batch->distance + pack * LANES, d);
            if (batch->clearance)
                lane_store(batch->clearance + pack * LANES,
                           pair_clearance(batch, pack, 1, x, r, d));
            continue;
        }
        lane_mask collapsed = lane_le(d, lane_set(1e-150));
        Law b = law_at(batch->params, lane_load(batch->rest + pack * LANES), d);
        lane inverse = lane_select(collapsed, zero, 1 / lane_select(collapsed, one, d));
        lane n[3] = {r.x * inverse, r.y * inverse, r.z * inverse};
        if (batch->touch) {
            pair_touch((lane[4]){one, -one, zero, zero}, n, -b.slope,
                       batch->touch + (pack - batch->begin) * 8 * LANES);
            continue;
        }
        if (batch->energy)
            batch->energy[pack] =
                lane_any(law_forbids(batch->params, d)) ? INFINITY : lane_sum(b.value);
        if (batch->gradient) {
            double *g = batch->gradient + pack * 12 * LANES;
            for (int k = 0; k < 12; k++)
                lane_store(g + k * LANES, k < 6 ? (k < 3 ? 1.0 : -1.0) * b.slope * n[k % 3] : zero);
        }
        if (!batch->hessian) continue;
        double *H = batch->hessian + (pack - batch->begin) * 90 * LANES;
        /* never positive */
        lane across = lane_select(collapsed, b.curvature * (1.0 / 3),
                                  batch->project ? zero : b.slope * inverse);
        for (int k = 0; k < 90; k++) lane_store(H + k * LANES, zero);
        for (int k = 0; k < 9; k++) {
            lane K = (b.curvature - across) * n[k / 3] * n[k % 3] + (k % 4 == 0 ? across : zero);
            lane_store(H + k * LANES, K);
            lane_store(H + (9 + k) * LANES, -K);
            lane_store(H + (18 + k) * LANES, K);
        }
    }
}

/* On both sides of dhat = 1, off the kink; apart at rest. */
static void vertices_sample(BrioRandom *random, double *X, double *x)
{
    double n[3];
    double length = 0;
    double d =
        brio__random(random) < 0.7 ? 0.2 + 0.7 * brio__random(random) : 1.1 + brio__random(random);
    for (int k = 0; k < 12; k++) x[k] = brio__random_normal(random);
    for (int k = 0; k < 3; k++) n[k] = brio__random_normal(random), length += n[k] * n[k];
    for (int k = 0; k < 3; k++) x[3 + k] = x[k] + d * n[k] / sqrt(length);
    for (int k = 0; k < 12; k++) X[k] = k < 3 ? 0 : 3.0 * (k / 3);
}

#endif
