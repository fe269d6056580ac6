/* Sums over elements: energies, gradients gathered per coordinate block, Hessians gathered per
 * matrix block, limits of steps; all in an order fixed when the evaluator is made (elements.h). */
#include "elements.h"

#include "../linear/overlay.h"

#include <float.h>
#include <string.h>

/* Kernel calls cover VALUE_PACKS packs of eight elements for values and gradients, HESSIAN_PACKS
 * for Hessians: some tens of microseconds each, which waking a thread is worth. Hessians are formed
 * CHUNK_PACKS at a time into a buffer that stays in the cache (90 lanes a tet: 1.5 MB) and summed
 * from there: memory for all element Hessians at once would be 720 bytes per tet. */
enum { VALUE_PACKS = 128, HESSIAN_PACKS = 32, CHUNK_PACKS = 256 };

#define TRANSPOSED 0x80000000u

/* A chunk of one term's packs and the matrix blocks that it adds to. */
typedef struct HessianChunk {
    int term;
    int64_t block, blocks;
    int64_t slot, slots; /* range in the slot arrays */
} HessianChunk;

typedef struct FixedNode {
    int64_t element, fixed; /* which of the system's fixed vertices */
    int term, node;
    double weight; /* of the fixed vertex in the node */
} FixedNode;

struct BrioEvaluator {
    const BrioSystem *system;
    const BrioTerm *term;
    int term_count;
    int64_t *energy_start;   /* per term: first pack in energy[] */
    int64_t *gradient_start; /* per term: first double in gradient[] */
    double *energy;          /* of every pack of every term */
    double *gradient;        /* of every element */
    double *magnitude;       /* per term: the sum of its elements' */
    double *linear;          /* the gradient of terms that are linear in positions, */
    double *linear_with;     /* with these parameters, */
    bool linear_ready;       /* once it has been asked for */
    double *limit_step;      /* of every kernel call: results of max_step */
    int64_t *limit_element;
    /* gradient sums: coordinate block b adds gradient[entry], +8, +16 for entries start[b] ..
     * start[b+1] */
    int64_t *sum_start;
    uint32_t *sum_entry;
    double *sum_weight; /* NULL: all 1 */
    /* nodes that are fixed vertices, in the order of terms and elements */
    int64_t fixed_total;
    FixedNode *fixed;
    /* Hessian sums */
    int chunk_count;
    HessianChunk *chunk;
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
        int64_t calls = 0, linear_params = 0;
        for (int t = 0; t < e->term_count; t++) {
            const BrioTerm *term = &e->term[t];
            e->energy_start[t + 1] = e->energy_start[t] + term->packs;
            e->gradient_start[t + 1] =
                e->gradient_start[t] + term->packs * LANES * 3 * term->energy->nodes;
            calls = BRIO_MAX(calls, term->packs / VALUE_PACKS + 1);
            if (term->energy->traits & BRIO_ENERGY_LINEAR)
                linear_params += term->energy->params + term->packs * term->energy->live * LANES;
        }
        if (e->gradient_start[e->term_count] > UINT32_MAX) status = BRIO_ERROR_TOO_LARGE;
        e->energy = brio__alloc((size_t)e->energy_start[e->term_count], sizeof(double));
        e->gradient = brio__alloc((size_t)e->gradient_start[e->term_count], sizeof(double));
        e->limit_step = brio__alloc((size_t)calls, sizeof(double));
        e->limit_element = brio__alloc((size_t)calls, sizeof(int64_t));
        e->linear = brio__calloc(3 * (size_t)system->block_count, sizeof(double));
        e->linear_with = brio__calloc((size_t)linear_params, sizeof(double));
        if (!e->energy || !e->gradient || !e->limit_step || !e->limit_element || !e->linear ||
            !e->linear_with)
            status = BRIO_ERROR_MEMORY;
    }
    if (status == BRIO_OK) add_magnitudes(e);
    if (status == BRIO_OK) status = plan_gradient(e);
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
    brio__free(e->hessian);
    brio__free(e->slot_target);
    brio__free(e->slot_stride);
    brio__free(e->slot_start);
    brio__free(e->slot_entry);
    brio__free(e->slot_weight);
    e->chunk = NULL;
    e->hessian = e->slot_weight = NULL;
    e->slot_target = e->slot_start = NULL;
    e->slot_stride = NULL;
    e->slot_entry = NULL;
    e->chunk_count = 0;
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
    brio__free(e->limit_step);
    brio__free(e->limit_element);
    brio__free(e->sum_start);
    brio__free(e->sum_entry);
    brio__free(e->sum_weight);
    brio__free(e->fixed);
    brio__free(e);
}

/* ---- value and gradient ----------------------------------------------------------------- */

typedef struct KernelWork {
    BrioEvaluator *e;
    const BrioTerm *term;
    BrioBatch batch;
    double *hessian; /* of the chunk that starts at first_pack */
    int64_t first_pack;
} KernelWork;

static void kernel_chunk(void *context, int64_t begin, int64_t end)
{
    const KernelWork *work = context;
    BrioBatch batch = work->batch;
    batch.begin = work->first_pack + begin;
    batch.end = work->first_pack + end;
    if (work->hessian)
        batch.hessian = work->hessian + begin * brio__pairs(work->term->energy->nodes) * 9 * LANES;
    work->term->energy->eval(&batch);
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
    double *out;
} GatherWork;

static void gather_chunk(void *context, int64_t begin, int64_t end)
{
    const GatherWork *work = context;
    const BrioEvaluator *e = work->e;
    for (int64_t b = begin; b < end; b++) {
        double sum[3] = {0, 0, 0};
        for (int64_t k = e->sum_start[b]; k < e->sum_start[b + 1]; k++) {
            const double *g = e->gradient + e->sum_entry[k];
            double w = e->sum_weight ? e->sum_weight[k] : 1;
            sum[0] += w * g[0];
            sum[1] += w * g[LANES];
            sum[2] += w * g[2 * LANES];
        }
        for (int r = 0; r < 3; r++) work->out[3 * b + r] = sum[r];
    }
}

double brio__evaluate(BrioEvaluator *e, const double *param, const double *x, double *gradient,
                      double *term_energy)
{
    const BrioSystem *s = e->system;
    double total = 0;
    for (int t = 0; t < e->term_count; t++) {
        const BrioTerm *term = &e->term[t];
        KernelWork work = {.e = e, .term = term, .batch = brio__term_batch(term, param, x)};
        work.batch.energy = e->energy + e->energy_start[t];
        work.batch.gradient = gradient ? e->gradient + e->gradient_start[t] : NULL;
        brio__parallel_for(term->packs, VALUE_PACKS, kernel_chunk, &work);
        double sum = brio__parallel_sum(term->packs, sum_packs, work.batch.energy);
        if (term_energy) term_energy[t] = sum;
        total += sum;
    }
    if (gradient)
        brio__parallel_for(s->block_count, 1024, gather_chunk, &(GatherWork){e, gradient});
    return total;
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
        KernelWork work = {.e = e, .term = term, .batch = brio__term_batch(term, param, x)};
        work.batch.gradient = e->gradient + e->gradient_start[t];
        brio__parallel_for(term->packs, VALUE_PACKS, kernel_chunk, &work);
        for (int64_t i = 0; i < term->elements; i++)
            for (int k = 0; k < nodes; k++) {
                const double *g =
                    work.batch.gradient + (i / LANES * nodes + k) * 3 * LANES + i % LANES;
                int32_t v = brio__term_vertex(term, i, k);
                for (int32_t m = s->map_start[v]; m < s->map_start[v + 1]; m++)
                    for (int r = 0; r < 3; r++)
                        e->linear[3 * (int64_t)s->map_block[m] + r] +=
                            s->map_weight[m] * g[r * LANES];
            }
    }
    return e->linear;
}

void brio__fixed_gradient(BrioEvaluator *e, const double *param, const double *x, double *gradient)
{
    int64_t done = -1; /* pack of eight, of the term before */
    for (int64_t i = 0; i < e->fixed_total; i++) {
        const FixedNode *at = &e->fixed[i];
        const BrioTerm *term = &e->term[at->term];
        int64_t pack = at->element / LANES;
        double *elements = e->gradient + e->gradient_start[at->term];
        if (i == 0 || at->term != at[-1].term) done = -1;
        if (pack != done) {
            KernelWork work = {.e = e, .term = term, .batch = brio__term_batch(term, param, x)};
            work.batch.gradient = elements;
            kernel_chunk(&work, pack, pack + 1);
            done = pack;
        }
        const double *g =
            elements + (pack * term->energy->nodes + at->node) * 3 * LANES + at->element % LANES;
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
        const BrioTerm *term = &e->term[chunk->term];
        int size = brio__pairs(term->energy->nodes) * 9 * LANES;
        chunk->slot = w->slots;
        int64_t end = BRIO_MIN((chunk->block + chunk->blocks) * LANES, term->elements);
        for (int64_t i = chunk->block * LANES; i < end; i++) {
            w->base = (uint32_t)((i / LANES - chunk->block) * size + i % LANES);
            element_pairs(s, term, i, plan_pair, w);
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

BrioStatus brio__evaluator_plan(BrioEvaluator *e, const BrioLinear *linear)
{
    const BrioSystem *s = e->system;
    int chunks = 0;
    free_plan(e); /* of a matrix that came to nothing */
    for (int t = 0; t < e->term_count; t++)
        if (has_hessian(&e->term[t]))
            chunks += (int)((e->term[t].packs + CHUNK_PACKS - 1) / CHUNK_PACKS);
    e->chunk = brio__alloc((size_t)chunks, sizeof *e->chunk);
    if (!e->chunk) return BRIO_ERROR_MEMORY;
    for (int t = 0; t < e->term_count; t++)
        for (int64_t b = 0; has_hessian(&e->term[t]) && b < e->term[t].packs; b += CHUNK_PACKS)
            e->chunk[e->chunk_count++] =
                (HessianChunk){.term = t,
                               .block = b,
                               .blocks = BRIO_MIN((int64_t)CHUNK_PACKS, e->term[t].packs - b)};
    PlanWork w = {.A = &linear->A, .e = e, .weighted = !all_weights_one(s)};
    BrioStatus status = plan_arrays(e, &w);
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
        const BrioTerm *term = &e->term[chunk->term];
        double start = brio__seconds();
        KernelWork kernel = {.e = e,
                             .term = term,
                             .batch = brio__term_batch(term, param, x),
                             .hessian = e->hessian,
                             .first_pack = chunk->block};
        kernel.batch.project = project;
        brio__parallel_for(chunk->blocks, HESSIAN_PACKS, kernel_chunk, &kernel);
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
    const KernelWork *work = context;
    BrioBatch batch = work->batch;
    batch.begin = begin;
    batch.end = end;
    int64_t element = -1;
    work->e->limit_step[begin / VALUE_PACKS] = work->term->energy->max_step(&batch, &element);
    work->e->limit_element[begin / VALUE_PACKS] = element;
}

double brio__max_step(BrioEvaluator *e, const double *param, const double *x, const double *dx,
                      BrioLimit *limit)
{
    double min = 1;
    limit->term = NULL;
    for (int t = 0; t < e->term_count; t++) {
        const BrioTerm *term = &e->term[t];
        if (!term->energy->max_step) continue;
        KernelWork work = {.e = e, .term = term, .batch = brio__term_batch(term, param, x)};
        work.batch.dx = dx;
        brio__parallel_for(term->packs, VALUE_PACKS, limit_chunk, &work);
        for (int64_t i = 0; i * VALUE_PACKS < term->packs; i++)
            if (e->limit_step[i] < min) {
                min = e->limit_step[i];
                *limit = (BrioLimit){.term = term,
                                     .element = BRIO_MIN(e->limit_element[i], term->elements - 1)};
            }
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
