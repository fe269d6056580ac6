/* The barrier between two edges (nodes 0, 1 and 2, 3) [Li2020]; formulas in pair_barrier.h. */
#include "pair_barrier.h"

static void eval(const BrioBatch *batch) { pair_barrier_eval(batch, pair_edge_edge); }
static void sample(BrioRandom *random, double *X, double *x)
{
    pair_sample(random, pair_edge_edge, X, x);
}

BRIO_ENERGY(barrier_edge_edge){
    .name = "barrier-edge-edge",
    .summary = "Barrier that keeps edges off edges.",
    .rest = 1,
    .rest_shape = pair_rest_shape,
    PAIR_BARRIER_DESCRIPTOR,
};
