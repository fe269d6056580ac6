/* Distances of single pairs and continuous collision detection: against 113 bits and other formulas
 * (ccd_reference.h), against published queries with exact answers, and on numbers of any bit
 * pattern. test_long_ccd.c has more pairs. */
#include "ccd_reference.h"
#include "emulated.h"
#include "sanitized.h"

#include <dirent.h>

#ifdef NDEBUG
enum { TIMED = !SANITIZED && !EMULATED };
#else
enum { TIMED = false };
#endif

/* ---- distances -------------------------------------------------------------------------- */

/* The distance and its weights for one pair; returns the error in units of the last place of its
 * size. */
static double check_distance(int kind, const double x[12], const char *what)
{
    double w[4];
    double d =
        kind == VERTEX_FACE ? brio__closest_vertex_face(x, w) : brio__closest_edge_edge(x, w);
    real y[12], between[3] = {0}, size;
    for (int i = 0; i < 12; i++) y[i] = (real)x[i] - (real)x[i % 3];
    size = real_size(y, 12);
    if (size == 0) {
        assert_true(d == 0);
        return 0;
    }
    for (int i = 0; i < 12; i++) {
        y[i] /= size;
        between[i % 3] += w[i / 3] * y[i];
    }
    double truth = sqrt((double)square_distance(kind, y));
    double answer = (double)(d / size);
    double by_weights = sqrt((double)real_dot(between, between));
    double error = fabs(answer - truth) / 0x1p-53;
    double weights_error = fabs(by_weights - truth) / 0x1p-53;
    double first = kind == VERTEX_FACE ? w[0] : w[0] + w[1];
    double second = kind == VERTEX_FACE ? w[1] + w[2] + w[3] : w[2] + w[3];
    bool fine = error <= 8 && weights_error <= 8 && fabs(first - 1) <= 0x1p-52 &&
                fabs(second + 1) <= 0x1p-52;
    for (int i = 0; i < 4; i++)
        fine = fine && (i == 0 || (kind == EDGE_EDGE && i == 1) ? w[i] >= 0 : w[i] <= 0);
    if (!fine) {
        printf("%s: %.17g, by weights %.17g, truth %.17g (in sizes); weights %.17g %.17g %.17g "
               "%.17g\n",
               what, answer, by_weights, truth, w[0], w[1], w[2], w[3]);
        for (int i = 0; i < 12; i++) printf("%.17g%s", x[i], i < 11 ? ", " : "\n");
        fail();
    }
    return brio__larger(error, weights_error);
}

/* A pair at all scales, turned in many ways. */
static double check_turned(BrioRandom *random, int kind, const double x[12], const char *what)
{
    static const double scales[] = {1, 0x1p-500, 0x1p+500, 0x1p-900, 0x1p+1000};
    double worst = 0, y[12];
    for (int turn = 0; turn < 8; turn++) {
        double q[4], m[9], length = 0;
        for (int k = 0; k < 4; k++) q[k] = turn ? brio__random_normal(random) : k == 0;
        for (int k = 0; k < 4; k++) length += q[k] * q[k];
        for (int k = 0; k < 4; k++) q[k] /= sqrt(length);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) { /* of the unit quaternion */
                int k = 3 - i - j;
                m[3 * i + j] = i == j ? 1 - 2 * (q[1 + (i + 1) % 3] * q[1 + (i + 1) % 3] +
                                                 q[1 + (i + 2) % 3] * q[1 + (i + 2) % 3])
                                      : 2 * (q[1 + i] * q[1 + j] +
                                             ((j - i + 3) % 3 == 1 ? -1 : 1) * q[0] * q[1 + k]);
            }
        for (int s = 0; s < (int)BRIO_COUNT(scales); s++) {
            for (int i = 0; i < 12; i++) {
                const double *p = x + i / 3 * 3;
                y[i] = scales[s] * (m[3 * (i % 3)] * p[0] + m[3 * (i % 3) + 1] * p[1] +
                                    m[3 * (i % 3) + 2] * p[2]);
            }
            worst = brio__larger(worst, check_distance(kind, y, what));
        }
    }
    return worst;
}

/* Which corners the closest points lie between: bit i for w_i != 0. */
static int features(int kind, const double x[12])
{
    double w[4];
    kind == VERTEX_FACE ? brio__closest_vertex_face(x, w) : brio__closest_edge_edge(x, w);
    return (w[0] != 0) | (w[1] != 0) << 1 | (w[2] != 0) << 2 | (w[3] != 0) << 3;
}

static const double off_the_border[] = {0, 1e-16, -1e-16, 1e-12, -1e-12, 1e-8, -1e-8, 1e-3, -1e-3};
static const double heights[] = {0, 1e-300, 1e-17, 1e-12, 1e-8, 1e-3, 1, 1e6};

/* Every closest feature of a triangle (its inside, three edges, three corners), from above each and
 * from near the borders between them, for a fair triangle, an obtuse one, slivers, and triangles of
 * no area. */
static void test_vertex_face_cases(void **state)
{
    (void)state;
    static const struct {
        double x, y;
        int features;
    } place[] = {{0.3, 0.2, 15}, {0.5, -1, 7},  {1, 1, 13},  {-0.5, 0.5, 11}, {-1, -1, 3},
                 {3, -0.5, 5},   {-0.5, 3, 9},  {0, 0, 0},   {1, 0, 0},       {0, 1, 0},
                 {0.5, 0, 0},    {0.5, 0.5, 0}, {0, 0.5, 0}, {-1, 0, 0},      {0, -1, 0}};
    BrioRandom random = {3};
    double worst = 0;
    int pairs = 0;
    for (int p = 0; p < (int)BRIO_COUNT(place); p++)
        for (int h = 0; h < (int)BRIO_COUNT(heights); h++)
            for (int o = 0; o < (int)BRIO_COUNT(off_the_border) * 2; o++) {
                double shift = off_the_border[o / 2];
                double x[12] = {place[p].x + (o % 2 ? 0 : shift),
                                place[p].y + (o % 2 ? shift : 0),
                                heights[h],
                                0,
                                0,
                                0,
                                1,
                                0,
                                0,
                                0,
                                1,
                                0};
                if (place[p].features)
                    assert_int_equal(features(VERTEX_FACE, x), place[p].features);
                for (int shape = 0; shape < 7; shape++, pairs++) {
                    double y[12];
                    memcpy(y, x, sizeof y);
                    if (shape == 1) y[9] = 5;                   /* obtuse */
                    if (shape == 2) y[10] = 1e-9, y[1] *= 1e-9; /* slivers */
                    if (shape == 3) y[10] = 1e-16, y[1] *= 1e-16, y[9] = 0.5;
                    if (shape == 4) y[9] = 0.25, y[10] = 0;  /* on a line */
                    if (shape == 5) y[9] = 1, y[10] = 0;     /* an edge of no length */
                    if (shape == 6) y[6] = y[9] = y[10] = 0; /* a point */
                    worst =
                        brio__larger(worst, check_turned(&random, VERTEX_FACE, y, "vertex-face"));
                }
            }
    printf("%d vertex-face pairs, turned in 8 ways at 5 scales: worst error %.2f u of the size\n",
           pairs, worst);
}

/* Every closest feature of two edges (inside or end of each), near the borders between them,
 * crossing at right angles, at small and at no angle, with edges of no length. */
static void test_edge_edge_cases(void **state)
{
    (void)state;
    static const double middles[] = {0, 0.5, 1, -0.5, -1, 2, -2}; /* of a, in half lengths */
    static const double angles[] = {1, 1e-3, 1e-7, 1e-9, 1e-12, 1e-16, 0, -1e-9};
    BrioRandom random = {4};
    double worst = 0;
    int pairs = 0, seen[16] = {0};
    for (int i = 0; i < (int)BRIO_COUNT(middles); i++)
        for (int j = 0; j < (int)BRIO_COUNT(middles); j++)
            for (int h = 0; h < (int)BRIO_COUNT(heights); h++)
                for (int o = 0; o < (int)BRIO_COUNT(off_the_border); o++)
                    for (int a = 0; a < (int)BRIO_COUNT(angles); a++) {
                        double along = middles[i] + off_the_border[o], across = middles[j];
                        double x[12] = {along - 1,  0, heights[h], along + 1,  0, heights[h], 0,
                                        across - 1, 0, 0,          across + 1, 0};
                        if (a > 0) { /* b nearly along a */
                            x[6] = across - 1, x[9] = across + 1;
                            x[7] = -angles[a], x[10] = angles[a];
                        }
                        if (a == 0) seen[features(EDGE_EDGE, x)]++;
                        if (i == 6 && j == 6 && a == 3) memcpy(x + 3, x, 3 * sizeof *x);
                        if (i == 6 && j == 5 && a == 3) memcpy(x + 9, x + 6, 3 * sizeof *x);
                        if (i == 6 && j == 4 && a == 3)
                            memcpy(x + 9, x + 6, 3 * sizeof *x), memcpy(x + 3, x, 3 * sizeof *x);
                        if (pairs++ % 4 == 0)
                            worst = brio__larger(worst,
                                                 check_turned(&random, EDGE_EDGE, x, "edge-edge"));
                        else
                            worst = brio__larger(worst, check_distance(EDGE_EDGE, x, "edge-edge"));
                    }
    for (int a = 1; a < 4; a++) /* a0, a1, both, with b0, b1, both */
        for (int b = 1; b < 4; b++) assert_true(seen[a | b << 2] > 0);
    printf("%d edge-edge pairs, every fourth turned in 8 ways at 5 scales: worst error %.2f u of "
           "the size\n",
           pairs, worst);
}

static void test_generated_distances(void **state)
{
    (void)state;
    BrioRandom random = {5};
    double worst = 0;
    for (int i = 0; i < 20000; i++) {
        double x0[12], x1[12];
        int kind = i % 2;
        make_motion(&random, kind, i / 2 % MOTION_COUNT, x0, x1);
        worst = brio__larger(worst, brio__larger(check_distance(kind, x0, "generated"),
                                                 check_distance(kind, x1, "generated")));
    }
    printf("40000 generated pairs: worst error %.2f u of the size\n", worst);
}

/* ---- motions ---------------------------------------------------------------------------- */

static void test_motions(void **state)
{
    (void)state;
    check_motions(26000, 10);
}

/* The step of the line search: what has to be kept is kept at 16 times up to it, at the positions
 * that a program would compute; and a step that was cut ends near what has to be kept. */
static void test_steps(void **state)
{
    (void)state;
    BrioRandom random = {6};
    int cut = 0, short_of_it = 0, count = 0;
    double nearest = INFINITY;
    for (int i = 0; i < 5200; i++) {
        double x[12], dx[12], w[4];
        int kind = i % 2;
        make_motion(&random, kind, i / 2 % MOTION_COUNT, x, dx);
        for (int k = 0; k < 12; k++) dx[k] -= x[k];
        double d0 =
            kind == VERTEX_FACE ? brio__closest_vertex_face(x, w) : brio__closest_edge_edge(x, w);
        double thickness = i / 4 % 2 ? 0 : d0 * brio__random(&random), keep = i / 8 % 2 ? 0.1 : 0.2;
        double min = thickness + keep * (d0 - thickness);
        double t = kind == VERTEX_FACE ? brio__ccd_vertex_face(x, dx, thickness, keep)
                                       : brio__ccd_edge_edge(x, dx, thickness, keep);
        assert_true(t >= 0 && t <= 1);
        real end = 0;
        for (int s = 1; s <= 16 && t > 0; s++) {
            double part = t * s / 16;
            real y[12];
            for (int k = 0; k < 12; k++) y[k] = x[k] + part * dx[k];
            end = square_distance(kind, y);
            if (!(end >= (real)min * min))
                print_error("pair %d: nearer than what has to be kept at %g of %g\n", i, part, t);
            assert_true(end >= (real)min * min);
            if (min > 0) nearest = fmin(nearest, sqrt((double)(end / ((real)min * min))));
        }
        count++;
        if (t > 0 && t < 1) {
            double allowed = min + 0.05 * (d0 - min);
            cut++;
            short_of_it += end > (real)allowed * allowed;
        }
    }
    printf("%d steps, %d cut, of these %d (%.2f %%) with more than 5 %% of the way left; nearest "
           "%.17g of what has to be kept\n",
           count, cut, short_of_it, 100.0 * short_of_it / cut, nearest);
    assert_true(short_of_it < 0.02 * cut);
    double x[12] = {0, 0, 1, -1, -1, 0, 2, -1, 0, -1, 2, 0};
    double dx[12] = {0, 0, -1};
    double toward[12] = {0, 0, -0.5};
    assert_true(fabs(brio__ccd_vertex_face(x, dx, 0, 0.1) - 0.9) < 1e-12);
    assert_true(fabs(brio__ccd_vertex_face(x, dx, 0.25, 0.2) - 0.6) < 1e-12);
    assert_true(brio__ccd_vertex_face(x, toward, 0, 0.1) == 1);
    assert_true(brio__ccd_vertex_face(x, dx, 1, 0.1) == 0);
    dx[2] = NAN;
    assert_true(brio__ccd_vertex_face(x, dx, 0, 0.1) == 0);
}

/* ---- published queries ------------------------------------------------------------------ */

typedef struct Query {
    double x0[12], x1[12];
    int truth;
} Query;

/* Eight rows a query: x, y, z as numerator, denominator each, then the truth. Returns the number of
 * queries. */
static int read_queries(const char *name, Query *query, int room)
{
    FILE *file = fopen(name, "r");
    if (!file) return 0;
    int rows = 0;
    char line[1024];
    for (; rows < 8 * room && fgets(line, sizeof line, file); rows++) {
        Query *q = &query[rows / 8];
        double *x = rows % 8 < 4 ? q->x0 + 3 * (rows % 8) : q->x1 + 3 * (rows % 8 - 4);
        char *at = line;
        for (int k = 0; k < 3; k++) {
            double above = strtod(at, &at), below_it = strtod(at + 1, &at);
            x[k] = above / below_it; /* exact: all are doubles */
            at++;
        }
        q->truth = atoi(at);
    }
    fclose(file);
    return rows / 8;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void test_published(void **state)
{
    (void)state;
    static const char *const kinds[] = {"vertex-face", "edge-edge"};
    enum { ROOM = 4096, AGAIN = 20 };
    const char *shared = getenv("BRIO_SHARED");
    char root[2048], name[4096], *scene[64];
    int scenes = 0, all = 0, missed = 0, wrong = 0, without = 0, disagree = 0;
    double seconds = 0;
    snprintf(root, sizeof root, "%s/cases/ccd", shared ? shared : BRIO_SOURCE_DIR "/../shared");
    DIR *folder = opendir(root);
    for (struct dirent *entry; folder && scenes < 64 && (entry = readdir(folder));)
        if (entry->d_name[0] != '.') assert_non_null(scene[scenes++] = strdup(entry->d_name));
    if (folder) closedir(folder);
    qsort(scene, (size_t)scenes, sizeof *scene, by_name);
    Query *query = malloc(ROOM * sizeof *query);
    assert_non_null(query);
    for (int s = 0; s < scenes; s++)
        for (int kind = 0; kind < 2; kind++) {
            snprintf(name, sizeof name, "%s/%s/%s", root, scene[s], kinds[kind]);
            int count = 0;
            folder = opendir(name);
            for (struct dirent *entry; folder && (entry = readdir(folder));)
                if (strstr(entry->d_name, ".csv")) {
                    snprintf(name, sizeof name, "%s/%s/%s/%s", root, scene[s], kinds[kind],
                             entry->d_name);
                    count += read_queries(name, query + count, ROOM - count);
                }
            if (folder) closedir(folder);
            if (count == 0) continue;
            int (*ask)(const double *, const double *, double *) =
                kind == VERTEX_FACE ? brio_ccd_vertex_face : brio_ccd_edge_edge;
            int missed_here = 0, wrong_here = 0, without_here = 0;
            for (int i = 0; i < count; i++) {
                double toi;
                real first;
                first_contact(kind, query[i].x0, query[i].x1, &first);
                int answer = ask(query[i].x0, query[i].x1, &toi);
                disagree += (first >= 0) != query[i].truth; /* a check of the reference itself */
                missed_here += query[i].truth && (!answer || (real)toi > first + 1e-28Q);
                without_here += !query[i].truth;
                wrong_here += !query[i].truth && answer;
            }
            double start = cpu_seconds(), sum = 0;
            for (int again = 0; again < AGAIN; again++)
                for (int i = 0; i < count; i++) {
                    double toi;
                    ask(query[i].x0, query[i].x1, &toi);
                    sum += toi;
                }
            double time = (cpu_seconds() - start) / AGAIN;
            assert_true(sum > 0);
            printf(
                "%-16s %-12s %5d queries: missed or late %d, false %d of %d (%.2f %%), %.2f us\n",
                scene[s], kinds[kind], count, missed_here, wrong_here, without_here,
                100.0 * wrong_here / BRIO_MAX(without_here, 1), 1e6 * time / count);
            all += count, missed += missed_here, wrong += wrong_here, without += without_here,
                seconds += time;
        }
    free(query);
    for (int s = 0; s < scenes; s++) free(scene[s]);
    if (all == 0) {
        printf("SKIPPED: published queries are not at %s\n", root);
        return;
    }
    printf("all %d queries: missed or late %d, false %d of %d without contact (%.2f %%), %.2f us "
           "each; the reference errs on %d\n",
           all, missed, wrong, without, 100.0 * wrong / without, 1e6 * seconds / all, disagree);
    assert_int_equal(missed, 0);
    assert_int_equal(disagree, 0);
    assert_true(wrong <= 0.04 * without);
    assert_true(!TIMED || seconds / all < 10e-6);
}

/* ---- any bit pattern -------------------------------------------------------------------- */

static double any_double(BrioRandom *random)
{
    static const double special[] = {
        0,       -0.0,     INFINITY, -INFINITY, NAN, DBL_MIN, DBL_TRUE_MIN,
        DBL_MAX, -DBL_MAX, 1e300,    -1e300,    1,   1e-300};
    if (below(random, 4) == 0) return special[below(random, (int)BRIO_COUNT(special))];
    if (below(random, 4) == 0) return ldexp(between(random, -1, 1), below(random, 2000) - 1000);
    uint64_t bits =
        (uint64_t)(brio__random(random) * 0x1p32) << 32 | (uint64_t)(brio__random(random) * 0x1p32);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void test_any_bits(void **state)
{
    (void)state;
    BrioRandom random = {7};
    int finite_pairs = 0, separate = 0;
    for (int i = 0; i < 100000; i++) {
        double x0[12], x1[12], w[4], toi = -1;
        bool finite = true, only_finite = below(&random, 4);
        for (int k = 0; k < 12; k++) {
            do x0[k] = any_double(&random);
            while (only_finite && !isfinite(x0[k]));
            do x1[k] = below(&random, 4) ? any_double(&random) : x0[k];
            while (only_finite && !isfinite(x1[k]));
            finite = finite && isfinite(x0[k]) && isfinite(x1[k]);
        }
        for (int kind = 0; kind < 2; kind++) {
            int answer = kind == VERTEX_FACE ? brio_ccd_vertex_face(x0, x1, &toi)
                                             : brio_ccd_edge_edge(x0, x1, &toi);
            double d = kind == VERTEX_FACE ? brio__closest_vertex_face(x0, w)
                                           : brio__closest_edge_edge(x0, w);
            double t = kind == VERTEX_FACE ? brio__ccd_vertex_face(x0, x1, 0, 0.1)
                                           : brio__ccd_edge_edge(x0, x1, 0, 0.1);
            assert_true((answer == 0 || answer == 1) && toi >= 0 && toi <= 1 && t >= 0 && t <= 1);
            if (finite)
                assert_true(d >= 0 && w[0] >= 0 && w[3] <= 0);
            else
                assert_true(answer == 1 && toi == 0);
            separate += !answer;
            finite_pairs += finite;
        }
    }
    printf("100000 x 2 pairs of any bits, %d finite, %d of these without contact\n", finite_pairs,
           separate);
    assert_true(separate > 0);
}

/* Queries that lie one after the other in memory: what follows the twelve numbers of one is not its
 * affair. */
static void test_packed(void **state)
{
    (void)state;
    double x0[24], x1[24], toi = -1;
    for (int i = 0; i < 24; i++) x0[i] = x1[i] = i < 12 ? (i * i) % 7 : NAN;
    x0[1] = x1[1] = 20; /* far above */
    assert_int_equal(brio_ccd_vertex_face(x0, x1, &toi), 0);
    assert_true(toi == 1);
    x0[4] = x1[4] = 20;
    assert_int_equal(brio_ccd_edge_edge(x0, x1, &toi), 0);
    assert_true(toi == 1);
    assert_int_equal(brio_ccd_vertex_face(x0 + 12, x1 + 12, &toi), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vertex_face_cases),
        cmocka_unit_test(test_edge_edge_cases),
        cmocka_unit_test(test_generated_distances),
        cmocka_unit_test(test_motions),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_any_bits),
        cmocka_unit_test(test_packed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
