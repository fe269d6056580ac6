/* A slider: a slides along an axis of b and does not rotate. With p the points of the joint, n the
 * axis, and u and w perpendicular to it,
 *
 *     (p_a - p_b).u_b, (p_a - p_b).w_b, n_a.u_b, n_a.w_b, u_a.w_b = 0     (all over l),
 *
 * and limits of the displacement d = (p_a - p_b).n_b/l are one-sided: d - lower >= 0, upper - d >=
 * 0. */
#include "constraint.h"

#include "../vec.h"

#include <string.h>

enum { A, B, U_B, W_B, AXIS_A, U_A, AXIS_B, POINTS };
enum { LOWER, UPPER };

static const BrioRole roles[] = {
    [A] = {BRIO_SIDE_A, BRIO_PLACE_AT},         [B] = {BRIO_SIDE_B, BRIO_PLACE_AT},
    [U_B] = {BRIO_SIDE_B, BRIO_PLACE_ACROSS},   [W_B] = {BRIO_SIDE_B, BRIO_PLACE_BESIDE},
    [AXIS_A] = {BRIO_SIDE_A, BRIO_PLACE_ALONG}, [U_A] = {BRIO_SIDE_A, BRIO_PLACE_ACROSS},
    [AXIS_B] = {BRIO_SIDE_B, BRIO_PLACE_ALONG}};
static const BrioDotRow rows[] = {
    {A, B, U_B, B}, {A, B, W_B, B}, {AXIS_A, A, U_B, B}, {AXIS_A, A, W_B, B}, {U_A, A, W_B, B}};
static const BrioDotRow way = {A, B, AXIS_B, B};

static int points(const double *values)
{
    return isnan(values[LOWER]) && isnan(values[UPPER]) ? AXIS_B : POINTS;
}

static BrioStatus begin(BrioConstraint *c, const double *y, BrioError *error)
{
    (void)y;
    c->rows = 5 + !isnan(c->values[LOWER]) + !isnan(c->values[UPPER]);
    c->one_sided[5] = c->one_sided[6] = true;
    if (c->values[LOWER] > 0 || c->values[UPPER] < 0)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "limits are ways from the initial state, which must be between them: "
                           "lower <= 0 <= upper");
    return BRIO_OK;
}

static void value(const BrioConstraint *c, const double *y, double *g, double *gradient)
{
    int n = 3 * c->point_count, row = 5;
    if (gradient) memset(gradient, 0, (size_t)(c->rows * n) * sizeof *gradient);
    for (int k = 0; k < 5; k++)
        g[k] = brio__dot_row(c, y, rows[k], gradient ? gradient + k * n : NULL);
    for (int k = LOWER; k <= UPPER; k++) {
        if (isnan(c->values[k])) continue;
        double sign = k == LOWER ? 1 : -1, *part = gradient ? gradient + row * n : NULL;
        g[row++] = sign * (brio__dot_row(c, y, way, part) - c->values[k]);
        for (int i = 0; part && i < n; i++) part[i] *= sign;
    }
}

static void curvature(const BrioConstraint *c, const double *y, const double *multiplier,
                      bool project, const BrioBlocks *to)
{
    double both = 0;
    int row = 5;
    (void)y;
    if (project) return;
    for (int k = 0; k < 5; k++) brio__dot_row_curvature(c, rows[k], multiplier[k], to);
    if (!isnan(c->values[LOWER])) both += multiplier[row++];
    if (!isnan(c->values[UPPER])) both -= multiplier[row];
    if (both != 0) brio__dot_row_curvature(c, way, both, to);
}

static void sample(double *values)
{
    values[LOWER] = -2;
    values[UPPER] = 3;
}

static const BrioField fields[] = {
    {"lower", BRIO_REAL, "m", NAN, -1e15, 0, 0,
     "Minimum displacement of a along the axis, relative to b; default: no limit."},
    {"upper", BRIO_REAL, "m", NAN, 0, 1e15, 0, "Maximum displacement; 0 is the initial state."},
    {0}};

BRIO_CONSTRAINT(slider){
    .name = "slider",
    .summary = "A body slides along an axis of another without rotation; the distance may be "
               "limited.",
    .citation = "Shabana2020",
    .fields = fields,
    .role_count = BRIO_COUNT(roles),
    .roles = roles,
    .axis = true,
    .bodies = true,
    .points = points,
    .begin = begin,
    .value = value,
    .curvature = curvature,
    .sample = sample,
};
