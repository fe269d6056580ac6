/* Rods: conditions, multipliers and the Schur complement over the factored matrix (constraint.h).
 */
#include "constraint.h"

#include <string.h>

BrioStatus brio__constraints_create(const BrioSystem *system, BrioConstraints **constraints)
{
    BrioConstraints *c = brio__calloc(1, sizeof *c);
    if (!c) return BRIO_ERROR_MEMORY;
    size_t count = (size_t)system->rod_count, coordinates = 3 * (size_t)system->block_count;
    c->system = system;
    c->count = system->rod_count;
    const BrioEnergy *spring = brio__energy("attachment");
    int64_t packs = (system->rod_count + LANES - 1) / LANES;
    c->term = (BrioTerm){.energy = spring, .body = -1, .elements = c->count, .packs = packs};
    struct {
        double **array;
        size_t size;
    } arrays[] = {{&c->g, count},
                  {&c->multiplier, count},
                  {&c->change, count},
                  {&c->kept, count},
                  {&c->direction, 3 * count},
                  {&c->force_direction, 3 * count},
                  {&c->inertia, count},
                  {&c->column, (count + 1) * coordinates},
                  {&c->schur, count * count},
                  {&c->world, 3 * (size_t)system->vertex_count},
                  {&c->force, coordinates},
                  {&c->stiffness, (size_t)packs * LANES},
                  {&c->term.rest, (size_t)packs * LANES}};
    BrioStatus status = BRIO_OK;
    for (size_t i = 0; i < BRIO_COUNT(arrays); i++)
        if (!(*arrays[i].array = brio__calloc(arrays[i].size, sizeof(double))))
            status = BRIO_ERROR_MEMORY;
    c->term.node = brio__calloc((size_t)packs * LANES * 2, sizeof *c->term.node);
    if (!c->term.node) status = BRIO_ERROR_MEMORY;
    /* the last block repeats the last rod, weightless */
    for (int64_t i = 0; status == BRIO_OK && i < packs * LANES; i++) {
        const BrioRod *rod = &system->rod[BRIO_MIN(i, (int64_t)c->count - 1)];
        for (int k = 0; k < 2; k++)
            c->term.node[(i / LANES * 2 + k) * LANES + i % LANES] = 3 * rod->vertex[k];
        c->term.rest[i] = i < c->count ? 1 / rod->length : 0;
    }
    for (int i = 0; status == BRIO_OK && i < c->count; i++) {
        double mobility = 0;
        for (int k = 0; k < 2; k++)
            for (int32_t m = system->map_start[system->rod[i].vertex[k]];
                 m < system->map_start[system->rod[i].vertex[k] + 1]; m++)
                mobility += system->map_weight[m] * system->map_weight[m] /
                            system->mass[system->map_block[m]];
        c->inertia[i] = 1 / mobility;
        c->longest = fmax(c->longest, system->rod[i].length);
    }
    if (status == BRIO_OK) status = brio__evaluator_create(system, &c->term, 1, &c->evaluator);
    if (status == BRIO_OK)
        *constraints = c;
    else
        brio__constraints_free(c);
    return status;
}

void brio__constraints_free(BrioConstraints *c)
{
    if (!c) return;
    brio__evaluator_free(c->evaluator);
    double *arrays[] = {
        c->g,      c->multiplier, c->change, c->kept,  c->direction, c->force_direction, c->inertia,
        c->column, c->schur,      c->world,  c->force, c->stiffness, c->term.rest};
    for (size_t i = 0; i < BRIO_COUNT(arrays); i++) brio__free(arrays[i]);
    brio__free(c->term.node);
    brio__free(c);
}

double brio__constraints_update(BrioConstraints *c, const double *x)
{
    double worst = 0;
    for (int i = 0; i < c->count; i++) {
        const BrioRod *rod = &c->system->rod[i];
        double *n = c->direction + 3 * i, square = 0;
        for (int r = 0; r < 3; r++) {
            n[r] = (x[3 * (int64_t)rod->vertex[0] + r] - x[3 * (int64_t)rod->vertex[1] + r]) /
                   rod->length;
            square += n[r] * n[r];
        }
        c->g[i] = rod->length * (square - 1) / 2;
        double size = fabs(square - 1) / 2;
        if (!(size <= worst)) worst = size; /* lets a NaN through */
    }
    return worst;
}

void brio__constraints_pull_from_here(BrioConstraints *c)
{
    memcpy(c->force_direction, c->direction, 3 * (size_t)c->count * sizeof(double));
}

/* out += scale times row i of G, whose direction is n. */
static void add_row(const BrioConstraints *c, int i, const double *n, double scale, double *out)
{
    const BrioSystem *s = c->system;
    for (int k = 0; k < 2; k++) {
        int32_t v = s->rod[i].vertex[k];
        for (int32_t m = s->map_start[v]; m < s->map_start[v + 1]; m++)
            for (int r = 0; r < 3; r++)
                out[3 * (int64_t)s->map_block[m] + r] +=
                    (k ? -scale : scale) * s->map_weight[m] * n[r];
    }
}

static double dot_row(const BrioConstraints *c, int i, const double *n, const double *p)
{
    const BrioSystem *s = c->system;
    double sum = 0;
    for (int k = 0; k < 2; k++) {
        int32_t v = s->rod[i].vertex[k];
        for (int32_t m = s->map_start[v]; m < s->map_start[v + 1]; m++)
            for (int r = 0; r < 3; r++)
                sum += (k ? -1 : 1) * s->map_weight[m] * n[r] * p[3 * (int64_t)s->map_block[m] + r];
    }
    return sum;
}

void brio__constraints_add_force(BrioConstraints *c, double *gradient)
{
    memset(c->force, 0, 3 * (size_t)c->system->block_count * sizeof(double));
    for (int i = 0; i < c->count; i++)
        add_row(c, i, c->force_direction + 3 * i, c->multiplier[i], c->force);
    brio__combine(c->system, 1, gradient, 1, c->force, gradient);
}

double brio__constraints_merit(const BrioConstraints *c)
{
    double sum = 0;
    for (int i = 0; i < c->count; i++) sum += c->inertia[i] * c->g[i] * c->g[i];
    return sum;
}

/* ---- curvature -------------------------------------------------------------------------- */

BrioStatus brio__constraints_join_graph(const BrioConstraints *c, int32_t n, int64_t **start,
                                        int32_t **neighbour)
{
    int64_t *own_start = NULL;
    int64_t *joint_start = brio__alloc((size_t)n + 1, sizeof *joint_start);
    int64_t at = 0;
    int32_t *own = NULL, *joint = NULL, *stamp = brio__alloc((size_t)n, sizeof *stamp);
    BrioStatus status = joint_start && stamp ? brio__evaluator_graph(c->evaluator, &own_start, &own)
                                             : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK &&
        !(joint = brio__alloc((size_t)((*start)[n] + own_start[n]), sizeof *joint)))
        status = BRIO_ERROR_MEMORY;
    for (int32_t b = 0; status == BRIO_OK && b < n; b++) stamp[b] = -1;
    for (int32_t b = 0; status == BRIO_OK && b < n; b++) {
        joint_start[b] = at;
        for (int64_t k = (*start)[b]; k < (*start)[b + 1]; k++)
            stamp[joint[at++] = (*neighbour)[k]] = b;
        for (int64_t k = own_start[b]; k < own_start[b + 1]; k++)
            if (stamp[own[k]] != b) joint[at++] = own[k];
    }
    brio__free(own_start);
    brio__free(own);
    brio__free(stamp);
    if (status != BRIO_OK) {
        brio__free(joint_start);
        return status;
    }
    joint_start[n] = at;
    brio__free(*start);
    brio__free(*neighbour);
    *start = joint_start;
    *neighbour = joint;
    return BRIO_OK;
}

BrioStatus brio__constraints_plan(BrioConstraints *c, const BrioLinear *linear)
{
    return brio__evaluator_plan(c->evaluator, linear);
}

void brio__constraints_assemble(BrioConstraints *c, const double *x, bool project,
                                BrioLinear *linear)
{
    for (int i = 0; i < c->count; i++)
        c->stiffness[i] = project ? fmax(0, c->multiplier[i]) : c->multiplier[i];
    brio__assemble_add(c->evaluator, c->stiffness, x, 1, false, linear, NULL);
}

/* ---- the saddle point ------------------------------------------------------------------- */

/* Solves S x = b in place by elimination with partial pivoting; false if S is singular. */
static bool eliminate(int n, double *S, double *b)
{
    double size = 0;
    for (int k = 0; k < n * n; k++) size = fmax(size, fabs(S[k]));
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(S[i * n + k]) > fabs(S[pivot * n + k])) pivot = i;
        if (!(fabs(S[pivot * n + k]) > 1e-12 * size)) return false;
        for (int j = k; j < n && pivot != k; j++) {
            double t = S[k * n + j];
            S[k * n + j] = S[pivot * n + j];
            S[pivot * n + j] = t;
        }
        double t = b[k];
        b[k] = b[pivot];
        b[pivot] = t;
        for (int i = k + 1; i < n; i++) {
            double factor = S[i * n + k] / S[k * n + k];
            if (factor == 0) continue;
            for (int j = k + 1; j < n; j++) S[i * n + j] -= factor * S[k * n + j];
            b[i] -= factor * b[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) b[k] -= S[k * n + j] * b[j];
        b[k] /= S[k * n + k];
    }
    return true;
}

/* Columns of F^T, after which there is room for one more. */
static void fill_columns(BrioConstraints *c, const double *direction)
{
    int64_t length = 3 * (int64_t)c->system->block_count;
    memset(c->column, 0, (size_t)(c->count * length) * sizeof(double));
    for (int i = 0; i < c->count; i++) add_row(c, i, direction + 3 * i, 1, c->column + i * length);
}

static void fill_schur(BrioConstraints *c)
{
    int64_t length = 3 * (int64_t)c->system->block_count;
    for (int i = 0; i < c->count; i++)
        for (int j = 0; j < c->count; j++)
            c->schur[i * c->count + j] =
                dot_row(c, i, c->direction + 3 * i, c->column + j * length);
}

BrioStatus brio__constraints_solve(BrioConstraints *c, BrioLinear *linear, const double *residual,
                                   double *step)
{
    int64_t length = 3 * (int64_t)c->system->block_count;
    double *free_step = c->column + c->count * length;
    fill_columns(c, c->force_direction);
    brio__combine(c->system, -1, residual, 0, residual, free_step);
    BRIO_CHECK(brio__linear_solve(linear, c->count + 1, c->column, c->column));
    fill_schur(c);
    for (int i = 0; i < c->count; i++)
        c->change[i] = c->g[i] + dot_row(c, i, c->direction + 3 * i, free_step);
    if (!eliminate(c->count, c->schur, c->change)) return BRIO_NOT_POSITIVE_DEFINITE;
    memcpy(step, free_step, (size_t)length * sizeof *step);
    for (int i = 0; i < c->count; i++)
        brio__combine(c->system, 1, step, -c->change[i], c->column + i * length, step);
    return BRIO_OK;
}

BrioStatus brio__constraints_fit(BrioConstraints *c, const BrioState *state, const double *q,
                                 double time, double *v)
{
    const BrioSystem *s = c->system;
    int64_t length = 3 * (int64_t)s->block_count;
    brio__system_positions(s, state, q, time, c->world);
    brio__constraints_update(c, c->world);
    fill_columns(c, c->direction);
    for (int i = 0; i < c->count; i++)
        brio__mass_solve(s, c->column + i * length, c->column + i * length);
    fill_schur(c);
    brio__system_velocities(s, state, v, time, c->world);
    for (int i = 0; i < c->count; i++) {
        c->change[i] = 0;
        for (int r = 0; r < 3; r++)
            c->change[i] +=
                c->direction[3 * i + r] * (c->world[3 * (int64_t)s->rod[i].vertex[0] + r] -
                                           c->world[3 * (int64_t)s->rod[i].vertex[1] + r]);
    }
    if (!eliminate(c->count, c->schur, c->change)) return BRIO_NOT_POSITIVE_DEFINITE;
    for (int i = 0; i < c->count; i++)
        brio__combine(s, 1, v, -c->change[i], c->column + i * length, v);
    return BRIO_OK;
}
