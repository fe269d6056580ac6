/* Motions x -> A(t) x + b(t) that are a turn at a constant rate, with a shift along its axis, or a
 * shift at a constant rate: A(t) = rot(n, w t) and b(t) = (I - A(t)) c + v t, v along n. The axis
 * and w come from one step, c across the axis from b there, and every step is compared with
 * them. */
#include "import.h"

#include <string.h>

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Rounded well below what the motion is known to, so that what is round comes out round. */
static double tidy(double value, double scale)
{
    double unit = pow(10, floor(log10(scale)) - 3);
    return round(value / unit) * unit;
}

/* True if A and b are those of the turn at time t. */
static bool agrees(const ImportTurn *turn, double rate, const double axis[3], double t, double size,
                   double accuracy, double A[3][3], const double b[3])
{
    double expected[3][3], y[3];
    import_turn(axis, rate * t, expected);
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++)
            if (!(fabs(A[r][k] - expected[r][k]) <= accuracy)) return false;
    import_apply(expected, turn->about, y);
    for (int k = 0; k < 3; k++) {
        double shift = turn->about[k] - y[k] + turn->linear[k] * t;
        double far = size + fabs(turn->about[k]) + fabs(turn->linear[k] * t);
        if (!(fabs(shift - b[k]) <= 10 * accuracy * far)) return false;
    }
    return true;
}

bool import_find_turn(ImportMap *map, const void *data, int steps, double h, const double middle[3],
                      double size, double accuracy, ImportTurn *turn)
{
    double A[3][3], b[3], axis[3], across[3], side[3];
    *turn = (ImportTurn){.about = {0, 0, 0}};
    if (!(size > 0) || steps < 1 || !map(data, 1, A, b)) return false;
    double angle = import_axis_of(A, axis) * PI / 180;
    bool turns = angle > accuracy * 1e-3;
    /* the last step with less than half a turn says it with the smallest rounding */
    int at = turns ? (int)fmax(1, fmin(steps, floor(2.5 / angle))) : steps;
    if (!map(data, at, A, b)) return false;
    angle = turns ? import_axis_of(A, axis) * PI / 180 : 0;
    double rate = angle / (at * h), along = turns ? dot(axis, b) : 0, unit = accuracy * size;
    for (int k = 0; k < 3; k++) {
        turn->linear[k] = tidy((turns ? along * axis[k] : b[k]) / (at * h), unit / h);
        turn->angular[k] = rate * axis[k];
        if (accuracy > 1e-6 && turns) turn->angular[k] = tidy(turn->angular[k], accuracy * rate);
        across[k] = b[k] - along * axis[k];
    }
    if (turns) {
        cross(axis, across, side);
        double on_axis = dot(axis, middle); /* any point of the axis; this one is near */
        for (int k = 0; k < 3; k++) {
            double near = (across[k] + side[k] / tan(angle / 2)) / 2 + on_axis * axis[k];
            turn->about[k] = tidy(near, accuracy * (size + fabs(middle[k])));
        }
    }
    for (int i = 1; i <= steps; i++)
        if (!map(data, i, A, b) || !agrees(turn, rate, axis, i * h, size, accuracy, A, b))
            return false;
    return true;
}
