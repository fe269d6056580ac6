/* Closed surfaces. The winding number of a point p is the sum of the solid angles of all triangles
 * over 4 pi, each of them
 *
 *     2 atan2(a.(b x c), |a||b||c| + (a.b)|c| + (b.c)|a| + (c.a)|b|)
 *
 * with a, b, c the corners as seen from p [VanOosterom1983]. */
#include "within.h"

#include "../distance.h"
#include "../sets.h"
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

/* ---- components ------------------------------------------------------------------------- */

typedef struct Component {
    BrioShell shell;
    double volume, low[3], high[3];
} Component;

/* Numbers the components; of[t] is that of triangle t. */
static int32_t number_components(const int32_t *triangle, int64_t count, int64_t vertices,
                                 int32_t *parent, int32_t *of)
{
    int32_t components = 0;
    for (int64_t v = 0; v < vertices; v++) parent[v] = (int32_t)v;
    for (int64_t k = 0; k < 3 * count; k++)
        parent[brio__set_root(parent, triangle[k])] = brio__set_root(parent, triangle[k / 3 * 3]);
    for (int64_t t = 0; t < count; t++) of[t] = brio__set_root(parent, triangle[3 * t]);
    for (int64_t v = 0; v < vertices; v++) parent[v] = -1; /* from here on: numbers of roots */
    for (int64_t t = 0; t < count; t++) {
        if (parent[of[t]] < 0) parent[of[t]] = components++;
        of[t] = parent[of[t]];
    }
    return components;
}

/* The triangles by component, with their volumes and boxes. */
static void gather_components(const int32_t *triangle, int64_t count, const int32_t *of,
                              const double *x, Component *c, int32_t components, int32_t *sorted)
{
    int64_t begin = 0;
    for (int64_t t = 0; t < count; t++) c[of[t]].shell.count++;
    for (int32_t k = 0; k < components; k++) {
        c[k].shell.triangle = sorted + 3 * begin;
        begin += c[k].shell.count;
        c[k].shell.count = 0;
        for (int r = 0; r < 3; r++) c[k].low[r] = INFINITY, c[k].high[r] = -INFINITY;
    }
    for (int64_t k = 0; k < 3 * count; k++) {
        Component *own = &c[of[k / 3]];
        int64_t to = own->shell.triangle - sorted + 3 * own->shell.count + k % 3;
        sorted[to] = triangle[k];
        own->shell.count += k % 3 == 2;
        for (int r = 0; r < 3; r++) {
            own->low[r] = fmin(own->low[r], x[3 * (int64_t)triangle[k] + r]);
            own->high[r] = fmax(own->high[r], x[3 * (int64_t)triangle[k] + r]);
        }
    }
    for (int32_t k = 0; k < components; k++) c[k].volume = brio__shell_volume6(&c[k].shell, x);
}

/* Whether one of some corners is: components may touch, and on a face nothing is known. */
static bool is_within(const Component *inner, const Component *outer, const double *x)
{
    enum { SOME = 64 };
    int64_t corners = 3 * inner->shell.count, step = corners / SOME + 1;
    step += step % 3 == 0; /* not only the first corner of each triangle */
    for (int64_t k = 0; k < corners; k += step) {
        const double *p = x + 3 * (int64_t)inner->shell.triangle[k];
        bool outside = false;
        for (int r = 0; r < 3; r++) outside |= p[r] < outer->low[r] || p[r] > outer->high[r];
        /* on a face it is a half */
        if (!outside && fabs(brio__shell_winding(&outer->shell, x, p)) > 0.6) return true;
    }
    return false;
}

BrioStatus brio__shell_outward(int32_t *triangle, int64_t count, int64_t vertices, const double *x)
{
    int32_t *parent = brio__alloc((size_t)vertices + 1, sizeof *parent), components = 0;
    int32_t *of = brio__alloc((size_t)count + 1, sizeof *of);
    int32_t *sorted = brio__alloc(3 * (size_t)count + 1, sizeof *sorted);
    Component *c = NULL;
    if (parent && of && sorted) {
        components = number_components(triangle, count, vertices, parent, of);
        c = brio__calloc((size_t)components + 1, sizeof *c);
    }
    if (c) gather_components(triangle, count, of, x, c, components, sorted);
    bool any = false;
    for (int32_t k = 0; c && k < components; k++) any |= c[k].volume < 0;
    for (int32_t k = 0; any && k < components; k++) {
        int32_t outer = k; /* the largest one around it */
        for (int32_t o = 0; o < components; o++)
            if (fabs(c[o].volume) > fabs(c[outer].volume) && is_within(&c[k], &c[o], x)) outer = o;
        parent[k] = c[outer].volume < 0; /* there are at most as many as vertices */
    }
    for (int64_t t = 0; any && t < count; t++) {
        int32_t *v = triangle + 3 * t, swap = v[1];
        if (!parent[of[t]]) continue;
        v[1] = v[2];
        v[2] = swap;
    }
    brio__free(parent);
    brio__free(of);
    brio__free(sorted);
    brio__free(c);
    return c ? BRIO_OK : BRIO_ERROR_MEMORY;
}

/* ---- points ----------------------------------------------------------------------------- */

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
