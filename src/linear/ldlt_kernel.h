/* The triangular solves of ldlt.c with one panel. Included once for each instruction set, with
 *
 *     KERNEL(name)   the name with the set's suffix
 *     KERNEL_TARGET  function attribute
 *     KERNEL_LANES   doubles in a vector */

typedef double KERNEL(Vector) __attribute__((vector_size(8 * KERNEL_LANES), aligned(8), may_alias));

/* to += three columns times u, v, w, from row `begin` on. Asks for the three columns after them:
 * reading L is what a solve waits for. */
KERNEL_TARGET static inline void KERNEL(add_columns)(int64_t stride, int64_t begin, int64_t end,
                                                     const double *a, double u, double v, double w,
                                                     double sign, double *restrict to)
{
    const double *b = a + stride, *c = b + stride;
    int64_t i = begin;
    u *= sign, v *= sign, w *= sign;
    for (; i + KERNEL_LANES <= end; i += KERNEL_LANES) {
        __builtin_prefetch(a + 3 * stride + i);
        __builtin_prefetch(b + 3 * stride + i);
        __builtin_prefetch(c + 3 * stride + i);
        *(KERNEL(Vector) *)(to + i) += *(const KERNEL(Vector) *)(a + i) * u +
                                       *(const KERNEL(Vector) *)(b + i) * v +
                                       *(const KERNEL(Vector) *)(c + i) * w;
    }
    for (; i < end; i++) to[i] += a[i] * u + b[i] * v + c[i] * w;
}

/* x = L^-1 x on the panel's own rows; sum = (rows below) x. Columns come in threes. */
KERNEL_TARGET static void KERNEL(forward)(int64_t height, int64_t width, const double *panel,
                                          double *restrict x, double *restrict sum)
{
    for (int64_t i = width; i < height; i++) sum[i - width] = 0;
    for (int64_t j = 0; j < width; j += 3) {
        const double *a = panel + height * j, *b = a + height, *c = b + height;
        double u = x[j] / a[j], v = (x[j + 1] - a[j + 1] * u) / b[j + 1];
        double w = (x[j + 2] - a[j + 2] * u - b[j + 2] * v) / c[j + 2];
        x[j] = u;
        x[j + 1] = v;
        x[j + 2] = w;
        KERNEL(add_columns)(height, j + 3, width, a, u, v, w, -1, x);
        KERNEL(add_columns)(height, 0, height - width, a + width, u, v, w, 1, sum);
    }
}

/* Dot products of three columns with x; lanes are summed in a fixed order. Asks for the three
 * columns before them. */
KERNEL_TARGET static void KERNEL(dots)(int64_t stride, int64_t count, const double *column,
                                       const double *x, double dot[3])
{
    KERNEL(Vector) sum[3] = {{0}};
    int64_t i = 0;
    for (; i + KERNEL_LANES <= count; i += KERNEL_LANES) {
        KERNEL(Vector) u = *(const KERNEL(Vector) *)(x + i);
#pragma GCC unroll 3
        for (int c = 0; c < 3; c++) {
            __builtin_prefetch(column + (c - 3) * stride + i);
            sum[c] += *(const KERNEL(Vector) *)(column + c * stride + i) * u;
        }
    }
    for (int c = 0; c < 3; c++) {
        dot[c] = 0;
        for (int l = 0; l < KERNEL_LANES; l++) dot[c] += sum[c][l];
        for (int64_t r = i; r < count; r++) dot[c] += column[c * stride + r] * x[r];
    }
}

/* x = L^-T (x - (rows below)^T below). */
KERNEL_TARGET static void KERNEL(backward)(int64_t height, int64_t width, const double *panel,
                                           double *restrict x, const double *restrict below)
{
    for (int64_t j = width - 3; j >= 0; j -= 3) {
        const double *a = panel + height * j, *b = a + height, *c = b + height;
        double under[3], own[3];
        KERNEL(dots)(height, height - width, a + width, below, under);
        KERNEL(dots)(height, width - j - 3, a + j + 3, x + j + 3, own);
        double w = (x[j + 2] - under[2] - own[2]) / c[j + 2];
        double v = (x[j + 1] - under[1] - own[1] - b[j + 2] * w) / b[j + 1];
        x[j] = (x[j] - under[0] - own[0] - a[j + 1] * v - a[j + 2] * w) / a[j];
        x[j + 1] = v;
        x[j + 2] = w;
    }
}

static const Kernels KERNEL(kernels) = {KERNEL(forward), KERNEL(backward)};

#undef KERNEL
#undef KERNEL_TARGET
#undef KERNEL_LANES
