/* Tables of numbers: initial states and springs of a body. */
#include "../mesh/readers.h"
#include "../number.h"
#include "../utf8.h"
#include "scene.h"

#include <ctype.h>
#include <string.h>

typedef struct Line {
    const char *at, *end;
    const char *start;
    int number;
} Line;

static BrioStatus read_row(const char *file, Line *line, int columns, double *row, BrioError *error)
{
    for (int c = 0; c < columns; c++) {
        while (line->at < line->end &&
               (isblank((unsigned char)*line->at) || (c > 0 && *line->at == ',')))
            line->at++;
        int column = (int)(line->at - line->start) + 1;
        if (line->at >= line->end)
            return brio__error_at(error, BRIO_ERROR_INPUT, file, line->number, column, NULL,
                                  "expected %d numbers, found %d", columns, c);
        char *stop;
        row[c] = brio__text_real(line->at, &stop);
        if (stop == line->at || stop > line->end)
            return brio__error_at(error, BRIO_ERROR_INPUT, file, line->number, column, NULL,
                                  "expected a number in column %d of %d", c + 1, columns);
        if (!isfinite(row[c]))
            return brio__error_at(error, BRIO_ERROR_INPUT, file, line->number, column, NULL,
                                  "expected a finite number");
        line->at = stop;
    }
    while (line->at < line->end && (isspace((unsigned char)*line->at) || *line->at == ','))
        line->at++;
    if (line->at < line->end)
        return brio__error_at(error, BRIO_ERROR_INPUT, file, line->number,
                              (int)(line->at - line->start) + 1, NULL,
                              "expected the end of the line after %d numbers", columns);
    return BRIO_OK;
}

/* How many numbers stand in a line. */
static int count_numbers(Line line)
{
    int count = 0;
    for (char *stop;; line.at = stop, count++) {
        while (line.at < line.end && (isspace((unsigned char)*line.at) || *line.at == ','))
            line.at++;
        if (line.at == line.end) return count;
        brio__text_real(line.at, &stop);
        if (stop == line.at || stop > line.end) return count + 1; /* read_row says what it is */
    }
}

/* Names of columns. "nan" and "inf" are numbers, which read_row refuses. */
static bool is_heading(const char *at)
{
    char *stop;
    brio__text_real(at, &stop);
    return isalpha((unsigned char)*at) && (stop == at || isalnum((unsigned char)*stop));
}

/* *columns may be 0: as many as the first row has. */
static BrioStatus read_rows(const char *file, const char *text, size_t size, int *of_row,
                            double **values, int64_t *rows, BrioError *error)
{
    int columns = *of_row;
    int64_t room = 0;
    Line line = {.number = 1};
    bool first = true; /* line that is not empty and no comment: it may name the columns */
    for (const char *at = text + brio__utf8_mark(text, size); at < text + size; line.number++) {
        const char *end = memchr(at, '\n', (size_t)(text + size - at));
        line.start = line.at = at;
        line.end = end ? end : text + size;
        at = line.end + 1;
        while (line.at < line.end && isspace((unsigned char)*line.at)) line.at++;
        if (line.at == line.end || *line.at == '#') continue;
        bool names = first && is_heading(line.at);
        first = false;
        if (names) continue;
        line.at = line.start;
        if (columns == 0) columns = *of_row = BRIO_MAX(1, count_numbers(line));
        if (*rows == room) {
            room = room ? 2 * room : 256;
            double *grown = brio__realloc(*values, (size_t)(*rows * columns),
                                          (size_t)(room * columns), sizeof **values);
            if (!grown)
                return brio__error_at(error, BRIO_ERROR_MEMORY, file, line.number, 0, NULL,
                                      "out of memory");
            *values = grown;
        }
        BRIO_CHECK(read_row(file, &line, columns, *values + *rows * columns, error));
        ++*rows;
    }
    if (*rows == 0)
        return brio__error_at(error, BRIO_ERROR_INPUT, file, 0, 0, NULL,
                              "has no rows of %d numbers", columns);
    return BRIO_OK;
}

static BrioStatus read_table(const char *file, int *columns, double **values, int64_t *rows,
                             BrioError *error)
{
    char *text = NULL;
    size_t size = 0;
    *values = NULL;
    *rows = 0;
    BRIO_CHECK(brio__read_file(file, &text, &size, error));
    BrioStatus status = read_rows(file, text, size, columns, values, rows, error);
    brio__free(text);
    if (status != BRIO_OK) {
        brio__free(*values);
        *values = NULL;
    }
    return status;
}

BrioStatus brio__csv_read(const char *file, int columns, double **values, int64_t *rows,
                          BrioError *error)
{
    return read_table(file, &columns, values, rows, error);
}

BrioStatus brio__csv_grid(const char *file, double **values, int *columns, int64_t *rows,
                          BrioError *error)
{
    *columns = 0;
    return read_table(file, columns, values, rows, error);
}
