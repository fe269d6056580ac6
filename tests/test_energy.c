/* Every registered energy, for every instruction set that this machine runs: derivatives by Taylor
 * slope, invariance under rigid motions, no force at rest, positive semidefinite projection,
 * degenerate states. */
#include "build/build.h"
#include "emulated.h"
#include "energy/energy.h"
#include "field.h"

#include <float.h>
#include <stdlib.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

enum { MAX = 12 };

typedef struct Sample {
    const BrioEnergy *energy;
    double params[BRIO_MAX_VALUES];
    double X[16], x[MAX], rest[16]; /* X of a contact: its obstacle too */
    int size;
} Sample;

static void prepare(Sample *s, const BrioEnergy *energy)
{
    double values[BRIO_MAX_VALUES];
    *s = (Sample){.energy = energy, .size = 3 * energy->nodes};
    brio_fields_defaults(energy->fields, values);
    if (!strcmp(energy->name, "gravity")) values[1] = -9.8;
    if (energy->element == BRIO_ELEMENT_CONTACT || energy->element == BRIO_ELEMENT_PAIR)
        /* samples lie on both sides of it */
        values[brio__fields_offset(energy->fields, "dhat")] = 1;
    if (energy->element == BRIO_ELEMENT_CONTACT || energy->element == BRIO_ELEMENT_PAIR)
        values[brio__fields_offset(energy->fields, "kappa")] = 1e5;
    /* the same */
    if (energy->element == BRIO_ELEMENT_FRICTION)
        values[brio__fields_offset(energy->fields, "eps")] = 1;
    int thickness = brio__fields_offset(energy->fields, "thickness");
    if (thickness >= 0 && energy->element == BRIO_ELEMENT_TRIANGLE) values[thickness] = 0.01;
    if (energy->prepare)
        assert_int_equal(energy->prepare(values, s->params, NULL), BRIO_OK);
    else
        memcpy(s->params, values, (size_t)energy->params * sizeof *values);
}

static void sample(Sample *s, BrioRandom *random)
{
    s->energy->sample(random, s->X, s->x);
    s->energy->rest_shape(s->X, 1 + brio__random(random), NAN, s->rest);
}

static double value(const Sample *s, const double *x, double *g, double *H, bool project)
{
    return brio__energy_one(s->energy, s->params, s->rest, x, g, H, project);
}

static double dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* Mean remainders |E(x+ed) - E - e g.d| and |... - e^2/2 d.H d| over directions d. */
static void remainders(const Sample *s, double e, BrioRandom random, double *first, double *second,
                       double *noise)
{
    double g[MAX], H[MAX * MAX], y[MAX], d[MAX], Hd[MAX];
    double E = value(s, s->x, g, H, false);
    *first = *second = *noise = 0;
    for (int k = 0; k < 16; k++) {
        for (int i = 0; i < s->size; i++) d[i] = brio__random_normal(&random);
        for (int i = 0; i < s->size; i++) Hd[i] = dot(s->size, H + i * s->size, d);
        for (int i = 0; i < s->size; i++) y[i] = s->x[i] + e * d[i];
        double rise = value(s, y, NULL, NULL, false) - E;
        *first += fabs(rise - e * dot(s->size, g, d)) / 16;
        *second += fabs(rise - e * dot(s->size, g, d) - e * e / 2 * dot(s->size, d, Hd)) / 16;
        *noise += (fabs(E) + fabs(e * dot(s->size, g, d)) + s->params[0] * s->rest[0]) * 64 *
                  DBL_EPSILON / 16;
    }
}

/* TOLERANCE 0.1: the steps are small enough that the next Taylor term changes the slope by a few
 * percent. */
static void check_slopes(const Sample *s, BrioRandom random, const char *what)
{
    /* two scales: near kinks of the projection-free energy the first may be too long */
    double step = 2e-3, r1[2], r2[2], noise[2];
    for (int k = 0; k < 2; k++) remainders(s, step / (1 << k), random, &r1[k], &r2[k], &noise[k]);
    /* polynomials of low degree leave no remainder */
    bool exact1 = r1[1] < noise[1], exact2 = r2[1] < noise[1];
    double slope1 = log2(r1[0] / r1[1]), slope2 = log2(r2[0] / r2[1]);
    if ((!exact1 && fabs(slope1 - 2) > 0.1) || (!exact2 && fabs(slope2 - 3) > 0.1))
        fail_msg("%s, %s: Taylor slopes %.3f (2 expected) and %.3f (3 expected); remainders %g %g, "
                 "noise %g",
                 s->energy->name, what, slope1, slope2, r1[1], r2[1], noise[1]);
}

static void for_each(void (*check)(const BrioEnergy *energy))
{
    int count = 0;
    for (int isa = 0; isa <= (int)brio__isa(); isa++)
        for (int i = 0; brio__energy_at(i); i++, count++)
            check(brio__energy_for(brio__energy_at(i)->name, (BrioIsa)isa));
    print_message("%d energies by instruction sets\n", count);
    assert_true(count >= 9);
}

static void slopes_random(const BrioEnergy *energy)
{
    Sample s;
    prepare(&s, energy);
    BrioRandom random = {7};
    for (int k = 0; k < (EMULATED ? 20 : 200); k++) {
        sample(&s, &random);
        check_slopes(&s, random, "random state");
    }
}

static void random_turn(BrioRandom *random, bool about_x,
                        double R[9]) /* from a random quaternion */
{
    double q[4], n = 0;
    for (int i = 0; i < 4; i++) {
        q[i] = about_x && i > 1 ? 0 : brio__random_normal(random);
        n += q[i] * q[i];
    }
    double a = q[0] / sqrt(n), b = q[1] / sqrt(n), c = q[2] / sqrt(n), d = q[3] / sqrt(n);
    double Q[9] = {1 - 2 * (c * c + d * d), 2 * (b * c - a * d),     2 * (b * d + a * c),
                   2 * (b * c + a * d),     1 - 2 * (b * b + d * d), 2 * (c * d - a * b),
                   2 * (b * d - a * c),     2 * (c * d + a * b),     1 - 2 * (b * b + c * c)};
    memcpy(R, Q, sizeof Q);
}

static void random_rotation(BrioRandom *random, double R[9]) { random_turn(random, false, R); }

/* x = F X with F = U diag(s) V^T for given singular values. */
static void set_singular(Sample *s, BrioRandom *random, const double sigma[3])
{
    double Q[2][9];
    for (int k = 0; k < 2; k++) random_rotation(random, Q[k]);
    double F[9] = {0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                F[3 * i + j] += Q[0][3 * i + k] * sigma[k] * Q[1][3 * j + k];
    for (int v = 0; v < 4; v++)
        for (int r = 0; r < 3; r++) s->x[3 * v + r] = dot(3, F + 3 * r, s->X + 3 * v);
}

static const double degenerate[][3] = {
    /* repeated, flat */
    {1, 1, 1},
    {1.3, 1.3, 1.3},
    {1.2, 1.2, 0.7},
    {1.4, 0.8, 0.8},
    {1.1, 0.9, 1e-9},
    {1, 1, 0},
    {1.2, 0.9, -0.3},
    {1, 1, -0.5},
    {2, 1.5, -1}, /* inverted */
    {1, 1 + 1e-9, 1 - 1e-9},
    {1.5, 0.5 + 1e-8, 0.5},
};

/* A triangle of the x-y plane with two given stretches, turned in space. */
static void set_stretches(Sample *s, BrioRandom *random, double first, double second)
{
    double Q[9], angle = 6.3 * brio__random(random), c = cos(angle), n = sin(angle);
    random_rotation(random, Q);
    do {
        s->energy->sample(random, s->X, s->x);
        for (int v = 0; v < 3; v++) s->X[3 * v + 2] = 0;
        s->energy->rest_shape(s->X, 1, NAN, s->rest);
    } while (!(s->rest[0] > 0.1));
    for (int v = 0; v < 3; v++) {
        double a = first * (c * s->X[3 * v] + n * s->X[3 * v + 1]);
        double b = second * (c * s->X[3 * v + 1] - n * s->X[3 * v]);
        for (int r = 0; r < 3; r++) s->x[3 * v + r] = Q[3 * r] * a + Q[3 * r + 1] * b;
    }
}

static const double stretches[][2] = {{1, 1},     {1.3, 1.3},  {0.7, 0.7}, {1, 1 + 1e-9},
                                      {1.5, 0.6}, {1.2, 1e-6}, {1, 0}};

static void slopes_degenerate(const BrioEnergy *energy)
{
    Sample s;
    prepare(&s, energy);
    BrioRandom random = {11};
    for (size_t k = 0; energy->element == BRIO_ELEMENT_TRIANGLE && k < BRIO_COUNT(stretches); k++)
        for (int again = 0; again < 10; again++) {
            char what[80];
            set_stretches(&s, &random, stretches[k][0], stretches[k][1]);
            snprintf(what, sizeof what, "stretches %g %g", stretches[k][0], stretches[k][1]);
            if ((energy->traits & BRIO_ENERGY_INFINITE) && stretches[k][1] < 0.01) {
                if (stretches[k][1] == 0)
                    assert_true(value(&s, s.x, NULL, NULL, false) > 10 * s.params[0] * s.rest[0]);
                continue;
            }
            check_slopes(&s, random, what);
        }
    if (energy->element != BRIO_ELEMENT_TET) return;
    for (size_t k = 0; k < BRIO_COUNT(degenerate); k++)
        for (int again = 0; again < 10; again++) {
            sample(&s, &random);
            set_singular(&s, &random, degenerate[k]);
            char what[80];
            snprintf(what, sizeof what, "singular values %g %g %g", degenerate[k][0],
                     degenerate[k][1], degenerate[k][2]);
            if ((energy->traits & BRIO_ENERGY_INFINITE) && degenerate[k][2] <= 0) {
                if (degenerate[k][2] < 0) assert_true(isinf(value(&s, s.x, NULL, NULL, false)));
                continue;
            }
            /* steps leave J > 0 */
            if ((energy->traits & BRIO_ENERGY_INFINITE) && degenerate[k][2] < 1e-3) continue;
            check_slopes(&s, random, what);
        }
}

/* Cyclic Jacobi eigenvalues of a small symmetric matrix. */
static void eigen_range(int n, double *A, double *min, double *max)
{
    for (int sweep = 0; sweep < 60; sweep++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                double a = A[p * n + q];
                if (fabs(a) < 1e-300) continue;
                double theta = (A[q * n + q] - A[p * n + p]) / (2 * a);
                double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
                double c = 1 / sqrt(t * t + 1);
                double u = t * c;
                for (int k = 0; k < n; k++) {
                    double x = A[k * n + p], y = A[k * n + q];
                    A[k * n + p] = c * x - u * y, A[k * n + q] = u * x + c * y;
                }
                for (int k = 0; k < n; k++) {
                    double x = A[p * n + k], y = A[q * n + k];
                    A[p * n + k] = c * x - u * y, A[q * n + k] = u * x + c * y;
                }
            }
    *min = INFINITY, *max = 0;
    for (int k = 0; k < n; k++) {
        *min = fmin(*min, A[k * n + k]);
        *max = brio__larger(*max, fabs(A[k * n + k]));
    }
}

static bool all_finite(int n, const double *a)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(a[i])) return false;
    return true;
}

/* Rest shapes off by almost nothing: squares of what is left underflow, and must not spoil
 * anything. */
static void nearly_at_rest(const BrioEnergy *energy)
{
    Sample s;
    prepare(&s, energy);
    BrioRandom random = {19};
    for (int k = 0; k < 320; k++) {
        double g[MAX], H[MAX * MAX];
        sample(&s, &random);
        /* a corner of a cube, where much is exactly zero */
        if (k % 2 && energy->element != BRIO_ELEMENT_CONTACT) {
            memset(s.X, 0, sizeof s.X);
            for (int i = 0; i < 3; i++) s.X[3 * (i + 1) % MAX + i] = 1;
            energy->rest_shape(s.X, 1, NAN, s.rest);
        }
        for (int i = 0; i < s.size; i++)
            s.x[i] = s.X[i] + pow(10, -k) * brio__random_normal(&random) * (k > 1);
        for (int project = 0; project < 2; project++) {
            assert_true(isfinite(value(&s, s.x, g, H, project)));
            assert_true(all_finite(s.size, g) && all_finite(s.size * s.size, H));
        }
    }
}

static void check_projection(const Sample *s, const char *what)
{
    double H[MAX * MAX], P[MAX * MAX], min, max, exact_min, exact_max;
    if (!isfinite(value(s, s->x, NULL, H, false))) return;
    value(s, s->x, NULL, P, true);
    double difference = 0, scale = 0;
    for (int k = 0; k < s->size * s->size; k++) {
        difference = brio__larger(difference, fabs(H[k] - P[k]));
        scale = brio__larger(scale, fabs(H[k]));
    }
    for (int i = 0; i < s->size; i++)
        for (int j = 0; j < i; j++)
            assert_true(fabs(P[i * s->size + j] - P[j * s->size + i]) <= 1e-12 * scale);
    eigen_range(s->size, H, &exact_min, &exact_max);
    eigen_range(s->size, P, &min, &max);
    if (min < -1e-9 * max)
        fail_msg("%s, %s: projected Hessian has eigenvalue %g, largest %g", s->energy->name, what,
                 min, max);
    /* where the exact Hessian is semidefinite already, projecting changes nothing */
    if (exact_min > -1e-13 * exact_max && difference > 1e-9 * scale)
        fail_msg("%s, %s: projection changed a semidefinite Hessian by %g of %g", s->energy->name,
                 what, difference, scale);
}

static void projection(const BrioEnergy *energy)
{
    Sample s;
    prepare(&s, energy);
    BrioRandom random = {13};
    for (int k = 0; k < (EMULATED ? 30 : 500); k++) {
        sample(&s, &random);
        check_projection(&s, "random state");
    }
    for (size_t k = 0; energy->element == BRIO_ELEMENT_TRIANGLE && k < BRIO_COUNT(stretches); k++) {
        set_stretches(&s, &random, stretches[k][0], stretches[k][1]);
        check_projection(&s, "special stretches");
    }
    for (size_t k = 0; energy->element == BRIO_ELEMENT_TET && k < BRIO_COUNT(degenerate); k++) {
        sample(&s, &random);
        set_singular(&s, &random, degenerate[k]);
        check_projection(&s, "degenerate state");
    }
}

/* At the rest shape, turned and moved: no force; and any state's energy is the same after a rigid
 * motion. What sees x only may be turned about x. */
static void rigid(const BrioEnergy *energy)
{
    Sample s;
    prepare(&s, energy);
    BrioRandom random = {17};
    if (energy->element == BRIO_ELEMENT_VERTEX || energy->element == BRIO_ELEMENT_CONTACT ||
        energy->element == BRIO_ELEMENT_FRICTION)
        return; /* weight, walls and tangents do not move along */
    for (int again = 0; again < 50; again++) {
        double g[MAX], y[MAX], gy[MAX], R[9];
        sample(&s, &random);
        random_turn(&random, energy->traits & BRIO_ENERGY_ALONG_X, R);
        double shift[3] = {brio__random(&random), brio__random(&random), brio__random(&random)};
        double scale = s.params[0] * s.rest[0] + s.rest[0];
        for (int pass = 0; pass < 2; pass++) {
            const double *from = pass ? s.x : s.X;
            for (int v = 0; v < energy->nodes; v++)
                for (int r = 0; r < 3; r++)
                    y[3 * v + r] = dot(3, R + 3 * r, from + 3 * v) + shift[r];
            double E = value(&s, from, g, NULL, false), Ey = value(&s, y, gy, NULL, false);
            assert_true(fabs(E - Ey) <= 1e-11 * (scale + fabs(E)));
            double force = 0, sum[3] = {0}, torque[3] = {0};
            for (int v = 0; v < energy->nodes; v++)
                for (int r = 0; r < 3; r++) {
                    double f = gy[3 * v + r];
                    force = brio__larger(force, fabs(f));
                    sum[r] += f;
                    torque[r] += y[3 * v + (r + 1) % 3] * gy[3 * v + (r + 2) % 3] -
                                 y[3 * v + (r + 2) % 3] * gy[3 * v + (r + 1) % 3];
                    /* forces turn along */
                    assert_true(fabs(f - dot(3, R + 3 * r, g + 3 * v)) <= 1e-9 * (scale + fabs(f)));
                }
            if (!pass) assert_true(force <= 1e-9 * (scale + s.params[0]));
            for (int r = 0; r < 3; r++) {
                assert_true(fabs(sum[r]) <= 1e-12 * (force + scale));
                assert_true(fabs(torque[r]) <= 1e-11 * (force + scale));
            }
        }
    }
}

/* A spring of no length has a defined force: none. */
static void collapsed_spring(void **state)
{
    (void)state;
    Sample s;
    prepare(&s, brio__energy("hooke"));
    double x[6] = {1, 2, 3, 1, 2, 3}, g[6], H[36];
    s.rest[0] = 1, s.rest[1] = 0.5;
    double E = value(&s, x, g, H, true);
    assert_true(fabs(E - 0.5 * s.params[0] * 0.25) < 1e-9);
    for (int i = 0; i < 6; i++) assert_true(g[i] == 0);
    for (int i = 0; i < 36; i++) assert_true(isfinite(H[i]));
    double min, max;
    eigen_range(6, H, &min, &max);
    assert_true(min > -1e-9 * max && max > 0);
    s.rest[1] = 0;
    value(&s, x, g, H, true);
    for (int i = 0; i < 6; i++) assert_true(g[i] == 0);
    assert_true(H[0] == s.params[0]);
}

/* What must stay positive: the distance from the obstacle, the volume or the length. */
static double room(const Sample *s, const double *x)
{
    double rest[16];
    if (s->energy->element == BRIO_ELEMENT_CONTACT) {
        _Alignas(64) int32_t node[LANES] = {0};
        _Alignas(64) double lanes[16 * LANES], distance[LANES];
        for (int k = 0; k < s->energy->rest * LANES; k++) lanes[k] = s->rest[k / LANES];
        s->energy->eval(&(BrioBatch){.end = 1,
                                     .node = node,
                                     .rest = lanes,
                                     .table = s->energy->table,
                                     .x = x,
                                     .distance = distance});
        return distance[0];
    }
    s->energy->rest_shape(x, 1, NAN, rest);
    return rest[0];
}

/* max_step: J stays positive up to the returned step and, if the whole step inverts, the limit is
 * not tiny. */
static void inversion_limit(const BrioEnergy *energy)
{
    if (!energy->max_step) return;
    Sample s;
    prepare(&s, energy);
    BrioRandom random = {23};
    int limited = 0, tries = EMULATED ? 200 : 2000;
    for (int again = 0; again < tries; again++) {
        _Alignas(64) int32_t node[4 * LANES];
        _Alignas(64) double rest[16 * LANES];
        double dx[MAX], y[MAX];
        sample(&s, &random);
        for (int k = 0; k < MAX; k++) dx[k] = 2 * brio__random_normal(&random);
        /* in its own plane: in space triangles seldom collapse */
        if (energy->element == BRIO_ELEMENT_TRIANGLE && again % 4) {
            double a[2] = {brio__random_normal(&random), brio__random_normal(&random)};
            double b[2] = {brio__random_normal(&random), brio__random_normal(&random)};
            for (int r = 0; r < 3; r++) {
                double first = s.x[3 + r] - s.x[r], second = s.x[6 + r] - s.x[r];
                dx[3 + r] = dx[r] + 2 * (a[0] * first + a[1] * second);
                dx[6 + r] = dx[r] + 2 * (b[0] * first + b[1] * second);
            }
        }
        /* towards the obstacle, fast: small ones are seldom hit by chance */
        if (energy->element == BRIO_ELEMENT_CONTACT && again % 2)
            for (int r = 0; r < 3; r++) {
                double to[2][3];
                for (int k = 0; k < 2; k++) {
                    memcpy(to[k], s.x, sizeof to[k]);
                    to[k][r] += k ? -1e-6 : 1e-6;
                }
                dx[r] = dx[r] / 8 + 3 * (room(&s, to[1]) - room(&s, to[0])) / 2e-6;
            }
        for (int k = 0; k < 4; k++)
            for (int i = 0; i < LANES; i++) node[k * LANES + i] = 3 * k;
        for (int k = 0; k < energy->rest; k++)
            for (int i = 0; i < LANES; i++) rest[k * LANES + i] = s.rest[k];
        int64_t element = -1;
        double t = energy->max_step(&(BrioBatch){.begin = 0,
                                                 .end = 1,
                                                 .node = node,
                                                 .rest = rest,
                                                 .params = s.params,
                                                 .table = energy->table,
                                                 .x = s.x,
                                                 .dx = dx},
                                    &element);
        assert_true(t > 0 && t <= 1);
        for (int k = 1; k <= 400; k++) { /* every point of the way is allowed */
            for (int i = 0; i < MAX; i++) y[i] = s.x[i] + t * k / 400 * dx[i];
            assert_true(isfinite(value(&s, y, NULL, NULL, false)));
        }
        if (t < 1) {
            assert_int_equal(element, 0);
            limited++;
            /* and it is not far too careful: it falls to about the tenth that is kept */
            for (int i = 0; i < MAX; i++) y[i] = s.x[i] + fmin(1, 1.01 * t) * dx[i];
            assert_true(room(&s, y) < 0.25 * room(&s, s.x));
        }
    }
    assert_true(limited > tries / 10);
}

static void test_slopes_random(void **state)
{
    (void)state;
    for_each(slopes_random);
}
static void test_slopes_degenerate(void **state)
{
    (void)state;
    for_each(slopes_degenerate);
}
static void test_projection(void **state)
{
    (void)state;
    for_each(projection);
}
static void test_nearly_at_rest(void **state)
{
    (void)state;
    for_each(nearly_at_rest);
}
static void test_rigid(void **state)
{
    (void)state;
    for_each(rigid);
}
static void test_inversion_limit(void **state)
{
    (void)state;
    for_each(inversion_limit);
}

/* psi = mu sum (s - 1)^2 + lambda/2 (J - 1)^2 by the singular values, inverted ones too. */
static void test_fixed_corotated(void **state)
{
    (void)state;
    static const double sigma[][3] = {{1, 1, 1},       {1.4, 0.8, 0.6},  {2, 1, 0.5},
                                      {1.3, 0.9, 0.1}, {1.2, 0.9, -0.3}, {3, 2, 1.5}};
    BrioRandom random = {.state = 7};
    Sample s;
    prepare(&s, brio__energy("fixed-corotated"));
    for (size_t i = 0; i < BRIO_COUNT(sigma); i++) {
        double psi = 0, J = 1;
        sample(&s, &random);
        set_singular(&s, &random, sigma[i]);
        for (int k = 0; k < 3; k++) {
            double strain = sigma[i][k] - 1;
            psi += s.params[0] * strain * strain;
            J *= sigma[i][k];
        }
        psi += s.params[1] / 2 * (J - 1) * (J - 1);
        double found = value(&s, s.x, NULL, NULL, false) / s.rest[0];
        /* of the order of mu: a part of 1e12 of it is rounding */
        if (fabs(found - psi) > 1e-12 * (s.params[0] + s.params[1] + psi))
            fail_msg("psi = %.17g instead of %.17g", found, psi);
    }
}

/* Rows of energy/element.def and of build/kinds.c: every material makes a body of one kind, and
 * what makes a body is a material. */
static void test_kinds(void **state)
{
    (void)state;
    int materials = 0;
    for (int i = 0; brio__energy_at(i); i++) {
        const BrioEnergy *energy = brio__energy_at(i);
        const BrioBodyKind *kind = brio__body_kind(energy);
        assert_int_equal(brio__energy_is_material(energy), kind != NULL);
        if (!kind) continue;
        materials++;
        assert_string_equal(brio__kind_name(kind->kind), kind->name);
        assert_non_null(kind->masses);
        assert_non_null(kind->terms);
        assert_int_equal(brio__element(energy)->part, BRIO_LEDGER_ELASTIC);
    }
    assert_true(materials >= 13);
    assert_int_equal(brio__element(brio__energy("gravity"))->part, BRIO_LEDGER_GRAVITY);
    assert_int_equal(brio__element(brio__energy("attachment"))->part, BRIO_LEDGER_ATTACHMENT);
    assert_int_equal(brio__element(brio__energy("plane-ipc"))->part, BRIO_LEDGER_CONTACT);
    assert_int_equal(brio__element(brio__energy("friction"))->part, BRIO_LEDGER_NONE);
    assert_true(brio__energy_is_elastic(brio__energy("hinge")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slopes_random),   cmocka_unit_test(test_slopes_degenerate),
        cmocka_unit_test(test_projection),      cmocka_unit_test(test_rigid),
        cmocka_unit_test(test_nearly_at_rest),  cmocka_unit_test(test_inversion_limit),
        cmocka_unit_test(collapsed_spring),     cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_fixed_corotated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
