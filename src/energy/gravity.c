/* Weight: E = -m g.x for every vertex, fixed ones included; zero at the origin. Of bodies that move
 * along x only, m g_x x alone counts: a factor of 0 or 1 multiplies the other two products. */
#include "../mat3_lane.h"
#include "energy.h"

static void eval(const BrioBatch *batch)
{
    const double *g = batch->params;
    for (int64_t pack = batch->begin; pack < batch->end; pack++) {
        lane m = lane_load(batch->rest + pack * 2 * LANES);
        lane across = lane_load(batch->rest + (pack * 2 + 1) * LANES);
        vec3l x = vec3l_gather(batch->x, batch->node + pack * LANES);
        if (batch->energy)
            batch->energy[pack] =
                lane_sum(-m * (g[0] * x.x + across * g[1] * x.y + across * g[2] * x.z));
        if (batch->gradient)
            for (int r = 0; r < 3; r++)
                lane_store(batch->gradient + (pack * 3 + r) * LANES,
                           r ? -m * across * g[r] : -m * g[r]);
    }
}

static void rest_shape(const double *X, double scale, double length, double *rest)
{
    (void)X;
    rest[0] = scale;
    rest[1] = isnan(length) ? 1 : length;
}

static void sample(BrioRandom *random, double *X, double *x)
{
    for (int k = 0; k < 3; k++) {
        X[k] = brio__random(random);
        x[k] = brio__random(random);
    }
}

static const BrioField fields[] = {
    {"g", BRIO_VECTOR, "m/s2", 0, -1e6, 1e6, 0, "Acceleration of free fall."}, {0}};

BRIO_ENERGY(gravity){
    .name = "gravity",
    .summary = "Weight of every vertex in a uniform field.",
    .citation = NULL,
    .element = BRIO_ELEMENT_VERTEX,
    .traits = BRIO_ENERGY_LINEAR,
    .nodes = 1,
    .rest = 2,
    .params = 3,
    .fields = fields,
    .rest_shape = rest_shape,
    .eval = eval,
    .sample = sample,
};
