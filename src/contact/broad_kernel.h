/* Boxes, and the descent through the trees (broad.c). Included once for each instruction set, with
 *
 *     KERNEL(name)    the name with the set's suffix
 *     KERNEL_TARGET   function attribute
 *     KERNEL_WIDTH    floats in a vector: 4 or 8
 *     KERNEL_SIGNS(x) the signs of a vector's floats or integers, as bits
 *
 * One box is compared with the eight of a group at a time. */

#define INLINE KERNEL_TARGET static inline __attribute__((always_inline))
enum { KERNEL(PIECES) = LANES / KERNEL_WIDTH };
typedef float KERNEL(V) __attribute__((vector_size(4 * KERNEL_WIDTH), may_alias));
typedef int KERNEL(I) __attribute__((vector_size(4 * KERNEL_WIDTH), may_alias));
typedef double KERNEL(D) __attribute__((vector_size(8 * KERNEL_WIDTH), may_alias));
#define V KERNEL(V)
#define I KERNEL(I)
#define D KERNEL(D)
#define PIECES KERNEL(PIECES)

/* ---- boxes ------------------------------------------------------------------------------ */

INLINE V KERNEL(least)(V a, V b)
{
    I less = a < b;
    return (V)(((I)a & less) | ((I)b & ~less));
}

INLINE void KERNEL(join)(const Box *a, const Box *b, Box *to)
{
    for (int end = 0; end < 2; end++)
        for (int p = 0; p < PIECES; p++) {
            const V *low = (const V *)a->low[end], *high = (const V *)a->high[end];
            ((V *)to->low[end])[p] = KERNEL(least)(low[p], ((const V *)b->low[end])[p]);
            ((V *)to->high[end])[p] = -KERNEL(least)(-high[p], -((const V *)b->high[end])[p]);
        }
}

INLINE bool KERNEL(overlap)(const Box *a, const Box *b)
{
    for (int p = 0; p < PIECES; p++) {
        const V *low = (const V *)a->low, *high = (const V *)a->high;
        const V *other_low = (const V *)b->low, *other_high = (const V *)b->high;
        I apart = ((low[p] > other_high[p]) & (low[PIECES + p] > other_high[PIECES + p])) |
                  ((other_low[p] > high[p]) & (other_low[PIECES + p] > high[PIECES + p]));
        if (KERNEL_SIGNS(apart)) return false;
    }
    return true;
}

/* Floats below (sign -1) or above by a little more than rounding. */
INLINE void KERNEL(outward)(const double *x, const double *room, float sign, float *out)
{
    for (int p = 0; p < PIECES; p++) {
        D at = ((const D *)x)[p] + (double)sign * ((const D *)room)[p];
        V f = __builtin_convertvector(at, V);
        V size = (V)((I)f & INT32_MAX);
        ((V *)out)[p] = f + sign * (size * 0x1p-22f + 0x1p-140f);
    }
}

KERNEL_TARGET static void KERNEL(vertex_boxes)(void *context, int64_t begin, int64_t end)
{
    const BoxWork *work = context;
    const BrioBroad *b = work->b;
    double r = work->search->reach / 2 + work->search->margin, s = sqrt(3) * r;
    _Alignas(64) const double room[LANES] = {r, r, r, s, s, s, s, 0};
    for (int64_t i = begin; i < end; i++) {
        int64_t v = 3 * (int64_t)b->surface->vertex[i];
        const double *x = work->search->x + v, *dx = work->search->dx;
        Box *box = &b->vertex_box[i];
        _Alignas(64) double at[LANES];
        along_axes(x, at);
        KERNEL(outward)(at, room, -1, box->low[0]);
        KERNEL(outward)(at, room, 1, box->high[0]);
        if (dx) along_axes((double[3]){x[0] + dx[v], x[1] + dx[v + 1], x[2] + dx[v + 2]}, at);
        KERNEL(outward)(at, room, -1, box->low[1]);
        KERNEL(outward)(at, room, 1, box->high[1]);
    }
}

/* The box of a vertex, an edge or a primitive, the i-th of a group. */
INLINE void KERNEL(member_box)(const BrioBroad *b, int member, const Group *group, int i, Box *box)
{
    const Box *vertex = b->vertex_box;
    *box = vertex[group->node[0][i]];
    for (int k = 1; k <= member; k++) KERNEL(join)(box, &vertex[group->node[k][i]], box);
}

INLINE void KERNEL(copy_bounds)(const Box *box, float *bound, int stride)
{
    for (int k = 0; k < AXES; k++) {
        bound[(LOW + k) * stride] = box->low[0][k];
        bound[(LOW_END + k) * stride] = box->low[1][k];
        bound[(HIGH + k) * stride] = box->high[0][k];
        bound[(HIGH_END + k) * stride] = box->high[1][k];
    }
}

KERNEL_TARGET static void KERNEL(node_box)(BrioBroad *b, int32_t k)
{
    if (b->cluster_of[k] == BELOW) return;
    Box *all = &b->node_box[k], box;
    if (b->cluster_of[k] == ABOVE) {
        KERNEL(join)(&b->node_box[k + 1], &b->node_box[b->surface->node[k].right], all);
        return;
    }
    Cluster *c = &b->cluster[b->cluster_of[k]];
    for (int member = 0; member < MEMBERS; member++)
        for (int32_t g = c->group[member]; g < c->group[member + 1]; g++) {
            Group *group = &b->group[g];
            for (int i = 0; i < LANES && group->valid >> i; i++) {
                KERNEL(member_box)(b, member, group, i, &box);
                KERNEL(copy_bounds)(&box, group->bound[0] + i, LANES);
                if (member != PRIMITIVES) continue;
                if (g == c->group[PRIMITIVES] && i == 0)
                    *all = box;
                else
                    KERNEL(join)(all, &box, all);
            }
        }
    KERNEL(copy_bounds)(all, c->bound, 1);
}

/* ---- two clusters ----------------------------------------------------------------------- */

/* Which boxes of a group overlap the one whose bounds lie `stride` apart. */
INLINE unsigned KERNEL(overlaps)(const float *one, int stride, const Group *g)
{
    unsigned found = 0;
    for (int p = 0; p < PIECES; p++) {
        I apart = {0};
#pragma GCC unroll 7
        for (int k = 0; k < AXES; k++) {
            const V *low0 = (const V *)g->bound[LOW + k], *low1 = (const V *)g->bound[LOW_END + k];
            const V *high0 = (const V *)g->bound[HIGH + k];
            const V *high1 = (const V *)g->bound[HIGH_END + k];
            V from = one[(LOW + k) * stride] - (V){0}, from1 = one[(LOW_END + k) * stride] - (V){0};
            V to = one[(HIGH + k) * stride] - (V){0}, to1 = one[(HIGH_END + k) * stride] - (V){0};
            apart |= ((from > high0[p]) & (from1 > high1[p])) | ((low0[p] > to) & (low1[p] > to1));
            /* mostly all are apart by x, y or z */
            if (k == 2 && KERNEL_SIGNS(apart) == (1u << KERNEL_WIDTH) - 1) break;
        }
        found |= (~KERNEL_SIGNS(apart) & ((1u << KERNEL_WIDTH) - 1)) << p * KERNEL_WIDTH;
    }
    return found & g->valid;
}

/* Which members of a group have the vertex v. */
INLINE unsigned KERNEL(having)(const Group *g, int32_t v)
{
    unsigned found = 0;
    for (int p = 0; p < PIECES; p++) {
        I same = {0};
        for (int k = 0; k < 3; k++) same |= ((const I *)g->node[k])[p] == v;
        found |= KERNEL_SIGNS(same) << p * KERNEL_WIDTH;
    }
    return found;
}

/* What a member of one group may have with those of another: first in `g`, each `i` of `left`. */
#define FOR_EACH(i, left)                                                                          \
    for (unsigned bits_##i = (left), i; bits_##i && (i = (unsigned)__builtin_ctz(bits_##i), true); \
         bits_##i &= bits_##i - 1)

/* Vertices of p before the primitives of q, in the order of both. */
KERNEL_TARGET static void KERNEL(vertices_faces)(Descent *d, const Cluster *p, const Cluster *q)
{
    const BrioBroad *b = d->b;
    for (const Group *g = b->group + p->group[VERTICES]; g < b->group + p->group[EDGES]; g++)
        FOR_EACH(i, KERNEL(overlaps)(q->bound, 1, g))
        {
            const Group *end = b->group + q->group[MEMBERS];
            for (const Group *h = b->group + q->group[PRIMITIVES]; h < end; h++) {
                unsigned found = KERNEL(overlaps)(g->bound[0] + i, LANES, h);
                if (!found) continue;
                if (p->owner == q->owner) found &= ~KERNEL(having)(h, g->who[i]);
                FOR_EACH(j, found) add_vertex_face(d, g->who[i], h->who[j], p == q);
            }
        }
}

/* Edges of p with edges of q; of one cluster, each pair once. */
KERNEL_TARGET static void KERNEL(edges_edges)(Descent *d, const Cluster *p, const Cluster *q)
{
    const BrioBroad *b = d->b;
    for (const Group *g = b->group + p->group[EDGES]; g < b->group + p->group[PRIMITIVES]; g++)
        FOR_EACH(i, KERNEL(overlaps)(q->bound, 1, g))
        {
            const Group *end = p == q ? g + 1 : b->group + q->group[PRIMITIVES];
            for (const Group *h = b->group + q->group[EDGES]; h < end; h++) {
                unsigned found = KERNEL(overlaps)(g->bound[0] + i, LANES, h);
                if (g == h) found &= (1u << i) - 1;
                if (!found) continue;
                if (p->owner == q->owner)
                    found &= ~(KERNEL(having)(h, g->node[0][i]) | KERNEL(having)(h, g->node[1][i]));
                FOR_EACH(j, found) add_edges(d, g->who[i], h->who[j]);
            }
        }
}

/* Vertices of p with vertices of q; of one cluster, each pair once. */
KERNEL_TARGET static void KERNEL(vertices_vertices)(Descent *d, const Cluster *p, const Cluster *q)
{
    const BrioBroad *b = d->b;
    for (const Group *g = b->group + p->group[VERTICES]; g < b->group + p->group[EDGES]; g++)
        FOR_EACH(i, KERNEL(overlaps)(q->bound, 1, g))
        {
            const Group *end = p == q ? g + 1 : b->group + q->group[EDGES];
            for (const Group *h = b->group + q->group[VERTICES]; h < end; h++) {
                unsigned found = KERNEL(overlaps)(g->bound[0] + i, LANES, h);
                if (g == h) found &= (1u << i) - 1;
                FOR_EACH(j, found) add_vertices(d, g->who[i], h->who[j]);
            }
        }
}

KERNEL_TARGET static void KERNEL(clusters_meet)(Descent *d, const Cluster *p, const Cluster *q)
{
    if (d->b->vertices) {
        KERNEL(vertices_vertices)(d, p, q);
        return;
    }
    /* A vertex of a surface sees triangles only, one of a line also lone edges, and a lone one all:
     * what the others would see of it is the same pair. Two lone vertices are one pair. */
    if (q->corners >= p->corners) KERNEL(vertices_faces)(d, p, q);
    if (p != q && p->corners >= q->corners && p->corners > 1) KERNEL(vertices_faces)(d, q, p);
    KERNEL(edges_edges)(d, p, q);
}

/* ---- the descent ------------------------------------------------------------------------ */

KERNEL_TARGET static void KERNEL(nodes_meet)(Descent *d, int32_t i, int32_t j)
{
    const BrioBroad *b = d->b;
    if (!concern(b, i, j) || !KERNEL(overlap)(&b->node_box[i], &b->node_box[j])) return;
    int32_t p = b->cluster_of[i], q = b->cluster_of[j];
    if (p >= 0 && q >= 0) {
        KERNEL(clusters_meet)(d, &b->cluster[p], &b->cluster[q]);
    } else if (split_first(b, i, j)) {
        KERNEL(nodes_meet)(d, i + 1, j);
        KERNEL(nodes_meet)(d, b->surface->node[i].right, j);
    } else {
        KERNEL(nodes_meet)(d, i, j + 1);
        KERNEL(nodes_meet)(d, i, b->surface->node[j].right);
    }
}

KERNEL_TARGET static void KERNEL(node_meets_itself)(Descent *d, int32_t i)
{
    const BrioBroad *b = d->b;
    int32_t p = b->cluster_of[i];
    if (!concern(b, i, i)) return;
    if (p >= 0) {
        KERNEL(clusters_meet)(d, &b->cluster[p], &b->cluster[p]);
        return;
    }
    KERNEL(node_meets_itself)(d, i + 1);
    KERNEL(node_meets_itself)(d, b->surface->node[i].right);
    KERNEL(nodes_meet)(d, i + 1, b->surface->node[i].right);
}

static const Kernels KERNEL(kernels) = {KERNEL(vertex_boxes), KERNEL(node_box), KERNEL(nodes_meet),
                                        KERNEL(node_meets_itself)};

#undef FOR_EACH
#undef INLINE
#undef V
#undef I
#undef D
#undef PIECES
#undef KERNEL
#undef KERNEL_TARGET
#undef KERNEL_WIDTH
#undef KERNEL_SIGNS
