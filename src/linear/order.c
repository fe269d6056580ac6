/* Elimination orders without a library.
 *
 * Nested dissection [George1973]: a small set of vertices whose removal splits the graph in two is
 * eliminated last, and both halves are ordered in the same way; see separate.c. Regions of at most
 * LEAF vertices are ordered by minimum degree; the separators around them count in the degrees
 * [Pellegrini2000]. Vertices with the same closed neighbourhood, such as the blocks of an affine
 * body, are one vertex with a weight from the beginning [Ashcraft1995].
 *
 * A range [begin, end) of order[] holds the vertices of a region; region[v] = begin names it, since
 * no two regions that are still to be split begin at the same place. Vertices that are placed for
 * good have -1. */
#include "order.h"

#include "dissect.h"

#include <string.h>

enum { LEAF = 80, SEARCHES = 6 };

typedef struct Range {
    int32_t begin, end;
} Range;

typedef struct Dissection {
    int32_t n;
    int64_t *start;
    int32_t *neighbour, *weight;
    int32_t *order, *region;
    int32_t *level; /* of the search; -1: not reached. Later the number in the region. */
    int32_t *queue;
    Range *stack;
    int32_t depth; /* of the stack: at most one range for each vertex */
    BrioPool pool;
    BrioSeparator *separator;
    uint64_t *row; /* of leaves */
} Dissection;

/* ---- searches ----------------------------------------------------------------------------- */

/* Breadth-first from `root` inside its region, written to queue; returns how many were reached. */
static int32_t search(const int64_t *start, const int32_t *neighbour, const int32_t *regions,
                      int32_t *level, int32_t root, int32_t *queue)
{
    int32_t region = regions[root], count = 1;
    queue[0] = root;
    level[root] = 0;
    for (int32_t i = 0; i < count; i++) {
        int32_t v = queue[i];
        for (int64_t k = start[v]; k < start[v + 1]; k++) {
            int32_t u = neighbour[k];
            if (regions[u] != region || level[u] >= 0) continue;
            level[u] = level[v] + 1;
            queue[count++] = u;
        }
    }
    return count;
}

/* ---- dissection --------------------------------------------------------------------------- */

static void push(Dissection *d, int32_t begin, int32_t end)
{
    if (begin == end) return;
    for (int32_t i = begin; i < end; i++) d->region[d->order[i]] = begin;
    d->stack[d->depth++] = (Range){begin, end};
}

static int64_t degree_of(const Dissection *d, int32_t v) { return d->start[v + 1] - d->start[v]; }

/* Orders a small region by minimum degree. */
static void order_leaf(Dissection *d, int32_t begin, int32_t end)
{
    int32_t n = end - begin, all = n, *number = d->level, *vertices = d->order + begin;
    int32_t weight[BRIO_MAX_BITS], member[BRIO_MAX_BITS], order[BRIO_MAX_BITS];
    for (int32_t i = 0; i < n; i++) {
        member[i] = vertices[i];
        number[vertices[i]] = i;
    }
    for (int32_t i = 0; i < n; i++) {
        int32_t v = member[i];
        for (int64_t k = d->start[v]; k < d->start[v + 1]; k++) {
            int32_t u = d->neighbour[k];
            if (number[u] >= 0 || all == BRIO_MAX_BITS) continue;
            number[u] = all;
            member[all++] = u;
        }
    }
    int32_t words = (all + 63) / 64;
    memset(d->row, 0, (size_t)n * (size_t)words * sizeof *d->row);
    for (int32_t i = 0; i < all; i++) weight[i] = d->weight[member[i]];
    for (int32_t i = 0; i < n; i++) {
        int32_t v = member[i];
        uint64_t *row = d->row + (size_t)i * (size_t)words;
        row[i / 64] |= 1ull << i % 64;
        for (int64_t k = d->start[v]; k < d->start[v + 1]; k++) {
            int32_t u = number[d->neighbour[k]];
            if (u >= 0) row[u / 64] |= 1ull << u % 64;
        }
    }
    brio__minimum_degree(n, all, weight, d->row, order);
    for (int32_t i = 0; i < n; i++) {
        vertices[i] = member[order[i]];
        d->region[vertices[i]] = -1;
    }
    for (int32_t i = 0; i < all; i++) number[member[i]] = -1;
}

/* The graph of a region. */
static void extract(Dissection *d, int32_t begin, int32_t end, BrioGraph *g)
{
    int32_t *number = d->level;
    int64_t edges = 0;
    for (int32_t i = begin; i < end; i++) {
        number[d->order[i]] = i - begin;
        edges += degree_of(d, d->order[i]);
    }
    d->pool.used = 0;
    brio__pool_take(&d->pool, end - begin, edges, g); /* fits: it is made for more */
    edges = 0;
    for (int32_t i = begin; i < end; i++) {
        int32_t v = d->order[i];
        g->start[i - begin] = edges;
        g->weight[i - begin] = d->weight[v];
        g->total += d->weight[v];
        for (int64_t k = d->start[v]; k < d->start[v + 1]; k++) {
            int32_t u = d->neighbour[k];
            if (d->region[u] == begin) g->neighbour[edges++] = number[u];
        }
    }
    g->start[g->n] = edges;
    for (int64_t k = 0; k < edges; k++) g->edge[k] = 1;
    brio__pool_trim(&d->pool, g);
    for (int32_t i = begin; i < end; i++) number[d->order[i]] = -1;
}

/* Orders a region without a useful separator: by minimum degree, or by the degrees of the beginning
 * if it is large (Shell's sort). */
static void order_whole(Dissection *d, int32_t begin, int32_t end)
{
    if (end - begin <= BRIO_MAX_BITS) {
        order_leaf(d, begin, end);
        return;
    }
    int32_t gap = 1;
    while (gap < (end - begin) / 3) gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (int32_t i = begin + gap; i < end; i++) {
            int32_t v = d->order[i], j = i;
            for (; j - gap >= begin && degree_of(d, d->order[j - gap]) > degree_of(d, v); j -= gap)
                d->order[j] = d->order[j - gap];
            d->order[j] = v;
        }
    for (int32_t i = begin; i < end; i++) d->region[d->order[i]] = -1;
}

/* Orders a connected region, or splits it. Each side gets at least one vertex in MIN_SIDE, so that
 * the depth is a logarithm. */
static void split(Dissection *d, int32_t begin, int32_t end)
{
    enum { MIN_SIDE = 16 };
    int32_t count = end - begin;
    if (count <= LEAF) {
        order_leaf(d, begin, end);
        return;
    }
    BrioGraph g;
    extract(d, begin, end, &g);
    brio__separate(d->separator, &d->pool, &g);
    int32_t size[3] = {0, 0, 0};
    for (int32_t i = 0; i < count; i++) size[g.side[i]]++;
    if (BRIO_MIN(size[BRIO_SIDE_A], size[BRIO_SIDE_B]) < count / MIN_SIDE) {
        order_whole(d, begin, end);
        return;
    }
    int32_t b = begin + size[BRIO_SIDE_A], separator = b + size[BRIO_SIDE_B];
    int32_t next[3] = {begin, b, separator}, *queue = d->queue + begin;
    memcpy(queue, d->order + begin, (size_t)count * sizeof *queue);
    for (int32_t i = 0; i < count; i++) d->order[next[g.side[i]]++] = queue[i];
    for (int32_t i = separator; i < end; i++) d->region[d->order[i]] = -1;
    push(d, begin, b);
    push(d, b, separator);
}

/* Connected components become ranges of their own; a connected region is split. */
static void dissect(Dissection *d, int32_t begin, int32_t end)
{
    int32_t found = begin, first_end = begin;
    for (int32_t i = begin; i < end; i++) {
        if (d->level[d->order[i]] >= 0) continue;
        found += search(d->start, d->neighbour, d->region, d->level, d->order[i], d->queue + found);
        if (first_end == begin) first_end = found;
    }
    memcpy(d->order + begin, d->queue + begin, (size_t)(end - begin) * sizeof *d->order);
    if (first_end == end) {
        for (int32_t i = begin; i < end; i++) d->level[d->order[i]] = -1;
        split(d, begin, end);
        return;
    }
    for (int32_t i = begin, first = begin; i < end; i++) {
        d->level[d->order[i]] = -1;
        /* level 0: the next component begins */
        if (i + 1 < end && d->level[d->order[i + 1]] != 0) continue;
        push(d, first, i + 1);
        first = i + 1;
    }
}

/* Elimination tree [Liu1990] of the graph in the given order, by positions; -1: a root. */
static void elimination_tree(int32_t n, const int64_t *start, const int32_t *neighbour,
                             const int32_t *order, const int32_t *position, int32_t *parent,
                             int32_t *ancestor)
{
    for (int32_t i = 0; i < n; i++) {
        parent[i] = ancestor[i] = -1;
        for (int64_t k = start[order[i]]; k < start[order[i] + 1]; k++)
            for (int32_t j = position[neighbour[k]], up; j >= 0 && j < i; j = up) {
                up = ancestor[j];
                ancestor[j] = i;
                if (up < 0) parent[j] = i;
            }
    }
}

/* post[k] = k-th vertex of the tree, children before parents and subtrees together. */
static void postorder(int32_t n, const int32_t *parent, int32_t *child, int32_t *sibling,
                      int32_t *stack, int32_t *post)
{
    int32_t count = 0;
    for (int32_t i = 0; i < n; i++) child[i] = -1;
    for (int32_t i = n - 1; i >= 0; i--)
        if (parent[i] >= 0) {
            sibling[i] = child[parent[i]];
            child[parent[i]] = i;
        }
    for (int32_t root = 0; root < n; root++) {
        if (parent[root] >= 0) continue;
        int32_t depth = 0;
        stack[depth++] = root;
        while (depth > 0) {
            int32_t i = stack[depth - 1];
            if (child[i] >= 0) {
                stack[depth++] = child[i];
                child[i] = sibling[child[i]];
            } else {
                post[count++] = i;
                depth--;
            }
        }
    }
}

/* Row i of L holds the columns on the paths up the tree from the neighbours of i that come before
 * it. */
static double count_operations(int32_t n, const int64_t *start, const int32_t *neighbour,
                               const int32_t *order, const int32_t *position, const int32_t *parent,
                               int32_t *count, int32_t *mark)
{
    double operations = 0;
    for (int32_t i = 0; i < n; i++) {
        count[i] = 1;
        mark[i] = i;
        for (int64_t k = start[order[i]]; k < start[order[i] + 1]; k++)
            for (int32_t j = position[neighbour[k]]; j < i && mark[j] != i; j = parent[j]) {
                count[j]++;
                mark[j] = i;
            }
    }
    for (int32_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) operations += (3.0 * count[i] - c) * (3.0 * count[i] - c);
    return operations;
}

BrioStatus brio__order_postorder(int32_t n, const int64_t *start, const int32_t *neighbour,
                                 int32_t *order, double *operations)
{
    size_t size = (size_t)n;
    int32_t *work = brio__alloc(7 * size, sizeof *work);
    if (!work) return BRIO_ERROR_MEMORY;
    int32_t *position = work;
    int32_t *parent = work + size;
    int32_t *child = work + 2 * size;
    int32_t *sibling = work + 3 * size;
    int32_t *path = work + 4 * size, *post = work + 5 * size, *old = work + 6 * size;
    memcpy(old, order, size * sizeof *order);
    for (int32_t i = 0; i < n; i++) position[old[i]] = i;
    elimination_tree(n, start, neighbour, old, position, parent, child);
    if (operations)
        *operations = count_operations(n, start, neighbour, old, position, parent, child, sibling);
    postorder(n, parent, child, sibling, path, post);
    for (int32_t i = 0; i < n; i++) order[i] = old[post[i]];
    brio__free(work);
    return BRIO_OK;
}

/* ---- compression -------------------------------------------------------------------------- */

/* Dense vertices, with very many neighbours, go last: they are near to everything and would blur
 * the search. Vertices with the same closed neighbourhood are in one class: class[v], or -1 if v is
 * dense. Returns the number of classes. */
static int32_t find_classes(int32_t n, const int64_t *start, const int32_t *neighbour,
                            int32_t *class, int32_t *work)
{
    int32_t *head = work, *next = head + n, *mark = next + n;
    uint32_t *hash = (uint32_t *)(mark + n);
    int64_t max = (int64_t)(16 + 10 * sqrt((double)n));
    int32_t classes = 0;
    for (int32_t v = 0; v < n; v++) {
        class[v] = start[v + 1] - start[v] > max ? -1 : v;
        head[v] = mark[v] = -1;
    }
    for (int32_t v = 0; v < n; v++) {
        if (class[v] < 0) continue;
        uint32_t sum = (uint32_t)v * 2654435761u;
        int64_t degree = start[v + 1] - start[v];
        for (int64_t k = start[v]; k < start[v + 1]; k++) {
            mark[neighbour[k]] = v;
            sum += (uint32_t)neighbour[k] * 2654435761u;
        }
        mark[v] = v;
        hash[v] = sum;
        int32_t bucket = (int32_t)((uint64_t)sum * (uint64_t)n >> 32), same = head[bucket];
        for (; same >= 0; same = next[same]) {
            if (hash[same] != sum || start[same + 1] - start[same] != degree) continue;
            bool equal = mark[same] == v;
            for (int64_t k = start[same]; equal && k < start[same + 1]; k++)
                equal = mark[neighbour[k]] == v;
            if (equal) break;
        }
        if (same >= 0) {
            class[v] = class[same];
        } else {
            class[v] = classes++;
            next[v] = head[bucket];
            head[bucket] = v;
        }
    }
    return classes;
}

/* The graph of the classes: neighbours of one member, each class once. */
static void make_quotient(Dissection *d, int32_t n, const int64_t *start, const int32_t *neighbour,
                          const int32_t *class, int32_t *mark)
{
    int64_t edges = 0;
    int32_t c = 0;
    for (int32_t i = 0; i < d->n; i++) {
        d->weight[i] = 0;
        mark[i] = -1;
    }
    for (int32_t v = 0; v < n; v++)
        if (class[v] >= 0) d->weight[class[v]]++;
    for (int32_t v = 0; v < n; v++) {
        if (class[v] != c) continue; /* classes are numbered by their first members */
        d->start[c] = edges;
        mark[c] = c;
        for (int64_t k = start[v]; k < start[v + 1]; k++) {
            int32_t other = class[neighbour[k]];
            if (other < 0 || mark[other] == c) continue;
            mark[other] = c;
            d->neighbour[edges++] = other;
        }
        c++;
    }
    d->start[c] = edges;
}

/* The order of the classes becomes one of their members; dense vertices follow. */
static void expand(const Dissection *d, int32_t n, const int32_t *class, int32_t *place,
                   int32_t *order)
{
    int32_t next = 0;
    for (int32_t i = 0; i < d->n; i++) {
        place[d->order[i]] = next;
        next += d->weight[d->order[i]];
    }
    for (int32_t v = 0; v < n; v++) order[class[v] < 0 ? next++ : place[class[v]]++] = v;
}

static void release(Dissection *d)
{
    brio__free(d->start);
    brio__free(d->neighbour);
    brio__free(d->weight);
    brio__free(d->stack);
    brio__free(d->pool.memory);
    brio__free(d->row);
    brio__separator_free(d->separator);
}

static BrioStatus reserve(Dissection *d, int32_t n, int64_t edges)
{
    enum { GRAPHS = 4 }; /* a graph and all coarser ones are as large as about three */
    size_t size = (size_t)n;
    d->start = brio__alloc(size + 1, sizeof *d->start);
    d->neighbour = brio__alloc((size_t)edges, sizeof *d->neighbour);
    d->weight = brio__alloc(5 * size, sizeof *d->weight);
    d->stack = brio__alloc(size, sizeof *d->stack);
    d->pool.size = brio__pool_size(GRAPHS * size, GRAPHS * (size_t)edges);
    d->pool.memory = brio__alloc(d->pool.size, 1);
    d->row = brio__alloc((size_t)BRIO_MAX_BITS * (BRIO_MAX_BITS / 64), sizeof *d->row);
    if (!d->start || !d->neighbour || !d->weight || !d->stack || !d->pool.memory || !d->row)
        return BRIO_ERROR_MEMORY;
    d->order = d->weight + size;
    d->region = d->weight + 2 * size;
    d->level = d->weight + 3 * size;
    d->queue = d->weight + 4 * size;
    return brio__separator_create(n, &d->separator);
}

BrioStatus brio__order_dissection(int32_t n, const int64_t *start, const int32_t *neighbour,
                                  int32_t *order)
{
    size_t size = (size_t)n;
    Dissection d = {0};
    int32_t *class = brio__alloc(5 * size, sizeof *class), *work = class + size;
    BrioStatus status = class ? reserve(&d, n, start[n]) : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK) {
        d.n = find_classes(n, start, neighbour, class, work);
        make_quotient(&d, n, start, neighbour, class, work);
        for (int32_t i = 0; i < d.n; i++) {
            d.order[i] = i;
            d.level[i] = -1;
        }
        push(&d, 0, d.n);
        while (d.depth > 0) {
            Range range = d.stack[--d.depth];
            dissect(&d, range.begin, range.end);
        }
        expand(&d, n, class, work, order);
    }
    brio__free(class);
    release(&d);
    return status == BRIO_OK ? brio__order_postorder(n, start, neighbour, order, NULL) : status;
}

/* ---- bands -------------------------------------------------------------------------------- */

/* Searches again from the last vertex found as long as the levels become more. */
static int32_t search_from_rim(const int64_t *start, const int32_t *neighbour,
                               const int32_t *region, int32_t *level, int32_t root, int32_t *queue)
{
    int32_t count = search(start, neighbour, region, level, root, queue);
    for (int i = 1, more = 1; i < SEARCHES && more; i++) {
        int32_t levels = level[queue[count - 1]];
        root = queue[count - 1];
        for (int32_t k = 0; k < count; k++) level[queue[k]] = -1;
        search(start, neighbour, region, level, root, queue);
        more = level[queue[count - 1]] > levels;
    }
    return count;
}

BrioStatus brio__order_band(int32_t n, const int64_t *start, const int32_t *neighbour,
                            int32_t *order)
{
    size_t size = (size_t)n;
    int32_t *work = brio__calloc(2 * size, sizeof *work), *level = work + size;
    if (!work) return BRIO_ERROR_MEMORY;
    for (int32_t i = 0; i < n; i++) level[i] = -1;
    for (int32_t i = 0, found = 0; i < n; i++)
        if (level[i] < 0) found += search_from_rim(start, neighbour, work, level, i, order + found);
    brio__free(work);
    return BRIO_OK;
}
