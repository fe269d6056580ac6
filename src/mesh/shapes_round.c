/* Round shapes of tets and their surfaces: die, capsule, torus.
 *
 * Die and capsule are boxes whose edges and corners are rounded with a radius r. A point of the box
 * is q + d, with q the nearest point of the box that is smaller by r on all sides; what d sticks
 * out, a point of a cube of half edge r, becomes one of the ball: |d|_inf tan(pi/4 d/|d|_inf)
 * scaled to the length |d|_inf. Concentric cubes become spheres, and equal steps along them equal
 * angles. Cells have six tets (Kuhn's) about the diagonal that points away from the centre of the
 * whole. Every tet then has an edge that goes inward: none has all its corners in the rounded
 * surface, where it would be flat.
 *
 * Torus: a disk of triangles goes round; see the cylinder of shapes_solid.c. Prisms alternate, so
 * that the number of segments is even. */
#include "shapes.h"

#include <string.h>

/* ---- surfaces of solids ----------------------------------------------------------------- */

/* Replaces a solid by its closed surface, with the vertices on it and its edges. */
static BrioStatus keep_surface(BrioMesh **mesh, BrioError *error)
{
    BrioMesh *solid = *mesh, *created = NULL;
    *mesh = NULL;
    int32_t *number = brio__calloc((size_t)solid->vertex_count, sizeof *number);
    BrioStatus status = number
                            ? brio__mesh_surface(solid, error)
                            : brio__error(error, BRIO_ERROR_MEMORY, "out of memory for a surface");
    if (status == BRIO_OK) {
        int64_t used = 0;
        for (int64_t i = 0; i < 3 * solid->triangle_count; i++) number[solid->triangle[i]] = 1;
        for (int64_t v = 0; v < solid->vertex_count; v++)
            number[v] = number[v] ? (int32_t)used++ : -1;
        status = brio__mesh_create(used, 0, solid->triangle_count, 0, &created, error);
    }
    if (status == BRIO_OK) {
        for (int64_t v = 0; v < solid->vertex_count; v++)
            if (number[v] >= 0)
                memcpy(created->x + 3 * (int64_t)number[v], solid->x + 3 * v,
                       3 * sizeof *created->x);
        for (int64_t i = 0; i < 3 * solid->triangle_count; i++)
            created->triangle[i] = number[solid->triangle[i]];
        status = brio__shape_edges(&created, error);
    }
    brio__free(number);
    brio_mesh_free(solid);
    *mesh = created;
    return status;
}

/* ---- die and capsule -------------------------------------------------------------------- */

/* Positions from the centre to a face, cells + 1 of them: some cells lie in the rounded part,
 * evenly spaced on both sides of its border. Where the rounded part or the flat one is much thinner
 * than a cell, all are evenly spaced, and none of them is flat. */
static double place(double half, double radius, int64_t cells, int64_t i)
{
    double flat = half - radius, thin = 0.6 * half;
    if (radius * (double)cells < thin || flat * (double)cells < thin || cells == 1)
        return half * ((double)i / (double)cells);
    int64_t round_cells = (int64_t)floor((double)cells * radius / half + 0.5);
    round_cells = BRIO_MIN(BRIO_MAX(round_cells, 1), cells - 1);
    int64_t inner = cells - round_cells;
    return i <= inner ? flat * ((double)i / (double)inner)
                      : flat + radius * ((double)(i - inner) / (double)round_cells);
}

static void to_ball(double d[3])
{
    double max = fmax(fabs(d[0]), fmax(fabs(d[1]), fabs(d[2]))), square = 0;
    if (max == 0) return;
    for (int a = 0; a < 3; a++) {
        d[a] = fabs(d[a]) == max ? copysign(1, d[a]) : tan(0.78539816339744830962 * (d[a] / max));
        square += d[a] * d[a];
    }
    for (int a = 0; a < 3; a++) d[a] *= max / sqrt(square);
}

/* cells[a] layers from the centre to the faces across axis a. */
static BrioStatus make_rounded(const double half[3], double radius, const int64_t cells[3],
                               BrioMesh **mesh, BrioError *error)
{
    /* first two axes of a path */
    static const int order[6][2] = {{1, 2}, {2, 4}, {4, 1}, {1, 4}, {4, 2}, {2, 1}};
    int64_t n[3] = {2 * cells[0], 2 * cells[1], 2 * cells[2]};
    int64_t stride[3] = {1, n[0] + 1, (n[0] + 1) * (n[1] + 1)};
    BRIO_CHECK(
        brio__mesh_create(stride[2] * (n[2] + 1), 6 * n[0] * n[1] * n[2], 0, 0, mesh, error));
    BrioMesh *created = *mesh;
    int64_t at[3], v = 0, t = 0;
    for (at[2] = 0; at[2] <= n[2]; at[2]++)
        for (at[1] = 0; at[1] <= n[1]; at[1]++)
            for (at[0] = 0; at[0] <= n[0]; at[0]++, v++) {
                double q[3], d[3];
                for (int a = 0; a < 3; a++) {
                    int64_t layer = at[a] - cells[a];
                    double x =
                        copysign(place(half[a], radius, cells[a], layer < 0 ? -layer : layer),
                                 (double)layer);
                    double flat = fmax(half[a] - radius, 0);
                    q[a] = fmin(fmax(x, -flat), flat);
                    d[a] = x - q[a];
                }
                to_ball(d);
                for (int a = 0; a < 3; a++) created->x[3 * v + a] = q[a] + d[a];
            }
    for (at[2] = 0; at[2] < n[2]; at[2]++)
        for (at[1] = 0; at[1] < n[1]; at[1]++)
            for (at[0] = 0; at[0] < n[0]; at[0]++) {
                int64_t corner[8]; /* bit a of the corner's number: which end along axis a */
                int inner = 0;     /* the one nearest to the centre */
                for (int c = 0; c < 8; c++) {
                    corner[c] = 0;
                    for (int a = 0; a < 3; a++) corner[c] += (at[a] + (c >> a & 1)) * stride[a];
                }
                for (int a = 0; a < 3; a++) inner |= (at[a] < cells[a]) << a;
                for (int p = 0; p < 6; p++) {
                    int first = inner ^ order[p][0], second = first ^ order[p][1];
                    brio__shape_tet(created, &t, corner[inner], corner[first], corner[second],
                                    corner[inner ^ 7]);
                }
            }
    return BRIO_OK;
}

static const BrioField die_fields[] = {
    BRIO_LENGTH("size", 0.1, "Edge of the cube, whose centre is the origin."),
    BRIO_LENGTH("radius", 0.02, "Radius of its edges and corners, at most half the size."),
    {"cells", BRIO_INTEGER, "", 4, 1, 1000, 0,
     "Layers of cells from the centre to the faces; 48 cells^3 tets in all."},
    {0},
};

static BrioStatus make_die(const double *values, BrioMesh **mesh, BrioError *error)
{
    double half = values[0] / 2;
    int64_t cells = (int64_t)values[2];
    *mesh = NULL;
    if (values[1] > half)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "radius = %g m is more than half of size = %g m", values[1], values[0]);
    return make_rounded((const double[3]){half, half, half}, values[1],
                        (const int64_t[3]){cells, cells, cells}, mesh, error);
}

static BrioStatus make_die_surface(const double *values, BrioMesh **mesh, BrioError *error)
{
    BRIO_CHECK(make_die(values, mesh, error));
    return keep_surface(mesh, error);
}

const BrioShape brio__shape_die = {
    .name = "die",
    .summary = "a solid cube with round edges and corners, centred at the origin",
    .kind = "solid",
    .fields = die_fields,
    .make = make_die,
};

const BrioShape brio__shape_die_surface = {
    .name = "die-surface",
    .summary = "the closed surface of a die",
    .kind = "springs",
    .fields = die_fields,
    .make = make_die_surface,
};

static const BrioField capsule_fields[] = {
    BRIO_LENGTH("radius", 0.25, "Radius of the cylinder and of the half balls at its ends."),
    BRIO_LENGTH(
        "height", 1,
        "Extent along y, half balls included, centred at the origin; at least twice the radius."),
    {"cells", BRIO_INTEGER, "", 3, 1, 1000, 0,
     "Layers of cells from the axis to the curved "
     "surface."},
    {0},
};

static BrioStatus make_capsule(const double *values, BrioMesh **mesh, BrioError *error)
{
    double radius = values[0], half = values[1] / 2;
    int64_t cells = (int64_t)values[2];
    *mesh = NULL;
    if (!(half >= radius))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "height = %g m is less than twice the radius = %g m", values[1], radius);
    if (half / radius * (double)cells > 100000)
        return brio__error(error, BRIO_ERROR_TOO_LARGE,
                           "a capsule of %g cells along its axis is too long",
                           half / radius * (double)cells);
    int64_t along = cells + (int64_t)floor((half - radius) / radius * (double)cells + 0.5);
    return make_rounded((const double[3]){radius, half, radius}, radius,
                        (const int64_t[3]){cells, along, cells}, mesh, error);
}

static BrioStatus make_capsule_surface(const double *values, BrioMesh **mesh, BrioError *error)
{
    BRIO_CHECK(make_capsule(values, mesh, error));
    return keep_surface(mesh, error);
}

const BrioShape brio__shape_capsule = {
    .name = "capsule",
    .summary = "a solid cylinder along y with half balls at its ends, centred at the origin",
    .kind = "solid",
    .fields = capsule_fields,
    .make = make_capsule,
};

const BrioShape brio__shape_capsule_surface = {
    .name = "capsule-surface",
    .summary = "the closed surface of a capsule",
    .kind = "springs",
    .fields = capsule_fields,
    .make = make_capsule_surface,
};

/* ---- torus ------------------------------------------------------------------------------ */

static const BrioField torus_fields[] = {
    BRIO_LENGTH("major", 0.3,
                "Radius of the circle about the y axis on which the disks' centres lie."),
    BRIO_LENGTH("minor", 0.1, "Radius of the disks, less than the major one."),
    {"segments", BRIO_INTEGER, "", 24, 4, 100000, 0, "Number of disks around the axis; even."},
    {"rings", BRIO_INTEGER, "", 2, 1, 20000, 0,
     "Rings of cells from the centre of a disk to its rim; ring k has 6k vertices."},
    {0},
};

static BrioStatus make_torus(const double *values, BrioMesh **mesh, BrioError *error)
{
    double major = values[0], minor = values[1];
    int64_t segments = (int64_t)values[2];
    int64_t rings = (int64_t)values[3];
    int64_t disk = brio__disk_vertices(rings);
    int64_t triangles = brio__disk_triangles(rings);
    *mesh = NULL;
    if (segments % 2)
        return brio__error(error, BRIO_ERROR_INPUT, "segments = %lld of a torus must be even",
                           (long long)segments);
    if (!(minor < major))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "minor = %g m must be less than major = %g m: the torus has a hole",
                           minor, major);
    BRIO_CHECK(brio__mesh_create(disk * segments, 3 * triangles * segments, 0, 0, mesh, error));
    BrioMesh *created = *mesh;
    int32_t *triangle = brio__alloc((size_t)triangles, 3 * sizeof *triangle);
    uint8_t *colour = brio__alloc((size_t)disk, 1);
    if (!triangle || !colour) {
        brio__free(triangle);
        brio__free(colour);
        brio_mesh_free(created);
        *mesh = NULL;
        return brio__error(error, BRIO_ERROR_MEMORY, "out of memory for a torus");
    }
    brio__disk_topology(rings, triangle, colour);
    for (int64_t k = 0, v = 0; k <= rings; k++)
        for (int64_t spot = 0; spot < BRIO_MAX(6 * k, 1); spot++, v++) {
            double point[2];
            brio__disk_point(k, spot, rings, point);
            for (int64_t s = 0; s < segments; s++) {
                double *x = created->x + 3 * (s * disk + v);
                double angle = 6.28318530717958647692 * ((double)s / (double)segments);
                double out = major + minor * point[0];
                x[0] = out * cos(angle);
                x[1] = minor * point[1];
                x[2] = out * sin(angle);
            }
        }
    int64_t t = 0;
    for (int64_t s = 0; s < segments; s++)
        for (int64_t i = 0; i < triangles; i++) {
            int64_t low[3], high[3]; /* by colour */
            for (int k = 0; k < 3; k++) {
                int64_t v = triangle[3 * i + k];
                low[colour[v]] = (s + s % 2) % segments * disk + v;
                high[colour[v]] = (s + 1 - s % 2) % segments * disk + v;
            }
            brio__shape_tet(created, &t, low[0], low[1], low[2], high[2]);
            brio__shape_tet(created, &t, low[0], low[1], high[1], high[2]);
            brio__shape_tet(created, &t, low[0], high[0], high[1], high[2]);
        }
    brio__free(triangle);
    brio__free(colour);
    return BRIO_OK;
}

static BrioStatus make_torus_surface(const double *values, BrioMesh **mesh, BrioError *error)
{
    BRIO_CHECK(make_torus(values, mesh, error));
    return keep_surface(mesh, error);
}

const BrioShape brio__shape_torus = {
    .name = "torus",
    .summary = "a solid ring about the y axis, centred at the origin",
    .kind = "solid",
    .fields = torus_fields,
    .make = make_torus,
};

const BrioShape brio__shape_torus_surface = {
    .name = "torus-surface",
    .summary = "the closed surface of a torus",
    .kind = "springs",
    .fields = torus_fields,
    .make = make_torus_surface,
};
