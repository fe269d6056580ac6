/* The arithmetic of left.c. Included once for each instruction set, with
 *
 *     KERNEL(name)      the name with the set's suffix
 *     KERNEL_TARGET     function attribute
 *     KERNEL_LANES      doubles in a vector
 *     KERNEL_FMA(a,b,c) a*b + c on vectors
 *
 * A panel is the dense trapezoid of one supernode: `height` block rows by `width` block columns,
 * scalar columns one after the other. Tiles read up to ROWS-1 values past the end of a panel; the
 * array is padded for that. */

#define ROWS (2 * KERNEL_LANES)
typedef double KERNEL(Vector) __attribute__((vector_size(8 * KERNEL_LANES), aligned(8), may_alias));

/* out = X Y^T: X has ROWS rows and Y `columns` (3 or 6, maybe more than are wanted); both have
 * `depth` columns, at the given distances. */
KERNEL_TARGET static inline __attribute__((always_inline)) void KERNEL(tile_of)(
    int columns, int64_t depth, const double *x, int64_t x_stride, const double *y,
    int64_t y_stride, double *out)
{
    KERNEL(Vector) a[6] = {{0}}, b[6] = {{0}};
    for (int64_t k = 0; k < depth; k++, x += x_stride, y += y_stride) {
        const KERNEL(Vector) *rows = (const KERNEL(Vector) *)x;
        KERNEL(Vector) u = rows[0], v = rows[1];
#pragma GCC unroll 6
        for (int c = 0; c < columns; c++) {
            KERNEL(Vector) t = y[c] - (KERNEL(Vector)){0};
            a[c] = KERNEL_FMA(u, t, a[c]);
            b[c] = KERNEL_FMA(v, t, b[c]);
        }
    }
#pragma GCC unroll 6
    for (int c = 0; c < columns; c++) {
        *(KERNEL(Vector) *)(out + c * ROWS) = a[c];
        *(KERNEL(Vector) *)(out + c * ROWS + KERNEL_LANES) = b[c];
    }
}

KERNEL_TARGET static void KERNEL(tile)(int columns, int64_t depth, const double *x,
                                       int64_t x_stride, const double *y, int64_t y_stride,
                                       double *out)
{
    if (columns == 6)
        KERNEL(tile_of)(6, depth, x, x_stride, y, y_stride, out);
    else
        KERNEL(tile_of)(3, depth, x, x_stride, y, y_stride, out);
}

/* panel -= tile at scalar row i and column j of an update. `place`: where these lie in the panel;
 * NULL: as they are. */
KERNEL_TARGET static inline void KERNEL(subtract)(const double *restrict tile, int64_t rows,
                                                  int columns, int64_t i, int64_t j,
                                                  const int32_t *restrict place,
                                                  double *restrict panel, int64_t stride)
{
    for (int c = 0; c < columns; c++, tile += ROWS) {
        if (place) {
            double *column = panel + stride * place[j + c];
            for (int64_t r = 0; r < rows; r++) column[place[i + r]] -= tile[r];
        } else {
            double *column = panel + stride * (j + c) + i;
            for (int64_t r = 0; r < rows; r++) column[r] -= tile[r];
        }
    }
}

/* `count` rows of x, of `depth` columns, to where they lie together, `width` to a column; zero
 * after the last. */
KERNEL_TARGET static inline void KERNEL(copy)(int width, int64_t count, int64_t depth,
                                              const double *x, int64_t stride, double *to)
{
    if (count == width) {
        for (int64_t k = 0; k < depth; k++)
            for (int r = 0; r < width; r++) to[width * k + r] = x[k * stride + r];
        return;
    }
    for (int64_t k = 0; k < depth; k++)
        for (int r = 0; r < width; r++) to[width * k + r] = r < count ? x[k * stride + r] : 0;
}

/* panel -= X Y^T below the diagonal, for scalar rows from `begin` on: X has `rows` of them, Y the
 * first `columns`, both `depth` columns. Large ones go through `packed_rows`, where what a tile
 * reads lies together, by slices of SLICE columns. What an entry becomes does not depend on
 * `begin`. */
/* clang-format takes KERNEL(name)(...) for a declaration */
/* clang-format off */
KERNEL_TARGET static void KERNEL(update)(int64_t begin, int64_t rows, int64_t columns,
                                         int64_t stride, int64_t depth, const double *x,
                                         const int32_t *place, double *panel, int64_t panel_stride,
                                         double *packed_rows)
{
    double out[6 * ROWS], strip[ROWS * SLICE], few[6 * SLICE];
    bool packed = columns > 12;
    for (int64_t first = 0; first < depth; first += SLICE, x += SLICE * stride) {
        int64_t slice = BRIO_MIN(SLICE, depth - first);
        /* Y in strips of 6 */
        for (int64_t j = 0; packed && j < columns; j += 6)
            KERNEL(copy)(6, BRIO_MIN(6, rows - j), slice, x + j, stride, packed_rows + j * SLICE);
        for (int64_t i = begin; i < rows; i += ROWS) {
            int64_t some_rows = BRIO_MIN(ROWS, rows - i), end = BRIO_MIN(columns, i + ROWS);
            bool copied = packed || some_rows < ROWS;
            if (copied) KERNEL(copy)(ROWS, some_rows, slice, x + i, stride, strip);
            for (int64_t j = 0; j < end; j += 6) {
                int some = columns - j > 3 ? 6 : 3;
                const double *y = packed ? packed_rows + j * SLICE : x + j;
                int64_t y_stride = packed ? 6 : stride;
                if (!packed && j + some > rows) {
                    KERNEL(copy)(6, rows - j, slice, x + j, stride, few);
                    y = few, y_stride = 6;
                }
                KERNEL(tile)(some, slice, copied ? strip : x + i, copied ? ROWS : stride, y,
                    y_stride, out);
                KERNEL(subtract)(out, some_rows, (int)BRIO_MIN(some, columns - j), i, j, place,
                    panel,
                 panel_stride);
            }
        }
    }
}
/* clang-format on */

/* X = X L^-T, where L is the finished square of `width` columns and X has `rows` scalar rows; some
 * rows at a time, which stay in the cache. By strips of 12 columns, which take the product with
 * what is finished before they are. */
/* clang-format takes KERNEL(name)(...) for a declaration */
/* clang-format off */
KERNEL_TARGET static void KERNEL(below)(int64_t rows, int64_t width, int64_t stride,
                                        const double *square, double *x)
{
    enum { SOME = 64 };
    double out[6 * ROWS], few[ROWS * SLICE];
    for (; rows > 0; rows -= SOME, x += SOME) {
        int64_t some_rows = BRIO_MIN(SOME, rows);
        for (int64_t strip = 0; strip < width; strip += 12) {
            int64_t end = BRIO_MIN(strip + 12, width);
            for (int64_t c = strip; strip > 0 && c < end; c += 6) {
                int some = end - c > 3 ? 6 : 3;
                for (int64_t i = 0; i < some_rows; i += ROWS) {
                    bool copied = some_rows - i < ROWS; /* what follows may be another thread's */
                    if (copied) KERNEL(copy)(ROWS, some_rows - i, strip, x + i, stride, few);
                    KERNEL(tile)(some, strip, copied ? few : x + i, copied ? ROWS : stride,
                        square + c, stride,
                     out);
                    KERNEL(subtract)(out, BRIO_MIN(ROWS, some_rows - i), (int)BRIO_MIN(some,
                        end - c), i, c, NULL,
                     x, stride);
                }
            }
            for (int64_t j = strip; j < end; j++) {
                double *restrict column = x + stride * j;
                for (int64_t k = strip; k < j; k++) {
                    const double *restrict earlier = x + stride * k;
                    double factor = square[stride * k + j];
                    for (int64_t i = 0; i < some_rows; i++) column[i] -= factor * earlier[i];
                }
                double scale = 1 / square[stride * j + j];
                for (int64_t i = 0; i < some_rows; i++) column[i] *= scale;
            }
        }
    }
}
/* clang-format on */

/* Cholesky of a square of `width` <= SLICE columns, by strips of 12. False: not positive
 * definite. */
/* clang-format takes KERNEL(name)(...) for a declaration */
/* clang-format off */
KERNEL_TARGET static bool KERNEL(square)(int64_t width, int64_t stride, double *square)
{
    double out[6 * ROWS];
    for (int64_t j = 0; j < width; j++) {
        double *restrict column = square + stride * j;
        int64_t strip = j / 12 * 12, end = BRIO_MIN(strip + 12, width);
        for (int64_t c = j; j == strip && j > 0 && c < end; c += 6) {
            int some = end - c > 3 ? 6 : 3;
            for (int64_t i = c; i < width; i += ROWS) {
                KERNEL(tile)(some, j, square + i, stride, square + c, stride, out);
                KERNEL(subtract)(out, BRIO_MIN(ROWS, width - i), (int)BRIO_MIN(some, end - c), i,
                    c, NULL, square,
                 stride);
            }
        }
        for (int64_t k = strip; k < j; k++) {
            const double *restrict earlier = square + stride * k;
            double factor = earlier[j];
            for (int64_t i = j; i < width; i++) column[i] -= factor * earlier[i];
        }
        if (!(column[j] > 0) || !isfinite(column[j])) return false;
        double scale = 1 / sqrt(column[j]);
        for (int64_t i = j; i < width; i++) column[i] *= scale;
    }
    return true;
}
/* clang-format on */

static const Kernels KERNEL(kernels) = {KERNEL(update), KERNEL(below), KERNEL(square)};

#undef ROWS
#undef KERNEL
#undef KERNEL_TARGET
#undef KERNEL_LANES
#undef KERNEL_FMA
