/* The server of `brio live`: gives the page to browsers of this machine and connects them with the
 * hub. One thread, which polls. */
#ifndef BRIO_SERVER_H
#define BRIO_SERVER_H

#include "hub.h"

typedef struct Server Server;

/* Listens on this machine's own address only; port 0: any that is free. `page` is a zlib stream.
 * NULL: errno says why not. */
Server *server_create(Hub *hub, int port, const char *token, const uint8_t *page, size_t page_size);
int server_port(const Server *server);
/* Answers for at most so long, or until something was done. */
void server_poll(Server *server, int milliseconds);
/* Tells browsers that it ends, and closes all. */
void server_free(Server *server);

#endif
