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
 * Divergence: the displacement of the step lives in modes beyond the limit, d.K d > (4/h_l^2) d.M
 * d, or is not finite. Then the result is discarded and k0 estimated again; if that does not help,
 * the step is tried in halves, each with a K of its own. The number of inner steps is reported as
 * the step's iterations. */
#include "integrator.h"

enum { FORM_FORWARD, FORM_SYMPLECTIC };
enum { K0, D0 }; /* memos: the largest eigenvalues of M^-1 K, and of M^-1 D, times `safety` */
enum { INNER_MAX = 1000000, LANCZOS_MAX = 60 };

static const BrioField fields[] = {
    {"inner", BRIO_INTEGER, "", 0, 0, INNER_MAX, 0,
     "Inner steps per step; 0: as many as stability requires."},
    {"safety", BRIO_REAL, "", 1.5, 1, 100, 0,
     "Safety factor on the largest eigenvalue of the stiffness."},
    {"form", BRIO_CHOICE, "forward|symplectic", FORM_SYMPLECTIC, 0, 1, 0,
     "Inner method: forward needs damping (as published), symplectic does not."},
    {0}};

/* The largest eigenvalue of the symmetric tridiagonal matrix with the diagonal a and b beside it,
 * by counting [Golub2013, 8.4]. */
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
static void multiply(BrioStepper *s, bool damping, double h, const double *x, double *y)
{
    if (damping) {
        brio_stepper_damping_force(s, brio_stepper_q(s), x, h, BRIO_NOT_COUNTED, y);
        brio_stepper_combine(s, -1, y, 0, y, y);
    } else {
        brio_stepper_stiffness(s, x, y);
    }
}

/* The largest eigenvalue of M^-1 K or M^-1 D, to a percent: Lanczos in the inner product of M, from
 * a fixed vector. */
static double largest_eigenvalue(BrioStepper *s, bool damping, double h)
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
        multiply(s, damping, h, v, p);
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

/* From the state through n inner steps; false: divergence. */
static bool go(BrioStepper *s, double h, int n, int form, const double *gradient, double *q,
               double *v)
{
    const double *q0 = brio_stepper_q(s), *v0 = brio_stepper_v(s);
    double *d = brio_stepper_scratch(s, 3);
    double *f = brio_stepper_scratch(s, 4);
    double *drag = brio_stepper_scratch(s, 5);
    double step = h / n;
    brio_stepper_combine(s, 0, q0, 0, q0, d);
    brio_stepper_combine(s, 1, v0, 0, v0, v);
    for (int i = 0; i < n; i++) {
        if (brio_stepper_stopped(s, i)) return false;
        brio_stepper_stiffness(s, d, f);
        brio_stepper_combine(s, -1, f, -1, gradient, f);
        if (brio_stepper_dampers(s)) {
            brio_stepper_damping_force(s, q0, v, step, 1.0 / n, drag);
            brio_stepper_combine(s, 1, f, 1, drag, f);
        }
        brio_stepper_mass_solve(s, f, f);
        if (form == FORM_FORWARD) brio_stepper_combine(s, 1, d, step, v, d);
        brio_stepper_combine(s, 1, v, step, f, v);
        if (form == FORM_SYMPLECTIC) brio_stepper_combine(s, 1, d, step, v, d);
    }
    brio_stepper_combine(s, 1, q0, 1, d, q);
    brio_stepper_stiffness(s, d, f);
    double stiff = brio_stepper_dot(s, d, f), limit = 4 / (step * step);
    brio_stepper_mass_multiply(s, d, f);
    double size = brio_stepper_dot(s, d, f);
    return isfinite(stiff) && isfinite(size) && !(stiff > limit * size);
}

static BrioStatus step(BrioStepper *s, double h)
{
    double *q = brio_stepper_scratch(s, 6);
    double *v = brio_stepper_scratch(s, 7);
    double *gradient = brio_stepper_scratch(s, 8);
    double *k0 = brio_stepper_memo(s, K0);
    double safety = brio_stepper_value(s, "safety");
    double t = brio_stepper_time(s);
    int form = (int)brio_stepper_value(s, "form"), fixed = (int)brio_stepper_value(s, "inner");
    brio_stepper_potential(s, brio_stepper_q(s), t, gradient);
    BRIO_CHECK(brio_stepper_linearise(s, brio_stepper_q(s), t));
    for (int attempt = 0; attempt < 2; attempt++) {
        if (!fixed && (*k0 == 0 || attempt > 0 || brio_stepper_step(s) % 100 == 0)) {
            double found = safety * largest_eigenvalue(s, false, h);
            if (attempt > 0 && !(found > 1.001 * *k0)) break;
            *k0 = found;
            *brio_stepper_memo(s, D0) = form == FORM_SYMPLECTIC && brio_stepper_dampers(s)
                                            ? safety * largest_eigenvalue(s, true, h)
                                            : 0;
        }
        double n = fixed ? fixed : inner_steps(h, *k0, *brio_stepper_memo(s, D0));
        if (!(n <= INNER_MAX))
            return brio_stepper_fail(s, BRIO_STEP_REJECTED,
                                     "the stiffness needs more than a million inner steps: use a "
                                     "shorter step or an implicit method");
        brio_stepper_count_iterations(s, (int)n);
        if (go(s, h, (int)n, form, gradient, q, v)) return brio_stepper_accept(s, h, q, v);
        brio_stepper_discard_damping(s);
        if (fixed) break;
    }
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
};
