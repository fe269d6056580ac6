/* Symplectic partitioned Runge-Kutta methods [You2026, Sec. 3.2 and App. B; Hairer2006, Ch. VI.4]:
 * a tableau for positions and its symplectic adjoint for velocities, coupled (tableau.h). Over
 * forward Euler this is symplectic Euler with velocities first, over backward Euler with positions
 * first, over the trapezoidal rule Verlet's method (pairs of Lobatto IIIA and IIIB). What the paper
 * compares its decoupled methods with: for SDIRK2 the trace of its matrix has no bound, so it is
 * for short steps.
 *
 * Damping acts for h/2 before and after the pair, each time by Heun's method at a fixed pose
 * [Strang1968]: of second order, and explicit. */
#include "tableau.h"

static const BrioField fields[] = {
    {"tableau", BRIO_CHOICE, BRIO_TABLEAU_CHOICE, 7, 0, 64, 0,
     "The method of positions; `own` takes A and b."},
    {"A", BRIO_LIST, "", 0, -100, 100, 0, "The matrix of your own tableau, row by row."},
    {"b", BRIO_LIST, "", 0, -100, 100, 0, "The weights of its stages, none of which may be 0."},
    {0}};

static BrioStatus choose(const double *values, BrioPair *pair, char *reason, size_t size)
{
    BrioTableau t, adjoint;
    BRIO_CHECK(brio__tableau_choose(values, &t, reason, size));
    BRIO_CHECK(brio__tableau_symplectic_adjoint(&t, &adjoint, reason, size));
    *pair = brio__tableau_pair(&t, &adjoint);
    return BRIO_OK;
}

static BrioStatus check(const double *values, unsigned *traits, char *reason, size_t size)
{
    BrioPair pair;
    BRIO_CHECK(choose(values, &pair, reason, size));
    if (!brio__tableau_pair_is_explicit(&pair)) *traits |= BRIO_IMPLICIT;
    return BRIO_OK;
}

/* M^-1 times the damping forces at (q, v), counted as a quarter of those of the step. */
static void damping(BrioStepper *s, const double *q, const double *v, double time, double h,
                    double *a)
{
    double *gradient = brio_stepper_scratch(s, 4);
    brio_stepper_force(s, q, v, time, h, 0.25, a);
    brio_stepper_potential(s, q, time, gradient);
    brio_stepper_combine(s, 1, a, 1, gradient, a);
    brio_stepper_mass_solve(s, a, a);
}

/* v after h/2 of damping alone. */
static void brake(BrioStepper *s, const double *q, double time, double h, double *v)
{
    double *first = brio_stepper_scratch(s, 2), *then = brio_stepper_scratch(s, 3);
    damping(s, q, v, time, h, first);
    brio_stepper_combine(s, 1, v, h / 2, first, v);
    damping(s, q, v, time, h, then);
    brio_stepper_combine(s, 1, v, h / 4, then, v);
    brio_stepper_combine(s, 1, v, -h / 4, first, v);
}

static BrioStatus step(BrioStepper *s, double h)
{
    BrioPair pair;
    char reason[256];
    double *q = brio_stepper_scratch(s, 0), *v = brio_stepper_scratch(s, 1);
    double time = brio_stepper_time(s);
    BrioStatus status = choose(brio_stepper_values(s), &pair, reason, sizeof reason);
    if (status != BRIO_OK) return brio_stepper_fail(s, status, reason);
    brio_stepper_combine(s, 1, brio_stepper_v(s), 0, brio_stepper_v(s), v);
    if (brio_stepper_damped(s)) brake(s, brio_stepper_q(s), time, h, v);
    BRIO_CHECK(brio__tableau_pair_step(s, &pair, h, 1, NULL, q, v));
    if (brio_stepper_damped(s)) brake(s, q, time + h, h, v);
    return brio_stepper_accept(s, h, q, v);
}

BRIO_INTEGRATOR(partitioned){
    .name = "partitioned",
    .summary = "A Runge-Kutta method for positions, its symplectic adjoint for velocities: "
               "symplectic; Verlet's method by default; for short steps.",
    .citation = "Hairer2006",
    .order = 2,
    .traits = BRIO_SYMPLECTIC | BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_KEEPS_ANGULAR_MOMENTUM,
    .fields = fields,
    .step = step,
    .check = check,
};
