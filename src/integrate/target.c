/* The energy that a search aims at, and its alpha (target.h). */
#include "target.h"

/* Of an energy, as a fraction of those that it is a difference of: sums of many terms, of which
 * each has been rounded. */
static const double ROUND_OFF = 1e-12;

double brio__search_alpha(const BrioSearch *s)
{
    double far_end = fmax(fabs(s->min), fabs(s->max)), noise = ROUND_OFF * s->scale;
    double reach = far_end * fabs(s->linear) + far_end * far_end * s->square / 2;
    if (!(s->square > 0) || reach <= noise) {
        double alpha = s->excess < -noise ? s->max : s->excess > noise ? s->min : 1;
        return fmin(fmax(alpha, s->min), s->max);
    }
    double vertex = s->linear / s->square, under = vertex * vertex - 2 * s->excess / s->square;
    double alpha = vertex;
    if (under > 0) {
        /* without cancellation */
        double far = vertex + (vertex > 0 ? 1 : -1) * sqrt(under);
        double near = far != 0 ? 2 * s->excess / s->square / far : 0;
        alpha = fabs(near - 1) < fabs(far - 1) ? near : far;
    }
    return fmin(fmax(alpha, s->min), s->max);
}

BrioStatus brio__target_ground(BrioStepper *s, int known, int level, double *ground)
{
    double *is_known = brio_stepper_memo(s, known);
    double *memo = brio_stepper_memo(s, level);
    double *q = brio_stepper_scratch(s, 3);
    *ground = brio_stepper_value(s, "ground");
    if (*ground != INFINITY) return BRIO_OK;
    if (*is_known == 0) {
        double t = brio_stepper_time(s);
        BRIO_CHECK(brio_stepper_minimise(
            s, &(BrioObjective){.s = 1, .a = 1, .time = t, .h = 1, .massless = 1}, q));
        *memo = brio_stepper_potential(s, q, t, NULL);
        *is_known = 1;
    }
    *ground = *memo;
    return BRIO_OK;
}

double brio__target_at_start(BrioStepper *s, double ground)
{
    double target = brio_stepper_target(s);
    if (!isnan(target)) return target;
    double first = brio_stepper_kinetic(s, brio_stepper_v(s)) +
                   brio_stepper_potential(s, brio_stepper_q(s), brio_stepper_time(s), NULL);
    return ground + brio_stepper_value(s, "energy_scale") * (first - ground);
}
