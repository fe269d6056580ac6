/* A distance with a minimum and a maximum, one-sided: a rope has a maximum only. With d = |a - b|,
 *
 *     (d^2 - min^2)/(2 min) >= 0,      (max^2 - d^2)/(2 max) >= 0:
 *
 * polynomials whose slope is 1 where they vanish. */
#include "constraint.h"

#include "../vec.h"

enum { MIN, MAX };

static BrioStatus begin(BrioConstraint *c, const double *y, BrioError *error)
{
    double apart = brio__distance3(y, y + 3), min = c->values[MIN], max = c->values[MAX];
    c->rows = (min > 0) + !isnan(max);
    c->one_sided[0] = c->one_sided[1] = true;
    if (c->rows == 0)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "a distance range needs a minimum, a maximum or both");
    if (min > max)
        return brio__error(error, BRIO_ERROR_INPUT, "min = %g m is more than max = %g m", min, max);
    c->length = isnan(max) ? min : max;
    if (apart < min * (1 - 1e-6) || apart > max * (1 + 1e-6))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "the points are %.9g m apart in the initial state, which is outside of "
                           "the range",
                           apart);
    return BRIO_OK;
}

/* Of a row: sign and length. */
static double side(const BrioConstraint *c, int row, double *length)
{
    bool lower = c->values[MIN] > 0 && row == 0;
    *length = c->values[lower ? MIN : MAX];
    return lower ? 1 : -1;
}

static void value(const BrioConstraint *c, const double *y, double *g, double *gradient)
{
    double square = brio__square_distance3(y, y + 3), l;
    for (int k = 0; k < c->rows; k++) {
        double sign = side(c, k, &l);
        g[k] = sign * (square - l * l) / (2 * l);
        for (int r = 0; gradient && r < 3; r++) {
            gradient[6 * k + r] = sign * (y[r] - y[3 + r]) / l;
            gradient[6 * k + 3 + r] = -gradient[6 * k + r];
        }
    }
}

static void curvature(const BrioConstraint *c, const double *y, const double *multiplier,
                      bool project, const BrioBlocks *to)
{
    const double I[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    (void)y;
    for (int row = 0; row < c->rows; row++) {
        double l, k = side(c, row, &l) * multiplier[row] / l;
        if (project) k = fmax(0, k);
        to->add(to, 0, 0, k, I);
        to->add(to, 1, 1, k, I);
        to->add(to, 0, 1, -k, I);
    }
}

static void sample(double *values)
{
    values[MIN] = 0.1;
    values[MAX] = 5;
}

static const BrioRole roles[] = {{BRIO_SIDE_A, BRIO_PLACE_AT}, {BRIO_SIDE_B, BRIO_PLACE_AT}};

static const BrioField fields[] = {
    {"min", BRIO_REAL, "m", 0, 0, 1e15, 0, "Minimum distance; 0: none."},
    {"max", BRIO_REAL, "m", NAN, 1e-300, 1e15, 0, "Maximum distance; default: none."},
    {0}};

BRIO_CONSTRAINT(distance_range){
    .name = "distance-range",
    .summary = "Two points stay within a range of distances, as on a rope; one-sided.",
    .citation = "Kharevych2006",
    .fields = fields,
    .role_count = BRIO_COUNT(roles),
    .roles = roles,
    .drawn = true,
    .begin = begin,
    .value = value,
    .curvature = curvature,
    .sample = sample,
};
