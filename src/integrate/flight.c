#include "flight.h"

#include <string.h>

static int32_t root_of(int32_t *parent, int32_t b)
{
    while (parent[b] != b) b = parent[b] = parent[parent[b]];
    return b;
}

BrioStatus brio__flight_create(BrioSolver *solver, BrioFlight **flight)
{
    int32_t n = solver->system->block_count;
    int64_t *start = NULL;
    int32_t *neighbour = NULL;
    BrioFlight *f = brio__calloc(1, sizeof *f);
    if (!f) return BRIO_ERROR_MEMORY;
    f->blocks = n;
    BrioStatus status = brio__evaluator_graph(solver->evaluator, &start, &neighbour);
    if (status == BRIO_OK && solver->constraints) status = brio__constraints_join_graph(solver->constraints, n, &start, &neighbour);
    if (status == BRIO_OK && !(f->part = brio__alloc((size_t)n, sizeof *f->part))) status = BRIO_ERROR_MEMORY;
    if (status == BRIO_OK) {
        for (int32_t b = 0; b < n; b++) f->part[b] = b;
        for (int32_t b = 0; b < n; b++)
            for (int64_t k = start[b]; k < start[b + 1]; k++) {
                int32_t one = root_of(f->part, b), other = root_of(f->part, neighbour[k]);
                f->part[BRIO_MAX(one, other)] = BRIO_MIN(one, other);
            }
        for (int32_t b = 0; b < n; b++) f->part[b] = root_of(f->part, b); /* the least block of its part */
        for (int32_t b = 0; b < n; b++) f->part[b] = f->part[b] == b ? f->parts++ : f->part[f->part[b]];
        if (!(f->sum = brio__alloc(6 * (size_t)f->parts, sizeof *f->sum))) status = BRIO_ERROR_MEMORY;
    }
    brio__free(start);
    brio__free(neighbour);
    if (status == BRIO_OK)
        *flight = f;
    else
        brio__flight_free(f);
    return status;
}

void brio__flight_free(BrioFlight *f)
{
    if (!f) return;
    brio__free(f->part);
    brio__free(f->sum);
    brio__free(f);
}

void brio__flight_share(const BrioFlight *f, const double *forces, double *weight)
{
    memset(f->sum, 0, 6 * (size_t)f->parts * sizeof *f->sum);
    for (int32_t b = 0; b < f->blocks; b++)
        for (int r = 0; r < 3; r++) {
            f->sum[6 * f->part[b] + r] += forces[3 * b + r] - weight[3 * b + r];
            f->sum[6 * f->part[b] + 3 + r] += weight[3 * b + r];
        }
    for (int32_t p = 0; p < f->parts; p++) {
        double *R = f->sum + 6 * p, *W = R + 3, carried = hypot(hypot(R[0], R[1]), R[2]), heavy = hypot(hypot(W[0], W[1]), W[2]);
        *R = carried < heavy ? 1 - carried / heavy : 0;
    }
    for (int32_t b = 0; b < f->blocks; b++)
        for (int r = 0; r < 3; r++) weight[3 * b + r] *= f->sum[6 * f->part[b]];
}
