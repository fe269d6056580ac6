/* run.json: what was run and what became of it. */
#ifndef BRIO_SUMMARY_H
#define BRIO_SUMMARY_H

#include "explosion.h"
#include "run.h"

typedef struct BrioRunSummary {
    const BrioScene *scene;
    const BrioSim *sim;
    BrioVerdict verdict;
    const char *reason; /* NULL: none */
    const BrioRunTotals *totals;
    int64_t steps, frames;
    double time;                    /* s, simulated */
    double peak;                    /* bytes of memory; 0: not known */
    const BrioExactWatch *exact;    /* NULL: nothing was checked exactly, */
    int64_t exact_from;             /* from that step on */
    const BrioExplosion *explosion; /* may be NULL */
    /* what else belongs into the document, before the scene; may be NULL */
    void (*more)(void *user, BrioJson *json);
    void *user;
} BrioRunSummary;

/* Replaces run.json in the folder. */
BrioStatus brio__summary_write(const BrioFolder *folder, const BrioRunSummary *summary,
                               BrioError *error);

#endif
