/* Pictures on surfaces: a PNG file, filtered so that it neither flickers nor is blurred more than a
 * pixel needs, however small or large it appears. */
#ifndef BRIO_TEXTURE_H
#define BRIO_TEXTURE_H

#include "../base.h"

typedef struct BrioTexture BrioTexture;

BrioStatus brio__texture_load(const char *file, BrioTexture **texture, BrioError *error);
void brio__texture_free(BrioTexture *texture);
/* Rows from the top, 4 bytes per pixel, as brio__png_read gives them. */
BrioStatus brio__texture_create(const uint8_t *rgba, int width, int height, BrioTexture **texture);

/* The mean over places of one pixel: linear colours times opacity, and the opacity. (0, 0) is the
 * lower left corner of the picture and (1, 1) the upper right one; beyond them it repeats. */
void brio__texture_mean(const BrioTexture *texture, const float (*uv)[2], int count,
                        float colour[4]);

#endif
