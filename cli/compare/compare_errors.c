/* Errors and orders of a comparison. Distances of end positions are
 *
 *     |x - y| = sqrt(sum m_i |x_i - y_i|^2 / sum m_i).
 *
 * Against a reference x* the order between two step sizes is ln(e_1/e_2)/ln(h_1/h_2). Without one,
 * three step sizes h_1 > h_2 > h_3 of a method with x = x* + C h^p give
 *
 *     |x_1 - x_2| / |x_2 - x_3| = (h_1^p - h_2^p) / (h_2^p - h_3^p),
 *     x* = x_3 + (x_3 - x_2) h_3^p / (h_2^p - h_3^p)
 *
 * [Richardson1911]; p is found by bisection, so that the ratios need not be equal. */
#include "compare_parts.h"

#include <stdlib.h>

/* ---- orders and errors ------------------------------------------------------------------ */

static double separation(const Comparison *c, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t v = 0; v < c->vertex_count; v++)
        for (int r = 0; r < 3; r++)
            sum +=
                c->vertex_mass[v] * (x[3 * v + r] - y[3 * v + r]) * (x[3 * v + r] - y[3 * v + r]);
    return sqrt(sum / c->mass);
}

/* p of (h0^p - h1^p)/(h1^p - h2^p) = ratio, which grows with p; NAN: no p from 0.01 to 12, the
 * trials do not converge (yet). */
static double order_of_three(const double h[3], double ratio)
{
    double low = 0.01, high = 12;
    double a = log(h[0] / h[1]), b = log(h[1] / h[2]);
#define RATIO(p) (expm1((p)*a) / -expm1(-(p)*b))
    if (!(ratio >= RATIO(low)) || !(ratio <= RATIO(high))) return NAN;
    for (int k = 0; k < 60; k++) {
        double middle = 0.5 * (low + high);
        *(RATIO(middle) < ratio ? &low : &high) = middle;
    }
#undef RATIO
    return 0.5 * (low + high);
}

static void against_reference(const Comparison *c, Trial **t, int count)
{
    for (int i = 0; i < count; i++) {
        if (t[i] == c->reference) continue;
        t[i]->value[ERROR] = separation(c, t[i]->x, c->reference->x);
        if (i == 0 || !(t[i]->value[ERROR] > 0) || !(t[i - 1]->value[ERROR] > 0)) continue;
        t[i]->value[ORDER] = log(t[i - 1]->value[ERROR] / t[i]->value[ERROR]) /
                             log(t[i - 1]->size->h / t[i]->size->h);
    }
}

static BrioStatus by_extrapolation(Comparison *c, Trial **t, int count)
{
    for (int i = 2; i < count; i++) {
        const double h[3] = {t[i - 2]->size->h, t[i - 1]->size->h, t[i]->size->h};
        t[i]->value[ORDER] = order_of_three(h, separation(c, t[i - 2]->x, t[i - 1]->x) /
                                                   separation(c, t[i - 1]->x, t[i]->x));
    }
    if (count < 3 || isnan(t[count - 1]->value[ORDER])) return BRIO_OK;
    const Trial *last = t[count - 1], *before = t[count - 2];
    double *limit = brio__alloc(3 * (size_t)c->vertex_count, sizeof(double));
    double factor = 1 / expm1(last->value[ORDER] * log(before->size->h / last->size->h));
    if (!limit) return BRIO_ERROR_MEMORY;
    for (int64_t k = 0; k < 3 * c->vertex_count; k++)
        limit[k] = last->x[k] + factor * (last->x[k] - before->x[k]);
    for (int i = 0; i < count; i++) t[i]->value[ERROR] = separation(c, t[i]->x, limit);
    c->errors_are_estimates = true;
    brio__free(limit);
    return BRIO_OK;
}

BrioStatus comparison_measure_errors(Comparison *c)
{
    bool reference = c->reference && c->reference->outcome == TRIAL_COMPLETED;
    for (int m = 0; m < c->method_count; m++) {
        Trial *found[MAX_SIZES];
        int count = 0;
        for (int k = 0; k < c->size_count; k++) {
            Trial *t = &c->trial[m * c->size_count + k];
            if (t->outcome == TRIAL_COMPLETED) found[count++] = t;
        }
        if (reference)
            against_reference(c, found, count);
        else
            BRIO_CHECK(by_extrapolation(c, found, count));
    }
    return BRIO_OK;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

BrioStatus comparison_measure_fractions(Comparison *c)
{
    double *largest = brio__alloc((size_t)c->trial_count, sizeof(double));
    size_t count = 0;
    bool driven = c->gravity > 0;
    if (!largest) return BRIO_ERROR_MEMORY;
    for (int i = 0; i < c->trial_count; i++) {
        if (c->trial[i].outcome == TRIAL_COMPLETED) largest[count++] = c->trial[i].largest;
        driven |= fabs(c->trial[i].value[ADDED]) > 1e-3 * c->first_motion;
    }
    qsort(largest, count, sizeof *largest, ascending);
    c->scale_is_first = !driven && c->first_motion > 0;
    c->scale = c->scale_is_first ? c->first_motion : count ? largest[(count - 1) / 2] : NAN;
    if (!(c->scale > 0)) c->scale = NAN;
    brio__free(largest);
    static const Quantity percents[][2] = {
        {CHANGE, CHANGE_PERCENT}, {ABOVE, ABOVE_PERCENT}, {REMAINDER, REMAINDER_PERCENT}};
    for (int i = 0; i < c->trial_count; i++)
        for (size_t k = 0; k < BRIO_COUNT(percents); k++)
            c->trial[i].value[percents[k][1]] = 100 * c->trial[i].value[percents[k][0]] / c->scale;
    return BRIO_OK;
}
