/* Pixels as PNG files, and the compression of zlib [RFC 1950], which PNG is made of and browsers
 * undo as well. A build without zlib writes the same formats with nothing compressed. */
#ifndef BRIO_PNG_H
#define BRIO_PNG_H

#include "../base.h"

/* A zlib stream in new memory (brio__free). ERROR_MEMORY is all that can happen. */
BrioStatus brio__deflate(const uint8_t *data, size_t size, uint8_t **stream, size_t *length);
/* Rows from the top, 3 bytes per pixel. That the stream took it all is for the caller to check. */
BrioStatus brio__png_write(FILE *file, const uint8_t *rgb, int width, int height);
/* The picture of a PNG file in memory: rows from the top, 4 bytes per pixel (red, green, blue, how
 * opaque it is), in new memory (brio__free). All kinds of pixels but interlaced ones; of 16 bits
 * the upper 8. `name` is for messages. */
BrioStatus brio__png_read(const char *name, const uint8_t *data, size_t size, uint8_t **rgba,
                          int *width, int *height, BrioError *error);
/* Text in the 64 letters of RFC 4648. */
void brio__base64_write(FILE *file, const uint8_t *data, size_t size);

#endif
