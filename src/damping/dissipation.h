/* The sum of everything that dissipates: the damping models of a scene, friction, and forces
 * without a potential. Only this file sums over models.
 *
 *     D_n(q) = sum over models of D_n,i(q)       (damping.h says what a model gives)
 *
 * Losses are booked by model, in this order; friction has an index of its own. */
#ifndef BRIO_DISSIPATION_H
#define BRIO_DISSIPATION_H

#include "damping.h"

typedef struct BrioDissipation {
    const BrioSystem *system;
    int count;
    BrioDamper damper[BRIO_LOSSES];
    int friction; /* which of them is friction; -1: nothing rubs */
    int forces;   /* which of them are the forces without a potential; -1: there are none */
    bool acts;    /* one of them acts as a force; filters of velocities do not */
} BrioDissipation;

BrioStatus brio__dissipation_create(const BrioSystem *system, const BrioDamping *damping, int count,
                                    BrioDissipation **dissipation);
void brio__dissipation_free(BrioDissipation *dissipation);

/* How many models a scene asked for: all but friction and forces. */
static inline int brio__dissipation_asked(const BrioDissipation *d)
{
    return d->count - (d->friction >= 0) - (d->forces >= 0);
}

bool brio__dissipation_needs_matrix(const BrioDissipation *dissipation);
/* A step begins at the state: the models are lagged there. */
BrioStatus brio__dissipation_lag(BrioDissipation *dissipation, BrioPotential *potential,
                                 const BrioState *state, BrioLinear *matrix);
/* What friction took of the start of the step is taken at the world positions x, where the motion
 * has come to: what that changes of the gradient, and which fraction of it; 0 where nothing rubs.
 * The second makes it count. */
BrioStatus brio__dissipation_renew(BrioDissipation *dissipation, BrioPotential *potential,
                                   const BrioState *state, const BrioMotion *motion,
                                   const double *x, double *difference, double *change);
void brio__dissipation_adopt(BrioDissipation *dissipation);
/* Where there is friction: it holds and rubs as at the world positions x, where the motion of a
 * solve with a constant matrix has come to (hold.h). What that changes of D_n and its gradient. */
BrioStatus brio__dissipation_hold(BrioDissipation *dissipation, BrioPotential *potential,
                                  const BrioState *state, const BrioMotion *motion, const double *x,
                                  const double *pull, double *change, double *difference);
/* D_n of a motion in W s; its gradient is added unless NULL. */
double brio__dissipation_value(BrioDissipation *dissipation, const BrioState *state,
                               const BrioMotion *motion, double *gradient);
/* Matrix += weight times the Hessian of D_n: of the models with `overlay`, or of the others. */
BrioStatus brio__dissipation_hessian(BrioDissipation *dissipation, const BrioState *state,
                                     const BrioMotion *motion, double weight, bool project,
                                     bool overlay, BrioLinear *matrix);
/* Bounds of its curvature that change with every step (bound.h): those of friction. */
void brio__dissipation_bound(BrioDissipation *dissipation, const BrioState *state,
                             const BrioMotion *motion, double weight, double *bound);
/* Filters the velocities v at the end of a step of length h; `taken`: what each model took. */
void brio__dissipation_filter(BrioDissipation *dissipation, const double *q, double h, double *v,
                              double taken[BRIO_LOSSES]);

#endif
