/* The cubic barrier of [Ando2024]: with g = d - thickness,
 *
 *     b = -2 kappa/(3 dhat) (g - dhat)^3,    b' = -2 kappa/dhat (g - dhat)^2,
 *     b'' = 4 kappa/dhat (dhat - g)                      for 0 < g < dhat,    0 beyond.
 *
 * Its force has a largest value, 2 kappa dhat, and its curvature too, 4 kappa: it is never as stiff
 * as a logarithm. What keeps surfaces apart is the limit of every step alone, so b counts as
 * infinite at g <= 0. What presses on one contact with more than 2 kappa dhat is not carried: the
 * solver then ends at a step that cannot be made, and kappa must be larger. [Ando2024] derives
 * kappa from masses and elasticity in every step; here it is given, or chosen by the weights. */
#include "law.h"

#define LAW_SYMBOL cubic
#define LAW_NAME "cubic"
#define LAW_CITATION "Ando2024"
#define LAW_TRAITS BRIO_LAW_FORBIDS

static const BrioField fields[] = {
    BRIO_BARRIER_FIELDS(
        "Stiffness: the force of a contact is at most 2 kappa dhat. auto: kappa dhat is twenty "
        "times the weight of the heaviest body."),
    {0}};

#ifdef BRIO_KERNEL_ISA

static inline lane_mask law_acts(const double *params, lane d)
{
    return lane_lt(d - params[BRIO_LAW_THICKNESS], lane_set(params[BRIO_LAW_DHAT]));
}

static inline lane_mask law_forbids(const double *params, lane d)
{
    return lane_le(d, lane_set(params[BRIO_LAW_THICKNESS]));
}

static inline Law law_at(const double *params, lane weight, lane d)
{
    lane zero = lane_set(0), g = d - params[BRIO_LAW_THICKNESS];
    lane gap = lane_positive(params[BRIO_LAW_DHAT] - g);
    gap = lane_select(lane_le(g, zero), zero, gap);
    lane c = 2 * params[BRIO_LAW_KAPPA] / params[BRIO_LAW_DHAT] * weight;
    return (Law){c * gap * gap * gap * (1.0 / 3), -c * gap * gap, 2 * c * gap};
}

#include "law_kernels.h"

#else

static double force(const double *params, double mu, double d)
{
    double dhat = params[BRIO_LAW_DHAT], gap = dhat - (d - params[BRIO_LAW_THICKNESS]);
    return gap > 0 ? mu * (2 * params[BRIO_LAW_KAPPA] / dhat * gap * gap) : 0;
}

BRIO_LAW(cubic){
    BRIO_LAW_COMMON,
    .summary = "Cubic barrier: surfaces never touch; the force of a contact has a maximum.",
    .force = force,
};

#endif
