/* A ball joint: the points a and b are one. With a cone, the axis of a stays within an angle of
 * that of b: n_a.n_b/l - l cos(cone) >= 0, one-sided. */
#include "constraint.h"

#include <string.h>

enum { A, B, AXIS_A, AXIS_B, POINTS };

static const BrioRole roles[] = {[A] = {BRIO_SIDE_A, BRIO_PLACE_AT},
                                 [B] = {BRIO_SIDE_B, BRIO_PLACE_AT},
                                 [AXIS_A] = {BRIO_SIDE_A, BRIO_PLACE_ALONG},
                                 [AXIS_B] = {BRIO_SIDE_B, BRIO_PLACE_ALONG}};
static const BrioDotRow cone = {AXIS_A, A, AXIS_B, B};

static int points(const double *values) { return isnan(values[0]) ? 2 : POINTS; }

static BrioStatus begin(BrioConstraint *c, const double *y, BrioError *error)
{
    (void)y;
    (void)error;
    c->rows = isnan(c->values[0]) ? 3 : 4;
    c->one_sided[3] = true;
    c->rest[0] = isnan(c->values[0]) ? 0 : cos(c->values[0] * M_PI / 180);
    return BRIO_OK;
}

static void value(const BrioConstraint *c, const double *y, double *g, double *gradient)
{
    int n = 3 * c->point_count;
    if (gradient) memset(gradient, 0, (size_t)(c->rows * n) * sizeof *gradient);
    for (int k = 0; k < 3; k++) {
        g[k] = y[3 * A + k] - y[3 * B + k];
        if (!gradient) continue;
        gradient[n * k + 3 * A + k] = 1;
        gradient[n * k + 3 * B + k] = -1;
    }
    if (c->rows == 3) return;
    g[3] = brio__dot_row(c, y, cone, gradient ? gradient + 3 * n : NULL) - c->length * c->rest[0];
}

static void curvature(const BrioConstraint *c, const double *y, const double *multiplier,
                      bool project, const BrioBlocks *to)
{
    (void)y;
    if (c->rows > 3 && !project) brio__dot_row_curvature(c, cone, multiplier[3], to);
}

static void sample(double *values) { values[0] = 40; }

static const BrioField fields[] = {
    {"cone", BRIO_REAL, "degrees", NAN, 0, 180, 0,
     "Maximum angle between the axes that coincide initially; default: no limit."},
    {0}};

BRIO_CONSTRAINT(ball){
    .name = "ball",
    .summary = "A ball joint: two bodies share a point; a cone may limit the angle.",
    .citation = "Shabana2020",
    .fields = fields,
    .role_count = BRIO_COUNT(roles),
    .roles = roles,
    .bodies = true,
    .points = points,
    .begin = begin,
    .value = value,
    .curvature = curvature,
    .sample = sample,
};
