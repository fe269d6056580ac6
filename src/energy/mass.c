/* Mass without stiffness: no elements and no energy. Vertices of such a body feel gravity,
 * attachments, obstacles and rods. */
#include "energy.h"

static void eval(const BrioBatch *batch)
{
    for (int64_t pack = batch->begin; pack < batch->end; pack++) {
        if (batch->energy) batch->energy[pack] = 0;
        for (int r = 0; batch->gradient && r < 3; r++)
            lane_store(batch->gradient + (3 * pack + r) * LANES, lane_set(0));
    }
}

static void rest_shape(const double *X, double scale, double length, double *rest)
{
    (void)X;
    (void)length;
    rest[0] = scale;
}

static void sample(BrioRandom *random, double *X, double *x)
{
    for (int r = 0; r < 3; r++) {
        X[r] = brio__random(random);
        x[r] = brio__random(random);
    }
}

static const BrioField fields[] = {
    {"vertex_mass", BRIO_REAL, "kg", NAN, 1e-300, 1e15, 0, "Mass of every vertex; or give rho."},
    {"rho", BRIO_REAL, "kg/m", NAN, 1e-300, 1e15, 0,
     "Mass per length of a line, per area (kg/m2) of a mesh with triangles."},
    {0}};

BRIO_ENERGY(mass){
    .name = "mass",
    .summary = "Point masses without elements, for rods and joints.",
    .citation = "Kharevych2006",
    .element = BRIO_ELEMENT_POINT,
    .traits = BRIO_ENERGY_LINEAR,
    .nodes = 1,
    .rest = 1,
    .fields = fields,
    .rest_shape = rest_shape,
    .eval = eval,
    .sample = sample,
};
