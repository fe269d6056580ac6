/* Scenes of other programs: one function for each, and one line in import.c. */
#ifndef BRIO_IMPORT_H
#define BRIO_IMPORT_H

#include "commands.h"

#include "internal.h"

#include <stdarg.h>
#include <stdlib.h>

/* What came over, and what did not: sentences with their line. */
typedef struct ImportReport {
    const char *file;
    int bodies, obstacles;
    char **line;
    int64_t count, room;
} ImportReport;
void import_note(ImportReport *report, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reads the scene `name` and writes YAML for a scene in `folder` (which ends with /). */
BrioStatus import_ipc(const char *name, const char *folder, FILE *out, ImportReport *report,
                      BrioError *error);

#endif
