/* Linear solvers for symmetric positive definite matrices of 3x3 blocks.
 *
 * Three phases, as in CHOLMOD: create (order and analyse the pattern, once), factor (the numbers,
 * often), solve (k right-hand sides). To add a solver: write one file with a BrioLinearType and one
 * line in list.def.
 *
 * The matrix keeps the lower triangle by block columns *in the solver's elimination order*, so that
 * a factorisation reads it as it is: no copy, no transpose, no allocation. Diagonal blocks are
 * stored in full. Inside block column J, which has count = start[J+1]-start[J] blocks, the three
 * scalar columns follow each other, each 3*count long: entry (r,c) of the k-th block of the column
 * stands at
 *
 *     9*start[J] + 3*count*c + 3*k + r.
 *
 * This is scalar compressed-column storage of the lower triangle (the strictly upper entries of the
 * diagonal blocks are there, and are ignored by stype < 0). */
#ifndef BRIO_LINEAR_H
#define BRIO_LINEAR_H

#include "../partition.h"

/* A block left of the diagonal, seen from its row. */
typedef struct BrioLeftBlock {
    int64_t slot;   /* where it lies in value[] */
    int32_t column; /* block column */
    int32_t stride; /* between its scalar columns */
} BrioLeftBlock;

typedef struct BrioMatrix {
    int32_t n;         /* block rows and columns */
    int64_t *start;    /* n+1: first block of each column */
    int32_t *row;      /* block row of each block: ascending in a column, the diagonal first */
    double *value;     /* 9*start[n] */
    int32_t *position; /* n: elimination position of coordinate block b */
    /* n+1, and the blocks left of the diagonal of each row, ascending: only for */
    int64_t *left_start;
    BrioLeftBlock *left; /* products; NULL until brio__matrix_rows is called */
} BrioMatrix;

/* Where a block lies in value[] and the distance between its scalar columns. */
static inline int64_t brio__matrix_slot(const BrioMatrix *A, int32_t J, int64_t block)
{
    return 9 * A->start[J] + 3 * (block - A->start[J]);
}
static inline int64_t brio__matrix_stride(const BrioMatrix *A, int32_t J)
{
    return 3 * (A->start[J + 1] - A->start[J]);
}

/* Index of block (row, column) given in *coordinate* numbers (either order); -1 if not in the
 * pattern. `transposed` is set if the stored block is the transpose. */
int64_t brio__matrix_find(const BrioMatrix *A, int32_t row, int32_t column, bool *transposed);

BrioStatus brio__matrix_rows(BrioMatrix *A);
/* y = A x in elimination order, y apart from x; threaded if the rows are there, with the same bits
 * if not. */
void brio__matrix_multiply(const BrioMatrix *A, const double *x, double *y);
/* Block J of it; needs the rows. */
void brio__matrix_row(const BrioMatrix *A, int32_t J, const double *x, double y[3]);

typedef struct BrioLinearOptions {
    /* relative residual (preconditioned norm) for iterative solvers; 0: their default */
    double tol;
    int max_iterations; /* 0: their default */
    /* of a matrix whose rows several processes hold; only solvers that are `distributed` take
     * one */
    BrioPartition *partition;
    /* 3 for each coordinate block, as they are when a matrix is factored: rigid motions, near which
     * it is weak, are made of them; NULL: unknown */
    const double *position;
    /* the matrix is near the one that was factored before: a preconditioner of that may be kept */
    bool near;
    /* blocks of the pattern that are no part of a body but contacts, which come and go: keys
     * (larger coordinate block << 32) | smaller, ascending; for create only */
    const uint64_t *added;
    int64_t added_count;
    const char *text; /* more options, of solvers that take them; NULL: none */
} BrioLinearOptions;

typedef struct BrioLinearStats {
    double factor_nonzeros; /* of L, 0 for iterative solvers */
    double factor_flops;
    double bytes;       /* allocated by the solver, without the matrix */
    int64_t iterations; /* total so far */
} BrioLinearStats;

struct BrioOverlay;

typedef struct BrioLinearType {
    const char *name, *summary, *citation;
    /* Elimination order of the graph given by full adjacency (start, neighbour, no diagonal):
     * order[k] = block eliminated k-th. NULL: keep the given order. */
    BrioStatus (*order)(int32_t n, const int64_t *start, const int32_t *neighbour, int32_t *order);
    BrioStatus (*create)(const BrioMatrix *A, const BrioLinearOptions *options, void **self);
    /* may be NOT_POSITIVE_DEFINITE */
    BrioStatus (*factor)(void *self, const BrioMatrix *A);
    /* in place, elimination order, k x 3n; may be NOT_CONVERGED */
    BrioStatus (*solve)(void *self, const BrioMatrix *A, int k, double *x);
    void (*stats)(const void *self, BrioLinearStats *stats);
    void (*destroy)(void *self);
    bool inexact;    /* Newton may ask for less accuracy than options.tol while it is far away */
    bool multiplies; /* calls brio__matrix_multiply: the matrix comes with its rows */
    /* Of a solver for several processes: adds up the contributions to A that they have, and the
     * blocks outside its pattern (which may be NULL). Instead of factor; may change values of A. */
    BrioStatus (*factor_partitions)(void *self, BrioMatrix *A, struct BrioOverlay *overlay);
} BrioLinearType;

const BrioLinearType *brio__linear_type(const char *name); /* NULL: none of that name */
const BrioLinearType *brio__linear_at(int i);

/* A matrix and its solver. */
typedef struct BrioLinear {
    const BrioLinearType *type;
    BrioMatrix A;
    void *self;
    BrioLinearOptions options;
    double *permuted;            /* scratch for right-hand sides */
    int columns;                 /* that it holds, two at least */
    struct BrioOverlay *overlay; /* blocks outside the pattern of A (overlay.h); NULL: never any */
    struct BrioLinear *factored; /* what the last factorisation took: this, or the joined matrix */
    int64_t joined_iterations;   /* of all joined matrices that there were */
    /* of coordinate blocks: bits of coordinates that do not move, whose rows and columns count as
     * zero off the diagonal; NULL: all move. The caller keeps it. */
    const uint8_t *axes;
    uint8_t *eliminated; /* the same in elimination order, while it is factored */
} BrioLinear;

/* Makes the matrix with the pattern of the symmetric graph (full adjacency without diagonal; rows
 * need not be sorted) and lets the solver order and analyse it. */
BrioStatus brio__linear_create(const BrioLinearType *type, const BrioLinearOptions *options,
                               int32_t n, const int64_t *start, const int32_t *neighbour,
                               BrioLinear **linear);
/* The same with a given elimination order, for one who knows a good one. */
BrioStatus brio__linear_create_ordered(const BrioLinearType *type, const BrioLinearOptions *options,
                                       int32_t n, const int64_t *start, const int32_t *neighbour,
                                       const int32_t *order, BrioLinear **linear);
/* Of A and its overlay blocks. NOT_POSITIVE_DEFINITE, or NOT_FINITE if a value of the matrix is
 * not. */
BrioStatus brio__linear_factor(BrioLinear *linear);
/* x = A^-1 b for k right-hand sides in coordinate order (each 3n long); x may be b. */
BrioStatus brio__linear_solve(BrioLinear *linear, int k, const double *b, double *x);
void brio__linear_stats(const BrioLinear *linear, BrioLinearStats *stats);
/* What was factored last is solved iteratively. */
bool brio__linear_iterates(const BrioLinear *linear);
void brio__linear_free(BrioLinear *linear);

/* y = A x in coordinate order, overlay blocks included; y may be x; the same bits for any number of
 * threads. */
void brio__linear_multiply(BrioLinear *linear, const double *x, double *y);

/* The BLAS behind a direct solver: "OpenBLAS SkylakeX, 1 thread". For reports. */
const char *brio__blas_name(void);

#endif
