/* A rigid rod: g = (|a - b|^2 - l^2)/(2 l), whose gradient pulls the ends along (a - b)/l, which
 * has length 1 where the condition holds [Kharevych2006]. Its curvature is that of a spring of no
 * rest length and stiffness multiplier/l; rods in tension bend nothing the wrong way. */
#include "constraint.h"

#include "../vec.h"

static BrioStatus begin(BrioConstraint *c, const double *y, BrioError *error)
{
    double apart = brio__distance3(y, y + 3);
    c->rows = 1;
    c->length = isnan(c->values[0]) ? apart : c->values[0];
    if (!(apart > 0))
        return brio__error(
            error, BRIO_ERROR_INPUT,
            "the ends of the rod are at the same place in the initial state: a rod needs a length");
    if (fabs(apart - c->length) > 1e-6 * c->length)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "the ends of the rod are %.9g m apart in the initial state, and its "
                           "length is %.9g m: move them, or remove length",
                           apart, c->values[0]);
    return BRIO_OK;
}

static void value(const BrioConstraint *c, const double *y, double *g, double *gradient)
{
    double square = 0;
    for (int r = 0; r < 3; r++) {
        double n = (y[r] - y[3 + r]) / c->length;
        square += n * n;
        if (!gradient) continue;
        gradient[r] = n;
        gradient[3 + r] = -n;
    }
    g[0] = c->length * (square - 1) / 2;
}

static void curvature(const BrioConstraint *c, const double *y, const double *multiplier,
                      bool project, const BrioBlocks *to)
{
    const double I[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double k = (project ? fmax(0, multiplier[0]) : multiplier[0]) / c->length;
    (void)y;
    to->add(to, 0, 0, k, I);
    to->add(to, 1, 1, k, I);
    to->add(to, 0, 1, -k, I);
}

static const BrioRole roles[] = {{BRIO_SIDE_A, BRIO_PLACE_AT}, {BRIO_SIDE_B, BRIO_PLACE_AT}};

static const BrioField fields[] = {
    {"length", BRIO_REAL, "m", NAN, 1e-300, 1e15, 0,
     "The distance. The initial state must have it. Default: that of the initial state."},
    {0}};

BRIO_CONSTRAINT(rod){
    .name = "rod",
    .summary = "Two points keep their distance.",
    .citation = "Kharevych2006",
    .fields = fields,
    .role_count = BRIO_COUNT(roles),
    .roles = roles,
    .drawn = true,
    .begin = begin,
    .value = value,
    .curvature = curvature,
};
