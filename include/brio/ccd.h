/* Continuous collision detection of single pairs.
 *
 * Do a vertex v and a face f0 f1 f2, or two edges a0 a1 and b0 b1, touch while their corners move
 * straight from x0 (t = 0) to x1 (t = 1)?
 *
 * Returns 0 if they do not touch; *toi is then 1. Returns 1 if they may touch; *toi is never later
 * than the first contact. Touching counts, also at both ends. A contact is never missed: the answer
 * is valid for the exact motion (1-t) x0 + t x1 of the given doubles. For pairs that miss each
 * other by rounding errors the answer may be 1. If the input is not finite or NULL: 1, and *toi is
 * 0.
 *
 * Part of brio.h, which includes it. Licence: MIT. */
#ifndef BRIO_CCD_API_H
#define BRIO_CCD_API_H

#include "brio.h"

#ifdef __cplusplus
extern "C" {
#endif

BRIO_API int brio_ccd_vertex_face(const double x0[12], const double x1[12], double *toi);
BRIO_API int brio_ccd_edge_edge(const double x0[12], const double x1[12], double *toi);

#ifdef __cplusplus
}
#endif
#endif
