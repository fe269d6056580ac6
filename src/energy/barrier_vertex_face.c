/* The barrier between a vertex (node 0) and a triangle (nodes 1 to 3) [Li2020]; formulas in pair_barrier.h. */
#include "pair_barrier.h"

static void eval(const BrioBatch *batch) { pair_barrier_eval(batch, pair_vertex_face); }

static void rest_shape(const double *X, double scale, double length, double *rest)
{
    (void)X;
    (void)length;
    rest[0] = scale;
}

static void sample(BrioRandom *random, double *X, double *x) { pair_sample(random, pair_vertex_face, X, x); }

BRIO_ENERGY(barrier_vertex_face){
    .name = "barrier-vertex-face",
    .summary = "Barrier that keeps vertices off triangles.",
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
