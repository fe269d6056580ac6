/* Shared parts of the files of `brio compare`, other than the comparison itself. */
#ifndef BRIO_COMPARE_PARTS_H
#define BRIO_COMPARE_PARTS_H

#include "compare.h"
#include "report.h"

/* A step size as it is given: "1/30". */
BrioStatus comparison_read_size(const char *text, StepSize *size, BrioError *error);
/* Methods, step sizes and the reference, of lists that it cuts into pieces. */
BrioStatus comparison_read_lists(Comparison *c, char *methods, char *sizes, char *reference,
                                 BrioError *error);
/* The scene with a method and a step size. */
BrioStatus comparison_load(const Comparison *c, const char *method, const char *size,
                           BrioScene **scene, BrioError *error);
/* Runs a trial; how it went is in it. A reference that the folder has kept is not run again. */
void comparison_perform(Comparison *c, Trial *t, const BrioFolder *folder);
/* Which instants trials are compared at; notes a trial there; fills in how near each is to the
 * reference. */
void comparison_plan_tracks(Comparison *c);
BrioStatus comparison_track(const Comparison *c, Trial *t, const BrioSim *sim, const BrioLedger *l);
void comparison_measure_nearness(Comparison *c);
/* The reference as a file of the folder, for later comparisons; reads it back if it is that of
 * `scene`, the hash of the scene with its method and step. */
void comparison_keep_reference(Comparison *c, const BrioFolder *folder, uint64_t scene);
bool comparison_kept_reference(Comparison *c, Trial *t, const BrioFolder *folder, uint64_t scene);
/* Fills in what takes all trials: errors and orders, shares of the energy. */
BrioStatus comparison_measure_errors(Comparison *c);
BrioStatus comparison_measure_fractions(Comparison *c);
/* The file of a picture, 0, 1, ...; NULL past the last. */
const char *comparison_picture(size_t which);
/* Draws a picture onto its file, or as figures of a report. `drawn` tells whether there was
 * anything to draw. */
BrioStatus comparison_draw(const Comparison *c, size_t which, FILE *file, Report *report,
                           bool *drawn);

#endif
