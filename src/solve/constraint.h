/* The constraints of a system (constraint/constraint.h) kept by multipliers: conditions g(q) = 0
 * and g(q) >= 0 with the rows G = dg/dq, on points of x = J q + b(t).
 *
 * The multipliers' matrices are dense (one row and column a condition): meant for mechanisms of up
 * to some hundred conditions. */
#ifndef BRIO_CONSTRAINT_H
#define BRIO_CONSTRAINT_H

#include "../potential/elements.h"

typedef struct BrioConstraints {
    const BrioSystem *system;
    int count;             /* rows */
    int one_sided_count;   /* of them */
    const bool *one_sided; /* count, like */
    int *of;               /* which constraint each is of, */
    int64_t *at;           /* and where its gradient begins */
    /* count; `change` is that of the multipliers in a Newton step */
    double *g, *multiplier, *change;
    double *kept;    /* multipliers before a line search */
    double *penalty; /* weight of |g| in the merit of a line search */
    double *inertia; /* the mass that a row sees, 1/(G M^-1 G^T)_ii where the solve began */
    /* of each row by the points of its constraint: where g is taken, and where it pulls from */
    double *gradient, *force_gradient;
    int64_t gradients; /* their length */
    double *points;    /* of all constraints, where g is taken */
    int64_t *points_at;
    double *column; /* count + 1 vectors of the length of q */
    double *schur;  /* 2 x count x count: the matrix, and room */
    double *room;   /* 3 count */
    bool *active;   /* rows that hold with equality */
    double *world;  /* 3 vertex_count */
    double longest; /* of the lengths */
    double *force;  /* of the length of q: G^T multiplier */
    double scale;   /* multipliers divided by this are forces in N; 0: nothing is solved yet */
} BrioConstraints;

BrioStatus brio__constraints_create(const BrioSystem *system, BrioConstraints **constraints);
void brio__constraints_free(BrioConstraints *constraints);

/* g and the gradients at world positions x; returns the largest violation over its length. */
double brio__constraints_update(BrioConstraints *constraints, const double *x);
/* Constraints pull along the gradients of the last update from now on. */
void brio__constraints_pull_from_here(BrioConstraints *constraints);
/* Masses that rows see, of the last update. */
void brio__constraints_weigh(BrioConstraints *constraints);
/* gradient += G^T multiplier, with the gradients that constraints pull along; that sum alone stays
 * in `force`. */
void brio__constraints_add_force(BrioConstraints *constraints, double *gradient);
/* sum of inertia g^2 over violated conditions: together with |residual|^2 in M^-1, what the line
 * search lowers. */
double brio__constraints_merit(const BrioConstraints *constraints);
/* Raises the penalties to twice the multipliers at the end of a full step. */
void brio__constraints_raise_penalty(BrioConstraints *constraints);
/* sum of penalty |g| over conditions that do not hold. */
double brio__constraints_penalty(const BrioConstraints *constraints);

/* Joins the pairs of blocks that constraints couple to the graph of a matrix, which is replaced. */
BrioStatus brio__constraints_join_graph(const BrioConstraints *constraints, int32_t n,
                                        int64_t **start, int32_t **neighbour);
/* matrix += sum_i multiplier_i d2g_i/dq2 where g was last taken; semidefinite if asked. */
void brio__constraints_assemble(BrioConstraints *constraints, bool project, BrioLinear *linear);

/* columns = A^-1 columns, vectors of the length of q one after the other. */
typedef BrioStatus BrioConstraintInverse(void *user, int count, double *columns);

/* Where the solve of a step begins: constraints pull along the gradients at q_n, and multipliers
 * are 0. `scale`: they are forces, in N, over this. */
void brio__constraints_begin(BrioConstraints *constraints, const BrioState *state, double scale);
/* Solves
 *
 *     | A  F^T | | step   |   | -residual |
 *     | G  0   | | change | = | -g        |
 *
 * with F the rows that constraints pull along and G those where g was taken. One-sided rows end
 * with g + G step >= 0, multiplier + change <= 0, one of them 0. NOT_POSITIVE_DEFINITE: the
 * conditions are not independent. */
BrioStatus brio__constraints_solve(BrioConstraints *constraints, BrioConstraintInverse *inverse,
                                   void *user, const double *residual, double *step);

/* v -= M^-1 G^T (G M^-1 G^T)^-1 (G v + dg/dt) at the coordinates q and a time: velocities that
 * constraints allow. One-sided rows take part where they hold with equality and v leads on. */
BrioStatus brio__constraints_fit(BrioConstraints *constraints, const BrioState *state,
                                 const double *q, double time, double *v);

/* Force and torque about its first point that a constraint exerts on body a, with the multipliers
 * of the last solve. */
void brio__constraints_reaction(const BrioConstraints *constraints, int constraint, double force[3],
                                double torque[3]);

#endif
