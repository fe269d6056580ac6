/* Vertex separators.
 *
 * Growing: side A begins with one vertex and takes the separator vertex that pulls the smallest
 * weight out of B, again and again; the best separator on the way is kept. Refinement in the manner
 * of Fiduccia and Mattheyses [Fiduccia1982, Ashcraft1997]: a separator vertex v goes to one side,
 * and its neighbours on the other side join the separator. The gain is
 *
 *     weight(v) - sum of the weights of these neighbours.
 *
 * The best move is made even if it is a loss; after STALL moves without a new minimum the pass goes
 * back to the best separator it met.
 *
 * Separators grow from vertices far from each other. Of a large graph one more is found in several
 * levels [Karypis1998, Hendrickson1998]: the graph is made coarser, separators grow in the coarsest
 * graph, and the best of them is refined on each level on the way back. Growing alone does better
 * on meshes of boxes, the levels on irregular graphs. */
#include "dissect.h"

#include <string.h>

enum {
    LARGE = 400,   /* graphs with more vertices are made coarser too */
    COARSEST = 50, /* vertices of the coarsest graph, about */
    MAX_LEVELS = 40,
    STARTS = 4, /* of separators in the coarsest graph */
    ENDS = 2,   /* vertices far from each other */
    PASSES = 6, /* of refinement */
    STALL = 20, /* moves without a new minimum; LARGE_STALL in large graphs */
    LARGE_STALL = 60,
    BUCKETS = 256,
    OUT = INT32_MIN
};
static const double max_side = 0.7; /* fraction of the weight */

/* Separator vertices by the gains of their moves to one side, in lists of about equal gains; the
 * latest is the first of its list. */
typedef struct Link {
    int32_t next, previous; /* previous of the first: -1 - list; OUT: in no list */
} Link;

typedef struct Queue {
    int32_t head[BUCKETS], top; /* no list above `top` has vertices */
    Link *link;
} Queue;

struct BrioSeparator {
    int32_t *work;    /* 3 n, of coarsening */
    int32_t *pull[2]; /* weight of the neighbours of a separator vertex on each side */
    Queue queue[2];   /* moves to each side */
    int shift;        /* gains in a list differ by less than 2^shift */
    bool *moved;
    int32_t *log; /* vertices that changed, and their sides before */
    uint8_t *log_side, *best;
    int32_t logged, stall;
    BrioGraph level[MAX_LEVELS];
};

typedef struct Cut {
    int32_t weight[3];
    int32_t limit; /* of a side */
} Cut;

/* ---- queues ------------------------------------------------------------------------------- */

static void queue_remove(Queue *q, int32_t v)
{
    Link *link = q->link, was = link[v];
    if (was.previous == OUT) return;
    if (was.previous < 0)
        q->head[-1 - was.previous] = was.next;
    else
        link[was.previous].next = was.next;
    if (was.next >= 0) link[was.next].previous = was.previous;
    link[v].previous = OUT;
}

static void queue_set(Queue *q, int32_t v, int32_t gain, int shift)
{
    int32_t list = BUCKETS / 2 + (gain >> shift);
    list = BRIO_MAX(0, BRIO_MIN(list, BUCKETS - 1));
    queue_remove(q, v);
    int32_t next = q->head[list];
    q->link[v] = (Link){next, -1 - list};
    if (next >= 0) q->link[next].previous = v;
    q->head[list] = v;
    q->top = BRIO_MAX(q->top, list);
}

/* The first vertex, or -1. */
static int32_t queue_first(Queue *q)
{
    while (q->top >= 0 && q->head[q->top] < 0) q->top--;
    return q->top >= 0 ? q->head[q->top] : -1;
}

/* ---- moves -------------------------------------------------------------------------------- */

static void find_pull(BrioSeparator *s, const BrioGraph *g, int32_t v)
{
    int32_t pull[3] = {0, 0, 0};
    for (int64_t k = g->start[v]; k < g->start[v + 1]; k++)
        pull[g->side[g->neighbour[k]]] += g->weight[g->neighbour[k]];
    s->pull[0][v] = pull[0];
    s->pull[1][v] = pull[1];
}

static void offer(BrioSeparator *s, const BrioGraph *g, int32_t v, int to)
{
    queue_set(&s->queue[to], v, g->weight[v] - s->pull[1 - to][v], s->shift);
}

static void set_side(BrioSeparator *s, BrioGraph *g, Cut *cut, int32_t v, uint8_t side)
{
    s->log[s->logged] = v;
    s->log_side[s->logged++] = g->side[v];
    cut->weight[g->side[v]] -= g->weight[v];
    cut->weight[side] += g->weight[v];
    g->side[v] = side;
}

static void undo(BrioSeparator *s, BrioGraph *g, int32_t logged)
{
    while (s->logged > logged) {
        s->logged--;
        g->side[s->log[s->logged]] = s->log_side[s->logged];
    }
}

/* u leaves side `from` for the separator. */
static void pull_in(BrioSeparator *s, BrioGraph *g, Cut *cut, int32_t u, int from)
{
    int to = 1 - from;
    set_side(s, g, cut, u, BRIO_SEPARATOR);
    int32_t pull[3] = {0, 0, 0};
    for (int64_t k = g->start[u]; k < g->start[u + 1]; k++) {
        int32_t x = g->neighbour[k];
        pull[g->side[x]] += g->weight[x];
        if (g->side[x] != BRIO_SEPARATOR) continue;
        s->pull[from][x] -= g->weight[u];
        if (s->queue[to].link[x].previous != OUT) offer(s, g, x, to);
    }
    s->pull[0][u] = pull[0];
    s->pull[1][u] = pull[1];
    if (s->moved[u]) return;
    offer(s, g, u, 0);
    offer(s, g, u, 1);
}

/* Separator vertex v goes to a side. */
static void move(BrioSeparator *s, BrioGraph *g, Cut *cut, int32_t v, int to)
{
    int from = 1 - to;
    queue_remove(&s->queue[0], v);
    queue_remove(&s->queue[1], v);
    s->moved[v] = true;
    set_side(s, g, cut, v, (uint8_t)to);
    for (int64_t k = g->start[v]; k < g->start[v + 1]; k++) {
        int32_t u = g->neighbour[k];
        if (g->side[u] == BRIO_SEPARATOR) {
            s->pull[to][u] += g->weight[v];
            if (s->queue[from].link[u].previous != OUT) offer(s, g, u, from);
        }
    }
    for (int64_t k = g->start[v]; k < g->start[v + 1]; k++)
        if (g->side[g->neighbour[k]] == from) pull_in(s, g, cut, g->neighbour[k], from);
}

static void begin_moves(BrioSeparator *s, const BrioGraph *g)
{
    s->logged = 0;
    memset(s->moved, 0, (size_t)g->n * sizeof *s->moved);
    for (int to = 0; to < 2; to++) {
        Queue *q = &s->queue[to];
        memset(q->head, -1, sizeof q->head);
        q->top = -1;
        for (int32_t v = 0; v < g->n; v++) q->link[v].previous = OUT;
    }
}

/* What a separator costs: its weight, up to twice that for uneven sides, and more for a side beyond
 * the limit. */
static double cost_of(const Cut *cut)
{
    double a = cut->weight[0], b = cut->weight[1], uneven = fabs(a - b) / (a + b + 1);
    double over = fmax(0, fmax(a, b) - cut->limit);
    return cut->weight[BRIO_SEPARATOR] * (1 + uneven * uneven) + over;
}

/* The side that the best move goes to, or -1. */
static int best_side(BrioSeparator *s, const BrioGraph *g, const Cut *cut, const int32_t first[2])
{
    bool open[2];
    for (int to = 0; to < 2; to++)
        open[to] = first[to] >= 0 && (cut->weight[to] + g->weight[first[to]] <= cut->limit ||
                                      cut->weight[to] < cut->weight[1 - to]);
    if (!open[0] || !open[1]) return open[0] ? 0 : open[1] ? 1 : -1;
    int32_t a = g->weight[first[0]] - s->pull[1][first[0]];
    int32_t b = g->weight[first[1]] - s->pull[0][first[1]];
    if (a != b) return a > b ? 0 : 1;
    return cut->weight[0] <= cut->weight[1] ? 0 : 1;
}

static bool refine_once(BrioSeparator *s, BrioGraph *g, Cut *cut)
{
    begin_moves(s, g);
    for (int32_t v = 0; v < g->n; v++)
        if (g->side[v] == BRIO_SEPARATOR) {
            find_pull(s, g, v);
            offer(s, g, v, 0);
            offer(s, g, v, 1);
        }
    Cut best = *cut;
    double min = cost_of(cut), initial = min;
    int32_t keep = 0;
    for (int stall = 0; stall < s->stall; stall++) {
        int32_t first[2] = {queue_first(&s->queue[0]), queue_first(&s->queue[1])};
        int to = best_side(s, g, cut, first);
        if (to < 0) break;
        move(s, g, cut, first[to], to);
        double cost = cost_of(cut);
        if (cost >= min) continue;
        min = cost;
        best = *cut;
        keep = s->logged;
        stall = -1;
    }
    undo(s, g, keep);
    *cut = best;
    return min < initial;
}

/* Lists for gains from -16 to 16 times the mean weight. */
static void set_shift(BrioSeparator *s, const BrioGraph *g)
{
    s->shift = 0;
    while ((int64_t)g->total * 16 > ((int64_t)BUCKETS / 2 << s->shift) * g->n) s->shift++;
}

static void refine(BrioSeparator *s, BrioGraph *g, Cut *cut)
{
    set_shift(s, g);
    for (int pass = 0; pass < PASSES; pass++)
        if (!refine_once(s, g, cut)) break;
}

/* ---- levels ------------------------------------------------------------------------------- */

/* u leaves B for the separator while A grows. */
static void touch(BrioSeparator *s, BrioGraph *g, Cut *cut, int32_t u)
{
    int32_t pull = 0, weight = g->weight[u], *pulls = s->pull[BRIO_SIDE_B];
    set_side(s, g, cut, u, BRIO_SEPARATOR);
    for (int64_t k = g->start[u]; k < g->start[u + 1]; k++) {
        int32_t x = g->neighbour[k];
        if (g->side[x] == BRIO_SIDE_B) pull += g->weight[x];
        if (g->side[x] != BRIO_SEPARATOR) continue;
        pulls[x] -= weight;
        offer(s, g, x, BRIO_SIDE_A);
    }
    pulls[u] = pull;
    offer(s, g, u, BRIO_SIDE_A);
}

/* Side A grows from `root` until it is as heavy as B. */
static void grow(BrioSeparator *s, BrioGraph *g, int32_t root, Cut *cut)
{
    set_shift(s, g);
    begin_moves(s, g);
    memset(g->side, BRIO_SIDE_B, (size_t)g->n);
    cut->weight[BRIO_SIDE_A] = cut->weight[BRIO_SEPARATOR] = 0;
    cut->weight[BRIO_SIDE_B] = g->total;
    touch(s, g, cut, root);
    Cut best = *cut;
    double min = INFINITY;
    int32_t keep = 0;
    while (cut->weight[BRIO_SIDE_A] < cut->limit) {
        int32_t v = queue_first(&s->queue[0]);
        if (v < 0) break;
        queue_remove(&s->queue[0], v);
        set_side(s, g, cut, v, BRIO_SIDE_A);
        for (int64_t k = g->start[v]; k < g->start[v + 1]; k++)
            if (g->side[g->neighbour[k]] == BRIO_SIDE_B) touch(s, g, cut, g->neighbour[k]);
        if (cut->weight[BRIO_SIDE_B] > cut->limit && min < INFINITY) continue;
        double cost = cost_of(cut);
        if (cost >= min) continue;
        min = cost;
        best = *cut;
        keep = s->logged;
    }
    undo(s, g, keep);
    *cut = best;
}

/* Grows from a root, and keeps the sides if they are better than the best so far. */
static void try_root(BrioSeparator *s, BrioGraph *g, int32_t root, Cut *best, double *min)
{
    Cut cut = {.limit = best->limit};
    grow(s, g, root, &cut);
    refine(s, g, &cut);
    double cost = cost_of(&cut);
    if (cost >= *min) return;
    *min = cost;
    *best = cut;
    memcpy(s->best, g->side, (size_t)g->n);
}

/* distance[v] = number of edges between root and v; queue: the vertices by distance. */
static void measure(const BrioGraph *g, int32_t root, int32_t *distance, int32_t *queue)
{
    int32_t count = 1;
    memset(distance, -1, (size_t)g->n * sizeof *distance);
    queue[0] = root;
    distance[root] = 0;
    for (int32_t i = 0; i < count; i++) {
        int32_t v = queue[i];
        for (int64_t k = g->start[v]; k < g->start[v + 1]; k++) {
            int32_t u = g->neighbour[k];
            if (distance[u] >= 0) continue;
            distance[u] = distance[v] + 1;
            queue[count++] = u;
        }
    }
}

/* Tries vertices far from each other: corners, if the graph is that of a box. */
static void try_ends(BrioSeparator *s, BrioGraph *g, Cut *best, double *min)
{
    int32_t *distance = s->work, *queue = distance + g->n, *nearest = queue + g->n;
    int32_t root = g->n - 1;
    for (int32_t v = 0; v < g->n; v++) nearest[v] = INT32_MAX;
    for (int e = 0;; e++) {
        try_root(s, g, root, best, min);
        if (e + 1 == ENDS) break;
        measure(g, root, distance, queue);
        root = 0;
        for (int32_t v = 0; v < g->n; v++) {
            nearest[v] = BRIO_MIN(nearest[v], distance[v]);
            if (nearest[v] > nearest[root]) root = v;
        }
    }
}

static void try_levels(BrioSeparator *s, BrioPool *p, BrioGraph *g, Cut *best, double *min)
{
    BrioPool before = *p;
    int32_t max_weight = (int32_t)(1.5 * g->total / COARSEST) + 1;
    int last = 0;
    s->level[0] = *g;
    while (last + 1 < MAX_LEVELS && s->level[last].n > COARSEST &&
           brio__coarsen(p, &s->level[last], &s->level[last + 1], max_weight, s->work))
        last++;
    BrioGraph *coarsest = &s->level[last];
    for (int i = 0; i < STARTS; i++)
        try_root(s, coarsest, (int32_t)((int64_t)coarsest->n * i / STARTS), best, min);
    memcpy(coarsest->side, s->best, (size_t)coarsest->n);
    for (int i = last - 1; i >= 0; i--) {
        BrioGraph *fine = &s->level[i];
        for (int32_t v = 0; v < fine->n; v++) fine->side[v] = s->level[i + 1].side[fine->coarse[v]];
        refine(s, fine, best);
    }
    *min = cost_of(best);
    memcpy(s->best, g->side, (size_t)g->n);
    *p = before;
}

void brio__separate(BrioSeparator *s, BrioPool *p, BrioGraph *g)
{
    Cut best = {.limit = (int32_t)(max_side * g->total)};
    double min = INFINITY;
    s->stall = g->n > LARGE ? LARGE_STALL : STALL;
    if (g->n > LARGE) try_levels(s, p, g, &best, &min);
    try_ends(s, g, &best, &min);
    memcpy(g->side, s->best, (size_t)g->n);
}

BrioStatus brio__separator_create(int32_t n, BrioSeparator **out)
{
    size_t size = (size_t)n;
    *out = NULL;
    BrioSeparator *s = brio__calloc(1, sizeof *s);
    if (!s) return BRIO_ERROR_MEMORY;
    s->work = brio__alloc(8 * size, sizeof *s->work);
    s->queue[0].link = brio__alloc(2 * size, sizeof *s->queue[0].link);
    s->moved = brio__alloc(5 * size, 1);
    if (!s->work || !s->queue[0].link || !s->moved) {
        brio__separator_free(s);
        return BRIO_ERROR_MEMORY;
    }
    s->queue[1].link = s->queue[0].link + size;
    s->pull[0] = s->work + 3 * size;
    s->pull[1] = s->work + 4 * size;
    s->log = s->work + 5 * size; /* a vertex moves once and joins the separator twice: 3 n */
    s->log_side = (uint8_t *)s->moved + size;
    s->best = s->log_side + 3 * size;
    *out = s;
    return BRIO_OK;
}

void brio__separator_free(BrioSeparator *s)
{
    if (!s) return;
    brio__free(s->work);
    brio__free(s->queue[0].link);
    brio__free(s->moved);
    brio__free(s);
}
