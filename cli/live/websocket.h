/* The server's side of a WebSocket [RFC 6455]: its opening, messages out of the bytes that a client
 * sends, heads of the frames that it is sent. No extensions. No sockets: bytes come and go through
 * the caller. */
#ifndef BRIO_WEBSOCKET_H
#define BRIO_WEBSOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { /* kinds of messages */
       WEBSOCKET_TEXT = 1,
       WEBSOCKET_BINARY = 2,
       WEBSOCKET_CLOSE = 8,
       WEBSOCKET_PING = 9,
       WEBSOCKET_PONG = 10
};
enum { /* reasons to close */
       WEBSOCKET_DONE = 1000,
       WEBSOCKET_AWAY = 1001,     /* the program ends */
       WEBSOCKET_PROTOCOL = 1002, /* bytes that are no frame */
       WEBSOCKET_NO_UTF8 = 1007,
       WEBSOCKET_POLICY = 1008,
       WEBSOCKET_TOO_LARGE = 1009,
       WEBSOCKET_BUSY = 1013
};
enum { WEBSOCKET_MAX = 16384, WEBSOCKET_HEAD = 14 }; /* bytes of a message; of a frame's head */

/* Begin with zeros. */
typedef struct WebSocket {
    size_t begin, end; /* of what is in `in` */
    uint8_t in[WEBSOCKET_MAX + WEBSOCKET_HEAD];
    /* the fragments so far of a message of that kind; 0: none has begun */
    int kind;
    size_t size;
    uint8_t message[WEBSOCKET_MAX];
    uint8_t control[125];
} WebSocket;

typedef struct WebSocketMessage {
    int kind;
    const uint8_t *data; /* until the next call */
    size_t size;
} WebSocketMessage;

/* Where bytes of the client go, and how many. websocket_took says how many came. */
size_t websocket_room(WebSocket *socket, uint8_t **to);
void websocket_took(WebSocket *socket, size_t size);
/* The next whole message. 1: here it is; 0: not yet; otherwise what to close the connection with:
 * then the socket is not asked again. */
int websocket_next(WebSocket *socket, WebSocketMessage *message);

/* The head of a frame that holds a whole message; its length. */
size_t websocket_head(int kind, size_t size, uint8_t head[WEBSOCKET_HEAD]);

/* The answer to the key of a client's opening: 28 letters. False: that is no key. */
bool websocket_accept(const char *key, char answer[29]);

#endif
