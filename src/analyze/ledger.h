/* Energies and momenta at an instant. */
#ifndef BRIO_LEDGER_H
#define BRIO_LEDGER_H

#include "../solve/minimise.h"

/* Fills all but `iterations`. `world` is scratch for 3 * vertex_count numbers. */
void brio__ledger(BrioSolver *solver, const BrioState *state, double *world, BrioLedger *ledger);

#endif
