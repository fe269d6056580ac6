/* The barrier of [Li2020]: with u = (d - thickness)/dhat,
 *
 *     b = -kappa dhat^2 (1 - u)^2 ln u              for 0 < u < 1,    0 beyond,
 *     b' = kappa dhat (1 - u) (2 ln u - (1 - u)/u),
 *     b'' = kappa (-2 ln u + (1 - u)/u (4 + (1 - u)/u)).
 *
 * Infinite at u <= 0. On (0, 1), b' is negative and every part of b'' is positive. b, b' and b''
 * vanish at u = 1. */
#include "law.h"

#define LAW_SYMBOL ipc
#define LAW_NAME "ipc"
#define LAW_CITATION "Li2020"
#define LAW_TRAITS (BRIO_LAW_FORBIDS | BRIO_LAW_UNBOUNDED)

static const BrioField fields[] = {
    BRIO_BARRIER_FIELDS("Stiffness; auto: per pair of bodies, as stiff as the softer one "
                        "(docs/defaults.md)."),
    {0}};

#ifdef BRIO_KERNEL_ISA

static inline lane ipc_u(const double *params, lane d)
{
    return (d - params[BRIO_LAW_THICKNESS]) / params[BRIO_LAW_DHAT];
}

static inline lane_mask law_acts(const double *params, lane d)
{
    return lane_lt(ipc_u(params, d), lane_set(1));
}

static inline lane_mask law_forbids(const double *params, lane d)
{
    return lane_le(ipc_u(params, d), lane_set(0));
}

/* Forbidden lanes give 0: everything vanishes at 1. */
static inline Law law_at(const double *params, lane weight, lane d)
{
    double dhat = params[BRIO_LAW_DHAT];
    lane one = lane_set(1), u = ipc_u(params, d), kappa = params[BRIO_LAW_KAPPA] * weight;
    u = lane_select(lane_le(u, lane_set(0)), one, lane_min(u, one));
    lane ln = lane_log(u), gap = 1 - u, part = gap / u;
    return (Law){kappa * (dhat * dhat) * gap * gap * -ln, kappa * dhat * gap * (2 * ln - part),
                 kappa * (part * (4 + part) - 2 * ln)};
}

#include "law_kernels.h"

#else

static double force(const double *params, double mu, double d)
{
    double dhat = params[BRIO_LAW_DHAT];
    d -= params[BRIO_LAW_THICKNESS];
    if (d >= dhat) return 0;
    double u = d / dhat, gap = 1 - u;
    return -mu * (params[BRIO_LAW_KAPPA] * dhat * gap * (2 * log(u) - gap / u));
}

BRIO_LAW(ipc){
    BRIO_LAW_COMMON,
    .summary = "Logarithmic barrier: surfaces never touch; forces grow without bound.",
    .force = force,
};

#endif
