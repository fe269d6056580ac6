/* Coarser graphs: pairs of neighbours become one vertex [Karypis1998].
 *
 * Vertices are visited by rising degree, those of one degree in a fixed shuffled order. Each joins
 * the free neighbour with the heaviest edge. A pair has the sum of the weights; edges to the same
 * vertex become one with the sum of theirs. */
#include "dissect.h"

#include <string.h>

/* ---- pool --------------------------------------------------------------------------------- */

static size_t rounded(size_t bytes) { return (bytes + 7) / 8 * 8; }

static size_t graph_bytes(size_t n, size_t edges)
{
    return rounded((n + 1) * sizeof(int64_t)) + 2 * rounded(n * sizeof(int32_t)) + rounded(n) +
           2 * rounded(edges * sizeof(int32_t));
}

size_t brio__pool_size(size_t vertices, size_t edges)
{
    return graph_bytes(vertices, edges) + 4096; /* what is lost by rounding */
}

static void *take(BrioPool *p, size_t bytes)
{
    void *memory = p->memory + p->used;
    p->used += rounded(bytes);
    return memory;
}

bool brio__pool_take(BrioPool *p, int32_t n, int64_t edges, BrioGraph *g)
{
    size_t size = (size_t)n, bytes = (size_t)edges * sizeof *g->edge;
    if (p->size - p->used < graph_bytes(size, (size_t)edges)) return false;
    *g = (BrioGraph){.n = n};
    g->start = take(p, (size + 1) * sizeof *g->start);
    g->weight = take(p, size * sizeof *g->weight);
    g->coarse = take(p, size * sizeof *g->coarse);
    g->side = take(p, size);
    g->neighbour = take(p, bytes);
    g->edge = take(p, bytes);
    return true;
}

void brio__pool_trim(BrioPool *p, BrioGraph *g)
{
    size_t bytes = (size_t)g->start[g->n] * sizeof *g->edge;
    p->used = (size_t)((char *)g->neighbour - p->memory) + rounded(bytes);
    int32_t *edge = take(p, bytes);
    memmove(edge, g->edge, bytes);
    g->edge = edge;
}

/* ---- matching ----------------------------------------------------------------------------- */

/* Vertices by degree, shuffled with a linear congruential generator. */
static void find_visits(const BrioGraph *g, int32_t *shuffled, int32_t *visit)
{
    enum { DEGREES = 64 };
    int32_t next[DEGREES + 1] = {0};
    uint64_t random = 1;
    for (int32_t v = 0; v < g->n; v++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        int32_t i = (int32_t)((random >> 32) * (uint64_t)(v + 1) >> 32);
        shuffled[v] = shuffled[i];
        shuffled[i] = v;
        next[BRIO_MIN(g->start[v + 1] - g->start[v], DEGREES - 1) + 1]++;
    }
    for (int i = 0; i < DEGREES; i++) next[i + 1] += next[i];
    for (int32_t i = 0; i < g->n; i++) {
        int32_t v = shuffled[i];
        visit[next[BRIO_MIN(g->start[v + 1] - g->start[v], DEGREES - 1)]++] = v;
    }
}

/* match[v] = the other of its pair, or v itself; returns the number of pairs. */
static int32_t find_pairs(const BrioGraph *g, int32_t max_weight, const int32_t *visit,
                          int32_t *match)
{
    int32_t pairs = 0;
    for (int32_t v = 0; v < g->n; v++) match[v] = -1;
    for (int32_t i = 0; i < g->n; i++) {
        int32_t v = visit[i], best = v, heaviest = 0;
        if (match[v] >= 0) continue;
        for (int64_t k = g->start[v]; k < g->start[v + 1]; k++) {
            int32_t u = g->neighbour[k];
            if (match[u] >= 0 || g->edge[k] <= heaviest) continue;
            if (g->weight[u] > max_weight - g->weight[v]) continue;
            heaviest = g->edge[k];
            best = u;
        }
        match[v] = best;
        match[best] = v;
        if (best != v) pairs++;
    }
    return pairs;
}

/* Adds the edges of v to those of coarse vertex c, which begin at `begin`; slot[d] = place of the
 * edge to d. Returns the end. */
static int32_t add_edges(const BrioGraph *fine, int32_t v, BrioGraph *coarse, int32_t c,
                         int32_t begin, int32_t end, int32_t *slot)
{
    for (int64_t k = fine->start[v]; k < fine->start[v + 1]; k++) {
        int32_t d = fine->coarse[fine->neighbour[k]];
        if (d == c) continue;
        if (slot[d] >= begin) {
            coarse->edge[slot[d]] += fine->edge[k];
            continue;
        }
        slot[d] = end;
        coarse->neighbour[end] = d;
        coarse->edge[end++] = fine->edge[k];
    }
    return end;
}

bool brio__coarsen(BrioPool *p, BrioGraph *fine, BrioGraph *coarse, int32_t max_weight,
                   int32_t *work)
{
    int32_t n = fine->n, c = 0, end = 0;
    int32_t *match = work, *visit = match + n, *slot = visit + n;
    if (fine->start[n] > INT32_MAX) return false;
    find_visits(fine, slot, visit);
    int32_t pairs = find_pairs(fine, max_weight, visit, match);
    if (pairs < n / 10 || pairs == 0) return false;
    if (!brio__pool_take(p, n - pairs, fine->start[n], coarse)) return false;
    for (int32_t v = 0; v < n; v++)
        if (match[v] >= v) fine->coarse[v] = fine->coarse[match[v]] = c++;
    for (int32_t i = 0; i < c; i++) slot[i] = -1;
    coarse->total = fine->total;
    c = 0;
    for (int32_t v = 0; v < n; v++) {
        int32_t u = match[v], begin = end;
        if (u < v) continue;
        coarse->start[c] = begin;
        coarse->weight[c] = fine->weight[v];
        end = add_edges(fine, v, coarse, c, begin, end, slot);
        if (u > v) {
            coarse->weight[c] += fine->weight[u];
            end = add_edges(fine, u, coarse, c, begin, end, slot);
        }
        c++;
    }
    coarse->start[c] = end;
    brio__pool_trim(p, coarse);
    return true;
}
