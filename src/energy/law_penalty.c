/* A one-sided spring [You2026, Eq. 14; Dinev2018, Eq. 38]:
 *
 *     b = kappa/2 (d - dhat)^2,    b' = kappa (d - dhat),    b'' = kappa
 *
 * for d < dhat, and 0 beyond.
 *
 * What is pressed sinks in; nothing is forbidden, so every integrator may use it. Between bodies it
 * acts between vertices, with `self` instead of dhat. */
#include "law.h"

#define LAW_SYMBOL penalty
#define LAW_NAME "penalty"
#define LAW_CITATION "Dinev2018"
#define LAW_TRAITS BRIO_LAW_VERTICES
#define LAW_STIFFNESS(params) params[BRIO_LAW_KAPPA] /* the largest b'' */

/* clang-format off */
#define PENALTY_FIELDS \
    {"kappa", BRIO_REAL, "N/m", 1e5, 1e-300, 1e15, 0, "Stiffness of the spring."}, \
    {"dhat", BRIO_REAL, "m", 0, 0, 1e9, 0, "Distance from an obstacle below which the spring acts."}
/* clang-format on */

#ifdef BRIO_KERNEL_ISA

static inline lane_mask law_acts(const double *params, lane d)
{
    return lane_lt(d, lane_set(params[BRIO_LAW_DHAT]));
}

static inline lane_mask law_forbids(const double *params, lane d)
{
    (void)params;
    return lane_lt(d, d); /* none */
}

static inline Law law_at(const double *params, lane weight, lane d)
{
    lane zero = lane_set(0), depth = lane_min(d - params[BRIO_LAW_DHAT], zero);
    lane kappa = params[BRIO_LAW_KAPPA] * weight;
    return (Law){0.5 * kappa * depth * depth, kappa * depth,
                 lane_select(lane_lt(depth, zero), kappa, zero)};
}

static const BrioField fields[] = {PENALTY_FIELDS, {0}};

#include "law_kernels.h"

#else

static const BrioField fields[] = {
    PENALTY_FIELDS,
    {"self", BRIO_REAL, "m", 0, 0, 1e9, 0,
     "Distance below which vertices of bodies repel each other; within one body, only vertices "
     "that are at least 1.57 times as far apart at rest. 0: bodies pass through each other."},
    {0}};

static double force(const double *params, double mu, double d)
{
    return mu * params[BRIO_LAW_KAPPA] * (params[BRIO_LAW_DHAT] - d);
}

static double stiffness(const double *params) { return LAW_STIFFNESS(params); }

BRIO_LAW(penalty){
    BRIO_LAW_COMMON,
    .summary = "One-sided spring: pushes penetrating vertices out; works with every integrator, "
               "but surfaces may pass through each other.",
    .force = force,
    .stiffness = stiffness,
};

#endif
