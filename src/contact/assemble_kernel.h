/* J^T H J and J^T g of pairs (assemble.c). Included once for each instruction set, with
 *
 *     KERNEL(name)    the name with the set's suffix
 *     KERNEL_TARGET   function attribute
 *
 * Sums of Hessians: entry k of the blocks (a, b) in sum[entries a + k], b being the lane. Those of
 * two affine bodies have b <= a at least, all others have all b. H: blocks of a pair in its lane of
 * a pack. */

#define INLINE KERNEL_TARGET static inline __attribute__((always_inline))

/* From the right and then from the left. */
KERNEL_TARGET static void KERNEL(full)(const Map *map, const double *H, double weight, double *sums)
{
    lane *sum = (lane *)sums;
    const lane w[NODES] = {map->lanes[0], map->lanes[1], map->lanes[2], map->lanes[3]};
#pragma GCC unroll 4
    for (int i = 0; i < NODES; i++) {
        lane right[9];
#pragma GCC unroll 9
        for (int k = 0; k < 9; k++) {
            int turned = k % 3 * 3 + k / 3;
            right[k] = (lane){0};
#pragma GCC unroll 4
            for (int j = 0; j < NODES; j++)
                right[k] += H[(i >= j ? 9 * (i * (i + 1) / 2 + j) + k
                                      : 9 * (j * (j + 1) / 2 + i) + turned) *
                              LANES] *
                            w[j];
        }
        for (int a = map->at[i]; a < map->at[i] + map->count[i]; a++) {
            double left = weight * map->weight[i][a];
#pragma GCC unroll 9
            for (int k = 0; k < 9; k++) sum[9 * a + k] += left * right[k];
        }
    }
}

/* The same of a pair of two affine bodies. Bit i of `second`: node i is of the second. Where that
 * is known when this is compiled, nothing is left of the tests. */
INLINE void KERNEL(add_two)(const Legs *legs, unsigned second, const double *H, double weight,
                            double *sums)
{
    Four w[NODES];
    for (int i = 0; i < NODES; i++) w[i] = weight * *(const Four *)legs->weight[i];
#pragma GCC unroll 1
    for (int k = 0; k < 9; k++) {
        int turned = k % 3 * 3 + k / 3;
        Four low[NODES], high[NODES]; /* (H J)_i: of the first body and of the second */
#pragma GCC unroll 4
        for (int i = 0; i < NODES; i++) {
            low[i] = high[i] = (Four){0};
#pragma GCC unroll 4
            for (int j = 0; j < NODES; j++) {
                double h = H[(i >= j ? 9 * (i * (i + 1) / 2 + j) + k
                                     : 9 * (j * (j + 1) / 2 + i) + turned) *
                             LANES];
                if (!(second >> j & 1))
                    low[i] += h * w[j];
                else if (second >> i & 1)
                    high[i] += h * w[j];
            }
        }
#pragma GCC unroll 4
        for (int a = 0; a < 4; a++) {
            Four *row = (Four *)(sums + (9 * a + k) * LANES), sum = row[0];
#pragma GCC unroll 4
            for (int i = 0; i < NODES; i++)
                if (!(second >> i & 1)) sum += legs->weight[i][a] * low[i];
            row[0] = sum;
            if (!second) continue;
            row = (Four *)(sums + (9 * (4 + a) + k) * LANES);
            Four other = row[1];
            sum = row[0];
#pragma GCC unroll 4
            for (int i = 0; i < NODES; i++)
                if (second >> i & 1) {
                    sum += legs->weight[i][a] * low[i];
                    other += legs->weight[i][a] * high[i];
                }
            row[0] = sum;
            row[1] = other;
        }
    }
}

KERNEL_TARGET static void KERNEL(two)(const Legs *legs, const double *H, double weight,
                                      double *sums)
{
    switch (legs->second) {
    case 14: KERNEL(add_two)(legs, 14, H, weight, sums); break; /* a vertex and a triangle */
    case 1: KERNEL(add_two)(legs, 1, H, weight, sums); break;
    case 12: KERNEL(add_two)(legs, 12, H, weight, sums); break; /* two edges */
    case 3: KERNEL(add_two)(legs, 3, H, weight, sums); break;
    default: KERNEL(add_two)(legs, legs->second, H, weight, sums); break;
    }
}

/* The weights of node i among the eight blocks of two bodies. */
INLINE lane KERNEL(spread)(const Legs *legs, int i)
{
    static const lane_int half[2] = {{-1, -1, -1, -1, 0, 0, 0, 0}, {0, 0, 0, 0, -1, -1, -1, -1}};
    Four four = *(const Four *)legs->weight[i];
    lane both = __builtin_shufflevector(four, four, 0, 1, 2, 3, 4, 5, 6, 7);
    return (lane)((lane_int)both & half[legs->second >> i & 1]);
}

/* Of the pairs of a group of two affine bodies whose Hessian is w w^T (x) K: c = J^T w, such that
 * J^T H J = c c^T (x) K. */
KERNEL_TARGET static void KERNEL(reduce)(const BrioPairs *pairs, const BrioSystem *s,
                                         const Group *group)
{
    for (int64_t e = group->first; e < group[1].first; e++) {
        Legs legs = legs_of(pairs, s, group, e);
        const double *w = brio__pairs_rest(pairs, e) + LANES;
        lane c = {0};
        for (int i = 0; i < NODES; i++) c += w[i * LANES] * KERNEL(spread)(&legs, i);
        *(lane *)(pairs->plan->reduced + LANES * e) = c;
    }
}

/* Sums of c c^T (x) K, the rows of one body at a time: these stay in registers. */
KERNEL_TARGET static void KERNEL(products)(int count, const Product *pair, double weight,
                                           int blocks, double *sums)
{
    Four first[4][6];
    for (int k = 0; k < 24; k++) first[k / 6][k % 6] = *(const Four *)(sums + k * LANES);
    for (int p = 0; p < count; p++) {
        Four c = weight * *(const Four *)pair[p].c;
#pragma GCC unroll 6
        for (int k = 0; k < 6; k++) {
            Four right = pair[p].K[k * LANES] * c;
#pragma GCC unroll 4
            for (int a = 0; a < 4; a++) first[a][k] += pair[p].c[a] * right;
        }
    }
    for (int k = 0; k < 24; k++) *(Four *)(sums + k * LANES) = first[k / 6][k % 6];
    if (blocks <= 4) return;
    lane *sum = (lane *)sums + 24, second[4][6];
    for (int k = 0; k < 24; k++) second[k / 6][k % 6] = sum[k];
    for (int p = 0; p < count; p++) {
        lane c = weight * *(const lane *)pair[p].c;
#pragma GCC unroll 6
        for (int k = 0; k < 6; k++) {
            lane right = pair[p].K[k * LANES] * c;
#pragma GCC unroll 4
            for (int a = 0; a < 4; a++) second[a][k] += pair[p].c[4 + a] * right;
        }
    }
    for (int k = 0; k < 24; k++) sum[k] = second[k / 6][k % 6];
}

/* J^T g of the pairs of a group of two affine bodies. */
KERNEL_TARGET static void KERNEL(pull)(const BrioPairs *pairs, const BrioSystem *s,
                                       const Group *group, double *sums)
{
    lane sum[3] = {{0}, {0}, {0}};
    for (int64_t e = group->first; e < group[1].first; e++) {
        Legs legs = legs_of(pairs, s, group, e);
        const double *g = pairs->gradient + e / LANES * 3 * NODES * LANES + e % LANES;
        for (int i = 0; i < NODES; i++) {
            lane w = KERNEL(spread)(&legs, i);
            for (int r = 0; r < 3; r++) sum[r] += g[(3 * i + r) * LANES] * w;
        }
    }
    for (int r = 0; r < 3; r++) ((lane *)sums)[r] = sum[r];
}

/* The same where g = w (x) a pull. */
KERNEL_TARGET static void KERNEL(pull_products)(const BrioPlan *plan, const Group *group,
                                                double *sums)
{
    lane sum[3] = {{0}, {0}, {0}};
    for (int64_t e = group->first; e < group[1].first; e++) {
        const double *pull = plan->force + e / LANES * 3 * LANES + e % LANES;
        lane c = *(const lane *)(plan->reduced + LANES * e);
        for (int r = 0; r < 3; r++) sum[r] += pull[r * LANES] * c;
    }
    for (int r = 0; r < 3; r++) ((lane *)sums)[r] = sum[r];
}

static const Kernels KERNEL(kernels) = {KERNEL(full),     KERNEL(two),  KERNEL(reduce),
                                        KERNEL(products), KERNEL(pull), KERNEL(pull_products)};

#undef INLINE
#undef KERNEL
#undef KERNEL_TARGET
