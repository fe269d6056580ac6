/* A vortex: F = s (a x d) w(|d|), d the distance from the axis a and w the window of radial.h. It
 * circles about the axis and has no potential: the work around the axis is not zero. */
#include "radial.h"
#include "force.h"

enum { PER, STRENGTH, CENTRE, AXIS = CENTRE + 3, RANGE = AXIS + 3 };

static void push(const BrioForce *force, const double x[3], double time, double f[3])
{
    (void)time;
    const double *v = force->values;
    double d[3], axis[3] = {v[AXIS], v[AXIS + 1], v[AXIS + 2]};
    brio__normalise3(axis);
    brio__subtract3(x, v + CENTRE, d);
    brio__cross3(axis, d, f);
    double scale = v[STRENGTH] * brio__window_at(brio__window(v[RANGE]), brio__norm3(f));
    for (int r = 0; r < 3; r++) f[r] *= scale;
}

static BrioStatus fits(const double *v, BrioError *error)
{
    if (v[AXIS] != 0 || v[AXIS + 1] != 0 || v[AXIS + 2] != 0) return BRIO_OK;
    return brio__error(error, BRIO_ERROR_INPUT,
                       "the axis of a vortex is zero: give its direction, such as axis: [0, 1, 0]");
}

static const BrioField fields[] = {
    BRIO_PER_FIELD(BRIO_PER_VERTEX),
    {"strength", BRIO_REAL, "N/m", NAN, -1e30, 1e30, 1,
     "Force divided by the distance from the axis; positive: right-handed rotation."},
    {"centre", BRIO_VECTOR, "m", 0, -1e15, 1e15, 0, "A point of the axis."},
    {"axis", BRIO_VECTOR, "", NAN, -1e15, 1e15, 1, "Direction of the axis; any length."},
    {"range", BRIO_REAL, "m|infinite", INFINITY, 1e-12, 1e15, 0,
     "Distance at which the vortex ends; it fades as (1 - r2/range2)^2."},
    {0}};

BRIO_FORCE(vortex){
    .name = "vortex",
    .summary = "A force that circles about an axis; it has no potential.",
    .fields = fields,
    .push = push,
    .fits = fits,
};
