/* The arithmetic of scalar.c: products of a piece P of the factor, or of its transpose, with three
 * right-hand sides, and how P is made. Included once for each instruction set and type of number,
 * with
 *
 *     KERNEL(name)      the name with the set's and the type's suffix
 *     KERNEL_TARGET     function attribute
 *     KERNEL_VALUE      type of products and of their sums within a piece: double or float
 *     KERNEL_LANES      of them in a vector
 *     KERNEL_FMA(a,b,c) a*b + c on vectors
 *     KERNEL_STORED     type of the numbers of P; left out: KERNEL_VALUE
 *     KERNEL_LOAD(p)    a vector of them as KERNEL_VALUE, and
 *     KERNEL_STORE(p, from, factor)  eight doubles times a factor; where KERNEL_STORED is given
 *
 * Lanes are rows of P. P is cut into strips (strip_rows), each stored by columns, so that both
 * directions read it from beginning to end. A strip that ends at row r has no more than r columns,
 * since P is zero above its diagonal. Vectors have rows of four doubles, of which the first three
 * count; place[] tells where a row is, and is filled up with the number of a row that nobody uses.
 *
 * The last UNIT rows of a strip may be half a vector: its upper lanes then hold numbers of the next
 * column, are multiplied by zero backward and are dropped forward. */

typedef KERNEL_VALUE KERNEL(Vector) __attribute__((vector_size(sizeof(KERNEL_VALUE) * KERNEL_LANES),
                                                   aligned(sizeof(KERNEL_VALUE)), may_alias));

#define INLINE KERNEL_TARGET static inline __attribute__((always_inline))
#define LOAD(p) (*(const KERNEL(Vector) *)(p))
#ifdef KERNEL_STORED
#define LOAD_STORED(p) KERNEL_LOAD(p)
#define SCALED 1 /* columns have powers of two taken out of them */
#else
#define KERNEL_STORED KERNEL_VALUE
#define LOAD_STORED(p) LOAD(p)
#define SCALED 0
#endif
#define ALL(s) ((s) - (KERNEL(Vector)){0})

/* ---- rows to lanes and back ------------------------------------------------------------- */

#ifdef KERNEL_512
/* Three vectors of eight lanes from eight rows. */
INLINE void KERNEL(gather_eight)(const double *local, const int32_t *place, __m512d z[3])
{
    __m512d pair[4]; /* rows i and i + 4 */
    for (int i = 0; i < 4; i++)
        pair[i] = _mm512_insertf64x4(
            _mm512_castpd256_pd512(_mm256_load_pd(local + 4 * (int64_t)place[i])),
            _mm256_load_pd(local + 4 * (int64_t)place[i + 4]), 1);
    __m512d xz = _mm512_unpacklo_pd(pair[0], pair[1]), xz2 = _mm512_unpacklo_pd(pair[2], pair[3]);
    __m512d y = _mm512_unpackhi_pd(pair[0], pair[1]), y2 = _mm512_unpackhi_pd(pair[2], pair[3]);
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13),
                  second = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    z[0] = _mm512_permutex2var_pd(xz, first, xz2);
    z[1] = _mm512_permutex2var_pd(y, first, y2);
    z[2] = _mm512_permutex2var_pd(xz, second, xz2);
}

INLINE void KERNEL(add_eight)(double *local, const int32_t *place, __m512d x, __m512d y, __m512d z)
{
    __m512d even = _mm512_unpacklo_pd(x, y), odd = _mm512_unpackhi_pd(x, y);
    __m512d even_z = _mm512_unpacklo_pd(z, _mm512_setzero_pd()),
            odd_z = _mm512_unpackhi_pd(z, _mm512_setzero_pd());
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13),
                  second = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    __m512d pair[4] = {
        _mm512_permutex2var_pd(even, first, even_z), _mm512_permutex2var_pd(odd, first, odd_z),
        _mm512_permutex2var_pd(even, second, even_z), _mm512_permutex2var_pd(odd, second, odd_z)};
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        double *row = local + 4 * (int64_t)place[i];
        _mm256_store_pd(row, _mm256_add_pd(_mm256_load_pd(row), _mm512_castpd512_pd256(pair[i])));
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        double *row = local + 4 * (int64_t)place[i + 4];
        _mm256_store_pd(row,
                        _mm256_add_pd(_mm256_load_pd(row), _mm512_extractf64x4_pd(pair[i], 1)));
    }
}

#if KERNEL_LANES == 8
enum { KERNEL(TOGETHER) = 2 }; /* columns whose lanes are summed at a time */
INLINE void KERNEL(gather)(bool half, const double *local, const int32_t *place,
                           KERNEL(Vector) z[3])
{
    (void)half;
    __m512d rows[3];
    KERNEL(gather_eight)(local, place, rows);
    for (int r = 0; r < 3; r++) z[r] = (KERNEL(Vector))rows[r];
}

INLINE void KERNEL(add)(bool half, double *local, const int32_t *place, KERNEL(Vector) x,
                        KERNEL(Vector) y, KERNEL(Vector) z)
{
    (void)half;
    KERNEL(add_eight)(local, place, (__m512d)x, (__m512d)y, (__m512d)z);
}

/* Rows of TOGETHER columns: the sums over the lanes of the first three of four vectors each. */
INLINE void KERNEL(reduce)(const KERNEL(Vector) * sum, double *own)
{
    const __m512d none = _mm512_setzero_pd();
#define HALF(u, v) _mm512_add_pd(_mm512_unpacklo_pd(u, v), _mm512_unpackhi_pd(u, v))
#define FOLD(u, v, low, high) \
    _mm512_add_pd(_mm512_shuffle_f64x2(u, v, low), _mm512_shuffle_f64x2(u, v, high))
    __m512d column[2];
    for (int c = 0; c < 2; c++)
        column[c] = FOLD(HALF((__m512d)sum[4 * c], (__m512d)sum[4 * c + 1]),
                         HALF((__m512d)sum[4 * c + 2], none), 0x44, 0xee);
    _mm512_storeu_pd(own, FOLD(column[0], column[1], 0x88, 0xdd));
#undef HALF
#undef FOLD
}
#else
enum { KERNEL(TOGETHER) = 4 };
INLINE void KERNEL(gather)(bool half, const double *local, const int32_t *place,
                           KERNEL(Vector) z[3])
{
    __m512d low[3], high[3] = {_mm512_setzero_pd(), _mm512_setzero_pd(), _mm512_setzero_pd()};
    KERNEL(gather_eight)(local, place, low);
    if (!half) KERNEL(gather_eight)(local, place + 8, high);
    for (int r = 0; r < 3; r++)
        z[r] = (KERNEL(Vector))_mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low[r])),
                                                  _mm512_cvtpd_ps(high[r]), 1);
}

INLINE void KERNEL(add)(bool half, double *local, const int32_t *place, KERNEL(Vector) x,
                        KERNEL(Vector) y, KERNEL(Vector) z)
{
#define LOW(v) _mm512_cvtps_pd(_mm512_castps512_ps256((__m512)(v)))
#define HIGH(v) _mm512_cvtps_pd(_mm512_extractf32x8_ps((__m512)(v), 1))
    KERNEL(add_eight)(local, place, LOW(x), LOW(y), LOW(z));
    if (!half) KERNEL(add_eight)(local, place + 8, HIGH(x), HIGH(y), HIGH(z));
}

INLINE void KERNEL(reduce)(const KERNEL(Vector) * sum, double *own)
{
    const __m512 none = _mm512_setzero_ps();
#define HALF(u, v) _mm512_add_ps(_mm512_unpacklo_ps(u, v), _mm512_unpackhi_ps(u, v))
#define FOLD(u, v, low, high) \
    _mm512_add_ps(_mm512_shuffle_f32x4(u, v, low), _mm512_shuffle_f32x4(u, v, high))
    __m512 column[4];
    for (int c = 0; c < 4; c++) { /* x x y y in a quarter, z z 0 0, and then x y z 0 */
        __m512 xy = HALF((__m512)sum[4 * c], (__m512)sum[4 * c + 1]),
               z = HALF((__m512)sum[4 * c + 2], none);
        column[c] = _mm512_add_ps(_mm512_shuffle_ps(xy, z, 0x44), _mm512_shuffle_ps(xy, z, 0xee));
    }
    __m512 all = FOLD(FOLD(column[0], column[1], 0x44, 0xee),
                      FOLD(column[2], column[3], 0x44, 0xee), 0x88, 0xdd);
    _mm512_storeu_pd(own, LOW(all));
    _mm512_storeu_pd(own + 8, HIGH(all));
#undef HALF
#undef FOLD
#undef LOW
#undef HIGH
}
#endif
#else
enum { KERNEL(TOGETHER) = 1 };
INLINE void KERNEL(gather)(bool half, const double *local, const int32_t *place,
                           KERNEL(Vector) z[3])
{
    (void)half;
    KERNEL_VALUE lanes[3][KERNEL_LANES];
    for (int l = 0; l < KERNEL_LANES; l++)
        for (int r = 0; r < 3; r++) lanes[r][l] = (KERNEL_VALUE)local[4 * (int64_t)place[l] + r];
    for (int r = 0; r < 3; r++) z[r] = LOAD(lanes[r]);
}

INLINE void KERNEL(add)(bool half, double *local, const int32_t *place, KERNEL(Vector) x,
                        KERNEL(Vector) y, KERNEL(Vector) z)
{
    (void)half;
#pragma GCC unroll 8
    for (int l = 0; l < KERNEL_LANES; l++) {
        double *row = local + 4 * (int64_t)place[l];
        row[0] += x[l];
        row[1] += y[l];
        row[2] += z[l];
    }
}

INLINE void KERNEL(reduce)(const KERNEL(Vector) * sum, double *own)
{
    for (int r = 0; r < 3; r++) {
        KERNEL_VALUE total = 0;
        for (int l = 0; l < KERNEL_LANES; l++) total += sum[r][l];
        own[r] = total;
    }
}
#endif

/* ---- forward ---------------------------------------------------------------------------- */

/* Adds `vectors` of P x to the rows. Sums of `phases` columns go on side by side: a sum waits for
 * its last product. */
/* clang-format takes KERNEL(name)(...) for a declaration */
/* clang-format off */
INLINE void KERNEL(forward_rows)(const int vectors, const int phases, const bool half, int64_t rows,
                                 int64_t columns, const KERNEL_STORED *P, const KERNEL_VALUE *x,
                                 const int32_t *place, double *local)
{
    KERNEL(Vector) sum[4][3][4] = {{{{0}}}};
    int64_t j = 0;
    for (; j + phases <= columns; j += phases)
#pragma GCC unroll 4
        for (int phase = 0; phase < phases; phase++) {
            const KERNEL_VALUE *row = x + 4 * (j + phase);
            KERNEL(Vector) a = ALL(row[0]), b = ALL(row[1]), c = ALL(row[2]);
            for (int line = 0; line < vectors * KERNEL_LANES; line += 64 / (int)sizeof *P)
                __builtin_prefetch(P + rows * (j + phase) + line + AHEAD / sizeof *P);
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++) {
                KERNEL(Vector) p = LOAD_STORED(P + rows * (j + phase) + v * KERNEL_LANES);
                sum[phase][0][v] = KERNEL_FMA(p, a, sum[phase][0][v]);
                sum[phase][1][v] = KERNEL_FMA(p, b, sum[phase][1][v]);
                sum[phase][2][v] = KERNEL_FMA(p, c, sum[phase][2][v]);
            }
        }
    for (; j < columns; j++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
            KERNEL(Vector) p = LOAD_STORED(P + rows * j + v * KERNEL_LANES);
#pragma GCC unroll 3
            for (int r = 0; r < 3; r++)
                sum[0][r][v] = KERNEL_FMA(p, ALL(x[4 * j + r]), sum[0][r][v]);
        }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
#pragma GCC unroll 4
        for (int phase = 1; phase < phases; phase++)
#pragma GCC unroll 3
            for (int r = 0; r < 3; r++) sum[0][r][v] += sum[phase][r][v];
        KERNEL(add)(half, local, place + v * KERNEL_LANES, sum[0][0][v], sum[0][1][v],
            sum[0][2][v]);
    }
}
/* clang-format on */

/* With x_J the first `width` rows of place[], which follow each other: x_J = 0, then all rows of
 * place[] += P x_J as it was. `scale`: what was taken out of each column. */
KERNEL_TARGET static void KERNEL(forward)(int64_t height, int64_t width, const void *piece,
                                          const double *scale, const int32_t *place, double *local,
                                          double *scratch)
{
    const KERNEL_STORED *P = piece;
    KERNEL_VALUE *x = (KERNEL_VALUE *)scratch;
    double *own = local + 4 * (int64_t)place[0];
    for (int64_t i = 0; i < 4 * width; i++) {
        x[i] = (KERNEL_VALUE)(SCALED ? own[i] * scale[i / 4] : own[i]);
        own[i] = 0;
    }
    for (int64_t begin = 0, rows; begin < height; begin += rows, place += rows) {
        rows = strip_rows(height, width, begin);
        int64_t columns = BRIO_MIN(width, begin + rows), row = 0;
        for (; row + 4 * KERNEL_LANES <= rows; row += 4 * KERNEL_LANES)
            KERNEL(forward_rows)(4, 1, false, rows, columns, P + row, x, place + row, local);
        if (row + 2 * KERNEL_LANES <= rows) {
            KERNEL(forward_rows)(2, 2, false, rows, columns, P + row, x, place + row, local);
            row += 2 * KERNEL_LANES;
        }
        if (row + KERNEL_LANES <= rows) {
            KERNEL(forward_rows)(1, 4, false, rows, columns, P + row, x, place + row, local);
            row += KERNEL_LANES;
        }
        if (row < rows)
            KERNEL(forward_rows)(1, 4, true, rows, columns, P + row, x, place + row, local);
        P += rows * columns;
    }
}

/* ---- backward --------------------------------------------------------------------------- */

/* sum[4 j + r] (+)= lanes of column j of P times coordinate r of the rows of place[]; columns from
 * `known` on have no sum yet. */
INLINE void KERNEL(backward_rows)(const int vectors, const bool half, int64_t rows, int64_t known,
                                  int64_t columns, const KERNEL_STORED *P, const char *next,
                                  const double *local, const int32_t *place, KERNEL(Vector) * sum)
{
    KERNEL(Vector) z[4][3];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) KERNEL(gather)(half, local, place + v * KERNEL_LANES, z[v]);
    for (int64_t j = 0; j < columns; j++, P += rows, next += rows * (int64_t)sizeof *P) {
        KERNEL(Vector) s[3] = {{0}};
        if (j < known)
#pragma GCC unroll 3
            for (int r = 0; r < 3; r++) s[r] = sum[4 * j + r];
        for (int64_t line = 0; line < vectors * KERNEL_LANES * (int64_t)sizeof *P; line += 64)
            __builtin_prefetch(next + line);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
            KERNEL(Vector) p = LOAD_STORED(P + v * KERNEL_LANES);
#pragma GCC unroll 3
            for (int r = 0; r < 3; r++) s[r] = KERNEL_FMA(p, z[v][r], s[r]);
        }
#pragma GCC unroll 3
        for (int r = 0; r < 3; r++) sum[4 * j + r] = s[r];
    }
}

/* The first `width` rows of place[], which follow each other, = P^T (the rows of place[]).
 * `next_piece`: the one that is read after this, which has `count` numbers. */
/* clang-format takes KERNEL(name)(...) for a declaration */
/* clang-format off */
KERNEL_TARGET static void KERNEL(backward)(int64_t height, int64_t width, const void *piece,
                                           const double *scale, int64_t count,
                                           const void *next_piece, const int32_t *place,
                                           double *local, double *scratch)
{
    enum { TOGETHER = KERNEL(TOGETHER) };
    const KERNEL_STORED *P = piece;
    KERNEL(Vector) *sum = (KERNEL(Vector) *)scratch;
    double *own = local + 4 * (int64_t)place[0], last[4 * TOGETHER];
    const KERNEL_STORED *end = P + count;
    int64_t known = 0, size = (int64_t)sizeof *P;
    for (int64_t begin = 0, rows; begin < height; begin += rows, place += rows) {
        rows = strip_rows(height, width, begin);
        int64_t columns = BRIO_MIN(width, begin + rows);
        int64_t row = 0;
        int64_t beyond = AHEAD - size * (end - P);
        const char *next = beyond < 0 ? (const char *)P + AHEAD : (const char *)next_piece + beyond;
        for (; row + 4 * KERNEL_LANES <= rows; row += 4 * KERNEL_LANES, known = columns)
            KERNEL(backward_rows)(4, false, rows, known, columns, P + row, next + size * row,
                local, place + row, sum);
        if (row + 2 * KERNEL_LANES <= rows) {
            KERNEL(backward_rows)(2, false, rows, known, columns, P + row, next + size * row,
                local, place + row,
             sum);
            row += 2 * KERNEL_LANES;
            known = columns;
        }
        if (row + KERNEL_LANES <= rows) {
            KERNEL(backward_rows)(1, false, rows, known, columns, P + row, next + size * row,
                local, place + row,
             sum);
            row += KERNEL_LANES;
            known = columns;
        }
        if (row < rows)
            KERNEL(backward_rows)(1, true, rows, known, columns, P + row, next + size * row,
                local, place + row, sum);
        known = columns;
        P += rows * columns;
    }
    int64_t j = 0;
    for (; j + TOGETHER <= width; j += TOGETHER) KERNEL(reduce)(sum + 4 * j, own + 4 * j);
    if (j < width) {
        KERNEL(reduce)(sum + 4 * j, last);
        memcpy(own + 4 * j, last, 4 * sizeof *own * (size_t)(width - j));
    }
    for (int64_t i = 0; SCALED && i < 4 * width; i++) own[i] *= scale[i / 4];
}
/* clang-format on */

/* ---- P from L --------------------------------------------------------------------------- */

/* One strip of P, whose first columns of rows `strip` holds in double: P L_JJ = strip, the last
 * column first; then stored. Columns of L_JJ are `stride` apart. */
KERNEL_TARGET static void KERNEL(finish)(int64_t rows, int64_t columns, int64_t stride,
                                         const double *L, const double *scale, double *strip,
                                         void *piece, int64_t at)
{
    typedef double Unit
        __attribute__((vector_size(UNIT * sizeof(double)), aligned(sizeof(double)), may_alias));
    KERNEL_STORED *P = (KERNEL_STORED *)piece + at;
    for (int64_t j = columns - 1; j >= 0; j--) {
        const double *below = L + stride * j;
        double over = 1 / below[j];
        for (int64_t i = 0; i < rows; i += UNIT) {
            Unit sum = *(Unit *)(strip + rows * j + i);
            for (int64_t k = j + 1; k < columns; k++)
                sum -= below[k] * *(Unit *)(strip + rows * k + i);
            *(Unit *)(strip + rows * j + i) = sum * over;
        }
    }
#if SCALED
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = rows * j; i < rows * (j + 1); i += UNIT)
            KERNEL_STORE(P + i, strip + i, 1 / scale[j]);
#else
    (void)scale;
    for (int64_t i = 0; i < rows * columns; i++) P[i] = (KERNEL_VALUE)strip[i];
#endif
}

static const Kernels KERNEL(kernels) = {KERNEL(forward), KERNEL(backward), KERNEL(finish)};

#undef INLINE
#undef LOAD
#undef ALL
#undef KERNEL
#undef KERNEL_TARGET
#undef KERNEL_LANES
#undef KERNEL_FMA
#undef KERNEL_VALUE
#undef KERNEL_STORED
#undef KERNEL_LOAD
#undef KERNEL_STORE
#undef LOAD_STORED
#undef SCALED
