/* Sums over elements: energies, gradients gathered per coordinate block, Hessians gathered per
 * matrix block, limits of steps; all in an order fixed when the evaluator is made (elements.h). */
#include "elements.h"

#include "../linear/overlay.h"

#include <float.h>
#include <string.h>

/* Kernel calls cover VALUE_PACKS packs of eight elements for values and gradients, HESSIAN_PACKS
 * for Hessians: some tens of microseconds each, which waking a thread is worth. Hessians are formed
 * up to CHUNK_PACKS at a time into a buffer that stays in the cache (90 lanes a tet: 1.5 MB) and
 * summed from there: memory for all element Hessians at once would be 720 bytes per tet. */
enum { VALUE_PACKS = 128, HESSIAN_PACKS = 32, CHUNK_PACKS = 256 };

/* Gradients of elements, too, are made GRADIENT_PACKS at a time into a buffer that stays in the
 * cache (12 lanes a tet: 0.8 MB), and then added to those of coordinate blocks. Each block so adds
 * its elements in their order, whatever the size of the buffer. */
enum { GRADIENT_PACKS = 1024 };

#define TRANSPOSED 0x80000000u

/* Some of one term's packs. */
typedef struct Piece {
    int term;
    int64_t pack, packs;
    int64_t first; /* of its packs among those of its chunk */
    uint32_t at;   /* where its Hessians begin in the chunk's buffer */
} Piece;

/* A chunk of packs and the matrix blocks that it adds to. A block gets what the elements of one
 * term have summed in a chunk: so several terms are in one chunk only if none adds to blocks of
 * another. Scenes of many small bodies have few chunks then. */
typedef struct HessianChunk {
    int piece, pieces; /* range in the pieces */
    int64_t packs;
    int64_t slot, slots; /* range in the slot arrays */
} HessianChunk;

/* What a coordinate block adds of one buffer of gradients. */
typedef struct GradientSlot {
    int32_t block, entries;
    int64_t entry; /* the first, in the list of all */
} GradientSlot;

typedef struct FixedNode {
    int64_t element, fixed; /* which of the system's fixed vertices */
    int term, node;
    double weight; /* of the fixed vertex in the node */
} FixedNode;

/* The shortest step that elements allow, and which of them. */
typedef struct Limit {
    double step;
    const BrioTerm *term;
    int64_t element;
} Limit;

struct BrioEvaluator {
    const BrioSystem *system;
    const BrioTerm *term;
    int term_count;
    int64_t *energy_start;   /* per term: first pack in energy[] */
    int64_t *gradient_start; /* per term: first double in gradient[] */
    double *energy;          /* of every pack of every term */
    double *gradient;        /* of GRADIENT_PACKS packs */
    double *magnitude;       /* per term: the sum of its elements' */
    double *linear;          /* the gradient of terms that are linear in positions, */
    double *linear_with;     /* with these parameters, */
    bool linear_ready;       /* once it has been asked for */
    Limit *limit;            /* of every chunk of packs */
    /* gradient sums: coordinate block b adds number `entry`, +8, +16 of the gradients of all
     * elements for entries start[b] .. start[b+1] */
    int64_t *sum_start;
    uint32_t *sum_entry;
    double *sum_weight;  /* NULL: all 1 */
    GradientSlot *part;  /* those of one buffer after those of another; */
    int64_t *part_start; /* where those of each begin */
    /* nodes that are fixed vertices, in the order of terms and elements */
    int64_t fixed_total;
    FixedNode *fixed;
    /* Hessian sums */
    int chunk_count, piece_count;
    HessianChunk *chunk;
    Piece *piece;
    double *hessian; /* one chunk's */
    int64_t slot_total;
    int64_t *slot_target; /* matrix block, as an offset in value[] */
    int32_t *slot_stride; /* between its scalar columns */
    int64_t *slot_start;  /* slot_total + 1: its entries */
    uint32_t *slot_entry; /* offset in hessian[], with TRANSPOSED */
    double *slot_weight;  /* NULL: all 1 */
};

static bool all_weights_one(const BrioSystem *s)
{
    for (int32_t k = 0; k < s->map_start[s->vertex_count]; k++)
        if (s->map_weight[k] != 1) return false;
    return true;
}

/* ---- creation --------------------------------------------------------------------------- */

static BrioStatus plan_gradient(BrioEvaluator *e)
{
    const BrioSystem *s = e->system;
    bool weighted = !all_weights_one(s);
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
        e->gradient = brio__alloc(packs * 12 * LANES, sizeof(double));
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

static void free_plan(BrioEvaluator *e)
{
    brio__free(e->chunk);
    brio__free(e->piece);
    brio__free(e->hessian);
    brio__free(e->slot_target);
    brio__free(e->slot_stride);
    brio__free(e->slot_start);
    brio__free(e->slot_entry);
    brio__free(e->slot_weight);
    e->chunk = NULL;
    e->piece = NULL;
    e->hessian = e->slot_weight = NULL;
    e->slot_target = e->slot_start = NULL;
    e->slot_stride = NULL;
    e->slot_entry = NULL;
    e->chunk_count = e->piece_count = 0;
    e->slot_total = 0;
}

void brio__evaluator_free(BrioEvaluator *e)
{
    if (!e) return;
    free_plan(e);
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
    int64_t first;                /* pack of the loop at hand */
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

/* Where a term's gradients would begin if all that lie before the buffer were there. */
static double *gradient_at(const BrioEvaluator *e, int t, int64_t first)
{
    int before = term_at(e, first);
    int64_t size = 3 * LANES * e->term[before].energy->nodes;
    int64_t base = e->gradient_start[before] + (first - e->energy_start[before]) * size;
    return e->gradient + (e->gradient_start[t] - base);
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

/* Energies and gradients, one buffer after the other. */
static void evaluate_buffers(ValueWork *work, double *gradient)
{
    BrioEvaluator *e = work->e;
    int64_t packs = e->energy_start[e->term_count];
    work->gradient = true;
    for (int64_t i = 0; i == 0 || i < buffers(e);
         i++) { /* blocks without elements are in the first */
        work->first = i * GRADIENT_PACKS;
        brio__parallel_for(BRIO_MIN((int64_t)GRADIENT_PACKS, packs - work->first), VALUE_PACKS,
                           value_chunk, work);
        GatherWork gather = {e, e->part + e->part_start[i],
                             packs ? gradient_at(e, 0, work->first) : NULL, gradient};
        brio__parallel_for(e->part_start[i + 1] - e->part_start[i], 256, gather_chunk, &gather);
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

/* ---- pattern ---------------------------------------------------------------------------- */

/* Calls use(context, a, b, pair, transposed, weight) for all (coordinate block a, b) that the
 * element's node pair (i, j), i >= j, adds to: block (a, b) of the matrix gets weight times the
 * pair's 3x3 block. Each stored (lower or diagonal) block of the matrix is named once per
 * contribution. */
typedef void PairUse(void *context, int32_t a, int32_t b, int pair, bool transposed, double weight);

static void element_pairs(const BrioSystem *s, const BrioTerm *term, int64_t element, PairUse *use,
                          void *context)
{
    for (int i = 0; i < term->energy->nodes; i++) {
        int32_t vi = brio__term_vertex(term, element, i);
        for (int j = 0; j <= i; j++) {
            int32_t vj = brio__term_vertex(term, element, j);
            for (int32_t k = s->map_start[vi]; k < s->map_start[vi + 1]; k++)
                for (int32_t l = s->map_start[vj]; l < s->map_start[vj + 1]; l++) {
                    int32_t a = s->map_block[k], b = s->map_block[l];
                    if (i == j && b > a) continue; /* the pair (l, k) names the same stored block */
                    double w = s->map_weight[k] * s->map_weight[l];
                    use(context, a, b, brio__pair(i, j), false, w);
                    /* H_ij + H_ji on the diagonal */
                    if (i != j && a == b) use(context, a, b, brio__pair(i, j), true, w);
                }
        }
    }
}

static bool has_hessian(const BrioTerm *term)
{
    return !(term->energy->traits & BRIO_ENERGY_LINEAR) && term->elements > 0;
}

/* Numbers that a pack's Hessians take. */
static int64_t hessian_size(const BrioTerm *term)
{
    return brio__pairs(term->energy->nodes) * 9 * LANES;
}

BrioStatus brio__evaluator_graph(BrioEvaluator *e, int64_t **start_out, int32_t **neighbour_out)
{
    const BrioSystem *s = e->system;
    int32_t n = s->block_count;
    int64_t *start = brio__calloc((size_t)n + 1, sizeof *start);
    int32_t *stamp = brio__alloc((size_t)n, sizeof *stamp), *neighbour = NULL;
    if (!start || !stamp) goto failed;
    for (int pass = 0; pass < 2; pass++) {
        int64_t at = 0;
        for (int32_t b = 0; b < n; b++) stamp[b] = -1;
        for (int32_t b = 0; b < n; b++) {
            stamp[b] = b;
            start[b] = at;
            int t = 0;
            /* entries come term by term */
            for (int64_t k = e->sum_start[b]; k < e->sum_start[b + 1]; k++) {
                int64_t entry = e->sum_entry[k];
                while (entry >= e->gradient_start[t + 1]) t++;
                const BrioTerm *term = &e->term[t];
                if (!has_hessian(term)) continue;
                int64_t place = entry - e->gradient_start[t];
                int64_t element = place / (3 * LANES * term->energy->nodes) * LANES + place % LANES;
                for (int i = 0; i < term->energy->nodes; i++) {
                    int32_t v = brio__term_vertex(term, element, i);
                    for (int32_t m = s->map_start[v]; m < s->map_start[v + 1]; m++) {
                        int32_t other = s->map_block[m];
                        if (stamp[other] == b) continue;
                        stamp[other] = b;
                        if (pass) neighbour[at] = other;
                        at++;
                    }
                }
            }
        }
        start[n] = at;
        if (!pass) {
            neighbour = brio__alloc((size_t)at, sizeof *neighbour);
            if (!neighbour) goto failed;
        }
    }
    brio__free(stamp);
    *start_out = start;
    *neighbour_out = neighbour;
    return BRIO_OK;
failed:
    brio__free(start);
    brio__free(stamp);
    brio__free(neighbour);
    return BRIO_ERROR_MEMORY;
}

typedef struct PlanWork {
    const BrioMatrix *A;
    BrioEvaluator *e;
    int64_t *count;   /* entries of each slot, then where its next entry goes */
    int32_t *slot_of; /* per matrix block: its slot in the current chunk */
    int32_t *stamp;   /* per matrix block: chunk that slot_of belongs to */
    int32_t *column;  /* per matrix block: its column */
    int chunk;
    bool fill, weighted;
    int64_t slots;
    uint32_t base; /* of the element in the chunk's Hessian buffer */
} PlanWork;

static void plan_pair(void *context, int32_t a, int32_t b, int pair, bool transposed, double weight)
{
    PlanWork *w = context;
    bool stored_transposed;
    int64_t pack = brio__matrix_find(w->A, a, b, &stored_transposed);
    if (w->stamp[pack] != w->chunk) { /* first time in this chunk */
        w->stamp[pack] = w->chunk;
        w->slot_of[pack] = (int32_t)(w->slots - w->e->chunk[w->chunk].slot);
        if (w->fill) {
            w->e->slot_target[w->slots] = brio__matrix_slot(w->A, w->column[pack], pack);
            w->e->slot_stride[w->slots] = (int32_t)brio__matrix_stride(w->A, w->column[pack]);
        }
        w->slots++;
    }
    int64_t slot = w->e->chunk[w->chunk].slot + w->slot_of[pack];
    if (!w->fill) return;
    int64_t at = w->count[slot]++;
    if (!w->e->slot_entry) return; /* counting */
    w->e->slot_entry[at] =
        (w->base + (uint32_t)pair * 9 * LANES) | (transposed != stored_transposed ? TRANSPOSED : 0);
    if (w->weighted) w->e->slot_weight[at] = weight;
}

static void plan_pass(PlanWork *w)
{
    BrioEvaluator *e = w->e;
    const BrioSystem *s = e->system;
    for (int64_t b = 0; b < w->A->start[w->A->n]; b++) w->stamp[b] = -1;
    w->slots = 0;
    for (w->chunk = 0; w->chunk < e->chunk_count; w->chunk++) {
        HessianChunk *chunk = &e->chunk[w->chunk];
        chunk->slot = w->slots;
        for (int k = 0; k < chunk->pieces; k++) {
            const Piece *piece = &e->piece[chunk->piece + k];
            const BrioTerm *term = &e->term[piece->term];
            int64_t size = hessian_size(term);
            int64_t end = BRIO_MIN((piece->pack + piece->packs) * LANES, term->elements);
            for (int64_t i = piece->pack * LANES; i < end; i++) {
                w->base = piece->at + (uint32_t)((i / LANES - piece->pack) * size + i % LANES);
                element_pairs(s, term, i, plan_pair, w);
            }
        }
        chunk->slots = w->slots - chunk->slot;
    }
}

static BrioStatus plan_arrays(BrioEvaluator *e, PlanWork *w)
{
    int64_t blocks = w->A->start[w->A->n];
    w->slot_of = brio__alloc((size_t)blocks, sizeof *w->slot_of);
    w->stamp = brio__alloc((size_t)blocks, sizeof *w->stamp);
    w->column = brio__alloc((size_t)blocks, sizeof *w->column);
    e->hessian = brio__alloc((size_t)90 * LANES * CHUNK_PACKS, sizeof(double));
    if (!w->slot_of || !w->stamp || !w->column || !e->hessian) return BRIO_ERROR_MEMORY;
    for (int32_t J = 0; J < w->A->n; J++)
        for (int64_t b = w->A->start[J]; b < w->A->start[J + 1]; b++) w->column[b] = J;
    plan_pass(w); /* how many slots */
    e->slot_total = w->slots;
    e->slot_target = brio__alloc((size_t)e->slot_total, sizeof *e->slot_target);
    e->slot_stride = brio__alloc((size_t)e->slot_total, sizeof *e->slot_stride);
    e->slot_start = brio__alloc((size_t)e->slot_total + 1, sizeof *e->slot_start);
    w->count = brio__calloc((size_t)e->slot_total, sizeof *w->count);
    if (!e->slot_target || !e->slot_stride || !e->slot_start || !w->count) return BRIO_ERROR_MEMORY;
    w->fill = true;
    plan_pass(w); /* how many entries each slot has */
    int64_t total = 0;
    for (int64_t k = 0; k < e->slot_total; k++) {
        e->slot_start[k] = total;
        total += w->count[k];
        w->count[k] = e->slot_start[k];
    }
    e->slot_start[e->slot_total] = total;
    e->slot_entry = brio__alloc((size_t)total, sizeof *e->slot_entry);
    if (w->weighted) e->slot_weight = brio__alloc((size_t)total, sizeof *e->slot_weight);
    if (!e->slot_entry || (w->weighted && !e->slot_weight)) return BRIO_ERROR_MEMORY;
    plan_pass(w); /* the entries */
    return BRIO_OK;
}

/* Whether a term adds to coordinate blocks that are marked with a number; then marks its own. */
static bool mark_blocks(const BrioSystem *s, const BrioTerm *term, int number, int *mark)
{
    bool found = false;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < term->elements; i++)
            for (int k = 0; k < term->energy->nodes; k++) {
                int32_t v = brio__term_vertex(term, i, k);
                for (int32_t m = s->map_start[v]; m < s->map_start[v + 1]; m++) {
                    found |= !pass && mark[s->map_block[m]] == number;
                    if (pass) mark[s->map_block[m]] = number;
                }
            }
    return found;
}

/* Pieces and chunks of the terms that have Hessians. `mark`: the chunk that a coordinate block was
 * last in. */
static void make_chunks(BrioEvaluator *e, int *mark)
{
    HessianChunk *last = NULL;
    uint32_t at = 0;
    for (int32_t b = 0; b < e->system->block_count; b++) mark[b] = -1;
    for (int t = 0; t < e->term_count; t++) {
        const BrioTerm *term = &e->term[t];
        if (!has_hessian(term)) continue;
        bool joins = last && last->packs + term->packs <= CHUNK_PACKS &&
                     !mark_blocks(e->system, term, e->chunk_count - 1, mark);
        for (int64_t pack = 0; pack < term->packs; pack += CHUNK_PACKS) {
            if (!joins) {
                last = &e->chunk[e->chunk_count++];
                *last = (HessianChunk){.piece = e->piece_count};
                at = 0;
            }
            Piece piece = {.term = t,
                           .pack = pack,
                           .packs = BRIO_MIN((int64_t)CHUNK_PACKS, term->packs - pack),
                           .first = last->packs,
                           .at = at};
            e->piece[e->piece_count++] = piece;
            last->pieces++;
            last->packs += piece.packs;
            at += (uint32_t)(piece.packs * hessian_size(term));
        }
        /* what begins a chunk is in it, too */
        if (!joins && last->packs < CHUNK_PACKS)
            mark_blocks(e->system, term, e->chunk_count - 1, mark);
    }
}

BrioStatus brio__evaluator_plan(BrioEvaluator *e, const BrioLinear *linear)
{
    const BrioSystem *s = e->system;
    size_t pieces = 0;
    free_plan(e); /* of a matrix that came to nothing */
    for (int t = 0; t < e->term_count; t++)
        if (has_hessian(&e->term[t]))
            pieces += (size_t)((e->term[t].packs + CHUNK_PACKS - 1) / CHUNK_PACKS);
    int *mark = brio__alloc((size_t)s->block_count, sizeof *mark);
    e->chunk = brio__alloc(pieces, sizeof *e->chunk);
    e->piece = brio__alloc(pieces, sizeof *e->piece);
    PlanWork w = {.A = &linear->A, .e = e, .weighted = !all_weights_one(s)};
    BrioStatus status = mark && e->chunk && e->piece ? BRIO_OK : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK) make_chunks(e, mark);
    if (status == BRIO_OK) status = plan_arrays(e, &w);
    brio__free(mark);
    brio__free(w.slot_of);
    brio__free(w.stamp);
    brio__free(w.column);
    brio__free(w.count);
    if (status != BRIO_OK) free_plan(e);
    return status;
}

/* ---- Hessian ---------------------------------------------------------------------------- */

typedef struct AssembleWork {
    const BrioEvaluator *e;
    const HessianChunk *chunk;
    BrioMatrix *A;
    double weight;
} AssembleWork;

/* Hessians of the packs of a chunk. */
typedef struct KernelWork {
    const BrioEvaluator *e;
    const HessianChunk *chunk;
    const double *param, *x;
    bool project;
} KernelWork;

static void kernel_chunk(void *context, int64_t begin, int64_t end)
{
    const KernelWork *work = context;
    const Piece *piece = work->e->piece + work->chunk->piece;
    while (begin >= piece->first + piece->packs) piece++;
    for (; begin < end; piece++) {
        const BrioTerm *term = &work->e->term[piece->term];
        BrioBatch batch = brio__term_batch(term, work->param, work->x);
        int64_t past = BRIO_MIN(end, piece->first + piece->packs);
        batch.project = work->project;
        batch.begin = piece->pack + begin - piece->first;
        batch.end = piece->pack + past - piece->first;
        batch.hessian = work->e->hessian + piece->at + (begin - piece->first) * hessian_size(term);
        term->energy->eval(&batch);
        begin = past;
    }
}

static void clear_columns(void *context, int64_t begin, int64_t end)
{
    const AssembleWork *work = context;
    BrioMatrix *A = work->A;
    memset(A->value + 9 * A->start[begin], 0,
           (size_t)(9 * (A->start[end] - A->start[begin])) * sizeof(double));
}

static void add_slots(void *context, int64_t begin, int64_t end)
{
    const AssembleWork *work = context;
    const BrioEvaluator *e = work->e;
    for (int64_t k = work->chunk->slot + begin; k < work->chunk->slot + end; k++) {
        double sum[9] = {0}; /* column by column */
        for (int64_t n = e->slot_start[k]; n < e->slot_start[k + 1]; n++) {
            const double *H = e->hessian + (e->slot_entry[n] & ~TRANSPOSED);
            double w = e->slot_weight ? e->slot_weight[n] : 1;
            if (e->slot_entry[n] & TRANSPOSED)
                for (int i = 0; i < 9; i++) sum[i] += w * H[i * LANES];
            else
                for (int c = 0; c < 3; c++)
                    for (int r = 0; r < 3; r++) sum[3 * c + r] += w * H[(3 * r + c) * LANES];
        }
        double *to = work->A->value + e->slot_target[k];
        int64_t stride = e->slot_stride[k];
        for (int c = 0; c < 3; c++)
            for (int r = 0; r < 3; r++) to[c * stride + r] += work->weight * sum[3 * c + r];
    }
}

/* M is diagonal. */
static void add_masses(const BrioSystem *s, double weight, BrioMatrix *A)
{
    if (weight == 0) return;
    for (int32_t b = 0; b < brio__owned(s); b++) {
        int32_t J = A->position[b];
        double *to = A->value + brio__matrix_slot(A, J, A->start[J]);
        int64_t stride = brio__matrix_stride(A, J);
        for (int r = 0; r < 3; r++) to[r * stride + r] += weight * s->mass[b];
    }
}

void brio__assemble_masses(const BrioSystem *system, double mass_weight, BrioLinear *linear)
{
    brio__parallel_for(linear->A.n, 4096, clear_columns, &(AssembleWork){.A = &linear->A});
    if (linear->overlay) brio__overlay_clear(linear->overlay);
    add_masses(system, mass_weight, &linear->A);
}

void brio__assemble_add_masses(const BrioSystem *system, double mass_weight, BrioLinear *linear)
{
    add_masses(system, mass_weight, &linear->A);
}

void brio__assemble_diagonal(const BrioSystem *system, const double *diagonal, double weight,
                             BrioLinear *linear)
{
    BrioMatrix *A = &linear->A;
    for (int32_t b = 0; b < brio__owned(system); b++) {
        int32_t J = A->position[b];
        /* the diagonal comes first */
        int64_t slot = brio__matrix_slot(A, J, A->start[J]), stride = brio__matrix_stride(A, J);
        for (int r = 0; r < 3; r++) A->value[slot + r * stride + r] += weight * diagonal[b];
    }
}

void brio__assemble_add(BrioEvaluator *e, const double *param, const double *x, double weight,
                        bool project, BrioLinear *linear, double seconds[2])
{
    double before = brio__seconds(), kernels = 0;
    AssembleWork work = {.e = e, .A = &linear->A, .weight = weight};
    for (int c = 0; c < e->chunk_count; c++) {
        const HessianChunk *chunk = &e->chunk[c];
        double start = brio__seconds();
        brio__parallel_for(chunk->packs, HESSIAN_PACKS, kernel_chunk,
                           &(KernelWork){e, chunk, param, x, project});
        kernels += brio__seconds() - start;
        work.chunk = chunk;
        brio__parallel_for(chunk->slots, 512, add_slots, &work);
    }
    if (seconds) {
        seconds[0] = kernels;
        seconds[1] = brio__seconds() - before - kernels;
    }
}

void brio__assemble(BrioEvaluator *e, const double *param, const double *x, double mass_weight,
                    double weight, bool project, BrioLinear *linear, double seconds[2])
{
    brio__assemble_masses(e->system, mass_weight, linear);
    brio__assemble_add(e, param, x, weight, project, linear, seconds);
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
