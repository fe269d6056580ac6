/* The mathematics of lanes: logarithm and cube root in units of the last place, eigenvalues,
 * singular values and polar factors of 3x3 matrices that are random, repeated, flat, of rank one,
 * zero, inverted, huge and tiny, all kinds mixed in the eight lanes. The file is compiled once per
 * instruction set (cmake/tests.cmake). */
#include "base.h"
#include "mat3_lane.h"

#include <float.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

#if defined(__AVX512F__)
#define ISA "avx512"
#elif defined(__AVX2__)
#define ISA "avx2"
#else
#define ISA "baseline"
#endif

/* ---- logarithm and cube root ------------------------------------------------------------ */

static double last_place(long double value)
{
    double size = fabs((double)value);
    return nextafter(size, INFINITY) - size;
}

typedef struct Worst {
    double error, at;
} Worst;

static void compare(lane a, lane got, long double exact(long double), Worst *worst)
{
    for (int i = 0; i < WIDTH; i++) {
        long double right = exact(a[i]);
        double error = (double)(fabsl(got[i] - right) / last_place(right));
        if (!(error <= worst->error)) *worst = (Worst){error, a[i]};
    }
}

static long double reciprocal_cube_root(long double a) { return 1 / cbrtl(a); }

/* TOLERANCE 2 ulp for the logarithm, 4 ulp for the cube root (five products of rounded factors). */
static void functions(void **unused)
{
    (void)unused;
    BrioRandom random = {3};
    Worst log_wide = {0}, log_near = {0}, root = {0};
    for (int k = 0; k < 40000; k++) {
        lane wide, near;
        for (int i = 0; i < WIDTH; i++) {
            wide[i] = pow(10, -300 + 600 * brio__random(&random));
            near[i] = 1 + (brio__random(&random) - 0.5) * pow(2, -(double)(k % 53));
        }
        compare(wide, lane_log(wide), logl, &log_wide);
        compare(near, lane_log(near), logl, &log_near);
        compare(wide, lane_rcbrt(wide), reciprocal_cube_root, &root);
    }
    lane special = {1, nextafter(1, 0), nextafter(1, 2), 0.5,
                    2, sqrt(0.5),       sqrt(2),         nextafter(sqrt(0.5), 0)};
    lane got = lane_log(special);
    assert_true(got[0] == 0);
    compare(special, got, logl, &log_near);
    compare(special, lane_rcbrt(special), reciprocal_cube_root, &root);
    print_message(
        "%s: log %.2f ulp (at %g), near 1 %.2f ulp (at 1%+g), cube root %.2f ulp (at %g)\n", ISA,
        log_wide.error, log_wide.at, log_near.error, log_near.at - 1, root.error, root.at);
    assert_true(log_wide.error < 2);
    assert_true(log_near.error < 2);
    assert_true(root.error < 4);
}

/* ---- comparisons and choice ------------------------------------------------------------- */

static void choices(void **unused)
{
    (void)unused;
    lane a = {-3, -0.0, 0, 1, 2, -1e300, INFINITY, -INFINITY}, b = {1, 2, -1, 1, -2, 1e300, 0, 0};
    lane_mask less = lane_lt(a, b), at_most = lane_le(a, b);
    lane min = lane_min(a, b);
    lane max = lane_max(a, b);
    lane size = lane_abs(a);
    lane positive = lane_positive(a);
    lane sign = lane_sign(a);
    lane chosen = lane_select(less, a, b), root = lane_sqrt(lane_abs(a));
    for (int i = 0; i < WIDTH; i++) {
        assert_int_equal(lane_test(less, i), a[i] < b[i]);
        assert_int_equal(lane_test(at_most, i), a[i] <= b[i]);
        assert_true(min[i] == fmin(a[i], b[i]) && max[i] == fmax(a[i], b[i]));
        assert_true(size[i] == fabs(a[i]) && positive[i] == fmax(a[i], 0) &&
                    sign[i] == (a[i] < 0 ? -1 : 1));
        assert_true(chosen[i] == (a[i] < b[i] ? a[i] : b[i]) && root[i] == sqrt(fabs(a[i])));
    }
    assert_true(lane_any(less));
    assert_false(lane_any(lane_lt(a, a)));
    assert_false(lane_any(lane_and(lane_lt(a, b), lane_lt(b, a))));
    lane one_to_eight = {1, 2, 3, 4, 5, 6, 7, 8};
    assert_true(lane_sum(one_to_eight) == 36);
    _Alignas(64) int32_t index[LANES] = {9, 0, 3, 3, 8, 1, 2, 5};
    double values[10] = {0, 10, 20, 30, 40, 50, 60, 70, 80, 90};
    lane gathered = lane_gather(values, index);
    for (int i = 0; i < WIDTH; i++) assert_true(gathered[i] == values[index[i]]);
}

/* ---- matrices --------------------------------------------------------------------------- */

static void random_rotation(BrioRandom *random, double R[3][3]) /* from a random quaternion */
{
    double q[4], n = 0;
    for (int i = 0; i < 4; i++) {
        q[i] = brio__random_normal(random);
        n += q[i] * q[i];
    }
    double a = q[0] / sqrt(n), b = q[1] / sqrt(n), c = q[2] / sqrt(n), d = q[3] / sqrt(n);
    double Q[3][3] = {{1 - 2 * (c * c + d * d), 2 * (b * c - a * d), 2 * (b * d + a * c)},
                      {2 * (b * c + a * d), 1 - 2 * (b * b + d * d), 2 * (c * d - a * b)},
                      {2 * (b * d - a * c), 2 * (c * d + a * b), 1 - 2 * (b * b + c * c)}};
    memcpy(R, Q, sizeof Q);
}

/* Singular values, largest first; the last one signed. */
static const double kinds[][3] = {
    /* regular, repeated, flat */
    {1.7, 0.9, 0.4},
    {1, 1, 1},
    {1.3, 1.3, 0.6},
    {1.4, 0.8, 0.8},
    {1.2, 0.7, 0},
    {1, 1, 0},
    /* of rank one, none, nearly so */
    {1, 0, 0},
    {0, 0, 0},
    {1, 1e-9, 1e-12},
    {1, 1e-14, 1e-16},
    {1, 1, 1e-13},
    /* inverted */
    {1.5, 1, -0.3},
    {1, 1, -1},
    {2, 0.5, -0.5},
    {1, 0.5 + 1e-9, -0.5},
    {1, 1e-7, -1e-7},
    {1, 1 - 1e-15, 1 - 2e-15},
    {1, 1 - 1e-8, 1 - 2e-8},
    {1e8, 1, 1e-8},
    {1, 0.3, -0.29998},
    {1, 0.01, -0.008},
};
static const double scales[] = {1, 1e-3, 1e3, 1e-30, 1e30, 1e-100, 1e100};
enum { KINDS = sizeof kinds / sizeof *kinds, SCALES = sizeof scales / sizeof *scales };

typedef struct Case {
    mat3l f;
    double sigma[LANES][3];
    double size[LANES]; /* the largest singular value */
} Case;

/* All lanes of one kind, or lane i of kind (first + 3 i) mod KINDS; plain axes in some; a scale
 * that all share, or each its own. */
static Case make_case(BrioRandom *random, int first, int scale)
{
    Case created;
    for (int i = 0; i < LANES; i++) {
        double U[3][3], V[3][3], one[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        double s = scales[scale < SCALES ? scale : (first + i) % SCALES];
        const double *kind = kinds[(first / 2 + (first % 2 ? 3 * i : 0)) % KINDS];
        random_rotation(random, U);
        random_rotation(random, V);
        if (brio__random(random) < 0.1) memcpy(U, one, sizeof one); /* exact zeros too */
        if (brio__random(random) < 0.1) memcpy(V, one, sizeof one);
        for (int k = 0; k < 3; k++) created.sigma[i][k] = s * kind[k];
        created.size[i] = created.sigma[i][0];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) {
                double sum = 0;
                for (int k = 0; k < 3; k++) sum += U[r][k] * kind[k] * V[c][k];
                created.f.m[r][c][i] = s * sum;
            }
    }
    return created;
}

/* How far m is from a rotation: of m^T m from 1, and of its determinant. */
static double not_rotation(const mat3l *m, int i)
{
    double worst = 0;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            double sum = 0;
            for (int k = 0; k < 3; k++) sum += m->m[k][a][i] * m->m[k][b][i];
            worst = brio__larger(worst, fabs(sum - (a == b)));
            if (isnan(sum)) return INFINITY;
        }
    double det = 0;
    for (int c = 0; c < 3; c++)
        det += m->m[0][c][i] * (m->m[1][(c + 1) % 3][i] * m->m[2][(c + 2) % 3][i] -
                                m->m[1][(c + 2) % 3][i] * m->m[2][(c + 1) % 3][i]);
    return brio__larger(worst, fabs(det - 1));
}

/* |f - u diag(s) v^T| over the size. */
static double not_product(const Case *c, const mat3l *u, const lane s[3], const mat3l *v, int i)
{
    double worst = 0, unit = c->size[i] > 0 ? c->size[i] : 1;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            double sum = 0;
            for (int k = 0; k < 3; k++) sum += u->m[a][k][i] * (s[k][i] / unit) * v->m[b][k][i];
            worst = brio__larger(worst, fabs(sum - c->f.m[a][b][i] / unit));
            if (isnan(sum)) return INFINITY;
        }
    return worst;
}

static void fail_case(const char *what, const Case *c, int i, double error)
{
    fail_msg("%s: %s is off by %g for singular values %g %g %g", ISA, what, error, c->sigma[i][0],
             c->sigma[i][1], c->sigma[i][2]);
}

/* TOLERANCE 2e-14: some twenty rotations of round-off 2e-16 each, and the entries of f are rounded
 * too. */
static void singular_values(void **unused)
{
    (void)unused;
    const double tolerance = 2e-14;
    BrioRandom random = {5};
    double worst[4] = {0};
    for (int round = 0; round < 400; round++)
        for (int scale = 0; scale <= SCALES; scale++) {
            Case c = make_case(&random, round, scale);
            mat3l u, v;
            lane s[3];
            svd3(&c.f, &u, s, &v);
            for (int i = 0; i < WIDTH; i++) {
                double unit = c.size[i] > 0 ? c.size[i] : 1;
                double error[4] = {not_rotation(&u, i), not_rotation(&v, i),
                                   not_product(&c, &u, s, &v, i), 0};
                for (int k = 0; k < 3; k++)
                    error[3] = brio__larger(error[3], fabs(s[k][i] - c.sigma[i][k]) / unit);
                static const char *const names[4] = {"u", "v", "the product", "a singular value"};
                for (int k = 0; k < 4; k++) {
                    if (!(error[k] <= tolerance)) fail_case(names[k], &c, i, error[k]);
                    worst[k] = brio__larger(worst[k], error[k]);
                }
                double slack = 16 * DBL_EPSILON * unit; /* the order holds to round-off */
                assert_true(s[0][i] >= s[1][i] - slack && s[1][i] >= fabs(s[2][i]) - slack &&
                            s[1][i] >= -slack);
                if (fabs(c.sigma[i][2]) > 1e-13 * unit)
                    assert_true((s[2][i] < 0) == (c.sigma[i][2] < 0));
            }
        }
    print_message(
        "%s: u %.1e, v %.1e from rotations, product %.1e, singular values %.1e of the largest\n",
        ISA, worst[0], worst[1], worst[2], worst[3]);
}

static void eigenvalues(void **unused)
{
    (void)unused;
    BrioRandom random = {7};
    double worst = 0;
    for (int round = 0; round < 400; round++)
        for (int scale = 0; scale <= SCALES; scale++) {
            Case c = make_case(&random, round, scale);
            mat3l v, s;
            lane d[3];
            /* the same eigenvalues on both sides, some negative */
            for (int i = 0; i < LANES; i++) {
                double Q[3][3], max = 0;
                random_rotation(&random, Q);
                for (int k = 0; k < 3; k++) {
                    if (brio__random(&random) < 0.3) c.sigma[i][k] = -c.sigma[i][k];
                    max = brio__larger(max, fabs(c.sigma[i][k]));
                }
                for (int a = 0; a < 3; a++)
                    for (int b = 0; b <= a; b++) {
                        double sum = 0;
                        for (int k = 0; k < 3; k++) sum += Q[a][k] * c.sigma[i][k] * Q[b][k];
                        c.f.m[a][b][i] = c.f.m[b][a][i] = sum;
                    }
                c.size[i] = max;
            }
            s = c.f;
            eigen3(&s, &v);
            for (int k = 0; k < 3; k++) d[k] = s.m[k][k];
            for (int i = 0; i < WIDTH; i++) {
                double error = brio__larger(not_rotation(&v, i), not_product(&c, &v, d, &v, i));
                if (!(error <= 2e-14)) fail_case("an eigenvalue decomposition", &c, i, error);
                worst = brio__larger(worst, error);
            }
        }
    print_message("%s: eigenvalue decompositions within %.1e\n", ISA, worst);
}

/* The rotation nearest to f and the trace of the stretch. TOLERANCE 1e-10: where the rotation is
 * found by its formula, the slope may be 1e-2 of the cube of the trace, and round-off is enlarged
 * by the square of its inverse. Sizes whose fourth power is a number: i2^2 and k enter. */
static void polar(void **unused)
{
    (void)unused;
    BrioRandom random = {9};
    double worst[3] = {0};
    for (int round = 0; round < 400; round++)
        for (int scale = 0; scale < SCALES - 2; scale++) {
            Case c = make_case(&random, round, scale);
            mat3l cof = mat3l_cofactor(&c.f), r;
            lane i2 = mat3l_norm2(&c.f), k = mat3l_norm2(&cof);
            lane J =
                c.f.m[0][0] * cof.m[0][0] + c.f.m[0][1] * cof.m[0][1] + c.f.m[0][2] * cof.m[0][2];
            lane t = polar3(&c.f, &cof, i2, k, J, &r);
            for (int i = 0; i < WIDTH; i++) {
                double unit = c.size[i] > 0 ? c.size[i] : 1, trace = 0, skew = 0;
                for (int a = 0; a < 3; a++) {
                    trace += c.sigma[i][a];
                    for (int b = 0; b < a; b++) { /* r^T f is symmetric */
                        double difference = 0;
                        for (int m = 0; m < 3; m++)
                            difference +=
                                r.m[m][a][i] * c.f.m[m][b][i] - r.m[m][b][i] * c.f.m[m][a][i];
                        skew = brio__larger(skew, fabs(difference) / unit);
                    }
                }
                double error[3] = {not_rotation(&r, i), skew, fabs(t[i] - trace) / unit};
                static const char *const names[3] = {"the rotation", "the symmetry of the stretch",
                                                     "its trace"};
                for (int m = 0; m < 3; m++) {
                    if (!(error[m] <= 1e-10)) fail_case(names[m], &c, i, error[m]);
                    worst[m] = brio__larger(worst[m], error[m]);
                }
            }
        }
    print_message("%s: rotation %.1e, symmetry %.1e, trace %.1e\n", ISA, worst[0], worst[1],
                  worst[2]);
}

int main(void)
{
#if defined(__AVX512F__)
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl")) {
        print_message("SKIPPED: this machine has no AVX-512\n");
        return 77;
    }
#elif defined(__AVX2__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
        print_message("SKIPPED: this machine has no AVX2\n");
        return 77;
    }
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions),   cmocka_unit_test(choices), cmocka_unit_test(singular_values),
        cmocka_unit_test(eigenvalues), cmocka_unit_test(polar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
