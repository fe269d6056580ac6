/* Masses, gradient and Hessian of a simulation for other programs (brio/matrices.h). The blocks of
 * the engine's matrix, which keeps its lower triangle in elimination order, and those of contact
 * next to it become entries of both triangles in the order of coordinates. */
#include "brio/matrices.h"

#include "../handle.h"
#include "../linear/overlay.h"
#include "../sim/sim.h"
#include "modes.h"

#include <string.h>

int64_t brio_sim_coordinates(const BrioSim *sim)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SIM, sim), 0);
    return sim->state->coordinates;
}

void brio_sim_masses(const BrioSim *sim, double *mass)
{
    BRIO_NEEDS_OR_NOTHING(BRIO_LIVES(SIM, sim) && mass);
    for (int64_t k = 0; k < sim->state->coordinates; k++) mass[k] = sim->system->mass[k / 3];
}

BrioStatus brio_sim_gradient(BrioSim *sim, double *gradient)
{
    BRIO_NEEDS_OR(BRIO_LIVES(SIM, sim) && gradient, BRIO_ERROR_ARGUMENT);
    const BrioState *state = sim->state;
    brio__system_positions(sim->system, state, state->q, state->time, sim->world);
    BrioSum sum = brio__potential_evaluate(
        sim->stepper->potential, &(BrioPose){state, sim->world, state->time}, gradient, NULL);
    return isfinite(sum.energy) ? BRIO_OK : BRIO_NOT_FINITE;
}

void brio_triplets_free(BrioTriplets *t)
{
    BRIO_NEEDS_OR_NOTHING(t);
    brio__free(t->row);
    brio__free(t->column);
    brio__free(t->value);
    *t = (BrioTriplets){0};
}

static void add(BrioTriplets *t, int32_t row, int32_t column, double value)
{
    t->row[t->count] = row;
    t->column[t->count] = column;
    t->value[t->count++] = value;
}

/* Entry (r, c) of block (a, b) is at value[stride[0] r + stride[1] c]; (b, a) is its transpose. */
static void add_block(BrioTriplets *t, int32_t a, int32_t b, const double *value,
                      const int64_t stride[2])
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            double entry = value[stride[0] * r + stride[1] * c];
            add(t, 3 * a + r, 3 * b + c, entry);
            if (a != b) add(t, 3 * b + c, 3 * a + r, entry);
        }
}

static BrioStatus collect(const BrioLinear *linear, bool elements, BrioTriplets *t)
{
    const BrioMatrix *A = &linear->A;
    int64_t others = !elements && linear->overlay ? brio__overlay_count(linear->overlay) : 0;
    size_t room = 18 * (size_t)(A->start[A->n] + others) + 1;
    int32_t *block = brio__alloc((size_t)A->n + 1, sizeof *block); /* at each position */
    t->size = 3 * (int64_t)A->n;
    t->row = brio__alloc(room, sizeof *t->row);
    t->column = brio__alloc(room, sizeof *t->column);
    t->value = brio__alloc(room, sizeof *t->value);
    BrioStatus status = block && t->row && t->column && t->value ? BRIO_OK : BRIO_ERROR_MEMORY;
    for (int32_t b = 0; status == BRIO_OK && b < A->n; b++) block[A->position[b]] = b;
    for (int32_t J = 0; status == BRIO_OK && J < A->n; J++)
        for (int64_t k = A->start[J]; k < A->start[J + 1]; k++)
            add_block(t, block[A->row[k]], block[J], A->value + brio__matrix_slot(A, J, k),
                      (const int64_t[2]){1, brio__matrix_stride(A, J)});
    for (int64_t i = 0; status == BRIO_OK && i < others; i++) {
        int32_t a, b;
        const double *H = brio__overlay_at(linear->overlay, i, &a, &b);
        add_block(t, a, b, H, (const int64_t[2]){3, 1});
    }
    brio__free(block);
    return status;
}

BrioStatus brio_sim_hessian(BrioSim *sim, int elements, BrioTriplets *hessian, BrioError *error)
{
    BRIO_NEEDS(BRIO_LIVES(SIM, sim) && hessian, error);
    BrioStiffness *stiffness = NULL;
    const BrioState *state = sim->state;
    BrioTriplets found = {0};
    if (sim->system->partition)
        return brio__error(error, BRIO_ERROR_UNSUPPORTED,
                           "a Hessian is on one process only in this version of brio");
    brio__system_positions(sim->system, state, state->q, state->time, sim->world);
    BrioStatus status = brio__stiffness_create(sim->system, &stiffness);
    if (status == BRIO_OK) status = brio__stiffness_at(stiffness, state, sim->world);
    if (status == BRIO_OK) status = collect(brio__stiffness_matrix(stiffness), elements, &found);
    brio__stiffness_free(stiffness);
    if (status == BRIO_OK) {
        *hessian = found;
        return BRIO_OK;
    }
    brio_triplets_free(&found);
    return brio__error(error, status, "the Hessian could not be made: %s",
                       brio_status_text(status));
}
