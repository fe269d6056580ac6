/* Pressure inside closed surfaces, as a potential of the volume V that they enclose. With the
 * factor f and the initial volume V0:
 *
 *     fixed:   E = -f p V                          the pressure is f p
 *     volume:  E = K/(2 V0) (V - f V0)^2           V stays near f V0
 *     gas:     E = -f p V0 ln(V/V0) + p_a V        p_inside V = f p V0 at constant temperature
 *
 * The force on a corner is -dE/dV times the gradient of V, a third of the pressure times the area
 * of each of its triangles. */
#include "force.h"

enum { LAW, PRESSURE, AMBIENT, STIFFNESS };

static void volume(const BrioForce *force, double factor, double V, double e[3])
{
    const double *v = force->values;
    double V0 = fabs(force->rest_volume), p = factor * v[PRESSURE];
    if (v[LAW] == 0) {
        e[0] = -p * V, e[1] = -p, e[2] = 0;
    } else if (v[LAW] == 1) {
        double more = V - factor * V0, k = v[STIFFNESS] / V0;
        e[0] = k / 2 * more * more, e[1] = k * more, e[2] = k;
    } else if (V > 0) {
        e[0] = -p * V0 * log(V / V0) + v[AMBIENT] * V;
        e[1] = -p * V0 / V + v[AMBIENT];
        e[2] = p * V0 / (V * V);
    } else {
        e[0] = INFINITY, e[1] = e[2] = 0;
    }
}

static const BrioField fields[] = {
    {"law", BRIO_CHOICE, "fixed|volume|gas", 0, 0, 2, 0,
     "What is given: the pressure, the volume, or the amount of gas."},
    {"pressure", BRIO_REAL, "Pa", 1000, -1e15, 1e15, 0,
     "Pressure inside minus pressure outside; for a gas: its pressure at the initial volume."},
    {"ambient", BRIO_REAL, "Pa", 0, 0, 1e15, 0, "Pressure outside, for the law gas."},
    {"stiffness", BRIO_REAL, "Pa", 1e6, 1e-12, 1e15, 0,
     "Pressure per relative error of the volume, for the law volume."},
    {0}};

BRIO_FORCE(pressure){
    .name = "pressure",
    .summary = "Pressure inside closed surfaces: constant, from a target volume, or that of a gas.",
    .fields = fields,
    .volume = volume,
};
