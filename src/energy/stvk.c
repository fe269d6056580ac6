/* Saint Venant–Kirchhoff solid, E = (F^T F - I)/2 [Sifakis2012, 3.3]:
 *
 *     psi = mu E:E + lambda/2 (tr E)^2 = mu/4 (i2^2 - 2 k - 2 i2 + 3) + lambda/8 (i2 - 3)^2,
 *
 * since sum s^4 = i2^2 - 2 k. It softens under compression and lets elements invert. */
#define MATERIAL stvk
#define FIRST (D2 | DK)
#define SECOND (D22)
#define NEEDS_POSITIVE_J 0
#define STIFFNESS(params) (2 * (params)[0] + (params)[1])
#include "tet.h"

static inline lane material(const double *params, const Invariants *in, int order, Derivatives *out)
{
    double mu = params[0], lambda = params[1];
    lane strain = in->i2 - 3;
    if (order > 0) {
        out->d2 = mu / 2 * (in->i2 - 1) + lambda / 4 * strain;
        out->dk = lane_set(-mu / 2);
        out->d22 = lane_set(mu / 2 + lambda / 4);
    }
    return mu / 4 * ((in->i2 - 2) * in->i2 - 2 * in->k + 3) + lambda / 8 * strain * strain;
}

BRIO_ENERGY(stvk){
    .name = "stvk",
    .summary = "Saint Venant-Kirchhoff: linear in the Green strain; stiffens when stretched, "
               "softens when compressed.",
    .citation = "Sifakis2012",
    .params = 2,
    .fields = tet_fields,
    .prepare = tet_prepare,
    TET_DESCRIPTOR,
};
