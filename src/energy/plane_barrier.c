/* The barrier between a vertex and a plane [Li2020]: b(d) of barrier.h with d = n.(x - p) -
 * thickness, the plane's unit normal n and point p.
 *
 * b'' is positive, so b'' n n^T is semidefinite and there is nothing to project. */
#include "barrier.h"
#include "plane.h"

static void eval(const BrioBatch *batch)
{
    double kappa = batch->params[0], dhat = batch->params[1], thickness = batch->params[2];
    lane zero = lane_set(0), one = lane_set(1);
    for (int64_t block = batch->begin; block < batch->end; block++) {
        const double *rest = batch->rest + block * BRIO_PLANE_REST * LANES;
        double *g = batch->gradient ? batch->gradient + block * 3 * LANES : NULL;
        double *H = batch->hessian ? batch->hessian + (block - batch->begin) * 9 * LANES : NULL;
        lane d = plane_distance(batch, block), u = (d - thickness) / dhat;
        if (batch->distance) {
            lane_store(batch->distance + block * LANES, d);
            continue;
        }
        lane_mask near = lane_lt(u, one), forbidden = lane_le(u, zero);
        if (!lane_any(near)) { /* the usual case */
            if (batch->energy) batch->energy[block] = 0;
            for (int r = 0; g && r < 3; r++) lane_store(g + r * LANES, zero);
            for (int k = 0; H && k < 9; k++) lane_store(H + k * LANES, zero);
            continue;
        }
        u = lane_select(forbidden, one, lane_min(u, one)); /* everything vanishes at 1 */
        Barrier b = barrier_at(kappa * lane_load(rest), dhat, u);
        if (batch->energy)
            batch->energy[block] = lane_any(forbidden) ? INFINITY : lane_sum(b.value);
        for (int r = 0; r < 3; r++) {
            lane n = lane_load(rest + (1 + r) * LANES);
            if (g) lane_store(g + r * LANES, b.slope * n);
            for (int s = 0; H && s < 3; s++)
                lane_store(H + (3 * r + s) * LANES,
                           b.curvature * n * lane_load(rest + (1 + s) * LANES));
        }
    }
}

/* Distances are linear in t: the exact time of impact is d/-(n.dx), and a tenth of the present one
 * is kept. */
static double max_step(const BrioBatch *batch, int64_t *element)
{
    double least = 1;
    for (int64_t block = batch->begin; block < batch->end; block++) {
        const double *rest = batch->rest + block * BRIO_PLANE_REST * LANES;
        lane room = 0.9 * (plane_distance(batch, block) - batch->params[2]);
        lane approach = -plane_along(rest, vec3l_gather(batch->dx, batch->node + block * LANES));
        lane_mask limited = lane_lt(room, approach);
        if (!lane_any(limited)) continue;
        lane t = room / lane_select(limited, approach, lane_set(1));
        for (int i = 0; i < WIDTH; i++)
            if (lane_test(limited, i) && t[i] < least) {
                least = t[i];
                *element = block * LANES + i;
            }
    }
    return least;
}

static const BrioField fields[] = {BARRIER_FIELDS, {0}};

BRIO_ENERGY(plane_barrier){
    .name = "plane-barrier",
    .summary = "Barrier that keeps vertices on one side of a plane.",
    .citation = "Li2020",
    .element = BRIO_ELEMENT_CONTACT,
    .traits = BRIO_ENERGY_INFINITE,
    .nodes = 1,
    .rest = BRIO_PLANE_REST,
    .params = 3,
    .fields = fields,
    .rest_shape = plane_rest_shape,
    .eval = eval,
    .max_step = max_step,
    .sample = plane_sample,
};
