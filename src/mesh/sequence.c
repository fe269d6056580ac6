/* Motion sequences: point caches, tables of keys, meshes frame by frame (brio/motion.h).
 *
 *     PC2, little endian: "POINTCACHE2" and NUL, version, points, first frame, frames a sample,
 *                         samples; then the positions
 *     MDD, big endian:    samples, points; times; then the positions
 *     CSV:                t, x, y, z      a shift at each time; where times repeat, a row for each
 *                                         vertex
 *                         t, x0, y0, z0, x1, ...   all vertices of a time in a row
 *                         t, shift, quaternion w x y z [, scale]   eight or eleven columns
 *                         Numbers stand between commas, semicolons or blanks.
 *
 * Between frames positions are linear: x = (1 - p) x_k + p x_{k+1}, and the velocity is
 * (x_{k+1} - x_k)/(t_{k+1} - t_k) of the interval that begins. Or they are cubic: Hermite's curve
 * with the slopes of parabolas through three rows, or those that keep it monotone [Fritsch1984]. */
#include "sequence.h"

#include "readers.h"
#include "../number.h"
#include "../utf8.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

BrioStatus brio_sequence_create(int64_t frames, int64_t vertices, BrioSequence **sequence,
                                BrioError *error)
{
    BRIO_NEEDS(sequence, error);
    if (error) *error = (BrioError){0};
    if (frames < 0 || vertices < 0 || (double)frames * (double)vertices * 24 > BRIO_SEQUENCE_BYTES)
        return brio__error(error, BRIO_ERROR_TOO_LARGE,
                           "a sequence of %lld frames of %lld vertices takes %.3g GB, and at most "
                           "%.3g GB are read: remove frames",
                           (long long)frames, (long long)vertices,
                           (double)frames * (double)vertices * 24e-9, BRIO_SEQUENCE_BYTES * 1e-9);
    BrioSequence *s = brio__calloc(1, sizeof *s);
    if (s) {
        s->time = brio__calloc((size_t)frames + 1, sizeof *s->time);
        s->x = brio__calloc(3 * (size_t)frames * (size_t)vertices + 1, sizeof *s->x);
    }
    if (!s || !s->time || !s->x) {
        brio_sequence_free(s);
        return brio__no_memory(error);
    }
    s->frame_count = frames;
    s->vertex_count = vertices;
    *sequence = s;
    return BRIO_OK;
}

void brio_sequence_free(BrioSequence *sequence)
{
    if (!sequence) return;
    brio__free(sequence->time);
    brio__free(sequence->x);
    brio__free(sequence->triangle);
    brio__free(sequence->pose);
    brio__free(sequence);
}

BrioFramePlace brio__frame_place(const double *times, int stride, int64_t count, double time)
{
    int64_t low = 0, high = count; /* the first row that is later */
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (times[stride * middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    BrioFramePlace place = {.frame = BRIO_MAX(low - 1, 0), .next = BRIO_MIN(low, count - 1)};
    place.before = BRIO_MAX(place.frame - 1, 0);
    place.after = BRIO_MIN(place.next + 1, count - 1);
    place.length = times[stride * place.next] - times[stride * place.frame];
    place.length_before = times[stride * place.frame] - times[stride * place.before];
    place.length_after = times[stride * place.after] - times[stride * place.next];
    if (place.length > 0) {
        place.part = (time - times[stride * place.frame]) / place.length;
        place.rate = 1 / place.length;
    }
    return place;
}

double brio__curve_slope(BrioInterpolation by, double a, double length_a, double b, double length_b)
{
    if (!(length_a > 0 && length_b > 0)) return 0; /* starts and ends at rest */
    if (by != BRIO_INTERPOLATION_MONOTONE)
        return (length_b * a + length_a * b) / (length_a + length_b);
    if (!(a * b > 0)) return 0;
    double wa = length_a + 2 * length_b, wb = 2 * length_a + length_b; /* [Fritsch1984] */
    return (wa + wb) / (wa / a + wb / b);
}

double brio__hermite(const BrioFramePlace *at, double a, double b, const double slope[2],
                     double *rate)
{
    double p = at->part, way = b - a;
    double first = at->length * slope[0], last = at->length * slope[1];
    double square = 3 * way - 2 * first - last, cube = first + last - 2 * way;
    *rate = at->rate * (first + p * (2 * square + p * 3 * cube));
    return a + p * (first + p * (square + p * cube));
}

double brio__between(const BrioFramePlace *at, BrioInterpolation by, const double value[4],
                     double *rate)
{
    double a = value[1], b = value[2], here = at->length > 0 ? (b - a) / at->length : 0;
    if (by == BRIO_INTERPOLATION_LINEAR || !(at->length > 0)) {
        *rate = here;
        return a + at->part * (b - a);
    }
    double before = at->length_before > 0 ? (a - value[0]) / at->length_before : 0;
    double after = at->length_after > 0 ? (value[3] - b) / at->length_after : 0;
    double slope[2] = {brio__curve_slope(by, before, at->length_before, here, at->length),
                       brio__curve_slope(by, here, at->length, after, at->length_after)};
    return brio__hermite(at, a, b, slope, rate);
}

void brio_sequence_at(const BrioSequence *s, double time, double *x, double *v)
{
    BRIO_NEEDS_OR_NOTHING(s && x);
    int64_t n = 3 * s->vertex_count;
    if (s->frame_count == 0) return;
    BrioFramePlace at = brio__frame_place(s->time, 1, s->frame_count, time);
    const double *a = s->x + n * at.frame, *b = s->x + n * at.next;
    for (int64_t k = 0; k < n; k++) {
        x[k] = a[k] + at.part * (b[k] - a[k]);
        if (v) v[k] = at.rate * (b[k] - a[k]);
    }
}

static BrioStatus check_poses(const BrioSequence *s, BrioError *error)
{
    for (int64_t k = 0; k < s->pose_count; k++) {
        const double *row = s->pose + BRIO_POSE_NUMBERS * k, *q = row + 4;
        bool finite = true;
        for (int c = 0; c < BRIO_POSE_NUMBERS; c++) finite &= isfinite(row[c]) != 0;
        if (!finite)
            return brio__error(error, BRIO_ERROR_INPUT, "pose %lld has a number that is not finite",
                               (long long)k);
        if (!(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > 1e-12))
            return brio__error(error, BRIO_ERROR_INPUT,
                               "the quaternion of pose %lld has no length: w x y z of no turn is "
                               "1 0 0 0",
                               (long long)k);
        if (!(row[8] > 0 && row[9] > 0 && row[10] > 0))
            return brio__error(error, BRIO_ERROR_INPUT,
                               "the scale of pose %lld is [%g, %g, %g]: it must be positive",
                               (long long)k, row[8], row[9], row[10]);
        if (k > 0 && !(row[0] > row[-BRIO_POSE_NUMBERS]))
            return brio__error(error, BRIO_ERROR_INPUT,
                               "the times of poses must rise: pose %lld is at %g s, after one at "
                               "%g s",
                               (long long)k, row[0], row[-BRIO_POSE_NUMBERS]);
    }
    return BRIO_OK;
}

BrioStatus brio__sequence_check(const BrioSequence *s, BrioError *error)
{
    int64_t n = 3 * s->vertex_count;
    for (int64_t k = 0; k < s->frame_count; k++) {
        if (!isfinite(s->time[k]) || (k > 0 && !(s->time[k] > s->time[k - 1])))
            return brio__error(error, BRIO_ERROR_INPUT,
                               "the times of frames must rise: frame %lld is at %g s, after one at "
                               "%g s",
                               (long long)k, s->time[k], k > 0 ? s->time[k - 1] : 0.0);
        for (int64_t i = 0; i < n; i++)
            if (!isfinite(s->x[n * k + i]))
                return brio__error(error, BRIO_ERROR_INPUT,
                                   "vertex %lld of frame %lld is not at a finite place",
                                   (long long)(i / 3), (long long)k);
    }
    for (int64_t i = 0; i < 3 * s->triangle_count; i++)
        if (s->triangle[i] < 0 || s->triangle[i] >= s->vertex_count)
            return brio__error(error, BRIO_ERROR_INPUT,
                               "a triangle names vertex %d, and there are %lld", s->triangle[i],
                               (long long)s->vertex_count);
    if (s->frame_count == 0 && s->pose_count == 0)
        return brio__error(error, BRIO_ERROR_INPUT, "the sequence has no frames");
    return check_poses(s, error);
}

/* ---- vertices that are together --------------------------------------------------------- */

typedef struct Track {
    const BrioSequence *sequence;
    int32_t vertex;
} Track;

static int compare_tracks(const void *a, const void *b)
{
    const Track *p = a, *q = b;
    const BrioSequence *s = p->sequence;
    for (int64_t k = 0; k < s->frame_count; k++) {
        const double *x = s->x + 3 * (k * s->vertex_count + p->vertex);
        const double *y = s->x + 3 * (k * s->vertex_count + q->vertex);
        for (int r = 0; r < 3; r++)
            if (x[r] != y[r]) return x[r] < y[r] ? -1 : 1;
    }
    return 0;
}

static int compare_whole(const void *a, const void *b)
{
    int order = compare_tracks(a, b);
    const Track *p = a, *q = b;
    return order ? order : (p->vertex > q->vertex) - (p->vertex < q->vertex);
}

/* Leaves the vertices that are their own representatives, in order. */
static void keep(BrioSequence *s, const int32_t *place, int64_t kept)
{
    for (int64_t k = 0; k < s->frame_count; k++)
        for (int64_t v = 0, to = 0; v < s->vertex_count; v++)
            if (place[v] == to) {
                memmove(s->x + 3 * (k * kept + to), s->x + 3 * (k * s->vertex_count + v),
                        3 * sizeof *s->x);
                to++;
            }
    int64_t triangles = 0;
    for (int64_t t = 0; t < s->triangle_count; t++) {
        int32_t corner[3];
        for (int i = 0; i < 3; i++) corner[i] = place[s->triangle[3 * t + i]];
        if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0]) continue;
        memcpy(s->triangle + 3 * triangles++, corner, sizeof corner);
    }
    s->triangle_count = triangles;
    s->vertex_count = kept;
}

BrioStatus brio__sequence_weld(BrioSequence *s, BrioError *error)
{
    size_t n = (size_t)s->vertex_count;
    Track *track = brio__alloc(n + 1, sizeof *track);
    int32_t *place = brio__alloc(n + 1, sizeof *place);
    BrioStatus status = track && place ? BRIO_OK : brio__no_memory(error);
    if (status == BRIO_OK) {
        int64_t kept = 0;
        for (size_t v = 0; v < n; v++) track[v] = (Track){s, (int32_t)v};
        qsort(track, n, sizeof *track, compare_whole);
        for (size_t i = 0, first = 0; i < n; i++) { /* the first of those that are together */
            if (compare_tracks(&track[first], &track[i])) first = i;
            place[track[i].vertex] = track[first].vertex;
        }
        for (size_t v = 0; v < n; v++)
            place[v] = place[v] == (int32_t)v ? (int32_t)kept++ : place[place[v]];
        keep(s, place, kept);
    }
    brio__free(track);
    brio__free(place);
    return status;
}

/* ---- point caches ----------------------------------------------------------------------- */

/* Positions of `big` or little endian floats into all frames. */
static void fill_positions(const char *bytes, bool big, BrioSequence *s)
{
    for (int64_t i = 0; i < 3 * s->frame_count * s->vertex_count; i++)
        s->x[i] = brio__number_as_real(bytes + 4 * i, BRIO_FLOAT32, big);
}

/* Whether that many positions fit into the bytes that are left. */
static BrioStatus check_size(const char *file, int64_t frames, int64_t points, size_t left,
                             BrioError *error)
{
    if (frames < 1 || points < 1)
        return brio__error_at(error, BRIO_ERROR_INPUT, file, 0, 0, NULL,
                              "has %lld frames of %lld points: expected at least one of each",
                              (long long)frames, (long long)points);
    if ((double)frames * (double)points * 12 > (double)left)
        return brio__error_at(error, BRIO_ERROR_INPUT, file, 0, 0, NULL,
                              "ends before %lld frames of %lld points are complete: it was cut, or "
                              "is of another format",
                              (long long)frames, (long long)points);
    return BRIO_OK;
}

static BrioStatus read_pc2(const char *file, const char *bytes, size_t size, double fps,
                           double start, BrioSequence **out, BrioError *error)
{
    enum { HEAD = 32 };
    if (size < HEAD || memcmp(bytes, "POINTCACHE2", 11))
        return brio__error_at(error, BRIO_ERROR_INPUT, file, 0, 0, NULL,
                              "does not begin with POINTCACHE2: it is not a PC2 file");
    int64_t points = brio__number_as_integer(bytes + 16, BRIO_INT32, false);
    double rate = brio__number_as_real(bytes + 24, BRIO_FLOAT32, false);
    int64_t frames = brio__number_as_integer(bytes + 28, BRIO_INT32, false);
    BRIO_CHECK(check_size(file, frames, points, size - HEAD, error));
    if (!(rate > 0) || isinf(rate)) rate = 1;
    BRIO_CHECK(brio_sequence_create(frames, points, out, error));
    for (int64_t k = 0; k < frames; k++) (*out)->time[k] = start + (double)k * rate / fps;
    fill_positions(bytes + HEAD, false, *out);
    return BRIO_OK;
}

static BrioStatus read_mdd(const char *file, const char *bytes, size_t size, double fps,
                           double start, BrioSequence **out, BrioError *error)
{
    (void)fps;
    if (size < 8)
        return brio__error_at(error, BRIO_ERROR_INPUT, file, 0, 0, NULL,
                              "is too short for an MDD file");
    int64_t frames = brio__number_as_integer(bytes, BRIO_INT32, true);
    int64_t points = brio__number_as_integer(bytes + 4, BRIO_INT32, true);
    size_t head = 8 + (frames > 0 ? 4 * (size_t)frames : 0);
    BRIO_CHECK(check_size(file, frames, points, size > head ? size - head : 0, error));
    BRIO_CHECK(brio_sequence_create(frames, points, out, error));
    for (int64_t k = 0; k < frames; k++)
        (*out)->time[k] = start + brio__number_as_real(bytes + 8 + 4 * k, BRIO_FLOAT32, true);
    fill_positions(bytes + head, true, *out);
    return BRIO_OK;
}

/* ---- tables of keys --------------------------------------------------------------------- */

typedef struct Table {
    int64_t rows, room;
    int columns;
    double *value;
} Table;

/* One number more of the row that is read. */
static bool put(Table *t, double value)
{
    if (t->rows == t->room) {
        int64_t room = t->room ? 2 * t->room : 1024;
        double *grown = brio__realloc(t->value, (size_t)t->room, (size_t)room, sizeof *grown);
        if (!grown) return false;
        t->value = grown;
        t->room = room;
    }
    t->value[t->rows++] = value;
    return true;
}

/* The numbers of a line; `rows` counts numbers until the table is complete. */
static BrioStatus read_line(const char *file, const char *at, const char *end, int line, Table *t,
                            BrioError *error)
{
    const char *begin = at;
    int count = 0;
    bool comma = false, semicolon = false;
    for (;; count++) {
        for (; at < end && (isspace((unsigned char)*at) || *at == ',' || *at == ';'); at++) {
            comma |= *at == ',';
            semicolon |= *at == ';';
        }
        if (comma && semicolon) /* 0,5;1,5 would be four numbers */
            return brio__error_at(error, BRIO_ERROR_INPUT, file, line, 0, NULL,
                                  "this row has commas and semicolons: separate numbers by one of "
                                  "them, and write decimals with a point");
        if (at >= end || *at == '#') break;
        char *stop;
        double value = brio__text_real(at, &stop);
        if (stop == at || stop > end || !isfinite(value))
            return brio__error_at(error, BRIO_ERROR_INPUT, file, line, (int)(at - begin) + 1, NULL,
                                  "expected a finite number: a row is t and then positions or a "
                                  "transform");
        if (!put(t, value)) return brio__no_memory(error);
        at = stop;
    }
    if (count == 0) return BRIO_OK;
    if (t->columns == 0) t->columns = count;
    if (count != t->columns)
        return brio__error_at(error, BRIO_ERROR_INPUT, file, line, 0, NULL,
                              "this row has %d numbers, the first row %d", count, t->columns);
    return BRIO_OK;
}

static BrioStatus read_table(const char *file, const char *bytes, size_t size, Table *t,
                             BrioError *error)
{
    int line = 1;
    for (const char *at = bytes + brio__utf8_mark(bytes, size), *last = bytes + size; at < last;
         line++) {
        const char *end = memchr(at, '\n', (size_t)(last - at)), *first = at;
        if (!end) end = last;
        while (first < end && isspace((unsigned char)*first)) first++;
        bool heading = line == 1 && first < end && isalpha((unsigned char)*first);
        if (!heading) BRIO_CHECK(read_line(file, at, end, line, t, error));
        at = end + 1;
    }
    int columns = t->columns;
    if (columns != 8 && columns != 11 && (columns < 4 || columns % 3 != 1))
        return brio__error_at(error, BRIO_ERROR_INPUT, file, 0, 0, NULL,
                              "has rows of %d numbers: expected t and a shift (4), a shift and a "
                              "quaternion (8), these and a scale (11), or t and positions",
                              columns);
    t->rows /= columns;
    return BRIO_OK;
}

static BrioStatus make_poses(const Table *t, double start, BrioSequence **out, BrioError *error)
{
    BRIO_CHECK(brio_sequence_create(0, 0, out, error));
    BrioSequence *s = *out;
    s->pose = brio__alloc(BRIO_POSE_NUMBERS * (size_t)t->rows, sizeof *s->pose);
    if (!s->pose) return brio__no_memory(error);
    s->pose_count = t->rows;
    for (int64_t k = 0; k < t->rows; k++) {
        double *row = s->pose + BRIO_POSE_NUMBERS * k;
        const double none[BRIO_POSE_NUMBERS] = {0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1};
        memcpy(row, none, sizeof none);
        memcpy(row, t->value + k * t->columns, (size_t)t->columns * sizeof *row);
        row[0] += start;
    }
    return BRIO_OK;
}

/* Four columns: `each` rows of every time. */
static BrioStatus make_frames(const char *file, const Table *t, double start, BrioSequence **out,
                              BrioError *error)
{
    const double *value = t->value;
    int columns = t->columns;
    int64_t each = 1;
    while (columns == 4 && each < t->rows && value[4 * each] == value[0]) each++;
    int64_t frames = t->rows / each, vertices = each * (columns - 1) / 3;
    if (frames * each != t->rows)
        return brio__error_at(error, BRIO_ERROR_INPUT, file, 0, 0, NULL,
                              "the first time has %lld rows, and %lld rows are not a multiple of "
                              "that",
                              (long long)each, (long long)t->rows);
    BRIO_CHECK(brio_sequence_create(frames, vertices, out, error));
    for (int64_t k = 0; k < t->rows; k++) {
        const double *row = value + k * columns;
        int64_t frame = k / each;
        if (row[0] != value[frame * each * columns])
            return brio__error_at(error, BRIO_ERROR_INPUT, file, 0, 0, NULL,
                                  "row %lld has the time %g s: expected another row of %g s",
                                  (long long)k, row[0], value[frame * each * columns]);
        (*out)->time[frame] = start + row[0];
        memcpy((*out)->x + (columns - 1) * k, row + 1, (size_t)(columns - 1) * sizeof *row);
    }
    return BRIO_OK;
}

static BrioStatus read_csv(const char *file, const char *bytes, size_t size, double fps,
                           double start, BrioSequence **out, BrioError *error)
{
    (void)fps;
    Table t = {0};
    BrioStatus status = read_table(file, bytes, size, &t, error);
    if (status == BRIO_OK) {
        bool rises = true;
        for (int64_t k = 1; k < t.rows; k++)
            rises &= t.value[k * t.columns] > t.value[(k - 1) * t.columns];
        bool poses = t.columns == 8 || t.columns == 11 || (t.columns == 4 && rises);
        status =
            poses ? make_poses(&t, start, out, error) : make_frames(file, &t, start, out, error);
    }
    brio__free(t.value);
    return status;
}

/* ---- one mesh a frame ------------------------------------------------------------------- */

static BrioStatus read_meshes(const char *const *files, int count, double fps, double start,
                              BrioSequence **out, BrioError *error)
{
    for (int k = 0; k < count; k++) {
        BrioMesh *mesh = NULL;
        BRIO_CHECK(brio_mesh_read(files[k], &mesh, error));
        BrioStatus status = BRIO_OK;
        if (k == 0) {
            status = mesh->tet_count ? brio__mesh_surface(mesh, error) : BRIO_OK;
            if (status == BRIO_OK)
                status = brio_sequence_create(count, mesh->vertex_count, out, error);
            if (status == BRIO_OK) {
                (*out)->triangle_count = mesh->triangle_count;
                (*out)->triangle = mesh->triangle;
                mesh->triangle = NULL;
                mesh->triangle_count = 0;
            }
        } else if (mesh->vertex_count != (*out)->vertex_count) {
            status = brio__error_at(error, BRIO_ERROR_INPUT, files[k], 0, 0, NULL,
                                    "has %lld vertices, and the first frame, %s, %lld: all frames "
                                    "must have the same mesh",
                                    (long long)mesh->vertex_count, files[0],
                                    (long long)(*out)->vertex_count);
        }
        if (status == BRIO_OK) {
            (*out)->time[k] = start + k / fps;
            memcpy((*out)->x + 3 * k * mesh->vertex_count, mesh->x,
                   3 * (size_t)mesh->vertex_count * sizeof *mesh->x);
        }
        brio_mesh_free(mesh);
        BRIO_CHECK(status);
    }
    return BRIO_OK;
}

typedef struct Numbered {
    int64_t number;
    char *name;
} Numbered;

static int compare_numbers(const void *a, const void *b)
{
    const Numbered *p = a, *q = b;
    return (p->number > q->number) - (p->number < q->number);
}

/* The number that a name has instead of the # signs; -1: it is another name. */
static int64_t number_of(const char *name, const char *before, size_t length, const char *after)
{
    int64_t number = 0;
    size_t all = strlen(name), tail = strlen(after);
    if (all <= length + tail || all - length - tail > 9 || strncmp(name, before, length) ||
        strcmp(name + all - tail, after))
        return -1;
    for (size_t i = length; i < all - tail; i++) {
        if (!isdigit((unsigned char)name[i])) return -1;
        number = 10 * number + (name[i] - '0');
    }
    return number;
}

/* The files of a folder that a pattern names. */
static BrioStatus list_files(const char *pattern, Numbered **list, int *count, BrioError *error)
{
    const char *slash = strrchr(pattern, '/'), *base = slash ? slash + 1 : pattern;
    size_t folder = (size_t)(base - pattern), before = strcspn(base, "#*");
    const char *after = base + before + strspn(base + before, "#*");
    char path[4096];
    if (folder + 2 >= sizeof path)
        return brio__error(error, BRIO_ERROR_INPUT, "the name of the sequence is too long");
    snprintf(path, sizeof path, "%.*s", (int)folder, folder ? pattern : "");
    DIR *directory = opendir(folder ? path : ".");
    BrioStatus status = BRIO_OK;
    for (struct dirent *entry; directory && status == BRIO_OK && (entry = readdir(directory));) {
        int64_t number = number_of(entry->d_name, base, before, after);
        if (number < 0) continue;
        Numbered *grown = brio__realloc(*list, (size_t)*count, (size_t)*count + 1, sizeof *grown);
        size_t room = folder + strlen(entry->d_name) + 1;
        char *name = brio__alloc(room, 1);
        if (grown) *list = grown;
        if (name) snprintf(name, room, "%.*s%s", (int)folder, pattern, entry->d_name);
        if (grown && name) (*list)[(*count)++] = (Numbered){number, name};
        if (!grown || !name) {
            brio__free(name);
            status = brio__no_memory(error);
        }
    }
    if (directory) closedir(directory);
    if (status == BRIO_OK && *count == 0)
        return brio__error(
            error, BRIO_ERROR_INPUT,
            "there is no file \"%s\" with digits instead of %c: names are relative to "
            "the scene file",
            pattern, base[before]);
    if (status == BRIO_OK) qsort(*list, (size_t)*count, sizeof **list, compare_numbers);
    return status;
}

static BrioStatus read_pattern(const char *pattern, double fps, double start, BrioSequence **out,
                               BrioError *error)
{
    Numbered *list = NULL;
    int count = 0;
    BrioStatus status = list_files(pattern, &list, &count, error);
    const char **names = status == BRIO_OK ? brio__alloc((size_t)count, sizeof *names) : NULL;
    if (status == BRIO_OK && !names) status = brio__no_memory(error);
    for (int k = 0; names && k < count; k++) names[k] = list[k].name;
    if (status == BRIO_OK) status = read_meshes(names, count, fps, start, out, error);
    for (int k = 0; k < count; k++) brio__free(list[k].name);
    brio__free(names);
    brio__free(list);
    return status;
}

/* ---- all of them ------------------------------------------------------------------------ */

typedef BrioStatus Read(const char *file, const char *bytes, size_t size, double fps, double start,
                        BrioSequence **out, BrioError *error);
static const struct {
    const char *extension;
    Read *read;
} formats[] = {
    {".pc2", read_pc2}, {".mdd", read_mdd}, {".csv", read_csv}, {".glb", brio__sequence_glb}};

static Read *format_of(const char *file)
{
    const char *dot = strrchr(file, '.');
    for (size_t i = 0; dot && i < BRIO_COUNT(formats); i++)
        if (!strcasecmp(dot, formats[i].extension)) return formats[i].read;
    return NULL;
}

/* Frees what an error leaves. */
static BrioStatus finish(BrioStatus status, BrioSequence *read, const char *file,
                         BrioSequence **sequence, BrioError *error)
{
    BrioError inner = {0};
    if (status == BRIO_OK) {
        status = brio__sequence_check(read, &inner);
        if (status != BRIO_OK) brio__error_at(error, status, file, 0, 0, NULL, "%s", inner.message);
    }
    if (status == BRIO_OK)
        *sequence = read;
    else
        brio_sequence_free(read);
    return status;
}

BrioStatus brio__sequence_parse(const char *file, const char *bytes, size_t size, double fps,
                                double start, BrioSequence **sequence, BrioError *error)
{
    BrioSequence *read = NULL;
    Read *format = format_of(file);
    BrioStatus status = format
                            ? format(file, bytes, size, fps, start, &read, error)
                            : brio__error_at(error, BRIO_ERROR_INPUT, file, 0, 0, NULL,
                                             "is no sequence: .pc2, .mdd, .csv and .glb files are");
    return finish(status, read, file, sequence, error);
}

BrioStatus brio_sequence_read(const char *const *files, int count, double fps, double start,
                              BrioSequence **sequence, BrioError *error)
{
    BRIO_NEEDS(files && sequence, error);
    if (error) *error = (BrioError){0};
    if (count < 1) return brio__error(error, BRIO_ERROR_INPUT, "a sequence of no files");
    if (!(fps > 0) || isinf(fps) || !isfinite(start))
        return brio__error(error, BRIO_ERROR_INPUT,
                           "a sequence with fps = %g and start = %g s: fps must be positive, and "
                           "start finite",
                           fps, start);
    if (count == 1 && format_of(files[0])) {
        char *bytes = NULL;
        size_t size = 0;
        BRIO_CHECK(brio__read_file(files[0], &bytes, &size, error));
        BrioStatus status =
            brio__sequence_parse(files[0], bytes, size, fps, start, sequence, error);
        brio__free(bytes);
        return status;
    }
    const char *dot = strrchr(files[0], '.');
    if (dot && !strcasecmp(dot, ".gltf"))
        return brio__error_at(error, BRIO_ERROR_INPUT, files[0], 0, 0, NULL,
                              "is glTF in text: save it as one binary file, .glb");
    BrioSequence *read = NULL;
    const char *slash = strrchr(files[0], '/');
    bool pattern = count == 1 && strpbrk(slash ? slash : files[0], "#*");
    BrioStatus status = pattern ? read_pattern(files[0], fps, start, &read, error)
                                : read_meshes(files, count, fps, start, &read, error);
    return finish(status, read, files[0], sequence, error);
}
