/* Formats of results that other programs read: the whole scene at one instant, one file per frame;
 * or
 * its motion as a film, in one file or one per body.
 *
 * To add one: write src/output/NAME.c that ends in BRIO_FRAMES(NAME) { ... } and add a line to
 * list.def. The scene keyword, `brio list frames`, `brio convert`, names of files, atomic writing
 * and resuming come with it. Failures of writing are found by the caller: a format need not
 * look. */
#ifndef BRIO_FRAMES_H
#define BRIO_FRAMES_H

#include "motion.h"

typedef struct BrioFrame {
    const BrioSystem *system; /* NULL: only what is seen is known */
    double time;
    const double *x, *v;          /* of all world vertices; NULL without a system */
    const BrioMotionFile *motion; /* what is seen: bodies, and, with `all`, obstacles and rods */
    bool all;
    int only; /* this part alone, the first of `seen`; -1: all of them */
    /* vertices of the motion's parts, one after the other; seen_v may be NULL */
    const double *seen, *seen_v;
} BrioFrame;

typedef struct BrioFilm BrioFilm; /* film.h */

typedef struct BrioFrameFormat {
    const char *name, *extension, *summary;
    /* One file per frame. */
    void (*write)(const BrioFrame *frame, FILE *file);
    /* An index of all frames, rewritten with every checkpoint; both may be NULL. Frame k is the
     * file "STEM_00000k.extension[k]". */
    const char *index_extension;
    void (*index)(const char *stem, const char *const *extension, const double *times,
                  int64_t count, FILE *file);
    /* A frame of which each process has written its piece, "STEM_00000k_pN.extension": the file
     * that names them, with the ending `joint_extension`. NULL: only process 0 writes frames, of
     * what is seen. */
    const char *joint_extension;
    void (*join)(const char *stem, int64_t number, int pieces, FILE *file);
    /* Or a film, written when a run ends, from its motion. */
    BrioStatus (*film)(BrioFilm *film, int part, FILE *file, BrioError *error);
    bool by_part;    /* one file for each part, otherwise `part` is -1 */
    bool rest_shape; /* and the part's rest shape next to it, as OBJ */
    bool velocities; /* it has them: a run keeps them for it */
} BrioFrameFormat;

enum { BRIO_MAX_FORMATS = 16 };                        /* room for so many in a scene */
const BrioFrameFormat *brio__frames(const char *name); /* NULL: none of that name */
const BrioFrameFormat *brio__frames_at(int i);         /* NULL past the last */

/* "frame_000012.vtu" of the stem "frame" */
void brio__frame_name(const BrioFrameFormat *format, const char *stem, int64_t number, char *text,
                      size_t size);
void brio__frame_piece_name(const BrioFrameFormat *format, const char *stem, int64_t number,
                            int piece, char *text, size_t size);
/* Whether a part of a motion is shown. */
bool brio__frame_shows(const BrioFrame *frame, int part);

#define BRIO_FRAMES(symbol)                             \
    extern const BrioFrameFormat brio__frames_##symbol; \
    const BrioFrameFormat brio__frames_##symbol =

#endif
