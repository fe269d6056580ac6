/* How surfaces look wherever they are shown: the colours of bodies and of values, and which corners
 * share a normal. Pictures, reports and films use the same. */
#ifndef BRIO_SHADE_H
#define BRIO_SHADE_H

#include "motion.h"

/* The colours, for reports as well: of bodies one after the other, and from low to high values. */
enum { BRIO_BODY_COLOURS = 8, BRIO_SCALE_COLOURS = 6 };
extern const unsigned brio__body_colours[BRIO_BODY_COLOURS],
    brio__scale_colours[BRIO_SCALE_COLOURS];
#define BRIO_OBSTACLE_COLOUR 0xb4b8bfu

/* Corners that share a normal: those at one vertex whose triangles meet at less than 40 degrees in
 * the undeformed shape. slot[3 t + k] is the place of corner k of triangle t among them and
 * slot_vertex the vertex of each; both have room for 3 * triangles. Returns how many there are, -1
 * without memory. */
int64_t brio__smooth_slots(const float *rest, int64_t vertices, const int32_t *triangle,
                           int64_t triangles, int32_t *slot, int32_t *slot_vertex);
/* Normals of a surface: one for each set of corners at a vertex that are shaded alike, which are
 * those that share a normal in the file, or else those that no sharp edge of the rest shape
 * divides. */
typedef struct BrioShade {
    int64_t corner_count; /* of the faces, or 3 per triangle */
    int32_t *corner_slot;
    int64_t slot_count;
    int32_t *slot_vertex;
    int64_t triangle_count;
    int32_t *triangle_corner; /* 3 per triangle */
} BrioShade;
BrioStatus brio__shade_create(const BrioMotionPart *part, BrioShade **shade);
void brio__shade_free(BrioShade *shade);
/* Unit normals of all slots, weighted by area; a slot without area looks up. */
void brio__shade_normals(const BrioShade *shade, const float *x, float *normal);

#endif
