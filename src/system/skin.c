/* Skins: what is seen of a body instead of its triangles, moved by weights of the body's vertices.
 * A point belongs to the nearest tet, found by a tree of boxes, and is written in its barycentric
 * coordinates or, smoothly, by mean gradients at its corners (skin.h). */
#include "skin.h"

#include "../distance.h"
#include "../vec.h"

#include <stdlib.h>
#include <string.h>

void brio__skin_free(BrioSkin *skin)
{
    if (!skin) return;
    brio__faces_free(skin->faces);
    brio__free(skin->triangle);
    brio__free(skin->rest);
    brio__free(skin->start);
    brio__free(skin->node);
    brio__free(skin->weight);
    brio__free(skin);
}

void brio__skin_map(const BrioSkin *skin, const double *x, double *seen)
{
    for (int64_t v = 0; v < skin->vertex_count; v++) {
        double sum[3] = {0, 0, 0};
        for (int64_t k = skin->start[v]; k < skin->start[v + 1]; k++)
            for (int r = 0; r < 3; r++)
                sum[r] += skin->weight[k] * x[3 * (int64_t)skin->node[k] + r];
        memcpy(seen + 3 * v, sum, sizeof sum);
    }
}

/* ---- faces of the body's own mesh ------------------------------------------------------- */

/* 1: the same corners in the same order; -1: turned around; 0: others. */
static int compare(const int32_t *a, const int32_t *b)
{
    for (int shift = 0; shift < 3; shift++) {
        if (a[0] == b[shift] && a[1] == b[(shift + 1) % 3] && a[2] == b[(shift + 2) % 3]) return 1;
        if (a[0] == b[shift] && a[1] == b[(shift + 2) % 3] && a[2] == b[(shift + 1) % 3]) return -1;
    }
    return 0;
}

static BrioStatus fan(BrioSkin *skin)
{
    skin->triangle_count = brio__faces_triangles(skin->faces);
    skin->triangle = brio__alloc(3 * (size_t)skin->triangle_count + 1, sizeof *skin->triangle);
    if (!skin->triangle) return BRIO_ERROR_MEMORY;
    brio__faces_fan(skin->faces, skin->triangle);
    for (int64_t k = 0; k < 3 * skin->triangle_count; k++)
        skin->triangle[k] = skin->faces->vertex[skin->triangle[k]];
    return BRIO_OK;
}

static BrioStatus take_faces(const BrioFaces *faces, const int32_t *triangle, int64_t count,
                             BrioSkin *skin, bool *same)
{
    skin->faces = brio__faces_copy(faces);
    if (!skin->faces) return BRIO_ERROR_MEMORY;
    BRIO_CHECK(fan(skin));
    bool turned = false;
    *same = skin->triangle_count == count && count > 0;
    for (int64_t k = 0, t = 0; *same && k < faces->count; k++) {
        int64_t end = t + BRIO_MAX(faces->start[k + 1] - faces->start[k] - 2, 0);
        int way = t < end ? compare(triangle + 3 * t, skin->triangle + 3 * t) : 1;
        for (*same = way != 0; *same && t < end; t++)
            *same = compare(triangle + 3 * t, skin->triangle + 3 * t) == way;
        if (way > 0) continue;
        brio__faces_turn(skin->faces, k);
        turned = true;
    }
    if (!turned) return BRIO_OK;
    brio__free(skin->triangle);
    return fan(skin);
}

BrioStatus brio__skin_faces(const BrioFaces *faces, const int32_t *triangle, int64_t triangle_count,
                            BrioSkin **skin)
{
    bool same = false;
    *skin = brio__calloc(1, sizeof **skin);
    BrioStatus status =
        *skin ? take_faces(faces, triangle, triangle_count, *skin, &same) : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK && same) return BRIO_OK;
    brio__skin_free(*skin);
    *skin = NULL;
    return status;
}

/* ---- tets around a point ---------------------------------------------------------------- */

typedef struct Box {
    double low[3], high[3];
} Box;

typedef struct Tets {
    const double *x;
    const int32_t *tet;
    int64_t count;
    double (*gradient)[4][3]; /* of the barycentric coordinates */
    double *volume;           /* six times */
    /* the tree: halves of `order`, sorted along the longest side of the box of their centres */
    int32_t *order;
    Box *box;             /* of [begin, end), at the place of its middle */
    int64_t *around, *at; /* tets at each vertex: at[around[v]] ... */
} Tets;

static const double *corner(const Tets *m, int64_t t, int k)
{
    return m->x + 3 * (int64_t)m->tet[4 * t + k];
}

static void free_tets(Tets *m)
{
    brio__free(m->gradient);
    brio__free(m->volume);
    brio__free(m->order);
    brio__free(m->box);
    brio__free(m->around);
    brio__free(m->at);
}

static void measure(Tets *m, int64_t t)
{
    double e[3][3];
    for (int k = 0; k < 3; k++) brio__subtract3(corner(m, t, k + 1), corner(m, t, 0), e[k]);
    double(*g)[3] = m->gradient[t];
    for (int k = 0; k < 3; k++) brio__cross3(e[(k + 1) % 3], e[(k + 2) % 3], g[k + 1]);
    m->volume[t] = brio__dot3(e[0], g[1]);
    for (int r = 0; r < 3; r++) {
        for (int k = 1; k < 4; k++) g[k][r] /= m->volume[t];
        g[0][r] = -g[1][r] - g[2][r] - g[3][r];
    }
}

static double centre(const Tets *m, int64_t t, int r)
{
    return corner(m, t, 0)[r] + corner(m, t, 1)[r] + corner(m, t, 2)[r] + corner(m, t, 3)[r];
}

typedef struct Keyed {
    double key;
    int32_t tet;
} Keyed;

static int by_key(const void *a, const void *b)
{
    const Keyed *p = a, *q = b;
    return p->key != q->key ? (p->key > q->key) - (p->key < q->key)
                            : (p->tet > q->tet) - (p->tet < q->tet);
}

static void build(Tets *m, Keyed *keyed, int64_t begin, int64_t end)
{
    if (begin >= end) return;
    Box all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}}, mid = all;
    for (int64_t i = begin; i < end; i++)
        for (int r = 0; r < 3; r++) {
            double c = centre(m, m->order[i], r);
            mid.low[r] = fmin(mid.low[r], c), mid.high[r] = fmax(mid.high[r], c);
            for (int k = 0; k < 4; k++) {
                double x = corner(m, m->order[i], k)[r];
                all.low[r] = fmin(all.low[r], x), all.high[r] = fmax(all.high[r], x);
            }
        }
    int axis = 0;
    for (int r = 1; r < 3; r++)
        if (mid.high[r] - mid.low[r] > mid.high[axis] - mid.low[axis]) axis = r;
    for (int64_t i = begin; i < end; i++)
        keyed[i] = (Keyed){centre(m, m->order[i], axis), m->order[i]};
    qsort(keyed + begin, (size_t)(end - begin), sizeof *keyed, by_key);
    for (int64_t i = begin; i < end; i++) m->order[i] = keyed[i].tet;
    int64_t middle = (begin + end) / 2;
    m->box[middle] = all;
    build(m, keyed, begin, middle);
    build(m, keyed, middle + 1, end);
}

static BrioStatus make_tets(Tets *m, int64_t vertices)
{
    size_t n = (size_t)m->count;
    Keyed *keyed = brio__alloc(n, sizeof *keyed);
    m->gradient = brio__alloc(n, sizeof *m->gradient);
    m->volume = brio__alloc(n, sizeof *m->volume);
    m->order = brio__alloc(n, sizeof *m->order);
    m->box = brio__alloc(n, sizeof *m->box);
    m->around = brio__calloc((size_t)vertices + 2, sizeof *m->around);
    m->at = brio__alloc(4 * n, sizeof *m->at);
    bool room = keyed && m->gradient && m->volume && m->order && m->box && m->around && m->at;
    for (int64_t t = 0; room && t < m->count; t++) {
        measure(m, t);
        m->order[t] = (int32_t)t;
        for (int k = 0; k < 4; k++) m->around[m->tet[4 * t + k] + 2]++;
    }
    if (room) {
        /* [v + 1] is where v's begin, and then end */
        for (int64_t v = 1; v <= vertices; v++) m->around[v + 1] += m->around[v];
        for (int64_t k = 0; k < 4 * m->count; k++) m->at[m->around[m->tet[k] + 1]++] = k / 4;
        build(m, keyed, 0, m->count);
    }
    brio__free(keyed);
    return room ? BRIO_OK : BRIO_ERROR_MEMORY;
}

/* The nearest tet and the barycentric coordinates of its point that is nearest. */
typedef struct Near {
    double square;
    int64_t tet;
    double b[4];
} Near;

static void coordinates(const Tets *m, int64_t t, const double *p, double b[4])
{
    for (int k = 0; k < 4; k++) {
        b[k] = k == 0;
        for (int r = 0; r < 3; r++) b[k] += m->gradient[t][k][r] * (p[r] - corner(m, t, 0)[r]);
    }
}

static void try_tet(const Tets *m, int64_t t, const double *p, Near *near)
{
    static const int face[4][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};
    Near now = {.square = INFINITY, .tet = t};
    coordinates(m, t, p, now.b);
    if (now.b[0] >= 0 && now.b[1] >= 0 && now.b[2] >= 0 && now.b[3] >= 0) {
        now.square = 0;
    } else {
        for (int f = 0; f < 4; f++) {
            double x[12], w[4];
            memcpy(x, p, 3 * sizeof *x);
            for (int k = 0; k < 3; k++)
                memcpy(x + 3 + 3 * k, corner(m, t, face[f][k]), 3 * sizeof *x);
            double d = brio__closest_vertex_face(x, w);
            if (d * d >= now.square) continue;
            now.square = d * d;
            now.b[f] = 0;
            for (int k = 0; k < 3; k++) now.b[face[f][k]] = -w[1 + k];
        }
    }
    if (now.square < near->square || (now.square == near->square && t < near->tet)) *near = now;
}

static double away(const Box *box, const double *p)
{
    double square = 0;
    for (int r = 0; r < 3; r++) {
        double d = fmax(fmax(box->low[r] - p[r], p[r] - box->high[r]), 0);
        square += d * d;
    }
    return square;
}

static void search(const Tets *m, int64_t begin, int64_t end, const double *p, Near *near)
{
    if (begin >= end) return;
    int64_t middle = (begin + end) / 2;
    if (away(&m->box[middle], p) > near->square) return;
    try_tet(m, m->order[middle], p, near);
    int64_t left = (begin + middle) / 2, right = (middle + 1 + end) / 2;
    bool first_left =
        begin < middle && (middle + 1 >= end || away(&m->box[left], p) <= away(&m->box[right], p));
    if (first_left) search(m, begin, middle, p, near);
    search(m, middle + 1, end, p, near);
    if (!first_left) search(m, begin, middle, p, near);
}

static double longest_edge(const Tets *m, int64_t t)
{
    double longest = 0;
    for (int k = 1; k < 4; k++)
        for (int l = 0; l < k; l++)
            longest = fmax(longest, brio__distance3(corner(m, t, k), corner(m, t, l)));
    return longest;
}

/* ---- weights ---------------------------------------------------------------------------- */

/* Weights of one point, collected over the body's vertices. */
typedef struct Stencil {
    double *weight; /* of all vertices; only those in `node` are in use */
    uint8_t *in;
    int32_t *node;
    int64_t count;
} Stencil;

static void add(Stencil *s, int32_t node, double weight)
{
    if (!s->in[node]) {
        s->in[node] = 1;
        s->weight[node] = 0;
        s->node[s->count++] = node;
    }
    s->weight[node] += weight;
}

/* scale * G_v d, with G_v the mean of sum_j x_j grad b_j over the tets at v. */
static void add_gradient(const Tets *m, Stencil *s, int32_t v, double scale, const double d[3])
{
    double volume = 0;
    for (int64_t k = m->around[v]; k < m->around[v + 1]; k++) volume += m->volume[m->at[k]];
    for (int64_t k = m->around[v]; k < m->around[v + 1]; k++) {
        int64_t t = m->at[k];
        for (int j = 0; j < 4; j++) {
            const double *g = m->gradient[t][j];
            add(s, m->tet[4 * t + j], scale * m->volume[t] / volume * brio__dot3(g, d));
        }
    }
}

static void weigh(const Tets *m, const Near *near, const double *point, bool smooth, Stencil *s)
{
    const int32_t *n = m->tet + 4 * near->tet;
    double b[4], out[3], foot[3] = {0, 0, 0};
    if (!smooth) {
        coordinates(m, near->tet, point, b);
        for (int i = 0; i < 4; i++) add(s, n[i], b[i]);
        return;
    }
    for (int i = 0; i < 4; i++)
        for (int r = 0; r < 3; r++) foot[r] += near->b[i] * corner(m, near->tet, i)[r];
    for (int r = 0; r < 3; r++) out[r] = near->square > 0 ? point[r] - foot[r] : 0;
    for (int i = 0; i < 4; i++) {
        double d[3];
        if (near->b[i] == 0) continue;
        add(s, n[i], near->b[i]);
        for (int r = 0; r < 3; r++) d[r] = 0.5 * (foot[r] - corner(m, near->tet, i)[r]) + out[r];
        add_gradient(m, s, n[i], near->b[i], d);
    }
}

static int by_number(const void *a, const void *b)
{
    return (*(const int32_t *)a > *(const int32_t *)b) -
           (*(const int32_t *)a < *(const int32_t *)b);
}

/* Appends the stencil, by ascending vertices, and clears it. */
static bool keep(BrioSkin *skin, int64_t v, int64_t *room, Stencil *s)
{
    int64_t used = skin->start[v];
    if (used + s->count > *room) {
        int64_t more = 2 * (used + s->count);
        int32_t *node = brio__realloc(skin->node, (size_t)used, (size_t)more, sizeof *node);
        if (node) skin->node = node;
        double *weight =
            node ? brio__realloc(skin->weight, (size_t)used, (size_t)more, sizeof *weight) : NULL;
        if (!weight) return false;
        skin->weight = weight;
        *room = more;
    }
    qsort(s->node, (size_t)s->count, sizeof *s->node, by_number);
    for (int64_t k = 0; k < s->count; k++) {
        s->in[s->node[k]] = 0;
        if (s->weight[s->node[k]] == 0) continue;
        skin->node[used] = s->node[k];
        skin->weight[used++] = s->weight[s->node[k]];
    }
    s->count = 0;
    skin->start[v + 1] = used;
    return true;
}

static BrioStatus weigh_all(const Tets *m, int64_t vertices, const double *points, bool smooth,
                            BrioEmbedding *how, BrioSkin *skin)
{
    int64_t room = 0;
    Stencil s = {.weight = brio__alloc((size_t)vertices, sizeof *s.weight),
                 .in = brio__calloc((size_t)vertices, 1),
                 .node = brio__alloc((size_t)vertices, sizeof *s.node)};
    BrioStatus status = s.weight && s.in && s.node ? BRIO_OK : BRIO_ERROR_MEMORY;
    for (int64_t v = 0; status == BRIO_OK && v < skin->vertex_count; v++) {
        Near near = {.square = INFINITY};
        search(m, 0, m->count, points + 3 * v, &near);
        double distance = sqrt(near.square);
        weigh(m, &near, points + 3 * v, smooth, &s);
        if (!keep(skin, v, &room, &s)) status = BRIO_ERROR_MEMORY;
        double edge = longest_edge(m, near.tet);
        how->outside += distance > 1e-9 * edge;
        how->far += distance > edge;
        if (distance > how->distance) how->distance = distance, how->farthest = v;
    }
    brio__free(s.weight);
    brio__free(s.in);
    brio__free(s.node);
    return status;
}

static BrioStatus take_surface(const BrioMesh *surface, const double *points, BrioSkin *skin)
{
    skin->vertex_count = surface->vertex_count;
    skin->rest = brio__alloc(3 * (size_t)surface->vertex_count + 1, sizeof *skin->rest);
    skin->start = brio__calloc((size_t)surface->vertex_count + 1, sizeof *skin->start);
    if (!skin->rest || !skin->start) return BRIO_ERROR_MEMORY;
    memcpy(skin->rest, points, 3 * (size_t)surface->vertex_count * sizeof *points);
    if (surface->faces) {
        skin->faces = brio__faces_copy(surface->faces);
        return skin->faces ? fan(skin) : BRIO_ERROR_MEMORY;
    }
    skin->triangle_count = surface->triangle_count;
    skin->triangle = brio__alloc(3 * (size_t)surface->triangle_count + 1, sizeof *skin->triangle);
    if (skin->triangle)
        memcpy(skin->triangle, surface->triangle,
               3 * (size_t)surface->triangle_count * sizeof *skin->triangle);
    return skin->triangle ? BRIO_OK : BRIO_ERROR_MEMORY;
}

BrioStatus brio__skin_embed(const double *x, int64_t vertices, const int32_t *tet, int64_t tets,
                            const BrioMesh *surface, const double *points, bool smooth,
                            BrioEmbedding *how, BrioSkin **skin)
{
    Tets m = {.x = x, .tet = tet, .count = tets};
    *how = (BrioEmbedding){0};
    *skin = brio__calloc(1, sizeof **skin);
    BrioStatus status = *skin ? take_surface(surface, points, *skin) : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK) status = make_tets(&m, vertices);
    if (status == BRIO_OK) status = weigh_all(&m, vertices, points, smooth, how, *skin);
    free_tets(&m);
    if (status == BRIO_OK) return BRIO_OK;
    brio__skin_free(*skin);
    *skin = NULL;
    return status;
}

static BrioStatus carry(BrioSkin *skin)
{
    size_t count = (size_t)skin->vertex_count;
    skin->node = brio__alloc(count + 1, sizeof *skin->node);
    skin->weight = brio__alloc(count + 1, sizeof *skin->weight);
    if (!skin->node || !skin->weight) return BRIO_ERROR_MEMORY;
    for (size_t v = 0; v < count; v++) {
        skin->node[v] = (int32_t)v;
        skin->weight[v] = 1;
        skin->start[v + 1] = (int64_t)v + 1;
    }
    return BRIO_OK;
}

BrioStatus brio__skin_carry(const BrioMesh *surface, const double *points, BrioSkin **skin)
{
    *skin = brio__calloc(1, sizeof **skin);
    BrioStatus status = *skin ? take_surface(surface, points, *skin) : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK) status = carry(*skin);
    if (status == BRIO_OK) return BRIO_OK;
    brio__skin_free(*skin);
    *skin = NULL;
    return status;
}
