/* Signed distances from moving closed meshes, and the test whether a vertex went through one
 * (collider.h).
 *
 * Passing through: between two poses corners and vertices move along straight lines. Let T be the
 * triangle that a vertex meets first, with the normal n_T. A vertex that was outside must be on the
 * same side in the end: n . n_T >= 0 with n the gradient of d there; one that was inside must have
 * left where it would have been pushed out. */
#include "collider_mesh.h"

#include "../vec.h"

#include <string.h>

enum {
    PARTS = 64, /* that count around a point: 7 in a corner of three walls, 13 in a bowl */
    HITS = 16   /* room for so many of each vertex, on average over all of them */
};

/* n . n_T below which a vertex is on another side: sharp edges are left aside. */
#define OTHER_SIDE (-0.25)

struct BrioColliders {
    const BrioSystem *system;
    int mesh_count;
    BrioColliderMesh *mesh;
    int64_t vertex_count; /* body vertices that have coordinates */
    int32_t *vertex, *owner;
    BrioHit *found;   /* the closest of each vertex, of one mesh; obstacle < 0: none */
    int32_t *others;  /* how many other parts count for it */
    int64_t *place;   /* where its hits begin */
    int64_t room;     /* of `hit` */
    BrioHit *earlier; /* the closest of each vertex */
    BrioHit *hit;     /* all */
};

static bool is_scripted(const BrioSystem *s, const BrioObstacle *o)
{
    for (int i = 0; i < s->scripted_count; i++)
        if (s->scripted[i].count > 0) {
            int32_t v = s->fixed[s->scripted[i].fixed[0]]; /* obstacles move as a whole */
            if (v >= o->first && v < o->first + o->count) return true;
        }
    return false;
}

/* Whether an obstacle is looked at; -1: no memory. */
static int takes(const BrioSystem *s, const BrioObstacle *o)
{
    if (o->analytic >= 0 || o->triangle_count == 0) return 0;
    if (s->collider_params >= 0) return 1;
    return s->barrier && s->surface && !s->partition && is_scripted(s, o)
               ? brio__collider_is_closed(o->triangle, o->triangle_count)
               : 0;
}

BrioStatus brio__colliders_create(const BrioSystem *s, BrioColliders **colliders)
{
    int count = 0;
    for (int i = 0; i < s->obstacle_count; i++) {
        int taken = takes(s, &s->obstacle[i]);
        if (taken < 0) return BRIO_ERROR_MEMORY;
        count += taken;
    }
    if (count == 0) return BRIO_OK;
    BrioColliders *c = brio__calloc(1, sizeof *c);
    if (!c) return BRIO_ERROR_MEMORY;
    c->system = s;
    size_t room = (size_t)s->body_vertices;
    c->mesh = brio__calloc((size_t)count, sizeof *c->mesh);
    c->vertex = brio__alloc(room, sizeof *c->vertex);
    c->owner = brio__alloc(room, sizeof *c->owner);
    c->found = brio__calloc(room, sizeof *c->found);
    c->others = brio__calloc(room, sizeof *c->others);
    c->place = brio__calloc(room, sizeof *c->place);
    c->earlier = brio__calloc(room, sizeof *c->earlier);
    c->room = (int64_t)(HITS * room) * count;
    c->hit = brio__alloc((size_t)c->room, sizeof *c->hit);
    bool all = c->mesh && c->vertex && c->owner && c->found && c->others && c->place &&
               c->earlier && c->hit;
    BrioStatus status = all ? BRIO_OK : BRIO_ERROR_MEMORY;
    for (int i = 0; status == BRIO_OK && i < s->obstacle_count; i++) {
        int taken = takes(s, &s->obstacle[i]);
        if (taken < 0) status = BRIO_ERROR_MEMORY;
        if (taken > 0)
            status = brio__collider_mesh_create(&s->obstacle[i], i, s->body_vertices,
                                                &c->mesh[c->mesh_count++]);
    }
    for (int i = 0; status == BRIO_OK && i < s->body_count; i++)
        for (int64_t v = s->body[i].first; v < s->body[i].first + s->body[i].count; v++)
            if (s->map_start[v + 1] > s->map_start[v]) {
                c->owner[c->vertex_count] = i;
                c->vertex[c->vertex_count++] = (int32_t)v;
            }
    if (status == BRIO_OK)
        *colliders = c;
    else
        brio__colliders_free(c);
    return status;
}

void brio__colliders_free(BrioColliders *c)
{
    if (!c) return;
    for (int i = 0; i < c->mesh_count; i++) brio__collider_mesh_free(&c->mesh[i]);
    brio__free(c->mesh);
    brio__free(c->vertex);
    brio__free(c->owner);
    brio__free(c->found);
    brio__free(c->others);
    brio__free(c->place);
    brio__free(c->earlier);
    brio__free(c->hit);
    brio__free(c);
}

/* ---- all that is near ------------------------------------------------------------------- */

/* A point before a mesh. */
typedef struct View {
    const BrioColliderMesh *m;
    const double *x, *p;
    double reach;
} View;

/* A face, edge or vertex that counts, and the weights of its closest point in a triangle. */
typedef struct Part {
    int64_t key; /* 0 .. triangles: a face; then edges; then vertices */
    int32_t triangle;
    int count;
    double w[4];
} Part;

typedef struct Parts {
    Part part[PARTS];
    int count; /* PARTS + 1: there are more */
    int64_t own;
} Parts;

/* What the closest point with these weights lies on. */
static int64_t part_of(const BrioColliderMesh *m, int32_t t, const double w[4])
{
    int zero = 0, at = 0, other = 0;
    for (int k = 0; k < 3; k++) {
        if (w[1 + k] != 0) at = k;
        if (w[1 + k] == 0) zero++, other = k;
    }
    if (zero == 0) return t;
    if (zero == 1) return m->triangles + m->edge[3 * t + (other + 1) % 3];
    return m->triangles + m->edges + m->corner[3 * t + at] - m->first;
}

static bool triangle_lies_on(const View *v, int32_t t, int64_t key)
{
    double w[4];
    brio__collider_from_triangle(v->m, t, v->x, v->p, w);
    return part_of(v->m, t, w) == key;
}

/* The closest point of the edge from corner k of a triangle: its weights and distance. */
static double from_edge(const View *v, int32_t t, int k, double w[4])
{
    const double *a = v->x + 3 * (int64_t)v->m->corner[3 * t + k];
    double e[3], r[3];
    brio__subtract3(v->x + 3 * (int64_t)v->m->corner[3 * t + (k + 1) % 3], a, e);
    brio__subtract3(v->p, a, r);
    double s = fmin(fmax(brio__dot3(e, r) / brio__dot3(e, e), 0), 1);
    for (int i = 0; i < 3; i++) r[i] -= s * e[i];
    w[0] = 1;
    w[1 + k] = s - 1;
    w[1 + (k + 1) % 3] = -s;
    w[1 + (k + 2) % 3] = 0;
    return brio__norm3(r);
}

static bool edge_lies_on(const View *v, int32_t t, int k, int64_t key)
{
    double w[4];
    from_edge(v, t, k, w);
    return part_of(v->m, t, w) == key;
}

static bool has_edge(const BrioColliderMesh *m, int32_t t, int32_t edge)
{
    return m->edge[3 * t] == edge || m->edge[3 * t + 1] == edge || m->edge[3 * t + 2] == edge;
}

/* Triangles whose closest point is inside the edge, less the edge itself if its own is. */
static int count_edge(const View *v, int32_t t, int k)
{
    const BrioColliderMesh *m = v->m;
    int32_t edge = m->edge[3 * t + k], end = m->corner[3 * t + k] - (int32_t)m->first;
    int64_t key = m->triangles + edge;
    int count = -edge_lies_on(v, t, k, key);
    for (int32_t i = m->fan_start[end]; i < m->fan_start[end + 1]; i++)
        count += has_edge(m, m->fan[i], edge) && triangle_lies_on(v, m->fan[i], key);
    return count;
}

/* Triangles and, less, edges whose closest point is the vertex, and the vertex itself. */
static int count_vertex(const View *v, int32_t vertex)
{
    const BrioColliderMesh *m = v->m;
    int64_t key = m->triangles + m->edges + vertex;
    int count = 1;
    for (int32_t i = m->fan_start[vertex]; i < m->fan_start[vertex + 1]; i++) {
        int32_t t = m->fan[i];
        count += triangle_lies_on(v, t, key);
        for (int k = 0; k < 3; k++)
            if (m->edge_owner[m->edge[3 * t + k]] == t) count -= edge_lies_on(v, t, k, key);
    }
    return count;
}

/* In the order of their keys, which does not depend on the tree. */
static void add_part(Parts *parts, int64_t key, int32_t t, int count, const double w[4])
{
    if (count == 0 || key == parts->own || parts->count > PARTS) return;
    int i = parts->count++;
    if (i == PARTS) return;
    for (; i > 0 && parts->part[i - 1].key > key; i--) parts->part[i] = parts->part[i - 1];
    parts->part[i] = (Part){.key = key, .triangle = t, .count = count};
    memcpy(parts->part[i].w, w, sizeof parts->part[i].w);
}

/* A triangle, and those of its edges and vertices that belong to it. */
static void count_triangle(const View *v, int32_t t, Parts *parts)
{
    const BrioColliderMesh *m = v->m;
    double w[4];
    if (!(brio__collider_from_triangle(m, t, v->x, v->p, w) < v->reach)) return;
    if (part_of(m, t, w) == t) add_part(parts, t, t, 1, w);
    for (int k = 0; k < 3; k++) {
        double edge[4], corner[4] = {1, 0, 0, 0};
        int32_t a = m->corner[3 * t + k], e = m->edge[3 * t + k], i = a - (int32_t)m->first;
        if (m->edge_owner[e] == t && from_edge(v, t, k, edge) < v->reach)
            add_part(parts, m->triangles + e, t, count_edge(v, t, k), edge);
        corner[1 + k] = -1;
        if (m->vertex_owner[i] == t && brio__distance3(v->p, v->x + 3 * (int64_t)a) < v->reach)
            add_part(parts, m->triangles + m->edges + i, t, count_vertex(v, i), corner);
    }
}

/* The other parts that count around a point whose closest one is `hit`, of `triangle`. Where they
 * are more than PARTS, the closest has to do. */
static void find_parts(const View *v, int32_t triangle, const BrioHit *hit, Parts *parts)
{
    const BrioColliderMesh *m = v->m;
    int32_t stack[BRIO_COLLIDER_STACK];
    int depth = 0;
    double weight[4] = {1, -hit->w[0], -hit->w[1], -hit->w[2]};
    parts->count = 0;
    parts->own = part_of(m, triangle, weight);
    stack[depth++] = 0;
    while (depth > 0) {
        int32_t at = stack[--depth];
        const BrioColliderNode *node = &m->node[at];
        if (brio__collider_from_box(m->box[at], v->p) > v->reach * v->reach) continue;
        for (int32_t k = 0; !node->right && k < node->count; k++)
            count_triangle(v, m->order[node->first + k], parts);
        if (!node->right) continue;
        stack[depth++] = node->right;
        stack[depth++] = at + 1;
    }
    if (parts->count > PARTS) parts->count = 0;
}

/* The hits of the other parts of a point; `out` may be NULL, to count them. */
static int32_t other_hits(const View *v, int32_t triangle, const BrioHit *hit, BrioHit *out)
{
    Parts parts;
    int32_t count = 0;
    find_parts(v, triangle, hit, &parts);
    for (int i = 0; i < parts.count; i++) {
        double r[3];
        BrioHit other;
        brio__collider_set_hit(v->m, parts.part[i].triangle, v->x, v->p, parts.part[i].w, r,
                               &other);
        if (!(other.d > 1e-14)) continue;
        other.vertex = hit->vertex;
        other.weight = parts.part[i].count;
        if (out) out[count] = other;
        count++;
    }
    return count;
}

typedef struct FindWork {
    BrioColliders *c;
    const BrioColliderMesh *mesh;
    const double *x;
    double reach;
    BrioHit *out;    /* the closest of each vertex */
    int32_t *others; /* how many other parts count; NULL: do not count */
} FindWork;

static void find_chunk(void *context, int64_t begin, int64_t end)
{
    const FindWork *work = context;
    const BrioColliders *c = work->c;
    const BrioSystem *s = c->system;
    int obstacle = s->body_count + work->mesh->obstacle;
    for (int64_t i = begin; i < end; i++) {
        BrioHit *hit = &work->out[i];
        const double *p = work->x + 3 * (int64_t)c->vertex[i];
        hit->obstacle = -1;
        hit->vertex = c->vertex[i];
        hit->d = INFINITY;
        if (work->others) work->others[i] = 0;
        if (brio__excluded(s, c->owner[i], obstacle)) continue;
        double reach = fmax(work->reach, 0);
        if (!(brio__collider_from_box(work->mesh->box[0], p) <= reach * reach)) continue;
        /* d changes by no more than the point has moved */
        double *known = work->mesh->known[i];
        if (known[3] > 0 &&
            brio__distance3(known, p) < (known[3] - reach) * (1 - 1e-9) - 1e-14 * known[3])
            continue;
        brio__collider_nearest(work->mesh, work->x, p, &work->mesh->hint[i], hit);
        memcpy(known, p, 3 * sizeof *p);
        known[3] = hit->d;
        if (!work->others) continue;
        if (!(hit->d < work->reach))
            hit->obstacle = -1;
        else if (hit->d > -work->reach)
            work->others[i] = other_hits(&(View){work->mesh, work->x, p, work->reach},
                                         work->mesh->hint[i], hit, NULL);
    }
}

/* The hits of each vertex in their place. */
static void place_chunk(void *context, int64_t begin, int64_t end)
{
    const FindWork *work = context;
    const BrioColliders *c = work->c;
    for (int64_t i = begin; i < end; i++) {
        const BrioHit *hit = &work->out[i];
        if (hit->obstacle < 0) continue;
        c->hit[c->place[i]] = *hit;
        const double *p = work->x + 3 * (int64_t)hit->vertex;
        if (work->others[i] > 0)
            other_hits(&(View){work->mesh, work->x, p, work->reach}, work->mesh->hint[i], hit,
                       &c->hit[c->place[i] + 1]);
    }
}

static void find_closest(BrioColliders *c, BrioColliderMesh *m, const double *x, BrioHit *out)
{
    brio__collider_follow(m, c->vertex_count, x);
    brio__parallel_for(c->vertex_count, 64, find_chunk,
                       &(FindWork){.c = c, .mesh = m, .x = x, .reach = INFINITY, .out = out});
}

const BrioHit *brio__colliders_find(BrioColliders *c, const double *x, double reach, int64_t *count)
{
    *count = 0;
    for (int k = 0; k < c->mesh_count; k++) {
        FindWork work = {c, &c->mesh[k], x, reach, c->found, c->others};
        brio__collider_follow(&c->mesh[k], c->vertex_count, x);
        brio__parallel_for(c->vertex_count, 64, find_chunk, &work);
        int64_t later = (int64_t)(c->mesh_count - k) * c->vertex_count; /* at most one each */
        for (int64_t i = 0; i < c->vertex_count; i++, later--) {
            if (c->found[i].obstacle < 0) continue;
            if (*count + later + c->others[i] > c->room) c->others[i] = 0;
            c->place[i] = *count;
            *count += 1 + c->others[i];
        }
        brio__parallel_for(c->vertex_count, 64, place_chunk, &work);
    }
    return c->hit;
}

double brio__hits_fraction(const BrioHit *hit, const BrioHit *end, double dhat,
                           const BrioHit **next)
{
    double all[3] = {0, 0, 0}, pushed[3] = {0, 0, 0};
    const BrioHit *h = hit;
    for (; h < end && h->vertex == hit->vertex && h->obstacle == hit->obstacle; h++)
        for (int r = 0; r < 3; r++) {
            double force = h->weight * (dhat - h->d) * h->n[r];
            all[r] += force;
            if (h->weight > 0) pushed[r] += force;
        }
    *next = h;
    double size = brio__norm3(pushed);
    return h == hit + 1 || size == 0 ? 1 : brio__norm3(all) / size;
}

void brio__hit_curvature(const BrioHit *hit, const double *x, double C[9])
{
    int zero = 0, at[3] = {0}, used = 0;
    double t[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        zero += hit->w[k] == 0;
        if (hit->w[k] != 0) at[used++] = k;
    }
    double over = zero && hit->d != 0 ? 1 / hit->d : 0;
    if (zero == 1) {
        brio__subtract3(x + 3 * (int64_t)hit->corner[at[1]], x + 3 * (int64_t)hit->corner[at[0]],
                        t);
        double length = brio__norm3(t);
        for (int r = 0; r < 3; r++) t[r] = length > 0 ? t[r] / length : 0;
    }
    for (int r = 0; r < 3; r++)
        for (int s = 0; s < 3; s++)
            C[3 * r + s] = over * ((r == s) - hit->n[r] * hit->n[s] - t[r] * t[s]);
}

/* ---- passing through -------------------------------------------------------------------- */

/* The normal of the triangle that a vertex hits first, at that time; false: none. */
static bool first_met(const BrioColliderMesh *m, const double *x0, const double *x1, int32_t vertex,
                      double normal[3])
{
    const double *a = x0 + 3 * (int64_t)vertex, *b = x1 + 3 * (int64_t)vertex;
    int32_t stack[BRIO_COLLIDER_STACK];
    int depth = 0;
    double first = INFINITY;
    stack[depth++] = 0;
    while (depth > 0) {
        int32_t at = stack[--depth];
        const BrioColliderNode *node = &m->node[at];
        bool apart = false;
        for (int r = 0; r < 3; r++)
            apart |= fmin(a[r], b[r]) > m->box[at][3 + r] || fmax(a[r], b[r]) < m->box[at][r];
        if (apart) continue;
        if (node->right) {
            stack[depth++] = node->right;
            stack[depth++] = at + 1;
        }
        for (int32_t k = 0; !node->right && k < node->count; k++) {
            int32_t t = m->order[node->first + k];
            double from[12], to[12], toi;
            memcpy(from, a, 3 * sizeof *a);
            memcpy(to, b, 3 * sizeof *b);
            for (int c = 0; c < 3; c++) {
                int64_t corner = 3 * (int64_t)m->corner[3 * t + c];
                memcpy(from + 3 + 3 * c, x0 + corner, 3 * sizeof *a);
                memcpy(to + 3 + 3 * c, x1 + corner, 3 * sizeof *a);
            }
            if (!brio_ccd_vertex_face(from, to, &toi) || toi >= first) continue;
            first = toi;
            for (int c = 0; c < 12; c++) from[c] += toi * (to[c] - from[c]);
            brio__triangle_normal(from + 3, from + 6, from + 9, normal);
        }
    }
    double length = brio__norm3(normal);
    for (int r = 0; first < INFINITY && r < 3; r++) normal[r] = length > 0 ? normal[r] / length : 0;
    return first < INFINITY;
}

typedef struct PassWork {
    const BrioColliders *c;
    const BrioColliderMesh *mesh;
    const double *x0, *x1;
    BrioHit *end; /* d = NAN marks those that went through */
} PassWork;

static void pass_chunk(void *context, int64_t begin, int64_t end)
{
    const PassWork *work = context;
    for (int64_t i = begin; i < end; i++) {
        const BrioHit *before = &work->c->earlier[i];
        BrioHit *after = &work->end[i];
        double normal[3] = {0, 0, 0};
        if (after->obstacle < 0) continue;
        if (!first_met(work->mesh, work->x0, work->x1, after->vertex, normal)) continue;
        const double *n = before->d < 0 ? before->n : after->n;
        if (brio__dot3(n, normal) < OTHER_SIDE) after->d = NAN;
    }
}

bool brio__colliders_passed(BrioColliders *c, const double *x0, const double *x1, int32_t *vertex,
                            int32_t *obstacle)
{
    bool passed = false;
    for (int k = 0; !passed && k < c->mesh_count; k++) {
        BrioColliderMesh *m = &c->mesh[k];
        /* every vertex, however far: an obstacle may have gone past it */
        find_closest(c, m, x0, c->earlier);
        find_closest(c, m, x1, c->found);
        brio__collider_fit_boxes(m, x0, x1);
        brio__parallel_for(c->vertex_count, 64, pass_chunk, &(PassWork){c, m, x0, x1, c->found});
        m->ready = false;
        for (int64_t i = 0; !passed && i < c->vertex_count; i++)
            if (isnan(c->found[i].d)) {
                passed = true;
                *vertex = c->found[i].vertex;
                *obstacle = m->obstacle;
            }
    }
    return passed;
}

/* Whether a body vertex is in the box at one of the poses. */
static bool any_within(const BrioColliders *c, const double *box, const double *x0,
                       const double *x1)
{
    for (int64_t i = 0; i < c->vertex_count; i++) {
        int64_t v = 3 * (int64_t)c->vertex[i];
        if (brio__collider_from_box(box, x0 + v) == 0 || brio__collider_from_box(box, x1 + v) == 0)
            return true;
    }
    return false;
}

double brio__colliders_way(const BrioColliders *c, const double *x0, const double *x1,
                           int32_t *obstacle)
{
    double largest = 0;
    for (int k = 0; k < c->mesh_count; k++) {
        const BrioColliderMesh *m = &c->mesh[k];
        double start[6] = {INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY}, all[6];
        double way = 0, extent = INFINITY;
        memcpy(all, start, sizeof all);
        for (int64_t v = m->first; v < m->first + m->vertices; v++) {
            way = fmax(way, brio__distance3(x0 + 3 * v, x1 + 3 * v));
            for (int r = 0; r < 3; r++) {
                double a = x0[3 * v + r], b = x1[3 * v + r];
                start[r] = fmin(start[r], a);
                start[3 + r] = fmax(start[3 + r], a);
                all[r] = fmin(all[r], fmin(a, b));
                all[3 + r] = fmax(all[3 + r], fmax(a, b));
            }
        }
        for (int r = 0; r < 3; r++) extent = fmin(extent, start[3 + r] - start[r]);
        if (!(way > largest * extent) || !any_within(c, all, x0, x1)) continue;
        largest = extent > 0 ? way / extent : 0;
        *obstacle = m->obstacle;
    }
    return largest;
}
