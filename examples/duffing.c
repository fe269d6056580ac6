/* Springs that stiffen: E = k w (d^2/2 + beta d^4/4) with d = l - l0 and l = |x1 - x0|, w the
 * spring's own weight.
 *
 * With n the unit vector of the spring, the force is E' = k w d (1 + beta d^2) along n, and the
 * Hessian, with
 *
 *     K = E'' n n^T + E'/l (I - n n^T),    E'' = k w (1 + 3 beta d^2),
 *
 * has the blocks K on the diagonal and -K off it.
 *
 * E'' is positive; the projection clamps E'/l, the eigenvalue across the spring, at zero. */
#include "mat3_lane.h"
#include "energy.h"

static void eval(const BrioBatch *batch)
{
    double k = batch->params[0], beta = batch->params[1];
    for (int64_t block = batch->begin; block < batch->end; block++) {
        const int32_t *node = batch->node + block * 2 * LANES;
        lane c = k * lane_load(batch->rest + block * 2 * LANES);
        lane l0 = lane_load(batch->rest + (block * 2 + 1) * LANES);
        vec3l d = vec3l_sub(vec3l_gather(batch->x, node + LANES), vec3l_gather(batch->x, node));
        lane l = lane_sqrt(vec3l_dot(d, d)), stretch = l - l0, s2 = stretch * stretch;
        /* no length, no direction: d and the force are zero then */
        lane inverse = 1 / lane_max(l, lane_set(1e-150));
        lane ratio = lane_select(lane_le(l0, lane_set(0)), lane_set(1), stretch * inverse);
        lane across = c * (1 + beta * s2) * ratio, along = c * (1 + 3 * beta * s2);
        lane e[3] = {d.x, d.y, d.z};
        if (batch->energy) batch->energy[block] = lane_sum(c * s2 * (0.5 + 0.25 * beta * s2));
        for (int r = 0; batch->gradient && r < 3; r++) {
            lane_store(batch->gradient + (block * 6 + r) * LANES, -across * e[r]);
            lane_store(batch->gradient + (block * 6 + 3 + r) * LANES, across * e[r]);
        }
        if (!batch->hessian) continue;
        /* node pairs (0,0) (1,0) (1,1) */
        double *H = batch->hessian + (block - batch->begin) * 27 * LANES;
        if (batch->project) across = lane_positive(across);
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++) {
                lane K = (along - across) * (e[r] * inverse) * (e[s] * inverse);
                if (r == s) K += across;
                lane_store(H + (3 * r + s) * LANES, K);
                lane_store(H + (9 + 3 * r + s) * LANES, -K);
                lane_store(H + (18 + 3 * r + s) * LANES, K);
            }
    }
}

static void rest_shape(const double *X, double scale, double length, double *rest)
{
    double d[3] = {X[3] - X[0], X[4] - X[1], X[5] - X[2]};
    rest[0] = scale; /* the weight comes first: it is zero where a block is filled up */
    rest[1] = isnan(length) ? sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) : length;
}

static double magnitude(const double *rest) { return rest[0] * rest[1] * rest[1]; }

static void sample(BrioRandom *random, double *X, double *x)
{
    for (int k = 0; k < 6; k++) {
        X[k] = brio__random(random);
        x[k] = 1.5 * brio__random(random);
    }
}

static const BrioField fields[] = {
    {"k", BRIO_REAL, "N/m", 1000, 1e-300, 1e15, 0, "Stiffness of every spring at small stretch."},
    {"beta", BRIO_REAL, "1/m2", 1, 0, 1e15, 0,
     "Stiffening: at the stretch 1/sqrt(beta) the force is twice as large."},
    {"vertex_mass", BRIO_REAL, "kg", NAN, 1e-300, 1e15, 0, "Mass of every vertex; or give rho."},
    {"rho", BRIO_REAL, "kg/m2", NAN, 1e-300, 1e15, 0,
     "Mass per area of a mesh with triangles, per length (kg/m) of one without."},
    {0}};

BRIO_ENERGY(duffing){
    .name = "duffing",
    .summary = "Springs that stiffen with the cube of their stretch.",
    .citation = NULL,
    .element = BRIO_ELEMENT_SPRING,
    .nodes = 2,
    .rest = 2,
    .params = 2,
    .fields = fields,
    .rest_shape = rest_shape,
    .magnitude = magnitude,
    .eval = eval,
    .sample = sample,
};
