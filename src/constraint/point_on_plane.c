/* A point on a plane through b, whose normal turns with what carries b: g = (a - b).n/l. */
#include "constraint.h"

#include <string.h>

enum { A, B, N, POINTS };

static const BrioRole roles[] = {[A] = {BRIO_SIDE_A, BRIO_PLACE_AT},
                                 [B] = {BRIO_SIDE_B, BRIO_PLACE_AT},
                                 [N] = {BRIO_SIDE_B, BRIO_PLACE_ALONG}};
static const BrioDotRow row = {A, B, N, B};

static BrioStatus begin(BrioConstraint *c, const double *y, BrioError *error)
{
    (void)y;
    (void)error;
    c->rows = 1;
    return BRIO_OK;
}

static void value(const BrioConstraint *c, const double *y, double *g, double *gradient)
{
    if (gradient) memset(gradient, 0, sizeof(double[3 * POINTS]));
    g[0] = brio__dot_row(c, y, row, gradient);
}

static void curvature(const BrioConstraint *c, const double *y, const double *multiplier,
                      bool project, const BrioBlocks *to)
{
    (void)y;
    if (!project) brio__dot_row_curvature(c, row, multiplier[0], to);
}

static const BrioField fields[] = {{0}};

BRIO_CONSTRAINT(point_on_plane){
    .name = "point-on-plane",
    .summary = "A point stays on a plane of the world or of a body; `axis` is its normal.",
    .citation = "Shabana2020",
    .fields = fields,
    .role_count = BRIO_COUNT(roles),
    .roles = roles,
    .axis = true,
    .begin = begin,
    .value = value,
    .curvature = curvature,
};
