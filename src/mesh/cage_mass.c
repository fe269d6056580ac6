/* Exact moments of a cage: volumes of nodes from samples, corrected so that the nodes as point
 * masses are the same rigid body as what the surface encloses.
 *
 * Each volume is multiplied by a polynomial of its node's place, f . p(y) with
 *
 *     p = (1, y_1, y_2, y_3, y_1^2, y_2^2, y_3^2, y_1 y_2, y_2 y_3, y_3 y_1),
 *
 * y = (Y - centre)/edge. The f that give wanted moments solve
 * (sum_i volume_i p_i p_i^T) f = int p dV. First the four of volume and centre, then all ten. Nodes
 * of coarse cages stand far outside, so the second correction may want to take more from a node
 * than it has: then only as much of it is done as leaves every node FACTOR_MIN of its volume.
 * Volume and centre are kept by any part of it. */
#include "lattice.h"

#include "../vec.h"

#include <string.h>

#define FACTOR_MIN 0.2
#define FACTOR_MAX 5
enum { TERMS = 10 };

static const int first[6] = {0, 1, 2, 0, 1, 2}, other[6] = {0, 1, 2, 1, 2, 0};

/* Sums over the tets (o, a, b, c) that the triangles make with a point o: of such a tet, with
 * s = a + b + c seen from o, int X = V/4 s and int X X^T = V/20 (a a^T + b b^T + c c^T + s s^T). */
void brio__lattice_enclosed(const BrioMesh *mesh, BrioMoments *m)
{
    double o[3] = {0, 0, 0}, p[4][3], sum[3] = {0, 0, 0};
    *m = (BrioMoments){0};
    for (int64_t k = 0; k < 9 * mesh->triangle_count; k++)
        o[k % 3] += mesh->x[3 * (int64_t)mesh->triangle[k / 3] + k % 3] /
                    (3 * (double)mesh->triangle_count);
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        for (int i = 0; i < 3; i++)
            brio__subtract3(mesh->x + 3 * (int64_t)mesh->triangle[3 * t + i], o, p[i]);
        double part = brio__triple3(p[0], p[1], p[2]) / 6;
        m->volume += part;
        for (int r = 0; r < 3; r++) p[3][r] = p[0][r] + p[1][r] + p[2][r];
        for (int r = 0; r < 3; r++) sum[r] += part / 4 * p[3][r];
        for (int k = 0; k < 6; k++)
            for (int i = 0; i < 4; i++) m->second[k] += part / 20 * p[i][first[k]] * p[i][other[k]];
    }
    for (int r = 0; r < 3 && m->volume != 0; r++) sum[r] /= m->volume;
    for (int r = 0; r < 3; r++) m->centre[r] = o[r] + sum[r];
    for (int k = 0; k < 6 && m->volume != 0; k++)
        m->second[k] = m->second[k] / m->volume - sum[first[k]] * sum[other[k]];
}

/* A x = b of n unknowns by Gauss's elimination with pivots, rows of n + 1; false: singular. */
static bool solve(int n, double *a, double *x)
{
    double largest = 0;
    for (int k = 0; k < n; k++) largest = fmax(largest, fabs(a[k * (n + 1) + k]));
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i * (n + 1) + k]) > fabs(a[pivot * (n + 1) + k])) pivot = i;
        if (!(fabs(a[pivot * (n + 1) + k]) > 1e-13 * largest)) return false;
        for (int j = 0; j <= n; j++) {
            double swap = a[k * (n + 1) + j];
            a[k * (n + 1) + j] = a[pivot * (n + 1) + j];
            a[pivot * (n + 1) + j] = swap;
        }
        for (int i = k + 1; i < n; i++) {
            double factor = a[i * (n + 1) + k] / a[k * (n + 1) + k];
            for (int j = k; j <= n; j++) a[i * (n + 1) + j] -= factor * a[k * (n + 1) + j];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        x[k] = a[k * (n + 1) + n];
        for (int j = k + 1; j < n; j++) x[k] -= a[k * (n + 1) + j] * x[j];
        x[k] /= a[k * (n + 1) + k];
    }
    return true;
}

static void terms_at(const BrioCage *c, const double centre[3], int64_t node, double p[TERMS])
{
    double y[3];
    for (int r = 0; r < 3; r++) y[r] = (c->x[3 * node + r] - centre[r]) / c->edge;
    p[0] = 1;
    for (int r = 0; r < 3; r++) p[1 + r] = y[r];
    for (int k = 0; k < 6; k++) p[4 + k] = y[first[k]] * y[other[k]];
}

/* The first n moments, or as much of the way there as the factors allow. */
static void match(BrioCage *c, const BrioMoments *m, double volume, int n)
{
    double a[TERMS * (TERMS + 1)] = {0}, f[TERMS], p[TERMS], fraction = 1;
    for (int64_t i = 0; i < c->node_count; i++) {
        terms_at(c, m->centre, i, p);
        for (int k = 0; k < n * n; k++)
            a[k / n * (n + 1) + k % n] += c->volume[i] * p[k / n] * p[k % n];
    }
    a[n] = volume;
    for (int k = 4; k < n; k++)
        a[k * (n + 1) + n] = volume * m->second[k - 4] / (c->edge * c->edge);
    if (!solve(n, a, f)) return;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < c->node_count; i++) {
            double factor = 0;
            terms_at(c, m->centre, i, p);
            for (int k = 0; k < n; k++) factor += f[k] * p[k];
            if (pass)
                c->volume[i] *= 1 + fraction * (factor - 1);
            else if (factor < FACTOR_MIN)
                fraction = fmin(fraction, (1 - FACTOR_MIN) / (1 - factor));
            else if (factor > FACTOR_MAX)
                fraction = fmin(fraction, (FACTOR_MAX - 1) / (factor - 1));
        }
}

void brio__cage_correct(BrioCage *c, double volume, const BrioMoments *moments)
{
    double sampled = 0;
    for (int64_t i = 0; i < c->node_count; i++) sampled += c->volume[i];
    for (int64_t i = 0; i < c->node_count; i++) c->volume[i] *= volume / sampled;
    if (moments) {
        match(c, moments, volume, 4);
        match(c, moments, volume, TERMS);
    }
    c->enclosed = volume;
}
