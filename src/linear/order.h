/* Elimination orders of a graph given by full adjacency; see `order` of BrioLinearType. */
#ifndef BRIO_ORDER_H
#define BRIO_ORDER_H

#include "../base.h"

/* Little fill: nested dissection, postordered. */
BrioStatus brio__order_dissection(int32_t n, const int64_t *start, const int32_t *neighbour,
                                  int32_t *order);
/* Neighbours near each other: breadth-first from the rim. */
BrioStatus brio__order_band(int32_t n, const int64_t *start, const int32_t *neighbour,
                            int32_t *order);

/* Puts the elimination tree of an order into postorder, which leaves the fill as it is, and counts
 * the operations of a factorisation, unless `operations` is NULL: the sum of the squared numbers of
 * scalars in the columns of L. */
BrioStatus brio__order_postorder(int32_t n, const int64_t *start, const int32_t *neighbour,
                                 int32_t *order, double *operations);

#endif
