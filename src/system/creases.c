/* What the edges and vertices of a surface count for in sums of contact energies (surface.h), and
 * how sharp they are.
 *
 * The energy of a point p before a surface S is a sum over triangles, edges and vertices,
 *
 *     E(p) = sum_F b(d(p, F)) + sum_E n_E b(d(p, E)) + sum_u n_u b(d(p, u)).
 *
 * For each r, the triangles, edges and vertices that are nearer than r add up to the Euler
 * characteristic of the part of S within the ball of radius r around p: each meets the ball in a
 * convex set. Where that part is a disc, as it is before whatever is flat, convex or bends little,
 * they add up to 1, so that E(p) = b(d(p, S)): the energy does not depend on how S is cut into
 * triangles. Every term has a continuous gradient, and so has the sum. [Li2023] finds the same
 * counts for surfaces without a border. Nothing in this asks for triangles: of lines and points
 * the part within the ball is a piece of line or a point, whose characteristic is 1 as well.
 *
 * Crease: of an edge between two triangles of a surface that keeps its shape (an obstacle, an
 * affine body) with the angle a between the normals,
 *
 *     crease = y^2 (3 - 2 y),    y = min(1, a/10 degrees),
 *
 * and 1 of every other edge; of a vertex, that of its sharpest edge. What lies in a flat part is
 * not needed to keep surfaces apart: a flat edge is met by another edge no sooner than that edge's
 * ends, or the border of the flat part, meet the surface, and a flat vertex by a triangle no sooner
 * than the triangle's border. */
#include "surface.h"

#include "../vec.h"
#include "system.h"

#include <string.h>

static const double SHARP = 10 * 3.14159265358979323846 / 180;

static BrioStatus allocate(BrioSurface *s)
{
    size_t edges = (size_t)s->edge_count, vertices = (size_t)s->vertex_count;
    size_t faces = (size_t)s->primitive_count;
    s->edge_face_start = brio__calloc(edges + 1, sizeof(int32_t));
    s->edge_face = brio__calloc(3 * faces, sizeof(int32_t));
    s->vertex_face_start = brio__calloc(vertices + 1, sizeof(int32_t));
    s->vertex_face = brio__calloc(3 * faces, sizeof(int32_t));
    s->vertex_edge_start = brio__calloc(vertices + 1, sizeof(int32_t));
    s->vertex_edge = brio__alloc(2 * edges, sizeof(int32_t));
    s->edge_factor = brio__alloc(edges, sizeof(int32_t));
    s->vertex_factor = brio__alloc(vertices, sizeof(int32_t));
    s->edge_crease = brio__alloc(edges, sizeof(double));
    s->vertex_crease = brio__alloc(vertices, sizeof(double));
    s->vertex_owner = brio__alloc(vertices, sizeof(int32_t));
    return s->edge_face_start && s->edge_face && s->vertex_face_start && s->vertex_face &&
                   s->vertex_edge_start && s->vertex_edge && s->edge_factor && s->vertex_factor &&
                   s->edge_crease && s->vertex_crease && s->vertex_owner
               ? BRIO_OK
               : BRIO_ERROR_MEMORY;
}

/* Inverts a table of `width` targets for each of `count` sources: the sources of each target; -1
 * is none. Without `target` the sources are primitives and the targets their corners. */
static void invert(const int32_t *target, int width, int32_t count, const BrioPrimitive *primitive,
                   int32_t targets, int32_t *start, int32_t *source)
{
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < (int64_t)width * count; i++) {
            int32_t from = (int32_t)(i / width), to = -1;
            if (target)
                to = target[i];
            else if (i % width < primitive[from].corners)
                to = primitive[from].node[i % width];
            if (to < 0) continue;
            if (pass)
                source[start[to]++] = from;
            else
                start[to + 1]++;
        }
        for (int32_t k = 0; !pass && k < targets; k++) start[k + 1] += start[k];
    }
    memmove(start + 1, start, (size_t)targets * sizeof *start); /* each is where the next begins */
    start[0] = 0;
}

static bool has(const BrioPrimitive *face, int32_t v)
{
    return face->node[0] == v || face->node[1] == v || face->node[2] == v;
}

int32_t brio__edge_factor_without(const BrioSurface *s, int32_t edge, int32_t v, int32_t *face)
{
    int32_t triangles = 0;
    *face = -1;
    for (int32_t k = s->edge_face_start[edge]; k < s->edge_face_start[edge + 1]; k++) {
        const BrioPrimitive *p = &s->primitive[s->edge_face[k]];
        if (has(p, v)) continue;
        if (*face < 0) *face = s->edge_face[k];
        triangles += p->corners == 3;
    }
    return *face < 0 ? 0 : 1 - triangles;
}

int32_t brio__vertex_factor_without(const BrioSurface *s, int32_t u, int32_t v, int32_t *face)
{
    int32_t triangles = 0, edges = 0, any;
    *face = -1;
    for (int32_t k = s->vertex_face_start[u]; k < s->vertex_face_start[u + 1]; k++) {
        const BrioPrimitive *p = &s->primitive[s->vertex_face[k]];
        if (has(p, v)) continue;
        if (*face < 0) *face = s->vertex_face[k];
        triangles += p->corners == 3;
    }
    for (int32_t k = s->vertex_edge_start[u]; k < s->vertex_edge_start[u + 1]; k++)
        edges += brio__edge_factor_without(s, s->vertex_edge[k], v, &any);
    return *face < 0 ? 0 : 1 - triangles - edges;
}

/* Twice the area times the normal at rest; false: it has none. */
static bool normal_of(const BrioSurface *s, const BrioPrimitive *face, double n[3])
{
    const double *a = s->rest + 3 * (int64_t)face->node[0];
    const double *b = s->rest + 3 * (int64_t)face->node[1];
    const double *c = s->rest + 3 * (int64_t)face->node[2];
    double e[3], f[3];
    for (int r = 0; r < 3; r++) e[r] = b[r] - a[r], f[r] = c[r] - a[r];
    brio__cross3(e, f, n);
    return brio__dot3(n, n) > 0;
}

/* Whether the triangle goes from node a to node b. */
static bool goes(const BrioPrimitive *face, int32_t a, int32_t b)
{
    for (int k = 0; k < 3; k++)
        if (face->node[k] == a && face->node[(k + 1) % 3] == b) return true;
    return false;
}

static double crease(const BrioSurface *s, int32_t edge)
{
    int32_t first = s->edge_face_start[edge], a = s->edge[2 * edge], b = s->edge[2 * edge + 1];
    double n[2][3], cross[3];
    if (s->edge_face_start[edge + 1] - first != 2) return 1;
    const BrioPrimitive *face[2] = {&s->primitive[s->edge_face[first]],
                                    &s->primitive[s->edge_face[first + 1]]};
    if (face[0]->corners < 3) return 1;
    for (int k = 0; k < 2; k++)
        if (!normal_of(s, face[k], n[k])) return 1;
    brio__cross3(n[0], n[1], cross);
    double along = brio__dot3(n[0], n[1]);
    if (goes(face[0], a, b) == goes(face[1], a, b)) along = -along; /* one of them is turned */
    double y = fmin(1, atan2(sqrt(brio__dot3(cross, cross)), along) / SHARP);
    return y * y * (3 - 2 * y);
}

/* Whether an owner keeps its shape, or is mapped affinely: then what is flat stays flat. */
static bool keeps_shape(const BrioSystem *system, int owner)
{
    if (owner >= system->body_count) return !system->obstacle[owner - system->body_count].bends;
    return brio__body_is_affine(&system->body[owner]);
}

BrioStatus brio__surface_creases(BrioSurface *s, const BrioSystem *system)
{
    int32_t any;
    BRIO_CHECK(allocate(s));
    invert(s->face_edge, 3, s->primitive_count, NULL, s->edge_count, s->edge_face_start,
           s->edge_face);
    invert(NULL, 3, s->primitive_count, s->primitive, s->vertex_count, s->vertex_face_start,
           s->vertex_face);
    invert(s->edge, 2, s->edge_count, NULL, s->vertex_count, s->vertex_edge_start, s->vertex_edge);
    for (int32_t i = 0; i < s->primitive_count; i++)
        for (int k = 0; k < 3; k++)
            s->vertex_owner[s->primitive[i].node[k]] = s->primitive[i].owner;
    for (int32_t e = 0; e < s->edge_count; e++) {
        s->edge_factor[e] = brio__edge_factor_without(s, e, -1, &any);
        s->edge_crease[e] = keeps_shape(system, s->vertex_owner[s->edge[2 * e]]) ? crease(s, e) : 1;
    }
    for (int32_t v = 0; v < s->vertex_count; v++) {
        s->vertex_factor[v] = brio__vertex_factor_without(s, v, -1, &any);
        bool lone = s->vertex_edge_start[v] == s->vertex_edge_start[v + 1];
        s->vertex_crease[v] = lone ? 1 : 0;
        for (int32_t k = s->vertex_edge_start[v]; k < s->vertex_edge_start[v + 1]; k++)
            s->vertex_crease[v] = fmax(s->vertex_crease[v], s->edge_crease[s->vertex_edge[k]]);
    }
    return BRIO_OK;
}
