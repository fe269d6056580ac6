/* Two points are one: g = a - b, three linear conditions. */
#include "constraint.h"

#include <string.h>

static BrioStatus begin(BrioConstraint *c, const double *y, BrioError *error)
{
    (void)y;
    (void)error;
    c->rows = 3;
    return BRIO_OK;
}

static void value(const BrioConstraint *c, const double *y, double *g, double *gradient)
{
    (void)c;
    if (gradient) memset(gradient, 0, 18 * sizeof *gradient);
    for (int k = 0; k < 3; k++) {
        g[k] = y[k] - y[3 + k];
        if (!gradient) continue;
        gradient[6 * k + k] = 1;
        gradient[6 * k + 3 + k] = -1;
    }
}

static const BrioRole roles[] = {{BRIO_SIDE_A, BRIO_PLACE_AT}, {BRIO_SIDE_B, BRIO_PLACE_AT}};
static const BrioField fields[] = {{0}};

BRIO_CONSTRAINT(point_to_point){
    .name = "point-to-point",
    .summary = "Two points, or a point and a position in the world, stay together.",
    .citation = "Shabana2020",
    .fields = fields,
    .role_count = BRIO_COUNT(roles),
    .roles = roles,
    .begin = begin,
    .value = value,
};
