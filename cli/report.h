/* report.html: one page without anything from outside. Charts are pictures (SVG) that the page's
 * script makes interactive, and the motion is shown in 3D by it; a program that was built without
 * the script (docs/report.md) shows a sheet of pictures instead. Written from top to bottom. */
#ifndef BRIO_REPORT_H
#define BRIO_REPORT_H

#include "commands.h"

#include "internal.h"

typedef struct Report {
    FILE *file;
    BrioStatus status; /* the first failure */
    /* what charts show, without repetition */
    double *number;
    size_t number_count, number_room;
    struct {
        const double *values;
        size_t at, count;
    } known[64];
    int known_count;
    /* JSON for the script while it is put together */
    char *charts, *runs;
    size_t charts_size, runs_size;
    FILE *chart_text, *run_text;
    int chart_count, run_count;
} Report;

enum { REPORT_MAX_RUNS = 9 };
#define REPORT_MAX_BYTES 20e6 /* of the whole page */

void report_begin(Report *report, FILE *file, const char *title);
/* A figure; `about` stands below it and may be NULL. */
void report_chart(Report *report, const BrioPlot *plot, const char *about);
/* The section with the motions, side by side. */
void report_motions(Report *report, BrioMotionFile **motion, const char *const *label, int count);
/* "st", "nd", "rd" or "th". */
const char *report_ordinal(int64_t number);
/* The page is complete; what could not be made is its status. */
BrioStatus report_end(Report *report);

/* A table's head and cells; class may be "". */
void report_head(FILE *file, const char *head, const char *unit, bool words);
void report_cell(FILE *file, const char *class, const char *text);

/* Writes report.html of the results in a folder of `brio run` again. */
BrioStatus report_of_run(const char *folder, BrioError *error);

#endif
