/* Surfaces: which vertices, edges and triangles touch, and trees over them (surface.h). */
#include "surface.h"

#include "system.h"

#include <stdlib.h>
#include <string.h>

enum { LEAF = 4 }; /* primitives in a leaf of a tree, at most */

void brio__surface_free(BrioSurface *s)
{
    if (!s) return;
#define X(name, count) brio__free(s->name);
    BRIO_SURFACE_ARRAYS(X, s)
#undef X
    brio__free(s);
}

/* What one body or obstacle has: triangles, else edges, else vertices. */
typedef struct Piece {
    int64_t first, vertices; /* world vertices */
    int64_t count;
    int corners;
    const int32_t *element; /* in own vertex numbers; NULL: every vertex */
} Piece;

static Piece piece_by(int64_t first, int64_t vertices, int64_t triangles, const int32_t *triangle,
                      int64_t edges, const int32_t *edge)
{
    if (triangles) return (Piece){first, vertices, triangles, 3, triangle};
    if (edges) return (Piece){first, vertices, edges, 2, edge};
    return (Piece){first, vertices, vertices, 1, NULL};
}

static bool piece_of(const BrioSystem *system, int owner, Piece *piece)
{
    if (owner >= system->body_count) {
        const BrioObstacle *o = &system->obstacle[owner - system->body_count];
        *piece =
            piece_by(o->first, o->count, o->triangle_count, o->triangle, o->edge_count, o->edge);
        /* laws between vertices meet obstacles by their signed distance (contact/collider.h) */
        return o->count > 0 && system->collider_params < 0;
    }
    const BrioBody *b = &system->body[owner];
    const BrioEnergy *energy = system->term[b->term].energy;
    if (energy->traits & BRIO_ENERGY_ALONG_X) return false; /* has no sides */
    *piece = piece_by(b->first, b->count, b->triangle_count, b->triangle, b->edge_count, b->edge);
    return true;
}

/* ---- edges ------------------------------------------------------------------------------ */

typedef struct Side {
    int32_t a, b, primitive, place;
} Side;

static int by_ends(const void *x, const void *y)
{
    const Side *p = x, *q = y;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    if (p->b != q->b) return p->b < q->b ? -1 : 1;
    return p->primitive < q->primitive ? -1 : p->primitive > q->primitive;
}

/* Gives every edge to the first primitive that has it. */
static BrioStatus find_edges(BrioSurface *s, const double *X)
{
    int64_t sides = 0;
    for (int32_t i = 0; i < s->primitive_count; i++)
        sides += s->primitive[i].corners == 3 ? 3 : s->primitive[i].corners == 2;
    Side *side = brio__alloc((size_t)sides, sizeof *side);
    s->edge = brio__alloc(2 * (size_t)sides, sizeof *s->edge);
    s->edge_square = brio__alloc((size_t)sides, sizeof *s->edge_square);
    s->face_edge = brio__alloc(3 * (size_t)s->primitive_count, sizeof *s->face_edge);
    if (!side || !s->edge || !s->edge_square || !s->face_edge) {
        brio__free(side);
        return BRIO_ERROR_MEMORY;
    }
    sides = 0;
    for (int32_t i = 0; i < s->primitive_count; i++) {
        BrioPrimitive *p = &s->primitive[i];
        for (int k = 0; k < 3; k++) p->edge[k] = s->face_edge[3 * (int64_t)i + k] = -1;
        for (int k = 0; k < (p->corners == 3 ? 3 : p->corners == 2); k++) {
            int32_t a = p->node[k], b = p->node[(k + 1) % 3];
            side[sides++] = (Side){BRIO_MIN(a, b), BRIO_MAX(a, b), i, k};
        }
    }
    qsort(side, (size_t)sides, sizeof *side, by_ends);
    for (int64_t k = 0; k < sides; k++) {
        bool again = k > 0 && side[k].a == side[k - 1].a && side[k].b == side[k - 1].b;
        int32_t e = again ? s->edge_count - 1 : s->edge_count++;
        s->face_edge[3 * (int64_t)side[k].primitive + side[k].place] = e;
        if (again) continue;
        s->edge[2 * e] = side[k].a;
        s->edge[2 * e + 1] = side[k].b;
        s->edge_square[e] = 0;
        for (int r = 0; r < 3; r++) {
            double d =
                X[3 * (int64_t)s->vertex[side[k].a] + r] - X[3 * (int64_t)s->vertex[side[k].b] + r];
            s->edge_square[e] += d * d;
        }
        s->primitive[side[k].primitive].edge[side[k].place] = e;
    }
    brio__free(side);
    return BRIO_OK;
}

/* ---- trees ------------------------------------------------------------------------------ */

typedef struct Centre {
    double x[3], along; /* along: the coordinate that it is sorted by */
    BrioPrimitive primitive;
    int32_t number; /* keeps sorting unambiguous */
} Centre;

static int by_centre(const void *a, const void *b)
{
    const Centre *p = a, *q = b;
    if (p->along != q->along) return p->along < q->along ? -1 : 1;
    return p->number < q->number ? -1 : p->number > q->number;
}

/* The tree of `count` primitives, which come from `first` on; returns its root. */
static int32_t split(BrioSurface *s, Centre *centre, int32_t first, int32_t count)
{
    int32_t at = s->node_count++;
    s->node[at] = (BrioTreeNode){first, count, 0};
    if (count <= LEAF) return at;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = 0; i < count; i++)
        for (int r = 0; r < 3; r++) {
            low[r] = fmin(low[r], centre[i].x[r]);
            high[r] = fmax(high[r], centre[i].x[r]);
        }
    int axis = 0;
    for (int r = 1; r < 3; r++)
        if (high[r] - low[r] > high[axis] - low[axis]) axis = r;
    for (int32_t i = 0; i < count; i++) centre[i].along = centre[i].x[axis];
    qsort(centre, (size_t)count, sizeof *centre, by_centre);
    split(s, centre, first, count / 2);
    s->node[at].right = split(s, centre + count / 2, first + count / 2, count - count / 2);
    return at;
}

/* Sorts the primitives of a part into a tree. */
static BrioStatus plant(BrioSurface *s, int32_t first, int32_t count, const double *x, int owner)
{
    Centre *centre = brio__alloc((size_t)count, sizeof *centre);
    if (!centre) return BRIO_ERROR_MEMORY;
    bool moves = false;
    for (int32_t i = 0; i < count; i++) {
        const BrioPrimitive *p = &s->primitive[first + i];
        centre[i] = (Centre){.primitive = *p, .number = i};
        for (int k = 0; k < 3; k++) {
            for (int r = 0; r < 3; r++)
                centre[i].x[r] += x[3 * (int64_t)s->vertex[p->node[k]] + r] / 3;
            moves |= !s->fixed[p->node[k]];
        }
    }
    int32_t root = split(s, centre, first, count);
    for (int32_t i = 0; i < count; i++) s->primitive[first + i] = centre[i].primitive;
    s->part[s->part_count++] = (BrioSurfacePart){owner, root, moves};
    brio__free(centre);
    return BRIO_OK;
}

/* ---- all together ----------------------------------------------------------------------- */

static void add_piece(BrioSurface *s, const BrioSystem *system, int owner, const Piece *piece,
                      const double *X, int32_t *number)
{
    for (int64_t e = 0; e < piece->count; e++) {
        BrioPrimitive *p = &s->primitive[s->primitive_count++];
        *p = (BrioPrimitive){.corners = (uint8_t)piece->corners, .owner = owner};
        for (int k = 0; k < 3; k++) {
            int own = piece->element
                          ? piece->element[piece->corners * e + BRIO_MIN(k, piece->corners - 1)]
                          : (int32_t)e;
            int64_t v = piece->first + own;
            if (number[v] < 0) {
                number[v] = s->vertex_count;
                s->vertex[s->vertex_count] = (int32_t)v;
                memcpy(s->rest + 3 * (int64_t)s->vertex_count, X + 3 * v, 3 * sizeof *X);
                s->fixed[s->vertex_count] = system->map_start[v] == system->map_start[v + 1];
                s->vertex_count++;
                p->vertices |= (uint8_t)(1u << k);
            }
            p->node[k] = number[v];
        }
    }
}

static BrioStatus fill(BrioSurface *s, const BrioSystem *system, const double *X, const double *x,
                       int32_t *number)
{
    int owners = brio__owner_count(system);
    int32_t *start = brio__calloc((size_t)owners + 1, sizeof *start);
    BrioStatus status = start ? BRIO_OK : BRIO_ERROR_MEMORY;
    Piece piece;
    for (int64_t v = 0; v < system->vertex_count; v++) number[v] = -1;
    for (int i = 0; status == BRIO_OK && i < owners; i++) {
        if (piece_of(system, i, &piece)) add_piece(s, system, i, &piece, X, number);
        start[i + 1] = s->primitive_count;
    }
    for (int i = 0; status == BRIO_OK && i < owners; i++)
        if (start[i + 1] > start[i]) status = plant(s, start[i], start[i + 1] - start[i], x, i);
    if (status == BRIO_OK) status = find_edges(s, X);
    brio__free(start);
    return status;
}

BrioStatus brio__surface_create(const BrioSystem *system, const double *X, const double *x,
                                BrioSurface **surface)
{
    int64_t primitives = 0, vertices = 0;
    int owners = brio__owner_count(system);
    Piece piece;
    for (int i = 0; i < owners; i++)
        if (piece_of(system, i, &piece)) {
            primitives += piece.count;
            vertices += piece.vertices;
        }
    *surface = NULL;
    if (primitives == 0) return BRIO_OK;
    if (primitives > INT32_MAX / 8) return BRIO_ERROR_TOO_LARGE;
    BrioSurface *s = brio__calloc(1, sizeof *s);
    if (!s) return BRIO_ERROR_MEMORY;
    s->vertex = brio__alloc((size_t)vertices, sizeof *s->vertex);
    s->rest = brio__alloc(3 * (size_t)vertices, sizeof *s->rest);
    s->fixed = brio__alloc((size_t)vertices, sizeof *s->fixed);
    s->primitive = brio__alloc((size_t)primitives, sizeof *s->primitive);
    s->node = brio__alloc(2 * (size_t)primitives + (size_t)owners, sizeof *s->node);
    s->part = brio__alloc((size_t)owners, sizeof *s->part);
    int32_t *number = brio__alloc((size_t)system->vertex_count, sizeof *number);
    BrioStatus status =
        s->vertex && s->rest && s->fixed && s->primitive && s->node && s->part && number
            ? BRIO_OK
            : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK) status = fill(s, system, X, x, number);
    if (status == BRIO_OK) status = brio__surface_creases(s, system);
    brio__free(number);
    if (status == BRIO_OK)
        *surface = s;
    else
        brio__surface_free(s);
    return status;
}
