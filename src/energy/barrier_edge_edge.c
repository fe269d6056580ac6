/* The barrier between two edges (nodes 0, 1 and 2, 3) [Li2020]; formulas in pair_barrier.h. */
#include "pair_barrier.h"

static void eval(const BrioBatch *batch) { pair_barrier_eval(batch, pair_edge_edge); }

static void rest_shape(const double *X, double scale, double length, double *rest)
{
    (void)X;
    (void)length;
    rest[0] = scale;
}

static void sample(BrioRandom *random, double *X, double *x) { pair_sample(random, pair_edge_edge, X, x); }

BRIO_ENERGY(barrier_edge_edge){
    .name = "barrier-edge-edge",
    .summary = "Barrier that keeps edges off edges.",
    .citation = "Li2020",
    .element = BRIO_ELEMENT_PAIR,
    .traits = BRIO_ENERGY_INFINITE,
    .nodes = 4,
    .rest = 1,
    .params = 3,
    .fields = pair_fields,
    .rest_shape = rest_shape,
    .eval = eval,
    .sample = sample,
};
