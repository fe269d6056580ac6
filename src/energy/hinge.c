/* Bending of shells at the edges between two triangles [Grinspun2003]: with the angle theta between
 * the normals,
 *
 *     W = D/2 |e|^2/(A1 + A2) (theta - theta0)^2,
 *
 * lengths and areas from the rest shape, D = E t^3/(12 (1 - nu^2)) the flexural rigidity of a plate
 * of thickness t. The factor: bending a plate to a cylinder of curvature kappa takes D/2 kappa^2 of
 * energy per area, in whatever direction. On a mesh of equilateral triangles the edges take
 * D/2 |e|^2/(A1 + A2) theta^2 for that, whatever the direction, and on a grid of halved squares for
 * directions along its sides. (Grinspun's 3 |e|^2/(A1 + A2) k theta^2 is the same with k = D/6.)
 * Being a sum over edges, the energy has a Poisson effect of the mesh's own, -1/3 on equilateral
 * triangles [Seung1988], so that narrow strips are beams of 8/9 D: E t^3/12 if nu = 1/3. The shape
 * grid alternates its diagonals, so that a row of vertices is measured at every other place only
 * and yields in between: it bends along its sides a fifth more than a plate, and resists twist
 * more.
 *
 * Nodes: x0, x1 the edge e, x2 and x3 the corners across it. With
 *
 *     N1 = e x (x2 - x0),    N2 = (x3 - x0) x e,    theta = atan2(e/|e| . (N1 x N2), N1 . N2),
 *
 * whatever the orientation of the triangles, heights h_k and unit normals n_k, weights on the nodes
 *
 *     w1 = (-(1-t1), -t1, 1, 0),    w2 = (-(1-t2), -t2, 0, 1),    d = (-1, 1, 0, 0)/|e|,
 *
 * where t_k is the foot of the height along the edge, and the directions tau_k from the edge to the
 * corners [compare Tamstorf2013],
 *
 *     grad theta = -sum_k w_k n_k/h_k,
 *     Hess theta = sum_k (w_k w_k^T/h_k^2 + d d^T/2) (n_k tau_k^T + tau_k n_k^T)
 *                        + 1/h_k (w_k d^T ê n_k^T + d w_k^T n_k ê^T)
 *
 * (Kronecker products of a matrix on the nodes and one in space). Neither sees translations, so the
 * projection is that of a 9x9 matrix on node weights that add up to nothing. The difference
 * theta - theta0 is taken in (-pi, pi]. A hinge with a triangle of no height has no angle: it
 * exerts no force. */
#include "../mat3_lane.h"
#include "energy.h"
#include "psd_lane.h"

enum { HINGE_REST = 6 }; /* |e|^2/(A1 + A2), theta0, w1/h1 + w2/h2 of the four nodes */

#define PI 3.14159265358979323846

typedef struct Hinge {
    lane angle; /* minus theta0 */
    lane direction[3], length;
    lane normal[2][3], height[2], foot[2];
    lane_mask none;
} Hinge;

static inline void cross(const lane a[3], const lane b[3], lane c[3])
{
    for (int r = 0; r < 3; r++)
        c[r] = a[(r + 1) % 3] * b[(r + 2) % 3] - a[(r + 2) % 3] * b[(r + 1) % 3];
}
static inline lane dot(const lane a[3], const lane b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline Hinge measure(const BrioBatch *batch, int64_t pack)
{
    const int32_t *node = batch->node + pack * 4 * LANES;
    lane p[4][3], e[3], b[2][3], N[3], square, one = lane_set(1);
    Hinge h;
    for (int k = 0; k < 4; k++)
        for (int r = 0; r < 3; r++) p[k][r] = lane_gather(batch->x + r, node + k * LANES);
    for (int r = 0; r < 3; r++) {
        e[r] = p[1][r] - p[0][r];
        b[0][r] = p[2][r] - p[0][r];
        b[1][r] = p[3][r] - p[0][r];
    }
    square = dot(e, e);
    h.none = lane_le(square, lane_set(1e-280));
    square = lane_select(h.none, one, square);
    h.length = lane_sqrt(square);
    for (int r = 0; r < 3; r++) h.direction[r] = e[r] / h.length;
    for (int k = 0; k < 2; k++) {
        cross(k ? b[1] : e, k ? e : b[0], N);
        lane size = lane_sqrt(dot(N, N));
        lane_mask flat = lane_le(size, 1e-12 * square);
        h.none = lane_or(h.none, flat);
        size = lane_select(flat, one, size);
        h.height[k] = lane_select(flat, one, size / h.length);
        h.foot[k] = dot(b[k], e) / square;
        for (int r = 0; r < 3; r++) h.normal[k][r] = N[r] / size;
    }
    cross(h.normal[0], h.normal[1], N);
    lane sine = dot(h.direction, N);
    lane cosine = dot(h.normal[0], h.normal[1]);
    lane rest = lane_load(batch->rest + (pack * HINGE_REST + 1) * LANES);
    h.angle = lane_set(0);
    for (int i = 0; i < WIDTH; i++) {
        double angle = atan2(sine[i], cosine[i]) - rest[i];
        h.angle[i] = angle > PI ? angle - 2 * PI : angle <= -PI ? angle + 2 * PI : angle;
    }
    h.angle = lane_select(h.none, lane_set(0), h.angle);
    return h;
}

/* The Hessian over D |e|^2/(A1 + A2) in `nodes` weights: of the nodes themselves, or of what is
 * left without translations. */
static inline void fill(const Hinge *h, int nodes, lane w[2][4], lane d[4], lane *H)
{
    int n = 3 * nodes;
    lane tau[2][3], g[12];
    for (int k = 0; k < 2; k++) {
        cross(h->normal[k], h->direction, tau[k]);
        if (k)
            for (int r = 0; r < 3; r++) tau[k][r] = -tau[k][r];
    }
    for (int i = 0; i < n; i++)
        g[i] = -(w[0][i / 3] * h->normal[0][i % 3] / h->height[0] +
                 w[1][i / 3] * h->normal[1][i % 3] / h->height[1]);
    for (int i = 0; i < nodes; i++)
        for (int j = 0; j < nodes; j++)
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++) {
                    lane sum = lane_set(0);
                    for (int k = 0; k < 2; k++) {
                        const lane *normal = h->normal[k];
                        lane inverse = 1 / h->height[k];
                        sum += (w[k][i] * w[k][j] * inverse * inverse + 0.5 * d[i] * d[j]) *
                                   (normal[r] * tau[k][c] + tau[k][r] * normal[c]) +
                               inverse * (w[k][i] * d[j] * h->direction[r] * normal[c] +
                                          d[i] * w[k][j] * normal[r] * h->direction[c]);
                    }
                    H[(3 * i + r) * n + 3 * j + c] = lane_select(
                        h->none, lane_set(0), g[3 * i + r] * g[3 * j + c] + h->angle * sum);
                }
}

/* Columns: orthonormal weights on the nodes that add up to nothing. */
static const double basis[4][3] = {{0.70710678118654752440, 0, 0.5},
                                   {-0.70710678118654752440, 0, 0.5},
                                   {0, 0.70710678118654752440, -0.5},
                                   {0, -0.70710678118654752440, -0.5}};

static inline void hessian(const BrioBatch *batch, int64_t pack, const Hinge *h, lane stiffness)
{
    lane zero = lane_set(0);
    lane one = lane_set(1);
    lane d[4] = {-1 / h->length, 1 / h->length, zero, zero};
    lane H[144];
    lane w[2][4] = {{h->foot[0] - 1, -h->foot[0], one, zero},
                    {h->foot[1] - 1, -h->foot[1], zero, one}};
    if (!batch->project) {
        fill(h, 4, w, d, H);
    } else {
        lane reduced_w[2][4], reduced_d[4], A[81], half[108];
        for (int i = 0; i < 3; i++) {
            reduced_d[i] = reduced_w[0][i] = reduced_w[1][i] = zero;
            for (int k = 0; k < 4; k++) {
                reduced_d[i] += basis[k][i] * d[k];
                for (int j = 0; j < 2; j++) reduced_w[j][i] += basis[k][i] * w[j][k];
            }
        }
        fill(h, 3, reduced_w, reduced_d, A);
        psd_project_any(9, A);
        for (int a = 0; a < 12; a++)
            for (int b = 0; b < 9; b++) {
                half[9 * a + b] = zero;
                for (int i = 0; i < 3; i++)
                    half[9 * a + b] += basis[a / 3][i] * A[9 * (3 * i + a % 3) + b];
            }
        for (int a = 0; a < 12; a++)
            for (int b = 0; b <= a; b++) {
                H[12 * a + b] = zero;
                for (int i = 0; i < 3; i++)
                    H[12 * a + b] += basis[b / 3][i] * half[9 * a + 3 * i + b % 3];
                H[12 * b + a] = H[12 * a + b];
            }
    }
    double *to = batch->hessian + (pack - batch->begin) * 90 * LANES;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j <= i; j++)
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++)
                    lane_store(to + (brio__pair(i, j) * 9 + 3 * r + c) * LANES,
                               stiffness * H[12 * (3 * i + r) + 3 * j + c]);
}

static void eval(const BrioBatch *batch)
{
    for (int64_t pack = batch->begin; pack < batch->end; pack++) {
        Hinge h = measure(batch, pack);
        lane stiffness = batch->params[0] * lane_load(batch->rest + pack * HINGE_REST * LANES);
        if (batch->energy) batch->energy[pack] = lane_sum(0.5 * stiffness * h.angle * h.angle);
        if (batch->gradient) {
            double *g = batch->gradient + pack * 12 * LANES;
            for (int r = 0; r < 3; r++) {
                lane first = -stiffness * h.angle * h.normal[0][r] / h.height[0];
                lane second = -stiffness * h.angle * h.normal[1][r] / h.height[1];
                lane_store(g + r * LANES, (h.foot[0] - 1) * first + (h.foot[1] - 1) * second);
                lane_store(g + (3 + r) * LANES, -(h.foot[0] * first + h.foot[1] * second));
                lane_store(g + (6 + r) * LANES, first);
                lane_store(g + (9 + r) * LANES, second);
            }
        }
        if (batch->hessian) hessian(batch, pack, &h, stiffness);
    }
}

static double cross_length(const double *a, const double *b, const double *c, double n[3])
{
    for (int r = 0; r < 3; r++) {
        int p = (r + 1) % 3, q = (r + 2) % 3;
        n[r] = (b[p] - a[p]) * (c[q] - a[q]) - (b[q] - a[q]) * (c[p] - a[p]);
    }
    return sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
}

static void rest_shape(const double *X, double scale, double length, double *rest)
{
    (void)length;
    double N[2][3];
    double e[3] = {X[3] - X[0], X[4] - X[1], X[5] - X[2]};
    double square = e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
    double first = cross_length(X, X + 3, X + 6, N[0]);
    double second = cross_length(X, X + 9, X + 3, N[1]);
    for (int k = 0; k < HINGE_REST; k++) rest[k] = 0;
    if (!(fmin(first, second) > 1e-12 * square) || !(square > 0)) return;
    double sine = 0, cosine = 0;
    for (int r = 0; r < 3; r++) {
        sine +=
            e[r] * (N[0][(r + 1) % 3] * N[1][(r + 2) % 3] - N[0][(r + 2) % 3] * N[1][(r + 1) % 3]);
        cosine += N[0][r] * N[1][r];
    }
    rest[0] = scale * 2 * square / (first + second);
    rest[1] = atan2(sine / sqrt(square), cosine);
    for (int k = 0; k < 2; k++) {
        const double *corner = X + 6 + 3 * k;
        double height = (k ? second : first) / sqrt(square), foot = 0;
        for (int r = 0; r < 3; r++) foot += (corner[r] - X[r]) * e[r] / square;
        rest[2] -= (1 - foot) / height;
        rest[3] -= foot / height;
        rest[4 + k] = 1 / height;
    }
}

/* grad theta = -sum_k w_k n_k/h_k, both normals taken as one: exact for what is flat at rest, at
 * rest. */
static void laplacian(const double *rest, const double *params, const double *live, double *weight)
{
    (void)live;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j <= i; j++)
            weight[brio__pair(i, j)] = params[0] * rest[0] * rest[2 + i] * rest[2 + j];
}

static double magnitude(const double *rest) { return rest[0]; }

static double difference(const double *X, const double *x)
{
    double rest[HINGE_REST], now[HINGE_REST];
    rest_shape(X, 1, NAN, rest);
    rest_shape(x, 1, NAN, now);
    return fabs(remainder(now[1] - rest[1], 2 * PI));
}

/* Two triangles of good shape at any angle, and such a state; not folded by half a turn, where the
 * energy has a kink. */
static void sample(BrioRandom *random, double *X, double *x)
{
    do {
        for (int pose = 0; pose < 2; pose++) {
            double *p = pose ? x : X, n[3], size[2], square;
            do {
                for (int k = 0; k < 12; k++) p[k] = 1.5 * brio__random(random);
                square = (p[3] - p[0]) * (p[3] - p[0]) + (p[4] - p[1]) * (p[4] - p[1]) +
                         (p[5] - p[2]) * (p[5] - p[2]);
                size[0] = cross_length(p, p + 3, p + 6, n);
                size[1] = cross_length(p, p + 9, p + 3, n);
            } while (!(fmin(size[0], size[1]) > 0.4 * sqrt(square)) || !(square > 0.2));
        }
    } while (difference(X, x) > 3);
}

static const BrioField fields[] = {
    {"D", BRIO_REAL, "N m", 1e-3, 0, 1e15, 0, "Flexural rigidity E t^3/(12 (1 - nu^2))."}, {0}};

BRIO_ENERGY(hinge){
    .name = "hinge",
    .summary =
        "Bending of shells: the angle between two triangles, against that of the rest shape.",
    .citation = "Grinspun2003",
    .element = BRIO_ELEMENT_HINGE,
    .nodes = 4,
    .rest = HINGE_REST,
    .params = 1,
    .fields = fields,
    .rest_shape = rest_shape,
    .magnitude = magnitude,
    .eval = eval,
    .laplacian = laplacian,
    .sample = sample,
};
