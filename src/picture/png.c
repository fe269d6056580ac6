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
