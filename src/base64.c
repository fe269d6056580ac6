/* Base64 of RFC 4648, three bytes to four letters. */
#include "base64.h"

#include <string.h>

static void put_triple(BrioBase64 *b, const unsigned char *t, int bytes)
{
    static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *out = b->out + b->column;
    out[0] = letter[t[0] >> 2];
    out[1] = letter[(t[0] & 3) << 4 | t[1] >> 4];
    out[2] = bytes > 1 ? letter[(t[1] & 15) << 2 | t[2] >> 6] : '=';
    out[3] = bytes > 2 ? letter[t[2] & 63] : '=';
    b->column += 4;
    if (b->column < (int)sizeof b->out) return;
    fwrite(b->out, 1, sizeof b->out, b->file);
    b->column = 0;
}

void brio__base64_put(BrioBase64 *b, const void *data, size_t size)
{
    if (size == 0) return;
    const unsigned char *at = data, *end = at + size;
    while (b->used > 0 && at < end) {
        b->rest[b->used++] = *at++;
        if (b->used < 3) continue;
        put_triple(b, b->rest, 3);
        b->used = 0;
    }
    for (; end - at >= 3; at += 3) put_triple(b, at, 3);
    while (at < end) b->rest[b->used++] = *at++;
}

void brio__base64_end(BrioBase64 *b)
{
    if (b->used) {
        memset(b->rest + b->used, 0, (size_t)(3 - b->used));
        put_triple(b, b->rest, b->used);
    }
    fwrite(b->out, 1, (size_t)b->column, b->file);
}
