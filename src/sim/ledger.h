/* Energies and momenta at an instant. */
#ifndef BRIO_LEDGER_H
#define BRIO_LEDGER_H

#include "../integrate/by_body.h"
#include "sim.h"

/* Fills all but `iterations`, and the energies of the system's terms in sim->term_energy. */
void brio__ledger(BrioSim *sim, BrioLedger *ledger);

/* Books by body, where the integrator keeps them: of how many accounts (0: it does not), their
 * names, and all of them at the state. */
int brio__ledger_accounts(const BrioSim *sim);
const char *brio__ledger_account(const BrioSim *sim, int account);
void brio__ledger_books(const BrioSim *sim, BrioBodyBooks *books);

#endif
