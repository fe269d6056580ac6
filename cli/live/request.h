/* The head of an HTTP request, as far as a small server on this machine needs it. */
#ifndef BRIO_REQUEST_H
#define BRIO_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

enum { REQUEST_MAX = 8192 }; /* bytes of a head */

/* All texts point into the head, which the parser cuts into pieces; "" where there is none. */
typedef struct Request {
    const char *method, *path, *token;
    const char *host, *origin, *key, *version; /* the latter two of a WebSocket */
    bool upgrade;                              /* to a WebSocket */
} Request;

/* Length of the head, with the empty line that ends it; 0: not whole yet. */
size_t request_length(const char *text, size_t size);
/* `head` has `length` bytes, and room for a zero behind them. False: that is no request. */
bool request_parse(char *head, size_t length, Request *request);

/* Whether host is this server's own address. `origin`: with "http://" before it. */
bool request_is_own(const char *host, int port, bool origin);
/* Whether two tokens are the same, in a time that does not tell where they differ. */
bool request_same_token(const char *given, const char *token);

#endif
