/* A motion in the form that film formats need: part by part, frame by frame. */
#ifndef BRIO_FILM_H
#define BRIO_FILM_H

#include "frames.h"
#include "../writer.h"

struct BrioFilm {
    BrioMotionFile *motion;
    int64_t count, *frame;  /* frames of the motion that are shown */
    bool all;               /* obstacles and rods too */
    float *x, *v, *scratch; /* of the part read last */
    bool (*progress)(void *user, int64_t done, int64_t total); /* false: stop; may be NULL */
    void *user;
    int64_t done, total; /* parts of frames, over all passes of the current file */
};

/* Every Nth instant of the motion, which stays the caller's. */
BrioStatus brio__film_create(BrioMotionFile *motion, int64_t every, BrioFilm **film,
                             BrioError *error);
void brio__film_free(BrioFilm *film);

double brio__film_time(const BrioFilm *film, int64_t k);
/* the time in frames: time * fps, whole where it is but for round-off */
double brio__film_code(const BrioFilm *film, int64_t k);
bool brio__film_shows(const BrioFilm *film, int part);
/* -> film->x */
BrioStatus brio__film_positions(BrioFilm *film, int64_t k, int part, BrioError *error);
/* -> film->v */
BrioStatus brio__film_velocities(BrioFilm *film, int64_t k, int part, BrioError *error);

/* Writes all files of a format into a folder: STEM.extension, STEM-BODY.extension where there are
 * several bodies and a file each, STEM_000012.extension where there is one a frame. */
BrioStatus brio__film_write(BrioFilm *film, const BrioFrameFormat *format, const BrioFolder *folder,
                            const char *stem, BrioError *error);
/* The name of the i-th file that this writes, false past the last. */
bool brio__film_file(const BrioFilm *film, const BrioFrameFormat *format, const char *stem,
                     int64_t i, char *name, size_t size);

/* ---- bytes ------------------------------------------------------------------------------ */

/* Numbers of 32 bits in the order of bytes that a format prescribes, whatever the machine's. */
void brio__put32(FILE *file, const void *numbers, size_t count, bool big_endian);

#endif
