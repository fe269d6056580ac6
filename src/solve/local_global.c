/* Local/global solves: a fixed number of iterations with a constant matrix [Bouaziz2014; Liu2013;
 * Liu2017].
 *
 * For energies that are squared distances from a set, w/2 |G x - p|^2 with p the nearest point of
 * the set, the objective with p held is quadratic, and its minimiser is the global step
 * (M + s a^2 L) q = M target + s a (J p - (1 - a) L q_n), L = sum w G^T G. Since
 * grad P(x) = L x - J p(x), that is
 *
 *     q <- q - (M + s a^2 L)^-1 grad(q):
 *
 * a step of Newton's method with one matrix for all times, the same for x, y and z. The local step
 * is the evaluation of the gradient, and nothing has to be known of p. For other energies L bounds
 * the Hessian at moderate strain and stands at the start of L-BFGS.
 *
 * The objective's value comes with the gradient. Where a step has raised it, half of it is tried in
 * place of the next iteration, so that the cost is fixed and the best of what was seen is
 * returned.
 *
 * Constraints g(q) = 0 are rows in addition to this matrix A: with G = dg/dq the step is
 *
 *     q <- q - A^-1 (grad + G^T u),      (G A^-1 G^T) u = g - G A^-1 grad,
 *
 * and what is lowered is the objective + sum penalty |g|. It costs a solve for each row. In the end
 * q goes to the nearest point, in the norm of A, where they hold: they are kept as exactly as by
 * Newton's method, only the forces between them are those of an unfinished solve. */
#include "../contact/contact.h"
#include "../contact/contour.h"
#include "../contact/law.h"
#include "../linear/scalar.h"
#include "../potential/colliders.h"
#include "../potential/hands.h"
#include "problem.h"

#include <stdlib.h>
#include <string.h>

enum { FACTORS = 4, MEMORY_MAX = 16 };
enum {
    AUTO = 2,           /* of the option for precision */
    HALF_FROM = 1000000 /* numbers of a factor from which it is kept in half precision */
};
#define SLOW 2.0 /* s: what moves by `self` within this may come apart by itself */

/* M + scale (L + diag(touch)), factored. */
typedef struct Global {
    bool factored;
    double scale; /* 0 where rods alone are solved for */
    double *touch;
    BrioScalarFactor *factor;
    BrioHandColumns hands;
} Global;

typedef struct BrioLocalGlobal {
    const BrioSystem *system;
    /* L by rows without the diagonal, in the pattern's order */
    int64_t *start;
    int32_t *neighbour;
    double *off, *diagonal;
    double *scaled_off, *scaled_diagonal;
    /* sheets that have passed through themselves where the step begins: forces on world vertices
     * and coordinates, and the target with them; NULL: no sheets */
    BrioContour *contour;
    double *world_pull, *pull, *target;
    double *touch; /* what penalty contacts and friction add to the diagonal in this step, */
    /* and what they really are, [block][BRIO_BOUND]; NULL: there are no contacts */
    double *bound;
    /* blocks of vertices in contact where the step begins, components that have such blocks */
    bool *resting, *carried;
    double *param; /* the parameters that L was made with */
    bool ready;
    BrioScalarPattern *pattern;
    Global global[FACTORS];
    int oldest;
    /* L-BFGS: differences of points and gradients, a ring */
    int memory, used, last;
    double *dq[MEMORY_MAX], *dg[MEMORY_MAX], slope[MEMORY_MAX];
    /* memory for a point in addition to the caller's, and for the gradient at the best one */
    double *spare, *best_gradient;
    /* where the matrix or the solve is not exact: what keeps the momentum of components that are
     * not fixed */
    BrioComponents *components;
    /* of masses and hands, where there are any; L adds nothing to it in such components */
    double *column_sum;
    BrioHandSolve hands; /* those who hold on now: no part of L */
} BrioLocalGlobal;

static void destroy(void *self)
{
    BrioLocalGlobal *g = self;
    for (int i = 0; i < FACTORS; i++) {
        brio__scalar_factor_free(g->global[i].factor);
        brio__free(g->global[i].touch);
        brio__hand_columns_free(&g->global[i].hands);
    }
    brio__scalar_pattern_free(g->pattern);
    brio__components_free(g->components);
    brio__contour_free(g->contour);
    void *arrays[] = {g->start,         g->neighbour,       g->off,        g->diagonal,
                      g->scaled_off,    g->scaled_diagonal, g->touch,      g->bound,
                      g->resting,       g->carried,         g->param,      g->spare,
                      g->best_gradient, g->column_sum,      g->world_pull, g->pull,
                      g->target};
    for (size_t i = 0; i < BRIO_COUNT(arrays); i++) brio__free(arrays[i]);
    for (int i = 0; i < MEMORY_MAX; i++) {
        brio__free(g->dq[i]);
        brio__free(g->dg[i]);
    }
    brio__free(g);
}

static int compare_blocks(const void *a, const void *b)
{
    return (*(const int32_t *)a > *(const int32_t *)b) -
           (*(const int32_t *)a < *(const int32_t *)b);
}

static BrioStatus create_contour(BrioLocalGlobal *g)
{
    size_t coordinates = 3 * (size_t)g->system->block_count;
    BRIO_CHECK(brio__contour_create(g->system, &g->contour));
    if (!g->contour) return BRIO_OK;
    g->world_pull = brio__alloc(3 * (size_t)g->system->vertex_count, sizeof(double));
    g->pull = brio__alloc(coordinates, sizeof(double));
    g->target = brio__alloc(coordinates, sizeof(double));
    return g->world_pull && g->pull && g->target ? BRIO_OK : BRIO_ERROR_MEMORY;
}

static BrioStatus create(BrioSolver *s, void **out)
{
    const BrioSystem *system = s->system;
    size_t n = (size_t)system->block_count;
    BrioLocalGlobal *g = brio__calloc(1, sizeof *g);
    if (!g) return BRIO_ERROR_MEMORY;
    g->system = system;
    bool plain = !s->dissipation->acts; /* and all energies are projections */
    for (int t = 0; t < system->term_count; t++) {
        unsigned traits = system->term[t].energy->traits;
        plain &= system->term[t].elements == 0 ||
                 (traits & (BRIO_ENERGY_PROJECTION | BRIO_ENERGY_LINEAR));
    }
    g->memory = s->options.memory < 0 ? (plain ? 0 : 5) : BRIO_MIN(s->options.memory, MEMORY_MAX);
    BrioStatus status = brio__potential_graph(s->potential, &g->start, &g->neighbour);
    if (status == BRIO_OK) {
        for (size_t b = 0; b < n; b++)
            qsort(g->neighbour + g->start[b], (size_t)(g->start[b + 1] - g->start[b]),
                  sizeof *g->neighbour, compare_blocks);
        size_t entries = (size_t)g->start[n], coordinates = 3 * n;
        g->off = brio__alloc(entries, sizeof(double));
        g->scaled_off = brio__alloc(entries, sizeof(double));
        g->diagonal = brio__alloc(n, sizeof(double));
        g->scaled_diagonal = brio__alloc(n, sizeof(double));
        g->touch = brio__calloc(n, sizeof(double));
        g->resting = brio__calloc(n, sizeof *g->resting);
        g->param = brio__alloc((size_t)system->param_count, sizeof(double));
        bool contacts =
            system->analytic_count > 0 || system->surface || system->collider_params >= 0;
        if (contacts) g->bound = brio__alloc(BRIO_BOUND * n, sizeof(double));
        g->column_sum = brio__alloc(n, sizeof(double));
        g->spare = brio__alloc(coordinates, sizeof(double));
        g->best_gradient = brio__alloc(coordinates, sizeof(double));
        bool all = g->off && g->scaled_off && g->diagonal && g->scaled_diagonal && g->touch &&
                   g->resting && g->param && g->column_sum && g->spare && g->best_gradient &&
                   (!contacts || g->bound);
        for (int i = 0; all && i < g->memory; i++)
            all = (g->dq[i] = brio__alloc(coordinates, sizeof(double))) &&
                  (g->dg[i] = brio__alloc(coordinates, sizeof(double)));
        status = all ? brio__scalar_analyse((int32_t)n, g->start, g->neighbour, &g->pattern)
                     : BRIO_ERROR_MEMORY;
        if (status == BRIO_OK) status = create_contour(g);
        if (status == BRIO_OK && (s->options.single_precision || g->memory || contacts))
            status = brio__components_create(s->system, &g->components);
        if (status == BRIO_OK && contacts &&
            !(g->carried = brio__calloc((size_t)g->components->count, sizeof *g->carried)))
            status = BRIO_ERROR_MEMORY;
    }
    if (status == BRIO_OK)
        *out = g;
    else
        destroy(g);
    return status;
}

/* ---- the constant matrix ---------------------------------------------------------------- */

static void add(BrioLocalGlobal *g, int32_t row, int32_t column, double weight)
{
    if (row == column) {
        g->diagonal[row] += weight;
        return;
    }
    const int32_t *first = g->neighbour + g->start[row];
    const int32_t *found = bsearch(&column, first, (size_t)(g->start[row + 1] - g->start[row]),
                                   sizeof *first, compare_blocks);
    if (found) g->off[found - g->neighbour] += weight;
}

/* Adds w between two world vertices, each a mean of blocks. */
static void add_pair(BrioLocalGlobal *g, int32_t v, int32_t u, double w)
{
    const BrioSystem *s = g->system;
    for (int32_t i = s->map_start[v]; i < s->map_start[v + 1]; i++)
        for (int32_t j = s->map_start[u]; j < s->map_start[u + 1]; j++)
            add(g, s->map_block[i], s->map_block[j], w * s->map_weight[i] * s->map_weight[j]);
}

/* Their memory is used again from the first on. */
static void forget_factors(BrioLocalGlobal *g)
{
    for (int i = 0; i < FACTORS; i++) g->global[i].factored = false;
    g->oldest = 0;
}

static bool is_constant(const BrioTerm *term)
{
    return term->energy->laplacian && term->energy->element != BRIO_ELEMENT_CONTACT;
}

static bool rubs(const BrioProblem *p)
{
    return p->dissipation && p->dissipation->friction >= 0 && p->objective->s != 0;
}

/* What contacts add to the matrix, found once per step where its iterations begin: at q. Friction
 * adds nothing to it: a contact that holds is as stiff across its normal as along it (hold.c). */
static void detect(const BrioProblem *p, BrioLocalGlobal *g, const double *q)
{
    BrioSolver *s = p->solver;
    const BrioObjective *o = p->objective;
    if (!g->bound) return;
    int32_t blocks = s->system->block_count;
    memset(g->bound, 0, BRIO_BOUND * (size_t)blocks * sizeof *g->bound);
    brio__components_separate(g->components);
    brio__problem_positions(p, q, s->x);
    BrioPose pose = brio__problem_pose(p);
    brio__potential_bound(p->potential, &pose, g->bound, g->components);
    for (int32_t b = 0; b < blocks; b++) g->touch[b] = g->bound[BRIO_BOUND * (int64_t)b];
    if (!rubs(p)) return;
    BrioMotion motion = brio__problem_motion(p, q);
    /* s a^2 of it counts, or s a */
    brio__dissipation_bound(p->dissipation, p->state, &motion, o->blend_damping ? 1 : 1 / o->a,
                            g->bound);
}

/* Whether L must be made: a parameter that it depends on has changed. */
static bool outdated(const BrioLocalGlobal *g, const double *param)
{
    if (!g->ready) return true;
    for (int t = 0; t < g->system->term_count; t++) {
        const BrioTerm *term = &g->system->term[t];
        if (!is_constant(term)) continue;
        size_t live = (size_t)(term->packs * term->energy->live * LANES);
        if (memcmp(g->param + term->params, param + term->params,
                   (size_t)term->energy->params * sizeof *param))
            return true;
        if (live && memcmp(g->param + term->live, param + term->live, live * sizeof *param))
            return true;
    }
    return false;
}

static void make(BrioLocalGlobal *g, const double *param)
{
    const BrioSystem *s = g->system;
    memset(g->diagonal, 0, (size_t)s->block_count * sizeof(double));
    memset(g->off, 0, (size_t)g->start[s->block_count] * sizeof(double));
    for (int t = 0; t < s->term_count; t++) {
        const BrioTerm *term = &s->term[t];
        const BrioEnergy *e = term->energy;
        if (!is_constant(term)) continue;
        for (int64_t i = 0; i < term->elements; i++) {
            int64_t pack = i / LANES, at = i % LANES;
            double rest[16], live[16], weight[10];
            for (int k = 0; k < e->rest; k++)
                rest[k] = term->rest[(pack * e->rest + k) * LANES + at];
            for (int k = 0; k < e->live; k++)
                live[k] = param[term->live + (pack * e->live + k) * LANES + at];
            e->laplacian(rest, param + term->params, live, weight);
            for (int a = 0; a < e->nodes; a++)
                for (int b = 0; b < e->nodes; b++)
                    add_pair(g, brio__term_vertex(term, i, a), brio__term_vertex(term, i, b),
                             weight[a >= b ? brio__pair(a, b) : brio__pair(b, a)]);
        }
    }
    memcpy(g->param, param, (size_t)s->param_count * sizeof *param);
    forget_factors(g);
    g->ready = true;
}

/* A solve reads the factor twice, and one that no cache of a core holds is read at the pace of the
 * memory: half the bytes, half the time. A solve that is off by a thousandth of its step is as good
 * as an exact one where ten of them are off by tenths of the solution (docs/local-global.md,
 * Precision). */
static BrioScalarPrecision precision_of(const BrioSolver *s, const BrioScalarPattern *pattern)
{
    if (s->options.single_precision != AUTO)
        return s->options.single_precision ? BRIO_SCALAR_SINGLE : BRIO_SCALAR_DOUBLE;
    return brio__scalar_numbers(pattern) >= HALF_FROM ? BRIO_SCALAR_HALF : BRIO_SCALAR_SINGLE;
}

/* The factor of M + scale (L + diag(touch)). */
static BrioStatus global_of(BrioSolver *s, BrioLocalGlobal *g, const double *param, double scale,
                            Global **global)
{
    size_t bytes = (size_t)g->system->block_count * sizeof *g->touch;
    Global *to = NULL;
    if (outdated(g, param)) make(g, param);
    for (int i = 0; i < FACTORS && !to; i++)
        if (g->global[i].factored && g->global[i].scale == scale) to = &g->global[i];
    if (to && !memcmp(to->touch, g->touch, bytes)) return *global = to, BRIO_OK;
    if (!to) {
        to = &g->global[g->oldest];
        g->oldest = (g->oldest + 1) % FACTORS;
    }
    to->factored = false;
    if (!to->touch && !(to->touch = brio__alloc((size_t)g->system->block_count, sizeof *to->touch)))
        return BRIO_ERROR_MEMORY;
    brio__hand_columns_forget(&to->hands);
    if (!to->factor)
        BRIO_CHECK(
            brio__scalar_factor_create(g->pattern, precision_of(s, g->pattern), &to->factor));
    for (int32_t b = 0; b < g->system->block_count; b++) {
        g->scaled_diagonal[b] = g->system->mass[b] + scale * (g->diagonal[b] + g->touch[b]);
        for (int64_t k = g->start[b]; k < g->start[b + 1]; k++)
            g->scaled_off[k] = scale * g->off[k];
    }
    double before = brio__seconds();
    BrioStatus status = brio__scalar_factorise(to->factor, g->scaled_diagonal, g->scaled_off);
    s->totals.factor += brio__seconds() - before;
    s->totals.factorisations++;
    if (status != BRIO_OK) return status;
    memcpy(to->touch, g->touch, bytes);
    to->factored = true;
    to->scale = scale;
    *global = to;
    return BRIO_OK;
}

static BrioStatus prepare(BrioSolver *s, const BrioState *state, double scale)
{
    Global *global;
    if (!s->self) BRIO_CHECK(create(s, &s->self));
    BrioLocalGlobal *g = s->self;
    for (int i = 0; i < FACTORS; i++)
        if (g->global[i].factored && g->global[i].scale == scale) return BRIO_OK;
    return global_of(s, g, state->param, scale, &global);
}

/* ---- iterations ------------------------------------------------------------------------- */

/* Keeps the differences of a point and its gradient from the best one's, if they tell of positive
 * curvature. */
static void remember(BrioLocalGlobal *g, const double *q, const double *gradient,
                     const double *best)
{
    int at = (g->last + 1) % g->memory;
    brio__combine(g->system, 1, q, -1, best, g->dq[at]);
    brio__combine(g->system, 1, gradient, -1, g->best_gradient, g->dg[at]);
    double slope = brio__dot(g->system, g->dq[at], g->dg[at]);
    if (!(slope > 0)) return;
    g->slope[at] = slope;
    g->last = at;
    g->used = BRIO_MIN(g->used + 1, g->memory);
}

/* step = B gradient, B the inverse of M + scale L and the hands corrected by what was remembered
 * [Nocedal 1980]. */
static void direction(BrioLocalGlobal *g, const BrioScalarFactor *factor, double scale,
                      const double *gradient, double *step)
{
    double coefficient[MEMORY_MAX];
    const double *right = gradient;
    for (int k = 0; k < g->used; k++, right = step) {
        int i = (g->last - k + g->memory) % g->memory;
        coefficient[i] = brio__dot(g->system, g->dq[i], right) / g->slope[i];
        brio__combine(g->system, 1, right, -coefficient[i], g->dg[i], step);
    }
    brio__scalar_solve(factor, right, step);
    brio__hand_solve_correct(&g->hands, g->system, step);
    for (int k = g->used - 1; k >= 0; k--) {
        int i = (g->last - k + g->memory) % g->memory;
        double back = brio__dot(g->system, g->dg[i], step) / g->slope[i];
        brio__combine(g->system, 1, step, coefficient[i] - back, g->dq[i], step);
    }
    if (g->components)
        brio__components_balance(g->components, g->hands.count ? g->column_sum : g->system->mass,
                                 g->bound, scale, gradient, step);
    brio__system_mask(g->system, step);
}

/* ---- constraints ------------------------------------------------------------------------ */

/* What the inverse of A needs. */
typedef struct Inverse {
    BrioLocalGlobal *g;
    const BrioScalarFactor *factor;
    double scale;
    double *room; /* a vector */
} Inverse;

static BrioStatus invert(void *user, int count, double *columns)
{
    const Inverse *by = user;
    int64_t length = 3 * (int64_t)by->g->system->block_count;
    for (int i = 0; i < count; i++) {
        direction(by->g, by->factor, by->scale, columns + i * length, by->room);
        memcpy(columns + i * length, by->room, (size_t)length * sizeof *columns);
    }
    return BRIO_OK;
}

/* g and its gradients at q; returns the largest violation over its length. */
static double look_at_constraints(const BrioProblem *p, const double *q)
{
    BrioConstraints *c = p->solver->constraints;
    brio__system_positions(p->solver->system, p->state, q, p->objective->time, c->world);
    double worst = brio__constraints_update(c, c->world);
    if (!p->objective->rods_from_start) brio__constraints_pull_from_here(c);
    return worst;
}

/* What a point is judged by: the objective, and how far constraints are from holding. */
static double level(const BrioProblem *p, const BrioValue *value)
{
    const BrioConstraints *c = p->solver->constraints;
    return c ? value->value + brio__constraints_penalty(c) : value->value;
}

/* s->step with q - step the next point, and the multipliers that it leads to. */
static BrioStatus descend(const BrioProblem *p, BrioLocalGlobal *g, const Global *global,
                          const double *q)
{
    BrioSolver *s = p->solver;
    BrioConstraints *c = s->constraints;
    double scale = p->objective->s * p->objective->a * p->objective->a;
    if (!c) {
        direction(g, global->factor, scale, s->gradient, s->step);
        return BRIO_OK;
    }
    Inverse by = {g, global->factor, scale, s->trial};
    look_at_constraints(p, q);
    memset(c->multiplier, 0, (size_t)c->count * sizeof(double));
    if (brio__constraints_solve(c, invert, &by, s->gradient, s->step) != BRIO_OK)
        return brio__problem_finish(p, BRIO_REASON_RODS, BRIO_NOT_CONVERGED);
    brio__constraints_raise_penalty(c);
    memcpy(c->multiplier, c->change, (size_t)c->count * sizeof(double));
    brio__combine(s->system, -1, s->step, 0, s->step, s->step);
    return BRIO_OK;
}

/* Moves q to where constraints hold, and adds their forces to the gradient there. */
static BrioStatus hold(const BrioProblem *p, BrioLocalGlobal *g, const Global *global, double *q,
                       BrioValue *value)
{
    enum { LIMIT = 20 };
    static const double exact = 1e-13, close = 1e-10; /* of lengths; what round-off may leave */
    BrioSolver *s = p->solver;
    BrioConstraints *c = s->constraints;
    Inverse by = {g, global->factor, p->objective->s * p->objective->a * p->objective->a, s->trial};
    double worst, last = INFINITY;
    for (int i = 0;; i++, last = worst) {
        worst = look_at_constraints(p, q);
        if (worst <= exact || i == LIMIT || (worst <= close && worst > 0.5 * last)) break;
        memset(s->difference, 0, 3 * (size_t)s->system->block_count * sizeof *s->difference);
        if (brio__constraints_solve(c, invert, &by, s->difference, s->step) != BRIO_OK) break;
        brio__combine(s->system, 1, q, 1, s->step, q);
        for (int k = 0; k < c->count; k++) c->multiplier[k] += c->change[k];
    }
    *value = brio__problem_value(p, q, s->gradient);
    brio__constraints_add_force(c, s->gradient);
    return worst <= close ? BRIO_OK : brio__problem_finish(p, BRIO_REASON_RODS, BRIO_NOT_CONVERGED);
}

/* Marks what is in contact with obstacles where the step begins; whether there is any. */
static bool find_resting(const BrioProblem *p, BrioLocalGlobal *g)
{
    BrioSolver *s = p->solver;
    bool any = false;
    if (!s->system->analytic_count && s->system->collider_params < 0) return false;
    memset(g->resting, 0, (size_t)s->system->block_count * sizeof *g->resting);
    brio__system_positions(s->system, p->state, p->state->q, p->state->time, s->x);
    const BrioPose pose = {p->state, s->x, p->state->time};
    brio__potential_mark_touching(p->potential, &pose, g->resting);
    brio__colliders_mark_touching(p->potential, &pose, g->resting);
    memset(g->carried, 0, (size_t)g->components->count * sizeof *g->carried);
    for (int32_t b = 0; b < s->system->block_count; b++) {
        any |= g->resting[b];
        g->carried[g->components->component[b]] |= g->resting[b];
    }
    return any;
}

/* Friction at q, where the iterations begin. At first it holds what the forces at q_n, `resting`,
 * ask for. */
static BrioStatus begin_friction(const BrioProblem *p, BrioLocalGlobal *g, bool resting,
                                 const double *q)
{
    BrioSolver *s = p->solver;
    const BrioObjective *o = p->objective;
    double *pull = s->trial, change;
    if (!rubs(p) || o->keeps_friction) return BRIO_OK;
    if (resting) { /* s->x is that of q_n */
        double over = 1 / (o->s * o->a);
        brio__potential_evaluate(p->potential, &(BrioPose){p->state, s->x, p->state->time}, pull,
                                 NULL);
        for (int32_t b = 0; b < s->system->block_count; b++)
            for (int r = 0; r < 3; r++) {
                int64_t k = 3 * (int64_t)b + r;
                double stop = s->system->mass[b] * over * (o->target[k] - p->state->q[k]);
                pull[k] = g->resting[b] ? stop - pull[k] : 0;
            }
    }
    brio__problem_positions(p, q, s->x);
    BrioMotion motion = brio__problem_motion(p, q);
    return brio__dissipation_hold(p->dissipation, p->potential, p->state, &motion, s->x,
                                  resting ? pull : NULL, &change, s->difference);
}

/* Friction goes on from q, where value and gradient of the objective change by that. */
static BrioStatus renew_friction(const BrioProblem *p, const double *q, BrioValue *value)
{
    BrioSolver *s = p->solver;
    const BrioObjective *o = p->objective;
    double change;
    if (!rubs(p) || o->keeps_friction) return BRIO_OK;
    BrioMotion motion = brio__problem_motion(p, q);
    BRIO_CHECK(brio__dissipation_hold(p->dissipation, p->potential, p->state, &motion, s->x, NULL,
                                      &change, s->difference));
    value->value += (o->blend_damping ? o->s : o->s * o->a) * change;
    brio__combine(s->system, 1, s->gradient, o->s * o->a, s->difference, s->gradient);
    return BRIO_OK;
}

/* Looks for contacts once, between q_n and q, where the iterations begin. */
static void expect(const BrioProblem *p, const double *q)
{
    BrioSolver *s = p->solver;
    if (!s->system->surface) return;
    brio__system_positions(s->system, p->state, p->state->q, p->state->time, s->x);
    brio__problem_positions(p, q, s->dx);
    for (int64_t k = 0; k < 3 * s->system->vertex_count; k++) s->dx[k] -= s->x[k];
    brio__potential_expect(p->potential, p->state, s->x, s->dx);
}

/* Where weight alone would lead to, or q_n if that is forbidden. Of components in contact, velocity
 * alone: something carries them. (Of the vertices in contact only, the others would begin h^2 g
 * below them: a cloth on a floor would begin every step in waves, and never rest.) */
static BrioStatus begin(const BrioProblem *p, BrioLocalGlobal *g, double *q, BrioValue *value)
{
    BrioSolver *s = p->solver;
    const BrioObjective *o = p->objective;
    size_t bytes = 3 * (size_t)s->system->block_count * sizeof *q;
    if (o->guess) {
        BRIO_CHECK(begin_friction(p, g, find_resting(p, g), o->guess->q));
        *value = o->guess->gradient
                     ? brio__problem_value_known(p, o->guess->q, o->guess, s->gradient)
                     : brio__problem_value(p, o->guess->q, s->gradient);
        memcpy(q, o->guess->q, bytes);
        if (isfinite(value->value)) return BRIO_OK;
    } else {
        brio__mass_solve(
            s->system,
            brio__linear_gradient(brio__potential_elements(p->potential), p->state->param, s->x),
            s->step);
        brio__system_mask(s->system, s->step);
        bool resting = find_resting(p, g);
        for (int32_t b = 0; resting && b < s->system->block_count; b++)
            for (int r = 0; g->carried[g->components->component[b]] && r < 3; r++)
                s->step[3 * (int64_t)b + r] = 0;
        brio__combine(s->system, 1, o->target, -o->s * o->a, s->step, q);
        expect(p, q); /* leaves s->x as it is, at q_n */
        BRIO_CHECK(begin_friction(p, g, resting, q));
        *value = brio__problem_value(p, q, s->gradient);
        if (isfinite(value->value)) return BRIO_OK;
    }
    memcpy(q, p->state->q, bytes);
    BRIO_CHECK(begin_friction(p, g, find_resting(p, g), q));
    *value = brio__problem_value(p, q, s->gradient);
    return BRIO_OK;
}

static void swap(double **a, double **b)
{
    double *c = *a;
    *a = *b;
    *b = c;
}

/* The factor of this step and the hands that hold on in it. */
static BrioStatus begin_solves(const BrioProblem *p, BrioLocalGlobal *g, const double *q,
                               Global **global)
{
    BrioSolver *s = p->solver;
    double scale = p->objective->s * p->objective->a * p->objective->a;
    detect(p, g, q);
    BRIO_CHECK(global_of(s, g, p->state->param, scale, global));
    BRIO_CHECK(brio__hand_solve_begin(&g->hands, &(*global)->hands, s->system, p->state, scale,
                                      (*global)->factor, s->trial));
    g->used = 0;
    if (!g->components || !g->hands.count) return BRIO_OK;
    memcpy(g->column_sum, s->system->mass, (size_t)s->system->block_count * sizeof *g->column_sum);
    brio__hand_solve_column_sums(&g->hands, g->column_sum);
    return BRIO_OK;
}

/* Sheets that pass through themselves where the step begins are pulled apart, and what holds them
 * lets go, by constant forces f in it, at most the largest that two vertices repel each other with:
 * M target + s a f instead of M target. Whether there are any. */
static bool pull_apart(const BrioProblem *p, BrioLocalGlobal *g)
{
    const BrioSystem *system = g->system;
    const BrioObjective *o = p->objective;
    if (!g->contour || p->mass == 0) return false;
    const double *param = p->state->param + system->contact_params;
    memset(g->world_pull, 0, 3 * (size_t)system->vertex_count * sizeof *g->world_pull);
    brio__system_positions(system, p->state, p->state->q, p->state->time, p->solver->x);
    BrioContourPull pull = {param, param[BRIO_CONTACT_DHAT] / SLOW};
    if (!brio__contour_pull(g->contour, &pull, p->solver->x, p->state->v, g->world_pull))
        return false;
    memset(g->pull, 0, 3 * (size_t)system->block_count * sizeof *g->pull);
    brio__system_gather(system, g->world_pull, g->pull);
    brio__system_mask(system, g->pull);
    brio__combine(system, o->s * o->a / p->mass, g->pull, 0, g->pull, g->pull);
    brio__mass_solve(system, g->pull, g->target);
    brio__combine(system, 1, o->target, 1, g->target, g->target);
    return true;
}

static BrioStatus finish(BrioSolver *s, double value)
{
    s->reason = BRIO_REASON_TOLERANCE;
    if (isfinite(value)) return BRIO_OK;
    s->reason = BRIO_REASON_NOT_FINITE;
    snprintf(s->message, sizeof s->message,
             "local/global found a value that is not finite, already at q_n: inverted elements, "
             "or a step that is far too long");
    return BRIO_NOT_FINITE;
}

static BrioStatus minimise(const BrioProblem *given, double *q, BrioValue *value)
{
    BrioProblem problem = *given;
    BrioObjective objective = *given->objective;
    const BrioProblem *p = &problem;
    const BrioObjective *o = &objective;
    BrioSolver *s = p->solver;
    if (!s->self) BRIO_CHECK(create(s, &s->self));
    BrioLocalGlobal *g = s->self;
    bool pulled = pull_apart(given, g);
    problem.objective = o;
    if (pulled) objective.target = g->target;
    Global *global;
    double before = brio__seconds();
    BrioValue now;
    if (s->constraints)
        brio__constraints_begin(s->constraints, p->state, brio__multiplier_scale(o));
    BRIO_CHECK(begin(p, g, q, &now));
    BrioValue best = now;
    double here = 0, there = 0; /* what the best point and that of now are judged by */
    s->totals.gradient += brio__seconds() - before;
    BRIO_CHECK(begin_solves(p, g, q, &global));
    int iterations = o->iterations ? o->iterations : s->options.iterations;
    bool moved = false;                /* from the best point, */
    double *at = q, *spare = g->spare; /* which is in one of the two while the other is tried */
    for (s->iterations = 0; s->iterations < iterations; s->iterations++, s->totals.iterations++) {
        BRIO_CHECK(brio__problem_look(p));
        before = brio__seconds();
        if (moved && !(there <= here + fmax(now.noise, best.noise))) {
            brio__combine(s->system, 0.5, at, 0.5, spare, at);
        } else {
            if (g->memory && moved) remember(g, at, s->gradient, spare);
            if (moved) BRIO_CHECK(renew_friction(p, at, &now));
            best = now;
            BRIO_CHECK(descend(p, g, global, at));
            here = level(p, &best);
            brio__combine(s->system, 1, at, -1, s->step, spare);
            swap(&at, &spare);
            swap(&s->gradient, &g->best_gradient);
            moved = true;
        }
        s->totals.solve += brio__seconds() - before;
        before = brio__seconds();
        now = brio__problem_value(p, at, s->gradient);
        if (s->constraints) look_at_constraints(p, at);
        there = level(p, &now);
        s->totals.gradient += brio__seconds() - before;
    }
    if (moved && !(there <= here + fmax(now.noise, best.noise))) {
        swap(&at, &spare);
        swap(&s->gradient, &g->best_gradient);
        now = best;
    }
    if (at != q) memcpy(q, at, 3 * (size_t)s->system->block_count * sizeof *q);
    if (s->constraints) BRIO_CHECK(hold(p, g, global, q, &now));
    /* what pulled stays with the forces that the solve has left over */
    if (pulled) brio__combine(s->system, 1, s->gradient, given->mass, g->pull, s->gradient);
    *value = now;
    return finish(s, now.value);
}

static BrioStatus fits(const BrioSystem *system, const BrioSolverOptions *options,
                       const BrioIntegrator *integrator, BrioError *error)
{
    if (options->iterations < 1)
        return brio__error(error, BRIO_ERROR_INPUT, "local-global takes at least one iteration");
    if (brio__has_barriers(system))
        return brio__error(
            error, BRIO_ERROR_UNSUPPORTED,
            "local-global does not support contact: %s, because it ends a step before the "
            "solution; use contact: {type: penalty}, or solver: newton",
            brio__law_at(system->law)->name);
    if (integrator->traits & BRIO_LINEARISED)
        return brio__error(
            error, BRIO_ERROR_UNSUPPORTED,
            "%s is one linear solve with the Hessian at the start of the step, which local-global "
            "does not have; use backward-euler, or solver: newton",
            integrator->name);
    for (int k = 0; k < system->force_count; k++) {
        const BrioForce *force = &system->force[k];
        if (force->type->linear || force->type->push) continue;
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "local-global has no constant matrix for force \"%s\" (%s); use "
                           "solver: newton",
                           force->name, force->type->name);
    }
    for (int t = 0; t < system->term_count; t++) {
        const BrioTerm *term = &system->term[t];
        if (term->elements && !term->energy->laplacian &&
            !(term->energy->traits & BRIO_ENERGY_LINEAR))
            return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                               "local-global has no constant matrix for %s; use solver: newton",
                               term->energy->name);
    }
    return BRIO_OK;
}

BRIO_SOLVER(local_global){
    .name = "local-global",
    .summary = "A fixed number of iterations with one constant matrix, for real time (Projective "
               "Dynamics; L-BFGS if energies are not projections).",
    .citation = "Bouaziz2014",
    .unfinished = true,
    .minimise = minimise,
    .prepare = prepare,
    .destroy = destroy,
    .fits = fits,
};
