/* Triangles to pixels, in software: the same picture on every machine without a display, and the
 * same bits for any number of threads.
 *
 * Visibility is sampled eight times a pixel, shading happens once for each triangle that a pixel
 * sees. The key light casts shadows; the sky lights from above as far as a point lies open to it,
 * and the ground sends some of it back (light.h). */
#ifndef BRIO_RASTER_H
#define BRIO_RASTER_H

#include "texture.h"

typedef struct BrioCorner {
    float x[3], n[3]; /* position and unit normal */
    float c[3];       /* colour, linear */
    float t[3];       /* place in a pattern, in checks; or in a texture, u and v */
} BrioCorner;

/* RULED << k: edge opposite to corner k */
enum {
    BRIO_FACET_CLOSED = 1,
    BRIO_FACET_MATTE = 2,
    BRIO_FACET_GLASS = 4,
    BRIO_FACET_RULED = 8,
    BRIO_FACET_CHECKED = 64,
    BRIO_FACET_FAINT = 128 /* its checks are */
};

typedef struct BrioFacet {
    BrioCorner corner[3];
    unsigned flags;
    const BrioTexture *texture; /* over the colours of the corners; NULL: none */
} BrioFacet;

typedef enum BrioBackground {
    BRIO_BACKGROUND_SKY,
    BRIO_BACKGROUND_STUDIO,
    BRIO_BACKGROUND_WHITE,
    BRIO_BACKGROUND_COUNT
} BrioBackground;

typedef struct BrioView {
    BrioBackground background;
    int width, height; /* pixels */
    double eye[3], right[3], up[3], forward[3];
    double scale;            /* pixels that a unit at the distance 1 has */
    float centre[3], radius; /* of what casts shadows */
    bool ground, grid;       /* a floor, with lines */
    float floor, grid_step;  /* height, m */
    float size;              /* of the bodies: how far the floor's grid reaches */
    int wall_count;          /* planes that are no floor, drawn as panes */
    float wall[8][12];       /* centre, normal, two half sides */
} BrioView;

/* Looks from `eye` at `target`; `angle` is that of the picture's height, in radians. */
void brio__view_aim(BrioView *view, const double eye[3], const double target[3], double angle);
/* Pixel coordinates and depth of a point; false: behind the eye. */
bool brio__view_project(const BrioView *view, const double x[3], double pixel[2], double *depth);

/* The unit vector to the key light, which comes over the left shoulder of the one who looks. */
void brio__view_light(const BrioView *view, float light[3]);

typedef struct BrioRaster BrioRaster; /* arrays, kept from picture to picture */
BrioStatus brio__raster_create(BrioRaster **raster);
void brio__raster_free(BrioRaster *raster);
/* Fills `rgb`, rows of `pitch` bytes, 3 per pixel. */
BrioStatus brio__raster_draw(BrioRaster *raster, const BrioView *view, const BrioFacet *facet,
                             int64_t count, uint8_t *rgb, size_t pitch);

/* A colour written as 0xrrggbb to linear and back. */
void brio__colour_linear(unsigned srgb, float linear[3]);
uint8_t brio__colour_byte(float linear); /* highlights are compressed instead of cut off */

#endif
