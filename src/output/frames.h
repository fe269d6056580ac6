/* Formats of frames: the whole scene at one instant, one file a frame.
 *
 * To add one: write src/output/NAME.c that ends in BRIO_FRAMES(NAME) { ... } and add a line to list.def. The scene
 * keyword, `brio list frames`, names of files, atomic writing and resuming come with it. Failures of writing are
 * found by the caller: a format need not look. */
#ifndef BRIO_FRAMES_H
#define BRIO_FRAMES_H

#include "../system.h"

typedef struct BrioFrame {
    const BrioSystem *system;
    double time;
    const double *x, *v; /* of all world vertices */
} BrioFrame;

typedef struct BrioFrameFormat {
    const char *name, *extension, *summary;
    void (*write)(const BrioFrame *frame, FILE *file);
    /* An index of all frames, written anew with every checkpoint; both may be NULL. Frame k is the file
     * brio__frame_name gives. */
    const char *index_name;
    void (*index)(const double *times, int64_t count, FILE *file);
} BrioFrameFormat;

enum { BRIO_MOST_FORMATS = 16 };                       /* room for so many in a scene */
const BrioFrameFormat *brio__frames(const char *name); /* NULL: none of that name */
const BrioFrameFormat *brio__frames_at(int i);         /* NULL past the last */

/* "frame_000012.vtu" */
void brio__frame_name(const BrioFrameFormat *format, int64_t number, char *text, size_t size);

#define BRIO_FRAMES(symbol)                             \
    extern const BrioFrameFormat brio__frames_##symbol; \
    const BrioFrameFormat brio__frames_##symbol =

#endif
