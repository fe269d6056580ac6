/* Isotropic membranes: triangles whose energy per area is psi(i2, k) with
 *
 *     i2 = |F|^2 = s0^2 + s1^2,    k = det F^T F = s0^2 s1^2 = J^2,
 *
 * where s are the singular values of F (3 x 2).
 *
 * A material file defines, before it includes this one:
 *
 *     MEMBRANE             its symbol
 *     NEEDS_POSITIVE_J     1 if psi is infinite at J = 0
 *     static inline lane material(const double *params, lane i2, lane k, int order,
 *                                 Derivatives *out)
 *     static double tension(const double params[2], double p)
 *
 * with psi_2, psi_k and the second derivatives psi_22, psi_kk in `out` (none has psi_2k), and the
 * tension in N/m of a sheet stretched by p in all directions. params are Lamé's constants of a
 * sheet of thickness t in plane stress, t E/(2 (1 + nu)) and t E nu/(1 - nu^2): the stress across
 * the sheet is zero, so the second is smaller than the solid's. Then
 *
 *     P = 2 F (psi_2 I + psi_k adj F^T F),
 *
 * and in the frame of the singular vectors (u0, u1 in the plane of the triangle, n its normal) the
 * Hessian has these parts, found as for solids [Teran2005; Smith2019]: a 2x2 matrix d2psi/ds_i ds_j
 * of the stretches, the eigenvalues 2 (psi_2 - psi_k s0 s1) and 2 (psi_2 + psi_k s0 s1) of the two
 * shears in the plane, and dpsi/ds_i / s_i = 2 (psi_2 + psi_k s_j^2) of the changes out of the
 * plane: the tension along i, negative where it is pressed. None divides. Clamping them at zero is
 * the projection. */
#ifndef BRIO_MEMBRANE_H
#define BRIO_MEMBRANE_H

#include "triangle.h"

typedef struct Derivatives {
    lane d2, dk, d22, dkk;
} Derivatives;

static inline lane material(const double *params, lane i2, lane k, int order, Derivatives *out);
static double tension(const double params[2], double p);

/* |f0 x f1|^2: det F^T F without its cancellation. */
static inline lane square_of_area(const Gradient *F)
{
    lane sum = lane_set(0);
    for (int r = 0; r < 3; r++) {
        int p = (r + 1) % 3, q = (r + 2) % 3;
        lane n = F->m[p][0] * F->m[q][1] - F->m[q][0] * F->m[p][1];
        sum += n * n;
    }
    return sum;
}

static inline void membrane_value(const BrioBatch *batch, int64_t pack, const Triangle *t,
                                  const Gradient *F, int order)
{
    Derivatives d = {0};
    lane C00 = lane_set(0), C01 = C00, C11 = C00, k = square_of_area(F);
    for (int r = 0; r < 3; r++) {
        C00 += F->m[r][0] * F->m[r][0];
        C01 += F->m[r][0] * F->m[r][1];
        C11 += F->m[r][1] * F->m[r][1];
    }
    lane_mask forbidden = lane_le(k, lane_set(1e-280));
    if (NEEDS_POSITIVE_J) k = lane_select(forbidden, lane_set(1), k);
    lane psi = material(batch->params, C00 + C11, k, order, &d);
    if (batch->energy) {
        double sum = lane_sum(t->area * psi);
        batch->energy[pack] = NEEDS_POSITIVE_J && lane_any(forbidden) ? INFINITY : sum;
    }
    if (order == 0) return;
    lane P[3][2];
    lane w00 = 2 * (d.d2 + d.dk * C11);
    lane w01 = -2 * d.dk * C01;
    lane w11 = 2 * (d.d2 + d.dk * C00);
    for (int r = 0; r < 3; r++) {
        P[r][0] = F->m[r][0] * w00 + F->m[r][1] * w01;
        P[r][1] = F->m[r][0] * w01 + F->m[r][1] * w11;
    }
    triangle_forces(batch, pack, t, P);
}

/* F = U diag(s) V^T: U a rotation whose third column is the normal, V a turn by (c, v). */
static inline void svd32(const Gradient *F, mat3l *U, lane s[2], lane *c, lane *v)
{
    lane size = lane_abs(F->m[0][0]), unscale;
    for (int k = 1; k < 6; k++) size = lane_max(size, lane_abs(F->m[k / 2][k % 2]));
    lane to_unit = lane_unit_scale(size, &unscale);
    lane a[3], b[3];
    lane C00 = lane_set(0);
    lane C01 = C00;
    lane C11 = C00;
    for (int r = 0; r < 3; r++) {
        a[r] = F->m[r][0] * to_unit;
        b[r] = F->m[r][1] * to_unit;
        C00 += a[r] * a[r];
        C01 += a[r] * b[r];
        C11 += b[r] * b[r];
    }
    lane gap = C11 - C00, zero = lane_set(0), one = lane_set(1);
    lane_mask skip = lane_le(lane_abs(C01), 1e-20 * (C00 + C11) + 1e-290);
    lane t = 2 * C01 * lane_sign(gap) /
             lane_select(skip, one, lane_abs(gap) + lane_sqrt(gap * gap + 4 * C01 * C01));
    t = lane_select(skip, zero, t);
    *c = 1 / lane_sqrt(1 + t * t);
    *v = t * *c;
    lane_mask swap = lane_lt(C00 - t * C01, C11 + t * C01); /* the larger first */
    lane turn = *c;
    *c = lane_select(swap, *v, *c);
    *v = lane_select(swap, -turn, *v);
    lane u0[3], u1[3], n[3];
    for (int r = 0; r < 3; r++) { /* columns of F V with V = [[c, v], [-v, c]] */
        u0[r] = *c * a[r] - *v * b[r];
        u1[r] = *v * a[r] + *c * b[r];
    }
    s[0] = lane_sqrt(u0[0] * u0[0] + u0[1] * u0[1] + u0[2] * u0[2]);
    lane_mask none = lane_le(s[0], lane_set(1e-290));
    for (int r = 0; r < 3; r++)
        u0[r] = lane_select(none, lane_set(r == 0), u0[r] / lane_select(none, one, s[0]));
    lane along = u0[0] * u1[0] + u0[1] * u1[1] + u0[2] * u1[2];
    for (int r = 0; r < 3; r++) u1[r] -= along * u0[r];
    s[1] = lane_sqrt(u1[0] * u1[0] + u1[1] * u1[1] + u1[2] * u1[2]);
    none = lane_le(s[1], lane_max(s[0] * 1e-15, lane_set(1e-290)));
    /* any direction at right angles to u0: from the axis that u0 leans to least */
    if (lane_any(none)) {
        lane ax = lane_abs(u0[0]), ay = lane_abs(u0[1]), az = lane_abs(u0[2]);
        lane ex = lane_select(lane_and(lane_le(ax, ay), lane_le(ax, az)), one, zero);
        lane ey = lane_select(lane_le(ay, az), 1 - ex, zero);
        lane e[3] = {ex, ey, 1 - ex - ey}, projection = e[0] * u0[0] + e[1] * u0[1] + e[2] * u0[2];
        for (int r = 0; r < 3; r++) u1[r] = lane_select(none, e[r] - projection * u0[r], u1[r]);
    }
    lane length = lane_sqrt(u1[0] * u1[0] + u1[1] * u1[1] + u1[2] * u1[2]);
    for (int r = 0; r < 3; r++) u1[r] /= length;
    for (int r = 0; r < 3; r++)
        n[r] = u0[(r + 1) % 3] * u1[(r + 2) % 3] - u0[(r + 2) % 3] * u1[(r + 1) % 3];
    for (int r = 0; r < 3; r++) {
        U->m[r][0] = u0[r];
        U->m[r][1] = u1[r];
        U->m[r][2] = n[r];
    }
    s[0] *= unscale;
    s[1] = lane_select(none, zero, s[1] * unscale);
}

/* The nearest positive semidefinite one to [[a, b], [b, d]]. */
static inline void project2(lane *a, lane *b, lane *d)
{
    lane zero = lane_set(0);
    if (!lane_any(lane_or(lane_lt(*a, zero), lane_lt(*a * *d, *b * *b)))) return;
    lane mean = 0.5 * (*a + *d), half = 0.5 * (*a - *d), radius = lane_sqrt(half * half + *b * *b);
    lane high = lane_positive(mean + radius), low = lane_positive(mean - radius);
    lane_mask round = lane_le(radius, lane_set(1e-290));
    lane fraction = (high - low) / lane_select(round, lane_set(1), 2 * radius);
    lane middle = 0.5 * (high + low);
    *a = middle + lane_select(round, zero, fraction * half);
    *d = middle - lane_select(round, zero, fraction * half);
    *b = lane_select(round, zero, fraction * *b);
}

static inline void membrane_hessian(const BrioBatch *batch, int64_t pack, const Triangle *t,
                                    const Gradient *F)
{
    mat3l U;
    lane s[2], c, v;
    svd32(F, &U, s, &c, &v);
    lane q0 = s[0] * s[0], q1 = s[1] * s[1], k = q0 * q1, J = s[0] * s[1];
    if (NEEDS_POSITIVE_J) k = lane_select(lane_le(k, lane_set(1e-280)), lane_set(1), k);
    Derivatives d = {0};
    material(batch->params, q0 + q1, k, 2, &d);
    lane out0 = 2 * (d.d2 + d.dk * q1), out1 = 2 * (d.d2 + d.dk * q0);
    lane even = 2 * (d.d2 - d.dk * J), odd = 2 * (d.d2 + d.dk * J);
    lane A00 = out0 + 4 * q0 * (d.d22 + d.dkk * q1 * q1);
    lane A11 = out1 + 4 * q1 * (d.d22 + d.dkk * q0 * q0);
    lane A01 = 4 * J * (d.dk + d.d22 + d.dkk * k);
    if (batch->project) {
        project2(&A00, &A01, &A11);
        out0 = lane_positive(out0);
        out1 = lane_positive(out1);
        even = lane_positive(even);
        odd = lane_positive(odd);
    }
    lane p = 0.5 * (even + odd), q = 0.5 * (even - odd);
    lane beta[2][2]; /* row i: V^T b_{i+1} */
    for (int i = 0; i < 2; i++) {
        beta[i][0] = c * t->B[i][0] - v * t->B[i][1];
        beta[i][1] = v * t->B[i][0] + c * t->B[i][1];
    }
    mat3l blocks[3];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j <= i; j++) {
            lane aa = t->area * beta[i][0] * beta[j][0], ab = t->area * beta[i][0] * beta[j][1];
            lane ba = t->area * beta[i][1] * beta[j][0];
            lane bb = t->area * beta[i][1] * beta[j][1];
            lane zero = lane_set(0);
            mat3l h = {{{aa * A00 + bb * p, ab * A01 + ba * q, zero},
                        {ba * A01 + ab * q, bb * A11 + aa * p, zero},
                        {zero, zero, aa * out0 + bb * out1}}};
            h = mat3l_mul(&U, &h);
            blocks[i + j] = mat3l_mul_t(&h, &U);
        }
    triangle_store_hessian(batch, pack, blocks);
}

static void membrane_eval(const BrioBatch *batch)
{
    for (int64_t pack = batch->begin; pack < batch->end; pack++) {
        Triangle t = triangle_rest(batch, pack);
        Gradient F = triangle_gradient(batch, pack, batch->x, &t);
        if (batch->gradient || batch->energy)
            membrane_value(batch, pack, &t, &F, batch->gradient ? 1 : 0);
        if (batch->hessian) membrane_hessian(batch, pack, &t, &F);
    }
}

#if NEEDS_POSITIVE_J
/* The square of the area along x + t dx is a quartic in t, because f0 x f1 is a quadratic,
 * c0 + c1 t + c2 t^2. In space it passes zero by chance only, but a triangle of a flat sheet that
 * is crushed within its plane goes through zero and comes out turned over. So steps end where the
 * area has fallen to a tenth. From a safe t the next one is the first root of the parabola that
 * bounds the quartic from below on [t, end]: value and slope at t, and the smallest second
 * derivative there. */
static inline lane quartic(const lane p[5], lane t)
{
    return p[0] + (p[1] + (p[2] + (p[3] + p[4] * t) * t) * t) * t;
}
static inline lane quartic_slope(const lane p[5], lane t)
{
    return p[1] + (2 * p[2] + (3 * p[3] + 4 * p[4] * t) * t) * t;
}
static inline lane quartic_bend(const lane p[5], lane t)
{
    return 2 * p[2] + (6 * p[3] + 12 * p[4] * t) * t;
}

static inline lane membrane_advance(const lane p[5], lane t, lane end)
{
    lane zero = lane_set(0);
    lane one = lane_set(1);
    lane value = lane_positive(quartic(p, t));
    lane slope = quartic_slope(p, t);
    /* p[4] >= 0: the second derivative is convex */
    lane bend = lane_min(quartic_bend(p, t), quartic_bend(p, end));
    lane_mask curved = lane_lt(lane_set(1e-290), p[4]);
    lane vertex = -p[3] / lane_select(curved, 4 * p[4], one);
    lane_mask inside = lane_and(curved, lane_and(lane_lt(t, vertex), lane_lt(vertex, end)));
    bend = lane_select(inside, lane_min(bend, quartic_bend(p, vertex)), bend);
    /* the first root of value + slope u + bend/2 u^2: 2 value/(-slope + sqrt(slope^2 - 2 bend
     * value)) */
    lane square = slope * slope - 2 * bend * value;
    lane denominator = lane_sqrt(lane_positive(square)) - slope;
    lane_mask root = lane_and(lane_le(zero, square), lane_lt(zero, denominator));
    lane next = lane_select(root, t + 2 * value / lane_select(root, denominator, one), end);
    return lane_max(t, lane_min(end, next));
}

static double membrane_max_step(const BrioBatch *batch, int64_t *element)
{
    double min = 1;
    for (int64_t pack = batch->begin; pack < batch->end; pack++) {
        Triangle rest = triangle_rest(batch, pack);
        Gradient F = triangle_gradient(batch, pack, batch->x, &rest),
                 D = triangle_gradient(batch, pack, batch->dx, &rest);
        lane p[5] = {lane_set(0), lane_set(0), lane_set(0), lane_set(0), lane_set(0)};
        for (int r = 0; r < 3; r++) {
            int a = (r + 1) % 3, b = (r + 2) % 3;
            lane c0 = F.m[a][0] * F.m[b][1] - F.m[b][0] * F.m[a][1];
            lane c2 = D.m[a][0] * D.m[b][1] - D.m[b][0] * D.m[a][1];
            lane c1 = F.m[a][0] * D.m[b][1] - F.m[b][0] * D.m[a][1] + D.m[a][0] * F.m[b][1] -
                      D.m[b][0] * F.m[a][1];
            p[0] += c0 * c0;
            p[1] += 2 * c0 * c1;
            p[2] += c1 * c1 + 2 * c0 * c2;
            p[3] += 2 * c1 * c2;
            p[4] += c2 * c2;
        }
        p[0] *= 1 - 0.01; /* above the floor: a tenth of the area now */
        lane t = lane_set(0), high = lane_set(1);
        for (int round = 0; round < 60; round++) {
            lane middle = 0.5 * (t + high);
            t = lane_max(membrane_advance(p, t, high), membrane_advance(p, t, middle));
            high =
                lane_select(lane_and(lane_lt(t, middle), lane_lt(quartic(p, middle), lane_set(0))),
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
#define MEMBRANE_MAX_STEP membrane_max_step
#define MEMBRANE_TRAITS BRIO_ENERGY_INFINITE
#else
#define MEMBRANE_MAX_STEP NULL
#define MEMBRANE_TRAITS 0
#endif

/* ---- from what users give to stiffnesses ------------------------------------------------ */

enum {
    FIELD_E,
    FIELD_NU,
    FIELD_THICKNESS,
    FIELD_RHO,
    FIELD_AREAL,
    FIELD_BENDING,
    FIELD_PRETENSION
};

static const BrioField membrane_fields[] = {
    {"E", BRIO_REAL, "Pa", 1e5, 1e-300, 1e15, 0,
     "Young's modulus: how much it resists stretching."},
    {"nu", BRIO_REAL, "", 0.3, -0.99, 0.5, 0,
     "Poisson's ratio: 0.3 is usual, 0.5 keeps the volume (it gets thinner)."},
    {"thickness", BRIO_REAL, "m", NAN, 1e-300, 1e15, 1, "Thickness of the sheet."},
    {"rho", BRIO_REAL, "kg/m3", NAN, 1e-300, 1e15, 0, "Mass density; or give areal."},
    {"areal", BRIO_REAL, "kg/m2", NAN, 1e-300, 1e15, 0, "Mass per area; or give rho."},
    {"bending", BRIO_REAL, "Pa", NAN, 0, 1e15, 0,
     "Young's modulus of bending; default: E; 0: no bending stiffness."},
    {"pretension", BRIO_REAL, "N/m", 0, 0, 1e15, 0,
     "Tension of the initial shape in all directions, as force per length."},
    {0}};

static BrioStatus membrane_prepare(const double *values, double *params, BrioError *error)
{
    (void)error;
    params[0] = values[FIELD_THICKNESS] * brio__lame_mu(values[FIELD_E], values[FIELD_NU]);
    params[1] = values[FIELD_THICKNESS] * values[FIELD_E] * values[FIELD_NU] /
                ((1 - values[FIELD_NU]) * (1 + values[FIELD_NU]));
    return BRIO_OK;
}

/* The stretch that gives the pretension, by bisection: up to where the tension no longer grows with
 * it. */
static BrioStatus membrane_sheet(const double *values, BrioSheet *sheet, BrioError *error)
{
    double params[2];
    double t = values[FIELD_THICKNESS];
    double nu = values[FIELD_NU];
    double wanted = values[FIELD_PRETENSION];
    membrane_prepare(values, params, error);
    if (isnan(values[FIELD_RHO]) == isnan(values[FIELD_AREAL]))
        return brio__error(error, BRIO_ERROR_INPUT,
                           isnan(values[FIELD_RHO])
                               ? "the material has no mass: give rho (kg/m3) or areal (kg/m2)"
                               : "both rho and areal are given: remove one");
    sheet->areal = isnan(values[FIELD_RHO]) ? values[FIELD_AREAL] : values[FIELD_RHO] * t;
    sheet->bending = (isnan(values[FIELD_BENDING]) ? values[FIELD_E] : values[FIELD_BENDING]) * t *
                     t * t / (12 * (1 - nu) * (1 + nu));
    double low = 1, high = 1;
    for (double next = 1.0625; high < 64 && tension(params, high) < wanted &&
                               tension(params, next) > tension(params, high);
         next = high * 1.0625)
        high = next;
    if (tension(params, high) < wanted)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "pretension = %g N/m is more than this sheet can bear: stretched to "
                           "%.3g times its size it pulls with %.3g N/m; raise E or thickness",
                           wanted, high, tension(params, high));
    for (int k = 0; k < 100 && low < high; k++) {
        double middle = 0.5 * (low + high);
        if (middle <= low || middle >= high) break;
        if (tension(params, middle) < wanted)
            low = middle;
        else
            high = middle;
    }
    sheet->stretch = wanted > 0 ? high : 1;
    return BRIO_OK;
}

static void membrane_laplacian(const double *rest, const double *params, const double *live,
                               double *weight)
{
    (void)live;
    triangle_laplacian(rest, 2 * params[0] + params[1], weight);
}

#define MEMBRANE_DESCRIPTOR                                                                      \
    .element = BRIO_ELEMENT_TRIANGLE, .traits = MEMBRANE_TRAITS, .nodes = 3,                     \
    .rest = TRIANGLE_REST, .params = 2, .fields = membrane_fields, .prepare = membrane_prepare,  \
    .sheet = membrane_sheet, .rest_shape = triangle_rest_shape, .magnitude = triangle_magnitude, \
    .eval = membrane_eval, .laplacian = membrane_laplacian, .max_step = MEMBRANE_MAX_STEP,       \
    .sample = triangle_sample

#endif
