/* Energies of the distance from a point or from an axis, with a window that ends them smoothly.
 *
 *     dE/dr = f(r) w(r),      w(r) = (1 - r^2/R^2)^2 for r < R, 0 beyond; 1 without a range R
 *     spring:          f = k (r - L)
 *     inverse square:  f = s / r^2, and s r / c^3 inside of a core of radius c, as in a ball
 *
 * With n = d/r the Hessian is f' n n^T + f/r (I - n n^T), for an axis without the direction
 * along it. */
#ifndef BRIO_RADIAL_H
#define BRIO_RADIAL_H

#include "../vec.h"

#include <stdbool.h>
#include <string.h>

/* E and its first and second derivative by r. */
typedef struct BrioRadial {
    double e, first, second;
} BrioRadial;

typedef struct BrioWindow {
    double u; /* 1/R^2, 0: no range */
} BrioWindow;

static inline BrioWindow brio__window(double range)
{
    return (BrioWindow){isfinite(range) ? 1 / (range * range) : 0};
}

static inline bool brio__window_beyond(BrioWindow w, double r) { return w.u * r * r >= 1; }
static inline double brio__window_at(BrioWindow w, double r)
{
    double e = 1 - w.u * r * r;
    return e > 0 ? e * e : 0;
}
static inline double brio__window_slope(BrioWindow w, double r)
{
    double e = 1 - w.u * r * r;
    return e > 0 ? -4 * w.u * r * e : 0;
}
/* Antiderivatives of w, r w and w/r^2. */
static inline double brio__window_0(BrioWindow w, double r)
{
    double s = w.u * r * r;
    return r * (1 - s * (2. / 3 - s / 5));
}
static inline double brio__window_1(BrioWindow w, double r)
{
    double s = w.u * r * r;
    return r * r * (0.5 - s * (0.5 - s / 6));
}
static inline double brio__window_minus_2(BrioWindow w, double r)
{
    double s = w.u * r * r;
    return -(1 + s * (2 - s / 3)) / r;
}

static inline BrioRadial brio__radial_spring(double k, double L, double range, double r)
{
    BrioWindow w = brio__window(range);
    bool beyond = brio__window_beyond(w, r);
    double at = beyond ? range : r, f = k * (r - L);
    return (BrioRadial){k * (brio__window_1(w, at) - L * brio__window_0(w, at)),
                        beyond ? 0 : f * brio__window_at(w, r),
                        beyond ? 0 : k * brio__window_at(w, r) + f * brio__window_slope(w, r)};
}

static inline BrioRadial brio__radial_inverse(double s, double core, double range, double r)
{
    BrioWindow w = brio__window(range);
    bool beyond = brio__window_beyond(w, r);
    double at = beyond ? range : r, value = brio__window_at(w, r), slope = brio__window_slope(w, r);
    if (r < core) {
        double k = s / (core * core * core);
        return (BrioRadial){k * (brio__window_1(w, at) - brio__window_1(w, core)) +
                                s * brio__window_minus_2(w, core),
                            k * r * value, k * (value + r * slope)};
    }
    return (BrioRadial){s * brio__window_minus_2(w, at), beyond ? 0 : s * value / (r * r),
                        beyond ? 0 : s * (slope / (r * r) - 2 * value / (r * r * r))};
}

/* Gradient and Hessian in space, given d from the centre with r = |d| and the unit axis, or NULL
 * for a point. At the centre there is no direction: the force is 0, the Hessian that of a spring
 * without length. */
static inline void brio__radial_space(BrioRadial e, const double d[3], double r, const double *axis,
                                      bool project, double *gradient, double *hessian)
{
    double n[3] = {0, 0, 0};
    for (int i = 0; i < 3 && r > 0; i++) n[i] = d[i] / r;
    for (int i = 0; i < 3 && gradient; i++) gradient[i] = e.first * n[i];
    if (!hessian) return;
    double along = e.second, across = r > 0 ? e.first / r : e.second;
    if (project) along = fmax(along, 0), across = fmax(across, 0);
    for (int i = 0, at = 0; i < 3; i++)
        for (int j = i; j < 3; j++, at++)
            hessian[at] = (r > 0 ? (along - across) * n[i] * n[j] : 0) +
                          across * ((i == j) - (axis ? axis[i] * axis[j] : 0));
}

#endif
