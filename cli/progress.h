/* How far a run is, on stderr: on a terminal one line that is updated, otherwise a line now and
 * then. */
#ifndef BRIO_PROGRESS_H
#define BRIO_PROGRESS_H

#include "internal.h"

void progress_show(void *user, const BrioRunProgress *progress); /* for BrioRunOptions.progress */
/* The same as a line of JSON on stdout, for programs that start brio: at the first and the last
 * step and at most twenty times a second. Where nobody reads them any more, the run ends with a
 * checkpoint. */
void progress_lines(void *user, const BrioRunProgress *progress);
/* For brio_sim_watch of a solve that may take long: what it is doing, after a second. */
int progress_watch(void *user, const BrioIteration *iteration);
/* One line of any text instead. */
void progress_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* before anything else is written to stderr */
void progress_clear(void);

#endif
