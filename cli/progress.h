/* How far a run is, on stderr: on a terminal one line that is updated, otherwise a line now and then. */
#ifndef BRIO_PROGRESS_H
#define BRIO_PROGRESS_H

#include "output/run.h"

void progress_show(void *user, const BrioRunProgress *progress); /* for BrioRunOptions.progress */
void progress_clear(void);                                       /* before anything else is written to stderr */

#endif
