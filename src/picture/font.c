/* Letters as strokes, drawn by the distance of a pixel from the path of the pen. */
#include "font.h"

#include <string.h>

/* Strokes of pairs of letters 0-9a-z, the numbers 0 to 35: x to the right and y up, on a grid where
 * capitals reach from 4 to 18, small letters to 14 and tails down to 0. A stroke that begins with ~
 * is a smooth curve through its points. */
static const struct {
    char letter;
    signed char width;
    const char *strokes;
} glyphs[] = {
    {'0', 11, "~4i6i9e986444181e4i"},
    {'1', 8, "2f5i54"},
    {'2', 11, "~1e2h5i8h9e8b 8b1494"},
    {'3', 11, "~1g4i7i8f7c4b ~4b7a9885643416"},
    {'4', 11, "747i1898"},
    {'5', 11, "8i2i1b ~1b4d7c9885643416"},
    {'6', 11, "~8h5i2f18255485988b5c2b18"},
    {'7', 11, "1i9i44"},
    {'8', 11, "~5b2d2g5i8g8d5b ~5b19165496995b"},
    {'9', 11, "~2554879e8h5i2h1e2b5a8b9e"},
    {'a', 10, "~8b6e3e1b17346487 8e84"},
    {'b', 10, "1i14 ~1b3e6e8b87643417"},
    {'c', 10, "~8c6e3e1b17346486"},
    {'d', 10, "8i84 ~8b6e3e1b17346487"},
    {'e', 10, "1989 ~898b6e3e1b17346485"},
    {'f', 7, "~6i4i3g 3g34 1e6e"},
    {'g', 10, "8e82 ~82604021 ~8b6e3e1b17346487"},
    {'h', 10, "1i14 ~1b3e6e8c 8c84"},
    {'i', 3, "1e14 1i1h"},
    {'j', 5, "3e32 ~322010 3i3h"},
    {'k', 9, "1i14 7e18 3a84"},
    {'l', 3, "1i14"},
    {'m', 15, "1e14 ~1b3e5e7c 7c74 ~7b9ebedc dcd4"},
    {'n', 10, "1e14 ~1b3e6e8c 8c84"},
    {'o', 10, "~3e6e8b876434171b3e"},
    {'p', 10, "1e10 ~1b3e6e8b87643417"},
    {'q', 10, "8e80 ~8b6e3e1b17346487"},
    {'r', 7, "1e14 ~1b3e5e6d"},
    {'s', 9, "~7c5e3e1c3a6987642416"},
    {'t', 7, "3h36 ~365464 1e6e"},
    {'u', 10, "1e17 ~17346487 8e84"},
    {'v', 9, "0e448e"},
    {'w', 13, "0e346c94ce"},
    {'x', 9, "1e84 8e14"},
    {'y', 9, "0e44 8e2010"},
    {'z', 9, "1e8e1484"},
    {'A', 11, "045ia4 2888"},
    {'B', 11, "141i5i ~5i8g8d5b 1b5b ~5b999654 5414"},
    {'C', 11, "~9g6i3i1e18346496"},
    {'D', 11, "141i4i ~4i8g9b8644 4414"},
    {'E', 10, "9i1i1494 1b7b"},
    {'F', 10, "9i1i14 1b7b"},
    {'G', 11, "~9g6i3i1e18346496 969b6b"},
    {'H', 11, "1i14 9i94 1b9b"},
    {'I', 3, "1i14"},
    {'J', 9, "7i77 ~77543416"},
    {'K', 10, "1i14 9i1a 4d94"},
    {'L', 9, "1i1484"},
    {'M', 13, "141i69bib4"},
    {'N', 11, "141i949i"},
    {'O', 11, "~4i6i9e986444181e4i"},
    {'P', 10, "141i5i ~5i9g9d5b 5b1b"},
    {'Q', 11, "~4i6i9e986444181e4i 6894"},
    {'R', 10, "141i5i ~5i9g9d5b 5b1b 5b94"},
    {'S', 11, "~8g6i3i1f3c7a97643416"},
    {'T', 11, "0iai 5i54"},
    {'U', 11, "1i18 ~18346498 989i"},
    {'V', 11, "0i54ai"},
    {'W', 15, "0i347ib4ei"},
    {'X', 10, "1i94 9i14"},
    {'Y', 11, "0i5bai 5b54"},
    {'Z', 10, "1i9i1494"},
    {' ', 5, ""},
    {'.', 3, "1415"},
    {',', 4, "2511"},
    {':', 4, "1415 1b1c"},
    {';', 4, "2511 2b2c"},
    {'-', 8, "1a7a"},
    {'+', 11, "1b9b 5f57"},
    {'=', 10, "1d8d 1989"},
    {'/', 8, "137j"},
    {'%', 13, "14bi ~3i5g3e1g3i ~98b6947698"},
    {'(', 5, "~4j1e1843"},
    {')', 5, "~1j4e4813"},
    {'[', 5, "4j1j1343"},
    {']', 5, "1j4j4313"},
    {'_', 10, "0292"},
    {'\'', 3, "1i1f"},
    {'"', 6, "1i1f 4i4f"},
    {'*', 9, "1d7d 4g4a"},
    {'<', 10, "8e1a86"},
    {'>', 10, "1e8a16"},
    {'!', 3, "1i18 1415"},
    {'?', 9, "~1f3i6i8f5b48 4445"},
    {'|', 3, "1j13"},
    {'#', 11, "3i24 8i74 1d9d 1898"},
    {'^', 9, "1e4i7e"},
    {'&', 11, "947g ~7g5i3g4d 4d94"},
    {'~', 10, "~1a3c6989"},
};

enum { SPACING = 2, CAPITALS = 14, BASE = 4, FINE = 6 };

static int glyph_of(char letter)
{
    for (size_t i = 0; i < BRIO_COUNT(glyphs); i++)
        if (glyphs[i].letter == letter) return (int)i;
    return -1;
}

static int digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c - 'a' + 10; }

float brio__text_width(const char *text, float size)
{
    float units = 0;
    for (; *text; text++) {
        int g = glyph_of(*text);
        units += (float)((g < 0 ? 9 : glyphs[g].width) + SPACING);
    }
    return units * size / CAPITALS;
}

typedef struct Pen {
    float *cover;
    int left, top, wide, high; /* part of the picture that `cover` is of */
    float radius;
} Pen;

static void segment(Pen *pen, float ax, float ay, float bx, float by)
{
    float dx = bx - ax, dy = by - ay, square = dx * dx + dy * dy, reach = pen->radius + 1;
    int i0 = BRIO_MAX((int)floorf(fminf(ax, bx) - reach) - pen->left, 0);
    int i1 = BRIO_MIN((int)ceilf(fmaxf(ax, bx) + reach) - pen->left, pen->wide - 1);
    int j0 = BRIO_MAX((int)floorf(fminf(ay, by) - reach) - pen->top, 0);
    int j1 = BRIO_MIN((int)ceilf(fmaxf(ay, by) + reach) - pen->top, pen->high - 1);
    for (int j = j0; j <= j1; j++)
        for (int i = i0; i <= i1; i++) {
            float px = (float)(i + pen->left) + 0.5f - ax;
            float py = (float)(j + pen->top) + 0.5f - ay;
            float t = square > 0 ? fminf(fmaxf((px * dx + py * dy) / square, 0), 1) : 0;
            float cover = fminf(fmaxf(pen->radius + 0.5f - hypotf(px - t * dx, py - t * dy), 0), 1);
            float *at = &pen->cover[j * pen->wide + i];
            *at = fmaxf(*at, cover);
        }
}

/* Of one stroke, at most 32 points. */
static void stroke(Pen *pen, const float (*p)[2], int count, bool curve)
{
    bool closed = count > 2 && p[0][0] == p[count - 1][0] && p[0][1] == p[count - 1][1];
    for (int k = 0; k + 1 < count; k++) {
        if (!curve) {
            segment(pen, p[k][0], p[k][1], p[k + 1][0], p[k + 1][1]);
            continue;
        }
        const float *a = k > 0 ? p[k - 1] : closed ? p[count - 2] : p[k];
        const float *b = p[k];
        const float *c = p[k + 1];
        const float *d = k + 2 < count ? p[k + 2] : closed ? p[1] : p[k + 1];
        float last[2] = {b[0], b[1]};
        for (int s = 1; s <= FINE; s++) { /* Catmull and Rom's curve */
            float t = (float)s / FINE, next[2];
            for (int r = 0; r < 2; r++)
                next[r] = 0.5f * (2 * b[r] + (c[r] - a[r]) * t +
                                  (2 * a[r] - 5 * b[r] + 4 * c[r] - d[r]) * t * t +
                                  (3 * b[r] - a[r] - 3 * c[r] + d[r]) * t * t * t);
            segment(pen, last[0], last[1], next[0], next[1]);
            memcpy(last, next, sizeof last);
        }
    }
}

static void draw_glyph(Pen *pen, const char *strokes, float x, float y, float unit)
{
    float p[32][2];
    int count = 0;
    bool curve = false;
    for (const char *at = strokes;; at++) {
        if (*at == '~') {
            curve = true;
        } else if (*at == ' ' || !*at) {
            if (count) stroke(pen, (const float(*)[2])p, count, curve);
            count = 0;
            curve = false;
            if (!*at) return;
        } else if (at[1] && count < 32) {
            p[count][0] = x + (float)digit(*at) * unit;
            p[count++][1] = y - (float)(digit(at[1]) - BASE) * unit;
            at++;
        }
    }
}

static void blend(uint8_t *pixel, unsigned colour, float fraction)
{
    for (int k = 0; k < 3; k++) {
        float goal = (float)(colour >> (16 - 8 * k) & 255);
        pixel[k] = (uint8_t)((float)pixel[k] + (goal - (float)pixel[k]) * fraction + 0.5f);
    }
}

void brio__text_draw(uint8_t *rgb, size_t pitch, int width, int height, float x, float y,
                     float size, unsigned colour, const char *text)
{
    float unit = size / CAPITALS, long_ = brio__text_width(text, size);
    Pen pen = {.radius = fmaxf(0.075f * size, 0.55f)};
    pen.left = BRIO_MAX((int)floorf(x) - 2, 0);
    pen.top = BRIO_MAX((int)floorf(y - 1.25f * size), 0);
    pen.wide = BRIO_MIN((int)ceilf(x + long_) + 2, width) - pen.left;
    pen.high = BRIO_MIN((int)ceilf(y + 0.5f * size), height) - pen.top;
    if (pen.wide <= 0 || pen.high <= 0) return;
    pen.cover = brio__calloc((size_t)pen.wide * (size_t)pen.high, sizeof *pen.cover);
    if (!pen.cover) return; /* a picture without its text is better than none */
    for (; *text; text++) {
        int g = glyph_of(*text);
        draw_glyph(&pen, g < 0 ? "14747e1e14" : glyphs[g].strokes, x, y, unit);
        x += (float)((g < 0 ? 9 : glyphs[g].width) + SPACING) * unit;
    }
    for (int j = 0; j < pen.high; j++)
        for (int i = 0; i < pen.wide; i++)
            if (pen.cover[j * pen.wide + i] > 0)
                blend(rgb + (size_t)(j + pen.top) * pitch + 3 * (size_t)(i + pen.left), colour,
                      pen.cover[j * pen.wide + i]);
    brio__free(pen.cover);
}

void brio__box_draw(uint8_t *rgb, size_t pitch, int width, int height, int left, int top, int wide,
                    int high, unsigned colour, float fraction)
{
    for (int j = BRIO_MAX(top, 0); j < BRIO_MIN(top + high, height); j++)
        for (int i = BRIO_MAX(left, 0); i < BRIO_MIN(left + wide, width); i++)
            blend(rgb + (size_t)j * pitch + 3 * (size_t)i, colour, fraction);
}
