/* The registry of obstacles with a formula: obstacles.def as a table, found by name; their
 * placement X -> R X + t, where R must be a rotation; and triangles to draw solids by. */
#include "obstacle.h"

#include "../mesh/mesh.h"

#include <string.h>

#define OBSTACLE(name)
#include "../energy/obstacles.def"
#undef OBSTACLE
static const BrioObstacleType *const types[] = {
#define OBSTACLE(name) &name##_type,
#include "../energy/obstacles.def"
#undef OBSTACLE
};

const BrioObstacleType *brio__obstacle_type_at(int i)
{
    return i >= 0 && i < (int)BRIO_COUNT(types) ? types[i] : NULL;
}

const BrioObstacleType *brio__obstacle_type(const char *name)
{
    for (int i = 0; i < (int)BRIO_COUNT(types); i++)
        if (!strcmp(types[i]->name, name)) return types[i];
    return NULL;
}

BrioStatus brio__obstacle_place(const BrioObstacleType *type, const double *values,
                                const double linear[9], const double translate[3],
                                double data[BRIO_OBSTACLE_DATA], BrioError *error)
{
    for (int k = 0; k < BRIO_OBSTACLE_DATA; k++) data[k] = 0;
    BRIO_CHECK(brio__fields_check(type->fields, values, error));
    for (int r = 0; r < 3; r++) {
        data[r] = translate[r];
        if (!isfinite(translate[r]))
            return brio__error(error, BRIO_ERROR_INPUT, "the place of an obstacle is not finite");
        for (int c = 0; c < 3; c++) {
            double dot = 0;
            for (int k = 0; k < 3; k++) dot += linear[3 * k + r] * linear[3 * k + c];
            if (!(fabs(dot - (r == c)) < 1e-9))
                return brio__error(error, BRIO_ERROR_INPUT,
                                   "an obstacle with a formula cannot be scaled: give its size by "
                                   "the keys of the %s",
                                   type->name);
            if (c < 2) data[3 + 3 * c + r] = linear[3 * r + c]; /* axes are columns */
        }
    }
    return type->prepare(values, data, error);
}

/* ---- drawing ---------------------------------------------------------------------------- */

enum { ROUND = 6 }; /* segments of a quarter of a circle */

/* A point of a ring, in the solid's axes. Of a box with round edges, corners are
 * half * sign + radius * n over all directions n, with each octant's own signs: so a box, a ball, a
 * capsule. */
static void ring_point(const double *half, double radius, int i, int k, double y[3])
{
    double quarter = acos(0.0);
    double up = i % (ROUND + 1) * quarter / ROUND - (i <= ROUND ? quarter : 0);
    double turn = (k % (ROUND + 1) + k / (ROUND + 1) * ROUND) * quarter / ROUND;
    const double side[3] = {k / (ROUND + 1) == 0 || k / (ROUND + 1) == 3 ? 1 : -1,
                            i <= ROUND ? -1 : 1, k / (ROUND + 1) < 2 ? 1 : -1};
    const double n[3] = {cos(up) * cos(turn), sin(up), cos(up) * sin(turn)};
    for (int r = 0; r < 3; r++) y[r] = half[r] * side[r] + radius * n[r];
}

/* The first vertex at the same place, to round-off, among the neighbours that may coincide: rings
 * and columns of a ball or capsule do. */
static int32_t same_place(const BrioMesh *mesh, int32_t v)
{
    enum { COLUMNS = 4 * (ROUND + 1) };
    const double *y = mesh->x + 3 * (int64_t)v;
    for (int32_t w = BRIO_MAX(v - COLUMNS - 1, 0); w < v; w++) {
        const double *x = mesh->x + 3 * (int64_t)w;
        double away = fabs(x[0] - y[0]) + fabs(x[1] - y[1]) + fabs(x[2] - y[2]);
        if (away <= 1e-14 * (1 + fabs(y[0]) + fabs(y[1]) + fabs(y[2]))) return same_place(mesh, w);
    }
    return v;
}

/* Where the shape is round, one vertex stands for all at its place, so that normals are smooth. */
static void add_triangle(BrioMesh *mesh, int64_t *count, bool is_round, int32_t a, int32_t b,
                         int32_t c)
{
    if (is_round) {
        a = same_place(mesh, a);
        b = same_place(mesh, b);
        c = same_place(mesh, c);
        if (a == b || b == c || c == a) return;
    }
    memcpy(mesh->triangle + 3 * *count, (const int32_t[3]){a, b, c}, 3 * sizeof a);
    ++*count;
}

/* `ring` points each, joined, and closed by two fans. */
BrioStatus brio__obstacle_rings(const double *rest, bool cylinder, BrioMesh **mesh,
                                BrioError *error)
{
    int rings = cylinder ? 2 : 2 * (ROUND + 1);
    int ring = cylinder ? 8 * ROUND : 4 * (ROUND + 1);
    const double *centre = rest + 1, *half = rest + 10, *a = rest + 4, *b = rest + 7;
    double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    double quarter = acos(0.0);
    BRIO_CHECK(brio__mesh_create((int64_t)rings * ring + 2, 0,
                                 2 * (int64_t)(rings - 1) * ring + 2 * (int64_t)ring, 0, mesh,
                                 error));
    double *x = (*mesh)->x;
    for (int i = 0; i < rings; i++)
        for (int k = 0; k < ring; k++) {
            double y[3] = {half[0] * cos(k * quarter * 4 / ring), i ? half[1] : -half[1],
                           half[0] * sin(k * quarter * 4 / ring)};
            if (!cylinder) ring_point(half, rest[13], i, k, y);
            for (int r = 0; r < 3; r++)
                x[3 * (i * ring + k) + r] = centre[r] + a[r] * y[0] + b[r] * y[1] + c[r] * y[2];
        }
    for (int end = 0; end < 2; end++)
        for (int r = 0; r < 3; r++)
            x[3 * (rings * ring + end) + r] =
                centre[r] + (end ? 1 : -1) * (half[1] + rest[13]) * b[r];
    int64_t count = 0;
    for (int k = 0; k < ring; k++) {
        int after = (k + 1) % ring;
        for (int i = 0; i + 1 < rings; i++) {
            int32_t low = i * ring, high = low + ring;
            add_triangle(*mesh, &count, rest[13] > 0, low + k, high + k, high + after);
            add_triangle(*mesh, &count, rest[13] > 0, low + k, high + after, low + after);
        }
        add_triangle(*mesh, &count, rest[13] > 0, rings * ring, k, after);
        add_triangle(*mesh, &count, rest[13] > 0, rings * ring + 1, (rings - 1) * ring + after,
                     (rings - 1) * ring + k);
    }
    (*mesh)->triangle_count = count;
    return BRIO_OK;
}
