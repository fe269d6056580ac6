/* Rigid rods: holonomic conditions g_i(q) = (|x_a - x_b|^2 - l^2)/(2 l) = 0 on world vertices
 * x = J q + b(t), kept by multipliers. Row i of G = dg/dq pulls its two ends along (x_a - x_b)/l,
 * which has length 1 where the condition holds.
 *
 * The rods' matrices are dense (one row and column a rod): meant for chains and frames of up to
 * some hundred rods. */
#ifndef BRIO_CONSTRAINT_H
#define BRIO_CONSTRAINT_H

#include "../potential/elements.h"

typedef struct BrioConstraints {
    const BrioSystem *system;
    int count;
    /* count; `change` is that of the multipliers in a Newton step */
    double *g, *multiplier, *change;
    double *kept; /* multipliers before a line search */
    /* 3 count: (x_a - x_b)/l where g is taken, and where the rods pull from */
    double *direction, *force_direction;
    double *inertia; /* count: the mass that a rod sees, 1/(G M^-1 G^T)_ii */
    double *column;  /* count + 1 vectors of the length of q */
    double *schur;   /* count x count */
    double *world;   /* 3 vertex_count */
    double longest;  /* of the lengths */
    double *force;   /* of the length of q: G^T multiplier */
    /* curvature: springs of no rest length and stiffness multiplier/l */
    BrioTerm term;
    double *stiffness; /* of them: lanes */
    BrioEvaluator *evaluator;
} BrioConstraints;

BrioStatus brio__constraints_create(const BrioSystem *system, BrioConstraints **constraints);
void brio__constraints_free(BrioConstraints *constraints);

/* g and the directions at world positions x; returns the largest |g_i|/l_i. */
double brio__constraints_update(BrioConstraints *constraints, const double *x);
/* The rods pull along the directions of the last update from now on. */
void brio__constraints_pull_from_here(BrioConstraints *constraints);
/* gradient += G^T multiplier, with the directions that rods pull along; that sum alone stays in
 * `force`. */
void brio__constraints_add_force(BrioConstraints *constraints, double *gradient);
/* sum of inertia g^2: beside |residual|^2 in M^-1, what the line search lowers. */
double brio__constraints_merit(const BrioConstraints *constraints);

/* Joins the rods' pairs of blocks to the graph of a matrix, which is replaced. */
BrioStatus brio__constraints_join_graph(const BrioConstraints *constraints, int32_t n,
                                        int64_t **start, int32_t **neighbour);
BrioStatus brio__constraints_plan(BrioConstraints *constraints, const BrioLinear *linear);
/* matrix += sum_i multiplier_i d2g_i/dq2; semidefinite (tension only) if asked. */
void brio__constraints_assemble(BrioConstraints *constraints, const double *x, bool project,
                                BrioLinear *linear);

/* Solves
 *
 *     | A  F^T | | step   |   | -residual |
 *     | G  0   | | change | = | -g        |
 *
 * with F the rows that rods pull along and G those where g was taken; A is factored in `linear`.
 * NOT_POSITIVE_DEFINITE: the rods' conditions are not independent. */
BrioStatus brio__constraints_solve(BrioConstraints *constraints, BrioLinear *linear,
                                   const double *residual, double *step);

/* v -= M^-1 G^T (G M^-1 G^T)^-1 (G v + dg/dt) at the coordinates q and a time: velocities that rods
 * allow. */
BrioStatus brio__constraints_fit(BrioConstraints *constraints, const BrioState *state,
                                 const double *q, double time, double *v);

#endif
