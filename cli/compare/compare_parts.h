/* Shared parts of the files of `brio compare`, other than the comparison itself. */
#ifndef BRIO_COMPARE_PARTS_H
#define BRIO_COMPARE_PARTS_H

#include "compare.h"

/* A step size as it is given: "1/30". */
BrioStatus comparison_read_size(const char *text, StepSize *size, BrioError *error);
/* Methods, step sizes and the reference, of lists that it cuts into pieces. */
BrioStatus comparison_read_lists(Comparison *c, char *methods, char *sizes, char *reference,
                                 BrioError *error);
/* The scene with a method and a step size. */
BrioStatus comparison_load(const Comparison *c, const char *method, const char *size,
                           BrioScene **scene, BrioError *error);
/* Runs a trial; how it went is in it. */
void comparison_perform(Comparison *c, Trial *t);
/* Fills in what takes all trials: errors and orders, shares of the energy. */
BrioStatus comparison_measure_errors(Comparison *c);
BrioStatus comparison_measure_shares(Comparison *c);

#endif
