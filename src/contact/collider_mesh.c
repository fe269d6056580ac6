/* The tree over the triangles of a closed mesh, its normals, and the closest point
 * (collider_mesh.h).
 *
 * The sides are found by normals of faces, edges (the sum of both sides) and vertices (the sum of
 * the faces around, weighted by their angles) [Baerentzen2005]. */
#include "collider_mesh.h"

#include "../distance.h"
#include "../vec.h"

#include <stdlib.h>
#include <string.h>

enum { LEAF = 4 }; /* triangles */

/* ---- topology --------------------------------------------------------------------------- */

typedef struct Side {
    uint64_t key; /* smaller and larger corner */
    int32_t at;   /* 3 triangle + k */
    int turn;     /* +1: from the smaller to the larger */
} Side;

static void list_sides(const int32_t *triangle, int64_t count, Side *side)
{
    for (int64_t t = 0; t < count; t++)
        for (int k = 0; k < 3; k++) {
            uint32_t a = (uint32_t)triangle[3 * t + k], b = (uint32_t)triangle[3 * t + (k + 1) % 3];
            side[3 * t + k] = (Side){(uint64_t)BRIO_MIN(a, b) << 32 | BRIO_MAX(a, b),
                                     (int32_t)(3 * t + k), a < b ? 1 : -1};
        }
    qsort(side, 3 * (size_t)count, sizeof *side, brio__ascending_keys);
}

/* Whether each edge has two triangles of the same orientation; -1: no memory. */
int brio__collider_is_closed(const int32_t *triangle, int64_t count)
{
    Side *side = brio__alloc(3 * (size_t)count + 1, sizeof *side);
    if (!side) return -1;
    bool closed = count > 0;
    list_sides(triangle, count, side);
    for (int64_t i = 0, last; closed && i < 3 * count; i = last) {
        int turns = 0;
        for (last = i; last < 3 * count && side[last].key == side[i].key; last++)
            turns += side[last].turn;
        closed = last - i == 2 && turns == 0;
    }
    brio__free(side);
    return closed;
}

BrioStatus brio__collider_check(const char *name, const int32_t *triangle, int64_t count,
                                BrioError *error)
{
    int closed = brio__collider_is_closed(triangle, count);
    if (closed < 0) return brio__no_memory(error);
    if (closed) return BRIO_OK;
    return brio__error(error, BRIO_ERROR_INPUT,
                       "obstacle \"%s\" is not a closed surface with consistent orientation: "
                       "contact between vertices and triangles needs an inside; close it (brio "
                       "mesh repair), or use contact of type ipc",
                       name);
}

/* Whether a script moves an obstacle. */
static BrioStatus number_edges(BrioColliderMesh *m)
{
    int64_t sides = 3 * m->triangles;
    Side *side = brio__alloc((size_t)sides, sizeof *side);
    if (!side) return BRIO_ERROR_MEMORY;
    list_sides(m->corner, m->triangles, side);
    for (int64_t i = 0; i < sides; i++) {
        m->edges += i == 0 || side[i].key != side[i - 1].key;
        m->edge[side[i].at] = m->edges - 1;
    }
    brio__free(side);
    for (int64_t k = 3 * m->triangles - 1; k >= 0; k--) { /* the first is set last */
        m->edge_owner[m->edge[k]] = (int32_t)(k / 3);
        m->vertex_owner[m->corner[k] - m->first] = (int32_t)(k / 3);
    }
    for (int64_t k = 0; k < sides; k++) m->fan_start[m->corner[k] - m->first + 1]++;
    for (int64_t v = 0; v < m->vertices; v++) m->fan_start[v + 1] += m->fan_start[v];
    for (int64_t k = sides - 1; k >= 0; k--) /* fan_start[v + 1] goes down to where v begins */
        m->fan[--m->fan_start[m->corner[k] - m->first + 1]] = (int32_t)(k / 3);
    memmove(m->fan_start, m->fan_start + 1, (size_t)m->vertices * sizeof *m->fan_start);
    m->fan_start[m->vertices] = (int32_t)sides;
    return BRIO_OK;
}

void brio__collider_mesh_free(BrioColliderMesh *m)
{
    void *arrays[] = {m->corner, m->edge,       m->order,        m->face,      m->side,
                      m->around, m->node,       m->box,          m->x,         m->hint,
                      m->known,  m->edge_owner, m->vertex_owner, m->fan_start, m->fan};
    for (size_t i = 0; i < BRIO_COUNT(arrays); i++) brio__free(arrays[i]);
}

BrioStatus brio__collider_mesh_create(const BrioObstacle *o, int number, int64_t points,
                                      BrioColliderMesh *m)
{
    size_t triangles = (size_t)o->triangle_count, vertices = (size_t)o->count;
    m->obstacle = number;
    m->first = o->first;
    m->vertices = o->count;
    m->triangles = o->triangle_count;
    m->corner = brio__alloc(3 * triangles, sizeof *m->corner);
    m->edge = brio__alloc(3 * triangles, sizeof *m->edge);
    m->order = brio__alloc(triangles, sizeof *m->order);
    m->face = brio__calloc(triangles, sizeof *m->face);
    m->side = brio__calloc(3 * triangles, sizeof *m->side);
    m->around = brio__calloc(vertices, sizeof *m->around);
    m->node = brio__calloc(2 * triangles, sizeof *m->node);
    m->box = brio__calloc(2 * triangles, sizeof *m->box);
    m->x = brio__calloc(3 * vertices, sizeof *m->x);
    m->edge_owner = brio__alloc(3 * triangles, sizeof *m->edge_owner);
    m->vertex_owner = brio__alloc(vertices, sizeof *m->vertex_owner);
    m->fan_start = brio__calloc(vertices + 1, sizeof *m->fan_start);
    m->fan = brio__alloc(3 * triangles, sizeof *m->fan);
    if (!m->edge_owner || !m->vertex_owner || !m->fan_start || !m->fan) return BRIO_ERROR_MEMORY;
    m->hint = brio__calloc((size_t)points, sizeof *m->hint);
    m->known = brio__calloc((size_t)points, sizeof *m->known);
    if (!m->hint || !m->known || !m->corner || !m->edge || !m->order || !m->face || !m->side ||
        !m->around || !m->node || !m->box || !m->x)
        return BRIO_ERROR_MEMORY;
    for (size_t k = 0; k < 3 * triangles; k++) m->corner[k] = (int32_t)o->first + o->triangle[k];
    return number_edges(m);
}

/* ---- the tree --------------------------------------------------------------------------- */

static double centre_of(const BrioColliderMesh *m, int32_t t, const double *x, int axis)
{
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += x[3 * (int64_t)m->corner[3 * t + k] + axis];
    return sum;
}

/* The triangles order[first..last) such that those before `middle` are not behind it. */
static void divide(BrioColliderMesh *m, const double *x, int axis, int32_t first, int32_t last,
                   int32_t middle)
{
    int32_t *order = m->order;
    while (last - first > 1) {
        double pivot = centre_of(m, order[first + (last - first) / 2], x, axis);
        int32_t low = first, high = last - 1;
        while (low <= high) {
            while (centre_of(m, order[low], x, axis) < pivot) low++;
            while (centre_of(m, order[high], x, axis) > pivot) high--;
            if (low > high) break;
            int32_t kept = order[low];
            order[low++] = order[high];
            order[high--] = kept;
        }
        if (middle <= high)
            last = high + 1;
        else if (middle >= low)
            first = low;
        else
            return;
    }
}

static int32_t make_node(BrioColliderMesh *m, const double *x, int32_t first, int32_t count)
{
    int32_t at = m->nodes++;
    m->node[at] = (BrioColliderNode){.first = first, .count = count};
    if (count <= LEAF) return at;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = first; i < first + count; i++)
        for (int r = 0; r < 3; r++) {
            double centre = centre_of(m, m->order[i], x, r);
            low[r] = fmin(low[r], centre);
            high[r] = fmax(high[r], centre);
        }
    int axis = 0;
    for (int r = 1; r < 3; r++)
        if (high[r] - low[r] > high[axis] - low[axis]) axis = r;
    divide(m, x, axis, first, first + count, first + count / 2);
    make_node(m, x, first, count / 2);
    int32_t right = make_node(m, x, first + count / 2, count - count / 2);
    m->node[at].right = right;
    return at;
}

/* Boxes around the corners at x and, unless NULL, at y. */
void brio__collider_fit_boxes(BrioColliderMesh *m, const double *x, const double *y)
{
    for (int32_t i = m->nodes - 1; i >= 0; i--) {
        double *box = m->box[i];
        const BrioColliderNode *node = &m->node[i];
        for (int r = 0; r < 3; r++) box[r] = INFINITY, box[3 + r] = -INFINITY;
        for (int32_t k = 0; !node->right && k < node->count; k++)
            for (int c = 0; c < 3; c++)
                for (int r = 0; r < 3; r++) {
                    int64_t at = 3 * (int64_t)m->corner[3 * m->order[node->first + k] + c] + r;
                    double a = x[at], b = y ? y[at] : a;
                    box[r] = fmin(box[r], fmin(a, b));
                    box[3 + r] = fmax(box[3 + r], fmax(a, b));
                }
        for (int r = 0; node->right && r < 3; r++) {
            box[r] = fmin(m->box[i + 1][r], m->box[node->right][r]);
            box[3 + r] = fmax(m->box[i + 1][3 + r], m->box[node->right][3 + r]);
        }
    }
}

/* Normals of faces, edges and vertices at x. */
static void fit_normals(BrioColliderMesh *m, const double *x)
{
    memset(m->side, 0, (size_t)m->edges * sizeof *m->side);
    memset(m->around, 0, (size_t)m->vertices * sizeof *m->around);
    for (int64_t t = 0; t < m->triangles; t++) {
        const int32_t *v = m->corner + 3 * t;
        double *n = m->face[t];
        brio__triangle_normal(x + 3 * (int64_t)v[0], x + 3 * (int64_t)v[1], x + 3 * (int64_t)v[2],
                              n);
        double length = brio__norm3(n);
        for (int r = 0; r < 3; r++) n[r] = length > 0 ? n[r] / length : 0;
        for (int k = 0; k < 3; k++) {
            double a[3], b[3], c[3];
            const double *p = x + 3 * (int64_t)v[k];
            brio__subtract3(x + 3 * (int64_t)v[(k + 1) % 3], p, a);
            brio__subtract3(x + 3 * (int64_t)v[(k + 2) % 3], p, b);
            brio__cross3(a, b, c);
            double angle = atan2(brio__norm3(c), brio__dot3(a, b));
            for (int r = 0; r < 3; r++) {
                m->side[m->edge[3 * t + k]][r] += n[r];
                m->around[v[k] - m->first][r] += angle * n[r];
            }
        }
    }
}

/* Trees and normals for the positions x. */
void brio__collider_follow(BrioColliderMesh *m, int64_t points, const double *x)
{
    size_t bytes = 3 * (size_t)m->vertices * sizeof *m->x;
    if (m->nodes == 0) {
        for (int32_t t = 0; t < m->triangles; t++) m->order[t] = t;
        make_node(m, x, 0, (int32_t)m->triangles);
    }
    if (m->ready && !memcmp(m->x, x + 3 * m->first, bytes)) return;
    memcpy(m->x, x + 3 * m->first, bytes);
    brio__collider_fit_boxes(m, x, NULL);
    fit_normals(m, x);
    for (int64_t i = 0; i < points; i++) m->known[i][3] = -1;
    m->ready = true;
}

/* ---- the closest point ------------------------------------------------------------------ */

double brio__collider_from_box(const double *box, const double *p)
{
    double sum = 0;
    for (int r = 0; r < 3; r++) {
        double d = fmax(fmax(box[r] - p[r], p[r] - box[3 + r]), 0);
        sum += d * d;
    }
    return sum;
}

double brio__collider_from_triangle(const BrioColliderMesh *m, int32_t t, const double *x,
                                    const double *p, double w[4])
{
    double corners[12];
    memcpy(corners, p, 3 * sizeof *p);
    for (int k = 0; k < 3; k++)
        memcpy(corners + 3 + 3 * k, x + 3 * (int64_t)m->corner[3 * t + k], 3 * sizeof *p);
    return brio__closest_vertex_face(corners, w);
}

/* The normal of what the closest point lies on: -w are its weights. */
static const double *side_of(const BrioColliderMesh *m, int32_t t, const double w[4])
{
    int zero = 0, at = 0, other = 0;
    for (int k = 0; k < 3; k++) {
        if (w[1 + k] != 0) at = k;
        if (w[1 + k] == 0) zero++, other = k;
    }
    if (zero == 0) return m->face[t];
    if (zero == 1) return m->side[m->edge[3 * t + (other + 1) % 3]];
    return m->around[m->corner[3 * t + at] - m->first];
}

/* Fills a hit from the weights of a triangle's corners, as if p were outside; the way to p in r. */
void brio__collider_set_hit(const BrioColliderMesh *m, int32_t t, const double *x, const double *p,
                            const double weight[4], double r[3], BrioHit *hit)
{
    memcpy(r, p, 3 * sizeof *r);
    for (int k = 0; k < 3; k++) {
        hit->corner[k] = m->corner[3 * t + k];
        hit->w[k] = -weight[1 + k];
        for (int i = 0; i < 3; i++) r[i] -= hit->w[k] * x[3 * (int64_t)hit->corner[k] + i];
    }
    hit->weight = 1;
    hit->obstacle = m->obstacle;
    hit->d = brio__norm3(r);
    for (int i = 0; i < 3; i++) hit->n[i] = hit->d > 0 ? r[i] / hit->d : 0;
}

/* The closest hit of a point, wherever it is; `hint` is any triangle, and then the closest. */
void brio__collider_nearest(const BrioColliderMesh *m, const double *x, const double *p,
                            int32_t *hint, BrioHit *hit)
{
    int32_t stack[BRIO_COLLIDER_STACK], best = *hint;
    int depth = 0;
    double weight[4], w[4], least = brio__collider_from_triangle(m, best, x, p, weight);
    stack[depth++] = 0;
    while (depth > 0) {
        int32_t at = stack[--depth];
        const BrioColliderNode *node = &m->node[at];
        /* one part in 1e12 more: distances are rounded */
        if (brio__collider_from_box(m->box[at], p) > least * least * (1 + 1e-12)) continue;
        for (int32_t k = 0; !node->right && k < node->count; k++) {
            int32_t t = m->order[node->first + k];
            double d = brio__collider_from_triangle(m, t, x, p, w);
            if (d > least || (d == least && t > best)) continue;
            least = d;
            best = t;
            memcpy(weight, w, sizeof w);
        }
        if (!node->right) continue;
        bool left = brio__collider_from_box(m->box[at + 1], p) <
                    brio__collider_from_box(m->box[node->right], p);
        stack[depth++] = left ? node->right : at + 1;
        stack[depth++] = left ? at + 1 : node->right;
    }
    *hint = best;
    const double *normal = side_of(m, best, weight);
    double r[3], size = brio__norm3(normal);
    brio__collider_set_hit(m, best, x, p, weight, r, hit);
    bool on = hit->d < 1e-14, inside = brio__dot3(r, normal) < 0;
    /* on the surface itself the normal takes over */
    for (int i = 0; i < 3; i++) {
        if (on) hit->n[i] = normal[i] / (size > 0 ? size : 1);
        if (!on && inside) hit->n[i] = -hit->n[i];
    }
    if (inside) hit->d = -hit->d;
}
