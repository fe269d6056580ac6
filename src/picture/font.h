/* Short texts in pictures, drawn with a round pen: letters are strokes, so that one table serves
 * every size. ASCII only. */
#ifndef BRIO_FONT_H
#define BRIO_FONT_H

#include "../base.h"

/* `size` is the height of capitals in pixels. */
float brio__text_width(const char *text, float size);
/* Draws with the start of the base line at (x, y), in a colour 0xrrggbb, onto rows of `pitch`
 * bytes. */
void brio__text_draw(uint8_t *rgb, size_t pitch, int width, int height, float x, float y,
                     float size, unsigned colour, const char *text);
/* A filled rectangle with a fraction of opacity. */
void brio__box_draw(uint8_t *rgb, size_t pitch, int width, int height, int left, int top, int wide,
                    int high, unsigned colour, float fraction);

#endif
