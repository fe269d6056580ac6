/* Writing an integrator: one file over these functions and one line in src/integrate/list.def, or
 * brio_register_integrator at run time. The built-in integrators use nothing else.
 * docs/integrator.md walks through one; examples/ has a plain one and one that controls energy.
 *
 * A step is a function from the state (q, v) at t to the one at t + h. The integrator works on
 * vectors of the length of q, solves and evaluates through the stepper, and ends with
 * brio_stepper_accept. Everything it needs from step to step is in the state: history vectors and
 * memos. A step that fails is undone and tried in halves, so `step` must accept any h.
 *
 * Part of brio.h, which includes it. Licence: MIT. */
#ifndef BRIO_INTEGRATOR_API_H
#define BRIO_INTEGRATOR_API_H

#include "brio.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an integrator sees: the state at t_n and the tools. */
typedef struct BrioStepper BrioStepper;

/* Traits: properties that the tests check, and that decide which scenes accept the integrator. */
enum {
    BRIO_IMPLICIT = 1,
    BRIO_SYMPLECTIC = 2,
    BRIO_KEEPS_LINEAR_MOMENTUM = 4,  /* of an isolated body, to round-off */
    BRIO_KEEPS_ANGULAR_MOMENTUM = 8, /* likewise */
    BRIO_ENERGY_CONTROLLED = 16,
    BRIO_DISSIPATIVE = 32,
    /* the end state is the state that the solve found: barriers are allowed */
    BRIO_END_IS_SOLVED = 64,
    /* uses the lengths of springs and no other energy: for bodies of springs only */
    BRIO_SPRINGS_ONLY = 128,
    BRIO_TAKES_CONSTRAINTS = 256, /* rigid rods have their lengths at the end of a step */
    /* one linear solve per step, with forces linearised at its start; friction, which sticks there,
     * would stop everything */
    BRIO_LINEARISED = 512,
    /* calls brio_stepper_unsupported, brio_stepper_scale, brio_stepper_rigid,
     * brio_stepper_rigid_way or brio_stepper_isolated */
    BRIO_USES_COMPONENTS = 1024
};

/* How the error of a step is estimated for automatic steps (BrioSimDef.tol;
 * docs/adaptive.md). */
typedef enum BrioEstimate {
    /* by two steps of h/2, whose result is used: any method with an order, three times the cost */
    BRIO_BY_HALVES,
    /* error_constant h^(p+1) times the derivative p + 1 of q, by differences of velocities: of
     * methods of order p = 1 and 2, at no price */
    BRIO_BY_DIFFERENCES,
    BRIO_BY_ITSELF, /* `step` says it through brio_stepper_error */
    BRIO_NO_ESTIMATE
} BrioEstimate;

typedef struct BrioIntegrator {
    const char *name, *summary, *citation;
    int order;   /* declared and tested; 0: none claimed */
    int history; /* vectors of the length of q kept in the state */
    unsigned traits;
    const BrioField *fields; /* may be NULL */
    /* Advances from (q, v) at t to t + h through brio_stepper_accept; a positive status rejects the
     * step. */
    BrioStatus (*step)(BrioStepper *stepper, double h);
    /* Called before the first step. Rejects inconsistent values with a sentence in `reason`, and
     * sets traits that depend on values. May be NULL. */
    BrioStatus (*check)(const double *values, unsigned *traits, char *reason, size_t size);
    BrioEstimate estimate;
    double error_constant; /* of BRIO_BY_DIFFERENCES; 0: 1/2 of order 1, 1/12 of order 2 */
} BrioIntegrator;
/* It must stay in memory. */
BRIO_API BrioStatus brio_register_integrator(const BrioIntegrator *integrator, BrioError *error);
BRIO_API const BrioIntegrator *brio_integrator(const char *name);
BRIO_API const BrioIntegrator *brio_integrator_at(int i); /* i = 0, 1, ...; NULL past the last */

/* ---- the state -------------------------------------------------------------------------- */

BRIO_API const char *brio_stepper_name(const BrioStepper *stepper); /* of the integrator */
BRIO_API const double *brio_stepper_q(const BrioStepper *stepper);
BRIO_API const double *brio_stepper_v(const BrioStepper *stepper);
BRIO_API int64_t brio_stepper_coordinates(const BrioStepper *stepper); /* length of q and v */
BRIO_API double brio_stepper_time(const BrioStepper *stepper);
BRIO_API int64_t brio_stepper_step(const BrioStepper *stepper); /* steps so far */
/* Of the field table: one value by name, and all of them in the table's order. */
BRIO_API const double *brio_stepper_values(const BrioStepper *stepper);
BRIO_API double brio_stepper_value(const BrioStepper *stepper, const char *field);
BRIO_API double *brio_stepper_history(BrioStepper *stepper, int k); /* saved with the state */
/* How many history vectors are in use: 0 at the start and after the state was set from outside; the
 * integrator counts up. After a halved step last_h differs from h. */
BRIO_API int brio_stepper_history_used(const BrioStepper *stepper);
BRIO_API void brio_stepper_set_history_used(BrioStepper *stepper, int count);
BRIO_API double brio_stepper_last_h(const BrioStepper *stepper);
/* k < BRIO_SCRATCH, undefined at the start of a step */
BRIO_API double *brio_stepper_scratch(BrioStepper *stepper, int k);
enum { BRIO_SCRATCH = 40 };
/* numbers of a BRIO_LIST */
BRIO_API const double *brio_stepper_list(const BrioStepper *stepper, const char *field, int *count);

/* A few numbers that the integrator stores in the state (k < 4): 0 at the start and after the state
 * was set from outside. */
BRIO_API double *brio_stepper_memo(BrioStepper *stepper, int k);
/* A number that changes when live parameters, hands or fixed points were changed from outside.
 * Values of P in memos and history are valid as long as it stays the same. With `scripted`, it also
 * changes when scripts have moved points. */
BRIO_API double brio_stepper_fingerprint(BrioStepper *stepper, int scripted);

/* ---- solving ---------------------------------------------------------------------------- */

/* Where a solve may start. */
typedef struct BrioGuess {
    const double *q;
    const double *gradient; /* of P at q, with P and its round-off; NULL: not known, or a < 1 */
    double potential, noise;
} BrioGuess;

/* The primitive of every implicit method:
 *
 *     argmin_q  1/2 |q - target|^2_M + s P(a q + (1 - a) q_n) + s a D_n(q)
 *
 * with world points at `time` for q, q_n the state's coordinates and D_n the dissipation potentials
 * of the damping models. Their force -grad D_n acts at the velocity (q - from)/over. Set `from` and
 * `over` to the velocity of your method; by default it is (q - q_n)/h. (Models that compare poses,
 * such as strain-energy, ignore `from` and measure q against q_n over the time between them.) The
 * solver's `tol` is compared with displacements over `h`.
 *
 * If the system has rods, they have their lengths at q, and the gradient is a sum of their forces.
 * Then s may be 0: masses and rods only.
 *
 * `weight` is the fraction of this solve's force in the velocity change of the step, b_i of a
 * Runge-Kutta method; 0 means 1, BRIO_NOT_COUNTED none. The ledger needs it: the work of damping
 * and of unbalanced forces is the weighted force times the displacement of the step. */
typedef struct BrioObjective {
    const double *target;
    double s, a;
    double time, h;
    double weight;
    const double *from; /* NULL: q_n over h */
    double over;
    /* 1: omits the first and last term: static equilibrium. 2: likewise, and names rigid motions
     * that nothing resists, in a warning or in the reason of a failure */
    int massless;
    int linear; /* one Newton step from q_n, with a line search only if some states are forbidden */
    int undamped; /* omits D_n */
    /* evaluates D_n at y = a q + (1 - a) q_n, measured against q_n over the time a h: s D_n(y).
     * Damping then exerts no torque about y */
    int blend_damping;
    int rods_from_start; /* rods act along their directions at q_n instead of q */
    /* friction keeps the normal forces of the previous solve (in the first: of the start of the
     * step) instead of renewing them; for methods that mix solves and count them later */
    int keeps_friction;
    /* for solvers with a fixed number of iterations: how many (0: from the options), and where they
     * start (NULL: where gravity alone would lead) */
    int iterations;
    const BrioGuess *guess;
} BrioObjective;
#define BRIO_NOT_COUNTED (-1e300)

/* What a solve found, in addition to q. */
typedef struct BrioSolution {
    double potential; /* P(q); of a `linear` objective P(q_n) */
    double
        *residual; /* memory of the caller for the objective's gradient at q; NULL: not requested */
} BrioSolution;

/* `q` receives the minimiser. The second function also fills `solution`. */
BRIO_API BrioStatus brio_stepper_minimise(BrioStepper *stepper, const BrioObjective *objective,
                                          double *q);
BRIO_API BrioStatus brio_stepper_solve(BrioStepper *stepper, const BrioObjective *objective,
                                       double *q, BrioSolution *solution);
/* The objective's gradient at q: M (q - target) + s a grad(P + D). */
BRIO_API void brio_stepper_objective_gradient(BrioStepper *stepper, const BrioObjective *objective,
                                              const double *q, double *gradient);
/* Whether solves end after a fixed number of iterations (local/global). The forces that they leave
 * unbalanced may then be large. */
BRIO_API int brio_stepper_unfinished(const BrioStepper *stepper);
/* Prepares a solve of this objective (the factor of a constant matrix), so that the cost of a step
 * does not depend on whether the step needs that solve. */
BRIO_API BrioStatus brio_stepper_prepare(BrioStepper *stepper, const BrioObjective *objective);
/* The solver's tolerance in m/s and its iteration limit, for iterations of your own. The second
 * function counts these iterations for reports. */
BRIO_API double brio_stepper_tolerance(const BrioStepper *stepper, int *max_iterations);
BRIO_API void brio_stepper_count_iterations(BrioStepper *stepper, int count);
/* Whether the watch function (brio_sim_watch) wants the step to end, for iterations of your own
 * that may take long. If so, return BRIO_STOPPED. Solves ask by themselves. */
BRIO_API int brio_stepper_stopped(BrioStepper *stepper, int iteration);
/* How many rods there are; the force f of those of the last solve,
 * M (q - target) + s a grad(P + D) = f; velocities fitted to the rods at q and a time: M^-1 times a
 * sum of their forces is removed. Without rods they change nothing (f = 0). */
BRIO_API int brio_stepper_rods(const BrioStepper *stepper);
BRIO_API void brio_stepper_rod_force(BrioStepper *stepper, double *f);
BRIO_API BrioStatus brio_stepper_fit_velocities(BrioStepper *stepper, const double *q, double time,
                                                double *v);
/* Of methods whose v' has `rate` times the change of q. Constraints pulled along their directions
 * at q_n by all of what moves q: half of it stays in v', and the other half acts along those at
 * q', to which v' is fitted (RATTLE [Andersen1983]). Uses scratch vector 5. */
BRIO_API BrioStatus brio_stepper_rattle(BrioStepper *stepper, double h, double rate,
                                        const double *q, double *v);

/* ---- potential and forces --------------------------------------------------------------- */

/* P(q) at a time, and its gradient if `gradient` is not NULL. The second also gives a bound on the
 * round-off of that sum (`noise` may be NULL). */
BRIO_API double brio_stepper_potential(BrioStepper *stepper, const double *q, double time,
                                       double *gradient);
BRIO_API double brio_stepper_evaluate(BrioStepper *stepper, const double *q, double time,
                                      double *gradient, double *noise);
/* f = -grad P(q) plus the forces of the damping models at (q, v), for explicit methods. `h` is the
 * step (models that compare poses look back by it); `weight` as above. f must not be q or v. */
BRIO_API void brio_stepper_force(BrioStepper *stepper, const double *q, const double *v,
                                 double time, double h, double weight, double *f);
/* f = the damping forces alone; f must not be q or v. */
BRIO_API void brio_stepper_damping_force(BrioStepper *stepper, const double *q, const double *v,
                                         double h, double weight, double *f);
/* Friction of the normal forces at the start of the step minus that of those which the solve of
 * `objective` found, f, both for the slides that end at its solution q: for methods that give the
 * two normal forces other weights than the solve does. Returns 0 if there is no friction or no
 * change. The second function counts it with a weight. */
BRIO_API int brio_stepper_friction_shift(BrioStepper *stepper, const BrioObjective *objective,
                                         const double *q, double *f);
BRIO_API void brio_stepper_count_friction(BrioStepper *stepper, const BrioObjective *objective,
                                          const double *q, double weight, double *f);
/* The gradient of the part of P that is linear in positions, the same at every q: minus weight. */
BRIO_API void brio_stepper_uniform_gradient(BrioStepper *stepper, double *gradient);

/* Linearised forces: K = d2P/dq2 at q, exact and complete (elements, contact, hands), kept until
 * the next solve; y = K x; and (M + s K+) x = b with K+ the semidefinite projection of K at q, one
 * linear solve. */
BRIO_API BrioStatus brio_stepper_linearise(BrioStepper *stepper, const double *q, double time);
BRIO_API void brio_stepper_stiffness(BrioStepper *stepper, const double *x, double *y);
BRIO_API BrioStatus brio_stepper_linear_solve(BrioStepper *stepper, const double *q, double time,
                                              double s, const double *b, double *x);

/* ---- what the ledger counts ------------------------------------------------------------- */

/* Count a solve that found q with the weight BRIO_NOT_COUNTED, now that its fraction
 * `objective->weight` is known, as if it had been counted at once: for methods that mix solves. The
 * second does it with the objective's gradient at q known. The third counts the damping force only;
 * a weight counted twice with opposite signs leaves nothing, so that brio_stepper_work can be asked
 * beforehand. */
BRIO_API void brio_stepper_count_solve(BrioStepper *stepper, const BrioObjective *objective,
                                       const double *q);
BRIO_API void brio_stepper_count_residual(BrioStepper *stepper, const BrioObjective *objective,
                                          const double *q, const double *residual);
BRIO_API void brio_stepper_count_damping(BrioStepper *stepper, const BrioObjective *objective,
                                         const double *q);
/* Whether there are damping models or friction, and whether one of them acts as a force (others
 * filter velocities). */
BRIO_API int brio_stepper_dampers(const BrioStepper *stepper);
BRIO_API int brio_stepper_damped(const BrioStepper *stepper);
/* What has been counted in this step: f += scale times minus the damping forces, model by model; r
 * = the forces that solves left unbalanced. The third function discards the damping forces, for a
 * step that is discarded and tried again. */
BRIO_API void brio_stepper_add_damping(BrioStepper *stepper, double scale, double *f);
BRIO_API void brio_stepper_residual(BrioStepper *stepper, double *r);
/* Of solves that end early: f = minus the force of friction that has been counted in this step.
 * Returns 0 if there is none, or solves do not end early. */
BRIO_API int brio_stepper_sticking_friction(const BrioStepper *stepper, double *f);
BRIO_API void brio_stepper_discard_damping(BrioStepper *stepper);

/* Energy control. `target` is the energy that the last step aimed at, NAN initially. It and `alpha`
 * go to the ledger. An integrator that controls energy sets both before it accepts.
 * brio_stepper_work computes what this step would book if it ended at q: energy added from outside
 * (moved points) and removed by the damping forces counted so far. (brio_stepper_accept subtracts
 * the energy that velocity filters remove afterwards from the target.) */
BRIO_API double brio_stepper_target(const BrioStepper *stepper);
BRIO_API void brio_stepper_set_target(BrioStepper *stepper, double target, double alpha);
BRIO_API void brio_stepper_work(BrioStepper *stepper, const double *q, double h, double *added,
                                double *dissipated);

/* ---- vectors ---------------------------------------------------------------------------- */

/* a = M^-1 f; p = M v; 1/2 v.M v. */
BRIO_API void brio_stepper_mass_solve(BrioStepper *stepper, const double *f, double *a);
BRIO_API void brio_stepper_mass_multiply(BrioStepper *stepper, const double *v, double *p);
BRIO_API double brio_stepper_kinetic(BrioStepper *stepper, const double *v);
/* out = alpha x + beta y (vectors of the length of q; out may be x or y). */
BRIO_API void brio_stepper_combine(BrioStepper *stepper, double alpha, const double *x, double beta,
                                   const double *y, double *out);
BRIO_API double brio_stepper_dot(BrioStepper *stepper, const double *x, const double *y);
BRIO_API double brio_stepper_norm_max(BrioStepper *stepper, const double *x); /* max |x_i| */
/* Random numbers, normally distributed: the same in every run, on every machine. */
BRIO_API void brio_stepper_random(BrioStepper *stepper, unsigned seed, double *x);

/* Connected components of the system (BRIO_USES_COMPONENTS): blocks that elements and rods join.
 * Internal forces of a component sum to zero, so the sum R of its forces other than weight W shows
 * how far it is supported. The first replaces the gradient of weight, which
 * brio_stepper_uniform_gradient gives, by M^-1 times it, times `time` and max(0, 1 - |R|/|W|) of
 * each component; `gradient` is that of P, without the unbalanced part. The second adds the kinetic
 * energy `missing` by scaling velocities by up to `gain`; free components keep their linear
 * momentum. */
BRIO_API void brio_stepper_unsupported(BrioStepper *stepper, const double *gradient, double time,
                                       double *weight);
BRIO_API void brio_stepper_scale(BrioStepper *stepper, double missing, double gain, double *v);

/* Momenta of components (BRIO_USES_COMPONENTS). An impulse is a vector of the length of q, p, times
 * `scale`, at a pose q. The first sets v to the rigid motion, at the pose q, of each component with
 * the momentum of up to BRIO_IMPULSES of them: linear, and angular about the centre of mass of the
 * pose at which each acts. Components with fixed vertices have none. `a`, unless NULL, receives the
 * acceleration of its points due to its rotation, w x (w x r). (With q_n, M v and q', -M w: the
 * difference between the momentum at the start of the step and that of w.) The second computes the
 * displacement of points in `time` (which may be negative) if each component moves with the momenta
 * of p at q as a free rigid body; its rotation is that of its spin half way. The third copies the
 * blocks of isolated components from `from` to `to`. On these only weight acts from outside: the
 * gradients of P at their poses (`scale` is ignored), minus that of weight, and their torques sum
 * to zero, to round-off. */
typedef struct BrioImpulse {
    const double *q, *p;
    double scale;
} BrioImpulse;
enum { BRIO_IMPULSES = 4 };
BRIO_API void brio_stepper_rigid(BrioStepper *stepper, const double *q, const BrioImpulse *impulse,
                                 int count, double *v, double *a);
BRIO_API void brio_stepper_rigid_way(BrioStepper *stepper, const double *q, const double *p,
                                     double time, double *way);
BRIO_API void brio_stepper_isolated(BrioStepper *stepper, const BrioImpulse *gradient, int count,
                                    const double *from, double *to);

/* ---- springs, one at a time (BRIO_SPRINGS_ONLY) ----------------------------------------- */

/* A spring, or an attachment, which is a spring of rest length zero. */
typedef struct BrioSpring {
    int64_t vertex[2];     /* world vertices, for brio_stepper_positions */
    int64_t coordinate[2]; /* the first of their three coordinates in q; -1: fixed */
    double mass[2];
    double length;    /* at rest */
    int active;       /* 0: an attachment that was released */
    double stiffness; /* N/m */
} BrioSpring;
/* A hand that pulls the mean sum w_i x_i of up to three vertices to a point. */
typedef struct BrioPull {
    int count;
    int64_t coordinate[3];
    double weight[3];
    double point[3];
    double mass[3];
    double stiffness; /* N/m */
} BrioPull;
/* A plane, and how many vertices collide with it. */
typedef struct BrioPlane {
    double normal[3], point[3];
    double gap; /* the distance that vertices keep from it */
    int64_t count;
    double stiffness; /* N/m, of the contact */
} BrioPlane;
/* Number i = 0, 1, ... of them; 0 past the last. */
BRIO_API int brio_stepper_spring(const BrioStepper *stepper, int64_t i, BrioSpring *spring);
BRIO_API int brio_stepper_pull(const BrioStepper *stepper, int i, BrioPull *pull);
BRIO_API int brio_stepper_plane(const BrioStepper *stepper, int i, BrioPlane *plane);
/* The first coordinate of the k-th vertex that collides with plane i; -1: it is fixed. The second
 * also gives its mass. */
BRIO_API int64_t brio_stepper_plane_vertex(const BrioStepper *stepper, int i, int64_t k);
BRIO_API int64_t brio_stepper_plane_mass(const BrioStepper *stepper, int i, int64_t k,
                                         double *mass);
BRIO_API void brio_stepper_gravity(const BrioStepper *stepper, double g[3]);
/* World positions of all vertices for q at a time, three each; valid until the next call. */
BRIO_API const double *brio_stepper_positions(BrioStepper *stepper, const double *q, double time);

/* ---- the end of a step ------------------------------------------------------------------ */

/* Ends the step: sets the new state at time + h. Rejects (STEP_REJECTED) states that are not finite
 * or whose energy is infinite. The second function is for a known P(q). */
BRIO_API BrioStatus brio_stepper_accept(BrioStepper *stepper, double h, const double *q,
                                        const double *v);
BRIO_API BrioStatus brio_stepper_accept_known(BrioStepper *stepper, double h, const double *q,
                                              const double *v, double potential);
/* The error of positions that this step makes, as the integrator estimates it (BRIO_BY_ITSELF):
 * `scale` times a vector of the length of q. Called several times, the sum of their sizes. */
BRIO_API void brio_stepper_error(BrioStepper *stepper, double scale, const double *error);
BRIO_API int brio_stepper_wants_error(const BrioStepper *stepper); /* whether somebody asks */
/* For a step that fails: sets the reason that the run reports. Returns `status`. */
BRIO_API BrioStatus brio_stepper_fail(BrioStepper *stepper, BrioStatus status, const char *reason);

#ifdef __cplusplus
}
#endif
#endif
