/* Contact laws: a law is a function b(d) of a distance d, from a vertex to an obstacle or between
 * two parts of surfaces.
 *
 * To add one: write src/energy/law_NAME.c and add the line LAW(NAME) to laws.def. The file defines
 * LAW_SYMBOL, LAW_NAME, LAW_CITATION, LAW_TRAITS (below), the table `fields`, and
 * LAW_STIFFNESS(params), the largest b'', if there is one. It is compiled once for each instruction
 * set (BRIO_KERNEL_ISA), where it gives
 *
 *     law_acts(params, d)        where b is not zero,
 *     law_forbids(params, d)     where it is infinite,
 *     law_at(params, weight, d)  b, b' and b'' times weight; zero where it is zero or infinite,
 *
 * in lanes, and includes law_kernels.h, which makes the energies of the law with every obstacle
 * (obstacles.def) and every kind of pair. The file is compiled once more without kernels, where it
 * gives the descriptor below. */
#ifndef BRIO_LAW_H
#define BRIO_LAW_H

#include "energy.h"

/* Traits of laws: macros, because they decide which kernels a law has. */
/* infinite at d <= thickness: no step may lead there */
#define BRIO_LAW_FORBIDS 1
/* between bodies it acts between vertices only, below `self`; otherwise between surfaces: vertex
 * and triangle, edge and edge */
#define BRIO_LAW_VERTICES 2
/* its force grows without bound: whatever presses is carried */
#define BRIO_LAW_UNBOUNDED 4

/* Parameters of every law, in this order; `self` is a distance of the contact, not of the law. */
enum { BRIO_LAW_KAPPA, BRIO_LAW_DHAT, BRIO_LAW_THICKNESS };

typedef struct BrioLaw {
    const char *name, *summary, *citation;
    unsigned traits;
    const BrioField *fields; /* what a scene may set */
    /* mu times the normal force -b'(d) > 0 at a distance (of the kernels: thickness included) */
    double (*force)(const double *params, double mu, double d);
    /* largest b'' where it acts, for local/global solves; NULL: there is none */
    double (*stiffness)(const double *params);
} BrioLaw;

/* The energies of one law, of one instruction set: count of them, in the order of obstacles.def and
 * then pairs. */
typedef struct BrioLawKernels {
    int count;
    const BrioEnergy *energy;
} BrioLawKernels;

#ifdef BRIO_KERNEL_ISA
/* For what takes a function or a shape that is known where it is called. */
#define KERNEL_INLINE inline __attribute__((always_inline))

/* b, b' and b'' times an element's weight. */
typedef struct Law {
    lane value, slope, curvature;
} Law;
#endif

/* The fields of a barrier; each law says in a sentence what kappa means to it. */
/* clang-format off */
#define BRIO_BARRIER_FIELDS(sentence) \
    {"kappa", BRIO_REAL, "N/m|auto", INFINITY, 1e-300, 1e15, 0, sentence}, \
    {"dhat", BRIO_REAL, "m|auto", INFINITY, 1e-300, 1e9, 0, \
     "Distance below which the barrier acts; auto: a tenth of the median edge, at most 1/250 of " \
     "the smallest body."}, \
    {"thickness", BRIO_REAL, "m", 0, 0, 1e9, 0, \
     "Minimum distance between surfaces; other distances are measured from it."}
/* clang-format on */

/* What every descriptor takes from the definitions of its file. */
#define BRIO_LAW_COMMON \
    .name = LAW_NAME, .citation = LAW_CITATION, .traits = LAW_TRAITS, .fields = fields

#define BRIO_LAW(symbol)                     \
    extern const BrioLaw brio__law_##symbol; \
    const BrioLaw brio__law_##symbol =

#endif
