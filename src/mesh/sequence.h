/* Motion sequences inside the library: positions of the same vertices at rising times
 * (brio/motion.h), and their readers. */
#ifndef BRIO_SEQUENCE_H
#define BRIO_SEQUENCE_H

#include "../base.h"

/* Bytes of positions that a sequence may have. */
#define BRIO_SEQUENCE_BYTES 4e9

/* A place between two rows: frame + fraction of the time to the next; rate: 1/s, 0 at rest. The
 * rows beyond are `before` and `after`; a length (s) of 0 means that there is none. */
typedef struct BrioFramePlace {
    int64_t before, frame, next, after;
    double part, rate;
    double length_before, length, length_after;
} BrioFramePlace;
/* `stride`: numbers of a row, of which the first is the time. */
BrioFramePlace brio__frame_place(const double *times, int stride, int64_t count, double time);
/* The slope of a curve at a row between secants of slopes a and b and of these lengths (s). */
double brio__curve_slope(BrioInterpolation by, double a, double length_a, double b,
                         double length_b);
/* The cubic with values a, b and slopes at both ends; its rate too. */
double brio__hermite(const BrioFramePlace *at, double a, double b, const double slope[2],
                     double *rate);
/* A number at a place, of its values in the rows before, frame, next and after; its rate too. */
double brio__between(const BrioFramePlace *at, BrioInterpolation by, const double value[4],
                     double *rate);

/* Times must rise, numbers must be finite, corners must be vertices. */
BrioStatus brio__sequence_check(const BrioSequence *sequence, BrioError *error);
/* Merges vertices that coincide in all frames. */
BrioStatus brio__sequence_weld(BrioSequence *sequence, BrioError *error);

/* glTF: animated nodes, morph targets and skins, as positions at the times of all keys, and `fps`
 * times a second where something turns. */
BrioStatus brio__sequence_glb(const char *file, const char *bytes, size_t size, double fps,
                              double start, BrioSequence **sequence, BrioError *error);
/* Any of the formats, from memory, with a NUL behind it, as brio__read_file gives it. */
BrioStatus brio__sequence_parse(const char *file, const char *bytes, size_t size, double fps,
                                double start, BrioSequence **sequence, BrioError *error);

#endif
