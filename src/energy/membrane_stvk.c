/* Saint Venant-Kirchhoff membrane, in J/m2: psi = mu |E|^2 + lambda/2 tr^2 E with Green's strain
 * E = (F^T F - I)/2, so
 *
 *     psi = mu/4 (i2^2 - 2 k - 2 i2 + 2) + lambda/8 (i2 - 2)^2,
 *
 * a polynomial, finite everywhere: it resists being crushed less and less. [Bonet2008, Sec. 6.3] */
#define NEEDS_POSITIVE_J 0
#include "membrane.h"

static inline lane material(const double *params, lane i2, lane k, int order, Derivatives *out)
{
    double mu = params[0], lambda = params[1];
    lane strain = i2 - 2; /* 2 tr E */
    if (order > 0) {
        out->d2 = mu / 2 * (i2 - 1) + lambda / 4 * strain;
        out->dk = lane_set(-mu / 2);
        out->d22 = lane_set(mu / 2 + lambda / 4);
    }
    return mu / 4 * (strain * strain + 2 * (strain - (k - 1))) + lambda / 8 * strain * strain;
}

static double tension(const double params[2], double p)
{
    return (params[0] + params[1]) * (p - 1) * (p + 1);
}

BRIO_ENERGY(membrane_stvk){
    .name = "membrane-stvk",
    .summary = "Thin sheet with an energy quadratic in the Green strain: simple, for small "
               "strain. Its bending stiffness follows from its thickness.",
    .citation = "Bonet2008",
    MEMBRANE_DESCRIPTOR,
};
