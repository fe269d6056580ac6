/* A closed surface keeps its volume: g = (V - V_0)/A_0, in metres of the whole surface, with A_0
 * its initial area and
 *
 *     V = 1/6 sum over triangles of a.(b x c),     dV/da = b x c/6,     d2V/da db = -[c]x/6,
 *
 * all corners seen from the first point. */
#include "constraint.h"

#include "../vec.h"

#include <string.h>

static void corners_of(const BrioConstraint *c, const double *y, int64_t t, double corner[3][3])
{
    for (int k = 0; k < 3; k++)
        brio__subtract3(y + 3 * (int64_t)c->triangle[3 * t + k], y, corner[k]);
}

static double volume_of(const BrioConstraint *c, const double *y)
{
    double sum = 0, corner[3][3];
    for (int64_t t = 0; t < c->triangle_count; t++) {
        corners_of(c, y, t, corner);
        sum += brio__triple3(corner[0], corner[1], corner[2]);
    }
    return sum / 6;
}

static BrioStatus begin(BrioConstraint *c, const double *y, BrioError *error)
{
    double area = 0;
    for (int64_t t = 0; t < c->triangle_count; t++) {
        const int32_t *v = c->triangle + 3 * t;
        double n[3];
        brio__triangle_normal(y + 3 * (int64_t)v[0], y + 3 * (int64_t)v[1], y + 3 * (int64_t)v[2],
                              n);
        area += brio__norm3(n) / 2;
    }
    c->rows = 1;
    c->rest[0] = volume_of(c, y);
    c->rest[1] = area;
    if (!(area > 0) || !(fabs(c->rest[0]) > 1e-12 * pow(area, 1.5)))
        return brio__error(error, BRIO_ERROR_INPUT, "the surface encloses no volume");
    c->length = sqrt(area);
    return BRIO_OK;
}

static void value(const BrioConstraint *c, const double *y, double *g, double *gradient)
{
    g[0] = (volume_of(c, y) - c->rest[0]) / c->rest[1];
    if (!gradient) return;
    memset(gradient, 0, 3 * (size_t)c->point_count * sizeof *gradient);
    for (int64_t t = 0; t < c->triangle_count; t++) {
        double corner[3][3], n[3];
        corners_of(c, y, t, corner);
        for (int k = 0; k < 3; k++) {
            brio__cross3(corner[(k + 1) % 3], corner[(k + 2) % 3], n);
            for (int r = 0; r < 3; r++)
                gradient[3 * (int64_t)c->triangle[3 * t + k] + r] += n[r] / (6 * c->rest[1]);
        }
    }
}

static void curvature(const BrioConstraint *c, const double *y, const double *multiplier,
                      bool project, const BrioBlocks *to)
{
    for (int64_t t = 0; !project && t < c->triangle_count; t++) {
        const int32_t *v = c->triangle + 3 * t;
        double corner[3][3];
        corners_of(c, y, t, corner);
        for (int k = 0; k < 3; k++) {
            const double *p = corner[(k + 2) % 3];
            const double block[9] = {0, p[2], -p[1], -p[2], 0, p[0], p[1], -p[0], 0};
            to->add(to, v[k], v[(k + 1) % 3], multiplier[0] / (6 * c->rest[1]), block);
        }
    }
}

static const BrioField fields[] = {{0}};

BRIO_CONSTRAINT(volume){
    .name = "volume",
    .summary = "The volume inside the closed surface of a body stays constant.",
    .citation = "Hong2006",
    .fields = fields,
    .begin = begin,
    .value = value,
    .curvature = curvature,
};
