/* Sets that are joined (union-find): each number points to another one of its set, or to itself if
 * it is the root, which stands for the set. */
#ifndef BRIO_SETS_H
#define BRIO_SETS_H

#include <stdint.h>

/* The root of the set of v. On the way up each second step is made shorter for the next search. */
static inline int32_t brio__set_root(int32_t *parent, int32_t v)
{
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
}

#endif
