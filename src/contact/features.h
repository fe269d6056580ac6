/* Sums over the surface before a vertex: which triangle, edge or vertex is nearest, and how often
 * it counts.
 *
 * Of every triangle that is near a vertex v, the nearest point lies inside it, on an edge or on a
 * corner; likewise of its edges. All of them with the same nearest feature have the same distance
 * and the same derivatives, so they are gathered: a triangle counts once, an edge and a corner as
 * creases.c says. Lone edges and vertices take the place of triangles where a body has none. Before
 * a flat or convex surface one feature is left. */
#ifndef BRIO_FEATURES_H
#define BRIO_FEATURES_H

#include "../system/surface.h"

/* A vertex, and the feature with the surface vertices a, b, c: a triangle, an edge (b = c) or a
 * vertex (a = b = c). */
typedef struct BrioFeature {
    int32_t v, node[3];
    int32_t count;
    int32_t slot; /* in the table */
} BrioFeature;

typedef struct BrioFeatures {
    const BrioSurface *surface;
    int64_t count, room;
    BrioFeature *feature; /* in the order in which they were first met */
    int32_t *table;       /* 2 room: a feature, or -1 */
} BrioFeatures;

BrioStatus brio__features_create(BrioFeatures *features, const BrioSurface *surface, int64_t room);
void brio__features_free(BrioFeatures *features);
void brio__features_clear(BrioFeatures *features);
/* Between which corners of a triangle the point nearest to the vertex v lies, as bits; 0 of lone
 * edges and vertices. x: all world positions. */
int brio__features_nearest(const BrioSurface *surface, int32_t v, int32_t primitive,
                           const double *x);
/* Adds what the vertex v has with a primitive of the surface, and with those of its edges and
 * corners that come with it; `nearest`: as above. */
BrioStatus brio__features_add(BrioFeatures *features, int32_t v, int32_t primitive, int nearest,
                              const double *x, double reach);

#endif
