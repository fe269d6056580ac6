/* The arithmetic of fronts.c. Included once for each instruction set, with
 *
 *     KERNEL(name)      the name with the set's suffix
 *     KERNEL_TARGET     function attribute
 *     KERNEL_LANES      numbers in a vector
 *     KERNEL_COLUMNS    of a tile, a multiple of it
 *     KERNEL_FMA(a,b,c) a*b + c on vectors
 *     KERNEL_SUBTRACT(a,b,c)  c - a*b
 *     KERNEL_STORE(rows, strip, from, to)  a column from strips to where its rows follow each other
 *     KERNEL_SPREAD(mask, from)  a vector with the next numbers from `from` on where the mask has
 *                       a bit, and zeros elsewhere; may read a whole vector
 *
 * A panel at work is packed (Packed in fronts.c): in strips of LANES rows, column after column, so
 * that a vector holds the rows of a strip in one column. All products are made of tiles of ROWS x
 * COLUMNS entries, whose sums stay in registers; both factors of a tile are strips. */

#define LANES KERNEL_LANES
#define ROWS (3 * KERNEL_LANES)
#define COLUMNS KERNEL_COLUMNS
#define UNROLL _Pragma("GCC unroll 8")
typedef double KERNEL(Vector) __attribute__((vector_size(8 * KERNEL_LANES), aligned(8), may_alias));

/* Sums over `depth` columns of `vectors` strips from `a` on, 3 or less, times COLUMNS rows from `b`
 * on. `strip`: the size of one. */
KERNEL_TARGET static inline __attribute__((always_inline)) void KERNEL(products)(
    const int vectors, int64_t depth, int64_t strip, const double *a, const double *b,
    KERNEL(Vector) sum[COLUMNS][3])
{
    KERNEL(Vector) s[COLUMNS][3] = {{{0}}};
    for (int64_t k = 0; k < depth; k++, a += LANES, b += LANES) {
        KERNEL(Vector) row[3];
        UNROLL for (int v = 0; v < vectors; v++) row[v] = *(const KERNEL(Vector) *)(a + v * strip);
        UNROLL for (int c = 0; c < COLUMNS; c++)
        {
            KERNEL(Vector) t = b[c / LANES * strip + c % LANES] - (KERNEL(Vector)){0};
            UNROLL for (int v = 0; v < vectors; v++) s[c][v] = KERNEL_FMA(row[v], t, s[c][v]);
        }
    }
    UNROLL for (int c = 0; c < COLUMNS; c++) UNROLL for (int v = 0; v < vectors; v++) sum[c][v] =
        s[c][v];
}

/* C -= A B^T, or C = -A B^T, for one tile, with the given distances between columns and between
 * vectors of C. */
KERNEL_TARGET static inline __attribute__((always_inline)) void KERNEL(tile_of)(
    const int vectors, int64_t depth, int64_t strip, const double *a, const double *b, double *C,
    int64_t column, int64_t vector, bool set)
{
    enum { WORTH_ASKING = 16 }; /* columns from which C is asked for beforehand */
    KERNEL(Vector) sum[COLUMNS][3];
    if (depth >= WORTH_ASKING)
        UNROLL for (int c = 0; c < COLUMNS; c++) UNROLL for (int v = 0; v < vectors; v++)
            __builtin_prefetch(C + c * column + v * vector, 1);
    KERNEL(products)(vectors, depth, strip, a, b, sum);
    UNROLL for (int c = 0; c < COLUMNS; c++) UNROLL for (int v = 0; v < vectors; v++)
    {
        KERNEL(Vector) *to = (KERNEL(Vector) *)(C + c * column + v * vector);
        *to = (set ? (KERNEL(Vector)){0} : *to) - sum[c][v];
    }
}

/* The vectors [first, end) of the three of a tile. */
KERNEL_TARGET static void KERNEL(tile)(int64_t first, int64_t end, int64_t depth, int64_t strip,
                                       const double *a, const double *b, double *C, int64_t column,
                                       int64_t vector, bool set)
{
    a += first * strip;
    C += first * vector;
    if (end - first == 3)
        KERNEL(tile_of)(3, depth, strip, a, b, C, column, vector, set);
    else if (end - first == 2)
        KERNEL(tile_of)(2, depth, strip, a, b, C, column, vector, set);
    else if (end - first == 1)
        KERNEL(tile_of)(1, depth, strip, a, b, C, column, vector, set);
}

/* clang-format takes KERNEL(tile)(...) for a declaration */
/* clang-format off */
/* Subtracts the products of a slice from rows [begin, end) of the columns after it, on and below
 * the diagonal. What is above becomes of no use. */
KERNEL_TARGET static void KERNEL(subtract)(const Packed *P, const Slice *slice, int64_t begin,
                                           int64_t end)
{
    const double *x = P->value + slice->begin * LANES;
    for (int64_t i = begin; i < end; i += ROWS) {
        int64_t strips = BRIO_MIN(3, (end - i + LANES - 1) / LANES);
        for (int64_t j = slice->end; j < BRIO_MIN(P->columns, i + ROWS); j += COLUMNS)
            KERNEL(tile)(BRIO_MAX(j - i, 0) / LANES, strips, slice->depth, LANES * P->columns,
                         x + i * P->columns, x + j * P->columns,
                         P->value + i * P->columns + j * LANES, LANES, LANES * P->columns, false);
    }
}

/* The same for columns [begin, end) of the update matrix U, where rows of a tile begin. */
KERNEL_TARGET static void KERNEL(update)(const Packed *P, const Slice *slice, int64_t begin,
                                         int64_t end, double *U, int64_t stride)
{
    const double *x = P->value + P->columns * P->columns + slice->begin * LANES;
    for (int64_t i = begin; i < P->below; i += ROWS) {
        int64_t strips = BRIO_MIN(3, (P->below - i + LANES - 1) / LANES);
        for (int64_t j = begin; j < BRIO_MIN(end, i + ROWS); j += COLUMNS)
            KERNEL(tile)(BRIO_MAX(j - i, 0) / LANES, strips, slice->depth, LANES * P->columns,
                         x + i * P->columns, x + j * P->columns, U + j * stride + i, stride, LANES,
                         slice->begin == 0);
    }
}
/* clang-format on */

/* x = x L^-T for a diagonal square of COLUMNS columns: `square` is where it begins in its strips,
 * and `inverse` has the inverses of its diagonal. */
KERNEL_TARGET static inline __attribute__((always_inline)) void KERNEL(substitute)(
    const int vectors, int64_t strip, const double *square, const double *inverse,
    KERNEL(Vector) x[COLUMNS][3])
{
    UNROLL for (int c = 0; c < COLUMNS; c++)
    {
        UNROLL for (int v = 0; v < vectors; v++) x[c][v] *= inverse[c];
        UNROLL for (int d = c + 1; d < COLUMNS; d++)
        {
            KERNEL(Vector)
            t = square[d / LANES * strip + c * LANES + d % LANES] - (KERNEL(Vector)){0};
            UNROLL for (int v = 0; v < vectors; v++) x[d][v] = KERNEL_SUBTRACT(x[c][v], t, x[d][v]);
        }
    }
}

/* Columns [j, j + COLUMNS) of the strips `x` of X L^-T, those before them being finished. `row`:
 * the strips of L's rows from j on. */
KERNEL_TARGET static inline __attribute__((always_inline)) void KERNEL(solve_columns)(
    const int vectors, int64_t j, int64_t strip, const double *row, const double *inverse,
    double *x)
{
    KERNEL(Vector) sum[COLUMNS][3];
    double *at = x + j * LANES;
    KERNEL(products)(vectors, j, strip, x, row, sum);
    UNROLL for (int c = 0; c < COLUMNS; c++) UNROLL for (int v = 0; v < vectors; v++) sum[c][v] =
        *(KERNEL(Vector) *)(at + v * strip + c * LANES) - sum[c][v];
    KERNEL(substitute)(vectors, strip, row + j * LANES, inverse + j, sum);
    UNROLL for (int c = 0; c < COLUMNS; c++) UNROLL for (int v = 0; v < vectors; v++) *
        (KERNEL(Vector) *)(at + v * strip + c * LANES) = sum[c][v];
}

/* Columns [begin, end) of X L^-T, for up to three strips of X. */
KERNEL_TARGET static void KERNEL(solve_strips)(int64_t strips, int64_t begin, int64_t end,
                                               int64_t strip, const double *square,
                                               const double *inverse, double *x)
{
    if (strips >= 3)
        for (int64_t j = begin; j < end; j += COLUMNS)
            KERNEL(solve_columns)(3, j, strip, square + j / LANES * strip, inverse, x);
    else if (strips == 2)
        for (int64_t j = begin; j < end; j += COLUMNS)
            KERNEL(solve_columns)(2, j, strip, square + j / LANES * strip, inverse, x);
    else
        for (int64_t j = begin; j < end; j += COLUMNS)
            KERNEL(solve_columns)(1, j, strip, square + j / LANES * strip, inverse, x);
}

/* Rows [begin, end) of a slice to the panel of L, all of its columns or all below. */
KERNEL_TARGET static inline void KERNEL(store_part)(const Packed *P, const Slice *slice,
                                                    int64_t begin, int64_t rows, double *to)
{
    const double *from = P->value + begin * P->columns + slice->begin * LANES;
    to += slice->begin * P->height;
    for (int64_t k = 0; k < slice->depth; k++, from += LANES, to += P->height)
        KERNEL_STORE(rows, LANES * P->columns, from, to);
}

KERNEL_TARGET static void KERNEL(store)(const Packed *P, const Slice *slice, int64_t begin,
                                        int64_t end)
{
    int64_t left = BRIO_MIN(end, P->width) - begin, below = begin - P->columns;
    if (left > 0) KERNEL(store_part)(P, slice, begin, left, P->panel + begin);
    if (below < 0) below = 0;
    int64_t rows = BRIO_MIN(end - P->columns, P->below) - below;
    if (rows > 0)
        KERNEL(store_part)(P, slice, P->columns + below, rows, P->panel + P->width + below);
}

/* X = X L^-T for rows [begin, end) of a slice. */
KERNEL_TARGET static void KERNEL(below)(const Packed *P, const Slice *slice, const double *inverse,
                                        int64_t begin, int64_t end)
{
    double *x = P->value + slice->begin * LANES;
    for (int64_t i = begin; i < end; i += ROWS) KERNEL(solve_strips)
    ((BRIO_MIN(ROWS, end - i) + LANES - 1) / LANES, 0,
     (slice->depth + COLUMNS - 1) / COLUMNS * COLUMNS, LANES * P->columns,
     x + slice->begin * P->columns, inverse, x + i * P->columns);
    KERNEL(store)(P, slice, begin, end);
}

/* Cholesky of a square of COLUMNS columns, of which `width` count: column c is x[c]. */
KERNEL_TARGET static inline bool KERNEL(corner)(int64_t width, double x[COLUMNS][COLUMNS],
                                                double *inverse)
{
    for (int64_t j = 0; j < COLUMNS; j++) inverse[j] = 1;
    for (int64_t j = 0; j < width; j++) {
        double pivot = x[j][j];
        if (!(pivot > 0) || !isfinite(pivot)) return false;
        double scale = inverse[j] = 1 / sqrt(pivot);
        for (int i = 0; i < COLUMNS; i++) x[j][i] *= scale;
        for (int64_t k = j + 1; k < width; k++) {
            double t = x[j][k];
            for (int i = 0; i < COLUMNS; i++) x[k][i] -= t * x[j][i];
        }
    }
    return true;
}

/* Cholesky of the square of a slice, and the inverses of its diagonal. False: not positive
 * definite. */
KERNEL_TARGET static bool KERNEL(square)(const Packed *P, const Slice *slice, double *inverse)
{
    int64_t strip = LANES * P->columns, depth = slice->depth;
    double *x = P->value + slice->begin * (P->columns + LANES);
    for (int64_t j = 0; j < depth; j += COLUMNS) {
        KERNEL(Vector) sum[COLUMNS][3];
        double corner[COLUMNS][COLUMNS], *own = x + j * P->columns;
        for (int s = 0; s < COLUMNS / LANES; s++) {
            double *at = own + s * strip;
            KERNEL(products)(1, j, strip, at, own, sum);
            for (int c = 0; c < COLUMNS; c++)
                *(KERNEL(Vector) *)&corner[c][s * LANES] =
                    *(KERNEL(Vector) *)(at + (j + c) * LANES) - sum[c][0];
        }
        if (!KERNEL(corner)(BRIO_MIN(COLUMNS, depth - j), corner, inverse + j)) return false;
        for (int s = 0; s < COLUMNS / LANES; s++)
            for (int c = 0; c < COLUMNS; c++)
                *(KERNEL(Vector) *)(own + s * strip + (j + c) * LANES) =
                    *(KERNEL(Vector) *)&corner[c][s * LANES];
        for (int64_t i = j + COLUMNS; i < depth; i += ROWS) KERNEL(solve_strips)
        ((BRIO_MIN(ROWS, depth - i) + LANES - 1) / LANES, j, j + COLUMNS, strip, x, inverse,
         x + i * P->columns);
    }
    for (int64_t i = 0; i < depth; i += LANES) {
        Slice part = {slice->begin, slice->begin + i + LANES, BRIO_MIN(i + LANES, depth)};
        KERNEL(store)(P, &part, slice->begin + i, BRIO_MIN(part.end, slice->end));
    }
    return true;
}

/* ---- from children to parents ----------------------------------------------------------- */

/* Adds block columns of a child's update matrix to those of its parent's front, from the `begin`-th
 * vector of the spread on. Rows of the parent that are LANES apart are `distance` LANES apart;
 * `stride` is the distance between columns of the child, `column` that between those of the parent.
 */
KERNEL_TARGET static inline __attribute__((always_inline)) void KERNEL(add_columns)(
    const int block, const Spread *spread, int64_t begin, const double *from, int64_t stride,
    double *to, int64_t distance, int64_t column)
{
    const uint8_t *mask = spread->mask;
    const int32_t *child = spread->child, *parent = spread->parent;
    int64_t end = spread->count;
    for (int64_t t = begin; t < end; t++) {
        const double *some = from + child[t];
        double *at = to + parent[t] * distance;
        UNROLL for (int c = 0; c < block; c++) * (KERNEL(Vector) *)(at + c * column) +=
            KERNEL_SPREAD(mask[t], some + c * stride);
    }
}

KERNEL_TARGET static inline void KERNEL(add)(int block, const Spread *spread, int64_t begin,
                                             const double *from, int64_t stride, double *to,
                                             int64_t distance, int64_t column)
{
    if (block == 3)
        KERNEL(add_columns)(3, spread, begin, from, stride, to, distance, column);
    else
        for (int c = 0; c < block; c++) KERNEL(add_columns)
    (1, spread, begin, from + c * stride, 0, to + c * column, distance, 0);
}

/* Adds what a child passes on to columns [begin, end) of the packed panel. */
KERNEL_TARGET static void KERNEL(pass_to_panel)(const Passed *p, int32_t begin, int32_t end,
                                                const Packed *P)
{
    int32_t j = brio__first_row(p->up, 0, p->rows, begin);
    for (int64_t left = 0; j < p->rows && p->up[j] < end; j++) {
        int64_t first = p->block * (int64_t)p->up[j];
        const double *from = p->U + p->block * j * p->stride;
        double *to = P->value + first * LANES;
        while (p->left.parent[left] + LANES <= first) left++;
        KERNEL(add)(p->block, &p->left, left, from, p->stride, to, P->columns, LANES);
        KERNEL(add)
        (p->block, &p->under, 0, from, p->stride, to + P->columns * P->columns, P->columns, LANES);
    }
}

/* And to those of the update matrix `to`. */
KERNEL_TARGET static void KERNEL(pass_to_update)(const Passed *p, int32_t begin, int32_t end,
                                                 double *to, int64_t stride)
{
    int32_t j = brio__first_row(p->up, 0, p->rows, p->width + begin);
    for (int64_t under = 0; j < p->rows && p->up[j] < p->width + end; j++) {
        int64_t first = p->block * (int64_t)(p->up[j] - p->width);
        while (p->under.parent[under] + LANES <= first) under++;
        KERNEL(add)
        (p->block, &p->under, under, p->U + p->block * j * p->stride, p->stride,
         to + first * stride, 1, stride);
    }
}

/* Zeros in columns [begin, end) of a packed panel, on and below the diagonal. */
KERNEL_TARGET static void KERNEL(clear)(const Packed *P, int64_t begin, int64_t end)
{
    for (int64_t i = begin / LANES * LANES; i < P->rows; i += LANES) {
        KERNEL(Vector) *to = (KERNEL(Vector) *)(P->value + i * P->columns);
        for (int64_t k = begin; k < end; k++) {
            to[k] = (KERNEL(Vector)){0};
            __asm__("");
        }
    }
}

static const Kernels KERNEL(kernels) = {
    KERNEL_LANES,   KERNEL_COLUMNS,        KERNEL(square),         KERNEL(below), KERNEL(subtract),
    KERNEL(update), KERNEL(pass_to_panel), KERNEL(pass_to_update), KERNEL(clear)};

#undef LANES
#undef ROWS
#undef COLUMNS
#undef UNROLL
#undef KERNEL
#undef KERNEL_TARGET
#undef KERNEL_LANES
#undef KERNEL_COLUMNS
#undef KERNEL_FMA
#undef KERNEL_SUBTRACT
#undef KERNEL_STORE
#undef KERNEL_SPREAD
