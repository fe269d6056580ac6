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
 * Steps may differ: the formulas are the derivative, at the end of the step, of the polynomial
 * through the states, whatever their times are; for equal steps those of the table. Those of BDF2
 * are stable if no step is 1 + sqrt 2 times as long as the one before [Grigorieff1983]. After a
 * step that grew more than the table allows they start again. The error of a step is that of the
 * derivative times beta [Hairer1993, Ch. III.5]. */
#include "tableau.h"

static const struct {
    int steps;
    double past[4], beta;
    double growth; /* the formulas of steps that grow faster are not stable */
} table[] = {
    {2, {4.0 / 3, -1.0 / 3}, 2.0 / 3, 2.4},
    {3, {18.0 / 11, -9.0 / 11, 2.0 / 11}, 6.0 / 11, 1.5},
    {4, {48.0 / 25, -36.0 / 25, 16.0 / 25, -3.0 / 25}, 12.0 / 25, 1.25},
};

enum { MAX_STEPS = 4 };

/* A formula for states at the times t_(n+1) - age_j, age_0 = 0. */
typedef struct Formula {
    int steps;
    double age[MAX_STEPS + 1], past[MAX_STEPS], beta; /* beta in s */
} Formula;

/* The length of the last step (0), of the one before that, ...: in memos, which hold nothing where
 * the history was made by hand, of equal steps. */
static double step_before(BrioStepper *s, int j)
{
    double last = brio_stepper_last_h(s), memo = j > 0 ? *brio_stepper_memo(s, j - 1) : last;
    return memo > 0 ? memo : last;
}

static Formula formula_of(BrioStepper *s, int row, double h)
{
    Formula f = {.steps = table[row].steps, .age = {0, h}};
    bool equal = true;
    for (int j = 2; j <= f.steps; j++) {
        double step = step_before(s, j - 2);
        f.age[j] = f.age[j - 1] + step;
        equal = equal && fabs(step - h) <= 1e-9 * h;
    }
    f.beta = table[row].beta * h;
    for (int j = 0; j < f.steps; j++) f.past[j] = table[row].past[j];
    if (equal) return f;
    /* weights d_j of the derivative, at age 0, of the polynomial through the states: 1/d_0 = beta
     * and a_j = -d_j/d_0 */
    double d0 = 0;
    for (int j = 1; j <= f.steps; j++) d0 += 1 / f.age[j];
    f.beta = 1 / d0;
    for (int j = 1; j <= f.steps; j++) {
        double product = 1 / f.age[j];
        for (int k = 1; k <= f.steps; k++)
            if (k != j) product *= f.age[k] / (f.age[k] - f.age[j]);
        f.past[j - 1] = f.beta * product;
    }
    return f;
}

/* How many of the last steps a formula may use: those before one that was much shorter do not
 * count. */
static int usable(BrioStepper *s, int row, double h)
{
    int used = brio_stepper_history_used(s) / 2;
    double longer = h;
    for (int j = 0; j < used; j++) {
        double step = step_before(s, j);
        if (longer > table[row].growth * step) return j;
        longer = step;
    }
    return used;
}

/* beta/(k + 1) prod_j age_j times the divided difference of the last k + 1 velocities, k! of which
 * are the derivative k + 1 of q. */
static void say_error(BrioStepper *s, const Formula *f, const double *velocity, double *sum)
{
    double scale = f->beta / (f->steps + 1);
    if (!brio_stepper_wants_error(s)) return;
    brio_stepper_combine(s, 0, velocity, 0, velocity, sum);
    for (int j = 0; j <= f->steps; j++) {
        double weight = 1;
        for (int k = 0; k <= f->steps; k++)
            if (k != j) weight /= f->age[k] - f->age[j];
        const double *v = j == 0   ? velocity
                          : j == 1 ? brio_stepper_v(s)
                                   : brio_stepper_history(s, 2 * (j - 2) + 1);
        brio_stepper_combine(s, 1, sum, weight, v, sum);
        if (j > 0) scale *= f->age[j];
    }
    brio_stepper_error(s, scale, sum);
}

/* The first steps: backward Euler for BDF2, with h/2 (v' - v) as its error; SDIRK3. They use all
 * scratch vectors of the steps that follow, which then allocate nothing. */
static BrioStatus start(BrioStepper *s, int row, double h, double *next, double *velocity)
{
    double *error = brio_stepper_scratch(s, 2);
    const BrioTableau *tableau = brio__tableau(row == 0 ? "backward-euler" : "sdirk3");
    BRIO_CHECK(brio__tableau_step(
        s,
        &(BrioTableauStep){
            .tableau = tableau, .h = h, .weight = 1, .scratch = 3, .error = row ? error : NULL},
        next, velocity));
    if (row == 0) brio_stepper_combine(s, h / 2, velocity, -h / 2, brio_stepper_v(s), error);
    brio_stepper_error(s, 1, error);
    return BRIO_OK;
}

static BrioStatus solve(BrioStepper *s, const Formula *f, double h, double *next, double *velocity)
{
    const double *q = brio_stepper_q(s), *v = brio_stepper_v(s);
    double *q_star = brio_stepper_scratch(s, 2);
    double *v_star = brio_stepper_scratch(s, 3);
    double *target = brio_stepper_scratch(s, 4);
    brio_stepper_combine(s, f->past[0], q, 0, q, q_star);
    brio_stepper_combine(s, f->past[0], v, 0, v, v_star);
    for (int j = 1; j < f->steps; j++) {
        brio_stepper_combine(s, 1, q_star, f->past[j], brio_stepper_history(s, 2 * (j - 1)),
                             q_star);
        brio_stepper_combine(s, 1, v_star, f->past[j], brio_stepper_history(s, 2 * (j - 1) + 1),
                             v_star);
    }
    brio_stepper_combine(s, 1, q_star, f->beta, v_star, target);
    BRIO_CHECK(brio_stepper_minimise(s,
                                     &(BrioObjective){.target = target,
                                                      .s = f->beta * f->beta,
                                                      .a = 1,
                                                      .time = brio_stepper_time(s) + h,
                                                      .h = h,
                                                      .from = q_star,
                                                      .over = f->beta},
                                     next));
    brio_stepper_combine(s, 1 / f->beta, next, -1 / f->beta, q_star, velocity);
    say_error(s, f, velocity, target);
    return BRIO_OK;
}

/* History: q and v of the last state, of the one before, ... */
static BrioStatus advance(BrioStepper *s, int row, double h)
{
    int past = table[row].steps - 1, used = usable(s, row, h);
    const double *q = brio_stepper_q(s), *v = brio_stepper_v(s);
    double *next = brio_stepper_scratch(s, 0), *velocity = brio_stepper_scratch(s, 1);
    if (used < past) {
        BRIO_CHECK(start(s, row, h, next, velocity));
    } else {
        Formula f = formula_of(s, row, h);
        BRIO_CHECK(solve(s, &f, h, next, velocity));
    }
    for (int j = past - 1; j > 0; j--)
        for (int k = 0; k < 2; k++)
            brio_stepper_combine(s, 1, brio_stepper_history(s, 2 * (j - 1) + k), 0, q,
                                 brio_stepper_history(s, 2 * j + k));
    brio_stepper_combine(s, 1, q, 0, q, brio_stepper_history(s, 0));
    brio_stepper_combine(s, 1, v, 0, v, brio_stepper_history(s, 1));
    for (int j = past - 2; j > 0; j--) *brio_stepper_memo(s, j) = *brio_stepper_memo(s, j - 1);
    *brio_stepper_memo(s, 0) = brio_stepper_last_h(s);
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
    .estimate = BRIO_BY_ITSELF,
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
    .estimate = BRIO_BY_ITSELF,
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
    .estimate = BRIO_BY_ITSELF,
};
