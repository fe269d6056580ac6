/* What the engine's thread and the server's thread of `brio live` share: messages to browsers, made
 * by the engine; orders of browsers, which the engine carries out between steps.
 *
 * The engine never waits for a browser. It leaves the newest frame here, and a browser that is slow
 * misses those in between. */
#ifndef BRIO_HUB_H
#define BRIO_HUB_H

#include "commands.h"
#include "websocket.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- packets ---------------------------------------------------------------------------- */

/* Bytes for any number of clients; the last that lets go of it frees it. */
typedef struct Packet {
    atomic_int holders;
    size_t size;
    uint8_t data[];
} Packet;

/* A WebSocket message of `size` bytes; *payload is where they go. NULL: no memory. */
Packet *packet_create(int kind, size_t size, uint8_t **payload);
Packet *packet_bytes(const void *head, size_t head_size, const void *data, size_t size);
Packet *packet_text(const char *text); /* a WebSocket message */
Packet *packet_hold(Packet *packet);   /* once more; NULL stays NULL */
void packet_drop(Packet *packet);      /* may be NULL */

/* ---- orders ----------------------------------------------------------------------------- */

typedef enum OrderKind {
    ORDER_PLAY,
    ORDER_PAUSE,
    ORDER_STEP,
    ORDER_RESTART,
    ORDER_GRAB,
    ORDER_DRAG,
    ORDER_RELEASE,
    ORDER_MATERIAL,
    ORDER_DAMPING,
    ORDER_FORCE,
    ORDER_GRAVITY,
    ORDER_INTEGRATOR,
    ORDER_H,
    ORDER_SPEED,
    ORDER_RECORD,
    ORDER_LEAVE, /* the browser is gone */
    ORDER_KINDS
} OrderKind;

typedef struct Order {
    OrderKind kind;
    uint64_t client;
    int64_t id; /* of the message, for its answer; -1: wants none */
    int index;  /* of the body, damping model, force or hand; -1: none; of materials: all bodies */
    int64_t vertex;
    bool on; /* record; restart: with the settings of the scene */
    double value, point[3], direction[3];
    char name[64];
    char text[1024]; /* values of the integrator, as JSON */
} Order;

/* ---- the hub ---------------------------------------------------------------------------- */

enum { HUB_ORDERS = 256, HUB_LETTERS = 256 };

typedef struct Letter {
    uint64_t client; /* 0: to all */
    Packet *packet;
} Letter;

typedef struct Hub {
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t news;   /* for the engine: orders, or the end */
    Order order[HUB_ORDERS];
    int order_first, order_count;
    bool urgent; /* one of them should not wait for the end of a step */
    Letter letter[HUB_LETTERS];
    int letter_first, letter_count;
    /* for browsers that come: what the scene is, its shapes, the settings; the newest frame */
    Packet *scene, *shapes, *settings, *frame;
    uint32_t frame_number;
    bool drawn; /* a browser has shown a frame */
    bool recording;
    bool end, ended; /* the engine is to end; it has */
    int wake[2];     /* a pipe that wakes the server */
} Hub;

bool hub_create(Hub *hub);
void hub_free(Hub *hub);

/* Of the engine. Waits for orders, so many seconds at most. */
void hub_wait(Hub *hub, double seconds);
bool hub_take(Hub *hub, Order *order); /* false: there is none, or no room for an answer */
bool hub_is_urgent(Hub *hub);          /* the current step should end */
void hub_tell(Hub *hub, uint64_t client, Packet *packet);
/* Takes the packet; those who wait for the old one get the new one. */
void hub_renew(Hub *hub, Packet **place, Packet *packet);
void hub_frame(Hub *hub, Packet *packet, uint32_t number);

/* Of the server. False: there is no room, ask again later. */
bool hub_order(Hub *hub, const Order *order);
bool hub_letter(Hub *hub, Letter *letter);
void hub_drawn(Hub *hub);
void hub_end(Hub *hub);

#endif
