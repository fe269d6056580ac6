/* Vectors and 3x3 matrices of lanes, polar and singular value decompositions of eight matrices at a
 * time. */
#ifndef BRIO_MAT3_LANE_H
#define BRIO_MAT3_LANE_H

#include "lane.h"

typedef struct vec3l {
    lane x, y, z;
} vec3l;
typedef struct mat3l {
    lane m[3][3]; /* row, column */
} mat3l;

static inline vec3l vec3l_sub(vec3l a, vec3l b) { return (vec3l){a.x - b.x, a.y - b.y, a.z - b.z}; }
/* a + t b */
static inline vec3l vec3l_along(vec3l a, lane t, vec3l b)
{
    return (vec3l){a.x + t * b.x, a.y + t * b.y, a.z + t * b.z};
}
static inline lane vec3l_dot(vec3l a, vec3l b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline vec3l vec3l_cross(vec3l a, vec3l b)
{
    return (vec3l){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline vec3l vec3l_select(lane_mask m, vec3l a, vec3l b)
{
    return (vec3l){lane_select(m, a.x, b.x), lane_select(m, a.y, b.y), lane_select(m, a.z, b.z)};
}

/* Node k of a pack of elements: node[k*8 .. k*8+7] are vertex numbers times three. */
static inline vec3l vec3l_gather(const double *x, const int32_t *node)
{
    return (vec3l){lane_gather(x, node), lane_gather(x + 1, node), lane_gather(x + 2, node)};
}

static inline mat3l mat3l_mul(const mat3l *a, const mat3l *b)
{
    mat3l c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c.m[i][j] = a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] + a->m[i][2] * b->m[2][j];
    return c;
}

/* a b^T */
static inline mat3l mat3l_mul_t(const mat3l *a, const mat3l *b)
{
    mat3l c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c.m[i][j] = a->m[i][0] * b->m[j][0] + a->m[i][1] * b->m[j][1] + a->m[i][2] * b->m[j][2];
    return c;
}

/* a^T a */
static inline mat3l mat3l_gram(const mat3l *a)
{
    mat3l c;
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            c.m[i][j] = c.m[j][i] =
                a->m[0][i] * a->m[0][j] + a->m[1][i] * a->m[1][j] + a->m[2][i] * a->m[2][j];
    return c;
}

/* cof a = d(det a)/da */
static inline mat3l mat3l_cofactor(const mat3l *a)
{
    mat3l c;
    for (int i = 0; i < 3; i++) {
        int p = (i + 1) % 3, q = (i + 2) % 3;
        for (int j = 0; j < 3; j++) {
            int r = (j + 1) % 3, s = (j + 2) % 3;
            c.m[i][j] = a->m[p][r] * a->m[q][s] - a->m[p][s] * a->m[q][r];
        }
    }
    return c;
}

static inline lane mat3l_norm2(const mat3l *a)
{
    lane s = a->m[0][0] * a->m[0][0];
    for (int k = 1; k < 9; k++) s += a->m[k / 3][k % 3] * a->m[k / 3][k % 3];
    return s;
}

/* One Jacobi rotation that makes s[p][q] zero and turns the columns p and q of v [Golub and Van
 * Loan, Matrix Computations, 8.5]. An entry that is negligible compared with the diagonal is
 * dropped: its square could underflow. */
static inline void jacobi_rotate(mat3l *s, mat3l *v, int p, int q)
{
    int r = 3 - p - q;
    lane spq = s->m[p][q], gap = s->m[q][q] - s->m[p][p];
    lane_mask skip =
        lane_le(lane_abs(spq),
                lane_max(1e-20 * (lane_abs(s->m[p][p]) + lane_abs(s->m[q][q])), lane_set(1e-145)));
    /* t = tan of the angle: the smaller root of t^2 + gap/spq t - 1 = 0 */
    lane root = lane_sqrt(gap * gap + 4 * spq * spq);
    lane t = 2 * spq * lane_sign(gap) / lane_select(skip, lane_set(1), lane_abs(gap) + root);
    t = lane_select(skip, lane_set(0), t);
    lane c = 1 / lane_sqrt(1 + t * t), n = t * c;
    s->m[p][p] -= t * spq;
    s->m[q][q] += t * spq;
    s->m[p][q] = s->m[q][p] = lane_set(0);
    lane sp = s->m[r][p], sq = s->m[r][q];
    s->m[r][p] = s->m[p][r] = c * sp - n * sq;
    s->m[r][q] = s->m[q][r] = n * sp + c * sq;
    for (int k = 0; k < 3; k++) {
        lane vp = v->m[k][p], vq = v->m[k][q];
        v->m[k][p] = c * vp - n * vq;
        v->m[k][q] = n * vp + c * vq;
    }
}

/* s = v diag(s) v^T for symmetric s, which becomes diagonal. Sweeps until the off-diagonal part is
 * round-off. */
static inline void eigen3(mat3l *s, mat3l *v)
{
    *v = (mat3l){{{lane_set(1), lane_set(0), lane_set(0)},
                  {lane_set(0), lane_set(1), lane_set(0)},
                  {lane_set(0), lane_set(0), lane_set(1)}}};
    for (int sweep = 0; sweep < 10; sweep++) {
        jacobi_rotate(s, v, 0, 1);
        jacobi_rotate(s, v, 0, 2);
        jacobi_rotate(s, v, 1, 2);
        lane off = s->m[0][1] * s->m[0][1] + s->m[0][2] * s->m[0][2] + s->m[1][2] * s->m[1][2];
        lane all = s->m[0][0] * s->m[0][0] + s->m[1][1] * s->m[1][1] + s->m[2][2] * s->m[2][2];
        if (!lane_any(lane_lt(all * 1e-33, off))) break;
    }
}

static inline void swap_columns(lane_mask swap, mat3l *v, lane *sigma, int p, int q)
{
    lane s = lane_select(swap, sigma[q], sigma[p]);
    sigma[q] = lane_select(swap, sigma[p], sigma[q]);
    sigma[p] = s;
    for (int k = 0; k < 3; k++) { /* with a change of sign, so that v stays a rotation */
        lane vp = v->m[k][p], vq = v->m[k][q];
        v->m[k][p] = lane_select(swap, vq, vp);
        v->m[k][q] = lane_select(swap, -vp, vq);
    }
}

/* Turns columns 1 and 2 of b = f v, and of v, until those of b are at right angles and the longer
 * one comes first: one Jacobi rotation on the columns themselves. f^T f has lost them where
 * sigma[1] < 1e-8 sigma[0]. */
static inline void separate_columns(mat3l *b, mat3l *v)
{
    lane p = lane_set(0), q = p, pq = p;
    for (int k = 0; k < 3; k++) {
        p += b->m[k][1] * b->m[k][1];
        q += b->m[k][2] * b->m[k][2];
        pq += b->m[k][1] * b->m[k][2];
    }
    lane_mask skip = lane_le(lane_abs(pq), lane_max(1e-20 * (p + q), lane_set(1e-145)));
    lane gap = q - p;
    lane t = 2 * pq * lane_sign(gap) /
             lane_select(skip, lane_set(1), lane_abs(gap) + lane_sqrt(gap * gap + 4 * pq * pq));
    t = lane_select(skip, lane_set(0), t);
    lane c = 1 / lane_sqrt(1 + t * t), n = t * c;
    lane_mask swap = lane_lt(p - t * pq, q + t * pq);
    for (int k = 0; k < 6; k++) { /* the swap changes a sign, so that v stays a rotation */
        lane *row = k < 3 ? b->m[k] : v->m[k - 3];
        lane first = c * row[1] - n * row[2];
        lane second = n * row[1] + c * row[2];
        row[1] = lane_select(swap, second, first);
        row[2] = lane_select(swap, -first, second);
    }
}

/* f = u diag(sigma) v^T with rotations u, v and sigma[0] >= sigma[1] >= |sigma[2]|: only the
 * smallest singular value may be negative, as det f is [Teran2005]. v comes from the eigenvectors
 * of f^T f, u from the columns of f v made orthonormal one after the other, largest first, so that
 * flat and rank-one f are harmless [McAdams2011]. f is scaled to size one first: its fourth powers
 * appear. */
static inline void svd3(const mat3l *f, mat3l *u, lane sigma[3], mat3l *v)
{
    lane size = lane_abs(f->m[0][0]), unscale;
    for (int k = 1; k < 9; k++) size = lane_max(size, lane_abs(f->m[k / 3][k % 3]));
    lane to_unit = lane_unit_scale(size, &unscale);
    mat3l scaled;
    for (int k = 0; k < 9; k++) scaled.m[k / 3][k % 3] = f->m[k / 3][k % 3] * to_unit;

    mat3l s = mat3l_gram(&scaled);
    eigen3(&s, v);
    for (int k = 0; k < 3; k++) sigma[k] = s.m[k][k];
    swap_columns(lane_lt(sigma[0], sigma[1]), v, sigma, 0, 1);
    swap_columns(lane_lt(sigma[0], sigma[2]), v, sigma, 0, 2);

    mat3l b = mat3l_mul(&scaled, v); /* columns sigma_k u_k */
    separate_columns(&b, v);
    lane zero = lane_set(0), one = lane_set(1), tiny = lane_set(1e-290);

    sigma[0] = lane_sqrt(b.m[0][0] * b.m[0][0] + b.m[1][0] * b.m[1][0] + b.m[2][0] * b.m[2][0]);
    lane_mask none = lane_le(sigma[0], tiny);
    lane scale = 1 / lane_select(none, one, sigma[0]);
    lane u0x = lane_select(none, one, b.m[0][0] * scale),
         u0y = lane_select(none, zero, b.m[1][0] * scale),
         u0z = lane_select(none, zero, b.m[2][0] * scale);

    lane along = u0x * b.m[0][1] + u0y * b.m[1][1] + u0z * b.m[2][1];
    lane wx = b.m[0][1] - along * u0x, wy = b.m[1][1] - along * u0y, wz = b.m[2][1] - along * u0z;
    sigma[1] = lane_sqrt(wx * wx + wy * wy + wz * wz);
    none = lane_le(sigma[1], lane_max(sigma[0] * 1e-15, tiny));
    /* any direction at right angles to u0 serves: take it from the axis that u0 leans to least */
    lane ax = lane_abs(u0x), ay = lane_abs(u0y), az = lane_abs(u0z);
    lane_mask use_x = lane_and(lane_le(ax, ay), lane_le(ax, az)), use_y = lane_le(ay, az);
    lane ex = lane_select(use_x, one, zero);
    lane ey = lane_select(use_x, zero, lane_select(use_y, one, zero));
    lane ez = 1 - ex - ey;
    lane e = ex * u0x + ey * u0y + ez * u0z;
    wx = lane_select(none, ex - e * u0x, wx);
    wy = lane_select(none, ey - e * u0y, wy);
    wz = lane_select(none, ez - e * u0z, wz);
    scale = 1 / lane_sqrt(wx * wx + wy * wy + wz * wz);
    lane u1x = wx * scale, u1y = wy * scale, u1z = wz * scale;
    sigma[1] = u1x * b.m[0][1] + u1y * b.m[1][1] + u1z * b.m[2][1];

    lane u2x = u0y * u1z - u0z * u1y, u2y = u0z * u1x - u0x * u1z, u2z = u0x * u1y - u0y * u1x;
    sigma[2] = u2x * b.m[0][2] + u2y * b.m[1][2] + u2z * b.m[2][2];
    for (int k = 0; k < 3; k++) sigma[k] *= unscale;
    *u = (mat3l){{{u0x, u1x, u2x}, {u0y, u1y, u2y}, {u0z, u1z, u2z}}};
}

/* The trace of the stretch, i1 = sigma_0 + sigma_1 + sigma_2 (sigma_2 signed), without a
 * decomposition: it is the largest root of
 *
 *     p(t) = t^4 - 2 i2 t^2 - 8 J t + i2^2 - 4 k,
 *     i2 = sum sigma_i^2,    k = sum of sigma_i^2 sigma_j^2,    J = det f
 *
 * (its four roots are the sums with an even number of minus signs). Steps come from above, where
 * they are monotone: with Newton's step n = p/p' and x = n p''/(2 p'), Halley's step n/(1 - x)
 * never passes the largest of real roots, and neither does n (1 + x + x^2), which is below and
 * needs one division. Their error shrinks to its third power: at most 4e5 t^-2 change^3 where the
 * root is used, so that nothing is left after a step below 5e-8 t. The first two steps, which
 * nearly always suffice, ask no question: the processor then begins the next elements while it
 * divides. The closest rotation is the derivative of i1 by f,
 *
 *     r = di1/df = -(p_i2 di2/df + p_J dJ/df + p_k dk/df)/p'(i1),
 *     p'(i1) = 8 (s0+s1)(s0+s2)(s1+s2).
 *
 * Where that product is small the rotation is nearly undetermined and the SVD decides it. */
static inline lane polar3(const mat3l *f, const mat3l *cof, lane i2, lane k, lane J, mat3l *r)
{
    lane t = lane_sqrt(3 * i2), c0 = i2 * i2 - 4 * k;
    for (int step = 0; step < 40; step++) {
        lane square = t * t;
        lane p = ((square - 2 * i2) * t - 8 * J) * t + c0;
        lane slope = 4 * ((square - i2) * t - 2 * J);
        lane inverse = 1 / lane_max(slope, lane_set(1e-290));
        lane newton = p * inverse, x = newton * ((6 * square - 2 * i2) * inverse);
        lane change = lane_positive(newton * (1 + x + x * x));
        t -= change;
        if (step > 0 && !lane_any(lane_lt(t * 5e-8, change))) break;
    }
    lane slope = 4 * ((t * t - i2) * t - 2 * J);
    if (lane_any(lane_le(slope, 1e-2 * t * t * t))) {
        mat3l u, v;
        lane sigma[3];
        svd3(f, &u, sigma, &v);
        *r = mat3l_mul_t(&u, &v);
        return sigma[0] + sigma[1] + sigma[2];
    }
    /* p_i2 = -2 t^2 + 2 i2, p_J = -8 t, p_k = -4; di2 = 2 f, dk = 2 (i2 f - f f^T f) */
    mat3l gram = mat3l_gram(f), fgram = mat3l_mul(f, &gram);
    lane inverse = 1 / slope;
    lane wf = (4 * t * t + 4 * i2) * inverse, wc = 8 * t * inverse, wg = -8 * inverse;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            r->m[i][j] = wf * f->m[i][j] + wc * cof->m[i][j] + wg * fgram.m[i][j];
    return t;
}

#endif
