/* Damping models: one file each and one line in list.def.
 *
 * A model removes energy in one of two ways, and always reports how much.
 *
 * As a force. Implicit methods need it as the gradient of a dissipation potential D_n(q) that is
 * lagged at the start of the step: -grad D_n is the force at the pose q for the velocity
 * (q - from)/over, and D_n is added to the primitive with the weight s a. Explicit methods need
 * the force at (q, v). A model of this kind gives `lag`, `potential`, `assemble` and `force`.
 *
 * As a filter of the velocities after the step: `filter` changes v and returns the kinetic energy
 * that it took.
 *
 * Coefficients are per second, or are converted with the step, so that a model means the same at
 * every step. */
#ifndef BRIO_DAMPING_H
#define BRIO_DAMPING_H

#include "../potential/potential.h"

/* What an implicit method asks a model about: the pose q at `time`, reached with the velocity
 * (q - from)/over, all within the step that began at the state's q_n and time; fixed vertices are
 * on their way. */
typedef struct BrioMotion {
    const double *q, *from;
    double over, time;
    BrioWay way;
    double at; /* the time at which P is taken */
} BrioMotion;

typedef struct BrioDampingModel {
    const char *name, *summary, *citation;
    bool brakes_translation; /* a body in free fall notices it */
    bool brakes_rotation;
    /* its Hessian is in blocks that appear and vanish with contacts, and is summed before theirs */
    bool overlay;
    const BrioField *fields;
    /* Its own data in addition to its values; NULL: none. */
    BrioStatus (*create)(const BrioSystem *system, const double *values, void **self);
    void (*destroy)(void *self);
    /* Whether `lag` with these values needs the matrix. NULL: never. */
    bool (*needs_matrix)(const double *values);
    /* A step begins at the state's q and v. `matrix`: has the pattern of the Hessian of P; NULL
     * unless it was asked for or there is one. May be NULL. */
    BrioStatus (*lag)(void *self, const double *values, BrioPotential *potential,
                      const BrioState *state, BrioLinear *matrix);
    /* Evaluates at the world positions x what `lag` evaluated at the start of the step. The new
     * values take effect with `adopt`. `difference`: the gradient at `motion` with the new values
     * minus the one with the old; `change`: its maximum divided by that of the gradients. Both may
     * be NULL. */
    BrioStatus (*renew)(void *self, BrioPotential *potential, const BrioState *state,
                        const BrioMotion *motion, const double *x, double *difference,
                        double *change);
    void (*adopt)(void *self);
    /* For solves with a constant matrix, instead of `renew`: the model continues from the world
     * positions x that the motion has reached; `pull`: see brio__hold_take. Returns the changes of
     * D_n and of its gradient there. Friction only. */
    BrioStatus (*hold)(void *self, BrioPotential *potential, const BrioState *state,
                       const BrioMotion *motion, const double *x, const double *pull,
                       double *change, double *difference);
    /* D_n(q) in W s; the gradient is added to `gradient` unless that is NULL. */
    double (*potential)(void *self, const double *values, const BrioState *state,
                        const BrioMotion *motion, double *gradient);
    /* matrix += weight d2D_n/dq2, semidefinite; of a model that also has an exact one, that
     * unless `project`. */
    BrioStatus (*assemble)(void *self, const double *values, const BrioState *state,
                           const BrioMotion *motion, double weight, bool project,
                           BrioLinear *matrix);
    /* For solves with a constant matrix: adds `weight` times the curvature of D_n, for slides like
     * that of the motion, to the bounds of all coordinate blocks. Of friction only. */
    void (*bound)(void *self, const BrioState *state, const BrioMotion *motion, double weight,
                  double *bound);
    /* f += the force at (q, v). */
    void (*force)(void *self, const double *values, const BrioState *state, const double *q,
                  const double *v, double time, double h, double *f);
    /* Of a model with `renew`: f = the force of the motion with what `lag` took, minus that with
     * what was taken last. */
    void (*shift)(void *self, const BrioState *state, const BrioMotion *motion, double *f);
    double (*filter)(void *self, const double *values, const BrioSystem *system, const double *q,
                     double h, double *v);
    /* Of a model that also acts on fixed vertices: fixed (3 each) += weight times minus its force
     * on them, as of the last `potential` with a gradient, `force` or `shift`. May be NULL. */
    void (*fixed)(void *self, const BrioSystem *system, double weight, double *fixed);
    /* Of a model that also brings energy from outside, as of the last `potential` with a gradient
     * or `force`: brought += weight times the force whose work all comes from there, and *power +=
     * weight times the power that moving air gives away. May be NULL. */
    void (*outside)(void *self, double weight, double *brought, double *power);
} BrioDampingModel;

/* A model at work. */
typedef struct BrioDamper {
    const BrioDampingModel *model;
    double values[BRIO_MAX_VALUES];
    void *self;
} BrioDamper;

const BrioDampingModel *brio__damping_model(const char *name); /* NULL: none of that name */
const BrioDampingModel *brio__damping_model_at(int i);         /* NULL past the last */

/* An evaluator over the elastic terms of a system, without weight, attachments and contact. `terms`
 * receives copies of them, which the caller frees after the evaluator. */
BrioStatus brio__elastic_evaluator(const BrioSystem *system, BrioTerm **terms, int *count,
                                   BrioEvaluator **evaluator);

#define BRIO_DAMPING_MODEL(symbol)                        \
    extern const BrioDampingModel brio__damping_##symbol; \
    const BrioDampingModel brio__damping_##symbol =

#endif
