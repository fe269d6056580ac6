/* Shapes made of triangles and edges: grid, disk, sphere, line; and the lattices under disk and
 * sphere, which the solid shapes use too. Coordinates are computed so that mirror images agree to
 * the last bit. */
#include "shapes.h"

#include <string.h>

/* ---- line ------------------------------------------------------------------------------- */

static const BrioField line_fields[] = {
    BRIO_LENGTH("length", 1, "Length along x, from the origin."),
    {"cells", BRIO_INTEGER, "", 30, 1, 1e8, 0, "Number of edges."},
    {0},
};

static BrioStatus make_line(const double *values, BrioMesh **mesh, BrioError *error)
{
    double length = values[0];
    int64_t cells = (int64_t)values[1];
    BRIO_CHECK(brio__mesh_create(cells + 1, 0, 0, cells, mesh, error));
    for (int64_t i = 0; i <= cells; i++) (*mesh)->x[3 * i] = length * ((double)i / (double)cells);
    for (int64_t i = 0; i < cells; i++) {
        (*mesh)->edge[2 * i] = (int32_t)i;
        (*mesh)->edge[2 * i + 1] = (int32_t)(i + 1);
    }
    return BRIO_OK;
}

const BrioShape brio__shape_line = {
    .name = "line",
    .summary = "edges along x, from the origin to its length",
    .kind = "springs",
    .fields = line_fields,
    .make = make_line,
};

/* ---- grid ------------------------------------------------------------------------------- */

static const BrioField grid_fields[] = {
    BRIO_LENGTH("width", 1, "Extent along x, centred at the origin."),
    BRIO_LENGTH("depth", 1, "Extent along z, centred at the origin."),
    BRIO_CELLS("cells_x", 10, "Cells along x."),
    BRIO_CELLS("cells_z", 10, "Cells along z."),
    {"shear", BRIO_BOOLEAN, "", 1, 0, 1, 0, "Edges along both diagonals of every cell."},
    {"bend", BRIO_BOOLEAN, "", 1, 0, 1, 0,
     "Edges from every vertex to the second neighbour along x and z."},
    {0},
};

static void put_edge(BrioMesh *mesh, int64_t *e, int64_t a, int64_t b, int kind)
{
    mesh->edge[2 * *e] = (int32_t)a;
    mesh->edge[2 * *e + 1] = (int32_t)b;
    mesh->edge_kind[(*e)++] = (uint8_t)kind;
}

/* Horizontal; the vertex of column i (x) and row j (z) has number i + (cells_x + 1) j. Edges:
 * structural along x, along z, then shear, then bend. Triangles look up, their diagonals alternate
 * like a chessboard. */
static BrioStatus make_grid(const double *values, BrioMesh **mesh, BrioError *error)
{
    int64_t nx = (int64_t)values[2], nz = (int64_t)values[3], row = nx + 1;
    bool shear = values[4] != 0, bend = values[5] != 0;
    int64_t edges = nx * (nz + 1) + (nx + 1) * nz;
    if (shear) edges += 2 * nx * nz;
    if (bend) edges += (nx - 1) * (nz + 1) + (nx + 1) * (nz - 1);
    BRIO_CHECK(brio__mesh_create((nx + 1) * (nz + 1), 0, 2 * nx * nz, edges, mesh, error));
    BrioMesh *created = *mesh;
    for (int64_t j = 0; j <= nz; j++)
        for (int64_t i = 0; i <= nx; i++) {
            created->x[3 * (i + row * j)] = values[0] * ((double)(2 * i - nx) / (double)(2 * nx));
            created->x[3 * (i + row * j) + 2] =
                values[1] * ((double)(2 * j - nz) / (double)(2 * nz));
        }
    int32_t *triangle = created->triangle;
    for (int64_t j = 0; j < nz; j++)
        for (int64_t i = 0; i < nx; i++) {
            int32_t a = (int32_t)(i + row * j), b = a + 1, c = (int32_t)(a + row), d = c + 1;
            const int32_t falling[6] = {a, c, d, a, d, b}, rising[6] = {a, c, b, b, c, d};
            memcpy(triangle, (i + j) % 2 ? rising : falling, sizeof falling);
            triangle += 6;
        }
    int64_t e = 0;
    for (int step = 1; step <= (bend ? 2 : 1); step++) {
        int kind = step == 1 ? BRIO_EDGE_STRUCTURAL : BRIO_EDGE_BEND;
        for (int64_t j = 0; j <= nz; j++)
            for (int64_t i = 0; i + step <= nx; i++)
                put_edge(created, &e, i + row * j, i + step + row * j, kind);
        for (int64_t j = 0; j + step <= nz; j++)
            for (int64_t i = 0; i <= nx; i++)
                put_edge(created, &e, i + row * j, i + row * (j + step), kind);
        for (int64_t j = 0; j < nz && step == 1 && shear; j++)
            for (int64_t i = 0; i < nx; i++) {
                put_edge(created, &e, i + row * j, i + 1 + row * (j + 1), BRIO_EDGE_SHEAR);
                put_edge(created, &e, i + 1 + row * j, i + row * (j + 1), BRIO_EDGE_SHEAR);
            }
    }
    return BRIO_OK;
}

const BrioShape brio__shape_grid = {
    .name = "grid",
    .summary = "a horizontal rectangle of springs and triangles, like cloth, centred at the origin",
    .kind = "springs",
    .fields = grid_fields,
    .make = make_grid,
};

/* ---- disk ------------------------------------------------------------------------------- */

int64_t brio__disk_vertices(int64_t rings) { return 1 + 3 * rings * (rings + 1); }
int64_t brio__disk_triangles(int64_t rings) { return 6 * rings * rings; }

static int64_t disk_vertex(int64_t ring, int64_t place)
{
    return ring == 0 ? 0 : 1 + 3 * ring * (ring - 1) + place % (6 * ring);
}

/* The angle is folded into the first eighth of a turn with integers, so that mirror images are
 * exact. */
void brio__disk_point(int64_t ring, int64_t place, int64_t rings, double point[2])
{
    point[0] = point[1] = 0;
    if (ring == 0) return;
    int64_t quarter = 6 * ring, angle = 4 * (place % (6 * ring));
    double sign_x = 1, sign_y = 1;
    if (angle > 2 * quarter) {
        angle = 4 * quarter - angle;
        sign_y = -1;
    }
    if (angle > quarter) {
        angle = 2 * quarter - angle;
        sign_x = -1;
    }
    bool swap = 2 * angle > quarter;
    if (swap) angle = quarter - angle;
    double radius = (double)ring / (double)rings;
    double turn = 1.57079632679489661923 * ((double)angle / (double)quarter);
    double along = radius * cos(turn), across = radius * sin(turn);
    point[0] = sign_x * (swap ? across : along);
    point[1] = sign_y * (swap ? along : across);
}

void brio__disk_topology(int64_t rings, int32_t *triangle, uint8_t *colour)
{
    if (colour) colour[0] = 0;
    for (int64_t k = 1; k <= rings; k++)
        for (int64_t s = 0; s < 6; s++) {
            for (int64_t t = 0; t < k; t++) {
                int64_t inner = disk_vertex(k - 1, s * (k - 1) + t);
                int64_t outer = disk_vertex(k, s * k + t);
                int64_t next = disk_vertex(k, s * k + t + 1);
                *triangle++ = (int32_t)inner;
                *triangle++ = (int32_t)outer;
                *triangle++ = (int32_t)next;
                if (t < k - 1) {
                    *triangle++ = (int32_t)inner;
                    *triangle++ = (int32_t)next;
                    *triangle++ = (int32_t)disk_vertex(k - 1, s * (k - 1) + t + 1);
                }
                /* The lattice directions at the two sides of a sector add 1 and 2 to the colour. */
                if (colour)
                    colour[outer] = (uint8_t)(((k - t) * (1 + s % 2) + t * (2 - s % 2)) % 3);
            }
        }
}

static const BrioField disk_fields[] = {
    BRIO_LENGTH("radius", 0.5, "Radius of the disk, whose centre is the origin."),
    {"rings", BRIO_INTEGER, "", 8, 1, 20000, 0,
     "Rings of triangles from the centre to the rim; ring k has 6k vertices."},
    {0},
};

BrioStatus brio__shape_edges(BrioMesh **mesh, BrioError *error)
{
    BrioStatus status = brio__mesh_edges_from_triangles(*mesh);
    if (status == BRIO_OK) return BRIO_OK;
    brio_mesh_free(*mesh);
    *mesh = NULL;
    return brio__error(error, status, "out of memory for the edges of a mesh");
}

static BrioStatus make_disk(const double *values, BrioMesh **mesh, BrioError *error)
{
    int64_t rings = (int64_t)values[1];
    BRIO_CHECK(brio__mesh_create(brio__disk_vertices(rings), 0, brio__disk_triangles(rings), 0,
                                 mesh, error));
    BrioMesh *created = *mesh;
    for (int64_t k = 0, v = 0; k <= rings; k++)
        for (int64_t place = 0; place < BRIO_MAX(6 * k, 1); place++, v++) {
            double point[2];
            brio__disk_point(k, place, rings, point);
            created->x[3 * v] = values[0] * point[0];
            created->x[3 * v + 2] = -values[0] * point[1]; /* counterclockwise seen from above */
        }
    brio__disk_topology(rings, created->triangle, NULL);
    return brio__shape_edges(mesh, error);
}

const BrioShape brio__shape_disk = {
    .name = "disk",
    .summary = "a horizontal disk of triangles and springs, centred at the origin",
    .kind = "springs",
    .fields = disk_fields,
    .make = make_disk,
};

/* ---- sphere ----------------------------------------------------------------------------- */

void brio__icosahedron(BrioIcosahedron *ico)
{
    const double golden = 1.6180339887498948482;
    for (int i = 0; i < 12; i++) {
        double *p = ico->vertex[i];
        int axis = i / 4;
        p[axis] = 0;
        p[(axis + 1) % 3] = i & 1 ? -1 : 1;
        p[(axis + 2) % 3] = i & 2 ? -golden : golden;
    }
    int edges = 0, faces = 0;
    memset(ico->edge_of, -1, sizeof ico->edge_of);
    for (int a = 0; a < 12; a++)
        for (int b = a + 1; b < 12; b++) {
            double square = 0;
            for (int k = 0; k < 3; k++) {
                double d = ico->vertex[a][k] - ico->vertex[b][k];
                square += d * d;
            }
            /* neighbours are at distance 2, the others at 2 golden or more */
            if (square > 5) continue;
            ico->edge[edges][0] = a;
            ico->edge[edges][1] = b;
            ico->edge_of[a][b] = ico->edge_of[b][a] = edges++;
        }
    static const double origin[3] = {0, 0, 0};
    for (int a = 0; a < 12; a++)
        for (int b = a + 1; b < 12; b++)
            for (int c = b + 1; c < 12; c++) {
                if (ico->edge_of[a][b] < 0 || ico->edge_of[b][c] < 0 || ico->edge_of[a][c] < 0)
                    continue;
                bool outward =
                    brio__tet_volume6(origin, ico->vertex[a], ico->vertex[b], ico->vertex[c]) > 0;
                int *face = ico->face[faces++];
                face[0] = a;
                face[1] = outward ? b : c;
                face[2] = outward ? c : b;
            }
}

int64_t brio__icosphere_vertex(const BrioIcosahedron *ico, int face, const int64_t w[3])
{
    const int *corner = ico->face[face];
    int64_t layer = w[0] + w[1] + w[2];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        if (w[i] == layer) return corner[i];
        if (w[i] == 0 && w[j] > 0 && w[k] > 0) {
            int edge = ico->edge_of[corner[j]][corner[k]];
            return 12 + edge * (layer - 1) + (ico->edge[edge][0] == corner[j] ? w[k] : w[j]) - 1;
        }
    }
    /* Inside: row w[2] = 1, 2, ... has layer - 1 - w[2] places. */
    int64_t row = w[2] - 1, place = w[1] - 1, before = row * (layer - 2) - row * (row - 1) / 2;
    return 12 + 30 * (layer - 1) + face * ((layer - 1) * (layer - 2) / 2) + before + place;
}

/* a + b + c, the same for every order of the three: smallest magnitude first. */
static double sum3(double a, double b, double c)
{
    double fa = fabs(a), fb = fabs(b), fc = fabs(c);
    if (fc >= fa && fc >= fb) return (a + b) + c;
    if (fb >= fa && fb >= fc) return (a + c) + b;
    return (b + c) + a;
}

void brio__icosphere_point(const BrioIcosahedron *ico, int face, const int64_t w[3],
                           double point[3])
{
    const int *corner = ico->face[face];
    double square = 0;
    for (int k = 0; k < 3; k++) {
        point[k] =
            sum3((double)w[0] * ico->vertex[corner[0]][k], (double)w[1] * ico->vertex[corner[1]][k],
                 (double)w[2] * ico->vertex[corner[2]][k]);
        square += point[k] * point[k];
    }
    double scale = sqrt(square);
    for (int k = 0; k < 3; k++) point[k] /= scale;
}

static const BrioField sphere_fields[] = {
    BRIO_LENGTH("radius", 0.5, "Radius of the sphere, whose centre is the origin."),
    {"subdivisions", BRIO_INTEGER, "", 3, 0, 12, 0,
     "How often each of the 20 triangles of an icosahedron is divided into four."},
    {0},
};

static BrioStatus make_sphere(const double *values, BrioMesh **mesh, BrioError *error)
{
    int64_t n = (int64_t)1 << (int)values[1];
    BRIO_CHECK(brio__mesh_create(10 * n * n + 2, 0, 20 * n * n, 0, mesh, error));
    BrioMesh *created = *mesh;
    BrioIcosahedron ico;
    brio__icosahedron(&ico);
    int32_t *triangle = created->triangle;
    for (int face = 0; face < 20; face++)
        for (int64_t c = 0; c <= n; c++)
            for (int64_t b = 0; b + c <= n; b++) {
                const int64_t w[3] = {n - b - c, b, c};
                double point[3];
                int64_t v = brio__icosphere_vertex(&ico, face, w);
                brio__icosphere_point(&ico, face, w, point);
                for (int k = 0; k < 3; k++) created->x[3 * v + k] = values[0] * point[k];
                if (w[0] == 0) continue;
                const int64_t right[3] = {w[0] - 1, b + 1, c}, up[3] = {w[0] - 1, b, c + 1};
                int32_t r = (int32_t)brio__icosphere_vertex(&ico, face, right);
                int32_t u = (int32_t)brio__icosphere_vertex(&ico, face, up);
                *triangle++ = (int32_t)v;
                *triangle++ = r;
                *triangle++ = u;
                if (b == 0) continue;
                const int64_t left[3] = {w[0], b - 1, c + 1};
                *triangle++ = (int32_t)v;
                *triangle++ = u;
                *triangle++ = (int32_t)brio__icosphere_vertex(&ico, face, left);
            }
    return brio__shape_edges(mesh, error);
}

const BrioShape brio__shape_sphere = {
    .name = "sphere",
    .summary = "a closed surface of triangles and springs, centred at the origin",
    .kind = "springs",
    .fields = sphere_fields,
    .make = make_sphere,
};
