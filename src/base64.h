/* Bytes as base64 text, written to a file as they come. */
#ifndef BRIO_BASE64_H
#define BRIO_BASE64_H

#include "base.h"

/* Start with .file set and the rest zero. */
typedef struct BrioBase64 {
    FILE *file;
    unsigned char rest[3];
    int used;
    int column;
    char out[4096];
} BrioBase64;

void brio__base64_put(BrioBase64 *base64, const void *data, size_t size);
void brio__base64_end(BrioBase64 *base64); /* the last group, padded */

#endif
