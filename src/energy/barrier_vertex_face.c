/* The barrier between a vertex (node 0) and a triangle (nodes 1 to 3) [Li2020]; formulas in
 * pair_barrier.h. */
#include "pair_barrier.h"

static void eval(const BrioBatch *batch) { pair_barrier_eval(batch, pair_vertex_face); }
static void sample(BrioRandom *random, double *X, double *x)
{
    pair_sample(random, pair_vertex_face, X, x);
}

BRIO_ENERGY(barrier_vertex_face){
    .name = "barrier-vertex-face",
    .summary = "Barrier that keeps vertices off triangles.",
    .rest = 1,
    .rest_shape = pair_rest_shape,
    PAIR_BARRIER_DESCRIPTOR,
};
