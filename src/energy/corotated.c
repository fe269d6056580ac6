/* Corotated linear elasticity [Sifakis2012, 3.4]:
 *
 *     psi = mu |F - R|^2 + lambda/2 (tr R^T F - 3)^2 = mu (i2 - 2 i1 + 3) + lambda/2 (i1 - 3)^2. */
#define MATERIAL corotated
#define FIRST (D1 | D2)
#define SECOND (D11)
#define NEEDS_POSITIVE_J 0
#define STIFFNESS(params) (2 * (params)[0] + 3 * (params)[1])
#include "tet.h"

static inline lane material(const double *params, const Invariants *in, int order, Derivatives *out)
{
    double mu = params[0], lambda = params[1];
    lane strain = in->i1 - 3;
    if (order > 0) {
        out->d1 = lambda * strain - 2 * mu;
        out->d2 = lane_set(mu);
        out->d11 = lane_set(lambda);
    }
    return mu * (in->i2 - 2 * in->i1 + 3) + lambda / 2 * strain * strain;
}

BRIO_ENERGY(corotated){
    .name = "corotated",
    .summary = "Linear elasticity in a frame that rotates with the element: cheap, robust, good "
               "at moderate strain.",
    .citation = "Sifakis2012",
    .params = 2,
    .fields = tet_fields,
    .prepare = tet_prepare,
    TET_DESCRIPTOR,
};
