/* Stiffness, the largest eigenvalue and the modes of a system (modes.h). */
#include "modes.h"

#include "../linear/overlay.h"

#include <float.h>
#include <string.h>

struct BrioStiffness {
    const BrioSystem *system;
    BrioPotential *potential;
    BrioSolveTotals totals;
    BrioLinear *linear;
    double *scratch;
};

/* ---- K ---------------------------------------------------------------------------------- */

static BrioStatus create_parts(BrioStiffness *k)
{
    const BrioSystem *s = k->system;
    int64_t *start = NULL;
    int32_t *neighbour = NULL;
    k->scratch = brio__alloc(3 * (size_t)s->block_count, sizeof *k->scratch);
    if (!k->scratch) return BRIO_ERROR_MEMORY;
    BRIO_CHECK(brio__potential_create(s, &k->totals, &k->potential));
    BrioStatus status = brio__potential_graph(k->potential, &start, &neighbour);
    if (status == BRIO_OK) /* of the solvers the one that multiplies; nothing is solved */
        status = brio__linear_create(brio__linear_type("pcg"), &(BrioLinearOptions){0},
                                     s->block_count, start, neighbour, &k->linear);
    brio__free(start);
    brio__free(neighbour);
    return status == BRIO_OK ? brio__potential_plan(k->potential, false, k->linear) : status;
}

BrioStatus brio__stiffness_create(const BrioSystem *system, BrioStiffness **stiffness)
{
    BrioStiffness *k = brio__calloc(1, sizeof *k);
    if (!k) return BRIO_ERROR_MEMORY;
    k->system = system;
    BrioStatus status = create_parts(k);
    if (status != BRIO_OK) {
        brio__stiffness_free(k);
        return status;
    }
    *stiffness = k;
    return BRIO_OK;
}

void brio__stiffness_free(BrioStiffness *k)
{
    if (!k) return;
    brio__potential_free(k->potential);
    brio__linear_free(k->linear);
    brio__free(k->scratch);
    brio__free(k);
}

BrioStatus brio__stiffness_at(BrioStiffness *k, const BrioState *state, const double *x)
{
    if (k->linear->overlay) brio__overlay_forget(k->linear->overlay);
    brio__assemble_masses(k->system, 0, k->linear);
    return brio__potential_hessian(k->potential, &(BrioPose){state, x, state->time}, 1, false,
                                   k->linear);
}

const BrioLinear *brio__stiffness_matrix(const BrioStiffness *k) { return k->linear; }

void brio__stiffness_multiply(BrioStiffness *k, const double *d, double *y)
{
    brio__linear_multiply(k->linear, d, y);
}

/* Column by column: K times the unit vectors. */
void brio__stiffness_dense(const BrioStiffness *k, double *K)
{
    size_t n = 3 * (size_t)k->system->block_count;
    memset(K, 0, n * n * sizeof *K);
    for (size_t i = 0; i < n; i++) {
        double *row = K + i * n; /* K is symmetric */
        row[i] = 1;
        brio__linear_multiply(k->linear, row, row);
    }
}

/* ---- roots of the masses ---------------------------------------------------------------- */

/* y = M^-1/2 y */
static void root_solve(const BrioStiffness *k, double *y)
{
    const BrioSystem *s = k->system;
    for (int32_t b = 0; b < s->block_count; b++)
        for (int r = 0; r < 3; r++) y[3 * (size_t)b + (size_t)r] /= sqrt(s->mass[b]);
}

/* y = M^-1/2 K M^-1/2 x */
static void apply_scaled(void *context, const double *x, double *y)
{
    BrioStiffness *k = context;
    memcpy(k->scratch, x, 3 * (size_t)k->system->block_count * sizeof *x);
    root_solve(k, k->scratch);
    brio__linear_multiply(k->linear, k->scratch, y);
    root_solve(k, y);
}

BrioStatus brio__stiffness_largest(BrioStiffness *k, double tol, int64_t max, double *k0,
                                   int64_t *iterations)
{
    return brio__power_method(3 * (int64_t)k->system->block_count, apply_scaled, k, tol, max, k0,
                              iterations, NULL);
}

/* ---- modes ------------------------------------------------------------------------------ */

static void transpose(size_t n, double *A)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            double swap = A[i * n + j];
            A[i * n + j] = A[j * n + i];
            A[j * n + i] = swap;
        }
}

BrioStatus brio__modes_create(BrioStiffness *k, BrioModes *modes, BrioError *error)
{
    int64_t coordinates = 3 * (int64_t)k->system->block_count;
    *modes = (BrioModes){0};
    if (coordinates > BRIO_MODES_MAX)
        return brio__error(error, BRIO_ERROR_TOO_LARGE,
                           "there are %lld coordinates, and all modes of more than %d take too "
                           "long: a coarser mesh of the same body has nearly "
                           "the same low modes",
                           (long long)coordinates, BRIO_MODES_MAX);
    size_t n = (size_t)coordinates;
    modes->n = (int)n;
    modes->squared = brio__alloc(n, sizeof *modes->squared);
    modes->mode = brio__alloc(n * n, sizeof *modes->mode);
    if (!modes->squared || !modes->mode) {
        brio__modes_free(modes);
        return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    }
    brio__stiffness_dense(k, modes->mode);
    for (int side = 0; side < 2; side++) { /* M^-1/2 K, then the same on the other side */
        for (size_t i = 0; i < n; i++) root_solve(k, modes->mode + i * n);
        transpose(n, modes->mode);
    }
    for (size_t i = 0; i < n; i++) /* the two sides differ by round-off */
        for (size_t j = 0; j < i; j++)
            modes->mode[i * n + j] = modes->mode[j * n + i] =
                0.5 * (modes->mode[i * n + j] + modes->mode[j * n + i]);
    BrioStatus status = brio__eigen_symmetric((int)n, modes->mode, modes->squared);
    if (status != BRIO_OK) {
        brio__modes_free(modes);
        return brio__error(error, status, "the modes could not be computed: %s",
                           brio_status_text(status));
    }
    for (size_t i = 0; i < n; i++) root_solve(k, modes->mode + i * n);
    modes->zero =
        8 * (double)n * DBL_EPSILON * fmax(fabs(modes->squared[0]), fabs(modes->squared[n - 1]));
    return BRIO_OK;
}

void brio__modes_free(BrioModes *modes)
{
    brio__free(modes->squared);
    brio__free(modes->mode);
    *modes = (BrioModes){0};
}

void brio__modes_project(const BrioSystem *system, const BrioModes *modes, const double *u,
                         double *amplitude, double *scratch)
{
    size_t n = (size_t)modes->n;
    brio__mass_multiply(system, u, scratch);
    for (size_t k = 0; k < n; k++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) sum += modes->mode[k * n + i] * scratch[i];
        amplitude[k] = sum;
    }
}

/* ---- rigid motions ---------------------------------------------------------------------- */

BrioStatus brio__rigid_fit(int64_t count, const double *mass, const double *X, const double *x,
                           double R[9], double t[3])
{
    double total = 0, from[3] = {0}, to[3] = {0}, S[3][3] = {{0}};
    for (int64_t i = 0; i < count; i++) {
        total += mass[i];
        for (int r = 0; r < 3; r++)
            from[r] += mass[i] * X[3 * i + r], to[r] += mass[i] * x[3 * i + r];
    }
    for (int r = 0; r < 3; r++) from[r] /= total, to[r] /= total;
    for (int64_t i = 0; i < count; i++)
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                S[r][c] += mass[i] * (X[3 * i + r] - from[r]) * (x[3 * i + c] - to[c]);
    double N[16] = {
        S[0][0] + S[1][1] + S[2][2], S[1][2] - S[2][1],           S[2][0] - S[0][2],
        S[0][1] - S[1][0],           S[1][2] - S[2][1],           S[0][0] - S[1][1] - S[2][2],
        S[0][1] + S[1][0],           S[2][0] + S[0][2],           S[2][0] - S[0][2],
        S[0][1] + S[1][0],           S[1][1] - S[0][0] - S[2][2], S[1][2] + S[2][1],
        S[0][1] - S[1][0],           S[2][0] + S[0][2],           S[1][2] + S[2][1],
        S[2][2] - S[0][0] - S[1][1]};
    double value[4], q[4] = {0}, norm = 0;
    BRIO_CHECK(brio__eigen_symmetric_builtin(4, N, value));
    /* the identity's share in the eigenspace of the greatest value: the smallest of equal turns */
    for (int k = 0; k < 4; k++) {
        if (value[3] - value[k] > 1e-10 * fabs(value[3])) continue;
        for (int i = 0; i < 4; i++) q[i] += N[4 * k] * N[4 * k + i];
    }
    for (int i = 0; i < 4; i++) norm += q[i] * q[i];
    if (norm < 1e-20) memcpy(q, N + 12, sizeof q), norm = 1; /* a half turn */
    for (int i = 0; i < 4; i++) q[i] /= sqrt(norm);
    double w = q[0], a = q[1], b = q[2], c = q[3];
    double turn[9] = {w * w + a * a - b * b - c * c, 2 * (a * b - w * c),
                      2 * (a * c + w * b),           2 * (a * b + w * c),
                      w * w - a * a + b * b - c * c, 2 * (b * c - w * a),
                      2 * (a * c - w * b),           2 * (b * c + w * a),
                      w * w - a * a - b * b + c * c};
    memcpy(R, turn, sizeof turn);
    for (int r = 0; r < 3; r++)
        t[r] = to[r] - R[3 * r] * from[0] - R[3 * r + 1] * from[1] - R[3 * r + 2] * from[2];
    return BRIO_OK;
}
