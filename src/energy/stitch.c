/* A stitch: a spring between two points of bodies, each a mean of vertices. With signed weights w
 * (of the vertices of one point positive and adding up to 1, of the other negative),
 *
 *     E = s k/2 (|d| - l0)^2,     d = sum_i w_i x_i,
 *
 * a vertex and a triangle, or two edges. Gradient and Hessian are w_i f and w_i w_j K with f and K
 * of a spring (spring.h). The factor s is live: 1, and 0 once the stitch is broken. */
#include "../mat3_lane.h"
#include "energy.h"

enum { K, LENGTH, WEIGHT, BREAKING = WEIGHT + 4, REST };

static void write_hessian(const BrioBatch *batch, int64_t pack, const lane w[4], const lane n[3],
                          lane along, lane across)
{
    double *H = batch->hessian + (pack - batch->begin) * 90 * LANES;
    for (int i = 0, pair = 0; i < 4; i++)
        for (int j = 0; j <= i; j++, pair++)
            for (int k = 0; k < 9; k++) {
                lane value = along * n[k / 3] * n[k % 3];
                if (k % 4 == 0) value += across;
                lane_store(H + (9 * pair + k) * LANES, w[i] * w[j] * value);
            }
}

static void block(const BrioBatch *batch, int64_t pack)
{
    const int32_t *node = batch->node + pack * 4 * LANES;
    const double *rest = batch->rest + pack * REST * LANES;
    lane zero = lane_set(0), w[4], d[3] = {zero, zero, zero};
    lane c = lane_load(rest + K * LANES) * lane_load(batch->live + pack * LANES);
    lane l0 = lane_load(rest + LENGTH * LANES);
    for (int i = 0; i < 4; i++) {
        vec3l x = vec3l_gather(batch->x, node + i * LANES);
        w[i] = lane_load(rest + (WEIGHT + i) * LANES);
        d[0] += w[i] * x.x;
        d[1] += w[i] * x.y;
        d[2] += w[i] * x.z;
    }
    lane l = lane_sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    lane_mask collapsed = lane_le(l, lane_set(1e-150)), no_length = lane_le(l0, zero);
    lane inverse = 1 / lane_select(collapsed, lane_set(1), l), stretch = l - l0;
    /* c (l - l0) n = tension d: without division where l0 = 0 */
    lane tension =
        c * lane_select(no_length, lane_set(1), lane_select(collapsed, zero, 1 - l0 * inverse));
    if (batch->energy) batch->energy[pack] = lane_sum(0.5 * c * stretch * stretch);
    for (int i = 0; batch->gradient && i < 4; i++)
        for (int r = 0; r < 3; r++)
            lane_store(batch->gradient + (pack * 12 + 3 * i + r) * LANES, w[i] * tension * d[r]);
    if (!batch->hessian) return;
    lane n[3] = {d[0] * inverse, d[1] * inverse, d[2] * inverse};
    lane across = batch->project ? lane_positive(tension) : tension;
    across = lane_select(lane_and(collapsed, lane_lt(zero, l0)), c * (1.0 / 3), across);
    lane along = lane_select(lane_or(no_length, collapsed), zero, c - across);
    write_hessian(batch, pack, w, n, along, across);
}

static void eval(const BrioBatch *batch)
{
    for (int64_t pack = batch->begin; pack < batch->end; pack++) block(batch, pack);
}

/* From a vertex to the middle of a triangle; whoever makes stitches sets their weights. */
static void rest_shape(const double *X, double scale, double length, double *rest)
{
    double square = 0;
    rest[K] = scale;
    for (int i = 0; i < 4; i++) rest[WEIGHT + i] = i == 0 ? 1 : -1.0 / 3;
    for (int r = 0; r < 3; r++) {
        double d = X[r] - (X[3 + r] + X[6 + r] + X[9 + r]) / 3;
        square += d * d;
    }
    rest[LENGTH] = isnan(length) ? sqrt(square) : length;
    rest[BREAKING] = INFINITY;
}

static void sample(BrioRandom *random, double *X, double *x)
{
    for (int k = 0; k < 12; k++) {
        X[k] = brio__random(random);
        x[k] = 1.5 * brio__random(random);
    }
}

/* |K| <= c everywhere, since 1 - l0/l < 1. */
static void laplacian(const double *rest, const double *params, const double *live, double *weight)
{
    (void)params;
    for (int i = 0, pair = 0; i < 4; i++)
        for (int j = 0; j <= i; j++, pair++)
            weight[pair] = rest[K] * live[0] * rest[WEIGHT + i] * rest[WEIGHT + j];
}

static const BrioField fields[] = {
    {"k", BRIO_REAL, "N/m", 1000, 1e-300, 1e15, 0, "Stiffness of each stitch."}, {0}};

BRIO_ENERGY(stitch){
    .name = "stitch",
    .summary = "A spring between points of two bodies, which may break.",
    .citation = "Dinev2018",
    .element = BRIO_ELEMENT_STITCH,
    .traits = BRIO_ENERGY_PROJECTION,
    .nodes = 4,
    .rest = REST,
    .live = 1,
    .fields = fields,
    .rest_shape = rest_shape,
    .eval = eval,
    .laplacian = laplacian,
    .sample = sample,
};
