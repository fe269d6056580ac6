/* Supernodes and their tree (panels.h). */
#include "panels.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

enum { PADDING = 24 }; /* numbers after the last panel that tiles may read */

void brio__panels_free(BrioPanels *f)
{
    brio__free(f->first);
    brio__free(f->owner);
    brio__free(f->row_start);
    brio__free(f->row);
    brio__free(f->panel);
    brio__free(f->value);
    *f = (BrioPanels){0};
}

double *brio__panels_memory(int64_t count)
{
    double *memory = brio__alloc((size_t)count, sizeof *memory);
#ifdef MADV_HUGEPAGE
    enum { LARGE = 2 << 20 };
    uintptr_t begin = ((uintptr_t)memory + LARGE - 1) / LARGE * LARGE;
    uintptr_t end = ((uintptr_t)memory + sizeof *memory * (size_t)count) / LARGE * LARGE;
    if (memory && begin < end) (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#endif
    return memory;
}

BrioStatus brio__lower_create(const BrioMatrix *A, BrioLower *rows)
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

void brio__lower_free(BrioLower *rows)
{
    brio__free(rows->start);
    brio__free(rows->column);
    *rows = (BrioLower){0};
}

double brio__count_columns(int32_t n, const BrioLower *rows, double max, int32_t *parent,
                           int32_t *count, int32_t *mark)
{
    double blocks = 0;
    for (int32_t I = 0; I < n && blocks <= max; I++) {
        parent[I] = -1;
        count[I] = 1;
        mark[I] = I;
        blocks++;
        for (int64_t k = rows->start[I]; k < rows->start[I + 1]; k++)
            for (int32_t J = rows->column[k]; mark[J] != I; J = parent[J]) {
                if (parent[J] < 0) parent[J] = I;
                count[J]++;
                blocks++;
                mark[J] = I;
            }
    }
    return blocks;
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

/* Rows of each supernode: the same walk up the tree as for the columns, row by row, so that they
 * come sorted. */
static BrioStatus make_structure(BrioPanels *f, const BrioLower *rows, const int32_t *parent,
                                 const int32_t *height, int32_t *mark, int32_t *written)
{
    size_t count = (size_t)f->count;
    f->row_start = brio__alloc(count + 1, sizeof *f->row_start);
    f->panel = brio__alloc(count + 1, sizeof *f->panel);
    if (!f->row_start || !f->panel) return BRIO_ERROR_MEMORY;
    int block = f->block;
    f->row_start[0] = f->panel[0] = 0;
    for (int32_t s = 0; s < f->count; s++) {
        int64_t width = brio__panel_width(f, s);
        f->row_start[s + 1] = f->row_start[s] + height[s];
        f->panel[s + 1] = f->panel[s] + block * block * width * height[s];
        f->tallest = BRIO_MAX(f->tallest, height[s]);
        f->widest = BRIO_MAX(f->widest, (int32_t)width);
        for (int64_t i = 0; i < block * width; i++)
            f->flops += (double)(block * height[s] - i) * (double)(block * height[s] - i);
    }
    double bytes =
        8.0 * (double)(f->panel[f->count] + PADDING) + 4.0 * (double)f->row_start[f->count];
    if (bytes > brio__memory_available()) return BRIO_ERROR_TOO_LARGE;
    f->row = brio__alloc((size_t)f->row_start[f->count], sizeof *f->row);
    f->value = brio__panels_memory(f->panel[f->count] + PADDING);
    if (!f->row || !f->value) return BRIO_ERROR_MEMORY;
    memset(f->value, 0, sizeof *f->value * (size_t)(f->panel[f->count] + PADDING));

    for (int32_t s = 0; s < f->count; s++) {
        mark[s] = -1;
        written[s] = brio__panel_width(f, s);
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
    return BRIO_OK;
}

static BrioStatus analyse(BrioPanels *f, const BrioMatrix *A, BrioLower *rows, int32_t *work,
                          int64_t *blocks)
{
    size_t n = (size_t)A->n;
    int32_t *parent = work, *count = work + n, *mark = work + 2 * n, *height = work + 3 * n;
    BRIO_CHECK(brio__lower_create(A, rows));
    f->first = brio__alloc(n + 1, sizeof *f->first);
    f->owner = brio__alloc(n, sizeof *f->owner);
    if (!f->first || !f->owner) return BRIO_ERROR_MEMORY;
    f->blocks = brio__count_columns(f->n, rows, INFINITY, parent, count, mark);
    f->count = find_supernodes(f->block, f->n, parent, count, f->first, height, blocks);
    for (int32_t s = 0; s < f->count; s++)
        for (int32_t J = f->first[s]; J < f->first[s + 1]; J++) f->owner[J] = s;
    return make_structure(f, rows, parent, height, mark, count);
}

BrioStatus brio__panels_create(const BrioMatrix *A, int block, BrioPanels *panels)
{
    *panels = (BrioPanels){.block = block, .n = A->n};
    if (A->n > INT32_MAX / 3) return BRIO_ERROR_TOO_LARGE;
    BrioLower rows = {0};
    int32_t *work = brio__alloc(4 * (size_t)A->n, sizeof *work);
    int64_t *blocks = brio__alloc((size_t)A->n, sizeof *blocks);
    BrioStatus status =
        work && blocks ? analyse(panels, A, &rows, work, blocks) : BRIO_ERROR_MEMORY;
    brio__free(work);
    brio__free(blocks);
    brio__lower_free(&rows);
    if (status != BRIO_OK) brio__panels_free(panels);
    return status;
}

double brio__panels_bytes(const BrioPanels *f)
{
    return 8.0 * (double)f->panel[f->count] + 4.0 * (double)f->row_start[f->count] +
           20.0 * f->count + 4.0 * f->n;
}

void brio__panel_map(const BrioPanels *f, int32_t s, int32_t *map)
{
    int32_t height = brio__panel_height(f, s);
    for (int32_t r = 0; r < height; r++) map[f->row[f->row_start[s] + r]] = r;
}

void brio__panel_load(const BrioPanels *f, const BrioMatrix *A, int32_t s, const int32_t *map,
                      int32_t begin, int32_t end)
{
    int block = f->block;
    int64_t stride = block * (int64_t)brio__panel_height(f, s);
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

/* ---- the tree --------------------------------------------------------------------------- */

/* Of the cost: the largest subtree. Small ones leave less to the end, and more to the top. */
enum { SUBTREE_DIVISOR = 10 };

void brio__panels_tree_free(BrioPanelsTree *tree)
{
    brio__free(tree->parent);
    brio__free(tree->child_start);
    brio__free(tree->child);
    brio__free(tree->sequence);
    brio__free(tree->kind);
    brio__free(tree->subtree);
    brio__free(tree->top);
    *tree = (BrioPanelsTree){0};
}

static void make_children(const BrioPanels *L, BrioPanelsTree *tree)
{
    int32_t count = L->count;
    for (int32_t s = 0; s < count; s++) {
        int32_t width = brio__panel_width(L, s);
        bool root = brio__panel_height(L, s) == width;
        int32_t parent = root ? -1 : L->owner[L->row[L->row_start[s] + width]];
        tree->parent[s] = parent;
        if (parent + 2 <= count && !root) tree->child_start[parent + 2]++;
    }
    /* counted one place too far: start[s+1] runs from the first to past the last child of s */
    for (int32_t s = 2; s <= count; s++) tree->child_start[s] += tree->child_start[s - 1];
    for (int32_t s = 0; s < count; s++)
        if (tree->parent[s] >= 0) tree->child[tree->child_start[tree->parent[s] + 1]++] = s;
}

static void make_sequence(int32_t count, BrioPanelsTree *tree, int32_t *stack)
{
    int32_t at = count, depth = 0;
    for (int32_t s = 0; s < count; s++)
        if (tree->parent[s] < 0) stack[depth++] = s;
    while (depth > 0) {
        int32_t s = stack[--depth];
        tree->sequence[--at] = s;
        for (int32_t k = tree->child_start[s]; k < tree->child_start[s + 1]; k++)
            stack[depth++] = tree->child[k];
    }
}

static int by_cost(const void *a, const void *b)
{
    const BrioSubtree *x = a, *y = b;
    if (x->cost != y->cost) return x->cost < y->cost ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

static BrioStatus make_subtrees(int32_t count, BrioPanelsTree *tree, const double *cost,
                                bool shared, double *total, int32_t *size)
{
    double all = 0;
    for (int32_t s = 0; s < count; s++) total[s] = cost[s], size[s] = 1, all += cost[s];
    double max = shared ? all / SUBTREE_DIVISOR : INFINITY;
    for (int32_t k = 0; k < count; k++) {
        int32_t s = tree->sequence[k], parent = tree->parent[s];
        if (parent >= 0) total[parent] += total[s], size[parent] += size[s];
    }
    for (int32_t s = 0; s < count; s++) {
        bool top = total[s] > max, root = tree->parent[s] < 0 || total[tree->parent[s]] > max;
        tree->kind[s] = top ? BRIO_TREE_TOP : root ? BRIO_SUBTREE_ROOT : BRIO_IN_SUBTREE;
        tree->subtrees += tree->kind[s] == BRIO_SUBTREE_ROOT;
        tree->tops += top;
    }
    tree->subtree = brio__alloc((size_t)tree->subtrees, sizeof *tree->subtree);
    tree->top = brio__alloc((size_t)tree->tops, sizeof *tree->top);
    if (!tree->subtree || !tree->top) return BRIO_ERROR_MEMORY;
    for (int32_t k = 0, t = 0, at = 0; k < count; k++) {
        int32_t s = tree->sequence[k];
        if (tree->kind[s] == BRIO_SUBTREE_ROOT)
            tree->subtree[t++] = (BrioSubtree){k - size[s] + 1, k, total[s]};
        if (tree->kind[s] == BRIO_TREE_TOP) tree->top[at++] = s;
    }
    qsort(tree->subtree, (size_t)tree->subtrees, sizeof *tree->subtree, by_cost);
    return BRIO_OK;
}

BrioStatus brio__panels_tree(const BrioPanels *L, const double *cost, bool shared,
                             BrioPanelsTree *tree)
{
    size_t count = (size_t)L->count;
    *tree = (BrioPanelsTree){.parent = brio__alloc(count, sizeof *tree->parent),
                             .child_start = brio__calloc(count + 1, sizeof *tree->child_start),
                             .child = brio__alloc(count, sizeof *tree->child),
                             .sequence = brio__alloc(count, sizeof *tree->sequence),
                             .kind = brio__alloc(count, sizeof *tree->kind)};
    double *total = brio__alloc(count, sizeof *total);
    int32_t *work = brio__alloc(count, sizeof *work);
    BrioStatus status = BRIO_ERROR_MEMORY;
    if (tree->parent && tree->child_start && tree->child && tree->sequence && tree->kind && total &&
        work) {
        make_children(L, tree);
        make_sequence(L->count, tree, work);
        status = make_subtrees(L->count, tree, cost, shared, total, work);
    }
    brio__free(total);
    brio__free(work);
    if (status != BRIO_OK) brio__panels_tree_free(tree);
    return status;
}

/* ---- threads ---------------------------------------------------------------------------- */

typedef struct Share {
    BrioTask *task;
    void *context;
    int64_t count;
    atomic_llong next;
    atomic_bool failed;
} Share;

static void work_tasks(void *context, int64_t begin, int64_t end)
{
    Share *share = context;
    for (int64_t w = begin; w < end; w++)
        for (int64_t i; !share->failed && (i = atomic_fetch_add(&share->next, 1)) < share->count;)
            if (!share->task(share->context, (int)w, (int32_t)i)) share->failed = true;
}

int brio__workers(void) { return BRIO_MIN(brio_threads(), BRIO_MAX_WORKERS); }

bool brio__distribute(int workers, int64_t count, BrioTask *task, void *context)
{
    Share share = {.task = task, .context = context, .count = count};
    brio__parallel_for(BRIO_MIN(workers, count), 1, work_tasks, &share);
    return !share.failed;
}
