/* J^T H J of a pair, eight blocks of a row at a time (assemble.c). Included once for each
 * instruction set, with
 *
 *     KERNEL(name)    the name with the set's suffix
 *     KERNEL_TARGET   function attribute
 *
 * `sum`: entry k of the blocks (a, b) in sum[9 a + k], b being the lane. H: its blocks in its lane
 * of a pack. */

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

/* The same of H = w w^T (x) K: with c = J^T w, c c^T (x) K. */
KERNEL_TARGET static void KERNEL(product)(const Map *map, int blocks, const double *rest,
                                          const double *H, double weight, double *sums)
{
    union {
        lane all;
        double one[MAX_BLOCKS];
    } c = {.all = {0}};
    lane *sum = (lane *)sums, K[9];
    double square = 0;
    for (int i = 0; i < NODES; i++) {
        square += rest[i * LANES] * rest[i * LANES];
        c.all += rest[i * LANES] * map->lanes[i];
    }
    for (int k = 0; k < 9; k++) {
        const double *h = H + k * LANES; /* the trace of w w^T is what K comes with */
        double trace = h[0] + h[2 * 9 * LANES] + h[5 * 9 * LANES] + h[9 * 9 * LANES];
        K[k] = weight / square * trace * c.all;
    }
    for (int a = 0; a < blocks; a++)
        for (int k = 0; k < 9; k++) sum[9 * a + k] += c.one[a] * K[k];
}

static const Kernels KERNEL(kernels) = {KERNEL(full), KERNEL(product)};

#undef KERNEL
#undef KERNEL_TARGET
