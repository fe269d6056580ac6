/* Closed surfaces. The winding number of a point p is the sum of the solid angles of all triangles
 * over 4 pi, each of them
 *
 *     2 atan2(a.(b x c), |a||b||c| + (a.b)|c| + (b.c)|a| + (c.a)|b|)
 *
 * with a, b, c the corners as seen from p [VanOosterom1983]. */
#include "within.h"

#include "../distance.h"
#include "../vec.h"

#include <stdlib.h>
#include <string.h>

/* Directed edges: each must have its opposite, once. */
BrioStatus brio__shell_closed(const BrioShell *shell, bool *closed)
{
    int64_t count = 3 * shell->count;
    uint64_t *key = brio__alloc(2 * (size_t)count + 1, sizeof *key), *back = key + count;
    if (!key) return BRIO_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        uint64_t a = (uint32_t)shell->triangle[i];
        uint64_t b = (uint32_t)shell->triangle[i % 3 == 2 ? i - 2 : i + 1];
        key[i] = a << 32 | b;
        back[i] = b << 32 | a;
    }
    qsort(key, (size_t)count, sizeof *key, brio__ascending_keys);
    qsort(back, (size_t)count, sizeof *back, brio__ascending_keys);
    *closed = count > 0 && !memcmp(key, back, (size_t)count * sizeof *key);
    for (int64_t i = 1; i < count; i++) *closed &= key[i] != key[i - 1];
    brio__free(key);
    return BRIO_OK;
}

static const double *corner(const BrioShell *shell, const double *x, int64_t i)
{
    return x + 3 * (shell->first + shell->triangle[i]);
}

double brio__shell_volume6(const BrioShell *shell, const double *x)
{
    double sum = 0, a[3], b[3], c[3];
    for (int64_t t = 0; t < shell->count; t++) {
        const double *o = corner(shell, x, 0);
        brio__subtract3(corner(shell, x, 3 * t), o, a);
        brio__subtract3(corner(shell, x, 3 * t + 1), o, b);
        brio__subtract3(corner(shell, x, 3 * t + 2), o, c);
        sum += brio__triple3(a, b, c);
    }
    return sum;
}

double brio__shell_winding(const BrioShell *shell, const double *x, const double p[3])
{
    double sum = 0, a[3], b[3], c[3];
    for (int64_t t = 0; t < shell->count; t++) {
        brio__subtract3(corner(shell, x, 3 * t), p, a);
        brio__subtract3(corner(shell, x, 3 * t + 1), p, b);
        brio__subtract3(corner(shell, x, 3 * t + 2), p, c);
        double la = brio__norm3(a), lb = brio__norm3(b), lc = brio__norm3(c);
        sum += atan2(brio__triple3(a, b, c), la * lb * lc + brio__dot3(a, b) * lc +
                                                 brio__dot3(b, c) * la + brio__dot3(c, a) * lb);
    }
    return sum / (2 * 3.14159265358979323846);
}

/* A lower bound of the distance from p: that of the triangle's box. */
static double box_distance(const double *a, const double *b, const double *c, const double p[3])
{
    double sum = 0;
    for (int r = 0; r < 3; r++) {
        double low = fmin(a[r], fmin(b[r], c[r])), high = fmax(a[r], fmax(b[r], c[r]));
        double out = fmax(0, fmax(low - p[r], p[r] - high));
        sum += out * out;
    }
    return sqrt(sum);
}

double brio__shell_nearest(const BrioShell *shell, const double *x, const double p[3], double y[3])
{
    double best = INFINITY, at[12], w[4];
    memcpy(at, p, 3 * sizeof *at);
    for (int64_t t = 0; t < shell->count; t++) {
        const double *a = corner(shell, x, 3 * t), *b = corner(shell, x, 3 * t + 1);
        const double *c = corner(shell, x, 3 * t + 2);
        if (box_distance(a, b, c, p) >= best) continue;
        memcpy(at + 3, a, 3 * sizeof *at);
        memcpy(at + 6, b, 3 * sizeof *at);
        memcpy(at + 9, c, 3 * sizeof *at);
        double d = brio__closest_vertex_face(at, w);
        if (!(d < best)) continue;
        best = d;
        for (int r = 0; r < 3; r++) y[r] = -w[1] * a[r] - w[2] * b[r] - w[3] * c[r];
    }
    return best;
}
