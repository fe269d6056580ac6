/* Left-looking supernodal Cholesky (left.h).
 *
 * Threads: subtrees are shared out; the top follows, one panel after the other, whose rows are
 * shared out if there is enough to do. Every sum has its fixed order: the bits do not depend on the
 * number of threads. */
#include "left.h"

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
} Kernels;

enum {
    MAX_ROWS = 16, /* of a tile on any instruction set: the padding of the panels */
    SLICE = 96     /* columns that are multiplied at a time, so that they stay in the cache */
};

#define KERNEL(name) name##_baseline
#define KERNEL_TARGET
#define KERNEL_LANES 2
#define KERNEL_FMA(a, b, c) ((a) * (b) + (c))
#include "left_kernel.h"

#if defined(__x86_64__)
#define KERNEL(name) name##_avx2
#define KERNEL_TARGET __attribute__((target("avx2,fma")))
#define KERNEL_LANES 4
#define KERNEL_FMA(a, b, c) ((Vector_avx2)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#include "left_kernel.h"

#define KERNEL(name) name##_avx512
#define KERNEL_TARGET __attribute__((target("avx512f,avx512dq,avx512vl")))
#define KERNEL_LANES 8
#define KERNEL_FMA(a, b, c) \
    ((Vector_avx512)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#include "left_kernel.h"
#endif

/* ---- pattern ---------------------------------------------------------------------------- */

/* Sizes that decide what is shared among threads. */
enum {
    SHARED_FACTOR = 3000000, /* operations from which a factorisation is shared out */
    SHARED_PANEL = 3000000,  /* and a panel of the top */
    /* block rows of a shared panel that are done at a time, and into how many it is cut at most */
    MIN_CHUNK = 32,
    CHUNKS = 8
};

/* Panel `from` reaches into a later one, with its rows from `begin` on. */
typedef struct Update {
    int32_t from, begin;
} Update;

/* What a thread needs for itself. */
typedef struct Worker {
    int32_t *map;        /* n: block row -> row in the current panel */
    int32_t *place;      /* scalar rows of an update in the current panel */
    double *packed_rows; /* of updates */
} Worker;

struct BrioLeft {
    const Kernels *kernels;
    BrioPanels L;
    BrioPanelsTree tree;
    int64_t *update_start; /* count+1: into update */
    Update *update;        /* of each supernode, ascending */
    double *cost;          /* of each supernode: operations of its updates and its panel */
    int workers;
    Worker worker[BRIO_MAX_WORKERS];
};

static int32_t width_of(const BrioLeft *f, int32_t s) { return brio__panel_width(&f->L, s); }
static int32_t height_of(const BrioLeft *f, int32_t s) { return brio__panel_height(&f->L, s); }

void brio__left_free(BrioLeft *f)
{
    if (!f) return;
    brio__panels_tree_free(&f->tree);
    brio__free(f->update_start);
    brio__free(f->update);
    brio__free(f->cost);
    for (int w = 0; w < BRIO_MAX_WORKERS; w++) {
        brio__free(f->worker[w].map);
        brio__free(f->worker[w].place);
        brio__free(f->worker[w].packed_rows);
    }
    brio__free(f);
}

/* How far the rows from `begin` on of supernode d are columns of the supernode that owns the first
 * of them. */
static int32_t end_of_update(const BrioLeft *f, int32_t d, int32_t begin)
{
    const int32_t *row = f->L.row + f->L.row_start[d];
    int32_t height = height_of(f, d), beyond = f->L.first[f->L.owner[row[begin]] + 1], end = begin;
    while (end < height && row[end] < beyond) end++;
    return end;
}

/* The updates that each supernode takes, and what it costs. */
static BrioStatus make_updates(BrioLeft *f)
{
    f->update_start = brio__calloc((size_t)f->L.count + 2, sizeof *f->update_start);
    f->cost = brio__alloc((size_t)f->L.count, sizeof *f->cost);
    if (!f->update_start || !f->cost) return BRIO_ERROR_MEMORY;
    for (int32_t s = 0; s < f->L.count; s++) {
        double height = (double)f->L.block * height_of(f, s);
        double width = (double)f->L.block * width_of(f, s);
        f->cost[s] = height * width * width;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t d = 0; d < f->L.count; d++)
            for (int32_t begin = width_of(f, d), end; begin < height_of(f, d); begin = end) {
                int32_t s = f->L.owner[f->L.row[f->L.row_start[d] + begin]];
                end = end_of_update(f, d, begin);
                if (pass == 0) {
                    f->update_start[s + 2]++;
                    f->cost[s] += 2.0 * f->L.block * f->L.block * f->L.block *
                                  (height_of(f, d) - begin) * (end - begin) * width_of(f, d);
                } else {
                    f->update[f->update_start[s + 1]++] = (Update){d, begin};
                }
            }
        if (pass) break;
        for (int32_t s = 0; s < f->L.count; s++) f->update_start[s + 2] += f->update_start[s + 1];
        f->update = brio__alloc((size_t)f->update_start[f->L.count + 1], sizeof *f->update);
        if (!f->update) return BRIO_ERROR_MEMORY;
    }
    return BRIO_OK;
}

static BrioStatus make_workers(BrioLeft *f)
{
    size_t block = (size_t)f->L.block;
    f->workers = brio__workers();
    for (int i = 0; i < f->workers; i++) {
        Worker *w = &f->worker[i];
        w->map = brio__alloc((size_t)f->L.n, sizeof *w->map);
        w->place = brio__alloc(block * (size_t)f->L.tallest, sizeof *w->place);
        /* in one update, columns are rows of one supernode and columns of another */
        w->packed_rows =
            brio__alloc(block * (size_t)f->L.widest + 6, SLICE * sizeof *w->packed_rows);
        if (!w->map || !w->place || !w->packed_rows) return BRIO_ERROR_MEMORY;
    }
    return BRIO_OK;
}

static BrioStatus analyse(BrioLeft *f)
{
    double all = 0;
    BRIO_CHECK(make_updates(f));
    for (int32_t s = 0; s < f->L.count; s++) all += f->cost[s];
    BRIO_CHECK(brio__panels_tree(&f->L, f->cost, all >= SHARED_FACTOR, &f->tree));
    return make_workers(f);
}

BrioStatus brio__left_create(const BrioPanels *panels, BrioLeft **left)
{
    *left = NULL;
    BrioLeft *f = brio__calloc(1, sizeof *f);
    if (!f) return BRIO_ERROR_MEMORY;
    f->L = *panels;
    f->kernels = BRIO_BY_ISA(&kernels_baseline, &kernels_avx2, &kernels_avx512);
    BrioStatus status = analyse(f);
    if (status == BRIO_OK)
        *left = f;
    else
        brio__left_free(f);
    return status;
}

/* ---- numbers ---------------------------------------------------------------------------- */

/* A factorisation at work. */
typedef struct Job {
    BrioLeft *f;
    const BrioMatrix *A;
    const bool *changed; /* supernodes to do; NULL: all */
    /* of a panel of the top: block rows at a time, first scalar column of the slice */
    int32_t supernode, chunk, slice;
} Job;

/* Subtracts what earlier supernodes contribute to rows [begin, end) of the panel of s. */
static void apply_updates(const BrioLeft *f, int32_t s, const int32_t *map, Worker *worker,
                          int32_t begin, int32_t end)
{
    const int32_t *own = f->L.row + f->L.row_start[s];
    int32_t height = height_of(f, s), *place = worker->place;
    int block = f->L.block;
    for (int64_t u = f->update_start[s]; u < f->update_start[s + 1]; u++) {
        int32_t d = f->update[u].from;
        int32_t from = f->update[u].begin;
        int32_t to = end_of_update(f, d, from);
        int32_t tall = height_of(f, d);
        const int32_t *row = f->L.row + f->L.row_start[d];
        int32_t low = begin == 0 ? from : brio__first_row(row, from, tall, own[begin]);
        int32_t high = end == height ? tall : brio__first_row(row, low, tall, own[end]);
        if (low == high) continue;
        for (int32_t r = from; r < BRIO_MAX(high, to); r = r + 1 == to ? BRIO_MAX(to, low) : r + 1)
            for (int c = 0; c < block; c++) place[block * (r - from) + c] = block * map[row[r]] + c;
        f->kernels->update(
            block * (low - from), block * (high - from), block * (to - from), block * (int64_t)tall,
            block * width_of(f, d), f->L.value + f->L.panel[d] + block * from, place,
            f->L.value + f->L.panel[s], block * (int64_t)height, worker->packed_rows);
    }
}

/* A panel as a dense matrix: Cholesky of the square on top, and its inverse transpose applied to
 * the rest from the right, by slices of columns: finish a slice, then subtract its product from
 * what follows. */
static void finish_rows(const BrioLeft *f, int32_t s, int64_t slice, int64_t begin, int64_t end)
{
    int64_t stride = f->L.block * (int64_t)height_of(f, s);
    int64_t last = BRIO_MIN(slice + SLICE, f->L.block * (int64_t)width_of(f, s));
    double *column = f->L.value + f->L.panel[s] + stride * slice;
    f->kernels->below(end - begin, last - slice, stride, column + slice, column + begin);
}

static void subtract_slice(const BrioLeft *f, int32_t s, int64_t slice, int64_t begin, int64_t end,
                           double *packed_rows)
{
    int64_t stride = f->L.block * (int64_t)height_of(f, s);
    int64_t width = f->L.block * (int64_t)width_of(f, s);
    int64_t last = slice + SLICE;
    double *panel = f->L.value + f->L.panel[s];
    f->kernels->update(begin - last, end - last, width - last, stride, SLICE,
                       panel + stride * slice + last, NULL, panel + stride * last + last, stride,
                       packed_rows);
}

static bool factor_square(const BrioLeft *f, int32_t s, int64_t slice)
{
    int64_t stride = f->L.block * (int64_t)height_of(f, s);
    int64_t last = BRIO_MIN(slice + SLICE, f->L.block * (int64_t)width_of(f, s));
    return f->kernels->square(last - slice, stride,
                              f->L.value + f->L.panel[s] + stride * slice + slice);
}

static bool factor_supernode(const BrioLeft *f, const BrioMatrix *A, Worker *worker, int32_t s)
{
    int64_t height = f->L.block * (int64_t)height_of(f, s);
    int64_t width = f->L.block * (int64_t)width_of(f, s);
    brio__panel_map(&f->L, s, worker->map);
    brio__panel_load(&f->L, A, s, worker->map, f->L.first[s], f->L.first[s + 1]);
    apply_updates(f, s, worker->map, worker, 0, height_of(f, s));
    for (int64_t slice = 0; slice < width; slice += SLICE) {
        int64_t last = BRIO_MIN(slice + SLICE, width);
        if (!factor_square(f, s, slice)) return false;
        finish_rows(f, s, slice, last, height);
        if (last < width) subtract_slice(f, s, slice, last, height, worker->packed_rows);
    }
    return true;
}

static bool factor_subtree(void *context, int worker, int32_t i)
{
    const Job *job = context;
    const BrioLeft *f = job->f;
    const BrioSubtree *subtree = &f->tree.subtree[i];
    for (int32_t k = subtree->first; k <= subtree->last; k++) {
        int32_t s = f->tree.sequence[k];
        if ((!job->changed || job->changed[s]) &&
            !factor_supernode(f, job->A, &job->f->worker[worker], s))
            return false;
    }
    return true;
}

/* ---- a panel shared among threads ------------------------------------------------------- */

/* The map of the panel is that of the first worker. */
static bool load_chunk(void *context, int worker, int32_t i)
{
    const Job *job = context;
    (void)worker;
    const BrioLeft *f = job->f;
    int32_t begin = f->L.first[job->supernode] + i * job->chunk;
    int32_t end = BRIO_MIN(begin + job->chunk, f->L.first[job->supernode + 1]);
    brio__panel_load(&f->L, job->A, job->supernode, f->worker[0].map, begin, end);
    return true;
}

static bool update_chunk(void *context, int worker, int32_t i)
{
    const Job *job = context;
    int32_t begin = i * job->chunk;
    int32_t end = BRIO_MIN(begin + job->chunk, height_of(job->f, job->supernode));
    apply_updates(job->f, job->supernode, job->f->worker[0].map, &job->f->worker[worker], begin,
                  end);
    return true;
}

static bool finish_chunk(void *context, int worker, int32_t i)
{
    const Job *job = context;
    (void)worker;
    int64_t height = job->f->L.block * (int64_t)height_of(job->f, job->supernode);
    int64_t begin = job->slice + SLICE + job->f->L.block * (int64_t)job->chunk * i;
    finish_rows(job->f, job->supernode, job->slice, begin,
                BRIO_MIN(begin + job->f->L.block * job->chunk, height));
    return true;
}

static bool subtract_chunk(void *context, int worker, int32_t i)
{
    const Job *job = context;
    int64_t height = job->f->L.block * (int64_t)height_of(job->f, job->supernode);
    int64_t begin = job->slice + SLICE + job->f->L.block * (int64_t)job->chunk * i;
    subtract_slice(job->f, job->supernode, job->slice, begin,
                   BRIO_MIN(begin + job->f->L.block * job->chunk, height),
                   job->f->worker[worker].packed_rows);
    return true;
}

static bool factor_shared(Job *job, int32_t s)
{
    BrioLeft *f = job->f;
    int32_t height = height_of(f, s), width = width_of(f, s), block = f->L.block;
    int32_t chunk = BRIO_MAX(MIN_CHUNK, (height + CHUNKS - 1) / CHUNKS);
    job->supernode = s;
    job->chunk = chunk;
    brio__panel_map(&f->L, s, f->worker[0].map);
    brio__distribute(f->workers, (width + chunk - 1) / chunk, load_chunk, job);
    brio__distribute(f->workers, (height + chunk - 1) / chunk, update_chunk, job);
    for (job->slice = 0; job->slice < block * width; job->slice += SLICE) {
        int32_t last = BRIO_MIN(job->slice + SLICE, block * width);
        int32_t chunks = (block * (height + chunk) - last - 1) / (block * chunk);
        if (!factor_square(f, s, job->slice)) return false;
        if (last < block * width) {
            brio__distribute(f->workers, chunks, finish_chunk, job);
            brio__distribute(f->workers, chunks, subtract_chunk, job);
        } else {
            finish_rows(f, s, job->slice, last, block * height);
        }
    }
    return true;
}

BrioStatus brio__left_factor(BrioLeft *f, const BrioMatrix *A, const bool *changed)
{
    Job job = {.f = f, .A = A, .changed = changed};
    bool good = brio__distribute(f->workers, f->tree.subtrees, factor_subtree, &job);
    for (int32_t t = 0; t < f->tree.tops && good; t++) {
        int32_t s = f->tree.top[t];
        if (changed && !changed[s]) continue;
        bool shared = f->workers > 1 && f->cost[s] >= SHARED_PANEL;
        good = shared ? factor_shared(&job, s) : factor_supernode(f, A, &f->worker[0], s);
    }
    return good ? BRIO_OK : BRIO_NOT_POSITIVE_DEFINITE;
}
