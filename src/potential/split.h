/* Energies of elements by whose they are: what members of the potential split theirs with. */
#ifndef BRIO_SPLIT_H
#define BRIO_SPLIT_H

#include "../system/system.h"

/* `account` of world vertices (-1: none), how many there are, and where their energies are added:
 * count + 1 numbers, the last of what has no account. */
typedef struct BrioSplit {
    const int32_t *account;
    int32_t count;
    double *energy;
} BrioSplit;

/* Where the energy of a vertex or of a body's term goes. */
static inline double *brio__split_place(const BrioSplit *split, int32_t vertex)
{
    int32_t account = vertex < 0 ? -1 : split->account[vertex];
    return &split->energy[account >= 0 ? account : split->count];
}

/* Adds the energies of a term's elements at the positions of a batch. An element belongs to the
 * account of its first node; `last` > 0: half of it to that of node `last`, if both have one. */
void brio__split_term(const BrioSplit *split, const BrioTerm *term, const BrioBatch *batch,
                      int last);

#endif
