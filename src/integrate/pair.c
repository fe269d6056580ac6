/* Stages that are coupled, and their solution (tableau.h).
 *
 * Newton's method for all coupled stages at once: with the residuals
 *
 *     R_i = M (Q_i - T_i) + h^2 sum_j B_ij grad P(Q_j),    T_i = q + h e_i v,
 *
 * the blocks of its matrix are M delta_ij + h^2 B_ij K_j with K_j = grad^2 P(Q_j). It is not
 * symmetric, and the blocks of several poses are in it. So it is never built: GMRES [Saad1986]
 * needs its products, for which K_j x is a central difference of gradients. What it is
 * preconditioned with has one pose and no coupling, M + sigma h^2 K, the same factor for all
 * stages. With sigma near the eigenvalues beta of B, the eigenvalues (1 + beta z)/(1 + sigma z),
 * z >= 0, lie between 1 and beta/sigma for every stiffness, and a few products are enough. (Stages
 * without row or column in B, beta = 0, are not part of it.)
 *
 * A step of Newton is shortened until every stage is a pose with finite energy that can be reached
 * without two surfaces meeting, and the residuals, in the norm of M^-1, have become smaller. */
#include "tableau.h"

#include "brio/stages.h"

BrioStatus brio__tableau_symplectic_adjoint(const BrioTableau *t, BrioTableau *adjoint,
                                            char *reason, size_t size)
{
    int n = t->stages;
    *adjoint = (BrioTableau){.name = t->name, .stages = n};
    for (int i = 0; i < n; i++) {
        if (t->b[i] == 0) {
            snprintf(reason, size, "%s has a weight of 0, so it has no symplectic adjoint",
                     t->name);
            return BRIO_ERROR_INPUT;
        }
        adjoint->b[i] = t->b[i];
        for (int j = 0; j < n; j++) {
            double c = t->b[j] - t->b[j] * t->A[j * n + i] / t->b[i];
            adjoint->A[i * n + j] = fabs(c) < 1e-15 ? 0 : c;
        }
    }
    return BRIO_OK;
}

BrioPair brio__tableau_pair(const BrioTableau *positions, const BrioTableau *velocities)
{
    BrioPair pair = {.stages = positions->stages};
    memcpy(pair.A, positions->A, sizeof pair.A);
    memcpy(pair.C, velocities->A, sizeof pair.C);
    memcpy(pair.b, positions->b, sizeof pair.b);
    return pair;
}

/* B = A C; what cancels is 0. */
static void product(const BrioPair *p, double *B)
{
    int n = p->stages;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += p->A[i * n + k] * p->C[k * n + j];
            B[i * n + j] = fabs(sum) < 1e-14 ? 0 : sum;
        }
}

bool brio__tableau_pair_is_sequential(const BrioPair *p)
{
    double B[BRIO_STAGES_MAX * BRIO_STAGES_MAX];
    int n = p->stages;
    product(p, B);
    for (int i = 0; i < n; i++) {
        if (B[i * n + i] < 0) return false;
        for (int j = i + 1; j < n; j++)
            if (B[i * n + j] != 0) return false;
    }
    return true;
}

bool brio__tableau_pair_is_explicit(const BrioPair *p)
{
    double B[BRIO_STAGES_MAX * BRIO_STAGES_MAX];
    product(p, B);
    for (int i = 0; i < p->stages; i++)
        if (B[i * p->stages + i] != 0) return false;
    return brio__tableau_pair_is_sequential(p);
}

/* ---- a step at work --------------------------------------------------------------------- */

/* vectors of GMRES in addition to the first; its restarts; Newton's shortest step */
enum { KRYLOV = 8, RESTARTS = 6, HALVINGS = 30 };
static const double linear_tol = 1e-6; /* of the residual of a step of Newton */

typedef double *Block[BRIO_STAGES_MAX]; /* a vector for each stage */

typedef struct Work {
    BrioStepper *s;
    const BrioPair *pair;
    const double *v; /* at the start */
    double h, time;
    double B[BRIO_STAGES_MAX * BRIO_STAGES_MAX], at[BRIO_STAGES_MAX]; /* at: e_i */
    int unknown[BRIO_STAGES_MAX], count;                              /* stages that are coupled */
    Block Q, G, R, step, trial, trial_G, basis[KRYLOV + 1];
    double *temp, *other;
} Work;

static Work work_of(BrioStepper *s, const BrioPair *pair, const double *v, double h)
{
    Work w = {.s = s, .pair = pair, .v = v, .h = h, .time = brio_stepper_time(s)};
    int n = pair->stages, next = 2;
    product(pair, w.B);
    w.temp = brio_stepper_room(s, 0);
    w.other = brio_stepper_room(s, 1);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) w.at[i] += pair->A[i * n + j];
        w.Q[i] = brio_stepper_room(s, next++);
        w.G[i] = brio_stepper_room(s, next++);
    }
    if (brio__tableau_pair_is_sequential(pair)) return w;
    for (int i = 0; i < n; i++) {
        bool row = false, column = false;
        for (int j = 0; j < n; j++) {
            row |= w.B[i * n + j] != 0;
            column |= w.B[j * n + i] != 0;
        }
        if (!row || !column) continue;
        w.unknown[w.count++] = i;
        w.R[i] = brio_stepper_room(s, next++);
        w.step[i] = brio_stepper_room(s, next++);
        w.trial[i] = brio_stepper_room(s, next++);
        w.trial_G[i] = brio_stepper_room(s, next++);
        for (int k = 0; k <= KRYLOV; k++) w.basis[k][i] = brio_stepper_room(s, next++);
    }
    return w;
}

/* T_i - h^2 M^-1 sum_j B_ij G_j over the stages other than i and those that are not known yet. */
static void target_of(const Work *w, int i, const bool *known, double *target)
{
    BrioStepper *s = w->s;
    int n = w->pair->stages;
    brio_stepper_combine(s, 0, target, 0, target, w->temp);
    for (int j = 0; j < n; j++)
        if (j != i && known[j])
            brio_stepper_combine(s, 1, w->temp, -w->h * w->h * w->B[i * n + j], w->G[j], w->temp);
    brio_stepper_mass_solve(s, w->temp, w->temp);
    brio_stepper_combine(s, 1, w->temp, w->at[i] * w->h, w->v, w->temp);
    brio_stepper_combine(s, 1, w->temp, 1, brio_stepper_q(s), target);
}

/* A stage that depends on known ones and itself. */
static BrioStatus solve_alone(const Work *w, int i, const bool *known, double weight)
{
    int n = w->pair->stages;
    double s = w->h * w->h * w->B[i * n + i], time = w->time + w->at[i] * w->h;
    target_of(w, i, known, s > 0 ? w->other : w->Q[i]);
    if (s > 0) {
        BrioObjective objective = {
            .target = w->other, .s = s, .a = 1, .time = time, .h = w->h, .undamped = true};
        bool counted = weight != BRIO_NOT_COUNTED && w->pair->b[i] != 0;
        objective.weight = counted ? weight * w->pair->b[i] : BRIO_NOT_COUNTED;
        BRIO_CHECK(brio_stepper_minimise(w->s, &objective, w->Q[i]));
    }
    brio_stepper_potential(w->s, w->Q[i], time, w->G[i]);
    return BRIO_OK;
}

/* ---- Newton's method for the coupled ones ----------------------------------------------- */

/* The residuals at Q with the gradients G there, and their norm. */
static double residual(const Work *w, const Block Q, const Block G, const bool *known)
{
    BrioStepper *s = w->s;
    int n = w->pair->stages;
    double sum = 0;
    for (int a = 0; a < w->count; a++) {
        int i = w->unknown[a];
        brio_stepper_combine(s, 1, Q[i], -1, brio_stepper_q(s), w->temp);
        brio_stepper_combine(s, 1, w->temp, -w->at[i] * w->h, w->v, w->temp);
        brio_stepper_mass_multiply(s, w->temp, w->R[i]);
        for (int j = 0; j < n; j++) {
            const double *g = known[j] ? w->G[j] : G[j];
            if (w->B[i * n + j] != 0)
                brio_stepper_combine(s, 1, w->R[i], w->h * w->h * w->B[i * n + j], g, w->R[i]);
        }
        brio_stepper_mass_solve(s, w->R[i], w->temp);
        sum += brio_stepper_dot(s, w->R[i], w->temp);
    }
    return sqrt(sum);
}

/* Gradients at Q; false if an energy is not finite. */
static bool evaluate(const Work *w, const Block Q, const Block G)
{
    for (int a = 0; a < w->count; a++) {
        int i = w->unknown[a];
        double P = brio_stepper_potential(w->s, Q[i], w->time + w->at[i] * w->h, G[i]);
        if (!isfinite(P)) return false;
    }
    return true;
}

/* y_i = M x_i + h^2 sum_j B_ij K_j x_j; y apart from x. */
static void multiply(const Work *w, const Block x, const Block y)
{
    BrioStepper *s = w->s;
    int n = w->pair->stages;
    for (int a = 0; a < w->count; a++)
        brio_stepper_mass_multiply(s, x[w->unknown[a]], y[w->unknown[a]]);
    for (int b = 0; b < w->count; b++) {
        int j = w->unknown[b];
        double size = brio_stepper_norm_max(s, x[j]), place = brio_stepper_norm_max(s, w->Q[j]);
        /* far above the round-off of places, far below distances at which barriers act */
        double eps = 1e-8 * (place > 0 ? place : 1) / size;
        if (!(size > 0)) continue;
        for (int sign = -1; sign <= 1; sign += 2) {
            brio_stepper_combine(s, 1, w->Q[j], sign * eps, x[j], w->temp);
            brio_stepper_potential(s, w->temp, w->time + w->at[j] * w->h, w->other);
            for (int a = 0; a < w->count; a++) {
                int i = w->unknown[a];
                double factor = w->h * w->h * w->B[i * n + j] / (2 * eps) * sign;
                brio_stepper_combine(s, 1, y[i], factor, w->other, y[i]);
            }
        }
    }
}

static double dot(const Work *w, const Block x, const Block y)
{
    double sum = 0;
    for (int a = 0; a < w->count; a++)
        sum += brio_stepper_dot(w->s, x[w->unknown[a]], y[w->unknown[a]]);
    return sum;
}

static void combine(const Work *w, double alpha, const Block x, double beta, const Block y,
                    const Block out)
{
    for (int a = 0; a < w->count; a++) {
        int i = w->unknown[a];
        brio_stepper_combine(w->s, alpha, x[i], beta, y[i], out[i]);
    }
}

static BrioStatus precondition(const Work *w, const Block x, const Block y)
{
    for (int a = 0; a < w->count; a++)
        BRIO_CHECK(brio_stepper_factored_solve(w->s, x[w->unknown[a]], y[w->unknown[a]]));
    return BRIO_OK;
}

/* Columns 0 to k of the Hessenberg matrix are turned into a triangle by Givens's rotations as they
 * come; `right` is the right-hand side, whose entry k + 1 is then the norm of the residual. */
typedef struct Triangle {
    double H[KRYLOV + 1][KRYLOV], c[KRYLOV], s[KRYLOV], right[KRYLOV + 1];
} Triangle;

static double rotate(Triangle *t, int k)
{
    for (int i = 0; i < k; i++) {
        double above = t->H[i][k], below = t->H[i + 1][k];
        t->H[i][k] = t->c[i] * above + t->s[i] * below;
        t->H[i + 1][k] = t->c[i] * below - t->s[i] * above;
    }
    double length = hypot(t->H[k][k], t->H[k + 1][k]);
    t->c[k] = length > 0 ? t->H[k][k] / length : 1;
    t->s[k] = length > 0 ? t->H[k + 1][k] / length : 0;
    t->H[k][k] = length;
    t->right[k + 1] = -t->s[k] * t->right[k];
    t->right[k] *= t->c[k];
    return fabs(t->right[k + 1]);
}

/* One round: basis[0] holds the residual, of norm `norm`; adds to w->step. Uses w->trial. Returns
 * the residual's norm through `norm`. */
static BrioStatus krylov(const Work *w, double goal, double *norm)
{
    Triangle t = {.right = {*norm}};
    int k = 0;
    combine(w, 1 / *norm, w->basis[0], 0, w->basis[0], w->basis[0]);
    for (bool done = false; k < KRYLOV && !done; k++) {
        BRIO_CHECK(precondition(w, w->basis[k], w->trial));
        multiply(w, w->trial, w->basis[k + 1]);
        for (int i = 0; i <= k; i++) {
            t.H[i][k] = dot(w, w->basis[k + 1], w->basis[i]);
            combine(w, 1, w->basis[k + 1], -t.H[i][k], w->basis[i], w->basis[k + 1]);
        }
        double length = sqrt(dot(w, w->basis[k + 1], w->basis[k + 1]));
        t.H[k + 1][k] = length;
        if (length > 0)
            combine(w, 1 / length, w->basis[k + 1], 0, w->basis[k + 1], w->basis[k + 1]);
        *norm = rotate(&t, k);
        done = *norm <= goal || !(length > 0);
    }
    for (int i = k - 1; i >= 0; i--) {
        for (int j = i + 1; j < k; j++) t.right[i] -= t.H[i][j] * t.right[j];
        if (!(t.H[i][i] > 0)) return BRIO_NOT_CONVERGED;
        t.right[i] /= t.H[i][i];
    }
    for (int i = 0; i < k; i++)
        combine(w, i > 0, w->basis[0], t.right[i], w->basis[i], w->basis[0]);
    BRIO_CHECK(precondition(w, w->basis[0], w->trial));
    combine(w, 1, w->step, 1, w->trial, w->step);
    return BRIO_OK;
}

/* The step of Newton, J step = -R. */
static BrioStatus newton_step(const Work *w)
{
    double first = sqrt(dot(w, w->R, w->R)), norm = first;
    combine(w, 0, w->step, 0, w->step, w->step);
    combine(w, -1, w->R, 0, w->R, w->basis[0]);
    for (int round = 0; round < RESTARTS && norm > linear_tol * first; round++) {
        if (round > 0) {
            multiply(w, w->step, w->basis[0]);
            combine(w, -1, w->basis[0], -1, w->R, w->basis[0]);
            norm = sqrt(dot(w, w->basis[0], w->basis[0]));
        }
        BRIO_CHECK(krylov(w, linear_tol * first, &norm));
    }
    /* a direction that is worth a try; the line search judges it */
    if (norm < 0.5 * first) return BRIO_OK;
    return brio_stepper_fail(w->s, BRIO_NOT_CONVERGED,
                             "the linear system of the coupled stages could not be solved");
}

/* Goes along the step as far as it may and makes the residuals smaller. Returns how far; 0: not at
 * all. */
static double advance(const Work *w, const bool *known, double *norm)
{
    double t = 1, before = *norm;
    for (int a = 0; a < w->count; a++) {
        int i = w->unknown[a];
        double time = w->time + w->at[i] * w->h;
        t = fmin(t, 0.9 * brio_stepper_max_step(w->s, w->Q[i], w->step[i], time));
    }
    for (int k = 0; k < HALVINGS; k++, t /= 2) {
        combine(w, 1, w->Q, t, w->step, w->trial);
        if (!evaluate(w, w->trial, w->trial_G)) continue;
        *norm = residual(w, w->trial, w->trial_G, known);
        if (!(*norm < (1 - 1e-4 * t) * before)) continue;
        combine(w, 1, w->trial, 0, w->trial, w->Q);
        combine(w, 1, w->trial_G, 0, w->trial_G, w->G);
        return t;
    }
    *norm = residual(w, w->Q, w->G, known);
    return 0;
}

static double largest(const Work *w, const Block x)
{
    double max = 0;
    for (int a = 0; a < w->count; a++)
        max = fmax(max, brio_stepper_norm_max(w->s, x[w->unknown[a]]));
    return max;
}

/* The weight of K in the preconditioner: the size of B. */
static double sigma(const Work *w)
{
    double sum = 0;
    for (int a = 0; a < w->count; a++)
        for (int b = 0; b < w->count; b++)
            sum += pow(w->B[w->unknown[a] * w->pair->stages + w->unknown[b]], 2);
    return sqrt(sum / w->count);
}

/* Whether residuals of this norm are round-off: no more than what changes them as places are
 * rounded, by a random amount of that size. Overwrites the step. */
static bool is_round_off(const Work *w, double norm)
{
    BrioStepper *s = w->s;
    double size = DBL_EPSILON * largest(w, w->Q), sum = 0;
    for (int a = 0; a < w->count; a++) {
        double *x = w->step[w->unknown[a]];
        brio_stepper_random(s, (unsigned)a + 1, x);
        brio_stepper_combine(s, size, x, 0, x, x);
    }
    multiply(w, w->step, w->trial);
    for (int a = 0; a < w->count; a++) {
        const double *y = w->trial[w->unknown[a]];
        brio_stepper_mass_solve(s, y, w->temp);
        sum += brio_stepper_dot(s, y, w->temp);
    }
    return norm <= 100 * sqrt(sum);
}

static BrioStatus solve_together(const Work *w, const bool *known)
{
    BrioStepper *s = w->s;
    int max, last = w->unknown[w->count - 1];
    double tol = brio_stepper_tolerance(s, &max), size = sigma(w) * w->h * w->h;
    for (int a = 0; a < w->count; a++)
        brio_stepper_combine(s, 1, brio_stepper_q(s), 0, brio_stepper_q(s), w->Q[w->unknown[a]]);
    if (!evaluate(w, w->Q, w->G))
        return brio_stepper_fail(s, BRIO_STEP_REJECTED, "a stage begins where no body may be");
    double norm = residual(w, w->Q, w->G, known);
    for (int k = 0; k < max && norm > 0; k++) {
        if (brio_stepper_stopped(s, k)) return BRIO_STOPPED;
        BRIO_CHECK(brio_stepper_factor(s, w->Q[last], w->time + w->at[last] * w->h, size));
        BRIO_CHECK(newton_step(w));
        brio_stepper_count_iterations(s, 1);
        double way = largest(w, w->step), place = largest(w, w->Q);
        double t = advance(w, known, &norm);
        /* the tolerance, or the round-off of places and of the forces there, is reached */
        if ((t == 1 && way < tol * w->h) || way <= 100 * DBL_EPSILON * place) return BRIO_OK;
        if (t == 0 && is_round_off(w, norm)) return BRIO_OK;
        if (t == 0)
            return brio_stepper_fail(s, BRIO_LINE_SEARCH_STALLED,
                                     "the coupled stages could not be solved");
    }
    return norm > 0 ? brio_stepper_fail(s, BRIO_NOT_CONVERGED,
                                        "the coupled stages need more iterations than "
                                        "max_iterations")
                    : BRIO_OK;
}

/* ---- the step --------------------------------------------------------------------------- */

static BrioStatus solve_stages(const Work *w, double weight)
{
    int n = w->pair->stages;
    bool known[BRIO_STAGES_MAX] = {false}, coupled[BRIO_STAGES_MAX] = {false};
    for (int a = 0; a < w->count; a++) coupled[w->unknown[a]] = true;
    for (int i = 0; i < n; i++) { /* in order, or those that depend on nothing */
        bool row = false;
        for (int j = 0; j < n; j++) row |= w->B[i * n + j] != 0;
        if (w->count && (coupled[i] || row)) continue;
        BRIO_CHECK(solve_alone(w, i, known, weight));
        known[i] = true;
    }
    if (w->count) BRIO_CHECK(solve_together(w, known));
    for (int i = 0; i < n; i++)
        if (coupled[i]) known[i] = true;
    for (int i = 0; i < n; i++) { /* those that nothing depends on */
        if (known[i]) continue;
        BRIO_CHECK(solve_alone(w, i, known, weight));
        known[i] = true;
    }
    return BRIO_OK;
}

BrioStatus brio__tableau_pair_step(BrioStepper *s, const BrioPair *pair, double h, double weight,
                                   double *slope, double *q, double *v)
{
    Work w = work_of(s, pair, v, h);
    int n = pair->stages;
    BRIO_CHECK(solve_stages(&w, weight));
    brio_stepper_combine(s, 0, q, 0, q, q);
    brio_stepper_combine(s, 0, w.temp, 0, w.temp, w.temp);
    for (int j = 0; j < n; j++) {
        double bc = 0; /* of h^2 A_j in q' */
        for (int i = 0; i < n; i++) bc += pair->b[i] * pair->C[i * n + j];
        brio_stepper_combine(s, 1, q, -h * h * bc, w.G[j], q);
        brio_stepper_combine(s, 1, w.temp, pair->b[j], w.G[j], w.temp);
    }
    if (slope) brio_stepper_combine(s, 1, w.temp, 0, w.temp, slope);
    brio_stepper_mass_solve(s, q, q);
    brio_stepper_mass_solve(s, w.temp, w.temp);
    brio_stepper_combine(s, 1, q, 1, brio_stepper_q(s), q);
    brio_stepper_combine(s, 1, q, h, v, q);
    brio_stepper_combine(s, 1, v, -h, w.temp, v);
    return BRIO_OK;
}
