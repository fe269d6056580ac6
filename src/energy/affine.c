/* What keeps an affine body x = A X + p close to a rigid one [Lan2022]: kappa V |A^T A - I|^2, with
 * V the volume of the body. That is one element of Saint Venant–Kirchhoff's material without
 * Poisson's effect,
 *
 *     psi = mu/4 |A^T A - I|^2 = mu/4 (i2^2 - 2 k - 2 i2 + 3),     mu = 4 kappa = E/2,
 *
 * on the tet of the body's four mass points (affine.h), of which A is the deformation gradient; its
 * weight is V. A stretched body answers with Young's modulus E = 8 kappa.
 *
 * That energy is finite for a body pressed flat, and its mirror image is at rest again. So a
 * barrier, -mu (1 - 10 J)^3 ln(10 J), acts on bodies pressed to less than a tenth of their volume,
 * and nothing else changes. */
#define MATERIAL affine
#define FIRST (D2 | DK | DJ)
#define SECOND (D22 | DJJ)
#define NEEDS_POSITIVE_J 1
#define TET_ELEMENT BRIO_ELEMENT_AFFINE
#define STIFFNESS(params) (2 * (params)[0])
#include "tet.h"

static inline lane material(const double *params, const Invariants *in, int order, Derivatives *out)
{
    double mu = params[0];
    /* w is 0 from a tenth of the volume on */
    lane u = lane_min(10 * in->J, lane_set(1)), w = 1 - u, ln = lane_log(u), ratio = w / u;
    if (order > 0) {
        out->d2 = mu / 2 * (in->i2 - 1);
        out->dk = lane_set(-mu / 2);
        out->dJ = 10 * mu * w * w * (3 * ln - ratio);
        out->d22 = lane_set(mu / 2);
        out->dJJ = 100 * mu * w * (ratio * (6 + ratio) - 6 * ln);
    }
    return mu / 4 * ((in->i2 - 2) * in->i2 - 2 * in->k + 3) - mu * w * w * w * ln;
}

static BrioStatus prepare(const double *values, double *params, BrioError *error)
{
    (void)error;
    params[0] = values[0] / 2;
    return BRIO_OK;
}

static const BrioField fields[] = {{"E", BRIO_REAL, "Pa", 1e8, 1e-300, 1e15, 0,
                                    "Young's modulus: how much the body resists stretching; 8 "
                                    "times the kappa of kappa V |A^T A - I|^2."},
                                   TET_FIELD_RHO,
                                   {0}};

BRIO_ENERGY(affine){
    .name = "affine",
    .summary = "Keeps an affine body close to a rigid one: a penalty on A^T A - I.",
    .citation = "Lan2022",
    .params = 1,
    .fields = fields,
    .prepare = prepare,
    TET_DESCRIPTOR,
};
