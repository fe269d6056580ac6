/* The solver of the one primitive that every implicit method needs:
 *
 *     argmin_q  1/2 |q - target|^2_M + s P(a q + (1 - a) q_n) + s a D_n(q)
 *
 * subject to the lengths of rods if there are any. Without the first and last term it is static
 * equilibrium. How it is solved is a family: one file and one line in list.def. A solver has
 * options, a matrix and statistics; what it solves is a BrioProblem (problem.h). */
#ifndef BRIO_SOLVER_H
#define BRIO_SOLVER_H

#include "../damping/dissipation.h"
#include "constraint.h"

/* Why an iteration ended; the texts are what reports print. */
#define BRIO_REASON_LIST(X)                                                                     \
    X(TOLERANCE, "the step fell below the tolerance")                                           \
    X(ROUNDOFF, "round-off was reached before the tolerance")                                   \
    X(ITERATIONS, "the iteration limit was reached")                                            \
    X(STALLED, "the line search found no lower point")                                          \
    X(BLOCKED, "an element that would invert or a contact leaves no room to move")              \
    X(INDEFINITE, "the matrix could not be made positive definite")                             \
    X(LINEAR, "the linear solver did not converge")                                             \
    X(RODS, "the rods and joints cannot all hold: one is redundant, or they are stretched out") \
    X(START, "the starting point is not allowed")                                               \
    X(NOT_FINITE, "a value is not finite")

typedef enum BrioReason {
#define X(name, text) BRIO_REASON_##name,
    BRIO_REASON_LIST(X)
#undef X
} BrioReason;
const char *brio__reason_text(BrioReason reason);

typedef struct BrioSolver BrioSolver;
typedef struct BrioProblem BrioProblem; /* problem.h */
typedef struct BrioValue BrioValue;

typedef struct BrioSolverType {
    const char *name, *summary, *citation;
    /* Solves end after a fixed number of iterations, so that what is left unbalanced may be large.
     * Static equilibria are then solved by the first solver of the list. */
    bool unfinished;
    /* From q_n (or a guess of the objective) to the minimiser: q, `value` there, and the
     * objective's gradient in solver->gradient. */
    BrioStatus (*minimise)(const BrioProblem *problem, double *q, BrioValue *value);
    /* Makes what a solve with the scale s a^2 will need, so that it costs nothing later. May be
     * NULL. */
    BrioStatus (*prepare)(BrioSolver *solver, const BrioState *state, double scale);
    void (*destroy)(void *self); /* of solver->self; may be NULL */
    /* Whether it can solve for all that is in a system; the error says why not. May be NULL. */
    BrioStatus (*fits)(const BrioSystem *system, const BrioSolverOptions *options,
                       const BrioIntegrator *integrator, BrioError *error);
} BrioSolverType;

#define BRIO_SOLVER(symbol)                           \
    extern const BrioSolverType brio__solve_##symbol; \
    const BrioSolverType brio__solve_##symbol =

/* By name, NULL: none like that; i-th of the list, NULL past the last. */
const BrioSolverType *brio__solver_type(const char *name);
const BrioSolverType *brio__solver_type_at(int i);

struct BrioSolver {
    const BrioSystem *system;
    const BrioSolverType *type;
    BrioSolverOptions options;
    BrioPotential *potential;          /* borrowed, like */
    BrioDissipation *dissipation;      /* this */
    BrioConstraints *constraints;      /* NULL: none */
    struct BrioRanks *ranks;           /* NULL: no potentials of volumes */
    struct BrioForesight *foresight;   /* NULL: no pairs to foresee */
    struct BrioComponents *components; /* of the system, */
    struct BrioRigid *rigid;           /* and their rigid motions */
    BrioLinear *linear; /* made by the first minimisation: explicit methods need none */
    void *self;         /* of the type; NULL until it needs something */
    BrioSolveTotals totals;
    int halved; /* how often the step was halved: the shorter, the more iterations it may take */
    /* room for vectors: world positions and directions, ... */
    double *x, *dx, *x_fixed_n;
    /* ... and of the length of q; `gradient` is that of the objective, and after a minimisation
     * what the solve left unbalanced */
    double *gradient, *step, *trial, *blend, *difference, *damped_pose;
    /* the current minimisation, or the last one */
    double script_fraction; /* fraction of their path that fixed vertices have covered */
    bool pushed;            /* something blocked them in this step */
    BrioReason reason;      /* why it ended */
    int iterations;
    double speed;    /* max|dq|/h of its last Newton step */
    double residual; /* its square, where that step began */
    bool massless;
    BrioLimit limit;   /* the element that last limited a step, */
    double limit_step; /* to this fraction of its length */
    char message[800]; /* a sentence for people if it failed */
    /* who is asked in every iteration whether to go on (watch.c); NULL: nobody */
    BrioWatchFn *watch;
    void *watcher;
    bool stopped;    /* the answer was no: holds until brio__solver_begin_step */
    bool unsolvable; /* a shorter step does not help: holds until brio__solver_begin_step */
};

/* Never AUTO. */
BrioQuality brio__solver_quality(const BrioSystem *system, const BrioSolverOptions *options);
/* tol in m/s, also where it is left to `quality`. */
double brio__solver_tol(const BrioSystem *system, const BrioSolverOptions *options);
BrioStatus brio__solver_create(const BrioSystem *system, const BrioSolverOptions *options,
                               BrioSolver **solver);
/* What it solves for; both stay the caller's. */
void brio__solver_set(BrioSolver *solver, BrioPotential *potential, BrioDissipation *dissipation);
void brio__solver_free(BrioSolver *solver);

/* A step begins, or something else that solves: nobody has said stop yet. */
static inline void brio__solver_begin_step(BrioSolver *solver)
{
    solver->stopped = solver->unsolvable = false;
}
/* A step or a half of it begins at this state: the damping models are lagged there. */
BrioStatus brio__solver_begin(BrioSolver *solver, const BrioState *state);
/* Makes and analyses the matrix if that has not been done. */
BrioStatus brio__solver_prepare(BrioSolver *solver, const BrioState *state);

/* `state` gives q_n, parameters and fixed vertices. q receives the minimiser; `value`: there. */
BrioStatus brio__minimise(BrioSolver *solver, const BrioState *state,
                          const BrioObjective *objective, double *q, BrioValue *value);

#endif
