/* Cloth that resists stretching along warp and weft, and shearing [Baraff1998, Sec. 4]: with the
 * columns w_u, w_v of F,
 *
 *     psi = k_stretch/2 ((|w_u| - 1)^2 + (|w_v| - 1)^2) + k_shear/2 (w_u . w_v)^2,    in J/m2.
 *
 * The paper's condition functions carry the factor A (area) and their energies A^2, so that its
 * stiffnesses belong to one mesh; here the energy has A, and k in N/m means the same on every mesh.
 * The bending of the paper's Sec. 4.4 is the hinge energy.
 *
 * Hessian by (w_u, w_v): with n = w/|w| and s = w_u . w_v,
 *
 *     stretch of one direction  k (n n^T + (1 - 1/|w|) (I - n n^T)), as of a spring,
 *     shear                     k s (0 I; I 0) + k (w_v; w_u)(w_v; w_u)^T.
 *
 * In a frame whose third axis is the triangle's normal it falls into a 4x4 and a 2x2 matrix, which
 * are projected each for itself. */
#include "psd_lane.h"
#include "triangle.h"

/* Tension over length, k (1 - 1/l), and the direction. A direction without length has no force, and
 * the mean stiffness over all. */
static inline lane stretch(const Gradient *F, int j, lane n[3], lane *length, lane_mask *collapsed)
{
    *length =
        lane_sqrt(F->m[0][j] * F->m[0][j] + F->m[1][j] * F->m[1][j] + F->m[2][j] * F->m[2][j]);
    *collapsed = lane_le(*length, lane_set(1e-150));
    lane inverse = 1 / lane_select(*collapsed, lane_set(1), *length);
    for (int r = 0; r < 3; r++) n[r] = F->m[r][j] * inverse;
    return lane_select(*collapsed, lane_set(0), 1 - inverse);
}

/* A frame, as columns: along n0, in the plane of n0 and n1, and the normal of the triangle; any
 * where there is none. */
static inline mat3l frame(const lane n0[3], const lane n1[3])
{
    lane zero = lane_set(0), one = lane_set(1);
    lane e0[3], e1[3], projection = zero, size = zero;
    lane_mask no_first = lane_le(n0[0] * n0[0] + n0[1] * n0[1] + n0[2] * n0[2], lane_set(0.5));
    for (int r = 0; r < 3; r++) e0[r] = lane_select(no_first, lane_set(r == 0), n0[r]);
    for (int r = 0; r < 3; r++) projection += e0[r] * n1[r];
    for (int r = 0; r < 3; r++) {
        e1[r] = n1[r] - projection * e0[r];
        size += e1[r] * e1[r];
    }
    lane_mask no_plane = lane_le(size, lane_set(1e-24));
    if (lane_any(no_plane)) {
        lane ax = lane_abs(e0[0]), ay = lane_abs(e0[1]), az = lane_abs(e0[2]);
        lane ex = lane_select(lane_and(lane_le(ax, ay), lane_le(ax, az)), one, zero);
        lane ey = lane_select(lane_le(ay, az), 1 - ex, zero);
        lane e[3] = {ex, ey, 1 - ex - ey};
        lane lean = e[0] * e0[0] + e[1] * e0[1] + e[2] * e0[2];
        lane square = 1 - lean * lean;
        for (int r = 0; r < 3; r++) e1[r] = lane_select(no_plane, e[r] - lean * e0[r], e1[r]);
        size = lane_select(no_plane, square, size);
    }
    for (int r = 0; r < 3; r++) e1[r] /= lane_sqrt(size);
    mat3l U;
    for (int r = 0; r < 3; r++) {
        U.m[r][0] = e0[r];
        U.m[r][1] = e1[r];
        U.m[r][2] = e0[(r + 1) % 3] * e1[(r + 2) % 3] - e0[(r + 2) % 3] * e1[(r + 1) % 3];
    }
    return U;
}

/* Node blocks from the Hessian by F in the frame U: A in the plane, `out` across it. */
static inline void store(const BrioBatch *batch, int64_t pack, const Triangle *t, const mat3l *U,
                         const lane A[16], const lane out[4])
{
    mat3l blocks[3];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j <= i; j++) {
            mat3l h = {0};
            for (int a = 0; a < 2; a++)
                for (int b = 0; b < 2; b++) {
                    lane weight = t->area * t->B[i][a] * t->B[j][b];
                    for (int r = 0; r < 2; r++)
                        for (int c = 0; c < 2; c++)
                            h.m[r][c] += weight * A[4 * (2 * a + r) + 2 * b + c];
                    h.m[2][2] += weight * out[2 * a + b];
                }
            h = mat3l_mul(U, &h);
            blocks[i + j] = mat3l_mul_t(&h, U);
        }
    triangle_store_hessian(batch, pack, blocks);
}

static inline void hessian(const BrioBatch *batch, int64_t pack, const Triangle *t,
                           const Gradient *F)
{
    double k = batch->params[0], k_shear = batch->params[1];
    lane zero = lane_set(0), n[2][3], length, across[2], shear = zero, along[2];
    lane_mask collapsed;
    for (int j = 0; j < 2; j++) {
        across[j] = k * stretch(F, j, n[j], &length, &collapsed);
        across[j] = lane_select(collapsed, lane_set(k / 3), across[j]);
        along[j] = lane_select(collapsed, zero, k - across[j]);
    }
    for (int r = 0; r < 3; r++) shear += F->m[r][0] * F->m[r][1];
    mat3l U = frame(n[0], n[1]);
    lane w[2][2], m[2][2]; /* columns of F and their directions in the plane */
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++) {
            w[j][i] = U.m[0][i] * F->m[0][j] + U.m[1][i] * F->m[1][j] + U.m[2][i] * F->m[2][j];
            m[j][i] = U.m[0][i] * n[j][0] + U.m[1][i] * n[j][1] + U.m[2][i] * n[j][2];
        }
    /* rows and columns: (column of F, axis) */
    lane A[16], out[4] = {across[0], k_shear * shear, k_shear * shear, across[1]};
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            int ja = a / 2, jb = b / 2, ia = a % 2, ib = b % 2;
            lane h = k_shear * w[1 - ja][ia] * w[1 - jb][ib];
            if (ja == jb) h += along[ja] * m[ja][ia] * m[ja][ib];
            if (a == b) h += across[ja];
            if (ja != jb && ia == ib) h += k_shear * shear;
            A[4 * a + b] = h;
        }
    if (batch->project) {
        psd_project_any(4, A);
        psd_project_any(2, out);
    }
    store(batch, pack, t, &U, A, out);
}

static void eval(const BrioBatch *batch)
{
    double k = batch->params[0], k_shear = batch->params[1];
    for (int64_t pack = batch->begin; pack < batch->end; pack++) {
        Triangle t = triangle_rest(batch, pack);
        Gradient F = triangle_gradient(batch, pack, batch->x, &t);
        lane n[3], length[2], pull[2], shear = lane_set(0);
        lane_mask collapsed;
        for (int j = 0; j < 2; j++) pull[j] = k * stretch(&F, j, n, &length[j], &collapsed);
        for (int r = 0; r < 3; r++) shear += F.m[r][0] * F.m[r][1];
        lane u = length[0] - 1, v = length[1] - 1;
        if (batch->energy)
            batch->energy[pack] =
                lane_sum(t.area * (k / 2 * (u * u + v * v) + k_shear / 2 * shear * shear));
        if (batch->gradient) {
            lane P[3][2];
            for (int r = 0; r < 3; r++) {
                P[r][0] = pull[0] * F.m[r][0] + k_shear * shear * F.m[r][1];
                P[r][1] = pull[1] * F.m[r][1] + k_shear * shear * F.m[r][0];
            }
            triangle_forces(batch, pack, &t, P);
        }
        if (batch->hessian) hessian(batch, pack, &t, &F);
    }
}

static void laplacian(const double *rest, const double *params, const double *live, double *weight)
{
    (void)live;
    triangle_laplacian(rest, params[0] + params[1], weight);
}

enum { FIELD_STRETCH, FIELD_SHEAR, FIELD_BEND, FIELD_AREAL };

static const BrioField fields[] = {
    {"k_stretch", BRIO_REAL, "N/m", 1000, 1e-300, 1e15, 0,
     "Stiffness along warp (the x axis of the rest shape, projected into each triangle) and weft."},
    {"k_shear", BRIO_REAL, "N/m", 100, 0, 1e15, 0, "Stiffness against shear of warp and weft."},
    {"k_bend", BRIO_REAL, "N m", 1e-5, 0, 1e15, 0, "Stiffness against bending; 0: none."},
    {"areal", BRIO_REAL, "kg/m2", 0.2, 1e-300, 1e15, 0, "Mass per area."},
    {0}};

static BrioStatus sheet(const double *values, BrioSheet *out, BrioError *error)
{
    (void)error;
    *out = (BrioSheet){.areal = values[FIELD_AREAL], .bending = values[FIELD_BEND], .stretch = 1};
    return BRIO_OK;
}

BRIO_ENERGY(baraff_witkin){
    .name = "baraff-witkin",
    .summary = "Cloth with separate stiffness against stretching along warp and weft, shearing "
               "and bending.",
    .citation = "Baraff1998",
    .element = BRIO_ELEMENT_TRIANGLE,
    .nodes = 3,
    .rest = TRIANGLE_REST,
    .params = 2,
    .fields = fields,
    .sheet = sheet,
    .rest_shape = triangle_rest_shape,
    .magnitude = triangle_magnitude,
    .eval = eval,
    .laplacian = laplacian,
    .sample = triangle_sample,
};
