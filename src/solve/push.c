/* Scripted vertices that push: Newton steps of the coordinates together with the script.
 *
 * Let s in [0, 1] be the fraction of their path that scripted vertices have covered in this step,
 * g(q, s) the gradient of the objective and C = dg/ds. While s < 1, an iteration follows the zero
 * of g as s grows (Newton's method and Euler's predictor in one):
 *
 *     H p = -(g + (1 - s) C),      q <- q + t p,   s <- s + t (1 - s).
 *
 * What is pushed moves along with what pushes it: the distance between them changes only by what
 * the forces ask for. t is limited by the elements and by collision detection for the combined
 * motion. There is no descent test: the script does work, so the objective may rise. At s = 1
 * Newton's method with its line search takes over.
 *
 * It is solved in a frame that moves along: with w the mean of what is left of the scripted
 * vertices' ways, given to all blocks, p = w + p' and
 *
 *     H p' = -(g + D),      D = d/dt g(q + t w, s + t (1 - s)) at t = 0.
 *
 * D equals H w + (1 - s) C, but where a gap does not change on this way it has nothing of the
 * barrier's stiffness, whose rounding and projection would otherwise be as large as p' itself: a
 * path of ten metres needs no more steps than one of a millimetre.
 *
 * D is the difference of two gradients, over so short a way that no gap changes by more than 1e-4
 * of itself; it holds whatever acts: elements, contact, friction, damping, masses. */
#include "push.h"

#include "foresee.h"

#include <string.h>

/* Fraction of the allowed path: the difference for D. */
#define DIFFERENCE 1e-4

/* How often a step to where a value is not finite is halved. */
#define HALVINGS 20

/* World positions into s->x, and into s->dx where they go: scripted vertices to the end of their
 * way, all others along `step` (NULL: they rest). Returns the largest displacement of a scripted
 * vertex. */
static double aim(const BrioProblem *p, const double *q, const double *step)
{
    BrioSolver *s = p->solver;
    const BrioSystem *system = s->system;
    double length = 0;
    brio__problem_positions(p, q, s->x);
    if (step)
        brio__system_directions(system, step, s->dx);
    else
        memset(s->dx, 0, 3 * (size_t)system->vertex_count * sizeof *s->dx);
    brio__system_fixed(system, p->state, p->objective->time, s->dx);
    for (int64_t i = 0; i < system->fixed_count; i++)
        for (int r = 0; r < 3; r++) {
            int64_t k = 3 * (int64_t)system->fixed[i] + r;
            s->dx[k] -= s->x[k];
            length = fmax(length, fabs(s->dx[k]));
        }
    brio__system_ride(system, s->dx);
    return brio__partition_max(system->partition, length);
}

/* How far the world positions s->x may go along s->dx. Elements first: where these are crushed,
 * the rest of a long path is so short that few pairs can touch on it. */
static double allowed(const BrioProblem *p)
{
    BrioSolver *s = p->solver;
    BrioLimit limit;
    double t = brio__max_step(brio__potential_elements(p->potential), p->state->param, s->x, s->dx,
                              &limit);
    t = brio__limit_join(s->system, t, &limit);
    if (!(t < 1)) return brio__problem_allowed(p, INFINITY);
    for (int64_t k = 0; k < 3 * s->system->vertex_count; k++) s->dx[k] *= t;
    double rest = brio__problem_allowed(p, INFINITY);
    if (rest == 1) s->limit = limit;
    s->limit_step = t * rest;
    return t * rest;
}

/* How far of what is left the script may go alone. */
static double alone(const BrioProblem *p, const double *q)
{
    return aim(p, q, NULL) > 0 ? brio__problem_allowed(p, INFINITY) : 1;
}

static double moved_on(double fraction, double t)
{
    return t == 1 ? 1 : fraction + t * (1 - fraction);
}

void brio__push_start(const BrioProblem *p)
{
    BrioSolver *s = p->solver;
    brio__system_fixed(s->system, p->state, p->state->time, s->x_fixed_n);
    s->script_fraction = 0;
    if (alone(p, p->state->q) == 1) s->script_fraction = 1;
    s->pushed |= s->script_fraction < 1;
}

bool brio__push_alone(const BrioProblem *p, const double *q)
{
    BrioSolver *s = p->solver;
    double before = s->script_fraction, t = alone(p, q);
    s->script_fraction = moved_on(before, t == 1 ? 1 : t / 2);
    return s->script_fraction > before;
}

/* The mean of the remaining paths of scripted vertices, as aim has just computed it. */
static void mean_way(const BrioSolver *s, double mean[3])
{
    const BrioSystem *system = s->system;
    double sum[4] = {0, 0, 0, 0};
    for (int i = 0; i < system->scripted_count; i++)
        for (int64_t k = 0; k < system->scripted[i].count; k++) {
            const double *way = s->dx + 3 * (int64_t)system->fixed[system->scripted[i].fixed[k]];
            for (int r = 0; r < 3; r++) sum[r] += way[r];
            sum[3]++;
        }
    brio__partition_sum(system->partition, sum, 4);
    for (int r = 0; r < 3; r++) mean[r] = sum[3] > 0 ? sum[r] / sum[3] : 0;
}

/* x + t way, the same way for all blocks, into `out`, which may be x. */
static void shift(const BrioSystem *system, const double *x, double t, const double way[3],
                  double *out)
{
    for (int64_t k = 0; k < 3 * (int64_t)system->block_count; k++) out[k] = x[k] + t * way[k % 3];
}

const double *brio__push_residual(const BrioProblem *p, const double *q, double way[3])
{
    BrioSolver *s = p->solver;
    double before = s->script_fraction;
    double *residual = s->blend; /* only objectives with a < 1 use it, which scripts do not push */
    aim(p, q, NULL);
    mean_way(s, way);
    memset(s->step, 0, 3 * (size_t)s->system->block_count * sizeof *s->step);
    shift(s->system, s->step, 1, way, s->step);
    aim(p, q, s->step);
    double t = DIFFERENCE * allowed(p);
    s->script_fraction = before + t * (1 - before);
    bool moves = s->script_fraction > before;
    if (moves) {
        t = (s->script_fraction - before) / (1 - before); /* as rounded */
        shift(s->system, q, t, way, s->trial);
        brio__problem_value(p, s->trial, residual);
        brio__combine(s->system, 1 / t, residual, 1 - 1 / t, s->gradient, residual);
    }
    s->script_fraction = before;
    return moves && isfinite(brio__dot(s->system, residual, residual)) ? residual : NULL;
}

/* Whether the script might as well go t of what is left alone, since that leaves the objective
 * lower than `value`: bodies that nothing presses have no reason to follow. */
static bool better_alone(const BrioProblem *p, const double *q, double t, double value)
{
    BrioSolver *s = p->solver;
    BrioLimit limit = s->limit;
    double before = s->script_fraction, step = s->limit_step;
    bool free = alone(p, q) >= t;
    s->script_fraction = moved_on(before, t);
    bool better = free && brio__problem_value(p, q, NULL).value < value;
    s->script_fraction = before;
    s->limit = limit;
    s->limit_step = step;
    return better;
}

/* Aims along s->step, for foresight. */
static void aim_step(const BrioProblem *p, const double *q) { aim(p, q, p->solver->step); }

/* How far s->step and the script may go, the step being corrected where pairs limit it. */
static double foreseen(const BrioProblem *p, const double *q)
{
    BrioSolver *s = p->solver;
    aim_step(p, q);
    double t = allowed(p);
    if (t == 1 || !brio__limited_by_pairs(s) || !brio__foresee(p, q, aim_step)) return t;
    aim_step(p, q);
    double farther = allowed(p);
    if (farther > t) return farther;
    brio__foresight_swap(p);
    aim_step(p, q);
    return allowed(p);
}

double brio__push_step(const BrioProblem *p, double *q, const double way[3], BrioValue *now)
{
    BrioSolver *s = p->solver;
    double before = s->script_fraction;
    shift(s->system, s->step, 1, way, s->step);
    double t = foreseen(p, q);
    for (int i = 0; i < HALVINGS && t > 0; i++, t /= 2) {
        brio__combine(s->system, 1, q, t, s->step, s->trial);
        s->script_fraction = moved_on(before, t);
        BrioValue next = brio__problem_value(p, s->trial, s->gradient);
        s->script_fraction = before;
        if (!isfinite(next.value)) continue;
        if (better_alone(p, q, t, next.value)) break;
        memcpy(q, s->trial, 3 * (size_t)s->system->block_count * sizeof *q);
        s->script_fraction = moved_on(before, t);
        *now = next;
        if (t == 1) s->limit.term = NULL;
        return t;
    }
    *now = brio__problem_value(p, q, s->gradient);
    return 0;
}
