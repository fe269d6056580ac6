/* Two vertices that push each other apart below a distance dhat: E = kappa/2 (d - dhat)^2 for d =
 * |x0 - x1| < dhat, with the derivatives of a spring of that length (spring.h). Pairs have four
 * nodes (contact/pairs.h): of these the last two do nothing. */
#include "../mat3_lane.h"
#include "energy.h"

static void eval(const BrioBatch *batch)
{
    double kappa = batch->params[0], dhat = batch->params[1];
    lane zero = lane_set(0), one = lane_set(1);
    for (int64_t block = batch->begin; block < batch->end; block++) {
        const int32_t *node = batch->node + block * 4 * LANES;
        vec3l r = vec3l_sub(vec3l_gather(batch->x, node), vec3l_gather(batch->x, node + LANES));
        lane d = lane_sqrt(vec3l_dot(r, r));
        if (batch->distance) {
            lane_store(batch->distance + block * LANES, d);
            continue;
        }
        lane_mask acts = lane_lt(d, lane_set(dhat)), collapsed = lane_le(d, lane_set(1e-150));
        lane c = lane_select(acts, kappa * lane_load(batch->rest + block * LANES), zero);
        lane inverse = lane_select(collapsed, zero, 1 / lane_select(collapsed, one, d));
        lane n[3] = {r.x * inverse, r.y * inverse, r.z * inverse};
        if (batch->energy) batch->energy[block] = lane_sum(0.5 * c * (d - dhat) * (d - dhat));
        if (batch->gradient) {
            double *g = batch->gradient + block * 12 * LANES;
            for (int k = 0; k < 12; k++)
                lane_store(g + k * LANES,
                           k < 6 ? (k < 3 ? 1.0 : -1.0) * c * (d - dhat) * n[k % 3] : zero);
        }
        if (!batch->hessian) continue;
        double *H = batch->hessian + (block - batch->begin) * 90 * LANES;
        /* never positive */
        lane across =
            lane_select(collapsed, c * (1.0 / 3), batch->project ? zero : c * (1 - dhat * inverse));
        for (int k = 0; k < 90; k++) lane_store(H + k * LANES, zero);
        for (int k = 0; k < 9; k++) {
            lane K = (c - across) * n[k / 3] * n[k % 3] + (k % 4 == 0 ? across : zero);
            lane_store(H + k * LANES, K);
            lane_store(H + (9 + k) * LANES, -K);
            lane_store(H + (18 + k) * LANES, K);
        }
    }
}

static void rest_shape(const double *X, double scale, double length, double *rest)
{
    (void)X, (void)length;
    rest[0] = scale;
}

/* On both sides of dhat = 1, off the kink; apart at rest. */
static void sample(BrioRandom *random, double *X, double *x)
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

static const BrioField fields[] = {
    {"kappa", BRIO_REAL, "N/m", 1e5, 1e-300, 1e15, 0, "Stiffness of the spring."},
    {"dhat", BRIO_REAL, "m", 1e-3, 1e-300, 1e15, 0, "Distance below which it acts."},
    {0}};

BRIO_ENERGY(repulsion){
    .name = "repulsion",
    .summary = "Two vertices that push each other apart below a distance.",
    .citation = "Dinev2018",
    .element = BRIO_ELEMENT_PAIR,
    .nodes = 4,
    .rest = 1,
    .params = 2,
    .fields = fields,
    .rest_shape = rest_shape,
    .eval = eval,
    .sample = sample,
};
