/* The mesh: making, checking, boundary of the tets, edges, adjacency.
 *
 * Everything that looks for equal faces or edges sorts them by counting, one pass per vertex of the
 * key from the last to the first (least significant digit first), which takes
 * O(elements + vertices) whatever the mesh looks like, and gives the same order everywhere. */
#include "mesh.h"

#include "../vec.h"
#include "within.h"

#include <string.h>

/* ---- making ----------------------------------------------------------------------------- */

/* What a simulation of a mesh takes, its matrix and factor included, in bytes for each element. */
#define TET_BYTES 1200.0
#define VERTEX_BYTES 200.0
#define EDGE_BYTES 300.0

double brio__mesh_need(int64_t vertices, int64_t tets, int64_t triangles, int64_t edges)
{
    return TET_BYTES * (double)tets + VERTEX_BYTES * (double)vertices +
           EDGE_BYTES * ((double)triangles + (double)edges);
}

static BrioStatus refuse_size(int64_t vertices, int64_t tets, int64_t triangles, int64_t edges,
                              BrioError *error)
{
    const struct {
        const char *name;
        int64_t count;
    } part[] = {{"vertices", vertices}, {"tets", tets}, {"triangles", triangles}, {"edges", edges}};
    for (size_t i = 0; i < BRIO_COUNT(part); i++) {
        if (part[i].count < 0)
            return brio__error(error, BRIO_ERROR_ARGUMENT, "a mesh cannot have %lld %s",
                               (long long)part[i].count, part[i].name);
        if (part[i].count > INT32_MAX)
            return brio__error(
                error, BRIO_ERROR_TOO_LARGE,
                "a mesh of %lld %s is too large: at most %d can be numbered; use a coarser mesh",
                (long long)part[i].count, part[i].name, INT32_MAX);
    }
    double need = brio__mesh_need(vertices, tets, triangles, edges);
    double have = brio__memory_available();
    if (need > have)
        return brio__error(error, BRIO_ERROR_TOO_LARGE,
                           "a mesh of %lld vertices, %lld tets, %lld triangles and %lld edges "
                           "needs about %.3g GB to simulate, and %.3g GB are available; use a "
                           "coarser mesh",
                           (long long)vertices, (long long)tets, (long long)triangles,
                           (long long)edges, need * 1e-9, have * 1e-9);
    return BRIO_OK;
}

BrioStatus brio__mesh_create(int64_t vertices, int64_t tets, int64_t triangles, int64_t edges,
                             BrioMesh **mesh, BrioError *error)
{
    *mesh = NULL;
    BRIO_CHECK(refuse_size(vertices, tets, triangles, edges, error));
    BrioMesh *created = brio__calloc(1, sizeof *created);
    if (created) {
        created->vertex_count = vertices;
        created->tet_count = tets;
        created->triangle_count = triangles;
        created->edge_count = edges;
        created->x = vertices ? brio__calloc((size_t)vertices, 3 * sizeof(double)) : NULL;
        created->tet = tets ? brio__calloc((size_t)tets, 4 * sizeof(int32_t)) : NULL;
        created->triangle = triangles ? brio__calloc((size_t)triangles, 3 * sizeof(int32_t)) : NULL;
        created->edge = edges ? brio__calloc((size_t)edges, 2 * sizeof(int32_t)) : NULL;
        created->edge_kind = edges ? brio__calloc((size_t)edges, 1) : NULL;
    }
    if (!created || (vertices && !created->x) || (tets && !created->tet) ||
        (triangles && !created->triangle) || (edges && (!created->edge || !created->edge_kind))) {
        brio_mesh_free(created);
        return brio__error(error, BRIO_ERROR_MEMORY,
                           "out of memory for a mesh of %lld vertices and %lld tets",
                           (long long)vertices, (long long)tets);
    }
    *mesh = created;
    return BRIO_OK;
}

void brio_mesh_free(BrioMesh *mesh)
{
    if (!mesh) return;
    brio__free(mesh->x);
    brio__free(mesh->tet);
    brio__free(mesh->triangle);
    brio__free(mesh->edge);
    brio__free(mesh->edge_kind);
    brio__faces_free(mesh->faces);
    brio__vertex_groups_free(mesh->groups);
    brio__free(mesh);
}

/* ---- checking --------------------------------------------------------------------------- */

#define LARGEST_COORDINATE 1e90 /* its cube is still far from overflow */

/* `corners` indices of each of `count` elements: in range, and no two of an element equal. */
static BrioStatus check_elements(const char *name, const int32_t *index, int64_t count, int corners,
                                 int64_t vertices, BrioError *error)
{
    if (count < 0 || count > INT32_MAX || (count > 0 && !index))
        return brio__error(error, BRIO_ERROR_ARGUMENT,
                           "the mesh announces %lld %ss but contains none", (long long)count, name);
    for (int64_t e = 0; e < count; e++) {
        const int32_t *v = index + e * corners;
        for (int i = 0; i < corners; i++) {
            if (v[i] < 0 || v[i] >= vertices)
                return brio__error(
                    error, BRIO_ERROR_INPUT,
                    "%s %lld names vertex %d, but the vertices are numbered 0 to %lld", name,
                    (long long)e, v[i], (long long)vertices - 1);
            for (int j = 0; j < i; j++)
                if (v[i] == v[j])
                    return brio__error(
                        error, BRIO_ERROR_INPUT,
                        "%s %lld names vertex %d twice (all counted from 0); remove the %s", name,
                        (long long)e, v[i], name);
        }
    }
    return BRIO_OK;
}

enum { MAX_GROUP_NAME = 255 }; /* as motion.bin reads it */

BrioStatus brio__mesh_check(const BrioMesh *mesh, BrioError *error)
{
    int64_t n = mesh->vertex_count;
    if (n < 0 || n > INT32_MAX || (n > 0 && !mesh->x))
        return brio__error(error, BRIO_ERROR_ARGUMENT,
                           "the mesh announces %lld vertices but contains none", (long long)n);
    for (int64_t i = 0; i < 3 * n; i++)
        if (!(fabs(mesh->x[i]) <= LARGEST_COORDINATE))
            return brio__error(error, BRIO_ERROR_INPUT,
                               "coordinate %c of vertex %lld (counted from 0) is %g: coordinates "
                               "must be finite and at most %g",
                               (int)('x' + i % 3), (long long)(i / 3), mesh->x[i],
                               LARGEST_COORDINATE);
    for (int32_t g = 0; mesh->faces && g < mesh->faces->group_count; g++)
        if (strlen(mesh->faces->group[g]) > MAX_GROUP_NAME)
            return brio__error(error, BRIO_ERROR_INPUT,
                               "the name of group %d of the mesh has more than %d bytes; make it "
                               "shorter",
                               g, MAX_GROUP_NAME);
    BRIO_CHECK(check_elements("tet", mesh->tet, mesh->tet_count, 4, n, error));
    BRIO_CHECK(check_elements("triangle", mesh->triangle, mesh->triangle_count, 3, n, error));
    return check_elements("edge", mesh->edge, mesh->edge_count, 2, n, error);
}

double brio__tet_volume6(const double *a, const double *b, const double *c, const double *d)
{
    double u[3], v[3], w[3];
    for (int i = 0; i < 3; i++) {
        u[i] = b[i] - a[i];
        v[i] = c[i] - a[i];
        w[i] = d[i] - a[i];
    }
    return u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) +
           u[2] * (v[0] * w[1] - v[1] * w[0]);
}

/* Every vertex must be named by one of the elements: one that is not would have no mass. */
static BrioStatus check_used(const BrioMesh *mesh, const char *name, const int32_t *index,
                             int64_t count, int corners, BrioError *error)
{
    int64_t n = mesh->vertex_count;
    uint8_t *used = brio__calloc((size_t)n + 1, 1);
    if (!used) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory while checking a mesh");
    for (int64_t i = 0; i < count * corners; i++) used[index[i]] = 1;
    int64_t first = -1, unused = 0;
    for (int64_t i = 0; i < n; i++)
        if (!used[i]) {
            if (first < 0) first = i;
            unused++;
        }
    brio__free(used);
    if (!unused) return BRIO_OK;
    return brio__error(error, BRIO_ERROR_INPUT,
                       "vertex %lld (counted from 0) belongs to no %s and so has no mass%s; "
                       "remove such vertices from the mesh",
                       (long long)first, name, unused > 1 ? ", nor do others" : "");
}

/* Of a tet, relative to its longest edge cubed; a regular tet has 0.118. */
#define MIN_VOLUME 1e-10

BrioStatus brio__mesh_check_solid(const BrioMesh *mesh, BrioError *error)
{
    BRIO_CHECK(brio__mesh_check(mesh, error));
    if (mesh->tet_count == 0)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "a solid needs tets, and the mesh has none; fill its surface with "
                           "tets (tetgen and gmsh do that), or use springs");
    for (int64_t t = 0; t < mesh->tet_count; t++) {
        const int32_t *v = mesh->tet + 4 * t;
        const double *p[4];
        for (int i = 0; i < 4; i++) p[i] = mesh->x + 3 * (int64_t)v[i];
        double volume = brio__tet_volume6(p[0], p[1], p[2], p[3]) / 6, longest = 0;
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < i; j++) longest = BRIO_MAX(longest, brio__distance3(p[i], p[j]));
        if (volume > MIN_VOLUME * longest * longest * longest) continue;
        if (volume < -MIN_VOLUME * longest * longest * longest)
            return brio__error(error, BRIO_ERROR_INPUT,
                               "tet %lld (vertices %d %d %d %d, all counted from 0) is inverted: "
                               "volume %.6g; swap two of its vertices or repair the mesh",
                               (long long)t, v[0], v[1], v[2], v[3], volume);
        return brio__error(error, BRIO_ERROR_INPUT,
                           "tet %lld (vertices %d %d %d %d, all counted from 0) is flat: volume "
                           "%.6g with a longest edge of %.6g; remove it or repair the mesh",
                           (long long)t, v[0], v[1], v[2], v[3], volume, longest);
    }
    return check_used(mesh, "tet", mesh->tet, mesh->tet_count, 4, error);
}

BrioStatus brio__mesh_check_springs(const BrioMesh *mesh, BrioError *error)
{
    BRIO_CHECK(brio__mesh_check(mesh, error));
    if (mesh->edge_count == 0)
        return brio__error(error, BRIO_ERROR_INPUT, "springs need edges, and the mesh has none");
    for (int64_t e = 0; e < mesh->edge_count; e++) {
        const int32_t *v = mesh->edge + 2 * e;
        if (!(brio__distance3(mesh->x + 3 * (int64_t)v[0], mesh->x + 3 * (int64_t)v[1]) > 0))
            return brio__error(error, BRIO_ERROR_INPUT,
                               "edge %lld (vertices %d %d, all counted from 0) has no length; "
                               "merge its two vertices",
                               (long long)e, v[0], v[1]);
    }
    return check_used(mesh, "edge", mesh->edge, mesh->edge_count, 2, error);
}

/* ---- surface and edges ------------------------------------------------------------------ */

/* A face or an edge: its vertices in ascending order, and the element that it comes from. */
typedef struct Side {
    int32_t v[3];
    int32_t from;
} Side;

/* Sorts by v[0], v[1], ... v[keys - 1]. `other` has the same size, `start` has room for
 * vertices + 1 numbers. Returns the one of the two arrays that holds the result. */
static Side *sort_sides(Side *side, Side *other, int64_t count, int keys, int64_t *start,
                        int64_t vertices)
{
    for (int key = keys - 1; key >= 0; key--) {
        memset(start, 0, (size_t)(vertices + 1) * sizeof *start);
        for (int64_t i = 0; i < count; i++) start[side[i].v[key] + 1]++;
        for (int64_t i = 0; i < vertices; i++) start[i + 1] += start[i];
        for (int64_t i = 0; i < count; i++) other[start[side[i].v[key]]++] = side[i];
        Side *swap = side;
        side = other;
        other = swap;
    }
    return side;
}

static bool same_side(const Side *a, const Side *b, int keys)
{
    return !memcmp(a->v, b->v, (size_t)keys * sizeof a->v[0]);
}

/* Corners of the faces of a positively oriented tet, counterclockwise from outside; face i is
 * opposite corner i. */
static const int face_corner[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

static void sort3(int32_t v[3])
{
    for (int pass = 0; pass < 3; pass++) {
        int i = pass % 2;
        if (v[i] > v[i + 1]) {
            int32_t swap = v[i];
            v[i] = v[i + 1];
            v[i + 1] = swap;
        }
    }
}

/* Counts the faces that occur once, or writes them to `triangle` if that is not NULL. */
static int64_t boundary(const BrioMesh *mesh, const Side *face, int64_t faces, int32_t *triangle)
{
    int64_t found = 0;
    for (int64_t i = 0; i < faces; i++) {
        if (i + 1 < faces && same_side(face + i, face + i + 1, 3)) {
            i++;
            continue;
        }
        if (triangle) {
            const int32_t *v = mesh->tet + 4 * (int64_t)face[i].from;
            int opposite = 0;
            while (v[opposite] == face[i].v[0] || v[opposite] == face[i].v[1] ||
                   v[opposite] == face[i].v[2])
                opposite++;
            for (int k = 0; k < 3; k++) triangle[3 * found + k] = v[face_corner[opposite][k]];
        }
        found++;
    }
    return found;
}

BrioStatus brio__mesh_surface(BrioMesh *mesh, BrioError *error)
{
    BRIO_CHECK(brio__mesh_check(mesh, error));
    if (mesh->tet_count == 0) return BRIO_OK;
    int64_t faces = 4 * mesh->tet_count;
    Side *first = brio__alloc((size_t)faces, sizeof *first),
         *second = brio__alloc((size_t)faces, sizeof *second);
    int64_t *start = brio__alloc((size_t)mesh->vertex_count + 1, sizeof *start);
    int32_t *triangle = NULL;
    BrioStatus status = BRIO_OK;
    if (!first || !second || !start) {
        status = brio__error(error, BRIO_ERROR_MEMORY, "out of memory for the surface of a mesh");
    } else {
        for (int64_t i = 0; i < faces; i++) {
            const int32_t *v = mesh->tet + 4 * (i / 4);
            for (int k = 0; k < 3; k++) first[i].v[k] = v[face_corner[i % 4][k]];
            sort3(first[i].v);
            first[i].from = (int32_t)(i / 4);
        }
        const Side *face = sort_sides(first, second, faces, 3, start, mesh->vertex_count);
        for (int64_t i = 0; i + 2 < faces && status == BRIO_OK; i++)
            if (same_side(face + i, face + i + 2, 3))
                status = brio__error(
                    error, BRIO_ERROR_INPUT,
                    "the face of vertices %d %d %d belongs to more than two tets, among them %d, "
                    "%d and %d (all counted from 0); remove the tets that occur twice or overlap",
                    face[i].v[0], face[i].v[1], face[i].v[2], face[i].from, face[i + 1].from,
                    face[i + 2].from);
        if (status == BRIO_OK) {
            int64_t count = boundary(mesh, face, faces, NULL);
            if (count > INT32_MAX) {
                status = brio__error(error, BRIO_ERROR_TOO_LARGE,
                                     "the surface has %lld triangles: too many", (long long)count);
            } else if (!(triangle = brio__alloc(3 * (size_t)count + 1, sizeof *triangle))) {
                status = brio__error(error, BRIO_ERROR_MEMORY,
                                     "out of memory for the surface of a mesh");
            } else {
                boundary(mesh, face, faces, triangle);
                brio__free(mesh->triangle);
                mesh->triangle = triangle;
                mesh->triangle_count = count;
            }
        }
    }
    brio__free(first);
    brio__free(second);
    brio__free(start);
    return status;
}

BrioStatus brio_mesh_surface(BrioMesh *mesh, BrioError *error)
{
    BRIO_NEEDS(mesh, error);
    if (error) *error = (BrioError){0};
    return brio__mesh_surface(mesh, error);
}

BrioStatus brio__mesh_edges_from_triangles(BrioMesh *mesh)
{
    if (mesh->edge_count > 0 || mesh->triangle_count == 0) return BRIO_OK;
    int64_t sides = 3 * mesh->triangle_count, count = 0;
    Side *first = brio__alloc((size_t)sides, sizeof *first),
         *second = brio__alloc((size_t)sides, sizeof *second);
    int64_t *start = brio__alloc((size_t)mesh->vertex_count + 1, sizeof *start);
    int32_t *edge = NULL;
    uint8_t *kind = NULL;
    if (first && second && start) {
        for (int64_t i = 0; i < sides; i++) {
            const int32_t *v = mesh->triangle + 3 * (i / 3);
            int32_t a = v[i % 3], b = v[(i + 1) % 3];
            first[i] = (Side){.v = {BRIO_MIN(a, b), BRIO_MAX(a, b)}};
        }
        const Side *side = sort_sides(first, second, sides, 2, start, mesh->vertex_count);
        for (int64_t i = 0; i < sides; i++)
            count += i == 0 || !same_side(side + i, side + i - 1, 2);
        edge = brio__alloc((size_t)count, 2 * sizeof *edge);
        kind = brio__calloc((size_t)count, 1);
        for (int64_t i = 0, e = 0; edge && i < sides; i++) {
            if (i > 0 && same_side(side + i, side + i - 1, 2)) continue;
            memcpy(edge + 2 * e++, side[i].v, 2 * sizeof *edge);
        }
    }
    brio__free(first);
    brio__free(second);
    brio__free(start);
    if (!edge || !kind || count > INT32_MAX) {
        brio__free(edge);
        brio__free(kind);
        return count > INT32_MAX ? BRIO_ERROR_TOO_LARGE : BRIO_ERROR_MEMORY;
    }
    brio__free(mesh->edge);
    brio__free(mesh->edge_kind);
    mesh->edge = edge;
    mesh->edge_kind = kind;
    mesh->edge_count = count;
    return BRIO_OK;
}

double brio__mesh_diagonal(const BrioMesh *mesh)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++) {
        low[i % 3] = fmin(low[i % 3], mesh->x[i]);
        high[i % 3] = fmax(high[i % 3], mesh->x[i]);
    }
    return mesh->vertex_count ? brio__hypot_distance3(low, high) : 0;
}

bool brio__mesh_is_flat(const BrioMesh *mesh)
{
    if (mesh->tet_count > 0 || mesh->triangle_count == 0) return false;
    for (int64_t v = 1; v < mesh->vertex_count; v++)
        if (mesh->x[3 * v + 2] != mesh->x[2]) return false;
    return true;
}

BrioStatus brio__mesh_refuse_flat(const BrioMesh *mesh, BrioError *error)
{
    if (!brio__mesh_is_flat(mesh)) return BRIO_OK;
    return brio__error(
        error, BRIO_ERROR_INPUT,
        "the mesh is two-dimensional (all its vertices have z = %g), and a solid has "
        "three dimensions; give it a volume",
        mesh->x[2] + 0.0);
}

/* Sides that follow each other belong to the same edge; `from` is 3 times the triangle plus the
 * side's number in it. */
static BrioStatus check_closed(const BrioMesh *mesh, const Side *side, int64_t sides,
                               BrioError *error)
{
    for (int64_t i = 0, next; i < sides; i = next) {
        int forward = 0, same[2] = {-1, -1};
        for (next = i; next < sides && same_side(side + i, side + next, 2); next++) {
            bool along = mesh->triangle[side[next].from] == side[i].v[0];
            forward += along ? 1 : -1;
            if (along == (mesh->triangle[side[i].from] == side[i].v[0]) && same[1] < 0)
                same[same[0] >= 0] = side[next].from / 3;
        }
        if ((next - i) % 2) BRIO_CHECK(brio__mesh_refuse_flat(mesh, error));
        if ((next - i) % 2)
            return brio__error(error, BRIO_ERROR_INPUT,
                               "the surface is not closed: the edge of vertices %d %d belongs to "
                               "%lld triangle%s (%d; all counted from 0); close the hole",
                               side[i].v[0], side[i].v[1], (long long)(next - i),
                               next - i == 1 ? "" : "s", side[i].from / 3);
        if (forward != 0)
            return brio__error(error, BRIO_ERROR_INPUT,
                               "triangles %d and %d have inconsistent orientation at their edge "
                               "of vertices %d %d (all counted from 0); invert one of them",
                               same[0], same[1], side[i].v[0], side[i].v[1]);
    }
    return BRIO_OK;
}

BrioStatus brio__mesh_close(BrioMesh *mesh, BrioError *error)
{
    BRIO_CHECK(brio__mesh_check(mesh, error));
    if (mesh->triangle_count == 0)
        return brio__error(error, BRIO_ERROR_INPUT,
                           "the mesh has no triangles: a closed surface or tets are needed");
    BRIO_CHECK(check_used(mesh, "triangle", mesh->triangle, mesh->triangle_count, 3, error));
    int64_t sides = 3 * mesh->triangle_count;
    Side *first = brio__alloc((size_t)sides, sizeof *first),
         *second = brio__alloc((size_t)sides, sizeof *second);
    int64_t *start = brio__alloc((size_t)mesh->vertex_count + 1, sizeof *start);
    BrioStatus status =
        first && second && start
            ? BRIO_OK
            : brio__error(error, BRIO_ERROR_MEMORY, "out of memory for the edges of a surface");
    if (status == BRIO_OK) {
        for (int64_t i = 0; i < sides; i++) {
            int32_t a = mesh->triangle[i], b = mesh->triangle[i % 3 == 2 ? i - 2 : i + 1];
            first[i] = (Side){.v = {BRIO_MIN(a, b), BRIO_MAX(a, b)}, .from = (int32_t)i};
        }
        status = check_closed(mesh, sort_sides(first, second, sides, 2, start, mesh->vertex_count),
                              sides, error);
    }
    brio__free(first);
    brio__free(second);
    brio__free(start);
    if (status != BRIO_OK) return status;
    status = brio__shell_outward(mesh->triangle, mesh->triangle_count, mesh->vertex_count, mesh->x);
    return status == BRIO_OK
               ? BRIO_OK
               : brio__error(error, status, "out of memory for the components of a surface");
}

/* The sides of all triangles in order, so that equal ones are neighbours; `from` is the triangle.
 * `room` is to be freed. */
static const Side *triangle_sides(const BrioMesh *mesh, Side **room)
{
    int64_t sides = 3 * mesh->triangle_count;
    Side *first = brio__alloc(2 * (size_t)sides, sizeof *first);
    int64_t *start = brio__alloc((size_t)mesh->vertex_count + 1, sizeof *start);
    const Side *side = NULL;
    *room = first;
    if (first && start) {
        for (int64_t i = 0; i < sides; i++) {
            const int32_t *v = mesh->triangle + 3 * (i / 3);
            int32_t a = v[i % 3], b = v[(i + 1) % 3];
            first[i] = (Side){.v = {BRIO_MIN(a, b), BRIO_MAX(a, b)}, .from = (int32_t)(i / 3)};
        }
        side = sort_sides(first, first + sides, sides, 2, start, mesh->vertex_count);
    }
    brio__free(start);
    return side;
}

BrioStatus brio__mesh_check_shell(const BrioMesh *mesh, BrioError *error)
{
    uint8_t *used = brio__calloc((size_t)mesh->vertex_count, 1);
    if (!used) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    BrioStatus status = BRIO_OK;
    for (int64_t t = 0; status == BRIO_OK && t < mesh->triangle_count; t++) {
        const int32_t *n = mesh->triangle + 3 * t;
        double e[3][3], square = 0, cross = 0;
        for (int k = 0; k < 3; k++) {
            double own = 0;
            used[n[k]] = 1;
            for (int r = 0; r < 3; r++) {
                e[k][r] = mesh->x[3 * (int64_t)n[(k + 1) % 3] + r] - mesh->x[3 * (int64_t)n[k] + r];
                own += e[k][r] * e[k][r];
            }
            square = fmax(square, own);
        }
        for (int r = 0; r < 3; r++) {
            double c =
                e[0][(r + 1) % 3] * e[1][(r + 2) % 3] - e[0][(r + 2) % 3] * e[1][(r + 1) % 3];
            cross += c * c;
        }
        if (!(sqrt(cross) > 1e-8 * square))
            status = brio__error(
                error, BRIO_ERROR_INPUT,
                "triangle %lld (vertices %d %d %d) has no area: remove it, or move a vertex",
                (long long)t, n[0], n[1], n[2]);
    }
    for (int64_t v = 0; status == BRIO_OK && v < mesh->vertex_count; v++)
        if (!used[v])
            status = brio__error(error, BRIO_ERROR_INPUT,
                                 "vertex %lld belongs to no triangle: remove it", (long long)v);
    brio__free(used);
    return status;
}

BrioStatus brio__mesh_hinges(const BrioMesh *mesh, int32_t **hinge, int64_t *count,
                             BrioError *error)
{
    int64_t sides = 3 * mesh->triangle_count;
    Side *room;
    const Side *side = triangle_sides(mesh, &room);
    BrioStatus status = side ? BRIO_OK : BRIO_ERROR_MEMORY;
    *hinge = NULL;
    *count = 0;
    for (int64_t i = 0; status == BRIO_OK && i + 2 < sides; i++)
        if (same_side(side + i, side + i + 2, 2))
            status = brio__error(
                error, BRIO_ERROR_INPUT,
                "the edge of vertices %d %d belongs to more than two triangles, among them %d, %d "
                "and %d (all counted from 0): a shell "
                "has no such seams; remove the triangles that occur twice or branch off",
                side[i].v[0], side[i].v[1], side[i].from, side[i + 1].from, side[i + 2].from);
    for (int64_t i = 0; status == BRIO_OK && i + 1 < sides; i++)
        *count += same_side(side + i, side + i + 1, 2);
    if (status == BRIO_OK) {
        *hinge = brio__alloc(4 * (size_t)*count + 1, sizeof **hinge);
        if (!*hinge) status = BRIO_ERROR_MEMORY;
    }
    for (int64_t i = 0, at = 0; status == BRIO_OK && i + 1 < sides; i++) {
        if (!same_side(side + i, side + i + 1, 2)) continue;
        int32_t *to = *hinge + 4 * at++;
        memcpy(to, side[i].v, 2 * sizeof *to);
        for (int k = 0; k < 2; k++) {
            const int32_t *v = mesh->triangle + 3 * (int64_t)side[i + k].from;
            for (int c = 0; c < 3; c++)
                if (v[c] != to[0] && v[c] != to[1]) to[2 + k] = v[c];
        }
    }
    brio__free(room);
    return status == BRIO_ERROR_MEMORY
               ? brio__error(error, status, "out of memory for the hinges of a mesh")
               : status;
}

BrioStatus brio__mesh_boundary(const BrioMesh *mesh, uint8_t *on)
{
    int64_t sides = 3 * mesh->triangle_count;
    Side *room;
    const Side *side = triangle_sides(mesh, &room);
    memset(on, 0, (size_t)mesh->vertex_count);
    for (int64_t i = 0, next; side && i < sides; i = next) {
        for (next = i + 1; next < sides && same_side(side + i, side + next, 2);) next++;
        if (next == i + 1) on[side[i].v[0]] = on[side[i].v[1]] = 1;
    }
    brio__free(room);
    return side ? BRIO_OK : BRIO_ERROR_MEMORY;
}

/* ---- adjacency -------------------------------------------------------------------------- */

/* Counts the neighbours of each vertex over these elements (`row` NULL), or enters them at
 * next[vertex]. */
static void enter_pairs(const int32_t *index, int64_t count, int corners, int64_t *next,
                        int32_t *row)
{
    for (int64_t e = 0; e < count; e++) {
        const int32_t *v = index + e * corners;
        for (int i = 0; i < corners; i++)
            for (int j = 0; j < corners; j++) {
                if (i == j) continue;
                if (row) row[next[v[i]]] = v[j];
                next[v[i]]++;
            }
    }
}

static void enter_all(const BrioMesh *mesh, int64_t *next, int32_t *row)
{
    enter_pairs(mesh->tet, mesh->tet_count, 4, next, row);
    enter_pairs(mesh->triangle, mesh->triangle_count, 3, next, row);
    enter_pairs(mesh->edge, mesh->edge_count, 2, next, row);
}

BrioStatus brio__mesh_adjacency(const BrioMesh *mesh, int64_t **start, int32_t **neighbour)
{
    *start = NULL;
    *neighbour = NULL;
    int64_t n = mesh->vertex_count;
    int64_t pairs = 12 * mesh->tet_count + 6 * mesh->triangle_count + 2 * mesh->edge_count;
    int64_t *begin = brio__calloc((size_t)n + 2, sizeof *begin);
    int64_t *next = brio__calloc((size_t)n + 2, sizeof *next);
    int32_t *row = brio__alloc((size_t)pairs + 1, sizeof *row),
            *sorted = brio__alloc((size_t)pairs + 1, sizeof *sorted);
    if (!begin || !next || !row || !sorted) {
        brio__free(begin);
        brio__free(next);
        brio__free(row);
        brio__free(sorted);
        return BRIO_ERROR_MEMORY;
    }
    enter_all(mesh, begin + 1, NULL);
    for (int64_t i = 0; i < n; i++) begin[i + 1] += begin[i];
    memcpy(next, begin, (size_t)(n + 1) * sizeof *next);
    enter_all(mesh, next, row);
    /* The relation is symmetric, so its transpose has the same rows, and comes out with each row
     * ascending. */
    memcpy(next, begin, (size_t)(n + 1) * sizeof *next);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = begin[i]; k < begin[i + 1]; k++) sorted[next[row[k]]++] = (int32_t)i;
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t from = begin[i], row_begin = kept;
        for (int64_t k = from; k < begin[i + 1]; k++)
            if (k == from || sorted[k] != sorted[k - 1]) row[kept++] = sorted[k];
        begin[i] = row_begin;
    }
    begin[n] = kept;
    brio__free(next);
    brio__free(sorted);
    *start = begin;
    *neighbour = row;
    return BRIO_OK;
}
