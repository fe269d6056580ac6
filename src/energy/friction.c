/* Lagged friction [Li2020, Sec. 5]: with normal force lambda, weights w of the nodes, orthonormal
 * tangents t_1, t_2 and u0 all from the last update, u = (t_1, t_2)^T sum_i w_i x_i - u0 is how far
 * the contact has slid in this step, y = |u|, and
 *
 *     D = mu lambda f0(y),    f0 = y for y >= eps,    y^2 (1/eps - y/(3 eps^2)) + eps/3 below,
 *     f0' = 1,                                         y/eps (2 - y/eps) below,
 *     f0'' = 0,                                        2/eps (1 - y/eps) below,
 *
 * twice differentiable: below eps (a speed times the step) the force grows smoothly from nothing.
 * By u, the Hessian is f0'' along u and f0'/y across it, neither negative: there is nothing to
 * project. But f0 bends so sharply at nothing that the curvature along u tells little about what
 * lies on the other side. With f0'/y in both directions, the bound, a step never goes too far: f0
 * is concave in y^2, so the parabola with that curvature touches it and lies above it everywhere.
 * But steps are then short. So the rest data, or the last positions, say how much of the bound
 * there is along u, (1 - bound) f0'' + bound f0'/y. */
#include "../mat3_lane.h"
#include "energy.h"

/* Rest data: mu lambda, w, t_1, t_2, u0, how much of the bound there is along u. */
enum { WEIGHT = 1, TANGENT = 5, START = 11, BOUND = 13, REST = 14 };

/* The entries of K's upper half. */
static const int row[6] = {0, 0, 0, 1, 1, 2}, column[6] = {0, 1, 2, 1, 2, 2};

/* An entry of K, and the one across the diagonal, into the blocks w_i w_j K. */
static inline void store_blocks(double *H, const lane w[4], int r, int s, lane K)
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j <= i; j++) {
            double *block = H + brio__pair(i, j) * 9 * LANES;
            lane_store(block + (3 * r + s) * LANES, w[i] * w[j] * K);
            lane_store(block + (3 * s + r) * LANES, w[i] * w[j] * K);
        }
}

/* T^T sum w_i x_i - u0 */
static inline void slide(const BrioBatch *batch, const double *x, int64_t pack, const lane w[4],
                         lane t[2][3], lane u[2])
{
    lane zero = lane_set(0);
    const double *rest = batch->rest + pack * REST * LANES;
    vec3l slid = {zero, zero, zero};
    for (int i = 0; i < 4; i++)
        slid = vec3l_along(slid, w[i], vec3l_gather(x, batch->node + (pack * 4 + i) * LANES));
    for (int k = 0; k < 2; k++)
        u[k] = t[k][0] * slid.x + t[k][1] * slid.y + t[k][2] * slid.z -
               lane_load(rest + (START + k) * LANES);
}

/* How much of the bound there is along a slide that was another one at the last positions: nothing
 * if it grows, min(1, d) if it became shorter by d of what is left. */
static inline lane bound_along(const BrioBatch *batch, int64_t pack, const lane w[4], lane t[2][3],
                               const lane u[2], lane y)
{
    lane v[2], zero = lane_set(0);
    slide(batch, batch->last, pack, w, t, v);
    lane way[2] = {u[0] - v[0], u[1] - v[1]};
    lane moved = lane_sqrt(way[0] * way[0] + way[1] * way[1]);
    lane before = lane_sqrt(v[0] * v[0] + v[1] * v[1]);
    lane_mask grows = lane_and(lane_le(before, y), lane_le(zero, u[0] * v[0] + u[1] * v[1]));
    lane_mask none = lane_le(y, zero);
    lane d = lane_select(none, lane_set(1), moved / lane_select(none, lane_set(1), y));
    return lane_select(grows, zero, lane_min(d, lane_set(1)));
}

static void eval(const BrioBatch *batch)
{
    double eps = batch->params[0];
    lane zero = lane_set(0), one = lane_set(1);
    for (int64_t pack = batch->begin; pack < batch->end; pack++) {
        const double *rest = batch->rest + pack * REST * LANES;
        lane force = lane_load(rest), w[4], t[2][3], u[2];
        for (int i = 0; i < 4; i++) w[i] = lane_load(rest + (WEIGHT + i) * LANES);
        for (int k = 0; k < 6; k++) t[k / 3][k % 3] = lane_load(rest + (TANGENT + k) * LANES);
        slide(batch, batch->x, pack, w, t, u);
        lane y = lane_sqrt(u[0] * u[0] + u[1] * u[1]), z = y / eps;
        lane_mask slides = lane_le(one, z), still = lane_le(y, lane_set(1e-150));
        lane inverse = 1 / lane_select(still, one, y);
        if (batch->energy)
            batch->energy[pack] = lane_sum(
                force * lane_select(slides, y, eps * (z * z * (1 - z * (1.0 / 3)) + 1.0 / 3)));
        lane across = force * lane_select(slides, inverse, (2 - z) / eps);
        lane along = force * lane_select(slides, zero, 2 * (1 - z) / eps);
        for (int r = 0; (batch->gradient || batch->pull) && r < 3; r++) {
            lane pull = across * (u[0] * t[0][r] + u[1] * t[1][r]);
            if (batch->pull) lane_store(batch->pull + (pack * 3 + r) * LANES, pull);
            for (int i = 0; batch->gradient && i < 4; i++)
                lane_store(batch->gradient + (pack * 12 + 3 * i + r) * LANES, w[i] * pull);
        }
        if (!batch->hessian && !batch->core) continue;
        lane bound = lane_load(rest + BOUND * LANES);
        if (batch->last) bound = bound_along(batch, pack, w, t, u, y);
        along += bound * (across - along);
        lane c = lane_select(still, one, u[0] * inverse);
        lane s = lane_select(still, zero, u[1] * inverse);
        lane a[3], b[3];
        for (int r = 0; r < 3; r++) {
            a[r] = c * t[0][r] + s * t[1][r]; /* along u */
            b[r] = c * t[1][r] - s * t[0][r];
        }
        for (int k = 0; k < 6; k++) {
            lane K = along * a[row[k]] * a[column[k]] + across * b[row[k]] * b[column[k]];
            if (batch->core) lane_store(batch->core + ((pack - batch->begin) * 6 + k) * LANES, K);
            if (batch->hessian)
                store_blocks(batch->hessian + (pack - batch->begin) * 90 * LANES, w, row[k],
                             column[k], K);
        }
    }
}

/* Node 0 in contact with the middle of the other three, which have not slid yet. Contacts that a
 * simulation finds write their own rest data. */
static void rest_shape(const double *X, double scale, double length, double *rest)
{
    (void)length;
    double r[3], *t1 = rest + TANGENT, *t2 = t1 + 3;
    rest[0] = scale;
    rest[BOUND] = 0;
    for (int i = 0; i < 4; i++) rest[WEIGHT + i] = i ? -1.0 / 3 : 1;
    for (int k = 0; k < 3; k++) r[k] = X[k] - (X[3 + k] + X[6 + k] + X[9 + k]) / 3;
    double size = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    for (int k = 0; k < 3; k++) r[k] = size > 0 ? r[k] / size : k == 2;
    int min = fabs(r[0]) < fabs(r[1]) ? 0 : 1; /* an axis that is not along r */
    if (fabs(r[2]) < fabs(r[min])) min = 2;
    double across = sqrt(1 - r[min] * r[min]);
    for (int k = 0; k < 3; k++) t1[k] = ((k == min) - r[min] * r[k]) / across;
    for (int k = 0; k < 3; k++)
        t2[k] = r[(k + 1) % 3] * t1[(k + 2) % 3] - r[(k + 2) % 3] * t1[(k + 1) % 3];
    for (int k = 0; k < 2; k++) {
        const double *t = k ? t2 : t1;
        rest[START + k] = size * (t[0] * r[0] + t[1] * r[1] + t[2] * r[2]);
    }
}

/* Slid by 0.1 to 0.9 or by 1.1 to 2: on both sides of eps = 1. */
static void sample(BrioRandom *random, double *X, double *x)
{
    double rest[REST];
    double angle = 6.3 * brio__random(random);
    double y = brio__random(random) < 0.5 ? 0.1 + 0.8 * brio__random(random)
                                          : 1.1 + 0.9 * brio__random(random);
    for (int k = 0; k < 12; k++) X[k] = brio__random_normal(random);
    rest_shape(X, 1, NAN, rest);
    for (int k = 0; k < 12; k++) x[k] = X[k] + brio__random_normal(random);
    for (int k = 0; k < 2; k++) {
        const double *t = rest + TANGENT + 3 * k;
        double u = -rest[START + k];
        for (int i = 0; i < 12; i++) u += rest[WEIGHT + i / 3] * t[i % 3] * x[i];
        for (int r = 0; r < 3; r++) x[r] += t[r] * (y * (k ? sin(angle) : cos(angle)) - u);
    }
}

static const BrioField fields[] = {
    {"eps", BRIO_REAL, "m", 1e-5, 1e-300, 1e15, 0,
     "Slide below which the force fades out smoothly: a speed times the step."},
    {0}};

BRIO_ENERGY(friction){
    .name = "friction",
    .summary =
        "Friction of a contact whose normal force and tangents are those of the last update.",
    .citation = "Li2020",
    .element = BRIO_ELEMENT_FRICTION,
    .nodes = 4,
    .rest = REST,
    .params = 1,
    .fields = fields,
    .rest_shape = rest_shape,
    .eval = eval,
    .sample = sample,
};
