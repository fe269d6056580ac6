/* Two sheets intersect along a line. It ends at edges of the sheets or, where a sheet passes
 * through itself, at a point where it is pinched. Each edge that crosses a triangle is a corner of
 * this line. From there it goes on in the faces i (one or two) next to the edge, in unit directions
 * R_i. With the direction E of the edge and the normal N of the triangle, the line becomes shorter
 * if the edge is shifted against the triangle along [Volino2006]
 *
 *     G = sum_i (R_i - 2 (E.R_i)/(E.N) N).
 *
 * In the midst of a straight line the R_i cancel: what acts are its ends.
 *
 * These forces act near pinches only, where edge and triangle are near each other at rest too; on
 * all of a heap's hundred intersections they would shake it forever. Other lines come apart by
 * themselves when the sheet unfolds, unless vertices next to them repel each other: those are on
 * the wrong side of each other, and hold the line in its place. So there a second force, that of
 * the law at the start of the step, takes the repulsion away. What moves in the step is repelled as
 * before: the two forces together oppose the motion, and do not drive it. */
#include "contour.h"

#include "../mesh/intersect.h"
#include "../vec.h"
#include "contact.h"
#include "law.h"

#include <stdlib.h>
#include <string.h>

#define PINCH 6  /* edge lengths between what crosses, at rest, up to which forces act */
#define PAIRS 12 /* four corners of the faces at an edge, three of a triangle */

struct BrioContour {
    const BrioSystem *system;
    BrioIntersector in;
    double *rest;    /* positions at rest, of all world vertices */
    int32_t *beside; /* the third corners of the triangles at each edge, two; -1: none */
    BrioIntersection *found;
    uint64_t *pair; /* of vertices on both sides of an intersection, PAIRS for each */
    int64_t room;
};

static bool is_sheet(const BrioBody *b) { return b->triangle_count > 0 && b->tet_count == 0; }

/* A sheet is pinched by itself. */
static bool excluded(const void *system, int a, int b)
{
    return a != b || brio__excluded(system, a, b);
}

void brio__contour_free(BrioContour *c)
{
    if (!c) return;
    brio__intersector_free(&c->in);
    brio__free(c->rest);
    brio__free(c->beside);
    brio__free(c->found);
    brio__free(c->pair);
    brio__free(c);
}

typedef struct Side {
    uint64_t key; /* of an edge */
    int32_t corner;
} Side;

static uint64_t key_of(int32_t a, int32_t b)
{
    return (uint64_t)BRIO_MIN(a, b) << 32 | (uint64_t)BRIO_MAX(a, b);
}

static int compare_sides(const void *a, const void *b)
{
    const Side *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return (p->corner > q->corner) - (p->corner < q->corner);
}

static BrioStatus find_sides(BrioContour *c)
{
    const BrioExactSurface *f = &c->in.surface;
    int64_t count = 3 * f->triangle_count;
    Side *side = brio__alloc((size_t)count + 1, sizeof *side);
    c->beside = brio__alloc(2 * (size_t)f->edge_count + 1, sizeof *c->beside);
    if (!side || !c->beside) {
        brio__free(side);
        return BRIO_ERROR_MEMORY;
    }
    for (int64_t k = 0; k < count; k++) {
        const int32_t *t = f->triangle + k / 3 * 3;
        side[k] = (Side){key_of(t[k % 3], t[(k + 1) % 3]), t[(k + 2) % 3]};
    }
    qsort(side, (size_t)count, sizeof *side, compare_sides);
    for (int64_t e = 0; e < f->edge_count; e++) {
        uint64_t key = key_of(f->edge[2 * e], f->edge[2 * e + 1]);
        int64_t low = brio__first_key(side, count, sizeof *side, key);
        for (int i = 0; i < 2; i++)
            c->beside[2 * e + i] =
                low + i < count && side[low + i].key == key ? side[low + i].corner : -1;
    }
    brio__free(side);
    return BRIO_OK;
}

/* Sheets stay what they are at rest: so do the trees of the search. */
static BrioStatus keep_trees(BrioContour *c)
{
    const BrioSurface *s = c->system->surface;
    double *X = c->rest = brio__calloc(3 * (size_t)c->system->vertex_count, sizeof *X);
    if (!X) return BRIO_ERROR_MEMORY;
    for (int32_t i = 0; i < s->vertex_count; i++)
        memcpy(X + 3 * (int64_t)s->vertex[i], s->rest + 3 * (int64_t)i, 3 * sizeof *X);
    brio__intersector_keep(&c->in, X);
    return BRIO_OK;
}

BrioStatus brio__contour_create(const BrioSystem *system, BrioContour **contour)
{
    bool any = false;
    *contour = NULL;
    for (int i = 0; i < system->body_count; i++) any |= is_sheet(&system->body[i]);
    if (!any || !system->surface || system->partition ||
        !(brio__law_at(system->law)->traits & BRIO_LAW_VERTICES))
        return BRIO_OK;
    BrioContour *c = brio__calloc(1, sizeof *c);
    BrioExactPart *part = brio__calloc((size_t)system->body_count + 1, sizeof *part);
    BrioStatus status = c && part ? BRIO_OK : BRIO_ERROR_MEMORY;
    for (int i = 0; status == BRIO_OK && i < system->body_count; i++) {
        const BrioBody *b = &system->body[i];
        if (!is_sheet(b) || system->term[b->term].energy->traits & BRIO_ENERGY_ALONG_X) continue;
        part[i] = (BrioExactPart){
            .first = b->first, .triangle_count = b->triangle_count, .triangle = b->triangle};
    }
    if (status == BRIO_OK) status = brio__intersector_create(part, system->body_count, &c->in);
    if (status == BRIO_OK) {
        c->system = system;
        c->in.excluded = excluded;
        c->in.context = system;
        c->in.rounded = true;
        c->room = c->in.surface.edge_count;
        c->found = brio__alloc((size_t)c->room + 1, sizeof *c->found);
        c->pair = brio__alloc(PAIRS * (size_t)c->room + 1, sizeof *c->pair);
        status = c->found && c->pair ? find_sides(c) : BRIO_ERROR_MEMORY;
        if (status == BRIO_OK) status = keep_trees(c);
    }
    brio__free(part);
    if (status == BRIO_OK)
        *contour = c;
    else
        brio__contour_free(c);
    return status;
}

static void difference(const double *a, const double *b, double out[3])
{
    for (int r = 0; r < 3; r++) out[r] = a[r] - b[r];
}

/* The direction in which the line goes on in the face of an edge (direction E from p) and a third
 * corner; false if that face or the line in it has no direction. */
static bool line_in_face(const double *p, const double *corner, const double E[3],
                         const double N[3], double R[3])
{
    double w[3], normal[3];
    difference(corner, p, w);
    brio__cross3(E, w, normal);
    brio__cross3(N, normal, R);
    if (!(brio__normalise3(R) > 0)) return false;
    double along = brio__dot3(E, w), inwards = 0;
    for (int r = 0; r < 3; r++) inwards += R[r] * (w[r] - along * E[r]);
    for (int r = 0; r < 3 && inwards < 0; r++) R[r] = -R[r];
    return true;
}

/* Whether edge and triangle are near each other at rest: then the sheet is pinched there. */
static bool is_pinch(const BrioContour *c, const BrioIntersection *at)
{
    const double *p = c->rest + 3 * (int64_t)at->edge[0], *q = c->rest + 3 * (int64_t)at->edge[1];
    const double *t[3];
    double length = 0, apart = 0;
    for (int k = 0; k < 3; k++) t[k] = c->rest + 3 * (int64_t)at->other[k];
    for (int r = 0; r < 3; r++) {
        double off = (p[r] + q[r]) / 2 - (t[0][r] + t[1][r] + t[2][r]) / 3;
        length += (q[r] - p[r]) * (q[r] - p[r]);
        apart += off * off;
    }
    return apart <= PINCH * PINCH * length;
}

/* The force on the edge of one intersection; its weights on the two and three corners. False: the
 * two are parallel. */
static bool pull_of(const BrioContour *c, const BrioIntersection *at, const double *x, double F[3],
                    double weight[5])
{
    const double *p = x + 3 * (int64_t)at->edge[0], *q = x + 3 * (int64_t)at->edge[1];
    const double *a = x + 3 * (int64_t)at->other[0], *b = x + 3 * (int64_t)at->other[1];
    const double *d = x + 3 * (int64_t)at->other[2];
    double E[3], N[3], side[3], other[3], place[3], G[3] = {0};
    difference(q, p, E);
    difference(b, a, side);
    difference(d, a, other);
    brio__cross3(side, other, N);
    double length = brio__normalise3(E), area = brio__normalise3(N), across = brio__dot3(E, N);
    if (!(length > 0) || !(area > 0) || across == 0) return false;
    for (int i = 0; i < 2; i++) {
        int32_t corner = c->beside[2 * at->number + i];
        double R[3];
        if (corner < 0 || !line_in_face(p, x + 3 * (int64_t)corner, E, N, R)) continue;
        double slope = 2 * brio__dot3(E, R) / across;
        for (int r = 0; r < 3; r++) G[r] += R[r] - slope * N[r];
    }
    difference(a, p, place);
    double t = fmin(fmax(brio__dot3(place, N) / (across * length), 0), 1);
    weight[0] = 1 - t;
    weight[1] = t;
    for (int r = 0; r < 3; r++) place[r] = p[r] + t * length * E[r] - a[r];
    double u[3], v[3];
    brio__cross3(place, other, u);
    brio__cross3(side, place, v);
    weight[3] = -brio__dot3(u, N) / area;
    weight[4] = -brio__dot3(v, N) / area;
    weight[2] = -1 - weight[3] - weight[4];
    double scale = 1 / sqrt(1 + brio__dot3(G, G)); /* what noise is left of zero counts little */
    for (int r = 0; r < 3; r++) F[r] = scale * G[r];
    return isfinite(scale) && isfinite(t);
}

/* A world vertex as a mean of coordinates. */
static void add_velocity(const BrioSystem *s, int32_t vertex, const double *v, double weight,
                         double sum[3])
{
    for (int32_t k = s->map_start[vertex]; k < s->map_start[vertex + 1]; k++)
        for (int r = 0; r < 3; r++)
            sum[r] += weight * s->map_weight[k] * v[3 * (int64_t)s->map_block[k] + r];
}

static int compare_pairs(const void *a, const void *b)
{
    uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
    return (p > q) - (p < q);
}

/* The vertices of the faces at an edge and of the triangle that it crosses, each pair once. */
static int64_t list_pairs(BrioContour *c, int64_t count)
{
    int64_t pairs = 0, kept = 0;
    for (int64_t i = 0; i < count; i++) {
        const BrioIntersection *at = &c->found[i];
        const int32_t *beside = c->beside + 2 * at->number;
        const int32_t corner[] = {at->edge[0], at->edge[1], beside[0], beside[1]};
        for (int k = 0; k < 4; k++)
            for (int j = 0; j < 3 && corner[k] >= 0; j++)
                c->pair[pairs++] = key_of(corner[k], at->other[j]);
    }
    if (pairs > 0) qsort(c->pair, (size_t)pairs, sizeof *c->pair, compare_pairs);
    for (int64_t i = 0; i < pairs; i++)
        if (i == 0 || c->pair[i] != c->pair[i - 1]) c->pair[kept++] = c->pair[i];
    return kept;
}

/* Takes away the repulsion of two vertices a and b, as far as they rest against each other. Whether
 * there is any. */
static bool let_go(const BrioContour *c, const BrioContourPull *pull, const double *x,
                   const double *v, uint64_t pair, double *world)
{
    int32_t a = (int32_t)(pair >> 32), b = (int32_t)(pair & UINT32_MAX);
    double rest[3], off[3], speed[3] = {0};
    difference(c->rest + 3 * (int64_t)a, c->rest + 3 * (int64_t)b, rest);
    difference(x + 3 * (int64_t)a, x + 3 * (int64_t)b, off);
    double distance = sqrt(brio__dot3(off, off)), near = brio__contact_apart(pull->law);
    if (!(distance > 0) || distance >= pull->law[BRIO_CONTACT_DHAT] ||
        brio__dot3(rest, rest) < near * near)
        return false;
    add_velocity(c->system, a, v, 1, speed);
    add_velocity(c->system, b, v, -1, speed);
    double slow = 1 / (1 + brio__dot3(speed, speed) / (pull->speed * pull->speed));
    double force = slow * brio__law_at(c->system->law)->force(pull->law, 1, distance) / distance;
    for (int r = 0; r < 3; r++) {
        world[3 * (int64_t)a + r] -= force * off[r];
        world[3 * (int64_t)b + r] += force * off[r];
    }
    return true;
}

int64_t brio__contour_pull(BrioContour *c, const BrioContourPull *pull, const double *x,
                           const double *v, double *world)
{
    double force = brio__law_at(c->system->law)->force(pull->law, 1, 0);
    int64_t count = brio__intersector_find(&c->in, x, c->found, c->room, NULL), acting = 0;
    count = BRIO_MIN(count, c->room);
    for (int64_t i = 0; i < count; i++) {
        const BrioIntersection *at = &c->found[i];
        const int32_t vertex[] = {at->edge[0], at->edge[1], at->other[0], at->other[1],
                                  at->other[2]};
        double F[3], weight[5], speed[3] = {0};
        if (!is_pinch(c, at) || !pull_of(c, at, x, F, weight)) continue;
        acting++;
        for (int k = 0; k < 5; k++) add_velocity(c->system, vertex[k], v, weight[k], speed);
        double rest = 1 / (1 + brio__dot3(speed, speed) / (pull->speed * pull->speed));
        for (int k = 0; k < 5; k++)
            for (int r = 0; r < 3; r++)
                world[3 * (int64_t)vertex[k] + r] += force * rest * weight[k] * F[r];
    }
    int64_t pairs = list_pairs(c, count);
    for (int64_t i = 0; i < pairs; i++) acting += let_go(c, pull, x, v, c->pair[i], world);
    return acting;
}
