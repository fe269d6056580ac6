/* A point on a line through b, whose direction turns with what carries b: with u and w
 * perpendicular to it, g = (a - b).u/l and (a - b).w/l. */
#include "constraint.h"

#include <string.h>

enum { A, B, U, W, POINTS };

static const BrioRole roles[] = {[A] = {BRIO_SIDE_A, BRIO_PLACE_AT},
                                 [B] = {BRIO_SIDE_B, BRIO_PLACE_AT},
                                 [U] = {BRIO_SIDE_B, BRIO_PLACE_ACROSS},
                                 [W] = {BRIO_SIDE_B, BRIO_PLACE_BESIDE}};
static const BrioDotRow rows[] = {{A, B, U, B}, {A, B, W, B}};

static BrioStatus begin(BrioConstraint *c, const double *y, BrioError *error)
{
    (void)y;
    (void)error;
    c->rows = BRIO_COUNT(rows);
    return BRIO_OK;
}

static void value(const BrioConstraint *c, const double *y, double *g, double *gradient)
{
    if (gradient) memset(gradient, 0, sizeof(double[2][3 * POINTS]));
    for (int k = 0; k < c->rows; k++)
        g[k] = brio__dot_row(c, y, rows[k], gradient ? gradient + 3 * POINTS * k : NULL);
}

static void curvature(const BrioConstraint *c, const double *y, const double *multiplier,
                      bool project, const BrioBlocks *to)
{
    (void)y;
    for (int k = 0; !project && k < c->rows; k++)
        brio__dot_row_curvature(c, rows[k], multiplier[k], to);
}

static const BrioField fields[] = {{0}};

BRIO_CONSTRAINT(point_on_line){
    .name = "point-on-line",
    .summary = "A point stays on a line of the world or of a body: a bead on a wire.",
    .citation = "Shabana2020",
    .fields = fields,
    .role_count = BRIO_COUNT(roles),
    .roles = roles,
    .axis = true,
    .begin = begin,
    .value = value,
    .curvature = curvature,
};
