/* Supernodal Cholesky of a matrix of single numbers, and solves for three right-hand sides that
 * read as little as they can.
 *
 * The factorisation is that of left.c with blocks of one scalar. A solve is bound by the reading of
 * L, so its numbers are laid out again for that. Each supernode, in pieces of at most PIECE columns
 * J with the rows B below, becomes one dense matrix
 *
 *     P = [T; -L_BJ T],  T = L_JJ^-1,
 *
 * with which both directions are products without any recurrence [Alvarado1993]:
 *
 *     forward   [y_J; b_B] = [0; b_B] + P b_J,
 *     backward  x_J = P^T [y_J; x_B].
 *
 * The three right-hand sides share every number that is read.
 *
 * Threads: the tree of supernodes is cut into subtrees, none of which is more than a fixed fraction
 * of L, and the supernodes that join them: the nodes of a coarse tree. A node has a vector of its
 * own, its columns and then the rows above that it contributes to, to which its parent adds those
 * of its children in their order: a function of the pattern, so that the bits do not depend on the
 * number of threads. */
#include "scalar.h"

#include "left.h"
#include "order.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

enum {
    UNIT = 8, /* rows of a strip are a multiple of it */
    STRIP = 32,
    TRIANGLE_STRIP = 16,
    AHEAD = 4096,         /* bytes of P that are asked for before they are needed */
    ROWS_AHEAD = 16,      /* and rows of vectors in coordinate order */
    PIECE = 64,           /* most columns of a piece */
    NODE_DIVISOR = 16,    /* a subtree is at most this part of L */
    SHARED_SOLVE = 60000, /* numbers of L from which a solve is shared out */
    MAX_WORKERS = 16
};

/* Rows of the strip that begins at `row` of a piece: few where it is a triangle, the rest of which
 * is stored as zeros. */
static inline int64_t strip_rows(int64_t height, int64_t width, int64_t row)
{
    int64_t rest = (height - row + UNIT - 1) & -(int64_t)UNIT;
    return BRIO_MIN(rest, row < width ? TRIANGLE_STRIP : STRIP);
}

typedef struct Kernels {
    void (*forward)(int64_t height, int64_t width, const void *piece, const double *scale,
                    const int32_t *place, double *local, double *scratch);
    void (*backward)(int64_t height, int64_t width, const void *piece, const double *scale,
                     int64_t count, const void *next_piece, const int32_t *place, double *local,
                     double *scratch);
    void (*finish)(int64_t rows, int64_t columns, int64_t stride, const double *L,
                   const double *scale, double *strip, void *piece, int64_t at);
} Kernels;

#define KERNEL(name) name##_double_baseline
#define KERNEL_TARGET
#define KERNEL_LANES 2
#define KERNEL_FMA(a, b, c) ((a) * (b) + (c))
#define KERNEL_VALUE double
#include "scalar_kernel.h"
#define KERNEL(name) name##_float_baseline
#define KERNEL_TARGET
#define KERNEL_LANES 4
#define KERNEL_FMA(a, b, c) ((a) * (b) + (c))
#define KERNEL_VALUE float
#include "scalar_kernel.h"

#if defined(__x86_64__)
#define KERNEL(name) name##_double_avx2
#define KERNEL_TARGET __attribute__((target("avx2,fma")))
#define KERNEL_LANES 4
#define KERNEL_FMA(a, b, c) \
    ((Vector_double_avx2)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#define KERNEL_VALUE double
#include "scalar_kernel.h"
#define KERNEL(name) name##_float_avx2
#define KERNEL_TARGET __attribute__((target("avx2,fma")))
#define KERNEL_LANES 8
#define KERNEL_FMA(a, b, c) \
    ((Vector_float_avx2)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define KERNEL_VALUE float
#include "scalar_kernel.h"
#define KERNEL_512
#define KERNEL(name) name##_double_avx512
#define KERNEL_TARGET __attribute__((target("avx512f,avx512dq,avx512vl")))
#define KERNEL_LANES 8
#define KERNEL_FMA(a, b, c) \
    ((Vector_double_avx512)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#define KERNEL_VALUE double
#include "scalar_kernel.h"
#define KERNEL(name) name##_float_avx512
#define KERNEL_TARGET __attribute__((target("avx512f,avx512dq,avx512vl")))
#define KERNEL_LANES 16
#define KERNEL_FMA(a, b, c) \
    ((Vector_float_avx512)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define KERNEL_VALUE float
#include "scalar_kernel.h"
#undef KERNEL_512

/* ---- numbers of sixteen bits ------------------------------------------------------------ */

/* Eight doubles times a factor, within what sixteen bits hold. */
__attribute__((target("avx2,f16c"))) static void store_half(uint16_t *to, const double *from,
                                                            double factor)
{
    const __m256d most = _mm256_set1_pd(65504), least = _mm256_set1_pd(-65504);
    for (int k = 0; k < 8; k += 4) {
        __m256d four = _mm256_mul_pd(_mm256_loadu_pd(from + k), _mm256_set1_pd(factor));
        four = _mm256_max_pd(_mm256_min_pd(four, most), least);
        _mm_storel_epi64((__m128i *)(to + k),
                         _mm_cvtps_ph(_mm256_cvtpd_ps(four), _MM_FROUND_TO_NEAREST_INT));
    }
}

#define KERNEL(name) name##_half_avx2
#define KERNEL_TARGET __attribute__((target("avx2,fma,f16c")))
#define KERNEL_LANES 8
#define KERNEL_FMA(a, b, c) \
    ((Vector_half_avx2)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define KERNEL_VALUE float
#define KERNEL_STORED uint16_t
#define KERNEL_LOAD(p) ((Vector_half_avx2)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(p))))
#define KERNEL_STORE store_half
#include "scalar_kernel.h"
#define KERNEL_512
#define KERNEL(name) name##_half_avx512
#define KERNEL_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,f16c")))
#define KERNEL_LANES 16
#define KERNEL_FMA(a, b, c) \
    ((Vector_half_avx512)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define KERNEL_VALUE float
#define KERNEL_STORED uint16_t
#define KERNEL_LOAD(p) \
    ((Vector_half_avx512)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(p))))
#define KERNEL_STORE store_half
#include "scalar_kernel.h"
#undef KERNEL_512

/* clang 14 has no __builtin_cpu_supports("f16c"). */
static bool converts_half(void)
{
    unsigned a, b, c = 0, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

/* NULL: this machine has none for numbers of that size. */
static const Kernels *choose_kernels(BrioScalarPrecision precision)
{
#if defined(__x86_64__)
    if (precision == BRIO_SCALAR_HALF && converts_half())
        return BRIO_BY_ISA(NULL, &kernels_half_avx2, &kernels_half_avx512);
#endif
    if (precision == BRIO_SCALAR_HALF) return NULL;
    if (precision == BRIO_SCALAR_SINGLE)
        return BRIO_BY_ISA(&kernels_float_baseline, &kernels_float_avx2, &kernels_float_avx512);
    return BRIO_BY_ISA(&kernels_double_baseline, &kernels_double_avx2, &kernels_double_avx512);
}

/* ---- pattern ---------------------------------------------------------------------------- */

/* Columns [first, first + width) of L, and their rows below. */
typedef struct Piece {
    int32_t supernode, first, width, height;
    int64_t value; /* where P begins */
    int64_t place; /* where its rows begin in place[] */
} Piece;

/* Supernodes [first, last] of the coarse tree, with pieces [piece, piece_end) and columns
 * [column, column_end). */
typedef struct Node {
    int32_t first, last, column, column_end, spills;
    int32_t parent;           /* nodes - 1 is the root of all, without columns */
    int32_t child, child_end; /* in child[], ascending */
    int64_t piece, piece_end;
    int64_t local; /* its vector in local[], in rows */
    int64_t map;   /* of its spilled rows to those of its parent, in map[] */
} Node;

struct BrioScalarPattern {
    int32_t n;
    int32_t *order; /* vertex eliminated k-th */
    /* entry of off[] of each entry of A below the diagonal; -1: the diagonal */
    int64_t *from;
    BrioMatrix A; /* of single scalars, and its factorisation */
    BrioLeft *left;
    BrioPanels L;
    bool *changed; /* supernodes whose numbers are not those of the factorisation before */
    int64_t version, factorisations; /* which of them A and L hold; 0: none */
    int64_t pieces;
    Piece *piece;
    /* rows of each supernode in the vector of the node, and UNIT-1 times the row that fills up */
    int32_t *place;
    int32_t nodes, leaves;
    Node *node;            /* children before parents */
    int32_t *child, *leaf; /* ascending */
    int32_t *map;
    int64_t maps, places, locals, values;
};

struct BrioScalarFactor {
    BrioScalarPattern *pattern;
    const Kernels *kernels;
    size_t number;   /* bytes of a number of P */
    int64_t version; /* with which factorisation of the pattern; 0: none */
    void *value;
    double *scale; /* powers of two taken out of the columns of P, half precision only */
    double *local; /* vectors of the nodes: four numbers per row, of which three count */
    /* children of each node that are not done forward; nodes that may go backward, -1 where none is
     * known yet */
    atomic_int *pending, *queue;
    int workers;
    double *scratch[MAX_WORKERS];
};

void brio__scalar_pattern_free(BrioScalarPattern *p)
{
    if (!p) return;
    brio__free(p->order);
    brio__free(p->from);
    brio__free(p->A.start);
    brio__free(p->A.row);
    brio__free(p->A.value);
    brio__left_free(p->left);
    brio__panels_free(&p->L);
    brio__free(p->changed);
    brio__free(p->piece);
    brio__free(p->place);
    brio__free(p->node);
    brio__free(p->child);
    brio__free(p->leaf);
    brio__free(p->map);
    brio__free(p);
}

/* The lower triangle by columns in elimination order, rows ascending. */
static BrioStatus make_matrix(BrioScalarPattern *p, const int64_t *start, const int32_t *neighbour,
                              int32_t *position)
{
    int32_t n = p->n;
    int64_t entries = start[n] / 2 + n;
    p->A.n = n;
    p->A.start = brio__calloc((size_t)n + 2, sizeof *p->A.start);
    p->A.row = brio__alloc((size_t)entries, sizeof *p->A.row);
    p->A.value = brio__calloc((size_t)entries, sizeof *p->A.value);
    p->from = brio__alloc((size_t)entries, sizeof *p->from);
    if (!p->A.start || !p->A.row || !p->A.value || !p->from) return BRIO_ERROR_MEMORY;
    for (int32_t I = 0; I < n; I++) position[p->order[I]] = I;
    int64_t *next = p->A.start + 1; /* shifted by one while it is filled */
    for (int32_t I = 0; I < n; I++) {
        p->A.start[I + 2]++;
        for (int64_t k = start[p->order[I]]; k < start[p->order[I] + 1]; k++)
            if (position[neighbour[k]] < I) p->A.start[position[neighbour[k]] + 2]++;
    }
    for (int32_t I = 0; I <= n; I++) p->A.start[I + 1] += p->A.start[I];
    /* the diagonal of column I comes before its other rows, which are greater */
    for (int32_t I = 0; I < n; I++) {
        p->A.row[next[I]] = I;
        p->from[next[I]++] = -1;
        for (int64_t k = start[p->order[I]]; k < start[p->order[I] + 1]; k++) {
            int32_t J = position[neighbour[k]];
            if (J >= I) continue;
            p->A.row[next[J]] = I;
            p->from[next[J]++] = k;
        }
    }
    return BRIO_OK;
}

static int32_t width_of(const BrioPanels *L, int32_t s) { return L->first[s + 1] - L->first[s]; }
static int32_t height_of(const BrioPanels *L, int32_t s)
{
    return (int32_t)(L->row_start[s + 1] - L->row_start[s]);
}

/* The next supernode towards the root; -1: none. */
static int32_t parent_of(const BrioPanels *L, int32_t s)
{
    return height_of(L, s) > width_of(L, s) ? L->owner[L->row[L->row_start[s] + width_of(L, s)]]
                                            : -1;
}

static BrioStatus make_pieces(BrioScalarPattern *p)
{
    const BrioPanels *L = &p->L;
    for (int32_t s = 0; s < L->count; s++) p->pieces += (width_of(L, s) + PIECE - 1) / PIECE;
    /* and where the last one ends */
    p->piece = brio__alloc((size_t)p->pieces + 1, sizeof *p->piece);
    if (!p->piece) return BRIO_ERROR_MEMORY;
    int64_t count = 0;
    for (int32_t s = 0; s < L->count; s++) {
        int32_t width = width_of(L, s), parts = (width + PIECE - 1) / PIECE;
        for (int32_t k = 0, begin = 0; k < parts; k++) { /* of even width */
            int32_t end = (int32_t)((int64_t)width * (k + 1) / parts);
            Piece *piece = &p->piece[count++];
            *piece = (Piece){.supernode = s,
                             .first = begin,
                             .width = end - begin,
                             .height = height_of(L, s) - begin,
                             .value = p->values,
                             .place = p->places + begin};
            for (int64_t row = 0, rows; row < piece->height; row += rows) {
                rows = strip_rows(piece->height, piece->width, row);
                p->values += rows * BRIO_MIN(piece->width, row + rows);
            }
            begin = end;
        }
        p->places += height_of(L, s) + UNIT - 1;
    }
    p->piece[count] = (Piece){.value = p->values};
    return BRIO_OK;
}

/* Cuts the tree of supernodes; total: numbers of L in the subtree of each supernode. */
static BrioStatus make_nodes(BrioScalarPattern *p, int32_t *parent, int32_t *first,
                             int32_t *node_of, double *total)
{
    const BrioPanels *L = &p->L;
    double all = 0;
    for (int32_t s = 0; s < L->count; s++) {
        total[s] = 0;
        first[s] = s;
    }
    for (int32_t s = 0; s < L->count; s++) {
        double width = width_of(L, s);
        double height = height_of(L, s);
        double own = width * height - width * (width - 1) / 2;
        parent[s] = parent_of(L, s);
        total[s] += own;
        all += own;
        if (parent[s] < 0) continue;
        total[parent[s]] += total[s];
        first[parent[s]] = BRIO_MIN(first[parent[s]], first[s]);
    }
    bool shared = all >= SHARED_SOLVE;
    /* of a supernode that begins or is a node: -1; else -2 */
    for (int32_t s = L->count - 1; s >= 0; s--) {
        bool below_top =
            parent[s] < 0 || (node_of[parent[s]] == -1 && total[parent[s]] > all / NODE_DIVISOR);
        node_of[s] = shared && below_top ? -1 : -2;
        p->nodes += node_of[s] == -1;
    }
    if (!shared) p->nodes = 1; /* all of it, in addition to the root */
    p->nodes++;
    p->node = brio__calloc((size_t)p->nodes, sizeof *p->node);
    p->child = brio__alloc((size_t)p->nodes, sizeof *p->child);
    p->leaf = brio__alloc((size_t)p->nodes, sizeof *p->leaf);
    if (!p->node || !p->child || !p->leaf) return BRIO_ERROR_MEMORY;
    int32_t count = 0;
    if (!shared) p->node[count++] = (Node){.first = 0, .last = L->count - 1};
    for (int32_t s = 0; shared && s < L->count; s++)
        if (node_of[s] == -1) {
            bool top = total[s] > all / NODE_DIVISOR;
            node_of[s] = count;
            p->node[count++] = (Node){.first = top ? s : first[s], .last = s};
        }
    p->node[count] = (Node){.first = L->count, .last = L->count - 1, .parent = -1};
    for (int32_t i = 0; i < count; i++) {
        int32_t above = parent[p->node[i].last];
        p->node[i].parent = shared && above >= 0 ? node_of[above] : count;
    }
    return BRIO_OK;
}

/* Children, leaves, and what belongs to a node. */
static void make_tree(BrioScalarPattern *p)
{
    const BrioPanels *L = &p->L;
    for (int32_t i = 0; i < p->nodes; i++)
        if (p->node[i].parent >= 0) p->node[p->node[i].parent].child_end++;
    for (int32_t i = 0, next = 0; i < p->nodes; i++) {
        p->node[i].child = next;
        next += p->node[i].child_end;
        p->node[i].child_end = p->node[i].child;
    }
    int64_t piece = 0;
    for (int32_t i = 0; i < p->nodes; i++) {
        Node *node = &p->node[i];
        if (node->parent >= 0) p->child[p->node[node->parent].child_end++] = i;
        node->column = L->first[node->first];
        node->column_end = L->first[node->last + 1];
        node->spills =
            node->first > node->last ? 0 : height_of(L, node->last) - width_of(L, node->last);
        node->piece = piece;
        while (piece < p->pieces && p->piece[piece].supernode <= node->last) piece++;
        node->piece_end = piece;
        node->local = p->locals;
        node->map = p->maps;
        p->locals += node->column_end - node->column + node->spills + 1; /* the last one fills up */
        p->maps += node->spills;
        if (node->child == node->child_end) p->leaf[p->leaves++] = i;
    }
}

/* Row `row` in the vector of a node. */
static int32_t local_row(const BrioScalarPattern *p, const Node *node, int32_t row)
{
    if (row < node->column_end) return row - node->column;
    const int32_t *spilled = p->L.row + p->L.row_start[node->last + 1] - node->spills;
    return node->column_end - node->column + brio__first_row(spilled, 0, node->spills, row);
}

static BrioStatus make_places(BrioScalarPattern *p)
{
    const BrioPanels *L = &p->L;
    p->place = brio__alloc((size_t)p->places, sizeof *p->place);
    p->map = brio__alloc((size_t)p->maps, sizeof *p->map);
    if (!p->place || !p->map) return BRIO_ERROR_MEMORY;
    int32_t *place = p->place;
    for (int32_t i = 0; i < p->nodes; i++) {
        const Node *node = &p->node[i];
        for (int32_t s = node->first; s <= node->last; s++) {
            for (int64_t k = L->row_start[s]; k < L->row_start[s + 1]; k++)
                *place++ = local_row(p, node, L->row[k]);
            for (int k = 1; k < UNIT; k++)
                *place++ = node->column_end - node->column + node->spills;
        }
        for (int32_t k = 0; k < node->spills; k++)
            p->map[node->map + k] = local_row(
                p, &p->node[node->parent], L->row[L->row_start[node->last + 1] - node->spills + k]);
    }
    return BRIO_OK;
}

static BrioStatus analyse(BrioScalarPattern *p, const int64_t *start, const int32_t *neighbour,
                          int32_t *work, double *total)
{
    size_t n = (size_t)p->n;
    p->order = brio__alloc(n, sizeof *p->order);
    if (!p->order) return BRIO_ERROR_MEMORY;
    BRIO_CHECK(brio__order_dissection(p->n, start, neighbour, p->order));
    BRIO_CHECK(make_matrix(p, start, neighbour, work));
    BRIO_CHECK(brio__panels_create(&p->A, 1, &p->L));
    BRIO_CHECK(brio__left_create(&p->L, &p->left));
    if (!(p->changed = brio__calloc((size_t)p->L.count, sizeof *p->changed)))
        return BRIO_ERROR_MEMORY;
    BRIO_CHECK(make_pieces(p));
    BRIO_CHECK(make_nodes(p, work, work + n, work + 2 * n, total));
    make_tree(p);
    return make_places(p);
}

BrioStatus brio__scalar_analyse(int32_t n, const int64_t *start, const int32_t *neighbour,
                                BrioScalarPattern **pattern)
{
    *pattern = NULL;
    BrioScalarPattern *p = brio__calloc(1, sizeof *p);
    if (!p) return BRIO_ERROR_MEMORY;
    p->n = n;
    int32_t *work = brio__alloc(3 * (size_t)n, sizeof *work);
    double *total = brio__alloc((size_t)n, sizeof *total);
    BrioStatus status =
        work && total ? analyse(p, start, neighbour, work, total) : BRIO_ERROR_MEMORY;
    brio__free(work);
    brio__free(total);
    if (status != BRIO_OK) {
        brio__scalar_pattern_free(p);
        return status;
    }
    *pattern = p;
    return BRIO_OK;
}

/* ---- numbers ---------------------------------------------------------------------------- */

/* doubles of a worker: a strip of P, or four vectors of 64 bytes for each column of a piece and
 * those that fill up the last ones */
enum { SCRATCH = (PIECE + 4) * STRIP };

BrioStatus brio__scalar_factor_create(BrioScalarPattern *p, BrioScalarPrecision precision,
                                      BrioScalarFactor **factor)
{
    *factor = NULL;
    BrioScalarFactor *f = brio__calloc(1, sizeof *f);
    if (!f) return BRIO_ERROR_MEMORY;
    f->pattern = p;
    if (precision == BRIO_SCALAR_HALF && !choose_kernels(precision)) precision = BRIO_SCALAR_SINGLE;
    f->number = precision == BRIO_SCALAR_DOUBLE ? 8 : precision == BRIO_SCALAR_SINGLE ? 4 : 2;
    f->kernels = choose_kernels(precision);
    /* the last vector that is loaded may be half empty */
    size_t bytes = ((size_t)p->values + 2 * UNIT) * f->number;
    f->value = brio__panels_memory((int64_t)(bytes / sizeof(double) + 1));
    if (f->value) memset(f->value, 0, bytes);
    f->scale = precision == BRIO_SCALAR_HALF ? brio__alloc((size_t)p->n, sizeof *f->scale) : NULL;
    f->local = brio__calloc((size_t)p->locals, 4 * sizeof *f->local);
    f->pending = brio__alloc((size_t)p->nodes, sizeof *f->pending);
    f->queue = brio__alloc((size_t)p->nodes, sizeof *f->queue);
    f->workers = BRIO_MIN(brio_threads(), MAX_WORKERS);
    bool allocated = f->value && f->local && f->pending && f->queue &&
                     (f->scale || precision != BRIO_SCALAR_HALF);
    for (int w = 0; w < f->workers && allocated; w++) {
        f->scratch[w] = brio__calloc(SCRATCH, sizeof *f->scratch[w]);
        allocated = f->scratch[w] != NULL;
    }
    if (!allocated) {
        brio__scalar_factor_free(f);
        return BRIO_ERROR_MEMORY;
    }
    *factor = f;
    return BRIO_OK;
}

void brio__scalar_factor_free(BrioScalarFactor *f)
{
    if (!f) return;
    brio__free(f->value);
    brio__free(f->scale);
    brio__free(f->local);
    brio__free(f->pending);
    brio__free(f->queue);
    for (int w = 0; w < f->workers; w++) brio__free(f->scratch[w]);
    brio__free(f);
}

/* What is taken out of each column of a piece, whose diagonal is 1/L_jj: a power of two that leaves
 * that at 128 to 256. Sixteen bits hold 256 times more, and with all of their digits a
 * four-millionth. */
static double *make_scale(const BrioScalarFactor *f, const Piece *piece, const double *diagonal,
                          int64_t stride)
{
    if (!f->scale) return NULL;
    double *scale = f->scale + f->pattern->L.first[piece->supernode] + piece->first;
    for (int64_t j = 0; j < piece->width; j++) {
        int exponent;
        frexp(1 / diagonal[(stride + 1) * j], &exponent);
        scale[j] = ldexp(1, exponent - 8);
    }
    return scale;
}

/* P L_JJ = [I; -L_BJ], strip by strip, the last column first. */
static void make_piece(const BrioScalarFactor *f, const Piece *piece, double *strip)
{
    const BrioPanels *L = &f->pattern->L;
    int64_t stride = height_of(L, piece->supernode), at = piece->value;
    /* L_JJ */
    const double *from = L->value + L->panel[piece->supernode] + (stride + 1) * piece->first;
    const double *scale = make_scale(f, piece, from, stride);
    for (int64_t row = 0, rows; row < piece->height; row += rows) {
        rows = strip_rows(piece->height, piece->width, row);
        int64_t columns = BRIO_MIN(piece->width, row + rows);
        int64_t own = BRIO_MIN(rows, BRIO_MAX(0, piece->width - row));
        int64_t filled = BRIO_MIN(rows, piece->height - row);
        for (int64_t j = 0; j < columns; j++) {
            double *column = strip + rows * j;
            for (int64_t i = 0; i < own; i++) column[i] = row + i == j;
            for (int64_t i = own; i < filled; i++) column[i] = -from[stride * j + row + i];
            for (int64_t i = filled; i < rows; i++) column[i] = 0;
        }
        f->kernels->finish(rows, columns, stride, from, scale, strip, f->value, at);
        at += rows * columns;
    }
}

typedef struct Packing {
    const BrioScalarFactor *factor;
    const bool *changed; /* supernodes to do; NULL: all */
    atomic_llong next;
} Packing;

enum { SOME_PIECES = 16 };

static void pack(void *context, int64_t begin, int64_t end)
{
    Packing *packing = context;
    const BrioScalarPattern *p = packing->factor->pattern;
    for (int64_t w = begin; w < end; w++)
        for (int64_t i; (i = atomic_fetch_add(&packing->next, SOME_PIECES)) < p->pieces;)
            for (int64_t k = i; k < BRIO_MIN(i + SOME_PIECES, p->pieces); k++)
                if (!packing->changed || packing->changed[p->piece[k].supernode])
                    make_piece(packing->factor, &p->piece[k], packing->factor->scratch[w]);
}

/* Fills A and marks the supernodes that the new numbers lie in, and those above. */
static void fill(BrioScalarPattern *p, const double *diagonal, const double *off)
{
    memset(p->changed, 0, (size_t)p->L.count * sizeof *p->changed);
    for (int32_t J = 0; J < p->n; J++) {
        bool differs = false;
        for (int64_t k = p->A.start[J]; k < p->A.start[J + 1]; k++) {
            double value = p->from[k] < 0 ? diagonal[p->order[J]] : off[p->from[k]];
            differs |= value != p->A.value[k];
            p->A.value[k] = value;
        }
        p->changed[p->L.owner[J]] |= differs;
    }
    for (int32_t s = 0; s < p->L.count; s++) {
        int32_t above = parent_of(&p->L, s);
        if (above >= 0) p->changed[above] |= p->changed[s];
    }
}

/* What did not change is not done again: the numbers are those of a whole factorisation, to the
 * bit. */
BrioStatus brio__scalar_factorise(BrioScalarFactor *f, const double *diagonal, const double *off)
{
    BrioScalarPattern *p = f->pattern;
    bool again = p->version && f->version == p->version, whole = !p->version;
    fill(p, diagonal, off);
    f->version = p->version = 0;
    BRIO_CHECK(brio__left_factor(p->left, &p->A, whole ? NULL : p->changed));
    f->version = p->version = ++p->factorisations;
    Packing packing = {.factor = f, .changed = again ? p->changed : NULL};
    brio__parallel_for(BRIO_MIN(f->workers, p->pieces / SOME_PIECES + 1), 1, pack, &packing);
    return BRIO_OK;
}

/* ---- solves ----------------------------------------------------------------------------- */

typedef struct Solve {
    const BrioScalarFactor *factor;
    const double *b;
    double *x;
    atomic_int leaves, front, back; /* taken forward, of which from either end */
    atomic_int taken, ready;        /* places of the queue, backward */
} Solve;

static const void *number_at(const BrioScalarFactor *f, int64_t at)
{
    return (const char *)f->value + f->number * (size_t)at;
}

static const double *scale_of(const BrioScalarFactor *f, const Piece *piece)
{
    return f->scale ? f->scale + f->pattern->L.first[piece->supernode] + piece->first : NULL;
}

static void forward_node(const Solve *solve, const Node *node, double *scratch)
{
    const BrioScalarFactor *f = solve->factor;
    const BrioScalarPattern *p = f->pattern;
    double *local = f->local + 4 * node->local;
    int32_t columns = node->column_end - node->column;
    const int32_t *order = p->order + node->column;
    for (int32_t i = 0; i < columns; i++) {
        __builtin_prefetch(solve->b + 3 * (int64_t)order[BRIO_MIN(i + ROWS_AHEAD, columns - 1)]);
        memcpy(local + 4 * (int64_t)i, solve->b + 3 * (int64_t)order[i], 3 * sizeof *local);
    }
    memset(local + 4 * (int64_t)columns, 0, 4 * sizeof *local * ((size_t)node->spills + 1));
    for (int32_t c = node->child; c < node->child_end; c++) {
        const Node *child = &p->node[p->child[c]];
        const double *spill = f->local + 4 * (child->local + child->column_end - child->column);
        for (int32_t i = 0; i < child->spills; i++)
            for (int r = 0; r < 4; r++)
                local[4 * (int64_t)p->map[child->map + i] + r] += spill[4 * (int64_t)i + r];
    }
    for (int64_t k = node->piece; k < node->piece_end; k++) {
        const Piece *piece = &p->piece[k];
        f->kernels->forward(piece->height, piece->width, number_at(f, piece->value),
                            scale_of(f, piece), p->place + piece->place, local, scratch);
    }
}

static void backward_node(const Solve *solve, const Node *node, double *scratch)
{
    const BrioScalarFactor *f = solve->factor;
    const BrioScalarPattern *p = f->pattern;
    double *local = f->local + 4 * node->local;
    int32_t columns = node->column_end - node->column;
    const double *above = node->parent < 0 ? NULL : f->local + 4 * p->node[node->parent].local;
    for (int32_t i = 0; i < node->spills; i++)
        memcpy(local + 4 * (int64_t)(columns + i), above + 4 * (int64_t)p->map[node->map + i],
               4 * sizeof *local);
    for (int64_t k = node->piece_end - 1; k >= node->piece; k--) {
        const Piece *piece = &p->piece[k], *next = &p->piece[BRIO_MAX(k - 1, 0)];
        f->kernels->backward(piece->height, piece->width, number_at(f, piece->value),
                             scale_of(f, piece), piece[1].value - piece->value,
                             number_at(f, next->value), p->place + piece->place, local, scratch);
    }
    const int32_t *order = p->order + node->column;
    for (int32_t i = 0; i < columns; i++) {
        __builtin_prefetch(solve->x + 3 * (int64_t)order[BRIO_MIN(i + ROWS_AHEAD, columns - 1)], 1);
        memcpy(solve->x + 3 * (int64_t)order[i], local + 4 * (int64_t)i, 3 * sizeof *local);
    }
}

static int32_t wait_for_place(const atomic_int *place)
{
    double begin = brio__seconds();
    int32_t at;
    for (int tries = 0; (at = *place) < 0; tries++)
        if (tries > 1000) sched_yield();
    brio__waited(brio__seconds() - begin);
    return at;
}

/* Forward: a worker takes a leaf, and goes on with the parent whose last child it finished. Workers
 * with even numbers begin at one end of the tree, those with odd ones at the other, so that much of
 * what one of two reads is in its cache from the last solve. Who finishes the root opens the queue
 * of nodes whose parents are done. Who takes a place of the queue waits until it is filled, by a
 * worker that has taken an earlier place: with one thread that never happens. */
static void solve_nodes(Solve *solve, int64_t begin)
{
    const BrioScalarFactor *f = solve->factor;
    const BrioScalarPattern *p = f->pattern;
    double *scratch = f->scratch[begin];
    bool from_front = begin % 2 == 0;
    while (atomic_fetch_add(&solve->leaves, 1) < p->leaves) {
        int32_t i = from_front ? atomic_fetch_add(&solve->front, 1)
                               : p->leaves - 1 - atomic_fetch_add(&solve->back, 1);
        for (int32_t at = p->leaf[i]; at >= 0;) {
            const Node *node = &p->node[at];
            forward_node(solve, node, scratch);
            if (node->parent < 0) {
                solve->ready = 1;
                f->queue[0] = at;
            }
            at = node->parent >= 0 && atomic_fetch_sub(&f->pending[node->parent], 1) == 1
                     ? node->parent
                     : -1;
        }
    }
    for (int32_t i; (i = atomic_fetch_add(&solve->taken, 1)) < p->nodes;) {
        int32_t at = f->queue[i];
        if (at < 0) at = wait_for_place(&f->queue[i]);
        const Node *node = &p->node[at];
        backward_node(solve, node, scratch);
        for (int32_t c = node->child; c < node->child_end; c++)
            f->queue[atomic_fetch_add(&solve->ready, 1)] = p->child[c];
    }
}

/* L^-1 falls off from its diagonal, the faster the shorter the step, and soon below what a float
 * can hold with all of its digits. Processors take a hundred times as long for such numbers, so
 * they count as zero here. */
static void work(void *context, int64_t begin, int64_t end)
{
    Solve *solve = context;
    (void)end;
#if defined(__x86_64__)
    enum { TINY_RESULTS_ARE_ZERO = 0x8000, TINY_OPERANDS_ARE_ZERO = 0x0040 };
    unsigned before = _mm_getcsr();
    if (solve->factor->number < 8)
        _mm_setcsr(before | TINY_RESULTS_ARE_ZERO | TINY_OPERANDS_ARE_ZERO);
    solve_nodes(solve, begin);
    _mm_setcsr(before);
#else
    solve_nodes(solve, begin);
#endif
}

void brio__scalar_solve(const BrioScalarFactor *f, const double *b, double *x)
{
    const BrioScalarPattern *p = f->pattern;
    Solve solve = {.factor = f, .b = b, .x = x};
    for (int32_t i = 0; i < p->nodes; i++) {
        f->pending[i] = p->node[i].child_end - p->node[i].child;
        f->queue[i] = -1;
    }
    brio__parallel_for(BRIO_MIN(f->workers, p->leaves), 1, work, &solve);
}

double brio__scalar_numbers(const BrioScalarPattern *p) { return (double)p->values; }

void brio__scalar_stats(const BrioScalarFactor *f, BrioScalarStats *stats)
{
    const BrioScalarPattern *p = f->pattern;
    double number = (double)f->number, indices = 0;
    for (int64_t k = 0; k < p->pieces; k++) indices += p->piece[k].height;
    *stats = (BrioScalarStats){
        .nonzeros = p->L.blocks, .stored = (double)p->values, .flops = p->L.flops};
    stats->min_bytes = 2 * (number * p->L.blocks + 4 * (double)p->L.row_start[p->L.count]);
    stats->solve_bytes = 2 * (number * (double)p->values + 4 * indices);
    stats->bytes =
        number * (double)p->values + 32.0 * (double)p->locals + 8.0 * f->workers * SCRATCH;
    stats->pattern_bytes = 8.0 * (double)p->L.panel[p->L.count] +
                           8.0 * (double)p->L.row_start[p->L.count] +
                           20.0 * (double)p->A.start[p->n] + 24.0 * p->n;
}
