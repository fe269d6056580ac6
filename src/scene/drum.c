/* u_mn(r, phi) = J_m(j_mn r/R) cos(m phi), with the n-th positive zero j_mn of the Bessel function
 * J_m, over its largest value; phi is measured from the x axis projected into the sheet (the z
 * axis, where the sheet stands across x), towards normal x that axis. */
#include "drum.h"

#include "read.h"

#include <string.h>

/* Zeros of J_m lie more than 2 apart, the first beyond m: a walk finds them, bisection sharpens
 * them. */
double brio__bessel_zero(int m, int n)
{
    double low = m > 0 ? m : 0.5, high = low;
    for (int found = 0; found < n;) {
        low = high;
        high = low + 0.5;
        found += jn(m, low) * jn(m, high) <= 0;
    }
    for (int k = 0; k < 60; k++) {
        double middle = 0.5 * (low + high);
        if (jn(m, low) * jn(m, middle) > 0)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

/* The largest |J_m| on the drum: where J_m turns first, which is before its first zero. */
static double largest(int m, int n)
{
    double zero = brio__bessel_zero(m, n), max = 0;
    for (int k = 0; k <= 4000 * n; k++) max = fmax(max, fabs(jn(m, zero * k / (4000 * n))));
    return max;
}

static void unit(double a[3])
{
    double length = brio__axis_length(a);
    for (int r = 0; r < 3; r++) a[r] /= length > 0 ? length : 1;
}

void brio__drum_add(const BrioDrum *drum, const BrioMesh *mesh, const double *x, double *v)
{
    double low[3], high[3], centre[3], normal[3], first[3], second[3], radius = 0;
    memcpy(centre, drum->centre, sizeof centre);
    memcpy(normal, drum->normal, sizeof normal);
    memcpy(low, x, sizeof low);
    memcpy(high, x, sizeof high);
    for (int64_t k = 0; k < 3 * mesh->vertex_count; k++) {
        low[k % 3] = fmin(low[k % 3], x[k]);
        high[k % 3] = fmax(high[k % 3], x[k]);
    }
    for (int r = 0; isnan(drum->centre[0]) && r < 3; r++) centre[r] = 0.5 * (low[r] + high[r]);
    if (isnan(drum->normal[0])) {
        memset(normal, 0, sizeof normal);
        for (int64_t t = 0; t < mesh->triangle_count; t++) {
            const double *p[3];
            for (int k = 0; k < 3; k++) p[k] = x + 3 * (int64_t)mesh->triangle[3 * t + k];
            for (int r = 0; r < 3; r++) {
                int a = (r + 1) % 3, b = (r + 2) % 3;
                normal[r] += (p[1][a] - p[0][a]) * (p[2][b] - p[0][b]) -
                             (p[1][b] - p[0][b]) * (p[2][a] - p[0][a]);
            }
        }
    }
    unit(normal);
    int axis = fabs(normal[0]) < 0.999 ? 0 : 2;
    for (int r = 0; r < 3; r++) first[r] = (r == axis) - normal[axis] * normal[r];
    unit(first);
    for (int r = 0; r < 3; r++)
        second[r] =
            normal[(r + 1) % 3] * first[(r + 2) % 3] - normal[(r + 2) % 3] * first[(r + 1) % 3];
    double zero = brio__bessel_zero(drum->m, drum->n);
    double scale = drum->amplitude / largest(drum->m, drum->n);
    for (int pass = 0; pass < 2; pass++) {
        if (pass && !isnan(drum->radius)) radius = drum->radius;
        for (int64_t k = 0; k < mesh->vertex_count; k++) {
            double a = 0, b = 0;
            for (int r = 0; r < 3; r++) {
                a += first[r] * (x[3 * k + r] - centre[r]);
                b += second[r] * (x[3 * k + r] - centre[r]);
            }
            if (!pass) radius = fmax(radius, hypot(a, b));
            double fraction = hypot(a, b) / radius;
            if (pass && fraction < 1)
                for (int r = 0; r < 3; r++)
                    v[3 * k + r] += scale * jn(drum->m, zero * fraction) *
                                    cos(drum->m * atan2(b, a)) * normal[r];
        }
    }
}
