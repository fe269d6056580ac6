/* The built-in direct solver: supernodal Cholesky A = L L^T, with no library behind it.
 *
 * Block columns of L with (nearly) the same pattern form a supernode, whose part of L is one dense
 * panel. In ascending order each panel takes A's values, subtracts the outer products of the
 * earlier panels that reach into it (left-looking [Ng1993]), and is factored as a dense matrix.
 * Ordering and pattern are found once, by create; factor and solve allocate nothing.
 *
 * Threads: the tree of supernodes is cut into subtrees, none of which is more than a fixed fraction
 * of the work, and the top that joins them. Subtrees know nothing of each other and are shared out;
 * the top follows, one panel after the other, whose rows are shared out if there is enough to do.
 * The cuts are a function of the pattern, and every sum has its fixed order: the bits do not depend
 * on the number of threads. */
#include "ldlt.h"
#include "order.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* ---- kernels, in the units of scalars --------------------------------------------------- */

typedef struct Kernels {
    void (*update)(int64_t begin, int64_t rows, int64_t columns, int64_t stride, int64_t depth,
                   const double *x, const int32_t *place, double *panel, int64_t panel_stride,
                   double *packed_rows);
    void (*below)(int64_t rows, int64_t width, int64_t stride, const double *square, double *x);
    bool (*square)(int64_t width, int64_t stride, double *square);
    void (*forward)(int64_t height, int64_t width, const double *panel, double *x, double *sum);
    void (*backward)(int64_t height, int64_t width, const double *panel, double *x,
                     const double *below);
} Kernels;

enum {
    MAX_ROWS = 16, /* of a tile on any instruction set: the padding of the panels */
    SLICE = 96     /* columns that are multiplied at a time, so that they stay in the cache */
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
#define KERNEL_FMA(a, b, c) \
    ((Vector_avx512)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
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

/* ---- pattern ---------------------------------------------------------------------------- */

/* Sizes that decide what is shared among threads. */
enum {
    MAX_WORKERS = 16,
    SUBTREE_DIVISOR = 6,     /* a subtree is at most this part of the work */
    SHARED_FACTOR = 3000000, /* operations from which a factorisation is shared out */
    SHARED_PANEL = 3000000,  /* and a panel of the top */
    SHARED_SOLVE = 400000,   /* entries of L from which a solve is */
    /* block rows of a shared panel that are done at a time, and into how many it is cut at most */
    MIN_CHUNK = 32,
    CHUNKS = 8,
    BATCH = 4 /* right-hand sides that are solved at a time */
};

/* Panel `from` reaches into a later one, with its rows from `begin` on. */
typedef struct Update {
    int32_t from, begin;
} Update;

/* Supernodes [first, root] in the elimination tree under root. */
typedef struct Subtree {
    int32_t first, root;
    double cost;
    int64_t spill; /* where its sums for the rows of others begin */
} Subtree;

/* What a thread needs for itself. */
typedef struct Worker {
    int32_t *map;        /* n: block row -> row in the current panel */
    int32_t *place;      /* scalar rows of an update in the current panel */
    double *below;       /* of solves */
    double *packed_rows; /* of updates */
} Worker;

typedef struct Ldlt {
    const Kernels *kernels;
    int block;          /* scalars a block: 3, or 1 */
    int32_t n, count;   /* block columns, supernodes */
    int32_t *first;     /* count+1: first block column of each supernode */
    int32_t *owner;     /* n: supernode of each block column */
    int64_t *row_start; /* count+1: into row */
    int32_t *row;       /* block rows of each supernode, ascending, its own columns first */
    int64_t *panel;     /* count+1: into value */
    double *value;
    int64_t *update_start; /* count+1: into update */
    Update *update;        /* of each supernode, ascending */
    double *cost;          /* of each supernode: operations of its updates and its panel */
    int32_t subtrees, tops;
    Subtree *subtree; /* the costliest first */
    int32_t *top;     /* the other supernodes, ascending */
    double *spill;    /* BATCH times what the subtrees need */
    int64_t spills;
    bool shares_solves;
    int workers;
    Worker worker[MAX_WORKERS];
    double blocks, flops; /* blocks of L without the zeros that supernodes add */
} Ldlt;

static int32_t width_of(const Ldlt *f, int32_t s) { return f->first[s + 1] - f->first[s]; }
static int32_t height_of(const Ldlt *f, int32_t s)
{
    return (int32_t)(f->row_start[s + 1] - f->row_start[s]);
}

void brio__ldlt_destroy(void *self)
{
    Ldlt *f = self;
    brio__free(f->first);
    brio__free(f->owner);
    brio__free(f->row_start);
    brio__free(f->row);
    brio__free(f->panel);
    brio__free(f->value);
    brio__free(f->update_start);
    brio__free(f->update);
    brio__free(f->cost);
    brio__free(f->subtree);
    brio__free(f->top);
    brio__free(f->spill);
    for (int w = 0; w < MAX_WORKERS; w++) {
        brio__free(f->worker[w].map);
        brio__free(f->worker[w].place);
        brio__free(f->worker[w].below);
        brio__free(f->worker[w].packed_rows);
    }
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
        for (int64_t k = A->start[J] + 1; k < A->start[J + 1]; k++)
            rows->column[rows->start[A->row[k] + 1]++] = J;
    return BRIO_OK;
}

/* Elimination tree and number of blocks in each column of L: row I of L holds the columns on the
 * paths from the columns of A's row I up to I [Liu1990]. */
static void count_columns(int32_t n, const Rows *rows, int32_t *parent, int32_t *count,
                          int32_t *mark)
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

/* Merging a supernode with the one after it stores zeros, and saves the overhead of a small panel.
 * `width` in scalars. */
static bool worth_merging(int64_t width, int64_t stored, int64_t zeros)
{
    if (zeros == 0 || width <= 6) return true;
    double fraction = (double)zeros / (double)stored;
    return (width <= 24 && fraction < 0.4) || (width <= 72 && fraction < 0.1) || fraction < 0.05;
}

/* Supernodes of the postordered columns. A supernode takes the ones before it as long as they are
 * its children in the tree and few zeros are added. first[s], with heights[s] rows. Returns how
 * many. */
static int32_t find_supernodes(int block, int32_t n, const int32_t *parent, const int32_t *count,
                               int32_t *first, int32_t *height, int64_t *blocks)
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
            if (!worth_merging(block * width, stored, stored - blocks[s] - blocks[s - 1])) break;
            height[s - 1] = (int32_t)rows;
            blocks[s - 1] += blocks[s];
            supernodes = s--;
        }
    }
    first[supernodes] = n;
    return supernodes;
}

static BrioStatus make_workers(Ldlt *f, size_t tallest, size_t widest)
{
    size_t block = (size_t)f->block;
    f->workers = BRIO_MIN(brio_threads(), MAX_WORKERS);
    for (int i = 0; i < f->workers; i++) {
        Worker *w = &f->worker[i];
        w->map = brio__alloc((size_t)f->n, sizeof *w->map);
        w->place = brio__alloc(block * tallest, sizeof *w->place);
        w->below = brio__alloc(block * tallest, sizeof *w->below);
        w->packed_rows = brio__alloc(block * widest + 6, SLICE * sizeof *w->packed_rows);
        if (!w->map || !w->place || !w->below || !w->packed_rows) return BRIO_ERROR_MEMORY;
    }
    return BRIO_OK;
}

/* Rows of each supernode: the same walk up the tree as for the columns, row by row, so that they
 * come sorted. */
static BrioStatus make_structure(Ldlt *f, const Rows *rows, const int32_t *parent,
                                 const int32_t *height, int32_t *mark, int32_t *written)
{
    size_t count = (size_t)f->count;
    f->row_start = brio__alloc(count + 1, sizeof *f->row_start);
    f->panel = brio__alloc(count + 1, sizeof *f->panel);
    if (!f->row_start || !f->panel) return BRIO_ERROR_MEMORY;
    int block = f->block;
    /* in one update, columns are rows of one supernode and columns of another */
    int32_t tallest = 0, widest = 0;
    f->row_start[0] = f->panel[0] = 0;
    for (int32_t s = 0; s < f->count; s++) {
        int64_t width = width_of(f, s);
        f->row_start[s + 1] = f->row_start[s] + height[s];
        f->panel[s + 1] = f->panel[s] + block * block * width * height[s];
        tallest = BRIO_MAX(tallest, height[s]);
        widest = BRIO_MAX(widest, (int32_t)width);
        for (int64_t i = 0; i < block * width; i++)
            f->flops += (double)(block * height[s] - i) * (double)(block * height[s] - i);
    }
    double bytes =
        8.0 * (double)(f->panel[f->count] + MAX_ROWS) + 4.0 * (double)f->row_start[f->count];
    if (bytes > brio__memory_available()) return BRIO_ERROR_TOO_LARGE;
    f->row = brio__alloc((size_t)f->row_start[f->count], sizeof *f->row);
    f->value = brio__calloc((size_t)f->panel[f->count] + MAX_ROWS, sizeof *f->value);
    if (!f->row || !f->value) return BRIO_ERROR_MEMORY;

    for (int32_t s = 0; s < f->count; s++) {
        mark[s] = -1;
        written[s] = width_of(f, s);
        for (int32_t J = f->first[s]; J < f->first[s + 1]; J++)
            f->row[f->row_start[s] + J - f->first[s]] = J;
    }
    for (int32_t I = 0; I < f->n; I++)
        for (int64_t k = rows->start[I]; k < rows->start[I + 1]; k++)
            for (int32_t s = f->owner[rows->column[k]]; s != f->owner[I] && mark[s] != I;
                 s = f->owner[parent[f->first[s + 1] - 1]]) {
                mark[s] = I;
                f->row[f->row_start[s] + written[s]++] = I;
            }
    return make_workers(f, (size_t)tallest, (size_t)widest);
}

/* How far the rows from `begin` on of supernode d are columns of the supernode that owns the first
 * of them. */
static int32_t end_of_update(const Ldlt *f, int32_t d, int32_t begin)
{
    const int32_t *row = f->row + f->row_start[d];
    int32_t height = height_of(f, d), beyond = f->first[f->owner[row[begin]] + 1], end = begin;
    while (end < height && row[end] < beyond) end++;
    return end;
}

/* The updates that each supernode takes, and what it costs. */
static BrioStatus make_updates(Ldlt *f)
{
    f->update_start = brio__calloc((size_t)f->count + 2, sizeof *f->update_start);
    f->cost = brio__alloc((size_t)f->count, sizeof *f->cost);
    if (!f->update_start || !f->cost) return BRIO_ERROR_MEMORY;
    for (int32_t s = 0; s < f->count; s++) {
        double height = (double)f->block * height_of(f, s);
        double width = (double)f->block * width_of(f, s);
        f->cost[s] = height * width * width;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t d = 0; d < f->count; d++)
            for (int32_t begin = width_of(f, d), end; begin < height_of(f, d); begin = end) {
                int32_t s = f->owner[f->row[f->row_start[d] + begin]];
                end = end_of_update(f, d, begin);
                if (pass == 0) {
                    f->update_start[s + 2]++;
                    f->cost[s] += 2.0 * f->block * f->block * f->block * (height_of(f, d) - begin) *
                                  (end - begin) * width_of(f, d);
                } else {
                    f->update[f->update_start[s + 1]++] = (Update){d, begin};
                }
            }
        if (pass) break;
        for (int32_t s = 0; s < f->count; s++) f->update_start[s + 2] += f->update_start[s + 1];
        f->update = brio__alloc((size_t)f->update_start[f->count + 1], sizeof *f->update);
        if (!f->update) return BRIO_ERROR_MEMORY;
    }
    return BRIO_OK;
}

static int by_cost(const void *a, const void *b)
{
    const Subtree *x = a, *y = b;
    if (x->cost != y->cost) return x->cost < y->cost ? 1 : -1;
    return (x->root > y->root) - (x->root < y->root);
}

/* Cuts the tree. Without a postorder subtrees are not ranges, and all of it is top; so it is if
 * there is little to do. */
static BrioStatus make_subtrees(Ldlt *f, double *total, int32_t *parent, int32_t *first,
                                int32_t *size)
{
    double all = 0;
    bool ranges = true;
    for (int32_t s = 0; s < f->count; s++) total[s] = f->cost[s], first[s] = s, size[s] = 1;
    for (int32_t s = 0; s < f->count; s++) {
        int32_t up = height_of(f, s) > width_of(f, s)
                         ? f->owner[f->row[f->row_start[s] + width_of(f, s)]]
                         : -1;
        parent[s] = up;
        ranges &= size[s] == s - first[s] + 1;
        all += f->cost[s];
        if (up < 0) continue;
        total[up] += total[s];
        size[up] += size[s];
        first[up] = BRIO_MIN(first[up], first[s]);
    }
    double max = ranges && all >= SHARED_FACTOR ? all / SUBTREE_DIVISOR : -1;
    enum { IN_SUBTREE, ROOT, TOP };
    int32_t *kind = size;
    for (int32_t s = f->count - 1; s >= 0; s--) {
        bool below_top = parent[s] < 0 || kind[parent[s]] == TOP;
        kind[s] = !below_top ? IN_SUBTREE : total[s] > max ? TOP : ROOT;
        f->subtrees += kind[s] == ROOT;
        f->tops += kind[s] == TOP;
    }
    f->subtree = brio__alloc((size_t)f->subtrees, sizeof *f->subtree);
    f->top = brio__alloc((size_t)f->tops, sizeof *f->top);
    if (!f->subtree || !f->top) return BRIO_ERROR_MEMORY;
    for (int32_t s = 0, t = 0, at = 0; s < f->count; s++) {
        if (kind[s] == ROOT)
            f->subtree[t++] = (Subtree){.first = first[s], .root = s, .cost = total[s]};
        if (kind[s] == TOP) f->top[at++] = s;
    }
    qsort(f->subtree, (size_t)f->subtrees, sizeof *f->subtree, by_cost);
    for (int32_t t = 0; t < f->subtrees; t++) {
        f->subtree[t].spill = f->spills;
        f->spills +=
            f->block * (height_of(f, f->subtree[t].root) - width_of(f, f->subtree[t].root));
    }
    f->shares_solves = f->subtrees > 1 && f->panel[f->count] >= SHARED_SOLVE;
    f->spill = brio__alloc((size_t)f->spills, BATCH * sizeof *f->spill);
    return f->spill ? BRIO_OK : BRIO_ERROR_MEMORY;
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
    for (int32_t J = 0; J < f->n; J++) f->blocks += count[J];
    f->count = find_supernodes(f->block, f->n, parent, count, f->first, height, blocks);
    for (int32_t s = 0; s < f->count; s++)
        for (int32_t J = f->first[s]; J < f->first[s + 1]; J++) f->owner[J] = s;
    BRIO_CHECK(make_structure(f, rows, parent, height, mark, count));
    BRIO_CHECK(make_updates(f));
    return make_subtrees(f, (double *)blocks, parent, count, mark);
}

BrioStatus brio__ldlt_create(const BrioMatrix *A, int block, void **self)
{
    *self = NULL;
    if (A->n > INT32_MAX / 3) return BRIO_ERROR_TOO_LARGE;
    Ldlt *f = brio__calloc(1, sizeof *f);
    if (!f) return BRIO_ERROR_MEMORY;
    f->block = block;
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
        brio__ldlt_destroy(f);
        return status;
    }
    *self = f;
    return BRIO_OK;
}

static BrioStatus ldlt_create(const BrioMatrix *A, const BrioLinearOptions *options, void **self)
{
    (void)options;
    return brio__ldlt_create(A, 3, self);
}

/* ---- numbers ---------------------------------------------------------------------------- */

/* Calls task(job, worker, i) for i in [0, count): workers take the next one when they have time. */
typedef struct Job Job;
struct Job {
    Ldlt *f;
    const BrioMatrix *A;
    const bool *changed; /* supernodes to do; NULL: all */
    void (*task)(Job *job, Worker *worker, int32_t i);
    int32_t count;
    /* of a panel of the top: block rows at a time, first scalar column of the slice */
    int32_t supernode, chunk, slice;
    int columns; /* of a solve, and the right-hand sides */
    double *x;
    atomic_int next;
    atomic_bool failed;
};

static void work(void *context, int64_t begin, int64_t end)
{
    Job *job = context;
    for (int64_t w = begin; w < end; w++)
        for (int32_t i; (i = atomic_fetch_add(&job->next, 1)) < job->count && !job->failed;)
            job->task(job, &job->f->worker[w], i);
}

static void distribute(Job *job, int32_t count, void (*task)(Job *job, Worker *worker, int32_t i))
{
    job->count = count;
    job->task = task;
    job->next = 0;
    brio__parallel_for(BRIO_MIN(job->f->workers, count), 1, work, job);
}

static void map_rows(const Ldlt *f, int32_t s, int32_t *map)
{
    int32_t height = height_of(f, s);
    for (int32_t r = 0; r < height; r++) map[f->row[f->row_start[s] + r]] = r;
}

static void load_columns(const Ldlt *f, const BrioMatrix *A, int32_t s, const int32_t *map,
                         int32_t begin, int32_t end)
{
    int block = f->block;
    int64_t stride = block * (int64_t)height_of(f, s);
    for (int32_t J = begin; J < end; J++) {
        int64_t length = block * (A->start[J + 1] - A->start[J]);
        const double *from = A->value + block * block * A->start[J];
        double *to = f->value + f->panel[s] + block * (J - f->first[s]) * stride;
        memset(to, 0, (size_t)block * sizeof *to * (size_t)stride);
        for (int64_t k = A->start[J]; k < A->start[J + 1]; k++, from += block)
            for (int c = 0; c < block; c++)
                for (int r = 0; r < block; r++)
                    to[c * stride + block * map[A->row[k]] + r] = from[c * length + r];
    }
}

/* Subtracts what earlier supernodes contribute to rows [begin, end) of the panel of s. */
static void apply_updates(const Ldlt *f, int32_t s, const int32_t *map, Worker *worker,
                          int32_t begin, int32_t end)
{
    const int32_t *own = f->row + f->row_start[s];
    int32_t height = height_of(f, s), *place = worker->place;
    int block = f->block;
    for (int64_t u = f->update_start[s]; u < f->update_start[s + 1]; u++) {
        int32_t d = f->update[u].from;
        int32_t from = f->update[u].begin;
        int32_t to = end_of_update(f, d, from);
        int32_t tall = height_of(f, d);
        const int32_t *row = f->row + f->row_start[d];
        int32_t low = begin == 0 ? from : brio__first_row(row, from, tall, own[begin]);
        int32_t high = end == height ? tall : brio__first_row(row, low, tall, own[end]);
        if (low == high) continue;
        for (int32_t r = from; r < BRIO_MAX(high, to); r = r + 1 == to ? BRIO_MAX(to, low) : r + 1)
            for (int c = 0; c < block; c++) place[block * (r - from) + c] = block * map[row[r]] + c;
        f->kernels->update(block * (low - from), block * (high - from), block * (to - from),
                           block * (int64_t)tall, block * width_of(f, d),
                           f->value + f->panel[d] + block * from, place, f->value + f->panel[s],
                           block * (int64_t)height, worker->packed_rows);
    }
}

/* A panel as a dense matrix: Cholesky of the square on top, and its inverse transpose applied to
 * the rest from the right, by slices of columns: finish a slice, then subtract its product from
 * what follows. */
static void finish_rows(const Ldlt *f, int32_t s, int64_t slice, int64_t begin, int64_t end)
{
    int64_t stride = f->block * (int64_t)height_of(f, s);
    int64_t last = BRIO_MIN(slice + SLICE, f->block * (int64_t)width_of(f, s));
    double *column = f->value + f->panel[s] + stride * slice;
    f->kernels->below(end - begin, last - slice, stride, column + slice, column + begin);
}

static void subtract_slice(const Ldlt *f, int32_t s, int64_t slice, int64_t begin, int64_t end,
                           double *packed_rows)
{
    int64_t stride = f->block * (int64_t)height_of(f, s);
    int64_t width = f->block * (int64_t)width_of(f, s);
    int64_t last = slice + SLICE;
    double *panel = f->value + f->panel[s];
    f->kernels->update(begin - last, end - last, width - last, stride, SLICE,
                       panel + stride * slice + last, NULL, panel + stride * last + last, stride,
                       packed_rows);
}

static bool factor_square(const Ldlt *f, int32_t s, int64_t slice)
{
    int64_t stride = f->block * (int64_t)height_of(f, s);
    int64_t last = BRIO_MIN(slice + SLICE, f->block * (int64_t)width_of(f, s));
    return f->kernels->square(last - slice, stride,
                              f->value + f->panel[s] + stride * slice + slice);
}

static bool factor_supernode(const Ldlt *f, const BrioMatrix *A, Worker *worker, int32_t s)
{
    int64_t height = f->block * (int64_t)height_of(f, s);
    int64_t width = f->block * (int64_t)width_of(f, s);
    map_rows(f, s, worker->map);
    load_columns(f, A, s, worker->map, f->first[s], f->first[s + 1]);
    apply_updates(f, s, worker->map, worker, 0, height_of(f, s));
    for (int64_t slice = 0; slice < width; slice += SLICE) {
        int64_t last = BRIO_MIN(slice + SLICE, width);
        if (!factor_square(f, s, slice)) return false;
        finish_rows(f, s, slice, last, height);
        if (last < width) subtract_slice(f, s, slice, last, height, worker->packed_rows);
    }
    return true;
}

static void factor_subtree(Job *job, Worker *worker, int32_t i)
{
    const Subtree *subtree = &job->f->subtree[i];
    if (job->changed && !job->changed[subtree->root]) return;
    for (int32_t s = subtree->first; s <= subtree->root && !job->failed; s++)
        if ((!job->changed || job->changed[s]) && !factor_supernode(job->f, job->A, worker, s))
            job->failed = true;
}

/* ---- a panel shared among threads ------------------------------------------------------- */

/* The map of the panel is that of the first worker. */
static void load_chunk(Job *job, Worker *worker, int32_t i)
{
    (void)worker;
    const Ldlt *f = job->f;
    int32_t begin = f->first[job->supernode] + i * job->chunk;
    int32_t end = BRIO_MIN(begin + job->chunk, f->first[job->supernode + 1]);
    load_columns(f, job->A, job->supernode, f->worker[0].map, begin, end);
}

static void update_chunk(Job *job, Worker *worker, int32_t i)
{
    int32_t begin = i * job->chunk;
    int32_t end = BRIO_MIN(begin + job->chunk, height_of(job->f, job->supernode));
    apply_updates(job->f, job->supernode, job->f->worker[0].map, worker, begin, end);
}

static void finish_chunk(Job *job, Worker *worker, int32_t i)
{
    (void)worker;
    int64_t height = job->f->block * (int64_t)height_of(job->f, job->supernode);
    int64_t begin = job->slice + SLICE + job->f->block * (int64_t)job->chunk * i;
    finish_rows(job->f, job->supernode, job->slice, begin,
                BRIO_MIN(begin + job->f->block * job->chunk, height));
}

static void subtract_chunk(Job *job, Worker *worker, int32_t i)
{
    int64_t height = job->f->block * (int64_t)height_of(job->f, job->supernode);
    int64_t begin = job->slice + SLICE + job->f->block * (int64_t)job->chunk * i;
    subtract_slice(job->f, job->supernode, job->slice, begin,
                   BRIO_MIN(begin + job->f->block * job->chunk, height), worker->packed_rows);
}

static bool factor_shared(Job *job, int32_t s)
{
    Ldlt *f = job->f;
    int32_t height = height_of(f, s), width = width_of(f, s), block = f->block;
    int32_t chunk = BRIO_MAX(MIN_CHUNK, (height + CHUNKS - 1) / CHUNKS);
    job->supernode = s;
    job->chunk = chunk;
    map_rows(f, s, f->worker[0].map);
    distribute(job, (width + chunk - 1) / chunk, load_chunk);
    distribute(job, (height + chunk - 1) / chunk, update_chunk);
    for (job->slice = 0; job->slice < block * width; job->slice += SLICE) {
        int32_t last = BRIO_MIN(job->slice + SLICE, block * width);
        int32_t chunks = (block * (height + chunk) - last - 1) / (block * chunk);
        if (!factor_square(f, s, job->slice)) return false;
        if (last < block * width) {
            distribute(job, chunks, finish_chunk);
            distribute(job, chunks, subtract_chunk);
        } else {
            finish_rows(f, s, job->slice, last, block * height);
        }
    }
    return true;
}

BrioStatus brio__ldlt_factor_again(void *self, const BrioMatrix *A, const bool *changed)
{
    Ldlt *f = self;
    Job job = {.f = f, .A = A, .changed = changed};
    distribute(&job, f->subtrees, factor_subtree);
    for (int32_t t = 0; t < f->tops && !job.failed; t++) {
        int32_t s = f->top[t];
        if (changed && !changed[s]) continue;
        bool shared = f->workers > 1 && f->cost[s] >= SHARED_PANEL;
        if (!(shared ? factor_shared(&job, s) : factor_supernode(f, A, &f->worker[0], s)))
            job.failed = true;
    }
    return job.failed ? BRIO_NOT_POSITIVE_DEFINITE : BRIO_OK;
}

BrioStatus brio__ldlt_factor(void *self, const BrioMatrix *A)
{
    return brio__ldlt_factor_again(self, A, NULL);
}

/* ---- solves ----------------------------------------------------------------------------- */

/* x = L^-1 x for one supernode; sums for rows from `limit` on are subtracted from spill, where the
 * map says. */
static void solve_forward(const Ldlt *f, Worker *worker, int32_t s, int columns, double *x,
                          int32_t limit, double *spill)
{
    int32_t height = height_of(f, s), width = width_of(f, s);
    const int32_t *row = f->row + f->row_start[s] + width;
    int32_t inside = brio__first_row(row, 0, height - width, limit);
    for (int j = 0; j < columns; j++, x += 3 * (int64_t)f->n, spill += f->spills) {
        f->kernels->forward(3 * (int64_t)height, 3 * (int64_t)width, f->value + f->panel[s],
                            x + 3 * (int64_t)f->first[s], worker->below);
        for (int32_t r = 0; r < inside; r++)
            for (int c = 0; c < 3; c++) x[3 * (int64_t)row[r] + c] -= worker->below[3 * r + c];
        for (int32_t r = inside; r < height - width; r++)
            for (int c = 0; c < 3; c++)
                spill[3 * (int64_t)worker->map[row[r]] + c] -= worker->below[3 * r + c];
    }
}

static void solve_backward(const Ldlt *f, Worker *worker, int32_t s, int columns, double *x)
{
    int32_t height = height_of(f, s), width = width_of(f, s);
    const int32_t *row = f->row + f->row_start[s] + width;
    for (int j = 0; j < columns; j++, x += 3 * (int64_t)f->n) {
        for (int32_t r = 0; r < height - width; r++)
            memcpy(worker->below + 3 * r, x + 3 * (int64_t)row[r], 3 * sizeof *worker->below);
        f->kernels->backward(3 * (int64_t)height, 3 * (int64_t)width, f->value + f->panel[s],
                             x + 3 * (int64_t)f->first[s], worker->below);
    }
}

/* What a subtree contributes to rows above is summed apart: they are those of its root's panel. */
static void forward_subtree(Job *job, Worker *worker, int32_t i)
{
    const Ldlt *f = job->f;
    const Subtree *subtree = &f->subtree[i];
    int32_t width = width_of(f, subtree->root), rows = height_of(f, subtree->root) - width;
    const int32_t *row = f->row + f->row_start[subtree->root] + width;
    double *spill = f->spill + subtree->spill;
    for (int32_t r = 0; r < rows; r++) worker->map[row[r]] = r;
    for (int j = 0; j < job->columns; j++)
        memset(spill + j * f->spills, 0, 3 * sizeof *spill * (size_t)rows);
    for (int32_t s = subtree->first; s <= subtree->root; s++)
        solve_forward(f, worker, s, job->columns, job->x, f->first[subtree->root + 1], spill);
}

static void backward_subtree(Job *job, Worker *worker, int32_t i)
{
    for (int32_t s = job->f->subtree[i].root; s >= job->f->subtree[i].first; s--)
        solve_backward(job->f, worker, s, job->columns, job->x);
}

static void add_spills(const Job *job)
{
    const Ldlt *f = job->f;
    for (int j = 0; j < job->columns; j++)
        for (int32_t t = 0; t < f->subtrees; t++) {
            int32_t root = f->subtree[t].root;
            int32_t width = width_of(f, root);
            int32_t rows = height_of(f, root) - width;
            const int32_t *row = f->row + f->row_start[root] + width;
            const double *spill = f->spill + j * f->spills + f->subtree[t].spill;
            double *x = job->x + 3 * (int64_t)f->n * j;
            for (int32_t r = 0; r < rows; r++)
                for (int c = 0; c < 3; c++) x[3 * (int64_t)row[r] + c] += spill[3 * r + c];
        }
}

static BrioStatus ldlt_solve(void *self, const BrioMatrix *A, int k, double *x)
{
    Ldlt *f = self;
    Worker *worker = &f->worker[0];
    if (!f->shares_solves) {
        for (int32_t s = 0; s < f->count; s++) solve_forward(f, worker, s, k, x, f->n, NULL);
        for (int32_t s = f->count - 1; s >= 0; s--) solve_backward(f, worker, s, k, x);
        return BRIO_OK;
    }
    for (int done = 0; done < k; done += BATCH) {
        Job job = {.f = f,
                   .A = A,
                   .columns = BRIO_MIN(BATCH, k - done),
                   .x = x + 3 * (int64_t)f->n * done};
        distribute(&job, f->subtrees, forward_subtree);
        add_spills(&job);
        for (int32_t t = 0; t < f->tops; t++)
            solve_forward(f, worker, f->top[t], job.columns, job.x, f->n, NULL);
        for (int32_t t = f->tops - 1; t >= 0; t--)
            solve_backward(f, worker, f->top[t], job.columns, job.x);
        distribute(&job, f->subtrees, backward_subtree);
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
                   8.0 * (double)f->update_start[f->count] + 40.0 * f->count +
                   (4.0 + 4.0 * f->workers) * f->n + 8.0 * BATCH * (double)f->spills;
}

void brio__ldlt_panels(const void *self, BrioPanels *panels)
{
    const Ldlt *f = self;
    *panels = (BrioPanels){.count = f->count,
                           .first = f->first,
                           .owner = f->owner,
                           .row_start = f->row_start,
                           .row = f->row,
                           .panel = f->panel,
                           .value = f->value,
                           .blocks = f->blocks,
                           .flops = f->flops};
}

const BrioLinearType brio__solver_ldlt = {
    .name = "ldlt",
    .summary = "Direct, built in: supernodal Cholesky with nested dissection; needs no library, "
               "fastest on small bodies.",
    .citation = "Ng1993",
    .order = brio__order_dissection,
    .create = ldlt_create,
    .factor = brio__ldlt_factor,
    .solve = ldlt_solve,
    .stats = ldlt_stats,
    .destroy = brio__ldlt_destroy,
};
