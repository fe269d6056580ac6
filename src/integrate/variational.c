/* Variational integrators [Kharevych2006; Marsden2001]: the step is the stationary point of a
 * discrete action, so it is symplectic and keeps every momentum that the system keeps. The state's
 * velocity is M^-1 p throughout.
 *
 * points: 1. One point of quadrature, L_d(q_n, u) = h (1/2 u.M u - P(q_n + alpha h u)) with
 * q' = q_n + h u. With g = grad P at y = q_n + alpha h u, the discrete equations
 * p' - p = D1 L_d = -h g and h p' = D2 L_d = h (M u - alpha h g) give
 *
 *     M u = p - h (1 - alpha) g(y),    p' = p - h g(y).
 *
 * The first, times h, is the derivative of
 *
 *     1/2 |q' - (q_n + h v)|^2_M + s P(alpha q' + (1 - alpha) q_n)
 *
 * if s alpha = h^2 (1 - alpha): s = h^2 (1 - alpha)/alpha, the weight of the Lilyan
 * [Kharevych2006, Sec. 5.3]. At alpha = 0 it is explicit (symplectic Euler), and at alpha = 1,
 * where that weight vanishes, too (its adjoint). The order is 2 for alpha = 1/2 (implicit
 * midpoint), else 1.
 *
 * points: 2. The trapezoidal rule at both ends: velocity Verlet, order 2, explicit.
 *
 * points: 3. Simpson's rule along a parabola through q_n, q_m, q' [Marsden2001]: the stationary
 * middle point and the momenta at both ends, written with a = -M^-1 g, are
 *
 *     q_m = q_n + h v/2 + h^2/24 (2 a_n + a_m),   q' = q_n + h v + h^2/6 (a_n + 2 a_m),
 *     v' = v + h/6 (a_n + 4 a_m + a'):
 *
 * one solve with s = h^2/24; order 4 (the Lobatto IIIA-IIIB pair of three stages).
 *
 * Forces without a potential enter as impulses F- at q_n and F+ at q' (discrete
 * Lagrange-d'Alembert, [Kharevych2006, Sec. 3.4]). Damping acts at y, where P does
 * (F- = (1 - alpha) F, F+ = alpha F: no torque if the force at y has none about y), explicitly at
 * the ends where P is taken there, and at the ends with points: 3.
 *
 * Rods pull along their directions at q_n until they have their lengths at q'
 * [Kharevych2006, Sec. 3.5]: SHAKE [Ryckaert1977]. The momentum is then fitted to them, as in
 * RATTLE [Andersen1983], which does not change the motion: the next step's rods would take the same
 * part out. */
#include "integrator.h"

/* next = q_n + h u, or where rods take it; u becomes (next - q_n)/h, as a sum of pulls (which keeps
 * momenta better than the difference). */
static BrioStatus move(BrioStepper *s, double h, double *u, double *next)
{
    const double *q = brio_stepper_q(s);
    brio_stepper_combine(s, 1, q, h, u, next);
    if (brio_stepper_rods(s) == 0) return BRIO_OK;
    double *target = brio_stepper_scratch(s, 3), *pull = brio_stepper_scratch(s, 4);
    brio_stepper_combine(s, 1, next, 0, next, target);
    BRIO_CHECK(brio_stepper_minimise(s,
                                     &(BrioObjective){.target = target,
                                                      .s = 0,
                                                      .a = 1,
                                                      .time = brio_stepper_time(s) + h,
                                                      .h = h,
                                                      .rods_from_start = 1},
                                     next));
    brio_stepper_rod_force(s, pull);
    brio_stepper_mass_solve(s, pull, pull);
    brio_stepper_combine(s, 1, u, 1 / h, pull, u);
    return BRIO_OK;
}

/* v + h weight M^-1 F(q, v), counted with the same weight. */
static void kick(BrioStepper *s, double h, double weight, const double *q, const double *v,
                 double time, double *out)
{
    double *f = brio_stepper_scratch(s, 4);
    brio_stepper_force(s, q, v, time, h, weight, f);
    brio_stepper_mass_solve(s, f, f);
    brio_stepper_combine(s, 1, v, h * weight, f, out);
}

/* P at the two ends with these weights: (1, 0) and (0, 1) are alpha = 0 and 1, (1/2, 1/2) the
 * trapezoidal rule. */
static BrioStatus explicit_step(BrioStepper *s, double h, double first, double last, double *next,
                                double *velocity)
{
    const double *q = brio_stepper_q(s), *v = brio_stepper_v(s);
    double time = brio_stepper_time(s);
    if (first > 0)
        kick(s, h, first, q, v, time, velocity);
    else
        brio_stepper_combine(s, 1, v, 0, v, velocity);
    BRIO_CHECK(move(s, h, velocity, next));
    if (last > 0) kick(s, h, last, next, velocity, time + h, velocity);
    return BRIO_OK;
}

static BrioStatus one_point(BrioStepper *s, double h, double alpha, double *next, double *velocity)
{
    const double *q = brio_stepper_q(s), *v = brio_stepper_v(s);
    double *target = brio_stepper_scratch(s, 3), *pull = brio_stepper_scratch(s, 4);
    brio_stepper_combine(s, 1, q, h, v, target);
    BRIO_CHECK(brio_stepper_minimise(s,
                                     &(BrioObjective){.target = target,
                                                      .s = h * h * (1 - alpha) / alpha,
                                                      .a = alpha,
                                                      .time = brio_stepper_time(s) + h,
                                                      .h = h,
                                                      .blend_damping = 1,
                                                      .rods_from_start = 1},
                                     next));
    /* -h^2 (1 - alpha) M^-1 g, and what rods add */
    brio_stepper_combine(s, 1, next, -1, target, velocity);
    if (brio_stepper_rods(s) > 0) {
        brio_stepper_rod_force(s, pull);
        brio_stepper_mass_solve(s, pull, pull);
        brio_stepper_combine(s, 1, velocity, -alpha, pull, velocity);
    }
    brio_stepper_combine(s, 1, v, 1 / (h * (1 - alpha)), velocity, velocity);
    return BRIO_OK;
}

static void acceleration(BrioStepper *s, const double *q, double time, double *a)
{
    brio_stepper_potential(s, q, time, a);
    brio_stepper_mass_solve(s, a, a);
    brio_stepper_combine(s, -1, a, 0, a, a);
}

/* next = v + h weight M^-1 times the damping forces at (q, v). */
static void damp(BrioStepper *s, double h, double weight, const double *q, const double *v,
                 double *next)
{
    double *f = brio_stepper_scratch(s, 4);
    brio_stepper_damping_force(s, q, v, h, weight, f);
    brio_stepper_mass_solve(s, f, f);
    brio_stepper_combine(s, 1, v, h * weight, f, next);
}

static BrioStatus simpson(BrioStepper *s, double h, double *next, double *velocity)
{
    const double *q = brio_stepper_q(s);
    double *target = brio_stepper_scratch(s, 3);
    double *v = brio_stepper_scratch(s, 5);
    double *a_first = brio_stepper_scratch(s, 6);
    double *a_middle = brio_stepper_scratch(s, 7);
    double *a_last = brio_stepper_scratch(s, 4);
    double *middle = next;
    double time = brio_stepper_time(s);
    damp(s, h, 0.5, q, brio_stepper_v(s), v);
    acceleration(s, q, time, a_first);
    brio_stepper_combine(s, 1, q, h / 2, v, target);
    brio_stepper_combine(s, 1, target, h * h / 12, a_first, target);
    BRIO_CHECK(brio_stepper_minimise(s,
                                     &(BrioObjective){.target = target,
                                                      .s = h * h / 24,
                                                      .a = 1,
                                                      .time = time + h / 2,
                                                      .h = h / 2,
                                                      .undamped = 1,
                                                      .weight = BRIO_NOT_COUNTED},
                                     middle));
    acceleration(s, middle, time + h / 2, a_middle);
    brio_stepper_combine(s, 1, q, h, v, next);
    brio_stepper_combine(s, 1, next, h * h / 6, a_first, next);
    brio_stepper_combine(s, 1, next, h * h / 3, a_middle, next);
    acceleration(s, next, time + h, a_last);
    brio_stepper_combine(s, 1, a_first, 4, a_middle, a_middle);
    brio_stepper_combine(s, 1, a_middle, 1, a_last, a_last);
    brio_stepper_combine(s, 1, v, h / 6, a_last, v);
    damp(s, h, 0.5, next, v, velocity);
    return BRIO_OK;
}

static BrioStatus step(BrioStepper *s, double h)
{
    double *next = brio_stepper_scratch(s, 0);
    double *velocity = brio_stepper_scratch(s, 1);
    double alpha = brio_stepper_value(s, "alpha");
    int points = (int)brio_stepper_value(s, "points");
    if (points == 3)
        BRIO_CHECK(simpson(s, h, next, velocity));
    else if (points == 2)
        BRIO_CHECK(explicit_step(s, h, 0.5, 0.5, next, velocity));
    else if (alpha == 0 || alpha == 1)
        BRIO_CHECK(explicit_step(s, h, 1 - alpha, alpha, next, velocity));
    else
        BRIO_CHECK(one_point(s, h, alpha, next, velocity));
    BRIO_CHECK(brio_stepper_fit_velocities(s, next, brio_stepper_time(s) + h, velocity));
    return brio_stepper_accept(s, h, next, velocity);
}

static const BrioField fields[] = {
    {"alpha", BRIO_REAL, "", 0.5, 0, 1, 0,
     "Where in the step the potential is evaluated (points: 1): 0 explicit, 1/2 implicit "
     "midpoint, 1 explicit again; stable for h w < 2/|1 - 2 alpha|."},
    {"points", BRIO_INTEGER, "", 1, 1, 3, 0,
     "Points of the quadrature: 1 (order 1; order 2 if alpha is 1/2), 2 (velocity Verlet, order "
     "2), 3 (Simpson, order 4)."},
    {0}};

static BrioStatus check(const double *values, unsigned *traits, char *reason, size_t size)
{
    double alpha = values[0];
    int points = (int)values[1];
    if (points > 1 && alpha != 0.5) {
        snprintf(reason, size,
                 "alpha = %g has no meaning with points = %d: remove it, or use points: 1", alpha,
                 points);
        return BRIO_ERROR_INPUT;
    }
    if (points == 2 || (points == 1 && (alpha == 0 || alpha == 1)))
        *traits &= ~(unsigned)BRIO_IMPLICIT;
    if (points == 3) *traits &= ~(unsigned)BRIO_TAKES_CONSTRAINTS;
    return BRIO_OK;
}

BRIO_INTEGRATOR(variational){
    .name = "variational",
    .summary = "Derived from a discrete action: symplectic, keeps momenta, supports rigid rods; "
               "order 4 with points: 3.",
    .citation = "Kharevych2006",
    .order = 2,
    .traits = BRIO_IMPLICIT | BRIO_SYMPLECTIC | BRIO_KEEPS_LINEAR_MOMENTUM |
              BRIO_KEEPS_ANGULAR_MOMENTUM | BRIO_TAKES_CONSTRAINTS,
    .fields = fields,
    .step = step,
    .check = check,
};
