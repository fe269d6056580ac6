/* Linearised explicit Euler [Shinya2004, Sec. 4]: the forces are linearised once per step,
 *
 *     f(x, v) = f0 - K (x - x0) + D-force(v),    K = d2P/dq2 at the start of the step,
 *
 * and the step is gone through in short inner steps, each a product with the matrix K, which costs
 * less than a nonlinear force where that is expensive. The inner step h_l stays below the stability
 * limit of the largest eigenvalue k0 of M^-1 K times `safety`. k0 is estimated before the first
 * step, every hundred steps, and after signs of divergence, by Lanczos' method: the power method on
 * the whole space of its iterates.
 *
 * Two forms. `symplectic` (velocities first) is stable without damping for h_l^2 k0 + 2 h_l d < 4,
 * d the largest eigenvalue of M^-1 D. `forward` is the paper's (its Eq. 10 and 11):
 * h_l = 2/sqrt(k0), and Rayleigh damping of that strength or the vibrations grow; see
 * `brio stability`.
 *
 * Divergence, looked for in every inner step: the displacement since the forces were linearised
 * lives in modes beyond the limit, d.K d > (4/h_l^2) d.M d, or is not finite. (K d is the force of
 * the next inner step, so this costs a product with M.) Then, as in the paper, the latest inner
 * step is discarded, and K, D and k0 are evaluated again where the one before it ended; the rest of
 * the step goes on from there. If the very first inner step after that diverges and k0 has not
 * grown, the step is tried in halves. The number of inner steps is reported as the step's
 * iterations. */
#include "integrator.h"

enum { FORM_FORWARD, FORM_SYMPLECTIC };
enum { K0, D0 }; /* memos: the largest eigenvalues of M^-1 K, and of M^-1 D, times `safety` */
enum { INNER_MAX = 1000000, LANCZOS_MAX = 60, ROUNDS_MAX = 20 };

static const BrioField fields[] = {
    {"inner", BRIO_INTEGER, "", 0, 0, INNER_MAX, 0,
     "Inner steps per step; 0: as many as stability requires."},
    {"safety", BRIO_REAL, "", 1.5, 1, 100, 0,
     "Safety factor on the largest eigenvalue of the stiffness."},
    {"form", BRIO_CHOICE, "forward|symplectic", FORM_SYMPLECTIC, 0, 1, 0,
     "Inner method: forward needs damping (as published), symplectic does not."},
    {0}};

/* The largest eigenvalue of the symmetric tridiagonal matrix with the diagonal a and the
 * subdiagonal b, by counting [Golub2013, 8.4]. */
static double largest_of_tridiagonal(int n, const double *a, const double *b)
{
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < n; i++) {
        double r = (i > 0 ? fabs(b[i - 1]) : 0) + (i < n - 1 ? fabs(b[i]) : 0);
        low = fmin(low, a[i] - r);
        high = fmax(high, a[i] + r);
    }
    for (int k = 0; k < 60 && high - low > 1e-12 * fabs(high); k++) {
        double x = (low + high) / 2, d = 1;
        bool above = false; /* an eigenvalue lies above x */
        for (int i = 0; i < n && !above; i++) {
            d = x - a[i] - (i > 0 ? b[i - 1] * b[i - 1] / d : 0);
            if (d == 0) d = 1e-300;
            above = d < 0;
        }
        *(above ? &low : &high) = x;
    }
    return high;
}

/* y = K x, or with `damping` the damping force of the velocity x, reversed. */
static void multiply(BrioStepper *s, bool damping, const double *q, double h, const double *x,
                     double *y)
{
    if (damping) {
        brio_stepper_damping_force(s, q, x, h, BRIO_NOT_COUNTED, y);
        brio_stepper_combine(s, -1, y, 0, y, y);
    } else {
        brio_stepper_stiffness(s, x, y);
    }
}

/* The largest eigenvalue of M^-1 K or M^-1 D, to a percent: Lanczos in the inner product of M, from
 * a fixed vector. */
static double largest_eigenvalue(BrioStepper *s, bool damping, const double *q, double h)
{
    double *v = brio_stepper_scratch(s, 0);
    double *last = brio_stepper_scratch(s, 1);
    double *w = brio_stepper_scratch(s, 2);
    double *p = brio_stepper_scratch(s, 3);
    double a[LANCZOS_MAX], b[LANCZOS_MAX], value = 0, before;
    brio_stepper_random(s, 1, v);
    brio_stepper_mass_multiply(s, v, p);
    brio_stepper_combine(s, 1 / sqrt(brio_stepper_dot(s, v, p)), v, 0, v, v);
    brio_stepper_combine(s, 0, v, 0, v, last);
    for (int n = 0; n < LANCZOS_MAX; n++) {
        multiply(s, damping, q, h, v, p);
        a[n] = brio_stepper_dot(s, v, p);
        brio_stepper_mass_solve(s, p, w);
        brio_stepper_combine(s, 1, w, -a[n], v, w);
        if (n > 0) brio_stepper_combine(s, 1, w, -b[n - 1], last, w);
        brio_stepper_mass_multiply(s, w, p);
        b[n] = sqrt(fmax(brio_stepper_dot(s, w, p), 0));
        before = value;
        value = largest_of_tridiagonal(n + 1, a, b);
        if (!isfinite(value) || b[n] <= 1e-10 * fabs(value) ||
            (n > 8 && fabs(value - before) < 1e-4 * fabs(value)))
            break;
        brio_stepper_combine(s, 1, v, 0, v, last);
        brio_stepper_combine(s, 1 / b[n], w, 0, w, v);
    }
    return fmax(value, 0);
}

/* How many inner steps the limit asks for: h over the positive root of k0 h_l^2 + 2 d h_l = 4. */
static double inner_steps(double h, double k0, double d)
{
    return fmax(ceil(h * (d + sqrt(d * d + 4 * k0)) / 4 * (1 + 1e-12)), 1);
}

/* Where the inner steps are: the pose at which the forces were linearised with their gradient
 * there, the displacement from it and the velocities; both before the latest inner step; what is
 * left of the step. */
typedef struct Course {
    BrioStepper *s;
    double h, left;
    int form;
    double *q, *gradient, *d, *v, *earlier_d, *earlier_v;
} Course;

/* K and the gradient of the pose, and if `again` the limits of its modes. */
static BrioStatus linearise(const Course *c, bool again)
{
    BrioStepper *s = c->s;
    double t = brio_stepper_time(s) + c->h - c->left, safety = brio_stepper_value(s, "safety");
    brio_stepper_potential(s, c->q, t, c->gradient);
    BRIO_CHECK(brio_stepper_linearise(s, c->q, t));
    brio_stepper_combine(s, 0, c->d, 0, c->d, c->d);
    if (!again) return BRIO_OK;
    bool damped = c->form == FORM_SYMPLECTIC && brio_stepper_dampers(s);
    *brio_stepper_memo(s, K0) = safety * largest_eigenvalue(s, false, c->q, c->h);
    *brio_stepper_memo(s, D0) = damped ? safety * largest_eigenvalue(s, true, c->q, c->h) : 0;
    return BRIO_OK;
}

/* Whether d is beyond the limit of the inner step, given K d. */
static bool diverges(const Course *c, double step, const double *Kd, double *room)
{
    BrioStepper *s = c->s;
    double stiff = brio_stepper_dot(s, c->d, Kd), limit = 4 / (step * step);
    brio_stepper_mass_multiply(s, c->d, room);
    double size = brio_stepper_dot(s, c->d, room);
    return !isfinite(stiff) || !isfinite(size) || stiff > limit * size;
}

/* Back to where the latest inner step began; its damping does not count. */
static void discard(Course *c, double step)
{
    BrioStepper *s = c->s;
    double *room = brio_stepper_scratch(s, 5);
    if (brio_stepper_dampers(s))
        brio_stepper_damping_force(s, c->q, c->earlier_v, step, -step / c->h, room);
    brio_stepper_combine(s, 1, c->earlier_d, 0, c->earlier_d, c->d);
    brio_stepper_combine(s, 1, c->earlier_v, 0, c->earlier_v, c->v);
    c->left += step;
}

/* Up to n inner steps; returns how many hold. Fewer than n: divergence, or the run is to stop. */
static int go(Course *c, int n)
{
    BrioStepper *s = c->s;
    double *f = brio_stepper_scratch(s, 4), *room = brio_stepper_scratch(s, 5);
    double step = c->left / n;
    for (int i = 0;; i++) {
        brio_stepper_stiffness(s, c->d, f);
        if (i > 0 && diverges(c, step, f, room)) {
            discard(c, step);
            return i - 1;
        }
        if (i == n) return n;
        if (brio_stepper_stopped(s, i)) return i;
        brio_stepper_combine(s, 1, c->d, 0, c->d, c->earlier_d);
        brio_stepper_combine(s, 1, c->v, 0, c->v, c->earlier_v);
        brio_stepper_combine(s, -1, f, -1, c->gradient, f);
        if (brio_stepper_dampers(s)) {
            brio_stepper_damping_force(s, c->q, c->v, step, step / c->h, room);
            brio_stepper_combine(s, 1, f, 1, room, f);
        }
        brio_stepper_mass_solve(s, f, f);
        if (c->form == FORM_FORWARD) brio_stepper_combine(s, 1, c->d, step, c->v, c->d);
        brio_stepper_combine(s, 1, c->v, step, f, c->v);
        if (c->form == FORM_SYMPLECTIC) brio_stepper_combine(s, 1, c->d, step, c->v, c->d);
        c->left -= step;
    }
}

static BrioStatus step(BrioStepper *s, double h)
{
    Course c = {.s = s,
                .h = h,
                .left = h,
                .form = (int)brio_stepper_value(s, "form"),
                .q = brio_stepper_scratch(s, 6),
                .gradient = brio_stepper_scratch(s, 7),
                .d = brio_stepper_scratch(s, 8),
                .v = brio_stepper_scratch(s, 9),
                .earlier_d = brio_stepper_scratch(s, 10),
                .earlier_v = brio_stepper_scratch(s, 11)};
    int fixed = (int)brio_stepper_value(s, "inner");
    const double *k0 = brio_stepper_memo(s, K0);
    brio_stepper_combine(s, 1, brio_stepper_q(s), 0, brio_stepper_q(s), c.q);
    brio_stepper_combine(s, 1, brio_stepper_v(s), 0, brio_stepper_v(s), c.v);
    for (int round = 0; round < ROUNDS_MAX; round++) {
        double before = *k0;
        bool again = *k0 == 0 || round > 0 || brio_stepper_step(s) % 100 == 0;
        BRIO_CHECK(linearise(&c, !fixed && again));
        double n = fixed ? ceil(fixed * c.left / h * (1 - 1e-12))
                         : inner_steps(c.left, *k0, *brio_stepper_memo(s, D0));
        if (!(n <= INNER_MAX))
            return brio_stepper_fail(s, BRIO_STEP_REJECTED,
                                     "the stiffness needs more than a million inner steps: use a "
                                     "shorter step or an implicit method");
        int done = go(&c, (int)n);
        brio_stepper_count_iterations(s, done);
        brio_stepper_combine(s, 1, c.q, 1, c.d, c.q);
        if (done == (int)n) return brio_stepper_accept(s, h, c.q, c.v);
        if (done == 0 && round > 0 && !(*k0 > 1.001 * before)) break;
    }
    brio_stepper_discard_damping(s);
    return brio_stepper_fail(
        s, BRIO_STEP_REJECTED,
        "the inner steps diverged: use more of them (inner, safety) or a shorter step");
}

BRIO_INTEGRATOR(linearized_explicit){
    .name = "linearized-explicit",
    .summary = "Linearises forces once per step and takes short explicit steps with matrix "
               "products. For expensive forces.",
    .citation = "Shinya2004",
    .order = 1,
    .traits = BRIO_KEEPS_LINEAR_MOMENTUM,
    .fields = fields,
    .step = step,
    .estimate = BRIO_BY_DIFFERENCES,
};
