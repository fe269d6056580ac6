/* The exponential Rosenbrock-Euler method [Chen2017; Hochbruck2009]: forces are linearised where
 * the step begins, and the linear problem is solved exactly,
 *
 *     z' = z + h phi1(h J) f(z),    phi1(x) = (e^x - 1)/x,    z = (q, v),
 *     f = (v, M^-1 F),    J = df/dz = [0, I; -M^-1 K, M^-1 dF/dv].
 *
 * Second order, and exact where forces are linear: vibrations of any frequency keep their size and
 * phase. No iteration and no factor, but a product with K for every 0.6 rad or so of the fastest
 * vibration. Nothing keeps the end of a step from what is forbidden, so there are no barriers.
 *
 * As one exponential: with x = q - q_n, factors e = 1 and s = t - t_n,
 *
 *     x' = v,    v' = c e + b s - M^-1 K x - C v,    e' = 0,    s' = e,
 *
 * C v the change of the damping forces along (x, v) by a difference, c = M^-1 F + C v_n, and b the
 * rate by which scripts and forces that vary change M^-1 F. Then y' = e^(h J~) y, y = (x, v, e, s).
 *
 * e^(tau J~) y is taken in the Krylov space of y [Saad1992; Sidje1998]: Arnoldi's relation
 * J~ V = V H + eta v_last e_m^T makes it |y| V e^(tau H) e_1, and eta e_m^T tau phi1(tau H) e_1
 * times v_last both corrects it and says how far it is off. Where the space is full, tau becomes
 * shorter than the step, with the same space, and the next one begins there.
 *
 * The inner product is that of the energy, v.M v + x.(K + sigma M) x. In it J~ is skew up to a part
 * of size sqrt(sigma)/2, so that nothing is amplified on the way, however stiff K is. (In a plain
 * one h J~ is as far from normal as h^2 K is large.) sigma = 1/h^2, or more where K has eigenvalues
 * below that. */
#include "integrator.h"

#include "brio/stages.h"

enum { SPACE = 31, EVERY = 3, TERMS = 24, SUBSTEPS = 100000, SHIFTS = 40 };
_Static_assert(3 * (SPACE + 1) <= (int)BRIO_ROOM, "there is room for the vectors of the space");

enum { X, V, KX, CONSTANT, RATE, DAMPING, P, G, POSE, FAST, ROOM, OLD_X, OLD_V };

/* An element y of the linear problem, with k = K x. */
typedef struct Element {
    double *x, *v, *k;
    double e, s;
} Element;

typedef struct Problem {
    BrioStepper *s;
    double h, sigma;
    double heavy;    /* the weight of e in the inner product; that of s is over h^2 */
    double near;     /* of the difference that C v is: m/s */
    bool damped;     /* a damping model acts as a force */
    bool varies;     /* b is not 0 */
    int products;    /* with K */
    double last_eta; /* H of one row more */
    Element basis[SPACE + 1];
    double H[SPACE * SPACE]; /* row by row */
} Problem;

static const BrioField fields[] = {
    {"tol", BRIO_REAL, "", 1e-10, 1e-15, 1e-2, 0,
     "Error of the exponential in a step, as a fraction of the motion."},
    {0}};

/* ---- elements --------------------------------------------------------------------------- */

static void add(const Problem *p, double factor, const Element *from, Element *to)
{
    brio_stepper_combine(p->s, 1, to->x, factor, from->x, to->x);
    brio_stepper_combine(p->s, 1, to->v, factor, from->v, to->v);
    brio_stepper_combine(p->s, 1, to->k, factor, from->k, to->k);
    to->e += factor * from->e;
    to->s += factor * from->s;
}

static void scale(const Problem *p, double factor, const Element *from, Element *to)
{
    brio_stepper_combine(p->s, factor, from->x, 0, from->x, to->x);
    brio_stepper_combine(p->s, factor, from->v, 0, from->v, to->v);
    brio_stepper_combine(p->s, factor, from->k, 0, from->k, to->k);
    to->e = factor * from->e;
    to->s = factor * from->s;
}

/* M v and (K + sigma M) x of y, with which inner products are dots. */
static void dual(const Problem *p, const Element *y)
{
    double *mv = brio_stepper_scratch(p->s, P), *g = brio_stepper_scratch(p->s, G);
    brio_stepper_mass_multiply(p->s, y->v, mv);
    brio_stepper_mass_multiply(p->s, y->x, g);
    brio_stepper_combine(p->s, p->sigma, g, 1, y->k, g);
}

/* With the y that `dual` was asked for. */
static double inner(const Problem *p, const Element *y, const Element *z)
{
    return brio_stepper_dot(p->s, brio_stepper_scratch(p->s, P), z->v) +
           brio_stepper_dot(p->s, brio_stepper_scratch(p->s, G), z->x) +
           p->heavy * (y->e * z->e + y->s * z->s / (p->h * p->h));
}

/* Negative: K + sigma M is not positive. */
static double norm(const Problem *p, const Element *y)
{
    dual(p, y);
    double bent = brio_stepper_dot(p->s, brio_stepper_scratch(p->s, G), y->x);
    return bent < 0 ? -1 : sqrt(inner(p, y, y));
}

/* What the damping forces at the start change by along (x, v), of first order. */
static void change_damping(const Problem *p, const Element *y, double *f)
{
    BrioStepper *s = p->s;
    double *q = brio_stepper_scratch(s, POSE), *v = brio_stepper_scratch(s, FAST);
    double size = fmax(brio_stepper_norm_max(s, y->v), brio_stepper_norm_max(s, y->x) / p->h);
    double step = size > 0 ? p->near / size : 1;
    brio_stepper_combine(s, 1, brio_stepper_q(s), step, y->x, q);
    brio_stepper_combine(s, 1, brio_stepper_v(s), step, y->v, v);
    brio_stepper_damping_force(s, q, v, p->h, BRIO_NOT_COUNTED, f);
    brio_stepper_combine(s, 1 / step, f, -1 / step, brio_stepper_scratch(s, DAMPING), f);
}

/* z = J~ y */
static void apply(Problem *p, const Element *y, Element *z)
{
    BrioStepper *s = p->s;
    double *f = brio_stepper_scratch(s, ROOM);
    brio_stepper_combine(s, -1, y->k, 0, y->k, z->v);
    if (p->damped) {
        change_damping(p, y, f);
        brio_stepper_combine(s, 1, z->v, 1, f, z->v);
    }
    brio_stepper_mass_solve(s, z->v, z->v);
    brio_stepper_combine(s, 1, z->v, y->e, brio_stepper_scratch(s, CONSTANT), z->v);
    if (p->varies) brio_stepper_combine(s, 1, z->v, y->s, brio_stepper_scratch(s, RATE), z->v);
    brio_stepper_combine(s, 1, y->v, 0, y->v, z->x);
    brio_stepper_stiffness(s, z->x, z->k);
    z->e = 0;
    z->s = y->e;
    p->products++;
}

/* ---- the space -------------------------------------------------------------------------- */

/* Vector n + 1 of the space and column n of H. False: K + sigma M is not positive. */
static bool extend(Problem *p, int n)
{
    Element *z = &p->basis[n + 1];
    apply(p, &p->basis[n], z);
    for (int i = 0; i <= n; i++) p->H[i * SPACE + n] = 0;
    for (int pass = 0; pass < 2; pass++) { /* once more for what round-off left */
        double part[SPACE];
        dual(p, z);
        for (int i = 0; i <= n; i++) part[i] = inner(p, z, &p->basis[i]);
        for (int i = 0; i <= n; i++) {
            p->H[i * SPACE + n] += part[i];
            add(p, -part[i], &p->basis[i], z);
        }
    }
    double eta = norm(p, z);
    if (eta < 0) return false;
    p->last_eta = eta;
    if (n + 1 < SPACE) {
        for (int j = 0; j < n; j++) p->H[(n + 1) * SPACE + j] = 0;
        p->H[(n + 1) * SPACE + n] = eta;
    }
    if (eta > 0) scale(p, 1 / eta, z, z);
    return true;
}

/* c = e^(tau H) e_1 for the first n vectors, and c[n] = eta e_n^T tau phi1(tau H) e_1: the
 * exponential of H with the row of eta and a column of zeros more, by its series in parts in which
 * it converges fast. */
static void small_exponential(const Problem *p, int n, double tau, double *c)
{
    double size = p->last_eta, term[SPACE + 1], next[SPACE + 1];
    for (int j = 0; j < n; j++) {
        double column = j + 1 == n ? p->last_eta : 0;
        for (int i = 0; i < n; i++) column += fabs(p->H[i * SPACE + j]);
        size = fmax(size, column);
    }
    int parts = (int)fmin(ceil(tau * size), 1e6) + 1;
    for (int i = 0; i <= n; i++) c[i] = i == 0;
    for (int part = 0; part < parts; part++) {
        memcpy(term, c, sizeof term);
        for (int k = 1; k <= TERMS; k++) {
            for (int i = 0; i < n; i++) {
                next[i] = 0;
                for (int j = i > 0 ? i - 1 : 0; j < n; j++)
                    next[i] += p->H[i * SPACE + j] * term[j];
            }
            next[n] = p->last_eta * term[n - 1];
            for (int i = 0; i <= n; i++) {
                term[i] = tau / parts / k * next[i];
                c[i] += term[i];
            }
        }
    }
}

/* y goes as far as the space allows, at most by `left`: returns how far; negative: K + sigma M is
 * not positive. `allowed`: the error per second. */
static double advance(Problem *p, Element *y, double left, double allowed)
{
    double size = norm(p, y), c[SPACE + 1], tau = left;
    int n = 0;
    if (size < 0) return -1;
    scale(p, 1 / size, y, &p->basis[0]);
    for (bool done = false; !done && n < SPACE;) {
        if (!extend(p, n)) return -1;
        n++;
        bool all = p->last_eta * left <= 1e-14; /* the space has all of it */
        if (n % EVERY && n < SPACE && !all) continue;
        small_exponential(p, n, tau, c);
        done = all || size * fabs(c[n]) <= allowed * tau;
    }
    for (double off = size * fabs(c[n]); n == SPACE && off > allowed * tau;) {
        double factor = 0.9 * pow(allowed * tau / off, 1. / SPACE);
        tau *= fmin(fmax(factor, 0.2), 0.9);
        small_exponential(p, n, tau, c);
        off = size * fabs(c[n]);
    }
    scale(p, size * c[0], &p->basis[0], y);
    for (int i = 1; i < n; i++) add(p, size * c[i], &p->basis[i], y);
    if (p->last_eta > 0) add(p, size * c[n], &p->basis[n], y);
    return tau;
}

/* ---- a step ----------------------------------------------------------------------------- */

/* c and b, the size of what moves, and y at the start. */
static BrioStatus prepare(Problem *p, Element *y, double *size)
{
    BrioStepper *s = p->s;
    const double *q = brio_stepper_q(s), *v = brio_stepper_v(s), t = brio_stepper_time(s);
    double *c = brio_stepper_scratch(s, CONSTANT), *b = brio_stepper_scratch(s, RATE);
    double *damping = brio_stepper_scratch(s, DAMPING);
    double later = brio_stepper_potential(s, q, t + p->h, b);
    brio_stepper_potential(s, q, t, c);
    if (!isfinite(later))
        return brio_stepper_fail(s, BRIO_STEP_REJECTED,
                                 "what moves from outside goes too far in a step: use a shorter "
                                 "step");
    brio_stepper_combine(s, 1 / p->h, c, -1 / p->h, b, b);
    brio_stepper_mass_solve(s, b, b);
    p->varies = brio_stepper_norm_max(s, b) > 0;
    brio_stepper_combine(s, -1, c, 0, c, c);
    brio_stepper_combine(s, 0, v, 0, v, y->x);
    brio_stepper_combine(s, 0, v, 0, v, y->k);
    brio_stepper_combine(s, 1, v, 0, v, y->v);
    y->e = 1;
    y->s = 0;
    if (p->damped) {
        double *f = brio_stepper_scratch(s, ROOM);
        brio_stepper_damping_force(s, q, v, p->h, BRIO_NOT_COUNTED, damping);
        brio_stepper_mass_solve(s, c, f);
        /* small, so that it is a derivative, and not so small that it is round-off */
        p->near = 1e-5 * fmax(brio_stepper_norm_max(s, v), p->h * brio_stepper_norm_max(s, f));
        if (!(p->near > 0)) p->near = 1e-5;
        change_damping(p, y, f);
        brio_stepper_combine(s, 1, c, 1, damping, c);
        brio_stepper_combine(s, 1, c, -1, f, c);
    }
    brio_stepper_mass_solve(s, c, c);
    p->heavy = 2 * brio_stepper_kinetic(s, v) + 2 * p->h * p->h * brio_stepper_kinetic(s, c) +
               2 * pow(p->h, 4) * brio_stepper_kinetic(s, b);
    *size = sqrt(p->heavy);
    return brio_stepper_linearise(s, q, t);
}

/* One part of the step: like `advance`, and damping in the ledger, by the mean of its ends. */
static double count_part(Problem *p, Element *y, double left, double allowed)
{
    BrioStepper *s = p->s;
    double *q = brio_stepper_scratch(s, POSE), *f = brio_stepper_scratch(s, ROOM);
    double *old_x = brio_stepper_scratch(s, OLD_X), *old_v = brio_stepper_scratch(s, OLD_V);
    if (!p->damped) return advance(p, y, left, allowed);
    brio_stepper_combine(s, 1, y->x, 0, y->x, old_x);
    brio_stepper_combine(s, 1, y->v, 0, y->v, old_v);
    double tau = advance(p, y, left, allowed);
    for (int end = 0; tau > 0 && end < 2; end++) {
        brio_stepper_combine(s, 1, brio_stepper_q(s), 1, end ? y->x : old_x, q);
        brio_stepper_damping_force(s, q, end ? y->v : old_v, p->h, tau / (2 * p->h), f);
    }
    return tau;
}

static BrioStatus step(BrioStepper *s, double h)
{
    Problem p = {.s = s, .h = h, .sigma = 1 / (h * h), .damped = brio_stepper_damped(s)};
    Element y = {.x = brio_stepper_scratch(s, X),
                 .v = brio_stepper_scratch(s, V),
                 .k = brio_stepper_scratch(s, KX)};
    double size = 0, done = 0, tol = brio_stepper_value(s, "tol");
    int shifts = 0, parts = 0;
    for (int i = 0; i <= SPACE; i++)
        p.basis[i] = (Element){.x = brio_stepper_room(s, 3 * i),
                               .v = brio_stepper_room(s, 3 * i + 1),
                               .k = brio_stepper_room(s, 3 * i + 2)};
    BRIO_CHECK(prepare(&p, &y, &size));
    while (size > 0 && done < h) {
        if (brio_stepper_stopped(s, parts)) return BRIO_STOPPED;
        double tau = count_part(&p, &y, h - done, tol * size / h);
        if (tau < 0 && ++shifts < SHIFTS) {
            p.sigma *= 4;
            continue;
        }
        if (!(tau > 0) || ++parts > SUBSTEPS)
            return brio_stepper_fail(s, BRIO_STEP_REJECTED,
                                     "the exponential does not converge: use a shorter step or an "
                                     "implicit method");
        done = done + tau >= h * (1 - 1e-14) ? h : done + tau;
    }
    brio_stepper_count_iterations(s, p.products);
    brio_stepper_combine(s, 1, brio_stepper_q(s), 1, y.x, y.x);
    return brio_stepper_accept(s, h, y.x, y.v);
}

BRIO_INTEGRATOR(exponential){
    .name = "exponential",
    .summary = "Linearises forces once per step and solves the linear motion exactly: second "
               "order, no damping at any frequency; no barriers.",
    .citation = "Chen2017",
    .order = 2,
    .traits = BRIO_KEEPS_LINEAR_MOMENTUM | BRIO_LINEARISED,
    .fields = fields,
    .step = step,
};
