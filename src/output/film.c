/* Names and order of the files of a film, and its frames one part at a time, so that memory does
 * not grow with the length of a run. */
#include "film.h"

#include <string.h>

/* ---- frames of a motion ----------------------------------------------------------------- */

BrioStatus brio__film_create(BrioMotionFile *motion, int64_t every, BrioFilm **film,
                             BrioError *error)
{
    BrioFilm *f = brio__calloc(1, sizeof *f);
    size_t max = 0;
    for (int i = 0; i < motion->part_count; i++)
        max = BRIO_MAX(max, 3 * (size_t)motion->part[i].vertex_count);
    *film = f;
    if (f) {
        f->motion = motion;
        f->frame = brio__alloc((size_t)motion->frame_count + 1, sizeof *f->frame);
        f->x = brio__alloc(max + 1, sizeof *f->x);
        f->v = brio__alloc(max + 1, sizeof *f->v);
        f->scratch = brio__alloc(max + 1, sizeof *f->scratch);
    }
    if (!f || !f->frame || !f->x || !f->v || !f->scratch) {
        brio__film_free(f);
        *film = NULL;
        return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    }
    for (int64_t k = 0; k < motion->frame_count; k++)
        if (k * motion->stride % every == 0) f->frame[f->count++] = k;
    return BRIO_OK;
}

void brio__film_free(BrioFilm *film)
{
    if (!film) return;
    brio__free(film->frame);
    brio__free(film->x);
    brio__free(film->v);
    brio__free(film->scratch);
    brio__free(film);
}

double brio__film_time(const BrioFilm *f, int64_t k) { return f->motion->time[f->frame[k]]; }

double brio__film_code(const BrioFilm *f, int64_t k)
{
    double code = brio__film_time(f, k) * f->motion->fps, whole = nearbyint(code);
    return fabs(code - whole) < 1e-6 * fmax(1, fabs(code)) ? whole : code;
}

bool brio__film_shows(const BrioFilm *f, int part)
{
    return f->all || f->motion->part[part].kind == BRIO_MOTION_BODY;
}

static BrioStatus pass(BrioFilm *f, BrioError *error)
{
    f->done++;
    if (!f->progress || f->progress(f->user, f->done, f->total)) return BRIO_OK;
    return brio__error(error, BRIO_STOPPED, "stopped on request");
}

BrioStatus brio__film_positions(BrioFilm *f, int64_t k, int part, BrioError *error)
{
    BRIO_CHECK(pass(f, error));
    return brio__motion_part(f->motion, f->frame[k], part, f->x, error);
}

BrioStatus brio__film_velocities(BrioFilm *f, int64_t k, int part, BrioError *error)
{
    return brio__motion_velocities(f->motion, f->frame[k], part, f->v, f->scratch, error);
}

/* ---- files ------------------------------------------------------------------------------ */

static bool safe(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || (c & 0x80);
}

static int shown_parts(const BrioFilm *f)
{
    int count = 0;
    for (int i = 0; i < f->motion->part_count; i++) count += brio__film_shows(f, i);
    return count;
}

/* A part's name as a part of a file's. */
static void clean_name(const BrioMotionPart *part, char name[128])
{
    snprintf(name, 128, "%s", part->name);
    for (char *at = name; *at; at++)
        if (!safe(*at)) *at = '_';
}

/* With the part's number where another one has the same name. */
static void file_name(const BrioFilm *f, const char *stem, int part, const char *extension,
                      char *text, size_t size)
{
    char name[128], other[128];
    int twins = 0;
    if (shown_parts(f) == 1) {
        snprintf(text, size, "%s.%s", stem, extension);
        return;
    }
    clean_name(&f->motion->part[part], name);
    for (int i = 0; i < f->motion->part_count; i++) {
        clean_name(&f->motion->part[i], other);
        twins += brio__film_shows(f, i) && !strcmp(name, other);
    }
    if (twins > 1)
        snprintf(text, size, "%s-%d-%s.%s", stem, part, name, extension);
    else
        snprintf(text, size, "%s-%s.%s", stem, name, extension);
}

/* The i-th part that is shown; -1: no more. */
static int nth_part(const BrioFilm *f, int64_t i)
{
    for (int part = 0; part < f->motion->part_count; part++)
        if (brio__film_shows(f, part) && i-- == 0) return part;
    return -1;
}

bool brio__film_file(const BrioFilm *f, const BrioFrameFormat *format, const char *stem, int64_t i,
                     char *name, size_t size)
{
    if (!format->film) {
        if (i < f->count) brio__frame_name(format, stem, i, name, size);
        if (i == f->count && format->index)
            snprintf(name, size, "%s.%s", stem, format->index_extension);
        return i < f->count + (format->index != NULL);
    }
    if (!format->by_part) {
        snprintf(name, size, "%s.%s", stem, format->extension);
        return i == 0;
    }
    int each = format->rest_shape ? 2 : 1, part = nth_part(f, i / each);
    if (part >= 0) file_name(f, stem, part, i % each ? "obj" : format->extension, name, size);
    return part >= 0;
}

static BrioStatus write_frame(const BrioFrameFormat *format, const BrioFrame *frame,
                              const BrioFolder *folder, const char *name, BrioError *error)
{
    FILE *file;
    BRIO_CHECK(brio__replace_begin(folder, name, &file, error));
    format->write(frame, file);
    return brio__replace_end(folder, name, file, false, error);
}

static BrioStatus write_rest(BrioFilm *f, int part, const BrioFolder *folder, const char *name,
                             BrioError *error)
{
    const BrioMotionPart *p = &f->motion->part[part];
    double *x = brio__alloc(3 * (size_t)p->vertex_count + 1, sizeof *x);
    if (!x) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    for (int64_t k = 0; k < 3 * (int64_t)p->vertex_count; k++) x[k] = p->rest[k];
    BrioFrame frame = {.motion = f->motion, .all = true, .only = part, .seen = x};
    BrioStatus status = write_frame(brio__frames("obj"), &frame, folder, name, error);
    brio__free(x);
    return status;
}

static BrioStatus write_film(BrioFilm *f, const BrioFrameFormat *format, int part,
                             const BrioFolder *folder, const char *name, BrioError *error)
{
    FILE *file;
    BRIO_CHECK(brio__replace_begin(folder, name, &file, error));
    BrioStatus status = format->film(f, part, file, error);
    if (status == BRIO_OK) return brio__replace_end(folder, name, file, false, error);
    brio__replace_cancel(folder, name, file);
    return status;
}

/* Vertices of all parts that are shown. */
static BrioStatus gather(BrioFilm *f, int64_t k, double *x, double *v, BrioError *error)
{
    for (int i = 0; i < f->motion->part_count; i++) {
        int64_t numbers = 3 * (int64_t)f->motion->part[i].vertex_count;
        if (brio__film_shows(f, i)) {
            BRIO_CHECK(brio__film_positions(f, k, i, error));
            BRIO_CHECK(brio__film_velocities(f, k, i, error));
            for (int64_t n = 0; n < numbers; n++) x[n] = f->x[n], v[n] = f->v[n];
        }
        x += numbers;
        v += numbers;
    }
    return BRIO_OK;
}

static BrioStatus write_sequence(BrioFilm *f, const BrioFrameFormat *format,
                                 const BrioFolder *folder, const char *stem, BrioError *error)
{
    size_t numbers = 3 * (size_t)f->motion->vertex_count;
    double *x = brio__calloc(2 * numbers + 1, sizeof *x);
    double *times = brio__alloc((size_t)f->count + 1, sizeof *times);
    const char **extension = brio__alloc((size_t)f->count + 1, sizeof *extension);
    BrioStatus status =
        x && times && extension ? BRIO_OK : brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    char name[256];
    for (int64_t k = 0; status == BRIO_OK && k < f->count; k++) {
        times[k] = brio__film_time(f, k);
        extension[k] = format->extension;
        BrioFrame frame = {.time = times[k],
                           .motion = f->motion,
                           .all = f->all,
                           .only = -1,
                           .seen = x,
                           .seen_v = x + numbers};
        status = gather(f, k, x, x + numbers, error);
        brio__frame_name(format, stem, k, name, sizeof name);
        if (status == BRIO_OK) status = write_frame(format, &frame, folder, name, error);
    }
    if (status == BRIO_OK && format->index) {
        FILE *file;
        snprintf(name, sizeof name, "%s.%s", stem, format->index_extension);
        status = brio__replace_begin(folder, name, &file, error);
        if (status == BRIO_OK) {
            format->index(stem, extension, times, f->count, file);
            status = brio__replace_end(folder, name, file, false, error);
        }
    }
    brio__free(x);
    brio__free(times);
    brio__free(extension);
    return status;
}

BrioStatus brio__film_write(BrioFilm *f, const BrioFrameFormat *format, const BrioFolder *folder,
                            const char *stem, BrioError *error)
{
    char name[256];
    f->done = 0;
    f->total = f->count * shown_parts(f);
    if (!format->film) return write_sequence(f, format, folder, stem, error);
    for (int64_t i = 0; brio__film_file(f, format, stem, i, name, sizeof name); i++) {
        int each = format->by_part && format->rest_shape ? 2 : 1;
        int part = format->by_part ? nth_part(f, i / each) : -1;
        if (i % each)
            BRIO_CHECK(write_rest(f, part, folder, name, error));
        else
            BRIO_CHECK(write_film(f, format, part, folder, name, error));
    }
    return BRIO_OK;
}

/* ---- bytes ------------------------------------------------------------------------------ */

void brio__put32(FILE *file, const void *numbers, size_t count, bool big_endian)
{
    const uint16_t mark = 1;
    bool big_here = *(const unsigned char *)&mark == 0;
    const unsigned char *at = numbers;
    if (big_here == big_endian) {
        if (count) fwrite(at, 4, count, file);
        return;
    }
    for (; count > 0; count--, at += 4) {
        const unsigned char turned[4] = {at[3], at[2], at[1], at[0]};
        fwrite(turned, 1, 4, file);
    }
}
