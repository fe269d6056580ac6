/* Elements that are renewed often: pairs in contact, and friction between them. They are those of
 * one energy in lanes, like a BrioTerm's, but come and go. Each number of a sum over them is made
 * by one thread in the order in which they were added. */
#ifndef BRIO_PAIRS_H
#define BRIO_PAIRS_H

#include "../linear/overlay.h"
#include "../system/system.h"

#include <string.h>

typedef struct BrioPlan BrioPlan;
void brio__plan_free(BrioPlan *plan);

typedef struct BrioPairs {
    /* energy, elements, packs, node, rest; its parameters are given to each call */
    BrioTerm term;
    int64_t room;     /* packs */
    bool candidates;  /* only ever measured: without the arrays that evaluation needs */
    double *energy;   /* [pack] */
    double *gradient; /* [pack][3*nodes][8] */
    struct BrioPlan
        *plan; /* of the sums of their Hessians (assemble.c); NULL until these are asked for */
    const double *last; /* of friction: world positions of the Hessian before, or NULL */
    double *distance;   /* [pack][8] */
    double *clearance;  /* of candidates, [pack][8]: how far apart they stay on a motion at least */
} BrioPairs;

/* `energy` of four nodes; room for so many elements at first. */
BrioStatus brio__pairs_create(BrioPairs *pairs, const BrioEnergy *energy, bool candidates,
                              int64_t elements);
void brio__pairs_free(BrioPairs *pairs);
void brio__pairs_clear(BrioPairs *pairs);
/* `vertex`: world vertices; `rest`: the energy's rest data. */
BrioStatus brio__pairs_add(BrioPairs *pairs, const int32_t vertex[4], const double *rest);
/* Or: so many elements, all of which are to be set, in any order. */
BrioStatus brio__pairs_resize(BrioPairs *pairs, int64_t elements);
void brio__pairs_set(BrioPairs *pairs, int64_t element, const int32_t vertex[4],
                     const double *rest);
void brio__pairs_finish(BrioPairs *pairs); /* after the last one: fills the last pack */

static inline int32_t brio__pairs_vertex(const BrioPairs *pairs, int64_t element, int k)
{
    return brio__term_vertex(&pairs->term, element, k);
}

static inline void brio__pairs_vertices(const BrioPairs *pairs, int64_t element, int32_t vertex[4])
{
    for (int k = 0; k < 4; k++) vertex[k] = brio__pairs_vertex(pairs, element, k);
}

/* The rest data of one element, LANES apart; its weight comes first. */
static inline const double *brio__pairs_rest(const BrioPairs *pairs, int64_t element)
{
    return pairs->term.rest + element / LANES * pairs->term.energy->rest * LANES + element % LANES;
}

/* What x, of all world vertices, has for those of one element: positions, or a direction. */
static inline void brio__pairs_positions(const BrioPairs *pairs, int64_t element, const double *x,
                                         double out[12])
{
    for (int k = 0; k < 4; k++)
        memcpy(out + 3 * k, x + 3 * (int64_t)brio__pairs_vertex(pairs, element, k),
               3 * sizeof *out);
}

/* Distances of all pairs at x into pairs->distance; of a vertex and a triangle also between which
 * corners the nearest point lies, as bits, one for each pair of all packs; NULL: not asked for. */
void brio__pairs_measure(BrioPairs *pairs, const double *param, const double *x, int8_t *nearest);
/* The same of candidates, and into pairs->clearance how far apart they stay on x + [0,1] dx. */
void brio__pairs_sweep(BrioPairs *pairs, const double *param, const double *x, const double *dx);
/* Room for gradients by q and for Hessians: before the first of either of these pairs, and of
 * friction whenever its rest data have changed. */
BrioStatus brio__pairs_prepare(BrioPairs *pairs, const BrioSystem *system);
/* The energy; its gradient by q is added to `gradient`, and that by the
 * positions of all world vertices to `world`, unless NULL. */
double brio__pairs_evaluate(BrioPairs *pairs, const BrioSystem *system, const double *param,
                            const double *x, double *gradient, double *world);
/* Asks a kernel for what the gradient by q is made of. */
void brio__pairs_ask(const BrioPairs *pairs, BrioBatch *batch);
/* Adds the gradient that brio__pairs_evaluate has found, by q. */
void brio__pairs_pull(BrioPairs *pairs, const BrioSystem *system, double *gradient);
/* extra += weight times the Hessian by q. */
BrioStatus brio__pairs_assemble(BrioPairs *pairs, const BrioSystem *system, const double *param,
                                const double *x, double weight, bool project, BrioOverlay *overlay);
/* Two affine bodies whose blocks are reserved. */
typedef struct BrioReserved {
    bool any;
    int64_t frame[2];
} BrioReserved;
/* Reserves the blocks that an element would add to. `last`: those of the call before; at first all
 * zero. */
BrioStatus brio__pairs_reserve(const BrioPairs *pairs, const BrioSystem *system, int64_t element,
                               BrioReserved *last, BrioOverlay *overlay);

#endif
