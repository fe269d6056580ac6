/* Yeoh solid in a compressible form [Yeoh1993]: with I = i2 - 3,
 *
 *     psi = c1 I + c2 I^2 + c3 I^3 - 2 c1 ln J + lambda/2 ln^2 J,    infinite at J <= 0.
 *
 * Small strains see mu = 2 c1 and lambda; c2 and c3 stiffen it when it is stretched far. */
#define MATERIAL yeoh
#define FIRST (D2 | DJ)
#define SECOND (D22 | DJJ)
#define NEEDS_POSITIVE_J 1
#include "tet.h"

static inline lane material(const double *params, const Invariants *in, int order, Derivatives *out)
{
    double c1 = params[0], c2 = params[1], c3 = params[2], lambda = params[3];
    lane I = in->i2 - 3, lnJ = lane_log(in->J);
    if (order > 0) {
        lane inverse = 1 / in->J;
        out->d2 = c1 + I * (2 * c2 + 3 * c3 * I);
        out->dJ = (lambda * lnJ - 2 * c1) * inverse;
        out->d22 = 2 * c2 + 6 * c3 * I;
        out->dJJ = (lambda + 2 * c1 - lambda * lnJ) * inverse * inverse;
    }
    return I * (c1 + I * (c2 + c3 * I)) + lnJ * (lambda / 2 * lnJ - 2 * c1);
}

static const BrioField fields[] = {
    {"c1", BRIO_REAL, "Pa", 2e4, 1e-300, 1e15, 0, "Half the shear modulus at small strain."},
    {"c2", BRIO_REAL, "Pa", 2e3, 0, 1e15, 0, "Stiffening at moderate stretch."},
    {"c3", BRIO_REAL, "Pa", 1e2, 0, 1e15, 0, "Stiffening at large stretch."},
    {"lambda", BRIO_REAL, "Pa", 8e4, 0, 1e15, 0,
     "Lamé's first constant: how much it resists a change of volume."},
    TET_FIELD_RHO,
    {0}};

BRIO_ENERGY(yeoh){
    .name = "yeoh",
    .summary = "Rubber that stiffens when it is stretched far; no element ever inverts.",
    .citation = "Yeoh1993",
    .params = 4,
    .fields = fields,
    TET_DESCRIPTOR,
};
