/* The multilevel preconditioner: conjugate gradients need about as many iterations for any size of
 * a body, for shells, and for bodies that stiff contacts join.
 *
 * Matrices are of springs on the edges of boxes of tets and of sheets (k d d^T of an edge in
 * direction d, with rigid motions free of energy, as in elasticity), with masses. Coordinate blocks
 * are numbered at random, so that an order taken for another shows. */
#include "linear/linear.h"
#include "linear/overlay.h"
#include "edges.h"
#include "emulated.h"
#include "memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* ---- bodies ----------------------------------------------------------------------------- */

typedef struct Body {
    int32_t n;
    double *x; /* 3n */
    Edges edge;
    double *stiffness; /* of each edge: 9 numbers, symmetric */
    double *diagonal;  /* n x 9 */
    int32_t *number;   /* of vertex v: its coordinate block */
} Body;

static Body new_body(int32_t n)
{
    Body b = {.n = n,
              .x = calloc((size_t)n, 3 * sizeof(double)),
              .diagonal = calloc((size_t)n, 9 * sizeof(double)),
              .number = malloc((size_t)n * sizeof(int32_t))};
    BrioRandom random = {3};
    for (int32_t i = 0; i < n; i++) b.number[i] = i;
    for (int32_t i = n - 1; i > 0; i--) {
        int32_t j = (int32_t)(brio__random(&random) * (i + 1)), swap = b.number[i];
        b.number[i] = b.number[j];
        b.number[j] = swap;
    }
    return b;
}

static void free_body(Body *b)
{
    free(b->x);
    free(b->edge.edge);
    free(b->stiffness);
    free(b->diagonal);
    free(b->number);
}

static void add_square(double *to, double k, const double d[3])
{
    for (int m = 0; m < 9; m++) to[m] += k * d[m / 3] * d[m % 3];
}

/* A spring of stiffness k, and `isotropic` of it in all directions. */
static void add_spring(Body *b, int32_t u, int32_t v, double k, double isotropic)
{
    double d[3], length = 0, H[9] = {isotropic, 0, 0, 0, isotropic, 0, 0, 0, isotropic};
    for (int c = 0; c < 3; c++) d[c] = b->x[3 * u + c] - b->x[3 * v + c];
    for (int c = 0; c < 3; c++) length += d[c] * d[c];
    for (int c = 0; c < 3; c++) d[c] /= sqrt(length);
    add_square(H, k, d);
    int64_t e = b->edge.count, room = b->edge.room;
    add_edge(&b->edge, u, v);
    /* Only where it grows: a sanitizer copies the block in every call. */
    if (b->edge.room > room)
        b->stiffness = realloc(b->stiffness, (size_t)b->edge.room * 9 * sizeof *b->stiffness);
    for (int m = 0; m < 9; m++) {
        b->stiffness[9 * e + m] = H[m];
        b->diagonal[9 * u + m] += H[m];
        b->diagonal[9 * v + m] += H[m];
    }
}

/* Vertices [first, first + nx ny nz) at `at`, edges of length about 1, moved by a tenth. */
static void add_bar(Body *b, int32_t first, int nx, int ny, int nz, const double at[3])
{
    BrioRandom random = {(uint64_t)first + 1};
    for (int32_t i = 0; i < nx * ny * nz; i++) {
        int cell[3] = {i % nx, i / nx % ny, i / nx / ny};
        for (int c = 0; c < 3; c++)
            b->x[3 * (first + i) + c] = at[c] + cell[c] + 0.1 * brio__random(&random);
    }
    Edges e = {0};
    add_box(&e, first, nx, ny, nz);
    for (int64_t k = 0; k < e.count; k++) add_spring(b, e.edge[k][0], e.edge[k][1], 1, 0);
    free(e.edge);
}

static void add_mass(Body *b, double mass)
{
    for (int32_t i = 0; i < b->n; i++)
        for (int c = 0; c < 3; c++) b->diagonal[9 * i + 4 * c] += mass;
}

/* A bar 4 times as long as it is thick, whose first face hangs on fixed vertices. */
static Body bar(int side, double mass)
{
    Body b = new_body(4 * side * side * side);
    add_bar(&b, 0, 4 * side, side, side, (double[3]){0, 0, 0});
    for (int32_t i = 0; i < b.n; i += 4 * side)
        for (int c = 0; c < 3; c++) b.diagonal[9 * i + 4 * c] += 1;
    add_mass(&b, mass);
    return b;
}

/* A sheet of springs, with bending: second differences along rows and columns, of which the matrix
 * couples vertices two edges apart. */
static Body sheet(int side, double bending, double mass)
{
    Body b = new_body(side * side);
    for (int32_t i = 0; i < b.n; i++) {
        b.x[3 * i] = i % side;
        b.x[3 * i + 1] = i / side;
    }
    for (int32_t y = 0; y < side; y++)
        for (int32_t x = 0; x < side; x++) {
            int32_t i = y * side + x;
            /* |a - 2 b + c|^2: -2 between neighbours, 1 between those two apart, and so that all
             * rows add up to 0 */
            if (x + 1 < side) add_spring(&b, i, i + 1, 1, bending * ((x > 0) + (x + 2 < side)) * 2);
            if (y + 1 < side)
                add_spring(&b, i, i + side, 1, bending * ((y > 0) + (y + 2 < side)) * 2);
            if (x + 1 < side && y + 1 < side) add_spring(&b, i, i + side + 1, 1, 0);
            if (x + 2 < side) add_spring(&b, i, i + 2, 0, -bending);
            if (y + 2 < side) add_spring(&b, i, i + 2 * side, 0, -bending);
        }
    add_mass(&b, mass);
    return b;
}

/* ---- solvers ---------------------------------------------------------------------------- */

/* Positions by coordinate blocks. */
static double *positions(const Body *b)
{
    double *q = malloc(3 * (size_t)b->n * sizeof *q);
    for (int32_t i = 0; i < b->n; i++) memcpy(q + 3 * b->number[i], b->x + 3 * i, 3 * sizeof *q);
    return q;
}

static BrioStatus create(const char *solver, const Body *b, double tol, const double *q,
                         BrioLinear **linear)
{
    int64_t *start = calloc((size_t)b->n + 2, sizeof *start);
    int32_t *neighbour = malloc(2 * (size_t)b->edge.count * sizeof *neighbour);
    for (int64_t e = 0; e < b->edge.count; e++)
        for (int s = 0; s < 2; s++) start[b->number[b->edge.edge[e][s]] + 2]++;
    for (int32_t i = 0; i < b->n; i++) start[i + 2] += start[i + 1];
    for (int64_t e = 0; e < b->edge.count; e++)
        for (int s = 0; s < 2; s++)
            neighbour[start[b->number[b->edge.edge[e][s]] + 1]++] =
                b->number[b->edge.edge[e][1 - s]];
    BrioStatus status = brio__linear_create(brio__linear_type(solver),
                                            &(BrioLinearOptions){.tol = tol, .position = q}, b->n,
                                            start, neighbour, linear);
    free(start);
    free(neighbour);
    return status;
}

static void set_block(BrioMatrix *A, int32_t i, int32_t j, double factor, const double *H)
{
    bool transposed;
    int64_t block = brio__matrix_find(A, i, j, &transposed);
    int32_t J = BRIO_MIN(A->position[i], A->position[j]);
    double *to = A->value + brio__matrix_slot(A, J, block);
    for (int m = 0; m < 9; m++)
        to[m % 3 * brio__matrix_stride(A, J) + m / 3] = factor * H[m]; /* H is symmetric */
}

static void fill(BrioLinear *linear, const Body *b, double scale)
{
    for (int32_t i = 0; i < b->n; i++)
        set_block(&linear->A, b->number[i], b->number[i], scale, b->diagonal + 9 * i);
    for (int64_t e = 0; e < b->edge.count; e++)
        set_block(&linear->A, b->number[b->edge.edge[e][0]], b->number[b->edge.edge[e][1]], -scale,
                  b->stiffness + 9 * e);
}

static double *right_side(const Body *b, uint64_t seed)
{
    double *r = malloc(3 * (size_t)b->n * sizeof *r);
    BrioRandom random = {seed};
    for (int64_t i = 0; i < 3 * (int64_t)b->n; i++)
        r[i] = brio__random_normal(&random) + (i % 3 == 1); /* and a weight, which is smooth */
    return r;
}

/* |A x - b| / |b| of what was factored, with its overlay blocks. */
static double residual(BrioLinear *linear, const double *b, const double *x)
{
    double *y = malloc(3 * (size_t)linear->A.n * sizeof *y), above = 0, below = 0;
    brio__linear_multiply(linear, x, y);
    for (int64_t i = 0; i < 3 * (int64_t)linear->A.n; i++) {
        above += (y[i] - b[i]) * (y[i] - b[i]);
        below += b[i] * b[i];
    }
    free(y);
    return sqrt(above / below);
}

static int64_t iterations_of(const BrioLinear *linear)
{
    BrioLinearStats stats;
    brio__linear_stats(linear, &stats);
    return stats.iterations;
}

/* Iterations of a solve to 1e-6, as solvers of Newton's equations do it. */
static int64_t iterations(const char *solver, const Body *b)
{
    double *q = positions(b), *r = right_side(b, 1);
    double *x = malloc(3 * (size_t)b->n * sizeof *x);
    BrioLinear *linear;
    assert_int_equal(create(solver, b, 1e-6, q, &linear), BRIO_OK);
    fill(linear, b, 1);
    assert_int_equal(brio__linear_factor(linear), BRIO_OK);
    assert_int_equal(brio__linear_solve(linear, 1, r, x), BRIO_OK);
    int64_t count = iterations_of(linear);
    brio__linear_free(linear);
    free(q);
    free(r);
    free(x);
    return count;
}

/* ---- tests ------------------------------------------------------------------------------ */

/* To a tolerance that is far beyond single precision, which the cycle computes with. A mass of 1e-7
 * of the stiffness is what a stiff body has in a long step. */
static void solves(void **state)
{
    (void)state;
    static const double masses[] = {1e-7, 1e-3, 1e3};
    static const int sides[] = {1, 2, 4, 8};
    for (size_t s = 0; s < BRIO_COUNT(sides); s++)
        for (size_t m = 0; m < BRIO_COUNT(masses); m++) {
            Body b = bar(sides[s], masses[m]);
            double *q = positions(&b), *r = right_side(&b, 2);
            double *x = malloc(3 * (size_t)b.n * sizeof *x);
            BrioLinear *linear;
            assert_int_equal(create("multilevel", &b, 1e-11, m == 1 ? NULL : q, &linear), BRIO_OK);
            /* numbers of a float end at 1e38 */
            static const double scales[] = {1, 1e-30, 1e30};
            for (size_t f = 0; f < BRIO_COUNT(scales); f++) {
                fill(linear, &b, scales[f]);
                assert_int_equal(brio__linear_factor(linear), BRIO_OK);
                assert_int_equal(brio__linear_solve(linear, 1, r, x), BRIO_OK);
                /* the tolerance is of another norm, and what a factor 1e7 in the matrix leaves of
                 * double precision */
                double bound = masses[m] < 1e-5 ? 1e-6 : 1e-8;
                if (!(residual(linear, r, x) < bound))
                    fail_msg("side %d, mass %g, scale %g: residual %g", sides[s], masses[m],
                             scales[f], residual(linear, r, x));
            }
            brio__linear_free(linear);
            free(q);
            free(r);
            free(x);
            free_body(&b);
        }
}

/* 1.2, 10 and 80 thousand tets. */
static void iterations_do_not_grow(void **state)
{
    (void)state;
    static const int sides[] = {5, 9, 16};
    int64_t count[3];
    for (int s = 0; s < 3; s++) {
        Body b = bar(sides[s], 1e-3);
        count[s] = iterations("multilevel", &b);
        print_message("bar of %d vertices: %lld iterations, pcg %lld\n", b.n, (long long)count[s],
                      (long long)iterations("pcg", &b));
        assert_true(count[s] <= 25);
        free_body(&b);
    }
    assert_true(2 * count[2] <= 3 * BRIO_MIN(count[0], count[1]));
}

static void shells(void **state)
{
    (void)state;
    static const int sides[] = {20, 40, 80};
    static const double bending[] = {1e-4, 1e-1};
    for (size_t k = 0; k < BRIO_COUNT(bending); k++)
        for (int s = 0; s < 3; s++) {
            Body b = sheet(sides[s], bending[k], 1e-4);
            int64_t count = iterations("multilevel", &b), plain = iterations("pcg", &b);
            print_message("sheet of %d vertices, bending %g: %lld iterations, pcg %lld\n", b.n,
                          bending[k], (long long)count, (long long)plain);
            assert_true(count <= 30); /* 33 to 37 with aggregates of two edges */
            assert_true(s == 0 || 3 * count < plain);
            free_body(&b);
        }
}

/* Two bars, one above the other. */
static Body two_bars(double mass)
{
    enum { X = 12, Y = 10, Z = 4, COUNT = X * Y * Z };
    Body b = new_body(2 * COUNT);
    add_bar(&b, 0, X, Y, Z, (double[3]){0, 0, 0});
    add_bar(&b, COUNT, X, Y, Z, (double[3]){0.3, 0.3, Z});
    add_mass(&b, mass);
    return b;
}

/* Barriers between the upper face of the first and the lower face of the second. */
static void press(BrioLinear *linear, const Body *b, double k, uint64_t seed, double part)
{
    BrioRandom random = {seed};
    int32_t half = b->n / 2, face = 120;
    double normal[3] = {0.1, -0.2, 0.97}, H[9] = {0}, opposite[9];
    add_square(H, k, normal);
    for (int m = 0; m < 9; m++) opposite[m] = -H[m];
    for (int32_t i = 0; i < face; i++) {
        int32_t u = b->number[half - face + i], v = b->number[half + i];
        if (brio__random(&random) > part) continue;
        assert_int_equal(brio__overlay_add(linear->overlay, u, u, H), BRIO_OK);
        assert_int_equal(brio__overlay_add(linear->overlay, v, v, H), BRIO_OK);
        assert_int_equal(brio__overlay_add(linear->overlay, u, v, opposite), BRIO_OK);
    }
}

/* However stiff barriers are, and when other ones come. At 1e6 times the stiffness of the body the
 * rounding of a float is the force of a spring, and the cycle loses accuracy. */
static void contacts(void **state)
{
    (void)state;
    static const double stiffness[] = {1e-2, 1, 1e2, 1e4, 1e6};
    Body b = two_bars(1e-3);
    double *q = positions(&b), *r = right_side(&b, 5);
    double *x[2];
    BrioLinear *solver[2];
    for (int s = 0; s < 2; s++) {
        x[s] = malloc(3 * (size_t)b.n * sizeof **x);
        assert_int_equal(create(s ? "ldlt" : "multilevel", &b, 1e-6, q, &solver[s]), BRIO_OK);
        assert_int_equal(brio__overlay_create(&solver[s]->overlay), BRIO_OK);
        fill(solver[s], &b, 1);
    }
    for (size_t k = 0; k < BRIO_COUNT(stiffness); k++)
        for (int part = 1; part <= 2; part++) {
            int64_t before = iterations_of(solver[0]);
            for (int s = 0; s < 2; s++) {
                brio__overlay_forget(solver[s]->overlay);
                press(solver[s], &b, stiffness[k], k, 0.5 * part);
                assert_int_equal(brio__linear_factor(solver[s]), BRIO_OK);
                assert_int_equal(brio__linear_solve(solver[s], 1, r, x[s]), BRIO_OK);
            }
            int64_t count = iterations_of(solver[0]) - before;
            print_message("barriers %g: %lld iterations\n", stiffness[k], (long long)count);
            assert_true(count > 0 && count <= (stiffness[k] > 1e5 ? 100 : 30));
            double above = 0, below = 0;
            for (int64_t i = 0; i < 3 * (int64_t)b.n; i++) {
                above += (x[0][i] - x[1][i]) * (x[0][i] - x[1][i]);
                below += x[1][i] * x[1][i];
            }
            assert_true(above < 1e-8 * below);
        }
    for (int s = 0; s < 2; s++) {
        brio__linear_free(solver[s]);
        free(x[s]);
    }
    free(q);
    free(r);
    free_body(&b);
}

/* The numbers of a matrix before serve a nearby one, and solutions are as accurate. Where they
 * serve badly, for one that is quite another, there are new ones. */
static void kept_numbers(void **state)
{
    (void)state;
    Body body = bar(8, 1e-4);
    double *q = positions(&body), *b = right_side(&body, 1);
    double *x = malloc(3 * (size_t)body.n * sizeof *x);
    BrioLinear *linear = NULL;
    assert_int_equal(create("multilevel", &body, 1e-9, q, &linear), BRIO_OK);
    int64_t before = 0;
    for (int k = 0; k < 4; k++) {
        linear->options.near = k > 0;
        if (k == 1) add_mass(&body, 1e-3);
        if (k == 2) /* half of it a thousand times as stiff: fixed by springs */
            for (int32_t i = 0; i < body.n / 2; i++)
                for (int c = 0; c < 3; c++) body.diagonal[9 * i + 4 * c] += 1000;
        fill(linear, &body, 1);
        assert_int_equal(brio__linear_factor(linear), BRIO_OK);
        assert_int_equal(brio__linear_solve(linear, 1, b, x), BRIO_OK);
        double left = residual(linear, b, x);
        int64_t all = iterations_of(linear);
        print_message("matrix %d: %d iterations, residual %.1e\n", k, (int)(all - before), left);
        assert_true(left < 1e-6);
        /* with numbers of its own the last matrix, that of before, takes no more than usual */
        if (k != 2) assert_true(all - before <= 40);
        before = all;
    }
    brio__linear_free(linear);
    free(q);
    free(b);
    free(x);
    free_body(&body);
}

static void same_bits(void **state)
{
    (void)state;
    Body b = two_bars(1e-3);
    double *q = positions(&b), *r = right_side(&b, 6), *x[4];
    size_t bytes = 3 * (size_t)b.n * sizeof(double);
    for (int t = 0; t < 4; t++) {
        brio_set_threads(t + 1);
        x[t] = malloc(bytes);
        BrioLinear *linear;
        assert_int_equal(create("multilevel", &b, 1e-9, q, &linear), BRIO_OK);
        assert_int_equal(brio__overlay_create(&linear->overlay), BRIO_OK);
        fill(linear, &b, 1);
        press(linear, &b, 100, 1, 1);
        assert_int_equal(brio__linear_factor(linear), BRIO_OK);
        assert_int_equal(brio__linear_solve(linear, 1, r, x[t]), BRIO_OK);
        assert_int_equal(brio__linear_solve(linear, 1, r, x[t]), BRIO_OK);
        brio__linear_free(linear);
        assert_memory_equal(x[0], x[t], bytes);
    }
    brio_set_threads(0);
    for (int t = 0; t < 4; t++) free(x[t]);
    free(q);
    free(r);
    free_body(&b);
}

/* By the factorisation or by the solve, but never a solution; and what follows is as if nothing had
 * been. */
static void indefinite(void **state)
{
    (void)state;
    Body b = bar(5, 1e-3);
    double *q = positions(&b), *r = right_side(&b, 7);
    double *x = malloc(3 * (size_t)b.n * sizeof *x);
    BrioLinear *linear;
    assert_int_equal(create("multilevel", &b, 1e-8, q, &linear), BRIO_OK);
    /* a diagonal block; all of the lower end of the spectrum; one spring that pushes */
    for (int way = 0; way < 3; way++) {
        Body bad = bar(5, way == 1 ? -0.05 : 1e-3);
        if (way == 0) bad.diagonal[9 * 77 + 4] = -1;
        fill(linear, &bad, 1);
        if (way == 2) {
            double H[9] = {0};
            add_square(H, -30, (double[3]){1, 0, 0});
            int32_t u = b.edge.edge[200][0], v = b.edge.edge[200][1];
            for (int m = 0; m < 9; m++) {
                bad.stiffness[9 * 200 + m] += H[m];
                bad.diagonal[9 * u + m] += H[m];
                bad.diagonal[9 * v + m] += H[m];
            }
            fill(linear, &bad, 1);
        }
        BrioStatus status = brio__linear_factor(linear);
        if (status == BRIO_OK) status = brio__linear_solve(linear, 1, r, x);
        assert_int_equal(status, BRIO_NOT_POSITIVE_DEFINITE);
        free_body(&bad);
        fill(linear, &b, 1);
        assert_int_equal(brio__linear_factor(linear), BRIO_OK);
        assert_int_equal(brio__linear_solve(linear, 1, r, x), BRIO_OK);
        assert_true(residual(linear, r, x) < 1e-5);
    }
    brio__linear_free(linear);
    free(q);
    free(r);
    free(x);
    free_body(&b);
}

/* Every allocation fails once, those for contacts too, and everything after it. */
static void failing_memory(void **state)
{
    (void)state;
    Body b = two_bars(1e-3);
    double *q = positions(&b), *r = right_side(&b, 8);
    double *x = malloc(3 * (size_t)b.n * sizeof *x);
    bool failed = true;
    int64_t k = 0;
    for (; failed; k += EMULATED ? 7 : 1)
        for (int stays = 0; stays < 2; stays++) {
            Memory memory;
            memory_start(&memory, k, stays);
            BrioLinear *linear;
            BrioStatus status = create("multilevel", &b, 1e-6, q, &linear);
            if (status == BRIO_OK) status = brio__overlay_create(&linear->overlay);
            if (status == BRIO_OK) {
                int64_t fail_at = memory.fail_at;
                memory.fail_at = -1;
                fill(linear, &b, 1);
                press(linear, &b, 100, 1, 1);
                memory.fail_at = memory.failed ? -1 : BRIO_MAX(fail_at, memory.calls);
                status = brio__linear_factor(linear);
                if (status == BRIO_OK) status = brio__linear_solve(linear, 1, r, x);
                if (status == BRIO_ERROR_MEMORY) { /* and it can be asked again */
                    memory.fail_at = -1;
                    assert_int_equal(brio__linear_factor(linear), BRIO_OK);
                    assert_int_equal(brio__linear_solve(linear, 1, r, x), BRIO_OK);
                    assert_true(residual(linear, r, x) < 1e-3);
                }
            }
            brio__linear_free(linear);
            failed = memory.failed;
            assert_int_equal(status, failed ? BRIO_ERROR_MEMORY : BRIO_OK);
            assert_int_equal(memory.live, 0);
        }
    brio_set_allocator(NULL);
    assert_true(k > 80);
    free(q);
    free(r);
    free(x);
    free_body(&b);
}

/* Nothing is allocated once the pattern is known. */
static void no_allocation(void **state)
{
    (void)state;
    Body b = two_bars(1e-3);
    double *q = positions(&b), *r = right_side(&b, 9);
    double *x = malloc(3 * (size_t)b.n * sizeof *x);
    Memory memory;
    memory_start(&memory, -1, false);
    BrioLinear *linear;
    assert_int_equal(create("multilevel", &b, 1e-6, q, &linear), BRIO_OK);
    assert_int_equal(brio__overlay_create(&linear->overlay), BRIO_OK);
    fill(linear, &b, 1);
    for (int round = 0; round < 3; round++) {
        if (round == 1) memory.calls = 0;
        brio__overlay_clear(linear->overlay);
        press(linear, &b, 10 + round, 1, 1);
        assert_int_equal(brio__linear_factor(linear), BRIO_OK);
        assert_int_equal(brio__linear_solve(linear, 1, r, x), BRIO_OK);
    }
    assert_int_equal(memory.calls, 0);
    brio__linear_free(linear);
    brio_set_allocator(NULL);
    free(q);
    free(r);
    free(x);
    free_body(&b);
}

/* auto: a factorisation for small bodies and for sheets, none for large bodies. */
static void automatic(void **state)
{
    (void)state;
    static const struct {
        int side;
        bool sheet, direct;
    } cases[] = {{6, false, true}, {60, true, true}, {17, false, false}};
    for (size_t i = 0; i < BRIO_COUNT(cases); i++) {
        Body b = cases[i].sheet ? sheet(cases[i].side, 0.1, 1e-3) : bar(cases[i].side, 1e-3);
        double *q = positions(&b), *r = right_side(&b, 10);
        double *x = malloc(3 * (size_t)b.n * sizeof *x);
        BrioLinear *linear;
        BrioLinearStats stats;
        assert_int_equal(create("auto", &b, 1e-8, q, &linear), BRIO_OK);
        fill(linear, &b, 1);
        assert_int_equal(brio__linear_factor(linear), BRIO_OK);
        assert_int_equal(brio__linear_solve(linear, 1, r, x), BRIO_OK);
        assert_true(residual(linear, r, x) < 1e-5);
        brio__linear_stats(linear, &stats);
        assert_int_equal(stats.factor_nonzeros > 0, cases[i].direct);
        assert_int_equal(brio__linear_iterates(linear), !cases[i].direct);
        brio__linear_free(linear);
        free(q);
        free(r);
        free(x);
        free_body(&b);
    }
}

/* auto factors the matrix where multilevel does not converge: here, to less than round-off. */
static void falls_back(void **state)
{
    (void)state;
    Body b = bar(17, 1e-3);
    double *q = positions(&b), *r = right_side(&b, 11);
    double *x = malloc(3 * (size_t)b.n * sizeof *x);
    BrioLinear *linear;
    assert_int_equal(create("multilevel", &b, 1e-30, q, &linear), BRIO_OK);
    fill(linear, &b, 1);
    assert_int_equal(brio__linear_factor(linear), BRIO_OK);
    assert_int_equal(brio__linear_solve(linear, 1, r, x), BRIO_NOT_CONVERGED);
    brio__linear_free(linear);
    assert_int_equal(create("auto", &b, 1e-30, q, &linear), BRIO_OK);
    for (int k = 0; k < 2; k++) {
        fill(linear, &b, 1 + k);
        assert_int_equal(brio__linear_factor(linear), BRIO_OK);
        assert_int_equal(brio__linear_solve(linear, 1, r, x), BRIO_OK);
        assert_true(residual(linear, r, x) < 1e-12);
    }
    brio__linear_free(linear);
    free(q);
    free(r);
    free(x);
    free_body(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves),        cmocka_unit_test(iterations_do_not_grow),
        cmocka_unit_test(shells),        cmocka_unit_test(contacts),
        cmocka_unit_test(kept_numbers),  cmocka_unit_test(same_bits),
        cmocka_unit_test(indefinite),    cmocka_unit_test(failing_memory),
        cmocka_unit_test(no_allocation), cmocka_unit_test(automatic),
        cmocka_unit_test(falls_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
