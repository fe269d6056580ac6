/* Isotropic hyperelastic tets: everything that materials share.
 *
 * F = D_s D_m^-1 is the deformation gradient of a linear tet, W = V psi(i1, i2, k, J) its energy,
 * with
 *
 *     i1 = s0 + s1 + s2        (trace of the stretch)
 *     i2 = s0^2 + s1^2 + s2^2  (= |F|^2)
 *     k  = s0^2 s1^2 + s0^2 s2^2 + s1^2 s2^2
 *     J  = s0 s1 s2            (= det F)
 *
 * where s are the singular values, s2 signed as det F.
 *
 * A material file defines, before it includes this one:
 *
 *     MATERIAL             its symbol
 *     FIRST                the invariants that psi depends on: a sum of D1, D2, DK, DJ
 *     SECOND               second derivatives that are not zero: a sum of D11, D22, DJJ, D2J, DKJ
 *     NEEDS_POSITIVE_J     1 if psi is infinite at J <= 0
 *     STIFFNESS(params)    the constant c of c/2 |dF|^2 that stands for the Hessian in local/global
 *                          solves, 2 mu + lambda at rest; may be left out: then these solves do not
 *                          take the material
 *     static inline lane material(const double *params, const Invariants *in, int order,
 *                                 Derivatives *out)
 *
 * where order says how many derivatives are wanted (0, 1, 2). This file makes the kernels from it:
 * value and gradient without any decomposition (polar3 where i1 is used), the Hessian and its
 * projection in the frame of the singular vectors. There, with pairs (i, j) and the third index k
 * [Teran2005; Smith2019],
 *
 *     d2psi/ds_i ds_j              couples the three diagonal entries (a 3x3 matrix A),
 *     (psi_i - psi_j)/(s_i - s_j)  is the eigenvalue of the symmetric part of off-diagonal pairs,
 *     (psi_i + psi_j)/(s_i + s_j)  that of the antisymmetric part,
 *
 * and every division except the one of i1 cancels when written in invariants. Clamping the three
 * eigenvalues of A and the six others at zero is the projection. */
#ifndef BRIO_TET_H
#define BRIO_TET_H

#include "../mat3_lane.h"
#include "energy.h"

enum { D1 = 1, D2 = 2, DK = 4, DJ = 8 };
enum { D11 = 1, D22 = 2, DJJ = 4, D2J = 8, DKJ = 16 };

typedef struct Invariants {
    lane i1, i2, k, J;
} Invariants;

typedef struct Derivatives {
    lane d1, d2, dk, dJ;
    lane d11, d22, dJJ, d2J, dkJ;
} Derivatives;

#define TET_REST 10 /* volume, D_m^-1 row by row */

#define TET_FIELD_RHO                                                     \
    {                                                                     \
        "rho", BRIO_REAL, "kg/m3", 1000, 1e-300, 1e15, 0, "Mass density." \
    }

/* Young's modulus, Poisson's ratio and density, which most materials ask for, and Lamé's constants
 * of them. */
static const BrioField tet_fields[]
    __attribute__((unused)) = {{"E", BRIO_REAL, "Pa", 1e5, 1e-300, 1e15, 0,
                                "Young's modulus: how much it resists stretching."},
                               {"nu", BRIO_REAL, "", 0.3, -0.99, 0.4999, 0,
                                "Poisson's ratio: 0.3 is usual, near 0.5 keeps the volume."},
                               TET_FIELD_RHO,
                               {0}};

static inline BrioStatus tet_prepare(const double *values, double *params, BrioError *error)
{
    (void)error;
    params[0] = brio__lame_mu(values[0], values[1]);
    params[1] = brio__lame_lambda(values[0], values[1]);
    return BRIO_OK;
}

#endif

#ifdef MATERIAL

static inline lane material(const double *params, const Invariants *in, int order,
                            Derivatives *out);

typedef struct Tet {
    lane volume;
    mat3l B; /* D_m^-1: row i is the gradient of the weight of node i+1 */
} Tet;

static inline Tet tet_rest(const BrioBatch *batch, int64_t pack)
{
    const double *rest = batch->rest + pack * TET_REST * LANES;
    Tet tet = {.volume = lane_load(rest)};
    for (int k = 0; k < 9; k++) tet.B.m[k / 3][k % 3] = lane_load(rest + (k + 1) * LANES);
    return tet;
}

/* Sum over nodes 1..3 of (y_i - y_0) b_i^T for any field y on the nodes: F for y = x, its change
 * for y = dx. */
static inline mat3l tet_gradient(const BrioBatch *batch, int64_t pack, const double *y,
                                 const mat3l *B)
{
    const int32_t *node = batch->node + pack * 4 * LANES;
    vec3l origin = vec3l_gather(y, node);
    mat3l D;
    for (int i = 0; i < 3; i++) {
        vec3l edge = vec3l_sub(vec3l_gather(y, node + (i + 1) * LANES), origin);
        D.m[0][i] = edge.x;
        D.m[1][i] = edge.y;
        D.m[2][i] = edge.z;
    }
    return mat3l_mul(&D, B);
}

static inline lane determinant(const mat3l *F, const mat3l *cof)
{
    return F->m[0][0] * cof->m[0][0] + F->m[0][1] * cof->m[0][1] + F->m[0][2] * cof->m[0][2];
}

static inline void tet_value(const BrioBatch *batch, int64_t pack, const Tet *tet, const mat3l *F,
                             int order)
{
    Invariants in;
    Derivatives d = {0};
    mat3l cof = mat3l_cofactor(F), R = {0}, C = {0};
    in.J = determinant(F, &cof);
    in.i2 = mat3l_norm2(F);
    in.k = in.i1 = lane_set(0);
    if (FIRST & (DK | D1)) in.k = mat3l_norm2(&cof);
    if (FIRST & D1) in.i1 = polar3(F, &cof, in.i2, in.k, in.J, &R);
    lane_mask forbidden = lane_le(in.J, lane_set(0));
    if (NEEDS_POSITIVE_J) in.J = lane_select(forbidden, lane_set(1), in.J);
    lane psi = material(batch->params, &in, order, &d);

    if (batch->energy) {
        double sum = lane_sum(tet->volume * psi);
        batch->energy[pack] = NEEDS_POSITIVE_J && lane_any(forbidden) ? INFINITY : sum;
    }
    if (order == 0) return;

    /* P = dpsi/dF, times the volume */
    if (FIRST & DK) {
        C = mat3l_gram(F);
        C = mat3l_mul(F, &C);
    }
    lane wF = tet->volume * 2 * d.d2;
    lane wk = tet->volume * 2 * d.dk;
    lane wJ = tet->volume * d.dJ;
    lane w1 = tet->volume * d.d1;
    if (FIRST & DK) wF += wk * in.i2;
    mat3l P;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            lane p = wF * F->m[i][j];
            if (FIRST & DJ) p += wJ * cof.m[i][j];
            if (FIRST & DK) p -= wk * C.m[i][j];
            if (FIRST & D1) p += w1 * R.m[i][j];
            P.m[i][j] = p;
        }
    mat3l G = mat3l_mul_t(&P, &tet->B); /* column i: force on node i+1 */
    double *g = batch->gradient + pack * 12 * LANES;
    for (int r = 0; r < 3; r++) {
        lane_store(g + r * LANES, -(G.m[r][0] + G.m[r][1] + G.m[r][2]));
        for (int i = 0; i < 3; i++) lane_store(g + (3 * (i + 1) + r) * LANES, G.m[r][i]);
    }
}

/* The nearest positive semidefinite matrix, if one lane's is not so already (Sylvester's
 * criterion). */
static inline void project3(mat3l *A)
{
    lane zero = lane_set(0);
    mat3l cof = mat3l_cofactor(A);
    lane det = determinant(A, &cof);
    lane_mask bad =
        lane_or(lane_le(A->m[0][0], zero), lane_or(lane_le(cof.m[2][2], zero), lane_le(det, zero)));
    if (!lane_any(bad)) return;
    mat3l v;
    eigen3(A, &v);
    mat3l w;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) w.m[i][j] = v.m[i][j] * lane_positive(A->m[j][j]);
    *A = mat3l_mul_t(&w, &v);
}

/* The Hessian of psi by F in the frame of the singular vectors, F' = U^T F V: A couples the
 * diagonal entries, and [[p, q], [q, p]] the pairs (F'_ij, F'_ji). */
typedef struct TetFrame {
    mat3l A, p, q;
} TetFrame;

/* A: second derivatives by the singular values s. */
static inline mat3l tet_stretches(const Invariants *in, const Derivatives *d, const lane s[3])
{
    /* derivatives of the invariants by the singular values */
    lane g2[3], gk[3], gJ[3] = {s[1] * s[2], s[0] * s[2], s[0] * s[1]};
    for (int i = 0; i < 3; i++) {
        g2[i] = 2 * s[i];
        gk[i] = g2[i] * (in->i2 - s[i] * s[i]);
    }
    mat3l A;
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            lane a = lane_set(0);
            if (SECOND & D11) a += d->d11;
            if (SECOND & D22) a += d->d22 * g2[i] * g2[j];
            if (SECOND & DJJ) a += d->dJJ * gJ[i] * gJ[j];
            if (SECOND & D2J) a += d->d2J * (g2[i] * gJ[j] + gJ[i] * g2[j]);
            if (SECOND & DKJ) a += d->dkJ * (gk[i] * gJ[j] + gJ[i] * gk[j]);
            if (i == j) {
                a += 2 * d->d2;
                if (FIRST & DK) a += 2 * d->dk * (in->i2 - s[i] * s[i]);
            } else {
                if (FIRST & DJ) a += d->dJ * s[3 - i - j];
                if (FIRST & DK) a += 4 * d->dk * s[i] * s[j];
            }
            A.m[i][j] = A.m[j][i] = a;
        }
    return A;
}

/* p and q, times the volume. */
static inline void tet_turns(const Derivatives *d, const lane s[3], lane volume, bool project,
                             TetFrame *f)
{
    for (int i = 0; i < 3; i++)
        for (int j = i + 1; j < 3; j++) {
            lane t = s[3 - i - j];
            lane even = 2 * d->d2, odd = 2 * d->d2;
            if (FIRST & DJ) {
                even -= t * d->dJ;
                odd += t * d->dJ;
            }
            if (FIRST & DK) {
                even += 2 * d->dk * (t * t - s[i] * s[j]);
                odd += 2 * d->dk * (t * t + s[i] * s[j]);
            }
            if (FIRST & D1) odd += 2 * d->d1 / lane_max(s[i] + s[j], 1e-12 * s[0] + 1e-290);
            if (project) {
                even = lane_positive(even);
                odd = lane_positive(odd);
            }
            f->p.m[i][j] = f->p.m[j][i] = (even + odd) * 0.5 * volume;
            f->q.m[i][j] = f->q.m[j][i] = (even - odd) * 0.5 * volume;
        }
}

/* The block of two nodes whose weights have the gradients a and b in the frame of V. */
static inline mat3l tet_block(const TetFrame *f, const lane a[3], const lane b[3])
{
    mat3l h;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            if (r != c) {
                h.m[r][c] = a[r] * b[c] * f->A.m[r][c] + a[c] * b[r] * f->q.m[r][c];
            } else {
                int k = (r + 1) % 3, l = (r + 2) % 3;
                h.m[r][r] = a[r] * b[r] * f->A.m[r][r] + a[k] * b[k] * f->p.m[r][k] +
                            a[l] * b[l] * f->p.m[r][l];
            }
        }
    return h;
}

/* Node blocks U H' U^T into H; those of node 0 are minus the sums of the others. beta: row i is V^T
 * b_{i+1}. */
static inline void tet_store(const TetFrame *f, const mat3l *U, const mat3l *beta, double *H)
{
    lane corner[3][3][3] = {0}; /* blocks (i+1, 0) */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) {
            mat3l h = tet_block(f, beta->m[i], beta->m[j]);
            h = mat3l_mul(U, &h);
            h = mat3l_mul_t(&h, U);
            double *out = H + brio__pair(i + 1, j + 1) * 9 * LANES;
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++) {
                    lane_store(out + (3 * r + c) * LANES, h.m[r][c]);
                    corner[i][r][c] -= h.m[r][c];
                    if (i != j) corner[j][c][r] -= h.m[r][c];
                }
        }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            for (int i = 0; i < 3; i++)
                lane_store(H + (brio__pair(i + 1, 0) * 9 + 3 * r + c) * LANES, corner[i][r][c]);
            lane_store(H + (3 * r + c) * LANES,
                       -(corner[0][r][c] + corner[1][r][c] + corner[2][r][c]));
        }
}

static inline void tet_hessian(const BrioBatch *batch, int64_t pack, const Tet *tet, const mat3l *F)
{
    mat3l U, V;
    lane s[3];
    svd3(F, &U, s, &V);
    lane q0 = s[0] * s[0], q1 = s[1] * s[1], q2 = s[2] * s[2];
    Invariants in = {s[0] + s[1] + s[2], q0 + q1 + q2, q0 * q1 + q0 * q2 + q1 * q2,
                     s[0] * s[1] * s[2]};
    if (NEEDS_POSITIVE_J) in.J = lane_select(lane_le(in.J, lane_set(0)), lane_set(1), in.J);
    Derivatives d = {0};
    material(batch->params, &in, 2, &d);
    TetFrame f = {.A = tet_stretches(&in, &d, s)};
    if (batch->project) project3(&f.A);
    tet_turns(&d, s, tet->volume, batch->project, &f);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) f.A.m[i][j] *= tet->volume;
    mat3l beta = mat3l_mul(&tet->B, &V);
    tet_store(&f, &U, &beta, batch->hessian + (pack - batch->begin) * 90 * LANES);
}

static void tet_eval(const BrioBatch *batch)
{
    for (int64_t pack = batch->begin; pack < batch->end; pack++) {
        Tet tet = tet_rest(batch, pack);
        mat3l F = tet_gradient(batch, pack, batch->x, &tet.B);
        if (batch->gradient)
            tet_value(batch, pack, &tet, &F, 1);
        else if (batch->energy)
            tet_value(batch, pack, &tet, &F, 0);
        if (batch->hessian) tet_hessian(batch, pack, &tet, &F);
    }
}

static void tet_rest_shape(const double *X, double scale, double length, double *rest)
{
    (void)length;
    double D[3][3], C[3][3];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) D[r][c] = X[3 * (c + 1) + r] - X[r];
    for (int r = 0; r < 3; r++) /* adjugate: the transpose of the cofactors */
        for (int c = 0; c < 3; c++) {
            int p = (r + 1) % 3, q = (r + 2) % 3, a = (c + 1) % 3, b = (c + 2) % 3;
            C[c][r] = D[p][a] * D[q][b] - D[p][b] * D[q][a];
        }
    double det = D[0][0] * C[0][0] + D[0][1] * C[1][0] + D[0][2] * C[2][0];
    rest[0] = scale * det / 6;
    for (int k = 0; k < 9; k++) rest[1 + k] = C[k / 3][k % 3] / det;
}

static double tet_magnitude(const double *rest) { return rest[0]; }

#if NEEDS_POSITIVE_J
/* J along x + t dx is the cubic c[0] + c[1] t + c[2] t^2 + c[3] t^3. From a safe t upward, the next
 * one is t + (J(t) - floor)/m with m the steepest descent of J on [t, end], at most end: no root is
 * ever stepped over. */
static inline lane cubic(const lane c[4], lane t)
{
    return c[0] + (c[1] + (c[2] + c[3] * t) * t) * t;
}
static inline lane cubic_slope(const lane c[4], lane t)
{
    return c[1] + (2 * c[2] + 3 * c[3] * t) * t;
}

static inline lane advance(const lane c[4], lane t, lane end, lane floor)
{
    lane zero = lane_set(0), one = lane_set(1);
    lane_mask curved = lane_lt(lane_set(1e-290), lane_abs(c[3]));
    lane vertex = -c[2] / lane_select(curved, 3 * c[3], one); /* where J' has its extremum */
    lane_mask inside = lane_and(curved, lane_and(lane_lt(t, vertex), lane_lt(vertex, end)));
    lane slope = lane_min(cubic_slope(c, t), cubic_slope(c, end));
    slope = lane_select(inside, lane_min(slope, cubic_slope(c, vertex)), slope);
    lane_mask falls = lane_lt(slope, zero);
    lane next =
        lane_select(falls, t + (cubic(c, t) - floor) / lane_select(falls, -slope, one), end);
    return lane_max(t, lane_min(end, next));
}

/* `high` is 1 until halving finds a point below the floor, then that point. The floor keeps a tenth
 * of the element's present volume. */
static double tet_max_step(const BrioBatch *batch, int64_t *element)
{
    double min = 1;
    for (int64_t pack = batch->begin; pack < batch->end; pack++) {
        Tet tet = tet_rest(batch, pack);
        mat3l F = tet_gradient(batch, pack, batch->x, &tet.B),
              D = tet_gradient(batch, pack, batch->dx, &tet.B);
        mat3l cofF = mat3l_cofactor(&F), cofD = mat3l_cofactor(&D);
        lane c[4] = {determinant(&F, &cofF), lane_set(0), lane_set(0), determinant(&D, &cofD)};
        for (int k = 0; k < 9; k++) {
            c[1] += cofF.m[k / 3][k % 3] * D.m[k / 3][k % 3];
            c[2] += cofD.m[k / 3][k % 3] * F.m[k / 3][k % 3];
        }
        lane t = lane_set(0), high = lane_set(1), floor = c[0] * 0.1;
        for (int round = 0; round < 60; round++) {
            lane middle = 0.5 * (t + high);
            t = lane_max(advance(c, t, high, floor), advance(c, t, middle, floor));
            high = lane_select(lane_and(lane_lt(t, middle), lane_lt(cubic(c, middle), floor)),
                               middle, high);
            /* of a root, but all the way to 1 */
            lane near = lane_select(lane_lt(high, lane_set(1)), 1e-3 * t, lane_set(0));
            if (!lane_any(lane_lt(t + near, high))) break;
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

/* A tet of random shape and orientation, and a random state that is allowed: stretches about 0.4 to
 * 1.8 and, where inversion is allowed, sometimes inverted. */
static void tet_sample(BrioRandom *random, double *X, double *x)
{
    double F[9], det;
    do {
        for (int k = 0; k < 12; k++) X[k] = brio__random(random);
        double rest[TET_REST];
        tet_rest_shape(X, 1, NAN, rest);
        det = rest[0];
    } while (!(det > 0.01));
    do {
        for (int k = 0; k < 9; k++) F[k] = (k % 4 == 0) + 0.35 * brio__random_normal(random);
        det = F[0] * (F[4] * F[8] - F[5] * F[7]) - F[1] * (F[3] * F[8] - F[5] * F[6]) +
              F[2] * (F[3] * F[7] - F[4] * F[6]);
    } while (NEEDS_POSITIVE_J && !(det > 0.1));
    for (int v = 0; v < 4; v++)
        for (int r = 0; r < 3; r++)
            x[3 * v + r] =
                F[3 * r] * X[3 * v] + F[3 * r + 1] * X[3 * v + 1] + F[3 * r + 2] * X[3 * v + 2];
}

#ifndef TET_ELEMENT
#define TET_ELEMENT BRIO_ELEMENT_TET
#endif
#if NEEDS_POSITIVE_J
#define TET_MAX_STEP tet_max_step
#define TET_TRAITS BRIO_ENERGY_INFINITE
#else
#define TET_MAX_STEP NULL
/* built on the rotation: distances from it, unless J takes part */
#define TET_TRAITS                                    \
    (((FIRST)&D1 ? BRIO_ENERGY_NOT_SMOOTH_FLIP : 0) | \
     ((FIRST)&D1 && !((FIRST)&DJ) ? BRIO_ENERGY_PROJECTION : 0))
#endif

#ifdef STIFFNESS
static void tet_laplacian(const double *rest, const double *params, const double *live,
                          double *weight)
{
    (void)live;
    double b[4][3];
    for (int r = 0; r < 3; r++) {
        for (int i = 1; i < 4; i++) b[i][r] = rest[1 + 3 * (i - 1) + r];
        b[0][r] = -(b[1][r] + b[2][r] + b[3][r]);
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j <= i; j++)
            weight[brio__pair(i, j)] = rest[0] * (STIFFNESS(params)) *
                                       (b[i][0] * b[j][0] + b[i][1] * b[j][1] + b[i][2] * b[j][2]);
}

#define TET_LAPLACIAN tet_laplacian
#else
#define TET_LAPLACIAN NULL
#endif

/* What a tet material's descriptor has in common. */
#define TET_DESCRIPTOR                                                          \
    .element = TET_ELEMENT, .traits = TET_TRAITS, .nodes = 4, .rest = TET_REST, \
    .rest_shape = tet_rest_shape, .magnitude = tet_magnitude, .eval = tet_eval, \
    .laplacian = TET_LAPLACIAN, .max_step = TET_MAX_STEP, .sample = tet_sample

#endif
