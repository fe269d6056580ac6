/* What commands on earlier results share. */
#ifndef BRIO_RESULTS_H
#define BRIO_RESULTS_H

#include "commands.h"

/* "a-search, h = 1/120 s" of the run in a folder; the folder's name where its run.json does not
 * tell. */
void run_label(const char *folder, char *text, size_t size);

/* A step as people write it: "1/120" of 0.00833... */
void step_text(double h, char *text, size_t size);

#endif
