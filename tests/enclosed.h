/* The volume within a mesh's triangles, by the divergence theorem: positive if they look
 * outward. */
#ifndef BRIO_TEST_ENCLOSED_H
#define BRIO_TEST_ENCLOSED_H

#include "mesh/mesh.h"

static double enclosed_volume(const BrioMesh *mesh)
{
    static const double origin[3];
    double sum = 0;
    for (int64_t i = 0; i < mesh->triangle_count; i++) {
        const int32_t *v = mesh->triangle + 3 * i;
        sum +=
            brio__tet_volume6(origin, mesh->x + 3 * v[0], mesh->x + 3 * v[1], mesh->x + 3 * v[2]) /
            6;
    }
    return sum;
}

#endif
