/* Stable neo-Hookean solid, finite everywhere, after [Smith2018, Eq. 14] without its last term:
 *
 *     psi = mu/2 (i2 - 3) - mu (J - 1) + lambda'/2 (J - 1)^2,    lambda' = lambda + mu,
 *
 * so that the rest state is stress-free and small strains see Lamé's lambda and mu. */
#define MATERIAL stable_neo_hookean
#define FIRST (D2 | DJ)
#define SECOND (DJJ)
#define NEEDS_POSITIVE_J 0
#define STIFFNESS(params) (2 * (params)[0] + (params)[1])
#include "tet.h"

static inline lane material(const double *params, const Invariants *in, int order, Derivatives *out)
{
    double mu = params[0], lambda = params[1];
    lane strain = in->J - 1;
    if (order > 0) {
        out->d2 = lane_set(mu / 2);
        out->dJ = lambda * strain - mu;
        out->dJJ = lane_set(lambda);
    }
    return mu / 2 * (in->i2 - 3) + strain * (lambda / 2 * strain - mu);
}

static BrioStatus prepare(const double *values, double *params, BrioError *error)
{
    tet_prepare(values, params, error);
    params[1] += params[0];
    return BRIO_OK;
}

BRIO_ENERGY(stable_neo_hookean){
    .name = "stable-neo-hookean",
    .summary = "Rubber-like solid that stays finite when flattened or inverted, and recovers.",
    .citation = "Smith2018",
    .params = 2,
    .fields = tet_fields,
    .prepare = prepare,
    TET_DESCRIPTOR,
};
