/* PNG [ISO 15948]: chunks with their checksums around one zlib stream; without zlib, stored blocks.
 */
#include "png.h"

#include <stdlib.h>
#include <string.h>
#ifdef BRIO_HAVE_ZLIB
#include <zlib.h>
#endif

#ifdef BRIO_HAVE_ZLIB
BrioStatus brio__deflate(const uint8_t *data, size_t size, uint8_t **stream, size_t *length)
{
    uLongf room = compressBound((uLong)size);
    *stream = brio__alloc(room, 1);
    if (!*stream || compress2(*stream, &room, data, (uLong)size, 6) != Z_OK) {
        brio__free(*stream);
        *stream = NULL;
        return BRIO_ERROR_MEMORY;
    }
    *length = room;
    return BRIO_OK;
}
#else
/* Stored blocks of at most 65535 bytes [RFC 1951, 3.2.4], closed by Adler's checksum. */
BrioStatus brio__deflate(const uint8_t *data, size_t size, uint8_t **stream, size_t *length)
{
    enum { BLOCK = 65535 };
    size_t blocks = size / BLOCK + 1, used = 0;
    uint32_t a = 1, b = 0;
    uint8_t *out = brio__alloc(size + 5 * blocks + 6, 1);
    *stream = out;
    if (!out) return BRIO_ERROR_MEMORY;
    out[used++] = 0x78;
    out[used++] = 0x01;
    for (size_t k = 0; k < blocks; k++) {
        size_t bytes = k + 1 < blocks ? BLOCK : size - k * BLOCK;
        const uint8_t head[5] = {k + 1 == blocks, bytes & 255, (uint8_t)(bytes >> 8), ~bytes & 255,
                                 (uint8_t)(~bytes >> 8)};
        memcpy(out + used, head, sizeof head);
        if (bytes) memcpy(out + used + sizeof head, data + k * BLOCK, bytes);
        used += sizeof head + bytes;
    }
    for (size_t k = 0; k < size; k++) {
        a = (a + data[k]) % 65521;
        b = (b + a) % 65521;
    }
    const uint8_t tail[4] = {(uint8_t)(b >> 8), b & 255, (uint8_t)(a >> 8), a & 255};
    memcpy(out + used, tail, sizeof tail);
    *length = used + sizeof tail;
    return BRIO_OK;
}
#endif

static uint32_t checksum(uint32_t crc, const uint8_t *data,
                         size_t size) /* of chunks: polynomial 0xedb88320 */
{
    static const uint32_t nibble[16] = {0,          0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                        0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                        0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    for (size_t k = 0; k < size; k++) {
        crc ^= data[k];
        crc = crc >> 4 ^ nibble[crc & 15];
        crc = crc >> 4 ^ nibble[crc & 15];
    }
    return crc;
}

static void put_number(FILE *file, uint32_t number)
{
    for (int shift = 24; shift >= 0; shift -= 8) fputc((int)(number >> shift & 255), file);
}

static void put_chunk(FILE *file, const char *kind, const uint8_t *data, size_t size)
{
    put_number(file, (uint32_t)size);
    fwrite(kind, 1, 4, file);
    if (size) fwrite(data, 1, size, file);
    put_number(file, ~checksum(checksum(~0u, (const uint8_t *)kind, 4), data, size));
}

static int paeth(int a, int b, int c)
{
    int p = abs(b - c), q = abs(a - c), r = abs(a + b - 2 * c);
    return p <= q && p <= r ? a : q <= r ? b : c;
}

/* One row by the filter that leaves the smallest sum of magnitudes; out[0] is its number. */
static void filter_row(const uint8_t *row, const uint8_t *above, size_t bytes, uint8_t *out,
                       uint8_t *trial)
{
    long best = -1;
    for (int kind = 0; kind < 5; kind++) {
        long sum = 0;
        trial[0] = (uint8_t)kind;
        for (size_t k = 0; k < bytes; k++) {
            int a = k >= 3 ? row[k - 3] : 0;
            int b = above ? above[k] : 0;
            int c = above && k >= 3 ? above[k - 3] : 0;
            int guess = kind == 0   ? 0
                        : kind == 1 ? a
                        : kind == 2 ? b
                        : kind == 3 ? (a + b) / 2
                                    : paeth(a, b, c);
            trial[k + 1] = (uint8_t)(row[k] - guess);
            sum += abs((int8_t)trial[k + 1]);
        }
        if (best >= 0 && sum >= best) continue;
        best = sum;
        memcpy(out, trial, bytes + 1);
    }
}

BrioStatus brio__png_write(FILE *file, const uint8_t *rgb, int width, int height)
{
    size_t bytes = 3 * (size_t)width, length = 0;
    uint8_t *raw = brio__alloc((bytes + 1) * (size_t)(height + 1), 1), *stream = NULL;
    /* 8 bits, colours, no interlacing */
    uint8_t head[13] = {0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0};
    if (!raw) return BRIO_ERROR_MEMORY;
    for (int j = 0; j < height; j++)
        filter_row(rgb + bytes * (size_t)j, j ? rgb + bytes * (size_t)(j - 1) : NULL, bytes,
                   raw + (bytes + 1) * (size_t)j, raw + (bytes + 1) * (size_t)height);
    BrioStatus status = brio__deflate(raw, (bytes + 1) * (size_t)height, &stream, &length);
    if (status == BRIO_OK) {
        for (int k = 0; k < 4; k++) {
            head[k] = (uint8_t)(width >> (24 - 8 * k));
            head[4 + k] = (uint8_t)(height >> (24 - 8 * k));
        }
        fwrite("\x89PNG\r\n\x1a\n", 1, 8, file);
        put_chunk(file, "IHDR", head, sizeof head);
        put_chunk(file, "IDAT", stream, length);
        put_chunk(file, "IEND", NULL, 0);
    }
    brio__free(stream);
    brio__free(raw);
    return status;
}

/* ---- reading ---------------------------------------------------------------------------- */

#ifdef BRIO_HAVE_ZLIB
enum { MAX_SIDE = 16384, MAX_PIXELS = 1 << 27 };
enum { GREY = 0, COLOURS = 2, PALETTE = 3, GREY_ALPHA = 4, COLOURS_ALPHA = 6 };

typedef struct PngReader {
    const char *name;
    const uint8_t *data;
    size_t size;
    int width, height, depth, kind;
    int channels;
    size_t row;  /* bytes */
    size_t step; /* bytes from a pixel to the next, at least 1: what filters look back */
    uint8_t *raw;
    uint8_t palette[256][4];
    int colours;
    bool keyed; /* grey or coloured pixels of just this value are transparent */
    int key[4];
    BrioError *error;
} PngReader;

static uint32_t get_number(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static BrioStatus damaged(const PngReader *r)
{
    return brio__error(r->error, BRIO_ERROR_INPUT, "%s: the PNG file is damaged; save it again",
                       r->name);
}

static BrioStatus read_head(PngReader *r, const uint8_t *head)
{
    static const uint8_t channels[] = {1, 0, 3, 1, 2, 0, 4};
    static const uint32_t depths[] = {0x10116, 0, 0x10100, 0x116, 0x10100, 0, 0x10100};
    uint32_t width = get_number(head), height = get_number(head + 4);
    r->depth = head[8];
    r->kind = head[9];
    if (r->kind > COLOURS_ALPHA || r->depth > 16 || !(depths[r->kind] >> r->depth & 1) ||
        head[10] || head[11] || head[12] > 1 || width == 0 || height == 0)
        return damaged(r);
    if (head[12])
        return brio__error(r->error, BRIO_ERROR_INPUT,
                           "%s: interlaced PNG files are not supported; save it without "
                           "interlacing",
                           r->name);
    if (width > MAX_SIDE || height > MAX_SIDE || (uint64_t)width * height > MAX_PIXELS)
        return brio__error(r->error, BRIO_ERROR_INPUT,
                           "%s: %lu x %lu pixels are too many; the limits are %d on a side and "
                           "%d in all",
                           r->name, (unsigned long)width, (unsigned long)height, MAX_SIDE,
                           MAX_PIXELS);
    r->width = (int)width;
    r->height = (int)height;
    r->channels = channels[r->kind];
    size_t bits = (size_t)r->channels * (size_t)r->depth;
    r->row = (width * bits + 7) / 8;
    r->step = BRIO_MAX(bits / 8, (size_t)1);
    /* zlib makes at most 1032 bytes of one [RFC 1951]: a head that promises more is wrong */
    size_t bytes = (r->row + 1) * height;
    if (bytes / 1032 > r->size) return damaged(r);
    r->raw = brio__alloc(bytes, 1);
    return r->raw ? BRIO_OK : brio__error(r->error, BRIO_ERROR_MEMORY, "out of memory");
}

/* How opaque the colours of a palette are, or which pixels are transparent. */
static void read_transparent(PngReader *r, const uint8_t *data, uint32_t length)
{
    for (uint32_t k = 0; r->kind == PALETTE && k < length && k < 256; k++)
        r->palette[k][3] = data[k];
    r->keyed = (r->kind == GREY || r->kind == COLOURS) && length == 2 * (uint32_t)r->channels;
    for (int c = 0; r->keyed && c < r->channels; c++)
        r->key[c] = data[2 * c] << 8 | data[2 * c + 1];
}

static BrioStatus read_palette(PngReader *r, const uint8_t *data, uint32_t length)
{
    if (length % 3 || length > 768 || length == 0) return damaged(r);
    r->colours = (int)(length / 3);
    for (int k = 0; k < r->colours; k++) memcpy(r->palette[k], data + 3 * k, 3);
    return BRIO_OK;
}

/* All chunks; the pixels of IDAT are inflated as they come. */
static BrioStatus read_chunks(PngReader *r, z_stream *zip)
{
    for (size_t at = 8; at + 12 <= r->size;) {
        const uint8_t *chunk = r->data + at;
        const char *kind = (const char *)chunk + 4;
        uint32_t length = get_number(chunk);
        if (length > r->size - at - 12 ||
            get_number(chunk + 8 + length) != ~checksum(~0u, chunk + 4, (size_t)length + 4))
            return damaged(r);
        bool first = at == 8;
        if (first != !memcmp(kind, "IHDR", 4) || (first && length != 13)) return damaged(r);
        if (first) {
            BRIO_CHECK(read_head(r, chunk + 8));
            zip->next_out = r->raw;
            zip->avail_out = (uInt)((r->row + 1) * (size_t)r->height);
        } else if (!memcmp(kind, "PLTE", 4)) {
            BRIO_CHECK(read_palette(r, chunk + 8, length));
        } else if (!memcmp(kind, "tRNS", 4)) {
            read_transparent(r, chunk + 8, length);
        } else if (!memcmp(kind, "IDAT", 4)) {
            zip->next_in = (Bytef *)chunk + 8;
            zip->avail_in = length;
            int told = zip->avail_out ? inflate(zip, Z_SYNC_FLUSH) : Z_OK;
            if (told != Z_OK && told != Z_STREAM_END && told != Z_BUF_ERROR) return damaged(r);
        } else if (!memcmp(kind, "IEND", 4)) {
            break;
        }
        at += 12 + (size_t)length;
    }
    bool complete = r->raw && zip->avail_out == 0 && (r->kind != PALETTE || r->colours > 0);
    return complete ? BRIO_OK : damaged(r);
}

/* Undoes the filters, in place; the byte before each row is the number of its filter. */
static BrioStatus undo_filters(PngReader *r)
{
    const uint8_t *above = NULL;
    for (int j = 0; j < r->height; j++) {
        uint8_t *row = r->raw + (size_t)j * (r->row + 1);
        int kind = *row++;
        if (kind > 4) return damaged(r);
        for (size_t k = 0; kind && k < r->row; k++) {
            int a = k >= r->step ? row[k - r->step] : 0;
            int b = above ? above[k] : 0;
            int c = above && k >= r->step ? above[k - r->step] : 0;
            int guess = kind == 1 ? a : kind == 2 ? b : kind == 3 ? (a + b) / 2 : paeth(a, b, c);
            row[k] = (uint8_t)(row[k] + guess);
        }
        above = row;
    }
    return BRIO_OK;
}

/* Channel `c` of pixel `i` of a row, as stored. */
static int channel(const PngReader *r, const uint8_t *row, int i, int c)
{
    const uint8_t *at = row + (size_t)i * r->step + (size_t)c * (size_t)r->depth / 8;
    if (r->depth == 16) return at[0] << 8 | at[1];
    if (r->depth == 8) return *at;
    int bit = i * r->depth;
    return row[bit / 8] >> (8 - r->depth - bit % 8) & ((1 << r->depth) - 1);
}

static BrioStatus spread_pixels(const PngReader *r, uint8_t *rgba)
{
    int most = r->depth < 8 ? (1 << r->depth) - 1 : 255;
    for (int j = 0; j < r->height; j++) {
        const uint8_t *row = r->raw + (size_t)j * (r->row + 1) + 1;
        for (int i = 0; i < r->width; i++, rgba += 4) {
            int value[4] = {0, 0, 0, 255};
            bool key = r->keyed;
            for (int c = 0; c < r->channels; c++) {
                int stored = channel(r, row, i, c);
                key &= stored == r->key[c];
                value[c] = r->depth == 16 ? stored >> 8 : stored;
            }
            if (key) value[3] = 0;
            if (r->kind == PALETTE) {
                if (value[0] >= r->colours) return damaged(r);
                memcpy(rgba, r->palette[value[0]], 4);
                continue;
            }
            bool grey = r->channels < 3;
            for (int c = 0; c < 3; c++) rgba[c] = (uint8_t)(value[grey ? 0 : c] * 255 / most);
            rgba[3] = (uint8_t)(r->kind == GREY_ALPHA ? value[1] : value[3]);
        }
    }
    return BRIO_OK;
}

BrioStatus brio__png_read(const char *name, const uint8_t *data, size_t size, uint8_t **rgba,
                          int *width, int *height, BrioError *error)
{
    PngReader r = {.name = name, .data = data, .size = size, .error = error};
    z_stream zip = {0};
    *rgba = NULL;
    if (size < 8 || memcmp(data, "\x89PNG\r\n\x1a\n", 8) != 0)
        return brio__error(error, BRIO_ERROR_INPUT, "%s: this is not a PNG file", name);
    for (int k = 0; k < 256; k++) r.palette[k][3] = 255;
    if (inflateInit(&zip) != Z_OK) return brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    BrioStatus status = read_chunks(&r, &zip);
    inflateEnd(&zip);
    if (status == BRIO_OK) status = undo_filters(&r);
    if (status == BRIO_OK) {
        *rgba = brio__alloc(4 * (size_t)r.width * (size_t)r.height, 1);
        status = *rgba ? spread_pixels(&r, *rgba)
                       : brio__error(error, BRIO_ERROR_MEMORY, "out of memory");
    }
    brio__free(r.raw);
    *width = r.width;
    *height = r.height;
    if (status == BRIO_OK) return BRIO_OK;
    brio__free(*rgba);
    *rgba = NULL;
    return status;
}
#else
BrioStatus brio__png_read(const char *name, const uint8_t *data, size_t size, uint8_t **rgba,
                          int *width, int *height, BrioError *error)
{
    (void)data, (void)size;
    *rgba = NULL;
    *width = *height = 0;
    return brio__error(error, BRIO_ERROR_INPUT,
                       "%s: this brio was built without zlib, so it cannot read PNG files", name);
}
#endif

/* ---- text ------------------------------------------------------------------------------- */

void brio__base64_write(FILE *file, const uint8_t *data, size_t size)
{
    static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char line[4 * 256];
    size_t used = 0;
    for (size_t k = 0; k < size; k += 3) {
        uint32_t bits = (uint32_t)data[k] << 16 | (k + 1 < size ? (uint32_t)data[k + 1] << 8 : 0) |
                        (k + 2 < size ? data[k + 2] : 0);
        line[used++] = letter[bits >> 18];
        line[used++] = letter[bits >> 12 & 63];
        line[used++] = k + 1 < size ? letter[bits >> 6 & 63] : '=';
        line[used++] = k + 2 < size ? letter[bits & 63] : '=';
        if (used == sizeof line || k + 3 >= size) {
            fwrite(line, 1, used, file);
            used = 0;
        }
    }
}
