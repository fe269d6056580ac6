/* Sizes of a mesh and the shapes of its elements. */
#ifndef BRIO_QUALITY_H
#define BRIO_QUALITY_H

#include "mesh.h"

/* Of `vertices` positions x, and what joins them; a shape is the longest edge of a tet cubed over
 * its volume, 1 for a regular one. */
typedef struct BrioMeshView {
    const double *x;
    int64_t vertices, tets, edges, triangles;
    const int32_t *tet, *edge, *triangle;
} BrioMeshView;

enum { BRIO_POOR_SHAPE = 20 }; /* a tet beyond it asks for small steps */

typedef struct BrioMeshQuality {
    double volume;
    double low[3], high[3];
    double edge_min, edge_max;
    double tet_min, tet_max; /* volumes */
    double worst;            /* shape of a tet */
    int64_t worst_tet, inverted, first_inverted;
} BrioMeshQuality;

BrioMeshQuality brio__quality(const BrioMeshView *elements);

#endif
