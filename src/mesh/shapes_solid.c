/* Shapes made of tets: box, bar, ball, cylinder, rod. All are conforming, and no pattern prefers a
 * direction.
 *
 * Box cells with five tets. The corners of the whole grid are coloured like a chessboard by
 * i + j + k. In each cell the four even corners make a regular tet, and each odd corner makes one
 * with its three neighbours in the cell. The diagonal of every cell face joins its two even
 * corners, whichever cell one looks from: conforming. The diagonals alternate, so that the sum of
 * e e^T over all edges is isotropic for every cube, to round-off.
 *
 * Box cells with six tets. Kuhn's: one tet for each order of the three axes, along the path from
 * one corner to the opposite one. Taking the same corner in every cell is conforming but has one
 * long diagonal direction. Mirroring the whole cell by the parity of i + j + k changes nothing,
 * since the pattern maps to itself under inversion; mirroring each axis by the parity of its own
 * index does: neighbours are mirror images in their common face, hence conforming, and the four
 * diagonal directions occur equally often when the numbers of cells are even (for odd n the
 * remainder in the sum of e e^T is a part 1/n^2 of it).
 *
 * Ball. An icosahedron of 20 tets about the centre, each divided into n^3: n layers of nearly
 * regular tets. The layers become concentric spheres. No tet has four vertices on one sphere, so
 * none is flattened (a cube bent to a ball has such tets along its twelve edges).
 *
 * Cylinder. A disk of triangles, extruded; each prism is divided by the order of the three colours
 * of its corners (the triangular lattice is three-colourable), upside down in every second layer.
 * Neighbours are then mirror images in their common face. */
#include "../vec.h"
#include "shapes.h"

void brio__shape_tet(BrioMesh *mesh, int64_t *t, int64_t a, int64_t b, int64_t c, int64_t d)
{
    const double *x = mesh->x;
    bool positive = brio__tet_volume6(x + 3 * a, x + 3 * b, x + 3 * c, x + 3 * d) > 0;
    int32_t *tet = mesh->tet + 4 * (*t)++;
    tet[0] = (int32_t)a;
    tet[1] = (int32_t)b;
    tet[2] = (int32_t)(positive ? c : d);
    tet[3] = (int32_t)(positive ? d : c);
}

/* ---- box and bar ------------------------------------------------------------------------ */

/* n[0] x n[1] x n[2] cells; vertex (i, j, k) has number i + (n[0] + 1) (j + (n[1] + 1) k). Centred
 * at the origin, but from 0 along the axes that `from_zero` says. */
static BrioStatus make_cells(const double size[3], const int64_t n[3], const bool from_zero[3],
                             int per_cell, BrioMesh **mesh, BrioError *error)
{
    /* first two axes of a path */
    static const int order[6][2] = {{1, 2}, {2, 4}, {4, 1}, {1, 4}, {4, 2}, {2, 1}};
    int64_t stride[3] = {1, n[0] + 1, (n[0] + 1) * (n[1] + 1)};
    BRIO_CHECK(brio__mesh_create(stride[2] * (n[2] + 1), per_cell * n[0] * n[1] * n[2], 0, 0, mesh,
                                 error));
    BrioMesh *created = *mesh;
    int64_t at[3], v = 0, t = 0;
    for (at[2] = 0; at[2] <= n[2]; at[2]++)
        for (at[1] = 0; at[1] <= n[1]; at[1]++)
            for (at[0] = 0; at[0] <= n[0]; at[0]++, v++)
                for (int a = 0; a < 3; a++) {
                    int64_t twice = 2 * at[a] - (from_zero[a] ? 0 : n[a]);
                    created->x[3 * v + a] = size[a] * ((double)twice / (double)(2 * n[a]));
                }
    for (at[2] = 0; at[2] < n[2]; at[2]++)
        for (at[1] = 0; at[1] < n[1]; at[1]++)
            for (at[0] = 0; at[0] < n[0]; at[0]++) {
                int64_t corner[8]; /* bit a of the corner's number: which end along axis a */
                for (int c = 0; c < 8; c++) {
                    corner[c] = 0;
                    for (int a = 0; a < 3; a++) corner[c] += (at[a] + (c >> a & 1)) * stride[a];
                }
                if (per_cell == 6) {
                    int m = (int)((at[0] & 1) | (at[1] & 1) << 1 | (at[2] & 1) << 2);
                    for (int p = 0; p < 6; p++) {
                        int first = m ^ order[p][0], second = first ^ order[p][1];
                        brio__shape_tet(created, &t, corner[m], corner[first], corner[second],
                                        corner[m ^ 7]);
                    }
                } else {
                    int odd = (int)((at[0] + at[1] + at[2]) & 1); /* corner 0 is odd */
                    brio__shape_tet(created, &t, corner[odd], corner[3 ^ odd], corner[5 ^ odd],
                                    corner[6 ^ odd]);
                    for (int c = 0; c < 8; c++)
                        if (((c ^ c >> 1 ^ c >> 2) & 1) != odd)
                            brio__shape_tet(created, &t, corner[c], corner[c ^ 1], corner[c ^ 2],
                                            corner[c ^ 4]);
                }
            }
    return BRIO_OK;
}

#define TETS_SUMMARY "Tets in each cell, 5 or 6; both patterns alternate from cell to cell."

static const BrioField box_fields[] = {
    {"size", BRIO_VECTOR, "m", 1, 1e-9, 1e9, 0, "Extents along x, y, z, centred at the origin."},
    {"cells", BRIO_VECTOR, "", 8, 1, 100000, 0, "Cells along x, y, z: integers."},
    {"tets", BRIO_INTEGER, "", 5, 5, 6, 0, TETS_SUMMARY},
    {0},
};

static BrioStatus make_box(const double *values, BrioMesh **mesh, BrioError *error)
{
    int64_t n[3];
    *mesh = NULL;
    for (int a = 0; a < 3; a++) {
        n[a] = (int64_t)values[3 + a];
        if ((double)n[a] != values[3 + a])
            return brio__error(error, BRIO_ERROR_INPUT, "cells[%d] = %g is not an integer", a,
                               values[3 + a]);
    }
    return make_cells(values, n, (const bool[3]){false, false, false}, (int)values[6], mesh, error);
}

const BrioShape brio__shape_box = {
    .name = "box",
    .summary = "a solid box, centred at the origin",
    .kind = "solid",
    .fields = box_fields,
    .make = make_box,
};

static const BrioField bar_fields[] = {
    BRIO_LENGTH("length", 1, "Extent along x, from x = 0."),
    BRIO_LENGTH("height", 0.1, "Extent along y, centred at y = 0."),
    BRIO_LENGTH("width", 0.1, "Extent along z, centred at z = 0."),
    BRIO_CELLS("cells", 20, "Cells along x."),
    BRIO_CELLS("across", 2, "Cells along y and along z."),
    {"tets", BRIO_INTEGER, "", 5, 5, 6, 0, TETS_SUMMARY},
    {0},
};

static BrioStatus make_bar(const double *values, BrioMesh **mesh, BrioError *error)
{
    int64_t n[3] = {(int64_t)values[3], (int64_t)values[4], (int64_t)values[4]};
    return make_cells(values, n, (const bool[3]){true, false, false}, (int)values[5], mesh, error);
}

const BrioShape brio__shape_bar = {
    .name = "bar",
    .summary = "a slender solid box along x from x = 0, centred in y and z",
    .kind = "solid",
    .fields = bar_fields,
    .make = make_bar,
};

/* ---- ball ------------------------------------------------------------------------------- */

/* The vertex of a point of the lattice in one of the 20 tets: w[i] steps from the centre towards
 * corner i. The centre is vertex 0; layer m >= 1 has 10 m^2 + 2 vertices. */
static int64_t ball_vertex(const BrioIcosahedron *ico, int face, const int64_t w[3])
{
    int64_t layer = w[0] + w[1] + w[2], m = layer - 1;
    if (layer == 0) return 0;
    return 1 + 10 * (m * (m + 1) * (2 * m + 1) / 6) + 2 * m + brio__icosphere_vertex(ico, face, w);
}

/* An octahedron whose opposite corners are corner[i] and corner[i + 3], cut along its shortest
 * diagonal: of two that are equal (whatever the rounding) the one that comes first going round,
 * which looks the same from every face of the icosahedron; of three, `first`. */
static void put_octahedron(BrioMesh *mesh, int64_t *t, const int64_t corner[6], int first)
{
    double square[3], min = INFINITY;
    for (int d = 0; d < 3; d++) {
        square[d] = brio__square_distance3(mesh->x + 3 * corner[d], mesh->x + 3 * corner[d + 3]);
        min = fmin(min, square[d]);
    }
    int best = first;
    for (int d = 0; d < 3; d++) /* at most one is short while the one before it is not */
        if (square[d] <= min * (1 + 1e-6) && square[(d + 2) % 3] > min * (1 + 1e-6)) best = d;
    int next = (best + 1) % 3, last = (best + 2) % 3;
    const int64_t ring[4] = {corner[next], corner[last], corner[next + 3], corner[last + 3]};
    for (int i = 0; i < 4; i++)
        brio__shape_tet(mesh, t, corner[best], corner[best + 3], ring[i], ring[(i + 1) % 4]);
}

/* Twelve faces have two corners in one coordinate plane: the third corner, so that the choice turns
 * with the face. The other eight lie on the diagonals of the axes and have no such corner: they
 * take turns. */
static int distinct_corner(const BrioIcosahedron *ico, int face, int64_t turn)
{
    const int *v = ico->face[face];
    for (int i = 0; i < 3; i++)
        if (v[(i + 1) % 3] / 4 == v[(i + 2) % 3] / 4) return i;
    return (int)((face + turn) % 3);
}

static const BrioField ball_fields[] = {
    BRIO_LENGTH("radius", 0.5, "Radius of the ball, whose centre is the origin."),
    {"cells", BRIO_INTEGER, "", 4, 1, 10000, 0,
     "Layers of tets from the centre to the surface; 20 cells^3 tets in all."},
    {0},
};

static BrioStatus make_ball(const double *values, BrioMesh **mesh, BrioError *error)
{
    int64_t n = (int64_t)values[1];
    int64_t vertices = 1 + 10 * (n * (n + 1) * (2 * n + 1) / 6) + 2 * n;
    BRIO_CHECK(brio__mesh_create(vertices, 20 * n * n * n, 0, 0, mesh, error));
    BrioMesh *created = *mesh;
    BrioIcosahedron ico;
    brio__icosahedron(&ico);
    int64_t w[3], t = 0;
    for (int face = 0; face < 20; face++)
        for (w[0] = 0; w[0] <= n; w[0]++)
            for (w[1] = 0; w[0] + w[1] <= n; w[1]++)
                for (w[2] = 0; w[0] + w[1] + w[2] <= n; w[2]++) {
                    int64_t layer = w[0] + w[1] + w[2];
                    if (layer == 0) continue; /* the centre stays zero */
                    double point[3], radius = values[0] * ((double)layer / (double)n);
                    brio__icosphere_point(&ico, face, w, point);
                    double *x = created->x + 3 * ball_vertex(&ico, face, w);
                    for (int k = 0; k < 3; k++) x[k] = radius * point[k];
                }
    /* The cube of the lattice at w holds a tet at its near corner, an octahedron, and a tet at its
     * far corner. */
    for (int face = 0; face < 20; face++)
        for (w[0] = 0; w[0] < n; w[0]++)
            for (w[1] = 0; w[0] + w[1] < n; w[1]++)
                for (w[2] = 0; w[0] + w[1] + w[2] < n; w[2]++) {
                    int64_t corner[8], room = n - w[0] - w[1] - w[2];
                    for (int c = 0; c < 8; c++) {
                        const int64_t at[3] = {w[0] + (c & 1), w[1] + (c >> 1 & 1),
                                               w[2] + (c >> 2 & 1)};
                        corner[c] = at[0] + at[1] + at[2] <= n ? ball_vertex(&ico, face, at) : -1;
                    }
                    brio__shape_tet(created, &t, corner[0], corner[1], corner[2], corner[4]);
                    if (room >= 2)
                        put_octahedron(created, &t,
                                       (const int64_t[6]){corner[1], corner[2], corner[4],
                                                          corner[6], corner[5], corner[3]},
                                       distinct_corner(&ico, face, w[0]));
                    if (room >= 3)
                        brio__shape_tet(created, &t, corner[3], corner[5], corner[6], corner[7]);
                }
    return BRIO_OK;
}

const BrioShape brio__shape_ball = {
    .name = "ball",
    .summary = "a solid ball, centred at the origin",
    .kind = "solid",
    .fields = ball_fields,
    .make = make_ball,
};

/* ---- cylinder and rod ------------------------------------------------------------------- */

/* Layers of the disk along `axis`, each with brio__disk_vertices(rings) vertices. */
static BrioStatus make_column(double radius, double length, int64_t rings, int64_t layers, int axis,
                              bool from_zero, BrioMesh **mesh, BrioError *error)
{
    *mesh = NULL;
    int64_t disk = brio__disk_vertices(rings), triangles = brio__disk_triangles(rings);
    BRIO_CHECK(brio__mesh_create(disk * (layers + 1), 3 * triangles * layers, 0, 0, mesh, error));
    BrioMesh *created = *mesh;
    int32_t *triangle = brio__alloc((size_t)triangles, 3 * sizeof *triangle);
    uint8_t *colour = brio__alloc((size_t)disk, 1);
    if (!triangle || !colour) {
        brio__free(triangle);
        brio__free(colour);
        brio_mesh_free(created);
        *mesh = NULL;
        return brio__error(error, BRIO_ERROR_MEMORY, "out of memory for a cylinder");
    }
    brio__disk_topology(rings, triangle, colour);
    int across = (axis + 1) % 3, other = (axis + 2) % 3;
    for (int64_t k = 0, v = 0; k <= rings; k++)
        for (int64_t place = 0; place < BRIO_MAX(6 * k, 1); place++, v++) {
            double point[2];
            brio__disk_point(k, place, rings, point);
            for (int64_t layer = 0; layer <= layers; layer++) {
                double *x = created->x + 3 * (layer * disk + v);
                int64_t twice = 2 * layer - (from_zero ? 0 : layers);
                x[axis] = length * ((double)twice / (double)(2 * layers));
                x[across] = radius * point[0];
                x[other] = radius * point[1];
            }
        }
    int64_t t = 0;
    for (int64_t layer = 0; layer < layers; layer++)
        for (int64_t i = 0; i < triangles; i++) {
            int64_t low[3], high[3]; /* by colour */
            for (int k = 0; k < 3; k++) {
                int64_t v = triangle[3 * i + k];
                low[colour[v]] = (layer + layer % 2) * disk + v;
                high[colour[v]] = (layer + 1 - layer % 2) * disk + v;
            }
            brio__shape_tet(created, &t, low[0], low[1], low[2], high[2]);
            brio__shape_tet(created, &t, low[0], low[1], high[1], high[2]);
            brio__shape_tet(created, &t, low[0], high[0], high[1], high[2]);
        }
    brio__free(triangle);
    brio__free(colour);
    return BRIO_OK;
}

#define RINGS_SUMMARY "Rings of cells from the axis to the curved surface; ring k has 6k vertices."

static const BrioField cylinder_fields[] = {
    BRIO_LENGTH("radius", 0.5, "Radius about the y axis."),
    BRIO_LENGTH("height", 1, "Extent along y, centred at the origin."),
    {"rings", BRIO_INTEGER, "", 4, 1, 20000, 0, RINGS_SUMMARY},
    BRIO_CELLS("cells", 8, "Layers of cells along y."),
    {0},
};

static BrioStatus make_cylinder(const double *values, BrioMesh **mesh, BrioError *error)
{
    return make_column(values[0], values[1], (int64_t)values[2], (int64_t)values[3], 1, false, mesh,
                       error);
}

const BrioShape brio__shape_cylinder = {
    .name = "cylinder",
    .summary = "a solid cylinder along y, centred at the origin",
    .kind = "solid",
    .fields = cylinder_fields,
    .make = make_cylinder,
};

static const BrioField rod_fields[] = {
    BRIO_LENGTH("length", 1, "Extent along x, from x = 0."),
    BRIO_LENGTH("radius", 0.02, "Radius about the x axis."),
    BRIO_CELLS("cells", 50, "Layers of cells along x."),
    {"rings", BRIO_INTEGER, "", 1, 1, 20000, 0, RINGS_SUMMARY},
    {0},
};

static BrioStatus make_rod(const double *values, BrioMesh **mesh, BrioError *error)
{
    return make_column(values[1], values[0], (int64_t)values[3], (int64_t)values[2], 0, true, mesh,
                       error);
}

const BrioShape brio__shape_rod = {
    .name = "rod",
    .summary = "a thin solid cylinder along x from x = 0",
    .kind = "solid",
    .fields = rod_fields,
    .make = make_rod,
};
