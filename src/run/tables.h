/* Rows of energy.csv and probes.csv: 17 significant digits, so that numbers read back as the same
 * bits; what does not exist is empty. */
#ifndef BRIO_TABLES_H
#define BRIO_TABLES_H

#include "../scene/scene.h"
#include "../writer.h"

BrioStatus brio__energy_head(BrioWriter *writer, const BrioSim *sim, BrioError *error);
BrioStatus brio__energy_row(BrioWriter *writer, const BrioSim *sim, const BrioLedger *ledger,
                            BrioError *error);

BrioStatus brio__probes_head(BrioWriter *writer, const BrioScene *scene, BrioError *error);
/* x: world positions */
BrioStatus brio__probes_row(BrioWriter *writer, const BrioScene *scene, const BrioSystem *system,
                            int64_t step, double time, const double *x, BrioError *error);

/* A body's positions and velocities as the scene key `state` reads them. */
void brio__state_csv(FILE *file, const BrioBody *body, const double *x, const double *v);

#endif
