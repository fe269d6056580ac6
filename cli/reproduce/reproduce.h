/* Reproductions: tables and figures of papers compared with our numbers, each with a verdict. One
 * file
 * for each paper or topic and one line in list.def for each reproduction.
 *
 * A reproduction runs simulations, and reports lines as it goes. It states the paper's figure (or
 * the bound that the text implies), ours and the tolerance; the verdict is computed here. What
 * cannot be met is reported as missed, never left out. */
#ifndef BRIO_REPRODUCE_H
#define BRIO_REPRODUCE_H

#include "internal.h"

typedef struct Report Report;

typedef struct Reproduction {
    const char *name;    /* "you2026-table2" */
    const char *paper;   /* citation key */
    const char *summary; /* one line */
    const char *about;   /* settings, and where they differ from the paper and why; may be NULL */
    const char
        *chosen;    /* what the paper does not state, and we have set: sizes, bounds; may be NULL */
    double minutes; /* on two cores, about */
    bool parts;     /* its sections are parts (report_part), which --only chooses from */
    void (*run)(Report *report);
} Reproduction;

const Reproduction *reproduction_at(int i); /* NULL past the last */

#define REPRODUCTION(symbol)                         \
    extern const Reproduction reproduction_##symbol; \
    const Reproduction reproduction_##symbol =

/* A heading for the lines that follow. */
void report_section(Report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A heading of a part that can be run alone; false, and no heading, if --only leaves it out. */
bool report_part(Report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The paper gives a number: met if |ours - paper| <= tolerance. */
void report_value(Report *report, double paper, double ours, double tolerance, const char *format,
                  ...) __attribute__((format(printf, 5, 6)));
/* A bound on our number: met if least <= ours <= most (-INFINITY, INFINITY: no bound). */
void report_bound(Report *report, double ours, double min, double max, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* A statement of the paper that does not hold: refuted if ours is farther from it than the
 * tolerance; docs/errata.md derives what holds instead. Where ours agrees with the paper, the
 * erratum is wrong and the line is missed. */
void report_erratum(Report *report, double paper, double ours, double tolerance, const char *format,
                    ...) __attribute__((format(printf, 5, 6)));
/* A yes or no. */
void report_fact(Report *report, bool holds, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Printed, without a verdict: a number for information (and the paper's, or NAN), a remark. */
void report_number(Report *report, double paper, double ours, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void report_note(Report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A simulation from scene text (YAML); the text may hold % conversions. NULL, reported as missed,
 * if it cannot be made. */
BrioSim *report_scene(Report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Whether a scene that ships is there. If not, nothing is judged: the command says so at the end,
 * and its exit code is 2. */
bool report_has(Report *report, const char *name);
/* A scene that ships, with settings in the form of --set; the scene itself in *scene unless that is
 * NULL. NULL, reported as missed, if it cannot be made; NULL too if it is not there. */
BrioSim *report_shipped(Report *report, const char *name, const char *const *sets, int count,
                        BrioScene **scene);
/* Steps it; false if a step failed or (if `max` is finite) the total energy passed `max`: an
 * explosion is a result, so this reports nothing. Shows progress as `what`. */
bool report_steps(Report *report, BrioSim *sim, int64_t steps, double max, const char *what);
/* Shows how far a long loop is; clears itself. */
void report_progress(Report *report, double fraction, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether references that take long are wanted too (--fine). */
bool report_fine(const Report *report);

/* ---- ensembles, for motion that is chaotic ------------------------------------------------ */

enum { REPORT_STARTS = 16 };
typedef struct Quartiles {
    int count; /* of the values that are numbers */
    double low, median, high;
} Quartiles;
/* Sorts the values. */
Quartiles report_quartiles(double *value, int count);
/* Start 0 is the scene itself; in the others every body has a velocity of its own more, of `speed`
 * m/s in a direction that depends on the start and the body only. */
void report_perturb(BrioSim *sim, int start, double speed);

/* ---- figures that are stored (stored.def) -------------------------------------------------- */

/* A figure of a run that takes long, with its date and commit, without a verdict; a note if there
 * is none. Returns it, or NAN. */
double report_stored(Report *report, double paper, const char *key, const char *what);
/* With --fine and -o: notes a figure in FOLDER/stored.def. */
void report_store(Report *report, const char *key, double value);
/* With --fine, -o and --resume: whether FOLDER/stored.def has this figure, of a program that was
 * interrupted. report_stored takes it from there, with its date and commit. */
bool report_is_done(const Report *report, const char *key);

/* A file (plot, table) in the folder that the user gave with -o; NULL, without complaint, if none
 * was given. The caller closes it with report_close. */
FILE *report_file(Report *report, const char *name);
void report_close(Report *report, FILE *file);

/* ---- the page of `brio reproduce --all` (reproduce_page.c) ------------------------------- */

/* The commit that the program was built from; "unknown" without git. */
const char *reproduction_commit(void);
/* Whether FOLDER/name is the result of a reproduction by this commit. */
bool reproduction_is_done(const char *folder, const char *name);
/* reproduction.md and reproduction.html of the results in a folder. */
BrioStatus reproduction_page(const BrioFolder *folder, BrioError *error);

#endif
