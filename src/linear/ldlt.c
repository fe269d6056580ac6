/* The built-in direct solver: supernodal Cholesky A = L L^T, with no library behind it.
 *
 * Block columns of L with (nearly) the same pattern form a supernode, whose part of L is one dense panel. In
 * ascending order each panel takes A's values, subtracts the outer products of the earlier panels that reach
 * into it (left-looking [Ng1993]), and is factored as a dense matrix. Ordering and pattern are found once, by
 * create; factor and solve allocate nothing. One thread: the sums are always the same. */
#include "linear.h"
#include "order.h"

#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* ---- kernels, in the units of scalars ----------------------------------------------------------- */

typedef struct Kernels {
    void (*update)(int64_t rows, int64_t columns, int64_t stride, int64_t depth, const double *x, const int32_t *place,
                   double *panel, int64_t panel_stride, double *pack);
    bool (*panel)(int64_t height, int64_t width, double *panel, double *pack);
    void (*forward)(int64_t height, int64_t width, const double *panel, double *x, double *sum);
    void (*backward)(int64_t height, int64_t width, const double *panel, double *x, const double *below);
} Kernels;

enum {
    MOST_ROWS = 16, /* of a tile on any instruction set: the padding of the panels */
    SLICE = 96      /* columns that are multiplied at a time, so that they stay in the cache */
};

#define KERNEL(name) name##_baseline
#define KERNEL_TARGET
#define KERNEL_LANES 2
#define KERNEL_FMA(a, b, c) ((a) * (b) + (c))
#include "ldlt_kernel.h"

#if defined(__x86_64__)
#define KERNEL(name) name##_avx2
#define KERNEL_TARGET __attribute__((target("avx2,fma")))
#define KERNEL_LANES 4
#define KERNEL_FMA(a, b, c) ((Vector_avx2)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#include "ldlt_kernel.h"

#define KERNEL(name) name##_avx512
#define KERNEL_TARGET __attribute__((target("avx512f,avx512dq,avx512vl")))
#define KERNEL_LANES 8
#define KERNEL_FMA(a, b, c) ((Vector_avx512)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#include "ldlt_kernel.h"
#endif

static const Kernels *choose_kernels(void)
{
#if defined(__x86_64__)
    if (brio__isa() == BRIO_ISA_AVX512) return &kernels_avx512;
    if (brio__isa() == BRIO_ISA_AVX2) return &kernels_avx2;
#endif
    return &kernels_baseline;
}

/* ---- pattern ------------------------------------------------------------------------------------ */

typedef struct Ldlt {
    const Kernels *kernels;
    int32_t n, count;   /* block columns, supernodes */
    int32_t *first;     /* count+1: first block column of each supernode */
    int32_t *owner;     /* n: supernode of each block column */
    int64_t *row_start; /* count+1: into row */
    int32_t *row;       /* block rows of each supernode, ascending, its own columns first */
    int64_t *panel;     /* count+1: into value */
    double *value;
    int32_t *head, *next; /* for each supernode, the list of earlier ones whose next rows are its columns */
    int32_t *done;        /* rows of each supernode that have been used for updates */
    int32_t *map;         /* n: block row -> row in the current panel */
    int32_t *place;       /* scalar rows of an update in the current panel */
    double *below;        /* scratch of solves */
    double *pack;         /* scratch of updates */
    double flops;
} Ldlt;

static int32_t width_of(const Ldlt *f, int32_t s) { return f->first[s + 1] - f->first[s]; }
static int32_t height_of(const Ldlt *f, int32_t s) { return (int32_t)(f->row_start[s + 1] - f->row_start[s]); }

static void ldlt_destroy(void *self)
{
    Ldlt *f = self;
    brio__free(f->first);
    brio__free(f->owner);
    brio__free(f->row_start);
    brio__free(f->row);
    brio__free(f->panel);
    brio__free(f->value);
    brio__free(f->head);
    brio__free(f->next);
    brio__free(f->done);
    brio__free(f->map);
    brio__free(f->place);
    brio__free(f->below);
    brio__free(f->pack);
    brio__free(f);
}

/* The strict lower triangle by rows: what the elimination tree is made from. */
typedef struct Rows {
    int64_t *start;
    int32_t *column;
} Rows;

static BrioStatus make_rows(const BrioMatrix *A, Rows *rows)
{
    int32_t n = A->n;
    rows->start = brio__calloc((size_t)n + 2, sizeof *rows->start);
    rows->column = brio__alloc((size_t)(A->start[n] - n), sizeof *rows->column);
    if (!rows->start || !rows->column) return BRIO_ERROR_MEMORY;
    for (int32_t J = 0; J < n; J++)
        for (int64_t k = A->start[J] + 1; k < A->start[J + 1]; k++) rows->start[A->row[k] + 2]++;
    for (int32_t I = 0; I < n; I++) rows->start[I + 2] += rows->start[I + 1];
    for (int32_t J = 0; J < n; J++)
        for (int64_t k = A->start[J] + 1; k < A->start[J + 1]; k++) rows->column[rows->start[A->row[k] + 1]++] = J;
    return BRIO_OK;
}

/* Elimination tree and number of blocks in each column of L: row I of L holds the columns on the paths from
 * the columns of A's row I up to I [Liu1990]. */
static void count_columns(int32_t n, const Rows *rows, int32_t *parent, int32_t *count, int32_t *mark)
{
    for (int32_t I = 0; I < n; I++) {
        parent[I] = -1;
        count[I] = 1;
        mark[I] = I;
        for (int64_t k = rows->start[I]; k < rows->start[I + 1]; k++)
            for (int32_t J = rows->column[k]; mark[J] != I; J = parent[J]) {
                if (parent[J] < 0) parent[J] = I;
                count[J]++;
                mark[J] = I;
            }
    }
}

/* Merging a supernode with the one after it stores zeros, and saves the overhead of a small panel. */
static bool worth_merging(int64_t width, int64_t stored, int64_t zeros)
{
    if (zeros == 0 || width <= 2) return true;
    double share = (double)zeros / (double)stored;
    return (width <= 8 && share < 0.4) || (width <= 24 && share < 0.1) || share < 0.05;
}

/* Supernodes of the postordered columns. A supernode takes the ones before it as long as they are its children
 * in the tree and few zeros are added. first[s], with heights[s] rows. Returns how many. */
static int32_t find_supernodes(int32_t n, const int32_t *parent, const int32_t *count, int32_t *first, int32_t *height,
                               int64_t *blocks)
{
    int32_t supernodes = 0;
    for (int32_t J = 0; J < n; J++) {
        int32_t s = supernodes++;
        first[s] = J;
        height[s] = count[J];
        blocks[s] = count[J]; /* without zeros */
        while (s > 0 && parent[first[s] - 1] == first[s]) {
            int32_t below = first[s] - first[s - 1]; /* columns of the one before */
            int64_t width = J + 1 - first[s - 1], rows = height[s] + below;
            int64_t stored = width * rows - width * (width - 1) / 2;
            if (!worth_merging(width, stored, stored - blocks[s] - blocks[s - 1])) break;
            height[s - 1] = (int32_t)rows;
            blocks[s - 1] += blocks[s];
            supernodes = s--;
        }
    }
    first[supernodes] = n;
    return supernodes;
}

/* Rows of each supernode: the same walk up the tree as for the columns, row by row, so that they come sorted. */
static BrioStatus make_structure(Ldlt *f, const Rows *rows, const int32_t *parent, const int32_t *height, int32_t *mark)
{
    size_t count = (size_t)f->count;
    f->row_start = brio__alloc(count + 1, sizeof *f->row_start);
    f->panel = brio__alloc(count + 1, sizeof *f->panel);
    f->head = brio__alloc(count, sizeof *f->head);
    f->next = brio__alloc(count, sizeof *f->next);
    f->done = brio__alloc(count, sizeof *f->done);
    if (!f->row_start || !f->panel || !f->head || !f->next || !f->done) return BRIO_ERROR_MEMORY;
    int32_t tallest = 0, widest = 0; /* in one update, columns are rows of one supernode and columns of another */
    f->row_start[0] = f->panel[0] = 0;
    for (int32_t s = 0; s < f->count; s++) {
        int64_t width = width_of(f, s);
        f->row_start[s + 1] = f->row_start[s] + height[s];
        f->panel[s + 1] = f->panel[s] + 9 * width * height[s];
        tallest = BRIO_MAX(tallest, height[s]);
        widest = BRIO_MAX(widest, (int32_t)width);
        for (int64_t i = 0; i < 3 * width; i++) f->flops += (double)(3 * height[s] - i) * (double)(3 * height[s] - i);
    }
    double bytes = 8.0 * (double)(f->panel[f->count] + MOST_ROWS) + 4.0 * (double)f->row_start[f->count];
    if (bytes > brio__memory_available()) return BRIO_ERROR_TOO_LARGE;
    f->row = brio__alloc((size_t)f->row_start[f->count], sizeof *f->row);
    f->value = brio__calloc((size_t)f->panel[f->count] + MOST_ROWS, sizeof *f->value);
    f->map = brio__alloc((size_t)f->n, sizeof *f->map);
    f->place = brio__alloc((size_t)tallest, 3 * sizeof *f->place);
    f->below = brio__alloc((size_t)tallest, 3 * sizeof *f->below);
    f->pack = brio__alloc(3 * (size_t)widest + 6, SLICE * sizeof *f->pack);
    if (!f->row || !f->value || !f->map || !f->place || !f->below || !f->pack) return BRIO_ERROR_MEMORY;

    for (int32_t s = 0; s < f->count; s++) {
        mark[s] = -1;
        f->done[s] = width_of(f, s); /* rows written so far */
        for (int32_t J = f->first[s]; J < f->first[s + 1]; J++) f->row[f->row_start[s] + J - f->first[s]] = J;
    }
    for (int32_t I = 0; I < f->n; I++)
        for (int64_t k = rows->start[I]; k < rows->start[I + 1]; k++)
            for (int32_t s = f->owner[rows->column[k]]; s != f->owner[I] && mark[s] != I;
                 s = f->owner[parent[f->first[s + 1] - 1]]) {
                mark[s] = I;
                f->row[f->row_start[s] + f->done[s]++] = I;
            }
    return BRIO_OK;
}

static BrioStatus analyse(Ldlt *f, const BrioMatrix *A, Rows *rows, int32_t *work, int64_t *blocks)
{
    size_t n = (size_t)A->n;
    int32_t *parent = work, *count = work + n, *mark = work + 2 * n, *height = work + 3 * n;
    BRIO_CHECK(make_rows(A, rows));
    f->first = brio__alloc(n + 1, sizeof *f->first);
    f->owner = brio__alloc(n, sizeof *f->owner);
    if (!f->first || !f->owner) return BRIO_ERROR_MEMORY;
    count_columns(f->n, rows, parent, count, mark);
    f->count = find_supernodes(f->n, parent, count, f->first, height, blocks);
    for (int32_t s = 0; s < f->count; s++)
        for (int32_t J = f->first[s]; J < f->first[s + 1]; J++) f->owner[J] = s;
    return make_structure(f, rows, parent, height, mark);
}

static BrioStatus ldlt_create(const BrioMatrix *A, const BrioLinearOptions *options, void **self)
{
    (void)options;
    *self = NULL;
    if (A->n > INT32_MAX / 3) return BRIO_ERROR_TOO_LARGE;
    Ldlt *f = brio__calloc(1, sizeof *f);
    if (!f) return BRIO_ERROR_MEMORY;
    f->n = A->n;
    f->kernels = choose_kernels();
    Rows rows = {0};
    int32_t *work = brio__alloc(4 * (size_t)A->n, sizeof *work);
    int64_t *blocks = brio__alloc((size_t)A->n, sizeof *blocks);
    BrioStatus status = work && blocks ? analyse(f, A, &rows, work, blocks) : BRIO_ERROR_MEMORY;
    brio__free(work);
    brio__free(blocks);
    brio__free(rows.start);
    brio__free(rows.column);
    if (status != BRIO_OK) {
        ldlt_destroy(f);
        return status;
    }
    *self = f;
    return BRIO_OK;
}

/* ---- numbers ------------------------------------------------------------------------------------ */

/* Appends s to the list of the supernode that owns its next unused row. */
static void wait_for_next(Ldlt *f, int32_t s)
{
    if (f->done[s] == height_of(f, s)) return;
    int32_t target = f->owner[f->row[f->row_start[s] + f->done[s]]];
    f->next[s] = f->head[target];
    f->head[target] = s;
}

static void load_columns(const Ldlt *f, const BrioMatrix *A, int32_t s, double *panel, int64_t stride)
{
    memset(panel, 0, sizeof *panel * (size_t)(f->panel[s + 1] - f->panel[s]));
    for (int32_t J = f->first[s]; J < f->first[s + 1]; J++) {
        int64_t length = brio__matrix_stride(A, J);
        const double *from = A->value + 9 * A->start[J];
        double *to = panel + 3 * (J - f->first[s]) * stride;
        for (int64_t k = A->start[J]; k < A->start[J + 1]; k++, from += 3)
            for (int c = 0; c < 3; c++)
                memcpy(to + c * stride + 3 * f->map[A->row[k]], from + c * length, 3 * sizeof *to);
    }
}

/* Subtracts what the earlier supernode d contributes to the panel of s. */
static void apply(Ldlt *f, int32_t d, int32_t s, double *panel, int64_t stride)
{
    const int32_t *row = f->row + f->row_start[d];
    int32_t height = height_of(f, d), begin = f->done[d], end = begin;
    while (end < height && row[end] < f->first[s + 1]) end++;
    for (int32_t r = begin; r < height; r++)
        for (int c = 0; c < 3; c++) f->place[3 * (r - begin) + c] = 3 * f->map[row[r]] + c;
    f->kernels->update(3 * (height - begin), 3 * (end - begin), 3 * (int64_t)height, 3 * width_of(f, d),
                       f->value + f->panel[d] + 3 * begin, f->place, panel, stride, f->pack);
    f->done[d] = end;
}

static BrioStatus ldlt_factor(void *self, const BrioMatrix *A)
{
    Ldlt *f = self;
    for (int32_t s = 0; s < f->count; s++) f->head[s] = -1;
    for (int32_t s = 0; s < f->count; s++) {
        double *panel = f->value + f->panel[s];
        int32_t height = height_of(f, s), width = width_of(f, s);
        for (int32_t r = 0; r < height; r++) f->map[f->row[f->row_start[s] + r]] = r;
        load_columns(f, A, s, panel, 3 * (int64_t)height);
        for (int32_t d = f->head[s], next; d >= 0; d = next) {
            next = f->next[d];
            apply(f, d, s, panel, 3 * (int64_t)height);
            wait_for_next(f, d);
        }
        if (!f->kernels->panel(3 * (int64_t)height, 3 * (int64_t)width, panel, f->pack))
            return BRIO_NOT_POSITIVE_DEFINITE;
        f->done[s] = width;
        wait_for_next(f, s);
    }
    return BRIO_OK;
}

static BrioStatus ldlt_solve(void *self, const BrioMatrix *A, int k, double *x)
{
    Ldlt *f = self;
    int64_t length = 3 * (int64_t)A->n;
    for (int32_t s = 0; s < f->count; s++) {
        int32_t height = height_of(f, s), width = width_of(f, s);
        const int32_t *row = f->row + f->row_start[s] + width;
        for (int j = 0; j < k; j++) {
            double *column = x + j * length;
            f->kernels->forward(3 * (int64_t)height, 3 * (int64_t)width, f->value + f->panel[s],
                                column + 3 * (int64_t)f->first[s], f->below);
            for (int32_t r = 0; r < height - width; r++)
                for (int c = 0; c < 3; c++) column[3 * (int64_t)row[r] + c] -= f->below[3 * r + c];
        }
    }
    for (int32_t s = f->count - 1; s >= 0; s--) {
        int32_t height = height_of(f, s), width = width_of(f, s);
        const int32_t *row = f->row + f->row_start[s] + width;
        for (int j = 0; j < k; j++) {
            double *column = x + j * length;
            for (int32_t r = 0; r < height - width; r++)
                memcpy(f->below + 3 * r, column + 3 * (int64_t)row[r], 3 * sizeof *f->below);
            f->kernels->backward(3 * (int64_t)height, 3 * (int64_t)width, f->value + f->panel[s],
                                 column + 3 * (int64_t)f->first[s], f->below);
        }
    }
    return BRIO_OK;
}

static void ldlt_stats(const void *self, BrioLinearStats *stats)
{
    const Ldlt *f = self;
    for (int32_t s = 0; s < f->count; s++) { /* the trapezoids, without the square's upper half */
        double height = 3.0 * height_of(f, s), width = 3.0 * width_of(f, s);
        stats->factor_nonzeros += height * width - width * (width - 1) / 2;
    }
    stats->factor_flops = f->flops;
    stats->bytes = 8.0 * (double)f->panel[f->count] + 4.0 * (double)f->row_start[f->count] +
                   32.0 * f->count + 8.0 * f->n;
}

const BrioLinearType brio__solver_ldlt = {
    .name = "ldlt",
    .summary = "Direct, built in: supernodal Cholesky with nested dissection; needs no library, fastest on small bodies.",
    .citation = "Ng1993",
    .order = brio__order_dissection,
    .create = ldlt_create,
    .factor = ldlt_factor,
    .solve = ldlt_solve,
    .stats = ldlt_stats,
    .destroy = ldlt_destroy,
};
