/* The matrix of single numbers with three right-hand sides: graphs of all kinds, both precisions,
 * any number of threads. */
#include "linear/scalar.h"
#include "edges.h"
#include "memory.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- problems --------------------------------------------------------------------------- */

typedef struct Problem {
    char name[64];
    int32_t n;
    int64_t *start;
    int32_t *neighbour;
    double *diagonal, *off;
} Problem;

/* M + w L: weights of the edges over a range of e^3, a tenth of them negative, with a diagonal that
 * stays dominant by random masses. */
static Problem finish(const char *name, int32_t n, Edges *e, uint64_t seed)
{
    Problem p = {.n = n};
    snprintf(p.name, sizeof p.name, "%s", name);
    p.start = calloc((size_t)n + 2, sizeof *p.start);
    p.neighbour = malloc((2 * (size_t)e->count + 1) * sizeof *p.neighbour);
    p.off = malloc((2 * (size_t)e->count + 1) * sizeof *p.off);
    p.diagonal = malloc(((size_t)n + 1) * sizeof *p.diagonal);
    BrioRandom random = {seed};
    for (int32_t i = 0; i < n; i++) p.diagonal[i] = 0.01 + brio__random(&random);
    for (int64_t k = 0; k < e->count; k++)
        for (int s = 0; s < 2; s++) p.start[e->edge[k][s] + 2]++;
    for (int32_t i = 0; i <= n; i++) p.start[i + 1] += p.start[i];
    for (int64_t k = e->count - 1; k >= 0; k--) { /* backwards: rows are not sorted */
        double weight =
            (brio__random(&random) < 0.1 ? 0.5 : -1) * exp(3 * brio__random(&random) - 1);
        for (int s = 0; s < 2; s++) {
            int32_t i = e->edge[k][s];
            p.neighbour[p.start[i + 1]] = e->edge[k][1 - s];
            p.off[p.start[i + 1]++] = weight;
            p.diagonal[i] += fabs(weight);
        }
    }
    free(e->edge);
    return p;
}

static void drop(Problem *p)
{
    free(p->start);
    free(p->neighbour);
    free(p->diagonal);
    free(p->off);
}

/* A square of cloth: neighbours along both sides, across, and at distance two. */
static void add_cloth(Edges *e, int32_t first, int nx, int ny)
{
    static const int step[6][2] = {{1, 0}, {0, 1}, {1, 1}, {-1, 1}, {2, 0}, {0, 2}};
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++)
            for (int s = 0; s < 6; s++) {
                int X = x + step[s][0], Y = y + step[s][1];
                if (X >= 0 && X < nx && Y < ny) add_edge(e, first + y * nx + x, first + Y * nx + X);
            }
}

/* Each pair of vertices with the given chance, in order: no edge twice. */
static void add_random(Edges *e, int32_t n, double chance, uint64_t seed)
{
    BrioRandom random = {seed};
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < i; j++)
            if (brio__random(&random) < chance) add_edge(e, i, j);
}

enum {
    ONE,
    TWO,
    TWO_APART,
    THREE,
    PATH,
    STAR,
    COMPLETE,
    CLOTH,
    STRIP_OF_CLOTH,
    BOX,
    RANDOM,
    SPARSE_RANDOM,
    NO_EDGES,
    CHAINS,
    LARGE_STAR,
    BODIES,
    KINDS
};

static Problem make(int kind)
{
    Edges e = {0};
    switch (kind) {
    case ONE: return finish("one vertex", 1, &e, 1);
    case TWO: add_edge(&e, 0, 1); return finish("two vertices", 2, &e, 2);
    case TWO_APART: return finish("two apart", 2, &e, 3);
    case THREE: add_edge(&e, 2, 1), add_edge(&e, 0, 2); return finish("three vertices", 3, &e, 4);
    case PATH:
        for (int32_t i = 1; i < 1000; i++) add_edge(&e, i - 1, i);
        return finish("path", 1000, &e, 5);
    case STAR:
        for (int32_t i = 1; i < 800; i++) add_edge(&e, 0, i);
        return finish("star", 800, &e, 6);
    case COMPLETE: add_random(&e, 150, 2, 7); return finish("complete", 150, &e, 7);
    case CLOTH: add_cloth(&e, 0, 101, 101); return finish("cloth 101 x 101", 10201, &e, 8);
    case STRIP_OF_CLOTH:
        add_cloth(&e, 0, 7, 900);
        return finish("strip of cloth 7 x 900", 6300, &e, 9);
    case BOX: add_box(&e, 0, 15, 14, 13); return finish("box 15 x 14 x 13", 2730, &e, 10);
    case RANDOM: add_random(&e, 300, 0.1, 11); return finish("random, 300 vertices", 300, &e, 11);
    case SPARSE_RANDOM:
        add_random(&e, 2000, 0.0012, 12);
        return finish("random, sparse", 2000, &e, 12);
    case NO_EDGES: return finish("no edges", 77, &e, 13);
    case CHAINS: /* many roots of the elimination tree, with a matrix large enough for threads */
        for (int32_t i = 1; i < 60000; i++)
            if (i % 6) add_edge(&e, i - 1, i);
        return finish("chains of six vertices", 60000, &e, 15);
    case LARGE_STAR: /* one parent of all */
        for (int32_t i = 1; i < 50000; i++) add_edge(&e, 0, i);
        return finish("large star", 50000, &e, 16);
    default:
        add_cloth(&e, 0, 60, 50);
        add_box(&e, 3001, 9, 9, 9);
        add_cloth(&e, 3730, 61, 50);
        return finish("two cloths, a box and a lone vertex", 6780, &e, 14);
    }
}

static double *random_vector(int64_t count, uint64_t seed)
{
    double *x = malloc(((size_t)count + 1) * sizeof *x);
    BrioRandom random = {seed};
    for (int64_t i = 0; i < count; i++) x[i] = brio__random_normal(&random);
    return x;
}

/* Backward error: max over rows and coordinates of |b - A x| / (|A|_inf |x|_inf + |b|_inf). */
static double residual(const Problem *p, const double *b, const double *x)
{
    double max = 0, norm_A = 0, norm_x = 0, norm_b = 0;
    for (int32_t i = 0; i < p->n; i++) {
        double row = fabs(p->diagonal[i]);
        for (int64_t k = p->start[i]; k < p->start[i + 1]; k++) row += fabs(p->off[k]);
        norm_A = brio__larger(norm_A, row);
        for (int r = 0; r < 3; r++) {
            double left = b[3 * (int64_t)i + r] - p->diagonal[i] * x[3 * (int64_t)i + r];
            for (int64_t k = p->start[i]; k < p->start[i + 1]; k++)
                left -= p->off[k] * x[3 * (int64_t)p->neighbour[k] + r];
            max = isfinite(left) ? fmax(max, fabs(left)) : INFINITY;
            norm_x = brio__larger(norm_x, fabs(x[3 * (int64_t)i + r]));
            norm_b = brio__larger(norm_b, fabs(b[3 * (int64_t)i + r]));
        }
    }
    return max / (norm_A * norm_x + norm_b);
}

/* Backward errors: of doubles and floats with what many sums add, and of numbers that have eleven
 * digits (5e-4), each of which is rounded for itself. */
enum { PRECISIONS = 3 };
static const double ERROR[PRECISIONS] = {1e-13, 1e-6, 5e-3};

static void analyse(const Problem *p, int precision, BrioScalarPattern **pattern,
                    BrioScalarFactor **factor)
{
    assert_int_equal(brio__scalar_analyse(p->n, p->start, p->neighbour, pattern), BRIO_OK);
    assert_int_equal(brio__scalar_factor_create(*pattern, (BrioScalarPrecision)precision, factor),
                     BRIO_OK);
}

/* ---- tests ------------------------------------------------------------------------------ */

static void solves(void **state)
{
    (void)state;
    printf("  %-38s %8s %9s %9s  backward error: double, float, half\n", "graph", "n", "nonzeros",
           "stored");
    for (int kind = 0; kind < KINDS; kind++) {
        Problem p = make(kind);
        double *b = random_vector(3 * (int64_t)p.n, 100);
        double *x = random_vector(3 * (int64_t)p.n, 101);
        double error[PRECISIONS];
        BrioScalarStats stats;
        for (int precision = 0; precision < PRECISIONS; precision++) {
            BrioScalarPattern *pattern;
            BrioScalarFactor *factor;
            analyse(&p, precision, &pattern, &factor);
            assert_int_equal(brio__scalar_factorise(factor, p.diagonal, p.off), BRIO_OK);
            brio__scalar_solve(factor, b, x);
            error[precision] = residual(&p, b, x);
            brio__scalar_solve(factor, b, b); /* in place */
            assert_memory_equal(b, x, 3 * (size_t)p.n * sizeof *x);
            free(b);
            b = random_vector(3 * (int64_t)p.n, 100);
            brio__scalar_stats(factor, &stats);
            brio__scalar_factor_free(factor);
            brio__scalar_pattern_free(pattern);
        }
        printf("  %-38s %8d %9.0f %9.0f  %.1e, %.1e, %.1e\n", p.name, p.n, stats.nonzeros,
               stats.stored, error[0], error[1], error[2]);
        for (int k = 0; k < PRECISIONS; k++) assert_true(error[k] <= ERROR[k]);
        assert_true(stats.nonzeros >= p.n + (double)p.start[p.n] / 2 &&
                    stats.stored >= stats.nonzeros);
        drop(&p);
        free(b);
        free(x);
    }
}

/* Of a nearly diagonal matrix, as short steps have, the inverse falls below the smallest float. The
 * solve is as exact as ever, takes no longer than with doubles (slow numbers would take ten times
 * as long), and whoever called still has numbers below the smallest one. TOLERANCE of the time 4,
 * the minimum of several: machines are shared. */
static void tiny_numbers(void **state)
{
    (void)state;
    Problem p = make(CLOTH);
    double *b = random_vector(3 * (int64_t)p.n, 100);
    double *x = random_vector(3 * (int64_t)p.n, 101);
    double min[PRECISIONS] = {INFINITY, INFINITY, INFINITY};
    for (int64_t k = 0; k < p.start[p.n]; k++) p.off[k] *= 1e-4;
    for (int precision = 0; precision < PRECISIONS; precision++) {
        BrioScalarPattern *pattern;
        BrioScalarFactor *factor;
        analyse(&p, precision, &pattern, &factor);
        assert_int_equal(brio__scalar_factorise(factor, p.diagonal, p.off), BRIO_OK);
        for (int again = 0; again < 20; again++) {
            double before = brio__seconds();
            brio__scalar_solve(factor, b, x);
            min[precision] = fmin(min[precision], brio__seconds() - before);
        }
        assert_true(residual(&p, b, x) <= fmax(ERROR[precision], 1e-6));
        brio__scalar_factor_free(factor);
        brio__scalar_pattern_free(pattern);
    }
    printf("  with an inverse that falls off fast a solve takes %.3f ms in double, %.3f in single "
           "precision\n",
           1e3 * min[0], 1e3 * min[1]);
    assert_true(min[1] < 4 * min[0]);
    volatile double half = DBL_MIN;
    half /= 2;
    assert_true(half > 0);
    drop(&p);
    free(b);
    free(x);
}

/* A path has 2 n - 1 nonzeros without fill, and little fill in any sensible order. */
static void counts(void **state)
{
    (void)state;
    Problem p = make(PATH);
    BrioScalarPattern *pattern;
    BrioScalarFactor *factor;
    analyse(&p, false, &pattern, &factor);
    BrioScalarStats stats;
    brio__scalar_stats(factor, &stats);
    assert_true(stats.nonzeros >= 2 * p.n - 1 && stats.nonzeros < 4 * p.n);
    assert_true(stats.min_bytes >= 16 * stats.nonzeros && stats.solve_bytes >= stats.min_bytes);
    brio__scalar_factor_free(factor);
    brio__scalar_pattern_free(pattern);
    drop(&p);
}

static double dot(int64_t count, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t k = 0; k < count; k++) sum += a[k] * b[k];
    return sum;
}

/* Numbers of eleven digits give another matrix B than A^-1, but one that is symmetric and positive
 * definite to the float's round-off, and near A^-1: x <- x + B (b - A x) comes to the solution, at
 * each time to less than a fiftieth of the error. */
static void corrects(void **state)
{
    (void)state;
    static const int kinds[] = {PATH, CLOTH, BOX, BODIES};
    for (size_t k = 0; k < BRIO_COUNT(kinds); k++) {
        Problem p = make(kinds[k]);
        int64_t count = 3 * (int64_t)p.n;
        BrioScalarPattern *pattern;
        BrioScalarFactor *factor;
        double *a = random_vector(count, 31), *b = random_vector(count, 32);
        double *x = random_vector(count, 33), *y = random_vector(count, 34);
        analyse(&p, BRIO_SCALAR_HALF, &pattern, &factor);
        assert_int_equal(brio__scalar_factorise(factor, p.diagonal, p.off), BRIO_OK);
        brio__scalar_solve(factor, a, x);
        brio__scalar_solve(factor, b, y);
        double size = sqrt(dot(count, a, x) * dot(count, b, y));
        assert_true(dot(count, a, x) > 0 && dot(count, b, y) > 0);
        assert_true(fabs(dot(count, a, y) - dot(count, b, x)) <= 1e-5 * size);
        memset(x, 0, (size_t)count * sizeof *x);
        double before = INFINITY;
        for (int again = 0; again < 4; again++) {
            for (int32_t i = 0; i < p.n; i++)
                for (int r = 0; r < 3; r++) {
                    int64_t at = 3 * (int64_t)i + r;
                    y[at] = b[at] - p.diagonal[i] * x[at];
                    for (int64_t e = p.start[i]; e < p.start[i + 1]; e++)
                        y[at] -= p.off[e] * x[3 * (int64_t)p.neighbour[e] + r];
                }
            double left = sqrt(dot(count, y, y));
            assert_true(left < before / 50);
            before = left;
            brio__scalar_solve(factor, y, y);
            for (int64_t at = 0; at < count; at++) x[at] += y[at];
        }
        brio__scalar_factor_free(factor);
        brio__scalar_pattern_free(pattern);
        drop(&p);
        free(a);
        free(b);
        free(x);
        free(y);
    }
}

static void threads(void **state)
{
    (void)state;
    static const int kinds[] = {PATH,          CLOTH,  STRIP_OF_CLOTH, BOX,
                                SPARSE_RANDOM, CHAINS, LARGE_STAR,     BODIES};
    for (size_t k = 0; k < BRIO_COUNT(kinds); k++)
        for (int precision = 0; precision < PRECISIONS; precision++) {
            Problem p = make(kinds[k]);
            double *b = random_vector(3 * (int64_t)p.n, 3);
            double *x = random_vector(3 * (int64_t)p.n, 4);
            double *one = random_vector(3 * (int64_t)p.n, 5);
            for (int count = 1; count <= 4; count *= 2) {
                BrioScalarPattern *pattern;
                BrioScalarFactor *factor;
                brio_set_threads(count);
                analyse(&p, precision, &pattern, &factor);
                for (int again = 0; again < 10; again++) {
                    if (again % 5 == 0)
                        assert_int_equal(brio__scalar_factorise(factor, p.diagonal, p.off),
                                         BRIO_OK);
                    brio__scalar_solve(factor, b, x);
                    if (count == 1 && again == 0) memcpy(one, x, 3 * (size_t)p.n * sizeof *x);
                    assert_memory_equal(x, one, 3 * (size_t)p.n * sizeof *x);
                }
                brio_set_threads(1); /* fewer than it was made for */
                brio__scalar_solve(factor, b, x);
                assert_memory_equal(x, one, 3 * (size_t)p.n * sizeof *x);
                brio_set_threads(4); /* and more */
                brio__scalar_solve(factor, b, x);
                assert_memory_equal(x, one, 3 * (size_t)p.n * sizeof *x);
                brio__scalar_factor_free(factor);
                brio__scalar_pattern_free(pattern);
            }
            brio_set_threads(0);
            drop(&p);
            free(b);
            free(x);
            free(one);
        }
}

/* Two factors of one pattern do not disturb each other, and a solve tells the matrices apart. */
static void two_factors(void **state)
{
    (void)state;
    Problem p = make(BODIES);
    int64_t entries = p.start[p.n];
    double *weak = malloc((size_t)entries * sizeof *weak);
    double *b = random_vector(3 * (int64_t)p.n, 6);
    double *x = random_vector(3 * (int64_t)p.n, 7);
    for (int64_t k = 0; k < entries; k++) weak[k] = 0.25 * p.off[k];
    Problem q = p;
    q.off = weak;
    BrioScalarPattern *pattern;
    BrioScalarFactor *first, *second;
    analyse(&p, false, &pattern, &first);
    assert_int_equal(brio__scalar_factor_create(pattern, false, &second), BRIO_OK);
    assert_int_equal(brio__scalar_factorise(first, p.diagonal, p.off), BRIO_OK);
    assert_int_equal(brio__scalar_factorise(second, q.diagonal, q.off), BRIO_OK);
    brio__scalar_solve(first, b, x);
    assert_true(residual(&p, b, x) <= 1e-13 && residual(&q, b, x) > 1e-4);
    brio__scalar_solve(second, b, x);
    assert_true(residual(&q, b, x) <= 1e-13 && residual(&p, b, x) > 1e-4);
    brio__scalar_factor_free(first);
    brio__scalar_solve(second, b, x);
    assert_true(residual(&q, b, x) <= 1e-13);
    brio__scalar_factor_free(second);
    brio__scalar_pattern_free(pattern);
    free(weak);
    free(b);
    free(x);
    drop(&p);
}

/* Changed entries are factored again without the rest: the same bits as by a pattern that has seen
 * nothing, also where another factor came between, or one that failed. */
static void again(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int precision = 0; precision < PRECISIONS; precision++) {
            Problem p = make(kind);
            BrioScalarPattern *pattern, *fresh;
            BrioScalarFactor *factor, *other, *whole;
            double *b = random_vector(3 * (int64_t)p.n, 21);
            double *x = random_vector(3 * (int64_t)p.n, 22);
            double *y = random_vector(3 * (int64_t)p.n, 23);
            analyse(&p, precision, &pattern, &factor);
            assert_int_equal(
                brio__scalar_factor_create(pattern, (BrioScalarPrecision)precision, &other),
                BRIO_OK);
            for (int trial = 0; trial < 4; trial++) {
                int32_t where = (int32_t)((trial * 7919) % p.n);
                if (trial % 4 == 2)
                    assert_int_equal(brio__scalar_factorise(other, p.diagonal, p.off), BRIO_OK);
                p.diagonal[where] *= 1.5;
                if (trial % 4 == 1) {
                    p.diagonal[(where + 1) % p.n] *= -1;
                    assert_int_equal(brio__scalar_factorise(factor, p.diagonal, p.off),
                                     BRIO_NOT_POSITIVE_DEFINITE);
                    p.diagonal[(where + 1) % p.n] *= -1;
                }
                assert_int_equal(brio__scalar_factorise(factor, p.diagonal, p.off), BRIO_OK);
                analyse(&p, precision, &fresh, &whole);
                assert_int_equal(brio__scalar_factorise(whole, p.diagonal, p.off), BRIO_OK);
                brio__scalar_solve(factor, b, x);
                brio__scalar_solve(whole, b, y);
                assert_memory_equal(x, y, 3 * (size_t)p.n * sizeof *x);
                brio__scalar_factor_free(whole);
                brio__scalar_pattern_free(fresh);
            }
            brio__scalar_factor_free(factor);
            brio__scalar_factor_free(other);
            brio__scalar_pattern_free(pattern);
            free(b);
            free(x);
            free(y);
            drop(&p);
        }
}

/* A right-hand side that is not finite leaves nothing behind. */
static void not_finite(void **state)
{
    (void)state;
    Problem p = make(CLOTH);
    double *b = random_vector(3 * (int64_t)p.n, 11);
    double *x = random_vector(3 * (int64_t)p.n, 12);
    double *bad = random_vector(3 * (int64_t)p.n, 13);
    for (int precision = 0; precision < PRECISIONS; precision++) {
        BrioScalarPattern *pattern;
        BrioScalarFactor *factor;
        analyse(&p, precision, &pattern, &factor);
        assert_int_equal(brio__scalar_factorise(factor, p.diagonal, p.off), BRIO_OK);
        bad[3 * (p.n / 2)] = NAN;
        bad[1] = INFINITY;
        brio__scalar_solve(factor, bad, x);
        brio__scalar_solve(factor, b, x);
        assert_true(residual(&p, b, x) <= ERROR[precision]);
        brio__scalar_factor_free(factor);
        brio__scalar_pattern_free(pattern);
    }
    free(b);
    free(x);
    free(bad);
    drop(&p);
}

static void indefinite(void **state)
{
    (void)state;
    static const int kinds[] = {ONE, THREE, STAR, CLOTH, BODIES};
    for (size_t k = 0; k < BRIO_COUNT(kinds); k++) {
        Problem p = make(kinds[k]);
        BrioScalarPattern *pattern;
        BrioScalarFactor *factor;
        double *b = random_vector(3 * (int64_t)p.n, 8), *x = random_vector(3 * (int64_t)p.n, 9);
        analyse(&p, false, &pattern, &factor);
        for (int trial = 0; trial < 4; trial++) {
            int32_t where = trial * (p.n - 1) / 3;
            double before = p.diagonal[where];
            p.diagonal[where] = trial == 3 ? NAN : trial == 2 ? 0 : -before;
            assert_int_equal(brio__scalar_factorise(factor, p.diagonal, p.off),
                             BRIO_NOT_POSITIVE_DEFINITE);
            p.diagonal[where] = before;
            assert_int_equal(brio__scalar_factorise(factor, p.diagonal, p.off), BRIO_OK);
            brio__scalar_solve(factor, b, x);
            assert_true(residual(&p, b, x) <= 1e-13);
        }
        brio__scalar_factor_free(factor);
        brio__scalar_pattern_free(pattern);
        drop(&p);
        free(b);
        free(x);
    }
}

static void allocation(void **state)
{
    (void)state;
    Problem p = make(BOX), q = make(THREE);
    for (int small = 0; small < 2; small++) {
        const Problem *a = small ? &q : &p;
        double *b = random_vector(3 * (int64_t)a->n, 10);
        for (int64_t at = 0;; at++) {
            Memory memory;
            BrioScalarPattern *pattern;
            BrioScalarFactor *factor = NULL;
            memory_start(&memory, at, false);
            BrioStatus status = brio__scalar_analyse(a->n, a->start, a->neighbour, &pattern);
            if (status == BRIO_OK) status = brio__scalar_factor_create(pattern, at % 2, &factor);
            assert_int_equal(status, memory.failed ? BRIO_ERROR_MEMORY : BRIO_OK);
            if (status == BRIO_OK) { /* nothing is allocated from here on */
                int64_t calls = memory.calls;
                assert_int_equal(brio__scalar_factorise(factor, a->diagonal, a->off), BRIO_OK);
                brio__scalar_solve(factor, b, b);
                assert_int_equal(memory.calls, calls);
            }
            brio__scalar_factor_free(factor);
            brio__scalar_pattern_free(pattern);
            brio_set_allocator(NULL);
            assert_int_equal(memory.live, 0);
            if (!memory.failed) break;
        }
        free(b);
    }
    drop(&p);
    drop(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves),     cmocka_unit_test(tiny_numbers), cmocka_unit_test(counts),
        cmocka_unit_test(corrects),   cmocka_unit_test(threads),      cmocka_unit_test(two_factors),
        cmocka_unit_test(again),      cmocka_unit_test(not_finite),   cmocka_unit_test(indefinite),
        cmocka_unit_test(allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
