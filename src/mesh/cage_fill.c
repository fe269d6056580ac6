/* What is inside of a surface: samples on lines along the axes (cage.h).
 *
 * A line enters the body where it meets a triangle from outside and leaves it where it meets one
 * from inside; a sample is inside while more have been entered than left. On a closed surface the
 * count ends at 0 on every line, and lines along x are enough. On a surface with holes some lines
 * do not, and say nothing; the others of the three lines through a sample vote [Nooruddin2003].
 *
 * Whether a line meets a triangle is decided by the signs of three products in the plane across it,
 * which are computed alike for both triangles of an edge: no line slips between two neighbours. */
#include "lattice.h"

#include "../sets.h"
#include "../vec.h"

#include <stdlib.h>
#include <string.h>

/* Samples along the edge of a cube, and how many there may be in all. */
enum { SAMPLES_MIN = 4, SAMPLES_MAX = 8 };
#define SAMPLES 1.6e7

typedef struct Grid {
    BrioLattice *l;
    int per_cube;
    int64_t count[3], all;
    double spacing;
    int64_t again; /* times that samples are inside more than once */
    int16_t *step; /* change of the count of a line before each sample */
    int8_t *vote;  /* of the lines: inside less outside */
} Grid;

/* Off the middles of their cells by multiples of irrational numbers, so that samples are spread
 * over the tets and lines do not run along the edges of meshes. */
static double sample_at(const Grid *g, int axis, int64_t i)
{
    static const double turn[3] = {0.7548776662466927, 0.5698402909980532, 0.6180339887498949};
    double off = turn[axis] * (double)(i + 1);
    return g->l->origin[axis] + g->spacing * ((double)i + 0.3 + 0.4 * (off - floor(off)));
}

static int64_t sample_index(const Grid *g, const int64_t at[3])
{
    return at[0] + g->count[0] * (at[1] + g->count[1] * at[2]);
}

/* The first sample beyond a coordinate. */
static int64_t first_beyond(const Grid *g, int axis, double x)
{
    double place = ceil((x - sample_at(g, axis, 0)) / g->spacing);
    int64_t i = (int64_t)fmax(fmin(place, (double)g->count[axis]), 0);
    while (i > 0 && sample_at(g, axis, i - 1) > x) i--;
    while (i < g->count[axis] && sample_at(g, axis, i) <= x) i++;
    return i;
}

/* Twice the area of (a, b, p) in the plane across the axis: the same number, or the opposite one,
 * for (b, a, p). */
static double side(const double *x, int32_t a, int32_t b, int u, int v, double pu, double pv)
{
    double sign = 1;
    if (a > b) {
        int32_t swap = a;
        a = b;
        b = swap;
        sign = -1;
    }
    const double *A = x + 3 * (int64_t)a, *B = x + 3 * (int64_t)b;
    double area = (B[u] - A[u]) * (pv - A[v]) - (B[v] - A[v]) * (pu - A[u]);
    return sign * (area == 0 ? 1e-300 : area);
}

/* Where the line through (pu, pv) meets the triangle: 1 from its back, -1 from its front, 0: not.
 */
static int meets(const double *x, const int32_t *n, int axis, double pu, double pv, double *at)
{
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    double a = side(x, n[1], n[2], u, v, pu, pv);
    double b = side(x, n[2], n[0], u, v, pu, pv);
    double c = side(x, n[0], n[1], u, v, pu, pv);
    if (!((a > 0 && b > 0 && c > 0) || (a < 0 && b < 0 && c < 0))) return 0;
    *at = (a * x[3 * (int64_t)n[0] + axis] + b * x[3 * (int64_t)n[1] + axis] +
           c * x[3 * (int64_t)n[2] + axis]) /
          (a + b + c);
    return a > 0 ? 1 : -1;
}

/* A triangle whose normal points along the axis is left behind: the count falls. */
static void cross(Grid *g, const int32_t *n, int axis)
{
    const double *x = g->l->surface->x;
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    int64_t at[3], low[3], high[3];
    for (int r = 0; r < 3; r++) {
        const double a = x[3 * (int64_t)n[0] + r], b = x[3 * (int64_t)n[1] + r];
        const double c = x[3 * (int64_t)n[2] + r];
        low[r] = first_beyond(g, r, nextafter(fmin(a, fmin(b, c)), -INFINITY));
        high[r] = first_beyond(g, r, fmax(a, fmax(b, c)));
    }
    for (at[u] = low[u]; at[u] < high[u]; at[u]++)
        for (at[v] = low[v]; at[v] < high[v]; at[v]++) {
            double place;
            int way = meets(x, n, axis, sample_at(g, u, at[u]), sample_at(g, v, at[v]), &place);
            if (!way) continue;
            at[axis] = first_beyond(g, axis, place);
            if (at[axis] == g->count[axis]) at[axis]--; /* the last cell is outside */
            int16_t *step = &g->step[sample_index(g, at)];
            if (*step > -30000 && *step < 30000) *step = (int16_t)(*step - way);
        }
}

/* The votes of all lines along an axis. */
static void cast(Grid *g, int axis)
{
    const BrioMesh *mesh = g->l->surface;
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    int64_t at[3];
    memset(g->step, 0, (size_t)g->all * sizeof *g->step);
    for (int64_t t = 0; t < mesh->triangle_count; t++) cross(g, mesh->triangle + 3 * t, axis);
    for (at[u] = 0; at[u] < g->count[u]; at[u]++)
        for (at[v] = 0; at[v] < g->count[v]; at[v]++) {
            int end = 0, now = 0;
            for (at[axis] = 0; at[axis] < g->count[axis]; at[axis]++)
                end += g->step[sample_index(g, at)];
            if (end != 0) continue; /* it has come through a hole */
            for (at[axis] = 0; at[axis] < g->count[axis]; at[axis]++) {
                int64_t i = sample_index(g, at);
                now += g->step[i];
                g->again += BRIO_MAX((g->l->inward ? -now : now) - 1, 0);
                g->vote[i] = (int8_t)(g->vote[i] + ((g->l->inward ? -now : now) > 0 ? 1 : -1));
            }
        }
}

/* Counts the samples of each tet. */
static void count_samples(Grid *g, BrioCageSample *use, void *context)
{
    BrioLattice *l = g->l;
    double volume = g->spacing * g->spacing * g->spacing;
    int64_t at[3], i = 0;
    for (at[2] = 0; at[2] < g->count[2]; at[2]++)
        for (at[1] = 0; at[1] < g->count[1]; at[1]++)
            for (at[0] = 0; at[0] < g->count[0]; at[0]++, i++) {
                double p[3];
                for (int r = 0; r < 3; r++) p[r] = sample_at(g, r, at[r]);
                int64_t tet = brio__lattice_locate(l, p);
                if (tet < 0) continue;
                l->count[tet]++;
                if (g->vote[i] <= 0) continue;
                l->in[tet]++;
                l->inside += volume;
                if (l->passed[tet]) use(context, tet, p, volume);
            }
}

BrioStatus brio__lattice_sample(BrioLattice *l, BrioCageSample *use, void *context)
{
    double cubes = (double)l->cubes[0] * (double)l->cubes[1] * (double)l->cubes[2];
    Grid g = {.l = l, .per_cube = (int)cbrt(SAMPLES / cubes), .all = 1};
    g.per_cube = BRIO_MAX(SAMPLES_MIN, BRIO_MIN(g.per_cube, SAMPLES_MAX));
    g.spacing = l->edge / g.per_cube;
    for (int r = 0; r < 3; r++) {
        g.count[r] = g.per_cube * l->cubes[r];
        g.all *= g.count[r];
    }
    g.step = brio__alloc((size_t)g.all, sizeof *g.step);
    g.vote = brio__calloc((size_t)g.all, sizeof *g.vote);
    BrioStatus status = g.step && g.vote ? BRIO_OK : BRIO_ERROR_MEMORY;
    for (int axis = 0; status == BRIO_OK && axis < (l->closed ? 1 : 3); axis++) cast(&g, axis);
    if (status == BRIO_OK) count_samples(&g, use, context);
    l->twice = (double)g.again * g.spacing * g.spacing * g.spacing;
    brio__free(g.step);
    brio__free(g.vote);
    return status;
}

/* ---- holes ------------------------------------------------------------------------------ */

typedef struct Rim {
    uint64_t key; /* smaller, larger vertex */
    int32_t a, b;
} Rim;

static int by_key(const void *x, const void *y)
{
    const Rim *p = x, *q = y;
    return (p->key > q->key) - (p->key < q->key);
}

/* Leaves the edges of one triangle only, and returns how many there are. */
static int64_t find_rims(const BrioMesh *mesh, Rim *rim)
{
    int64_t count = 3 * mesh->triangle_count, kept = 0;
    for (int64_t i = 0; i < count; i++) {
        int32_t a = mesh->triangle[i], b = mesh->triangle[i % 3 == 2 ? i - 2 : i + 1];
        rim[i] = (Rim){(uint64_t)BRIO_MIN(a, b) << 32 | (uint32_t)BRIO_MAX(a, b), a, b};
    }
    qsort(rim, (size_t)count, sizeof *rim, by_key);
    for (int64_t i = 0; i < count; i++) {
        bool before = i > 0 && rim[i - 1].key == rim[i].key;
        bool after = i + 1 < count && rim[i + 1].key == rim[i].key;
        if (!before && !after) rim[kept++] = rim[i];
    }
    return kept;
}

static double fan_area(const double *a, const double *b, const double *c)
{
    double n[3];
    brio__triangle_normal(a, b, c, n);
    return brio__norm3(n) / 2;
}

/* Rims that share vertices are one hole. */
static double hole_area(const BrioMesh *mesh, const Rim *rim, int64_t rims, int32_t *parent,
                        double *centre)
{
    double area = 0;
    for (int64_t v = 0; v < mesh->vertex_count; v++) parent[v] = (int32_t)v;
    for (int64_t i = 0; i < rims; i++)
        parent[brio__set_root(parent, rim[i].a)] = brio__set_root(parent, rim[i].b);
    memset(centre, 0, 4 * (size_t)mesh->vertex_count * sizeof *centre);
    for (int64_t i = 0; i < rims; i++) {
        double *c = centre + 4 * (int64_t)brio__set_root(parent, rim[i].a);
        for (int r = 0; r < 3; r++)
            c[r] += (mesh->x[3 * (int64_t)rim[i].a + r] + mesh->x[3 * (int64_t)rim[i].b + r]) / 2;
        c[3]++;
    }
    for (int64_t i = 0; i < rims; i++) {
        const double *c = centre + 4 * (int64_t)brio__set_root(parent, rim[i].a);
        double middle[3] = {c[0] / c[3], c[1] / c[3], c[2] / c[3]};
        area += fan_area(mesh->x + 3 * (int64_t)rim[i].a, mesh->x + 3 * (int64_t)rim[i].b, middle);
    }
    return area;
}

BrioStatus brio__lattice_holes(const BrioMesh *mesh, double *fraction, int64_t *edges)
{
    Rim *rim = brio__alloc(3 * (size_t)mesh->triangle_count + 1, sizeof *rim);
    int32_t *parent = brio__alloc((size_t)mesh->vertex_count + 1, sizeof *parent);
    double *centre = brio__alloc(4 * (size_t)mesh->vertex_count + 1, sizeof *centre), area = 0;
    BrioStatus status = rim && parent && centre ? BRIO_OK : BRIO_ERROR_MEMORY;
    for (int64_t t = 0; t < mesh->triangle_count; t++)
        area += fan_area(mesh->x + 3 * (int64_t)mesh->triangle[3 * t],
                         mesh->x + 3 * (int64_t)mesh->triangle[3 * t + 1],
                         mesh->x + 3 * (int64_t)mesh->triangle[3 * t + 2]);
    if (status == BRIO_OK) {
        *edges = find_rims(mesh, rim);
        *fraction = area > 0 ? hole_area(mesh, rim, *edges, parent, centre) / area : 1;
    }
    brio__free(rim);
    brio__free(parent);
    brio__free(centre);
    return status;
}
