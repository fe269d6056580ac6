/* All intersections of surfaces: every edge is searched for in a tree of boxes over the triangles,
 * and where it belongs to no triangle also in one over such edges; pairs whose boxes overlap are
 * decided by exact predicates. The trees are built again for each set of positions, unless they are
 * kept: median splits along the longest side, O(n log n). */
#include "intersect.h"

#include "../vec.h"
#include "predicate.h"

#include <stdlib.h>
#include <string.h>

enum { LEAF = 4 };

/* ---- surfaces --------------------------------------------------------------------------- */

/* Unique edges among `count` pairs that stand in `pair`, to the end of the surface's. */
static void add_edges(BrioExactSurface *f, uint64_t *pair, int64_t count, int owner)
{
    qsort(pair, (size_t)count, sizeof *pair, brio__ascending_keys);
    for (int64_t k = 0; k < count; k++) {
        if (k > 0 && pair[k] == pair[k - 1]) continue;
        f->edge[2 * f->edge_count] = (int32_t)(pair[k] >> 32);
        f->edge[2 * f->edge_count + 1] = (int32_t)pair[k];
        f->edge_owner[f->edge_count++] = owner;
    }
}

static uint64_t edge_key(int64_t a, int64_t b)
{
    return (uint64_t)BRIO_MIN(a, b) << 32 | (uint64_t)BRIO_MAX(a, b);
}

static void add_triangles(BrioExactSurface *f, const BrioExactPart *part, int owner, uint64_t *pair)
{
    const int32_t *triangle = part->triangle;
    int64_t count = part->triangle_count, first = part->first;
    for (int64_t k = 0; k < 3 * count; k++) {
        f->triangle[3 * f->triangle_count + k] = (int32_t)(first + triangle[k]);
        pair[k] = edge_key(first + triangle[k], first + triangle[k % 3 == 2 ? k - 2 : k + 1]);
    }
    for (int64_t t = 0; t < count; t++) f->triangle_owner[f->triangle_count + t] = owner;
    f->triangle_first[owner] = f->triangle_count;
    f->triangle_count += count;
    add_edges(f, pair, 3 * count, owner);
}

static BrioStatus make_surface(const BrioExactPart *part, int owners, BrioExactSurface *f)
{
    int64_t triangles = 0, edges = 0;
    for (int i = 0; i < owners; i++) {
        triangles += part[i].triangle_count;
        edges += 3 * part[i].triangle_count + part[i].edge_count;
    }
    f->triangle = brio__alloc(3 * (size_t)triangles + 1, sizeof *f->triangle);
    f->triangle_owner = brio__alloc((size_t)triangles + 1, sizeof *f->triangle_owner);
    f->triangle_first = brio__calloc((size_t)owners + 1, sizeof *f->triangle_first);
    f->edge = brio__alloc(2 * (size_t)edges + 1, sizeof *f->edge);
    f->edge_owner = brio__alloc((size_t)edges + 1, sizeof *f->edge_owner);
    uint64_t *pair = brio__alloc((size_t)edges + 1, sizeof *pair);
    bool allocated =
        f->triangle && f->triangle_owner && f->triangle_first && f->edge && f->edge_owner && pair;
    for (int i = 0; allocated && i < owners; i++) add_triangles(f, &part[i], i, pair);
    f->line_first = f->edge_count;
    for (int i = 0; allocated && i < owners; i++) {
        const BrioExactPart *p = &part[i];
        for (int64_t e = 0; e < p->edge_count; e++)
            pair[e] = edge_key(p->first + p->edge[2 * e], p->first + p->edge[2 * e + 1]);
        add_edges(f, pair, p->edge_count, i);
    }
    brio__free(pair);
    return allocated ? BRIO_OK : BRIO_ERROR_MEMORY;
}

/* ---- trees of boxes --------------------------------------------------------------------- */

static BrioStatus make_tree(BrioBoxTree *tree, int corners, const int32_t *vertex, int64_t count)
{
    *tree = (BrioBoxTree){.corners = corners, .count = count, .vertex = vertex};
    tree->order = brio__alloc((size_t)count + 1, sizeof *tree->order);
    tree->middle = brio__alloc(3 * (size_t)count + 1, sizeof *tree->middle);
    tree->node = brio__alloc((size_t)count + 1, sizeof *tree->node); /* leaves hold two at least */
    return tree->order && tree->middle && tree->node ? BRIO_OK : BRIO_ERROR_MEMORY;
}

static void box_of(const double *x, const int32_t *vertex, int corners, double low[3],
                   double high[3])
{
    for (int r = 0; r < 3; r++) low[r] = INFINITY, high[r] = -INFINITY;
    for (int i = 0; i < corners; i++)
        for (int r = 0; r < 3; r++) {
            double value = x[3 * (int64_t)vertex[i] + r];
            if (value < low[r]) low[r] = value;
            if (value > high[r]) high[r] = value;
        }
}

/* Hoare's selection: the places before `k` hold the smaller middles. */
static void select_middle(BrioBoxTree *tree, int64_t begin, int64_t end, int64_t k, int axis)
{
    const double *middle = tree->middle + axis;
    int32_t *order = tree->order;
    for (int64_t low = begin, high = end - 1; low < high;) {
        double pivot = middle[3 * (int64_t)order[low + (high - low) / 2]];
        int64_t i = low, j = high;
        while (i <= j) {
            while (middle[3 * (int64_t)order[i]] < pivot) i++;
            while (middle[3 * (int64_t)order[j]] > pivot) j--;
            if (i > j) break;
            int32_t swap = order[i];
            order[i++] = order[j];
            order[j--] = swap;
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            return;
    }
}

static void bound_leaf(const BrioBoxTree *tree, const double *x, BrioBoxNode *node)
{
    double low[3], high[3];
    for (int r = 0; r < 3; r++) node->low[r] = INFINITY, node->high[r] = -INFINITY;
    for (int64_t k = node->begin; k < node->end; k++) {
        box_of(x, tree->vertex + tree->corners * (int64_t)tree->order[k], tree->corners, low, high);
        for (int r = 0; r < 3; r++) {
            if (low[r] < node->low[r]) node->low[r] = low[r];
            if (high[r] > node->high[r]) node->high[r] = high[r];
        }
    }
}

static void bound_children(const BrioBoxTree *tree, BrioBoxNode *node)
{
    const BrioBoxNode *left = node + 1, *right = &tree->node[node->right];
    for (int r = 0; r < 3; r++) {
        node->low[r] = fmin(left->low[r], right->low[r]);
        node->high[r] = fmax(left->high[r], right->high[r]);
    }
}

/* Splits at the middle primitive along the longest side of the box of their middles. */
static int64_t build_node(BrioBoxTree *tree, const double *x, int64_t begin, int64_t end)
{
    int64_t self = tree->nodes++;
    BrioBoxNode *node = &tree->node[self];
    *node = (BrioBoxNode){.begin = begin, .end = end};
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    if (end - begin <= LEAF) {
        bound_leaf(tree, x, node);
        return self;
    }
    int axis = 0;
    for (int64_t k = begin; k < end; k++)
        for (int r = 0; r < 3; r++) {
            double m = tree->middle[3 * (int64_t)tree->order[k] + r];
            if (m < low[r]) low[r] = m;
            if (m > high[r]) high[r] = m;
        }
    for (int r = 1; r < 3; r++)
        if (high[r] - low[r] > high[axis] - low[axis]) axis = r;
    int64_t split = begin + (end - begin) / 2;
    select_middle(tree, begin, end, split, axis);
    build_node(tree, x, begin, split);
    node->right = build_node(tree, x, split, end);
    bound_children(tree, node);
    return self;
}

static void build_tree(BrioBoxTree *tree, const double *x)
{
    for (int64_t i = tree->nodes - 1; tree->kept && i >= 0; i--) {
        BrioBoxNode *node = &tree->node[i];
        if (node->right)
            bound_children(tree, node);
        else
            bound_leaf(tree, x, node);
    }
    if (tree->kept) return;
    tree->nodes = 0;
    for (int64_t k = 0; k < tree->count; k++) {
        double low[3], high[3];
        tree->order[k] = (int32_t)k;
        box_of(x, tree->vertex + tree->corners * k, tree->corners, low, high);
        for (int r = 0; r < 3; r++) tree->middle[3 * k + r] = low[r] / 2 + high[r] / 2;
    }
    if (tree->count) build_node(tree, x, 0, tree->count);
}

static bool boxes_overlap(const double *low, const double *high, const double *other_low,
                          const double *other_high)
{
    return low[0] <= other_high[0] && other_low[0] <= high[0] && low[1] <= other_high[1] &&
           other_low[1] <= high[1] && low[2] <= other_high[2] && other_low[2] <= high[2];
}
/* ---- the search ------------------------------------------------------------------------- */

typedef struct Search {
    const BrioIntersector *in;
    const double *x;
    int64_t pairs, count, room;
    BrioIntersection *found;
    bool any; /* one is enough */
} Search;

static bool fixed(const BrioIntersector *in, const int32_t *vertex, int count)
{
    return in->fixed && in->fixed(in->context, vertex, count);
}

static bool excluded(const BrioIntersector *in, int a, int b)
{
    return in->excluded && in->excluded(in->context, a, b);
}

static bool shares_vertex(const int32_t *edge, const int32_t *other, int corners)
{
    for (int i = 0; i < corners; i++)
        if (other[i] == edge[0] || other[i] == edge[1]) return true;
    return false;
}

static int owner_of(const BrioExactSurface *f, const BrioBoxTree *tree, int64_t primitive)
{
    return tree->corners == 3 ? f->triangle_owner[primitive]
                              : f->edge_owner[f->line_first + primitive];
}

static void record(Search *search, int64_t e, const BrioBoxTree *tree, int64_t primitive)
{
    const BrioExactSurface *f = &search->in->surface;
    if (search->count++ >= search->room) return;
    BrioIntersection *at = &search->found[search->count - 1];
    bool triangle = tree->corners == 3;
    const int32_t *other = tree->vertex + tree->corners * primitive;
    int owner = owner_of(f, tree, primitive);
    *at = (BrioIntersection){.owner = {f->edge_owner[e], owner},
                             .number = e,
                             .edge = {f->edge[2 * e], f->edge[2 * e + 1]},
                             .other = {other[0], other[1], triangle ? other[2] : -1},
                             .triangle = triangle ? primitive - f->triangle_first[owner] : -1};
}

/* Six times the volume of a tet, in doubles. */
static double volume(const double *a, const double *b, const double *c, const double *d)
{
    double u[3], v[3], w[3];
    brio__subtract3(b, a, u);
    brio__subtract3(c, a, v);
    brio__subtract3(d, a, w);
    return brio__triple3(u, v, w);
}

/* Whether the segment p, q goes through the inside of the triangle a, b, c. */
static bool crosses(const double *p, const double *q, const double *a, const double *b,
                    const double *c)
{
    if (!(volume(a, b, c, p) * volume(a, b, c, q) < 0)) return false;
    double u = volume(p, q, a, b), v = volume(p, q, b, c), w = volume(p, q, c, a);
    return (u > 0 && v > 0 && w > 0) || (u < 0 && v < 0 && w < 0);
}

/* One edge against a tree, of whose primitives only those from `from` on count. */
static void search_edge(Search *search, int64_t e, bool edge_fixed, const BrioBoxTree *tree,
                        int64_t from)
{
    const BrioIntersector *in = search->in;
    const double *x = search->x;
    const int32_t *edge = search->in->surface.edge + 2 * e;
    const double *p = x + 3 * (int64_t)edge[0], *q = x + 3 * (int64_t)edge[1];
    double low[3], high[3], other_low[3], other_high[3];
    int64_t stack[64]; /* the tree is balanced: as deep as the logarithm of its size */
    int depth = 0;
    box_of(x, edge, 2, low, high);
    if (tree->count) stack[depth++] = 0;
    while (depth) {
        int64_t at = stack[--depth];
        const BrioBoxNode *node = &tree->node[at];
        if (!boxes_overlap(low, high, node->low, node->high)) continue;
        if (node->right) {
            stack[depth++] = node->right;
            stack[depth++] = at + 1;
            continue;
        }
        for (int64_t k = node->begin; k < node->end; k++) {
            int64_t primitive = tree->order[k];
            const int32_t *other = tree->vertex + tree->corners * primitive;
            if (primitive < from || shares_vertex(edge, other, tree->corners)) continue;
            box_of(x, other, tree->corners, other_low, other_high);
            if (!boxes_overlap(low, high, other_low, other_high)) continue;
            /* neither can do anything about it */
            if (edge_fixed && fixed(in, other, tree->corners)) continue;
            if (excluded(in, in->surface.edge_owner[e], owner_of(&in->surface, tree, primitive)))
                continue;
            search->pairs++;
            const double *a = x + 3 * (int64_t)other[0], *b = x + 3 * (int64_t)other[1];
            bool meets;
            if (tree->corners == 2)
                meets = brio__exact_segments(p, q, a, b);
            else if (in->rounded)
                meets = crosses(p, q, a, b, x + 3 * (int64_t)other[2]);
            else
                meets = brio__exact_segment_triangle(p, q, a, b, x + 3 * (int64_t)other[2]);
            if (meets) record(search, e, tree, primitive);
        }
    }
}

static void search_all(BrioIntersector *in, Search *search)
{
    const BrioExactSurface *f = &in->surface;
    build_tree(&in->triangles, search->x);
    build_tree(&in->lines, search->x);
    for (int64_t e = 0; e < f->edge_count && !(search->any && search->count); e++) {
        bool edge_fixed = fixed(in, f->edge + 2 * e, 2);
        search_edge(search, e, edge_fixed, &in->triangles, 0);
        if (e >= f->line_first)
            search_edge(search, e, edge_fixed, &in->lines, e - f->line_first + 1);
    }
}

int64_t brio__intersector_find(BrioIntersector *in, const double *x, BrioIntersection *found,
                               int64_t room, int64_t *pairs)
{
    Search search = {.in = in, .x = x, .room = room, .found = found};
    search_all(in, &search);
    if (pairs) *pairs = search.pairs;
    return search.count;
}

bool brio__intersector_any(BrioIntersector *in, const double *x)
{
    Search search = {.in = in, .x = x, .any = true};
    search_all(in, &search);
    return search.count > 0;
}

BrioStatus brio__intersector_create(const BrioExactPart *part, int count, BrioIntersector *in)
{
    *in = (BrioIntersector){0};
    const BrioExactSurface *f = &in->surface;
    BrioStatus status = make_surface(part, count, &in->surface);
    if (status == BRIO_OK) status = make_tree(&in->triangles, 3, f->triangle, f->triangle_count);
    if (status == BRIO_OK)
        status =
            make_tree(&in->lines, 2, f->edge + 2 * f->line_first, f->edge_count - f->line_first);
    if (status != BRIO_OK) brio__intersector_free(in);
    return status;
}

void brio__intersector_keep(BrioIntersector *in, const double *x)
{
    in->triangles.kept = in->lines.kept = false;
    build_tree(&in->triangles, x);
    build_tree(&in->lines, x);
    in->triangles.kept = in->lines.kept = true;
}

void brio__intersector_free(BrioIntersector *in)
{
    BrioExactSurface *f = &in->surface;
    BrioBoxTree *trees[] = {&in->triangles, &in->lines};
    for (int i = 0; i < 2; i++) {
        brio__free(trees[i]->order);
        brio__free(trees[i]->middle);
        brio__free(trees[i]->node);
    }
    brio__free(f->triangle);
    brio__free(f->triangle_owner);
    brio__free(f->triangle_first);
    brio__free(f->edge);
    brio__free(f->edge_owner);
    *in = (BrioIntersector){0};
}

int64_t brio__exact_mesh(const BrioMesh *mesh, BrioIntersection *found, int64_t room)
{
    BrioIntersector in;
    BrioExactPart part = {.triangle_count = mesh->triangle_count, .triangle = mesh->triangle};
    if (brio__intersector_create(&part, 1, &in) != BRIO_OK) return -1;
    int64_t count = brio__intersector_find(&in, mesh->x, found, room, NULL);
    brio__intersector_free(&in);
    return count;
}
