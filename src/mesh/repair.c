/* Repair, in order: vertices nearer than a tolerance become one (the first); elements that name a
 * vertex twice, triangles without area and elements that occur twice go; triangles are turned so
 * so that neighbours have the same orientation, closed components outward; vertices without
 * elements are removed;
 * then components that intersect each other or themselves are parted (untangle.h). */
#include "repair.h"

#include "../sets.h"
#include "../vec.h"
#include "within.h"

#include <stdlib.h>
#include <string.h>

#define MERGE 1e-7    /* of the box's diagonal */
#define GAP 1e-3      /* of the mean edge of the surface */
#define MIN_AREA 1e-8 /* twice the area, of the longest edge squared: as brio__mesh_check_shell */

/* ---- vertices --------------------------------------------------------------------------- */

/* A place along a line that is parallel to nothing that meshes have, and the vertex there. */
typedef struct Place {
    double at;
    int32_t vertex;
} Place;

static int by_place(const void *a, const void *b)
{
    const Place *p = a, *q = b;
    if (p->at != q->at) return p->at < q->at ? -1 : 1;
    return (p->vertex > q->vertex) - (p->vertex < q->vertex);
}

static void renumber(int32_t *node, int64_t count, const int32_t *number)
{
    for (int64_t i = 0; i < count; i++) node[i] = number[node[i]];
}

static BrioStatus merge(BrioMesh *mesh, double distance, BrioRepair *report)
{
    static const double line[3] = {0.5318, 0.6173, 0.5797};
    int64_t n = mesh->vertex_count;
    Place *place = brio__alloc((size_t)n + 1, sizeof *place);
    int32_t *number = brio__alloc((size_t)n + 1, sizeof *number);
    BrioStatus status = place && number ? BRIO_OK : BRIO_ERROR_MEMORY;
    for (int64_t v = 0; status == BRIO_OK && v < n; v++) {
        place[v] = (Place){brio__dot3(line, mesh->x + 3 * v), (int32_t)v};
        number[v] = (int32_t)v;
    }
    if (status == BRIO_OK) qsort(place, (size_t)n, sizeof *place, by_place);
    for (int64_t i = 0; status == BRIO_OK && i < n; i++)
        for (int64_t k = i + 1; k < n && place[k].at - place[i].at <= distance; k++) {
            int32_t a = place[i].vertex, b = place[k].vertex;
            if (brio__distance3(mesh->x + 3 * (int64_t)a, mesh->x + 3 * (int64_t)b) > distance)
                continue;
            while (number[a] != a) a = number[a];
            while (number[b] != b) b = number[b];
            if (a != b) report->merged++;
            number[BRIO_MAX(a, b)] = BRIO_MIN(a, b);
        }
    for (int64_t v = 0; status == BRIO_OK && v < n; v++) /* the minimum of each comes first */
        number[v] = number[number[v]];
    if (status == BRIO_OK && report->merged) {
        renumber(mesh->triangle, 3 * mesh->triangle_count, number);
        renumber(mesh->tet, 4 * mesh->tet_count, number);
        renumber(mesh->edge, 2 * mesh->edge_count, number);
    }
    brio__free(place);
    brio__free(number);
    return status;
}

/* ---- elements --------------------------------------------------------------------------- */

/* The vertices of an element in ascending order, and which one it is. */
typedef struct Named {
    int32_t vertex[4];
    int64_t element;
} Named;

static int by_vertices(const void *a, const void *b)
{
    const Named *p = a, *q = b;
    for (int k = 0; k < 4; k++)
        if (p->vertex[k] != q->vertex[k]) return p->vertex[k] < q->vertex[k] ? -1 : 1;
    return (p->element > q->element) - (p->element < q->element);
}

static bool degenerate(const BrioMesh *mesh, const int32_t *node, int corners)
{
    for (int i = 1; i < corners; i++)
        for (int j = 0; j < i; j++)
            if (node[i] == node[j]) return true;
    if (corners != 3) return false;
    const double *x[3];
    double n[3], longest = 0;
    for (int k = 0; k < 3; k++) x[k] = mesh->x + 3 * (int64_t)node[k];
    for (int k = 0; k < 3; k++)
        longest = fmax(longest, brio__square_distance3(x[k], x[(k + 1) % 3]));
    brio__triangle_normal(x[0], x[1], x[2], n);
    return !(brio__norm3(n) > MIN_AREA * longest);
}

static Named named(const int32_t *node, int corners, int64_t element)
{
    Named name = {{-1, -1, -1, -1}, element};
    memcpy(name.vertex, node, (size_t)corners * sizeof *node);
    for (int i = 1; i < corners; i++)
        for (int j = i; j > 0 && name.vertex[j] < name.vertex[j - 1]; j--) {
            int32_t swap = name.vertex[j];
            name.vertex[j] = name.vertex[j - 1];
            name.vertex[j - 1] = swap;
        }
    return name;
}

/* Removes degenerate elements and duplicates; the first of several equal ones stays. `kind`: one
 * byte per element, removed with it; may be NULL. */
static BrioStatus sift(const BrioMesh *mesh, int corners, int32_t *node, uint8_t *kind,
                       int64_t *count, BrioRepair *report)
{
    Named *name = brio__alloc((size_t)*count + 1, sizeof *name);
    uint8_t *gone = brio__calloc((size_t)*count + 1, 1);
    int64_t names = 0, kept = 0;
    BrioStatus status = name && gone ? BRIO_OK : BRIO_ERROR_MEMORY;
    for (int64_t e = 0; status == BRIO_OK && e < *count; e++) {
        gone[e] = degenerate(mesh, node + corners * e, corners);
        report->degenerate += gone[e];
        if (!gone[e]) name[names++] = named(node + corners * e, corners, e);
    }
    if (status == BRIO_OK) qsort(name, (size_t)names, sizeof *name, by_vertices);
    for (int64_t i = 1; status == BRIO_OK && i < names; i++) {
        if (memcmp(name[i].vertex, name[i - 1].vertex, sizeof name[i].vertex)) continue;
        gone[name[i].element] = 1;
        report->duplicate++;
    }
    for (int64_t e = 0; status == BRIO_OK && e < *count; e++) {
        if (gone[e]) continue;
        memmove(node + corners * kept, node + corners * e, (size_t)corners * sizeof *node);
        if (kind) kind[kept] = kind[e];
        kept++;
    }
    if (status == BRIO_OK) *count = kept;
    brio__free(name);
    brio__free(gone);
    return status;
}

static void turn_tets(BrioMesh *mesh, BrioRepair *report)
{
    for (int64_t t = 0; t < mesh->tet_count; t++) {
        int32_t *v = mesh->tet + 4 * t, swap = v[2];
        const double *x = mesh->x;
        if (brio__tet_volume6(x + 3 * (int64_t)v[0], x + 3 * (int64_t)v[1], x + 3 * (int64_t)v[2],
                              x + 3 * (int64_t)v[3]) >= 0)
            continue;
        v[2] = v[3];
        v[3] = swap;
        report->turned++;
    }
}

/* ---- sides ------------------------------------------------------------------------------ */

/* An edge of a triangle. */
typedef struct Side {
    uint64_t key;
    int32_t triangle;
    bool forward; /* from its lower vertex to the higher one */
} Side;

static int by_key(const void *a, const void *b)
{
    const Side *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return (p->triangle > q->triangle) - (p->triangle < q->triangle);
}

static void make_sides(const BrioMesh *mesh, Side *side)
{
    for (int64_t i = 0; i < 3 * mesh->triangle_count; i++) {
        int32_t a = mesh->triangle[i], b = mesh->triangle[i % 3 == 2 ? i - 2 : i + 1];
        side[i] = (Side){(uint64_t)BRIO_MIN(a, b) << 32 | (uint64_t)BRIO_MAX(a, b),
                         (int32_t)(i / 3), a < b};
    }
    qsort(side, 3 * (size_t)mesh->triangle_count, sizeof *side, by_key);
}

/* The triangle across an edge of triangle t, if two share it, and whether both go along the edge
 * alike, so that their orientations differ. */
static int32_t across(const BrioMesh *mesh, const Side *side, int32_t t, int k, bool *alike)
{
    int32_t a = mesh->triangle[3 * (int64_t)t + k];
    int32_t b = mesh->triangle[3 * (int64_t)t + (k + 1) % 3];
    uint64_t key = (uint64_t)BRIO_MIN(a, b) << 32 | (uint64_t)BRIO_MAX(a, b);
    int64_t count = 3 * mesh->triangle_count;
    int64_t low = brio__first_key(side, count, sizeof *side, key);
    if (low + 1 >= count || side[low + 1].key != key) return -1;
    if (low + 2 < count && side[low + 2].key == key) return -1; /* a branch has no sides */
    *alike = side[low].forward == side[low + 1].forward;
    return side[low].triangle == t ? side[low + 1].triangle : side[low].triangle;
}

enum { UNSEEN, KEPT, TURNED };

static void turn(int32_t *triangle)
{
    int32_t swap = triangle[1];
    triangle[1] = triangle[2];
    triangle[2] = swap;
}

/* Walks over one component from its first triangle, and writes its triangles to `list`. */
static int64_t walk(const BrioMesh *mesh, const Side *side, int32_t first, uint8_t *mark,
                    int32_t *list, BrioRepair *report)
{
    int64_t count = 0;
    mark[first] = KEPT;
    list[count++] = first;
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            bool alike;
            int32_t t = list[i], other = across(mesh, side, t, k, &alike);
            if (other < 0) continue;
            uint8_t want = alike == (mark[t] == KEPT) ? TURNED : KEPT;
            if (mark[other] == UNSEEN) {
                mark[other] = want;
                list[count++] = other;
            } else if (mark[other] != want) {
                report->conflicts++;
            }
        }
    return count;
}

/* Turns what the walk has marked; then all of a closed component that looks inward. */
static BrioStatus turn_component(BrioMesh *mesh, const int32_t *list, int64_t count, uint8_t *mark,
                                 int32_t *copy, BrioRepair *report)
{
    bool closed;
    for (int64_t i = 0; i < count; i++) {
        int32_t *t = mesh->triangle + 3 * (int64_t)list[i];
        if (mark[list[i]] == TURNED) turn(t);
        memcpy(copy + 3 * i, t, 3 * sizeof *t);
    }
    BrioShell shell = {count, copy, 0};
    BRIO_CHECK(brio__shell_closed(&shell, &closed));
    bool inward = closed && brio__shell_volume6(&shell, mesh->x) < 0;
    for (int64_t i = 0; i < count; i++) {
        if (inward) turn(mesh->triangle + 3 * (int64_t)list[i]);
        report->turned += inward != (mark[list[i]] == TURNED);
    }
    return BRIO_OK;
}

static BrioStatus orient(BrioMesh *mesh, BrioRepair *report)
{
    size_t n = (size_t)mesh->triangle_count;
    Side *side = brio__alloc(3 * n + 1, sizeof *side);
    uint8_t *mark = brio__calloc(n + 1, 1);
    int32_t *list = brio__alloc(4 * n + 1, sizeof *list), *copy = list + n;
    BrioStatus status = side && mark && list ? BRIO_OK : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK) make_sides(mesh, side);
    for (int32_t t = 0; status == BRIO_OK && t < mesh->triangle_count; t++) {
        if (mark[t] != UNSEEN) continue;
        int64_t count = walk(mesh, side, t, mark, list, report);
        status = turn_component(mesh, list, count, mark, copy, report);
    }
    report->conflicts /= 2; /* seen from both sides */
    brio__free(side);
    brio__free(mark);
    brio__free(list);
    return status;
}

/* ---- intersections ---------------------------------------------------------------------- */

/* The mesh with its vertices in the order of components, as parts. */
typedef struct Parts {
    int count;
    BrioTanglePart *part;
    int32_t *component; /* of each vertex */
    int32_t *order;     /* vertices by component */
    int32_t *place;     /* of each vertex in that order */
    int32_t *triangle, *tet;
    double *x;
} Parts;

static void free_parts(Parts *p)
{
    brio__free(p->part);
    brio__free(p->component);
    brio__free(p->order);
    brio__free(p->place);
    brio__free(p->triangle);
    brio__free(p->tet);
    brio__free(p->x);
}

static void join(int32_t *root, const int32_t *node, int64_t count, int corners)
{
    for (int64_t e = 0; e < count; e++)
        for (int k = 1; k < corners; k++) {
            int32_t a = brio__set_root(root, node[corners * e]);
            int32_t b = brio__set_root(root, node[corners * e + k]);
            root[BRIO_MAX(a, b)] = BRIO_MIN(a, b);
        }
}

/* Numbers components by their first vertices, counts their vertices, and orders these. */
static BrioStatus find_components(const BrioMesh *mesh, Parts *p)
{
    int32_t n = (int32_t)mesh->vertex_count;
    int32_t *root = p->place; /* until places are known */
    for (int32_t v = 0; v < n; v++) root[v] = v;
    join(root, mesh->triangle, mesh->triangle_count, 3);
    join(root, mesh->tet, mesh->tet_count, 4);
    join(root, mesh->edge, mesh->edge_count, 2);
    for (int32_t v = 0; v < n; v++)
        p->component[v] =
            brio__set_root(root, v) == v ? p->count++ : p->component[brio__set_root(root, v)];
    p->part = brio__calloc((size_t)p->count + 1, sizeof *p->part);
    if (!p->part) return BRIO_ERROR_MEMORY;
    for (int32_t v = 0; v < n; v++) p->part[p->component[v]].count++;
    for (int i = 1; i < p->count; i++)
        p->part[i].first = p->part[i - 1].first + p->part[i - 1].count;
    for (int i = 0; i < p->count; i++) p->part[i].count = 0;
    for (int32_t v = 0; v < n; v++) {
        BrioTanglePart *part = &p->part[p->component[v]];
        p->place[v] = (int32_t)(part->first + part->count++);
        p->order[p->place[v]] = v;
    }
    return BRIO_OK;
}

/* Elements by component, in the components' own numbers. */
static void sort_elements(Parts *p, const int32_t *node, int64_t count, int corners, int32_t *out)
{
    int64_t at = 0;
    for (int i = 0; i < p->count; i++) {
        BrioTanglePart *part = &p->part[i];
        int32_t *begin = out + corners * at;
        int64_t elements = corners == 3 ? part->triangle_count : part->tet_count;
        if (corners == 3)
            part->triangle = begin;
        else
            part->tet = begin;
        at += elements;
        part->edge_count = 0; /* how many are in place, until the end */
    }
    for (int64_t e = 0; e < count; e++) {
        BrioTanglePart *part = &p->part[p->component[node[corners * e]]];
        int32_t *to = (int32_t *)(corners == 3 ? part->triangle : part->tet);
        for (int k = 0; k < corners; k++)
            to[corners * part->edge_count + k] =
                (int32_t)(p->place[node[corners * e + k]] - part->first);
        part->edge_count++;
    }
    for (int i = 0; i < p->count; i++) p->part[i].edge_count = 0;
}

static BrioStatus make_parts(const BrioMesh *mesh, Parts *p)
{
    size_t n = (size_t)mesh->vertex_count + 1;
    p->component = brio__alloc(n, sizeof *p->component);
    p->order = brio__alloc(n, sizeof *p->order);
    p->place = brio__alloc(n, sizeof *p->place);
    p->triangle = brio__alloc(3 * (size_t)mesh->triangle_count + 1, sizeof *p->triangle);
    p->tet = brio__alloc(4 * (size_t)mesh->tet_count + 1, sizeof *p->tet);
    p->x = brio__alloc(3 * n, sizeof *p->x);
    if (!p->component || !p->order || !p->place || !p->triangle || !p->tet || !p->x)
        return BRIO_ERROR_MEMORY;
    BRIO_CHECK(find_components(mesh, p));
    for (int64_t t = 0; t < mesh->triangle_count; t++)
        p->part[p->component[mesh->triangle[3 * t]]].triangle_count++;
    for (int64_t t = 0; t < mesh->tet_count; t++)
        p->part[p->component[mesh->tet[4 * t]]].tet_count++;
    sort_elements(p, mesh->triangle, mesh->triangle_count, 3, p->triangle);
    sort_elements(p, mesh->tet, mesh->tet_count, 4, p->tet);
    for (int i = 0; i < p->count; i++) p->part[i].motion = BRIO_TANGLE_BENDS;
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        memcpy(p->x + 3 * v, mesh->x + 3 * (int64_t)p->order[v], 3 * sizeof *p->x);
    return BRIO_OK;
}

static double mean_edge(const BrioMesh *mesh)
{
    double sum = 0;
    for (int64_t i = 0; i < 3 * mesh->triangle_count; i++)
        sum += brio__distance3(mesh->x + 3 * (int64_t)mesh->triangle[i],
                               mesh->x + 3 * (int64_t)mesh->triangle[i % 3 == 2 ? i - 2 : i + 1]);
    return mesh->triangle_count ? sum / (3 * (double)mesh->triangle_count) : 0;
}

static BrioStatus untangle(BrioMesh *mesh, BrioRepair *report)
{
    Parts p = {0};
    BrioStatus status = make_parts(mesh, &p);
    if (status == BRIO_OK) {
        BrioTangle tangle = {.part_count = p.count,
                             .part = p.part,
                             .vertex_count = mesh->vertex_count,
                             .x = p.x,
                             .margin = report->gap};
        status = brio__untangle(&tangle, &report->untangled);
    }
    if (status == BRIO_OK) {
        BrioUntangled *u = &report->untangled;
        report->components = p.count;
        if (u->vertex >= 0) u->vertex = p.order[u->vertex];
        for (int64_t v = 0; v < mesh->vertex_count; v++)
            memcpy(mesh->x + 3 * (int64_t)p.order[v], p.x + 3 * v, 3 * sizeof *p.x);
    }
    free_parts(&p);
    return status;
}

/* ---- all of it -------------------------------------------------------------------------- */

static BrioStatus sift_all(BrioMesh *mesh, BrioRepair *report)
{
    BRIO_CHECK(sift(mesh, 4, mesh->tet, NULL, &mesh->tet_count, report));
    BRIO_CHECK(sift(mesh, 2, mesh->edge, mesh->edge_kind, &mesh->edge_count, report));
    return sift(mesh, 3, mesh->triangle, NULL, &mesh->triangle_count, report);
}

BrioStatus brio__mesh_repair(BrioMesh *mesh, const BrioRepairOptions *options, BrioRepair *report,
                             BrioError *error)
{
    *report = (BrioRepair){.merge = options->merge < 0 ? MERGE * brio__mesh_diagonal(mesh)
                                                       : options->merge,
                           .untangled.vertex = -1};
    brio__faces_free(mesh->faces);
    mesh->faces = NULL;
    brio__vertex_groups_free(mesh->groups);
    mesh->groups = NULL;
    if (mesh->tet_count) mesh->triangle_count = 0; /* the surface is extracted again */
    BrioStatus status = merge(mesh, report->merge, report);
    if (status == BRIO_OK) status = sift_all(mesh, report);
    if (status != BRIO_OK) return brio__no_memory(error);
    turn_tets(mesh, report);
    int64_t before = mesh->vertex_count;
    if (brio__mesh_compact(mesh) != BRIO_OK) return brio__no_memory(error);
    report->unused = before - mesh->vertex_count - report->merged;
    if (mesh->tet_count) BRIO_CHECK(brio__mesh_surface(mesh, error));
    if (mesh->tet_count + mesh->triangle_count + mesh->edge_count == 0)
        return brio__error(error, BRIO_ERROR_INPUT, "nothing is left: no element has a size");
    if (!mesh->tet_count) status = orient(mesh, report);
    report->gap = options->gap > 0 ? options->gap : GAP * mean_edge(mesh);
    if (status == BRIO_OK) status = untangle(mesh, report);
    return status == BRIO_OK ? BRIO_OK : brio__no_memory(error);
}
