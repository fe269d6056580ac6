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
    bool force; /* files that the import makes may replace others */
    int bodies, obstacles;
    char **line;
    int64_t count, room;
    int64_t losses; /* how many of the sentences name a loss */
} ImportReport;
/* What was taken over in another way, or matters only there. */
void import_note(ImportReport *report, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* What the motion of the bodies depends on, and the scene does not have: exit code 1. */
void import_loss(ImportReport *report, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A file that the scene needs beside it: written, unless it is there already with these bytes. */
BrioStatus import_file(const ImportReport *report, const char *name, const char *text, size_t size,
                       BrioError *error);

/* Reads the scene `name` and writes YAML for a scene in `folder` (which ends with /). */
BrioStatus import_ipc(const char *name, const char *folder, FILE *out, ImportReport *report,
                      BrioError *error);

#endif
