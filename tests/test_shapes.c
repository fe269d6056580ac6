/* Die, capsule, torus, chain link, stairs, figures: closed and outward, of the right genus, with
 * volumes that converge to what they should be, and tets of good shape. Sizes of meshes that
 * published scenes use. */
#include "emulated.h"
#include "enclosed.h"
#include "memory.h"
#include "mesh/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

/* Values by name, pairs that end in NULL; the rest are the table's defaults. */
static BrioMesh *make(const char *shape, ...)
{
    double values[BRIO_MAX_VALUES];
    BrioMesh *mesh;
    BrioError error = {0};
    va_list list;
    brio_fields_defaults(brio_shape_fields(shape), values);
    va_start(list, shape);
    for (const char *name; (name = va_arg(list, const char *));) {
        double value[3];
        value[0] = va_arg(list, double);
        if (!strcmp(name, "size3") || !strcmp(name, "cells3")) {
            for (int k = 1; k < 3; k++) value[k] = va_arg(list, double);
            name = name[0] == 's' ? "size" : "cells";
        }
        assert_int_equal(brio_fields_set(brio_shape_fields(shape), values, name, value, NULL),
                         BRIO_OK);
    }
    va_end(list);
    if (brio_mesh_shape(shape, values, &mesh, &error) != BRIO_OK)
        fail_msg("%s: %s", shape, error.message);
    return mesh;
}

static double distance(const double *a, const double *b)
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

static int compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* Vertices - edges + triangles of a closed surface with consistent orientation: 2 for a
 * sphere, 0 for a torus. */
static int64_t characteristic(const BrioMesh *mesh)
{
    int64_t count = 3 * mesh->triangle_count, used = 0;
    int64_t *forward = malloc((size_t)count * sizeof *forward);
    int64_t *backward = malloc((size_t)count * sizeof *backward);
    bool *seen = calloc((size_t)mesh->vertex_count, sizeof *seen);
    for (int64_t i = 0; i < count; i++) {
        int64_t a = mesh->triangle[i], b = mesh->triangle[i / 3 * 3 + (i + 1) % 3];
        forward[i] = a << 32 | b;
        backward[i] = b << 32 | a;
        used += !seen[a];
        seen[a] = true;
    }
    qsort(forward, (size_t)count, sizeof *forward, compare);
    qsort(backward, (size_t)count, sizeof *backward, compare);
    for (int64_t i = 0; i < count; i++)
        assert_true(forward[i] == backward[i] && (i == 0 || forward[i] != forward[i - 1]));
    free(forward);
    free(backward);
    free(seen);
    return used - count / 2 + mesh->triangle_count;
}

/* Longest edge cubed over the volume, 1 for a regular tet: the worst, and the mean. */
static double worst_shape(const BrioMesh *mesh, double *mean)
{
    double worst = 0;
    *mean = 0;
    for (int64_t t = 0; t < mesh->tet_count; t++) {
        const double *p[4];
        double longest = 0;
        for (int i = 0; i < 4; i++) p[i] = mesh->x + 3 * mesh->tet[4 * t + i];
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < i; j++) longest = brio__larger(longest, distance(p[i], p[j]));
        double volume = brio__tet_volume6(p[0], p[1], p[2], p[3]) / 6;
        double shape = longest * longest * longest / (6 * sqrt(2) * volume);
        assert_true(volume > 0);
        worst = brio__larger(worst, shape);
        *mean += shape / (double)mesh->tet_count;
    }
    return worst;
}

/* A solid with two resolutions and its surface: genus, volumes of second order, quality. */
static void check_solid(const char *name, BrioMesh *coarse, BrioMesh *fine, BrioMesh *surface,
                        double exact, int64_t euler, double max)
{
    double error[2], mean, worst[2];
    for (int i = 0; i < 2; i++) {
        BrioMesh *mesh = i ? fine : coarse;
        assert_int_equal(brio__mesh_check_solid(mesh, NULL), BRIO_OK);
        worst[i] = worst_shape(mesh, &mean);
        assert_int_equal(brio_mesh_surface(mesh, NULL), BRIO_OK);
        assert_int_equal(characteristic(mesh), euler);
        error[i] = enclosed_volume(mesh) / exact - 1;
    }
    assert_int_equal(surface->tet_count, 0);
    assert_int_equal(characteristic(surface), euler);
    assert_int_equal(surface->triangle_count, coarse->triangle_count);
    assert_int_equal(surface->vertex_count - surface->edge_count + surface->triangle_count, euler);
    assert_true(fabs(enclosed_volume(surface) / enclosed_volume(coarse) - 1) < 1e-13);
    print_message("%-8s %lld and %lld tets: volume off by %.4f and %.4f (ratio %.2f), worst shapes "
                  "%.2f and %.2f, mean %.2f; surface of %lld vertices, %lld triangles\n",
                  name, (long long)coarse->tet_count, (long long)fine->tet_count, error[0],
                  error[1], error[0] / error[1], worst[0], worst[1], mean,
                  (long long)surface->vertex_count, (long long)surface->triangle_count);
    /* inscribed; second order */
    assert_true(error[0] < 0 && error[0] / error[1] > 3.6 && error[0] / error[1] < 4.4);
    assert_true(worst[0] < max && worst[1] < max);
    brio_mesh_free(coarse);
    brio_mesh_free(fine);
    brio_mesh_free(surface);
}

static void dice(void **unused)
{
    (void)unused;
    const double a = 0.1, radius[] = {0.01, 0.02, 0.035, 0.05};
    for (int i = 0; i < 4; i++) {
        double r = radius[i];
        double b = a - 2 * r;
        double exact = b * b * b + 6 * b * b * r + 3 * M_PI * r * r * b + 4 * M_PI / 3 * r * r * r;
        /* as many as give cells in the round part whose number doubles */
        double cells = i == 2 ? 10 : 5;
        check_solid("die", make("die", "size", a, "radius", r, "cells", cells, NULL),
                    make("die", "size", a, "radius", r, "cells", 2 * cells, NULL),
                    make("die-surface", "size", a, "radius", r, "cells", cells, NULL), exact, 2, 5);
    }
    /* much finer rounding than cells, and the coarsest of all */
    for (int cells = 1; cells <= 4; cells++) {
        BrioMesh *mesh = make("die", "size", a, "radius", 0.002, "cells", (double)cells, NULL);
        double mean, worst = worst_shape(mesh, &mean);
        print_message("die of %d cells, radius 0.02 of its size: worst shape %.2f\n", cells, worst);
        assert_true(worst < 5);
        assert_int_equal(mesh->tet_count, 48 * cells * cells * cells);
        brio_mesh_free(mesh);
    }
}

/* A die that is nearly a ball, and a capsule that is hardly longer than one: no layer of flat
 * tets where little is left between the round parts. */
static void nearly_balls(void **unused)
{
    (void)unused;
    const double left[] = {1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.01, 0.05, 0.1, 0.2};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        for (int cells = 1; cells <= 5; cells++) {
            BrioMesh *mesh[] = {make("die", "size", 0.1, "radius", 0.05 * (1 - left[i]), "cells",
                                     (double)cells, NULL),
                                make("capsule", "radius", 0.05, "height", 0.1 * (1 + left[i]),
                                     "cells", (double)cells, NULL)};
            for (int k = 0; k < 2; k++) {
                double mean;
                assert_int_equal(brio__mesh_check_solid(mesh[k], NULL), BRIO_OK);
                assert_true(worst_shape(mesh[k], &mean) < 5);
                brio_mesh_free(mesh[k]);
            }
        }
}

/* Every vertex of the surface lies on the rounded cube: r from the nearest point of the inner
 * cube. */
static void die_is_round(void **unused)
{
    (void)unused;
    BrioMesh *mesh = make("die-surface", NULL);
    double off = 0;
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        double q[3];
        for (int k = 0; k < 3; k++) q[k] = fmin(fmax(mesh->x[3 * v + k], -0.03), 0.03);
        off = brio__larger(off, fabs(distance(q, mesh->x + 3 * v) - 0.02));
    }
    assert_true(off < 1e-15);
    brio_mesh_free(mesh);
}

static void capsules(void **unused)
{
    (void)unused;
    const double r = 0.25;
    for (int i = 0; i < 2; i++) {
        /* the second is a ball */
        double height = i ? 0.5 : 1;
        double exact = M_PI * r * r * (height - 2 * r) + 4 * M_PI / 3 * r * r * r;
        check_solid("capsule", make("capsule", "height", height, "cells", 4.0, NULL),
                    make("capsule", "height", height, "cells", 8.0, NULL),
                    make("capsule-surface", "height", height, "cells", 4.0, NULL), exact, 2, 5);
    }
}

static void tori(void **unused)
{
    (void)unused;
    const double exact = 2 * M_PI * M_PI * 0.3 * 0.01;
    check_solid("torus", make("torus", NULL), make("torus", "segments", 48.0, "rings", 4.0, NULL),
                make("torus-surface", NULL), exact, 0, 6);
}

static void chain_links(void **unused)
{
    (void)unused;
    const double wire = 0.005;
    const double radius = 0.0225 - wire;
    const double straight = 0.07 - 0.045;
    const double exact = M_PI * wire * wire * (2 * straight + 2 * M_PI * radius);
    double error[2];
    for (int i = 0; i < 2; i++) {
        BrioMesh *mesh =
            make("chain-link", "bend", 12.0 * (1 << i), "around", 12.0 * (1 << i), NULL);
        assert_int_equal(characteristic(mesh), 0);
        error[i] = enclosed_volume(mesh) / exact - 1;
        brio_mesh_free(mesh);
    }
    BrioMesh *mesh = make("chain-link", NULL);
    double low[3] = {1, 1, 1}, high[3] = {-1, -1, -1};
    for (int64_t k = 0; k < 3 * mesh->vertex_count; k++) {
        low[k % 3] = fmin(low[k % 3], mesh->x[k]);
        high[k % 3] = brio__larger(high[k % 3], mesh->x[k]);
    }
    print_message("chain link: volume off by %.4f and %.4f (ratio %.2f); %lld vertices, %lld "
                  "triangles, %.4f x %.4f x %.4f m\n",
                  error[0], error[1], error[0] / error[1], (long long)mesh->vertex_count,
                  (long long)mesh->triangle_count, high[0] - low[0], high[1] - low[1],
                  high[2] - low[2]);
    assert_true(error[0] < 0 && fabs(error[0] / error[1] - 4) < 0.4);
    assert_int_equal(characteristic(mesh), 0);
    assert_true(enclosed_volume(mesh) > 0 && fabs(high[0] - low[0] - 0.07) < 1e-15 &&
                fabs(high[2] - low[2] - 0.045) < 1e-15);
    brio_mesh_free(mesh);
    mesh = make("chain-link", "width", 0.07, NULL); /* round */
    assert_int_equal(characteristic(mesh), 0);
    assert_int_equal(mesh->vertex_count, 12 * 6);
    brio_mesh_free(mesh);
}

static void steps(void **unused)
{
    (void)unused;
    for (int count = 1; count <= 7; count += 3) {
        BrioMesh *mesh = make("stairs", "count", (double)count, NULL);
        double exact = 0.15 * 0.25 * count * (count + 1) / 2;
        print_message("stairs of %d: %lld vertices, %lld triangles, volume %.6f of %.6f m3\n",
                      count, (long long)mesh->vertex_count, (long long)mesh->triangle_count,
                      enclosed_volume(mesh), exact);
        assert_int_equal(characteristic(mesh), 2);
        assert_true(fabs(enclosed_volume(mesh) - exact) < 1e-13);
        brio_mesh_free(mesh);
    }
}

/* The least and the largest dihedral angle of all tets, in degrees. */
static void dihedral_angles(const BrioMesh *mesh, double *min, double *max)
{
    *min = 180;
    *max = 0;
    for (int64_t t = 0; t < mesh->tet_count; t++) {
        double normal[4][3];
        for (int i = 0; i < 4; i++) { /* inward, of the side across corner i */
            const double *p = mesh->x + 3 * mesh->tet[4 * t + i];
            const double *a = mesh->x + 3 * mesh->tet[4 * t + (i + 1) % 4];
            const double *b = mesh->x + 3 * mesh->tet[4 * t + (i + 2) % 4];
            const double *c = mesh->x + 3 * mesh->tet[4 * t + (i + 3) % 4], origin[3] = {0};
            double height = 0;
            for (int k = 0; k < 3; k++) {
                int u = (k + 1) % 3, v = (k + 2) % 3;
                normal[i][k] = (b[u] - a[u]) * (c[v] - a[v]) - (b[v] - a[v]) * (c[u] - a[u]);
            }
            for (int k = 0; k < 3; k++) height += normal[i][k] * (p[k] - a[k]);
            double scale = copysign(1 / distance(normal[i], origin), height);
            for (int k = 0; k < 3; k++) normal[i][k] *= scale;
        }
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < i; j++) {
                double cosine = -normal[i][0] * normal[j][0] - normal[i][1] * normal[j][1] -
                                normal[i][2] * normal[j][2];
                double angle = acos(fmin(fmax(cosine, -1), 1)) * (180 / M_PI);
                *min = fmin(*min, angle);
                *max = brio__larger(*max, angle);
            }
    }
}

enum { FIGURES = 5 };
static const char *const figure_name[FIGURES] = {"bunny", "hippo", "head", "horn", "cactus"};

/* Balls, closed and outward, whose volume converges with second order; the angles that the paper
 * guarantees. */
static void figures(void **unused)
{
    (void)unused;
    static const double coarsest[FIGURES] = {16, 8, 9, 12, 16};
    for (int f = 0; f < FIGURES; f++) {
        double volume[3], min = 180, max = 0;
        for (int i = 0; i < 3; i++) {
            BrioMesh *mesh = make("figure", "of", (double)f, "cells", coarsest[f] * (1 << i), NULL);
            double sum = 0, small, large;
            assert_int_equal(brio__mesh_check_solid(mesh, NULL), BRIO_OK);
            for (int64_t t = 0; t < mesh->tet_count; t++) {
                const int32_t *v = mesh->tet + 4 * t;
                sum += brio__tet_volume6(mesh->x + 3 * v[0], mesh->x + 3 * v[1], mesh->x + 3 * v[2],
                                         mesh->x + 3 * v[3]) /
                       6;
            }
            dihedral_angles(mesh, &small, &large);
            min = fmin(min, small);
            max = brio__larger(max, large);
            assert_int_equal(brio_mesh_surface(mesh, NULL), BRIO_OK);
            assert_int_equal(characteristic(mesh), 2);
            volume[i] = enclosed_volume(mesh);
            /* as a sum of many equal terms is rounded */
            assert_true(fabs(sum / volume[i] - 1) < 1.2e-16 * (double)mesh->tet_count);
            if (i == 2)
                print_message("%-7s %lld vertices, %lld tets; ", figure_name[f],
                              (long long)mesh->vertex_count, (long long)mesh->tet_count);
            brio_mesh_free(mesh);
        }
        double ratio = (volume[1] - volume[0]) / (volume[2] - volume[1]);
        print_message("volume %.5f %.5f %.5f (differences %.2f : 1), angles %.1f to %.1f degrees\n",
                      volume[0], volume[1], volume[2], ratio, min, max);
        assert_true(ratio > 2.5 && ratio < 6);
        assert_true(min > 10.7 && max < 164.8);
    }
}

/* Every resolution up to 24 is good or refused with a sentence; the size is that asked for; the
 * same twice, and in proportion. */
static void figures_at_any_resolution(void **unused)
{
    (void)unused;
    int refusals = 0;
    for (int f = 0; f < FIGURES; f++)
        for (int cells = 4; cells <= 24; cells += EMULATED ? 5 : 1) {
            double values[BRIO_MAX_VALUES] = {f, 0.5, cells}, min, max;
            char text[200];
            BrioMesh *mesh;
            BrioError error = {0};
            if (brio_mesh_shape("figure", values, &mesh, &error) != BRIO_OK) {
                snprintf(text, sizeof text,
                         "cells = %d is too coarse for the %s: limbs would fall off or grow "
                         "together; use more",
                         cells, figure_name[f]);
                assert_string_equal(error.message, text);
                assert_true(cells < 15 && !mesh);
                refusals++;
                continue;
            }
            assert_int_equal(brio__mesh_check_solid(mesh, NULL), BRIO_OK);
            dihedral_angles(mesh, &min, &max);
            assert_true(min > 10.7 && max < 164.8);
            assert_int_equal(brio_mesh_surface(mesh, NULL), BRIO_OK);
            assert_int_equal(characteristic(mesh), 2);
            double low = 1, high = -1;
            for (int64_t v = 0; v < mesh->vertex_count; v++) {
                low = fmin(low, mesh->x[3 * v + 1]);
                high = brio__larger(high, mesh->x[3 * v + 1]);
            }
            assert_true(low > -1e-12 && low < 0.5 / cells && high < 0.5 + 1e-12);
            if (cells >= 15) assert_true(high > 0.5 - 0.5 / cells);
            brio_mesh_free(mesh);
        }
    print_message("%d of %d refused\n", refusals, FIGURES * 21);
    assert_true(refusals < 15);
    BrioMesh *once = make("figure", NULL);
    BrioMesh *again = make("figure", NULL);
    BrioMesh *large = make("figure", "size", 1000.0, NULL);
    assert_int_equal(once->tet_count, large->tet_count);
    assert_memory_equal(once->x, again->x, 3 * (size_t)once->vertex_count * sizeof *once->x);
    assert_memory_equal(once->tet, again->tet, 4 * (size_t)once->tet_count * sizeof *once->tet);
    for (int64_t k = 0; k < 3 * once->vertex_count; k++)
        assert_true(fabs(large->x[k] - 1000 * once->x[k]) < 1e-9);
    brio_mesh_free(once);
    brio_mesh_free(again);
    brio_mesh_free(large);
}

/* Vertices of [Dinev2018, table 1]: hippo 2387, bunny 4497, cactus 5261, dog 28390, bunny 34844. */
static void published_figures(void **unused)
{
    (void)unused;
    static const double wanted[][3] = {
        {1, 11, 2387}, {0, 24, 4497}, {4, 32, 5261}, {2, 32, 28390}, {0, 50, 34844}};
    for (int i = 0; i < 5; i++) {
        BrioMesh *mesh = make("figure", "of", wanted[i][0], "cells", wanted[i][1], NULL);
        print_message("%s of %g cells: %lld vertices, %lld tets; published %g vertices\n",
                      figure_name[(int)wanted[i][0]], wanted[i][1], (long long)mesh->vertex_count,
                      (long long)mesh->tet_count, wanted[i][2]);
        assert_true(fabs((double)mesh->vertex_count / wanted[i][2] - 1) < 0.1);
        brio_mesh_free(mesh);
    }
}

/* Published scenes [You2026, table 1]: a ball of 1.6k vertices and 7.1k tets, a cube of 1.3k and
 * 6.0k, a bar of 4.8k and 24k, a ball's surface of 0.6k vertices and 1.3k triangles. */
static void published_sizes(void **unused)
{
    (void)unused;
    BrioMesh *mesh[] = {make("ball", "cells", 7.0, NULL),
                        make("box", "cells3", 10.0, 10.0, 10.0, "tets", 6.0, NULL),
                        make("bar", "cells", 40.0, "across", 10.0, "tets", 6.0, NULL),
                        make("sphere", "subdivisions", 3.0, NULL)};
    const int64_t wanted[][2] = {{1600, 7100}, {1300, 6000}, {4800, 24000}, {600, 1300}};
    for (int i = 0; i < 4; i++) {
        int64_t elements = mesh[i]->tet_count ? mesh[i]->tet_count : mesh[i]->triangle_count;
        print_message("%lld vertices, %lld elements; published %lld, %lld\n",
                      (long long)mesh[i]->vertex_count, (long long)elements,
                      (long long)wanted[i][0], (long long)wanted[i][1]);
        assert_true(fabs((double)mesh[i]->vertex_count / (double)wanted[i][0] - 1) < 0.15 &&
                    fabs((double)elements / (double)wanted[i][1] - 1) < 0.05);
        brio_mesh_free(mesh[i]);
    }
}

static void refused(const char *shape, const char *name, double value, const char *text)
{
    double values[BRIO_MAX_VALUES];
    BrioMesh *mesh;
    BrioError error = {0};
    brio_fields_defaults(brio_shape_fields(shape), values);
    assert_int_equal(brio_fields_set(brio_shape_fields(shape), values, name, &value, NULL),
                     BRIO_OK);
    assert_int_equal(brio_mesh_shape(shape, values, &mesh, &error), BRIO_ERROR_INPUT);
    assert_null(mesh);
    assert_string_equal(error.message, text);
}

static void impossible(void **unused)
{
    (void)unused;
    refused("die", "radius", 0.06, "radius = 0.06 m is more than half of size = 0.1 m");
    refused("capsule-surface", "height", 0.4,
            "height = 0.4 m is less than twice the radius = 0.25 m");
    refused("torus", "segments", 7, "segments = 7 of a torus must be even");
    refused("torus-surface", "minor", 0.3,
            "minor = 0.3 m must be less than major = 0.3 m: the torus has a hole");
    refused("chain-link", "width", 0.08, "width = 0.08 m is more than length = 0.07 m");
    refused("chain-link", "thickness", 0.03,
            "thickness = 0.03 m closes the link: it must be less than half of width = 0.045 m");
}

/* Each allocation fails once. */
static void little_memory(void **unused)
{
    (void)unused;
    static const char *const names[] = {"die",    "die-surface",   "capsule-surface",
                                        "torus",  "torus-surface", "chain-link",
                                        "stairs", "figure"};
    for (size_t i = 0; i < BRIO_COUNT(names); i++) {
        BrioStatus status = BRIO_ERROR_MEMORY;
        int64_t k = 0;
        for (; status != BRIO_OK; k++) {
            BrioMesh *mesh;
            BrioError error = {0};
            Memory memory;
            memory_start(&memory, k, false);
            status = brio_mesh_shape(names[i], NULL, &mesh, &error);
            assert_true(status == BRIO_OK ||
                        (status == BRIO_ERROR_MEMORY && !mesh && error.message[0]));
            brio_mesh_free(mesh);
            assert_int_equal(memory.live, 0);
        }
        assert_true(k > 3);
    }
    brio_set_allocator(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dice),
        cmocka_unit_test(nearly_balls),
        cmocka_unit_test(die_is_round),
        cmocka_unit_test(capsules),
        cmocka_unit_test(tori),
        cmocka_unit_test(chain_links),
        cmocka_unit_test(steps),
        cmocka_unit_test(published_sizes),
        cmocka_unit_test(impossible),
        cmocka_unit_test(little_memory),
        cmocka_unit_test(figures),
        cmocka_unit_test(figures_at_any_resolution),
        cmocka_unit_test(published_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
