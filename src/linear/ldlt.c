/* The built-in direct solver: multifrontal Cholesky A = L L^T (fronts.h), with no library behind
 * it. Ordering and pattern are found once, by create; factor and solve allocate nothing.
 *
 * Solves go through the same tree: subtrees are shared out, the top follows. What a subtree
 * contributes to the rows above it is summed apart and added in a fixed order: the bits do not
 * depend on the number of threads. */
#include "fronts.h"
#include "order.h"

#include <string.h>

typedef struct Kernels {
    void (*forward)(int64_t height, int64_t width, const double *panel, double *x, double *sum);
    void (*backward)(int64_t height, int64_t width, const double *panel, double *x,
                     const double *below);
} Kernels;

#define KERNEL(name) name##_baseline
#define KERNEL_TARGET
#define KERNEL_LANES 2
#include "ldlt_kernel.h"

#if defined(__x86_64__)
#define KERNEL(name) name##_avx2
#define KERNEL_TARGET __attribute__((target("avx2,fma")))
#define KERNEL_LANES 4
#include "ldlt_kernel.h"

#define KERNEL(name) name##_avx512
#define KERNEL_TARGET __attribute__((target("avx512f,avx512dq,avx512vl")))
#define KERNEL_LANES 8
#include "ldlt_kernel.h"
#endif

enum {
    SHARED_SOLVE = 400000, /* entries of L from which a solve is shared out */
    BATCH = 4              /* right-hand sides that are solved at a time */
};

/* What a thread needs for itself. */
typedef struct Worker {
    int32_t *map; /* n: block row -> row of what a subtree contributes */
    double *below;
} Worker;

typedef struct Ldlt {
    const Kernels *kernels;
    BrioPanels L;
    BrioFronts *fronts;
    const BrioPanelsTree *tree;
    int64_t *spill_start; /* of each subtree: where its sums for the rows of others begin */
    double *spill;        /* BATCH times what the subtrees need */
    int64_t spills;
    int workers;
    Worker worker[BRIO_MAX_WORKERS];
} Ldlt;

static int32_t width_of(const Ldlt *f, int32_t s) { return brio__panel_width(&f->L, s); }
static int32_t height_of(const Ldlt *f, int32_t s) { return brio__panel_height(&f->L, s); }

static void ldlt_destroy(void *self)
{
    Ldlt *f = self;
    brio__fronts_free(f->fronts);
    brio__panels_free(&f->L);
    brio__free(f->spill_start);
    brio__free(f->spill);
    for (int w = 0; w < BRIO_MAX_WORKERS; w++) {
        brio__free(f->worker[w].map);
        brio__free(f->worker[w].below);
    }
    brio__free(f);
}

/* The supernode at which a subtree ends. */
static int32_t root_of(const Ldlt *f, int32_t subtree)
{
    return f->tree->sequence[f->tree->subtree[subtree].last];
}

static BrioStatus prepare_solves(Ldlt *f)
{
    f->spill_start = brio__alloc((size_t)f->tree->subtrees, sizeof *f->spill_start);
    if (!f->spill_start) return BRIO_ERROR_MEMORY;
    for (int32_t t = 0; t < f->tree->subtrees; t++) {
        f->spill_start[t] = f->spills;
        f->spills += 3 * (int64_t)(height_of(f, root_of(f, t)) - width_of(f, root_of(f, t)));
    }
    f->spill = brio__alloc((size_t)f->spills, BATCH * sizeof *f->spill);
    if (!f->spill) return BRIO_ERROR_MEMORY;
    f->workers = brio__workers();
    for (int i = 0; i < f->workers; i++) {
        f->worker[i].map = brio__alloc((size_t)f->L.n, sizeof *f->worker[i].map);
        f->worker[i].below = brio__alloc(3 * (size_t)f->L.tallest, sizeof *f->worker[i].below);
        if (!f->worker[i].map || !f->worker[i].below) return BRIO_ERROR_MEMORY;
    }
    return BRIO_OK;
}

static BrioStatus ldlt_create(const BrioMatrix *A, const BrioLinearOptions *options, void **self)
{
    (void)options;
    *self = NULL;
    Ldlt *f = brio__calloc(1, sizeof *f);
    if (!f) return BRIO_ERROR_MEMORY;
    f->kernels = BRIO_BY_ISA(&kernels_baseline, &kernels_avx2, &kernels_avx512);
    BrioStatus status = brio__panels_create(A, 3, &f->L);
    if (status == BRIO_OK) status = brio__fronts_create(&f->L, &f->fronts);
    if (status == BRIO_OK) {
        f->tree = brio__fronts_tree(f->fronts);
        status = prepare_solves(f);
    }
    if (status == BRIO_OK)
        *self = f;
    else
        ldlt_destroy(f);
    return status;
}

static BrioStatus ldlt_factor(void *self, const BrioMatrix *A)
{
    return brio__fronts_factor(((Ldlt *)self)->fronts, A);
}

/* Some right-hand sides at work. */
typedef struct Job {
    Ldlt *f;
    int columns;
    double *x;
} Job;

/* ---- solves ----------------------------------------------------------------------------- */

/* x = L^-1 x for one supernode; sums for rows from `limit` on are subtracted from spill, where the
 * map says. */
static void solve_forward(const Ldlt *f, Worker *worker, int32_t s, int columns, double *x,
                          int32_t limit, double *spill)
{
    int32_t height = height_of(f, s), width = width_of(f, s);
    const int32_t *row = f->L.row + f->L.row_start[s] + width;
    int32_t inside = brio__first_row(row, 0, height - width, limit);
    for (int j = 0; j < columns; j++, x += 3 * (int64_t)f->L.n, spill += f->spills) {
        f->kernels->forward(3 * (int64_t)height, 3 * (int64_t)width, f->L.value + f->L.panel[s],
                            x + 3 * (int64_t)f->L.first[s], worker->below);
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
    const int32_t *row = f->L.row + f->L.row_start[s] + width;
    for (int j = 0; j < columns; j++, x += 3 * (int64_t)f->L.n) {
        for (int32_t r = 0; r < height - width; r++)
            memcpy(worker->below + 3 * r, x + 3 * (int64_t)row[r], 3 * sizeof *worker->below);
        f->kernels->backward(3 * (int64_t)height, 3 * (int64_t)width, f->L.value + f->L.panel[s],
                             x + 3 * (int64_t)f->L.first[s], worker->below);
    }
}

/* What a subtree contributes to rows above is summed apart: they are those of its root's panel. */
static bool forward_subtree(void *context, int w, int32_t i)
{
    const Job *job = context;
    const Ldlt *f = job->f;
    Worker *worker = &job->f->worker[w];
    const BrioSubtree *subtree = &f->tree->subtree[i];
    int32_t root = root_of(f, i), width = width_of(f, root), rows = height_of(f, root) - width;
    const int32_t *row = f->L.row + f->L.row_start[root] + width;
    double *spill = f->spill + f->spill_start[i];
    int32_t limit = rows ? row[0] : f->L.n;
    for (int32_t r = 0; r < rows; r++) worker->map[row[r]] = r;
    for (int j = 0; j < job->columns; j++)
        memset(spill + j * f->spills, 0, 3 * sizeof *spill * (size_t)rows);
    for (int32_t k = subtree->first; k <= subtree->last; k++)
        solve_forward(f, worker, f->tree->sequence[k], job->columns, job->x, limit, spill);
    return true;
}

static bool backward_subtree(void *context, int w, int32_t i)
{
    const Job *job = context;
    const Ldlt *f = job->f;
    for (int32_t k = f->tree->subtree[i].last; k >= f->tree->subtree[i].first; k--)
        solve_backward(f, &job->f->worker[w], f->tree->sequence[k], job->columns, job->x);
    return true;
}

static void add_spills(const Job *job)
{
    const Ldlt *f = job->f;
    for (int j = 0; j < job->columns; j++)
        for (int32_t t = 0; t < f->tree->subtrees; t++) {
            int32_t root = root_of(f, t), width = width_of(f, root);
            int32_t rows = height_of(f, root) - width;
            const int32_t *row = f->L.row + f->L.row_start[root] + width;
            const double *spill = f->spill + j * f->spills + f->spill_start[t];
            double *x = job->x + 3 * (int64_t)f->L.n * j;
            for (int32_t r = 0; r < rows; r++)
                for (int c = 0; c < 3; c++) x[3 * (int64_t)row[r] + c] += spill[3 * r + c];
        }
}

static BrioStatus ldlt_solve(void *self, const BrioMatrix *A, int k, double *x)
{
    (void)A;
    Ldlt *f = self;
    const BrioPanelsTree *tree = f->tree;
    /* the sums of subtrees are the same whoever makes them */
    int workers = f->L.panel[f->L.count] >= SHARED_SOLVE ? f->workers : 1;
    for (int done = 0; done < k; done += BATCH) {
        Job job = {f, BRIO_MIN(BATCH, k - done), x + 3 * (int64_t)f->L.n * done};
        brio__distribute(workers, tree->subtrees, forward_subtree, &job);
        add_spills(&job);
        for (int32_t t = 0; t < tree->tops; t++)
            solve_forward(f, &f->worker[0], tree->top[t], job.columns, job.x, f->L.n, NULL);
        for (int32_t t = tree->tops - 1; t >= 0; t--)
            solve_backward(f, &f->worker[0], tree->top[t], job.columns, job.x);
        brio__distribute(workers, tree->subtrees, backward_subtree, &job);
    }
    return BRIO_OK;
}

static void ldlt_stats(const void *self, BrioLinearStats *stats)
{
    const Ldlt *f = self;
    for (int32_t s = 0; s < f->L.count; s++) { /* the trapezoids, without the square's upper half */
        double height = 3.0 * height_of(f, s), width = 3.0 * width_of(f, s);
        stats->factor_nonzeros += height * width - width * (width - 1) / 2;
    }
    stats->factor_flops = f->L.flops;
    stats->bytes = brio__panels_bytes(&f->L) + brio__fronts_bytes(f->fronts) +
                   4.0 * f->workers * f->L.n + 8.0 * BATCH * (double)f->spills;
}

const BrioLinearType brio__solver_ldlt = {
    .name = "ldlt",
    .summary = "Direct, built in: multifrontal Cholesky with nested dissection; needs no library.",
    .citation = "Liu1992",
    .order = brio__order_dissection,
    .create = ldlt_create,
    .factor = ldlt_factor,
    .solve = ldlt_solve,
    .stats = ldlt_stats,
    .destroy = ldlt_destroy,
};
