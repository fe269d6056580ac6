/* Blocks of a level that are solved together, by the built-in direct solver (multilevel.h): all of
 * the coarsest level, and those of any level that contacts join. A pair of blocks that a barrier
 * makes stiff moves together as if it were one; a smoother that treats them one by one would need
 * as many iterations as the barrier is stiffer than the bodies, to the power 1/2. And a number of
 * single precision that is rounded in the direction of such a barrier is a force: the finest level
 * corrects joined blocks in double, before and after the cycle. */
#include "multilevel.h"

#include <string.h>

extern const BrioLinearType brio__solver_ldlt;

void brio__subset_free(BrioSubset *s)
{
    brio__linear_free(s->linear);
    brio__free(s->member);
    brio__free(s->index);
    brio__free(s->x);
    brio__free(s->kept);
}

/* The graph of the members' blocks of 3 scalars. */
static BrioStatus make_graph(const BrioLevel *l, const BrioSubset *s, int64_t **start_out,
                             int32_t **neighbour_out)
{
    int32_t parts = l->size / 3;
    int64_t room = 0, at = 0;
    for (int32_t m = 0; m < s->count; m++)
        room += parts * parts * (l->start[s->member[m] + 1] - l->start[s->member[m]]);
    int64_t *start = *start_out = brio__alloc((size_t)(parts * s->count) + 1, sizeof *start);
    int32_t *neighbour = *neighbour_out = brio__alloc((size_t)room, sizeof *neighbour);
    if (!start || !neighbour) return BRIO_ERROR_MEMORY;
    for (int32_t i = 0; i < parts * s->count; i++) {
        int32_t row = s->member[i / parts];
        start[i] = at;
        for (int64_t k = l->start[row]; k < l->start[row + 1]; k++) {
            int32_t other = s->index[l->column[k]];
            if (other < 0) continue;
            for (int32_t j = parts * other; j < parts * (other + 1); j++)
                if (j != i) neighbour[at++] = j;
        }
    }
    start[parts * s->count] = at;
    return BRIO_OK;
}

BrioStatus brio__subset_create(const BrioLevel *l, const bool *chosen, BrioSubset *s, double *bytes)
{
    int64_t count = 0, *start = NULL;
    int32_t *neighbour = NULL;
    for (int32_t i = 0; i < l->n; i++) count += !chosen || chosen[i];
    s->count = (int32_t)count;
    s->member = brio__alloc((size_t)count, sizeof *s->member);
    s->index = brio__alloc((size_t)l->n, sizeof *s->index);
    s->x = brio__alloc((size_t)(l->size * count), sizeof *s->x);
    s->kept = brio__alloc((size_t)(l->size * count), sizeof *s->kept);
    if (!s->member || !s->index || !s->x || !s->kept) return BRIO_ERROR_MEMORY;
    for (int32_t i = 0, m = 0; i < l->n; i++) {
        bool member = !chosen || chosen[i];
        s->index[i] = member ? m : -1;
        if (member) s->member[m++] = i;
    }
    BrioStatus status = make_graph(l, s, &start, &neighbour);
    if (status == BRIO_OK)
        status = brio__linear_create(&brio__solver_ldlt, NULL, l->size / 3 * s->count, start,
                                     neighbour, &s->linear);
    brio__free(start);
    brio__free(neighbour);
    if (status != BRIO_OK) return status;
    BrioLinearStats stats;
    brio__linear_stats(s->linear, &stats);
    *bytes += stats.bytes + 72.0 * (double)s->linear->A.start[s->linear->A.n] + 4.0 * l->n +
              (4.0 + 12.0 * l->size) * (double)count;
    return BRIO_OK;
}

/* Part (r, c) of block k of row i, row by row. The finest level's matrix is that of A, of which the
 * lower triangle is stored. */
static void get_part(const BrioLevel *l, const BrioMatrix *A, double scale, int64_t i, int64_t k,
                     int r, int c, double part[9])
{
    if (l->exact) {
        for (int e = 0; e < 9; e++)
            part[e] = l->exact[36 * k + 6 * (3 * r + e / 3) + 3 * c + e % 3];
        return;
    }
    int64_t at = k - l->diagonal[i], row = 1, column;
    const double *a;
    if (at < 0) {
        const BrioLeftBlock *left = &A->left[A->left_start[i + 1] + at];
        a = A->value + left->slot;
        column = left->stride;
    } else {
        a = A->value + 9 * A->start[i] + 3 * at;
        row = brio__matrix_stride(A, (int32_t)i);
        column = 1;
    }
    for (int e = 0; e < 9; e++) {
        int p = e / 3, q = e % 3;
        if (at == 0 && p > q) p = e % 3, q = e / 3; /* of the diagonal the lower half counts */
        part[e] = scale * a[p * row + q * column];
    }
}

BrioStatus brio__subset_factor(BrioSubset *s, const BrioLevel *l, const BrioMatrix *A, double scale)
{
    BrioMatrix *D = &s->linear->A;
    int parts = l->size / 3;
    for (int32_t m = 0; m < s->count; m++) {
        int32_t i = s->member[m];
        for (int64_t k = l->start[i]; k < l->start[i + 1]; k++) {
            int32_t other = s->index[l->column[k]];
            for (int e = 0; other >= 0 && e < parts * parts; e++) {
                int32_t row = parts * m + e / parts, column = parts * other + e % parts;
                bool transposed;
                int64_t block = brio__matrix_find(D, row, column, &transposed);
                if (transposed) continue; /* the other half of the matrix has the same numbers */
                double part[9];
                get_part(l, A, scale, i, k, e / parts, e % parts, part);
                double *to = D->value + brio__matrix_slot(D, D->position[column], block);
                int64_t stride = brio__matrix_stride(D, D->position[column]);
                for (int p = 0; p < 9; p++) to[p % 3 * stride + p / 3] = part[p];
            }
        }
    }
    return brio__linear_factor(s->linear);
}

void brio__subset_solve(BrioSubset *s, const BrioLevel *l, const float *from, float *to)
{
    int size = l->size;
    for (int64_t m = 0; m < s->count; m++)
        for (int c = 0; c < size; c++) s->x[size * m + c] = from[size * (int64_t)s->member[m] + c];
    (void)brio__linear_solve(s->linear, 1, s->x, s->x); /* one column needs no memory */
    for (int64_t m = 0; m < s->count; m++)
        for (int c = 0; c < size; c++)
            to[size * (int64_t)s->member[m] + c] = (float)s->x[size * m + c];
}

/* ---- in double -------------------------------------------------------------------------- */

typedef struct Rows {
    BrioSubset *subset;
    const BrioMatrix *A;
    const double *r, *z;
} Rows;

/* x = the members' part of r - A z */
static void residual_rows(void *context, int64_t begin, int64_t end)
{
    const Rows *w = context;
    const BrioMatrix *A = w->A;
    for (int64_t m = begin; m < end; m++) {
        int32_t i = w->subset->member[m];
        double sum[3];
        brio__matrix_row(A, i, w->z, sum);
        for (int c = 0; c < 3; c++) w->subset->x[3 * m + c] = w->r[3 * (int64_t)i + c] - sum[c];
    }
}

/* y -= A x, for x of one block row */
static void subtract_column(const BrioMatrix *A, int32_t i, const double x[3], double *y)
{
    for (int64_t k = A->left_start[i]; k < A->left_start[i + 1]; k++) {
        const BrioLeftBlock *left = &A->left[k];
        const double *a = A->value + left->slot;
        for (int c = 0; c < 3; c++)
            for (int r = 0; r < 3; r++)
                y[3 * (int64_t)left->column + c] -= a[c * left->stride + r] * x[r];
    }
    int64_t stride = brio__matrix_stride(A, i);
    for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
        const double *a = A->value + brio__matrix_slot(A, i, k);
        for (int c = 0; c < 3; c++)
            for (int r = 0; r < 3; r++) y[3 * (int64_t)A->row[k] + r] -= a[c * stride + r] * x[c];
    }
}

void brio__subset_correct(BrioSubset *s, const BrioMatrix *A, double scale, const double *r,
                          double *z, double *changed)
{
    brio__parallel_for(s->count, 256, residual_rows, &(Rows){s, A, r, z});
    (void)brio__linear_solve(s->linear, 1, s->x, s->x);
    for (int64_t m = 0; m < s->count; m++) {
        for (int c = 0; c < 3; c++) s->x[3 * m + c] *= scale;
        for (int c = 0; c < 3; c++) z[3 * (int64_t)s->member[m] + c] += s->x[3 * m + c];
        if (changed) subtract_column(A, s->member[m], s->x + 3 * m, changed);
    }
}
