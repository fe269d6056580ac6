/* Elements that come and go: room, distances, sums in the order of adding (pairs.h). */
#include "pairs.h"

#include <string.h>

/* Kernel calls cover GRAIN packs of eight. */
enum { GRAIN = 32, NODES = 4 };

void brio__pairs_free(BrioPairs *pairs)
{
    brio__free(pairs->term.node);
    brio__free(pairs->term.rest);
    brio__free(pairs->energy);
    brio__free(pairs->gradient);
    brio__plan_free(pairs->plan);
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
    return grow(pairs, (size_t)(elements / LANES + 1));
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
} Work;

static void run(void *context, int64_t begin, int64_t end)
{
    const Work *work = context;
    BrioBatch batch = work->batch;
    batch.begin = begin;
    batch.end = end;
    work->term->energy->eval(&batch);
}

static Work work_on(const BrioPairs *pairs, const double *param, const double *x)
{
    const BrioTerm *term = &pairs->term;
    return (Work){.term = term,
                  .batch = {.node = term->node, .rest = term->rest, .params = param, .x = x}};
}

void brio__pairs_measure(BrioPairs *pairs, const double *param, const double *x, int8_t *nearest)
{
    Work work = work_on(pairs, param, x);
    work.batch.nearest = nearest;
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
    if (gradient) brio__pairs_ask(pairs, &work.batch);
    if (world) work.batch.gradient = pairs->gradient;
    brio__parallel_for(term->packs, GRAIN, run, &work);
    for (int64_t b = 0; b < term->packs; b++) sum += pairs->energy[b];
    for (int64_t e = 0; world && e < term->elements; e++)
        for (int k = 0; k < NODES; k++) {
            const double *g = pairs->gradient + (e / LANES * NODES + k) * 3 * LANES + e % LANES;
            double *to = world + 3 * (int64_t)brio__pairs_vertex(pairs, e, k);
            for (int r = 0; r < 3; r++) to[r] += g[r * LANES];
        }
    if (gradient) brio__pairs_pull(pairs, s, gradient);
    return sum;
}
