/* Minimum degree order of a small graph, by bits.
 *
 * A row has a bit for each neighbour of a vertex. The vertex v with the smallest weight of its row
 * is eliminated: its neighbours become neighbours of each other, row(u) = row(u) | row(v), without
 * v. Of equal degrees the lowest number goes first. */
#include "dissect.h"

static int32_t degree_of(const uint64_t *row, int32_t words, const int32_t *weight, bool weighted)
{
    int32_t degree = 0;
    for (int32_t w = 0; w < words; w++) {
        if (!weighted) {
            degree += __builtin_popcountll(row[w]);
            continue;
        }
        for (uint64_t left = row[w]; left; left &= left - 1)
            degree += weight[64 * w + __builtin_ctzll(left)];
    }
    return degree;
}

void brio__minimum_degree(int32_t n, int32_t all, const int32_t *weight, uint64_t *row,
                          int32_t *order)
{
    int32_t words = (all + 63) / 64, degree[BRIO_MAX_BITS];
    bool weighted = false;
    for (int32_t v = 0; v < all; v++) weighted = weighted || weight[v] != 1;
    for (int32_t v = 0; v < n; v++)
        degree[v] = degree_of(row + (size_t)v * (size_t)words, words, weight, weighted);
    for (int32_t i = 0; i < n; i++) {
        int32_t v = 0;
        for (int32_t u = 1; u < n; u++)
            if (degree[u] < degree[v]) v = u;
        uint64_t *mine = row + (size_t)v * (size_t)words;
        order[i] = v;
        degree[v] = INT32_MAX;
        mine[v / 64] &= ~(1ull << v % 64);
        for (int32_t w = 0; 64 * w < n; w++)
            for (uint64_t left = mine[w]; left; left &= left - 1) {
                int32_t u = 64 * w + __builtin_ctzll(left);
                if (u >= n) break;
                uint64_t *other = row + (size_t)u * (size_t)words;
                for (int32_t k = 0; k < words; k++) other[k] |= mine[k];
                other[v / 64] &= ~(1ull << v % 64);
                degree[u] = degree_of(other, words, weight, weighted);
            }
    }
}
