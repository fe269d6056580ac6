/* Frames of RFC 6455, section 5.2: two bytes (end of the message, kind; mask, length), a longer
 * length in 2 or 8 bytes, the mask of 4, the masked data. */
#include "websocket.h"

#include "internal.h"
#include "sha1.h"

#include <stdlib.h>
#include <string.h>

/* ---- in --------------------------------------------------------------------------------- */

size_t websocket_room(WebSocket *s, uint8_t **to)
{
    if (s->begin > 0) {
        memmove(s->in, s->in + s->begin, s->end - s->begin);
        s->end -= s->begin;
        s->begin = 0;
    }
    *to = s->in + s->end;
    return sizeof s->in - s->end;
}

void websocket_took(WebSocket *s, size_t size) { s->end += size; }

typedef struct Frame {
    bool last;
    int kind; /* 0: goes on with the message */
    uint8_t *data;
    size_t size;
} Frame;

/* 1, 0 or a code, as websocket_next. The data is unmasked where it is. */
static int next_frame(WebSocket *s, Frame *frame)
{
    uint8_t *at = s->in + s->begin;
    size_t have = s->end - s->begin, head = 6;
    if (have < 2) return 0;
    uint64_t size = at[1] & 127;
    bool control = at[0] & 8;
    frame->last = at[0] & 128;
    frame->kind = at[0] & 15;
    if (at[0] & 112 || !(at[1] & 128)) return WEBSOCKET_PROTOCOL; /* extensions; no mask */
    if (frame->kind > WEBSOCKET_PONG || (frame->kind > WEBSOCKET_BINARY && !control))
        return WEBSOCKET_PROTOCOL;
    if (control && (!frame->last || size > sizeof s->control)) return WEBSOCKET_PROTOCOL;
    if (size >= 126) {
        size_t bytes = size == 126 ? 2 : 8;
        head += bytes;
        if (have < 2 + bytes) return 0;
        size = 0;
        for (size_t i = 0; i < bytes; i++) size = size << 8 | at[2 + i];
        if (size < 126 || (bytes == 8 && size <= UINT16_MAX) || size >> 63)
            return WEBSOCKET_PROTOCOL; /* lengths are written in as few bytes as they need */
    }
    if (size > WEBSOCKET_MAX) return WEBSOCKET_TOO_LARGE;
    if (have < head + size) return 0;
    frame->data = at + head;
    frame->size = (size_t)size;
    for (size_t i = 0; i < frame->size; i++) frame->data[i] ^= at[head - 4 + (i & 3)];
    s->begin += head + frame->size;
    return 1;
}

static bool is_utf8(const uint8_t *text, size_t size)
{
    int bytes;
    for (size_t at = 0; at < size; at += (size_t)bytes)
        if ((bytes = brio__utf8_bytes(text + at, size - at)) == 0) return false;
    return true;
}

/* What a client may say when it closes: nothing, or a code and a reason in UTF-8. */
static bool is_close(const uint8_t *data, size_t size)
{
    if (size == 0) return true;
    if (size == 1) return false;
    int code = data[0] << 8 | data[1];
    bool known = (code >= 1000 && code <= 1014 && (code < 1004 || code > 1006)) ||
                 (code >= 3000 && code <= 4999);
    return known && is_utf8(data + 2, size - 2);
}

int websocket_next(WebSocket *s, WebSocketMessage *message)
{
    for (;;) {
        Frame frame;
        int found = next_frame(s, &frame);
        if (found != 1) return found;
        if (frame.kind >= WEBSOCKET_CLOSE) {
            memcpy(s->control, frame.data, frame.size);
            if (frame.kind == WEBSOCKET_CLOSE && !is_close(s->control, frame.size))
                return WEBSOCKET_PROTOCOL;
            *message = (WebSocketMessage){frame.kind, s->control, frame.size};
            return 1;
        }
        if (!frame.kind == !s->kind)
            return WEBSOCKET_PROTOCOL; /* goes on with nothing, or begins
                                          within another */
        if (frame.kind) {
            s->kind = frame.kind;
            s->size = 0;
        }
        if (frame.size > sizeof s->message - s->size) return WEBSOCKET_TOO_LARGE;
        memcpy(s->message + s->size, frame.data, frame.size);
        s->size += frame.size;
        if (!frame.last) continue;
        *message = (WebSocketMessage){s->kind, s->message, s->size};
        s->kind = 0;
        if (message->kind == WEBSOCKET_TEXT && !is_utf8(message->data, message->size))
            return WEBSOCKET_NO_UTF8;
        return 1;
    }
}

/* ---- out -------------------------------------------------------------------------------- */

size_t websocket_head(int kind, size_t size, uint8_t head[WEBSOCKET_HEAD])
{
    size_t bytes = size < 126 ? 0 : size <= UINT16_MAX ? 2 : 8;
    head[0] = (uint8_t)(128 | kind);
    head[1] = (uint8_t)(bytes == 0 ? size : bytes == 2 ? 126 : 127);
    for (size_t i = 0; i < bytes; i++)
        head[2 + i] = (uint8_t)((uint64_t)size >> 8 * (bytes - 1 - i));
    return 2 + bytes;
}

/* base64(sha1(key + a fixed text)). A key is 16 bytes in base64. */
bool websocket_accept(const char *key, char answer[29])
{
    static const char fixed[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[24 + sizeof fixed], *out = NULL;
    uint8_t digest[20];
    size_t size = 0;
    if (strlen(key) != 24 || strspn(key, letters) != 22 || strcmp(key + 22, "==")) return false;
    memcpy(text, key, 24);
    memcpy(text + 24, fixed, sizeof fixed);
    sha1(text, strlen(text), digest);
    BrioBase64 base64 = {.file = open_memstream(&out, &size)};
    if (!base64.file) return false;
    brio__base64_put(&base64, digest, sizeof digest);
    brio__base64_end(&base64);
    bool done = fclose(base64.file) == 0 && out && size == 28;
    if (done) memcpy(answer, out, 29);
    free(out);
    return done;
}
