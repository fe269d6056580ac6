/* The arithmetic of fronts.c. Included once for each instruction set, with
 *
 *     KERNEL(name)      the name with the set's suffix
 *     KERNEL_TARGET     function attribute
 *     KERNEL_LANES      numbers in a vector
 *     KERNEL_COLUMNS    of a tile
 *     KERNEL_FMA(a,b,c) a*b + c on vectors
 *     KERNEL_SUBTRACT(a,b,c)  c - a*b
 *     KERNEL_ADD_FEW(count, from, to)  to += from, less than a vector
 *
 * All products are made of tiles of ROWS x KERNEL_COLUMNS entries, whose sums stay in registers:
 * tile = A B^T with A and B `packed`, so that what a step of the sum reads lies together. */

#define ROWS (3 * KERNEL_LANES)
#define COLUMNS KERNEL_COLUMNS
#define UNROLL _Pragma("GCC unroll 8")
typedef double KERNEL(Vector) __attribute__((vector_size(8 * KERNEL_LANES), aligned(8), may_alias));

/* Of `vectors` vectors of rows, 3 or less. */
KERNEL_TARGET static inline __attribute__((always_inline)) void KERNEL(products)(
    const int vectors, int64_t depth, const double *a, const double *b,
    KERNEL(Vector) sum[COLUMNS][3])
{
    KERNEL(Vector) s[COLUMNS][3] = {{{0}}};
    for (int64_t k = 0; k < depth; k++, a += ROWS, b += COLUMNS) {
        KERNEL(Vector) row[3];
        UNROLL for (int v = 0; v < vectors; v++) row[v] = ((const KERNEL(Vector) *)a)[v];
        UNROLL for (int c = 0; c < COLUMNS; c++)
        {
            KERNEL(Vector) t = b[c] - (KERNEL(Vector)){0};
            UNROLL for (int v = 0; v < vectors; v++) s[c][v] = KERNEL_FMA(row[v], t, s[c][v]);
        }
    }
    UNROLL for (int c = 0; c < COLUMNS; c++) UNROLL for (int v = 0; v < vectors; v++) sum[c][v] =
        s[c][v];
}

/* `rows` rows of x (at most ROWS), of `depth` columns, as the A of tiles; zero after the last. */
KERNEL_TARGET static inline void KERNEL(pack_rows)(int64_t rows, int64_t depth, const double *x,
                                                   int64_t stride, double *to)
{
    if (rows >= ROWS) {
        for (int64_t k = 0; k < depth; k++, to += ROWS, x += stride)
            for (int v = 0; v < 3; v++) ((KERNEL(Vector) *)to)[v] = ((const KERNEL(Vector) *)x)[v];
        return;
    }
    for (int64_t k = 0; k < depth; k++, to += ROWS, x += stride) {
        int64_t r = 0;
        for (; r + KERNEL_LANES <= rows; r += KERNEL_LANES)
            *(KERNEL(Vector) *)(to + r) = *(const KERNEL(Vector) *)(x + r);
        for (; r < ROWS; r++) to[r] = r < rows ? x[r] : 0;
    }
}

/* The other way round. */
KERNEL_TARGET static inline void KERNEL(unpack_rows)(int64_t rows, int64_t depth,
                                                     const double *from, double *x, int64_t stride)
{
    if (rows >= ROWS) {
        for (int64_t k = 0; k < depth; k++, from += ROWS, x += stride)
            for (int v = 0; v < 3; v++)
                ((KERNEL(Vector) *)x)[v] = ((const KERNEL(Vector) *)from)[v];
        return;
    }
    for (int64_t k = 0; k < depth; k++, from += ROWS, x += stride) {
        int64_t r = 0;
        for (; r + KERNEL_LANES <= rows; r += KERNEL_LANES)
            *(KERNEL(Vector) *)(x + r) = *(const KERNEL(Vector) *)(from + r);
        for (; r < rows; r++) x[r] = from[r];
    }
}

/* Rows [begin, end) of x as the B of tiles, COLUMNS of them to a strip; zero after `rows`. `begin`
 * is a multiple of COLUMNS. */
KERNEL_TARGET static void KERNEL(pack_columns)(int64_t begin, int64_t end, int64_t rows,
                                               int64_t depth, const double *x, int64_t stride,
                                               double *packed)
{
    for (int64_t j = begin; j < end; j += COLUMNS) {
        double *to = packed + j * depth;
        int64_t some = BRIO_MIN(COLUMNS, rows - j);
        for (int64_t k = 0; k < depth; k++, to += COLUMNS) {
            const double *from = x + k * stride + j;
            if (some == COLUMNS) {
                UNROLL for (int c = 0; c < COLUMNS; c++) to[c] = from[c];
            } else {
                for (int c = 0; c < COLUMNS; c++) to[c] = c < some ? from[c] : 0;
            }
        }
    }
}

/* C -= A B^T, or C = -A B^T, for one tile, of which `rows` rows and `columns` columns are wanted.
 */
KERNEL_TARGET static inline __attribute__((always_inline)) void KERNEL(tile_of)(
    const int vectors, int64_t depth, const double *a, const double *b, int64_t rows,
    int64_t columns, double *C, int64_t stride, bool set)
{
    KERNEL(Vector) sum[COLUMNS][3];
    KERNEL(products)(vectors, depth, a, b, sum);
    if (rows >= vectors * KERNEL_LANES && columns >= COLUMNS) {
        UNROLL for (int c = 0; c < COLUMNS; c++)
        {
            KERNEL(Vector) *to = (KERNEL(Vector) *)(C + c * stride);
            UNROLL for (int v = 0; v < vectors; v++) to[v] =
                (set ? (KERNEL(Vector)){0} : to[v]) - sum[c][v];
        }
        return;
    }
    double out[COLUMNS][ROWS];
    memcpy(out, sum, sizeof out);
    for (int64_t c = 0; c < BRIO_MIN(columns, COLUMNS); c++) {
        double *to = C + c * stride;
        int64_t r = 0, end = BRIO_MIN(rows, vectors * KERNEL_LANES);
        for (; r + KERNEL_LANES <= end; r += KERNEL_LANES)
            *(KERNEL(Vector) *)(to + r) =
                (set ? (KERNEL(Vector)){0} : *(KERNEL(Vector) *)(to + r)) -
                *(KERNEL(Vector) *)(out[c] + r);
        for (; r < end; r++) to[r] = (set ? 0 : to[r]) - out[c][r];
    }
}

/* `first`: vectors of rows at the top of the tile that are not needed, because they are above the
 * diagonal. */
KERNEL_TARGET static void KERNEL(tile)(int64_t first, int64_t depth, const double *a,
                                       const double *b, int64_t rows, int64_t columns, double *C,
                                       int64_t stride, bool set)
{
    int64_t vectors = BRIO_MIN(3, (rows + KERNEL_LANES - 1) / KERNEL_LANES) - first;
    int64_t skip = first * KERNEL_LANES;
    if (vectors == 3)
        KERNEL(tile_of)(3, depth, a, b, rows, columns, C, stride, set);
    else if (vectors == 2)
        KERNEL(tile_of)(2, depth, a + skip, b, rows - skip, columns, C + skip, stride, set);
    else if (vectors == 1)
        KERNEL(tile_of)(1, depth, a + skip, b, rows - skip, columns, C + skip, stride, set);
}

/* clang-format takes KERNEL(tile)(...) for a declaration */
/* clang-format off */
/* For rows [begin, end) of C: C -= X Y^T on and below the diagonal, where Y are the first `columns`
 * rows of X, packed. What is above the diagonal becomes of no use. `padded`: C has room for whole
 * tiles. */
KERNEL_TARGET static void KERNEL(multiply)(int64_t begin, int64_t end, int64_t columns,
                                           int64_t depth, const double *x, int64_t x_stride,
                                           const double *packed, double *C, int64_t stride,
                                           bool set, bool padded, double *strip)
{
    for (int64_t i = begin; i < end; i += ROWS) {
        int64_t rows = BRIO_MIN(ROWS, end - i), last = BRIO_MIN(columns, i + rows);
        KERNEL(pack_rows)(rows, depth, x + i, x_stride, strip);
        /* a vector of a padded C is written as a whole */
        int64_t written = padded ? (rows + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES : rows;
        for (int64_t j = 0; j < last; j += COLUMNS)
            KERNEL(tile)(BRIO_MAX(j - i, 0) / KERNEL_LANES, depth, strip, packed + j * depth,
                         written, padded ? COLUMNS : columns - j, C + j * stride + i, stride, set);
    }
}
/* clang-format on */

/* x = x L^-T for a diagonal square of COLUMNS columns: `square` is a strip of packed columns, and
 * `inverse` has the inverses of its diagonal. */
KERNEL_TARGET static inline __attribute__((always_inline)) void KERNEL(substitute)(
    const int vectors, const double *square, const double *inverse, KERNEL(Vector) x[COLUMNS][3])
{
    UNROLL for (int c = 0; c < COLUMNS; c++)
    {
        UNROLL for (int v = 0; v < vectors; v++) x[c][v] *= inverse[c];
        UNROLL for (int d = c + 1; d < COLUMNS; d++) UNROLL for (int v = 0; v < vectors; v++)
            x[d][v] -= x[c][v] * square[c * COLUMNS + d];
    }
}

/* The packed rows of a strip times L^-T: see below. */
KERNEL_TARGET static inline __attribute__((always_inline)) void KERNEL(below_strip)(
    const int vectors, int64_t width, const double *packed, const double *inverse, double *strip)
{
    for (int64_t j = 0; j < width; j += COLUMNS) {
        const double *square = packed + j * SLICE;
        KERNEL(Vector) sum[COLUMNS][3], *at = (KERNEL(Vector) *)(strip + j * ROWS);
        KERNEL(products)(vectors, j, strip, square, sum);
        UNROLL for (int c = 0; c < COLUMNS; c++) UNROLL for (int v = 0; v < vectors; v++)
            sum[c][v] = at[3 * c + v] - sum[c][v];
        KERNEL(substitute)(vectors, square + j * COLUMNS, inverse + j, sum);
        UNROLL for (int c = 0; c < COLUMNS; c++) UNROLL for (int v = 0; v < vectors; v++)
            at[3 * c + v] = sum[c][v];
    }
}

/* X = X L^-T for `rows` rows of X. The columns of L's square, `width` <= SLICE of them, are packed
 * with the distance SLICE between strips. */
KERNEL_TARGET static void KERNEL(below)(int64_t rows, int64_t width, const double *packed,
                                        const double *inverse, double *x, int64_t stride,
                                        double *strip)
{
    for (int64_t i = 0; i < rows; i += ROWS) {
        int64_t some = BRIO_MIN(ROWS, rows - i);
        KERNEL(pack_rows)(some, width, x + i, stride, strip);
        for (int64_t k = width; k % COLUMNS; k++) memset(strip + k * ROWS, 0, 8 * ROWS);
        if (some > 2 * KERNEL_LANES)
            KERNEL(below_strip)(3, width, packed, inverse, strip);
        else if (some > KERNEL_LANES)
            KERNEL(below_strip)(2, width, packed, inverse, strip);
        else
            KERNEL(below_strip)(1, width, packed, inverse, strip);
        KERNEL(unpack_rows)(some, width, strip, x + i, stride);
    }
}

/* Cholesky of one small square, in place. */
KERNEL_TARGET static bool KERNEL(corner)(int64_t width, int64_t stride, double *x, double *inverse)
{
    for (int64_t j = 0; j < width; j++) {
        double pivot = x[j * stride + j];
        if (!(pivot > 0) || !isfinite(pivot)) return false;
        double scale = inverse[j] = 1 / sqrt(pivot);
        for (int64_t i = j; i < width; i++) x[j * stride + i] *= scale;
        for (int64_t k = j + 1; k < width; k++)
            for (int64_t i = k; i < width; i++)
                x[k * stride + i] -= x[j * stride + k] * x[j * stride + i];
    }
    return true;
}

/* Cholesky of a square of `width` <= SLICE columns. Leaves its columns packed, with the inverses of
 * the diagonal, for the rows below. False: not positive definite. */
KERNEL_TARGET static bool KERNEL(square)(int64_t width, int64_t stride, double *x, double *packed,
                                         double *inverse, double *strip)
{
    for (int64_t j = 0; j < width; j += COLUMNS) {
        int64_t some = BRIO_MIN(COLUMNS, width - j), next = j + some;
        double *own = packed + j * SLICE;
        KERNEL(pack_columns)(0, COLUMNS, some, j, x + j, stride, own);
        for (int64_t i = j; i < width && j > 0; i += ROWS) {
            KERNEL(pack_rows)(width - i, j, x + i, stride, strip);
            KERNEL(tile)(0, j, strip, own, width - i, some, x + j * stride + i, stride, false);
        }
        for (int64_t c = some; c < COLUMNS; c++) inverse[j + c] = 1;
        if (!KERNEL(corner)(some, stride, x + j * stride + j, inverse + j)) return false;
        KERNEL(pack_columns)(0, COLUMNS, some, some, x + j * stride + j, stride, own + j * COLUMNS);
        for (int64_t c = some; c < COLUMNS; c++)
            memset(own + (j + c) * COLUMNS, 0, COLUMNS * sizeof *own);
        for (int64_t i = next; i < width; i += ROWS) {
            KERNEL(Vector) some_rows[COLUMNS][3];
            KERNEL(pack_rows)(width - i, COLUMNS, x + j * stride + i, stride, strip);
            memcpy(some_rows, strip, sizeof some_rows);
            KERNEL(substitute)(3, own + j * COLUMNS, inverse + j, some_rows);
            memcpy(strip, some_rows, sizeof some_rows);
            KERNEL(unpack_rows)(width - i, some, strip, x + j * stride + i, stride);
        }
    }
    return true;
}

/* to += from */
KERNEL_TARGET static inline void KERNEL(add)(int64_t count, const double *from, double *to)
{
    int64_t i = 0;
    for (; i + KERNEL_LANES <= count; i += KERNEL_LANES)
        *(KERNEL(Vector) *)(to + i) += *(const KERNEL(Vector) *)(from + i);
    KERNEL_ADD_FEW(count - i, from + i, to + i);
}

/* Adds block columns [begin, end) of a child's update matrix U to its parent's, which begin at `to`
 * with block row and block column `first`; up[] are block rows of the parent, and `runs` where they
 * stop to follow each other. */
KERNEL_TARGET static void KERNEL(pass)(int block, int32_t begin, int32_t end, int32_t rows,
                                       const int32_t *up, const int32_t *runs, const double *U,
                                       int64_t U_stride, int32_t first, double *to, int64_t stride)
{
    for (int32_t j = begin; j < end; j++) {
        const double *from = U + block * j * U_stride;
        double *column = to + block * (up[j] - first) * stride;
        for (int32_t i = j, last; i < rows; i = last) {
            last = runs[i];
            for (int c = 0; c < block; c++) KERNEL(add)
            (block * (int64_t)(last - i), from + c * U_stride + block * i,
             column + c * stride + block * (int64_t)(up[i] - first));
        }
    }
}

static const Kernels KERNEL(kernels) = {KERNEL(pack_columns), KERNEL(multiply), KERNEL(below),
                                        KERNEL(square), KERNEL(pass)};

#undef ROWS
#undef COLUMNS
#undef UNROLL
#undef KERNEL
#undef KERNEL_TARGET
#undef KERNEL_LANES
#undef KERNEL_COLUMNS
#undef KERNEL_FMA
#undef KERNEL_SUBTRACT
#undef KERNEL_ADD_FEW
