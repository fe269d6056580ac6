/* Eigenvalues: general matrices with known roots, defective ones, symmetric ones by both methods;
 * vibrations of bodies with known frequencies; the power method compared with the dense solution.
 */
#include "analyze/modes.h"
#include "system/system.h"
#include "linear/blas.h"
#include "mesh/mesh.h"

#include <complex.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

/* ---- general matrices ------------------------------------------------------------------- */

/* CMPLX of <complex.h>, which clang 14 does not have. */
static double complex complex_of(double re, double im) { return re + im * I; }

/* The greatest distance from a wanted root to the found value that is nearest and not yet taken. */
static double distance_to(int n, const double complex *wanted, const double *re, const double *im)
{
    bool taken[64] = {false};
    double worst = 0;
    for (int i = 0; i < n; i++) {
        int best = -1;
        for (int j = 0; j < n; j++)
            if (!taken[j] && (best < 0 || cabs(wanted[i] - complex_of(re[j], im[j])) <
                                              cabs(wanted[i] - complex_of(re[best], im[best]))))
                best = j;
        taken[best] = true;
        worst = brio__larger(worst, cabs(wanted[i] - complex_of(re[best], im[best])));
    }
    return worst;
}

/* The companion matrix of the monic polynomial with these roots, which come with their
 * conjugates. */
static void companion(int n, const double complex *roots, double *A)
{
    double complex c[65] = {1};
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k > 0; k--) c[k] -= roots[i] * c[k - 1];
    memset(A, 0, (size_t)(n * n) * sizeof *A);
    for (int k = 0; k < n; k++) A[k] = -creal(c[k + 1]);
    for (int k = 1; k < n; k++) A[k * n + k - 1] = 1;
}

/* TOLERANCE: roots move by round-off of the coefficients times their condition, given with each. */
static void known_roots(void **state)
{
    (void)state;
    const struct {
        const char *name;
        int n;
        double complex roots[12];
        double tolerance;
    } cases[] = {
        {"1..4", 4, {1, 2, 3, 4}, 1e-12},
        {"1..8", 8, {1, 2, 3, 4, 5, 6, 7, 8}, 1e-8}, /* Wilkinson's polynomial is ill conditioned */
        {"conjugates", 6, {0.5 + 0.5 * I, 0.5 - 0.5 * I, -1 + 2 * I, -1 - 2 * I, 3, -0.25}, 1e-13},
        {"on the unit circle", 6, {1, -1, 0.6 + 0.8 * I, 0.6 - 0.8 * I, I, -I}, 1e-14},
        {"nearly on it", 2, {1e-9 + I, 1e-9 - I}, 1e-15},
        {"cube roots of 1",
         3,
         {1, -0.5 + 0.86602540378443864676 * I, -0.5 - 0.86602540378443864676 * I},
         1e-15},
        {"double 1", 3, {1, 1, 0.5}, 1e-7}, /* a Jordan block: the root of the round-off */
        {"scales", 4, {1e6, 1, 1e-3, -1e2}, 1e-9},
    };
    for (size_t i = 0; i < BRIO_COUNT(cases); i++) {
        double A[144], re[12], im[12];
        companion(cases[i].n, cases[i].roots, A);
        assert_int_equal(brio__eigenvalues(cases[i].n, A, re, im), BRIO_OK);
        double error = distance_to(cases[i].n, cases[i].roots, re, im);
        print_message("roots %-20s error %.1e\n", cases[i].name, error);
        assert_true(error <= cases[i].tolerance);
        for (int k = 1; k < cases[i].n; k++)
            assert_true(hypot(re[k], im[k]) <= hypot(re[k - 1], im[k - 1]));
        for (int k = 0; k < cases[i].n; k++) /* conjugates are exact and neighbours */
            if (im[k] > 0) assert_true(re[k + 1] == re[k] && im[k + 1] == -im[k]);
    }
}

static void special_matrices(void **state)
{
    (void)state;
    double re[8], im[8], A[64] = {0};
    assert_int_equal(brio__eigenvalues(5, A, re, im), BRIO_OK); /* zero */
    for (int i = 0; i < 5; i++) assert_true(re[i] == 0 && im[i] == 0);
    /* a cyclic shift: QR without exceptional shifts never ends on it */
    for (int i = 0; i < 8; i++) A[i * 8 + (i + 1) % 8] = 1;
    assert_int_equal(brio__eigenvalues(8, A, re, im), BRIO_OK);
    double complex roots[8];
    for (int i = 0; i < 8; i++) roots[i] = cexp(2 * M_PI * I * i / 8);
    double error = distance_to(8, roots, re, im);
    print_message("cyclic shift: error %.1e\n", error);
    assert_true(error < 1e-14);
    memset(A, 0, sizeof A);
    for (int i = 0; i < 6; i++) { /* a Jordan block of 2 that is exactly triangular stays exact */
        A[i * 6 + i] = 2;
        if (i < 5) A[i * 6 + i + 1] = 1;
    }
    assert_int_equal(brio__eigenvalues(6, A, re, im), BRIO_OK);
    for (int i = 0; i < 6; i++) assert_true(re[i] == 2 && im[i] == 0);
    /* and a defective one that is not triangular: Q J Q^T, J a block of size 3 at 2 */
    double turned[9];
    const double Q[9] = {2 / 3.0,  -1 / 3.0, 2 / 3.0, 2 / 3.0, 2 / 3.0,
                         -1 / 3.0, -1 / 3.0, 2 / 3.0, 2 / 3.0};
    const double J[9] = {2, 1, 0, 0, 2, 1, 0, 0, 2};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            turned[3 * i + j] = 0;
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++)
                    turned[3 * i + j] += Q[3 * i + k] * J[3 * k + l] * Q[3 * j + l];
        }
    assert_int_equal(brio__eigenvalues(3, turned, re, im), BRIO_OK);
    /* cube root of the round-off */
    for (int i = 0; i < 3; i++) assert_true(hypot(re[i] - 2, im[i]) < 2e-5);
    /* balanced: 1 1 1, 1 2 1, 1 1 3 up to scale */
    const double unbalanced[9] = {1, 1e8, 1e10, 1e-8, 2, 1e3, 1e-10, 1e-3, 3};
    assert_int_equal(brio__eigenvalues(3, unbalanced, re, im), BRIO_OK);
    double balanced[9] = {1, 1, 1, 1, 2, 10, 1, 0.1, 3}, re2[3], im2[3];
    assert_int_equal(brio__eigenvalues(3, balanced, re2, im2), BRIO_OK);
    for (int i = 0; i < 3; i++) assert_true(fabs(re[i] - re2[i]) + fabs(im[i] - im2[i]) < 1e-13);
    A[7] = NAN;
    assert_int_equal(brio__eigenvalues(3, A, re, im), BRIO_NOT_FINITE);
}

/* In closed form: small and large, real and complex. TOLERANCE: units in the last place. */
static void two_by_two(void **state)
{
    (void)state;
    const struct {
        double A[4], re[2], im[2];
    } cases[] = {
        {{2, 0, 0, 3}, {3, 2}, {0, 0}},
        {{0, 1, -1, 0}, {0, 0}, {1, -1}},
        {{1, 1, 0, 1}, {1, 1}, {0, 0}},
        /* the small one by the determinant */
        {{1, 1e-20, 1e-20, 1e-30}, {1, 1e-30 - 1e-40}, {0, 0}},
        {{1e200, 1e200, 1e200, -1e200}, {1.4142135623730951e200, -1.4142135623730951e200}, {0, 0}},
        {{1e-200, 2e-200, -2e-200, 1e-200}, {1e-200, 1e-200}, {2e-200, -2e-200}},
        {{1 + 0x1p-27, 1, 1, 1 - 0x1p-27}, {2, -0x1p-55}, {0, 0}}, /* 1 +- sqrt(1 + 2^-54) */
        {{0, 0, 0, 0}, {0, 0}, {0, 0}},
    };
    for (size_t i = 0; i < BRIO_COUNT(cases); i++) {
        double re[2], im[2];
        brio__eigenvalues_2(cases[i].A, re, im);
        for (int k = 0; k < 2; k++) {
            if (fabs(re[k] - cases[i].re[k]) > 4 * DBL_EPSILON * fabs(cases[i].re[k]) ||
                fabs(im[k] - cases[i].im[k]) > 4 * DBL_EPSILON * fabs(cases[i].im[k]))
                fail_msg("case %zu: %.17g %+.17gi", i, re[k], im[k]);
        }
    }
}

static double determinant(int n, const double *A)
{
    double B[64 * 64], det = 1;
    memcpy(B, A, (size_t)(n * n) * sizeof *A);
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(B[i * n + k]) > fabs(B[p * n + k])) p = i;
        for (int j = 0; j < n && p != k; j++) {
            double swap = B[k * n + j];
            B[k * n + j] = B[p * n + j], B[p * n + j] = swap;
        }
        if (p != k) det = -det;
        det *= B[k * n + k];
        for (int i = k + 1; i < n; i++)
            for (int j = n - 1; j >= k; j--)
                B[i * n + j] -= B[i * n + k] / B[k * n + k] * B[k * n + j];
    }
    return det;
}

/* trace A = sum, trace A^2 = sum of squares, det A = product, for random matrices up to the largest
 * size. */
static void random_matrices(void **state)
{
    (void)state;
    BrioRandom random = {.state = 7};
    double worst[3] = {0};
    for (int round = 0; round < 60; round++) {
        int n = 1 + (round < 40 ? round % 12 : (round * 7) % 64);
        if (round == 59) n = 64;
        double A[64 * 64], re[64], im[64], trace = 0, square = 0, norm = 0;
        for (int i = 0; i < n * n; i++) A[i] = brio__random_normal(&random);
        for (int i = 0; i < n; i++) {
            trace += A[i * n + i];
            for (int j = 0; j < n; j++)
                square += A[i * n + j] * A[j * n + i], norm += A[i * n + j] * A[i * n + j];
        }
        assert_int_equal(brio__eigenvalues(n, A, re, im), BRIO_OK);
        double complex sum = 0, squares = 0, product = 1;
        for (int i = 0; i < n; i++)
            sum += complex_of(re[i], im[i]),
                squares += complex_of(re[i], im[i]) * complex_of(re[i], im[i]),
                product *= complex_of(re[i], im[i]);
        worst[0] = brio__larger(worst[0], cabs(sum - trace) / sqrt(norm));
        worst[1] = brio__larger(worst[1], cabs(squares - square) / norm);
        worst[2] =
            brio__larger(worst[2], cabs(product - determinant(n, A)) / fabs(determinant(n, A)));
    }
    print_message("random: trace %.1e, trace of the square %.1e, determinant %.1e\n", worst[0],
                  worst[1], worst[2]);
    assert_true(worst[0] < 1e-13 && worst[1] < 1e-13);
    /* relative: smallest eigenvalues of some are a thousand times below the norm */
    assert_true(worst[2] < 1e-9);
}

/* ---- symmetric matrices ----------------------------------------------------------------- */

typedef BrioStatus Symmetric(int n, double *A, double *value);

/* |A V - V D| and |V^T V - 1| relative to |A|, both as the largest entry. */
static void check_symmetric(const char *name, Symmetric *solve, int n, const double *A,
                            double *value)
{
    size_t N = (size_t)n;
    double *V = malloc(N * N * sizeof *V), norm = 0, residual = 0, skew = 0;
    memcpy(V, A, N * N * sizeof *V);
    assert_int_equal(solve(n, V, value), BRIO_OK);
    for (size_t i = 0; i < N * N; i++) norm = brio__larger(norm, fabs(A[i]));
    for (size_t k = 0; k < N; k++) {
        if (k) assert_true(value[k] >= value[k - 1]);
        for (size_t i = 0; i < N; i++) {
            double sum = 0;
            for (size_t j = 0; j < N; j++) sum += A[i * N + j] * V[k * N + j];
            residual = brio__larger(residual, fabs(sum - value[k] * V[k * N + i]));
        }
        for (size_t l = 0; l <= k; l++) {
            double sum = 0;
            for (size_t j = 0; j < N; j++) sum += V[k * N + j] * V[l * N + j];
            skew = brio__larger(skew, fabs(sum - (k == l)));
        }
    }
    print_message("%-28s n %3d: |AV-VD| %.1e |A|, |VV^T-1| %.1e\n", name, n,
                  residual / fmax(norm, 1e-300), skew);
    assert_true(residual <= 1e-14 * sqrt((double)n) * 10 * norm && skew <= 1e-14 * 10);
    free(V);
}

static void symmetric_matrices(void **state)
{
    (void)state;
    enum { MAX = 200 };
    double *A = malloc(MAX * MAX * sizeof *A), a[MAX], b[MAX];
    const struct {
        const char *name;
        int n, kind;
    } cases[] = {{"random", 1, 0},    {"random", 2, 0},   {"random", 3, 0},
                 {"random", 57, 0},   {"random", 200, 0}, {"zero", 6, 1},
                 {"multiple", 60, 2}, {"graded", 30, 3},  {"second differences", 100, 4}};
    for (size_t c = 0; c < BRIO_COUNT(cases); c++) {
        int n = cases[c].n;
        BrioRandom random = {.state = c};
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++) {
                double value = 0;
                switch (cases[c].kind) {
                case 0: value = brio__random_normal(&random); break;
                case 2: value = (i % 3 == j % 3) + (i == j); break; /* three blocks of ones */
                case 3: value = exp(-0.5 * (i + j)) * brio__random_normal(&random); break;
                case 4: value = i == j ? 2 : i == j + 1 ? -1 : 0; break;
                }
                A[i * n + j] = A[j * n + i] = value;
            }
        check_symmetric(cases[c].name, brio__eigen_symmetric_builtin, n, A, a);
        check_symmetric(cases[c].name, brio__eigen_symmetric, n, A, b);
        for (int i = 0; i < n; i++)
            assert_true(fabs(a[i] - b[i]) <= 1e-13 * fmax(fabs(a[0]), fabs(a[n - 1])));
        for (int i = 0; i < n && cases[c].kind == 4; i++)
            assert_true(fabs(a[i] - 2 + 2 * cos((i + 1) * M_PI / (n + 1))) < 1e-13);
    }
    BrioStatus status;
    double one = 3;
    print_message("LAPACK %s\n", brio__lapack_symmetric(1, &one, a, &status)
                                     ? "is used"
                                     : "is not there: both are the built-in");
#ifdef BRIO_HAVE_CHOLMOD
    /* CHOLMOD needs one, so it is there */
    assert_true(brio__lapack_symmetric(1, &one, a, &status));
#endif
    A[3] = INFINITY;
    assert_int_equal(brio__eigen_symmetric(3, A, a), BRIO_NOT_FINITE);
    free(A);
}

/* ---- bodies ----------------------------------------------------------------------------- */

typedef struct Body {
    BrioSystem *system;
    BrioState *state;
    BrioStiffness *stiffness;
    double *x;
} Body;

typedef struct Fix {
    double below; /* vertices with x below it */
} Fix;

static Body make(const char *shape, const char *const *keys, const double (*numbers)[3],
                 const char *material, const char *const *names, const double *values,
                 const Fix *fix, bool affine)
{
    Body body = {0};
    BrioBuilder *builder;
    BrioMesh *mesh;
    BrioError error = {0};
    BrioBodyDef def = brio_default_body();
    double shape_values[BRIO_MAX_VALUES];
    const BrioField *fields = brio_shape_fields(shape);
    brio_fields_defaults(fields, shape_values);
    for (int i = 0; keys[i]; i++)
        assert_int_equal(brio_fields_set(fields, shape_values, keys[i], numbers[i], NULL), BRIO_OK);
    assert_int_equal(brio_mesh_shape(shape, shape_values, &mesh, NULL), BRIO_OK);
    def.name = "body";
    def.mesh = mesh;
    if (affine) def.kind = BRIO_KIND_AFFINE;
    assert_int_equal(brio_default_material(material, &def.material, NULL), BRIO_OK);
    for (int i = 0; names[i]; i++)
        assert_int_equal(brio_material_set(&def.material, names[i], values[i], NULL), BRIO_OK);
    assert_int_equal(brio_builder_create(&builder, NULL), BRIO_OK);
    assert_int_equal(brio_builder_body(builder, &def, NULL, &error), BRIO_OK);
    for (int32_t v = 0; fix && v < mesh->vertex_count; v++)
        if (mesh->x[3 * (int64_t)v] < fix->below)
            assert_int_equal(brio_builder_fix(builder, 0, &v, 1, NULL, &error), BRIO_OK);
    assert_int_equal(brio_builder_finish(builder, &body.system, &body.state, &error), BRIO_OK);
    brio_builder_free(builder);
    brio_mesh_free(mesh);
    body.x = brio__alloc(3 * (size_t)body.system->vertex_count, sizeof *body.x);
    brio__system_positions(body.system, body.state, body.state->q, 0, body.x);
    assert_int_equal(brio__stiffness_create(body.system, &body.stiffness), BRIO_OK);
    assert_int_equal(brio__stiffness_at(body.stiffness, body.state, body.x), BRIO_OK);
    return body;
}

static void release(Body *body)
{
    brio__stiffness_free(body->stiffness);
    brio_system_free(body->system);
    brio_state_free(body->state);
    brio__free(body->x);
}

/* phi_i . M phi_j = delta, phi_i . K phi_j = w_i^2 delta, both with the engine's own products. */
static void check_modes(const Body *body, const BrioModes *modes)
{
    size_t n = (size_t)modes->n;
    double *y = malloc(n * sizeof *y);
    double skew = 0;
    double residual = 0;
    double largest = fmax(fabs(modes->squared[0]), fabs(modes->squared[n - 1]));
    for (size_t k = 0; k < n; k++) {
        for (int side = 0; side < 2; side++) {
            if (side == 0)
                brio__mass_multiply(body->system, modes->mode + k * n, y);
            else
                brio__stiffness_multiply(body->stiffness, modes->mode + k * n, y);
            for (size_t l = 0; l < n; l++) {
                double sum = 0;
                for (size_t i = 0; i < n; i++) sum += y[i] * modes->mode[l * n + i];
                if (side == 0)
                    skew = brio__larger(skew, fabs(sum - (k == l)));
                else
                    residual = brio__larger(residual,
                                            fabs(sum - (k == l ? modes->squared[k] : 0)) / largest);
            }
        }
    }
    print_message("  %zu modes: |phi M phi - 1| %.1e, |phi K phi - w^2| %.1e of the largest w^2\n",
                  n, skew, residual);
    assert_true(skew < 1e-12 && residual < 1e-12);
    free(y);
}

static int zero_modes(const BrioModes *modes)
{
    int zeros = 0;
    for (int i = 0; i < modes->n; i++) zeros += fabs(modes->squared[i]) <= modes->zero;
    return zeros;
}

static const char *const line_keys[] = {"length", "cells", NULL}, *const spring_names[] = {
                                                                      "k", "vertex_mass", NULL};

/* N springs k from a fixed end with equal masses m: w_j = 2 sqrt(k/m) sin((2j-1) pi / (2 (2N+1)));
 * across it nothing holds a straight chain, so there are 2N mechanisms. */
static void clamped_chain(void **state)
{
    (void)state;
    enum { N = 40 };
    const double k = 250, m = 0.02;
    Body body = make("line", line_keys, (const double[][3]){{2}, {N}}, "hooke", spring_names,
                     (const double[]){k, m}, &(Fix){1e-6}, false);
    BrioModes modes;
    assert_int_equal(brio__modes_create(body.stiffness, &modes, NULL), BRIO_OK);
    assert_int_equal(modes.n, 3 * N);
    check_modes(&body, &modes);
    assert_int_equal(zero_modes(&modes), 2 * N);
    double worst = 0;
    for (int j = 1; j <= N; j++) {
        double exact = 2 * sqrt(k / m) * sin((2 * j - 1) * M_PI / (2 * (2 * N + 1)));
        worst = brio__larger(worst, fabs(sqrt(modes.squared[2 * N + j - 1]) / exact - 1));
    }
    print_message("clamped chain of %d springs: frequencies within %.1e of the formula\n", N,
                  worst);
    assert_true(worst < 1e-11);
    brio__modes_free(&modes);
    release(&body);
}

static const char *const box_keys[] = {"size", "cells", NULL}, *const solid_names[] = {"E", "nu",
                                                                                       "rho", NULL};

/* Stretching of a clamped bar with nu = 0: f_j = (2j-1)/(4L) sqrt(E/rho), approached from either
 * side by linear tets with lumped masses; TOLERANCE 2 %: the mesh has 12 cells along. Bending is
 * far too stiff in so few linear tets across, so the stretching modes are found by their shape:
 * that which has the greatest part of its motion along the bar. */
static void clamped_bar(void **state)
{
    (void)state;
    const double L = 1, E = 1e7, rho = 1000;
    Body body = make("box", box_keys, (const double[][3]){{L, 0.1, 0.1}, {12, 2, 2}}, "corotated",
                     solid_names, (const double[]){E, 0, rho}, &(Fix){-L / 2 + 1e-6}, false);
    BrioModes modes;
    assert_int_equal(brio__modes_create(body.stiffness, &modes, NULL), BRIO_OK);
    check_modes(&body, &modes);
    assert_int_equal(zero_modes(&modes), 0);
    int n = modes.n, found = 0;
    double *u = calloc((size_t)n, sizeof *u);
    double *a = malloc((size_t)n * sizeof *a);
    double *scratch = malloc((size_t)n * sizeof *scratch);
    for (int j = 1; j <= 2; j++) {
        double wanted = (2 * j - 1) / (4 * L) * sqrt(E / rho), best = 0;
        int which = 0;
        for (int64_t v = 0; v < body.system->body_vertices; v++) {
            int32_t at = body.system->map_start[v];
            if (at == body.system->map_start[v + 1]) continue;
            u[3 * (int64_t)body.system->map_block[at]] =
                sin((2 * j - 1) * M_PI / 2 * (body.x[3 * v] + L / 2) / L);
        }
        brio__modes_project(body.system, &modes, u, a, scratch);
        for (int k = 0; k < n; k++)
            if (fabs(a[k]) > best) best = fabs(a[k]), which = k;
        double frequency = sqrt(modes.squared[which]) / (2 * M_PI);
        /* the Rayleigh quotient of the analytic shape is never below the lowest it is made of */
        double *Ku = scratch, quotient = 0, mass = 0;
        for (int k = 0; k < n; k++) mass += a[k] * a[k];
        brio__stiffness_multiply(body.stiffness, u, Ku);
        for (int i = 0; i < n; i++) quotient += u[i] * Ku[i] / mass;
        print_message("clamped bar: stretching mode %d is number %d, %.4f Hz, formula %.4f Hz, "
                      "Rayleigh quotient %.4f Hz\n",
                      j, which, frequency, wanted, sqrt(quotient) / (2 * M_PI));
        assert_true(fabs(frequency / wanted - 1) < 0.02);
        assert_true(fabs(sqrt(quotient) / (2 * M_PI) / wanted - 1) < 0.02);
        found++;
    }
    assert_int_equal(found, 2);
    free(u);
    free(a);
    free(scratch);
    brio__modes_free(&modes);
    release(&body);
}

/* A free solid has six motions without strain, whatever its material; an affine one as well, among
 * its twelve. */
static void rigid_motions(void **state)
{
    (void)state;
    const char *const materials[] = {"neo-hookean", "corotated", "stvk"};
    for (int i = 0; i < 4; i++) {
        bool affine = i == 3;
        Body body =
            make("box", box_keys, (const double[][3]){{0.3, 0.2, 0.1}, {3, 2, 2}}, materials[i % 3],
                 solid_names, (const double[]){1e5, 0.3, 500}, NULL, affine);
        BrioModes modes;
        assert_int_equal(brio__modes_create(body.stiffness, &modes, NULL), BRIO_OK);
        print_message("free %s%s: %d zero modes, |w^2| %.1e and then %.1e of the largest\n",
                      affine ? "affine " : "", materials[i % 3], zero_modes(&modes),
                      fabs(modes.squared[5] / modes.squared[modes.n - 1]),
                      modes.squared[6] / modes.squared[modes.n - 1]);
        assert_int_equal(modes.n, affine ? 12 : 3 * body.system->body_vertices);
        check_modes(&body, &modes);
        assert_int_equal(zero_modes(&modes), 6);
        assert_true(modes.squared[6] > 1e3 * modes.zero);
        brio__modes_free(&modes);
        release(&body);
    }
}

static void apply_dense(void *context, const double *x, double *y)
{
    const double *A = context;
    for (int i = 0; i < 3; i++) y[i] = A[3 * i] * x[0] + A[3 * i + 1] * x[1] + A[3 * i + 2] * x[2];
}

static void power_method(void **state)
{
    (void)state;
    double A[9] = {2, -1, 0, -1, 2, -1, 0, -1, 2}, value, vector[3], zero[9] = {0};
    int64_t iterations;
    assert_int_equal(
        brio__power_method(3, apply_dense, A, 1e-10, 1000, &value, &iterations, vector), BRIO_OK);
    assert_true(fabs(value - (2 + sqrt(2))) < 1e-9 && fabs(vector[1] / vector[0] + sqrt(2)) < 1e-7);
    assert_int_equal(brio__power_method(3, apply_dense, A, 1e-10, 2, &value, &iterations, NULL),
                     BRIO_NOT_CONVERGED);
    assert_int_equal(iterations, 2);
    assert_int_equal(brio__power_method(3, apply_dense, zero, 1e-10, 2, &value, &iterations, NULL),
                     BRIO_OK);
    assert_true(value == 0);
    /* chain, solid, affine body; 1 % as a step size needs, and closer */
    for (int i = 0; i < 3; i++) {
        Body body = i == 0 ? make("line", line_keys, (const double[][3]){{2}, {60}}, "hooke",
                                  spring_names, (const double[]){250, 0.02}, NULL, false)
                           : make("box", box_keys, (const double[][3]){{0.3, 0.2, 0.1}, {6, 4, 2}},
                                  "neo-hookean", solid_names, (const double[]){1e5, 0.4, 500}, NULL,
                                  i == 2);
        BrioModes modes;
        assert_int_equal(brio__modes_create(body.stiffness, &modes, NULL), BRIO_OK);
        double exact = modes.squared[modes.n - 1];
        for (double tol = 1e-2; tol > 5e-4; tol /= 10) {
            assert_int_equal(
                brio__stiffness_largest(body.stiffness, tol, 100000, &value, &iterations), BRIO_OK);
            print_message("k0 %.6g by the power method to %g after %lld iterations, %.6g dense: "
                          "%.2f %% off\n",
                          value, tol, (long long)iterations, exact, 100 * fabs(value / exact - 1));
            assert_true(fabs(value / exact - 1) <= tol);
            assert_true(value <= exact * (1 + 1e-12));
        }
        brio__modes_free(&modes);
        release(&body);
    }
}

static void too_large(void **state)
{
    (void)state;
    Body body = make("line", line_keys, (const double[][3]){{2}, {1000}}, "hooke", spring_names,
                     (const double[]){250, 0.02}, NULL, false);
    BrioModes modes;
    BrioError error = {0};
    assert_int_equal(brio__modes_create(body.stiffness, &modes, &error), BRIO_ERROR_TOO_LARGE);
    print_message("%s\n", error.message);
    assert_non_null(strstr(error.message, "3003 coordinates"));
    release(&body);
}

/* ---- rigid fit -------------------------------------------------------------------------- */

static void rigid_fit(void **state)
{
    (void)state;
    BrioRandom random = {.state = 3};
    double X[60], x[60], m[20], R[9], t[3];
    for (int round = 0; round < 4; round++) { /* a solid, a half turn, a line, a point */
        double angle = round == 1 ? M_PI : 2.1;
        double c = cos(angle);
        double s = sin(angle);
        double shift[3] = {1, -2, 3};
        if (round >= 2) c = 1, s = 0;
        for (int i = 0; i < 20; i++) {
            m[i] = 0.5 + brio__random(&random);
            for (int r = 0; r < 3; r++)
                X[3 * i + r] = round == 3 || (round == 2 && r) ? 0.5 : brio__random_normal(&random);
            x[3 * i] = c * X[3 * i] - s * X[3 * i + 1] + shift[0];
            x[3 * i + 1] = s * X[3 * i] + c * X[3 * i + 1] + shift[1];
            x[3 * i + 2] = X[3 * i + 2] + shift[2];
        }
        assert_int_equal(brio__rigid_fit(20, m, X, x, R, t), BRIO_OK);
        const double expected[9] = {c, -s, 0, s, c, 0, 0, 0, 1};
        /* of a line: no turn about itself */
        for (int i = 0; i < 9; i++) assert_true(fabs(R[i] - expected[i]) < 1e-7);
        for (int i = 0; i < 3; i++) assert_true(fabs(t[i] - shift[i]) < 1e-6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_roots),        cmocka_unit_test(special_matrices),
        cmocka_unit_test(two_by_two),         cmocka_unit_test(random_matrices),
        cmocka_unit_test(symmetric_matrices), cmocka_unit_test(clamped_chain),
        cmocka_unit_test(clamped_bar),        cmocka_unit_test(rigid_motions),
        cmocka_unit_test(power_method),       cmocka_unit_test(too_large),
        cmocka_unit_test(rigid_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
