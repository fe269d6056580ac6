/* Drag and lift of triangles in moving air. For a triangle of the area A with the unit normal n and
 * the velocity u of its centre relative to the air, the sine of the angle of attack is |u.n|/|u|:
 *
 *     drag  -rho/2 Cd A |u.n| u
 *     lift  -rho/2 Cl A (u.n) (|u| n - (u.n) u/|u|)
 *
 * A plate across the wind has the drag rho/2 Cd A u^2, one along the wind has none. Lift is
 * perpendicular to u: sin a cos a of the angle of attack a, which vanishes along and across. Either
 * side of the triangle may face the wind. */
#include "../vec.h"
#include "force.h"

enum { VELOCITY, DENSITY = VELOCITY + 3, DRAG, LIFT };

static void triangle(const BrioForce *force, const double n[3], const double u[3], double *c,
                     double lift[3])
{
    const double *v = force->values;
    /* n is twice the area long */
    double head = v[DENSITY] / 4 * brio__dot3(u, n), speed = brio__norm3(u);
    double area = brio__norm3(n), across = area > 0 ? brio__dot3(u, n) / area : 0;
    *c = v[DRAG] * fabs(head);
    for (int r = 0; r < 3; r++)
        lift[r] = area > 0 && speed > 0
                      ? -v[LIFT] * head * (speed * n[r] / area - across * u[r] / speed)
                      : 0;
}

static const BrioField fields[] = {
    {"velocity", BRIO_VECTOR, "m/s", 0, -1e6, 1e6, 0,
     "Velocity of the air; keys and formulas multiply it. Zero: the drag of still air."},
    {"density", BRIO_REAL, "kg/m3", 1.2, 0, 1e9, 0, "Density of the air."},
    {"drag", BRIO_REAL, "", 1, 0, 1e6, 0, "Drag coefficient of a plate perpendicular to the wind."},
    {"lift", BRIO_REAL, "", 0, 0, 1e6, 0, "Lift coefficient."},
    {0}};

BRIO_FORCE(wind){
    .name = "wind",
    .summary = "Drag and lift on the triangles of a surface in moving or still air.",
    .fields = fields,
    .triangle = triangle,
};
