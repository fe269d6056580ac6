/* Hessians of elements, gathered per matrix block in an order fixed when the plan is made
 * (elements.h). */
#include "evaluator.h"

#include "../linear/overlay.h"

#include <string.h>

/* Kernel calls cover HESSIAN_PACKS packs of eight elements: some tens of microseconds each, which
 * waking a thread is worth. Hessians are formed up to CHUNK_PACKS at a time into a buffer that
 * stays in the cache (90 lanes a tet: 1.5 MB) and summed from there: memory for all element
 * Hessians at once would be 720 bytes per tet. */
enum { HESSIAN_PACKS = 32, CHUNK_PACKS = 256 };

#define TRANSPOSED 0x80000000u

void brio__evaluator_free_plan(BrioEvaluator *e)
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
    brio__evaluator_free_plan(e); /* of a matrix that came to nothing */
    for (int t = 0; t < e->term_count; t++)
        if (has_hessian(&e->term[t]))
            pieces += (size_t)((e->term[t].packs + CHUNK_PACKS - 1) / CHUNK_PACKS);
    int *mark = brio__alloc((size_t)s->block_count, sizeof *mark);
    e->chunk = brio__alloc(pieces, sizeof *e->chunk);
    e->piece = brio__alloc(pieces, sizeof *e->piece);
    PlanWork w = {.A = &linear->A, .e = e, .weighted = !brio__all_weights_one(s)};
    BrioStatus status = mark && e->chunk && e->piece ? BRIO_OK : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK) make_chunks(e, mark);
    if (status == BRIO_OK) status = plan_arrays(e, &w);
    brio__free(mark);
    brio__free(w.slot_of);
    brio__free(w.stamp);
    brio__free(w.column);
    brio__free(w.count);
    if (status != BRIO_OK) brio__evaluator_free_plan(e);
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
