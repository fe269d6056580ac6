/* As rigid as possible [Chao2010]:  psi = mu |F - R|^2 = mu (i2 - 2 i1 + 3).  Poisson's ratio has
 * no part in it. */
#define MATERIAL arap
#define FIRST (D1 | D2)
#define SECOND (0)
#define NEEDS_POSITIVE_J 0
#define STIFFNESS(params) (2 * (params)[0])
#include "tet.h"

static inline lane material(const double *params, const Invariants *in, int order, Derivatives *out)
{
    double mu = params[0];
    if (order > 0) {
        out->d1 = lane_set(-2 * mu);
        out->d2 = lane_set(mu);
    }
    return mu * (in->i2 - 2 * in->i1 + 3);
}

BRIO_ENERGY(arap){
    .name = "arap",
    .summary = "As rigid as possible: resists every change of shape alike and ignores volume.",
    .citation = "Chao2010",
    .params = 2,
    .fields = tet_fields,
    .prepare = tet_prepare,
    TET_DESCRIPTOR,
};
