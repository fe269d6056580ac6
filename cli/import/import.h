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
    int64_t losses; /* how many of the sentences name a loss */
} ImportReport;
/* What was taken over in another way, or matters only there. */
void import_note(ImportReport *report, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* What the motion of the bodies depends on, and the scene does not have: exit code 1. */
void import_loss(ImportReport *report, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Takes back all lines from `count` on; `losses` were there before them. */
void import_forget(ImportReport *report, int64_t count, int64_t losses);

/* ---- tools ------------------------------------------------------------------------------ */

#define PI 3.14159265358979323846

void import_multiply(double a[3][3], double b[3][3], double out[3][3]);
void import_apply(double a[3][3], const double *x, double *y);
void import_turn(const double axis[3], double radians, double out[3][3]); /* Rodrigues */
/* The axis and the angle in degrees of a rotation, by its quaternion. */
double import_axis_of(double m[3][3], double axis[3]);
/* A path from a folder; both exist. */
void import_relative_path(const char *folder, const char *file, char *out, size_t size);
/* The name of a file without folder and ending, as a name for a scene. */
void import_short_name(const char *path, char *name, size_t size);
/* Whether brio reads meshes with that ending. Points (.pt) and segments (.seg) are obstacles as
 * soon as it does. */
bool import_reads(const char *extension);
/* Vertices and edges of a mesh as a file of points or segments in `folder`, named after `path`. A
 * file of that name with other bytes is left alone: `name`, the file's, has a number then. */
BrioStatus import_parts(const char *folder, const char *path, bool points, const BrioMesh *mesh,
                        char *name, size_t size, BrioError *error);
void import_box_of(const BrioMesh *mesh, double low[3], double high[3]);

/* A number with fifteen digits: what was computed on the way ends in round numbers where it
 * should. */
void import_put(FILE *out, double value);
void import_put3(FILE *out, const char *key, const double v[3]);
void import_put_text(FILE *out, const char *text); /* in quotes */
bool import_is_zero(const double v[3]);
/* x = rotate scale X + translate, as a line of a body or an obstacle. */
void import_put_transform(FILE *out, double scale[3], double rotate[3][3],
                          const double translate[3]);
void import_put_script(FILE *out, const double linear[3], const double angular[3],
                       const double about[3], double start, double end);
/* The keys of a motion that goes `way` at `linear` up to each time. */
void import_put_ways(FILE *out, const double linear[3], int count, const double *time,
                     const double *way);

/* A turn at a constant rate about an axis through `about`, and a shift along it; or a shift alone,
 * `angular` 0. */
typedef struct ImportTurn {
    double linear[3], angular[3], about[3];
} ImportTurn;
/* Where points are at the end of a step, from 1: x = A X + b. False: that is no such map. */
typedef bool ImportMap(const void *data, int step, double A[3][3], double b[3]);
/* True if a map is a turn at the ends of all steps of length h, for points within `size` of
 * `middle`; `accuracy` is that of A, and relative to the size that of places. */
bool import_find_turn(ImportMap *map, const void *data, int steps, double h, const double middle[3],
                      double size, double accuracy, ImportTurn *turn);

/* ---- formats ---------------------------------------------------------------------------- */

/* Reads the scene `name` and writes YAML for a scene in `folder` (which ends with /). */
BrioStatus import_polyfem(const char *name, const char *folder, FILE *out, ImportReport *report,
                          BrioError *error);
BrioStatus import_ipc(const char *name, const char *folder, FILE *out, ImportReport *report,
                      BrioError *error);

#endif
