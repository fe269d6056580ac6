#include "parts.h"

#include <string.h>

static int32_t root_of(int32_t *parent, int32_t b)
{
    while (parent[b] != b) b = parent[b] = parent[parent[b]];
    return b;
}

/* Marks the parts that elements tie to vertices without coordinates. */
static void find_held(const BrioSystem *system, BrioParts *f)
{
    for (int t = 0; t < system->term_count; t++) {
        const BrioTerm *term = &system->term[t];
        int nodes = term->energy->nodes;
        for (int64_t i = 0; nodes > 1 && i < term->elements; i++) {
            bool held = false;
            int32_t part = -1;
            for (int k = 0; k < nodes; k++) {
                int32_t vertex = brio__term_vertex(term, i, k), first = system->map_start[vertex];
                if (first == system->map_start[vertex + 1])
                    held = true;
                else
                    part = f->part[system->map_block[first]];
            }
            if (held && part >= 0) f->held[part] = true;
        }
    }
}

BrioStatus brio__parts_create(BrioSolver *solver, BrioParts **parts)
{
    int32_t n = solver->system->block_count;
    int64_t *start = NULL;
    int32_t *neighbour = NULL;
    BrioParts *f = brio__calloc(1, sizeof *f);
    if (!f) return BRIO_ERROR_MEMORY;
    f->blocks = n;
    BrioStatus status = brio__evaluator_graph(solver->evaluator, &start, &neighbour);
    if (status == BRIO_OK && solver->constraints) status = brio__constraints_join_graph(solver->constraints, n, &start, &neighbour);
    if (status == BRIO_OK && !(f->part = brio__alloc((size_t)n, sizeof *f->part))) status = BRIO_ERROR_MEMORY;
    if (status == BRIO_OK) {
        for (int32_t b = 0; b < n; b++) f->part[b] = b;
        for (int32_t b = 0; b < n; b++)
            for (int64_t k = start[b]; k < start[b + 1]; k++) {
                int32_t one = root_of(f->part, b), other = root_of(f->part, neighbour[k]);
                f->part[BRIO_MAX(one, other)] = BRIO_MIN(one, other);
            }
        for (int32_t b = 0; b < n; b++) f->part[b] = root_of(f->part, b); /* the least block of its part */
        for (int32_t b = 0; b < n; b++) f->part[b] = f->part[b] == b ? f->count++ : f->part[f->part[b]];
        f->sum = brio__alloc(9 * (size_t)f->count, sizeof *f->sum);
        f->held = brio__calloc((size_t)f->count, sizeof *f->held);
        f->group = brio__alloc((size_t)f->count, sizeof *f->group);
        f->stays = brio__alloc((size_t)f->count, sizeof *f->stays);
        if (f->sum && f->held && f->group && f->stays) {
            find_held(solver->system, f);
            brio__parts_separate(f);
        } else {
            status = BRIO_ERROR_MEMORY;
        }
    }
    brio__free(start);
    brio__free(neighbour);
    if (status == BRIO_OK)
        *parts = f;
    else
        brio__parts_free(f);
    return status;
}

void brio__parts_free(BrioParts *f)
{
    if (!f) return;
    brio__free(f->part);
    brio__free(f->held);
    brio__free(f->group);
    brio__free(f->stays);
    brio__free(f->sum);
    brio__free(f);
}

void brio__parts_unsupported(const BrioParts *f, const double *forces, double *weight)
{
    memset(f->sum, 0, 6 * (size_t)f->count * sizeof *f->sum);
    for (int32_t b = 0; b < f->blocks; b++)
        for (int r = 0; r < 3; r++) {
            f->sum[6 * f->part[b] + r] += forces[3 * b + r] - weight[3 * b + r];
            f->sum[6 * f->part[b] + 3 + r] += weight[3 * b + r];
        }
    for (int32_t p = 0; p < f->count; p++) {
        double *R = f->sum + 6 * p, *W = R + 3, carried = hypot(hypot(R[0], R[1]), R[2]), heavy = hypot(hypot(W[0], W[1]), W[2]);
        *R = carried < heavy ? 1 - carried / heavy : 0;
    }
    for (int32_t b = 0; b < f->blocks; b++)
        for (int r = 0; r < 3; r++) weight[3 * b + r] *= f->sum[6 * f->part[b]];
}

void brio__parts_scale(const BrioParts *f, const BrioSystem *system, double missing, double gain, double *v)
{
    double moving = 0; /* kinetic energy that is scaled */
    memset(f->sum, 0, 6 * (size_t)f->count * sizeof *f->sum);
    for (int32_t b = 0; b < f->blocks; b++) {
        double *sum = f->sum + 6 * f->part[b];
        for (int r = 0; r < 3; r++) {
            sum[r] += system->mass[b] * v[3 * b + r];
            moving += system->mass[b] / 2 * v[3 * b + r] * v[3 * b + r];
        }
        sum[3] += system->mass[b];
    }
    for (int32_t p = 0; p < f->count; p++) {
        double *sum = f->sum + 6 * p;
        for (int r = 0; r < 3; r++) {
            sum[r] = f->held[p] || !(sum[3] > 0) ? 0 : sum[r] / sum[3]; /* the mean velocity */
            moving -= sum[3] / 2 * sum[r] * sum[r];
        }
    }
    if (!(moving > 0)) return;
    double factor = fmin(fmax(sqrt(fmax(1 + missing / moving, 0)), 1 / gain), gain);
    for (int32_t b = 0; b < f->blocks; b++) {
        const double *mean = f->sum + 6 * f->part[b];
        for (int r = 0; r < 3; r++) v[3 * b + r] = mean[r] + factor * (v[3 * b + r] - mean[r]);
    }
}

void brio__parts_separate(BrioParts *f)
{
    for (int32_t k = 0; k < f->count; k++) f->group[k] = k;
    memcpy(f->stays, f->held, (size_t)f->count * sizeof *f->stays);
}

void brio__parts_join(BrioParts *f, int32_t a, int32_t b)
{
    int32_t one = a < 0 ? -1 : root_of(f->group, f->part[a]), other = b < 0 ? -1 : root_of(f->group, f->part[b]), root = BRIO_MIN(one, other);
    if (root < 0) {
        if (BRIO_MAX(one, other) >= 0) f->stays[BRIO_MAX(one, other)] = true;
        return;
    }
    f->group[BRIO_MAX(one, other)] = root;
    f->stays[root] = f->stays[one] || f->stays[other];
}

/* x <- A^-1 x of a symmetric positive definite A = (xx, xy, xz, yy, yz, zz), by its cofactors. */
static void solve_symmetric(const double A[6], double x[3])
{
    double c[6] = {A[3] * A[5] - A[4] * A[4], A[2] * A[4] - A[1] * A[5], A[1] * A[4] - A[2] * A[3], A[0] * A[5] - A[2] * A[2], A[1] * A[2] - A[0] * A[4], A[0] * A[3] - A[1] * A[1]};
    double y[3] = {x[0], x[1], x[2]}, determinant = A[0] * c[0] + A[1] * c[1] + A[2] * c[2];
    x[0] = (c[0] * y[0] + c[1] * y[1] + c[2] * y[2]) / determinant;
    x[1] = (c[1] * y[0] + c[3] * y[1] + c[4] * y[2]) / determinant;
    x[2] = (c[2] * y[0] + c[4] * y[1] + c[5] * y[2]) / determinant;
}

void brio__parts_balance(const BrioParts *f, const double *mass, const double *bound, double scale, const double *gradient, double *step)
{
    static const int at[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    memset(f->sum, 0, 9 * (size_t)f->count * sizeof *f->sum);
    for (int32_t b = 0; b < f->blocks; b++) {
        double *sum = f->sum + 9 * (int64_t)root_of(f->group, f->part[b]), *matrix = sum + 3;
        for (int r = 0; r < 3; r++) sum[r] -= gradient[3 * b + r] + mass[b] * step[3 * b + r];
        for (int r = 0; r < 3; r++) matrix[at[r][r]] += mass[b];
        const double *contact = bound ? bound + BRIO_BOUND * (int64_t)b : NULL;
        if (!contact || contact[0] == 0) continue;
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) sum[r] -= scale * contact[1 + at[r][c]] * step[3 * b + c];
        for (int k = 0; k < 6; k++) matrix[k] += scale * contact[1 + k];
    }
    for (int32_t k = 0; k < f->count; k++)
        if (f->group[k] == k && !f->stays[k]) solve_symmetric(f->sum + 9 * (int64_t)k + 3, f->sum + 9 * (int64_t)k);
    for (int32_t b = 0; b < f->blocks; b++) {
        int32_t group = root_of(f->group, f->part[b]);
        for (int r = 0; r < 3 && !f->stays[group]; r++) step[3 * b + r] += f->sum[9 * (int64_t)group + r];
    }
}
