/* The average vector field method [Quispel2008]: the midpoint rule with the mean of the force along
 * the way instead of the force in its middle,
 *
 *     q' - q = h (v + v')/2,    M (v' - v) = -h g,    g = sum_i b_i grad P(q + c_i (q' - q)),
 *
 * with the points c_i and weights b_i of Gauss. The exact mean has g.(q' - q) = P(q') - P(q), so
 * that the energy stays: g is a discrete gradient [Gonzalez1996]. The sum over m points is the mean
 * wherever P is a polynomial of degree 2 m or less along the way: two points suffice for stvk,
 * whose P has degree four. Symmetric and of second order; angular momentum is kept to second order
 * only (energy_momentum.c keeps both).
 *
 * The equation is solved by defects. With the residual R(q) = M (q - q_n - h v) + h^2/2 g + damping
 * of the midpoint rule, each iteration solves the primitive with a = 2/3 and s = 9/16 h^2 for a
 * target that gives it the gradient R at the last iterate. Its Hessian h^2/4 K(y), y = q_n + 2/3
 * (q - q_n), is that of h^2/2 g where K is linear along the way: sum b_i c_i K(c_i) = K(2/3)/2. So
 * iterations converge faster if K changes less along the path. */
#include "integrator.h"

enum { TARGET, NEXT, VELOCITY, POINT, GRADIENT, MEAN, RESIDUAL, DEFECT, BEFORE };

enum { MAX_POINTS = 5, ITERATIONS = 60 };
typedef struct Rule {
    double c[MAX_POINTS], b[MAX_POINTS];
} Rule;

/* Gauss-Legendre on [0, 1]. */
static const Rule gauss[MAX_POINTS] = {
    {{0.5}, {1}},
    {{0.21132486540518712, 0.78867513459481288}, {0.5, 0.5}},
    {{0.11270166537925831, 0.5, 0.88729833462074169}, {5. / 18, 8. / 18, 5. / 18}},
    {{0.06943184420297371, 0.33000947820757187, 0.66999052179242813, 0.93056815579702629},
     {0.17392742256872693, 0.32607257743127307, 0.32607257743127307, 0.17392742256872693}},
    {{0.04691007703066800, 0.23076534494715846, 0.5, 0.76923465505284154, 0.95308992296933200},
     {0.11846344252809454, 0.23931433524968324, 64. / 225, 0.23931433524968324,
      0.11846344252809454}},
};

static BrioObjective objective_of(BrioStepper *s, double h, double a, double scale,
                                  const double *target, double weight)
{
    return (BrioObjective){.target = target,
                           .s = scale * h * h,
                           .a = a,
                           .time = brio_stepper_time(s) + h,
                           .h = h,
                           .weight = weight,
                           .blend_damping = 1};
}

/* MEAN = sum b_i grad P(q_n + c_i (q - q_n)) - grad P of the middle; whether all are allowed. */
static bool add_points(BrioStepper *s, double h, int points, const double *q)
{
    const double *q_n = brio_stepper_q(s), t = brio_stepper_time(s);
    double *y = brio_stepper_scratch(s, POINT), *g = brio_stepper_scratch(s, GRADIENT);
    double *mean = brio_stepper_scratch(s, MEAN);
    const Rule *rule = &gauss[points - 1];
    brio_stepper_combine(s, 0.5, q, 0.5, q_n, y);
    if (!isfinite(brio_stepper_potential(s, y, t + h / 2, g))) return false;
    brio_stepper_combine(s, -1, g, 0, g, mean);
    for (int i = 0; i < points; i++) {
        double c = rule->c[i];
        brio_stepper_combine(s, c, q, 1 - c, q_n, y);
        if (!isfinite(brio_stepper_potential(s, y, t + c * h, g))) return false;
        brio_stepper_combine(s, 1, mean, rule->b[i], g, mean);
    }
    return true;
}

/* R at q in RESIDUAL, as the gradient of the midpoint rule's objective for a shifted TARGET. */
static bool find_residual(BrioStepper *s, double h, int points, const double *q)
{
    double *target = brio_stepper_scratch(s, TARGET), *mean = brio_stepper_scratch(s, MEAN);
    brio_stepper_combine(s, 1, brio_stepper_q(s), h, brio_stepper_v(s), target);
    if (points > 1) {
        if (!add_points(s, h, points, q)) return false;
        brio_stepper_mass_solve(s, mean, mean);
        brio_stepper_combine(s, 1, target, -h * h / 2, mean, target);
    }
    BrioObjective middle = objective_of(s, h, 0.5, 1, target, BRIO_NOT_COUNTED);
    brio_stepper_objective_gradient(s, &middle, q, brio_stepper_scratch(s, RESIDUAL));
    return true;
}

/* From NEXT to where the primitive of defects leads; how far that was in m/s. */
static BrioStatus improve(BrioStepper *s, double h, double *speed)
{
    double *next = brio_stepper_scratch(s, NEXT), *before = brio_stepper_scratch(s, BEFORE);
    double *defect = brio_stepper_scratch(s, DEFECT);
    BrioGuess guess = {.q = before};
    brio_stepper_combine(s, 1, next, 0, next, before);
    BrioObjective objective = objective_of(s, h, 2. / 3, 9. / 16, before, BRIO_NOT_COUNTED);
    brio_stepper_objective_gradient(s, &objective, before, defect); /* forces alone */
    brio_stepper_combine(s, 1, defect, -1, brio_stepper_scratch(s, RESIDUAL), defect);
    brio_stepper_mass_solve(s, defect, defect);
    brio_stepper_combine(s, 1, before, 1, defect, defect);
    objective.target = defect;
    objective.guess = &guess;
    BRIO_CHECK(brio_stepper_minimise(s, &objective, next));
    brio_stepper_combine(s, 1, next, -1, before, before);
    *speed = brio_stepper_norm_max(s, before) / h;
    return BRIO_OK;
}

/* The end of the step in NEXT. */
static BrioStatus find_end(BrioStepper *s, double h, int points)
{
    double *next = brio_stepper_scratch(s, NEXT), *target = brio_stepper_scratch(s, TARGET);
    double tol = 0.1 * brio_stepper_tolerance(s, NULL), speed = INFINITY, last, fastest;
    brio_stepper_combine(s, 1, brio_stepper_q(s), h, brio_stepper_v(s), target);
    BrioObjective middle = objective_of(s, h, 0.5, 1, target, BRIO_NOT_COUNTED);
    BRIO_CHECK(brio_stepper_minimise(s, &middle, next));
    brio_stepper_combine(s, 1 / h, next, -1 / h, brio_stepper_q(s), target);
    fastest = brio_stepper_norm_max(s, target);
    for (int k = 0; k < ITERATIONS; k++) {
        if (!find_residual(s, h, points, next))
            return brio_stepper_fail(s, BRIO_STEP_REJECTED,
                                     "the way of the step leads through a state that an energy "
                                     "forbids");
        if (speed <= tol || points == 1) return BRIO_OK;
        last = speed;
        BRIO_CHECK(improve(s, h, &speed));
        /* they no longer get shorter: round-off */
        if (speed >= last && speed <= 1e-9 * fastest) tol = speed;
    }
    return brio_stepper_fail(s, BRIO_STEP_REJECTED,
                             "the mean force along the way of the step was not found: it changes "
                             "too much in a step");
}

static BrioStatus step(BrioStepper *s, double h)
{
    const double *q = brio_stepper_q(s), *v = brio_stepper_v(s);
    double *next = brio_stepper_scratch(s, NEXT), *velocity = brio_stepper_scratch(s, VELOCITY);
    BRIO_CHECK(find_end(s, h, (int)brio_stepper_value(s, "points")));
    BrioObjective middle = objective_of(s, h, 0.5, 1, brio_stepper_scratch(s, TARGET), 1);
    brio_stepper_count_solve(s, &middle, next);
    brio_stepper_combine(s, 2 / h, next, -2 / h, q, velocity);
    brio_stepper_combine(s, 1, velocity, -1, v, velocity);
    return brio_stepper_accept(s, h, next, velocity);
}

static const BrioField fields[] = {
    {"points", BRIO_INTEGER, "", 3, 1, MAX_POINTS, 0,
     "Points of the mean of the force. 1: implicit midpoint; 2: keeps the energy of stvk; more for "
     "other materials."},
    {0}};

BRIO_INTEGRATOR(average_vector_field){
    .name = "average-vector-field",
    .summary = "Midpoint rule with the mean force along the step: keeps the energy without a "
               "multiplier, angular momentum only nearly.",
    .citation = "Quispel2008",
    .order = 2,
    .traits = BRIO_IMPLICIT | BRIO_KEEPS_LINEAR_MOMENTUM,
    .fields = fields,
    .step = step,
};
