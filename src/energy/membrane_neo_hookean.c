/* Neo-Hookean membrane, in J/m2 [Bonet2008, Eq. 6.27, for two dimensions]:
 *
 *     psi = mu/2 (i2 - 2) - mu ln J + lambda/2 ln^2 J,    J = sqrt k,    infinite at J = 0: no
 *     triangle ever collapses. */
#define NEEDS_POSITIVE_J 1
#include "membrane.h"

static inline lane material(const double *params, lane i2, lane k, int order, Derivatives *out)
{
    double mu = params[0], lambda = params[1];
    lane lnJ = 0.5 * lane_log(k);
    if (order > 0) {
        lane inverse = 1 / k;
        out->d2 = lane_set(mu / 2);
        out->dk = 0.5 * (lambda * lnJ - mu) * inverse;
        out->dkk = (0.25 * lambda + 0.5 * (mu - lambda * lnJ)) * inverse * inverse;
    }
    return mu / 2 * (i2 - 2) + lnJ * (lambda / 2 * lnJ - mu);
}

/* dpsi/ds over the other stretch. */
static double tension(const double params[2], double p)
{
    return (params[0] * (p - 1) * (p + 1) + 2 * params[1] * log(p)) / (p * p);
}

BRIO_ENERGY(membrane_neo_hookean){
    .name = "membrane-neo-hookean",
    .summary = "Thin rubber-like sheet whose resistance to compression grows without bound, so "
               "that no triangle collapses. Its bending stiffness follows from its thickness.",
    .citation = "Bonet2008",
    MEMBRANE_DESCRIPTOR,
};
