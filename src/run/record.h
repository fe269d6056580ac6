/* A simulation that somebody else steps, recorded as a run: from now on, with times and steps
 * counted from here. The folder then holds what `brio run` writes (energy.csv, probes.csv,
 * motion.bin, run.json) and is read as such, with two differences: there is no checkpoint, since
 * what was done by hand cannot be computed again, and run.json lists what was changed. */
#ifndef BRIO_RECORD_H
#define BRIO_RECORD_H

#include "explosion.h"
#include "run.h"

typedef struct BrioRecord BrioRecord;

/* Into a folder that must not hold results. The scene, the simulation and its system must stay
 * until the end; the state may move. Writes the first row and frame. */
BrioStatus brio__record_begin(const BrioScene *scene, BrioSim *sim, const char *out,
                              BrioRecord **record, BrioError *error);
/* After every step, with the ledger of the state; a frame is written at every instant k/fps of the
 * scene. BRIO_ERROR_TOO_LARGE: the motion has reached its largest size, and nothing was written. */
BrioStatus brio__record_step(BrioRecord *record, const BrioLedger *ledger, BrioError *error);
/* Something was changed from outside, in words. Out of memory: it is not listed. */
void brio__record_note(BrioRecord *record, const char *text);
double brio__record_time(const BrioRecord *record); /* s, simulated */
/* Ends and frees it. `reason` and `explosion` may be NULL. */
BrioStatus brio__record_end(BrioRecord *record, BrioVerdict verdict, const char *reason,
                            const BrioExplosion *explosion, BrioError *error);

#endif
