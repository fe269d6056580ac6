/* Hooke's springs, E = k w/2 (l - l0)^2: the material's stiffness k times the spring's own weight
 * w. */
#include "spring.h"

static void eval(const BrioBatch *batch)
{
    for (int64_t pack = batch->begin; pack < batch->end; pack++) {
        const double *rest = batch->rest + pack * 2 * LANES;
        spring_block(batch, pack, batch->params[0] * lane_load(rest), lane_load(rest + LANES));
    }
}

static void rest_shape(const double *X, double scale, double length, double *rest)
{
    double d[3] = {X[3] - X[0], X[4] - X[1], X[5] - X[2]};
    rest[0] = scale;
    rest[1] = isnan(length) ? sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) : length;
}

static double magnitude(const double *rest) { return rest[0] * rest[1] * rest[1]; }

static void laplacian(const double *rest, const double *params, const double *live, double *weight)
{
    (void)live;
    spring_laplacian(params[0] * rest[0], weight);
}

static const BrioField fields[] = {
    {"k", BRIO_REAL, "N/m", 1000, 1e-300, 1e15, 0, "Stiffness of every spring."},
    {"vertex_mass", BRIO_REAL, "kg", NAN, 1e-300, 1e15, 0, "Mass of every vertex; or give rho."},
    {"rho", BRIO_REAL, "kg/m2", NAN, 1e-300, 1e15, 0,
     "Mass per area of a mesh with triangles, per length (kg/m) of one without."},
    {0}};

BRIO_ENERGY(hooke){
    .name = "hooke",
    .summary = "Springs along the edges of a mesh.",
    .citation = "Liu2013",
    .element = BRIO_ELEMENT_SPRING,
    .traits = BRIO_ENERGY_PROJECTION,
    .nodes = 2,
    .rest = 2,
    .params = 1,
    .fields = fields,
    .rest_shape = rest_shape,
    .magnitude = magnitude,
    .eval = eval,
    .laplacian = laplacian,
    .sample = spring_sample,
};
