/* Contact between all bodies and obstacles [Li2020]: the sum of a law (energy/law.h) over all pairs
 * of
 * vertex and triangle and of two edges that are closer than dhat, and how far a motion may go
 * before two of them meet. Lines and points have vertices with lone edges and lone vertices
 * in addition: triangles of which two or three corners are the same. Or, of laws between vertices,
 * the sum over all vertices that are closer than dhat and were not so at rest.
 *
 * Which pairs may come close is found on boxes (trees of surface.h) around where vertices are and
 * may go: the candidates. They stay valid, and are not looked for again, while every vertex is
 * within its box. Of the candidates those count that are closer than dhat, in the order of the
 * trees, so that sums depend on positions alone and not on what was searched for earlier. */
#ifndef BRIO_CONTACT_H
#define BRIO_CONTACT_H

#include "../system/limit.h"
#include "pairs.h"

typedef struct BrioContact BrioContact;

enum {
    BRIO_PAIR_VERTEX_FACE,
    BRIO_PAIR_EDGE_EDGE,
    BRIO_PAIR_PARALLEL,
    BRIO_PAIR_VERTEX_VERTEX,
    BRIO_PAIR_KINDS
};

/* Parameters of contact in the state, from system->contact_params on: those of the law. */
enum { BRIO_CONTACT_KAPPA, BRIO_CONTACT_DHAT, BRIO_CONTACT_THICKNESS, BRIO_CONTACT_PARAMS };

/* Vertices of one body that are nearer to each other than this at rest do not repel each other: two
 * layers of a sheet that is folded over, dhat apart, have vertices nearer than that which are up to
 * pi/2 dhat apart along the fold. */
static inline double brio__contact_apart(const double *param)
{
    return M_PI / 2 * param[BRIO_CONTACT_DHAT];
}

BrioStatus brio__contact_create(const BrioSystem *system, BrioContact **contact);
void brio__contact_free(BrioContact *contact);

/* The barriers or springs at world positions x, INFINITY where a pair touches, NAN without memory.
 * Gradients by q and by world positions are added unless NULL. */
double brio__contact_evaluate(BrioContact *contact, const double *param, const double *x,
                              double *gradient, double *world);
/* The matrix += weight times the Hessian. Pairs that are a little farther apart get places in its
 * pattern too, since they come next. */
BrioStatus brio__contact_assemble(BrioContact *contact, const double *param, const double *x,
                                  double weight, bool project, BrioOverlay *overlay);
/* The largest t in (0,1] such that no two surfaces meet on x + [0,t] dx: a tenth of each distance
 * is kept. */
double brio__contact_max_step(BrioContact *contact, const double *param, const double *x,
                              const double *dx, BrioLimit *limit);

/* A pair that a motion would close to less than a tenth of its distance: the weights of its
 * vertices and the direction between its closest points, at the time t at which that happens. */
typedef struct BrioClosing {
    int32_t vertex[4];
    double w[4], n[3];
    double t, distance; /* distance: where the motion begins */
} BrioClosing;
/* All of x + [0,1] dx, in an order that depends on the motion alone; the contact's own. Without
 * memory there are none. */
const BrioClosing *brio__contact_closing(BrioContact *contact, const double *param, const double *x,
                                         const double *dx, int64_t *count);

/* Pairs closer than dhat at x, the smallest distance of theirs (INFINITY: none), and the nearest
 * pair. */
int64_t brio__contact_count(BrioContact *contact, const double *param, const double *x, double *min,
                            BrioLimit *nearest);
/* Whether pairs were left out for want of memory since this was last asked. */
bool brio__contact_out_of_memory(BrioContact *contact);
/* The motion x + [0,1] dx comes: what is near on it is looked for at once, and not again where it
 * is followed about. */
void brio__contact_expect(BrioContact *contact, const double *param, const double *x,
                          const double *dx);
/* Finds the pairs that are closer than dhat at x, unless they are known. */
void brio__contact_refresh(BrioContact *contact, const double *param, const double *x);
/* The pairs of one kind that were closer than dhat in the last evaluation. */
const BrioPairs *brio__contact_pairs(const BrioContact *contact, int kind);

typedef struct BrioContactTotals {
    double broad_phase, ccd; /* seconds */
    /* how often pairs were looked for, and how many were found in all */
    int64_t searches, candidates;
} BrioContactTotals;
const BrioContactTotals *brio__contact_totals(const BrioContact *contact);

#endif
