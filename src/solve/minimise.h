/* The one primitive that every implicit method needs:
 *
 *     argmin_q  1/2 |q - target|^2_M + s P(a q + (1 - a) q_n) + s a D_n(q)
 *
 * by projected Newton with a backtracking line search, subject to the lengths of rods if there are
 * any. Without the first and last term it is static equilibrium. */
#ifndef BRIO_MINIMISE_H
#define BRIO_MINIMISE_H

#include "../contact/contact.h"
#include "../damping/damping.h"
#include "constraint.h"

/* Why an iteration ended; the texts are what reports print. */
#define BRIO_REASON_LIST(X)                                                                        \
    X(TOLERANCE, "the step fell below the tolerance")                                              \
    X(ROUNDOFF, "round-off was reached before the tolerance")                                      \
    X(ITERATIONS, "the iteration limit was reached")                                               \
    X(STALLED, "the line search found no lower point")                                             \
    X(BLOCKED, "an element that would invert or a contact leaves no room to move")                 \
    X(INDEFINITE, "the matrix could not be made positive definite")                                \
    X(LINEAR, "the linear solver did not converge")                                                \
    X(RODS, "the rods cannot all have their lengths: one is redundant, or they are stretched out") \
    X(START, "the starting point is not allowed")                                                  \
    X(NOT_FINITE, "a value is not finite")

typedef enum BrioReason {
#define X(name, text) BRIO_REASON_##name,
    BRIO_REASON_LIST(X)
#undef X
} BrioReason;
const char *brio__reason_text(BrioReason reason);

/* Wall time by phase, in seconds, and counts; they add up over the solver's life. */
/* clang-format off */
#define BRIO_PHASE_LIST(X) \
    X(gradient) X(hessian) X(assembly) X(contact) X(analysis) X(factor) X(solve) \
    X(broad_phase) X(ccd) X(line_search)
/* clang-format on */
typedef struct BrioSolveTotals {
#define X(name) double name;
    BRIO_PHASE_LIST(X)
#undef X
    int64_t minimisations, iterations, evaluations, roundoff, analyses, factorisations, searches,
        candidates;
} BrioSolveTotals;

struct BrioLocalGlobal; /* local_global.h */

struct BrioSolver {
    const BrioSystem *system;
    BrioSolverOptions options;
    int damper_count;
    BrioDamper damper[BRIO_LOSSES]; /* those that were asked for, then friction if anything rubs */
    bool friction;
    BrioEvaluator *evaluator;
    BrioContact *contact;                 /* NULL: bodies do not meet each other */
    BrioConstraints *constraints;         /* NULL: no rods */
    struct BrioLocalGlobal *local_global; /* made by its first minimisation */
    BrioLinear *linear;   /* made by the first minimisation: explicit methods need none */
    double *x, *x_held_n; /* world positions; held vertices at the start of the step */
    bool project;         /* the matrix at work: Hessians are projected */
    /* 1: held vertices are where they end the step; less while something stands in their way */
    double held_part;
    double *dx, *step, *trial, *blend, *difference, *damped_pose;
    double *gradient; /* of the objective; after a minimisation, what the solve left unbalanced */
    double *term_energy; /* and of contact, of the last evaluation */
    double contact_energy, hand_energy;
    /* P where a gradient was last taken: after a minimisation, where it ended */
    double potential;
    BrioSolveTotals totals;
    /* the last minimisation */
    BrioReason reason;
    int iterations;
    /* how often the step was halved: the shorter it is, the more iterations it may take */
    int halved;
    double speed; /* max|dq|/h of its last Newton step */
    bool massless;
    BrioLimit limit;   /* the element that last limited a step, */
    double limit_step; /* to this part of its length */
    char message[800]; /* a sentence for people if it failed */
};

/* Names of solvers; the name itself if there is one like that, NULL if not. */
#define BRIO_SOLVERS                     \
    {                                    \
        "newton", "root", "local-global" \
    }
const char *brio__solver_type(const char *name);

BrioStatus brio__solver_create(const BrioSystem *system, const BrioSolverOptions *options,
                               const BrioDamping *damping, int damping_count, BrioSolver **solver);
void brio__solver_free(BrioSolver *solver);

/* Whether solves take a fixed number of iterations, so that what is left unbalanced may be
 * large. */
static inline bool brio__solver_unfinished(const BrioSolver *solver)
{
    return !strcmp(solver->options.type, "local-global");
}

/* Whether damping or friction acts as a force; filters of velocities do not. */
bool brio__solver_damped(const BrioSolver *solver);

/* The primitive with what it is about. */
typedef struct BrioProblem {
    BrioSolver *solver;
    const BrioState *state;
    const BrioObjective *objective;
    double mass;      /* m: 1, or 0 without masses */
    int damper_count; /* those of the solver, or none if none acts as a force */
} BrioProblem;

typedef struct BrioValue {
    double value, noise; /* a bound on its round-off */
} BrioValue;

/* The objective's value at q, and its gradient if wanted. Leaves the world positions of y in
 * solver->x. */
BrioValue brio__problem_value(const BrioProblem *problem, const double *q, double *gradient);

/* `state` gives q_n, parameters and held vertices. q receives the minimiser. */
BrioStatus brio__minimise(BrioSolver *solver, const BrioState *state,
                          const BrioObjective *objective, double *q);

/* The objective's gradient at q into solver->gradient: what a minimisation that ended there left
 * unbalanced. */
void brio__objective_gradient(BrioSolver *solver, const BrioState *state,
                              const BrioObjective *objective, const double *q);
/* The pose and the velocity that damping acts on, for the coordinates q of an objective. */
BrioMotion brio__damped_motion(BrioSolver *solver, const BrioState *state,
                               const BrioObjective *objective, const double *q);

/* P at q and a time, and its gradient if wanted. */
double brio__potential(BrioSolver *solver, const BrioState *state, const double *q, double time,
                       double *gradient);

/* World positions of q at a time within the step, held vertices no farther than `held_part` of
 * their way. */
void brio__solver_positions(BrioSolver *solver, const BrioState *state, const double *q,
                            double time, double *x);

/* A step begins at this state: the damping models are lagged there. */
BrioStatus brio__solver_begin(BrioSolver *solver, const BrioState *state);

/* Makes and analyses the matrix if that has not been done. */
BrioStatus brio__solver_prepare(BrioSolver *solver, const BrioState *state);

#endif
