/* Contact laws that a program registers at run time (brio/plugin.h): b(g) is a function of the
 * program, called for the lanes of a pack at once. The kernels are those of every law; which law
 * they stand for is set by who calls them (contact/law.c), for this thread. */
#include "registered_law.h"

#define LAW_SYMBOL registered
#define LAW_NAME "registered"
#define LAW_CITATION NULL
#define LAW_TRAITS BRIO_LAW_FORBIDS

static const BrioField fields[] = {BRIO_REGISTERED_LAW_FIELDS, {0}};

static inline lane_mask law_acts(const double *params, lane d)
{
    return lane_lt(d - params[BRIO_LAW_THICKNESS], lane_set(params[BRIO_LAW_DHAT]));
}

static inline lane_mask law_forbids(const double *params, lane d)
{
    return lane_le(d, lane_set(params[BRIO_LAW_THICKNESS]));
}

/* Not inlined: the call of the program is what takes the time. */
static __attribute__((noinline)) Law law_at(const double *params, lane weight, lane d)
{
    const BrioLawDef *law = brio__law_in_use();
    double dhat = params[BRIO_LAW_DHAT], gap[WIDTH], b[3][WIDTH] = {0};
    int count = 0, of[WIDTH];
    for (int i = 0; i < WIDTH; i++) {
        double g = d[i] - params[BRIO_LAW_THICKNESS];
        if (!(g > 0 && g < dhat)) continue;
        of[count] = i;
        gap[count++] = g;
    }
    if (count) law->eval(law->user, params[BRIO_LAW_KAPPA], dhat, count, gap, b[0], b[1], b[2]);
    Law out = {lane_set(0), lane_set(0), lane_set(0)};
    for (int k = 0; k < count; k++) {
        out.value[of[k]] = b[0][k];
        out.slope[of[k]] = b[1][k];
        out.curvature[of[k]] = b[2][k];
    }
    return (Law){weight * out.value, weight * out.slope, weight * out.curvature};
}

#include "law_kernels.h"
