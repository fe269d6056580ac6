/* The Runge-Kutta methods: each is its tableau (tableau.c), or the user's own from the scene. */
#include "tableau.h"

static BrioStatus advance(BrioStepper *s, const BrioTableau *tableau, double h)
{
    double *q = brio_stepper_scratch(s, 0), *v = brio_stepper_scratch(s, 1);
    bool estimates = brio_stepper_wants_error(s) && tableau->other[0] != 0;
    double *error = estimates ? brio_stepper_scratch(s, 2) : NULL;
    BRIO_CHECK(brio__tableau_step(
        s,
        &(BrioTableauStep){.tableau = tableau, .h = h, .weight = 1, .scratch = 3, .error = error},
        q, v));
    if (error) brio_stepper_error(s, 1, error);
    return brio_stepper_accept(s, h, q, v);
}

static BrioStatus step(BrioStepper *s, double h)
{
    return advance(s, brio__tableau(brio_stepper_name(s)), h);
}

/* Of those whose error is estimated by differences, `constant` is the larger of the two
 * conditions of order 3 that they miss, |sum b_i c_i^2/2 - 1/6| and |sum b_i a_ij c_j - 1/6|. */
#define RUNGE_KUTTA(symbol, text, declared, about, cites, what, how, constant)        \
    BRIO_INTEGRATOR(symbol)                                                           \
    {                                                                                 \
        .name = text, .summary = about, .citation = cites, .order = declared,         \
        .traits = BRIO_KEEPS_LINEAR_MOMENTUM | (what), .step = step, .estimate = how, \
        .error_constant = constant                                                    \
    }

RUNGE_KUTTA(forward_euler, "forward-euler", 1,
            "Explicit; gains energy on every oscillation: for comparison, not for use.",
            "Hairer2006", 0, BRIO_BY_DIFFERENCES, 0.5);
RUNGE_KUTTA(rk2, "rk2", 2,
            "Explicit midpoint rule: two force evaluations per step; gains a little energy, for "
            "short steps.",
            "Hairer2006", 0, BRIO_BY_DIFFERENCES, 1.0 / 6);
RUNGE_KUTTA(heun, "heun", 2,
            "Explicit trapezoidal rule: two force evaluations per step; gains a little energy, "
            "for short steps.",
            "Hairer2006", 0, BRIO_BY_DIFFERENCES, 1.0 / 6);
RUNGE_KUTTA(rk4, "rk4", 4,
            "The classical explicit method: four force evaluations per step; very accurate at "
            "short steps.",
            "Hairer2006", 0, BRIO_BY_HALVES, 0);
RUNGE_KUTTA(sdirk2, "sdirk2", 2,
            "Two solves per step; second order, damps fast vibrations, slow ones little.",
            "Alexander1977", BRIO_IMPLICIT | BRIO_END_IS_SOLVED, BRIO_BY_DIFFERENCES, 0.0404);
RUNGE_KUTTA(
    tr_bdf2, "tr-bdf2", 2,
    "Trapezoidal rule, then BDF2 within the step: two solves, second order, damps fast vibrations.",
    "Bank1985", BRIO_IMPLICIT | BRIO_END_IS_SOLVED, BRIO_BY_ITSELF, 0);

/* ---- the user's own --------------------------------------------------------------------- */

static const BrioField fields[] = {
    {"A", BRIO_LIST, "", 0, -100, 100, 0,
     "The matrix of the tableau, row by row: zeros right of the diagonal. Without A and b: "
     "implicit midpoint."},
    {"b", BRIO_LIST, "", 0, -100, 100, 0, "The weights of the stages; their sum is 1."},
    {0}};

static BrioStatus read_own(const double *values, BrioTableau *tableau, char *reason, size_t size)
{
    const double *A = values, *b = values + 1 + BRIO_MAX_LIST;
    if (A[0] > 0 || b[0] > 0)
        return brio__tableau_read(A + 1, (int)A[0], b + 1, (int)b[0], tableau, reason, size);
    *tableau = *brio__tableau("midpoint");
    return BRIO_OK;
}

static BrioStatus own_check(const double *values, unsigned *traits, char *reason, size_t size)
{
    BrioTableau tableau;
    BRIO_CHECK(read_own(values, &tableau, reason, size));
    if (!brio__tableau_is_explicit(&tableau)) *traits |= BRIO_IMPLICIT;
    if (brio__tableau_is_stiffly_accurate(&tableau)) *traits |= BRIO_END_IS_SOLVED;
    return BRIO_OK;
}

static BrioStatus own_step(BrioStepper *s, double h)
{
    char reason[256];
    BrioTableau tableau;
    BrioStatus status = read_own(brio_stepper_values(s), &tableau, reason, sizeof reason);
    return status == BRIO_OK ? advance(s, &tableau, h) : brio_stepper_fail(s, status, reason);
}

BRIO_INTEGRATOR(runge_kutta){
    .name = "runge-kutta",
    .summary = "Your own tableau: `{type: runge-kutta, A: [[1/2]], b: [1]}`; explicit or "
               "diagonally implicit, up to 6 stages.",
    .citation = "Hairer2006",
    .traits = BRIO_KEEPS_LINEAR_MOMENTUM,
    .fields = fields,
    .step = own_step,
    .check = own_check,
};
