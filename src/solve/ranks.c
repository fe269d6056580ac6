/* Woodbury's formula for potentials of volumes (ranks.h). */
#include "ranks.h"

#include "../potential/forces.h"

void brio__ranks_free(BrioRanks *r)
{
    if (!r) return;
    brio__free(r->u);
    brio__free(r->z);
    brio__free(r->root);
    brio__free(r->lower);
    brio__free(r->scaled);
    brio__free(r);
}

BrioStatus brio__ranks_create(const BrioSystem *system, BrioRanks **ranks)
{
    size_t count = (size_t)brio__forces_ranks(system), n = 3 * (size_t)system->block_count;
    if (!count) return BRIO_OK;
    BrioRanks *r = brio__calloc(1, sizeof *r);
    if (!r) return BRIO_ERROR_MEMORY;
    r->count = (int)count;
    bool all = (r->u = brio__calloc(count * n, sizeof(double))) &&
               (r->z = brio__calloc(count * n, sizeof(double))) &&
               (r->root = brio__calloc(count, sizeof(double))) &&
               (r->lower = brio__calloc(count * count, sizeof(double))) &&
               (r->scaled = brio__calloc(count, sizeof(double)));
    if (all) return *ranks = r, BRIO_OK;
    brio__ranks_free(r);
    return BRIO_ERROR_MEMORY;
}

/* I + D U^T Z D = L L^T by Cholesky's method; pivots of the exact matrix are 1 at least. */
static void factor_small(BrioRanks *r, const BrioSystem *system)
{
    int64_t n = 3 * (int64_t)system->block_count;
    for (int i = 0; i < r->count; i++)
        for (int j = 0; j <= i; j++) {
            double *at = r->lower + (int64_t)i * r->count;
            const double *other = r->lower + (int64_t)j * r->count;
            double product = r->root[i] * r->root[j], sum = i == j ? 1 : 0;
            if (product > 0) sum += product * brio__dot(system, r->u + i * n, r->z + j * n);
            for (int k = 0; k < j; k++) sum -= at[k] * other[k];
            at[j] = i == j ? sqrt(fmax(sum, 1)) : sum / other[j];
        }
}

BrioStatus brio__ranks_update(BrioRanks *r, const BrioProblem *p, const double *q)
{
    BrioSolver *s = p->solver;
    const BrioObjective *o = p->objective;
    int64_t n = 3 * (int64_t)s->system->block_count;
    brio__problem_positions(p, q, s->x);
    BrioPose pose = brio__problem_pose(p);
    for (int k = 0; k < r->count; k++) {
        double second = brio__forces_rank(p->potential, &pose, k, r->u + k * n);
        /* one that is not convex is left out: the matrix must stay positive definite */
        r->root[k] = sqrt(fmax(o->s * o->a * o->a * second, 0));
        if (r->root[k] > 0)
            BRIO_CHECK(brio__linear_solve(s->linear, 1, r->u + k * n, r->z + k * n));
    }
    factor_small(r, s->system);
    return BRIO_OK;
}

void brio__ranks_correct(const BrioRanks *r, const BrioSystem *system, double *y)
{
    int64_t n = 3 * (int64_t)system->block_count;
    double *c = r->scaled;
    for (int i = 0; i < r->count; i++) {
        const double *row = r->lower + (int64_t)i * r->count;
        c[i] = r->root[i] > 0 ? r->root[i] * brio__dot(system, r->u + i * n, y) : 0;
        for (int k = 0; k < i; k++) c[i] -= row[k] * c[k];
        c[i] /= row[i];
    }
    for (int i = r->count - 1; i >= 0; i--) {
        for (int k = i + 1; k < r->count; k++) c[i] -= r->lower[(int64_t)k * r->count + i] * c[k];
        c[i] /= r->lower[(int64_t)i * r->count + i];
    }
    for (int k = 0; k < r->count; k++)
        if (r->root[k] > 0) brio__combine(system, 1, y, -r->root[k] * c[k], r->z + k * n, y);
}
