/* A contact law between a vertex and a triangle, or between two edges [Li2020]: b(d) with d = |r|,
 * r the vector between the closest points (pair.h). With n = r/|r|, the weights w of the nodes,
 * orthonormal q_k along the free parameters and w'_k = dw/du_k, and B = -b' > 0,
 *
 *     gradient  b' w (x) n,
 *     Hessian   (b'' w w^T + B |r| sum_k w'_k w'_k^T) (x) n n^T
 *               + B sum_k (w w'_k^T (x) q_k n^T + w'_k w^T (x) n q_k^T)
 *               - B/|r| w w^T (x) (I - n n^T - sum_k q_k q_k^T).
 *
 * The last part is orthogonal to the others. Of a pair that counts positively it is negative
 * semidefinite, and the projection drops it; of one that is taken off (system/creases.c) it is
 * positive, and stays: it is what holds a vertex in a dent, between the two sides of an edge. The
 * others live in the span of w (x) n, w'_k (x) n and w (x) q_k: five dimensions at most, where the
 * projection is done. */
#ifndef BRIO_PAIR_LAW_H
#define BRIO_PAIR_LAW_H

#include "law.h"
#include "pair.h"
#include "psd_lane.h"

/* A Hessian on `count` points that share n and w: the block of points i and j is
 * normal_ij n n^T + w_i w_j across + w_i mixed_j n^T + w_j n mixed_i^T. */
typedef struct PairHessian {
    lane normal[4][4], w[4], n[3], across[3][3], mixed[4][3];
} PairHessian;

static inline lane pair_hessian_entry(const PairHessian *h, int i, int j, int r, int s)
{
    return h->normal[i][j] * h->n[r] * h->n[s] + h->w[i] * h->w[j] * h->across[r][s] +
           h->w[i] * h->mixed[j][r] * h->n[s] + h->w[j] * h->n[r] * h->mixed[i][s];
}

/* The derivatives of b(|r|) by points with weights w and w'_k. */
static inline PairHessian pair_hessian(int count, const lane *w, const lane *dw[2], vec3l n,
                                       const vec3l q[2], lane length, lane slope, lane curvature)
{
    PairHessian h = {.n = {n.x, n.y, n.z}};
    lane q0[3] = {q[0].x, q[0].y, q[0].z};
    lane q1[3] = {q[1].x, q[1].y, q[1].z};
    lane B = -slope;
    lane over = slope / length;
    for (int i = 0; i < count; i++) {
        h.w[i] = w[i];
        for (int j = 0; j < count; j++)
            h.normal[i][j] =
                curvature * w[i] * w[j] + B * length * (dw[0][i] * dw[0][j] + dw[1][i] * dw[1][j]);
        for (int r = 0; r < 3; r++) h.mixed[i][r] = B * (dw[0][i] * q0[r] + dw[1][i] * q1[r]);
    }
    for (int r = 0; r < 3; r++)
        for (int s = 0; s < 3; s++)
            h.across[r][s] =
                over * ((r == s ? 1 : 0) - h.n[r] * h.n[s] - q0[r] * q0[s] - q1[r] * q1[s]);
    return h;
}

static inline lane dot4(const lane a[4], const lane b[4])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

/* a/|a| and |a|; nothing if a is zero */
static inline lane normalise4(lane a[4])
{
    lane zero = lane_set(0), one = lane_set(1), length2 = dot4(a, a);
    lane_mask none = lane_le(length2, zero);
    lane length = lane_sqrt(length2);
    lane inverse = lane_select(none, zero, 1 / lane_select(none, one, length));
    for (int i = 0; i < 4; i++) a[i] *= inverse;
    return length;
}

/* The nearest semidefinite one, in the orthonormal basis e_0 (x) n, e_1 (x) n, e_2 (x) n,
 * w/|w| (x) q_0, w/|w| (x) q_1, where e_0, e_1, e_2 span w'_0, w'_1, w. */
static KERNEL_INLINE void pair_hessian_project(PairHessian *h, const lane w[4], const lane *dw[2],
                                               const vec3l q[2], lane length, lane slope,
                                               lane curvature)
{
    lane e[3][4], coordinate[3][3] = {0}; /* of w'_0, w'_1, w */
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 4; i++) e[k][i] = k < 2 ? dw[k][i] : w[i];
        for (int l = 0; l < k; l++) {
            coordinate[k][l] = dot4(e[k], e[l]);
            for (int i = 0; i < 4; i++) e[k][i] -= coordinate[k][l] * e[l][i];
        }
        coordinate[k][k] = normalise4(e[k]);
    }
    lane a[25] = {0}, B = -slope, norm = lane_sqrt(dot4(w, w));
    for (int r = 0; r < 3; r++) {
        for (int s = 0; s < 3; s++)
            a[5 * r + s] =
                curvature * coordinate[2][r] * coordinate[2][s] +
                B * length *
                    (coordinate[0][r] * coordinate[0][s] + coordinate[1][r] * coordinate[1][s]);
        for (int k = 0; k < 2; k++)
            a[5 * r + 3 + k] = a[5 * (3 + k) + r] = B * norm * coordinate[k][r];
    }
    psd_project(5, a);
    lane inverse = 1 / norm, q0[3] = {q[0].x, q[0].y, q[0].z}, q1[3] = {q[1].x, q[1].y, q[1].z};
    for (int i = 0; i < 4; i++) {
        lane row[3], mix[2]; /* (e a)_i on e and on q */
        for (int s = 0; s < 3; s++)
            row[s] = e[0][i] * a[s] + e[1][i] * a[5 + s] + e[2][i] * a[10 + s];
        for (int k = 0; k < 2; k++)
            mix[k] = inverse * (e[0][i] * a[3 + k] + e[1][i] * a[8 + k] + e[2][i] * a[13 + k]);
        for (int j = 0; j < 4; j++)
            h->normal[i][j] = row[0] * e[0][j] + row[1] * e[1][j] + row[2] * e[2][j];
        for (int r = 0; r < 3; r++) h->mixed[i][r] = mix[0] * q0[r] + mix[1] * q1[r];
    }
    inverse *= inverse;
    lane over = lane_positive(slope / length);
    for (int r = 0; r < 3; r++)
        for (int s = 0; s < 3; s++) {
            lane rest = (r == s ? 1 : 0) - h->n[r] * h->n[s] - q0[r] * q0[s] - q1[r] * q1[s];
            h->across[r][s] = inverse * (a[18] * q0[r] * q0[s] + a[24] * q1[r] * q1[s] +
                                         a[19] * (q0[r] * q1[s] + q1[r] * q0[s])) +
                              over * rest;
        }
}

/* What a pack of pairs knows: positions, closest points, the distance, and the law where some pair
 * is near. */
typedef struct PairBlock {
    vec3l x[4], n, q[2];
    Pair pair;
    lane length;
    Law b;
    bool forbidden;
} PairBlock;

/* How far the first `count` nodes stay from the others on x + [0,1] dx, at least: by the gaps along
 * r at both ends of the motion, between which they are linear. 0 where r has no direction. */
static inline lane pair_clearance(const BrioBatch *batch, int64_t pack, int count, const vec3l x[4],
                                  vec3l r, lane length)
{
    lane zero = lane_set(0), one = lane_set(1), low[2] = {zero, zero}, high[2] = {zero, zero};
    lane_mask touch = lane_le(length, zero);
    lane inverse = 1 / lane_select(touch, one, length);
    const int32_t *node = batch->node + pack * 4 * LANES;
    vec3l first = vec3l_gather(batch->dx, node);
    for (int i = 0; i < 4; i++) {
        vec3l way = i ? vec3l_sub(vec3l_gather(batch->dx, node + i * LANES), first)
                      : (vec3l){zero, zero, zero};
        lane from = vec3l_dot(r, vec3l_sub(x[i], x[0])), to = from + vec3l_dot(r, way);
        lane *bound = i < count ? low : high, at[2] = {from, to};
        for (int k = 0; k < 2; k++)
            bound[k] = i == 0 || i == count ? at[k]
                       : i < count          ? lane_min(bound[k], at[k])
                                            : lane_max(bound[k], at[k]);
    }
    lane gap = inverse * lane_min(low[0] - high[0], low[1] - high[1]);
    return lane_select(touch, zero, lane_positive(gap));
}

/* Between which corners of a triangle the nearest point lies: those whose weights, of r, are
 * negative. */
static inline void pair_nearest(const Pair *p, int8_t nearest[LANES])
{
    lane zero = lane_set(0);
    lane_mask near[3];
    for (int k = 0; k < 3; k++) near[k] = lane_lt(p->w[1 + k], zero);
    for (int i = 0; i < WIDTH; i++)
        nearest[i] = (int8_t)(lane_test(near[0], i) | lane_test(near[1], i) << 1 |
                              lane_test(near[2], i) << 2);
}

static inline void pair_touch(const lane w[4], const lane n[3], lane force, double *touch)
{
    for (int i = 0; i < 4; i++) lane_store(touch + i * LANES, w[i]);
    for (int r = 0; r < 3; r++) lane_store(touch + (4 + r) * LANES, n[r]);
    lane_store(touch + 7 * LANES, force);
}

/* Results where no pair of a pack is near. */
static inline void pair_far(const BrioBatch *batch, int64_t pack)
{
    lane zero = lane_set(0);
    double *g = batch->gradient ? batch->gradient + pack * 12 * LANES : NULL;
    double *H = batch->hessian ? batch->hessian + (pack - batch->begin) * 90 * LANES : NULL;
    double *touch = batch->touch ? batch->touch + (pack - batch->begin) * 8 * LANES : NULL;
    if (batch->energy) batch->energy[pack] = 0;
    for (int k = 0; g && k < 12; k++) lane_store(g + k * LANES, zero);
    for (int k = 0; H && k < 90; k++) lane_store(H + k * LANES, zero);
    for (int k = 0; touch && k < 8; k++) lane_store(touch + k * LANES, zero);
}

/* False if there is nothing more to do: distances were wanted, or all eight are far. */
static KERNEL_INLINE bool pair_block(const BrioBatch *batch, int64_t pack, int rest,
                                     Pair (*closest)(const vec3l x[4]), PairBlock *p)
{
    lane zero = lane_set(0), one = lane_set(1);
    for (int i = 0; i < 4; i++)
        p->x[i] = vec3l_gather(batch->x, batch->node + (pack * 4 + i) * LANES);
    p->pair = closest(p->x);
    lane length = lane_sqrt(p->pair.D);
    if (batch->distance) {
        lane_store(batch->distance + pack * LANES, length);
        if (batch->clearance)
            lane_store(batch->clearance + pack * LANES,
                       pair_clearance(batch, pack, closest == pair_vertex_face ? 1 : 2, p->x,
                                      p->pair.r, length));
        if (batch->nearest && closest == pair_vertex_face)
            pair_nearest(&p->pair, batch->nearest + pack * LANES);
        return false;
    }
    if (!lane_any(law_acts(batch->params, length))) {
        pair_far(batch, pack);
        return false;
    }
    if (batch->gradient || batch->hessian || batch->touch) {
        pair_frame(p->x, &p->pair, p->q);
        length = lane_sqrt(p->pair.D);
    }
    lane_mask forbidden = law_forbids(batch->params, length);
    p->forbidden = lane_any(forbidden);
    p->b = law_at(batch->params, lane_load(batch->rest + pack * rest * LANES), length);
    p->length = lane_select(forbidden, one, length);
    p->n = vec3l_along((vec3l){zero, zero, zero}, 1 / p->length, p->pair.r);
    return true;
}

static KERNEL_INLINE void pair_law_eval(const BrioBatch *batch, Pair (*closest)(const vec3l x[4]))
{
    for (int64_t pack = batch->begin; pack < batch->end; pack++) {
        PairBlock p;
        if (!pair_block(batch, pack, 1, closest, &p)) continue;
        lane n[3] = {p.n.x, p.n.y, p.n.z};
        if (batch->touch) {
            pair_touch(p.pair.w, n, -p.b.slope, batch->touch + (pack - batch->begin) * 8 * LANES);
            continue;
        }
        if (batch->energy) batch->energy[pack] = p.forbidden ? INFINITY : lane_sum(p.b.value);
        if (batch->gradient) {
            double *g = batch->gradient + pack * 12 * LANES;
            for (int k = 0; k < 12; k++)
                lane_store(g + k * LANES, p.b.slope * p.pair.w[k / 3] * n[k % 3]);
        }
        if (!batch->hessian) continue;
        double *H = batch->hessian + (pack - batch->begin) * 90 * LANES;
        const lane *dw[2] = {p.pair.dw[0], p.pair.dw[1]};
        PairHessian h = pair_hessian(4, p.pair.w, dw, p.n, p.q, p.length, p.b.slope, p.b.curvature);
        if (batch->project)
            pair_hessian_project(&h, p.pair.w, dw, p.q, p.length, p.b.slope, p.b.curvature);
        for (int i = 0; i < 4; i++)
            for (int j = 0; j <= i; j++)
                for (int k = 0; k < 9; k++)
                    lane_store(H + (brio__pair(i, j) * 9 + k) * LANES,
                               pair_hessian_entry(&h, i, j, k / 3, k % 3));
    }
}

static inline void pair_load(const double *x, vec3l at[4])
{
    for (int i = 0; i < 4; i++)
        at[i] = (vec3l){lane_set(x[3 * i]), lane_set(x[3 * i + 1]), lane_set(x[3 * i + 2])};
}

/* Random positions at a distance in [least, most] with a given number of free parameters, such that
 * moving every coordinate by a few hundredths changes neither that number nor which nodes are
 * closest: D has no second derivative where that changes. */
static inline void pair_draw(BrioRandom *random, Pair (*closest)(const vec3l x[4]), double spread,
                             double min, double max, int free, double *x)
{
    for (;;) {
        vec3l at[4], q[2];
        for (int k = 0; k < 12; k++) x[k] = spread * brio__random_normal(random);
        pair_load(x, at);
        for (int i = 0; i < 4; i++)
            for (int k = 1; k < WIDTH; k++) { /* neighbours in the other lanes */
                at[i].x[k] += 0.03 * brio__random_normal(random);
                at[i].y[k] += 0.03 * brio__random_normal(random);
                at[i].z[k] += 0.03 * brio__random_normal(random);
            }
        Pair p = closest(at);
        double d = sqrt(p.D[0]);
        bool fits = d > min && d < max;
        int count = 0;
        for (int k = 0; k < 2 && fits; k++) {
            double any = 0;
            for (int i = 0; i < 4; i++) {
                any += fabs(p.dw[k][i][0]);
                for (int l = 1; l < WIDTH; l++)
                    fits = fits && p.dw[k][i][l] == p.dw[k][i][0] &&
                           (p.w[i][l] == 0) == (p.w[i][0] == 0);
            }
            count += any > 0;
        }
        pair_frame(at, &p, q);
        /* neither short nor nearly parallel */
        for (int k = 0; k < 8 && fits; k++) fits = fabs(p.dw[k / 4][k % 4][0]) < 1.5;
        if (fits && count == free) return;
    }
}

/* A rest shape that is far apart, and a state with a distance of 0.2 to 0.9 m or of 1.1 to 2 m, of
 * every kind of closest pair in turn. */
static inline void pair_sample(BrioRandom *random, Pair (*closest)(const vec3l x[4]), double *X,
                               double *x)
{
    bool far = brio__random(random) < 0.25;
    pair_draw(random, closest, 2, 1.2, 4, 2, X);
    pair_draw(random, closest, 1, far ? 1.1 : 0.2, far ? 2 : 0.9, (int)(3 * brio__random(random)),
              x);
}

static inline void pair_rest_shape(const double *X, double scale, double length, double *rest)
{
    (void)X;
    (void)length;
    rest[0] = scale;
}

#endif
