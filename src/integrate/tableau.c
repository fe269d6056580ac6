/* Butcher tableaus as data, their properties, and the step of any of them (tableau.h). */
#include "tableau.h"

#include <string.h>

#define GAMMA (1 - M_SQRT1_2) /* of SDIRK2 [Alexander1977]: L-stable and of order two */
#define WIDE (1 + M_SQRT1_2)  /* the other root of g^2 - 2 g + 1/2: docs/decoupled.md */
#define BETA (M_SQRT1_2 / 2)  /* of TR-BDF2 [Bank1985] with its middle point at 2 - sqrt 2 */
/* SDIRK3 [Alexander1977]: L-stable and of order three; LAMBDA is the middle root of
 * x^3 - 3 x^2 + 3/2 x - 1/6. */
#define LAMBDA 0.43586652150845899942
#define FIRST (-(6 * LAMBDA * LAMBDA - 16 * LAMBDA + 1) / 4)
#define SHORT ((1 - 2 * LAMBDA) / (1 - LAMBDA))
#define SECOND ((6 * LAMBDA * LAMBDA - 20 * LAMBDA + 5) / 4)

/* in the order of BRIO_TABLEAU_CHOICE, which begins with the user's own */
static const BrioTableau tableaus[] = {
    {"forward-euler", 1, {0}, {1}, {0}},
    {"rk2", 2, {0, 0, 0.5, 0}, {0, 1}, {0}},
    {"heun", 2, {0, 0, 1, 0}, {0.5, 0.5}, {0}},
    {"rk4",
     4,
     {0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 1, 0},
     {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6},
     {0}},
    {"backward-euler", 1, {1}, {1}, {0}},
    {"midpoint", 1, {0.5}, {1}, {0}},
    {"trapezoidal", 2, {0, 0, 0.5, 0.5}, {0.5, 0.5}, {0}},
    {"sdirk2", 2, {GAMMA, 0, 1 - GAMMA, GAMMA}, {1 - GAMMA, GAMMA}, {0}},
    {"tr-bdf2",
     3,
     {0, 0, 0, GAMMA, GAMMA, 0, BETA, BETA, GAMMA},
     {BETA, BETA, GAMMA},
     {(1 - BETA) / 3, (3 * BETA + 1) / 3, GAMMA / 3}}, /* third order [Hosea1996] */
    {"sdirk3",
     3,
     {LAMBDA, 0, 0, (1 - LAMBDA) / 2, LAMBDA, 0, FIRST, SECOND, LAMBDA},
     {FIRST, SECOND, LAMBDA},
     {1 - SHORT, SHORT}}, /* second order, of the first two stages */
    {"sdirk2-wide", 2, {WIDE, 0, 1 - WIDE, WIDE}, {1 - WIDE, WIDE}, {0}},
};

const BrioTableau *brio__tableau_at(int i)
{
    return i >= 0 && i < (int)BRIO_COUNT(tableaus) ? &tableaus[i] : NULL;
}

const BrioTableau *brio__tableau(const char *name)
{
    for (size_t i = 0; i < BRIO_COUNT(tableaus); i++)
        if (!strcmp(tableaus[i].name, name)) return &tableaus[i];
    return NULL;
}

bool brio__tableau_is_diagonal(const BrioTableau *t)
{
    for (int i = 0; i < t->stages; i++)
        for (int j = i + 1; j < t->stages; j++)
            if (t->A[i * t->stages + j] != 0) return false;
    return true;
}

bool brio__tableau_is_explicit(const BrioTableau *t)
{
    for (int i = 0; i < t->stages; i++)
        if (t->A[i * t->stages + i] != 0) return false;
    return brio__tableau_is_diagonal(t);
}

bool brio__tableau_is_stiffly_accurate(const BrioTableau *t)
{
    const double *last = t->A + (t->stages - 1) * t->stages;
    for (int j = 0; j < t->stages; j++)
        if (fabs(last[j] - t->b[j]) > 1e-14) return false;
    return last[t->stages - 1] != 0;
}

int brio__tableau_order(const BrioTableau *t)
{
    int n = t->stages;
    double c[BRIO_STAGES_MAX] = {0};
    double Ac[BRIO_STAGES_MAX] = {0};
    double Acc[BRIO_STAGES_MAX] = {0};
    double AAc[BRIO_STAGES_MAX] = {0};
    double sum[8] = {0};
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) c[i] += t->A[i * n + j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            Ac[i] += t->A[i * n + j] * c[j], Acc[i] += t->A[i * n + j] * c[j] * c[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) AAc[i] += t->A[i * n + j] * Ac[j];
    for (int i = 0; i < n; i++) { /* one sum for each rooted tree with up to four nodes */
        const double tree[8] = {1,      c[i],  c[i] * c[i], Ac[i], c[i] * c[i] * c[i], c[i] * Ac[i],
                                Acc[i], AAc[i]};
        for (int k = 0; k < 8; k++) sum[k] += t->b[i] * tree[k];
    }
    static const double exact[8] = {1,       1.0 / 2, 1.0 / 3,  1.0 / 6,
                                    1.0 / 4, 1.0 / 8, 1.0 / 12, 1.0 / 24};
    static const int order[8] = {1, 2, 3, 3, 4, 4, 4, 4};
    for (int k = 0; k < 8; k++)
        if (fabs(sum[k] - exact[k]) > 1e-10) return order[k] - 1;
    return 4;
}

BrioTableau brio__tableau_adjoint(const BrioTableau *t)
{
    int n = t->stages;
    BrioTableau adjoint = {.name = t->name, .stages = n};
    for (int i = 0; i < n; i++) {
        adjoint.b[i] = t->b[n - 1 - i];
        for (int j = 0; j < n; j++) {
            double a = t->b[n - 1 - j] - t->A[(n - 1 - i) * n + n - 1 - j];
            adjoint.A[i * n + j] = fabs(a) < 1e-15 ? 0 : a;
        }
    }
    return adjoint;
}

BrioStatus brio__tableau_read(const double *A, int A_count, const double *b, int b_count,
                              BrioTableau *t, char *reason, size_t size)
{
    *t = (BrioTableau){.name = "own", .stages = b_count};
    if (b_count < 1 || b_count > BRIO_STAGES_MAX)
        return snprintf(reason, size, "a tableau has 1 to %d stages, and b has %d numbers",
                        BRIO_STAGES_MAX, b_count),
               BRIO_ERROR_INPUT;
    if (A_count != b_count * b_count)
        return snprintf(reason, size,
                        "b has %d numbers, so A must have %d rows of %d; it has %d numbers in all",
                        b_count, b_count, b_count, A_count),
               BRIO_ERROR_INPUT;
    memcpy(t->A, A, (size_t)A_count * sizeof *A);
    memcpy(t->b, b, (size_t)b_count * sizeof *b);
    if (!brio__tableau_is_diagonal(t))
        return snprintf(reason, size,
                        "A has numbers right of its diagonal: coupled stages cannot be solved one "
                        "after the other"),
               BRIO_ERROR_INPUT;
    double sum = 0;
    for (int i = 0; i < b_count; i++) {
        sum += b[i];
        if (A[i * b_count + i] < 0)
            return snprintf(reason, size,
                            "the diagonal of A is negative in row %d: that stage would run "
                            "backward in time",
                            i),
                   BRIO_ERROR_INPUT;
    }
    if (fabs(sum - 1) > 1e-10)
        return snprintf(reason, size,
                        "the numbers of b add up to %.12g instead of 1: the method would not be "
                        "consistent",
                        sum),
               BRIO_ERROR_INPUT;
    return BRIO_OK;
}

BrioStatus brio__tableau_choose(const double *values, BrioTableau *t, char *reason, size_t size)
{
    const double *A = values + 1, *b = A + 1 + BRIO_MAX_LIST;
    if (values[0] > 0 && (A[0] > 0 || b[0] > 0)) {
        snprintf(reason, size, "A and b are those of your own tableau: give `tableau: own`, too");
        return BRIO_ERROR_INPUT;
    }
    if (values[0] == 0)
        return brio__tableau_read(A + 1, (int)A[0], b + 1, (int)b[0], t, reason, size);
    *t = *brio__tableau_at((int)values[0] - 1);
    return BRIO_OK;
}

/* A step at work: room for vectors and the stages. */
typedef struct Stages {
    BrioStepper *s;
    const BrioTableauStep *step;
    double *target, *drift, *Q, *gradient, *from;
    double *V[BRIO_STAGES_MAX], *A[BRIO_STAGES_MAX];
} Stages;

static Stages stages_of(BrioStepper *s, const BrioTableauStep *step)
{
    int first = step->scratch;
    Stages w = {.s = s,
                .step = step,
                .target = brio_stepper_scratch(s, first),
                .drift = brio_stepper_scratch(s, first + 1),
                .Q = brio_stepper_scratch(s, first + 2),
                .gradient = brio_stepper_scratch(s, first + 3),
                .from = brio_stepper_scratch(s, first + 4)};
    for (int i = 0; i < step->tableau->stages; i++) {
        w.V[i] = brio_stepper_scratch(s, first + 5 + 2 * i);
        w.A[i] = brio_stepper_scratch(s, first + 6 + 2 * i);
    }
    return w;
}

/* An implicit stage: V_i = (Q_i - from)/(a h), A_i = (Q_i - target)/(a h)^2. */
static BrioStatus solve_stage(const Stages *w, int i, double a, double c, double weight)
{
    BrioStepper *s = w->s;
    double h = w->step->h, square = a * a * h * h;
    brio_stepper_combine(s, 1, w->target, 0, w->target, w->from);
    brio_stepper_combine(s, 1, w->target, a * h, w->drift, w->target);
    BrioObjective objective = {.target = w->target,
                               .s = square,
                               .a = 1,
                               .time = brio_stepper_time(s) + c * h,
                               .h = fabs(c != 0 ? c * h : a * h),
                               .undamped = w->step->undamped,
                               .weight = weight,
                               .from = w->from,
                               .over = a * h};
    BRIO_CHECK(brio_stepper_minimise(s, &objective, w->Q));
    brio_stepper_combine(s, 1 / square, w->Q, -1 / square, w->target, w->A[i]);
    brio_stepper_combine(s, 1, w->drift, a * h, w->A[i], w->V[i]);
    return BRIO_OK;
}

/* An explicit stage, but for the accelerations of a step without damping. */
static void evaluate_stage(const Stages *w, int i, double time, double weight)
{
    BrioStepper *s = w->s;
    brio_stepper_combine(s, 1, w->target, 0, w->target, w->Q);
    brio_stepper_combine(s, 1, w->drift, 0, w->drift, w->V[i]);
    if (w->step->undamped) return;
    brio_stepper_force(s, w->Q, w->V[i], time, w->step->h, weight, w->A[i]);
    brio_stepper_mass_solve(s, w->A[i], w->A[i]);
}

/* The slope of P at the stage, where it is wanted: for the sum, and for accelerations. */
static void add_slope(const Stages *w, int i, double time, bool explicit_stage)
{
    BrioStepper *s = w->s;
    double *slope = w->step->slope;
    bool accelerates = explicit_stage && w->step->undamped;
    if (!slope && !accelerates) return;
    brio_stepper_potential(s, w->Q, time, w->gradient);
    if (slope) brio_stepper_combine(s, 1, slope, w->step->tableau->b[i], w->gradient, slope);
    if (!accelerates) return;
    brio_stepper_mass_solve(s, w->gradient, w->A[i]);
    brio_stepper_combine(s, -1, w->A[i], 0, w->A[i], w->A[i]);
}

BrioStatus brio__tableau_step(BrioStepper *s, const BrioTableauStep *step, double *q_end,
                              double *v_end)
{
    const double *q = brio_stepper_q(s), *v = brio_stepper_v(s), h = step->h;
    const BrioTableau *t = step->tableau;
    int n = t->stages;
    Stages w = stages_of(s, step);
    if (step->slope) brio_stepper_combine(s, 0, q, 0, q, step->slope);
    for (int i = 0; i < n; i++) {
        double a = t->A[i * n + i], c = a;
        bool counted = step->weight != BRIO_NOT_COUNTED && t->b[i] != 0;
        double weight = counted ? step->weight * t->b[i] : BRIO_NOT_COUNTED;
        brio_stepper_combine(s, 1, v, 0, v, w.drift);  /* v + h sum a_ij A_j */
        brio_stepper_combine(s, 1, q, 0, q, w.target); /* q + h sum a_ij V_j */
        for (int j = 0; j < i; j++) {
            c += t->A[i * n + j];
            brio_stepper_combine(s, 1, w.drift, h * t->A[i * n + j], w.A[j], w.drift);
            brio_stepper_combine(s, 1, w.target, h * t->A[i * n + j], w.V[j], w.target);
        }
        double time = brio_stepper_time(s) + c * h;
        if (a != 0)
            BRIO_CHECK(solve_stage(&w, i, a, c, weight));
        else
            evaluate_stage(&w, i, time, weight);
        add_slope(&w, i, time, a == 0);
    }
    if (step->error) brio_stepper_combine(s, 0, q, 0, q, step->error);
    for (int i = 0; step->error && i < n; i++)
        brio_stepper_combine(s, 1, step->error, h * (t->b[i] - t->other[i]), w.V[i], step->error);
    /* the last stage is the end: to the bit, so that it is allowed if that was */
    if (brio__tableau_is_stiffly_accurate(t)) {
        brio_stepper_combine(s, 1, w.Q, 0, w.Q, q_end);
        brio_stepper_combine(s, 1, w.V[n - 1], 0, w.Q, v_end);
        return BRIO_OK;
    }
    brio_stepper_combine(s, 1, q, 0, q, q_end);
    brio_stepper_combine(s, 1, v, 0, v, v_end);
    for (int i = 0; i < n; i++) {
        brio_stepper_combine(s, 1, q_end, h * t->b[i], w.V[i], q_end);
        brio_stepper_combine(s, 1, v_end, h * t->b[i], w.A[i], v_end);
    }
    return BRIO_OK;
}
