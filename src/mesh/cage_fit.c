/* Nodes of a cage from values of the surface's vertices: an affine fit, and conjugate gradients for
 * the rest (cage.h). Serial, so the same bits for any number of threads. */
#include "cage.h"

#include <string.h>

#define SMOOTH 1e-6    /* weight of the differences along edges */
#define ACCURACY 1e-13 /* of the residual, relative to the first */
enum { ITERATIONS = 2000 };

static double dot(int64_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k++) sum += a[k] * b[k];
    return sum;
}

static void map_nodes(const BrioCage *c, const double *nodes, double *vertices)
{
    for (int64_t v = 0; v < c->vertex_count; v++)
        for (int r = 0; r < 3; r++) {
            double sum = 0;
            for (int k = 0; k < 4; k++)
                sum += c->weight[4 * v + k] * nodes[3 * (int64_t)c->node[4 * v + k] + r];
            vertices[3 * v + r] = sum;
        }
}

/* nodes = J^T vertices */
static void gather(const BrioCage *c, const double *vertices, double *nodes)
{
    memset(nodes, 0, 3 * (size_t)c->node_count * sizeof *nodes);
    for (int64_t v = 0; v < c->vertex_count; v++)
        for (int k = 0; k < 4; k++)
            for (int r = 0; r < 3; r++)
                nodes[3 * (int64_t)c->node[4 * v + k] + r] +=
                    c->weight[4 * v + k] * vertices[3 * v + r];
}

/* out = (J^T J + SMOOTH L) d; `seen`: room for the vertices */
static void apply(const BrioCage *c, const double *d, double *seen, double *out)
{
    map_nodes(c, d, seen);
    gather(c, seen, out);
    for (int64_t t = 0; t < c->tet_count; t++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < i; j++) {
                int64_t a = 3 * (int64_t)c->tet[4 * t + i], b = 3 * (int64_t)c->tet[4 * t + j];
                for (int r = 0; r < 3; r++) {
                    double pull = SMOOTH * (d[a + r] - d[b + r]);
                    out[a + r] += pull;
                    out[b + r] -= pull;
                }
            }
}

static void vertex_at_rest(const BrioCage *c, int64_t v, const double centre[3], double y[4])
{
    y[0] = 1;
    for (int r = 0; r < 3; r++) {
        double sum = 0;
        for (int k = 0; k < 4; k++)
            sum += c->weight[4 * v + k] * c->x[3 * (int64_t)c->node[4 * v + k] + r];
        y[r + 1] = (sum - centre[r]) / c->edge;
    }
}

/* The affine function of the rest positions that is nearest to r, by least squares, is added to the
 * nodes and taken from r. A flat or straight cloud of vertices leaves directions open: a small
 * diagonal keeps these at rest. */
static void take_affine(const BrioCage *c, double *r, double *nodes)
{
    double centre[3] = {0, 0, 0}, a[4][7] = {{0}}, y[4];
    for (int64_t i = 0; i < 3 * c->node_count; i++)
        centre[i % 3] += c->x[i] / (double)c->node_count;
    for (int64_t v = 0; v < c->vertex_count; v++) {
        vertex_at_rest(c, v, centre, y);
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) a[i][j] += y[i] * y[j];
            for (int k = 0; k < 3; k++) a[i][4 + k] += y[i] * r[3 * v + k];
        }
    }
    for (int i = 1; i < 4; i++) a[i][i] += 1e-12 * (double)c->vertex_count;
    for (int k = 0; k < 4; k++)
        for (int i = k + 1; i < 4; i++) {
            double factor = a[i][k] / a[k][k];
            for (int j = k; j < 7; j++) a[i][j] -= factor * a[k][j];
        }
    for (int k = 3; k >= 0; k--)
        for (int j = 4; j < 7; j++) {
            for (int i = k + 1; i < 4; i++) a[k][j] -= a[k][i] * a[i][j];
            a[k][j] /= a[k][k];
        }
    for (int64_t i = 0; i < c->node_count; i++)
        for (int k = 0; k < 3; k++) {
            double sum = a[0][4 + k];
            for (int j = 0; j < 3; j++)
                sum += a[j + 1][4 + k] * (c->x[3 * i + j] - centre[j]) / c->edge;
            nodes[3 * i + k] += sum;
        }
    for (int64_t v = 0; v < c->vertex_count; v++) {
        vertex_at_rest(c, v, centre, y);
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 4; i++) r[3 * v + k] -= a[i][4 + k] * y[i];
    }
}

/* Adds the d of conjugate gradients to the nodes. `work`: four vectors of nodes, one of vertices.
 */
static void solve(const BrioCage *c, const double *r, double scale, double *nodes, double *work)
{
    int64_t n = 3 * c->node_count;
    double *g = work, *p = g + n, *q = p + n, *d = q + n, *seen = d + n;
    gather(c, r, g);
    memcpy(p, g, (size_t)n * sizeof *p);
    memset(d, 0, (size_t)n * sizeof *d);
    double now = dot(n, g, g), end = ACCURACY * ACCURACY * scale;
    for (int i = 0; i < ITERATIONS && now > end; i++) {
        apply(c, p, seen, q);
        double along = dot(n, p, q);
        if (!(along > 0)) break;
        double step = now / along, before = now;
        for (int64_t k = 0; k < n; k++) {
            d[k] += step * p[k];
            g[k] -= step * q[k];
        }
        now = dot(n, g, g);
        for (int64_t k = 0; k < n; k++) p[k] = g[k] + now / before * p[k];
    }
    for (int64_t k = 0; k < n; k++) nodes[k] += d[k];
}

BrioStatus brio__cage_fit(const BrioCage *c, const double *values, double *nodes)
{
    size_t n = 3 * (size_t)c->node_count, m = 3 * (size_t)c->vertex_count;
    double *r = brio__alloc(2 * m + 4 * n + 1, sizeof *r), largest = 0, size = 0;
    if (!r) return BRIO_ERROR_MEMORY;
    map_nodes(c, nodes, r);
    for (size_t k = 0; k < m; k++) {
        r[k] = values[k] - r[k];
        largest = fmax(largest, fabs(r[k]));
        size = fmax(size, fabs(values[k]));
    }
    if (largest > 4e-16 * size) { /* more than round-off */
        double *work = r + m;
        gather(c, r, work);
        double scale = dot((int64_t)n, work, work);
        take_affine(c, r, nodes);
        solve(c, r, scale, nodes, work);
    }
    brio__free(r);
    return BRIO_OK;
}
