/* Sums over elements: energies, gradients gathered per coordinate block, limits of steps; all in an
 * order fixed when the evaluator is made (elements.h). Hessians: hessian.c. */
#include "evaluator.h"

#include <float.h>
#include <string.h>

/* Kernel calls cover VALUE_PACKS packs of eight elements: some tens of microseconds each, which
 * waking a thread is worth. */
enum { VALUE_PACKS = 128 };

/* Gradients of elements are computed GRADIENT_PACKS at a time in a buffer that stays in the cache
 * (12 lanes a tet: 0.8 MB), and then added to those of coordinate blocks. Each block so adds its
 * elements in their order, whatever the size of the buffer. There are two buffers: while one is
 * added, the next is made, so that threads wait for each other once per buffer. */
enum { GRADIENT_PACKS = 1024, GATHER_SLOTS = 256 };

/* ---- creation --------------------------------------------------------------------------- */

static BrioStatus plan_gradient(BrioEvaluator *e)
{
    const BrioSystem *s = e->system;
    bool weighted = !brio__all_weights_one(s);
    e->sum_start = brio__calloc((size_t)s->block_count + 1, sizeof *e->sum_start);
    if (!e->sum_start) return BRIO_ERROR_MEMORY;
    for (int pass = 0; pass < 2; pass++) {
        for (int t = 0; t < e->term_count; t++) {
            const BrioTerm *term = &e->term[t];
            int nodes = term->energy->nodes;
            for (int64_t i = 0; i < term->elements; i++)
                for (int k = 0; k < nodes; k++) {
                    int32_t v = brio__term_vertex(term, i, k);
                    for (int32_t m = s->map_start[v]; m < s->map_start[v + 1]; m++) {
                        int64_t at = e->sum_start[s->map_block[m]]++;
                        if (!pass) continue;
                        e->sum_entry[at] =
                            (uint32_t)(e->gradient_start[t] + (i / LANES * nodes + k) * 3 * LANES +
                                       i % LANES);
                        if (weighted) e->sum_weight[at] = s->map_weight[m];
                    }
                }
        }
        /* counts become starts; after the second pass, starts have moved on by one */
        int64_t total = 0;
        if (!pass) {
            for (int32_t b = 0; b <= s->block_count; b++) {
                int64_t count = e->sum_start[b];
                e->sum_start[b] = total;
                total += count;
            }
            e->sum_entry = brio__alloc((size_t)total, sizeof *e->sum_entry);
            if (weighted) e->sum_weight = brio__alloc((size_t)total, sizeof *e->sum_weight);
            if (!e->sum_entry || (weighted && !e->sum_weight)) return BRIO_ERROR_MEMORY;
        } else {
            for (int32_t b = s->block_count; b > 0; b--) e->sum_start[b] = e->sum_start[b - 1];
            e->sum_start[0] = 0;
        }
    }
    return BRIO_OK;
}

static int64_t buffers(const BrioEvaluator *e)
{
    return (e->energy_start[e->term_count] + GRADIENT_PACKS - 1) / GRADIENT_PACKS;
}

/* The buffer that an entry of the gradients lies in. `t`: its term. */
static int64_t buffer_of(const BrioEvaluator *e, int t, int64_t entry)
{
    int64_t size = 3 * LANES * e->term[t].energy->nodes;
    return (e->energy_start[t] + (entry - e->gradient_start[t]) / size) / GRADIENT_PACKS;
}

/* Slots of the blocks, buffer by buffer: counts them, and then fills them in. A block without
 * elements has one, too, which sets its gradient to zero. */
static void list_parts(BrioEvaluator *e, bool fill)
{
    for (int32_t b = 0; b < e->system->block_count; b++) {
        int64_t k = e->sum_start[b], end = e->sum_start[b + 1];
        int t = 0; /* entries come term by term */
        do {
            GradientSlot slot = {.block = b, .entry = k};
            int64_t buffer = 0;
            for (; k < end; k++, slot.entries++) {
                while (e->sum_entry[k] >= e->gradient_start[t + 1]) t++;
                int64_t at = buffer_of(e, t, e->sum_entry[k]);
                if (slot.entries == 0) buffer = at;
                if (at != buffer) break;
            }
            if (fill)
                e->part[e->part_start[buffer]++] = slot;
            else
                e->part_start[buffer + 1]++;
        } while (k < end);
    }
}

static BrioStatus plan_parts(BrioEvaluator *e)
{
    int64_t count = BRIO_MAX(buffers(e), 1);
    e->part_start = brio__calloc((size_t)count + 1, sizeof *e->part_start);
    if (!e->part_start) return BRIO_ERROR_MEMORY;
    list_parts(e, false);
    for (int64_t i = 0; i < count; i++) e->part_start[i + 1] += e->part_start[i];
    e->part = brio__alloc((size_t)e->part_start[count], sizeof *e->part);
    if (!e->part) return BRIO_ERROR_MEMORY;
    list_parts(e, true); /* each start has moved on to the next */
    for (int64_t i = count; i > 0; i--) e->part_start[i] = e->part_start[i - 1];
    e->part_start[0] = 0;
    return BRIO_OK;
}

static void element_rest(const BrioTerm *term, int64_t element, double *rest)
{
    int size = term->energy->rest;
    for (int k = 0; k < size; k++)
        rest[k] = term->rest[(element / LANES * size + k) * LANES + element % LANES];
}

static void add_magnitudes(BrioEvaluator *e)
{
    for (int t = 0; t < e->term_count; t++) {
        const BrioTerm *term = &e->term[t];
        double rest[16];
        for (int64_t i = 0; term->energy->magnitude && i < term->elements; i++) {
            element_rest(term, i, rest);
            e->magnitude[t] += term->energy->magnitude(rest);
        }
    }
    brio__partition_sum(e->system->partition, e->magnitude, e->term_count);
}

double brio__evaluate_noise(const BrioEvaluator *e, const double *param, const double *term_energy)
{
    double size = 0;
    for (int t = 0; t < e->term_count; t++) {
        const BrioTerm *term = &e->term[t];
        double max = 0;
        for (int k = 0; k < term->energy->params; k++)
            max = fmax(max, fabs(param[term->params + k]));
        size += fabs(term_energy[t]) + max * e->magnitude[t];
    }
    return 16 * DBL_EPSILON * size;
}

/* The vertices without coordinates that move a vertex: itself, or nodes of a cage on which it
 * rides. */
static void add_fixed_nodes(BrioEvaluator *e, FixedNode at, int32_t vertex, bool write)
{
    int32_t node[4];
    double weight[4];
    int count = brio__system_carriers(e->system, vertex, node, weight);
    for (int k = 0; k < count; k++) {
        at.fixed = write ? brio__system_fixed_index(e->system, node[k]) : 0;
        at.weight = weight[k];
        if (write) e->fixed[e->fixed_total] = at;
        e->fixed_total++;
    }
}

static BrioStatus find_fixed(BrioEvaluator *e)
{
    for (int pass = 0; pass < 2; pass++) {
        e->fixed_total = 0;
        for (int t = 0; t < e->term_count; t++)
            for (int64_t i = 0; i < e->term[t].elements; i++)
                for (int k = 0; k < e->term[t].energy->nodes; k++)
                    add_fixed_nodes(e, (FixedNode){.element = i, .term = t, .node = k},
                                    brio__term_vertex(&e->term[t], i, k), pass);
        if (!pass && !(e->fixed = brio__alloc((size_t)e->fixed_total, sizeof *e->fixed)))
            return BRIO_ERROR_MEMORY;
    }
    return BRIO_OK;
}

BrioStatus brio__evaluator_create(const BrioSystem *system, const BrioTerm *terms, int term_count,
                                  BrioEvaluator **evaluator)
{
    BrioEvaluator *e = brio__calloc(1, sizeof *e);
    if (!e) return BRIO_ERROR_MEMORY;
    e->system = system;
    e->term = terms;
    e->term_count = term_count;
    e->energy_start = brio__calloc((size_t)e->term_count + 1, sizeof *e->energy_start);
    e->gradient_start = brio__calloc((size_t)e->term_count + 1, sizeof *e->gradient_start);
    e->magnitude = brio__calloc((size_t)e->term_count, sizeof *e->magnitude);
    BrioStatus status =
        e->energy_start && e->gradient_start && e->magnitude ? BRIO_OK : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK) {
        int64_t linear_params = 0;
        for (int t = 0; t < e->term_count; t++) {
            const BrioTerm *term = &e->term[t];
            e->energy_start[t + 1] = e->energy_start[t] + term->packs;
            e->gradient_start[t + 1] =
                e->gradient_start[t] + term->packs * LANES * 3 * term->energy->nodes;
            if (term->energy->traits & BRIO_ENERGY_LINEAR)
                linear_params += term->energy->params + term->packs * term->energy->live * LANES;
        }
        if (e->gradient_start[e->term_count] > UINT32_MAX) status = BRIO_ERROR_TOO_LARGE;
        e->energy = brio__alloc((size_t)e->energy_start[e->term_count], sizeof(double));
        size_t packs = (size_t)BRIO_MIN(e->energy_start[e->term_count], (int64_t)GRADIENT_PACKS);
        int sides = e->energy_start[e->term_count] > GRADIENT_PACKS ? 2 : 1;
        e->gradient = brio__alloc((size_t)sides * packs * 12 * LANES, sizeof(double));
        size_t chunks = (size_t)(e->energy_start[e->term_count] / VALUE_PACKS + 1);
        e->limit = brio__alloc(chunks, sizeof *e->limit);
        e->linear = brio__calloc(3 * (size_t)system->block_count, sizeof(double));
        e->linear_with = brio__calloc((size_t)linear_params, sizeof(double));
        if (!e->energy || !e->gradient || !e->limit || !e->linear || !e->linear_with)
            status = BRIO_ERROR_MEMORY;
    }
    if (status == BRIO_OK) add_magnitudes(e);
    if (status == BRIO_OK) status = plan_gradient(e);
    if (status == BRIO_OK) status = plan_parts(e);
    if (status == BRIO_OK) status = find_fixed(e);
    if (status == BRIO_OK)
        *evaluator = e;
    else
        brio__evaluator_free(e);
    return status;
}

void brio__evaluator_free(BrioEvaluator *e)
{
    if (!e) return;
    brio__evaluator_free_plan(e);
    brio__free(e->energy_start);
    brio__free(e->gradient_start);
    brio__free(e->energy);
    brio__free(e->gradient);
    brio__free(e->magnitude);
    brio__free(e->linear);
    brio__free(e->linear_with);
    brio__free(e->limit);
    brio__free(e->sum_start);
    brio__free(e->sum_entry);
    brio__free(e->sum_weight);
    brio__free(e->part);
    brio__free(e->part_start);
    brio__free(e->fixed);
    brio__free(e);
}

/* ---- value and gradient ----------------------------------------------------------------- */

/* Kernels over the packs of all terms one after the other, as energy_start numbers them: a chunk
 * may have many small terms. */
typedef struct ValueWork {
    BrioEvaluator *e;
    const double *param, *x, *dx; /* dx: of the limits of steps */
    int64_t first;                /* pack of the current loop */
    bool gradient;                /* of the packs of the buffer that begins there */
} ValueWork;

/* The term that has a pack. */
static int term_at(const BrioEvaluator *e, int64_t pack)
{
    int low = 0, high = e->term_count;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (e->energy_start[middle] <= pack)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The packs of a term that are in [begin, end) of all. */
static BrioBatch batch_of(const ValueWork *work, int t, int64_t begin, int64_t end)
{
    const BrioEvaluator *e = work->e;
    BrioBatch batch = brio__term_batch(&e->term[t], work->param, work->x);
    batch.begin = begin - e->energy_start[t];
    batch.end = BRIO_MIN(end, e->energy_start[t + 1]) - e->energy_start[t];
    return batch;
}

/* Where a term's gradients would begin if all that lie before the buffer were there. `first`: the
 * pack that the buffer begins with; they take turns. */
static double *gradient_at(const BrioEvaluator *e, int t, int64_t first)
{
    int64_t side = first / GRADIENT_PACKS % 2 * (GRADIENT_PACKS * 12 * LANES);
    int before = term_at(e, first);
    int64_t size = 3 * LANES * e->term[before].energy->nodes;
    int64_t base = e->gradient_start[before] + (first - e->energy_start[before]) * size;
    return e->gradient + side + (e->gradient_start[t] - base);
}

static void value_chunk(void *context, int64_t begin, int64_t end)
{
    const ValueWork *work = context;
    const BrioEvaluator *e = work->e;
    begin += work->first;
    end += work->first;
    for (int t = term_at(e, begin); begin < end; begin = e->energy_start[++t]) {
        BrioBatch batch = batch_of(work, t, begin, end);
        batch.energy = e->energy + e->energy_start[t];
        if (work->gradient) batch.gradient = gradient_at(e, t, work->first);
        if (batch.begin < batch.end) e->term[t].energy->eval(&batch);
    }
}

static double sum_packs(void *context, int64_t begin, int64_t end)
{
    const double *energy = context;
    double sum = 0;
    for (int64_t i = begin; i < end; i++) sum += energy[i];
    return sum;
}

typedef struct GatherWork {
    const BrioEvaluator *e;
    const GradientSlot *slot;
    const double *gradient; /* number 0 of the gradients of all elements, if they were there */
    double *out;
} GatherWork;

static void gather_chunk(void *context, int64_t begin, int64_t end)
{
    const GatherWork *work = context;
    const BrioEvaluator *e = work->e;
    for (const GradientSlot *slot = work->slot + begin; slot < work->slot + end; slot++) {
        double *out = work->out + 3 * (int64_t)slot->block;
        bool first = slot->entry == e->sum_start[slot->block];
        double sum[3] = {first ? 0 : out[0], first ? 0 : out[1], first ? 0 : out[2]};
        for (int64_t k = slot->entry; k < slot->entry + slot->entries; k++) {
            const double *g = work->gradient + e->sum_entry[k];
            double w = e->sum_weight ? e->sum_weight[k] : 1;
            sum[0] += w * g[0];
            sum[1] += w * g[LANES];
            sum[2] += w * g[2 * LANES];
        }
        for (int r = 0; r < 3; r++) out[r] = sum[r];
    }
}

/* What goes on at a time: a buffer is made, and the one before it is added. */
typedef struct Stage {
    ValueWork value;
    GatherWork gather;
    int64_t packs, slots, chunks; /* of which the first are of values */
} Stage;

static void stage_chunk(void *context, int64_t begin, int64_t end)
{
    Stage *stage = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i * VALUE_PACKS, slot = (i - stage->chunks) * GATHER_SLOTS;
        if (i < stage->chunks)
            value_chunk(&stage->value, first, BRIO_MIN(first + VALUE_PACKS, stage->packs));
        else
            gather_chunk(&stage->gather, slot, BRIO_MIN(slot + GATHER_SLOTS, stage->slots));
    }
}

/* Energies and gradients, one buffer after the other. */
static void evaluate_buffers(const ValueWork *work, double *gradient)
{
    const BrioEvaluator *e = work->e;
    int64_t packs = e->energy_start[e->term_count];
    int64_t last = BRIO_MAX(buffers(e), (int64_t)1); /* blocks without elements are in the first */
    for (int64_t i = 0; i <= last; i++) {
        Stage stage = {.value = *work, .gather = {.e = e, .out = gradient}};
        int64_t before = (i - 1) * GRADIENT_PACKS;
        stage.value.first = i * GRADIENT_PACKS;
        stage.value.gradient = true;
        stage.packs =
            BRIO_MAX(BRIO_MIN((int64_t)GRADIENT_PACKS, packs - stage.value.first), (int64_t)0);
        stage.chunks = (stage.packs + VALUE_PACKS - 1) / VALUE_PACKS;
        if (i > 0) {
            stage.gather.slot = e->part + e->part_start[i - 1];
            stage.gather.gradient = packs ? gradient_at(e, 0, before) : NULL;
            stage.slots = e->part_start[i] - e->part_start[i - 1];
        }
        int64_t gathers = (stage.slots + GATHER_SLOTS - 1) / GATHER_SLOTS;
        brio__parallel_for(stage.chunks + gathers, 1, stage_chunk, &stage);
    }
}

double brio__evaluate(BrioEvaluator *e, const double *param, const double *x, double *gradient,
                      double *term_energy)
{
    double total = 0;
    ValueWork work = {.e = e, .param = param, .x = x};
    if (gradient)
        evaluate_buffers(&work, gradient);
    else
        brio__parallel_for(e->energy_start[e->term_count], VALUE_PACKS, value_chunk, &work);
    for (int t = 0; t < e->term_count; t++) {
        double *energy = e->energy + e->energy_start[t];
        double sum = brio__parallel_sum(e->term[t].packs, sum_packs, energy);
        if (term_energy) term_energy[t] = sum;
        total += sum;
    }
    return total;
}

/* The gradients of one pack, into the beginning of the buffer. */
static void pack_gradient(BrioEvaluator *e, const BrioTerm *term, int64_t pack, const double *param,
                          const double *x)
{
    BrioBatch batch = brio__term_batch(term, param, x);
    batch.begin = pack;
    batch.end = pack + 1;
    batch.gradient = e->gradient - pack * 3 * LANES * term->energy->nodes;
    term->energy->eval(&batch);
}

/* Whether e->linear is that of these parameters; notes them. */
static bool linear_is_known(BrioEvaluator *e, const double *param)
{
    double *at = e->linear_with;
    bool known = e->linear_ready;
    for (int t = 0; t < e->term_count; t++) {
        const BrioTerm *term = &e->term[t];
        if (!(term->energy->traits & BRIO_ENERGY_LINEAR)) continue;
        const double *from[2] = {param + term->params, param + term->live};
        size_t count[2] = {(size_t)term->energy->params,
                           (size_t)(term->packs * term->energy->live * LANES)};
        for (int k = 0; k < 2; at += count[k++]) {
            known &= !memcmp(at, from[k], count[k] * sizeof *at);
            memcpy(at, from[k], count[k] * sizeof *at);
        }
    }
    e->linear_ready = true;
    return known;
}

/* In the order of gather_chunk, in which other terms would add zeros. */
const double *brio__linear_gradient(BrioEvaluator *e, const double *param, const double *x)
{
    const BrioSystem *s = e->system;
    if (linear_is_known(e, param)) return e->linear;
    memset(e->linear, 0, 3 * (size_t)s->block_count * sizeof *e->linear);
    for (int t = 0; t < e->term_count; t++) {
        const BrioTerm *term = &e->term[t];
        int nodes = term->energy->nodes;
        if (!(term->energy->traits & BRIO_ENERGY_LINEAR)) continue;
        for (int64_t i = 0; i < term->elements; i++) {
            if (i % LANES == 0) pack_gradient(e, term, i / LANES, param, x);
            for (int k = 0; k < nodes; k++) {
                const double *g = e->gradient + k * 3 * LANES + i % LANES;
                int32_t v = brio__term_vertex(term, i, k);
                for (int32_t m = s->map_start[v]; m < s->map_start[v + 1]; m++)
                    for (int r = 0; r < 3; r++)
                        e->linear[3 * (int64_t)s->map_block[m] + r] +=
                            s->map_weight[m] * g[r * LANES];
            }
        }
    }
    return e->linear;
}

void brio__fixed_gradient(BrioEvaluator *e, const double *param, const double *x, double *gradient)
{
    int64_t done = -1; /* pack of eight, of the term before */
    for (int64_t i = 0; i < e->fixed_total; i++) {
        const FixedNode *at = &e->fixed[i];
        int64_t pack = at->element / LANES;
        if (i == 0 || at->term != at[-1].term) done = -1;
        if (pack != done) pack_gradient(e, &e->term[at->term], pack, param, x);
        done = pack;
        const double *g = e->gradient + at->node * 3 * LANES + at->element % LANES;
        for (int r = 0; r < 3; r++) gradient[3 * at->fixed + r] += at->weight * g[r * LANES];
    }
}

/* ---- forbidden states ------------------------------------------------------------------- */

static void limit_chunk(void *context, int64_t begin, int64_t end)
{
    const ValueWork *work = context;
    const BrioEvaluator *e = work->e;
    Limit *limit = &e->limit[begin / VALUE_PACKS];
    *limit = (Limit){.step = 1};
    for (int t = term_at(e, begin); begin < end; begin = e->energy_start[++t]) {
        const BrioTerm *term = &e->term[t];
        BrioBatch batch = batch_of(work, t, begin, end);
        int64_t element = -1;
        batch.dx = work->dx;
        if (!term->energy->max_step || batch.begin == batch.end) continue;
        double step = term->energy->max_step(&batch, &element);
        if (step < limit->step) *limit = (Limit){step, term, BRIO_MIN(element, term->elements - 1)};
    }
}

double brio__max_step(BrioEvaluator *e, const double *param, const double *x, const double *dx,
                      BrioLimit *limit)
{
    double min = 1;
    int64_t packs = e->energy_start[e->term_count];
    limit->term = NULL;
    brio__parallel_for(packs, VALUE_PACKS, limit_chunk,
                       &(ValueWork){.e = e, .param = param, .x = x, .dx = dx});
    for (int64_t i = 0; i * VALUE_PACKS < packs; i++)
        if (e->limit[i].step < min) {
            min = e->limit[i].step;
            *limit = (BrioLimit){.term = e->limit[i].term, .element = e->limit[i].element};
        }
    return min;
}

bool brio__find_forbidden(BrioEvaluator *e, const double *param, const double *x, BrioLimit *limit)
{
    brio__evaluate(e, param, x, NULL, NULL);
    for (int t = 0; t < e->term_count; t++) {
        const BrioTerm *term = &e->term[t];
        BrioEnergy one = *term->energy, *energy = &one;
        one.table = term->table;
        for (int64_t b = 0; b < term->packs; b++) {
            if (isfinite(e->energy[e->energy_start[t] + b])) continue;
            /* which of the eight */
            for (int64_t i = b * LANES; i < BRIO_MIN((b + 1) * LANES, term->elements); i++) {
                double rest[16], xe[12];
                element_rest(term, i, rest);
                for (int k = 0; k < energy->nodes; k++)
                    memcpy(xe + 3 * k, x + 3 * (int64_t)brio__term_vertex(term, i, k),
                           3 * sizeof *xe);
                if (isfinite(brio__energy_one(energy, param + term->params, rest, xe, NULL, NULL,
                                              false)))
                    continue;
                *limit = (BrioLimit){.term = term, .element = i};
                return true;
            }
        }
    }
    limit->term = NULL;
    return false;
}
