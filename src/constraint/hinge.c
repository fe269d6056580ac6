/* A hinge: the points p_a and p_b are one, and the axis n of a is perpendicular to two directions u
 * and w of b: n_a.u_b/l = 0, n_a.w_b/l = 0. Five conditions.
 *
 * The angle by which a has turned about the axis since the start is
 *
 *     angle = atan2(s, c),   s = u_a.w_b,   c = u_a.u_b,
 *
 * and limits are one-sided: l (angle - lower) >= 0, l (upper - angle) >= 0, with the angle counted
 * from the middle of the range, so that the cut is opposite to it. With r = s^2 + c^2,
 *
 *     grad angle = (c grad s - s grad c)/r,
 *     d2 angle/ds2 = -2 s c/r^2,   d2/dc2 = 2 s c/r^2,   d2/ds dc = (s^2 - c^2)/r^2. */
#include "constraint.h"

#include "../vec.h"

#include <string.h>

enum { A, AXIS_A, B, U_B, W_B, U_A, POINTS };
enum { LOWER, UPPER };

static const BrioRole roles[] = {
    [A] = {BRIO_SIDE_A, BRIO_PLACE_AT},       [AXIS_A] = {BRIO_SIDE_A, BRIO_PLACE_ALONG},
    [B] = {BRIO_SIDE_B, BRIO_PLACE_AT},       [U_B] = {BRIO_SIDE_B, BRIO_PLACE_ACROSS},
    [W_B] = {BRIO_SIDE_B, BRIO_PLACE_BESIDE}, [U_A] = {BRIO_SIDE_A, BRIO_PLACE_ACROSS}};
static const BrioDotRow across[] = {{AXIS_A, A, U_B, B}, {AXIS_A, A, W_B, B}};
static const BrioDotRow sine = {U_A, A, W_B, B}, cosine = {U_A, A, U_B, B};
static const double degree = M_PI / 180;

static bool limited(const double *values) { return !isnan(values[LOWER]) || !isnan(values[UPPER]); }

static int points(const double *values) { return limited(values) ? POINTS : U_A; }

static BrioStatus begin(BrioConstraint *c, const double *y, BrioError *error)
{
    double lower = c->values[LOWER], upper = c->values[UPPER];
    (void)y;
    c->rows = 5 + !isnan(lower) + !isnan(upper);
    c->one_sided[5] = c->one_sided[6] = true;
    if (lower > 0 || upper < 0)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "limits are angles from the initial state, which must be between them: "
                           "lower <= 0 <= upper");
    if (upper - lower > 359)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "limits that are more than 359 degrees apart have no effect: remove "
                           "them");
    /* the middle of the range */
    c->rest[0] = isnan(lower)   ? degree * (upper - 179)
                 : isnan(upper) ? degree * (lower + 179)
                                : degree * (lower + upper) / 2;
    return BRIO_OK;
}

/* The angle, with s and c and their gradients (unless NULL). */
static double angle_of(const BrioConstraint *c, const double *y, double *s, double *co,
                       double gradient[2][3 * POINTS])
{
    if (gradient) memset(gradient, 0, sizeof(double[2][3 * POINTS]));
    *s = brio__dot_row(c, y, sine, gradient ? gradient[0] : NULL);
    *co = brio__dot_row(c, y, cosine, gradient ? gradient[1] : NULL);
    return c->rest[0] + remainder(atan2(*s, *co) - c->rest[0], 2 * M_PI);
}

static void value(const BrioConstraint *c, const double *y, double *g, double *gradient)
{
    int n = 3 * c->point_count, row = 5;
    if (gradient) memset(gradient, 0, (size_t)(c->rows * n) * sizeof *gradient);
    for (int k = 0; k < 3; k++) {
        g[k] = y[3 * A + k] - y[3 * B + k];
        if (!gradient) continue;
        gradient[n * k + 3 * A + k] = 1;
        gradient[n * k + 3 * B + k] = -1;
    }
    for (int k = 0; k < 2; k++)
        g[3 + k] = brio__dot_row(c, y, across[k], gradient ? gradient + (3 + k) * n : NULL);
    if (c->rows == 5) return;
    double s, co, part[2][3 * POINTS], angle = angle_of(c, y, &s, &co, gradient ? part : NULL);
    for (int k = LOWER; k <= UPPER; k++) {
        if (isnan(c->values[k])) continue;
        double sign = k == LOWER ? 1 : -1, scale = sign * c->length / (s * s + co * co);
        g[row] = sign * c->length * (angle - degree * c->values[k]);
        for (int i = 0; gradient && i < n; i++)
            gradient[row * n + i] = scale * (co * part[0][i] - s * part[1][i]);
        row++;
    }
}

/* Second derivatives of the angle: those of s and c, and products of their gradients. */
static void angle_curvature(const BrioConstraint *c, const double *y, double multiplier,
                            const BrioBlocks *to)
{
    double s, co, part[2][3 * POINTS];
    angle_of(c, y, &s, &co, part);
    double square = s * s + co * co, ss = -2 * s * co / (square * square);
    double sc = (s * s - co * co) / (square * square);
    brio__dot_row_curvature(c, sine, multiplier * co / square, to);
    brio__dot_row_curvature(c, cosine, -multiplier * s / square, to);
    for (int i = 0; i < POINTS; i++)
        for (int j = i; j < POINTS; j++) {
            double block[9];
            const double *si = part[0] + 3 * i, *sj = part[0] + 3 * j;
            const double *ci = part[1] + 3 * i, *cj = part[1] + 3 * j;
            for (int k = 0; k < 9; k++)
                block[k] = ss * (si[k / 3] * sj[k % 3] - ci[k / 3] * cj[k % 3]) +
                           sc * (si[k / 3] * cj[k % 3] + ci[k / 3] * sj[k % 3]);
            to->add(to, i, j, multiplier, block);
        }
}

static void curvature(const BrioConstraint *c, const double *y, const double *multiplier,
                      bool project, const BrioBlocks *to)
{
    if (project) return;
    for (int k = 0; k < 2; k++) brio__dot_row_curvature(c, across[k], multiplier[3 + k], to);
    double both = 0;
    int row = 5;
    if (!isnan(c->values[LOWER])) both += multiplier[row++];
    if (!isnan(c->values[UPPER])) both -= multiplier[row];
    if (both != 0) angle_curvature(c, y, c->length * both, to);
}

static void sample(double *values)
{
    values[LOWER] = -30;
    values[UPPER] = 100;
}

static const BrioField fields[] = {
    {"lower", BRIO_REAL, "degrees", NAN, -359, 0, 0,
     "Minimum angle of a about the axis, relative to b; default: no limit."},
    {"upper", BRIO_REAL, "degrees", NAN, 0, 359, 0, "Maximum angle; 0 is the initial state."},
    {0}};

BRIO_CONSTRAINT(hinge){
    .name = "hinge",
    .summary = "Two bodies rotate about a common axis; angles may be limited.",
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
