/* What light reaches a point. The key light is a small disc at infinity: its shadows are looked up
 * in a map of depths and get softer with the distance from what casts them [Fernando2005]. The sky
 * is a set of directions with a small map each: what they see of a point is how open it lies. */
#ifndef BRIO_LIGHT_H
#define BRIO_LIGHT_H

#include "raster.h"

typedef struct BrioLights BrioLights; /* arrays, kept from picture to picture */
BrioStatus brio__lights_create(BrioLights **lights);
void brio__lights_free(BrioLights *lights);
/* Fills the maps for a picture. */
void brio__lights_set(BrioLights *lights, const BrioView *view, const BrioFacet *facet,
                      int64_t count);

/* The unit vector to the key light. */
const float *brio__lights_direction(const BrioLights *lights);
/* How much of the key light a point sees that has the unit normal n. */
float brio__lights_key(const BrioLights *lights, const float x[3], const float n[3]);
/* The fraction of the sky's light on a surface with the normal n that reaches it. */
float brio__lights_sky(const BrioLights *lights, const float x[3], const float n[3]);
/* The same of a point of the floor, from a table. */
float brio__lights_floor(const BrioLights *lights, const float x[3]);

#endif
