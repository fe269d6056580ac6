/* Packets with a count of holders; queues behind one mutex; a pipe that wakes the server's poll. */
#define _GNU_SOURCE /* pipe2 */
#include "hub.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- packets ---------------------------------------------------------------------------- */

static Packet *make(size_t size)
{
    Packet *packet = brio__alloc(sizeof *packet + size, 1);
    if (!packet) return NULL;
    atomic_init(&packet->holders, 1);
    packet->size = size;
    return packet;
}

Packet *packet_create(int kind, size_t size, uint8_t **payload)
{
    uint8_t head[WEBSOCKET_HEAD];
    size_t length = websocket_head(kind, size, head);
    Packet *packet = make(length + size);
    if (!packet) return NULL;
    memcpy(packet->data, head, length);
    *payload = packet->data + length;
    return packet;
}

Packet *packet_bytes(const void *head, size_t head_size, const void *data, size_t size)
{
    Packet *packet = make(head_size + size);
    if (!packet) return NULL;
    memcpy(packet->data, head, head_size);
    if (size) memcpy(packet->data + head_size, data, size);
    return packet;
}

Packet *packet_text(const char *text)
{
    uint8_t *payload;
    size_t size = strlen(text);
    Packet *packet = packet_create(WEBSOCKET_TEXT, size, &payload);
    if (packet) memcpy(payload, text, size);
    return packet;
}

Packet *packet_hold(Packet *packet)
{
    if (packet) atomic_fetch_add(&packet->holders, 1);
    return packet;
}

void packet_drop(Packet *packet)
{
    if (packet && atomic_fetch_sub(&packet->holders, 1) == 1) brio__free(packet);
}

/* ---- the hub ---------------------------------------------------------------------------- */

bool hub_create(Hub *hub)
{
    pthread_condattr_t clock;
    *hub = (Hub){.mutex = PTHREAD_MUTEX_INITIALIZER};
    if (pipe2(hub->wake, O_CLOEXEC | O_NONBLOCK)) return false;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    bool done = pthread_cond_init(&hub->news, &clock) == 0;
    pthread_condattr_destroy(&clock);
    return done;
}

void hub_free(Hub *hub)
{
    Letter letter;
    while (hub_letter(hub, &letter)) packet_drop(letter.packet);
    packet_drop(hub->scene);
    packet_drop(hub->shapes);
    packet_drop(hub->settings);
    packet_drop(hub->frame);
    pthread_cond_destroy(&hub->news);
    close(hub->wake[0]);
    close(hub->wake[1]);
}

static void wake_server(Hub *hub)
{
    ssize_t written = write(hub->wake[1], "", 1); /* full: it wakes anyway */
    (void)written;
}

void hub_wait(Hub *hub, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    double whole = floor(fmin(fmax(seconds, 0), 3600));
    until.tv_sec += (time_t)whole;
    until.tv_nsec += (long)(1e9 * (fmin(fmax(seconds, 0), 3600) - whole));
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&hub->mutex);
    while (!hub->order_count && !hub->end)
        if (pthread_cond_timedwait(&hub->news, &hub->mutex, &until) == ETIMEDOUT) break;
    pthread_mutex_unlock(&hub->mutex);
}

bool hub_take(Hub *hub, Order *order)
{
    pthread_mutex_lock(&hub->mutex);
    /* every order may have an answer, and every one finds room */
    bool there = hub->order_count > 0 && hub->letter_count < HUB_LETTERS - 16;
    if (there) {
        *order = hub->order[hub->order_first];
        hub->order_first = (hub->order_first + 1) % HUB_ORDERS;
        hub->order_count--;
    }
    if (hub->order_count == 0) hub->urgent = false;
    pthread_mutex_unlock(&hub->mutex);
    return there;
}

bool hub_is_urgent(Hub *hub)
{
    pthread_mutex_lock(&hub->mutex);
    bool urgent = hub->urgent || hub->end;
    pthread_mutex_unlock(&hub->mutex);
    return urgent;
}

void hub_tell(Hub *hub, uint64_t client, Packet *packet)
{
    if (!packet) return;
    pthread_mutex_lock(&hub->mutex);
    bool room = hub->letter_count < HUB_LETTERS;
    if (room)
        hub->letter[(hub->letter_first + hub->letter_count++) % HUB_LETTERS] =
            (Letter){client, packet};
    pthread_mutex_unlock(&hub->mutex);
    if (!room) packet_drop(packet); /* the server has ended */
    wake_server(hub);
}

void hub_renew(Hub *hub, Packet **place, Packet *packet)
{
    pthread_mutex_lock(&hub->mutex);
    Packet *old = *place;
    *place = packet;
    pthread_mutex_unlock(&hub->mutex);
    packet_drop(old);
}

void hub_frame(Hub *hub, Packet *packet, uint32_t number)
{
    pthread_mutex_lock(&hub->mutex);
    Packet *old = hub->frame;
    hub->frame = packet;
    hub->frame_number = number;
    pthread_mutex_unlock(&hub->mutex);
    packet_drop(old);
    wake_server(hub);
}

/* A hand that still waits to be dragged goes straight to the newer place: pointers move more often
 * than long steps end, and would leave no room for other orders. */
static bool drag_on(Hub *hub, const Order *order)
{
    if (order->kind != ORDER_DRAG || order->id >= 0) return false; /* those have an answer each */
    for (int k = hub->order_count - 1; k >= 0; k--) {
        Order *waiting = &hub->order[(hub->order_first + k) % HUB_ORDERS];
        if (waiting->kind != ORDER_DRAG) return false;
        if (waiting->client != order->client || waiting->index != order->index) continue;
        if (waiting->id >= 0) return false;
        *waiting = *order;
        return true;
    }
    return false;
}

bool hub_order(Hub *hub, const Order *order)
{
    pthread_mutex_lock(&hub->mutex);
    bool joined = drag_on(hub, order), room = joined || hub->order_count < HUB_ORDERS;
    if (room && !joined) {
        hub->order[(hub->order_first + hub->order_count++) % HUB_ORDERS] = *order;
        hub->urgent = hub->urgent || order->kind == ORDER_PAUSE || order->kind == ORDER_RESTART;
        pthread_cond_signal(&hub->news);
    }
    pthread_mutex_unlock(&hub->mutex);
    return room;
}

bool hub_letter(Hub *hub, Letter *letter)
{
    pthread_mutex_lock(&hub->mutex);
    bool there = hub->letter_count > 0;
    if (there) {
        *letter = hub->letter[hub->letter_first];
        hub->letter_first = (hub->letter_first + 1) % HUB_LETTERS;
        hub->letter_count--;
    }
    pthread_mutex_unlock(&hub->mutex);
    return there;
}

void hub_drawn(Hub *hub)
{
    pthread_mutex_lock(&hub->mutex);
    hub->drawn = true;
    pthread_mutex_unlock(&hub->mutex);
}

void hub_end(Hub *hub)
{
    pthread_mutex_lock(&hub->mutex);
    hub->end = true;
    pthread_cond_signal(&hub->news);
    pthread_mutex_unlock(&hub->mutex);
}
