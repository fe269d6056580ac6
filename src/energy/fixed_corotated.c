/* Fixed corotated elasticity [Stomakhin2012]:
 *
 *     psi = mu |F - R|^2 + lambda/2 (J - 1)^2 = mu (i2 - 2 i1 + 3) + lambda/2 (J - 1)^2.
 *
 * Corotated elasticity with the change of volume itself instead of its linear part, so that
 * compression is resisted at large strains too. Finite everywhere: elements may invert. */
#define MATERIAL fixed_corotated
#define FIRST (D1 | D2 | DJ)
#define SECOND (DJJ)
#define NEEDS_POSITIVE_J 0
#define STIFFNESS(params) (2 * (params)[0] + (params)[1])
#include "tet.h"

static inline lane material(const double *params, const Invariants *in, int order, Derivatives *out)
{
    double mu = params[0], lambda = params[1];
    lane strain = in->J - 1;
    if (order > 0) {
        out->d1 = lane_set(-2 * mu);
        out->d2 = lane_set(mu);
        out->dJ = lambda * strain;
        out->dJJ = lane_set(lambda);
    }
    return mu * (in->i2 - 2 * in->i1 + 3) + lambda / 2 * strain * strain;
}

BRIO_ENERGY(fixed_corotated){
    .name = "fixed-corotated",
    .summary = "Corotated elasticity that keeps its volume also at large strain; elements may "
               "invert and recover.",
    .citation = "Stomakhin2012",
    .params = 2,
    .fields = tet_fields,
    .prepare = tet_prepare,
    TET_DESCRIPTOR,
};
