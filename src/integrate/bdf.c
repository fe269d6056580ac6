/* Backward differentiation formulas, rows of one table [Hairer1996, Ch. III.3]: with
 * z* = sum_j a_j z_(n+1-j) of the last k states,
 *
 *     q' = q* + beta h v',   v' = v* + beta h M^-1 F(q', v'):
 *
 * the primitive with the target q* + beta h v* and s = (beta h)^2.
 *
 * Second order, A-stable and damping fast vibrations is BDF2 (its first step is backward Euler, as
 * in [You2026]). BDF3 and BDF4 start with SDIRK3, whose error of one step is of their order; near
 * the imaginary axis they are not stable: undamped oscillations of some frequencies grow (by up to
 * 4.6 % per step with BDF3 and 19 % with BDF4, see docs/integrators.md).
 *
 * The formulas hold for equal steps. After a step of another length they start again. */
#include "tableau.h"

static const struct {
    int steps;
    double past[4], beta;
} table[] = {
    {2, {4.0 / 3, -1.0 / 3}, 2.0 / 3},
    {3, {18.0 / 11, -9.0 / 11, 2.0 / 11}, 6.0 / 11},
    {4, {48.0 / 25, -36.0 / 25, 16.0 / 25, -3.0 / 25}, 12.0 / 25},
};

/* History: q and v of the last state, of the one before, ... */
static BrioStatus advance(BrioStepper *s, int row, double h)
{
    int past = table[row].steps - 1, used = brio_stepper_history_used(s) / 2;
    const double *q = brio_stepper_q(s), *v = brio_stepper_v(s);
    double *q_star = brio_stepper_scratch(s, 0);
    double *v_star = brio_stepper_scratch(s, 1);
    double *target = brio_stepper_scratch(s, 2);
    double *next = brio_stepper_scratch(s, 3), *velocity = brio_stepper_scratch(s, 4);
    if (used > 0 && fabs(brio_stepper_last_h(s) - h) > 1e-9 * h) used = 0;
    if (used < past) {
        const BrioTableau *start = brio__tableau(row == 0 ? "backward-euler" : "sdirk3");
        BRIO_CHECK(brio__tableau_step(
            s, &(BrioTableauStep){.tableau = start, .h = h, .weight = 1, .scratch = 5}, next,
            velocity));
    } else {
        double beta = table[row].beta * h;
        brio_stepper_combine(s, table[row].past[0], q, 0, q, q_star);
        brio_stepper_combine(s, table[row].past[0], v, 0, v, v_star);
        for (int j = 0; j < past; j++) {
            brio_stepper_combine(s, 1, q_star, table[row].past[j + 1],
                                 brio_stepper_history(s, 2 * j), q_star);
            brio_stepper_combine(s, 1, v_star, table[row].past[j + 1],
                                 brio_stepper_history(s, 2 * j + 1), v_star);
        }
        brio_stepper_combine(s, 1, q_star, beta, v_star, target);
        BRIO_CHECK(brio_stepper_minimise(s,
                                         &(BrioObjective){.target = target,
                                                          .s = beta * beta,
                                                          .a = 1,
                                                          .time = brio_stepper_time(s) + h,
                                                          .h = h,
                                                          .from = q_star,
                                                          .over = beta},
                                         next));
        brio_stepper_combine(s, 1 / beta, next, -1 / beta, q_star, velocity);
    }
    for (int j = past - 1; j > 0; j--)
        for (int k = 0; k < 2; k++)
            brio_stepper_combine(s, 1, brio_stepper_history(s, 2 * (j - 1) + k), 0, q,
                                 brio_stepper_history(s, 2 * j + k));
    brio_stepper_combine(s, 1, q, 0, q, brio_stepper_history(s, 0));
    brio_stepper_combine(s, 1, v, 0, v, brio_stepper_history(s, 1));
    brio_stepper_set_history_used(s, 2 * BRIO_MIN(used + 1, past));
    return brio_stepper_accept(s, h, next, velocity);
}

static BrioStatus step2(BrioStepper *s, double h) { return advance(s, 0, h); }
static BrioStatus step3(BrioStepper *s, double h) { return advance(s, 1, h); }
static BrioStatus step4(BrioStepper *s, double h) { return advance(s, 2, h); }

BRIO_INTEGRATOR(bdf2){
    .name = "bdf2",
    .summary =
        "Second order at the cost of backward Euler: damps fast vibrations, slow ones much less.",
    .citation = "Hairer1996",
    .order = 2,
    .history = 2,
    .traits = BRIO_IMPLICIT | BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_END_IS_SOLVED |
              BRIO_TAKES_CONSTRAINTS,
    .step = step2,
};

BRIO_INTEGRATOR(bdf3){
    .name = "bdf3",
    .summary =
        "Third order for damped or slow motion; undamped oscillations of some frequencies grow.",
    .citation = "Hairer1996",
    .order = 3,
    .history = 4,
    .traits = BRIO_IMPLICIT | BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_END_IS_SOLVED |
              BRIO_TAKES_CONSTRAINTS,
    .step = step3,
};

BRIO_INTEGRATOR(bdf4){
    .name = "bdf4",
    .summary =
        "Fourth order for damped or slow motion; undamped oscillations of some frequencies grow.",
    .citation = "Hairer1996",
    .order = 4,
    .history = 6,
    .traits = BRIO_IMPLICIT | BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_END_IS_SOLVED |
              BRIO_TAKES_CONSTRAINTS,
    .step = step4,
};
