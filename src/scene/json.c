/* A strict JSON reader [RFC 8259] that fills the same tree as yaml.c, for builds without libfyaml.
 * It stops at the first character that is not JSON, and says where. One thing more than JSON: a
 * number may be a fraction, {"h": 1/30}, as everywhere in brio. */
#include "parse.h"

#include <string.h>

typedef struct Reader {
    const char *at, *end;
    const char *marked; /* line and column belong to this place; it only moves forward */
    int line, column;
    char *text; /* of the string read last */
    size_t text_space, text_length;
    BrioBuild *build;
} Reader;

/* Columns count characters, not bytes. */
static void mark(Reader *reader, const char *place)
{
    for (; reader->marked < place; reader->marked++) {
        if (*reader->marked == '\n') {
            reader->line++;
            reader->column = 1;
        } else if (((unsigned char)*reader->marked & 0xc0) != 0x80) {
            reader->column++;
        }
    }
}

static void skip_space(Reader *reader)
{
    while (reader->at < reader->end && strchr(" \t\n", *reader->at) && *reader->at) reader->at++;
    mark(reader, reader->at);
}

static BrioStatus expected(Reader *reader, const char *what)
{
    mark(reader, reader->at);
    if (reader->at >= reader->end)
        return brio__build_error(reader->build, reader->line, reader->column,
                                 "expected %s, found the end", what);
    int length = 1; /* bytes of the character */
    while (reader->at + length < reader->end && ((unsigned char)reader->at[length] & 0xc0) == 0x80)
        length++;
    if (*reader->at == '\n')
        return brio__build_error(reader->build, reader->line, reader->column,
                                 "expected %s, found the end of the line", what);
    return brio__build_error(reader->build, reader->line, reader->column, "expected %s, found %.*s",
                             what, length, reader->at);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Four hexadecimal digits at reader->at, or -1. */
static int hex4(Reader *reader)
{
    if (reader->end - reader->at < 4) return -1;
    int value = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(reader->at[i]);
        if (digit < 0) return -1;
        value = 16 * value + digit;
    }
    reader->at += 4;
    return value;
}

static void put_code_point(Reader *reader, unsigned code)
{
    char *out = reader->text + reader->text_length;
    if (code < 0x80) {
        out[0] = (char)code;
        reader->text_length += 1;
    } else if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        reader->text_length += 2;
    } else if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        reader->text_length += 3;
    } else {
        out[0] = (char)(0xf0 | code >> 18);
        out[1] = (char)(0x80 | (code >> 12 & 0x3f));
        out[2] = (char)(0x80 | (code >> 6 & 0x3f));
        out[3] = (char)(0x80 | (code & 0x3f));
        reader->text_length += 4;
    }
}

/* What follows a backslash. */
static BrioStatus escape(Reader *reader)
{
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *start = reader->at - 1;
    char c = reader->at < reader->end ? *reader->at++ : 0;
    const char *known = c ? strchr(names, c) : NULL;
    if (known) {
        put_code_point(reader, (unsigned char)meanings[known - names]);
        return BRIO_OK;
    }
    int code = c == 'u' ? hex4(reader) : -1;
    if (code >= 0xd800 && code < 0xdc00) { /* the first half of a pair */
        int low = -1;
        if (reader->end - reader->at >= 2 && reader->at[0] == '\\' && reader->at[1] == 'u') {
            reader->at += 2;
            low = hex4(reader);
        }
        code =
            low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : -1;
    } else if (code >= 0xdc00 && code < 0xe000) {
        code = -1;
    }
    if (code < 0) {
        mark(reader, start);
        return brio__build_error(reader->build, reader->line, reader->column,
                                 "not a valid escape in double quotes: write \\\\ for a backslash");
    }
    put_code_point(reader, (unsigned)code);
    return BRIO_OK;
}

/* At a quote. The text goes to reader->text: never longer than what stands in the document. */
static BrioStatus string(Reader *reader)
{
    const char *start = reader->at++, *close = reader->at;
    while (close < reader->end && *close != '"' && *close != '\n') close += *close == '\\' ? 2 : 1;
    if (close >= reader->end || *close != '"')
        return brio__build_error(reader->build, reader->line, reader->column,
                                 "the quote is never closed");
    size_t space = (size_t)(close - start) + 1;
    if (space > reader->text_space) {
        brio__free(reader->text);
        reader->text_space = 0;
        reader->text = brio__alloc(2 * space, 1);
        if (!reader->text) return BRIO_ERROR_MEMORY;
        reader->text_space = 2 * space;
    }
    reader->text_length = 0;
    while (reader->at < close) {
        char c = *reader->at++;
        if (c == '\\')
            BRIO_CHECK(escape(reader));
        else
            reader->text[reader->text_length++] = c;
    }
    reader->at = close + 1;
    return BRIO_OK;
}

static const char *digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9') p++;
    return p;
}

/* The end of a JSON number that starts at `p`, or NULL. */
static const char *number_end(const char *p, const char *end)
{
    if (p < end && *p == '-') p++;
    const char *whole = digits(p, end);
    if (whole == p || (*p == '0' && whole > p + 1)) return NULL;
    p = whole;
    if (p < end && *p == '.') {
        const char *tail = digits(p + 1, end);
        if (tail == p + 1) return NULL;
        p = tail;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-')) p++;
        const char *tail = digits(p, end);
        if (tail == p) return NULL;
        p = tail;
    }
    return p;
}

static bool is_number(const char *p, const char *end)
{
    const char *slash = memchr(p, '/', (size_t)(end - p));
    return slash ? number_end(p, slash) == slash && number_end(slash + 1, end) == end
                 : number_end(p, end) == end;
}

/* true, false, null or a number: the whole run of letters, digits and signs has to be one. */
static BrioStatus word(Reader *reader)
{
    static const char *const words[] = {"true", "false", "null"};
    const char *start = reader->at, *p = start;
    while (p < reader->end && !strchr(" \t\n,:[]{}\"", *p)) p++;
    size_t length = (size_t)(p - start);
    bool valid = is_number(start, p);
    for (size_t i = 0; i < BRIO_COUNT(words) && !valid; i++)
        valid = length == strlen(words[i]) && !memcmp(start, words[i], length);
    if (!valid) return expected(reader, "a value (text goes into double quotes)");
    BRIO_CHECK(
        brio__build_scalar(reader->build, start, length, false, reader->line, reader->column));
    reader->at = p;
    return BRIO_OK;
}

static BrioStatus value(Reader *reader);

static BrioStatus member(Reader *reader)
{
    if (reader->at >= reader->end || *reader->at != '"')
        return expected(reader, "a key in double quotes");
    int line = reader->line, column = reader->column;
    BRIO_CHECK(string(reader));
    BRIO_CHECK(brio__build_key(reader->build, reader->text, reader->text_length, line, column));
    skip_space(reader);
    if (reader->at >= reader->end || *reader->at != ':') return expected(reader, "a colon");
    reader->at++;
    return value(reader);
}

/* At an opening bracket. Recursion is as deep as the build allows. */
static BrioStatus container(Reader *reader)
{
    bool is_map = *reader->at == '{';
    char close = is_map ? '}' : ']';
    BRIO_CHECK(brio__build_open(reader->build, is_map ? BRIO_NODE_MAP : BRIO_NODE_LIST,
                                reader->line, reader->column));
    reader->at++;
    skip_space(reader);
    bool first = reader->at < reader->end && *reader->at != close;
    while (first || reader->at >= reader->end || *reader->at != close) {
        if (!first) {
            if (reader->at >= reader->end || *reader->at != ',')
                return expected(reader, is_map ? "a comma or }" : "a comma or ]");
            reader->at++;
            skip_space(reader);
        }
        first = false;
        BRIO_CHECK(is_map ? member(reader) : value(reader));
        skip_space(reader);
    }
    reader->at++;
    return brio__build_close(reader->build);
}

static BrioStatus value(Reader *reader)
{
    skip_space(reader);
    if (reader->at >= reader->end) return expected(reader, "a value");
    if (*reader->at == '{' || *reader->at == '[') return container(reader);
    if (*reader->at != '"') return word(reader);
    int line = reader->line, column = reader->column;
    BRIO_CHECK(string(reader));
    return brio__build_scalar(reader->build, reader->text, reader->text_length, true, line, column);
}

BrioStatus brio__json_parse(BrioBuild *build, const char *text, size_t size)
{
    Reader reader = {
        .at = text, .end = text + size, .marked = text, .line = 1, .column = 1, .build = build};
    skip_space(&reader);
    BrioStatus status = BRIO_OK; /* nothing but space: the build sees that there is no root */
    if (reader.at < reader.end) status = value(&reader);
    if (status == BRIO_OK) {
        skip_space(&reader);
        if (reader.at < reader.end) status = expected(&reader, "the end of the document");
    }
    brio__free(reader.text);
    return status;
}
