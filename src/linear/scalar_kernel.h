/* The arithmetic of solves in scalar.c: products of a piece P of the factor, or of its transpose, with three right-hand sides. Included once for
 * each instruction set and type of number, with
 *
 *     KERNEL(name)    the name with the set's and the type's suffix
 *     KERNEL_TARGET   function attribute
 *     KERNEL_LANES    doubles in a vector
 *     KERNEL_VALUE    type of the numbers of P: double or float
 *
 * P is cut into strips of STRIP rows (the last one of a multiple of UNIT), each stored by columns: rows of a strip lie together, and the whole is
 * read once from beginning to end in both directions. A strip that ends at row r has no more than r columns, since P is zero above its diagonal. */

typedef double KERNEL(Vector) __attribute__((vector_size(8 * KERNEL_LANES), aligned(8), may_alias));
typedef KERNEL_VALUE KERNEL(Stored) __attribute__((vector_size(sizeof(KERNEL_VALUE) * KERNEL_LANES), aligned(sizeof(KERNEL_VALUE)), may_alias));

#define LOAD(p) __builtin_convertvector(*(const KERNEL(Stored) *)(p), KERNEL(Vector))

/* out (three columns, each `height` padded to UNIT long, `stride` apart) = P x, where row j of x begins at x[4 j]. */
KERNEL_TARGET static inline __attribute__((always_inline)) const KERNEL_VALUE *KERNEL(forward_strip)(int vectors, int64_t rows, int64_t columns, const KERNEL_VALUE *P,
                                                                                                   const double *x, int64_t stride, double *out)
{
    for (int64_t part = 0; part < rows; part += vectors * KERNEL_LANES) {
        KERNEL(Vector) sum[3][4] = {{{0}}};
        for (int64_t j = 0; j < columns; j++) {
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++) {
                KERNEL(Vector) p = LOAD(P + rows * j + part + v * KERNEL_LANES);
#pragma GCC unroll 3
                for (int r = 0; r < 3; r++) sum[r][v] += p * x[4 * j + r];
            }
        }
        for (int r = 0; r < 3; r++)
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++) *(KERNEL(Vector) *)(out + r * stride + part + v * KERNEL_LANES) = sum[r][v];
    }
    return P + rows * columns;
}

KERNEL_TARGET static void KERNEL(forward)(int64_t height, int64_t width, const void *piece, const double *x, int64_t stride, double *out)
{
    const KERNEL_VALUE *P = piece;
    for (int64_t begin = 0; begin < height; begin += STRIP) {
        int64_t rows = BRIO_MIN(STRIP, padded(height - begin)), columns = BRIO_MIN(width, begin + rows);
        if (rows == STRIP)
            P = KERNEL(forward_strip)(4, STRIP, columns, P, x, stride, out + begin);
        else
            P = KERNEL(forward_strip)(1, rows, columns, P, x, stride, out + begin);
    }
}

/* x = P^T z, where z has three columns, each padded to UNIT with zeros, `stride` apart. `sums` has room for 3 width vectors. */
KERNEL_TARGET static void KERNEL(backward)(int64_t height, int64_t width, const void *piece, double *x, int64_t stride, const double *z, double *sums)
{
    const KERNEL_VALUE *P = piece;
    KERNEL(Vector) *sum = (KERNEL(Vector) *)sums;
    memset(sums, 0, 3 * (size_t)width * sizeof *sum);
    for (int64_t begin = 0; begin < height; begin += STRIP) {
        int64_t rows = BRIO_MIN(STRIP, padded(height - begin)), columns = BRIO_MIN(width, begin + rows);
        for (int64_t j = 0; j < columns; j++, P += rows)
            for (int64_t part = 0; part < rows; part += KERNEL_LANES) {
                KERNEL(Vector) p = LOAD(P + part);
#pragma GCC unroll 3
                for (int r = 0; r < 3; r++) sum[3 * j + r] += p * *(const KERNEL(Vector) *)(z + r * stride + begin + part);
            }
    }
    for (int64_t j = 0; j < width; j++)
        for (int r = 0; r < 3; r++) {
            double total = 0;
            for (int l = 0; l < KERNEL_LANES; l++) total += sum[3 * j + r][l];
            x[4 * j + r] = total;
        }
}

/* Stores a strip of P: made of `rows` rows by `columns` numbers in double. */
KERNEL_TARGET static void KERNEL(store)(int64_t count, const double *strip, void *piece, int64_t at)
{
    KERNEL_VALUE *P = (KERNEL_VALUE *)piece + at;
    for (int64_t i = 0; i < count; i++) P[i] = (KERNEL_VALUE)strip[i];
}

static const Kernels KERNEL(kernels) = {KERNEL(forward), KERNEL(backward), KERNEL(store)};

#undef LOAD
#undef KERNEL
#undef KERNEL_TARGET
#undef KERNEL_LANES
#undef KERNEL_VALUE
