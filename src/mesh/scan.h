/* A text, or binary data, read value by value, with the line and column (or the byte) of each, for
 * the mesh readers.
 *
 * Values are separated by blanks, and by line ends unless `by_line` is set. `what` and `number`
 * name the value in messages: "expected a coordinate of vertex no. 12, found "abc"" (number 0: left
 * out). The text need not end with a NUL; the decimal point is a point in every locale. */
#ifndef BRIO_SCAN_H
#define BRIO_SCAN_H

#include "../base.h"

/* How a number stands in binary data. */
typedef enum BrioNumberType {
    BRIO_INT8,
    BRIO_UINT8,
    BRIO_INT16,
    BRIO_UINT16,
    BRIO_INT32,
    BRIO_UINT32,
    BRIO_INT64,
    BRIO_UINT64,
    BRIO_FLOAT32,
    BRIO_FLOAT64,
    BRIO_NUMBER_TYPES
} BrioNumberType;
static inline int brio__number_size(BrioNumberType type)
{
    static const uint8_t size[BRIO_NUMBER_TYPES] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    return size[type];
}
static inline bool brio__number_real(BrioNumberType type)
{
    return type == BRIO_FLOAT32 || type == BRIO_FLOAT64;
}
/* The number at these bytes, which need not be aligned. */
double brio__number_as_real(const char *bytes, BrioNumberType type, bool big_endian);
/* beyond the range: INT64_MAX or INT64_MIN, of NAN 0 */
int64_t brio__number_as_integer(const char *bytes, BrioNumberType type, bool big_endian);

typedef struct BrioScan {
    const char *file;
    const char *at, *end;   /* the next byte, and one past the last */
    const char *line_start; /* of the line of `token` */
    const char *token;      /* the value read last: where errors point to */
    int line;               /* from 1 */
    bool by_line;           /* do not look for a value beyond the end of the line */
    bool joins;             /* with by_line: a backslash at its very end joins the next line */
    char comment;           /* from here to the end of the line is comment; 0: none */
    char stop;              /* also ends an integer ('/' in OBJ); 0: none */
    const char *start;      /* of the text */
    /* numbers are bytes (brio__value_...), and errors tell the byte instead of the line */
    bool binary;
    bool big_endian;      /* of those bytes */
    BrioNumberType index; /* the type of vertices' numbers among them */
    BrioError *error;
} BrioScan;

void brio__scan_start(BrioScan *scan, const char *file, const char *text, size_t size, char comment,
                      BrioError *error);
/* Refuses a text that holds NUL bytes: it is binary, or UTF-16. */
BrioStatus brio__scan_ascii(BrioScan *scan);

/* An error at `token`. */
BrioStatus brio__scan_error(const BrioScan *scan, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "expected WHAT no. NUMBER, found ..." at the next value. */
BrioStatus brio__scan_expected(BrioScan *scan, const char *what, int64_t number);
/* The same text for messages of one's own: `the end of the file`, `"abc"`; never unprintable
 * bytes. */
void brio__scan_found(const BrioScan *scan, char *text, size_t size);

/* goes to the next value; false: there is none (on this line) */
bool brio__scan_more(BrioScan *scan);
void brio__scan_skip_value(BrioScan *scan);
void brio__scan_skip_line(BrioScan *scan); /* to the start of the next line */
/* Goes to the next line that holds a value; false: the file ends. For by_line. */
bool brio__scan_next_line(BrioScan *scan);

/* The next value as a word; longer ones are cut (and then match nothing). */
BrioStatus brio__scan_word(BrioScan *scan, const char *what, char *word, size_t size);
/* That word and no other; `any_case`: however it is written. */
BrioStatus brio__scan_expect(BrioScan *scan, const char *expected, bool any_case);
BrioStatus brio__scan_integer(BrioScan *scan, const char *what, int64_t number, int64_t *value);
/* finite */
BrioStatus brio__scan_real(BrioScan *scan, const char *what, int64_t number, double *value);
BrioStatus brio__scan_point(BrioScan *scan, const char *what, int64_t number, double point[3]);
/* A count of things that take at least `bytes` each in the rest of the text: more than fit are
 * refused. */
BrioStatus brio__scan_count(BrioScan *scan, const char *what, int64_t bytes, int64_t *count);

/* ---- numbers that are text or, where scan->binary, bytes of the given type -------------- */

BrioStatus brio__value_integer(BrioScan *scan, BrioNumberType type, const char *what,
                               int64_t number, int64_t *value);
/* finite */
BrioStatus brio__value_real(BrioScan *scan, BrioNumberType type, const char *what, int64_t number,
                            double *value);
BrioStatus brio__value_point(BrioScan *scan, BrioNumberType type, const char *what, int64_t number,
                             double point[3]);
/* as brio__scan_count */
BrioStatus brio__value_count(BrioScan *scan, BrioNumberType type, const char *what, int64_t bytes,
                             int64_t *count);

#endif
