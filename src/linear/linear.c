/* The matrix of 3x3 blocks and what is common to its solvers: pattern, search, product,
 * permutation.
 *
 * The product y = A x uses each stored block twice, as itself and transposed:
 *
 *     y_J = sum_{K<J} A_JK x_K + A_JJ x_J + sum_{I>J} A_IJ^T x_I,
 *
 * summed from left to right for every row, so that rows can be shared among threads without
 * changing a bit. */
#include "linear.h"

#include "overlay.h"

#include <string.h>

/* ---- registry --------------------------------------------------------------------------- */

#define LINEAR(symbol) extern const BrioLinearType brio__solver_##symbol;
#include "list.def"
#undef LINEAR

static const BrioLinearType *const types[] = {
#define LINEAR(symbol) &brio__solver_##symbol,
#include "list.def"
#undef LINEAR
};

const BrioLinearType *brio__linear_at(int i)
{
    return i >= 0 && i < (int)BRIO_COUNT(types) ? types[i] : NULL;
}

const BrioLinearType *brio__linear_type(const char *name)
{
    for (int i = 0; i < (int)BRIO_COUNT(types); i++)
        if (!strcmp(types[i]->name, name)) return types[i];
    return NULL;
}

/* ---- pattern ---------------------------------------------------------------------------- */

static void matrix_free(BrioMatrix *A)
{
    brio__free(A->start);
    brio__free(A->row);
    brio__free(A->value);
    brio__free(A->position);
    brio__free(A->left_start);
    brio__free(A->left);
    *A = (BrioMatrix){0};
}

/* position = order^-1; false if order is not a permutation. */
static bool invert(int32_t n, const int32_t *order, int32_t *position)
{
    for (int32_t i = 0; i < n; i++) position[i] = -1;
    for (int32_t i = 0; i < n; i++) {
        if (order[i] < 0 || order[i] >= n || position[order[i]] >= 0) return false;
        position[order[i]] = i;
    }
    return true;
}

/* Columns of the lower triangle in the order given by A->position. Rows are visited in ascending
 * order, so that the rows of a column come out sorted. */
static BrioStatus make_columns(BrioMatrix *A, const int32_t *order, const int64_t *start,
                               const int32_t *neighbour)
{
    int32_t n = A->n;
    const int32_t *position = A->position;
    A->start = brio__calloc((size_t)n + 1, sizeof *A->start);
    if (!A->start) return BRIO_ERROR_MEMORY;
    for (int32_t I = 0; I < n; I++) {
        A->start[I + 1]++;
        for (int64_t k = start[order[I]]; k < start[order[I] + 1]; k++)
            if (position[neighbour[k]] < I) A->start[position[neighbour[k]] + 1]++;
    }
    for (int32_t J = 0; J < n; J++) A->start[J + 1] += A->start[J];
    A->row = brio__alloc((size_t)A->start[n], sizeof *A->row);
    A->value = brio__calloc((size_t)A->start[n], 9 * sizeof *A->value);
    if (!A->row || !A->value) return BRIO_ERROR_MEMORY;

    /* start[J] runs to the end of column J while it is filled, and is shifted back afterwards */
    for (int32_t I = 0; I < n; I++) {
        A->row[A->start[I]++] = I;
        for (int64_t k = start[order[I]]; k < start[order[I] + 1]; k++) {
            int32_t J = position[neighbour[k]];
            if (J < I) A->row[A->start[J]++] = I;
        }
    }
    for (int32_t J = n; J > 0; J--) A->start[J] = A->start[J - 1];
    A->start[0] = 0;
    return BRIO_OK;
}

/* Ranges, and that neighbours are listed once and both ways. The latter by comparing the sums of a
 * hash over the pairs (i,j) with i < j and with i > j: a graph that is not symmetric passes with
 * probability 2^-64. */
static BrioStatus check_graph(int32_t n, const int64_t *start, const int32_t *neighbour)
{
    if (n < 0 || (n > 0 && start[0] != 0)) return BRIO_ERROR_ARGUMENT;
    int32_t *mark = brio__alloc((size_t)n, sizeof *mark);
    if (!mark) return BRIO_ERROR_MEMORY;
    for (int32_t i = 0; i < n; i++) mark[i] = -1;
    bool valid = true;
    uint64_t sum[2] = {0, 0};
    for (int32_t i = 0; i < n && valid; i++) {
        mark[i] = i;
        valid = start[i + 1] >= start[i];
        for (int64_t k = start[i]; k < start[i + 1] && valid; k++) {
            int32_t j = neighbour[k];
            valid = j >= 0 && j < n && mark[j] != i;
            if (!valid) break;
            mark[j] = i;
            uint64_t hash =
                ((uint64_t)BRIO_MIN(i, j) << 32 | (uint64_t)BRIO_MAX(i, j)) * 0x9e3779b97f4a7c15u;
            hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9u;
            sum[i < j] += hash ^ hash >> 32;
        }
    }
    brio__free(mark);
    return valid && sum[0] == sum[1] ? BRIO_OK : BRIO_ERROR_ARGUMENT;
}

static BrioStatus make_matrix(const BrioLinearType *type, int32_t n, const int64_t *start,
                              const int32_t *neighbour, const int32_t *given, BrioMatrix *A)
{
    A->n = n;
    A->position = brio__alloc((size_t)n, sizeof *A->position);
    int32_t *order = brio__alloc((size_t)n, sizeof *order);
    BrioStatus status = A->position && order ? BRIO_OK : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK && !given && type->order && n > 0)
        status = type->order(n, start, neighbour, order);
    else if (status == BRIO_OK)
        for (int32_t i = 0; i < n; i++) order[i] = given ? given[i] : i;
    if (status == BRIO_OK && !invert(n, order, A->position)) status = BRIO_ERROR_ARGUMENT;
    if (status == BRIO_OK) status = make_columns(A, order, start, neighbour);
    if (status == BRIO_OK && type->multiplies) status = brio__matrix_rows(A);
    brio__free(order);
    return status;
}

int64_t brio__matrix_find(const BrioMatrix *A, int32_t row, int32_t column, bool *transposed)
{
    int32_t I = A->position[row], J = A->position[column];
    *transposed = I < J;
    if (I < J) {
        int32_t swap = I;
        I = J;
        J = swap;
    }
    int64_t low = A->start[J], high = A->start[J + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (A->row[middle] < I)
            low = middle + 1;
        else
            high = middle;
    }
    return low < A->start[J + 1] && A->row[low] == I ? low : -1;
}

/* ---- product ---------------------------------------------------------------------------- */

BrioStatus brio__matrix_rows(BrioMatrix *A)
{
    if (A->left) return BRIO_OK;
    int32_t n = A->n;
    int64_t *start = brio__calloc((size_t)n + 2, sizeof *start);
    BrioLeftBlock *left = brio__alloc((size_t)(n ? A->start[n] - n : 0), sizeof *left);
    if (!start || !left) {
        brio__free(start);
        brio__free(left);
        return BRIO_ERROR_MEMORY;
    }
    for (int32_t J = 0; J < n; J++)
        for (int64_t k = A->start[J] + 1; k < A->start[J + 1]; k++) start[A->row[k] + 2]++;
    for (int32_t I = 0; I < n; I++) start[I + 2] += start[I + 1];
    for (int32_t J = 0; J < n; J++) /* start[I+1] runs from the first to past the last of row I */
        for (int64_t k = A->start[J] + 1; k < A->start[J + 1]; k++)
            left[start[A->row[k] + 1]++] =
                (BrioLeftBlock){brio__matrix_slot(A, J, k), J, (int32_t)brio__matrix_stride(A, J)};
    A->left_start = start;
    A->left = left;
    return BRIO_OK;
}

static inline void add_block(const double *a, int64_t stride, const double *x, double *y)
{
    for (int r = 0; r < 3; r++)
        y[r] += a[r] * x[0] + a[stride + r] * x[1] + a[2 * stride + r] * x[2];
}

/* y += the diagonal block and the transposed blocks below it. */
static inline void add_column(const BrioMatrix *A, int32_t J, const double *x, double *y)
{
    int64_t stride = brio__matrix_stride(A, J);
    const double *a = A->value + 9 * A->start[J];
    const int32_t *row = A->row + A->start[J];
    add_block(a, stride, x + 3 * (int64_t)J, y);
    for (int64_t k = 1; k < stride / 3; k++) {
        const double *u = x + 3 * (int64_t)row[k], *b = a + 3 * k;
        for (int c = 0; c < 3; c++)
            y[c] += b[c * stride] * u[0] + b[c * stride + 1] * u[1] + b[c * stride + 2] * u[2];
    }
}

typedef struct Product {
    const BrioMatrix *A;
    const double *x;
    double *y;
} Product;

/* Row J of A x. */
static inline void multiply_row(const BrioMatrix *A, int32_t J, const double *x, double sum[3])
{
    sum[0] = sum[1] = sum[2] = 0;
    for (int64_t k = A->left_start[J]; k < A->left_start[J + 1]; k++) {
        const BrioLeftBlock *left = &A->left[k];
        add_block(A->value + left->slot, left->stride, x + 3 * (int64_t)left->column, sum);
    }
    add_column(A, J, x, sum);
}

void brio__matrix_row(const BrioMatrix *A, int32_t J, const double *x, double y[3])
{
    multiply_row(A, J, x, y);
}

static void multiply_rows(void *context, int64_t begin, int64_t end)
{
    const Product *product = context;
    const BrioMatrix *A = product->A;
    const double *x = product->x;
    for (int64_t J = begin; J < end; J++) {
        double sum[3];
        multiply_row(A, (int32_t)J, x, sum);
        memcpy(product->y + 3 * J, sum, sizeof sum);
    }
}

void brio__matrix_multiply(const BrioMatrix *A, const double *x, double *y)
{
    if (A->left) {
        brio__parallel_for(A->n, 1024, multiply_rows, &(Product){A, x, y});
        return;
    }
    memset(y, 0, 3 * sizeof *y * (size_t)A->n);
    for (int32_t J = 0; J < A->n; J++) {
        int64_t stride = brio__matrix_stride(A, J);
        add_column(A, J, x, y + 3 * (int64_t)J);
        for (int64_t k = A->start[J] + 1; k < A->start[J + 1]; k++)
            add_block(A->value + brio__matrix_slot(A, J, k), stride, x + 3 * (int64_t)J,
                      y + 3 * (int64_t)A->row[k]);
    }
}

/* ---- a matrix and its solver ------------------------------------------------------------ */

/* Nothing to solve; a process that has no rows takes part in what others solve. */
static bool is_empty(const BrioLinear *linear)
{
    return linear->A.n == 0 && !linear->options.partition;
}

BrioStatus brio__linear_create(const BrioLinearType *type, const BrioLinearOptions *options,
                               int32_t n, const int64_t *start, const int32_t *neighbour,
                               BrioLinear **linear)
{
    return brio__linear_create_ordered(type, options, n, start, neighbour, NULL, linear);
}

BrioStatus brio__linear_create_ordered(const BrioLinearType *type, const BrioLinearOptions *options,
                                       int32_t n, const int64_t *start, const int32_t *neighbour,
                                       const int32_t *order, BrioLinear **linear)
{
    *linear = NULL;
    BRIO_CHECK(check_graph(n, start, neighbour));
    BrioLinear *created = brio__calloc(1, sizeof *created);
    if (!created) return BRIO_ERROR_MEMORY;
    created->type = type;
    created->columns = 2;
    created->factored = created;
    if (options) created->options = *options;
    BrioStatus status = make_matrix(type, n, start, neighbour, order, &created->A);
    if (status == BRIO_OK) {
        created->permuted = brio__alloc(2 * (size_t)n, 3 * sizeof *created->permuted);
        if (!created->permuted) status = BRIO_ERROR_MEMORY;
    }
    if (status == BRIO_OK && !is_empty(created))
        status = type->create(&created->A, &created->options, &created->self);
    if (status != BRIO_OK) {
        brio__linear_free(created);
        return status;
    }
    *linear = created;
    return BRIO_OK;
}

void brio__linear_free(BrioLinear *linear)
{
    if (!linear) return;
    if (linear->self) linear->type->destroy(linear->self);
    brio__overlay_free(linear->overlay);
    matrix_free(&linear->A);
    brio__free(linear->permuted);
    brio__free(linear->eliminated);
    brio__free(linear);
}

/* Rows and columns of coordinates that do not move are zero but for a positive diagonal: what
 * moves is then solved for by itself. */
static BrioStatus leave_axes(BrioLinear *to, const uint8_t *axes)
{
    BrioMatrix *A = &to->A;
    if (!to->eliminated) to->eliminated = brio__alloc((size_t)A->n, 1);
    if (!to->eliminated) return BRIO_ERROR_MEMORY;
    for (int32_t b = 0; b < A->n; b++) to->eliminated[A->position[b]] = axes[b];
    for (int32_t J = 0; J < A->n; J++)
        for (int64_t k = A->start[J]; k < A->start[J + 1]; k++) {
            int left = to->eliminated[A->row[k]], right = to->eliminated[J];
            if (!left && !right) continue;
            double *block = A->value + brio__matrix_slot(A, J, k);
            int64_t stride = brio__matrix_stride(A, J);
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++) {
                    double *value = &block[c * stride + r];
                    if (!(left >> r & 1) && !(right >> c & 1)) continue;
                    bool diagonal = A->row[k] == J && r == c;
                    *value = diagonal ? (*value > 0 ? *value : 1) : 0;
                }
        }
    return BRIO_OK;
}

BrioStatus brio__linear_factor(BrioLinear *linear)
{
    if (is_empty(linear)) return BRIO_OK;
    linear->factored = linear;
    const BrioLinearType *type = linear->type;
    if (!type->factor_partitions && linear->overlay && brio__overlay_any(linear->overlay))
        BRIO_CHECK(brio__overlay_join(linear->overlay, linear, &linear->factored));
    linear->factored->options.position = linear->options.position;
    linear->factored->options.near = linear->options.near;
    BrioMatrix *A = &linear->factored->A;
    if (brio__partition_any(linear->options.partition,
                            !brio__all_finite(9 * A->start[A->n], A->value)))
        return BRIO_NOT_FINITE;
    if (linear->axes) BRIO_CHECK(leave_axes(linear->factored, linear->axes));
    return type->factor_partitions ? type->factor_partitions(linear->self, A, linear->overlay)
                                   : type->factor(linear->factored->self, A);
}

static void to_elimination(const BrioMatrix *A, const double *x, double *permuted)
{
    for (int64_t i = 0; i < A->n; i++)
        memcpy(permuted + 3 * (int64_t)A->position[i], x + 3 * i, 3 * sizeof *x);
}

static void to_coordinates(const BrioMatrix *A, const double *permuted, double *x)
{
    for (int64_t i = 0; i < A->n; i++)
        memcpy(x + 3 * i, permuted + 3 * (int64_t)A->position[i], 3 * sizeof *x);
}

static BrioStatus solve_joined(BrioLinear *linear, int k, const double *b, double *x)
{
    BrioLinearStats before, after;
    linear->factored->options.tol = linear->options.tol;
    brio__linear_stats(linear->factored, &before);
    BrioStatus status = brio__linear_solve(linear->factored, k, b, x);
    brio__linear_stats(linear->factored, &after);
    linear->joined_iterations += after.iterations - before.iterations;
    return status;
}

/* Zero where nothing moves, of k vectors. */
static void mask(const BrioLinear *linear, int k, double *x)
{
    for (int64_t i = 0; linear->axes && i < (int64_t)k * linear->A.n; i++)
        for (int r = 0; r < 3; r++)
            if (linear->axes[i % linear->A.n] >> r & 1) x[3 * i + r] = 0;
}

static BrioStatus solve(BrioLinear *linear, int k, const double *b, double *x)
{
    const BrioMatrix *A = &linear->A;
    int64_t length = 3 * (int64_t)A->n;
    if (is_empty(linear) || k <= 0) return BRIO_OK;
    if (linear->factored != linear) return solve_joined(linear, k, b, x);
    if (k > linear->columns) {
        double *more = brio__alloc((size_t)k * (size_t)length, sizeof *more);
        if (!more) return BRIO_ERROR_MEMORY;
        brio__free(linear->permuted);
        linear->permuted = more;
        linear->columns = k;
    }
    for (int j = 0; j < k; j++) to_elimination(A, b + j * length, linear->permuted + j * length);
    BrioStatus status = linear->type->solve(linear->self, A, k, linear->permuted);
    if (status < 0) return status;
    for (int j = 0; j < k; j++) to_coordinates(A, linear->permuted + j * length, x + j * length);
    return status;
}

BrioStatus brio__linear_solve(BrioLinear *linear, int k, const double *b, double *x)
{
    BrioStatus status = solve(linear, k, b, x);
    if (status >= 0) mask(linear, k, x);
    return status;
}

void brio__linear_stats(const BrioLinear *linear, BrioLinearStats *stats)
{
    *stats = (BrioLinearStats){0};
    if (linear->self) linear->type->stats(linear->self, stats);
    stats->iterations += linear->joined_iterations;
}

bool brio__linear_iterates(const BrioLinear *linear)
{
    BrioLinearStats stats;
    brio__linear_stats(linear->factored, &stats);
    return stats.factor_nonzeros == 0;
}

void brio__linear_multiply(BrioLinear *linear, const double *x, double *y)
{
    BrioMatrix *A = &linear->A;
    if (A->n == 0) return;
    double *from = linear->permuted, *to = from + 3 * (int64_t)A->n;
    (void)brio__matrix_rows(A); /* without memory for them the product is serial, not wrong */
    to_elimination(A, x, from);
    brio__matrix_multiply(A, from, to);
    if (linear->overlay) brio__overlay_multiply_add(linear->overlay, A->position, from, to);
    to_coordinates(A, to, y);
    mask(linear, 1, y);
}
