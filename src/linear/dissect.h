/* Separators and small orders for nested dissection; see order.c. */
#ifndef BRIO_DISSECT_H
#define BRIO_DISSECT_H

#include "../base.h"

/* Full adjacency without loops. A vertex stands for `weight` vertices of the graph that this one
 * was made from, an edge for `edge` edges. */
typedef struct BrioGraph {
    int32_t n, total; /* vertices; sum of their weights */
    int64_t *start;
    int32_t *neighbour, *edge, *weight;
    int32_t *coarse; /* number in the next coarser graph */
    uint8_t *side;
} BrioGraph;

enum { BRIO_SIDE_A, BRIO_SIDE_B, BRIO_SEPARATOR };

/* Graphs lie one after another in a pool of fixed size. */
typedef struct BrioPool {
    char *memory;
    size_t used, size;
} BrioPool;

/* Bytes for graphs with these numbers of vertices and edges in all. */
size_t brio__pool_size(size_t vertices, size_t edges);
/* Arrays for n vertices and `edges` edges. False: the pool has no room. */
bool brio__pool_take(BrioPool *p, int32_t n, int64_t edges, BrioGraph *g);
/* Gives back the room of edges from start[n] on. Only for the graph that was taken last. */
void brio__pool_trim(BrioPool *p, BrioGraph *g);

/* Makes a graph with fewer vertices of no more than max_weight. False: it would have almost as
 * many, or the pool is full. `work` has room for 3 n. */
bool brio__coarsen(BrioPool *p, BrioGraph *fine, BrioGraph *coarse, int32_t max_weight,
                   int32_t *work);

typedef struct BrioSeparator BrioSeparator;

/* For graphs with up to n vertices. */
BrioStatus brio__separator_create(int32_t n, BrioSeparator **out);
void brio__separator_free(BrioSeparator *s);
/* Sets the sides of a connected graph so that no edge joins A and B. A side may be empty. The last
 * vertex should be far from others, as it is in breadth-first order. The pool is as before at the
 * end. */
void brio__separate(BrioSeparator *s, BrioPool *p, BrioGraph *g);

/* Minimum degree order of the first n of `all` vertices; the others are never eliminated. row:
 * for each of the n a bit for every vertex, in words of 64: itself and its neighbours. Overwritten.
 * n and `all` are at most BRIO_MAX_BITS. */
enum { BRIO_MAX_BITS = 512 };
void brio__minimum_degree(int32_t n, int32_t all, const int32_t *weight, uint64_t *row,
                          int32_t *order);

#endif
