/* The arithmetic of solves in scalar.c: products of a piece P of the factor, or of its transpose, with three right-hand sides. Included once for
 * each instruction set and type of number, with
 *
 *     KERNEL(name)      the name with the set's and the type's suffix
 *     KERNEL_TARGET     function attribute
 *     KERNEL_LANES      doubles in a vector
 *     KERNEL_FMA(a,b,c) a*b + c on vectors
 *     KERNEL_VALUE      type of the numbers of P: double or float
 *
 * Lanes are rows of P. P is cut into strips of STRIP rows (the last one of a multiple of UNIT), each stored by columns, so that both
 * directions read it from beginning to end. A strip that ends at row r has no more than r columns, since P is zero above its diagonal. Rows of vectors are
 * four numbers, of which the first three count; place[] tells where they are, and is filled up with the number of a row that nobody reads. */

typedef double KERNEL(Vector) __attribute__((vector_size(8 * KERNEL_LANES), aligned(8), may_alias));
typedef KERNEL_VALUE KERNEL(Stored) __attribute__((vector_size(sizeof(KERNEL_VALUE) * KERNEL_LANES), aligned(sizeof(KERNEL_VALUE)), may_alias));

#define INLINE KERNEL_TARGET static inline __attribute__((always_inline))
#define LOAD(p) __builtin_convertvector(*(const KERNEL(Stored) *)(p), KERNEL(Vector))

/* ---- rows to lanes and back --------------------------------------------------------------------- */

#if KERNEL_LANES == 8
INLINE void KERNEL(gather)(const double *local, const int32_t *place, KERNEL(Vector) z[3])
{
    __m512d pair[4]; /* rows i and i + 4 */
    for (int i = 0; i < 4; i++)
        pair[i] = _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_load_pd(local + 4 * (int64_t)place[i])), _mm256_load_pd(local + 4 * (int64_t)place[i + 4]), 1);
    __m512d xz = _mm512_unpacklo_pd(pair[0], pair[1]), xz2 = _mm512_unpacklo_pd(pair[2], pair[3]);
    __m512d y = _mm512_unpackhi_pd(pair[0], pair[1]), y2 = _mm512_unpackhi_pd(pair[2], pair[3]);
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), second = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    z[0] = (KERNEL(Vector))_mm512_permutex2var_pd(xz, first, xz2);
    z[1] = (KERNEL(Vector))_mm512_permutex2var_pd(y, first, y2);
    z[2] = (KERNEL(Vector))_mm512_permutex2var_pd(xz, second, xz2);
}

INLINE void KERNEL(add)(double *local, const int32_t *place, KERNEL(Vector) x, KERNEL(Vector) y, KERNEL(Vector) z)
{
    __m512d even = _mm512_unpacklo_pd((__m512d)x, (__m512d)y), odd = _mm512_unpackhi_pd((__m512d)x, (__m512d)y);
    __m512d even_z = _mm512_unpacklo_pd((__m512d)z, _mm512_setzero_pd()), odd_z = _mm512_unpackhi_pd((__m512d)z, _mm512_setzero_pd());
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), second = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    __m512d pair[4] = {_mm512_permutex2var_pd(even, first, even_z), _mm512_permutex2var_pd(odd, first, odd_z),
                       _mm512_permutex2var_pd(even, second, even_z), _mm512_permutex2var_pd(odd, second, odd_z)};
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        double *row = local + 4 * (int64_t)place[i];
        _mm256_store_pd(row, _mm256_add_pd(_mm256_load_pd(row), _mm512_castpd512_pd256(pair[i])));
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        double *row = local + 4 * (int64_t)place[i + 4];
        _mm256_store_pd(row, _mm256_add_pd(_mm256_load_pd(row), _mm512_extractf64x4_pd(pair[i], 1)));
    }
}

/* Sums over the lanes of the three vectors of a column, for two columns: two rows. */
INLINE KERNEL(Vector) KERNEL(reduce)(const KERNEL(Vector) *a, const KERNEL(Vector) *b)
{
    const __m512d none = _mm512_setzero_pd();
#define HALF(u, v) _mm512_add_pd(_mm512_unpacklo_pd(u, v), _mm512_unpackhi_pd(u, v))
#define QUARTER(u, v, low, high) _mm512_add_pd(_mm512_shuffle_f64x2(u, v, low), _mm512_shuffle_f64x2(u, v, high))
    __m512d row = QUARTER(HALF((__m512d)a[0], (__m512d)a[1]), HALF((__m512d)a[2], none), 0x44, 0xee);
    __m512d next = QUARTER(HALF((__m512d)b[0], (__m512d)b[1]), HALF((__m512d)b[2], none), 0x44, 0xee);
    return (KERNEL(Vector))QUARTER(row, next, 0x88, 0xdd);
#undef HALF
#undef QUARTER
}
#else
INLINE void KERNEL(gather)(const double *local, const int32_t *place, KERNEL(Vector) z[3])
{
    double lanes[3][KERNEL_LANES];
    for (int l = 0; l < KERNEL_LANES; l++)
        for (int r = 0; r < 3; r++) lanes[r][l] = local[4 * (int64_t)place[l] + r];
    for (int r = 0; r < 3; r++) z[r] = *(const KERNEL(Vector) *)lanes[r];
}

INLINE void KERNEL(add)(double *local, const int32_t *place, KERNEL(Vector) x, KERNEL(Vector) y, KERNEL(Vector) z)
{
#pragma GCC unroll 4
    for (int l = 0; l < KERNEL_LANES; l++) {
        double *row = local + 4 * (int64_t)place[l];
        row[0] += x[l];
        row[1] += y[l];
        row[2] += z[l];
    }
}
#endif

/* ---- forward ------------------------------------------------------------------------------------ */

/* Adds `vectors` of P x to the rows. Sums of `phases` columns go on side by side: a sum waits for its last product. */
INLINE void KERNEL(forward_part)(const int vectors, const int phases, int64_t rows, int64_t columns, const KERNEL_VALUE *P, const double *x,
                                 const int32_t *place, double *local)
{
    KERNEL(Vector) sum[4][3][4] = {{{{0}}}};
    int64_t j = 0;
    for (; j + phases <= columns; j += phases)
#pragma GCC unroll 4
        for (int phase = 0; phase < phases; phase++) {
            const double *row = x + 4 * (j + phase);
            KERNEL(Vector) a = row[0] - (KERNEL(Vector)){0}, b = row[1] - (KERNEL(Vector)){0}, c = row[2] - (KERNEL(Vector)){0};
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++) {
                KERNEL(Vector) p = LOAD(P + rows * (j + phase) + v * KERNEL_LANES);
                sum[phase][0][v] = KERNEL_FMA(p, a, sum[phase][0][v]);
                sum[phase][1][v] = KERNEL_FMA(p, b, sum[phase][1][v]);
                sum[phase][2][v] = KERNEL_FMA(p, c, sum[phase][2][v]);
            }
        }
    for (; j < columns; j++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
            KERNEL(Vector) p = LOAD(P + rows * j + v * KERNEL_LANES);
#pragma GCC unroll 3
            for (int r = 0; r < 3; r++) sum[0][r][v] = KERNEL_FMA(p, x[4 * j + r] - (KERNEL(Vector)){0}, sum[0][r][v]);
        }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
#pragma GCC unroll 4
        for (int phase = 1; phase < phases; phase++)
#pragma GCC unroll 3
            for (int r = 0; r < 3; r++) sum[0][r][v] += sum[phase][r][v];
        KERNEL(add)(local, place + v * KERNEL_LANES, sum[0][0][v], sum[0][1][v], sum[0][2][v]);
    }
}

/* The rows of place[] += P x, where x are `width` rows apart from them. */
KERNEL_TARGET static void KERNEL(forward)(int64_t height, int64_t width, const void *piece, const double *x, const int32_t *place, double *local)
{
    const KERNEL_VALUE *P = piece;
    for (int64_t begin = 0; begin < height; begin += STRIP, place += STRIP) {
        int64_t rows = BRIO_MIN(STRIP, padded(height - begin)), columns = BRIO_MIN(width, begin + rows), part = 0;
        for (; part + 4 * KERNEL_LANES <= rows; part += 4 * KERNEL_LANES) KERNEL(forward_part)(4, 1, rows, columns, P + part, x, place + part, local);
        if (part + 2 * KERNEL_LANES <= rows) {
            KERNEL(forward_part)(2, 2, rows, columns, P + part, x, place + part, local);
            part += 2 * KERNEL_LANES;
        }
        if (part < rows) KERNEL(forward_part)(1, 4, rows, columns, P + part, x, place + part, local);
        P += rows * columns;
    }
}

/* ---- backward ----------------------------------------------------------------------------------- */

/* sum[4 j + r] (+)= lanes of column j of P times coordinate r of the rows of place[]; columns from `known` on have no sum yet. */
INLINE void KERNEL(backward_part)(const int vectors, int64_t rows, int64_t known, int64_t columns, const KERNEL_VALUE *P, const char *next,
                                  const double *local, const int32_t *place, KERNEL(Vector) *sum)
{
    KERNEL(Vector) z[4][3];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) KERNEL(gather)(local, place + v * KERNEL_LANES, z[v]);
    for (int64_t j = 0; j < columns; j++, P += rows, next += rows * (int64_t)sizeof *P) {
        KERNEL(Vector) s[3] = {{0}};
        if (j < known)
#pragma GCC unroll 3
            for (int r = 0; r < 3; r++) s[r] = sum[4 * j + r];
        for (int64_t line = 0; line < vectors * KERNEL_LANES * (int64_t)sizeof *P; line += 64) __builtin_prefetch(next + line);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
            KERNEL(Vector) p = LOAD(P + v * KERNEL_LANES);
#pragma GCC unroll 3
            for (int r = 0; r < 3; r++) s[r] = KERNEL_FMA(p, z[v][r], s[r]);
        }
#pragma GCC unroll 3
        for (int r = 0; r < 3; r++) sum[4 * j + r] = s[r];
    }
}

/* The first `width` rows of place[], which follow each other, = P^T (the rows of place[]). `next`: the piece that is read after this one. */
KERNEL_TARGET static void KERNEL(backward)(int64_t height, int64_t width, const void *piece, const void *next_piece, const int32_t *place, double *local, double *sums)
{
    const KERNEL_VALUE *P = piece;
    const char *next = next_piece;
    KERNEL(Vector) *sum = (KERNEL(Vector) *)sums;
    double *own = local + 4 * (int64_t)place[0];
    int64_t known = 0;
    for (int64_t begin = 0; begin < height; begin += STRIP, place += STRIP) {
        int64_t rows = BRIO_MIN(STRIP, padded(height - begin)), columns = BRIO_MIN(width, begin + rows), part = 0, size = (int64_t)sizeof *P;
        for (; part + 4 * KERNEL_LANES <= rows; part += 4 * KERNEL_LANES, known = columns)
            KERNEL(backward_part)(4, rows, known, columns, P + part, next + size * part, local, place + part, sum);
        if (part + 2 * KERNEL_LANES <= rows) {
            KERNEL(backward_part)(2, rows, known, columns, P + part, next + size * part, local, place + part, sum);
            part += 2 * KERNEL_LANES;
            known = columns;
        }
        if (part < rows) KERNEL(backward_part)(1, rows, known, columns, P + part, next + size * part, local, place + part, sum);
        known = columns;
        P += rows * columns;
        next += size * rows * columns;
    }
    int64_t j = 0;
#if KERNEL_LANES == 8
    for (; j + 2 <= width; j += 2) *(KERNEL(Vector) *)(own + 4 * j) = KERNEL(reduce)(sum + 4 * j, sum + 4 * j + 4);
    if (j < width) {
        KERNEL(Vector) last = KERNEL(reduce)(sum + 4 * j, sum + 4 * j);
        _mm256_store_pd(own + 4 * j, _mm512_castpd512_pd256((__m512d)last));
        j++;
    }
#endif
    for (; j < width; j++)
        for (int r = 0; r < 3; r++) {
            double total = 0;
            for (int l = 0; l < KERNEL_LANES; l++) total += sum[4 * j + r][l];
            own[4 * j + r] = total;
        }
}

/* Stores numbers of P. */
KERNEL_TARGET static void KERNEL(store)(int64_t count, const double *strip, void *piece, int64_t at)
{
    KERNEL_VALUE *P = (KERNEL_VALUE *)piece + at;
    for (int64_t i = 0; i < count; i++) P[i] = (KERNEL_VALUE)strip[i];
}

static const Kernels KERNEL(kernels) = {KERNEL(forward), KERNEL(backward), KERNEL(store)};

#undef INLINE
#undef LOAD
#undef KERNEL
#undef KERNEL_TARGET
#undef KERNEL_LANES
#undef KERNEL_FMA
#undef KERNEL_VALUE
