/* NumPy arrays, one file per frame: a row for each vertex of each body, body after body, of the
 * numbers x, y, z, vx, vy, vz. They are the doubles of the simulation, so that a program that shows
 * frames while they are computed loses nothing of them.
 *
 *     "\x93NUMPY", version 1.0, length of the head (16 bits), the head: a Python dictionary as
 * text, filled up with blanks so that the numbers begin at a multiple of 64; then the numbers */
#include "film.h"

#include <string.h>

enum { ALIGNMENT = 64, COLUMNS = 6 };

static void put_row(const double row[COLUMNS], FILE *file)
{
    unsigned char bytes[8 * COLUMNS];
    for (int i = 0; i < COLUMNS; i++) {
        uint64_t number;
        memcpy(&number, &row[i], sizeof number);
        for (int k = 0; k < 8; k++) bytes[8 * i + k] = (unsigned char)(number >> (8 * k));
    }
    fwrite(bytes, 1, sizeof bytes, file);
}

static void put_head(int64_t rows, FILE *file)
{
    char text[128];
    int length = snprintf(text, sizeof text,
                          "{'descr': '<f8', 'fortran_order': False, 'shape': (%lld, %d), }",
                          (long long)rows, COLUMNS);
    int fill = ALIGNMENT - (10 + length + 1) % ALIGNMENT, all = length + fill + 1;
    fwrite("\x93NUMPY\1\0", 1, 8, file);
    fputc(all & 0xff, file);
    fputc(all >> 8, file);
    fprintf(file, "%s%*s\n", text, fill, "");
}

static void write(const BrioFrame *frame, FILE *file)
{
    const BrioMotionFile *m = frame->motion;
    const double *x = frame->seen, *v = frame->seen_v;
    int64_t rows = 0;
    for (int i = 0; i < m->part_count; i++)
        if (brio__frame_shows(frame, i)) rows += m->part[i].vertex_count;
    put_head(rows, file);
    for (int i = 0; i < m->part_count; i++) {
        int64_t count = m->part[i].vertex_count;
        for (int64_t k = 0; brio__frame_shows(frame, i) && k < count; k++) {
            double row[COLUMNS] = {x[3 * k], x[3 * k + 1], x[3 * k + 2]};
            if (v) memcpy(row + 3, v + 3 * k, 3 * sizeof *row);
            put_row(row, file);
        }
        if (frame->only < 0) x += 3 * count;
        if (frame->only < 0 && v) v += 3 * count;
    }
}

BRIO_FRAMES(npy){
    .name = "npy",
    .extension = "npy",
    .summary = "NumPy arrays, one per frame: x, y, z, vx, vy, vz of the vertices of all bodies.",
    .write = write,
};
