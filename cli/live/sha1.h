/* SHA-1, which the opening of a WebSocket needs [RFC 6455, 4.2.2]. It protects nothing here. */
#ifndef BRIO_SHA1_H
#define BRIO_SHA1_H

#include <stddef.h>
#include <stdint.h>

void sha1(const void *data, size_t size, uint8_t digest[20]);

#endif
