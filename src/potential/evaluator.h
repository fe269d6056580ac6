/* What elements.c and hessian.c share: the evaluator. */
#ifndef BRIO_EVALUATOR_H
#define BRIO_EVALUATOR_H

#include "elements.h"

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
    double *gradient;        /* of GRADIENT_PACKS packs, and of those after them */
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

static inline bool brio__all_weights_one(const BrioSystem *s)
{
    for (int32_t k = 0; k < s->map_start[s->vertex_count]; k++)
        if (s->map_weight[k] != 1) return false;
    return true;
}

/* Forgets where Hessians go. */
void brio__evaluator_free_plan(BrioEvaluator *evaluator);

#endif
