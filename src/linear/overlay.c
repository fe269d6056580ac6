/* A hash table of overlay blocks, and the joined matrix that is factored: its pattern is built
 * again only when a block has no place. */
#include "overlay.h"
#include "order.h"

#include <stdlib.h>
#include <string.h>

/* Where a block of the joined matrix lies. */
typedef struct Place {
    int64_t slot;
    int32_t stride;
    bool transposed;
} Place;

struct BrioOverlay {
    int64_t count, room; /* keys */
    uint64_t *key;       /* (larger block << 32) | smaller */
    double *value;       /* 9 each, row by row: row of the larger, column of the smaller */
    Place *place;
    /* the first so many keys have places; they stay valid while keys are only added */
    int64_t placed;
    /* so many keys had places in the joined matrix before they were forgotten, and still stand in
     * `key`; while the same come again in the same order, they `follow` */
    int64_t known;
    bool follow;
    uint64_t table_size; /* a power of two */
    int32_t *table;      /* open addressing: 1 + index of a key, 0 for none */
    bool any;
    uint64_t keys; /* distinguishes these keys from forgotten ones */
    /* the joined matrix */
    BrioLinear *joined;
    int64_t joined_count, joined_room;
    uint64_t *joined_key; /* of its blocks that A does not have, sorted */
    Place *base;          /* of the blocks of A */
    uint64_t *sorted;     /* scratch */
    int64_t analyses;
    double seconds;
};

enum { CLEARED = 4096 }; /* blocks that are set to zero at a time */

/* Another number each time. */
static uint64_t another(void)
{
    static uint64_t last;
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

BrioStatus brio__overlay_create(BrioOverlay **overlay)
{
    BrioOverlay *e = brio__calloc(1, sizeof *e);
    if (!e) return BRIO_ERROR_MEMORY;
    e->keys = another();
    e->table_size = 1024;
    e->table = brio__calloc(e->table_size, sizeof *e->table);
    if (!e->table) {
        brio__free(e);
        return BRIO_ERROR_MEMORY;
    }
    *overlay = e;
    return BRIO_OK;
}

void brio__overlay_free(BrioOverlay *e)
{
    if (!e) return;
    brio__linear_free(e->joined);
    brio__free(e->key);
    brio__free(e->value);
    brio__free(e->place);
    brio__free(e->table);
    brio__free(e->joined_key);
    brio__free(e->base);
    brio__free(e->sorted);
    brio__free(e);
}

void brio__overlay_forget(BrioOverlay *e)
{
    if (e->count) memset(e->table, 0, e->table_size * sizeof *e->table);
    if (e->count) e->known = e->placed;
    e->follow = e->known > 0;
    e->count = e->placed = 0;
    e->any = false;
    e->keys = another();
}

static void clear_values(void *context, int64_t begin, int64_t end)
{
    double *value = context;
    memset(value + 9 * begin, 0, 9 * (size_t)(end - begin) * sizeof *value);
}

void brio__overlay_clear(BrioOverlay *e)
{
    if (e->any) brio__parallel_for(e->count, CLEARED, clear_values, e->value);
    e->any = false;
}

/* ---- the table -------------------------------------------------------------------------- */

static uint64_t hash(uint64_t key)
{
    key *= 0x9e3779b97f4a7c15u;
    return key ^ key >> 32;
}

static void enter(BrioOverlay *e, int64_t index)
{
    uint64_t at = hash(e->key[index]) & (e->table_size - 1);
    while (e->table[at]) at = (at + 1) & (e->table_size - 1);
    e->table[at] = (int32_t)(index + 1);
}

static BrioStatus grow_table(BrioOverlay *e)
{
    int32_t *table = brio__calloc(2 * e->table_size, sizeof *table);
    if (!table) return BRIO_ERROR_MEMORY;
    brio__free(e->table);
    e->table = table;
    e->table_size *= 2;
    for (int64_t i = 0; i < e->count; i++) enter(e, i);
    return BRIO_OK;
}

static BrioStatus grow_keys(BrioOverlay *e)
{
    size_t room = e->room ? 2 * (size_t)e->room : 512;
    uint64_t *key = brio__realloc(e->key, (size_t)e->count, room, sizeof *key);
    if (key) e->key = key;
    double *value = brio__realloc(e->value, 9 * (size_t)e->count, 9 * room, sizeof *value);
    if (value) e->value = value;
    Place *place = brio__realloc(e->place, (size_t)e->count, room, sizeof *place);
    if (place) e->place = place;
    if (!key || !value || !place) return BRIO_ERROR_MEMORY;
    e->room = (int64_t)room;
    return BRIO_OK;
}

static uint64_t key_of(int32_t a, int32_t b)
{
    return (uint64_t)BRIO_MAX(a, b) << 32 | (uint32_t)BRIO_MIN(a, b);
}

/* The index of a key; -1: it is new. */
static int64_t look_up(const BrioOverlay *e, uint64_t key)
{
    uint64_t at = hash(key) & (e->table_size - 1);
    for (; e->table[at]; at = (at + 1) & (e->table_size - 1))
        if (e->key[e->table[at] - 1] == key) return e->table[at] - 1;
    return -1;
}

/* The index of the key of two blocks, made if it is new; -1 without memory. */
static int64_t find(BrioOverlay *e, int32_t a, int32_t b)
{
    uint64_t key = key_of(a, b);
    int64_t index = look_up(e, key);
    if (index >= 0) return index;
    if (e->count == e->room && grow_keys(e) != BRIO_OK) return -1;
    if (2 * (uint64_t)(e->count + 1) > e->table_size && grow_table(e) != BRIO_OK) return -1;
    e->follow &= e->count < e->known && e->key[e->count] == key;
    e->key[e->count] = key;
    memset(e->value + 9 * e->count, 0, 9 * sizeof *e->value);
    enter(e, e->count);
    return e->count++;
}

BrioStatus brio__overlay_reserve(BrioOverlay *e, int32_t a, int32_t b)
{
    return find(e, a, b) < 0 ? BRIO_ERROR_MEMORY : BRIO_OK;
}

BrioStatus brio__overlay_add(BrioOverlay *e, int32_t a, int32_t b, const double H[9])
{
    int64_t index = find(e, a, b);
    if (index < 0) return BRIO_ERROR_MEMORY;
    double *value = e->value + 9 * index;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) value[3 * r + c] += a >= b ? H[3 * r + c] : H[3 * c + r];
    e->any = true;
    return BRIO_OK;
}

int64_t brio__overlay_index(BrioOverlay *e, int32_t a, int32_t b) { return find(e, a, b); }

int64_t brio__overlay_find(const BrioOverlay *e, int32_t a, int32_t b, int64_t guess)
{
    uint64_t key = key_of(a, b);
    return guess < e->count && e->key[guess] == key ? guess : look_up(e, key);
}

double *brio__overlay_values(BrioOverlay *e) { return e->value; }
uint64_t brio__overlay_keys(const BrioOverlay *e) { return e->keys; }
void brio__overlay_touch(BrioOverlay *e) { e->any = true; }

bool brio__overlay_any(const BrioOverlay *e) { return e->any; }

void brio__overlay_multiply_add(const BrioOverlay *e, const int32_t *position, const double *x,
                                double *y)
{
    for (int64_t i = 0; e->any && i < e->count; i++) {
        int32_t a, b;
        const double *H = brio__overlay_at(e, i, &a, &b);
        const double *from[2] = {x + 3 * (int64_t)position[a], x + 3 * (int64_t)position[b]};
        double *to[2] = {y + 3 * (int64_t)position[a], y + 3 * (int64_t)position[b]};
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) {
                to[0][r] += H[3 * r + c] * from[1][c];
                if (a != b) to[1][c] += H[3 * r + c] * from[0][r];
            }
    }
}

int64_t brio__overlay_analyses(const BrioOverlay *e, double *seconds)
{
    *seconds = e->seconds;
    return e->analyses;
}

bool brio__overlay_fits(const BrioOverlay *e) { return e->placed == e->count; }

int64_t brio__overlay_count(const BrioOverlay *e) { return e->count; }

const double *brio__overlay_at(const BrioOverlay *e, int64_t i, int32_t *a, int32_t *b)
{
    *a = (int32_t)(e->key[i] >> 32);
    *b = (int32_t)(uint32_t)e->key[i];
    return e->value + 9 * i;
}

void brio__overlay_settle(BrioOverlay *e, double seconds)
{
    e->placed = e->count;
    e->analyses++;
    e->seconds += seconds;
}

/* ---- the joined matrix ------------------------------------------------------------------ */

/* The place of block (a, b) in the joined matrix: entry (r, c) of what is added is that of row
 * block a, column block b. */
static Place place_of(const BrioMatrix *A, int32_t a, int32_t b)
{
    bool transposed;
    int64_t block = brio__matrix_find(A, a, b, &transposed);
    int32_t column = BRIO_MIN(A->position[a], A->position[b]);
    return (Place){brio__matrix_slot(A, column, block), (int32_t)brio__matrix_stride(A, column),
                   transposed};
}

/* Full adjacency of A and of the sorted keys, which are not in it. */
static BrioStatus join_graphs(const BrioOverlay *e, int64_t new_keys, const BrioMatrix *A,
                              const int32_t *order, int64_t **start_out, int32_t **neighbour_out)
{
    int32_t n = A->n;
    int64_t *start = brio__calloc((size_t)n + 2, sizeof *start);
    int32_t *neighbour = NULL;
    if (!start) return BRIO_ERROR_MEMORY;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t J = 0; J < n; J++)
            for (int64_t k = A->start[J] + 1; k < A->start[J + 1]; k++) {
                int32_t a = order[J], b = order[A->row[k]];
                if (pass) neighbour[start[a + 1]] = b, neighbour[start[b + 1]] = a;
                start[a + (pass ? 1 : 2)]++;
                start[b + (pass ? 1 : 2)]++;
            }
        for (int64_t i = 0; i < new_keys; i++) {
            int32_t a = (int32_t)(e->sorted[i] >> 32), b = (int32_t)(uint32_t)e->sorted[i];
            if (pass) neighbour[start[a + 1]] = b, neighbour[start[b + 1]] = a;
            start[a + (pass ? 1 : 2)]++;
            start[b + (pass ? 1 : 2)]++;
        }
        if (pass) break;
        /* start[i+1] runs from the first to past the last of i */
        for (int32_t i = 0; i < n; i++) start[i + 2] += start[i + 1];
        neighbour = brio__alloc((size_t)start[n + 1], sizeof *neighbour);
        if (!neighbour) {
            brio__free(start);
            return BRIO_ERROR_MEMORY;
        }
    }
    *start_out = start;
    *neighbour_out = neighbour;
    return BRIO_OK;
}

/* Orders the joined graph. A new order takes longer than a factorisation, so first the one of A is
 * tried, and the one that leaves the blocks with new neighbours for last, whose fill grows with
 * their number only. If both need REORDER times the operations of A alone, the solver finds an
 * order of its own. */
static BrioStatus order_joined(const BrioOverlay *e, int64_t new_keys, const BrioLinear *linear,
                               const int64_t *start, const int32_t *neighbour, int32_t *order,
                               bool *found)
{
    enum { REORDER = 2 };
    const BrioMatrix *A = &linear->A;
    BrioLinearStats base;
    brio__linear_stats(linear, &base);
    *found = base.factor_flops > 0; /* not for iterative solvers, whose order is cheap */
    if (!*found) return BRIO_OK;
    size_t n = (size_t)A->n;
    int32_t *last = brio__alloc(n, sizeof *last);
    bool *touched = brio__calloc(n, sizeof *touched);
    double kept, moved;
    BrioStatus status = last && touched ? BRIO_OK : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK) {
        for (int64_t i = 0; i < new_keys; i++)
            touched[e->sorted[i] >> 32] = touched[(uint32_t)e->sorted[i]] = true;
        size_t at = 0;
        for (int late = 0; late < 2; late++)
            for (size_t i = 0; i < n; i++)
                if (touched[order[i]] == late) last[at++] = order[i];
        status = brio__order_postorder(A->n, start, neighbour, order, &kept);
    }
    if (status == BRIO_OK) status = brio__order_postorder(A->n, start, neighbour, last, &moved);
    if (status == BRIO_OK) {
        if (moved < kept) memcpy(order, last, n * sizeof *order);
        *found = BRIO_MIN(kept, moved) <= REORDER * base.factor_flops;
    }
    brio__free(last);
    brio__free(touched);
    return status;
}

static BrioStatus analyse(BrioOverlay *e, int64_t new_keys, const BrioLinear *linear)
{
    const BrioMatrix *A = &linear->A;
    size_t n = (size_t)A->n;
    int64_t *start = NULL;
    int32_t *neighbour = NULL;
    int32_t *order = brio__alloc(2 * n, sizeof *order);
    int32_t *joined_order = order + n;
    BrioLinear *joined = NULL;
    BrioLinearOptions options = linear->options;
    options.added = e->sorted;
    options.added_count = new_keys;
    bool found = false;
    BrioStatus status = order ? BRIO_OK : BRIO_ERROR_MEMORY;
    for (int32_t b = 0; status == BRIO_OK && b < A->n; b++) order[A->position[b]] = b;
    if (status == BRIO_OK) memcpy(joined_order, order, n * sizeof *order);
    if (status == BRIO_OK) status = join_graphs(e, new_keys, A, order, &start, &neighbour);
    if (status == BRIO_OK)
        status = order_joined(e, new_keys, linear, start, neighbour, joined_order, &found);
    if (status == BRIO_OK)
        status = brio__linear_create_ordered(linear->type, &options, A->n, start, neighbour,
                                             found ? joined_order : NULL, &joined);
    if (status == BRIO_OK && !e->base) {
        e->base = brio__alloc((size_t)A->start[A->n], sizeof *e->base);
        if (!e->base) status = BRIO_ERROR_MEMORY;
    }
    if (status == BRIO_OK) {
        for (int32_t J = 0; J < A->n; J++)
            for (int64_t k = A->start[J]; k < A->start[J + 1]; k++)
                e->base[k] = place_of(&joined->A, order[A->row[k]], order[J]);
        brio__linear_free(e->joined);
        e->joined = joined;
        e->follow = false; /* the places of keys that are still to come were in the one before */
        uint64_t *swap = e->joined_key; /* the sorted keys become those of the joined matrix */
        e->joined_key = e->sorted;
        e->sorted = swap;
        e->joined_count = new_keys;
    } else {
        brio__linear_free(joined);
    }
    brio__free(start);
    brio__free(neighbour);
    brio__free(order);
    return status;
}

/* Finds a place for every key, in a new joined matrix if the current one has another pattern.
 * Keys of blocks that A has do not change it: contacts with a plane never do. */
static BrioStatus find_places(BrioOverlay *e, const BrioLinear *linear)
{
    if (e->joined && e->follow && e->count == e->known) {
        e->placed = e->count;
        return BRIO_OK;
    }
    if (e->joined_room < e->room) {
        brio__free(e->sorted);
        e->sorted = brio__alloc((size_t)e->room, sizeof *e->sorted);
        uint64_t *keys =
            brio__realloc(e->joined_key, (size_t)e->joined_count, (size_t)e->room, sizeof *keys);
        if (keys) e->joined_key = keys;
        if (!e->sorted || !keys) return BRIO_ERROR_MEMORY;
        e->joined_room = e->room;
    }
    int64_t new_keys = 0;
    for (int64_t i = 0; i < e->count; i++) {
        bool transposed;
        if (brio__matrix_find(&linear->A, (int32_t)(e->key[i] >> 32), (int32_t)(uint32_t)e->key[i],
                              &transposed) < 0)
            e->sorted[new_keys++] = e->key[i];
    }
    qsort(e->sorted, (size_t)new_keys, sizeof *e->sorted, brio__ascending_keys);
    bool same = e->joined && new_keys == e->joined_count &&
                memcmp(e->sorted, e->joined_key, (size_t)new_keys * sizeof *e->sorted) == 0;
    if (!same) {
        double before = brio__seconds();
        BRIO_CHECK(analyse(e, new_keys, linear));
        e->analyses++;
        e->seconds += brio__seconds() - before;
    }
    for (int64_t i = 0; i < e->count; i++)
        e->place[i] =
            place_of(&e->joined->A, (int32_t)(e->key[i] >> 32), (int32_t)(uint32_t)e->key[i]);
    e->placed = e->count;
    return BRIO_OK;
}

typedef struct Copy {
    const BrioOverlay *overlay;
    const BrioMatrix *A;
    double *value;
} Copy;

static void copy_columns(void *context, int64_t begin, int64_t end)
{
    const Copy *copy = context;
    const BrioMatrix *A = copy->A;
    for (int64_t J = begin; J < end; J++) {
        int64_t stride = brio__matrix_stride(A, (int32_t)J);
        for (int64_t k = A->start[J]; k < A->start[J + 1]; k++) {
            const double *from = A->value + brio__matrix_slot(A, (int32_t)J, k);
            const Place *to = &copy->overlay->base[k];
            for (int c = 0; c < 3; c++)
                for (int r = 0; r < 3; r++)
                    copy->value[to->slot +
                                (to->transposed ? r * to->stride + c : c * to->stride + r)] =
                        from[c * stride + r];
        }
    }
}

/* No two keys have one place. */
static void add_blocks(void *context, int64_t begin, int64_t end)
{
    const Copy *copy = context;
    for (int64_t i = begin; i < end; i++) {
        const Place *to = &copy->overlay->place[i];
        const double *from = copy->overlay->value + 9 * i;
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                copy->value[to->slot + (to->transposed ? r * to->stride + c
                                                       : c * to->stride + r)] += from[3 * r + c];
    }
}

BrioStatus brio__overlay_join(BrioOverlay *e, const BrioLinear *linear, BrioLinear **joined)
{
    if (!brio__overlay_fits(e)) BRIO_CHECK(find_places(e, linear));
    BrioMatrix *J = &e->joined->A;
    Copy copy = {e, &linear->A, J->value};
    brio__parallel_for(J->start[J->n], CLEARED, clear_values, J->value);
    brio__parallel_for(J->n, 1024, copy_columns, &copy);
    brio__parallel_for(e->count, 4096, add_blocks, &copy);
    *joined = e->joined;
    return BRIO_OK;
}
