/* Energies and momenta at an instant. */
#ifndef BRIO_LEDGER_H
#define BRIO_LEDGER_H

#include "sim.h"

/* Fills all but `iterations`, and the energies of the system's terms in sim->term_energy. */
void brio__ledger(BrioSim *sim, BrioLedger *ledger);

#endif
