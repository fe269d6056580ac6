/* The barrier of [Li2020] as a function of a distance d: with u = d/dhat,
 *
 *     b = -kappa (d - dhat)^2 ln(d/dhat) = -kappa dhat^2 (1 - u)^2 ln u    for 0 < d < dhat,    0
 * beyond, infinite at d <= 0, b' = kappa dhat (1 - u) (2 ln u - (1 - u)/u), b'' = kappa (-2 ln u +
 * (1 - u)/u (4 + (1 - u)/u)).
 *
 * On (0, 1), b' is negative and every part of b'' is positive. b, b' and b'' vanish at dhat. */
#ifndef BRIO_BARRIER_H
#define BRIO_BARRIER_H

#include "energy.h"

typedef struct Barrier {
    lane value, slope, curvature;
} Barrier;

/* For u in (0, 1]. */
static inline Barrier barrier_at(lane kappa, double dhat, lane u)
{
    lane ln = lane_log(u), gap = 1 - u, part = gap / u;
    return (Barrier){kappa * (dhat * dhat) * gap * gap * -ln, kappa * dhat * gap * (2 * ln - part),
                     kappa * (part * (4 + part) - 2 * ln)};
}

#define BARRIER_FIELDS                                                                             \
    {"kappa", BRIO_REAL, "N/m", 1e5, 1e-300, 1e15, 0, "Stiffness of the barrier."},                \
        {"dhat", BRIO_REAL, "m", 1e-3, 1e-300, 1e15, 0, "Distance below which the barrier acts."}, \
    {                                                                                              \
        "thickness", BRIO_REAL, "m", 0, 0, 1e15, 0,                                                \
            "Distance that is kept: the barrier sees what exceeds it."                             \
    }

#endif
