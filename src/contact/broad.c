/* Boxes at both ends of a motion, the descent through the trees, and the measure of what is left
 * (broad.h). */
#include "broad.h"

#include <stdlib.h>

/* Descents of at most TASK primitives are done by one thread; JOBS parts of all tasks are shared
 * among threads; SOME candidates are measured at a time; PARTS parts are compared one by one;
 * boxes of subtrees of SUBTREE primitives are made by one thread. */
enum { TASK = 128, JOBS = 64, SOME = 256, PARTS = 24, SUBTREE = 2048 };

/* Bounds of x, y, z and of four diagonals (along_axes) at the start and at the end of the motion,
 * rounded outward from doubles; the eighth is idle. */
enum { AXES = 7 };
typedef struct Box {
    _Alignas(32) float low[2][LANES];
    float high[2][LANES];
} Box;

/* The descent ends at clusters: nodes of at most CLUSTER primitives, with the edges and vertices
 * that these own. Their boxes lie in groups of eight. */
enum { CLUSTER = 16 };
enum { LOW = 0, LOW_END = AXES, HIGH = 2 * AXES, HIGH_END = 3 * AXES, BOUNDS = 4 * AXES };
enum { VERTICES, EDGES, PRIMITIVES, MEMBERS }; /* what clusters have */

typedef struct Group {
    _Alignas(32) float bound[BOUNDS][LANES];
    int32_t node[3][LANES]; /* their surface vertices; the last again where there are fewer */
    int32_t who[LANES];     /* numbers in the surface */
    unsigned valid;         /* bit i: there is an i-th */
} Group;

typedef struct Cluster {
    int32_t group[MEMBERS + 1]; /* the first of its vertices, edges, primitives */
    int32_t owner;
    int corners;
    float bound[BOUNDS];
} Cluster;

/* A part of the descent: two nodes, or one with itself (second < 0). */
typedef struct Task {
    int32_t first, second;
} Task;

/* What a thread has found in a run of tasks. */
typedef struct Job {
    int32_t *found[BRIO_CANDIDATES]; /* two for each pair */
    /* pairs found, of which so many have a place */
    int64_t count[BRIO_CANDIDATES], room[BRIO_CANDIDATES];
} Job;

enum { ABOVE = -1, BELOW = -2 }; /* nodes that are no clusters */

typedef struct Descent Descent;

typedef struct Kernels {
    BrioWork *vertex_boxes;
    void (*node_box)(BrioBroad *b, int32_t node);
    void (*nodes_meet)(Descent *d, int32_t first, int32_t second);
    void (*node_meets_itself)(Descent *d, int32_t node);
} Kernels;

struct BrioBroad {
    const BrioSystem *system;
    const BrioSurface *surface;
    const BrioEnergy *energy[BRIO_CANDIDATES];
    bool vertices;
    Box *vertex_box, *node_box; /* with half the reach around */
    /* for each node: its cluster, or where it is */
    int32_t *cluster_of;
    int32_t clusters, groups;
    Cluster *cluster;
    Group *group;
    int32_t *vertex_primitive, *edge_primitive; /* whose they are */
    const Kernels *kernels;
    /* the primitives whose pairs with others are this process's affair: all of them on one
     * process */
    int32_t first, end;
    int32_t *subtree; /* nodes whose boxes are made in parallel; the nodes above them come later */
    int32_t *above;
    int subtrees, aboves;
    int32_t *past; /* for each node: the one after its subtree */
    Task *task;
    int64_t tasks, task_room;
    /* parts by where they begin along an axis, and pairs of parts: the larger number << 32 | the
     * smaller */
    struct PartStart *start;
    uint64_t *pair;
    int64_t pairs, pair_room;
    Job job[JOBS];
    bool out_of_memory;
};

typedef struct PartStart {
    float low;
    int32_t part;
} PartStart;

/* ---- creation --------------------------------------------------------------------------- */

void brio__broad_free(BrioBroad *b)
{
    if (!b) return;
    brio__free(b->vertex_box);
    brio__free(b->node_box);
    brio__free(b->cluster_of);
    brio__free(b->cluster);
    brio__free(b->group);
    brio__free(b->vertex_primitive);
    brio__free(b->edge_primitive);
    brio__free(b->subtree);
    brio__free(b->above);
    brio__free(b->past);
    brio__free(b->task);
    brio__free(b->start);
    brio__free(b->pair);
    for (int j = 0; j < JOBS; j++)
        for (int k = 0; k < BRIO_CANDIDATES; k++) brio__free(b->job[j].found[k]);
    brio__free(b);
}

static bool allocate(BrioBroad *b)
{
    const BrioSurface *s = b->surface;
    size_t nodes = (size_t)s->node_count;
    int64_t likely = BRIO_MAX(64, 4 * (int64_t)s->primitive_count / JOBS);
    b->vertex_box = brio__alloc((size_t)s->vertex_count, sizeof(Box));
    b->vertex_primitive = brio__alloc((size_t)s->vertex_count, sizeof(int32_t));
    b->edge_primitive = brio__alloc((size_t)s->edge_count, sizeof(int32_t));
    b->cluster_of = brio__alloc(nodes, sizeof *b->cluster_of);
    b->node_box = brio__alloc(nodes, sizeof(Box));
    b->subtree = brio__alloc(nodes, sizeof *b->subtree);
    b->above = brio__alloc(nodes, sizeof *b->above);
    b->past = brio__alloc(nodes, sizeof *b->past);
    b->start = brio__alloc((size_t)s->part_count, sizeof *b->start);
    b->task_room = BRIO_MAX(256, s->primitive_count / 4);
    b->task = brio__alloc((size_t)b->task_room, sizeof *b->task);
    b->pair_room = BRIO_MAX(256, 16 * s->part_count);
    b->pair = brio__alloc((size_t)b->pair_room, sizeof *b->pair);
    bool all = b->vertex_box && b->vertex_primitive && b->edge_primitive && b->cluster_of &&
               b->node_box && b->subtree && b->above && b->past && b->start && b->task && b->pair;
    for (int j = 0; j < JOBS; j++)
        for (int k = 0; k < BRIO_CANDIDATES; k++) {
            if ((k == BRIO_CANDIDATES - 1) != b->vertices) continue;
            b->job[j].found[k] = brio__alloc(2 * (size_t)likely, sizeof(int32_t));
            b->job[j].room[k] = likely;
            all &= b->job[j].found[k] != NULL;
        }
    return all;
}

/* Subtrees of at most SUBTREE primitives, and the nodes above them. */
static void list_subtrees(BrioBroad *b)
{
    const BrioTreeNode *node = b->surface->node;
    for (int32_t k = b->surface->node_count - 1; k >= 0; k--)
        b->past[k] = node[k].right ? b->past[node[k].right] : k + 1;
    for (int32_t k = 0; k < b->surface->node_count;) {
        if (node[k].count > SUBTREE && node[k].right) {
            b->above[b->aboves++] = k++;
            continue;
        }
        b->subtree[b->subtrees++] = k;
        k = b->past[k];
    }
}

/* Adds one to the last group of a cluster's; counts only while there are no groups. */
static void add_member(BrioBroad *b, int member, int32_t first, int32_t *count, int32_t who)
{
    int place = *count % LANES;
    if (place == 0) b->groups++;
    ++*count;
    if (!b->group) return;
    Group *g = &b->group[first + (*count - 1) / LANES];
    if (place == 0) *g = (Group){.valid = 0};
    g->who[place] = who;
    g->valid |= 1u << place;
    for (int k = 0; k < 3; k++) {
        const BrioSurface *s = b->surface;
        g->node[k][place] = member == VERTICES ? who
                            : member == EDGES  ? s->edge[2 * (int64_t)who + BRIO_MIN(k, 1)]
                                               : s->primitive[who].node[k];
    }
}

/* Groups of what a node's primitives own. */
static void fill_cluster(BrioBroad *b, const BrioTreeNode *node, Cluster *c)
{
    const BrioSurface *s = b->surface;
    c->owner = s->primitive[node->first].owner;
    c->corners = s->primitive[node->first].corners;
    for (int member = 0; member < MEMBERS; member++) {
        int32_t count = 0, first = c->group[member] = b->groups;
        for (int32_t i = node->first; i < node->first + node->count; i++) {
            const BrioPrimitive *p = &s->primitive[i];
            if (member == PRIMITIVES) add_member(b, member, first, &count, i);
            for (int k = 0; k < 3; k++) {
                if (member == VERTICES && p->vertices >> k & 1) {
                    b->vertex_primitive[p->node[k]] = i;
                    add_member(b, member, first, &count, p->node[k]);
                }
                if (member == EDGES && p->edge[k] >= 0) {
                    b->edge_primitive[p->edge[k]] = i;
                    add_member(b, member, first, &count, p->edge[k]);
                }
            }
        }
    }
    c->group[MEMBERS] = b->groups;
}

static BrioStatus make_clusters(BrioBroad *b)
{
    const BrioTreeNode *node = b->surface->node;
    int32_t count = b->surface->node_count;
    for (int32_t k = 0; k < count;) {
        bool above = node[k].count > CLUSTER && node[k].right;
        b->cluster_of[k] = above ? ABOVE : b->clusters++;
        for (int32_t i = k + 1; !above && i < b->past[k]; i++) b->cluster_of[i] = BELOW;
        k = above ? k + 1 : b->past[k];
    }
    b->cluster = brio__calloc((size_t)b->clusters, sizeof *b->cluster);
    if (!b->cluster) return BRIO_ERROR_MEMORY;
    for (int pass = 0; pass < 2; pass++) {
        b->groups = 0;
        for (int32_t k = 0; k < count; k++)
            if (b->cluster_of[k] >= 0) fill_cluster(b, &node[k], &b->cluster[b->cluster_of[k]]);
        if (pass) break;
        b->group = brio__alloc((size_t)b->groups, sizeof *b->group);
        if (!b->group) return BRIO_ERROR_MEMORY;
    }
    return BRIO_OK;
}

static const Kernels *choose_kernels(void);

BrioStatus brio__broad_create(const BrioSystem *system, bool vertices,
                              const BrioEnergy *const energy[BRIO_CANDIDATES], BrioBroad **broad)
{
    const BrioSurface *s = system->surface;
    const BrioPartition *partition = system->partition;
    BrioBroad *b = brio__calloc(1, sizeof *b);
    if (!b) return BRIO_ERROR_MEMORY;
    b->system = system;
    b->surface = s;
    b->vertices = vertices;
    for (int k = 0; k < BRIO_CANDIDATES; k++) b->energy[k] = energy[k];
    b->end = s->primitive_count;
    if (partition) {
        int64_t count = s->primitive_count;
        b->first = (int32_t)(count * partition->process / partition->processes);
        b->end = (int32_t)(count * (partition->process + 1) / partition->processes);
    }
    b->kernels = choose_kernels();
    BrioStatus status = allocate(b) ? BRIO_OK : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK) {
        list_subtrees(b);
        status = make_clusters(b);
    }
    if (status == BRIO_OK)
        *broad = b;
    else
        brio__broad_free(b);
    return status;
}

/* ---- boxes ------------------------------------------------------------------------------ */

typedef struct BoxWork {
    BrioBroad *b;
    const BrioSearch *search;
} BoxWork;

static void subtree_boxes(void *context, int64_t begin, int64_t end)
{
    const BoxWork *work = context;
    BrioBroad *b = work->b;
    for (int64_t i = begin; i < end; i++)
        for (int32_t k = b->past[b->subtree[i]] - 1; k >= b->subtree[i]; k--)
            b->kernels->node_box(b, k);
}

static void make_boxes(BrioBroad *b, const BrioSearch *search)
{
    const BrioSurface *s = b->surface;
    BoxWork work = {b, search};
    brio__parallel_for(s->vertex_count, 2048, b->kernels->vertex_boxes, &work);
    int64_t grain = BRIO_MAX(1, (int64_t)b->subtrees * SUBTREE / (s->primitive_count + 1));
    brio__parallel_for(b->subtrees, grain, subtree_boxes, &work);
    for (int i = b->aboves - 1; i >= 0; i--) b->kernels->node_box(b, b->above[i]);
}

/* ---- the descent ------------------------------------------------------------------------ */

/* A thread at work on a job: pairs that boxes leave, until there are enough to be measured. */
struct Descent {
    const BrioBroad *b;
    const BrioSearch *search;
    double bound; /* a pair that stays farther apart is none */
    Job *job;
    int count[BRIO_CANDIDATES];
    int32_t raw[BRIO_CANDIDATES][SOME][2];
};

/* The surface vertices of a pair. */
static void pair_nodes(const BrioSurface *s, int kind, const int32_t who[2], int32_t node[4])
{
    if (kind == 0) {
        const int32_t *face = s->primitive[who[1]].node;
        node[0] = who[0];
        for (int k = 0; k < 3; k++) node[1 + k] = face[k];
    } else if (kind == 1) {
        for (int k = 0; k < 4; k++) node[k] = s->edge[2 * (int64_t)who[k / 2] + k % 2];
    } else {
        node[0] = who[0];
        for (int k = 1; k < 4; k++) node[k] = who[1];
    }
}

/* Keeps those of the raw pairs that may come within reach. */
static void measure(Descent *d, int kind)
{
    const BrioSurface *s = d->b->surface;
    _Alignas(BRIO_ALIGN) int32_t node[SOME * 4];
    _Alignas(BRIO_ALIGN) double distance[SOME], clearance[SOME];
    int count = d->count[kind], packs = (count + LANES - 1) / LANES;
    for (int i = 0; i < packs * LANES; i++) {
        int32_t four[4];
        pair_nodes(s, kind, d->raw[kind][BRIO_MIN(i, count - 1)], four);
        for (int k = 0; k < 4; k++)
            node[(i / LANES * 4 + k) * LANES + i % LANES] = 3 * s->vertex[four[k]];
    }
    BrioBatch batch = {.end = packs,
                       .node = node,
                       .x = d->search->x,
                       .dx = d->search->dx,
                       .distance = distance,
                       .clearance = d->search->dx ? clearance : NULL};
    d->b->energy[kind]->eval(&batch);
    Job *job = d->job;
    for (int i = 0; i < count; i++) {
        if ((d->search->dx ? clearance : distance)[i] > d->bound) continue;
        if (job->count[kind] < job->room[kind])
            memcpy(job->found[kind] + 2 * job->count[kind], d->raw[kind][i],
                   sizeof d->raw[kind][i]);
        job->count[kind]++;
    }
    d->count[kind] = 0;
}

static inline void add(Descent *d, int kind, int32_t first, int32_t second)
{
    int32_t *raw = d->raw[kind][d->count[kind]++];
    raw[0] = first;
    raw[1] = second;
    if (d->count[kind] == SOME) measure(d, kind);
}

/* Whether a primitive belongs to this process: pairs of edges are looked for by the process of the
 * first of both, those of a vertex and triangles by the process of the vertex, so that all of one
 * vertex are together. */
static inline bool mine(const BrioBroad *b, int32_t primitive)
{
    return primitive >= b->first && primitive < b->end;
}

/* A vertex before a primitive, whose last node stands for those that it lacks. Two lone vertices of
 * one cluster are one pair. */
static inline void add_vertex_face(Descent *d, int32_t v, int32_t face, bool same)
{
    const BrioBroad *b = d->b;
    const BrioSurface *s = b->surface;
    const int32_t *node = s->primitive[face].node;
    if (same && s->primitive[face].corners == 1 && b->vertex_primitive[v] < face) return;
    if (s->fixed[v] && s->fixed[node[0]] && s->fixed[node[1]] && s->fixed[node[2]]) return;
    if (mine(b, b->vertex_primitive[v])) add(d, 0, v, face);
}

static inline void add_edges(Descent *d, int32_t first, int32_t second)
{
    const BrioSurface *s = d->b->surface;
    const int32_t *a = s->edge + 2 * (int64_t)first, *b = s->edge + 2 * (int64_t)second;
    if (s->fixed[a[0]] && s->fixed[a[1]] && s->fixed[b[0]] && s->fixed[b[1]]) return;
    if (mine(d->b, d->b->edge_primitive[first])) add(d, 1, first, second);
}

/* The vertices of one body that are close at rest do not see each other. */
static inline void add_vertices(Descent *d, int32_t u, int32_t v)
{
    const BrioSurface *s = d->b->surface;
    const double *X = s->rest + 3 * (int64_t)u, *Y = s->rest + 3 * (int64_t)v;
    double r[3] = {X[0] - Y[0], X[1] - Y[1], X[2] - Y[2]}, apart = d->search->apart;
    if ((s->fixed[u] && s->fixed[v]) || !mine(d->b, d->b->vertex_primitive[u])) return;
    if (s->vertex_owner[u] == s->vertex_owner[v] &&
        r[0] * r[0] + r[1] * r[1] + r[2] * r[2] < apart * apart)
        return;
    add(d, BRIO_CANDIDATES - 1, u, v);
}

/* Whether one of two nodes has primitives of this process. */
static inline bool concern(const BrioBroad *b, int32_t i, int32_t j)
{
    const BrioTreeNode *p = &b->surface->node[i], *q = &b->surface->node[j];
    return (p->first < b->end && p->first + p->count > b->first) ||
           (q->first < b->end && q->first + q->count > b->first);
}

/* Which of two nodes, not both clusters, is replaced by its children: the first? */
static inline bool split_first(const BrioBroad *b, int32_t i, int32_t j)
{
    if (b->cluster_of[j] >= 0) return true;
    return b->cluster_of[i] < 0 && b->surface->node[i].count >= b->surface->node[j].count;
}

static inline void along_axes(const double x[3], double at[LANES])
{
    for (int r = 0; r < 3; r++) at[r] = x[r];
    at[3] = x[0] + x[1] + x[2];
    at[4] = x[0] + x[1] - x[2];
    at[5] = x[0] - x[1] + x[2];
    at[6] = x[1] + x[2] - x[0];
    at[7] = 0;
}

#define KERNEL(name) name##_baseline
#define KERNEL_TARGET
#define KERNEL_WIDTH 4
#if defined(__SSE2__)
typedef float v4 __attribute__((vector_size(16)));
#define KERNEL_SIGNS(x) ((unsigned)__builtin_ia32_movmskps((v4)(x)))
#else
typedef int i4 __attribute__((vector_size(16)));
static inline unsigned signs(i4 x)
{
    i4 bits = x & (i4){1, 2, 4, 8};
    return (unsigned)(bits[0] | bits[1] | bits[2] | bits[3]);
}
#define KERNEL_SIGNS(x) signs((i4)(x))
#endif
#include "broad_kernel.h"

#if defined(__x86_64__)
#define KERNEL(name) name##_avx2
#define KERNEL_TARGET __attribute__((target("avx2")))
#define KERNEL_WIDTH 8
typedef float v8 __attribute__((vector_size(32)));
#define KERNEL_SIGNS(x) ((unsigned)__builtin_ia32_movmskps256((v8)(x)))
#include "broad_kernel.h"
#endif

static const Kernels *choose_kernels(void)
{
    return BRIO_BY_ISA(&kernels_baseline, &kernels_avx2, &kernels_avx2);
}

/* Whether two nodes have something to do with each other. */
static bool nodes_overlap(const BrioBroad *b, int32_t i, int32_t j)
{
    const Box *p = &b->node_box[i], *q = &b->node_box[j];
    if (!concern(b, i, j)) return false;
    for (int k = 0; k < AXES; k++) {
        if (p->low[0][k] > q->high[0][k] && p->low[1][k] > q->high[1][k]) return false;
        if (q->low[0][k] > p->high[0][k] && q->low[1][k] > p->high[1][k]) return false;
    }
    return true;
}

/* ---- tasks ------------------------------------------------------------------------------ */

static void add_task(BrioBroad *b, int32_t first, int32_t second)
{
    if (b->tasks == b->task_room) {
        Task *more =
            brio__realloc(b->task, (size_t)b->tasks, 2 * (size_t)b->task_room, sizeof *more);
        if (!more) {
            b->out_of_memory = true;
            return;
        }
        b->task = more;
        b->task_room *= 2;
    }
    b->task[b->tasks++] = (Task){first, second};
}

/* The upper part of nodes_meet, and of node_meets_itself. */
static void plan_pair(BrioBroad *b, int32_t i, int32_t j)
{
    const BrioTreeNode *first = &b->surface->node[i], *second = &b->surface->node[j];
    if (!nodes_overlap(b, i, j)) return;
    bool clusters = b->cluster_of[i] >= 0 && b->cluster_of[j] >= 0;
    if (first->count + second->count <= TASK || clusters) {
        add_task(b, i, j);
    } else if (split_first(b, i, j)) {
        plan_pair(b, i + 1, j);
        plan_pair(b, first->right, j);
    } else {
        plan_pair(b, i, j + 1);
        plan_pair(b, i, second->right);
    }
}

static void plan_self(BrioBroad *b, int32_t i)
{
    const BrioTreeNode *node = &b->surface->node[i];
    if (!concern(b, i, i)) return;
    if (node->count <= TASK || b->cluster_of[i] >= 0) {
        add_task(b, i, -1);
        return;
    }
    plan_self(b, i + 1);
    plan_self(b, node->right);
    plan_pair(b, i + 1, node->right);
}

/* An affine body does not: an affine map takes what did not intersect to what does not. */
static bool meets_itself(const BrioSystem *s, const BrioSurfacePart *part)
{
    return part->moves &&
           !(part->owner < s->body_count && brio__body_is_affine(&s->body[part->owner])) &&
           !brio__excluded(s, part->owner, part->owner);
}

static bool may_meet(const BrioSystem *s, const BrioSurfacePart *p, const BrioSurfacePart *q)
{
    return (p->moves || q->moves) && !brio__excluded(s, p->owner, q->owner);
}

static bool parts_meet(const BrioBroad *b, int i, int j)
{
    const BrioSurfacePart *p = &b->surface->part[i], *q = &b->surface->part[j];
    return nodes_overlap(b, p->root, q->root) && may_meet(b->system, p, q);
}

bool brio__broad_may_touch(const BrioBroad *b)
{
    const BrioSurface *s = b->surface;
    for (int i = 0; i < s->part_count; i++) {
        if (meets_itself(b->system, &s->part[i])) return true;
        for (int j = 0; j < i; j++)
            if (may_meet(b->system, &s->part[i], &s->part[j])) return true;
    }
    return false;
}

static void add_parts(BrioBroad *b, int i, int j)
{
    if (!parts_meet(b, i, j)) return;
    if (b->pairs == b->pair_room) {
        uint64_t *more =
            brio__realloc(b->pair, (size_t)b->pairs, 2 * (size_t)b->pair_room, sizeof *more);
        if (!more) {
            b->out_of_memory = true;
            return;
        }
        b->pair = more;
        b->pair_room *= 2;
    }
    b->pair[b->pairs++] = (uint64_t)BRIO_MAX(i, j) << 32 | (uint64_t)BRIO_MIN(i, j);
}

static int by_start(const void *x, const void *y)
{
    const PartStart *p = x, *q = y;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    return p->part < q->part ? -1 : p->part > q->part;
}

/* The axis along which parts lie the farthest apart at the start. */
static int longest_axis(const BrioBroad *b)
{
    const BrioSurface *s = b->surface;
    float size[3];
    for (int r = 0; r < 3; r++) {
        float low = INFINITY, high = -INFINITY;
        for (int i = 0; i < s->part_count; i++) {
            low = fminf(low, b->node_box[s->part[i].root].low[0][r]);
            high = fmaxf(high, b->node_box[s->part[i].root].high[0][r]);
        }
        size[r] = high - low;
    }
    return size[0] >= size[1] && size[0] >= size[2] ? 0 : size[1] >= size[2] ? 1 : 2;
}

/* Pairs of parts whose boxes overlap, in ascending order: few parts one by one, many by where they
 * begin and end along an axis. */
static void find_parts(BrioBroad *b)
{
    const BrioSurface *s = b->surface;
    b->pairs = 0;
    if (s->part_count <= PARTS) {
        for (int i = 0; i < s->part_count; i++)
            for (int j = 0; j < i; j++) add_parts(b, i, j);
        return;
    }
    int axis = longest_axis(b);
    for (int i = 0; i < s->part_count; i++) {
        const Box *box = &b->node_box[s->part[i].root];
        float low = fminf(box->low[0][axis], box->low[1][axis]);
        bool number =
            box->low[0][axis] == box->low[0][axis] && box->low[1][axis] == box->low[1][axis];
        b->start[i] = (PartStart){number ? low : -INFINITY, i};
    }
    qsort(b->start, (size_t)s->part_count, sizeof *b->start, by_start);
    for (int i = 0; i < s->part_count; i++) {
        const Box *box = &b->node_box[s->part[b->start[i].part].root];
        float high = fmaxf(box->high[0][axis], box->high[1][axis]);
        for (int j = i + 1; j < s->part_count && !(b->start[j].low > high); j++)
            add_parts(b, b->start[i].part, b->start[j].part);
    }
    qsort(b->pair, (size_t)b->pairs, sizeof *b->pair, brio__ascending_keys);
}

static void plan(BrioBroad *b)
{
    const BrioSurface *s = b->surface;
    int64_t at = 0;
    b->tasks = 0;
    find_parts(b);
    for (int i = 0; i < s->part_count; i++) {
        if (meets_itself(b->system, &s->part[i])) plan_self(b, s->part[i].root);
        for (; at < b->pairs && (int)(b->pair[at] >> 32) == i; at++)
            plan_pair(b, s->part[i].root, s->part[(uint32_t)b->pair[at]].root);
    }
}

/* ---- all together ----------------------------------------------------------------------- */

typedef struct SearchWork {
    BrioBroad *b;
    const BrioSearch *search;
    double bound;
    BrioCandidates *candidates;
    int64_t place[BRIO_CANDIDATES][JOBS]; /* of what a job has found among the candidates */
} SearchWork;

static void run_job(SearchWork *work, int64_t j)
{
    BrioBroad *b = work->b;
    Descent d = {.b = b, .search = work->search, .bound = work->bound, .job = &b->job[j]};
    for (int k = 0; k < BRIO_CANDIDATES; k++) d.job->count[k] = d.count[k] = 0;
    for (int64_t i = b->tasks * j / JOBS; i < b->tasks * (j + 1) / JOBS; i++) {
        if (b->task[i].second < 0)
            b->kernels->node_meets_itself(&d, b->task[i].first);
        else
            b->kernels->nodes_meet(&d, b->task[i].first, b->task[i].second);
    }
    for (int k = 0; k < BRIO_CANDIDATES; k++)
        if (d.count[k]) measure(&d, k);
}

static void run_jobs(void *context, int64_t begin, int64_t end)
{
    for (int64_t j = begin; j < end; j++) run_job(context, j);
}

/* A job that found more than it has room for gets more, and does its work again. */
static BrioStatus repeat_jobs(SearchWork *work)
{
    for (int64_t j = 0; j < JOBS; j++) {
        Job *job = &work->b->job[j];
        bool again = false;
        for (int k = 0; k < BRIO_CANDIDATES; k++) {
            if (job->count[k] <= job->room[k]) continue;
            int64_t room = 2 * job->count[k];
            int32_t *more = brio__realloc(job->found[k], 0, 2 * (size_t)room, sizeof *more);
            if (!more) return BRIO_ERROR_MEMORY;
            job->found[k] = more;
            job->room[k] = room;
            again = true;
        }
        if (again) run_job(work, j);
    }
    return BRIO_OK;
}

static BrioStatus make_room(BrioCandidates *c, int64_t count)
{
    if (count > c->room) {
        int32_t *more = brio__realloc(c->who, 0, 4 * (size_t)count, sizeof *more);
        if (!more) return BRIO_ERROR_MEMORY;
        c->who = more;
        c->room = 2 * count;
    }
    return brio__pairs_resize(&c->pairs, count);
}

static void put_jobs(void *context, int64_t begin, int64_t end)
{
    const SearchWork *work = context;
    const BrioSurface *s = work->b->surface;
    for (int64_t j = begin; j < end; j++)
        for (int kind = 0; kind < BRIO_CANDIDATES; kind++) {
            const Job *job = &work->b->job[j];
            BrioCandidates *to = &work->candidates[kind];
            for (int64_t i = 0; i < job->count[kind]; i++) {
                int64_t e = work->place[kind][j] + i;
                int32_t node[4], vertex[4];
                memcpy(to->who + 2 * e, job->found[kind] + 2 * i, 2 * sizeof *to->who);
                pair_nodes(s, kind, to->who + 2 * e, node);
                for (int k = 0; k < 4; k++) vertex[k] = s->vertex[node[k]];
                brio__pairs_set(&to->pairs, e, vertex, (double[2]){1, 0});
            }
        }
}

/* Round-off of distances, at most: some hundred times that of the largest coordinate. */
static double rounding(const BrioBroad *b)
{
    double size = 0;
    for (int i = 0; i < b->surface->part_count; i++) {
        const Box *box = &b->node_box[b->surface->part[i].root];
        for (int end = 0; end < 2; end++)
            for (int r = 0; r < 3; r++)
                size = fmax(size, fmax(fabs(box->low[end][r]), fabs(box->high[end][r])));
    }
    return 1e-13 * size;
}

BrioStatus brio__broad_search(BrioBroad *b, const BrioSearch *search,
                              BrioCandidates candidates[BRIO_CANDIDATES])
{
    b->out_of_memory = false;
    make_boxes(b, search);
    plan(b);
    if (b->out_of_memory) return BRIO_ERROR_MEMORY;
    SearchWork work = {.b = b,
                       .search = search,
                       .bound = (search->reach + 2 * search->margin) * (1 + 1e-6) + rounding(b),
                       .candidates = candidates};
    brio__parallel_for(JOBS, b->tasks < 8 ? JOBS : 1, run_jobs, &work);
    BRIO_CHECK(repeat_jobs(&work));
    for (int k = 0; k < BRIO_CANDIDATES; k++) {
        int64_t count = 0;
        for (int j = 0; j < JOBS; j++) {
            work.place[k][j] = count;
            count += b->job[j].count[k];
        }
        BRIO_CHECK(make_room(&candidates[k], count));
    }
    brio__parallel_for(JOBS, b->tasks < 64 ? JOBS : 4, put_jobs, &work);
    for (int k = 0; k < BRIO_CANDIDATES; k++) brio__pairs_finish(&candidates[k].pairs);
    return BRIO_OK;
}
