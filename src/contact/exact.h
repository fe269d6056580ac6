/* The proof that nothing intersects in a state: every edge of a surface against every triangle, by
 * exact predicates (mesh/intersect.h says what counts, mesh/predicate.h how it is decided); no tet
 * of a material that forbids it is inverted; nothing is behind a plane. It shares no code with the
 * distances, the barriers and the collision detection that it judges. */
#ifndef BRIO_EXACT_H
#define BRIO_EXACT_H

#include "../mesh/intersect.h"
#include "../system/system.h"

/* Of bodies with triangles their edges count, springs inside or across do not; of others all edges.
 * Bodies that move along x only have no surface, and neither have points: nothing can be on the
 * wrong side of a point, so that collision detection alone keeps it out of triangles. An owner is a
 * body or, counted on after the bodies, an obstacle. */

typedef struct BrioExactReport {
    int64_t not_finite; /* world vertices; if there are any, nothing else was looked at */
    int64_t pairs;      /* whose boxes overlap: decided by predicates */
    int64_t intersections;
    int64_t inverted; /* tets without positive volume, of materials that forbid this */
    int64_t behind;   /* vertices on or behind a plane that they must not touch */
    /* not finite: world vertex; tet of a body; world vertex */
    int64_t first_vertex, first_inverted, first_behind;
    int inverted_body, behind_obstacle;
    BrioIntersection first;
} BrioExactReport;

/* surfaces and room to search: made once, used for every state */
typedef struct BrioExact BrioExact;
BrioStatus brio__exact_create(const BrioSystem *system, BrioExact **exact);
void brio__exact_free(BrioExact *exact);
const BrioExactSurface *brio__exact_surface(const BrioExact *exact);

/* Everything at world positions x. Allocates nothing. */
void brio__exact_check_positions(BrioExact *exact, const double *x, BrioExactReport *report);
void brio__exact_check(BrioExact *exact, const BrioState *state, BrioExactReport *report);
static inline bool brio__exact_fine(const BrioExactReport *r)
{
    return !(r->not_finite || r->intersections || r->inverted || r->behind);
}
/* The first thing that is wrong: `edge (3 8) of body "cube" meets triangle 17 of body "floor"`; ""
 * if nothing is. */
void brio__exact_text(const BrioSystem *system, const BrioExactReport *report, char *text,
                      size_t size);
void brio__intersection_text(const BrioSystem *system, const BrioIntersection *at, char *text,
                             size_t size);

/* All intersections, the first `room` of them stored, in the order of edges. Finite positions
 * only. */
int64_t brio__exact_find(BrioExact *exact, const double *x, BrioIntersection *found, int64_t room);
/* The same for once; -1: no memory. */
int64_t brio__exact_intersections(const BrioSystem *system, const double *x,
                                  BrioIntersection *found, int64_t room);

/* What a run of states adds up to. */
typedef struct BrioExactWatch {
    BrioExact *exact;
    int64_t states, pairs, intersections, inverted, behind, not_finite;
    double seconds;
    bool failed;
    int64_t step; /* of the initial state that failed: the last whole step before or at it */
    double time;
    char reason[320]; /* what is wrong there */
} BrioExactWatch;
/* Checks a state; as BrioStepper.observe it sees those between halves. */
void brio__exact_watch(void *watch, const BrioState *state);

#endif
