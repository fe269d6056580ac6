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
    int32_t before; /* the one that its vertex met before; -1: none */
    int64_t met;    /* the candidate that it was first met with */
} BrioFeature;

/* Features of some vertices, in the order in which they were first met. */
typedef struct BrioFeatureTable {
    int64_t count, room;
    BrioFeature *feature;
    bool failed; /* there was no memory */
} BrioFeatureTable;

enum { BRIO_FEATURE_PARTS = 8 };

typedef struct BrioFeatures {
    const BrioSurface *surface;
    int64_t count;
    const BrioFeature *feature; /* in the order in which they were first met */
    /* Threads each look for those of some vertices. */
    BrioFeatureTable part[BRIO_FEATURE_PARTS];
    int32_t *last; /* of each vertex: the last feature that it met, while they are looked for */
    int64_t joined_room, place_room;
    BrioFeature *joined; /* those of all parts, if there are several */
    int64_t *place;      /* of each candidate: where the features that it brought begin */
} BrioFeatures;

BrioStatus brio__features_create(BrioFeatures *features, const BrioSurface *surface, int64_t room);
void brio__features_free(BrioFeatures *features);
/* Candidates of vertices with primitives of the surface. */
typedef struct BrioFeatureSearch {
    int64_t count;
    const int32_t *who; /* the vertex and the primitive of each */
    /* 0: this one does not count; else 1 + between which corners the nearest point lies */
    const int8_t *nearest;
    const double *x; /* all world positions */
    double reach;
} BrioFeatureSearch;

/* Finds what vertices have with primitives, and with those of their edges and corners that come
 * with them. The order does not depend on the number of threads. */
BrioStatus brio__features_find(BrioFeatures *features, const BrioFeatureSearch *search);

#endif
