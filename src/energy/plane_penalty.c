/* A one-sided spring between a vertex and a plane [You2026, Eq. 14; Dinev2018, Eq. 38]: with the
 * distance d = n.(x - p),
 *
 *     E = k/2 (d - dhat)^2    for d < dhat,    0 beyond.
 *
 * The vertex sinks in; nothing is forbidden, so every integrator may use it. */
#include "penalty.h"
#include "plane.h"

static void eval(const BrioBatch *batch)
{
    double k = batch->params[0], dhat = batch->params[1];
    for (int64_t block = batch->begin; block < batch->end; block++) {
        const double *rest = batch->rest + block * BRIO_PLANE_REST * LANES;
        double *g = batch->gradient ? batch->gradient + block * 3 * LANES : NULL;
        double *H = batch->hessian ? batch->hessian + (block - batch->begin) * 9 * LANES : NULL;
        lane zero = lane_set(0);
        lane d = plane_distance(batch, block);
        lane depth = lane_min(d - dhat, zero);
        lane weight = k * lane_load(rest);
        if (batch->distance) {
            lane_store(batch->distance + block * LANES, d);
            continue;
        }
        if (batch->energy) batch->energy[block] = lane_sum(0.5 * weight * depth * depth);
        lane curvature = lane_select(lane_lt(depth, zero), weight, zero);
        for (int r = 0; r < 3; r++) {
            lane n = lane_load(rest + (1 + r) * LANES);
            if (g) lane_store(g + r * LANES, weight * depth * n);
            for (int s = 0; H && s < 3; s++)
                lane_store(H + (3 * r + s) * LANES,
                           curvature * n * lane_load(rest + (1 + s) * LANES));
        }
    }
}

BRIO_ENERGY(plane_penalty){
    .name = "plane-penalty",
    .summary = "One-sided spring that pushes vertices out of a plane.",
    .citation = "Dinev2018",
    .element = BRIO_ELEMENT_CONTACT,
    .nodes = 1,
    .rest = BRIO_PLANE_REST,
    .params = 2,
    .fields = penalty_fields,
    .rest_shape = plane_rest_shape,
    .eval = eval,
    .laplacian = penalty_laplacian,
    .sample = plane_sample,
};
