/* Multifrontal Cholesky (fronts.h).
 *
 * The front of supernode s is its panel of L and, for the rows X below its own columns, its update
 * matrix U. Order of work:
 *
 *     panel = A + what the children pass on to its columns,
 *     panel -> L and U = -X X^T, a slice of the panel's columns after the other,
 *     U    += the rest of what the children pass on, while it is in the cache.
 *
 * A panel is put together and factored packed, in memory that is used for one panel after the
 * other. To L it is written when it is finished, and read no more.
 *
 * The update matrices U are on two stacks, one for even and one for odd
 * depths in the tree: a parent is written next to its children, which are the last on the other
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
    SLICE = 96,    /* columns of a panel that are finished at a time, at most */
    MAX_LANES = 8, /* of a strip on any instruction set; its multiples are of tiles' columns */
    UPDATED = 24,  /* columns of an update matrix that are done at a time: of whole tiles */
    SHARED_FACTOR = 3000000, /* operations from which a factorisation is shared out */
    SHARED_FRONT = 1000000,  /* and a front of the top */
    CHUNK = 48,              /* scalar rows or columns of a shared front that are done at a time */
    ASSEMBLED = 8            /* block columns of a panel that are put together at a time */
};

/* A panel at work: strips of rows, each with all columns. The strips of the rows that are columns
 * of the panel come first, then those of the rows below. Rows and columns after the last one are
 * zero. */
typedef struct Packed {
    double *value;
    int64_t columns;              /* width, up to a multiple of a tile's */
    int64_t rows;                 /* of all strips */
    int64_t width, height, below; /* of the panel, and its rows below */
    double *panel;                /* where it goes */
} Packed;

/* Some columns of it. */
typedef struct Slice {
    int64_t begin, end, depth;
} Slice;

/* How rows of a child lie in some rows of its parent's front, for each vector of these that has
 * one: which are rows of the child, the child's first one among them, and the first of the vector.
 */
typedef struct Spread {
    int64_t count;
    const uint8_t *mask;
    const int32_t *child, *parent;
} Spread;

/* What a child passes on. */
typedef struct Passed {
    int block;
    int32_t rows;       /* block rows of its update matrix U */
    int32_t width;      /* of the parent */
    const int32_t *up;  /* of each block row of U: its row in the parent's front */
    Spread left, under; /* in the parent's columns, and in its rows below */
    const double *U;
    int64_t stride;
} Passed;

typedef struct Kernels {
    int lanes, columns;
    bool (*square)(const Packed *P, const Slice *slice, double *inverse);
    void (*below)(const Packed *P, const Slice *slice, const double *inverse, int64_t begin,
                  int64_t end);
    void (*subtract)(const Packed *P, const Slice *slice, int64_t begin, int64_t end);
    void (*update)(const Packed *P, const Slice *slice, int64_t begin, int64_t end, double *U,
                   int64_t stride);
    void (*pass_to_panel)(const Passed *passed, int32_t begin, int32_t end, const Packed *P);
    void (*pass_to_update)(const Passed *passed, int32_t begin, int32_t end, double *to,
                           int64_t stride);
    void (*clear)(const Packed *P, int64_t begin, int64_t end);
} Kernels;

typedef double Two __attribute__((vector_size(16), aligned(8), may_alias));

static inline Two spread_baseline(uint8_t mask, const double *from)
{
    if (mask == 3) return *(const Two *)from;
    return (Two){mask & 1 ? from[0] : 0, mask & 2 ? from[0] : 0};
}

static inline void store_column_baseline(int64_t rows, int64_t strip, const double *from,
                                         double *to)
{
    for (; rows >= 2; rows -= 2, from += strip, to += 2) *(Two *)to = *(const Two *)from;
    if (rows) *to = *from;
}

#define KERNEL(name) name##_baseline
#define KERNEL_TARGET
#define KERNEL_LANES 2
#define KERNEL_COLUMNS 4
#define KERNEL_SUBTRACT(a, b, c) ((c) - (a) * (b))
#define KERNEL_FMA(a, b, c) ((a) * (b) + (c))
#define KERNEL_STORE store_column_baseline
#define KERNEL_SPREAD spread_baseline
#include "fronts_kernel.h"

#if defined(__x86_64__)
typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));

__attribute__((target("avx2,fma"))) static inline Four spread_avx2(uint8_t mask, const double *from)
{
    if (mask == 15) return *(const Four *)from;
    Four rows = {0};
    for (int l = 0; l < 4; l++)
        if (mask >> l & 1) rows[l] = *from++;
    return rows;
}

__attribute__((target("avx2,fma"))) static inline void store_column_avx2(int64_t rows,
                                                                         int64_t strip,
                                                                         const double *from,
                                                                         double *to)
{
    for (; rows >= 4; rows -= 4, from += strip, to += 4) *(Four *)to = *(const Four *)from;
    for (int64_t r = 0; r < rows; r++) to[r] = from[r];
}

#define KERNEL(name) name##_avx2
#define KERNEL_TARGET __attribute__((target("avx2,fma")))
#define KERNEL_LANES 4
#define KERNEL_COLUMNS 4
#define KERNEL_STORE store_column_avx2
#define KERNEL_SPREAD spread_avx2
#define KERNEL_SUBTRACT(a, b, c) \
    ((Vector_avx2)_mm256_fnmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#define KERNEL_FMA(a, b, c) ((Vector_avx2)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#include "fronts_kernel.h"

/* A vector that is stored across two lines takes several times longer: vectors are put together
 * from those of two strips, so that all lie in one line each. */
__attribute__((target("avx512f"))) static inline void store_column_avx512(int64_t rows,
                                                                          int64_t strip,
                                                                          const double *from,
                                                                          double *to)
{
    int64_t ahead = (int64_t)((uintptr_t)to / sizeof *to % 8); /* numbers of the line before `to` */
    __m512i lanes =
        _mm512_add_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi64(8 - ahead));
    __m512d before = _mm512_setzero_pd(), next;
    __mmask8 mask = (__mmask8)(255 << ahead);
    to -= ahead;
    rows += ahead; /* to be written from `to` on, the first ones masked */
    for (; rows >= 8; rows -= 8, from += strip, to += 8, before = next, mask = 255) {
        next = _mm512_load_pd(from);
        _mm512_mask_store_pd(to, mask, _mm512_permutex2var_pd(before, lanes, next));
    }
    mask &= (__mmask8)((1 << rows) - 1);
    if (!mask) return;
    next = rows > ahead ? _mm512_load_pd(from) : before;
    _mm512_mask_store_pd(to, mask, _mm512_permutex2var_pd(before, lanes, next));
}

__attribute__((target("avx512f"))) static inline __m512d spread_avx512(uint8_t mask,
                                                                       const double *from)
{
    __m512d some = _mm512_loadu_pd(from);
    __asm__("" : "+v"(some)); /* loading and spreading in one instruction takes longer */
    return _mm512_maskz_expand_pd(mask, some);
}

#define KERNEL(name) name##_avx512
#define KERNEL_STORE store_column_avx512
#define KERNEL_SPREAD (Vector_avx512) spread_avx512
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
    double *packed;  /* the panel at work */
    double *inverse; /* of the diagonal of a slice */
} Worker;

struct BrioFronts {
    const Kernels *kernels;
    BrioPanels L;
    BrioPanelsTree tree;
    Node *node;
    double *cost; /* operations of each supernode */
    int32_t *up;  /* of each row below a supernode's columns: its row in the parent's panel */
    /* of each supernode's Spread in its parent: where it begins, where that of the rows below does,
     * and all their numbers */
    int64_t *left, *under;
    uint8_t *mask;
    int32_t *place[2]; /* child, parent */
    double *shared;    /* update matrices of roots of subtrees, and stacks of the top */
    int64_t shared_size, stacks_size;
    int64_t packed_size, packed_top; /* of panels in subtrees, and of the top */
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

static int64_t round_up(int64_t count, int64_t unit) { return (count + unit - 1) / unit * unit; }

/* Update matrices are squares of which the lower half counts, with room for whole vectors and
 * tiles' columns. */
static int64_t stride_of_update(const BrioFronts *f, int32_t s)
{
    return round_up(f->L.block * (int64_t)rows_below(f, s), MAX_LANES);
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
    brio__free(f->left);
    brio__free(f->under);
    brio__free(f->mask);
    brio__free(f->place[0]);
    brio__free(f->place[1]);
    brio__free(f->shared);
    for (int w = 0; w < BRIO_MAX_WORKERS; w++) {
        brio__free(f->worker[w].map);
        brio__free(f->worker[w].stacks);
        brio__free(f->worker[w].packed);
        brio__free(f->worker[w].inverse);
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
        int32_t *up = f->up + (own - L->row);
        for (int32_t r = 0, at = 0; r < rows; r++) {
            while (row[at] != own[r]) at++;
            up[r] = at;
        }
    }
}

/* Writes the spread of a child in block rows [begin, end) of its parent, if there is memory for it;
 * returns what follows the last of it. */
static int64_t spread_rows(const BrioFronts *f, int32_t child, int32_t begin, int32_t end,
                           int64_t at)
{
    const int32_t *up = rows_of(f, f->up, child);
    int block = f->L.block, lanes = f->kernels->lanes;
    int32_t r = brio__first_row(up, 0, rows_below(f, child), begin);
    int64_t vector = -1;
    for (; r < rows_below(f, child) && up[r] < end; r++)
        for (int c = 0; c < block; c++) {
            int64_t row = block * (int64_t)(up[r] - begin) + c;
            if (row / lanes != vector) {
                vector = row / lanes;
                at++;
                if (f->mask) {
                    f->mask[at - 1] = 0;
                    f->place[0][at - 1] = block * r + c;
                    f->place[1][at - 1] = (int32_t)(vector * lanes);
                }
            }
            if (f->mask) f->mask[at - 1] |= (uint8_t)(1 << row % lanes);
        }
    return at;
}

static int64_t spread_all(BrioFronts *f)
{
    int64_t at = 0;
    for (int32_t s = 0; s < f->L.count; s++) {
        int32_t parent = f->tree.parent[s];
        int32_t width = parent >= 0 ? brio__panel_width(&f->L, parent) : 0;
        f->left[s] = at;
        if (parent >= 0) at = spread_rows(f, s, 0, width, at);
        f->under[s] = at;
        if (parent >= 0) at = spread_rows(f, s, width, brio__panel_height(&f->L, parent), at);
    }
    return f->left[f->L.count] = at;
}

static BrioStatus make_spreads(BrioFronts *f)
{
    size_t size = (size_t)spread_all(f);
    uint8_t *mask = brio__alloc(size, sizeof *mask);
    for (int k = 0; k < 2; k++) f->place[k] = brio__alloc(size, sizeof *f->place[k]);
    f->mask = mask;
    if (!mask || !f->place[0] || !f->place[1]) return BRIO_ERROR_MEMORY;
    spread_all(f);
    return BRIO_OK;
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
    /* a vector may be read after the last number */
    f->stacks_size = inside.max[0] + inside.max[1] + MAX_LANES;
    f->shared_size = roots + top.max[0] + top.max[1] + MAX_LANES;
}

static Packed packed_of(const BrioFronts *f, int32_t s, double *value)
{
    Packed P = {.value = value, .width = width_of(f, s), .height = height_of(f, s)};
    P.below = P.height - P.width;
    P.columns = round_up(P.width, f->kernels->columns);
    P.rows = P.columns + round_up(P.below, f->kernels->columns);
    P.panel = f->L.value + f->L.panel[s];
    return P;
}

static void find_packed_sizes(BrioFronts *f)
{
    for (int32_t s = 0; s < f->L.count; s++) {
        Packed P = packed_of(f, s, NULL);
        int64_t *size = f->tree.kind[s] == BRIO_TREE_TOP ? &f->packed_top : &f->packed_size;
        *size = BRIO_MAX(*size, P.rows * P.columns);
    }
}

/* The stacks of the first worker, free when the subtrees are done, hold the panel of the top that
 * is at work. */
static int64_t stacks_of(const BrioFronts *f, int worker)
{
    return worker == 0 ? BRIO_MAX(f->stacks_size, f->packed_top) : f->stacks_size;
}

static BrioStatus make_workers(BrioFronts *f)
{
    for (int i = 0; i < f->workers; i++) {
        Worker *w = &f->worker[i];
        w->map = brio__alloc((size_t)f->L.n, sizeof *w->map);
        w->stacks = brio__panels_memory(stacks_of(f, i));
        w->packed = brio__panels_memory(f->packed_size);
        w->inverse = brio__alloc(SLICE, sizeof *w->inverse);
        if (!w->map || !w->stacks || !w->packed || !w->inverse) return BRIO_ERROR_MEMORY;
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
    f->left = brio__alloc(count + 1, sizeof *f->left);
    f->under = brio__alloc(count, sizeof *f->under);
    if (!f->node || !f->cost || !f->up || !f->left || !f->under) return BRIO_ERROR_MEMORY;
    for (int32_t s = 0; s < f->L.count; s++) all += f->cost[s] = cost_of(f, s);
    BRIO_CHECK(brio__panels_tree(&f->L, f->cost, all >= SHARED_FACTOR, &f->tree));
    map_to_parents(f);
    BRIO_CHECK(make_spreads(f));
    place_updates(f);
    find_packed_sizes(f);
    f->workers = brio__workers();
    if (brio__panels_bytes(&f->L) + brio__fronts_bytes(f) > brio__memory_available())
        return BRIO_ERROR_TOO_LARGE;
    f->shared = brio__panels_memory(f->shared_size);
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
    double worker = 4.0 * f->L.n + 8.0 * (double)(f->stacks_size + f->packed_size);
    return 8.0 * (double)(f->shared_size + stacks_of(f, 0) - f->stacks_size) +
           4.0 * (double)f->L.row_start[f->L.count] + 9.0 * (double)f->left[f->L.count] +
           56.0 * f->L.count + f->workers * worker;
}

/* ---- one front -------------------------------------------------------------------------- */

static double *update_of(const BrioFronts *f, const Worker *worker, int32_t s)
{
    return (f->tree.kind[s] == BRIO_IN_SUBTREE ? worker->stacks : f->shared) + f->node[s].update;
}

static Spread spread_of(const BrioFronts *f, int64_t begin, int64_t end)
{
    return (Spread){end - begin, f->mask + begin, f->place[0] + begin, f->place[1] + begin};
}

static Passed passed_of(const BrioFronts *f, const Worker *worker, int32_t child)
{
    return (Passed){f->L.block,
                    rows_below(f, child),
                    brio__panel_width(&f->L, f->tree.parent[child]),
                    rows_of(f, f->up, child),
                    spread_of(f, f->left[child], f->under[child]),
                    spread_of(f, f->under[child], f->left[child + 1]),
                    update_of(f, worker, child),
                    stride_of_update(f, child)};
}

/* Adds block columns [begin, end) of A to the packed panel of s, whose map is given. */
static void add_matrix(const BrioFronts *f, const BrioMatrix *A, const int32_t *map, int32_t s,
                       int32_t begin, int32_t end, const Packed *P)
{
    int block = f->L.block, lanes = f->kernels->lanes;
    for (int32_t J = f->L.first[s] + begin; J < f->L.first[s] + end; J++) {
        int64_t length = block * (A->start[J + 1] - A->start[J]);
        const double *from = A->value + block * block * A->start[J];
        double *to = P->value + block * (int64_t)(J - f->L.first[s]) * lanes;
        for (int64_t k = A->start[J]; k < A->start[J + 1]; k++, from += block) {
            int64_t row = block * (int64_t)map[A->row[k]];
            if (row >= P->width) row += P->columns - P->width;
            for (int r = 0; r < block; r++, row++)
                for (int c = 0; c < block; c++)
                    to[row / lanes * lanes * P->columns + row % lanes + c * lanes] +=
                        from[c * length + r];
        }
    }
}

/* Block columns [begin, end) of the panel of s, from A and the children; after the last one, the
 * columns of zeros. */
static void assemble(const BrioFronts *f, const BrioMatrix *A, const Worker *worker,
                     const int32_t *map, int32_t s, int32_t begin, int32_t end, const Packed *P)
{
    bool last = end == brio__panel_width(&f->L, s);
    f->kernels->clear(P, f->L.block * (int64_t)begin,
                      last ? P->columns : f->L.block * (int64_t)end);
    add_matrix(f, A, map, s, begin, end, P);
    for (int32_t k = f->tree.child_start[s]; k < f->tree.child_start[s + 1]; k++) {
        Passed passed = passed_of(f, worker, f->tree.child[k]);
        f->kernels->pass_to_panel(&passed, begin, end, P);
    }
}

/* Slices have about the same size. */
static Slice slice_of(const Packed *P, int64_t begin)
{
    int64_t count = (P->width + SLICE - 1) / SLICE;
    int64_t end = BRIO_MIN(begin + round_up((P->width + count - 1) / count, MAX_LANES), P->width);
    return (Slice){begin, end, end - begin};
}

/* Columns [begin, end) of the update matrix of s, from a slice; with the last one, from the
 * children too. */
static void update_columns(const BrioFronts *f, const Worker *worker, int32_t s, const Packed *P,
                           const Slice *slice, int64_t begin, int64_t end)
{
    double *U = update_of(f, worker, s);
    int64_t stride = stride_of_update(f, s);
    for (int64_t j = begin; j < end; j += UPDATED) {
        int64_t last = BRIO_MIN(j + UPDATED, end);
        f->kernels->update(P, slice, j, last, U, stride);
        if (slice->end < P->width) continue;
        for (int32_t k = f->tree.child_start[s]; k < f->tree.child_start[s + 1]; k++) {
            Passed passed = passed_of(f, worker, f->tree.child[k]);
            f->kernels->pass_to_update(&passed, (int32_t)(j / f->L.block),
                                       (int32_t)(last / f->L.block), U, stride);
        }
    }
}

/* ---- by one thread ---------------------------------------------------------------------- */

static bool factor_front(const BrioFronts *f, const BrioMatrix *A, const Worker *w, int32_t s)
{
    int32_t width = brio__panel_width(&f->L, s);
    Packed P = packed_of(f, s, f->tree.kind[s] == BRIO_TREE_TOP ? w->stacks : w->packed);
    brio__panel_map(&f->L, s, w->map);
    for (int32_t j = 0; j < width; j += ASSEMBLED)
        assemble(f, A, w, w->map, s, j, BRIO_MIN(j + ASSEMBLED, width), &P);
    for (int64_t begin = 0; begin < P.width;) {
        Slice slice = slice_of(&P, begin);
        if (!f->kernels->square(&P, &slice, w->inverse)) return false;
        begin = slice.end;
        bool last = begin == P.width;
        f->kernels->below(&P, &slice, w->inverse, last ? P.columns : begin, P.rows);
        if (!last) f->kernels->subtract(&P, &slice, begin, P.rows);
        update_columns(f, w, s, &P, &slice, 0, P.below);
    }
    return true;
}

/* A factorisation at work. */
typedef struct Job {
    BrioFronts *f;
    const BrioMatrix *A;
    /* of a shared front */
    int32_t supernode;
    Packed P;
    Slice slice;
    int64_t after;   /* first row after the square of the slice */
    int32_t updates; /* pieces of the update matrix */
} Job;

static bool factor_subtree(void *context, int worker, int32_t i)
{
    const Job *job = context;
    const BrioPanelsTree *tree = &job->f->tree;
    for (int32_t k = tree->subtree[i].first; k <= tree->subtree[i].last; k++)
        if (!factor_front(job->f, job->A, &job->f->worker[worker], tree->sequence[k])) return false;
    return true;
}

/* ---- shared among threads --------------------------------------------------------------- */

static int64_t pieces(int64_t count, int64_t size) { return (count + size - 1) / size; }

static bool assemble_some(void *context, int worker, int32_t i)
{
    (void)worker; /* what children of the top pass on lies in nobody's stacks */
    const Job *job = context;
    int32_t width = brio__panel_width(&job->f->L, job->supernode), begin = ASSEMBLED * i;
    assemble(job->f, job->A, NULL, job->f->worker[0].map, job->supernode, begin,
             BRIO_MIN(begin + ASSEMBLED, width), &job->P);
    return true;
}

static bool finish_some(void *context, int worker, int32_t i)
{
    (void)worker;
    const Job *job = context;
    int64_t begin = job->after + CHUNK * (int64_t)i;
    job->f->kernels->below(&job->P, &job->slice, job->f->worker[0].inverse, begin,
                           BRIO_MIN(begin + CHUNK, job->P.rows));
    return true;
}

static bool subtract_some(void *context, int worker, int32_t i)
{
    (void)worker;
    const Job *job = context;
    const Packed *P = &job->P;
    if (i < job->updates) {
        int64_t begin = CHUNK * (int64_t)i;
        update_columns(job->f, NULL, job->supernode, P, &job->slice, begin,
                       BRIO_MIN(begin + CHUNK, P->below));
    } else {
        int64_t begin = job->after + CHUNK * (int64_t)(i - job->updates);
        job->f->kernels->subtract(P, &job->slice, begin, BRIO_MIN(begin + CHUNK, P->rows));
    }
    return true;
}

static bool factor_front_shared(Job *job, int32_t s)
{
    BrioFronts *f = job->f;
    Packed *P = &job->P;
    job->supernode = s;
    *P = packed_of(f, s, f->worker[0].stacks);
    job->updates = (int32_t)pieces(P->below, CHUNK);
    brio__panel_map(&f->L, s, f->worker[0].map);
    brio__distribute(f->workers, pieces(brio__panel_width(&f->L, s), ASSEMBLED), assemble_some,
                     job);
    for (int64_t begin = 0; begin < P->width; begin = job->slice.end) {
        job->slice = slice_of(P, begin);
        bool last = job->slice.end == P->width;
        job->after = last ? P->columns : job->slice.end;
        if (!f->kernels->square(P, &job->slice, f->worker[0].inverse)) return false;
        int64_t rows = pieces(P->rows - job->after, CHUNK);
        brio__distribute(f->workers, rows, finish_some, job);
        brio__distribute(f->workers, job->updates + (last ? 0 : rows), subtract_some, job);
    }
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
