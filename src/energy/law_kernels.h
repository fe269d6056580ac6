/* The energies of one contact law: with every obstacle of obstacles.def and with every kind of pair
 * that the law acts between. See law.h for what a file defines before it includes this one.
 *
 * Of an obstacle with signed distance d(x), n = grad d and C = d2d/dx2,
 *
 *     E = b(d),    grad E = b' n,    Hessian = b'' n n^T + b' C.
 *
 * Around a convex obstacle d is convex: C is semidefinite and C n = 0, and since b' is not positive
 * the nearest semidefinite matrix is b'' n n^T. Around others it is found by eigenvalues.
 *
 * A step must keep d > thickness. Along x + t dx, d has the slope n.dx and a second
 * derivative of at least -bend |dx|^2 (bend is 0 around convex obstacles). So from any t on,
 *
 *     d(t + s) >= d(t) + s n.dx - s^2 bend |dx|^2/2,
 *
 * and going on to where the right side has fallen to what is kept, again and again, never passes
 * the first time of impact: Newton's method from one side. A tenth of the present distance is kept.
 * Before a plane the first such step is exact. */
#include "obstacle.h"
#include "pair_law.h"
#include "psd_lane.h"
#if LAW_TRAITS & BRIO_LAW_VERTICES
#include "pair_vertices.h"
#else
#include "pair_parallel.h"
#endif

static inline void zero_block(const BrioBatch *batch, int64_t pack)
{
    lane zero = lane_set(0);
    if (batch->energy) batch->energy[pack] = 0;
    for (int k = 0; batch->gradient && k < 3; k++)
        lane_store(batch->gradient + (pack * 3 + k) * LANES, zero);
    for (int k = 0; batch->hessian && k < 9; k++)
        lane_store(batch->hessian + ((pack - batch->begin) * 9 + k) * LANES, zero);
}

static KERNEL_INLINE void store_hessian(const BrioBatch *batch, int64_t pack, const Shape *shape,
                                        Law b, const Distance *at, bool curved)
{
    lane n[3] = {at->n.x, at->n.y, at->n.z}, H[9];
    for (int k = 0; k < 9; k++) {
        H[k] = b.curvature * n[k / 3] * n[k % 3];
        if (curved) H[k] = b.curvature * n[k / 3] * n[k % 3] + b.slope * at->C[k / 3][k % 3];
    }
    if (batch->project && shape->kind == SHAPE_BENT) psd_project(3, H);
    for (int k = 0; k < 9; k++)
        lane_store(batch->hessian + ((pack - batch->begin) * 9 + k) * LANES, H[k]);
}

/* Inlined, so that the shape is known. */
static KERNEL_INLINE void obstacle_eval(const BrioBatch *batch, const Shape *shape)
{
    bool curved = batch->hessian &&
                  (shape->kind == SHAPE_BENT || (shape->kind == SHAPE_CONVEX && !batch->project));
    for (int64_t pack = batch->begin; pack < batch->end; pack++) {
        const double *rest = batch->rest + pack * shape->rest * LANES;
        vec3l x = vec3l_gather(batch->x, batch->node + pack * LANES);
        Distance at = shape->distance(rest, batch->table, x, curved);
        if (batch->distance) {
            lane_store(batch->distance + pack * LANES, at.d);
            continue;
        }
        if (!lane_any(law_acts(batch->params, at.d))) { /* the usual case */
            zero_block(batch, pack);
            continue;
        }
        Law b = law_at(batch->params, lane_load(rest), at.d);
        if (batch->energy)
            batch->energy[pack] =
                lane_any(law_forbids(batch->params, at.d)) ? INFINITY : lane_sum(b.value);
        if (batch->gradient) {
            double *g = batch->gradient + pack * 3 * LANES;
            lane_store(g, b.slope * at.n.x);
            lane_store(g + LANES, b.slope * at.n.y);
            lane_store(g + 2 * LANES, b.slope * at.n.z);
        }
        if (batch->hessian) store_hessian(batch, pack, shape, b, &at, curved);
    }
}

#if LAW_TRAITS & BRIO_LAW_FORBIDS
/* How far a lane may go on: where room - s approach - s^2 square falls to 0, never if it does
 * not. */
static inline lane advance(lane room, lane approach, lane square)
{
    lane zero = lane_set(0), one = lane_set(1);
    lane root = lane_sqrt(lane_positive(approach * approach + 4 * square * room));
    lane below = approach + root;
    lane_mask ends = lane_lt(zero, below);
    lane s = 2 * lane_positive(room) / lane_select(ends, below, one);
    return lane_select(ends, s, lane_set(2));
}

/* Goes on from the times t of a block until nothing is left of the room. */
static KERNEL_INLINE lane advance_curved(const BrioBatch *batch, const Shape *shape,
                                         const double *rest, vec3l x, vec3l dx, lane keep,
                                         lane enough, lane square, lane t)
{
    lane one = lane_set(1);
    for (int k = 0; k < 48 && lane_any(lane_lt(t, one)); k++) {
        Distance at = shape->distance(rest, batch->table, vec3l_along(x, t, dx), false);
        lane room = at.d - keep;
        lane_mask on = lane_and(lane_lt(t, one), lane_lt(enough, room));
        if (!lane_any(on)) break;
        lane s = advance(room, -vec3l_dot(at.n, dx), square);
        t = lane_select(on, t + s, t);
    }
    return t;
}

static KERNEL_INLINE double obstacle_max_step(const BrioBatch *batch, const Shape *shape,
                                              int64_t *element)
{
    double min = 1;
    lane one = lane_set(1);
    for (int64_t pack = batch->begin; pack < batch->end; pack++) {
        const double *rest = batch->rest + pack * shape->rest * LANES;
        vec3l x = vec3l_gather(batch->x, batch->node + pack * LANES);
        vec3l dx = vec3l_gather(batch->dx, batch->node + pack * LANES);
        Distance at = shape->distance(rest, batch->table, x, false);
        lane room = 0.9 * (at.d - batch->params[BRIO_LAW_THICKNESS]);
        lane approach = -vec3l_dot(at.n, dx), t;
        if (shape->kind == SHAPE_FLAT) {
            lane_mask limited = lane_lt(room, approach);
            if (!lane_any(limited)) continue;
            t = lane_select(limited, room / lane_select(limited, approach, one), one);
        } else {
            lane square = lane_set(0);
            if (shape->kind == SHAPE_BENT)
                square = 0.5 * obstacle_bend(batch->table) * vec3l_dot(dx, dx);
            t = advance(room, approach, square);
            if (!lane_any(lane_lt(t, one))) continue;
            t = advance_curved(batch, shape, rest, x, dx, at.d - room, 0.02 * room, square, t);
        }
        for (int i = 0; i < WIDTH; i++)
            if (t[i] < min) {
                min = t[i];
                *element = pack * LANES + i;
            }
    }
    return min;
}
#endif

#ifdef LAW_STIFFNESS
/* While it acts; local/global asks only then. */
static void obstacle_laplacian(const double *rest, const double *params, const double *live,
                               double *weight)
{
    (void)live;
    weight[0] = LAW_STIFFNESS(params) * rest[0];
}
#else
#define obstacle_laplacian NULL
#endif

/* Steps are limited, and samples lie outside, where the law forbids the inside. */
#if LAW_TRAITS & BRIO_LAW_FORBIDS
#define OBSTACLE(type)                                                      \
    static double type##_max_step(const BrioBatch *batch, int64_t *element) \
    {                                                                       \
        return obstacle_max_step(batch, &type##_shape, element);            \
    }                                                                       \
    static void type##_random(BrioRandom *random, double *X, double *x)     \
    {                                                                       \
        type##_sample(random, true, X, x);                                  \
    }
#include "obstacles.def"
#undef OBSTACLE
#define LAW_ENERGY_TRAITS BRIO_ENERGY_INFINITE
#define LAW_MAX_STEP(type) type##_max_step
#else
#define OBSTACLE(type)                                                  \
    static void type##_random(BrioRandom *random, double *X, double *x) \
    {                                                                   \
        type##_sample(random, false, X, x);                             \
    }
#include "obstacles.def"
#undef OBSTACLE
#define LAW_ENERGY_TRAITS 0
#define LAW_MAX_STEP(type) NULL
#endif

#define OBSTACLE(type) \
    static void type##_eval(const BrioBatch *batch) { obstacle_eval(batch, &type##_shape); }
#include "obstacles.def"
#undef OBSTACLE

#if !(LAW_TRAITS & BRIO_LAW_VERTICES)
static void face_eval(const BrioBatch *batch) { pair_law_eval(batch, pair_vertex_face); }
static void edge_eval(const BrioBatch *batch) { pair_law_eval(batch, pair_edge_edge); }
static void face_sample(BrioRandom *random, double *X, double *x)
{
    pair_sample(random, pair_vertex_face, X, x);
}
static void edge_sample(BrioRandom *random, double *X, double *x)
{
    pair_sample(random, pair_edge_edge, X, x);
}
#endif

#define LAW_COMMON                                                                           \
    .citation = LAW_CITATION, .traits = LAW_ENERGY_TRAITS, .params = BRIO_COUNT(fields) - 1, \
    .fields = fields
#define OBSTACLE(type)                                                            \
    {.name = #type "-" LAW_NAME,                                                  \
     .summary = "Contact of vertices with a " #type ", by the law " LAW_NAME ".", \
     .element = BRIO_ELEMENT_CONTACT,                                             \
     .nodes = 1,                                                                  \
     .rest = type##_rest,                                                         \
     .rest_shape = type##_rest_shape,                                             \
     .eval = type##_eval,                                                         \
     .max_step = LAW_MAX_STEP(type),                                              \
     .laplacian = obstacle_laplacian,                                             \
     .sample = type##_random,                                                     \
     .obstacle = #type,                                                           \
     .table = type##_table,                                                       \
     LAW_COMMON},
/* clang-format off */
static const BrioEnergy energies[] = {
#include "obstacles.def"
#undef OBSTACLE
#if LAW_TRAITS & BRIO_LAW_VERTICES
    {.name = "vertex-vertex-" LAW_NAME,
     .summary = "Contact of vertices with each other, by the law " LAW_NAME ".",
     .element = BRIO_ELEMENT_PAIR, .nodes = 4, .rest = 1, .rest_shape = pair_rest_shape,
     .eval = vertices_eval, .sample = vertices_sample, LAW_COMMON},
#else
    {.name = "vertex-face-" LAW_NAME,
     .summary = "Contact of vertices with triangles, by the law " LAW_NAME ".",
     .element = BRIO_ELEMENT_PAIR, .nodes = 4, .rest = 1, .rest_shape = pair_rest_shape,
     .eval = face_eval, .sample = face_sample, LAW_COMMON},
    {.name = "edge-edge-" LAW_NAME,
     .summary = "Contact of edges with edges, by the law " LAW_NAME ".",
     .element = BRIO_ELEMENT_PAIR, .nodes = 4, .rest = 1, .rest_shape = pair_rest_shape,
     .eval = edge_eval, .sample = edge_sample, LAW_COMMON},
    {.name = "edge-edge-parallel-" LAW_NAME,
     .summary = "The same, faded out where the edges are parallel.",
     .element = BRIO_ELEMENT_PAIR, .nodes = 4, .rest = 2, .rest_shape = parallel_rest_shape,
     .eval = parallel_eval, .sample = parallel_sample, LAW_COMMON},
#endif
};
/* clang-format on */

#define LAW_KERNELS_SYMBOL BRIO_PASTE(brio__law_kernels_, LAW_SYMBOL, BRIO_KERNEL_ISA)
extern const BrioLawKernels LAW_KERNELS_SYMBOL;
const BrioLawKernels LAW_KERNELS_SYMBOL = {BRIO_COUNT(energies), energies};
