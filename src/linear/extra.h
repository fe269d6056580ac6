/* Blocks that come and go beside the fixed pattern of a matrix: contacts.
 *
 * The matrix A keeps its pattern, its order and the places that elements were planned into. Extra
 * blocks are summed here, in a table keyed by their two coordinate blocks; a factorisation then
 * takes the joined matrix, A and the extra blocks together, which has a pattern, an order and a
 * solver of its own. It is analysed again only when a block appears that neither it nor A has a
 * place for, and gets an order of its own only if those made from A's cost too many operations.
 * Keys stay until brio__extra_forget, and brio__extra_reserve makes places for blocks that are
 * likely to come.
 *
 * What is factored must be a function of the step alone, not of what came before it, so a step
 * begins by forgetting all keys; a joined matrix that has just the right pattern is taken again,
 * which gives the same bits as making it anew. */
#ifndef BRIO_EXTRA_H
#define BRIO_EXTRA_H

#include "linear.h"

typedef struct BrioExtra BrioExtra;

BrioStatus brio__extra_create(BrioExtra **extra);
void brio__extra_free(BrioExtra *extra);

void brio__extra_forget(BrioExtra *extra); /* no keys */
void brio__extra_clear(BrioExtra *extra);  /* keys stay, values are zero */
/* Block (a, b) += H, row by row, and by symmetry (b, a) += H^T; for a == b, H is symmetric. */
BrioStatus brio__extra_add(BrioExtra *extra, int32_t a, int32_t b, const double H[9]);
BrioStatus brio__extra_reserve(BrioExtra *extra, int32_t a, int32_t b);
/* something was added since it was cleared */
bool brio__extra_any(const BrioExtra *extra);
/* all keys have places in the joined matrix */
bool brio__extra_fits(const BrioExtra *extra);

/* The blocks that there are, in the order in which they came: block (a, b), a >= b, row by row. */
int64_t brio__extra_count(const BrioExtra *extra);
const double *brio__extra_at(const BrioExtra *extra, int64_t i, int32_t *a, int32_t *b);
/* y += the extra blocks times x, both in elimination order, y apart from x. `position`: of each
 * coordinate block there. */
void brio__extra_multiply_add(const BrioExtra *extra, const int32_t *position, const double *x,
                              double *y);
/* Somebody else has made places for all of them. */
void brio__extra_settle(BrioExtra *extra, double seconds);

/* How often a pattern was analysed, and how long that took in all. */
int64_t brio__extra_analyses(const BrioExtra *extra, double *seconds);

/* The joined matrix with the values of A and the extra blocks, ready to be factored. */
BrioStatus brio__extra_join(BrioExtra *extra, const BrioLinear *linear, BrioLinear **joined);

#endif
