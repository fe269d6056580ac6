/* Relaxation Runge-Kutta methods for the energy [Ketcheson2019; Ranocha2020]. A step of a tableau
 * leads from z = (q, v) to z + d; the relaxed one goes gamma times as far,
 *
 *     z' = z + gamma d,    H(z') = H(z) + gamma E,
 *
 * and takes the time gamma k instead of the tableau's step k, so that the order p >= 2 of the
 * tableau stays: gamma = 1 + O(k^(p-1)). E = k sum b_i dH/dt(Z_i) is the change of the energy at
 * the stages, by damping and by what moves from outside, and 0 otherwise.
 *
 * phi(gamma) = H(z + gamma d) - H(z) - gamma E has the root 0 always. phi/gamma, which is linear in
 * gamma where H is a quadratic form, has the other one, which a secant finds.
 *
 * Steps end at t + h: k is chosen so that gamma k = h. gamma hardly depends on k, so a secant that
 * begins with k = h/gamma needs two to four tries. (The paper lets times fall where they will.)
 *
 * Positions go beyond the stages, so there are no barriers. Linear momentum stays; angular momentum
 * changes as with the tableau. The ledger's alpha is gamma. */
#include "tableau.h"

enum { Q, V, DQ, DV, GRADIENT, POSE, FORCE, FIRST };
enum { TRIES = 8, SECANTS = 30, NODES = 5 };

typedef struct Relaxation {
    BrioStepper *s;
    double k;      /* the tableau's step */
    double target; /* H(z) as it should be */
    double change; /* E */
    double noise;  /* bound on the round-off of phi */
} Relaxation;

static const BrioField fields[] = {
    {"tableau", BRIO_CHOICE, BRIO_TABLEAU_CHOICE, 4, 0, 64, 0,
     "The method that is relaxed, of second order or higher; `own` takes A and b."},
    {"A", BRIO_LIST, "", 0, -100, 100, 0, "The matrix of your own tableau, row by row."},
    {"b", BRIO_LIST, "", 0, -100, 100, 0, "The weights of its stages."},
    {0}};

static BrioStatus choose(const double *values, BrioTableau *tableau, char *reason, size_t size)
{
    const double *A = values + 1, *b = A + 1 + BRIO_MAX_LIST;
    if (values[0] > 0 && (A[0] > 0 || b[0] > 0)) {
        snprintf(reason, size, "A and b are those of your own tableau: give `tableau: own`, too");
        return BRIO_ERROR_INPUT;
    }
    if (values[0] > 0)
        *tableau = *brio__tableau_at((int)values[0] - 1);
    else
        BRIO_CHECK(brio__tableau_read(A + 1, (int)A[0], b + 1, (int)b[0], tableau, reason, size));
    if (brio__tableau_order(tableau) >= 2) return BRIO_OK;
    snprintf(reason, size,
             "the tableau %s is of first order, and relaxation needs two: no step near the "
             "tableau's keeps the energy; use rk4, heun or sdirk2",
             tableau->name);
    return BRIO_ERROR_INPUT;
}

static BrioStatus check(const double *values, unsigned *traits, char *reason, size_t size)
{
    BrioTableau tableau;
    BRIO_CHECK(choose(values, &tableau, reason, size));
    if (!brio__tableau_is_explicit(&tableau)) *traits |= BRIO_IMPLICIT;
    return BRIO_OK;
}

/* The derivative at c of Lagrange's polynomial j over the nodes 0, 1/4, ..., 1. */
static double lagrange_slope(int j, double c)
{
    double sum = 0;
    for (int m = 0; m < NODES; m++) {
        if (m == j) continue;
        double product = 4. / (j - m);
        for (int n = 0; n < NODES; n++)
            if (n != j && n != m) product *= (4 * c - n) / (j - n);
        sum += product;
    }
    return sum;
}

/* dP/dt at a fixed q and the time t + c k, caused by scripts: of fourth order in k. It uses times
 * within the step only, because a script may start with the step. */
static double outer_power(const Relaxation *r, const double *q, double c)
{
    double power = 0;
    for (int j = 0; j < NODES; j++)
        power += lagrange_slope(j, c) *
                 brio_stepper_potential(r->s, q, brio_stepper_time(r->s) + j * r->k / 4, NULL);
    return power / r->k;
}

/* E: the sum over the stages of b_i (V_i.(M A_i + grad P) + dP/dt). */
static double change_of_energy(const Relaxation *r, const BrioTableau *t, bool driven)
{
    BrioStepper *s = r->s;
    double *q = brio_stepper_scratch(s, POSE), *g = brio_stepper_scratch(s, GRADIENT);
    double *force = brio_stepper_scratch(s, FORCE), sum = 0;
    int n = t->stages;
    for (int i = 0; i < n; i++) {
        double c = 0, power = 0;
        brio_stepper_combine(s, 1, brio_stepper_q(s), 0, brio_stepper_q(s), q);
        for (int j = 0; j <= i; j++) {
            double a = t->A[i * n + j];
            c += a;
            brio_stepper_combine(s, 1, q, r->k * a, brio_stepper_scratch(s, FIRST + 5 + 2 * j), q);
        }
        double time = brio_stepper_time(s) + c * r->k;
        if (brio_stepper_damped(s)) {
            brio_stepper_potential(s, q, time, g);
            brio_stepper_mass_multiply(s, brio_stepper_scratch(s, FIRST + 6 + 2 * i), force);
            brio_stepper_combine(s, 1, force, 1, g, force);
            power = brio_stepper_dot(s, brio_stepper_scratch(s, FIRST + 5 + 2 * i), force);
        }
        if (driven) power += outer_power(r, q, c);
        sum += t->b[i] * power;
    }
    return r->k * sum;
}

/* phi at gamma, with the state there in Q and V. */
static double miss(Relaxation *r, double gamma)
{
    BrioStepper *s = r->s;
    double *q = brio_stepper_scratch(s, Q), *v = brio_stepper_scratch(s, V), noise;
    brio_stepper_combine(s, 1, brio_stepper_q(s), gamma, brio_stepper_scratch(s, DQ), q);
    brio_stepper_combine(s, 1, brio_stepper_v(s), gamma, brio_stepper_scratch(s, DV), v);
    double potential =
        brio_stepper_evaluate(s, q, brio_stepper_time(s) + gamma * r->k, NULL, &noise);
    double kinetic = brio_stepper_kinetic(s, v);
    r->noise = noise + 8 * DBL_EPSILON * (kinetic + fabs(r->target));
    return potential + kinetic - r->target - gamma * r->change;
}

/* The root of phi near 1, as exact as round-off lets it be; NAN: there is none. Leaves the state in
 * Q and V. Where phi bends (a stiff body that turns is stretched by a straight step), a secant goes
 * too far: then the root is between two points of different signs, and their middle is tried. */
static double relax(Relaxation *r)
{
    double before = 1.001, last = miss(r, before), gamma = 1, best = 1, least = INFINITY;
    double below = last < 0 ? before : NAN, above = last > 0 ? before : NAN; /* signs of phi */
    for (int i = 0; i < SECANTS && gamma > 0.5 && gamma < 2; i++) {
        double left = miss(r, gamma), slope = (left / gamma - last / before) / (gamma - before);
        bool closer = fabs(left) < fabs(least);
        if (closer) best = gamma, least = left;
        /* the motion is too small for its energy to be measured */
        if (i == 0 && !(fabs(slope) > 1e4 * r->noise)) break;
        double next = gamma - left / gamma / slope;
        *(left < 0 ? &below : &above) = gamma;
        bool between = !isnan(below) && !isnan(above) && fabs(least) > r->noise;
        double low = fmin(below, above), high = fmax(below, above);
        if (between && !(closer && next > low && next < high)) next = (low + high) / 2;
        if (!(closer || between) || left == 0 || next == gamma || !isfinite(next)) break;
        before = gamma;
        last = left;
        gamma = next;
    }
    return fabs(miss(r, best)) <= r->noise ? best : NAN;
}

/* The tableau's step of length k: its end in DQ and DV. */
static BrioStatus tableau_step(const Relaxation *r, const BrioTableau *tableau, double weight)
{
    const BrioTableauStep step = {
        .tableau = tableau, .h = r->k, .weight = weight, .scratch = FIRST};
    return brio__tableau_step(r->s, &step, brio_stepper_scratch(r->s, DQ),
                              brio_stepper_scratch(r->s, DV));
}

/* One try: the tableau's step of length k, relaxed. */
static BrioStatus attempt(Relaxation *r, const BrioTableau *tableau, double *gamma)
{
    BrioStepper *s = r->s;
    double *dq = brio_stepper_scratch(s, DQ), *dv = brio_stepper_scratch(s, DV);
    double added, dissipated;
    BRIO_CHECK(tableau_step(r, tableau, BRIO_NOT_COUNTED));
    brio_stepper_work(s, dq, r->k, &added, &dissipated);
    brio_stepper_combine(s, 1, dq, -1, brio_stepper_q(s), dq);
    brio_stepper_combine(s, 1, dv, -1, brio_stepper_v(s), dv);
    r->change = 0;
    if (brio_stepper_damped(s) || added != 0) r->change = change_of_energy(r, tableau, added != 0);
    *gamma = relax(r);
    if (!isnan(*gamma)) return BRIO_OK;
    return brio_stepper_fail(s, BRIO_STEP_REJECTED,
                             "no relaxed step keeps the energy: the step is too long for this "
                             "tableau");
}

static BrioStatus step(BrioStepper *s, double h)
{
    char reason[256];
    BrioTableau tableau;
    BrioStatus status = choose(brio_stepper_values(s), &tableau, reason, sizeof reason);
    if (status != BRIO_OK) return brio_stepper_fail(s, status, reason);
    Relaxation r = {.s = s, .k = h, .target = brio_stepper_target(s)};
    double gamma = 1, off = INFINITY, k_last = 0, last = 0;
    if (isnan(r.target))
        r.target = brio_stepper_potential(s, brio_stepper_q(s), brio_stepper_time(s), NULL) +
                   brio_stepper_kinetic(s, brio_stepper_v(s));
    for (int i = 0; i < TRIES; i++) {
        BRIO_CHECK(attempt(&r, &tableau, &gamma));
        off = gamma * r.k / h - 1;
        /* TOLERANCE of the time: round-off of the energy may leave gamma more uncertain */
        bool stays = i > 0 && fabs(off) >= fabs(last) && fabs(off) <= 1e-6;
        if (fabs(off) <= 1e-13 || stays || i + 1 == TRIES) break;
        /* a secant where it is not made of round-off */
        double slope = i > 0 && fabs(last) > 1e-5 ? (off - last) / (r.k - k_last) : gamma / h;
        k_last = r.k;
        last = off;
        r.k = fmin(fmax(r.k - off / slope, h / 2), 2 * h);
    }
    off = fabs(off);
    if (!(off <= 1e-6))
        return brio_stepper_fail(s, BRIO_STEP_REJECTED,
                                 "no step of this tableau ends where it should when it is relaxed: "
                                 "the step is too long");
    /* once more, for the ledger: what the tries before counted could not be taken back */
    if (brio_stepper_damped(s) || !brio__tableau_is_explicit(&tableau))
        BRIO_CHECK(tableau_step(&r, &tableau, 1));
    double *q = brio_stepper_scratch(s, Q), rest = 0, t = brio_stepper_time(s);
    /* what moves from outside goes on for what is left of the time */
    if (off > 0 && r.change != 0)
        rest = brio_stepper_potential(s, q, t + h, NULL) -
               brio_stepper_potential(s, q, t + gamma * r.k, NULL);
    brio_stepper_set_target(s, r.target + gamma * r.change + rest, gamma);
    return brio_stepper_accept(s, h, q, brio_stepper_scratch(s, V));
}

BRIO_INTEGRATOR(relaxation){
    .name = "relaxation",
    .summary = "A Runge-Kutta method that lengthens or shortens its steps a little to keep the "
               "energy; rk4 by default, for short steps.",
    .citation = "Ketcheson2019",
    .order = 4,
    .traits = BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_ENERGY_CONTROLLED,
    .fields = fields,
    .step = step,
    .check = check,
};
