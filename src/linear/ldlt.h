/* The factorisation of the built-in direct solver for those who solve in their own way: L by
 * panels, of blocks of 3x3 scalars or of single ones. */
#ifndef BRIO_LDLT_H
#define BRIO_LDLT_H

#include "linear.h"

/* Supernode s has the block columns [first[s], first[s+1]), and its panel of L the block rows
 * row[row_start[s]] ..., ascending, its own columns first. Scalar columns follow each other from
 * value[panel[s]] on, each as long as the panel is high; above the diagonal stands no number of
 * use. */
typedef struct BrioPanels {
    int32_t count;
    const int32_t *first, *owner; /* owner: supernode of a block column */
    const int64_t *row_start;
    const int32_t *row;
    const int64_t *panel;
    const double *value;
    double blocks; /* of L, without the zeros that supernodes add */
    double flops;  /* of a factorisation */
} BrioPanels;

/* The first of the ascending rows [low, high) that is not less than `value`. */
static inline int32_t brio__first_row(const int32_t *row, int32_t low, int32_t high, int32_t value)
{
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (row[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A's pattern counts, in blocks; its values are laid out as linear.h says, with blocks of `block`
 * by `block` (3 or 1) scalars. */
BrioStatus brio__ldlt_create(const BrioMatrix *A, int block, void **self);
BrioStatus brio__ldlt_factor(void *self, const BrioMatrix *A);
/* The same where only some supernodes have other numbers than in the factorisation before: those
 * with changed[s], and all above them in the tree. */
BrioStatus brio__ldlt_factor_again(void *self, const BrioMatrix *A, const bool *changed);
void brio__ldlt_panels(const void *self, BrioPanels *panels);
void brio__ldlt_destroy(void *self);

#endif
