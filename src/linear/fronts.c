/* Multifrontal Cholesky (fronts.h).
 *
 * Order of work at supernode s, with X the rows of its panel below its own columns:
 *
 *     panel = A + what the children pass on to its columns,    panel -> L,
 *     U     = -X X^T + the rest of what the children pass on.
 *
 * The update matrices U are on two stacks, one for even and one for odd
 * depths in the tree: a parent is written beside its children, which are the last on the other
 * stack.
 *
 * Threads: the tree is cut into subtrees, none of which is more than a fixed fraction of the work,
 * and the top that joins them. Subtrees are shared out; the top follows, front by front, whose
 * products are shared out if there is enough to do. The cuts are a function of the pattern, and
 * every sum has its fixed order: the bits do not depend on the number of threads. */
#include "fronts.h"

#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
    SLICE = 96,    /* columns of a panel that are finished at a time */
    DEPTH = 192,   /* columns of X that are multiplied at a time */
    MAX_ROWS = 24, /* of a tile on any instruction set */
    MAX_COLUMNS = 8,
    SHARED_FACTOR = 3000000, /* operations from which a factorisation is shared out */
    SHARED_FRONT = 1000000,  /* and a front of the top */
    CHUNK = 48               /* scalar rows of a shared front that are done at a time */
};

typedef struct Kernels {
    void (*pack_columns)(int64_t begin, int64_t end, int64_t rows, int64_t depth, const double *x,
                         int64_t stride, double *packed);
    void (*multiply)(int64_t begin, int64_t end, int64_t columns, int64_t depth, const double *x,
                     int64_t x_stride, const double *packed, double *C, int64_t stride, bool set,
                     bool padded, double *strip);
    void (*below)(int64_t rows, int64_t width, const double *packed, const double *inverse,
                  double *x, int64_t stride, double *strip);
    bool (*square)(int64_t width, int64_t stride, double *x, double *packed, double *inverse,
                   double *strip);
    void (*pass)(int block, int32_t begin, int32_t end, int32_t rows, const int32_t *up,
                 const int32_t *runs, const double *U, int64_t U_stride, int32_t first, double *to,
                 int64_t stride);
} Kernels;

static inline void add_few(int64_t count, const double *from, double *to)
{
    for (int64_t i = 0; i < count; i++) to[i] += from[i];
}

#define KERNEL(name) name##_baseline
#define KERNEL_TARGET
#define KERNEL_LANES 2
#define KERNEL_COLUMNS 4
#define KERNEL_SUBTRACT(a, b, c) ((c) - (a) * (b))
#define KERNEL_FMA(a, b, c) ((a) * (b) + (c))
#define KERNEL_ADD_FEW add_few
#include "fronts_kernel.h"

#if defined(__x86_64__)
#define KERNEL(name) name##_avx2
#define KERNEL_TARGET __attribute__((target("avx2,fma")))
#define KERNEL_LANES 4
#define KERNEL_COLUMNS 4
#define KERNEL_ADD_FEW add_few
#define KERNEL_SUBTRACT(a, b, c) \
    ((Vector_avx2)_mm256_fnmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#define KERNEL_FMA(a, b, c) ((Vector_avx2)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#include "fronts_kernel.h"

__attribute__((target("avx512f"))) static inline void add_few_avx512(int64_t count,
                                                                     const double *from, double *to)
{
    if (count == 0) return;
    __mmask8 few = (__mmask8)((1 << count) - 1);
    __m512d sum = _mm512_add_pd(_mm512_maskz_loadu_pd(few, to), _mm512_maskz_loadu_pd(few, from));
    _mm512_mask_storeu_pd(to, few, sum);
}

#define KERNEL(name) name##_avx512
#define KERNEL_ADD_FEW add_few_avx512
#define KERNEL_SUBTRACT(a, b, c) \
    ((Vector_avx512)_mm512_fnmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#define KERNEL_TARGET __attribute__((target("avx512f,avx512dq,avx512vl")))
#define KERNEL_LANES 8
#define KERNEL_COLUMNS 8
#define KERNEL_FMA(a, b, c) \
    ((Vector_avx512)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#include "fronts_kernel.h"
#endif

/* ---- the tree --------------------------------------------------------------------------- */

/* A supernode in the tree. */
typedef struct Node {
    int64_t update; /* where U begins: in the stacks of a worker inside a subtree, else in shared */
    int8_t parity;  /* of its depth */
} Node;

/* What a thread needs for itself. */
typedef struct Worker {
    int32_t *map;    /* block row -> row of the current panel */
    double *stacks;  /* update matrices of a subtree */
    double *packed;  /* columns of X */
    double *square;  /* columns of a finished square */
    double *inverse; /* of its diagonal */
    double *strip;
} Worker;

struct BrioFronts {
    const Kernels *kernels;
    BrioPanels L;
    BrioPanelsTree tree;
    Node *node;
    double *cost;     /* operations of each supernode */
    int32_t *up;      /* of each row below a supernode's columns: its row in the parent's panel */
    int32_t *run_end; /* and the first row after it whose row in the parent is not the next one */
    double *shared;   /* update matrices of roots of subtrees, and stacks of the top */
    int64_t shared_size, stacks_size;
    int workers;
    Worker worker[BRIO_MAX_WORKERS];
};

/* In scalars. */
static int64_t width_of(const BrioFronts *f, int32_t s)
{
    return f->L.block * (int64_t)brio__panel_width(&f->L, s);
}

static int64_t height_of(const BrioFronts *f, int32_t s)
{
    return f->L.block * (int64_t)brio__panel_height(&f->L, s);
}

/* Block rows below the columns of s. */
static int32_t rows_below(const BrioFronts *f, int32_t s)
{
    return brio__panel_height(&f->L, s) - brio__panel_width(&f->L, s);
}

/* Update matrices are squares of which the lower half counts, with room for whole tiles. */
static int64_t stride_of_update(const BrioFronts *f, int32_t s)
{
    return (f->L.block * (int64_t)rows_below(f, s) + MAX_ROWS - 1) / MAX_ROWS * MAX_ROWS;
}

static int64_t size_of_update(const BrioFronts *f, int32_t s)
{
    return stride_of_update(f, s) * stride_of_update(f, s);
}

void brio__fronts_free(BrioFronts *f)
{
    if (!f) return;
    brio__panels_tree_free(&f->tree);
    brio__free(f->node);
    brio__free(f->cost);
    brio__free(f->up);
    brio__free(f->run_end);
    brio__free(f->shared);
    for (int w = 0; w < BRIO_MAX_WORKERS; w++) {
        brio__free(f->worker[w].map);
        brio__free(f->worker[w].stacks);
        brio__free(f->worker[w].packed);
        brio__free(f->worker[w].square);
        brio__free(f->worker[w].inverse);
        brio__free(f->worker[w].strip);
    }
    brio__free(f);
}

static const int32_t *rows_of(const BrioFronts *f, const int32_t *of_rows, int32_t s)
{
    return of_rows + f->L.row_start[s] + brio__panel_width(&f->L, s);
}

/* Where rows lie in the panel of the parent. */
static void map_to_parents(BrioFronts *f)
{
    const BrioPanels *L = &f->L;
    for (int32_t s = 0; s < L->count; s++) {
        int32_t parent = f->tree.parent[s], rows = rows_below(f, s);
        if (parent < 0) continue;
        const int32_t *own = rows_of(f, L->row, s), *row = L->row + L->row_start[parent];
        int32_t *up = f->up + (own - L->row), *run_end = f->run_end + (own - L->row);
        for (int32_t r = 0, at = 0; r < rows; r++) {
            while (row[at] != own[r]) at++;
            up[r] = at;
        }
        for (int32_t r = rows - 1; r >= 0; r--)
            run_end[r] = r + 1 < rows && up[r + 1] == up[r] + 1 ? run_end[r + 1] : r + 1;
    }
}

static double cost_of(const BrioFronts *f, int32_t s)
{
    double width = (double)width_of(f, s), below = (double)height_of(f, s) - width;
    return width * width * (width / 3 + below) + width * below * below;
}

/* Two stacks: how much they hold, and the most they ever did. */
typedef struct Stacks {
    int64_t size[2], max[2];
} Stacks;

/* A place for U of s; those of its children are of no use after it. */
static void place_update(BrioFronts *f, Stacks *stacks, int32_t s)
{
    Node *node = &f->node[s];
    if (f->tree.kind[s] == BRIO_SUBTREE_ROOT) {
        node->update = f->shared_size;
        f->shared_size += size_of_update(f, s);
    } else {
        node->update = stacks->size[node->parity];
        stacks->size[node->parity] += size_of_update(f, s);
        stacks->max[node->parity] = BRIO_MAX(stacks->max[node->parity], stacks->size[node->parity]);
    }
    for (int32_t k = f->tree.child_start[s]; k < f->tree.child_start[s + 1]; k++)
        if (f->tree.kind[f->tree.child[k]] != BRIO_SUBTREE_ROOT)
            stacks->size[!node->parity] -= size_of_update(f, f->tree.child[k]);
}

static void place_updates(BrioFronts *f)
{
    const BrioPanelsTree *tree = &f->tree;
    Stacks inside = {0}, top = {0};
    for (int32_t k = f->L.count - 1; k >= 0; k--) {
        int32_t s = tree->sequence[k], parent = tree->parent[s];
        f->node[s].parity = parent >= 0 ? !f->node[parent].parity : 0;
    }
    for (int32_t t = 0; t < tree->subtrees; t++)
        for (int32_t k = tree->subtree[t].first; k <= tree->subtree[t].last; k++)
            place_update(f, &inside, tree->sequence[k]);
    int64_t roots = f->shared_size;
    for (int32_t t = 0; t < tree->tops; t++) place_update(f, &top, tree->top[t]);
    for (int32_t s = 0; s < f->L.count; s++) { /* the odd stack stands behind the even one */
        Node *node = &f->node[s];
        if (tree->kind[s] == BRIO_IN_SUBTREE && node->parity) node->update += inside.max[0];
        if (tree->kind[s] == BRIO_TREE_TOP) node->update += roots + (node->parity ? top.max[0] : 0);
    }
    f->stacks_size = inside.max[0] + inside.max[1];
    f->shared_size = roots + top.max[0] + top.max[1];
}

static int64_t size_of_packed(const BrioFronts *f)
{
    return (f->L.block * (int64_t)f->L.tallest + MAX_COLUMNS) * DEPTH;
}

static BrioStatus make_workers(BrioFronts *f)
{
    for (int i = 0; i < f->workers; i++) {
        Worker *w = &f->worker[i];
        w->map = brio__alloc((size_t)f->L.n, sizeof *w->map);
        w->stacks = brio__alloc((size_t)f->stacks_size, sizeof *w->stacks);
        w->packed = brio__alloc((size_t)size_of_packed(f), sizeof *w->packed);
        w->square = brio__alloc(SLICE * (SLICE + MAX_COLUMNS), sizeof *w->square);
        w->inverse = brio__alloc(SLICE + MAX_COLUMNS, sizeof *w->inverse);
        w->strip = brio__alloc(MAX_ROWS * DEPTH, sizeof *w->strip);
        if (!w->map || !w->stacks || !w->packed || !w->square || !w->inverse || !w->strip)
            return BRIO_ERROR_MEMORY;
    }
    return BRIO_OK;
}

static BrioStatus analyse(BrioFronts *f)
{
    size_t count = (size_t)f->L.count, rows = (size_t)f->L.row_start[f->L.count];
    double all = 0;
    f->node = brio__calloc(count, sizeof *f->node);
    f->cost = brio__alloc(count, sizeof *f->cost);
    f->up = brio__alloc(rows, sizeof *f->up);
    f->run_end = brio__alloc(rows, sizeof *f->run_end);
    if (!f->node || !f->cost || !f->up || !f->run_end) return BRIO_ERROR_MEMORY;
    for (int32_t s = 0; s < f->L.count; s++) all += f->cost[s] = cost_of(f, s);
    BRIO_CHECK(brio__panels_tree(&f->L, f->cost, all >= SHARED_FACTOR, &f->tree));
    map_to_parents(f);
    place_updates(f);
    f->workers = brio__workers();
    if (brio__panels_bytes(&f->L) + brio__fronts_bytes(f) > brio__memory_available())
        return BRIO_ERROR_TOO_LARGE;
    f->shared = brio__alloc((size_t)f->shared_size, sizeof *f->shared);
    return f->shared ? make_workers(f) : BRIO_ERROR_MEMORY;
}

BrioStatus brio__fronts_create(const BrioPanels *panels, BrioFronts **fronts)
{
    *fronts = NULL;
    BrioFronts *f = brio__calloc(1, sizeof *f);
    if (!f) return BRIO_ERROR_MEMORY;
    f->L = *panels;
    f->kernels = BRIO_BY_ISA(&kernels_baseline, &kernels_avx2, &kernels_avx512);
    BrioStatus status = analyse(f);
    if (status == BRIO_OK)
        *fronts = f;
    else
        brio__fronts_free(f);
    return status;
}

const BrioPanelsTree *brio__fronts_tree(const BrioFronts *f) { return &f->tree; }

double brio__fronts_bytes(const BrioFronts *f)
{
    double worker = 4.0 * f->L.n + 8.0 * (double)(f->stacks_size + size_of_packed(f));
    return 8.0 * (double)(f->shared_size + f->L.row_start[f->L.count]) + 40.0 * f->L.count +
           f->workers * worker;
}

/* ---- one front, by one thread ----------------------------------------------------------- */

/* A factorisation at work. */
typedef struct Job {
    BrioFronts *f;
    const BrioMatrix *A;
    /* of a shared front */
    int32_t supernode, child;
    int64_t slice, chunks; /* first column of what is done, and in how many pieces */
} Job;

static double *update_of(const BrioFronts *f, const Worker *worker, int32_t s)
{
    return (f->tree.kind[s] == BRIO_IN_SUBTREE ? worker->stacks : f->shared) + f->node[s].update;
}

static double *panel_of(const BrioFronts *f, int32_t s) { return f->L.value + f->L.panel[s]; }

/* How many of the child's block columns are columns of its parent. */
static int32_t columns_for_panel(const BrioFronts *f, int32_t child)
{
    return brio__first_row(rows_of(f, f->up, child), 0, rows_below(f, child),
                           brio__panel_width(&f->L, f->tree.parent[child]));
}

/* Adds block columns [begin, end) of the child's update matrix to the panel or to the update matrix
 * of its parent. */
static void add_columns(const BrioFronts *f, const Worker *worker, int32_t child, bool to_panel,
                        int32_t begin, int32_t end)
{
    int32_t parent = f->tree.parent[child];
    int32_t first = to_panel ? 0 : brio__panel_width(&f->L, parent);
    double *to = to_panel ? panel_of(f, parent) : update_of(f, worker, parent);
    int64_t stride = to_panel ? height_of(f, parent) : stride_of_update(f, parent);
    f->kernels->pass(f->L.block, begin, end, rows_below(f, child), rows_of(f, f->up, child),
                     rows_of(f, f->run_end, child), update_of(f, worker, child),
                     stride_of_update(f, child), first, to, stride);
}

static void pass_on(const BrioFronts *f, const Worker *worker, int32_t s, bool to_panel)
{
    for (int32_t k = f->tree.child_start[s]; k < f->tree.child_start[s + 1]; k++) {
        int32_t child = f->tree.child[k], split = columns_for_panel(f, child);
        add_columns(f, worker, child, to_panel, to_panel ? 0 : split,
                    to_panel ? split : rows_below(f, child));
    }
}

/* L in the panel, slice by slice: finish a slice, then subtract its product from what follows. */
static bool factor_panel(const BrioFronts *f, Worker *w, int32_t s)
{
    const Kernels *kernels = f->kernels;
    int64_t height = height_of(f, s), width = width_of(f, s);
    for (int64_t slice = 0, last; slice < width; slice = last) {
        last = BRIO_MIN(slice + SLICE, width);
        int64_t left = width - last;
        double *x = panel_of(f, s) + height * slice;
        if (!kernels->square(last - slice, height, x + slice, w->square, w->inverse, w->strip))
            return false;
        kernels->below(height - last, last - slice, w->square, w->inverse, x + last, height,
                       w->strip);
        kernels->pack_columns(0, left, left, last - slice, x + last, height, w->packed);
        kernels->multiply(0, left > 0 ? height - last : 0, left, last - slice, x + last, height,
                          w->packed, x + height * (last - slice) + last, height, false, false,
                          w->strip);
    }
    return true;
}

static bool factor_front(const BrioFronts *f, const BrioMatrix *A, Worker *w, int32_t s)
{
    int64_t height = height_of(f, s), width = width_of(f, s), below = height - width;
    brio__panel_map(&f->L, s, w->map);
    brio__panel_load(&f->L, A, s, w->map, f->L.first[s], f->L.first[s + 1]);
    pass_on(f, w, s, true);
    if (!factor_panel(f, w, s)) return false;
    for (int64_t k = 0; k < width; k += DEPTH) {
        int64_t depth = BRIO_MIN(DEPTH, width - k);
        const double *x = panel_of(f, s) + height * k + width;
        f->kernels->pack_columns(0, below, below, depth, x, height, w->packed);
        f->kernels->multiply(0, below, below, depth, x, height, w->packed, update_of(f, w, s),
                             stride_of_update(f, s), k == 0, true, w->strip);
    }
    pass_on(f, w, s, false);
    return true;
}

static bool factor_subtree(void *context, int worker, int32_t i)
{
    const Job *job = context;
    const BrioPanelsTree *tree = &job->f->tree;
    for (int32_t k = tree->subtree[i].first; k <= tree->subtree[i].last; k++)
        if (!factor_front(job->f, job->A, &job->f->worker[worker], tree->sequence[k])) return false;
    return true;
}

/* ---- a front shared among threads ------------------------------------------------------- */

enum { LOAD = 8, ADD = 16 }; /* block columns that are done at a time */

static bool load_some(void *context, int worker, int32_t i)
{
    (void)worker;
    const Job *job = context;
    const BrioPanels *L = &job->f->L;
    int32_t begin = L->first[job->supernode] + LOAD * i;
    brio__panel_load(L, job->A, job->supernode, job->f->worker[0].map, begin,
                     BRIO_MIN(begin + LOAD, L->first[job->supernode + 1]));
    return true;
}

static bool add_to_panel(void *context, int worker, int32_t i)
{
    const Job *job = context;
    int32_t end = columns_for_panel(job->f, job->child);
    add_columns(job->f, &job->f->worker[worker], job->child, true, ADD * i,
                BRIO_MIN(ADD * (i + 1), end));
    return true;
}

static bool add_to_update(void *context, int worker, int32_t i)
{
    const Job *job = context;
    int32_t begin = columns_for_panel(job->f, job->child) + ADD * i;
    add_columns(job->f, &job->f->worker[worker], job->child, false, begin,
                BRIO_MIN(begin + ADD, rows_below(job->f, job->child)));
    return true;
}

/* What the children of the supernode pass on, one child after the other. */
static void pass_on_shared(Job *job, bool to_panel)
{
    const BrioFronts *f = job->f;
    const BrioPanelsTree *tree = &f->tree;
    for (int32_t k = tree->child_start[job->supernode]; k < tree->child_start[job->supernode + 1];
         k++) {
        job->child = tree->child[k];
        int32_t split = columns_for_panel(f, job->child);
        int32_t columns = to_panel ? split : rows_below(f, job->child) - split;
        brio__distribute(f->workers, (columns + ADD - 1) / ADD,
                         to_panel ? add_to_panel : add_to_update, job);
    }
}

/* A slice of the panel of the supernode. */
typedef struct Slice {
    double *x; /* its first column */
    int64_t height, last, depth;
    int64_t left; /* columns after it */
} Slice;

static Slice slice_of(const Job *job)
{
    const BrioFronts *f = job->f;
    int64_t height = height_of(f, job->supernode), width = width_of(f, job->supernode);
    int64_t last = BRIO_MIN(job->slice + SLICE, width);
    return (Slice){panel_of(f, job->supernode) + height * job->slice, height, last,
                   last - job->slice, width - last};
}

static bool finish_rows(void *context, int worker, int32_t i)
{
    const Job *job = context;
    const Worker *first = &job->f->worker[0];
    Slice slice = slice_of(job);
    int64_t begin = slice.last + CHUNK * (int64_t)i;
    job->f->kernels->below(BRIO_MIN(CHUNK, slice.height - begin), slice.depth, first->square,
                           first->inverse, slice.x + begin, slice.height,
                           job->f->worker[worker].strip);
    return true;
}

static bool subtract_from_panel(void *context, int worker, int32_t i)
{
    const Job *job = context;
    Slice slice = slice_of(job);
    int64_t rows = slice.height - slice.last, begin = CHUNK * (int64_t)i;
    job->f->kernels->multiply(begin, BRIO_MIN(begin + CHUNK, rows), slice.left, slice.depth,
                              slice.x + slice.last, slice.height, job->f->worker[0].packed,
                              slice.x + slice.height * slice.depth + slice.last, slice.height,
                              false, false, job->f->worker[worker].strip);
    return true;
}

static bool factor_panel_shared(Job *job)
{
    const BrioFronts *f = job->f;
    const Worker *first = &f->worker[0];
    int64_t width = width_of(f, job->supernode);
    for (job->slice = 0; job->slice < width; job->slice += SLICE) {
        Slice slice = slice_of(job);
        int64_t chunks = (slice.height - slice.last + CHUNK - 1) / CHUNK;
        if (!f->kernels->square(slice.depth, slice.height, slice.x + job->slice, first->square,
                                first->inverse, first->strip))
            return false;
        brio__distribute(f->workers, chunks, finish_rows, job);
        f->kernels->pack_columns(0, slice.left, slice.left, slice.depth, slice.x + slice.last,
                                 slice.height, first->packed);
        brio__distribute(f->workers, slice.left ? chunks : 0, subtract_from_panel, job);
    }
    return true;
}

/* X of the supernode: DEPTH columns from job->slice on. */
typedef struct Below {
    const double *x;
    int64_t height, rows, depth;
} Below;

static Below below_of(const Job *job)
{
    const BrioFronts *f = job->f;
    int64_t height = height_of(f, job->supernode), width = width_of(f, job->supernode);
    return (Below){panel_of(f, job->supernode) + height * job->slice + width, height,
                   height - width, BRIO_MIN(DEPTH, width - job->slice)};
}

static bool pack_some(void *context, int worker, int32_t i)
{
    (void)worker;
    const Job *job = context;
    Below X = below_of(job);
    int64_t begin = CHUNK * (int64_t)i;
    job->f->kernels->pack_columns(begin, BRIO_MIN(begin + CHUNK, X.rows), X.rows, X.depth, X.x,
                                  X.height, job->f->worker[0].packed);
    return true;
}

static bool multiply_some(void *context, int worker, int32_t i)
{
    const Job *job = context;
    const BrioFronts *f = job->f;
    Below X = below_of(job);
    int64_t begin = CHUNK * (job->chunks - 1 - i); /* the long ones first */
    f->kernels->multiply(begin, BRIO_MIN(begin + CHUNK, X.rows), X.rows, X.depth, X.x, X.height,
                         f->worker[0].packed, update_of(f, NULL, job->supernode),
                         stride_of_update(f, job->supernode), job->slice == 0, true,
                         f->worker[worker].strip);
    return true;
}

static bool factor_front_shared(Job *job, int32_t s)
{
    BrioFronts *f = job->f;
    job->supernode = s;
    brio__panel_map(&f->L, s, f->worker[0].map);
    brio__distribute(f->workers, (brio__panel_width(&f->L, s) + LOAD - 1) / LOAD, load_some, job);
    pass_on_shared(job, true);
    if (!factor_panel_shared(job)) return false;
    job->chunks = (f->L.block * (int64_t)rows_below(f, s) + CHUNK - 1) / CHUNK;
    for (job->slice = 0; job->slice < width_of(f, s); job->slice += DEPTH) {
        brio__distribute(f->workers, job->chunks, pack_some, job);
        brio__distribute(f->workers, job->chunks, multiply_some, job);
    }
    pass_on_shared(job, false);
    return true;
}

BrioStatus brio__fronts_factor(BrioFronts *f, const BrioMatrix *A)
{
    Job job = {.f = f, .A = A};
    bool good = brio__distribute(f->workers, f->tree.subtrees, factor_subtree, &job);
    for (int32_t t = 0; t < f->tree.tops && good; t++) {
        int32_t s = f->tree.top[t];
        bool shared = f->workers > 1 && f->cost[s] >= SHARED_FRONT;
        good = shared ? factor_front_shared(&job, s) : factor_front(f, A, &f->worker[0], s);
    }
    return good ? BRIO_OK : BRIO_NOT_POSITIVE_DEFINITE;
}
