/* Closest points: the interior of the face (of both edges) first, then all edges (all ends), the
 * nearest of these.
 *
 * The interior candidate is the unconstrained least-squares problem min |r - k1 e1 - k2 e2|, solved
 * by Gram-Schmidt rather than by the normal equations: with e2' = e2 - (e1.e2/e1.e1) e1 and r' = r
 * less its part along e1, k2 = r'.e2'/e2'.e2'. The error of k2 is large for slivers and nearly
 * parallel edges, but it moves the point by a rounding error only. A candidate that lies outside,
 * or has no solution, is left to the boundary, which always has one. */
#include "distance.h"

#include <math.h>
#include <stdbool.h>

/* Squares of sizes in this range neither overflow nor lose bits. */
#define LARGEST_SIZE 1e140
#define SMALLEST_SIZE 1e-140

static inline double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void subtract(const double a[3], const double b[3], double c[3])
{
    for (int k = 0; k < 3; k++) c[k] = a[k] - b[k];
}

static inline double largest(double size, const double a[3])
{
    for (int k = 0; k < 3; k++) size = fabs(a[k]) > size ? fabs(a[k]) : size;
    return size;
}

/* The point p - s e on the segment from the origin along e that is nearest to p; q = p - e exactly.
 * Keeps the nearest so far: returns true, with its square and s, if this one is nearer than
 * *least. */
static inline bool nearer_on_segment(const double p[3], const double q[3], const double e[3],
                                     double *min, double *s)
{
    double ee = dot(e, e), pe = dot(p, e), part = 0;
    if (pe > 0 && ee > 0) part = pe < ee ? pe / ee : 1;
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = part < 1 ? p[k] - part * e[k] : q[k];
    double square = dot(d, d);
    if (!(square < *min)) return false;
    *min = square;
    *s = part;
    return true;
}

/* k1, k2 and the vector d = r - k1 e1 - k2 e2 of least length; false if e1 and e2 are parallel or
 * zero. */
static inline bool project_on_span(const double r[3], const double e1[3], const double e2[3],
                                   double *k1, double *k2, double d[3])
{
    double e11 = dot(e1, e1);
    if (!(e11 > 0)) return false;
    double along = dot(e1, e2) / e11, part = dot(e1, r) / e11;
    double across[3], rest[3];
    for (int k = 0; k < 3; k++) {
        across[k] = e2[k] - along * e1[k];
        rest[k] = r[k] - part * e1[k];
    }
    double square = dot(across, across);
    if (!(square > 0)) return false;
    *k2 = dot(across, rest) / square;
    *k1 = part - *k2 * along;
    for (int k = 0; k < 3; k++) d[k] = r[k] - *k1 * e1[k] - *k2 * e2[k];
    return true;
}

/* For sizes whose squares would overflow or vanish: the same pair times a power of two. NAN for
 * input that is not finite. */
static double rescaled(double (*closest)(const double *, double *), const double x[12], double w[4],
                       double size)
{
    double scale = size > 1 ? 0x1p-600 : 0x1p+600, y[12];
    for (int i = 0; i < 12; i++) {
        if (!isfinite(x[i])) return w[0] = w[1] = w[2] = w[3] = NAN;
        y[i] = scale * x[i];
    }
    return closest(y, w) / scale;
}

double brio__closest_vertex_face(const double x[12], double w[4])
{
    double r[3][3], e[3][3]; /* v - f_i, f_{i+1} - f_i */
    double size = 0;
    for (int i = 0; i < 3; i++) {
        subtract(x, x + 3 + 3 * i, r[i]);
        subtract(x + 3 + 3 * ((i + 1) % 3), x + 3 + 3 * i, e[i]);
        size = largest(size, r[i]);
    }
    w[0] = 1;
    if (size > 0 && (size < SMALLEST_SIZE || size > LARGEST_SIZE))
        return rescaled(brio__closest_vertex_face, x, w, size);

    double e02[3], k1, k2, d[3];
    subtract(x + 9, x + 3, e02);
    if (project_on_span(r[0], e[0], e02, &k1, &k2, d) && k1 >= 0 && k2 >= 0 && 1 - k1 - k2 >= 0) {
        w[1] = -(1 - k1 - k2);
        w[2] = -k1;
        w[3] = -k2;
        return sqrt(dot(d, d));
    }
    double min = INFINITY, s = 0;
    int edge = 0;
    for (int i = 0; i < 3; i++)
        if (nearer_on_segment(r[i], r[(i + 1) % 3], e[i], &min, &s)) edge = i;
    w[1 + edge] = -(1 - s);
    w[1 + (edge + 1) % 3] = -s;
    w[1 + (edge + 2) % 3] = -0.0;
    return sqrt(min);
}

double brio__closest_edge_edge(const double x[12], double w[4])
{
    const double *a[2] = {x, x + 3}, *b[2] = {x + 6, x + 9};
    double ab[2][2][3], ba[2][2][3], ea[3], eb[3]; /* a_i - b_j, b_j - a_i */
    double size = 0;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            subtract(a[i], b[j], ab[i][j]);
            subtract(b[j], a[i], ba[j][i]);
            size = largest(size, ab[i][j]);
        }
    if (size > 0 && (size < SMALLEST_SIZE || size > LARGEST_SIZE))
        return rescaled(brio__closest_edge_edge, x, w, size);
    subtract(a[1], a[0], ea);
    subtract(b[1], b[0], eb);

    /* b0 - a0 = s ea - t eb + rest */
    double s, t, d[3], min = INFINITY;
    if (project_on_span(ba[0][0], ea, eb, &s, &t, d) && s >= 0 && s <= 1 && -t >= 0 && -t <= 1) {
        t = -t;
        min = dot(d, d);
    } else {
        double part = 0;
        s = t = 0;
        for (int i = 0; i < 2; i++)
            if (nearer_on_segment(ab[i][0], ab[i][1], eb, &min, &part)) s = i, t = part;
        for (int j = 0; j < 2; j++)
            if (nearer_on_segment(ba[j][0], ba[j][1], ea, &min, &part)) s = part, t = j;
    }
    w[0] = 1 - s;
    w[1] = s;
    w[2] = -(1 - t);
    w[3] = -t;
    return sqrt(min);
}

double brio__cross_square(const double x[12])
{
    double a[3], b[3], n[3];
    subtract(x + 3, x, a);
    subtract(x + 9, x + 6, b);
    for (int k = 0; k < 3; k++)
        n[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    return dot(n, n);
}
