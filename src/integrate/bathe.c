/* The composite method of two substeps [Bathe2005]: the trapezoidal rule to t + gamma h, and from
 * there a formula through start, middle and end. With z = (q, v) and z' = f(z),
 *
 *     z_gamma = z + gamma h/2 (f(z) + f(z_gamma)),
 *     z' = z + h (q0 f(z) + q1 f(z_gamma) + q2 f(z')),
 *     q1 = (1 + rho)/(4 - 2 gamma (1 - rho)),    q2 = 1/2 - gamma q1,    q0 = 1 - q1 - q2,
 *
 * of second order for any rho, and a step leaves rho of a vibration that it cannot resolve
 * [Noh2019]: on z' = L z with L -> -infinity z_gamma = -z, so that z' = (q1 - q0)/q2 z = rho z. rho
 * = 0 and gamma = 1/2 make the second formula BDF2, the method of 2005; rho = 0 and gamma = 2 -
 * sqrt 2 is TR-BDF2; rho = 1 with gamma = 1/2 is two steps of the trapezoidal rule. It is a tableau
 * whose last stage is the end: barriers are allowed. */
#include "tableau.h"

static const BrioField fields[] = {
    {"rho_inf", BRIO_REAL, "", 0, 0, 1, 0,
     "Fraction of an unresolved vibration that a step leaves: 1 all, 0 nothing."},
    {"gamma", BRIO_REAL, "", 0.5, 0.01, 0.99, 0,
     "Where the first substep ends, as a fraction of the step."},
    {0}};

static BrioStatus step(BrioStepper *s, double h)
{
    double *q = brio_stepper_scratch(s, 0), *v = brio_stepper_scratch(s, 1);
    double rho = brio_stepper_value(s, "rho_inf"), gamma = brio_stepper_value(s, "gamma");
    double q1 = (1 + rho) / (4 - 2 * gamma * (1 - rho));
    double q2 = 0.5 - gamma * q1;
    double q0 = 1 - q1 - q2;
    const BrioTableau tableau = {.name = "bathe",
                                 .stages = 3,
                                 .A = {0, 0, 0, gamma / 2, gamma / 2, 0, q0, q1, q2},
                                 .b = {q0, q1, q2}};
    BRIO_CHECK(brio__tableau_step(
        s, &(BrioTableauStep){.tableau = &tableau, .h = h, .weight = 1, .scratch = 2}, q, v));
    return brio_stepper_accept(s, h, q, v);
}

BRIO_INTEGRATOR(bathe){
    .name = "bathe",
    .summary = "Two substeps, trapezoidal rule and BDF2: second order, two solves, with adjustable "
               "damping of fast vibrations.",
    .citation = "Bathe2005",
    .order = 2,
    .traits = BRIO_IMPLICIT | BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_END_IS_SOLVED,
    .fields = fields,
    .step = step,
};
