/* The inner loops of the multilevel preconditioner, for one instruction set: KERNEL(name),
 * KERNEL_TARGET, and KERNEL_FMA_* for vectors of 4 and 8 floats and of 4 and 2 doubles. Included by
 * cycle.c.
 *
 * The cycle computes with floats, the coarse matrices with doubles: what a rigid motion of a stiff
 * body leaves of its energy is the mass, which the rounding of a float would drown. */

typedef float KERNEL(Quad) __attribute__((vector_size(16), aligned(4), may_alias));
typedef float KERNEL(Oct) __attribute__((vector_size(32), aligned(4), may_alias));
typedef double KERNEL(Four) __attribute__((vector_size(32), aligned(8), may_alias));
typedef double KERNEL(Two) __attribute__((vector_size(16), aligned(8), may_alias));
#define Quad KERNEL(Quad)
#define Oct KERNEL(Oct)
#define Four KERNEL(Four)
#define Two KERNEL(Two)
#define INLINE KERNEL_TARGET static inline __attribute__((always_inline))

/* sum = row i of A times x; of a small block four numbers are read, of which three count. */
INLINE void KERNEL(row)(const BrioLevel *l, int64_t i, int size, const float *x, float sum[8])
{
    if (size == 3) {
        Quad s0 = {0}, s1 = {0}, s2 = {0};
        for (int64_t k = l->start[i]; k < l->start[i + 1]; k++) {
            const float *a = l->value + 9 * k, *u = x + 3 * (int64_t)l->column[k];
            Quad x0 = {u[0], u[0], u[0], u[0]}, x1 = {u[1], u[1], u[1], u[1]};
            Quad x2 = {u[2], u[2], u[2], u[2]};
            s0 = KERNEL_FMA_QUAD(*(const Quad *)a, x0, s0);
            s1 = KERNEL_FMA_QUAD(*(const Quad *)(a + 3), x1, s1);
            s2 = KERNEL_FMA_QUAD(*(const Quad *)(a + 6), x2, s2);
        }
        *(Quad *)sum = (s0 + s1) + s2;
        return;
    }
    Oct s[2] = {{0}, {0}};
    for (int64_t k = l->start[i]; k < l->start[i + 1]; k++) {
        const float *a = l->value + 36 * k, *u = x + 6 * (int64_t)l->column[k];
        for (int c = 0; c < 6; c++) {
            Oct xc = {u[c], u[c], u[c], u[c], u[c], u[c], u[c], u[c]};
            s[c % 2] = KERNEL_FMA_OCT(*(const Oct *)(a + 6 * c), xc, s[c % 2]);
        }
    }
    *(Oct *)sum = s[0] + s[1];
}

INLINE void KERNEL(smooth_rows)(const BrioLevel *l, int size, float keep, float step, int64_t begin,
                                int64_t end)
{
    for (int64_t i = begin; i < end; i++) {
        float sum[8];
        KERNEL(row)(l, i, size, l->x, sum);
        const float *inverse = l->inverse + size * size * i;
        for (int r = 0; r < size; r++) sum[r] = l->b[size * i + r] - sum[r];
        for (int r = 0; r < size; r++) {
            float z = 0;
            for (int c = 0; c < size; c++) z += inverse[size * c + r] * sum[c];
            float d = keep * l->d[size * i + r] + step * z;
            l->d[size * i + r] = d;
            l->y[size * i + r] = l->x[size * i + r] + d;
        }
    }
}

KERNEL_TARGET static void KERNEL(smooth)(const BrioLevel *l, float keep, float step, int64_t begin,
                                         int64_t end)
{
    if (l->size == 3)
        KERNEL(smooth_rows)(l, 3, keep, step, begin, end);
    else
        KERNEL(smooth_rows)(l, 6, keep, step, begin, end);
}

INLINE void KERNEL(residual_rows)(const BrioLevel *l, int size, float factor, int64_t begin,
                                  int64_t end)
{
    for (int64_t i = begin; i < end; i++) {
        float sum[8];
        KERNEL(row)(l, i, size, l->x, sum);
        for (int r = 0; r < size; r++) l->y[size * i + r] = factor * l->b[size * i + r] - sum[r];
    }
}

KERNEL_TARGET static void KERNEL(residual)(const BrioLevel *l, float factor, int64_t begin,
                                           int64_t end)
{
    if (l->size == 3)
        KERNEL(residual_rows)(l, 3, factor, begin, end);
    else
        KERNEL(residual_rows)(l, 6, factor, begin, end);
}

INLINE void KERNEL(interpolate_rows)(const BrioLevel *l, int size, const float *from, int64_t begin,
                                     int64_t end)
{
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = l->p_start[i]; k < l->p_start[i + 1]; k++) {
            const float *p = l->p + 6 * size * k, *u = from + 6 * (int64_t)l->p_column[k];
            for (int r = 0; r < size; r++) {
                float sum = 0;
                for (int c = 0; c < 6; c++) sum += p[6 * r + c] * u[c];
                l->x[size * i + r] += sum;
            }
        }
}

KERNEL_TARGET static void KERNEL(interpolate)(const BrioLevel *l, const float *from, int64_t begin,
                                              int64_t end)
{
    if (l->size == 3)
        KERNEL(interpolate_rows)(l, 3, from, begin, end);
    else
        KERNEL(interpolate_rows)(l, 6, from, begin, end);
}

/* ---- coarse matrices -------------------------------------------------------------------- */

/* Block k of row i of the level's matrix, row by row. The finest one is read from where it is: left
 * of the diagonal, on it (of which the lower half counts), and transposed below it. */
INLINE const double *KERNEL(block)(const BrioLevel *l, const BrioMatrix *A, double scale, int64_t i,
                                   int64_t k, double kept[9])
{
    if (!A) return l->exact + 36 * k;
    int64_t at = k - l->diagonal[i];
    if (at < 0) {
        const BrioLeftBlock *left = &A->left[A->left_start[i + 1] + at];
        const double *a = A->value + left->slot;
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) kept[3 * r + c] = scale * a[c * left->stride + r];
        return kept;
    }
    int64_t stride = brio__matrix_stride(A, (int32_t)i);
    const double *a = A->value + 9 * A->start[i] + 3 * at;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            kept[3 * r + c] = scale * (at == 0 && c < r ? a[c * stride + r] : a[r * stride + c]);
    return kept;
}

/* sum (size x 6) += a (size x size) times p (size x 6) */
INLINE void KERNEL(add)(int size, const double *a, const float *p, double *sum)
{
    for (int r = 0; r < size; r++) {
        Four low = *(Four *)(sum + 6 * r);
        Two high = *(Two *)(sum + 6 * r + 4);
        for (int c = 0; c < size; c++) {
            const float *q = p + 6 * c;
            double f = a[size * r + c];
            Four q0 = {q[0], q[1], q[2], q[3]}, f4 = {f, f, f, f};
            Two q1 = {q[4], q[5]}, f2 = {f, f};
            low = KERNEL_FMA_FOUR(f4, q0, low);
            high = KERNEL_FMA_TWO(f2, q1, high);
        }
        *(Four *)(sum + 6 * r) = low;
        *(Two *)(sum + 6 * r + 4) = high;
    }
}

INLINE void KERNEL(interpolation_rows)(const BrioLevel *l, const BrioMatrix *A, double scale,
                                       double damping, int size, int64_t begin, int64_t end)
{
    double sum[36 * BRIO_MAX_P_ROW], kept[9];
    for (int64_t i = begin; i < end; i++) {
        int64_t first = l->p_start[i], blocks = l->p_start[i + 1] - first;
        const float *own = l->tentative + 6 * size * i;
        int32_t home = l->p_place[l->diagonal[i]];
        float *p = l->p + 6 * size * first;
        if (home < 0) { /* not smoothed */
            memcpy(p, own, 6 * (size_t)size * sizeof *p);
            continue;
        }
        memset(sum, 0, 6 * (size_t)(size * blocks) * sizeof *sum);
        for (int64_t k = l->start[i]; k < l->start[i + 1]; k++) KERNEL(add)
        (size, KERNEL(block)(l, A, scale, i, k, kept),
         l->tentative + 6 * size * (int64_t)l->column[k], sum + 6 * size * l->p_place[k]);
        const float *inverse = l->inverse + size * size * i;
        for (int64_t j = 0; j < blocks; j++)
            for (int r = 0; r < size; r++)
                for (int m = 0; m < 6; m++) {
                    double z = 0;
                    for (int c = 0; c < size; c++)
                        z += (double)inverse[size * c + r] * sum[6 * (size * j + c) + m];
                    p[6 * (size * j + r) + m] =
                        (float)((j == home ? own[6 * r + m] : 0) - damping * z);
                }
    }
}

KERNEL_TARGET static void KERNEL(interpolation)(const BrioLevel *l, const BrioMatrix *A,
                                                double scale, double damping, int64_t begin,
                                                int64_t end)
{
    if (l->size == 3)
        KERNEL(interpolation_rows)(l, A, scale, damping, 3, begin, end);
    else
        KERNEL(interpolation_rows)(l, NULL, scale, damping, 6, begin, end);
}

INLINE void KERNEL(product_rows)(const BrioLevel *l, const BrioMatrix *A, double scale, int size,
                                 double *ap, int64_t begin, int64_t end)
{
    double kept[9];
    for (int64_t i = begin; i < end; i++) {
        double *row = ap + 6 * size * l->ap_start[i];
        const int32_t *place = l->ap_place + l->ap_place_start[i];
        memset(row, 0,
               6 * (size_t)size * sizeof *row * (size_t)(l->ap_start[i + 1] - l->ap_start[i]));
        for (int64_t k = l->start[i]; k < l->start[i + 1]; k++) {
            const double *a = KERNEL(block)(l, A, scale, i, k, kept);
            int32_t j = l->column[k];
            for (int64_t m = l->p_start[j]; m < l->p_start[j + 1]; m++)
                KERNEL(add)(size, a, l->p + 6 * size * m, row + 6 * size * (int64_t)*place++);
        }
    }
}

KERNEL_TARGET static void KERNEL(product)(const BrioLevel *l, const BrioMatrix *A, double scale,
                                          double *ap, int64_t begin, int64_t end)
{
    if (l->size == 3)
        KERNEL(product_rows)(l, A, scale, 3, ap, begin, end);
    else
        KERNEL(product_rows)(l, NULL, scale, 6, ap, begin, end);
}

/* to (6 x 6) += p^T (6 x size) times ap (size x 6) */
INLINE void KERNEL(add_transposed)(int size, const float *p, const double *ap, double *to)
{
    for (int r = 0; r < 6; r++) {
        Four low = *(Four *)(to + 6 * r);
        Two high = *(Two *)(to + 6 * r + 4);
        for (int c = 0; c < size; c++) {
            double f = p[6 * c + r];
            Four f4 = {f, f, f, f};
            Two f2 = {f, f};
            low = KERNEL_FMA_FOUR(f4, *(const Four *)(ap + 6 * c), low);
            high = KERNEL_FMA_TWO(f2, *(const Two *)(ap + 6 * c + 4), high);
        }
        *(Four *)(to + 6 * r) = low;
        *(Two *)(to + 6 * r + 4) = high;
    }
}

INLINE void KERNEL(coarse_rows)(const BrioLevel *l, const double *ap, const BrioLevel *coarse,
                                int size, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) {
        double *row = coarse->exact + 36 * coarse->start[i];
        const int32_t *place = l->coarse_place + l->coarse_place_start[i];
        memset(row, 0, 36 * sizeof *row * (size_t)(coarse->start[i + 1] - coarse->start[i]));
        for (int64_t k = l->column_start[i]; k < l->column_start[i + 1]; k++) {
            int32_t fine = l->entry_row[k];
            const float *p = l->p + 6 * size * l->entry[k];
            for (int64_t m = l->ap_start[fine]; m < l->ap_start[fine + 1]; m++)
                KERNEL(add_transposed)(size, p, ap + 6 * size * m, row + 36 * (int64_t)*place++);
        }
    }
}

KERNEL_TARGET static void KERNEL(coarse)(const BrioLevel *l, const double *ap,
                                         const BrioLevel *coarse, int64_t begin, int64_t end)
{
    if (l->size == 3)
        KERNEL(coarse_rows)(l, ap, coarse, 3, begin, end);
    else
        KERNEL(coarse_rows)(l, ap, coarse, 6, begin, end);
}

static const BrioMultilevelKernels KERNEL(kernels) = {
    KERNEL(smooth),        KERNEL(residual), KERNEL(interpolate),
    KERNEL(interpolation), KERNEL(product),  KERNEL(coarse),
};

#undef Quad
#undef Oct
#undef Four
#undef Two
#undef INLINE
#undef KERNEL
#undef KERNEL_TARGET
#undef KERNEL_FMA_QUAD
#undef KERNEL_FMA_OCT
#undef KERNEL_FMA_FOUR
#undef KERNEL_FMA_TWO
