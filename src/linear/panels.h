/* The pattern of a Cholesky factor L by supernodes, and the tree in which they are eliminated.
 *
 * Block columns of L with (nearly) the same pattern form a supernode, whose part of L is one dense
 * panel. Blocks have `block` x `block` scalars, 3 or 1. */
#ifndef BRIO_PANELS_H
#define BRIO_PANELS_H

#include "linear.h"

/* Supernode s has the block columns [first[s], first[s+1]), and its panel of L the block rows
 * row[row_start[s]] ..., ascending, its own columns first. Scalar columns follow each other from
 * value[panel[s]] on, each as long as the panel is high; above the diagonal stands no number of
 * use. */
typedef struct BrioPanels {
    int block;
    int32_t n, count; /* block columns, supernodes */
    int32_t *first;   /* count+1 */
    int32_t *owner;   /* n: supernode of a block column */
    int64_t *row_start;
    int32_t *row;
    int64_t *panel;          /* count+1 */
    double *value;           /* the numbers of whoever factorises */
    double blocks;           /* of L, without the zeros that supernodes add */
    double flops;            /* of a factorisation */
    int32_t tallest, widest; /* block rows and columns of a panel, at most */
} BrioPanels;

/* A's pattern counts, in blocks; its values are laid out as linear.h says. */
BrioStatus brio__panels_create(const BrioMatrix *A, int block, BrioPanels *panels);
void brio__panels_free(BrioPanels *panels);
double brio__panels_bytes(const BrioPanels *panels);

/* Memory for numbers, in large pages if the system has them and `count` is large: a factor is read
 * and written at strides that small pages make slow. Not cleared; NULL: there is none. */
double *brio__panels_memory(int64_t count);

/* The strict lower triangle by rows, from which the elimination tree is computed. Free it also
 * after a failure. */
typedef struct BrioLower {
    int64_t *start;
    int32_t *column;
} BrioLower;
BrioStatus brio__lower_create(const BrioMatrix *A, BrioLower *rows);
void brio__lower_free(BrioLower *rows);
/* Elimination tree and number of blocks in each column of L: row I of L holds the columns on the
 * paths from the columns of A's row I up to I [Liu1990]. Returns the sum, and stops when it is more
 * than `max`. */
double brio__count_columns(int32_t n, const BrioLower *rows, double max, int32_t *parent,
                           int32_t *count, int32_t *mark);

/* In blocks. */
static inline int32_t brio__panel_width(const BrioPanels *L, int32_t s)
{
    return L->first[s + 1] - L->first[s];
}
static inline int32_t brio__panel_height(const BrioPanels *L, int32_t s)
{
    return (int32_t)(L->row_start[s + 1] - L->row_start[s]);
}

/* map[row] = its place in the panel of s. */
void brio__panel_map(const BrioPanels *L, int32_t s, int32_t *map);
/* The values of A in block columns [begin, end) of the panel of s, and zeros in between. */
void brio__panel_load(const BrioPanels *L, const BrioMatrix *A, int32_t s, const int32_t *map,
                      int32_t begin, int32_t end);

/* The first of the ascending rows [low, high) that is not less than `value`. */
static inline int32_t brio__first_row(const int32_t *row, int32_t low, int32_t high, int32_t value)
{
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (row[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- the tree --------------------------------------------------------------------------- */

/* Supernodes sequence[first .. last], of which the last is the root. */
typedef struct BrioSubtree {
    int32_t first, last;
    double cost;
} BrioSubtree;

typedef enum BrioPanelsKind { BRIO_IN_SUBTREE, BRIO_SUBTREE_ROOT, BRIO_TREE_TOP } BrioPanelsKind;

/* The tree of supernodes, cut into subtrees, none of which is more than a fixed fraction of the
 * cost, and the top that joins them. Subtrees know nothing of each other. The cuts are a function
 * of the pattern. */
typedef struct BrioPanelsTree {
    int32_t *parent;      /* -1: a root */
    int32_t *child_start; /* count+1: into child */
    int32_t *child;       /* ascending */
    int32_t *sequence;    /* supernodes, children first, subtrees together */
    int8_t *kind;         /* BrioPanelsKind */
    int32_t subtrees, tops;
    BrioSubtree *subtree; /* the costliest first */
    int32_t *top;         /* children first */
} BrioPanelsTree;

/* cost: of each supernode. `shared`: whether it is cut at all. */
BrioStatus brio__panels_tree(const BrioPanels *L, const double *cost, bool shared,
                             BrioPanelsTree *tree);
void brio__panels_tree_free(BrioPanelsTree *tree);

/* ---- threads ---------------------------------------------------------------------------- */

enum { BRIO_MAX_WORKERS = 16 };
/* How many threads may be at work, each with memory of its own. */
int brio__workers(void);
/* Calls task(context, worker, i) for i in [0, count): workers take the next one when they have
 * time, until one has failed. Returns false if one did. */
typedef bool BrioTask(void *context, int worker, int32_t i);
bool brio__distribute(int workers, int64_t count, BrioTask *task, void *context);

#endif
