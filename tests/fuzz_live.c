/* libFuzzer target for what `brio live` reads: the first byte says whether the rest is a request,
 * bytes of a WebSocket, or an order. A WebSocket must make the same messages of its bytes however
 * they are cut, and what is rejected must have a sentence. */
#include "live/order.h"
#include "live/request.h"
#include "live/websocket.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool condition)
{
    if (!condition) abort();
}

static void read_request(const uint8_t *data, size_t size)
{
    Request r;
    char *head = malloc(size + 1);
    expect(head != NULL);
    memcpy(head, data, size);
    size_t length = request_length(head, size);
    expect(length <= size);
    if (length && request_parse(head, length, &r)) {
        expect(r.path[0] == '/' && strlen(r.path) + strlen(r.host) + strlen(r.token) < size);
        request_is_own(r.host, 8747, false);
        request_same_token(r.token, "0123456789abcdef");
    }
    free(head);
}

/* The messages of the bytes, given `piece` at a time, as one number; the last is the outcome. */
static uint64_t digest(const uint8_t *data, size_t size, size_t piece)
{
    static WebSocket s;
    WebSocketMessage m;
    uint64_t hash = BRIO_HASH_START;
    int found = 0;
    s = (WebSocket){0};
    for (size_t at = 0; found <= 1 && at < size;) {
        uint8_t *to;
        size_t room = websocket_room(&s, &to), now = BRIO_MIN(BRIO_MIN(piece, size - at), room);
        expect(room > 0);
        memcpy(to, data + at, now);
        websocket_took(&s, now);
        at += now;
        while ((found = websocket_next(&s, &m)) == 1) {
            expect(m.size <= WEBSOCKET_MAX);
            hash = brio__hash(hash, &m.kind, sizeof m.kind);
            hash = brio__hash(hash, m.data, m.size);
        }
    }
    return brio__hash(hash, &found, sizeof found);
}

static void read_order(const uint8_t *data, size_t size)
{
    Order order;
    BrioError error = {0};
    if (order_read((const char *)data, size, &order, &error) != BRIO_OK)
        expect(error.message[0] != 0);
    else
        expect(order_name(order.kind) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    switch (data[0] % 3) {
    case 0: read_request(data + 1, size - 1); break;
    case 1: expect(digest(data + 1, size - 1, 1) == digest(data + 1, size - 1, size)); break;
    default: read_order(data + 1, size - 1);
    }
    return 0;
}
