/* Connected components of the system: which fly, which nothing holds, which push each other
 * (components.h).
 */
#include "components.h"

#include "../sets.h"

#include <string.h>

/* Joins all that a constraint holds together or, where that has been done (`fixed`), marks what it
 * ties to something that does not move. */
static void join_constraint(const BrioSystem *system, const BrioConstraint *constraint,
                            int32_t *component, bool *fixed)
{
    int32_t first = -1;
    bool ties = false;
    for (int i = 0; i < constraint->point_count; i++) {
        const BrioPoint *point = &constraint->point[i];
        ties |= point->count == 0;
        for (int k = 0; k < point->count; k++) {
            int32_t m = system->map_start[point->vertex[k]];
            int32_t end = system->map_start[point->vertex[k] + 1];
            ties |= m == end;
            for (; m < end; m++) {
                if (first < 0) first = system->map_block[m];
                if (fixed) continue;
                int32_t one = brio__set_root(component, first);
                int32_t other = brio__set_root(component, system->map_block[m]);
                component[BRIO_MAX(one, other)] = BRIO_MIN(one, other);
            }
        }
    }
    if (fixed && ties && first >= 0) fixed[component[first]] = true;
}

/* Joins blocks that an element has both of; marks the components that elements tie to vertices
 * without coordinates. */
BrioStatus brio__components_find(const BrioSystem *system, int32_t *component, int32_t *count,
                                 bool **fixed)
{
    int32_t n = system->block_count;
    for (int32_t b = 0; b < n; b++) component[b] = b;
    for (int pass = 0; pass < 2; pass++) {
        for (int t = 0; t < system->term_count; t++) {
            const BrioTerm *term = &system->term[t];
            int nodes = term->energy->nodes;
            for (int64_t i = 0; nodes > 1 && i < term->elements; i++) {
                bool ties = false;
                int32_t first = -1;
                for (int k = 0; k < nodes; k++) {
                    int32_t vertex = brio__term_vertex(term, i, k);
                    if (system->map_start[vertex] == system->map_start[vertex + 1]) ties = true;
                    for (int32_t m = system->map_start[vertex]; m < system->map_start[vertex + 1];
                         m++) {
                        if (first < 0) first = system->map_block[m];
                        if (pass) continue;
                        int32_t one = brio__set_root(component, first);
                        int32_t other = brio__set_root(component, system->map_block[m]);
                        component[BRIO_MAX(one, other)] = BRIO_MIN(one, other);
                    }
                }
                if (pass && ties && first >= 0) (*fixed)[component[first]] = true;
            }
        }
        for (int k = 0; k < system->constraint_count; k++)
            join_constraint(system, &system->constraint[k], component, pass ? *fixed : NULL);
        if (pass) break;
        *count = 0;
        /* what a block was joined to is a smaller one, and has its number by then */
        for (int32_t b = 0; b < n; b++)
            component[b] = component[b] == b ? (*count)++ : component[component[b]];
        *fixed = brio__calloc((size_t)*count, sizeof **fixed);
        if (!*fixed) return BRIO_ERROR_MEMORY;
        for (int32_t b = 0; system->axes && b < n; b++)
            if (system->axes[b]) (*fixed)[component[b]] = true;
    }
    return BRIO_OK;
}

BrioStatus brio__components_create(const BrioSystem *system, BrioComponents **components)
{
    int32_t n = system->block_count;
    BrioComponents *f = brio__calloc(1, sizeof *f);
    if (!f) return BRIO_ERROR_MEMORY;
    f->system = system;
    f->component = brio__alloc((size_t)n, sizeof *f->component);
    BrioStatus status = f->component ? BRIO_OK : BRIO_ERROR_MEMORY;
    const BrioPartition *partition = system->partition;
    if (status == BRIO_OK && partition) {
        f->count = partition->component_count;
        memcpy(f->component, partition->component, (size_t)n * sizeof *f->component);
        f->fixed = brio__alloc((size_t)f->count, sizeof *f->fixed);
        if (f->fixed)
            memcpy(f->fixed, partition->component_fixed, (size_t)f->count * sizeof *f->fixed);
    } else if (status == BRIO_OK) {
        status = brio__components_find(system, f->component, &f->count, &f->fixed);
    }
    f->sum = brio__alloc(9 * (size_t)f->count + 1, sizeof *f->sum);
    f->group = brio__alloc((size_t)f->count, sizeof *f->group);
    f->stays = brio__alloc((size_t)f->count, sizeof *f->stays);
    if (status == BRIO_OK && !(f->sum && f->fixed && f->group && f->stays))
        status = BRIO_ERROR_MEMORY;
    if (status == BRIO_OK) brio__components_separate(f);
    if (status == BRIO_OK)
        *components = f;
    else
        brio__components_free(f);
    return status;
}

void brio__components_free(BrioComponents *f)
{
    if (!f) return;
    brio__free(f->component);
    brio__free(f->fixed);
    brio__free(f->group);
    brio__free(f->stays);
    brio__free(f->sum);
    brio__free(f);
}

enum { GRAIN = 2048 };

typedef struct ComponentsWork {
    const BrioComponents *components;
    double factor, *vector;
} ComponentsWork;

static void fall_chunk(void *context, int64_t begin, int64_t end)
{
    const ComponentsWork *work = context;
    const BrioComponents *f = work->components;
    for (int64_t b = begin; b < end; b++) {
        double impulse = work->factor * f->sum[6 * f->component[b]] / f->system->mass[b];
        for (int r = 0; r < 3; r++) work->vector[3 * b + r] *= impulse;
    }
}

static void scale_chunk(void *context, int64_t begin, int64_t end)
{
    const ComponentsWork *work = context;
    for (int64_t b = begin; b < end; b++) {
        const double *mean = work->components->sum + 6 * work->components->component[b];
        double *v = work->vector + 3 * b;
        for (int r = 0; r < 3; r++) v[r] = mean[r] + work->factor * (v[r] - mean[r]);
    }
}

void brio__components_unsupported(const BrioComponents *f, const double *forces, double time,
                                  double *weight)
{
    memset(f->sum, 0, 6 * (size_t)f->count * sizeof *f->sum);
    for (int32_t b = 0; b < brio__owned(f->system); b++)
        for (int r = 0; r < 3; r++) {
            f->sum[6 * f->component[b] + r] += forces[3 * b + r] - weight[3 * b + r];
            f->sum[6 * f->component[b] + 3 + r] += weight[3 * b + r];
        }
    brio__partition_sum(f->system->partition, f->sum, 6 * (int64_t)f->count);
    for (int32_t p = 0; p < f->count; p++) {
        double *R = f->sum + 6 * p;
        double *W = R + 3;
        double carried = hypot(hypot(R[0], R[1]), R[2]);
        double heavy = hypot(hypot(W[0], W[1]), W[2]);
        *R = carried < heavy ? 1 - carried / heavy : 0;
    }
    brio__parallel_for(f->system->block_count, GRAIN, fall_chunk,
                       &(ComponentsWork){f, time, weight});
}

void brio__components_scale(const BrioComponents *f, double missing, double gain, double *v)
{
    const BrioSystem *system = f->system;
    double moving = 0; /* kinetic energy that is scaled */
    memset(f->sum, 0, 6 * (size_t)f->count * sizeof *f->sum);
    for (int32_t b = 0; b < brio__owned(system); b++) {
        double *sum = f->sum + 6 * f->component[b];
        for (int r = 0; r < 3; r++) {
            sum[r] += system->mass[b] * v[3 * b + r];
            moving += system->mass[b] / 2 * v[3 * b + r] * v[3 * b + r];
        }
        sum[3] += system->mass[b];
    }
    f->sum[6 * (int64_t)f->count] = moving; /* there is room behind the sums */
    brio__partition_sum(system->partition, f->sum, 6 * (int64_t)f->count + 1);
    moving = f->sum[6 * (int64_t)f->count];
    for (int32_t p = 0; p < f->count; p++) {
        double *sum = f->sum + 6 * p;
        for (int r = 0; r < 3; r++) {
            sum[r] = f->fixed[p] || !(sum[3] > 0) ? 0 : sum[r] / sum[3]; /* the mean velocity */
            moving -= sum[3] / 2 * sum[r] * sum[r];
        }
    }
    if (!(moving > 0)) return;
    double factor = fmin(fmax(sqrt(fmax(1 + missing / moving, 0)), 1 / gain), gain);
    brio__parallel_for(system->block_count, GRAIN, scale_chunk, &(ComponentsWork){f, factor, v});
}

void brio__components_separate(BrioComponents *f)
{
    for (int32_t k = 0; k < f->count; k++) f->group[k] = k;
    memcpy(f->stays, f->fixed, (size_t)f->count * sizeof *f->stays);
}

void brio__components_join(BrioComponents *f, int32_t a, int32_t b)
{
    int32_t one = a < 0 ? -1 : brio__set_root(f->group, f->component[a]);
    int32_t other = b < 0 ? -1 : brio__set_root(f->group, f->component[b]);
    int32_t root = BRIO_MIN(one, other);
    if (root < 0) {
        if (BRIO_MAX(one, other) >= 0) f->stays[BRIO_MAX(one, other)] = true;
        return;
    }
    f->group[BRIO_MAX(one, other)] = root;
    f->stays[root] = f->stays[one] || f->stays[other];
}

/* x <- A^-1 x of a symmetric positive definite A = (xx, xy, xz, yy, yz, zz), by its cofactors. */
static void solve_symmetric(const double A[6], double x[3])
{
    double c[6] = {A[3] * A[5] - A[4] * A[4], A[2] * A[4] - A[1] * A[5], A[1] * A[4] - A[2] * A[3],
                   A[0] * A[5] - A[2] * A[2], A[1] * A[2] - A[0] * A[4], A[0] * A[3] - A[1] * A[1]};
    double y[3] = {x[0], x[1], x[2]}, determinant = A[0] * c[0] + A[1] * c[1] + A[2] * c[2];
    x[0] = (c[0] * y[0] + c[1] * y[1] + c[2] * y[2]) / determinant;
    x[1] = (c[1] * y[0] + c[3] * y[1] + c[4] * y[2]) / determinant;
    x[2] = (c[2] * y[0] + c[4] * y[1] + c[5] * y[2]) / determinant;
}

void brio__components_balance(const BrioComponents *f, const double *mass, const double *bound,
                              double scale, const double *gradient, double *step)
{
    static const int at[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    bool loose = false;
    for (int32_t k = 0; k < f->count; k++) {
        f->group[k] = brio__set_root(f->group, k);
        loose |= !f->stays[f->group[k]];
    }
    if (!loose) return;
    memset(f->sum, 0, 9 * (size_t)f->count * sizeof *f->sum);
    for (int32_t b = 0; b < f->system->block_count; b++) {
        double *sum = f->sum + 9 * (int64_t)f->group[f->component[b]], *matrix = sum + 3;
        for (int r = 0; r < 3; r++) sum[r] += gradient[3 * b + r] - mass[b] * step[3 * b + r];
        for (int r = 0; r < 3; r++) matrix[at[r][r]] += mass[b];
        const double *contact = bound ? bound + BRIO_BOUND * (int64_t)b : NULL;
        if (!contact || contact[0] == 0) continue;
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) sum[r] -= scale * contact[1 + at[r][c]] * step[3 * b + c];
        for (int k = 0; k < 6; k++) matrix[k] += scale * contact[1 + k];
    }
    for (int32_t k = 0; k < f->count; k++)
        if (f->group[k] == k && !f->stays[k])
            solve_symmetric(f->sum + 9 * (int64_t)k + 3, f->sum + 9 * (int64_t)k);
    for (int32_t b = 0; b < f->system->block_count; b++) {
        int32_t group = f->group[f->component[b]];
        for (int r = 0; r < 3 && !f->stays[group]; r++)
            step[3 * b + r] += f->sum[9 * (int64_t)group + r];
    }
}
