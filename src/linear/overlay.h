/* Blocks outside the fixed pattern of a matrix, which change with contacts.
 *
 * The matrix A keeps its pattern, its order and the places that elements were planned into. Overlay
 * blocks are summed here, in a table keyed by their two coordinate blocks; a factorisation then
 * takes the joined matrix, A and the overlay blocks together, which has a pattern, an order and a
 * solver of its own. It is analysed again only when a block appears that neither it nor A has a
 * place for, and gets an order of its own only if those made from A's cost too many operations.
 * Keys stay until brio__overlay_forget, and brio__overlay_reserve makes places for blocks that are
 * likely to come.
 *
 * What is factored must be a function of the step alone, not of what came before it, so a step
 * begins by forgetting all keys; a joined matrix that has just the right pattern is taken again,
 * which gives the same bits as building it again. */
#ifndef BRIO_OVERLAY_H
#define BRIO_OVERLAY_H

#include "linear.h"

typedef struct BrioOverlay BrioOverlay;

BrioStatus brio__overlay_create(BrioOverlay **overlay);
void brio__overlay_free(BrioOverlay *overlay);

void brio__overlay_forget(BrioOverlay *overlay); /* no keys */
void brio__overlay_clear(BrioOverlay *overlay);  /* keys stay, values are zero */
/* Block (a, b) += H, row by row, and by symmetry (b, a) += H^T; for a == b, H is symmetric. */
BrioStatus brio__overlay_add(BrioOverlay *overlay, int32_t a, int32_t b, const double H[9]);
BrioStatus brio__overlay_reserve(BrioOverlay *overlay, int32_t a, int32_t b);
/* For those who add in parallel: the index of block (a, b), which is made if there is none, or -1
 * without memory; values, nine for each index: of the larger and the smaller of both, row by row;
 * and a number that is another one after keys were forgotten: until then indices stay. What was
 * changed has to be touched. */
int64_t brio__overlay_index(BrioOverlay *overlay, int32_t a, int32_t b);
/* The same, but -1 if there is none: several threads may ask at a time. `guess`: where it may be.
 */
int64_t brio__overlay_find(const BrioOverlay *overlay, int32_t a, int32_t b, int64_t guess);
double *brio__overlay_values(BrioOverlay *overlay);
uint64_t brio__overlay_keys(const BrioOverlay *overlay);
void brio__overlay_touch(BrioOverlay *overlay);
/* something was added since it was cleared */
bool brio__overlay_any(const BrioOverlay *overlay);
/* all keys have places in the joined matrix */
bool brio__overlay_fits(const BrioOverlay *overlay);

/* The blocks that there are, in the order in which they came: block (a, b), a >= b, row by row. */
int64_t brio__overlay_count(const BrioOverlay *overlay);
const double *brio__overlay_at(const BrioOverlay *overlay, int64_t i, int32_t *a, int32_t *b);
/* y += the overlay blocks times x, both in elimination order, y apart from x. `position`: of each
 * coordinate block there. */
void brio__overlay_multiply_add(const BrioOverlay *overlay, const int32_t *position,
                                const double *x, double *y);
/* Somebody else has made places for all of them. */
void brio__overlay_settle(BrioOverlay *overlay, double seconds);

/* How often a pattern was analysed, and how long that took in all. */
int64_t brio__overlay_analyses(const BrioOverlay *overlay, double *seconds);

/* The joined matrix with the values of A and the overlay blocks, ready to be factored. */
BrioStatus brio__overlay_join(BrioOverlay *overlay, const BrioLinear *linear, BrioLinear **joined);

#endif
