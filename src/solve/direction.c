/* Newton's starting point, direction and line search (direction.h). */
#include "direction.h"

#include "../linear/overlay.h"
#include "free_motions.h"
#include "../potential/rigid.h"
#include "ranks.h"

#include <string.h>

BrioStatus brio__newton_refactor(const BrioProblem *p, const double *q)
{
    BrioSolver *s = p->solver;
    double before = brio__seconds(), analysed = 0, earlier = s->totals.analysis;
    s->linear->options.position = q;
    s->totals.factorisations++;
    BrioStatus status = brio__linear_factor(s->linear);
    s->linear->options.position = p->state->q; /* q is the caller's */
    if (s->linear->overlay) {
        s->totals.analyses = brio__overlay_analyses(s->linear->overlay, &analysed);
        s->totals.analysis = analysed;
    }
    s->totals.factor += brio__seconds() - before - (s->totals.analysis - earlier);
    return status;
}

/* Mass that is added to a matrix, as a fraction of it, and how often more of it was tried. */
typedef struct Shift {
    double mass;
    int attempts;
} Shift;

static bool shift_more(Shift *shift)
{
    shift->mass = shift->mass > 0 ? 10 * shift->mass : 1e-6;
    return ++shift->attempts < 24;
}

/* Factors. Only with all of the Hessian projected the matrix must be positive definite, and mass is
 * added until it is (only static problems ever need it). */
static BrioStatus factor(const BrioProblem *p, const double *q, double projected, Shift *shift)
{
    BrioSolver *s = p->solver;
    do {
        BRIO_CHECK(brio__problem_look(p));
        BRIO_CHECK(brio__partition_agree(s->system->partition,
                                         brio__problem_hessian(p, q, projected, shift->mass)));
        BrioStatus status = brio__newton_refactor(p, q);
        if (status != BRIO_NOT_POSITIVE_DEFINITE || projected < 1) return status;
    } while (shift_more(shift));
    return BRIO_NOT_POSITIVE_DEFINITE;
}

static BrioStatus inverse(void *linear, int count, double *columns)
{
    return brio__linear_solve(linear, count, columns, columns);
}

/* The step for a residual by the last factor. */
static BrioStatus solve_step(const BrioProblem *p, const double *q, const double *residual)
{
    BrioSolver *s = p->solver;
    if (s->constraints)
        return brio__constraints_solve(s->constraints, inverse, s->linear, residual, s->step);
    brio__combine(s->system, -1, residual, 0, residual, s->step);
    BrioStatus status = brio__linear_solve(s->linear, 1, s->step, s->step);
    if (s->ranks && status == BRIO_OK) status = brio__ranks_update(s->ranks, p, q);
    if (s->ranks && status == BRIO_OK) brio__ranks_correct(s->ranks, s->system, s->step);
    return status;
}

/* The accuracy that a linear solve needs, of solvers that iterate [Eisenstat1996, choice 2]: what
 * is solved beyond the nonlinear part of the residual is in vain. Only where further iterations
 * follow, the first of which starts afresh, so that a step is a function of the state alone; and
 * only with mass, without which a free motion may be all that the solver's norm sees. */
static void set_accuracy(const BrioProblem *p, const double *residual)
{
    static const double max = 0.05;
    BrioSolver *s = p->solver;
    double tol = s->options.linear_tol;
    bool more = s->linear->type->inexact && p->mass > 0 && !p->objective->linear && !s->constraints;
    double square = brio__dot(s->system, residual, residual);
    double change = s->iterations > 0 && s->residual > 0 ? square / s->residual : 1;
    s->residual = square;
    s->linear->options.tol = more ? fmax(tol, fmin(max, 0.9 * change)) : tol;
}

/* Others solve as accurately as the options say, with numbers of their own matrix. */
static void reset_accuracy(BrioSolver *s)
{
    s->linear->options.tol = s->options.linear_tol;
    s->linear->options.near = false;
}

/* Whether the step of a static problem says that the matrix is singular but for round-off. */
static bool is_singular(const BrioProblem *p)
{
    const BrioSystem *system = p->solver->system;
    if (p->mass > 0 || system->partition) return false;
    return brio__exceeds_scene(p->solver, p->state, brio__norm_max(system, p->solver->step));
}

BrioStatus brio__newton_direction(const BrioProblem *p, const double *q, const double *residual,
                                  double projected)
{
    BrioSolver *s = p->solver;
    Shift shift = {0};
    BrioStatus status;
    set_accuracy(p, residual);
    s->linear->options.near = s->iterations > 0;
    bool again;
    do {
        status = factor(p, q, projected, &shift);
        if (status != BRIO_OK) {
            reset_accuracy(s);
            if (status < 0 || status == BRIO_STOPPED || projected < 1) return status;
            return brio__problem_finish(p, BRIO_REASON_INDEFINITE, status);
        }
        double before = brio__seconds();
        status = solve_step(p, q, residual);
        s->totals.solve += brio__seconds() - before;
        /* that the matrix is singular but for round-off may be seen only here */
        if (status == BRIO_OK && is_singular(p)) status = BRIO_NOT_POSITIVE_DEFINITE;
        again = status == BRIO_NOT_POSITIVE_DEFINITE && projected == 1 && !s->constraints;
    } while (again && shift_more(&shift));
    reset_accuracy(s);
    /* an iterative solver sees it late */
    if (status == BRIO_NOT_POSITIVE_DEFINITE && projected < 1) return status;
    if (status == BRIO_NOT_POSITIVE_DEFINITE && s->constraints)
        return brio__problem_finish(p, BRIO_REASON_RODS, BRIO_NOT_CONVERGED);
    if (status != BRIO_OK)
        return status < 0 ? status : brio__problem_finish(p, BRIO_REASON_LINEAR, status);
    s->iterations++;
    s->totals.iterations++;
    s->speed = brio__norm_max(s->system, s->step) / p->objective->h;
    if (isfinite(s->speed)) return BRIO_OK;
    return brio__problem_finish(p, BRIO_REASON_NOT_FINITE, BRIO_NOT_FINITE);
}

/* A step by the last factor is about as much shorter as the residual: where that is far too long,
 * it is not worth its solve. One that iterates takes as long as the one that follows it. */
bool brio__newton_last_factor_suffices(const BrioProblem *p)
{
    static const double far = 100, accuracy = 0.01;
    BrioSolver *s = p->solver;
    double before = brio__seconds();
    double square = brio__dot(s->system, s->gradient, s->gradient);
    double expected = s->residual > 0 ? s->speed * sqrt(square / s->residual) : 0;
    bool iterates = brio__linear_iterates(s->linear);
    if (!(expected < (iterates ? 1 : far) * s->options.tol)) return false;
    if (iterates) s->linear->options.tol = fmax(s->options.linear_tol, accuracy);
    brio__combine(s->system, -1, s->gradient, 0, s->gradient, s->step);
    bool solved = brio__linear_solve(s->linear, 1, s->step, s->step) == BRIO_OK;
    s->linear->options.tol = s->options.linear_tol;
    if (s->ranks && solved) brio__ranks_correct(s->ranks, s->system, s->step);
    double speed = brio__norm_max(s->system, s->step) / p->objective->h;
    s->totals.solve += brio__seconds() - before;
    if (!solved || !(speed < s->options.tol)) return false;
    s->iterations++;
    s->totals.iterations++;
    s->speed = speed;
    s->residual = square;
    return true;
}

/* Takes q_n + s->step as the start if it is lower than what is the best so far, by more than
 * round-off, and if nothing is in the way. */
static void consider(const BrioProblem *p, double *q, BrioValue *best)
{
    BrioSolver *s = p->solver;
    const double *q_n = p->state->q;
    brio__combine(s->system, 1, q_n, 1, s->step, s->trial);
    BrioValue there = brio__problem_value(p, s->trial, NULL);
    if (!(there.value < best->value - best->noise) || brio__problem_max_step(p, q_n) < 1) return;
    memcpy(q, s->trial, 3 * (size_t)s->system->block_count * sizeof *q);
    *best = there;
}

/* Starts on arcs, by the step in s->step: a straight one stretches what turns. With all of it, and
 * with its rigid motions only, where vibrations would lead too far. */
static void consider_arcs(const BrioProblem *p, double *q, BrioValue *best)
{
    BrioSolver *s = p->solver;
    const BrioSystem *system = s->system;
    const double *q_n = p->state->q;
    double *momentum = s->gradient; /* not known before there is a start */
    memcpy(s->difference, s->step, 3 * (size_t)system->block_count * sizeof *q);
    brio__rigid_bend(s->rigid, q_n, s->difference, 1, s->step);
    consider(p, q, best);
    brio__mass_multiply(system, s->difference, momentum);
    brio__rigid_motion(s->rigid, q_n, &(BrioImpulse){q_n, momentum, 1}, 1, s->difference, NULL);
    if (brio__norm_max(system, s->difference) == 0) return;
    brio__rigid_bend(s->rigid, q_n, s->difference, 1, s->step);
    consider(p, q, best);
}

BrioValue brio__newton_start(const BrioProblem *p, double *q)
{
    BrioSolver *s = p->solver;
    const BrioSystem *system = s->system;
    const BrioObjective *o = p->objective;
    size_t bytes = 3 * (size_t)system->block_count * sizeof *q;
    memcpy(q, p->state->q, bytes);
    if (p->mass == 0 || o->linear) return brio__problem_value(p, q, s->gradient);
    BrioValue stay = brio__problem_value(p, q, NULL);
    const double *weight =
        brio__linear_gradient(brio__potential_elements(p->potential), p->state->param, s->x);
    memcpy(s->step, weight, bytes);
    brio__partition_complete(system->partition, s->step);
    brio__mass_solve(system, s->step, s->step);
    brio__combine(system, 1, o->target, -o->s * o->a, s->step, s->step);
    brio__combine(system, 1, s->step, -1, q, s->step);
    brio__system_mask(system, s->step);
    double t = brio__problem_max_step(p, q);
    brio__combine(system, 1, q, t, s->step, s->trial);
    BrioValue go = brio__problem_value(p, s->trial, NULL);
    /* what rests would begin pressed against what it rests on */
    bool blocked = t < 1 && (system->surface || system->analytic_count);
    bool goes = go.value < stay.value && !blocked;
    BrioValue best = goes ? go : stay;
    if (goes) memcpy(q, s->trial, bytes);
    consider_arcs(p, q, &best);
    s->limit.term = NULL;
    return brio__problem_value(p, q, s->gradient);
}

bool brio__lowered(BrioValue now, BrioValue next, double t, double slope)
{
    bool drowned = fabs(slope) < now.noise;
    return isfinite(next.value) &&
           next.value <= now.value + 1e-4 * t * slope + (drowned ? fmax(now.noise, next.noise) : 0);
}

double brio__line_search(const BrioProblem *p, const double *q, BrioValue now, double slope,
                         double t, BrioValue *next)
{
    BrioSolver *s = p->solver;
    for (double min = t * 0x1p-50; t > min; t /= 2) {
        if (brio__problem_look(p) != BRIO_OK) return 0;
        brio__combine(s->system, 1, q, t, s->step, s->trial);
        *next = brio__problem_value(p, s->trial, NULL);
        if (brio__lowered(now, *next, t, slope)) return t;
    }
    return 0;
}
