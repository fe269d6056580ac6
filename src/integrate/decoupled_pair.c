/* Decoupled methods over any tableau [You2026, Eq. 6-8, 15-16]: positions of a Runge-Kutta method
 * Phi, momenta mixed with those of its adjoint Phi*,
 *
 *     (q', w) = Phi(q, v),    v' = w - alpha dv,
 *     dv = h M^-1 sum_i b_i (grad P(Q*_i) - grad P(Q_i)),
 *
 * with the stages Q of Phi and Q* of Phi*. Damping is part of Phi's solves and never of dv.
 *
 * If Phi is of order p, so is Phi*, and dv = O(h^(p+1)): every bounded alpha leaves the order p. So
 * `alpha: search`, which chooses alpha in every step so that H(q', v') is the target, has the order
 * of its tableau; over backward Euler it is A-search as the paper prints it. Phi of order two and
 * more follows the parabola of free flight exactly, so that nothing has to be done about weight.
 *
 * The adjoint of a method solved stage by stage is one itself only if a_ij = b_j for i > j, which
 * SDIRK2 has; else its stages are solved together (pair.h). Its poses give forces only: those of
 * the body are Phi's. */
#include "pair.h"
#include "target.h"

static const BrioField fields[] = {
    {"tableau", BRIO_CHOICE, BRIO_TABLEAU_CHOICE, 8, 0, 64, 0,
     "The method Phi; `own` takes A and b."},
    {"A", BRIO_LIST, "", 0, -100, 100, 0, "The matrix of your own tableau, row by row."},
    {"b", BRIO_LIST, "", 0, -100, 100, 0, "The weights of its stages."},
    {"alpha", BRIO_REAL, "|search", 1, -10, 10, 0,
     "0: Phi itself; 1: the decoupled symplectic method; search: in every step so that the energy "
     "meets its target."},
    {"adjoint", BRIO_CHOICE, "symmetric|symplectic", 0, 0, 1, 0,
     "Phi*: the symmetric adjoint of the paper, or the symplectic one."},
    {"alpha_min", BRIO_REAL, "", 0, -10, 10, 0, "Least alpha of the search."},
    {"alpha_max", BRIO_REAL, "", 1.1, -10, 10, 0, "Largest alpha of the search."},
    {"energy_scale", BRIO_REAL, "", 1, 0, 10, 0,
     "First target above the ground level, as a fraction of the first energy above it."},
    {"decay", BRIO_REAL, "s", NAN, 1e-9, 1e12, 0,
     "Time in which the target above the ground falls to 1/e; absent: never."},
    {"ground", BRIO_REAL, "J|rest", 0, -1e300, 1e300, 0,
     "Energy that decay leads to; rest: the potential of the settled scene."},
    {0}};

/* Where the fields stand that the checks read. */
enum { ALPHA = 3 + 2 * BRIO_MAX_LIST, ADJOINT, LEAST, MOST };
/* memos */
enum { GROUND_KNOWN, GROUND };

/* Phi and its adjoint; whether the latter is solved stage by stage by the former's code. */
typedef struct Methods {
    BrioTableau phi, adjoint;
    bool plain;
} Methods;

static BrioStatus choose(const double *values, Methods *m, char *reason, size_t size)
{
    BRIO_CHECK(brio__tableau_choose(values, &m->phi, reason, size));
    m->adjoint = brio__tableau_adjoint(&m->phi);
    if (values[ADJOINT] != 0 && !brio__tableau_symplectic_adjoint(&m->phi, &m->adjoint)) {
        snprintf(reason, size, "%s has a weight of 0, so it has no symplectic adjoint",
                 m->phi.name);
        return BRIO_ERROR_INPUT;
    }
    m->plain = brio__tableau_is_diagonal(&m->adjoint);
    return BRIO_OK;
}

static BrioStatus check(const double *values, unsigned *traits, char *reason, size_t size)
{
    Methods m;
    BRIO_CHECK(choose(values, &m, reason, size));
    if (values[LEAST] > values[MOST]) {
        snprintf(reason, size, "alpha_min = %g is more than alpha_max = %g", values[LEAST],
                 values[MOST]);
        return BRIO_ERROR_INPUT;
    }
    if (!brio__tableau_is_stiffly_accurate(&m.phi)) *traits &= ~(unsigned)BRIO_END_IS_SOLVED;
    if (values[ALPHA] == INFINITY) *traits |= BRIO_ENERGY_CONTROLLED;
    return BRIO_OK;
}

/* (q', w) and dv. */
static BrioStatus predict(BrioStepper *s, const Methods *m, double h, double *q, double *w,
                          double *dv)
{
    double *slope = brio_stepper_scratch(s, 3);
    double *unused_q = brio_stepper_scratch(s, 4);
    double *unused_v = brio_stepper_scratch(s, 5);
    BRIO_CHECK(brio__tableau_step(
        s,
        &(BrioTableauStep){.tableau = &m->phi, .h = h, .weight = 1, .scratch = 6, .slope = slope},
        q, w));
    if (m->plain) {
        BRIO_CHECK(brio__tableau_step(s,
                                      &(BrioTableauStep){.tableau = &m->adjoint,
                                                         .h = h,
                                                         .weight = BRIO_NOT_COUNTED,
                                                         .undamped = true,
                                                         .scratch = 6,
                                                         .slope = dv},
                                      unused_q, unused_v));
    } else {
        BrioPair pair = brio__pair(&m->adjoint, &m->adjoint);
        brio_stepper_combine(s, 1, brio_stepper_v(s), 0, brio_stepper_v(s), unused_v);
        BRIO_CHECK(brio__pair_step(s, &pair, h, BRIO_NOT_COUNTED, 6, dv, unused_q, unused_v));
    }
    brio_stepper_combine(s, h, dv, -h, slope, dv);
    brio_stepper_mass_solve(s, dv, dv);
    return BRIO_OK;
}

/* The alpha with which H(q', w - alpha dv) is the target, and that target. */
static BrioStatus search(BrioStepper *s, double h, double ground, double target, const double *q,
                         const double *w, const double *dv, double *alpha)
{
    double *p = brio_stepper_scratch(s, 3), added, dissipated;
    double tau = brio_stepper_value(s, "decay");
    brio_stepper_work(s, q, h, &added, &dissipated);
    target += added - dissipated;
    if (!isnan(tau)) target = ground + exp(-h / tau) * (target - ground);
    double potential = brio_stepper_potential(s, q, brio_stepper_time(s) + h, NULL);
    double kinetic = brio_stepper_kinetic(s, w);
    brio_stepper_mass_multiply(s, dv, p);
    *alpha = brio__search_alpha(&(BrioSearch){.excess = potential + kinetic - target,
                                              .linear = brio_stepper_dot(s, w, p),
                                              .square = brio_stepper_dot(s, dv, p),
                                              .scale = kinetic + fabs(potential) + fabs(target),
                                              .min = brio_stepper_value(s, "alpha_min"),
                                              .max = brio_stepper_value(s, "alpha_max")});
    brio_stepper_set_target(s, target, *alpha);
    return BRIO_OK;
}

static BrioStatus step(BrioStepper *s, double h)
{
    Methods m;
    char reason[256];
    double *q = brio_stepper_scratch(s, 0);
    double *w = brio_stepper_scratch(s, 1);
    double *dv = brio_stepper_scratch(s, 2);
    double alpha = brio_stepper_value(s, "alpha"), ground = 0, target = NAN;
    bool searches = alpha == INFINITY;
    BrioStatus status = choose(brio_stepper_values(s), &m, reason, sizeof reason);
    if (status != BRIO_OK) return brio_stepper_fail(s, status, reason);
    if (searches) {
        BRIO_CHECK(brio__target_ground(s, GROUND_KNOWN, GROUND, &ground));
        target = brio__target_at_start(s, ground);
    }
    BRIO_CHECK(predict(s, &m, h, q, w, dv));
    if (searches)
        BRIO_CHECK(search(s, h, ground, target, q, w, dv, &alpha));
    else
        brio_stepper_set_target(s, NAN, alpha);
    brio_stepper_combine(s, 1, w, -alpha, dv, w);
    return brio_stepper_accept(s, h, q, w);
}

BRIO_INTEGRATOR(decoupled){
    .name = "decoupled",
    .summary = "Positions of a Runge-Kutta method, momenta of its adjoint: linearly symplectic "
               "over any tableau, or with an energy target; over sdirk2 by default.",
    .citation = "You2026",
    .order = 2,
    .history = 2,
    .traits = BRIO_IMPLICIT | BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_END_IS_SOLVED,
    .fields = fields,
    .step = step,
    .check = check,
};
