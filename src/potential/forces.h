/* What others ask of the forces with a potential beyond their part of P. */
#ifndef BRIO_POTENTIAL_FORCES_H
#define BRIO_POTENTIAL_FORCES_H

#include "potential.h"

/* Whether any changes with time. */
bool brio__forces_vary(const BrioSystem *system);
/* The energy of those that change with time, at a pose. */
double brio__forces_varying(BrioPotential *potential, const BrioPose *pose);

/* The first of which the energy at a pose is not a finite number; NULL: all are fine. */
const BrioForce *brio__forces_not_finite(BrioPotential *potential, const BrioPose *pose);

/* Energies at a pose by whose they are. */
void brio__forces_split(BrioPotential *potential, const BrioPose *pose, const BrioSplit *split);

/* Potentials E(V) of a volume have the Hessian E'' grad V grad V^T + E' d2V. The first part couples
 * all blocks of a body and is in no matrix: whoever solves adds it by Woodbury's formula (solve/
 * ranks.h). `ranks` counts these forces; `rank` returns E'' of one and its grad V by q. */
int brio__forces_ranks(const BrioSystem *system);
double brio__forces_rank(BrioPotential *potential, const BrioPose *pose, int rank, double *u);

/* The sum of the absolute energies of vertices, of the last evaluation: what its round-off is
 * measured by. */
double brio__forces_magnitude(const BrioPotential *potential);

#endif
