/* A spring of no rest length from a vertex (node 0) to a point without coordinates (node 1), which
 * a script or a hand may move: E = w k/2 |x0 - x1|^2 [Dinev2018, Sec. 5]. The weight w is live: 0
 * lets go. */
#include "spring.h"

static void eval(const BrioBatch *batch)
{
    for (int64_t pack = batch->begin; pack < batch->end; pack++)
        spring_block(batch, pack,
                     lane_load(batch->rest + pack * LANES) * lane_load(batch->live + pack * LANES),
                     lane_set(0));
}

static void rest_shape(const double *X, double scale, double length, double *rest)
{
    (void)X;
    (void)length;
    rest[0] = scale;
}

/* Both nodes start at one point, so that the rest state is free of force. */
static void sample(BrioRandom *random, double *X, double *x)
{
    spring_sample(random, X, x);
    for (int k = 0; k < 3; k++) X[3 + k] = X[k];
}

static void laplacian(const double *rest, const double *params, const double *live, double *weight)
{
    (void)params;
    spring_laplacian(rest[0] * live[0], weight);
}

static const BrioField fields[] = {
    {"k", BRIO_REAL, "N/m", 1000, 1e-300, 1e15, 0, "Stiffness of the attachment."}, {0}};

BRIO_ENERGY(attachment){
    .name = "attachment",
    .summary = "A spring that pulls a vertex to a point, which may move.",
    .citation = "Dinev2018",
    .element = BRIO_ELEMENT_ANCHOR,
    .traits = BRIO_ENERGY_PROJECTION,
    .nodes = 2,
    .rest = 1,
    .live = 1,
    .fields = fields,
    .rest_shape = rest_shape,
    .eval = eval,
    .laplacian = laplacian,
    .sample = sample,
};
