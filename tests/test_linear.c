/* Linear solvers: one suite, run on every registered solver.
 *
 * The matrices are block diagonally dominant, hence positive definite, with off-diagonal blocks
 * that are not symmetric, so that a block taken for its transpose shows. */
#include "linear/blas.h"
#include "linear/cholmod_calls.h"
#include "linear/overlay.h"
#include "linear/linear.h"
#include "linear/order.h"
#include "edges.h"
#include "memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- problems --------------------------------------------------------------------------- */

typedef struct Graph {
    const char *name;
    int32_t n;
    int64_t *start;
    int32_t *neighbour;
} Graph;

typedef struct Problem {
    Graph graph;
    double *diagonal; /* n x 9, row by row */
    double *other;    /* for each neighbour entry, the block (vertex, neighbour), row by row */
} Problem;

/* From an edge list without repetition. */
static Graph graph_of(const char *name, int32_t n, const int32_t (*edge)[2], int64_t edges)
{
    Graph g = {name, n, calloc((size_t)n + 1, sizeof(int64_t)),
               malloc((2 * (size_t)edges + 1) * sizeof(int32_t))};
    for (int64_t e = 0; e < edges; e++)
        for (int s = 0; s < 2; s++) g.start[edge[e][s] + 1]++;
    for (int32_t i = 0; i < n; i++) g.start[i + 1] += g.start[i];
    int64_t *next = malloc(((size_t)n + 1) * sizeof *next);
    memcpy(next, g.start, ((size_t)n + 1) * sizeof *next);
    for (int64_t e = edges - 1; e >= 0; e--) /* backwards: rows are not sorted */
        for (int s = 0; s < 2; s++) g.neighbour[next[edge[e][s]]++] = edge[e][1 - s];
    free(next);
    return g;
}

static Graph finish(const char *name, int32_t n, Edges *e)
{
    Graph g = graph_of(name, n, (const int32_t(*)[2])e->edge, e->count);
    free(e->edge);
    return g;
}

static Graph box(int nx, int ny, int nz)
{
    Edges e = {0};
    add_box(&e, 0, nx, ny, nz);
    return finish("box", nx * ny * nz, &e);
}

static Graph complete(const char *name, int32_t n)
{
    Edges e = {0};
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = i + 1; j < n; j++) add_edge(&e, i, j);
    return finish(name, n, &e);
}

static Graph random_graph(int32_t n, double fraction, uint64_t seed)
{
    Edges e = {0};
    BrioRandom random = {seed};
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = i + 1; j < n; j++)
            if (brio__random(&random) < fraction) add_edge(&e, i, j);
    return finish("random", n, &e);
}

static Graph disconnected(void) /* two boxes, a pair, lone vertices before, between and after */
{
    Edges e = {0};
    add_box(&e, 3, 4, 3, 3);
    add_box(&e, 40, 3, 3, 2);
    add_edge(&e, 60, 59);
    return finish("disconnected", 64, &e);
}

static Graph groups(void) /* affine bodies: four blocks coupled to each other, bodies in a ring */
{
    enum { BODIES = 12 };
    Edges e = {0};
    for (int32_t b = 0; b < BODIES; b++)
        for (int32_t i = 0; i < 4; i++) {
            for (int32_t j = i + 1; j < 4; j++) add_edge(&e, 4 * b + i, 4 * b + j);
            for (int32_t j = 0; j < 4; j++) add_edge(&e, 4 * b + i, 4 * ((b + 1) % BODIES) + j);
        }
    return finish("groups", 4 * BODIES, &e);
}

static Graph hub(void) /* one vertex that touches everything, and a chain */
{
    Edges e = {0};
    for (int32_t i = 0; i < 600; i++) {
        if (i != 300) add_edge(&e, 300, i);
        if (i > 0 && i != 300 && i != 301) add_edge(&e, i - 1, i);
    }
    return finish("hub", 600, &e);
}

static Graph chain(void)
{
    Edges e = {0};
    for (int32_t i = 1; i < 300; i++) add_edge(&e, i - 1, i);
    return finish("chain", 300, &e);
}

enum { GRAPHS = 10 };
static Graph graph_at(int i)
{
    switch (i) {
    case 0: return complete("one vertex", 1);
    case 1: return complete("two vertices", 2);
    case 2: return complete("complete", 40);
    case 3: return box(6, 5, 4);
    case 4: return random_graph(80, 0.05, 5);
    case 5: return random_graph(60, 0.5, 5);
    case 6: return disconnected();
    case 7: return groups();
    case 8: return hub();
    default: return chain();
    }
}

static Problem problem_of(Graph g, uint64_t seed)
{
    Problem p = {g, calloc((size_t)g.n, 9 * sizeof(double)),
                 malloc(((size_t)g.start[g.n] + 1) * 9 * sizeof(double))};
    BrioRandom random = {seed};
    for (int32_t i = 0; i < g.n; i++) {
        double *d = p.diagonal + 9 * i;
        double q[3] = {brio__random(&random), brio__random(&random), brio__random(&random)};
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) d[3 * r + c] += q[r] * q[c] + (r == c ? 0.05 : 0);
        for (int64_t k = g.start[i]; k < g.start[i + 1]; k++) {
            int32_t j = g.neighbour[k];
            if (j < i) continue;
            double *b = p.other + 9 * k, norm = 0;
            for (int m = 0; m < 9; m++) {
                b[m] = brio__random_normal(&random);
                norm += b[m] * b[m];
            }
            for (int m = 0; m < 3; m++) {
                d[4 * m] += sqrt(norm);
                p.diagonal[9 * j + 4 * m] += sqrt(norm);
            }
            for (int64_t t = g.start[j]; t < g.start[j + 1]; t++)
                for (int m = 0; g.neighbour[t] == i && m < 9; m++)
                    p.other[9 * t + m] = b[m % 3 * 3 + m / 3];
        }
    }
    return p;
}

static void problem_free(Problem *p)
{
    free(p->graph.start);
    free(p->graph.neighbour);
    free(p->diagonal);
    free(p->other);
}

static void set_block(BrioMatrix *A, int32_t i, int32_t j, const double *b)
{
    bool transposed;
    int64_t block = brio__matrix_find(A, i, j, &transposed);
    assert_true(block >= 0);
    int32_t J = BRIO_MIN(A->position[i], A->position[j]);
    assert_int_equal(A->row[block], BRIO_MAX(A->position[i], A->position[j]));
    double *value = A->value + brio__matrix_slot(A, J, block);
    int64_t stride = brio__matrix_stride(A, J);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            value[c * stride + r] = transposed ? b[3 * c + r] : b[3 * r + c];
}

static void fill(BrioLinear *linear, const Problem *p)
{
    for (int32_t i = 0; i < p->graph.n; i++) {
        set_block(&linear->A, i, i, p->diagonal + 9 * i);
        for (int64_t k = p->graph.start[i]; k < p->graph.start[i + 1]; k++)
            set_block(&linear->A, i, p->graph.neighbour[k], p->other + 9 * k);
    }
}

static void reference_multiply(const Problem *p, const double *x, double *y)
{
    for (int32_t i = 0; i < p->graph.n; i++)
        for (int r = 0; r < 3; r++) {
            double sum = 0;
            for (int c = 0; c < 3; c++) sum += p->diagonal[9 * i + 3 * r + c] * x[3 * i + c];
            for (int64_t k = p->graph.start[i]; k < p->graph.start[i + 1]; k++)
                for (int c = 0; c < 3; c++)
                    sum += p->other[9 * k + 3 * r + c] * x[3 * p->graph.neighbour[k] + c];
            y[3 * i + r] = sum;
        }
}

static double *random_vector(int64_t length, uint64_t seed)
{
    double *x = malloc((size_t)length * sizeof *x);
    BrioRandom random = {seed};
    for (int64_t i = 0; i < length; i++) x[i] = brio__random_normal(&random);
    return x;
}

static double relative_residual(const Problem *p, const double *b, const double *x)
{
    double *y = malloc((size_t)p->graph.n * 3 * sizeof *y), above = 0, below = 0;
    reference_multiply(p, x, y);
    for (int64_t i = 0; i < 3 * (int64_t)p->graph.n; i++) {
        above += (y[i] - b[i]) * (y[i] - b[i]);
        below += b[i] * b[i];
    }
    free(y);
    return sqrt(above / below);
}

static const BrioLinearOptions tight = {.tol = 1e-12};
/* A backward stable solver leaves some 1e-15 on these well conditioned matrices; pcg stops at its
 * tol in another norm, which the condition of the preconditioner (below 100 here) relates to this
 * one. */
static const double residual_bound = 1e-10;

static BrioLinear *make(const BrioLinearType *type, const Problem *p)
{
    BrioLinear *linear;
    assert_int_equal(
        brio__linear_create(type, &tight, p->graph.n, p->graph.start, p->graph.neighbour, &linear),
        BRIO_OK);
    fill(linear, p);
    return linear;
}

static void check_solves(BrioLinear *linear, const Problem *p)
{
    static const int counts[] = {1, 3, 7, 2};
    int64_t length = 3 * (int64_t)p->graph.n;
    for (int t = 0; t < (int)BRIO_COUNT(counts); t++) {
        int k = counts[t];
        double *b = random_vector(k * length, (uint64_t)k);
        double *x = malloc((size_t)(k * length) * sizeof *x);
        assert_int_equal(brio__linear_solve(linear, k, b, x), BRIO_OK);
        for (int j = 0; j < k; j++)
            if (relative_residual(p, b + j * length, x + j * length) > residual_bound)
                fail_msg("%s on %s: residual %g", linear->type->name, p->graph.name,
                         relative_residual(p, b + j * length, x + j * length));
        assert_int_equal(brio__linear_solve(linear, k, b, b), BRIO_OK); /* in place */
        assert_memory_equal(b, x, (size_t)(k * length) * sizeof *x);
        free(b);
        free(x);
    }
}

#define FOR_EACH_SOLVER(type)                                  \
    for (int solver_ = 0; brio__linear_at(solver_); solver_++) \
        for (const BrioLinearType *type = brio__linear_at(solver_); type; type = NULL)

/* ---- tests ------------------------------------------------------------------------------ */

static void test_registry(void **state)
{
    (void)state;
    int count = 0;
    FOR_EACH_SOLVER(type)
    {
        assert_ptr_equal(brio__linear_type(type->name), type);
        assert_non_null(type->summary);
        assert_non_null(type->citation);
        count++;
    }
    assert_true(count >= 2);
    assert_null(brio__linear_at(count));
    assert_null(brio__linear_at(-1));
    assert_null(brio__linear_type("no such solver"));
    assert_non_null(brio__blas_name());
    print_message("BLAS: %s\n", brio__blas_name());
}

static void test_solve(void **state)
{
    (void)state;
    FOR_EACH_SOLVER(type)
    for (int g = 0; g < GRAPHS; g++) {
        Problem p = problem_of(graph_at(g), 1);
        BrioLinear *linear = make(type, &p);
        for (int refactor = 0; refactor < 2; refactor++) {
            if (refactor) {
                problem_free(&p);
                p = problem_of(graph_at(g), 2);
                fill(linear, &p);
            }
            assert_int_equal(brio__linear_factor(linear), BRIO_OK);
            check_solves(linear, &p);
        }
        BrioLinearStats stats;
        brio__linear_stats(linear, &stats);
        assert_true(stats.bytes > 0);
        assert_true((stats.factor_nonzeros >= 3 * p.graph.n && stats.factor_flops > 0) ||
                    stats.iterations > 0);
        brio__linear_free(linear);
        problem_free(&p);
    }
}

/* Many small graphs of any shape, from none to all edges. */
static void test_random(void **state)
{
    (void)state;
    BrioRandom random = {11};
    FOR_EACH_SOLVER(type)
    for (int round = 0; round < 60; round++) {
        int32_t n = 1 + (int32_t)(60 * brio__random(&random));
        double fraction = pow(brio__random(&random), 3);
        Problem p = problem_of(random_graph(n, fraction, (uint64_t)round), 1);
        BrioLinear *linear = make(type, &p);
        assert_int_equal(brio__linear_factor(linear), BRIO_OK);
        check_solves(linear, &p);
        brio__linear_free(linear);
        problem_free(&p);
    }
}

static void test_multiply(void **state)
{
    (void)state;
    FOR_EACH_SOLVER(type)
    for (int g = 0; g < GRAPHS; g++) {
        Problem p = problem_of(graph_at(g), 3);
        BrioLinear *linear = make(type, &p);
        int64_t length = 3 * (int64_t)p.graph.n;
        double *x = random_vector(length, 9);
        double *y = malloc((size_t)length * sizeof *y), *z = malloc((size_t)length * sizeof *z);
        brio__linear_multiply(linear, x, y);
        reference_multiply(&p, x, z);
        for (int64_t i = 0; i < length; i++)
            assert_true(fabs(y[i] - z[i]) <= 1e-12 * (1 + fabs(z[i])) * p.graph.n);
        brio__linear_multiply(linear, x, x); /* in place */
        assert_memory_equal(x, y, (size_t)length * sizeof *x);
        free(x);
        free(y);
        free(z);
        brio__linear_free(linear);
        problem_free(&p);
    }
}

static void test_find(void **state)
{
    (void)state;
    FOR_EACH_SOLVER(type)
    for (int g = 0; g < GRAPHS; g++) {
        Problem p = problem_of(graph_at(g), 1);
        BrioLinear *linear = make(type, &p);
        for (int32_t i = 0; i < BRIO_MIN(p.graph.n, 70); i++)
            for (int32_t j = 0; j < p.graph.n; j++) {
                bool there = i == j, transposed, swapped;
                for (int64_t k = p.graph.start[i]; k < p.graph.start[i + 1]; k++)
                    there |= p.graph.neighbour[k] == j;
                int64_t block = brio__matrix_find(&linear->A, i, j, &transposed);
                assert_int_equal(block >= 0, there);
                assert_int_equal(brio__matrix_find(&linear->A, j, i, &swapped), block);
                if (i != j) assert_int_not_equal(transposed, swapped);
            }
        brio__linear_free(linear);
        problem_free(&p);
    }
}

/* The same bits for one and two threads, over several chunks of rows. */
static void test_threads(void **state)
{
    (void)state;
    FOR_EACH_SOLVER(type)
    {
        /* several subtrees and shared panels */
        Problem p = problem_of(type->multiplies ? box(30, 26, 24) : box(14, 12, 10), 1);
        int64_t length = 3 * (int64_t)p.graph.n;
        size_t bytes = 2 * (size_t)length * sizeof(double);
        double *b = random_vector(2 * length, 4), *x[2], *y[2];
        for (int t = 0; t < 2; t++) {
            brio_set_threads(t + 1);
            x[t] = malloc(bytes);
            y[t] = malloc(bytes / 2);
            BrioLinear *linear = make(type, &p);
            assert_int_equal(brio__linear_factor(linear), BRIO_OK);
            assert_int_equal(brio__linear_solve(linear, 2, b, x[t]), BRIO_OK);
            brio__linear_multiply(linear, b, y[t]);
            brio__linear_free(linear);
        }
        brio_set_threads(0);
        assert_memory_equal(x[0], x[1], bytes);
        assert_memory_equal(y[0], y[1], bytes / 2);
        assert_true(relative_residual(&p, b, x[0]) < residual_bound);
        for (int t = 0; t < 2; t++) {
            free(x[t]);
            free(y[t]);
        }
        free(b);
        problem_free(&p);
    }
}

/* Panels wider than a slice, and every instruction set that this machine has. */
static void test_instruction_sets(void **state)
{
    (void)state;
    static const char *const sets[] = {"baseline", "avx2", "avx512"};
    for (int i = 0; i < (int)BRIO_COUNT(sets); i++)
        for (int g = 0; g < 2; g++) {
            setenv("BRIO_ISA", sets[i], 1);
            Problem p = problem_of(g ? complete("wide", 111) : box(9, 9, 9), 1);
            BrioLinear *linear = make(brio__linear_type("ldlt"), &p);
            assert_int_equal(brio__linear_factor(linear), BRIO_OK);
            check_solves(linear, &p);
            brio__linear_free(linear);
            problem_free(&p);
            unsetenv("BRIO_ISA");
        }
}

/* Panels of all widths around those of vectors, tiles and slices, with children whose rows lie in
 * theirs in many ways; the residual of a direct solver, and the same bits for any number of
 * threads. */
static void test_panel_widths(void **state)
{
    (void)state;
    static const char *const sets[] = {"baseline", "avx2", "avx512"};
    static const int32_t widths[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 32, 33, 34, 43, 64, 65, 67, 97};
    for (int i = 0; i < (int)BRIO_COUNT(sets); i++) {
        setenv("BRIO_ISA", sets[i], 1);
        for (int w = 0; w < (int)BRIO_COUNT(widths) + 12; w++) {
            bool is_complete = w < (int)BRIO_COUNT(widths);
            int round = w - (int)BRIO_COUNT(widths);
            Graph g = is_complete ? complete("width", widths[w])
                                  : random_graph(90 + 17 * round, 0.04, (uint64_t)round);
            Problem p = problem_of(g, 3);
            int64_t length = 3 * (int64_t)p.graph.n;
            double *b = random_vector(length, 5), *x[2];
            for (int t = 0; t < 2; t++) {
                brio_set_threads(1 + 2 * t);
                BrioLinear *linear = make(brio__linear_type("ldlt"), &p);
                x[t] = malloc((size_t)length * sizeof *x[t]);
                assert_int_equal(brio__linear_factor(linear), BRIO_OK);
                assert_int_equal(brio__linear_solve(linear, 1, b, x[t]), BRIO_OK);
                brio__linear_free(linear);
            }
            if (relative_residual(&p, b, x[0]) > 1e-13)
                fail_msg("%s: %d blocks: residual %g", sets[i], p.graph.n,
                         relative_residual(&p, b, x[0]));
            assert_memory_equal(x[0], x[1], (size_t)length * sizeof *x[0]);
            for (int t = 0; t < 2; t++) free(x[t]);
            free(b);
            problem_free(&p);
        }
        unsetenv("BRIO_ISA");
    }
    brio_set_threads(0);
}

static void test_not_positive_definite(void **state)
{
    (void)state;
    FOR_EACH_SOLVER(type)
    {
        Problem p = problem_of(box(5, 5, 5), 1);
        BrioLinear *linear = make(type, &p);
        for (int32_t bad = 0; bad < p.graph.n; bad += 31) { /* a negative diagonal */
            double kept = p.diagonal[9 * bad + 4];
            p.diagonal[9 * bad + 4] = -kept;
            fill(linear, &p);
            assert_int_equal(brio__linear_factor(linear), BRIO_NOT_POSITIVE_DEFINITE);
            p.diagonal[9 * bad + 4] = kept;
        }
        fill(linear, &p); /* the failure leaves no trace */
        assert_int_equal(brio__linear_factor(linear), BRIO_OK);
        check_solves(linear, &p);
        brio__linear_free(linear);
        problem_free(&p);

        /* [1 2; 2 1]: only seen beyond the diagonal */
        p = problem_of(complete("two vertices", 2), 1);
        for (int m = 0; m < 9; m++) {
            p.diagonal[m] = p.diagonal[9 + m] = m % 4 == 0;
            p.other[m] = p.other[9 + m] = 2 * (m % 4 == 0);
        }
        linear = make(type, &p);
        double b[6] = {1, 2, 3, 3, 2, 5}, x[6];
        BrioStatus status = brio__linear_factor(linear);
        if (type->multiplies && status == BRIO_OK) status = brio__linear_solve(linear, 1, b, x);
        assert_int_equal(status, BRIO_NOT_POSITIVE_DEFINITE);
        brio__linear_free(linear);
        problem_free(&p);
    }
}

static void test_not_finite(void **state)
{
    (void)state;
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    FOR_EACH_SOLVER(type)
    {
        Problem p = problem_of(box(4, 4, 4), 1);
        BrioLinear *linear = make(type, &p);
        for (int i = 0; i < (int)BRIO_COUNT(bad); i++) {
            int64_t at = 9 * linear->A.start[linear->A.n] / (i + 2);
            double kept = linear->A.value[at];
            linear->A.value[at] = bad[i];
            assert_int_equal(brio__linear_factor(linear), BRIO_NOT_FINITE);
            linear->A.value[at] = kept;
        }
        assert_int_equal(brio__linear_factor(linear), BRIO_OK);
        check_solves(linear, &p);
        brio__linear_free(linear);
        problem_free(&p);
    }
}

static void test_iterations(void **state)
{
    (void)state;
    const BrioLinearType *pcg = brio__linear_type("pcg");
    Problem p = problem_of(box(6, 6, 6), 1);
    int64_t length = 3 * (int64_t)p.graph.n;
    double *b = random_vector(length, 1), *x = malloc((size_t)length * sizeof *x);
    BrioLinear *linear;
    BrioLinearOptions few = {.tol = 1e-10, .max_iterations = 3};
    assert_int_equal(
        brio__linear_create(pcg, &few, p.graph.n, p.graph.start, p.graph.neighbour, &linear),
        BRIO_OK);
    fill(linear, &p);
    assert_int_equal(brio__linear_factor(linear), BRIO_OK);
    assert_int_equal(brio__linear_solve(linear, 1, b, x), BRIO_NOT_CONVERGED);
    BrioLinearStats stats;
    brio__linear_stats(linear, &stats);
    assert_int_equal(stats.iterations, 3);
    assert_true(relative_residual(&p, b, x) < 1); /* what was reached is returned */
    brio__linear_free(linear);

    BrioLinearOptions impossible = {.tol = 1e-30}; /* beyond round-off: said, not looped forever */
    assert_int_equal(
        brio__linear_create(pcg, &impossible, p.graph.n, p.graph.start, p.graph.neighbour, &linear),
        BRIO_OK);
    fill(linear, &p);
    assert_int_equal(brio__linear_factor(linear), BRIO_OK);
    assert_int_equal(brio__linear_solve(linear, 1, b, x), BRIO_NOT_CONVERGED);
    assert_true(relative_residual(&p, b, x) < residual_bound);
    brio__linear_free(linear);

    linear = make(pcg, &p);
    assert_int_equal(brio__linear_factor(linear), BRIO_OK);
    memset(b, 0, (size_t)length * sizeof *b);
    assert_int_equal(brio__linear_solve(linear, 1, b, x), BRIO_OK);
    assert_memory_equal(b, x, (size_t)length * sizeof *x);
    b[7] = NAN;
    assert_int_equal(brio__linear_solve(linear, 1, b, x), BRIO_NOT_FINITE);
    brio__linear_free(linear);
    free(b);
    free(x);
    problem_free(&p);
}

static void test_bad_graphs(void **state)
{
    (void)state;
    static const struct {
        int32_t n;
        int64_t start[4];
        int32_t neighbour[6];
    } bad[] = {
        {-1, {0}, {0}},
        {2, {0, 1, 2}, {0, 1}}, /* its own neighbour */
        {2, {0, 1, 2}, {1, 2}}, /* out of range */
        {2, {0, 1, 2}, {1, -1}},
        {2, {0, 1, 1}, {1}}, /* not symmetric */
        {2, {0, 0, 1}, {0}},
        {3, {0, 2, 3, 4}, {1, 2, 0, 1}}, /* 0-2 and 2-1 one way only */
        {2, {0, 2, 4}, {1, 1, 0, 0}},    /* twice */
        {2, {0, 2, 1}, {1, 0}},          /* falling starts */
        {2, {1, 1, 2}, {1, 0}},
    };
    FOR_EACH_SOLVER(type)
    {
        BrioLinear *linear;
        for (int i = 0; i < (int)BRIO_COUNT(bad); i++) {
            assert_int_equal(
                brio__linear_create(type, NULL, bad[i].n, bad[i].start, bad[i].neighbour, &linear),
                BRIO_ERROR_ARGUMENT);
            assert_null(linear);
        }
        int64_t none = 0;
        double nothing = 0;
        /* all is fixed */
        assert_int_equal(brio__linear_create(type, NULL, 0, &none, NULL, &linear), BRIO_OK);
        assert_int_equal(brio__linear_factor(linear), BRIO_OK);
        assert_int_equal(brio__linear_solve(linear, 1, &nothing, &nothing), BRIO_OK);
        brio__linear_multiply(linear, &nothing, &nothing);
        BrioLinearStats stats;
        brio__linear_stats(linear, &stats);
        brio__linear_free(linear);
        brio__linear_free(NULL);
    }
}

static void test_too_large(void **state)
{
    (void)state;
    Problem p = problem_of(box(5, 5, 5), 1);
    setenv("BRIO_MEMORY_LIMIT", "1000", 1);
    FOR_EACH_SOLVER(type)
    {
        BrioLinear *linear;
        if (type->multiplies) continue; /* has no factor */
        assert_int_equal(
            brio__linear_create(type, NULL, p.graph.n, p.graph.start, p.graph.neighbour, &linear),
            BRIO_ERROR_TOO_LARGE);
        assert_null(linear);
    }
    unsetenv("BRIO_MEMORY_LIMIT");
    problem_free(&p);
}

/* Orders are permutations; dissection leaves far less fill than the order of the mesh. */
static void test_orders(void **state)
{
    (void)state;
    for (int g = 0; g <= GRAPHS; g++) {
        Graph graph = g < GRAPHS ? graph_at(g) : box(12, 12, 12);
        int32_t *order = malloc((size_t)graph.n * sizeof *order);
        for (int kind = 0; kind < 2; kind++) {
            BrioStatus status =
                kind ? brio__order_band(graph.n, graph.start, graph.neighbour, order)
                     : brio__order_dissection(graph.n, graph.start, graph.neighbour, order);
            assert_int_equal(status, BRIO_OK);
            char *seen = calloc((size_t)graph.n, 1);
            for (int32_t i = 0; i < graph.n; i++) {
                assert_in_range(order[i], 0, graph.n - 1);
                assert_false(seen[order[i]]++);
            }
            free(seen);
        }
        free(order);
        if (g == GRAPHS) {
            BrioLinearType natural = *brio__linear_type("ldlt");
            natural.order = NULL;
            BrioLinearStats with, without;
            for (int kind = 0; kind < 2; kind++) {
                BrioLinear *linear;
                const BrioLinearType *type = kind ? &natural : brio__linear_type("ldlt");
                BrioStatus status =
                    brio__linear_create(type, NULL, graph.n, graph.start, graph.neighbour, &linear);
                assert_int_equal(status, BRIO_OK);
                brio__linear_stats(linear, kind ? &without : &with);
                brio__linear_free(linear);
            }
            assert_true(with.factor_nonzeros < 0.6 * without.factor_nonzeros);
        }
        free(graph.start);
        free(graph.neighbour);
    }
}

/* ---- memory ----------------------------------------------------------------------------- */

/* Every allocation fails once: the status says so, nothing leaks, nothing crashes. */
static void test_failing_allocator(void **state)
{
    (void)state;
    Problem p = problem_of(disconnected(), 1);
    int64_t length = 3 * (int64_t)p.graph.n;
    double *b = random_vector(7 * length, 1), *x = malloc(7 * (size_t)length * sizeof *x);
    FOR_EACH_SOLVER(type)
    {
        Memory memory;
        bool failed = true;
        for (long n = 0; failed; n++) {
            assert_true(n < 1000);
            memory_start(&memory, n, true);
            BrioLinear *linear;
            BrioStatus status = brio__linear_create(type, &tight, p.graph.n, p.graph.start,
                                                    p.graph.neighbour, &linear);
            failed = status != BRIO_OK;
            if (status == BRIO_OK) {
                fill(linear, &p);
                assert_int_equal(brio__linear_factor(linear), BRIO_OK);
                status = brio__linear_solve(linear, 7, b, x);
                failed = status != BRIO_OK;
                brio__linear_multiply(linear, b, x); /* right with or without memory */
                if (failed) {                        /* and can be asked again */
                    memory.fail_at = -1;
                    check_solves(linear, &p);
                }
                brio__linear_free(linear);
            } else {
                assert_null(linear);
            }
            if (failed) assert_int_equal(status, BRIO_ERROR_MEMORY);
            assert_int_equal(memory.live, 0);
        }
        brio_set_allocator(NULL);
    }
    free(b);
    free(x);
    problem_free(&p);
}

static void test_no_allocation_in_steps(void **state)
{
    (void)state;
    Problem p = problem_of(box(6, 5, 4), 1);
    int64_t length = 3 * (int64_t)p.graph.n;
    double *b = random_vector(3 * length, 1), *x = malloc(3 * (size_t)length * sizeof *x);
    FOR_EACH_SOLVER(type)
    {
        Memory memory;
        memory_start(&memory, -1, false);
        BrioLinear *linear = make(type, &p);
        for (int round = 0; round < 3; round++) {
            if (round == 1) memory.calls = 0;
            assert_int_equal(brio__linear_factor(linear), BRIO_OK);
            assert_int_equal(brio__linear_solve(linear, 3, b, x), BRIO_OK);
            assert_int_equal(brio__linear_solve(linear, 1, b, x), BRIO_OK);
            brio__linear_multiply(linear, b, x);
        }
        assert_int_equal(memory.calls, 0);
        brio__linear_free(linear);
        brio_set_allocator(NULL);
    }
    free(b);
    free(x);
    problem_free(&p);
}

/* ---- overlay blocks ----------------------------------------------------------------------- */

enum { APART = 9 * 8 * 7 }; /* vertices of each of two boxes */

/* Two boxes, and `contacts` edges between them: only those of `contacts` are extra. */
static Graph boxes(int contacts)
{
    Edges e = {0};
    add_box(&e, 0, 9, 8, 7);
    add_box(&e, APART, 9, 8, 7);
    for (int i = 0; i < contacts; i++) add_edge(&e, 5 * i, APART + (7 * i + 3) % APART);
    return finish("boxes", 2 * APART, &e);
}

static bool is_extra(int32_t i, int32_t j) { return (i < APART) != (j < APART); }

/* The blocks of p: those between the boxes, and half of each diagonal block, as extra ones. Only
 * the first `rows` rows, in the order in which they come. */
static void fill_rows(BrioLinear *linear, const Problem *p, bool backwards, int32_t rows)
{
    const Graph *g = &p->graph;
    brio__overlay_clear(linear->overlay);
    for (int32_t count = 0; count < rows; count++) {
        int32_t i = backwards ? g->n - 1 - count : count;
        double half[9];
        for (int m = 0; m < 9; m++) half[m] = 0.5 * p->diagonal[9 * i + m];
        set_block(&linear->A, i, i, half);
        assert_int_equal(brio__overlay_add(linear->overlay, i, i, half), BRIO_OK);
        for (int64_t k = g->start[i]; k < g->start[i + 1]; k++) {
            int32_t j = g->neighbour[k];
            if (!is_extra(i, j))
                set_block(&linear->A, i, j, p->other + 9 * k);
            else if (backwards == (i < j)) /* once, from either side */
                assert_int_equal(brio__overlay_add(linear->overlay, i, j, p->other + 9 * k),
                                 BRIO_OK);
        }
    }
}

static void fill_with_overlay(BrioLinear *linear, const Problem *p, bool backwards)
{
    fill_rows(linear, p, backwards, p->graph.n);
}

static BrioLinear *make_with_overlay(const BrioLinearType *type)
{
    Graph base = boxes(0);
    BrioLinear *linear;
    assert_int_equal(brio__linear_create(type, &tight, base.n, base.start, base.neighbour, &linear),
                     BRIO_OK);
    assert_int_equal(brio__overlay_create(&linear->overlay), BRIO_OK);
    free(base.start);
    free(base.neighbour);
    return linear;
}

/* A few and many contacts against products with all blocks; blocks that A has need no analysis; a
 * pattern that comes again, after others were forgotten, gives the same bits as one that is made
 * again, for any number of threads. */
static void test_overlay(void **state)
{
    (void)state;
    static const int contacts[] = {0, 3, 90, 3};
    FOR_EACH_SOLVER(type)
    {
        BrioLinear *kept = make_with_overlay(type);
        double seconds;
        for (int round = 0; round < (int)BRIO_COUNT(contacts); round++) {
            Problem p = problem_of(boxes(contacts[round]), 1);
            int64_t length = 3 * (int64_t)p.graph.n;
            int64_t before = brio__overlay_analyses(kept->overlay, &seconds);
            size_t bytes = (size_t)length * sizeof(double);
            double *b = random_vector(length, 3), *x[3];
            brio__overlay_forget(kept->overlay);
            for (int again = 0; again < 2; again++) {
                fill_with_overlay(kept, &p, false);
                assert_int_equal(brio__linear_factor(kept), BRIO_OK);
                check_solves(kept, &p);
            }
            /* each round has another pattern */
            assert_int_equal(brio__overlay_analyses(kept->overlay, &seconds), before + 1);
            for (int t = 0; t < 3; t++) {
                brio_set_threads(t == 1 ? 1 : 2);
                BrioLinear *linear = t == 2 ? kept : make_with_overlay(type);
                /* the order in which blocks come does not matter */
                if (t < 2) fill_with_overlay(linear, &p, t == 1);
                x[t] = malloc(bytes);
                assert_int_equal(brio__linear_factor(linear), BRIO_OK);
                assert_int_equal(brio__linear_solve(linear, 1, b, x[t]), BRIO_OK);
                if (t < 2) brio__linear_free(linear);
            }
            brio_set_threads(0);
            assert_memory_equal(x[0], x[1], bytes);
            assert_memory_equal(x[0], x[2], bytes);
            for (int t = 0; t < 3; t++) free(x[t]);
            free(b);
            problem_free(&p);
        }
        BrioLinearStats alone, joined;
        brio__linear_stats(kept, &alone);
        brio__linear_stats(kept->factored, &joined);
        if (alone.factor_flops > 0)
            print_message("%s: 3 contacts cost %.2f times the operations\n", type->name,
                          joined.factor_flops / alone.factor_flops);
        assert_true(joined.factor_flops <= 2 * alone.factor_flops);
        brio__linear_free(kept);
    }
}

/* A pattern comes again after it was forgotten, in two parts: the first part alone is factored in
 * between, which makes another matrix with other places. */
static void test_overlay_in_parts(void **state)
{
    (void)state;
    Problem p = problem_of(boxes(90), 1);
    FOR_EACH_SOLVER(type)
    {
        BrioLinear *linear = make_with_overlay(type);
        fill_with_overlay(linear, &p, false);
        assert_int_equal(brio__linear_factor(linear), BRIO_OK);
        brio__overlay_forget(linear->overlay);
        fill_rows(linear, &p, false, APART + APART / 2);
        assert_true(brio__linear_factor(linear) >= BRIO_OK); /* it may be indefinite */
        fill_with_overlay(linear, &p, false);
        assert_int_equal(brio__linear_factor(linear), BRIO_OK);
        check_solves(linear, &p);
        brio__linear_free(linear);
    }
    problem_free(&p);
}

/* Without memory for its rows the matrix multiplies serially, to the same bits. */
static void test_multiply_without_memory(void **state)
{
    (void)state;
    Problem p = problem_of(box(7, 7, 7), 1);
    int64_t length = 3 * (int64_t)p.graph.n;
    double *x = random_vector(length, 1);
    double *y = malloc((size_t)length * sizeof *y), *z = malloc((size_t)length * sizeof *z);
    BrioLinear *linear = make(brio__linear_type("ldlt"), &p);
    Memory memory;
    memory_start(&memory, 0, true);
    brio__linear_multiply(linear, x, y);
    assert_null(linear->A.left);
    brio_set_allocator(NULL);
    brio__linear_multiply(linear, x, z);
    assert_non_null(linear->A.left);
    assert_memory_equal(y, z, (size_t)length * sizeof *y);
    brio__linear_free(linear);
    free(x);
    free(y);
    free(z);
    problem_free(&p);
}

/* ---- the BLAS --------------------------------------------------------------------------- */

extern char **environ;

/* With CHOLMOD comes a BLAS that has the right kernels and one thread; and the environment is as it
 * was. */
static void test_blas(void **state)
{
    (void)state;
#if defined(BRIO_HAVE_CHOLMOD) && defined(__x86_64__)
    char **before = environ, *first = environ[0];
    assert_non_null(brio__cholmod());
    assert_ptr_equal(environ, before);
    assert_ptr_equal(environ[0], first);
    print_message("BLAS: %s\n", brio__blas_name());
    assert_null(strstr(brio__blas_name(), "Prescott"));
    if (strstr(brio__blas_name(), "OpenBLAS") && !strcmp(brio_isa(), "avx512"))
        assert_non_null(strstr(brio__blas_name(), "SkylakeX"));
#endif
}

int main(void)
{
    unsetenv("OPENBLAS_CORETYPE"); /* test_blas is about the choice of brio */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registry),
        cmocka_unit_test(test_solve),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_multiply),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_instruction_sets),
        cmocka_unit_test(test_panel_widths),
        cmocka_unit_test(test_not_positive_definite),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_iterations),
        cmocka_unit_test(test_bad_graphs),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_failing_allocator),
        cmocka_unit_test(test_no_allocation_in_steps),
        cmocka_unit_test(test_overlay),
        cmocka_unit_test(test_overlay_in_parts),
        cmocka_unit_test(test_multiply_without_memory),
        cmocka_unit_test(test_blas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
