/* Motion sequences inside the library: positions of the same vertices at rising times
 * (brio/motion.h), and their readers. */
#ifndef BRIO_SEQUENCE_H
#define BRIO_SEQUENCE_H

#include "../base.h"

/* Bytes of positions that a sequence may have. */
#define BRIO_SEQUENCE_BYTES 4e9

/* A place between two frames: frame + fraction of the time to the next; rate: 1/s, 0 at rest. */
typedef struct BrioFramePlace {
    int64_t frame, next;
    double part, rate;
} BrioFramePlace;
BrioFramePlace brio__frame_place(const double *times, int64_t count, double time);

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
