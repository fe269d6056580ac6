/* Mooney–Rivlin solid on isochoric invariants [Ogden1997, 7.2]:
 *
 *     psi = c1 (J^(-2/3) i2 - 3) + c2 (J^(-4/3) k - 3) + kappa/2 (J - 1)^2,    infinite at J <= 0.
 *
 * Small strains see mu = 2 (c1 + c2) and the bulk modulus kappa. */
#define MATERIAL mooney_rivlin
#define FIRST (D2 | DK | DJ)
#define SECOND (DJJ | D2J | DKJ)
#define NEEDS_POSITIVE_J 1
#define STIFFNESS(params) (4 * ((params)[0] + (params)[1]) + (params)[2])
#include "tet.h"

static inline lane material(const double *params, const Invariants *in, int order, Derivatives *out)
{
    double c1 = params[0], c2 = params[1], kappa = params[2];
    lane r = lane_rcbrt(in->J), a = r * r, b = a * a; /* J^(-2/3), J^(-4/3) */
    lane t1 = c1 * a * in->i2, t2 = c2 * b * in->k, strain = in->J - 1;
    if (order > 0) {
        lane inverse = r * a;
        out->d2 = c1 * a;
        out->dk = c2 * b;
        out->dJ = kappa * strain - (2 * t1 + 4 * t2) * (1.0 / 3) * inverse;
        out->d2J = (-2.0 / 3 * c1) * a * inverse;
        out->dkJ = (-4.0 / 3 * c2) * b * inverse;
        out->dJJ = kappa + (10 * t1 + 28 * t2) * (1.0 / 9) * inverse * inverse;
    }
    return (t1 - 3 * c1) + (t2 - 3 * c2) + kappa / 2 * strain * strain;
}

static const BrioField fields[] = {
    {"c1", BRIO_REAL, "Pa", 1.5e4, 0, 1e15, 0,
     "Weight of the first isochoric invariant; the shear modulus is 2 (c1 + c2)."},
    {"c2", BRIO_REAL, "Pa", 4e3, 0, 1e15, 0, "Weight of the second isochoric invariant."},
    {"kappa", BRIO_REAL, "Pa", 8e4, 1e-300, 1e15, 0,
     "Bulk modulus: how much it resists a change of volume."},
    TET_FIELD_RHO,
    {0}};

BRIO_ENERGY(mooney_rivlin){
    .name = "mooney-rivlin",
    .summary = "Rubber with two shape constants and a bulk modulus; no element ever inverts.",
    .citation = "Ogden1997",
    .params = 3,
    .fields = fields,
    TET_DESCRIPTOR,
};
