/* Messages of browsers as orders. */
#ifndef BRIO_LIVE_ORDER_H
#define BRIO_LIVE_ORDER_H

#include "hub.h"

/* A JSON object {"do": "drag", "id": 7, "hand": 0, "point": [0, 1, 0]}. It is checked as far as
 * that needs no simulation; the error is a sentence. `order->id` is set as soon as it is known. */
BrioStatus order_read(const char *text, size_t size, Order *order, BrioError *error);
const char *order_name(OrderKind kind);

#endif
