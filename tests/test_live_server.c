/* brio live as a browser without a screen sees it: what is given to whom, orders and their answers,
 * a vertex that is pulled, records, clients that misbehave, and the end. */
#define _GNU_SOURCE
#include "loopback.h"

#include <math.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

static pid_t server, second;
static int port;
static char token[33];

static const char scene[] =
    "brio: 1\ntitle: A block\ntime: {h: 1/60, end: 1, fps: 30}\ngravity: [0, 0, 0]\n"
    "integrator: backward-euler\ndamping:\n  - {type: rayleigh, alpha: 0, beta: 0}\n"
    "bodies:\n  - name: block\n    shape: {type: box, size: [0.2, 0.2, 0.2], cells: [2, 2, 2]}\n"
    "    material: {type: neo-hookean, E: 1e4, nu: 0.3, rho: 1000}\n"
    "probes:\n  - {name: corner, body: block, vertex: 0}\n";

/* ---- a client --------------------------------------------------------------------------- */

typedef struct Client {
    int fd;
    uint8_t *message; /* the last one */
    size_t size;
    int kind, id;
    char trouble[3000]; /* the last settings that told of one */
} Client;

static void send_all(int fd, const void *data, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t sent = send(fd, (const char *)data + at, size - at, MSG_NOSIGNAL);
        if (sent <= 0) return;
        at += (size_t)sent;
    }
}

static bool read_bytes(int fd, void *data, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t got = recv(fd, (char *)data + at, size - at, 0);
        if (got <= 0) return false;
        at += (size_t)got;
    }
    return true;
}

/* The answer to a request, all of it. */
static const char *ask(const char *format, ...)
{
    static char answer[1 << 19];
    char request[12000];
    va_list list;
    va_start(list, format);
    vsnprintf(request, sizeof request, format, list);
    va_end(list);
    size_t have = 0;
    int fd = connect_to(htonl(INADDR_LOOPBACK), port);
    assert_true(fd >= 0);
    send_all(fd, request, strlen(request));
    for (ssize_t got; have + 1 < sizeof answer &&
                      (got = recv(fd, answer + have, sizeof answer - 1 - have, 0)) > 0;)
        have += (size_t)got;
    close(fd);
    answer[have] = 0;
    return answer;
}

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* Opens a WebSocket; what the server says to the request. */
static const char *open_socket(Client *c, const char *key, const char *host, const char *origin)
{
    static char head[2048];
    char request[1024];
    *c = (Client){.fd = connect_to(htonl(INADDR_LOOPBACK), port)};
    assert_true(c->fd >= 0);
    int size =
        snprintf(request, sizeof request,
                 "GET /socket?token=%s HTTP/1.1\r\nHost: %s\r\n%s%s%sUpgrade: websocket\r\n"
                 "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                 "Sec-WebSocket-Version: 13\r\n\r\n",
                 key, host, origin ? "Origin: " : "", origin ? origin : "", origin ? "\r\n" : "");
    send_all(c->fd, request, (size_t)size);
    size_t have = 0;
    while (have + 1 < sizeof head && read_bytes(c->fd, head + have, 1)) {
        head[++have] = 0;
        if (have >= 4 && !strcmp(head + have - 4, "\r\n\r\n")) break;
    }
    head[have] = 0;
    return head;
}

static void leave(Client *c)
{
    close(c->fd);
    free(c->message);
    *c = (Client){.fd = -1};
}

/* The next message of the server; 0: the connection has ended. */
static int next_message(Client *c)
{
    uint8_t head[10];
    uint64_t size;
    if (!read_bytes(c->fd, head, 2)) return 0;
    assert_int_equal(head[0] & 0xf0, 0x80); /* whole, no extensions; and not masked: */
    assert_int_equal(head[1] & 0x80, 0);
    size = head[1];
    int more = size == 126 ? 2 : size == 127 ? 8 : 0;
    if (more) {
        size = 0;
        assert_true(read_bytes(c->fd, head + 2, (size_t)more));
        for (int i = 0; i < more; i++) size = size << 8 | head[2 + i];
    }
    c->message = realloc(c->message, size + 1);
    assert_non_null(c->message);
    assert_true(read_bytes(c->fd, c->message, size));
    c->message[size] = 0;
    c->size = size;
    c->kind = head[0] & 15;
    if (c->kind == 1 && strstr((char *)c->message, "\"trouble\": \""))
        snprintf(c->trouble, sizeof c->trouble, "%s", (char *)c->message);
    return c->kind;
}

static void send_frame(Client *c, int first, const void *data, size_t size)
{
    uint8_t bytes[70000] = {(uint8_t)first, (uint8_t)(0x80 | (size < 126 ? size : 126))};
    size_t head = 2;
    if (size >= 126) {
        bytes[2] = (uint8_t)(size >> 8);
        bytes[3] = (uint8_t)size;
        head = 4;
    }
    head += 4; /* a mask of zeros */
    memcpy(bytes + head, data, size);
    send_all(c->fd, bytes, head + size);
}

enum { TEXT = 1, BYTES = 2, CLOSE = 8, PING = 9 };

/* A frame of the simulation: skips other messages, and says that it was drawn. */
typedef struct Frame {
    double time;
    double hand[6]; /* point and grip of the first */
    int hands;
    double mean_x; /* of the vertices */
} Frame;

static Frame next_frame(Client *c)
{
    enum { LEDGER_ROWS = 25 };
    Frame f = {0};
    uint32_t head[6];
    do assert_int_not_equal(next_message(c), 0);
    while (c->kind != BYTES || (memcpy(head, c->message, sizeof head), head[0] != 2));
    const uint8_t *at = c->message + sizeof head;
    memcpy(&f.time, at, sizeof f.time);
    at += LEDGER_ROWS * sizeof(double) + head[4] * 8 * sizeof(double);
    f.hands = (int)head[3];
    for (int k = 0; f.hands && k < 6; k++) {
        float number;
        memcpy(&number, at + (size_t)k * sizeof number, sizeof number);
        f.hand[k] = (double)number;
    }
    at += head[3] * 8 * sizeof(float);
    size_t vertices = (size_t)(c->message + c->size - at) / (3 * sizeof(float));
    assert_int_equal(vertices, 26); /* of the surface */
    for (size_t v = 0; v < vertices; v++) {
        float x;
        memcpy(&x, at + 3 * v * sizeof x, sizeof x);
        f.mean_x += (double)x / (double)vertices;
    }
    send_frame(c, 0x82, &head[2], sizeof head[2]);
    return f;
}

/* An order and its answer; frames on the way are acknowledged. */
static const char *order(Client *c, const char *format, ...)
{
    char text[2000], body[1900], mark[40];
    va_list list;
    va_start(list, format);
    vsnprintf(body, sizeof body, format, list);
    va_end(list);
    int size = snprintf(text, sizeof text, "{\"id\": %d, %s}", ++c->id, body);
    snprintf(mark, sizeof mark, "\"id\": %d,", c->id);
    send_frame(c, 0x81, text, (size_t)size);
    for (;;) {
        int kind = next_message(c);
        if (kind == 0) fail_msg("no answer to %s", text);
        if (kind == BYTES) send_frame(c, 0x82, c->message, 4);
        if (kind == TEXT && strstr((char *)c->message, "\"answer\"") &&
            strstr((char *)c->message, mark))
            return (char *)c->message;
    }
}

static void expect_done(Client *c, const char *body)
{
    const char *answer = order(c, "%s", body);
    if (!strstr(answer, "\"ok\": true")) fail_msg("%s: %s", body, answer);
}

static void expect_refused(Client *c, const char *body, const char *sentence)
{
    const char *answer = order(c, "%s", body);
    if (!strstr(answer, "\"ok\": false") || !strstr(answer, sentence))
        fail_msg("%s: %s", body, answer);
}

/* Connected, with the scene, the shapes and the settings read. */
static void join(Client *c)
{
    char host[64], origin[80];
    snprintf(host, sizeof host, "127.0.0.1:%d", port);
    snprintf(origin, sizeof origin, "http://127.0.0.1:%d", port);
    const char *head = open_socket(c, token, host, origin);
    for (int tries = 0; tries < 100 && begins(head, "HTTP/1.1 503 "); tries++) {
        leave(c); /* those who have left are not forgotten yet */
        pause_for(0.1);
        head = open_socket(c, token, host, origin);
    }
    if (!begins(head, "HTTP/1.1 101 ")) fail_msg("%s", head);
    assert_non_null(strstr(head, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
    assert_int_equal(next_message(c), TEXT);
    assert_non_null(strstr((char *)c->message, "\"type\": \"scene\""));
    assert_non_null(strstr((char *)c->message, "\"title\": \"A block\""));
    assert_int_equal(next_message(c), BYTES);
    assert_int_equal(next_message(c), TEXT);
    assert_non_null(strstr((char *)c->message, "\"type\": \"settings\""));
}

/* The code with which the server closes, after other messages. */
static int close_code(Client *c)
{
    for (int kind; (kind = next_message(c)) != 0;)
        if (kind == CLOSE) return c->message[0] << 8 | c->message[1];
    return 0;
}

/* ---- the program ------------------------------------------------------------------------ */

static bool start_server(const char *name, long file_limit, pid_t *process)
{
    char text[400] = "";
    const char *const arguments[] = {"live", name, "--no-open", "--threads", "1", NULL};
    unlink(".out");
    *process = start_program(arguments, file_limit);
    for (int tries = 0; tries < 400; tries++) {
        char *now = read_all(".out", NULL);
        snprintf(text, sizeof text, "%s", now ? now : "");
        free(now);
        if (sscanf(text, "http://127.0.0.1:%d/?token=%32s", &port, token) == 2) return true;
        int status;
        if (waitpid(*process, &status, WNOHANG) == *process) break;
        pause_for(0.05);
    }
    *process = 0;
    return false;
}

static int start(void **state)
{
    if (enter_folder(state) != 0) return -1;
    write_text("block.yaml", scene);
    if (start_server("block.yaml", 0, &server)) return 0;
    char *err = read_all(".err", NULL);
    bool without = err && strstr(err, "built without its page");
    print_message("%s%s", without ? "SKIPPED: " : "", err ? err : "");
    free(err);
    if (without) exit(77);
    return -1;
}

static int stop(void **state)
{
    if (server > 0) kill(server, SIGKILL);
    if (second > 0) kill(second, SIGKILL);
    return leave_folder(state);
}

/* ---- tests ------------------------------------------------------------------------------ */

static void gives_the_page(void **state)
{
    (void)state;
    assert_int_equal(strlen(token), 32);
    const char *answer = ask("GET /?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", token, port);
    assert_true(begins(answer, "HTTP/1.1 200 OK\r\n"));
    assert_non_null(strstr(answer, "\r\nContent-Encoding: deflate\r\n"));
    assert_non_null(strstr(answer, "\r\nContent-Security-Policy: default-src 'none';"));
    assert_non_null(strstr(answer, "\r\nReferrer-Policy: no-referrer\r\n"));
    assert_non_null(strstr(answer, "\r\nX-Frame-Options: DENY\r\n"));
    answer = ask("HEAD /?token=%s HTTP/1.1\r\nHost: localhost:%d\r\n\r\n", token, port);
    assert_true(begins(answer, "HTTP/1.1 200 OK\r\n"));
    assert_string_equal(strstr(answer, "\r\n\r\n"), "\r\n\r\n");
}

static void refuses_others(void **state)
{
    (void)state;
    char wrong[33];
    snprintf(wrong, sizeof wrong, "%s", token);
    wrong[31] = wrong[31] == '0' ? '1' : '0';
    const char *own = "Host: 127.0.0.1";
    const char *answer = ask("GET / HTTP/1.1\r\n%s:%d\r\n\r\n", own, port);
    assert_true(begins(answer, "HTTP/1.1 403 "));
    assert_non_null(strstr(answer, "The token is missing or wrong"));
    answer = ask("GET /?token=%s HTTP/1.1\r\n%s:%d\r\n\r\n", wrong, own, port);
    assert_true(begins(answer, "HTTP/1.1 403 "));
    /* a name of another site that leads here */
    answer = ask("GET /?token=%s HTTP/1.1\r\nHost: evil.example:%d\r\n\r\n", token, port);
    assert_true(begins(answer, "HTTP/1.1 403 "));
    assert_true(begins(ask("GET /?token=%s HTTP/1.1\r\n\r\n", token), "HTTP/1.1 403 "));
    answer = ask("GET /block.yaml?token=%s HTTP/1.1\r\n%s:%d\r\n\r\n", token, own, port);
    assert_true(begins(answer, "HTTP/1.1 404 "));
    answer = ask("POST /?token=%s HTTP/1.1\r\n%s:%d\r\n\r\n", token, own, port);
    assert_true(begins(answer, "HTTP/1.1 405 "));
    assert_true(begins(ask("nonsense\r\n\r\n"), "HTTP/1.1 400 "));
    static char large[9000];
    memset(large, 'a', sizeof large - 1);
    assert_true(begins(ask("%s", large), "HTTP/1.1 431 "));

    char host[64], origin[80];
    Client c;
    snprintf(host, sizeof host, "127.0.0.1:%d", port);
    snprintf(origin, sizeof origin, "http://127.0.0.1:%d", port);
    const struct {
        const char *token, *host, *origin;
    } sockets[] = {{wrong, host, origin},           {"", host, origin},
                   {token, "evil.example", origin}, {token, host, "http://evil.example"},
                   {token, host, "null"},           {token, host, NULL}};
    for (size_t k = 0; k < sizeof sockets / sizeof *sockets; k++) {
        const char *head = open_socket(&c, sockets[k].token, sockets[k].host, sockets[k].origin);
        if (!begins(head, "HTTP/1.1 403 ")) fail_msg("socket %zu: %s", k, head);
        leave(&c);
    }
}

static void other_hosts_cannot_connect(void **state)
{
    (void)state;
    expect_closed_to_others(port);
}

/* The native state follows a hand. */
static void a_vertex_is_pulled(void **state)
{
    (void)state;
    Client c;
    Frame f;
    join(&c);
    f = next_frame(&c);
    double before = f.mean_x, began = f.time;
    const char *answer = order(&c, "\"do\": \"grab\", \"body\": 0, \"vertex\": 0");
    assert_non_null(strstr(answer, "\"ok\": true"));
    assert_non_null(strstr(answer, "A hand holds \\\"block\\\"."));
    expect_done(&c, "\"do\": \"drag\", \"hand\": 0, \"point\": [0.6, -0.1, -0.1]");
    for (int n = 0; n < 600; n++) {
        f = next_frame(&c);
        if (f.hands == 1 && fabs(f.hand[3] - 0.6) < 0.05 && f.time > began + 1) break;
    }
    print_message("hand at x = %.3f m, its grip at %.3f m; the block went from %.3f to %.3f m in "
                  "%.2f s\n",
                  f.hand[0], f.hand[3], before, f.mean_x, f.time - began);
    assert_int_equal(f.hands, 1);
    assert_true(fabs(f.hand[0] - 0.6) < 1e-6);
    assert_true(fabs(f.hand[3] - 0.6) < 0.05); /* the grip is where the hand is */
    assert_true(f.mean_x > before + 0.2);
    expect_done(&c, "\"do\": \"release\", \"hand\": 0");
    expect_refused(&c, "\"do\": \"drag\", \"hand\": 0, \"point\": [0, 0, 0]", "grab first");
    /* by a ray, and one that meets nothing */
    expect_done(&c, "\"do\": \"restart\"");
    expect_done(&c, "\"do\": \"pause\"");
    expect_done(&c, "\"do\": \"restart\"");
    answer = order(&c, "\"do\": \"grab\", \"origin\": [0, 0, 5], \"direction\": [0, 0, -1]");
    assert_non_null(strstr(answer, "\"hand\": 0"));
    answer = order(&c, "\"do\": \"grab\", \"origin\": [5, 5, 5], \"direction\": [0, 1, 0]");
    assert_non_null(strstr(answer, "\"hand\": -1"));
    expect_done(&c, "\"do\": \"play\"");
    leave(&c);
}

static void settings_change(void **state)
{
    (void)state;
    Client c, other;
    join(&c);
    join(&other);
    expect_done(&c, "\"do\": \"material\", \"body\": 0, \"name\": \"E\", \"value\": 2e4");
    for (;;) { /* the other browser is told */
        assert_int_not_equal(next_message(&other), 0);
        if (other.kind == TEXT && strstr((char *)other.message, "\"E\": 20000")) break;
    }
    expect_done(&c, "\"do\": \"damping\", \"model\": 0, \"name\": \"beta\", \"value\": 0.01");
    expect_done(&c, "\"do\": \"gravity\", \"value\": [0, -1, 0]");
    expect_done(&c, "\"do\": \"integrator\", \"name\": \"a-search\", \"values\": {\"decay\": 5}");
    expect_done(&c, "\"do\": \"integrator\", \"name\": \"a-search\", \"values\": {\"decay\": []}");
    expect_done(&c, "\"do\": \"h\", \"value\": 0.008");
    expect_done(&c, "\"do\": \"speed\", \"value\": 0");
    expect_refused(&c, "\"do\": \"material\", \"body\": 0, \"name\": \"nu\", \"value\": 7", "nu");
    expect_refused(&c, "\"do\": \"material\", \"body\": 0, \"name\": \"rho\", \"value\": 7",
                   "determines its masses");
    expect_done(&c, "\"do\": \"material\", \"name\": \"E\", \"value\": 3e4");
    expect_refused(&c, "\"do\": \"material\", \"name\": \"k\", \"value\": 3e4", "no material");
    expect_refused(&c, "\"do\": \"material\", \"body\": 3, \"name\": \"E\", \"value\": 7",
                   "there is no body 3");
    expect_refused(&c, "\"do\": \"damping\", \"model\": 2, \"name\": \"beta\", \"value\": 1",
                   "there is no damping model 2");
    expect_refused(&c, "\"do\": \"force\", \"force\": 0, \"value\": 1", "force");
    expect_refused(&c, "\"do\": \"integrator\", \"name\": \"eulr\"", "no integrator");
    expect_refused(&c, "\"do\": \"integrator\", \"name\": \"a-search\", \"values\": {\"deca\": 1}",
                   "did you mean");
    expect_refused(&c, "\"do\": \"h\", \"value\": 0", "out of range");
    expect_refused(&c, "\"do\": \"speed\", \"value\": -1", "not positive");
    expect_refused(&c, "\"do\": \"dance\"", "no order");
    expect_refused(&c, "\"do\": \"record\"", "nothing is being recorded");
    const char *answer = order(&c, "\"do\": \"restart\", \"reset\": true");
    assert_non_null(strstr(answer, "as the scene says"));
    expect_done(&c, "\"do\": \"speed\", \"value\": 1");
    leave(&c);
    leave(&other);
}

/* An explicit method with a step that is much too long. */
static void an_explosion_is_told(void **state)
{
    (void)state;
    Client c;
    join(&c);
    next_frame(&c);
    /* or it explodes, and lets go, before it is dragged */
    expect_done(&c, "\"do\": \"pause\"");
    expect_done(&c, "\"do\": \"integrator\", \"name\": \"forward-euler\"");
    expect_done(&c, "\"do\": \"h\", \"value\": 0.1");
    expect_done(&c, "\"do\": \"speed\", \"value\": 0");
    expect_done(&c, "\"do\": \"grab\", \"body\": 0, \"vertex\": 0");
    expect_done(&c, "\"do\": \"drag\", \"hand\": 0, \"point\": [0.3, 0, 0]");
    expect_done(&c, "\"do\": \"play\"");
    while (!c.trouble[0]) {
        assert_int_not_equal(next_message(&c), 0);
        if (c.kind == BYTES) send_frame(&c, 0x82, c.message, 4);
    }
    print_message("%.300s\n", strstr(c.trouble, "\"trouble\""));
    assert_non_null(strstr(c.trouble, "\"playing\": false"));
    assert_non_null(strstr(c.trouble, "use a shorter time.h"));
    assert_non_null(strstr(c.trouble, "\"exploded\": true"));
    assert_non_null(strstr(c.trouble, "It is back at t = "));
    /* with another method it goes on from there */
    expect_done(&c, "\"do\": \"integrator\", \"name\": \"backward-euler\"");
    expect_done(&c, "\"do\": \"play\"");
    c.trouble[0] = 0;
    double t = next_frame(&c).time;
    while (next_frame(&c).time < t + 1) {}
    assert_string_equal(c.trouble, "");
    expect_done(&c, "\"do\": \"restart\", \"reset\": true");
    expect_done(&c, "\"do\": \"speed\", \"value\": 1");
    expect_done(&c, "\"do\": \"play\"");
    next_frame(&c);
    leave(&c);
}

static void records(void **state)
{
    (void)state;
    Client c;
    Frame f;
    struct stat info;
    join(&c);
    expect_done(&c, "\"do\": \"restart\", \"reset\": true");
    expect_done(&c, "\"do\": \"integrator\", \"name\": \"bdf2\"");
    assert_non_null(strstr(order(&c, "\"do\": \"record\", \"on\": true"), "block-live-1"));
    expect_refused(&c, "\"do\": \"record\", \"on\": true", "already");
    expect_done(&c, "\"do\": \"grab\", \"body\": 0, \"vertex\": 3");
    expect_done(&c, "\"do\": \"drag\", \"hand\": 0, \"point\": [0.4, 0.2, 0]");
    double from = next_frame(&c).time;
    do f = next_frame(&c);
    while (f.time < from + 0.5);
    expect_done(&c, "\"do\": \"material\", \"body\": 0, \"name\": \"E\", \"value\": 3e4");
    assert_non_null(
        strstr(order(&c, "\"do\": \"record\", \"on\": false"), "brio view block-live-1"));
    leave(&c);
    char *energy = read_all("block-live-1/energy.csv", NULL);
    assert_non_null(energy);
    assert_non_null(strstr(energy, "\n0,0,")); /* counted from the start of the record */
    assert_non_null(strstr(energy, "\n20,"));
    free(energy);
    char *run = read_all("block-live-1/run.json", NULL);
    assert_non_null(strstr(run, "\"verdict\": \"completed\""));
    assert_non_null(strstr(run, "\"change\": \"integrator = bdf2\""));
    assert_non_null(strstr(run, "\"change\": \"E of \\\"block\\\" = 30000\""));
    assert_non_null(strstr(run, "\"integrator\": \"bdf2\""));
    free(run);
    assert_int_equal(stat("block-live-1/probes.csv", &info), 0);
    const Outcome *o = BRIO("view", "block-live-1", "--print");
    print_message("%s%s", o->out, o->err);
    assert_int_equal(o->code, 0);
    assert_int_equal(stat("block-live-1/report.html", &info), 0);
    o = BRIO("convert", "block-live-1", "-o", "film.glb");
    print_message("%s%s", o->out, o->err);
    assert_int_equal(o->code, 0);
    assert_true(stat("film.glb", &info) == 0 && info.st_size > 1000);
    o = BRIO("run", "block.yaml", "-o", "block-live-1", "--resume");
    assert_int_equal(o->code, 2);
    assert_non_null(strstr(o->err, "no checkpoint to continue from"));
}

/* The file was edited: what browsers have changed stays, the rest is as it says now. */
static void restart_reads_the_scene_again(void **state)
{
    (void)state;
    static const char edited[] =
        "brio: 1\ntitle: A block\ntime: {h: 1/32, end: 1, fps: 30}\ngravity: [0, 0, 0]\n"
        "integrator: bdf2\ndamping:\n  - {type: rayleigh, alpha: 0, beta: 0.5}\n"
        "bodies:\n  - name: block\n    shape: {type: box, size: [0.2, 0.2, 0.2], cells: [2, 2, "
        "2]}\n"
        "    material: {type: neo-hookean, E: 7e4, nu: 0.25, rho: 1000}\n";
    Client c, other;
    join(&c);
    expect_done(&c, "\"do\": \"restart\", \"reset\": true");
    expect_done(&c, "\"do\": \"gravity\", \"value\": [0, -2, 0]");
    expect_done(&c, "\"do\": \"material\", \"body\": 0, \"name\": \"nu\", \"value\": 0.125");
    write_text("block.yaml", edited);
    expect_done(&c, "\"do\": \"restart\"");
    join(&other); /* gets the settings of now */
    const char *const settings[] = {"\"E\": 70000",          "\"nu\": 0.125",
                                    "\"h\": 0.03125",        "\"integrator\": \"bdf2\"",
                                    "\"gravity\": [0, -2, ", "\"beta\": 0.5"};
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
        if (!strstr((char *)other.message, settings[k]))
            fail_msg("no %s in %s", settings[k], (char *)other.message);
    leave(&other);
    write_text("block.yaml", scene);
    expect_done(&c, "\"do\": \"restart\", \"reset\": true");
    leave(&c);
}

/* Restarts while it pauses, when no later frame would come: the first one is not ahead of the scene
 * that it belongs to. The client keeps the server awake, so that it may look at any moment. */
static void frames_come_after_their_scene(void **state)
{
    (void)state;
    Client c;
    unsigned known = 0, shown = 0;
    join(&c);
    expect_done(&c, "\"do\": \"pause\"");
    for (int n = 0; n < 100; n++) {
        const char text[] = "{\"do\": \"restart\"}";
        send_frame(&c, 0x81, text, sizeof text - 1);
        for (unsigned before = known; known == before || shown < known;) {
            uint32_t head[3] = {0};
            for (int k = 0; k < 20; k++) send_frame(&c, 0x8a, "", 0); /* a pong */
            assert_int_not_equal(next_message(&c), 0);
            const char *at = c.kind == TEXT ? strstr((char *)c.message, "\"generation\": ") : NULL;
            if (at) sscanf(at, "\"generation\": %u", &known);
            if (c.kind != BYTES) continue;
            memcpy(head, c.message, sizeof head);
            if (head[0] != 2) continue;
            shown = head[1];
            send_frame(&c, 0x82, &head[2], sizeof head[2]);
            if (known && shown > known) fail_msg("frame of scene %u, known is %u", shown, known);
        }
    }
    expect_done(&c, "\"do\": \"play\"");
    leave(&c);
}

/* What a record says of the time before it, of hands, and of a restart that fails. */
static void a_record_lists_changes(void **state)
{
    (void)state;
    static const char twins[] =
        "brio: 1\ntitle: A block\ngravity: [0, 0, 0]\nbodies:\n"
        "  - {name: \"k = 1\", shape: {type: box, cells: [1, 1, 1]}, material: neo-hookean}\n"
        "  - {name: \"k = 2\", shape: {type: box, cells: [1, 1, 1]}, material: neo-hookean, "
        "transform: {translate: [3, 0, 0]}}\n";
    static const char *const changes[] = {"E of \\\"k = 2\\\" = 40000\"",
                                          "E of all bodies = 50000\"",
                                          "E of \\\"k = 1\\\" = 60000\"",
                                          "A hand holds \\\"k = 1\\\".\"",
                                          "Let go.\"",
                                          "nu of \\\"k = 2\\\" = 0.25\""};
    Client c, gone;
    join(&c);
    join(&gone);
    write_text("block.yaml", twins);
    expect_done(&c, "\"do\": \"restart\", \"reset\": true");
    expect_done(&c, "\"do\": \"material\", \"body\": 0, \"name\": \"E\", \"value\": 3e4");
    expect_done(&c, "\"do\": \"material\", \"body\": 1, \"name\": \"E\", \"value\": 4e4");
    expect_done(&c, "\"do\": \"material\", \"name\": \"E\", \"value\": 5e4");
    expect_done(&c, "\"do\": \"material\", \"body\": 0, \"name\": \"E\", \"value\": 6e4");
    expect_done(&gone, "\"do\": \"grab\", \"body\": 0, \"vertex\": 0");
    assert_non_null(strstr(order(&c, "\"do\": \"record\", \"on\": true"), "block-live-2"));
    expect_done(&c, "\"do\": \"grab\", \"origin\": [9, 9, 9], \"direction\": [0, 1, 0]");
    leave(&gone);
    write_text("block.yaml", "bodies: [");
    expect_refused(&c, "\"do\": \"restart\"", "block.yaml");
    pause_for(0.5); /* its hand lets go */
    expect_done(&c, "\"do\": \"material\", \"body\": 1, \"name\": \"nu\", \"value\": 0.25");
    expect_done(&c, "\"do\": \"record\", \"on\": false");
    write_text("block.yaml", scene);
    expect_done(&c, "\"do\": \"restart\", \"reset\": true");
    leave(&c);
    char *run = read_all("block-live-2/run.json", NULL), *list = strstr(run, "\"changes\"");
    assert_non_null(list);
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) { /* in this order */
        char *found = strstr(list, changes[k]);
        if (!found) fail_msg("no %s in %s", changes[k], list);
        list = found;
    }
    assert_null(strstr(run, "= 30000\"")); /* it was changed later */
    assert_null(strstr(run, "nothing to grab"));
    free(run);
    assert_int_equal(rename("block-live-2", "changes"), 0);
}

/* A restart ends the record: what could not be written is told. */
static void a_record_that_is_lost_is_told(void **state)
{
    (void)state;
    enum { LIMIT = 3000 }; /* bytes; run.json has fewer */
    int first_port = port;
    char first_token[33];
    Client c;
    memcpy(first_token, token, sizeof token);
    assert_true(start_server("block.yaml", LIMIT, &second));
    join(&c);
    expect_done(&c, "\"do\": \"pause\"");
    expect_done(&c, "\"do\": \"restart\"");
    assert_non_null(strstr(order(&c, "\"do\": \"record\", \"on\": true"), "block-live-2"));
    expect_done(&c, "\"do\": \"step\", \"count\": 20"); /* frames of 3.7 kB, not written yet */
    for (bool done = false; !done;) done = next_frame(&c).time > 19.5 / 60;
    expect_done(&c, "\"do\": \"restart\"");
    print_message("%.200s\n", c.trouble[0] ? strstr(c.trouble, "\"trouble\"") : "");
    assert_non_null(strstr(c.trouble, "cannot write block-live-2/"));
    assert_non_null(strstr(c.trouble, "\"playing\": false"));
    leave(&c);
    assert_int_equal(kill(second, SIGINT), 0);
    assert_int_equal(wait_program(second), 0);
    second = 0;
    assert_int_equal(rename("block-live-2", "lost"), 0);
    memcpy(token, first_token, sizeof token);
    port = first_port;
}

/* Each in a connection of its own. */
static void wrong_frames_are_closed(void **state)
{
    (void)state;
    static const uint8_t bare[] = {0x81, 0x02, 'h', 'i'};
    static char large[20000];
    Client c;
    join(&c);
    send_all(c.fd, bare, sizeof bare);
    assert_int_equal(close_code(&c), 1002);
    leave(&c);
    join(&c);
    send_frame(&c, 0x81, large, sizeof large);
    assert_int_equal(close_code(&c), 1009);
    leave(&c);
    join(&c);
    send_frame(&c, 0x81, "\xff\xfe", 2);
    assert_int_equal(close_code(&c), 1007);
    leave(&c);
    join(&c);
    send_frame(&c, 0x82, "12345", 5);
    assert_int_equal(close_code(&c), 1008);
    leave(&c);
    join(&c);
    send_frame(&c, 0x88, "\x03\xe8", 2);
    assert_int_equal(close_code(&c), 1000);
    leave(&c);
    join(&c); /* nonsense is answered, not closed */
    send_frame(&c, 0x81, "\"do", 3);
    do assert_int_not_equal(next_message(&c), 0);
    while (c.kind != TEXT || !strstr((char *)c.message, "\"ok\": false"));
    expect_done(&c, "\"do\": \"play\"");
    leave(&c);
}

/* A browser that reads nothing, one that goes without a word while it holds, and more than may
 * watch: the engine's clock goes on, the hand lets go, and the rest is rejected. */
static void browsers_come_and_go(void **state)
{
    (void)state;
    enum { WATCHERS = 8 };
    Client slow, gone, many[WATCHERS + 1];
    Frame f;
    char host[64], origin[80];
    join(&slow);
    join(&gone);
    double began = next_frame(&gone).time;
    expect_done(&gone, "\"do\": \"grab\", \"body\": 0, \"vertex\": 0");
    assert_int_equal(shutdown(gone.fd, SHUT_RDWR), 0);
    leave(&gone);
    pause_for(0.3);
    join(&gone);
    do f = next_frame(&gone);
    while (f.time < began + 0.5 || f.hands > 0);
    assert_true(f.time > began + 0.2);
    leave(&gone);
    leave(&slow);
    pause_for(0.3);
    for (int k = 0; k < WATCHERS; k++) join(&many[k]);
    snprintf(host, sizeof host, "127.0.0.1:%d", port);
    snprintf(origin, sizeof origin, "http://127.0.0.1:%d", port);
    assert_true(begins(open_socket(&many[WATCHERS], token, host, origin), "HTTP/1.1 503 "));
    for (int k = 0; k <= WATCHERS; k++) leave(&many[k]);
    int idle[60]; /* more connections than it keeps, which say nothing */
    for (int k = 0; k < 60; k++)
        assert_true((idle[k] = connect_to(htonl(INADDR_LOOPBACK), port)) >= 0);
    gives_the_page(NULL);
    for (int k = 0; k < 60; k++) close(idle[k]);
}

static double processor_time(pid_t process)
{
    clockid_t clock;
    struct timespec t;
    assert_int_equal(clock_getcpuclockid(process, &clock), 0);
    assert_int_equal(clock_gettime(clock, &t), 0);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The number that its next file would get. */
static int next_descriptor(pid_t process)
{
    char name[64];
    struct stat file;
    for (int fd = 0;; fd++) {
        snprintf(name, sizeof name, "/proc/%d/fd/%d", (int)process, fd);
        if (lstat(name, &file)) return fd;
    }
}

/* No descriptor is free for another browser: the server waits, without using the processor, and
 * takes it as soon as one is. */
static void a_connection_that_cannot_be_taken_waits(void **state)
{
    (void)state;
    Client c;
    struct rlimit before, few;
    join(&c);
    expect_done(&c, "\"do\": \"pause\"");
    pause_for(0.3);
    assert_int_equal(prlimit(server, RLIMIT_NOFILE, NULL, &before), 0);
    few = (struct rlimit){.rlim_cur = (rlim_t)next_descriptor(server), .rlim_max = before.rlim_max};
    assert_int_equal(prlimit(server, RLIMIT_NOFILE, &few, NULL), 0);
    int waiting = connect_to(htonl(INADDR_LOOPBACK), port);
    assert_true(waiting >= 0);
    pause_for(0.1);
    double used = processor_time(server);
    pause_for(1);
    used = processor_time(server) - used;
    print_message("%.3f s of the processor in 1 s\n", used);
    assert_true(used < 0.1);
    expect_done(&c, "\"do\": \"play\""); /* who is in is served */
    assert_int_equal(prlimit(server, RLIMIT_NOFILE, &before, NULL), 0);
    gives_the_page(NULL);
    close(waiting);
    leave(&c);
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    char number[20];
    snprintf(number, sizeof number, "%d", port);
    const Outcome *o = BRIO("live", "block.yaml", "--no-open", "--port", number);
    assert_int_equal(o->code, 1);
    assert_non_null(strstr(o->err, "cannot be had: Address already in use; leave --port out"));
    assert_int_equal(BRIO("live")->code, 2);
    assert_int_equal(BRIO("live", "no-such-scene", "--no-open")->code, 2);
    assert_int_equal(BRIO("live", "block.yaml", "--port", "70000")->code, 2);
}

/* Ctrl-C, while it records: the record is whole, browsers are told, nothing listens any more. */
static void ends_with_a_signal(void **state)
{
    (void)state;
    Client c;
    join(&c);
    assert_non_null(strstr(order(&c, "\"do\": \"record\", \"on\": true"), "block-live-2"));
    for (int k = 0; k < 5; k++) next_frame(&c);
    assert_int_equal(kill(server, SIGINT), 0);
    assert_int_equal(close_code(&c), 1001);
    leave(&c);
    assert_int_equal(wait_program(server), 0);
    server = 0;
    assert_int_equal(connect_to(htonl(INADDR_LOOPBACK), port), -1);
    char *run = read_all("block-live-2/run.json", NULL);
    assert_non_null(strstr(run, "\"verdict\": \"stopped\""));
    free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_page),
        cmocka_unit_test(refuses_others),
        cmocka_unit_test(other_hosts_cannot_connect),
        cmocka_unit_test(a_vertex_is_pulled),
        cmocka_unit_test(settings_change),
        cmocka_unit_test(an_explosion_is_told),
        cmocka_unit_test(records),
        cmocka_unit_test(restart_reads_the_scene_again),
        cmocka_unit_test(frames_come_after_their_scene),
        cmocka_unit_test(a_record_lists_changes),
        cmocka_unit_test(a_record_that_is_lost_is_told),
        cmocka_unit_test(wrong_frames_are_closed),
        cmocka_unit_test(browsers_come_and_go),
        cmocka_unit_test(a_connection_that_cannot_be_taken_waits),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(ends_with_a_signal),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
