/* Broad phase: which vertices and triangles, and which edges, may come near each other while all
 * vertices move along straight lines.
 *
 * Boxes bound primitives at the start and at the end of the motion. Two of them stay apart if one
 * axis separates them at both ends, in the same direction: between the ends, all differences of
 * coordinates are linear. Neighbours that move along together so stay apart however far they go,
 * unlike boxes around whole paths. What boxes leave is measured (energy/pair_law.h): a pair stays
 * if the vector between its closest points does not separate it at both ends either.
 *
 * The trees of surface.h are fixed; their boxes are recomputed for every search. Pairs come in the
 * order of the descent, which the shapes of the trees give: whichever search finds them, those
 * within reach come in the same order. Threads share the descent: its parts are found serially, and
 * what each has found is put in their order. */
#ifndef BRIO_BROAD_H
#define BRIO_BROAD_H

#include "pairs.h"

enum { BRIO_CANDIDATES = 3 }; /* vertex-face, edge-edge, vertex-vertex */

/* Pairs of one kind that may come near. */
typedef struct BrioCandidates {
    BrioPairs pairs;
    /* two for each: the vertex and the primitive, the two edges, or the two vertices */
    int32_t *who;
    int64_t room;
} BrioCandidates;

typedef struct BrioBroad BrioBroad;

/* `energy`: of the kinds of candidates, to measure them; `vertices`: only vertex-vertex pairs are
 * looked for, otherwise all but them. */
BrioStatus brio__broad_create(const BrioSystem *system, bool vertices,
                              const BrioEnergy *const energy[BRIO_CANDIDATES], BrioBroad **broad);
void brio__broad_free(BrioBroad *broad);
/* Whether there is anything that may touch: of one affine body, or of obstacles alone, nothing. */
bool brio__broad_may_touch(const BrioBroad *broad);

/* What is looked for: pairs that come nearer than `reach` on x + [0,1] dx (dx may be NULL), or on
 * a motion along which every vertex stays within `margin` of that one. */
typedef struct BrioSearch {
    const double *x, *dx; /* of all world vertices */
    double reach, margin;
    double apart; /* two vertices of a body that are nearer at rest are no pair */
} BrioSearch;

BrioStatus brio__broad_search(BrioBroad *broad, const BrioSearch *search,
                              BrioCandidates candidates[BRIO_CANDIDATES]);

#endif
