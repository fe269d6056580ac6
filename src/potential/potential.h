/* The potential P of a system: the sum of its members, and the only place where they are summed.
 *
 *     P(q) = sum over members of E_i(x(q)),      x = J q + b(t)
 *
 * The members, in the order in which they are summed, stand in members.def: elements (materials,
 * weight, attachments, analytic obstacles), hands, contact, forces. A member is one file and one
 * line there. It fills at most eight slots; a slot that is NULL adds nothing. What dissipates is no
 * part of P: see damping/dissipation.h.
 *
 * An evaluation is a value. Nothing is remembered from one call to the next, except what saves time
 * and cannot be seen. */
#ifndef BRIO_POTENTIAL_H
#define BRIO_POTENTIAL_H

#include "../contact/contact.h"
#include "elements.h"
#include "components.h"
#include "split.h"

/* Wall time by phase, in seconds, and counts; they add up over the life of a simulation. */
/* clang-format off */
#define BRIO_PHASE_LIST(X) \
    X(gradient) X(hessian) X(assembly) X(contact) X(analysis) X(factor) X(solve) \
    X(broad_phase) X(ccd) X(line_search)
/* clang-format on */
typedef struct BrioSolveTotals {
#define X(name) double name;
    BRIO_PHASE_LIST(X)
#undef X
    int64_t minimisations, iterations, evaluations, roundoff;
    int64_t analyses, factorisations, searches, candidates;
    /* how often friction was renewed, and solves that ended while its force still changed */
    int64_t friction_renewals, friction_open;
} BrioSolveTotals;

/* Where P is evaluated: live parameters and hands of a state, world positions, and the time that
 * forces are of. */
typedef struct BrioPose {
    const BrioState *state;
    const double *x;
    double time;
} BrioPose;

typedef struct BrioMember {
    const char *name;
    /* *self stays NULL where the system has nothing for this member. Times are added to `totals`,
     * which stays where it is. */
    BrioStatus (*create)(const BrioSystem *system, BrioSolveTotals *totals, void **self);
    void (*destroy)(void *self);
    /* The energy, and its gradient by q unless `gradient` is NULL. The first member sets the
     * gradient, the others add to it. The elements write the energies of the system's terms to
     * `term_energy`; no other member has terms. */
    double (*value)(void *self, const BrioPose *pose, double *gradient, double *term_energy);
    /* Adds the gradient by the positions of the fixed vertices, three numbers each. */
    void (*fixed_gradient)(void *self, const BrioPose *pose, double *gradient);
    /* Matrix += weight d2E/dq2: exact, or projected element by element to semidefinite. */
    BrioStatus (*hessian)(void *self, const BrioPose *pose, double weight, bool project,
                          BrioLinear *matrix);
    /* The largest t in (0, 1] such that x + [0, t] dx stays allowed, and what limits it. */
    double (*max_step)(void *self, const BrioPose *pose, const double *dx, BrioLimit *limit);
    /* For solves with a constant matrix: adds bounds of the curvature of contacts (bound.h), and
     * joins the parts that push each other. */
    void (*bound)(void *self, const BrioPose *pose, double *bound, BrioComponents *components);
    /* Adds the energy by whose it is. */
    void (*split)(void *self, const BrioPose *pose, const BrioSplit *split);
} BrioMember;

#define BRIO_MEMBER(symbol)                        \
    extern const BrioMember brio__member_##symbol; \
    const BrioMember brio__member_##symbol =

enum BrioMemberIndex {
#define MEMBER(symbol) BRIO_MEMBER_##symbol,
#include "members.def"
#undef MEMBER
    BRIO_MEMBER_COUNT
};

typedef struct BrioPotential {
    const BrioSystem *system;
    void *self[BRIO_MEMBER_COUNT];
    BrioSolveTotals *totals;
    double *row; /* energies of terms, of members and of all together: what processes join */
} BrioPotential;

BrioStatus brio__potential_create(const BrioSystem *system, BrioSolveTotals *totals,
                                  BrioPotential **potential);
void brio__potential_free(BrioPotential *potential);

/* The elements, and the pairs in contact (NULL: surfaces do not touch), for callers that need more
 * than the sum: friction, reports. */
BrioEvaluator *brio__potential_elements(const BrioPotential *potential);
BrioContact *brio__potential_contact(const BrioPotential *potential);

typedef struct BrioSum {
    double energy;                    /* P */
    double noise;                     /* a bound on the round-off of that sum */
    double barrier;                   /* energy of everything that forbids contact */
    double member[BRIO_MEMBER_COUNT]; /* energies by member */
} BrioSum;

/* P of all processes at a pose; its gradient by q and the energies of the system's terms unless
 * NULL. */
BrioSum brio__potential_evaluate(BrioPotential *potential, const BrioPose *pose, double *gradient,
                                 double *term_energy);
/* Adds the energies of all members by whose they are, of this process. */
void brio__potential_split(BrioPotential *potential, const BrioPose *pose, const BrioSplit *split);
/* The gradient by q of all contacts: between surfaces, with obstacles, with themselves. */
void brio__potential_contact_gradient(BrioPotential *potential, const BrioPose *pose,
                                      double *gradient);

/* The energy that passes through the contacts between surfaces as vertices move by u in world
 * space. A contact of the accounts a and b pushes with the forces f: `passed` of a gains weight/2
 * (f_a.u_a - f_b.u_b) and that of b loses as much. Of a contact with what has no account, `brought`
 * of the other side gains -weight f.u of that one. Contacts of two accounts join them in `group`.
 * All but u may be NULL. */
typedef struct BrioPassage {
    const int32_t *account; /* of world vertices */
    const double *u;
    double weight;
    double *passed, *brought;
    int32_t *group;
} BrioPassage;
/* Of the contacts at the pose of the last brio__potential_contact_gradient. */
void brio__potential_pass(BrioPotential *potential, const BrioPassage *passage);
/* The forces that hold the fixed vertices: the gradient by their positions, of this process. */
void brio__potential_fixed_gradient(BrioPotential *potential, const BrioPose *pose,
                                    double *gradient);
/* Matrix += weight times the Hessian of P, of this process. */
BrioStatus brio__potential_hessian(BrioPotential *potential, const BrioPose *pose, double weight,
                                   bool project, BrioLinear *matrix);
/* How far x may go along dx, for all processes, and what limits it. */
double brio__potential_max_step(BrioPotential *potential, const BrioPose *pose, const double *dx,
                                BrioLimit *limit);
void brio__potential_bound(BrioPotential *potential, const BrioPose *pose, double *bound,
                           BrioComponents *components);
/* The motion x + [0,1] dx comes: contacts are looked for on it at once. */
void brio__potential_expect(BrioPotential *potential, const BrioState *state, const double *x,
                            const double *dx);
/* Adds the gradient by q of contacts with analytic obstacles. */
void brio__potential_add_touching(BrioPotential *potential, const BrioPose *pose, double *gradient);
/* Marks the coordinate blocks that touch an analytic obstacle. */
void brio__potential_mark_touching(BrioPotential *potential, const BrioPose *pose, bool *mark);
/* Names the element that makes P infinite or not a number at a pose; false: no single element does.
 */
bool brio__potential_find_forbidden(BrioPotential *potential, const BrioPose *pose,
                                    BrioLimit *limit);

/* A matrix with the pattern of the Hessian: its graph, and the places of the elements in it. With
 * `overlay` it takes blocks that come and go. */
BrioStatus brio__potential_graph(BrioPotential *potential, int64_t **start, int32_t **neighbour);
BrioStatus brio__potential_plan(BrioPotential *potential, bool overlay, BrioLinear *matrix);

#endif
