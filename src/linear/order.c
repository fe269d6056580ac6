/* Elimination orders without a library.
 *
 * Nested dissection [George1973]: a small set of vertices whose removal splits the graph in two is
 * eliminated last, and both halves are ordered in the same way. To find it, take four vertices far
 * from each other (of a box: corners). For each pair of these every vertex gets the difference of
 * its distances from the two, made smooth by averages over neighbours; the vertices, sorted by that
 * number, are cut at the best place near the middle. The best of the six separators becomes smaller
 * still by moves of single vertices: a separator vertex may go to side A if its neighbours on side
 * B join the separator in exchange, which pays if there is at most one.
 *
 * A range [begin, end) of order[] holds the vertices of a region; region[v] = begin names it, since
 * no two regions that are still to be split begin at the same place. Vertices that are placed for
 * good have -1. */
#include "order.h"

#include <string.h>

enum { LEAF = 8, SEARCHES = 6, ENDS = 4, SMOOTHINGS = 6, PASSES = 12 };
enum { SIDE_A, SIDE_B, SEPARATOR };

typedef struct Range {
    int32_t begin, end;
} Range;

typedef struct Dissection {
    const int64_t *start;
    const int32_t *neighbour;
    int32_t *order, *region;
    int32_t *level; /* of the search; -1: not reached. Later the side of the separator. */
    int32_t *queue, *best;
    int32_t *distance[ENDS];
    double *key, *smooth;
    Range *stack;
    int32_t depth; /* of the stack: at most one range for each vertex */
} Dissection;

/* Breadth-first from `root` inside its region, written to queue; returns how many were reached. */
static int32_t search(Dissection *d, int32_t root, int32_t *queue)
{
    int32_t region = d->region[root], count = 1;
    queue[0] = root;
    d->level[root] = 0;
    for (int32_t i = 0; i < count; i++) {
        int32_t v = queue[i];
        for (int64_t k = d->start[v]; k < d->start[v + 1]; k++) {
            int32_t u = d->neighbour[k];
            if (d->region[u] != region || d->level[u] >= 0) continue;
            d->level[u] = d->level[v] + 1;
            queue[count++] = u;
        }
    }
    return count;
}

static void unreach(Dissection *d, const int32_t *vertices, int32_t count)
{
    for (int32_t i = 0; i < count; i++) d->level[vertices[i]] = -1;
}

/* Searches again from the last vertex found as long as the levels become more, then leaves levels
 * and queue as they are. */
static int32_t search_from_rim(Dissection *d, int32_t root, int32_t *queue)
{
    int32_t count = search(d, root, queue);
    for (int i = 1, more = 1; i < SEARCHES && more; i++) {
        int32_t levels = d->level[queue[count - 1]];
        root = queue[count - 1];
        unreach(d, queue, count);
        search(d, root, queue);
        more = d->level[queue[count - 1]] > levels;
    }
    return count;
}

static void push(Dissection *d, int32_t begin, int32_t end)
{
    if (begin == end) return;
    for (int32_t i = begin; i < end; i++) d->region[d->order[i]] = begin;
    d->stack[d->depth++] = (Range){begin, end};
}

/* Distances from vertices that are far from each other: the first is the root of the search that
 * was made, each next one maximises the least distance from those before. */
static void find_ends(Dissection *d, const int32_t *vertices, int32_t count, int32_t *queue)
{
    int32_t far = vertices[0];
    for (int e = 0; e < ENDS; e++) {
        unreach(d, vertices, count);
        search(d, far, queue);
        for (int32_t i = 0; i < count; i++) d->distance[e][vertices[i]] = d->level[vertices[i]];
        int32_t max = -1;
        for (int32_t i = 0; i < count; i++) {
            int32_t v = vertices[i], min = d->distance[0][v];
            for (int k = 1; k <= e; k++) min = BRIO_MIN(min, d->distance[k][v]);
            if (min > max) {
                max = min;
                far = v;
            }
        }
    }
}

/* The numbers that order a connected region from one end to another. */
static void find_keys(Dissection *d, const int32_t *vertices, int32_t count, const int32_t *from,
                      const int32_t *to)
{
    int32_t region = d->region[vertices[0]];
    for (int32_t i = 0; i < count; i++) d->key[vertices[i]] = from[vertices[i]] - to[vertices[i]];
    for (int pass = 0; pass < SMOOTHINGS; pass++) {
        for (int32_t i = 0; i < count; i++) {
            int32_t v = vertices[i], degree = 0;
            double sum = 0;
            for (int64_t k = d->start[v]; k < d->start[v + 1]; k++)
                if (d->region[d->neighbour[k]] == region) {
                    sum += d->key[d->neighbour[k]];
                    degree++;
                }
            d->smooth[v] = 0.5 * (d->key[v] + sum / degree);
        }
        for (int32_t i = 0; i < count; i++) d->key[vertices[i]] = d->smooth[vertices[i]];
    }
}

/* Sorts by (key, number): heapsort, since qsort may allocate. */
static bool before(const Dissection *d, int32_t u, int32_t v)
{
    return d->key[u] < d->key[v] || (d->key[u] == d->key[v] && u < v);
}

static void sort(const Dissection *d, int32_t *vertices, int32_t count)
{
    for (int32_t root = count / 2, end = count; end > 1;) {
        int32_t v;
        if (root > 0) {
            v = vertices[--root];
        } else {
            v = vertices[--end];
            vertices[end] = vertices[0];
        }
        int32_t i = root;
        for (int32_t child = 2 * i + 1; child < end; child = 2 * i + 1) {
            if (child + 1 < end && before(d, vertices[child], vertices[child + 1])) child++;
            if (!before(d, v, vertices[child])) break;
            vertices[i] = vertices[child];
            i = child;
        }
        vertices[i] = v;
    }
}

/* Where to cut the sorted vertices so that few before the cut have neighbours after it. Returns the
 * cost: their number, and more for uneven sides. */
static double find_cut(Dissection *d, const int32_t *vertices, int32_t count, int32_t *change,
                       int32_t *best)
{
    int32_t region = d->region[vertices[0]], *place = d->level;
    for (int32_t i = 0; i < count; i++) {
        place[vertices[i]] = i;
        change[i] = 0;
    }
    /* i is in the separator of the cuts before i+1, ..., last */
    for (int32_t i = 0; i < count; i++) {
        int32_t last = i, v = vertices[i];
        for (int64_t k = d->start[v]; k < d->start[v + 1]; k++)
            if (d->region[d->neighbour[k]] == region) last = BRIO_MAX(last, place[d->neighbour[k]]);
        if (last == i) continue;
        change[i + 1]++;
        if (last + 1 < count) change[last + 1]--;
    }
    double min = INFINITY;
    for (int32_t t = 1, separator = 0; t < count; t++) {
        separator += change[t];
        if (t < 3 * (count / 8) || t > count - 3 * (count / 8)) continue;
        double a = t - separator, b = count - t, cost = separator * (1 + fabs(a - b) / count);
        if (cost < min) {
            min = cost;
            *best = t;
        }
    }
    return min;
}

/* Side A: the first `at` vertices without those that have neighbours among the others. */
static void set_sides(Dissection *d, const int32_t *vertices, int32_t count, int32_t at,
                      int32_t size[3])
{
    int32_t region = d->region[vertices[0]], *side = d->level;
    for (int32_t i = 0; i < count; i++) side[vertices[i]] = i < at ? SIDE_A : SIDE_B;
    size[SIDE_A] = at;
    size[SIDE_B] = count - at;
    size[SEPARATOR] = 0;
    for (int32_t i = 0; i < at; i++)
        for (int64_t k = d->start[vertices[i]]; k < d->start[vertices[i] + 1]; k++)
            if (d->region[d->neighbour[k]] == region && side[d->neighbour[k]] == SIDE_B) {
                side[vertices[i]] = SEPARATOR;
                size[SIDE_A]--;
                size[SEPARATOR]++;
                break;
            }
}

/* Moves separator vertices to a side while that makes the separator smaller, or the sides more
 * even. */
static void refine(Dissection *d, const int32_t *vertices, int32_t count, int32_t size[3])
{
    int32_t region = d->region[vertices[0]], *side = d->level;
    bool moved = true;
    for (int pass = 0; pass < PASSES && moved; pass++) {
        moved = false;
        for (int32_t i = 0; i < count; i++) {
            int32_t v = vertices[i], touched[3] = {0, 0, 0};
            if (side[v] != SEPARATOR) continue;
            for (int64_t k = d->start[v]; k < d->start[v + 1]; k++)
                if (d->region[d->neighbour[k]] == region) touched[side[d->neighbour[k]]]++;
            int32_t to = touched[SIDE_B] != touched[SIDE_A]
                             ? (touched[SIDE_B] < touched[SIDE_A] ? SIDE_A : SIDE_B)
                             : (size[SIDE_A] < size[SIDE_B] ? SIDE_A : SIDE_B);
            int32_t other = to == SIDE_A ? SIDE_B : SIDE_A, pulled = touched[other];
            if (pulled > 1 || size[other] - pulled < count / 5) continue;
            if (pulled == 1 && size[to] + 1 > size[other] - 1) continue;
            side[v] = to;
            size[to]++;
            size[SEPARATOR] += pulled - 1;
            size[other] -= pulled;
            for (int64_t k = d->start[v]; pulled && k < d->start[v + 1]; k++)
                if (d->region[d->neighbour[k]] == region && side[d->neighbour[k]] == other)
                    side[d->neighbour[k]] = SEPARATOR;
            moved = true;
        }
    }
}

/* Orders a connected region, or splits it. */
static void split(Dissection *d, int32_t begin, int32_t end)
{
    int32_t count = end - begin;
    int32_t *vertices = d->order + begin;
    int32_t *queue = d->queue + begin;
    int32_t *side = d->level;
    search_from_rim(d, vertices[0], queue);
    memcpy(vertices, queue, (size_t)count * sizeof *vertices);
    int32_t size[3] = {0, 0, count}, next[3];
    if (count > LEAF && d->level[vertices[count - 1]] > 1) {
        double min = INFINITY;
        int32_t at = 0;
        find_ends(d, vertices, count, queue);
        for (int e = 1; e < ENDS; e++)
            for (int f = 0; f < e; f++) {
                int32_t where = 0;
                find_keys(d, vertices, count, d->distance[e], d->distance[f]);
                sort(d, vertices, count);
                double cost = find_cut(d, vertices, count, queue, &where);
                if (cost >= min) continue;
                min = cost;
                at = where;
                memcpy(d->best + begin, vertices, (size_t)count * sizeof *vertices);
            }
        memcpy(vertices, d->best + begin, (size_t)count * sizeof *vertices);
        set_sides(d, vertices, count, at, size);
        refine(d, vertices, count, size);
    }
    if (size[SIDE_A] > 0 && size[SIDE_B] > 0) {
        next[SIDE_A] = begin;
        next[SIDE_B] = begin + size[SIDE_A];
        next[SEPARATOR] = next[SIDE_B] + size[SIDE_B];
        memcpy(queue, vertices, (size_t)count * sizeof *queue);
        for (int32_t i = 0; i < count; i++) d->order[next[side[queue[i]]]++] = queue[i];
    } else {
        next[SIDE_A] = next[SIDE_B] = begin;
    }
    unreach(d, vertices, count);
    for (int32_t i = next[SIDE_B]; i < end; i++) d->region[d->order[i]] = -1;
    push(d, begin, next[SIDE_A]);
    push(d, next[SIDE_A], next[SIDE_B]);
}

/* Connected components become ranges of their own; a connected region is split. */
static void dissect(Dissection *d, int32_t begin, int32_t end)
{
    int32_t found = begin, first_end = begin;
    for (int32_t i = begin; i < end; i++) {
        if (d->level[d->order[i]] >= 0) continue;
        found += search(d, d->order[i], d->queue + found);
        if (first_end == begin) first_end = found;
    }
    if (first_end == end) {
        unreach(d, d->queue + begin, end - begin);
        split(d, begin, end);
        return;
    }
    memcpy(d->order + begin, d->queue + begin, (size_t)(end - begin) * sizeof *d->order);
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
    *operations = count_operations(n, start, neighbour, old, position, parent, child, sibling);
    postorder(n, parent, child, sibling, path, post);
    for (int32_t i = 0; i < n; i++) order[i] = old[post[i]];
    brio__free(work);
    return BRIO_OK;
}

/* Vertices with very many neighbours go last: they are near to everything and would blur the
 * search. */
static int32_t place_dense(Dissection *d, int32_t n)
{
    int64_t max = (int64_t)(16 + 10 * sqrt((double)n));
    int32_t begin = 0, end = n;
    for (int32_t v = 0; v < n; v++) {
        d->level[v] = -1;
        if (d->start[v + 1] - d->start[v] > max) {
            d->order[--end] = v;
            d->region[v] = -1;
        } else {
            d->order[begin++] = v;
        }
    }
    return end;
}

BrioStatus brio__order_dissection(int32_t n, const int64_t *start, const int32_t *neighbour,
                                  int32_t *order)
{
    size_t size = (size_t)n;
    int32_t *work = brio__alloc((4 + ENDS) * size, sizeof *work);
    double *keys = brio__alloc(2 * size, sizeof *keys);
    Range *stack = brio__alloc(size, sizeof *stack);
    if (!work || !keys || !stack) {
        brio__free(work);
        brio__free(keys);
        brio__free(stack);
        return BRIO_ERROR_MEMORY;
    }
    Dissection d = {.start = start,
                    .neighbour = neighbour,
                    .order = order,
                    .region = work,
                    .level = work + size,
                    .queue = work + 2 * size,
                    .best = work + 3 * size,
                    .key = keys,
                    .smooth = keys + size,
                    .stack = stack};
    for (int e = 0; e < ENDS; e++) d.distance[e] = work + (4 + (size_t)e) * size;
    push(&d, 0, place_dense(&d, n));
    while (d.depth > 0) {
        Range range = d.stack[--d.depth];
        dissect(&d, range.begin, range.end);
    }
    brio__free(work);
    brio__free(keys);
    brio__free(stack);
    double operations;
    return brio__order_postorder(n, start, neighbour, order, &operations);
}

BrioStatus brio__order_band(int32_t n, const int64_t *start, const int32_t *neighbour,
                            int32_t *order)
{
    size_t size = (size_t)n;
    int32_t *work = brio__calloc(2 * size, sizeof *work);
    if (!work) return BRIO_ERROR_MEMORY;
    Dissection d = {.start = start, .neighbour = neighbour, .region = work, .level = work + size};
    for (int32_t i = 0; i < n; i++) d.level[i] = -1;
    for (int32_t i = 0, found = 0; i < n; i++)
        if (d.level[i] < 0) found += search_from_rim(&d, i, order + found);
    brio__free(work);
    return BRIO_OK;
}
