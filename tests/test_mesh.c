/* Meshes: making, checking, surface, edges, adjacency, shapes, readers. */
#include "enclosed.h"
#include "memory.h"
#include "mesh/mesh.h"
#include "mesh/readers.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define PI 3.14159265358979323846

/* ---- helpers ---------------------------------------------------------------------------- */

static char directory[] = "/tmp/brio_test_mesh_XXXXXX";

static const char *in_directory(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static void write_file(const char *name, const char *text, size_t size)
{
    FILE *file = fopen(in_directory(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

static char last_log[2048];

static void keep_log(void *user, BrioLogLevel level, const char *message)
{
    (void)user;
    if (level >= BRIO_LOG_WARNING) snprintf(last_log, sizeof last_log, "%s", message);
}

/* Values by position, the rest of the table's defaults. */
static BrioMesh *make(const char *shape, int count, ...)
{
    double values[BRIO_MAX_VALUES];
    BrioMesh *mesh;
    BrioError error;
    brio_fields_defaults(brio_shape_fields(shape), values);
    va_list arguments;
    va_start(arguments, count);
    for (int i = 0; i < count; i++) values[i] = va_arg(arguments, double);
    va_end(arguments);
    if (brio_mesh_shape(shape, values, &mesh, &error)) fail_msg("%s: %s", shape, error.message);
    return mesh;
}

static double tet_volume(const BrioMesh *mesh, int64_t t)
{
    const int32_t *v = mesh->tet + 4 * t;
    const double *x = mesh->x;
    return brio__tet_volume6(x + 3 * v[0], x + 3 * v[1], x + 3 * v[2], x + 3 * v[3]) / 6;
}

static double volume(const BrioMesh *mesh)
{
    double sum = 0;
    for (int64_t t = 0; t < mesh->tet_count; t++) sum += tet_volume(mesh, t);
    return sum;
}

static void normal(const BrioMesh *mesh, int64_t i, double n[3]) /* its length is twice the area */
{
    const int32_t *v = mesh->triangle + 3 * i;
    double a[3], b[3];
    for (int k = 0; k < 3; k++) {
        a[k] = mesh->x[3 * v[1] + k] - mesh->x[3 * v[0] + k];
        b[k] = mesh->x[3 * v[2] + k] - mesh->x[3 * v[0] + k];
    }
    for (int k = 0; k < 3; k++)
        n[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static double length3(const double *v) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static double area(const BrioMesh *mesh)
{
    double sum = 0, n[3];
    for (int64_t i = 0; i < mesh->triangle_count; i++) {
        normal(mesh, i, n);
        sum += length3(n) / 2;
    }
    return sum;
}

static int compare_pairs(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* Closed and consistently oriented: with every directed edge, the opposite one occurs too, each
 * once. */
static void assert_closed(const BrioMesh *mesh)
{
    int64_t count = 3 * mesh->triangle_count;
    int64_t *forward = malloc((size_t)count * sizeof *forward);
    int64_t *backward = malloc((size_t)count * sizeof *backward);
    for (int64_t i = 0; i < count; i++) {
        int64_t a = mesh->triangle[i], b = mesh->triangle[i / 3 * 3 + (i + 1) % 3];
        forward[i] = a << 32 | b;
        backward[i] = b << 32 | a;
    }
    qsort(forward, (size_t)count, sizeof *forward, compare_pairs);
    qsort(backward, (size_t)count, sizeof *backward, compare_pairs);
    for (int64_t i = 0; i < count; i++) {
        assert_int_equal(forward[i], backward[i]);
        if (i) assert_true(forward[i] != forward[i - 1]);
    }
    free(forward);
    free(backward);
}

/* The least dihedral angle of all tets, in degrees. */
static double min_angle(const BrioMesh *mesh)
{
    double min = 180;
    for (int64_t t = 0; t < mesh->tet_count; t++) {
        /* inward normal of the face opposite to each corner: the gradient of its coordinate */
        double n[4][3];
        for (int i = 0; i < 4; i++) {
            const int32_t *v = mesh->tet + 4 * t;
            const double *p = mesh->x + 3 * v[(i + 1) % 4], *q = mesh->x + 3 * v[(i + 2) % 4],
                         *r = mesh->x + 3 * v[(i + 3) % 4], *o = mesh->x + 3 * v[i];
            double a[3], b[3], side = 0;
            for (int k = 0; k < 3; k++) a[k] = q[k] - p[k], b[k] = r[k] - p[k];
            for (int k = 0; k < 3; k++) {
                n[i][k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
                side += n[i][k] * (o[k] - p[k]);
            }
            for (int k = 0; k < 3; k++) n[i][k] *= (side > 0 ? 1 : -1);
        }
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < i; j++) {
                double dot = n[i][0] * n[j][0] + n[i][1] * n[j][1] + n[i][2] * n[j][2];
                min = fmin(min, acos(-dot / (length3(n[i]) * length3(n[j]))) * 180 / PI);
            }
    }
    return min;
}

/* Every vertex mirrored in the plane through 0 across `axis` is a vertex, to the last bit. */
static void assert_mirror(const BrioMesh *mesh, int axis)
{
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        double p[3] = {mesh->x[3 * i], mesh->x[3 * i + 1], mesh->x[3 * i + 2]};
        p[axis] = -p[axis];
        bool found = false;
        for (int64_t j = 0; j < mesh->vertex_count && !found; j++) {
            const double *q = mesh->x + 3 * j;
            found = p[0] == q[0] && p[1] == q[1] && p[2] == q[2];
        }
        if (!found) fail_msg("vertex %d has no mirror image across axis %d", (int)i, axis);
    }
}

/* Sum of e e^T over all edges of the elements, relative to a third of its trace, minus the
 * identity: largest entry. */
static double anisotropy(const BrioMesh *mesh)
{
    int64_t *start;
    int32_t *neighbour;
    double sum[3][3] = {{0}}, worst = 0;
    assert_int_equal(brio__mesh_adjacency(mesh, &start, &neighbour), BRIO_OK);
    for (int64_t i = 0; i < mesh->vertex_count; i++)
        for (int64_t k = start[i]; k < start[i + 1]; k++)
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    sum[a][b] += (mesh->x[3 * neighbour[k] + a] - mesh->x[3 * i + a]) *
                                 (mesh->x[3 * neighbour[k] + b] - mesh->x[3 * i + b]);
    double third = (sum[0][0] + sum[1][1] + sum[2][2]) / 3;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) worst = brio__larger(worst, fabs(sum[a][b] / third - (a == b)));
    brio__free(start);
    brio__free(neighbour);
    return worst;
}

/* Positive tets, all vertices used, every inner face in exactly two tets, a closed outward surface
 * around exactly the volume of the tets: conforming, without overlaps or gaps. */
static void assert_solid(BrioMesh *mesh, int64_t characteristic)
{
    BrioError error = {0};
    if (brio__mesh_check_solid(mesh, &error)) fail_msg("%s", error.message);
    if (brio__mesh_surface(mesh, &error)) fail_msg("%s", error.message);
    assert_closed(mesh);
    double inside = volume(mesh);
    assert_true(fabs(enclosed_volume(mesh) - inside) < 1e-12 * inside);
    /* Euler characteristic V - E + F - C, which a crack or a hole would change. */
    int64_t *start;
    int32_t *neighbour;
    assert_int_equal(brio__mesh_adjacency(mesh, &start, &neighbour), BRIO_OK);
    int64_t faces = (4 * mesh->tet_count + mesh->triangle_count) / 2;
    int64_t edges = start[mesh->vertex_count] / 2;
    assert_int_equal(mesh->vertex_count - edges + faces - mesh->tet_count, characteristic);
    brio__free(start);
    brio__free(neighbour);
}

static void assert_good_solid(BrioMesh *mesh) { assert_solid(mesh, 1); } /* a ball, bent */

/* ---- mesh ------------------------------------------------------------------------------- */

static void test_create(void **state)
{
    (void)state;
    BrioMesh *mesh;
    BrioError error = {0};
    assert_int_equal(brio__mesh_create(5, 2, 3, 4, &mesh, &error), BRIO_OK);
    for (int i = 0; i < 15; i++) assert_true(mesh->x[i] == 0);
    assert_int_equal(mesh->edge_kind[3], 0);
    brio_mesh_free(mesh);
    brio_mesh_free(NULL);
    assert_int_equal(brio__mesh_create(0, 0, 0, 0, &mesh, &error), BRIO_OK);
    brio_mesh_free(mesh);

    assert_int_equal(brio__mesh_create((int64_t)1 << 31, 0, 0, 0, &mesh, &error),
                     BRIO_ERROR_TOO_LARGE);
    assert_null(mesh);
    assert_string_equal(
        error.message,
        "a mesh of 2147483648 vertices is too large: at most 2147483647 can be numbered; "
        "use a coarser mesh");
    error = (BrioError){0};
    assert_int_equal(brio__mesh_create(-1, 0, 0, 0, &mesh, &error), BRIO_ERROR_ARGUMENT);
    error = (BrioError){0};
    setenv("BRIO_MEMORY_LIMIT", "1e6", 1);
    assert_int_equal(brio__mesh_create(10, 832, 0, 0, &mesh, &error), BRIO_ERROR_TOO_LARGE);
    assert_string_equal(
        error.message,
        "a mesh of 10 vertices, 832 tets, 0 triangles and 0 edges needs about 0.001 GB to "
        "simulate, and 0.001 GB are available; use a coarser mesh");
    assert_int_equal(brio__mesh_create(10, 831, 0, 0, &mesh, NULL), BRIO_OK);
    brio_mesh_free(mesh);
    assert_int_equal(
        brio_mesh_shape("box", (const double[]){1, 1, 1, 1e5, 1e5, 1e5, 6}, &mesh, &error),
        BRIO_ERROR_TOO_LARGE);
    assert_non_null(strstr(error.message, "use a coarser mesh"));
    unsetenv("BRIO_MEMORY_LIMIT");
}

static void assert_refused(BrioStatus (*check)(const BrioMesh *, BrioError *), const BrioMesh *mesh,
                           const char *message)
{
    BrioError error = {0};
    assert_true(check(mesh, &error) < 0);
    assert_string_equal(error.message, message);
}

static void test_checks(void **state)
{
    (void)state;
    double x[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 5, 5, 5};
    int32_t tet[] = {0, 1, 2, 3}, triangle[] = {0, 1, 2}, edge[] = {0, 1};
    BrioMesh mesh = {.vertex_count = 4,
                     .tet_count = 1,
                     .triangle_count = 1,
                     .edge_count = 1,
                     .x = x,
                     .tet = tet,
                     .triangle = triangle,
                     .edge = edge};
    assert_int_equal(brio__mesh_check_solid(&mesh, NULL), BRIO_OK);
    mesh.vertex_count = 5;
    assert_refused(brio__mesh_check_solid, &mesh,
                   "vertex 4 (counted from 0) belongs to no tet and so has no mass; "
                   "remove such vertices from the mesh");
    assert_refused(brio__mesh_check_springs, &mesh,
                   "vertex 2 (counted from 0) belongs to no edge and so has no mass, "
                   "nor do others; remove such vertices from the mesh");
    mesh.vertex_count = 4;
    tet[2] = 3, tet[3] = 2;
    assert_refused(brio__mesh_check_solid, &mesh,
                   "tet 0 (vertices 0 1 3 2, all counted from 0) is inverted: volume "
                   "-0.166667; swap two of its vertices or repair the mesh");
    tet[2] = 2, tet[3] = 3;
    x[11] = 1e-10;
    assert_refused(brio__mesh_check_solid, &mesh,
                   "tet 0 (vertices 0 1 2 3, all counted from 0) is flat: volume "
                   "1.66667e-11 with a longest edge of 1.41421; remove it or repair the "
                   "mesh");
    x[11] = NAN;
    assert_refused(brio__mesh_check, &mesh,
                   "coordinate z of vertex 3 (counted from 0) is nan: coordinates must be "
                   "finite and at most 1e+90");
    x[11] = 1;
    triangle[1] = 4;
    assert_refused(brio__mesh_check, &mesh,
                   "triangle 0 names vertex 4, but the vertices are numbered 0 to 3");
    triangle[1] = 2;
    assert_refused(brio__mesh_check, &mesh,
                   "triangle 0 names vertex 2 twice (all counted from 0); remove the triangle");
    triangle[1] = 1;
    x[3] = 0;
    mesh.tet_count = 0;
    assert_refused(brio__mesh_check_springs, &mesh,
                   "edge 0 (vertices 0 1, all counted from 0) has no length; merge its "
                   "two vertices");
    assert_refused(brio__mesh_check_solid, &mesh,
                   "a solid needs tets, and the mesh has none; fill its surface with tets "
                   "(tetgen and gmsh do that), or use springs");
    mesh.edge_count = 0;
    assert_refused(brio__mesh_check_springs, &mesh, "springs need edges, and the mesh has none");
    mesh.edge_count = 3;
    mesh.edge = NULL;
    assert_refused(brio__mesh_check, &mesh, "the mesh announces 3 edges but contains none");
}

static void test_surface(void **state)
{
    (void)state;
    BrioMesh *mesh;
    assert_int_equal(brio__mesh_create(5, 2, 0, 0, &mesh, NULL), BRIO_OK);
    memcpy(mesh->x, (double[]){0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1}, 15 * sizeof(double));
    memcpy(mesh->tet, (int32_t[]){0, 1, 2, 3, 1, 2, 3, 4}, 8 * sizeof(int32_t));
    assert_int_equal(brio_mesh_surface(mesh, NULL), BRIO_OK);
    assert_int_equal(mesh->triangle_count, 6);
    assert_closed(mesh);
    assert_true(fabs(enclosed_volume(mesh) - volume(mesh)) < 1e-15);

    /* The same tet twice, and a third on the face that they share. */
    BrioError error = {0};
    BrioMesh *overlap;
    mesh->tet_count = 1;
    assert_int_equal(brio_mesh_surface(mesh, &error), BRIO_OK);
    assert_int_equal(brio__mesh_create(5, 3, 0, 0, &overlap, NULL), BRIO_OK);
    memcpy(overlap->x, mesh->x, 15 * sizeof(double));
    memcpy(overlap->tet, (int32_t[]){0, 1, 2, 3, 0, 1, 2, 3, 1, 2, 3, 4}, 12 * sizeof(int32_t));
    assert_int_equal(brio_mesh_surface(overlap, &error), BRIO_ERROR_INPUT);
    assert_string_equal(
        error.message,
        "the face of vertices 1 2 3 belongs to more than two tets, among them 0, 1 and 2 (all "
        "counted from 0); remove the tets that occur twice or overlap");
    overlap->tet[0] = 17;
    assert_int_equal(brio_mesh_surface(overlap, NULL), BRIO_ERROR_INPUT);
    assert_int_equal(brio_mesh_surface(NULL, NULL), BRIO_ERROR_ARGUMENT);
    brio_mesh_free(overlap);

    /* Without tets, triangles stay. */
    mesh->tet_count = 0;
    int32_t *kept = mesh->triangle;
    assert_int_equal(brio_mesh_surface(mesh, NULL), BRIO_OK);
    assert_ptr_equal(mesh->triangle, kept);
    brio_mesh_free(mesh);
}

static void test_edges_and_adjacency(void **state)
{
    (void)state;
    BrioMesh *mesh;
    assert_int_equal(brio__mesh_create(7, 0, 2, 0, &mesh, NULL), BRIO_OK);
    memcpy(mesh->triangle, (int32_t[]){3, 1, 0, 1, 3, 4}, 6 * sizeof(int32_t));
    assert_int_equal(brio__mesh_edges_from_triangles(mesh), BRIO_OK);
    const int32_t edges[] = {0, 1, 0, 3, 1, 3, 1, 4, 3, 4};
    assert_int_equal(mesh->edge_count, 5);
    assert_memory_equal(mesh->edge, edges, sizeof edges);
    assert_int_equal(mesh->edge_kind[4], BRIO_EDGE_STRUCTURAL);
    int32_t *kept = mesh->edge;
    assert_int_equal(brio__mesh_edges_from_triangles(mesh), BRIO_OK);
    assert_ptr_equal(mesh->edge, kept);

    int64_t *start;
    int32_t *neighbour;
    mesh->edge[9] = 5; /* 3-5 instead of 3-4, which the triangle has too */
    assert_int_equal(brio__mesh_adjacency(mesh, &start, &neighbour), BRIO_OK);
    const int64_t starts[] = {0, 2, 5, 5, 9, 11, 12, 12};
    const int32_t neighbours[] = {1, 3, 0, 3, 4, 0, 1, 4, 5, 1, 3, 3};
    assert_memory_equal(start, starts, sizeof starts);
    assert_memory_equal(neighbour, neighbours, sizeof neighbours);
    brio__free(start);
    brio__free(neighbour);
    brio_mesh_free(mesh);
}

/* ---- shapes ----------------------------------------------------------------------------- */

static void test_registry(void **state)
{
    (void)state;
    BrioMesh *mesh;
    BrioError error;
    int count = 0;
    for (; brio__shape_at(count); count++) {
        const BrioShape *shape = brio__shape_at(count);
        assert_ptr_equal(brio__shape(shape->name), shape);
        assert_true(strlen(shape->summary) > 10);
        assert_true(!strcmp(shape->kind, "solid") || !strcmp(shape->kind, "springs"));
        int values = 0;
        for (const BrioField *field = shape->fields; field->name; field++) {
            values += brio__field_width(field);
            assert_true(field->default_value >= field->min && field->default_value <= field->max);
            assert_true(field->summary && field->summary[strlen(field->summary) - 1] == '.');
        }
        assert_true(values <= BRIO_MAX_VALUES);
        if (brio_mesh_shape(shape->name, NULL, &mesh, &error))
            fail_msg("%s: %s", shape->name, error.message);
        assert_int_equal(!strcmp(shape->kind, "solid"), mesh->tet_count > 0);
        if (mesh->tet_count)
            assert_solid(mesh, strcmp(shape->name, "torus") ? 1 : 0);
        else
            assert_int_equal(brio__mesh_check_springs(mesh, NULL), BRIO_OK);
        BrioMesh *again; /* the same bits */
        assert_int_equal(brio_mesh_shape(shape->name, NULL, &again, NULL), BRIO_OK);
        assert_memory_equal(mesh->x, again->x, (size_t)mesh->vertex_count * 24);
        if (mesh->tet_count)
            assert_memory_equal(mesh->tet, again->tet, (size_t)mesh->tet_count * 16);
        brio_mesh_free(again);
        brio_mesh_free(mesh);
    }
    assert_int_equal(count, 18);
    assert_null(brio__shape_at(-1));
    assert_null(brio_shape_fields("bux"));
    assert_int_equal(brio_mesh_shape("bux", NULL, &mesh, &error), BRIO_ERROR_ARGUMENT);
    assert_string_equal(error.message, "no shape \"bux\"; did you mean \"box\"?");
    assert_int_equal(brio_mesh_shape("dodecahedron", NULL, &mesh, &error), BRIO_ERROR_ARGUMENT);
    assert_string_equal(
        error.message,
        "no shape \"dodecahedron\"; there are box, bar, ball, cylinder, rod, die, capsule, torus, "
        "figure, grid, disk, "
        "sphere, die-surface, capsule-surface, torus-surface, chain-link, stairs, line");
    assert_int_equal(brio_mesh_shape(NULL, NULL, &mesh, &error), BRIO_ERROR_ARGUMENT);
    assert_int_equal(brio_mesh_shape("box", (const double[]){1, 1, 1, 2, 2.5, 2, 5}, &mesh, &error),
                     BRIO_ERROR_INPUT);
    assert_string_equal(error.message, "cells[1] = 2.5 is not an integer");
    assert_int_equal(brio_mesh_shape("box", (const double[]){1, 1, 1, 2, 0, 2, 5}, &mesh, &error),
                     BRIO_ERROR_INPUT);
    assert_int_equal(brio_mesh_shape("box", (const double[]){1, -1, 1, 2, 2, 2, 5}, &mesh, &error),
                     BRIO_ERROR_INPUT);
    assert_int_equal(brio_mesh_shape("box", (const double[]){1, NAN, 1, 2, 2, 2, 5}, &mesh, &error),
                     BRIO_ERROR_INPUT);
    assert_null(mesh);
}

static void test_box(void **state)
{
    (void)state;
    for (int tets = 5; tets <= 6; tets++) {
        BrioMesh *mesh = make("box", 7, 0.3, 0.5, 0.7, 3., 4., 5., (double)tets);
        assert_int_equal(mesh->vertex_count, 4 * 5 * 6);
        assert_int_equal(mesh->tet_count, tets * 60);
        assert_good_solid(mesh);
        assert_true(fabs(volume(mesh) - 0.3 * 0.5 * 0.7) < 1e-15);
        assert_true(fabs(area(mesh) - 2 * (0.15 + 0.21 + 0.35)) < 1e-14);
        assert_int_equal(mesh->triangle_count, 4 * (12 + 15 + 20));
        for (int axis = 0; axis < 3; axis++) assert_mirror(mesh, axis);
        const double corner[3] = {0.15, 0.25, 0.35}; /* the ends are exact */
        for (int k = 0; k < 3; k++) assert_true(mesh->x[k] == -corner[k]);
        assert_true(mesh->x[3] == 0.3 * (-1. / 6) && mesh->x[4] == -0.25); /* x runs fastest */
        brio_mesh_free(mesh);

        /* The angles of the patterns: 5 tets have acos(1/sqrt(3)), 6 tets 45 degrees. */
        mesh = make("box", 7, 1., 1., 1., 2., 2., 2., (double)tets);
        assert_true(fabs(min_angle(mesh) - (tets == 5 ? acos(1 / sqrt(3)) * 180 / PI : 45)) < 1e-9);
        brio_mesh_free(mesh);

        /* No direction is preferred: exactly for five tets; for six when the cells are even in
         * number, otherwise the n diagonals that have no partner in a plane remain. */
        for (double n = 1; n <= 8; n++) {
            mesh = make("box", 7, 1., 1., 1., n, n, n, (double)tets);
            double bound = tets == 5 || fmod(n, 2) == 0 ? 1e-12 : 1 / (n * n);
            if (!(anisotropy(mesh) < bound))
                fail_msg("%d tets, %g cells: %g", tets, n, anisotropy(mesh));
            assert_good_solid(mesh);
            brio_mesh_free(mesh);
        }
    }
    BrioMesh *bar = make("bar", 5, 2., 0.1, 0.2, 10., 3.);
    assert_good_solid(bar);
    assert_true(fabs(volume(bar) - 0.04) < 1e-15);
    assert_mirror(bar, 1);
    assert_mirror(bar, 2);
    double min = 1, max = 0;
    for (int64_t i = 0; i < bar->vertex_count; i++) {
        min = fmin(min, bar->x[3 * i]);
        max = brio__larger(max, bar->x[3 * i]);
        assert_true(fabs(bar->x[3 * i + 1]) <= 0.05 && fabs(bar->x[3 * i + 2]) <= 0.1);
    }
    assert_true(min == 0 && max == 2);
    brio_mesh_free(bar);
}

static void test_ball(void **state)
{
    (void)state;
    double last_gap = 1, exact = 4 * PI / 3 * 8;
    for (int n = 1; n <= 12; n++) {
        BrioMesh *mesh = make("ball", 2, 2., (double)n);
        assert_int_equal(mesh->tet_count, 20 * n * n * n);
        assert_good_solid(mesh);
        assert_int_equal(mesh->triangle_count, 20 * n * n);
        /* inscribed, converging with the square of the size */
        double gap = 1 - volume(mesh) / exact;
        assert_true(gap > 0 && gap < last_gap && gap < 0.56 / (n * n));
        assert_true(fabs(area(mesh) / (16 * PI) - 1) < 0.4 / (n * n));
        last_gap = gap;
        if (!(min_angle(mesh) > 35))
            fail_msg("%d layers: least dihedral angle %g", n, min_angle(mesh));
        double smallest = INFINITY, largest = 0;
        for (int64_t t = 0; t < mesh->tet_count; t++) {
            smallest = fmin(smallest, tet_volume(mesh, t));
            largest = brio__larger(largest, tet_volume(mesh, t));
        }
        if (!(largest / smallest < 3))
            fail_msg("%d layers: volumes differ by a factor of %g", n, largest / smallest);
        for (int64_t i = 0; i < 3 * mesh->triangle_count; i++) /* the surface is the sphere */
            assert_true(fabs(length3(mesh->x + 3 * mesh->triangle[i]) - 2) < 1e-15 * 4);
        if (n <= 5)
            for (int axis = 0; axis < 3; axis++) assert_mirror(mesh, axis);
        /* Only the octahedra on the axes of eight faces, n/3 each, are cut along a direction
         * without symmetry. */
        assert_true(anisotropy(mesh) < 0.06 / (n * n));
        brio_mesh_free(mesh);
    }
}

static void test_cylinder(void **state)
{
    (void)state;
    for (int rings = 1; rings <= 6; rings++) {
        double sides = 6 * rings, polygon = sides / 2 * sin(2 * PI / sides);
        BrioMesh *mesh = make("cylinder", 4, 0.5, 1.0, (double)rings, 2. * rings);
        assert_int_equal(mesh->tet_count, 3 * 6 * rings * rings * 2 * rings);
        assert_good_solid(mesh);
        assert_true(fabs(volume(mesh) - polygon * 0.25) < 1e-13);
        double mantle = sides * 2 * 0.5 * sin(PI / sides);
        assert_true(fabs(area(mesh) - (2 * polygon * 0.25 + mantle)) < 1e-13);
        if (rings <= 3)
            for (int axis = 0; axis < 3; axis++) assert_mirror(mesh, axis);
        if (!(min_angle(mesh) > 30))
            fail_msg("%d rings: least dihedral angle %g", rings, min_angle(mesh));
        brio_mesh_free(mesh);
    }
    BrioMesh *rod = make("rod", 4, 3., 0.1, 30., 1.);
    assert_good_solid(rod);
    assert_true(fabs(volume(rod) - 3 * 0.01 * 3 * sin(PI / 3)) < 1e-14);
    for (int64_t i = 0; i < rod->vertex_count; i++)
        assert_true(rod->x[3 * i] >= 0 && rod->x[3 * i] <= 3 &&
                    hypot(rod->x[3 * i + 1], rod->x[3 * i + 2]) < 0.1 + 1e-15);
    assert_mirror(rod, 1);
    assert_mirror(rod, 2);
    brio_mesh_free(rod);
}

static void test_surfaces(void **state)
{
    (void)state;
    BrioMesh *mesh = make("grid", 6, 3., 2., 6., 4., 1., 1.);
    assert_int_equal(mesh->vertex_count, 7 * 5);
    assert_int_equal(mesh->triangle_count, 48);
    int64_t kinds[3] = {0};
    for (int64_t e = 0; e < mesh->edge_count; e++) {
        const double *a = mesh->x + 3 * mesh->edge[2 * e], *b = mesh->x + 3 * mesh->edge[2 * e + 1];
        static const double expected[3] = {0.5, 0.70710678118654757, 1};
        assert_true(fabs(hypot(a[0] - b[0], a[2] - b[2]) - expected[mesh->edge_kind[e]]) < 1e-15);
        kinds[mesh->edge_kind[e]]++;
    }
    assert_int_equal(kinds[BRIO_EDGE_STRUCTURAL], 6 * 5 + 7 * 4);
    assert_int_equal(kinds[BRIO_EDGE_SHEAR], 48);
    assert_int_equal(kinds[BRIO_EDGE_BEND], 5 * 5 + 7 * 3);
    assert_true(fabs(area(mesh) - 6) < 1e-14);
    double n[3];
    for (int64_t i = 0; i < mesh->triangle_count; i++) {
        normal(mesh, i, n);
        assert_true(n[1] > 0 && n[0] == 0 && n[2] == 0);
    }
    assert_mirror(mesh, 0);
    assert_mirror(mesh, 2);
    assert_int_equal(brio__mesh_check_springs(mesh, NULL), BRIO_OK);
    brio_mesh_free(mesh);
    mesh = make("grid", 6, 3., 2., 1., 1., 0., 0.);
    assert_int_equal(mesh->edge_count, 4);
    brio_mesh_free(mesh);
    mesh = make("grid", 6, 3., 2., 1., 1., 1., 1.);
    assert_int_equal(mesh->edge_count, 6);
    brio_mesh_free(mesh);

    for (int rings = 1; rings < 7; rings++) {
        mesh = make("disk", 2, 2., (double)rings);
        assert_int_equal(mesh->vertex_count, 1 + 3 * rings * (rings + 1));
        assert_int_equal(mesh->triangle_count, 6 * rings * rings);
        assert_int_equal(mesh->vertex_count - mesh->edge_count + mesh->triangle_count, 1);
        double sides = 6 * rings;
        assert_true(fabs(area(mesh) - 4 * sides / 2 * sin(2 * PI / sides)) < 1e-13);
        for (int64_t i = 0; i < mesh->triangle_count; i++) {
            normal(mesh, i, n);
            assert_true(n[1] > 0);
        }
        assert_mirror(mesh, 0);
        assert_mirror(mesh, 2);
        brio_mesh_free(mesh);
    }

    for (int s = 0; s < 5; s++) {
        mesh = make("sphere", 2, 0.5, (double)s);
        int64_t n2 = (int64_t)1 << 2 * s;
        assert_int_equal(mesh->vertex_count, 10 * n2 + 2);
        assert_int_equal(mesh->triangle_count, 20 * n2);
        assert_int_equal(mesh->edge_count, 30 * n2);
        assert_closed(mesh);
        double gap = 1 - enclosed_volume(mesh) / (PI / 6);
        assert_true(gap > 0 && gap < 0.56 / (double)n2);
        if (s < 4)
            for (int axis = 0; axis < 3; axis++) assert_mirror(mesh, axis);
        if (!(anisotropy(mesh) < 1e-13)) fail_msg("sphere %d: anisotropy %g", s, anisotropy(mesh));
        brio_mesh_free(mesh);
    }

    mesh = make("line", 2, 0.7, 30.);
    assert_int_equal(mesh->vertex_count, 31);
    assert_int_equal(mesh->edge_count, 30);
    assert_true(mesh->x[0] == 0 && mesh->x[90] == 0.7);
    for (int i = 0; i < 30; i++)
        assert_true(mesh->edge[2 * i] == i && mesh->edge[2 * i + 1] == i + 1);
    brio_mesh_free(mesh);
}

/* ---- readers: what is right ------------------------------------------------------------- */

static BrioMesh *read_text(const char *name, const char *text)
{
    BrioMesh *mesh;
    BrioError error;
    char sentence[2048];
    write_file(name, text, strlen(text));
    if (brio_mesh_read(in_directory(name), &mesh, &error)) {
        brio_error_text(&error, sentence, sizeof sentence);
        fail_msg("%s", sentence);
    }
    return mesh;
}

static const double two_tets_x[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1.5};
static const int32_t two_tets[] = {0, 1, 2, 3, 1, 2, 3, 4};

static void assert_two_tets(BrioMesh *mesh, int64_t triangles, int64_t edges)
{
    assert_int_equal(mesh->vertex_count, 5);
    assert_memory_equal(mesh->x, two_tets_x, sizeof two_tets_x);
    assert_int_equal(mesh->tet_count, 2);
    assert_memory_equal(mesh->tet, two_tets, sizeof two_tets);
    assert_int_equal(mesh->triangle_count, triangles);
    assert_int_equal(mesh->edge_count, edges);
    brio_mesh_free(mesh);
}

static void test_msh(void **state)
{
    (void)state;
    assert_two_tets(
        read_text("a.msh",
                  "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"$Nodes\"\n"
                  "$EndPhysicalNames\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1.5\n"
                  "$EndNodes\n$Elements\n5\n1 15 2 0 1 1\n2 1 2 0 1 1 2\n3 2 2 0 1 1 2 3\n"
                  "4 4 2 0 1 1 2 3 4\n5 4 3 0 1 7 2 3 4 5\n$EndElements\n"),
        1, 1);
    /* Tags in any order, with gaps, huge: the order of the file counts. Windows line ends, a byte
     * order mark. */
    assert_two_tets(
        read_text("a.MSH",
                  "\xef\xbb\xbf$MeshFormat\r\n2.2 0 8\r\n$EndMeshFormat\r\n$Nodes\r\n5\r\n"
                  "900000000000 0 0 0\r\n7 1 0 0\r\n1000 0 1 0\r\n1 0 0 1\r\n12 1 1 1.5\r\n"
                  "$EndNodes\r\n$Elements\r\n2\r\n1 4 0 900000000000 7 1000 1\r\n"
                  "2 4 0 7 1000 1 12\r\n$EndElements\r\n"),
        0, 0);
    assert_two_tets(
        read_text("b.msh",
                  "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n1 1 1 1\n1 0 0 0 0\n"
                  "$EndEntities\n$Nodes\n3 5 1 9\n0 1 0 1\n1\n0 0 0\n2 1 1 2\n2\n9\n"
                  "1 0 0 0.5 0.25\n0 1 0 0.5 0.25\n3 1 0 2\n4\n5\n0 0 1\n1 1 1.5\n$EndNodes\n"
                  "$Elements\n4 5 1 5\n0 1 15 1\n1 1\n1 1 1 1\n2 1 2\n2 1 2 1\n3 1 2 9\n"
                  "3 1 4 2\n4 1 2 9 4\n5 2 9 4 5\n$EndElements\n"),
        1, 1);
}

/* Physical groups are sets of vertices, each once; groups of one name are one. `expected`: name and
 * vertices of each. */
static void assert_groups(BrioMesh *mesh, const char *expected)
{
    char text[200] = "";
    const BrioVertexGroups *groups = mesh->groups;
    for (int g = 0; groups && g < groups->count; g++) {
        size_t used = strlen(text);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s:", groups->name[g]);
        for (int64_t k = groups->start[g]; k < groups->start[g + 1]; k++)
            used += (size_t)snprintf(text + used, sizeof text - used, " %d", groups->vertex[k]);
        snprintf(text + used, sizeof text - used, "; ");
    }
    assert_string_equal(text, expected);
    brio_mesh_free(mesh);
}

#define NODES                                                                                      \
    "$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1.5\n$EndNodes\n$Elements\n5\n1 15 2 7 " \
    "1 "                                                                                           \
    "5\n2 1 2 0 1 1 2\n3 2 2 4 1 1 2 3\n4 2 2 5 1 3 2 4\n5 4 2 1 1 1 2 3 4\n$EndElements\n"

static void test_msh_groups(void **state)
{
    (void)state;
    static const char *const two = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
    char text[1000];
    snprintf(text, sizeof text, "%s%s", two,
             "$PhysicalNames\n5\n3 1 \"soft body\"\n2 4 \"foot\"\n2 5 \"foot\"\n0 7 \"tip\"\n"
             "1 4 \"empty\"\n$EndPhysicalNames\n" NODES);
    assert_groups(read_text("a.msh", text), "foot: 0 1 2 3; soft body: 0 1 2 3; tip: 4; ");
    /* names that cannot be read: a mesh without groups */
    snprintf(text, sizeof text, "%s%s", two,
             "$PhysicalNames\n2\n3 1 soft\n2 4 \"foot\"\n$EndPhysicalNames\n" NODES);
    assert_groups(read_text("b.msh", text), "");
    snprintf(text, sizeof text, "%s%s", two,
             "$PhysicalNames\n900000000\n3 1 \"soft\"\n$EndPhysicalNames\n" NODES);
    assert_groups(read_text("c.msh", text), "");
    /* version 4: by entities, of which one is in two groups */
    assert_groups(
        read_text("d.msh",
                  "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n2 4 \"foot\"\n2 9 "
                  "\"side\"\n3 1 \"all\"\n$EndPhysicalNames\n$Entities\n1 0 2 1\n1 0 0 0 0\n"
                  "1 0 0 0 1 1 1 2 4 9 0\n2 0 0 0 1 1 1 1 9 0\n1 0 0 0 1 1 1 1 1 2 1 2\n"
                  "$EndEntities\n$Nodes\n1 5 1 5\n3 1 0 5\n1\n2\n3\n4\n5\n0 0 0\n1 0 0\n0 1 0\n"
                  "0 0 1\n1 1 1.5\n$EndNodes\n$Elements\n3 3 1 3\n2 1 2 1\n1 1 2 3\n2 2 2 1\n"
                  "2 2 3 5\n3 1 4 1\n3 1 2 3 4\n$EndElements\n"),
        "all: 0 1 2 3; foot: 0 1 2; side: 0 1 2 4; ");
}

static void test_medit(void **state)
{
    (void)state;
    assert_two_tets(
        read_text(
            "a.mesh",
            "# by hand\nMeshVersionFormatted 2\nDimension\n3\n\nVertices\n5\n0 0 0 1\n1 0 0 1 # x\n"
            "0 1 0 1\n0 0 1 1\n1 1 15e-1 1\nCorners 2 1 2\nTriangles\n1\n1 2 3 0\n"
            "RequiredVertices\n0\nNormals\n1\n-1e0 .5 +2.\nTetrahedra\n2\n1 2 3 4 0\n2 3 4 5 0\n"
            "Edges\n1\n1 2 0\nQuadrilaterals\n0\nEnd\n"),
        1, 1);
}

static void test_tetgen(void **state)
{
    (void)state;
    const char *node1 =
        "# comment\n5 3 1 1\n1 0 0 0 0.1 1\n2 1 0 0 0 1\n3 0 1 0 0 1 # here too\n\n4 0 0 1 0 1\n"
        "5 1 1 1.5 0 1\n";
    const char *node0 = "5 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n4 1 1 1.5\n";
    const char *ele1 = "2 4 1\n1 1 2 3 4 9\n2 2 3 4 5 9\n";
    write_file("t.ele", ele1, strlen(ele1));
    assert_two_tets(read_text("t.node", node1), 0, 0);
    write_file("u.node", node0, strlen(node0));
    assert_two_tets(read_text("u.ele", "2 4 0\n0 0 1 2 3\n1 1 2 3 4"), 0, 0);

    BrioMesh *mesh;
    BrioError error;
    write_file("alone.node", node0, strlen(node0));
    assert_int_equal(brio_mesh_read(in_directory("alone.node"), &mesh, &error), BRIO_ERROR_FILE);
    assert_string_equal(
        error.message,
        "there is no such file (a TetGen mesh is a pair of files, .node and .ele, side by "
        "side)");
    assert_string_equal(error.file, in_directory("alone.ele"));
}

static void test_obj(void **state)
{
    (void)state;
    BrioMesh *mesh = read_text(
        "a.obj", "# cube corner\nmtllib x.mtl\no thing\nv 0 0 0\nv 1 0 0 1.0\nvn 0 0 1\nvt 0 0\n"
                 "f 1/1/1 2/1 4//1 3\nv 1 1 0 0.5 0.5 0.5\nv 0 1 0\nusemtl m\ns off\n"
                 "f -4 -3 \\\n  -2\nl 1 2 3 4\np 1\n");
    assert_int_equal(mesh->vertex_count, 4);
    assert_int_equal(mesh->triangle_count, 3);
    assert_memory_equal(mesh->triangle, ((int32_t[]){0, 1, 3, 0, 3, 2, 0, 1, 2}),
                        9 * sizeof(int32_t));
    assert_int_equal(mesh->edge_count, 3);
    assert_memory_equal(mesh->edge, ((int32_t[]){0, 1, 1, 2, 2, 3}), 6 * sizeof(int32_t));
    brio_mesh_free(mesh);
    /* groups of one name are one, which a face without a name is not in */
    mesh = read_text("b.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\ng hem\nf 2 3 1\ng top\nf 3 1 2\n"
                              "o hem\nf 1 3 2\ng a\nf 2 1 3\ng top\nf 3 2 1\n");
    assert_int_equal(mesh->faces->group_count, 3);
    assert_string_equal(mesh->faces->group[0], "hem");
    assert_string_equal(mesh->faces->group[1], "top");
    assert_string_equal(mesh->faces->group[2], "a");
    assert_memory_equal(mesh->faces->face_group, ((int32_t[]){-1, 0, 1, 0, 2, 1}),
                        6 * sizeof(int32_t));
    brio_mesh_free(mesh);
    /* a backslash joins lines in OBJ only, and not at the end of a comment */
    static const char *const files[][2] = {
        {"a.obj", "v 0 0 0 # C:\\a\\\nv 1 0 \\\r\n0\n# C:\\a\\\nv 0 1 0\nf 1 2 3\n"},
        {"a.off", "OFF\n3 1 0\n0 0 0 # C:\\a\\\n1 0 0\n0 1 0\n3 0 1 2\n"},
        {"a.ply", "ply\nformat ascii 1.0\ncomment C:\\a\\\nelement vertex 3\nproperty float x\n"
                  "property float y\nproperty float z\nelement face 1\nproperty list uchar int "
                  "vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"},
        {"a.vtk", "# vtk DataFile Version 3.0\nC:\\a\\\nASCII\nDATASET POLYDATA\nPOINTS 3 float\n"
                  "0 0 0 1 0 0 0 1 0\nPOLYGONS 1 4\n3 0 1 2\n"}};
    for (size_t i = 0; i < BRIO_COUNT(files); i++) {
        mesh = read_text(files[i][0], files[i][1]);
        assert_int_equal(mesh->vertex_count, 3);
        assert_int_equal(mesh->triangle_count, 1);
        brio_mesh_free(mesh);
    }
}

static void test_off(void **state)
{
    (void)state;
    BrioMesh *mesh = read_text(
        "a.off", "OFF # a square and an edge\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n\n# half\n0 1 0\n"
                 "4 0 1 2 3 255 0 0\n2 1 3\n");
    assert_int_equal(mesh->triangle_count, 2);
    assert_memory_equal(mesh->triangle, ((int32_t[]){0, 1, 2, 0, 2, 3}), 6 * sizeof(int32_t));
    assert_int_equal(mesh->edge_count, 1);
    brio_mesh_free(mesh);
    mesh = read_text("b.off", "COFF 3 1 0\n0 0 0 1 1 1 1\n1 0 0 1 1 1 1\n0 1 0 0 0 0 1\n3 0 1 2");
    assert_int_equal(mesh->vertex_count, 3);
    assert_int_equal(mesh->triangle_count, 1);
    brio_mesh_free(mesh);
}

static void test_orientation(void **state)
{
    (void)state;
    brio_set_log(keep_log, NULL);
    last_log[0] = 0;
    BrioMesh *mesh = read_text(
        "n.mesh",
        "MeshVersionFormatted 1 Dimension 3 Vertices 5 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 1 1 1 0 "
        "Tetrahedra 2 1 2 4 3 0 2 3 5 4 0");
    assert_non_null(strstr(
        last_log, "all tets are oriented negatively; the last two vertices of each were swapped"));
    assert_int_equal(brio__mesh_check_solid(mesh, NULL), BRIO_OK);
    brio_mesh_free(mesh);
    last_log[0] = 0;
    mesh = read_text(
        "m.mesh",
        "MeshVersionFormatted 1 Dimension 3 Vertices 5 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 1 1 1 0 "
        "Tetrahedra 2 1 2 3 4 0 2 3 5 4 0");
    assert_string_equal(last_log, "");
    assert_refused(brio__mesh_check_solid, mesh,
                   "tet 1 (vertices 1 2 4 3, all counted from 0) is inverted: volume "
                   "-0.333333; swap two of its vertices or repair the mesh");
    brio_mesh_free(mesh);
    brio_set_log(NULL, NULL);
}

/* ---- readers: what is wrong ------------------------------------------------------------- */

#define MSH2 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define MSH4 "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
#define NODES2 "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n" /* lines 4 to 10 */
#define MEDIT "MeshVersionFormatted 1\nDimension 3\n"
/* lines 3 to 8 */
#define MEDIT_VERTICES MEDIT "Vertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"

static const struct Wrong {
    const char *file, *text;
    int line, column;
    const char *message;
} wrong[] = {
    /* Gmsh */
    {"a.msh", "Nodes\n", 1, 1, "expected \"$MeshFormat\", found \"Nodes\""},
    {"a.msh", "   \n\n", 3, 1, "expected \"$MeshFormat\", found the end of the file"},
    {"a.msh", "$NOD\n3\n", 1, 1,
     "this is version 1 of Gmsh's format; brio reads 2.2 and 4.1: convert it with \"gmsh "
     "old.msh -save -format msh41 -o new.msh\""},
    {"a.msh", "$MeshFormat\n3 0 8\n", 2, 1,
     "version \"3\" of Gmsh's format is not read; brio reads 2.2 and 4.1: convert "
     "the file with \"gmsh old.msh -save -format msh41 -o new.msh\""},
    {"a.msh", "$MeshFormat\n2.2 0 8\n", 3, 1,
     "expected \"$EndMeshFormat\", found the end of the file"},
    {"a.msh", MSH2, 4, 1, "the file has no section $Nodes"},
    {"a.msh", MSH2 NODES2, 11, 1, "the file has no section $Elements"},
    {"a.msh", MSH2 "$Elements\n", 4, 1, "the section $Nodes must come before $Elements"},
    {"a.msh", MSH2 NODES2 NODES2, 11, 1, "a second section $Nodes"},
    {"a.msh", MSH2 "nodes\n", 4, 1, "expected a section such as \"$Nodes\", found \"nodes\""},
    {"a.msh", MSH2 "$Periodic\n1\n", 4, 1,
     "the section $Periodic is not closed: there is no \"$EndPeriodic\""},
    {"a.msh",
     MSH2 "$No\x80"
          "des\n",
     4, 1, "the name of this section is not readable text"},
    {"a.msh", MSH2 "$Nodes\n1000000000000000\n1 0 0 0\n", 5, 1,
     "the number of nodes is 1000000000000000, but only 9 bytes of the file are left, too few for "
     "so many: the file is "
     "cut off, or the number is wrong"},
    {"a.msh", MSH2 "$Nodes\n-4\n1 0 0 0\n", 5, 1,
     "the number of nodes is -4; it cannot be negative"},
    {"a.msh", MSH2 "$Nodes\n99999999999999999999999\n", 5, 1,
     "the integer \"99999999999999999999999\" is too large"},
    {"a.msh", MSH2 "$Nodes\n1.5\n", 5, 1, "expected the number of nodes, found \"1.5\""},
    {"a.msh", MSH2 "$Nodes\n2\n1 0 0 0\n2 0 0\n$EndNodes\n", 8, 1,
     "expected a coordinate of node no. 2, found "
     "\"$EndNodes\""},
    {"a.msh", MSH2 "$Nodes\n1\n1 0 nan 0\n", 6, 5,
     "a coordinate of node no. 1 is \"nan\": it must be finite"},
    {"a.msh", MSH2 "$Nodes\n1\n1 0 0 -Inf\n", 6, 7,
     "a coordinate of node no. 1 is \"-Inf\": it must be finite"},
    {"a.msh", MSH2 "$Nodes\n1\n1 0 0 1e999\n", 6, 7, "the number \"1e999\" is too large"},
    {"a.msh", MSH2 "$Nodes\n1\n0 0 0 1\n$EndNodes\n", 6, 1, "node tag 0: tags are positive"},
    {"a.msh", MSH2 "$Nodes\n2\n7 0 0 1\n7 0 0 0\n$EndNodes\n", 8, 1,
     "two nodes have the tag 7 (the nodes no. 1 and 2 of "
     "the file)"},
    {"a.msh", MSH2 "$Nodes\n1\n7 0 0 1\n8 0 0 0\n$EndNodes\n", 7, 1,
     "expected \"$EndNodes\", found \"8\""},
    {"a.msh", MSH2 NODES2 "$Elements\n1\n1 11 2 0 1 1 2 3 4 5 6 7 8 9 10\n", 13, 3,
     "type 11 is a tetrahedron of 10 nodes, of second or higher order; brio simulates first-order "
     "elements: run gmsh "
     "with -order 1"},
    {"a.msh", MSH2 NODES2 "$Elements\n1\n1 29 2 0 1 1 2 3 4\n", 13, 3,
     "type 29 is a tetrahedron of 20 nodes, of second or higher order; brio simulates first-order "
     "elements: run gmsh with -order 1"},
    {"a.msh", MSH2 NODES2 "$Elements\n1\n1 30 2 0 1 1 2 3 4\n", 13, 3,
     "type 30 is a tetrahedron of 35 nodes, of second or higher order; brio simulates first-order "
     "elements: run gmsh with -order 1"},
    {"a.msh", MSH2 NODES2 "$Elements\n1\n1 9 2 0 1 1 2 3 4\n", 13, 3,
     "type 9 is a triangle of 6 nodes, of second or higher order; brio simulates first-order "
     "elements: run gmsh with -order 1"},
    {"a.msh", MSH2 NODES2 "$Elements\n1\n1 5 2 0 1 1 2 3 4 5 6 7 8\n", 13, 3,
     "type 5 is a hexahedron; brio simulates lines (1), triangles (2) and tetrahedra (4): mesh the "
     "model without "
     "recombination"},
    {"a.msh", MSH2 NODES2 "$Elements\n1\n1 77 2 0 1 1\n", 13, 3,
     "element type 77 is not known; brio reads lines (1), triangles (2) and tetrahedra (4)"},
    {"a.msh", MSH2 NODES2 "$Elements\n1\n1 4 2 0 1 1 2 3 5\n", 13, 17,
     "there is no node with the tag 5"},
    {"a.msh", MSH2 NODES2 "$Elements\n1\n1 4 2 0 1 1 2 3 1\n", 13, 17,
     "this tet names the same vertex twice; remove the "
     "tet"},
    {"a.msh", MSH2 NODES2 "$Elements\n0\n$EndElements\n", 0, 0,
     "the file holds vertices but no tets, triangles or edges"},
    {"a.msh", MSH2 "$Nodes\n0\n$EndNodes\n$Elements\n0\n$EndElements\n", 0, 0,
     "the file holds no vertices"},
    {"a.msh", MSH4 "$Nodes\n1 2 1 2\n0 1 0 3\n1\n2\n3\n0 0 0\n", 6, 7,
     "a block of 3 nodes, but only 2 of the 2 announced "
     "are left"},
    {"a.msh", MSH4 "$Nodes\n1 2 1 2\n0 1 0 1\n1\n0 0 0\n$EndNodes\n", 8, 5,
     "the blocks hold 1 nodes, but 2 were "
     "announced"},
    {"a.msh", MSH4 "$Nodes\n1 2 1 2\n9 1 0 1\n1\n0 0 0\n", 6, 7,
     "a node block of dimension 9: it must be 0 to 3"},
    {"a.msh", MSH4 "$Nodes\n1 1 1 2\n0 1\n", 7, 1,
     "expected the head of node block no. 1, found the end of the file"},
    /* Medit */
    {"a.mesh", "OFF\n", 1, 1,
     "expected \"MeshVersionFormatted\" at the start of the file, found \"OFF\""},
    {"a.mesh", "MeshVersionFormatted 7\n", 1, 22,
     "version 7 of the Medit format is not known; brio reads 1 to 4"},
    {"a.mesh", "MeshVersionFormatted 1 Dimension 2\n", 1, 34,
     "the dimension is 2; brio reads three-dimensional meshes"},
    {"a.mesh", MEDIT "3\n", 3, 1,
     "expected a keyword such as \"Vertices\" or \"Tetrahedra\", found \"3\""},
    {"a.mesh", MEDIT "Vertices\n2\n0 0 0 0\n0 0 zero 0\n", 6, 5,
     "expected a coordinate of vertex no. 2, found \"zero\""},
    {"a.mesh", MEDIT "Vertices\n2\n0 0 0 0\n0 0 0\n", 7, 1,
     "expected the reference of vertex no. 2, found the end of the "
     "file"},
    {"a.mesh", MEDIT "Tetrahedra\n1\n1 2 3 4 0\n", 5, 1,
     "there is no vertex 1: the vertices must come first"},
    {"a.mesh", MEDIT_VERTICES "Tetrahedra\n1\n1 2 3 5 0\n", 11, 7,
     "there is no vertex 5: the vertices are numbered 1 to 4"},
    {"a.mesh", MEDIT_VERTICES "Tetrahedra\n1\n0 2 3 4 0\n", 11, 1,
     "there is no vertex 0: the vertices are numbered 1 to 4"},
    {"a.mesh", MEDIT_VERTICES "Triangles\n1\n2 2 3 0\n", 11, 5,
     "this triangle names the same vertex twice; remove the "
     "triangle"},
    {"a.mesh", MEDIT_VERTICES "Hexahedra\n1\n1 2 3 4 5 6 7 8 0\n", 10, 1,
     "the file has Hexahedra, which brio does not simulate; save the mesh with first-order "
     "tetrahedra and triangles"},
    {"a.mesh", MEDIT_VERTICES "TetrahedraP4Ordering\n1\n1 2\nTetrahedraP4\n1\n", 13, 1,
     "the file has TetrahedraP4, which brio does not simulate; save the mesh with first-order "
     "tetrahedra and triangles"},
    {"a.mesh", MEDIT_VERTICES "Vertices\n1\n", 9, 1, "a second section \"Vertices\""},
    {"a.mesh", MEDIT_VERTICES "Tetrahedra\n2000\n1 2 3 4 0\n", 10, 1,
     "the number of tetrahedra is 2000, but only 11 bytes of the file are left, too few for so "
     "many: the file is cut "
     "off, or the number is wrong"},
    {"a.mesh", MEDIT_VERTICES "Corners\n3\n\x7f\x80\n", 0, 0,
     "the file holds vertices but no tets, triangles or edges"},
    /* OBJ */
    {"a.obj", "v 0 0\nf 1 2 3\n", 1, 6,
     "expected a coordinate of vertex no. 1, found the end of the line"},
    {"a.obj", "v 0 0 0x\n", 1, 7, "expected a coordinate of vertex no. 1, found \"0x\""},
    {"a.obj", "v 0 0 1e\n", 1, 7, "expected a coordinate of vertex no. 1, found \"1e\""},
    {"a.obj", "v 0 0 0\nv 1 0 0\nf 1 2\n", 3, 6,
     "a face needs at least 3 vertices, and this one has 2"},
    {"a.obj", "v 0 0 0\nl 1\n", 2, 4, "a line needs at least 2 vertices, and this one has 1"},
    {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n  f 1 2 4\n", 4, 9,
     "there is no vertex 4: the file has 3"},
    {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n", 4, 7,
     "there is no vertex 0: OBJ counts from 1, or back from -1"},
    {"a.obj", "v 0 0 0\nv 1 0 0\nf -1 -2 -3\nv 0 1 0\n", 3, 9,
     "there is no vertex -3: there are 2 before this line"},
    {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 2\n", 4, 7,
     "this triangle names the same vertex twice; remove the "
     "triangle"},
    {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 two 2\n", 4, 5,
     "expected the number of a vertex, found \"two\""},
    {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 \xff\xfe 2\n", 4, 5,
     "expected the number of a vertex, found the byte 0xff"},
    {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 a\xff\x1b[31m 2\n", 4, 5,
     "expected the number of a vertex, found "
     "\"a??[31m\""},
    {"a.obj", "v 0 0 0\nf 1 abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz 2\n", 2, 5,
     "expected the number of a vertex, found \"abcdefghijklmnopqrstuvwxyzabcdef...\""},
    {"a.obj", "v 0 0 0\n", 0, 0, "the file holds vertices but no tets, triangles or edges"},
    {"a.obj", "hello\n", 0, 0, "the file holds no vertices"},
    {"a.obj", "v 0 0 0\nv 1e95 0 0\nl 1 2\n", 0, 0,
     "coordinate x of vertex 1 (counted from 0) is 1e+95: coordinates must "
     "be finite and at most 1e+90"},
    /* points and segments */
    {"a.pt", "v 0 0 0\nv 1 x 0\n", 2, 5, "expected a coordinate of vertex no. 2, found \"x\""},
    {"a.pt", "v 0 0 0\nw 1 0 0\n", 2, 1, "expected v (a point: v x y z), found \"w\""},
    {"a.pt", "v 0 0\n", 1, 6, "expected a coordinate of vertex no. 1, found the end of the line"},
    {"a.pt", "# nothing\n", 0, 0, "the file holds no vertices"},
    {"a.seg", "v 0 0 0\nv 1 0 0\ns 1 3\n", 3, 5,
     "there is no vertex 3: the vertices are numbered 1 to 2"},
    {"a.seg", "v 0 0 0\nv 1 0 0\ns 0 1\n", 3, 3,
     "there is no vertex 0: the vertices are numbered 1 to 2"},
    {"a.seg", "s 1 2\nv 0 0 0\nv 1 0 0\n", 1, 3,
     "there is no vertex 1: the vertices must come first"},
    {"a.seg", "v 0 0 0\nv 1 0 0\ns 1 1\n", 3, 5,
     "this edge names the same vertex twice; remove the edge"},
    {"a.seg", "v 0 0 0\nv 1 0 0\nf 1 2\n", 3, 1,
     "expected v (v x y z) or s (a segment: s a b), found \"f\""},
    {"a.seg", "v 0 0 0\nv 1 0 0\n", 0, 0,
     "the file holds vertices but no tets, triangles or edges"},
    /* OFF */
    {"a.off", "ply\n", 1, 1, "expected \"OFF\" at the start of the file, found \"ply\""},
    {"a.off", "4OFF\n", 1, 1, "this is OFF of another dimension; brio reads three-dimensional OFF"},
    {"a.off", "OFF BINARY\n", 1, 5,
     "this is binary OFF; brio reads ASCII: save the mesh as ASCII OFF"},
    {"a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", 6, 7,
     "there is no vertex 3: the vertices are numbered 0 to 2"},
    {"a.off", "OFF\n3 1 0\n0 0 0\n1 0\n0 1 0\n3 0 1 2\n", 4, 4,
     "expected a coordinate of vertex no. 2, found the end of "
     "the line"},
    {"a.off", "OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", 7, 1,
     "expected the number of corners of face no. 2, found the "
     "end of the file"},
    {"a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n0\n", 6, 1, "a face of 0 corners"},
    {"a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n4 0 1 2\n", 6, 8,
     "expected the number of a vertex, found the end of the "
     "line"},
    {"a.off", "OFF\n300 1 0\n0 0 0\n", 2, 1,
     "the number of vertices is 300, but only 11 bytes of the file are left, too few for so many: "
     "the file is cut off, "
     "or "
     "the number is wrong"},
    /* any */
    {"a.step", "solid\n", 0, 0,
     "brio does not read meshes of type \".step\"; it reads .msh, .mesh, .node, .ele, .obj, .off, "
     ".pt, .seg, .ply, .stl, .vtk, .vtu, .js, .json"},
    {"mesh", "solid\n", 0, 0,
     "the name has no extension that tells the format; brio reads .msh, .mesh, .node, .ele, .obj, "
     ".off, .pt, .seg, .ply, .stl, .vtk, .vtu, .js, .json"},
    {"a.obj", "", 0, 0, "the file is empty"},
};

static void assert_error(const char *file, const char *text, size_t size, int line, int column,
                         const char *message)
{
    BrioMesh *mesh = (BrioMesh *)1;
    BrioError error = {0};
    /* A copy of just that size, so that the address sanitizer sees a byte read too far. */
    char *copy = malloc(size ? size : 1);
    memcpy(copy, text, size);
    BrioStatus status = brio__mesh_parse(file, copy, size, &mesh, &error);
    free(copy);
    assert_true(status < 0);
    assert_int_equal(error.status, status);
    assert_null(mesh);
    if (strcmp(error.message, message) || error.line != line || error.column != column ||
        strcmp(error.file, file))
        fail_msg("%s:%d:%d: %s\ninstead of %d:%d: %s\nfor %s", error.file, error.line, error.column,
                 error.message, line, column, message, text);
    for (const char *c = error.message; *c; c++) assert_true(*c >= 0x20 && *c < 0x7f);
}

static void test_wrong_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < BRIO_COUNT(wrong); i++)
        assert_error(wrong[i].file, wrong[i].text, strlen(wrong[i].text), wrong[i].line,
                     wrong[i].column, wrong[i].message);
    static const char *const names[] = {"a.mesh", "a.obj"};
    for (size_t i = 0; i < BRIO_COUNT(names); i++)
        assert_error(names[i], "v 0 0 0\nv \0x 0 0\n", 17, 2, 3,
                     "found a byte 0: this is binary data or UTF-16, and brio reads meshes as "
                     "plain ASCII or UTF-8 text; "
                     "save the mesh as ASCII");
}

static void test_wrong_tetgen(void **state)
{
    (void)state;
    static const char *const good_node = "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n";
    static const char *const good_ele = "1 4 0\n1 1 2 3 4\n";
    static const struct {
        const char *node, *ele, *file;
        int line, column;
        const char *message;
    } cases[] = {
        {"1 2 0 0\n1 0 0\n", NULL, "a.node", 1, 3,
         "the dimension is 2; brio reads three-dimensional meshes"},
        {"2 3 0 0\n5 0 0 0\n6 0 0 0\n", NULL, "a.node", 2, 1,
         "the first vertex has number 5; TetGen counts from 0 or 1"},
        {"2 3 0 0\n1 0 0 0\n3 0 0 0\n", NULL, "a.node", 3, 1,
         "expected row 2, found row 3: rows must be numbered one "
         "after the other"},
        {"2 3 0 0\n1 0 0 0     \n", NULL, "a.node", 3, 1,
         "expected the row of vertex no. 2, found the end of the file"},
        {"2 3 0 0\n1 0 0\n2 0 0 0 \n", NULL, "a.node", 2, 6,
         "expected a coordinate of vertex no. 1, found the end of the "
         "line"},
        {NULL, "1 10 0\n1 1 2 3 4 5 6 7 8 9 10\n", "a.ele", 1, 3,
         "these are second-order tets of 10 vertices; brio simulates first-order ones: run tetgen "
         "without -o2"},
        {NULL, "1 5 0\n1 1 2 3 4 5\n", "a.ele", 1, 3, "tets have 4 corners, not 5"},
        {NULL, "1 4 0\n1 0 2 3 4\n", "a.ele", 2, 3,
         "there is no vertex 0: the vertices are numbered 1 to 4"},
        {NULL, "1 4 0\n1 1 2 3\n     ", "a.ele", 2, 8,
         "expected the number of a vertex, found the end of the line"},
        {NULL, "9 4 0\n1 1 2 3 4\n", "a.ele", 1, 1,
         "the number of tets is 9, but only 15 bytes of the file are left, too few for so many: "
         "the file is cut off, "
         "or "
         "the number is wrong"},
    };
    for (size_t i = 0; i < BRIO_COUNT(cases); i++) {
        BrioMesh *mesh;
        BrioError error = {0};
        const char *node = cases[i].node ? cases[i].node : good_node;
        const char *ele = cases[i].ele ? cases[i].ele : good_ele;
        assert_int_equal(brio__tetgen_parse("a.node", node, strlen(node), "a.ele", ele, strlen(ele),
                                            &mesh, &error),
                         BRIO_ERROR_INPUT);
        assert_null(mesh);
        assert_string_equal(error.message, cases[i].message);
        assert_string_equal(error.file, cases[i].file);
        assert_int_equal(error.line, cases[i].line);
        assert_int_equal(error.column, cases[i].column);
    }
}

static void test_files(void **state)
{
    (void)state;
    BrioMesh *mesh;
    BrioError error;
    char sentence[2048];
    assert_int_equal(brio_mesh_read(in_directory("none.obj"), &mesh, &error), BRIO_ERROR_FILE);
    assert_string_equal(error.message, "there is no such file");
    assert_string_equal(error.file, in_directory("none.obj"));
    mkdir(in_directory("dir.obj"), 0755);
    assert_int_equal(brio_mesh_read(in_directory("dir.obj"), &mesh, &error), BRIO_ERROR_FILE);
    assert_string_equal(error.message, "this is a directory; name the mesh file in it");
    assert_int_equal(brio_mesh_read(directory, &mesh, &error), BRIO_ERROR_FILE);
    assert_string_equal(error.message, "this is a directory; name the mesh file in it");
    assert_int_equal(brio_mesh_read("/dev/null", &mesh, &error), BRIO_ERROR_UNSUPPORTED);
    mkfifo(in_directory("pipe.obj"), 0600);
    assert_int_equal(brio_mesh_read(in_directory("pipe.obj"), &mesh, &error), BRIO_ERROR_FILE);
    assert_string_equal(error.message, "this is not a regular file");
    write_file("empty.mesh", "", 0);
    assert_int_equal(brio_mesh_read(in_directory("empty.mesh"), &mesh, &error), BRIO_ERROR_INPUT);
    assert_string_equal(error.message, "the file is empty");
    if (geteuid() != 0) { /* root reads everything */
        write_file("secret.obj", "v 0 0 0\n", 8);
        chmod(in_directory("secret.obj"), 0);
        assert_int_equal(brio_mesh_read(in_directory("secret.obj"), &mesh, &error),
                         BRIO_ERROR_FILE);
        assert_string_equal(error.message, "cannot be opened: Permission denied");
    }
    write_file("large.obj", "v 0 0 0\nv 1 0 0\nl 1 2\n", 22);
    setenv("BRIO_MEMORY_LIMIT", "80", 1);
    assert_int_equal(brio_mesh_read(in_directory("large.obj"), &mesh, &error),
                     BRIO_ERROR_TOO_LARGE);
    assert_non_null(strstr(error.message, "too much to read with"));
    setenv("BRIO_MEMORY_LIMIT", "500", 1);
    assert_int_equal(brio_mesh_read(in_directory("large.obj"), &mesh, &error),
                     BRIO_ERROR_TOO_LARGE);
    assert_non_null(strstr(error.message, "use a coarser mesh"));
    assert_string_equal(error.file, in_directory("large.obj"));
    unsetenv("BRIO_MEMORY_LIMIT");
    assert_int_equal(brio_mesh_read(NULL, &mesh, &error), BRIO_ERROR_ARGUMENT);
    assert_int_equal(brio_mesh_read("a.obj", NULL, NULL), BRIO_ERROR_ARGUMENT);

    write_file("wrong.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 y 0\n3 0 1 2\n", 36);
    assert_int_equal(brio_mesh_read(in_directory("wrong.off"), &mesh, &error), BRIO_ERROR_INPUT);
    brio_error_text(&error, sentence, sizeof sentence);
    char expected[512];
    snprintf(expected, sizeof expected,
             "%s:5:3: expected a coordinate of vertex no. 3, found \"y\"",
             in_directory("wrong.off"));
    assert_string_equal(sentence, expected);
}

/* ---- numbers ---------------------------------------------------------------------------- */

static void assert_reads(const char *text)
{
    BrioScan scan;
    BrioError error = {0};
    double value, expected = strtod(text, NULL);
    size_t size = strlen(text);
    char *copy = malloc(size); /* no NUL at its end */
    memcpy(copy, text, size);
    brio__scan_start(&scan, "x", copy, size, 0, &error);
    BrioStatus status = brio__scan_real(&scan, "a number", 0, &value);
    free(copy);
    if (status) fail_msg("%s: %s", text, error.message);
    if (memcmp(&value, &expected, sizeof value))
        fail_msg("%s is read as %.17g instead of %.17g", text, value, expected);
}

/* Correctly rounded, as the C library does it, whatever the way of writing. */
static void test_numbers(void **state)
{
    (void)state;
    static const char *const hard[] = {"0",
                                       "-0",
                                       "0.",
                                       ".5",
                                       "+1.5",
                                       "-.25e1",
                                       "1e0",
                                       "1E+2",
                                       "00012.500",
                                       "1e-5",
                                       "9007199254740993",
                                       "9007199254740992.5",
                                       "9007199254740993.00000000000001",
                                       "0.1",
                                       "1.7976931348623157e308",
                                       "4.9406564584124654e-324",
                                       "1e-400",
                                       "2.2250738585072011e-308",
                                       "123456789012345678901234567890",
                                       "0.000000000000000000000000000001234",
                                       "9999999999999999999e-19",
                                       "1000000000000000000e-19",
                                       "18446744073709551615e-1",
                                       "0.500000000000000166533453693773481063544750213623046875",
                                       "3e22",
                                       "3e23"};
    for (size_t i = 0; i < BRIO_COUNT(hard); i++) assert_reads(hard[i]);
    BrioRandom random = {1};
    char text[64];
    for (int i = 0; i < 100000; i++) {
        double value =
            (brio__random(&random) - 0.5) * pow(10, floor(40 * brio__random(&random)) - 20);
        snprintf(text, sizeof text, "%.*g", 1 + (int)(20 * brio__random(&random)), value);
        assert_reads(text);
        snprintf(text, sizeof text, "%.*f", (int)(20 * brio__random(&random)), value);
        assert_reads(text);
    }
    char long_number[1200];
    memset(long_number, '1', sizeof long_number);
    BrioScan scan;
    BrioError error = {0};
    double value;
    brio__scan_start(&scan, "x", long_number, sizeof long_number, 0, &error);
    assert_int_equal(brio__scan_real(&scan, "a number", 0, &value), BRIO_ERROR_INPUT);
    assert_string_equal(error.message, "a number of more than 1000 characters");
    memset(long_number, '0', sizeof long_number); /* harmless zeros are fine at any length */
    long_number[1199] = '7';
    brio__scan_start(&scan, "x", long_number, sizeof long_number, 0, &error);
    assert_int_equal(brio__scan_real(&scan, "a number", 0, &value), BRIO_OK);
    assert_true(value == 7);
}

static void test_locale(void **state)
{
    (void)state;
    /* beyond what integers can do */
    double expected = strtod("1.23456789012345678901234e-30", NULL);
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8")) {
        print_message("SKIPPED: no locale with a decimal comma is installed\n");
        return;
    }
    BrioMesh *mesh =
        read_text("locale.obj", "v 0.5 1.23456789012345678901234e-30 0\nv 1 0 0\nl 1 2\n");
    assert_true(mesh->x[0] == 0.5 && mesh->x[1] == expected);
    brio_mesh_free(mesh);
    setlocale(LC_NUMERIC, "C");
}

/* ---- memory ----------------------------------------------------------------------------- */

/* Everything a mesh goes through, with the n-th allocation failing, for every n until none fails:
 * the status says so, and nothing stays allocated. */
static BrioStatus mesh_life(int which)
{
    static const char *const shapes[] = {"box",  "ball",   "cylinder", "grid",
                                         "disk", "sphere", "line"};
    static const char *const files[] = {"life.msh", "life.mesh", "life.node",
                                        "life.ele", "life.obj",  "life.off"};
    BrioMesh *mesh;
    BrioError error;
    BrioStatus status;
    if (which < (int)BRIO_COUNT(shapes))
        status = brio_mesh_shape(shapes[which], NULL, &mesh, &error);
    else
        status =
            brio_mesh_read(in_directory(files[which - (int)BRIO_COUNT(shapes)]), &mesh, &error);
    if (status) {
        assert_null(mesh);
        assert_int_equal(error.status, status);
        return status;
    }
    int64_t *start = NULL;
    int32_t *neighbour = NULL;
    status =
        mesh->tet_count ? brio__mesh_check_solid(mesh, &error) : brio__mesh_check(mesh, &error);
    if (!status) status = brio_mesh_surface(mesh, NULL);
    if (!status) status = brio__mesh_edges_from_triangles(mesh);
    if (!status) status = brio__mesh_adjacency(mesh, &start, &neighbour);
    brio__free(start);
    brio__free(neighbour);
    brio_mesh_free(mesh);
    return status;
}

static void test_failing_allocator(void **state)
{
    (void)state;
    const char *node = "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n", *ele = "1 4 0\n1 1 2 3 4\n";
    const char *msh =
        MSH2 NODES2 "$Elements\n3\n1 4 0 1 2 3 4\n2 2 0 1 2 3\n3 1 0 1 2\n$EndElements\n";
    const char *medit = MEDIT_VERTICES "Tetrahedra\n1\n1 2 3 4 0\nEdges\n1\n1 2 0\n";
    const char *obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nl 1 2\n",
               *off = "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    write_file("life.node", node, strlen(node));
    write_file("life.ele", ele, strlen(ele));
    write_file("life.msh", msh, strlen(msh));
    write_file("life.mesh", medit, strlen(medit));
    write_file("life.obj", obj, strlen(obj));
    write_file("life.off", off, strlen(off));
    for (int which = 0; which < 13; which++) {
        BrioStatus status = BRIO_ERROR_MEMORY;
        for (int n = 0; status != BRIO_OK; n++) {
            Memory memory;
            memory_start(&memory, n, true);
            status = mesh_life(which);
            assert_int_equal(memory.live, 0);
            assert_true(status == BRIO_OK || status == BRIO_ERROR_MEMORY);
            assert_true(n < 100);
        }
    }
    brio_set_allocator(NULL);
}

/* ---- real meshes ------------------------------------------------------------------------ */

#ifndef BRIO_SOURCE_DIR
#define BRIO_SOURCE_DIR "."
#endif

static BrioMesh *read_shared(const char *name)
{
    char path[512];
    const char *shared = getenv("BRIO_SHARED");
    snprintf(path, sizeof path, "%s/meshes/%s", shared ? shared : BRIO_SOURCE_DIR "/../shared",
             name);
    if (access(path, R_OK)) {
        print_message("SKIPPED: %s is absent\n", path);
        return NULL;
    }
    BrioMesh *mesh;
    BrioError error;
    char sentence[2048];
    double start = brio__seconds();
    if (brio_mesh_read(path, &mesh, &error)) {
        brio_error_text(&error, sentence, sizeof sentence);
        fail_msg("%s", sentence);
    }
    double seconds = brio__seconds() - start;
    struct stat about;
    stat(path, &about);
    print_message("%s: %.0f MB/s\n", name, (double)about.st_size * 1e-6 / seconds);
    return mesh;
}

static void test_shared_meshes(void **state)
{
    (void)state;
    BrioMesh *mesh = read_shared("bunny.mesh");
    if (mesh) {
        assert_int_equal(mesh->vertex_count, 5433);
        assert_int_equal(mesh->tet_count, 34055);
        assert_int_equal(mesh->triangle_count, 6966);
        assert_int_equal(brio__mesh_check_solid(mesh, NULL), BRIO_OK);
        assert_int_equal(brio_mesh_surface(mesh, NULL), BRIO_OK);
        /* its tets fill the convex hull of the bunny */
        assert_int_equal(mesh->triangle_count, 670);
        assert_closed(mesh);
        assert_true(fabs(enclosed_volume(mesh) - volume(mesh)) < 1e-12 * volume(mesh));
        brio_mesh_free(mesh);
    }
    mesh = read_shared("bunny.off");
    if (mesh) {
        assert_int_equal(mesh->vertex_count, 3485);
        assert_int_equal(mesh->triangle_count, 6966);
        assert_closed(mesh);
        assert_int_equal(brio__mesh_edges_from_triangles(mesh), BRIO_OK);
        assert_int_equal(mesh->edge_count, 6966 * 3 / 2);
        brio_mesh_free(mesh);
    }
    mesh = read_shared("armadillo.obj");
    if (mesh) {
        assert_int_equal(mesh->vertex_count, 43243);
        assert_int_equal(mesh->triangle_count, 86482);
        assert_closed(mesh);
        assert_true(mesh->x[0] == -0.35444599999999998 && mesh->x[2] == 0.21984200000000001);
        brio_mesh_free(mesh);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create),        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_surface),       cmocka_unit_test(test_edges_and_adjacency),
        cmocka_unit_test(test_registry),      cmocka_unit_test(test_box),
        cmocka_unit_test(test_ball),          cmocka_unit_test(test_cylinder),
        cmocka_unit_test(test_surfaces),      cmocka_unit_test(test_msh),
        cmocka_unit_test(test_msh_groups),    cmocka_unit_test(test_medit),
        cmocka_unit_test(test_tetgen),        cmocka_unit_test(test_obj),
        cmocka_unit_test(test_off),           cmocka_unit_test(test_orientation),
        cmocka_unit_test(test_wrong_files),   cmocka_unit_test(test_wrong_tetgen),
        cmocka_unit_test(test_files),         cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_locale),        cmocka_unit_test(test_failing_allocator),
        cmocka_unit_test(test_shared_meshes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
