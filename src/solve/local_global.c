#include "local_global.h"

#include "../hands.h"
#include "../parts.h"

#include <stdlib.h>
#include <string.h>

enum { FACTORS = 4, MEMORY_MOST = 16 };

/* M + scale L, factored. */
typedef struct Global {
    double scale; /* 0: not factored */
    BrioScalarFactor *factor;
    BrioHandColumns hands;
} Global;

struct BrioLocalGlobal {
    const BrioSystem *system;
    /* L by rows without the diagonal, in the pattern's order */
    int64_t *start;
    int32_t *neighbour;
    double *off, *diagonal;
    double *scaled_off, *scaled_diagonal;
    double *touch, *touched; /* what penalty contacts add to the diagonal, now and in the factors */
    double *param;          /* the parameters that L was made with */
    bool made;
    BrioScalarPattern *pattern;
    Global global[FACTORS];
    int oldest;
    /* L-BFGS: differences of points and gradients, a ring */
    int memory, used, last;
    double *dq[MEMORY_MOST], *dg[MEMORY_MOST], slope[MEMORY_MOST];
    double *best, *best_gradient;
    /* where the solve is not exact: what keeps the momentum of parts that are not held */
    BrioParts *parts;
    double *column_sum; /* of the matrix at work, to which L adds nothing in such parts */
    BrioHandSolve hands; /* those who hold on now: no part of L */
};

void brio__local_global_free(BrioLocalGlobal *g)
{
    if (!g) return;
    for (int i = 0; i < FACTORS; i++) {
        brio__scalar_factor_free(g->global[i].factor);
        brio__hand_columns_free(&g->global[i].hands);
    }
    brio__scalar_pattern_free(g->pattern);
    brio__parts_free(g->parts);
    void *arrays[] = {g->start, g->neighbour, g->off, g->diagonal, g->scaled_off, g->scaled_diagonal, g->touch, g->touched, g->param, g->best, g->best_gradient, g->column_sum};
    for (size_t i = 0; i < BRIO_COUNT(arrays); i++) brio__free(arrays[i]);
    for (int i = 0; i < MEMORY_MOST; i++) {
        brio__free(g->dq[i]);
        brio__free(g->dg[i]);
    }
    brio__free(g);
}

static int compare_blocks(const void *a, const void *b) { return (*(const int32_t *)a > *(const int32_t *)b) - (*(const int32_t *)a < *(const int32_t *)b); }

static BrioStatus create(BrioSolver *s, BrioLocalGlobal **out)
{
    const BrioSystem *system = s->system;
    size_t n = (size_t)system->block_count;
    BrioLocalGlobal *g = brio__calloc(1, sizeof *g);
    if (!g) return BRIO_ERROR_MEMORY;
    g->system = system;
    bool plain = !s->damper_count; /* and all energies are projections */
    for (int t = 0; t < system->term_count; t++) {
        unsigned traits = system->term[t].energy->traits;
        plain &= system->term[t].elements == 0 || (traits & (BRIO_ENERGY_PROJECTION | BRIO_ENERGY_LINEAR));
    }
    g->memory = s->options.memory < 0 ? (plain ? 0 : 5) : BRIO_MIN(s->options.memory, MEMORY_MOST);
    BrioStatus status = brio__evaluator_graph(s->evaluator, &g->start, &g->neighbour);
    if (status == BRIO_OK) {
        for (size_t b = 0; b < n; b++) qsort(g->neighbour + g->start[b], (size_t)(g->start[b + 1] - g->start[b]), sizeof *g->neighbour, compare_blocks);
        size_t entries = (size_t)g->start[n], coordinates = 3 * n;
        g->off = brio__alloc(entries, sizeof(double));
        g->scaled_off = brio__alloc(entries, sizeof(double));
        g->diagonal = brio__alloc(n, sizeof(double));
        g->scaled_diagonal = brio__alloc(n, sizeof(double));
        g->touch = brio__calloc(n, sizeof(double));
        g->touched = brio__calloc(n, sizeof(double));
        g->param = brio__alloc((size_t)system->param_count, sizeof(double));
        g->column_sum = brio__alloc(n, sizeof(double));
        g->best = brio__alloc(coordinates, sizeof(double));
        g->best_gradient = brio__alloc(coordinates, sizeof(double));
        bool all = g->off && g->scaled_off && g->diagonal && g->scaled_diagonal && g->touch && g->touched && g->param && g->column_sum && g->best && g->best_gradient;
        for (int i = 0; all && i < g->memory; i++) all = (g->dq[i] = brio__alloc(coordinates, sizeof(double))) && (g->dg[i] = brio__alloc(coordinates, sizeof(double)));
        status = all ? brio__scalar_analyse((int32_t)n, g->start, g->neighbour, &g->pattern) : BRIO_ERROR_MEMORY;
        if (status == BRIO_OK && (s->options.single_precision || g->memory)) status = brio__parts_create(s, &g->parts);
    }
    if (status == BRIO_OK)
        *out = g;
    else
        brio__local_global_free(g);
    return status;
}

/* ---- the constant matrix -------------------------------------------------------------------------- */

static void add(BrioLocalGlobal *g, int32_t row, int32_t column, double weight)
{
    if (row == column) {
        g->diagonal[row] += weight;
        return;
    }
    const int32_t *first = g->neighbour + g->start[row], *found = bsearch(&column, first, (size_t)(g->start[row + 1] - g->start[row]), sizeof *first, compare_blocks);
    if (found) g->off[found - g->neighbour] += weight;
}

/* Adds w between two world vertices, each a mean of blocks. */
static void add_pair(BrioLocalGlobal *g, int32_t v, int32_t u, double w)
{
    const BrioSystem *s = g->system;
    for (int32_t i = s->map_start[v]; i < s->map_start[v + 1]; i++)
        for (int32_t j = s->map_start[u]; j < s->map_start[u + 1]; j++) add(g, s->map_block[i], s->map_block[j], w * s->map_weight[i] * s->map_weight[j]);
}

static bool is_constant(const BrioTerm *term) { return term->energy->laplacian && term->energy->element != BRIO_ELEMENT_CONTACT; }

/* Finds the vertices that penalty contacts act on at the world positions x; the factors are of no use if they differ from those before. */
static void detect(BrioLocalGlobal *g, const double *param, const double *x)
{
    const BrioSystem *s = g->system;
    if (!s->plane_count) return;
    size_t bytes = (size_t)s->block_count * sizeof(double);
    memset(g->touch, 0, bytes);
    for (int k = 0; k < s->plane_count; k++) {
        const BrioTerm *term = &s->term[s->plane_term + k];
        const BrioEnergy *e = term->energy;
        for (int64_t block = 0; block < term->blocks; block++) {
            double distance[LANES] __attribute__((aligned(64))), rest[16], weight;
            brio__obstacle_distances(term, param, block, x, distance);
            for (int64_t at = 0; at < LANES && block * LANES + at < term->elements; at++) {
                int32_t vertex = brio__term_vertex(term, block * LANES + at, 0);
                if (!(distance[at] < param[term->params + 1])) continue;
                for (int i = 0; i < e->rest; i++) rest[i] = term->rest[(block * e->rest + i) * LANES + at];
                e->laplacian(rest, param + term->params, NULL, &weight);
                for (int32_t m = s->map_start[vertex]; m < s->map_start[vertex + 1]; m++) g->touch[s->map_block[m]] += weight * fabs(s->map_weight[m]);
            }
        }
    }
    if (!memcmp(g->touch, g->touched, bytes)) return;
    memcpy(g->touched, g->touch, bytes);
    for (int i = 0; i < FACTORS; i++) g->global[i].scale = 0;
}

/* Whether L must be made: a parameter that it depends on has changed. */
static bool outdated(const BrioLocalGlobal *g, const double *param)
{
    if (!g->made) return true;
    for (int t = 0; t < g->system->term_count; t++) {
        const BrioTerm *term = &g->system->term[t];
        if (!is_constant(term)) continue;
        size_t live = (size_t)(term->blocks * term->energy->live * LANES);
        if (memcmp(g->param + term->params, param + term->params, (size_t)term->energy->params * sizeof *param)) return true;
        if (live && memcmp(g->param + term->live, param + term->live, live * sizeof *param)) return true;
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
            int64_t block = i / LANES, at = i % LANES;
            double rest[16], live[16], weight[10];
            for (int k = 0; k < e->rest; k++) rest[k] = term->rest[(block * e->rest + k) * LANES + at];
            for (int k = 0; k < e->live; k++) live[k] = param[term->live + (block * e->live + k) * LANES + at];
            e->laplacian(rest, param + term->params, live, weight);
            for (int a = 0; a < e->nodes; a++)
                for (int b = 0; b < e->nodes; b++)
                    add_pair(g, brio__term_vertex(term, i, a), brio__term_vertex(term, i, b), weight[a >= b ? brio__pair(a, b) : brio__pair(b, a)]);
        }
    }
    memcpy(g->param, param, (size_t)s->param_count * sizeof *param);
    for (int i = 0; i < FACTORS; i++) g->global[i].scale = 0;
    g->made = true;
}

/* The factor of M + scale L. */
static BrioStatus global_of(BrioSolver *s, BrioLocalGlobal *g, const double *param, double scale, Global **global)
{
    if (outdated(g, param)) make(g, param);
    for (int i = 0; i < FACTORS; i++)
        if (g->global[i].scale == scale) return *global = &g->global[i], BRIO_OK;
    Global *to = &g->global[g->oldest];
    g->oldest = (g->oldest + 1) % FACTORS;
    to->scale = 0;
    brio__hand_columns_forget(&to->hands);
    if (!to->factor) BRIO_CHECK(brio__scalar_factor_create(g->pattern, s->options.single_precision, &to->factor));
    for (int32_t b = 0; b < g->system->block_count; b++) {
        g->scaled_diagonal[b] = g->system->mass[b] + scale * (g->diagonal[b] + g->touched[b]);
        for (int64_t k = g->start[b]; k < g->start[b + 1]; k++) g->scaled_off[k] = scale * g->off[k];
    }
    double before = brio__seconds();
    BrioStatus status = brio__scalar_factorise(to->factor, g->scaled_diagonal, g->scaled_off);
    s->totals.factor += brio__seconds() - before;
    s->totals.factorisations++;
    if (status == BRIO_OK) to->scale = scale, *global = to;
    return status;
}

/* ---- iterations ------------------------------------------------------------------------------------ */

/* Keeps q - from, g - from_gradient if they tell of positive curvature. */
static void remember(BrioLocalGlobal *g, const double *q, const double *gradient)
{
    int at = (g->last + 1) % g->memory;
    brio__combine(g->system, 1, q, -1, g->best, g->dq[at]);
    brio__combine(g->system, 1, gradient, -1, g->best_gradient, g->dg[at]);
    double slope = brio__dot(g->system, g->dq[at], g->dg[at]);
    if (!(slope > 0)) return;
    g->slope[at] = slope;
    g->last = at;
    g->used = BRIO_MIN(g->used + 1, g->memory);
}

/* step = -B gradient, B the inverse of M + scale L and the hands corrected by what was remembered [Nocedal 1980]. */
static void direction(BrioLocalGlobal *g, const BrioScalarFactor *factor, const double *gradient, double *step)
{
    double share[MEMORY_MOST];
    brio__combine(g->system, -1, gradient, 0, gradient, step);
    for (int k = 0; k < g->used; k++) {
        int i = (g->last - k + g->memory) % g->memory;
        share[i] = brio__dot(g->system, g->dq[i], step) / g->slope[i];
        brio__combine(g->system, 1, step, -share[i], g->dg[i], step);
    }
    brio__scalar_solve(factor, step, step);
    brio__hand_solve_correct(&g->hands, g->system, step);
    for (int k = g->used - 1; k >= 0; k--) {
        int i = (g->last - k + g->memory) % g->memory;
        double back = brio__dot(g->system, g->dg[i], step) / g->slope[i];
        brio__combine(g->system, 1, step, share[i] - back, g->dq[i], step);
    }
    if (g->parts) brio__parts_balance(g->parts, g->column_sum, gradient, step);
}

/* Where weight alone would lead to, or q_n if that is forbidden. */
static BrioValue begin(const BrioProblem *p, double *q)
{
    BrioSolver *s = p->solver;
    const BrioObjective *o = p->objective;
    size_t bytes = 3 * (size_t)s->system->block_count * sizeof *q;
    if (o->guess) {
        memcpy(q, o->guess, bytes);
    } else {
        brio__linear_gradient(s->evaluator, p->state->param, s->x, s->step);
        brio__mass_solve(s->system, s->step, s->step);
        brio__combine(s->system, 1, o->target, -o->s * o->a, s->step, q);
    }
    BrioValue value = brio__problem_value(p, q, s->gradient);
    if (isfinite(value.value)) return value;
    memcpy(q, p->state->q, bytes);
    return brio__problem_value(p, q, s->gradient);
}

BrioStatus brio__local_global(const BrioProblem *p, double *q)
{
    BrioSolver *s = p->solver;
    const BrioObjective *o = p->objective;
    size_t bytes = 3 * (size_t)s->system->block_count * sizeof *q;
    if (!s->local_global) BRIO_CHECK(create(s, &s->local_global));
    BrioLocalGlobal *g = s->local_global;
    Global *global;
    double before = brio__seconds();
    BrioValue best = begin(p, q), now = best;
    double best_potential = s->potential;
    s->totals.gradient += brio__seconds() - before;
    detect(g, p->state->param, s->x);
    BRIO_CHECK(global_of(s, g, p->state->param, o->s * o->a * o->a, &global));
    BRIO_CHECK(brio__hand_solve_begin(&g->hands, &global->hands, s->system, p->state, o->s * o->a * o->a, global->factor, s->trial));
    g->used = 0;
    for (int32_t b = 0; g->parts && b < s->system->block_count; b++) g->column_sum[b] = s->system->mass[b] + o->s * o->a * o->a * g->touched[b];
    if (g->parts) brio__hand_solve_column_sums(&g->hands, g->column_sum);
    int iterations = o->iterations ? o->iterations : s->options.iterations;
    bool moved = false; /* from the best point; */
    for (s->iterations = 0; s->iterations < iterations; s->iterations++, s->totals.iterations++) {
        before = brio__seconds();
        if (moved && !(now.value <= best.value + fmax(now.noise, best.noise))) {
            brio__combine(s->system, 0.5, q, 0.5, g->best, q);
        } else {
            if (g->memory && moved) remember(g, q, s->gradient);
            memcpy(g->best, q, bytes);
            memcpy(g->best_gradient, s->gradient, bytes);
            best = now;
            best_potential = s->potential;
            direction(g, global->factor, s->gradient, s->step);
            brio__combine(s->system, 1, q, 1, s->step, q);
            moved = true;
        }
        s->totals.solve += brio__seconds() - before;
        before = brio__seconds();
        now = brio__problem_value(p, q, s->gradient);
        s->totals.gradient += brio__seconds() - before;
    }
    if (moved && !(now.value <= best.value + fmax(now.noise, best.noise))) {
        memcpy(q, g->best, bytes);
        memcpy(s->gradient, g->best_gradient, bytes);
        s->potential = best_potential;
        now = best;
    }
    s->reason = BRIO_REASON_TOLERANCE;
    if (isfinite(now.value)) return BRIO_OK;
    s->reason = BRIO_REASON_NOT_FINITE;
    snprintf(s->message, sizeof s->message, "local/global met a value that is not finite, at q_n already: inverted elements, or a step that is far too long");
    return BRIO_NOT_FINITE;
}
