/* Constraints: conditions, multipliers and the Schur complement over the factored matrix
 * (constraint.h). Which one-sided rows hold with equality is a linear complementarity problem of
 * the dense Schur complement, solved by block principal pivoting [Judice1994]. */
#include "constraint.h"

#include "../potential/blocks.h"

#include <string.h>

/* ---- making one ------------------------------------------------------------------------- */

static BrioStatus describe_rows(BrioConstraints *c)
{
    const BrioSystem *s = c->system;
    int64_t points = 0;
    bool *one_sided = brio__calloc((size_t)c->count, sizeof *one_sided);
    c->one_sided = one_sided;
    c->of = brio__calloc((size_t)c->count, sizeof *c->of);
    c->at = brio__calloc((size_t)c->count, sizeof *c->at);
    c->active = brio__calloc((size_t)c->count, sizeof *c->active);
    c->points_at = brio__calloc((size_t)s->constraint_count, sizeof *c->points_at);
    if (!one_sided || !c->of || !c->at || !c->active || !c->points_at) return BRIO_ERROR_MEMORY;
    for (int i = 0; i < s->constraint_count; i++) {
        const BrioConstraint *one = &s->constraint[i];
        c->points_at[i] = 3 * points;
        points += one->point_count;
        c->longest = fmax(c->longest, one->length);
        for (int k = 0; k < one->rows; k++) {
            c->of[one->first + k] = i;
            c->at[one->first + k] = c->gradients;
            c->gradients += 3 * (int64_t)one->point_count;
            one_sided[one->first + k] = one->one_sided[k];
            c->one_sided_count += one->one_sided[k];
        }
    }
    c->points = brio__calloc(3 * (size_t)points, sizeof *c->points);
    return c->points ? BRIO_OK : BRIO_ERROR_MEMORY;
}

BrioStatus brio__constraints_create(const BrioSystem *system, BrioConstraints **constraints)
{
    BrioConstraints *c = brio__calloc(1, sizeof *c);
    if (!c) return BRIO_ERROR_MEMORY;
    size_t count = (size_t)system->row_count, coordinates = 3 * (size_t)system->block_count;
    c->system = system;
    c->count = system->row_count;
    BrioStatus status = describe_rows(c);
    struct {
        double **array;
        size_t size;
    } arrays[] = {{&c->g, count},
                  {&c->multiplier, count},
                  {&c->change, count},
                  {&c->kept, count},
                  {&c->penalty, count},
                  {&c->inertia, count},
                  {&c->gradient, (size_t)c->gradients},
                  {&c->force_gradient, (size_t)c->gradients},
                  {&c->column, (count + 1) * coordinates},
                  {&c->schur, 2 * count * count},
                  {&c->room, 3 * count},
                  {&c->world, 3 * (size_t)system->vertex_count},
                  {&c->force, coordinates}};
    for (size_t i = 0; i < BRIO_COUNT(arrays); i++)
        if (!(*arrays[i].array = brio__calloc(arrays[i].size, sizeof(double))))
            status = BRIO_ERROR_MEMORY;
    if (status == BRIO_OK)
        *constraints = c;
    else
        brio__constraints_free(c);
    return status;
}

void brio__constraints_free(BrioConstraints *c)
{
    if (!c) return;
    double *arrays[] = {c->g,     c->multiplier, c->change, c->kept,     c->penalty,
                        c->room,  c->inertia,    c->points, c->gradient, c->force_gradient,
                        c->schur, c->column,     c->world,  c->force};
    for (size_t i = 0; i < BRIO_COUNT(arrays); i++) brio__free(arrays[i]);
    brio__free((bool *)c->one_sided);
    brio__free(c->of);
    brio__free(c->at);
    brio__free(c->active);
    brio__free(c->points_at);
    brio__free(c);
}

/* ---- conditions and forces -------------------------------------------------------------- */

double brio__constraints_update(BrioConstraints *c, const double *x)
{
    const BrioSystem *s = c->system;
    double worst = 0;
    for (int i = 0; i < s->constraint_count; i++) {
        const BrioConstraint *one = &s->constraint[i];
        double *y = c->points + c->points_at[i];
        brio__constraint_points(one, x, y);
        one->type->value(one, y, c->g + one->first, c->gradient + c->at[one->first]);
        for (int k = 0; k < one->rows; k++) {
            double g = c->g[one->first + k];
            double size = (one->one_sided[k] ? fmax(0, -g) : fabs(g)) / one->length;
            if (isnan(g)) size = NAN;
            if (!(size <= worst)) worst = size; /* lets a NaN through */
        }
    }
    return worst;
}

void brio__constraints_pull_from_here(BrioConstraints *c)
{
    memcpy(c->force_gradient, c->gradient, (size_t)c->gradients * sizeof(double));
}

/* Whether coordinate r of a block is not fixed by itself. */
static bool moves(const BrioSystem *s, int32_t block, int r)
{
    return !s->axes || !(s->axes[block] >> r & 1);
}

/* out += scale times row i of G, with the gradients `n` of all rows. */
static void add_row(const BrioConstraints *c, int i, const double *n, double scale, double *out)
{
    const BrioSystem *s = c->system;
    const BrioConstraint *one = &s->constraint[c->of[i]];
    n += c->at[i];
    for (int p = 0; p < one->point_count; p++, n += 3)
        for (int k = 0; k < one->point[p].count; k++) {
            int32_t v = one->point[p].vertex[k];
            for (int32_t m = s->map_start[v]; m < s->map_start[v + 1]; m++)
                for (int r = 0; r < 3; r++)
                    if (moves(s, s->map_block[m], r))
                        out[3 * (int64_t)s->map_block[m] + r] +=
                            scale * one->point[p].weight[k] * s->map_weight[m] * n[r];
        }
}

static double dot_row(const BrioConstraints *c, int i, const double *n, const double *p)
{
    const BrioSystem *s = c->system;
    const BrioConstraint *one = &s->constraint[c->of[i]];
    double sum = 0;
    n += c->at[i];
    for (int j = 0; j < one->point_count; j++, n += 3)
        for (int k = 0; k < one->point[j].count; k++) {
            int32_t v = one->point[j].vertex[k];
            for (int32_t m = s->map_start[v]; m < s->map_start[v + 1]; m++)
                for (int r = 0; r < 3; r++)
                    sum += one->point[j].weight[k] * s->map_weight[m] * n[r] *
                           p[3 * (int64_t)s->map_block[m] + r];
        }
    return sum;
}

void brio__constraints_weigh(BrioConstraints *c)
{
    size_t bytes = 3 * (size_t)c->system->block_count * sizeof(double);
    for (int i = 0; i < c->count; i++) {
        memset(c->column, 0, bytes);
        add_row(c, i, c->gradient, 1, c->column);
        brio__mass_solve(c->system, c->column, c->column);
        double mobility = dot_row(c, i, c->gradient, c->column);
        c->inertia[i] = mobility > 0 ? 1 / mobility : 0;
        c->penalty[i] = 0;
    }
}

void brio__constraints_add_force(BrioConstraints *c, double *gradient)
{
    memset(c->force, 0, 3 * (size_t)c->system->block_count * sizeof(double));
    for (int i = 0; i < c->count; i++) add_row(c, i, c->force_gradient, c->multiplier[i], c->force);
    brio__combine(c->system, 1, gradient, 1, c->force, gradient);
}

/* What a row lacks: of a one-sided one that pushes all of g, of another only what is below 0. */
static double lack(const BrioConstraints *c, int i)
{
    return c->one_sided[i] && !(c->multiplier[i] < 0) ? fmin(c->g[i], 0) : c->g[i];
}

double brio__constraints_merit(const BrioConstraints *c)
{
    double sum = 0;
    for (int i = 0; i < c->count; i++) sum += c->inertia[i] * lack(c, i) * lack(c, i);
    return sum;
}

void brio__constraints_raise_penalty(BrioConstraints *c)
{
    for (int i = 0; i < c->count; i++)
        c->penalty[i] = fmax(c->penalty[i], 2 * fabs(c->multiplier[i] + c->change[i]));
}

double brio__constraints_penalty(const BrioConstraints *c)
{
    double sum = 0;
    for (int i = 0; i < c->count; i++)
        sum += c->penalty[i] * (c->one_sided[i] ? fmax(0, -c->g[i]) : fabs(c->g[i]));
    return sum;
}

/* ---- curvature -------------------------------------------------------------------------- */

/* Blocks that a list of points is made of, at most `max`; returns how many. */
static int blocks_of(const BrioSystem *s, const BrioPoint *point, int32_t *block)
{
    int count = 0;
    for (int k = 0; k < point->count; k++)
        for (int32_t m = s->map_start[point->vertex[k]]; m < s->map_start[point->vertex[k] + 1];
             m++)
            block[count++] = s->map_block[m];
    return count;
}

/* Pairs of blocks, both ways round. */
typedef struct Pairs {
    const BrioSystem *s;
    int64_t *count; /* of each block, or where its next neighbour goes */
    int32_t *neighbour;
} Pairs;

static void couple(const Pairs *pairs, const BrioPoint *a, const BrioPoint *b)
{
    int32_t one[16], other[16];
    int ones = blocks_of(pairs->s, a, one), others = blocks_of(pairs->s, b, other);
    for (int i = 0; i < ones; i++)
        for (int j = 0; j < others; j++) {
            if (one[i] == other[j]) continue;
            int64_t at = pairs->count[one[i]]++, back = pairs->count[other[j]]++;
            if (!pairs->neighbour) continue;
            pairs->neighbour[at] = other[j];
            pairs->neighbour[back] = one[i];
        }
}

/* Every pair of points of a constraint; of a surface the corners of its triangles. */
static void couple_all(const Pairs *pairs)
{
    for (int i = 0; i < pairs->s->constraint_count; i++) {
        const BrioConstraint *one = &pairs->s->constraint[i];
        for (int64_t t = 0; t < one->triangle_count; t++)
            for (int k = 0; k < 3; k++)
                couple(pairs, &one->point[one->triangle[3 * t + k]],
                       &one->point[one->triangle[3 * t + (k + 1) % 3]]);
        for (int p = 0; !one->triangle_count && p < one->point_count; p++)
            for (int q = 0; q <= p; q++) couple(pairs, &one->point[p], &one->point[q]);
    }
}

/* The neighbours that constraints give to each block, with repetitions. */
static BrioStatus own_graph(const BrioConstraints *c, int32_t n, int64_t **start,
                            int32_t **neighbour)
{
    Pairs pairs = {.s = c->system, .count = brio__calloc((size_t)n + 1, sizeof(int64_t))};
    *start = brio__calloc((size_t)n + 1, sizeof **start);
    if (!pairs.count || !*start) {
        brio__free(pairs.count);
        return BRIO_ERROR_MEMORY;
    }
    couple_all(&pairs);
    for (int32_t b = 0; b < n; b++) {
        (*start)[b + 1] = (*start)[b] + pairs.count[b];
        pairs.count[b] = (*start)[b];
    }
    *neighbour = pairs.neighbour = brio__alloc((size_t)(*start)[n] + 1, sizeof **neighbour);
    if (*neighbour) couple_all(&pairs);
    brio__free(pairs.count);
    return *neighbour ? BRIO_OK : BRIO_ERROR_MEMORY;
}

BrioStatus brio__constraints_join_graph(const BrioConstraints *c, int32_t n, int64_t **start,
                                        int32_t **neighbour)
{
    int64_t *own_start = NULL, *joint_start = brio__alloc((size_t)n + 1, sizeof *joint_start);
    int64_t at = 0;
    int32_t *own = NULL, *joint = NULL, *stamp = brio__alloc((size_t)n, sizeof *stamp);
    BrioStatus status =
        joint_start && stamp ? own_graph(c, n, &own_start, &own) : BRIO_ERROR_MEMORY;
    if (status == BRIO_OK &&
        !(joint = brio__alloc((size_t)((*start)[n] + own_start[n]), sizeof *joint)))
        status = BRIO_ERROR_MEMORY;
    for (int32_t b = 0; status == BRIO_OK && b < n; b++) stamp[b] = -1;
    for (int32_t b = 0; status == BRIO_OK && b < n; b++) {
        joint_start[b] = at;
        for (int64_t k = (*start)[b]; k < (*start)[b + 1]; k++)
            stamp[joint[at++] = (*neighbour)[k]] = b;
        for (int64_t k = own_start[b]; k < own_start[b + 1]; k++)
            if (stamp[own[k]] != b) stamp[joint[at++] = own[k]] = b;
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

typedef struct Target {
    const BrioSystem *s;
    const BrioConstraint *constraint;
    BrioMatrix *A;
} Target;

/* A block of two points as blocks of their vertices. */
static void add_block(const BrioBlocks *to, int i, int j, double scale, const double B[9])
{
    const Target *t = to->user;
    const BrioPoint *a = &t->constraint->point[i], *b = &t->constraint->point[j];
    double both[9];
    for (int k = 0; k < 9; k++) both[k] = B[k] + B[3 * (k % 3) + k / 3];
    for (int k = 0; k < a->count; k++)
        for (int l = i == j ? k : 0; l < b->count; l++) {
            /* a vertex that both have: the block and its transposed one meet on the diagonal */
            bool meet = i != j && a->vertex[k] == b->vertex[l];
            brio__pair_add(t->s, t->A, a->vertex[k], b->vertex[l],
                           scale * a->weight[k] * b->weight[l], meet ? both : B);
        }
}

void brio__constraints_assemble(BrioConstraints *c, bool project, BrioLinear *linear)
{
    const BrioSystem *s = c->system;
    for (int i = 0; i < s->constraint_count; i++) {
        const BrioConstraint *one = &s->constraint[i];
        Target target = {s, one, &linear->A};
        BrioBlocks to = {add_block, &target};
        if (one->type->curvature)
            one->type->curvature(one, c->points + c->points_at[i], c->multiplier + one->first,
                                 project, &to);
    }
}

/* ---- the saddle point ------------------------------------------------------------------- */

/* Solves S x = b in place by elimination with partial pivoting; false if S is singular. S is about
 * symmetric: a pivot is compared with what its own column had, since conditions on light bodies
 * have larger numbers than those on heavy ones. size: room for n. */
static bool eliminate(int n, double *S, double *b, double *size)
{
    for (int k = 0; k < n; k++) {
        size[k] = 0;
        for (int i = 0; i < n; i++) size[k] = fmax(size[k], fabs(S[i * n + k]));
    }
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(S[i * n + k]) > fabs(S[pivot * n + k])) pivot = i;
        if (!(fabs(S[pivot * n + k]) > 1e-12 * size[k])) return false;
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

/* change with S change = b in the active rows and -base in the others, where b is in the first half
 * of the room. */
static bool solve_active(BrioConstraints *c, const double *base)
{
    int n = c->count, count = 0;
    double *S = c->schur + (int64_t)n * n, *right = c->room + n;
    for (int i = 0; i < n; i++) count += c->active[i];
    for (int i = 0; i < n; i++)
        if (!c->active[i]) c->change[i] = base ? -base[i] : 0;
    for (int i = 0, row = 0; i < n; i++) {
        if (!c->active[i]) continue;
        right[row] = c->room[i];
        for (int j = 0, column = 0; j < n; j++) {
            if (c->active[j])
                S[row * count + column++] = c->schur[i * n + j];
            else
                right[row] -= c->schur[i * n + j] * c->change[j];
        }
        row++;
    }
    if (!eliminate(count, S, right, right + n)) return false;
    for (int i = 0, row = 0; i < n; i++)
        if (c->active[i]) c->change[i] = right[row++];
    return true;
}

/* Whether a one-sided row is on the wrong side: it pulls, or it would be violated. */
static bool wrong(const BrioConstraints *c, int i, const double *base, double largest)
{
    if (!c->one_sided[i]) return false;
    if (c->active[i]) return (base ? base[i] : 0) + c->change[i] > 1e-13 * largest;
    double w = c->room[i];
    for (int j = 0; j < c->count && w < INFINITY; j++)
        w -= c->schur[i * c->count + j] * c->change[j];
    return w < -1e-15 * c->longest;
}

/* change of the multipliers `base` (NULL: 0): S change = b for equations; for one-sided rows
 * b - S change >= 0 and base + change <= 0, one of them 0. Rows change sides all together as long
 * as ever fewer are wrong, then one at a time, which ends [Judice1994]. */
static bool complement(BrioConstraints *c, const double *base)
{
    int best = c->count + 1, patience = 3;
    for (int i = 0; i < c->count; i++)
        c->active[i] = !c->one_sided[i] || (base && base[i] < 0) || c->room[i] < 0;
    for (int round = 0; round < 50 + 20 * c->one_sided_count; round++) {
        if (!solve_active(c, base)) return false;
        int count = 0, last = -1;
        double largest = 0;
        for (int i = 0; i < c->count; i++)
            largest = fmax(largest, fabs((base ? base[i] : 0) + c->change[i]));
        for (int i = 0; i < c->count; i++)
            if (wrong(c, i, base, largest)) count++, last = i;
        if (count == 0) return true;
        bool all = count < best || patience-- > 0;
        if (count < best) best = count, patience = 3;
        /* whether a row is wrong depends on its own side and on no other one's */
        for (int i = last; i >= 0; i--)
            if (i == last || (all && wrong(c, i, base, largest))) c->active[i] = !c->active[i];
    }
    return false;
}

/* Columns of F^T, after which there is room for one more. */
static void fill_columns(BrioConstraints *c, const double *gradient)
{
    int64_t length = 3 * (int64_t)c->system->block_count;
    memset(c->column, 0, (size_t)(c->count * length) * sizeof(double));
    for (int i = 0; i < c->count; i++) add_row(c, i, gradient, 1, c->column + i * length);
}

static void fill_schur(BrioConstraints *c)
{
    int64_t length = 3 * (int64_t)c->system->block_count;
    for (int i = 0; i < c->count; i++)
        for (int j = 0; j < c->count; j++)
            c->schur[i * c->count + j] = dot_row(c, i, c->gradient, c->column + j * length);
}

void brio__constraints_begin(BrioConstraints *c, const BrioState *state, double scale)
{
    brio__system_positions(c->system, state, state->q, state->time, c->world);
    brio__constraints_update(c, c->world);
    brio__constraints_pull_from_here(c);
    brio__constraints_weigh(c);
    memset(c->multiplier, 0, (size_t)c->count * sizeof(double));
    c->scale = scale;
}

BrioStatus brio__constraints_solve(BrioConstraints *c, BrioConstraintInverse *inverse, void *user,
                                   const double *residual, double *step)
{
    int64_t length = 3 * (int64_t)c->system->block_count;
    double *free_step = c->column + c->count * length;
    fill_columns(c, c->force_gradient);
    brio__combine(c->system, -1, residual, 0, residual, free_step);
    BRIO_CHECK(inverse(user, c->count + 1, c->column));
    fill_schur(c);
    for (int i = 0; i < c->count; i++) c->room[i] = c->g[i] + dot_row(c, i, c->gradient, free_step);
    if (!complement(c, c->multiplier)) return BRIO_NOT_POSITIVE_DEFINITE;
    memcpy(step, free_step, (size_t)length * sizeof *step);
    for (int i = 0; i < c->count; i++)
        brio__combine(c->system, 1, step, -c->change[i], c->column + i * length, step);
    return BRIO_OK;
}

/* dg/dt of row i, given the velocities of world vertices. */
static double rate(const BrioConstraints *c, int i, const double *w)
{
    const BrioConstraint *one = &c->system->constraint[c->of[i]];
    const double *n = c->gradient + c->at[i];
    double sum = 0;
    for (int p = 0; p < one->point_count; p++, n += 3)
        for (int r = 0; r < 3; r++) {
            double v = 0;
            for (int k = 0; k < one->point[p].count; k++)
                v += one->point[p].weight[k] * w[3 * (int64_t)one->point[p].vertex[k] + r];
            sum += n[r] * v;
        }
    return sum;
}

BrioStatus brio__constraints_fit(BrioConstraints *c, const BrioState *state, const double *q,
                                 double time, double *v)
{
    static const double touches = 1e-9; /* of the length */
    const BrioSystem *s = c->system;
    int64_t length = 3 * (int64_t)s->block_count;
    brio__system_positions(s, state, q, time, c->world);
    brio__constraints_update(c, c->world);
    fill_columns(c, c->gradient);
    for (int i = 0; i < c->count; i++)
        brio__mass_solve(s, c->column + i * length, c->column + i * length);
    fill_schur(c);
    brio__system_velocities(s, state, v, time, c->world);
    for (int i = 0; i < c->count; i++) {
        bool away = c->one_sided[i] && c->g[i] > touches * s->constraint[c->of[i]].length;
        c->room[i] = away ? INFINITY : rate(c, i, c->world);
    }
    if (!complement(c, NULL)) return BRIO_NOT_POSITIVE_DEFINITE;
    for (int i = 0; i < c->count; i++)
        if (c->change[i] != 0) brio__combine(s, 1, v, -c->change[i], c->column + i * length, v);
    return BRIO_OK;
}

void brio__constraints_reaction(const BrioConstraints *c, int constraint, double force[3],
                                double torque[3])
{
    const BrioConstraint *one = &c->system->constraint[constraint];
    const double *y = c->points + c->points_at[constraint];
    for (int r = 0; r < 3; r++) force[r] = torque[r] = 0;
    if (!(c->scale > 0)) return;
    for (int k = 0; k < one->rows; k++) {
        const double *n = c->force_gradient + c->at[one->first + k];
        double scale = -c->multiplier[one->first + k] / c->scale;
        for (int p = 0; p < one->type->role_count && p < one->point_count; p++) {
            if (one->type->roles[p].side != BRIO_SIDE_A) continue;
            for (int r = 0; r < 3; r++) {
                int i = (r + 1) % 3, j = (r + 2) % 3;
                force[r] += scale * n[3 * p + r];
                torque[r] += scale * ((y[3 * p + i] - y[i]) * n[3 * p + j] -
                                      (y[3 * p + j] - y[j]) * n[3 * p + i]);
            }
        }
    }
}
