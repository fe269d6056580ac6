/* Whether bodies and obstacles start apart, as barriers require. */
#ifndef BRIO_APART_H
#define BRIO_APART_H

#include "sim.h"

/* Moves bodies that intersect apart, if contact.start asks for it, and keeps the report. Fails,
 * with the names of those that it could not part. */
BrioStatus brio__sim_untangle(BrioSim *sim, BrioError *error);

/* Fails, with both names, if surfaces at the world positions x intersect, or if two of them are so
 * near that rounding decides whether they touch. Passes where nothing forbids contact. */
BrioStatus brio__sim_check_apart(BrioSim *sim, const double *x, BrioError *error);

/* contact.start: relax, or what untangling leaves. At the start, dhat becomes the smallest distance
 * that there is, so that no barrier acts, or a hundredth of dhat if that is more. It then grows, by
 * a constant factor per time:
 *
 *     dhat(t + h) = dhat(t) min(1.5, (dhat/dhat(t))^(h/(relax_time - t))),
 *
 * from the second step on. The rule knows the state only, so that runs resume. What the growth adds
 * to the energy is booked as work from outside, P(q', dhat') - P(q', dhat) at the end q' of the
 * step: there bodies have yielded, as they would if barriers grew slowly. */
void brio__sim_relax_begin(BrioSim *sim);
/* Before a step of size h, and after it, with what the first has returned; a step that failed
 * leaves dhat as it was. */
double brio__sim_relax_step(BrioSim *sim, double h);
void brio__sim_relax_stepped(BrioSim *sim, double before, bool done);
/* At once; returns dhat as it was. */
double brio__sim_relax_end(BrioSim *sim);
/* dhat of the state as a fraction of what it grows to. */
double brio__sim_relaxed(const BrioSim *sim);

/* Two bodies, or a body and an obstacle (counted on after the bodies), or a body and itself, that
 * begin nearer than dhat. */
typedef struct BrioStartPair {
    int owner[2];
    int64_t contacts; /* pairs of their surfaces */
    double gap;       /* m: the smallest distance, without thickness */
} BrioStartPair;

/* how many of them are told from each other, and how many a sentence names */
enum { BRIO_START_PAIRS = 512, BRIO_START_SHOWN = 3 };

/* What the barriers hold in a state. */
typedef struct BrioStart {
    int pairs;
    BrioStartPair pair[BRIO_START_PAIRS]; /* the nearest first */
    bool more;                            /* than there is room for */
    int64_t contacts;
    double dhat, energy; /* m; J, of all barriers */
    double lift;         /* J: what lifts `lifted`, the lightest of the bodies, by its size */
    int lifted;          /* -1: none */
} BrioStart;

/* What ends the sentence where something has to be done. */
#define BRIO_START_REMEDY ", which throws them apart: use contact.start: relax, or move them apart"

/* Also where contact relaxes: what the barriers would hold at once. */
void brio__sim_start(BrioSim *sim, BrioStart *start);
/* Whether that becomes motion that is seen: two bodies that are nearer than half of dhat, or a
 * hundredth of what lifts a body by its size. */
bool brio__start_matters(const BrioStart *start);
/* A sentence with the nearest pairs and the energy. */
void brio__start_text(const BrioSystem *system, const BrioStart *start, char *text, size_t size);
const char *brio__owner_name(const BrioSystem *system, int owner);

/* Whether the state begins with barriers that become motion: the sentence with its remedy. */
bool brio__sim_pressed_text(BrioSim *sim, char *text, size_t size);

#endif
