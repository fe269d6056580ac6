/* Fast energy projection [Dinev2018b]: a step of a base method, and then the nearest state with the
 * energy and the momenta that it should have,
 *
 *     min 1/2 |q - q'|^2_M + h^2/2 |v - w|^2_M
 *     so that  H(q, v) = target,  linear and angular momentum = those of the step's own forces,
 *
 * by sequential quadratic programming: with the conditions linearised at the last iterate, each
 * step is a combination of their gradients in that norm,
 *
 *     dq = -mu (M^-1 grad P + w x (w x r)),    dv = -mu/h^2 (v - u - w x r) + rigid motion,
 *
 * where u + w x r is the rigid motion of each component that has its momenta: gradients of the
 * momenta by v are rigid motions, and w is the multiplier of angular momentum, which acts on q as
 * the centrifugal force. So they are eliminated before mu = e/(|dq/mu|^2_M + |h dv/mu|^2_M) meets
 * the energy's error e. (Of how angular momentum depends on q, what vibration adds to it is left to
 * the next iterate. The paper relaxes momenta in favour of the energy by slack variables; here they
 * are met exactly.) mu is halved while the error would not shrink or an energy would be infinite.
 *
 * Momenta of the step's own forces: those at its start plus M (w - v) at the pose where the base
 * takes its forces, so that contacts, supports and damping count with their torques. Positions move
 * after the solve: no barriers. The ledger's alpha is the number of iterations. */
#include "integrator.h"

enum { TARGET, Q, V, FORCE_POSE, BEFORE, CHANGE, MOMENTUM, GRADIENT, DQ, DV, RIGID, Q_TRY, V_TRY };
enum { MIDPOINT, BACKWARD };

/* Whether a trial point is nearer to the target than an error. */
typedef struct Projection {
    BrioStepper *s;
    double h, target, tolerance;
    double error, potential; /* at the iterate */
} Projection;

static double energy_at(const Projection *p, const double *q, const double *v, double *gradient,
                        double *potential)
{
    *potential = brio_stepper_potential(p->s, q, brio_stepper_time(p->s) + p->h, gradient);
    return *potential + brio_stepper_kinetic(p->s, v);
}

/* Gives v the momenta of the step's forces at the pose q. */
static void mend_momenta(const Projection *p, const double *q, double *v)
{
    BrioStepper *s = p->s;
    double *momentum = brio_stepper_scratch(s, MOMENTUM), *rigid = brio_stepper_scratch(s, RIGID);
    const BrioImpulse impulse[3] = {
        {brio_stepper_q(s), brio_stepper_scratch(s, BEFORE), 1},
        {brio_stepper_scratch(s, FORCE_POSE), brio_stepper_scratch(s, CHANGE), 1},
        {q, momentum, -1}};
    brio_stepper_mass_multiply(s, v, momentum);
    brio_stepper_rigid(s, q, impulse, 3, rigid, NULL);
    brio_stepper_combine(s, 1, v, 1, rigid, v);
}

/* One iterate further: from (Q, V) to where the linearised conditions hold, or a fraction of that
 * step. */
static bool improve(Projection *p)
{
    BrioStepper *s = p->s;
    double *q = brio_stepper_scratch(s, Q), *v = brio_stepper_scratch(s, V);
    double *q_try = brio_stepper_scratch(s, Q_TRY), *v_try = brio_stepper_scratch(s, V_TRY);
    double *gradient = brio_stepper_scratch(s, GRADIENT), *dq = brio_stepper_scratch(s, DQ);
    double *dv = brio_stepper_scratch(s, DV), *momentum = brio_stepper_scratch(s, MOMENTUM);
    double *turning = brio_stepper_scratch(s, RIGID), potential;
    energy_at(p, q, v, gradient, &potential);
    brio_stepper_mass_solve(s, gradient, dq);
    brio_stepper_mass_multiply(s, v, momentum);
    brio_stepper_rigid(s, q, &(BrioImpulse){q, momentum, 1}, 1, dv, turning);
    brio_stepper_combine(s, 1, v, -1, dv, dv);
    brio_stepper_combine(s, 1, dq, 1, turning, dq);
    double square =
        2 * brio_stepper_kinetic(s, dq) + 2 * brio_stepper_kinetic(s, dv) / (p->h * p->h);
    double mu = square > 0 ? p->error / square : 0;
    for (int k = 0; k < 20 && mu != 0; k++, mu /= 2) {
        brio_stepper_combine(s, 1, q, -mu, dq, q_try);
        brio_stepper_combine(s, 1, v, -mu / (p->h * p->h), dv, v_try);
        mend_momenta(p, q_try, v_try);
        double error = energy_at(p, q_try, v_try, NULL, &potential) - p->target;
        if (!(fabs(error) < fabs(p->error))) continue;
        p->error = error;
        p->potential = potential;
        brio_stepper_combine(s, 1, q_try, 0, q_try, q);
        brio_stepper_combine(s, 1, v_try, 0, v_try, v);
        return true;
    }
    return false;
}

/* The base method's step: (Q, V), and what its forces gave. */
static BrioStatus base_step(BrioStepper *s, double h)
{
    const double *q_n = brio_stepper_q(s), *v_n = brio_stepper_v(s);
    double *target = brio_stepper_scratch(s, TARGET);
    double *q = brio_stepper_scratch(s, Q), *v = brio_stepper_scratch(s, V);
    double *change = brio_stepper_scratch(s, CHANGE), *before = brio_stepper_scratch(s, BEFORE);
    bool middle = brio_stepper_value(s, "base") == MIDPOINT;
    double a = middle ? 0.5 : 1;
    brio_stepper_combine(s, 1, q_n, h, v_n, target);
    BrioObjective objective = {.target = target,
                               .s = h * h,
                               .a = a,
                               .time = brio_stepper_time(s) + h,
                               .h = h,
                               .blend_damping = middle};
    BRIO_CHECK(brio_stepper_minimise(s, &objective, q));
    brio_stepper_combine(s, 1 / (a * h), q, -1 / (a * h), q_n, v);
    if (middle) brio_stepper_combine(s, 1, v, -1, v_n, v);
    brio_stepper_combine(s, a, q, 1 - a, q_n, brio_stepper_scratch(s, FORCE_POSE));
    brio_stepper_mass_multiply(s, v_n, before);
    brio_stepper_mass_multiply(s, v, change);
    brio_stepper_combine(s, 1, change, -1, before, change);
    return BRIO_OK;
}

static BrioStatus step(BrioStepper *s, double h)
{
    const double *q_n = brio_stepper_q(s), *v_n = brio_stepper_v(s);
    double *q = brio_stepper_scratch(s, Q), *v = brio_stepper_scratch(s, V);
    Projection p = {.s = s, .h = h};
    double added, dissipated, target = brio_stepper_target(s);
    if (isnan(target))
        target = brio_stepper_potential(s, q_n, brio_stepper_time(s), NULL) +
                 brio_stepper_kinetic(s, v_n);
    BRIO_CHECK(base_step(s, h));
    brio_stepper_work(s, q, h, &added, &dissipated);
    p.target = target + added - dissipated;
    mend_momenta(&p, q, v);
    p.error = energy_at(&p, q, v, NULL, &p.potential) - p.target;
    p.tolerance = brio_stepper_value(s, "eps") * (brio_stepper_kinetic(s, v) + fabs(p.error)) +
                  16 * DBL_EPSILON * fabs(p.target);
    int limit = (int)brio_stepper_value(s, "iterations"), count = 0;
    while (count < limit && fabs(p.error) > p.tolerance && improve(&p)) count++;
    brio_stepper_set_target(s, p.target, count);
    return brio_stepper_accept_known(s, h, q, v, p.potential);
}

static const BrioField fields[] = {
    {"base", BRIO_CHOICE, "implicit-midpoint|backward-euler", BACKWARD, 0, 1, 0,
     "The method whose step is projected."},
    {"iterations", BRIO_INTEGER, "", 50, 0, 1000, 0,
     "Maximum number of iterations of a projection."},
    {"eps", BRIO_REAL, "", 1e-10, 0, 1, 0,
     "Tolerated error of the energy, as a fraction of the kinetic energy."},
    {0}};

BRIO_INTEGRATOR(fepr){
    .name = "fepr",
    .summary = "A step of backward Euler (or midpoint), projected to the nearest state with its "
               "energy and momenta. Moves positions, so barriers are not supported.",
    .citation = "Dinev2018b",
    .order = 0, /* none claimed: 0.79 to 0.98 are measured over backward Euler, 2 over midpoint */
    .traits = BRIO_IMPLICIT | BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_KEEPS_ANGULAR_MOMENTUM |
              BRIO_ENERGY_CONTROLLED | BRIO_USES_COMPONENTS,
    .fields = fields,
    .step = step,
};
