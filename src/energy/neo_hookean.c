/* Neo-Hookean solid [Bonet2008, Eq. 6.27]:
 *
 *     psi = mu/2 (i2 - 3) - mu ln J + lambda/2 ln^2 J,    infinite at J <= 0: no element ever
 *     inverts. */
#define MATERIAL neo_hookean
#define FIRST (D2 | DJ)
#define SECOND (DJJ)
#define NEEDS_POSITIVE_J 1
#define STIFFNESS(params) (2 * (params)[0] + (params)[1])
#include "tet.h"

static inline lane material(const double *params, const Invariants *in, int order, Derivatives *out)
{
    double mu = params[0], lambda = params[1];
    lane lnJ = lane_log(in->J);
    if (order > 0) {
        lane inverse = 1 / in->J;
        out->d2 = lane_set(mu / 2);
        out->dJ = (lambda * lnJ - mu) * inverse;
        out->dJJ = (lambda + mu - lambda * lnJ) * inverse * inverse;
    }
    return mu / 2 * (in->i2 - 3) + lnJ * (lambda / 2 * lnJ - mu);
}

BRIO_ENERGY(neo_hookean){
    .name = "neo-hookean",
    .summary = "Rubber-like solid whose resistance to compression grows without bound, so that no "
               "element ever inverts.",
    .citation = "Bonet2008",
    .params = 2,
    .fields = tet_fields,
    .prepare = tet_prepare,
    TET_DESCRIPTOR,
};
