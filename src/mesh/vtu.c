/* VTK XML unstructured grids (VTK User's Guide, file formats): arrays as text, as base64 within
 * their element, or appended at the end of the file, raw or as base64; compressed ones by zlib. Of
 * every Piece the points, connectivity, offsets and types are read; all that is said about points
 * and cells is passed over. The XML is read as far as such files use it: elements, attributes,
 * comments. */
#include "../base64.h"
#include "readers.h"
#include "writers.h"

#include <string.h>

#ifdef BRIO_HAVE_ZLIB
#include <zlib.h>
#endif

/* ---- elements --------------------------------------------------------------------------- */

typedef struct Tag {
    const char *name, *name_end;
    const char *attributes, *end; /* end: one past '>' */
    bool closing, empty;          /* </name>, <name/> */
} Tag;

typedef enum ArrayKind {
    ARRAY_POINTS,
    ARRAY_CONNECTIVITY,
    ARRAY_OFFSETS,
    ARRAY_TYPES,
    ARRAYS
} ArrayKind;
static const char *const array_name[ARRAYS] = {"Points", "connectivity", "offsets", "types"};

typedef enum Layout { LAYOUT_TEXT, LAYOUT_BASE64, LAYOUT_APPENDED } Layout;

/* Where an array stands. */
typedef struct Array {
    const char *at; /* NULL: not there; in the file, for messages too */
    BrioNumberType type;
    Layout layout;
    int64_t offset; /* of an appended one */
} Array;

typedef struct Piece {
    const char *at;
    int64_t points, cells;
    Array array[ARRAYS];
} Piece;

typedef struct Reader {
    BrioScan scan;
    BrioDraft draft;
    BrioNumberType header;
    bool compressed, raw;
    const char *appended; /* one past the '_'; NULL: there is none */
    Piece *piece;
    int64_t piece_count, piece_room;
} Reader;

/* An array's numbers. */
typedef struct Numbers {
    char *bytes; /* NULL with text */
    size_t size;
    int64_t count;
} Numbers;

/* Errors point to `at`. Lines are counted from the place before: a file may have thousands of
 * pieces. */
static BrioScan *place(Reader *r, const char *at)
{
    BrioScan *scan = &r->scan;
    const char *c = scan->token;
    bool back = false;
    for (; c < at; c++)
        if (*c == '\n') scan->line++, scan->line_start = c + 1;
    for (; c > at; c--)
        if (c[-1] == '\n') scan->line--, back = true;
    if (back)
        for (scan->line_start = at; scan->line_start > scan->start && scan->line_start[-1] != '\n';)
            scan->line_start--;
    scan->token = at;
    scan->binary = r->raw && r->appended && at >= r->appended;
    return scan;
}

static BrioStatus no_memory(const Reader *r)
{
    return brio__error_at(r->scan.error, BRIO_ERROR_MEMORY, r->scan.file, 0, 0, NULL,
                          "out of memory while reading the mesh");
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static const char *find_text(const char *at, const char *end, const char *text)
{
    size_t length = strlen(text);
    for (; (size_t)(end - at) >= length; at++) {
        const char *next = memchr(at, text[0], (size_t)(end - at) - length + 1);
        if (!next) return NULL;
        at = next;
        if (!memcmp(at, text, length)) return at;
    }
    return NULL;
}

/* The next element, past comments and declarations; `tag->name` is NULL at the end of the file. */
static BrioStatus next_tag(Reader *r, const char *at, Tag *tag)
{
    const char *end = r->scan.end;
    *tag = (Tag){0};
    for (;;) {
        at = at < end ? memchr(at, '<', (size_t)(end - at)) : NULL;
        if (!at) return BRIO_OK;
        bool comment = end - at >= 4 && !memcmp(at, "<!--", 4);
        if (!comment && !(end - at >= 2 && (at[1] == '?' || at[1] == '!'))) break;
        const char *close = find_text(at, end, comment ? "-->" : ">");
        if (!close)
            return brio__scan_error(place(r, at), "this \"<%c\" has no end: the file is cut off",
                                    at[1]);
        at = close + 1;
    }
    const char *c = at + 1;
    tag->closing = c < end && *c == '/';
    c += tag->closing;
    tag->name = c;
    while (c < end && !is_space(*c) && *c != '>' && *c != '/') c++;
    tag->name_end = tag->attributes = c;
    for (char quote = 0; c < end; c++) {
        if (quote ? *c == quote : *c == '"' || *c == '\'')
            quote = quote ? 0 : *c;
        else if (!quote && *c == '>')
            break;
    }
    if (c >= end)
        return brio__scan_error(place(r, at), "this element has no \">\": the file is cut off");
    tag->end = c + 1;
    tag->empty = c > tag->attributes && c[-1] == '/';
    return BRIO_OK;
}

static bool is_named(const Tag *tag, const char *name)
{
    return (size_t)(tag->name_end - tag->name) == strlen(name) &&
           !memcmp(tag->name, name, strlen(name));
}

/* The value of an attribute; false: there is none, or it is too long. */
static bool attribute(const Tag *tag, const char *name, char *value, size_t size)
{
    size_t length = strlen(name);
    for (const char *c = tag->attributes; c < tag->end;) {
        while (c < tag->end && is_space(*c)) c++;
        const char *start = c;
        while (c < tag->end && *c != '=' && !is_space(*c)) c++;
        bool same = (size_t)(c - start) == length && !memcmp(start, name, length);
        while (c < tag->end && *c != '"' && *c != '\'' && *c != '>') c++;
        if (c >= tag->end || *c == '>') return false;
        const char *text = c + 1, *close = memchr(text, *c, (size_t)(tag->end - text));
        if (!close) return false;
        if (same) {
            if ((size_t)(close - text) >= size) return false;
            memcpy(value, text, (size_t)(close - text));
            value[close - text] = 0;
            return true;
        }
        c = close + 1;
    }
    return false;
}

static BrioStatus count_attribute(Reader *r, const Tag *tag, const char *name, int64_t *count)
{
    char text[32];
    int64_t value = 0;
    bool digits = attribute(tag, name, text, sizeof text) && text[0];
    for (const char *c = text; digits && *c; c++) {
        digits = *c >= '0' && *c <= '9' && value < INT64_MAX / 10 - 1;
        if (digits) value = 10 * value + (*c - '0');
    }
    if (!digits)
        return brio__scan_error(place(r, tag->name),
                                "expected %s=\"...\", an integer, in this element", name);
    *count = value;
    return BRIO_OK;
}

/* ---- the file's structure --------------------------------------------------------------- */

static BrioStatus read_root(Reader *r, const Tag *tag)
{
    char text[64];
    if (!attribute(tag, "type", text, sizeof text) || strcmp(text, "UnstructuredGrid"))
        return brio__scan_error(place(r, tag->name),
                                "this is no VTKFile of type=\"UnstructuredGrid\"; save the mesh as "
                                "an unstructured grid (.vtu)");
    r->scan.big_endian =
        attribute(tag, "byte_order", text, sizeof text) && !strcmp(text, "BigEndian");
    r->header = attribute(tag, "header_type", text, sizeof text) && !strcmp(text, "UInt64")
                    ? BRIO_UINT64
                    : BRIO_UINT32;
    r->compressed = attribute(tag, "compressor", text, sizeof text) && text[0];
    if (!r->compressed) return BRIO_OK;
#ifdef BRIO_HAVE_ZLIB
    if (!strcmp(text, "vtkZLibDataCompressor")) return BRIO_OK;
    return brio__scan_error(place(r, tag->name),
                            "the arrays are not compressed by zlib; brio reads "
                            "vtkZLibDataCompressor or no compression: save the mesh that way");
#else
    return brio__scan_error(place(r, tag->name),
                            "the arrays are compressed, and this brio was built without zlib; save "
                            "the mesh without compression");
#endif
}

static BrioStatus read_array(Reader *r, const Tag *tag, Array *array)
{
    static const struct {
        const char *name;
        BrioNumberType type;
    } types[] = {{"Int8", BRIO_INT8},      {"UInt8", BRIO_UINT8},   {"Int16", BRIO_INT16},
                 {"UInt16", BRIO_UINT16},  {"Int32", BRIO_INT32},   {"UInt32", BRIO_UINT32},
                 {"Int64", BRIO_INT64},    {"UInt64", BRIO_UINT64}, {"Float32", BRIO_FLOAT32},
                 {"Float64", BRIO_FLOAT64}};
    char text[32];
    bool known = false;
    if (attribute(tag, "type", text, sizeof text))
        for (size_t i = 0; i < BRIO_COUNT(types); i++)
            if (!strcmp(text, types[i].name)) array->type = types[i].type, known = true;
    if (!known)
        return brio__scan_error(
            place(r, tag->name),
            "expected type=\"Float64\", \"Int32\" or the like in this DataArray");
    array->at = tag->end;
    array->layout = LAYOUT_TEXT;
    if (!attribute(tag, "format", text, sizeof text) || !strcmp(text, "ascii")) return BRIO_OK;
    array->layout = LAYOUT_BASE64;
    if (!strcmp(text, "binary")) return BRIO_OK;
    array->layout = LAYOUT_APPENDED;
    if (!strcmp(text, "appended")) return count_attribute(r, tag, "offset", &array->offset);
    return brio__scan_error(place(r, tag->name),
                            "the format of this DataArray is not ascii, binary or appended");
}

static BrioStatus add_piece(Reader *r, const Tag *tag)
{
    if (r->piece_count == r->piece_room) {
        int64_t room = BRIO_MAX((int64_t)4, 2 * r->piece_room);
        Piece *grown = brio__realloc(r->piece, (size_t)r->piece_count, (size_t)room, sizeof *grown);
        if (!grown) return no_memory(r);
        r->piece = grown;
        r->piece_room = room;
    }
    Piece *piece = &r->piece[r->piece_count++];
    *piece = (Piece){.at = tag->name};
    BRIO_CHECK(count_attribute(r, tag, "NumberOfPoints", &piece->points));
    return count_attribute(r, tag, "NumberOfCells", &piece->cells);
}

static BrioStatus read_appended(Reader *r, const Tag *tag)
{
    char text[16] = "";
    r->raw = attribute(tag, "encoding", text, sizeof text) && !strcmp(text, "raw");
    if (!r->raw && strcmp(text, "base64"))
        return brio__scan_error(place(r, tag->name),
                                "expected encoding=\"raw\" or \"base64\" in AppendedData");
    const char *c = tag->end;
    while (c < r->scan.end && is_space(*c)) c++;
    if (c >= r->scan.end || *c != '_')
        return brio__scan_error(place(r, c), "expected \"_\" before the appended data");
    r->appended = c + 1;
    return BRIO_OK;
}

/* All elements up to the appended data. */
static BrioStatus read_structure(Reader *r)
{
    Tag tag;
    bool root = false;
    enum { ELSEWHERE, IN_POINTS, IN_CELLS } where = ELSEWHERE;
    for (const char *at = r->scan.at; !r->appended; at = tag.end) {
        BRIO_CHECK(next_tag(r, at, &tag));
        if (!tag.name) break;
        if (!root) {
            if (!is_named(&tag, "VTKFile"))
                return brio__scan_error(place(r, tag.name),
                                        "expected \"<VTKFile\": this is no file of VTK");
            BRIO_CHECK(read_root(r, &tag));
            root = true;
        } else if (is_named(&tag, "Piece") && !tag.closing) {
            BRIO_CHECK(add_piece(r, &tag));
        } else if (is_named(&tag, "Points") || is_named(&tag, "Cells")) {
            where = tag.closing || tag.empty   ? ELSEWHERE
                    : is_named(&tag, "Points") ? IN_POINTS
                                               : IN_CELLS;
        } else if (is_named(&tag, "DataArray") && !tag.closing && where != ELSEWHERE) {
            char name[32] = "";
            if (!r->piece_count)
                return brio__scan_error(place(r, tag.name),
                                        "this array stands outside of any Piece");
            Piece *piece = &r->piece[r->piece_count - 1];
            attribute(&tag, "Name", name, sizeof name);
            for (int p = 0; p < ARRAYS; p++)
                if (where == IN_POINTS ? p == ARRAY_POINTS
                                       : p != ARRAY_POINTS && !strcmp(name, array_name[p]))
                    BRIO_CHECK(read_array(r, &tag, &piece->array[p]));
        } else if (is_named(&tag, "AppendedData") && !tag.closing) {
            BRIO_CHECK(read_appended(r, &tag));
        }
    }
    if (!root)
        return brio__scan_error(place(r, r->scan.at),
                                "expected \"<VTKFile\", found none: this is no file of VTK");
    if (!r->piece_count)
        return brio__scan_error(place(r, r->scan.at), "the file has no Piece, and so no points");
    return BRIO_OK;
}

/* ---- arrays ----------------------------------------------------------------------------- */

/* A stretch of the file that holds encoded bytes, read from its start on. */
typedef struct Stream {
    const char *at, *end;
    bool base64;
} Stream;

static int letter_value(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decodes `size` bytes. Base64 comes in groups of four letters, and a read ends with its group: the
 * next one begins a new block. */
static BrioStatus take(Reader *r, Stream *s, char *out, size_t size)
{
    if (!s->base64) {
        if ((size_t)(s->end - s->at) < size)
            return brio__scan_error(place(r, s->at),
                                    "%zu bytes of an array are announced here, but only %lld "
                                    "follow: the file is cut off",
                                    size, (long long)(s->end - s->at));
        memcpy(out, s->at, size);
        s->at += size;
        return BRIO_OK;
    }
    for (size_t done = 0; done < size;) {
        int value[4], padding = 0;
        for (int k = 0; k < 4; k++) {
            while (s->at < s->end && is_space(*s->at)) s->at++;
            char c = s->at < s->end ? *s->at : 0;
            value[k] = letter_value(c);
            if (value[k] < 0 && c == '=' && k >= 2)
                value[k] = 0, padding++;
            else if (value[k] < 0 || padding)
                return brio__scan_error(
                    place(r, s->at),
                    "the base64 data of an array end here, %zu bytes too early, or are damaged",
                    size - done);
            s->at++;
        }
        unsigned bits = (unsigned)(value[0] << 18 | value[1] << 12 | value[2] << 6 | value[3]);
        for (int k = 0; k < 3 - padding && done < size; k++)
            out[done++] = (char)(bits >> (16 - 8 * k));
        if (padding && done < size)
            return brio__scan_error(place(r, s->at),
                                    "the base64 data of an array end here, %zu bytes too early",
                                    size - done);
    }
    return BRIO_OK;
}

/* At most so many bytes can still be decoded. */
static uint64_t bytes_left(const Stream *s)
{
    return s->base64 ? (uint64_t)(s->end - s->at) / 4 * 3 : (uint64_t)(s->end - s->at);
}

static uint64_t header_at(const Reader *r, const char *bytes)
{
    return (uint64_t)brio__number_as_integer(bytes, r->header, r->scan.big_endian);
}

static BrioStatus too_long(Reader *r, const char *at, uint64_t size, const Stream *s)
{
    return brio__scan_error(place(r, at),
                            "an array of %llu bytes is announced here, but the file has only %llu "
                            "more: it is cut off, or byte_order or header_type is wrong",
                            (unsigned long long)size, (unsigned long long)bytes_left(s));
}

static BrioStatus decode_plain(Reader *r, Stream *s, Numbers *numbers)
{
    size_t head = (size_t)brio__number_size(r->header);
    char mark[8];
    Stream again = *s;
    const char *start = s->at;
    BRIO_CHECK(take(r, s, mark, head));
    uint64_t size = header_at(r, mark);
    if (size > bytes_left(&again)) return too_long(r, start, size, &again);
    char *bytes = brio__alloc(head + (size_t)size + 1, 1);
    if (!bytes) return no_memory(r);
    /* length and data are one block */
    BrioStatus status = take(r, &again, bytes, head + (size_t)size);
    memmove(bytes, bytes + head, (size_t)size);
    numbers->bytes = bytes;
    numbers->size = (size_t)size;
    return status;
}

#ifdef BRIO_HAVE_ZLIB
/* [blocks][size of a block][size of the last, 0: whole][compressed size of each], then the
 * blocks. */
static BrioStatus decode_blocks(Reader *r, Stream *s, Numbers *numbers)
{
    enum { MAX_RATIO = 1100 }; /* deflate reaches 1032 */
    size_t head = (size_t)brio__number_size(r->header);
    char mark[24];
    Stream again = *s;
    const char *start = s->at;
    BRIO_CHECK(take(r, s, mark, 3 * head));
    uint64_t blocks = header_at(r, mark);
    uint64_t whole = header_at(r, mark + head);
    uint64_t last = header_at(r, mark + 2 * head);
    uint64_t left = bytes_left(&again);
    if (blocks > left / head || last > whole || (whole && blocks > MAX_RATIO * left / whole))
        return too_long(r, start, blocks, &again);
    char *sizes = brio__alloc((3 + (size_t)blocks) * head, 1);
    if (!sizes) return no_memory(r);
    BrioStatus status = take(r, &again, sizes, (3 + (size_t)blocks) * head);
    uint64_t packed = 0, unpacked = blocks ? (blocks - 1) * whole + (last ? last : whole) : 0;
    for (uint64_t b = 0; status == BRIO_OK && b < blocks; b++) {
        uint64_t own = header_at(r, sizes + (3 + b) * head);
        if (own > left || packed + own > left) status = too_long(r, start, own, &again);
        packed += own;
    }
    if (status == BRIO_OK && (packed > bytes_left(&again) + 3 || unpacked / MAX_RATIO > packed))
        status = too_long(r, start, packed, &again);
    char *from = NULL, *to = NULL;
    if (status == BRIO_OK) {
        from = brio__alloc((size_t)packed + 1, 1);
        to = brio__alloc((size_t)unpacked + 1, 1);
        if (!from || !to) status = no_memory(r);
    }
    if (status == BRIO_OK) status = take(r, &again, from, (size_t)packed);
    for (uint64_t b = 0, at = 0, done = 0; status == BRIO_OK && b < blocks; b++) {
        uLongf size = (uLongf)(b + 1 < blocks || !last ? whole : last), expected = size;
        uint64_t own = header_at(r, sizes + (3 + b) * head);
        if (uncompress((Bytef *)to + done, &size, (const Bytef *)from + at, (uLong)own) != Z_OK ||
            size != expected)
            status =
                brio__scan_error(place(r, start), "block %llu of this compressed array is damaged",
                                 (unsigned long long)b);
        at += own;
        done += expected;
    }
    brio__free(sizes);
    brio__free(from);
    numbers->bytes = to;
    numbers->size = (size_t)unpacked;
    return status;
}
#endif

static BrioStatus decode(Reader *r, const Array *array, Numbers *numbers)
{
    Stream s = {.at = array->at, .end = r->scan.end, .base64 = true};
    if (array->layout == LAYOUT_APPENDED) {
        if (!r->appended)
            return brio__scan_error(
                place(r, array->at),
                "this array is said to be appended, but the file has no AppendedData");
        if (array->offset > r->scan.end - r->appended)
            return brio__scan_error(place(r, array->at),
                                    "the offset %lld of this array lies beyond the end of the file",
                                    (long long)array->offset);
        s.at = r->appended + array->offset;
        s.base64 = !r->raw;
    } else {
        const char *close = memchr(s.at, '<', (size_t)(s.end - s.at));
        if (close) s.end = close;
    }
#ifdef BRIO_HAVE_ZLIB
    if (r->compressed)
        BRIO_CHECK(decode_blocks(r, &s, numbers));
    else
#endif
        BRIO_CHECK(decode_plain(r, &s, numbers));
    numbers->count = (int64_t)(numbers->size / (size_t)brio__number_size(array->type));
    return BRIO_OK;
}

/* Numbers in text become doubles, or 64-bit integers. */
static BrioStatus decode_text(Reader *r, const Array *array, bool real, Numbers *numbers)
{
    BrioScan scan = *place(r, array->at);
    const char *close = memchr(array->at, '<', (size_t)(r->scan.end - array->at));
    scan.at = array->at;
    scan.end = close ? close : r->scan.end;
    scan.binary = false;
    if (memchr(scan.at, 0, (size_t)(scan.end - scan.at)))
        return brio__scan_error(&scan, "this array holds a byte 0, which is no text");
    int64_t room = (scan.end - scan.at + 1) / 2 + 1;
    char *bytes = brio__alloc((size_t)room, 8);
    if (!bytes) return no_memory(r);
    numbers->bytes = bytes;
    while (brio__scan_more(&scan)) {
        if (real)
            BRIO_CHECK(brio__scan_real(&scan, "a number", numbers->count + 1,
                                       (double *)bytes + numbers->count));
        else
            BRIO_CHECK(brio__scan_integer(&scan, "an integer", numbers->count + 1,
                                          (int64_t *)bytes + numbers->count));
        numbers->count++;
    }
    return BRIO_OK;
}

static BrioStatus read_numbers(Reader *r, const Piece *piece, ArrayKind kind, int64_t expected,
                               Numbers *numbers)
{
    const Array *array = &piece->array[kind];
    if (!array->at)
        return brio__scan_error(place(r, piece->at), "this Piece has no array \"%s\"",
                                array_name[kind]);
    bool real = brio__number_real(array->type);
    if (kind != ARRAY_POINTS && real)
        return brio__scan_error(place(r, array->at), "the array \"%s\" must be of integers",
                                array_name[kind]);
    BRIO_CHECK(array->layout == LAYOUT_TEXT ? decode_text(r, array, kind == ARRAY_POINTS, numbers)
                                            : decode(r, array, numbers));
    if (expected >= 0 && numbers->count != expected)
        return brio__scan_error(place(r, array->at),
                                "the array \"%s\" has %lld numbers where %lld are needed: the file "
                                "is cut off, or the counts of its Piece are wrong",
                                array_name[kind], (long long)numbers->count, (long long)expected);
    return BRIO_OK;
}

static int64_t integer_at(const Reader *r, const Array *array, const Numbers *n, int64_t i)
{
    if (array->layout == LAYOUT_TEXT) return ((const int64_t *)n->bytes)[i];
    return brio__number_as_integer(n->bytes + i * brio__number_size(array->type), array->type,
                                   r->scan.big_endian);
}

static double real_at(const Reader *r, const Array *array, const Numbers *n, int64_t i)
{
    if (array->layout == LAYOUT_TEXT) return ((const double *)n->bytes)[i];
    return brio__number_as_real(n->bytes + i * brio__number_size(array->type), array->type,
                                r->scan.big_endian);
}

/* ---- pieces ----------------------------------------------------------------------------- */

static BrioStatus take_points(Reader *r, const Piece *piece, const Numbers *n)
{
    const Array *array = &piece->array[ARRAY_POINTS];
    BrioScan *scan = place(r, array->at);
    for (int64_t v = 0; v < piece->points; v++) {
        double point[3];
        for (int k = 0; k < 3; k++) {
            point[k] = real_at(r, array, n, 3 * v + k);
            if (!isfinite(point[k]))
                return brio__scan_error(
                    scan, "a coordinate of point %lld (counted from 0) is %g: it must be finite",
                    (long long)v, point[k]);
        }
        BRIO_CHECK(brio__draft_vertex(&r->draft, scan, point));
    }
    return BRIO_OK;
}

/* `first`: the mesh's vertex that is the piece's point 0. */
static BrioStatus take_cells(Reader *r, const Piece *piece, const Numbers number[ARRAYS],
                             int64_t first, int32_t *vertex)
{
    const Array *array = piece->array;
    BrioScan *scan = place(r, array[ARRAY_CONNECTIVITY].at);
    int64_t corners = number[ARRAY_CONNECTIVITY].count;
    for (int64_t k = 0; k < corners; k++) {
        BRIO_CHECK(brio__draft_number(
            scan, integer_at(r, &array[ARRAY_CONNECTIVITY], &number[ARRAY_CONNECTIVITY], k), 0,
            piece->points, vertex + k));
        vertex[k] += (int32_t)first;
    }
    for (int64_t c = 0, start = 0; c < piece->cells; c++) {
        int64_t end = integer_at(r, &array[ARRAY_OFFSETS], &number[ARRAY_OFFSETS], c);
        if (end < start || end > corners)
            return brio__scan_error(place(r, array[ARRAY_OFFSETS].at),
                                    "offset %lld of cell %lld (counted from 0) is not in order: "
                                    "offsets rise to %lld, the length of \"connectivity\"",
                                    (long long)end, (long long)c, (long long)corners);
        BRIO_CHECK(brio__draft_cell(&r->draft, scan,
                                    integer_at(r, &array[ARRAY_TYPES], &number[ARRAY_TYPES], c),
                                    end - start, vertex + start));
        start = end;
    }
    return BRIO_OK;
}

static BrioStatus read_piece(Reader *r, const Piece *piece)
{
    Numbers number[ARRAYS] = {0};
    int64_t first = r->draft.vertex_count;
    int32_t *vertex = NULL;
    BrioStatus status = BRIO_OK;
    if (piece->points == 0) return BRIO_OK;
    if (piece->points > INT32_MAX - first)
        return brio__scan_error(place(r, piece->at), "there are too many points: at most %d",
                                INT32_MAX);
    if (status == BRIO_OK)
        status = read_numbers(r, piece, ARRAY_POINTS, 3 * piece->points, &number[ARRAY_POINTS]);
    if (status == BRIO_OK) status = take_points(r, piece, &number[ARRAY_POINTS]);
    if (piece->cells) {
        if (status == BRIO_OK)
            status = read_numbers(r, piece, ARRAY_CONNECTIVITY, -1, &number[ARRAY_CONNECTIVITY]);
        if (status == BRIO_OK)
            status = read_numbers(r, piece, ARRAY_OFFSETS, piece->cells, &number[ARRAY_OFFSETS]);
        if (status == BRIO_OK)
            status = read_numbers(r, piece, ARRAY_TYPES, piece->cells, &number[ARRAY_TYPES]);
        if (status == BRIO_OK &&
            !(vertex = brio__alloc((size_t)number[ARRAY_CONNECTIVITY].count + 1, sizeof *vertex)))
            status = no_memory(r);
        if (status == BRIO_OK) status = take_cells(r, piece, number, first, vertex);
    }
    brio__free(vertex);
    for (int p = 0; p < ARRAYS; p++) brio__free(number[p].bytes);
    return status;
}

static BrioStatus parse(Reader *r)
{
    BRIO_CHECK(read_structure(r));
    for (int64_t i = 0; i < r->piece_count; i++) BRIO_CHECK(read_piece(r, &r->piece[i]));
    return BRIO_OK;
}

static BrioStatus read_vtu(const char *file, const char *text, size_t size, BrioMesh **mesh,
                           BrioError *error)
{
    Reader reader = {0};
    brio__scan_start(&reader.scan, file, text, size, 0, error);
    BrioStatus status = parse(&reader);
    brio__free(reader.piece);
    return brio__draft_finish(&reader.draft, status, file, mesh, error);
}

const BrioMeshReader brio__reader_vtu = {
    .extension = ".vtu", .summary = "VTK XML unstructured grid", .read = read_vtu};

/* ---- writing ---------------------------------------------------------------------------- */

static void open_array(const char *type, const char *name, int components, bool ascii, FILE *file)
{
    fprintf(file, "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"%s\">\n",
            type, name, components, ascii ? "ascii" : "binary");
}

/* Binary arrays are of the machine's byte order, as the head of the file says. */
static void write_positions(const BrioMesh *mesh, bool ascii, FILE *file)
{
    BrioBase64 base64 = {.file = file};
    uint64_t bytes = 24 * (uint64_t)mesh->vertex_count;
    open_array("Float64", "position", 3, ascii, file);
    if (ascii) {
        brio__put_points(mesh, "", "\n", file);
    } else {
        brio__base64_put(&base64, &bytes, sizeof bytes);
        brio__base64_put(&base64, mesh->x, (size_t)bytes);
        brio__base64_end(&base64);
    }
}

static void write_connectivity(const BrioMesh *mesh, const BrioMeshGroup group[3], bool ascii,
                               FILE *file)
{
    BrioBase64 base64 = {.file = file};
    uint64_t bytes = 4 * (uint64_t)brio__mesh_corners(mesh);
    open_array("Int32", "connectivity", 1, ascii, file);
    if (!ascii) brio__base64_put(&base64, &bytes, sizeof bytes);
    for (int g = 0; g < 3; g++) {
        if (ascii)
            brio__put_elements(group[g].vertex, group[g].count, group[g].corners, 0, "", "\n",
                               file);
        else
            brio__base64_put(&base64, group[g].vertex,
                             (size_t)(group[g].count * group[g].corners) * 4);
    }
    if (!ascii) brio__base64_end(&base64);
}

static void write_offsets(const BrioMesh *mesh, const BrioMeshGroup group[3], bool ascii,
                          FILE *file)
{
    BrioBase64 base64 = {.file = file};
    uint64_t bytes = 8 * (uint64_t)brio__mesh_cells(mesh);
    int64_t offset = 0;
    open_array("Int64", "offsets", 1, ascii, file);
    if (!ascii) brio__base64_put(&base64, &bytes, sizeof bytes);
    for (int g = 0; g < 3; g++)
        for (int64_t e = 0; e < group[g].count; e++) {
            offset += group[g].corners;
            if (ascii)
                fprintf(file, "%lld\n", (long long)offset);
            else
                brio__base64_put(&base64, &offset, sizeof offset);
        }
    if (!ascii) brio__base64_end(&base64);
}

static void write_types(const BrioMesh *mesh, const BrioMeshGroup group[3], bool ascii, FILE *file)
{
    BrioBase64 base64 = {.file = file};
    uint64_t bytes = (uint64_t)brio__mesh_cells(mesh);
    open_array("UInt8", "types", 1, ascii, file);
    if (!ascii) brio__base64_put(&base64, &bytes, sizeof bytes);
    for (int g = 0; g < 3; g++)
        for (int64_t e = 0; e < group[g].count; e++) {
            unsigned char type = (unsigned char)group[g].vtk;
            if (ascii)
                fprintf(file, "%d\n", type);
            else
                brio__base64_put(&base64, &type, 1);
        }
    if (!ascii) brio__base64_end(&base64);
}

static void write_vtu(const BrioMesh *mesh, bool ascii, FILE *file)
{
    static const char end[] = "\n</DataArray>\n";
    BrioMeshGroup group[3];
    const uint16_t one = 1;
    brio__mesh_groups(mesh, group);
    fprintf(file,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
            "byte_order=\"%s\" header_type=\"UInt64\">\n<UnstructuredGrid>\n",
            *(const unsigned char *)&one ? "LittleEndian" : "BigEndian");
    fprintf(file, "<Piece NumberOfPoints=\"%lld\" NumberOfCells=\"%lld\">\n<Points>\n",
            (long long)mesh->vertex_count, (long long)brio__mesh_cells(mesh));
    write_positions(mesh, ascii, file);
    fprintf(file, "%s</Points>\n<Cells>\n", end);
    write_connectivity(mesh, group, ascii, file);
    fputs(end, file);
    write_offsets(mesh, group, ascii, file);
    fputs(end, file);
    write_types(mesh, group, ascii, file);
    fprintf(file, "%s</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n", end);
}

const BrioMeshWriter brio__writer_vtu = {.extension = ".vtu",
                                         .tets = true,
                                         .triangles = true,
                                         .edges = true,
                                         .has_ascii = true,
                                         .has_binary = true,
                                         .write = write_vtu};
