/* The primitive with what it is about: the objective's value, gradient and Hessian, how far a step
 * may go, and the motion of fixed vertices while it is solved.
 *
 *     F(q) = m/2 |q - target|^2_M + s P(y) + s a D_n(q),      y = a q + (1 - a) q_n
 *
 * With blend_damping D_n is taken at y: s D_n(y). Either way its gradient has the factor s a. */
#ifndef BRIO_PROBLEM_H
#define BRIO_PROBLEM_H

#include "solver.h"

struct BrioProblem {
    BrioSolver *solver;
    BrioPotential *potential;
    BrioDissipation *dissipation; /* NULL: nothing that acts as a force counts */
    const BrioState *state;
    const BrioObjective *objective;
    double mass; /* m: 1, or 0 without masses */
};

struct BrioValue {
    double value, noise;               /* of the objective, and a bound on its round-off */
    double potential, potential_noise; /* P, and a bound on its round-off */
    double barrier;                    /* energy of what forbids contact, part of P */
};

BrioProblem brio__problem(BrioSolver *solver, const BrioState *state,
                          const BrioObjective *objective);

/* The objective at q, and its gradient unless NULL. */
BrioValue brio__problem_value(const BrioProblem *problem, const double *q, double *gradient);
/* The same where P and its gradient at q are known, as those of the objective's guess may be. */
BrioValue brio__problem_value_known(const BrioProblem *problem, const double *q,
                                    const BrioGuess *known, double *gradient);
/* The matrix of the objective at q, with `shift` times the masses added; its Hessian is a mean of
 * the exact one and the one projected element by element, the latter with weight `projected`. */
BrioStatus brio__problem_hessian(const BrioProblem *problem, const double *q, double projected,
                                 double shift);
/* How far q may go along solver->step without an element becoming forbidden or two surfaces
 * meeting, at y and, if a < 1, at q itself. */
double brio__problem_max_step(const BrioProblem *problem, const double *q);
/* How far the world positions solver->x may go along solver->dx, if less than max; notes what
 * limits it. */
double brio__problem_allowed(const BrioProblem *problem, double max);

/* The pose and the velocity that damping acts on, for the coordinates q. */
BrioMotion brio__problem_motion(const BrioProblem *problem, const double *q);
/* The pose at the world positions solver->x: those of y, at the time a time + (1 - a) t_n. */
BrioPose brio__problem_pose(const BrioProblem *problem);
/* World positions of y, fixed vertices as far as they have come. */
void brio__problem_positions(const BrioProblem *problem, const double *q, double *x);

/* A multiplier over its reaction; s = 0 where rods alone are solved for. */
static inline double brio__multiplier_scale(const BrioObjective *o)
{
    return o->s > 0 ? o->s * o->a : o->h * o->h / 2;
}

/* Whether scripts move fixed vertices during this minimisation (push.h). */
bool brio__problem_scripted(const BrioProblem *problem);

/* BRIO_STOPPED if whoever watches wants the step to end, from then on without asking again: all
 * processes agree. A solver asks in every iteration; what it returns then does not matter, since
 * brio__minimise knows. */
BrioStatus brio__solver_ask(BrioSolver *solver, const BrioState *state, double h);
/* BRIO_STOPPED, with its sentence. */
BrioStatus brio__solver_stop(BrioSolver *solver);
static inline BrioStatus brio__problem_look(const BrioProblem *problem)
{
    BrioSolver *s = problem->solver;
    return s->watch ? brio__solver_ask(s, problem->state, problem->objective->h) : BRIO_OK;
}

/* Ends a minimisation: notes the reason, and where it failed a sentence. Returns the status. */
BrioStatus brio__problem_finish(const BrioProblem *problem, BrioReason reason, BrioStatus status);

#endif
