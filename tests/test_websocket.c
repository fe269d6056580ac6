/* What `brio live` makes of the bytes of its clients: SHA-1, the opening of a WebSocket, frames,
 * requests and orders, right ones and wrong ones. */
#include "live/hub.h"
#include "live/order.h"
#include "live/pace.h"
#include "live/request.h"
#include "live/sha1.h"
#include "live/websocket.h"

#include <stdlib.h>
#include <string.h>
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

static void expect_digest(const char *text, size_t size, const char *wanted)
{
    uint8_t digest[20];
    char hex[41];
    sha1(text, size, digest);
    for (int i = 0; i < 20; i++) snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(hex, wanted);
}

/* FIPS 180-4's examples, and lengths around the padding. */
static void digests(void **state)
{
    (void)state;
    expect_digest("", 0, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    expect_digest("abc", 3, "a9993e364706816aba3e25717850c26c9cd0d89d");
    expect_digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
                  "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    char *million = malloc(1000000);
    memset(million, 'a', 1000000);
    expect_digest(million, 1000000, "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    expect_digest(million, 55, "c1c8bbdc22796e28c0e15163d20899b65621d65a");
    expect_digest(million, 56, "c2db330f6083854c99d4b5bfb6e8f29f201be699");
    expect_digest(million, 64, "0098ba824b5c16427bd7a1122a5a442a25ec644d");
    free(million);
}

static void opening(void **state)
{
    (void)state;
    char answer[29];
    assert_true(websocket_accept("dGhlIHNhbXBsZSBub25jZQ==", answer)); /* RFC 6455, 1.3 */
    assert_string_equal(answer, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assert_false(websocket_accept("", answer));
    assert_false(websocket_accept("dGhlIHNhbXBsZSBub25jZQ=", answer));
    assert_false(websocket_accept("dGhlIHNhbXBsZSBub25jZQ===", answer));
    assert_false(websocket_accept("dGhlIHNhbXBs\nSBub25jZQ==", answer));
}

/* ---- frames ----------------------------------------------------------------------------- */

/* A masked frame as a browser sends it; its length. */
static size_t frame(int first, const void *data, size_t size, uint8_t *out)
{
    static const uint8_t mask[4] = {0x37, 0xfa, 0x21, 0x3d};
    size_t head = websocket_head(0, size, out);
    out[0] = (uint8_t)first;
    out[1] |= 128;
    memcpy(out + head, mask, 4);
    for (size_t i = 0; i < size; i++)
        out[head + 4 + i] = (uint8_t)(((const uint8_t *)data)[i] ^ mask[i & 3]);
    return head + 4 + size;
}

static void put(WebSocket *s, const uint8_t *bytes, size_t size)
{
    uint8_t *to;
    assert_true(websocket_room(s, &to) >= size);
    memcpy(to, bytes, size);
    websocket_took(s, size);
}

/* What becomes of one frame. */
static int outcome(int first, const void *data, size_t size)
{
    static WebSocket s;
    static uint8_t bytes[WEBSOCKET_MAX + WEBSOCKET_HEAD];
    WebSocketMessage message;
    s = (WebSocket){0};
    put(&s, bytes, frame(first, data, size, bytes));
    return websocket_next(&s, &message);
}

static void messages(void **state)
{
    (void)state;
    static WebSocket s;
    WebSocketMessage m;
    static uint8_t bytes[2 * WEBSOCKET_MAX], data[WEBSOCKET_MAX];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)('a' + i % 26);
    const size_t sizes[] = {0, 1, 125, 126, 127, 5000, WEBSOCKET_MAX};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) { /* byte by byte */
        size_t length = frame(0x81, data, sizes[k], bytes);
        for (size_t i = 0; i < length; i++) {
            assert_int_equal(websocket_next(&s, &m), 0);
            put(&s, bytes + i, 1);
        }
        assert_int_equal(websocket_next(&s, &m), 1);
        assert_int_equal(m.kind, WEBSOCKET_TEXT);
        assert_int_equal(m.size, sizes[k]);
        assert_memory_equal(m.data, data, sizes[k]);
    }
    /* in fragments, with a ping between them, and the next message behind */
    size_t at = frame(0x01, "to", 2, bytes);
    at += frame(0x89, "?", 1, bytes + at);
    at += frame(0x80, "gether", 6, bytes + at);
    at += frame(0x82, "bin", 3, bytes + at);
    put(&s, bytes, at);
    assert_int_equal(websocket_next(&s, &m), 1);
    assert_int_equal(m.kind, WEBSOCKET_PING);
    assert_memory_equal(m.data, "?", 1);
    assert_int_equal(websocket_next(&s, &m), 1);
    assert_int_equal(m.kind, WEBSOCKET_TEXT);
    assert_memory_equal(m.data, "together", 8);
    assert_int_equal(websocket_next(&s, &m), 1);
    assert_int_equal(m.kind, WEBSOCKET_BINARY);
    assert_int_equal(websocket_next(&s, &m), 0);
}

static void wrong_frames(void **state)
{
    (void)state;
    static WebSocket s;
    WebSocketMessage m;
    static uint8_t large[WEBSOCKET_MAX + 1];
    const struct {
        uint8_t bytes[14];
        size_t size;
        int code;
    } heads[] = {
        {{0x81, 0x05}, 2, WEBSOCKET_PROTOCOL}, /* no mask */
        {{0xc1, 0x85}, 2, WEBSOCKET_PROTOCOL}, /* an extension */
        {{0x83, 0x80}, 2, WEBSOCKET_PROTOCOL}, /* no such kind */
        {{0x8b, 0x80}, 2, WEBSOCKET_PROTOCOL},
        {{0x09, 0x80}, 2, WEBSOCKET_PROTOCOL},       /* a ping in fragments */
        {{0x89, 0xfe}, 2, WEBSOCKET_PROTOCOL},       /* a long ping */
        {{0x81, 0xfe, 0, 5}, 4, WEBSOCKET_PROTOCOL}, /* a length that is too long */
        {{0x81, 0xff, 0, 0, 0, 0, 0, 0, 1, 0}, 10, WEBSOCKET_PROTOCOL},
        {{0x81, 0xff, 0x80, 0, 0, 0, 0, 1, 0, 0}, 10, WEBSOCKET_PROTOCOL},
        {{0x81, 0xff, 0, 0, 0, 1, 0, 0, 0, 0}, 10, WEBSOCKET_TOO_LARGE},
        {{0x81, 0xfe, 0xff, 0xff}, 4, WEBSOCKET_TOO_LARGE},
    };
    for (size_t k = 0; k < sizeof heads / sizeof *heads; k++) {
        s = (WebSocket){0};
        put(&s, heads[k].bytes, heads[k].size);
        assert_int_equal(websocket_next(&s, &m), heads[k].code);
    }
    assert_int_equal(outcome(0x80, "on", 2), WEBSOCKET_PROTOCOL); /* goes on with nothing */
    assert_int_equal(outcome(0x88, "x", 1), WEBSOCKET_PROTOCOL);
    assert_int_equal(outcome(0x88, "\x03\xed", 2), WEBSOCKET_PROTOCOL); /* 1005 is never said */
    assert_int_equal(outcome(0x88, "\x03\xe8ok", 4), 1);
    assert_int_equal(outcome(0x81, "\xc0\x80", 2), WEBSOCKET_NO_UTF8);
    assert_int_equal(outcome(0x81, "\xed\xa0\x80", 3), WEBSOCKET_NO_UTF8);
    assert_int_equal(outcome(0x81, "\xf4\x90\x80\x80", 4), WEBSOCKET_NO_UTF8);
    assert_int_equal(outcome(0x81, "\xe2\x82", 2), WEBSOCKET_NO_UTF8);
    assert_int_equal(outcome(0x81, "\xe2\x82\xac", 3), 1);
    /* a message that grows too large by its fragments, one that begins within another */
    uint8_t *bytes = malloc(sizeof large + WEBSOCKET_HEAD);
    s = (WebSocket){0};
    memset(large, 'a', sizeof large);
    put(&s, bytes, frame(0x01, large, WEBSOCKET_MAX, bytes));
    assert_int_equal(websocket_next(&s, &m), 0);
    put(&s, bytes, frame(0x80, "b", 1, bytes));
    assert_int_equal(websocket_next(&s, &m), WEBSOCKET_TOO_LARGE);
    s = (WebSocket){0};
    put(&s, bytes, frame(0x01, "a", 1, bytes));
    put(&s, bytes, frame(0x81, "b", 1, bytes));
    assert_int_equal(websocket_next(&s, &m), WEBSOCKET_PROTOCOL);
    free(bytes);
}

/* ---- requests --------------------------------------------------------------------------- */

static bool parse(const char *text, Request *r)
{
    static char head[REQUEST_MAX + 1];
    snprintf(head, sizeof head, "%s", text);
    size_t length = request_length(head, strlen(head));
    return length == strlen(text) && request_parse(head, length, r);
}

static void requests(void **state)
{
    (void)state;
    Request r;
    assert_true(parse("GET /socket?x=1&token=abc HTTP/1.1\r\nHost: 127.0.0.1:8747\r\n"
                      "Origin:  http://127.0.0.1:8747 \r\nConnection: keep-alive, Upgrade\r\n"
                      "upgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\n\r\n",
                      &r));
    assert_string_equal(r.method, "GET");
    assert_string_equal(r.path, "/socket");
    assert_string_equal(r.token, "abc");
    assert_string_equal(r.origin, "http://127.0.0.1:8747");
    assert_string_equal(r.version, "13");
    assert_string_equal(r.key, "");
    assert_true(r.upgrade);
    assert_true(
        parse("GET / HTTP/1.1\r\nConnection: notupgrade\r\nUpgrade: websocket\r\n\r\n", &r));
    assert_false(r.upgrade);
    const char *const wrong[] = {
        "GET\r\n\r\n",
        "GET /\r\n\r\n",
        "GET x HTTP/1.1\r\n\r\n",
        "GET / HTTP/2.0\r\n\r\n",
        "GET / HTTP/1.1 \r\n\r\n",
        "GET / HTTP/1.1\r\nHost\r\n\r\n",
        "GET / HTTP/1.1\r\n: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\nOrigin: y\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\n",
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        if (parse(wrong[k], &r)) fail_msg("taken: %s", wrong[k]);
    assert_int_equal(request_length("GET / HTTP/1.1\r\n\r", 17), 0);
    assert_true(request_is_own("127.0.0.1:80", 80, false) &&
                request_is_own("LOCALHOST:80", 80, false));
    assert_true(request_is_own("http://localhost:80", 80, true));
    assert_false(request_is_own("127.0.0.1", 80, false) || request_is_own("", 80, false));
    assert_false(request_is_own("127.0.0.1:80.evil.org", 80, false));
    assert_false(request_is_own("https://127.0.0.1:80", 80, true));
    assert_false(request_is_own("null", 80, true));
    assert_true(request_same_token("abc", "abc"));
    assert_false(request_same_token("abd", "abc") || request_same_token("", "abc"));
    assert_false(request_same_token("abcd", "abc") || request_same_token("ab", "abc"));
}

/* ---- orders ----------------------------------------------------------------------------- */

static void expect_order(const char *text, OrderKind kind)
{
    Order order;
    BrioError error = {0};
    if (order_read(text, strlen(text), &order, &error) != BRIO_OK)
        fail_msg("%s: %s", text, error.message);
    assert_int_equal(order.kind, kind);
}

static void expect_refusal(const char *text, const char *sentence)
{
    Order order;
    BrioError error = {0};
    assert_int_not_equal(order_read(text, strlen(text), &order, &error), BRIO_OK);
    if (!strstr(error.message, sentence)) fail_msg("%s: %s", text, error.message);
}

static void orders(void **state)
{
    (void)state;
    expect_order("{\"do\": \"play\"}", ORDER_PLAY);
    expect_order("{\"do\": \"step\", \"count\": 3}", ORDER_STEP);
    expect_order("{\"do\": \"grab\", \"body\": 0, \"vertex\": 5}", ORDER_GRAB);
    expect_order("{\"do\": \"grab\", \"origin\": [0,0,1], \"direction\": [0,0,-1]}", ORDER_GRAB);
    expect_order("{\"do\": \"integrator\", \"name\": \"bdf2\", \"values\": {\"x\": 1}}",
                 ORDER_INTEGRATOR);
    expect_order("{\"do\": \"record\", \"on\": true}", ORDER_RECORD);
    expect_refusal("", "");
    expect_refusal("[1, 2]", "an order is an object");
    expect_refusal("{\"x\": 1}", "needs \"do\"");
    expect_refusal("{\"do\": \"plai\"}", "did you mean \"play\"?");
    expect_refusal("{\"do\": \"LEAVE\"}", "no order");
    expect_refusal("{\"do\": \"drag\", \"hand\": 0}", "needs \"point\"");
    expect_refusal("{\"do\": \"drag\", \"hand\": -1, \"point\": [0,0,0]}", "from 0");
    expect_refusal("{\"do\": \"drag\", \"hand\": 0, \"point\": [0,0]}", "");
    expect_refusal("{\"do\": \"drag\", \"hand\": 0, \"point\": [0,0,1e999]}", "");
    expect_refusal("{\"do\": \"h\", \"value\": \"fast\"}", "");
    expect_refusal("{\"do\": \"grab\"}", "needs a ray");
    expect_refusal("{\"do\": \"integrator\", \"name\": \"bdf2\", \"values\": 3}", "by their names");
    char text[400] = "{\"do\": \"material\", \"body\": 0, \"value\": 1, \"name\": \"";
    memset(text + strlen(text), 'x', 100);
    strcat(text, "\"}");
    expect_refusal(text, "no name is that long");
}

/* A pointer that moves during a long step leaves room for what comes then. */
static void drags_join(void **state)
{
    (void)state;
    static Hub hub;
    Order order = {.kind = ORDER_GRAB, .client = 1, .id = 1};
    assert_true(hub_create(&hub));
    assert_true(hub_order(&hub, &order));
    for (int k = 0; k < 3 * HUB_ORDERS; k++) { /* two hands of one client, one of another */
        order = (Order){.kind = ORDER_DRAG, .client = 1 + k % 3 / 2, .id = -1, .index = k % 3};
        order.point[0] = k;
        assert_true(hub_order(&hub, &order));
    }
    order = (Order){.kind = ORDER_RELEASE, .client = 1, .id = -1};
    assert_true(hub_order(&hub, &order));
    order = (Order){.kind = ORDER_DRAG, .client = 2, .id = -1, .index = 2};
    assert_true(hub_order(&hub, &order)); /* not past the release */
    order.id = 7;
    assert_true(hub_order(&hub, &order)); /* wants an answer */
    order.id = -1;
    assert_true(hub_order(&hub, &order));
    static const OrderKind kinds[] = {ORDER_GRAB,    ORDER_DRAG, ORDER_DRAG, ORDER_DRAG,
                                      ORDER_RELEASE, ORDER_DRAG, ORDER_DRAG, ORDER_DRAG};
    for (int k = 0; k < 8; k++) {
        assert_true(hub_take(&hub, &order));
        assert_int_equal(order.kind, kinds[k]);
        if (k < 1 || k > 3) continue;
        assert_int_equal(order.index, k - 1);
        assert_true(order.point[0] == 3 * HUB_ORDERS - 4 + k);
    }
    assert_false(hub_take(&hub, &order));
    hub_free(&hub);
}

/* Frames in `count` steps of h seconds, each up to `off` early or late. */
static int frames_of(int count, double h, double off)
{
    double next = 0, every = 1.0 / 60;
    int frames = 0;
    srand(24);
    for (int k = 0; k < count; k++) {
        double now = 1000 + k * h + off * (2.0 * rand() / RAND_MAX - 1);
        frames += pace_frame_is_due(&next, now, every);
    }
    return frames;
}

/* Steps of 1/60 s give sixty frames per second, with any jitter: two may be lost until the pace is
 * known. Shorter steps give the same, and one more at the start. */
static void paces(void **unused)
{
    (void)unused;
    for (int ms = 0; ms <= 6; ms++) assert_in_range(frames_of(600, 1.0 / 60, 1e-3 * ms), 598, 600);
    for (int ms = 0; ms <= 3; ms++)
        assert_in_range(frames_of(2400, 1.0 / 240, 1e-3 * ms), 598, 602);
    assert_in_range(frames_of(600, 1.0 / 90, 1e-3), 398, 402);
    assert_int_equal(frames_of(200, 1.0 / 20, 5e-3), 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(digests),    cmocka_unit_test(opening),
                                       cmocka_unit_test(messages),   cmocka_unit_test(wrong_frames),
                                       cmocka_unit_test(requests),   cmocka_unit_test(orders),
                                       cmocka_unit_test(drags_join), cmocka_unit_test(paces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
