/* Requests, WebSockets and their limits. Every client is bounded: in the bytes that it may send
 * before it is answered, in the messages that wait for it, in the time that it may be silent. A
 * client gets the newest frame when it has drawn the previous one: a slow client skips frames and
 * does not delay others. */
#define _GNU_SOURCE /* accept4 */
#include "server.h"

#include "order.h"
#include "request.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    MAX_CLIENTS = 32, /* connections, */
    MAX_WATCHERS = 8, /* of which WebSockets */
    MAX_QUEUE = 64,   /* messages that wait for one of them */
    UNDRAWN = 2,      /* frames that it may have got and not drawn */
    MAX_BATCH = 64    /* messages of one client that are read at a time */
};
static const double request_time = 5;  /* s: until a client has said what it wants */
static const double answer_time = 30;  /* s: until it has taken the answer */
static const double ping_every = 20;   /* s */
static const double silence_time = 60; /* s: without an answer to a ping it is gone */
static const double deaf_time = 0.1;   /* s: after a connection could not be taken */

typedef enum Stage { ASKING, ANSWERED, WATCHING, CLOSING } Stage;

typedef struct Client {
    int fd;
    Stage stage;
    uint64_t id;
    double since, heard, pinged; /* s on the clock: of the stage; of its last message; of ours */
    char head[REQUEST_MAX + 1];
    size_t head_size;
    WebSocket socket;
    Packet *queue[MAX_QUEUE]; /* to be sent, the first of them in part */
    int queue_count;
    size_t sent;
    uint32_t frame; /* number of the last one sent */
    int undrawn;    /* frames that it has not said to have drawn */
} Client;

struct Server {
    Hub *hub;
    int listener, port;
    double deaf_until; /* s on the clock: no file descriptor is free */
    const char *token;
    const uint8_t *page;
    size_t page_size;
    uint64_t ids;
    int count;
    Client *client[MAX_CLIENTS]; /* the oldest first */
};

/* ---- clients ---------------------------------------------------------------------------- */

static void enter(Client *c, Stage stage)
{
    c->stage = stage;
    c->since = brio__seconds();
}

/* False: there is no room; the packet is let go. */
static bool enqueue(Client *c, Packet *packet)
{
    if (!packet || c->queue_count == MAX_QUEUE) {
        packet_drop(packet);
        return false;
    }
    c->queue[c->queue_count++] = packet;
    return true;
}

static void drop(Server *s, int i)
{
    Client *c = s->client[i];
    if (c->id != 0) {
        Order gone = {.kind = ORDER_LEAVE, .client = c->id, .id = -1};
        if (!hub_order(s->hub, &gone)) return; /* the engine is busy: later */
    }
    close(c->fd);
    for (int k = 0; k < c->queue_count; k++) packet_drop(c->queue[k]);
    brio__free(c);
    memmove(s->client + i, s->client + i + 1, (size_t)(--s->count - i) * sizeof *s->client);
}

/* Says why, and ends the connection when that is sent. */
static void end_socket(Client *c, int code, const char *reason)
{
    uint8_t *payload;
    size_t size = strlen(reason);
    Packet *packet = packet_create(WEBSOCKET_CLOSE, 2 + size, &payload);
    if (packet) {
        payload[0] = (uint8_t)(code >> 8);
        payload[1] = (uint8_t)code;
        memcpy(payload + 2, reason, size);
    }
    while (c->queue_count > 1) packet_drop(c->queue[--c->queue_count]); /* the first may be cut */
    enqueue(c, packet);
    enter(c, CLOSING);
}

/* ---- requests --------------------------------------------------------------------------- */

static void reply(Client *c, const char *status, const char *fields, const void *body, size_t size)
{
    char head[1024];
    int length = snprintf(head, sizeof head,
                          "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\nConnection: close\r\n"
                          "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                          "Referrer-Policy: no-referrer\r\n"
                          "Cross-Origin-Resource-Policy: same-origin\r\n"
                          "X-Frame-Options: DENY\r\n\r\n",
                          status, fields, size);
    enqueue(c, packet_bytes(head, (size_t)length, body, size));
    enter(c, ANSWERED);
}

static void refuse(Client *c, const char *status, const char *sentence)
{
    char text[400];
    int size = snprintf(text, sizeof text, "%s\n%s\n", status, sentence);
    reply(c, status, "Content-Type: text/plain; charset=utf-8\r\n", text, (size_t)size);
}

static int watchers(const Server *s)
{
    int count = 0;
    for (int i = 0; i < s->count; i++) count += s->client[i]->stage == WATCHING;
    return count;
}

static void open_socket(Server *s, Client *c, const Request *r)
{
    char answer[29], head[256];
    if (!request_is_own(r->origin, s->port, true))
        return refuse(c, "403 Forbidden", "Only the page of this program may connect.");
    if (!r->upgrade || strcmp(r->version, "13") || !websocket_accept(r->key, answer))
        return refuse(c, "400 Bad Request", "This address is for WebSockets of version 13.");
    if (watchers(s) >= MAX_WATCHERS)
        return refuse(c, "503 Service Unavailable", "As many browsers watch as may: close one.");
    int length = snprintf(head, sizeof head,
                          "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                          "Connection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
                          answer);
    enqueue(c, packet_bytes(head, (size_t)length, NULL, 0));
    c->id = ++s->ids;
    c->heard = c->pinged = brio__seconds();
    enter(c, WATCHING);
    pthread_mutex_lock(&s->hub->mutex);
    enqueue(c, packet_hold(s->hub->scene));
    enqueue(c, packet_hold(s->hub->shapes));
    enqueue(c, packet_hold(s->hub->settings));
    pthread_mutex_unlock(&s->hub->mutex);
}

static void give_page(const Server *s, Client *c, bool body)
{
    char fields[512];
    snprintf(fields, sizeof fields,
             "Content-Type: text/html; charset=utf-8\r\nContent-Encoding: deflate\r\n"
             "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; style-src "
             "'unsafe-inline'; img-src data: blob:; connect-src ws://127.0.0.1:%d "
             "ws://localhost:%d; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n",
             s->port, s->port);
    reply(c, "200 OK", fields, s->page, body ? s->page_size : 0);
}

/* `Host` is what a page of another site cannot choose, even if its name leads here. */
static void answer(Server *s, Client *c, size_t length)
{
    Request r;
    if (!request_parse(c->head, length, &r))
        return refuse(c, "400 Bad Request", "That is no request.");
    if (!request_is_own(r.host, s->port, false))
        return refuse(c, "403 Forbidden", "This server answers to its own address only.");
    bool head = !strcmp(r.method, "HEAD");
    if (!head && strcmp(r.method, "GET"))
        return refuse(c, "405 Method Not Allowed", "Only GET and HEAD are answered.");
    bool page = !strcmp(r.path, "/"), socket = !strcmp(r.path, "/socket");
    if (!page && !socket) return refuse(c, "404 Not Found", "There is nothing at this address.");
    if (!request_same_token(r.token, s->token))
        return refuse(c, "403 Forbidden",
                      "The token is missing or wrong: use the whole address that brio live has "
                      "printed.");
    if (socket)
        open_socket(s, c, &r);
    else
        give_page(s, c, !head);
}

static void read_request(Server *s, Client *c)
{
    ssize_t got = recv(c->fd, c->head + c->head_size, REQUEST_MAX - c->head_size, 0);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) return enter(c, CLOSING);
    c->head_size += (size_t)got;
    size_t length = request_length(c->head, c->head_size);
    if (!length && c->head_size == REQUEST_MAX)
        return refuse(c, "431 Request Header Fields Too Large", "The request is too long.");
    if (!length) return;
    size_t rest = c->head_size - length;
    char begun[REQUEST_MAX];
    memcpy(begun, c->head + length, rest);
    answer(s, c, length);
    if (c->stage != WATCHING || rest == 0) return;
    uint8_t *to; /* a client may begin before it has read the answer */
    websocket_room(&c->socket, &to);
    memcpy(to, begun, rest);
    websocket_took(&c->socket, rest);
}

/* ---- messages --------------------------------------------------------------------------- */

static void tell_refusal(Client *c, const Order *order, const BrioError *error)
{
    char sentence[2048], *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file) return;
    BrioJson json = {.file = file, .flat = true};
    brio_error_text(error, sentence, sizeof sentence);
    brio__json_open(&json, NULL, '{');
    brio__json_text(&json, "type", "answer");
    brio__json_integer(&json, "id", order->id);
    brio__json_boolean(&json, "ok", false);
    brio__json_text(&json, "text", sentence);
    brio__json_close(&json, '}');
    if (brio__text_close(file, &text) == BRIO_OK) enqueue(c, packet_text(text));
    free(text);
}

static void take_message(Server *s, Client *c, const WebSocketMessage *m)
{
    Order order;
    BrioError error = {0};
    uint8_t *payload;
    switch (m->kind) {
    case WEBSOCKET_CLOSE: end_socket(c, WEBSOCKET_DONE, ""); return;
    case WEBSOCKET_PONG: return;
    case WEBSOCKET_PING: {
        Packet *pong = packet_create(WEBSOCKET_PONG, m->size, &payload);
        if (pong) memcpy(payload, m->data, m->size);
        enqueue(c, pong);
        return;
    }
    case WEBSOCKET_BINARY: /* the number of a frame that was drawn */
        if (m->size != sizeof(uint32_t))
            return end_socket(c, WEBSOCKET_POLICY, "bytes that say nothing");
        if (c->undrawn > 0) c->undrawn--;
        hub_drawn(s->hub);
        return;
    default: break;
    }
    BrioStatus status = order_read((const char *)m->data, m->size, &order, &error);
    order.client = c->id;
    if (status != BRIO_OK)
        tell_refusal(c, &order, &error);
    else if (!hub_order(s->hub, &order)) {
        brio__error(&error, BRIO_ERROR_UNSUPPORTED,
                    "too many orders wait for the end of the step: this one was dropped");
        tell_refusal(c, &order, &error);
    }
}

static void read_messages(Server *s, Client *c)
{
    for (int n = 0; c->stage == WATCHING && n < MAX_BATCH; n++) {
        WebSocketMessage message;
        int found = websocket_next(&c->socket, &message);
        if (found == 0) return;
        if (found != 1)
            end_socket(c, found,
                       found == WEBSOCKET_TOO_LARGE ? "the message is too large"
                       : found == WEBSOCKET_NO_UTF8 ? "the text is no UTF-8"
                                                    : "that is no frame");
        else
            take_message(s, c, &message);
    }
}

static void read_socket(Server *s, Client *c)
{
    uint8_t *to;
    size_t room = websocket_room(&c->socket, &to);
    ssize_t got = room ? recv(c->fd, to, room, 0) : -1;
    if (room && got == 0) return enter(c, CLOSING);
    if (got < 0 && room && errno != EINTR && errno != EAGAIN) return enter(c, CLOSING);
    if (got > 0) {
        websocket_took(&c->socket, (size_t)got);
        c->heard = brio__seconds();
    }
    read_messages(s, c);
}

/* ---- sending ---------------------------------------------------------------------------- */

/* The newest frame, if the client has drawn those before. Letters that wait in the hub go first:
 * the frame may be of the scene that they tell of, and a browser that does not know it drops it. */
static void offer_frame(Server *s, Client *c)
{
    if (c->stage != WATCHING || c->queue_count > 0) return;
    if (c->undrawn >= UNDRAWN) return;
    pthread_mutex_lock(&s->hub->mutex);
    if (s->hub->frame && s->hub->frame_number != c->frame && s->hub->letter_count == 0) {
        c->frame = s->hub->frame_number;
        c->undrawn++;
        enqueue(c, packet_hold(s->hub->frame));
    }
    pthread_mutex_unlock(&s->hub->mutex);
}

/* False: it is gone. */
static bool send_queue(Client *c)
{
    while (c->queue_count > 0) {
        Packet *p = c->queue[0];
        ssize_t sent = send(c->fd, p->data + c->sent, p->size - c->sent, MSG_NOSIGNAL);
        if (sent < 0) return errno == EINTR || errno == EAGAIN;
        c->sent += (size_t)sent;
        if (c->sent < p->size) return true;
        packet_drop(p);
        c->sent = 0;
        memmove(c->queue, c->queue + 1, (size_t)--c->queue_count * sizeof(Packet *));
    }
    return true;
}

/* What the engine has to say, to those whom it concerns. */
static void deliver(Server *s)
{
    Letter letter;
    while (hub_letter(s->hub, &letter)) {
        for (int i = 0; i < s->count; i++) {
            Client *c = s->client[i];
            if (c->stage != WATCHING || (letter.client && letter.client != c->id)) continue;
            if (!enqueue(c, packet_hold(letter.packet)))
                end_socket(c, WEBSOCKET_BUSY, "this browser does not read");
        }
        packet_drop(letter.packet);
    }
}

/* ---- the server ------------------------------------------------------------------------- */

Server *server_create(Hub *hub, int port, const char *token, const uint8_t *page, size_t page_size)
{
    Server *s = brio__calloc(1, sizeof *s);
    if (!s) return NULL;
    *s = (Server){.hub = hub, .token = token, .page = page, .page_size = page_size};
    s->listener = listen_here(port, &s->port);
    if (s->listener >= 0 && fcntl(s->listener, F_SETFL, O_NONBLOCK) == 0) return s;
    int reason = errno;
    brio__free(s);
    errno = reason;
    return NULL;
}

int server_port(const Server *s) { return s->port; }

/* Without room the oldest goes that does not watch: clients that say nothing keep nobody out. */
static void welcome(Server *s)
{
    int yes = 1;
    int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        s->deaf_until = brio__seconds() + deaf_time; /* it stays in the listener's queue */
        return;
    }
    for (int i = 0; s->count == MAX_CLIENTS && i < s->count; i++)
        if (s->client[i]->id == 0) drop(s, i);
    Client *c = s->count < MAX_CLIENTS ? brio__calloc(1, sizeof *c) : NULL;
    if (!c) {
        close(fd);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    c->fd = fd;
    enter(c, ASKING);
    s->client[s->count++] = c;
}

/* False: it has had its time. */
static bool is_in_time(Client *c)
{
    double now = brio__seconds(), since = now - c->since;
    uint8_t *payload;
    switch (c->stage) {
    case ASKING: return since < request_time;
    case ANSWERED: return since < answer_time;
    case CLOSING: return c->queue_count > 0 && since < request_time;
    default: break;
    }
    if (now - c->pinged > ping_every) {
        c->pinged = now;
        if (c->queue_count == 0) enqueue(c, packet_create(WEBSOCKET_PING, 0, &payload));
    }
    return now - c->heard < silence_time;
}

static void attend(Server *s, int i, short events)
{
    Client *c = s->client[i];
    char rest[4096];
    if (events & (POLLIN | POLLHUP | POLLERR)) {
        if (c->stage == ASKING)
            read_request(s, c);
        else if (c->stage == WATCHING)
            read_socket(s, c);
        else if (recv(c->fd, rest, sizeof rest, 0) == 0 || events & POLLERR)
            return drop(s, i); /* it has what it wanted, or is gone */
    } else if (c->stage == WATCHING) {
        read_messages(s, c); /* those that were left over */
    }
    offer_frame(s, c);
    if (!send_queue(c)) return drop(s, i);
    if (c->stage == ANSWERED && c->queue_count == 0)
        shutdown(c->fd, SHUT_WR); /* what is not read yet would make the answer be lost */
    if (!is_in_time(c)) drop(s, i);
}

void server_poll(Server *s, int milliseconds)
{
    struct pollfd wait[MAX_CLIENTS + 2] = {{.fd = s->listener, .events = POLLIN},
                                           {.fd = s->hub->wake[0], .events = POLLIN}};
    char woken[256];
    int count = s->count;
    if (brio__seconds() < s->deaf_until) wait[0].fd = -1;
    for (int i = 0; i < count; i++) {
        const Client *c = s->client[i];
        wait[i + 2] = (struct pollfd){.fd = c->fd, .events = POLLIN};
        if (c->queue_count > 0) wait[i + 2].events |= POLLOUT;
    }
    poll(wait, (nfds_t)count + 2, milliseconds);
    while (read(s->hub->wake[0], woken, sizeof woken) > 0) {}
    deliver(s);
    for (int i = count - 1; i >= 0; i--) attend(s, i, wait[i + 2].revents); /* may drop it */
    if (wait[0].revents & POLLIN) welcome(s);
}

void server_free(Server *s)
{
    if (!s) return;
    deliver(s);
    for (int i = 0; i < s->count; i++) {
        Client *c = s->client[i];
        if (c->stage == WATCHING) end_socket(c, WEBSOCKET_AWAY, "brio live has ended");
        send_queue(c);
        close(c->fd);
        for (int k = 0; k < c->queue_count; k++) packet_drop(c->queue[k]);
        brio__free(c);
    }
    close(s->listener);
    brio__free(s);
}
