/* A neo-Hookean bar that moves along x only [You2026, Sec. 5.5]: with F = (x1 - x0)/L, per unit of
 * rest length,
 *
 *     psi = E/4 (F^2 - 1 - 2 ln F),    psi' = E/2 (F - 1/F),    psi'' = E/2 (1 + 1/F^2),
 *
 * infinite at F <= 0. E is the stiffness of the whole cross section, a force. psi'' is positive, so
 * there is nothing to project. y and z do not enter. */
#include "energy.h"

static inline lane ratio(const BrioBatch *batch, int64_t pack,
                         const double *y) /* F for y = x, its change for y = dx */
{
    const int32_t *node = batch->node + pack * 2 * LANES;
    return (lane_gather(y, node + LANES) - lane_gather(y, node)) *
           lane_load(batch->rest + (pack * 2 + 1) * LANES);
}

static void eval(const BrioBatch *batch)
{
    double E = batch->params[0];
    lane zero = lane_set(0);
    for (int64_t pack = batch->begin; pack < batch->end; pack++) {
        lane length = lane_load(batch->rest + pack * 2 * LANES);
        lane per_length = lane_load(batch->rest + (pack * 2 + 1) * LANES);
        lane F = ratio(batch, pack, batch->x);
        lane_mask forbidden = lane_le(F, zero);
        F = lane_select(forbidden, lane_set(1), F);
        lane inverse = 1 / F, strain = (F - 1) * (F + 1); /* F^2 - 1 */
        if (batch->energy) {
            double sum = lane_sum(E / 4 * length * (strain - 2 * lane_log(F)));
            batch->energy[pack] = lane_any(forbidden) ? INFINITY : sum;
        }
        if (batch->gradient) {
            double *g = batch->gradient + pack * 6 * LANES;
            lane force = E / 2 * length * per_length * strain * inverse;
            for (int k = 0; k < 6; k++)
                lane_store(g + k * LANES, k == 0 ? -force : k == 3 ? force : zero);
        }
        if (batch->hessian) {
            double *H = batch->hessian + (pack - batch->begin) * 27 * LANES;
            lane K = E / 2 * length * per_length * per_length * (1 + inverse * inverse);
            for (int k = 0; k < 27; k++)
                lane_store(H + k * LANES, k == 0 || k == 18 ? K : k == 9 ? -K : zero);
        }
    }
}

static void rest_shape(const double *X, double scale, double length, double *rest)
{
    double L = isnan(length) ? X[3] - X[0] : length;
    rest[0] = scale * L;
    rest[1] = 1 / L;
}

static double magnitude(const double *rest) { return rest[0]; }

/* F + t dF falls to a tenth of F at t = 0.9 F/-dF. */
static double max_step(const BrioBatch *batch, int64_t *element)
{
    double min = 1;
    for (int64_t pack = batch->begin; pack < batch->end; pack++) {
        lane F = ratio(batch, pack, batch->x), fall = -ratio(batch, pack, batch->dx);
        lane_mask limited = lane_lt(0.9 * F, fall);
        lane t = 0.9 * F / lane_select(limited, fall, lane_set(1));
        for (int i = 0; i < WIDTH; i++)
            if (lane_test(limited, i) && t[i] < min) {
                min = t[i];
                *element = pack * LANES + i;
            }
    }
    return min;
}

/* Both nodes on a line along x, and F between 0.4 and 1.8. */
static void sample(BrioRandom *random, double *X, double *x)
{
    for (int k = 0; k < 3; k++) {
        X[k] = X[3 + k] = brio__random(random);
        x[k] = x[3 + k] = 1.5 * brio__random(random);
    }
    X[3] += 0.5 + brio__random(random);
    x[3] += (0.4 + 1.4 * brio__random(random)) * (X[3] - X[0]);
}

static const BrioField fields[] = {
    {"E", BRIO_REAL, "N", 1000, 1e-300, 1e15, 0,
     "Young's modulus times the area of the cross section."},
    {"rho", BRIO_REAL, "kg/m", 10, 1e-300, 1e15, 0, "Mass per length."},
    {0}};

BRIO_ENERGY(neo_hookean_1d){
    .name = "neo-hookean-1d",
    .summary = "Bar that moves along x only; its resistance to compression grows without bound.",
    .citation = "You2026",
    .element = BRIO_ELEMENT_BAR,
    .traits = BRIO_ENERGY_INFINITE | BRIO_ENERGY_ALONG_X,
    .nodes = 2,
    .rest = 2,
    .params = 1,
    .fields = fields,
    .rest_shape = rest_shape,
    .magnitude = magnitude,
    .eval = eval,
    .max_step = max_step,
    .sample = sample,
};
