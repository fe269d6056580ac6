/* Sums of the Hessians of pairs, J^T H J, into overlay blocks, in parallel (pairs.h).
 *
 * Consecutive pairs that reach the same coordinate blocks by affine maps, those of two affine
 * bodies, are a group; every other pair is a group of its own. First each group is summed into
 * blocks of its own; then these are added to the overlay, each of its blocks by one thread in the
 * order of the groups. So neither the number of threads nor what they do when changes a bit.
 *
 * Which groups there are and where their blocks are in the overlay is the plan. It holds while the
 * pairs and the overlay's keys stay: often over the iterations of a step. */
#include "pairs.h"

#include <string.h>

/* A shard is what a thread takes at a time: groups of at least SHARD pairs, or with SHARD_SUMS
 * numbers. A batch is what is summed before it is added to the overlay: shards with at least
 * BATCH_SUMS numbers. Hessians are made PACKS packs at a time. */
enum { NODES = 4, HESSIAN = 9 * NODES * (NODES + 1) / 2, MAX_BLOCKS = 8, PACKS = 2 };
enum { REACH = 4 * NODES }; /* blocks of a pair of caged bodies, at most */
enum { SHARD = 128, SHARD_SUMS = 1 << 14, BATCH_SUMS = 1 << 17, MAX_THREADS = 16 };

typedef struct Group {
    int64_t first; /* pair; the next group's first is past the last */
    int64_t sum;   /* where its blocks are among the batch's sums */
    int64_t slot;  /* where its slots begin */
    int32_t block[REACH];
    int8_t blocks;
    bool complete;  /* the overlay had all of its blocks when they were looked up */
    bool wide;      /* some vertex has several blocks, all of them those of an affine body */
    bool two;       /* all vertices have the blocks of one of two bodies, or none */
    bool affine;    /* and each of these has the four of an affine body */
    int8_t split;   /* then, where the blocks of the second body begin */
    int8_t entries; /* numbers that are summed of a block: 6 of symmetric ones */
    /* where the blocks of each node begin, unless there are two bodies */
    int8_t at[NODES];
} Group;

typedef struct Shard {
    int64_t group;   /* its first; the next one's is past the last */
    bool batch;      /* begins a batch */
    bool core, full; /* some groups sum c c^T (x) K, and some others */
} Shard;

struct BrioPlan {
    bool ready;    /* there are groups, of these pairs: */
    uint64_t keys; /* of the overlay that slots are of; 0: there are none */
    int64_t elements, node_room, begin_room;
    int32_t *node; /* of the pairs that it is of */
    bool *begins;  /* of each pair: it begins a group */
    int64_t groups, group_room, slot_room, shards, shard_room, sums, sum_room;
    Group *group;
    /* of the blocks (a, b), a >= b, of each group: twice the overlay's index, 1 more: transposed */
    int32_t *slot;
    Shard *shard;
    double *sum;
    int64_t pull_room, reduced_room, force_room;
    double *pull; /* gradients of the wide groups: [group][3][8] */
    /* Of friction. */
    bool core, full; /* some groups sum c c^T (x) K, and some others */
    double *reduced; /* c of the pairs of the first: [pair][8] */
    double *force;   /* the pull of each pair: [pack][3][8] */
};

/* How a pair of affine bodies maps to the blocks of its group: the weights of each node, which are
 * `count` from `at` on and zero elsewhere. */
typedef struct Map {
    union {
        lane lanes[NODES];
        double weight[NODES][MAX_BLOCKS];
    };
    int at[NODES], count[NODES];
} Map;

/* The weights of a vertex of an affine body. */
typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));

/* How a pair of two affine bodies maps to their blocks: four weights of each node, zeros of a fixed
 * one, and as bits which nodes are of the second body. */
typedef struct Legs {
    const double *weight[NODES];
    unsigned second;
} Legs;

/* A pair whose Hessian by the blocks of two affine bodies is c c^T (x) K. K: its upper half, in the
 * pair's lane of a pack. */
typedef struct Product {
    const double *c, *K;
} Product;

typedef struct Kernels {
    void (*full)(const Map *map, const double *H, double weight, double *sums);
    void (*two)(const Legs *legs, const double *H, double weight, double *sums);
    void (*reduce)(const BrioPairs *pairs, const BrioSystem *s, const Group *group);
    void (*products)(int count, const Product *pair, double weight, int blocks, double *sums);
    void (*pull)(const BrioPairs *pairs, const BrioSystem *s, const Group *group, double *sums);
    void (*pull_products)(const BrioPlan *plan, const Group *group, double *sums);
} Kernels;

static inline Legs legs_of(const BrioPairs *pairs, const BrioSystem *s, const Group *group,
                           int64_t e)
{
    static const double none[4];
    Legs legs = {.second = 0};
    for (int i = 0; i < NODES; i++) {
        int32_t v = brio__pairs_vertex(pairs, e, i), first = s->map_start[v];
        bool fixed = s->map_start[v + 1] == first;
        bool second = !fixed && s->map_block[first] != group->block[0];
        legs.weight[i] = fixed ? none : s->map_weight + first;
        legs.second |= (unsigned)second << i;
    }
    return legs;
}

#define KERNEL(name) name##_baseline
#define KERNEL_TARGET
#include "assemble_kernel.h"

#if defined(__x86_64__)
#define KERNEL(name) name##_avx2
#define KERNEL_TARGET __attribute__((target("avx2,fma")))
#include "assemble_kernel.h"

#define KERNEL(name) name##_avx512
#define KERNEL_TARGET __attribute__((target("avx512f,avx512dq,avx512vl")))
#include "assemble_kernel.h"
#endif

static const Kernels *kernels(void)
{
    return BRIO_BY_ISA(&kernels_baseline, &kernels_avx2, &kernels_avx512);
}

void brio__plan_free(BrioPlan *plan)
{
    if (!plan) return;
    brio__free(plan->node);
    brio__free(plan->begins);
    brio__free(plan->group);
    brio__free(plan->slot);
    brio__free(plan->shard);
    brio__free(plan->sum);
    brio__free(plan->pull);
    brio__free(plan->reduced);
    brio__free(plan->force);
    brio__free(plan);
}

/* ---- the plan --------------------------------------------------------------------------- */

/* The coordinate blocks that an element touches, each once, and what each of its nodes has of
 * them. */
typedef struct Reach {
    int blocks, entries;
    int32_t block[REACH];
    struct {
        int block, node;
        double weight;
    } entry[REACH];
    bool wide;
} Reach;

/* A vertex of a cage: its blocks descend, and the first does not tell the others. */
static inline bool is_caged(const BrioSystem *s, int32_t v)
{
    int32_t m = s->map_start[v];
    return s->map_start[v + 1] - m > 1 && s->map_block[m] > s->map_block[m + 1];
}

static void reach(const BrioSystem *s, const int32_t vertex[4], Reach *to)
{
    bool caged = false;
    to->blocks = to->entries = 0;
    to->wide = false;
    for (int k = 0; k < NODES; k++) caged |= is_caged(s, vertex[k]);
    for (int k = 0; k < NODES; k++)
        for (int32_t m = s->map_start[vertex[k]]; m < s->map_start[vertex[k] + 1]; m++) {
            int at = 0;
            while (at < to->blocks && to->block[at] != s->map_block[m]) at++;
            if (at == to->blocks) to->block[to->blocks++] = s->map_block[m];
            to->wide |= s->map_weight[m] != 1 && !caged;
            to->entry[to->entries].block = at;
            to->entry[to->entries].node = k;
            to->entry[to->entries++].weight = s->map_weight[m];
        }
}

typedef struct PlanWork {
    const BrioPairs *pairs;
    const BrioSystem *system;
    BrioPlan *plan;
} PlanWork;

/* The blocks of a vertex as one number, since the first tells the others; -1: it has none. */
static inline int64_t frame(const BrioSystem *s, int32_t v)
{
    int32_t count = s->map_start[v + 1] - s->map_start[v];
    return count ? 8 * (int64_t)s->map_block[s->map_start[v]] + count : -1;
}

/* The frames of a pair, if there are at most two with several blocks: otherwise false. */
static inline bool two_frames(const BrioPairs *pairs, const BrioSystem *s, int64_t e,
                              int64_t both[2])
{
    both[0] = both[1] = -1;
    for (int k = 0; k < NODES; k++) {
        int32_t v = brio__pairs_vertex(pairs, e, k);
        int64_t now = frame(s, v);
        if (is_caged(s, v)) return false;
        if (now < 0 || now == both[0] || now == both[1]) continue;
        if (both[1] >= 0 || now % 8 == 1) return false;
        both[both[0] >= 0] = now;
    }
    if (both[1] >= 0 && both[1] < both[0]) {
        int64_t swap = both[0];
        both[0] = both[1];
        both[1] = swap;
    }
    return both[0] >= 0;
}

BrioStatus brio__pairs_reserve(const BrioPairs *pairs, const BrioSystem *s, int64_t e,
                               BrioReserved *last, BrioOverlay *overlay)
{
    BrioReserved now;
    now.any = two_frames(pairs, s, e, now.frame);
    bool same =
        now.any && last->any && now.frame[0] == last->frame[0] && now.frame[1] == last->frame[1];
    *last = now;
    if (same) return BRIO_OK;
    Reach to;
    int32_t vertex[4];
    brio__pairs_vertices(pairs, e, vertex);
    reach(s, vertex, &to);
    for (int a = 0; a < to.blocks; a++)
        for (int b = 0; b <= a; b++)
            BRIO_CHECK(brio__overlay_reserve(overlay, to.block[a], to.block[b]));
    return BRIO_OK;
}

/* Which pairs are not of the bodies of the pair before. */
static void find_groups(void *context, int64_t begin, int64_t end)
{
    const PlanWork *work = context;
    int64_t last[2] = {-1, -1}, now[2];
    bool before = false;
    for (int64_t e = BRIO_MAX(begin - 1, 0); e < end; e++) {
        bool two = two_frames(work->pairs, work->system, e, now);
        if (e >= begin)
            work->plan->begins[e] = !(two && before && now[0] == last[0] && now[1] == last[1]);
        before = two;
        last[0] = now[0];
        last[1] = now[1];
    }
}

/* An array with room for `count` elements, the old one or a new one, whose contents are lost; NULL
 * without memory, and the old one is kept. */
static void *make_room(void *array, int64_t *room, int64_t count, size_t size)
{
    if (array && count <= *room) return array;
    void *more = brio__realloc(array, 0, 2 * (size_t)count + 1, size);
    if (more) *room = 2 * count + 1;
    return more;
}

#define MAKE_ROOM(array, room, count)                                        \
    do {                                                                     \
        void *made_room = make_room(array, &(room), count, sizeof *(array)); \
        if (!made_room) return BRIO_ERROR_MEMORY;                            \
        (array) = made_room;                                                 \
    } while (0)

/* Numbers that a group sums: of affine bodies whole rows of blocks, eight to a row. */
static int64_t group_sums(const Group *group)
{
    return group->entries *
           (group->wide ? LANES * group->blocks : (int64_t)brio__pairs(group->blocks));
}

/* The blocks of a group, from those of its first pair. */
static void fill_group(const BrioSystem *s, const BrioPairs *pairs, Group *group)
{
    Reach to;
    int32_t vertex[4], node[4];
    int64_t both[2];
    brio__pairs_vertices(pairs, group->first, node);
    memcpy(vertex, node, sizeof vertex);
    group->two = two_frames(pairs, s, group->first, both);
    group->split = group->two ? (int8_t)(both[0] % 8) : 0;
    for (int body = 0; group->two && body < 2; body++) /* the first body first */
        for (int k = 0; k < NODES; k++)
            if (frame(s, node[k]) == both[body]) vertex[body] = node[k];
    reach(s, vertex, &to);
    group->blocks = (int8_t)to.blocks;
    group->wide = to.wide;
    group->affine = group->two && group->split == 4 && group->blocks % 4 == 0;
    bool product = group->affine && pairs->term.energy->element == BRIO_ELEMENT_FRICTION;
    group->entries = product ? 6 : 9;
    memcpy(group->block, to.block, sizeof group->block);
    for (int k = to.entries - 1; k >= 0; k--)
        group->at[to.entry[k].node] = (int8_t)to.entry[k].block;
}

static void fill_groups(void *context, int64_t begin, int64_t end)
{
    const PlanWork *work = context;
    for (int64_t g = begin; g < end; g++)
        fill_group(work->system, work->pairs, &work->plan->group[g]);
}

/* Where the blocks of node k of a pair begin among those of its group. */
static inline int node_at(const BrioSystem *s, const Group *group, int k, int32_t v)
{
    if (!group->two) return group->at[k];
    return s->map_block[s->map_start[v]] == group->block[0] ? 0 : group->split;
}

/* Shards and batches: where each group's sums are. */
static BrioStatus make_shards(BrioPlan *plan)
{
    int64_t sums = 0, first_sum = 0, largest = 0;
    MAKE_ROOM(plan->shard, plan->shard_room, plan->groups + 1);
    plan->shards = 0;
    plan->core = plan->full = false;
    for (int64_t g = 0; g < plan->groups; g++) {
        Group *group = &plan->group[g];
        const Shard *last = plan->shards ? &plan->shard[plan->shards - 1] : NULL;
        bool full = !last || group->first - plan->group[last->group].first >= SHARD ||
                    sums - first_sum >= SHARD_SUMS;
        if (full) {
            bool batch = !last || sums >= BATCH_SUMS;
            if (batch) sums = 0;
            first_sum = sums;
            plan->shard[plan->shards++] = (Shard){.group = g, .batch = batch};
        }
        Shard *shard = &plan->shard[plan->shards - 1];
        shard->core |= group->entries == 6;
        shard->full |= group->entries != 6;
        plan->core |= group->entries == 6;
        plan->full |= group->entries != 6;
        group->sum = sums;
        sums += (group_sums(group) + LANES - 1) / LANES * LANES;
        largest = BRIO_MAX(largest, sums);
    }
    plan->shard[plan->shards] = (Shard){.group = plan->groups, .batch = true};
    MAKE_ROOM(plan->sum, plan->sum_room, largest);
    return BRIO_OK;
}

static BrioStatus make_groups(BrioPairs *pairs, const BrioSystem *s)
{
    const BrioTerm *term = &pairs->term;
    if (!pairs->plan) pairs->plan = brio__calloc(1, sizeof *pairs->plan);
    if (!pairs->plan) return BRIO_ERROR_MEMORY;
    BrioPlan *plan = pairs->plan;
    size_t bytes = (size_t)term->packs * LANES * NODES * sizeof *plan->node;
    if (plan->ready && plan->elements == term->elements && !memcmp(plan->node, term->node, bytes))
        return BRIO_OK;
    plan->ready = false;
    plan->keys = 0;
    MAKE_ROOM(plan->begins, plan->begin_room, term->elements);
    MAKE_ROOM(plan->node, plan->node_room, term->packs * LANES * NODES);
    memcpy(plan->node, term->node, bytes);
    plan->elements = term->elements;
    brio__parallel_for(term->elements, 8192, find_groups, &(PlanWork){pairs, s, plan});
    plan->groups = 0;
    for (int64_t e = 0; e < term->elements; e++) plan->groups += plan->begins[e];
    MAKE_ROOM(plan->group, plan->group_room, plan->groups + 1);
    plan->groups = 0;
    for (int64_t e = 0; e < term->elements; e++)
        if (plan->begins[e]) plan->group[plan->groups++].first = e;
    plan->group[plan->groups].first = term->elements;
    brio__parallel_for(plan->groups, 1024, fill_groups, &(PlanWork){pairs, s, plan});
    BRIO_CHECK(make_shards(plan));
    plan->ready = true;
    return BRIO_OK;
}

typedef struct SlotWork {
    BrioPlan *plan;
    const BrioOverlay *overlay;
} SlotWork;

/* Slots of blocks that the overlay has; -1: it has none. */
static void look_up_slots(void *context, int64_t begin, int64_t end)
{
    const SlotWork *work = context;
    for (int64_t g = begin; g < end; g++) {
        Group *group = &work->plan->group[g];
        int32_t *slot = work->plan->slot + group->slot;
        int64_t guess[2] = {0}; /* blocks of two bodies were mostly made one after the other */
        group->complete = true;
        for (int a = 0; a < group->blocks; a++)
            for (int b = 0; b <= a; b++) {
                int32_t row = group->block[a], column = group->block[b];
                int64_t *next = &guess[a >= group->split && b < group->split];
                int64_t index = brio__overlay_find(work->overlay, row, column, *next);
                if (index >= 0) *next = index + 1;
                group->complete &= index >= 0;
                *slot++ = index < 0 ? -1 : (int32_t)(2 * index + (row < column));
            }
    }
}

/* Makes those that are missing. */
static BrioStatus make_slots(BrioPlan *plan, const Group *group, BrioOverlay *overlay)
{
    int32_t *slot = plan->slot + group->slot;
    for (int a = 0; a < group->blocks; a++)
        for (int b = 0; b <= a; b++, slot++) {
            int32_t row = group->block[a], column = group->block[b];
            if (*slot >= 0) continue;
            int64_t index = brio__overlay_index(overlay, row, column);
            if (index < 0) return BRIO_ERROR_MEMORY;
            *slot = (int32_t)(2 * index + (row < column));
        }
    return BRIO_OK;
}

/* Where the blocks of all groups are in the overlay. New ones are made in the order of groups. */
static BrioStatus find_slots(BrioPlan *plan, BrioOverlay *overlay)
{
    int64_t slots = 0;
    if (plan->keys == brio__overlay_keys(overlay)) return BRIO_OK;
    plan->keys = 0;
    for (int64_t g = 0; g < plan->groups; g++) {
        plan->group[g].slot = slots;
        slots += brio__pairs(plan->group[g].blocks);
    }
    MAKE_ROOM(plan->slot, plan->slot_room, slots);
    brio__parallel_for(plan->groups, 128, look_up_slots, &(SlotWork){plan, overlay});
    for (int64_t g = 0; g < plan->groups; g++)
        if (!plan->group[g].complete) BRIO_CHECK(make_slots(plan, &plan->group[g], overlay));
    plan->keys = brio__overlay_keys(overlay);
    return BRIO_OK;
}

/* ---- sums of groups --------------------------------------------------------------------- */

typedef struct SumWork {
    const BrioPairs *pairs;
    const BrioSystem *system;
    const BrioPlan *plan;
    const Kernels *kernels;
    BrioBatch batch;
    double weight;
    BrioOverlay *overlay;
    int64_t first_shard, end_shard; /* of the current batch */
    int parts;                      /* of the overlay's blocks */
} SumWork;

/* A pair of an affine body and something else. */
static void add_wide(const SumWork *work, const Group *group, int64_t e, const double *H,
                     double *sum)
{
    const BrioSystem *s = work->system;
    Map map = {.at = {0}};
    memset(map.weight, 0, sizeof map.weight);
    for (int k = 0; k < NODES; k++) {
        int32_t v = brio__pairs_vertex(work->pairs, e, k), first = s->map_start[v];
        map.count[k] = s->map_start[v + 1] - first;
        if (map.count[k] == 0) continue; /* a fixed vertex */
        map.at[k] = node_at(s, group, k, v);
        double *to = map.weight[k] + map.at[k];
        if (map.count[k] == 4)
            memcpy(to, s->map_weight + first, 4 * sizeof *to);
        else
            memcpy(to, s->map_weight + first, (size_t)map.count[k] * sizeof *to);
    }
    work->kernels->full(&map, H, work->weight, sum);
}

/* A pair of vertices with blocks of their own, or of cages: each once, though nodes may be the
 * same. */
static void add_plain(const SumWork *work, const Group *group, int64_t e, const double *H,
                      double *sum)
{
    (void)group;
    Reach to;
    int32_t vertex[4];
    brio__pairs_vertices(work->pairs, e, vertex);
    reach(work->system, vertex, &to);
    for (int p = 0; p < to.entries; p++)
        for (int q = 0; q <= p; q++) {
            int a = to.entry[p].block, b = to.entry[q].block;
            const double *h = H + brio__pair(to.entry[p].node, to.entry[q].node) * 9 * LANES;
            double *block = sum + 9 * brio__pair(BRIO_MAX(a, b), BRIO_MIN(a, b));
            double weight = work->weight * (to.entry[p].weight * to.entry[q].weight);
            for (int k = 0; k < 9; k++) {
                double turned = weight * h[(k % 3 * 3 + k / 3) * LANES];
                if (a >= b) block[k] += weight * h[k * LANES];
                if (a < b || (a == b && p != q)) block[k] += turned;
            }
        }
}

/* Results of the kernel for some packs from `first` on. */
typedef struct Packs {
    int64_t first;
    _Alignas(BRIO_ALIGN) double hessian[PACKS * HESSIAN * LANES];
    _Alignas(BRIO_ALIGN) double core[PACKS * 6 * LANES];
} Packs;

/* Adds the pairs [begin, end) of a group. */
static void add_pairs(const SumWork *work, const Group *group, int64_t begin, int64_t end,
                      const Packs *packs)
{
    double *sum = work->plan->sum + group->sum;
    Product product[PACKS * LANES];
    for (int64_t e = begin; e < end; e++) {
        int64_t pack = e / LANES - packs->first;
        const double *H = packs->hessian + pack * HESSIAN * LANES + e % LANES;
        if (!group->affine) {
            (group->wide ? add_wide : add_plain)(work, group, e, H, sum);
            continue;
        }
        if (group->entries == 6) {
            product[e - begin] = (Product){work->plan->reduced + LANES * e,
                                           packs->core + pack * 6 * LANES + e % LANES};
            continue;
        }
        Legs legs = legs_of(work->pairs, work->system, group, e);
        work->kernels->two(&legs, H, work->weight, sum);
    }
    if (group->entries == 6)
        work->kernels->products((int)(end - begin), product, work->weight, group->blocks, sum);
}

static void sum_shard(const SumWork *work, const Shard *shard)
{
    const Group *group = work->plan->group + shard[0].group;
    const Group *past = work->plan->group + shard[1].group;
    Packs packs;
    for (const Group *g = group; g < past; g++)
        memset(work->plan->sum + g->sum, 0, (size_t)group_sums(g) * sizeof *work->plan->sum);
    int64_t end = (past->first + LANES - 1) / LANES, e = group->first;
    for (packs.first = e / LANES; packs.first < end; packs.first += PACKS) {
        BrioBatch batch = work->batch;
        batch.begin = packs.first;
        batch.end = BRIO_MIN(end, packs.first + PACKS);
        batch.hessian = shard->full ? packs.hessian : NULL;
        batch.core = shard->core ? packs.core : NULL;
        work->pairs->term.energy->eval(&batch);
        for (int64_t last = BRIO_MIN(past->first, batch.end * LANES); e < last;) {
            while (e >= group[1].first) group++;
            int64_t next = BRIO_MIN(last, group[1].first);
            add_pairs(work, group, e, next, &packs);
            e = next;
        }
    }
}

static void sum_shards(void *context, int64_t begin, int64_t end)
{
    const SumWork *work = context;
    for (int64_t k = begin; k < end; k++)
        sum_shard(work, &work->plan->shard[work->first_shard + k]);
}

/* ---- into the overlay ------------------------------------------------------------------- */

/* Adds the blocks of a batch's groups whose place in the overlay is in one of its parts. */
static void add_part(void *context, int64_t begin, int64_t end)
{
    const SumWork *work = context;
    const BrioPlan *plan = work->plan;
    static const int places[2][9] = {{0, 1, 2, 3, 4, 5, 6, 7, 8}, {0, 1, 2, 1, 3, 4, 2, 4, 5}};
    double *values = brio__overlay_values(work->overlay);
    int64_t past = plan->shard[work->end_shard].group;
    for (int64_t part = begin; part < end; part++)
        for (int64_t g = plan->shard[work->first_shard].group; g < past; g++) {
            const Group *group = &plan->group[g];
            const int32_t *slot = plan->slot + group->slot;
            const int *place = places[group->entries == 6];
            for (int a = 0; a < group->blocks; a++)
                for (int b = 0; b <= a; b++, slot++) {
                    if (work->parts > 1 && (*slot >> 4) % work->parts != part) continue;
                    double *to = values + 9 * (int64_t)(*slot / 2);
                    const double *from = plan->sum + group->sum;
                    int stride = group->wide ? LANES : 1;
                    from += group->wide ? group->entries * LANES * a + b : 9 * brio__pair(a, b);
                    for (int i = 0; i < 9; i++)
                        to[i] += from[place[*slot % 2 ? i % 3 * 3 + i / 3 : i] * stride];
                }
        }
}

BrioStatus brio__pairs_assemble(BrioPairs *pairs, const BrioSystem *s, const double *param,
                                const double *x, double weight, bool project, BrioOverlay *overlay)
{
    const BrioTerm *term = &pairs->term;
    if (term->elements == 0) return BRIO_OK;
    BRIO_CHECK(make_groups(pairs, s));
    BRIO_CHECK(find_slots(pairs->plan, overlay));
    const BrioPlan *plan = pairs->plan;
    SumWork work = {.pairs = pairs,
                    .system = s,
                    .plan = plan,
                    .kernels = kernels(),
                    .batch = {.node = term->node,
                              .rest = term->rest,
                              .params = param,
                              .x = x,
                              .last = pairs->last,
                              .project = project},
                    .weight = weight,
                    .overlay = overlay};
    for (int64_t k = 0; k < plan->shards; k = work.end_shard) {
        work.first_shard = k;
        for (work.end_shard = k + 1; !plan->shard[work.end_shard].batch;) work.end_shard++;
        brio__parallel_for(work.end_shard - k, 1, sum_shards, &work);
        work.parts = work.end_shard - k < 4 ? 1 : BRIO_MIN(brio_threads(), MAX_THREADS);
        brio__parallel_for(work.parts, 1, add_part, &work);
    }
    brio__overlay_touch(overlay);
    return BRIO_OK;
}

/* ---- gradients -------------------------------------------------------------------------- */

typedef struct PullWork {
    const BrioPairs *pairs;
    const BrioSystem *system;
    const Kernels *kernels;
    double *gradient;
    int parts; /* of the coordinate blocks */
} PullWork;

/* Sums of the wide groups. */
static void pull_groups(void *context, int64_t begin, int64_t end)
{
    const PullWork *work = context;
    const BrioSystem *s = work->system;
    const BrioPairs *pairs = work->pairs;
    for (const Group *group = pairs->plan->group + begin; group < pairs->plan->group + end;
         group++) {
        if (!group->wide) continue;
        double *sum = pairs->plan->pull + 3 * LANES * (group - pairs->plan->group);
        if (group->affine) {
            if (group->entries == 6)
                work->kernels->pull_products(pairs->plan, group, sum);
            else
                work->kernels->pull(pairs, s, group, sum);
            continue;
        }
        memset(sum, 0, 3 * LANES * sizeof *sum);
        for (int64_t e = group->first; e < group[1].first; e++)
            for (int k = 0; k < NODES; k++) {
                const double *g = pairs->gradient + (e / LANES * NODES + k) * 3 * LANES + e % LANES;
                int32_t v = brio__pairs_vertex(pairs, e, k), first = s->map_start[v];
                const double *weight = s->map_weight + first;
                int count = s->map_start[v + 1] - first;
                double *to = sum + (count ? node_at(s, group, k, v) : 0);
                if (count == 4) {
                    Four four = *(const Four *)weight;
                    for (int r = 0; r < 3; r++) *(Four *)(to + r * LANES) += g[r * LANES] * four;
                } else if (count == 1) {
                    for (int r = 0; r < 3; r++) to[r * LANES] += weight[0] * g[r * LANES];
                }
            }
    }
}

/* Adds the sums of groups, and the pairs that are none, to one part of the gradient. */
static void add_pulls(void *context, int64_t begin, int64_t end)
{
    const PullWork *work = context;
    const BrioSystem *s = work->system;
    const BrioPairs *pairs = work->pairs;
    int64_t low = s->block_count * begin / work->parts, high = s->block_count * end / work->parts;
    for (int64_t i = 0; i < pairs->plan->groups; i++) {
        const Group *group = &pairs->plan->group[i];
        const double *sum = pairs->plan->pull + 3 * LANES * i;
        for (int b = 0; group->wide && b < group->blocks; b++) {
            double *to = work->gradient + 3 * (int64_t)group->block[b];
            if (group->block[b] < low || group->block[b] >= high) continue;
            for (int r = 0; r < 3; r++) to[r] += sum[r * LANES + b];
        }
        for (int k = 0; !group->wide && k < NODES; k++) {
            int64_t e = group->first;
            int32_t v = brio__pairs_vertex(pairs, e, k);
            const double *g = pairs->gradient + (e / LANES * NODES + k) * 3 * LANES + e % LANES;
            for (int32_t m = s->map_start[v]; m < s->map_start[v + 1]; m++) {
                if (s->map_block[m] < low || s->map_block[m] >= high) continue;
                double *to = work->gradient + 3 * (int64_t)s->map_block[m];
                for (int r = 0; r < 3; r++) to[r] += s->map_weight[m] * g[r * LANES];
            }
        }
    }
}

static void reduce_groups(void *context, int64_t begin, int64_t end)
{
    const PullWork *work = context;
    const Group *group = work->pairs->plan->group;
    for (int64_t g = begin; g < end; g++)
        if (group[g].entries == 6) work->kernels->reduce(work->pairs, work->system, &group[g]);
}

BrioStatus brio__pairs_prepare(BrioPairs *pairs, const BrioSystem *s)
{
    if (pairs->term.elements == 0) return BRIO_OK;
    BRIO_CHECK(make_groups(pairs, s));
    BrioPlan *plan = pairs->plan;
    MAKE_ROOM(plan->pull, plan->pull_room, 3 * LANES * plan->groups);
    if (!plan->core) return BRIO_OK;
    MAKE_ROOM(plan->reduced, plan->reduced_room, LANES * pairs->term.elements);
    MAKE_ROOM(plan->force, plan->force_room, 3 * LANES * pairs->term.packs);
    PullWork work = {.pairs = pairs, .system = s, .kernels = kernels()};
    brio__parallel_for(plan->groups, 128, reduce_groups, &work);
    return BRIO_OK;
}

void brio__pairs_ask(const BrioPairs *pairs, BrioBatch *batch)
{
    const BrioPlan *plan = pairs->plan;
    if (!plan || plan->full) batch->gradient = pairs->gradient;
    if (plan && plan->core) batch->pull = plan->force;
}

void brio__pairs_pull(BrioPairs *pairs, const BrioSystem *s, double *gradient)
{
    PullWork work = {pairs, s, kernels(), gradient, 1};
    if (pairs->term.elements == 0) return;
    int64_t groups = pairs->plan->groups;
    brio__parallel_for(groups, 256, pull_groups, &work);
    if (groups >= 1024) work.parts = BRIO_MIN(brio_threads(), MAX_THREADS);
    brio__parallel_for(work.parts, 1, add_pulls, &work);
}
