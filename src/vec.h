/* Vectors of three doubles: dot and cross products, lengths, distances.
 *
 * Every sum runs over x, y, z in this order and every difference is rounded before it is used, so
 * that two callers with the same numbers get the same bits. Outputs may be inputs. */
#ifndef BRIO_VEC_H
#define BRIO_VEC_H

#include <math.h>

static inline double brio__dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* d = a - b */
static inline void brio__subtract3(const double a[3], const double b[3], double d[3])
{
    for (int r = 0; r < 3; r++) d[r] = a[r] - b[r];
}

/* c = a x b */
static inline void brio__cross3(const double a[3], const double b[3], double c[3])
{
    double x = a[1] * b[2] - a[2] * b[1];
    double y = a[2] * b[0] - a[0] * b[2];
    double z = a[0] * b[1] - a[1] * b[0];
    c[0] = x;
    c[1] = y;
    c[2] = z;
}

/* a . (b x c): the volume of the parallelepiped, six times that of the tet. */
static inline double brio__triple3(const double a[3], const double b[3], const double c[3])
{
    double n[3];
    brio__cross3(b, c, n);
    return brio__dot3(a, n);
}

/* |a| by its squares: overflows beyond 1e154. brio__hypot3 does not. */
static inline double brio__norm3(const double a[3]) { return sqrt(brio__dot3(a, a)); }
static inline double brio__hypot3(const double a[3]) { return hypot(hypot(a[0], a[1]), a[2]); }

static inline double brio__distance3(const double a[3], const double b[3])
{
    double d[3];
    brio__subtract3(a, b, d);
    return brio__norm3(d);
}

/* Divides by the length and returns it; a zero vector stays zero. */
static inline double brio__normalise3(double a[3])
{
    double length = brio__norm3(a);
    for (int r = 0; r < 3 && length > 0; r++) a[r] /= length;
    return length;
}

/* (b - a) x (c - a): the normal of a triangle, as long as twice its area. */
static inline void brio__triangle_normal(const double a[3], const double b[3], const double c[3],
                                         double n[3])
{
    double e[3], f[3];
    brio__subtract3(b, a, e);
    brio__subtract3(c, a, f);
    brio__cross3(e, f, n);
}

#endif
