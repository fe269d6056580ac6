/* Elements that come and go: room, distances, sums in the order of adding (pairs.h). */
#include "pairs.h"

#include <string.h>

/* Kernel calls cover GRAIN packs of eight; Hessians are made CHUNK packs at a time. */
enum { GRAIN = 32, CHUNK = 128, NODES = 4, HESSIAN = 9 * NODES * (NODES + 1) / 2 };

void brio__pairs_free(BrioPairs *pairs)
{
    brio__free(pairs->term.node);
    brio__free(pairs->term.rest);
    brio__free(pairs->energy);
    brio__free(pairs->gradient);
    brio__free(pairs->hessian);
    brio__free(pairs->distance);
    brio__free(pairs->clearance);
}

void brio__pairs_clear(BrioPairs *pairs) { pairs->term.elements = pairs->term.packs = 0; }

static BrioStatus grow(BrioPairs *pairs, size_t room)
{
    size_t old = (size_t)pairs->room * LANES, lanes = room * LANES;
    size_t rest = (size_t)pairs->term.energy->rest;
    int32_t *node = brio__realloc(pairs->term.node, old * NODES, lanes * NODES, sizeof *node);
    if (node) pairs->term.node = node;
    double *data = brio__realloc(pairs->term.rest, old * rest, lanes * rest, sizeof *data);
    if (data) pairs->term.rest = data;
    double *distance = brio__realloc(pairs->distance, 0, lanes, sizeof *distance);
    if (distance) pairs->distance = distance;
    if (!node || !data || !distance) return BRIO_ERROR_MEMORY;
    if (pairs->candidates) {
        double *clearance = brio__realloc(pairs->clearance, 0, lanes, sizeof *clearance);
        if (!clearance) return BRIO_ERROR_MEMORY;
        pairs->clearance = clearance;
    } else {
        double *energy = brio__realloc(pairs->energy, 0, room, sizeof *energy);
        if (energy) pairs->energy = energy;
        double *gradient = brio__realloc(pairs->gradient, 0, lanes * 3 * NODES, sizeof *gradient);
        if (gradient) pairs->gradient = gradient;
        if (!energy || !gradient) return BRIO_ERROR_MEMORY;
    }
    pairs->room = (int64_t)room;
    return BRIO_OK;
}

BrioStatus brio__pairs_create(BrioPairs *pairs, const BrioEnergy *energy, bool candidates,
                              int64_t elements)
{
    *pairs = (BrioPairs){.term = {.energy = energy, .body = -1}, .candidates = candidates};
    BRIO_CHECK(grow(pairs, (size_t)(elements / LANES + 1)));
    if (candidates) return BRIO_OK;
    pairs->hessian = brio__alloc((size_t)CHUNK * HESSIAN * LANES, sizeof(double));
    return pairs->hessian ? BRIO_OK : BRIO_ERROR_MEMORY;
}

void brio__pairs_set(BrioPairs *pairs, int64_t e, const int32_t vertex[4], const double *rest)
{
    BrioTerm *term = &pairs->term;
    int64_t pack = e / LANES, place = e % LANES;
    for (int k = 0; k < NODES; k++) term->node[(pack * NODES + k) * LANES + place] = 3 * vertex[k];
    for (int k = 0; k < term->energy->rest; k++)
        term->rest[(pack * term->energy->rest + k) * LANES + place] = rest[k];
}

BrioStatus brio__pairs_resize(BrioPairs *pairs, int64_t elements)
{
    int64_t packs = (elements + LANES - 1) / LANES;
    if (packs > pairs->room) BRIO_CHECK(grow(pairs, 2 * (size_t)packs));
    pairs->term.elements = elements;
    pairs->term.packs = packs;
    return BRIO_OK;
}

BrioStatus brio__pairs_add(BrioPairs *pairs, const int32_t vertex[4], const double *rest)
{
    BrioTerm *term = &pairs->term;
    int64_t e = term->elements;
    if (e / LANES == pairs->room) BRIO_CHECK(grow(pairs, 2 * (size_t)pairs->room));
    brio__pairs_set(pairs, e, vertex, rest);
    term->elements++;
    term->packs = e / LANES + 1;
    return BRIO_OK;
}

/* The last element fills its pack, weightless. */
void brio__pairs_finish(BrioPairs *pairs)
{
    BrioTerm *term = &pairs->term;
    int size = term->energy->rest;
    for (int64_t e = term->elements; e > 0 && e < term->packs * LANES; e++) {
        int64_t pack = e / LANES, place = e % LANES;
        for (int k = 0; k < NODES; k++) {
            int32_t *node = term->node + (pack * NODES + k) * LANES;
            node[place] = node[place - 1];
        }
        for (int k = 0; k < size; k++) {
            double *rest = term->rest + (pack * size + k) * LANES;
            rest[place] = k ? rest[place - 1] : 0;
        }
    }
}

typedef struct Work {
    const BrioTerm *term;
    BrioBatch batch;
    int64_t first;
    double *hessian;
} Work;

static void run(void *context, int64_t begin, int64_t end)
{
    const Work *work = context;
    BrioBatch batch = work->batch;
    batch.begin = work->first + begin;
    batch.end = work->first + end;
    if (work->hessian) batch.hessian = work->hessian + begin * HESSIAN * LANES;
    work->term->energy->eval(&batch);
}

static Work work_on(const BrioPairs *pairs, const double *param, const double *x)
{
    const BrioTerm *term = &pairs->term;
    return (Work){.term = term,
                  .batch = {.node = term->node, .rest = term->rest, .params = param, .x = x}};
}

void brio__pairs_measure(BrioPairs *pairs, const double *param, const double *x)
{
    Work work = work_on(pairs, param, x);
    work.batch.distance = pairs->distance;
    brio__parallel_for(pairs->term.packs, GRAIN, run, &work);
}

void brio__pairs_sweep(BrioPairs *pairs, const double *param, const double *x, const double *dx)
{
    Work work = work_on(pairs, param, x);
    work.batch.dx = dx;
    work.batch.distance = pairs->distance;
    work.batch.clearance = pairs->clearance;
    brio__parallel_for(pairs->term.packs, GRAIN, run, &work);
}

double brio__pairs_evaluate(BrioPairs *pairs, const BrioSystem *s, const double *param,
                            const double *x, double *gradient, double *world)
{
    const BrioTerm *term = &pairs->term;
    Work work = work_on(pairs, param, x);
    double sum = 0;
    work.batch.energy = pairs->energy;
    work.batch.gradient = gradient || world ? pairs->gradient : NULL;
    brio__parallel_for(term->packs, GRAIN, run, &work);
    for (int64_t b = 0; b < term->packs; b++) sum += pairs->energy[b];
    for (int64_t e = 0; work.batch.gradient && e < term->elements; e++)
        for (int k = 0; k < NODES; k++) {
            const double *g = pairs->gradient + (e / LANES * NODES + k) * 3 * LANES + e % LANES;
            int32_t v = brio__pairs_vertex(pairs, e, k);
            for (int r = 0; world && r < 3; r++) world[3 * (int64_t)v + r] += g[r * LANES];
            for (int32_t m = s->map_start[v]; gradient && m < s->map_start[v + 1]; m++)
                for (int r = 0; r < 3; r++)
                    gradient[3 * (int64_t)s->map_block[m] + r] += s->map_weight[m] * g[r * LANES];
        }
    return sum;
}

/* The coordinate blocks that an element touches, each once, and what each of its nodes has of
 * them. */
typedef struct Reach {
    int blocks, entries;
    int32_t block[4 * NODES];
    struct {
        int block, node;
        double weight;
    } entry[4 * NODES];
} Reach;

static void reach(const BrioSystem *s, const int32_t vertex[4], Reach *to)
{
    to->blocks = to->entries = 0;
    for (int k = 0; k < NODES; k++)
        for (int32_t m = s->map_start[vertex[k]]; m < s->map_start[vertex[k] + 1]; m++) {
            int at = 0;
            while (at < to->blocks && to->block[at] != s->map_block[m]) at++;
            if (at == to->blocks) to->block[to->blocks++] = s->map_block[m];
            to->entry[to->entries].block = at;
            to->entry[to->entries].node = k;
            to->entry[to->entries++].weight = s->map_weight[m];
        }
}

BrioStatus brio__pairs_reserve(const BrioSystem *s, const int32_t vertex[4], BrioOverlay *overlay)
{
    Reach to;
    reach(s, vertex, &to);
    for (int a = 0; a < to.blocks; a++)
        for (int b = 0; b <= a; b++)
            BRIO_CHECK(brio__overlay_reserve(overlay, to.block[a], to.block[b]));
    return BRIO_OK;
}

/* J^T H J of one element, from the right and then from the left. H: its blocks in its lane. */
static BrioStatus add_element(const BrioSystem *s, const int32_t vertex[4], const double *H,
                              double weight, BrioOverlay *overlay)
{
    Reach to;
    double h[NODES][NODES][9], right[NODES][4 * NODES][9], sum[4 * NODES][4 * NODES][9];
    reach(s, vertex, &to);
    for (int i = 0; i < NODES; i++)
        for (int j = 0; j <= i; j++)
            for (int k = 0; k < 9; k++)
                h[i][j][k] = h[j][i][k % 3 * 3 + k / 3] =
                    H[((int64_t)brio__pair(i, j) * 9 + k) * LANES];
    for (int i = 0; i < NODES; i++) memset(right[i], 0, (size_t)to.blocks * sizeof right[i][0]);
    for (int a = 0; a < to.blocks; a++) memset(sum[a], 0, (size_t)(a + 1) * sizeof sum[a][0]);
    for (int q = 0; q < to.entries; q++)
        for (int i = 0; i < NODES; i++)
            for (int k = 0; k < 9; k++)
                right[i][to.entry[q].block][k] += to.entry[q].weight * h[i][to.entry[q].node][k];
    for (int p = 0; p < to.entries; p++)
        for (int b = 0, a = to.entry[p].block; b <= a; b++)
            for (int k = 0; k < 9; k++)
                sum[a][b][k] += weight * to.entry[p].weight * right[to.entry[p].node][b][k];
    for (int a = 0; a < to.blocks; a++)
        for (int b = 0; b <= a; b++)
            BRIO_CHECK(brio__overlay_add(overlay, to.block[a], to.block[b], sum[a][b]));
    return BRIO_OK;
}

BrioStatus brio__pairs_assemble(BrioPairs *pairs, const BrioSystem *s, const double *param,
                                const double *x, double weight, bool project, BrioOverlay *overlay)
{
    const BrioTerm *term = &pairs->term;
    Work work = work_on(pairs, param, x);
    work.batch.project = project;
    work.hessian = pairs->hessian;
    for (int64_t first = 0; first < term->packs; first += CHUNK) {
        work.first = first;
        brio__parallel_for(BRIO_MIN((int64_t)CHUNK, term->packs - first), GRAIN, run, &work);
        for (int64_t e = first * LANES; e < BRIO_MIN(term->elements, (first + CHUNK) * LANES);
             e++) {
            int32_t vertex[NODES];
            brio__pairs_vertices(pairs, e, vertex);
            BRIO_CHECK(add_element(
                s, vertex, pairs->hessian + (e / LANES - first) * HESSIAN * LANES + e % LANES,
                weight, overlay));
        }
    }
    return BRIO_OK;
}
