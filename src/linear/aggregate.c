/* The graph part of the multilevel preconditioner (multilevel.h): which blocks form an aggregate,
 * and the patterns of the interpolation P, of A P and of the coarse matrix P^T A P, with the place
 * of every product in its sum [Vanek1996].
 *
 * A block and those within one or two edges of it become an aggregate if none of them belongs to
 * one; what is left joins the aggregate that it has most edges to. Only the graph of the bodies
 * counts: contacts come and go, and bodies that touch may slide. All of it depends on the pattern
 * alone, so that a run that is taken up again does the same. */
#include "multilevel.h"

#include <stdlib.h>
#include <string.h>

enum {
    DIRECT = 150,  /* blocks that are few enough for a direct solver */
    SAMPLES = 1000 /* blocks whose neighbours are counted, at most */
};
/* Blocks within two edges over those within one, on average: at most 3.31 in sheets, bending
 * included; 3.4 in solid bodies of five blocks across, 4.1 to 5.2 in larger ones. */
#define SOLID 3.35

/* Neighbours that aggregates may be made of. */
typedef struct Graph {
    int64_t *start;
    int32_t *neighbour;
} Graph;

static void graph_free(Graph *g)
{
    brio__free(g->start);
    brio__free(g->neighbour);
    *g = (Graph){0};
}

/* ---- memory ----------------------------------------------------------------------------- */

static void level_free(BrioLevel *l)
{
    void *arrays[] = {l->start,     l->column,
                      l->diagonal,  l->value,
                      l->exact,     l->inverse,
                      l->centre,    l->motion,
                      l->aggregate, l->member_start,
                      l->member,    l->tentative,
                      l->p_start,   l->p_column,
                      l->p,         l->p_place,
                      l->ap_start,  l->ap_place_start,
                      l->ap_place,  l->column_start,
                      l->entry,     l->coarse_place_start,
                      l->entry_row, l->coarse_place,
                      l->b};
    for (size_t i = 0; i < BRIO_COUNT(arrays); i++) brio__free(arrays[i]);
    brio__subset_free(&l->joined);
}

void brio__hierarchy_free(BrioHierarchy *h)
{
    for (int i = 0; i < BRIO_MAX_LEVELS; i++) level_free(&h->level[i]);
    brio__free(h->ap);
    brio__free(h->rest);
    brio__free(h->before);
}

/* An array that the hierarchy counts among its bytes. */
static void *get(BrioHierarchy *h, int64_t count, size_t size)
{
    h->bytes += (double)count * (double)size;
    return brio__alloc((size_t)count, size);
}

/* ---- the finest level ------------------------------------------------------------------- */

/* Left of the diagonal, the diagonal, below it. */
static BrioStatus make_finest(BrioHierarchy *h, const BrioMatrix *A)
{
    BrioLevel *l = &h->level[0];
    l->n = A->n;
    l->size = 3;
    l->start = get(h, (int64_t)l->n + 1, sizeof *l->start);
    l->diagonal = get(h, l->n, sizeof *l->diagonal);
    l->column = get(h, 2 * A->start[A->n] - A->n, sizeof *l->column);
    if (!l->start || !l->diagonal || !l->column) return BRIO_ERROR_MEMORY;
    int64_t at = 0;
    for (int32_t i = 0; i < l->n; i++) {
        l->start[i] = at;
        for (int64_t k = A->left_start[i]; k < A->left_start[i + 1]; k++)
            l->column[at++] = A->left[k].column;
        l->diagonal[i] = at;
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) l->column[at++] = A->row[k];
    }
    l->start[l->n] = at;
    return BRIO_OK;
}

static bool is_added(const uint64_t *added, int64_t count, int32_t a, int32_t b)
{
    uint64_t key = (uint64_t)BRIO_MAX(a, b) << 32 | (uint64_t)BRIO_MIN(a, b);
    return bsearch(&key, added, (size_t)count, sizeof key, brio__ascending_keys) != NULL;
}

/* The pattern without its diagonal and without added blocks; touched: what has such a block. */
static BrioStatus make_graph(const BrioLevel *l, const BrioMatrix *A, const uint64_t *added,
                             int64_t added_count, bool *touched, Graph *g)
{
    g->start = brio__alloc((size_t)l->n + 1, sizeof *g->start);
    g->neighbour = brio__alloc((size_t)l->start[l->n], sizeof *g->neighbour);
    int32_t *block = brio__alloc((size_t)l->n, sizeof *block);
    bool fine = g->start && g->neighbour && block;
    for (int32_t i = 0; fine && i < l->n; i++) block[A->position[i]] = i;
    for (int64_t k = 0; fine && k < added_count; k++)
        touched[A->position[added[k] >> 32]] = touched[A->position[(uint32_t)added[k]]] = true;
    int64_t at = 0;
    for (int32_t i = 0; fine && i < l->n; i++) {
        g->start[i] = at;
        for (int64_t k = l->start[i]; k < l->start[i + 1]; k++) {
            int32_t j = l->column[k];
            if (j == i ||
                (touched[i] && touched[j] && is_added(added, added_count, block[i], block[j])))
                continue;
            g->neighbour[at++] = j;
        }
    }
    if (fine) g->start[l->n] = at;
    brio__free(block);
    return fine ? BRIO_OK : BRIO_ERROR_MEMORY;
}

/* ---- aggregates ------------------------------------------------------------------------- */

/* The aggregate, of those that there were at first, that block i has most edges to; -1: none.
 * count: zeros, and left so. */
static int32_t nearest(const Graph *g, int32_t i, const int32_t *aggregate, int32_t *count)
{
    int32_t best = -1;
    for (int64_t k = g->start[i]; k < g->start[i + 1]; k++) {
        int32_t a = aggregate[g->neighbour[k]];
        if (a < 0) continue;
        count[a]++;
        if (best < 0 || count[a] > count[best]) best = a;
    }
    for (int64_t k = g->start[i]; k < g->start[i + 1]; k++)
        if (aggregate[g->neighbour[k]] >= 0) count[aggregate[g->neighbour[k]]] = 0;
    return best;
}

/* The blocks within `radius` edges of i, i first, as long as all are free; 0 if one is not. mark:
 * -1 everywhere, and left so. */
static int32_t find_ball(const Graph *g, int32_t i, int radius, const int32_t *aggregate,
                         int32_t *mark, int32_t *ball)
{
    int32_t count = 1, begin = 0;
    bool free = aggregate[i] < 0;
    ball[0] = i;
    mark[i] = 0;
    for (int layer = 0; free && layer < radius; layer++) {
        int32_t end = count;
        for (; begin < end && free; begin++)
            for (int64_t k = g->start[ball[begin]]; free && k < g->start[ball[begin] + 1]; k++) {
                int32_t j = g->neighbour[k];
                free = aggregate[j] < 0;
                if (mark[j] >= 0) continue;
                mark[j] = 0;
                ball[count++] = j;
            }
    }
    for (int32_t k = 0; k < count; k++) mark[ball[k]] = -1;
    return free ? count : 0;
}

/* The radius of the finest aggregates. With 1, conjugate gradients need a half to two thirds of the
 * iterations. In a sheet that pays. In a solid body coarse levels take 40 % more memory, and a step
 * a fifth more time. */
static int finest_radius(const Graph *g, const BrioLevel *l, int32_t *mark, int32_t *ball)
{
    double within[2] = {0, 0};
    for (int32_t i = 0; i < l->n; i++) l->aggregate[i] = -1;
    for (int32_t i = 0; i < l->n; i += 1 + l->n / SAMPLES)
        for (int r = 0; r < 2; r++) within[r] += find_ball(g, i, r + 1, l->aggregate, mark, ball);
    return within[1] < SOLID * within[0] ? 1 : 2;
}

static int32_t aggregate_balls(const Graph *g, int32_t n, int radius, int32_t *aggregate,
                               int32_t *mark, int32_t *ball)
{
    int32_t count = 0;
    for (int32_t i = 0; i < n; i++) aggregate[i] = -1;
    for (int32_t i = 0; i < n; i++) {
        int32_t blocks = find_ball(g, i, radius, aggregate, mark, ball);
        for (int32_t k = 0; k < blocks; k++) aggregate[ball[k]] = count;
        count += blocks > 0;
    }
    return count;
}

/* What is in no ball joins the aggregate that it has most edges to, layer by layer. */
static BrioStatus make_aggregates(BrioHierarchy *h, BrioLevel *l, const Graph *g, int32_t *mark)
{
    l->aggregate = get(h, l->n, sizeof *l->aggregate);
    int32_t *joined = brio__alloc((size_t)l->n, sizeof *joined);
    int32_t *count = brio__calloc((size_t)l->n, sizeof *count);
    bool fine = l->aggregate && joined && count;
    if (fine) {
        int radius = l->size == 3 ? finest_radius(g, l, mark, joined) : 1;
        l->coarse = aggregate_balls(g, l->n, radius, l->aggregate, mark, joined);
        for (int layer = 0; layer < radius; layer++) {
            for (int32_t i = 0; i < l->n; i++)
                joined[i] =
                    l->aggregate[i] < 0 ? nearest(g, i, l->aggregate, count) : l->aggregate[i];
            memcpy(l->aggregate, joined, (size_t)l->n * sizeof *joined);
        }
    }
    brio__free(joined);
    brio__free(count);
    return fine ? BRIO_OK : BRIO_ERROR_MEMORY;
}

static BrioStatus make_members(BrioHierarchy *h, BrioLevel *l)
{
    l->member_start = get(h, (int64_t)l->coarse + 2, sizeof *l->member_start);
    l->member = get(h, l->n, sizeof *l->member);
    if (!l->member_start || !l->member) return BRIO_ERROR_MEMORY;
    memset(l->member_start, 0, ((size_t)l->coarse + 2) * sizeof *l->member_start);
    for (int32_t i = 0; i < l->n; i++) l->member_start[l->aggregate[i] + 2]++;
    for (int32_t a = 0; a < l->coarse; a++) l->member_start[a + 2] += l->member_start[a + 1];
    for (int32_t i = 0; i < l->n; i++) l->member[l->member_start[l->aggregate[i] + 1]++] = i;
    return BRIO_OK;
}

/* Aggregates are neighbours if two of their blocks are. mark: -1 everywhere, and left so. */
static BrioStatus coarsen_graph(const BrioLevel *l, const Graph *g, int32_t *mark, Graph *coarse)
{
    coarse->start = brio__alloc((size_t)l->coarse + 1, sizeof *coarse->start);
    if (!coarse->start) return BRIO_ERROR_MEMORY;
    for (int pass = 0; pass < 2; pass++) {
        int64_t at = 0;
        for (int32_t a = 0; a < l->coarse; a++) {
            coarse->start[a] = at;
            mark[a] = a;
            for (int32_t m = l->member_start[a]; m < l->member_start[a + 1]; m++)
                for (int64_t k = g->start[l->member[m]]; k < g->start[l->member[m] + 1]; k++) {
                    int32_t other = l->aggregate[g->neighbour[k]];
                    if (mark[other] == a) continue;
                    mark[other] = a;
                    if (pass) coarse->neighbour[at] = other;
                    at++;
                }
        }
        coarse->start[l->coarse] = at;
        for (int32_t a = 0; a < l->coarse; a++) mark[a] = -1;
        if (pass) break;
        coarse->neighbour = brio__alloc((size_t)at, sizeof *coarse->neighbour);
        if (!coarse->neighbour) return BRIO_ERROR_MEMORY;
    }
    return BRIO_OK;
}

/* ---- patterns --------------------------------------------------------------------------- */

/* Row i of P has the aggregates of i and of its neighbours. */
static BrioStatus make_interpolation(BrioHierarchy *h, BrioLevel *l, int32_t *mark)
{
    l->p_start = get(h, (int64_t)l->n + 1, sizeof *l->p_start);
    l->p_place = get(h, l->start[l->n], sizeof *l->p_place);
    if (!l->p_start || !l->p_place) return BRIO_ERROR_MEMORY;
    for (int pass = 0; pass < 2; pass++) {
        int64_t at = 0;
        for (int32_t i = 0; i < l->n; i++) {
            int64_t first = at;
            l->p_start[i] = at;
            for (int64_t k = l->start[i]; k < l->start[i + 1]; k++) {
                int32_t a = l->aggregate[l->column[k]];
                if (mark[a] < 0) {
                    mark[a] = (int32_t)(at - first);
                    if (pass && at - first < BRIO_MAX_P_ROW) l->p_column[at] = a;
                    at++;
                }
                l->p_place[k] = mark[a];
            }
            for (int64_t k = l->start[i]; k < l->start[i + 1]; k++)
                mark[l->aggregate[l->column[k]]] = -1;
            if (at - first <= BRIO_MAX_P_ROW) continue;
            for (int64_t k = l->start[i]; k < l->start[i + 1]; k++) l->p_place[k] = -1;
            if (pass) l->p_column[first] = l->aggregate[i];
            at = first + 1;
        }
        l->p_start[l->n] = at;
        if (pass) break;
        l->p_column = get(h, at + BRIO_MAX_P_ROW, sizeof *l->p_column);
        if (!l->p_column) return BRIO_ERROR_MEMORY;
    }
    return BRIO_OK;
}

/* Row i of A P: what the rows of P of i and its neighbours have. */
static BrioStatus make_product(BrioHierarchy *h, BrioLevel *l, int32_t *mark, int32_t **columns)
{
    l->ap_start = get(h, (int64_t)l->n + 1, sizeof *l->ap_start);
    l->ap_place_start = get(h, (int64_t)l->n + 1, sizeof *l->ap_place_start);
    if (!l->ap_start || !l->ap_place_start) return BRIO_ERROR_MEMORY;
    for (int pass = 0; pass < 2; pass++) {
        int64_t at = 0, places = 0;
        for (int32_t i = 0; i < l->n; i++) {
            int64_t first = at;
            l->ap_start[i] = at;
            l->ap_place_start[i] = places;
            for (int64_t k = l->start[i]; k < l->start[i + 1]; k++)
                for (int64_t m = l->p_start[l->column[k]]; m < l->p_start[l->column[k] + 1]; m++) {
                    int32_t a = l->p_column[m];
                    if (mark[a] < first) {
                        mark[a] = (int32_t)at;
                        if (pass) (*columns)[at] = a;
                        at++;
                    }
                    if (pass) l->ap_place[places] = (int32_t)(mark[a] - first);
                    places++;
                }
        }
        l->ap_start[l->n] = at;
        l->ap_place_start[l->n] = places;
        for (int32_t a = 0; a < l->coarse; a++) mark[a] = -1;
        if (at > INT32_MAX) return BRIO_ERROR_TOO_LARGE;
        if (pass) break;
        l->ap_place = get(h, places, sizeof *l->ap_place);
        *columns = brio__alloc((size_t)at, sizeof **columns);
        if (!l->ap_place || !*columns) return BRIO_ERROR_MEMORY;
    }
    return BRIO_OK;
}

/* P by columns. */
static BrioStatus make_columns(BrioHierarchy *h, BrioLevel *l)
{
    int64_t blocks = l->p_start[l->n];
    l->column_start = get(h, (int64_t)l->coarse + 2, sizeof *l->column_start);
    l->entry = get(h, blocks, sizeof *l->entry);
    l->entry_row = get(h, blocks, sizeof *l->entry_row);
    if (!l->column_start || !l->entry || !l->entry_row) return BRIO_ERROR_MEMORY;
    memset(l->column_start, 0, ((size_t)l->coarse + 2) * sizeof *l->column_start);
    for (int64_t k = 0; k < blocks; k++) l->column_start[l->p_column[k] + 2]++;
    for (int32_t a = 0; a < l->coarse; a++) l->column_start[a + 2] += l->column_start[a + 1];
    for (int32_t i = 0; i < l->n; i++)
        for (int64_t k = l->p_start[i]; k < l->p_start[i + 1]; k++) {
            int64_t at = l->column_start[l->p_column[k] + 1]++;
            l->entry[at] = k;
            l->entry_row[at] = i;
        }
    return BRIO_OK;
}

static int ascending_blocks(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Row a of the coarse matrix: what the rows of A P have that column a of P meets. Columns ascend;
 * the places follow when they are known. */
static void make_coarse_row(const BrioLevel *l, const int32_t *ap_column, int32_t a, int32_t *mark,
                            BrioLevel *coarse, int64_t *places)
{
    int64_t first = coarse->start[a], at = first;
    for (int64_t k = l->column_start[a]; k < l->column_start[a + 1]; k++)
        for (int64_t m = l->ap_start[l->entry_row[k]]; m < l->ap_start[l->entry_row[k] + 1]; m++)
            if (mark[ap_column[m]] < 0) {
                mark[ap_column[m]] = 0;
                coarse->column[at++] = ap_column[m];
            }
    qsort(coarse->column + first, (size_t)(at - first), sizeof *coarse->column, ascending_blocks);
    for (int64_t k = first; k < at; k++) {
        mark[coarse->column[k]] = (int32_t)(k - first);
        if (coarse->column[k] == a) coarse->diagonal[a] = k;
    }
    for (int64_t k = l->column_start[a]; k < l->column_start[a + 1]; k++)
        for (int64_t m = l->ap_start[l->entry_row[k]]; m < l->ap_start[l->entry_row[k] + 1]; m++)
            l->coarse_place[(*places)++] = mark[ap_column[m]];
    for (int64_t k = first; k < at; k++) mark[coarse->column[k]] = -1;
}

static BrioStatus make_coarse(BrioHierarchy *h, BrioLevel *l, const int32_t *ap_column,
                              int32_t *mark, BrioLevel *coarse)
{
    coarse->n = l->coarse;
    coarse->size = BRIO_MODES;
    coarse->start = get(h, (int64_t)coarse->n + 1, sizeof *coarse->start);
    coarse->diagonal = get(h, coarse->n, sizeof *coarse->diagonal);
    l->coarse_place_start = get(h, (int64_t)coarse->n + 1, sizeof *l->coarse_place_start);
    if (!coarse->start || !coarse->diagonal || !l->coarse_place_start) return BRIO_ERROR_MEMORY;
    int64_t at = 0, places = 0;
    for (int32_t a = 0; a < coarse->n; a++) {
        coarse->start[a] = at;
        l->coarse_place_start[a] = places;
        for (int64_t k = l->column_start[a]; k < l->column_start[a + 1]; k++)
            for (int64_t m = l->ap_start[l->entry_row[k]]; m < l->ap_start[l->entry_row[k] + 1];
                 m++, places++)
                if (mark[ap_column[m]] != a) {
                    mark[ap_column[m]] = a;
                    at++;
                }
    }
    coarse->start[coarse->n] = at;
    l->coarse_place_start[coarse->n] = places;
    for (int32_t a = 0; a < coarse->n; a++) mark[a] = -1;
    coarse->column = get(h, at, sizeof *coarse->column);
    l->coarse_place = get(h, places, sizeof *l->coarse_place);
    if (!coarse->column || !l->coarse_place) return BRIO_ERROR_MEMORY;
    places = 0;
    for (int32_t a = 0; a < coarse->n; a++) make_coarse_row(l, ap_column, a, mark, coarse, &places);
    return BRIO_OK;
}

/* ---- numbers and vectors ---------------------------------------------------------------- */

/* Of a level with its pattern; the padding is read and never counts. */
static BrioStatus make_numbers(BrioHierarchy *h, BrioLevel *l, bool coarsest)
{
    int64_t n = l->n, size = l->size, blocks = l->start[n], square = size * size;
    l->value = get(h, square * blocks + BRIO_PADDING, sizeof *l->value);
    l->inverse = get(h, square * n, sizeof *l->inverse);
    l->centre = get(h, 3 * n, sizeof *l->centre);
    l->motion = get(h, 6 * size * n, sizeof *l->motion);
    l->b = get(h, size * n, 4 * sizeof *l->b);
    if (!l->value || !l->inverse || !l->centre || !l->motion || !l->b) return BRIO_ERROR_MEMORY;
    memset(l->value + square * blocks, 0, BRIO_PADDING * sizeof *l->value);
    l->x = l->b + size * n;
    l->y = l->x + size * n;
    l->d = l->y + size * n;
    if (size == BRIO_MODES) {
        l->exact = get(h, square * blocks, sizeof *l->exact);
        if (!l->exact) return BRIO_ERROR_MEMORY;
    }
    if (coarsest) return BRIO_OK;
    l->tentative = get(h, 6 * size * n, sizeof *l->tentative);
    l->p = get(h, 6 * size * l->p_start[n], sizeof *l->p);
    return l->tentative && l->p ? BRIO_OK : BRIO_ERROR_MEMORY;
}

/* ---- the hierarchy ---------------------------------------------------------------------- */

/* The next level of level i, whose graph becomes that of the next. */
static BrioStatus make_next(BrioHierarchy *h, int i, Graph *g, int32_t *mark)
{
    BrioLevel *l = &h->level[i];
    Graph coarse = {0};
    int32_t *ap_column = NULL;
    BrioStatus status = make_members(h, l);
    if (status == BRIO_OK) status = coarsen_graph(l, g, mark, &coarse);
    if (status == BRIO_OK) status = make_interpolation(h, l, mark);
    if (status == BRIO_OK) status = make_product(h, l, mark, &ap_column);
    if (status == BRIO_OK) status = make_columns(h, l);
    if (status == BRIO_OK) status = make_coarse(h, l, ap_column, mark, &h->level[i + 1]);
    if (status == BRIO_OK) status = make_numbers(h, l, false);
    brio__free(ap_column);
    graph_free(g);
    *g = coarse;
    return status;
}

/* The blocks that contacts join, unless they are too many; then those of the next level. */
static BrioStatus make_joined(BrioHierarchy *h, BrioLevel *l, bool *touched)
{
    bool any = false;
    for (int32_t i = 0; i < l->n && !any; i++) any = touched[i];
    if (!any) return BRIO_OK;
    BrioStatus status = brio__subset_create(l, touched, &l->joined, &h->bytes);
    if (status == BRIO_ERROR_TOO_LARGE) {
        brio__subset_free(&l->joined);
        l->joined = (BrioSubset){0};
        status = BRIO_OK;
    }
    for (int32_t a = 0; a < l->coarse; a++) {
        bool part = false;
        for (int32_t m = l->member_start[a]; m < l->member_start[a + 1]; m++)
            part |= touched[l->member[m]];
        touched[l->n + a] = part;
    }
    memmove(touched, touched + l->n, (size_t)l->coarse * sizeof *touched);
    return status;
}

static BrioStatus make_levels(BrioHierarchy *h, Graph *g, int32_t *mark, bool *touched)
{
    for (int i = 0; i + 1 < BRIO_MAX_LEVELS && h->level[i].n > DIRECT; i++) {
        BrioLevel *l = &h->level[i];
        BRIO_CHECK(make_aggregates(h, l, g, mark));
        if (l->coarse > 3 * (l->n / 4)) break; /* hardly anything is next to anything */
        BRIO_CHECK(make_next(h, i, g, mark));
        BRIO_CHECK(make_joined(h, l, touched));
        h->levels++;
    }
    BrioLevel *coarsest = &h->level[h->levels - 1];
    BRIO_CHECK(make_numbers(h, coarsest, true));
    BRIO_CHECK(brio__subset_create(coarsest, NULL, &coarsest->joined, &h->bytes));
    int64_t longest = 0;
    for (int i = 0; i + 1 < h->levels; i++) {
        const BrioLevel *l = &h->level[i];
        longest = BRIO_MAX(longest, 6 * l->size * l->ap_start[l->n]);
    }
    h->ap = get(h, longest, sizeof *h->ap);
    if (!h->ap) return BRIO_ERROR_MEMORY;
    const BrioLevel *finest = &h->level[0];
    if (h->levels == 1 || !finest->joined.linear) return BRIO_OK;
    h->rest = get(h, 3 * (int64_t)finest->n, sizeof *h->rest);
    h->before = get(h, 3 * (int64_t)finest->joined.count, sizeof *h->before);
    return h->rest && h->before ? BRIO_OK : BRIO_ERROR_MEMORY;
}

BrioStatus brio__hierarchy_create(const BrioMatrix *A, const uint64_t *added, int64_t added_count,
                                  BrioHierarchy *h)
{
    *h = (BrioHierarchy){.kernels = brio__multilevel_kernels(), .levels = 1};
    Graph g = {0};
    int32_t *mark = brio__alloc((size_t)A->n, sizeof *mark);
    bool *touched = brio__calloc(2 * (size_t)A->n, sizeof *touched);
    BrioStatus status = mark && touched ? make_finest(h, A) : BRIO_ERROR_MEMORY;
    for (int32_t i = 0; mark && i < A->n; i++) mark[i] = -1;
    if (status == BRIO_OK) status = make_graph(&h->level[0], A, added, added_count, touched, &g);
    if (status == BRIO_OK) status = make_levels(h, &g, mark, touched);
    graph_free(&g);
    brio__free(mark);
    brio__free(touched);
    return status;
}
