/* What the machine can do: flops and bytes per second, measured in the run that quotes them. */
#include "bench.h"

#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static double fma_avx512(int64_t rounds)
{
    __m512d a[12], m = _mm512_set1_pd(0.999999), c = _mm512_set1_pd(1e-9);
    for (int i = 0; i < 12; i++) a[i] = _mm512_set1_pd(i);
    for (int64_t n = 0; n < rounds; n++)
        for (int i = 0; i < 12; i++) a[i] = _mm512_fmadd_pd(a[i], m, c);
    for (int i = 1; i < 12; i++) a[0] = _mm512_add_pd(a[0], a[i]);
    return _mm512_reduce_add_pd(a[0]);
}

__attribute__((target("avx2,fma"))) static double fma_avx2(int64_t rounds)
{
    __m256d a[12], m = _mm256_set1_pd(0.999999), c = _mm256_set1_pd(1e-9);
    for (int i = 0; i < 12; i++) a[i] = _mm256_set1_pd(i);
    for (int64_t n = 0; n < rounds; n++)
        for (int i = 0; i < 12; i++) a[i] = _mm256_fmadd_pd(a[i], m, c);
    for (int i = 1; i < 12; i++) a[0] = _mm256_add_pd(a[0], a[i]);
    return a[0][0] + a[0][1];
}
#endif

/* Multiply-adds of twelve independent chains; returns how many lanes a chain has. */
static double multiply_add(int64_t rounds)
{
#if defined(__x86_64__)
    if (brio__isa() == BRIO_ISA_AVX512) {
        bench_sink = fma_avx512(rounds);
        return 8;
    }
    if (brio__isa() == BRIO_ISA_AVX2) {
        bench_sink = fma_avx2(rounds);
        return 4;
    }
#endif
    double a[12];
    for (int i = 0; i < 12; i++) a[i] = i;
    for (int64_t n = 0; n < rounds; n++)
        for (int i = 0; i < 12; i++) a[i] = a[i] * 0.999999 + 1e-9;
    for (int i = 0; i < 12; i++) bench_sink = a[i];
    return 1;
}

enum { ROUNDS = 4000000 };

static void multiply_add_slice(void *context, int64_t begin, int64_t end)
{
    (void)context;
    for (int64_t w = begin; w < end; w++) multiply_add(ROUNDS);
}

double bench_flops(int threads)
{
    double best = 0, lanes = multiply_add(1);
    for (int k = 0; k < TRIES; k++) {
        double before = brio__seconds();
        brio__parallel_for(threads, 1, multiply_add_slice, NULL);
        best = fmax(best, threads * (double)ROUNDS * 12 * 2 * lanes / (brio__seconds() - before));
    }
    return best;
}

/* In eight streams: one does not keep the memory busy. */
enum { STREAMS = 8 };

void bench_bandwidth(double *reading, double *writing)
{
    size_t n = 1500000, all = STREAMS * n;
    double *a = brio__alloc(all, sizeof *a);
    *reading = *writing = NAN;
    if (!a) return;
    memset(a, 0, all * sizeof *a);
    *reading = *writing = 0;
    for (int k = 0; k < TRIES; k++) {
        lane sum[STREAMS];
        memset(sum, 0, sizeof sum);
        double before = brio__seconds();
        for (size_t i = 0; i < n; i += LANES)
            for (size_t j = 0; j < STREAMS; j++) sum[j] += lane_load(a + j * n + i);
        *reading = fmax(*reading, (double)all * 8 / (brio__seconds() - before));
        for (int j = 1; j < STREAMS; j++) sum[0] += sum[j];
        bench_sink = lane_sum(sum[0]);
        before = brio__seconds();
        for (size_t i = 0; i < n; i += LANES)
            for (size_t j = 0; j < STREAMS; j++) lane_store(a + j * n + i, lane_set(k));
        *writing = fmax(*writing, (double)all * 8 / (brio__seconds() - before));
        bench_sink = a[n / 2];
    }
    brio__free(a);
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static double read_avx512(const double *a, int64_t count)
{
    __m512d sum[8];
    for (int i = 0; i < 8; i++) sum[i] = _mm512_setzero_pd();
    for (int64_t k = 0; k < count; k += 64)
        for (int i = 0; i < 8; i++) sum[i] = _mm512_add_pd(sum[i], _mm512_load_pd(a + k + 8 * i));
    for (int i = 1; i < 8; i++) sum[0] = _mm512_add_pd(sum[0], sum[i]);
    return _mm512_reduce_add_pd(sum[0]);
}
#endif

static double read_lanes(const double *a, int64_t count)
{
    lane sum[8];
    memset(sum, 0, sizeof sum);
    for (int64_t k = 0; k < count; k += 64)
        for (int i = 0; i < 8; i++) sum[i] += lane_load(a + k + 8 * i);
    for (int i = 1; i < 8; i++) sum[0] += sum[i];
    return lane_sum(sum[0]);
}

double bench_read(const double *a, int64_t count)
{
#if defined(__x86_64__)
    if (brio__isa() == BRIO_ISA_AVX512) return read_avx512(a, count);
#endif
    return read_lanes(a, count);
}

typedef struct Reading {
    const double *a;
    int64_t per_thread;
} Reading;

static void read_slice(void *context, int64_t begin, int64_t end)
{
    const Reading *reading = context;
    for (int64_t w = begin; w < end; w++)
        bench_sink = bench_read(reading->a + w * reading->per_thread, reading->per_thread);
}

double bench_reading(int threads, double bytes)
{
    Reading reading = {.per_thread = (int64_t)(bytes / 8 / 64 / threads + 1) * 64};
    double *a = brio__calloc((size_t)(reading.per_thread * threads), sizeof *a), best = 0;
    if (!a) return NAN;
    reading.a = a;
    for (int k = 0; k < 3 * TRIES; k++) {
        double before = brio__seconds();
        brio__parallel_for(threads, 1, read_slice, &reading);
        best =
            fmax(best, 8.0 * (double)(reading.per_thread * threads) / (brio__seconds() - before));
    }
    brio__free(a);
    return best;
}
