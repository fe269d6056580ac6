/* Reading values from a text. Numbers are correctly rounded: up to 19 digits with a small exponent
 * by integer arithmetic (Clinger, "How to read floating point numbers accurately", 1990, and a
 * division of 128 bits), everything else by the C library in its "C" locale. */
#include "scan.h"

#include "../number.h"
#include "../utf8.h"

#include <stdarg.h>
#include <string.h>

void brio__scan_start(BrioScan *scan, const char *file, const char *text, size_t size, char comment,
                      BrioError *error)
{
    *scan = (BrioScan){.file = file,
                       .at = text + brio__utf8_mark(text, size),
                       .end = text + size,
                       .line = 1,
                       .comment = comment,
                       .start = text,
                       .error = error};
    scan->line_start = scan->token = scan->at;
}

BrioStatus brio__scan_error(const BrioScan *scan, const char *format, ...)
{
    char message[sizeof scan->error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (scan->binary)
        return brio__error_at(scan->error, BRIO_ERROR_INPUT, scan->file, 0, 0, NULL,
                              "at byte %lld: %s", (long long)(scan->token - scan->start), message);
    return brio__error_at(scan->error, BRIO_ERROR_INPUT, scan->file, scan->line,
                          (int)BRIO_MIN(scan->token - scan->line_start + 1, INT32_MAX), NULL, "%s",
                          message);
}

BrioStatus brio__scan_ascii(BrioScan *scan)
{
    const char *nul =
        scan->at < scan->end ? memchr(scan->at, 0, (size_t)(scan->end - scan->at)) : NULL;
    if (!nul) return BRIO_OK;
    for (const char *c = scan->at; c < nul; c++)
        if (*c == '\n') {
            scan->line++;
            scan->line_start = c + 1;
        }
    scan->token = nul;
    return brio__scan_error(
        scan, "found a byte 0: this is binary data or UTF-16, and brio reads meshes as plain ASCII "
              "or UTF-8 text; save the mesh as ASCII");
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool ends_value(const BrioScan *scan, const char *at)
{
    return at >= scan->end || is_blank(*at) || *at == '\n' ||
           (scan->comment && *at == scan->comment);
}

static void pass_newline(BrioScan *scan)
{
    scan->at++;
    scan->line++;
    scan->line_start = scan->at;
}

/* A backslash at the very end of a line joins it with the next one (OBJ). */
static bool joins_lines(const BrioScan *scan)
{
    const char *c = scan->at;
    if (!scan->joins || c >= scan->end || *c != '\\') return false;
    do c++;
    while (c < scan->end && *c == '\r');
    return c < scan->end && *c == '\n';
}

bool brio__scan_more(BrioScan *scan)
{
    while (scan->at < scan->end) {
        char c = *scan->at;
        if (is_blank(c)) {
            scan->at++;
        } else if (c == '\n') {
            if (scan->by_line) break;
            pass_newline(scan);
        } else if (scan->comment && c == scan->comment) {
            const char *newline = memchr(scan->at, '\n', (size_t)(scan->end - scan->at));
            scan->at = newline ? newline : scan->end;
        } else if (scan->by_line && joins_lines(scan)) {
            while (*scan->at != '\n') scan->at++;
            pass_newline(scan);
        } else {
            scan->token = scan->at;
            return true;
        }
    }
    scan->token = scan->at;
    return false;
}

void brio__scan_skip_value(BrioScan *scan)
{
    while (!ends_value(scan, scan->at)) scan->at++;
}

void brio__scan_skip_line(BrioScan *scan)
{
    bool comment = false; /* which no backslash goes on with */
    while (scan->at < scan->end && *scan->at != '\n') {
        comment |= scan->comment && *scan->at == scan->comment;
        if (!comment && scan->by_line && joins_lines(scan)) {
            while (*scan->at != '\n') scan->at++;
            pass_newline(scan);
        } else {
            scan->at++;
        }
    }
    if (scan->at < scan->end) pass_newline(scan);
    scan->token = scan->at;
}

bool brio__scan_next_line(BrioScan *scan)
{
    while (!brio__scan_more(scan)) {
        if (scan->at >= scan->end) return false;
        pass_newline(scan);
    }
    return true;
}

void brio__scan_found(const BrioScan *scan, char *text, size_t size)
{
    enum { MAX = 32 };
    const char *at = scan->token;
    if (at >= scan->end) {
        snprintf(text, size, "the end of the file");
    } else if (*at == '\n' || (scan->comment && *at == scan->comment)) {
        snprintf(text, size, "the end of the line");
    } else if ((unsigned char)*at < 0x20 || (unsigned char)*at > 0x7e) {
        snprintf(text, size, "the byte 0x%02x", (unsigned)(unsigned char)*at);
    } else {
        char word[MAX + 1];
        int length = 0;
        for (; length < MAX && !ends_value(scan, at); at++, length++)
            word[length] = (unsigned char)*at < 0x20 || (unsigned char)*at > 0x7e ? '?' : *at;
        word[length] = 0;
        snprintf(text, size, "\"%s%s\"", word, ends_value(scan, at) ? "" : "...");
    }
}

/* An error at `token`, which is not what was expected. */
static BrioStatus unexpected(const BrioScan *scan, const char *what, int64_t number)
{
    char found[64];
    brio__scan_found(scan, found, sizeof found);
    if (number > 0)
        return brio__scan_error(scan, "expected %s no. %lld, found %s", what, (long long)number,
                                found);
    return brio__scan_error(scan, "expected %s, found %s", what, found);
}

BrioStatus brio__scan_expected(BrioScan *scan, const char *what, int64_t number)
{
    brio__scan_more(scan);
    return unexpected(scan, what, number);
}

BrioStatus brio__scan_word(BrioScan *scan, const char *what, char *word, size_t size)
{
    if (!brio__scan_more(scan)) return unexpected(scan, what, 0);
    size_t length = 0;
    for (; !ends_value(scan, scan->at); scan->at++)
        if (length + 1 < size) word[length++] = *scan->at;
    word[length] = 0;
    return BRIO_OK;
}

BrioStatus brio__scan_expect(BrioScan *scan, const char *expected, bool any_case)
{
    char word[64], what[80];
    snprintf(what, sizeof what, "\"%s\"", expected);
    brio__scan_more(scan);
    const char *start = scan->at;
    BRIO_CHECK(brio__scan_word(scan, what, word, sizeof word));
    if (!(any_case ? strcasecmp : strcmp)(word, expected)) return BRIO_OK;
    scan->at = start;
    return unexpected(scan, what, 0);
}

BrioStatus brio__scan_integer(BrioScan *scan, const char *what, int64_t number, int64_t *value)
{
    if (!brio__scan_more(scan)) return unexpected(scan, what, number);
    const char *at = scan->at;
    bool negative = *at == '-';
    if (*at == '-' || *at == '+') at++;
    const char *digits = at;
    int64_t sum = 0;
    bool overflow = false;
    for (; at < scan->end && is_digit(*at); at++)
        overflow |=
            __builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, *at - '0', &sum);
    bool ended = ends_value(scan, at) || (scan->stop && *at == scan->stop);
    if (at == digits || !ended) return unexpected(scan, what, number);
    if (overflow) {
        char found[64];
        brio__scan_found(scan, found, sizeof found);
        return brio__scan_error(scan, "the integer %s is too large", found);
    }
    scan->at = at;
    *value = negative ? -sum : sum;
    return BRIO_OK;
}

static const double exact_power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* digits / 10^power, correctly rounded, for 0 < power <= 19 and digits > 0: a quotient of at least
 * 64 bits whose last bit says whether anything is left, so that the conversion to double rounds as
 * it would the exact value. */
static double divide_by_power(uint64_t digits, int power)
{
    uint64_t divisor = 1;
    for (int i = 0; i < power; i++) divisor *= 10;
    int up = __builtin_clzll(digits), down = __builtin_clzll(divisor);
    divisor <<= down;
    unsigned __int128 dividend = (unsigned __int128)(digits << up) << 64;
    unsigned __int128 quotient = dividend / divisor;
    bool rest = dividend % divisor != 0;
    int shift = 0;
    if (quotient >> 64) {
        rest |= quotient & 1;
        quotient >>= 1;
        shift = 1;
    }
    return ldexp((double)((uint64_t)quotient | rest), shift - 64 - up + down);
}

enum { LONGEST_NUMBER = 1000 };

/* Of a number's text that is known to be well formed. NAN: the C locale cannot be had (no
 * memory). */
static double library_real(const char *text, size_t length)
{
    char copy[LONGEST_NUMBER + 1];
    memcpy(copy, text, length);
    copy[length] = 0;
    return brio__text_real(copy, NULL);
}

static bool names_infinity_or_nan(const char *at, const char *end)
{
    if (at < end && (*at == '-' || *at == '+')) at++;
    return end - at >= 3 && (!strncasecmp(at, "nan", 3) || !strncasecmp(at, "inf", 3));
}

/* A decimal as it is written: digits * 10^exponent. */
typedef struct Decimal {
    bool negative;
    uint64_t digits; /* the first 19 significant ones */
    int significant; /* 20: more than fit */
    int64_t exponent;
    const char *end; /* NULL: no number */
} Decimal;

static Decimal read_decimal(const char *at, const char *end)
{
    Decimal d = {.negative = *at == '-'};
    bool any = false;
    int64_t written = 0;
    if (*at == '-' || *at == '+') at++;
    for (bool fraction = false; at < end; at++) {
        if (*at == '.' && !fraction) {
            fraction = true;
        } else if (is_digit(*at)) {
            any = true;
            if (d.significant < 20) d.significant += d.significant > 0 || *at != '0';
            if (d.significant < 20) d.digits = 10 * d.digits + (uint64_t)(*at - '0');
            d.exponent -= fraction;
        } else {
            break;
        }
    }
    if (any && at < end && (*at == 'e' || *at == 'E')) {
        at++;
        bool minus = at < end && *at == '-';
        if (at < end && (*at == '-' || *at == '+')) at++;
        const char *first = at;
        for (; at < end && is_digit(*at); at++)
            if (written < 100000) written = 10 * written + (*at - '0');
        if (at == first) any = false;
        d.exponent += minus ? -written : written;
    }
    d.end = any ? at : NULL;
    return d;
}

/* The nearest double to the size of a decimal: by one operation on exact numbers where there is
 * one, otherwise by the C library. */
static BrioStatus decimal_value(BrioScan *scan, const Decimal *d, double *value)
{
    bool fits = d->significant < 20;
    if (d->significant == 0) {
        *value = 0;
    } else if (fits && d->digits <= (uint64_t)1 << 53 && d->exponent >= -22 && d->exponent <= 22) {
        *value = d->exponent < 0 ? (double)d->digits / exact_power[-d->exponent]
                                 : (double)d->digits * exact_power[d->exponent];
    } else if (fits && d->exponent < 0 && d->exponent >= -19) {
        *value = divide_by_power(d->digits, (int)-d->exponent);
    } else {
        if (d->end - scan->at > LONGEST_NUMBER)
            return brio__scan_error(scan, "a number of more than %d characters", LONGEST_NUMBER);
        *value = fabs(library_real(scan->at, (size_t)(d->end - scan->at)));
        if (isnan(*value))
            return brio__error_at(scan->error, BRIO_ERROR_MEMORY, scan->file, scan->line, 0, NULL,
                                  "out of memory");
        if (isinf(*value)) {
            char found[64];
            brio__scan_found(scan, found, sizeof found);
            return brio__scan_error(scan, "the number %s is too large", found);
        }
    }
    return BRIO_OK;
}

BrioStatus brio__scan_real(BrioScan *scan, const char *what, int64_t number, double *value)
{
    if (!brio__scan_more(scan)) return unexpected(scan, what, number);
    Decimal d = read_decimal(scan->at, scan->end);
    double size = 0;
    if (!d.end || !ends_value(scan, d.end)) {
        if (!names_infinity_or_nan(scan->at, scan->end)) return unexpected(scan, what, number);
        char found[64];
        brio__scan_found(scan, found, sizeof found);
        return brio__scan_error(scan, "%s no. %lld is %s: it must be finite", what,
                                (long long)number, found);
    }
    BRIO_CHECK(decimal_value(scan, &d, &size));
    scan->at = d.end;
    *value = d.negative ? -size : size;
    return BRIO_OK;
}

BrioStatus brio__scan_point(BrioScan *scan, const char *what, int64_t number, double point[3])
{
    for (int k = 0; k < 3; k++) BRIO_CHECK(brio__scan_real(scan, what, number, point + k));
    return BRIO_OK;
}

static BrioStatus check_count(const BrioScan *scan, const char *what, int64_t bytes,
                              const int64_t *count)
{
    if (*count < 0)
        return brio__scan_error(scan, "%s is %lld; it cannot be negative", what, (long long)*count);
    int64_t left = scan->end - scan->at;
    if (*count > (left + 1) / bytes)
        return brio__scan_error(
            scan,
            "%s is %lld, but only %lld bytes of the file are left, too few for so many: the "
            "file is cut off, or the number is wrong",
            what, (long long)*count, (long long)left);
    return BRIO_OK;
}

BrioStatus brio__scan_count(BrioScan *scan, const char *what, int64_t bytes, int64_t *count)
{
    BRIO_CHECK(brio__scan_integer(scan, what, 0, count));
    return check_count(scan, what, bytes, count);
}

/* ---- bytes ------------------------------------------------------------------------------ */

static uint64_t load(const char *bytes, int size, bool big_endian)
{
    uint64_t value = 0;
    for (int i = 0; i < size; i++)
        value |= (uint64_t)(unsigned char)bytes[i] << 8 * (big_endian ? size - 1 - i : i);
    return value;
}

double brio__number_as_real(const char *bytes, BrioNumberType type, bool big_endian)
{
    uint64_t bits = load(bytes, brio__number_size(type), big_endian);
    uint32_t low = (uint32_t)bits;
    float single;
    double value;
    if (type == BRIO_FLOAT32) return memcpy(&single, &low, sizeof single), (double)single;
    if (type == BRIO_FLOAT64) return memcpy(&value, &bits, sizeof value), value;
    if (type == BRIO_UINT64) return (double)bits;
    return (double)brio__number_as_integer(bytes, type, big_endian);
}

int64_t brio__number_as_integer(const char *bytes, BrioNumberType type, bool big_endian)
{
    if (brio__number_real(type)) {
        double value = brio__number_as_real(bytes, type, big_endian);
        return isnan(value)      ? 0
               : value >= 0x1p63 ? INT64_MAX
               : value < -0x1p63 ? INT64_MIN
                                 : (int64_t)value;
    }
    uint64_t bits = load(bytes, brio__number_size(type), big_endian);
    switch (type) {
    case BRIO_INT8: return (int8_t)bits;
    case BRIO_INT16: return (int16_t)bits;
    case BRIO_INT32: return (int32_t)bits;
    default: return bits > INT64_MAX && type == BRIO_UINT64 ? INT64_MAX : (int64_t)bits;
    }
}

/* The bytes of the next number. */
static BrioStatus take(BrioScan *scan, BrioNumberType type, const char *what, int64_t number,
                       const char **bytes)
{
    scan->token = scan->at;
    if (scan->end - scan->at < brio__number_size(type)) {
        scan->token = scan->end;
        return unexpected(scan, what, number);
    }
    *bytes = scan->at;
    scan->at += brio__number_size(type);
    return BRIO_OK;
}

BrioStatus brio__value_integer(BrioScan *scan, BrioNumberType type, const char *what,
                               int64_t number, int64_t *value)
{
    const char *bytes = NULL;
    if (!scan->binary) return brio__scan_integer(scan, what, number, value);
    BRIO_CHECK(take(scan, type, what, number, &bytes));
    *value = brio__number_as_integer(bytes, type, scan->big_endian);
    return BRIO_OK;
}

BrioStatus brio__value_real(BrioScan *scan, BrioNumberType type, const char *what, int64_t number,
                            double *value)
{
    const char *bytes = NULL;
    if (!scan->binary) return brio__scan_real(scan, what, number, value);
    BRIO_CHECK(take(scan, type, what, number, &bytes));
    *value = brio__number_as_real(bytes, type, scan->big_endian);
    if (!isfinite(*value))
        return brio__scan_error(scan, "%s no. %lld is %g: it must be finite", what,
                                (long long)number, *value);
    return BRIO_OK;
}

BrioStatus brio__value_point(BrioScan *scan, BrioNumberType type, const char *what, int64_t number,
                             double point[3])
{
    for (int k = 0; k < 3; k++) BRIO_CHECK(brio__value_real(scan, type, what, number, point + k));
    return BRIO_OK;
}

BrioStatus brio__value_count(BrioScan *scan, BrioNumberType type, const char *what, int64_t bytes,
                             int64_t *count)
{
    BRIO_CHECK(brio__value_integer(scan, type, what, 0, count));
    return check_count(scan, what, bytes, count);
}
