/* Displacements u(x, t) that are a rotation with constant angular velocity: x + u = A(t) x + b(t)
 * with A(t) = rot(n, w t) and b(t) = (I - A(t)) c + v n t. The axis and w come from one step, c
 * across the axis from b there, and every step is compared with them. */
#include "polyfem.h"

#include <string.h>

#define TURN_ROUND 1e-9 /* of the matrix, and of the places relative to their size */

/* A and b at time t by four points around `middle`; false: the map is not affine. */
static bool affine_at(const Poly *p, const Quantity q[3], const double middle[3], double size,
                      double t, double A[3][3], double b[3])
{
    double at[5][3], image[5][3], worst = 0;
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < 3; k++) at[i][k] = middle[k] + (i == k + 1 ? size : 0);
        if (i == 4)
            for (int k = 0; k < 3; k++) at[i][k] = middle[k] - size * (0.3 + 0.2 * k);
        for (int k = 0; k < 3; k++) image[i][k] = at[i][k] + poly_evaluate(p, &q[k], at[i], t);
    }
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++) A[r][k] = (image[k + 1][r] - image[0][r]) / size;
    import_apply(A, middle, b);
    for (int k = 0; k < 3; k++) b[k] = image[0][k] - b[k];
    double y[3];
    import_apply(A, at[4], y);
    for (int k = 0; k < 3; k++) worst = fmax(worst, fabs(y[k] + b[k] - image[4][k]));
    return worst <= TURN_ROUND * size;
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Rounded to thirteen digits of `scale`, so that what is round comes out round. */
static double tidy(double value, double scale)
{
    double unit = pow(10, floor(log10(scale)) - 12);
    return round(value / unit) * unit;
}

/* True if A and b are those of the turn at time t. */
static bool agrees(const Turn *turn, double rate, const double axis[3], double t, double size,
                   double A[3][3], const double b[3])
{
    double expected[3][3], y[3];
    import_turn(axis, rate * t, expected);
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++)
            if (!(fabs(A[r][k] - expected[r][k]) <= TURN_ROUND)) return false;
    import_apply(expected, turn->about, y);
    for (int k = 0; k < 3; k++) {
        double shift = turn->about[k] - y[k] + turn->linear[k] * t;
        if (!(fabs(shift - b[k]) <= 1e3 * TURN_ROUND * (size + fabs(turn->about[k])))) return false;
    }
    return true;
}

bool poly_find_turn(const Poly *p, const Quantity q[3], const double middle[3], double size,
                    int steps, Turn *turn)
{
    double A[3][3], b[3], axis[3], across[3], side[3];
    if (!(size > 0) || !affine_at(p, q, middle, size, p->h, A, b)) return false;
    double angle = import_axis_of(A, axis) * PI / 180;
    if (!(angle > 1e-12)) return false;
    /* the last step with less than half a turn says it with the least rounding */
    double h = p->h * fmax(1, fmin(steps, floor(2.5 / angle)));
    if (!affine_at(p, q, middle, size, h, A, b)) return false;
    angle = import_axis_of(A, axis) * PI / 180;
    double rate = angle / h, along = dot(axis, b);
    for (int k = 0; k < 3; k++) {
        turn->linear[k] = tidy(along * axis[k] / h, size / h);
        turn->angular[k] = rate * axis[k];
        across[k] = b[k] - along * axis[k];
    }
    cross(axis, across, side);
    for (int k = 0; k < 3; k++) turn->about[k] = (across[k] + side[k] / tan(angle / 2)) / 2;
    double on_axis = dot(axis, middle); /* any point of the axis; this one is near */
    for (int k = 0; k < 3; k++)
        turn->about[k] = tidy(turn->about[k] + on_axis * axis[k], size + fabs(middle[k]));
    for (int i = 1; i <= steps; i++) {
        if (!affine_at(p, q, middle, size, i * p->h, A, b)) return false;
        if (!agrees(turn, rate, axis, i * p->h, size, A, b)) return false;
    }
    return true;
}
