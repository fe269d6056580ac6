/* The levels of the multilevel preconditioner: what its files share.
 *
 *     aggregate.c   the graph part: aggregates, patterns, places (once for a pattern)
 *     subset.c      blocks that are solved together, directly
 *     galerkin.c    the numbers: rigid motions, interpolation, coarse matrices (for each matrix)
 *     cycle.c       the smoother and the cycle
 *     multilevel.c  the solver
 *
 * Level 0 has the blocks of the matrix, 3 scalars each; a block of a coarser level is an aggregate
 * of blocks of the level before, with 6 scalars. Blocks of a matrix, of the interpolation P and of
 * the product A P are stored by rows of blocks; a block of `value` by columns, all others by
 * rows. Arrays that are read four or eight numbers at a time end with PADDING. */
#ifndef BRIO_MULTILEVEL_H
#define BRIO_MULTILEVEL_H

#include "linear.h"

enum {
    BRIO_MODES = 6,       /* of a rigid body: scalars of a coarse block */
    BRIO_MAX_LEVELS = 16, /* never reached: each has a fraction of the blocks of the one before */
    BRIO_MAX_P_ROW = 32,  /* blocks of a row of P: one that would have more is not smoothed */
    BRIO_PADDING = 8
};

/* Some blocks of a level, and the direct solver for their part of its matrix. */
typedef struct BrioSubset {
    BrioLinear *linear; /* NULL: no blocks */
    int32_t count;
    int32_t *member; /* ascending */
    int32_t *index;  /* of each block of the level among the members; -1: none */
    double *x;
    float *kept; /* room for the members' part of a vector */
} BrioSubset;

typedef struct BrioLevel {
    int32_t n; /* blocks */
    int size;  /* scalars of a block: 3 or 6 */
    /* the matrix: both triangles by rows, columns ascending */
    int64_t *start;
    int32_t *column;
    int64_t *diagonal; /* n: which of the blocks */
    float *value;
    double *exact;  /* of coarse levels: the same numbers, for the coarser ones */
    float *inverse; /* n: of the diagonal blocks */
    /* blocks that contacts join: one block of D; of the coarsest level: all */
    BrioSubset joined;
    double radius; /* estimate of the largest eigenvalue of D^-1 A */
    /* n: where the block is, and its motion (size x 6) if the body moves rigidly about there */
    double *centre, *motion;
    /* the rest is of all levels but the coarsest */
    int32_t coarse;     /* aggregates */
    int32_t *aggregate; /* n: of each block */
    int32_t *member_start, *member;
    float *tentative; /* n: orthonormal columns of rigid motions, size x 6 */
    /* P, size x 6 blocks */
    int64_t *p_start;
    int32_t *p_column;
    float *p;
    int32_t *p_place; /* for each block of A: of its column's aggregate in the row of P; -1: none */
    /* A P, size x 6 blocks; their places, for each block of A each block of P in its column's row
     */
    int64_t *ap_start, *ap_place_start;
    int32_t *ap_place;
    /* P by columns: for each aggregate the blocks of P, with their rows; and of each of these the
     * places of that row of A P in the row of the coarse matrix */
    int64_t *column_start, *entry, *coarse_place_start;
    int32_t *entry_row, *coarse_place;
    /* vectors of the cycle */
    float *b, *x, *y, *d;
} BrioLevel;

struct BrioMultilevelKernels;

typedef struct BrioHierarchy {
    const struct BrioMultilevelKernels *kernels;
    int levels;
    BrioLevel level[BRIO_MAX_LEVELS];
    /* of the finest level: what joined blocks leave of a vector, and their part of it; NULL: there
     * are none */
    double *rest, *before;
    double *ap;   /* A P of the current level */
    double scale; /* of the finest matrix, so that single precision has room: a power of 2 */
    double bytes;
} BrioHierarchy;

/* Blocks of a matrix with places for `added` blocks that are no part of a body (contacts): keys
 * (larger coordinate block << 32) | smaller, ascending. */
BrioStatus brio__hierarchy_create(const BrioMatrix *A, const uint64_t *added, int64_t added_count,
                                  BrioHierarchy *h);
void brio__hierarchy_free(BrioHierarchy *h);

/* All numbers. `position`: 3 for each coordinate block, NULL if unknown. NOT_POSITIVE_DEFINITE if
 * that shows. */
BrioStatus brio__hierarchy_factor(BrioHierarchy *h, const BrioMatrix *A, const double *position);

/* z = P r. A: what was factored. */
void brio__hierarchy_apply(BrioHierarchy *h, const BrioMatrix *A, const double *r, double *z);

/* Of the blocks with chosen[i]; NULL: of all. Adds to bytes. */
BrioStatus brio__subset_create(const BrioLevel *l, const bool *chosen, BrioSubset *s,
                               double *bytes);
void brio__subset_free(BrioSubset *s);
/* A: of the finest level. */
BrioStatus brio__subset_factor(BrioSubset *s, const BrioLevel *l, const BrioMatrix *A,
                               double scale);
/* The members' part of `to` from theirs of `from`. */
void brio__subset_solve(BrioSubset *s, const BrioLevel *l, const float *from, float *to);
/* Of the finest level, in double: z_S += what makes the members' part of r - A z zero; and, if
 * there is such a vector, changed -= A times that. */
void brio__subset_correct(BrioSubset *s, const BrioMatrix *A, double scale, const double *r,
                          double *z, double *changed);

/* Estimates the radius of a level whose matrix and inverse are there; false if the matrix has a
 * direction of negative curvature. */
bool brio__level_radius(const struct BrioMultilevelKernels *kernels, BrioLevel *level);

/* What takes the time, for each instruction set: [begin, end) of the rows. */
typedef struct BrioMultilevelKernels {
    /* d = keep d + step D^-1 (b - A x), y = x + d */
    void (*smooth)(const BrioLevel *l, float keep, float step, int64_t begin, int64_t end);
    /* y = factor b - A x */
    void (*residual)(const BrioLevel *l, float factor, int64_t begin, int64_t end);
    /* x += P times x of the coarser level */
    void (*interpolate)(const BrioLevel *l, const float *from, int64_t begin, int64_t end);
    /* P = (I - damping D^-1 A) times the tentative one; A: of level 0, else NULL */
    void (*interpolation)(const BrioLevel *l, const BrioMatrix *A, double scale, double damping,
                          int64_t begin, int64_t end);
    /* A P */
    void (*product)(const BrioLevel *l, const BrioMatrix *A, double scale, double *ap,
                    int64_t begin, int64_t end);
    /* rows of the coarse matrix, P^T A P */
    void (*coarse)(const BrioLevel *l, const double *ap, const BrioLevel *coarse, int64_t begin,
                   int64_t end);
} BrioMultilevelKernels;

const BrioMultilevelKernels *brio__multilevel_kernels(void);

#endif
