/* Masses, gradient and Hessian of the current state of a simulation, for programs with their own
 * mathematics. Coordinates are those of brio_state_q: three to a block, in its order.
 *
 *     P(q)  the potential: materials, weight, attachments, obstacles, hands, contact
 *     M     diag(m), with the mass of each coordinate
 *
 * Include it after or instead of brio.h. */
#ifndef BRIO_MATRICES_H
#define BRIO_MATRICES_H

#include "brio.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A sparse symmetric matrix, both triangles. Entries at the same place are summed. */
typedef struct BrioTriplets {
    int64_t size;  /* rows and columns */
    int64_t count; /* entries */
    int32_t *row, *column;
    double *value;
} BrioTriplets;

/* The number of coordinates. */
BRIO_API int64_t brio_sim_coordinates(const BrioSim *sim);
/* The mass of each coordinate, in kg. */
BRIO_API void brio_sim_masses(const BrioSim *sim, double *mass);
/* dP/dq in N; NOT_FINITE where P has no value. */
BRIO_API BrioStatus brio_sim_gradient(BrioSim *sim, double *gradient);
/* d2P/dq2 in N/m, exact, not projected. With `elements` it contains materials, attachments, hands
 * and obstacles with a formula only, without contact between surfaces. Freed by
 * brio_triplets_free. */
BRIO_API BrioStatus brio_sim_hessian(BrioSim *sim, int elements, BrioTriplets *hessian,
                                     BrioError *error);
BRIO_API void brio_triplets_free(BrioTriplets *triplets);

#ifdef __cplusplus
}
#endif

#endif
