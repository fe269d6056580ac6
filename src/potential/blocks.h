/* Adding the 3x3 blocks of a pair of world vertices to a matrix, by the map x = J q + b. */
#ifndef BRIO_POTENTIAL_BLOCKS_H
#define BRIO_POTENTIAL_BLOCKS_H

#include "../linear/linear.h"
#include "../system/system.h"

/* Block (a, b) of coordinates += scale B, the transposed one with it. A block that the pattern does
 * not have is left out: false. */
static inline bool brio__block_add(BrioMatrix *A, int32_t a, int32_t b, double scale,
                                   const double B[9])
{
    bool transposed;
    int64_t block = brio__matrix_find(A, a, b, &transposed);
    if (block < 0) return false;
    int32_t J = BRIO_MIN(A->position[a], A->position[b]);
    int64_t slot = brio__matrix_slot(A, J, block), stride = brio__matrix_stride(A, J);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            A->value[slot + c * stride + r] += scale * (transposed ? B[3 * c + r] : B[3 * r + c]);
    return true;
}

/* The block B = d2E/dx_i dx_j of two world vertices; i = j (B symmetric) or each pair once. */
static inline void brio__pair_add(const BrioSystem *s, BrioMatrix *A, int32_t i, int32_t j,
                                  double scale, const double B[9])
{
    const double turned[9] = {B[0], B[3], B[6], B[1], B[4], B[7], B[2], B[5], B[8]};
    for (int32_t m = s->map_start[i]; m < s->map_start[i + 1]; m++)
        for (int32_t n = i == j ? m : s->map_start[j]; n < s->map_start[j + 1]; n++) {
            double w = scale * s->map_weight[m] * s->map_weight[n];
            brio__block_add(A, s->map_block[m], s->map_block[n], w, B);
            if (i != j && s->map_block[m] == s->map_block[n])
                brio__block_add(A, s->map_block[m], s->map_block[n], w, turned);
        }
}

#endif
