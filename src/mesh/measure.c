/* Quality of a tet: 12 (3V)^(2/3) / sum of squared edges, of a triangle: 4 sqrt(3) area / that sum
 * [Liu1994]. Edges are counted by sorting them: one that has another number of triangles than two
 * is open or branching. */
#include "measure.h"

#include "../sets.h"
#include "../vec.h"

#include <stdlib.h>
#include <string.h>

#define MIN_VOLUME \
    1e-10 /* of a tet, relative to its longest edge cubed, as brio__mesh_check_solid has it */
#define MIN_AREA                                                                                 \
    1e-8 /* of a triangle twice, relative to its longest edge squared, as brio__mesh_check_shell \
            has it */

static BrioStatus no_memory(BrioError *error)
{
    return brio__error(error, BRIO_ERROR_MEMORY, "out of memory while measuring a mesh");
}

static double degrees_between(const double *a, const double *b)
{
    double size = sqrt(brio__dot3(a, a) * brio__dot3(b, b)),
           cosine = size > 0 ? brio__dot3(a, b) / size : 1;
    return acos(fmin(fmax(cosine, -1), 1)) * (180 / 3.14159265358979323846);
}

/* ---- elements --------------------------------------------------------------------------- */

static void take_quality(BrioMeasure *m, int64_t element, double quality)
{
    int bin = quality > 0 ? (int)(quality * BRIO_QUALITY_BINS) : 0;
    m->quality[BRIO_MIN(bin, BRIO_QUALITY_BINS - 1)]++;
    m->quality_mean += quality;
    if (quality < m->quality_min) m->quality_min = quality, m->quality_worst = element;
}

static void take_angle(BrioMeasure *m, double degrees)
{
    m->angle_min = fmin(m->angle_min, degrees);
    m->angle_max = fmax(m->angle_max, degrees);
}

static void measure_tet(const BrioMesh *mesh, int64_t t, BrioMeasure *m)
{
    static const int face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}; /* outward */
    const double *p[4];
    double squares = 0, longest = 0, n[4][3];
    for (int i = 0; i < 4; i++) p[i] = mesh->x + 3 * (int64_t)mesh->tet[4 * t + i];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++) {
            double square = brio__square_distance3(p[i], p[j]);
            squares += square;
            longest = fmax(longest, square);
        }
    double volume = brio__tet_volume6(p[0], p[1], p[2], p[3]) / 6;
    double limit = MIN_VOLUME * longest * sqrt(longest);
    m->volume += volume;
    if (volume < -limit && m->inverted++ == 0) m->first_inverted = t;
    if (fabs(volume) <= limit && m->flat++ == 0) m->first_flat = t;
    double ratio = squares > 0 ? 12 * cbrt(9 * volume * volume) / squares : 0;
    take_quality(m, t, volume < 0 ? -ratio : ratio);
    for (int f = 0; f < 4; f++)
        brio__triangle_normal(p[face[f][0]], p[face[f][1]], p[face[f][2]], n[f]);
    for (int f = 0; f < 4; f++)
        for (int g = 0; g < f; g++) take_angle(m, 180 - degrees_between(n[f], n[g]));
}

static void measure_triangle(const BrioMesh *mesh, int64_t t, BrioMeasure *m, bool element)
{
    const int32_t *v = mesh->triangle + 3 * t;
    const double *p[3];
    double squares = 0, longest = 0, n[3];
    for (int i = 0; i < 3; i++) p[i] = mesh->x + 3 * (int64_t)v[i];
    for (int i = 0; i < 3; i++) {
        double square = brio__square_distance3(p[i], p[(i + 1) % 3]);
        squares += square;
        longest = fmax(longest, square);
    }
    brio__triangle_normal(p[0], p[1], p[2], n);
    double twice = sqrt(brio__dot3(n, n));
    m->area += twice / 2;
    if (!element) return;
    if (!(twice > MIN_AREA * longest) && m->flat++ == 0) m->first_flat = t;
    take_quality(m, t, squares > 0 ? 2 * sqrt(3) * twice / squares : 0);
    for (int i = 0; i < 3; i++) {
        double a[3], b[3];
        for (int k = 0; k < 3; k++) {
            a[k] = p[(i + 1) % 3][k] - p[i][k];
            b[k] = p[(i + 2) % 3][k] - p[i][k];
        }
        take_angle(m, degrees_between(a, b));
    }
}

/* Six times the volume that triangles enclose, from an apex among the vertices. */
static double enclosed6(const BrioMesh *mesh)
{
    double volume = 0;
    const double *x = mesh->x;
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        const int32_t *v = mesh->triangle + 3 * t;
        volume += brio__tet_volume6(x, x + 3 * (int64_t)v[0], x + 3 * (int64_t)v[1],
                                    x + 3 * (int64_t)v[2]);
    }
    return volume;
}

/* ---- edges ------------------------------------------------------------------------------ */

/* The smaller vertex, the larger one. */
static uint64_t key_of(int32_t a, int32_t b)
{
    return (uint64_t)BRIO_MIN(a, b) << 32 | (uint32_t)BRIO_MAX(a, b);
}

static BrioStatus measure_lengths(const BrioMesh *mesh, BrioMeasure *m)
{
    int64_t count = 0;
    int64_t room =
        mesh->tet_count ? 6 * mesh->tet_count : 3 * mesh->triangle_count + mesh->edge_count;
    uint64_t *key = brio__alloc((size_t)room + 1, sizeof *key);
    if (!key) return BRIO_ERROR_MEMORY;
    for (int64_t t = 0; t < mesh->tet_count; t++)
        for (int i = 1; i < 4; i++)
            for (int j = 0; j < i; j++)
                key[count++] = key_of(mesh->tet[4 * t + i], mesh->tet[4 * t + j]);
    if (!mesh->tet_count) {
        for (int64_t k = 0; k < 3 * mesh->triangle_count; k++)
            key[count++] = key_of(mesh->triangle[k], mesh->triangle[k % 3 == 2 ? k - 2 : k + 1]);
        for (int64_t e = 0; e < mesh->edge_count; e++)
            key[count++] = key_of(mesh->edge[2 * e], mesh->edge[2 * e + 1]);
    }
    qsort(key, (size_t)count, sizeof *key, brio__ascending_keys);
    for (int64_t k = 0; k < count; k++) {
        if (k && key[k] == key[k - 1]) continue;
        double length = sqrt(brio__square_distance3(mesh->x + 3 * (int64_t)(key[k] >> 32),
                                                    mesh->x + 3 * (int64_t)(uint32_t)key[k]));
        m->edge_min = fmin(m->edge_min, length);
        m->edge_max = fmax(m->edge_max, length);
        m->edge_mean += length;
        m->edges++;
    }
    if (m->edges) m->edge_mean /= (double)m->edges;
    brio__free(key);
    return BRIO_OK;
}

typedef struct Side {
    uint64_t key;
    bool forward; /* from the smaller vertex to the larger */
} Side;

static void count_edge(int64_t *count, int32_t first[2], uint64_t key)
{
    if ((*count)++) return;
    first[0] = (int32_t)(key >> 32);
    first[1] = (int32_t)(uint32_t)key;
}

/* Sides of the triangles in order: equal ones are the triangles of one edge. */
static BrioStatus measure_surface(const BrioMesh *mesh, BrioMeasure *m)
{
    int64_t count = 3 * mesh->triangle_count;
    Side *side = brio__alloc((size_t)count + 1, sizeof *side);
    if (!side) return BRIO_ERROR_MEMORY;
    for (int64_t k = 0; k < count; k++) {
        int32_t a = mesh->triangle[k], b = mesh->triangle[k % 3 == 2 ? k - 2 : k + 1];
        side[k] = (Side){key_of(a, b), a < b};
    }
    /* the key comes first in the struct */
    qsort(side, (size_t)count, sizeof *side, brio__ascending_keys);
    for (int64_t k = 0, next; k < count; k = next) {
        int64_t forward = 0;
        for (next = k; next < count && side[next].key == side[k].key; next++)
            forward += side[next].forward;
        if (next - k == 1) count_edge(&m->open_edges, m->first_open, side[k].key);
        if (next - k > 2) count_edge(&m->branching_edges, m->first_branching, side[k].key);
        if (next - k == 2 && forward != 1)
            count_edge(&m->turned_edges, m->first_turned, side[k].key);
    }
    brio__free(side);
    return BRIO_OK;
}

/* ---- components ------------------------------------------------------------------------- */

static BrioStatus measure_components(const BrioMesh *mesh, BrioMeasure *m)
{
    const struct {
        const int32_t *vertex;
        int64_t count;
        int corners;
    } part[] = {{mesh->tet, mesh->tet_count, 4},
                {mesh->triangle, mesh->triangle_count, 3},
                {mesh->edge, mesh->edge_count, 2}};
    int32_t *parent = brio__alloc((size_t)mesh->vertex_count + 1, sizeof *parent);
    uint8_t *used = brio__calloc((size_t)mesh->vertex_count + 1, 1);
    if (parent && used) {
        for (int64_t v = 0; v < mesh->vertex_count; v++) parent[v] = (int32_t)v;
        for (size_t p = 0; p < BRIO_COUNT(part); p++)
            for (int64_t k = 0; k < part[p].count * part[p].corners; k++) {
                int32_t v = part[p].vertex[k];
                int32_t first = part[p].vertex[k / part[p].corners * part[p].corners];
                used[v] = 1;
                parent[brio__set_root(parent, v)] = brio__set_root(parent, first);
            }
        for (int64_t v = 0; v < mesh->vertex_count; v++) {
            m->unused += !used[v];
            m->components += used[v] && parent[v] == v;
        }
    }
    BrioStatus status = parent && used ? BRIO_OK : BRIO_ERROR_MEMORY;
    brio__free(parent);
    brio__free(used);
    return status;
}

/* ---- all -------------------------------------------------------------------------------- */

BrioStatus brio__measure(BrioMesh *mesh, BrioMeasure *m, BrioError *error)
{
    *m = (BrioMeasure){.low = {INFINITY, INFINITY, INFINITY},
                       .high = {-INFINITY, -INFINITY, -INFINITY},
                       .edge_min = INFINITY,
                       .quality_min = INFINITY,
                       .quality_worst = -1,
                       .first_inverted = -1,
                       .first_flat = -1,
                       .angle_min = INFINITY,
                       .angle_max = -INFINITY};
    BRIO_CHECK(brio__mesh_check(mesh, error));
    if (mesh->tet_count) BRIO_CHECK(brio__mesh_surface(mesh, error));
    m->vertices = mesh->vertex_count;
    m->tets = mesh->tet_count;
    m->triangles = mesh->triangle_count;
    m->lines = mesh->edge_count;
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++) {
        m->low[i % 3] = fmin(m->low[i % 3], mesh->x[i]);
        m->high[i % 3] = fmax(m->high[i % 3], mesh->x[i]);
    }
    for (int64_t t = 0; t < m->tets; t++) measure_tet(mesh, t, m);
    for (int64_t t = 0; t < m->triangles; t++) measure_triangle(mesh, t, m, m->tets == 0);
    int64_t elements = m->tets ? m->tets : m->triangles;
    if (elements) m->quality_mean /= (double)elements;
    BrioStatus status = measure_lengths(mesh, m);
    if (status == BRIO_OK) status = measure_surface(mesh, m);
    if (status == BRIO_OK) status = measure_components(mesh, m);
    if (status != BRIO_OK) return no_memory(error);
    if (!m->tets)
        m->volume = m->triangles && !m->open_edges && !m->branching_edges && !m->turned_edges
                        ? enclosed6(mesh) / 6
                        : NAN;
    m->intersections = m->triangles ? brio__exact_mesh(mesh, &m->first, 1) : 0;
    return m->intersections < 0 ? no_memory(error) : BRIO_OK;
}

BrioStatus brio__measure_closed(BrioMesh *surface, BrioError *error)
{
    if (brio__mesh_compact(surface) != BRIO_OK) return no_memory(error);
    BRIO_CHECK(brio__mesh_close(surface, error));
    BRIO_CHECK(brio__mesh_check_shell(surface, error));
    BrioIntersection at;
    int64_t count = brio__exact_mesh(surface, &at, 1);
    if (count < 0) return no_memory(error);
    if (count == 0) return BRIO_OK;
    const double *a = surface->x + 3 * (int64_t)at.edge[0];
    const double *b = surface->x + 3 * (int64_t)at.edge[1];
    return brio__error(
        error, BRIO_ERROR_INPUT,
        "the surface intersects itself: the edge of vertices %d %d, near (%.4g, %.4g, %.4g), meets "
        "triangle %lld%s (all counted from 0); repair it in a modelling program",
        at.edge[0], at.edge[1], (a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2,
        (long long)at.triangle, count > 1 ? ", and so do others elsewhere" : "");
}
